"""Timelike and its peers: the same data, the same machine, one run; agreement, time and memory.

.venv-bench/bin/python benchmarks/peers.py --quick      # a smoke run; writes nothing into results
.venv-bench/bin/python benchmarks/peers.py              # writes results/peers.md and peers.csv, about an hour
... --only grid --contender sklearn_kmeans              # one cell; the others stay as they are in peers.csv
... --before quiet                                      # a command put before every timed run, on a shared machine

Python peers that the running environment has not are installed into environments of their own, peers written in R have
to be there (Debian: apt-get install r-cran-flexmix r-cran-mclust r-cran-e1071 r-bioc-degreport). A peer that cannot
be had is listed with the reason.
"""

from __future__ import annotations

import argparse
import csv
import json
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
from racing import RESULTS, machine, table

import timelike as tl
from clusters import blood_pressure, growth, interpolated, twenty, yeast

HERE = Path(__file__).parent / "peers"
COMPARISON = Path(__file__).parents[1] / "docs" / "comparison.md"
LIMIT_SECONDS = 90
"""For one contender on one row of a table, imports included."""
LIMIT_BYTES = 8 * 10**9
STEP = 8
"""A contender that took more than 1/STEP of the limit is not tried on ten times as many courses."""


# -- contenders ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Contender:
    """A method of a package, what it is called in the tables, and what it takes."""

    name: str
    title: str
    package: str
    takes: str = "grid"
    chooses: bool = False


CONTENDERS = (
    Contender("timelike_mixture", "**timelike** mixture", "timelike", "own times"),
    Contender("timelike_chosen", "**timelike** mixture, K chosen", "timelike", "own times", chooses=True),
    Contender("timelike_linkage", "**timelike** evidence linkage", "timelike", "own times"),
    Contender("timelike_spectral", "**timelike** similarity + spectral (the paper)", "timelike", "own times"),
    Contender("sklearn_kmeans", "scikit-learn k-means", "scikit-learn"),
    Contender("sklearn_mixture", "scikit-learn Gaussian mixture", "scikit-learn"),
    Contender("sklearn_spectral", "scikit-learn spectral, nearest neighbours", "scikit-learn"),
    Contender("tslearn_dtw", "tslearn k-means, DTW", "tslearn"),
    Contender("tslearn_kshape", "tslearn k-shape", "tslearn"),
    Contender("aeon_dtw", "aeon k-means, DTW", "aeon"),
    Contender("aeon_msm", "aeon k-means, MSM", "aeon"),
    Contender("aeon_medoids", "aeon k-medoids, MSM", "aeon"),
    Contender("aeon_kasba", "aeon KASBA", "aeon"),
    Contender("dtaidistance_average", "dtaidistance DTW, average linkage", "dtaidistance"),
    Contender("clust", "clust, K chosen", "clust", chooses=True),
    Contender("mogp", "mogp, K chosen", "mogp", "own times", chooses=True),
    Contender("mclust", "mclust (R)", "r-mclust"),
    Contender("cmeans", "e1071 fuzzy c-means (R), as Mfuzz", "r-e1071"),
    Contender("flexmix", "flexmix, spline regressions (R)", "r-flexmix", "own times"),
    Contender("degpatterns", "DEGreport degPatterns (R), K chosen", "r-DEGreport", chooses=True),
)


# -- where they live -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Home:
    """The command that runs a package's contenders, and a word on where it lives, or why it does not."""

    command: tuple[str, ...]
    note: str


REQUIREMENTS = {
    "tslearn": [["tslearn"]],
    "aeon": [["aeon"]],
    # clust installs with any NumPy, and stops where np.in1d is gone.
    "clust": [["clust==1.18.0", "numpy<2", "pandas<2.2", "scikit-learn<1.5"]],
    "mogp": [["mogp==1.0.0"]],
}
NOT_RACED = (
    ("clust with NumPy 2.4", "pip install clust==1.18.0", "installs; module 'numpy' has no attribute 'in1d'"),
    ("mogp with a newer GPy", "pip install 'GPy>=1.13' 'numpy<2'", "no wheel; still building after 8 minutes"),
    ("sktime", "-", "not tried: its k-means and k-medoids are those that aeon continues"),
    ("DP_GP_cluster", "-", "not tried: Python 2.7 only"),
    ("GPclust", "-", "not tried: last release 2016, for Python 2 and a GPy of that time"),
    ("lcmm, clustra, MagmaClustR, kml, Mfuzz", "-", "no Debian package; CRAN and Bioconductor out of reach"),
    ("the authors' MATLAB programs", "-", "not raced; compared value by value in the tests"),
)


