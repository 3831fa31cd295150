"""Who computes which tile: threads on one machine or the workers of a Dask cluster; a bar when a terminal watches."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import cache, lru_cache
from threading import Lock
from time import monotonic
from typing import Any

from timelike import checks
from timelike.exceptions import InputError, MissingExtraError

Tile = tuple[slice, slice]
Work = Callable[[Tile], Any]
"""What is done on a tile. A cluster needs it to pickle; each worker gets it once."""
Done = Callable[[Tile, Any], None]
"""What is done with each result, in the thread that called."""

Results = Generator[tuple[Tile, Any], None, None]

AHEAD = 2
"""Tasks that wait at each thread of a cluster: enough to hide the way there, few enough for its memory."""
TOGETHER = 4
"""Tiles of a task: a task costs the scheduler some milliseconds, which are taken from the work."""


def thread_count(threads: int | None) -> int:
    """The number of threads to use: as asked, or as many as this process may run on."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    checks.whole(threads, "threads")
    return int(threads)


# -- tiles -------------------------------------------------------------------------------------------------------


def upper_tiles(count: int, size: int) -> list[Tile]:
    """Tiles that cover the pairs (i, j) with i <= j, of a square with `count` rows."""
    found = spans(slice(0, count), size)
    return [(rows, cols) for a, rows in enumerate(found) for cols in found[a:]]


def all_tiles(rows: int, cols: int, size: int, width: int | None = None) -> list[Tile]:
    """Tiles that cover a rectangle, as wide as high unless `width` says otherwise."""
    return [(r, c) for r in spans(slice(0, rows), size) for c in spans(slice(0, cols), width or size)]


def spans(whole: slice, size: int) -> list[slice]:
    """Stretches of `size` that cover `whole`; the last one may be shorter."""
    return [slice(i, min(i + size, whole.stop)) for i in range(whole.start, whole.stop, size)]


def pair_count(tile: Tile) -> int:
    """Number of pairs in a tile."""
    rows, cols = tile
    return int((rows.stop - rows.start) * (cols.stop - cols.start))


# -- threads -----------------------------------------------------------------------------------------------------


def run(
    work: Work,
    tiles: list[Tile],
    threads: int | None,
    title: str,
    *,
    done: Done | None = None,
    client: Any = None,
) -> None:
    """Do the work on every tile, on several threads, with the linear algebra below on one thread each.

    A bar appears on a terminal when it takes more than a second. The first error stops the rest.

    Parameters
    ----------
    work
    tiles
    threads
    title
        What the bar is called.
    done
        Called with each tile and the result of the work on it, here and not in the threads.
    client
        A ``dask.distributed.Client``: its workers do the work instead of threads of this process.
    """
    total = sum(map(pair_count, tiles))
    workers = min(thread_count(threads), len(tiles))
    results = _results(work, tiles, workers) if client is None else _on_cluster(work, tiles, client)
    with one_thread_below(), progress(title, total, "pair") as advance, closing(results):
        for tile, result in results:
            if done is not None:
                done(tile, result)
            advance(pair_count(tile))


@contextmanager
def progress(title: str, total: int | None, unit: str = "tile") -> Iterator[Callable[[int], object]]:
    """A bar with rate and time left on standard error, when a terminal watches and it takes more than a second."""
    from tqdm import tqdm

    scale = unit == "pair"  # millions: 12.5M
    off = True if _BARS_OFF else None  # None: shown on terminals only
    with tqdm(total=total, desc=title, delay=1.0, disable=off, leave=False, unit=f" {unit}s", unit_scale=scale) as bar:
        yield bar.update


def without_bars() -> Callable[[], None]:
    """Show no bars from now on; the function that comes back shows them again."""
    _BARS_OFF.append(True)
    return _BARS_OFF.clear


_BARS_OFF: list[bool] = []


def _results(work: Work, tiles: list[Tile], workers: int) -> Results:
    if workers <= 1:
        yield from ((tile, work(tile)) for tile in tiles)
        return
    with ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(work, tile) for tile in tiles]
        try:
            for tile, future in zip(tiles, futures, strict=True):
                yield tile, future.result()
        finally:
            for future in futures:
                future.cancel()


# -- Dask --------------------------------------------------------------------------------------------------------


