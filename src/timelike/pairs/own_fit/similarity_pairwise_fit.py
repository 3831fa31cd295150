"""similarity_pairwise_fit: hyperparameters fitted anew for each pair, once for one curve and once for two.

A hypothesis about a pair is a set of *blocks* of points: two blocks (a curve each) or one (a curve for both). Blocks of
one problem are independent and share the hyperparameters. Repeated times are merged into their average beforehand, so
one curve through two courses on the same n times costs n points, not 2 n. All problems of a chunk climb together.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from timelike.base import checks
from timelike.base.arrays import Bools, Floats, Ints
from timelike.base.threads import run_tiles
from timelike.base.tiles import Tile, all_tiles
from timelike.courses import TimeCourses
from timelike.exceptions import FitWarning, InputError, warn
from timelike.gp.fit import fixed_mean
from timelike.gp.stationary import FORMS, Form
from timelike.pairs.own_fit.likelihood import (
    Point,
    covariance,
    evaluate,
    solved,
    squared_distances,
    targets,
    times_vector,
    variances_of,
)
from timelike.pairs.own_fit.problems import SCALES, Blocks, blocks_of, pairs_of, rows
from timelike.pairs.similarity import Similarity

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
"""Steps of a climb, at most."""
SLOPE = 1e-6
GAIN = 1e-10
"""A climb has arrived when no direction rises faster than SLOPE, or a Newton step would gain less than GAIN."""
LONGEST_STEP = 2.0
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
    checks.instance(courses, TimeCourses, "courses")
    if not isinstance(kernel, str) or kernel not in FORMS:
        raise InputError(f"a fit for each pair knows the kernels {', '.join(FORMS)}, not {kernel!r}.")
    return pairs_fitted(courses, FORMS[kernel], fixed_mean(mean), threads)


def pairs_fitted(
    courses: TimeCourses,
    form: Form,
    mean: float | None,
    threads: int | None = None,
    *,
    chunk: int = CHUNK_NUMBERS,
    iterations: int = ITERATIONS,
) -> Similarity:
    """The similarity of every pair: `chunk` bounds the memory of a thread, `iterations` the steps of a climb."""
    data = rows(courses, mean)
    left, right = np.triu_indices(len(courses))
    order = np.argsort(courses.sizes[left] + courses.sizes[right], kind="stable")
    left, right = left[order], right[order]
    found, arrived = np.empty((len(left), 2)), np.empty((len(left), 2), dtype=bool)

    def work(tile: Tile) -> None:
        pairs = pairs_of(data, left[tile[0]], right[tile[0]])
        for hypothesis in (0, 1):
            value, done = _maximise(blocks_of(pairs, one_curve=hypothesis == 1), form, iterations)
            found[tile[0], hypothesis], arrived[tile[0], hypothesis] = value, done

    size = max(2, chunk // int(courses.sizes.max()) ** 2)
    run_tiles(work, all_tiles(len(left), 2, size), threads, "pairwise fit")
    _tell(int((~arrived.all(axis=1)).sum()), iterations)
    values = np.empty((len(courses), len(courses)))
    values[left, right] = values[right, left] = found[:, 1] - found[:, 0]
    return Similarity(values, courses.names, route="pairwise fit")


def _tell(astray: int, iterations: int) -> None:
    if astray:
        warn(
            f"{astray} of the fitted pairs did not reach an optimum in {iterations} steps; their similarities are "
            "too low or too high by an unknown amount.",
            FitWarning,
        )


# -- search ----------------------------------------------------------------------------------------------------


def _maximise(blocks: Blocks, form: Form, iterations: int) -> tuple[Floats, Bools]:
    """The largest log likelihood of each problem, and whether it was reached."""
    problem, start = _starts(blocks, form)
    value, done = _climb(blocks.take(problem), start, form, iterations)
    best = np.full(len(blocks.count), -np.inf)
    np.maximum.at(best, problem, value)
    arrived = np.ones(len(best), dtype=bool)
    np.logical_and.at(arrived, problem, done | (value < best[problem]))
    return best, arrived


def _starts(blocks: Blocks, form: Form) -> tuple[Ints, Floats]:
    """For each starting length scale the best of the starting variances; all of them are followed to their optimum.

    Returns the problem of each start, (Q,), and its parameters, (Q, 3).
    """
    problems = np.arange(len(blocks.count))
    found = []
    for length in np.geomspace(10 * blocks.shortest, 4.0, LENGTH_STARTS):
        tried = _along_variances(blocks, length, form)
        found.append(tried[tried[..., 0].argmax(axis=0), problems, 1:])
    return np.tile(problems, LENGTH_STARTS), np.concatenate(found)


def _along_variances(blocks: Blocks, length: Floats, form: Form) -> Floats:
    """Log likelihood and log parameters, (V, P, 4), at one length scale a problem and all starting variances."""
    K, _ = form.value_and_slope(squared_distances(blocks, length))
    totals = (1.0,) if blocks.exact.all() else TOTAL_STARTS
    starts = [np.column_stack(np.broadcast_arrays(length, *v)) for v in product(totals, RATIO_STARTS)]
    return np.array([_start(blocks, K, np.log(parameters)) for parameters in starts])


def _start(blocks: Blocks, K: Floats, parameters: Floats) -> Floats:
    """Log likelihood and log parameters, (P, 4).

    Without known errors the best total variance has a closed form and takes the place of the given one.
    """
    _, signal, noise = variances_of(parameters)
    C = covariance(blocks, signal[:, None, None, None] * K, noise)
    s = solved(blocks, np.linalg.cholesky(C), np.linalg.solve(C, targets(blocks)), noise)
    scale = np.where(blocks.exact, np.maximum(s.quadratic / blocks.count, TOTAL[0]), 1.0)
    value = -0.5 * (s.log_det + blocks.count * np.log(scale) + s.quadratic / scale)
    return np.column_stack([value, parameters[:, 0], parameters[:, 1] + np.log(scale), parameters[:, 2]])


def _climb(blocks: Blocks, start: Floats, form: Form, iterations: int) -> tuple[Floats, Bools]:
    """Value at the end of each climb by damped Newton steps within bounds, and whether it arrived."""
    low, high = _bounds(blocks)
    here = evaluate(blocks, np.clip(start, low, high), form)
    damping, moving = np.ones(len(start)), np.arange(len(start))
    for _ in range(iterations):
        uphill = _uphill(here, _free(here, low, high), moving)
        moving, uphill = moving[~uphill.arrived], uphill.take(~uphill.arrived)
        if len(moving) == 0:
            break
        trial = np.clip(here.parameters[moving] + uphill.step(damping[moving]), low[moving], high[moving])
        there = evaluate(blocks.take(moving), trial, form)
        better = there.value >= here.value[moving] - 1e-11 * (1 + np.abs(there.value))
        damping[moving] = np.where(better, damping[moving] / 5, np.maximum(damping[moving], 1e-3) * 5)
        here.move(moving[better], there, better)
    arrived = np.ones(len(start), dtype=bool)
    arrived[moving] = False
    return here.value, arrived


def _bounds(blocks: Blocks) -> tuple[Floats, Floats]:
    low = np.log(np.stack(np.broadcast_arrays(blocks.shortest, TOTAL[0], RATIO[0]), axis=1))
    high = np.log(np.broadcast_to([SCALES[1], TOTAL[1], RATIO[1]], low.shape))
    return low, high


def _free(here: Point, low: Floats, high: Floats) -> Bools:
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
        step = times_vector(self.axes, self.along / (self.weight + damping[:, None]))
        longest = np.abs(step).max(axis=1, keepdims=True)
        return step * (LONGEST_STEP / np.maximum(longest, LONGEST_STEP))


def _uphill(here: Point, free: Bools, which: Ints) -> _Uphill:
    free = free[which]
    both = free[:, :, None] & free[:, None, :]
    weight, axes = np.linalg.eigh(np.where(both, here.curvature[which], -np.eye(3)))
    along = times_vector(axes.swapaxes(1, 2), np.where(free, here.slope[which], 0.0))
    return _Uphill(along, np.abs(weight) + 1e-12, axes)
