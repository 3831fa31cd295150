"""Permuted: the same question where the answer is known to be "no", as a check of what is stated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from timelike.base.arrays import Floats, Ints
from timelike.courses import TimeCourses
from timelike.exceptions import InputError

if TYPE_CHECKING:
    import pandas as pd

STATED = (0.01, 0.05, 0.1)


class Check(NamedTuple):
    """What is called where nothing can be true.

    Attributes
    ----------
    stated
        Expected false discovery rates.
    called
        Courses called at each of them.
    by_chance
        Courses called at each of them when samples are permuted, and everything is learned anew: the mean over
        permutations.
    courses
        How many there are.
    """

    stated: tuple[float, ...]
    called: tuple[int, ...]
    by_chance: tuple[float, ...]
    courses: int

    def to_frame(self) -> pd.DataFrame:
        """Table with the columns stated, called and by_chance."""
        import pandas as pd

        return pd.DataFrame({"stated": self.stated, "called": self.called, "by_chance": self.by_chance})

    def __str__(self) -> str:
        rows = zip(self.stated, self.called, self.by_chance, strict=True)
        words = [f"{called:,} at {stated:.0%} (permuted: {chance:.3g})" for stated, called, chance in rows]
        return f"called of {self.courses:,}, and of as many with permuted samples: {', '.join(words)}"


class Columns(NamedTuple):
    """Samples as columns: condition and time of each, values and errors of all genes, NaN where there is none."""

    condition: Ints
    times: Floats
    values: Floats
    errors: Floats | None


def columns(conditions: Mapping[str, TimeCourses], names: tuple[str, ...]) -> Columns:
    """The samples of all conditions beside each other, a row for each of the names."""
    condition, times, values, errors = [], [], [], []
    known = any(courses.errors is not None for courses in conditions.values())
    for c, courses in enumerate(conditions.values()):
        at, matrix = courses.to_matrix()
        if 2 * len(courses.values) < matrix.size:
            raise InputError("courses have times of their own: there are no samples to permute.")
        place = np.array([courses._position.get(name, -1) for name in names])
        rows = np.where((place >= 0)[:, None], matrix[place], np.nan)
        condition.append(np.full(len(at), c))
        times.append(at)
        values.append(rows)
        if known:
            own = np.zeros(len(courses.values)) if courses.errors is None else courses.errors
            errors.append(np.nan_to_num(courses._with(own).to_matrix()[1][place]))
    joint = np.concatenate(errors, axis=1) if known else None
    return Columns(np.concatenate(condition), np.concatenate(times), np.concatenate(values, axis=1), joint)


def exchanged(samples: Columns, rng: np.random.Generator) -> Columns:
    """Half of the replicates of each time exchanged between two conditions, or all dealt anew among more of them."""
    condition = samples.condition.copy()
    for time in np.unique(samples.times):
        at = np.flatnonzero(samples.times == time)
        groups = [at[samples.condition[at] == c] for c in range(condition.max() + 1)]
        if len(groups) != 2 or min(map(len, groups)) < 2:
            condition[at] = rng.permutation(samples.condition[at])
            continue
        half = min(map(len, groups)) // 2
        condition[rng.choice(groups[0], half, replace=False)] = 1
        condition[rng.choice(groups[1], half, replace=False)] = 0
        if len(groups[0]) == len(groups[1]) and rng.random() < 0.5:
            condition[at] = 1 - condition[at]
    return samples._replace(condition=condition)


def reordered(samples: Columns, rng: np.random.Generator) -> Columns:
    """The times dealt anew among the samples."""
    return samples._replace(times=rng.permutation(samples.times))


def as_courses(samples: Columns, names: tuple[str, ...], conditions: tuple[str, ...]) -> dict[str, TimeCourses]:
    """The samples as courses of each condition; a gene without a value there is left out."""
    found = {}
    for c, condition in enumerate(conditions):
        own = samples.condition == c
        kept = np.flatnonzero(~np.isnan(samples.values[:, own]).all(axis=1))
        errors = None if samples.errors is None else samples.errors[kept][:, own]
        found[condition] = TimeCourses.from_arrays(
            samples.times[own], samples.values[kept][:, own], [names[i] for i in kept], errors
        )
    return found
