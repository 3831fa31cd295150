"""Kernels of the distance alone, entry by entry.

scikit-learn evaluates a kernel between all points of a set. Courses with times of their own need it only within each
course: on blocks along the diagonal of that matrix, which are a small part of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from timelike.base.arrays import Floats

if TYPE_CHECKING:
    from sklearn.gaussian_process.kernels import Kernel

Form = Callable[[Floats], tuple[Floats, Floats]]
"""From the squared distance in length scales: the kernel, and its derivative in the logarithm of the length scale."""


def form_of(kernel: Kernel) -> Form | None:
    """The form of a kernel that has one: squared exponential or Matern, with one length scale for all coordinates."""
    name = type(kernel).__name__
    if not type(kernel).__module__.startswith("sklearn.") or np.size(getattr(kernel, "length_scale", ())) != 1:
        return None
    return _se if name == "RBF" else _MATERN.get(kernel.nu) if name == "Matern" else None


def blocks(kernel: Kernel, form: Form, points: Floats) -> tuple[Floats, Floats]:
    """The kernel within each set of points, (G, n, n), and its gradient, (G, n, n, p); points are (G, n, d)."""
    scaled = points / np.squeeze(kernel.length_scale)
    squared = np.zeros((*points.shape[:2], points.shape[1]))
    for x in np.moveaxis(scaled, -1, 0):
        squared += (x[:, :, None] - x[:, None, :]) ** 2
    K, slope = form(squared)
    return K, slope[..., None][..., : kernel.n_dims]


def _se(squared: Floats) -> tuple[Floats, Floats]:
    K = np.exp(-squared / 2)
    return K, squared * K


def _matern12(squared: Floats) -> tuple[Floats, Floats]:
    r = np.sqrt(squared)
    K = np.exp(-r)
    return K, r * K


def _matern32(squared: Floats) -> tuple[Floats, Floats]:
    r = np.sqrt(3 * squared)
    fall = np.exp(-r)
    return (1 + r) * fall, 3 * squared * fall


def _matern52(squared: Floats) -> tuple[Floats, Floats]:
    r = np.sqrt(5 * squared)
    fall = np.exp(-r)
    third = 5 / 3 * squared
    return (1 + r + third) * fall, third * (1 + r) * fall


_MATERN = {0.5: _matern12, 1.5: _matern32, 2.5: _matern52, np.inf: _se}
