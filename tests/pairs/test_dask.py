"""The workers of a Dask cluster give the same numbers, to the last bit, as threads."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.gaussian_process.kernels import Matern

import oracle
import timelike as tl
from timelike import GP, InputError, MissingExtraError, TimeCourses
from timelike.base import dask_workers
from timelike.base.dask_workers import check_client
from timelike.base.threads import run_tiles
from timelike.base.tiles import all_tiles
from timelike.pairs import job as tiling
from timelike.pairs import routes as pairs
from timelike.pairs.on_disk import journal
from timelike.pairs.on_disk import write as on_disk
from timelike.pairs.routes import DenseRoute, GridRoute, InformationRoute, OneGridRoute
from timelike.pairs.similar_pairs import similar_pairs

GIVEN = GP.se(0.4, signal_sd=1.3, noise_sd=0.3, mean=0.2)
CASES = {
    "grid": ("grid", GIVEN),
    "grids": ("gaps", GIVEN),
    "information": ("gaps", GIVEN),
    "dense": ("own", GP(Matern(0.1, nu=0.5), signal_sd=1.3, noise_sd=0.3, mean=0.2)),
}


@pytest.fixture(scope="module")
def client():
    """Two processes of one thread each."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster) as made,
    ):
        yield made


@pytest.fixture
def case(request, monkeypatch):
    """Courses for a route, cut into many tiles, and their model."""
    kind, gp = CASES[request.param]
    monkeypatch.setattr(pairs, "MAX_RANK", 40)
    monkeypatch.setattr(tiling, "BLOCK", 14)
    for way in (OneGridRoute, GridRoute, InformationRoute, DenseRoute):
        monkeypatch.setattr(way, "side", 7)
    if request.param == "grids":
        monkeypatch.setattr(pairs, "FEW", 1)
    courses = TimeCourses.from_arrays(*oracle.example(kind, count=20 if request.param == "dense" else 40)[:2])
    job = tiling.job_of(courses, gp)
    assert job.way.name == request.param
    assert len(job.tiles()) > 2
    return courses, gp


everywhere = pytest.mark.parametrize("case", CASES, indirect=True)
somewhere = pytest.mark.parametrize("case", ["information"], indirect=True)


@everywhere
def test_in_memory(case, client):
    assert_array_equal(tl.similarity(*case, client=client).values, tl.similarity(*case).values)


@everywhere
@pytest.mark.parametrize("ending", ["npy", "zarr"])
def test_to_a_file(case, client, ending, tmp_path):
    written = tl.similarity(*case, out=tmp_path / f"S.{ending}", client=client)
    assert_array_equal(np.asarray(written.values), tl.similarity(*case).values)
    assert not list(tmp_path.glob("*.partial"))


@somewhere
def test_workers_that_see_the_folder_write_themselves(case, client, tmp_path, monkeypatch):
    def here(*arguments):
        raise AssertionError

    assert on_disk._shared(client, tmp_path)
    assert not list(tmp_path.iterdir())
    monkeypatch.setattr(on_disk, "_write", here)
    tl.similarity(*case, out=tmp_path / "S.npy", client=client)


@somewhere
@pytest.mark.parametrize("ending", ["npy", "zarr"])
def test_workers_that_do_not_see_the_folder_send_their_tiles(case, client, ending, tmp_path, monkeypatch):
    written = []

    def here(*arguments, plain=on_disk._write):
        written.append(arguments)
        return plain(*arguments)

    monkeypatch.setattr(on_disk, "_shared", lambda *_: False)
    monkeypatch.setattr(on_disk, "_write", here)
    S = tl.similarity(*case, out=tmp_path / f"S.{ending}", client=client)
    assert_array_equal(np.asarray(S.values), tl.similarity(*case).values)
    assert len(written) == len(tiling.job_of(*case).tiles())


def test_a_folder_that_workers_do_not_see():
    assert not on_disk._writable("nowhere/token")


@everywhere
def test_similar_pairs(case, client):
    here, there = similar_pairs(*case, above=0), similar_pairs(*case, above=0, client=client)
    assert len(here) > 0
    for part in ("rows", "cols", "scores"):
        assert_array_equal(getattr(here, part), getattr(there, part))


@somewhere
def test_begun_by_a_cluster_and_resumed_by_threads(case, client, tmp_path):
    lines = []

    def last(file, tile, check, plain=journal.record):
        if len(lines) == 3:
            raise KeyboardInterrupt
        lines.append(tile)
        plain(file, tile, check)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(on_disk, "record", last)
        with pytest.raises(KeyboardInterrupt):
            tl.similarity(*case, out=tmp_path / "S.zarr", client=client)
    assert len(lines) == 3
    S = tl.similarity(*case, out=tmp_path / "S.zarr", resume=True)
    assert_array_equal(np.asarray(S.values), tl.similarity(*case).values)


# -- what can go wrong ----------------------------------------------------------------------------------------------


def _fail(tile):
    raise ZeroDivisionError("tile")


def test_an_error_on_a_worker_comes_out(client):
    with pytest.raises(ZeroDivisionError, match="tile"):
        run_tiles(_fail, all_tiles(9, 9, 3), None, "test", client=client)


@somewhere
def test_other_software_on_a_worker(case, client, monkeypatch):
    monkeypatch.setattr(dask_workers, "software", lambda: "numpy 7")
    with pytest.raises(InputError, match=r"a Dask worker runs timelike .* but this process numpy 7"):
        tl.similarity(*case, client=client)


def test_something_else_than_a_client():
    with pytest.raises(InputError, match=r"client must be a dask\.distributed\.Client, not str"):
        check_client("tcp://127.0.0.1:8786")


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
