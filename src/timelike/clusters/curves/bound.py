"""The mixture of curves on bare arrays: spread, sums over clusters, sweeps, and the bound that judges them.

A course has information (A, b) about its curve, see :mod:`timelike.gp.information`. A cluster is a curve
``w_k ~ N(0, I)`` that its courses share; a share ``NONE`` of the courses belongs to no cluster and has curves of their
own. With responsibilities r (N, K + 1), of which the last column r_0 is "none", and ``A_k = sum_i r_ik A_i``,
``b_k = sum_i r_ik b_i``, the log likelihood of the courses is at least

    L(r) = sum_k E(A_k, b_k) + log B(alpha + n) / B(alpha) + sum_k n_k log(1 - NONE)
         + sum_i r_i0 (E(A_i, b_i) + log NONE) + H(r) + sum_i c_i

where n are the sums of the columns of r, H is their entropy, B normalises the Dirichlet distribution of the clusters'
shares, and ``c = -1/2 e^T R^-1 e - 1/2 log det(2 pi R)`` belongs to a course alone. A sweep is one step uphill.

Where courses have a noise, a gain or a delay of their own, a course has a row for each node of these (see
:mod:`timelike.clusters.curves.nodes`), node after node: (M N) rows, and the responsibilities of a course add up to
one over its nodes and clusters. All sums above are then over rows, each c weighed by its row, and the bound has
besides what :meth:`Nodes.log_evidence` says of the clusters' nodes, and ``sum r_i0m log p(m)`` of the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, reduce
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

import numpy as np

from timelike.base.arrays import Bools, Floats, Ints
from timelike.base.blas import one_thread_below
from timelike.base.threads import standing_pool, thread_count
from timelike.base.tiles import spans
from timelike.clusters.curves.nodes import ONE, Nodes
from timelike.clusters.curves.noise import COMMON, Noise
from timelike.exceptions import InputError
from timelike.gp.basis import RELATIVE_ERROR, Basis, basis
from timelike.gp.freedom import NONE as NO_FREEDOM
from timelike.gp.freedom import Freedom
from timelike.gp.information import Information, chunks, evidence, log_det_plus_identity
from timelike.gp.modelled import MAX_RANK
from timelike.gp.rough import constants, times_of

if TYPE_CHECKING:
    from sklearn.gaussian_process.kernels import Kernel

    from timelike.gp.modelled import Modelled

Found = TypeVar("Found")

ALPHA = 1.0
"""Dirichlet weight of each cluster: all divisions of the courses among K clusters are equally likely."""
NONE = 0.01
"""Share of the courses that is expected to belong to no cluster."""
BLOCK = 16_384
"""Courses that are swept over at once: with their weights they fit into the cache."""
FEW_DESIGNS, NUMBERS = 64, 160_000
"""Blocks share the matrices of so many designs; where there are more, they have so many numbers of those at once."""
LONG_RUN = 8
"""Where so many rows in a row have the same design, on average, they are worked on as one."""
SHORT = 32
"""NumPy takes its time to begin a row: rows of so few numbers are gone through column by column."""
NEGLIGIBLE = 1e-8
"""Directions in which all courses together tell less than this, against 1 of the prior, may be left out,"""
SLIGHT = RELATIVE_ERROR
"""as long as no course tells more than this in all of them: a set of few courses has to be as exact as pairs are."""
LITTLE = 1e-4
"""Courses that only show the way leave out the directions in which all together tell less than this."""


# -- what the courses say, for any spread ----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class AtSpread:
    """Information of courses for one value of the spread: A (G, r, r) of each design, b (N, r) of each course.

    With M nodes there are so many rows of each course, and designs: (M G, r, r), (M N, r).
    """

    spread: float
    A: Floats
    b: Floats
    c: Floats
    """What the log likelihood of a course has beside its evidence, (N,)."""
    own: Floats
    """Evidence of each course for a curve of its own, (N,)."""
    design_of: Ints
    """The design of each course, (N,)."""
    diagonal: bool
    """One design, and A is diagonal."""
    nodes: Nodes = ONE
    """What may differ from course to course."""
    among: int = 0
    """Where these are a block of others: rows of all of them."""

    def __len__(self) -> int:
        return len(self.b) // len(self.nodes)

    def sweep(self, weights: Weights) -> Fit:
        """The clusters that the courses sum to with these weights, and their bound."""
        if isinstance(weights, Rule) and len(self.blocks) > 1:
            return summed(self.each(lambda state, _: sums(state, weights)), weights, self.spread, len(self))
        r, uncertainty = weights.of(self)
        clusters = Clusters.of(self, r)
        value = explained(self, clusters, r) + uncertainty + log_division(clusters.n, len(self))
        return Fit(Given(r, uncertainty), clusters, self.spread, value)

    @cached_property
    def packed(self) -> Floats:
        """Lower triangles of A, (G, r (r + 1) / 2)."""
        return packed(self.A)

    @cached_property
    def blocks(self) -> list[tuple[slice, AtSpread]]:
        """Runs of the courses that fit into the cache with their weights; where there are nodes, all are one."""
        size = BLOCK if len(self.A) <= FEW_DESIGNS else max(1, NUMBERS // self.A[0].size)
        if len(self.nodes) > 1 or len(self) <= size:
            return [(slice(None), self)]
        return [(rows, self._rows(rows)) for rows in spans(slice(0, len(self)), size)]

    def _rows(self, rows: slice) -> AtSpread:
        """Some of the courses, where there is one node."""
        A, design_of = self.A, self.design_of[rows]
        if len(A) > FEW_DESIGNS:
            used, design_of = np.unique(design_of, return_inverse=True)
            A = A[used]
        of_course = self.b[rows], self.c[rows], self.own[rows], design_of.ravel()
        return AtSpread(self.spread, A, *of_course, self.diagonal, among=len(self.b))

    def each(self, work: Callable[[AtSpread, slice], Found]) -> Iterator[Found]:
        """The results of the work on each block, in the order of the blocks, whatever the number of threads."""
        if len(self.blocks) == 1:
            yield work(self, slice(None))
            return
        with one_thread_below():
            yield from standing_pool(thread_count(None)).map(lambda block: work(block[1], block[0]), self.blocks)

    def by_node(self, rows: Floats) -> Floats:
        """What there is for each row, for each node and course: (M, N, ...)."""
        return rows.reshape(len(self.nodes), len(self), *rows.shape[1:])

    def sizes(self, r: Floats) -> Floats:
        """Sums of the rows of r at each node, (M, K)."""
        return np.ones(len(self)) @ self.by_node(r)

    def over_nodes(self, logs: Floats) -> Floats:
        """Logarithms of the sums over the nodes of each course, (N, ...)."""
        if len(self.nodes) == 1:
            return logs
        each = self.by_node(logs)
        top = each.max(axis=0)
        return np.asarray(top + np.log(np.exp(each - top).sum(axis=0)))

    @cached_property
    def alone(self) -> Floats:
        """Log density of each row for a curve of its own, its node included and the common part of c not, (M N,)."""
        if len(self.nodes) == 1:
            return self.own
        return self.own + self.c + np.repeat(self.nodes.alone, len(self))

    @property
    def common(self) -> Floats:
        """The part of c that all nodes have in common, (N,)."""
        return self.c if len(self.nodes) == 1 else np.zeros(len(self))

    def settled(self) -> AtSpread:
        """The courses at the node that is the likeliest given a curve of their own, one row each."""
        if len(self.nodes) == 1:
            return self
        rows = self.by_node(self.alone).argmax(axis=0) * len(self) + np.arange(len(self))
        of_course = self.b[rows], self.c[rows], self.own[rows], self.design_of[rows]
        return AtSpread(self.spread, self.A, *of_course, self.diagonal)

    def per_design(self, r: Floats) -> Floats:
        """Sums of the rows of r over the courses of each design, (G, K)."""
        if len(self.A) == len(self.nodes):
            return self.sizes(r)
        order, used, starts = self._sorted
        result = np.zeros((len(self.A), r.shape[1]))
        if len(used) == len(self.b):  # every course has its own
            result[self.design_of] = r
        else:
            result[used] = np.add.reduceat(r[order], starts, axis=0)
        return result

    @cached_property
    def _sorted(self) -> tuple[Ints, Ints, Ints]:
        """The courses by their designs, the designs that occur, and where the courses of each begin."""
        used, starts = np.unique(np.sort(self.design_of), return_index=True)
        return np.argsort(self.design_of, kind="stable"), used, starts


class Apart(NamedTuple):
    """Information about the curve alone, where deviations have so many times its length scale: A_ff and b_f."""

    scale: float
    A: Floats
    b: Floats


@dataclass(frozen=True, eq=False)
class AnySpread:
    """Information of courses in the eigenvectors of each design, from which any spread is a matter of scaling.

    With spread tau the noise of a course is ``R = tau^2 K + R_0``, and its information

        A = (I + tau^2 A_0)^-1 A_0        b = (I + tau^2 A_0)^-1 b_0

    Where deviations have a kernel ``D`` of their own, ``R = tau^2 D + R_0``, their weights on a basis of D are
    integrated out: with blocks f of the curve and d of the deviation of the information on both bases,

        A = A_ff - A_fd (I / tau^2 + A_dd)^-1 A_df        b = b_f - A_fd (I / tau^2 + A_dd)^-1 b_d

    A gain g makes the curve and the deviation so many times as large. With D delays, designs and rows of z are those of
    the first delay, then those of the second, and so on.
    """

    vectors: Floats
    """Eigenvectors of A_0, (D G, r, m); with a kernel of its own A_fd times those of A_dd."""
    gains: Floats
    """Eigenvalues of A_0, (D G, m); or of A_dd."""
    z: Floats
    """b_0 along the eigenvectors, (D N, m); or b_d."""
    base: Floats
    """``-1/2 e^T R_0^-1 e - 1/2 log det(2 pi R_0)``, (N,)."""
    squares: Floats
    """``e^T R_0^-1 e``, (N,)."""
    sizes: Ints
    """The number of values, less one where the level is free, (N,)."""
    design_of: Ints
    """The design of each course, and delay, (D N,)."""
    diagonal: bool = False
    """There is one design, and its eigenvectors are the axes."""
    noise: Noise = COMMON
    """Levels of the noise."""
    apart: Apart | None = None
    """What is known besides where deviations have a kernel of their own."""
    free: Freedom = NO_FREEDOM
    """In what courses may differ from their cluster's curve."""

    def __len__(self) -> int:
        return len(self.base)

    @cached_property
    def nodes(self) -> Nodes:
        """What may differ from course to course."""
        return Nodes(self.noise, self.free)

    @property
    def scale(self) -> float:
        """Length scale of deviations, in units of the curves'."""
        return 1.0 if self.apart is None else self.apart.scale

    def at(self, spread: float) -> AtSpread:
        """The information when courses differ from their cluster's curve by `spread` times the signal.

        That of the last spread is remembered: climbs that follow each other often share it.
        """
        known = self._last.pop(spread, None)
        self._last.clear()  # before another is made: both may not fit into the memory
        return self._last.setdefault(spread, self._at(spread) if known is None else known)

    @cached_property
    def _last(self) -> dict[float, AtSpread]:
        """The information at the last spread that was asked for."""
        return {}

    def _at(self, spread: float) -> AtSpread:
        gain, pull, tau = self._gain[:, None, None], self._pull[:, None, None], spread**2
        known = self.gains * (gain * pull)  # at each level of the noise and gain, (C, D G, r)
        shrink = 1 / (1 + tau * known)
        c = self._bases() + self._halves(tau * shrink * pull**2, tau * known)
        A, b, own = self._shared(known, shrink) if self.apart is None else self._apart(tau * shrink * pull**2)
        designs = np.add.outer(len(self.gains) * np.arange(len(gain)), self.design_of).ravel()
        flat = A.reshape(-1, *A.shape[2:]), b.reshape(-1, b.shape[2]), c.ravel(), own.ravel()
        return AtSpread(spread, *flat, designs, self.diagonal, self.nodes)

    @property
    def _gain(self) -> Floats:
        """The gain g at each level of the noise and gain, (C,)."""
        return self.nodes.gains

    @property
    def _pull(self) -> Floats:
        """What b is multiplied by there: the gain in units of the noise variance, (C,)."""
        return self.nodes.gains / self.nodes.scales

    def _shared(self, known: Floats, shrink: Floats) -> tuple[Floats, Floats, Floats]:
        """A (C, D G, r, r), b (C, D N, r) and own evidence (C, D N), where deviations have the curves' kernel."""
        known, pulled = known * shrink, shrink * self._pull[:, None, None]
        return self._squared(known), self._rotated(pulled), self._halves(pulled**2 / (1 + known), known)

    def _apart(self, weight: Floats) -> tuple[Floats, Floats, Floats]:
        """The same where they have a kernel of their own; weight: ``(I / tau^2 + A_dd)^-1``, along its eigenvectors."""
        known, gain = self.apart or Apart(1.0, np.zeros(0), np.zeros(0)), self._gain[:, None, None]
        pull = self._pull[:, None, None]
        A = known.A * (gain * pull)[..., None] - gain[..., None] ** 2 * self._squared(weight)
        b = known.b * pull - gain * self._rotated(weight)
        return A, b, self._evidence(A, b)

    def _squared(self, weight: Floats) -> Floats:
        """``V diag(weight) V^T`` with the vectors V of each design, (C, D G, r, r)."""
        vectors = self._seen
        weight = weight[..., weight.shape[-1] - vectors.shape[-1] :]
        return (vectors * weight[:, :, None, :]) @ vectors.transpose(0, 2, 1)

    @cached_property
    def _seen(self) -> Floats:
        """The last eigenvectors, as many as a course has values at most: the squares of the rest are rounding."""
        if self.diagonal:
            return self.vectors
        return np.ascontiguousarray(self.vectors[:, :, -int(self.sizes.max()) :])

    def _evidence(self, A: Floats, b: Floats) -> Floats:
        """Evidence of each course for a curve of its own, (C, D N)."""
        precision, logs, squares = A + np.eye(A.shape[2]), log_det_plus_identity(A), np.empty(b.shape[:2])
        for g, rows in self._runs:
            if isinstance(g, np.ndarray):
                mean = np.linalg.solve(precision[:, g], b[:, rows, :, None])[..., 0]
            else:
                mean = np.linalg.solve(precision[:, g], b[:, rows].transpose(0, 2, 1)).transpose(0, 2, 1)
            squares[:, rows] = (b[:, rows] * mean).sum(axis=2)
        return np.asarray((squares - logs[:, self.design_of]) / 2)

    def _bases(self) -> Floats:
        """`base` at each level of the noise and gain, for each delay, (C, D N)."""
        scale = self.nodes.scales[:, None]
        each = self.base + (1 - 1 / scale) * self.squares / 2 - self.sizes * np.log(scale) / 2
        return np.tile(each, len(self.free.delays))

    def draw(self, count: int, seed: int) -> AnySpread:
        """So many of the courses, drawn at random; all of them where there are no more."""
        if count >= len(self):
            return self
        return self.select(np.sort(np.random.default_rng(seed).permutation(len(self))[:count]))

    def select(self, which: Ints) -> AnySpread:
        """Some of the courses."""
        rows = np.add.outer(len(self) * np.arange(len(self.free.delays)), which).ravel()
        used, design_of = np.unique(self.design_of[rows], return_inverse=True)
        of_course = self.z[rows], self.base[which], self.squares[which], self.sizes[which], design_of.ravel()
        apart = None if self.apart is None else Apart(self.apart.scale, self.apart.A[used], self.apart.b[rows])
        same = self.diagonal, self.noise, apart, self.free
        return AnySpread(self.vectors[used], self.gains[used], *of_course, *same)

    def narrowed(self) -> AnySpread:
        """The same without the first directions, about which all courses together say too little to move a climb."""
        if self.diagonal or self.apart is not None:
            return self
        count = np.bincount(self.design_of, minlength=len(self.gains))
        told = np.einsum("grd,gd->r", self.vectors**2, self.gains * count[:, None])
        return replace(self, vectors=self.vectors[:, int((told > LITTLE).argmax()) :])

    def thinned(self, gains: int, delays: int) -> AnySpread:
        """The same with fewer nodes: every so many-th of the gains and of the delays, from the middle on."""
        free = self.free.thinned(gains, delays)
        kept = np.flatnonzero(np.isin(self.free.delays, free.delays))
        rows = np.add.outer(kept * len(self), np.arange(len(self))).ravel()
        used, design_of = np.unique(self.design_of[rows], return_inverse=True)
        apart = None if self.apart is None else Apart(self.apart.scale, self.apart.A[used], self.apart.b[rows])
        of_row = self.z[rows], self.base, self.squares, self.sizes, design_of.ravel()
        same = len(used) == 1 and self.diagonal, self.noise, apart, free
        return AnySpread(self.vectors[used], self.gains[used], *of_row, *same)

    def _halves(self, weight: Floats, known: Floats) -> Floats:
        """``1/2 sum_d weight_d z_d^2 - 1/2 log det(I + known)`` of each row, (C, D N), with a row for each design."""
        logs, squares = np.log1p(known).sum(axis=2), np.empty((len(weight), len(self.z)))
        for g, rows in self._runs:
            many = isinstance(g, np.ndarray)
            each = self.z[rows] ** 2
            squares[:, rows] = np.einsum("id,mid->mi", each, weight[:, g]) if many else weight[:, g] @ each.T
        return np.asarray((squares - logs[:, self.design_of]) / 2)

    def _rotated(self, weight: Floats) -> Floats:
        """What z times the weights (C, D G, r) is, back from the eigenvectors, (C, D N, r)."""
        if self.diagonal:
            return self.z * weight
        b = np.empty((len(weight), len(self.z), self.vectors.shape[1]))
        for g, rows in self._runs:
            if isinstance(g, np.ndarray):
                turned = self.vectors[g] @ (self.z[rows] * weight[:, g]).transpose(1, 2, 0)
                b[:, rows] = turned.transpose(2, 0, 1)
            else:
                b[:, rows] = (self.z[rows] * weight[:, g, None]) @ self.vectors[g].T
        return b

    @cached_property
    def _runs(self) -> list[tuple[int | Ints, slice]]:
        """Rows to be worked on at once: those of one design and its number, or several and the design of each."""
        ends = [*(np.flatnonzero(np.diff(self.design_of)) + 1).tolist(), len(self.design_of)]
        if LONG_RUN * len(ends) <= len(self.design_of) or len(self.gains) == 1:
            return [(int(self.design_of[a]), slice(a, b)) for a, b in pairwise([0, *ends])]
        return [(self.design_of[rows], rows) for rows in chunks(len(self.z), self.z.shape[1] ** 2)]


