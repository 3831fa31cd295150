"""One tile of the similarity, by the cheapest exact route. Pure arrays: who calls a tile, and when, is not known here.

    s(i, j) = E(A_i + A_j, b_i + b_j) - E(A_i, b_i) - E(A_j, b_j)

Where the noise is small against the signal the three terms are large and nearly cancel; each route then takes a form
in which courses that are alike enter through the difference of their posterior means.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np

from timelike.base.arrays import Floats, Ints
from timelike.gp.information import Information, log_det_plus_identity
from timelike.gp.modelled import MAX_RANK, Modelled
from timelike.pairs import elimination
from timelike.pairs.elimination import Engine, Side, eliminate, engine, precise_engine

FEW = 80
"""Designs are few when a design has, on average, at least so many courses."""
MOST_FORMS = 20_000
"""Pairs of designs whose form is kept: some 100 MB."""
PRECISE_ABOVE = 1e5
"""Where terms that nearly cancel are larger than this, a route takes the form in which they do not occur."""


class Route(Protocol):
    """A way to compute tiles; `order` is a sequence of the courses in which neighbours share work."""

    symmetric: bool
    """Whether a tile and its mirror image have the same bits, so that both may be computed."""

    @property
    def name(self) -> str:
        """What the route is called."""

    @property
    def side(self) -> int:
        """Courses along each side of a tile."""

    @property
    def order(self) -> Ints:
        """The courses, so sorted that a tile of neighbours is cheap."""

    def tile(self, rows: Ints, cols: Ints, out: Floats) -> None:
        """Write the similarities of the courses `rows` to the courses `cols` into `out`."""


def route(here: Modelled) -> Route:
    """The cheapest exact route for courses under a model.

    - "grid": one design. One matrix product.
    - "grids": few designs. One factorisation for each pair of designs, then matrix products.
    - "information": many designs, smooth kernel. A small factorisation for each pair of courses.
    - "dense": many designs, and a kernel too rough for a small basis. The paper's formula for each pair.
    """
    courses = here.courses
    if len(courses) >= FEW * len(courses.designs) or len(courses.designs) == 1:
        return grid_route(here.information)
    if here.basis(MAX_RANK if elimination.name() == "numba" else MAX_RANK // 2).reached:
        return InformationRoute.of(here.information)
    return DenseRoute.of(here)


# -- one design --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class OneGridRoute:
    """All courses share their times: the matrix is one product of width r + 2.

    ``s(i, j) = q_i + q_j + x_i . x_j``. The factors are ``[q, 1, x]`` and ``[1, q, x]``: summed in this order, (i, j)
    and (j, i) are the same sum of the same numbers.
    """

    name = "grid"
    side = 128  # rows: a part and what makes it stay in the cache
    symmetric = True
    left: Floats  # (N, r + 2)
    right: Floats  # (r + 2, N)

    @classmethod
    def of(cls, form: PairForm, means: Floats) -> OneGridRoute:
        """The route for courses with these posterior means, and the form of their only design with itself."""
        weight, vectors = np.linalg.eigh(_symmetric(form.bilinear))
        x = means @ (vectors * np.sqrt(np.maximum(weight, 0)))
        q, ones = form.constant / 2 - _half_squares(means @ form.root), np.ones(len(means))
        return cls(np.column_stack([q, ones, x]), np.vstack([ones, q, x.T]))

    @property
    def order(self) -> Ints:
        """Any order is as good as another."""
        return np.arange(len(self.left))

    def tile(self, rows: Ints, cols: Ints, out: Floats) -> None:
        """Write the similarities of the courses `rows` to the courses `cols` into `out`."""
        np.matmul(self.left[_stretch(rows)], self.right[:, _stretch(cols)], out=out)


def _stretch(which: Ints) -> Ints | slice:
    """Courses that follow each other as a slice, of which nothing is copied."""
    return slice(which[0], which[-1] + 1) if (np.diff(which) == 1).all() else which


def grid_route(found: Information) -> Route:
    """The route for few designs; where large terms would cancel, also one design takes the form that avoids them."""
    way = GridRoute.of(found)
    if len(found.A) > 1:
        return way
    form = way.form(0, 0)
    if _half_squares(way.means @ form.root).max() > way.precise_above:
        return way
    return OneGridRoute.of(form, way.means)


# -- few designs ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PairForm:
    """The similarity of a course of one design and a course of another, as a quadratic form in their means.

    ``s = constant - 1/2 |(m_i - m_j) root|^2 + m_i cross m_j + m_j own m_j``
    """

    constant: float
    root: Floats
    cross: Floats
    own: Floats
    bilinear: Floats
    """``root root^T + cross``: what is left of the form when the square is expanded."""

    def __call__(self, m_i: Floats, m_j: Floats, out: Floats, precise_above: float = PRECISE_ABOVE) -> None:
        """Write the similarities of all rows of `m_i` to all rows of `m_j` into `out`."""
        x_i, x_j = m_i @ self.root, m_j @ self.root
        q_i, q_j = _half_squares(x_i), _half_squares(x_j)
        extra = self.own_part(m_j)
        if max(q_i.max(), q_j.max()) > precise_above:
            from scipy.spatial.distance import cdist

            # Squares of differences: nothing cancels for courses that are alike.
            squares = cdist(x_i, x_j, "sqeuclidean")
            out[...] = self.constant - squares / 2 + (m_i @ self.cross) @ m_j.T + extra
        else:
            left, right = np.ones((len(m_i), len(self.root) + 2)), np.ones((len(m_j), len(self.root) + 2))
            np.matmul(m_i, self.bilinear, out=left[:, 2:])
            left[:, 0] = self.constant - q_i
            right[:, 1] = extra - q_j
            right[:, 2:] = m_j
            np.matmul(left, right.T, out=out)

    def own_part(self, m_j: Floats) -> Floats:
        """``m_j own m_j`` for each row of `m_j`."""
        return np.einsum("ia,ab,ib->i", m_j, self.own, m_j, optimize=True) if self.own.any() else np.zeros(len(m_j))


def _half_squares(x: Floats) -> Floats:
    return np.einsum("ia,ia->i", x, x) / 2


def pair_form(A_g: Floats, A_h: Floats, log_dets: Floats) -> PairForm:
    """The form for designs with matrices `A_g` (of i) and `A_h` (of j)."""
    unit = np.eye(len(A_g))
    B = unit + A_g + A_h
    cross = np.linalg.solve(B, unit + A_g).T  # P_g B^-1
    square = _symmetric(A_h @ cross.T)  # A_h B^-1 P_g, the parallel sum of A_h and P_g
    weight, vectors = np.linalg.eigh(square)
    constant = (log_dets.sum() - log_det_plus_identity(A_g + A_h)) / 2
    own = _symmetric(np.linalg.solve(B, A_h - A_g)) / 2
    root = vectors * np.sqrt(np.maximum(weight, 0))
    return PairForm(float(constant), root, cross, own, root @ root.T + cross)


def _symmetric(M: Floats) -> Floats:
    return (M + M.T) / 2


@dataclass(frozen=True, eq=False)
class GridRoute:
    """Few designs: every pair of designs is one quadratic form, every tile a few matrix products."""

    name = "grids"
    side = 512  # a tile stays in the cache while it is mirrored
    symmetric = False
    design_of: Ints
    means: Floats
    A: Floats
    log_dets: Floats
    precise_above: float = PRECISE_ABOVE
    _forms: dict[tuple[int, int], PairForm] = field(default_factory=dict)

    @classmethod
    def of(cls, found: Information) -> GridRoute:
        """The route for courses with this information."""
        return cls(found.design_of, found.means(), found.A, log_det_plus_identity(found.A))

    @cached_property
    def order(self) -> Ints:
        """Courses of the same design side by side."""
        return np.argsort(self.design_of, kind="stable")

    def tile(self, rows: Ints, cols: Ints, out: Floats) -> None:
        """Write the similarities of the courses `rows` to the courses `cols` into `out`."""
        right = self._runs(cols)
        for g, i in self._runs(rows):
            for h, j in right:
                self.form(g, h)(self.means[rows[i]], self.means[cols[j]], out[i, j], self.precise_above)

    def _runs(self, which: Ints) -> list[tuple[int, slice]]:
        """Stretches of courses with one design: the design, and where the stretch is."""
        if len(self.A) == 1:
            return [(0, slice(0, len(which)))]
        design = self.design_of[which]
        bounds = [*np.flatnonzero(np.diff(design, prepend=-1)), len(which)]
        return [(design[a], slice(a, b)) for a, b in pairwise(bounds)]

    def form(self, g: int, h: int) -> PairForm:
        """The form for a pair of designs, made once where there are not too many of them to keep."""
        found = self._forms.get((g, h))
        if found is None:
            found = pair_form(self.A[g], self.A[h], self.log_dets[[g, h]])
            if len(self._forms) < MOST_FORMS:
                self._forms[g, h] = found
        return found


# -- every course its own design ------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class InformationRoute:
    """Many designs: ``I + A_i + A_j`` is factored for each pair, laid out so that the inner loop runs over pairs."""

    name = "information"
    side = 256  # less is computed twice, in the tiles on the diagonal
    symmetric = False
    found: Information
    A: Floats  # (r (r + 1) / 2, N): lower triangles, row after row, with the course as last index
    b: Floats  # (r, N)
    squares: Floats  # (N,): b^T (I + A)^-1 b / 2, which with log_dets makes each course's own evidence
    log_dets: Floats  # (N,): log det(I + A)
    engine: Engine
    """What eliminates, where the terms are not so large that they would cancel."""
    precise_above: float = PRECISE_ABOVE

    @classmethod
    def of(cls, found: Information) -> InformationRoute:
        """The route for courses with this information."""
        packed = np.ascontiguousarray(found.A[:, *np.tril_indices(found.rank)].T[:, found.design_of])
        b = np.ascontiguousarray(found.b.T)
        work = len(found.b) ** 2 / 2 * found.rank**3  # multiplications of the whole job, roughly
        return cls(found, packed, b, *eliminate(packed.copy(), b.copy()), engine(work))

    @property
    def order(self) -> Ints:
        """Any order is as good as another."""
        return np.arange(len(self.log_dets))

    @cached_property
    def own(self) -> Floats:
        """Each course's own evidence, (N,)."""
        return self.squares - self.log_dets / 2

    @cached_property
    def means(self) -> Floats:
        """Posterior means, (r, N)."""
        return np.ascontiguousarray(self.found.means().T)

    def tile(self, rows: Ints, cols: Ints, out: Floats) -> None:
        """Write the similarities of the courses `rows` to the courses `cols` into `out`."""
        precise = self.squares.max() > self.precise_above
        run: Engine = precise_engine if precise else self.engine
        vectors, own = (self.means, self.log_dets / -2) if precise else (self.b, self.own)
        run(self._side(vectors, own, rows), self._side(vectors, own, cols), out)

    def _side(self, vectors: Floats, own: Floats, which: Ints) -> Side:
        some = _stretch(which)
        return Side(*(np.ascontiguousarray(part[..., some]) for part in (self.A, vectors, own)))


