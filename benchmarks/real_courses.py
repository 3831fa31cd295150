"""A model that fits real courses: clocks, noise, wild values, deviations, long courses; on any commit.

python benchmarks/real_courses.py all                       # writes results/real_courses.md, about half an hour
python benchmarks/real_courses.py clocks magma              # some of the sections, see SECTIONS
python benchmarks/real_courses.py clusters --tag before     # into results/real_courses/before.md, to compare with

What the code does not know yet (a clock, noise of a course's own) is left out of the tables, so that the same script
measures an older commit: copy it there.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from inspect import signature
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
from racing import DATA, RESULTS, machine, race, table

import timelike as tl
from clusters import blood_pressure, growth, yeast

CLOCKS = ("linear", "auto") if "clock" in signature(tl.fit).parameters else ("linear",)

EVERY_VALUE = {"robust": False} if "robust" in signature(tl.fit).parameters else {}


@dataclass(frozen=True)
class Job:
    """Where the parts of the results go, and after how many seconds a fit of long courses is ended."""

    folder: Path
    limit: int


def fitted(courses: tl.TimeCourses, clock: str = CLOCKS[-1], **settings: bool) -> tl.GP:
    """The fit on a clock, by default as users get it; on time itself where the code knows no clocks."""
    return tl.fit(courses, clock=clock, **settings) if len(CLOCKS) > 1 else tl.fit(courses, **settings)


def ari(truth: np.ndarray, found: np.ndarray) -> float:
    from sklearn.metrics import adjusted_rand_score

    return adjusted_rand_score(truth, found)


def with_error(values: list[float]) -> str:
    return f"{np.mean(values):.3f} ± {np.std(values, ddof=1) / np.sqrt(len(values)):.3f}"


# -- clocks of real data -------------------------------------------------------------------------------------------


def fission() -> tl.TimeCourses:
    """Wild type: log2 of normalised counts, the 3,000 most expressed genes, each centred; three replicates a time."""
    frame = pd.read_csv(DATA / "fission" / "counts.csv.gz", index_col=0)
    sheet = pd.read_csv(DATA / "fission" / "samples.csv").set_index("sample").loc[frame.columns]
    counts, wild = frame.to_numpy(float), (sheet["strain"] == "wt").to_numpy()
    logs = np.log2(counts / size_factors(counts) + 1)[:, wild]
    most = np.sort(np.argsort(-logs.mean(axis=1), kind="stable")[:3000])
    minutes = sheet["minute"].to_numpy(float)[wild]
    order = np.argsort(minutes, kind="stable")
    return tl.TimeCourses.from_arrays(minutes[order], logs[most][:, order], frame.index[most]).centered()


def size_factors(counts: np.ndarray) -> np.ndarray:
    """Median of ratios to the geometric mean, over genes that are counted in all samples."""
    logs = np.log(counts[(counts > 0).all(axis=1)])
    return np.exp(np.median(logs - logs.mean(axis=1, keepdims=True), axis=0))


def mouse_flu(group: str) -> tl.TimeCourses:
    """One group, each gene centred; three replicates a time."""
    frame = pd.read_csv(DATA / "mouse_flu" / "expression.csv.gz", index_col=0)
    sheet = pd.read_csv(DATA / "mouse_flu" / "samples.csv")
    sheet = sheet[sheet["Group"] == group].sort_values(["Timepoint", "Replicate"])
    values = frame[sheet["sample"]].to_numpy(float)
    return tl.TimeCourses.from_arrays(sheet["Timepoint"], values, frame.index).centered()


def drosophila() -> tl.TimeCourses:
    """Log ratios, four replicates at each of 18 times."""
    frame = pd.read_csv(DATA / "drosophila_notch" / "tc.data.csv")
    minutes = [*range(0, 41, 5), *range(50, 121, 10), 150]
    return tl.TimeCourses.from_arrays(np.repeat(minutes, 4), frame.iloc[:, 2:].to_numpy(float), frame["GeneID"])


def reprogramming() -> tl.TimeCourses:
    from scipy.io import loadmat

    content = loadmat(DATA / "reprogramming" / "gene_data.mat")
    return tl.TimeCourses.from_arrays(content["t"].ravel(), content["data_s"])


REAL: dict[str, Callable[[], tl.TimeCourses]] = {
    "fission, wild type, log2, 3,000 genes, centred (min)": fission,
    **{f"mouse_flu {group}, centred (h)": partial(mouse_flu, group) for group in "CKM"},
    "drosophila_notch (min)": drosophila,
    "reprogramming (h)": reprogramming,
    "growth (years)": lambda: growth()[0],
    "yeast_alpha (min)": lambda: yeast()[0],
}


def clock_rows(name: str, courses: tl.TimeCourses) -> Iterator[list[object]]:
    """A row for linear time, and one for the clock that was chosen."""
    linear = None
    for clock in CLOCKS:
        start = time.perf_counter()
        gp = fitted(courses, clock, **EVERY_VALUE)  # likelihoods of the same values
        seconds, likelihood = time.perf_counter() - start, float(gp.log_likelihood or 0)
        linear = likelihood if linear is None else linear
        tau = getattr(gp, "clock", None)
        row = [f"{likelihood:.1f}", f"{likelihood - linear:+.1f}", gp.length_scale, "-" if tau is None else tau]
        yield [name, clock, *row, gp.noise_sd, seconds, " ".join(gp.warnings)]


def clocks(_job: Job) -> str:
    rows = [row for name, load in REAL.items() for row in shown(clock_rows(name, load()))]
    head = ["data", "clock", "log likelihood", "gain", "length scale", "tau", "noise", "seconds", "said"]
    return "## Clocks of real data\n\n" + table(head, rows)


def shown(rows: Iterator[list[object]]) -> Iterator[list[object]]:
    for row in rows:
        print(row, flush=True)
        yield row


LATE = (72.0, 168.0)


def excess(found: tl.CurveClustering, cluster: int, values: np.ndarray, times: np.ndarray) -> list[float]:
    """How far a cluster's curve leaves what its courses, (N, t), have at the times beside, and their means there."""
    own = values[found.labels == cluster]
    furthest = [0.0, 0.0]
    for at in np.flatnonzero((times[:-1] >= LATE[0]) & (times[1:] <= LATE[1])):
        curve = found.curve(cluster, np.linspace(times[at], times[at + 1], 25)).mean
        beside = own[:, at : at + 2]
        off = [max(curve.max() - x.max(), x.min() - curve.min()) for x in (beside, beside.mean(axis=0))]
        furthest = list(np.maximum(furthest, off))
    return furthest


