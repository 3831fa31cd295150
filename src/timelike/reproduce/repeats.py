"""Many independent jobs on several processes, each result kept as soon as it is there."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from timelike.base.blas import one_thread_below
from timelike.base.files import atomic_write
from timelike.exceptions import InputError

Job = list[Any]
"""What a task needs, as JSON can hold it; it is also the name under which the result is kept."""


def run(task: Callable[[Job], Any], jobs: list[Job], store: Path, processes: int, title: str) -> list[Any]:
    """The results of all jobs, in their order; those that `store` already holds are not computed again.

    Parameters
    ----------
    task
        A function of a module, so that other processes find it. The same job must give the same result.
    jobs
    store
        File with one line of JSON a result. It may be cut off anywhere: the rest is used.
    processes
    title
        For the bar.
    """
    from tqdm import tqdm

    done = finished(store)
    todo = [job for job in jobs if json.dumps(job) not in done]
    with (
        store.open("a", encoding="utf-8") as file,
        tqdm(total=len(jobs), initial=len(jobs) - len(todo), desc=title, disable=None, unit="job") as bar,
    ):
        for job, result in _results(task, todo, min(processes, len(todo))):
            file.write(json.dumps({"job": job, "result": result}) + "\n")
            file.flush()
            done[json.dumps(job)] = result
            bar.update()
    return [done[json.dumps(job)] for job in jobs]


def finished(store: Path) -> dict[str, Any]:
    """The results that a store holds, by job; a line that was cut off is removed."""
    if not store.exists():
        return {}
    text = store.read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        with atomic_write(store) as file:
            file.write(whole)
    lines = [json.loads(line) for line in whole.splitlines()]
    return {json.dumps(line["job"]): line["result"] for line in lines}


def _results(task: Callable[[Job], Any], jobs: list[Job], processes: int) -> Iterator[tuple[Job, Any]]:
    if processes <= 1:
        with one_thread_below():
            yield from ((job, task(job)) for job in jobs)
        return
    # Spawned, not forked: a fork copies the locks of threads that the libraries below have started.
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn"), initializer=_one_thread) as pool:
        futures = {pool.submit(task, job): job for job in jobs}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        except BrokenProcessPool:
            raise InputError(
                "a worker process ended unexpectedly, perhaps for want of memory. What was finished is kept: run "
                "the command again, if need be with --processes 1."
            ) from None
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _one_thread() -> None:
    """Keep the linear algebra below from starting threads: the processes are the parallel part."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(limits=1, user_api="blas")
