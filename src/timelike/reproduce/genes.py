"""The paper's gene expression data: three genes, and the length scale that never left its start."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from timelike import datasets
from timelike.gp import GP
from timelike.gp.fit import fit
from timelike.pairs.distance import distance
from timelike.pairs.similarity import similarity
from timelike.reproduce import figures, report

if TYPE_CHECKING:
    import pandas as pd

    from timelike.courses import TimeCourses
    from timelike.reproduce.settings import Run

GENES = ["Samd14", "Fbln5", "Serpine1"]
PRINTED = {
    "Euclidean distance": (5.09, 5.09),
    "- similarity": (37.48, 25.57),
}
"""From Samd14 to Fbln5 and to Serpine1."""
STUCK = GP.se(length_scale=1.0, signal_sd=3.17884, noise_sd=0.358086, mean=9.491161)
"""Where the authors' optimiser stopped: its length scale is the one it started from."""


def genes(run: Run) -> str:
    """The distances between three genes, as printed, with the authors' hyperparameters, and fitted."""
    courses = datasets.reprogramming()
    gp = fit(courses, clock="linear")
    table = three_genes(courses, gp)
    profile = length_scales(courses, gp)
    run.save(table, "genes")
    run.save(profile, "genes-length-scale", digits=8)
    figures.genes(courses, gp, GENES, run.out / "genes")
    figures.pairs(courses, gp, [("Samd14", "Fbln5"), ("Samd14", "Serpine1")], run.out / "genes-pairs", "hours")
    figures.lines(
        profile["length_scale"].to_numpy(),
        {"log likelihood": profile["log_likelihood"].to_numpy()},
        ("length scale (hours)", "log likelihood"),
        run.out / "genes-length-scale",
    )
    return report.genes(table, STUCK, gp, STUCK.score(courses))


def three_genes(courses: TimeCourses, gp: GP) -> pd.DataFrame:
    """The figure's numbers: columns quantity, pair, printed, stuck (authors' hyperparameters), fitted."""
    import pandas as pd

    chosen = courses.select(GENES)
    ours = {
        "Euclidean distance": [distance(chosen, "euclidean").values[0]] * 2,
        "- similarity": [-similarity(chosen, model).values[0] for model in (STUCK, gp)],
    }
    rows = [
        [quantity, f"Samd14, {GENES[j]}", printed[j - 1], ours[quantity][0][j], ours[quantity][1][j]]
        for quantity, printed in PRINTED.items()
        for j in (1, 2)
    ]
    return pd.DataFrame(rows, columns=["quantity", "pair", "printed", "stuck", "fitted"])


def length_scales(courses: TimeCourses, gp: GP) -> pd.DataFrame:
    """The log likelihood at many length scales, with the other hyperparameters of `gp`."""
    import pandas as pd

    scales = np.geomspace(0.5, 90, 40)
    heights = [GP.se(scale, gp.signal_sd, gp.noise_sd, gp.mean).score(courses) for scale in scales]
    return pd.DataFrame({"length_scale": scales, "log_likelihood": heights})
