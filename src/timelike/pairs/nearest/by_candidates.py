"""Candidates for the nearest courses where every course has its own times.

    s(i, j) = log p(y_i | y_j) - log p(y_i)

What course j leaves uncertain differs from course to course. With the mean of these uncertainties in its place, s is
a quadratic function of the posterior mean of j, and ranking all j is one matrix product. The best of this ranking are
compared exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from timelike.base.arrays import Floats, Ints
from timelike.base.tiles import Tile, all_tiles, spans
from timelike.gp.basis import basis
from timelike.gp.information import Information, chunks
from timelike.pairs.nearest.best import WIDTH, Best, Found, Task, best_of, offer_all
from timelike.pairs.nearest.points import along_tree

if TYPE_CHECKING:
    from timelike.pairs.routes import Route

RANK = 8
"""Basis functions for the ranking of candidates, where a coarse curve is enough."""
SIDE = 64
"""Courses whose candidates are pooled: courses with similar curves, so that many candidates are the same."""
CANDIDATES = 300
"""Candidates of each course; pooled they are several times as many."""
SAMPLED = 1 / 16
"""Fraction of the items that are looked at to see how good a candidate must be; but at least 4096."""


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
    features: Floats  # (r + r (r + 1) / 2, M): the items, their means and the products of these
    sample: Ints  # (L,): items chosen at random
    rank: int
    """How good a candidate must be: as good as this rank in the sample."""
    first: int
    """Position of the first item."""

    @classmethod
    def of(cls, found: Information, task: Task, candidates: int = CANDIDATES) -> Ranking:
        """For the items of a task, of which each course gets about so many, or 10 k where that is more."""
        weights = np.bincount(found.design_of[task.first :], minlength=len(found.A))
        covariance = sum(
            np.tensordot(weights[part], np.linalg.inv(np.eye(found.rank) + found.A[part]), axes=1)
            for part in chunks(len(found.A), found.rank**2)
        )
        means = found.means()[task.first :].T
        a, b = np.tril_indices(found.rank)
        features = np.concatenate([means, means[a] * means[b]])
        count = means.shape[1]
        sampled = min(count, max(4096, int(SAMPLED * count)))
        sample = np.sort(np.random.default_rng(0).permutation(count)[:sampled])
        rank = int(np.ceil(max(candidates, 10 * task.k) * sampled / count))
        precision = np.linalg.inv(covariance / count)
        return cls(found, precision, features, sample, min(rank, sampled), task.first)

    def candidates(self, rows: Ints) -> Ints:
        """Items that rank high for at least one of the courses `rows`, in their order."""
        form = self.form(rows)
        least = np.partition(form @ self.features[:, self.sample], -self.rank, axis=1)[:, -self.rank, None]
        parts = spans(slice(0, self.features.shape[1]), 4 * WIDTH)
        high = [(form @ self.features[:, part] >= least).any(axis=0) for part in parts]
        return np.flatnonzero(np.concatenate(high)) + self.first

    def form(self, rows: Ints) -> Floats:
        """Coefficients of each course's quadratic function of an item's mean: ``l . m - 1/2 m^T M m``."""
        A, b = self.found.A[self.found.design_of[rows]], self.found.b[rows]
        solved = np.linalg.solve(self.precision + A, np.concatenate([A, b[:, :, None]], axis=2))
        linear = solved[:, :, -1] @ self.precision
        square = A - A @ solved[:, :, :-1]
        i, j = np.tril_indices(self.found.rank)
        return np.concatenate([linear, square[:, i, j] * np.where(i == j, -0.5, -1)], axis=1)
