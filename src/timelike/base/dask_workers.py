"""Blocks of an answer on the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import Any
from uuid import uuid4

import numpy as np

from timelike.base import checks
from timelike.base.blas import one_thread_below
from timelike.base.tiles import Compute
from timelike.base.versions import software
from timelike.exceptions import InputError

AHEAD = 2
"""Tasks that wait at each thread of a cluster: enough to hide the way there, few enough for its memory."""
TASK, TOGETHER = 0.2, 16
"""A task costs the scheduler some milliseconds, which are taken from the work: it has as many blocks as take so many
seconds, but no more than so many, whose results a worker has to hold."""
SHARES = 2
"""Each thread gets so many tasks, at least."""


def check_client(client: Any) -> None:
    """Raise unless `client` is one of dask.distributed, with workers."""
    Client = checks.optional("distributed", "dask", "a cluster needs dask.distributed").Client
    if not isinstance(client, Client):
        raise InputError(f"client must be a dask.distributed.Client, not {type(client).__name__}.")
    if client.status != "running":
        raise InputError(f"the Dask client is {client.status}: connect a new one, Client(address).")
    if not client.nthreads():
        raise InputError("the Dask cluster has no workers: start some, or wait with client.wait_for_workers(1).")


class OnCluster:
    """The workers of a cluster, with what all blocks need on each of them."""

    def __init__(self, prepared: Any, client: Any) -> None:
        self._prepared, self._client = prepared, client
        self._shared = self._sent()
        self._together = 1

    def _sent(self) -> Any:
        return self._client.scatter(self._prepared, broadcast=True, hash=False)

    def each(self, compute: Compute, blocks: Iterable[Any]) -> Generator[tuple[Any, Any], None, None]:
        """Blocks and results as they come. Few tasks are under way at once: results of the others would fill memory.

        What a lost worker had to do, Dask gives to another; what was sent ahead is sent again when all that had it
        are lost.
        """
        from distributed import as_completed

        here, waiting, coming = software(), self._groups(blocks), as_completed()
        groups: dict[Any, list[Any]] = {}
        room, asked = 0, float("-inf")

        def begin(group: list[Any]) -> None:
            future = self._client.submit(_elsewhere, self._shared, compute, group, here, pure=False)
            groups[future] = group
            coming.add(future)

        def top_up() -> None:
            nonlocal room, asked
            if monotonic() > asked + 1:  # workers come and go, but each question takes the scheduler's time
                room, asked = max(1, AHEAD * sum(self._client.nthreads().values())), monotonic()
            for group in islice(waiting, max(0, room - len(groups))):
                begin(group)

        try:
            top_up()
            for future in coming:
                group = groups.pop(future)
                if future.status in ("lost", "cancelled") and self._client.status == "running":
                    self._shared = self._sent()
                    begin(group)
                    continue
                results, seconds = future.result()
                self._together = int(np.clip(TASK * len(group) / max(seconds, 1e-6), 1, TOGETHER))
                yield from zip(group, results, strict=True)
                top_up()
        finally:
            self._client.cancel(list(groups))

    def _groups(self, blocks: Iterable[Any]) -> Iterator[list[Any]]:
        """Blocks in the tasks of a cluster: of a list several in each, but not so many that a worker has none."""
        if not isinstance(blocks, list):
            yield from ([block] for block in blocks)
            return
        most, first = -(-len(blocks) // (SHARES * max(1, sum(self._client.nthreads().values())))), 0
        while first < len(blocks):
            last = first + min(self._together, most)
            yield blocks[first:last]
            first = last


def _elsewhere(prepared: Any, compute: Compute, blocks: list[Any], expected: str) -> tuple[list[Any], float]:
    """The results of some blocks, on a worker, and the seconds they took; other software could give other digits."""
    if software() != expected:
        raise InputError(f"a Dask worker runs {software()}, but this process {expected}. Install the same on both.")
    start = monotonic()
    with one_thread_below():
        return [compute(prepared, block) for block in blocks], monotonic() - start


# -- files that workers see ----------------------------------------------------------------------------------------


def shares(client: Any, folder: Path) -> bool:
    """Whether all workers see this folder, and may write into it."""
    token = folder / f"token-{uuid4().hex}"
    token.touch()
    try:
        return all(client.run(_writable, str(token)).values())
    finally:
        token.unlink(missing_ok=True)


def _writable(token: str) -> bool:
    """On a worker: whether a file of the client is there, and a file beside it can be written."""
    if not Path(token).exists():
        return False
    beside = Path(f"{token}-{uuid4().hex}")
    try:
        beside.touch()
        beside.unlink()
    except OSError:
        return False
    return True


def sees(client: Any, path: Path) -> bool:
    """Whether all workers see a file."""
    return all(client.run(_is_file, str(path)).values())


def _is_file(path: str) -> bool:
    return Path(path).is_file()
