"""The model that a question is asked under: its kernel and clock, its noise; what is summed out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from timelike.base import checks
from timelike.base.arrays import Floats
from timelike.courses import TimeCourses
from timelike.courses.conditions import joined
from timelike.exceptions import FitWarning, InputError, hushed
from timelike.gp import GP
from timelike.gp.fit import fit
from timelike.questions.asked import Nuisance
from timelike.questions.measured import Measured

if TYPE_CHECKING:
    from sklearn.gaussian_process.kernels import Kernel

SAMPLE = 600
"""Courses that a model is fitted to, where none is given: kernel, clock and noise need no more."""
SEED = 20210527
CURVE_SIZES = (0.25, 0.5, 1.0, 2.0, 4.0)
"""Standard deviations of shared curves, in units of the model's signal, where they are not free at every time."""

UNSHARED, LITTLE, NONE_SHARED = 0.5, 0.2, 0.9
"""Without replicates: curves of which the other times leave more than this share are noise, if of noise there is less
than this share of that; and curves of which they leave nearly all, in any case."""


def model_for(
    conditions: Mapping[str, TimeCourses], gp: GP | None, kernel: str = "se", clock: str | float = "auto"
) -> GP:
    """The model that was given, or one fitted to a sample of all courses, each minus its mean."""
    if gp is not None:
        checks.instance(gp, GP, "gp")
        return gp
    drawn = [_drawn(name, courses, SAMPLE // len(conditions)) for name, courses in conditions.items()]
    together = reduce(TimeCourses.joined, drawn)
    if len(np.unique(together.designs.points)) < 2 or together.sizes.max() < 2:
        return GP.se(1.0, 1.0, _typical_noise(together))
    with hushed(FitWarning):  # they are about this sample; shapes of effects are sought anyway
        found = fit(together, kernel, mean="zero", clock=clock)
    known = has_replicates(conditions) or together.errors is not None
    return found if known else _with_what_times_do_not_share(found, together)


def _with_what_times_do_not_share(gp: GP, courses: TimeCourses) -> GP:
    """The model, with noise where it took noise for curves that are new at every time: only replicates tell those."""
    longest = courses.designs.sizes.argmax()
    points = np.unique(courses.designs.points[courses.designs.starts[longest] :][: courses.designs.sizes[longest]])
    K = gp.kernel(points[:, None]) + 1e-9 * np.eye(len(points))
    unshared = float(np.median(1 / np.diag(np.linalg.inv(K))))  # of a time, given all the others
    little = gp.noise_sd**2 < LITTLE * unshared * gp.signal_sd**2
    if unshared < UNSHARED or not (little or unshared > NONE_SHARED):
        return gp
    noise = np.sqrt(gp.noise_sd**2 + unshared * gp.signal_sd**2)
    return replace(gp, signal_sd=gp.signal_sd * float(np.sqrt(max(1 - unshared, 0.01))), noise_sd=float(noise))


def _drawn(condition: str, courses: TimeCourses, count: int) -> TimeCourses:
    if len(courses) > count:
        chosen = np.random.default_rng(SEED).choice(len(courses), max(count, 1), replace=False)
        courses = courses.select(np.sort(chosen))
    return replace(courses.centered(), names=tuple(joined(name, condition) for name in courses.names))


def _typical_noise(courses: TimeCourses) -> float:
    """Any noise will do, as its scale is learned; none where errors are known."""
    return 0.0 if courses.errors is not None and courses.errors.min() > 0 else float(courses.values.std() or 1.0)


def shares_times(measured: Measured) -> bool:
    """Whether every condition was measured at all the times, so that what they share can be left free."""
    if not measured.coordinates.exact:
        return False
    count = len(measured.coordinates.points)
    return all(len(np.unique(courses.designs.points)) == count for courses in measured.conditions.values())


def shared_curves(measured: Measured, kernel: Kernel, signal_sd: float) -> tuple[Nuisance, ...]:
    """What conditions may share: any curve where they have the same times; else smooth ones of several sizes."""
    ones, r = np.ones((len(measured.conditions), 1)), len(measured.coordinates.points)
    if shares_times(measured):
        return (summed_out(measured, np.kron(ones, np.eye(r)), np.zeros((len(ones) * r, 0))),)
    level, curve = np.kron(ones, np.ones((r, 1))), np.kron(ones, measured.coordinates.factor(kernel))
    return tuple(summed_out(measured, level, size * signal_sd * curve) for size in CURVE_SIZES)


def own_curves(measured: Measured, kernel: Kernel, signal_sd: float) -> Nuisance:
    """A curve for each condition: any where there are replicates to tell noise from it; else a smooth one."""
    each, r = np.eye(len(measured.conditions)), len(measured.coordinates.points)
    if measured.coordinates.exact and has_replicates(measured.conditions):
        return summed_out(measured, np.eye(len(each) * r), np.zeros((len(each) * r, 0)))
    level, curve = np.kron(each, np.ones((r, 1))), np.kron(each, measured.coordinates.factor(kernel))
    return summed_out(measured, level, signal_sd * curve)


def summed_out(measured: Measured, free: Floats, curves: Floats) -> Nuisance:
    """Free columns, the levels of subjects among them, then curves with a size."""
    levels = np.hstack([measured.padded(free), measured.levels_of_subjects()])
    return Nuisance(np.hstack([levels, measured.padded(curves)]), levels.shape[1])


def has_replicates(conditions: Mapping[str, TimeCourses]) -> bool:
    """Whether most courses have values beside others of the same time."""
    return bool(np.median(np.concatenate([_spare(courses) for courses in conditions.values()])) >= 1)


def _spare(courses: TimeCourses) -> Floats:
    """Values of each course beyond the first of each time."""
    times, starts = courses.points[:, 0], courses.starts
    again = np.concatenate([[False], times[1:] == times[:-1]])
    again[starts[:-1]] = False
    return np.add.reduceat(again.astype(float), starts[:-1])


def typical_noise(conditions: Mapping[str, TimeCourses], gp: GP) -> float:
    """Standard deviation of a typical value around its curve."""
    variances = [np.median(gp.at(courses).value_noise[courses.design_rows]) for courses in conditions.values()]
    return float(np.sqrt(np.median(variances)))


def largest_change(conditions: Mapping[str, TimeCourses]) -> float:
    """How far values go from the level of their course; all but the wildest."""
    ways = [np.abs(courses.centered().values) for courses in conditions.values()]
    return 2 * float(np.quantile(np.concatenate(ways), 0.999))


def furthest(conditions: Mapping[str, TimeCourses]) -> float:
    """How far the wildest value of all is from the level of its gene, whatever the condition."""
    number: dict[str, int] = {}
    genes = [
        np.array([number.setdefault(name, len(number)) for name in courses.names]) for courses in conditions.values()
    ]
    of_all, means = np.concatenate(genes), np.concatenate([courses._means for courses in conditions.values()])
    level = np.bincount(of_all, means) / np.bincount(of_all)
    ways = [
        np.abs(courses.values - np.repeat(level[gene], courses.sizes)).max()
        for gene, courses in zip(genes, conditions.values(), strict=True)
    ]
    return float(max(ways))


def check_conditions(conditions: object) -> dict[str, TimeCourses]:
    """Two or more conditions with courses, or an error in words."""
    if isinstance(conditions, TimeCourses):
        return conditions.by_condition()
    if not isinstance(conditions, Mapping):
        raise InputError(
            f"conditions are {type(conditions).__name__}: expected a mapping from a condition to its courses, as "
            "{'wt': courses, 'mut': others}, or courses called 'gene | condition'."
        )
    found = {str(name): courses for name, courses in conditions.items()}
    if len(found) < len(conditions):
        raise InputError(f"two conditions have the same name: {', '.join(map(repr, conditions))}.")
    if len(found) < 2:
        known = f"only {next(iter(found))!r}" if found else "none"
        raise InputError(f"a comparison needs two conditions or more, these are {known}.")
    return found


def without_replicates(conditions: Mapping[str, TimeCourses]) -> list[str]:
    """A note where no replicates tell how much values scatter."""
    if has_replicates(conditions):
        return []
    return [
        "most courses have no replicates: how much values scatter is judged by how they lie around smooth curves, so "
        "that fast changes are hard to tell from noise."
    ]


def subjects_of(conditions: Mapping[str, TimeCourses], subjects: Mapping[str, Sequence[object]]) -> list[Floats]:
    """For each condition which subject each sample is of, (samples, subjects) of zeros and ones."""
    if set(subjects) != set(conditions):
        raise InputError(
            f"subjects are of {', '.join(subjects)}: expected one list for each of {', '.join(conditions)}."
        )
    codes = {label: k for k, label in enumerate(dict.fromkeys(str(one) for some in subjects.values() for one in some))}
    found: list[Floats] = []
    for name, courses in conditions.items():
        grid = courses.grid
        if grid is None or len(subjects[name]) != len(grid):
            samples = "times of their own or gaps" if grid is None else f"{len(grid)} samples"
            raise InputError(
                f"condition {name!r} has {len(subjects[name])} subjects, its courses {samples}: give one for each "
                "sample, in the order of times; every course needs a value in every sample."
            )
        found.append(np.eye(len(codes))[[codes[str(one)] for one in subjects[name]]])
    together = np.sum([one.sum(axis=0) > 0 for one in found], axis=0)
    if together.max() < 2:
        raise InputError("no subject was measured under two conditions: nothing is paired. Leave subjects out.")
    return found
