"""How fine to look: the finest clusters, their tree, and every level of it, for a slider that fits nothing anew."""

from __future__ import annotations

from typing import Any

import numpy as np

from timelike.base.arrays import Floats, Ints
from timelike.clusters.curves import borders, granularity
from timelike.clusters.curves.curve_clustering import CurveClustering
from timelike.clusters.curves.granularity import Level
from timelike.reporting.page_json import real
from timelike.reporting.subject import Subject


def data(subject: Subject) -> dict[str, Any]:
    """For the page's program: the borders of the clusters shown, and the finest ones with all levels of their tree."""
    found = subject.compared
    if found is None:
        return {"borders": None, "fine": None}
    return {
        "borders": _borders(found.borders) | {"unsure": _unsure(found)},
        "fine": _fine(found.finest or found, found, subject) if len(found.tree) else None,
    }


def _borders(found: tuple[borders.Border, ...]) -> dict[str, Any]:
    return {
        "nearest": [border.nearest for border in found],
        "gap": [border.gap if np.isfinite(border.gap) else None for border in found],
        "verdict": borders.verdicts(found),
    }


def _unsure(found: CurveClustering) -> list[float] | None:
    return None if found.probabilities is None else found.unsure.tolist()


def _fine(fine: CurveClustering, found: CurveClustering, subject: Subject) -> dict[str, Any]:
    curves = fine.curves(subject.grid[:, None]).mean - subject.gp.mean
    order = granularity.tips(found.tree)
    distance = borders.differences(fine.compared)
    return {
        "k": fine.k,
        "shown": found.k,
        "curves": real(curves, 1e-4 * subject.gp.noise_sd),
        "sizes": fine.sizes.tolist(),
        "order": order.tolist(),
        "partOf": (np.arange(found.k) if found.part_of is None else found.part_of).tolist(),
        "tree": [[int(p), int(q), float(height)] for p, q, height, _ in found.tree],
        "levels": [_level(fine, found.tree, order, level) for level in granularity.levels(found.tree)],
        "split": [_split(distance, found.tree, k) for k in range(1, fine.k)],
        "command": found.method == "mixture",
    }


def _level(fine: CurveClustering, tree: Floats, order: Ints, level: Level) -> dict[str, Any]:
    """One number of clusters: which of the finest are one, numbered as they come in the tree, and their borders."""
    of = granularity.groups(tree, level.k)
    _, first = np.unique(of[order], return_index=True)
    of = np.argsort(np.argsort(first))[of]
    return {
        "low": level.low,
        "high": level.high if np.isfinite(level.high) else None,
        "of": of.tolist(),
        **_borders(borders.borders(fine.compared, of)),
        "unsure": _unsure_of(fine, of, level.k),
    }


def _unsure_of(fine: CurveClustering, of: Ints, k: int) -> list[float] | None:
    if fine.probabilities is None:
        return None
    chances = granularity.summed(fine.probabilities, of)
    own = chances[np.arange(len(fine.names)), of[fine.nearest]]
    return borders.unsure(np.append(of, -1)[fine.labels], own, k).tolist()


def _split(distance: Floats, tree: Floats, k: int) -> bool | None:
    """Whether a wide gap lies between the two that one of k clusters is split into; None where nothing says so."""
    fewer, more = granularity.groups(tree, k), granularity.groups(tree, k + 1)
    halves = next(np.unique(more[fewer == c]) for c in range(k) if len(np.unique(more[fewer == c])) == 2)
    one, other = (np.flatnonzero(more == half) for half in halves)
    within = max(borders.widest(distance, one), borders.widest(distance, other))
    return borders.Border(0, float(distance[np.ix_(one, other)].min()), within).apart
