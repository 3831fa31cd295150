"""All pairs of 20,000 courses to a file: memory, kills on the way, and a Dask cluster of two processes.

Run ``python benchmarks/out_of_core.py [FOLDER]``; FOLDER takes two files of 3.2 GB at a time. It writes
results/out_of_core.md. One part at a time: ``... FOLDER "kills of own times"``, ``... FOLDER "race of one grid"``.
"""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
from racing import machine, once, peak_gigabytes, table, write
from similarity import own, smooth

import timelike as tl
from timelike.pairs.job import job_of
from timelike.pairs.similar_pairs import similar_pairs

COUNT = 20_000
RACE = 20_000
DATA = {
    "own times": (own, (), tl.GP.se(0.9, 0.65, 0.08)),
    "one grid": (smooth, (10,), tl.GP.se(0.3, 1.0, 0.2)),
}


def data(kind: str, count: int = COUNT) -> tuple[tl.TimeCourses, tl.GP]:
    make, rest, gp = DATA[kind]
    return make(count, *rest), gp


KEEPING = {"MALLOC_TRIM_THRESHOLD_": 2**27, "MALLOC_MMAP_THRESHOLD_": 2**25}
"""Environment of a worker that keeps memory for its next step."""
GIVING_BACK = {"MALLOC_TRIM_THRESHOLD_": 65536}
"""Dask's own: memory is given back each time."""


@contextmanager
def cluster(*, keeping: bool = True):
    """A client of two processes of one thread."""
    import dask
    from distributed import Client, LocalCluster

    one_thread = {"OMP_NUM_THREADS": 1, "OPENBLAS_NUM_THREADS": 1}
    environment = one_thread | (KEEPING if keeping else GIVING_BACK)
    with (
        dask.config.set({"distributed.nanny.pre-spawn-environ": environment}),
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as made,
        Client(made, direct_to_workers=True) as client,
    ):
        yield client


# -- in a process of its own, so that it can be killed and its memory is its own -----------------------------------


def child(kind: str, out: str, address: str) -> None:
    courses, gp = data(kind)
    client = None
    if address:
        from distributed import Client

        client = Client(address)
    start = time.perf_counter()
    tl.similarity(courses, gp, out=out, resume=True, client=client)
    print(json.dumps({"seconds": time.perf_counter() - start, "peak": peak_gigabytes()}))


def start(kind: str, out: Path, address: str = "") -> subprocess.Popen[str]:
    command = [sys.executable, __file__, "child", kind, str(out), address]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen[str]) -> dict[str, float]:
    text, _ = process.communicate()
    assert process.returncode == 0
    return json.loads(text)


def killed(kind: str, out: Path, address: str = "") -> dict[str, float]:
    """The run, killed three times: after about a quarter, a half and three quarters of its tiles."""
    total = len(job_of(*data(kind)).tiles())
    for share in (0.25, 0.5, 0.75):
        process = start(kind, out, address)
        while done(out) < share * total:
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
        print(f"{kind}: killed with {done(out)} of {total} tiles done")
    return finish(start(kind, out, address))


def done(out: Path) -> int:
    journal = out.with_name(out.name + ".partial") / "journal"
    return journal.read_text().count("\n") - 1 if journal.exists() else 0


def digest(out: Path) -> str:
    total, values = sha256(), tl.Similarity.open(out).values
    for first in range(0, values.shape[0], 1024):
        total.update(np.ascontiguousarray(values[first : first + 1024]))
    return total.hexdigest()[:16]


# -- tables ------------------------------------------------------------------------------------------------------


def kills(kind: str, folder: Path) -> str:
    rows: list[list[object]] = []
    with cluster() as client:
        address = client.scheduler.address
        runs = {
            "threads": lambda out: finish(start(kind, out)),
            "threads, killed 3 times": lambda out: killed(kind, out),
            "Dask, 2 processes": lambda out: finish(start(kind, out, address)),
            "Dask, 2 processes, killed 3 times": lambda out: killed(kind, out, address),
        }
        for name, run in runs.items():
            out = folder / "S.zarr"
            last = run(out)
            workers = (
                max(client.run(lambda: __import__("resource").getrusage(0).ru_maxrss / 1e6).values())
                if "Dask" in name
                else "-"
            )
            rows.append([name, last["seconds"], last["peak"], workers, digest(out)])
            print(kind, *rows[-1], flush=True)
            shutil.rmtree(out)
    head = ["run", "(last) run, s", "peak of the process, GB", "of a worker, GB", "sha256 of the values"]
    return f"## {kind}: N = {COUNT:,} to Zarr, 3.2 GB\n\n" + table(head, rows)


def race(kind: str, folder: Path) -> str:  # noqa: ARG001 - one signature for all parts
    """Threads and Dask take turns on the same cores, and write nothing."""
    courses, gp = data(kind, RACE)
    return _race(kind, "pairs above a bound", lambda client: similar_pairs(courses, gp, above=15, client=client))


def race_to_disk(kind: str, folder: Path) -> str:
    """The same with all values written to Zarr, which takes the disk longer than the processors."""
    courses, gp = data(kind, RACE)
    out = folder / "S.zarr"

    def job(client):
        shutil.rmtree(out, ignore_errors=True)
        tl.similarity(courses, gp, out=out, client=client)

    return _race(kind, "all to Zarr", job, rounds=3)


def _race(kind: str, name: str, job, rounds: int = 3) -> str:
    with cluster() as client:
        for who in (None, client):  # everything is loaded and compiled, here and there
            similar_pairs(*data(kind, RACE), above=15, client=who)
        seconds = np.array([[once(lambda who=who: job(who)) for who in (None, client)] for _ in range(rounds)])
    threads, dask = seconds.T
    row = [threads.min(), dask.min(), dask.min() / threads.min(), np.median(dask / threads)]
    head = ["2 threads, best s", "Dask, 2 processes, best s", "Dask / threads (best)", "(median of rounds)"]
    return f"## {kind}, {name}: Dask against threads on the same two cores, N = {RACE:,}\n\n" + table(head, [row])


def main(folder: Path, which: list[str]) -> None:
    folder.mkdir(exist_ok=True)
    parts = {f"{part.__name__} of {kind}": (part, kind) for part in (kills, race, race_to_disk) for kind in DATA}
    for name in which or parts:
        part, kind = parts[name]
        (folder / f"{name}.md").write_text(part(kind, folder))
    head = "# Larger than memory\n\n" + machine("timelike", "numpy", "numba", "zarr", "dask", "distributed") + "\n\n"
    texts = [(folder / f"{name}.md").read_text() for name in parts if (folder / f"{name}.md").exists()]
    write("out_of_core.md", head + "\n".join(texts))


if __name__ == "__main__":
    if sys.argv[1:2] == ["child"]:
        child(*sys.argv[2:])
    else:
        main(Path(sys.argv[1] if len(sys.argv) > 1 else mkdtemp()), sys.argv[2:])
