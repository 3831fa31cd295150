"""lags: which course leads and which follows, among neighbours; their order in time, and that of groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from timelike.base import checks, odds
from timelike.base.arrays import Floats, Ints
from timelike.base.estimates import SIDE
from timelike.courses import TimeCourses
from timelike.exceptions import InputError
from timelike.gp import GP
from timelike.gp.freedom import asked_for, freedom
from timelike.pairs.aligned.compared import Compared, compared
from timelike.pairs.aligned.posterior import wrap
from timelike.pairs.aligned.route import AlignedRoute, route_of
from timelike.pairs.nearest.neighbors import neighbors
from timelike.pairs.positions import components, least_squares, mean_and_error, synchronised

if TYPE_CHECKING:
    import pandas as pd
    from scipy.sparse import csr_array

SAMPLE = 5000
"""Pairs from which it is learned how frequent pairs with one curve are."""
LEAST = 1e-12
"""Probabilities below this join nothing."""


class Positions(NamedTuple):
    """When each course comes, relative to the mean of those that it is joined to.

    Attributes
    ----------
    times : (N,)
        In the unit of the times; NaN for a course that nothing is joined to.
    component : (N,) int
        Courses with the same number are joined; only their times can be compared. The largest has number 0.
    """

    times: Floats
    component: Ints


@dataclass(frozen=True, eq=False)
class Lags:
    """Directed edges: who comes later than whom, the surest first.

    Attributes
    ----------
    leaders, followers : (E,) int
        Positions of the two courses.
    lag, low, high : (E,)
        How much later the follower comes if one curve explains both, and the bounds between which that lies with a
        probability of 90 %; in the unit of the times.
    similarity : (E,)
    probability : (E,)
        That one curve explains both and the follower comes later.
    fdr : (E,)
        Expected share of false ones among the edges down to each.
    names : tuple of str
    period : float or None
        Where lags are phases.
    """

    leaders: Ints
    followers: Ints
    lag: Floats
    low: Floats
    high: Floats
    similarity: Floats
    same: Floats
    """Probability that one curve explains both, (E,)."""
    probability: Floats
    fdr: Floats
    names: tuple[str, ...]
    period: float | None = None

    def __len__(self) -> int:
        return len(self.lag)

    def __repr__(self) -> str:
        sure = int((self.fdr <= 0.05).sum())
        return (
            f"Lags: {checks.counted(len(self), 'edge')} among {checks.counted(len(self.names), 'course')}, "
            f"{sure:,} at an expected false discovery rate of 5 %"
        )

    def to_frame(self) -> pd.DataFrame:
        """Table with columns leader, follower (names), lag, low, high, similarity, probability and fdr."""
        import pandas as pd

        names = np.array(self.names, dtype=object)
        ends = {"leader": names[self.leaders], "follower": names[self.followers]}
        columns = ("lag", "low", "high", "similarity", "probability", "fdr")
        return pd.DataFrame(ends | {name: getattr(self, name) for name in columns})

    def graph(self) -> csr_array:
        """The edges as a sparse matrix, (N, N): in the row of a leader, the probabilities of its followers."""
        from scipy.sparse import csr_array

        count = len(self.names)
        return csr_array((self.probability, (self.leaders, self.followers)), shape=(count, count))

    def positions(self) -> Positions:
        """When each course comes, from the lags alone.

        By least squares over all edges, each weighted by the probability of one curve and by how well its lag is known;
        where lags are phases, by the leading eigenvector of the matrix of rotations.

        Examples
        --------
        >>> import timelike as tl
        >>> courses, labels = tl.simulate.delayed(seed=1)
        >>> found = tl.lags(courses, tl.GP.se(0.2, 0.5, 0.1), max_delay=0.4)
        >>> times = found.positions().times
        >>> (times[labels == 2].mean() - times[labels == 0].mean()).round(2)
        np.float64(0.2)
        """
        used = self.same > LEAST
        component = components(self.leaders[used], self.followers[used], len(self.names))
        times = np.full(len(self.names), np.nan)
        for number in range(component.max() + 1):
            members = np.flatnonzero(component == number)
            if len(members) > 1:
                inside = used & (component[self.leaders] == number)
                times[members] = self._solved(members, np.flatnonzero(inside))
        return Positions(times, component)

    def _solved(self, members: Ints, edges: Ints) -> Floats:
        """Positions of courses that are joined, around a mean of zero."""
        place = np.zeros(len(self.names), dtype=np.intp)
        place[members] = np.arange(len(members))
        ends = place[self.leaders[edges]], place[self.followers[edges]]
        spread = np.maximum((self.high - self.low)[edges] / (2 * SIDE), np.finfo(float).tiny)
        if self.period is None:
            return least_squares(*ends, self.lag[edges], self.same[edges] / spread**2, len(members))
        angle = 2 * np.pi / self.period
        weight = self.same[edges] * np.exp(-((angle * spread) ** 2) / 2)
        return synchronised(*ends, angle * self.lag[edges], weight, len(members)) / angle

    def of_groups(self, labels: ArrayLike) -> GroupLags:
        """The order of groups of courses in time, by the positions of their members.

        Parameters
        ----------
        labels : (N,)
            The group of each course, such as the labels of a clustering; negative numbers stand for none.

        Examples
        --------
        >>> import timelike as tl
        >>> courses, labels = tl.simulate.delayed(seed=1)
        >>> found = tl.lags(courses, tl.GP.se(0.2, 0.5, 0.1), max_delay=0.4)
        >>> found.of_groups(labels).to_frame()["group"].tolist()
        [0, 1, 2]
        """
        groups = np.asarray(labels)
        if groups.shape != (len(self.names),):
            raise InputError(f"labels have shape {groups.shape}: expected one for each of {len(self.names):,} courses.")
        found = self.positions()
        known = np.isfinite(found.times) & (found.component == 0)
        if groups.dtype.kind in "if":
            known &= groups >= 0
        if not known.any():
            raise InputError("no course of a group is joined to another: there is no order. Take more neighbours.")
        kinds = np.unique(groups[known])
        members = [found.times[known & (groups == kind)] for kind in kinds]
        means, errors = np.array([mean_and_error(times, self.period) for times in members]).T
        order = np.argsort(means, kind="stable")
        counts = np.array([len(times) for times in members])
        return GroupLags(kinds[order], means[order], errors[order], counts[order], self.period)


@dataclass(frozen=True, eq=False)
class GroupLags:
    """Groups of courses in the order of time.

    Attributes
    ----------
    groups : (G,)
        Their labels, the earliest first.
    position : (G,)
        The mean of their members' positions, in the unit of the times.
    error : (G,)
        Its standard error.
    counts : (G,) int
        Members whose position is known.
    period : float or None
    """

    groups: Any
    position: Floats
    error: Floats
    counts: Ints
    period: float | None = None

    def __repr__(self) -> str:
        return "GroupLags: " + " -> ".join(f"{g} ({p:.3g})" for g, p in zip(self.groups, self.position, strict=True))

    def to_frame(self) -> pd.DataFrame:
        """Table with columns group, position, low, high (90 %) and count, in the order of time."""
        import pandas as pd

        bounds = {"low": self.position - SIDE * self.error, "high": self.position + SIDE * self.error}
        return pd.DataFrame({"group": self.groups, "position": self.position, **bounds, "count": self.counts})

    def lags_frame(self) -> pd.DataFrame:
        """Table with columns from, to, lag, low and high (90 %): every group to every later one."""
        import pandas as pd

        first, second = np.triu_indices(len(self.groups), 1)
        apart = self.position[second] - self.position[first]
        lag = apart if self.period is None else wrap(apart, self.period)
        error = SIDE * np.hypot(self.error[first], self.error[second])
        ends = {"from": self.groups[first], "to": self.groups[second]}
        return pd.DataFrame({**ends, "lag": lag, "low": lag - error, "high": lag + error})


def lags(
    courses: TimeCourses,
    gp: GP,
    k: int = 7,
    *,
    max_delay: float | None = None,
    up_to: Sequence[str] | str = ("delay",),
    fdr: float | None = None,
    threads: int | None = None,
) -> Lags:
    """Who comes later than whom, by how much and how surely, among the neighbours of each course.

    A lag is that of two courses with one curve: what is likely if they have one, and no cause. How frequent pairs are
    that have one curve at the same time, and one curve at different times, is learned from a sample of all pairs: where
    nothing comes later, no lag is sure.

    Parameters
    ----------
    courses, gp
    k
        Neighbours of each course; an edge holds if either end has it.
    max_delay
        How far apart in time two courses may be, in the unit of the times; not needed where the kernel is periodic.
    up_to
        In what courses may differ and still share a curve: "delay", and what else :func:`timelike.similarity` knows.
    fdr
        Keep the edges down to this expected false discovery rate; by default all.
    threads
        Number of threads; by default all that this process may use.

    Examples
    --------
    >>> import timelike as tl
    >>> courses, labels = tl.simulate.delayed(seed=1)         # a pulse that comes 0, 0.1 or 0.2 later
    >>> found = tl.lags(courses, tl.GP.se(0.2, 0.5, 0.1), max_delay=0.4, fdr=0.05)
    >>> bool((labels[found.leaders] <= labels[found.followers]).mean() > 0.95)
    True
    """
    names = asked_for(up_to)
    if "delay" not in names:
        raise InputError(f"up_to is {up_to!r}, but lags are delays: add 'delay' to it.")
    if fdr is not None and not (checks.is_number(fdr) and 0 < fdr <= 1):
        raise InputError(f"fdr is {fdr!r}: expected a number above 0, at most 1.")
    near = neighbors(courses, gp, k, up_to=names, max_delay=max_delay, threads=threads)
    way = gp.at(courses, freedom(courses, gp, names, max_delay)).once(route_of)
    if not isinstance(way, AlignedRoute):
        raise TypeError("delays without nodes.")
    rows, cols = _edges(near.indices)
    found = _directed(rows, cols, compared(way, rows, cols), _log_odds(way, len(courses)))
    rate = odds.running_fdr(found["probability"])
    order = np.argsort(-found["probability"], kind="stable")
    kept = order if fdr is None else order[rate[order] <= fdr]
    columns = {name: column[kept] for name, column in found.items()}
    return Lags(**columns, fdr=rate[kept], names=courses.names, period=way.nodes.period)


def _edges(indices: Ints) -> tuple[Ints, Ints]:
    """Pairs of which one is a neighbour of the other, each once, the smaller number first."""
    count, k = indices.shape
    rows, cols = np.repeat(np.arange(count), k), indices.ravel()
    keys = np.unique(np.minimum(rows, cols) * np.int64(count) + np.maximum(rows, cols))
    return keys // count, keys % count


def _log_odds(way: AlignedRoute, count: int) -> Floats:
    """Prior log odds of one curve at once, and of one curve later, to two curves, from a sample of all pairs, (2,)."""
    rng = np.random.default_rng(0)
    rows = rng.integers(0, count, SAMPLE)
    cols = (rows + rng.integers(1, count, SAMPLE)) % count
    found = compared(way, rows, cols)
    evidence = np.column_stack([found.at_once, found.scores])[:, :, None]
    none, *one = odds.learned(evidence, np.ones((SAMPLE, 2), dtype=bool)).kinds
    return np.log(np.array(one) / none)


def _directed(rows: Ints, cols: Ints, found: Compared, log_odds: Floats) -> dict[str, Any]:
    """The columns of edges in which the follower comes later."""
    if found.told.delay is None or found.told.later is None:
        raise TypeError("delays without nodes.")
    delay, later = found.told.delay, found.told.later
    back = delay.mean < 0
    logs = np.stack([np.zeros(len(rows)), found.at_once + log_odds[0], found.scores + log_odds[1]])
    two, _, moved = np.exp(logs - np.logaddexp.reduce(logs, axis=0))
    return {
        "leaders": np.where(back, cols, rows),
        "followers": np.where(back, rows, cols),
        "lag": np.abs(delay.mean),
        "low": np.where(back, -delay.high, delay.low),
        "high": np.where(back, -delay.low, delay.high),
        "similarity": found.scores,
        "same": 1 - two,
        "probability": moved * np.where(back, 1 - later, later),
    }
