"""A crew computes every block once, whoever it is, and whatever happens to its workers."""

import os
import signal
import time

import pytest

from timelike.base.dask_workers import check_client
from timelike.base.threads import Crew
from timelike.exceptions import InputError

BLOCKS = list(range(60))


def slow_sum(prepared, block):
    time.sleep(0.01)
    return sum(prepared) + block


def cluster_of(count):
    from distributed import LocalCluster

    return LocalCluster(n_workers=count, threads_per_worker=1, processes=True, dashboard_address=":0")


@pytest.mark.parametrize("threads", [1, 3])
def test_results_are_in_the_order_of_the_blocks(threads):
    crew = Crew([1, 2], threads)
    assert list(crew.in_order(slow_sum, BLOCKS, "test")) == [3 + block for block in BLOCKS]
    assert list(crew.each(slow_sum, iter(BLOCKS), "test")) == [(block, 3 + block) for block in BLOCKS]


def test_blocks_are_not_taken_long_before_their_results_are():
    taken = []

    def blocks():
        for block in BLOCKS:
            taken.append(block)
            yield block

    found = Crew([], 2).each(slow_sum, blocks(), "test")
    next(found)
    assert len(taken) == 3
    found.close()


@pytest.mark.parametrize("workers", [2, 1])
def test_a_killed_worker_is_survived(workers):
    """Also when it was the only one that had what was prepared."""
    from distributed import Client

    with cluster_of(workers) as cluster, Client(cluster) as client:
        crew, found = Crew([1, 2], client=client), []
        for block, result in crew.each(slow_sum, BLOCKS, "test"):
            found.append((block, result))
            if len(found) == 10:
                os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
        assert sorted(found) == [(block, 3 + block) for block in BLOCKS]
        assert list(crew.in_order(slow_sum, BLOCKS, "test")) == [3 + block for block in BLOCKS]


def test_a_closed_client():
    from distributed import Client

    client = Client(n_workers=1, processes=False, dashboard_address=":0")
    client.close()
    with pytest.raises(InputError, match="the Dask client is closed: connect a new one"):
        check_client(client)
