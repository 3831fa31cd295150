"""How sure is sure: probabilities of pairs against the truth, and error rates of lists, over many simulated sets.

.venv-bench/bin/python benchmarks/sure.py           # an hour or so on two cores; writes benchmarks/results/sure.md
.venv-bench/bin/python benchmarks/sure.py --seeds 2 # a look
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

import numpy as np
from racing import RESULTS, machine, table

import timelike as tl
from timelike.base.odds import running_fdr

Made = tuple[tl.TimeCourses, np.ndarray]
RATES = (0.01, 0.05, 0.10)
FIRST = 500_000
"""The first seed that is reported; everything was tuned on others."""
FRESH = {"10 families of 3": 600_000, "30 families of 2": 600_000}
"""Other first seeds, for sets whose number of sweeps was raised after a look at those."""
EDGES = np.linspace(0, 1, 11)
ENOUGH = 300
"""Pairs in a bin that is looked at."""


def draws(rng: np.random.Generator, x: np.ndarray, kernel: str, count: int) -> np.ndarray:
    """Curves of a GP, standard deviation 1, length scale a third."""
    r = np.abs(x[:, None] - x) * 3
    K = {"se": np.exp(-(r**2) / 2), "matern32": (1 + np.sqrt(3) * r) * np.exp(-np.sqrt(3) * r), "matern12": np.exp(-r)}
    return rng.standard_normal((count, len(x))) @ np.linalg.cholesky(K[kernel] + 1e-8 * np.eye(len(x))).T


def families(
    seed: int,
    groups: int = 10,
    count: int = 200,
    noise: float = 0.3,
    spread: float = 0.0,
    own_noise: float = 0.0,
    kernel: str = "se",
    uneven: bool = False,
    own_times: bool = False,
) -> Made:
    """Families of courses: each has a curve, from which its courses deviate by `spread`; all on [0, 1]."""
    rng, x = np.random.default_rng(seed), np.linspace(0, 1, 101 if own_times else 10)
    shares = rng.dirichlet(np.full(groups, 0.7))
    labels = np.sort(rng.choice(groups, count, p=shares) if uneven else np.arange(count) % groups)
    curves = draws(rng, x, kernel, groups)[labels] + spread * draws(rng, x, kernel, count)
    sd = noise * np.exp(own_noise * rng.standard_normal(count))
    if not own_times:
        return tl.TimeCourses.from_arrays(x, curves + sd[:, None] * rng.standard_normal(curves.shape)), labels
    times = [np.sort(rng.random(n)) for n in rng.integers(6, 10, count)]
    values = [np.interp(t, x, f) + s * rng.standard_normal(len(t)) for t, f, s in zip(times, curves, sd, strict=True)]
    return tl.TimeCourses.from_arrays(times, values), labels


SETS: dict[str, Callable[[int], Made]] = {
    "10 families of 20": families,
    "10 families of 3": lambda seed: families(seed, count=30),
    "30 families of 2": lambda seed: families(seed, 30, 60),
    "20 families of 10, noise 0.5": lambda seed: families(seed, 20, noise=0.5),
    "40 families of 10": lambda seed: families(seed, 40, 400),
    "20 families, uneven sizes, 300": lambda seed: families(seed, 20, 300, uneven=True),
    "spread 0.2": lambda seed: families(seed, spread=0.2),
    "spread 0.4": lambda seed: families(seed, spread=0.4),
    "20 families of 15, spread 0.3, noise 0.2": lambda seed: families(seed, 20, 300, 0.2, spread=0.3),
    "own times": lambda seed: families(seed, 20, own_times=True),
    "own times, spread 0.3": lambda seed: families(seed, 20, spread=0.3, own_times=True),
    "profiles, even, noise 0.1": lambda seed: tl.simulate.profiles(noise=0.1, seed=seed),
    "profiles, asynchronous, noise 0.08": lambda seed: tl.simulate.profiles(
        noise=0.08, sampling="asynchronous", seed=seed
    ),
    "wrong model: Matern 3/2 curves, 'se' fitted": lambda seed: families(seed, 20, kernel="matern32"),
    "wrong model: Matern 1/2 curves, 'se' fitted": lambda seed: families(seed, 20, kernel="matern12"),
    "wrong model: Matern 3/2, spread 0.3": lambda seed: families(seed, 20, kernel="matern32", spread=0.3),
    "wrong model: noise of each course its own": lambda seed: families(seed, 20, own_noise=0.5),
    "wrong model: own noise, spread 0.2": lambda seed: families(seed, 20, own_noise=0.5, spread=0.2),
    "20 families of 50 (600 of 1,000 drawn)": lambda seed: families(seed, 20, 1000),
}
"""Own noise: log-normal, standard deviation 0.5 of the logarithm."""


class Answer(NamedTuple):
    """One set: which pairs are of one family, and how each way ranks and counts them."""

    truth: np.ndarray
    probability: np.ndarray
    seconds: float
    lists: dict[str, list[tuple[int, int]]]
    """For each way and rate: pairs called, and false ones among them."""


def answered(name: str, seed: int) -> Answer:
    """What all ways say about a set."""
    warnings.simplefilter("ignore")
    courses, labels = SETS[name](seed)
    rows, cols = np.triu_indices(len(courses), 1)
    truth = (labels[:, None] == labels)[rows, cols]
    gp = tl.fit(courses)
    S = tl.similarity(courses, gp)
    start = time.perf_counter()
    probability = S.probabilities()[rows, cols]
    seconds = time.perf_counter() - start
    ways = {"timelike": _by_probability(probability)}
    even = 1 / (1 + np.exp(-S.values[rows, cols].clip(-700, 700)))
    ways["s, even odds"] = _by_probability(even)
    values = interpolated(courses)
    ways["correlation test, BH"] = _benjamini_hochberg(correlation_p(values)[rows, cols])
    ways["Euclidean, permuted times, BH"] = _benjamini_hochberg(euclidean_p(values, seed)[rows, cols])
    counted = {way: [(int(c.sum()), int((c & ~truth).sum())) for c in called] for way, called in ways.items()}
    return Answer(truth, probability, seconds, counted)


def _by_probability(probability: np.ndarray) -> list[np.ndarray]:
    share = running_fdr(probability)
    return [(probability >= 0.5) & (share <= rate) for rate in RATES]


def _benjamini_hochberg(p: np.ndarray) -> list[np.ndarray]:
    order = np.argsort(p)
    adjusted = np.empty(len(p))
    ratio = p[order] * len(p) / np.arange(1, len(p) + 1)
    adjusted[order] = np.minimum.accumulate(ratio[::-1])[::-1]
    return [adjusted <= rate for rate in RATES]


def interpolated(courses: tl.TimeCourses) -> np.ndarray:
    """Values on ten common times for those who need them."""
    at = np.linspace(courses.times.min(), courses.times.max(), 10) if courses.grid is None else courses.grid
    return np.stack([np.interp(at, one.times, one.values) for one in courses])


def correlation_p(values: np.ndarray) -> np.ndarray:
    """One-sided p-values of Pearson's correlation."""
    from scipy.stats import t as student

    r = np.corrcoef(values).clip(-0.999999, 0.999999)
    free = values.shape[1] - 2
    return student.sf(r * np.sqrt(free / (1 - r**2)), free)