def sample(here: Modelled, phi: Basis | None = None, scale: float = 1.0) -> AnySpread:
    """The information of courses under a model, ready for any spread.

    Directions about which the courses say nothing are left out, unless a basis of the points is given. With a `scale`,
    courses deviate from their cluster's curve on so many times the length scale of the model.
    """
    found = here.information if phi is None or phi is here.basis() else here.information_on(phi)
    kept = informative(found.total()[0], found.A) if phi is None else np.eye(found.rank)
    if scale != 1:
        return _apart(here, phi or here.basis(), kept, scale)
    return along(here, found, kept, diagonal=len(found.A) == 1 and phi is None)


def _apart(here: Modelled, phi: Basis, kept: Floats, scale: float) -> AnySpread:
    """The courses' information along `kept`, and about deviations on another length scale."""
    return with_own(here, phi, on_scale(here, scale)[:], kept, scale)


def with_own(here: Modelled, phi: Basis, own: Floats, kept: Floats, scale: float) -> AnySpread:
    """The courses' information along `kept`, and about what each has of its own: `own` are the features of that.

    One row for each of :attr:`points`, (D P, d). With deviations on so many times the length scale of the model.
    """
    points = np.arange(len(here.points))
    both = here.information_on(replace(phi, phi=np.hstack([phi[points], own]), row=points))
    f, d = np.split(np.arange(both.rank), [phi.phi.shape[1]])
    gains, turn = np.linalg.eigh(both.A[:, d[:, None], d])
    z = _on_vectors(both.b[:, d], turn, both.design_of)
    apart = Apart(scale, kept.T @ both.A[:, f[:, None], f] @ kept, both.b[:, f] @ kept)
    of_course = *alone(here), both.design_of
    turned = kept.T @ both.A[:, f[:, None], d] @ turn
    return AnySpread(turned, np.maximum(gains, 0), z, *of_course, apart=apart, free=here.free)


