"""The folder of a run: the names of its files, how they are written, and how an analysis is read from them again."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from timelike import plot
from timelike.base.checks import first_few
from timelike.base.files import checksum, is_taken
from timelike.base.locks import locked
from timelike.base.tables import quoted, unquoted, write_table
from timelike.clusters import saved
from timelike.clusters.curves.curve_clustering import GRID, CurveClustering
from timelike.exceptions import DataWarning, InputError, MissingExtraError, warn
from timelike.gp import GP
from timelike.pairs.nearest.neighbors import MOVED, Neighbors
from timelike.reporting.report import report
from timelike.runs.analysis import Analysis
from timelike.runs.beside import beside
from timelike.runs.failures import attempted
from timelike.runs.lists import LISTS, write_lists
from timelike.runs.record import Record, Search, outputs_of

if TYPE_CHECKING:
    import pandas as pd

MODEL, CLUSTERING, RECORD = "model.json", "analysis.npz", "run.json"
"""The files from which an analysis is read again."""
CLUSTERS, NEIGHBORS, TERMS, REPORT = "clusters.csv", "neighbors.csv", "enrichment.csv", "report.html"
CONDITIONS, CHANGES, COUNTS = "conditions.csv", "changes.csv", "counts.csv"
FIGURES = ("clusters.png", "clusters.svg", "clusters.pdf")
REPORT_UP_TO = 50_000
"""Courses that a report can hold; a page for more would be slow to open and too large to send."""
NEW, LOCK = ".new-", ".lock"
"""Of a run that is under way: where its files are until they are whole, and what keeps others out."""
LEFT = re.compile(r"\.lock|\.new-[a-z0-9_]{8}|\.[0-9a-f]{32}(\.\w+)?")
"""What a killed run leaves."""
TEXTS = ("term", "name")
NUMBERS = ("fold", "p", "q", "mean", "trend", "dispersion")
"""Columns of the tables that are read again with text, and with numbers; in others they are whole numbers."""

Say = Callable[[str], object]


def new_folder(out: Path, overwrite: bool) -> Path:
    """The folder, made if need be, once it is clear that nothing in it is lost."""
    _look(out, overwrite)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise InputError(f"cannot make the folder {out}: {problem.strerror}.") from None
    if not os.access(out, os.W_OK):
        raise InputError(f"cannot write into the folder {out}: no permission.")
    return out


@contextmanager
def claimed(out: str | PathLike[str] | None, overwrite: bool) -> Iterator[Path | None]:
    """The folder for one run, which no other run enters until this one ends; None where nothing is to be written.

    What killed runs left in it goes.
    """
    if out is None:
        yield None
        return
    folder = new_folder(Path(out), overwrite)
    with locked(folder, LOCK) as held:
        try:
            _look(folder, overwrite)  # another may have ended since
            if held:
                _sweep(folder)
            yield folder
        finally:
            with suppress(OSError):  # Windows keeps a file that is open; it is in nobody's way
                (folder / LOCK).unlink()


def _look(out: Path, overwrite: bool) -> None:
    """Raise if there is something at `out` that would be lost."""
    if is_taken(out) and not out.is_dir():
        raise InputError(f"{out} is a file: give a folder for the results.")
    if not overwrite and is_taken(out) and not all(LEFT.fullmatch(path.name) for path in out.iterdir()):
        raise InputError(f"{out} is not empty. Choose another folder, or say that it may be overwritten (--force).")


def _sweep(out: Path) -> None:
    """Remove what runs left that were killed."""
    for path in [path for path in out.iterdir() if LEFT.fullmatch(path.name) and path.name != LOCK]:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


# -- writing -------------------------------------------------------------------------------------------------------


def write(analysis: Analysis, out: Path, say: Say, overwrite: bool = False) -> Analysis:
    """Write all files of an analysis into the folder `out`; the analysis, knowing its files.

    Model, clusters, tables and lists are written into a folder within, and take the place of an earlier run when model
    and clusters are whole. Figures and report follow. Where a step fails, the rest stays; where not even model and
    clusters can be written, an earlier run does, and the analysis is only returned.
    """
    failed: list[str] = []
    say("finding the nearest courses of each")
    _search(analysis, failed)
    say("writing tables, figures and the report")
    record = attempted(f"results in {out}", partial(_first, analysis, out, failed, overwrite), failed)
    if record is None:
        return _with(analysis, failed=(*analysis.failed, *failed))
    for what, more in (("figures", _figures), ("report", write_report)):
        added = attempted(what, partial(_added, _with(analysis, record=record), out, more), failed)
        record = _noted(added or record, failed)
        attempted(f"news in {RECORD}", partial(record.save, out / RECORD), failed)
    files = tuple(out / name for name in [RECORD, *record.outputs])
    return _with(analysis, record=record, files=files, failed=(*analysis.failed, *failed))


def _search(analysis: Analysis, failed: list[str]) -> None:
    """Find the neighbours; where that fails, the analysis goes on without."""
    vars(analysis)["neighbors"] = attempted("neighbours", lambda: analysis.neighbors, failed)


def _with(analysis: Analysis, **news: Any) -> Analysis:
    """The analysis with something new; its neighbours are not searched again, nor read."""
    changed = replace(analysis, **news)
    vars(changed)["neighbors"] = analysis.neighbors
    return changed


def _first(analysis: Analysis, out: Path, failed: list[str], overwrite: bool) -> Record:
    """Write model, clusters and tables in the place of an earlier run; the record, which is written last."""
    out.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=out, prefix=NEW) as place:
        folder = Path(place)
        analysis.gp.save(folder / MODEL)
        saved.save(folder / CLUSTERING, analysis.clustering, analysis.courses)
        names = [MODEL, CLUSTERING, *_tables(analysis, folder, failed)]
        sums = {name: checksum(folder / name) for name in names}
        model = None if analysis.record.model_sha256 is None else sums[MODEL]
        near = analysis.neighbors
        search = None if near is None else Search(near.route, near.recall)
        record = _noted(replace(analysis.record, outputs=sums, model_sha256=model, search=search), failed)
        record.save(folder / RECORD)
        clear(out, overwrite)
        _moved([*names, RECORD], folder, out)  # the record last: no rest is taken for a run
        return record


def _added(analysis: Analysis, out: Path, more: Callable[[Analysis, Path], Sequence[str]]) -> Record:
    """Write further files of a run; its record, which knows them."""
    with TemporaryDirectory(dir=out, prefix=NEW) as place:
        folder = Path(place)
        names = more(analysis, folder)
        sums = {name: checksum(folder / name) for name in names}
        _moved(names, folder, out)
    return replace(analysis.record, outputs=analysis.record.outputs | sums)


def _moved(names: Sequence[str], folder: Path, out: Path) -> None:
    """Move files, in this order, from one folder into another."""
    for name in names:
        (out / name).parent.mkdir(exist_ok=True)
        (folder / name).replace(out / name)


def _noted(record: Record, failed: Sequence[str]) -> Record:
    """The record with what failed among its notes."""
    return replace(record, notes=tuple(dict.fromkeys([*record.notes, *failed])))


def clear(out: Path, overwrite: bool) -> None:
    """Remove the run that is overwritten, its record first; raise if something came in that may not be."""
    _look(out, overwrite)
    old = outputs_of(out / RECORD)
    (out / RECORD).unlink(missing_ok=True)
    for name in old:
        if name in (Path(name).name, f"{LISTS}/{Path(name).name}"):  # a record may come from anybody
            (out / name).unlink(missing_ok=True)
    if (out / LISTS).is_dir() and not any((out / LISTS).iterdir()):
        (out / LISTS).rmdir()


def write_report(analysis: Analysis, out: Path) -> list[str]:
    """Write the report, or say why not; the names of the files."""
    if len(analysis.courses) > REPORT_UP_TO:
        warn(
            f"no report: a page holds {REPORT_UP_TO:,} courses, these are {len(analysis.courses):,}. The tables have "
            "them all; select courses (most_variable=, --most-variable) for a report.",
            DataWarning,
        )
        return []
    page(analysis, out / REPORT)
    return [REPORT]


def page(analysis: Analysis, path: Path) -> None:
    """Write the report of an analysis."""
    naming = analysis.naming
    report(
        path,
        analysis.courses,
        analysis.gp,
        analysis.clustering,
        neighbors=analysis.neighbors,
        enrichment=analysis.enrichment,
        details=analysis.details,
        notes=analysis.record.notes,
        run=analysis.settings(),
        title=naming.title,
        time_unit=naming.time_unit,
        value_name=naming.value_name,
    )


def _tables(analysis: Analysis, out: Path, failed: list[str]) -> Iterator[str]:
    """Write the tables and lists, but those that cannot be made; the names of the files."""
    for name, make in _each_table(analysis).items():
        yield from attempted(name, partial(_table_written, name, make, out), failed) or ()
    lists = partial(write_lists, analysis.clustering, analysis.courses, out)
    yield from attempted(f"{LISTS} of names", lambda: list(lists()), failed) or ()


def _table_written(name: str, make: Callable[[], pd.DataFrame | None], out: Path) -> list[str]:
    """Write a table, where there is something to say; its name."""
    table = make()
    if table is None:
        return []
    write_table(table, out / name, index=name == CONDITIONS)
    return [name]


def _each_table(analysis: Analysis) -> dict[str, Callable[[], pd.DataFrame | None]]:
    """File name -> what makes the table, or None where there is nothing to say."""
    clustering, near, known = analysis.clustering, analysis.neighbors, analysis.detailed
    tables: dict[str, Callable[[], pd.DataFrame | None]] = {
        CLUSTERS: analysis.to_frame,
        NEIGHBORS: lambda: None if near is None else _named(near.to_frame(), known),
        CONDITIONS: lambda: analysis.conditions,
        CHANGES: lambda: None if analysis.changes is None else beside(analysis.changes, known),
    }
    if isinstance(clustering, CurveClustering):
        tables["curves.csv"] = lambda: _curves(clustering)
        tables["outliers.csv"] = lambda: beside(clustering.outliers(), known, of="course")
        if clustering.path:
            tables["numbers.csv"] = clustering.path_frame
    return tables | {TERMS: lambda: analysis.enrichment, COUNTS: lambda: analysis.counts}


def _named(near: pd.DataFrame, known: pd.DataFrame | None) -> pd.DataFrame:
    """The table of neighbours with the details of both courses."""
    return beside(beside(near, known, of="course"), known, of="neighbor", before="neighbor_")


def _curves(clustering: CurveClustering) -> pd.DataFrame:
    """Tidy table of the clusters' curves: cluster, time, mean and sd."""
    import pandas as pd

    times = clustering.courses.designs.points
    at = np.linspace(times.min(), times.max(), GRID)
    curves = clustering.curves(at)
    columns = {"mean": curves.mean.ravel(), "sd": curves.sd.ravel()}
    cluster = np.repeat(np.arange(clustering.k), len(at))
    return pd.DataFrame({"cluster": cluster, "time": np.tile(at, clustering.k)} | columns)