def replicate_means(courses: tl.TimeCourses) -> tuple[np.ndarray, np.ndarray]:
    """Of courses on one grid without gaps, (N, t), and the times."""
    times, values = np.unique(courses.grid), courses.values.reshape(len(courses), -1)
    return np.stack([values[:, courses.grid == x].mean(axis=1) for x in times], axis=1), times


def ringing_row(clock: str, folder: Path) -> list[object]:
    courses = mouse_flu("C")
    found = tl.mixture(courses, fitted(courses, clock))
    far = np.array([excess(found, cluster, *replicate_means(courses)) for cluster in range(found.k)])
    tl.plot.save(tl.plot.cluster_panels(found)[0], folder / f"mouse_flu_{clock}.png")
    lost = len(courses.values) - len(found.courses.values)
    return [clock, found.k, int((far[:, 0] > 0).sum()), *(f"{x:.2f}" for x in far.max(axis=0)), lost]


def ringing(job: Job) -> str:
    head = ["clock", "clusters", "curves beyond their courses", "by at most", "beyond the mean course by at most"]
    title = "## mouse_flu C, centred: curves of clusters from 72 to 168 h, and means of replicates beside\n\n"
    return title + table([*head, "values left out"], list(shown(ringing_row(clock, job.folder) for clock in CLOCKS)))


# -- made-up courses: is it found where it is, and where it is not? --------------------------------------------------


def clock_found(tau: float, seeds: int = 10) -> list[object]:
    taus, gains = [], []
    for seed in range(seeds):
        courses, _ = tl.simulate.on_clock(tau, seed=seed)
        linear, gp = fitted(courses, "linear"), fitted(courses)
        taus.append(getattr(gp, "clock", None) or np.inf)
        gains.append(float(gp.log_likelihood or 0) - float(linear.log_likelihood or 0))
    span = [f"{q:.3g}" for q in np.quantile(taus, [0.1, 0.5, 0.9], method="nearest")]
    return [tau, f"{np.isinf(taus).sum()} of {seeds}", span[1], f"{span[0]} to {span[2]}", f"{np.median(gains):.1f}"]


KINDS: dict[str, dict[str, float]] = {
    "clean": {},
    "5 % wild values": {"wild": 0.05},
    "own noise, log sd 0.5": {"own_noise": 0.5},
    "own noise, log sd 1.0": {"own_noise": 1.0},
}


