"""Kernels of the distance alone, entry by entry, with their derivatives: one table for all who need more than a matrix.

scikit-learn evaluates a kernel between all points of a set. Courses with times of their own need it only within each
course: on blocks along the diagonal of that matrix, which are a small part of it. A fit for each pair of courses needs
second derivatives too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from timelike.base.arrays import Floats
from timelike.gp.kernels import name_of, unclocked

if TYPE_CHECKING:
    from sklearn.gaussian_process.kernels import Kernel


@dataclass(frozen=True)
class Form:
    """A kernel as a function of ``u^2``, where u is the distance in length scales.

    Derivatives are in the logarithm of the length scale. As u falls like 1 / length scale, the slope is ``-u dk/du``.
    """

    value_and_slope: Callable[[Floats], tuple[Floats, Floats]]
    bend: Callable[[Floats], Floats]
    """Curvature / slope: who has no use for it does not pay for it."""

    def entries(self, squared: Floats) -> tuple[Floats, Floats, Floats]:
        """Value, slope and curvature."""
        value, slope = self.value_and_slope(squared)
        return value, slope, self.bend(squared) * slope


def _se(squared: Floats) -> tuple[Floats, Floats]:
    value = np.exp(-squared / 2)
    return value, squared * value


def _matern12(squared: Floats) -> tuple[Floats, Floats]:
    u = np.sqrt(squared)
    value = np.exp(-u)
    return value, u * value


def _matern32(squared: Floats) -> tuple[Floats, Floats]:
    a = np.sqrt(3 * squared)
    fall = np.exp(-a)
    return (1 + a) * fall, 3 * squared * fall


def _matern52(squared: Floats) -> tuple[Floats, Floats]:
    a = np.sqrt(5 * squared)
    fall = np.exp(-a)
    third = 5 / 3 * squared
    return (1 + a + third) * fall, third * (1 + a) * fall


FORMS = {
    "se": Form(_se, lambda squared: squared - 2),
    "matern12": Form(_matern12, lambda squared: np.sqrt(squared) - 1),
    "matern32": Form(_matern32, lambda squared: np.sqrt(3 * squared) - 2),
    "matern52": Form(_matern52, lambda squared: 5 * squared / (1 + np.sqrt(5 * squared)) - 2),
}
"""The kernels of :data:`timelike.gp.kernels.NAMED` that have a form."""


def form_of(kernel: Kernel) -> Form | None:
    """The form of a kernel that has one: squared exponential or Matern, with one length scale for all coordinates.

    On a clock or not.
    """
    kernel = unclocked(kernel)
    if not type(kernel).__module__.startswith("sklearn.") or np.size(getattr(kernel, "length_scale", ())) != 1:
        return None
    endlessly_smooth = getattr(kernel, "nu", None) == np.inf  # a Matern kernel only by its class
    return FORMS.get("se" if endlessly_smooth else name_of(kernel))


def squared_distances(points: Floats) -> Floats:
    """Squared distances within each set of points, (..., n, n); points are (..., n, d)."""
    squared = np.zeros((*points.shape[:-1], points.shape[-2]))
    for x in np.moveaxis(points, -1, 0):
        squared += (x[..., :, None] - x[..., None, :]) ** 2
    return squared


def blocks(kernel: Kernel, form: Form, points: Floats) -> tuple[Floats, Floats]:
    """The kernel within each set of points, (G, n, n), and its gradient, (G, n, n, p); points are (G, n, d)."""
    bare = unclocked(kernel)
    on_clock = points if bare is kernel else kernel.time(points)
    K, slope = form.value_and_slope(squared_distances(on_clock / np.squeeze(bare.length_scale)))
    gradient = slope[..., None][..., : bare.n_dims]
    if kernel.n_dims == bare.n_dims:
        return K, gradient
    in_tau = -slope * _stretch(on_clock, kernel.slope(points))
    return K, np.concatenate([gradient, in_tau[..., None]], axis=-1)


def _stretch(times: Floats, slopes: Floats) -> Floats:
    """By which part of itself each distance on a clock grows with the logarithm of tau, (G, n, n).

    A distance that grows is a length scale that falls: a kernel's slope in one is its slope in the other.
    """
    x, dx = times[..., 0], slopes[..., 0]
    apart = x[..., :, None] - x[..., None, :]
    return np.divide(dx[..., :, None] - dx[..., None, :], apart, out=np.zeros_like(apart), where=apart != 0)
