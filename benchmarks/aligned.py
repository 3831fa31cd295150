"""Alike up to level, size and delay: beside peers, what is recovered, what unused freedom costs, and time.

python benchmarks/aligned.py                              # every table of results/aligned.md; peers from aligned.csv
python benchmarks/aligned.py --only gains recovery        # some of the tables, see TABLES; the others stay
python benchmarks/aligned.py --only shifted --way plain   # some of our own ways, see WAYS
python benchmarks/aligned.py --only shifted --peers       # the peers again, too
python benchmarks/aligned.py --only unused --tuning       # other seeds, to try things on; writes nothing

All data are simulated here, but for the table of real data. Reported seeds begin at 1000; whatever is tuned is tuned
on those from 0 (--tuning).
Peers that the running environment has not are installed as peers.py installs them.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import peers
from racing import RESULTS, machine, once, race, table

import timelike as tl
from clusters import growth, interpolated, twenty, yeast

SPAN, LONGEST, GROUPS = 24.0, 6.0, 5
"""Hours from the first time to the last, and of the longest delay; curves in a set."""
SETS, REPORTED = 12, 1000
LIMIT_SECONDS = 600
"""For a peer on all sets of a family."""
PAGE, RECORDS = RESULTS / "aligned.md", RESULTS / "aligned.csv"
GUIDE = Path(__file__).parents[1] / "docs" / "aligned.md"


# -- curves that are known at every time -----------------------------------------------------------------------------


Shape = Callable[[np.ndarray], np.ndarray]


def draw(rng: np.random.Generator, length_scale: float = SPAN / 5) -> Shape:
    """A draw of a GP, squared exponential, as the sum of 300 waves."""
    frequency, phase = rng.standard_normal(300) / length_scale, rng.uniform(0, 2 * np.pi, 300)
    return lambda t: np.sqrt(2 / 300) * np.cos(np.multiply.outer(t, frequency) + phase).sum(axis=-1)


def bumps(rng: np.random.Generator) -> Shape:
    """Three bumps, up or down, anywhere in the span."""
    at, width, height = rng.uniform(0, SPAN, 3), SPAN * rng.uniform(0.06, 0.2, 3), rng.standard_normal(3)
    return lambda t: (height * np.exp(-((np.subtract.outer(t, at) / width) ** 2) / 2)).sum(axis=-1)


def impulse(rng: np.random.Generator) -> Shape:
    """From 0 to a height and on to another level, by two sigmoids: not what a GP draws."""
    on, stay = SPAN * rng.uniform(0.05, 0.5), SPAN * rng.uniform(0.1, 0.5)
    steep, height, end = 5 / SPAN * np.exp(rng.uniform(0, 2, 2)), rng.choice([-1, 1]), rng.uniform(-1, 1)
    rise = lambda t, at, slope: 1 / (1 + np.exp(-slope * (t - at)))  # noqa: E731
    return lambda t: height * rise(t, on, steep[0]) + (end - height) * rise(t, on + stay, steep[1])


SHAPES: dict[str, Callable[[np.random.Generator], Shape]] = {"GP": draw, "bumps": bumps, "impulses": impulse}
SEEN = np.linspace(-LONGEST, SPAN, 61)


def unit(shape: Shape) -> Shape:
    """The shape with a root mean square of 1 over all times that any delay shows of it."""
    size = np.sqrt((shape(SEEN) ** 2).mean())
    return lambda t: shape(t) / size


def alike(one: Shape, two: Shape) -> float:
    """The largest correlation of two shapes over the span, one of them delayed by up to LONGEST either way."""
    x = np.linspace(0, SPAN, 49)
    return max(np.corrcoef(one(x), two(x - d))[0, 1] for d in np.linspace(-LONGEST, LONGEST, 25))


def distinct(rng: np.random.Generator, kind: str, count: int) -> list[Shape]:
    """Shapes that no delay makes one: a shape that correlates by 0.8 or more with an earlier one is drawn again."""
    found: list[Shape] = []
    while len(found) < count:
        shape = unit(SHAPES[kind](rng))
        if all(alike(shape, other) < 0.8 for other in found):
            found.append(shape)
    return found


# -- sets of courses -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Drawn:
    """Courses, and what they were made of: the shape of each, its delay, gain and level."""

    courses: tl.TimeCourses
    labels: np.ndarray
    delay: np.ndarray
    gain: np.ndarray


def measured(
    rng: np.random.Generator,
    shapes: list[Shape],
    labels: np.ndarray,
    times: np.ndarray,
    noise: float,
    freedoms: tuple[str, ...],
    log_sd: float = 0.4,
) -> Drawn:
    """Courses `level + gain * shape(times - delay)` with noise; shapes are evaluated, never interpolated."""
    count = len(labels)
    delay = rng.uniform(0, LONGEST, count) * ("delay" in freedoms)
    gain = np.exp(log_sd * rng.standard_normal(count) * ("gain" in freedoms))
    level = rng.standard_normal(count) * ("level" in freedoms)
    clean = np.stack([shapes[at](times - d) for at, d in zip(labels, delay, strict=True)])
    values = level[:, None] + gain[:, None] * clean + noise * rng.standard_normal(clean.shape)
    return Drawn(tl.TimeCourses.from_arrays(times, values), labels, delay, gain)


def one_set(freedoms: tuple[str, ...], design: str, seed: int) -> Drawn:
    """Five random shapes of one kind (GP, bumps and impulses take turns) in 60 to 200 courses of 8 to 15 times.

    What a seed draws is the same with and without freedoms. Designs: even, uneven, noisy (even, 2.5 times the noise).
    """
    rng, kind = np.random.default_rng(seed), list(SHAPES)[seed % len(SHAPES)]
    count, points = rng.integers(60, 201), rng.integers(8, 16)
    noise, log_sd = rng.uniform(0.15, 0.3) * (2.5 if design == "noisy" else 1.0), rng.uniform(0.3, 0.5)
    gaps = rng.dirichlet(np.full(points - 1, 3.0)) if design == "uneven" else np.full(points - 1, 1 / (points - 1))
    times = SPAN * np.concatenate([[0.0], np.cumsum(gaps)])
    labels = rng.integers(0, GROUPS, count)
    return measured(rng, distinct(rng, kind, GROUPS), labels, times, noise, freedoms, log_sd)


# -- our own ways ----------------------------------------------------------------------------------------------------


ALL = ("level", "gain", "delay")
WAYS = ("plain", "told", "all", "auto")
"""No freedom; those that the data have (delay, where they have none); all three; those that pay."""


def up_to(way: str, freedoms: tuple[str, ...]) -> tuple[str, ...] | str:
    return {"plain": (), "told": freedoms or ("delay",), "all": ALL, "auto": "auto"}[way]


def freed(words: tuple[str, ...] | str, longest: float = LONGEST) -> dict[str, object]:
    """Arguments for these freedoms; none for none, so that the plain answer is today's call."""
    if not words:
        return {}
    return {"up_to": words} | ({"max_delay": longest} if words == "auto" or "delay" in words else {})


