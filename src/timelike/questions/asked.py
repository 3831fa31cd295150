"""Asked: what genes' values say about effects of every shape and size, whatever the level, the shared curve, the noise.

This is the common core of :func:`timelike.changing` and :func:`timelike.compare`. An effect is a contrast between
conditions times a shape over time times a size; each gene has evidence for each of them, and the shares of the effects
among genes are learned from all genes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from timelike.base import odds
from timelike.base.arrays import Bools, Floats, Ints
from timelike.base.own_noise import OwnNoise
from timelike.base.threads import Crew
from timelike.base.tiles import Compute
from timelike.questions.effects import Known, eliminated, evidence, residual, spectrum
from timelike.questions.measured import Measured
from timelike.questions.shapes import Shape


class Contrast(NamedTuple):
    """How conditions differ under a hypothesis: the curve of condition c is off by ``weights[c] @ effects``."""

    name: str
    weights: Floats
    """(C, B - 1) for B groups of conditions that are alike."""


class Nuisance(NamedTuple):
    """What is summed out under every hypothesis: columns over all coordinates, the first `free` of them of any size."""

    factor: Floats
    free: int


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked of genes."""

    measured: Measured
    contrasts: tuple[Contrast, ...]
    shapes: tuple[Shape, ...]
    nuisances: tuple[Nuisance, ...]
    saturated: Nuisance
    """What a gene's noise is told apart from."""
    factors: tuple[Floats, ...] = field(init=False)

    def __post_init__(self) -> None:
        made = tuple(self.measured.coordinates.factor(shape.kernel) for shape in self.shapes)
        object.__setattr__(self, "factors", made)

    @property
    def shape_of(self) -> Ints:
        """The shape of each effect: all sizes of the first shape, then those of the next, (K,)."""
        return np.repeat(np.arange(len(self.shapes)), [len(shape.sizes) for shape in self.shapes])

    @property
    def counted(self) -> Bools:
        """Which effects are answers "yes", (K,)."""
        return np.array([shape.counts for shape in self.shapes])[self.shape_of]

    def variances(self, genes: Ints, shape: Shape, scale: Floats) -> Iterator[Floats | float]:
        """The variances of the effects of a shape, at scales (n, m) of the noise."""
        typical = 1.0 if shape.counts else self.measured.typical[genes, None] * scale
        yield from (size**2 * typical for size in shape.sizes)

    def effects(self, contrast: Contrast) -> Iterator[Floats]:
        """The columns of each shape under a contrast, (C r, (B - 1) q)."""
        return (self.measured.padded(np.kron(contrast.weights, factor)) for factor in self.factors)


@dataclass(frozen=True, eq=False)
class Answer:
    """Evidence of all genes for all effects, and what was learned from them.

    Attributes
    ----------
    evidence : (N, contrasts, K)
        Log likelihood ratio to "no effect".
    possible : (N, contrasts)
        Whether a gene was measured where a contrast makes a difference.
    shares
    own_noise
    scale : (N,)
        Of each gene's noise variance, as far as its values tell.
    nuisance : (N,)
        The likeliest of the nuisances.
    counted : (K,)
        Which effects are answers "yes"; the others are part of "no".
    """

    evidence: Floats
    possible: Floats
    shares: odds.Shares
    own_noise: OwnNoise
    scale: Floats
    nuisance: Ints
    counted: Bools

    @property
    def log_bayes_factor(self) -> Floats:
        """Of "yes", an effect of any contrast, shape and size, to "no", (N,)."""
        weights, count = self._log_weights, len(self.evidence)
        no = np.logaddexp(log_sum(weights[:, :, ~self.counted].reshape(count, -1)), self._log_none)
        return log_sum(weights[:, :, self.counted].reshape(count, -1)) - no - self._log_odds

    @property
    def share(self) -> Floats:
        """Share of "yes" among genes like each, before its own values are looked at, (N,)."""
        prior = np.exp(self._log_prior[:, self.counted]).sum(axis=1)
        return np.clip((self.possible * prior).sum(axis=1), 1e-300, 1 - 1e-16)

    @property
    def posterior(self) -> Floats:
        """Probability of each contrast, shape and size of effect, (N, contrasts, K); the rest is none.

        Where most genes are a "yes", they speak for a gene as much as it speaks for itself at most: one whose values
        say nothing is not called because the others are.
        """
        cautious = np.maximum(self._log_odds - np.maximum(self.log_bayes_factor, 0), 0)
        cautious = np.where(self._log_odds > 0, np.minimum(cautious, self._log_odds), 0)
        weights = self._log_weights + np.where(self.counted, 0, cautious[:, None, None])
        none = self._log_none + cautious
        total = np.logaddexp(log_sum(weights.reshape(len(weights), -1)), none)
        return np.exp(weights - total[:, None, None])

    @property
    def _log_odds(self) -> Floats:
        return np.asarray(np.log(self.share) - np.log1p(-self.share))

    @property
    def _log_none(self) -> Floats:
        untold = np.where(self.possible > 0, 0, self.shares.kinds[1:]).sum(axis=1)
        return np.log(self.shares.kinds[0] + untold)

    @property
    def _log_weights(self) -> Floats:
        return np.where(self.possible[:, :, None] > 0, self.evidence + self._log_prior, -np.inf)

    @property
    def _log_prior(self) -> Floats:
        """Log share of each contrast and effect among all genes, (contrasts, K)."""
        return np.log(self.shares.kinds[1:])[:, None] + np.log(self.shares.effects)


