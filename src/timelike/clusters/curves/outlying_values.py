"""Single values that stick out: each value against what the course's other values, and its cluster, let expect."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from timelike.base.arrays import Floats, Ints
from timelike.courses import TimeCourses

if TYPE_CHECKING:
    from timelike.gp import GP

Expected = Callable[[int, int], tuple[Floats, Floats]]
"""For a design and a cluster: the mean of the curve at the design's points (n,), and its covariance (n, n)."""


@dataclass(frozen=True, eq=False)
class Outliers:
    """Values that stick out, (M,) each."""

    at: Ints
    """Where among the values of all courses, see :attr:`timelike.TimeCourses.values`."""
    expected: Floats
    """What the other values and the cluster let expect."""
    z: Floats
    """How many standard deviations off."""


def outlying(courses: TimeCourses, gp: GP, labels: Ints, expected: Expected, threshold: float) -> Outliers:
    """Values further than `threshold` standard deviations from what all other values of their course let expect.

    The furthest value of a course is looked at first; if it is out, the others are judged without it. At most a
    third of a course can be out: beyond that it is the course that is different, not a value.
    """
    noise = gp.at(courses).noise_variances
    found: list[tuple[int, float, float]] = []
    order = np.lexsort((labels, courses.design_of))
    key = np.column_stack([courses.design_of, labels])[order]
    cuts = np.flatnonzero((np.diff(key, axis=0) != 0).any(axis=1)) + 1
    for members in np.split(order, cuts):
        g = int(courses.design_of[members[0]])
        mean, C = expected(g, int(labels[members[0]]))
        C = C + np.diag(noise[courses.designs.starts[g] : courses.designs.starts[g + 1]])
        residuals = courses.values[courses.starts[members][:, None] + np.arange(len(mean))] - mean
        z = standardized(C, residuals)[0]
        for row in np.flatnonzero(np.abs(z).max(axis=1) > threshold):
            start = int(courses.starts[members[row]])
            found += [(start + j, e + mean[j], zj) for j, e, zj in _peeled(C, residuals[row], threshold)]
    table = np.array(sorted(found)).reshape(-1, 3)
    return Outliers(table[:, 0].astype(np.intp), table[:, 1], table[:, 2])


def standardized(C: Floats, residuals: Floats) -> tuple[Floats, Floats]:
    """Each residual against its expectation from the others in its row: in standard deviations, and plainly.

    For residuals with covariance C the difference is ``(C^-1 e)_j / (C^-1)_jj``, its variance ``1 / (C^-1)_jj``.
    """
    inverse = np.linalg.inv(C)
    weight = np.diag(inverse)
    difference = residuals @ inverse / weight
    return difference * np.sqrt(weight), difference


def _peeled(C: Floats, residual: Floats, threshold: float) -> list[tuple[int, float, float]]:
    """Positions, expected residuals and z of the values of one course that are out, the furthest first."""
    left = np.arange(len(residual))
    out: list[tuple[int, float, float]] = []
    while len(out) < len(residual) // 3:
        z, difference = standardized(C[np.ix_(left, left)], residual[left])
        worst = int(np.abs(z).argmax())
        if abs(z[worst]) <= threshold:
            break
        out.append((int(left[worst]), float(residual[left[worst]] - difference[worst]), float(z[worst])))
        left = np.delete(left, worst)
    return out


def without(courses: TimeCourses, at: Ints) -> TimeCourses:
    """The courses without some of their values; the courses themselves if there are none."""
    if len(at) == 0:
        return courses
    frame = courses.to_frame().drop(index=at)
    return TimeCourses.from_long(frame, error=None if courses.errors is None else "error")
