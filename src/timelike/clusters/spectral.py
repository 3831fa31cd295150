"""spectral: clusters that cut the fewest edges of the neighbour graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from timelike.base import checks
from timelike.clusters.clustering import Clustering, numbered
from timelike.clusters.graph import nearest_of, neighbor_graph
from timelike.clusters.hierarchical import dissimilarities
from timelike.clusters.normalised_cut import cut
from timelike.exceptions import DataWarning, warn
from timelike.pairs.nearest.graph import nearest_graph
from timelike.pairs.nearest.neighbors import Neighbors

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from timelike.pairs.distance import Distance
    from timelike.pairs.similarity import Similarity


def spectral(
    similarity_or_neighbors: Similarity | Distance | Neighbors, k: int, neighbors: int = 7, seed: int = 0
) -> Clustering:
    """Clusters that cut the fewest edges of the neighbour graph: multiclass normalised cuts.

    The graph joins each course to its `neighbors` nearest and is completed by a minimum spanning tree; the
    eigenvectors of its Laplacian are rotated towards indicators of clusters (Yu and Shi, 2003).

    From nearest neighbours (:func:`timelike.neighbors`) the graph is that of the neighbours alone: a spanning tree over
    all pairs would need all pairs. The result is the same where that tree adds no edge. It differs where the graph
    falls into pieces, which the tree would join: here no cut between them is needed, every piece is at least one
    cluster, and more pieces than `k` are an error.

    Parameters
    ----------
    similarity_or_neighbors
        From :func:`timelike.similarity`, :func:`timelike.distance` or, for many courses, :func:`timelike.neighbors`.
    k
        Number of clusters.
    neighbors
        Nearest courses that each course is joined to; all others, where there are not so many.
    seed
        Where the search for the rotation starts; the same seed gives the same clusters.

    Examples
    --------
    >>> import timelike as tl
    >>> from timelike.clusters.nmi import nmi
    >>> courses, truth = tl.simulate.profiles(noise=0.05, seed=1)
    >>> found = spectral(tl.similarity(courses, tl.fit(courses)), k=3)
    >>> found, round(nmi(found, truth), 2)
    (Clustering: 150 courses in 3 clusters (50, 50, 50), spectral, 1.0)
    """
    graph = _graph(similarity_or_neighbors, k, neighbors)
    labels, found = numbered(np.zeros(graph.shape[0]) if k == 1 else cut(graph, k, seed))
    if found < k:
        message = f"asked for {k} clusters, the cut gave {found}: fewer clusters, or more neighbors, suit the data."
        warn(message, DataWarning)
    return Clustering(labels, similarity_or_neighbors.names, found, "spectral")


def _graph(source: Similarity | Distance | Neighbors, k: int, neighbors: int) -> csr_array:
    """The graph to cut, once it is clear that k clusters can be made of it."""
    if not isinstance(source, Neighbors):
        D = dissimilarities(source, k)
        checks.whole(neighbors, "neighbors")
        return neighbor_graph(D, min(neighbors, len(D) - 1)) if len(D) > 1 else nearest_graph(np.empty((1, 0), np.intp))
    checks.whole(k, "k", 1, len(source.names), "courses")
    return nearest_graph(nearest_of(source, neighbors))
