"""Clusters by any of our methods, under their names."""

from __future__ import annotations

from collections.abc import Callable

from timelike.clusters import Clustering, hierarchical, spectral
from timelike.communities import leiden
from timelike.courses import TimeCourses
from timelike.evidence_tree import evidence_linkage
from timelike.exceptions import InputError
from timelike.gp import GP
from timelike.mixtures import mixture
from timelike.neighborhoods import Neighbors, neighbors
from timelike.similarities import similarity

Method = Callable[[TimeCourses, GP, int | None, int], Clustering]


def _linked(linkage: str) -> Method:
    return lambda courses, gp, k, _: hierarchical(similarity(courses, gp), k or 1, linkage)


def _near(courses: TimeCourses, gp: GP) -> Neighbors:
    if len(courses) < 2:
        raise InputError("a graph needs at least two courses: use the method mixture.")
    return neighbors(courses, gp, min(GRAPH, len(courses) - 1))


METHODS: dict[str, Method] = {
    "mixture": lambda courses, gp, k, seed: mixture(courses, gp, k, seed=seed),
    "evidence": lambda courses, gp, k, _: evidence_linkage(courses, gp, k),
    "spectral": lambda courses, gp, k, seed: spectral(similarity(courses, gp), k or 1, seed=seed),
    "sparse-spectral": lambda courses, gp, k, seed: spectral(_near(courses, gp), k or 1, seed=seed),
    "leiden": lambda courses, gp, _, seed: leiden(_near(courses, gp), seed=seed),
    "average": _linked("average"),
    "complete": _linked("complete"),
}
"""Name -> function of courses, model, number of clusters (None: chosen) and seed."""
CHOOSE_K = ("mixture", "evidence", "leiden")
GRAPH = 7
"""Nearest courses that each course is joined to, as in the paper."""


def group(courses: TimeCourses, gp: GP, method: str = "mixture", k: int | None = None, seed: int = 0) -> Clustering:
    """Clusters of the courses by one of :data:`METHODS`."""
    check(method, k)
    return METHODS[method](courses, gp, k, seed)


def check(method: str, k: int | None) -> None:
    """Raise if there is no such method, or it needs a number of clusters."""
    if method not in METHODS:
        raise InputError(f"there is no method {method!r}: choose from {', '.join(METHODS)}.")
    if k is None and method not in CHOOSE_K:
        raise InputError(f"{method} does not choose the number of clusters: give k, or use {' or '.join(CHOOSE_K)}.")
    if k is not None and method == "leiden":
        raise InputError("leiden finds the number of clusters itself: leave k out, or use another method.")
