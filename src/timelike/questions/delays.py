"""Delays: whether two conditions differ in nothing but when, and by how much."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from timelike.base.arrays import Floats, Ints
from timelike.base.blas import one_thread_below
from timelike.questions.asked import Answer, Nuisance, Question, evidence_of, height, log_sum, scales_of
from timelike.questions.effects import eliminated, residual
from timelike.questions.measured import Measured
from timelike.questions.modelling import summed_out

if TYPE_CHECKING:
    from sklearn.gaussian_process.kernels import Kernel

STEPS = 8
LONGEST = 1 / 4
"""The longest delay that is sought, as a share of the span of the times."""
TYPICAL = 1 / 10
"""Standard deviation of delays, likewise."""
CURVES = (1.0, 4.0)
"""Sizes of the curves that may be delayed, in units of the model's signal."""


class Delays(NamedTuple):
    """Of genes: log odds of a delay alone to any other difference, and the delay of the second condition, (n,) each."""

    log_odds: Floats
    delay: Floats


def delays(question: Question, answer: Answer, kernel: Kernel, signal_sd: float, genes: Ints) -> Delays:
    """How likely the curves of genes under two conditions are the same but for a delay, against other differences.

    Both are seen against the same smooth curve for both conditions, which only smooth curves can be.
    """
    points = question.measured.coordinates.points
    steps = np.arange(1, STEPS + 1) * LONGEST * float(np.ptp(points)) / STEPS
    shifts = np.concatenate([-steps[::-1], steps])
    here = question.measured.of(genes)
    smooth = replace(question, measured=here, nuisances=_curves(here, kernel, 0.0, signal_sd))
    own = replace(answer, scale=answer.scale[genes])
    found = [_heights(smooth, own, shifts, kernel, signal_sd, some) for some in smooth.measured.pieces()]
    other, late = (np.concatenate(parts) for parts in zip(*found, strict=True))
    top = late.max(axis=1, keepdims=True)
    prior = np.exp(-((shifts / (TYPICAL * float(np.ptp(points)))) ** 2) / 2)
    weight = np.exp(late - top) * prior / prior.sum()
    ratio = top[:, 0] + np.log(weight.sum(axis=1)) - other
    return Delays(ratio, weight @ shifts / weight.sum(axis=1))


def _heights(
    question: Question, answer: Answer, shifts: Floats, kernel: Kernel, signal_sd: float, genes: Ints
) -> tuple[Floats, Floats]:
    """Log likelihood of some genes with any other difference, (n,), and with each delay, (n, shifts)."""
    noise = answer.own_noise
    with one_thread_below():
        known = question.measured.known(genes)
        left = [eliminated(known, *one) for one in question.nuisances]
        _, freedom = residual(eliminated(known, *question.saturated))
        scales = scales_of(left, noise, answer.scale[genes], freedom)
        none = np.concatenate([height(one, noise, scales) for one in left], axis=1)
        found, _ = evidence_of(question, genes, left, np.zeros(len(left)), noise, scales)
        effects = np.where(answer.counted, np.log(answer.shares.effects), -np.inf)
        other = log_sum((found + effects).reshape(len(genes), -1)) - log_sum(effects[None]) + log_sum(none)
        late = []
        for shift in shifts:
            shifted = [eliminated(known, *one) for one in _curves(question.measured, kernel, shift, signal_sd)]
            late.append(log_sum(np.concatenate([height(one, noise, scales) for one in shifted], axis=1)))
    return other, np.stack(late, axis=1)


def _curves(measured: Measured, kernel: Kernel, shift: float, signal_sd: float) -> tuple[Nuisance, ...]:
    """One curve around any level, of several sizes, which the second condition has so much later than the first."""
    points = measured.coordinates.points
    value, axes = np.linalg.eigh(kernel(np.concatenate([points, points - shift])))
    kept = value > 1e-8 * value[-1]
    columns = axes[:, kept] * np.sqrt(value[kept])
    level = np.ones((len(columns), 1))
    return tuple(summed_out(measured, level, size * signal_sd * columns) for size in CURVES)


def share_delayed(log_odds: Floats, steps: int = 200) -> float:
    """Share of genes that differ by a delay alone, from their log odds of that to any other difference.

    Examples
    --------
    >>> round(share_delayed(np.array([9.0, 9, -9, -9])), 2)
    0.5
    """
    share, odds = 0.1, np.exp(np.clip(log_odds, -50, 50))
    for _ in range(steps):
        share = float((share * odds / (share * odds + 1 - share)).mean()) if len(odds) else share
    return share
