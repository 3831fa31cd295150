"""reproduction.md: printed value, our value, and why they differ. Only words and tables; nothing is computed here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from timelike.base.files import atomic_write

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pandas as pd

    from timelike.gp import GP

HEADER = """# The paper's experiments, made again

Liu and Barahona, *Similarity measure for sparse time course data based on Gaussian processes* (UAI 2021).
Written by `timelike reproduce`; the CSV files beside this page have the numbers behind it.
"""


def write(out: Path, work: Path, order: Iterable[str]) -> Path:
    """Put the parts that are finished together, in the given order; the path of the page."""
    parts = [work / f"{name}.md" for name in order]
    page = out / "reproduction.md"
    with atomic_write(page) as file:
        file.write("\n".join([HEADER, *(part.read_text(encoding="utf-8") for part in parts if part.exists())]))
    return page


def table(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A table in Markdown.

    Examples
    --------
    >>> print(table(["k", "z"], [[9, 2.5]]))
    | k | z |
    |---|---|
    | 9 | 2.5 |
    """
    header = list(columns)
    lines = [header, ["---"] * len(header), *([str(cell) for cell in row] for row in rows)]
    first, rule, *rest = ("| " + " | ".join(line) + " |" for line in lines)
    return "\n".join([first, rule.replace(" ", ""), *rest])


def _section(*parts: str) -> str:
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


# -- synthetic data --------------------------------------------------------------------------------------------

TITLES = {
    "figure-even": "Even sampling (the paper's figure even)",
    "figure-uneven": "Uneven sampling (the paper's figure uneven)",
    "figure-async": "Asynchronous courses (the paper's figure async)",
}
EXTRA = {
    "figure-even": {
        "sampling": "The profiles and where they are sampled:",
        "pairs": "Two pairs and the curve that each would share:",
    },
    "figure-async": {"async-courses": "Three courses with times of their own:"},
}
WHY_P = """
Why they differ: the p-value of this test is itself a random number, which moves by several orders of magnitude from
one lot of data sets to the next (try another `--seed`). The project's page on the reproduction shows ten lots, and
which printed values lie outside them. The paper prints no means; its bars are to be compared with ours by eye.
"""


def synthetic(name: str, summary: pd.DataFrame, printed: Mapping[str, tuple[float, ...]]) -> str:
    """The section of one figure of synthetic data."""
    repeats = int(summary["repeats"].iloc[0])
    parts = [f"## {TITLES[name]}", f"Mean NMI ± standard deviation of {repeats} data sets."]
    parts += [_means(summary), f"![NMI]({name}.png)"]
    if printed:
        parts += ["Rank-sum p-value of GP similarity against Euclidean:", _p_values(summary, printed), WHY_P]
    for figure, words in EXTRA.get(name, {}).items():
        parts += [words, f"![{figure}]({figure}.png)"]
    return _section(*parts)


def _means(summary: pd.DataFrame) -> str:
    measures = list(dict.fromkeys(summary["measure"]))
    rows = []
    for (noise, clustering), part in summary.groupby(["noise", "clustering"], sort=False):
        bars = zip(part["mean"], part["sd"], strict=True)
        rows.append([f"{noise:.2f}", clustering, *(f"{mean:.3f} ± {sd:.3f}" for mean, sd in bars)])
    return table(["noise", "clustering", *measures], rows)


def _p_values(summary: pd.DataFrame, printed: Mapping[str, tuple[float, ...]]) -> str:
    ours = summary[summary["measure"] == "Euclidean"].set_index(["clustering", "noise"])["p"]
    noises = sorted(summary["noise"].unique())
    rows = [
        [f"{noise:.2f}", clustering, f"{p:.2g}", f"{ours[clustering, noise]:.2g}"]
        for clustering, row in printed.items()
        for noise, p in zip(noises, row, strict=True)
    ]
    return table(["noise", "clustering", "printed", "ours"], rows)


# -- genes -----------------------------------------------------------------------------------------------------

WHY_GENES = """
Why they differ: with samples 48 hours apart and a length scale of 1 hour, where the authors' optimiser starts, the
likelihood is flat in the length scale, so it never leaves its start. With their values the printed figures come
out; the maximum of the likelihood is elsewhere:
"""


def genes(rows: pd.DataFrame, stuck: GP, fitted: GP, stuck_score: float) -> str:
    """The section of the three genes."""
    cells = [[r.quantity, r.pair, *(f"{x:.2f}" for x in (r.printed, r.stuck, r.fitted))] for r in rows.itertuples()]
    models = [
        [name, f"{gp.length_scale:.2f} h", *(f"{x:.4f}" for x in (gp.signal_sd, gp.noise_sd, gp.mean)), f"{score:.2f}"]
        for name, gp, score in (("the authors'", stuck, stuck_score), ("fitted", fitted, fitted.log_likelihood))
    ]
    return _section(
        "## Three genes (the paper's figure genes)",
        table(["quantity", "pair", "printed", "authors' hyperparameters", "fitted"], cells),
        WHY_GENES,
        table(["model", "length scale", "signal sd", "noise sd", "mean", "log likelihood"], models),
        "![length scale](genes-length-scale.png)",
        "![three genes](genes.png)",
        "The curve that two genes would share, with its band of two standard deviations:",
        "![pairs](genes-pairs.png)",
    )


