"""Tables: header and rows of a text, an Excel sheet or a pandas table, each row with its place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from timelike.base.arrays import Floats
from timelike.base.checks import counted
from timelike.exceptions import InputError
from timelike.reading import cells
from timelike.reading.cells import Cells

if TYPE_CHECKING:
    import pandas as pd

PEEK = 20
"""Rows by which a table is judged."""


@dataclass(frozen=True)
class Taken:
    """Some columns of a table: those of numbers, (rows, k), and those of text."""

    numbers: Floats
    texts: list[list[str]]


class Body(Protocol):
    """The rows of a table, whatever holds them."""

    def take(self, header: tuple[str, ...], numeric: Sequence[int], text: Sequence[int]) -> Taken:
        """The wanted columns."""
        ...

    def peek(self) -> list[list[str]]:
        """The first rows, as text."""
        ...

    def place(self, row: int) -> str:
        """Where a row stands, in words."""
        ...


@dataclass(frozen=True)
class Table:
    """A table: the names of its columns, its rows, and sentences that deserve a warning."""

    header: tuple[str, ...]
    body: Body
    notes: tuple[str, ...] = ()

    @cached_property
    def first_rows(self) -> list[list[str]]:
        """The first rows, as text."""
        return self.body.peek()

    def numbers_and_texts(self, numeric: Sequence[int], text: Sequence[int]) -> Taken:
        """The columns at the given positions, as numbers and as text; all errors say where."""
        return self.body.take(self.header, numeric, text)

    def texts(self, columns: Sequence[int]) -> list[list[str]]:
        """The columns at the given positions, as text."""
        return self.numbers_and_texts([], columns).texts

    def place(self, row: int) -> str:
        """Where a row stands, in words: "line 12"."""
        return self.body.place(row)

    def looks_numeric(self, column: int) -> bool:
        """Whether the first rows of a column hold numbers."""
        return cells.all_numbers([row[column] for row in self.first_rows])


# -- rows of text ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rows:
    """Rows of text cells, each after the line where it starts. Slow and careful: it can name any bad cell."""

    rows: list[tuple[int, list[str]]]
    decimal: str | None = None
    word: str = "line"

    def take(self, header: tuple[str, ...], numeric: Sequence[int], text: Sequence[int]) -> Taken:
        """The wanted columns; the first cell that should be a number and is none is an error."""
        columns = Cells([self._column(k) for k in numeric], [header[k] for k in numeric], self.place)
        return Taken(cells.numbers(columns, self.decimal), [self._column(k) for k in text])

    def peek(self) -> list[list[str]]:
        """The first rows."""
        return [[cell.strip() for cell in row] for _, row in self.rows[:PEEK]]

    def place(self, row: int) -> str:
        """The line where a row starts."""
        return f"{self.word} {self.rows[row][0]}"

    def _column(self, k: int) -> list[str]:
        return [row[k].strip() for _, row in self.rows]


def is_comment(row: list[str], width: int) -> bool:
    """Whether a row is a comment: a # begins it, and it is no full row with a number in it ("#b,2,3").

    Before the header (`width` 0) there are no rows. R's header has one cell less than the rows.
    """
    if not row[0].startswith("#"):
        return False
    full = width > 0 and len(row) in (width, width + 1) and row[0] != "#"
    return not (full and any(cells.is_number(cell.strip()) for cell in row[1:]))


def without_empty_ends(rows: list[tuple[int, list[str]]]) -> list[tuple[int, list[str]]]:
    """Header and rows without the empty columns that delimiters at the ends of lines make."""
    width = max((k for k, cell in enumerate(rows[0][1], 1) if cell), default=0)
    empty = all(not cell.strip() for _, row in rows for cell in row[width:])
    return [(line, row[:width]) for line, row in rows] if empty else rows


# -- pandas ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Columns:
    """The columns of a pandas table."""

    frame: pd.DataFrame
    decimal: str | None = None

    def take(self, header: tuple[str, ...], numeric: Sequence[int], text: Sequence[int]) -> Taken:
        """The wanted columns."""
        found = frame_numbers(self.frame.iloc[:, list(numeric)], [header[k] for k in numeric], self.place, self.decimal)
        return Taken(found, [self._column(k) for k in text])

    def peek(self) -> list[list[str]]:
        """The first rows, as text."""
        return [[as_text(cell) for cell in row] for row in self.frame.head(PEEK).itertuples(index=False)]

    def place(self, row: int) -> str:
        """The position of a row."""
        return f"row {row}"

    def _column(self, k: int) -> list[str]:
        return [as_text(cell) for cell in self.frame.iloc[:, k].tolist()]


def frame_numbers(frame: pd.DataFrame, names: list[str], place: Callable[[int], str], decimal: str | None) -> Floats:
    """A pandas table as floats; cells that pandas did not take for numbers are read with care, or refused."""
    if all(kind.kind in "iuf" for kind in frame.dtypes):
        found = frame.to_numpy(dtype=float, na_value=np.nan)
        if not (np.abs(found) >= cells.LARGEST).any():
            return found
    columns = [[as_text(cell) for cell in column.tolist()] for _, column in frame.items()]
    return cells.numbers(Cells(columns, names, place), decimal)


def as_text(cell: Any) -> str:
    """A cell as people would write it; empty where there is none."""
    if cell is None or str(cell) in ("NaT", "<NA>") or (isinstance(cell, (float, np.floating)) and np.isnan(cell)):
        return ""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return str(int(cell))
    if hasattr(cell, "isoformat"):
        return str(cell.isoformat()).removesuffix("T00:00:00")
    return str(cell).strip()


def frame_table(frame: pd.DataFrame, decimal: str | None = None) -> Table:
    """The table in a pandas table; an index that is no mere numbering becomes the first column."""
    columns = [_label(label, frame.columns.names) for label in frame.columns]
    plain = frame.set_axis(range(len(columns)), axis="columns")
    if type(frame.index).__name__ != "RangeIndex":
        levels = [as_text(name) for name in frame.index.names]
        columns = [*levels, *columns]
        plain = plain.set_axis(plain.index.set_names([f"index {k}" for k in range(len(levels))])).reset_index()
    if len(plain) == 0 or len(columns) < 2:
        raise InputError(f"it has {counted(len(plain), 'row')} and {counted(len(columns), 'column')}: nothing to read.")
    return Table(tuple(columns), Columns(plain, decimal))


def _label(label: Any, names: Sequence[Any]) -> str:
    """A column's name; several levels become one ("time 0 replicate 2")."""
    if not isinstance(label, tuple):
        return as_text(label)
    if all(names):
        return " ".join(f"{name} {as_text(part)}" for name, part in zip(names, label, strict=True))
    return "_".join(as_text(part) for part in label if as_text(part))


