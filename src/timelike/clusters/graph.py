"""Graphs of courses: each joined to its nearest, and all of them connected."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from timelike.base import checks
from timelike.base.arrays import Floats, Ints
from timelike.exceptions import InputError
from timelike.pairs.nearest.graph import nearest_graph

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
    return nearest_graph(np.column_stack([nearest(dissimilarity, neighbors), tree(dissimilarity)]))


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


def nearest(dissimilarity: Floats, neighbors: int, rows_at_once: int = 1024) -> Ints:
    """The `neighbors` nearest others of each course, in no order, (N, neighbors)."""
    parts = []
    for start in range(0, len(dissimilarity), rows_at_once):
        part = np.array(dissimilarity[start : start + rows_at_once])
        part[np.arange(len(part)), start + np.arange(len(part))] = np.inf
        parts.append(np.argpartition(part, neighbors - 1, axis=1)[:, :neighbors])
    return np.concatenate(parts)


def tree(dissimilarity: Floats) -> Ints:
    """A minimum spanning tree, as the course that each is joined to, (N,), by Prim's algorithm on the dense matrix.

    Examples
    --------
    >>> import numpy as np
    >>> tree(np.array([[0, 1, 5], [1, 0, 2], [5, 2, 0.0]]))
    array([1, 0, 1])
    """
    outside = np.array(dissimilarity[0], dtype=float)  # distance to the tree; inf for courses inside
    outside[0] = np.inf
    inside = np.arange(len(outside)) == 0
    parent = np.zeros(len(outside), dtype=np.intp)
    parent[0] = np.argmin(outside)  # the first one has no parent: it is joined to its first child
    for _ in range(len(outside) - 1):
        new = int(np.argmin(outside))
        inside[new], outside[new] = True, np.inf
        closer = (dissimilarity[new] < outside) & ~inside
        outside[closer] = dissimilarity[new][closer]
        parent[closer] = new
    return parent
