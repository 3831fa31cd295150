"""similarity_pairwise_fit: hyperparameters fitted anew for each pair, once for one curve and once for two.

A hypothesis about a pair is a set of *blocks* of points: two blocks (a curve each) or one (a curve for both). Blocks of
one problem are independent and share the hyperparameters. Repeated times are merged into their average beforehand, so
one curve through two courses on the same n times costs n points, not 2 n. All problems of a chunk climb together.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, fields
from itertools import product
from typing import TYPE_CHECKING, Self

import numpy as np

from timelike import schedule
from timelike.arrays import Bools, Floats, Ints
from timelike.designs import ranges
from timelike.exceptions import FitWarning, InputError
from timelike.fitting import fixed_mean
from timelike.similarities import Similarity

if TYPE_CHECKING:
    from timelike.courses import TimeCourses

Shape = Callable[[Floats], tuple[Floats, Floats, Floats]]

SCALES = (1 / 20, 100.0)
"""Bounds of the length scale: times the pair's smallest gap within a course, times its span."""
TOTAL = (1e-8, 1e6)
"""Bounds of signal + noise variance, times the variance of the pair's values."""
RATIO = (1e-8, 1e8)
"""Bounds of noise / signal variance. The lower one keeps the likelihood of equal courses finite."""
LENGTH_STARTS = 10
RATIO_STARTS = (1e-8, 1e-4, 1e-2, 0.1, 0.5, 3.0)
"""Starting values of noise variance / signal variance, for each starting length scale."""
TOTAL_STARTS = (0.01, 0.1, 1.0, 10.0)
"""Starting values of their sum, times the variance of the pair's values, where there are known errors."""
ITERATIONS = 200
SLOPE = 1e-6
GAIN = 1e-10
"""A climb has arrived when no direction rises faster than SLOPE, or a Newton step would gain less than GAIN."""
LONGEST_STEP = 2.0
FAR = 1e9
"""Distance of padding from every point, itself included: no kernel here reaches so far."""
CHUNK_NUMBERS = 50_000
"""Pairs in a chunk times the square of the longest course: some 100 MB for each thread."""


