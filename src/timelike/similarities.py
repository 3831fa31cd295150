"""similarity: the log likelihood ratio of "one curve" to "two curves", for every pair of courses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from timelike import checks, schedule
from timelike.arrays import Floats
from timelike.courses import TimeCourses
from timelike.exceptions import InputError
from timelike.gp import GP
from timelike.pairs import Route, route

if TYPE_CHECKING:
    import pandas as pd


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
    checks.instance(courses, TimeCourses, "courses")
    checks.instance(gp, GP, "gp")
    if others is None:
        return _square(courses, route(courses, gp), threads)
    checks.instance(others, TimeCourses, "others")
    return _rectangle(courses, others, route(courses.joined(others), gp), threads)


def _square(courses: TimeCourses, way: Route, threads: int | None) -> Similarity:
    values = np.empty((len(courses), len(courses)))
    if way.symmetric:
        _fill_whole(values, way, threads)
    else:
        _fill_upper(values, way, threads)
    return Similarity(values, courses.names, route=way.name)


def _fill_whole(values: Floats, way: Route, threads: int | None) -> None:
    """Compute all of it in place: cheaper than mirroring where a tile is no more than a matrix product."""
    count, order = len(values), way.order

    def work(tile: schedule.Tile) -> None:
        way.tile(order[tile[0]], order[tile[1]], values[tile])

    schedule.run_in_turn(work, schedule.all_tiles(count, count, way.side, width=count), threads, "similarity")
    # A library that sums in another order at the rim of a matrix would leave the two sides unequal in the last bit.
    for rim in (slice(0, 64), slice(max(0, count - 64), count)):
        if not np.array_equal(values[rim], values[:, rim].T):
            _mirror(values)
            return


def _fill_upper(values: Floats, way: Route, threads: int | None) -> None:
    """Compute the tiles on and above the diagonal, and mirror them."""
    count, order = len(values), way.order
    in_place = np.array_equal(order, np.arange(count))

    def work(tile: schedule.Tile) -> None:
        rows, cols = tile
        block = values[tile] if in_place else np.empty((rows.stop - rows.start, cols.stop - cols.start))
        way.tile(order[rows], order[cols], block)
        if rows == cols:
            _mirror(block)
        elif in_place:
            values[cols, rows] = block.T
        if not in_place:
            values[np.ix_(order[rows], order[cols])] = block
            values[np.ix_(order[cols], order[rows])] = block.T

    schedule.run(work, schedule.upper_tiles(count, way.side), threads, "similarity")


def _mirror(block: Floats) -> None:
    """Copy what is above the diagonal to below it, in strips: the same bits on both sides."""
    for start in range(0, len(block), 64):
        strip = slice(start, start + 64)
        corner = block[strip, strip]
        corner[...] = np.triu(corner) + np.triu(corner, 1).T
        block[strip.stop :, strip] = block[strip, strip.stop :].T


def _rectangle(courses: TimeCourses, others: TimeCourses, way: Route, threads: int | None) -> Similarity:
    values = np.empty((len(courses), len(others)))
    left, right = way.order[way.order < len(courses)], way.order[way.order >= len(courses)]

    def work(tile: schedule.Tile) -> None:
        rows, cols = left[tile[0]], right[tile[1]]
        block = np.empty((len(rows), len(cols)))
        way.tile(rows, cols, block)
        values[np.ix_(rows, cols - len(courses))] = block

    schedule.run(work, schedule.all_tiles(len(left), len(right), way.side), threads, "similarity")
    return Similarity(values, courses.names, others.names, way.name)
