"""From starting points to the tops of the mixture's bound, for one number of clusters or a whole range. Pure arrays.

Courses in memory are all there at once; courses on disk come block by block. The climb does not know which; the spread
is learned in memory alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple, Protocol

import numpy as np

from timelike.base import checks
from timelike.base.arrays import Bools, Floats, Ints
from timelike.clusters.curves.aligned_merges import Grid, agglomerate_aligned
from timelike.clusters.curves.bound import (
    AnySpread,
    AtSpread,
    Clusters,
    Fit,
    Given,
    Rule,
    Weights,
    explained,
    scores,
    soften,
)
from timelike.clusters.curves.merges import agglomerate
from timelike.clusters.curves.noise import LevelEvidence
from timelike.clusters.tree import cut_tree
from timelike.exceptions import InputError
from timelike.gp.freedom import Freedom
from timelike.gp.information import evidence

MAX_SPREAD = 2.0
"""Courses that differ by more than twice what clusters differ by are no cluster."""
SWEEPS = 400
ROUNDS = 30
SAMPLES = 4
"""Samples of scouts that are tried where the climb from one of them loses a cluster that was asked for."""
ALIGNED = 150
"""So many courses at most are merged to find where to start, where clusters can move,"""
COARSE, ONE_COARSE = (7, 9), (25, 13)
"""moved by so many nodes of gains, and of delays, at most: where both are free, and where one is,"""
COARSE_RANK = 10
"""and seen in so many directions."""
NEIGHBOUR, AWAY, PARABOLAS = 1.1, 2.0, 8
"""A spread is sought between neighbours of one that is known, so many times as large, no further at once,"""
SETTLED = 1e-3
"""until another step would raise the bound by less than this."""
SMALL = 0.02, 0.1
"""Where there was no spread, there is none as long as neither of these is better, and the smaller the better."""
REGROWN = 0.7
"""Merges are sought anew where the spread is below this share of the one that they were found with."""
PATIENCE = 4
"""The number of clusters is raised until the bound has not risen for so many steps,"""
RISE = 0.01
"""and, with merges that were sought anew, while each step raises it by so much for each course."""


class Effort(NamedTuple):
    """How many courses take part in which step of the search.

    Attributes
    ----------
    scouts
        So many courses, drawn at random, are merged to find where to start.
    walkers
        So many courses, drawn at random, show where to look for the number of clusters.
    many, few
        Above `many` courses, a sample of `few` shows the way, and fixes the spread.
    block
        Courses on disk that are worked on at once; with their responsibilities they fit into the cache.
    """

    scouts: int = 1000
    walkers: int = 3000
    many: int = 50_000
    few: int = 10_000
    block: int = 16_384


EFFORT = Effort()


class Swept(Protocol):
    """Courses at one value of the spread, to sweep over."""

    def sweep(self, weights: Weights) -> Fit:
        """The clusters that the courses sum to with these weights, and their bound."""


class Courses(Protocol):
    """Courses to climb with: in memory, or on disk."""

    def __len__(self) -> int: ...

    def at(self, spread: float) -> Swept:
        """The courses when they differ from their cluster's curve by `spread` times the signal."""

    def draw(self, count: int, seed: int) -> AnySpread:
        """So many of the courses, drawn at random, in memory."""


def climb(data: Courses, start: Weights, spread: float) -> Fit:
    """The top of the bound above these weights; clusters that lose all their courses are dropped."""
    at, tolerance = data.at(spread), still(len(data))
    for _ in range(ROUNDS):
        fit = _until_still(at, start, tolerance)
        empty = _empty(fit.clusters.n)
        if not empty.any():
            break
        start = fit.weights.without(empty)
    return fit


def climb_learning(data: AnySpread, start: Given, spread: float | None = None, near: float | None = None) -> Fit:
    """The top of the bound above these weights, where the best spread and noise for the weights and sweeps take turns.

    The spread can be given, too, or one that it is `near`.
    """
    tolerance, best, tau = still(len(data)), -np.inf, near if spread is None else spread
    for _ in range(ROUNDS):
        if spread is None:
            tau = best_spread(data, start, tau)
        at = data.at(tau or 0.0)
        fit = _until_still(at, levelled(at, start), tolerance)
        empty = _empty(fit.clusters.n)
        if not empty.any() and fit.bound - best < 5 * tolerance:
            break
        start = responsibilities(data, fit)
        start, best = start.without(empty) if empty.any() else start, fit.bound
    return fit