def mixture(courses: tl.TimeCourses, words: tuple[str, ...] | str, k: int | None = None) -> tl.CurveClustering:
    gp = tl.fit(courses.centered() if "level" in words else courses)
    return tl.mixture(courses, gp, k, **freed(words))


def worded(words: tuple[str, ...] | str) -> str:
    return words if isinstance(words, str) else ", ".join(words) or "none"


def agreement(found: tl.CurveClustering, truth: np.ndarray) -> float:
    return peers.judged(found.nearest, truth)["ari"]


def pm(values: list[float] | np.ndarray, sign: str = "") -> str:
    """Mean and its standard error."""
    return f"{np.mean(values):{sign}.3f} ± {np.std(values, ddof=1) / np.sqrt(len(values)):.3f}"


# -- beside peers ----------------------------------------------------------------------------------------------------


Family = tuple[tuple[str, ...], str]
VARIATIONS: tuple[tuple[str, ...], ...] = (("delay",), ("gain", "delay"), ("level", "delay"), ())
FAMILIES = [(freedoms, design) for design in ("even", "uneven") for freedoms in VARIATIONS]
FAMILIES += [(("delay",), "noisy"), ((), "noisy")]
RACED = ("tslearn_kshape", "tslearn_dtw", "aeon_dtw", "aeon_msm", "aeon_kasba")
FIVE = [replace(c, name=f"{c.name}_5") for c in peers.CONTENDERS if c.name in RACED]
"""The peers with five starts each, the best by their own measure."""
VERSIONS = "tslearn 0.10.0, aeon 1.6.0"
"""Of the records in aligned.csv; change them with these."""
SCALED = ", standardized"
OURS = {
    "plain": "**timelike** mixture, plain",
    "told": "**timelike** mixture, up to what the data have (delay, where they have none)",
    "all": "**timelike** mixture, up to level, gain and delay",
    "auto": '**timelike** mixture, up_to="auto"',
}


