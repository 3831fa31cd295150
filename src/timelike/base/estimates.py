"""What is known of a number: its mean, and an interval in which it lies with 90 %."""

from __future__ import annotations

from typing import NamedTuple

from timelike.base.arrays import Floats

TAIL = 0.05
"""Probability below an interval, and above it."""
SIDE = 1.6448536269514722
"""Standard deviations of a normal distribution from its middle to an end of the interval."""


class Estimate(NamedTuple):
    """What is known of a number of each of several things, (N,) each: the mean, and the ends of the 90 % interval."""

    mean: Floats
    low: Floats
    high: Floats
