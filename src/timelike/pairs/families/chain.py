"""Partitions of courses into families, drawn one after the other from what the courses say about them.

A sweep takes every course out of its family and puts it back into one of them, or into a new one, with the probability
that it has given all others (Neal 2000, algorithm 3). Families that belong together, or apart, would seldom find that
out one course at a time, so whole families are merged and split as well (Dahl 2005, sequentially allocated).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from timelike.base.arrays import Floats, Ints
from timelike.pairs.families.known import Known, evidence
from timelike.pairs.families.sizes import CONCENTRATIONS, Sizes

ONE = np.ones(1)
TOUCHED = 4.0
"""Courses that splits and merges of a sweep look at, for each course there is."""
GLANCE = 8
"""Courses that a merge which is out of the question counts for."""


@dataclass(eq=False)
class Chain:
    """The current partition, and what it is drawn from; everything about families is a row of an array."""

    known: Known
    sizes: Sizes
    rng: np.random.Generator
    scales: Floats = field(default_factory=lambda: ONE)
    """Scales that the noise of a course may have, equally probable, (W,)."""
    concentration: int = 1

    def __post_init__(self) -> None:
        count = len(self.known.b)
        self.family: Ints = np.full(count, -1)
        self.scale_of: Ints = np.zeros(count, dtype=np.intp)
        self.counts: Floats = np.zeros(0)
        self.heights: Floats = np.zeros(0)
        self.A, self.b = self.known.A[:0].copy(), self.known.b[:0].copy()
        self._measure()
        for i in self.rng.permutation(count):
            self._put(i, *self.weigh(i))

    def __len__(self) -> int:
        return len(self.family)

    # -- what is known -------------------------------------------------------------------------------------------

    def under(self, known: Known, scales: Floats | None = None) -> None:
        """Go on with the same partition under another setting, or with other scales of noise."""
        if scales is not None:
            if len(scales) != len(self.scales):
                self.scale_of = np.full(len(self), len(scales) // 2)
            self.scales = scales
        self.known = known
        self._measure()
        self.A, self.b = self.sums(known)
        self.heights = evidence(self.A, self.b)

    def _measure(self) -> None:
        """What each course says at each scale of its noise: its density alone in a family, and without any, (W, N)."""
        w, known = self.scales[:, None], self.known
        self._bare = -(known.squares / w + known.sizes * np.log(w)) / 2
        alone = np.stack([evidence(known.A / scale, known.b / scale) for scale in self.scales])
        self._alone = alone + self._bare

    def sums(self, known: Known) -> tuple[Floats, Floats]:
        """Information of each family of the current partition."""
        w, count = self.scales[self.scale_of], len(self.counts)
        A = np.zeros((count, *known.A.shape[1:]))
        np.add.at(A, self.family, known.A / w.reshape(-1, *[1] * (known.A.ndim - 1)))
        b = np.zeros((count, known.b.shape[1]))
        np.add.at(b, self.family, known.b / w[:, None])
        return A, b

    def log_density(self, known: Known) -> float:
        """Log density of all values in the current partition under a setting, up to a constant."""
        w = self.scales[self.scale_of]
        bare = -(known.squares / w + known.sizes * np.log(w) + known.log_det) / 2
        return float(evidence(*self.sums(known)).sum() + bare.sum())

    def _scaled(self, i: int) -> tuple[Floats, Floats]:
        w = self.scales[self.scale_of[i]]
        return self.known.A[i] / w, self.known.b[i] / w

    # -- one course at a time ------------------------------------------------------------------------------------

    def sweep(self, together: Floats | None = None) -> None:
        """Draw the family of every course; add to `together` (N, N) the probabilities of each with all others."""
        for i in self.rng.permutation(len(self)):
            self._take_out(i)
            probability, joined = self.weigh(i)
            if together is not None:
                row = probability.sum(axis=0)[self.family]  # its own place counts as the last, a family of its own
                row[i] = 0
                together[i] += row
                together[:, i] += row
            self._put(i, probability, joined)

    def weigh(self, i: int) -> tuple[Floats, Floats]:
        """Probability of each scale and family of a course that is in none, (W, K + 1); heights of families with it."""
        known, w = self.known, self.scales
        shape = -1, *[1] * known.A[i].ndim
        A = self.A[None] + (known.A[i] / w.reshape(shape))[:, None]
        joined = evidence(A, self.b[None] + (known.b[i] / w[:, None])[:, None])
        logs = np.empty((len(w), len(self.counts) + 1))
        logs[:, :-1] = np.log(self.counts + CONCENTRATIONS[self.concentration]) + joined - self.heights
        logs[:, :-1] += self._bare[:, i, None]
        logs[:, -1] = self.sizes.log_new(self.concentration, len(self.counts)) + self._alone[:, i]
        probability = np.exp(logs - logs.max())
        return probability / probability.sum(), joined

    def _put(self, i: int, probability: Floats, joined: Floats) -> None:
        steps = probability.ravel().cumsum()
        drawn = min(int(np.searchsorted(steps, self.rng.random() * steps[-1], side="right")), len(steps) - 1)
        self.scale_of[i], k = divmod(drawn, probability.shape[1])
        A, b = self._scaled(i)
        if k == len(self.counts):
            scale = self.scale_of[i]
            self._append(A, b, 1, self._alone[scale, i] - self._bare[scale, i])
        else:
            self.counts[k] += 1
            self.A[k] += A
            self.b[k] += b
            self.heights[k] = joined[self.scale_of[i], k]
        self.family[i] = k

    def _take_out(self, i: int) -> None:
        k = self.family[i]
        self.family[i] = -1
        if self.counts[k] == 1:
            self._drop(k)
            return
        A, b = self._scaled(i)
        self.counts[k] -= 1
        self.A[k] -= A
        self.b[k] -= b
        self.heights[k] = evidence(self.A[k], self.b[k])

    def _append(self, A: Floats, b: Floats, count: int, height: float) -> None:
        self.A, self.b = np.concatenate([self.A, A[None]]), np.concatenate([self.b, b[None]])
        self.counts, self.heights = np.append(self.counts, float(count)), np.append(self.heights, height)

    def _drop(self, k: int) -> None:
        self.family[self.family > k] -= 1
        self.A, self.b = np.delete(self.A, k, axis=0), np.delete(self.b, k, axis=0)
        self.counts, self.heights = np.delete(self.counts, k), np.delete(self.heights, k)

    # -- whole families ------------------------------------------------------------------------------------------

    def reshape(self) -> None:
        """Try splits and merges of families."""
        left = TOUCHED * len(self)
        while left > 0 and len(self) > 1:
            i, j = self.rng.choice(len(self), 2, replace=False)
            left -= self._split(i, j) if self.family[i] == self.family[j] else self._merge(i, j)

    def _split(self, i: int, j: int) -> int:
        """Try to split the family of two courses into one of each; the number of courses looked at."""
        k = self.family[i]
        deal = self._dealt(i, j, np.flatnonzero(self.family == k), None)
        gain = self.sizes.log_split(self.concentration, len(self.counts) + 1, deal.sizes)
        gain += deal.heights.sum() - self.heights[k]
        if np.log(self.rng.random()) < gain - deal.log_probability:
            self.family[deal.second] = len(self.counts)
            self.A[k], self.b[k], self.counts[k], self.heights[k] = (
                deal.A[0],
                deal.b[0],
                deal.sizes[0],
                deal.heights[0],
            )
            self._append(deal.A[1], deal.b[1], deal.sizes[1], deal.heights[1])
        return sum(deal.sizes)

    def _merge(self, i: int, j: int) -> int:
        """Try to merge the families of two courses; the number of courses looked at."""
        k, other = self.family[i], self.family[j]
        A, b = self.A[k] + self.A[other], self.b[k] + self.b[other]
        height = float(evidence(A, b))
        counts = int(self.counts[k]), int(self.counts[other])
        gain = self.sizes.log_split(self.concentration, len(self.counts), counts)
        gain += self.heights[k] + self.heights[other] - height
        chance = np.log(self.rng.random())
        if chance >= -gain:  # whatever the deal
            return GLANCE
        both = np.flatnonzero((self.family == k) | (self.family == other))
        deal = self._dealt(i, j, both, self.family == other)
        if chance < deal.log_probability - gain:
            self.A[k], self.b[k], self.counts[k], self.heights[k] = A, b, len(both), height
            self.family[self.family == other] = k
            self._drop(other)
        return len(both)

    def _dealt(self, i: int, j: int, members: Ints, known: Floats | None) -> Deal:
        """Deal courses out to i and j one after the other, by chance, or as they are `known` to lie (with j)."""
        (A_i, b_i), (A_j, b_j) = self._scaled(i), self._scaled(j)
        A, b, counts, second = np.stack([A_i, A_j]), np.stack([b_i, b_j]), np.ones(2), [j]
        heights, total = evidence(A, b), 0.0
        for h in self.rng.permutation(members[(members != i) & (members != j)]):
            A_h, b_h = self._scaled(h)
            joined = evidence(A + A_h, b + b_h)
            odds = np.log(counts + CONCENTRATIONS[self.concentration]) + joined - heights
            log_second = -np.logaddexp(0, odds[0] - odds[1])
            log_first = -np.logaddexp(0, odds[1] - odds[0])
            side = int(np.log(self.rng.random()) < log_second if known is None else known[h])
            total += log_second if side else log_first
            A[side] += A_h
            b[side] += b_h
            counts[side] += 1
            heights[side] = joined[side]
            if side:
                second.append(h)
        return Deal(A, b, (int(counts[0]), int(counts[1])), heights, np.array(second), float(total))


@dataclass(frozen=True, eq=False)
class Deal:
    """Courses dealt out to two families: what each then is, who is in the second, and how probable the deal was."""

    A: Floats
    b: Floats
    sizes: tuple[int, int]
    heights: Floats
    second: Ints
    log_probability: float
