"""What courses say about their curves at every node of a pair."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from timelike.base.arrays import Floats, Ints
from timelike.gp.information import Information, chunks
from timelike.pairs.aligned.nodes import PairNodes


@dataclass(frozen=True, eq=False)
class Placed:
    """The information of courses at each delay, and their evidence wherever a node puts them."""

    nodes: PairNodes
    A: Floats
    """One matrix for each delay and design, (D, G, r, r)."""
    b: Floats
    """One vector for each delay and course, (D, N, r)."""
    design_of: Ints

    @classmethod
    def of(cls, nodes: PairNodes, found: Information, delays: int) -> Placed:
        """From information that is stacked over delays."""
        count, rank = len(found.b) // delays, found.rank
        A, b = found.A.reshape(delays, -1, rank, rank), found.b.reshape(delays, count, rank)
        return cls(nodes, A, b, found.design_of[:count])

    @cached_property
    def evidence(self) -> tuple[Floats, Floats]:
        """Log evidence of each course at each node, as the first and as the second of a pair, (T, N) each."""
        weight, axes = np.linalg.eigh(self.A)
        weight = np.maximum(weight, 0)
        known = [self._turned(axes[d], self.b[d]) ** 2 for d in range(len(self.b))]
        return self._evidence(weight, known, 0), self._evidence(weight, known, 1)

    def _turned(self, axes: Floats, b: Floats) -> Floats:
        """Vectors in the coordinates of the axes of their design."""
        if len(axes) == 1:
            return b @ axes[0]
        return np.concatenate(
            [(b[rows, None] @ axes[self.design_of[rows]])[:, 0] for rows in chunks(len(b), axes[0].size)]
        )

    def _evidence(self, weight: Floats, known: list[Floats], side: int) -> Floats:
        result = np.empty((len(self.nodes), len(self.design_of)))
        for t, (d, gain) in enumerate(zip(self.places[side], self.nodes.gains[side] ** 2, strict=True)):
            scaled = gain * weight[d]
            log_det = np.log1p(scaled).sum(axis=1)
            quadratic = (known[d] * (gain / (1 + scaled))[self.design_of]).sum(axis=1)
            result[t] = (quadratic - log_det[self.design_of]) / 2
        return result

    @property
    def places(self) -> tuple[Ints, Ints]:
        """The delay of the first, and of the second, at each node."""
        return self.nodes.first, self.nodes.second

    @cached_property
    def own(self) -> tuple[Floats, Floats]:
        """Log evidence of each course alone, wherever it is put, as the first and as the second, (N,) each."""
        first, second = (log_sum(part + self.nodes.log_prior[:, None]) for part in self.evidence)
        return first, second


def log_sum(logs: Floats) -> Floats:
    """``log sum exp`` over the first index; overwrites."""
    top = logs.max(axis=0)
    logs -= top
    np.exp(logs, out=logs)
    return np.log(logs.sum(axis=0)) + top