def numbered_header(row: Sequence[str]) -> list[str]:
    """Names for the columns of a table that has none, by what its first row has in them.

    Examples
    --------
    >>> numbered_header(["Samd14", "0.1", "kinase", "0.3"])
    ['name', 'column 2', 'text 3', 'column 4']
    """
    kinds = ["column" if cells.is_number(cell.strip()) or cells.is_missing(cell.strip()) else "text" for cell in row]
    return ["name" if k == 1 else f"{kind} {k}" for k, kind in enumerate(kinds, 1)]


def sheet_table(records: list[list[Any]], decimal: str | None = None, *, headed: bool = True) -> Table:
    """The table in the cells of a sheet: as in a text, the header is the first row that is no comment."""
    found = [(number, [as_text(cell) for cell in row]) for number, row in enumerate(records, 1)]
    filled = [(number, row) for number, row in found if any(row)]
    width = max((len(row) for _, row in filled), default=0)
    filled = [(number, row + [""] * (width - len(row))) for number, row in filled]
    start = next((k for k, (_, row) in enumerate(filled) if not is_comment(row, 0)), len(filled))
    kept = [(number, row) for number, row in filled[start:] if not is_comment(row, len(row))]
    if kept and not headed:
        kept.insert(0, (kept[0][0], numbered_header(kept[0][1])))
    if len(kept) < 2:
        raise InputError(f"the sheet has {counted(len(kept), 'row')}: expected a header and at least one row.")
    (start, header), *rows = without_empty_ends(kept)
    if len(header) < 2:
        raise InputError(f"the header (row {start}) has one column: expected names, and times or values.")
    return Table(tuple(header), Rows(rows, decimal, "row"))
