"""The whole job on made-up courses with known groups."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from timelike import plot, simulate
from timelike.base.tables import write_table
from timelike.clusters.nmi import nmi
from timelike.pairs.explain import explain
from timelike.pairs.similarity import Similarity, similarity
from timelike.runs.analyse import analyse, in_time
from timelike.runs.analysis import Analysis
from timelike.runs.folder import new_folder


def run(out: Path, seed: int, *, overwrite: bool = False) -> Iterator[str]:
    """Simulate, fit, compare, group, draw and report into the folder `out`; yield a line about each step."""
    new_folder(out, overwrite)
    courses, profile = simulate.profiles(noise=0.08, sampling="asynchronous", seed=seed)
    write_table(courses.to_frame(), out / "courses.csv")
    yield f"data        {courses.summary()}; three profiles of 50 courses each"
    found = analyse(out / "courses.csv", out, overwrite=True, seed=seed)
    gp, clusters = found.gp, found.clustering
    yield f"fit         {in_time(gp)}signal sd {gp.signal_sd:.3g}, noise sd {gp.noise_sd:.3g}"
    S = similarity(courses, gp)
    write_table(S.to_frame(), out / "similarity.csv", index=True)
    same = profile[:, None] == profile
    off_diagonal = ~np.eye(len(courses), dtype=bool)
    yield (
        f"similarity  median s within a profile {np.median(S.values[same & off_diagonal]):.2f}, "
        f"between profiles {np.median(S.values[~same]):.2f}"
    )
    sizes = ", ".join(map(str, clusters.sizes))
    yield f"clusters    {clusters.k} found, of sizes {sizes}; NMI with the profiles {nmi(clusters, profile):.2f}"
    _draw(found, S, out / "similarity.png")
    names = ["courses.csv", "similarity.csv", "similarity.png", *(path.name for path in found.files)]
    yield f"results     {out}/: {', '.join(names)}"
    yield f"report      open {out / 'report.html'} in a browser"


def _draw(found: Analysis, S: Similarity, path: Path) -> None:
    axes = plot.panels(4)
    courses, gp = found.courses, found.gp
    plot.courses(courses, ax=axes[0])
    plot.heatmap(S, ax=axes[1], order=np.argsort(found.clustering.labels, kind="stable"))
    plot.pair(courses, gp, "A01", "C01", ax=axes[2])
    plot.explanation(explain(courses, gp, "A01", "C01"), ax=axes[3])
    plot.save(axes[0], path)
