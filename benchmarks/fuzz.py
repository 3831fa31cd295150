"""Random cases against slow and literal answers: family, cases, failures, the worst error, values lost.

Run from the repository: ``python benchmarks/fuzz.py [seconds a family] [seed]``. A new seed looks elsewhere.
"""

from __future__ import annotations

import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import repeat
from pathlib import Path

import numpy as np
import racing

sys.path.insert(0, "tests")

import oracle
import questions_oracle as dense
import timelike as tl
from contract import ROUTES, bound, courses_of, gp_of
from extended import draw, evidence_of_all, random_case, truth
from timelike import InputError
from timelike.base.arrays import Floats
from timelike.clusters.curves.ascent import Effort
from timelike.clusters.curves.bound import NONE, expected_shares
from timelike.exceptions import DataWarning
from timelike.gp.clock import Clocked
from timelike.gp.freedom import freedom
from timelike.gp.information import evidence
from timelike.gp.kernels import resolve
from timelike.pairs.aligned.nodes import finer
from timelike.questions.effects import eliminated, spectrum
from timelike.questions.effects import evidence as gained
from timelike.questions.found import Found

ORACLE = 1e-8
"""Bound where the oracle is in double precision: relative to the number of values and the size of the answer."""

CHUNKS = 1e-4
"""Bound of curves, in units of the signal, and of probabilities of clusters from chunks."""
EFFECTS = 1e-6
"""Bound of the evidence for an effect, relative to the squares of the values and the size of the answer."""


@dataclass
class Family:
    """What came of the cases of a family: `worst` as a share of its bound, and how many values were lost."""

    cases: int = 0
    refused: int = 0
    failures: int = 0
    worst: float = 0.0
    lost: int = 0
    first: str = ""
    reason: str = ""

    def add(self, share: float, lost: int, what: str) -> None:
        """One case more."""
        self.cases += 1
        self.lost += lost
        self.worst = max(self.worst, share)
        if not share <= 1 or lost:
            self.failures += 1
            self.first = self.first or what


Answer = tuple[float, int, str]
"""The error as a share of the bound, values lost, and what case it was."""


def by_routes(rng: np.random.Generator) -> dict[str, Answer]:
    """All pairs by every route, against fifty digits: a row for each."""
    case = random_case(rng, most=12)
    data = draw(case)
    courses, exact = courses_of(data), truth(case, data)
    allowed = bound(case, courses, exact)
    errors = {name: np.abs(route(courses, gp_of(case)) - exact.similarity) for name, route in ROUTES.items()}
    return {f"similarity, {name}": (float((error / allowed).max()), 0, str(case)) for name, error in errors.items()}


def of_sets(rng: np.random.Generator) -> Answer:
    """The evidence that three courses share a curve, against fifty digits."""
    case = replace(random_case(rng, most=12), rough=False)
    data = draw(case)
    courses, exact = courses_of(data), truth(case, data)
    found = gp_of(case).at(courses).information
    together = evidence(*found.total()) - evidence(found.A[found.design_of], found.b).sum()
    allowed = bound(case, courses, exact)
    error = abs(together - evidence_of_all(case, data))
    return float(error / (allowed[0].sum() + allowed[1, 2])), 0, str(case)


def example(rng: np.random.Generator) -> tuple[list[np.ndarray], list[np.ndarray], list[np.ndarray] | None]:
    kind = str(rng.choice(["replicates", "gaps", "own", "single", "errors", "grid"]))
    return oracle.example(kind, count=int(rng.integers(2, 8)), seed=int(rng.integers(2**31)))


def share(found: np.ndarray, expected: np.ndarray) -> float:
    return float((np.abs(found - expected) / (ORACLE * (10 + np.abs(expected)))).max())


def of_neighbours(rng: np.random.Generator) -> Answer:
    """The nearest courses of each, against a sort of the oracle's matrix."""
    times, values, errors = example(rng)
    scale, noise = 10 ** rng.uniform(-1, 0.5), 10 ** rng.uniform(-1, 0)
    courses = tl.TimeCourses.from_arrays(times, values, errors=errors)
    most = int(rng.integers(1, len(times)))
    found = tl.neighbors(courses, tl.GP.se(scale, 1.0, noise), most)
    S = oracle.similarity_matrix(times, values, oracle.given(oracle.se, scale, 1.0), noise**2, errors=errors)
    np.fill_diagonal(S, -np.inf)
    expected = -np.sort(-S, axis=1)[:, :most]
    return share(found.scores, expected), 0, f"{len(times)} courses, {scale:.3g}, {noise:.3g}"


