"""What a result depends on, as short texts that can be stored and compared."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

from timelike.base.versions import software

if TYPE_CHECKING:
    from timelike.courses import TimeCourses
    from timelike.gp import GP
    from timelike.pairs.job import Job

LAYOUT = "layout 2"
"""Changes when tiles are cut, ordered or written in another way."""
Fingerprint = dict[str, str]


def fingerprint(courses: TimeCourses, gp: GP, others: TimeCourses | None, job: Job) -> Fingerprint:
    """The parts on which every bit of the similarities depends, each under the name that a message gives it.

    Examples
    --------
    >>> import timelike as tl
    >>> from timelike.pairs.job import job_of
    >>> courses = tl.TimeCourses.from_arrays([0, 1], [[1, 2], [3, 1]])
    >>> gp = tl.GP.se(1, 1, 1)
    >>> parts = fingerprint(courses, gp, None, job_of(courses, gp))
    >>> parts["route"], len(parts["values"])
    ('grid', 64)
    """
    rows, cols = job.size
    return {
        **_of_courses(courses, ""),
        **({} if others is None else _of_courses(others, " of the others")),
        "model": _of_model(gp),
        **({"freedom": repr(job.free)} if job.free else {}),
        "route": job.way.name,
        "tiles": f"{LAYOUT}, {rows} x {cols} from {job.part[0]} x {job.part[1]}",
        "software": software(),
    }


def differences(found: Fingerprint, expected: Fingerprint) -> str:
    """What differs, in words; empty where nothing does."""
    changed = [k for k in sorted(found.keys() | expected.keys()) if found.get(k) != expected.get(k)]
    return ", ".join(_words(k, found.get(k), expected.get(k)) for k in changed)


def digest(found: Fingerprint) -> str:
    """A fingerprint in a few letters."""
    return _sum(json.dumps(found, sort_keys=True).encode())[:12]


def _words(part: str, found: str | None, expected: str | None) -> str:
    if part in ("model", "freedom", "route", "tiles", "software"):
        return f"{part} (it has {found}, now {expected})"
    return part


def _of_courses(courses: TimeCourses, whose: str) -> Fingerprint:
    designs = courses.designs
    errors = [] if designs.errors is None else [designs.errors]
    return {
        f"names{whose}": _sum(json.dumps(courses.names).encode()),
        f"times{whose}": _sum(designs.points, designs.starts, courses.design_of, *errors),
        f"values{whose}": _sum(courses.values),
    }


def _of_model(gp: GP) -> str:
    """All digits of all parameters; how far a fit may search is none of them."""
    parameters = {k: v for k, v in gp.kernel.get_params().items() if not k.endswith("_bounds")}
    numbers = {k: np.asarray(v).tolist() for k, v in parameters.items() if not hasattr(v, "get_params")}
    kernel = f"{type(gp.kernel).__name__} {numbers} {gp.kernel}"
    rough = f", rough sd {gp.rough_sd!r}" if gp.rough_sd else ""
    return f"{kernel}, signal sd {gp.signal_sd!r}, noise sd {gp.noise_sd!r}, mean {gp.mean!r}{rough}"


def _sum(*parts: Any) -> str:
    total = sha256()
    for part in parts:
        total.update(f"{getattr(part, 'shape', len(part))}".encode())
        total.update(np.ascontiguousarray(part).data if isinstance(part, np.ndarray) else part)
    return total.hexdigest()
