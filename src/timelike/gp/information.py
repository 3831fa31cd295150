"""Information: all that a course says about its curve, as a pair (A, b) that adds up over courses.

Write the curve through a basis, ``f(x) = phi(x) . w`` with ``w ~ N(0, I)``. A course measured at points with
features ``Phi`` and noise variances ``R`` enters only through

    A = Phi^T R^-1 Phi        b = Phi^T R^-1 (y - mean)

and one curve for several courses has the sum of their information. Nothing here knows about time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from timelike.base.arrays import Floats, Ints
from timelike.exceptions import InputError
from timelike.gp.basis import LEAST_NOISE, Basis, basis
from timelike.gp.kernels import check_coordinates

if TYPE_CHECKING:
    from timelike.courses import TimeCourses
    from timelike.gp import GP


MAX_RANK = 96
"""A basis with more functions than this is not small."""


@dataclass(frozen=True, eq=False)
class Information:
    """Information of many courses.

    Attributes
    ----------
    A : (G, r, r)
        One matrix for each design; courses with the same design share it.
    b : (N, r)
    design_of : (N,)
        The design of each course.
    error : float
        Largest error of the kernel behind it, see :class:`timelike.gp.basis.Basis`.
    """

    A: Floats
    b: Floats
    design_of: Ints
    error: float

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


def information(courses: TimeCourses, gp: GP) -> Information:
    """What each course says about its curve under `gp`.

    Examples
    --------
    >>> import timelike as tl
    >>> courses, _ = tl.simulate.profiles(seed=1)
    >>> gp = tl.GP.se(length_scale=0.9, signal_sd=0.7, noise_sd=0.08)
    >>> found = information(courses, gp)
    >>> found.A.shape, found.b.shape      # one grid, 150 courses, 9 basis functions
    ((1, 9, 9), (150, 9))
    """
    return on_basis(courses, gp, basis_for(courses, gp))


def basis_for(courses: TimeCourses, gp: GP, max_rank: int | None = None) -> Basis:
    """The basis of the points of all designs, as exact as the noise demands."""
    least = float(noise_variances(courses, gp).min())
    return basis(gp.covariance, courses.designs.points, least, max_rank)


def information_of_sets(courses: TimeCourses, gp: GP) -> Information:
    """The information of courses that are to be summed into sets; an error where the kernel is too rough for that."""
    phi = basis_for(courses, gp, None if len(courses.designs) == 1 else MAX_RANK)
    if not phi.reached:
        raise InputError(
            f"the kernel is too rough for curves at so many different times: more than {MAX_RANK} basis functions. "
            "Take a smoother kernel ('se'), or cluster the similarities (spectral, hierarchical)."
        )
    return on_basis(courses, gp, phi)


def on_basis(courses: TimeCourses, gp: GP, phi: Basis) -> Information:
    """The information of courses on a given basis of their designs' points."""
    weights = 1 / noise_variances(courses, gp)
    rank = phi.phi.shape[1]
    A = np.empty((len(courses.designs), rank, rank))
    b = np.empty((len(courses), rank))
    for designs, members in courses.by_size():
        rows = courses.designs.starts[:-1][designs][:, None] + np.arange(courses.designs.sizes[designs[0]])
        features = phi[rows]
        weighted = features * weights[rows][:, :, None]
        A[designs] = weighted.transpose(0, 2, 1) @ features
        b[members] = _project(courses, members, designs, weighted, gp.mean)
    return Information((A + A.transpose(0, 2, 1)) / 2, b, courses.design_of, phi.error)


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


def noise_variances(courses: TimeCourses, gp: GP) -> Floats:
    """Noise variance at every point of the designs: the model's, plus the known error's, (P,)."""
    points = courses.designs.points
    check_coordinates(gp.kernel, points.shape[1])
    variances = gp.noise_sd**2 + courses.designs.variances
    if variances.min() <= 0:
        raise InputError(
            "the noise variance is zero: with no noise, two courses are the same only if they are equal to the "
            "last digit. Give a noise_sd above zero, or an error above zero for every value."
        )
    largest = float(gp.covariance.diag(points).max())
    if variances.min() < LEAST_NOISE * largest:
        raise InputError(
            f"the noise (standard deviation {np.sqrt(variances.min()):.3g}) is too small against the signal "
            f"({np.sqrt(largest):.3g}) for double precision: give a noise_sd of at least "
            f"{np.sqrt(LEAST_NOISE * largest):.2g}."
        )
    return variances


def evidence(A: Floats, b: Floats) -> Floats:
    """``E(A, b) = 1/2 b^T (I + A)^-1 b - 1/2 log det(I + A)``, for one pair (A, b) or stacks of them."""
    precision = A + np.eye(A.shape[-1])
    mean = np.linalg.solve(precision, b[..., None])[..., 0]
    return (b * mean).sum(-1) / 2 - log_det_plus_identity(A) / 2


def log_det_plus_identity(A: Floats) -> Floats:
    """``log det(I + A)``, accurate also when A is small against I."""
    return np.log1p(np.maximum(np.linalg.eigvalsh(A), 0)).sum(-1)


def chunks(count: int, width: int, budget: int = 4_000_000) -> list[slice]:
    """Slices of ``range(count)`` that hold about `budget` numbers each at `width` numbers an element."""
    step = max(1, budget // max(width, 1))
    return [slice(i, min(i + step, count)) for i in range(0, count, step)]
