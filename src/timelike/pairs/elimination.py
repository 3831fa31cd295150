"""The innermost loop: factor ``I + A_i + A_j`` for a block of pairs, in NumPy, or compiled when Numba is installed.

An engine takes the courses of the rows and those of the columns, each a :class:`Side`, and writes for all R x C pairs
the gain of one curve for both,

    E(A_i + A_j, b_i + b_j) - own_i - own_j    with    E(A, b) = 1/2 b^T (I + A)^-1 b - 1/2 log det(I + A)

Both engines pass the same tests; :func:`engine` picks one, and ``timelike info`` says which.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np

from timelike.base.arrays import Floats


class Side(NamedTuple):
    """Courses of the rows, or of the columns, with the course as last index.

    Attributes
    ----------
    A : (r (r + 1) / 2, n)
        Lower triangles of the information, row after row.
    b : (r, n)
    own : (n,)
        The evidence of each course alone.
    """

    A: Floats
    b: Floats
    own: Floats


Engine = Callable[[Side, Side, Floats], None]

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


def numpy_engine(left: Side, right: Side, out: Floats) -> None:
    """The engine without compiled code: each step of the elimination is done for thousands of pairs at once."""

    def block(rows: slice) -> Floats:
        return evidence(left.A[:, rows, None] + right.A[:, None], left.b[:, rows, None] + right.b[:, None])

    _by_rows(block, left, right, out)


def compiled_engine(left: Side, right: Side, out: Floats) -> None:
    """The engine in compiled code, with the loop over pairs innermost: straight code for a rank that is small."""
    if not out.size:
        return
    flush = flush_every(left.A, right.A, len(left.b))
    if len(left.b) > min(STRAIGHT, flush):
        _with_logs(left, right, flush, out)
        return
    from timelike.pairs.elimination_llvm import fill

    fill(left, right, out)


def _with_logs(left: Side, right: Side, flush: int, out: Floats) -> None:
    """The same, with logarithms of products of pivots that are taken on the way."""
    from timelike.pairs.elimination_numba import fill

    sides = (np.ascontiguousarray(part) for part in (left.A, left.b, right.A, right.b))
    quadratic, product, logs = np.empty(out.shape), np.empty(out.shape), np.zeros(out.shape)
    fill(*sides, flush, quadratic, product, logs)
    # log1p keeps the digits of a determinant near 1; where there is none, log is several times faster.
    if product.min() < 1:
        logs += np.log1p(product, out=product)
    else:
        product += 1
        logs += np.log(product, out=product)
    quadratic -= logs / 2
    np.subtract(quadratic, left.own[:, None] + right.own, out=out)


def precise_engine(left: Side, right: Side, out: Floats) -> None:
    """The similarity itself, from posterior means in the place of b, and half the negative log determinants as `own`.

    With ``d = m_j - m_i`` its quadratic part is

        m_i . m_j - 1/2 m_j . m_j - 1/2 d^T A_j d + 1/2 (A_j d + m_j)^T (I + A_i + A_j)^-1 (A_j d + m_j)

    Courses that are alike enter through the difference of their curves, so that nothing large cancels however
    small the noise.
    """

    def block(rows: slice) -> Floats:
        m_i, m_j, A = left.b[:, rows, None], right.b[:, None], right.A[:, None]
        d = m_j - m_i
        pull = times(A, d)
        found = evidence(left.A[:, rows, None] + A, pull + m_j)
        return found + (m_j * (m_i - m_j / 2) - d * pull / 2).sum(axis=0)

    _by_rows(block, left, right, out)


def _by_rows(block: Callable[[slice], Floats], left: Side, right: Side, out: Floats) -> None:
    step = max(1, PAIRS // max(1, len(right.own)))
    for start in range(0, len(out), step):
        rows = slice(start, start + step)
        np.subtract(block(rows), left.own[rows, None] + right.own, out=out[rows])


def evidence(A: Floats, z: Floats) -> Floats:
    """``E(A, z)`` for packed A and z with pairs behind; overwrites both."""
    quadratic, log_det = eliminate(A, z)
    return quadratic - log_det / 2


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


def times(A: Floats, d: Floats) -> Floats:
    """Packed symmetric matrices times vectors."""
    rank = len(d)
    rows = [[A[_at(max(i, j), min(i, j))] * d[j] for j in range(rank)] for i in range(rank)]
    return np.stack([np.sum(row, axis=0) for row in rows])


def _at(i: int, j: int) -> int:
    """Place of entry (i, j), j <= i, in a packed lower triangle."""
    return i * (i + 1) // 2 + j
