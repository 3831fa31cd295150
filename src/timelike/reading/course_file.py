"""CourseFile: a wide table on disk that gives its courses chunk by chunk, as often as it is asked."""

from __future__ import annotations

import csv
import io
import warnings
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from timelike.base import checks, unpacking
from timelike.base.arrays import Floats
from timelike.base.dask_workers import sees
from timelike.courses import TimeCourses
from timelike.exceptions import InputError, filters
from timelike.reading.cells import missing_words
from timelike.reading.files import errors_about
from timelike.reading.tables import as_text, frame_numbers
from timelike.reading.time_headers import refuse_thousands, time_columns

ROWS = 100_000
"""Courses of a chunk."""

Part = tuple[list[str], Floats]
"""Names and values (rows, t) of some courses."""


class CourseFile:
    r"""A file of courses on one grid, one a row, which need not fit into memory.

    Iterate over it for ``TimeCourses`` of `rows` courses each, as often as needed; :meth:`sample` draws some at random.
    That no name stands twice is checked within each chunk only; cells that a line lacks at its end are gaps.

    Parameters
    ----------
    path
        ``.npy``: an array (N, t) of numbers; the courses are called "0", "1", ... A wide table in ``.csv`` or ``.tsv``
        (also ``.gz``), with a header in its first line, or ``.parquet``: one column with names, the others with values.
        A ``.npy`` file is read many times faster than a text.
    times
        The time of each column. Without it a table's header says them ("0h", "12h"); a ``.npy`` file needs it.
    rows
        Courses of a chunk.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = Path(folder) / "genes.csv"
    ...     _ = table.write_text("gene,0h,12h\nSamd14,8.1,9\nFbln5,7,6.5\nMyc,3,NA\n")
    ...     [chunk.names for chunk in CourseFile(table, rows=2)]
    [('Samd14', 'Fbln5'), ('Myc',)]
    """

    def __init__(self, path: str | PathLike[str], times: ArrayLike | None = None, *, rows: int = ROWS) -> None:
        self.path, self.rows = Path(path), rows
        checks.whole(rows, "rows")
        if not self.path.is_file():
            raise InputError(f"there is no file {self.path}.")
        self._format = _format(self.path)
        self.times, self._name, self._columns = self._layout(times)

    def __repr__(self) -> str:
        low, high = self.times.min(), self.times.max()
        return f"CourseFile: {self.path.name}, {checks.counted(len(self.times), 'column')} ({low:g} to {high:g})"

    def __iter__(self) -> Iterator[TimeCourses]:
        for names, values in self._parts():
            yield self._courses(values, names)

    def blocks(self, client: Any = None) -> Iterable[Chunk | TimeCourses]:
        """The chunks: of a .npy file that all workers of a client see, what reads them where it is called."""
        if self._format == "npy" and (client is None or sees(client, self.path.absolute())):
            return [Chunk(self.path.absolute(), self.times, slice(*part)) for part in self._starts()]
        return iter(self)

    @cached_property
    def count(self) -> int:
        """Number of courses; a table is read to its end for it."""
        if self._format == "npy":
            return int(_array(self.path).shape[0])
        return sum(len(names) for names, _ in self._parts())

    def sample(self, count: int, seed: int = 0) -> TimeCourses:
        """So many courses, drawn at random, or all of them where there are fewer: to fit a model to, for instance."""
        checks.whole(count, "count")
        chosen = np.sort(np.random.default_rng(seed).permutation(self.count)[:count])
        names: list[str] = []
        values: list[Floats] = []
        start = 0
        for called, part in self._parts():
            own = chosen[np.searchsorted(chosen, start) : np.searchsorted(chosen, start + len(part))] - start
            names += [called[i] for i in own]
            values.append(part[own])
            start += len(part)
        return self._courses(np.concatenate(values), names)

    def _courses(self, values: Floats, names: list[str]) -> TimeCourses:
        with errors_about(self.path):
            return TimeCourses.from_arrays(self.times, values, names)

    def _starts(self) -> list[tuple[int, int]]:
        return [(start, min(start + self.rows, self.count)) for start in range(0, self.count, self.rows)]

    # -- formats -------------------------------------------------------------------------------------------

    @cached_property
    def _header(self) -> list[str]:
        return _parquet(self.path).schema_arrow.names if self._format == "parquet" else _first_line(self.path)

    def _layout(self, given: ArrayLike | None) -> tuple[Floats, int, list[int]]:
        """The times, the column of the names (an array has none), and those of the values."""
        if given is None and self._format == "npy":
            raise InputError(f"{self.path} has values without times: give times=, one for each column.")
        if given is None:
            refuse_thousands(self._header, None)
            found = time_columns(self._header)
            others = sorted(set(range(len(self._header))) - set(found.positions))
            if not found.positions or not others:
                shown = ", ".join(map(repr, self._header[:6]))
                raise InputError(f"{self.path}: the header {shown} is not a name and then times. Give times=.")
            return found.times, others[0], list(found.positions)
        times = checks.numbers(given, "times")
        width = _array(self.path).shape[1] if self._format == "npy" else len(self._header) - 1
        if times.shape != (width,):
            raise InputError(f"{self.path} has {width} columns of values, times have shape {times.shape}.")
        return times, 0, list(range(1, width + 1))  # the first column has the names, whatever the header says

    def _parts(self) -> Iterator[Part]:
        if self._format == "npy":
            yield from (_part(self.path, slice(*part)) for part in self._starts())
            return
        start = 0
        for table in self._tables():
            names = self._names(table[self._name], start)
            yield names, self._numbers(table[self._columns], names)
            start += len(names)

    def _tables(self) -> Iterator[Any]:
        """Tables of `rows` rows, with numbered columns."""
        import pandas as pd

        if self._format == "parquet":
            for batch in _parquet(self.path).iter_batches(batch_size=self.rows):
                # An index of pandas is a column like the others: the header has it too.
                yield batch.to_pandas(ignore_metadata=True).set_axis(range(len(self._header)), axis=1)
            return
        settings: dict[str, Any] = {"header": None, "skiprows": 1, "chunksize": self.rows, "sep": _separator(self.path)}
        settings |= {"dtype": {self._name: str}, "keep_default_na": False}  # a course may be called NA
        settings |= {"na_values": dict.fromkeys(self._columns, missing_words())}
        settings |= {"float_precision": "round_trip"}  # the bits that timelike.read reads
        names = range(len(self._header))
        with (
            _readable(self.path),
            unpacking.opened(self.path) as file,
            pd.read_csv(file, names=names, index_col=False, **settings) as tables,
        ):
            while (table := _next(tables)) is not None:
                yield table

    def _names(self, column: Any, start: int) -> list[str]:
        """The names of the courses from number `start` on; none may be empty."""
        names = [as_text(cell) for cell in column.tolist()]
        if "" in names:
            number = start + names.index("") + 1
            raise InputError(f"{self.path}: course number {number:,} has no name. Give each course a name.")
        return names

    def _numbers(self, table: Any, names: list[str]) -> Floats:
        with errors_about(self.path):
            return frame_numbers(table, [self._header[k] for k in table], lambda row: f"course {names[row]!r}", ".")


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some rows of a .npy file, to be read when they are called."""

    path: Path
    times: Floats
    rows: slice

    def __call__(self) -> TimeCourses:
        """The courses."""
        names, values = _part(self.path, self.rows)
        with errors_about(self.path):
            return TimeCourses.from_arrays(self.times, values, names)


def _part(path: Path, rows: slice) -> Part:
    # Opened anew for each part: what a map has read counts as memory until it is closed.
    values = np.array(_array(path)[rows], dtype=float)
    return list(map(str, range(rows.start, rows.start + len(values)))), values


def _next(tables: Any) -> Any:
    """The next table, or None at the end; a line longer than the header is an error, not a warning."""
    import pandas as pd

    with filters():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        return next(tables, None)


def _format(path: Path) -> str:
    suffixes = [s.lower() for s in path.suffixes if s.lower() != ".gz"]
    last = suffixes[-1] if suffixes else ""
    known = {".npy": "npy", ".csv": "text", ".tsv": "text", ".parquet": "parquet"}
    if last not in known:
        raise InputError(f"{path} ends in {last!r}: expected {', '.join(known)} (.csv and .tsv also with .gz).")
    return known[last]


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Turn what bytes that are no table make others say into an error that names the file."""
    import pandas as pd

    parsing = (pd.errors.ParserError, pd.errors.EmptyDataError, pd.errors.ParserWarning, csv.Error)
    try:
        with errors_about(path):
            yield
    except (*parsing, UnicodeDecodeError, OSError, EOFError, zlib.error) as problem:
        reason = str(problem).strip(" .\n")
        raise InputError(f"cannot read {path}: {reason}. Expected a table as text in UTF-8.") from None


