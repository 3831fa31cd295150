"""read: time courses from the tables that people have, wide or tidy, with a plain word about what was understood."""

from __future__ import annotations

import csv
import gzip
import io
import re
import warnings
import zlib
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np

from timelike import checks
from timelike.arrays import Floats
from timelike.courses import TimeCourses
from timelike.exceptions import DataWarning, InputError

MISSING = frozenset({"", "na", "n/a", "#n/a", "#na", "nan", "null", "none", "-", "."})
"""Cells that mean "not measured", whatever their case."""
DELIMITERS = "\t,;"
TIME_WORDS = frozenset(
    {"time", "times", "t", "hour", "hours", "day", "days", "minute", "minutes", "week", "weeks", "age"}
)
"""Names of a first column that holds times, not names: such a table is transposed, or tidy."""


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


def read(
    path: str | PathLike[str],
    *,
    course: str | None = None,
    time: str | None = None,
    value: str | None = None,
    error: str | None = None,
) -> TimeCourses:
    r"""Time courses from a text table: .csv, .tsv or .txt, also .gz.

    Wide tables have a course a row, its name first and then a column for each time; the header gives the times as
    numbers ("0", "12.5") or with the same words around each ("0h", "T12", "alpha49"). A time that stands twice is a
    replicate. Tidy tables have a measurement a row in columns named course, time and value.

    Parameters
    ----------
    path
    course, time, value, error
        The columns of a tidy table when they have other names. `error` holds standard errors.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = Path(folder) / "genes.csv"
    ...     _ = table.write_text("gene,0h,0h,12h\nSamd14,8.1,8.3,9\nFbln5,7,NA,6.5\n")
    ...     read(table)
    TimeCourses: 2 courses, 2 times (0 to 12), some replicated, 16.7 % missing
    """
    return understand(path, course=course, time=time, value=value, error=error).courses


@dataclass(frozen=True)
class Understood:
    """What was made of a file: its courses, and the columns that play no part."""

    courses: TimeCourses
    unused: tuple[str, ...]


def understand(path: str | PathLike[str], **names: str | None) -> Understood:
    """The courses of a file as :func:`read` gives them, with what else there is to say."""
    table = read_table(Path(path))
    columns = _tidy_columns(table, {k: v for k, v in names.items() if v is not None})
    if columns is None:
        return _wide(table)
    used = {columns.course, columns.time, columns.value, columns.error}
    return Understood(_tidy(table, columns), tuple(c for c in table.header if c not in used))


def _tidy_columns(table: Table, given: dict[str, str]) -> Columns | None:
    """The columns of a tidy table, None for a wide one. The usual names may be written in any case."""
    usual = {c.lower(): c for c in table.header if c.lower() in ("course", "time", "value", "error")}
    if not given and len(usual.keys() - {"error"}) < 3:
        return None
    return Columns(**({"course": "course", "time": "time", "value": "value"} | usual | given))


# -- text ------------------------------------------------------------------------------------------------


def read_table(path: Path) -> Table:
    """The cells of a text table, with comment lines (#) and empty lines left out."""
    text = _text(path)
    first = next((line for line in text.splitlines() if line.strip() and not line.startswith("#")), "")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(DELIMITERS, key=first.count))
    rows, lines = [], []
    for row in reader:
        if any(cell.strip() for cell in row) and not row[0].startswith("#"):
            rows.append(row)
            lines.append(reader.line_num)
    if len(rows) < 2:
        raise InputError(f"{path} has {checks.counted(len(rows), 'line')}: expected a header and at least one row.")
    header = tuple(cell.strip() for cell in rows[0])
    if len(header) < 2:
        raise InputError(f"{path}, line {lines[0]}: the header has one column. Separate columns by comma or tab.")
    for line, row in zip(lines, rows, strict=True):
        if len(row) != len(header):
            hint = " Decimal commas? Write decimals with a point." if len(row) == 2 * len(header) - 1 else ""
            raise InputError(f"{path}, line {line}: {len(row)} cells, but the header has {len(header)} columns.{hint}")
    return Table(path, header, rows[1:], lines[1:])


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
        data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
        return data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except FileNotFoundError:
        raise InputError(f"there is no file {path}.") from None
    except UnicodeDecodeError as problem:
        hint = "Save it as CSV in UTF-8."
        raise InputError(f"{path} is not a text table: byte {problem.start} is not UTF-8. {hint}") from None
    except (OSError, EOFError, zlib.error) as problem:
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