def on_clocks(rng: np.random.Generator) -> Answer:
    """All pairs on a clock, against the oracle at the times that the clock shows."""
    times, values, errors = example(rng)
    tau, scale, noise = 10 ** rng.uniform(-2, 2), 10 ** rng.uniform(-1, 0.5), 10 ** rng.uniform(-1, 0)
    courses = tl.TimeCourses.from_arrays(times, values, errors=errors)
    start = float(min(t.min() for t in times))
    gp = tl.GP(Clocked(resolve("se").clone_with_theta([np.log(scale)]), tau, start), 1.0, noise)
    shown = [oracle.log_clock(t, tau, start) for t in times]
    S = oracle.similarity_matrix(shown, values, oracle.given(oracle.se, scale, 1.0), noise**2, errors=errors)
    return share(tl.similarity(courses, gp).values, S), 0, f"tau {tau:.3g}, {scale:.3g}, {noise:.3g}"


def of_readers(rng: np.random.Generator) -> Answer:
    """Courses written and read: every number comes back to the bit."""
    count, units = int(rng.integers(1, 30)), str(rng.choice(["", "h", " min", "d"]))
    times = np.unique(np.round(10 ** rng.uniform(-2, 4, int(rng.integers(2, 12))), int(rng.integers(0, 4))))
    values = rng.standard_normal((count, len(times))) * 10.0 ** rng.integers(-200, 100, (count, len(times)))
    values = np.where(rng.random(values.shape) < 0.1, np.nan, values)
    values[:, 0] = rng.standard_normal(count)
    mark, exponent = str(rng.choice(["\t", ";", ","])), bool(rng.random() < 0.3)
    header = [f"{t:e}{units}" if exponent else f"{t!r}{units}" for t in times.tolist()]
    lines = [mark.join(["gene", *header])]
    lines += [
        mark.join([f"g{i}", *("NA" if v != v else repr(v) for v in row)]) for i, row in enumerate(values.tolist())
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.txt"
        path.write_text("\n".join(lines) + "\n")
        courses = tl.read(path, header=f"{{time}}{units}" if rng.random() < 0.5 else None)
    grid, found = courses.to_matrix()
    if not np.isin(grid, times).all():
        return 0.0, values.size, lines[0]
    back = np.full(values.shape, np.nan)
    back[:, np.searchsorted(times, grid)] = found
    return 0.0, int((~((back == values) | (np.isnan(back) & np.isnan(values)))).sum()), lines[0]


def freely_shifted(rng: np.random.Generator) -> Answer:
    """All pairs up to level, gain or delay, against the oracle's sum over the same nodes."""
    times, values, errors = example(rng)
    times, values, errors = times[:3], values[:3], None if errors is None else errors[:3]
    scale, noise, mean = 10 ** rng.uniform(-1, 0.5), 10 ** rng.uniform(-1, 0), rng.choice([0.0, 0.5])
    up_to = [["level"], ["gain"], ["delay"], ["level", "gain"], ["level", "delay"]][rng.integers(5)]
    most = float(rng.choice([0.05, 0.2, 0.5])) if "delay" in up_to else None
    courses, gp = tl.TimeCourses.from_arrays(times, values, errors=errors), tl.GP.se(scale, 1.0, noise, mean)
    found, free = tl.similarity(courses, gp, up_to=up_to, max_delay=most), freedom(courses, gp, up_to, most)
    if finer(courses, gp, free) != (1, 1):  # nodes are filled in by a spline, which the oracle has not
        return freely_shifted(rng)
    nodes = oracle.pair_nodes(free.log_gains, free.delays, free.gain_sd, free.period)
    every = list(zip(times, values, [0.0] * len(times) if errors is None else errors, strict=True))
    i, j = rng.integers(len(times), size=2)
    k = oracle.given(oracle.se, scale, 1.0)
    s, delay, _ = oracle.aligned(every[i], every[j], k, noise**2, nodes, free.level, mean)
    what = f"{up_to} up to {most}, {len(nodes)} nodes, {scale:.3g}, {noise:.3g}, mean {mean}"
    off = share(found.values[i, j], np.array(s))
    flipped = 0.0 if found.delay is None else share(found.delay[i, j], np.array(delay))
    return max(off, flipped), int((found.values != found.values.T).sum()), what


def of_chunks(rng: np.random.Generator) -> Answer:
    """Clusters from chunks against those that memory finds; a label that differs is lost."""
    count, t = int(rng.integers(5, 300)), int(rng.integers(3, 10))
    times, clusters = np.sort(rng.choice(40, t, replace=False)).astype(float), int(rng.integers(1, 6))
    noise, scale = 10 ** rng.uniform(-1, 0), 40 * 10 ** rng.uniform(-1, 0)
    values = rng.standard_normal((clusters, t))[rng.integers(clusters, size=count)]
    values += noise * rng.standard_normal(values.shape)
    values[rng.random(values.shape) < 0.005] += 30 * noise
    for _ in range(int(rng.integers(4))):
        values[np.ix_(rng.random(count) < rng.choice([0.01, 0.3]), rng.random(t) < 0.3)] = np.nan
    values = values[~np.isnan(values).all(axis=1)]
    courses = tl.TimeCourses.from_arrays(times, values)
    gp = tl.GP.se(scale, 1.0, noise)
    settings = {
        "k": None if rng.random() < 0.3 else int(rng.integers(1, min(len(courses), 12) + 1)),
        "spread": None if rng.random() < 0.5 else float(rng.choice([0.0, 0.1, 1.0])),
        "effort": Effort() if rng.random() < 0.5 else Effort(40, 50, 60, 50, int(rng.integers(5, 90))),
        "robust": False,
    }
    step = int(rng.integers(1, len(courses) + 1))
    chunks = [courses[i : i + step] for i in range(0, len(courses), step)]
    found = tl.mixture_from_chunks(chunks, gp, **settings)
    tolerance = None if settings["k"] else 0
    whole = tl.mixture(courses, gp, noise="common", refine=False, tolerance=tolerance, **settings)
    what = f"{len(courses)} courses x {t}, chunks of {step}, {settings}"
    if found.continuum:  # the coarse fit; memory merges the finest
        return 0.0, int(found.k > whole.k), what
    if found.k != whole.k:
        return np.inf, len(courses), what
    off = np.abs(found.means.curves(times).mean - whole.curves(times).mean).max()
    return (
        max(off, np.abs(found.confidence - whole.confidence).max()) / CHUNKS,
        int((found.labels != whole.labels).sum() + (found.nearest != whole.nearest).sum()),
        what,
    )


def of_densities(rng: np.random.Generator) -> Answer:
    """Log densities of new courses given clusters, against weighted dense likelihoods."""
    times, values, _ = oracle.example(str(rng.choice(["grid", "gaps", "own"])), 8, int(rng.integers(2**31)))
    scale, noise, spread = 10 ** rng.uniform(-1, 0.5), 10 ** rng.uniform(-1, 0), float(rng.choice([0.0, 0.1, 0.5]))
    courses = tl.TimeCourses.from_arrays(times[:6], values[:6])
    k = oracle.given(oracle.se, scale, 1.0)
    found = tl.mixture(courses, tl.GP.se(scale, 1.0, noise), k=2, spread=spread, noise="common", robust=False)
    r = np.where(found.responsibilities < 1e-12, 0, found.responsibilities)
    R = [spread**2 * k(x, x) + noise**2 * np.eye(len(x)) for x in times]
    shares, expected = expected_shares(r[:, :-1].sum(axis=0)), []
    for new in (6, 7):
        beside = [oracle.log_density(values[new], 0.0, k(times[new], times[new]) + R[new]) + np.log(NONE)]
        some = [*range(6), new]
        x, y, noises = ([part[i] for i in some] for part in (times, values, R))
        for c in range(found.k):
            joint = oracle.weighted_log_density(x, y, k, noises, [*r[:, c], 1.0])
            alone = oracle.weighted_log_density(x, y, k, noises, [*r[:, c], 0.0])
            beside.append(joint - alone + np.log(shares[c]))
        expected.append(np.logaddexp.reduce(beside))
    answer = found.log_densities(tl.TimeCourses.from_arrays(times[6:], values[6:]))
    return share(answer, np.array(expected)), 0, f"{scale:.3g}, {noise:.3g}, spread {spread}, k {found.k}"


def of_questions(rng: np.random.Generator) -> Answer:
    """The evidence of a gene for an effect, against the restricted likelihood; a law that is broken is a value lost."""
    conditions = {}
    for name in "abcd"[: int(rng.integers(1, 5))]:
        times = np.sort(rng.choice(np.arange(12.0), int(rng.integers(3, 10)), replace=bool(rng.random() < 0.5)))
        times[:2] = 0, 11
        genes = np.flatnonzero(rng.random(12) < 0.9) if rng.random() < 0.5 else np.arange(12)
        values = rng.standard_normal((len(genes), len(times))) * 10 ** rng.uniform(-1, 1, (len(genes), 1))
        values += rng.choice([0, 3]) * np.sin(times / 3) * (rng.random((len(genes), 1)) < 0.3)
        values[rng.random(values.shape) < rng.choice([0, 0.1])] = np.nan
        values[:, 0] = 0
        errors = np.where(np.isnan(values), np.nan, rng.uniform(0.1, 1, values.shape)) if rng.random() < 0.3 else None
        conditions[name] = tl.TimeCourses.from_arrays(times, values, [f"g{i}" for i in genes], errors=errors)
    gp = tl.GP.se(10 ** rng.uniform(0, 1), 10 ** rng.uniform(-1, 1), 10 ** rng.uniform(-1, 0.5))
    found = tl.changing(conditions["a"], gp) if len(conditions) == 1 else tl.compare(conditions, gp)
    broken = not ((found.probability >= 0) & (found.probability <= 1)).all()
    broken += bool((np.diff(found.fdr[found.order]) < -1e-12).any())
    gene, s = int(rng.integers(len(found))), np.array([[10 ** rng.uniform(-1, 1)]])
    return effect_beside(found, gene, s, rng) / EFFECTS, broken, f"{conditions}, gene {gene}, {gp}"


def effect_beside(found: Found, gene: int, s: Floats, rng: np.random.Generator) -> float:
    """How far one effect's evidence is from the dense formula, as a share of its size."""
    question = found.question
    given, points = question.measured.conditions, question.measured.coordinates.points
    condition, times, y, R = dense_gene(found, gene)
    H = np.eye(len(given))[condition][:, :, None] * (times[:, None] == points[:, 0])[:, None]
    H = H.reshape(len(y), -1)
    nuisance = question.nuisances[rng.integers(len(question.nuisances))]
    free, sized = np.split(H @ nuisance.factor, [nuisance.free], axis=1)
    contrast = question.contrasts[rng.integers(len(question.contrasts))]
    shape = question.shapes[(place := int(rng.integers(len(question.shapes))))]
    here = np.array([gene])
    variance = float(np.ravel(list(question.variances(here, shape, s))[rng.integers(len(shape.sizes))])[0])
    K = variance * dense.effect_covariance(contrast.weights, condition, shape.kernel(times[:, None]))
    expected = dense.log_ratio(y, R, s[0, 0], K, free, s[0, 0] * sized @ sized.T)
    rest = eliminated(question.measured.known(here), nuisance.factor, nuisance.free)
    effect = list(question.effects(contrast))[place]
    return abs(gained(spectrum(rest, effect), variance, s)[0, 0] - expected) / (10 + (y**2 / R).sum() + abs(expected))


def dense_gene(found: Found, gene: int) -> tuple[Floats, ...]:
    """Condition, time, value (less the level that values are counted from) and noise variance of a gene's values."""
    measured, parts = found.question.measured, []
    for c, (courses, at) in enumerate(zip(measured.conditions.values(), measured.place[gene], strict=True)):
        if at >= 0:
            own = slice(courses.starts[at], courses.starts[at + 1])
            variances = found.gp.noise_sd**2 + courses.designs.variances[courses.design_rows[own]]
            level = courses.values[own] - measured.middle[gene]
            parts.append((np.full(len(level), c), courses.times[own], level, variances))
    return tuple(np.concatenate(part) for part in zip(*parts, strict=True))


def of_counts(rng: np.random.Generator) -> Answer:
    """Values of counts in another order of genes and samples; a value or error that is not finite is lost."""
    times = np.repeat(np.arange(float(rng.integers(1, 6)) + 1), int(rng.integers(1, 4)))
    labels = None
    if rng.random() < 0.5:
        labels = np.where(rng.random(len(times)) < rng.choice([0.2, 0.5]), "a", "b")
        labels[:2] = "a", "b"
    genes = int(rng.integers(1, 60))
    means = 10 ** rng.uniform(-1, rng.choice([2, 6]), (genes, 1)) * 10 ** rng.normal(0, 0.3, len(times))
    counts = rng.negative_binomial(5, 5 / (5 + means))
    counts[rng.random(counts.shape) < rng.choice([0, 0.5])] = 0
    row, column = rng.permutation(genes), rng.permutation(len(times))
    names = np.array([f"g{i}" for i in range(genes)])
    one = tl.TimeCourses.from_counts(times, counts, names, labels)
    moved = None if labels is None else labels[column]
    two = tl.TimeCourses.from_counts(times[column], counts[np.ix_(row, column)], names[row], moved)
    off, lost = 0.0, int((~np.isfinite(one.values)).sum() + (one.designs.variances <= 0).sum())
    for i, name in enumerate(one.names):
        ours, theirs = one[i], two[name]
        a, b = (np.lexsort((c.values, c.times)) for c in (ours, theirs))
        off = max(off, share(theirs.values[b], ours.values[a]))
    return off, lost, f"{counts.shape}, conditions {labels is not None}, up to {counts.max()}"


FAMILIES: dict[str, Callable[[np.random.Generator], Answer | dict[str, Answer]]] = {
    "similarity": by_routes,
    "evidence of sets": of_sets,
    "neighbours": of_neighbours,
    "clock": on_clocks,
    "up to level, gain, delay": freely_shifted,
    "densities given clusters": of_densities,
    "chunks against memory": of_chunks,
    "questions": of_questions,
    "counts": of_counts,
    "readers": of_readers,
}


def main(seconds: float = 20, seed: int | None = None) -> None:
    seed = int(time.time()) if seed is None else int(seed)
    found: dict[str, Family] = {}
    with ProcessPoolExecutor() as pool:
        for rows in pool.map(run, FAMILIES, repeat(float(seconds)), repeat(seed)):
            found |= rows
    racing.write("fuzz.md", page(found, seed))
    if any(family.failures for family in found.values()):
        sys.exit(1)


def run(name: str, seconds: float, seed: int) -> dict[str, Family]:
    """What came of a family in so many seconds, for each of its rows."""
    warnings.simplefilter("ignore", DataWarning)
    rng, end = np.random.default_rng([seed, list(FAMILIES).index(name)]), time.perf_counter() + seconds
    rows: dict[str, Family] = {}
    while time.perf_counter() < end:
        for row, (result, problem) in outcomes(name, rng).items():
            family = rows.setdefault(row, Family())
            if isinstance(problem, InputError):
                family.refused += 1
                family.reason = family.reason or str(problem)
            else:  # whatever else it is, it is no sentence for a user
                family.add(*(result or (np.inf, 0, repr(problem))))
    return rows


def outcomes(name: str, rng: np.random.Generator) -> dict[str, tuple[Answer | None, Exception | None]]:
    """The answers of a case, or what came instead of them."""
    try:
        found = FAMILIES[name](rng)
    except Exception as problem:
        return {name: (None, problem)}
    return {row: (answer, None) for row, answer in (found if isinstance(found, dict) else {name: found}).items()}


def page(found: dict[str, Family], seed: int) -> str:
    rows = [
        f"| {name} | {f.cases:,} | {f.refused:,} | {f.failures} | {f.worst:.3g} | {f.lost} |"
        for name, f in found.items()
    ]
    refused = [f"- {name}: {f.reason}" for name, f in found.items() if f.refused]
    failed = [f"- {name}: {f.first}" for name, f in found.items() if f.failures]
    return "\n".join(
        [
            "# Random cases against slow and literal answers",
            "",
            f"`make fuzz` renews this table; seed {seed}. Errors are shares of the bound: of docs/numerics.md where",
            f"the answer is known to fifty digits (similarity, sets); {CHUNKS:g} of the signal, and of a probability,",
            f"of clusters from chunks; {EFFECTS:g} (10 + Q + |e|) for the evidence of an effect in a question (Q:",
            f"squares of the values in units of their noise); elsewhere {ORACLE:g} (10 + |s|), against dense formulas",
            "in double precision or, for counts, the same in another order. Lost: a number read that does not come",
            "back to the bit, a label that differs, a probability out of its range, a count without a finite value.",
            "",
            "| family | cases | refused | failures | worst error, share of the bound | values lost |",
            "|---|---|---|---|---|---|",
            *rows,
            *(["", "Refused first:", "", *refused] if refused else []),
            *(["", "Failed first:", "", *failed] if failed else []),
            "",
        ]
    )


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
