"""Freedoms: in what courses may differ and still share a curve: level, size (gain) and delay.

A course that comes ``h`` later than a curve f, ``g`` times as large, around a level of its own, is

    y = level + g f(X - h) + noise

so that its information is that at the times ``X - h``, as ``(g^2 A, g b)``, with the level integrated out. Gains and
delays are summed over nodes: a few of each, equally far apart, with a prior.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from timelike.base import checks
from timelike.base.arrays import Floats
from timelike.exceptions import DataWarning, InputError, warn
from timelike.gp.kernels import unclocked

if TYPE_CHECKING:
    from sklearn.gaussian_process.kernels import Kernel

    from timelike.courses import TimeCourses
    from timelike.gp import GP

NAMES = ("level", "gain", "delay")
GAIN_SD = 0.5
"""Standard deviation of the logarithm of a course's gain, where nothing is known: twice as large is common."""
FURTHEST = 2.5
"""Nodes of gains reach so many standard deviations to both sides."""
STEP = 1.5
"""Distance of two nodes, in standard deviations of what a course tells: their sum is then as good as an integral."""
HALVES = 4, 5, 6, 8, 10, 12, 16, 20
"""Nodes to each side of the middle: numbers with divisors, so that fewer nodes can reach as far."""
MOST = 2 * HALVES[-1] + 1
"""Nodes of gains, and of delays, at most."""
ON_CIRCLE = 9, 15, 21
"""Nodes of phases."""


@dataclass(frozen=True)
class Freedom:
    """In what courses may differ from their curve, and how likely that is.

    Attributes
    ----------
    level
        Each has a level of its own, of which nothing is known before.
    log_gains
        Nodes of the logarithm of a course's gain: ascending, equally far apart, symmetric about zero.
    delays
        Nodes of how much later than its curve a course comes, likewise.
    gain_sd
        Standard deviation of the logarithm of a course's gain.
    delay_sd
        Standard deviation of a course's delay; infinite where all nodes are equally likely.
    period
        Where the kernel is periodic and delays go all the way round: phases.

    Examples
    --------
    >>> Freedom(level=True, delays=(-1.0, 0.0, 1.0)).names
    ('level', 'delay')
    >>> Freedom(delays=(-1.0, 0.0, 1.0), delay_sd=1.0).log_prior.round(2)
    array([-1.29, -0.79, -1.29])
    """

    level: bool = False
    log_gains: tuple[float, ...] = (0.0,)
    delays: tuple[float, ...] = (0.0,)
    gain_sd: float = GAIN_SD
    delay_sd: float = np.inf
    period: float | None = None

    def __len__(self) -> int:
        return len(self.log_gains) * len(self.delays)

    def __bool__(self) -> bool:
        return self.level or len(self) > 1

    @property
    def names(self) -> tuple[str, ...]:
        """The freedoms that there are."""
        there = (self.level, len(self.log_gains) > 1, len(self.delays) > 1)
        return tuple(name for name, is_there in zip(NAMES, there, strict=True) if is_there)

    @cached_property
    def log_prior(self) -> Floats:
        """Log probability of each node, delays within gains, (len,)."""
        gains = -((np.array(self.log_gains) / self.gain_sd) ** 2) / 2
        delays = -((np.array(self.delays) / self.delay_sd) ** 2) / 2
        return (_normal(gains)[:, None] + _normal(delays)).ravel()

    def thinned(self, gains: int, delays: int) -> Freedom:
        """The freedom with at most so many nodes of each: every so many-th, as far as all of them reach.

        Examples
        --------
        >>> Freedom(delays=(-1.0, -0.5, 0.0, 0.5, 1.0)).thinned(1, 3).delays
        (-1.0, 0.0, 1.0)
        """
        fewer = _thin_circle(self.delays, delays) if self.period is not None else _thin(self.delays, delays)
        return replace(self, log_gains=_thin(self.log_gains, gains), delays=fewer)

    @property
    def step(self) -> tuple[float, float]:
        """How far apart two nodes are, in the logarithm of the gain and in the delay; 1 where there is one node."""
        each = (np.diff(nodes[:2]) if len(nodes) > 1 else [1.0] for nodes in (self.log_gains, self.delays))
        gain, delay = (float(one[0]) for one in each)
        return gain, delay


