"""A kernel with a rough part: the covariance of a single course, for its likelihood."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import Kernel

from timelike.base.arrays import Floats
from timelike.gp.wrapper import Wrapper


class Roughened(Wrapper):
    """A kernel plus what only the values of one time share: the covariance of a single course, for its likelihood.

    Parameters
    ----------
    kernel
        The smooth part.
    share
        Variance of the rough part / variance of the signal.
    share_bounds
        Where to look for it, or ``"fixed"``.

    Examples
    --------
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> Roughened(RBF(1.0), share=0.5)(np.array([[0.0], [0.0], [9.0]])).round(3)
    array([[1.5, 1.5, 0. ],
           [1.5, 1.5, 0. ],
           [0. , 0. , 1.5]])
    """

    parameter = "share"

    def __init__(
        self, kernel: Kernel, share: float = 0.1, share_bounds: tuple[float, float] | str = (1e-6, 1e4)
    ) -> None:
        self.kernel = kernel
        self.share = share
        self.share_bounds = share_bounds

    def __call__(self, X: Floats, Y: Floats | None = None, eval_gradient: bool = False) -> Any:
        """Covariance matrix, (n, m), and where asked for its gradient in the logarithms of the parameters."""
        rough = self.share * (X[:, None, :] == (X if Y is None else Y)[None]).all(axis=2)
        if not eval_gradient:
            return self.kernel(X, Y) + rough
        K, gradient = self.kernel(X, eval_gradient=True)
        free = [] if self.share_bounds == "fixed" else [rough[..., None]]
        return K + rough, np.concatenate([gradient, *free], axis=-1)

    def diag(self, X: Floats) -> Floats:
        """Prior variances, (n,)."""
        return self.kernel.diag(X) + self.share

    def is_stationary(self) -> bool:
        """As the kernel inside is."""
        return bool(self.kernel.is_stationary())
