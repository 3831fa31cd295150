"""Answers in words and on a grid of times: what tables, figures and pages tell about many genes at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from timelike.base.arrays import Floats, Ints
from timelike.base.blas import one_thread_below
from timelike.base.checks import counted, is_number, listed
from timelike.exceptions import InputError
from timelike.gp import Curve
from timelike.gp.kernels import evenly
from timelike.questions.asked import effect_at
from timelike.questions.bridged import Stretch, bridged
from timelike.questions.compare import Compared, stretches
from timelike.questions.found import Found
from timelike.questions.measured import check_times

FEW_TIMES = 30
"""Up to so many measured times are among those at which curves are drawn."""
RATE = "an expected false discovery rate"
RATES = (0.05, 0.01)
"""Expected false discovery rates that an account has, besides the one that was asked for."""


def is_rate(fdr: Any, name: str = "fdr") -> float:
    """An expected false discovery rate, or an error in words."""
    if not is_number(fdr) or not 0 < fdr < 1:
        raise InputError(f"{name} is {fdr!r}: expected a number between 0 and 1, as 0.05.")
    return float(fdr)


def percent(fdr: float) -> str:
    """A rate in percent.

    Examples
    --------
    >>> percent(0.05), percent(0.001)
    ('5 %', '0.1 %')
    """
    return f"{100 * fdr:.3g} %"


def sentence(found: Found, fdr: float = RATES[0]) -> str:
    """How many were called, in one sentence.

    Examples
    --------
    >>> import timelike as tl
    >>> courses, _ = tl.simulate.replicated(seed=1)
    >>> sentence(tl.changing(courses))
    '150 of 150 courses change at an expected false discovery rate of 5 %, 150 at 1 %.'
    """
    verb = f"differ between {listed(found.conditions)}" if isinstance(found, Compared) else "change"
    first, *others = dict.fromkeys([is_rate(fdr), *RATES])
    more = "".join(f", {len(found.called(rate)):,} at {percent(rate)}" for rate in others)
    called = f"{len(found.called(first)):,} of {counted(len(found), 'course')}"
    return f"{called} {verb} at {RATE} of {percent(first)}{more}."


# -- curves of many genes --------------------------------------------------------------------------------------------


def grid(found: Found, count: int) -> Floats:
    """Times from the first to the last that was measured, evenly on the model's clock; with few, also those."""
    points = np.unique(check_times(found.question.measured.conditions))
    even = evenly(found.gp.kernel, float(points[0]), float(points[-1]), count)
    return np.unique(np.concatenate([even, points])) if len(points) <= FEW_TIMES else even


def effects_of(found: Found, genes: Ints, times: Floats, between: tuple[int, int]) -> Curve:
    """The difference between two conditions, or with (0, 0) the change, of some genes at times (T,): (n, T) each."""
    with one_thread_below():
        effect = effect_at(found.question, found.answer, np.asarray(genes, dtype=np.intp), times[:, None], between)
    return Curve(effect.mean, np.sqrt(effect.variance))


def curves_of(found: Found, genes: Ints, times: Floats) -> dict[str, Curve]:
    """The curves of some genes under each condition, at times (T,): (n, T) each; NaN where a gene was not measured."""
    names = list(found.question.measured.conditions)
    with one_thread_below():  # the matrices are small
        every = [found.curves(int(gene), times) for gene in genes]
    empty = np.empty((0, len(times)))
    means = {name: np.array([curves[name].mean for curves in every]) if every else empty for name in names}
    sds = {name: np.array([curves[name].sd for curves in every]) if every else empty for name in names}
    return {name: Curve(means[name], sds[name]) for name in names}


def sizes_of(found: Found) -> Floats:
    """The largest difference of each gene between conditions, or its largest change since the start, (N,)."""
    if isinstance(found, Compared):
        return found.largest.difference
    at = found.question.measured.coordinates.points
    curves = effects_of(found, np.arange(len(found)), np.sort(at[:, 0]), (0, 0)).mean
    way = curves - curves[:, :1]
    return np.asarray(way[np.arange(len(way)), np.abs(way).argmax(axis=1)])


# -- intervals in words ----------------------------------------------------------------------------------------------


def interval_words(found: Compared, genes: Ints) -> list[str]:
    """When each of some genes differs between the two conditions that are furthest apart, in words.

    As "6 to 12 higher in mut; 24 to 48 higher in wt", with three or more conditions "6 to 12 higher in K than in M".
    Empty where no stretch of the band is off zero.
    """
    genes = np.asarray(genes, dtype=np.intp)
    times, words = found.grid, [""] * len(genes)
    measured = np.unique(check_times(found.question.measured.conditions))
    for k, (a, b) in enumerate(found.pairs):
        own = np.flatnonzero(found.largest.pair[genes] == k)
        curves = effects_of(found, genes[own], times, (a, b))
        for row, place in enumerate(own):
            parts = bridged(stretches(times, Curve(curves.mean[row], curves.sd[row])), measured)
            words[place] = "; ".join(stretch_words(found, part, (a, b)) for part in parts)
    return words


def stretch_words(found: Compared, stretch: Stretch, between: tuple[int, int]) -> str:
    """One stretch of time in words."""
    start, end, sign = stretch
    lower, higher = (found.conditions[c] for c in (between if sign > 0 else between[::-1]))
    than = f" than in {lower}" if len(found.conditions) > 2 else ""
    when = f"at {start:.3g}" if start == end else f"{start:.3g} to {end:.3g}"
    return f"{when} higher in {higher}{than}"
