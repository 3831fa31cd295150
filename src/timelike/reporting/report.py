"""report: the page put together from its template, its words, its data and its program."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from timelike.base import checks, palette
from timelike.base.checks import counted
from timelike.base.files import atomic_write
from timelike.base.html import bullets, captioned_table, facts, paragraphs, terms
from timelike.clusters.clustering import Clustering
from timelike.clusters.curves.curve_clustering import CurveClustering
from timelike.clusters.curves.notes import doubt
from timelike.courses import TimeCourses
from timelike.exceptions import InputError
from timelike.gp import GP
from timelike.pairs.nearest.neighbors import Neighbors
from timelike.pairs.nearest.neighbors import neighbors as nearest
from timelike.reporting import conditions, words
from timelike.reporting.methods_paragraph import methods, settings
from timelike.reporting.page_data import content
from timelike.reporting.page_json import script_json
from timelike.reporting.subject import Naming, Subject

if TYPE_CHECKING:
    import pandas as pd

PROGRAM = (
    "data.js",
    "chosen.js",
    "gp.js",
    "svg.js",
    "charts.js",
    "aligned.js",
    "how_fine.js",
    "heatmap.js",
    "table.js",
    "cluster.js",
    "course.js",
    "shell.js",
    "state.js",
    "toolbox.js",
    "conditions.js",
    "page.js",
)
"""The page's own program, in the order of its parts."""
LISTED = 200
"""Outlying values in the page, at most."""
NEIGHBORS = 10
BANDS = {
    True: "the band holds the curves of nearly all its courses (two standard deviations)",
    False: "the band shows how uncertain that curve is (two standard deviations), not how much courses differ",
}
"""What the bands of the panels are: where clusters have curves of their own, and where they have none."""


def report(
    path: str | PathLike[str],
    courses: TimeCourses,
    gp: GP,
    clustering: Clustering,
    *,
    neighbors: Neighbors | None = None,
    title: str | None = None,
    time_unit: str | None = None,
    value_name: str | None = None,
    enrichment: pd.DataFrame | None = None,
    details: pd.DataFrame | None = None,
    notes: str | Sequence[str] = (),
    run: Mapping[str, Any] | None = None,
) -> Path:
    """The path of a new HTML file about an analysis: one file, which needs no network and no other file.

    It has the summary in words, the clusters, a table of all courses that can be searched, every course with its
    nearest neighbours and why they are alike, a heatmap, the model in plain words, and the methods ready to paste.

    Parameters
    ----------
    path
        Where to write it; a file of that name is replaced.
    courses
        As analysed. Their points must be times.
    gp
    clustering
        Of these courses, by any method. Clusters from :func:`timelike.mixture` and :func:`timelike.evidence_linkage`
        bring their own curves, for others the curve is the one that all courses of the cluster would share.
    neighbors
        From :func:`timelike.neighbors`; by default the ten nearest of each course, up to what courses of a cluster may
        differ in.
    title
        Of the page.
    time_unit
        For axes and sentences, for instance ``"h"``.
    value_name
        What was measured, for instance ``"log expression"``.
    enrichment
        From :func:`timelike.enrichment`.
    details
        What else is known about each course (a symbol, a description, a group): a row a course, in their order.
    notes
        A sentence, or several, to show below the summary, for instance what was left out before the analysis.
    run
        Settings that belong to the record: method, seed, scaling, versions. A ``scaling`` ("centred") is also said
        where values are shown.

    Examples
    --------
    >>> import tempfile
    >>> import timelike as tl
    >>> courses, _ = tl.simulate.profiles(seed=1)
    >>> gp = tl.fit(courses)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report(f"{folder}/report.html", courses, gp, tl.mixture(courses, gp, k=3), time_unit="h").name
    'report.html'
    """
    checks.instance(courses, TimeCourses, "courses")
    checks.instance(gp, GP, "gp")
    subject = Subject(
        courses=courses,
        gp=gp,
        clustering=clustering,
        naming=Naming.of(title, time_unit, value_name, run.get("scaling") if isinstance(run, Mapping) else None),
        enrichment=enrichment,
        details=details,
        notes=_sentences(notes),
        run=run or {},
        neighbors=_nearest(courses, gp, clustering) if neighbors is None else neighbors,
    )
    html = page(subject)
    with atomic_write(path, "wb") as file:
        file.write(html.encode("utf-8", "replace"))
    return Path(path)


