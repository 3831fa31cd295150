"""The summed log marginal likelihood of courses and its gradient, from statistics that do not grow with N.

Courses with the same design share one covariance matrix ``C = signal K + noise I + diag(errors^2)``, and enter only
through the sum of ``y y^T`` and of ``y``. Designs with the same number of points are worked on as one batch. Where
designs share points, the kernel is evaluated over those and cut; where they do not, within each design.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from timelike.base.arrays import Bools, Floats, Ints
from timelike.courses.designs import distinct_points, ranges
from timelike.gp.basis import LEAST_NOISE
from timelike.gp.information import chunks
from timelike.gp.kernels import check_coordinates
from timelike.gp.long.likelihood import Long
from timelike.gp.long.padded import Padded, padded
from timelike.gp.positive_definite import inverse_and_log_det
from timelike.gp.stationary import Form, blocks, form_of
from timelike.gp.told import Summed, Told, told

if TYPE_CHECKING:
    from sklearn.gaussian_process.kernels import Kernel

    from timelike.courses import TimeCourses


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
    long_points: int = 60
    """A design with more points is long, and worked on as such where that pays."""
    long_cost: int = 20_000_000
    """It does where the cubes of the sizes of long designs add up to more than this."""
    nodes: int = 1000
    """So many nodes, at most, take the place of a long course's points, and three quarters of their number."""


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

    def factored(self, kernel: Kernel, signal: float, noise: float, least: float) -> Factored:
        """The courses under a kernel."""
        return _factor(self, kernel, signal, noise, least)

    def kernel(self, kernel: Kernel) -> tuple[Floats, Floats]:
        """The kernel over the distinct points, (m, m), and its gradient, (m, m, p)."""
        return kernel(self.points, eval_gradient=True)

    def cut(self, K: Floats, batch: Batch) -> Floats:
        """The matrices of a batch, (G, n, n)."""
        return K[batch.point[:, :, None], batch.point[:, None, :]]


@dataclass(frozen=True, eq=False)
class Own:
    """One batch of designs that each have points of their own, (G, n, d), for a kernel of the distance alone."""

    points: Floats
    batches: tuple[Batch]
    form: Form

    def factored(self, kernel: Kernel, signal: float, noise: float, least: float) -> Factored:
        """The courses under a kernel."""
        return _factor(self, kernel, signal, noise, least)

    def kernel(self, kernel: Kernel) -> tuple[Floats, Floats]:
        """The kernel within each design, (G, n, n), and its gradient, (G, n, n, p)."""
        return blocks(kernel, self.form, self.points)

    def cut(self, K: Floats, _batch: Batch) -> Floats:
        """The matrices of the batch, (G, n, n)."""
        return K


class Factored(Protocol):
    """Courses at given parameters."""

    def mean_sums(self) -> tuple[float, float]:
        """Numerator and denominator of the generalised least squares estimate of the mean."""

    def value_and_gradient(self, mean: float) -> tuple[float, Floats]:
        """Log likelihood without its constant, and its gradient, at the given mean."""

    def error(self, mean: float) -> float:
        """The log likelihood is off by no more than this, but for rounding."""


class Group(Protocol):
    """Courses that are worked on together."""

    def factored(self, kernel: Kernel, signal: float, noise: float, least: float) -> Factored:
        """The courses under a kernel, with a signal and a noise variance, the latter at least so much of the former."""


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

    def __init__(
        self, courses: TimeCourses | Summed, kernel: Kernel, mean: float | None, limits: Limits = LIMITS
    ) -> None:
        check_coordinates(kernel, courses.designs.points.shape[1])
        self.kernel = kernel
        self.fixed_mean = mean is not None
        known = told(courses)
        span = known.span
        self.count = span.number
        # Inside, values are offset and scaled to the order of 1: their unit must not cost digits.
        self.offset = span.mean if mean is None else mean
        self.scale = span.scale(self.offset) or 1.0
        self.groups = tuple(_Statistics(known, self.offset, self.scale, limits).groups(form_of(kernel)))

    def with_kernel(self, kernel: Kernel) -> Likelihood:
        """The likelihood of the same courses with another kernel that has the same form, for instance on a clock."""
        other = Likelihood.__new__(Likelihood)
        vars(other).update(vars(self) | {"kernel": kernel})
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
        factored, shift = self._factored(kernel, log_signal, log_noise, least)
        parts = [part.value_and_gradient(shift) for part in factored]
        constant = self.count * (0.5 * np.log(2 * np.pi) + np.log(self.scale))
        value = sum(part[0] for part in parts) - constant
        return Score(float(value), np.sum([part[1] for part in parts], axis=0), self.offset + self.scale * shift)

    def error(self, parameters: Floats) -> float:
        """By how much the value is off at most, but for rounding: zero unless courses are long."""
        kernel = self.kernel.clone_with_theta(parameters[:-2])
        factored, shift = self._factored(kernel, float(parameters[-2]), float(parameters[-1]), LEAST_NOISE)
        return sum(part.error(shift) for part in factored)

    def _factored(
        self, kernel: Kernel, log_signal: float, log_noise: float, least: float
    ) -> tuple[list[Factored], float]:
        """All groups, and the mean inside."""
        signal, noise = np.exp(np.array([log_signal, log_noise]) - 2 * np.log(self.scale))
        factored = [group.factored(kernel, signal, noise, least) for group in self.groups]
        return factored, 0.0 if self.fixed_mean else _best_mean(factored)


