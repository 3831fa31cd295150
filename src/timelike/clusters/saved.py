"""Clusterings on disk: arrays and plain JSON in one file, so that new courses can be placed tomorrow."""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import asdict, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from timelike.base.checks import unique_names
from timelike.base.files import atomic_path
from timelike.base.unpacking import check_archive
from timelike.clusters.clustering import Clustering
from timelike.clusters.curves.curve_clustering import CurveClustering
from timelike.clusters.curves.membership import Step
from timelike.clusters.curves.noise import Noise
from timelike.courses import TimeCourses
from timelike.courses.designs import Designs
from timelike.exceptions import InputError
from timelike.gp import GP
from timelike.gp.freedom import NAMES, NONE, Freedom
from timelike.reading.files import errors_about

FORMAT = "timelike clustering 2"
DAMAGED = (
    *(OSError, ValueError, LookupError, TypeError, AttributeError, EOFError, zipfile.BadZipFile, zlib.error),
    *(OverflowError, RecursionError, MemoryError),
)
"""What reading a file that is not ours, or not whole, can raise."""
KINDS = {
    **dict.fromkeys(("points", "values", "errors", "weighed", "linkage"), "f"),
    **dict.fromkeys(("probabilities", "responsibilities", "level_weights", "places"), "f"),
    **dict.fromkeys(("starts", "design_of", "labels"), "iu"),
    "facts": "u",
    "part_of": "iu",
}
"""The arrays of such a file, and what kind of numbers each has; those of the finest clusters begin with FINEST."""
FINEST = "finest_"
Arrays = dict[str, NDArray[Any]]


def save(path: str | PathLike[str], clustering: Clustering, courses: TimeCourses) -> None:
    """Write a clustering and its courses as .npz: arrays, and a text in JSON. Nothing in it can be executed."""
    designs = courses.designs
    facts: dict[str, Any] = {"format": FORMAT, "method": clustering.method, "k": clustering.k}
    facts["names"] = list(courses.names)
    facts["evidence"] = None if clustering.evidence is None else list(clustering.evidence.items())
    arrays: Arrays = {"labels": clustering.labels, "points": designs.points, "starts": designs.starts}
    arrays |= {"design_of": courses.design_of, "values": courses.values}
    optional = {"errors": designs.errors, "linkage": clustering.linkage, "probabilities": clustering.probabilities}
    optional |= {name: getattr(clustering, name, None) for name in ("level_weights", "places", "part_of")}
    arrays |= {name: array for name, array in optional.items() if array is not None}
    if isinstance(clustering, CurveClustering):
        arrays |= {"responsibilities": clustering.responsibilities}
        if clustering.courses.errors is not None:
            arrays["weighed"] = clustering.courses.errors
        facts |= {name: getattr(clustering, name) for name in ("spread", "learned", "continuum", "deviation_scale")}
        facts["path"] = [list(step) for step in clustering.path]
        facts["noise"] = clustering.noise.to_dict()
        facts["free"] = _plain(clustering.free)
        facts["earned"] = clustering.earned
        facts["model"] = clustering.gp.to_dict()
        if clustering.finest is not None:
            facts["finest"] = {"k": clustering.finest.k, "spread": clustering.finest.spread}
            arrays |= {FINEST + name: array for name, array in _weights(clustering.finest).items()}
    text = np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8)
    with atomic_path(path) as temporary:
        np.savez_compressed(temporary, facts=text, allow_pickle=False, **arrays)


def _weights(clustering: CurveClustering) -> Arrays:
    """Who belongs to which cluster, and how surely."""
    known = {name: getattr(clustering, name) for name in WEIGHTS}
    return {name: array for name, array in known.items() if array is not None}


WEIGHTS = ("labels", "probabilities", "responsibilities", "level_weights", "places")