def true_noise(seed: int, own_noise: float = 0.0, **_other: float) -> np.ndarray:
    """Standard deviation of each course's noise, from what the same seed draws with and without."""
    values = [
        tl.simulate.smooth(**setting, seed=seed)[0].values.reshape(-1, 10)
        for setting in ({"noise": 0.0}, {}, {"own_noise": own_noise})
    ]
    return 0.3 * ((values[2] - values[0]) / (values[1] - values[0]))[:, 0]


def noise_found(seed: int, setting: dict[str, float]) -> list[float]:
    """Noise, spread, log sd of the courses' noise, its correlation with the truth; wild values named, and rightly."""
    courses, _, thrown = tl.simulate.smooth(**setting, seed=seed)
    found = tl.mixture(courses, fitted(courses))
    own, truth = getattr(found, "course_noise", None), np.log(true_noise(seed, **setting))
    logs = np.zeros(len(courses)) if own is None else np.log(own)
    both = logs.std() > 0 and truth.std() > 1e-6
    related = np.corrcoef(logs, truth)[0, 1] if both else np.nan
    named = {(row.course, row.time) for row in found.outliers().itertuples()}
    keys = list(zip(np.repeat(courses.names, 10), courses.times.ravel(), strict=True))
    real = {key for key, wild in zip(keys, thrown.ravel(), strict=True) if wild}
    shares = [len(named & real) / max(len(real), 1), len(named - real)]
    return [found.gp.noise_sd, found.spread * found.gp.signal_sd, logs.std(), related, *shares]


def recovered(_job: Job) -> str:
    rows = [clock_found(tau) for tau in (0.5, 2.0, 8.0, np.inf)]
    head = ["tau", "linear", "tau found, median", "80 % of them", "gain over linear, median"]
    text = "## The clock of made-up courses: 10 data sets a row\n\n" + table(head, list(shown(iter(rows))))
    others = []
    for name, setting in KINDS.items():
        means = np.mean([noise_found(seed, setting) for seed in range(10)], axis=0)
        others.append([name, *(f"{mean:.3f}" for mean in means)])
    head = ["200 x 10, noise 0.3, spread 0.2", "noise of the model", "spread", "log sd of own noise"]
    head += [
        "correlation of log noise with truth",
        "share of wild values named (0.86 are far off)",
        "others named a set",
    ]
    return text + "\n## Noise, spread and wild values: 10 data sets a row\n\n" + table(head, list(shown(iter(others))))


# -- clusters --------------------------------------------------------------------------------------------------------


def right(found: tl.CurveClustering, truth: np.ndarray) -> np.ndarray:
    """Whether each course is in the cluster that stands for its group; each group has one cluster, and at most one."""
    from scipy.optimize import linear_sum_assignment

    joint = np.zeros((found.k, truth.max() + 1))
    np.add.at(joint, (found.nearest, truth), 1)
    group = np.full(found.k, -1)
    of, to = linear_sum_assignment(-joint)
    group[of] = to
    return group[found.nearest] == truth


BINS = (0.5, 0.9, 0.99, 1.0)


def reliability(stated: np.ndarray, true: np.ndarray) -> list[str]:
    """Mean stated probability, share of courses for which it is true, and their number, for each bin."""
    cells = []
    for low, high in pairwise(BINS):
        inside = (stated > low) & (stated <= high)
        mean = f"{stated[inside].mean():.3f}: {true[inside].mean():.3f}" if inside.any() else "-"
        cells.append(f"{mean} ({int(inside.sum())})")
    return cells


def known(seed: int, setting: dict[str, float]) -> float:
    """ARI where nothing but the groups is to be found out: kernel and noise of every value are the true ones."""
    courses, truth, thrown = tl.simulate.smooth(**setting, seed=seed)
    errors = np.hypot(true_noise(seed, **setting)[:, None], 0.3 * tl.simulate.THROWN * thrown)
    values = courses.values.reshape(errors.shape)
    found = tl.mixture(tl.TimeCourses.from_arrays(courses.grid, values, errors=errors), tl.GP.se(1 / 3, 1.0, 1e-3))
    return ari(truth, found.nearest)