@cache
def home(package: str, place: Path) -> Home:
    """Where a package is, after installing it if need be."""
    if package.startswith("r-"):
        return _home_r(package.removeprefix("r-"))
    try:
        return Home((sys.executable, str(HERE / "contenders.py")), f"{version(package)}, environment of the benchmark")
    except PackageNotFoundError:
        return _home_own(package, place / package)


def _home_own(package: str, place: Path) -> Home:
    python = place / "bin" / "python"
    if package not in REQUIREMENTS:
        return Home((), f"absent: python -m pip install {package}")
    if (place / "failed").exists():
        return Home((), (place / "failed").read_text(encoding="utf-8"))
    if not (place / "ready").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(place)], check=True)
        for wanted in REQUIREMENTS[package]:
            command = [str(python), "-m", "pip", "install", "--quiet", *wanted]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                why = f"pip install {' '.join(wanted)}: {last_line(done.stderr)}"
                (place / "failed").write_text(why, encoding="utf-8")
                return Home((), why)
        (place / "ready").touch()
    code = f"from importlib.metadata import version; print(version({package!r}))"
    found = subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    return Home((str(python), str(HERE / "contenders.py")), f"{found}, environment of its own")


def _home_r(package: str) -> Home:
    program = shutil.which("Rscript")
    if program is None:
        return Home((), "absent: there is no Rscript")
    code = f"cat(as.character(packageVersion('{package}')))"
    done = subprocess.run([program, "-e", code], capture_output=True, text=True, check=False)
    if done.returncode:
        return Home((), f"absent: apt-get install r-cran-{package.lower()} (or r-bioc-...)")
    return Home((program, str(HERE / "contenders.R")), f"{done.stdout}, Debian")


def last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip() and "WARNING" not in line and "notice" not in line]
    return lines[-1].strip()[:160] if lines else "no message"


# -- data ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sets:
    """Data sets that make one row of a table each contender: their number of clusters, and how to get them."""

    table: str
    title: str
    k: int
    load: Callable[[], Iterator[tuple[tl.TimeCourses, np.ndarray]]] = field(repr=False)
    points: int = 30


def profiles(sampling: str, noise: float, seeds: int) -> Sets:
    def load() -> Iterator[tuple[tl.TimeCourses, np.ndarray]]:
        for seed in range(seeds):
            yield tl.simulate.profiles(noise, sampling, seed=seed)

    return Sets("profiles", f"{sampling} {noise:.2f}", 3, load, 15)


def real(title: str, k: int, load: Callable[[], tuple[tl.TimeCourses, np.ndarray]]) -> Sets:
    return Sets("real", title, k, lambda: iter([load()]))


def standardized_yeast() -> tuple[tl.TimeCourses, np.ndarray]:
    courses, phase = yeast()
    return courses.standardized(), phase


def twenty_own(count: int, seed: int = 0) -> tuple[tl.TimeCourses, np.ndarray]:
    """Twenty smooth curves, each course measured at 6 to 9 times of its own, noise 0.3 of the signal."""
    rng, x = np.random.default_rng(seed), np.linspace(0, 1, 101)
    K = np.exp(-((x[:, None] - x) ** 2) / (2 * 0.3**2)) + 1e-8 * np.eye(101)
    curves = rng.standard_normal((20, 101)) @ np.linalg.cholesky(K).T
    labels = rng.integers(0, 20, count)
    times = [np.sort(rng.random(n)) for n in rng.integers(6, 10, count)]
    values = [
        np.interp(t, x, curves[g]) + 0.3 * rng.standard_normal(len(t)) for t, g in zip(times, labels, strict=True)
    ]
    return tl.TimeCourses.from_arrays(times, values), labels


def sized(name: str, count: int, make: Callable[[int], tuple[tl.TimeCourses, np.ndarray]]) -> Sets:
    return Sets(name, f"{count:,}", 20, lambda: iter([make(count)]), 10)


