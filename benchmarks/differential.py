"""Which genes differ between two conditions over time: timelike and its peers on simulated counts, one run.

.venv-bench/bin/python benchmarks/differential.py --cache DIR     # everything; hours the first time, minutes then
... --genes 2000 --seeds 100-119 --designs 3x4 3x8                # some sizes, seeds and designs (replicates x times)
... --cases plain null --only limma_factors edger_ql              # some kinds of data, some methods

Peers are written in R (Debian: apt-get install r-bioc-limma r-bioc-edger r-bioc-deseq2). What they found is kept in the
folder of --cache, under the design, the seed and a checksum of the counts, so that only new data is given to them.
Seeds below 100 are for choosing settings; figures come from 100 on.
"""

from __future__ import annotations

import argparse
import csv
import shutil
import subprocess
import tempfile
import time
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from racing import RESULTS, machine, table

import timelike as tl

TIMES = {4: (0.0, 2.0, 8.0, 24.0), 8: tl.simulate.CLOCK_TIMES}
DESIGNS = ("2x4", "3x4", "5x4", "2x8", "3x8", "5x8")
CASES: dict[str, dict[str, object]] = {
    "plain": {},
    "inverse_chi_square": {"dispersions": "inverse chi-square"},
    "outliers": {"outliers": 0.002},
    "null": {"different": 0.0},
}
LEAST = 10
"""Genes with fewer counts than this in all samples together are given to nobody."""
LEVELS = (0.01, 0.05, 0.10)
LARGE = 10_000
"""From so many genes on there are only three seeds, and only the plain case."""
TOGETHER = 5
"""Data sets for one R process, which takes long to start."""


# -- data ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Data:
    """Which counts: everything that the generator needs."""

    case: str
    design: str
    genes: int
    seed: int

    def made(self) -> tl.simulate.SimulatedCounts:
        """The counts and the truth."""
        replicates, points = map(int, self.design.split("x"))
        settings = CASES[self.case]
        return tl.simulate.counts(self.genes, TIMES[points], replicates, seed=self.seed, **settings)  # type: ignore[arg-type]


def kept(made: tl.simulate.SimulatedCounts) -> np.ndarray:
    """Which genes are given to the methods."""
    return made.counts.sum(axis=1) >= LEAST


def laid_out(data: Data, cache: Path) -> Path:
    """The folder with the counts of a data set, for R and for anyone else."""
    made = data.made()
    check = zlib.crc32(np.ascontiguousarray(made.counts, np.int64))
    folder = cache / f"{data.case}-{data.design}-{data.genes}-{data.seed}-{check:08x}"
    if folder.exists():
        return folder
    draft = Path(tempfile.mkdtemp(dir=cache))
    np.savetxt(draft / "counts.csv", made.counts[kept(made)], fmt="%d", delimiter=",")
    rows = [f"{when},{condition}\n" for when, condition in zip(made.times, made.conditions, strict=True)]
    (draft / "samples.csv").write_text("time,condition\n" + "".join(rows), encoding="utf-8")
    np.savez_compressed(draft / "data.npz", kept=kept(made), **vars(made))
    return draft.rename(folder)


# -- methods ---------------------------------------------------------------------------------------------------------


METHODS = {
    "timelike": "**timelike**",
    "limma_factors": "limma-voom, factors, F",
    "limma_splines": "limma-voom, splines, F",
    "edger_lrt": "edgeR, LRT",
    "edger_ql": "edgeR, quasi-likelihood",
    "deseq2_lrt": "DESeq2, LRT",
}


@dataclass(frozen=True)
class Found:
    """What a method says of every gene: a score to rank by, a stated rate of false discoveries, and its seconds."""

    scores: np.ndarray
    stated: np.ndarray
    seconds: float


def run_timelike(made: tl.simulate.SimulatedCounts) -> Found:
    rows = np.flatnonzero(kept(made))
    names = [made.names[row] for row in rows]
    start = time.perf_counter()
    courses = tl.TimeCourses.from_counts(made.times, made.counts[rows], names=names, conditions=made.conditions)
    found = tl.compare(courses.by_condition())
    seconds = time.perf_counter() - start
    place = {name: row for row, name in enumerate(made.names)}
    at = np.array([place[name] for name in found.names])
    return spread_out(len(made.names), at, found.log_bayes_factor, found.fdr, seconds)