def cluster_row(name: str, setting: dict[str, float], seeds: int = 20) -> tuple[list[object], list[list[object]]]:
    runs: dict[str, list[tuple]] = {"chosen": [], "5": []}
    for seed in range(seeds):
        courses, truth, _ = tl.simulate.smooth(**setting, seed=seed)
        gp = fitted(courses)
        for k, results in runs.items():
            found = tl.mixture(courses, gp, int(k) if k.isdigit() else None)
            noise = found.gp.noise_sd
            sure = found.probabilities.max(axis=1)
            results.append((ari(truth, found.nearest), found.k, noise, sure, right(found, truth)))
    scores = [with_error([result[0] for result in results]) for results in runs.values()]
    ks = [result[1] for result in runs["chosen"]]
    row = [name, scores[0], f"{np.mean(ks):.2f}", f"{ks.count(5)}/{seeds}"]
    row += [f"{np.mean([result[2] for result in runs['chosen']]):.3f}", scores[1]]
    row.append(with_error([known(seed, setting) for seed in range(seeds)]))
    joined = {k: [np.concatenate([result[at] for result in results]) for at in (3, 4)] for k, results in runs.items()}
    return row, [[name, k, *reliability(*both)] for k, both in joined.items()]


def clusters(_job: Job) -> str:
    rows, stated = zip(*[cluster_row(name, setting) for name, setting in KINDS.items()], strict=True)
    head = [
        "",
        "ARI, K chosen",
        "K, mean",
        "K = 5",
        "fitted noise",
        "ARI, K = 5 given",
        "ARI, all noise known, K chosen",
    ]
    text = "## Five curves, 200 courses x 10, noise 0.3, spread 0.2: 20 data sets a row\n\n"
    text += table(head, list(shown(iter(rows))))
    head = ["stated: true (courses)", "K", *(f"{a:g} to {b:g}" for a, b in pairwise(BINS))]
    return text + "\n" + table(head, list(shown(row for rows in stated for row in rows)))


DEVIATIONS: dict[str, dict[str, object]] = {
    "deviation slower than the curves (0.3, 1.0)": {},
    "deviation faster than the curves (0.3, 0.1)": {"scales": (0.3, 0.1), "deviation": 0.5},
}


def magma_row(name: str, setting: dict[str, object], seeds: int = 50) -> list[object]:
    chosen, given, ks = [], [], []
    for seed in range(seeds):
        courses, truth = tl.simulate.deviating(**setting, seed=seed)
        gp = fitted(courses)
        found = tl.mixture(courses, gp)
        chosen.append(ari(truth, found.nearest))
        given.append(ari(truth, tl.mixture(courses, gp, 4).nearest))
        ks.append(found.k)
    return [name, with_error(chosen), f"{np.mean(ks):.2f}", f"{ks.count(4)}/{seeds}", with_error(given)]


def magma(_job: Job) -> str:
    head = ["length scales", "ARI, K chosen", "K, mean", "K = 4", "ARI, K = 4 given"]
    title = "## Deviations with a length scale of their own: 4 groups of 5 courses, own times, 50 data sets a row\n\n"
    return title + table(head, list(shown(magma_row(*item) for item in DEVIATIONS.items())))


def pressure(_job: Job) -> str:
    courses, truth = blood_pressure()
    start = time.perf_counter()
    gp = fitted(courses)
    fit_seconds = time.perf_counter() - start
    found = tl.mixture(courses, gp, 5)
    seconds = time.perf_counter() - start - fit_seconds
    row = [found.k, f"{ari(truth, found.nearest):.4f}", f"{tl.nmi(truth, found.nearest):.4f}"]
    row += [found.gp.noise_sd, fit_seconds, seconds]
    head = ["clusters", "ARI", "NMI", "noise of the model", "fit, seconds", "mixture, seconds"]
    return f"## blood_pressure, K = 5: {courses.summary()}\n\n" + table(head, list(shown(iter([row]))))


def profile_row(sampling: str, noise: float, seeds: int = 20) -> list[object]:
    ks, scores, given = [], [], []
    for seed in range(seeds):
        courses, truth = tl.simulate.profiles(noise, sampling, seed=seed)
        gp = fitted(courses)
        found = tl.mixture(courses, gp)
        ks.append(found.k)
        scores.append(tl.nmi(truth, found.nearest))
        given.append(tl.nmi(truth, tl.mixture(courses, gp, 3).nearest))
    means = [f"{np.mean(x):.4f}" for x in (scores, given)]
    return [f"{sampling} {noise:.2f}", f"{ks.count(3)}/{seeds}", " ".join(map(str, ks)), *means]


def profiles(_job: Job) -> str:
    cells = [(sampling, noise) for sampling in tl.simulate.SAMPLINGS for noise in (0.08, 0.10, 0.12)]
    head = ["data, noise", "K = 3", "K of each", "NMI, K chosen", "NMI, K = 3 given"]
    return "## The paper's profiles: 20 data sets a row\n\n" + table(head, list(shown(profile_row(*x) for x in cells)))


# -- time ------------------------------------------------------------------------------------------------------------


