"""Where a fit looks: bounds and starting points of all parameters, in the data's own units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from timelike.base.arrays import Bools, Floats
from timelike.exceptions import InputError
from timelike.gp.kernels import check_coordinates, leaves, unclocked
from timelike.gp.told import Summed, told

if TYPE_CHECKING:
    from sklearn.gaussian_process.kernels import Kernel

    from timelike.courses import TimeCourses
    from timelike.gp.clock import Clocked


NOISE_STARTS = (0.003, 0.1, 1.0)
"""Starting values of noise variance / signal variance."""
RATIO = (1e-12, 1e8)
"""Bounds of noise variance / signal variance."""
STARTS = 6
"""Starting values of a parameter of the kernel, from the smallest gap to the whole span."""
ROLLS = (0, 3, 1, 4, 2, 5)
"""By how much the starting values of further parameters of that kind are moved on."""
MOST_PERIODS = 2000
"""Starting periods, at most. The likelihood has a narrow peak at each period that could be the right one."""
REPLICATES = 20
"""Times that are closer than the usual gap by this factor are one time, measured again."""
GAPS = 300
"""Designs, at most, whose smallest gap is looked at."""
CLOCKS, SCALES = 5, 4
"""Starting values of a clock, and on each of them of the length scale."""
UNEVEN = 1.9
"""Gaps between the times of a design that differ by less than this factor are even, but for rounding."""
SPARSER = 1.5
"""Times of their own are sparse late if the later half of them takes so many times as long as the earlier half."""

# Parameters measured in the units of time; all others have no unit.
_IN_TIME = {
    ("RBF", "length_scale"),
    ("Matern", "length_scale"),
    ("RationalQuadratic", "length_scale"),
    ("ExpSineSquared", "periodicity"),
    ("DotProduct", "sigma_0"),
}
NO_FACTORS: Mapping[str, float] = MappingProxyType({})
_UNSET_BOUNDS = (1e-5, 1e5)  # scikit-learn's default: absolute numbers, so they would depend on the units


@dataclass(frozen=True)
class Extent:
    """How far apart points are: within a course (typical smallest gap) and over all (span).

    `told`: half the shortest period that the times can tell from longer ones, where that is not the gap.
    """

    gap: float
    span: float
    told: float | None = None

    @property
    def shortest(self) -> float:
        """The shortest period to look for."""
        return 2 * (self.gap if self.told is None else self.told)


@dataclass(frozen=True, eq=False)
class Axis:
    """One free parameter: its bounds and starting values, as logarithms."""

    name: str
    low: float
    high: float
    starts: Floats
    given: bool = False
    """Whether the caller set the bounds."""
    in_time: bool = False
    """Whether the parameter is measured in the unit of time."""


@dataclass(frozen=True, eq=False)
class SearchSpace:
    """Where to look for the optimum.

    A place is the logarithm of (kernel parameters..., signal variance, noise variance / signal variance). Bounds on
    the ratio keep every covariance on the way positive definite.
    """

    axes: tuple[Axis, ...]
    starts: Floats
    """(S, p): places to begin at."""
    extent: Extent
    finalists: int = 4
    """So many of the starting points are followed to their optimum."""

    @cached_property
    def low(self) -> Floats:
        """Lower bounds, (p,)."""
        return np.array([axis.low for axis in self.axes])

    @cached_property
    def high(self) -> Floats:
        """Upper bounds, (p,)."""
        return np.array([axis.high for axis in self.axes])

    def free(self, place: Floats, margin: float = 1e-9) -> Bools:
        """Which parameters are not held by a bound."""
        return (place > self.low + margin) & (place < self.high - margin)


def search_space(courses: TimeCourses | Summed, kernel: Kernel, mean: float | None) -> SearchSpace:
    """Where to look for the parameters of `kernel` and the variances; the mean is a number, or None if it is fitted."""
    from sklearn.base import clone

    points = courses.designs.points
    check_coordinates(kernel, points.shape[1])
    reach = extent(courses, None if unclocked(kernel) is kernel else kernel)
    factors = _factors(kernel, points[:1000])
    axes = kernel_axes(kernel, reach, factors)
    priors = np.log(_sizes(clone(kernel).set_params(**factors), points[:1000]))
    ratios = np.log(NOISE_STARTS)
    tops = _log_variance(courses, mean) - priors
    signal_starts = tops[:, None] - np.log1p(NOISE_STARTS)
    signal = Axis("signal variance", tops.min() - 16, tops.max() + 16, signal_starts.ravel())
    low, high = np.log(RATIO) + np.array([priors.min(), priors.max()])
    noise = Axis("noise variance", low, high, (priors[:, None] + ratios).ravel())
    splits = np.column_stack([signal.starts, noise.starts])
    starts = np.array([[*place, *split] for place in starting_points(axes) for split in splits])
    return SearchSpace((*axes, signal, noise), starts, reach)


def _sizes(kernel: Kernel, points: Floats) -> Floats:
    """Mean variance of a kernel, and of each summand of it that is clearly smaller.

    A line beside a curve grows with the unit of the times: what the curve has is then a small part of the sum.
    """
    whole = float(np.mean(kernel.diag(points)))
    parts = [float(np.mean(part.diag(points))) for part in _summands(kernel).values()]
    return np.unique([whole, *(size for size in parts if 0 < size < whole / 10)])[::-1]


def _summands(kernel: Kernel, prefix: str = "") -> dict[str, Kernel]:
    """The kernels of which a kernel is the sum, under the prefix that their parameters have."""
    if type(kernel).__name__ != "Sum":
        return {prefix: kernel}
    return _summands(kernel.k1, f"{prefix}k1__") | _summands(kernel.k2, f"{prefix}k2__")


def _factors(kernel: Kernel, points: Floats) -> dict[str, float]:
    """Free constant factors of summands that make all summands equally large: where those are sought, in any unit."""
    parts = _summands(kernel)
    free = [parameter.name for parameter in kernel.hyperparameters if not parameter.fixed]
    names = {prefix: [n for n in free if n.startswith(prefix) and n.endswith("constant_value")] for prefix in parts}
    sizes = {prefix: float(np.mean(part.diag(points))) for prefix, part in parts.items()}
    known = kernel.get_params()
    largest = max(sizes.values())
    return {
        names[prefix][0]: float(known[names[prefix][0]]) * largest / size
        for prefix, size in sizes.items()
        if len(parts) > 1 and names[prefix] and size > 0
    }


# -- the clock ---------------------------------------------------------------------------------------------


def slows_down(courses: TimeCourses | Summed) -> bool:
    """Whether the times ask if dynamics slow down: they are uneven on a grid, or sparser and sparser without one.

    Who measures evenly expects the same of all times, and keeps the time of the paper.
    """
    points = courses.designs.points
    if points.shape[1] > 1:
        return False
    times = np.unique(points)
    if len(times) < 3:
        return False
    if len(times) > 2 * courses.designs.sizes.max():
        middle = float(np.median(points))
        return times[-1] - middle >= SPARSER * (middle - times[0])
    gaps = np.diff(times)
    return bool(gaps.max() >= UNEVEN * gaps.min())


def first_time(courses: TimeCourses | Summed) -> float | None:
    """Where a clock starts: at the first time, or at None (zero, on both sides) if there are times before and after."""
    times = courses.designs.points
    return None if times.min() < 0 < times.max() else float(times.min())


def clock_space(courses: TimeCourses | Summed, kernel: Clocked, plain: SearchSpace, best: Floats) -> SearchSpace:
    """Where to look for a kernel on a clock, after a search in plain time ended at `best`.

    Taus lie between a tenth of the smallest gap, below which a clock only sets the first time apart, and ten times
    the span, where it is plain time. Each begins with length scales from its own smallest gap to its own span.
    """
    gap, span = plain.extent.gap, plain.extent.span
    tau = Axis(
        "tau", np.log(gap / 10), np.log(10 * span), np.linspace(np.log(gap / 2), np.log(span), CLOCKS), False, True
    )
    slowest = extent(courses, kernel.clone_with_theta(np.append(kernel.theta[:-1], tau.low)))
    inside = [axis if axis.given else replace(axis, low=np.log(slowest.gap / 20)) for axis in plain.axes[:-2]]
    splits = np.array([best[-2:], plain.starts[len(NOISE_STARTS) // 2, -2:]])
    places = [
        [*scales, at, *split]
        for at in tau.starts
        for scales in _scales_on(courses, kernel, at, len(inside))
        for split in splits
    ]
    axes = (*inside, tau, *plain.axes[-2:])
    low, high = np.array([(axis.low, axis.high) for axis in axes]).T
    return SearchSpace(axes, np.clip(places, low, high), plain.extent, finalists=2)


def rough_space(smooth: SearchSpace, best: Floats) -> SearchSpace:
    """Where to look for a kernel with a rough part, after a search without one ended at `best`."""
    share = Axis("share", np.log(1e-6), np.log(1e4), np.log([0.02, 0.3]))
    places = [[*at[:-2], begin, *at[-2:]] for at in (best, *smooth.starts) for begin in share.starts]
    axes = (*smooth.axes[:-2], share, *smooth.axes[-2:])
    return replace(smooth, axes=axes, starts=np.array(places))


def _scales_on(courses: TimeCourses | Summed, kernel: Clocked, log_tau: float, count: int) -> Floats:
    """Starting length scales on a clock, as logarithms, (S, count): one column, or none where they are fixed."""
    reach = extent(courses, kernel.clone_with_theta(np.append(kernel.theta[:-1], log_tau)))
    return np.linspace(np.log(reach.gap), np.log(reach.span), SCALES if count else 1)[:, None][:, :count]


# -- parameters of the kernel --------------------------------------------------------------------------------


def kernel_axes(kernel: Kernel, extent: Extent, factors: Mapping[str, float] = NO_FACTORS) -> tuple[Axis, ...]:
    """Where to look for the free parameters of `kernel`, in the order of its ``theta``; units of time do not matter.

    Bounds that the caller set are kept; scikit-learn's default bounds are replaced by the extent of the data. The
    parameters in `factors` are sought around these values.
    """
    axes: list[Axis] = []
    inside = leaves(kernel)
    for parameter in kernel.hyperparameters:
        owner, _, short = parameter.name.rpartition("__")
        in_time = (type(inside[owner]).__name__, short) in _IN_TIME
        for given in () if parameter.fixed else parameter.bounds:
            kept = tuple(given) != _UNSET_BOUNDS
            about = np.log(factors.get(parameter.name, 1.0))
            low, high = np.log(given) if kept else np.log(_bounds(in_time, short, extent)) + about
            starts = _ladder(in_time, short, extent, sum(axis.in_time for axis in axes)) + about
            axes.append(Axis(parameter.name, low, high, starts, kept, in_time))
    return tuple(axes)


def _bounds(in_time: bool, short: str, extent: Extent) -> tuple[float, float]:
    if short == "periodicity":  # on an even grid, a period below twice the gap is the alias of a longer one
        return extent.shortest, 100 * extent.span
    if in_time:
        return extent.gap / 20, 100 * extent.span
    return 1e-3, 1e3


def _ladder(in_time: bool, short: str, extent: Extent, shift: int) -> Floats:
    """Starting values of one parameter; `shift` keeps two equal kernels of a sum from moving as one."""
    if not in_time:
        return np.zeros(STARTS)
    if short == "sigma_0":
        return np.full(STARTS, np.log(extent.span))
    if short == "periodicity":
        return _periods(extent)
    ladder = np.linspace(np.log(extent.gap), np.log(extent.span), STARTS)
    return np.roll(ladder, -ROLLS[shift % STARTS])


def _periods(extent: Extent) -> Floats:
    """Logarithms of periods from the shortest to the span, evenly spaced in frequency: none lies between two peaks."""
    highest, lowest = 1 / extent.shortest, 1 / max(extent.span, extent.shortest)
    count = int(np.clip(4 * extent.span * (highest - lowest), STARTS, MOST_PERIODS))
    return -np.log(np.linspace(lowest, highest, count))


def starting_points(axes: tuple[Axis, ...]) -> Floats:
    """Points within the bounds, (S, p): the starting values of all axes side by side; one point if there are none."""
    if not axes:
        return np.zeros((1, 0))
    longest = max(len(axis.starts) for axis in axes)
    columns = [np.clip(np.resize(axis.starts, longest), axis.low, axis.high) for axis in axes]
    return np.unique(np.column_stack(columns), axis=0)


# -- the data's own units ----------------------------------------------------------------------------------


def extent(courses: TimeCourses | Summed, clock: Clocked | None = None) -> Extent:
    """Typical smallest gap within a course, and the span of all points, both above zero; on a clock if there is one."""
    points = courses.designs.points if clock is None else clock.time(courses.designs.points)
    span = float(np.ptp(points, axis=0).max())
    if span == 0:
        return Extent(1.0, 1.0)
    _reasonable(span, "times span")
    starts = courses.designs.starts
    chosen = np.unique(np.linspace(0, len(courses.designs) - 1, GAPS).astype(int))
    gaps = [gap for g in chosen if (gap := _smallest_gap(points[starts[g] : starts[g + 1]])) > 0]
    gap = max(float(np.median(gaps)), 1e-9 * span) if gaps else span
    told = [apart for g in chosen if (apart := _told_gap(points[starts[g] : starts[g + 1]])) > 0]
    return Extent(gap, span, float(np.median(told)) if told else None)


def _told_gap(points: Floats) -> float:
    """Smallest gap of a design by which a period can be told, zero if there is none.

    Times that are almost the same are replicates: half of the range lies in gaps twenty times as wide. And a gap far
    below the mean of the others is an accident of times that are not on a grid.
    """
    times = np.unique(points)
    if points.shape[1] > 1 or len(times) < 2:
        return 0.0
    gaps = np.diff(times)
    falling = np.sort(gaps)[::-1]
    usual = falling[np.searchsorted(np.cumsum(falling), gaps.sum() / 2)]
    apart = gaps[gaps > usual / REPLICATES]
    return float(max(apart.min(), apart.mean() / 4))


def _smallest_gap(points: Floats) -> float:
    """Smallest distance of two different points, zero if there are none."""
    from scipy.spatial.distance import pdist

    if points.shape[1] == 1:
        return float(np.diff(np.unique(points)).min(initial=np.inf)) if len(np.unique(points)) > 1 else 0.0
    distances = pdist(np.unique(points, axis=0)[:500], "chebyshev")
    return float(distances.min(initial=np.inf)) if len(distances) else 0.0


def _log_variance(courses: TimeCourses | Summed, mean: float | None) -> float:
    """Logarithm of the mean squared value around the mean."""
    known = told(courses)
    span = known.span
    center = span.mean if mean is None else mean
    scale = span.scale(center)
    if scale <= 1e-14 * abs(center):
        raise InputError(f"all values are equal ({center:g}): there is nothing to fit.")
    _reasonable(scale, "values vary by")
    return float(np.log(known.squares(center, scale) / span.number) + 2 * np.log(scale))


def _reasonable(size: float, what: str) -> None:
    if not 1e-100 <= size <= 1e100:
        raise InputError(f"{what} {size:.3g}: choose a unit in which that is between 1e-100 and 1e100.")
