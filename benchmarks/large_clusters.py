"""Clusters of 10^4 to 10^7 courses: cuts and communities of the neighbour graph, and the mixture from a file.

python benchmarks/large_clusters.py --scratch /tmp/large               # all sections; some take minutes
python benchmarks/large_clusters.py --scratch /tmp/large --only mixture

Every row is a process of its own, so that its peak memory is its own.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from racing import RESULTS, machine, table

import timelike as tl
from clusters import peak_gigabytes
from timelike.clusters.curves.mixture import mixture
from timelike.clusters.curves.mixture_from_chunks import mixture_from_chunks
from timelike.clusters.leiden import leiden
from timelike.clusters.nmi import nmi
from timelike.clusters.spectral import spectral
from timelike.pairs.nearest.graph import nearest_graph
from timelike.pairs.nearest.neighbors import Neighbors, neighbors
from timelike.reading.course_file import CourseFile

TIMES = np.linspace(0, 1, 10)
GP = tl.GP.se(0.3, 1.0, 0.3)
K = 20


# -- data --------------------------------------------------------------------------------------------------------


def made(folder: Path, count: int, dtype: str = "float64", rare: bool = False) -> tuple[Path, np.ndarray]:
    """A file of courses from twenty smooth curves at ten times, noise 0.3 of the signal, and their labels.

    `rare`: two of the curves have one course in a thousand each.
    """
    path, rng = folder / f"{count}{dtype}{'rare' * rare}.npy", np.random.default_rng(0)
    covariance = np.exp(-((TIMES[:, None] - TIMES) ** 2) / (2 * 0.3**2)) + 1e-9 * np.eye(10)
    curves = rng.standard_normal((K, 10)) @ np.linalg.cholesky(covariance).T
    share = np.full(K, 0.998 / 18)
    share[[7, 13]] = 0.001
    labels = rng.choice(K, count, p=share).astype(np.int8) if rare else rng.integers(0, K, count, dtype=np.int8)
    if not path.exists():
        values = np.lib.format.open_memmap(path, "w+", dtype, (count, 10))
        for start in range(0, count, 1_000_000):
            own = labels[start : start + 1_000_000]
            values[start : start + len(own)] = curves[own] + 0.3 * rng.standard_normal((len(own), 10))
        values.flush()
    return path, labels


def nearest(folder: Path, count: int) -> tuple[Neighbors, np.ndarray]:
    """The seven nearest neighbours of each course, kept in a file, and the labels."""
    path, labels = made(folder, count)
    kept = folder / f"{count}.neighbors.npy"
    if not kept.exists():
        np.save(kept, neighbors(tl.TimeCourses.from_arrays(TIMES, np.load(path)), GP, k=7).indices)
    indices = np.load(kept)
    return Neighbors(indices, np.zeros(indices.shape), tuple(map(str, range(count)))), labels


# -- runs, each in a process of its own ----------------------------------------------------------------------------


def run_neighbors(folder: Path, count: int) -> dict[str, object]:
    path, _ = made(folder, count)
    courses = tl.TimeCourses.from_arrays(TIMES, np.load(path))
    return timed(lambda: neighbors(courses, GP, k=7))[0]


def run_spectral(folder: Path, count: int) -> dict[str, object]:
    found, labels = nearest(folder, count)
    answer, result = timed(lambda: spectral(found, K))
    return answer | judged(result.labels, labels)


def run_lobpcg(folder: Path, count: int) -> dict[str, object]:
    """scikit-learn's route for large graphs, with the warning that the graph may be in pieces."""
    from sklearn.cluster import spectral_clustering

    found, labels = nearest(folder, count)
    settings = {"eigen_solver": "lobpcg", "assign_labels": "discretize", "random_state": 0}
    answer, result = timed(lambda: spectral_clustering(nearest_graph(found.indices), n_clusters=K, **settings))
    return answer | judged(result, labels)


def run_leiden(folder: Path, count: int, resolution: float, objective: str) -> dict[str, object]:
    found, labels = nearest(folder, count)
    answer, result = timed(lambda: leiden(found, resolution, objective=objective))
    return answer | judged(result.labels, labels)


def run_chunks(folder: Path, count: int, dtype: str, k: int | None, rare: bool = False) -> dict[str, object]:
    path, labels = made(folder, count, dtype, rare)
    answer, result = timed(lambda: mixture_from_chunks(CourseFile(path, TIMES), GP, k, scratch=folder))
    return answer | judged(result.nearest, labels) | {"true": recovered(result.nearest, labels)}


def run_memory(folder: Path, count: int, dtype: str, k: int | None, rare: bool = False) -> dict[str, object]:
    path, labels = made(folder, count, dtype, rare)
    courses = tl.TimeCourses.from_arrays(TIMES, np.load(path))
    answer, result = timed(lambda: mixture(courses, GP, k))
    return answer | judged(result.nearest, labels) | {"true": recovered(result.nearest, labels)}