def answered(
    question: Question, own_noise: OwnNoise | None = None, *, threads: int | None = None, client: Any = None
) -> Answer:
    """The answer to a question: evidence of every gene, and what all of them say about shares of effects and noise.

    `own_noise`: what is known about it already, instead of what the genes say.
    """
    crew, pieces = Crew(question, threads, client), list(question.measured.pieces())

    def of_all(compute: Compute) -> list[Any]:
        parts = crew.in_order(compute, pieces, "evidence", unit="piece")
        return [np.concatenate(columns) for columns in zip(*parts, strict=True)]

    residual, freedom = of_all(_residuals)
    noise = own_noise or OwnNoise.learned(residual, freedom)
    least = noise.expected(residual, freedom)
    weights: Floats = np.zeros(1)
    if len(question.nuisances) > 1:
        weights = _nuisance_weights(of_all(_Heights(noise, least))[0])
    found, nuisance = of_all(_Evidence(noise, least, freedom, weights))
    possible = _possible(question)
    return Answer(found, possible, odds.learned(found, possible), noise, least, nuisance, question.counted)


def _residuals(question: Question, genes: Ints) -> tuple[Floats, Floats]:
    """Sum of squares of each gene that its own curves under all conditions leave, and its degrees of freedom."""
    return residual(eliminated(question.measured.known(genes), *question.saturated))


@dataclass(frozen=True, eq=False)
class _Heights:
    """Computes how well each nuisance suits some genes, (n, F), if they have no effect."""

    noise: OwnNoise
    scale: Floats

    def __call__(self, question: Question, genes: Ints) -> tuple[Floats]:
        known, scale = question.measured.known(genes), self.scale[genes, None]
        left = [eliminated(known, one.factor, one.free) for one in question.nuisances]
        return (np.column_stack([height(rest, self.noise, scale)[:, 0] for rest in left]),)


def _nuisance_weights(heights: Floats) -> Floats:
    """Log shares of the nuisances, learned from all genes as if none had an effect, (F,)."""
    count = heights.shape[1]
    shares: Floats = np.full(count, 1 / count)
    for _ in range(200):
        weight = np.exp(heights - heights.max(axis=1, keepdims=True)) * shares
        shares = (weight / weight.sum(axis=1, keepdims=True)).mean(axis=0)
    return np.log(np.maximum(shares, 1e-12))


@dataclass(frozen=True, eq=False)
class _Evidence:
    """Computes the evidence of some genes for every contrast and effect, and their nuisance."""

    noise: OwnNoise
    least: Floats
    freedom: Floats
    weights: Floats

    def __call__(self, question: Question, genes: Ints) -> tuple[Floats, Ints]:
        known = question.measured.known(genes)
        left = [eliminated(known, one.factor, one.free) for one in question.nuisances]
        scales = scales_of(left, self.noise, self.least[genes], self.freedom[genes])
        return evidence_of(question, genes, left, self.weights, self.noise, scales)