def levelled(state: AtSpread, start: Given) -> Given:
    """The weights with each cluster at the noise that suits it best: sweeps, course by course, are slow in that."""
    if state.nodes.noise.between == 0:
        return start
    r, _ = start.of(state)
    told = level_evidence(state, Clusters.of(state, r), state.by_node(r).sum(axis=0))
    return Given.at(told.levels(state.nodes.noise).reshape(r.shape))


def level_evidence(state: AtSpread, clusters: Clusters, r: Floats) -> LevelEvidence:
    """How well each level of the noise suits courses with weights r (N, K + 1) in clusters."""
    logs = scores(state, replace(clusters, levels=None)) + state.c[:, None]
    logs[:, :-1] -= clusters.log_shares
    logs[:, -1] = state.own + state.c
    return LevelEvidence(state.by_node(logs), r)


def climbed(data: AnySpread, start: Given, spread: float | None, near: float | None = None) -> Fit:
    """The top of the bound above these weights, with a given spread or one that is learned on the way."""
    if spread is None or data.noise.between > 0:
        return climb_learning(data, start, spread, near)
    return climb(data, start, spread)


def _until_still(at: Swept, start: Weights, tolerance: float) -> Fit:
    """The fit from which a sweep raises the bound by less than `tolerance`."""
    fit = at.sweep(start)
    for _ in range(SWEEPS):
        last, fit = fit, at.sweep(Rule(fit.clusters))
        if fit.bound - last.bound < tolerance:
            break
    return fit


def still(count: int) -> float:
    """A sweep that raises the bound of so many courses by less than this has arrived."""
    return max(1e-2, 1e-6 * count)


def _empty(n: Floats) -> Bools:
    """Which clusters have less than half a course; the largest never."""
    return (n < 0.5) & (np.arange(len(n)) != n.argmax())


def responsibilities(data: AnySpread, fit: Fit) -> Given:
    """The weights of courses in memory, as numbers."""
    if isinstance(fit.weights, Given):
        return fit.weights
    weights = list(data.at(fit.spread).each(lambda state, _: fit.weights.of(state)))
    return Given(np.concatenate([r for r, _ in weights]), sum(uncertainty for _, uncertainty in weights))


def check_spread(spread: Any) -> None:
    """Raise unless it is a spread, or None."""
    if spread is not None and not (checks.is_number(spread) and spread >= 0):
        raise InputError(f"spread is {spread!r}: expected a number, zero or more, or None to learn it.")


def best_spread(data: AnySpread, given: Given, near: float | None = None) -> float:
    """The spread with the largest bound for given responsibilities, sought `near` another one first."""
    from scipy.optimize import minimize_scalar

    @cache
    def loss(spread: float) -> float:
        state = data.at(spread)
        r, _ = given.of(state)
        return -explained(state, Clusters.of(state, r), r)

    single = len(data.nodes) == 1
    if near == 0 and single and loss(SMALL[1]) >= loss(SMALL[0]) >= loss(0.0):
        return 0.0
    if near is not None and single and (found := _lowest(loss, near or SMALL[1])) is not None:
        return found
    options = {"xatol": 1e-4 if single else 2e-3}  # where noise is uncertain, so is the spread
    bounds = (0.0, MAX_SPREAD) if near is None or single else (0.7 * near, 1.4 * near + 0.02)
    found = minimize_scalar(loss, bounds=bounds, method="bounded", options=options)
    return 0.0 if loss(0.0) <= found.fun else float(found.x)


def _lowest(loss: Callable[[float], float], near: float) -> float | None:
    """Where the loss is lowest, by parabolas through three points, first around `near`; None if that takes long.

    They are parabolas in the square of the spread, of which everything depends smoothly, down to zero.
    """
    near = min(near, MAX_SPREAD / NEIGHBOUR)
    points = [near / NEIGHBOUR, near * NEIGHBOUR, near]  # what is known of the last is remembered
    for _ in range(PARABOLAS):
        a, b, c = sorted(dict.fromkeys(points), key=loss)[:3]
        bend = (loss(b) - loss(a)) / (b**2 - a**2), (loss(c) - loss(a)) / (c**2 - a**2)
        curvature = (bend[0] - bend[1]) / (b**2 - c**2)
        if curvature <= 0:
            return None
        lowest, below = (a**2 + b**2 - bend[0] / curvature) / 2, min(points) / AWAY
        square = np.clip(lowest, below**2 if below > SMALL[0] else 0, min(max(points) * AWAY, MAX_SPREAD) ** 2)
        if curvature * abs(square - a**2) * abs(lowest - a**2) < SETTLED:
            return 0.0 if a < SMALL[1] and loss(0.0) < loss(a) + SETTLED else a
        points.append(float(np.sqrt(square)))
    return None