def _figures(analysis: Analysis, out: Path) -> Sequence[str]:
    """Draw the clusters, or say why not: tables must not be lost for want of a picture."""
    clustering, naming = analysis.clustering, analysis.naming
    courses, gp = (None, None) if isinstance(clustering, CurveClustering) else (analysis.courses, analysis.gp)
    try:
        panels = plot.panels(clustering.k + int((clustering.labels < 0).any()), columns=3, width=7)
    except MissingExtraError as problem:
        warn(str(problem), DataWarning)
        return []
    time, value = naming.time_label, naming.value_label
    first = plot.cluster_panels(clustering, panels, courses=courses, gp=gp, time=time, value=value)[0]
    plot.save(first, *(out / name for name in FIGURES))
    return FIGURES


# -- reading again ---------------------------------------------------------------------------------------------------


def load(folder: str | PathLike[str]) -> Analysis:
    """The analysis that a run wrote into a folder."""
    place = Path(folder)
    if not place.is_dir():
        raise InputError(f"there is no folder {place}: give the one that 'timelike cluster' wrote.")
    gp = GP.load(place / MODEL)
    clustering, courses = saved.load(place / CLUSTERING, gp)
    record = Record.load(place / RECORD)
    for name in (MODEL, CLUSTERING):
        if not _as_written(place / name, record):
            raise InputError(f"{place / name} is not the one that this run wrote. Restore it, or cluster again.")
    files = tuple(place / name for name in record.outputs)
    terms, counts = (_table(place / name, record) for name in (TERMS, COUNTS))
    details = _details_written(place / CLUSTERS, record)
    return Analysis(gp.at(courses), clustering, record, terms, counts, files, details=details)


