"""Positions of courses in time, from the lags between some of them. Nothing here knows courses."""

from __future__ import annotations

from typing import Any

import numpy as np

from timelike.base.arrays import Floats, Ints
from timelike.pairs.aligned.posterior import wrap


def components(first: Ints, second: Ints, count: int) -> Ints:
    """The component of each course, the largest first."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    graph = csr_array((np.ones(len(first)), (first, second)), shape=(count, count))
    label = connected_components(graph, directed=False)[1]
    rank = np.empty(label.max() + 1, dtype=np.intp)
    rank[np.argsort(-np.bincount(label), kind="stable")] = np.arange(len(rank))
    return rank[label]


def least_squares(first: Ints, second: Ints, lag: Floats, weight: Floats, count: int) -> Floats:
    """Positions p of courses that are joined, with ``p[second] - p[first]`` closest to `lag`; their mean is zero.

    Examples
    --------
    >>> least_squares(np.array([0, 1]), np.array([1, 2]), np.array([1.0, 2.0]), np.ones(2), 3).round(6)
    array([-1.333333, -0.333333,  1.666667])
    """
    from scipy.sparse import coo_array, csr_array
    from scipy.sparse.linalg import spsolve

    weight = weight / weight.max()
    ends = np.concatenate([first, second]), np.concatenate([second, first])
    joined = csr_array(coo_array((np.concatenate([weight, weight]), ends), shape=(count, count)))
    pull = np.bincount(second, weight * lag, count) - np.bincount(first, weight * lag, count)
    degree = np.asarray(joined.sum(axis=1)).ravel()
    laplacian = csr_array(coo_array((degree, (np.arange(count), np.arange(count))), shape=(count, count))) - joined
    solved = np.zeros(count)
    solved[1:] = spsolve(laplacian[1:, 1:].tocsc(), pull[1:])  # the first one stays at zero
    return solved - solved.mean()


def synchronised(first: Ints, second: Ints, angle: Floats, weight: Floats, count: int) -> Floats:
    """Angles a of courses that are joined, with ``a[second] - a[first]`` closest to `angle` on the circle.

    Their circular mean is zero.

    Examples
    --------
    >>> found = synchronised(np.array([0, 1]), np.array([1, 2]), np.array([1.0, 1.0]), np.ones(2), 3)
    >>> found.round(6) + 0.0
    array([-1.,  0.,  1.])
    """
    turned = _rotations(first, second, weight * np.exp(1j * angle), count)
    leading = _leading(turned, count)
    direction = leading / np.abs(leading)
    return np.angle(direction * np.conj(direction.sum()))


def _rotations(first: Ints, second: Ints, weighted: Any, count: int) -> Any:
    """The Hermitian matrix of rotations, its rows and columns scaled by the weights of the courses."""
    from scipy.sparse import coo_array, csr_array

    weight = np.abs(weighted)
    degree = np.bincount(first, weight, count) + np.bincount(second, weight, count)
    scale = 1 / np.sqrt(degree[first] * degree[second])
    ends = np.concatenate([second, first]), np.concatenate([first, second])
    return csr_array(coo_array((np.concatenate([scale * weighted, scale * weighted.conj()]), ends), (count, count)))


def _leading(matrix: Any, count: int) -> Any:
    from scipy.sparse.linalg import eigsh

    if count <= 500:
        return np.linalg.eigh(matrix.toarray())[1][:, -1]
    return eigsh(matrix, k=1, which="LA", v0=np.ones(count, dtype=complex))[1][:, 0]


def mean_and_error(times: Floats, period: float | None) -> tuple[float, float]:
    """Mean position and its standard error; of phases, on the circle."""
    if period is None:
        spread = float(np.std(times, ddof=1)) if len(times) > 1 else np.nan
        return float(times.mean()), spread / np.sqrt(len(times))
    direction = np.exp(2j * np.pi * times / period).mean()
    mean = float(np.angle(direction)) * period / (2 * np.pi)
    return mean, mean_and_error(wrap(times - mean, period), None)[1]
