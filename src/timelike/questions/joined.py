"""Joined: a kernel at some times, with straight lines between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from timelike.base.arrays import Floats
from timelike.gp.kernels import on_clock

if TYPE_CHECKING:
    from sklearn.gaussian_process.kernels import Kernel


class Joined:
    """Curves that a kernel describes at some times, and that are straight between them, on the kernel's clock.

    What is new at every time says nothing about what happens in between; a line is the plainest guess.

    Parameters
    ----------
    kernel
    times : (r, 1)
        Ascending.

    Examples
    --------
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> curves = Joined(RBF(0.1), np.array([[0.0], [1.0]]))
    >>> curves(np.array([[0.0], [0.5], [1.0]]), np.array([[0.0], [1.0]])).round(6)
    array([[1. , 0. ],
           [0.5, 0.5],
           [0. , 1. ]])
    """

    def __init__(self, kernel: Kernel, times: Floats) -> None:
        self.kernel, self.times = kernel, times
        self._covariance = kernel(times)

    def __call__(self, X: Floats, Y: Floats | None = None) -> Floats:
        """Covariance matrix, (n, m)."""
        left = self._weights(X)
        return left @ self._covariance @ (left if Y is None else self._weights(Y)).T

    def diag(self, X: Floats) -> Floats:
        """Variances, (n,)."""
        weights = self._weights(X)
        return np.einsum("nr,rs,ns->n", weights, self._covariance, weights)

    def _weights(self, X: Floats) -> Floats:
        """What each point takes from each of the times, (n, r)."""
        places, asked = on_clock(self.kernel, self.times)[:, 0], on_clock(self.kernel, X)[:, 0]
        return np.column_stack([np.interp(asked, places, unit) for unit in np.eye(len(places))])
