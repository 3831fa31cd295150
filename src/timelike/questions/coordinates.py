"""Coordinates of curves: their values at a few times, from which those at all measured times follow."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from timelike.base.arrays import Floats, Ints
from timelike.courses.designs import distinct_points
from timelike.exceptions import InputError
from timelike.gp.basis import pivoted_cholesky

if TYPE_CHECKING:
    from sklearn.gaussian_process.kernels import Kernel

FEW = 40
"""Up to so many distinct times, all of them are coordinates."""
MOST = 96
INTERPOLATED = 1e-6
"""Largest variance between coordinates that interpolation leaves out, in units of the variance of the curve."""
DROPPED = 1e-8
"""Directions of a kernel with less than this share of its largest are left out."""


class Features(NamedTuple):
    """Rows of interpolation weights: what :func:`timelike.gp.information.information` takes for a basis."""

    phi: Floats
    row: Ints

    def __getitem__(self, rows: Ints | slice) -> Floats:  # type: ignore[override]  # as a basis does
        return self.phi[self.row[rows]]


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Curves as their values at `points`.

    Attributes
    ----------
    points : (r, 1)
    exact
        All measured times are among the points.
    finest
        The kernel that interpolates between the points where they are not.
    """

    points: Floats
    exact: bool
    finest: Kernel

    @classmethod
    def of(cls, times: Floats, kernels: list[Kernel]) -> Coordinates:
        """Coordinates for curves of all these kernels at all these times, (P, 1)."""
        distinct, _ = distinct_points(times)
        if len(distinct) <= FEW:
            return cls(distinct, True, kernels[0])
        total = reduce(add, kernels)
        _, order, left = pivoted_cholesky(total, distinct, INTERPOLATED * len(kernels), MOST)
        if left > INTERPOLATED * len(kernels):
            raise InputError(
                f"curves are too rough for so many different times: more than {MOST} coordinates. Give a model with a "
                "longer length scale or a smoother kernel (gp=)."
            )
        return cls(distinct[np.sort(order)], False, total)

    def features(self, times: Floats) -> Features:
        """What each measured time (P, 1) takes from each coordinate."""
        distinct, row = distinct_points(times)
        if self.exact:
            return Features((distinct == self.points[:, 0]).astype(float), row)
        K = self.finest(self.points)
        K[np.diag_indices_from(K)] *= 1 + 1e-10
        return Features(np.linalg.solve(K, self.finest(self.points, distinct)).T, row)

    def factor(self, kernel: Kernel) -> Floats:
        """Columns G with ``G G^T`` the covariance of the kernel at the coordinates, (r, q)."""
        value, axes = np.linalg.eigh(kernel(self.points))
        kept = value > DROPPED * value[-1]
        return axes[:, kept] * np.sqrt(value[kept])

    def factor_at(self, kernel: Kernel, times: Floats) -> Floats:
        """The same columns at other times (T, 1): a curve that is ``G w`` at the coordinates is this times w there."""
        value, axes = np.linalg.eigh(kernel(self.points))
        kept = value > DROPPED * value[-1]
        return kernel(times, self.points) @ (axes[:, kept] / np.sqrt(value[kept]))
