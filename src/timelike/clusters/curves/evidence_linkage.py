"""evidence_linkage: a tree of merges, each of the two clusters that most want one curve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from timelike.base import checks
from timelike.base.arrays import Floats, Ints
from timelike.base.blas import one_thread_below
from timelike.clusters.curves.aligned_merges import agglomerate_aligned
from timelike.clusters.curves.ascent import check_spread, climb, one_hot, placed, responsibilities, sure
from timelike.clusters.curves.bound import AnySpread, AtSpread, Clusters, Given, sample, scores, soften
from timelike.clusters.curves.curve_clustering import CurveClustering
from timelike.clusters.curves.freedom_search import searched
from timelike.clusters.curves.membership import Choice, Step, judged_at_nodes, placed_at
from timelike.clusters.curves.merges import Merges, agglomerate
from timelike.clusters.curves.mixture import LEAST_GAIN, sought
from timelike.clusters.curves.notes import say_continuum, say_fewer
from timelike.clusters.tree import cut_tree
from timelike.courses import TimeCourses
from timelike.exceptions import InputError
from timelike.gp import GP
from timelike.gp.freedom import Freedom, freedom

MOST = 20_000
"""All gains are kept, (N, N): so many courses take 3.2 GB."""
MOVED = 9, 13
"""Nodes of gains and of delays by which clusters are moved, at most."""
MOST_MOVED = 2000
"""So many courses can be moved."""
SETTLING = 10
"""How often courses find their places in clusters anew."""
SCOUTS = 1000
"""So many courses at most, drawn at random, show how much those of a cluster differ."""
SHOWN = 50
"""Numbers of clusters in the path, from one on; `evidence` has them all."""


def evidence_linkage(
    courses: TimeCourses,
    gp: GP,
    k: int | None = None,
    *,
    spread: float | None = None,
    up_to: str | Sequence[str] = (),
    max_delay: float | None = None,
) -> CurveClustering:
    """Clusters from merging, again and again, the two with the largest ``E(P + Q) - E(P) - E(Q)``.

    That is the log likelihood ratio of "one curve" to "two curves" for the courses of P and Q: the similarity, taken
    for sets. Any times, replicates and known errors.

    Parameters
    ----------
    courses
        At most 20,000; :func:`timelike.mixture` takes more.
    gp
        From :func:`timelike.fit`, or given.
    k
        Number of clusters. By default it is learned with the spread. Where the spread is given, it is the number for
        which the evidence of all clusters, plus the log probability of dividing the courses so, is largest (all
        divisions into k sizes are equally likely a priori).
    spread
        How much curves of one cluster differ, in units of the signal_sd. 0: courses of a cluster are identical but for
        the noise, as in the paper; real courses then make a great many clusters. By default learned, by a quick
        :func:`timelike.mixture` of at most 1,000 of the courses; 0 where a spread does not clearly describe these
        better. Where they look like a continuum, a warning says so.
    up_to, max_delay
        In what courses of a cluster may differ: any of ``"level"``, ``"gain"`` and ``"delay"``, as in
        :func:`timelike.mixture`. Two clusters are merged where one, moved in time and made larger, suits the other
        best; with gains or delays at most 2,000 courses.

    Returns
    -------
    CurveClustering
        ``linkage`` is SciPy's: heights are losses of evidence, ``E(P) + E(Q) - E(P + Q)``, made non-decreasing by a
        running maximum and shifted to begin at zero. ``evidence`` has what speaks for each cut of this tree: with
        each course in one cluster and no other, often for more clusters than are learned with a spread.

    Examples
    --------
    >>> import timelike as tl
    >>> courses, truth = tl.simulate.profiles(noise=0.05, seed=1)
    >>> found = evidence_linkage(courses, tl.fit(courses))
    >>> found
    Clustering: 150 courses in 3 clusters (49, 51, 50), evidence linkage
    >>> found.linkage[-3:, 2].round()
    array([  17.,  585., 1754.])
    """
    checks.instance(courses, TimeCourses, "courses")
    checks.instance(gp, GP, "gp")
    free = freedom(courses, gp, up_to, max_delay)
    _check(courses, k, spread, free)
    with one_thread_below():
        here = gp.at(courses, free.thinned(*MOVED)).smooth()
        data = sample(here)
        choice = _learned(data, k) if spread is None else None
        tau = float(spread or 0) if choice is None else choice.fit.spread
        tree = _Tree(data.at(tau))
        number = int(k or (tree.best if choice is None else choice.fit.k))
        weights, at_nodes = tree.weights(data.at(tau), number)
        found = CurveClustering(
            labels=tree.labels(number),
            names=courses.names,
            k=number,
            method="evidence linkage",
            linkage=tree.linkage,
            evidence=dict(enumerate(tree.totals.tolist(), start=1)),
            here=here,
            spread=tau,
            responsibilities=one_hot(tree.labels(number), number),
            level_weights=weights,
            places=None if at_nodes is None else placed_at(at_nodes),
            learned=spread is None,
            path=tree.path(tau),
            continuum=choice is not None and choice.doubtful,
        )
        found = found.renumbered(found.peak_order())
    if choice is not None:
        say_fewer(number, k)
        say_continuum(number, choice)
    return found


def _check(courses: TimeCourses, k: int | None, spread: float | None, free: Freedom) -> None:
    if len(free) > 1 and len(courses) > MOST_MOVED:
        raise InputError(
            f"evidence linkage up to gain or delay moves each of {len(courses):,} courses against all others, and "
            f"stops at {MOST_MOVED:,}. Use timelike.mixture, or link a sample and predict the rest."
        )
    if len(courses) > MOST:
        raise InputError(
            f"evidence linkage keeps a number for each of {len(courses):,} x {len(courses):,} pairs, and stops at "
            f"{MOST:,} courses. Use timelike.mixture, or link a sample and predict the rest."
        )
    if k is not None:
        checks.whole(k, "k", 1, len(courses), "courses")
    check_spread(spread)


def _learned(data: AnySpread, k: int | None) -> Choice:
    """A mixture of some of the courses, whose spread and number of clusters go together.

    The evidence of a tree cannot choose them: it knows no course between two clusters, and so prefers many clusters
    without spread. Courses are identical where a spread does not raise the bound by what it costs.
    """
    few = data.draw(SCOUTS, seed=0)
    few = few.thinned(*searched(few)) if len(few.free) > 1 else few
    choice = sought(few, None if k is None else min(k, len(few)), None, None, seed=0)
    identical = climb(few, responsibilities(few, choice.fit), 0.0)
    earned = choice.fit.bound - identical.bound > LEAST_GAIN
    return choice if earned else replace(choice, fit=replace(choice.fit, spread=0.0))


class _Tree:
    """All merges of some courses, and what speaks for stopping before each."""

    def __init__(self, state: AtSpread) -> None:
        self.free = state.nodes.free
        self.merges, self.places = _merged(state)
        self.linkage = self.merges.linkage()
        self.totals = totals(state, self.merges)
        self.best = int(self.totals.argmax()) + 1

    def total(self, k: int | None) -> float:
        """What speaks for k clusters, or for the best number of them."""
        return float(self.totals[(k or self.best) - 1])

    def certain(self, k: int) -> Given:
        """Responsibilities of the cut into k."""
        return sure(self.labels(k), k) if len(self.free) == 1 else placed(self.labels(k), k, self.places, self.free)

    def weights(self, state: AtSpread, k: int) -> tuple[Floats | None, Floats | None]:
        """Responsibilities of the cut into k at each node, and with each course judged by the others, (M, N, k + 1).

        Courses stay in their clusters, and find their places there, in turns with the clusters' curves.
        """
        if len(self.free) == 1:
            return None, None
        r, members = self.certain(k).r, one_hot(self.labels(k), k)
        for _ in range(SETTLING):
            r = _within(state, scores(state, Clusters.of(state, r)), members)
        at_nodes = judged_at_nodes(state, r, Clusters.of(state, r))
        return state.by_node(r), at_nodes

    def labels(self, k: int) -> Ints:
        """The cut into k."""
        return cut_tree(self.linkage, k).astype(np.intp)

    def path(self, spread: float) -> tuple[Step, ...]:
        """What is worth knowing about each cut, from one cluster on."""
        return tuple(self._step(k, spread) for k in range(1, min(len(self.totals), SHOWN) + 1))

    def _step(self, k: int, spread: float) -> Step:
        sizes = np.bincount(self.labels(k))
        cost = -self.merges.gains[-(k - 1)] if k > 1 else np.nan
        per_course = (self.totals.max() - self.totals[k - 1]) / len(self.totals)
        return Step(k, float(self.totals[k - 1]), float(per_course), float(cost), spread, tuple(map(float, sizes)))


def _merged(state: AtSpread) -> tuple[Merges, Ints]:
    """All merges, and where each course is, in nodes of gain and delay."""
    if len(state.nodes) > 1:
        return agglomerate_aligned(state)
    return agglomerate(state), np.zeros((len(state), 2), dtype=np.intp)


def _within(state: AtSpread, rho: Floats, members: Floats) -> Floats:
    """Responsibilities at each node, of courses that stay in their clusters."""
    other = np.tile(members, (len(state.nodes), 1)) == 0
    return soften(np.where(other, -np.inf, rho), len(state.nodes))[0]


def totals(state: AtSpread, merges: Merges) -> Floats:
    """For k = 1, ..., N clusters: their evidence, the courses' constants, and the log prior of such a division.

    Going down from N clusters each merge adds its gain to the evidence and changes two sizes.
    """
    from scipy.special import gammaln

    count = len(state)
    size = np.concatenate([np.ones(count), merges.sizes])
    joined = gammaln(1 + merges.sizes) - gammaln(1 + size[merges.pairs]).sum(axis=1)
    k = np.arange(count, 0, -1)
    alone = float(state.over_nodes(state.alone).sum() + state.common.sum())
    sums = alone + np.concatenate([[0.0], np.cumsum(merges.gains + joined)])
    prior = gammaln(k) - gammaln(k + count) + gammaln(k + 1)
    return (sums + prior)[::-1]