def long_courses(t: int, count: int = 300, seed: int = 0) -> tl.TimeCourses:
    """Smooth random curves, length scale a tenth of the span, noise 0.3, each course at `t` times of its own."""
    rng, x = np.random.default_rng(seed), np.linspace(0, 1, 401)
    K = np.exp(-(((x[:, None] - x) / 0.1) ** 2) / 2) + 1e-8 * np.eye(len(x))
    curves = rng.standard_normal((count, len(x))) @ np.linalg.cholesky(K).T
    times = np.sort(rng.random((count, t)), axis=1)
    values = [np.interp(row, x, curve) for row, curve in zip(times, curves, strict=True)]
    return tl.TimeCourses.from_arrays(list(times), list(np.array(values) + 0.3 * rng.standard_normal((count, t))))


def timed(t: int) -> None:
    """Run in a process of its own, so that it can be ended."""
    courses = long_courses(t)
    start = time.perf_counter()
    gp = fitted(courses)
    print(time.perf_counter() - start, gp.length_scale, gp.signal_sd, gp.noise_sd, gp.log_likelihood)


def long_row(t: int, limit: int) -> list[object]:
    command = [sys.executable, __file__, "--timed", str(t)]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=True, timeout=limit).stdout.split()
    except subprocess.TimeoutExpired:
        return [t, f"> {limit}", *["-"] * 4]
    return [t, *map(float, answer[:4]), f"{float(answer[4]):.2f}"]


def grows(before: list[object], row: list[object]) -> str:
    """The power of the number of times with which the seconds grow from one row to the next."""
    if not all(isinstance(x, float) for x in (before[1], row[1])):
        return "-"
    return f"{np.log(row[1] / before[1]) / np.log(row[0] / before[0]):.2f}"


def long(job: Job) -> str:
    rows = list(shown(long_row(t, job.limit) for t in (50, 100, 200, 400, 1000)))
    powers = ["-", *(grows(*both) for both in pairwise(rows))]
    head = ["times a course", "fit, seconds", "length scale", "signal", "noise", "log likelihood", "as t to the"]
    title = "## Long courses: fit of 300, own times; curves with length scale 0.1, signal 1, noise 0.3\n\n"
    return title + table(head, [[*row, power] for row, power in zip(rows, powers, strict=True)])


def one_grid(_job: Job) -> str:
    sets = {
        "2,000 x 10": tl.simulate.smooth(groups=20, per_group=100)[0],
        "20,000 x 12": tl.simulate.smooth(groups=20, per_group=1000, points=12)[0],
    }
    runs = {(name, clock): partial(fitted, courses, clock) for name, courses in sets.items() for clock in CLOCKS}
    rows = [[*of, f"{min(took):.3f}", f"{np.median(took):.3f}"] for of, took in race(runs).items()]
    head = ["courses x times", "clock", "best, seconds", "median, seconds"]
    return "## Fit on one grid: best of 7\n\n" + table(head, list(shown(iter(rows))))


# -- the whole -------------------------------------------------------------------------------------------------------


SECTIONS: dict[str, Callable[[Job], str]] = {
    "clocks": clocks,
    "ringing": ringing,
    "recovered": recovered,
    "clusters": clusters,
    "magma": magma,
    "blood_pressure": pressure,
    "profiles": profiles,
    "long": long,
    "one_grid": one_grid,
}


def commit() -> str:
    """The last commit that changed the package."""
    command = ["git", "-C", str(Path(__file__).parents[1]), "log", "-1", "--format=%h", "--", "src"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip() or "unknown"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", choices=[*SECTIONS, "all"], default="all")
    parser.add_argument("--tag", default="", help="a name for the results, to compare with others")
    parser.add_argument("--limit", type=int, default=120, help="seconds after which a fit of long courses is ended")
    parser.add_argument("--timed", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.timed:
        timed(given.timed)
        return
    job = Job(RESULTS / "real_courses" / given.tag, given.limit)
    job.folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    for name in SECTIONS if "all" in given.sections else given.sections:
        text = f"{SECTIONS[name](job)}\nCommit {commit()}.\n"
        (job.folder / f"{name}.md").write_text(text, encoding="utf-8")
    texts = [p.read_text(encoding="utf-8") for p in (job.folder / f"{name}.md" for name in SECTIONS) if p.exists()]
    header = f"# A model that fits real courses\n\n{machine('numpy', 'scipy', 'scikit-learn')}\n"
    job.folder.with_suffix(".md").write_text("\n".join([header, *texts]), encoding="utf-8")


if __name__ == "__main__":
    main()
