"""The innermost loop: factor ``I + A_i + A_j`` for a block of pairs, in NumPy, or compiled when Numba is installed.

An engine takes lower triangles of A, row after row, and vectors b, with the course as last index,

    A_i (r (r + 1) / 2, R)    b_i (r, R)    A_j (r (r + 1) / 2, C)    b_j (r, C)

and returns, for all R x C pairs, ``1/2 (b_i + b_j)^T (I + A_i + A_j)^-1 (b_i + b_j)`` and ``log det(I + A_i + A_j)``.
Both engines pass the same tests; :func:`engine` picks one, and ``timelike info`` says which.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

import numpy as np

from timelike.base.arrays import Floats

Engine = Callable[[Floats, Floats, Floats, Floats], tuple[Floats, Floats]]

COMPILE_ABOVE = 5e8
"""Jobs with less work are done in NumPy before the compiler would have started."""
STRAIGHT = 24
"""Up to this rank, compiled code is straight, and there at once; beyond it, straight code takes long to compile."""
PAIRS = 4096
"""Pairs worked on at once in NumPy: enough to hide its overhead, few enough for the cache."""


def engine(work: float = np.inf) -> Engine:
    """The fastest engine that is installed, for a job of so much work: pairs times the cube of the rank."""
    return compiled_engine if work > COMPILE_ABOVE and find_spec("numba") else numpy_engine


def name() -> str:
    """Which engine runs large jobs: "numba" or "numpy"."""
    return "numpy" if engine() is numpy_engine else "numba"


def kept_in() -> str | None:
    """The folder where compiled code for large matrices is kept; None where there is no place, or no compiler."""
    if name() == "numpy":
        return None
    from timelike.pairs.elimination_numba import fill

    return fill.stats.cache_path


def numpy_engine(A_i: Floats, b_i: Floats, A_j: Floats, b_j: Floats) -> tuple[Floats, Floats]:
    """The engine without compiled code: each step of the elimination is done for thousands of pairs at once."""

    def block(rows: slice) -> tuple[Floats, Floats]:
        return eliminate(A_i[:, rows, None] + A_j[:, None], b_i[:, rows, None] + b_j[:, None])

    return _by_rows(block, b_i.shape[1], b_j.shape[1])


def compiled_engine(A_i: Floats, b_i: Floats, A_j: Floats, b_j: Floats) -> tuple[Floats, Floats]:
    """The engine in compiled code, with the loop over pairs innermost: straight code for a rank that is small."""
    from timelike.pairs.elimination_llvm import fill

    flush = flush_every(A_i, A_j, len(b_i))
    logs = None
    if len(b_i) <= min(STRAIGHT, flush):
        quadratic, product = fill(A_i, b_i, A_j, b_j)
    else:
        quadratic, product, logs = _fill_with_logs(A_i, b_i, A_j, b_j, flush)
    # log1p keeps the digits of a determinant near 1; where there is none, log is several times faster.
    if product.min() < 1:
        log_det = np.log1p(product, out=product)
    else:
        product += 1
        log_det = np.log(product, out=product)
    return quadratic, log_det if logs is None else np.add(log_det, logs, out=log_det)


def _fill_with_logs(A_i: Floats, b_i: Floats, A_j: Floats, b_j: Floats, flush: int) -> tuple[Floats, Floats, Floats]:
    """Half squares, products of pivots minus 1, and logarithms of products taken on the way."""
    from timelike.pairs.elimination_numba import fill

    shape = b_i.shape[1], b_j.shape[1]
    quadratic, product, logs = np.empty(shape), np.empty(shape), np.zeros(shape)
    fill(A_i, b_i, A_j, b_j, flush, quadratic, product, logs)
    return quadratic, product, logs


def precise_engine(A_i: Floats, m_i: Floats, A_j: Floats, m_j: Floats) -> tuple[Floats, Floats]:
    """The quadratic part of s itself, and the log determinant, from posterior means m instead of b.

    With ``d = m_j - m_i`` the quadratic part is

        m_i . m_j - 1/2 m_j . m_j - 1/2 d^T A_j d + 1/2 (A_j d + m_j)^T (I + A_i + A_j)^-1 (A_j d + m_j)

    Courses that are alike enter through the difference of their curves, so that nothing large cancels however
    small the noise.
    """

    def block(rows: slice) -> tuple[Floats, Floats]:
        left, right, A = m_i[:, rows, None], m_j[:, None], A_j[:, None]
        d = right - left
        pull = _times(A, d)
        quadratic, log_det = eliminate(A_i[:, rows, None] + A, pull + right)
        return quadratic + (right * (left - right / 2) - d * pull / 2).sum(axis=0), log_det

    return _by_rows(block, m_i.shape[1], m_j.shape[1])


def _by_rows(block: Callable[[slice], tuple[Floats, Floats]], rows: int, cols: int) -> tuple[Floats, Floats]:
    quadratic, log_det = np.empty((rows, cols)), np.empty((rows, cols))
    step = max(1, PAIRS // cols)
    for start in range(0, rows, step):
        span = slice(start, start + step)
        quadratic[span], log_det[span] = block(span)
    return quadratic, log_det


def eliminate(A: Floats, z: Floats) -> tuple[Floats, Floats]:
    """``1/2 z^T (I + A)^-1 z`` and ``log det(I + A)`` by LDL^T, for packed A and z with pairs behind; overwrites both.

    The identity is not added to A but to each pivot, which keeps the digits of an A that is small against it.
    """
    rank = len(z)
    flush = flush_every(A, A, rank)
    quadratic, log_det, product = (np.zeros(z.shape[1:]) for _ in range(3))  # product of pivots, minus 1
    for k in range(rank):
        pivot = A[_at(k, k)]
        inverse = 1 / (1 + pivot)
        product += pivot * (1 + product)
        quadratic += z[k] * z[k] * inverse / 2
        for i in range(k + 1, rank):
            factor = A[_at(i, k)] * inverse
            z[i] -= factor * z[k]
            for j in range(k + 1, i + 1):
                A[_at(i, j)] -= factor * A[_at(j, k)]
        if (k + 1) % flush == 0:
            log_det += np.log1p(product)
            product[...] = 0
    return quadratic, log_det + np.log1p(product)


def flush_every(A_i: Floats, A_j: Floats, rank: int) -> int:
    """How many pivots can be multiplied before their logarithm is taken: few logarithms, and no overflow."""
    diagonal = [_at(k, k) for k in range(rank)]
    largest = 1 + A_i[diagonal].max(initial=0) + A_j[diagonal].max(initial=0)
    return max(1, int(300 / np.log10(largest + 1)))


def _times(A: Floats, d: Floats) -> Floats:
    """Packed symmetric matrices times vectors."""
    rank = len(d)
    rows = [[A[_at(max(i, j), min(i, j))] * d[j] for j in range(rank)] for i in range(rank)]
    return np.stack([np.sum(row, axis=0) for row in rows])


def _at(i: int, j: int) -> int:
    """Place of entry (i, j), j <= i, in a packed lower triangle."""
    return i * (i + 1) // 2 + j