def all_sets(quick: bool) -> list[Sets]:
    seeds, counts, own = (2, (1000,), (500,)) if quick else (20, (1000, 10_000, 100_000, 1_000_000), (1000, 10_000))
    rows = [profiles(*row, seeds) for row in (("even", 0.10), ("uneven", 0.10), ("asynchronous", 0.08))]
    rows += [real("yeast_alpha, standardized", 5, standardized_yeast), real("growth", 2, growth)]
    rows += [] if quick else [real("blood_pressure", 5, blood_pressure)]
    rows += [sized("grid", count, twenty) for count in counts]
    return rows + [sized("own", count, twenty_own) for count in own]


def laid_out(sets: Sets, folder: Path) -> tuple[list[Path], list[np.ndarray]]:
    """The data in files for processes of any language, and the true labels."""
    places, truths = [], []
    for at, (courses, truth) in enumerate(sets.load()):
        places.append(folder / f"{at}")
        places[-1].mkdir()
        truths.append(truth)
        for name, array in arrays(courses, sets.points).items():
            np.save(places[-1] / f"{name}.npy", array)
            if array.nbytes < 10**9:
                array.astype(float).tofile(places[-1] / f"{name}.bin")
    return places, truths


def arrays(courses: tl.TimeCourses, points: int) -> dict[str, np.ndarray]:
    """Values on a grid for everyone; where they are not measured on it, also as they were measured.

    On one grid with gaps, and with own times, the values on the grid are interpolated linearly.
    """
    owner = np.repeat(np.arange(len(courses)), courses.sizes)
    if courses.grid is not None and len(owner) == len(courses) * len(courses.grid):
        return {"times": courses.grid, "values": courses.values.reshape(len(courses), -1)}
    measured = {"owner": owner, "when": courses.times, "what": courses.values}
    unique = np.unique(courses.times)
    if len(unique) > points:
        times = np.linspace(unique[0], unique[-1], points)
        return {"times": times, "values": interpolated(courses, points), **measured}
    rows = [np.interp(unique, course.times, course.values) for course in courses]
    return {"times": unique, "values": np.stack(rows), **measured}


# -- one run -------------------------------------------------------------------------------------------------------


FIELDS = (
    *("table", "data", "contender", "sets", "clusters", "ari", "ari_error", "nmi", "seconds", "gigabytes", "before"),
    "note",
)
Record = dict[str, object]


def _limited() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT_BYTES, LIMIT_BYTES))


def measured(command: list[str], before: list[str], seconds: int) -> tuple[list[dict], str]:
    """The lines that a contender printed, one for each data set, and why there are no more, if so."""
    limited = [*before, "timeout", str(seconds), *command]
    done = subprocess.run(limited, capture_output=True, text=True, check=False, preexec_fn=_limited)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode == 0:
        return lines, ""
    return lines, f"> {seconds} s" if done.returncode == 124 else reason(done.stderr, done.returncode)


def reason(errors: str, code: int) -> str:
    words = ("MemoryError", "Unable to allocate", "cannot allocate", "memory", "LLVM ERROR")
    if any(word in errors for word in words) or code in (-9, -11, 137, 139, 134, -6):
        return f"> {LIMIT_BYTES // 10**9} GB"
    return f"fails: {last_line(errors)}"


