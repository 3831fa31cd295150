"""Made-up courses with known groups, the paper's and harder ones, and counts with known differences. All seeded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from timelike.base.arrays import Bools, Floats, Ints
from timelike.courses import TimeCourses
from timelike.exceptions import InputError

POINTS = 15
SAMPLINGS = ("even", "uneven", "asynchronous")
THROWN = 22.5
"""Standard deviation of how far :func:`smooth` throws a wild value, in units of the noise."""
CLOCK_TIMES = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 12.0, 24.0)
"""Dense early, sparse late: hours after a stimulus, as biologists choose them."""
DISPERSIONS = ("log-normal", "inverse chi-square")


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
    _need(points >= 2, f"points {points}: expected at least 2")
    _need(0 <= delay <= 1, f"delay {delay}: expected a number from 0 to 1")
    _need(min(gain_sd, level_sd) >= 0, f"gain_sd {gain_sd} and level_sd {level_sd}: expected zero or more")
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
    _need(points >= 2, f"points {points}: expected at least 2")
    _need(spread >= 0, f"spread {spread}: expected zero or more")
    _need(own_noise >= 0, f"own_noise {own_noise}: expected zero or more")
    _need(0 <= wild <= 1, f"wild {wild}: expected a number from 0 to 1")
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
    _need(deviation >= 0, f"deviation {deviation}: expected zero or more")
    _need(min(scales) > 0, f"scales {scales}: expected two numbers above zero")
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
    _need(tau > 0, f"tau {tau}: expected a number above zero")
    times = np.array(CLOCK_TIMES)
    clock = times if np.isinf(tau) else tau * np.log1p(times / tau)
    rng, labels = np.random.default_rng(seed), np.repeat(np.arange(groups), per_group)
    values = _draws(rng, clock, clock[-1] / 3, groups)[labels]
    values = values + noise * rng.standard_normal(values.shape)
    return TimeCourses.from_arrays(times, values, _names(labels)), labels


# -- counts of two conditions ----------------------------------------------------------------------------------------


def _flat(x: Floats, u: Floats) -> Floats:
    return np.zeros_like(u * x)


def _rise(x: Floats, at: Floats | float, width: float = 0.08) -> Floats:
    return 1 / (1 + np.exp(-(x - at) / width))


def _bump(x: Floats, at: Floats | float) -> Floats:
    return np.exp(-(((x - at) / 0.15) ** 2) / 2)


def _impulse(x: Floats, u: Floats) -> Floats:
    """Up soon after the start, half of the way back later."""
    return _rise(x, 0.15 + 0.2 * u) * (1 - 0.6 * _rise(x, 0.7))


def _spike(x: Floats, u: Floats) -> Floats:
    """One at a single time after the first."""
    return 1.0 * (np.arange(len(x)) == np.abs(x - np.maximum(u, x[1])).argmin(axis=1)[:, None])


Shape = Callable[[Floats, Floats], Floats]
"""A curve at places x from 0 to 1, (t,), for each of some genes with a number u from 0 to 1 of its own, (n, 1)."""
CHANGES: dict[str, Shape] = {
    "impulse": _impulse,
    "step": lambda x, u: _rise(x, 0.2 + 0.5 * u),
    "ramp": lambda x, u: x + 0 * u,
    "oscillation": lambda x, u: np.sin(2 * np.pi * (x + u)),
}
"""How genes change over time in both conditions alike."""
DIFFERENCES: dict[str, tuple[Shape, Shape]] = {
    "early": (_flat, lambda x, u: (x > 0) * _bump(x, 0.15 + 0.15 * u)),
    "middle": (_flat, lambda x, u: _bump(x, 0.4 + 0.2 * u)),
    "late": (_flat, lambda x, u: _rise(x, 0.75 + 0.15 * u, 0.05)),
    "sustained": (_flat, lambda x, u: _rise(x, 0.2 + 0.3 * u)),
    "level": (_flat, lambda x, u: np.ones_like(u * x)),
    "gradual": (_flat, lambda x, u: x + 0 * u),
    "fading": (_flat, lambda x, u: 1 - x + 0 * u),
    "spike": (_flat, _spike),
    "crossing": (_flat, lambda x, u: np.cos(np.pi * x + u - 0.5)),
    "delayed": (lambda x, u: _rise(x, 0.15 + 0 * u), lambda x, u: _rise(x, 0.5 + 0.2 * u)),
    "damped": (_impulse, lambda x, u: (0.1 + 0.4 * u) * _impulse(x, u)),
    "reversed": (_impulse, lambda x, u: -_impulse(x, u)),
}
"""The shapes of control and treated that make each kind of difference, before size and direction."""
PATTERNS = tuple(f"{kind} {direction}" for kind in DIFFERENCES for direction in ("up", "down"))
"""The 24 ways in which genes of :func:`counts` differ: what the treated do, or which response they delay or lose."""


@dataclass(frozen=True)
class SimulatedCounts:
    """Counts of genes in samples of two conditions, and what is true about them.

    Attributes
    ----------
    counts
        (genes, samples).
    times, conditions, replicates
        Of each sample, (samples,); conditions are ``"control"`` and ``"treated"``.
    names
        Of the genes.
    different
        Whether the conditions differ, (genes,).
    pattern
        Which of :data:`PATTERNS`, (genes,); -1 where the conditions do not differ.
    log2_means
        Expected counts in a library of size 1, log2, (genes, samples).
    library_sizes
        What the expected counts of each sample are multiplied by, (samples,).
    dispersions
        Of the negative binomial, (genes,): ``variance = mean + dispersion * mean^2``.
    outlying
        Counts that were multiplied by ten, (genes, samples).
    """

    counts: Ints
    times: Floats
    conditions: np.ndarray[tuple[int], np.dtype[np.str_]]
    replicates: Ints
    names: tuple[str, ...]
    different: Bools
    pattern: Ints
    log2_means: Floats
    library_sizes: Floats
    dispersions: Floats
    outlying: Bools


def counts(
    genes: int = 2000,
    times: Sequence[float] = CLOCK_TIMES,
    replicates: int = 3,
    different: float = 0.06,
    patterns: Sequence[str] = PATTERNS,
    dispersions: str = "log-normal",
    dispersion_spread: float = 0.5,
    outliers: float = 0.0,
    seed: int = 0,
) -> SimulatedCounts:
    """Negative binomial counts, as of RNA sequencing, of two conditions over time, and which genes differ and how.

    Mean counts spread over four decades (log-normal, median 63), so that some genes are hardly ever seen. Dispersions
    are ``0.05 + 2 / mean`` times a factor of each gene's own. Libraries differ in size by up to a factor of two. A
    third of the genes change over time in both conditions alike. Where conditions differ, the largest difference over
    the times is 0.5 to 3 in log2. Shapes run on the order of the times, as one chooses times where much happens.

    Parameters
    ----------
    genes
    times
        Two or more, rising; every condition has samples at all of them.
    replicates
        Samples of each condition at each time.
    different
        Share of the genes that differ between the conditions.
    patterns
        The ways in which they differ, in equal shares: some of :data:`PATTERNS`.
    dispersions
        What the genes' own factors are drawn from: ``"log-normal"`` or ``"inverse chi-square"``.
    dispersion_spread
        Standard deviation of the logarithm of these factors.
    outliers
        Share of single counts that are multiplied by ten.
    seed
        What a seed draws stays the same when outliers come on top.

    Examples
    --------
    >>> made = counts(genes=500, times=(0, 2, 8, 24), replicates=2, seed=1)
    >>> made.counts.shape, made.conditions[[0, 15]].tolist(), int(made.different.sum())
    ((500, 16), ['control', 'treated'], 30)
    >>> PATTERNS[made.pattern.max()]
    'reversed down'
    """
    _check_counts(genes, times, replicates, patterns)
    _need(0 <= different <= 1, f"different {different}: expected a number from 0 to 1")
    _need(0 <= outliers <= 1, f"outliers {outliers}: expected a number from 0 to 1")
    rng = np.random.default_rng(seed)
    pattern = _allotted(rng, genes, different, patterns)
    base = 10 ** rng.normal(1.8, 1.0, genes)
    two_curves = np.log2(base)[:, None, None] + _two_curves(rng, pattern, len(times))
    log2_means = np.repeat(two_curves, replicates, axis=2).reshape(genes, -1)
    phi = (0.05 + 2 / base) * _factors(rng, dispersions, dispersion_spread, genes)
    sizes = 2 ** rng.uniform(-0.5, 0.5, log2_means.shape[1])
    rates = rng.gamma(1 / phi[:, None], phi[:, None] * sizes * 2**log2_means)
    values = rng.poisson(rates)
    outlying = rng.random(values.shape) < outliers
    return SimulatedCounts(
        counts=np.where(outlying, 10 * values, values),
        times=np.tile(np.repeat(np.asarray(times, float), replicates), 2),
        conditions=np.repeat(["control", "treated"], len(times) * replicates),
        replicates=np.tile(np.arange(replicates), 2 * len(times)),
        names=tuple(f"gene{i + 1:0{len(str(genes))}d}" for i in range(genes)),
        different=pattern >= 0,
        pattern=pattern,
        log2_means=log2_means,
        library_sizes=sizes,
        dispersions=phi,
        outlying=outlying,
    )


def _allotted(rng: np.random.Generator, genes: int, different: float, patterns: Sequence[str]) -> Ints:
    """A pattern for a share of the genes, -1 for the others."""
    chosen = np.array([PATTERNS.index(name) for name in patterns])
    pattern = np.full(genes, -1)
    places = rng.permutation(genes)[: round(different * genes)]
    pattern[places] = chosen[np.arange(len(places)) % len(chosen)]
    return pattern


def _two_curves(rng: np.random.Generator, pattern: Ints, points: int) -> Floats:
    """What time and condition add to the level of each gene, log2, (genes, 2, points)."""
    x, genes = np.linspace(0, 1, points), len(pattern)
    kind = np.where(rng.random(genes) < 1 / 3, rng.integers(0, len(CHANGES), genes), -1)
    size = rng.choice([-1.0, 1.0], (genes, 1)) * rng.uniform(0.5, 2.5, (genes, 1))
    effect = np.where(pattern % 2 == 0, 1.0, -1.0)[:, None] * rng.uniform(0.5, 3.0, (genes, 1))
    u = rng.random((genes, 1))
    added = np.zeros((genes, 2, points))
    for number, change in enumerate(CHANGES.values()):
        own = kind == number
        added[own] += (size[own] * change(x, u[own]))[:, None]
    for number, shapes in enumerate(DIFFERENCES.values()):
        own = (pattern >= 0) & (pattern // 2 == number)
        pair = np.stack([shape(x, u[own]) for shape in shapes], axis=1)
        largest = np.abs(pair[:, 1] - pair[:, 0]).max(axis=1, keepdims=True)
        added[own] += (effect[own] / largest)[:, None] * pair
    return added


def _factors(rng: np.random.Generator, kind: str, spread: float, count: int) -> Floats:
    """Genes' own factors about 1, whose logarithms have the standard deviation `spread`."""
    _need(kind in DISPERSIONS, f"there are no dispersions {kind!r}: choose from {', '.join(DISPERSIONS)}")
    _need(0 <= spread < np.inf, f"dispersion_spread {spread}: expected zero or more")
    if kind == "log-normal" or spread == 0:
        return np.exp(spread * rng.standard_normal(count))
    # The logarithm of chi-square(n) / n has the variance trigamma(n / 2), which is near 2/n + 2/n^2.
    freedom = (1 + np.sqrt(1 + 2 * spread**2)) / spread**2
    return freedom / rng.chisquare(freedom, count)


