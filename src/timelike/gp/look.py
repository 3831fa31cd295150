"""look: sentences about courses that ask for something else than they get, before the fit and after it."""

from __future__ import annotations

import numpy as np

from timelike.base import checks
from timelike.base.arrays import Bools, Floats
from timelike.courses import TimeCourses
from timelike.courses.designs import Designs
from timelike.gp import GP

ORDERS = 10.0
"""Counts reach further than this factor above their median: there a logarithm is due. Scores, and pressures in mmHg,
are whole numbers too, but do not reach so far; and what does not is hardly changed by a logarithm."""
MOSTLY_LEVELS = 0.8
"""Share of the variance from which on levels decide. The paper's genes, whose levels tell groups, have 63 %; logarithms
of expression as they come from arrays and sequencers 95 % and more; noise alone, with two values a course, 50 %."""
FEWEST_COPIES = 3
"""Fewer replicates may be equal by chance: where rounding leaves ten values, three are once in a thousand times."""
KNOWN = 0.5
"""A gap is wide where its ends explain less than this of a curve between them. Under the squared exponential kernel
that begins at 2.3 length scales; curves that ring between late samples were seen from 2.7 on."""
INSIDE = np.linspace(0, 1, 9)[1:-1, None]
"""Where a gap is looked at. Not in the middle alone: a clock moves it."""
WIDEST = 100
"""So many gaps are looked at; of more, the others are small."""
COUNTS = (
    "every value is a whole number from 0 on, over orders of magnitude: are these counts? Their noise grows with their "
    "level, the model has one noise for all. Read them as counts (counts=True, --counts): they become log2 values with "
    "an error each."
)
"""What is said about counts, and what helps."""


def look(courses: TimeCourses, gp: GP | None = None) -> list[str]:
    """Sentences about what the courses ask for, each with what helps; none where nothing does. Nothing is changed.

    They are about values that look like counts, variance that lies mostly between the levels of courses, one or two
    times only, constant courses, replicates that are copies, and, with a model, gaps that its curves cannot cross.
    :func:`timelike.analyse` and the command line warn of them by themselves.

    Parameters
    ----------
    courses
    gp
        Their model, once there is one.

    Examples
    --------
    >>> import timelike as tl
    >>> courses = tl.TimeCourses.from_arrays([0, 1, 2], [[8, 9, 8], [3, 4, 3], [5, 5, 5]], names=["a", "b", "c"])
    >>> for sentence in tl.look(courses):  # doctest: +NORMALIZE_WHITESPACE
    ...     print(sentence)
    97 % of the variance lies between the levels of courses: they are compared by level more than by shape. For
    shapes, centre them (courses.centered(), scale='center', --scale center).
    1 of 3 courses is constant (c): no shape, and no noise. Leave out what was not measured so
    (courses.most_variable(2), --most-variable 2).
    >>> tl.look(courses.select(["a", "b"]).centered())
    []
    """
    checks.instance(courses, TimeCourses, "courses")
    shape = _few_times(courses) or by_level(courses)
    found = [*like_counts(courses), *shape, *_constant(courses), *_copies(courses)]
    return found if gp is None else [*found, *wide_gaps(courses, gp)]


# -- values ----------------------------------------------------------------------------------------------------------


def like_counts(courses: TimeCourses) -> list[str]:
    """A sentence where values look like counts; to be asked for before they are scaled."""
    values = courses.values
    if values.min() < 0 or values.max() <= ORDERS * max(float(np.median(values)), 1.0):
        return []
    return [COUNTS] if (values == np.floor(values)).all() else []


def by_level(courses: TimeCourses) -> list[str]:
    """A sentence where courses differ by their levels more than by anything else."""
    if len(courses.values) < 2 * len(courses):  # single values have nothing but a level
        return []
    around = courses.values - courses.values.mean()
    size = max(float(np.abs(around).max()), np.finfo(float).tiny)  # squares of what is left are numbers in any unit
    total, within = (float(np.sum((part / size) ** 2)) for part in (around, courses.centered().values))
    if total == 0 or within > (1 - MOSTLY_LEVELS) * total:
        return []
    return [
        f"{100 * (1 - within / total):.0f} % of the variance lies between the levels of courses: they are compared by "
        "level more than by shape. For shapes, centre them (courses.centered(), scale='center', --scale center)."
    ]


