"""Who computes which block of an answer: threads of this process, or the workers of a cluster; a bar meanwhile."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import lru_cache
from typing import Any

from timelike.base import checks
from timelike.base.blas import one_thread_below
from timelike.base.dask_workers import OnCluster
from timelike.base.tiles import Compute, Done, Tile, Work, pair_count

WAITING = 8
"""Blocks that wait at each thread, or whose results wait to be taken: results of all of them would fill the memory.
Blocks that are not there yet, as chunks of a file, are read when a thread is about to be free."""


def thread_count(threads: int | None) -> int:
    """The number of threads to use: as asked, or as many as this process may run on."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    checks.whole(threads, "threads")
    return int(threads)


def standing_pool(threads: int) -> ThreadPoolExecutor:
    """So many threads, which stay: for blocks that take no longer than it takes to start them.

    What is done in them must not wait for other work in them.
    """
    return _standing_pool(os.getpid(), threads)


@lru_cache(maxsize=1)
def _standing_pool(_process: int, threads: int) -> ThreadPoolExecutor:
    """The threads of a process: one that was forked has none of those that its parent had."""
    return ThreadPoolExecutor(threads, thread_name_prefix="timelike")


class Crew:
    """Threads of this process, or the workers of a cluster, that compute blocks of an answer.

    A block of the answer is a pure function of what was prepared and of the block: any order, anywhere, same bits.
    Meanwhile the linear algebra below has one thread each.

    Parameters
    ----------
    prepared
        What every block needs. A worker gets it once, and keeps it while the crew is there.
    threads
        Number of threads; by default all that this process may use.
    client
        A ``dask.distributed.Client``: its workers compute instead of threads of this process.

    Examples
    --------
    >>> crew = Crew([1, 2, 3])
    >>> list(crew.in_order(lambda numbers, power: sum(x**power for x in numbers), [1, 2], "sums of powers"))
    [6, 14]
    """

    def __init__(self, prepared: Any, threads: int | None = None, client: Any = None) -> None:
        self._prepared, self._threads = prepared, thread_count(threads)
        self._cluster = None if client is None else OnCluster(prepared, client)

    def each(
        self,
        compute: Compute,
        blocks: Iterable[Any],
        title: str,
        *,
        total: int | None = None,
        size: Callable[[Any], int] | None = None,
        unit: str = "block",
    ) -> Generator[tuple[Any, Any], None, None]:
        """Blocks and their results, as they come: from threads in the order of the blocks.

        A bar called `title` counts blocks, or what `size` says of each, up to `total`. The first error stops the rest.
        """
        if total is None and isinstance(blocks, list):
            total = len(blocks) if size is None else sum(map(size, blocks))
        results = self._on_threads(compute, blocks) if self._cluster is None else self._cluster.each(compute, blocks)
        with one_thread_below(), progress(title, total, unit) as advance, closing(results):
            for block, result in results:
                yield block, result
                advance(1 if size is None else size(block))

    def in_order(self, compute: Compute, blocks: Iterable[Any], title: str, unit: str = "block") -> Iterator[Any]:
        """The results of all blocks, in the order of the blocks: sums over them are the same to the last bit."""
        waiting: dict[int, Any] = {}
        first = 0
        numbered = list(enumerate(blocks)) if isinstance(blocks, list) else enumerate(blocks)
        for (number, _), result in self.each(_Numbered(compute), numbered, title, unit=unit):
            waiting[number] = result
            while first in waiting:
                yield waiting.pop(first)
                first += 1

    def _on_threads(self, compute: Compute, blocks: Iterable[Any]) -> Generator[tuple[Any, Any], None, None]:
        if self._threads == 1 or (isinstance(blocks, list) and len(blocks) < 2):
            yield from ((block, compute(self._prepared, block)) for block in blocks)
            return
        under_way: deque[tuple[Any, Future[Any]]] = deque()
        ahead = WAITING * self._threads if isinstance(blocks, list) else self._threads + 1
        with ThreadPoolExecutor(self._threads) as pool:
            try:
                for block in blocks:
                    under_way.append((block, pool.submit(compute, self._prepared, block)))
                    if len(under_way) >= ahead:
                        first, future = under_way.popleft()
                        yield first, future.result()
                while under_way:
                    first, future = under_way.popleft()
                    yield first, future.result()
            finally:
                for _, future in under_way:
                    future.cancel()


class _Numbered:
    """Computes a block that goes with its number."""

    def __init__(self, compute: Compute) -> None:
        self.compute = compute

    def __call__(self, prepared: Any, block: tuple[int, Any]) -> Any:
        return self.compute(prepared, block[1])


def run_tiles(
    work: Work,
    tiles: list[Tile],
    threads: int | None,
    title: str,
    *,
    done: Done | None = None,
    client: Any = None,
) -> None:
    """Do the work on every tile, by a :class:`Crew`.

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
    found = Crew(work, threads, client).each(_done_on, tiles, title, size=pair_count, unit="pair")
    with closing(found):
        for tile, result in found:
            if done is not None:
                done(tile, result)


def _done_on(work: Work, tile: Tile) -> Any:
    return work(tile)


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
