"""One cluster under hyperparameters of its own: what any greater number of clusters has to beat.

Hyperparameters are fitted to courses as if each had a curve of its own. Where all share one curve, that one curve says
next to nothing about length scale and signal, however many courses there are, and deviations under a wrong length scale
look like ever more clusters. With one cluster the deviations are the courses' own, and know their length scale well.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

import numpy as np

from timelike.base.arrays import Floats, Ints
from timelike.clusters.curves.ascent import MAX_SPREAD, climb_learning, responsibilities, sure
from timelike.clusters.curves.bound import AnySpread, Clusters, Fit, Given, Rule, explained, rescaled
from timelike.clusters.curves.noise_search import noise_of
from timelike.clusters.curves.refinement import FURTHEST, Within, other, refined
from timelike.exceptions import InputError
from timelike.gp import GP
from timelike.gp.modelled import Modelled

SCALES, NOISES = (0.4, 1.0, 2.5), (0.3, 0.9)
"""Length scales in units of the model's, and shares of noise in what courses differ by, that are tried first."""
LEAST = 0.01
"""A spread, and a share of noise, from which others can be reached."""
QUICK, MOST = 500, 30_000
"""So many courses, drawn at random, are looked at first, and so many decide."""
FAR = 0.2
"""Several clusters that raise the bound of those few by so much for each course need no closer look."""
STEPS = (0.3, 200), (0.03, 100)
"""First steps of the logarithms, and how many are taken, with few courses and with many."""


@dataclass(frozen=True, eq=False)
class OneCluster:
    """Courses that share a curve, and a model from which others are steps of logarithms."""

    here: Modelled
    start: Within

    def within(self, by: Floats) -> Within:
        """The model after steps of the logarithms of kernel, signal, noise and spread."""
        moved = self.start.moved(by[:-1], apart=False)
        return Within(moved.gp, min(self.start.spread * float(np.exp(by[-1])), MAX_SPREAD))

    def loss(self, by: Floats) -> float:
        """Minus what the bound has under the model after these steps."""
        try:
            within = self.within(by)
            state = within.information(self.here).at(within.spread)
        except InputError:  # a place where no model is
            return np.inf
        r = _everyone(len(state)).r
        return -explained(state, Clusters.of(state, r), r)

    def best(self, step: float, most: int) -> Within:
        """The model that explains the courses best, by a simplex search."""
        from scipy.optimize import minimize

        count = len(self.start.gp.kernel.theta) + 3
        simplex = np.vstack([np.zeros(count), step * np.eye(count)])
        options = {"maxfev": most, "xatol": step / 100, "fatol": 0.02, "initial_simplex": simplex}
        bounds = np.tile([-FURTHEST, FURTHEST], (count, 1))
        found = minimize(self.loss, np.zeros(count), method="Nelder-Mead", bounds=bounds, options=options)
        return self.within(found.x) if np.isfinite(found.fun) else self.start


class Glimpse(NamedTuple):
    """The model that suits few courses best if they share one curve, and the bound that it reaches.

    The courses are in an order in which any first ones are drawn at random, without those that one curve suits worst.
    """

    order: Ints
    within: Within
    bound: float


def glimpse(here: Modelled, data: AnySpread) -> Glimpse:
    """What few of the courses say if all share one curve."""
    plain = climb_learning(data, _everyone(len(data)))
    rows = responsibilities(data, plain).r
    outside = rows.reshape(-1, len(data), 2).sum(axis=0)[:, -1]  # of all nodes
    order = np.random.default_rng(0).permutation(np.flatnonzero(outside < 0.5))
    few = _first(here, order, QUICK)
    zero = np.zeros(len(here.gp.kernel.theta) + 3)
    start = min(_starts(here.gp, plain.spread), key=lambda start: OneCluster(few, start).loss(zero))
    within = OneCluster(few, start).best(*STEPS[0])
    fit = within.information(few).at(within.spread).sweep(_everyone(len(few.courses)))
    return Glimpse(order, within, fit.bound)


def clearly_several(data: AnySpread, fit: Fit, seen: Glimpse) -> bool:
    """Whether clusters beat one by far among few courses already, of which they know less than of all.

    Not known where courses have a noise of their own, which those of the glimpse have not.
    """
    if len(data.noise) > 1:
        return False
    few = data.select(np.sort(seen.order[:QUICK]))
    return few.at(fit.spread).sweep(Rule(fit.clusters)).bound > seen.bound + FAR * len(few)


def one_cluster(here: Modelled, data: AnySpread, seen: Glimpse) -> tuple[Modelled, AnySpread, Fit]:
    """The model that suits courses best if all share one curve, their information under it, and the fit."""
    found = OneCluster(_first(here, seen.order, MOST), seen.within).best(*STEPS[1])
    under, information = here.under(found.gp), found.information(here)
    one = climb_learning(information, _everyone(len(data)), near=found.spread)
    if len(data.noise) == 1:
        return under, information, one
    return _with_noise(under, information, one)


def _with_noise(here: Modelled, data: AnySpread, one: Fit) -> tuple[Modelled, AnySpread, Fit]:
    """The same where courses may have a noise of their own, as those have that one cluster is compared with."""
    data = replace(data, noise=noise_of(data, one, None, 0))
    return refined(here, data, climb_learning(data, responsibilities(data, one), near=one.spread), None)


def _everyone(count: int) -> Given:
    """Weights of so many courses in one cluster."""
    return sure(np.zeros(count, dtype=np.intp), 1)


def _first(here: Modelled, order: Ints, count: int) -> Modelled:
    """So many of the courses in this order, under the model."""
    return here.gp.at(here.courses.select(np.sort(order[:count])), here.free)


def _starts(gp: GP, spread: float) -> list[Within]:
    """Models to start from: the one that there is, and others whose noise and spread explain as much together.

    Not the one that there is where it has next to no noise: no step of a logarithm leads away from none.
    """
    variance = (spread * gp.signal_sd) ** 2 + gp.noise_sd**2
    found = [Within(gp, max(spread, LEAST))] if gp.noise_sd**2 > LEAST * variance else []
    for scale, share in product(SCALES, NOISES):
        model = other(gp, rescaled(gp.kernel, scale), noise_sd=float(np.sqrt(share * variance)))
        found.append(Within(model, float(np.sqrt((1 - share) * variance)) / gp.signal_sd))
    return found
