"""Cells of a table as numbers: what means "not measured", decimal commas, and words about a cell that is no number."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from timelike.base.arrays import Floats
from timelike.exceptions import InputError

MISSING = frozenset({"", "na", "n/a", "#n/a", "#na", "<na>", "nan", "null", "none", "-", "."})
"""Cells that mean "not measured", whatever their case."""
LARGEST = 1e150
"""Beyond this the square of a number is no number any more."""
NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_COMMA = re.compile(r"[-+]?\d*,\d+(?:[eE][-+]?\d+)?")
_COMMA_OR_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2},\d{3}")
_THOUSANDS = re.compile(r"[-+]?\d{1,3}(?:([,.'_ \u00a0])\d{3})(?:\1\d{3})*(?:[,.]\d+)?")


def missing_words() -> list[str]:
    """The words of :data:`MISSING` as people write them: in small letters, in capitals, and NaN, Null, None."""
    return sorted(MISSING | {word.upper() for word in MISSING} | {"NaN", "Null", "None"})


@dataclass(frozen=True)
class Cells:
    """Columns of text, with the words that say where a cell stands.

    Attributes
    ----------
    columns
        The cells of each column, stripped.
    names
        What the header calls each column.
    place
        From the number of a row to words: "line 12".
    """

    columns: Sequence[Sequence[str]]
    names: Sequence[str]
    place: Callable[[int], str]

    def where(self, row: int, column: int) -> str:
        """Words for the place of a cell."""
        return f"{self.place(row)}, column {self.names[column]!r}"

    def in_reading_order(self) -> Iterator[tuple[int, int, str]]:
        """Row, column and text of each cell, row by row."""
        for row, cells in enumerate(zip(*self.columns, strict=True)):
            for column, cell in enumerate(cells):
                yield row, column, cell


def is_missing(cell: str) -> bool:
    """Whether a cell says that nothing was measured."""
    return cell.lower() in MISSING


def is_number(cell: str) -> bool:
    """Whether a cell is a plain number, with a decimal point or comma."""
    return re.fullmatch(NUMBER, cell) is not None or _COMMA.fullmatch(cell) is not None


def all_numbers(cells: Sequence[str]) -> bool:
    """Whether the cells are numbers or missing, and at least one is a number."""
    known = [cell for cell in cells if not is_missing(cell)]
    return bool(known) and all(is_number(cell) for cell in known)


def numbers(cells: Cells, decimal: str | None = None) -> Floats:
    """The columns as floats, (rows, columns), NaN where nothing was measured.

    Parameters
    ----------
    cells
    decimal
        "." or ","; None: as the cells show.

    Examples
    --------
    >>> numbers(Cells([["1,5", "NA"], ["2", "3,25"]], ["0h", "2h"], lambda row: f"line {row + 2}"))
    array([[1.5 , 2.  ],
           [ nan, 3.25]])
    """
    mark = decimal or _decimal_mark(cells)
    columns = [_floats(column, mark) for column in cells.columns]
    if any(column is None for column in columns):
        first = next((i, k) for i, k, cell in cells.in_reading_order() if _floats([cell], mark) is None)
        raise InputError(_no_number(cells, *first))
    return np.array(columns, dtype=float).T.reshape(len(cells.columns[0]) if cells.columns else 0, len(columns))


def _floats(column: Sequence[str], mark: str) -> list[float] | None:
    """A column as floats, or None if a cell is no number that can be used."""
    try:
        found = [_float(cell, mark) for cell in column]
    except ValueError:
        return None
    return found if all(abs(x) < LARGEST or x != x for x in found) else None  # x != x: NaN


def _float(cell: str, mark: str) -> float:
    if cell.lower() in MISSING:
        return float("nan")
    if "_" in cell:  # Python reads 1_000 as a number; people who write it mean something else
        raise ValueError(cell)
    if mark == ",":
        if not _COMMA.fullmatch(cell) and "." in cell:
            raise ValueError(cell)
        cell = cell.replace(",", ".")
    return float(cell)


def _decimal_mark(cells: Cells) -> str:
    """The decimal mark that the cells show; raises where they show two, or one that can mean two things."""
    if not any("," in cell for column in cells.columns for cell in column):
        return "."
    commas = [found for found in cells.in_reading_order() if "," in found[2]]
    for row, column, cell in commas:
        if not _COMMA.fullmatch(cell):
            raise InputError(_no_number(cells, row, column))
    pointed = [found for found in cells.in_reading_order() if "." in found[2] and re.fullmatch(NUMBER, found[2])]
    if pointed:
        (row, column, cell), (*other, pointed_cell) = commas[0], pointed[0]
        raise InputError(
            f"{cells.where(row, column)}: {cell!r} has a decimal comma, but {pointed_cell!r} ({cells.where(*other)}) "
            "has a decimal point. Write all numbers alike, without thousands separators."
        )
    if all(_COMMA_OR_THOUSANDS.fullmatch(cell) for _, _, cell in commas):
        row, column, cell = commas[0]
        raise InputError(
            f"{cells.where(row, column)}: {cell!r} can be read with a decimal comma ({cell.replace(',', '.')}) or "
            f"with a thousands separator ({cell.replace(',', '')}). Give decimal=',' (--decimal ,), or remove them."
        )
    return ","


def _no_number(cells: Cells, row: int, column: int) -> str:
    cell = cells.columns[column][row]
    shown = repr(cell if len(cell) <= 40 else cell[:37] + "...")
    return f"{cells.where(row, column)}: {shown} {_complaint(cell)}"


def _complaint(cell: str) -> str:
    if re.fullmatch(r"[-+]?inf(inity)?", cell, re.IGNORECASE):
        return "is not finite. Leave the cell empty if nothing was measured."
    if re.fullmatch(NUMBER, cell):
        return f"is larger than {LARGEST:g}, which no computation can use."
    if _THOUSANDS.fullmatch(cell):
        return "is not a number: it seems to have thousands separators. Remove them."
    if _COMMA.fullmatch(cell):
        return "is not a number. Write decimals with a point, or give decimal=',' (--decimal ,)."
    if re.fullmatch(NUMBER.replace(r"\.", "[.,]") + r"\s*%", cell):
        return "is not a number. Remove the percent signs."
    if re.fullmatch(NUMBER.replace(r"\.", "[.,]") + r"\s*[^\d\s].*", cell):
        return "is not a number alone. Put units and remarks into the header or a column of their own."
    if re.match(r"[<>\u2264\u2265]", cell):
        return "is a limit, not a number. Decide what it counts as; leave the cell empty if it counts as not measured."
    return "is not a number. Leave the cell empty if nothing was measured."
