"""Matrices that are to be positive definite: their inverses and determinants, or a word that they are not."""

from __future__ import annotations

import numpy as np

from timelike.base.arrays import Floats
from timelike.exceptions import InputError


def inverse_and_log_det(C: Floats) -> tuple[Floats, Floats]:
    """Inverses, (G, n, n), and logarithms of the determinants, (G,)."""
    try:
        lower = np.linalg.cholesky(C)
    except np.linalg.LinAlgError:
        raise InputError(
            "the covariance matrix is not positive definite: the kernel is not a covariance at these times, or the "
            "noise is too small against the signal for double precision."
        ) from None
    root = np.linalg.inv(lower)
    return root.transpose(0, 2, 1) @ root, 2 * np.log(np.diagonal(lower, axis1=1, axis2=2)).sum(axis=1)
