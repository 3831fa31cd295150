"""The summed log marginal likelihood of courses and its gradient, from statistics that do not grow with N.

Courses with the same design share one covariance matrix ``C = signal K + noise I + diag(errors^2)``, and enter only
through the sum of ``y y^T`` and of ``y``. Designs with the same number of points are worked on as one batch. Where
designs share points, the kernel is evaluated over those and cut; where they do not, within each design.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from timelike.base.arrays import Floats, Ints
from timelike.courses.designs import distinct_points
from timelike.exceptions import InputError
from timelike.gp.basis import LEAST_NOISE
from timelike.gp.kernels import check_coordinates
from timelike.gp.stationary import Form, blocks, form_of

if TYPE_CHECKING:
    from sklearn.gaussian_process.kernels import Kernel

    from timelike.courses import TimeCourses


CHUNK = 16_384
"""Courses whose products are summed at once; they fit into the cache."""


@dataclass(frozen=True)
class Limits:
    """How many designs are worked on at once: a matter of time and memory alone."""

    group_points: int = 128
    """Where it is cheaper, the kernel is evaluated for groups of designs with about so many points, not for all."""
    distinct_points: int = 1500
    """Beyond so many distinct points it always is."""
    batch_numbers: int = 2_000_000
    """Entries of the matrices of one batch, at most, where designs share points."""
    own_numbers: int = 65_536
    """The same where they do not: these pass through the processor's cache many times."""


LIMITS = Limits()


class Score(NamedTuple):
    """Log likelihood, its gradient in the logarithms of the parameters, and the mean that goes with them."""

    value: float
    gradient: Floats
    mean: float


@dataclass(frozen=True, eq=False)
class Batch:
    """Designs with the same number n of points."""

    point: Ints
    """Which of the group's distinct points each point is, (G, n)."""
    variances: Floats
    """Known error variances, (G, n)."""
    counts: Floats
    """Number of courses of each design, (G,)."""
    rows: Floats
    """Rows whose products have the same sum as those of the courses, (K, n): the courses themselves when they are few,
    as many as points when they are many."""
    weights: Floats
    """They take the place of the ones in ``y - mean 1``, (K,)."""
    design: Ints
    """The design of each row, (K,)."""


@dataclass(frozen=True, eq=False)
class Shared:
    """Designs whose kernel matrices are cut from one matrix over their distinct points, (m, d)."""

    points: Floats
    batches: tuple[Batch, ...]

    def kernel(self, kernel: Kernel) -> tuple[Floats, Floats]:
        """The kernel over the distinct points, (m, m), and its gradient, (m, m, p)."""
        return kernel(self.points, eval_gradient=True)

    def cut(self, K: Floats) -> Iterator[Floats]:
        """For each batch its matrices, (G, n, n)."""
        return (K[batch.point[:, :, None], batch.point[:, None, :]] for batch in self.batches)

    def gathered(self, parts: list[Floats]) -> Floats:
        """The sum of (G, n, n) parts, one a batch, each entry at the place of its two points, (m, m)."""
        count = len(self.points)
        places = [(b.point[:, :, None] * count + b.point[:, None, :]).ravel() for b in self.batches]
        weights = np.concatenate([part.ravel() for part in parts])
        total: Floats = np.bincount(np.concatenate(places), weights, minlength=count**2).astype(float)
        return total.reshape(count, count)


@dataclass(frozen=True, eq=False)
class Own:
    """One batch of designs that each have points of their own, (G, n, d), for a kernel of the distance alone."""

    points: Floats
    batches: tuple[Batch]
    form: Form

    def kernel(self, kernel: Kernel) -> tuple[Floats, Floats]:
        """The kernel within each design, (G, n, n), and its gradient, (G, n, n, p)."""
        return blocks(kernel, self.form, self.points)

    def cut(self, K: Floats) -> Iterator[Floats]:
        """For each batch its matrices, (G, n, n)."""
        return iter([K])

    def gathered(self, parts: list[Floats]) -> Floats:
        """The part of the batch, (G, n, n)."""
        return parts[0]


Group = Shared | Own


