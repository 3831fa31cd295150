"""The nearest courses of each as a sparse matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from timelike.base.arrays import Floats, Ints

if TYPE_CHECKING:
    from scipy.sparse import csr_array, csr_matrix


def directed_graph(indices: Ints, values: Floats, width: int) -> csr_matrix:
    """The matrix with `values` (N, k) in the columns `indices` (N, k) of each of N rows, in the order given.

    A csr_matrix has the narrowest indices that hold its size: 32 bits, as scikit-learn's graphs have.
    """
    from scipy.sparse import csr_matrix

    count, k = indices.shape
    parts = values.ravel(), indices.ravel(), k * np.arange(count + 1)
    return csr_matrix(parts, shape=(count, width), copy=True)  # who sorts the graph does not sort its neighbours


def nearest_graph(indices: Ints) -> csr_array:
    """The graph that joins each course to its nearest, given as their positions (N, k), and its nearest to it.

    Ones; an edge holds if either end has it, and counts once if it stands twice.

    Examples
    --------
    >>> nearest_graph(np.array([[1, 1], [0, 2], [1, 1]])).toarray().astype(int)
    array([[0, 1, 0],
           [1, 0, 1],
           [0, 1, 0]])
    """
    from scipy.sparse import csr_array

    one_way = csr_array(directed_graph(indices, np.ones(indices.shape), len(indices)))
    one_way.sum_duplicates()
    one_way.data[:] = 1
    return one_way.maximum(one_way.T).tocsr()


def pruned_graph(rows: Ints, cols: Ints, count: int, others: int | None = None) -> csr_array:
    """The graph with these edges, ones: (count, count) and symmetric, or (count, others).

    Examples
    --------
    >>> pruned_graph(np.array([0]), np.array([2]), 3).toarray().astype(int)
    array([[0, 0, 1],
           [0, 0, 0],
           [1, 0, 0]])
    """
    from scipy.sparse import csr_array

    one_way = csr_array((np.ones(len(rows)), (rows, cols)), shape=(count, count if others is None else others))
    return one_way if others is not None else one_way.maximum(one_way.T).tocsr()
