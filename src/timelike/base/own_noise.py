"""The noise of a course's own: how much it scatters against what is expected, known only as far as its values tell.

The scale of a noise variance has a scaled inverse chi-square prior, learned from all genes or courses (limma's
moderated variance). It is summed out, so that nothing is bolder than what is known about the noise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from timelike.base.arrays import Floats

NODES = 25
REACH = 4.0
"""How far the grid of a gene reaches on both sides, in standard deviations of what is known about its scale."""
SURE = 1e4
"""Degrees of freedom of a prior that leaves no doubt: all genes scatter alike."""

STILL = 1e-12
"""A gene that scatters less than this share of what is typical does not scatter at all, as one that is never seen."""


@dataclass(frozen=True)
class OwnNoise:
    """Scales of genes: typically `scale`, and as uncertain as if `freedom` values had told it."""

    scale: float
    freedom: float

    @classmethod
    def learned(cls, squares: Floats, freedom: Floats) -> OwnNoise:
        """From sums of squares of residuals and their degrees of freedom, by the moments of their logarithms."""
        from scipy.special import digamma, polygamma

        told = (freedom >= 1) & (squares > 0)
        if not told.any():
            return cls(1.0, SURE)
        ratio, half = squares[told] / freedom[told], freedom[told] / 2
        scatters = ratio > STILL * np.median(ratio)
        ratio, half = ratio[scatters], half[scatters]
        logs = np.log(ratio) - digamma(half) + np.log(half)
        middle = float(logs.mean())
        apart = float(logs.var() - polygamma(1, half).mean()) if len(half) > 2 else 0.0
        own = SURE if apart <= 2 / SURE else min(2 * _inverse_trigamma(apart), SURE)
        return cls(float(np.exp(middle + digamma(own / 2) - np.log(own / 2))), own)

    def expected(self, squares: Floats, freedom: Floats) -> Floats:
        """The scale of each gene, from its own residuals and the others'."""
        return (self.freedom * self.scale + squares) / (self.freedom + freedom)

    def grid(self, least: Floats, most: Floats, freedom: Floats) -> Floats:
        """Scales from below `least` to above `most` for each gene, evenly in logarithms, (n, NODES)."""
        wide = REACH * np.sqrt(2 / (self.freedom + np.maximum(freedom, 0)))
        low, high = np.log(least) - wide, np.log(np.maximum(most, least)) + wide
        return np.exp(low[:, None] + (high - low)[:, None] * np.linspace(0, 1, NODES))

    def log_weights(self, scales: Floats, squares: Floats, freedom: Floats) -> Floats:
        """Log of prior times likelihood of scales on a grid, without an effect, up to a term of the gene, (n, m)."""
        logs = np.log(scales / self.scale)
        prior = -self.freedom / 2 * (logs + self.scale / scales)
        return prior - freedom[:, None] / 2 * logs - squares[:, None] / (2 * scales)


def _inverse_trigamma(value: float) -> float:
    from scipy.optimize import brentq
    from scipy.special import polygamma

    return float(brentq(lambda x: float(polygamma(1, x)) - value, 1e-3, 1e7))
