"""Information: all that a course says about its curve, as a pair (A, b) that adds up over courses.

Write the curve through a basis, ``f(x) = phi(x) . w`` with ``w ~ N(0, I)``. A course measured at points with
features ``Phi`` and noise variances ``R`` enters only through

    A = Phi^T R^-1 Phi        b = Phi^T R^-1 (y - mean)

and one curve for several courses has the sum of their information. Where each course has a level of its own, of which
nothing is known, ``R^-1 - R^-1 1 1^T R^-1 / 1^T R^-1 1`` takes the place of ``R^-1``. Nothing here knows about time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from timelike.base.arrays import Floats, Ints
from timelike.gp.basis import Basis

if TYPE_CHECKING:
    from timelike.courses import TimeCourses


@dataclass(frozen=True, eq=False)
class Information:
    """Information of many courses."""

    A: Floats
    """One matrix for each design, (G, r, r); courses with the same design share it."""
    b: Floats
    """One vector for each course, (N, r)."""
    design_of: Ints
    """The design of each course, (N,)."""

    @property
    def rank(self) -> int:
        """Number of basis functions."""
        return int(self.b.shape[1])

    def means(self) -> Floats:
        """Posterior mean of ``w`` given each course alone, ``(I + A)^-1 b``, (N, r)."""
        means = np.empty_like(self.b)
        precision = self.A + np.eye(self.rank)
        if len(self.A) == 1:
            return np.linalg.solve(precision[0], self.b.T).T
        for rows in chunks(len(self.b), self.rank**2):
            means[rows] = np.linalg.solve(precision[self.design_of[rows]], self.b[rows, :, None])[:, :, 0]
        return means

    def total(self) -> tuple[Floats, Floats]:
        """The sum over all courses, (r, r) and (r,): one curve for all."""
        counts = np.bincount(self.design_of, minlength=len(self.A))
        return np.tensordot(counts, self.A, axes=1), self.b.sum(axis=0)


def information(courses: TimeCourses, mean: float, noise: Floats, phi: Basis, *, level: bool = False) -> Information:
    """What each course says about its curve, with the noise variances (P,) at the points of the designs.

    With `level`, whatever level it has.
    """
    weights = 1 / noise
    rank = phi.phi.shape[1]
    A = np.empty((len(courses.designs), rank, rank))
    b = np.empty((len(courses), rank))
    for designs, members in courses.by_size():
        rows = courses.designs.starts[:-1][designs][:, None] + np.arange(courses.designs.sizes[designs[0]])
        features = phi[rows]
        weighted = features * weights[rows][:, :, None]
        if level:
            share = weights[rows] / weights[rows].sum(axis=1, keepdims=True)
            weighted -= share[:, :, None] * weighted.sum(axis=1, keepdims=True)
        A[designs] = weighted.transpose(0, 2, 1) @ features
        b[members] = _project(courses, members, designs, weighted, mean)
    return Information((A + A.transpose(0, 2, 1)) / 2, b, courses.design_of)


def stacked(found: list[Information]) -> Information:
    """The information of the same courses in several ways, as of so many times the courses and designs."""
    if len(found) == 1:
        return found[0]
    designs = [one.design_of + k * len(one.A) for k, one in enumerate(found)]
    A, b = (np.concatenate(parts) for parts in ([one.A for one in found], [one.b for one in found]))
    return Information(A, b, np.concatenate(designs))


def _project(courses: TimeCourses, members: Ints, designs: Ints, weighted: Floats, mean: float) -> Floats:
    """``Phi^T R^-1 (y - mean)`` of courses whose designs have the same number of points."""
    values = courses.values[courses.starts[members][:, None] + np.arange(weighted.shape[1])] - mean
    if len(designs) == 1:
        return values @ weighted[0]
    local = np.searchsorted(designs, courses.design_of[members])
    projected = [
        (values[rows, None, :] @ weighted[local[rows]])[:, 0] for rows in chunks(len(members), weighted[0].size)
    ]
    return np.concatenate(projected)


def evidence(A: Floats, b: Floats) -> Floats:
    """``E(A, b) = 1/2 b^T (I + A)^-1 b - 1/2 log det(I + A)``, for one pair (A, b) or stacks of them."""
    precision = A + np.eye(A.shape[-1])
    mean = np.linalg.solve(precision, b[..., None])[..., 0]
    return (b * mean).sum(-1) / 2 - log_det_plus_identity(A) / 2


def heights(A: Floats, b: Floats) -> Floats:
    """The same from one Cholesky factor each, that of the matrix with b as a last row: faster, and a few digits less.

    Examples
    --------
    >>> A, b = np.eye(2) * 3, np.array([1.0, 2.0])
    >>> bool(abs(heights(A, b) - evidence(A, b)) < 1e-12)
    True
    """
    rank = b.shape[-1]
    both = np.empty((*b.shape[:-1], rank + 1, rank + 1))
    both[..., :rank, :rank] = A + np.eye(rank)
    both[..., rank, :rank] = both[..., :rank, rank] = b
    both[..., rank, rank] = corner = 1 + (b**2).sum(axis=-1)
    pivots = np.diagonal(np.linalg.cholesky(both), axis1=-2, axis2=-1)
    return np.asarray((corner - pivots[..., rank] ** 2) / 2 - np.log(pivots[..., :rank]).sum(axis=-1))


def log_det_plus_identity(A: Floats) -> Floats:
    """``log det(I + A)``, accurate also when A is small against I."""
    return np.log1p(np.maximum(np.linalg.eigvalsh(A), 0)).sum(-1)


def chunks(count: int, width: int, budget: int = 4_000_000) -> list[slice]:
    """Slices of ``range(count)`` that hold about `budget` numbers each at `width` numbers an element."""
    step = max(1, budget // max(width, 1))
    return [slice(i, min(i + step, count)) for i in range(0, count, step)]
