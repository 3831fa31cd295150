"""What the bound leaves out because it takes curves and memberships for independent. Pure arrays.

The bound knows a cluster's curve as well as if its members were known: with precision ``I + A_k``. They are not. With
labels summed out, the second derivative of the log posterior in the curves w (and log shares) has besides

    - sum_i Cov_i(g),    g_ik = b_i - A_i w_k,

the covariance over the clusters that course i may be in. By Laplace's method in w the log evidence is larger than the
bound by ``1/2 log det`` of the one matrix over the other: next to nothing where clusters are apart, and some nats for
each cluster that overlaps with others, which the bound alone would sooner give up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from timelike.base.arrays import Floats
from timelike.clusters.curves.bound import ALPHA, AnySpread, AtSpread, Clusters, Rule

if TYPE_CHECKING:
    from timelike.clusters.curves.bound import Fit

COURSES = 3000
"""So many courses, drawn at random, stand for all,"""
NUMBERS = 20_000_000
"""and fewer where each has many numbers."""
LEAST = 0.05
"""At least this share of the precision is left in every direction: doubles of a cluster do not gain without end."""


def gained(data: AnySpread, fit: Fit, times: float = 1.0) -> float:
    """By how much the log evidence of a fit is larger than its bound, for so many times as many courses."""
    if fit.k == 1:
        return 0.0
    width = len(data.nodes) * fit.k * (fit.clusters.b.shape[1] + 1)
    few = data.draw(max(1, min(COURSES, NUMBERS // width)), 0)
    state = few.at(fit.spread)
    rule = Rule(fit.clusters).of(state)[0]
    known, lost = _precisions(state, fit.clusters, rule, times * len(data) / len(few))
    half = np.linalg.inv(np.linalg.cholesky(known))
    left = np.linalg.eigvalsh(half @ (known - lost) @ half.T)
    return float(-np.log(np.clip(left, LEAST, 1)).sum() / 2)


def _precisions(state: AtSpread, clusters: Clusters, r: Floats, times: float) -> tuple[Floats, Floats]:
    """The precision of all curves and shares with members known, and what is lost of it because they are not.

    Both (K (r + 1), K (r + 1)), of so many times as many courses.
    """
    r, mean = r[:, :-1], clusters.moments[0]
    count, rank = mean.shape
    slopes = state.b[:, None] - (state.A @ mean.T).transpose(0, 2, 1)[state.design_of]  # g, (M N, K, r)
    g = np.concatenate([slopes, np.ones((*slopes.shape[:2], 1))], axis=2)
    sums = state.by_node(r[:, :, None] * g).sum(axis=0).reshape(len(state), -1)
    known, lost = np.zeros((2, count, rank + 1, count, rank + 1))
    for k in range(count):
        known[k, :rank, k, :rank] = np.eye(rank) + times * np.tensordot(state.per_design(r)[:, k], state.A, axes=1)
        known[k, rank, k, rank] = ALPHA + times * r[:, k].sum()
        lost[k, :, k] = (r[:, k, None] * g[:, k]).T @ g[:, k]
    flat = known.reshape(count * (rank + 1), -1), lost.reshape(count * (rank + 1), -1)
    return flat[0], times * (flat[1] - sums.T @ sums)
