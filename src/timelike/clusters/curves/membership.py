"""From responsibilities to members: how sure a course is of its cluster, and which clusters stay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from timelike.base.arrays import Bools, Floats, Ints
from timelike.clusters.curves.ascent import cheapest_merge, climbed, responsibilities
from timelike.clusters.curves.bound import (
    NONE,
    AnySpread,
    AtSpread,
    Clusters,
    Fit,
    expected_shares,
    scores,
    soften,
)
from timelike.clusters.curves.draws import divisions
from timelike.clusters.curves.left_out import given_the_others, predictive

ODD = 0.01
"""This share of the courses, and at least one, is not listened to: those that the clusters suit worst."""
ASKED = 10_000
"""So many courses say whether every cluster has some, before all are asked."""
FAR = -650.0
"""Logarithms of probabilities below this are drawn together: they keep their order, and do not become 0."""


class Step(NamedTuple):
    """One number of clusters that was tried.

    ``bound``: what speaks for it, in natural logarithms. ``per_course``: what it costs against the best number, for
    each course. ``merge``: evidence lost by its cheapest merge. ``sizes``: expected courses in each cluster.
    """

    k: int
    bound: float
    per_course: float
    merge: float
    spread: float
    sizes: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Choice:
    """The fit with the chosen number of clusters, and all numbers that were tried.

    Where the number is in doubt, because the bound rises to its top in a long tail, the fit has the fewest clusters
    that keep most of the gain, and `finest` those that keep nearly all: to be merged as far as suits the user.
    """

    fit: Fit
    path: tuple[Step, ...] = ()
    finest: Fit | None = None

    @property
    def doubtful(self) -> bool:
        """Whether the number of clusters is in doubt."""
        return self.finest is not None


def steps(fits: list[Fit], count: int) -> tuple[Step, ...]:
    """What is worth knowing about each of the fits to so many courses, by number of clusters."""
    best = max(fit.evidence for fit in fits)
    found = []
    for fit in sorted(fits, key=lambda fit: fit.k):
        cost = cheapest_merge(fit.clusters)[2] if fit.k > 1 else np.nan
        sizes = tuple(float(n) for n in fit.clusters.n.round(2))
        found.append(Step(fit.k, fit.evidence, (best - fit.evidence) / count, cost, fit.spread, sizes))
    return tuple(found)


def supported(data: AnySpread, fit: Fit, spread: float | None) -> Fit:
    """The fit without clusters that no course is nearest to: doubles of others, which share their courses."""
    while True:
        start = responsibilities(data, fit)
        empty = _without_courses(data, start.r, fit)
        if not empty.any() or empty.all():
            return fit
        fit = climbed(data, start.without(empty), spread)


def _without_courses(data: AnySpread, r: Floats, fit: Fit) -> Bools:
    """Which clusters no course is nearest to; all courses are asked where some do not settle it."""
    at_nodes = r.reshape(len(data.nodes), len(data), -1)
    for some in (np.arange(min(ASKED, len(data))), np.arange(len(data))):
        few, own = data.select(some).at(fit.spread), at_nodes[:, some].reshape(-1, fit.k + 1)
        empty = counts(likeliest(judged(few, own, fit.clusters)), fit.k) == 0
        if not empty.any():
            break
    return np.asarray(empty)


def usual(few: AnySpread, fit: Fit) -> Ints:
    """Where among the courses those are that are in a cluster, without the few that it suits worst.

    What noise and models are learned from: a course that is like no other says nothing about either.
    """
    at = few.at(fit.spread)
    logs = scores(at, fit.clusters)
    logs = logs + at.c[:, None] if len(at.nodes) == 1 else at.over_nodes(logs)
    none = logs[:, -1] > logs[:, :-1].max(axis=1)
    suits = np.where(none, -np.inf, logs.max(axis=1) / few.sizes)
    odd = max(int(np.ceil(ODD * len(few))), int(none.sum()))
    return np.sort(np.argsort(suits, kind="stable")[min(odd, len(few) - 1) :])


def judged(state: AtSpread, r: Floats, clusters: Clusters) -> Floats:
    """Probabilities (N, K + 1) of each course, given the curves and shares that the others give the clusters."""
    return judged_at_nodes(state, r, clusters).sum(axis=0)


def judged_at_nodes(state: AtSpread, r: Floats, clusters: Clusters) -> Floats:
    """The same at each node, (M, N, K + 1)."""
    result = np.empty_like(r)

    def judge(some: AtSpread, rows: slice) -> None:
        own = r[rows]
        rho = result[rows]
        rho[:, :-1] = given_the_others(some, own, clusters)
        rho[:, -1] = some.alone + np.log(NONE)
        others = clusters.n - some.by_node(own)[:, :, :-1].sum(axis=0)
        some.by_node(rho)[:, :, :-1] += np.log(expected_shares(np.maximum(others, 0)))
        result[rows] = chances(rho, len(some.nodes))

    for _ in state.each(judge):
        pass
    return state.by_node(result)


def chances(rho: Floats, levels: int = 1) -> Floats:
    """Probabilities as :func:`soften` has them, but none is so small that it would be 0, and tie with all others."""
    below = rho - np.tile(rho.reshape(levels, -1, rho.shape[1]).max(axis=(0, 2)), levels)[:, None]
    far = below < FAR
    below[far] = FAR - np.log1p(FAR - below[far])
    return soften(below, levels)[0]


def weighed_at_nodes(state: AtSpread, r: Floats, clusters: Clusters) -> Floats:
    """The same where the other courses are not sure of their clusters either: on average over divisions of them."""
    drawn = divisions(state, r)
    if not drawn:
        return judged_at_nodes(state, r, clusters)
    total = np.zeros(state.by_node(r).shape)
    for z in drawn:
        one = z.astype(float)
        total += judged_at_nodes(state, one, Clusters.of(state, one))
    return total / len(drawn)


def weighed_beside(new: AtSpread, drawn: list[Clusters]) -> Floats:
    """Probabilities (N, K + 1) of new courses given clusters, on average over several draws of these."""
    none = new.over_nodes(new.alone) + np.log(NONE)
    each = [new.over_nodes(predictive(new, one)) + np.log(expected_shares(one.n)) for one in drawn]
    return np.asarray(np.mean([chances(np.column_stack([known, none])) for known in each], axis=0))


def placed_at(at_nodes: Floats) -> Floats:
    """Probability of each node in each course's likeliest cluster, (M, N), from those in all, (M, N, K + 1)."""
    nearest = at_nodes[:, :, :-1].sum(axis=0).argmax(axis=1)
    own = at_nodes[:, np.arange(at_nodes.shape[1]), nearest]
    return np.asarray(own / np.maximum(own.sum(axis=0), np.finfo(float).tiny))


