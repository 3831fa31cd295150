"""Candidates for the nearest courses where every course has its own times.

    s(i, j) = log p(y_i | y_j) - log p(y_i)

What course j leaves uncertain differs from course to course. With the mean of these uncertainties in its place, s is
a quadratic function of the posterior mean of j. Cells of courses with similar means are ranked by their centres, the
best of them looked into, and the best courses there compared exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from timelike.base.arrays import Floats, Ints
from timelike.base.tiles import Tile, all_tiles
from timelike.gp.basis import basis
from timelike.gp.information import Information, chunks
from timelike.pairs.nearest.best import Best, Found, Task, best_of, offer_all
from timelike.pairs.nearest.points import along_tree

if TYPE_CHECKING:
    from timelike.pairs.routes import Route

RANK = 8
"""Basis functions for the ranking of candidates, where a coarse curve is enough."""
SIDE = 64
"""Courses whose candidates are pooled: courses with similar curves, so that many candidates are the same."""
CANDIDATES = 300
"""Candidates of each course; pooled they are several times as many."""
CELL = 32
"""Courses of a cell, and cells of a larger one."""
WIDER = 16
"""Cells are looked into for each course that have so many times its candidates; and larger ones with so many more."""


def by_candidates(task: Task, best: Best, way: Route, count: int = CANDIDATES) -> None:
    """Offer each course the items that rank high when all are equally uncertain, with their exact similarity."""
    here = task.here
    found = here.information_on(basis(here.gp.covariance, here.courses.designs.points, here.least_noise, RANK))
    ranking = Ranking.of(found, task, count)
    asked = along_tree(found.means()[: task.asked])
    work = AmongCandidates(way, (ranking,), asked, task.k)
    offer_all(task, best, work, all_tiles(task.asked, 1, SIDE))


@dataclass(frozen=True, eq=False)
class AmongCandidates:
    """Finds the best of their candidates for the courses of a tile."""

    way: Route
    rankings: tuple[Ranking, ...]
    asked: Ints
    k: int
    shift: int = 0
    """Items are so much further on in the rankings than on the way."""

    def __call__(self, tile: Tile) -> Found:
        """Those of a tile."""
        rows = self.asked[tile[0]]
        items = np.unique(np.concatenate([one.candidates(rows) for one in self.rankings]))
        return best_of(self.way, rows, items - self.shift, self.k)


@dataclass(frozen=True, eq=False)
class Ranking:
    """The similarity to within a term of the course asked about, if all items were equally uncertain."""

    found: Information
    precision: Floats  # (r, r): inverse of the mean posterior covariance of the items
    order: Ints  # (M,): the items, each near those that have similar means
    levels: tuple[Floats, ...]
    """Means and the products of their entries: of the centres of larger cells, of those of cells, and of the items in
    their order, each (n, r + r (r + 1) / 2)."""
    most: tuple[int, ...]
    """Of each level so many are looked into for each course."""

    @classmethod
    def of(cls, found: Information, task: Task, candidates: int = CANDIDATES) -> Ranking:
        """For the items of a task, of which each course gets so many, or 10 k where that is more."""
        weights = np.bincount(found.design_of[task.first :], minlength=len(found.A))
        covariance = sum(
            np.tensordot(weights[part], np.linalg.inv(np.eye(found.rank) + found.A[part]), axes=1)
            for part in chunks(len(found.A), found.rank**2)
        )
        precision = np.linalg.inv(covariance / weights.sum())
        means = found.means()[task.first :]
        order = along_tree(means @ _root(found.A, precision))
        centres = _centres(means[order])
        wanted = max(candidates, 10 * task.k)
        looked_into = -(-WIDER * wanted // CELL)
        levels = tuple(map(_features, (_centres(centres), centres, means[order])))
        most = (-(-WIDER * looked_into // CELL), looked_into, wanted)
        return cls(found, precision, order + task.first, levels, most)

    def candidates(self, rows: Ints) -> Ints:
        """Items that rank high for at least one of the courses `rows`, in their order."""
        form = self.form(rows)
        looked = np.arange(len(self.levels[0]))
        for level, most in zip(self.levels, self.most, strict=True):
            looked = (looked[:, None] * CELL + np.arange(CELL)).ravel() if level is not self.levels[0] else looked
            looked = looked[: np.searchsorted(looked, len(level))]
            values = form @ level[looked].T
            count = min(most, len(looked))
            looked = looked[np.unique(np.argpartition(values, -count, axis=1)[:, -count:])]
        return np.sort(self.order[looked])

    def form(self, rows: Ints) -> Floats:
        """Coefficients of each course's quadratic function of an item's mean: ``l . m - 1/2 m^T M m``."""
        A, b = self.found.A[self.found.design_of[rows]], self.found.b[rows]
        solved = np.linalg.solve(self.precision + A, np.concatenate([A, b[:, :, None]], axis=2))
        linear = solved[:, :, -1] @ self.precision
        square = A - A @ solved[:, :, :-1]
        i, j = np.tril_indices(self.found.rank)
        return np.concatenate([linear, square[:, i, j] * np.where(i == j, -0.5, -1)], axis=1)


def _root(A: Floats, precision: Floats) -> Floats:
    """What turns means so that their distance is what tells them from a typical course, (r, r)."""
    typical = A.mean(axis=0)
    weight, vectors = np.linalg.eigh(typical - typical @ np.linalg.solve(precision + typical, typical))
    return np.asarray(vectors * np.sqrt(np.maximum(weight, 0)))


def _centres(means: Floats) -> Floats:
    """The means of cells on average; those of a cell are next to each other."""
    starts = np.arange(0, len(means), CELL)
    counts = np.diff(starts, append=len(means))
    return np.asarray(np.add.reduceat(means, starts, axis=0) / counts[:, None])


def _features(means: Floats) -> Floats:
    """Means and the products of their entries, (n, r + r (r + 1) / 2)."""
    a, b = np.tril_indices(means.shape[1])
    return np.column_stack([means, means[:, a] * means[:, b]])
