"""How fine to look: clusters within clusters, tolerances, and the groups of them that wide gaps keep apart."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from timelike.base.arrays import Floats, Ints
from timelike.base.blas import one_thread_below
from timelike.clusters.curves.ascent import best_spread
from timelike.clusters.curves.bound import Given, sample
from timelike.clusters.tree import cut_tree

if TYPE_CHECKING:
    from timelike.clusters.curves.curve_clustering import CurveClustering
    from timelike.clusters.curves.membership import Step

GAP = 1.4
"""A number of clusters stands out if the gaps between them are so many times the largest gap within them."""
FEWER = 0.5
"""It is at most this share of the number of the finest clusters: a few that happen to be close show no gaps."""
ENOUGH = 0.55
"""It must keep this share of the gain in evidence over one cluster for all;"""
KEPT = 0.75
"""in a continuum, where none stands out, as few clusters as keep this share are shown."""
JUDGES = 1000
"""So many courses, drawn at random, say what merged clusters keep."""


class Level(NamedTuple):
    """A number of clusters, and the tolerances at which there are so many: from the first, below the last."""

    k: int
    low: float
    high: float

    @property
    def stretch(self) -> float:
        """How many times the smallest tolerance the largest is."""
        return np.inf if self.low == 0 else self.high / self.low


def nested(curves: Floats, sizes: Ints, first: Ints | None = None) -> Floats:
    """The tree of merges of clusters with these curves (K, T) and sizes (K,), as SciPy has it, (K - 1, 4).

    Each merge is the one whose courses are nearest to each other, those within the groups of `first` (K,) before all
    others. Heights are twice the root mean square difference of the courses' curves from the mean curve of their
    merged cluster, made non-decreasing by a running maximum: of two clusters of equal size the root mean square
    difference of their curves. The last column counts clusters.

    Examples
    --------
    >>> nested(np.array([[0.0, 0.0], [1.0, 1.0], [4.0, 4.0]]), np.array([10, 10, 20]))
    array([[0.        , 1.        , 1.        , 2.        ],
           [2.        , 3.        , 3.57071421, 3.        ]])
    """
    count = len(curves)
    group = np.zeros(count, dtype=int) if first is None else first
    mean, squares, n = curves.astype(float), np.zeros(count), np.maximum(sizes, 1).astype(float)
    number, parts, tree = np.arange(count), np.ones(count, dtype=int), np.empty((max(count - 1, 0), 4))
    for m in range(count - 1):
        within = _within(mean, squares, n)
        same = np.where(group[:, None] == group, within, np.inf)
        p, q = np.unravel_index((same if np.isfinite(same).any() else within).argmin(), within.shape)
        parts[p] += parts[q]
        tree[m] = *sorted((number[p], number[q])), 2 * np.sqrt(within[p, q]), parts[p]
        mean[p] = (n[p] * mean[p] + n[q] * mean[q]) / (n[p] + n[q])
        squares[p], n[p], number[p] = within[p, q], n[p] + n[q], count + m
        mean, squares, n, number, parts, group = (
            np.delete(each, q, axis=0) for each in (mean, squares, n, number, parts, group)
        )
    tree[:, 2] = np.maximum.accumulate(tree[:, 2])
    return tree


def _within(mean: Floats, squares: Floats, n: Floats) -> Floats:
    """Mean square difference from the mean curve in the union of each two clusters, (K, K), infinite but above it.

    Of clusters with these mean curves, such mean squares within them, and so many courses.
    """
    lengths = (mean**2).mean(axis=1)
    between = np.maximum(lengths[:, None] + lengths - 2 * mean @ mean.T / mean.shape[1], 0)
    share = n[:, None] / (n[:, None] + n)
    within = share * squares[:, None] + share.T * squares + share * share.T * between
    within[np.tril_indices(len(n))] = np.inf
    return np.asarray(within)


def levels(tree: Floats) -> list[Level]:
    """Every number of clusters, from one on, with the tolerances at which there are so many.

    Examples
    --------
    >>> levels(np.array([[0, 1, 1.0, 2], [2, 3, 3.5, 3]]))
    [Level(k=1, low=3.5, high=inf), Level(k=2, low=1.0, high=3.5), Level(k=3, low=0.0, high=1.0)]
    """
    ends = np.concatenate([[np.inf], tree[::-1, 2], [0.0]])
    return [Level(k, float(ends[k]), float(ends[k - 1])) for k in range(1, len(tree) + 2)]


def level_at(tree: Floats, tolerance: float) -> int:
    """The number of clusters where curves that differ by less than the tolerance are one.

    Examples
    --------
    >>> [level_at(np.array([[0, 1, 1.0, 2], [2, 3, 3.5, 3]]), tolerance) for tolerance in (0, 1.0, 1.1, 9)]
    [3, 3, 2, 1]
    """
    return int((tree[:, 2] >= tolerance).sum()) + 1


def groups(tree: Floats, k: int) -> Ints:
    """The cluster of each of the finest clusters, where there are k."""
    return np.zeros(1, dtype=np.intp) if not len(tree) else cut_tree(tree, k).astype(np.intp)


def tips(tree: Floats) -> Ints:
    """The finest clusters in an order in which those that merge are side by side, those with low numbers first.

    Examples
    --------
    >>> tips(np.array([[1, 3, 1.0, 2], [0, 2, 2.0, 2], [4, 5, 3.5, 4]]))
    array([0, 2, 1, 3])
    """
    below = [[i] for i in range(len(tree) + 1)]
    for p, q in tree[:, :2].astype(int).tolist():
        first, second = sorted((below[p], below[q]))
        below.append(first + second)
    return np.array(below[-1])


def gaps(curves: Floats) -> list[Ints]:
    """Groups (K,) of clusters with these curves (K, T) that wide gaps keep apart, those with the widest first.

    A gap is the root mean square difference of the nearest two curves: single linkage.

    Examples
    --------
    >>> gaps(np.array([[0.0], [1.0], [2.0], [9.0], [9.5]]))
    [array([0, 0, 0, 1, 1])]
    >>> gaps(np.arange(5.0)[:, None])
    []
    """
    from scipy.cluster.hierarchy import linkage

    if len(curves) < 3:
        return []
    tree = linkage(curves / np.sqrt(curves.shape[1]), "single")
    wide = [level for level in levels(tree)[1:-1] if level.stretch >= GAP and level.k <= FEWER * len(curves)]
    return [groups(tree, level.k) for level in sorted(wide, key=lambda level: -level.stretch)]


# -- clusters of a clustering ----------------------------------------------------------------------------------------


def merged_into(fine: CurveClustering, k: int) -> CurveClustering:
    """The clusters merged until k are left: who was together stays together, and probabilities add.

    Nothing is fitted anew but the spread, where that was learned: members differ more from a curve that more share.
    """
    if k == fine.k:
        return fine
    part_of = groups(fine.tree, k)
    merge = np.append(part_of, k)
    levels = None if fine.level_weights is None else summed(fine.level_weights, merge)
    weights, chances = summed(fine.responsibilities, merge), fine.probabilities
    coarse: dict[str, Any] = {
        "labels": np.append(part_of, -1)[fine.labels],
        "probabilities": None if chances is None else summed(chances, part_of),
        "spread": fine.judge.spread(part_of),
    }
    result = replace(fine, **coarse, k=k, responsibilities=weights, level_weights=levels, finest=fine, part_of=part_of)
    return result.renumbered(result.peak_order())


def summed(columns: Floats, into: Ints) -> Floats:
    """The sums of columns that go into the same one, for the last axis of an array.

    Examples
    --------
    >>> summed(np.array([[0.5, 0.2, 0.3]]), np.array([0, 1, 0]))
    array([[0.8, 0.2]])
    """
    result = np.zeros((*columns.shape[:-1], int(into.max()) + 1))
    for column, to in enumerate(into):
        result[..., to] += columns[..., column]
    return result


class Judge:
    """What merged clusters keep of the evidence, judged by some of the courses where there are many."""

    def __init__(self, fine: CurveClustering) -> None:
        which = np.sort(np.random.default_rng(0).permutation(len(fine.names))[:JUDGES])
        weights = fine.responsibilities[None] if fine.level_weights is None else fine.level_weights
        self.fine, self.weights = fine, weights[:, which]
        self.data = replace(sample(fine.here, scale=fine.deviation_scale), noise=fine.noise).select(which)

    @cached_property
    def _ends(self) -> tuple[float, float]:
        """The bounds of one cluster for all, and of the finest."""
        return self._bound(np.zeros(self.fine.k, np.intp)), self._bound(np.arange(self.fine.k))

    def kept(self, part_of: Ints) -> float:
        """Share of the gain in evidence, over one cluster for all, that clusters keep if they are merged so."""
        one, all_of_it = self._ends
        return 1.0 if all_of_it <= one else (self._bound(part_of) - one) / (all_of_it - one)

    def spread(self, part_of: Ints) -> float:
        """The spread that suits merged clusters best, where it was learned."""
        return best_spread(self.data, self._merged(part_of)) if self.fine.learned else self.fine.spread

    def _bound(self, part_of: Ints) -> float:
        return self.data.at(self.spread(part_of)).sweep(self._merged(part_of)).bound

    def _merged(self, part_of: Ints) -> Given:
        k = int(part_of.max()) + 1
        return Given.at(summed(self.weights, np.append(part_of, k)).reshape(-1, k + 1))


def standing_out(fine: CurveClustering, curves: Floats) -> Ints | None:
    """The groups (K,) of clusters that gaps keep apart and that keep most of the evidence; None if there are none."""
    apart = gaps(curves)
    if not apart:
        return None
    with one_thread_below():
        return next((part_of for part_of in apart if fine.judge.kept(part_of) >= ENOUGH), None)


def coarsest(path: tuple[Step, ...]) -> int:
    """The smallest number of clusters that keeps three quarters of the gain in evidence over one cluster for all."""
    bounds = {step.k: step.bound for step in path}
    first, best = min(bounds), max(bounds.values())
    return min(k for k, bound in bounds.items() if bound >= bounds[first] + KEPT * (best - bounds[first]))