def _check_counts(genes: int, times: Sequence[float], replicates: int, patterns: Sequence[str]) -> None:
    _need(genes >= 1, f"genes {genes}: expected at least 1")
    _need(replicates >= 1, f"replicates {replicates}: expected at least 1")
    rising = bool(np.isfinite(times).all() and (np.diff(times) > 0).all())
    _need(len(times) >= 2 and rising, f"times {times}: expected two or more numbers, each above the one before")
    unknown = [name for name in patterns if name not in PATTERNS]
    _need(not unknown, f"there is no pattern {unknown[:1]}: choose patterns from {', '.join(PATTERNS)}")
    _need(len(patterns) > 0, "patterns (): expected at least one")


# -- shared ----------------------------------------------------------------------------------------------------------


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
    _need(noise >= 0, f"noise {noise}: expected zero or more")
    _need(per_group >= 1, f"per_group {per_group}: expected at least 1")


def _check_groups(noise: float, groups: int, per_group: int) -> None:
    _check(noise, per_group)
    _need(groups >= 1, f"groups {groups}: expected at least 1")


def _need(holds: bool, sentence: str) -> None:
    if not holds:
        raise InputError(f"{sentence}.")


def _names(labels: Ints) -> list[str]:
    within = np.concatenate([np.arange(c) for c in np.bincount(labels)])
    letters = [chr(ord("A") + g) if g < 26 else f"G{g}_" for g in range(int(labels.max()) + 1)]
    return [f"{letters[g]}{k + 1:02d}" for g, k in zip(labels, within, strict=True)]
