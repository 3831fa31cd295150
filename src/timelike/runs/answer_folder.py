"""The folder of a question: the names of its files, and how they are written, each as it comes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

from timelike import plot
from timelike.base.arrays import Floats, Ints
from timelike.base.files import checksum
from timelike.base.tables import write_table
from timelike.exceptions import InputError
from timelike.questions.changing import Changing
from timelike.questions.compare import Compared
from timelike.questions.found import Found
from timelike.questions.permuted import Check
from timelike.questions.telling import curves_of, effects_of, grid, interval_words
from timelike.reporting.report_answer import report_answer
from timelike.runs.beside import beside
from timelike.runs.failures import attempted
from timelike.runs.folder import MODEL, NEW, RECORD, REPORT, REPORT_UP_TO, Say, clear
from timelike.runs.question_record import QuestionRecord

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

DIFFERENCES, PARTITIONS, DIFFERENCE_CURVES = "differences.csv", "partitions.csv", "difference_curves.csv"
CHANGING, CHANGE_CURVES = "changing.csv", "change_curves.csv"
CHECK = "check.csv"
VOLCANO, TOP = "volcano", "top"
"""Figures, each in all of the endings."""
ENDINGS = (".png", ".svg", ".pdf")
GRID = 41
"""Times at which curves are written."""

Step = Callable[[Found, QuestionRecord, Path], Sequence[str]]
"""Writes files into a folder; their names."""


def write(
    found: Found,
    record: QuestionRecord,
    out: Path,
    say: Say,
    details: pd.DataFrame | None = None,
    overwrite: bool = False,
) -> tuple[QuestionRecord, tuple[str, ...]]:
    """Write all files of an answer into the folder `out`, each as it comes; the record, which knows them, and failures.

    Tables with a row for each course also have the `details` of its name.

    Each step's files appear when they are whole, and the record after each step: where a later one fails, what came
    before stays.
    """
    say("writing tables, figures and the report")
    failed: list[str] = []
    for what, step in _steps(found, record.wish.check, details).items():
        sums = attempted(what, partial(_written, step, found, record, out, overwrite), failed) or {}
        given = sums[MODEL] if record.model_sha256 is not None and MODEL in sums else record.model_sha256
        notes = tuple(dict.fromkeys([*record.notes, *failed]))
        record = replace(record, outputs=record.outputs | sums, model_sha256=given, notes=notes)
        if record.outputs:
            attempted(f"news in {RECORD}", partial(record.save, out / RECORD), failed)
    return record, tuple(failed)


def _written(step: Step, found: Found, record: QuestionRecord, out: Path, overwrite: bool) -> dict[str, str]:
    """Write the files of a step; their names and sums. An earlier run goes when the first of the new files is whole."""
    out.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=out, prefix=NEW) as place:
        names = step(found, record, Path(place))
        sums = {name: checksum(Path(place) / name) for name in names}
        if not record.outputs:
            clear(out, overwrite)
        for name in names:
            (Path(place) / name).replace(out / name)
    return sums


def _steps(found: Found, permutations: int, known: pd.DataFrame | None) -> dict[str, Step]:
    """What is written, in this order."""
    steps: dict[str, Step] = {MODEL: _model}
    if isinstance(found, Compared):
        steps[DIFFERENCES] = _table(DIFFERENCES, lambda found, fdr: beside(differences(found, fdr), known))
        if len(found.conditions) > 2:
            steps[PARTITIONS] = _table(PARTITIONS, lambda found, _: beside(_partitions(found), known))
        steps[DIFFERENCE_CURVES] = _table(DIFFERENCE_CURVES, difference_curves)
    if isinstance(found, Changing):
        steps[CHANGING] = _table(CHANGING, lambda found, _: beside(found.to_frame(), known))
        steps[CHANGE_CURVES] = _table(CHANGE_CURVES, change_curves)
    checked: list[Check] = []  # filled by the step, so that a page stands also where it fails
    if permutations and found.permutable:
        steps[CHECK] = partial(_check, checked)
    figures = {"figure volcano": _figure(VOLCANO, _volcano), "figure top": _figure(TOP, _top)}
    return steps | figures | {"report": partial(_report, checked)}


def _check(checked: list[Check], found: Found, record: QuestionRecord, out: Path) -> Sequence[str]:
    checked.append(found.check(record.wish.check))
    write_table(checked[0].to_frame(), out / CHECK)
    return [CHECK]


def _report(checked: list[Check], found: Found, record: QuestionRecord, out: Path) -> Sequence[str]:
    if len(found) > REPORT_UP_TO:
        raise InputError(f"a page holds {REPORT_UP_TO:,} courses, these are {len(found):,}. The tables have them all.")
    report_answer(
        out / REPORT,
        found,
        fdr=record.wish.fdr,
        check=checked[0] if checked else None,
        notes=record.notes,
        run=record.settings(),
        title=record.naming.title,
        time_unit=record.naming.time_unit,
        value_name=record.naming.value_name,
    )
    return [REPORT]


def _model(found: Found, _: QuestionRecord, out: Path) -> Sequence[str]:
    found.gp.save(out / MODEL)
    return [MODEL]


def _table(name: str, make: Callable[..., pd.DataFrame]) -> Step:
    """What writes a table under a name, made from the answer and the rate at which genes are called."""

    def written(found: Found, record: QuestionRecord, out: Path) -> Sequence[str]:
        write_table(make(found, record.wish.fdr), out / name)
        return [name]

    return written


# -- tables ----------------------------------------------------------------------------------------------------------


def differences(found: Compared, fdr: float) -> pd.DataFrame:
    """The table of a comparison, with the intervals of the genes that are called in words."""
    frame, called = found.to_frame(), found.called(fdr)
    words = interval_words(found, called)
    return frame.assign(intervals=[*words, *[""] * (len(frame) - len(words))])  # both have the surest first


def _partitions(found: Compared) -> pd.DataFrame:
    return found.partitions.iloc[found.order].reset_index()


def difference_curves(found: Compared, fdr: float) -> pd.DataFrame:
    """Tidy table of the differences of the genes that are called: name, first, second, time, mean and sd."""
    import pandas as pd

    called, at = found.called(fdr), grid(found, GRID)
    tables = []
    for first, second in found.pairs:
        mean, sd = effects_of(found, called, at, (first, second))
        conditions = {"first": found.conditions[first], "second": found.conditions[second]}
        tables.append(_tidy(found, called, at, mean, sd).assign(**conditions))
    order = ["name", "first", "second", "time", "mean", "sd"]
    return pd.concat(tables)[order].sort_values("name", kind="stable", key=_in_order(found, called))


def _in_order(found: Found, genes: Ints) -> Callable[[pd.Series], pd.Series]:
    place = {found.names[gene]: i for i, gene in enumerate(genes)}
    return lambda names: names.map(place)


def change_curves(found: Changing, fdr: float) -> pd.DataFrame:
    """Tidy table of the curves of the courses that change: name, time, mean and sd."""
    called, at = found.called(fdr), grid(found, GRID)
    (curves,) = curves_of(found, called, at).values()
    return _tidy(found, called, at, *curves)


def _tidy(found: Found, genes: Ints, at: Floats, mean: Floats, sd: Floats) -> pd.DataFrame:
    import pandas as pd

    names = np.repeat([found.names[gene] for gene in genes], len(at))
    return pd.DataFrame({"name": names, "time": np.tile(at, len(genes)), "mean": mean.ravel(), "sd": sd.ravel()})


# -- figures ---------------------------------------------------------------------------------------------------------


def _figure(name: str, draw: Callable[[Found, QuestionRecord], Axes]) -> Step:
    """What draws a figure and saves it under a name, in every format."""

    def written(found: Found, record: QuestionRecord, out: Path) -> Sequence[str]:
        names = [f"{name}{ending}" for ending in ENDINGS]
        plot.save(draw(found, record), *(out / each for each in names))
        return names

    return written


def _volcano(found: Found, record: QuestionRecord) -> Axes:
    return plot.volcano(found, fdr=record.wish.fdr, value=record.naming.value_label)


def _top(found: Found, record: QuestionRecord) -> Axes:
    """The surest of the courses that are called; of all courses, where none is."""
    called = found.called(record.wish.fdr)
    genes = (called if len(called) else found.order)[: record.wish.top].tolist()
    naming = record.naming
    draw = plot.differences if isinstance(found, Compared) else plot.changes
    return draw(found, genes, time=naming.time_label, value=naming.value_label)[0]  # type: ignore[arg-type]  # its own
