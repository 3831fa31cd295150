"""Freedoms in clusters: how much gains and delays differ, learned from the clusters, and which freedoms pay."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from timelike.base.arrays import Floats
from timelike.clusters.curves.ascent import climbed, responsibilities
from timelike.clusters.curves.bound import AnySpread, Fit, sample
from timelike.clusters.curves.noise_search import CLEAR
from timelike.courses import TimeCourses
from timelike.exceptions import DataWarning, hushed
from timelike.gp import GP
from timelike.gp.freedom import FURTHEST, MOST, NAMES, Freedom, asked_for, freedom, nodes, period_of

SEARCHED, ONE_SEARCHED = (11, 13), (25, 25)
"""Nodes of gains and of delays on which clusters are sought, at most: where both are free, and where one is."""
PLACED, ONE_PLACED = (15, 21), (MOST, MOST)
"""Nodes on which courses are placed in their clusters, likewise."""
MOST_ROWS = 500_000
"""Courses times nodes, at most."""
ROUNDS = 20
"""How often clusters and the prior of gains and delays take turns, at most."""
LEAST_RISE = 0.1
"""as long as the bound rises by so much."""
EARNERS = 150
"""So many courses, drawn at random, decide whether a freedom pays."""
NARROWEST = 0.1
"""Smallest standard deviation of gains and delays, in steps between two nodes: then there are none."""


def searched(data: AnySpread) -> tuple[int, int]:
    """Nodes of gains and of delays on which clusters are sought."""
    return _within(data.free, len(data), SEARCHED if _both(data.free) else ONE_SEARCHED)


def refined_nodes(fine: Freedom, known: Freedom, count: int) -> Freedom:
    """The prior that was learned, on all nodes that so many courses can afford, of gains as far as it reaches."""
    gains = fine.log_gains
    if len(gains) > 1:
        gains = nodes(min(FURTHEST * max(known.gain_sd, 2 * fine.step[0]), gains[-1]), fine.step[0])
    free = replace(known, log_gains=gains, delays=fine.delays)
    return free.thinned(*_within(free, count, PLACED if _both(free) else ONE_PLACED))


def nearer(free: Freedom) -> Freedom:
    """The freedom with as many nodes of gains, but no further than the prior reaches, so nearer to each other."""
    count, furthest = len(free.log_gains), FURTHEST * free.gain_sd
    if count == 1 or furthest >= free.log_gains[-1]:
        return free
    return replace(free, log_gains=tuple(np.linspace(-furthest, furthest, count).tolist()))


def _both(free: Freedom) -> bool:
    return len(free.log_gains) > 1 and len(free.delays) > 1


def on_other_nodes(free: Freedom, r: Floats, other: Freedom) -> Floats:
    """Responsibilities of rows at nodes, (M N, K + 1), each at the nearest node of another freedom."""
    gains, delays = (free.log_gains, other.log_gains), (free.delays, other.delays)
    gain, delay = (np.abs(np.subtract.outer(*known)).argmin(axis=1) for known in (gains, delays))
    nearest = np.add.outer(gain * len(other.delays), delay).ravel()
    each = r.reshape(len(free), -1, r.shape[1])
    result = np.zeros((len(other), *each.shape[1:]))
    np.add.at(result, nearest, each)
    return result.reshape(-1, r.shape[1])


def _within(free: Freedom, count: int, most: tuple[int, int]) -> tuple[int, int]:
    """At most so many nodes of gains and delays, and fewer where there are many courses."""
    gains, delays = min(most[0], len(free.log_gains)), min(most[1], len(free.delays))
    share = min(1.0, MOST_ROWS / (count * gains * delays))
    smaller = share ** (1 / max((gains > 1) + (delays > 1), 1))
    return max(3, int(gains * smaller)) if gains > 1 else 1, max(3, int(delays * smaller)) if delays > 1 else 1


def learned(data: AnySpread, fit: Fit, spread: float | None) -> tuple[AnySpread, Fit]:
    """The courses with the prior of gains and delays that suits their clusters, and the fit to them."""
    for _ in range(ROUNDS):
        suited, weights = _suited(data.free, fit), responsibilities(data, fit)
        alone = replace(suited, delay_sd=data.free.delay_sd)  # delays that are all equally likely may suit better
        tried = [replace(data, free=free) for free in dict.fromkeys((suited, alone))]
        again, higher = max(((one, climbed(one, weights, spread)) for one in tried), key=lambda pair: pair[1].bound)
        if higher.bound < fit.bound + LEAST_RISE:
            break
        data, fit = again, higher
    return data, fit


def _suited(free: Freedom, fit: Fit) -> Freedom:
    """The freedom whose prior suits the expected gains and delays in clusters best."""
    if fit.clusters.levels is None:
        return free
    counts = fit.clusters.levels.sum(axis=0).reshape(len(free.log_gains), len(free.delays))
    gain_step, delay_step = free.step
    gain_sd = max(_sd(np.array(free.log_gains), counts.sum(axis=1)), NARROWEST * gain_step)
    delay_sd = max(_sd(np.array(free.delays), counts.sum(axis=0)), NARROWEST * delay_step)
    return replace(
        free,
        gain_sd=gain_sd if len(free.log_gains) > 1 else free.gain_sd,
        delay_sd=delay_sd if len(free.delays) > 1 and free.period is None else np.inf,
    )


def _sd(at: Floats, weights: Floats) -> float:
    return float(np.sqrt(at**2 @ weights / weights.sum()))


Reached = Callable[[AnySpread], float]
"""The bound that courses reach with the freedoms that they have."""


# -- which of them pay -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Asked:
    """The freedoms that a caller asks for: by name, or those that pay.

    Attributes
    ----------
    courses, gp
    up_to
        Their names, or of all that could pay.
    auto
        Only those that pay are taken.
    max_delay
    """

    courses: TimeCourses
    gp: GP
    up_to: tuple[str, ...]
    auto: bool
    max_delay: float | None

    @classmethod
    def of(cls, courses: TimeCourses, gp: GP, up_to: str | Sequence[str], max_delay: float | None) -> Asked:
        """What is asked for, once it is clear that it can be had."""
        auto = isinstance(up_to, str) and up_to == "auto"
        can_delay = max_delay is not None or period_of(gp.kernel) is not None
        names = asked_for(up_to) if not auto else NAMES if can_delay else NAMES[:2]
        freedom(courses, gp, names, max_delay)
        return cls(courses, gp, names, auto, max_delay)

    def freedom(self, names: tuple[str, ...], courses: TimeCourses | None = None) -> Freedom:
        """The freedoms with these names, of all or other courses; what there is to say of them has been said."""
        with hushed(DataWarning):
            asked = self.courses if courses is None else courses
            return freedom(asked, self.gp, names, self.max_delay if "delay" in names else None)

    @property
    def levels(self) -> bool:
        """Whether levels may differ."""
        return "level" in self.up_to

    def names(self, weighed: TimeCourses, reached: Reached) -> tuple[tuple[str, ...], dict[str, float]]:
        """The freedoms to take, and what each adds to the log evidence of a course, by the bounds that some reach."""
        if not self.up_to:
            return (), {}
        which = np.sort(np.random.default_rng(0).permutation(len(weighed))[:EARNERS])
        few = weighed if len(which) == len(weighed) else weighed.select(which)

        def bound(names: tuple[str, ...]) -> float:
            price = level_price(few, self.gp) if "level" in names else 0.0
            return reached(sample(self.gp.at(few, self.freedom(names, few)).smooth())) - price

        prices = Prices(cache(bound), len(few))
        names = prices.paying(self.up_to) if self.auto else self.up_to
        return names, prices.earned(names)


class Prices(NamedTuple):
    """The bound that so many courses reach with the freedoms of each set of names."""

    bound: Callable[[tuple[str, ...]], float]
    courses: int

    def earned(self, names: tuple[str, ...]) -> dict[str, float]:
        """What each freedom adds to the log evidence of a course, beside the others."""
        without = {name: tuple(other for other in names if other != name) for name in names}
        return {name: (self.bound(names) - self.bound(rest)) / self.courses for name, rest in without.items()}

    def paying(self, candidates: tuple[str, ...]) -> tuple[str, ...]:
        """The freedoms that raise the bound clearly, one after the other, the one that raises it most first."""
        taken: tuple[str, ...] = ()
        while len(taken) < len(candidates):
            sets = [_ordered((*taken, name)) for name in candidates if name not in taken]
            best = max(sets, key=self.bound)
            if self.bound(best) < self.bound(taken) + CLEAR:
                break
            taken = best
        return taken


def _ordered(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in NAMES if name in names)


def level_price(courses: TimeCourses, gp: GP) -> float:
    """What levels of their own cost courses, whose size is that of the levels there are, at least that of the signal.

    The bound integrates over levels as if all were equally likely; under a normal distribution of variance L^2 they
    have the density ``exp(-level^2 / 2 L^2) / sqrt(2 pi) L``, on average over levels of just that variance.
    """
    middles = np.array([courses.values[a:b].mean() for a, b in pairwise(courses.starts)]) - gp.mean
    variance = gp.signal_sd**2 + float((middles**2).mean())
    return len(courses) * float(np.log(2 * np.pi * variance) + 1) / 2
