import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from timelike.base.threads import progress, run_tiles, standing_pool, thread_count
from timelike.base.tiles import all_tiles, upper_tiles
from timelike.exceptions import InputError


@pytest.mark.parametrize("count", [1, 2, 6, 7, 13])
def test_upper_tiles_cover_each_pair_once(count):
    seen = np.zeros((count, count), int)
    for rows, cols in upper_tiles(count, size=3):
        seen[rows, cols] += 1
        if rows != cols:
            seen[cols, rows] += 1
    assert (seen == 1).all()


@pytest.mark.parametrize("shape", [(1, 1), (3, 7), (8, 2)])
def test_all_tiles_cover_a_rectangle_once(shape):
    seen = np.zeros(shape, int)
    for tile in all_tiles(*shape, size=3):
        seen[tile] += 1
    assert (seen == 1).all()


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_every_tile_is_worked_on_once(threads):
    done = []
    tiles = upper_tiles(10, size=2)
    run_tiles(done.append, tiles, threads, "test")
    assert sorted(map(str, done)) == sorted(map(str, tiles))


def test_threads_are_used():
    barrier = threading.Barrier(2, timeout=5)  # passes only when two tiles are under way at once
    arrived = []
    run_tiles(lambda _: arrived.append(barrier.wait()), all_tiles(2, 1, size=1), 2, "test")
    assert sorted(arrived) == [0, 1]


def test_standing_threads_stay_and_a_fork_has_its_own():
    assert list(standing_pool(2).map(abs, [-1, 2])) == [1, 2]
    assert standing_pool(2) is standing_pool(2)
    code = """
import os
from timelike.base.threads import standing_pool
assert list(standing_pool(2).map(abs, [-1, 2])) == [1, 2]
if (child := os.fork()) == 0:
    os._exit(0 if list(standing_pool(2).map(abs, [-3], timeout=10)) == [3] else 1)
assert os.waitpid(child, 0)[1] == 0
"""
    if hasattr(os, "fork"):
        subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_one_thread_is_this_thread():
    seen = set()
    run_tiles(lambda _: seen.add(threading.get_ident()), all_tiles(3, 1, size=1), 1, "test")
    assert seen == {threading.get_ident()}


@pytest.mark.parametrize("threads", [1, 2])
def test_the_first_error_comes_out_and_stops_the_rest(threads):
    done = []

    def work(tile):
        done.append(tile)
        if len(done) == 1:
            raise ZeroDivisionError("tile")
        time.sleep(0.01)

    with pytest.raises(ZeroDivisionError, match="tile"):
        run_tiles(work, all_tiles(100, 1, size=1), threads, "test")
    assert len(done) < 50


def test_linear_algebra_below_keeps_to_one_thread():
    before = [library["num_threads"] for library in threadpool_info()]
    inside = []
    run_tiles(
        lambda _: inside.extend(i["num_threads"] for i in threadpool_info() if i["user_api"] == "blas"),
        [(slice(0, 1), slice(0, 1))],
        2,
        "test",
    )
    assert inside
    assert set(inside) == {1}
    assert [library["num_threads"] for library in threadpool_info()] == before


LATE = """
from threadpoolctl import threadpool_info
from timelike.base.blas import one_thread_below
from timelike.base.versions import software
with one_thread_below():
    before = software()
import faiss
with one_thread_below():
    inside = {i["num_threads"] for i in threadpool_info() if i["user_api"] == "blas"}
assert any("faiss" in i["filepath"] for i in threadpool_info())
print(inside, before == software.__wrapped__())
"""


def test_a_library_that_comes_later_is_limited_too_and_is_not_what_digits_depend_on():
    pytest.importorskip("faiss")
    done = subprocess.run([sys.executable, "-c", LATE], capture_output=True, text=True, check=True)
    assert done.stdout == "{1} True\n"


def test_by_default_all_that_this_process_may_use():
    expected = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    assert thread_count(None) == expected
    assert thread_count(3) == 3


@pytest.mark.parametrize("threads", [0, -2])
def test_no_threads(threads):
    with pytest.raises(InputError, match=f"threads is {threads}"):
        thread_count(threads)


def test_nothing_is_printed_without_a_terminal(capfd):
    run_tiles(lambda _: time.sleep(0.6), all_tiles(2, 1, size=1), 1, "similarity")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(("seconds", "shown"), [(1.3, True), (0.0, False)])
def test_a_bar_on_a_terminal_when_it_takes_long(monkeypatch, seconds, shown):
    class Terminal:
        encoding = "utf-8"
        text = ""

        def isatty(self):
            return True

        def write(self, text):
            self.text += text

        def flush(self):
            pass

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress("similarity", 3) as advance:
        time.sleep(seconds)
        advance(1)
    assert ("similarity" in terminal.text) == shown


def test_a_number_of_threads_may_be_of_numpy():
    assert type(thread_count(np.int64(2))) is int
    for threads in (True, 2.0, "2"):
        with pytest.raises(InputError, match=f"threads is {threads!r}"):
            thread_count(threads)