class Likelihood:
    """The log likelihood of courses as a function of a kernel's parameters, signal and noise variance.

    Parameters
    ----------
    courses
    kernel
        Its parameters are the first entries of the argument; then log signal variance, log noise variance.
    mean
        A number, or None for the best constant, which has a closed form.
    limits
        How many designs are worked on at once.
    """

    def __init__(self, courses: TimeCourses, kernel: Kernel, mean: float | None, limits: Limits = LIMITS) -> None:
        check_coordinates(kernel, courses.designs.points.shape[1])
        self.kernel = kernel
        self.fixed_mean = mean is not None
        self.count = len(courses.values)
        # Inside, values are offset and scaled to the order of 1: their unit must not cost digits.
        self.offset = float(courses.values.mean()) if mean is None else mean
        self.scale = max(float(courses.values.max()) - self.offset, self.offset - float(courses.values.min())) or 1.0
        self.groups = tuple(_Statistics(courses, self.offset, self.scale, limits).groups(form_of(kernel)))

    def with_kernel(self, kernel: Kernel) -> Likelihood:
        """The likelihood of the same courses with another kernel that has the same form, for instance on a clock."""
        other = copy(self)
        other.kernel = kernel
        return other

    def __call__(self, parameters: Floats) -> Score:
        """Value, gradient and mean at the logarithms of (kernel parameters..., signal variance, noise variance)."""
        kernel = self.kernel.clone_with_theta(parameters[:-2])
        return self.at(kernel, float(parameters[-2]), float(parameters[-1]), LEAST_NOISE)

    def at(self, kernel: Kernel, log_signal: float, log_noise: float, least: float = 0.0) -> Score:
        """The same at a kernel and the logarithms of signal and noise variance.

        A noise variance below `least` times the largest signal variance is taken as that: a search passes through
        places that double precision cannot tell from singular.
        """
        signal, noise = np.exp(np.array([log_signal, log_noise]) - 2 * np.log(self.scale))
        factored = [_factor(group, kernel, signal, noise, least) for group in self.groups]
        shift = 0.0 if self.fixed_mean else _best_mean(factored)
        parts = [part.value_and_gradient(shift) for part in factored]
        constant = self.count * (0.5 * np.log(2 * np.pi) + np.log(self.scale))
        value = sum(part[0] for part in parts) - constant
        return Score(float(value), np.sum([part[1] for part in parts], axis=0), self.offset + self.scale * shift)


