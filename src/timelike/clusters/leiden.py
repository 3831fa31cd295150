"""leiden: clusters as communities of the neighbour graph, their number found by the resolution."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np

from timelike.base import checks
from timelike.base.arrays import Ints
from timelike.clusters.clustering import Clustering, numbered
from timelike.clusters.graph import nearest_of
from timelike.exceptions import InputError
from timelike.pairs.nearest.graph import nearest_graph
from timelike.pairs.nearest.neighbors import Neighbors

if TYPE_CHECKING:
    from scipy.sparse import csr_array

OBJECTIVES = {"modularity": "modularity", "cpm": "CPM"}
"""What is maximised, and the name that igraph has for it."""


def leiden(
    found: Neighbors,
    resolution: float = 1.0,
    *,
    objective: str = "modularity",
    neighbors: int = 7,
    seed: int = 0,
) -> Clustering:
    """Communities of the neighbour graph, by the Leiden algorithm (Traag, Waltman and van Eck, 2019).

    The graph joins each course to its nearest, as :func:`timelike.spectral` does; every edge has weight one. Moves go
    on until none raises the objective. Needs igraph (``pip install 'timelike[leiden]'``).

    Parameters
    ----------
    found
        From :func:`timelike.neighbors`.
    resolution
        More clusters for larger values. There is no right one: look at several.
    objective
        ``"modularity"``: more edges inside clusters than chance would give; its clusters grow with the number of
        courses, see Fortunato and Barthelemy (2007). ``"cpm"``: clusters in which a share of all possible edges of at
        least `resolution` is there; a useful one is about 7 divided by the size of a typical cluster, or below.
    neighbors
        Nearest courses that each course is joined to.
    seed
        Of the order in which courses are visited; the same seed gives the same clusters.

    Examples
    --------
    >>> import timelike as tl
    >>> from timelike.clusters.nmi import nmi
    >>> courses, truth = tl.simulate.profiles(noise=0.05, seed=1)
    >>> nearest = tl.neighbors(courses, tl.fit(courses), k=7)
    >>> found = leiden(nearest, resolution=0.2)
    >>> found, round(nmi(found, truth), 2)
    (Clustering: 150 courses in 3 clusters (49, 51, 50), leiden, 0.97)
    """
    if objective not in OBJECTIVES:
        raise InputError(f"there is no objective {objective!r}: choose from {', '.join(OBJECTIVES)}.")
    if not (checks.is_number(resolution) and resolution > 0):
        raise InputError(f"resolution is {resolution!r}: expected a number above zero.")
    if not isinstance(found, Neighbors):
        raise InputError(
            f"expected the nearest neighbours of courses, found {type(found).__name__}: make them with "
            "timelike.neighbors(courses, gp)."
        )
    graph = nearest_graph(nearest_of(found, neighbors))
    labels, k = numbered(_communities(graph, resolution, OBJECTIVES[objective], seed))
    return Clustering(labels, found.names, k, "leiden")


def _communities(graph: csr_array, resolution: float, objective: str, seed: int) -> Ints:
    igraph = checks.optional("igraph", "leiden", "leiden needs igraph")
    rows, columns = graph.nonzero()
    once = rows < columns
    edges = np.column_stack([rows[once], columns[once]])
    whole = igraph.Graph(n=graph.shape[0], edges=edges)
    # igraph draws from one generator for the whole process: ours for this call, then Python's own again.
    igraph.set_random_number_generator(random.Random(seed))  # noqa: S311
    try:
        found = whole.community_leiden(objective_function=objective, resolution=resolution, n_iterations=-1)
    finally:
        igraph.set_random_number_generator(random)
    return np.asarray(found.membership)
