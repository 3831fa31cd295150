"""Borders between clusters: which of them wide gaps keep apart, and which run into each other, a matter of taste."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from timelike.base.arrays import Floats, Ints
from timelike.base.checks import listed
from timelike.clusters.curves.granularity import GAP

SURE = 0.8
"""A course is sure of its cluster from this probability on."""
NAMED = 6
"""So many pairs of clusters are named in a sentence; more are counted."""


class Border(NamedTuple):
    """How a cluster lies beside the nearest other one.

    Attributes
    ----------
    nearest : int
        The other cluster; -1 where there is none.
    gap : float
        Root mean square difference of the nearest two curves of the two, among the finest clusters that they were
        merged of; in units of the values.
    within : float
        The widest such gap within the two; where neither was merged of several, within any cluster; 0 where none was.
    own: float
        The widest such gap within the cluster itself.
    """

    nearest: int
    gap: float
    within: float
    own: float = 0.0

    @property
    def apart(self) -> bool | None:
        """Whether the gap is wide against those within; None where there are none to compare it with."""
        return None if self.within == 0 else bool(self.gap >= GAP * self.within)


def borders(curves: Floats, part_of: Ints) -> tuple[Border, ...]:
    """The border of each cluster with the nearest other one, where the finest have these curves (K, T).

    Cluster ``part_of[i]`` is the one that the i-th of the finest is in.

    Examples
    --------
    >>> found = borders(np.array([[0.0], [1.0], [2.0], [3.5], [9.0], [9.5]]), np.array([0, 0, 1, 1, 2, 2]))
    >>> [(border.nearest, border.gap, border.apart) for border in found]
    [(1, 1.0, False), (0, 1.0, False), (1, 5.5, True)]
    """
    count = int(part_of.max()) + 1
    if count == 1:
        return (Border(-1, np.inf, 0.0),)
    distance = differences(curves)
    inside = np.array([widest(distance, np.flatnonzero(part_of == c)) for c in range(count)])
    order = np.argsort(part_of, kind="stable")
    begins = np.searchsorted(part_of[order], np.arange(count))
    between = np.minimum.reduceat(np.minimum.reduceat(distance[np.ix_(order, order)], begins, axis=0), begins, axis=1)
    np.fill_diagonal(between, np.inf)
    nearest = between.argmin(axis=1)
    within = np.maximum(inside, inside[nearest])
    within = np.where(within == 0, inside.max(), within)
    return tuple(
        Border(int(n), float(between[c, n]), float(within[c]), float(inside[c])) for c, n in enumerate(nearest)
    )


def verdicts(found: tuple[Border, ...]) -> list[str]:
    """Of each cluster: "apart", "runs into" the nearest other one, "divided", or "" where there are no gaps to compare.

    Divided is a cluster that has gaps within as wide as that to its nearest neighbour, which is apart itself.

    Examples
    --------
    >>> verdicts(borders(np.array([[0.0], [1.0], [2.0], [3.5], [9.0], [9.5]]), np.array([0, 0, 1, 1, 2, 2])))
    ['runs into', 'runs into', 'apart']
    >>> verdicts(borders(np.array([[0.0], [0.5], [3.0], [3.5], [7.0], [10.5]]), np.array([0, 0, 1, 1, 2, 2])))
    ['apart', 'apart', 'divided']
    """
    said = []
    for border in found:
        divided = border.own == border.within and found[border.nearest].apart
        words = {None: "", True: "apart", False: "divided" if divided else "runs into"}
        said.append(words[border.apart])
    return said


def differences(curves: Floats) -> Floats:
    """Root mean square differences of each two curves (K, T), (K, K)."""
    from scipy.spatial.distance import pdist, squareform

    return np.asarray(squareform(pdist(curves) / np.sqrt(curves.shape[1])))


def widest(distance: Floats, members: Ints) -> float:
    """The widest gap that has to be crossed between members at these distances of each other; 0 for a single one."""
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    if len(members) == 1:
        return 0.0
    return float(linkage(squareform(distance[np.ix_(members, members)]), "single")[-1, 2])


def unsure(labels: Ints, confidence: Floats, k: int) -> Floats:
    """The share of the courses of each cluster, (k,), whose probability to be there is below 0.8.

    Examples
    --------
    >>> unsure(np.array([0, 0, 1, -1]), np.array([0.9, 0.5, 0.8, 0.1]), 2)
    array([0.5, 0. ])
    """
    inside = labels >= 0
    doubtful = np.bincount(labels[inside], confidence[inside] < SURE, k)
    return np.asarray(doubtful / np.maximum(np.bincount(labels[inside], minlength=k), 1))


def in_words(found: tuple[Border, ...]) -> str:
    """Which clusters are sure and where the border is a matter of taste; "" where there are no gaps to compare.

    Examples
    --------
    >>> in_words((Border(1, 1.0, 1.0), Border(0, 1.0, 1.5), Border(1, 5.5, 1.5)))
    'A wide gap keeps cluster 2 apart. Clusters 0 and 1 run into each other: their border is a matter of taste.'
    >>> in_words((Border(1, 3.0, 1.0), Border(0, 3.0, 1.0)))
    'Wide gaps keep all clusters apart.'
    """
    told = verdicts(found)
    running = [c for c, verdict in enumerate(told) if verdict == "runs into"]
    pairs = sorted({(min(c, found[c].nearest), max(c, found[c].nearest)) for c in running})
    divided = [c for c, verdict in enumerate(told) if verdict == "divided"]
    parts = [_kept_apart([str(c) for c, verdict in enumerate(told) if verdict == "apart"], len(found))]
    parts += [_running(pairs, len(running))] if pairs else []
    parts += [f"Cluster {c} has gaps within as wide as that to cluster {found[c].nearest}." for c in divided]
    return " ".join(parts) if any(told) else ""


def _kept_apart(apart: list[str], count: int) -> str:
    if not apart:
        return "No cluster is kept apart by a wide gap."
    if len(apart) == count:
        return "Wide gaps keep all clusters apart."
    several = len(apart) > 1
    return f"{'Wide gaps keep clusters' if several else 'A wide gap keeps cluster'} {listed(apart)} apart."


def _running(pairs: list[tuple[int, int]], count: int) -> str:
    taste = "their borders are a matter of taste"
    if len(pairs) > NAMED:
        return f"{count} clusters run into a neighbour: {taste}."
    if len(pairs) == 1:
        return f"Clusters {pairs[0][0]} and {pairs[0][1]} run into each other: their border is a matter of taste."
    return f"Clusters run into each other, {listed([f'{a} into {b}' for a, b in pairs])}: {taste}."