def on_scale(here: Modelled, scale: float) -> Basis:
    """The basis of curves with so many times the length scale of the model."""
    found = basis(rescaled(here.gp.covariance, scale), here.points, here.least_noise, MAX_RANK)
    if not found.reached:
        raise InputError("deviations on so short a length scale are too rough for a small basis.")
    return found


def rescaled(kernel: Kernel, scale: float) -> Kernel:
    """The kernel with so many times its length scales.

    Examples
    --------
    >>> from sklearn.gaussian_process.kernels import RBF, ConstantKernel
    >>> rescaled(ConstantKernel(2.0) * RBF(3.0), 2.0)
    1.41**2 * RBF(length_scale=6)
    """
    known = kernel.get_params()
    scales = {name: known[name] for name in known if name.split("__")[-1] == "length_scale"}
    changed = kernel.clone_with_theta(kernel.theta)
    return changed.set_params(**{name: np.multiply(value, scale)[()] for name, value in scales.items()})


def along(here: Modelled, found: Information, kept: Floats, *, diagonal: bool) -> AnySpread:
    """The courses' information along the columns of `kept`, ready for any spread; `diagonal` if A is, there."""
    A, b = kept.T @ found.A @ kept, found.b @ kept
    of_course = *alone(here), found.design_of
    if diagonal:
        gains = np.maximum(np.diag(A[0]), 0)[None]
        return AnySpread(np.eye(len(A[0]))[None], gains, b, *of_course, diagonal=True, free=here.free)
    gains, vectors = np.linalg.eigh((A + A.transpose(0, 2, 1)) / 2)
    z = _on_vectors(b, vectors, found.design_of)
    return AnySpread(vectors, np.maximum(gains, 0), z, *of_course, free=here.free)


