"""The shape of a cluster's curve in a few words: up early, then flat; highest at a measured time, or around another."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from timelike.base.arrays import Floats
from timelike.reporting.page_basis import distinct_times
from timelike.reporting.subject import Subject

TURN = 0.25
"""A curve turns where it goes back by this share of its whole range."""
FLAT = 0.5
"""Curves whose range is below this many standard deviations of the noise are called flat."""
NEARLY = 0.02
"""A measured time is the highest one where the curve is so near to its maximum, as a share of its range."""


def shapes(subject: Subject) -> list[str]:
    """A few words about the curve of each cluster."""
    least = FLAT * subject.gp.noise_sd
    found = [(course_of(mean, least), mean) for mean in subject.drawn.mean]
    return [shape if shape == "flat" else f"{shape}; {highest(subject, mean)}" for shape, mean in found]


def course_of(mean: Floats, least: float = 0.0) -> str:
    """How a curve goes, from its values at times that are evenly spaced along the axis.

    Examples
    --------
    >>> at = np.linspace(0, 1, 81)
    >>> course_of(1 - np.exp(-9 * at)), course_of(at), course_of(-(at**9)), course_of(np.sin(np.pi * at))
    ('up early, then flat', 'up', 'flat, then down late', 'up, then down')
    >>> course_of(np.sin(3 * np.pi * at)), course_of(np.sin(9 * at * np.pi)), course_of(0.01 * at, least=0.1)
    ('up, down, up, down', 'up and down, 9 turns', 'flat')
    """
    if not np.ptp(mean) > least:
        return "flat"
    ends = turns(mean)
    ways = ["up" if mean[b] > mean[a] else "down" for a, b in pairwise(ends)]
    if len(ways) == 1:
        return _one_way(mean, ways[0])
    if len(ways) == 2:
        return f"{ways[0]}, then {ways[1]}"
    return ", ".join(ways) if len(ways) <= 4 else f"up and down, {len(ways) - 1} turns"


def turns(mean: Floats) -> list[int]:
    """Places where a curve begins, turns and ends; small steps back are no turns.

    Examples
    --------
    >>> turns(np.array([0.0, 2.0, 1.9, 4.0, 1.0, 0.0]))
    [0, 3, 5]
    """
    least = TURN * float(np.ptp(mean))
    way, best, found = 0, 0, [0]
    low = high = 0
    for i, value in enumerate(mean):
        low, high = (i if value < mean[low] else low), (i if value > mean[high] else high)
        if way == 0:
            way = 1 if value - mean[low] > least else -1 if mean[high] - value > least else 0
            found = [0, *({low if way > 0 else high} - {0})] if _far(mean, low if way > 0 else high, least) else [0]
            best = i
        elif way * (value - mean[best]) > 0:
            best = i
        elif way * (mean[best] - value) > least:
            found.append(best)
            way, best = -way, i
    return [*found, len(mean) - 1]


def _far(mean: Floats, place: int, least: float) -> bool:
    """Whether the curve has gone far from its beginning at a place."""
    return bool(abs(mean[place] - mean[0]) > least)


def _one_way(mean: Floats, way: str) -> str:
    """When a curve that goes one way does so."""
    share = np.abs(mean - mean[0]) / abs(mean[-1] - mean[0])
    begins, ends = (int((share > part).argmax()) / (len(mean) - 1) for part in (0.1, 0.9))
    if ends < 0.5:
        return f"{way} early, then flat"
    return f"flat, then {way} late" if begins > 0.5 else way


def highest(subject: Subject, mean: Floats) -> str:
    """When a curve is highest: at a measured time, or around another, which is said."""
    peak, naming = float(subject.grid[mean.argmax()]), subject.naming
    times, _ = distinct_times(subject.courses)
    unit = f" {naming.time_unit}" if naming.time_unit else ""
    if len(times) > 2 * subject.courses.sizes.max():
        return f"highest around {peak:.3g}{unit}"
    nearest = float(times[np.abs(times - peak).argmin()])
    if mean.max() - np.interp(nearest, subject.grid, mean) <= NEARLY * np.ptp(mean):
        return f"highest at {nearest:g}{unit}"
    before, after = times[times < peak][-1], times[times > peak][0]
    return f"highest around {peak:.3g}{unit}, between the measured {before:g} and {after:g}{unit}"