def run_read(folder: Path, count: int, dtype: str) -> dict[str, object]:
    """One pass over the file, every course checked."""
    path, _ = made(folder, count, dtype)
    return timed(lambda: sum(len(chunk) for chunk in CourseFile(path, TIMES)))[0]


RUNS = {name.removeprefix("run_"): run for name, run in dict(globals()).items() if name.startswith("run_")}


def timed(run: Callable[[], object]) -> tuple[dict[str, object], object]:
    before, start = peak_gigabytes(), time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = run()
    return {"seconds": time.perf_counter() - start, "before": before, "peak": peak_gigabytes()}, result


def judged(found: np.ndarray, labels: np.ndarray) -> dict[str, object]:
    return {"clusters": len(np.unique(found)), "nmi": nmi(found, labels)}


def recovered(found: np.ndarray, labels: np.ndarray) -> int:
    """True clusters that one found cluster has most of, and that make up most of it."""
    joint = np.zeros((int(found.max()) + 1, K))
    np.add.at(joint, (found, labels), 1)
    both = (joint > joint.sum(axis=0) / 2) & (joint > joint.sum(axis=1, keepdims=True) / 2)
    return int(both.any(axis=0).sum())


def apart(folder: Path, name: str, *arguments: object) -> dict[str, object]:
    """The answer of a run in its own process."""
    command = [sys.executable, __file__, "--scratch", str(folder), "--run", json.dumps([name, *arguments])]
    answer = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1])
    print(name, arguments, answer, flush=True)
    return answer


# -- tables ----------------------------------------------------------------------------------------------------------


def row(what: str, count: int, answer: dict[str, object]) -> list[object]:
    seconds = float(answer["seconds"])
    figures = [seconds, 1e6 * seconds / count, answer["peak"], answer["before"]]
    return [what, count, *figures, answer.get("clusters", ""), answer.get("nmi", ""), answer.get("true", "")]


HEAD = ["", "courses", "seconds", "microseconds a course", "peak GB", "of which before", "clusters", "NMI"]
HEAD += ["true clusters recovered"]


def graphs(folder: Path, most: int) -> str:
    rows = []
    for count in [n for n in (20_000, 100_000, 1_000_000) if n <= most]:
        rows.append(row("exact 7 nearest neighbours", count, apart(folder, "neighbors", count)))
        rows.append(row("spectral, k = 20", count, apart(folder, "spectral", count)))
        if count == 20_000:
            rows.append(row("the same by scikit-learn, LOBPCG", count, apart(folder, "lobpcg", count)))
        rows.append(row("leiden, modularity, resolution 1", count, apart(folder, "leiden", count, 1.0, "modularity")))
        size = 0.2 * 7 / (count / K)
        rows.append(row(f"leiden, cpm, resolution {size:.2g}", count, apart(folder, "leiden", count, size, "cpm")))
    return "## The neighbour graph\n\n" + table(HEAD, rows)


def chunks(folder: Path, most: int) -> str:
    rows = []
    for count, dtype in [(n, d) for n, d in ((1_000_000, "float64"), (10_000_000, "float32")) if n <= most]:
        rows.append(row(f"one pass over the file, {dtype}", count, apart(folder, "read", count, dtype)))
        rows.append(row("mixture_from_chunks, K = 20", count, apart(folder, "chunks", count, dtype, K)))
        rows.append(row("mixture_from_chunks, K automatic", count, apart(folder, "chunks", count, dtype, None)))
        if count == 1_000_000:
            rows.append(row("mixture in memory, K automatic", count, apart(folder, "memory", count, dtype, None)))
    return "## The mixture, from a .npy file of 10 values a course\n\n" + table(HEAD, rows)


SECTIONS = {"graph": graphs, "mixture": chunks}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scratch", type=Path, required=True, help="folder for data, some GB")
    parser.add_argument("--only", choices=SECTIONS, nargs="*", default=list(SECTIONS))
    parser.add_argument("--most", type=int, default=10_000_000, help="courses of the largest rows")
    parser.add_argument("--run", type=json.loads, help="one run in this process: its name and its arguments")
    given = parser.parse_args()
    given.scratch.mkdir(parents=True, exist_ok=True)
    if given.run:
        name, *arguments = given.run
        print(json.dumps(RUNS[name](given.scratch, *arguments), default=float))
        return
    parts = RESULTS / "large_clusters"
    parts.mkdir(parents=True, exist_ok=True)
    for name in given.only:
        (parts / f"{name}.md").write_text(SECTIONS[name](given.scratch, given.most), encoding="utf-8")
    text = [p.read_text(encoding="utf-8") for p in (parts / f"{name}.md" for name in SECTIONS) if p.exists()]
    header = f"# Clusters of many courses\n\n{machine('numpy', 'scipy', 'scikit-learn', 'igraph')}. t = 10, {NOTE}\n"
    (RESULTS / "large_clusters.md").write_text("\n".join([header, *text]), encoding="utf-8")


NOTE = "20 true clusters, noise 0.3 of the signal: the best possible NMI is about 0.93. Each row is its own process."


if __name__ == "__main__":
    main()
