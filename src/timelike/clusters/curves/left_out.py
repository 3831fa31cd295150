"""Courses beside clusters: how likely each is given a cluster's other courses, itself left out. Pure arrays.

Let a cluster have the precision ``P = I + A_k`` and the mean m, and a course (A, b) the weight r in it. With
``d = b - A m`` the log density of the course given the others of the cluster is

    (b - A m / 2) . m + (1 - r)^2 / 2 d^T (P + (1 - r) A)^-1 d - r^2 / 2 d^T (P - r A)^-1 d
        - 1/2 log det(P + (1 - r) A) + 1/2 log det(P - r A)

However small the noise, nothing large cancels in d, which is about the difference of two curves. Where many courses
share A, V with ``V^T P V = I`` and ``V^T A V = diag(g)`` makes both matrices diagonal, whatever r; not where little of
the cluster is left without the course, and ``1 - r g`` has few digits.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from timelike.base.arrays import Floats, Ints
from timelike.clusters.curves.bound import AtSpread, Clusters, packed
from timelike.gp.information import chunks
from timelike.pairs.elimination import Side, engine, evidence, times

SLIGHT = 1e-3
"""A course with a smaller weight in a cluster is not taken out of it before it is judged."""
SHARED = 50
"""So many courses of one design are worked on as one."""
ROWS = 8192
"""Courses of one design that are worked on at once: what is computed of them stays in the cache."""
PAIRS = 4096
"""Courses with a cluster each that are worked on at once where matrices differ."""
LEFT = 1e-3
"""Where less than this share of a cluster's precision in some direction is left without a course, it is taken out of
the sums themselves."""


def given_the_others(state: AtSpread, r: Floats, clusters: Clusters) -> Floats:
    """Log density of each row given each cluster without the course itself, (M N, K); otherwise as :func:`predictive`.

    A course is taken out of every cluster that it has a share in.
    """
    if len(state.nodes) == 1:
        return _beside(state, clusters, r)
    result, at_nodes = predictive(state, clusters), state.by_node(r)[:, :, :-1]
    which, k = np.nonzero(at_nodes.sum(axis=0) > SLIGHT)
    density = left_out(state, r, clusters, k, which).reshape(len(at_nodes), -1)
    if clusters.levels is not None:
        others = np.maximum(clusters.levels[k] - at_nodes[:, which, k].T, 0)
        density += state.by_node(state.c)[:, which] + state.nodes.log_shares(others).T
    state.by_node(result)[:, which, k] = density
    return result


def predictive(state: AtSpread, clusters: Clusters) -> Floats:
    """Log density of each row given each cluster, (M N, K): its level included, and the common part of c not."""
    result = _beside(state, clusters)
    if clusters.levels is not None:
        result += state.c[:, None]
        state.by_node(result)[:] += state.nodes.log_shares(clusters.levels).T[:, None]
    return result


def left_out(state: AtSpread, r: Floats, clusters: Clusters, labels: Ints, which: Ints | None = None) -> Floats:
    """Log density of courses given the others of a cluster each, without their constant c, at each level, (M n,).

    The course itself, as far as it belongs to the cluster, is taken out of the sums first. All courses, or some.
    """
    which = np.arange(len(state)) if which is None else which
    result = np.empty((len(state.nodes), len(which)))
    for rows in chunks(len(which), len(result), PAIRS):
        result[:, rows] = _given_the_others(state, which[rows], r, clusters, labels[rows])
    return result.ravel()


def _given_the_others(state: AtSpread, which: Ints, r: Floats, clusters: Clusters, k: Ints) -> Floats:
    weight, b = state.by_node(r)[:, which, k], np.moveaxis(state.by_node(state.b)[:, which], -1, 0)
    A = _last(state.packed)[:, state.design_of.reshape(len(weight), -1)[:, which]]
    mean = clusters.moments[0].T[:, k][:, None]
    pull = times(A, mean)
    alone, d = ((b - pull / 2) * mean).sum(axis=0), b - pull
    others = _last(packed(clusters.A))[:, k] - np.einsum("mi,tmi->ti", weight, A)
    less = np.einsum("mi,dmi->di", weight, d)
    return alone + evidence(others[:, None] + A, d - less[:, None]) - evidence(others, less)


def _last(triangles: Floats) -> Floats:
    """Packed matrices with the matrix as last index."""
    return np.ascontiguousarray(triangles.T)


# -- every course beside every cluster -----------------------------------------------------------------------------


def _beside(state: AtSpread, clusters: Clusters, r: Floats | None = None) -> Floats:
    """Log density of each row given each cluster, (M N, K), without itself where it has weights r in clusters."""
    result = np.empty((len(state.b), len(clusters.n)))
    for design, rows in _by_design(state):
        if design is None:
            result[rows], most = _with_their_own(state, rows, clusters), np.array(1 / SLIGHT)
        else:
            shared = _Shared(state.A[design], clusters)
            most = shared.gains.max(axis=1)
            for some in chunks(len(rows), 1, ROWS):
                own = rows[some]
                result[own] = shared.densities(state.b[own], None if r is None else r[own])
        if r is not None:
            at, k = np.nonzero((r[rows, :-1] > SLIGHT) & (1 - r[rows, :-1] * most < LEFT))
            result[rows[at], k] = left_out(state, r, clusters, k, rows[at])
    return result


def _by_design(state: AtSpread) -> Iterator[tuple[int | None, Ints]]:
    """The rows of each design that many share, and last those of all others."""
    count = np.bincount(state.design_of, minlength=len(state.A))
    order = np.argsort(state.design_of, kind="stable")
    ends = np.cumsum(count)
    for g in np.flatnonzero(count >= SHARED):
        yield int(g), order[ends[g] - count[g] : ends[g]]
    rest = np.flatnonzero(count[state.design_of] < SHARED)
    if len(rest):
        yield None, rest


def _with_their_own(state: AtSpread, rows: Ints, clusters: Clusters) -> Floats:
    """Log density of rows given each cluster, where each row has another matrix."""
    A, b, design = _last(state.packed)[:, state.design_of[rows]], state.b[rows].T, state.design_of[rows]
    result, known = np.empty((len(clusters.n), len(rows))), _last(packed(clusters.A))
    compute = engine(max(len(rows), state.among) * len(clusters.n) * len(b) ** 3)  # blocks are done as all at once
    for k, mean in enumerate(clusters.moments[0]):
        pull = (state.A @ mean)[design].T
        cluster = Side(known[:, k : k + 1], np.zeros((len(b), 1)), clusters.log_dets[k : k + 1] / -2)
        compute(cluster, Side(A, b - pull, mean @ (pull / 2 - b)), result[k : k + 1])
    return result.T


class _Shared:
    """What courses that share A need, beside each cluster."""

    def __init__(self, A: Floats, clusters: Clusters) -> None:
        gains, turn = np.linalg.eigh(clusters.half @ A @ clusters.half.transpose(0, 2, 1))
        self.gains = np.maximum(gains, 0)
        self.vectors = clusters.half.transpose(0, 2, 1) @ turn
        self.mean = clusters.moments[0]
        self.pull = self.mean @ A
        self.constant = -(self.pull * self.mean).sum(axis=1) / 2

    def densities(self, b: Floats, r: Floats | None) -> Floats:
        """Log density of courses (n, r) given each cluster, (n, K), without themselves where they have weights."""
        result = b @ self.mean.T + self.constant
        for k, gains in enumerate(self.gains):
            squares = ((b - self.pull[k]) @ self.vectors[k]) ** 2
            more = squares @ (0.5 / (1 + gains)) - np.log1p(gains).sum() / 2
            if r is not None:
                own = np.flatnonzero(r[:, k] > SLIGHT)
                more[own] = _without(squares[own], gains, r[own, k, None])
            result[:, k] += more
        return result


def _without(squares: Floats, gains: Floats, r: Floats) -> Floats:
    left, beside = np.maximum(1 - r * gains, LEFT), 1 + (1 - r) * gains
    squares *= (1 - r) ** 2 / beside - r**2 / left
    squares -= np.log(beside / left)
    return np.asarray(squares.sum(axis=1) / 2)
