"""Made-up courses with known groups: the paper's synthetic data, and harder ones. All seeded."""

from __future__ import annotations

import numpy as np

from timelike.base.arrays import Bools, Floats, Ints
from timelike.courses import TimeCourses
from timelike.exceptions import InputError

POINTS = 15
SAMPLINGS = ("even", "uneven", "asynchronous")


def curves(times: Floats) -> Floats:
    """The paper's three profiles at `times`, (3, t): ``x + x^4/4``, ``x`` and ``x - x^4/4``, minus 0.5."""
    bend = times**4 / 4
    return np.stack([times + bend, times, times - bend]) - 0.5


def grid(sampling: str = "even") -> Floats:
    """The paper's 15 times on [0, 1]: evenly spaced, or ten of them in the first quarter."""
    if sampling == "uneven":
        return np.concatenate([np.linspace(0, 0.25, 10), np.linspace(0.3, 1, 5)])
    return np.linspace(0, 1, POINTS)


def profiles(
    noise: float = 0.08, sampling: str = "even", per_group: int = 50, seed: int = 0
) -> tuple[TimeCourses, Ints]:
    """The paper's synthetic data: noisy samples of three profiles, and the profile of each course.

    Parameters
    ----------
    noise
        Standard deviation of the noise (paper: 0.08, 0.10, 0.12).
    sampling
        ``"even"``, ``"uneven"``, or ``"asynchronous"``: 6, 7 or 8 of the 15 even times are removed from each course.
    per_group
        Courses of each profile.
    seed

    Examples
    --------
    >>> courses, labels = profiles(noise=0.1, seed=3)
    >>> courses, labels[[0, 50, 149]]
    (TimeCourses: 150 courses, 15 times (0 to 1), array([0, 1, 2]))
    """
    if sampling not in SAMPLINGS:
        raise InputError(f"there is no sampling {sampling!r}: choose from {', '.join(SAMPLINGS)}.")
    times = grid(sampling)
    rng, labels, values = _noisy(curves(times), noise, per_group, seed)
    if sampling == "asynchronous":
        for row, count in zip(values, rng.integers(6, 9, size=len(values)), strict=True):
            row[rng.permutation(len(row))[:count]] = np.nan
    return TimeCourses.from_arrays(times, values, _names(labels)), labels


def replicated(noise: float = 0.1, replicates: int = 3, per_group: int = 50, seed: int = 0) -> tuple[TimeCourses, Ints]:
    """Few uneven times with replicates, as gene expression is measured: 6 times, each `replicates` times."""
    _need(replicates >= 1, f"replicates {replicates}: expected at least 1")
    times = np.repeat([0.0, 0.1, 0.25, 0.5, 0.75, 1.0], replicates)
    _, labels, values = _noisy(curves(times), noise, per_group, seed)
    return TimeCourses.from_arrays(times, values, _names(labels)), labels


def outlying(
    noise: float = 0.08, share: float = 0.02, size: float = 1.0, per_group: int = 50, seed: int = 0
) -> tuple[TimeCourses, Ints, Bools]:
    """The profiles with a `share` of single values thrown off by `size`; the third result marks those, (N, 15)."""
    _need(0 <= share <= 1, f"share {share}: expected a number from 0 to 1")
    times = grid()
    rng, labels, values = _noisy(curves(times), noise, per_group, seed)
    thrown = rng.random(values.shape) < share
    values = values + size * thrown * rng.choice([-1.0, 1.0], size=values.shape)
    return TimeCourses.from_arrays(times, values, _names(labels)), labels, thrown


def delayed(
    noise: float = 0.1, delays: tuple[float, ...] = (0.0, 0.1, 0.2), per_group: int = 50, seed: int = 0
) -> tuple[TimeCourses, Ints]:
    """One pulse that comes later in each group: the same shape at other times."""
    _need(len(delays) > 0, "delays (): expected at least one")
    times = grid()
    means = np.stack([np.exp(-(((times - 0.3 - delay) / 0.15) ** 2) / 2) for delay in delays])
    _, labels, values = _noisy(means, noise, per_group, seed)
    return TimeCourses.from_arrays(times, values, _names(labels)), labels


def uneven_errors(low: float = 0.03, high: float = 0.3, per_group: int = 50, seed: int = 0) -> tuple[TimeCourses, Ints]:
    """The profiles with a known standard error for each value, between `low` and `high`, carried by the courses."""
    _need(0 < low <= high, f"low {low} and high {high}: expected 0 < low <= high")
    times = grid()
    rng, labels, values = _noisy(curves(times), 0.0, per_group, seed)
    errors = np.exp(rng.uniform(np.log(low), np.log(high), size=values.shape))
    values = values + errors * rng.standard_normal(values.shape)
    return TimeCourses.from_arrays(times, values, _names(labels), errors=errors), labels


def own_times(
    noise: float = 0.08, visits: tuple[int, int] = (4, 9), per_group: int = 50, seed: int = 0
) -> tuple[TimeCourses, Ints]:
    """The profiles, each course measured at its own random times on [0, 1], as patients come when they come."""
    _check(noise, per_group)
    _need(1 <= visits[0] <= visits[1], f"visits {visits}: expected at least 1, and the smaller number first")
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(3), per_group)
    times = [np.sort(rng.random(n)) for n in rng.integers(visits[0], visits[1] + 1, size=len(labels))]
    values = [curves(x)[g] + noise * rng.standard_normal(len(x)) for g, x in zip(labels, times, strict=True)]
    return TimeCourses.from_arrays(times, values, _names(labels)), labels


def _noisy(means: Floats, noise: float, per_group: int, seed: int) -> tuple[np.random.Generator, Ints, Floats]:
    """Noisy samples of each mean, (N, t), after the generator that made them and the mean of each."""
    _check(noise, per_group)
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(len(means)), per_group)
    return rng, labels, means[labels] + noise * rng.standard_normal((len(labels), means.shape[1]))


def _check(noise: float, per_group: int) -> None:
    _need(noise >= 0, f"noise {noise}: expected zero or more")
    _need(per_group >= 1, f"per_group {per_group}: expected at least 1")


def _need(holds: bool, sentence: str) -> None:
    if not holds:
        raise InputError(f"{sentence}.")


def _names(labels: Ints) -> list[str]:
    within = np.concatenate([np.arange(c) for c in np.bincount(labels)])
    letters = [chr(ord("A") + g) if g < 26 else f"G{g}_" for g in range(int(labels.max()) + 1)]
    return [f"{letters[g]}{k + 1:02d}" for g, k in zip(labels, within, strict=True)]
