"""The most similar courses, by three ways that never form the matrix: predictions, tiles, candidates.

    s(i, j) = log p(y_i | y_j) - log p(y_i)

The courses most like i are those that predict it best. Each way offers pairs with their exact s to a :class:`Best`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from timelike.base.arrays import Bools, Floats, Ints
from timelike.base.threads import run_tiles
from timelike.base.tiles import Tile, all_tiles
from timelike.pairs.nearest.points import finder, nearest_points
from timelike.pairs.routes import GridRoute, PairForm, Route

if TYPE_CHECKING:
    from timelike.courses import TimeCourses
    from timelike.gp.basis import Basis
    from timelike.gp.modelled import Modelled

WIDTH = 4096
"""Items that a block of courses is compared with at once."""


@dataclass(frozen=True, eq=False)
class Task:
    """What is looked for: the k best items of each course.

    Attributes
    ----------
    here : Modelled
        The courses asked about, followed by the items where these are other courses, under the model.
    asked : int
        The first so many courses are asked about.
    first : int
        From here on the courses are items: 0 when they are compared among themselves.
    k : int
    threads : int or None
    """

    here: Modelled
    asked: int
    first: int
    k: int
    threads: int | None

    @property
    def courses(self) -> TimeCourses:
        """Those asked about, and the items."""
        return self.here.courses

    @property
    def items(self) -> Ints:
        """Positions of the items."""
        return np.arange(self.first, len(self.courses))

    @property
    def pairs(self) -> float:
        """Number of pairs."""
        return float(self.asked) * (len(self.courses) - self.first)


class Best:
    """The k best items of each course among those offered so far, best first; of equals, the one that comes first."""

    def __init__(self, count: int, k: int) -> None:
        self.indices = np.full((count, k), -1, dtype=np.intp)
        self.scores = np.full((count, k), -np.inf)

    def offer(self, rows: Ints, indices: Ints, scores: Floats) -> None:
        """Take note of items (n, m) and their scores for the courses `rows` (n,); a course is no item of its own."""
        scores = np.where(indices == rows[:, None], -np.inf, scores)
        if self.indices[rows[0], 0] >= 0:
            indices = np.concatenate([self.indices[rows], indices], axis=1)
            scores = np.concatenate([self.scores[rows], scores], axis=1)
        order = np.argsort(indices, axis=1)
        indices, scores = np.take_along_axis(indices, order, axis=1), np.take_along_axis(scores, order, axis=1)
        order = np.argsort(-scores, axis=1, kind="stable")[:, : self.indices.shape[1]]
        self.indices[rows, : order.shape[1]] = np.take_along_axis(indices, order, axis=1)
        self.scores[rows, : order.shape[1]] = np.take_along_axis(scores, order, axis=1)

    def forget_incomplete(self) -> Ints:
        """The courses with fewer than k items so far; what they have is dropped."""
        rows = np.flatnonzero(np.isneginf(self.scores[:, -1]))
        self.indices[rows], self.scores[rows] = -1, -np.inf
        return rows


# -- few designs: the courses that predict best are the nearest points ------------------------------------------------


def by_prediction(task: Task, best: Best, *, approximate: bool = False) -> None:
    """Offer the best items of every design to the courses of every design, found as nearest points.

    Given a course of design h, the values at the times of design g have one covariance, whichever course it is.
    In coordinates in which it is the identity, ``log p(y_i | y_j)`` is a constant minus half the squared distance
    of what was measured, y_i, and what j predicts.
    """
    sight = Sight.of(task)
    design_of = task.courses.design_of
    for g in np.unique(design_of[: task.asked]):
        rows = np.flatnonzero(design_of[: task.asked] == g)
        values = task.courses.values_on(g)[: len(rows)] - task.here.gp.mean
        for h in np.unique(design_of[task.first :]):
            items = np.flatnonzero(design_of[task.first :] == h) + task.first
            of_values, of_means = sight.coordinates(g, h)
            points = sight.means[items] @ of_means
            find = finder(points, approximate=approximate, threads=task.threads)
            # Only the courses of the two designs are put into the coordinates of their form.
            scores = PairScores.of(sight.way.form(g, h), sight.means[np.concatenate([rows, items])])
            at = np.arange(len(rows))
            for part, found in nearest_points(points, values @ of_values, task.k + 1, find):
                _offer(best, rows[part], items[found], scores(at[part], found + len(rows)), found >= 0)


def _offer(best: Best, rows: Ints, indices: Ints, scores: Floats, there: Bools) -> None:
    """Offer what was found; an approximate index may find fewer than it was asked for."""
    best.offer(rows, indices, scores if there.all() else np.where(there, scores, -np.inf))


@dataclass(frozen=True, eq=False)
class Sight:
    """How the courses of one design look from the times of another."""

    phi: Basis
    sd: Floats
    starts: Ints
    way: GridRoute
    means: Floats

    @classmethod
    def of(cls, task: Task) -> Sight:
        """For the designs of these courses."""
        way = GridRoute.of(task.here.information)
        return cls(
            task.here.basis(),
            np.sqrt(task.here.noise_variances),
            task.courses.designs.starts,
            way,
            np.ascontiguousarray(way.means),
        )

    def coordinates(self, g: int, h: int) -> tuple[Floats, Floats]:
        """What turns values of design g, (n_g, d), and means of design h, (r, d), into points to be compared.

        There are as many coordinates as directions in which a curve shows at the times of g.
        """
        span = slice(*self.starts[[g, g + 1]])
        sd = self.sd[span, None]
        left, scale, right = np.linalg.svd(self.phi[span] / sd, full_matrices=False)
        kept = scale > 1e-14 * scale.max(initial=0)
        if not kept.any():  # a curve that is zero at all these times: every course predicts it equally well
            return np.zeros((len(sd), 1)), np.zeros((self.way.A.shape[1], 1))
        of_values, of_means = left[:, kept] / sd, scale[kept, None] * right[kept]
        uncertain = of_means @ np.linalg.solve(np.eye(self.way.A.shape[1]) + self.way.A[h], of_means.T)
        lower = np.linalg.cholesky(np.eye(len(of_means)) + uncertain)
        return np.linalg.solve(lower, of_values.T).T, np.linalg.solve(lower, of_means).T


@dataclass(frozen=True, eq=False)
class PairScores:
    """The similarity of chosen pairs of courses of two designs, in the form that does not cancel."""

    form: PairForm
    both: Floats
    """The means in the coordinates of the form's square, and as they are, side by side, (N, 2 r)."""
    own: Floats | None

    @classmethod
    def of(cls, form: PairForm, means: Floats) -> PairScores:
        """For pairs whose similarity has this form."""
        own = np.einsum("ia,ab,ib->i", means, form.own, means, optimize=True) if form.own.any() else None
        return cls(form, np.concatenate([means @ form.root, means], axis=1), own)

    def __call__(self, rows: Ints, indices: Ints) -> Floats:
        """Similarities of the courses `rows` (n,) to the courses `indices` (n, m)."""
        rank = len(self.form.root)
        left, right = self.both[rows], self.both[indices]
        difference = left[:, None, :rank] - right[:, :, :rank]
        values = self.form.constant - np.einsum("ija,ija->ij", difference, difference) / 2
        values += np.einsum("ia,ija->ij", left[:, rank:] @ self.form.cross, right[:, :, rank:])
        return values if self.own is None else values + self.own[indices]


# -- all pairs, a tile at a time -----------------------------------------------------------------------------------


def by_tiles(task: Task, best: Best, way: Route, rows: Ints | None = None) -> None:
    """Offer every item to every course (or to those of `rows`): exact for any design, at the cost of all pairs."""
    asked = way.order[way.order < task.asked] if rows is None else rows
    items = way.order[way.order >= task.first]

    def work(tile: Tile) -> None:
        for start in range(0, len(items), WIDTH):
            offer_tile(best, way, asked[tile[0]], items[start : start + WIDTH])

    side = min(way.side, 256)
    run_tiles(work, all_tiles(len(asked), 1, side), task.threads, "neighbors")


def offer_tile(best: Best, way: Route, rows: Ints, items: Ints) -> None:
    """Offer the best of some items to some courses."""
    values = np.empty((len(rows), len(items)))
    way.tile(rows, items, values)
    count = min(best.indices.shape[1] + 1, len(items))
    found = np.argpartition(values, len(items) - count, axis=1)[:, len(items) - count :]
    best.offer(rows, items[found], np.take_along_axis(values, found, axis=1))
