"""The shape of a cluster's curve in a few words, where it was measured: up early, then flat; highest at 12 h."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from timelike.base.arrays import Floats
from timelike.gp.kernels import on_clock
from timelike.reporting.page_basis import distinct_times
from timelike.reporting.subject import Subject

TURN = 0.25
"""A curve turns where it goes back by this share of its whole range."""
NEARLY = 0.05
"""Neighbouring times are the highest together where the curve is so near to its maximum, as a share of its range."""
FLAT = "nearly flat"
LEAST = 1.5
"""So called are curves whose range is below so many standard deviations of the values around them."""


def shapes(subject: Subject) -> list[str]:
    """A few words about the curve of each cluster."""
    times, curves = _told(subject)
    places, even = on_clock(subject.gp.kernel, times), on_clock(subject.gp.kernel, subject.grid)
    ways = [
        course_of(np.interp(even, places, mean), LEAST * trembling)
        for mean, trembling in zip(curves, subject.trembling, strict=True)
    ]
    own = times is subject.grid
    unit = f" {subject.naming.time_unit}" if subject.naming.time_unit else ""
    return [
        way if way == FLAT else f"{way}; highest {_around(times, mean) if own else highest(times, mean)}{unit}"
        for way, mean in zip(ways, curves, strict=True)
    ]


def peaks(subject: Subject) -> list[float]:
    """When each cluster is highest: at a measured time, where courses share their times."""
    times, curves = _told(subject)
    return [float(times[mean.argmax()]) for mean in curves]


def _told(subject: Subject) -> tuple[Floats, list[Floats]]:
    """Times at which curves are told, and their values: what a curve does between measured times is a guess."""
    times = distinct_times(subject.courses)[0]
    if len(times) > 2 * subject.courses.sizes.max():  # times of their own
        return subject.grid, list(subject.drawn.mean)
    return times, [np.interp(times, subject.grid, mean) for mean in subject.drawn.mean]


def course_of(mean: Floats, least: float = 0.0) -> str:
    """How a curve goes, from its values at times that are evenly spaced along the axis.

    Nearly flat is one that rises and falls by no more than `least`.

    Examples
    --------
    >>> at = np.linspace(0, 1, 81)
    >>> course_of(1 - np.exp(-9 * at)), course_of(at), course_of(-(at**9)), course_of(np.sin(np.pi * at))
    ('up early, then flat', 'up', 'flat, then down late', 'up, then down')
    >>> course_of(np.sin(3 * np.pi * at)), course_of(np.sin(9 * at * np.pi)), course_of(0.01 * at, least=0.1)
    ('up, down, up, down', 'up and down, 9 turns', 'nearly flat')
    """
    if not np.ptp(mean) > least:
        return FLAT
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


def highest(times: Floats, mean: Floats) -> str:
    """When a curve is highest: at a measured time, or from one to another.

    Examples
    --------
    >>> highest(np.array([0.0, 2, 4]), np.array([0.0, 3, 1])), highest(np.array([0.0, 2, 4]), np.array([0.0, 3, 2.9]))
    ('at 2', 'from 2 to 4')
    """
    peak = int(mean.argmax())
    high = mean >= mean[peak] - NEARLY * np.ptp(mean)
    first, last = peak, peak
    while first > 0 and high[first - 1]:
        first -= 1
    while last + 1 < len(high) and high[last + 1]:
        last += 1
    return f"at {times[peak]:g}" if first == last else f"from {times[first]:g} to {times[last]:g}"


def _around(times: Floats, mean: Floats) -> str:
    return f"around {times[mean.argmax()]:.3g}"
