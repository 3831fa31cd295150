"""Clusters by any of our methods, under their names."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from timelike.clusters.clustering import Clustering
from timelike.clusters.curves.evidence_linkage import evidence_linkage
from timelike.clusters.curves.mixture import mixture
from timelike.clusters.hierarchical import hierarchical
from timelike.clusters.leiden import leiden
from timelike.clusters.spectral import spectral
from timelike.courses import TimeCourses
from timelike.exceptions import InputError
from timelike.gp import GP
from timelike.pairs.nearest.neighbors import Neighbors, neighbors
from timelike.pairs.similarity import similarity


class Grouping(NamedTuple):
    """How courses are grouped; see :class:`timelike.runs.recipe.Recipe`, which has the same words."""

    method: str = "mixture"
    k: int | None = None
    spread: float | None = None
    robust: bool = True
    seed: int = 0


Method = Callable[[TimeCourses, GP, Grouping], Clustering]


def _mixed(courses: TimeCourses, gp: GP, how: Grouping) -> Clustering:
    return mixture(courses, gp, how.k, spread=how.spread, robust=how.robust, seed=how.seed)


def _linked(linkage: str) -> Method:
    return lambda courses, gp, how: hierarchical(similarity(courses, gp), how.k or 1, linkage)


def _near(courses: TimeCourses, gp: GP) -> Neighbors:
    if len(courses) < 2:
        raise InputError("a graph needs at least two courses: use the method mixture.")
    return neighbors(courses, gp, min(GRAPH, len(courses) - 1))


METHODS: dict[str, Method] = {
    "mixture": _mixed,
    "evidence": lambda courses, gp, how: evidence_linkage(courses, gp, how.k, spread=how.spread or 0.0),
    "spectral": lambda courses, gp, how: spectral(similarity(courses, gp), how.k or 1, seed=how.seed),
    "sparse-spectral": lambda courses, gp, how: spectral(_near(courses, gp), how.k or 1, seed=how.seed),
    "leiden": lambda courses, gp, how: leiden(_near(courses, gp), seed=how.seed),
    "average": _linked("average"),
    "complete": _linked("complete"),
}
"""Name -> function of courses, model, and how they are grouped."""
CHOOSE_K = ("mixture", "evidence", "leiden")
WITH_SPREAD = ("mixture", "evidence")
GRAPH = 7
"""Nearest courses that each course is joined to, as in the paper."""


def group(courses: TimeCourses, gp: GP, how: Grouping) -> Clustering:
    """Clusters of the courses by one of :data:`METHODS`."""
    check(how)
    return METHODS[how.method](courses, gp, how)


def check(how: Grouping) -> None:
    """Raise if there is no such method, or it needs what is not there, or cannot use what is."""
    method = how.method
    if method not in METHODS:
        raise InputError(f"there is no method {method!r}: choose from {', '.join(METHODS)}.")
    if how.k is None and method not in CHOOSE_K:
        raise InputError(f"{method} does not choose the number of clusters: give k, or use {' or '.join(CHOOSE_K)}.")
    if how.k is not None and method == "leiden":
        raise InputError("leiden finds the number of clusters itself: leave k out, or use another method.")
    if how.spread is not None and method not in WITH_SPREAD:
        raise InputError(f"{method} has no spread: leave it out, or use {' or '.join(WITH_SPREAD)}.")
    if not how.robust and method != "mixture":
        raise InputError(f"{method} never leaves out values: robust=False (--no-robust) is for mixture only.")