def family_title(freedoms: tuple[str, ...], design: str) -> str:
    return f"{' and '.join(freedoms) or 'none'}, {design}"


def for_peers(family: Family, first: int, scaled: bool) -> peers.Sets:
    """The sets of a family for methods that need an even grid: interpolated linearly where it is not."""

    def load() -> Iterator[tuple[tl.TimeCourses, np.ndarray]]:
        for seed in range(first, first + SETS):
            drawn = one_set(*family, seed)
            points = len(drawn.courses.grid)
            grid = np.linspace(0, SPAN, points)
            courses = tl.TimeCourses.from_arrays(grid, interpolated(drawn.courses, points))
            yield (courses.standardized() if scaled else courses), drawn.labels

    return peers.Sets("shifted", family_title(*family), GROUPS, load)


def run_peers(records: dict[tuple, peers.Record], given: argparse.Namespace) -> None:
    """Every peer on every family, as the values are and standardized (k-shape does so itself), if not known yet."""
    cells = [(f, c, scaled) for f in FAMILIES for c in FIVE for scaled in (False, True)]
    for family, contender, scaled in cells:
        name = contender.name + SCALED * scaled
        known = ("shifted", family_title(*family), name) in records and not given.peers
        if known or name == f"tslearn_kshape_5{SCALED}":
            continue
        home = peers.home(contender.package, given.environments)
        record = peers.run_cell(for_peers(family, given.first, scaled), contender, home, [], LIMIT_SECONDS)
        keep(records, record | {"contender": name}, given)


def run_ours(family: Family, way: str, first: int) -> peers.Record:
    """Our own mixture on every set of a family, the fit of the GP included."""
    drawn = [one_set(*family, seed) for seed in range(first, first + SETS)]
    start = time.perf_counter()
    found = [mixture(d.courses, up_to(way, family[0]), GROUPS) for d in drawn]
    seconds = (time.perf_counter() - start) / SETS
    scores = [agreement(f, d.labels) for f, d in zip(found, drawn, strict=True)]
    record: peers.Record = {"table": "shifted", "data": family_title(*family), "contender": way, "note": ""}
    record |= {"sets": SETS, "clusters": float(np.mean([f.k for f in found])), "seconds": seconds}
    return record | {"ari": float(np.mean(scores)), "ari_error": float(np.std(scores, ddof=1) / np.sqrt(SETS))}


def better(records: dict[tuple, peers.Record], data: str, name: str) -> str:
    """The agreement of a contender, with a peer's better form of the values: as they are, or (z) standardized."""
    found = [records[key] for key in (("shifted", data, name + form) for form in ("", SCALED)) if key in records]
    best = max(found, key=lambda record: float(str(record.get("ari") or -1)), default=None)
    mark = " z" if best and str(best["contender"]).endswith(SCALED) else ""
    return f"{peers.cell(best, ('ari',))[0]}{mark}"


