"""Values that count for little: how little, and what the course's other values and its cluster let expect instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from timelike.base.arrays import Floats, Ints
from timelike.courses import TimeCourses
from timelike.gp.rough import shared

if TYPE_CHECKING:
    from timelike.gp import GP

Expected = Callable[[int, int], tuple[Floats, Floats]]
"""For a design and a cluster: the mean of the curve at the design's points (n,), and its covariance (n, n)."""


class Outliers(NamedTuple):
    """Values that count for little, (M,) each."""

    at: Ints
    """Where among the values of all courses, see :attr:`timelike.TimeCourses.values`."""
    expected: Floats
    """What the other values and the cluster let expect."""
    z: Floats
    """How many standard deviations off."""
    weight: Floats
    """How much they count, against 1 of an ordinary value: noise variance / their variance."""


def outlying(measured: TimeCourses, weighed: TimeCourses, gp: GP, labels: Ints, expected: Expected) -> Outliers:
    """The values of `measured` courses that have a larger error where they are `weighed`, each against the others.

    `expected` is asked about the designs of the weighed courses.
    """
    plain, variances = (gp.noise_sd**2 + c.designs.variances[c.design_rows] for c in (measured, weighed))
    at = np.flatnonzero(variances > plain)
    owner = np.searchsorted(measured.starts, at, side="right") - 1
    found = np.zeros((len(at), 2))
    for i in np.unique(owner):
        span = slice(measured.starts[i], measured.starts[i + 1])
        mean, C = expected(int(weighed.design_of[i]), int(labels[i]))
        own = at[owner == i] - span.start
        residuals = measured.values[span] - mean
        rough = shared(measured.points[span], gp.rough_sd)
        differences, left = left_out(C + rough + np.diag(variances[span]), residuals)
        # The value itself is judged as one that is as noisy as others.
        sd = np.sqrt(np.maximum(left - variances[span] + plain[span], plain[span]))
        found[owner == i] = np.column_stack([measured.values[span] - differences, differences / sd])[own]
    return Outliers(at, found[:, 0], found[:, 1], plain[at] / variances[at])


def left_out(C: Floats, residuals: Floats) -> tuple[Floats, Floats]:
    """Each residual against its expectation from the others, and the variance of that difference.

    For residuals with covariance C the difference is ``(C^-1 e)_j / (C^-1)_jj``, its variance ``1 / (C^-1)_jj``.
    """
    inverse = np.linalg.inv(C)
    weight = np.diag(inverse)
    return inverse @ residuals / weight, 1 / weight
