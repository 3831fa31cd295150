"""Who computes which tile: threads on one machine, a bar when a terminal watches."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any

from timelike.exceptions import InputError

Tile = tuple[slice, slice]


def thread_count(threads: int | None) -> int:
    """The number of threads to use: as asked, or as many as this process may run on."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not isinstance(threads, int) or threads < 1:
        raise InputError(f"threads is {threads}: expected a whole number, at least 1.")
    return threads


def upper_tiles(count: int, size: int) -> list[Tile]:
    """Tiles that cover the pairs (i, j) with i <= j, of a square with `count` rows."""
    spans = _spans(count, size)
    return [(rows, cols) for a, rows in enumerate(spans) for cols in spans[a:]]


def all_tiles(rows: int, cols: int, size: int, width: int | None = None) -> list[Tile]:
    """Tiles that cover a rectangle, as wide as high unless `width` says otherwise."""
    return [(r, c) for r in _spans(rows, size) for c in _spans(cols, width or size)]


def run(work: Callable[[Tile], None], tiles: list[Tile], threads: int | None, title: str) -> None:
    """Do the work on every tile, on several threads, with the linear algebra below on one thread each.

    A bar appears on a terminal when it takes more than a second. The first error stops the rest.
    """
    workers = min(thread_count(threads), len(tiles))
    with one_thread_below(), progress(title, len(tiles)) as advance:
        if workers == 1:
            for tile in tiles:
                work(tile)
                advance(1)
            return
        with ThreadPoolExecutor(workers) as pool:
            for _ in _results(pool, work, tiles):
                advance(1)


def run_in_turn(work: Callable[[Tile], None], tiles: list[Tile], threads: int | None, title: str) -> None:
    """Do the work on one tile after the other, with the threads given to the linear algebra below."""
    with _libraries().limit(limits=thread_count(threads), user_api="blas"), progress(title, len(tiles)) as advance:
        for tile in tiles:
            work(tile)
            advance(1)


@contextmanager
def progress(title: str, total: int | None, unit: str = "tile") -> Iterator[Callable[[int], object]]:
    """A bar on standard error, shown when a terminal watches and the work takes more than a second."""
    from tqdm import tqdm

    with tqdm(total=total, desc=title, delay=1.0, disable=None, leave=False, unit=f" {unit}s") as bar:
        yield bar.update


def _results(pool: ThreadPoolExecutor, work: Callable[[Tile], None], tiles: list[Tile]) -> Iterator[None]:
    futures = [pool.submit(work, tile) for tile in tiles]
    try:
        for future in futures:
            yield future.result()
    except BaseException:
        for future in futures:
            future.cancel()
        raise


@contextmanager
def one_thread_below() -> Iterator[None]:
    """Keep NumPy's linear algebra to one thread: under threads of ours, and on matrices too small to share."""
    with _libraries().limit(limits=1, user_api="blas"):
        yield


@cache
def _libraries() -> Any:
    """The linear algebra libraries of this process; finding them takes longer than a small similarity."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _spans(count: int, size: int) -> list[slice]:
    return [slice(i, min(i + size, count)) for i in range(0, count, size)]
