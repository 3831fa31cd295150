"""Nodes of a pair: by how much the second course may be later and larger than the first, and how likely that is.

The difference is shared out equally, so that neither course stands for the curve: with the second later by d and larger
by e^u, the first is put at ``-d/2`` and ``-u/2``, the second at ``d/2`` and ``u/2``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from timelike.base.arrays import Floats, Ints
from timelike.gp.freedom import STEP, Freedom, scale_of, uncertainty

if TYPE_CHECKING:
    from timelike.courses import TimeCourses
    from timelike.gp import GP

Prior = Callable[[Floats], Floats]
ENOUGH = 1.2
"""Nodes may be so many times as far apart as courses can tell."""
MOST_STEPS = 40
"""Steps between two nodes."""


@dataclass(frozen=True, eq=False)
class PairNodes:
    """Where the two courses of a pair are put, node after node: delays within gains.

    Examples
    --------
    >>> nodes = PairNodes.of(Freedom(delays=(-1.0, 0.0, 1.0)))
    >>> nodes.delays, nodes.first, nodes.second
    (array([-2.,  0.,  2.]), array([2, 1, 0]), array([0, 1, 2]))
    >>> np.exp(nodes.log_prior).round(2)      # as the difference of two delays that are equally likely
    array([0.2, 0.6, 0.2])
    """

    first: Ints
    """Which of the delays of its freedom the first course has, (T,)."""
    second: Ints
    """Likewise the second."""
    log_gains: Floats
    """Logarithm of how much larger the second is, (T,)."""
    delays: Floats
    """How much later the second is, (T,)."""
    log_prior: Floats
    """Log probability of each node, (T,)."""
    shape: tuple[int, int]
    """Gains and delays."""
    period: float | None = None
    """Where delays go all the way round."""
    axes: tuple[Axis, Axis] | None = None
    """Gains and delays with more nodes filled in between, where there are too few."""

    def __len__(self) -> int:
        return len(self.log_prior)

    @classmethod
    def of(cls, free: Freedom, finer: tuple[int, int] = (1, 1)) -> PairNodes:
        """The nodes of two courses, each with this freedom; `finer`: steps between two gains, and two delays."""
        delays, gains = np.array(free.delays), 2 * np.array(free.log_gains)
        places = np.arange(len(delays))
        if free.period is None:
            first, apart = places[::-1], 2 * delays
        else:  # all the way round: the first stays where it is
            first, apart = np.full(len(delays), len(delays) // 2), delays
        prior = _normalised(log_prior_of_gains(free, gains))[:, None] + _normalised(log_prior_of_delays(free, apart))
        shape = len(gains), len(delays)
        at = np.tile(np.stack([first, places]), shape[0])
        by_gain, by_delay = np.repeat(gains, shape[1]), np.tile(apart, shape[0])
        found = cls(at[0], at[1], by_gain, by_delay, prior.ravel(), shape, free.period)
        if finer == (1, 1):
            return found
        along = Axis.of(gains, finer[0], partial(log_prior_of_gains, free))
        return replace(found, axes=(along, Axis.of(apart, finer[1], partial(log_prior_of_delays, free), free.period)))

    def some(self, which: Ints) -> PairNodes:
        """Some of the nodes, no longer in rows and columns."""
        places, moved = (self.first[which], self.second[which]), (self.log_gains[which], self.delays[which])
        return PairNodes(*places, *moved, self.log_prior[which], (1, len(which)), self.period)

    @property
    def gains(self) -> tuple[Floats, Floats]:
        """Gains of the first and of the second course, (T,) each."""
        return np.exp(-self.log_gains / 2), np.exp(self.log_gains / 2)


@dataclass(frozen=True, eq=False)
class Axis:
    """Gains, or delays, with more nodes between those that are computed."""

    at: Floats
    """(F,)"""
    filled: Floats
    """What makes of data at K nodes those at F, by a spline, (F, K)."""
    log_prior: Floats
    """Log probability of each, (F,)."""
    period: float | None = None

    @classmethod
    def of(cls, nodes: Floats, finer: int, log_prior: Prior, period: float | None = None) -> Axis:
        """With so many steps between two nodes."""
        from scipy.interpolate import CubicSpline

        if len(nodes) == 1:
            return cls(nodes, np.ones((1, 1)), np.zeros(1))
        if period is None:
            at = np.linspace(nodes[0], nodes[-1], finer * (len(nodes) - 1) + 1)
            filled = CubicSpline(nodes, np.eye(len(nodes)))(at)
        else:
            at = np.linspace(nodes[0], nodes[0] + period, finer * len(nodes), endpoint=False)
            closed = np.concatenate([np.eye(len(nodes)), np.eye(len(nodes))[:1]])
            filled = CubicSpline([*nodes, nodes[0] + period], closed, bc_type="periodic")(at)
        return cls(at, filled, _normalised(log_prior(at)), period)


def finer(courses: TimeCourses, gp: GP, free: Freedom) -> tuple[int, int]:
    """Steps between two gains, and two delays, that courses can tell apart: 1 and 1 where there are nodes enough."""
    told = STEP * uncertainty(courses, gp)
    units = (told, told * scale_of(courses, gp))
    axes = (free.log_gains, free.delays)
    steps = [(nodes[1] - nodes[0]) / unit if len(nodes) > 1 else 1.0 for nodes, unit in zip(axes, units, strict=True)]
    if len(free.delays) > 1 and not smooth(courses, gp):
        steps[1] = 0.5  # what the data say has kinks, through which no spline goes
    if max(steps) <= ENOUGH:
        return 1, 1
    gains, delays = (int(np.clip(np.ceil(2 * step), 1, MOST_STEPS)) for step in steps)
    return gains, delays


def smooth(courses: TimeCourses, gp: GP) -> bool:
    """Whether curves have slopes: they then change over a short time by a fourth of the variance over twice of that.

    Examples
    --------
    >>> import timelike as tl
    >>> courses, _ = tl.simulate.profiles(seed=1)
    >>> [smooth(courses, tl.GP(kernel, 1, 0.1)) for kernel in ("se", "matern32", "matern12")]
    [True, True, False]
    """
    middle, short = np.median(courses.designs.points), 1e-3 * scale_of(courses, gp)
    K = gp.covariance(middle + short * np.arange(3)[:, None])
    once, twice = (K[0, 0] + K[k, k] - 2 * K[0, k] for k in (1, 2))
    return bool(twice > 3 * once)


def log_prior_of_gains(free: Freedom, log_gains: Floats) -> Floats:
    """Log density, up to a constant, of how much larger one of two courses is."""
    return np.asarray(-((log_gains / free.gain_sd) ** 2) / 4)


def log_prior_of_delays(free: Freedom, delays: Floats) -> Floats:
    """Log density, up to a constant, of how much later one of two courses is."""
    if free.period is not None or len(free.delays) == 1:
        return np.zeros(len(delays))
    if np.isfinite(free.delay_sd):
        return np.asarray(-((delays / free.delay_sd) ** 2) / 4)
    step = free.delays[1] - free.delays[0]
    return np.log1p(-np.abs(delays) / (2 * free.delays[-1] + step))


def _normalised(logs: Floats) -> Floats:
    return np.asarray(logs - np.logaddexp.reduce(logs))
