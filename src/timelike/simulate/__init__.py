"""Made-up courses with known groups, the paper's and harder ones, and counts with known differences. All seeded."""

from timelike.simulate.counts import DISPERSIONS, PATTERNS, SimulatedCounts, counts
from timelike.simulate.groups import (
    CLOCK_TIMES,
    SAMPLINGS,
    THROWN,
    Truth,
    curves,
    delayed,
    deviating,
    grid,
    on_clock,
    outlying,
    own_times,
    profiles,
    replicated,
    shifted,
    smooth,
    uneven_errors,
)

__all__ = [
    "CLOCK_TIMES",
    "DISPERSIONS",
    "PATTERNS",
    "SAMPLINGS",
    "THROWN",
    "SimulatedCounts",
    "Truth",
    "counts",
    "curves",
    "delayed",
    "deviating",
    "grid",
    "on_clock",
    "outlying",
    "own_times",
    "profiles",
    "replicated",
    "shifted",
    "smooth",
    "uneven_errors",
]
