"""Divisions of the courses that are as likely as the data make them: what the fit to the likeliest does not know.

The weights of a fit take each course for independent of the others, and the clusters' curves for better known than they
are. Here divisions, curves and shares are drawn in turn, each given the others (Gibbs sampling), from the fit on:

    w_k | z ~ N((I + A_k)^-1 b_k, (I + A_k)^-1)     shares | z ~ Dirichlet(alpha + n)     z_i | w, shares

In the long run the divisions z come as often as they are likely. Clusters keep their numbers: those of a draw are
matched with those of the fit. Random numbers belong to courses and clusters by what these are, not by their order, and
to directions whichever way they point: neither the order of courses nor units play a part.
"""

from __future__ import annotations

import numpy as np

from timelike.base.arrays import Bools, Floats, Ints
from timelike.clusters.curves.bound import ALPHA, NONE, AtSpread, Clusters, Curves, beside, soften

SWEEPS, LEAST = 800, 20
"""So many sweeps, at most; where fewer than that are affordable, none: many courses know their curves."""
AFFORDABLE = 4_000_000
"""Probabilities that are computed in all sweeps."""
SETTLING = 0.25
"""This share of the sweeps leads from the fit to where divisions are likely, and is not used."""
NEAR = 50
"""So many sweeps from the fit on are near it."""
USED, LEAST_USED = 40, 5
"""So many of the divisions are used, at most, evenly spaced; and at least."""
CLEAR = 0.1
"""Where fewer courses than this are expected to be in another cluster than their likeliest, all divisions are one."""
USABLE = 4_000_000
"""Numbers that are worked through in all densities given the divisions."""


def sweeps(count: int, k: int) -> int:
    """How many sweeps so many rows of courses in k clusters are worth."""
    affordable = AFFORDABLE // (count * (k + 1))
    return min(SWEEPS, affordable) if affordable >= LEAST and k > 1 else 0


def divisions(state: AtSpread, r: Floats) -> list[Bools]:
    """Divisions (M N, K + 1) from responsibilities r on, in which each course has one place.

    None where there is one cluster, courses are very many, or none of them is in doubt. Which clusters there are is not
    decided here: where later divisions leave one without courses, those near the fit count.
    """
    count = sweeps(len(state.b), r.shape[1] - 1)
    members = state.by_node(r).sum(axis=0)
    if not count or len(members) - members.max(axis=1).sum() < CLEAR:
        return []
    order = np.append(np.argsort(Clusters.of(state, r).evidence, kind="stable"), r.shape[1] - 1)
    near, settled = _evenly(state, r, 0, min(NEAR, count)), _evenly(state, r, int(SETTLING * count), count)
    chain, drawn = _Chain(state, r[:, order]), {}
    for sweep in range(count):
        z = chain.step()
        if sweep in near or sweep in settled:
            drawn[sweep] = z[:, np.argsort(order)].astype(bool)
    found = [[drawn[sweep] for sweep in shown] for shown in (settled, near)]
    return next((one for one in found if not _lost(state, members, one)), [])


def _evenly(state: AtSpread, r: Floats, start: int, stop: int) -> list[int]:
    """The sweeps whose divisions are used: as many as densities given them are affordable."""
    rank, k = state.A.shape[1], r.shape[1] - 1
    width = len(state.A) * rank**2 + len(state.b) * (1 if state.diagonal else rank)
    used = int(np.clip(USABLE // (width * k), LEAST_USED, USED))
    return np.unique(np.linspace(start, stop - 1, used).astype(int)).tolist()


def _lost(state: AtSpread, members: Floats, drawn: list[Bools]) -> bool:
    """Whether a cluster that courses are nearest to has none of them after these divisions."""
    often = state.by_node(np.sum(drawn, axis=0)).sum(axis=0)
    return not np.isin(members[:, :-1].argmax(axis=1), often[:, :-1].argmax(axis=1)).all()


class _Chain:
    """Divisions of courses, one after the other."""

    def __init__(self, state: AtSpread, r: Floats) -> None:
        self.state = state
        self.rng = np.random.default_rng(0)
        self.members = state.by_node(r).sum(axis=0)[:, :-1]
        self.courses = np.argsort(state.over_nodes(state.alone), kind="stable")
        self.towards = np.where(state.b.sum(axis=0) < 0, -1.0, 1.0)
        self.z = self._divided(r)

    def step(self) -> Floats:
        """The next division."""
        rho = beside(self.state, self._curves(Clusters.of(self.state, self.z)))
        self.z = self._matched(self._divided(soften(rho, len(self.state.nodes))[0]))
        return self.z

    def _curves(self, clusters: Clusters) -> Curves:
        mean, covariance = clusters.moments
        away = self.rng.standard_normal(mean.shape) * self.towards
        shares = self.rng.standard_gamma(ALPHA + clusters.n)
        w = mean + (np.linalg.cholesky(covariance) @ away[:, :, None])[:, :, 0]
        logs = np.log(shares / shares.sum()) + np.log1p(-NONE)
        levels = None if clusters.levels is None else self.state.nodes.log_shares(clusters.levels)
        return Curves(w, w[:, :, None] * w[:, None, :], logs, levels)

    def _divided(self, p: Floats) -> Floats:
        """One place for each course, drawn by its probabilities over nodes and clusters."""
        at_nodes = self.state.by_node(p)
        rows = at_nodes.transpose(1, 0, 2).reshape(len(self.state), -1).cumsum(axis=1)
        uniform = np.empty(len(rows))
        uniform[self.courses] = self.rng.random(len(rows))
        place = (rows < (uniform * rows[:, -1])[:, None]).sum(axis=1)
        result = np.zeros_like(at_nodes)
        result[place // p.shape[1], np.arange(len(rows)), place % p.shape[1]] = 1
        return result.reshape(p.shape)

    def _matched(self, z: Floats) -> Floats:
        """The division with its clusters in the order of those of the fit that they have most courses of."""
        order = matching(self.members.T @ self.state.by_node(z).sum(axis=0)[:, :-1])
        return z if order is None else z[:, np.append(order, len(order))]


def matching(common: Floats) -> Ints | None:
    """Which column goes with each row, to have most in common; None where that is their order."""
    from scipy.optimize import linear_sum_assignment

    order = np.arange(len(common))
    if (common.argmax(axis=0) == order).all() and (common.argmax(axis=1) == order).all():
        return None
    return np.asarray(linear_sum_assignment(-common)[1])
