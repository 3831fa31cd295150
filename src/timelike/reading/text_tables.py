"""Tables in texts: their delimiter, their header, and the fast way where every line is a row."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from timelike.base.arrays import Floats
from timelike.base.checks import counted
from timelike.exceptions import InputError
from timelike.reading import cells
from timelike.reading.tables import PEEK, Rows, Table, Taken, is_comment, numbered_header, without_empty_ends

if TYPE_CHECKING:
    import pandas as pd

DELIMITERS = "\t;, "
"""Tried in this order; a later one must give more columns."""


STRETCH = 2**23
"""Bytes of a text that are worked on at once: what is made of them on the way stays small beside text and result."""


def stretches(data: bytes, start: int, end: int) -> Iterator[bytes]:
    r"""The lines between two places, some at a time; each of them ends with a line feed.

    Examples
    --------
    >>> list(stretches(b"gene,0h\na,1\nb,2", 8, 15))
    [b'a,1\nb,2\n']
    """
    while start < end:
        stop = end if end - start <= STRETCH else data.rfind(b"\n", start, start + STRETCH) + 1
        stop = stop or data.find(b"\n", start, end) + 1 or end  # a line longer than that
        piece = data[start:stop]
        yield piece if piece.endswith(b"\n") else piece + b"\n"
        start = stop


@dataclass(frozen=True)
class RegularText:
    """Lines of a text in which each is a row with the same number of cells, none of them with a line break.

    pandas reads them fast. Where pandas finds a cell that is no number, the careful way says which.
    """

    data: bytes
    lines: slice
    """Where in the text they are."""
    rows: int
    delimiter: str
    width: int
    first_line: int
    decimal: str | None = None

    def take(self, header: tuple[str, ...], numeric: Sequence[int], text: Sequence[int]) -> Taken:
        """The wanted columns."""
        if not len(numeric) and not len(text):
            return Taken(np.empty((self.rows, 0)), [])
        found = None if self.decimal == "," else self._fast(numeric, text)
        if found is not None:
            return found
        whole = self.data[self.lines]
        careful = Rows(list(_numbered(whole, self.delimiter, self.first_line)), self.decimal)
        return careful.take(header, numeric, text)

    def peek(self) -> list[list[str]]:
        """The first rows."""
        reader = _reader(io.TextIOWrapper(io.BytesIO(next(self._stretches())), "utf-8", newline=""), self.delimiter)
        return [[cell.strip() for cell in row] for row in islice(reader, PEEK)]

    def place(self, row: int) -> str:
        """The line of a row."""
        return f"line {self.first_line + row}"

    def _stretches(self) -> Iterator[bytes]:
        return stretches(self.data, self.lines.start, self.lines.stop)

    def _fast(self, numeric: Sequence[int], text: Sequence[int]) -> Taken | None:
        """The wanted columns, or None where a cell needs a closer look."""
        numbers, row = np.empty((self.rows, len(numeric))), 0
        texts: list[list[str]] = [[] for _ in text]
        for stretch in self._stretches():
            frame = self._frame(stretch, numeric, text)
            if frame is None:
                return None
            here = numbers[row : row + len(frame)]
            here[...] = frame[list(numeric)].to_numpy()
            if (np.abs(here) >= cells.LARGEST).any() or _has_truths(stretch, here):
                return None
            for column, k in zip(texts, text, strict=True):
                column.extend(map(str.strip, frame[k].tolist()))
            row += len(frame)
        return Taken(numbers, texts)

    def _frame(self, stretch: bytes, numeric: Sequence[int], text: Sequence[int]) -> pd.DataFrame | None:
        """The wanted columns of some lines, None where pandas finds a cell that is no number."""
        import pandas as pd

        precision: dict[str, Any] = {} if reads_exactly(stretch) else {"float_precision": "round_trip"}
        try:
            return pd.read_csv(
                io.BytesIO(stretch),
                sep=self.delimiter,
                header=None,
                names=list(range(self.width)),
                usecols=sorted({*numeric, *text}),
                index_col=False,
                dtype=dict.fromkeys(text, str) | dict.fromkeys(numeric, float),
                na_values=dict.fromkeys(numeric, cells.missing_words()),
                keep_default_na=False,
                skipinitialspace=True,
                encoding="utf-8",
                low_memory=False,
                **precision,
            )
        except ValueError:  # also pandas' ParserError
            return None


def _has_truths(text: bytes, found: Floats) -> bool:
    """Whether a column may hold TRUE and FALSE, which pandas makes 1 and 0."""
    doubtful = [x for x in found.T if _are_truths(x[:1]) and _are_truths(x)]
    return bool(doubtful) and any(word in text for word in (b"rue", b"RUE", b"alse", b"ALSE"))


def _are_truths(numbers: Floats) -> bool:
    return bool(((numbers == 0) | (numbers == 1) | np.isnan(numbers)).all())


_SHAPES = bytes.maketrans(b"0123456789.E+", b"00000000000e-")
MOST_EXPONENTS = 10_000


def reads_exactly(data: bytes) -> bool:
    """Whether pandas' fast parser rounds all these numbers as Python does.

    It scales the digits by one power of ten, which is exact for at most 15 digits and powers up to 22.
    """
    shapes = data.translate(_SHAPES)
    if b"0" * 17 in shapes or shapes.count(b"0e") > MOST_EXPONENTS:
        return False
    exponents = (data[match.start(1) : match.end(1)] for match in re.finditer(rb"0e-?(0+)", shapes))
    return all(exponent.isdigit() and int(exponent) <= 7 for exponent in exponents)


def text_table(data: bytes, decimal: str | None = None, *, headed: bool = True) -> Table:
    r"""The table in a text: comments (#) and empty lines are left out; the header is the first line that remains.

    Examples
    --------
    >>> table = text_table(b"# by hand\ngene;0h;2h\na;1,5;2\n")
    >>> table.header
    ('gene', '0h', '2h')
    >>> table.numbers_and_texts([1, 2], [0])
    Taken(numbers=array([[1.5, 2. ]]), texts=[['a']])
    """
    delimiter = _delimiter(data)
    if not headed:
        return _headless_table(data, delimiter, decimal)
    first = list(islice(_numbered(data, delimiter), PEEK + 1))
    if len(first) < 2:
        there = f"there {'is' if len(first) == 1 else 'are'} {counted(len(first), 'line')}"
        raise InputError(f"{there}: expected a header and at least one row.")
    width = len(first[1][1])
    header = _header(first, data, delimiter)
    if len(header) < 2:
        raise InputError(
            f"the header {header[0]!r} has one column. Separate columns by comma, semicolon or tab, in all lines alike."
        )
    if len(header) == width and header[-1]:
        lines = slice(_line_start(data, first[1][0]), _end(data))
        rows = _regular_rows(data, lines, delimiter, width)
        if rows is not None:
            return Table(header, RegularText(data, lines, rows, delimiter, width, first[1][0], decimal))
    return _careful_table(data, delimiter, header, decimal)


def _line_start(data: bytes, line: int) -> int:
    """Where a line begins; the first is line 1."""
    start = 0
    for _ in range(line - 1):
        start = data.index(b"\n", start) + 1
    return start


def _end(data: bytes) -> int:
    """Where the lines end, without empty ones behind them."""
    end = len(data)
    while data[end - 1 : end] in (b"\n", b" "):
        end -= 1
    return end


def _headless_table(data: bytes, delimiter: str, decimal: str | None) -> Table:
    """The table in a text whose first line is a row already."""
    rows = list(_numbered(data, delimiter))
    if not rows or len(rows[0][1]) < 2:
        raise InputError("there is no row with a name and values. Separate columns by comma, semicolon or tab.")
    header = numbered_header(rows[0][1])
    for line, row in rows:
        if len(row) != len(header):
            raise InputError(f"line {line}: {counted(len(row), 'cell')}, but the first line has {len(header)}.")
    return Table(tuple(header), Rows(rows, decimal))


def _careful_table(data: bytes, delimiter: str, header: tuple[str, ...], decimal: str | None) -> Table:
    (start, _), *rows = _numbered(data, delimiter)
    if len(header) == len(rows[0][1]) + 1 and not header[-1]:
        header = header[:-1]
    (_, names), *rows = without_empty_ends([(start, list(header)), *rows])
    ends = [*[line - 1 for line, _ in rows[1:]], data.rstrip(b"\n").count(b"\n") + 1]
    for (line, row), end in zip(rows, ends, strict=True):
        if len(row) != len(names):
            found = f"line {line}: {counted(len(row), 'cell')}, but the header has {len(names)} columns."
            raise InputError(found + _why_ragged(row, len(names), end))
    return Table(tuple(names), Rows(rows, decimal))


def _why_ragged(row: list[str], width: int, end: int) -> str:
    if len(row) == 2 * width - 1:
        return " Decimal commas? Write decimals with a point, or separate columns by semicolons."
    return f" The row goes on to line {end}: is a quote not closed?" if any("\n" in cell for cell in row) else ""


def _reader(lines: Any, delimiter: str) -> Any:
    return csv.reader(lines, delimiter=delimiter, skipinitialspace=True)


def _numbered(data: bytes, delimiter: str, first_line: int = 1) -> Iterator[tuple[int, list[str]]]:
    """Rows that are neither empty nor comments, each with the line where it starts."""
    reader = _reader(io.TextIOWrapper(io.BytesIO(data), "utf-8", newline=""), delimiter)
    start, width = first_line, 0
    try:
        for row in reader:
            if any(cell.strip() for cell in row) and not is_comment(row, width):
                width = width or len(row)
                yield start, row
            start = first_line + reader.line_num
    except csv.Error as problem:
        raise InputError(f"line {start}: {problem}. Is a quote not closed?") from None


def _delimiter(data: bytes) -> str:
    """The delimiter that gives the first lines the same number of cells, the larger the better."""
    best, most = ",", (False, 1)
    for delimiter in DELIMITERS:
        try:
            rows = [row for _, row in islice(_numbered(data, delimiter), PEEK)]
        except InputError:  # a long line without this delimiter is one cell, longer than the csv module takes
            continue
        widths = {len(row) for row in rows[1:]}
        columns = len(rows[0]) if rows else 0
        even = columns > 1 and len(widths) == 1 and columns - widths.pop() in (-1, 0, 1)
        found = (even, columns)
        if found > most and (even or delimiter != " "):
            best, most = delimiter, found
    return best


def _header(first: list[tuple[int, list[str]]], data: bytes, delimiter: str) -> tuple[str, ...]:
    """The names of the columns; R leaves out the name of the first."""
    header = tuple(cell.strip() for cell in first[0][1])
    commented = _commented_header(data, first[0][0], len(header), delimiter)
    if commented:
        raise InputError(
            f"line {first[0][0] - 1} looks like the header, but it is a comment: {commented!r}. Remove the # at its "
            "start, or the whole line if it is none."
        )
    rows = [row for _, row in first[1:]]
    if all(len(row) == len(header) + 1 for row in rows):
        if all(not row[-1].strip() for row in rows):
            return (*header, "")
        return ("", *header)
    return header


def _commented_header(data: bytes, line: int, width: int, delimiter: str) -> str:
    """The comment right before the first row, if it has as many cells."""
    if line == 1 or width < 3:
        return ""
    before = data[_line_start(data, line - 1) : _line_start(data, line) - 1].decode()
    is_comment = before.startswith("#")
    return before[:40] if is_comment and len(next(_reader([before], delimiter), [])) == width else ""


def _regular_rows(data: bytes, lines: slice, delimiter: str, width: int) -> int | None:
    """How many rows the lines are, None where one is no row of that many cells or needs a careful reader."""
    if delimiter == " ":
        return None
    rows = 0
    for stretch in stretches(data, lines.start, lines.stop):
        here = stretch.count(b"\n")
        if not _is_regular(stretch, here, delimiter, width):
            return None
        rows += here
    return rows


def _is_regular(data: bytes, rows: int, delimiter: str, width: int) -> bool:
    """Whether each line is a row of that many cells, with nothing that needs a careful reader.

    Looks at delimiters and line ends alone: they must come in the rhythm of the table.
    """
    comma = delimiter.encode()
    if data[:1] in (b"#", comma) or b"\n#" in data or b"\n" + comma in data:
        return False
    others = bytes(set(range(256)) - {ord("\n"), ord(delimiter)})
    if data.translate(None, delete=others) != (comma * (width - 1) + b"\n") * rows:
        return False
    if b'"' not in data:
        return True
    letters = np.frombuffer(data, np.uint8)
    between_quotes = np.bitwise_xor.accumulate(letters == ord('"'))
    return not (between_quotes & ((letters == ord("\n")) | (letters == ord(delimiter)))).any()
