"""Clusters from a matrix of similarities or distances: normalised cuts, and agglomeration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from timelike.base import checks, notebook
from timelike.base.arrays import Floats, Ints
from timelike.base.checks import counted
from timelike.clusters.graph import nearest_graph, neighbor_graph
from timelike.clusters.normalised_cut import cut
from timelike.exceptions import DataWarning, InputError, warn

if TYPE_CHECKING:
    import pandas as pd
    from scipy.sparse import csr_array

    from timelike.pairs.distance import Distance
    from timelike.pairs.nearest.neighbors import Neighbors
    from timelike.pairs.similarity import Similarity

LINKAGES = ("average", "complete", "single")
SPARSE_ABOVE = 5000
"""From so many courses on, Lanczos iterations find the eigenvectors: factors of a large graph fill up with numbers."""


@dataclass(frozen=True, eq=False)
class Clustering:
    """Which course is in which cluster.

    Attributes
    ----------
    labels : (N,) int
        Clusters are numbered from 0; -1 is "in none".
    names : tuple of str
    k : int
        Number of clusters.
    method : str
        How they were found.
    probabilities : (N, k) or None
        Of each course to belong to each cluster, where the method knows them.
    linkage : (N - 1, 4) or None
        The tree of merges, as SciPy draws and cuts it.
    evidence : mapping or None
        For each candidate number of clusters what speaks for it, where the number was chosen.
    """

    labels: Ints
    names: tuple[str, ...]
    k: int
    method: str
    probabilities: Floats | None = None
    linkage: Floats | None = None
    evidence: dict[int, float] | None = None

    def __repr__(self) -> str:
        sizes = ", ".join(map(str, self.sizes[:12])) + (", ..." if self.k > 12 else "")
        none = int((self.labels < 0).sum())
        rest = f" and {none:,} in none" if none else ""
        found = f"{counted(len(self.names), 'course')} in {counted(self.k, 'cluster')} ({sizes}){rest}"
        return f"Clustering: {found}, {self.method}"

    def _repr_html_(self) -> str:
        return notebook.clusters(self)

    @property
    def sizes(self) -> Ints:
        """Number of courses in each cluster, (k,)."""
        return np.bincount(self.labels[self.labels >= 0], minlength=self.k)

    def to_frame(self) -> pd.DataFrame:
        """Table with columns name and cluster, and the probability of that cluster where it is known."""
        import pandas as pd

        frame = pd.DataFrame({"name": list(self.names), "cluster": self.labels})
        if self.probabilities is not None:
            none = 1 - self.probabilities.sum(axis=1)
            frame["probability"] = np.where(self.labels < 0, none, self.probabilities.max(axis=1))
        return frame


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
    labels, found = numbered(np.zeros(graph.shape[0]) if k == 1 else _cut(graph, k, seed))
    if found < k:
        message = f"asked for {k} clusters, the cut gave {found}: fewer clusters, or more neighbors, suit the data."
        warn(message, DataWarning)
    return Clustering(labels, similarity_or_neighbors.names, found, "spectral")


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
    if linkage not in LINKAGES:
        raise InputError(f"there is no linkage {linkage!r}: choose from {', '.join(LINKAGES)}.")
    D = _matrix(similarity_or_distance, k)
    merges = _merges(D, linkage)
    labels, _ = numbered(cut_tree(merges, k))
    return Clustering(labels, similarity_or_distance.names, k, f"{linkage} linkage", linkage=merges)


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


def numbered(labels: NDArray[Any]) -> tuple[Ints, int]:
    """The labels as 0, 1, ... in the order in which clusters first appear, and how many there are.

    Examples
    --------
    >>> numbered(np.array([7, 7, 2, 7, 5]))
    (array([0, 0, 1, 0, 2]), 3)
    """
    _, first, code = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[code.ravel()], len(first)


def _matrix(similarity_or_distance: Similarity | Distance, k: int) -> Floats:
    """The dissimilarities, once it is clear that k clusters can be made of them."""
    if not hasattr(similarity_or_distance, "dissimilarity"):
        raise InputError(
            f"expected a Similarity or a Distance, found {type(similarity_or_distance).__name__}: make one with "
            "timelike.similarity(courses, gp) or timelike.distance(courses, measure)."
        )
    D = similarity_or_distance.dissimilarity()
    checks.whole(k, "k", 1, len(D), "courses")
    return D


def _graph(source: Similarity | Distance | Neighbors, k: int, neighbors: int) -> csr_array:
    """The graph to cut, once it is clear that k clusters can be made of it."""
    if not hasattr(source, "indices"):
        D = _matrix(source, k)
        checks.whole(neighbors, "neighbors")
        return neighbor_graph(D, min(neighbors, len(D) - 1)) if len(D) > 1 else nearest_graph(np.empty((1, 0), np.intp))
    checks.whole(k, "k", 1, len(source.names), "courses")
    return nearest_graph(nearest_of(cast("Neighbors", source), neighbors))


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


def _cut(graph: csr_array, k: int, seed: int) -> Ints:
    from scipy.sparse.csgraph import connected_components
    from sklearn.cluster import spectral_clustering

    if graph.shape[0] >= SPARSE_ABOVE or connected_components(graph, directed=False)[0] > 1:
        return cut(graph, k, seed)
    # Under this name scikit-learn also solves very small problems, densely, where ARPACK cannot.
    solver = "arpack" if 5 * k < graph.shape[0] else "lobpcg"
    labels = spectral_clustering(
        graph, n_clusters=k, eigen_solver=solver, assign_labels="discretize", random_state=seed
    )
    return np.asarray(labels)


def _merges(D: Floats, linkage: str) -> Floats:
    from scipy.cluster.hierarchy import linkage as merge
    from scipy.spatial.distance import squareform

    if len(D) == 1:
        return np.empty((0, 4))
    return np.asarray(merge(squareform(D, checks=False), linkage))
