"""What a file says about courses beside their values, as a symbol or a group: a table with a row a course."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from timelike.base.arrays import Ints

if TYPE_CHECKING:
    import pandas as pd

    from timelike.reading.tables import Table

Cells = Mapping[str, Sequence[str]]
"""Column -> its cells as text, a row for each name."""


def details_of(courses: Sequence[str], names: Iterable[Sequence[str]], cells: Cells) -> pd.DataFrame | None:
    """The cells that belong to each course, a row a course; None where there are none.

    Parameters
    ----------
    courses
        Names of the courses, in their order.
    names
        For each row of the cells, the names that its courses may have: its own, and one for each condition.
    cells

    Examples
    --------
    >>> details_of(["b", "a | wt"], [["a", "a | wt"], ["b", "b | wt"]], {"symbol": ["A1", "B1"]})
      symbol
    0     B1
    1     A1
    """
    import pandas as pd

    if not cells:
        return None
    row = {name: i for i, own in enumerate(names) for name in own}
    rows = [row[name] for name in courses]
    return pd.DataFrame({column: [texts[i] for i in rows] for column, texts in cells.items()}, dtype=object)


def constant_cells(table: Table, columns: Sequence[int], owner: Ints, count: int) -> dict[str, list[str]]:
    """Of the columns of a tidy table those with one cell for each of `count` names, and these cells.

    Rows whose owner is -1 are of no name. A column that tells no two names apart says nothing about them.
    """
    rows = np.flatnonzero(owner >= 0)
    first = np.full(count, -1, dtype=np.intp)
    first[owner[rows][::-1]] = rows[::-1]
    found = {}
    for k, cells in zip(columns, table.texts(columns), strict=True):
        every = np.array(cells, dtype=object)
        own = every[first]
        if len(set(own)) > 1 and (every[rows] == own[owner[rows]]).all():
            found[table.header[k]] = own.tolist()
    return found
