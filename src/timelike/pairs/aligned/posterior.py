"""Delays and gains of pairs with intervals, from the log weights of nodes.

Nodes are so far apart that a sum over them is right, not so near that an interval could be read off. The logarithm of
what the data say about a delay is smooth, nearly a parabola: a spline through the nodes gives it everywhere.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from timelike.base.arrays import Floats
from timelike.base.estimates import TAIL, Estimate
from timelike.gp.freedom import Freedom
from timelike.pairs.aligned.nodes import MOST_STEPS, PairNodes, Prior, log_prior_of_delays, log_prior_of_gains
from timelike.pairs.aligned.placed import log_sum

FINER = 16
"""Steps between two nodes, where these are near enough for a sum."""
AT_ONCE = 4_000_000
"""Numbers worked on at once."""


class Told(NamedTuple):
    """What pairs say about how much later and larger the second is; None about what is not free."""

    delay: Estimate | None
    gain: Estimate | None
    later: Floats | None
    """Probability that the second comes later, (P,)."""


def told(nodes: PairNodes, free: Freedom, logs: Floats) -> Told:
    """Delay and gain of pairs with the log weights `logs` (T, P) of their nodes."""
    step = max(1, AT_ONCE // (_steps(nodes) * max(nodes.shape)))
    return joined([_told(nodes, free, logs[:, p : p + step]) for p in range(0, logs.shape[1], step)])


def joined(parts: list[Told]) -> Told:
    """What pairs say, of several sets of pairs one after the other."""
    delay, gain = (_estimates([part[k] for part in parts]) for k in (0, 1))
    later = [part.later for part in parts if part.later is not None]
    return Told(delay, gain, np.concatenate(later) if later else None)


def _estimates(parts: list[Any]) -> Estimate | None:
    return None if parts[0] is None else Estimate(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _told(nodes: PairNodes, free: Freedom, logs: Floats) -> Told:
    weights = logs.reshape(*nodes.shape, -1)
    delay = gain = later = None
    if "delay" in free.names:
        delay, later = _delay(nodes, free, log_sum(weights.copy()))
    if "gain" in free.names:
        axis = nodes.log_gains.reshape(nodes.shape)[:, 0]
        along = log_sum(np.moveaxis(weights, 1, 0).copy())
        found = density(axis, along, lambda u: log_prior_of_gains(free, u), _steps(nodes))
        gain = Estimate(*(np.exp(part) for part in found.estimate()))
    return Told(delay, gain, later)


def _delay(nodes: PairNodes, free: Freedom, logs: Floats) -> tuple[Estimate, Floats]:
    axis = nodes.delays[: nodes.shape[1]]
    if nodes.period is None:
        found = density(axis, logs, lambda d: log_prior_of_delays(free, d), _steps(nodes))
        return found.estimate(), found.above(0.0)
    # Phases are looked at from the most likely one, half a period to both sides.
    count, step = len(axis), nodes.period / len(axis)
    middle = np.argmax(logs, axis=0)
    around = np.arange(count) - count // 2
    turned = np.take_along_axis(logs, (middle + around[:, None]) % count, axis=0)
    found = density(step * around, turned, np.zeros_like, _steps(nodes))
    mean, low, high = (part + axis[middle] for part in found.estimate())
    wrapped = wrap(mean, nodes.period)
    later = np.zeros(len(mean))
    for start in nodes.period * np.array([-1, 0, 1]):  # half a period from here on is later
        later += found.between(start - axis[middle], start + nodes.period / 2 - axis[middle])
    return Estimate(wrapped, low + wrapped - mean, high + wrapped - mean), later


def wrap(delays: Floats, period: float) -> Floats:
    """Phases between plus and minus half a period.

    Examples
    --------
    >>> wrap(np.array([13.0, -1.0]), 24.0)
    array([-11.,  -1.])
    """
    return delays - period * np.round(delays / period)


class Density(NamedTuple):
    """Densities of P things that are uncertain, on a fine grid of F values."""

    at: Floats
    """(F,)"""
    cumulative: Floats
    """Probability up to each value, (F, P)."""

    def estimate(self) -> Estimate:
        """Means and intervals."""
        weight = np.diff(self.cumulative, axis=0)
        mean = (self.at[1:] + self.at[:-1]) / 2 @ weight
        return Estimate(mean, self.quantile(TAIL), self.quantile(1 - TAIL))

    def quantile(self, share: float) -> Floats:
        """Up to where so much of each lies, (P,)."""
        after = np.clip((self.cumulative < share).sum(axis=0), 1, len(self.at) - 1)
        below, above = (np.take_along_axis(self.cumulative, at[None], 0)[0] for at in (after - 1, after))
        part = (share - below) / np.maximum(above - below, np.finfo(float).tiny)
        return self.at[after - 1] + np.clip(part, 0, 1) * (self.at[after] - self.at[after - 1])

    def above(self, value: float | Floats) -> Floats:
        """Probability of more than this, (P,)."""
        place = np.clip((value - self.at[0]) / (self.at[1] - self.at[0]), 0, len(self.at) - 1)
        place = np.broadcast_to(place, self.cumulative.shape[1:])
        before = np.minimum(place.astype(int), len(self.at) - 2)
        low, high = (np.take_along_axis(self.cumulative, at[None], 0)[0] for at in (before, before + 1))
        return 1 - (low + (place - before) * (high - low))

    def between(self, low: Floats, high: Floats) -> Floats:
        """Probability of a value between two, (P,)."""
        return self.above(low) - self.above(high)


def _steps(nodes: PairNodes) -> int:
    """Steps between two nodes."""
    return FINER if nodes.axes is None else 2 * MOST_STEPS


def density(axis: Floats, logs: Floats, log_prior: Prior, steps: int = FINER) -> Density:
    """Densities from log weights of nodes (K, P), of which the data's part is interpolated, not the prior's."""
    from scipy.interpolate import CubicSpline

    data = CubicSpline(axis, logs - log_prior(axis)[:, None])
    fine = np.linspace(axis[0], axis[-1], steps * (len(axis) - 1) + 1)
    values = data(fine) + log_prior(fine)[:, None]
    values = np.exp(values - values.max(axis=0))
    cumulative = np.zeros(values.shape)
    np.cumsum((values[1:] + values[:-1]) / 2, axis=0, out=cumulative[1:])
    return Density(fine, cumulative / cumulative[-1])
