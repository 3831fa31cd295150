"""Hyperparameters from within the clusters, and deviations of their members on a length scale of their own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from timelike.base.arrays import Floats
from timelike.clusters.curves.ascent import EFFORT, MAX_SPREAD, best_spread, climbed, responsibilities
from timelike.clusters.curves.bound import AnySpread, AtSpread, Clusters, Fit, Given, explained, rescaled, sample
from timelike.clusters.curves.membership import usual
from timelike.clusters.curves.noise import COMMON, Noise
from timelike.exceptions import InputError
from timelike.gp import GP
from timelike.gp.modelled import Modelled

if TYPE_CHECKING:
    from sklearn.gaussian_process.kernels import Kernel

FURTHEST = 5.0
"""How far a logarithm of a hyperparameter may go from where it was."""
REFINERS = 500
"""So many courses, drawn at random, decide about hyperparameters,"""
ASKED = 3000
"""and so many, which takes three looks at them, whether that is worth it,"""
AT_NODES = 150
"""but not more than so many where each has many nodes."""
SCALES = (0.4, 2.5)
"""Length scales that are tried first, in units of the model's."""
FEW, PATIENCE, PROMISE = 100, 10.0, 1.0
"""Up to so many courses, where a search is quick, deviations may begin so far below the bound; else so far above it."""
SLIGHT = 0.05
"""Deviations that are smaller, in units of the signal, have no length scale worth a search."""


@dataclass(frozen=True, eq=False)
class Within:
    """A model of courses in clusters: the hyperparameters, and the size and length scale of deviations.

    Attributes
    ----------
    gp
    spread
        Standard deviation of deviations, in units of the signal_sd.
    scale
        Their length scale, in units of the model's.
    """

    gp: GP
    spread: float
    scale: float = 1.0

    def moved(self, by: Floats, *, apart: bool) -> Within:
        """The model after steps of the logarithms of kernel, signal, noise and, if they are `apart`, deviations."""
        gp, more = self.gp, 2 if apart else 0
        theta, rest = np.split(by, [len(by) - 2 - more])
        signal, noise = np.exp(rest[:2]) * [gp.signal_sd, max(gp.noise_sd, 1e-12)]
        model = other(gp, gp.kernel.clone_with_theta(gp.kernel.theta + theta), signal_sd=signal, noise_sd=noise)
        if not apart:
            return Within(model, self.spread, self.scale)
        return Within(model, min(self.spread * float(np.exp(rest[2])), MAX_SPREAD), self.scale * float(np.exp(rest[3])))

    def information(self, here: Modelled, noise: Noise = COMMON) -> AnySpread:
        """What the courses say under this model."""
        return replace(sample(here.under(self.gp).smooth(), scale=self.scale), noise=noise)


def other(gp: GP, kernel: Kernel, **changed: float) -> GP:
    """The model with another kernel, which makes no claim about its likelihood."""
    return replace(gp, kernel=kernel, log_likelihood=None, warnings=(), **changed)


def refined(here: Modelled, data: AnySpread, fit: Fit, spread: float | None) -> tuple[Modelled, AnySpread, Fit]:
    """Courses and model, their information and the fit, after hyperparameters and weights took turns while it paid."""
    if spread is None and len(data) * len(data.nodes) > EFFORT.many:
        spread = fit.spread
    for _ in range(3):
        within = maximised(here, data, fit, Within(here.gp, fit.spread), apart=False)
        again = within.information(here, data.noise)
        higher = climbed(again, responsibilities(data, fit), spread)
        if higher.bound - fit.bound < 0.1:
            break
        here, data, fit = here.under(within.gp), again, higher
    return here, data, fit


def promising(here: Modelled, data: AnySpread, fit: Fit, least: float) -> bool:
    """Whether another length scale of the clusters' curves raises the bound by `least`, with all else as it is."""
    few, weights = drawn(here, data, fit, ASKED)
    now = _explained(replace(sample(few, scale=data.scale), noise=data.noise).at(fit.spread), weights)
    for factor in SCALES:
        tried = Within(other(here.gp, rescaled(here.gp.kernel, factor)), fit.spread, data.scale)
        try:
            if _explained(tried.information(few, data.noise).at(fit.spread), weights) > now + least:
                return True
        except InputError:  # too rough
            continue
    return False


def apart(here: Modelled, data: AnySpread, fit: Fit) -> Within | None:
    """The model whose deviations have a length scale of their own; None where that says nothing more.

    Tried with the hyperparameters as they are first, which is quick: data without such deviations lose by it.
    """
    if fit.spread < SLIGHT or here.gp.length_scale is None:
        return None
    few, weights = drawn(here, data, fit)
    tried = [found for scale in SCALES if (found := _tried(few, weights, data.noise, scale)) is not None]
    best = max(tried, key=lambda found: found[0], default=None)
    plain = replace(sample(few), noise=data.noise).at(fit.spread)
    least = -PATIENCE if len(data) <= FEW else PROMISE
    if best is None or best[0] < _explained(plain, weights) + least:
        return None
    return maximised(here, data, fit, best[1], apart=True)


def drawn(here: Modelled, data: AnySpread, fit: Fit, count: int = REFINERS) -> tuple[Modelled, Given]:
    """Some of the courses that are in a cluster under the model, and their weights."""
    if len(data.free) > 1:
        count = min(count, AT_NODES)
    which = np.sort(np.random.default_rng(0).permutation(len(here.courses))[:count])
    which = which[usual(data.select(which), fit)]
    r = responsibilities(data, fit).r
    levels = r.reshape(len(data.nodes), -1, r.shape[1])[:, which]
    return here.gp.at(here.courses.select(which), here.free), Given.at(levels.reshape(-1, r.shape[1]))


def _tried(few: Modelled, weights: Given, noise: Noise, scale: float) -> tuple[float, Within] | None:
    """What the bound has with the best deviations on this scale, and the model; None where they are too rough."""
    try:
        data = replace(sample(few, scale=scale), noise=noise)
    except InputError:
        return None
    spread = best_spread(data, weights)
    return _explained(data.at(spread), weights), Within(few.gp, spread, scale)


def _explained(state: AtSpread, weights: Given) -> float:
    return explained(state, Clusters.of(state, weights.r), weights.r)


def maximised(here: Modelled, data: AnySpread, fit: Fit, start: Within, *, apart: bool) -> Within:
    """The model that explains best what each cluster has, by a simplex search over its log parameters."""
    from scipy.optimize import minimize

    few, weights = drawn(here, data, fit)

    def loss(by: Floats) -> float:
        try:
            within = start.moved(by, apart=apart)
            return -_explained(within.information(few, data.noise).at(within.spread), weights)
        except InputError:  # a place where no model is, for instance too little noise
            return np.inf

    count = len(start.gp.kernel.theta) + (4 if apart else 2)
    simplex = np.vstack([np.zeros(count), 0.3 * np.eye(count)])
    options = {"maxfev": 40 * count, "xatol": 0.02, "fatol": 0.01 if apart else 0.2, "initial_simplex": simplex}
    bounds = np.tile([-FURTHEST, FURTHEST], (count, 1))
    found = minimize(loss, np.zeros(count), method="Nelder-Mead", bounds=bounds, options=options)
    return start.moved(found.x, apart=apart) if np.isfinite(found.fun) else start
