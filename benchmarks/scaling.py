"""How the cost of fitting and of all pairs grows with N, t and the number of distinct grids.

Run ``python benchmarks/scaling.py``; it writes results/scaling.md, scaling.csv and scaling.png.
"""

from __future__ import annotations

import csv

import numpy as np
from racing import RESULTS, machine, once, table, write
from similarity import smooth

import timelike as tl
from timelike.plot import COLORS


def grids(n: int, distinct: int, t: int = 10, seed: int = 0) -> tl.TimeCourses:
    """N courses of t values at times drawn from `distinct` different grids."""
    rng = np.random.default_rng(seed)
    times = [np.sort(rng.choice(60, t, replace=False)) / 60.0 for _ in range(distinct)]
    chosen = rng.integers(0, distinct, n)
    chosen[:distinct] = np.arange(distinct)
    values = [np.sin(4 * times[g] + rng.normal()) + 0.2 * rng.standard_normal(t) for g in chosen]
    return tl.TimeCourses.from_arrays([times[g] for g in chosen], values)


def own(n: int, seed: int = 0) -> tl.TimeCourses:
    """N courses of 6 to 10 values, each at times of its own."""
    rng = np.random.default_rng(seed)
    times = [np.sort(rng.random(size)) for size in rng.integers(6, 11, n)]
    values = [np.sin(4 * x + rng.normal()) + 0.2 * rng.standard_normal(len(x)) for x in times]
    return tl.TimeCourses.from_arrays(times, values)


def best(run, repeats: int = 3) -> float:
    return min(once(run) for _ in range(repeats))


def measure() -> list[dict[str, object]]:
    gp = tl.GP.se(0.3, 1.0, 0.2)
    rows: list[dict[str, object]] = []

    def add(step: str, axis: str, x: int, run) -> None:
        rows.append({"step": step, "axis": axis, "x": x, "seconds": best(run)})
        print(rows[-1])

    tl.fit(smooth(100, 10))
    for n in (1_000, 10_000, 100_000, 1_000_000):
        courses = smooth(n, 10)
        add("fit", "N (one grid, t = 10)", n, lambda c=courses: tl.fit(c))
    for n in (1_000, 10_000, 100_000):
        courses = own(n)
        add("fit", "N (own times, t = 6 to 10)", n, lambda c=courses: tl.fit(c))
    for n in (1_000, 2_000, 5_000, 10_000, 20_000):
        courses = smooth(n, 10)
        add("similarity", "N (one grid, t = 10)", n, lambda c=courses: tl.similarity(c, gp))
    for n in (500, 1_000, 2_000, 4_000):
        courses = grids(n, n)
        add("similarity", "N (own grids, t = 10)", n, lambda c=courses: tl.similarity(c, gp))
    for t in (5, 10, 20, 40, 80, 160):
        courses = smooth(2_000, t)
        add("fit", "t (one grid, N = 2000)", t, lambda c=courses: tl.fit(c))
        add("similarity", "t (one grid, N = 2000)", t, lambda c=courses: tl.similarity(c, gp))
    for distinct in (1, 4, 16, 64, 256, 1_024, 2_000):
        courses = grids(2_000, distinct)
        add("fit", "distinct grids (N = 2000, t = 10)", distinct, lambda c=courses: tl.fit(c))
        add("similarity", "distinct grids (N = 2000, t = 10)", distinct, lambda c=courses: tl.similarity(c, gp))
    return rows


def draw(rows: list[dict[str, object]]) -> None:
    axes = list(dict.fromkeys(str(r["axis"]) for r in rows))
    panels = tl.plot.panels(len(axes))
    for ax, axis in zip(panels, axes, strict=True):
        for color, step in zip(COLORS, ("fit", "similarity"), strict=False):
            points = [(r["x"], r["seconds"]) for r in rows if r["axis"] == axis and r["step"] == step]
            if points:
                ax.loglog(*zip(*points, strict=True), "o-", color=color, label=step)
        ax.set_xlabel(axis)
        ax.set_ylabel("seconds")
        ax.grid(alpha=0.3)
        ax.legend(frameon=False)
    tl.plot.save(panels[0], RESULTS / "scaling.png")


if __name__ == "__main__":
    rows = measure()
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / "scaling.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    draw(rows)
    fits = {r["x"]: float(r["seconds"]) for r in rows if r["step"] == "fit" and str(r["axis"]).startswith("N (one")}
    text = "# How each cost grows\n\n" + machine("timelike", "numpy", "numba") + "; best of 3\n\n"
    text += f"Fit: N = 1,000,000 takes {fits[1_000_000] / fits[1_000]:.2f} x the time of N = 1,000.\n\n"
    text += table(["step", "axis", "x", "seconds"], [list(r.values()) for r in rows]) + "\n![log-log](scaling.png)\n"
    write("scaling.md", text)
