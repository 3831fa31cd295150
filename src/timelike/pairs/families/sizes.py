"""How many families there are and how large: what is expected of a partition before anything is measured.

A mixture of finite mixtures (Miller and Harrison 2018): the number of families has a prior 1 / K, and the shares of
families are a Dirichlet distribution with a concentration g each, which is learned: it is large where families are of
about one size. A partition of n courses into t families of sizes n_k then has the probability

    V_n(t) prod_k g (g + 1) ... (g + n_k - 1)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from timelike.base.arrays import Floats

CONCENTRATIONS = (0.3, 1.0, 3.0, 10.0, 30.0)
MOST = 1000
"""Families are at most so many times as many as courses."""


@dataclass(frozen=True, eq=False)
class Sizes:
    """The prior of partitions of so many courses, for each concentration."""

    log_V: Floats
    """``log V_n(t)`` for t from 0 to n + 2, (concentrations, n + 3)."""

    @classmethod
    def of(cls, count: int) -> Sizes:
        """The prior of partitions of `count` courses."""
        return cls(np.stack([_log_coefficients(count, g) for g in CONCENTRATIONS]))

    def log_new(self, which: int, families: int) -> float:
        """Log weight of a family of its own for a course, beside ``log(n_k + g)`` of each family that there is."""
        return float(np.log(CONCENTRATIONS[which]) + self.log_V[which, families + 1] - self.log_V[which, families])

    def log_prior(self, counts: Floats) -> Floats:
        """Log probability of a partition with these sizes, for each concentration."""
        from scipy.special import gammaln

        g = np.array(CONCENTRATIONS)
        return self.log_V[:, len(counts)] + (gammaln(g[:, None] + counts) - gammaln(g)[:, None]).sum(axis=1)

    def log_split(self, which: int, families: int, sizes: tuple[int, int]) -> float:
        """Log ratio of a partition into so many families to that with two of them, of these sizes, as one."""
        from scipy.special import gammaln

        g = CONCENTRATIONS[which]
        counts = gammaln(g + sizes[0]) + gammaln(g + sizes[1]) - gammaln(g + sum(sizes)) - gammaln(g)
        return float(self.log_V[which, families] - self.log_V[which, families - 1] + counts)


def _log_coefficients(count: int, g: float) -> Floats:
    """``V_n(t) = sum_K p(K) K! / (K - t)! Gamma(g K) / Gamma(g K + n)``; beyond 2 n the sum is over stretches of K."""
    from scipy.special import gammaln, logsumexp

    few = np.arange(1, 2 * count + 1)
    edges = np.unique(np.geomspace(2 * count, MOST * count, 150).astype(np.int64))
    many, width = (edges[:-1] + edges[1:] + 1) / 2, np.diff(edges)
    K, weight = np.concatenate([few, many]), np.concatenate([np.ones(len(few)), width])
    common = gammaln(g * K) - gammaln(g * K + count) - np.log(K) + np.log(weight) + gammaln(K + 1)
    t = np.arange(count + 3)[:, None]
    terms = np.where(t <= K, common - gammaln(np.maximum(K - t, 0) + 1), -np.inf)
    return np.asarray(logsumexp(terms, axis=1))
