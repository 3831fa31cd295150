"""The likelihood of long courses, on the cheapest route that is exact, or exact to a known error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from timelike.gp.long.banded import banded
from timelike.gp.long.interpolated import Remembered, interpolated, suitable
from timelike.gp.long.markov import DYNAMICS, markov
from timelike.gp.stationary import Form

if TYPE_CHECKING:
    from sklearn.gaussian_process.kernels import Kernel

    from timelike.gp.long.padded import InMean, Padded


@dataclass(frozen=True, eq=False)
class Long:
    """Long designs, for a kernel of the distance in time alone."""

    batches: tuple[Remembered, ...]
    form: Form
    low: float
    high: float
    """The first and the last time."""
    most_nodes: int

    @classmethod
    def of(cls, batches: list[Padded], form: Form, most_nodes: int) -> Long:
        """The designs of all batches."""
        low = min(float(batch.times.min()) for batch in batches)
        high = max(float(batch.times.max()) for batch in batches)
        typical = int(np.mean(np.concatenate([batch.sizes for batch in batches])))
        return cls(tuple(map(Remembered, batches)), form, low, high, min(most_nodes, 3 * typical // 4))

    def factored(self, kernel: Kernel, signal: float, noise: float, least: float) -> InMean:
        """The courses under a kernel: by its state, through nodes where few are enough, else cut into blocks."""
        noise = max(noise, least * signal)
        padded = [each.batch for each in self.batches]
        if self.form in DYNAMICS:
            return markov(padded, self.form, kernel, signal, noise)
        if self.low < self.high:
            found = suitable(kernel, self.low, self.high, self.most_nodes)
            if found is not None:
                return interpolated(self.batches, found, signal, noise)
        return banded(padded, self.form, kernel, signal, noise)