def euclidean_p(values: np.ndarray, seed: int, permutations: int = 5) -> np.ndarray:
    """Share of distances, between courses whose times were permuted, that are smaller than those of each pair."""
    from scipy.spatial.distance import cdist

    rng = np.random.default_rng(seed)
    null = [cdist(values, rng.permuted(values, axis=1)).ravel() for _ in range(permutations)]
    null = np.sort(np.concatenate(null))
    return (np.searchsorted(null, cdist(values, values)) + 1) / (len(null) + 1)


def reliability(answers: list[Answer]) -> list[object]:
    """Mean gap, the largest gap of a bin with its clustered error, and seconds."""
    p, truth = (np.concatenate([getattr(one, name) for one in answers]) for name in ("probability", "truth"))
    which = np.clip(np.digitize(p, EDGES) - 1, 0, 9)
    owner = np.repeat(np.arange(len(answers)), [len(one.truth) for one in answers])
    gaps = []
    for k in range(10):
        if (which == k).sum() >= ENOUGH:
            each = np.bincount(owner[which == k], (p - truth)[which == k], len(answers))
            total = (which == k).sum()
            gaps.append((each.sum() / total, np.sqrt((each**2).sum()) / total, k))
    worst = max(gaps, key=lambda gap: abs(gap[0]))
    seconds = float(np.median([one.seconds for one in answers]))
    bins = " ".join(f"{100 * gap:+.0f}" for gap, _, _ in gaps)
    where = f"{worst[0]:+.3f} ± {worst[1]:.3f} ({EDGES[worst[2]]:.1f}-{EDGES[worst[2] + 1]:.1f})"
    return [f"{truth.mean():.3f}", f"{p.mean() - truth.mean():+.4f}", where, bins, f"{seconds:.1f}"]


