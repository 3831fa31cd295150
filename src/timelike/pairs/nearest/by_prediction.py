"""The nearest courses where designs are few: those that predict a course best are the nearest points.

    s(i, j) = log p(y_i | y_j) - log p(y_i)

The best of each pair of designs are offered with their exact s.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from timelike.base.arrays import Floats, Ints
from timelike.pairs.nearest.best import Best, Found, Task
from timelike.pairs.nearest.points import Search, nearest_points
from timelike.pairs.routes import GridRoute, PairForm

if TYPE_CHECKING:
    from timelike.gp.modelled import Modelled


def by_prediction(task: Task, best: Best, *, approximate: bool = False) -> None:
    """Offer the best items of every design to the courses of every design, found as nearest points.

    Given a course of design h, the values at the times of design g have one covariance, whichever course it is.
    In coordinates in which it is the identity, ``log p(y_i | y_j)`` is a constant minus half the squared distance
    of what was measured, y_i, and what j predicts.
    """
    way = GridRoute.of(task.here.information)
    means = np.ascontiguousarray(way.means)  # a course in one piece of memory
    for g in np.unique(way.design_of[: task.asked]):
        rows = np.flatnonzero(way.design_of[: task.asked] == g)
        values = task.here.courses.values_on(g)[: len(rows)] - task.here.gp.mean
        for h in np.unique(way.design_of[task.first :]):
            items = np.flatnonzero(way.design_of[task.first :] == h) + task.first
            of_values, of_means = coordinates(task.here, g, way.A[h])
            # Only the courses of the two designs are put into the coordinates of their form.
            scores = PairScores.of(way.form(g, h), means[np.concatenate([rows, items])])
            search = Search(means[items] @ of_means, task.threads, approximate=approximate)
            then = Scored(scores, rows, items, task.k)
            for _, found in nearest_points(search, values @ of_values, task.k + 1, then, client=task.client):
                best.offer(*found)


@dataclass(frozen=True, eq=False)
class Scored:
    """The similarity of courses to the items that were found for them."""

    scores: PairScores
    rows: Ints
    items: Ints
    k: int

    def __call__(self, at: Ints, found: Ints) -> Found:
        """The best k, of courses `at` (n,) among the rows and items found (n, m)."""
        best, rows = Best(len(at), self.k), self.rows[at]
        # An approximate index may find fewer than it was asked for, and says -1 for the others.
        known = np.where(found >= 0, self.scores(at, found + len(self.rows)), -np.inf)
        best.offer(rows, self.items[found], known, np.arange(len(at)))
        return Found(rows, best.indices, best.scores)


def coordinates(here: Modelled, g: int, A_h: Floats) -> tuple[Floats, Floats]:
    """What turns values of design g, (n_g, d), and means of design h, (r, d), into points to be compared.

    There are as many coordinates as directions in which a curve shows at the times of g.
    """
    span = slice(*here.courses.designs.starts[[g, g + 1]])
    return turned(here.basis()[span], np.sqrt(here.noise_variances[span]), A_h)


def turned(features: Floats, noise_sd: Floats, A_h: Floats) -> tuple[Floats, Floats]:
    """As :func:`coordinates`, for values with these features, (n_g, r), and this noise, (n_g,)."""
    sd = noise_sd[:, None]
    left, scale, right = np.linalg.svd(features / sd, full_matrices=False)
    kept = scale > 1e-14 * scale.max(initial=0)
    if not kept.any():  # a curve that is zero at all these times: every course predicts it equally well
        return np.zeros((len(sd), 1)), np.zeros((len(A_h), 1))
    of_values, of_means = left[:, kept] / sd, scale[kept, None] * right[kept]
    uncertain = of_means @ np.linalg.solve(np.eye(len(A_h)) + A_h, of_means.T)
    lower = np.linalg.cholesky(np.eye(len(of_means)) + uncertain)
    return np.linalg.solve(lower, of_values.T).T, np.linalg.solve(lower, of_means).T


@dataclass(frozen=True, eq=False)
class PairScores:
    """The similarity of chosen pairs of courses of two designs, in the form that does not cancel."""

    form: PairForm
    both: Floats
    """The means in the coordinates of the form's square, and as they are, side by side, (N, 2 r)."""
    own: Floats

    @classmethod
    def of(cls, form: PairForm, means: Floats) -> PairScores:
        """For pairs whose similarity has this form."""
        return cls(form, np.concatenate([means @ form.root, means], axis=1), form.own_part(means))

    def __call__(self, rows: Ints, indices: Ints) -> Floats:
        """Similarities of the courses `rows` (n,) to the courses `indices` (n, m)."""
        rank = len(self.form.root)
        left, right = self.both[rows], self.both[indices]
        difference = left[:, None, :rank] - right[:, :, :rank]
        values = self.form.constant - np.einsum("ija,ija->ij", difference, difference) / 2
        values += np.einsum("ia,ija->ij", left[:, rank:] @ self.form.cross, right[:, :, rank:])
        return values + self.own[indices]
