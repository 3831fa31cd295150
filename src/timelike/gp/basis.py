"""The basis: features phi with k(x, x') = phi(x) . phi(x') at every point that occurs, to a known error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from timelike.base.arrays import Floats, Ints
from timelike.courses.designs import distinct_points
from timelike.exceptions import InputError

LEAST_NOISE = 128 * float(np.finfo(float).eps)
"""Noise variance / signal variance below which the last digits of the covariance decide, not the data."""
_NOT_DEFINITE = "the kernel is not positive definite at these times: no Gaussian process has it."
RELATIVE_ERROR = 1e-12
"""Largest error of the kernel, in units of the smaller of the noise variance and the signal variance."""


class Covariance(Protocol):
    """What a scikit-learn kernel offers: the matrix between two sets of points, and the variances at one."""

    def __call__(self, X: Floats, Y: Floats) -> Floats:
        """Covariance matrix, (n, m)."""

    def diag(self, X: Floats) -> Floats:
        """Prior variances, (n,)."""


class Pivots(NamedTuple):
    """The points (m, d) from which the features of all others follow: their Cholesky factor (m, m), turned (m, r)."""

    points: Floats
    factor: Floats
    turn: Floats


@dataclass(frozen=True)
class Basis:
    """Features of distinct points."""

    covariance: Covariance
    """The kernel, times the signal variance."""
    phi: Floats
    """One row for each distinct point, columns in the order of decreasing weight, (U, r)."""
    row: Ints
    """For each point that was asked for, its row in `phi`, (P,)."""
    pivots: Pivots
    """What the features of other points are made from."""
    error: float
    """No entry of ``K - phi phi^T`` exceeds it. (The residual of a pivoted Cholesky factor is positive semidefinite, so
    its diagonal bounds all of it.)"""
    reached: bool = True
    """Whether it is as exact as asked for; not if `max_rank` stopped it."""

    def __getitem__(self, rows: Ints | slice) -> Floats:
        return self.phi[self.row[rows]]

    def at(self, points: Floats) -> Floats:
        """Features of other points, (n, r); the rest of their variance, :meth:`rest`, is independent of the basis."""
        return np.linalg.solve(self.pivots.factor, self.covariance(self.pivots.points, points)).T @ self.pivots.turn

    def rest(self, points: Floats) -> Floats:
        """Variance at other points that their features do not show, (n,).

        With an error e of the basis and a rest v, a covariance with a point of the basis is off by up to sqrt(e v).
        """
        return np.maximum(self.covariance.diag(points) - (self.at(points) ** 2).sum(axis=1), 0)


def basis(covariance: Covariance, points: Floats, noise_variance: float, max_rank: int | None = None) -> Basis:
    """Features that reproduce `covariance` at `points` so well that the similarity does not notice.

    Parameters
    ----------
    covariance
        The kernel, times the signal variance.
    points : (P, d)
    noise_variance
        The smallest variance of the noise: what the kernel's error is measured against.
    max_rank
        Stop there; the caller looks at ``reached`` and decides.
    """
    distinct, row = distinct_points(points)
    largest = float(covariance.diag(distinct).max())
    tolerance = max(RELATIVE_ERROR * min(noise_variance, largest), 4 * np.finfo(float).eps * largest)
    factor, order, error = pivoted_cholesky(covariance, distinct, tolerance, max_rank)
    # Singular vectors: the same product from the fewest columns.
    left, scale, right = np.linalg.svd(factor, full_matrices=False)
    kept = scale**2 > tolerance
    dropped = float((scale[~kept] ** 2).sum())
    pivots = Pivots(distinct[order], factor[order], right[kept].T)
    return Basis(covariance, (left * scale)[:, kept], row, pivots, error + dropped, error <= tolerance)


def pivoted_cholesky(
    covariance: Covariance, points: Floats, tolerance: float, max_rank: int | None
) -> tuple[Floats, Ints, float]:
    """Factor ``L`` (U, r) with ``L L^T`` close to the covariance, the rows of its pivots, and what is left at most.

    Each step takes the point that the points before explain worst, until none is off by more than `tolerance`.
    """
    residual = covariance.diag(points).copy()
    if not (residual >= 0).all():
        raise InputError(_NOT_DEFINITE)
    scale = residual.max()
    columns: list[Floats] = []
    order: list[int] = []
    limit = len(points) if max_rank is None else min(max_rank, len(points))
    while len(columns) < limit and residual.max() > tolerance:
        worst = int(np.argmax(residual))
        column = covariance(points, points[worst : worst + 1])[:, 0]
        for done in columns:
            column = column - done * done[worst]
        column = column / np.sqrt(residual[worst])
        residual = residual - column**2
        residual[worst] = 0.0
        if residual.min() < -1e-8 * scale:
            raise InputError(_NOT_DEFINITE)
        columns.append(column)
        order.append(worst)
    factor = np.column_stack(columns) if columns else np.zeros((len(points), 0))
    return factor, np.array(order, dtype=np.intp), float(np.maximum(residual, 0).max())
