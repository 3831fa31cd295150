"""Merging, again and again, the two clusters that most want one curve. Pure arrays.

Where the noise is small against the signal, the three terms of a gain are large and nearly cancel; gains are then
computed from the clusters' posterior means, whose differences decide, as the similarity is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from timelike.base.arrays import Floats, Ints
from timelike.base.threads import run_tiles
from timelike.base.tiles import Tile, upper_tiles
from timelike.clusters.curves.bound import AtSpread, unpacked
from timelike.gp.information import Information, log_det_plus_identity
from timelike.pairs.elimination import Side, engine, precise_engine
from timelike.pairs.job import mirror
from timelike.pairs.routes import PRECISE_ABOVE

SIDE = 128
"""First gains are computed in tiles of so many clusters a side: their arrays stay in the cache."""
TRIM_BELOW = 0.95
"""Places of clusters that are gone are cut off when less than this share is in use."""
GONE = -1


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


def agglomerate(state: AtSpread) -> Merges:
    """Merge the two clusters with the largest ``E(P + Q) - E(P) - E(Q)`` until one is left.

    All gains are kept, (N, N); each merge computes one new row of them, against all clusters at once. A cluster that
    is gone leaves its place to the last one.
    """
    state, count = _turned(state), len(state)
    slots, number, size = _Slots(state), np.arange(count), np.ones(count, dtype=np.intp)
    table = _Table(_first_gains(state, slots))
    pairs, gains, sizes = np.empty((count - 1, 2), np.intp), np.empty(count - 1), np.empty(count - 1, np.intp)
    for m in range(count - 1):
        p, q, gains[m] = table.largest()
        pairs[m], sizes[m], last = number[[p, q]], size[p] + size[q], count - 1 - m
        number[p], size[p], number[q], size[q] = count + m, sizes[m], number[last], size[last]
        slots.merge(p, q, gains[m])
        table.merge(p, q, slots.gains(slice(p, p + 1), slice(None))[0])
    return Merges(pairs, gains, sizes)


def _turned(state: AtSpread) -> AtSpread:
    """The courses along the axes of their A, where they share one: no merge depends on the axes."""
    used = np.unique(state.design_of)
    if state.diagonal or len(used) > 1:
        return state
    gains, vectors = np.linalg.eigh(state.A[used[0]])
    A, design_of = np.diag(np.maximum(gains, 0))[None], np.zeros_like(state.design_of)
    return AtSpread(state.spread, A, state.b @ vectors, state.c, state.own, design_of, diagonal=True)


class _Slots:
    """Summed information of the clusters that there are now, one a slot, with the slot as last index."""

    def __init__(self, state: AtSpread) -> None:
        self.diagonal, rank = state.diagonal, state.A.shape[1]
        A = np.diagonal(state.A, axis1=1, axis2=2) if self.diagonal else state.packed
        self.A = np.ascontiguousarray(A[state.design_of].T)
        self.b = np.ascontiguousarray(state.b.T)
        logs = log_det_plus_identity(state.A)[state.design_of]
        self.precise = bool((state.own + logs / 2).max() > PRECISE_ABOVE)
        self.own, self.means = state.own.copy(), self.b  # evidence; or what stands for it in the precise form
        self.engine = engine(len(state) ** 2 * rank**3)
        if self.precise:
            means = Information(state.A, state.b, state.design_of).means()
            self.own, self.means, self.engine = logs / -2, np.ascontiguousarray(means.T), precise_engine

    def gains(self, rows: slice, cols: slice) -> Floats:
        """``E(P + Q) - E(P) - E(Q)`` of the clusters `rows` with the clusters `cols`."""
        left, right = self._side(rows), self._side(cols)
        if self.diagonal and self.precise:
            return _diagonal_gains(left, right)
        if self.diagonal:
            together = _diagonal_evidence(left.A[:, :, None] + right.A[:, None], left.b[:, :, None] + right.b[:, None])
            return together - left.own[:, None] - right.own
        gains = np.empty((len(left.own), len(right.own)))
        self.engine(left, right, gains)
        return gains

    def _side(self, which: slice) -> Side:
        own, vectors = self.own[which], self.means if self.precise else self.b
        return Side(self.A[:, which][:, : len(own)], vectors[:, which][:, : len(own)], own)

    def merge(self, p: int, q: int, gain: float) -> None:
        """Put q to p, and the last cluster in the place of q."""
        last = len(self.own) - 1
        for x in (self.A, self.b):
            x[:, p] += x[:, q]
        if self.precise:
            self.means[:, p], self.own[p] = self._told(p)
        else:
            self.own[p] += self.own[q] + gain
        kept = (self.A, self.b, self.means) if self.precise else (self.A, self.b)
        for x in kept:
            x[:, q] = x[:, last]
        self.own[q] = self.own[last]
        self.own = self.own[:last]
        if last < TRIM_BELOW * self.b.shape[1]:
            self.A, self.b, self.means = (np.ascontiguousarray(x[:, :last]) for x in (self.A, self.b, self.means))

    def _told(self, p: int) -> tuple[Floats, Floats]:
        """Posterior mean of a cluster, and half its negative log determinant."""
        A = np.diag(self.A[:, p]) if self.diagonal else unpacked(self.A[:, p], len(self.b))
        return np.linalg.solve(A + np.eye(len(A)), self.b[:, p]), log_det_plus_identity(A) / -2


class _Table:
    """The gains of all pairs of clusters, S, and for each cluster the largest of them and whose it is.

    A cluster whose partner is gone keeps that gain as a bound, which what is left does not exceed, and is looked
    through again only when no other gain is larger.
    """

    def __init__(self, S: Floats) -> None:
        self.S = S
        self.partner = S.argmax(axis=1)
        self.best = S[np.arange(len(S)), self.partner]

    def largest(self) -> tuple[int, int, float]:
        """The two clusters that gain most, the earlier place first, and what they gain."""
        p = int(self.best.argmax())
        while self.partner[p] == GONE:
            self._look_through(p)
            p = int(self.best.argmax())
        q = int(self.partner[p])
        return min(p, q), max(p, q), float(self.best[p])

    def merge(self, p: int, q: int, row: Floats) -> None:
        """Put q to p, whose gains are now `row`, and the last cluster in the place of q."""
        last, partner, best = len(self.best) - 1, self.partner, self.best
        partner[(partner == p) | (partner == q)] = GONE
        partner[partner == last] = q
        partner[q], best[q] = partner[last], best[last]
        self.S[q], self.S[:, q] = self.S[last], self.S[:, last]
        self.S[q, q] = -np.inf
        self.S, self.partner, self.best = self.S[:last, :last], partner[:last], best[:last]
        self._renew(p, row)

    def _renew(self, p: int, row: Floats) -> None:
        row[p] = -np.inf
        self.S[p], self.S[:, p] = row, row
        better = row >= self.best
        self.partner[better], self.best[better] = p, row[better]
        self._look_through(p)

    def _look_through(self, p: int) -> None:
        self.partner[p] = self.S[p].argmax()
        self.best[p] = self.S[p, self.partner[p]]


def _diagonal_gains(left: Side, right: Side) -> Floats:
    """The gains from posterior means, see :func:`precise_engine`, where matrices are diagonal."""
    A_i, A_j, m_i, m_j = left.A[:, :, None], right.A[:, None], left.b[:, :, None], right.b[:, None]
    both = 1 + A_i + A_j
    apart = (1 + A_i) * (m_i * m_j - A_j * (m_i - m_j) ** 2 / 2) + (A_j - A_i) * m_j**2 / 2
    return np.asarray((apart / both - np.log1p(A_i + A_j) / 2).sum(axis=0) - left.own[:, None] - right.own)


def _diagonal_evidence(A: Floats, b: Floats) -> Floats:
    A += 1
    quadratic = np.einsum("d...,d...->...", b, b / A)
    # One logarithm of a product instead of a sum of logarithms; pivots are large only where noise is tiny.
    flush = max(1, int(300 / np.log10(A.max() + 1)))
    logs = sum(np.log(np.prod(A[d : d + flush], axis=0)) for d in range(0, len(A), flush))
    return (quadratic - logs) / 2


def _first_gains(state: AtSpread, slots: _Slots) -> Floats:
    """Gains of all pairs of courses, (N, N), the same bits on both sides of the diagonal, which is -inf."""
    shared = state.diagonal and len(state.A) == 1 and not slots.precise
    S = _shared_gains(state) if shared else _own_gains(slots)
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
    mirror(S)
    return S


def _own_gains(slots: _Slots) -> Floats:
    """Otherwise a factorisation for each pair."""
    S = np.empty((len(slots.own), len(slots.own)))

    def fill(tile: Tile) -> None:
        rows, cols = tile
        S[rows, cols] = slots.gains(rows, cols)
        if rows == cols:
            mirror(S[rows, cols])
        else:
            S[cols, rows] = S[rows, cols].T

    run_tiles(fill, upper_tiles(len(S), SIDE), None, "linkage")
    return S
