"""All similarities to a file: bounded memory, resumable, whole or absent.

Everything under way is in ``<out>.partial``: the matrix, and the journal of the tiles that are done. A tile counts as
done when it is on the disk, and after that its line in the journal. The matrix takes its name when all tiles are there.
"""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from timelike.base.arrays import Floats, Ints
from timelike.base.dask_workers import shares
from timelike.base.files import is_taken
from timelike.base.locks import locked
from timelike.base.threads import run_tiles
from timelike.base.tiles import Tile
from timelike.exceptions import InputError
from timelike.pairs.job import Job
from timelike.pairs.on_disk import stores
from timelike.pairs.on_disk.fingerprint import Fingerprint, differences, digest
from timelike.pairs.on_disk.journal import Journal, checksum, record
from timelike.pairs.on_disk.stores import MatrixHeader, NumpyStore, Store


@dataclass(frozen=True, eq=False)
class Run:
    """A job, the header of its result, and who computes it."""

    job: Job
    header: MatrixHeader
    threads: int | None = None
    client: Any = None


def compute(run: Run, target: Path, *, resume: bool = False, replace: bool = False) -> Any:
    """The values of a job, in the file `target`; an old matrix stays there until all is computed."""
    target = target.absolute()
    folder = target.with_name(target.name + ".partial")
    stores.check_ending(target)
    if resume and is_taken(target):
        return _finished(run, target, folder)
    _check_place(target, replace)
    with _disk(folder):
        folder.mkdir(exist_ok=True)
    with locked(folder):
        _check_place(target, replace)
        _begin(folder, resume, replace)
        store = _fill_all(run, target, folder)
        _check_place(target, replace)
        with _disk(folder):
            if target.exists():
                target.replace(folder / "replaced")  # a matrix never stands with the header of another
            store.finish(target, run.header)
        shutil.rmtree(folder, ignore_errors=True)
    return stores.open_matrix(target)[0]


def _check_place(target: Path, replace: bool) -> None:
    """Raise where the result would take the place of a file; `replace`: of one that is no matrix of ours."""
    if is_taken(target) and replace:
        stores.open_matrix(target)
    elif target.exists():
        raise InputError(f"{target} exists. Choose another, or resume.")
    elif stores.has_foreign_header(target):
        raise InputError(
            f"{stores.header_path(target)} exists, and its place is that of the names. Move it away, and resume."
        )


def _begin(folder: Path, resume: bool, replace: bool) -> None:
    """Throw away what an earlier run left, or raise where nobody said whether to."""
    left = [path for path in folder.iterdir() if path.name != "lock"]
    if replace:
        for path in left:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    elif not resume and any(path.name.endswith("journal") for path in left):
        raise InputError(f"{folder} holds an unfinished run. Resume it, or remove that folder to start again.")


def _finished(run: Run, target: Path, folder: Path) -> Any:
    values, header = stores.open_matrix(target)
    if changed := differences(header.fingerprint, run.header.fingerprint):
        other = f", or remove {target} to go on with {folder}" if folder.exists() else ""
        raise InputError(
            f"{target} is finished, but of other input: {changed}. Choose another name for this run{other}."
        )
    shutil.rmtree(folder, ignore_errors=True)  # of a run that was killed after its last step but one
    return values


def _fill_all(run: Run, target: Path, folder: Path) -> Store:
    """The store of the final matrix, with all tiles in it.

    A route that sorts the courses has tiles that are scattered over the result. They are written side by side
    first, and then read in the order of the courses.
    """
    # A worker of a run that was killed may still write: never into the matrix of another input.
    name = f"matrix-{digest(run.header.fingerprint)}"
    if not run.job.in_order:
        sorted_store = NumpyStore(folder / f"{name}-sorted.npy", run.job.shape)
        _fill(run, sorted_store, Journal(folder / "sorted.journal"))
        run = dataclasses.replace(run, job=Reordered.of(run.job, sorted_store.path), client=None)
    store = stores.store_for(folder / f"{name}{target.suffix}", run.job.shape, run.job.size)
    _fill(run, store, Journal(folder / "journal"))
    return store


