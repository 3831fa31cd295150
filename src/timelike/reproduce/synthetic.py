"""The paper's synthetic data: how well each measure, with each clustering, finds the three profiles."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from timelike import simulate
from timelike.clusters.hierarchical import hierarchical
from timelike.clusters.nmi import nmi
from timelike.clusters.spectral import spectral
from timelike.gp.fit import fit
from timelike.pairs.distance import distance
from timelike.pairs.similarity import similarity
from timelike.reproduce import figures, repeats, report

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike

    from timelike.clusters.clustering import Clustering
    from timelike.courses import TimeCourses
    from timelike.pairs.distance import Distance
    from timelike.pairs.similarity import Similarity
    from timelike.reproduce.settings import Run

GROUPS = 3
MEASURES = {
    "GP similarity": None,
    "Euclidean": "euclidean",
    "Bregman": "bregman",
    "DTW": "dtw-absolute",  # the authors call MATLAB's dtw
}
"""The measures of the paper's figures, and what :func:`timelike.distance` calls them."""
CLUSTERINGS: dict[str, Callable[[Similarity | Distance, int], Clustering]] = {
    "spectral": spectral,
    "hierarchical": hierarchical,
}


@dataclass(frozen=True)
class Figure:
    """One of the paper's figures: a sampling, at several levels of noise, and the printed p-values."""

    name: str
    sampling: str
    noises: tuple[float, ...]
    printed: dict[str, tuple[float, ...]]
    """p-values of GP similarity against Euclidean, for each clustering and noise."""


EVEN = Figure(
    "figure-even",
    "even",
    (0.08, 0.10, 0.12),
    {"spectral": (0.043, 2.5e-7, 7.6e-16), "hierarchical": (1.4e-15, 1.7e-25, 1.1e-20)},
)
UNEVEN = Figure("figure-uneven", "uneven", (0.08, 0.10), {})
ASYNC = Figure("figure-async", "asynchronous", (0.08,), {})


def even(run: Run) -> str:
    """Even sampling, noise 0.08, 0.10 and 0.12; and the paper's first two figures."""
    figures.sampling(run.out / "sampling")
    figures.two_pairs(run.out / "pairs", seed=run.seed)
    return _figure(EVEN, run)


def uneven(run: Run) -> str:
    """Uneven sampling, noise 0.08 and 0.10."""
    return _figure(UNEVEN, run)


def asynchronous(run: Run) -> str:
    """Each course at its own 7, 8 or 9 of 15 times, noise 0.08."""
    figures.own_times(run.out / "async-courses", seed=run.seed)
    return _figure(ASYNC, run)


def _figure(figure: Figure, run: Run) -> str:
    scores = all_scores(figure, run)
    table = summary(scores)
    run.save(scores, figure.name, digits=4)
    run.save(table, f"{figure.name}-summary", digits=4)
    figures.bars(table, run.out / figure.name)
    return report.synthetic(figure.name, table, figure.printed)


# -- one repeat ------------------------------------------------------------------------------------------------


def all_scores(figure: Figure, run: Run) -> pd.DataFrame:
    """NMI of every repeat: columns noise, repeat, then one for each measure and clustering."""
    import pandas as pd

    places = [(noise, r) for noise in figure.noises for r in range(run.repeats)]
    jobs: list[repeats.Job] = [[figure.sampling, noise, run.seed, r] for noise, r in places]
    results = repeats.run(one_repeat, jobs, run.work / f"{figure.name}.jsonl", run.processes, figure.name)
    rows = [{"noise": noise, "repeat": r, **scores} for (noise, r), scores in zip(places, results, strict=True)]
    return pd.DataFrame(rows)


def one_repeat(job: repeats.Job) -> dict[str, float]:
    """NMI of each measure with each clustering, on one made-up data set."""
    sampling, noise, seed, number = job
    courses, truth = simulate.profiles(noise, sampling, seed=seed_of(sampling, noise, seed, number))
    return {
        f"{measure}, {name}": round(nmi(cluster(matrix, GROUPS), truth), 6)
        for measure, matrix in matrices(courses)
        for name, cluster in CLUSTERINGS.items()
    }


def matrices(courses: TimeCourses) -> Iterator[tuple[str, Similarity | Distance]]:
    """Each measure that is defined for the courses, under its name in the figures."""
    gp = fit(courses, clock="linear")
    for title, measure in MEASURES.items():
        if measure is None:
            yield title, similarity(courses, gp, threads=1)
        elif measure != "euclidean" or courses.grid is not None:
            yield title, distance(courses, measure, gp)


def seed_of(sampling: str, noise: float, seed: int, number: int) -> int:
    """A seed of its own for every data set, whatever ran before or beside it."""
    words = [seed, simulate.SAMPLINGS.index(sampling), round(1000 * noise), number]
    return int(np.random.SeedSequence(words).generate_state(1)[0])


# -- all repeats -----------------------------------------------------------------------------------------------


def summary(scores: pd.DataFrame) -> pd.DataFrame:
    """Mean and standard deviation of each panel's bars, and p-values of the GP similarity against the bar."""
    import pandas as pd

    rows = [
        _bar(part, noise, measure, clustering)
        for noise, part in scores.groupby("noise")
        for clustering in CLUSTERINGS
        for measure in MEASURES
        if f"{measure}, {clustering}" in part
    ]
    return pd.DataFrame(rows)


def _bar(part: pd.DataFrame, noise: float, measure: str, clustering: str) -> dict[str, float | str]:
    values = part[f"{measure}, {clustering}"].to_numpy()
    ours = part[f"GP similarity, {clustering}"].to_numpy()
    return {
        "noise": noise,
        "clustering": clustering,
        "measure": measure,
        "repeats": len(values),
        "mean": values.mean(),
        "sd": values.std(ddof=1) if len(values) > 1 else 0.0,
        "p": rank_sum(ours, values) if measure != "GP similarity" and len(values) > 1 else np.nan,
    }


def rank_sum(sample_a: ArrayLike, sample_b: ArrayLike) -> float:
    """Two-sided p-value of the Wilcoxon rank-sum test that two samples come from one distribution.

    Normal approximation with corrections for ties and continuity, as MATLAB's ``ranksum`` has for samples
    like the paper's; SciPy's function ``ranksums`` makes neither correction.

    Examples
    --------
    >>> round(rank_sum([1, 2, 3, 4, 5], [4, 5, 6, 7, 8]), 4)
    0.0356
    """
    from scipy.stats import mannwhitneyu

    return float(mannwhitneyu(sample_a, sample_b, method="asymptotic").pvalue)