def _constant(courses: TimeCourses) -> list[str]:
    flat = np.flatnonzero(_are_constant(courses) & (courses.sizes > 1))
    others = len(courses) - len(flat)
    if not len(flat) or not others:  # all of them: nothing is left to choose
        return []
    are, names = "is" if len(flat) == 1 else "are", checks.first_few([courses.names[i] for i in flat])
    return [
        f"{len(flat):,} of {checks.counted(len(courses), 'course')} {are} constant ({names}): no shape, and no noise. "
        f"Leave out what was not measured so (courses.most_variable({others}), --most-variable {others})."
    ]


def _copies(courses: TimeCourses) -> list[str]:
    again = _are_again(courses.designs)
    if not again.any():
        return []
    repeated = again[courses.design_rows] & ~np.repeat(_are_constant(courses), courses.sizes)
    changed = courses.values[1:] != courses.values[:-1]
    if repeated.sum() < FEWEST_COPIES or (repeated[1:] & changed).any():
        return []
    return [
        "all replicates are equal to the last digit: are they copies? Copies make the noise look like zero. Give every "
        "measurement once."
    ]


def _are_again(designs: Designs) -> Bools:
    """Whether a point is the one before it in its design."""
    again = np.zeros(len(designs.points), dtype=bool)
    again[1:] = (designs.points[1:] == designs.points[:-1]).all(axis=1)
    again[designs.starts[:-1]] = False
    return again


def _are_constant(courses: TimeCourses) -> Bools:
    least, most = (extreme.reduceat(courses.values, courses.starts[:-1]) for extreme in (np.minimum, np.maximum))
    return np.asarray(least == most)


# -- times -----------------------------------------------------------------------------------------------------------


def _few_times(courses: TimeCourses) -> list[str]:
    times = _distinct_times(courses)
    if len(times) == 1:
        return [
            f"all values are at one time ({times[0]:g}): courses have a level and nothing else. Were the times read as "
            "you meant?"
        ]
    if len(times) == 2:
        return [
            f"there are two times only ({times[0]:g} and {times[1]:g}): courses have a level and a difference, and how "
            "fast curves change cannot be known. If you know it, give the model (GP.se(...), --model)."
        ]
    return []


def wide_gaps(courses: TimeCourses, gp: GP) -> list[str]:
    """A sentence about gaps between times that curves of the model cannot cross.

    They are measured by the kernel, and so on its clock. Nothing is said where all gaps are wide: that the length scale
    is below them, the fit has said. A periodic kernel knows a gap from other periods.
    """
    times = _distinct_times(courses)
    if len(times) < 3 or any(name.endswith("periodicity") for name in gp.kernel.get_params()):
        return []
    widest = np.sort(np.argsort(-np.diff(times), kind="stable")[:WIDEST])
    known = np.array([_known_inside(gp, times[k : k + 2, None]) for k in widest])
    wide = widest[known < KNOWN]
    if len(wide) in (0, len(times) - 1):
        return []
    clock = " So may a clock (clock='auto')." if gp.clock is None else ""
    places = checks.first_few([f"from {times[k]:g} to {times[k + 1]:g}" for k in wide], 3)
    return [
        f"the times leave {'a gap' if len(wide) == 1 else 'gaps'} that curves cannot cross, {places}: there, values at "
        f"both ends explain as little as {100 * known.min():.0f} % of a curve's variance. Read nothing into curves "
        f"within; times in between would help.{clock}"
    ]


def _known_inside(gp: GP, ends: Floats) -> float:
    """Share of a curve's variance that its values at both ends explain, where that is least between them."""
    inside = ends[0] + INSIDE * (ends[1] - ends[0])
    variance, k = gp.kernel.diag(inside), gp.kernel(inside, ends)
    inverse = np.linalg.pinv(gp.kernel(ends), rcond=1e-9, hermitian=True)  # ends may be almost one
    unknown = variance - np.sum(k @ inverse * k, axis=1)
    return float(1 - unknown.max() / variance.max())


def _distinct_times(courses: TimeCourses) -> Floats:
    """All times that occur, ascending; none where points have several coordinates."""
    points = courses.designs.points
    return np.unique(points) if points.shape[1] == 1 else np.empty(0)
