"""Nodes: all that may differ from course to course and is summed out: the level of its noise, its gain, its delay.

A course has a row for each node, (M N) rows: noise before gain before delay before course. With the expected courses of
cluster k at each node, ``n_km``, the bound has what :class:`~timelike.clusters.curves.noise.Noise` says of the levels
of the noise, and ``sum n_km log p(m)`` with the prior of gains and delays.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from timelike.base.arrays import Floats
from timelike.clusters.curves.noise import COMMON, Noise
from timelike.gp.freedom import NONE, Freedom


@dataclass(frozen=True, eq=False)
class Nodes:
    """Levels of the noise, gains and delays, in all combinations."""

    noise: Noise = COMMON
    free: Freedom = NONE

    def __len__(self) -> int:
        return len(self.noise) * len(self.free)

    @cached_property
    def scales(self) -> Floats:
        """Factor of the noise variance at each level and gain, (C,)."""
        return np.repeat(self.noise.scales, len(self.free.log_gains))

    @cached_property
    def gains(self) -> Floats:
        """Gain at each level of the noise and gain, (C,)."""
        return np.tile(np.exp(self.free.log_gains), len(self.noise))

    @cached_property
    def alone(self) -> Floats:
        """Log probability of each node for a course that is in no cluster, (M,)."""
        return np.add.outer(self.noise.alone, self.free.log_prior).ravel()

    def log_evidence(self, counts: Floats) -> float:
        """What the bound has for clusters with so many courses at each node, (K, M)."""
        levels, free = self._by_noise(counts)
        return self.noise.log_evidence(levels) + float(free.sum(axis=0) @ self.free.log_prior)

    def expected_logs(self, counts: Floats) -> Floats:
        """Expected log probability of each node in each cluster, (K, M)."""
        return self._with_freedom(self.noise.expected_logs(self._by_noise(counts)[0]))

    def log_shares(self, counts: Floats) -> Floats:
        """Log probability of each node for a further course of clusters with such counts, (K, M)."""
        return self._with_freedom(self.noise.log_shares(self._by_noise(counts)[0]))

    def _by_noise(self, counts: Floats) -> tuple[Floats, Floats]:
        """Sums over freedoms, (K, levels), and over levels of the noise, (K, freedoms)."""
        each = counts.reshape(len(counts), len(self.noise), -1)  # on other nodes, perhaps, of gains and delays
        return each.sum(axis=2), each.sum(axis=1)

    def _with_freedom(self, logs: Floats) -> Floats:
        return np.asarray((logs[:, :, None] + self.free.log_prior).reshape(len(logs), -1))


ONE = Nodes()
"""The model's noise for all courses, and no freedom."""
