"""Names of courses that are made of several columns: the table with these columns as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from timelike.exceptions import InputError
from timelike.reading.column_names import column_called
from timelike.reading.tables import Body, Table, Taken

BETWEEN = " / "
"""Between the parts of a name; not what stands between a name and a condition."""


def joined_columns(table: Table, names: Sequence[str]) -> Table:
    r"""The table with one column, the first, in the place of those with the given names.

    Examples
    --------
    >>> from timelike.reading.text_tables import text_table
    >>> table = joined_columns(text_table(b"id,time,set,value\na,0,north,1\na,0,south,2\n"), ["id", "set"])
    >>> table.header
    ('id / set', 'time', 'value')
    >>> table.texts([0])
    [['a / north', 'a / south']]
    """
    parts = [column_called(table.header, name) for name in names]
    if len(set(parts)) < len(parts):
        raise InputError(f"the name of a course is made of {', '.join(map(repr, names))}: name each column once.")
    others = [k for k in range(len(table.header)) if k not in parts]
    header = (BETWEEN.join(table.header[k] for k in parts), *(table.header[k] for k in others))
    return replace(table, header=header, body=Joined(table.body, parts, others, table.header))


@dataclass(frozen=True)
class Joined:
    """The rows of a table whose first column is made of several of another table, with the others behind."""

    body: Body
    parts: Sequence[int]
    others: Sequence[int]
    header: tuple[str, ...]

    def take(self, header: tuple[str, ...], numeric: Sequence[int], text: Sequence[int]) -> Taken:
        """The wanted columns."""
        if 0 in numeric:
            raise InputError(f"the column {header[0]!r} is the name of a course: it cannot hold numbers too.")
        plain = [k for k in text if k]
        places = [self.others[k - 1] for k in plain]
        taken = self.body.take(self.header, [self.others[k - 1] for k in numeric], [*places, *self.parts])
        cells = dict(zip(plain, taken.texts, strict=False))
        return Taken(taken.numbers, [cells[k] if k else _joined(taken.texts[len(plain) :]) for k in text])

    def peek(self) -> list[list[str]]:
        """The first rows, as text."""
        return [[BETWEEN.join(row[k] for k in self.parts), *(row[k] for k in self.others)] for row in self.body.peek()]

    def place(self, row: int) -> str:
        """Where a row stands, in words."""
        return self.body.place(row)


def _joined(columns: Sequence[Sequence[str]]) -> list[str]:
    """The cells of each row as one; empty where one of them is."""
    return [BETWEEN.join(cells) if all(cells) else "" for cells in zip(*columns, strict=True)]