def similarity_pairwise_fit(
    courses: TimeCourses, kernel: str = "se", mean: str | float = "constant", *, threads: int | None = None
) -> Similarity:
    """The similarity of every pair of courses, with hyperparameters fitted to each pair under each hypothesis.

    ``s(i, j) = max log p(y_i, y_j | one curve) - max log p(y_i, y_j | two curves)``: length scale, signal variance,
    noise variance and mean are chosen anew for each of the two maxima; the two curves share them. It answers for
    each pair by itself: leaving other courses out changes nothing. Compare :func:`timelike.similarity`, where all
    courses share one set of hyperparameters, which is faster and needs fewer values a course.

    Parameters
    ----------
    courses
    kernel
        ``"se"``, ``"matern12"``, ``"matern32"`` or ``"matern52"``.
    mean
        ``"constant"`` (fitted for each pair and hypothesis), ``"zero"``, or a number.
    threads
        Number of threads; by default all that this process may use.

    Returns
    -------
    Similarity
        Equal courses, and so the diagonal, show no noise under one curve: their likelihood would grow without
        limit. The noise is not let below 1e-4 of the signal (standard deviations), so these entries are large, and
        say where that bound is rather than how alike the two are.

    Warns
    -----
    FitWarning
        When some pair did not reach an optimum, with the number of such pairs.

    Examples
    --------
    >>> import timelike as tl
    >>> courses, _ = tl.simulate.profiles(per_group=2, seed=1)
    >>> S = similarity_pairwise_fit(courses)
    >>> bool(S.values[0, 1] > 0 > S.values[0, 5])     # two of one profile, two of different profiles
    True
    """
    shape, data = _shape(kernel), _rows(courses, fixed_mean(mean))
    left, right = np.triu_indices(len(courses))
    order = np.argsort(courses.sizes[left] + courses.sizes[right], kind="stable")
    left, right = left[order], right[order]
    found, arrived = np.empty((len(left), 2)), np.empty((len(left), 2), dtype=bool)

    def work(tile: schedule.Tile) -> None:
        pairs = _pairs(data, left[tile[0]], right[tile[0]])
        for hypothesis in (0, 1):
            value, done = _maximise(_blocks(pairs, one_curve=hypothesis == 1), shape)
            found[tile[0], hypothesis], arrived[tile[0], hypothesis] = value, done

    size = max(2, CHUNK_NUMBERS // int(courses.sizes.max()) ** 2)
    schedule.run(work, schedule.all_tiles(len(left), 2, size), threads, "pairwise fit")
    _tell(int((~arrived.all(axis=1)).sum()))
    values = np.empty((len(courses), len(courses)))
    values[left, right] = values[right, left] = found[:, 1] - found[:, 0]
    return Similarity(values, courses.names, route="pairwise fit")


def _tell(astray: int) -> None:
    if astray:
        warnings.warn(
            f"{astray} of the fitted pairs did not reach an optimum in {ITERATIONS} steps; their similarities are "
            "too low or too high by an unknown amount.",
            FitWarning,
            stacklevel=3,
        )


# -- kernels: k(u), dk/d log l, d^2 k/d (log l)^2 for u = distance / l, where d u/d log l = -u ----------------------


def _se(u: Floats) -> tuple[Floats, Floats, Floats]:
    square = u * u
    k = np.exp(-square / 2)
    slope = square * k
    return k, slope, (square - 2) * slope


def _matern12(u: Floats) -> tuple[Floats, Floats, Floats]:
    k = np.exp(-u)
    slope = u * k
    return k, slope, (u - 1) * slope


def _matern32(u: Floats) -> tuple[Floats, Floats, Floats]:
    a = np.sqrt(3) * u
    decay = np.exp(-a)
    slope = a * a * decay
    return (1 + a) * decay, slope, (a - 2) * slope


def _matern52(u: Floats) -> tuple[Floats, Floats, Floats]:
    a = np.sqrt(5) * u
    decay = np.exp(-a)
    inner = a * a * decay / 3
    return (1 + a) * decay + inner, (1 + a) * inner, (a * a - 2 * a - 2) * inner


SHAPES: dict[str, Shape] = {"se": _se, "matern12": _matern12, "matern32": _matern32, "matern52": _matern52}


def _shape(kernel: str) -> Shape:
    if not isinstance(kernel, str) or kernel not in SHAPES:
        raise InputError(f"a fit for each pair knows the kernels {', '.join(SHAPES)}, not {kernel!r}.")
    return SHAPES[kernel]


# -- pairs in their own units ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Rows:
    """All values of all courses, one a row, and what the units of a pair are made of."""

    points: Floats
    values: Floats
    """Minus the mean, where it is given; minus the average of all values, where it is fitted."""
    variances: Floats | None
    starts: Ints
    gaps: Floats
    """Smallest distance between two different points of each course; infinite where there are no two."""
    fitted_mean: bool
    fallback: float
    """Variance of all values, the unit of pairs that have no variance of their own."""


def _rows(courses: TimeCourses, mean: float | None) -> _Rows:
    center = float(courses.values.mean()) if mean is None else mean
    values = courses.values - center
    fallback = float(np.mean(values**2))
    if fallback <= (1e-14 * center) ** 2:
        raise InputError(f"all values are equal ({center:g}): there is nothing to fit.")
    errors = courses.errors
    variances = None if errors is None else errors**2
    gaps = np.array([_gap(courses.designs[g]) for g in range(len(courses.designs))])[courses.design_of]
    return _Rows(courses.points, values, variances, courses.starts, gaps, mean is None, fallback)


def _gap(points: Floats) -> float:
    from scipy.spatial.distance import pdist

    distances = pdist(points)
    return float(distances[distances > 0].min(initial=np.inf))


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Values of several pairs, one a row, in units in which each pair has span 1 and variance 1."""

    pair: Ints
    side: Ints
    points: Floats
    values: Floats
    known: Floats | None
    shortest: Floats
    """(P,) Lower bound of the length scale."""
    fitted_mean: bool


def _pairs(data: _Rows, left: Ints, right: Ints) -> _Pairs:
    both = np.stack([left, right], axis=1)
    sizes = np.diff(data.starts)[both]
    rows = ranges(data.starts[both.ravel()], sizes.ravel())
    pair = np.repeat(np.arange(len(left)), sizes.sum(axis=1))
    side = np.repeat(np.tile([0, 1], len(left)), sizes.ravel())
    first = np.flatnonzero(np.diff(pair, prepend=-1))
    points, values = data.points[rows], data.values[rows]
    span, variance = _span(points, first), _variance(values, first, data)
    gap = np.minimum(data.gaps[both].min(axis=1), span)
    values = values - _average(values, first)[pair] if data.fitted_mean else values
    known = None if data.variances is None else data.variances[rows] / variance[pair]
    scaled = points / span[pair, None], values / np.sqrt(variance)[pair]
    return _Pairs(pair, side, *scaled, known, SCALES[0] * gap / span, data.fitted_mean)


def _span(points: Floats, first: Ints) -> Floats:
    low, high = np.minimum.reduceat(points, first), np.maximum.reduceat(points, first)
    span = np.linalg.norm(high - low, axis=1)
    return np.where(span > 0, span, 1.0)


def _average(values: Floats, first: Ints) -> Floats:
    return np.add.reduceat(values, first) / np.diff(first, append=len(values))


def _variance(values: Floats, first: Ints, data: _Rows) -> Floats:
    square = _average(values**2, first)
    variance = square - _average(values, first) ** 2 if data.fitted_mean else square
    return np.where(variance > 1e-14 * square, variance, data.fallback)


# -- blocks ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Blocks:
    """P problems of B independent blocks of at most m points, padded.

    A point stands for r values at one time, which enter as their average, with noise variance / r, and their
    sum of squares around it: ``N(y_1..y_r; f, v) = N(average; f, v/r) exp(-within/2v) (2 pi v)^((1-r)/2) r^(-1/2)``.
    """

    distances: Floats  # (P, B, m, m)
    values: Floats  # (P, B, m)
    ones: Floats  # (P, B, m): what the fitted mean is multiplied with; zero in padding, or when it is given
    share: Floats  # (P, B, m): 1 / r
    known: Floats  # (P, B, m): known error variance; 1 in padding, which has no other variance
    within: Floats  # (P,)
    extra: Floats  # (P,): number of values minus number of points
    constant: Floats  # (P,): sum of log r
    count: Floats  # (P,): number of values
    shortest: Floats  # (P,)
    exact: Bools  # (P,): whether there are no known errors, so that the best total variance has a closed form

    def take(self, which: Ints) -> Self:
        return type(self)(*(getattr(self, field.name)[which] for field in fields(self)))


def _blocks(pairs: _Pairs, *, one_curve: bool) -> _Blocks:
    """The pairs under one hypothesis: a block for both courses, or a block for each."""
    problems, per = len(pairs.shortest), 1 if one_curve else 2
    merged = _merge(pairs, pairs.pair if one_curve else 2 * pairs.pair + pairs.side)
    place = _Padding(merged.block, problems, per)

    def add(what: Floats) -> Floats:
        return np.bincount(merged.block // per, what, minlength=problems).astype(float)

    return _Blocks(
        distances=_distances(place(merged.points, np.nan)),
        values=place(merged.average),
        ones=place(np.full(len(merged.average), float(pairs.fitted_mean))),
        share=place(1 / merged.replicates),
        known=place(merged.known, 1.0),
        within=add(merged.within),
        extra=add(merged.replicates - 1),
        constant=add(np.log(merged.replicates)),
        count=add(merged.replicates),
        shortest=pairs.shortest,
        exact=np.full(problems, pairs.known is None),
    )


@dataclass(frozen=True, eq=False)
class _Merged:
    """Points, block after block; what was measured at the same point of a block is one of them."""

    block: Ints
    points: Floats
    replicates: Floats
    average: Floats
    within: Floats
    known: Floats


def _merge(pairs: _Pairs, block: Ints) -> _Merged:
    order = np.lexsort((pairs.values, *pairs.points.T[::-1], block))
    block, points, values = block[order], pairs.points[order], pairs.values[order]
    new = (np.diff(block, prepend=-1) != 0) | (np.diff(points, axis=0, prepend=np.nan) != 0).any(axis=1)
    if pairs.known is not None:
        new[:] = True  # values with errors of their own stay apart
    first = np.flatnonzero(new)
    average = _average(values, first)
    within = np.add.reduceat((values - average[np.cumsum(new) - 1]) ** 2, first)
    replicates = np.diff(first, append=len(values)).astype(float)
    known = np.zeros(len(first)) if pairs.known is None else pairs.known[order]
    return _Merged(block[first], points[first], replicates, average, within, known)


class _Padding:
    """Puts one row a point into (P, B, m) arrays, given the block of each row, ascending."""

    def __init__(self, block: Ints, problems: int, per: int) -> None:
        sizes = np.bincount(block, minlength=problems * per)
        self.row, self.column = block, np.arange(len(block)) - (np.cumsum(sizes) - sizes)[block]
        self.shape = (problems, per, int(sizes.max()))

    def __call__(self, what: Floats, padding: float = 0.0) -> Floats:
        result = np.full((self.shape[0] * self.shape[1], self.shape[2], *what.shape[1:]), padding)
        result[self.row, self.column] = what
        return result.reshape(*self.shape, *what.shape[1:])


def _distances(points: Floats) -> Floats:
    """Distances (P, B, m, m) of points (P, B, m, d); those of padding, which is NaN, are beyond any reach."""
    square = np.zeros((*points.shape[:3], points.shape[2]))
    for x in np.moveaxis(points, -1, 0):
        square += (x[..., :, None] - x[..., None, :]) ** 2
    return np.where(np.isnan(square), FAR, np.sqrt(square))


# -- likelihood --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Solved:
    """What ``C = signal K + noise / r + known`` does to values and mean, and the two parts of the log likelihood."""

    ones: Floats  # (P, B, m): C^-1 1
    weight: Floats  # (P,): 1^T C^-1 1
    alpha: Floats  # (P, B, m): C^-1 (y - mean)
    quadratic: Floats  # (P,)
    log_det: Floats  # (P,)


def _solved(blocks: _Blocks, lower: Floats, columns: Floats, noise: Floats) -> _Solved:
    """From the Cholesky factor of C, and C^-1 applied to the values and to ones, (P, B, m, 2)."""
    log_det = 2 * np.log(np.diagonal(lower, axis1=-2, axis2=-1)).sum(axis=(1, 2))
    weight = _dot(blocks.ones, columns[..., 1])
    weight += weight == 0  # a given mean: nothing to estimate, and the numerator is zero as well
    mean = (_dot(blocks.ones, columns[..., 0]) / weight)[:, None, None]  # generalised least squares
    alpha = columns[..., 0] - mean * columns[..., 1]
    quadratic = _dot(blocks.values, alpha) + blocks.within / noise
    return _Solved(columns[..., 1], weight, alpha, quadratic, log_det + blocks.extra * np.log(noise))


def _targets(blocks: _Blocks) -> Floats:
    return np.stack([blocks.values, blocks.ones], axis=-1)


def _covariance(blocks: _Blocks, K: Floats, noise: Floats) -> Floats:
    C = K.copy()
    diagonal = np.einsum("pbii->pbi", C)
    diagonal += noise[:, None, None] * blocks.share + blocks.known
    return C


@dataclass(frozen=True, eq=False)
class _Point:
    """Where climbs are: log (length scale, signal + noise variance, noise / signal), and the log likelihood there.

    The split of the variance is a parameter of its own because the data often hardly determine it: along a straight
    ridge Newton's steps are long, along the curved one of signal and noise variance they would be short.
    """

    parameters: Floats  # (P, 3)
    value: Floats  # (P,), up to a constant that both hypotheses share
    slope: Floats  # (P, 3)
    curvature: Floats  # (P, 3, 3)

    def move(self, where: Ints, there: _Point, chosen: Bools) -> None:
        """Put the climbs `where` to those of the points `there` that were chosen."""
        for field in fields(self):
            getattr(self, field.name)[where] = getattr(there, field.name)[chosen]


def _evaluate(blocks: _Blocks, parameters: Floats, shape: Shape) -> _Point:
    """Log likelihood, with the mean profiled out, and its first and second derivatives."""
    length, signal, noise = _variances(parameters)
    K, K1, K2 = (signal[:, None, None, None] * k for k in shape(blocks.distances / length[:, None, None, None]))
    lower = np.linalg.cholesky(_covariance(blocks, K, noise))
    root = np.linalg.inv(lower)
    inverse = root.swapaxes(-1, -2) @ root
    s = _solved(blocks, lower, inverse @ _targets(blocks), noise)
    changes = _changes(s, inverse, (K1, K), noise[:, None, None] * blocks.share)
    slope = [_dot(s.alpha, p) - np.einsum("pbii->p", G) for p, G in zip(changes.pushed, changes.spread, strict=True)]
    bend = _dot(s.alpha, _times(K2, s.alpha)) - _dot(inverse, K2)
    within = blocks.within / noise
    H = changes.products(s)
    H[:, 0, 0] += 0.5 * bend
    H[:, 0, 1] += 0.5 * slope[0]
    H[:, 1, 0] += 0.5 * slope[0]
    H[:, 1, 1] += 0.5 * slope[1]
    H[:, 2, 2] += 0.5 * (slope[2] - within)
    slope[2] += within - blocks.extra
    value = -0.5 * (s.quadratic + s.log_det + blocks.constant)
    return _Point(parameters, value, *_as_split(0.5 * np.stack(slope, axis=1), H, noise / (signal + noise)))


def _variances(parameters: Floats) -> tuple[Floats, Floats, Floats]:
    """Length scale, signal variance, noise variance."""
    length, total, ratio = np.exp(parameters.T)
    return length, total / (1 + ratio), total * ratio / (1 + ratio)


def _as_split(slope: Floats, H: Floats, p: Floats) -> tuple[Floats, Floats]:
    """Derivatives in log (signal + noise), log (noise / signal) from those in log signal, log noise; p is noise / sum.

    ``log signal = log sum + log (1 - p)``, ``log noise = log sum + log p``, ``dp / d log ratio = p (1 - p)``.
    """
    J = np.zeros_like(H)
    J[:, 0, 0] = J[:, 1, 1] = J[:, 2, 1] = 1
    J[:, 1, 2], J[:, 2, 2] = -p, 1 - p
    curvature = J.swapaxes(1, 2) @ H @ J
    curvature[:, 2, 2] -= p * (1 - p) * (slope[:, 1] + slope[:, 2])
    return (slope[:, None, :] @ J)[:, 0], curvature


@dataclass(frozen=True, eq=False)
class _Changes:
    """How C changes with log length scale, log signal and log noise variance, C_a, as far as the values notice."""

    pushed: list[Floats]  # C_a alpha, (P, B, m)
    solved: list[Floats]  # C^-1 C_a alpha
    spread: list[Floats]  # C^-1 C_a, (P, B, m, m)

    def products(self, s: _Solved) -> Floats:
        """``1/2 tr C^-1 C_a C^-1 C_b - alpha^T C_a P C_b alpha`` for each pair of parameters, (P, 3, 3).

        P is C^-1 less what the estimate of the mean takes up. It is the second derivative of the log likelihood but
        for ``1/2 (alpha^T C_ab alpha - tr C^-1 C_ab)``.
        """
        H = np.empty((len(s.weight), 3, 3))
        for a in range(3):
            for b in range(a, 3):
                taken = _dot(self.pushed[a], s.ones) * _dot(self.pushed[b], s.ones) / s.weight
                direct = _dot(self.pushed[a], self.solved[b]) - taken
                H[:, a, b] = H[:, b, a] = 0.5 * _trace(self.spread[a], self.spread[b]) - direct
        return H


def _changes(s: _Solved, inverse: Floats, full: tuple[Floats, Floats], diagonal: Floats) -> _Changes:
    pushed = [*(_times(D, s.alpha) for D in full), diagonal * s.alpha]
    solved = [_times(inverse, p) for p in pushed]
    return _Changes(pushed, solved, [*(inverse @ D for D in full), inverse * diagonal[..., None, :]])


def _times(D: Floats, v: Floats) -> Floats:
    return (D @ v[..., None])[..., 0]


def _dot(a: Floats, b: Floats) -> Floats:
    """Sum of products of all entries of each problem."""
    return np.einsum("pi,pi->p", a.reshape(len(a), -1), b.reshape(len(b), -1))


def _trace(G: Floats, H: Floats) -> Floats:
    return np.einsum("pbij,pbji->p", G, H)


# -- search ------------------------------------------------------------------------------------------------------------


def _maximise(blocks: _Blocks, shape: Shape) -> tuple[Floats, Bools]:
    """The largest log likelihood of each problem, and whether it was reached."""
    problem, start = _starts(blocks, shape)
    value, done = _climb(blocks.take(problem), start, shape)
    best = np.full(len(blocks.count), -np.inf)
    np.maximum.at(best, problem, value)
    arrived = np.ones(len(best), dtype=bool)
    np.logical_and.at(arrived, problem, done | (value < best[problem]))
    return best, arrived


def _starts(blocks: _Blocks, shape: Shape) -> tuple[Ints, Floats]:
    """For each starting length scale the best of the starting variances; all of them are followed to their optimum.

    Returns the problem of each start, (Q,), and its parameters, (Q, 3).
    """
    problems = np.arange(len(blocks.count))
    found = []
    for length in np.geomspace(10 * blocks.shortest, 4.0, LENGTH_STARTS):
        tried = _along_variances(blocks, length, shape)
        found.append(tried[tried[..., 0].argmax(axis=0), problems, 1:])
    return np.tile(problems, LENGTH_STARTS), np.concatenate(found)


def _along_variances(blocks: _Blocks, length: Floats, shape: Shape) -> Floats:
    """Log likelihood and log parameters, (V, P, 4), at one length scale a problem and all starting variances."""
    K, _, _ = shape(blocks.distances / length[:, None, None, None])
    totals = (1.0,) if blocks.exact.all() else TOTAL_STARTS
    starts = [np.column_stack(np.broadcast_arrays(length, *v)) for v in product(totals, RATIO_STARTS)]
    return np.array([_start(blocks, K, np.log(parameters)) for parameters in starts])


def _start(blocks: _Blocks, K: Floats, parameters: Floats) -> Floats:
    """Log likelihood and log parameters, (P, 4).

    Without known errors the best total variance has a closed form and takes the place of the given one.
    """
    _, signal, noise = _variances(parameters)
    C = _covariance(blocks, signal[:, None, None, None] * K, noise)
    s = _solved(blocks, np.linalg.cholesky(C), np.linalg.solve(C, _targets(blocks)), noise)
    scale = np.where(blocks.exact, np.maximum(s.quadratic / blocks.count, TOTAL[0]), 1.0)
    value = -0.5 * (s.log_det + blocks.count * np.log(scale) + s.quadratic / scale)
    return np.column_stack([value, parameters[:, 0], parameters[:, 1] + np.log(scale), parameters[:, 2]])


def _climb(blocks: _Blocks, start: Floats, shape: Shape) -> tuple[Floats, Bools]:
    """Value at the end of each climb by damped Newton steps within bounds, and whether it arrived."""
    low, high = _bounds(blocks)
    here = _evaluate(blocks, np.clip(start, low, high), shape)
    damping, moving = np.ones(len(start)), np.arange(len(start))
    for _ in range(ITERATIONS):
        uphill = _uphill(here, _free(here, low, high), moving)
        moving, uphill = moving[~uphill.arrived], uphill.take(~uphill.arrived)
        if len(moving) == 0:
            break
        trial = np.clip(here.parameters[moving] + uphill.step(damping[moving]), low[moving], high[moving])
        there = _evaluate(blocks.take(moving), trial, shape)
        better = there.value >= here.value[moving] - 1e-11 * (1 + np.abs(there.value))
        damping[moving] = np.where(better, damping[moving] / 5, np.maximum(damping[moving], 1e-3) * 5)
        here.move(moving[better], there, better)
    arrived = np.ones(len(start), dtype=bool)
    arrived[moving] = False
    return here.value, arrived


def _bounds(blocks: _Blocks) -> tuple[Floats, Floats]:
    low = np.log(np.stack(np.broadcast_arrays(blocks.shortest, TOTAL[0], RATIO[0]), axis=1))
    high = np.log(np.broadcast_to([SCALES[1], TOTAL[1], RATIO[1]], low.shape))
    return low, high


def _free(here: _Point, low: Floats, high: Floats) -> Bools:
    """The parameters that are not held by a bound which they are pushed against."""
    held = ((here.parameters <= low) & (here.slope < 0)) | ((here.parameters >= high) & (here.slope > 0))
    return ~held


@dataclass(frozen=True, eq=False)
class _Uphill:
    """The way up from some points: slopes along the axes of the curvature, every one of them counted as downward."""

    along: Floats  # (P, 3)
    weight: Floats  # (P, 3)
    axes: Floats  # (P, 3, 3)

    def take(self, which: Bools) -> _Uphill:
        return _Uphill(self.along[which], self.weight[which], self.axes[which])

    @property
    def arrived(self) -> Bools:
        """Whether it is level here, or Newton's step promises next to nothing."""
        gain = 0.5 * (self.along**2 / self.weight).sum(axis=1)
        return (gain < GAIN) | (np.abs(self.along).max(axis=1) < SLOPE)

    def step(self, damping: Floats) -> Floats:
        """Newton's step, shortened by the damping."""
        step = _times(self.axes, self.along / (self.weight + damping[:, None]))
        longest = np.abs(step).max(axis=1, keepdims=True)
        return step * (LONGEST_STEP / np.maximum(longest, LONGEST_STEP))


def _uphill(here: _Point, free: Bools, which: Ints) -> _Uphill:
    free = free[which]
    both = free[:, :, None] & free[:, None, :]
    weight, axes = np.linalg.eigh(np.where(both, here.curvature[which], -np.eye(3)))
    along = _times(axes.swapaxes(1, 2), np.where(free, here.slope[which], 0.0))
    return _Uphill(along, np.abs(weight) + 1e-12, axes)