SHIFTED = f"""## Beside peers: {GROUPS} shapes, short courses, delays up to a quarter of the span

Adjusted Rand index, mean of {SETS} sets ± its standard error. A set has 60 to 200 courses
`level + gain shape(t - delay)` of 8 to 15 times over {SPAN:.0f} h, noise 0.15 to 0.3 of a shape's root mean square
(noisy: 0.375 to 0.75). Its shapes are random: GP draws, sums of three bumps, or impulses, in turns; one that correlates
by 0.8 or more with another after the best delay is drawn again. Delays are uniform from 0 to {LONGEST:.0f} h, gains
log-normal with log sd 0.3 to 0.5, levels normal with sd 1. The same shapes, noise and design come with each freedom.
Everyone is given K = {GROUPS}; ours also max_delay = {LONGEST:.0f}.

- Peers ({VERSIONS}) have five starts each, the best by their own measure, and 50 rounds (k-shape and
  KASBA their own number). On uneven times they get linear interpolation onto as many even times.
- Each peer is run on the values as they are and on standardized ones; shown is what agrees better in the mean of the
  family, marked z where that is standardized. This favours the peer. k-shape standardizes by itself.
"""


def shifted(given: argparse.Namespace) -> str:
    """Agreement of every contender on every family; records kept unless tuning."""
    records = {} if given.tuning else peers.read_records(RECORDS)
    if given.peers or not given.tuning:
        run_peers(records, given)
    for family in FAMILIES:
        for way in given.way:
            record = run_ours(family, way, given.first)
            keep(records, record, given)
    return SHIFTED + "".join(shifted_table(records, design) for design in ("even", "uneven", "noisy"))


def keep(records: dict[tuple, peers.Record], record: peers.Record, given: argparse.Namespace) -> None:
    records["shifted", record["data"], record["contender"]] = record
    print({key: record.get(key) for key in ("data", "contender", "ari", "ari_error", "seconds", "note")}, flush=True)
    if not given.tuning:
        peers.save(records, RECORDS)


def shifted_table(records: dict[tuple, peers.Record], design: str) -> str:
    columns = [freedoms for freedoms, of in FAMILIES if of == design]
    names = OURS | {peer.name: peer.title for peer in FIVE}
    rows = [
        [title, *(better(records, family_title(c, design), name) for c in columns)] for name, title in names.items()
    ]
    there = [row for row in rows if set(row[1:]) != {"not run"}]
    return f"\n### {design}\n\n" + table(["", *(" and ".join(c) or "none" for c in columns)], there)


# -- gains, K chosen -------------------------------------------------------------------------------------------------


def gain_set(log_sd: float, seed: int) -> Drawn:
    """Five GP draws with a length scale of a third of the span, 200 courses of ten times, noise 0.3."""
    rng = np.random.default_rng(seed)
    shapes = [draw(rng, SPAN / 3) for _ in range(GROUPS)]
    return measured(rng, shapes, np.repeat(np.arange(GROUPS), 40), np.linspace(0, SPAN, 10), 0.3, ("gain",), log_sd)


def gains(given: argparse.Namespace) -> str:
    rows = []
    for log_sd in (0.0, 0.2, 0.5):
        drawn = [gain_set(log_sd, seed) for seed in range(given.first, given.first + 10)]
        for way in given.way:
            words = up_to(way, ("gain",))
            found = [mixture(d.courses, words) for d in drawn]
            k = np.array([f.k for f in found])
            scores = [agreement(f, d.labels) for f, d in zip(found, drawn, strict=True)]
            fixed = [agreement(mixture(d.courses, words, GROUPS), d.labels) for d in drawn]
            row = [log_sd, worded(words), pm(scores), f"{k.mean():.1f}", f"{(k == GROUPS).sum()} of 10"]
            rows.append([*row, f"{sum(f.continuum for f in found)} of 10", pm(fixed)])
            print(rows[-1], flush=True)
    head = ["log sd of the gains", "up_to", "ARI, K chosen", "K, mean", "K = 5", "continuum", "ARI, K = 5"]
    title = "## Gains: five GP draws, 200 courses of ten times, noise 0.3, ten sets a row\n\n"
    return title + table(head, rows)


# -- recovery --------------------------------------------------------------------------------------------------------


CASES = (("GP", 0.1), ("GP", 0.2), ("GP", 0.4), ("impulses", 0.2))
BOTH = ("gain", "delay")
ENDS = ("low", "high")
"""How the columns of a clustering's table are called where they are ends of an interval: delay_low, delay_high."""


