"""read: time courses from the tables that people have, wide or tidy, with a plain word about what was understood."""

from __future__ import annotations

import csv
import gzip
import io
import re
import warnings
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np

from timelike import checks
from timelike.arrays import Floats
from timelike.courses import TimeCourses
from timelike.exceptions import DataWarning, InputError

MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "-", "."})
"""Cells that mean "not measured", whatever their case."""
DELIMITERS = "\t,;"


@dataclass(frozen=True)
class Table:
    """A text table: its header, its rows, and the line of the file where each row stands."""

    path: Path
    header: tuple[str, ...]
    rows: list[list[str]]
    lines: list[int]


@dataclass(frozen=True)
class Columns:
    """The columns of a tidy table: one row a measurement."""

    course: str = "course"
    time: str = "time"
    value: str = "value"
    error: str | None = None


def read(path: str | PathLike[str], columns: Columns | None = None) -> TimeCourses:
    r"""Time courses from a text table: .csv, .tsv or .txt, also .gz.

    Wide tables have a course a row, its name first and then a column for each time; the header gives the times as
    numbers ("0", "12.5") or with the same words around each ("0h", "T12", "alpha49"). A time that stands twice is a
    replicate. Tidy tables have a measurement a row in columns named course, time and value.

    Parameters
    ----------
    path
    columns
        The columns of a tidy table when they have other names, see :class:`Columns`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = Path(folder) / "genes.csv"
    ...     _ = table.write_text("gene,0h,0h,12h\nSamd14,8.1,8.3,9\nFbln5,7,NA,6.5\n")
    ...     read(table)
    TimeCourses: 2 courses, 2 times (0 to 12), some replicated, 16.7 % missing
    """
    table = read_table(Path(path))
    wanted = columns or Columns()
    if columns is not None or {wanted.course, wanted.time, wanted.value} <= set(table.header):
        return _tidy(table, wanted)
    return _wide(table)


def unused_columns(path: str | PathLike[str]) -> tuple[str, ...]:
    """Columns of a wide table that are neither the name nor a time, and so play no part."""
    header = read_table(Path(path)).header
    _, others = _time_columns(header)
    return tuple(header[k] for k in others[1:])


# -- text ------------------------------------------------------------------------------------------------


def read_table(path: Path) -> Table:
    """The cells of a text table, with comment lines (#) and empty lines left out."""
    text = _text(path)
    numbered = [(n, line) for n, line in enumerate(text.splitlines(), 1) if line.strip() and not line.startswith("#")]
    if len(numbered) < 2:
        raise InputError(f"{path} has {checks.counted(len(numbered), 'line')}: expected a header and at least one row.")
    delimiter = max(DELIMITERS, key=numbered[0][1].count)
    cells = list(csv.reader([line for _, line in numbered], delimiter=delimiter))
    header = tuple(cell.strip() for cell in cells[0])
    if len(header) < 2:
        raise InputError(f"{path}, line {numbered[0][0]}: the header has one column. Separate columns by comma or tab.")
    for (line, _), row in zip(numbered, cells, strict=True):
        if len(row) != len(header):
            raise InputError(f"{path}, line {line}: {len(row)} cells, but the header has {len(header)} columns.")
    return Table(path, header, cells[1:], [n for n, _ in numbered[1:]])


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
        data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
        return io.StringIO(data.decode("utf-8-sig"), newline=None).read()
    except FileNotFoundError:
        raise InputError(f"there is no file {path}.") from None
    except UnicodeDecodeError as problem:
        raise InputError(f"{path} is not a text table: byte {problem.start} is not UTF-8.") from None
    except (OSError, EOFError) as problem:
        raise InputError(f"cannot read {path}: {problem}.") from None


def _number(table: Table, row: int, column: int) -> float:
    """One cell as a number, NaN if it says that nothing was measured."""
    cell = table.rows[row][column].strip()
    if cell.lower() in MISSING:
        return np.nan
    try:
        return float(cell)
    except ValueError:
        where = f"{table.path}, line {table.lines[row]}, column {table.header[column]!r}"
        hint = " Write decimals with a point." if re.fullmatch(r"[-+]?\d+,\d+", cell) else ""
        raise InputError(f"{where}: {cell!r} is not a number.{hint}") from None


# -- wide ------------------------------------------------------------------------------------------------


def _wide(table: Table) -> TimeCourses:
    times, others = _time_columns(table.header)
    if len(times) < 1 or not others:
        raise InputError(
            f"{table.path}: the header {', '.join(map(repr, table.header[:6]))} has "
            f"{'no times' if len(times) < 1 else 'no column for names'}. A wide table has a name and then one column "
            "for each time ('0', '12h'); a tidy one has columns course, time and value (or say which are)."
        )
    name = others[0]
    columns = list(times)
    values = np.array([[_number(table, row, k) for k in columns] for row in range(len(table.rows))])
    names = [row[name].strip() for row in table.rows]
    kept = _with_values(table, names, values)
    return _named(table, np.array([times[k] for k in columns]), values[kept], [names[i] for i in kept])


def _time_columns(header: tuple[str, ...]) -> tuple[dict[int, float], list[int]]:
    """Columns that are times, with the times; and the others.

    The times are those headers that share the words around their number with most of the others.
    """
    parsed = {k: _split_time(cell) for k, cell in enumerate(header)}
    patterns = [words for words, _ in parsed.values() if words is not None]
    if not patterns:
        return {}, list(parsed)
    common = max(sorted(set(patterns)), key=patterns.count)
    times = {k: number for k, (words, number) in parsed.items() if words == common}
    return times, [k for k in parsed if k not in times]


def _split_time(cell: str) -> tuple[tuple[str, str] | None, float]:
    """The words before and after the only number in a header, and the number."""
    match = re.fullmatch(r"(\D*?)([-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)(\D*)", cell)
    if match is None:
        return None, np.nan
    return (match[1].strip(), match[3].strip()), float(match[2])


def _with_values(table: Table, names: list[str], values: Floats) -> list[int]:
    """Rows with at least one value; the others are named in a warning."""
    kept = np.flatnonzero(~np.isnan(values).all(axis=1))
    empty = [names[i] for i in range(len(names)) if i not in set(kept)]
    if empty:
        warnings.warn(
            f"{table.path}: left out {checks.counted(len(empty), 'course')} without any value: {_some(empty)}.",
            DataWarning,
            stacklevel=4,
        )
    if len(kept) == 0:
        raise InputError(f"{table.path}: no course has a value.")
    return [int(i) for i in kept]


def _named(table: Table, times: Floats, values: Floats, names: list[str]) -> TimeCourses:
    try:
        return TimeCourses.from_arrays(times, values, names)
    except InputError as problem:
        raise InputError(f"{table.path}: {problem}") from None


def _some(names: list[str]) -> str:
    return ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")


# -- tidy ------------------------------------------------------------------------------------------------


def _tidy(table: Table, columns: Columns) -> TimeCourses:
    import pandas as pd

    wanted = [c for c in (columns.course, columns.time, columns.value, columns.error) if c is not None]
    for column in wanted:
        if column not in table.header:
            raise InputError(f"{table.path} has no column {column!r}. Its columns: {', '.join(table.header[:12])}.")
    numbers = {c: [_number(table, r, table.header.index(c)) for r in range(len(table.rows))] for c in wanted[1:]}
    course = [row[table.header.index(columns.course)].strip() for row in table.rows]
    frame = pd.DataFrame({columns.course: course} | numbers)
    try:
        return TimeCourses.from_long(frame, columns.course, columns.time, columns.value, columns.error)
    except InputError as problem:
        raise InputError(f"{table.path}: {problem}") from None
