"""Dask against threads on the same cores, function by function; and ten million courses from a file.

python benchmarks/many_machines.py race                              # about five minutes
python benchmarks/many_machines.py plain                             # the same with Dask's own setting of memory
python benchmarks/many_machines.py large --count 10000000 --share 0.01 --scratch /tmp/large

The second takes 0.4 GB of disk for the courses and 0.8 GB while the mixture runs. Neighbours of a share of the courses
are sought among all of them, a million at a time.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
from large_clusters import GP, TIMES, K, judged, made, timed
from out_of_core import cluster
from racing import RESULTS, machine, race, table
from similarity import own

import timelike as tl
from timelike.pairs.nearest.best import Best

MILLION = 1_000_000
NEAREST = 7


# -- Dask against threads ------------------------------------------------------------------------------------------


def contenders(folder: Path) -> dict[str, Callable[[object], object]]:
    """What is done with a client, or without."""
    path, _ = made(folder, MILLION)
    large, _ = made(folder, 5 * MILLION)
    file, longer = tl.CourseFile(path, TIMES), tl.CourseFile(large, TIMES)
    courses = tl.TimeCourses.from_arrays(TIMES, np.load(path)[:300_000])
    spread, fewer = own(30_000), own(18_000)
    rng = np.random.default_rng(0)
    times = np.repeat([0.0, 2, 4, 8, 16, 24], 3)
    wild, mutant = (tl.TimeCourses.from_arrays(times, rng.standard_normal((80_000, 18))) for _ in "ab")
    given = tl.GP.se(5.0, 1.0, 1.0)
    return {
        "similar_pairs, 30,000 with own times": lambda client: tl.similar_pairs(
            spread, tl.GP.se(0.9, 0.65, 0.08), above=15, client=client
        ),
        "neighbors, 300,000 on one grid": lambda client: tl.neighbors(courses, GP, NEAREST, client=client),
        "neighbors, 18,000 with own times": lambda client: tl.neighbors(
            fewer, tl.GP.se(0.9, 0.65, 0.08), NEAREST, client=client
        ),
        "mixture_from_chunks, 1,000,000, K = 20": lambda client: tl.mixture_from_chunks(file, GP, K, client=client),
        "fit of a file, 5,000,000": lambda client: tl.fit(longer, client=client),
        "compare, 80,000 x 18 x 2": lambda client: tl.compare({"a": wild, "b": mutant}, given, client=client),
        "changing, 80,000 x 18": lambda client: tl.changing(wild, given, client=client),
    }


def races(folder: Path, only: str, rounds: int, *, keeping: bool) -> None:
    rows = []
    with cluster(keeping=keeping) as client:
        for name, job in contenders(folder).items():
            if only not in name:
                continue
            took = race({"threads": partial(job, None), "Dask": partial(job, client)}, rounds)
            threads, dask = (np.array(seconds) for seconds in took.values())
            rows.append([name, np.median(threads), np.median(dask), np.median(dask / threads)])
            print(*rows[-1], flush=True)
    head = ["", "threads, median s", "Dask, two processes, median s", "Dask / threads, median of rounds"]
    title = "## Dask against threads on the same two cores" if keeping else "## Dask with its own setting of memory"
    keep("race" if keeping else "plain", f"{title}, {rounds} rounds in turn\n\n" + table(head, rows))


# -- ten million ----------------------------------------------------------------------------------------------------


def run_fit(folder: Path, count: int, _: float) -> dict[str, object]:
    path, _ = made(folder, count, "float32")
    answer, gp = timed(lambda: tl.fit(tl.CourseFile(path, TIMES)))
    return answer | {"of": count, "found": f"length scale {gp.length_scale:.4f}, noise {gp.noise_sd:.4f}"}


def run_mixture(folder: Path, count: int, _: float) -> dict[str, object]:
    path, labels = made(folder, count, "float32")
    answer, found = timed(lambda: tl.mixture_from_chunks(tl.CourseFile(path, TIMES), GP, K, scratch=folder))
    known = judged(found.nearest, labels)
    return answer | {"of": count, "found": f"{found.k} clusters, NMI {known['nmi']:.3f}"}


def run_neighbors(folder: Path, count: int, share: float) -> dict[str, object]:
    """The nearest of the first courses among all, a million at a time: the best of each are the best of all."""
    path, _ = made(folder, count, "float32")
    asked = int(count * share)

    def sought() -> Best:
        courses = tl.TimeCourses.from_arrays(TIMES, np.load(path, mmap_mode="r")[:asked])
        best, first = Best(asked, NEAREST), 0
        for items in tl.CourseFile(path, TIMES, rows=MILLION):
            found = tl.neighbors(courses, GP, NEAREST + 1, others=items)
            best.offer(np.arange(asked), found.indices + first, found.scores)  # a course is no neighbour of its own
            first += len(items)
        return best

    answer, best = timed(sought)
    return answer | {"of": asked, "found": f"mean similarity {best.scores.mean():.3f}"}


RUNS = {"fit": run_fit, "mixture, K = 20": run_mixture, "7 nearest of a share, among all": run_neighbors}


def large(folder: Path, count: int, share: float) -> None:
    made(folder, count, "float32")
    rows = []
    for name in RUNS:
        command = [sys.executable, __file__, "one", name, "--scratch", str(folder), "--count", str(count)]
        done = subprocess.run([*command, "--share", str(share)], capture_output=True, text=True, check=True)
        answer = json.loads(done.stdout.splitlines()[-1])
        rows.append([name, answer["of"], answer["seconds"], answer["peak"], answer["found"]])
        print(*rows[-1], flush=True)
    head = ["", "courses asked about", "seconds", "peak GB", "found"]
    keep("large", f"## {count:,} courses x {len(TIMES)} from a .npy file of 32-bit numbers\n\n" + table(head, rows))


TITLES = {"race": "## Dask against", "plain": "## Dask with", "large": "## 1"}
"""How the sections of the table of results begin."""


def keep(name: str, text: str) -> None:
    """Keep a section, beside the others in the table of results."""
    path = RESULTS / "many_machines.md"
    old = path.read_text(encoding="utf-8").split("\n\n\n")[1:] if path.exists() else []
    sections = {key: part for part in old for key, title in TITLES.items() if part.startswith(title)}
    sections[name] = text
    head = "# Many courses, many machines\n\n" + machine("numpy", "scipy", "dask", "distributed")
    known = [sections[key].strip() for key in TITLES if key in sections]
    path.write_text("\n\n\n".join([head, *known]) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["race", "plain", "large", "one"])
    parser.add_argument("name", nargs="?", default="")
    parser.add_argument("--scratch", type=Path)
    parser.add_argument("--count", type=int, default=MILLION)
    parser.add_argument("--share", type=float, default=0.01)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    folder = asked.scratch or Path(mkdtemp())
    folder.mkdir(exist_ok=True)
    warnings.simplefilter("ignore")
    if asked.what in ("race", "plain"):
        races(folder, asked.name, asked.rounds, keeping=asked.what == "race")
    elif asked.what == "large":
        large(folder, asked.count, asked.share)
    else:
        print(json.dumps(RUNS[asked.name](folder, asked.count, asked.share)))


if __name__ == "__main__":
    main()