@dataclass(frozen=True, eq=False)
class DenseRoute:
    """The paper's formula, pair by pair: ``s(i, j) = log p(y_j | y_i) - log p(y_j)``."""

    name = "dense"
    side = 16
    symmetric = False
    here: Modelled
    scores: Floats

    @classmethod
    def of(cls, here: Modelled) -> DenseRoute:
        """The route for courses under a model."""
        found = (measured(here, i) for i in range(len(here.courses)))
        return cls(here, np.array([_log_density(_covariance(here, one), one.residual) for one in found]))

    @property
    def order(self) -> Ints:
        """Any order is as good as another."""
        return np.arange(len(self.scores))

    def tile(self, rows: Ints, cols: Ints, out: Floats) -> None:
        """Write the similarities of the courses `rows` to the courses `cols` into `out`."""
        for k, i in enumerate(rows):
            out[k] = self._row(i, cols)

    def _row(self, i: int, others: Ints) -> Floats:
        one = measured(self.here, i)
        lower = np.linalg.cholesky(_covariance(self.here, one))
        solved = np.linalg.solve(lower, one.residual)
        return np.array([self._given(j, one.points, lower, solved) - self.scores[j] for j in others])

    def _given(self, j: int, points: Floats, lower: Floats, solved: Floats) -> float:
        """Log density of course j when the values at `points` are known."""
        own = measured(self.here, j)
        shared = np.linalg.solve(lower, self.here.gp.covariance(points, own.points))
        return _log_density(_covariance(self.here, own) - shared.T @ shared, own.residual - shared.T @ solved)


class Measured(NamedTuple):
    """A course: points (n, d), values without the mean of the model (n,), and their noise variances (n,)."""

    points: Floats
    residual: Floats
    noise: Floats


def measured(here: Modelled, i: int) -> Measured:
    """Course i as a Gaussian vector has it."""
    courses, g = here.courses, here.courses.design_of[i]
    span = slice(*courses.designs.starts[[g, g + 1]])
    residual = courses.values[courses.starts[i] : courses.starts[i + 1]] - here.gp.mean
    return Measured(courses.designs.points[span], residual, here.noise_variances[span])


def _covariance(here: Modelled, one: Measured) -> Floats:
    return here.gp.covariance(one.points) + np.diag(one.noise)


def _log_density(C: Floats, residual: Floats) -> float:
    """Log density of a Gaussian with mean zero, without the constant in pi."""
    lower = np.linalg.cholesky(C)
    solved = np.linalg.solve(lower, residual)
    return -float(solved @ solved) / 2 - float(np.log(np.diag(lower)).sum())