def rates(answers: list[Answer], way: str) -> list[str]:
    """Realised false discovery rates, the mean over sets, and the pairs of one family that were called."""
    cells = []
    for k in range(len(RATES)):
        called = np.array([one.lists[way][k] for one in answers])
        false = (called[:, 1] / np.maximum(called[:, 0], 1)).mean()
        found = (called[:, 0] - called[:, 1]).sum() / sum(int(one.truth.sum()) for one in answers)
        cells.append(f"{100 * false:.1f} ({100 * found:.0f})")
    return cells


def main(seeds: int, names: list[str]) -> None:
    """Run all sets and write the page."""
    reliable, realised = [], []
    with ProcessPoolExecutor(2) as pool:
        for name in names:
            count = max(2, seeds // 2) if "1,000" in name else seeds
            first = FRESH.get(name, FIRST)
            answers = list(pool.map(answered, [name] * count, range(first, first + count)))
            reliable.append([name, count, *reliability(answers)])
            ways = answers[0].lists
            realised += [[name if way == "timelike" else "", way, *rates(answers, way)] for way in ways]
            print(reliable[-1], realised[-4], flush=True)
            page(reliable, realised)


def page(reliable: list[list[object]], realised: list[list[object]]) -> None:
    """Write what is known so far: a run that is stopped leaves the sets that it got to."""
    text = f"""# How sure is sure

Pairs of courses, of one family or not, over simulated sets (seeds from {FIRST:,} on, those of 30 and 60 courses from
600,000 on; everything was tuned on others; seconds are those of a busy machine).
{machine("numpy", "scipy")}.
Written by `benchmarks/sure.py`.

## Probabilities against the truth

All pairs of all sets of a row. *mean gap*: mean probability less the share of pairs that are of one family.
*largest gap*: the same in the bin (a tenth wide, at least {ENOUGH} pairs) where it is largest, ± its standard error
over sets: the pairs of two families are right or wrong together, so a bin holds fewer independent answers than pairs.
*all bins*: gaps in percent, from the least probable on.

{table(["set", "sets", "of one family", "mean gap", "largest gap", "all bins", "s"], reliable)}

## Lists at a stated error rate

Realised false discovery rate in percent, the mean over sets (in brackets: percent of the pairs of one family that are
on the list), where the rate in the head was stated. *s, even odds*: the probability 1 / (1 + exp(-s)) of two hypotheses
at prior odds 1, listed like ours. *correlation test*: one-sided, Benjamini and Hochberg. *Euclidean*: p-values from
distances to courses whose times were permuted. Where courses have times of their own, these two see
values interpolated to ten common times.

{table(["set", "way", *(f"{100 * rate:.0f} %" for rate in RATES)], realised)}
"""
    (RESULTS / "sure.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=40)
    parser.add_argument("--sets", nargs="*", default=list(SETS))
    arguments = parser.parse_args()
    main(arguments.seeds, arguments.sets)