def _on_vectors(b: Floats, vectors: Floats, design_of: Ints) -> Floats:
    """Each course's b along the vectors of its design."""
    z = np.empty((len(b), vectors.shape[2]))
    for rows in chunks(len(b), b.shape[1] ** 2):
        z[rows] = (b[rows, None, :] @ vectors[design_of[rows]])[:, 0]
    return z


def informative(total: Floats, designs: Floats) -> Floats:
    """Directions in which courses of these designs (G, r, r), with this sum of A, say anything, (r, fewer).

    Along them one design is diagonal.
    """
    weight, vectors = np.linalg.eigh(total)
    little = vectors[:, weight <= min(NEGLIGIBLE, weight[-1] / 2)]
    told = ((designs @ little) * little).sum(axis=1).max(axis=0)  # by one course, at most
    return vectors[:, int((np.cumsum(told) <= SLIGHT).sum()) :]


def alone(here: Modelled) -> tuple[Floats, Floats, Ints]:
    """``-1/2 e^T R_0^-1 e - 1/2 log det(2 pi R_0)`` of each course, (N,), its ``e^T R_0^-1 e``, and how many values.

    Where the level is free, with the level integrated out: of one value less.
    """
    courses, gp = here.courses, here.gp
    variances = gp.noise_sd**2 + courses.designs.variances[courses.design_rows]
    starts = courses.starts[:-1]
    residuals, levels = _without_levels(here, courses.values - gp.mean)
    if gp.rough_sd:
        time, begin = times_of(courses.points, courses.starts)
        squares, logs = constants(residuals, variances, gp.rough_sd**2, begin)
        starts = time[starts]
    else:
        squares, logs = residuals**2 / variances, np.log(2 * np.pi * variances)
    base = -(np.add.reduceat(squares + logs, starts) + levels) / 2
    return base, np.add.reduceat(squares, starts), courses.sizes - int(here.free.level)