def _details_written(table: Path, record: Record) -> pd.DataFrame | None:
    """What the input said about courses beside their values: the last columns of the table of clusters."""
    import pandas as pd

    names = list(record.source.details)
    if not names:
        return None
    if not _as_written(table, record):
        warn(f"{table} is not the one that this run wrote: {first_few(names)} are left out.", DataWarning)
        return None
    cells = pd.read_csv(table, dtype=str, keep_default_na=False)
    return cells.iloc[:, -len(names) :].map(unquoted).set_axis(names, axis=1)


def neighbors_written(analysis: Analysis, count: int) -> Neighbors | None:
    """The neighbours in the folder of an analysis, every number to the bit; None where they are not as the run wrote.

    The table has neither route nor recall: these are in the record. A record without them is of an earlier version.
    """
    import pandas as pd

    record, names = analysis.record, analysis.courses.names
    table = next((path for path in analysis.files if path.name == NEIGHBORS), None)
    place = {quoted(name): i for i, name in enumerate(names)}
    if table is None or record.search is None or len(place) < len(names) or not _as_written(table, record):
        return None
    kinds = {"neighbor": str, "score": float} | dict.fromkeys(MOVED, float)
    shape = len(names), count
    try:
        cells = pd.read_csv(
            table, usecols=lambda name: name in kinds, dtype=kinds, keep_default_na=False, float_precision="round_trip"
        )
        indices = np.array([place[name] for name in cells["neighbor"]], dtype=np.intp).reshape(shape)
        scores = cells["score"].to_numpy(dtype=float).reshape(shape)
        moved = {name: cells[name].to_numpy(dtype=float).reshape(shape) for name in MOVED if name in cells}
    except (ValueError, KeyError):  # a record may come from anybody
        return None
    return Neighbors(indices, scores, names, None, record.search.route, record.search.recall, **moved)


def _as_written(path: Path, record: Record) -> bool:
    return path.is_file() and record.outputs.get(path.name) == checksum(path)


def _table(table: Path, record: Record) -> pd.DataFrame | None:
    """A table that a run wrote, where it did; every number to the bit."""
    import pandas as pd

    if table.name not in record.outputs or not table.is_file():
        return None
    try:
        cells = pd.read_csv(table, dtype=str, keep_default_na=False)  # a term may be called NA
        return cells.assign(**{name: cells[name].map(_kind(name)) for name in cells.columns})
    except (ValueError, OSError) as problem:
        raise InputError(f"{table} is not the one that this run wrote: {problem}. Cluster again.") from None


def _kind(column: str) -> Callable[[str], Any]:
    """What becomes of the cells in a column."""
    if column in TEXTS:
        return unquoted
    return float if column in NUMBERS else int
