"""Clusters by any of our methods, and the files that a job leaves behind."""

from __future__ import annotations

import hashlib
import json
import platform
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from timelike import plot
from timelike.clusters import Clustering, hierarchical, spectral
from timelike.courses import TimeCourses
from timelike.curve_clusters import CurveClustering
from timelike.evidence_tree import evidence_linkage
from timelike.exceptions import DataWarning, InputError, MissingExtraError
from timelike.files import atomic_path, atomic_write
from timelike.gp import GP
from timelike.mixtures import mixture
from timelike.similarities import similarity

Method = Callable[[TimeCourses, GP, int | None, int], Clustering]


def _linked(linkage: str) -> Method:
    return lambda courses, gp, k, _: hierarchical(similarity(courses, gp), k or 1, linkage)


METHODS: dict[str, Method] = {
    "mixture": lambda courses, gp, k, seed: mixture(courses, gp, k, seed=seed),
    "evidence": lambda courses, gp, k, _: evidence_linkage(courses, gp, k),
    "spectral": lambda courses, gp, k, seed: spectral(similarity(courses, gp), k or 1, seed=seed),
    "average": _linked("average"),
    "complete": _linked("complete"),
}
"""Name -> function of courses, model, number of clusters (None: chosen) and seed."""
CHOOSE_K = ("mixture", "evidence")


def group(courses: TimeCourses, gp: GP, method: str = "mixture", k: int | None = None, seed: int = 0) -> Clustering:
    """Clusters of the courses by one of :data:`METHODS`."""
    check(method, k)
    return METHODS[method](courses, gp, k, seed)


def check(method: str, k: int | None) -> None:
    """Raise if there is no such method, or it needs a number of clusters."""
    if method not in METHODS:
        raise InputError(f"there is no method {method!r}: choose from {', '.join(METHODS)}.")
    if k is None and method not in CHOOSE_K:
        raise InputError(f"{method} does not choose the number of clusters: give it, or use {' or '.join(CHOOSE_K)}.")


def write(out: Path, clustering: Clustering, gp: GP, run: dict[str, Any]) -> list[str]:
    """Write tables, model, figures and the record of the run into a folder; the names of the files."""
    with atomic_path(out / "clusters.csv") as temporary:
        clustering.to_frame().to_csv(temporary, index=False)
    gp.save(out / "model.json")
    with atomic_write(out / "run.json") as file:
        file.write(json.dumps(run | {"versions": versions()}, indent=2) + "\n")
    written = ["clusters.csv", "model.json", "run.json"]
    if isinstance(clustering, CurveClustering):
        written += _write_curves(out, clustering)
    return written


def _write_curves(out: Path, clustering: CurveClustering) -> list[str]:
    tables = {"outliers.csv": clustering.outliers()}
    if clustering.path:
        tables["numbers.csv"] = clustering.path_frame()
    for name, table in tables.items():
        with atomic_path(out / name) as temporary:
            table.to_csv(temporary, index=False)
    return [*tables, *_draw(out, clustering)]


def _draw(out: Path, clustering: CurveClustering) -> list[str]:
    """Draw the clusters, or say why not: tables must not be lost for want of a picture."""
    try:
        panels = plot.panels(clustering.k + int(clustering.none.any()), columns=3)
    except MissingExtraError as problem:
        warnings.warn(str(problem), DataWarning, stacklevel=2)
        return []
    plot.save(plot.cluster_panels(clustering, panels)[0], out / "clusters.png")
    return ["clusters.png"]


def checksum(path: Path) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def versions() -> dict[str, str]:
    """What a run depends on."""
    packages = ("timelike", "numpy", "scipy", "scikit-learn", "pandas")
    return {"python": platform.python_version()} | {name: version(name) for name in packages}
