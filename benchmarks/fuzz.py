"""Random cases against slow and literal answers: family, cases, failures, the worst error, values lost.

Run from the repository: ``python benchmarks/fuzz.py [seconds a family] [seed]``. A new seed looks elsewhere.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import racing

sys.path.insert(0, "tests")

import oracle
import timelike as tl
from contract import ROUTES, bound, courses_of, gp_of
from extended import draw, evidence_of_all, random_case, truth
from timelike import InputError
from timelike.gp.clock import Clocked
from timelike.gp.information import evidence
from timelike.gp.kernels import resolve

ORACLE = 1e-8
"""Bound where the oracle is in double precision: relative to the number of values and the size of the answer."""


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


def by_route(name: str) -> Callable[[np.random.Generator], Answer]:
    """All pairs by one route, against fifty digits."""

    def one(rng: np.random.Generator) -> Answer:
        case = random_case(rng, most=12)
        data = draw(case)
        courses, exact = courses_of(data), truth(case, data)
        error = np.abs(ROUTES[name](courses, gp_of(case)) - exact.similarity)
        return float((error / bound(case, courses, exact)).max()), 0, str(case)

    return one


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


FAMILIES: dict[str, Callable[[np.random.Generator], Answer]] = {
    **{f"similarity, {name}": by_route(name) for name in ROUTES},
    "evidence of sets": of_sets,
    "neighbours": of_neighbours,
    "clock": on_clocks,
    "readers": of_readers,
}


def main(seconds: float = 20, seed: int | None = None) -> None:
    seed = int(time.time()) if seed is None else int(seed)
    found = {
        name: run(one, float(seconds), np.random.default_rng([seed, k]))
        for k, (name, one) in enumerate(FAMILIES.items())
    }
    racing.write("fuzz.md", page(found, seed))
    if any(family.failures for family in found.values()):
        sys.exit(1)


def run(one: Callable[[np.random.Generator], Answer], seconds: float, rng: np.random.Generator) -> Family:
    family, end = Family(), time.perf_counter() + seconds
    while time.perf_counter() < end:
        try:
            family.add(*one(rng))
        except InputError as problem:
            family.refused += 1
            family.reason = family.reason or str(problem)
        except Exception as problem:  # whatever it is, it is no sentence for a user
            family.add(np.inf, 0, repr(problem))
    return family


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
            f"the answer is known to fifty digits (similarity, sets), {ORACLE:g} (10 + |s|) where it is the dense",
            "formulas in double precision (neighbours, clock). Readers lose a value when it does not come back to the",
            "bit.",
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
