"""The whole job on made-up courses with known groups."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from timelike import plot, simulate
from timelike.evaluate import nmi
from timelike.explanation import explain
from timelike.files import atomic_path
from timelike.fitting import fit
from timelike.grouping import write
from timelike.mixtures import mixture
from timelike.similarities import similarity


def run(out: Path, seed: int) -> Iterator[str]:
    """Simulate, fit, compare, group and draw into the folder `out`; yield a line about each step."""
    courses, profile = simulate.profiles(noise=0.08, sampling="asynchronous", seed=seed)
    with atomic_path(out / "courses.csv") as temporary:
        courses.to_frame().to_csv(temporary, index=False)
    yield f"data        {courses.summary()}; three profiles of 50 courses each"
    gp = fit(courses)
    yield f"fit         length scale {gp.length_scale:.3g}, signal sd {gp.signal_sd:.3g}, noise sd {gp.noise_sd:.3g}"
    found = similarity(courses, gp)
    with atomic_path(out / "similarity.csv") as temporary:
        found.to_frame().to_csv(temporary)
    same = profile[:, None] == profile
    off_diagonal = ~np.eye(len(courses), dtype=bool)
    yield (
        f"similarity  median s within a profile {np.median(found.values[same & off_diagonal]):.2f}, "
        f"between profiles {np.median(found.values[~same]):.2f}"
    )
    clusters = mixture(courses, gp)
    written = write(out, clusters, gp, {"simulated": "profiles, asynchronous, noise 0.08", "seed": seed})
    sizes = ", ".join(map(str, clusters.sizes))
    yield f"clusters    {clusters.k} found, of sizes {sizes}; NMI with the profiles {nmi(clusters, profile):.2f}"
    axes = plot.panels(4)
    plot.courses(courses, ax=axes[0])
    plot.heatmap(found, ax=axes[1], order=np.argsort(clusters.labels, kind="stable"))
    plot.pair(courses, gp, "A01", "C01", ax=axes[2])
    plot.explanation(explain(courses, gp, "A01", "C01"), ax=axes[3])
    plot.save(axes[0], out / "similarity.png")
    yield f"results     {out}/: courses.csv, similarity.csv, similarity.png, {', '.join(written)}"