def spread_out(genes: int, at: np.ndarray, scores: np.ndarray, stated: np.ndarray, seconds: float) -> Found:
    """Answers for all genes; those without one are worst."""
    all_scores, all_stated = np.full(genes, -np.inf), np.ones(genes)
    all_scores[at] = np.nan_to_num(scores, nan=-np.inf)
    all_stated[at] = np.nan_to_num(stated, nan=1.0)
    return Found(all_scores, all_stated, seconds)


def run_peers(methods: Sequence[str], folders: Sequence[Path]) -> None:
    """Leave a file of each method in each folder; files that are there stay."""
    program = shutil.which("Rscript")
    if program is None:
        raise SystemExit("There is no Rscript: install R with limma, edgeR and DESeq2, or give --only timelike.")
    script = Path(__file__).parent / "peers" / "differential.R"
    waiting = [f for f in folders if any(not (f / f"{method}.csv").exists() for method in methods)]
    for first in range(0, len(waiting), TOGETHER):
        some = waiting[first : first + TOGETHER]
        subprocess.run([program, str(script), ",".join(methods), *map(str, some)], check=True)


def read_peer(folder: Path, method: str, made: tl.simulate.SimulatedCounts) -> Found:
    p, adjusted, seconds = np.genfromtxt(folder / f"{method}.csv", delimiter=",", skip_header=1, ndmin=2).T
    return spread_out(len(made.names), np.flatnonzero(kept(made)), -p, adjusted, seconds[0])


# -- figures ---------------------------------------------------------------------------------------------------------


def true_positive_rate(scores: np.ndarray, different: np.ndarray, level: float) -> float:
    """Share of the different genes that the longest list holds of which at most `level` are not different.

    Lists are made from the best score down; equal scores come together, and a score of minus infinity never.
    """
    order = np.argsort(-scores, kind="stable")
    right = np.cumsum(different[order])
    ends = np.flatnonzero(np.append(scores[order][1:] != scores[order][:-1], True) & (scores[order] > -np.inf))
    good = ends[(ends + 1 - right[ends]) <= level * (ends + 1)]
    return float(right[good[-1]] / different.sum()) if len(good) and different.any() else 0.0


def false_discovery_rate(stated: np.ndarray, different: np.ndarray, level: float) -> float:
    """Share of genes that do not differ among those whose stated rate is at most `level`; 0 where there are none."""
    called = stated <= level
    return float((called & ~different).sum() / max(called.sum(), 1))


Record = dict[str, object]


def judged(data: Data, method: str, found: Found, different: np.ndarray) -> Record:
    record: Record = {**vars(data), "method": method}
    for level in LEVELS:
        record[f"power_{level:.0%}"] = true_positive_rate(found.scores, different, level)
    for level in LEVELS[:2]:
        record[f"stated_{level:.0%}"] = false_discovery_rate(found.stated, different, level)
    return record | {"called_5%": int((found.stated <= 0.05).sum()), "seconds": found.seconds}


def run(some: Sequence[Data], methods: Sequence[str], cache: Path) -> Iterator[Record]:
    peers = [method for method in methods if method != "timelike"]
    folders = [laid_out(data, cache) for data in some]
    if peers:
        run_peers(peers, folders)
    for data, folder in zip(some, folders, strict=True):
        made = data.made()
        for method in methods:
            found = run_timelike(made) if method == "timelike" else read_peer(folder, method, made)
            yield judged(data, method, found, made.different)


# -- tables ----------------------------------------------------------------------------------------------------------


POWERS = [f"power_{level:.0%}" for level in LEVELS]
STATED = [f"stated_{level:.0%}" for level in LEVELS[:2]]
HOW = f"""Counts are those of `timelike.simulate.counts`: 6 % of the genes differ between two conditions, in 24 ways, by
0.5 to 3 in log2 where they differ most. A design is replicates x times. Genes with fewer than {LEAST} counts in all
samples together are given to no method and count as not found. Means over seeds, ± their standard error.

- *power at a true FDR of* 1, 5, 10 %: share of all different genes in the longest list, by the log Bayes factor or p,
  of which so many are wrong. It compares rankings; nobody knows this list outside a simulation.
- *true FDR where 1 %, 5 % is stated*: share of wrong genes among those with an adjusted p (a stated rate of timelike)
  of at most that.
- *called*: genes with a stated rate of at most 5 %.
- *seconds*: median, from counts in memory to answers. Methods in R work on one core.
- limma-voom, edgeR: TMM. Factors are `~ 0 + time + time:condition`, tested are all coefficients of the condition. It is
  `~ time * condition`, but in coefficients of which limma's F is exact; power at 5 % is up to 0.01 higher. Splines are
  natural ones with 3 (4 times) or 5 (8 times) degrees of freedom, the best of 2 to 6 on other seeds. DESeq2:
  `~ time * condition` against `~ time`, everything else as it comes; a gene to which it gives no p counts as not found.
"""
TITLES = {
    "plain": "Dispersions log-normal about their trend",
    "inverse_chi_square": "Dispersions inverse chi-square about their trend",
    "outliers": "One in 500 single counts multiplied by ten",
    "null": "No gene differs",
}


