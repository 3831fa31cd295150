"""Size of the report, time to write it, and time until a browser shows it, up to 30,000 courses.

Run ``python benchmarks/report.py``; it writes results/report.md. With ``--against PATH/src`` another checkout writes
the same reports, and openings of both alternate. It needs playwright and Chromium.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from racing import machine, table, write

import timelike as tl

HERE = Path(__file__).parent.parent / "src"
TIMES = 12
GROUPS = 8
ROUNDS = 7
WRITES = 5
MEASURE = """() => {
  const [entry] = performance.getEntriesByType("navigation");
  const tasks = window.longTasks.map((task) => task.duration);
  return { parsed: entry.domContentLoadedEventEnd, picture: window.firstPicture, longest: Math.max(0, ...tasks) };
}"""
WATCH = """window.longTasks = [];
new PerformanceObserver((list) => window.longTasks.push(...list.getEntries()))
  .observe({ type: "longtask", buffered: true });
const watching = new MutationObserver(() => {
  if (!document.querySelector("main svg path, main svg polyline, main svg circle")) return;
  watching.disconnect();
  requestAnimationFrame(() => setTimeout(() => { window.firstPicture = performance.now(); }));
});
watching.observe(document, { childList: true, subtree: true });
"""
USE = """() => {
  const timed = (action) => { const start = performance.now(); action(); return performance.now() - start; };
  const search = document.getElementById("search");
  const type = (text) => { search.value = text; search.dispatchEvent(new Event("input")); };
  const typed = timed(() => type("7"));
  const rows = document.querySelectorAll("#table tr[data-place]");
  return { search: typed, open: timed(() => rows[3].click()) };
}"""
COLUMNS = {
    "parsed": "read, ms",
    "picture": "first picture, ms",
    "ready": "ready, ms",
    "longest": "longest block, ms",
    "search": "search, ms",
    "open": "open, ms",
}


# -- courses ---------------------------------------------------------------------------------------------------------


def shared(count: int, conditions: int = 1) -> tl.TimeCourses:
    """Courses on one grid, in groups of random smooth curves; of so many conditions, `count` each."""
    rng = np.random.default_rng(0)
    times = np.linspace(0, 1, TIMES)
    waves = np.sin(np.pi * np.outer(np.arange(1, 4), times)[None] + rng.uniform(0, 6, (GROUPS, 3, 1)))
    curves = (waves * rng.normal(size=(GROUPS, 3, 1))).sum(axis=1)
    total = count * conditions
    values = curves[rng.integers(GROUPS, size=total)] + 0.2 * rng.normal(size=(total, TIMES))
    genes = [f"gene{i:05d}" for i in range(count)]
    names = genes if conditions == 1 else [f"{gene} | {'abc'[c]}" for gene in genes for c in range(conditions)]
    return tl.TimeCourses.from_arrays(times, values, names)


def own(count: int) -> tl.TimeCourses:
    """Courses with random times of their own."""
    return tl.simulate.own_times(visits=(TIMES, TIMES), per_group=count // 3 + 1, seed=1)[0][:count]


CASES = {
    "2,000, one grid": (lambda: shared(2000), GROUPS),
    "20,000, one grid": (lambda: shared(20_000), GROUPS),
    "3 conditions x 10,000": (lambda: shared(10_000, 3), GROUPS),
    "2,000, own times": (lambda: own(2000), 3),
}


# -- writing, in a process of the checkout that is measured ------------------------------------------------------------


def write_when_told(folder: Path, names: list[str]) -> None:
    """Prepare all cases, then for each line of the input write their reports, and print the seconds of each."""
    from timelike.reporting.report import report

    ready = []
    for name in names:
        make, k = CASES[name]
        courses = make()
        gp = tl.fit(courses)
        ready.append((courses, gp, tl.mixture(courses, gp, k=k, max_k=GROUPS), tl.neighbors(courses, gp, k=10)))
    print("prepared", flush=True)
    for _ in sys.stdin:
        took = []
        for number, (courses, gp, clustering, neighbors) in enumerate(ready):
            start = time.perf_counter()
            report(folder / f"{number}.html", courses, gp, clustering, neighbors=neighbors)
            took.append(time.perf_counter() - start)
        print(json.dumps(took), flush=True)


def writer(source: Path, folder: Path, names: list[str]) -> subprocess.Popen[str]:
    """A process of a checkout that is prepared to write its reports."""
    folder.mkdir()
    command = [sys.executable, __file__, "--write", str(folder), "--cases", *names]
    environment = {**os.environ, "PYTHONPATH": str(source.resolve())}
    process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    if process.stdout is None or process.stdout.readline() != "prepared\n":
        raise RuntimeError(f"{source} could not prepare its reports")
    return process


def written(sources: dict[str, Path], folders: dict[str, Path], names: list[str]) -> dict[str, list[float]]:
    """Have checkouts write their reports in turns; the least seconds of each case."""
    processes = {label: writer(source, folders[label], names) for label, source in sources.items()}
    took: dict[str, list[list[float]]] = {label: [] for label in sources}
    for _ in range(WRITES):
        for label, process in processes.items():
            process.stdin.write("write\n")  # type: ignore[union-attr]  # they are pipes
            process.stdin.flush()  # type: ignore[union-attr]
            took[label].append(json.loads(process.stdout.readline()))  # type: ignore[union-attr]
    for process in processes.values():
        process.communicate()
    return {label: np.min(rounds, axis=0).tolist() for label, rounds in took.items()}


# -- opening -----------------------------------------------------------------------------------------------------------


def opened(browser: Any, path: Path) -> dict[str, float]:
    """Milliseconds of one opening: until a picture, until all is ready, the longest block, a search, a course."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.add_init_script(WATCH)
    start = time.perf_counter()
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready]")
    ready = 1e3 * (time.perf_counter() - start)
    page.wait_for_function("window.firstPicture !== undefined")
    found = {"ready": ready, **page.evaluate(MEASURE), **page.evaluate(USE)}
    page.close()
    return found


