"""The paper's table: biological homogeneity of clusters of genes, by measure, method and number of clusters."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from timelike import datasets, ontology
from timelike.base.arrays import Floats, Ints
from timelike.clusters.curves.mixture import mixture
from timelike.clusters.hierarchical import hierarchical
from timelike.clusters.spectral import spectral
from timelike.exceptions import DataWarning
from timelike.gp.fit import fit
from timelike.ontology.bhi import bhi
from timelike.pairs.distance import distance
from timelike.pairs.similarity import similarity
from timelike.reproduce import repeats, report
from timelike.reproduce.genes import STUCK

if TYPE_CHECKING:
    from timelike.clusters.clustering import Clustering
    from timelike.courses import TimeCourses
    from timelike.gp import GP
    from timelike.pairs.distance import Distance
    from timelike.pairs.similarity import Similarity
    from timelike.reproduce.settings import Run

KS = (9, 11, 13, 15, 16)
NEIGHBORS = 10
"""What the authors' script for the genes has; the paper's text says 7, which is the other script's."""
PRINTED = {
    ("spectral", "GP similarity"): (2.505, 4.250, 1.360, 3.368, 3.674),
    ("spectral", "Euclidean"): (1.368, 2.067, 2.460, 2.351, 2.919),
    ("spectral", "DTW"): (2.636, 2.087, 2.774, 2.720, 3.182),
    ("spectral", "Bregman"): (4.229, 2.725, 2.652, 3.617, 3.520),
    ("hierarchical", "GP similarity"): (1.182, 2.384, 2.366, 1.849, 3.353),
    ("hierarchical", "Euclidean"): (-0.090, 0.074, -0.266, -0.215, -0.319),
    ("hierarchical", "DTW"): (0.542, 0.566, 0.499, 0.735, 0.752),
    ("hierarchical", "Bregman"): (1.392, 1.303, 1.139, 1.388, 1.508),
}
"""The paper's z-scores, for 9, 11, 13, 15 and 16 clusters."""
STARTS = 5
"""Random starts of the spectral cut, whose clusters of genes depend on it."""
METHODS = ("spectral", "complete", "average")
MODELS = ("stuck", "fitted")
MEASURES = {"GP similarity": None, "Euclidean": "euclidean", "DTW": "dtw-absolute", "Bregman": "bregman"}


def table_bhi(run: Run) -> str:
    """z-scores of every row of the table, with the authors' hyperparameters and with fitted ones."""
    import pandas as pd

    jobs: list[repeats.Job] = [[*row, run.seed] for row in rows_of_table()]
    results = repeats.run(one_row, jobs, run.work / "table-bhi.jsonl", run.processes, "table-bhi")
    columns = ["model", "measure", "method", "start", *(f"k={k}" for k in KS)]
    table = pd.DataFrame([job[:4] + z for job, z in zip(jobs, results, strict=True)], columns=columns)
    run.save(table, "table-bhi", digits=4)
    return report.bhi(table, PRINTED)


def rows_of_table() -> Iterator[tuple[str, str, str, int]]:
    """Model, measure, method and start of every row; a model matters only where a measure uses it."""
    for method in METHODS:
        for measure in MEASURES:
            for model in MODELS if measure in ("GP similarity", "Bregman") else ("none",):
                for start in range(STARTS if method == "spectral" else 1):
                    yield model, measure, method, start
    for model in MODELS:
        yield model, "GP mixture", "mixture", 0


def one_row(job: repeats.Job) -> list[float]:
    """z-scores of one row of the table, for each number of clusters."""
    model, measure, method, start, seed = job
    chosen, alike = gene_similarity()
    clusterings = _mixtures(model) if method == "mixture" else _clusterings(_matrix(model, measure), method, start)
    return [round(bhi(c.labels[chosen], alike, seed=seed).z, 4) for c in clusterings]


def _mixtures(model: str) -> Iterator[Clustering]:
    """Not in the paper: clusters with curves, one mixture for each number of clusters."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # says when the data support fewer clusters
        yield from (mixture(_courses(), _model(model), k) for k in KS)


def _clusterings(matrix: Similarity | Distance, method: str, start: int) -> Iterator[Clustering]:
    if method == "spectral":
        return (spectral(matrix, k, neighbors=NEIGHBORS, seed=start) for k in KS)
    return (hierarchical(matrix, k, linkage=method) for k in KS)


@lru_cache(maxsize=2)
def _matrix(model: str, measure: str) -> Similarity | Distance:
    name = MEASURES[measure]
    if name is None:
        return similarity(_courses(), _model(model), threads=1)
    return distance(_courses(), name, None if model == "none" else _model(model))


@lru_cache(maxsize=1)
def _courses() -> TimeCourses:
    return datasets.reprogramming()


@lru_cache(maxsize=2)
def _model(model: str) -> GP:
    return STUCK if model == "stuck" else fit(_courses(), clock="linear")


@lru_cache(maxsize=1)
def gene_similarity() -> tuple[Ints, Floats]:
    """The courses that stand for a gene, its first probe, and the similarity of those genes."""
    symbols = np.array(datasets.symbols())
    first = np.unique(symbols, return_index=True)[1]
    chosen = np.sort(first[symbols[first] != ""])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # old symbols that the annotation no longer knows
        known = ontology.read(*datasets.gene_ontology(), aspect="P", drop=("IEA",))
        return chosen, known.similarity(symbols[chosen])