def height(rest: Known, noise: OwnNoise, scales: Floats) -> Floats:
    """Log of prior of the scale times likelihood without an effect, (n, m)."""
    return noise.log_weights(scales, rest.squares, rest.freedom) - rest.log_det[:, None] / 2


def scales_of(left: list[Known], noise: OwnNoise, least: Floats, freedom: Floats) -> Floats:
    """Scales of the noise of some genes, from those with an effect to those without, (n, m)."""
    most = np.max([noise.expected(rest.squares, np.maximum(rest.freedom, 0)) for rest in left], axis=0)
    return noise.grid(least, most, freedom)


def evidence_of(
    question: Question, genes: Ints, left: list[Known], weights: Floats, noise: OwnNoise, scales: Floats
) -> tuple[Floats, Ints]:
    """Evidence of some genes for every contrast and effect, (n, contrasts, K), and their nuisance."""
    heights = [height(rest, noise, scales) + weight for rest, weight in zip(left, weights, strict=True)]
    without = np.stack(heights, axis=1)  # (n, nuisances, m)
    none = log_sum(without.reshape(len(genes), -1))
    found = np.empty((len(genes), len(question.contrasts), len(question.shape_of)))
    for c, contrast in enumerate(question.contrasts):
        place = 0
        for shape, effect in zip(question.shapes, question.effects(contrast), strict=True):
            spectra = [spectrum(rest, effect) for rest in left]
            for variance in question.variances(genes, shape, scales):
                together = np.stack([evidence(one, variance, scales) for one in spectra], axis=1)
                together += without
                found[:, c, place] = log_sum(together.reshape(len(genes), -1)) - none
                place += 1
    return found, without.max(axis=2).argmax(axis=1)


def _possible(question: Question) -> Floats:
    """Whether each gene was measured in conditions that a contrast tells apart, (N, contrasts)."""
    present = question.measured.place >= 0
    found = np.zeros((len(present), len(question.contrasts)))
    for c, contrast in enumerate(question.contrasts):
        if len(contrast.weights) == 1:
            found[:, c] = present[:, 0]
            continue
        apart = (contrast.weights[:, None] != contrast.weights).any(axis=2)
        found[:, c] = np.einsum("na,ab,nb->n", present, apart, present) > 0
    return found


def log_sum(logs: Floats) -> Floats:
    """Logarithm of the sum of exponentials along the last axis; of none at all, -inf."""
    top = logs.max(axis=-1, initial=-np.inf)
    top = np.where(np.isfinite(top), top, 0)
    with np.errstate(divide="ignore"):
        return np.asarray(top + np.log(np.exp(logs - top[..., None]).sum(axis=-1)))


# -- curves of effects ---------------------------------------------------------------------------------------------


class Moments(NamedTuple):
    """Mean and variance of an effect at some times, if there is one, (n, T) each; NaN where nothing can tell."""

    mean: Floats
    variance: Floats