def _without_levels(here: Modelled, residuals: Floats) -> tuple[Floats, Floats]:
    """What is left of courses without their weighted means, and ``log(1^T R^-1 1 / 2 pi)``; all, where none is free."""
    courses = here.courses
    if not here.free.level:
        return residuals, np.zeros(len(courses))
    weights, starts = 1 / here.noise_variances[courses.design_rows], courses.starts[:-1]
    total = np.add.reduceat(weights, starts)
    middle = np.add.reduceat(weights * residuals, starts) / total
    return residuals - np.repeat(middle, courses.sizes), np.log(total / (2 * np.pi))


# -- clusters as sums --------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Clusters:
    """Summed information of K clusters: A (K, r, r), b (K, r), and the expected number of courses n (K,)."""

    A: Floats
    b: Floats
    n: Floats
    levels: Floats | None = None
    """Expected courses of each cluster at each node, (K, M); None where there is one node."""

    @classmethod
    def of(cls, state: AtSpread, r: Floats) -> Clusters:
        """The sums over courses with responsibilities r (N, K + 1)."""
        r = r[:, :-1]
        A = unpacked(state.per_design(r).T @ state.packed, state.A.shape[1])
        levels = state.sizes(r).T
        return cls(A, r.T @ state.b, levels.sum(axis=1), levels if len(state.nodes) > 1 else None)

    def __add__(self, other: Clusters) -> Clusters:
        return Clusters(self.A + other.A, self.b + other.b, self.n + other.n)

    def widened(self, rank: int) -> Clusters:
        """The same in so many directions, of which the first are new: nothing is known about these."""
        more = rank - self.b.shape[1]
        return replace(self, A=np.pad(self.A, ((0, 0), (more, 0), (more, 0))), b=np.pad(self.b, ((0, 0), (more, 0))))

    @cached_property
    def evidence(self) -> Floats:
        """Evidence of each cluster, (K,)."""
        return evidence(self.A, self.b)

    @cached_property
    def moments(self) -> tuple[Floats, Floats]:
        """Posterior mean (K, r) and covariance (K, r, r) of each cluster's curve."""
        covariance = self.half.transpose(0, 2, 1) @ self.half
        # Solved for: the product with the inverse would lose as many digits as noise and signal are apart, twice.
        mean = np.linalg.solve(self.A + np.eye(self.A.shape[1]), self.b[:, :, None])[:, :, 0]
        return mean, (covariance + covariance.transpose(0, 2, 1)) / 2

    @cached_property
    def log_dets(self) -> Floats:
        """``log det(I + A)`` of each cluster, (K,)."""
        return log_det_plus_identity(self.A)

    @cached_property
    def half(self) -> Floats:
        """The inverse of the Cholesky factor of ``I + A``, (K, r, r)."""
        return np.linalg.inv(np.linalg.cholesky(self.A + np.eye(self.A.shape[1])))

    @property
    def log_shares(self) -> Floats:
        """Expected logarithm of each cluster's share, (K,)."""
        from scipy.special import digamma

        return digamma(ALPHA + self.n) - digamma(ALPHA * len(self.n) + self.n.sum()) + np.log1p(-NONE)