def check_client(client: Any) -> None:
    """Raise unless `client` is one of dask.distributed, with workers."""
    try:
        from distributed import Client
    except ImportError:
        raise MissingExtraError("a cluster needs dask.distributed: pip install 'timelike[dask]'.") from None
    if not isinstance(client, Client):
        raise InputError(f"client must be a dask.distributed.Client, not {type(client).__name__}.")
    if not client.nthreads():
        raise InputError("the Dask cluster has no workers: start some, or wait with client.wait_for_workers(1).")


def _on_cluster(work: Work, tiles: list[Tile], client: Any) -> Results:
    """Results as they come. Few tasks are under way at once: the results of the others would fill the workers."""
    from distributed import as_completed

    shared = client.scatter(work, broadcast=True, hash=False)
    here, waiting, coming = software(), _groups(tiles, client), as_completed()
    tiles_of: dict[Any, list[Tile]] = {}
    room, asked = 0, float("-inf")

    def top_up() -> None:
        nonlocal room, asked
        if monotonic() > asked + 1:  # workers come and go, but each question takes the scheduler's time
            room, asked = max(1, AHEAD * sum(client.nthreads().values())), monotonic()
        while len(tiles_of) < room:
            group = next(waiting, None)
            if group is None:
                return
            future = client.submit(_elsewhere, shared, group, here, pure=False)
            tiles_of[future] = group
            coming.add(future)

    try:
        top_up()
        for future in coming:
            results = future.result()
            yield from zip(tiles_of.pop(future), results, strict=True)
            top_up()
    finally:
        client.cancel(list(tiles_of))


def _groups(tiles: list[Tile], client: Any) -> Iterator[list[Tile]]:
    """Tiles in the tasks of a cluster: several in each, but not so many that a worker has none."""
    workers = max(1, sum(client.nthreads().values()))
    size = min(TOGETHER, max(1, len(tiles) // (4 * workers)))
    return (tiles[i : i + size] for i in range(0, len(tiles), size))


def _elsewhere(work: Work, tiles: list[Tile], expected: str) -> list[Any]:
    """The work on some tiles, on a worker; other software there could give other last digits."""
    if software() != expected:
        raise InputError(f"a Dask worker runs {software()}, but this process {expected}. Install the same on both.")
    _keep_memory()
    with one_thread_below():
        return [work(tile) for tile in tiles]


@cache
def _keep_memory() -> None:
    """Let a worker keep the memory of a tile for the next one.

    Dask starts workers so that the C library gives all of it back to the system at once; to get it again takes
    almost half as long as the tile.
    """
    import ctypes

    if sys.platform == "linux" and "MALLOC_TRIM_THRESHOLD_" in os.environ:
        library = ctypes.CDLL(None)
        if hasattr(library, "mallopt"):
            library.mallopt(-3, 1 << 25)  # M_MMAP_THRESHOLD
            library.mallopt(-1, 1 << 28)  # M_TRIM_THRESHOLD


@cache
def software() -> str:
    """What the last digits of a result depend on: versions, and the processor that the linear algebra is made for."""
    packages = ", ".join(f"{package} {_version(package)}" for package in ("timelike", "numpy", "scipy", "numba"))
    kinds = sorted({str(library.get("architecture")) for library in _libraries().info() if _decides(library)})
    return f"{packages}, processor {' '.join(kinds)}"


def _decides(library: dict[str, Any]) -> bool:
    """Whether digits pass through a library: FAISS brings one of its own, and no number of ours is from there."""
    return library["user_api"] == "blas" and "faiss" not in library["filepath"]


def _version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"


# -- the linear algebra below --------------------------------------------------------------------------------------

_limited: list[Any] = []
_lock = Lock()


@contextmanager
def one_thread_below() -> Iterator[None]:
    """Keep NumPy's linear algebra to one thread: under threads of ours, and on matrices too small to share.

    Several threads may do so at once: the first sets the limit, the last lifts it.
    """
    with _lock:
        _limited.append(_limited[0] if _limited else _libraries().limit(limits=1, user_api="blas"))
    try:
        yield
    finally:
        with _lock:
            limit = _limited.pop()
            if not _limited:
                limit.restore_original_limits()


def _libraries() -> Any:
    """The linear algebra libraries of this process; they come with modules, SciPy's later than NumPy's."""
    return _libraries_of(len(sys.modules))


@lru_cache(maxsize=1)
def _libraries_of(_modules: int) -> Any:
    """Finding them takes longer than a small similarity, so it is done again only when modules were added."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