def _wide(table: Table) -> Understood:
    times, others = _time_columns(table.header)
    if not times or not others:
        raise InputError(f"{table.path}: {_no_wide_table(table.header, bool(times))}")
    name = others[1] if table.header[others[0]] == "" and len(others) > 1 else others[0]
    _refuse_two_readings(table, times, [k for k in others if k != name], name)
    columns = list(times)
    values = np.array([[_number(table, row, k) for k in columns] for row in range(len(table.rows))])
    names = [row[name].strip() for row in table.rows]
    kept = _with_values(table, names, values)
    courses = _named(table, np.array([times[k] for k in columns]), values[kept], [names[i] for i in kept])
    return Understood(courses, tuple(table.header[k] for k in others if k != name))


def _no_wide_table(header: tuple[str, ...], has_times: bool) -> str:
    found = ", ".join(map(repr, header[:6]))
    return (
        f"the header {found} has {'no column for names' if has_times else 'no times'}. A wide table has a name and "
        "then one column for each time ('0', '12h'), replicates under the same time again ('0h', '0h'); a tidy one has "
        "columns course, time and value, or others that you name (course=, time=, value=; --course, --time, --value)."
    )


def _refuse_two_readings(table: Table, times: dict[int, float], others: list[int], name: int) -> None:
    """Raise where a header could mean two things; warn of numbers that are left out."""
    if table.header[name].lower() in TIME_WORDS:
        raise InputError(
            f"{table.path}: the first column is called {table.header[name]!r}. Is the table transposed? Wide tables "
            "have a course a row; tidy ones have columns course, time and value, or other names that you give."
        )
    numeric = [k for k in others if _is_numeric(table, k)]
    doubtful = [table.header[k] for k in numeric if any(c.isdigit() for c in table.header[k])]
    if doubtful:
        raise InputError(
            f"{table.path}: {_some(doubtful)} could be times too, but are written unlike "
            f"{table.header[next(iter(times))]!r}. Write all times alike, replicates under the same time again ('0h', "
            "'0h'), or remove the columns."
        )
    cells = [table.header[k] for k in times]
    renamed = [c for c in cells if re.fullmatch(r".+\.\d+", c) and c.rpartition(".")[0] in cells]
    if len(renamed) > 1 and 2 * len(renamed) >= len(cells):
        raise InputError(
            f"{table.path}: {_some(renamed)} look like replicates that another program renamed. Give replicates the "
            "same time again; if they are times of their own, write them with another number of decimals ('0.10')."
        )
    if numeric:
        unused = _some([table.header[k] for k in numeric])
        warnings.warn(
            f"{table.path}: columns of numbers that are no times are left out: {unused}.", DataWarning, stacklevel=5
        )


def _is_numeric(table: Table, column: int) -> bool:
    cells = [row[column].strip() for row in table.rows]
    known = [cell for cell in cells if cell.lower() not in MISSING]
    return bool(known) and all(re.fullmatch(r"[-+]?[\d.]+([eE][-+]?\d+)?", cell) for cell in known)


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
    """The words before and after the only number in a header, and the number. A dash after a word is no sign."""
    match = re.fullmatch(r"(\D*?)((?:(?<![^\s(])[-+])?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(\D*)", cell)
    if match is None:
        return None, np.nan
    return (match[1].strip(), match[3].strip()), float(match[2])


def _with_values(table: Table, names: list[str], values: Floats) -> list[int]:
    """Rows with at least one value; the others are named in a warning."""
    missing = np.isnan(values).all(axis=1)
    kept, empty = np.flatnonzero(~missing), [names[i] for i in np.flatnonzero(missing)]
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