def effect_at(question: Question, answer: Answer, genes: Ints, times: Floats, between: tuple[int, int]) -> Moments:
    """The effect at times (T, 1) on the curve of one condition against another (second less first), if they differ.

    With ``between=(0, 0)``: the effect on the only condition, from its mean over the coordinates on, as its level is
    free.
    """
    mean, square, total = _zeros(len(genes), len(times))
    weights = answer.posterior[genes]
    for k in range(len(question.nuisances)):
        own = np.flatnonzero(answer.nuisance[genes] == k)
        for some in np.array_split(own, max(1, len(own) * len(times) // 200_000)):
            if len(some):
                parts = _parts(question, answer, genes[some], weights[some], times, between, k)
                mean[some], square[some], total[some] = parts
    with np.errstate(invalid="ignore", divide="ignore"):
        mean, square = mean / total[:, None], square / total[:, None]
    return Moments(mean, np.maximum(square - mean**2, 0))


def _zeros(n: int, count: int) -> tuple[Floats, Floats, Floats]:
    return np.zeros((n, count)), np.zeros((n, count)), np.zeros(n)


def _parts(
    question: Question, answer: Answer, genes: Ints, weights: Floats, times: Floats, between: tuple[int, int], k: int
) -> tuple[Floats, Floats, Floats]:
    """Weighted sums over all effects of means, of mean squares and of weights, of genes with the k-th nuisance."""
    nuisance, coordinates = question.nuisances[k], question.measured.coordinates
    known = eliminated(question.measured.known(genes), nuisance.factor, nuisance.free)
    scale = answer.scale[genes, None]
    mean, square, total = _zeros(len(genes), len(times))
    for c, contrast in enumerate(question.contrasts):
        first, second = contrast.weights[list(between)]
        apart = second - first if between[0] != between[1] else second
        if not apart.any():
            continue
        for s, (shape, effect) in enumerate(zip(question.shapes, question.effects(contrast), strict=True)):
            if not shape.counts:
                continue
            found = spectrum(known, effect)
            columns = coordinates.factor_at(shape.kernel, times)
            rest = np.maximum(shape.kernel.diag(times) - (columns**2).sum(axis=1), 0) * (apart**2).sum()
            if between[0] == between[1]:
                columns = columns - question.factors[s].mean(axis=0)
            seen = np.kron(apart, columns) @ found.axes  # (n, T, q)
            for size, place in zip(shape.sizes, np.flatnonzero(question.shape_of == s), strict=True):
                shrunk = size**2 / (scale + size**2 * found.values)
                middle = (seen @ (shrunk * found.loads)[:, :, None])[:, :, 0]
                spread = (seen**2 @ (shrunk * scale)[:, :, None])[:, :, 0] + size**2 * rest
                weight = weights[:, c, place, None]
                mean += weight * middle
                square += weight * (spread + middle**2)
                total += weight[:, 0]
    return mean, square, total


def drawn_effects(
    question: Question, answer: Answer, genes: Ints, times: Floats, draws: int, seed: int
) -> Iterator[tuple[Ints, Floats]]:
    """Some genes at a time, and draws of their effect on the only condition, if there is one, at times (T, 1).

    Draws are (n, draws, T).
    """
    rng = np.random.default_rng(seed)
    step = max(1, 5_000_000 // (draws * len(times)))
    for first in range(0, len(genes), step):
        some = genes[first : first + step]
        weights = np.where(answer.counted, answer.posterior[some, 0], 0)
        yield some, _draws(question, answer, some, weights / weights.sum(axis=1, keepdims=True), times, draws, rng)


def _draws(
    question: Question,
    answer: Answer,
    genes: Ints,
    weights: Floats,
    times: Floats,
    draws: int,
    rng: np.random.Generator,
) -> Floats:
    nuisance, coordinates = question.nuisances[0], question.measured.coordinates
    known = eliminated(question.measured.known(genes), nuisance.factor, nuisance.free)
    scale = answer.scale[genes]
    counts = rng.multinomial(draws, weights)
    found, done = np.empty((len(genes), draws, len(times))), np.zeros(len(genes), dtype=np.intp)
    for s, (shape, effect) in enumerate(zip(question.shapes, question.effects(question.contrasts[0]), strict=True)):
        one, columns = spectrum(known, effect), coordinates.factor_at(shape.kernel, times)
        for size, number in zip(shape.sizes, counts.T[question.shape_of == s], strict=True):
            of = np.repeat(np.arange(len(genes)), number)
            if len(of) == 0:
                continue
            shrunk = size**2 / (scale[:, None] + size**2 * one.values)
            noise = np.sqrt(shrunk * scale[:, None])[of] * rng.standard_normal((len(of), one.values.shape[1]))
            drawn = (one.axes[of] @ ((shrunk * one.loads)[of] + noise)[:, :, None])[:, :, 0] @ columns.T
            place = np.arange(len(of)) - np.repeat(np.cumsum(number) - number, number)
            found[of, done[of] + place] = drawn
            done += number
    return found
