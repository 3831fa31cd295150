"""The workers of a Dask cluster give the same numbers, to the last bit, as threads."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import timelike as tl
from small_jobs import CASES, case_of
from timelike import InputError, MissingExtraError
from timelike.base import dask_workers
from timelike.base.dask_workers import check_client
from timelike.base.threads import run_tiles
from timelike.base.tiles import all_tiles
from timelike.pairs import nearest, sure
from timelike.pairs.on_disk import journal, write
from timelike.pairs.on_disk.write import WriteTile
from timelike.pairs.similar_pairs import PairsAbove, collected, similar_pairs
from timelike.pairs.similarity import in_memory


@pytest.fixture
def case(request):
    """Courses for a route, cut into many tiles, and their model."""
    case = case_of(request.param, count=40)
    assert len(case.job().tiles()) > 2
    return case


everywhere = pytest.mark.parametrize("case", CASES, indirect=True)
somewhere = pytest.mark.parametrize("case", ["information"], indirect=True)


@everywhere
def test_in_memory(case, client):
    assert_array_equal(in_memory(case.job(), client=client), case.values())


@somewhere
def test_as_called(case, client, tmp_path):
    expected = tl.similarity(case.courses, case.gp).values
    assert_array_equal(tl.similarity(case.courses, case.gp, client=client).values, expected)
    written = tl.similarity(case.courses, case.gp, out=tmp_path / "S.npy", client=client)
    assert_array_equal(np.asarray(written.values), expected)
    here, there = (similar_pairs(case.courses, case.gp, above=0, client=c) for c in (None, client))
    assert_array_equal(here.scores, there.scores)


def test_delays_and_gains(client):
    courses, _ = tl.simulate.delayed(per_group=5)
    words = {"up_to": "gain, delay", "max_delay": 0.3}
    here, there = (tl.similarity(courses, tl.GP.se(0.2, 0.5, 0.1), **words, client=c) for c in (None, client))
    for name in ("values", "delay", "gain"):
        assert_array_equal(getattr(there, name), getattr(here, name))


def with_two_gaps():
    """Courses of three designs."""
    values = np.random.default_rng(0).standard_normal((300, 8))
    values[::3, 2], values[1::3, 5] = np.nan, np.nan
    return tl.TimeCourses.from_arrays(np.linspace(0, 1, 8), values)


WAYS = {
    "grid": lambda: (tl.simulate.profiles(per_group=200, seed=1)[0], {}),
    "grids": lambda: (with_two_gaps(), {}),
    "tiles": lambda: (case_of("information", 300).courses, {"approximate": False}),
    "candidates": lambda: (case_of("information", 400).courses, {"approximate": True}),
    "delays": lambda: (tl.simulate.delayed(per_group=30)[0], {"up_to": "gain, delay", "max_delay": 0.3}),
    "near delays": lambda: (
        tl.simulate.delayed(per_group=30)[0],
        {"up_to": "delay", "max_delay": 0.3, "approximate": True},
    ),
}


@pytest.mark.parametrize("name", WAYS)
def test_neighbors(name, client, monkeypatch):
    monkeypatch.setattr(nearest.neighbors, "ITEMS_A_DESIGN", 20)
    monkeypatch.setattr(nearest.points, "AT_ONCE", 1)
    courses, words = WAYS[name]()
    here, there = (tl.neighbors(courses, tl.GP.se(0.4, 0.7, 0.1), 5, **words, client=c) for c in (None, client))
    assert here.route == (name if name in ("grid", "grids", "tiles") else here.route)
    for part in ("indices", "scores", "delay", "delay_low", "gain", "recall"):
        assert_array_equal(getattr(there, part), getattr(here, part))


def test_neighbors_among_others(client):
    courses, _ = tl.simulate.profiles(per_group=40, seed=1)
    asked, others = courses[::3], courses.select([i for i in range(120) if i % 3])
    here, there = (tl.neighbors(asked, tl.GP.se(0.9, 0.7, 0.08), 4, others=others, client=c) for c in (None, client))
    assert_array_equal(there.indices, here.indices)


@pytest.mark.parametrize("most", [600, 20])
def test_pairs_at_a_rate(client, most, monkeypatch):
    monkeypatch.setattr(sure, "MOST", most)
    courses, _ = tl.simulate.profiles(per_group=10, seed=1)
    gp = tl.GP.se(0.9, 0.7, 0.08)
    here, there = (similar_pairs(courses, gp, fdr=0.05, client=c) for c in (None, client))
    for name in ("rows", "cols", "scores", "probabilities", "fdr"):
        assert_array_equal(getattr(there, name), getattr(here, name))


@everywhere
@pytest.mark.parametrize("ending", ["npy", "zarr"])
def test_to_a_file(case, client, ending, tmp_path):
    assert_array_equal(case.to_file(tmp_path / f"S.{ending}", client=client), case.values())
    assert not list(tmp_path.glob("*.partial"))


@somewhere
def test_workers_that_see_the_folder_write_themselves(case, client, tmp_path, monkeypatch):
    def here(*arguments):
        raise AssertionError

    assert dask_workers.shares(client, tmp_path)
    assert not list(tmp_path.iterdir())
    monkeypatch.setattr(WriteTile, "put", here)
    case.to_file(tmp_path / "S.npy", client=client)


class Blind:
    """A client whose workers say that they do not see the folder."""

    def __init__(self, client):
        self.client = client

    def __getattr__(self, name):
        return getattr(self.client, name)

    def run(self, *_):
        return {"a worker": False}


@somewhere
@pytest.mark.parametrize("ending", ["npy", "zarr"])
def test_workers_that_do_not_see_the_folder_send_their_tiles(case, client, ending, tmp_path, monkeypatch):
    written = []

    def here(*arguments, plain=WriteTile.put):
        written.append(arguments)
        return plain(*arguments)

    monkeypatch.setattr(WriteTile, "put", here)
    assert_array_equal(case.to_file(tmp_path / f"S.{ending}", client=Blind(client)), case.values())
    assert len(written) == len(case.job().tiles())


def test_a_folder_that_workers_do_not_see():
    assert not dask_workers._writable("nowhere/token")


@everywhere
def test_similar_pairs(case, client):
    work = PairsAbove(case.job(), 0.0)
    here, there = collected(work), collected(work, client=client)
    assert len(here[0]) > 0
    for part, other in zip(here, there, strict=True):
        assert_array_equal(part, other)


@somewhere
def test_begun_by_a_cluster_and_resumed_by_threads(case, client, tmp_path):
    lines = []

    def last(file, tile, check, plain=journal.record):
        if len(lines) == 3:
            raise KeyboardInterrupt
        lines.append(tile)
        plain(file, tile, check)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(write, "record", last)
        with pytest.raises(KeyboardInterrupt):
            case.to_file(tmp_path / "S.zarr", client=client)
    assert len(lines) == 3
    assert_array_equal(case.to_file(tmp_path / "S.zarr", resume=True), case.values())


# -- what can go wrong ----------------------------------------------------------------------------------------------


def _fail(tile):
    raise ZeroDivisionError("tile")


def test_an_error_on_a_worker_comes_out(client):
    with pytest.raises(ZeroDivisionError, match="tile"):
        run_tiles(_fail, all_tiles(9, 9, 3), None, "test", client=client)


@somewhere
def test_other_software_on_a_worker(case, client, monkeypatch):
    monkeypatch.setattr(dask_workers, "software", lambda: "numpy 7")
    for ask in (tl.similarity, tl.neighbors):
        with pytest.raises(InputError, match=r"a Dask worker runs timelike .* but this process numpy 7"):
            ask(case.courses, case.gp, client=client)


def test_something_else_than_a_client():
    with pytest.raises(InputError, match=r"client must be a dask\.distributed\.Client, not str"):
        check_client("tcp://127.0.0.1:8786")
    courses, _ = tl.simulate.profiles(seed=1)
    with pytest.raises(InputError, match=r"client must be a dask\.distributed\.Client, not str"):
        tl.neighbors(courses, tl.GP.se(0.9, 0.7, 0.08), client="tcp://127.0.0.1:8786")


def test_no_workers():
    from distributed import Client

    with (
        Client(n_workers=0, processes=False, dashboard_address=":0") as empty,
        pytest.raises(InputError, match="has no workers"),
    ):
        check_client(empty)


def test_without_dask(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"timelike\[dask\]"):
        check_client(object())
