"""Clusters by any of our methods, under their names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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

AUTO = "auto"
"""The freedoms that pay, in place of their names."""
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


def _evidence(courses: TimeCourses, gp: GP, k: int | None, spread: float | None, **free: Any) -> Clustering:
    return evidence_linkage(courses, gp, k, spread=spread, **free)


def _linked(linkage: str) -> Callable[..., Clustering]:
    return lambda courses, gp, k, **free: hierarchical(similarity(courses, gp, **free), k, linkage)


def _spectral(courses: TimeCourses, gp: GP, k: int, seed: int, **free: Any) -> Clustering:
    return spectral(similarity(courses, gp, **free), k, seed=seed)


def _sparse_spectral(courses: TimeCourses, gp: GP, k: int, seed: int, **free: Any) -> Clustering:
    return spectral(_near(courses, gp, **free), k, seed=seed)


def _leiden(courses: TimeCourses, gp: GP, seed: int, **free: Any) -> Clustering:
    return leiden(_near(courses, gp, **free), seed=seed)


def _near(courses: TimeCourses, gp: GP, **free: Any) -> Neighbors:
    if len(courses) < 2:
        raise InputError("a graph needs at least two courses: use the method mixture.")
    return neighbors(courses, gp, min(GRAPH, len(courses) - 1), **free)


FREE = ("up_to", "max_delay")
"""Settings that every method takes: in what courses may differ and still be alike."""


MIXED = ("k", "max_k", "tolerance", "spread", "robust", "noise", "refine", "seed")
"""Settings of the mixture."""


METHODS = {
    "mixture": Method(_mixture, (*MIXED, *FREE), chooses_k=True),
    "evidence": Method(_evidence, ("k", "spread", *FREE), chooses_k=True),
    "spectral": Method(_spectral, ("k", "seed", *FREE)),
    "sparse-spectral": Method(_sparse_spectral, ("k", "seed", *FREE)),
    "leiden": Method(_leiden, ("seed", *FREE), chooses_k=True),
    "average": Method(_linked("average"), ("k", *FREE)),
    "complete": Method(_linked("complete"), ("k", *FREE)),
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


def check(name: str, k: int | None, spread: float | None, up_to: str | Sequence[str] = ()) -> None:
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
    if up_to == AUTO and name != "mixture":
        raise InputError(f"{name} does not find out which freedoms pay (up_to='auto'): name them, or use mixture.")


def check_tolerance(name: str, k: int | None, tolerance: float | None) -> None:
    """Raise if a method has no tolerance, or both it and a number of clusters are given."""
    if tolerance is None:
        return
    if "tolerance" not in METHODS[name].takes:
        raise InputError(f"{name} has no tolerance: leave it out, or use {taking('tolerance')}.")
    if k is not None:
        raise InputError(f"k is {k} and tolerance {tolerance:g}: give one of them, the other follows.")


def check_max_k(name: str, k: int | None, max_k: int | None) -> None:
    """Raise if a method does not try numbers of clusters, or one is given besides the largest to try."""
    if max_k is None:
        return
    if "max_k" not in METHODS[name].takes:
        raise InputError(f"{name} tries no numbers of clusters: leave max_k out, or use {taking('max_k')}.")
    if k is not None:
        raise InputError(f"k is {k} and max_k {max_k}: give one of them, a number or the largest to try.")
