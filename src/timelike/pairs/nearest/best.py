"""What is looked for, the best found so far, and the plainest way to find them: all pairs, a tile at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from timelike.base.arrays import Floats, Ints
from timelike.base.threads import run_tiles
from timelike.base.tiles import Tile, Work, all_tiles
from timelike.pairs.routes import Route

if TYPE_CHECKING:
    from timelike.gp.modelled import Modelled

WIDTH = 4096
"""Items that a block of courses is compared with at once."""


@dataclass(frozen=True, eq=False)
class Task:
    """What is looked for: the k best items of each course."""

    here: Modelled
    """The courses asked about, followed by the items where these are other courses, under the model."""
    asked: int
    """The first so many courses are asked about."""
    first: int
    """From here on the courses are items: 0 when they are compared among themselves."""
    k: int
    threads: int | None
    client: Any = None


class Found(NamedTuple):
    """Items for some courses and their scores: the best of those that were looked at, in no order."""

    rows: Ints
    indices: Ints
    scores: Floats


class Best:
    """The k best items of each course among those offered so far, best first; of equals, the one that comes first."""

    def __init__(self, count: int, k: int) -> None:
        self.indices = np.full((count, k), -1, dtype=np.intp)
        self.scores = np.full((count, k), -np.inf)

    def offer(self, rows: Ints, indices: Ints, scores: Floats, at: Ints | None = None) -> None:
        """Take note of items (n, m) and their scores for the courses `rows` (n,); a course is no item of its own.

        The courses are kept at `at`; by default, at their own positions.
        """
        scores = np.where(indices == rows[:, None], -np.inf, scores)
        at = rows if at is None else at
        if self.indices[at[0], 0] >= 0:
            indices = np.concatenate([self.indices[at], indices], axis=1)
            scores = np.concatenate([self.scores[at], scores], axis=1)
        order = np.argsort(indices, axis=1)
        indices, scores = np.take_along_axis(indices, order, axis=1), np.take_along_axis(scores, order, axis=1)
        order = np.argsort(-scores, axis=1, kind="stable")[:, : self.indices.shape[1]]
        self.indices[at, : order.shape[1]] = np.take_along_axis(indices, order, axis=1)
        self.scores[at, : order.shape[1]] = np.take_along_axis(scores, order, axis=1)

    def forget_incomplete(self) -> Ints:
        """The courses with fewer than k items so far; what they have is dropped."""
        rows = np.flatnonzero(np.isneginf(self.scores[:, -1]))
        self.indices[rows], self.scores[rows] = -1, -np.inf
        return rows


def offer_all(task: Task, best: Best, work: Work, tiles: list[Tile]) -> None:
    """Offer what is found on each tile, a :class:`Found`."""

    def offer(_: Tile, found: Found) -> None:
        best.offer(*found)

    run_tiles(work, tiles, task.threads, "neighbors", done=offer, client=task.client)


def by_tiles(task: Task, best: Best, way: Route, rows: Ints | None = None, width: int = WIDTH) -> None:
    """Offer every item to every course (or to those of `rows`): exact for any design, at the cost of all pairs."""
    asked = way.order[way.order < task.asked] if rows is None else rows
    items = way.order[way.order >= task.first]
    tiles = all_tiles(len(asked), 1, min(way.side, 256))
    offer_all(task, best, AmongAll(way, asked, items, task.k, width), tiles)


@dataclass(frozen=True, eq=False)
class AmongAll:
    """Finds the best of all items for the courses of a tile."""

    way: Route
    asked: Ints
    items: Ints
    k: int
    width: int = WIDTH

    def __call__(self, tile: Tile) -> Found:
        """Those of a tile."""
        return best_of(self.way, self.asked[tile[0]], self.items, self.k, self.width)


def best_of(way: Route, rows: Ints, items: Ints, k: int, width: int = WIDTH) -> Found:
    """The best of some items for some courses, `width` of the items at a time."""
    best = Best(len(rows), k)
    for start in range(0, len(items), width):
        part = items[start : start + width]
        values = np.empty((len(rows), len(part)))
        way.tile(rows, part, values)
        count = min(k + 1, len(part))
        found = np.argpartition(values, len(part) - count, axis=1)[:, len(part) - count :]
        best.offer(rows, part[found], np.take_along_axis(values, found, axis=1), np.arange(len(rows)))
    return Found(rows, best.indices, best.scores)