# -- statistics ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Statistics:
    """What the likelihood needs of courses whose values are counted from an offset, in a unit."""

    courses: Told
    offset: float
    scale: float
    limits: Limits

    def groups(self, form: Form | None) -> Iterator[Group]:
        """All designs, so that the kernel is evaluated between few points of different designs."""
        designs, limits = self.courses.designs, self.limits
        long = self.long_designs(form)
        if form is not None and long.any():
            yield Long.of(list(self.long_batches(np.flatnonzero(long))), form, limits.nodes)
        every = np.flatnonzero(~long)
        if not len(every):
            return
        distinct, point = self.points_of(every)
        fits = len(distinct) <= limits.distinct_points
        if fits and len(distinct) ** 2 <= limits.group_points * designs.sizes[every].sum():
            yield Shared(distinct, tuple(self.batches(every, point, limits.batch_numbers)))
        elif form is not None:
            for batch in self.batches(every, np.arange(len(point)), limits.own_numbers):
                yield Own(designs.points[batch.point], (batch,), form)
        else:
            yield from self.cut_groups(distinct, point)

    def points_of(self, chosen: Ints) -> tuple[Floats, Ints]:
        """The different points of the chosen designs, (U, d), and for each point of theirs its row among them, (P,)."""
        designs = self.courses.designs
        rows = ranges(designs.starts[:-1][chosen], designs.sizes[chosen])
        point = np.zeros(len(designs.points), dtype=np.intp)
        distinct, point[rows] = distinct_points(designs.points[rows])
        return distinct, point

    def long_designs(self, form: Form | None) -> Bools:
        """Which designs are worked on as long ones, (G,)."""
        designs, limits = self.courses.designs, self.limits
        long = designs.sizes > limits.long_points
        pays = (designs.sizes[long].astype(float) ** 3).sum() > limits.long_cost
        return long if form is not None and designs.points.shape[1] == 1 and pays else np.zeros_like(long)

    def long_batches(self, chosen: Ints) -> Iterator[Padded]:
        """The chosen designs in batches of about equal sizes, and about equal numbers of courses."""
        sizes = self.courses.designs.sizes
        rows = np.minimum([self.courses.count(g) for g in range(len(sizes))], sizes + 1)
        alike = np.column_stack([np.round(2 * np.log2(rows)), np.round(3 * np.log2(sizes))])[chosen]
        for kind in np.unique(alike, axis=0):
            same = chosen[(alike == kind).all(axis=1)]
            step = max(1, self.limits.own_numbers // int((rows * sizes)[same].max()))
            for i in range(0, len(same), step):
                yield self.long_batch(same[i : i + step])

    def long_batch(self, chosen: Ints) -> Padded:
        """Designs side by side."""
        designs, courses = self.courses.designs, self.courses
        known = np.split(designs.variances / self.scale**2, designs.starts[1:-1])
        return padded(
            [(designs[g][:, 0], known[g]) for g in chosen],
            [courses.reduced(g, self.offset, self.scale) for g in chosen],
            np.array([courses.count(g) for g in chosen], dtype=float),
        )

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
        reduced = [self.courses.reduced(g, self.offset, self.scale) for g in chosen]
        at = designs.starts[:-1][chosen][:, None] + np.arange(designs.sizes[chosen[0]])
        return Batch(
            point=point[at],
            variances=designs.variances[at] / self.scale**2,
            counts=np.array([self.courses.count(g) for g in chosen], dtype=float),
            rows=np.concatenate([rows for rows, _ in reduced]),
            weights=np.concatenate([weights for _, weights in reduced]),
            design=np.repeat(np.arange(len(chosen)), [len(weights) for _, weights in reduced]),
        )


# -- evaluation ----------------------------------------------------------------------------------------


class _Solved(NamedTuple):
    """What is left of one batch at given parameters: no matrices, which would be many numbers for each value.

    Derivatives D of the covariance are those in the logarithms of the kernel's parameters and of the signal variance.
    """

    batch: Batch
    noise: float
    log_det: float
    """Of ``C``, summed over the courses like all that has no rows."""
    rows: Floats
    """``C^-1 y``, (K, n)."""
    ones: Floats
    """``C^-1 1``, (G, n)."""
    turned_rows: Floats
    """``D C^-1 y``, (p + 1, K, n)."""
    turned_ones: Floats
    """``D C^-1 1``, (p + 1, G, n)."""
    traces: Floats
    """Of ``C^-1 D``, (p + 1,)."""
    trace: float
    """Of ``C^-1``."""

    def mean_sums(self) -> Floats:
        """Numerator and denominator of the generalised least squares estimate of the mean."""
        above, below = self.batch.weights * self.rows.sum(axis=1), self.batch.counts * self.ones.sum(axis=1)
        return np.array([above.sum(), below.sum()])

    def value_and_gradient(self, mean: float) -> tuple[float, Floats]:
        """Log likelihood without its constant, and its gradient, at the given mean."""
        ones, design = mean * self.batch.weights[:, None], self.batch.design
        residual = self.batch.rows - ones
        alpha = self.rows - ones * self.ones[design]
        turned = self.turned_rows - ones * self.turned_ones[:, design]
        value = -0.5 * (float((residual * alpha).sum()) + self.log_det)
        in_noise = self.noise * (float((alpha * alpha).sum()) - self.trace)
        return value, 0.5 * np.append((alpha * turned).sum(axis=(1, 2)) - self.traces, in_noise)


@dataclass(frozen=True, eq=False)
class _Factored:
    """One group at given parameters."""

    solved: list[_Solved]

    def mean_sums(self) -> tuple[float, float]:
        """Numerator and denominator of the generalised least squares estimate of the mean."""
        above, below = np.sum([s.mean_sums() for s in self.solved], axis=0)
        return float(above), float(below)

    def value_and_gradient(self, mean: float) -> tuple[float, Floats]:
        """Log likelihood without its constant, and its gradient, at the given mean."""
        values, gradients = zip(*(s.value_and_gradient(mean) for s in self.solved), strict=True)
        return sum(values), np.sum(gradients, axis=0)

    def error(self, _mean: float) -> float:
        """None: the formulas are exact."""
        return 0.0


def _factor(group: Shared | Own, kernel: Kernel, signal: float, noise: float, least: float) -> _Factored:
    K, dK = group.kernel(kernel)
    noise = max(noise, least * signal * float(np.diagonal(K, axis1=-2, axis2=-1).max()))
    slopes = [signal * slope for slope in (*np.moveaxis(dK, -1, 0), K)]
    return _Factored([_solve(batch, [group.cut(slope, batch) for slope in slopes], noise) for batch in group.batches])


def _solve(batch: Batch, slopes: list[Floats], noise: float) -> _Solved:
    """What is left of a batch; the last of its slopes, that in the signal variance, is the covariance of its curves."""
    i = np.arange(batch.point.shape[1])
    C = slopes[-1].copy()
    C[:, i, i] += noise + batch.variances
    inverse, log_det = inverse_and_log_det(C)
    rows, ones = _times_rows(inverse, batch.rows, batch.design), inverse.sum(axis=2)
    return _Solved(
        batch=batch,
        noise=noise,
        log_det=float(batch.counts @ log_det),
        rows=rows,
        ones=ones,
        turned_rows=np.array([_times_rows(slope, rows, batch.design) for slope in slopes]),
        turned_ones=np.einsum("dgij,gj->dgi", slopes, ones),
        traces=np.array([np.einsum("gij,gij->g", inverse, slope) @ batch.counts for slope in slopes]),
        trace=float(np.einsum("gii->g", inverse) @ batch.counts),
    )


def _times_rows(matrices: Floats, rows: Floats, design: Ints) -> Floats:
    """Symmetric matrices times rows, each row with the matrix of its design, (K, n)."""
    if len(matrices) == 1:
        return rows @ matrices[0]
    parts = chunks(len(rows), matrices[0].size)
    return np.concatenate([np.einsum("kij,kj->ki", matrices[design[part]], rows[part]) for part in parts])


def _best_mean(factored: list[Factored]) -> float:
    above, below = np.sum([part.mean_sums() for part in factored], axis=0)
    return float(above / below)