def _array(path: Path) -> Any:
    try:
        array = np.lib.format.open_memmap(path, mode="r")
    except (OSError, ValueError, OverflowError) as problem:
        raise InputError(f"cannot read {path}: {problem}.") from None
    if array.ndim != 2 or array.dtype.kind not in "fiu" or 0 in array.shape:
        raise InputError(
            f"{path} has an array of {array.dtype} of shape {array.shape}: expected numbers, one row a course."
        )
    return array


def _first_line(path: Path) -> list[str]:
    with _readable(path), io.TextIOWrapper(unpacking.opened(path), "utf-8-sig", newline="") as text:
        header = next(csv.reader(text, delimiter=_separator(path)), [])
    if len(header) < 2:
        raise InputError(f"{path}: the header has {checks.counted(len(header), 'column')}: expected a name and times.")
    return [cell.strip() for cell in header]


def _separator(path: Path) -> str:
    return "\t" if ".tsv" in [s.lower() for s in path.suffixes] else ","


def _parquet(path: Path) -> Any:
    parquet = checks.optional("pyarrow.parquet", "files", "Parquet files need pyarrow")
    try:
        return parquet.ParquetFile(path)
    except checks.optional("pyarrow", "files", "Parquet files need pyarrow").ArrowInvalid as problem:
        raise InputError(f"cannot read {path}: {problem}.") from None
