"""The rough part: what the replicates of a time share, and a smooth curve has not.

Between times it is independent, so only replicates can tell it from noise. For values that share a time, with noise
variances d, the covariance is ``R = diag(d) + rho^2 1 1^T``, and as all of them see the curve at the same point,

    1^T R^-1 = 1^T diag(d (1 + rho^2 S))^-1        S = sum 1 / d

A course's information is therefore that of independent values with the variances ``d (1 + rho^2 S)``.
"""

from __future__ import annotations

import numpy as np

from timelike.base.arrays import Floats, Ints


def times_of(points: Floats, starts: Ints) -> tuple[Ints, Ints]:
    """For each point the number of its time within its design or course, (P,), and where each of these begins.

    Points are ordered within designs, of which the first rows are given; times of different designs are different.
    """
    first = np.ones(len(points), dtype=bool)
    first[1:] = (points[1:] != points[:-1]).any(axis=1)
    first[starts[:-1]] = True
    return np.cumsum(first) - 1, np.flatnonzero(first)


def shared(points: Floats, rough_sd: float) -> Floats:
    """Covariance of the rough part, (..., n, n), which values of one point share; points are (..., n, d)."""
    return rough_sd**2 * (points[..., :, None, :] == points[..., None, :, :]).all(axis=-1)


def as_independent(variances: Floats, rough_variance: float, time: Ints, begin: Ints) -> Floats:
    """Variances of independent values that say as much about a curve as values with a rough part do, (P,)."""
    weight = np.add.reduceat(1 / variances, begin)
    return variances * (1 + rough_variance * weight)[time]


def constants(residuals: Floats, variances: Floats, rough_variance: float, begin: Ints) -> tuple[Floats, Floats]:
    """``e^T R^-1 e`` and ``log det(2 pi R)`` of the values of each time, (T,) each."""
    weight, pull = np.add.reduceat(1 / variances, begin), np.add.reduceat(residuals / variances, begin)
    squares = np.add.reduceat(residuals**2 / variances, begin)
    squares -= rough_variance * pull**2 / (1 + rough_variance * weight)
    return squares, np.add.reduceat(np.log(2 * np.pi * variances), begin) + np.log1p(rough_variance * weight)
