"""Pairs of courses in units of their own, and each hypothesis about a pair as blocks of points with a curve each."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Self

import numpy as np

from timelike.base.arrays import Bools, Floats, Ints
from timelike.courses.designs import ranges
from timelike.exceptions import InputError
from timelike.gp.stationary import squared_distances

if TYPE_CHECKING:
    from timelike.courses import TimeCourses

SCALES = (1 / 20, 100.0)
"""Bounds of the length scale: times the pair's smallest gap within a course, times its span."""
FAR = 1e9
"""Distance of padding from every point, itself included: no kernel here reaches so far."""


@dataclass(frozen=True, eq=False)
class Rows:
    """All values of all courses, one a row, and what the units of a pair are made of."""

    points: Floats
    values: Floats
    variances: Floats | None
    starts: Ints
    gaps: Floats
    """Smallest distance between two different points of each course; infinite where there are no two."""
    mean: float | None
    """None where it is fitted, for each pair."""
    fallback: float
    """Variance of all values, the unit of pairs that have no variance of their own."""


def rows(courses: TimeCourses, mean: float | None) -> Rows:
    """The values of all courses, ready to be picked pair by pair."""
    center = float(courses.values.mean()) if mean is None else mean
    fallback = float(np.mean((courses.values - center) ** 2))
    if fallback <= (1e-14 * center) ** 2:
        raise InputError(f"all values are equal ({center:g}): there is nothing to fit.")
    errors = courses.errors
    variances = None if errors is None else errors**2
    gaps = np.array([_gap(courses.designs[g]) for g in range(len(courses.designs))])[courses.design_of]
    return Rows(courses.points, courses.values, variances, courses.starts, gaps, mean, fallback)


def _gap(points: Floats) -> float:
    from scipy.spatial.distance import pdist

    distances = pdist(points)
    return float(distances[distances > 0].min(initial=np.inf))


@dataclass(frozen=True, eq=False)
class Pairs:
    """Values of several pairs, one a row, in units in which each pair has span 1 and variance 1."""

    pair: Ints
    side: Ints
    points: Floats
    values: Floats
    known: Floats | None
    shortest: Floats
    """(P,) Lower bound of the length scale."""
    fitted_mean: bool


def pairs_of(data: Rows, left: Ints, right: Ints) -> Pairs:
    """Pairs of courses, each in units of its own."""
    both = np.stack([left, right], axis=1)
    sizes = np.diff(data.starts)[both]
    rows = ranges(data.starts[both.ravel()], sizes.ravel())
    pair = np.repeat(np.arange(len(left)), sizes.sum(axis=1))
    side = np.repeat(np.tile([0, 1], len(left)), sizes.ravel())
    first = np.flatnonzero(np.diff(pair, prepend=-1))
    points, values = data.points[rows], data.values[rows]
    around = values - data.mean if data.mean is not None else _around_average(values, first, pair)
    span, variance = _span(points, first), _average(around**2, first)
    rounding = (1e-14 * np.maximum.reduceat(np.abs(values), first)) ** 2
    variance = np.where(variance > rounding, variance, data.fallback)
    gap = np.minimum(data.gaps[both].min(axis=1), span)
    known = None if data.variances is None else data.variances[rows] / variance[pair]
    scaled = points / span[pair, None], around / np.sqrt(variance)[pair]
    return Pairs(pair, side, *scaled, known, SCALES[0] * gap / span, data.mean is None)


def _span(points: Floats, first: Ints) -> Floats:
    low, high = np.minimum.reduceat(points, first), np.maximum.reduceat(points, first)
    span = np.linalg.norm(high - low, axis=1)
    return np.where(span > 0, span, 1.0)


def _average(values: Floats, first: Ints) -> Floats:
    return np.add.reduceat(values, first) / np.diff(first, append=len(values))


def _around_average(values: Floats, first: Ints, pair: Ints) -> Floats:
    values = values - values[first][pair]  # of equal values nothing is left, not even rounding
    return values - _average(values, first)[pair]


@dataclass(frozen=True, eq=False)
class Blocks:
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
        """The chosen problems."""
        return type(self)(*(getattr(self, field.name)[which] for field in fields(self)))


def blocks_of(pairs: Pairs, *, one_curve: bool) -> Blocks:
    """The pairs under one hypothesis: a block for both courses, or a block for each."""
    problems, per = len(pairs.shortest), 1 if one_curve else 2
    merged = _merge(pairs, pairs.pair if one_curve else 2 * pairs.pair + pairs.side)
    place = _Padding(merged.block, problems, per)

    def add(what: Floats) -> Floats:
        return np.bincount(merged.block // per, what, minlength=problems).astype(float)

    return Blocks(
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


def _merge(pairs: Pairs, block: Ints) -> _Merged:
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
    squared = squared_distances(points)
    return np.where(np.isnan(squared), FAR, np.sqrt(squared))
