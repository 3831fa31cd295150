"""Clusters by any of our methods, under their names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

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

GRAPH = 7
"""Nearest courses that each course is joined to, as in the paper."""


class Method(NamedTuple):
    """A way to group courses."""

    run: Callable[..., Clustering]
    """Function of courses, model, and the settings that it takes, by name."""
    takes: tuple[str, ...]
    """Names of these settings."""
    chooses_k: bool = False
    """Whether it finds a number of clusters where none is given."""


def _mixture(courses: TimeCourses, gp: GP, *, refine: bool, **settings: Any) -> Clustering:
    return mixture(courses, gp, refine="auto" if refine else False, **settings)


def _evidence(courses: TimeCourses, gp: GP, k: int | None, spread: float | None) -> Clustering:
    return evidence_linkage(courses, gp, k, spread=spread or 0.0)


def _linked(linkage: str) -> Callable[..., Clustering]:
    return lambda courses, gp, k: hierarchical(similarity(courses, gp), k, linkage)


def _near(courses: TimeCourses, gp: GP) -> Neighbors:
    if len(courses) < 2:
        raise InputError("a graph needs at least two courses: use the method mixture.")
    return neighbors(courses, gp, min(GRAPH, len(courses) - 1))


METHODS = {
    "mixture": Method(_mixture, ("k", "spread", "robust", "noise", "refine", "seed"), chooses_k=True),
    "evidence": Method(_evidence, ("k", "spread"), chooses_k=True),
    "spectral": Method(lambda courses, gp, k, seed: spectral(similarity(courses, gp), k, seed=seed), ("k", "seed")),
    "sparse-spectral": Method(lambda courses, gp, k, seed: spectral(_near(courses, gp), k, seed=seed), ("k", "seed")),
    "leiden": Method(lambda courses, gp, seed: leiden(_near(courses, gp), seed=seed), ("seed",), chooses_k=True),
    "average": Method(_linked("average"), ("k",)),
    "complete": Method(_linked("complete"), ("k",)),
}
"""One table for errors, command line and tests."""


def taking(setting: str) -> str:
    """The methods that take a setting, in words.

    Examples
    --------
    >>> taking("spread")
    'mixture or evidence'
    """
    return " or ".join(name for name, method in METHODS.items() if setting in method.takes)


def check(name: str, k: int | None, spread: float | None) -> None:
    """Raise if there is no such method, or it needs what is not there, or cannot use what is."""
    if name not in METHODS:
        raise InputError(f"there is no method {name!r}: choose from {', '.join(METHODS)}.")
    method = METHODS[name]
    if k is None and not method.chooses_k:
        choosing = " or ".join(other for other in METHODS if METHODS[other].chooses_k)
        raise InputError(f"{name} does not choose the number of clusters: give k, or use {choosing}.")
    if k is not None and "k" not in method.takes:
        raise InputError(f"{name} finds the number of clusters itself: leave k out, or use another method.")
    if spread is not None and "spread" not in method.takes:
        raise InputError(f"{name} has no spread: leave it out, or use {taking('spread')}.")