def _fill(run: Run, store: Store, journal: Journal) -> None:
    """Compute and write the tiles that are not yet done."""
    job = run.job
    _check_input(journal, run.header.fingerprint)
    with _disk(store.path):
        store.prepare()
    left = _left(run, store, journal)
    written = [side for tile in left for side in _sides(tile, job.square)]
    _check_space(store.path, sum(map(store.size_of, written)))
    here = run.client is not None and not shares(run.client, store.path.parent)
    write = WriteTile(job, store)
    with journal.open() as file:

        def done(tile: Tile, result: Any) -> None:
            check = write.put(tile, result) if here else result
            with _disk(journal.path):
                for side in _sides(tile, job.square):
                    store.sync(side)
                record(file, tile, check)

        run_tiles(job.tile if here else write, left, run.threads, "similarity", done=done, client=run.client)


def _sides(tile: Tile, square: bool) -> tuple[Tile, ...]:
    """A tile, and in a square matrix the one across the diagonal."""
    return (tile, tile[::-1]) if square and tile[0] != tile[1] else (tile,)


@dataclass(frozen=True, eq=False)
class WriteTile:
    """Computes a tile and writes it, wherever that happens; the result is its checksum."""

    job: Job
    store: Store

    def __call__(self, tile: Tile) -> int:
        """The checksum of a tile that is written now."""
        return self.put(tile, self.job.tile(tile))

    def put(self, tile: Tile, block: Floats) -> int:
        """The same for a tile that is computed already."""
        with _disk(self.store.path):
            for side, values in zip(_sides(tile, self.job.square), (block, block.T), strict=False):
                self.store.write(side, values)
        return checksum(block)


# -- continuing --------------------------------------------------------------------------------------------------


def _check_input(journal: Journal, fingerprint: Fingerprint) -> None:
    """Raise where the run to be continued had other input; begin a journal where there is none."""
    known = journal.fingerprint()
    if known is None:
        with _disk(journal.path):
            journal.start(fingerprint)
    elif changed := differences(known, fingerprint):
        raise InputError(
            f"{journal.path.parent} holds a run of other input: {changed}. Give the same input as then, or remove "
            "that folder to start again."
        )


def _left(run: Run, store: Store, journal: Journal) -> list[Tile]:
    """Tiles to compute: those without a line in the journal, and those that are not on the disk as it says."""
    done, whole = journal.done(), set()

    def check(tile: Tile) -> bool:
        block = store.read(tile)
        if block is None or checksum(block) != done[_key(tile)]:
            return False
        other = store.read(tile[::-1]) if run.job.square else block.T
        return other is not None and np.array_equal(other, block.T)

    def keep(tile: Tile, good: bool) -> None:
        if good:
            whole.add(_key(tile))

    tiles = run.job.tiles()
    run_tiles(check, [t for t in tiles if _key(t) in done], run.threads, "checking what is done", done=keep)
    return [tile for tile in tiles if _key(tile) not in whole]


def _key(tile: Tile) -> tuple[int, int]:
    return tile[0].start, tile[1].start


# -- the disk ----------------------------------------------------------------------------------------------------


@contextmanager
def _disk(path: Path) -> Iterator[None]:
    """Turn what the disk complains about into an error that says what to do."""
    try:
        yield
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise InputError(f"cannot write {path}: {reason}. What is done is kept: once that is solved, resume.") from None


def _check_space(path: Path, needed: int) -> None:
    free = shutil.disk_usage(path.parent).free
    if needed > free:
        raise InputError(
            f"{path.parent} needs {needed / 1e9:.1f} GB more, the disk has {free / 1e9:.1f} GB free. Make room and "
            "resume, or keep only pairs that are alike: similar_pairs, neighbors."
        )


# -- courses that the route sorted ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Reordered:
    """A route that reads what another route computed, in the order of the courses."""

    name = "reordered"
    side = 128  # the file is mapped afresh for each part: pages read before would count as memory
    symmetric = False
    path: Path
    """The similarities in the order of that route."""
    row: Ints  # of each course of the result, its row there
    col: Ints

    @classmethod
    def of(cls, job: Job, path: Path) -> Job:
        """The job that puts the result of `job`, in the file `path`, into the order of the courses."""
        rows, cols = job.places(slice(None), slice(None))
        way = cls(path, np.argsort(rows), np.argsort(cols))
        return Job(way, np.arange(len(rows)), np.arange(len(cols)), None if job.square else 0, job.cut)

    @property
    def order(self) -> Ints:
        """That of the courses."""
        return np.arange(len(self.row))

    def tile(self, rows: Ints, cols: Ints, out: Floats) -> None:
        """Read the similarities of the courses `rows` to the courses `cols` into `out`."""
        out[...] = np.load(self.path, mmap_mode="r")[np.ix_(self.row[rows], self.col[cols])]
