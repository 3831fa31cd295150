"""unswayed: a fit that single wild values do not decide."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from timelike.gp.wild import Wild, wild_values

if TYPE_CHECKING:
    from timelike.courses import TimeCourses
    from timelike.gp import GP

SWAYED = 0.8
"""Wild values decide if without them the noise variance, or the signal variance, is less than this times as large.

Noise without tails does not get there, nor do courses of different noise; 5 % of wild values, ten noise levels off,
lower it to a fifth, and a single one in a few hundred values to a half."""
SLIGHT = 0.1
"""They do not if the squares of their standard deviations have a smaller share of those of all values than this."""
ROUNDS = 10
"""How often model and weights take turns, at most."""
SAMPLE = 2000
"""Of more courses than this a sample settles first."""


class Search(Protocol):
    """A fit of courses, whose variances are sought around those of other values, from many places or the last one."""

    def __call__(self, courses: TimeCourses, seen: TimeCourses, *, again: bool = False) -> GP:
        """The most likely model."""


def unswayed(courses: TimeCourses, gp: GP, search: Search) -> GP:
    """The model that is most likely once wild values count for little; `gp` itself where they do not decide.

    Noise that is too large hides wild values: weights and model take turns until the same values are wild.
    """
    wild = wild_values(courses, gp)
    if (wild.z**2).sum() < SLIGHT * len(courses.values) or np.ptp(wild.tamed(courses).values) == 0:
        return gp
    if not swayed(gp, search(wild.weighed(courses), wild.tamed(courses), again=True)):
        return gp
    few = _sample(courses)
    found, wild = _settled(few, wild if few is courses else wild_values(few, gp), search, ROUNDS)
    if few is not courses:
        found, wild = _settled(courses, wild_values(courses, found, wild.shares), search, 2)
    if not swayed(gp, found):
        return gp
    return replace(found, warnings=(*found.warnings, _sentence(wild, courses, gp.noise_sd, found.noise_sd)))


def _settled(courses: TimeCourses, wild: Wild, search: Search, rounds: int) -> tuple[GP, Wild]:
    """Model and wild values, after they took turns until the same values are wild, or so often."""
    for turn in range(rounds):
        gp = search(wild.weighed(courses), wild.tamed(courses), again=turn > 0)
        last, wild = wild, wild_values(courses, gp, wild.shares)
        if np.array_equal(last.at, wild.at):
            break
    return gp, wild


def _sample(courses: TimeCourses) -> TimeCourses:
    """Courses from all over, enough to settle on; all where they are few."""
    if len(courses) <= SAMPLE:
        return courses
    return courses.select(np.linspace(0, len(courses) - 1, SAMPLE).astype(int))


def swayed(gp: GP, other: GP) -> bool:
    """Whether the other model has clearly less noise or signal."""
    return min(other.noise_sd / gp.noise_sd, other.signal_sd / gp.signal_sd) ** 2 < SWAYED


def _sentence(wild: Wild, courses: TimeCourses, before: float, after: float) -> str:
    return (
        f"{len(wild):,} of {len(courses.values):,} values are wild and count for little in this fit: the noise is "
        f"{after:.3g}; with full weight for every value (robust=False) it would be {before:.3g}."
    )
