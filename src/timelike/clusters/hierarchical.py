"""hierarchical: clusters from merging, again and again, the two that are nearest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from timelike.base import checks
from timelike.base.arrays import Floats
from timelike.clusters.clustering import Clustering, numbered
from timelike.clusters.tree import cut_tree
from timelike.exceptions import InputError

if TYPE_CHECKING:
    from timelike.pairs.distance import Distance
    from timelike.pairs.similarity import Similarity

LINKAGES = ("average", "complete", "single")


def hierarchical(similarity_or_distance: Similarity | Distance, k: int, linkage: str = "average") -> Clustering:
    """Clusters from merging, again and again, the two that are nearest.

    Parameters
    ----------
    similarity_or_distance
        From :func:`timelike.similarity` or :func:`timelike.distance`. A similarity is turned into the
        paper's dissimilarity, ``1 + max - S``, so heights in the tree are on that scale.
    k
        Number of clusters.
    linkage
        The distance of two clusters: ``"average"``, ``"complete"`` (largest) or ``"single"`` (least) over the pairs.

    Examples
    --------
    >>> import timelike as tl
    >>> from timelike.pairs.distance import distance
    >>> courses = tl.TimeCourses.from_arrays([0, 1], [[0, 0], [9, 9], [1, 0], [9, 8]])
    >>> found = hierarchical(distance(courses, "euclidean"), k=2)
    >>> found.labels, found.linkage[-1].round(2)
    (array([0, 1, 0, 1]), array([ 4.  ,  5.  , 12.03,  4.  ]))
    """
    from scipy.cluster.hierarchy import linkage as merge
    from scipy.spatial.distance import squareform

    if linkage not in LINKAGES:
        raise InputError(f"there is no linkage {linkage!r}: choose from {', '.join(LINKAGES)}.")
    D = dissimilarities(similarity_or_distance, k)
    merges = np.asarray(merge(squareform(D, checks=False), linkage)) if len(D) > 1 else np.empty((0, 4))
    labels, _ = numbered(cut_tree(merges, k))
    return Clustering(labels, similarity_or_distance.names, k, f"{linkage} linkage", linkage=merges)


def dissimilarities(similarity_or_distance: Similarity | Distance, k: int) -> Floats:
    """The dissimilarities, once it is clear that k clusters can be made of them."""
    if not hasattr(similarity_or_distance, "dissimilarity"):
        raise InputError(
            f"expected a Similarity or a Distance, found {type(similarity_or_distance).__name__}: make one with "
            "timelike.similarity(courses, gp) or timelike.distance(courses, measure)."
        )
    D = similarity_or_distance.dissimilarity()
    checks.whole(k, "k", 1, len(D), "courses")
    return D
