"""One family stays one cluster, and fifty are found: numbers of clusters on simulated sets, everything fitted.

python benchmarks/family.py                        # writes results/family.md, about half an hour on a quiet core
python benchmarks/family.py --only many --sets 2   # some of the sections, see SECTIONS

Rules were chosen on seeds below 100,000; those here begin at 300,000.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from racing import RESULTS, machine, table

import timelike as tl

FOLDER = RESULTS / "family"
FIRST = 300_000
COUNTS = (300, 1_000, 3_000, 10_000, 30_000)
X = np.linspace(0, 1, 10)
Set = tuple[tl.TimeCourses, np.ndarray]


class Family(NamedTuple):
    """How courses of a family are made: on [0, 1], deviations with the kernel of the curve."""

    times: int = 10
    scale: float = 0.3
    spread: float = 0.2
    noise: float = 0.3
    kernel: str = "se"


def root(x: np.ndarray, scale: float, kernel: str) -> np.ndarray:
    """What makes curves of independent numbers."""
    d = np.abs(x[:, None] - x) / scale
    K = {"se": np.exp(-(d**2) / 2), "matern32": (1 + 3**0.5 * d) * np.exp(-(3**0.5) * d), "matern12": np.exp(-d)}
    return np.linalg.cholesky(K[kernel] + 1e-9 * np.eye(len(x)))


def families(seed: int, count: int, groups: int = 1, made: Family = Family()) -> Set:  # noqa: B008
    """So many courses of so many families, and which is whose."""
    rng, x = np.random.default_rng(seed), np.linspace(0, 1, made.times)
    curves, labels = root(x, made.scale, made.kernel), np.arange(count) % groups
    own = made.spread * rng.standard_normal((count, made.times)) @ curves.T
    own += made.noise * rng.standard_normal((count, made.times))
    shared = rng.standard_normal((groups, made.times)) @ curves.T
    return tl.TimeCourses.from_arrays(x, shared[labels] + own), labels


def clustered(courses: tl.TimeCourses, kernel: str = "se", **settings: int) -> tuple[tl.CurveClustering, float]:
    """The mixture with everything fitted, and its CPU seconds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gp = tl.fit(courses, kernel=kernel)
        start = time.process_time()
        return tl.mixture(courses, gp, **settings), time.process_time() - start


def row(name: str, makes: list[Callable[[], Set]], wanted: int = 1, **settings: object) -> list[object]:
    """How often the number is right, the numbers found, agreement and seconds."""
    from sklearn.metrics import adjusted_rand_score

    ks, scores, seconds = [], [], []
    for make in makes:
        courses, truth = make()
        found, took = clustered(courses, **settings)
        ks.append(found.k)
        scores.append(adjusted_rand_score(truth, found.nearest))
        seconds.append(took)
    others = ", ".join(map(str, sorted(k for k in ks if k != wanted)))
    cells = [name, f"{ks.count(wanted)} of {len(ks)}", others, float(np.mean(scores)), float(np.median(seconds))]
    print(cells, flush=True)
    return cells


HEAD = ["", "K right", "K otherwise", "ARI, mean", "CPU seconds, median"]


def seeds(sets: int) -> range:
    """Those that are reported."""
    return range(FIRST, FIRST + sets)


def homogeneous(sets: int) -> str:
    """One family of ever more courses."""
    made = "Length scale 0.3, spread 0.2, noise 0.3, ten times."
    rows = [row(f"{n:,} courses", [lambda s=s, n=n: families(s, n) for s in seeds(sets)]) for n in COUNTS]
    return f"## One family\n\n{made}\n\n" + table(HEAD, rows)


def sine(sets: int) -> str:
    """Courses that share sin(6 t) at five times."""

    def make(seed: int, spread: float) -> Set:
        rng, x = np.random.default_rng(seed), np.linspace(0, 1, 5)
        own = spread * rng.standard_normal((1000, 5)) @ root(x, 0.3, "se").T + 0.3 * rng.standard_normal((1000, 5))
        return tl.TimeCourses.from_arrays(x, np.sin(6 * x) + own), np.zeros(1000)

    rows = [row(f"spread {w}", [lambda s=s, w=w: make(s, w) for s in seeds(sets)]) for w in (0.0, 0.2)]
    return "## sin(6 t) at five times, noise 0.3, 1,000 courses\n\n" + table(HEAD, rows)