# -- where to start ----------------------------------------------------------------------------------------------


class Starts:
    """Starting points from evidence linkage: of all courses, or of a random sample to which the rest is assigned."""

    def __init__(self, data: AnySpread, spread: float | None, seed: int, scouts: int) -> None:
        self.data, self.scouts = data, data.draw(scouts if len(data.free) == 1 else min(scouts, ALIGNED), seed)
        self.spread = 0.0 if spread is None else spread
        self.places = np.zeros((len(self.scouts), 2), dtype=np.intp)
        self.tree = self._grow()
        if spread is None and len(data) > 2 and len(data.free) == 1:
            self.spread = best_spread(self.scouts, self._certain(min(8, len(data))))
            self.tree = self._grow()

    def closer(self, spread: float) -> bool:
        """Whether courses differ by clearly less than the merges took for granted, which are then sought anew."""
        if spread >= REGROWN * self.spread or len(self.data.free) > 1:
            return False
        self.spread, self.tree = spread, agglomerate(self.scouts.at(spread).settled()).linkage()
        return True

    def at(self, k: int) -> Given:
        """Weights for k clusters; a course of the sample is in no doubt, and none is in "none"."""
        certain = self._certain(min(k, len(self.scouts)))
        if self.data is self.scouts:
            return certain
        scouts = self.scouts.at(self.spread)
        rule = Rule(Clusters.of(scouts, certain.of(scouts)[0]), certain=True)
        return Given(*rule.of(self.data.at(self.spread)))

    def _certain(self, k: int) -> Given:
        labels = cut_tree(self.tree, k)
        return placed(labels, k, self.places, self.scouts.free) if len(self.scouts.free) > 1 else sure(labels, k)

    def _grow(self) -> Floats:
        if len(self.scouts.free) == 1:
            return agglomerate(self.scouts.at(self.spread).settled()).linkage()
        alone = 1 in (len(self.scouts.free.log_gains), len(self.scouts.free.delays))
        few = self.scouts.thinned(*(ONE_COARSE if alone else COARSE))
        merges, places = agglomerate_aligned(few.at(self.spread), COARSE_RANK)
        self.places = places * np.rint(np.divide(few.free.step, self.scouts.free.step)).astype(np.intp)
        return merges.linkage()


def sure(labels: Ints, k: int) -> Given:
    """Weights of courses that are in no doubt."""
    return Given.at(one_hot(labels, k))


def placed(labels: Ints, k: int, places: Ints, free: Freedom) -> Given:
    """Weights of courses that are in no doubt about their cluster and their place in it, its middle at no delay."""
    members = one_hot(labels, k)[:, :-1]
    middle = np.rint(members.T @ places / np.maximum(members.sum(axis=0), 1)[:, None]).astype(np.intp)
    node = Grid(free).number(places - middle[labels])
    r = np.zeros((len(free), len(labels), k + 1))
    r[node, np.arange(len(labels)), labels] = 1
    return Given.at(r.reshape(-1, k + 1))


def one_hot(labels: Ints, k: int) -> Floats:
    """Responsibilities of courses that are in no doubt, (N, k + 1)."""
    return np.eye(k, k + 1)[labels]


def merged(data: AnySpread, fit: Fit) -> Given:
    """The weights after the merge that costs the least evidence; where clusters can move, after one is given up."""
    if len(data.free) > 1:
        return given_up(data, fit)
    p, q, _ = cheapest_merge(fit.clusters)
    result = responsibilities(data, fit).r.copy()
    result[:, p] += result[:, q]
    return Given.at(np.delete(result, q, axis=1))


def given_up(data: AnySpread, fit: Fit) -> Given:
    """The weights without the cluster whose courses lose least by going to the others, each where it suits best."""
    state = data.at(fit.spread)
    rho = scores(state, fit.clusters)
    each = state.over_nodes(rho)
    left = np.stack([np.logaddexp.reduce(np.delete(each, k, axis=1), axis=1).sum() for k in range(fit.k)])
    return Given(*soften(np.delete(rho, int(left.argmax()), axis=1), len(state.nodes)))


def cheapest_merge(clusters: Clusters) -> tuple[int, int, float]:
    """The two clusters whose merge costs the least evidence, and what it costs."""
    p, q = np.triu_indices(len(clusters.n), 1)
    together = evidence(clusters.A[p] + clusters.A[q], clusters.b[p] + clusters.b[q])
    gains = together - clusters.evidence[p] - clusters.evidence[q]
    best = int(gains.argmax())
    return int(p[best]), int(q[best]), -float(gains[best])


