"""analyse: from a file of courses to clusters, neighbours, figures and a report, in one call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np

from timelike.base.files import checksum
from timelike.clusters.methods import AUTO
from timelike.courses import TimeCourses
from timelike.datasets import NAMED
from timelike.exceptions import DataWarning, InputError, kept, warn
from timelike.gp import GP
from timelike.gp.fit import fit
from timelike.gp.kernels import name_of
from timelike.gp.look import by_level, like_counts, look, wide_gaps
from timelike.ontology.enrichment import enrichment
from timelike.reading import understand
from timelike.runs.analysis import Analysis
from timelike.runs.beside import rows_of
from timelike.runs.failures import attempted
from timelike.runs.folder import Say, claimed, write
from timelike.runs.recipe import Choices, Clock, Recipe
from timelike.runs.record import FROM_PYTHON, GIVEN, Record, Source
from timelike.runs.terms import Terms

if TYPE_CHECKING:
    import pandas as pd

    from timelike.ontology import Ontology


def analyse(
    data: str | PathLike[str] | TimeCourses | pd.DataFrame | Sequence[str | PathLike[str] | pd.DataFrame],
    out: str | PathLike[str] | None = None,
    *,
    model: GP | str | PathLike[str] | None = None,
    ontology: Ontology | None = None,
    reading: dict[str, Any] | None = None,
    overwrite: bool = False,
    say: Say | None = None,
    **choices: Unpack[Choices],
) -> Analysis:
    """The whole job: read, select, scale, fit, group, find neighbours, and write tables, figures and a report.

    Parameters
    ----------
    data
        A file or table for :func:`timelike.read`, or a list of several; courses; or the name of a data set
        ("reprogramming").
    out
        Folder for the results; without one nothing is written, and neighbours are found when they are asked for.
    model
        Use this model, or model file, instead of fitting one.
    ontology
        Also look for terms that clusters are enriched for: from :func:`timelike.ontology.read`, or gene sets from
        :func:`timelike.ontology.read_sets`.
    reading
        Options of :func:`timelike.read`.
    overwrite
        Write into a folder that has files already.
    say
        Called with a line about each step.
    **choices
        ``changing``, ``most_variable``, ``scale``, ``kernel``, ``clock``, ``method``, ``k``, ``max_k``, ``tolerance``,
        ``spread``, ``up_to``, ``max_delay``, ``robust``, ``noise``, ``refine``, ``neighbors``, ``seed``, ``title``,
        ``time_unit``, ``value_name``: see :class:`timelike.runs.recipe.Recipe`. By default no course with a
        value is left out, and nothing is scaled.

    Warns
    -----
    DataWarning
        Of what the data ask for, see :func:`timelike.look`; and of a step (terms, neighbours, figures, report) that
        failed: everything else is written all the same. The record keeps the sentences.

    Examples
    --------
    >>> import timelike as tl
    >>> courses, _ = tl.simulate.profiles(per_group=20, seed=1)
    >>> found = tl.analyse(courses)
    >>> found
    Analysis: 60 courses, 15 times (0 to 1); 60 courses in 3 clusters (23, 17, 20), mixture
    >>> list(found.to_frame().columns)
    ['name', 'cluster', 'probability', 'nearest', 'neighbor', 'similarity']
    """
    recipe = Recipe.of(**choices)
    heard, say = say is not None, say or (lambda _: None)
    with claimed(out, overwrite) as folder, warnings_kept() as notes:
        given, source, doubts, counts, _, details = _source(data, reading or {})
        for line in source.understood:
            say(line)
        for doubt in () if heard else doubts:
            warn(doubt, DataWarning)
        courses = prepared(given, recipe)
        selected = recipe.selection(given, courses)
        if selected is not None:
            say(f"selected {selected}")
        how: dict[str, bool] = {"robust": recipe.robust, "levels": recipe.levels}
        gp = given_or_fitted(courses, model, recipe.kernel, recipe.clock, say, **how)
        recipe = recipe if model is None else replace(recipe, kernel=name_of(gp.kernel), clock=gp.clock or "linear")
        note_gaps(courses, gp)
        say("grouping the courses")
        here = gp.at(courses)  # held: what the steps have in common is computed once
        clustering = recipe.grouped(courses, gp)
        failed: list[str] = []
        terms = None
        if ontology is not None:  # by gene, whatever the condition
            say(f"terms: {ontology.described()}; {ontology.mapped(dict.fromkeys(courses.plain_names))}")
            find = partial(enrichment, clustering.labels, courses.plain_names, ontology)
            terms = attempted("table of enriched terms", find, failed)
        kept = tuple(dict.fromkeys([*doubts, *notes()]))
        given_model = None if model is None else GIVEN
        of = Terms.of(ontology)
        record = Record(source, recipe, given_model, notes=kept, selected=selected, terms=of)
        beside = rows_of(details, given.names, courses.names)
        analysis = Analysis(here, clustering, record, terms, counts, failed=tuple(failed), details=beside)
        return analysis if folder is None else write(analysis, folder, say, overwrite)


def prepared(given: TimeCourses, recipe: Recipe) -> TimeCourses:
    """The courses that are analysed; warns of what they ask for."""
    courses = recipe.prepared(given)
    known = by_level(courses) if recipe.levels or recipe.up_to == AUTO else []
    for sentence in dict.fromkeys([*like_counts(given), *look(courses)]):  # scaled, counts are no whole numbers
        if sentence not in known:
            warn(sentence, DataWarning)
    return courses


def note_gaps(courses: TimeCourses, gp: GP) -> None:
    """Warn of gaps between times that curves of the model cannot cross."""
    for sentence in wide_gaps(courses, gp):
        warn(sentence, DataWarning)


def given_or_fitted(
    courses: TimeCourses,
    model: GP | str | PathLike[str] | None,
    kernel: str,
    clock: Clock,
    say: Say,
    *,
    robust: bool = True,
    levels: bool = False,
) -> GP:
    """The model that is given, by itself or as a file, or one fitted to the courses.

    Where these have `levels` of their own, to the courses moved to one level: the signal is that of changes.
    """
    if model is None:
        alike = courses.centered(float(courses.values.mean())) if levels else courses
        gp = fit(alike, kernel, clock=clock, robust=robust)
        sds = f"signal sd {gp.signal_sd:.4g}, noise sd {gp.noise_sd:.4g}"
        to = " to courses of one level" if levels else ""
        say(f"fitted{to}: {in_time(gp)}{sds}, log likelihood {gp.log_likelihood:.2f}")
        return gp
    gp = model if isinstance(model, GP) else GP.load(model)
    _doubt(courses.centered(gp.mean) if levels else courses, gp)
    return replace(gp, log_likelihood=None)  # which was of the courses it was fitted to


def in_time(gp: GP) -> str:
    """The numbers of a model that are in the unit of the times, as the beginning of a list.

    Examples
    --------
    >>> in_time(GP.se(6.0, signal_sd=1, noise_sd=0.3, clock=24.0))
    'length scale 6, clock 24, '
    """
    scale = f"length scale {gp.length_scale:.4g}, " if isinstance(gp.length_scale, float) else ""
    return scale + (f"clock {gp.clock:.4g}, " if gp.clock is not None else "")


def _doubt(courses: TimeCourses, gp: GP) -> None:
    """Warn where values are far from what the model expects."""
    size = float(np.sqrt(gp.covariance.diag(courses.designs.points).mean() + gp.noise_sd**2))
    middle, width = courses.values.mean(), courses.values.std()
    if abs(middle - gp.mean) > 5 * size or width > 5 * size:
        warn(
            f"the model expects values around {gp.mean:.3g} +- {size:.3g}, these are around {middle:.3g} +- "
            f"{width:.3g}. Was it fitted with another scale?",
            DataWarning,
        )


class _Given(NamedTuple):
    """The courses, where they are from, what is doubtful about them, and what else is known about them."""

    courses: TimeCourses
    source: Source
    doubts: tuple[str, ...] = ()
    counts: pd.DataFrame | None = None
    subjects: dict[str, tuple[str, ...]] | None = None
    details: pd.DataFrame | None = None


def _source(data: Any, reading: dict[str, Any]) -> _Given:
    """The courses, and what is known about them."""
    path = Path(data) if isinstance(data, (str, PathLike)) else None
    named = path is not None and str(data) in NAMED and not path.exists()
    if reading and (named or isinstance(data, TimeCourses)):
        what = f"the data set {data}" if named else "TimeCourses"
        raise InputError(f"reading options ({', '.join(reading)}) are for files, not for {what}.")
    if isinstance(data, TimeCourses):
        return _Given(data, Source(understood=(data.summary(),)))
    if named:
        load, unit = NAMED[str(data)]
        courses = load()
        return _Given(courses, Source(path=str(data), understood=(courses.summary(),), time_unit=unit))
    found = understand(data, **reading)
    known = _files(data)
    options = {name: _plain(value) for name, value in reading.items() if value is not None}
    if options.get("samples", FROM_PYTHON) != FROM_PYTHON:
        known["samples_sha256"] = checksum(options["samples"])
    counts = found.counts
    known |= {} if counts is None else {"size_factors": counts.size_factors}
    known["details"] = () if found.details is None else tuple(map(str, found.details.columns))
    known["left_out"] = tuple(part.what for part in found.left_out)
    source = Source(**known, reading=options, understood=tuple(found.lines()), time_unit=found.time_unit)
    table = None if counts is None else counts.to_frame()
    return _Given(found.courses, source, found.notes, table, found.subjects, found.details)


def _files(data: Any) -> dict[str, Any]:
    """Paths and checksums of the input, one file or several; nothing where a part of it is no file."""
    files = list(data) if isinstance(data, (list, tuple)) else [data]
    if not all(isinstance(file, (str, PathLike)) for file in files):
        return {}
    first, *others = files
    known = {"path": str(first), "sha256": checksum(Path(first))}
    return known | {"others": {str(file): checksum(Path(file)) for file in others}}


def _plain(option: Any) -> Any:
    """An option of reading as the record holds it, in JSON."""
    if isinstance(option, (str, PathLike)):
        return str(option)
    return FROM_PYTHON if hasattr(option, "columns") else np.asarray(option).tolist()


@contextmanager
def warnings_kept() -> Iterator[Callable[[], list[str]]]:
    """Warnings inside the block are shown as always, each once; the function that comes out lists those about data."""
    with kept() as found:
        yield lambda: [one.message for one in found]
