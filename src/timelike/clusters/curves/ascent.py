"""From starting points to the tops of the mixture's bound, for one number of clusters or a whole range. Pure arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from timelike.base import checks
from timelike.base.arrays import Bools, Floats, Ints
from timelike.clusters.clustering import cut_tree
from timelike.clusters.curves.bound import Clusters, Sample, State, explained, scores, soften, sweep_until_still
from timelike.clusters.curves.merges import agglomerate
from timelike.exceptions import InputError
from timelike.gp.information import evidence

MAX_SPREAD = 2.0
"""Courses that differ by more than twice what clusters differ by are no cluster."""
SWEEPS = 400
ROUNDS = 30
SCOUTS = 1000
"""So many courses, drawn at random, are merged to find where to start."""
SAMPLES = 4
"""Such samples that are tried where the climb from one of them loses a cluster that was asked for."""
PATIENCE = 4
"""The number of clusters is raised until the bound has not risen for so many steps."""
MANY = 50_000
"""Above so many courses, a sample of them shows the way, and fixes the spread."""
FEW = 10_000
"""Courses in that sample."""


@dataclass(frozen=True, eq=False)
class Fit:
    """Responsibilities (N, K + 1), the last column for "none"; the spread; and the bound that they reach."""

    r: Floats
    spread: float
    bound: float

    @property
    def k(self) -> int:
        """Number of clusters."""
        return int(self.r.shape[1]) - 1


def climb(data: Sample, r: Floats, spread: float | None) -> Fit:
    """The top of the bound above these responsibilities; clusters that lose all their courses are dropped.

    Without a given spread, the best one for the responsibilities and sweeps at that spread take turns.
    """
    tolerance = still(len(data))
    best, tau = -np.inf, spread or 0.0
    for _ in range(ROUNDS):
        tau = best_spread(data, r) if spread is None else tau
        r, value = sweep_until_still(data.at(tau), r, tolerance, SWEEPS)
        left = _alive(r)
        done = left is r and (spread is not None or value - best < 5 * tolerance)
        r, best = left, value
        if done:
            break
    return Fit(r, tau, best)


def still(count: int) -> float:
    """A sweep that raises the bound of so many courses by less than this has arrived."""
    return max(1e-2, 1e-6 * count)


def _alive(r: Floats) -> Floats:
    """The responsibilities without clusters that have less than half a course; the largest always stays."""
    keep = alive(r[:, :-1].sum(axis=0))
    if keep.all():
        return r
    r = r[:, np.append(keep, True)]
    return r / np.maximum(r.sum(axis=1, keepdims=True), np.finfo(float).tiny)


def alive(n: Floats) -> Bools:
    """Which clusters have half a course or more; the largest always."""
    return (n >= 0.5) | (np.arange(len(n)) == n.argmax())


def check_spread(spread: Any) -> None:
    """Raise unless it is a spread, or None."""
    if spread is not None and not (checks.is_number(spread) and spread >= 0):
        raise InputError(f"spread is {spread!r}: expected a number, zero or more, or None to learn it.")


def best_spread(data: Sample, r: Floats) -> float:
    """The spread with the largest bound for given responsibilities."""
    from scipy.optimize import minimize_scalar

    def loss(spread: float) -> float:
        state = data.at(spread)
        return -explained(state, Clusters.of(state, r), r)

    found = minimize_scalar(loss, bounds=(0.0, MAX_SPREAD), method="bounded", options={"xatol": 1e-4})
    return 0.0 if loss(0.0) <= found.fun else float(found.x)


# -- where to start ----------------------------------------------------------------------------------------------


class Starts:
    """Starting points from evidence linkage: of all courses, or of a random sample to which the rest is assigned."""

    def __init__(self, data: Sample, spread: float | None, seed: int) -> None:
        count = len(data)
        self.data, self.scouts = data, draw(data, SCOUTS, seed) if count > SCOUTS else data
        self.spread = 0.0 if spread is None else spread
        self.tree = self._grow()
        if spread is None and count > 2:
            few = self.at(min(8, count), self.scouts)
            self.spread = best_spread(self.scouts, few)
            self.tree = self._grow()

    def at(self, k: int, data: Sample | None = None) -> Floats:
        """Responsibilities for k clusters; a course of the sample is in no doubt, and none is in "none"."""
        data = data or self.data
        k = min(k, len(self.scouts))
        certain = one_hot(cut_tree(self.tree, k), k)
        if data is self.scouts:
            return certain
        return spread_out(data.at(self.spread), Clusters.of(self.scouts.at(self.spread), certain))

    def _grow(self) -> Floats:
        return agglomerate(self.scouts.at(self.spread)).linkage()


def one_hot(labels: Ints, k: int) -> Floats:
    """Responsibilities of courses that are in no doubt, (N, k + 1)."""
    return np.eye(k, k + 1)[labels]


def spread_out(state: State, clusters: Clusters) -> Floats:
    """Responsibilities for given clusters, as if every course belonged to one."""
    return soften_certain(scores(state, clusters))


def soften_certain(rho: Floats) -> Floats:
    """Responsibilities from their logarithms, the last column ("none") taken as impossible."""
    r = np.zeros_like(rho)
    r[:, :-1], _ = soften(rho[:, :-1])
    return r


def merged(state: State, r: Floats) -> tuple[Floats, float]:
    """The responsibilities after the merge that costs the least evidence, and what it costs."""
    p, q, cost = cheapest_merge(Clusters.of(state, r))
    result = r.copy()
    result[:, p] += result[:, q]
    return np.delete(result, q, axis=1), cost


def cheapest_merge(clusters: Clusters) -> tuple[int, int, float]:
    """The two clusters whose merge costs the least evidence, and what it costs."""
    p, q = np.triu_indices(len(clusters.n), 1)
    together = evidence(clusters.A[p] + clusters.A[q], clusters.b[p] + clusters.b[q])
    gains = together - clusters.evidence[p] - clusters.evidence[q]
    best = int(gains.argmax())
    return int(p[best]), int(q[best]), -float(gains[best])


# -- one number of clusters, or a range of them --------------------------------------------------------------------


def fit_k(data: Sample, k: int, spread: float | None, seed: int) -> Fit:
    """The best of several climbs to k clusters: from the tree cut at k, and from a finer cut merged down to k."""
    if len(data) > MANY:
        few = draw(data, FEW, seed)
        return lifted(data, few, fit_k(few, k, spread, seed), spread)
    found = _climbs_to(data, k, spread, seed)
    for again in range(1, SAMPLES if len(data) > SCOUTS else 1):
        if any(fit.k == k for fit in found):
            break
        found += _climbs_to(data, k, spread, seed + again)
    return max(found, key=lambda fit: (-abs(fit.k - k), fit.bound))


def _climbs_to(data: Sample, k: int, spread: float | None, seed: int) -> list[Fit]:
    starts = Starts(data, spread, seed)
    found = [climb(data, starts.at(k), spread)]
    finer = climb(data, starts.at(k + 3), spread) if k + 3 <= len(data) else found[0]
    while finer.k > k:
        finer = climb(data, merged(data.at(finer.spread), finer.r)[0], spread)
        found.append(finer)
    return found


def draw(data: Sample, count: int, seed: int) -> Sample:
    """So many of the courses, drawn at random."""
    return data.select(np.sort(np.random.default_rng(seed).permutation(len(data))[:count]))


def lifted(data: Sample, few: Sample, fit: Fit, spread: float | None) -> Fit:
    """A fit of all courses, from a fit of few of them."""
    clusters = Clusters.of(few.at(fit.spread), fit.r)
    tau = spread if len(data) <= MANY or spread is not None else fit.spread
    return climb(data, spread_out(data.at(fit.spread), clusters), tau)


def walk(data: Sample, spread: float | None, max_k: int, seed: int) -> dict[int, Fit]:
    """The best fit for each number of clusters: up along the tree until the bound stops rising, then down by merges."""
    fits: dict[int, Fit] = {}
    starts = Starts(data, spread, seed)
    stalled = 0
    for k in _ladder(min(max_k, len(starts.scouts))):
        top = max((fit.bound for fit in fits.values()), default=-np.inf)
        found = climb(data, starts.at(k), spread)
        _offer(fits, found)
        stalled = 0 if found.bound > top else stalled + 1
        if stalled == PATIENCE:
            break
    at = fits[max(fits)]
    while at.k > 1:
        at = climb(data, merged(data.at(at.spread), at.r)[0], spread)
        _offer(fits, at)
        at = fits[at.k]
    return dict(sorted(fits.items()))


def _ladder(top: int) -> Iterator[int]:
    """1, 2, ..., then in steps of a fifth; the way down visits what is left out."""
    k = 1
    while k < top:
        yield k
        k += max(1, k // 5)
    yield top


def _offer(fits: dict[int, Fit], fit: Fit) -> None:
    if fit.k not in fits or fit.bound > fits[fit.k].bound:
        fits[fit.k] = fit