def load(path: str | PathLike[str], gp: GP) -> tuple[Clustering, TimeCourses]:
    """A clustering that :func:`save` wrote, with its courses.

    Curves are those of the model that they were made with: `gp` itself, or what it became within the clusters.
    """
    try:
        with errors_about(path), zipfile.ZipFile(path) as archive:
            check_archive(archive, Path(path).stat().st_size)
        with Path(path).open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            known = {name: name.removeprefix(FINEST) for name in file.files}
            arrays: Arrays = {name: _of_kind(file[name], kind) for name, kind in known.items() if kind in KINDS}
        facts = json.loads(arrays.pop("facts").tobytes().decode())
        if facts["format"] != FORMAT:
            raise InputError(f"{path} is in another format, {facts['format']!r}: cluster the courses again.")
        courses = _courses(facts["names"], arrays)
        return _clustering(facts, arrays, courses, gp), courses
    except FileNotFoundError:
        raise InputError(f"there is no file {path}: 'timelike cluster' leaves one in its folder.") from None
    except InputError:
        raise
    except DAMAGED as found:
        raise InputError(f"{path} is not a clustering that timelike wrote, or is damaged: {found}.") from None


def _courses(names: list[str], arrays: Arrays) -> TimeCourses:
    """The courses as they were, to the bit, once it is clear that the arrays belong together."""
    points, starts, design_of = arrays["points"], arrays["starts"], arrays["design_of"]
    errors = arrays.get("errors")
    _checked(design_of, (len(names),))
    if points.ndim != 2 or (np.diff(starts) < 1).any() or starts[0] != 0 or starts[-1] != len(points):
        raise ValueError("the designs do not fit together")
    if design_of.min() < 0 or design_of.max() > len(starts) - 2:
        raise ValueError("a course has a design that is not there")
    courses = TimeCourses(unique_names(names, len(names)), Designs(points, errors, starts), design_of, arrays["values"])
    _checked(courses.values, (int(courses.starts[-1]),))
    _checked(points, points.shape)
    if errors is not None:
        _checked(errors, (len(points),), 0)
    for array in (points, courses.values, *(() if errors is None else (errors,))):
        array.flags.writeable = False
    return courses


def _clustering(facts: dict[str, Any], arrays: Arrays, courses: TimeCourses, gp: GP) -> Clustering:
    evidence = None if facts["evidence"] is None else {int(k): float(v) for k, v in facts["evidence"]}
    k, count = int(facts["k"]), len(courses)
    probabilities, linkage = arrays.get("probabilities"), arrays.get("linkage")
    shared: dict[str, Any] = {
        "labels": _checked(arrays["labels"], (count,), -1, k - 1),
        "names": courses.names,
        "k": k,
        "method": str(facts["method"]),
        "probabilities": None if probabilities is None else _checked(probabilities, (count, k), 0, 1),
        "linkage": None if linkage is None else _checked(linkage, (count - 1, 4)),
        "evidence": evidence,
    }
    if "responsibilities" not in arrays:
        return Clustering(**shared)
    weighed = None if "weighed" not in arrays else _checked(arrays["weighed"], courses.values.shape, 0)
    noise, free = _noise(facts["noise"]), _free(facts.get("free"))
    nodes, places = len(noise) * len(free), arrays.get("places")
    gp = gp if facts["model"] == gp.to_dict() else GP.from_dict(facts["model"])
    found = CurveClustering(
        **shared,
        here=gp.at(courses if weighed is None else courses.with_errors(weighed), free),
        measured=courses,
        spread=float(_checked(np.array(float(facts["spread"])), (), 0)),
        responsibilities=_checked(arrays["responsibilities"], (count, k + 1), 0, 1),
        learned=bool(facts["learned"]),
        path=tuple(Step._make([*step[:-1], tuple(step[-1])]) for step in facts["path"]),
        continuum=bool(facts["continuum"]),
        deviation_scale=float(_checked(np.array(float(facts["deviation_scale"])), (), 0)),
        noise=noise,
        level_weights=None if nodes == 1 else _checked(arrays["level_weights"], (nodes, count, k + 1), 0, 1),
        places=None if places is None else _checked(places, (len(free), count), 0, 1),
        earned=_earned(facts.get("earned", {})),
    )
    return found if facts.get("finest") is None else _with_finest(found, facts["finest"], arrays, nodes)


