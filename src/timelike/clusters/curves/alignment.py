"""Where courses are in their cluster: gain, delay and level of each, with intervals, and the courses moved there."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from timelike.base.arrays import Floats
from timelike.base.estimates import SIDE, TAIL, Estimate
from timelike.courses import TimeCourses
from timelike.gp.freedom import Freedom

if TYPE_CHECKING:
    from timelike.clusters.curves.curve_clustering import CurveClustering


def gains_of(free: Freedom, places: Floats) -> Estimate:
    """How many times as large as its cluster's curve each course is, from the probabilities of nodes, (M, N)."""
    each = places.reshape(len(free.log_gains), len(free.delays), -1).sum(axis=1)
    return Estimate(*(np.exp(found) for found in on_nodes(np.array(free.log_gains), each)))


def delays_of(free: Freedom, places: Floats) -> Estimate:
    """How much later than its cluster's curve each course comes, from the probabilities of nodes, (M, N)."""
    each = places.reshape(len(free.log_gains), len(free.delays), -1).sum(axis=0)
    nodes = np.array(free.delays)
    return on_nodes(nodes, each) if free.period is None else on_circle(nodes, each, free.period)


def on_nodes(nodes: Floats, weights: Floats) -> Estimate:
    """Means and intervals of numbers with these probabilities, (M, N), around nodes that are equally far apart.

    What a node has is spread evenly over what is nearest to it.

    Examples
    --------
    >>> on_nodes(np.array([-1.0, 0.0, 1.0]), np.array([[0.25], [0.5], [0.25]]))
    Estimate(mean=array([0.]), low=array([-1.3]), high=array([1.3]))
    """
    step = nodes[1] - nodes[0]
    edges = np.append(nodes - step / 2, nodes[-1] + step / 2)
    reached = np.vstack([np.zeros(weights.shape[1]), np.cumsum(weights, axis=0)])
    low, high = (np.array([np.interp(tail, one, edges) for one in reached.T]) for tail in (TAIL, 1 - TAIL))
    return Estimate(nodes @ weights, low, high)


def on_circle(nodes: Floats, weights: Floats, period: float) -> Estimate:
    """The same on a circle: the mean direction, between minus and plus half a period, and an arc about it."""
    turn = np.exp(2j * np.pi * nodes / period) @ weights
    mean = np.angle(turn) * period / (2 * np.pi)
    found = []
    for one, middle in zip(weights.T, mean, strict=True):
        order = np.argsort((nodes - middle + period / 2) % period)
        away = (nodes[order] - middle + period / 2) % period - period / 2
        found.append([middle + end[0] for end in on_nodes(away, one[order, None])[1:]])
    return Estimate(mean, *np.array(found).reshape(-1, 2).T)


# -- levels, and courses moved onto their cluster's curve -----------------------------------------------------------


def levels_of(found: CurveClustering) -> Estimate:
    """The level of each course around which it is its cluster's curve, which is zero on average over all times."""
    courses = found.courses
    weights, starts = 1 / found.here.noise_variances[courses.design_rows], courses.starts[:-1]
    total = np.add.reduceat(weights, starts)
    level = np.add.reduceat(weights * (courses.values - _shape(found)), starts) / total
    side = SIDE / np.sqrt(total)
    return Estimate(level, level - side, level + side)


def _shape(found: CurveClustering) -> Floats:
    """What each value would be if the level of its course were zero."""
    courses = found.courses
    delay, gain = (np.repeat(each, courses.sizes) for each in placed(found))
    times, which = np.unique(courses.points[:, 0] - delay, return_inverse=True)
    return np.asarray(gain * found.shapes(times)[np.repeat(found.nearest, courses.sizes), which.ravel()])


def placed(found: CurveClustering) -> tuple[Floats, Floats]:
    """Delay and gain of each course, (N,); zero and one where they are not free."""
    count, free = len(found.names), found.free
    delay = np.zeros(count) if len(free.delays) == 1 or found.delay is None else found.delay.mean
    gain = np.ones(count) if len(free.log_gains) == 1 or found.gain is None else found.gain.mean
    return delay, gain


def reach(found: CurveClustering) -> tuple[float, float]:
    """From when to when aligned courses go, but not before the start of the model's clock."""
    moved = found.courses.points[:, 0] - np.repeat(placed(found)[0], found.courses.sizes)
    start = getattr(found.gp.kernel, "start", None)
    return float(moved.min() if start is None else max(moved.min(), start)), float(moved.max())


def aligned(found: CurveClustering) -> TimeCourses:
    """The courses as measured, moved onto their cluster's curve: earlier, smaller and to its level."""
    courses = found.courses if found.measured is None else found.measured
    delay, gain = (np.repeat(each, courses.sizes) for each in placed(found))
    middle = np.full(len(courses), found.gp.mean)
    onto = middle
    if found.level is not None:
        middle, onto = found.level.mean, found.cluster_levels[found.nearest]
    values = (courses.values - np.repeat(middle, courses.sizes)) / gain + np.repeat(onto, courses.sizes)
    errors = None if courses.errors is None else courses.errors / gain
    spans = [slice(a, b) for a, b in pairwise(courses.starts)]
    times = courses.times - delay
    known = None if errors is None else [errors[span] for span in spans]
    return TimeCourses.from_arrays([times[s] for s in spans], [values[s] for s in spans], courses.names, known)