def likeliest(probabilities: Floats) -> Ints:
    """The likeliest cluster, or -1 where "none" (the last column) is likelier than all clusters together."""
    return np.where(probabilities[:, -1] > 0.5, -1, probabilities[:, :-1].argmax(axis=1))


def counts(labels: NDArray[Any], k: int) -> Ints:
    """How many courses each of k clusters has, those in "none" (-1) left out, (k,)."""
    return np.bincount(labels[labels >= 0], minlength=k)


def staying(sizes: Ints, n: Floats, *, keep_single: bool) -> Bools:
    """Which clusters stay: those with a course, or with several without `keep_single`; the largest if none would."""
    keep = sizes > (0 if keep_single else 1)
    keep[n.argmax()] |= not keep.any()
    return keep


def kept(r: Floats, keep: Bools, empty: Bools) -> Floats:
    """The columns of the clusters to keep.

    What an empty cluster had goes to those that are left, in proportion: it was the double of one of them. What the
    others had goes to "none".
    """
    result = np.empty((len(r), int(keep.sum()) + 1))
    result[:, :-1] = r[:, :-1][:, keep]
    here, doubled = result[:, :-1].sum(axis=1), r[:, :-1][:, empty & ~keep].sum(axis=1)
    some = (here > 0) & (doubled > 0)
    shares = result[some, :-1] / here[some, None]  # first, since next to nothing may be here
    result[some, :-1] = shares * (here + doubled)[some, None]
    result[:, -1] = r[:, -1] + r[:, :-1][:, ~keep & ~empty].sum(axis=1) + np.where(here > 0, 0, doubled)
    return result
