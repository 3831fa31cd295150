"""The whole job, from a file to a folder with its page, beside what it cannot do without: fit, mixture and neighbours.

Run ``python benchmarks/job.py`` (three minutes); it writes results/job.md. With ``--against PATH/src`` another checkout
does the same jobs, in turns.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from racing import machine, table, write

import timelike as tl

HERE = Path(__file__).parent.parent / "src"
SIZES = {"20,000 x 12": (20_000, 12, 10), "200 x 10": (200, 10, 5)}
"""Courses, times and groups."""
ROUNDS = 2
JOB = "cluster {file} --out {out} --force --quiet"
COMMAND = "import sys; from timelike.cli import main; sys.argv[0] = 'timelike'; main()"
IMPORT = "import timelike"
ALONE = """
import sys, time, warnings
import timelike as tl
from timelike.runs.recipe import Recipe

def alone(courses):
    recipe = Recipe.of()
    gp = tl.fit(courses, recipe.kernel, clock=recipe.clock, robust=recipe.robust)
    recipe.grouped(courses, gp)
    tl.neighbors(courses, gp, recipe.neighbors)

warnings.simplefilter("ignore")
alone(tl.simulate.profiles(per_group=10)[0])  # all is imported
courses = tl.read(sys.argv[1])
start, used = time.perf_counter(), time.process_time()
alone(courses)
print(time.perf_counter() - start, time.process_time() - used)
"""


class Took(NamedTuple):
    """Seconds on the clock, and of all cores."""

    clock: float
    cpu: float


def made(folder: Path) -> dict[str, Path]:
    """Noisy courses around smooth random curves, as files."""
    import pandas as pd

    files = {}
    for name, (count, points, groups) in SIZES.items():
        per_group = count // groups
        courses, _ = tl.simulate.shifted(noise=0.4, delay=0, groups=groups, per_group=per_group, points=points, seed=1)
        values = courses.to_matrix()[1].round(5)
        files[name] = folder / f"{count}.csv"
        genes = [f"gene{i // 2} | {'ab'[i % 2]}" for i in range(count)]
        columns = [f"{2 * hour}h" for hour in range(points)]
        pd.DataFrame(values, index=pd.Index(genes, name="gene"), columns=columns).to_csv(files[name])
    return files


def run(source: Path, program: str, *arguments: str, cache: Path) -> tuple[Took, str]:
    """What a program in a process of its own took and printed; modules are compiled once, in a folder of ours."""
    known = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment = known | {"PYTHONPATH": str(source), "PYTHONPYCACHEPREFIX": str(cache)}
    before, start = _used(), time.perf_counter()
    command = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return Took(time.perf_counter() - start, _used() - before), done.stdout


def _used() -> float:
    found = resource.getrusage(resource.RUSAGE_CHILDREN)
    return found.ru_utime + found.ru_stime


def measured(sources: dict[str, Path], folder: Path) -> dict[tuple[str, str], Took]:
    """The best of the rounds for each version and each thing, in turns; a first round is not counted."""
    files, found = made(folder), dict[tuple[str, str], list[Took]]()
    for turn in range(ROUNDS + 1):
        for version, source in sources.items():
            cache, out = folder / f"cache_{version}", str(folder / "out")

            def keep(what: str, took: Took, version: str = version, turn: int = turn) -> None:
                print(f"{version}, {what}: {took.clock:.2f} s, CPU {took.cpu:.2f} s", file=sys.stderr)
                if turn:
                    found.setdefault((version, what), []).append(took)

            for name, file in files.items() if turn else [("200 x 10", files["200 x 10"])]:
                keep(f"alone, {name}", Took(*map(float, run(source, ALONE, str(file), cache=cache)[1].split())))
                typed = JOB.format(file=file, out=out).split()
                keep(f"job, {name}", run(source, COMMAND, *typed, cache=cache)[0])
            keep("`timelike --help`", run(source, COMMAND, "--help", cache=cache)[0])
            keep("`import timelike`", run(source, IMPORT, cache=cache)[0])
    return {what: Took(*np.array(all_of).min(axis=0)) for what, all_of in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--against", type=Path, help="src of another checkout, which does the same")
    against = parser.parse_args().against
    sources = {"now": HERE} if against is None else {"before": against, "now": HERE}
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        best = measured(sources, Path(folder))
    jobs: list[list[object]] = []
    for name in SIZES:
        for version in sources:
            alone, job = best[version, f"alone, {name}"], best[version, f"job, {name}"]
            ratios = [f"{job.clock / alone.clock:.2f}", f"{job.cpu / alone.cpu:.2f}"]
            jobs.append([name, version, *(f"{x:.2f}" for x in (*alone, *job)), *ratios])
    header = ["courses", "version", "alone, s", "alone, CPU s", "job, s", "job, CPU s", "job / alone", "CPU / CPU"]
    further = ["`timelike --help`", "`import timelike`"]
    rows = [[what, version, *(f"{x:.2f}" for x in best[version, what])] for what in further for version in sources]
    words = (
        "*job*: `timelike cluster FILE --out FOLDER` in a process of its own: start of Python, reading, fit, clusters, "
        "neighbours, tables, figures in three formats, page. *alone*: `fit`, `mixture` and `neighbors` with the same "
        "settings, in a process that has read the file and imported everything. Best of "
        f"{ROUNDS} rounds, in turns, after one that is not counted (it compiles the modules). "
        f"Load average before: {load:.1f}; above zero others worked beside, and seconds are too many. "
        f"`python benchmarks/job.py`; {machine('numpy', 'scipy', 'scikit-learn', 'pandas', 'matplotlib')}."
    )
    tables = f"{table(header, jobs)}\n## Other commands\n\n{table(['', 'version', 's', 'CPU s'], rows)}"
    write("job.md", f"# The job\n\n{words}\n\n{tables}")


if __name__ == "__main__":
    main()