def anyhow(seed: int) -> tuple[Family, int]:
    """A family at random, and how many courses of it."""
    rng = np.random.default_rng(seed)
    choice = [rng.choice(each) for each in ((5, 7, 10, 15), (0.0, 0.1, 0.2, 0.4), (0.1, 0.3, 0.6), (300, 1000, 3000))]
    kernel = str(rng.choice(["se", "matern32", "matern12"]))
    return Family(int(choice[0]), float(10 ** rng.uniform(-1, 0)), *map(float, choice[1:3]), kernel), int(choice[3])


def noisy(seed: int, kind: str) -> Set:
    """One family of 1,000 whose noise is not the model's."""
    rng = np.random.default_rng(seed)
    own = 0.2 * rng.standard_normal((1000, 10)) @ root(X, 0.3, "se").T + rng.standard_normal(10) @ root(X, 0.3, "se").T
    sd = 0.3 * np.exp(0.5 * rng.standard_normal((1000, 1))) if kind == "own" else 0.3
    noise = rng.standard_normal((1000, 10)) if kind == "own" else rng.standard_t(5, (1000, 10)) / np.sqrt(5 / 3)
    return tl.TimeCourses.from_arrays(X, own + sd * noise), np.zeros(1000)


def own_times(seed: int) -> Set:
    """One family of 300, six to nine times each."""
    from sure import families as of_sure

    return of_sure(seed, 1, 300, spread=0.2, own_times=True)


def kinds(sets: int) -> str:
    """One family of any kind."""
    rows = []
    for kernel in ("se", "matern32"):
        drawn = [(s, *anyhow(s)) for s in seeds(sets)]
        makes = [lambda s=s, made=made, n=n: families(s, n, made=made) for s, made, n in drawn]
        rows.append(row(f"any scale, spread, noise, kernel; {kernel} fitted", makes, kernel=kernel))
    rows.append(row("noise with heavy tails (Student, 5)", [lambda s=s: noisy(s, "heavy") for s in seeds(sets)]))
    rows.append(row("noise of each course its own", [lambda s=s: noisy(s, "own") for s in seeds(sets)]))
    rows.append(row("own times", [lambda s=s: own_times(s) for s in seeds(sets)]))
    return "## One family of any kind\n\n" + table(HEAD, rows)


def many(sets: int) -> str:
    """Fifty clusters, spread 0."""
    rows = []
    for noise in (0.2, 0.3):
        makes = [lambda s=s, v=noise: families(s, 5000, 50, Family(spread=0.0, noise=v)) for s in seeds(sets)]
        rows.append(row(f"noise {noise}", makes, 50))
        rows.append(row(f"noise {noise}, max_k = 100", makes, 50, max_k=100))
    return "## Fifty clusters, 5,000 courses\n\n" + table(HEAD, rows)


def few(sets: int) -> str:
    """Sets of which the number was right before."""
    rows = []
    for sampling, noise in (("even", 0.08), ("even", 0.1), ("uneven", 0.08)):
        makes = [lambda s=s, v=noise, how=sampling: tl.simulate.profiles(v, how, seed=s) for s in seeds(sets)]
        rows.append(row(f"profiles, {sampling} {noise}", makes, 3))
    for k, spread in ((12, 0.15), (20, 0.0)):
        makes = [lambda s=s, k=k, w=spread: families(s, 50 * k, k, Family(spread=w)) for s in seeds(sets)]
        rows.append(row(f"{k} clusters of 50, spread {spread}", makes, k))
    return "## Several clusters\n\n" + table(HEAD, rows)


SECTIONS: dict[str, Callable[[int], str]] = {
    "homogeneous": homogeneous,
    "sine": sine,
    "kinds": kinds,
    "many": many,
    "few": few,
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", nargs="+", default=list(SECTIONS), choices=list(SECTIONS))
    parser.add_argument("--sets", type=int, default=20)
    options = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in options.only:
        (FOLDER / f"{name}.md").write_text(SECTIONS[name](options.sets), encoding="utf-8")
    parts = [path.read_text(encoding="utf-8") for name in SECTIONS if (path := Path(FOLDER / f"{name}.md")).exists()]
    title = f"# How many families\n\n{machine('numpy', 'scipy', 'scikit-learn')}. Seeds from {FIRST:,} on.\n\n"
    (RESULTS / "family.md").write_text(title + "\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