# -- statistics ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Statistics:
    """What the likelihood needs of courses whose values are counted from an offset, in a unit."""

    courses: TimeCourses
    offset: float
    scale: float
    limits: Limits

    def groups(self, form: Form | None) -> Iterator[Group]:
        """All designs, so that the kernel is evaluated between few points of different designs."""
        designs, limits = self.courses.designs, self.limits
        every = np.arange(len(designs))
        distinct, point = distinct_points(designs.points)
        fits = len(distinct) <= limits.distinct_points
        if fits and len(distinct) ** 2 <= limits.group_points * len(designs.points):
            yield Shared(distinct, tuple(self.batches(every, point, limits.batch_numbers)))
        elif form is not None:
            for batch in self.batches(every, np.arange(len(point)), limits.own_numbers):
                yield Own(designs.points[batch.point], (batch,), form)
        else:
            yield from self.cut_groups(distinct, point)

    def cut_groups(self, distinct: Floats, point: Ints) -> Iterator[Shared]:
        """Groups of so few designs that little of the matrix over their points is wasted."""
        designs = self.courses.designs
        ends = np.searchsorted(designs.starts, np.arange(0, designs.starts[-1], self.limits.group_points))
        for chosen in np.split(np.arange(len(designs)), np.unique(ends)[1:]):
            if len(chosen):
                here = np.concatenate([np.arange(designs.starts[g], designs.starts[g + 1]) for g in chosen])
                local, renumbered = np.unique(point[here], return_inverse=True)
                relabelled = np.empty_like(point)
                relabelled[here] = renumbered.ravel()
                yield Shared(distinct[local], tuple(self.batches(chosen, relabelled, self.limits.batch_numbers)))

    def batches(self, chosen: Ints, point: Ints, numbers: int) -> Iterator[Batch]:
        """The chosen designs in batches of equal sizes; `point` says which point of the group each point is."""
        sizes = self.courses.designs.sizes[chosen]
        for n in np.unique(sizes):
            same = chosen[sizes == n]
            step = max(1, numbers // int(n) ** 2)
            for i in range(0, len(same), step):
                yield self.batch(same[i : i + step], point)

    def batch(self, chosen: Ints, point: Ints) -> Batch:
        """Designs of equal size."""
        designs = self.courses.designs
        reduced = [reduced_rows(self.courses.values_on(g), self.offset, self.scale) for g in chosen]
        at = designs.starts[:-1][chosen][:, None] + np.arange(designs.sizes[chosen[0]])
        return Batch(
            point=point[at],
            variances=designs.variances[at] / self.scale**2,
            counts=np.array([len(self.courses.members[g]) for g in chosen], dtype=float),
            rows=np.concatenate([rows for rows, _ in reduced]),
            weights=np.concatenate([weights for _, weights in reduced]),
            design=np.repeat(np.arange(len(chosen)), [len(weights) for _, weights in reduced]),
        )


def reduced_rows(values: Floats, offset: float, scale: float) -> tuple[Floats, Floats]:
    """Rows and weights with the same sums of products as the rows of ``(values - offset) / scale`` and ones.

    More courses than points carry no more than the (n + 1, n + 1) matrix of products of ``[y, 1]``; a square root of
    it takes their place.
    """
    count, n = values.shape
    if count <= n + 1:
        return (values - offset) / scale, np.ones(count)
    products = np.zeros((n + 1, n + 1))
    for start in range(0, count, CHUNK):
        chunk = (values[start : start + CHUNK] - offset) / scale
        rows = np.column_stack([chunk, np.ones(len(chunk))])
        products += rows.T @ rows
    # Columns to length 1: small values must not drown in the number of courses.
    length = np.sqrt(products.diagonal())
    length[length == 0] = 1.0
    weight, vectors = np.linalg.eigh(products / np.outer(length, length))
    root = vectors.T * np.sqrt(np.maximum(weight, 0))[:, None] * length
    return root[:, :n], root[:, n]


# -- evaluation ----------------------------------------------------------------------------------------


class _Solved(NamedTuple):
    """One batch at given parameters: ``C^-1`` and what it does to the rows and to ones."""

    batch: Batch
    inverse: Floats
    log_det: Floats
    solved_rows: Floats
    solved_ones: Floats


@dataclass(frozen=True, eq=False)
class _Factored:
    """One group at given parameters."""

    group: Group
    K: Floats
    dK: Floats
    signal: float
    noise: float
    solved: list[_Solved]

    def mean_sums(self) -> tuple[float, float]:
        """Numerator and denominator of the generalised least squares estimate of the mean."""
        above = sum(float((s.batch.weights * s.solved_rows.sum(axis=1)).sum()) for s in self.solved)
        below = sum(float((s.batch.counts * s.solved_ones.sum(axis=1)).sum()) for s in self.solved)
        return above, below

    def value_and_gradient(self, mean: float) -> tuple[float, Floats]:
        """Log likelihood without its constant, and its gradient, at the given mean."""
        value, trace = 0.0, 0.0
        parts: list[Floats] = []
        for s in self.solved:
            ones = mean * s.batch.weights[:, None]
            residual = s.batch.rows - ones
            alpha = s.solved_rows - ones * s.solved_ones[s.batch.design]
            value -= 0.5 * float((residual * alpha).sum() + s.batch.counts @ s.log_det)
            inner = _outer_sums(alpha, s.batch.design, len(s.inverse)) - s.batch.counts[:, None, None] * s.inverse
            trace += float(np.einsum("gii->", inner))
            parts.append(inner)
        slope = self.group.gathered(parts)
        kernel = self.signal * np.tensordot(slope, self.dK, axes=slope.ndim)
        variances = [self.signal * float((slope * self.K).sum()), self.noise * trace]
        return value, 0.5 * np.concatenate([kernel, variances])


def _factor(group: Group, kernel: Kernel, signal: float, noise: float, least: float) -> _Factored:
    K, dK = group.kernel(kernel)
    scaled = signal * K
    noise = max(noise, least * float(np.diagonal(scaled, axis1=-2, axis2=-1).max()))
    solved = [_solve(batch, C, noise) for batch, C in zip(group.batches, group.cut(scaled), strict=True)]
    return _Factored(group, K, dK, signal, noise, solved)


def _solve(batch: Batch, C: Floats, noise: float) -> _Solved:
    """What the batch needs of ``C``, to whose diagonal the noise is added in place."""
    C[:, np.arange(C.shape[1]), np.arange(C.shape[1])] += noise + batch.variances
    try:
        lower = np.linalg.cholesky(C)
    except np.linalg.LinAlgError:
        raise InputError(
            "the covariance matrix is not positive definite: the kernel is not a covariance at these times, or the "
            "noise is too small against the signal for double precision."
        ) from None
    root = np.linalg.inv(lower)
    inverse = root.transpose(0, 2, 1) @ root
    log_det = 2 * np.log(np.diagonal(lower, axis1=1, axis2=2)).sum(axis=1)
    return _Solved(batch, inverse, log_det, _apply(inverse, batch), inverse.sum(axis=2))


def _apply(inverse: Floats, batch: Batch) -> Floats:
    """``C^-1`` times each row, with the matrix of the row's design."""
    if len(inverse) == 1:
        return batch.rows @ inverse[0]
    return np.einsum("kij,kj->ki", inverse[batch.design], batch.rows)


def _outer_sums(alpha: Floats, design: Ints, count: int) -> Floats:
    """For each design the sum of ``alpha alpha^T`` over its rows, (G, n, n)."""
    if count == 1:
        return (alpha.T @ alpha)[None]
    products = alpha[:, :, None] * alpha[:, None, :]
    starts = np.flatnonzero(np.diff(design, prepend=-1))
    return np.add.reduceat(products, starts, axis=0)


def _best_mean(factored: list[_Factored]) -> float:
    above, below = np.sum([part.mean_sums() for part in factored], axis=0)
    return float(above / below)
