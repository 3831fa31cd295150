"""Nearest courses, against exact Euclidean search on the same raw values.

Run ``python benchmarks/neighbors.py``; it writes results/neighbors.md. ``--sizes 10000 --approximate 20000 --own 5000``
runs it small. Each size runs in a process of its own, so that its peak memory is its own; ``--only PART`` runs one
part again and keeps what the file says about the others.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time

import numpy as np
from racing import RESULTS, machine, once, peak_gigabytes, table, write

import timelike as tl
from timelike.pairs.nearest.neighbors import Neighbors, neighbors

K = 10
GP = tl.GP.se(0.3, 1.0, 0.2)
ALL_PEERS = 200_000
"""Up to so many courses every peer runs; beyond, the k-d tree alone, the fastest of them."""
PARTS = {"exact": "One grid, exact", "approximate": "One grid, approximate", "own": "Every course its own times"}


def draws(n: int, t: int = 10, seed: int = 0) -> np.ndarray:
    """Curves of the GP on a grid, with its noise, made in chunks."""
    rng = np.random.default_rng(seed)
    x = np.linspace(0, 1, t)
    lower = np.linalg.cholesky(np.exp(-((x[:, None] - x) ** 2) / (2 * 0.3**2)) + 0.2**2 * np.eye(t))
    values = np.empty((n, t))
    for start in range(0, n, 1_000_000):
        part = values[start : start + 1_000_000]
        part[...] = rng.standard_normal(part.shape) @ lower.T
    return values


def peers(values: np.ndarray) -> dict:
    """Exact Euclidean search of K neighbours, the course itself not counted, on two threads."""
    import faiss
    from scipy.spatial import cKDTree
    from sklearn.neighbors import NearestNeighbors

    def flat():
        index = faiss.IndexFlatL2(values.shape[1])
        index.add(values.astype(np.float32))
        return index.search(values.astype(np.float32), K + 1)

    tree = {"SciPy k-d tree": lambda: cKDTree(values).query(values, K + 1, workers=-1)}
    if len(values) > ALL_PEERS:
        return tree
    brute = NearestNeighbors(n_neighbors=K, algorithm="brute")
    return {**tree, "scikit-learn brute": lambda: brute.fit(values).kneighbors(), "FAISS flat (float32)": flat}


def same_as_brute_force(courses: tl.TimeCourses, found: Neighbors, rows: int = 200) -> bool:
    """Whether the neighbours of a sample of courses are the best of all their similarities."""
    chosen = np.random.default_rng(1).permutation(len(courses))[:rows]
    for part in np.array_split(chosen, 10):
        s = tl.similarity(courses[part], GP, courses).values
        s[np.arange(len(part)), part] = -np.inf
        best = np.argsort(-s, axis=1, kind="stable")[:, :K]
        if not (best == found.indices[part]).all():
            return False
    return True


def exact(n: int, rounds: int) -> dict:
    values = draws(n)
    courses = tl.TimeCourses.from_arrays(np.linspace(0, 1, 10), values)
    neighbors(courses[:1000], GP, K)
    start = peak_gigabytes()
    ours = [once(lambda: neighbors(courses, GP, K))]
    peak = peak_gigabytes()
    seconds: dict[str, list[float]] = {"timelike": ours, **{name: [] for name in peers(values)}}
    for turn in range(rounds):
        if turn:
            ours.append(once(lambda: neighbors(courses, GP, K)))
        for name, run in peers(values).items():
            seconds[name].append(once(run))
    same = same_as_brute_force(courses, neighbors(courses, GP, K))
    return {"n": n, "seconds": seconds, "before": start, "peak": peak, "same": same}


def approximate(n: int, _rounds: int) -> dict:
    courses = tl.TimeCourses.from_arrays(np.linspace(0, 1, 10), draws(n))
    before = peak_gigabytes()
    start = time.perf_counter()
    found = neighbors(courses, GP, K, approximate=True)
    seconds = time.perf_counter() - start
    return {"n": n, "seconds": seconds, "before": before, "peak": peak_gigabytes(), "recall": found.recall}


def some_of_a_grid(n: int) -> tl.TimeCourses:
    rng = np.random.default_rng(0)
    values = draws(n, 15)
    dropped = np.argsort(np.argsort(rng.random(values.shape), axis=1), axis=1) < rng.integers(7, 10, (n, 1))
    return tl.TimeCourses.from_arrays(np.linspace(0, 1, 15), np.where(dropped, np.nan, values))


def anywhere(n: int) -> tl.TimeCourses:
    rng = np.random.default_rng(0)
    times, values = [], []
    for size in (6, 7, 8):
        x = np.sort(rng.random((n // 3 + 1, size)), axis=1)
        K_y = np.exp(-((x[:, :, None] - x[:, None]) ** 2) / (2 * 0.3**2)) + 0.2**2 * np.eye(size)
        times += list(x)
        values += list((np.linalg.cholesky(K_y) @ rng.standard_normal((*x.shape, 1)))[:, :, 0])
    return tl.TimeCourses.from_arrays(times, values)[:n]


def own(n: int, _rounds: int) -> dict:
    rows = []
    for title, make in (("6 to 8 of 15 times", some_of_a_grid), ("6 to 8 times anywhere", anywhere)):
        courses = make(n)
        neighbors(courses[:2000], GP, K)
        start = time.perf_counter()
        found = neighbors(courses, GP, K)
        rows.append([title, n, found.route, time.perf_counter() - start, peak_gigabytes(), found.recall])
    return {"rows": rows}


def exact_text(results: list[dict]) -> str:
    rows = []
    for found in results:
        ours = np.array(found["seconds"]["timelike"])
        for name, seconds in found["seconds"].items():
            ratio = float(np.median(ours[: len(seconds)] / np.array(seconds)))
            rows.append([found["n"], name, min(seconds), min(ours) / min(seconds), ratio, len(seconds)])
    memory = "".join(
        f"N = {f['n']:,}: the process takes {f['peak']:.2f} GB at its peak, {f['before']:.2f} GB before the search; "
        f"200 courses compared with all others by brute force: {'identical' if f['same'] else 'NOT identical'}.\n\n"
        for f in results
    )
    header = ["N", "", "best, s", "timelike / this (best)", "(median of rounds)", "rounds"]
    left_out = f"Beyond {ALL_PEERS:,} courses only the fastest of the Euclidean searches runs.\n\n"
    setting = "10 nearest, t = 10, length scale 0.3 of the range, noise sd 0.2 of the signal, 2 threads.\n\n"
    return setting + table(header, rows) + "\n" + memory + left_out


def approximate_text(results: list[dict]) -> str:
    header = ["N", "s", "process before, GB", "peak, GB", "recall at 10 (100 courses)"]
    return table(header, [[f["n"], f["seconds"], f["before"], f["peak"], f["recall"]] for f in results])


def own_text(results: list[dict]) -> str:
    header = ["times", "N", "route", "s", "peak, GB", "recall at 10 (100 courses)"]
    return "The GP is given; fitting is not part of the time.\n\n" + table(
        header, [row for f in results for row in f["rows"]]
    )


def apart(part: str, n: int, rounds: int) -> dict:
    """The result of one part, from a process of its own."""
    command = [sys.executable, __file__, "--child", part, str(n), str(rounds)]
    out = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    return json.loads(out.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="*", default=[100_000, 1_000_000])
    parser.add_argument("--approximate", type=int, nargs="*", default=[10_000_000])
    parser.add_argument("--own", type=int, nargs="*", default=[100_000])
    parser.add_argument("--only", choices=list(PARTS))
    parser.add_argument("--rounds", type=int, default=3, help="at up to 200,000 courses; beyond, one")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        part, n, rounds = given.child
        print(json.dumps(globals()[part](int(n), int(rounds))))
        return
    sizes = {"exact": given.sizes, "approximate": given.approximate, "own": given.own}
    head = (
        "# Nearest courses\n\n" + machine("timelike", "numpy", "scipy", "scikit-learn", "numba", "faiss-cpu") + "\n\n"
    )
    sections = written() if given.only else {}
    for part in [given.only] if given.only else PARTS:
        results = [apart(part, n, given.rounds if n <= ALL_PEERS else 1) for n in sizes[part]]
        sections[PARTS[part]] = globals()[f"{part}_text"](results)
        write("neighbors.md", head + "\n".join(f"## {t}\n\n{sections[t]}" for t in PARTS.values() if t in sections))


def written() -> dict[str, str]:
    """The sections of the present file."""
    file = RESULTS / "neighbors.md"
    parts = file.read_text(encoding="utf-8").split("\n## ")[1:] if file.exists() else []
    return {title: text.strip() + "\n" for title, text in (part.split("\n", 1) for part in parts)}


if __name__ == "__main__":
    main()