def _sentences(notes: Any) -> tuple[str, ...]:
    found = tuple(notes) if isinstance(notes, Iterable) and not isinstance(notes, str) else (notes,)
    if not all(isinstance(note, str) for note in found):
        raise InputError(f"notes are {str(notes)[:40]!r}: expected a sentence, or a list of sentences.")
    return found


def _nearest(courses: TimeCourses, gp: GP, clustering: Clustering) -> Neighbors:
    """The nearest neighbours, up to what courses of a cluster may differ in."""
    if len(courses) == 1:
        return Neighbors(np.empty((1, 0), np.intp), np.empty((1, 0)), courses.names)
    k = min(NEIGHBORS, len(courses) - 1)
    if not isinstance(clustering, CurveClustering) or not clustering.free:
        return nearest(courses, gp, k=k)
    free = clustering.free
    delayed = "delay" in free.names and free.period is None
    return nearest(courses, gp, k=k, up_to=free.names, max_delay=2 * free.delays[-1] if delayed else None)


def page(subject: Subject) -> str:
    """The whole page."""
    style = styled()
    program = '(() => {\n"use strict";\n\n' + "\n".join(_asset(name) for name in PROGRAM) + "\n})();\n"
    return filled(
        _asset("template.html"),
        {
            "policy": policy(program, style),
            "style": style,
            "program": program,
            "data": script_json(content(subject)),
            "title": escape(subject.naming.title),
            **_prose(subject),
        },
    )


def _prose(subject: Subject) -> dict[str, str]:
    first, *rest = words.summary(subject)
    return {
        "facts": facts(words.facts(subject)),
        "band": escape(BANDS[subject.curved is not None]),
        "sentence": escape(words.sentence(subject)),
        "lead": paragraphs([first]),
        "summary": paragraphs(rest) + bullets(_news(subject)),
        "conditions": conditions.tables(subject),
        "model": terms(words.model(subject), "model"),
        "warnings": bullets(subject.gp.warnings) or "<p>The fit gave no warning.</p>",
        "outliers": _outliers(subject),
        "methods": paragraphs(methods(subject)),
        "settings": terms(settings(subject.run), "settings") or "<p>No settings were recorded.</p>",
    }


def _news(subject: Subject) -> list[str]:
    """The notes that the page does not have elsewhere, in its lead or among the warnings of the fit."""
    elsewhere = {*subject.gp.warnings, _told(subject)}
    return [note for note in subject.notes if note not in elsewhere]


def _told(subject: Subject) -> str:
    """The note about the number of clusters, where the lead says the same."""
    found = subject.curved
    return "" if found is None or words.decided_by(subject) not in ("continuum", "gaps") else doubt(found)


def _outliers(subject: Subject) -> str:
    found = subject.outliers
    if found is None:
        return "<p>This method does not say what to expect of single values.</p>"
    if not len(found):
        return "<p>Every single value counts fully.</p>"
    rows = [
        (name, f"{time:g}", words.number(value), words.number(expected), f"{z:+.1f}", f"{weight:.1g}")
        for name, time, value, expected, z, weight in found.head(LISTED).itertuples(index=False, name=None)
    ]
    caption = (
        f"{counted(len(found), 'value')} that {'counts' if len(found) == 1 else 'count'} for little, furthest off first"
    )
    caption += f"; the first {LISTED} are listed" if len(found) > LISTED else ""
    when = subject.naming.time_label
    return captioned_table(("course", when, "value", "expected", "standard deviations off", "weight"), rows, caption)


# -- putting together ------------------------------------------------------------------------------------------------


def filled(template: str, parts: Mapping[str, str]) -> str:
    """The template with each ``{{name}}`` replaced, once: what a part contains is not looked at again.

    Examples
    --------
    >>> filled("{{a}} and {{b}}", {"a": "{{b}}", "b": "2"})
    '{{b}} and 2'
    """
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], template)


def styled() -> str:
    """The style of every page, with the colours of clusters."""
    dark = filled(_asset("dark.css"), {"clusters": palette.variables(palette.ON_DARK)})
    return filled(_asset("report.css"), {"clusters": palette.variables(palette.CLUSTERS), "dark": dark})


def policy(program: str, style: str) -> str:
    """What the browser may do with the page: run this program, use this style, show pictures made here. No network."""
    allowed = [f"script-src '{digest(program)}'", f"style-src '{digest(style)}'", "img-src data: blob:"]
    return "; ".join(["default-src 'none'", *allowed, "base-uri 'none'", "form-action 'none'"])


def digest(text: str) -> str:
    """What a policy calls a program, or a style."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def _asset(name: str) -> str:
    return (files("timelike.reporting") / "assets" / name).read_text(encoding="utf-8")