def judged(labels: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    from sklearn.metrics import adjusted_rand_score

    return {
        "clusters": len(np.unique(labels)),
        "ari": adjusted_rand_score(truth, labels),
        "nmi": tl.nmi(truth, labels),
    }


def run_cell(sets: Sets, contender: Contender, found: Home, before: list[str], limit: int = LIMIT_SECONDS) -> Record:
    record: Record = {"table": sets.table, "data": sets.title, "contender": contender.name, "note": found.note}
    if not found.command:
        return record | {"note": "absent"}
    with tempfile.TemporaryDirectory() as folder:
        places, truths = laid_out(sets, Path(folder))
        command = [*found.command, contender.name, str(sets.k), *map(str, places)]
        lines, note = measured(command, before, limit)
        scores = []
        for place, truth in zip(places[: len(lines)], truths, strict=False):
            scores.append(judged(np.loadtxt(place / f"{contender.name}.labels", dtype=int), truth))
    record |= {"note": note, "sets": len(lines)}
    if not lines:
        return record
    record |= {key: float(np.mean([score[key] for score in scores])) for key in scores[0]}
    if len(scores) > 1:
        record["ari_error"] = float(np.std([score["ari"] for score in scores], ddof=1) / np.sqrt(len(scores)))
    names = {"seconds": "seconds", "gigabytes": "peak", "before": "before"}
    return record | {key: float(np.mean([line[name] for line in lines])) for key, name in names.items()}


def hopeless(records: dict[tuple, Record], sets: Sets, contender: Contender) -> str:
    """Why a size needs no trial: what happened at a tenth of it."""
    count = sets.title.replace(",", "")
    earlier = records.get((sets.table, f"{int(count) // 10:,}", contender.name)) if count.isdigit() else None
    if earlier is None:
        return ""
    slow = float(str(earlier.get("seconds") or 0)) > LIMIT_SECONDS / STEP
    return "not tried" if slow or earlier["note"] not in ("", "absent") else ""


# -- tables --------------------------------------------------------------------------------------------------------


TITLES = {
    "profiles": "The paper's profiles: 150 courses, 15 times, three curves; means over {sets} data sets",
    "real": "Real courses, and simulated patients",
    "grid": "One grid: ten times, twenty curves, noise 0.3 of the signal; N courses",
    "own": "Own times: six to nine a course, twenty curves, noise 0.3 of the signal; N courses",
}


UNBROKEN = "\u00a0"
"""A space at which no line is broken."""


def cell(record: Record | None, keys: tuple[str, ...]) -> list[object]:
    if record is None or record.get("ari") in (None, ""):
        return [str(record["note"]) if record else "not run", *[""] * (len(keys) - 1)]
    cells: list[object] = [shown(key, float(str(record[key]))) for key in keys]
    if record.get("ari_error") not in (None, ""):
        cells[0] = f"{cells[0]}{UNBROKEN}±{UNBROKEN}{float(str(record['ari_error'])):.3f}"
    if record["note"]:
        cells[0] = f"{cells[0]} ({record['sets']} sets, then {record['note']})"
    return cells


def shown(key: str, value: float) -> str:
    if key == "clusters":
        return f"{value:.3g}"
    if key in ("ari", "nmi"):
        return f"{value:.3f}"
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


def crossed(records: dict[tuple, Record], name: str) -> str:
    """A table of contenders by data sets: agreement, time and memory side by side."""
    columns = list(dict.fromkeys(data for kind, data, _ in records if kind == name))
    keys = ("ari", "nmi", "clusters", "seconds", "gigabytes")
    heads = {"ari": "ARI", "nmi": "NMI", "clusters": "K", "seconds": "s", "gigabytes": "GB"}
    text = f"## {TITLES[name].format(sets=_sets(records, name))}\n"
    for column in columns:
        rows = [[c.title, *cell(records.get((name, column, c.name)), keys)] for c in CONTENDERS]
        label = f"N = {column}" if name in ("grid", "own") else column
        text += f"\n### {label}\n\n" + table(["", *(heads[key] for key in keys)], rows)
    return text


def _sets(records: dict[tuple, Record], name: str) -> int:
    return max((int(float(str(r.get("sets") or 0))) for (kind, _, _), r in records.items() if kind == name), default=0)


HOW = f"""Every contender gets the same courses and, unless it chooses, the true number of clusters (K). ARI is the
adjusted Rand index; where there are several data sets, ± is the standard error of the mean. Each run is a process of
its own, and all cores may be used. Seconds are from values in memory to labels, the fit of our GP included; imports and
a first run on 60 courses, in which compilers do their work, are not. GB is the largest memory of the process, imports
and data included.

- Limits for each cell: {LIMIT_BYTES // 10**9} GB, and {LIMIT_SECONDS} s, imports included.
- "not tried": at a tenth of the courses it failed or took more than 1/{STEP} of the limit.
- Methods that need a grid get linear interpolation: onto the 15 times (asynchronous profiles), over the gaps
  (yeast_alpha), onto 30 even times (blood_pressure) or 10 (own times).
- Courses that a program puts nowhere count as one further cluster.
- k-means of tslearn and aeon: one start, 50 rounds. scikit-learn: 10 starts (k-means), 3 (mixture). flexmix: 3 starts.
"""


def page(records: dict[tuple, Record], homes: dict[str, Home]) -> str:
    rows = [[package.removeprefix("r-"), found.note] for package, found in homes.items()]
    packages = "## Packages\n\n" + table(["package", "version, where, or why not"], rows)
    rest = "\n" + table(["not raced", "tried", "what happened"], [list(row) for row in NOT_RACED])
    head = f"# Peers\n\n{machine('timelike', 'numpy', 'scikit-learn', 'numba')}\n\n{HOW}"
    return "\n".join([head, packages + rest, *(crossed(records, name) for name in TITLES)])


# -- what the documentation shows ----------------------------------------------------------------------------------


def agreement(records: dict[tuple, Record]) -> str:
    """The adjusted Rand index of every contender on the profiles and on real courses."""
    columns = [(s.table, s.title) for s in all_sets(quick=False) if s.table in ("profiles", "real")]
    rows = [[c.title, *(cell(records.get((*at, c.name)), ("ari",))[0] for at in columns)] for c in CONTENDERS]
    return table(["", *(title for _, title in columns)], [row for row in rows if set(row[1:]) != {"absent"}])


def sizes(records: dict[tuple, Record], name: str) -> str:
    """Seconds, gigabytes and adjusted Rand index of every contender at every size."""
    columns = [s.title for s in all_sets(quick=False) if s.table == name]
    rows = [[c.title, *(_in_short(records.get((name, n, c.name))) for n in columns)] for c in CONTENDERS]
    return table(["", *(f"N = {n}" for n in columns)], [row for row in rows if set(row[1:]) != {"absent"}])


def _in_short(record: Record | None) -> str:
    seconds, gigabytes, ari = (*cell(record, ("seconds", "gigabytes", "ari")), "", "")[:3]
    return f"{seconds} s, {gigabytes} GB, {ari}" if ari else str(seconds)


def shown_tables(records: dict[tuple, Record]) -> dict[str, str]:
    """The tables of docs/comparison.md, under the names of their marks."""
    return {"agreement": agreement(records), "grid": sizes(records, "grid"), "own": sizes(records, "own")}


def put(path: Path, parts: dict[str, str]) -> None:
    """Write tables into a page, between the marks that name them."""
    text = path.read_text(encoding="utf-8")
    for name, content in parts.items():
        before, _, rest = text.partition(f"<!-- {name} -->\n")
        _, _, after = rest.partition(f"<!-- end of {name} -->\n")
        text = f"{before}<!-- {name} -->\n\n{content}\n<!-- end of {name} -->\n{after}"
    path.write_text(text, encoding="utf-8")


# -- running -------------------------------------------------------------------------------------------------------


def read_records(path: Path) -> dict[tuple, Record]:
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        return {(r["table"], r["data"], r["contender"]): r for r in csv.DictReader(file)}


def save(records: dict[tuple, Record], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, restval="", extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows({key: _short(value) for key, value in record.items()} for record in records.values())


def _short(value: object) -> object:
    return f"{value:.5g}" if isinstance(value, float) else value


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=TITLES, nargs="*", default=list(TITLES))
    parser.add_argument("--contender", choices=[c.name for c in CONTENDERS], nargs="*")
    parser.add_argument("--missing", action="store_true", help="keep what peers.csv has, run the rest")
    parser.add_argument("--before", default="", help="a command put before every timed run")
    parser.add_argument("--environments", type=Path, default=Path(tempfile.gettempdir()) / "timelike-peers")
    return parser.parse_args()


def main() -> None:
    given = arguments()
    folder = Path(tempfile.mkdtemp()) if given.quick else RESULTS
    records = read_records(folder / "peers.csv")
    homes = {package: home(package, given.environments) for package in dict.fromkeys(c.package for c in CONTENDERS)}
    for sets in (s for s in all_sets(given.quick) if s.table in given.only):
        for contender in (c for c in CONTENDERS if not given.contender or c.name in given.contender):
            key = (sets.table, sets.title, contender.name)
            if given.missing and key in records:
                continue
            why = hopeless(records, sets, contender)
            row = dict(zip(("table", "data", "contender"), key, strict=True)) | {"note": why}
            records[key] = row if why else run_cell(sets, contender, homes[contender.package], given.before.split())
            print({name: _short(value) for name, value in records[key].items()}, flush=True)
            save(records, folder / "peers.csv")
    (folder / "peers.md").write_text(page(records, homes), encoding="utf-8")
    if not given.quick:
        put(COMPARISON, shown_tables(records))
    print(f"written: {folder / 'peers.md'}")


if __name__ == "__main__":
    main()
