"""Courses with known groups, the paper's and harder ones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from timelike.base.arrays import Bools, Floats, Ints
from timelike.courses import TimeCourses
from timelike.exceptions import InputError
from timelike.simulate.need import need

POINTS = 15
SAMPLINGS = ("even", "uneven", "asynchronous")
THROWN = 22.5
"""Standard deviation of how far :func:`smooth` throws a wild value, in units of the noise."""
CLOCK_TIMES = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 12.0, 24.0)
"""Dense early, sparse late: hours after a stimulus, as biologists choose them."""


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
    need(replicates >= 1, f"replicates {replicates}: expected at least 1")
    times = np.repeat([0.0, 0.1, 0.25, 0.5, 0.75, 1.0], replicates)
    _, labels, values = _noisy(curves(times), noise, per_group, seed)
    return TimeCourses.from_arrays(times, values, _names(labels)), labels


def outlying(
    noise: float = 0.08, share: float = 0.02, size: float = 1.0, per_group: int = 50, seed: int = 0
) -> tuple[TimeCourses, Ints, Bools]:
    """The profiles with a `share` of single values thrown off by `size`; the third result marks those, (N, 15)."""
    need(0 <= share <= 1, f"share {share}: expected a number from 0 to 1")
    times = grid()
    rng, labels, values = _noisy(curves(times), noise, per_group, seed)
    thrown = rng.random(values.shape) < share
    values = values + size * thrown * rng.choice([-1.0, 1.0], size=values.shape)
    return TimeCourses.from_arrays(times, values, _names(labels)), labels, thrown


def delayed(
    noise: float = 0.1, delays: tuple[float, ...] = (0.0, 0.1, 0.2), per_group: int = 50, seed: int = 0
) -> tuple[TimeCourses, Ints]:
    """One pulse that comes later in each group: the same shape at other times."""
    need(len(delays) > 0, "delays (): expected at least one")
    times = grid()
    means = np.stack([np.exp(-(((times - 0.3 - delay) / 0.15) ** 2) / 2) for delay in delays])
    _, labels, values = _noisy(means, noise, per_group, seed)
    return TimeCourses.from_arrays(times, values, _names(labels)), labels


class Truth(NamedTuple):
    """What is true about courses of :func:`shifted`: their curve, and how each differs from it, (N,) each."""

    labels: Ints
    delays: Floats
    gains: Floats
    levels: Floats


def shifted(
    noise: float = 0.2,
    delay: float = 0.1,
    gain_sd: float = 0.0,
    level_sd: float = 0.0,
    groups: int = 3,
    per_group: int = 20,
    points: int = 12,
    seed: int = 0,
) -> tuple[TimeCourses, Truth]:
    """Smooth random curves on an even grid on [0, 1], each course with a delay, a size and a level of its own.

    Curves are draws of a GP: squared exponential, length scale a fifth of the span, standard deviation 1.

    Parameters
    ----------
    noise
        Standard deviation of the noise.
    delay
        Courses come up to so much earlier or later than their curve, all equally likely.
    gain_sd
        Standard deviation of the logarithm of their sizes.
    level_sd
        Standard deviation of their levels.
    groups, per_group, points
        Number of curves, of courses with each, and of times.
    seed

    Examples
    --------
    >>> courses, truth = shifted(delay=0.1, gain_sd=0.3, seed=1)
    >>> courses, truth.labels[-1], bool(abs(truth.delays).max() <= 0.1)
    (TimeCourses: 60 courses, 12 times (0 to 1), np.int64(2), True)
    """
    _check_groups(noise, groups, per_group)
    need(points >= 2, f"points {points}: expected at least 2")
    need(0 <= delay <= 1, f"delay {delay}: expected a number from 0 to 1")
    need(min(gain_sd, level_sd) >= 0, f"gain_sd {gain_sd} and level_sd {level_sd}: expected zero or more")
    rng, labels, times = np.random.default_rng(seed), np.repeat(np.arange(groups), per_group), np.linspace(0, 1, points)
    fine = np.linspace(-delay, 1 + delay, 400)
    drawn = _draws(rng, fine, 1 / 5, groups)
    own = rng.uniform(-delay, delay, len(labels)), gain_sd * rng.standard_normal(len(labels))
    truth = Truth(labels, own[0], np.exp(own[1]), level_sd * rng.standard_normal(len(labels)))
    means = np.stack([np.interp(times - h, fine, drawn[g]) for g, h in zip(labels, truth.delays, strict=True)])
    values = truth.levels[:, None] + truth.gains[:, None] * means + noise * rng.standard_normal(means.shape)
    return TimeCourses.from_arrays(times, values, _names(labels)), truth


def uneven_errors(low: float = 0.03, high: float = 0.3, per_group: int = 50, seed: int = 0) -> tuple[TimeCourses, Ints]:
    """The profiles with a known standard error for each value, between `low` and `high`, carried by the courses."""
    need(0 < low <= high, f"low {low} and high {high}: expected 0 < low <= high")
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
    need(1 <= visits[0] <= visits[1], f"visits {visits}: expected at least 1, and the smaller number first")
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(3), per_group)
    times = [np.sort(rng.random(n)) for n in rng.integers(visits[0], visits[1] + 1, size=len(labels))]
    values = [curves(x)[g] + noise * rng.standard_normal(len(x)) for g, x in zip(labels, times, strict=True)]
    return TimeCourses.from_arrays(times, values, _names(labels)), labels


def smooth(
    noise: float = 0.3,
    spread: float = 0.2,
    groups: int = 5,
    per_group: int = 40,
    points: int = 10,
    own_noise: float = 0.0,
    wild: float = 0.0,
    seed: int = 0,
) -> tuple[TimeCourses, Ints, Bools]:
    """Smooth random curves on an even grid on [0, 1], the curve of each course, and a mark of thrown values, (N, t).

    Curves are draws of a GP: squared exponential, length scale a third of the span, standard deviation 1.

    Parameters
    ----------
    noise
        Standard deviation of the noise.
    spread
        Standard deviation of each course's own smooth deviation from its curve, a draw of the same kernel.
    groups, per_group, points
        Number of curves, of courses with each, and of times.
    own_noise
        Standard deviation of the logarithm of the courses' own noise about that of `noise`.
    wild
        Share of single values that are thrown off, by 22.5 times the noise (a standard deviation).
    seed
        What a seed draws stays the same when noise of their own or wild values come on top.

    Examples
    --------
    >>> courses, labels, thrown = smooth(wild=0.05, seed=3)
    >>> courses, labels[[0, 40, 199]], int(thrown.sum())
    (TimeCourses: 200 courses, 10 times (0 to 1), array([0, 1, 4]), 120)
    """
    _check_groups(noise, groups, per_group)
    need(points >= 2, f"points {points}: expected at least 2")
    need(spread >= 0, f"spread {spread}: expected zero or more")
    need(own_noise >= 0, f"own_noise {own_noise}: expected zero or more")
    need(0 <= wild <= 1, f"wild {wild}: expected a number from 0 to 1")
    rng, labels, times = np.random.default_rng(seed), np.repeat(np.arange(groups), per_group), np.linspace(0, 1, points)
    values = _draws(rng, times, 1 / 3, groups)[labels] + spread * _draws(rng, times, 1 / 3, len(labels))
    sd = noise * np.exp(own_noise * rng.standard_normal((len(labels), 1)))
    values = values + sd * rng.standard_normal(values.shape)
    thrown = rng.random(values.shape) < wild
    values = values + THROWN * noise * thrown * rng.standard_normal(values.shape)
    return TimeCourses.from_arrays(times, values, _names(labels)), labels, thrown


def deviating(
    noise: float = 0.1,
    deviation: float = 0.7,
    scales: tuple[float, float] = (0.3, 1.0),
    groups: int = 4,
    per_group: int = 5,
    seed: int = 0,
) -> tuple[TimeCourses, Ints]:
    """Few courses, 8 to 12 random times on [0, 1] each, that differ from their group's curve on a scale of their own.

    The model of MAGMA: the curve of a group and the deviation of a course are draws of GPs (squared exponential).

    Parameters
    ----------
    noise
    deviation
        Standard deviation of the deviations, where curves have 1.
    scales
        Length scales of the curves and of the deviations.
    groups, per_group
        Number of groups, and of courses in each.
    seed

    Examples
    --------
    >>> deviating(seed=3)[0]
    TimeCourses: 20 courses, own times (8 to 12 each, 0.00114841 to 0.999803)
    """
    _check_groups(noise, groups, per_group)
    need(deviation >= 0, f"deviation {deviation}: expected zero or more")
    need(min(scales) > 0, f"scales {scales}: expected two numbers above zero")
    rng, labels = np.random.default_rng(seed), np.repeat(np.arange(groups), per_group)
    sizes = rng.integers(8, 13, size=len(labels))
    times, owner, at = rng.random(sizes.sum()), np.repeat(np.arange(len(labels)), sizes), np.arange(sizes.sum())
    values = _draws(rng, times, scales[0], groups)[labels[owner], at]
    values += deviation * _draws(rng, times, scales[1], len(labels))[owner, at]
    values += noise * rng.standard_normal(len(values))
    cuts = np.cumsum(sizes)[:-1]
    return TimeCourses.from_arrays(np.split(times, cuts), np.split(values, cuts), _names(labels)), labels


def on_clock(
    tau: float = 2.0, noise: float = 0.1, groups: int = 20, per_group: int = 10, seed: int = 0
) -> tuple[TimeCourses, Ints]:
    """Curves that are ever slower, at 8 times from 0 to 24, dense early: smooth in ``tau log(1 + t / tau)``.

    Draws of a GP on that clock: squared exponential, length scale a third of the span of the clock, standard
    deviation 1. With ``tau=math.inf`` the clock is time itself.

    Examples
    --------
    >>> on_clock(seed=3)[0]
    TimeCourses: 200 courses, 8 times (0 to 24)
    """
    _check_groups(noise, groups, per_group)
    need(tau > 0, f"tau {tau}: expected a number above zero")
    times = np.array(CLOCK_TIMES)
    clock = times if np.isinf(tau) else tau * np.log1p(times / tau)
    rng, labels = np.random.default_rng(seed), np.repeat(np.arange(groups), per_group)
    values = _draws(rng, clock, clock[-1] / 3, groups)[labels]
    values = values + noise * rng.standard_normal(values.shape)
    return TimeCourses.from_arrays(times, values, _names(labels)), labels


def _draws(rng: np.random.Generator, times: Floats, length_scale: float, count: int) -> Floats:
    """Curves of a GP at `times`, (count, t): squared exponential, standard deviation 1."""
    K = np.exp(-(((times[:, None] - times) / length_scale) ** 2) / 2)
    # A smooth kernel is singular to machine precision; a ten-thousandth of the signal on top is not seen.
    return rng.standard_normal((count, len(times))) @ np.linalg.cholesky(K + 1e-8 * np.eye(len(times))).T


def _noisy(means: Floats, noise: float, per_group: int, seed: int) -> tuple[np.random.Generator, Ints, Floats]:
    """Noisy samples of each mean, (N, t), after the generator that made them and the mean of each."""
    _check(noise, per_group)
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(len(means)), per_group)
    return rng, labels, means[labels] + noise * rng.standard_normal((len(labels), means.shape[1]))


def _check(noise: float, per_group: int) -> None:
    need(noise >= 0, f"noise {noise}: expected zero or more")
    need(per_group >= 1, f"per_group {per_group}: expected at least 1")


def _check_groups(noise: float, groups: int, per_group: int) -> None:
    _check(noise, per_group)
    need(groups >= 1, f"groups {groups}: expected at least 1")


def _names(labels: Ints) -> list[str]:
    within = np.concatenate([np.arange(c) for c in np.bincount(labels)])
    letters = [chr(ord("A") + g) if g < 26 else f"G{g}_" for g in range(int(labels.max()) + 1)]
    return [f"{letters[g]}{k + 1:02d}" for g, k in zip(labels, within, strict=True)]
