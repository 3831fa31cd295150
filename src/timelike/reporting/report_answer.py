"""report_answer: the page about an answer, put together from its template, its words, its data and its program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any

from timelike.base.files import atomic_write
from timelike.base.html import bullets, facts, paragraphs, terms
from timelike.questions.found import Found
from timelike.questions.permuted import Check
from timelike.reporting import answer_words
from timelike.reporting.answer_data import content
from timelike.reporting.answered import Answered
from timelike.reporting.methods_paragraph import settings
from timelike.reporting.page_json import script_json
from timelike.reporting.report import _asset, _sentences, filled, policy, styled
from timelike.reporting.subject import Naming

PROGRAM = (
    "data.js",
    "chosen.js",
    "svg.js",
    "charts.js",
    "table.js",
    "shell.js",
    "answer_data.js",
    "answer_charts.js",
    "answer_pane.js",
    "answer.js",
)
"""The page's own program, in the order of its parts; the first five are those of every report."""


def report_answer(
    path: str | PathLike[str],
    found: Found,
    *,
    fdr: float = 0.05,
    check: Check | None = None,
    title: str | None = None,
    time_unit: str | None = None,
    value_name: str | None = None,
    notes: str | Sequence[str] = (),
    run: Mapping[str, Any] | None = None,
) -> Path:
    """The path of a new HTML file about an answer: one file, which needs no network and no other file.

    It has the answer in a sentence, every course by its size and sureness, a table that can be searched, sorted and
    filtered, and each course with its values, its curves and its difference over time.

    Parameters
    ----------
    path
        Where to write it; a file of that name is replaced.
    found
        From :func:`timelike.compare` or :func:`timelike.changing`.
    fdr
        Expected false discovery rate of what is called.
    check
        From ``found.check()``.
    title, time_unit, value_name
        Of the page, and for its axes.
    notes
        A sentence, or several, to show below the summary; what the answer itself notes is shown anyway.
    run
        Settings that belong to the record.

    Examples
    --------
    >>> import tempfile
    >>> import timelike as tl
    >>> courses, _ = tl.simulate.replicated(seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report_answer(f"{folder}/report.html", tl.changing(courses), time_unit="h").name
    'report.html'
    """
    answered = Answered(
        found=found,
        naming=Naming.of(title, time_unit, value_name),
        fdr=fdr,
        check=check,
        notes=tuple(dict.fromkeys([*found.notes, *_sentences(notes)] if isinstance(found, Found) else [])),
        run=run or {},
    )
    html = page(answered)
    with atomic_write(path, "wb") as file:
        file.write(html.encode("utf-8", "replace"))
    return Path(path)


def page(answered: Answered) -> str:
    """The whole page."""
    style = styled() + _asset("answer.css")
    program = '(() => {\n"use strict";\n\n' + "\n".join(_asset(name) for name in PROGRAM) + "\n})();\n"
    first, *rest = answer_words.summary(answered)
    return filled(
        _asset("answer.html"),
        {
            "policy": policy(program, style),
            "style": style,
            "program": program,
            "data": script_json(content(answered)),
            "title": escape(answered.naming.title),
            "facts": facts(answer_words.facts(answered)),
            "lead": paragraphs([first]),
            "summary": paragraphs(rest) + bullets(answered.notes),
            "verb": "differ" if answered.compared is not None else "change",
            "model": terms(answer_words.model(answered), "model"),
            "methods": paragraphs(answer_words.methods(answered)),
            "settings": terms(settings(answered.run), "settings") or "<p>No settings were recorded.</p>",
        },
    )
