"""doubts: sentences about a fit that deserves a second look."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from timelike.base.arrays import Floats
from timelike.base.checks import counted
from timelike.gp.kernels import unclocked
from timelike.gp.search_space import SearchSpace

if TYPE_CHECKING:
    from timelike.gp.fit import Objective

VISIBLE = 0.1
"""An error of the log likelihood that is said."""


def doubts(objective: Objective, space: SearchSpace, place: Floats) -> tuple[str, ...]:
    """What to say about the place where the search for the largest objective ended; nothing if all is well."""
    errors = objective.courses.designs.errors
    known_errors = errors is not None and bool(errors.all())  # of all values, not of wild ones alone
    return (
        *_idle_clock(objective),
        *_on_a_bound(space, place, known_errors),
        *_short_length_scale(space, place),
        *_indistinct(objective, space, place, known_errors),
        *_inexact(objective, place),
    )


def _idle_clock(objective: Objective) -> list[str]:
    count = len(np.unique(objective.courses.designs.points, axis=0))
    if unclocked(objective.kernel) is objective.kernel or count > 2:
        return []
    return [f"{counted(count, 'distinct time')}: a clock does nothing there that the length scale does not do."]


def _on_a_bound(space: SearchSpace, place: Floats, known_errors: bool) -> list[str]:
    sizes = np.exp(place + np.where(np.arange(len(place)) == len(place) - 1, place[-2], 0.0))
    sentences = []
    for axis, at, size in zip(space.axes, place, sizes, strict=True):
        for bound, word in ((axis.low, "lower"), (axis.high, "upper")):
            # Values with known errors need no further noise.
            expected = known_errors and axis.name == "noise variance" and word == "lower"
            if abs(at - bound) < 1e-6 and not expected:
                reason = "which you set" if axis.given else _reason(axis.name, word)
                where = f"the {word} bound of the {_called(axis.name)} ({size:.3g})"
                sentences.append(f"the fit ended on {where}: {reason}.")
    return sentences


def _called(name: str) -> str:
    return "clock's tau" if name == "tau" else name.split("__")[-1].replace("_", " ")


def _reason(name: str, word: str) -> str:
    if name == "tau" and word == "lower":
        return "time counts by its logarithm from the first gap on; a smaller tau would only set the first time apart"
    return f"the data do not determine it{_hint(name, word)}"


def _hint(name: str, word: str) -> str:
    if name.endswith("periodicity") and word == "lower":
        return "; a shorter period cannot be told from longer ones at times so far apart"
    if "length_scale" in name and word == "upper":
        return "; curves look straight over the whole span"
    if name == "noise variance" and word == "lower":
        return "; values look free of noise, so equal courses must be equal to the last digit"
    return ""


def _short_length_scale(space: SearchSpace, place: Floats) -> list[str]:
    gap = space.extent.gap
    return [
        f"the length scale ({np.exp(at):.3g}) is below the gap between neighbouring times ({gap:.3g}): "
        + _loosely(np.exp(at) / gap)
        for axis, at in zip(space.axes, place, strict=True)
        if axis.in_time and axis.name.endswith("length_scale") and at < np.log(gap) - 1e-9
    ]


def _loosely(ratio: float) -> str:
    if ratio > 0.5:
        return "neighbouring times are only loosely linked."
    return "neighbouring times tell almost nothing about each other, and their order hardly matters."


def _indistinct(objective: Objective, space: SearchSpace, place: Floats, known_errors: bool) -> list[str]:
    """Whether signal and noise variance could be traded for one another without the likelihood noticing."""
    free = space.free(place)
    if not free[-2:].all():
        return []
    # A constant inside the kernel does the same as the signal variance: that they can be traded says nothing.
    free &= np.array([not axis.name.endswith("constant_value") for axis in space.axes])
    information = -objective.hessian(place, free) * objective.count
    weight, vectors = np.linalg.eigh(information)
    uncertain = weight < 1.0  # a change by the factor e costs less than half a unit of log likelihood
    both = np.abs(vectors[-2:]) > 0.2
    # With known errors, a further noise that is small and uncertain takes nothing from the signal.
    traded = both.all(axis=0) if known_errors else both.any(axis=0)
    if not (uncertain & traded).any():
        return []
    return [
        "signal and noise cannot be told apart: other splits of the variance fit almost equally well. Replicates, "
        "more courses or a fixed noise would help; similarities depend on the split."
    ]


def _inexact(objective: Objective, place: Floats) -> list[str]:
    error = objective.error(place)
    if error <= VISIBLE:
        return []
    return [
        f"the log likelihood is known only to {error:.2g}: courses are long, and the noise is so small against the "
        "signal that the last digits of the covariance count."
    ]
