"""counts: negative binomial counts of two conditions over time, and which genes differ and how."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from timelike.base.arrays import Bools, Floats, Ints
from timelike.simulate.groups import CLOCK_TIMES
from timelike.simulate.need import need

DISPERSIONS = ("log-normal", "inverse chi-square")


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
    need(0 <= different <= 1, f"different {different}: expected a number from 0 to 1")
    need(0 <= outliers <= 1, f"outliers {outliers}: expected a number from 0 to 1")
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
    need(kind in DISPERSIONS, f"there are no dispersions {kind!r}: choose from {', '.join(DISPERSIONS)}")
    need(0 <= spread < np.inf, f"dispersion_spread {spread}: expected zero or more")
    if kind == "log-normal" or spread == 0:
        return np.exp(spread * rng.standard_normal(count))
    # The logarithm of chi-square(n) / n has the variance trigamma(n / 2), which is near 2/n + 2/n^2.
    freedom = (1 + np.sqrt(1 + 2 * spread**2)) / spread**2
    return freedom / rng.chisquare(freedom, count)


def _check_counts(genes: int, times: Sequence[float], replicates: int, patterns: Sequence[str]) -> None:
    need(genes >= 1, f"genes {genes}: expected at least 1")
    need(replicates >= 1, f"replicates {replicates}: expected at least 1")
    rising = bool(np.isfinite(times).all() and (np.diff(times) > 0).all())
    need(len(times) >= 2 and rising, f"times {times}: expected two or more numbers, each above the one before")
    unknown = [name for name in patterns if name not in PATTERNS]
    need(not unknown, f"there is no pattern {unknown[:1]}: choose patterns from {', '.join(PATTERNS)}")
    need(len(patterns) > 0, "patterns (): expected at least one")
