"""Merging the two clusters that most want one curve, where one may be moved in time and made larger. Pure arrays.

A cluster is its courses, each at a place: a node of gain and of delay. Two clusters are compared with one moved back
and the other forth by each node, and what that gives is summed with the prior of such a difference; they are merged
where it is largest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from timelike.base.arrays import Floats, Ints
from timelike.clusters.curves.bound import AtSpread
from timelike.clusters.curves.merges import Merges
from timelike.gp.freedom import Freedom
from timelike.gp.information import heights
from timelike.pairs.aligned.nodes import log_prior_of_delays, log_prior_of_gains


class AlignedMerges(NamedTuple):
    """All merges, and where each course is: gain and delay in nodes, (N, 2), right up to a move of a whole cluster."""

    merges: Merges
    places: Ints


@dataclass(frozen=True, eq=False)
class Grid:
    """The nodes of a freedom as a grid of gains and delays, to move about on."""

    free: Freedom

    @property
    def shape(self) -> tuple[int, int]:
        """How many gains and delays."""
        return len(self.free.log_gains), len(self.free.delays)

    @property
    def offsets(self) -> Ints:
        """Nodes from the middle, (M, 2)."""
        places = np.stack(np.meshgrid(*map(np.arange, self.shape), indexing="ij"), axis=-1).reshape(-1, 2)
        return places - np.array(self.shape) // 2

    def number(self, places: Ints) -> Ints:
        """The numbers of the nodes at places (..., 2) from the middle; beyond the last node, that of the last.

        Phases go round.
        """
        at = places + np.array(self.shape) // 2
        last = self.shape[1]
        delay = at[..., 1] % last if self.free.period is not None else np.clip(at[..., 1], 0, last - 1)
        return np.asarray(np.clip(at[..., 0], 0, self.shape[0] - 1) * last + delay)

    @property
    def log_prior(self) -> Floats:
        """Log probability that two courses differ by twice each node, (M,)."""
        gains, delays = 2 * np.array(self.free.log_gains), 2 * np.array(self.free.delays)
        logs = log_prior_of_gains(self.free, gains)[:, None] + log_prior_of_delays(self.free, delays)
        return (logs - np.log(np.exp(logs).sum())).ravel()


class _Clusters:
    """Information of the clusters that there are now, moved by each node: A (M, N, r, r), b (M, N, r), c (M, N)."""

    def __init__(self, state: AtSpread, rank: int) -> None:
        self.grid = Grid(state.nodes.free)
        kept = np.linalg.eigh(state.A.sum(axis=0))[1][:, -rank:]
        each = kept.T @ state.A @ kept
        self.of_design = each.reshape(len(state.nodes), -1, *each.shape[1:]), state.design_of[: len(state)]
        self.of_course = state.by_node(state.b @ kept), state.by_node(state.c)
        self.members = [np.array([i]) for i in range(len(state))]
        self.places = np.zeros((len(state), 2), dtype=np.intp)
        self.A = self.of_design[0][:, self.of_design[1]]
        self.b, self.c = (of_course.copy() for of_course in self.of_course)
        self.own = _log_sum(self.grid.log_prior[:, None] + heights(self.A, self.b) + self.c)
        self.back = self.grid.number(-self.grid.offsets)

    def first_gains(self) -> tuple[Floats, Ints]:
        """What merging any two courses adds, and the node that suits best, (N, N)."""
        count = self.b.shape[1]
        found = [self.gains(i, np.arange(count)) for i in range(count)] if len(self.of_design[0][0]) > 1 else None
        if found is not None:
            S, nodes = (np.stack(parts) for parts in zip(*found, strict=True))
            return S, nodes
        return self._best(self._on_one_grid(), self.own[:, None] + self.own)

    def _on_one_grid(self) -> Floats:
        """Log density of each two courses, moved by each node: all of them have the same matrix there, (M, N, N)."""
        result = np.empty((len(self.b), self.b.shape[1], self.b.shape[1]))
        for forth, back in enumerate(self.back):
            B = self.A[back, 0] + self.A[forth, 0] + np.eye(self.b.shape[2])
            lower = np.linalg.cholesky(B)
            first, second = (np.linalg.solve(lower, self.b[node].T).T for node in (back, forth))
            squares = ((first**2).sum(axis=1) / 2 + self.c[back])[:, None] + (second**2).sum(axis=1) / 2 + self.c[forth]
            result[forth] = first @ second.T + squares - np.log(np.diag(lower)).sum()
        return result

    def gains(self, p: int, others: Ints) -> tuple[Floats, Ints]:
        """What merging cluster p with others adds, and the node by which these are best moved, (others,)."""
        A = self.A[self.back, p][:, None] + self.A[:, others]
        b = self.b[self.back, p][:, None] + self.b[:, others]
        together = heights(A, b) + self.c[self.back, p][:, None] + self.c[:, others]
        return self._best(together, self.own[p] + self.own[others])

    def _best(self, together: Floats, apart: Floats) -> tuple[Floats, Ints]:
        each = together + self.grid.log_prior.reshape(-1, *[1] * (together.ndim - 1))
        return _log_sum(each) - apart, each.argmax(axis=0)

    def merge(self, p: int, q: int, node: int) -> None:
        """Put q, moved forth by a node, to p, moved back by it, and keep the middle of both where it is."""
        sizes, apart = [len(self.members[p]), len(self.members[q])], 2 * self.grid.offsets[node]
        back = -np.rint(apart * sizes[1] / sum(sizes)).astype(np.intp)
        self.places[self.members[p]] += back
        self.places[self.members[q]] += back + apart
        which = self.members[p] = np.concatenate([self.members[p], self.members[q]])
        at = self.grid.number(self.places[which][:, None] + self.grid.offsets)  # (members, M)
        (A, design_of), (b, c) = self.of_design, self.of_course
        self.A[:, p] = A[at, design_of[which, None]].sum(axis=0)
        self.b[:, p], self.c[:, p] = b[at, which[:, None]].sum(axis=0), c[at, which[:, None]].sum(axis=0)
        self.own[p] = _log_sum(self.grid.log_prior + heights(self.A[:, p], self.b[:, p]) + self.c[:, p])


def _log_sum(logs: Floats) -> Floats:
    """``log sum exp`` over the first axis."""
    top = logs.max(axis=0)
    return np.asarray(top + np.log(np.exp(logs - top).sum(axis=0)))


def agglomerate_aligned(state: AtSpread, rank: int | None = None) -> AlignedMerges:
    """Merge the two clusters that gain most by one curve, moved to where that suits best, until one is left.

    With a `rank`, curves are seen in so many directions alone: those of which the courses say most.
    """
    count = len(state)
    clusters = _Clusters(state, rank or state.b.shape[1])
    S, nodes = clusters.first_gains()
    S[np.tril_indices(count)] = -np.inf
    number, size = np.arange(count), np.ones(count, dtype=np.intp)
    pairs, gains, sizes = np.empty((count - 1, 2), np.intp), np.empty(count - 1), np.empty(count - 1, np.intp)
    for m in range(count - 1):
        p, q = (int(x) for x in np.unravel_index(S.argmax(), S.shape))
        pairs[m], gains[m], sizes[m] = (number[p], number[q]), S[p, q], size[p] + size[q]
        clusters.merge(p, q, int(nodes[p, q]))
        number[p], size[p], size[q] = count + m, sizes[m], 0
        S[[p, q]], S[:, [p, q]] = -np.inf, -np.inf
        others = np.flatnonzero((size > 0) & (number != count + m))
        if len(others):
            S[p, others], nodes[p, others] = clusters.gains(p, others)
    return AlignedMerges(Merges(pairs, gains, sizes), clusters.places)
