"""The noise of a course's own, and of a cluster's own: levels of the noise variance that are summed out.

The noise variance of a course is the model's times ``s_m``, with m one of a few levels that nobody knows. The logarithm
of ``s`` is normal within a cluster, with the same `width` in all of them, around a middle of the cluster's own; the
middles are normal around `centre` with the standard deviation `between`, on a ladder of their own, and are summed out
too. With the expected courses of cluster k at each level, ``n_km``, the bound has

    sum_k log sum_j p(j) prod_m pi(m | j)^n_km

where ``p(j)`` is the probability of a middle, and ``pi(m | j)`` of a level around it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from timelike.base.arrays import Floats

FINE = 28
"""Middles of clusters for each standard deviation between them: many courses know the noise of their cluster well."""
NARROW = 0.1
"""Smallest standard deviation between courses of a cluster, in steps between two levels."""
LEAST = 1e-30
"""Probability of a level that is not there."""
SLIGHT = 1e-3
"""A course with a smaller weight in a cluster says nothing about its noise."""


@dataclass(frozen=True, eq=False)
class Noise:
    """Levels of the noise variance, in units of the model's, and how likely each is.

    Attributes
    ----------
    logs : (M,)
        Logarithms of the levels, equally far apart.
    centre : float
        Middle of the logarithm of the variance.
    width, between : float
        Standard deviation of the logarithm of the variance, of courses within a cluster, and of clusters.
    """

    logs: Floats
    centre: float = 0.0
    width: float = 0.0
    between: float = 0.0

    def __len__(self) -> int:
        return len(self.logs)

    def to_dict(self) -> dict[str, Any]:
        """The numbers that make it, as plain ones."""
        rest = {"centre": self.centre, "width": self.width, "between": self.between}
        return {"logs": self.logs.tolist()} | rest

    @property
    def scales(self) -> Floats:
        """The levels: factors of the noise variance, (M,)."""
        return np.exp(self.logs)

    @property
    def alone(self) -> Floats:
        """Log probability of each level for a course that is in no cluster, (M,)."""
        prior, table = self.middles
        return np.asarray(np.log(np.exp(prior) @ np.exp(table)))

    def log_evidence(self, counts: Floats) -> float:
        """What the bound has for clusters with so many courses at each level, (K, M)."""
        return float(_log_sum(self._joint(counts)).sum())

    def expected_logs(self, counts: Floats) -> Floats:
        """Expected log probability of each level in each cluster, (K, M)."""
        return self._weights(counts) @ self.middles[1]

    def log_shares(self, counts: Floats) -> Floats:
        """Log probability of each level for a further course of clusters with such counts, (K, M)."""
        return np.log(self._weights(counts) @ np.exp(self.middles[1]))

    def _joint(self, counts: Floats) -> Floats:
        prior, table = self.middles
        return counts @ table.T + prior

    def _weights(self, counts: Floats) -> Floats:
        joint = self._joint(counts)
        return np.exp(joint - _log_sum(joint)[:, None])

    @cached_property
    def middles(self) -> tuple[Floats, Floats]:
        """Log probability of each middle, (J,), and of each level around each of them, (J, M)."""
        if self.between == 0:
            return np.zeros(1), _around(np.array([self.centre]), self.width, self.logs)
        at = self.centre + self.between * np.linspace(-4, 4, 8 * FINE + 1)
        prior = -(((at - self.centre) / self.between) ** 2) / 2
        return prior - _log_sum(prior[None])[0], _around(at, self.width, self.logs)


def _around(middles: Floats, width: float, logs: Floats) -> Floats:
    """Log probability of each level around each middle, (J, M): what lies between two levels is shared by them.

    With ``G(x) = E max(u - x, 0)``, that a normal u goes beyond level m on the way to the next has the expectation
    ``(G(x_m) - G(x_m+1)) / step``; the first and the last level take all that is further out.
    """
    from scipy.special import ndtr

    if len(logs) == 1:
        return np.zeros((len(middles), 1))
    step = logs[1] - logs[0]
    width = max(width, NARROW * step)
    z = (logs - middles[:, None]) / width
    G = width * (np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi) - z * ndtr(-z))
    beyond = np.pad(-np.diff(G, axis=1) / step, ((0, 0), (1, 1)), constant_values=((0, 0), (1, 0)))
    return np.log(np.maximum(-np.diff(beyond, axis=1), LEAST))


def _log_sum(logs: Floats) -> Floats:
    """``log sum exp`` of each row."""
    top = logs.max(axis=1)
    return top + np.log(np.exp(logs - top[:, None]).sum(axis=1))


COMMON = Noise(np.zeros(1))
"""One noise for all courses: the model's."""


class LevelEvidence:
    """How well each level of the noise suits courses, of which each belongs to clusters with certain weights.

    Parameters
    ----------
    logs : (M, N, K + 1)
        Expected log likelihood of each course at each level in each cluster, and of a curve of its own.
    r : (N, K + 1)
        The weights.
    """

    def __init__(self, logs: Floats, r: Floats) -> None:
        self.r, self.logs = r, logs
        self.parts = [self._part(k) for k in range(r.shape[1])]

    def _part(self, k: int) -> tuple[Floats, Floats, float]:
        """Weights of a cluster's courses, likelihoods (n, M) up to a factor each, and the sum of its logarithms."""
        rows = np.flatnonzero(self.r[:, k] > SLIGHT)
        weight, logs = self.r[rows, k], self.logs[:, rows, k]
        top = logs.max(axis=0)
        return weight, np.exp(logs - top).T, float(weight @ top)

    def value(self, noise: Noise) -> float:
        """What the bound has that depends on the noise, when each course is at the levels that suit it."""
        weight, likelihood, rest = self.parts[-1]
        total = rest + weight @ np.log(likelihood @ np.exp(noise.alone))
        return float(total + sum(rest for *_, rest in self.parts[:-1]) + _log_sum(self._middles(noise)).sum())

    def levels(self, noise: Noise) -> Floats:
        """The weights at the levels that suit the courses, with each cluster's likeliest middle, (M, N, K + 1)."""
        prior = np.vstack([noise.middles[1][self._middles(noise).argmax(axis=1)], noise.alone])
        joint = self.logs + prior.T[:, None]
        joint -= joint.max(axis=0)
        each = np.exp(joint)
        return self.r * each / each.sum(axis=0)

    def _middles(self, noise: Noise) -> Floats:
        """What speaks for each middle in each cluster, (K, J)."""
        prior, table = noise.middles
        likely = np.exp(table).T
        return np.stack([prior + w @ np.log(likelihood @ likely) for w, likelihood, _ in self.parts[:-1]])