def _with_finest(found: CurveClustering, facts: dict[str, Any], arrays: Arrays, nodes: int) -> CurveClustering:
    """The clusters, and the finest of which they were merged."""
    k, count = int(facts["k"]), len(found.names)
    own = {name: arrays.get(FINEST + name) for name in WEIGHTS}
    fine: dict[str, Any] = {name: array for name, array in own.items() if array is not None}
    _checked(fine["labels"], (count,), -1, k - 1)
    _checked(fine["responsibilities"], (count, k + 1), 0, 1)
    _checked(fine["probabilities"], (count, k), 0, 1)
    if nodes > 1:
        _checked(fine["level_weights"], (nodes, count, k + 1), 0, 1)
    fine["spread"] = float(_checked(np.array(float(facts["spread"])), (), 0))
    part_of = _checked(arrays["part_of"], (k,), 0, found.k - 1)
    return replace(found, finest=replace(found, **fine, k=k), part_of=part_of)


def _noise(facts: dict[str, Any]) -> Noise:
    """The levels of the noise, equally far apart; the numbers beside them are standard deviations and a middle."""
    logs = np.array(facts["logs"], dtype=float)
    steps = np.diff(_checked(logs, (max(len(logs), 1),)))
    if len(steps) and not (steps[0] > 0 and np.allclose(steps, steps[0])):
        raise ValueError("the levels of the noise are not a ladder")
    known = [float(facts[name]) for name in ("centre", "width", "between")]
    _checked(np.array(known[:1]), (1,))
    return Noise(logs, known[0], *_checked(np.array(known[1:]), (2,), 0).tolist())


def _plain(free: Freedom) -> dict[str, Any]:
    """A freedom in JSON, which has no infinity."""
    return asdict(free) | {"delay_sd": free.delay_sd if np.isfinite(free.delay_sd) else None}


def _free(facts: dict[str, Any] | None) -> Freedom:
    """In what courses may differ from their curve; in nothing where a file does not say it."""
    if facts is None:
        return NONE
    sds = [facts["gain_sd"], np.inf if facts["delay_sd"] is None else facts["delay_sd"]]
    period = facts["period"]
    if not all(float(sd) > 0 for sd in (*sds, 1 if period is None else period)):
        raise ValueError("a freedom has a size that is none")
    return Freedom(
        level=bool(facts["level"]),
        log_gains=_about_zero(facts["log_gains"]),
        delays=_about_zero(facts["delays"]),
        gain_sd=float(sds[0]),
        delay_sd=float(sds[1]),
        period=None if period is None else float(period),
    )


def _about_zero(found: Sequence[float]) -> tuple[float, ...]:
    """Nodes of a freedom: an odd number of them, equally far apart, the middle one at zero."""
    nodes = np.array(found, dtype=float)
    steps = np.diff(_checked(nodes, (max(len(nodes), 1),)))
    even = not len(steps) or (steps[0] > 0 and np.allclose(steps, steps[0]))
    if len(nodes) % 2 == 0 or nodes[len(nodes) // 2] != 0 or not even:
        raise ValueError("the nodes of a freedom are not a ladder about zero")
    return tuple(nodes.tolist())


def _earned(facts: dict[str, Any]) -> dict[str, float]:
    """What each freedom adds to the evidence."""
    if not set(facts) <= set(NAMES):
        raise ValueError(f"a freedom is none of {', '.join(NAMES)}")
    return {name: float(_checked(np.array(float(gain)), ())) for name, gain in facts.items()}


def _checked(array: NDArray[Any], shape: tuple[int, ...], low: float = -np.inf, high: float = np.inf) -> NDArray[Any]:
    """The array, if it has the shape, and its numbers are finite and between two bounds, but for rounding."""
    if array.shape != shape:
        raise ValueError(f"an array has shape {array.shape}, expected {shape}")
    if array.size and not (np.isfinite(array).all() and array.min() >= low - 1e-9 and array.max() <= high + 1e-9):
        raise ValueError(f"a number is not between {low:g} and {high:g}")
    return array


def _of_kind(array: NDArray[Any], name: str) -> NDArray[Any]:
    if array.dtype.kind not in KINDS[name]:
        raise ValueError(f"{name} are of type {array.dtype}")
    return array
