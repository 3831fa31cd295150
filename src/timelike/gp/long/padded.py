"""Long courses: side by side in one array, and what a likelihood needs of them at any mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from timelike.base.arrays import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Padded:
    """Designs of about equal size, in the order of their times, filled up to the largest size N."""

    times: Floats
    """(G, N); behind the end of a design its last time again."""
    there: Bools
    """Which of them are points of the design, (G, N)."""
    variances: Floats
    """Known error variances, zero behind the end, (G, N)."""
    counts: Floats
    """Number of courses of each design, (G,)."""
    rows: Floats
    """R rows a design whose products have the same sum as those of its courses, zero behind the end, (G, R, N)."""
    weights: Floats
    """They take the place of the ones in ``y - mean 1``, (G, R)."""

    @property
    def sizes(self) -> Ints:
        """Number of points of each design, (G,)."""
        return self.there.sum(axis=1)

    def __getitem__(self, some: slice) -> Padded:
        return Padded(
            self.times[some],
            self.there[some],
            self.variances[some],
            self.counts[some],
            self.rows[some],
            self.weights[some],
        )

    def only(self, chosen: Bools) -> Padded:
        """The same with the chosen points alone, (G, N)."""
        first = np.argsort(~chosen, axis=1, kind="stable")[:, : int(chosen.sum(axis=1).max())]
        there = np.take_along_axis(chosen, first, axis=1)
        return Padded(
            np.take_along_axis(self.times, first, axis=1),
            there,
            np.take_along_axis(self.variances, first, axis=1) * there,
            self.counts,
            np.take_along_axis(self.rows, first[:, None], axis=2) * there[:, None],
            self.weights,
        )


def padded(designs: list[tuple[Floats, Floats]], reduced: list[tuple[Floats, Floats]], counts: Floats) -> Padded:
    """Designs (times and known variances) with their rows and weights, side by side."""
    longest, most = max(len(times) for times, _ in designs), max(len(weights) for _, weights in reduced)
    orders = [np.argsort(times, kind="stable") for times, _ in designs]
    both = list(zip(designs, reduced, orders, strict=True))
    return Padded(
        times=np.array([_filled(times[o], longest, times[o[-1]]) for (times, _), _, o in both]),
        there=np.array([np.arange(longest) < len(times) for times, _ in designs]),
        variances=np.array([_filled(variances[o], longest) for (_, variances), _, o in both]),
        counts=counts,
        rows=np.array([_filled(_filled(rows[:, o], longest).T, most).T for _, (rows, _), o in both]),
        weights=np.array([_filled(weights, most) for _, weights in reduced]),
    )


def _filled(values: Floats, length: int, fill: float = 0.0) -> Floats:
    """Values (..., n) filled up to (..., length)."""
    missing = length - values.shape[-1]
    return np.concatenate([values, np.full((*values.shape[:-1], missing), fill)], axis=-1)


class InMean(NamedTuple):
    """Log likelihood without its constant, its gradient, and a bound on its error, as functions of the mean.

    All are polynomials of second degree: ``C^-1 (y - mean 1)`` is linear. So courses can be forgotten, one after the
    other, before the best mean of all is known.
    """

    value: Floats
    """(3,), from the constant on."""
    gradient: Floats
    """(3, p)."""
    off: Floats
    """(3,)."""

    def mean_sums(self) -> tuple[float, float]:
        """Numerator and denominator of the generalised least squares estimate of the mean."""
        return float(self.value[1]), float(-2 * self.value[2])

    def value_and_gradient(self, mean: float) -> tuple[float, Floats]:
        """Log likelihood without its constant, and its gradient, at the given mean."""
        powers = mean ** np.arange(3)
        return float(powers @ self.value), powers @ self.gradient

    def error(self, mean: float) -> float:
        """The value is off by no more than this."""
        return float(mean ** np.arange(3) @ self.off)


def added(parts: list[InMean]) -> InMean:
    """The sum."""
    return InMean(*(np.sum(each, axis=0) for each in zip(*parts, strict=True)))


def in_mean(both: Floats | float, row: Floats | float, ones: Floats | float) -> Floats:
    """The polynomial ``both - mean row + mean^2 ones`` as an array, from the constant on, (3, ...)."""
    return np.stack([both, np.negative(row), ones])