def packed(A: Floats) -> Floats:
    """Lower triangles of symmetric matrices (..., r, r), row after row."""
    return A[..., *np.tril_indices(A.shape[-1])]


def unpacked(triangles: Floats, rank: int) -> Floats:
    """The symmetric matrices with these lower triangles."""
    A = np.empty((*triangles.shape[:-1], rank, rank))
    rows, cols = np.tril_indices(rank)
    A[..., rows, cols] = A[..., cols, rows] = triangles
    return A


@lru_cache
def halves(rank: int) -> Floats:
    """What makes ``tr(A B) / 2`` of two packed matrices a scalar product: a half on the diagonal, and one beside it."""
    rows, cols = np.tril_indices(rank)
    return np.where(rows == cols, 0.5, 1.0)


def log_prior(n: Floats) -> float:
    """Log probability of a division of courses into unnumbered clusters with (expected) sizes n.

    ``K! B(alpha + n) / B(alpha)``: all divisions of N into K sizes are equally likely, and clusters have no numbers.

    Examples
    --------
    >>> sizes = [[2, 0], [1, 1], [0, 2]]          # two courses in two boxes: 1, 2 and 1 ways
    >>> [round(float(np.exp(log_prior(np.array(n)))), 3) for n in sizes]     # 2! for the order of the boxes
    [0.667, 0.333, 0.667]
    """
    from scipy.special import gammaln

    k = len(n)
    sizes = gammaln(ALPHA + n).sum() - gammaln(ALPHA * k + n.sum())
    return float(sizes - k * gammaln(ALPHA) + gammaln(ALPHA * k) + gammaln(k + 1))


