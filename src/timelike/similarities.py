"""similarity: the log likelihood ratio of "one curve" to "two curves", for every pair of courses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from timelike import schedule
from timelike.arrays import Floats, Ints
from timelike.exceptions import InputError
from timelike.pairs import Route, route

if TYPE_CHECKING:
    import pandas as pd

    from timelike.courses import TimeCourses
    from timelike.gp import GP


@dataclass(frozen=True, eq=False)
class Similarity:
    """Similarities of courses: above zero, one curve explains the pair better; below, two curves do.

    Attributes
    ----------
    values : (N, M)
        ``values[i, j]`` is the log likelihood ratio s of course i and course j. When the courses are compared
        among themselves it is symmetric, and the diagonal is s(i, i), which is not zero.
    names : tuple of str
        Courses of the rows.
    others : tuple of str or None
        Courses of the columns; None when they are those of the rows.
    route : str
        How it was computed.
    """

    values: Floats
    names: tuple[str, ...]
    others: tuple[str, ...] | None = None
    route: str = ""

    def __repr__(self) -> str:
        return f"Similarity: {self.values.shape[0]:,} x {self.values.shape[1]:,} log likelihood ratios"

    def to_frame(self) -> pd.DataFrame:
        """The values with names on rows and columns."""
        import pandas as pd

        columns = self.names if self.others is None else self.others
        return pd.DataFrame(self.values, index=list(self.names), columns=list(columns))

    def dissimilarity(self) -> Floats:
        """The paper's dissimilarity, ``1 + max(S) - S`` with a zero diagonal.

        It depends on the most similar pair of all, the diagonal included.
        """
        if self.others is not None:
            raise InputError("a dissimilarity needs all courses against themselves, not against others.")
        values = 1 + self.values.max() - self.values
        np.fill_diagonal(values, 0)
        return values


def similarity(
    courses: TimeCourses, gp: GP, others: TimeCourses | None = None, *, threads: int | None = None
) -> Similarity:
    """The similarity of every pair of courses: ``log p(both | one curve) - log p(both | two curves)``.

    Works for shared, uneven, replicated and each course's own times, with or without known errors; always exact.

    Parameters
    ----------
    courses
    gp
        From :func:`timelike.fit`, or given.
    others
        Compare with these instead of among themselves.
    threads
        Number of threads; by default all that this process may use.

    Examples
    --------
    >>> import timelike as tl
    >>> courses, _ = tl.simulate.profiles(seed=1)
    >>> S = tl.similarity(courses, tl.fit(courses))
    >>> S
    Similarity: 150 x 150 log likelihood ratios
    >>> bool(S.values[0, 1] > S.values[0, 149])     # two of one profile, two of different profiles
    True
    """
    if others is None:
        return _square(courses, route(courses, gp), threads)
    return _rectangle(courses, others, route(courses.joined(others), gp), threads)


def _square(courses: TimeCourses, way: Route, threads: int | None) -> Similarity:
    values = np.empty((len(courses), len(courses)))
    order = way.order

    def work(tile: schedule.Tile) -> None:
        rows, cols = order[tile[0]], order[tile[1]]
        block = _compute(way, rows, cols, _view(values, rows, cols))
        if tile[0] == tile[1]:
            below = np.tri(len(block), k=-1, dtype=bool)
            np.copyto(block, block.T.copy(), where=below)  # the same bits on both sides of the diagonal
        else:
            _put(values, cols, rows, block.T)
        _put(values, rows, cols, block)

    schedule.run(work, schedule.upper_tiles(len(courses), way.side), threads, "similarity")
    return Similarity(values, courses.names, route=way.name)


def _rectangle(courses: TimeCourses, others: TimeCourses, way: Route, threads: int | None) -> Similarity:
    values = np.empty((len(courses), len(others)))
    left, right = way.order[way.order < len(courses)], way.order[way.order >= len(courses)]

    def work(tile: schedule.Tile) -> None:
        rows, cols = left[tile[0]], right[tile[1]]
        place = cols - len(courses)
        _put(values, rows, place, _compute(way, rows, cols, _view(values, rows, place)))

    schedule.run(work, schedule.all_tiles(len(left), len(right), way.side), threads, "similarity")
    return Similarity(values, courses.names, others.names, way.name)


def _compute(way: Route, rows: Ints, cols: Ints, view: Floats | None) -> Floats:
    """A tile, computed in place where the matrix has room for it in one piece."""
    block = np.empty((len(rows), len(cols))) if view is None else view
    way.tile(rows, cols, block)
    return block


def _view(values: Floats, rows: Ints, cols: Ints) -> Floats | None:
    """The part of the matrix for these rows and columns, if they follow each other."""
    i, j = _as_slice(rows), _as_slice(cols)
    return None if i is None or j is None else values[i, j]


def _put(values: Floats, rows: Ints, cols: Ints, block: Floats) -> None:
    """Write a block, unless it is that part of the matrix already."""
    view = _view(values, rows, cols)
    if view is None:
        values[rows[:, None], cols] = block
    elif not np.may_share_memory(view, block):
        view[...] = block


def _as_slice(which: Ints) -> slice | None:
    first, last = int(which[0]), int(which[-1])
    consecutive = last - first == len(which) - 1 and bool((np.diff(which) == 1).all())
    return slice(first, last + 1) if consecutive else None
