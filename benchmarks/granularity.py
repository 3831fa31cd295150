"""How many clusters, and whether they come again: simulated families, many clusters, noise, continua, real data.

python benchmarks/granularity.py                 # writes results/granularity.md, about half an hour
python benchmarks/granularity.py --only twenty   # some of the sections, see SECTIONS

Rules were chosen on other seeds than those here: below 400, and seeds 0 to 5 of own times, which are stated apart.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from peers import twenty_own
from racing import RESULTS, machine, table
from real_courses import drosophila, mouse_flu, reprogramming

import timelike as tl
from clusters import blood_pressure, growth, twenty, yeast

FOLDER = RESULTS / "granularity"
X = np.linspace(0, 1, 10)
FEW = 500
"""Halves of so many real courses at most are clustered: larger ones take minutes."""
FIRST = 700
"""The first of the seeds that nothing was chosen by."""


def drawn(rng: np.random.Generator, count: int, matern: bool = False) -> np.ndarray:
    """So many curves of a Gaussian process at ten times."""
    d = np.abs(X[:, None] - X) / 0.3
    K = (1 + 3**0.5 * d) * np.exp(-(3**0.5) * d) if matern else np.exp(-(d**2) / 2)
    return rng.standard_normal((count, 10)) @ np.linalg.cholesky(K + 1e-9 * np.eye(10)).T


def families(seed: int, sizes: list[int], noise: float = 0.3, spread: float = 0.0, matern: bool = False) -> Set:
    """Clusters of courses that share a curve but for a spread and the noise."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    own = spread * drawn(rng, len(labels), matern) + noise * rng.standard_normal((len(labels), 10))
    return tl.TimeCourses.from_arrays(X, drawn(rng, len(sizes), matern)[labels] + own), labels