def expected_shares(sizes: Floats) -> Floats:
    """Shares that clusters of sizes (..., K) are expected to have of all courses; what is missing to 1 is in none."""
    return (1 - NONE) * (ALPHA + sizes) / (ALPHA * sizes.shape[-1] + sizes.sum(axis=-1, keepdims=True))


# -- responsibilities ------------------------------------------------------------------------------------------


class Weights(Protocol):
    """With which weight each course enters each cluster."""

    def of(self, state: AtSpread) -> tuple[Floats, float]:
        """Responsibilities of these courses, (N, K + 1), and their entropy."""

    def without(self, empty: Bools) -> Weights:
        """The same without some of the clusters, whose courses go to the others."""


@dataclass(frozen=True, eq=False)
class Given:
    """Responsibilities of courses in memory, (N, K + 1), or of their rows, and the entropy."""

    r: Floats
    uncertainty: float

    @classmethod
    def at(cls, r: Floats) -> Given:
        """These responsibilities."""
        return cls(r, entropy(r))

    def of(self, state: AtSpread) -> tuple[Floats, float]:
        """The responsibilities of all courses; at nodes that suit a curve of their own, if not known."""
        if len(self.r) == len(state.b):
            return self.r, self.uncertainty
        levels, uncertainty = soften(state.alone[:, None].copy(), len(state.nodes))
        r = levels * np.tile(self.r, (len(state.nodes), 1))
        return r, self.uncertainty + uncertainty

    def without(self, empty: Bools) -> Given:
        """The rows without some clusters, each adding up to what it did."""
        r = self.r[:, np.append(~empty, True)]
        total = r.sum(axis=1, keepdims=True)
        return Given.at(r * (self.r.sum(axis=1, keepdims=True) / np.maximum(total, np.finfo(float).tiny)))


@dataclass(frozen=True, eq=False)
class Rule:
    """Responsibilities that follow from clusters: of those that are not `empty`; `certain`: nobody is in none."""

    clusters: Clusters
    empty: Bools | None = None
    certain: bool = False

    def of(self, state: AtSpread) -> tuple[Floats, float]:
        """Responsibilities (M, K + 1), and their entropy."""
        rho = scores(state, self.clusters)
        if self.empty is not None:
            rho = rho[:, np.append(~self.empty, True)]
        if not self.certain:
            return soften(rho, len(state.nodes))
        r = np.zeros_like(rho)
        r[:, :-1], uncertainty = soften(rho[:, :-1], len(state.nodes))
        return r, uncertainty

    def without(self, empty: Bools) -> Rule:
        """The rule that does not know some of the clusters."""
        gone = np.zeros(len(self.clusters.n), dtype=bool) if self.empty is None else self.empty.copy()
        gone[~gone] = empty
        return Rule(self.clusters, gone)


