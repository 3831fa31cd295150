"""Who computes which tile: threads of this process, or the workers of a cluster; a bar when a terminal watches."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from typing import Any

from timelike.base import checks
from timelike.base.blas import one_thread_below
from timelike.base.dask_workers import on_cluster
from timelike.base.tiles import Done, Tile, Work, pair_count


def thread_count(threads: int | None) -> int:
    """The number of threads to use: as asked, or as many as this process may run on."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    checks.whole(threads, "threads")
    return int(threads)


def run_tiles(
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
    results = _on_threads(work, tiles, workers) if client is None else on_cluster(work, tiles, client)
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


def _on_threads(work: Work, tiles: list[Tile], workers: int) -> Generator[tuple[Tile, Any], None, None]:
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