# -- the limit -------------------------------------------------------------------------------------------------

ABOUT_LIMIT = """
One minus the rank correlation of the similarity and minus the squared Euclidean distance, over all pairs of 60
courses on the even grid; zero means the same order (1e-09 stands for anything below it). Columns: length scale, in
units of the span.
"""
WHY_LIMIT = """
The limit holds, but its condition is that (noise variance / signal variance) times the norm of the inverse Gaussian
kernel matrix is small. For a length scale below the gap of the times that norm is about one, and the limit is there
at once. For a smooth kernel it is astronomically large, and the similarity does not become the Euclidean distance
at any noise that double precision can hold: it keeps ignoring what a smooth curve cannot do. On the paper's
synthetic data (fitted length scale about 0.9) the limit is not what makes the two measures cluster alike at small
noise; both simply separate the groups there.
"""


def limit(rows: pd.DataFrame) -> str:
    """The section of the Euclidean limit."""
    cells = [
        [f"{ratio:.0e}", *(f"{value:.1e}" for value in part.sort_values("length_scale")["disagreement"])]
        for ratio, part in rows.groupby("ratio")
    ]
    scales = [f"{scale:g}" for scale in sorted(rows["length_scale"].unique())]
    return _section(
        "## The Euclidean limit (the paper's eq. GP_equals_Euclidean)",
        ABOUT_LIMIT,
        table(["noise variance / signal variance", *scales], cells[::2]),
        "![limit](euclidean-limit.png)",
        WHY_LIMIT,
    )


# -- homogeneity -----------------------------------------------------------------------------------------------

ABOUT_BHI = """
z-score of the BHI against 1000 relabellings, by number of clusters. Spectral clusters use 10 neighbours, as in the
authors' script; mean ± standard deviation over random starts of the cut.
"""
WHY_LINKAGE = """
The paper's text says average linkage, the authors' script for the genes says complete. Mean absolute difference of
ours, with the authors' hyperparameters, from the printed hierarchical rows:
"""
WHY_BHI = """
A measure that is far from the printed row with both linkages does not come out here. Other reasons to differ: the
ontology and annotation of the day, the random start of the spectral cut, and 1931 courses in the authors' file where
the text says 1912.
"""


def bhi(rows: pd.DataFrame, printed: Mapping[tuple[str, str], tuple[float, ...]]) -> str:
    """The section of the table of biological homogeneity."""
    ks = [column for column in rows.columns if column.startswith("k=")]
    groups = rows.groupby(["method", "measure", "model"], sort=False)[ks]
    mean, sd = groups.mean(), groups.std()
    body: list[list[object]] = []
    for (method, measure), values in printed.items():
        body.append([method, measure, "printed", *(f"{z:.2f}" for z in values)])
        for row in mean.index:
            if row[1] == measure and (row[0] == "spectral") == (method == "spectral"):
                cells = (_spread(m, s) for m, s in zip(mean.loc[row], sd.loc[row], strict=True))
                body.append(["", "", _source(row[0], row[2]), *cells])
    mixtures = [row for row in mean.index if row[0] == "mixture"]
    body += [["mixture", row[1], _source("", row[2]), *(f"{z:.2f}" for z in mean.loc[row])] for row in mixtures]
    return _section(
        "## Biological homogeneity (the paper's table)",
        ABOUT_BHI,
        table(["method", "measure", "source", *ks], body),
        WHY_LINKAGE,
        _linkages(mean, printed),
        WHY_BHI,
    )


def _spread(mean: float, sd: float) -> str:
    return f"{mean:.2f}" if np.isnan(sd) else f"{mean:.2f} ± {sd:.2f}"


def _source(kind: str, model: str) -> str:
    words = {"stuck": ", authors' hyperparameters", "fitted": ", fitted", "none": ""}
    return f"ours{', ' + kind if kind in ('complete', 'average') else ''}{words[model]}"


def _linkages(mean: pd.DataFrame, printed: Mapping[tuple[str, str], tuple[float, ...]]) -> str:
    """How far each linkage is from each printed hierarchical row."""
    rows = []
    for (method, measure), values in printed.items():
        if method == "hierarchical":
            model = "none" if measure in ("Euclidean", "DTW") else "stuck"
            off = [np.abs(mean.loc[(kind, measure, model)] - values).mean() for kind in ("complete", "average")]
            rows.append([measure, *(f"{value:.2f}" for value in off)])
    return table(["measure", "complete", "average"], rows)