@dataclass(frozen=True, eq=False)
class Fit:
    """Weights of courses, the clusters that they sum to, the spread within these, and the bound that they reach."""

    weights: Weights
    clusters: Clusters
    spread: float
    bound: float
    gained: float = 0.0
    """By how much the log evidence is larger, where known: see :mod:`timelike.clusters.curves.unknown_members`."""

    @property
    def k(self) -> int:
        """Number of clusters."""
        return len(self.clusters.n)

    @property
    def evidence(self) -> float:
        """What speaks for the fit, among those with other numbers of clusters."""
        return self.bound + self.gained


# -- sweeps ---------------------------------------------------------------------------------------------------


def scores(state: AtSpread, clusters: Clusters) -> Floats:
    """Log responsibilities up to a constant for each course, (N, K + 1)."""
    mean, covariance = clusters.moments
    second = covariance + mean[:, :, None] * mean[:, None, :]
    levels = None if clusters.levels is None else state.nodes.expected_logs(clusters.levels)
    return beside(state, Curves(mean, second, clusters.log_shares, levels))


class Curves(NamedTuple):
    """What a course is compared with: E w (K, r), E w w^T (K, r, r), log shares (K,), and those of the nodes (K, M)."""

    mean: Floats
    second: Floats
    log_shares: Floats
    levels: Floats | None


def beside(state: AtSpread, curves: Curves) -> Floats:
    """Expected log density of each row in each cluster with its share, and in none, up to a constant, (M N, K + 1)."""
    mean, second, log_shares, levels = curves
    traces = state.packed @ (halves(mean.shape[1]) * packed(second)).T
    traces -= log_shares
    # At one node with the courses of a cluster side by side: long rows are gone through faster.
    rho = np.empty((len(state.b), len(mean) + 1), order="F" if len(state.nodes) == 1 else "C")
    np.matmul(state.b, mean.T, out=rho[:, :-1])
    rho[:, :-1] -= traces if len(traces) == 1 else traces[state.design_of]
    rho[:, -1] = state.alone + np.log(NONE)
    if levels is not None:
        rho[:, :-1] += state.c[:, None]
        state.by_node(rho)[:, :, :-1] += levels.T[:, None]
    return rho


def sums(state: AtSpread, weights: Weights) -> tuple[Clusters, float]:
    """The clusters that courses at one node sum to with these weights, and what these add to the bound besides."""
    r, uncertainty = weights.of(state)
    return Clusters.of(state, r), uncertainty + float(state.c.sum() + r[:, -1] @ state.own)


def summed(parts: Iterable[tuple[Clusters, float]], weights: Weights, spread: float, count: int) -> Fit:
    """The fit of all courses from the :func:`sums` of each block of them, in this order."""
    clusters, rest = reduce(lambda one, two: (one[0] + two[0], one[1] + two[1]), parts)
    value = float(clusters.evidence.sum()) + rest + log_division(clusters.n, count)
    return Fit(weights, clusters, spread, value)


def soften(rho: Floats, levels: int = 1) -> tuple[Floats, float]:
    """Responsibilities from their logarithms up to a constant, which are overwritten, and their entropy.

    Those of a course add up to one, over so many nodes, of which each has all courses in order.
    """
    rho -= np.tile(_largest(rho).reshape(levels, -1).max(axis=0), levels)[:, None]
    r = np.exp(rho)
    total = (r @ np.ones(r.shape[1])).reshape(levels, -1).sum(axis=0)
    r /= np.tile(total, levels)[:, None]
    return r, float(np.log(total).sum() - np.vdot(r.ravel("K"), rho.ravel("K")))


def _largest(rho: Floats) -> Floats:
    """The largest number of each row; column after column where these are few and rows lie in one piece."""
    if rho.shape[1] > SHORT or rho.flags.f_contiguous:
        return np.asarray(rho.max(axis=1))
    result = rho[:, 0].copy()
    for column in rho.T[1:]:
        np.maximum(result, column, out=result)
    return result


def entropy(r: Floats) -> float:
    """``-sum r log r``."""
    return -float((r * np.log(np.where(r > 0, r, 1))).sum())


def explained(state: AtSpread, clusters: Clusters, r: Floats) -> float:
    """The part of the bound that depends on the information, and so on the spread and the model."""
    if clusters.levels is None:
        return float(clusters.evidence.sum() + state.c.sum() + r[:, -1] @ state.own)
    others = (state.c @ r[:, :-1]).sum() + state.alone @ r[:, -1]
    return float(clusters.evidence.sum() + others) + state.nodes.log_evidence(clusters.levels)


def log_division(n: Floats, count: int) -> float:
    """Log probability of a division of `count` courses into clusters with (expected) sizes n, and the rest in none."""
    grouped = n.sum()
    return log_prior(n) + float((count - grouped) * np.log(NONE) + grouped * np.log1p(-NONE))
