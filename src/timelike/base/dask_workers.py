"""Tiles on the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from time import monotonic
from typing import Any

from timelike.base import checks
from timelike.base.blas import one_thread_below
from timelike.base.tiles import Tile, Work
from timelike.base.versions import software
from timelike.exceptions import InputError

AHEAD = 2
"""Tasks that wait at each thread of a cluster: enough to hide the way there, few enough for its memory."""
TOGETHER = 4
"""Tiles of a task: a task costs the scheduler some milliseconds, which are taken from the work."""


def check_client(client: Any) -> None:
    """Raise unless `client` is one of dask.distributed, with workers."""
    Client = checks.optional("distributed", "dask", "a cluster needs dask.distributed").Client
    if not isinstance(client, Client):
        raise InputError(f"client must be a dask.distributed.Client, not {type(client).__name__}.")
    if not client.nthreads():
        raise InputError("the Dask cluster has no workers: start some, or wait with client.wait_for_workers(1).")


def on_cluster(work: Work, tiles: list[Tile], client: Any) -> Generator[tuple[Tile, Any], None, None]:
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
    with one_thread_below():
        return [work(tile) for tile in tiles]
