"""Nodes of a pair: by how much the second course may be later and larger than the first, and how likely that is.

The difference is shared out equally, so that neither course stands for the curve: with the second later by d and larger
by e^u, the first is put at ``-d/2`` and ``-u/2``, the second at ``d/2`` and ``u/2``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from timelike.base.arrays import Floats, Ints
from timelike.gp.freedom import Freedom


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

    def __len__(self) -> int:
        return len(self.log_prior)

    @classmethod
    def of(cls, free: Freedom) -> PairNodes:
        """The nodes of two courses, each with this freedom."""
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
        return cls(at[0], at[1], by_gain, by_delay, prior.ravel(), shape, free.period)

    def some(self, which: Ints) -> PairNodes:
        """Some of the nodes, no longer in rows and columns."""
        places, moved = (self.first[which], self.second[which]), (self.log_gains[which], self.delays[which])
        return PairNodes(*places, *moved, self.log_prior[which], (1, len(which)), self.period)

    @property
    def gains(self) -> tuple[Floats, Floats]:
        """Gains of the first and of the second course, (T,) each."""
        return np.exp(-self.log_gains / 2), np.exp(self.log_gains / 2)


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
