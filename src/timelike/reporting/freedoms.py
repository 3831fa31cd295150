"""What a report says where courses may differ in level, gain and delay: its data, and its words."""

from __future__ import annotations

from typing import Any

import numpy as np

from timelike.base.arrays import Floats
from timelike.base.checks import listed
from timelike.base.estimates import Estimate
from timelike.clusters.curves.curve_clustering import CurveClustering
from timelike.pairs.explain import explain
from timelike.pairs.nearest.neighbors import Neighbors
from timelike.reporting.page_json import real
from timelike.reporting.subject import Subject, around

CLOSE = 1e-3
"""Share of an interval that rounding may change."""


def data(subject: Subject) -> dict[str, Any]:
    """For the page's program: level, gain and delay of each course, and the curves that aligned courses lie on."""
    found = subject.freed
    if found is None:
        return {}
    grid, _ = subject.moved_to
    curves, close = around(found, grid), 1e-5 * subject.gp.noise_sd
    each = {"level": found.level, "gain": found.gain, "delay": found.delay}
    return {
        "freed": {
            "names": list(found.free.names),
            "words": listed(found.free.names),
            "period": found.free.period,
            **{name: None if known is None else _estimate(known) for name, known in each.items()},
            "clusterLevels": [float(level) for level in found.cluster_levels],
            "grid": real(grid, error=0),
            "curves": real(curves.mean - subject.gp.mean, close),
            "bands": real(curves.sd, close),
        },
        "delayed": found.delay is not None,
    }


def _estimate(known: Estimate) -> dict[str, Any]:
    close = CLOSE * float(np.median(known.high - known.low))
    return {name: real(part, close) for name, part in known._asdict().items()}


def neighbors(subject: Subject) -> dict[str, Any]:
    """How the neighbours are alike, where not as they were measured: in words, and by how much each is moved."""
    near = subject.neighbors
    names = up_to(subject)
    if not names:
        return {}
    delay = _bounds(near.delay, near.delay_low, near.delay_high)
    return {
        "moved": {"words": listed(names), "delay": delay, "gain": _bounds(near.gain, near.gain_low, near.gain_high)}
    }


def _bounds(*parts: Floats | None) -> dict[str, Any] | None:
    mean, low, high = parts
    return None if mean is None or low is None or high is None else _estimate(Estimate(mean, low, high))


def up_to(subject: Subject) -> tuple[str, ...]:
    """In what neighbours may differ and still be alike; nothing where they are alike as measured."""
    near, free = subject.neighbors, subject.freed
    told = tuple(name for name, known in (("gain", near.gain), ("delay", near.delay)) if known is not None)
    if free is None or (not told and _as_measured(subject, near)):
        return told
    return tuple(name for name in free.free.names if name in (*told, "level"))


def _as_measured(subject: Subject, near: Neighbors) -> bool:
    """Whether the first score is that of two courses as they were measured: a free level leaves no other trace."""
    if not near.indices.size:
        return True
    first, second = 0, int(near.indices[0, 0])
    plain = explain(subject.courses, subject.gp, first, second).similarity
    return bool(np.isclose(plain, near.scores[0, 0], rtol=1e-4, atol=1e-4))


# -- words -----------------------------------------------------------------------------------------------------------


def earned(subject: Subject) -> list[str]:
    """What each freedom adds to the log evidence, in a sentence; nothing where there is none."""
    found = subject.freed
    if found is None:
        return []
    said = f"Courses of a cluster may differ in {listed(found.free.names)}."
    paid = [f"{name} {gain:.2g}" for name, gain in found.earned.items()]
    if not paid:
        return [said]
    return [f"{said} What each adds to the log evidence of a course: {', '.join(paid)}."]


def methods(found: CurveClustering, unit: str) -> str:
    """The freedoms, for a paper; nothing where there are none."""
    free = found.free
    if not free:
        return ""
    how = {
        "level": "a level of its own, which was integrated out",
        "gain": _gain(free.gain_sd),
        "delay": _delay(free, unit),
    }
    return f" Each course had {listed([how[name] for name in free.names])}."


def _gain(sd: float) -> str:
    return f"a gain (log-normal, s.d. of the logarithm {sd:.2g})"


def _delay(free: Any, unit: str) -> str:
    if free.period is not None:
        return "a phase"
    furthest = f"{free.delays[-1]:.3g}{unit}"
    prior = f", s.d. {free.delay_sd:.2g}{unit}" if np.isfinite(free.delay_sd) else ""
    return f"a delay (at most {furthest} to either side{prior})"
