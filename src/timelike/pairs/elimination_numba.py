"""The loops of the compiled engine for matrices of any size. Importing them needs Numba."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

WIDTH = 64
"""Pairs worked on at once: their matrices stay close to the processor."""


def kept(function: Callable[..., None]) -> Any:
    """A function that is compiled on first use, and kept on the disk where there is a place for it."""
    try:
        return njit(nogil=True, error_model="numpy", cache=True)(function)
    except RuntimeError:  # neither beside the package nor in the user's folder: ``timelike info`` says so
        return njit(nogil=True, error_model="numpy")(function)


@kept
def fill(A_i, b_i, A_j, b_j, flush, quadratic, product, logs):  # type: ignore[no-untyped-def]  # Numba infers the types
    """Half squares, products of pivots minus 1, and logarithms of products taken on the way, for all pairs.

    The factor ``L D L^T`` is filled row by row, with ``U = L D`` beside L, four earlier columns at a time.

    Row i of L and U starts at ``i * pad``; columns are padded to a multiple of four with zeros that are never
    written. ``U`` has one row more, which holds the solution of ``L z = b_i + b_j``.
    """
    rank, count = b_j.shape
    pad = (rank + 3) // 4 * 4
    A = np.empty((len(A_j) + rank, WIDTH))
    L, U = np.zeros((rank * pad, WIDTH)), np.zeros((rank * pad + pad, WIDTH))
    inverse, entry = np.empty((rank, WIDTH)), np.empty(WIDTH)
    pivots, half = np.empty(WIDTH), np.empty(WIDTH)
    for start in range(0, count, WIDTH):
        width = min(WIDTH, count - start)
        A[:] = 0.0
        A[: len(A_j), :width] = A_j[:, start : start + width]
        A[len(A_j) :, :width] = b_j[:, start : start + width]
        for row in range(b_i.shape[1]):
            half[:] = 0.0
            pivots[:] = 0.0  # product of pivots, minus 1
            for i in range(rank):
                for j in range(i + 2):
                    # Entries (i, 0) to (i, i) of I + A_i + A_j, then entry i of b_i + b_j.
                    matrix = j <= i
                    at = i * (i + 1) // 2 + j if matrix else len(A_j) + i
                    known = A_i[at, row] if matrix else b_i[i, row]
                    p, q, terms = i * pad, (j if matrix else rank) * pad, min(j, i)
                    if terms == 0:
                        for c in range(WIDTH):
                            entry[c] = A[at, c] + known
                    elif terms <= 2:
                        for c in range(WIDTH):
                            entry[c] = (A[at, c] + known) - (L[p, c] * U[q, c] + L[p + 1, c] * U[q + 1, c])
                    else:
                        for c in range(WIDTH):
                            entry[c] = (A[at, c] + known) - (
                                (L[p, c] * U[q, c] + L[p + 1, c] * U[q + 1, c])
                                + (L[p + 2, c] * U[q + 2, c] + L[p + 3, c] * U[q + 3, c])
                            )
                    for k in range(4, terms, 4):
                        if terms - k <= 2:
                            for c in range(WIDTH):
                                entry[c] -= L[p + k, c] * U[q + k, c] + L[p + k + 1, c] * U[q + k + 1, c]
                        else:
                            for c in range(WIDTH):
                                entry[c] -= (L[p + k, c] * U[q + k, c] + L[p + k + 1, c] * U[q + k + 1, c]) + (
                                    L[p + k + 2, c] * U[q + k + 2, c] + L[p + k + 3, c] * U[q + k + 3, c]
                                )
                    if j < i:
                        for c in range(WIDTH):
                            U[p + j, c] = entry[c]
                            L[p + j, c] = entry[c] * inverse[j, c]
                    elif matrix:
                        for c in range(WIDTH):
                            inverse[i, c] = 1 / (1 + entry[c])
                            pivots[c] += entry[c] * (1 + pivots[c])
                    else:
                        for c in range(WIDTH):
                            U[q + i, c] = entry[c]
                            half[c] += entry[c] * entry[c] * inverse[i, c]
                if (i + 1) % flush == 0:
                    for c in range(width):
                        logs[row, start + c] += np.log1p(pivots[c])
                        pivots[c] = 0.0
            for c in range(width):
                quadratic[row, start + c] = half[c] / 2
                product[row, start + c] = pivots[c]
