"""A tree of merges, cut."""

from __future__ import annotations

import numpy as np

from timelike.base.arrays import Floats, Ints


def cut_tree(merges: Floats, k: int) -> Ints:
    """Labels after all but the last ``k - 1`` merges of a SciPy linkage matrix: exactly k, ties or not.

    Examples
    --------
    >>> cut_tree(np.array([[0, 1, 1, 2], [2, 3, 5, 3.0]]), 2)
    array([0, 0, 1], dtype=int32)
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    count = len(merges) + 1
    kept = merges[: count - k, :2].astype(np.intp)
    made = count + np.arange(len(kept))
    edges = (np.ones(2 * len(kept)), (np.tile(made, 2), kept.T.ravel()))
    size = count + len(kept)
    return np.asarray(connected_components(coo_array(edges, shape=(size, size)), directed=False)[1][:count])
