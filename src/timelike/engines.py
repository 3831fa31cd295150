"""The innermost loop: factor ``I + A_i + A_j`` for a block of pairs, in NumPy, or compiled when Numba is installed.

Both engines do the same arithmetic in the same order and pass the same tests; :func:`engine` picks one, and
``timelike info`` says which.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.util import find_spec

import numpy as np

from timelike.arrays import Floats

Engine = Callable[[Floats, Floats, Floats, Floats], tuple[Floats, Floats]]

PAIRS = 4096
"""Pairs worked on at once by the NumPy engine: enough to hide its overhead, few enough for the cache."""


@cache
def engine() -> Engine:
    """The fastest engine that is installed."""
    return numba_engine() if find_spec("numba") else numpy_engine


def name() -> str:
    """Which engine runs: "numba" or "numpy"."""
    return "numpy" if engine() is numpy_engine else "numba"


def numpy_engine(A_i: Floats, m_i: Floats, A_j: Floats, m_j: Floats) -> tuple[Floats, Floats]:
    """Quadratic part of the similarity and ``log det(I + A_i + A_j)``, for all pairs of columns.

    Parameters
    ----------
    A_i, A_j : (r (r + 1) / 2, R) and (r (r + 1) / 2, C)
        Lower triangles, row after row.
    m_i, m_j : (r, R) and (r, C)
        Posterior means.

    Returns
    -------
    quadratic, log_det : (R, C)
    """
    shape = m_i.shape[1], m_j.shape[1]
    quadratic, log_det = np.empty(shape), np.empty(shape)
    step = max(1, PAIRS // shape[1])
    for start in range(0, shape[0], step):
        rows = slice(start, start + step)
        quadratic[rows], log_det[rows] = _block(A_i[:, rows, None], m_i[:, rows, None], A_j[:, None], m_j[:, None])
    return quadratic, log_det


def _block(A_i: Floats, m_i: Floats, A_j: Floats, m_j: Floats) -> tuple[Floats, Floats]:
    rank = len(m_i)
    d = m_j - m_i
    rhs = _times(A_j, d) + m_j  # A_j d + m_j
    quadratic = (m_j * (m_i - m_j / 2) - d * (rhs - m_j) / 2).sum(axis=0)
    B = A_i + A_j  # without the identity, which is added to each pivot: keeps the digits of a small A
    determinant = np.zeros(quadratic.shape)  # det(I + A_i + A_j) - 1, so far
    log_det = np.zeros(quadratic.shape)
    for k in range(rank):
        pivot = B[_at(k, k)]
        inverse = 1 / (1 + pivot)
        determinant += pivot * (1 + determinant)
        quadratic += rhs[k] * rhs[k] * inverse / 2
        for i in range(k + 1, rank):
            factor = B[_at(i, k)] * inverse
            rhs[i] -= factor * rhs[k]
            for j in range(k + 1, i + 1):
                B[_at(i, j)] -= factor * B[_at(j, k)]
        if k % 8 == 7:  # before a product of many pivots overflows
            log_det += np.log1p(determinant)
            determinant[...] = 0
    return quadratic, log_det + np.log1p(determinant)


def _times(A: Floats, d: Floats) -> Floats:
    """Packed symmetric matrices times vectors."""
    rank = len(d)
    return np.stack([sum(A[_at(max(i, j), min(i, j))] * d[j] for j in range(rank)) for i in range(rank)])


def _at(i: int, j: int) -> int:
    """Place of entry (i, j), j <= i, in a packed lower triangle."""
    return i * (i + 1) // 2 + j


@cache
def numba_engine() -> Engine:
    """The compiled engine: the loop over pairs inside, so that it vectorises."""
    from numba import njit

    def loops(A_i, m_i, A_j, m_j, quadratic, log_det):  # type: ignore[no-untyped-def]  # compiled, not typed
        rank, count = m_j.shape
        B, rhs, d = np.empty_like(A_j), np.empty_like(m_j), np.empty_like(m_j)
        inverse, factor, determinant = np.empty(count), np.empty(count), np.empty(count)
        for row in range(m_i.shape[1]):
            out = quadratic[row]
            for c in range(count):
                out[c] = 0.0
                determinant[c] = 0.0
                log_det[row, c] = 0.0
            for k in range(rank):
                m = m_i[k, row]
                for c in range(count):
                    d[k, c] = m_j[k, c] - m
                    rhs[k, c] = 0.0
            at = 0
            for i in range(rank):
                for j in range(i + 1):
                    a = A_i[at, row]
                    if j < i:
                        for c in range(count):
                            rhs[j, c] += A_j[at, c] * d[i, c]
                    for c in range(count):
                        rhs[i, c] += A_j[at, c] * d[j, c]
                        B[at, c] = A_j[at, c] + a
                    at += 1
            for k in range(rank):
                m = m_i[k, row]
                for c in range(count):
                    out[c] += m_j[k, c] * (m - m_j[k, c] / 2) - d[k, c] * rhs[k, c] / 2
                    rhs[k, c] += m_j[k, c]
            for k in range(rank):
                kk = k * (k + 3) // 2
                for c in range(count):
                    pivot = B[kk, c]
                    inverse[c] = 1 / (1 + pivot)
                    determinant[c] += pivot * (1 + determinant[c])
                    out[c] += rhs[k, c] * rhs[k, c] * inverse[c] / 2
                for i in range(k + 1, rank):
                    start = i * (i + 1) // 2
                    for c in range(count):
                        factor[c] = B[start + k, c] * inverse[c]
                        rhs[i, c] -= factor[c] * rhs[k, c]
                    for j in range(k + 1, i + 1):
                        other = j * (j + 1) // 2 + k
                        for c in range(count):
                            B[start + j, c] -= factor[c] * B[other, c]
                if k % 8 == 7:
                    for c in range(count):
                        log_det[row, c] += np.log1p(determinant[c])
                        determinant[c] = 0.0
            for c in range(count):
                log_det[row, c] += np.log1p(determinant[c])

    compiled = njit(nogil=True, error_model="numpy", cache=True)(loops)

    def run(A_i: Floats, m_i: Floats, A_j: Floats, m_j: Floats) -> tuple[Floats, Floats]:
        shape = m_i.shape[1], m_j.shape[1]
        quadratic, log_det = np.empty(shape), np.empty(shape)
        compiled(A_i, m_i, A_j, m_j, quadratic, log_det)
        return quadratic, log_det

    return run
