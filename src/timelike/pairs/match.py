"""match: one pair of courses up to level, gain and delay: by how much the second is later and larger."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from timelike.base import checks
from timelike.base.arrays import Floats
from timelike.base.blas import one_thread_below
from timelike.base.estimates import Estimate
from timelike.courses import TimeCourses
from timelike.gp import GP
from timelike.gp.freedom import Freedom, freedom
from timelike.pairs.aligned.nodes import PairNodes, finer, log_prior_of_delays, log_prior_of_gains
from timelike.pairs.aligned.pair import pair_logs
from timelike.pairs.aligned.posterior import Told, told
from timelike.pairs.aligned.sums import node_sum
from timelike.pairs.explain import position

if TYPE_CHECKING:
    import pandas as pd

LOOKED_AT = 33
"""Nodes of delays, and of gains, where the pair is likely to be."""
UNLIKELY = 12.0
"""Nodes whose log weight is so much below the largest are not looked at again."""


@dataclass(frozen=True, eq=False)
class Match:
    """Two courses up to level, gain and delay.

    Attributes
    ----------
    pair : TimeCourses
        The first and the second course.
    gp : GP
    s : float
        Their similarity, as :func:`timelike.similarity` has it: above zero, one curve explains both better.
    delay : float or None
        How much later the second comes, in the unit of the times, if one curve explains both: the mean of what is
        likely. None where delays were not asked for.
    delay_interval : tuple of two floats or None
        Where it lies with a probability of 90 %. Of a phase, the arc around it.
    gain : float or None
        How many times as large the second is, likewise.
    gain_interval : tuple of two floats or None
    levels : tuple of two floats or None
        The level of each course, where levels were asked for.
    """

    pair: TimeCourses
    gp: GP
    s: float
    delay: float | None = None
    delay_interval: tuple[float, float] | None = None
    gain: float | None = None
    gain_interval: tuple[float, float] | None = None
    levels: tuple[float, float] | None = None

    def __repr__(self) -> str:
        doubt = "" if self.s > 0 else ": two curves explain them better"
        return f"Match: {self.sentence}; s = {self.s:.3g}{doubt}"

    @property
    def first(self) -> str:
        """Name of the first course."""
        return self.pair.names[0]

    @property
    def second(self) -> str:
        """Name of the second course."""
        return self.pair.names[1]

    @property
    def sentence(self) -> str:
        """How the second course is the first, if one curve explains both, in words."""
        return f"{self.second} is {self.first} {', '.join(self.differences) or 'as it is'}"

    @property
    def differences(self) -> list[str]:
        """By how much the second course is later, larger and higher, in words: one for each freedom."""
        higher = []
        if self.levels is not None:
            higher = [f"{abs(self.levels[1] - self.levels[0]):.2g} {self._level_word()}"]
        return [*self._delay_in_words(), *self._gain_in_words(), *higher]

    def _delay_in_words(self) -> list[str]:
        if self.delay is None or self.delay_interval is None:
            return []
        sign, word = (1, "later") if self.delay >= 0 else (-1, "earlier")
        low, high = sorted(sign * bound for bound in self.delay_interval)
        return [f"{abs(self.delay):.2g} {word} ({low:.2g} to {high:.2g})"]

    def _gain_in_words(self) -> list[str]:
        if self.gain is None or self.gain_interval is None:
            return []
        low, high = self.gain_interval
        return [f"{self.gain:.2g} times as large ({low:.2g} to {high:.2g})"]

    def _level_word(self) -> str:
        return "higher" if self.levels is not None and self.levels[1] >= self.levels[0] else "lower"

    def to_frame(self) -> pd.DataFrame:
        """Table with one row: first, second, similarity, and of delay and gain the mean and both bounds."""
        import pandas as pd

        columns: dict[str, Any] = {"first": [self.first], "second": [self.second], "similarity": [self.s]}
        for name, mean, bounds in (
            ("delay", self.delay, self.delay_interval),
            ("gain", self.gain, self.gain_interval),
        ):
            if mean is not None and bounds is not None:
                columns |= {name: [mean], f"{name}_low": [bounds[0]], f"{name}_high": [bounds[1]]}
        return pd.DataFrame(columns)

    def aligned(self) -> TimeCourses:
        """The first course as it was measured, and the second moved onto it: in time, size and level."""
        one, two = self.pair.select([0]), self.pair.select([1])
        gain, delay = self.gain or 1.0, self.delay or 0.0
        old, new = (self.gp.mean, self.gp.mean) if self.levels is None else self.levels[::-1]
        errors = None if two.errors is None else [two.errors / gain]
        values = new + (two.values - old) / gain
        return one.joined(TimeCourses.from_arrays([two.points - delay], [values], two.names, errors))


def match(
    courses: TimeCourses,
    gp: GP,
    first: str | int,
    second: str | int,
    *,
    up_to: Sequence[str] | str = (),
    max_delay: float | None = None,
) -> Match:
    """How alike two courses are up to level, gain and delay, and by how much the second is later and larger.

    The similarity is that of :func:`timelike.similarity` with the same words. Delay and gain are looked at more
    finely, around where they are likely, so that intervals do not depend on the nodes that all pairs share.

    Parameters
    ----------
    courses, gp
    first, second
        Names or positions.
    up_to, max_delay
        As :func:`timelike.similarity` has them.

    Examples
    --------
    >>> import timelike as tl
    >>> courses, _ = tl.simulate.delayed(seed=1)
    >>> match(courses, tl.GP.se(0.2, 0.5, 0.1), "A01", "C01", up_to="delay", max_delay=0.4)
    Match: C01 is A01 0.21 later (0.18 to 0.24); s = 5.38
    """
    checks.instance(courses, TimeCourses, "courses")
    checks.instance(gp, GP, "gp")
    i, j = (position(courses, which) for which in (first, second))
    pair = courses.select([i]).joined(courses.select([j]))
    free = freedom(courses, gp, up_to, max_delay)
    with one_thread_below():  # many small matrices
        nodes = PairNodes.of(free, finer(courses, gp, free))
        here = gp.at(pair, free)
        logs = pair_logs(here, nodes)
        looked = _looked_at(pair, gp, free, logs)
    found = Match(pair, here.gp, float(node_sum(nodes, logs[:, None])[0]), *_of(looked.delay), *_of(looked.gain))
    return replace(found, levels=_levels(found)) if free.level else found


def _of(told: Estimate | None) -> tuple[float | None, tuple[float, float] | None]:
    """The mean of the only pair, and its interval."""
    return (None, None) if told is None else (float(told.mean[0]), (float(told.low[0]), float(told.high[0])))


def _looked_at(pair: TimeCourses, gp: GP, free: Freedom, logs: Floats) -> Told:
    """Delay and gain from nodes that lie close together where a pair is likely to be."""
    if len(free) == 1:
        return Told(None, None, None)
    nodes = PairNodes.of(free)
    by_gain = logs.reshape(nodes.shape)
    delays = _likely(nodes.delays[: nodes.shape[1]], np.logaddexp.reduce(by_gain, axis=0), free.period)
    gains = _likely(nodes.log_gains[:: nodes.shape[1]], np.logaddexp.reduce(by_gain, axis=1))
    fine = _fine_nodes(free, gains, delays)
    apart = gp.at(pair, replace(free, delays=(*(-delays / 2), *(delays / 2))))
    return told(fine, free, pair_logs(apart, fine)[:, None])


def _likely(axis: Floats, logs: Floats, period: float | None = None) -> Floats:
    """Nodes close together where old ones are likely."""
    if len(axis) == 1:
        return axis
    if period is not None:  # seen from the most likely phase
        around = np.arange(len(axis)) - len(axis) // 2
        top = int(np.argmax(logs))
        axis, logs = axis[top] + around * period / len(axis), logs[(top + around) % len(axis)]
    likely = np.flatnonzero(logs > logs.max() - UNLIKELY)
    return np.linspace(axis[max(likely[0] - 1, 0)], axis[min(likely[-1] + 1, len(axis) - 1)], LOOKED_AT)


def _fine_nodes(free: Freedom, gains: Floats, delays: Floats) -> PairNodes:
    shape = len(gains), len(delays)
    prior = log_prior_of_gains(free, gains)[:, None] + log_prior_of_delays(free, delays)
    first = np.tile(np.arange(shape[1]), shape[0])
    return PairNodes(
        first, first + shape[1], np.repeat(gains, shape[1]), np.tile(delays, shape[0]), prior.ravel(), shape
    )


def _levels(found: Match) -> tuple[float, float]:
    """The levels of two courses with one curve, given their delay and gain: generalised least squares."""
    gain, delay = found.gain or 1.0, found.delay or 0.0
    here, sizes = found.gp.at(found.pair), found.pair.sizes
    points = found.pair.points - np.repeat([0.0, delay], sizes)[:, None]
    sizes_of = np.repeat([1.0, gain], sizes)
    C = np.outer(sizes_of, sizes_of) * found.gp.covariance(points)
    C[np.diag_indices_from(C)] += here.noise_variances[found.pair.design_rows]
    of = np.repeat(np.eye(2), sizes, axis=0)
    solved = np.linalg.solve(C, np.column_stack([of, found.pair.values - found.gp.mean]))
    first, second = np.linalg.solve(of.T @ solved[:, :2], of.T @ solved[:, 2]) + found.gp.mean
    return float(first), float(second)
