"""One small table: how long we take, over how long a peer or a bare limit takes, in turns in one process.

Run ``make ratios`` (under ten minutes; leave the machine alone): it measures all rows, compares each with the committed
results/ratios.csv, and ends with an error where one got worse beyond its scatter: where the middle half of the rounds
lies above that of then by more than a tenth. ``python benchmarks/ratios.py --write`` writes the table anew;
``--only WORD`` takes the rows that have it.
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import job
import large_clusters
import neighbors
import numpy as np
from out_of_core import cluster
from racing import RESULTS, machine, race, table
from similarity import own, smooth

import timelike as tl

TABLE = RESULTS / "ratios.csv"
BEYOND = 1.1
"""Quartiles that rise by less than a tenth are no news."""
Race = tuple[Callable[[], object], Callable[[], object]]
"""What we do, and what it is held against."""


class Ratio(NamedTuple):
    """Our time over the other's: of the best rounds, and the quartiles over the rounds."""

    best: float
    low: float
    high: float

    @classmethod
    def of(cls, ours: list[float], other: list[float]) -> Ratio:
        """The ratio, from the seconds of both in each round."""
        low, high = np.quantile(np.array(ours) / np.array(other), [0.25, 0.75])
        return cls(min(ours) / min(other), float(low), float(high))

    def worse_than(self, before: Ratio) -> bool:
        """Whether it rose beyond the scatter of both."""
        return self.low > before.high * BEYOND


class Row(NamedTuple):
    """A line of the table."""

    name: str
    against: str
    prepare: Callable[[ExitStack], Race]
    rounds: int = 7
    needs: str = "sklearn"


def grid_euclidean(_: ExitStack) -> Race:
    from sklearn.metrics.pairwise import euclidean_distances

    courses, gp = smooth(5000, 10), tl.GP.se(0.3, 1.0, 0.2)
    values = courses.values.reshape(5000, 10)
    return lambda: tl.similarity(courses, gp), lambda: euclidean_distances(values)


def grid_bare(_: ExitStack) -> Race:
    courses, gp = smooth(5000, 10), tl.GP.se(0.3, 1.0, 0.2)
    left, right = np.random.default_rng(1).standard_normal((2, 5000, 12))
    return lambda: tl.similarity(courses, gp), lambda: left @ right.T


def grid_on_disk(stack: ExitStack) -> Race:
    courses, gp = smooth(5000, 10), tl.GP.se(0.3, 1.0, 0.2)
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    values = tl.similarity(courses, gp).values
    return (
        lambda: tl.similarity(courses, gp, out=folder / "S.npy", replace=(folder / "S.npy").exists()),
        lambda: np.save(folder / "bare.npy", values),
    )


def own_times(_: ExitStack) -> Race:
    from dtaidistance import dtw

    courses, gp = own(2000), tl.GP.se(0.9, 0.65, 0.08)
    series = [np.array(c.values) for c in courses]
    return lambda: tl.similarity(courses, gp), lambda: dtw.distance_matrix_fast(series, parallel=True)


def own_times_aeon(_: ExitStack) -> Race:
    from aeon.distances import dtw_pairwise_distance

    courses, gp = own(2000), tl.GP.se(0.9, 0.65, 0.08)
    series = [np.array(c.values)[None] for c in courses]
    return lambda: tl.similarity(courses, gp), lambda: dtw_pairwise_distance(series, n_jobs=2)


def own_times_dask(stack: ExitStack) -> Race:
    courses, gp = own(12_000), tl.GP.se(0.9, 0.65, 0.08)
    client = stack.enter_context(cluster())
    return lambda: tl.similarity(courses, gp, client=client), lambda: tl.similarity(courses, gp)


def nearest(_: ExitStack) -> Race:
    values = neighbors.draws(20_000)
    courses = tl.TimeCourses.from_arrays(np.linspace(0, 1, 10), values)
    return lambda: tl.neighbors(courses, neighbors.GP, neighbors.K), neighbors.peers(values)["SciPy k-d tree"]


def mixture(stack: ExitStack, starts: int = 1) -> Race:
    from sklearn.cluster import KMeans

    path, _ = large_clusters.made(Path(stack.enter_context(tempfile.TemporaryDirectory())), 1_000_000)
    file, values = tl.CourseFile(path, large_clusters.TIMES), np.load(path)
    return (
        lambda: tl.mixture_from_chunks(file, large_clusters.GP, large_clusters.K),
        lambda: KMeans(large_clusters.K, n_init=starts, random_state=0).fit(values),
    )


