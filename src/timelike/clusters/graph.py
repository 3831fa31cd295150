"""Graphs of courses: each joined to its nearest, and all of them connected."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from timelike.base import checks
from timelike.base.arrays import Floats, Ints
from timelike.exceptions import InputError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from timelike.pairs.nearest.neighbors import Neighbors


def neighbor_graph(dissimilarity: Floats, neighbors: int = 7) -> csr_array:
    """The graph that joins each course to its nearest, and its nearest to it, plus a minimum spanning tree.

    The tree keeps the graph in one piece, which normalised cuts need.

    Parameters
    ----------
    dissimilarity : (N, N)
        Symmetric; the diagonal is not looked at.
    neighbors
        Nearest courses of each course; an edge holds if either end has it.

    Returns
    -------
    scipy.sparse.csr_array
        (N, N), symmetric, ones.

    Examples
    --------
    >>> import numpy as np
    >>> places = np.array([0, 1, 3, 7, 15.0])
    >>> neighbor_graph(np.abs(places[:, None] - places), neighbors=1).toarray().astype(int)
    array([[0, 1, 0, 0, 0],
           [1, 0, 1, 0, 0],
           [0, 1, 0, 1, 0],
           [0, 0, 1, 0, 1],
           [0, 0, 0, 1, 0]])
    """
    count = len(dissimilarity)
    checks.whole(neighbors, "neighbors")
    if neighbors >= count:
        raise InputError(f"neighbors is {neighbors}: expected 1 to {count - 1}, with {count} courses.")
    return _undirected(np.concatenate([_edges(nearest(dissimilarity, neighbors)), tree(dissimilarity)], axis=1), count)


def nearest_graph(indices: Ints) -> csr_array:
    """The graph that joins each course to its nearest, given as their positions (N, k), and its nearest to it.

    Examples
    --------
    >>> import numpy as np
    >>> nearest_graph(np.array([[1], [0], [1]])).toarray().astype(int)
    array([[0, 1, 0],
           [1, 0, 1],
           [0, 1, 0]])
    """
    return _undirected(_edges(indices), len(indices))


def nearest_of(found: Neighbors, neighbors: int) -> Ints:
    """Positions of the first so many neighbours of each course, (N, neighbors)."""
    if found.others is not None:
        raise InputError("these are neighbours among other courses: clusters need those of the courses themselves.")
    checks.whole(neighbors, "neighbors")
    count, known = found.indices.shape
    if neighbors > known != count - 1:
        raise InputError(
            f"neighbors is {neighbors}, but the {known} nearest of each course are known: give a number up to {known}, "
            f"or look for more with timelike.neighbors(courses, gp, k={neighbors})."
        )
    return found.indices[:, :neighbors]


def _edges(indices: Ints) -> Ints:
    """From each course to its nearest, (2, N k)."""
    return np.stack([np.repeat(np.arange(len(indices)), indices.shape[1]), indices.ravel()])


def _undirected(edges: Ints, count: int) -> csr_array:
    """The symmetric graph of ones with these edges; an edge that stands twice counts once."""
    from scipy.sparse import csr_array

    both = np.concatenate([edges, edges[::-1]], axis=1).astype(np.int32)  # what scikit-learn's graphs have
    graph = csr_array((np.ones(both.shape[1]), both), shape=(count, count))
    graph.sum_duplicates()
    graph.data[:] = 1
    return graph


def nearest(dissimilarity: Floats, neighbors: int, rows_at_once: int = 1024) -> Ints:
    """The `neighbors` nearest others of each course, in no order, (N, neighbors)."""
    parts = []
    for start in range(0, len(dissimilarity), rows_at_once):
        part = np.array(dissimilarity[start : start + rows_at_once])
        part[np.arange(len(part)), start + np.arange(len(part))] = np.inf
        parts.append(np.argpartition(part, neighbors - 1, axis=1)[:, :neighbors])
    return np.concatenate(parts)


def tree(dissimilarity: Floats) -> Ints:
    """Edges of a minimum spanning tree, (2, N - 1), by Prim's algorithm on the dense matrix.

    Examples
    --------
    >>> import numpy as np
    >>> tree(np.array([[0, 1, 5], [1, 0, 2], [5, 2, 0.0]]))
    array([[0, 1],
           [1, 2]])
    """
    outside = np.array(dissimilarity[0], dtype=float)  # distance to the tree; inf for courses inside
    parent = np.zeros(len(outside), dtype=np.intp)
    outside[0] = np.inf
    inside = np.zeros(len(outside), dtype=bool)
    inside[0] = True
    edges = np.empty((2, len(outside) - 1), dtype=np.intp)
    for step in range(len(outside) - 1):
        new = int(np.argmin(outside))
        edges[:, step] = parent[new], new
        inside[new], outside[new] = True, np.inf
        closer = (dissimilarity[new] < outside) & ~inside
        outside[closer] = dissimilarity[new][closer]
        parent[closer] = new
    return edges
