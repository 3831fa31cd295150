"""Log weights of the nodes of pairs, by the cheapest exact way; their sum is the similarity.

    w = log p(node) + E(A_i + A_j, b_i + b_j) - own_i - own_j

with the information of both courses where the node puts them, and ``own`` the evidence of each course alone, wherever
it is put. As in :mod:`timelike.pairs.routes`, a form in which nothing large cancels is taken where terms are large.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np

from timelike.base.arrays import Floats, Ints
from timelike.base.tiles import spans
from timelike.gp.information import log_det_plus_identity
from timelike.gp.modelled import Modelled
from timelike.pairs.aligned.nodes import PairNodes
from timelike.pairs.aligned.placed import Placed
from timelike.pairs.elimination import Engine, Side, engine, evidence, precise_engine
from timelike.pairs.routes import MOST_FORMS, PRECISE_ABOVE, Measured, measured, pair_form

Block = tuple[slice, slice, Floats]
"""Which rows and columns of a tile, and the log weights of their nodes, (T, R, C)."""

IN_CACHE = 80_000
"""Numbers that are worked on at once: less than a processor keeps near."""
FACTORS = 2_000_000
"""Numbers that matrix products are made of, at once."""
AT_ONCE = 1_000_000
"""Numbers worked on at once where each of them costs much."""


class Weighing(Protocol):
    """A way to compute the log weights of the nodes of pairs."""

    @property
    def name(self) -> str:
        """As the route of courses without freedoms."""

    @property
    def side(self) -> int:
        """Courses along each side of a tile."""

    @property
    def order(self) -> Ints:
        """The courses, so sorted that a tile of neighbours is cheap."""

    def blocks(self, rows: Ints, cols: Ints) -> Iterator[Block]:
        """All pairs of some courses with others, a few at a time; what is given may be overwritten."""

    def pairs(self, rows: Ints, cols: Ints) -> Floats:
        """The pairs (rows[p], cols[p]), (T, P)."""


# -- few designs -------------------------------------------------------------------------------------------------


class Form(NamedTuple):
    """The log weights of all nodes for two designs: ``constant + 1/2 |b_i left + b_j right|^2``, less what is own."""

    constant: Floats
    """(T,)"""
    left: Floats
    """(T, r, r)"""
    right: Floats


@dataclass(frozen=True, eq=False)
class ByGrids:
    """Few designs: one factorisation for each pair of designs and node, then matrix products."""

    placed: Placed
    side = 512
    precise_above: float = PRECISE_ABOVE
    _forms: dict[tuple[int, int], Form] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """As the route of courses without freedoms."""
        return "grid" if self.placed.A.shape[1] == 1 else "grids"

    @cached_property
    def order(self) -> Ints:
        """Courses of the same design side by side."""
        return np.argsort(self.placed.design_of, kind="stable")

    def blocks(self, rows: Ints, cols: Ints) -> Iterator[Block]:
        """All pairs of some courses with others."""
        right = self._runs(cols)
        for g, i in self._runs(rows):
            for h, j in right:
                for r, c, block in self._of_designs(g, h, rows[i], cols[j]):
                    yield _moved(r, i.start), _moved(c, j.start), block

    def _runs(self, which: Ints) -> list[tuple[int, slice]]:
        """Stretches of courses with one design, not too long: the design, and where the stretch is."""
        design = self.placed.design_of[which]
        bounds = [*np.flatnonzero(np.diff(design, prepend=-1)), len(which)]
        runs = [span for a, b in pairwise(bounds) for span in spans(slice(a, b), self._most)]
        return [(int(design[run.start]), run) for run in runs]

    @property
    def _most(self) -> int:
        """Courses whose factors are kept at once."""
        return max(64, FACTORS // (len(self.placed.nodes) * (self.placed.b.shape[2] + 2)))

    def _of_designs(self, g: int, h: int, rows: Ints, cols: Ints) -> Iterator[Block]:
        form = self.form(g, h)
        left, right = self._side(0, rows, form.left), self._side(1, cols, form.right)
        precise = max(left[:, :, 0].max(), right[:, :, 1].max()) > self.precise_above
        left[:, :, 0] += form.constant[:, None] - self.placed.own[0][rows]
        right[:, :, 1] -= self.placed.own[1][cols]
        side = max(32, int(np.sqrt(IN_CACHE / len(left))))
        for r in spans(slice(0, len(rows)), side):
            for c in spans(slice(0, len(cols)), side):
                if precise:
                    yield r, c, self._precisely(g, h, rows[r], cols[c])
                else:
                    yield r, c, left[:, r] @ right[:, c].transpose(0, 2, 1)

    def _side(self, side: int, which: Ints, root: Floats) -> Floats:
        """The factors of a product: half squares beside a one, then what is multiplied, (T, n, r + 2)."""
        b = self.placed.b[self.placed.places[side][:, None], which]
        factors = np.ones((len(root), len(which), b.shape[2] + 2))
        x = np.matmul(b, root, out=factors[:, :, 2:])
        factors[:, :, side] = np.einsum("tia,tia->ti", x, x) / 2
        return factors

    def form(self, g: int, h: int) -> Form:
        """The form of two designs, made once where there are not too many of them to keep."""
        found = self._forms.get((g, h))
        if found is None:
            found = self._form(g, h)
            if len(self._forms) * len(self.placed.nodes) < MOST_FORMS:
                self._forms[g, h] = found
        return found

    def _form(self, g: int, h: int) -> Form:
        one, two = self._matrices(g, h)
        weight, axes = np.linalg.eigh(one + two)
        weight = np.maximum(weight, 0)
        root = axes / np.sqrt(1 + weight)[:, None]
        first, second = (gain[:, None, None] for gain in self.placed.nodes.gains)
        return Form(self.placed.nodes.log_prior - np.log1p(weight).sum(axis=1) / 2, first * root, second * root)

    def _matrices(self, g: int, h: int) -> tuple[Floats, Floats]:
        """A of the first design and of the second at each node, (T, r, r) each."""
        (first, second), gains = self.placed.places, self.placed.nodes.gains
        squares = (gain[:, None, None] ** 2 for gain in gains)
        return next(squares) * self.placed.A[first, g], next(squares) * self.placed.A[second, h]

    def _precisely(self, g: int, h: int, rows: Ints, cols: Ints) -> Floats:
        placed, matrices = self.placed, self._matrices(g, h)
        unit = np.eye(placed.A.shape[-1])
        result = np.empty((len(placed.nodes), len(rows), len(cols)))
        for t, (one, two) in enumerate(zip(*matrices, strict=True)):
            (d, e), (u, v) = ((part[t] for part in both) for both in (placed.places, placed.nodes.gains))
            m_i = np.linalg.solve(unit + one, u * placed.b[d, rows].T).T
            m_j = np.linalg.solve(unit + two, v * placed.b[e, cols].T).T
            form = pair_form(one, two, log_det_plus_identity(np.stack([one, two])))
            form(m_i, m_j, result[t], self.precise_above)
        return _with_own(placed, result, rows, cols)

    def pairs(self, rows: Ints, cols: Ints) -> Floats:
        """The pairs (rows[p], cols[p]), (T, P)."""
        design = self.placed.design_of
        both = design[rows] * np.int64(self.placed.A.shape[1]) + design[cols]
        result = np.empty((len(self.placed.nodes), len(rows)))
        for key in np.unique(both):
            of_key = np.flatnonzero(both == key)
            g, h = divmod(int(key), self.placed.A.shape[1])
            for part in spans(slice(0, len(of_key)), self._most):
                which = of_key[part]
                result[:, which] = self._pairs_of(g, h, rows[which], cols[which])
        return result

    def _pairs_of(self, g: int, h: int, rows: Ints, cols: Ints) -> Floats:
        form, own = self.form(g, h), self.placed.own
        left, right = self._side(0, rows, form.left), self._side(1, cols, form.right)
        if max(left[:, :, 0].max(), right[:, :, 1].max()) > self.precise_above:
            alone = [self._precisely(g, h, rows[p : p + 1], cols[p : p + 1]) for p in range(len(rows))]
            return np.concatenate(alone, axis=2)[:, 0]
        return np.einsum("tpa,tpa->tp", left, right) + form.constant[:, None] - own[0][rows] - own[1][cols]


def _moved(span: slice, by: int) -> slice:
    return slice(span.start + by, span.stop + by)


def _with_own(placed: Placed, similarity: Floats, rows: Ints, cols: Ints) -> Floats:
    """Log weights, from the similarity that a pair has at each node, (T, R, C)."""
    first, second = (evidence - own for evidence, own in zip(placed.evidence, placed.own, strict=True))
    similarity += placed.nodes.log_prior[:, None, None] + first[:, rows, None]
    similarity += second[:, None, cols]
    return similarity


# -- every course its own design --------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ByInformation:
    """Many designs: a small factorisation for each pair of courses and node."""

    name = "information"
    side = 256
    placed: Placed
    A: Floats  # (D, r (r + 1) / 2, N): lower triangles, with the course as last index
    b: Floats  # (D, r, N)
    engine: Engine
    precise_above: float = PRECISE_ABOVE

    @classmethod
    def of(cls, placed: Placed) -> ByInformation:
        """For courses with this information."""
        rank, count = placed.b.shape[2], placed.b.shape[1]
        packed = placed.A[:, :, *np.tril_indices(rank)][:, placed.design_of].transpose(0, 2, 1)
        work = len(placed.nodes) * count**2 / 2 * rank**3
        return cls(placed, np.ascontiguousarray(packed), placed.b.transpose(0, 2, 1).copy(), engine(work))

    @property
    def order(self) -> Ints:
        """Any order is as good as another."""
        return np.arange(self.b.shape[2])

    @cached_property
    def precise(self) -> bool:
        """Whether terms are so large that they must not cancel."""
        return max(float(part.max()) for part in self.placed.evidence) > self.precise_above

    def blocks(self, rows: Ints, cols: Ints) -> Iterator[Block]:
        """All pairs of some courses with others."""
        side = max(8, int(np.sqrt(AT_ONCE / len(self.placed.nodes))))
        for r in spans(slice(0, len(rows)), side):
            for c in spans(slice(0, len(cols)), side):
                yield r, c, self._block(rows[r], cols[c])

    def _block(self, rows: Ints, cols: Ints) -> Floats:
        result, own = np.empty((len(self.placed.nodes), len(rows), len(cols))), self.placed.own
        for t, found in enumerate(result):
            left, right = self._at(t, 0, rows), self._at(t, 1, cols)
            if self.precise:
                precise_engine(_in_means(*left), _in_means(*right), found)
            else:
                self.engine(Side(*left, own[0][rows]), Side(*right, own[1][cols]), found)
                found += self.placed.nodes.log_prior[t]
        return _with_own(self.placed, result, rows, cols) if self.precise else result

    def _at(self, t: int, side: int, which: Ints) -> tuple[Floats, Floats]:
        """A and b of some courses as a node has them, packed."""
        d, gain = self.placed.places[side][t], self.placed.nodes.gains[side][t]
        return gain**2 * self.A[d][:, which], gain * self.b[d][:, which]

    def pairs(self, rows: Ints, cols: Ints) -> Floats:
        """The pairs (rows[p], cols[p]), (T, P)."""
        if self.precise:
            return _one_by_one(self, rows, cols)
        result = np.empty((len(self.placed.nodes), len(rows)))
        for t in range(len(result)):
            both = zip(self._at(t, 0, rows), self._at(t, 1, cols), strict=True)
            result[t] = evidence(*(i + j for i, j in both))
        own = self.placed.own
        return result + self.placed.nodes.log_prior[:, None] - own[0][rows] - own[1][cols]


def _in_means(A: Floats, b: Floats) -> Side:
    """Courses as the precise engine takes them, from packed A and b."""
    return Side(A, _means(A, b), evidence(A.copy(), np.zeros_like(b)))


def _means(A: Floats, b: Floats) -> Floats:
    """``(I + A)^-1 b`` of packed matrices, (r, n)."""
    rank = len(b)
    full = np.empty((b.shape[1], rank, rank))
    i, j = np.tril_indices(rank)
    full[:, i, j] = full[:, j, i] = A.T
    return np.ascontiguousarray(np.linalg.solve(full + np.eye(rank), b.T[:, :, None])[:, :, 0].T)


def _one_by_one(way: Weighing, rows: Ints, cols: Ints) -> Floats:
    """The pairs (rows[p], cols[p]) from tiles of a single course each, (T, P)."""
    found, order = [], np.argsort(rows, kind="stable")
    for i in np.unique(rows):
        found += [block[:, 0] for *_, block in way.blocks(np.array([i]), cols[rows == i])]
    result = np.empty((len(found[0]), len(rows)))
    result[:, order] = np.concatenate(found, axis=1)
    return result


# -- rough kernels -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Densely:
    """The paper's formula for each pair and node: ``log p(y_i) + log p(y_j | y_i)``, for any kernel.

    Levels are taken out by contrasts: what is left of a course when all differences of its values are known.
    """

    name = "dense"
    side = 16
    here: Modelled
    nodes: PairNodes

    @property
    def order(self) -> Ints:
        """Any order is as good as another."""
        return np.arange(len(self.here.courses))

    @cached_property
    def courses(self) -> list[Measured]:
        """The courses, their noise as a matrix, without their levels where these are free."""
        return [measured(self.here, i) for i in range(len(self.here.courses))]

    @cached_property
    def contrasts(self) -> list[Floats]:
        """What is known of the values of each course, (n, n) or (n, n - 1)."""
        return [
            contrasts(len(one.residual)) if self.here.free.level else np.eye(len(one.residual)) for one in self.courses
        ]

    @cached_property
    def own(self) -> tuple[Floats, Floats]:
        """Log density of each course alone, wherever it is put, as the first and as the second, (N,) each."""
        every = range(len(self.courses))
        first, second = (np.array([self._own(i, side) for i in every]) for side in (0, 1))
        return first, second

    def _own(self, i: int, side: int) -> float:
        logs = densities(self._covariance(i, side), self._known(i))
        return float(np.logaddexp.reduce(logs + self.nodes.log_prior))

    def _known(self, i: int) -> Floats:
        return self.contrasts[i].T @ self.courses[i].residual

    def _points(self, i: int, side: int) -> list[Floats]:
        """The points of a course as its curve sees them, for each delay."""
        return [self.courses[i].points - h for h in self._delays(side)]

    def _delays(self, side: int) -> Floats:
        place = (self.nodes.first, self.nodes.second)[side][: self.nodes.shape[1]]
        return np.array(self.here.free.delays)[place]

    def _covariance(self, i: int, side: int) -> Floats:
        """Covariance of what is known of a course at each node, (T, n, n)."""
        curve = np.stack([self.here.gp.covariance(x) for x in self._points(i, side)])
        return self._contrasted(i, i, self._scaled(curve, side, side) + np.diag(self.courses[i].noise))

    def _scaled(self, curve: Floats, one: int, two: int) -> Floats:
        """Covariances for each delay as those for each node."""
        gains = self.nodes.gains[one] * self.nodes.gains[two]
        return np.tile(curve, (self.nodes.shape[0], 1, 1)) * gains[:, None, None]

    def _contrasted(self, i: int, j: int, C: Floats) -> Floats:
        return self.contrasts[i].T @ C @ self.contrasts[j]

    def blocks(self, rows: Ints, cols: Ints) -> Iterator[Block]:
        """All pairs of some courses with others."""
        for k, i in enumerate(rows):
            yield slice(k, k + 1), slice(0, len(cols)), self._row(i, cols)[:, None]

    def _row(self, i: int, cols: Ints) -> Floats:
        lower = np.linalg.cholesky(self._covariance(i, 0))
        solved = np.linalg.solve(lower, self._known(i)[:, None])
        alone = -(solved[:, :, 0] ** 2).sum(axis=1) / 2 - np.log(np.diagonal(lower, axis1=1, axis2=2)).sum(axis=1)
        given = np.stack([self._given(i, j, lower, solved) for j in cols], axis=1)
        prior = self.nodes.log_prior + alone - self.own[0][i]
        return prior[:, None] + given - self.own[1][cols]

    def _given(self, i: int, j: int, lower: Floats, solved: Floats) -> Floats:
        """Log density of course j when course i is known, at each node, (T,)."""
        places = zip(self._points(i, 0), self._points(j, 1), strict=True)
        curve = np.stack([self.here.gp.covariance(x, z) for x, z in places])
        shared = np.linalg.solve(lower, self._contrasted(i, j, self._scaled(curve, 0, 1)))
        across = shared.transpose(0, 2, 1)
        return densities(self._covariance(j, 1) - across @ shared, self._known(j) - (across @ solved)[:, :, 0])

    def pairs(self, rows: Ints, cols: Ints) -> Floats:
        """The pairs (rows[p], cols[p]), (T, P)."""
        return _one_by_one(self, rows, cols)


def contrasts(count: int) -> Floats:
    """Directions of `count` values that say nothing about their level, orthonormal, (count, count - 1)."""
    return np.linalg.qr(np.column_stack([np.ones(count), np.eye(count)[:, 1:]]))[0][:, 1:]


def densities(C: Floats, residual: Floats) -> Floats:
    """Log densities of Gaussians with mean zero, without the constant in pi: (T, n, n) and (n,) or (T, n) to (T,)."""
    lower = np.linalg.cholesky(C)
    solved = np.linalg.solve(lower, np.broadcast_to(residual, C.shape[:2])[:, :, None])
    return -(solved[:, :, 0] ** 2).sum(axis=1) / 2 - np.log(np.diagonal(lower, axis1=1, axis2=2)).sum(axis=1)