def fit(_: ExitStack) -> Race:
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    courses, values = smooth(500, 10), smooth(500, 10).values.reshape(500, 10)
    kernel = ConstantKernel() * RBF() + WhiteKernel()
    times = np.linspace(0, 1, 10)[:, None]
    return lambda: tl.fit(courses, clock="linear"), lambda: GaussianProcessRegressor(kernel).fit(times, values.T)


def whole_job(stack: ExitStack) -> Race:
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    file, cache = str(job.made(folder)["200 x 10"]), folder / "cache"
    typed = job.JOB.format(file=file, out=folder / "out").split()
    return (
        lambda: job.run(job.HERE, job.COMMAND, *typed, cache=cache),
        lambda: job.run(job.HERE, job.ALONE, file, cache=cache),
    )


ROWS = [
    Row("one grid, N = 5,000", "scikit-learn euclidean_distances", grid_euclidean, 15),
    Row("one grid, N = 5,000", "bare matrix product of width 12", grid_bare, 15),
    Row("one grid, N = 5,000, to .npy", "numpy.save of the result", grid_on_disk),
    Row("own times, N = 2,000", "dtaidistance DTW", own_times, 9, "dtaidistance"),
    Row("own times, N = 2,000", "aeon DTW, 2 threads", own_times_aeon, 9, "aeon"),
    Row("own times, N = 12,000, Dask, 2 processes", "the same on 2 threads", own_times_dask, 5, "distributed"),
    Row("10 neighbours, N = 20,000", "SciPy k-d tree", nearest),
    Row("mixture, N = 1,000,000, K = 20", "scikit-learn k-means, one start", mixture, 5),
    Row("mixture, N = 1,000,000, K = 20", "scikit-learn k-means, ten starts", partial(mixture, starts=10), 3),
    Row("fit, 500 x 10", "scikit-learn GP, one start", fit),
    Row("job, 200 x 10", "a process that fits, clusters, finds neighbours", whole_job, 3),
]


def measured(rows: list[Row]) -> dict[tuple[str, str], Ratio]:
    """The ratio of each row whose peer is installed."""
    found = {}
    for row in rows:
        if find_spec(row.needs) is None:
            print(f"{row.name} against {row.against}: left out, {row.needs} is not installed")
            continue
        with ExitStack() as stack:
            ours, other = row.prepare(stack)
            seconds = race({"ours": ours, "other": other}, row.rounds)
        found[row.name, row.against] = Ratio.of(seconds["ours"], seconds["other"])
        best, low, high = found[row.name, row.against]
        print(f"{row.name} / {row.against}: {best:.3f} ({low:.3f} to {high:.3f})", flush=True)
    return found


def committed() -> dict[tuple[str, str], Ratio]:
    """What the table says, empty where there is none yet."""
    if not TABLE.exists():
        return {}
    with TABLE.open(encoding="utf-8", newline="") as file:
        return {
            (line["what"], line["against"]): Ratio(*(float(line[name]) for name in Ratio._fields))
            for line in csv.DictReader(file)
        }


def write(found: dict[tuple[str, str], Ratio]) -> None:
    """Put what was measured into the table; rows that were not measured stay."""
    rows = committed() | found
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["what", "against", *Ratio._fields])
        out.writerows([*key, *(f"{x:.3g}" for x in rows[key])] for key in rows)


def compared(found: dict[tuple[str, str], Ratio], before: dict[tuple[str, str], Ratio]) -> list[str]:
    """What got worse, in words; prints both."""
    rows: list[list[object]] = []
    worse = []
    for key, now in found.items():
        then = before.get(key)
        is_worse = then is not None and now.worse_than(then)
        word = "new" if then is None else "WORSE" if is_worse else "better" if then.worse_than(now) else "as before"
        rows.append([*key, "" if then is None else then.best, now.best, f"{now.low:.3g} to {now.high:.3g}", word])
        worse += [f"{key[0]} / {key[1]}: {now.best:.3g}, was {then.best:.3g}"] if then is not None and is_worse else []
    print(table(["what", "against", "committed", "now (best)", "quartiles", ""], rows))
    return worse


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true", help="write the table anew instead of failing")
    parser.add_argument("--only", default="", help="rows that have this word")
    asked = parser.parse_args()
    found = measured([row for row in ROWS if asked.only in f"{row.name} {row.against}"])
    worse = compared(found, committed())
    print(machine("timelike", "numpy", "scikit-learn", "numba", "dtaidistance", "aeon"))
    if asked.write:
        write(found)
    elif worse:
        sys.exit("got worse:\n" + "\n".join(worse))


if __name__ == "__main__":
    main()
