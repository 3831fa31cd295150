"""Size of the report, time to write it, and time until a browser shows it, up to 20,000 courses.

Run ``python benchmarks/report.py [--courses 20000]``; it writes results/report.md. It needs playwright and Chromium.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from racing import machine, table, write

import timelike as tl
from timelike.reporting.report import report

TIMES = 12
GROUPS = 8
ROUNDS = 5
MEASURE = """() => {
  const [entry] = performance.getEntriesByType("navigation");
  const tasks = (window.longTasks ?? []).map((task) => task.duration);
  return { parsed: entry.domContentLoadedEventEnd, longest: Math.max(0, ...tasks) };
}"""
WATCH = """window.longTasks = [];
new PerformanceObserver((list) => window.longTasks.push(...list.getEntries()))
  .observe({ type: "longtask", buffered: true });
"""


def shared(count: int) -> tl.TimeCourses:
    """Courses on one grid, in groups of random smooth curves."""
    rng = np.random.default_rng(0)
    times = np.linspace(0, 1, TIMES)
    waves = np.sin(np.pi * np.outer(np.arange(1, 4), times)[None] + rng.uniform(0, 6, (GROUPS, 3, 1)))
    curves = (waves * rng.normal(size=(GROUPS, 3, 1))).sum(axis=1)
    values = curves[rng.integers(GROUPS, size=count)] + 0.2 * rng.normal(size=(count, TIMES))
    return tl.TimeCourses.from_arrays(times, values, [f"gene{i:05d}" for i in range(count)])


def own(count: int) -> tl.TimeCourses:
    """Courses with random times of their own."""
    return tl.simulate.own_times(visits=(TIMES, TIMES), per_group=count // 3 + 1, seed=1)[0][:count]


def opening(path: Path) -> dict[str, float]:
    """Milliseconds, medians of several openings: until the page is ready, its longest block, a search, a course."""
    from playwright.sync_api import sync_playwright

    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    found: list[dict[str, float]] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program, args=["--headless", "--no-sandbox", "--disable-gpu"]
        )
        for _ in range(ROUNDS):
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.add_init_script(WATCH)
            start = time.perf_counter()
            page.goto(path.as_uri())
            page.wait_for_selector("html[data-ready]")
            ready = 1e3 * (time.perf_counter() - start)
            found.append({"ready": ready, **page.evaluate(MEASURE), **_using(page)})
            page.close()
        browser.close()
    return {key: statistics.median(one[key] for one in found) for key in found[0]}


def _using(page: object) -> dict[str, float]:
    """Milliseconds inside the page for a search and for opening a course."""
    measure = """() => {
      const timed = (action) => { const start = performance.now(); action(); return performance.now() - start; };
      const search = document.getElementById("search");
      const type = (text) => { search.value = text; search.dispatchEvent(new Event("input")); };
      const typed = timed(() => type("7"));
      const rows = document.querySelectorAll("#table tr[data-place]");
      return { search: typed, open: timed(() => rows[3].click()) };
    }"""
    return page.evaluate(measure)  # type: ignore[attr-defined]


def row(name: str, courses: tl.TimeCourses, folder: Path) -> list[object]:
    gp = tl.fit(courses)
    clustering = tl.mixture(courses, gp, k=GROUPS if name == "one grid" else 3, max_k=GROUPS)
    neighbors = tl.neighbors(courses, gp, k=10)
    start = time.perf_counter()
    path = report(folder / "report.html", courses, gp, clustering, neighbors=neighbors)
    took = time.perf_counter() - start
    found = opening(path)
    milliseconds = [round(found[key]) for key in ("parsed", "ready", "longest", "search", "open")]
    return [name, len(courses), f"{path.stat().st_size / 1e6:.2f}", f"{took:.2f}", *milliseconds]


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--courses", type=int, nargs="*", default=[2000, 20_000])
    counts = parser.parse_args(arguments).courses
    header = [
        "times",
        "courses",
        "MB",
        "write, s",
        "read, ms",
        "ready, ms",
        "longest block, ms",
        "search, ms",
        "open, ms",
    ]
    with tempfile.TemporaryDirectory() as folder:
        rows = [row("one grid", shared(n), Path(folder)) for n in counts]
        rows.append(row("own", own(min(counts)), Path(folder)))
    text = (
        f"# The report: size and time to open\n\n{TIMES} values a course, 10 neighbours each, medians of {ROUNDS} "
        "openings in headless Chromium from a file. *read*: the page is read and its program has run; *ready*: all "
        "figures stand, the heatmap included, seen from outside; *longest block*: the longest time for which the page "
        "did not answer; *search*: one letter typed; *open*: a click on a course, with its curve, its neighbour and "
        f"the explanation. `python benchmarks/report.py`; {machine('numpy', 'playwright')}.\n\n"
    )
    write("report.md", text + table(header, rows))


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    main(sys.argv[1:])
