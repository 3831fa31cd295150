"""A page about an answer in words: what was found, how it was found, and what the model's numbers mean."""

from __future__ import annotations

import numpy as np

from timelike.base.checks import counted, listed
from timelike.gp import kernels
from timelike.questions.compare import Compared
from timelike.questions.permuted import Check
from timelike.questions.telling import percent, sentence
from timelike.reporting.answered import Answered
from timelike.reporting.methods_paragraph import _clock, _software
from timelike.reporting.words import KERNELS, number, timing

DIFFER = (
    "Whether a course differs between conditions was decided by comparing the marginal likelihood of curves that are "
    "the same under all conditions with that of curves that differ by an effect over time: a level, a smooth curve, or "
    "one that is new at every time, of any size. What conditions share, the level and the noise of each course were "
    "summed out; how frequent effects of each shape and size are, and differences at all, was learned from all courses "
    "(empirical Bayes)."
)
CHANGE = (
    "Whether a course changes over time was decided by comparing the marginal likelihood of a constant level with that "
    "of curves of several smoothnesses and sizes. The level and the noise of each course were summed out; how frequent "
    "changes of each shape and size are, and changes at all, was learned from all courses (empirical Bayes)."
)
CALLED = (
    "Courses were called from the surest on, as long as the mean of their probabilities of not {verb} stays below the "
    "expected false discovery rate."
)


def facts(answered: Answered) -> list[tuple[str, str, str]]:
    """The numbers that a reader wants first: number, noun, remark."""
    found, compared = answered.found, answered.compared
    verb = "differ" if compared is not None else "change"
    values = sum(len(courses.values) for courses in found.question.measured.conditions.values())
    measured = (f"{len(answered.times):,}", "times", f"{answered.times[0]:g} to {answered.times[-1]:g}")
    if compared is not None:
        measured = (f"{len(compared.conditions)}", "conditions", listed(compared.conditions))
    rates = dict.fromkeys([answered.fdr, 0.01])
    called = [(f"{len(found.called(rate)):,}", verb, f"at a false discovery rate of {percent(rate)}") for rate in rates]
    return [(f"{len(found):,}", "courses", f"{values:,} values"), measured, *called]


def summary(answered: Answered) -> list[str]:
    """Paragraphs about what was found, the first of them for everybody."""
    found = answered.found
    verb = "differ" if answered.compared is not None else "change"
    words = [sentence(found, answered.fdr)]
    if len(answered.called):
        words.append(f"The surest is {answered.table['name'].iloc[0]}{_how(answered)}.")
    words.append(
        f"In all, about {100 * found.share:.2g} % {verb}, as learned from all courses together; of many of these the "
        "values cannot say which they are."
    )
    if answered.check is not None:
        words.append(_check(answered.check))
    return words


def _how(answered: Answered) -> str:
    """How the surest course differs or changes."""
    first, unit = answered.table.iloc[0], f" {answered.naming.time_unit}" if answered.naming.time_unit else ""
    if answered.compared is not None:
        return f": {first['intervals']}" if first["intervals"] else ""
    way = "rises" if first["largest_change"] > 0 else "falls"
    return f", which {way} by {number(abs(first['largest_change']))}, most at {first['peak']:.3g}{unit}"


def _check(check: Check) -> str:
    """What permuted samples say, in a sentence."""
    rows = zip(check.stated, check.called, check.by_chance, strict=True)
    words = [f"{number(chance)} at {percent(stated)} (against {called:,})" for stated, called, chance in rows]
    return (
        "As a check, the same was asked of permuted samples, where nothing can be true. Called were, on average, "
        f"{listed(words)}."
    )


def model(answered: Answered) -> list[tuple[str, str]]:
    """The numbers of the model, each with what it means."""
    gp, naming = answered.found.gp, answered.naming
    rows = [("Kernel", KERNELS.get(kernels.name_of(gp.kernel), str(kernels.unclocked(gp.kernel))))]
    if isinstance(gp.length_scale, float):
        rows.append(("Length scale", f"{naming.time(gp.length_scale)}. Effects of other length scales are sought too."))
    if gp.clock is not None:
        rows.append(("Clock", f"tau {naming.time(gp.clock)}. Time counts ever less, the later it is."))
    rows.append(("Noise", f"{number(gp.noise_sd)}. Of a typical course; each has its own, as far as its values tell."))
    if any(courses.errors is not None for courses in answered.found.question.measured.conditions.values()):
        rows.append(("Known errors", "Each value has a standard error of its own, which adds to the noise."))
    return [*rows, ("Noise of courses", _noise(answered))]


def _noise(answered: Answered) -> str:
    low, high = np.quantile(np.sqrt(answered.found.answer.scale), [0.05, 0.95])
    return f"{number(low)} to {number(high)} times what is expected, in nine of ten courses."


def methods(answered: Answered) -> list[str]:
    """A paragraph ready to paste into a paper."""
    found, naming = answered.found, answered.naming
    conditions = found.question.measured.conditions
    under = f" under {listed(list(conditions))}" if isinstance(found, Compared) else ""
    first = next(iter(conditions.values()))
    data = f"{counted(len(found), 'time course')}{under} were measured {timing(first, naming)}."
    unit = f" {naming.time_unit}" if naming.time_unit else ""
    asked, verb = (DIFFER, "differing") if answered.compared is not None else (CHANGE, "changing")
    software = f"The analysis was made with {_software(answered.run)}."
    called = f"{CALLED.format(verb=verb)} {sentence(found, answered.fdr)}"
    return [" ".join(filter(None, [data, asked + _clock(found.gp, unit), called, software]))]