# -- one number of clusters, or a range of them --------------------------------------------------------------------


def fit_k(data: Courses, k: int, spread: float | None, seed: int, effort: Effort = EFFORT) -> Fit:
    """The best of several climbs to k clusters: from the tree cut at k, and from a finer cut merged down to k."""
    few = data.draw(len(data) if len(data) <= effort.many else effort.few, seed)
    if len(few.nodes) > 1:
        few = few.draw(effort.walkers, seed)
    found = _climbs_to(few, k, spread, seed, effort.scouts)
    for again in range(1, SAMPLES if len(few) > effort.scouts else 1):
        if any(fit.k == k for fit in found):
            break
        found += _climbs_to(few, k, spread, seed + again, effort.scouts)
    best = max(found, key=lambda fit: (-abs(fit.k - k), fit.bound))
    return best if few is data else lifted(data, best, spread, effort)


def _climbs_to(data: AnySpread, k: int, spread: float | None, seed: int, scouts: int) -> list[Fit]:
    starts = Starts(data, spread, seed, scouts)
    found = [climbed(data, starts.at(k), spread)]
    finer = climbed(data, starts.at(k + 3), spread) if k + 3 <= len(data) else found[0]
    while finer.k > k:
        finer = climbed(data, merged(data, finer), spread, finer.spread)
        found.append(finer)
    near = max(found, key=lambda fit: fit.bound).spread
    if spread is None and starts.closer(near):
        found.append(climbed(data, starts.at(k), spread, near))
    return found


def lifted(data: Courses, fit: Fit, spread: float | None, effort: Effort = EFFORT) -> Fit:
    """A fit of all courses, from a fit of few of them, whose spread it has where there are many."""
    start = Rule(fit.clusters, certain=True)
    if not isinstance(data, AnySpread):
        return climb(data, start, fit.spread)
    if spread is None and len(data) * len(data.nodes) <= effort.many:
        return climb_learning(data, Given(*start.of(data.at(fit.spread))), near=fit.spread)
    if data.noise.between > 0:
        return climb_learning(data, Given(*start.of(data.at(fit.spread))), fit.spread)
    return climb(data, start, fit.spread)


def walk(data: AnySpread, spread: float | None, max_k: int, seed: int, effort: Effort = EFFORT) -> list[Fit]:
    """The best fit for each number of clusters: up along the tree until the bound stops rising, then down by merges."""
    starts = Starts(data, spread, seed, effort.scouts)
    most = min(max_k, len(starts.scouts))
    fits = _upward(data, starts, spread, most)
    if spread is None:
        _further(data, starts, fits, most)
    at = fits[max(fits)]
    while at.k > 1:
        at = climbed(data, merged(data, at), spread, at.spread)
        _offer(fits, at)
        at = fits[at.k]
    return [fits[k] for k in sorted(fits)]


def _upward(data: AnySpread, starts: Starts, spread: float | None, most: int) -> dict[int, Fit]:
    """The fits with ever more clusters, until the bound stops rising."""
    fits: dict[int, Fit] = {}
    stalled, near = 0, None
    for k in _ladder(most):
        top = max((fit.bound for fit in fits.values()), default=-np.inf)
        found = climbed(data, starts.at(k), spread, near)
        near = found.spread
        _offer(fits, found)
        stalled = 0 if found.bound > top else stalled + 1
        if stalled == PATIENCE:
            break
    return fits


def _further(data: AnySpread, starts: Starts, fits: dict[int, Fit], most: int) -> None:
    """Go on from the best fit with merges that suit its spread: those of courses further apart lose small clusters."""
    best = max(fits.values(), key=lambda fit: fit.bound)
    while starts.closer(best.spread):
        for k in _ladder(most, best.k):
            found = climbed(data, starts.at(k), None, best.spread)
            if found.bound < best.bound + RISE * len(data):
                break
            _offer(fits, found)
            best = found


def _ladder(top: int, k: int = 1) -> Iterator[int]:
    """1, 2, ..., or k on, then in steps of a fifth; the way down visits what is left out."""
    while k < top:
        yield k
        k += max(1, k // 5)
    yield top


def _offer(fits: dict[int, Fit], fit: Fit) -> None:
    if fit.k not in fits or fit.bound > fits[fit.k].bound:
        fits[fit.k] = fit
