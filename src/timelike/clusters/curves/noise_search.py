"""Whether courses, or clusters, have a noise of their own: asked of the bound, and taken where it pays clearly."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from timelike.base.arrays import Floats
from timelike.clusters.curves.ascent import climbed, level_evidence
from timelike.clusters.curves.bound import AnySpread, Fit, Given, Rule
from timelike.clusters.curves.membership import usual
from timelike.clusters.curves.noise import COMMON, LevelEvidence, Noise

CLEAR = 10.0
"""A freedom is taken if it raises the bound by this much."""
LISTENERS = 1000
"""So many courses, drawn at random, decide about their noise."""
LOWEST, HIGHEST = -7.0, 5.0
"""Range of the logarithm of the noise variance, in units of the model's; levels that nobody has are left out then."""
BETWEEN = 0.7
"""Standard deviation between clusters of the logarithm of the noise variance, where they may differ."""
ROUNDING = 0.1
"""Levels are left out at which the bound of those courses is off by more than this: rounding would choose them."""
HARDLY = 0.002
"""A level at which a smaller share of the courses is expected is left out."""
ROUNDS = 4


class Freedoms(NamedTuple):
    """Whether courses have a noise of their own, and how much the clusters' may differ."""

    own: bool
    between: float


FREEDOMS = Freedoms(False, 0.0), Freedoms(False, BETWEEN), Freedoms(True, 0.0), Freedoms(True, BETWEEN)
"""From another noise for all courses, which is no freedom, to both."""


def noise_of(data: AnySpread, fit: Fit, spread: float | None, seed: int) -> Noise:
    """The noise that the courses of a fit with one noise ask for: of the courses, of the clusters, of both, or common.

    A freedom is taken only where it raises the bound by `CLEAR` over what is possible without it.
    """
    few = data.draw(LISTENERS, seed)
    few = few.select(usual(few, fit))
    common, *others = (_told(few, fit, freedoms).value(freedoms) for freedoms in FREEDOMS[:3])
    if max(others) < common + CLEAR:
        return COMMON
    found = _learned(few, fit, spread, FREEDOMS[0])[0], COMMON
    for freedoms in FREEDOMS[1:]:
        bound, noise = _learned(few, fit, spread, freedoms)
        if bound > found[0] + CLEAR:
            found = bound, noise
    return found[1]


def improved(data: AnySpread, fit: Fit, spread: float | None, seed: int) -> tuple[Noise, float]:
    """The noise with the same freedoms that suits a fit better, and by how much it raises the bound."""
    few = data.draw(LISTENERS, seed)
    start = climbed(few, Given(*_few(few, fit).of(few.at(fit.spread))), spread)
    bound, noise = _learned(few, start, spread, Freedoms(data.noise.width > 0, data.noise.between))
    return noise, bound - start.bound


def _few(few: AnySpread, fit: Fit) -> Given | Rule:
    """Weights of a sample of the courses of a fit."""
    if isinstance(fit.weights, Given) and len(fit.weights.r) == len(few) * len(few.nodes):
        return fit.weights
    return Rule(fit.clusters)


def _learned(few: AnySpread, fit: Fit, spread: float | None, freedoms: Freedoms) -> tuple[float, Noise]:
    """The bound, and the noise at which it is largest, where noise and weights take turns."""
    best, found = -np.inf, COMMON
    for _ in range(ROUNDS):
        told = _told(few, fit, freedoms)
        noise = told.best(freedoms)
        few = replace(few, noise=noise)
        fit = climbed(few, Given.at(told.evidence.r), spread)
        if fit.bound < best + 1:
            break
        best, found = fit.bound, noise
    return best, found


def _told(few: AnySpread, fit: Fit, freedoms: Freedoms) -> _Told:
    """What the courses of a fit say about their noise."""
    at = few.at(fit.spread)
    r = at.by_node(_few(few, fit).of(at)[0]).sum(axis=0)
    logs = ladder(float(few.sizes.mean()), own=freedoms.own)
    logs = logs[logs >= min(_lowest(few), logs[-1])]
    return _Told(logs, level_evidence(replace(few, noise=Noise(logs)).at(fit.spread), fit.clusters, r))


def _lowest(few: AnySpread) -> float:
    """The logarithm of the level below which sums of squares, in units of the noise, are too large to add up."""
    rounding = np.finfo(float).eps * max(few.squares.sum(), 1.0)
    return float(np.log(rounding / ROUNDING))


def ladder(values: float, *, own: bool) -> Floats:
    """Logarithms of levels so near to each other that a course with so many values hardly tells two of them apart.

    A log variance that is off by d costs ``n d^2 / 4`` of the log likelihood of n values: here at most 0.3, and less
    than a tenth of it where all courses of a cluster have the same.

    Examples
    --------
    >>> len(ladder(10, own=True)), len(ladder(100, own=True))
    (19, 55)
    """
    step = float(np.clip((2.2 if own else 0.6) / np.sqrt(values), 0.1, 0.7))
    return np.asarray(step * np.arange(np.floor(LOWEST / step), np.floor(HIGHEST / step) + 1))


class _Told(NamedTuple):
    """What courses say about levels of the noise with these logarithms."""

    logs: Floats
    evidence: LevelEvidence

    def value(self, freedoms: Freedoms) -> float:
        """What the bound has at the best noise."""
        return self.evidence.value(self._searched(freedoms))

    def best(self, freedoms: Freedoms) -> Noise:
        """The noise with the largest value, without the levels that nobody has."""
        noise = self._searched(freedoms)
        share = self.evidence.levels(noise).sum(axis=(1, 2)) / len(self.evidence.r)
        there = np.flatnonzero(share > HARDLY)
        return replace(noise, logs=self.logs[there[0] : there[-1] + 1])

    def _searched(self, freedoms: Freedoms) -> Noise:
        from scipy.optimize import minimize

        own, between = freedoms

        def noise(theta: Floats) -> Noise:
            return Noise(self.logs, float(theta[0]), float(np.exp(theta[1])) if own else 0.0, between)

        start = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 0.7]])[: 2 + own, : 1 + own]
        options = {"initial_simplex": start, "xatol": 0.02, "fatol": 0.1, "maxfev": 60}

        def loss(theta: Floats) -> float:
            return -self.evidence.value(noise(theta))

        return noise(minimize(loss, start[0], method="Nelder-Mead", options=options).x)
