"""Where the similarity becomes the Euclidean distance: the limit of small noise (paper, eq. GP_equals_Euclidean)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from timelike import simulate
from timelike.gp import GP
from timelike.pairs.distance import distance
from timelike.pairs.similarity import similarity
from timelike.reproduce import figures, report

if TYPE_CHECKING:
    import pandas as pd

    from timelike.courses import TimeCourses
    from timelike.reproduce.settings import Run

LENGTH_SCALES = (0.02, 0.1, 0.3, 0.9)
"""In units of the span of the times; the last is about what a fit to these data gives."""
RATIOS = tuple(10.0 ** np.arange(-12, 1))
"""Noise variance divided by signal variance."""


def euclidean_limit(run: Run) -> str:
    """How far the order of pairs by similarity is from their order by Euclidean distance."""
    table = agreement(run.seed)
    run.save(table, "euclidean-limit")
    curves = {
        f"length scale {scale:g}": part["disagreement"].to_numpy() for scale, part in table.groupby("length_scale")
    }
    labels = ("noise variance / signal variance", "1 - rank correlation with\n- squared Euclidean distance")
    figures.lines(np.array(RATIOS), curves, labels, run.out / "euclidean-limit", log_y=True)
    return report.limit(table)


def agreement(seed: int) -> pd.DataFrame:
    """For each length scale and noise: one minus Spearman's correlation, and the paper's small number.

    The small number is ``noise variance * |K^-1|``; the expansion of the paper holds where it is far below one.
    """
    import pandas as pd

    courses, _ = simulate.profiles(noise=0.08, per_group=20, seed=seed)
    upper = np.triu_indices(len(courses), 1)
    euclidean = distance(courses, "euclidean").values[upper] ** 2
    rows = [
        {"length_scale": scale, "ratio": ratio, **_compare(courses, GP.se(scale, 1.0, np.sqrt(ratio)), euclidean)}
        for scale in LENGTH_SCALES
        for ratio in RATIOS
    ]
    return pd.DataFrame(rows)


def _compare(courses: TimeCourses, gp: GP, euclidean: np.ndarray) -> dict[str, float]:
    from scipy.stats import spearmanr

    s = similarity(courses, gp, threads=1).values[np.triu_indices(len(courses), 1)]
    K = gp.covariance(courses.designs.points)
    smallest = max(float(np.linalg.eigvalsh(K)[0]), np.finfo(float).eps)
    disagreement = max(1 - float(spearmanr(s, -euclidean).statistic), 1e-9)
    return {"small_number": gp.noise_sd**2 / smallest, "disagreement": disagreement}
