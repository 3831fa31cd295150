"""Our size factors, dispersions, values and errors beside those of DESeq2 and limma-voom, on the fission yeast counts.

Run ``python benchmarks/counts.py [data folder]``; needs R with DESeq2 and limma. Writes results/counts.md.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd
import racing

from timelike.courses.counts import Counted, Groups, counted

LEAST = 10.0
"""Mean count from which on genes are compared: below it nobody knows their dispersion."""


def main(data: Path) -> None:
    folder = data / "fission"
    counts = pd.read_csv(folder / "counts.csv.gz", index_col=0)
    samples = pd.read_csv(folder / "samples.csv")
    counts = counts[counts.sum(axis=1) > 0]
    groups = Groups.made(samples["minute"].to_numpy(dtype=float), list(samples["strain"]))
    counted(counts.to_numpy(dtype=float)[:100], groups)  # what is computed once and kept
    start = perf_counter()
    ours = counted(counts.to_numpy(dtype=float), groups)
    seconds = perf_counter() - start
    theirs, versions, their_seconds = ask_r(folder)
    rows = [*factors(ours, theirs), *dispersions(ours, theirs, counts.index), *values(ours, theirs)]
    machine = f"{racing.machine('timelike', 'numpy', 'scipy')}; {versions}"
    about = (
        f"{len(counts):,} genes x {counts.shape[1]} samples of fission yeast ({machine}). From counts to values, with "
        f"size factors and dispersions, took us {seconds:.1f} s; size factors and dispersions alone took DESeq2 "
        f"{their_seconds:.0f} s. Below, *genes* are those with a mean count of {LEAST:g} and more."
    )
    table = racing.table(["what", "figure"], rows)
    racing.write("counts.md", f"# Counts beside DESeq2 and limma-voom\n\n{about}\n\n{table}")


def ask_r(folder: Path) -> tuple[dict[str, pd.DataFrame], str, float]:
    """The tables of the R packages, their versions, and the seconds of DESeq2."""
    with tempfile.TemporaryDirectory() as out:
        script = Path(__file__).parent / "peers" / "counts.R"
        command = ["Rscript", str(script), str(folder / "counts.csv.gz"), str(folder / "samples.csv"), out]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        names = ("factors", "dispersions", "values", "weights")
        tables = {name: pd.read_csv(Path(out) / f"{name}.csv", index_col=0) for name in names}
    versions, seconds = done.stdout.strip().splitlines()[-2:]
    return tables, versions, float(seconds)


def factors(ours: Counted, theirs: dict[str, pd.DataFrame]) -> list[list[object]]:
    deseq = theirs["factors"]["factor"].to_numpy()
    worst = np.abs(ours.size_factors * np.exp(np.log(deseq).mean()) / deseq - 1).max()
    return [["size factors: largest relative difference to DESeq2's, up to one factor for all", f"{worst:.1e}"]]


def dispersions(ours: Counted, theirs: dict[str, pd.DataFrame], genes: pd.Index) -> list[list[object]]:
    table = theirs["dispersions"].loc[genes]
    many = ours.means >= LEAST
    own, trend = np.log(ours.dispersions[many]), np.log(ours.trend[many])
    shrunk, fitted = (np.log(table[name].to_numpy()[many]) for name in ("own", "trend"))
    ratio = np.exp(np.median(trend - fitted))
    return [
        ["dispersions, shrunk: correlation of logarithms with DESeq2's", f"{np.corrcoef(own, shrunk)[0, 1]:.3f}"],
        ["dispersions, shrunk: median ratio to DESeq2's", f"{np.exp(np.median(own - shrunk)):.2f}"],
        ["trend: correlation of logarithms with DESeq2's", f"{np.corrcoef(trend, fitted)[0, 1]:.3f}"],
        ["trend: median ratio to DESeq2's", f"{ratio:.2f}"],
    ]


def values(ours: Counted, theirs: dict[str, pd.DataFrame]) -> list[list[object]]:
    voom, weights = theirs["values"].to_numpy(), theirs["weights"].to_numpy()
    many = ours.means >= LEAST
    shapes = [(x - x.mean(axis=1, keepdims=True))[many].ravel() for x in (ours.values, voom)]
    errors = [np.log(x[many]).ravel() for x in (ours.errors, 1 / np.sqrt(weights))]
    found = [
        [
            "values: correlation with voom's, also genes with fewer",
            np.corrcoef(ours.values.ravel(), voom.ravel())[0, 1],
        ],
        ["values minus the mean of each gene: correlation with voom's", np.corrcoef(*shapes)[0, 1]],
        ["errors: correlation of logarithms with voom's, 1 / sqrt(weight)", np.corrcoef(*errors)[0, 1]],
        ["errors: median ratio to voom's", np.exp(np.median(errors[0] - errors[1]))],
    ]
    return [[what, f"{figure:.4f}"] for what, figure in found]


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else racing.DATA)
