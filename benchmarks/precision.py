"""The numerical contract on random courses: the worst error of s against fifty digits, and where it was found.

Run from the repository: ``python benchmarks/precision.py [cases] [seed]``. Ten thousand cases take about an hour.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import racing

sys.path.insert(0, "tests")

from contract import ROUTES, bound, courses_of, gp_of
from extended import Case, draw, random_case, truth
from timelike import InputError


@dataclass(frozen=True)
class Found:
    """The error of one route in one case, at the pair where it is the largest share of the bound."""

    case: Case
    route: str
    share: float
    error: float
    similarity: float


def main(cases: int = 1000, seed: int = 1) -> None:
    rng, start, refused = np.random.default_rng(seed), time.perf_counter(), 0
    found: list[Found] = []
    for _ in range(cases):
        case = random_case(rng)
        try:
            found += measure(case)
        except InputError:
            refused += 1  # the noise is below what doubles can do, and the library says so
    took = time.perf_counter() - start
    racing.write(
        "precision.md", page(found, f"{cases:,} cases (seed {seed}), {refused} refused, {took / 60:.0f} minutes")
    )


def measure(case: Case) -> list[Found]:
    data = draw(case)
    courses, gp = courses_of(data), gp_of(case)
    exact = truth(case, data)
    allowed = bound(case, courses, exact)
    return [_worst(case, name, way(courses, gp), exact.similarity, allowed) for name, way in ROUTES.items()]


def _worst(case: Case, name: str, values: np.ndarray, exact: np.ndarray, allowed: np.ndarray) -> Found:
    error = np.abs(values - exact)
    at = np.unravel_index(np.argmax(error / allowed), error.shape)
    return Found(case, name, float((error / allowed)[at]), float(error[at]), float(exact[at]))


def page(found: list[Found], title: str) -> str:
    parts = [
        "# The error of s against fifty digits\n",
        f"{title}. {racing.machine('timelike', 'numpy', 'scipy', 'scikit-learn', 'mpmath')}\n",
        "Every case has three courses (six pairs). `share` is the error as a share of the bound in docs/numerics.md: "
        "above 1 the contract is broken.\n",
        "## By route\n",
        _summary(found, lambda f: f.route),
        "## By kernel\n",
        _summary(found, lambda f: f.case.kernel),
        "## By noise / signal\n",
        _summary(found, lambda f: _decade(f.case.ratio)),
        "## The ten worst\n",
        _worst_of_all(found),
    ]
    return "\n".join(parts)


def _decade(ratio: float) -> str:
    """The power of ten below a ratio, written so that it sorts: from a, 1e-6, to i, 1e2."""
    power = int(np.floor(np.log10(ratio)))
    return f"{chr(ord('a') + power + 6)}. 1e{power} to 1e{power + 1}"


def _summary(found: list[Found], key: Callable[[Found], str]) -> str:
    """The worst share of the bound, and the errors themselves, group by group."""
    rows: list[list[object]] = []
    for name in sorted({key(f) for f in found}):
        group = [f for f in found if key(f) == name]
        shares = np.array([f.share for f in group])
        errors = np.array([f.error / max(1, abs(f.similarity)) for f in group])
        digits = [float(np.quantile(errors, q)) for q in (0.5, 0.99, 1.0)]
        rows.append([name, len(group), float(shares.max()), float(np.quantile(shares, 0.99)), *digits])
    header = ["", "cases", "worst share", "99 % below", "error / max(1, s): median", "99 % below", "worst"]
    return racing.table(header, rows)


def _worst_of_all(found: list[Found]) -> str:
    rows: list[list[object]] = [
        [f.share, f.error, f.similarity, f.route, _words(f.case)] for f in sorted(found, key=lambda f: -f.share)[:10]
    ]
    return racing.table(["share", "error", "s", "route", "case"], rows)


def _words(case: Case) -> str:
    default = Case()
    changed = {k: v for k, v in vars(case).items() if v != getattr(default, k) or k in ("kernel", "ratio")}
    return ", ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in changed.items())


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