def long_groups(seed: int) -> Set:
    """Four groups whose members are their curve, 0.6 to 1.4 times as large: clean, and not what a spread describes."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 4, 300)
    values = rng.uniform(0.6, 1.4, 300)[:, None] * 2 * drawn(rng, 4)[labels]
    return tl.TimeCourses.from_arrays(X, values + 0.15 * rng.standard_normal(values.shape)), labels


def ring(seed: int) -> Set:
    """Waves of all phases."""
    rng = np.random.default_rng(seed)
    x, phase = np.arange(12.0), rng.random(300)
    values = np.sin(2 * np.pi * (x / 12 - phase[:, None])) + 0.2 * rng.standard_normal((300, 12))
    return tl.TimeCourses.from_arrays(x, values), np.zeros(300)


def line(seed: int) -> Set:
    """One curve of all sizes."""
    rng = np.random.default_rng(seed)
    values = rng.uniform(-2, 2, 300)[:, None] * drawn(rng, 1) + 0.15 * rng.standard_normal((300, 10))
    return tl.TimeCourses.from_arrays(X, values), np.zeros(300)


def heavy(seed: int) -> Set:
    """Four curves in all proportions, with heavy tails."""
    rng = np.random.default_rng(seed)
    weights = rng.standard_t(3, (400, 4)) * [1, 0.7, 0.5, 0.3]
    return tl.TimeCourses.from_arrays(X, weights @ drawn(rng, 4) + 0.15 * rng.standard_normal((400, 10))), np.zeros(400)


Set = tuple[tl.TimeCourses, np.ndarray]
KINDS: dict[str, tuple[int, Callable[[int], Set]]] = {
    "one cluster, 200 courses": (1, lambda seed: families(seed, [200])),
    "one cluster with spread 0.3": (1, lambda seed: families(seed, [200], spread=0.3)),
    "four clusters, 50 courses": (4, lambda seed: families(seed, [20, 12, 10, 8])),
    "500 / 50 / 10": (3, lambda seed: families(seed, [500, 50, 10])),
    "five clusters, spread 0.2": (5, lambda seed: families(seed, [60] * 5, spread=0.2)),
    "five clusters, matern32 fitted with se": (5, lambda seed: families(seed, [60] * 5, spread=0.2, matern=True)),
    "twelve clusters, spread 0.15": (12, lambda seed: families(seed, [50] * 12, spread=0.15)),
    "four long groups": (4, long_groups),
    "noise as large as the signal": (5, lambda seed: families(seed, [60] * 5, noise=1.0)),
    "noise 3 x the signal": (5, lambda seed: families(seed, [60] * 5, noise=3.0)),
    "a ring (no clusters)": (0, ring),
    "a line (no clusters)": (0, line),
    "heavy tails (no clusters)": (0, heavy),
}


def clustered(courses: tl.TimeCourses) -> tuple[tl.CurveClustering, list[str]]:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = tl.mixture(courses, tl.fit(courses))
    return found, [str(each.message) for each in said]


def ari(truth: np.ndarray, found: np.ndarray) -> float:
    from sklearn.metrics import adjusted_rand_score

    return float(adjusted_rand_score(truth, found))


def kinds(sets: int) -> str:
    """Whether the number of clusters is right, and what is said where it cannot be known."""
    rows = []
    for name, (k, make) in KINDS.items():
        ks, scores, sure, words, again = [], [], [], [], []
        for seed in range(FIRST, FIRST + sets):
            courses, truth = make(seed)
            found, said = clustered(courses)
            ks.append(found.k)
            scores.append(ari(truth, found.nearest))
            sure.append(found.confidence.mean())
            words.append([any(word in text for text in said) for word in ("continuum", "stand out", "noisy")])
            if k > 1 and seed < FIRST + 5:
                table_of = tl.stability(found).set_index("k")["agreement"]
                again.append(table_of.get(found.k, np.nan))
        told = [f"{100 * share:.0f} %" for share in np.mean(words, axis=0)]
        right = f"{np.sum(np.array(ks) == k)} of {sets}" if k else ""
        few, middle, most = np.quantile(ks, [0, 0.5, 1])
        row = [name, right, f"{middle:.0f} ({few:.0f} to {most:.0f})", np.mean(scores) if k else "", np.mean(sure)]
        rows.append([*row, *told, np.nanmean(again) if again else ""])
        print(rows[-1], flush=True)
    head = ["", "K right", "K, middle (range)", "adjusted Rand index", "stated, mean", "said: continuum"]
    head += ["said: stands out", "said: noisy", "halves agree"]
    return f"## Kinds of data, {sets} sets each\n\n" + table(head, rows)


def many(sets: int) -> str:
    """Twenty clusters on one grid and at own times."""
    rows = []
    for name, make, counts in (("one grid", twenty, (1000, 10_000)), ("own times", twenty_own, (1000, 10_000))):
        for count in counts:
            seeds = [0, *range(FIRST, FIRST + (sets if count == 1000 else max(1, sets // 5)))]
            for part in ([0], seeds[1:]):
                results = [scored(*make(count, seed)) for seed in part]
                ks, auto, given, seconds = map(np.array, zip(*results, strict=True))
                inside = f"{((ks >= 17) & (ks <= 23)).sum()} of {len(ks)}"
                row = [name, count, "0" if part == [0] else f"{len(part)} new ones", f"{(ks == 20).sum()} of {len(ks)}"]
                rows.append([*row, inside, f"{ks.min()} to {ks.max()}", auto.mean(), given.mean(), np.median(seconds)])
                print(rows[-1], flush=True)
    head = ["", "courses", "seeds", "K = 20", "K from 17 to 23", "K", "ARI, K chosen", "ARI, K = 20", "seconds"]
    return "## Twenty clusters, noise 0.3 of the signal\n\n" + table(head, rows)


def scored(courses: tl.TimeCourses, truth: np.ndarray) -> tuple[int, float, float, float]:
    start = time.perf_counter()
    found, _ = clustered(courses)
    seconds = time.perf_counter() - start
    given = tl.mixture(courses, tl.fit(courses), k=20)
    return found.k, ari(truth, found.nearest), ari(truth, given.nearest), seconds


def harder(sets: int) -> str:
    """Twenty clusters on one grid with more noise: how often the number is right, and what memberships are worth."""
    rows = []
    for noise in (0.3, 0.4, 0.5):
        ks, scores = [], []
        for seed in range(FIRST, FIRST + sets):
            rng = np.random.default_rng(seed)
            truth = rng.integers(0, 20, 1000)
            values = drawn(rng, 20)[truth] + noise * rng.standard_normal((1000, 10))
            found, _ = clustered(tl.TimeCourses.from_arrays(X, values))
            ks.append(found.k)
            scores.append(ari(truth, found.nearest))
        within = np.mean(np.abs(np.array(ks) - 20) <= 3)
        rows.append([noise, f"{100 * np.mean(np.array(ks) == 20):.0f} %", f"{100 * within:.0f} %", np.mean(scores)])
        print(rows[-1], flush=True)
    head = ["noise", "K = 20", "K from 17 to 23", "adjusted Rand index"]
    return f"## Twenty clusters on one grid, 1,000 courses, {sets} sets each\n\n" + table(head, rows)


def real_sets() -> Iterator[tuple[str, tl.TimeCourses, np.ndarray | None]]:
    courses, phases = yeast()
    yield "yeast_alpha", courses, phases
    yield "yeast_alpha, standardised", courses.standardized(), phases
    yield "growth", *growth()
    yield "mouse_flu C", mouse_flu("C"), None
    yield "mouse_flu M", mouse_flu("M"), None
    yield "reprogramming", reprogramming(), None
    yield "drosophila_notch", drosophila(), None
    yield "blood_pressure", *blood_pressure()


def real(_sets: int) -> str:
    """The path, the default and the words for real data."""
    text = "## Real data\n"
    for name, courses, truth in real_sets():
        found, said = clustered(courses)
        words = [each for each in said if "stand out" in each or "continuum" in each]
        frame = found.path_frame()
        path = ", ".join(f"{row.k}: {row.tolerance_from:.2g}" for row in frame.itertuples() if row.tolerance_to > 0)
        few = len(courses) <= FEW and found.k > 1
        halves = tl.stability(found).set_index("k")["agreement"][found.k] if few else None
        known = "" if truth is None else f", adjusted Rand index with the labels {ari(truth, found.nearest):.3f}"
        known += "" if halves is None else f", halves agree by {halves:.2f}"
        text += (
            f"\n### {name}\n\n{found.k} clusters of {(found.finest or found).k} finest{known}; sizes "
            f"{sorted(found.sizes.tolist(), reverse=True)}.\n"
            f"Said: {words[0] if words else 'nothing about the number.'}\n"
            f"Tolerance from which there are so many clusters: {path}.\n"
        )
        print(name, found.k, flush=True)
    return text


SECTIONS: dict[str, Callable[[int], str]] = {"kinds": kinds, "twenty": many, "harder": harder, "real": real}


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", nargs="+", default=list(SECTIONS), choices=list(SECTIONS))
    parser.add_argument("--sets", type=int, default=20)
    options = parser.parse_args(arguments)
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in options.only:
        (FOLDER / f"{name}.md").write_text(SECTIONS[name](options.sets))
    parts = [path.read_text() for name in SECTIONS if (path := Path(FOLDER / f"{name}.md")).exists()]
    title = f"# How many clusters\n\n{machine('numpy', 'scipy', 'scikit-learn')}\n\n"
    (RESULTS / "granularity.md").write_text(title + "\n".join(parts))


if __name__ == "__main__":
    main(sys.argv[1:])
