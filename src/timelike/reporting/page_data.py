"""What the page's own program works on: courses, clusters, neighbours and the basis, as plain JSON data."""

from __future__ import annotations

from typing import Any

import numpy as np

from timelike.base import checks
from timelike.base.arrays import Floats, Ints
from timelike.clusters.clustering import Clustering
from timelike.gp import GP
from timelike.gp.kernels import on_clock
from timelike.reporting import conditions, details, freedoms, how_fine
from timelike.reporting.page_basis import Features, distinct_times, features
from timelike.reporting.page_json import real, whole
from timelike.reporting.shape_words import peaks, shapes
from timelike.reporting.subject import Subject

MOST_TERMS = 25
"""Ontology terms shown for each cluster."""
SHOWN_NUMBERS = 12
"""The plot of numbers of clusters goes at least so far, and to four times the number shown."""


def content(subject: Subject) -> dict[str, Any]:
    """All data of the page."""
    return {
        "title": subject.naming.title,
        "timeLabel": subject.naming.time_label,
        "timeUnit": subject.naming.time_unit,
        "valueLabel": subject.naming.value_label,
        "clock": _clock(subject.gp),
        "names": list(subject.courses.names),
        **_measured(subject),
        **_clusters(subject),
        "features": _features(features(subject.courses, subject.gp, subject.grid)),
        "neighbors": _neighbors(subject),
        "evidence": _numbers(subject.clustering),
        "enrichment": _terms(subject),
        "conditions": conditions.data(subject),
        "details": details.data(subject),
        **freedoms.data(subject),
        **how_fine.data(subject),
    }


def _clock(gp: GP) -> dict[str, float | None] | None:
    """What a page needs to tell the time on the clock, see :class:`timelike.gp.clock.Clocked`."""
    return None if gp.clock is None else {"tau": gp.clock, "start": gp.kernel.start}


def _measured(subject: Subject) -> dict[str, Any]:
    """Times and values. A value is stored as its distance from the mean: the few digits that matter."""
    courses, gp = subject.courses, subject.gp
    times, row = distinct_times(courses)
    noise = gp.at(courses).noise_variances
    least = float(np.sqrt(noise.min()))
    return {
        "mean": gp.mean,
        "values": real(courses.values - gp.mean, error=1e-5 * least),
        "noise": real(noise[:1] if (noise == noise[0]).all() else noise, error=1e-7 * least**2),
        "times": real(times, error=1e-6 * float(np.ptp(on_clock(gp.kernel, times)))),
        "timeOf": whole(row),
        "designOf": whole(courses.design_of),
        "designStarts": whole(courses.designs.starts),
        "grid": real(subject.grid, error=0),
        "ownTimes": bool(len(times) > 2 * courses.sizes.max()),
    }


def _features(found: Features | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "rank": found.grid.shape[1],
        "phi": real(found.phi, error=0),
        "grid": real(found.grid, error=0),
        "nodes": None if found.nodes is None else real(found.nodes, error=0),
    }


# -- clusters --------------------------------------------------------------------------------------------------


def _clusters(subject: Subject) -> dict[str, Any]:
    drawn, clustering = subject.drawn, subject.clustering
    close = 1e-5 * subject.gp.noise_sd
    result: dict[str, Any] = {
        "k": clustering.k,
        "labels": whole(clustering.labels),
        "sizes": [int(n) for n in clustering.sizes],
        "peaks": peaks(subject),
        "shapes": shapes(subject),
        "scatter": [float(s) for s in subject.scatter],
        "curves": real(drawn.mean - subject.gp.mean, close),
        "bands": real(drawn.sd, close),
        "certainty": None,
        "probability": None,
    }
    if subject.confidence is not None and clustering.probabilities is not None:
        second, chance = runner_up(clustering.labels, clustering.probabilities)
        result["probability"] = real(subject.confidence, 1e-6)
        result["second"], result["secondProbability"] = whole(second), real(chance, 1e-6)
        result["certainty"] = [_mean(subject.confidence[clustering.labels == c]) for c in range(clustering.k)]
    return result


def _mean(values: Floats) -> float | None:
    return float(values.mean()) if len(values) else None


def runner_up(labels: Ints, probabilities: Floats) -> tuple[Ints, Floats]:
    """The likeliest cluster of each course apart from its own, -1 for none of them, and its probability.

    Examples
    --------
    >>> runner_up(np.array([0, -1]), np.array([[0.7, 0.1], [0.1, 0.3]]))
    (array([-1,  1]), array([0.2, 0.3]))
    """
    everyone = np.arange(len(labels))
    all_of = np.column_stack([probabilities, np.maximum(1 - probabilities.sum(axis=1), 0)])
    all_of[everyone, labels] = -1.0  # the label -1 is the last column, as in Python
    second = all_of.argmax(axis=1)
    return np.where(second == probabilities.shape[1], -1, second), np.maximum(all_of[everyone, second], 0).round(12)


def _numbers(clustering: Clustering) -> dict[str, Any] | None:
    """What speaks for each number of clusters, for each course and against the best."""
    if not clustering.evidence or len(clustering.evidence) < 2:
        return None
    ks, values = np.array(list(clustering.evidence)), np.array(list(clustering.evidence.values()))
    shown = ks <= max(4 * clustering.k, SHOWN_NUMBERS)
    against = (values - values.max()) / len(clustering.names)
    return {"k": ks[shown].tolist(), "perCourse": against[shown].tolist(), "best": int(ks[values.argmax()])}


# -- neighbours and terms --------------------------------------------------------------------------------------


def _neighbors(subject: Subject) -> dict[str, Any]:
    found = subject.neighbors
    return {
        "count": int(found.indices.shape[1]),
        "indices": whole(found.indices),
        "scores": real(found.scores, error=1e-3),
        **freedoms.neighbors(subject),
    }


def _terms(subject: Subject) -> list[list[Any]] | None:
    """The most surprising terms of each cluster: cluster, term, name, genes, of, fold, q."""
    if subject.enrichment is None:
        return None
    columns = ["cluster", "term", "name", "genes", "cluster_genes", "term_genes", "fold", "q"]
    checks.require_columns(subject.enrichment, columns)
    best = subject.enrichment.groupby("cluster", sort=False).head(MOST_TERMS)
    rows = best[columns].itertuples(index=False, name=None)
    return [[str(r[0]), str(r[1]), str(r[2]), *map(int, r[3:6]), float(r[6]), float(r[7])] for r in rows]