def _thin(nodes: tuple[float, ...], most: int) -> tuple[float, ...]:
    """At most so many nodes; also the first and the last, unless three would be left of them."""
    middle, half = len(nodes) // 2, max(most // 2, 1)
    if most == 1:
        return (nodes[middle],)
    whole = [step for step in range(1, middle // 2 + 1) if middle % step == 0 and middle // step <= half]
    step = whole[0] if whole else -(-middle // half) or 1
    return nodes[middle % step :: step]


def _thin_circle(nodes: tuple[float, ...], most: int) -> tuple[float, ...]:
    """At most so many nodes, as far apart all the way round."""
    count = len(nodes)
    step = next(step for step in range(1, count + 1) if count % step == 0 and count // step <= most)
    return nodes[count // 2 % step :: step]


NONE = Freedom()
"""Courses of a cluster, or a pair, are alike only as they are: the paper's."""


def _normal(logs: Floats) -> Floats:
    """Logarithms of what adds up to one."""
    return np.asarray(logs - np.log(np.exp(logs - logs.max()).sum()) - logs.max())


# -- what a caller asks for ----------------------------------------------------------------------------------------


def freedom(courses: TimeCourses, gp: GP, up_to: Any = (), max_delay: Any = None) -> Freedom:
    """The freedoms with these names, with nodes as near to each other as the courses can tell apart.

    Examples
    --------
    >>> import timelike as tl
    >>> courses, _ = tl.simulate.profiles(seed=1)
    >>> free = freedom(courses, tl.GP.se(0.9, 0.6, 0.08), ("level", "delay"), max_delay=0.4)
    >>> free.names, len(free.delays), free.delays[-1]
    (('level', 'delay'), 11, 0.2)
    """
    names = asked_for(up_to)
    if "delay" not in names and max_delay is not None:
        raise InputError(f"max_delay is {max_delay!r}, but no delays are asked for: add 'delay' to up_to.")
    level = "level" in names
    gains = _gains(courses, gp, level=level) if "gain" in names else NONE.log_gains
    delays, period = _delays(courses, gp, max_delay) if "delay" in names else (NONE.delays, None)
    return Freedom(level, gains, delays, period=period)


def asked_for(up_to: Any) -> tuple[str, ...]:
    """The names of freedoms, from a sequence of them or a text with commas.

    Examples
    --------
    >>> asked_for("delay, level")
    ('level', 'delay')
    """
    given = [name.strip() for name in up_to.split(",") if name.strip()] if isinstance(up_to, str) else up_to
    try:
        names = list(given)
    except TypeError:
        raise InputError(f"up_to is {up_to!r}: expected any of {', '.join(NAMES)}.") from None
    for name in names:
        if name not in NAMES:
            hint = " 'auto' is for clusters alone (mixture)." if name == "auto" else ""
            raise InputError(f"up_to has {name!r}: choose from {', '.join(NAMES)}.{hint}")
    return tuple(name for name in NAMES if name in names)


def _gains(courses: TimeCourses, gp: GP, *, level: bool) -> tuple[float, ...]:
    _note_flat(courses, gp, level=level)
    return nodes(FURTHEST * GAIN_SD, STEP * uncertainty(courses, gp))


def _delays(courses: TimeCourses, gp: GP, max_delay: Any) -> tuple[tuple[float, ...], float | None]:
    """The nodes of delays, and the period where these go all the way round."""
    points = courses.designs.points
    if points.shape[1] > 1:
        raise InputError(f"a delay is one of time, but points have {points.shape[1]} coordinates: leave it out.")
    _check_times(courses)
    period, step = period_of(gp.kernel), STEP * uncertainty(courses, gp) * scale_of(courses, gp)
    if period is not None and (max_delay is None or _checked(max_delay, points) >= period / 2):
        count = next((count for count in ON_CIRCLE if count >= period / step), ON_CIRCLE[-1])
        return tuple((period * (np.arange(count) - count // 2) / count).tolist()), period
    if max_delay is None:
        raise InputError(
            "a delay needs max_delay: how far apart in time two courses may be and still be alike, in the unit of "
            f"the times (which run from {points.min():g} to {points.max():g})."
        )
    longest, span = _checked(max_delay, points), float(np.ptp(points))
    if period is None and longest >= span:
        raise InputError(
            f"max_delay is {longest:g}, but the courses span {span:g}: so far apart, nothing of them overlaps. Give "
            "a fraction of that, in the unit of the times."
        )
    return nodes(longest / 2, step), None


def _checked(max_delay: Any, points: Floats) -> float:
    if not (checks.is_number(max_delay) and max_delay > 0):
        raise InputError(
            f"max_delay is {max_delay!r}: expected a number above zero, in the unit of the times (which run from "
            f"{points.min():g} to {points.max():g})."
        )
    return float(max_delay)


def _check_times(courses: TimeCourses) -> None:
    """Raise if no course has two different times, warn if some have not."""
    designs = courses.designs
    spans = [float(np.ptp(designs[g])) for g in range(len(designs))]
    single = np.flatnonzero(np.array(spans)[courses.design_of] == 0)
    if len(single) == len(courses):
        raise InputError("no course has values at two different times: nothing can be said about delays.")
    if len(single):
        warn(
            f"course {courses.names[single[0]]!r} has values at one time only{checks.and_more(len(single))}: nothing "
            "is known about its delay.",
            DataWarning,
        )


def _note_flat(courses: TimeCourses, gp: GP, *, level: bool) -> None:
    """Raise if no course is more than noise, warn if some are not: these have no size."""
    variances = gp.noise_sd**2 + courses.designs.variances[courses.design_rows]
    starts, weight = courses.starts[:-1], 1 / np.maximum(variances, np.finfo(float).tiny)
    residuals = courses.values
    if level:
        middle = np.add.reduceat(weight * residuals, starts) / np.add.reduceat(weight, starts)
        residuals = residuals - np.repeat(middle, courses.sizes)
    degrees = courses.sizes - level
    squares = np.add.reduceat(weight * residuals**2, starts)
    flat = np.flatnonzero(squares <= degrees + 2 * np.sqrt(2 * degrees))
    if len(flat) == len(courses):
        raise InputError("no course changes by more than its noise: there is nothing whose size could be told.")
    if len(flat):
        warn(
            f"course {courses.names[flat[0]]!r} changes by no more than its noise{checks.and_more(len(flat))}: its "
            "gain is not known.",
            DataWarning,
        )


# -- nodes -----------------------------------------------------------------------------------------------------


def nodes(furthest: float, step: float) -> tuple[float, ...]:
    """Nodes from ``-furthest`` to `furthest`, about `step` apart, zero among them.

    Examples
    --------
    >>> nodes(1.0, 0.25)
    (-1.0, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0)
    """
    half = next((half for half in HALVES if half >= furthest / step), HALVES[-1])
    return tuple((furthest / half * np.arange(-half, half + 1)).tolist())


def uncertainty(courses: TimeCourses, gp: GP) -> float:
    """Standard deviation with which a typical course tells the logarithm of its gain, where its curve is known."""
    variances = gp.noise_sd**2 + courses.designs.variances
    precision = np.add.reduceat(1 / np.maximum(variances, np.finfo(float).tiny), courses.designs.starts[:-1])
    return float(1 / (gp.signal_sd * np.sqrt(np.median(precision[courses.design_of]))))


def scale_of(courses: TimeCourses, gp: GP) -> float:
    """How long a curve takes to change by about the signal."""
    scale, period = gp.length_scale, period_of(gp.kernel)
    if period is not None:
        return period / (2 * np.pi)
    return float(np.ptp(courses.designs.points)) / 10 if scale is None else float(np.min(scale))


def period_of(kernel: Kernel) -> float | None:
    """The period of a periodic kernel, None of all others.

    Examples
    --------
    >>> from timelike.gp.kernels import resolve
    >>> period_of(resolve("periodic")), period_of(resolve("se"))
    (1.0, None)
    """
    kernel = unclocked(kernel)
    return float(kernel.periodicity) if type(kernel).__name__ == "ExpSineSquared" else None
