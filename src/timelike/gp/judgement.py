"""The values of one course, judged by evidence: ordinary, wild, or part of a response that the model did not expect.

All of it needs of the course only ``P = C^-1`` and ``a = C^-1 (y - mean)``, C the covariance of its values: what the
others let expect of value j differs from it by ``a_j / P_jj`` and has the variance ``1 / P_jj``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from timelike.base.arrays import Floats, Ints

WILD = 0.005
"""Share of wild values before anything was seen."""
RESPONSE = 0.002
"""Share of values where a response of several times begins: more than two wild values side by side, less than one."""
NOISY = 0.05
"""Share of courses that are noisier than the model says."""
REPLICATES = 0.01
"""Share of times whose replicates deviate together; not learned: they confirm each other however rare that is."""
WIDTH = 100.0
"""Variance of a wild value or a response, at least, in units of the noise variance."""
LIKENESS = 0.7
"""Correlation of a response between neighbouring times of a course; its k-th power over k steps."""
AROUND = 8
"""Times on both sides of a response whose values may be wild instead."""
REMOVED = 1e6
"""A value with so many times the variance that it had tells the others nothing."""


class Shares(NamedTuple):
    """Of all values, how many are wild, and at how many a response of several times begins; noisy ones of courses."""

    wild: float = WILD
    response: float = RESPONSE
    noisy: float = NOISY


class WildValue(NamedTuple):
    """A wild value."""

    j: int
    """Which of its course."""
    width: float
    """Which variance it has besides that of an ordinary value."""
    difference: float
    """How far it is from what the others let expect."""
    z: float
    """The same in standard deviations."""
    probability: float
    """That it is wild."""

    def shifted(self, by: float) -> WildValue:
        """The same value if it is further off."""
        if not by:
            return self
        difference = self.difference + by
        return self._replace(width=difference**2, difference=difference, z=self.z * difference / self.difference)


class Verdict(NamedTuple):
    """What came out about a course."""

    evidence: float
    wild: list[WildValue]
    responses: float
    """How many are expected to have occurred."""
    crowded: bool
    """More than a third of the values would be wild."""
    noisy: bool = False
    """The course is noisier than others."""


class Response(NamedTuple):
    """Values that deviate together: a deviation of each of T times, which all values of the time share."""

    S: Ints
    """The values, (s,)."""
    E: Floats
    """Which of the times each has, as ones and zeros, (s, T)."""
    Q: Floats
    """Covariance of the deviations, (T, T)."""
    gain: float = 0.0
    """What the log evidence gains by it, its prior included."""


@dataclass(frozen=True, eq=False)
class State:
    """Values of a course under a hypothesis."""

    P: Floats
    a: Floats
    noise: Floats
    """Noise variances."""

    def of(self, S: Ints) -> State:
        """All that it takes to judge what would become of the values S."""
        return State(self.P[np.ix_(S, S)], self.a[S], self.noise[S])

    def differences(self) -> Floats:
        """Each value against what the others let expect."""
        return self.a / np.diagonal(self.P)

    def wild_gains(self) -> Floats:
        """What the log evidence gains if a value is wild, for each value."""
        return wild_gains(np.diagonal(self.P), self.a, self.noise)

    def without(self, j: int) -> tuple[Removed, State]:
        """The same if value j were where the others let expect it and told them nothing, after what it was."""
        removed = Removed(float(self.a[j] / self.P[j, j]), float(REMOVED / self.P[j, j]))
        a = self.a - self.P[:, j] * removed.difference
        return removed, State(_widened(self.P, j, removed.width), a, self.noise)

    def restored(self, j: int, removed: Removed) -> State:
        """The same after value j, which was taken out, is back."""
        P = _widened(self.P, j, -removed.width)
        G = removed.width / (1 - removed.width * self.P[j, j])
        return State(P, self.a + self.P[:, j] * (G * self.a[j]) + P[:, j] * removed.difference, self.noise)

    def gain(self, response: Response) -> float:
        """What the log evidence gains by a response."""
        B, b, _ = self._of_times(response)
        return float(b @ np.linalg.solve(B, b) - np.linalg.slogdet(B)[1] - np.linalg.slogdet(response.Q)[1]) / 2

    def plus(self, response: Response) -> State:
        """The same after a response."""
        B, b, rows = self._of_times(response)
        inner = np.linalg.solve(B, np.column_stack([rows, b]))
        return State(self.P - rows.T @ inner[:, :-1], self.a - rows.T @ inner[:, -1], self.noise)

    def _of_times(self, response: Response) -> tuple[Floats, Floats, Floats]:
        """What is known about the deviations of a response, (T, T) and (T,), and their rows of P, (T, n)."""
        S, E, Q, _ = response
        rows = E.T @ self.P[S]
        return np.linalg.inv(Q) + rows[:, S] @ E, E.T @ self.a[S], rows


def wild_gains(p: Floats, a: Floats, noise: Floats) -> Floats:
    """Gains in log evidence if a value is wild, from the diagonal p of P, ``a`` and the noise variances."""
    grown = 1 + widths(p, a, noise) * p
    return (a**2 / p * (1 - 1 / grown) - np.log(grown)) / 2


def widths(p: Floats, a: Floats, noise: Floats) -> Floats:
    """Variances of wild values: as wide as it takes."""
    return np.maximum(WIDTH * noise, (a / p) ** 2)


def log_odds(share: float) -> float:
    """Logarithm of the odds."""
    return float(np.log(share) - np.log1p(-share))


def _widened(P: Floats, j: int, width: float) -> Floats:
    """``P`` after the variance of value j grew by `width`, or shrank."""
    grown = 1 + width * P[j, j]
    result = P - np.outer(P[j], P[j]) * (width / grown)
    result[j] = result[:, j] = P[j] / grown  # the same, but for the digits that a difference would lose
    return result


# -- judging -------------------------------------------------------------------------------------------------------


class Removed(NamedTuple):
    """A value that was taken out of a state: how far off it was, and which variance it was given."""

    difference: float
    width: float


Out = dict[int, Removed]
"""The values that were taken out so far."""


class Hypothesis(NamedTuple):
    """All values of a course as noisy as it says, before one of them is wild."""

    state: State
    evidence: float
    ceiling: float
    """No hypothesis about single values can lift the evidence beyond this."""


def judged(hypotheses: Sequence[Hypothesis], step: Ints, shares: Shares) -> Verdict:
    """What each value of a course is, by the hypothesis about all of it that has the largest evidence.

    The first hypothesis is that of an ordinary course; `step` is the number of each value's time among the times of the
    course.
    """
    best = _searched(hypotheses[0], step, shares)
    for noisier in hypotheses[1:]:
        if best.wild and noisier.ceiling > best.evidence:
            found = _searched(noisier, step, shares)._replace(noisy=True)
            best = max(best, found, key=lambda verdict: verdict.evidence)
    return best


def _searched(hypothesis: Hypothesis, step: Ints, shares: Shares) -> Verdict:
    """Which values are wild under a hypothesis about the whole course.

    The value that gains most by being wild is looked at first, and the others without it. It is taken for part of a
    response where that, and the wild values that are then left, explain more than wild values alone.
    """
    state, evidence, _ = hypothesis
    odds = log_odds(shares.wild)
    out: Out = {}
    responses, crowded = 0.0, False
    for _ in range(2 * len(step)):
        gain, j = _wildest(state, out, odds)
        if gain <= 0:
            break
        found = _response(state, step, j, out, shares)
        ahead = -np.inf if found is None else _ahead(state, found, step, out, odds)
        responses += _probability(ahead)
        if found is not None and ahead > 0:
            evidence, state = evidence + found.gain, state.plus(found)
        elif crowded := len(out) == len(step) // 3:
            break
        else:
            out[j], state = state.without(j)
            evidence += gain
    return Verdict(evidence, _confirmed(state, out, odds), responses, crowded)


def _probability(log_odds: float) -> float:
    return 1 / (1 + float(np.exp(min(-log_odds, 700.0))))


def _wildest(state: State, out: Out, odds: float) -> tuple[float, int]:
    """What is gained most if one more value is wild, and which."""
    gains = state.wild_gains() + odds
    gains[list(out)] = -np.inf
    j = int(np.argmax(gains))
    return float(gains[j]), j


def _ahead(state: State, found: Response, step: Ints, out: Out, odds: float) -> float:
    """By how much a response, with the wild values left around it, has more evidence than wild values alone."""
    around = (step >= step[found.S].min() - AROUND) & (step <= step[found.S].max() + AROUND)
    around[list(out)] = False
    near, most = np.flatnonzero(around), len(step) // 3 - len(out)
    part = state.of(near)
    after = part.plus(found._replace(S=np.searchsorted(near, found.S)))
    return found.gain + _by_wild(after, odds, most) - _by_wild(part, odds, most)


def _by_wild(state: State, odds: float, most: int) -> float:
    """What is gained if further values are wild, as long as it pays and there are not too many."""
    total, out = 0.0, dict[int, Removed]()
    while len(out) < most:
        gain, j = _wildest(state, out, odds)
        if gain <= 0:
            break
        total += gain
        out[j], state = state.without(j)
    return total


def _confirmed(state: State, out: Out, odds: float) -> list[WildValue]:
    """The values that are wild in the light of all that was found after them; the least sure one is asked first."""
    while out:
        values = [_against_others(state, j, removed, odds) for j, removed in out.items()]
        least = min(values, key=lambda value: value.probability)
        if least.probability > 0.5:
            return values
        state = state.restored(least.j, out.pop(least.j))
    return []


def _against_others(state: State, j: int, removed: Removed, odds: float) -> WildValue:
    """Value j, which was taken out of the state, against all others."""
    p = state.P[j, j] / (1 - removed.width * state.P[j, j])
    difference = float(state.a[j] / state.P[j, j] + removed.difference)
    gain, width = (float(f(p, p * difference, state.noise[j])) for f in (wild_gains, widths))
    probability = _probability(gain + odds)
    return WildValue(j, probability * width, difference, difference * float(np.sqrt(p)), probability)


# -- responses -----------------------------------------------------------------------------------------------------


def _response(state: State, step: Ints, j: int, out: Out, shares: Shares) -> Response | None:
    """The response around value j that gains most: the replicates of its time, and neighbouring times on both sides.

    Times are added as long as it pays. None for a value that stands alone.
    """
    left = np.setdiff1d(np.arange(len(step)), list(out))
    centre = low = high = int(step[j])
    best = _shared(state, step, left, (low, high, centre), shares)
    while True:
        ends = [(low - 1, high), (low, high + 1)]
        wider = {e: found for e in ends if (found := _shared(state, step, left, (*e, centre), shares)) is not None}
        low, high = max(wider, key=lambda e: wider[e].gain, default=(low, high))
        if not wider or (best is not None and wider[low, high].gain <= best.gain):
            return best
        best = wider[low, high]


def _shared(state: State, step: Ints, left: Ints, run: tuple[int, int, int], shares: Shares) -> Response | None:
    """The response of a run of times, first and last and the one where it began, if they deviate to the same side."""
    low, high, centre = run
    S = left[(step[left] >= low) & (step[left] <= high)]
    part, at = state.of(S), step[S] - low
    if len(S) < 2 or at.min() != 0 or at.max() != high - low:
        return None
    differences = np.linalg.solve(part.P, part.a)
    side = np.bincount(at, differences)
    if (np.sign(side[[0, -1]]) != np.sign(side[centre - low])).any():
        return None
    E = np.equal.outer(at, np.unique(at)).astype(float)
    width = max(float((differences**2).max()), WIDTH * float(part.noise.max()))
    apart = np.abs(np.subtract.outer(np.unique(at), np.unique(at)))
    found = Response(np.arange(len(S)), E, width * LIKENESS**apart)
    prior = log_odds(REPLICATES if low == high else shares.response)
    return found._replace(S=S, gain=part.gain(found) + prior)
