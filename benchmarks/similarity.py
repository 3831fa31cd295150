"""All pairs, against what users would pick instead: Euclidean distances, a bare matrix product, DTW.

Run ``python benchmarks/similarity.py``; it writes results/similarity.md.
"""

from __future__ import annotations

import subprocess
import sys

import numpy as np
from racing import DATA, machine, race, table, write

import timelike as tl
from timelike.pairs import elimination
from timelike.pairs.routes import route

sys.path.insert(0, "tests")


def smooth(n: int, t: int, seed: int = 0) -> tl.TimeCourses:
    """Draws from a GP on one grid, noise 0.2 of the signal."""
    rng = np.random.default_rng(seed)
    x = np.linspace(0, 1, t)
    K = np.exp(-((x[:, None] - x) ** 2) / (2 * 0.3**2)) + 1e-9 * np.eye(t)
    curves = rng.standard_normal((n, t)) @ np.linalg.cholesky(K).T
    return tl.TimeCourses.from_arrays(x, curves + 0.2 * rng.standard_normal((n, t)))


def own(n: int, seed: int = 0) -> tl.TimeCourses:
    """The paper's profiles, every course with its own 6 to 9 of 15 times."""
    rng = np.random.default_rng(seed)
    x = np.linspace(0, 1, 15)
    values = tl.simulate.curves(x)[rng.integers(0, 3, n)] + 0.08 * rng.standard_normal((n, 15))
    for row in values:
        row[rng.permutation(15)[: rng.integers(6, 10)]] = np.nan
    return tl.TimeCourses.from_arrays(x, values)


def shared_grid() -> str:
    from sklearn.metrics.pairwise import euclidean_distances

    courses, gp = smooth(5000, 10), tl.GP.se(0.3, 1.0, 0.2)
    Y = courses.values.reshape(5000, 10)
    left, right = np.random.default_rng(1).standard_normal((2, 5000, 12))
    seconds = race(
        {
            "timelike": lambda: tl.similarity(courses, gp),
            "scikit-learn euclidean_distances": lambda: euclidean_distances(Y),
            "NumPy matrix product, width 12": lambda: left @ right.T,
        },
        rounds=15,
    )
    ours = np.array(seconds["timelike"])
    rows = [
        [name, min(s), float(np.median(s)), float(ours.min() / min(s)), float(np.median(ours / np.array(s)))]
        for name, s in seconds.items()
    ]
    return "## One grid: N = 5000, t = 10\n\n" + table(
        ["", "best, s", "median, s", "timelike / this (best)", "(median of rounds)"], rows
    )


def own_grids() -> str:
    from dtaidistance import dtw

    import oracle

    courses, gp = own(2000), tl.GP.se(0.9, 0.65, 0.08)
    series = [np.array(c.values) for c in courses]
    pairs = 2000 * 2001 / 2
    contenders = {
        "timelike": lambda: tl.similarity(courses, gp),
        "dtaidistance DTW (C, parallel)": lambda: dtw.distance_matrix_fast(series, parallel=True),
    }
    try:
        from aeon.distances import dtw_pairwise_distance

        ragged = [s[None] for s in series]
        contenders["aeon DTW (Numba, 2 threads)"] = lambda: dtw_pairwise_distance(ragged, n_jobs=2)
    except ImportError:
        print("aeon is not installed: left out")
    seconds = race(contenders, rounds=5)
    best = min(seconds["timelike"])
    rows = [[name, min(s), min(s) / pairs * 1e9, min(s) / best] for name, s in seconds.items()]
    S = tl.similarity(courses, gp)
    worst = 0.0
    for i, j in np.random.default_rng(2).integers(0, 2000, (300, 2)):
        a, b = courses[int(i)], courses[int(j)]
        exact = oracle.similarity(a.times, a.values, b.times, b.values, lambda x, z: oracle.se(x, z, 0.9, 0.65), 0.0064)
        worst = max(worst, abs(S.values[i, j] - exact) / max(1.0, abs(exact)))
    return (
        "## Every course its own times: N = 2000, 6 to 9 of 15 times\n\n"
        f"Engine {elimination.name()}, basis of {len(route(gp.at(courses)).b)} functions; largest error against "
        f"the dense formula on 300 pairs, relative to s or 1: {worst:.1e}\n\n"
        + table(["", "best, s", "ns a pair", "x timelike's time"], rows)
    )


def blood_pressure() -> str:
    """In a process of its own, so that the peak memory is its own."""
    code = (
        "import time, resource, numpy as np, timelike as tl\n"
        f"c = tl.read(r'{DATA}/blood_pressure/bp10k.csv.gz', course='id', time='time', value='response')\n"
        "small = c[:1200]; tl.similarity(small, tl.fit(small))  # everything is loaded and compiled\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6\n"
        "now = lambda: int(open('/proc/self/statm').read().split()[1]) * resource.getpagesize() / 1e9\n"
        "a = time.perf_counter(); gp = tl.fit(c); b = time.perf_counter(); before = now()\n"
        "S = tl.similarity(c, gp); d = time.perf_counter()\n"
        "print(b - a, d - b, peak(), before, S.values.nbytes / 1e9, S.route)\n"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    fit, pairs, peak, before, result = map(float, out[:5])
    return "## blood_pressure: 10,000 people, own days, 5 to 525 readings\n\n" + table(
        ["fit, s", "50 million pairs, s", "result, GB", "process before, GB", "peak, GB", "added / result", "route"],
        [[fit, pairs, result, before, peak, (peak - before) / result, out[5]]],
    )


def importing() -> str:
    def cold(module: str) -> float:
        code = f"import time; a = time.perf_counter(); import {module}; print(time.perf_counter() - a)"
        runs = [
            subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(7)
        ]
        return min(float(run.stdout) for run in runs)

    numpy, ours = cold("numpy"), cold("timelike")
    return "## Import\n\n" + table(
        ["import numpy, s", "import timelike, s", "difference, s"], [[numpy, ours, ours - numpy]]
    )


if __name__ == "__main__":
    parts = [shared_grid(), own_grids(), blood_pressure(), importing()]
    head = "# All pairs\n\n" + machine("timelike", "numpy", "scikit-learn", "numba", "dtaidistance", "aeon") + "\n\n"
    write("similarity.md", head + "\n".join(parts))
