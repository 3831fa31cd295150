"""Merging, again and again, the two clusters that most want one curve. Pure arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from timelike.base.arrays import Floats, Ints
from timelike.clusters.curves.bound import AtSpread
from timelike.pairs.elimination import engine

PAIRS = 1 << 15
"""Pairs whose first gains are computed at once: their arrays stay in the cache."""
COMPACT_BELOW = 0.7
"""Clusters that are gone are dropped from the arrays when less than this share is left."""


@dataclass(frozen=True, eq=False)
class Merges:
    """All N - 1 merges, from N clusters to one."""

    pairs: Ints
    """The two clusters of each merge, (N - 1, 2); cluster ``N + m`` is what merge m made, as in SciPy."""
    gains: Floats
    """What each merge adds to the total evidence: ``E(P + Q) - E(P) - E(Q)``. Negative where two curves are better."""
    sizes: Ints
    """Courses in the cluster that each merge makes."""

    def linkage(self) -> Floats:
        """The SciPy matrix. Heights are losses of evidence, ``-gains``, made non-decreasing, from zero on."""
        height = np.maximum.accumulate(-self.gains)
        return np.column_stack([np.sort(self.pairs, axis=1), height - height[:1], self.sizes]).astype(float)


class _Slots:
    """Summed information of the clusters that there are now, one a slot, with the slot as last index."""

    def __init__(self, state: AtSpread) -> None:
        self.diagonal = state.diagonal
        if self.diagonal:
            self.A = np.ascontiguousarray(np.diagonal(state.A, axis1=1, axis2=2)[state.design_of].T)
        else:
            rows, cols = np.tril_indices(state.A.shape[1])
            self.A = np.ascontiguousarray(state.A[:, rows, cols][state.design_of].T)
        self.b = np.ascontiguousarray(state.b.T)
        self.own = state.own.copy()

    def gains(self, rows: slice) -> Floats:
        """``E(P + Q) - E(P) - E(Q)`` of the clusters `rows` with all."""
        A, b = self.A[:, rows], self.b[:, rows]
        if self.diagonal:
            together = _diagonal_evidence(A[:, :, None] + self.A[:, None], b[:, :, None] + self.b[:, None])
        else:
            quadratic, log_det = engine()(np.ascontiguousarray(A), np.ascontiguousarray(b), self.A, self.b)
            together = quadratic - log_det / 2
        return together - self.own[rows, None] - self.own

    def merge(self, p: int, q: int, gain: float) -> None:
        self.A[:, p] += self.A[:, q]
        self.b[:, p] += self.b[:, q]
        self.own[p] += self.own[q] + gain

    def keep(self, alive: Ints) -> None:
        self.A, self.b, self.own = (np.ascontiguousarray(x[..., alive]) for x in (self.A, self.b, self.own))


def _diagonal_evidence(A: Floats, b: Floats) -> Floats:
    A += 1
    quadratic = np.einsum("d...,d...->...", b, b / A)
    # One logarithm of a product instead of a sum of logarithms; pivots are large only where noise is tiny.
    flush = max(1, int(300 / np.log10(A.max() + 1)))
    logs = sum(np.log(np.prod(A[d : d + flush], axis=0)) for d in range(0, len(A), flush))
    return (quadratic - logs) / 2


def agglomerate(state: AtSpread) -> Merges:
    """Merge the two clusters with the largest ``E(P + Q) - E(P) - E(Q)`` until one is left.

    All gains are kept, (N, N); each merge computes one new row of them, against all clusters at once, and for
    each cluster the best partner is remembered and sought again only when it is gone.
    """
    count = len(state)
    slots, S = _Slots(state), _first_gains(state)
    number, size = np.arange(count), np.ones(count, dtype=np.intp)
    partner = S.argmax(axis=1)
    best = S[np.arange(count), partner]
    pairs, gains, sizes = np.empty((count - 1, 2), np.intp), np.empty(count - 1), np.empty(count - 1, np.intp)
    for m in range(count - 1):
        p = int(best.argmax())
        q = int(partner[p])
        pairs[m], gains[m], sizes[m] = (number[p], number[q]), best[p], size[p] + size[q]
        slots.merge(p, q, gains[m])
        number[p], size[p] = count + m, sizes[m]
        size[q] = 0
        row = slots.gains(slice(p, p + 1))[0]
        row[(size == 0) | (number == count + m)] = -np.inf
        S[p], S[:, p], S[q], S[:, q] = row, row, -np.inf, -np.inf
        _renew(S, row, p, q, partner, best)
        if (size > 0).sum() < COMPACT_BELOW * len(size):
            alive = np.flatnonzero(size)
            where = np.cumsum(size > 0) - 1
            S, number, size = S[np.ix_(alive, alive)], number[alive], size[alive]
            partner, best = where[partner[alive]], best[alive]
            slots.keep(alive)
    return Merges(pairs, gains, sizes)


def _first_gains(state: AtSpread) -> Floats:
    """Gains of all pairs of courses, (N, N), the same bits on both sides of the diagonal, which is -inf."""
    S = _shared_gains(state) if state.diagonal and len(state.A) == 1 else _own_gains(state)
    S = np.maximum(S, S.T)
    np.fill_diagonal(S, -np.inf)
    return S


def _shared_gains(state: AtSpread) -> Floats:
    """On one grid all pairs have the same matrix, and the gains are a matrix product."""
    gains = 2 * np.diag(state.A[0])
    b = state.b / np.sqrt(1 + gains)
    alone = (b**2).sum(axis=1) / 2 - state.own
    S = b @ b.T
    S += alone[:, None]
    S += alone - np.log1p(gains).sum() / 2
    return S


def _own_gains(state: AtSpread) -> Floats:
    slots = _Slots(state)
    S = np.empty((len(state), len(state)))
    step = max(1, PAIRS // len(state))
    for start in range(0, len(state), step):
        rows = slice(start, min(start + step, len(state)))
        S[rows] = slots.gains(rows)
    return S


def _renew(S: Floats, row: Floats, p: int, q: int, partner: Ints, best: Floats) -> None:
    """Best partners after cluster q went into p, whose gains are now `row`."""
    gone = ((partner == p) | (partner == q)) & (best > -np.inf)
    better = row >= best
    partner[better], best[better] = p, row[better]
    stale = np.union1d(np.flatnonzero(gone & ~better), [p])
    partner[stale] = S[stale].argmax(axis=1)
    best[stale] = S[stale, partner[stale]]
    best[q] = -np.inf