def openings(paths: list[Path]) -> list[dict[str, float]]:
    """The best of several openings of each page, in turns."""
    from playwright.sync_api import sync_playwright

    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    found: list[list[dict[str, float]]] = [[] for _ in paths]
    with sync_playwright() as playwright:
        flags = ["--headless", "--no-sandbox", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path=program, args=flags)
        for _ in range(ROUNDS):
            for path, own in zip(paths, found, strict=True):
                own.append(opened(browser, path))
        browser.close()
    return [{key: min(one[key] for one in own) for key in COLUMNS} for own in found]


def rows(sources: dict[str, Path], names: list[str], place: Path) -> list[list[object]]:
    """A row for each case and checkout."""
    folders = {label: place / str(i) for i, label in enumerate(sources)}
    took = written(sources, folders, names)
    found: list[list[object]] = []
    for number, name in enumerate(names):
        paths = [folder / f"{number}.html" for folder in folders.values()]
        for label, path, one in zip(sources, paths, openings(paths), strict=True):
            size = f"{path.stat().st_size / 1e6:.2f}"
            found.append([name, label, size, f"{took[label][number]:.2f}", *(round(one[key]) for key in COLUMNS)])
    return found


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", nargs="*", default=list(CASES), choices=list(CASES))
    parser.add_argument("--against", type=Path, help="the src folder of another checkout")
    parser.add_argument("--label", default="before", help="what that one is called in the table")
    parser.add_argument("--write", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.write is not None:
        write_when_told(given.write, given.cases)
        return
    sources = ({} if given.against is None else {given.label: given.against}) | {"now": HERE}
    with tempfile.TemporaryDirectory() as folder:
        found = rows(sources, given.cases, Path(folder))
    text = (
        f"# The report: size and time to open\n\n{TIMES} values a course, 10 neighbours each, the best of {ROUNDS} "
        f"openings in headless Chromium from a file, of {WRITES} writings; where there are two versions, in turns. "
        "*read*: the page is read and its program has run; *first picture*: a figure stands on the screen; *ready*: "
        "all figures stand, the heatmap included, seen from outside; *longest block*: the longest time for which the "
        "page did not answer; *search*: one letter typed; *open*: a click on a course, with its curve, its neighbour "
        f"and the explanation. `python benchmarks/report.py`; {machine('numpy', 'playwright')}.\n\n"
    )
    header = ["courses", "version", "MB", "write, s", *COLUMNS.values()]
    write("report.md", text + table(header, found))


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    main(sys.argv[1:])