@dataclass(frozen=True)
class Recovered:
    """True values, found ones and the ends of 90 % intervals, (n,) each; gains as logarithms."""

    true: np.ndarray
    found: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def row(self) -> list[object]:
        """How many, bias, root mean square and median error, correlation, coverage and width of the intervals."""
        error = self.found - self.true
        numbers = [pm(error, "+"), *(f"{x:.3f}" for x in (np.sqrt((error**2).mean()), np.median(np.abs(error))))]
        numbers.append(f"{np.corrcoef(self.true, self.found)[0, 1]:.3f}")
        if np.isnan(self.low).any():
            return [len(error), *numbers, "not given", ""]
        inside = ((self.low <= self.true) & (self.true <= self.high)).mean()
        return [len(error), *numbers, f"{100 * inside:.1f} %", f"{(self.high - self.low).mean():.3f}"]


def joined(parts: list[Recovered]) -> Recovered:
    names = ("true", "found", "low", "high")
    return Recovered(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def recovery_set(kind: str, noise: float, groups: int, each: int, seed: int) -> Drawn:
    """Shapes with delays and gains (log sd 0.3), at twelve even times."""
    rng = np.random.default_rng(seed)
    shapes = distinct(rng, kind, groups) if groups == GROUPS else [unit(SHAPES[kind](rng)) for _ in range(groups)]
    labels = np.repeat(np.arange(groups), each)
    return measured(rng, shapes, labels, np.linspace(0, SPAN, 12), noise, BOTH, 0.3)


def of_pairs(kind: str, noise: float, seed: int) -> tuple[Recovered, Recovered]:
    """Delay and log gain of the second of each of 100 pairs against the first."""
    drawn = recovery_set(kind, noise, 100, 2, seed)
    gp, names = tl.fit(drawn.courses), drawn.courses.names
    pairs = zip(names[::2], names[1::2], strict=True)
    found = [tl.match(drawn.courses, gp, a, b, **freed(BOTH)) for a, b in pairs]
    delays = np.array([(m.delay, *m.delay_interval) for m in found]).T
    sizes = np.log([(m.gain, *m.gain_interval) for m in found]).T
    log_gain = np.log(drawn.gain)
    return (
        Recovered(drawn.delay[1::2] - drawn.delay[::2], *delays),
        Recovered(log_gain[1::2] - log_gain[::2], *sizes),
    )


def of_mixture(kind: str, noise: float, seed: int) -> tuple[Recovered, Recovered]:
    """Delay and log gain of each course, both about their mean in the cluster: a cluster's curve has no own zero."""
    drawn = recovery_set(kind, noise, GROUPS, 40, seed)
    found = mixture(drawn.courses, BOTH, GROUPS)
    frame = found.to_frame()
    true = {"delay": drawn.delay, "gain": np.log(drawn.gain)}
    return tuple(_centred(true[name], frame, name, found.nearest, drawn.labels) for name in ("delay", "gain"))


def _centred(true: np.ndarray, frame: pd.DataFrame, name: str, clusters: np.ndarray, labels: np.ndarray) -> Recovered:
    """Only courses in the cluster of most of their shape count; found values are moved by one number a cluster."""
    columns = [name, *(f"{name}_{end}" for end in ENDS)]
    values = np.stack([frame[c] if c in frame else np.full(len(frame), np.nan) for c in columns]).astype(float)
    values = np.log(values) if name == "gain" else values
    parts = []
    for label in np.unique(labels):
        own = labels == label
        own &= clusters == np.bincount(clusters[own]).argmax()
        move = (true[own] - values[0, own]).mean()
        parts.append(Recovered(true[own], *(values[:, own] + move)))
    return joined(parts)


def recovery(given: argparse.Namespace) -> str:
    """Recovered delays and gains, from three sets of a hundred pairs and from three of 200 courses each case."""
    rows = []
    for title, look in (("match", of_pairs), ("mixture", of_mixture)):
        for kind, noise in CASES:
            found = [look(kind, noise, seed) for seed in range(given.first, given.first + 3)]
            for name, parts in zip(("delay, h", "log gain"), zip(*found, strict=True), strict=True):
                rows.append([title, kind, noise, name, *joined(list(parts)).row()])
                print(rows[-1], flush=True)
    head = ["", "shapes", "noise", "of", "n", "bias", "RMSE", "median error", "correlation", "in the 90 % interval"]
    return RECOVERY + table([*head, "its mean width"], rows)


RECOVERY = f"""## What is recovered: delays and gains, 90 % intervals

Twelve even times over {SPAN:.0f} h, noise as a share of the shape's root mean square; delays uniform from 0 to
{LONGEST:.0f} h, gains with log sd 0.3; up_to = gain and delay, max_delay = {LONGEST:.0f}, GP fitted to the set.
*match*: the second of a pair against the first, each pair a shape of its own (differences of two draws: triangular,
log sd 0.42). *mixture*: every course in the cluster of most of its shape, five shapes, 40 courses each; a cluster's
curve has no zero of its own, so found delays and log gains are moved by one number a cluster (bias is then nought by
construction). Impulses are not what the model draws.

"""


# -- freedom that is not used ----------------------------------------------------------------------------------------


FREEDOMS = (("level",), ("gain",), ("delay",), ALL, "auto")
UNUSED_SETS = 5


def plain_sets(given: argparse.Namespace) -> dict[str, list[tuple[tl.TimeCourses, np.ndarray]]]:
    """Sets without any freedom, with and without room to lose; all from 0 to 24 h. Seeds other than those raced."""
    seeds = range(given.first + 500, given.first + 500 + UNUSED_SETS)
    found: dict[str, list[tuple[tl.TimeCourses, np.ndarray]]] = {}
    for design in ("even", "uneven", "noisy"):
        drawn = [one_set((), design, seed) for seed in seeds]
        found[design] = [(d.courses, d.labels) for d in drawn]
    for sampling, noise in (("even", 0.10), ("asynchronous", 0.08)):
        sets = [tl.simulate.profiles(noise, sampling, seed=seed) for seed in seeds]
        found[f"the paper's profiles, {sampling} {noise:.2f}"] = [
            (in_hours(courses), labels) for courses, labels in sets
        ]
    return found


def in_hours(courses: tl.TimeCourses) -> tl.TimeCourses:
    cuts = np.cumsum(courses.sizes)[:-1]
    return tl.TimeCourses.from_arrays(np.split(SPAN * courses.times, cuts), np.split(courses.values, cuts))


def unused(given: argparse.Namespace) -> str:
    rows = []
    for title, sets in plain_sets(given).items():
        plain = scores_of(sets, ())
        row = [title, pm(plain)]
        for words in FREEDOMS if set(given.way) != {"plain"} else ():
            row.append(pm(np.subtract(scores_of(sets, words), plain), "+"))
            print(title, words, row[-1], flush=True)
        rows.append(row)
    differences = [f"{worded(words)}: difference" for words in FREEDOMS[: len(rows[0]) - 2]]
    text = f"## Freedom that is not used: ARI, K given, {UNUSED_SETS} sets without delays, gains and levels\n\n"
    text += "Differences are from the plain answer on the same set. `auto` may take none.\n\n"
    return text + table(["sets", "ARI, plain", *differences], rows)


def scores_of(sets: list[tuple[tl.TimeCourses, np.ndarray]], words: tuple[str, ...] | str) -> list[float]:
    return [agreement(mixture(courses, words, len(np.unique(labels))), labels) for courses, labels in sets]


# -- time ------------------------------------------------------------------------------------------------------------


COST = {"similarity": (5_000, 21), "neighbors": (100_000, 11)}
"""Courses, and delays that are looked at."""


def reach(courses: tl.TimeCourses, gp: tl.GP, delays: int) -> dict[str, object]:
    """Arguments with which the library, that chooses how far apart they are, looks at so many delays."""
    from timelike.gp.freedom import freedom

    asked = (freed(("delay",), float(longest)) for longest in np.linspace(0.05, 0.95, 181))
    return next(words for words in asked if len(freedom(courses, gp, **words).delays) == delays)


def cost(given: argparse.Namespace) -> str:
    """Plain beside delays: similarity takes turns, best of three; neighbours once each, after a run on few."""
    gp, rows = tl.GP.se(0.3, 1.0, 0.3), []
    for name, run, rounds in (("similarity", tl.similarity, 3), ("neighbors", tl.neighbors, 0)):
        count, delays = COST[name]
        few, many = (twenty(n)[0] for n in (500, count))
        runs = {"plain": {}} if given.way == ["plain"] else {"plain": {}, f"{delays} delays": reach(few, gp, delays)}
        for words in runs.values():
            run(few, gp, **words)
        calls = {title: partial(run, many, gp, **words) for title, words in runs.items()}
        seconds = race(calls, rounds) if rounds else {title: [once(call)] for title, call in calls.items()}
        best = {title: min(each) for title, each in seconds.items()}
        rows += [[name, count, title, took, took / best["plain"]] for title, took in best.items()]
        print(rows[-2:], flush=True)
    return "## Time: one grid of ten times\n\n" + table(["", "courses", "", "seconds", "times plain"], rows)


# -- running ---------------------------------------------------------------------------------------------------------


# -- real data -------------------------------------------------------------------------------------------------------

PHASES = ("M/G1", "G1", "S", "G2", "M")
"""Of the cell cycle, in their order."""


def real(_: argparse.Namespace) -> str:
    """Phases of the cell cycle from lags alone, and sex from the timing of growth; nothing here is drawn."""
    return "## Real data\n\n" + cell_cycle() + "\n" + spurts()


def cell_cycle() -> str:
    """The order of five phases, and how many genes are nearest to their own, by lags and by times of peaks."""
    from sklearn.gaussian_process.kernels import ExpSineSquared

    courses, phase = yeast()
    courses = courses.standardized()
    gp = tl.fit(courses, kernel=ExpSineSquared(1.0, 62.0, periodicity_bounds=(50.0, 80.0)))
    period = float(gp.kernel.periodicity)
    grid = np.arange(0, period, 0.5)
    peaks = grid[[int(gp.posterior(courses.select([i]), grid).mean.argmax()) for i in range(len(courses))]]
    ways = {"lags among 7 neighbours": tl.lags(courses, gp).positions().times, "time of the peak": peaks}
    ways["delays in one cluster"] = tl.mixture(courses, gp, k=1, up_to="delay").delay.mean
    rows = [[name, *in_cycle(at, phase, period)] for name, at in ways.items()]
    text = (
        f"yeast_alpha, standardised, {len(courses)} genes; periodic kernel, period {period:.1f} min (found between 50 "
    )
    text += "and 80). Mean phase of each group in minutes after G1, and the share of genes whose own group has the "
    return text + "nearest mean phase.\n\n" + table(["by", *PHASES, "order", "agreement"], rows)


def in_cycle(at: np.ndarray, phase: np.ndarray, period: float) -> list[str]:
    """Mean phases after that of G1, whether they are in order, and the agreement of genes with them."""
    turn = np.exp(2j * np.pi * at / period)
    middle = np.array([np.angle(turn[phase == name].mean()) for name in PHASES]) * period / (2 * np.pi)
    after = (middle - middle[PHASES.index("G1")] + period / 2) % period - period / 2
    places = (middle - middle[0]) % period
    nearest = np.abs((np.subtract.outer(at, middle) + period / 2) % period - period / 2).argmin(axis=1)
    right = "as in the cycle" if (np.diff(places) > 0).all() else "another"
    return [*(f"{minutes:+.1f}" for minutes in after), right, f"{np.mean(np.array(PHASES)[nearest] == phase):.3f}"]


def spurts() -> str:
    """Sex from the timing of growth: by the delays of children, cut in two by a mixture of two normals, or at best."""
    courses, sex = growth()
    ages, heights = courses.designs.points[:, 0], courses.values.reshape(len(courses), -1)
    late = ages >= 8
    middle, error = (ages[1:] + ages[:-1]) / 2, 0.25 * np.sqrt(2) / np.diff(ages)
    speed = np.diff(heights) / np.diff(ages)
    fast = middle > 8
    known = np.tile(error[fast], (len(courses), 1))
    data = {
        "heights": (courses, ("level", "delay")),
        "heights from 8 years on": (tl.TimeCourses.from_arrays(ages[late], heights[:, late]), ("level", "delay")),
        "growth a year from 8 years on": (
            tl.TimeCourses.from_arrays(middle[fast], speed[:, fast], errors=known),
            ("delay",),
        ),
    }
    rows = [
        [name, worded(words), k, *by_delay(one, words, k, sex)] for name, (one, words) in data.items() for k in (1, 2)
    ]
    rows.append(["age at the steepest growth of each child's own curve", "", "", "", *by_peak(courses, sex)])
    text = (
        "growth, 93 children: adjusted Rand index of sex, `max_delay` 5 years, plain time. Delays are cut by a mixture "
    )
    text += "of two normals, which does not know sex, and where the index is largest, which does: no cut is better.\n\n"
    return text + table(["what", "up to", "K", "clusters", "delays, cut in two", "delays, best cut"], rows)


def by_delay(courses: tl.TimeCourses, words: tuple[str, ...], k: int, sex: np.ndarray) -> list[str]:
    gp = tl.fit(courses.centered() if "level" in words else courses, clock="linear")
    found = tl.mixture(courses, gp, k, up_to=words, max_delay=5.0, refine=False)
    return [f"{score(found.labels, sex):.3f}" if k > 1 else "", *cuts(found.delay.mean, sex)]


def by_peak(courses: tl.TimeCourses, sex: np.ndarray) -> list[str]:
    """The same by the age at which the curve of a child alone is steepest, from 9 years on."""
    gp, at = tl.fit(courses), np.arange(9.0, 17.0, 0.05)
    slopes = [np.gradient(gp.posterior(courses.select([i]), at).mean) for i in range(len(courses))]
    return cuts(at[np.argmax(slopes, axis=1)], sex)


def cuts(at: np.ndarray, sex: np.ndarray) -> list[str]:
    from sklearn.mixture import GaussianMixture

    two = GaussianMixture(2, random_state=0, n_init=5).fit_predict(at[:, None])
    return [f"{score(two, sex):.3f}", f"{max(score(at > cut, sex) for cut in at):.3f}"]


def score(found: np.ndarray, truth: np.ndarray) -> float:
    from sklearn.metrics import adjusted_rand_score

    return float(adjusted_rand_score(truth, found))


TABLES = {"shifted": shifted, "gains": gains, "recovery": recovery, "unused": unused, "real": real, "cost": cost}


def blank_page() -> str:
    marks = "\n".join(f"<!-- {name} -->\n<!-- end of {name} -->\n" for name in TABLES)
    about = "All sets are simulated by benchmarks/aligned.py, seeds from 1000; what was tuned was tuned on seeds below."
    return f"# Alike up to level, size and delay\n\n{machine('numpy', 'scipy', 'scikit-learn')}\n\n{about}\n\n{marks}"


def shown_tables(page: str) -> dict[str, str]:
    """The table of docs/aligned.md, under the name of its mark: that of even times."""
    return {"even": page.partition("### even\n\n")[2].partition("\n\n")[0] + "\n"}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=TABLES, nargs="*", default=list(TABLES))
    parser.add_argument("--way", choices=WAYS, nargs="*", default=list(WAYS), help="which of our own, for all tables")
    parser.add_argument("--peers", action="store_true", help="run also those peers again that aligned.csv has")
    parser.add_argument("--tuning", action="store_true", help="seeds from 0; print and write nothing")
    parser.add_argument("--environments", type=Path, default=Path(tempfile.gettempdir()) / "timelike-peers")
    given = parser.parse_args()
    given.first = 0 if given.tuning else REPORTED
    return given


def main() -> None:
    given = arguments()
    warnings.simplefilter("ignore", tl.DataWarning)
    for name in given.only:
        text = TABLES[name](given)
        print(text, flush=True)
        if not given.tuning:
            if not PAGE.exists():
                PAGE.write_text(blank_page(), encoding="utf-8")
            peers.put(PAGE, {name: text})
            if name == "shifted":
                peers.put(GUIDE, shown_tables(text))


if __name__ == "__main__":
    main()