def shown(records: list[Record], key: str, digits: int = 3) -> str:
    values = np.array([float(str(record[key])) for record in records])
    error = f" ± {values.std(ddof=1) / np.sqrt(len(values)):.{digits}f}" if len(values) > 1 else ""
    return f"{values.mean():.{digits}f}{error}"


def line(method: str, records: list[Record], null: bool) -> list[object]:
    rates = [] if null else [shown(records, key) for key in POWERS + STATED]
    seconds = float(np.median([float(str(record["seconds"])) for record in records]))
    return [METHODS[method], *rates, shown(records, "called_5%", 1), seconds]


def section(records: list[Record], case: str, design: str, genes: int) -> str:
    mine = [r for r in records if (r["case"], r["design"], r["genes"]) == (case, design, genes)]
    by_method = {m: [r for r in mine if r["method"] == m] for m in METHODS}
    rates = ["power at true FDR 1 %", "5 %", "10 %", "true FDR where 1 % is stated", "5 %"]
    header = ["", *([] if case == "null" else rates), "called", "seconds"]
    rows = [line(method, its, case == "null") for method, its in by_method.items() if its]
    seeds = len({r["seed"] for r in mine})
    return f"### {design}, {genes:,} genes, {seeds} seeds\n\n{table(header, rows)}"


def page(records: list[Record]) -> str:
    parts = [f"# Differences between conditions\n\n{machine('timelike', 'numpy')}\n\n{HOW}"]
    for case, title in TITLES.items():
        cells = dict.fromkeys((r["design"], r["genes"]) for r in records if r["case"] == case)
        if cells:
            parts.append(f"## {title}\n")
        parts += [section(records, case, str(design), int(str(genes))) for design, genes in cells]
    return "\n".join(parts)


def save(records: list[Record], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "differential.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(records[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows({k: f"{v:.4g}" if isinstance(v, float) else v for k, v in r.items()} for r in records)
    (folder / "differential.md").write_text(page(records), encoding="utf-8")


# -- running ---------------------------------------------------------------------------------------------------------


def wanted(given: argparse.Namespace) -> list[list[Data]]:
    """Data sets in groups that make one table each: wrong models and nulls with three replicates and few genes."""
    groups = []
    for genes, case, design in product(given.genes, given.cases, given.designs):
        if case != "plain" and (genes >= LARGE or not design.startswith("3x")):
            continue
        seeds = given.seeds[:3] if genes >= LARGE else given.seeds
        groups.append([Data(case, design, genes, seed) for seed in seeds])
    return groups


def span(text: str) -> range:
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=span, default=span("100-119"), help="first-last")
    parser.add_argument("--genes", type=int, nargs="*", default=[2000, 18_000])
    parser.add_argument("--designs", choices=DESIGNS, nargs="*", default=DESIGNS, help="replicates x times")
    parser.add_argument("--cases", choices=CASES, nargs="*", default=list(CASES))
    parser.add_argument("--only", choices=METHODS, nargs="*", default=list(METHODS), help="methods")
    parser.add_argument("--cache", type=Path, help="folder in which the answers of peers are kept")
    parser.add_argument("--out", type=Path, default=RESULTS)
    return parser.parse_args()


def main() -> None:
    given = arguments()
    cache = given.cache or Path(tempfile.mkdtemp())
    cache.mkdir(parents=True, exist_ok=True)
    if "timelike" in given.only:
        run_timelike(Data("plain", "2x4", 200, 0).made())  # compilers do their work
    records: list[Record] = []
    for group in wanted(given):
        records += run(group, given.only, cache)
        save(records, given.out)
        print(section(records, group[0].case, group[0].design, group[0].genes), flush=True)
    if given.cache is None:
        shutil.rmtree(cache)


if __name__ == "__main__":
    main()
