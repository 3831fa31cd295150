import dataclasses
import errno
import json
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import timelike as tl
from small_jobs import CASES, GIVEN, Case, case_of
from timelike import InputError, MissingExtraError, Similarity, TimeCourses
from timelike.base.threads import run_tiles
from timelike.base.tiles import all_tiles
from timelike.pairs.on_disk import write
from timelike.pairs.on_disk.stores import NumpyStore, ZarrStore
from timelike.pairs.similar_pairs import PairsAbove, SimilarPairs, collected, similar_pairs


@pytest.fixture(params=CASES)
def case(request):
    """Courses for each route, and their model."""
    return case_of(request.param)


@pytest.mark.parametrize("ending", ["npy", "zarr"])
def test_a_file_has_the_bits_of_memory(case, ending, tmp_path):
    out = tmp_path / f"S.{ending}"
    assert_array_equal(case.to_file(out), case.values())
    opened = Similarity.open(out)
    assert (opened.names, opened.others, opened.route) == (case.courses.names, None, case.route)
    assert not list(tmp_path.glob("*.partial"))


@pytest.mark.parametrize("ending", ["npy", "zarr"])
def test_a_rectangle_too(case, ending, tmp_path):
    out, few = tmp_path / f"S.{ending}", dataclasses.replace(case, courses=case.courses[:17])
    assert_array_equal(few.to_file(out, case.courses), few.values(case.courses))
    assert Similarity.open(out).others == case.courses.names


@pytest.mark.parametrize("ending", ["npy", "zarr"])
def test_more_courses_than_one_tile_of_the_usual_size(ending, tmp_path):
    courses = TimeCourses.from_arrays(np.linspace(0, 1, 8), np.random.default_rng(0).standard_normal((1031, 8)))
    S = tl.similarity(courses, GIVEN)
    written = tl.similarity(courses, GIVEN, out=tmp_path / f"S.{ending}")
    assert_array_equal(np.asarray(written.values), S.values)
    assert (written.names, written.others, written.route) == (S.names, S.others, S.route) == (S.names, None, "grid")


def test_the_routes_order_is_not_that_of_the_courses():
    """Otherwise the cases above do not test what they say."""
    case = case_of("grids")
    assert not case.job().in_order
    assert dataclasses.replace(case, courses=case.courses[:1]).job().in_order


def test_tiles_in_any_order_have_the_same_bits(case):
    job = case.job()
    values, tiles = np.full(job.shape, np.nan), job.tiles()
    assert len(tiles) > 2
    for i in np.random.default_rng(0).permutation(len(tiles)):
        job.put(values, tiles[i], job.tile(tiles[i]))
    assert_array_equal(values, case.values())


# -- opened again ------------------------------------------------------------------------------------------------------


@pytest.fixture
def two():
    return TimeCourses.from_arrays([0, 1], [[1, 2], [3, 1], [0, 5]], names=["up", "down", "Ünruh"])


@pytest.mark.parametrize("ending", ["npy", "zarr"])
def test_opened_later_it_is_the_same(two, ending, tmp_path):
    S = tl.similarity(two, GIVEN)
    tl.similarity(two, GIVEN, out=tmp_path / f"S.{ending}")
    opened = Similarity.open(tmp_path / f"S.{ending}")
    assert repr(opened) == "Similarity: 3 x 3 log likelihood ratios"
    assert opened.to_frame().equals(S.to_frame())
    assert_array_equal(opened.dissimilarity(), S.dissimilarity())
    assert opened.values[0, 1] == S.values[0, 1]
    with pytest.raises((ValueError, TypeError)):
        opened.values[0, 0] = 1.0


def test_values_of_a_numpy_file_stay_on_the_disk(two, tmp_path):
    assert isinstance(tl.similarity(two, GIVEN, out=tmp_path / "S.npy").values, np.memmap)
    assert_array_equal(np.load(tmp_path / "S.npy"), tl.similarity(two, GIVEN).values)


def test_open_what_is_not_there(tmp_path):
    with pytest.raises(InputError, match=r"there is no .*S\.npy\.$"):
        Similarity.open(tmp_path / "S.npy")
    (tmp_path / "S.npy.partial").mkdir()
    with pytest.raises(InputError, match="unfinished"):
        Similarity.open(tmp_path / "S.npy")


def test_open_what_is_not_ours(tmp_path):
    np.save(tmp_path / "S.npy", np.eye(2))
    with pytest.raises(InputError, match="is not a similarity that timelike wrote"):
        Similarity.open(tmp_path / "S.npy")
    (tmp_path / "S.npy.json").write_text(json.dumps({"names": ["a"]}))
    with pytest.raises(InputError, match="expected the format"):
        Similarity.open(tmp_path / "S.npy")


# -- what can go wrong ----------------------------------------------------------------------------------------------


def test_what_exists_is_not_overwritten(two, tmp_path):
    (tmp_path / "S.npy").write_text("precious")
    with pytest.raises(InputError, match=r"S\.npy exists. Choose another, or resume"):
        tl.similarity(two, GIVEN, out=tmp_path / "S.npy")
    assert (tmp_path / "S.npy").read_text() == "precious"


@pytest.mark.parametrize("name", ["S.csv", "S"])
def test_other_endings(two, name, tmp_path):
    with pytest.raises(InputError, match=r"ends in \.npy or \.zarr"):
        tl.similarity(two, GIVEN, out=tmp_path / name)


def test_no_folder(two, tmp_path):
    with pytest.raises(InputError, match=r"cannot write .*No such file"):
        tl.similarity(two, GIVEN, out=tmp_path / "nowhere" / "S.npy")


def test_resume_needs_a_file(two):
    with pytest.raises(InputError, match="give its path as out"):
        tl.similarity(two, GIVEN, resume=True)


def test_without_zarr(two, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "zarr", None)
    with pytest.raises(MissingExtraError, match=r"timelike\[disk\]"):
        tl.similarity(two, GIVEN, out=tmp_path / "S.zarr")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("ending", "store"), [("npy", NumpyStore), ("zarr", ZarrStore)])
def test_a_full_disk_says_so_and_the_run_can_be_resumed(case, ending, store, tmp_path, monkeypatch):
    written = []

    def until_full(self, tile, block, plain=store.write):
        written.append(tile)
        if len(written) > 3:
            raise OSError(errno.ENOSPC, "No space left on device")
        plain(self, tile, block)

    out = tmp_path / f"S.{ending}"
    with monkeypatch.context() as patch:
        patch.setattr(store, "write", until_full)
        with pytest.raises(InputError, match=r"No space left on device.*resume"):
            case.to_file(out)
    assert not out.exists()
    assert_array_equal(case.to_file(out, resume=True), case.values())


def test_a_disk_that_is_too_small_is_noticed_before(two, tmp_path, monkeypatch):
    monkeypatch.setattr(write.shutil, "disk_usage", lambda _: SimpleNamespace(free=10))
    with pytest.raises(InputError, match=r"needs 0\.0 GB more"):
        tl.similarity(two, GIVEN, out=tmp_path / "S.npy")


@pytest.mark.parametrize("others", [False, True], ids=["square", "beside"])
@pytest.mark.parametrize("ending", ["npy", "zarr"])
def test_the_space_that_is_asked_for_is_the_space_that_is_taken(tmp_path, monkeypatch, ending, others):
    """Chunks of Zarr at the rim are as large as all others."""
    asked, case, out = [], case_of("grid"), tmp_path / f"S.{ending}"
    monkeypatch.setattr(write, "_check_space", lambda _, needed: asked.append(needed))
    case.to_file(out, case.courses[:5] if others else None)
    files = [out] if ending == "npy" else [path for path in (out / "c").rglob("*") if path.is_file()]
    begin = 128 if ending == "npy" else 0
    assert asked == [sum(path.stat().st_size for path in files) - begin]


# -- pairs above a bound -----------------------------------------------------------------------------------------


def pairs_of(case, bound, others=None):
    names = case.courses.names, None if others is None else others.names
    return SimilarPairs(*collected(PairsAbove(case.job(others), bound)), *names, bound)


def test_similar_pairs_are_those_of_the_matrix(case):
    S = case.values()
    bound = float(np.quantile(S, 0.8))
    found = pairs_of(case, bound)
    rows, cols = np.nonzero(np.triu(bound < S, 1))  # in the order of rows, then columns
    assert 10 < len(found) == len(rows)
    assert_array_equal((found.rows, found.cols), (rows, cols))
    assert_array_equal(found.scores, S[rows, cols])
    dense = np.where(bound < S, S, 0)
    np.fill_diagonal(dense, 0)
    assert_array_equal(found.graph().toarray(), dense)


def test_similar_pairs_with_others(case):
    courses, few = case.courses, dataclasses.replace(case, courses=case.courses[:9])
    S = few.values(courses)
    found = pairs_of(few, 0.0, courses)
    assert 0 < len(found) < S.size
    assert_array_equal(found.graph().toarray(), np.where(S > 0, S, 0))
    first = found.to_frame().iloc[0]
    assert (first["first"], first["second"]) == (courses.names[found.rows[0]], courses.names[found.cols[0]])
    assert first["similarity"] == found.scores[0]


def test_no_similar_pairs(two):
    found = similar_pairs(two, GIVEN, above=1e6)
    assert repr(found) == "SimilarPairs: 0 above 1e+06 among 3 x 3 courses"
    assert found.graph().nnz == len(found.to_frame()) == 0


def test_too_many_similar_pairs(case):
    with pytest.raises(InputError, match="more than 5 pairs are above -1e"):
        similar_pairs(case.courses, case.gp, above=-1e9, at_most=5)


def test_a_bound_is_a_number(two):
    with pytest.raises(InputError, match="above is nan"):
        similar_pairs(two, GIVEN, above=float("nan"))


def test_an_error_while_results_are_kept_stops_the_threads():
    started = []

    def work(tile):
        started.append(tile)
        time.sleep(0.01)

    def keep(tile, result):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_tiles(work, all_tiles(100, 1, size=1), 2, "test", done=keep)
    assert len(started) < 50


# -- files that someone changed ------------------------------------------------------------------------------------


HEADER = {
    "format": "timelike similarity 1",
    "names": ["a", "b"],
    "others": None,
    "route": "grid",
    "fingerprint": {"route": "grid"},
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"names": ["a", "b", "c"]}, "3 names for 2 rows"),
        ({"names": ["a", "a"]}, "'a' stands twice"),
        ({"names": "ab"}, "names are 'ab'"),
        ({"names": 5}, "names are 5"),
        ({"names": ["a", 5]}, "names are"),
        ({"names": None}, "names are None"),
        ({"others": ["a"]}, "1 others for 2 columns"),
        ({"others": {"a": 1, "b": 2}}, "others are"),
        ({"route": 3}, "route is 3"),
        ({"fingerprint": None}, "fingerprint is None"),
        ({"fingerprint": [1]}, r"fingerprint is \[1\]"),
    ],
    ids=str,
)
@pytest.mark.parametrize("ending", ["npy", "zarr"])
def test_headers_that_do_not_fit_the_values(ending, change, message, tmp_path):
    out = tmp_path / f"S.{ending}"
    if ending == "npy":
        np.save(out, np.eye(2))
        (tmp_path / "S.npy.json").write_text(json.dumps(HEADER | change))
    else:
        zarr = pytest.importorskip("zarr")
        zarr.create_array(str(out), data=np.eye(2)).update_attributes(HEADER | change)
    with pytest.raises(InputError, match=rf"S\.{ending} is not a similarity that timelike wrote: .*{message}"):
        Similarity.open(out)


@pytest.mark.parametrize("text", ["[1]", '"a"', "[" * 100_000, "", "\x00", '{"format": "timelike similarity 1"}'])
def test_headers_that_are_none(text, tmp_path):
    np.save(tmp_path / "S.npy", np.eye(2))
    (tmp_path / "S.npy.json").write_text(text)
    with pytest.raises(InputError, match=r"S\.npy is not a similarity that timelike wrote"):
        Similarity.open(tmp_path / "S.npy")


@pytest.mark.parametrize(
    "values",
    [
        np.zeros(2),
        np.zeros((2, 2, 2)),
        np.eye(2, dtype=complex),
        np.eye(2, dtype=np.float32),
        np.eye(2, dtype=int),
        np.array([["a", "b"]] * 2),
    ],
    ids=lambda x: f"{x.dtype}{x.shape}",
)
@pytest.mark.parametrize("ending", ["npy", "zarr"])
@pytest.mark.filterwarnings("ignore")  # zarr's, about texts, for which it has no standard
def test_values_that_are_no_matrix_of_numbers(ending, values, tmp_path):
    out = tmp_path / f"S.{ending}"
    if ending == "npy":
        np.save(out, values)
        (tmp_path / "S.npy.json").write_text(json.dumps(HEADER))
    else:
        zarr = pytest.importorskip("zarr")
        zarr.create_array(str(out), data=values).update_attributes(HEADER)
    with pytest.raises(InputError, match=r"is not a similarity that timelike wrote: .*shape"):
        Similarity.open(out)


@pytest.mark.parametrize("content", [b"", b"PK", b"PK\x03\x04 and more", b"\x93NUMPY", b"no array", "npz", "pickle"])
def test_bytes_that_are_no_numpy_file(content, tmp_path):
    out = tmp_path / "S.npy"
    if content == "npz":
        np.savez(tmp_path / "S.npz", np.eye(2))
        content = (tmp_path / "S.npz").read_bytes()
    elif content == "pickle":
        np.save(tmp_path / "o.npy", np.array([[1, "a"], [2, None]], dtype=object))
        content = (tmp_path / "o.npy").read_bytes()
    out.write_bytes(content)
    (tmp_path / "S.npy.json").write_text(json.dumps(HEADER))
    with pytest.raises(InputError, match=r"S\.npy is not a similarity that timelike wrote"):
        Similarity.open(out)


@pytest.mark.filterwarnings("ignore")  # zarr's, about what it has no standard for
def test_a_zarr_array_of_another_format_is_refused_as_its_filters_could_run_code(tmp_path):
    zarr, numcodecs = pytest.importorskip("zarr"), pytest.importorskip("numcodecs")
    settings = {"shape": (2, 2), "chunks": (2, 2), "dtype": "float64", "zarr_format": 2}
    made = zarr.create_array(str(tmp_path / "S.zarr"), filters=[numcodecs.Delta("f8")], **settings)
    made.update_attributes(HEADER)
    with pytest.raises(InputError, match=r"is not a similarity that timelike wrote: .*filters"):
        Similarity.open(tmp_path / "S.zarr")


# -- what is there is kept ---------------------------------------------------------------------------------------


def test_a_file_that_is_no_header_of_ours_is_kept(two, tmp_path):
    (tmp_path / "S.npy.json").write_text("precious")
    with pytest.raises(InputError, match=r"S\.npy\.json exists"):
        tl.similarity(two, GIVEN, out=tmp_path / "S.npy")
    assert (tmp_path / "S.npy.json").read_text() == "precious"
    assert [p.name for p in tmp_path.iterdir()] == ["S.npy.json"]


def meanwhile(run, happens):
    """The same run, with something that happens whenever a part is computed."""
    way = run.job.way

    def tile(rows, cols, out):
        way.tile(rows, cols, out)
        happens()

    other = SimpleNamespace(name=way.name, side=way.side, symmetric=way.symmetric, order=way.order, tile=tile)
    return dataclasses.replace(run, job=dataclasses.replace(run.job, way=other))


@pytest.mark.parametrize("name", ["S.npy", "S.npy.json", "S.zarr"])
def test_a_file_that_appeared_meanwhile_is_kept(two, name, tmp_path):
    target = tmp_path / name.removesuffix(".json")

    case = Case(two, route="grid")
    run = meanwhile(case.run(), lambda: (tmp_path / name).write_text("precious"))
    with pytest.raises(InputError, match=rf"{name} .*resume"):
        write.compute(run, target)
    assert (tmp_path / name).read_text() == "precious"
    (tmp_path / name).unlink()
    assert_array_equal(case.to_file(target, resume=True), case.values())


def test_a_file_that_appeared_before_the_lock_is_noticed_before_the_work(two, tmp_path, monkeypatch):
    def late(folder, plain=write.locked):
        (tmp_path / "S.npy").write_text("precious")
        return plain(folder)

    monkeypatch.setattr(write, "locked", late)
    run = meanwhile(Case(two, route="grid").run(), lambda: pytest.fail("computed in vain"))
    with pytest.raises(InputError, match=r"S\.npy exists"):
        write.compute(run, tmp_path / "S.npy")


@pytest.mark.parametrize("ending", ["npy", "zarr"])
def test_a_matrix_is_replaced_when_the_new_one_is_whole(two, ending, tmp_path, monkeypatch):
    out, other = tmp_path / f"S.{ending}", two.centered()
    tl.similarity(two, GIVEN, out=out)

    def fails(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(NumpyStore if ending == "npy" else ZarrStore, "write", fails)
        with pytest.raises(InputError, match="No space left"):
            tl.similarity(other, GIVEN, out=out, replace=True)
    assert_array_equal(np.asarray(Similarity.open(out).values), tl.similarity(two, GIVEN).values)
    with pytest.raises(InputError, match=r"of other input: values.*remove .*S\.\w+ to go on with .*\.partial"):
        tl.similarity(other, GIVEN, out=out, resume=True)
    for _ in range(2):  # also over what is equal
        tl.similarity(other, GIVEN, out=out, replace=True)
        assert_array_equal(np.asarray(Similarity.open(out).values), tl.similarity(other, GIVEN).values)
    assert not list(tmp_path.glob("*.partial"))


@pytest.mark.parametrize("ending", ["npy", "zarr"])
def test_a_run_killed_while_it_replaces_can_be_resumed(two, ending, tmp_path, monkeypatch):
    out, other = tmp_path / f"S.{ending}", two.centered()
    tl.similarity(two, GIVEN, out=out)
    with monkeypatch.context() as patch:
        patch.setattr("timelike.pairs.on_disk.stores.Path.replace", _once_then_killed())
        with pytest.raises(KeyboardInterrupt):
            tl.similarity(other, GIVEN, out=out, replace=True)
    S = tl.similarity(other, GIVEN, out=out, resume=True)
    assert_array_equal(np.asarray(S.values), tl.similarity(other, GIVEN).values)


def _once_then_killed():
    """As Path.replace for what stands under its final name; the second time it is killed before."""
    moved = []

    def replace(self, target, plain=Path.replace):
        if Path(target).name.startswith("S.") or self.name.startswith("S."):
            if moved:
                raise KeyboardInterrupt
            moved.append(self)
        return plain(self, target)

    return replace


def test_only_a_matrix_is_replaced(two, tmp_path):
    (tmp_path / "S.npy").write_text("precious")
    with pytest.raises(InputError, match="is not a similarity that timelike wrote"):
        tl.similarity(two, GIVEN, out=tmp_path / "S.npy", replace=True)
    assert (tmp_path / "S.npy").read_text() == "precious"
    with pytest.raises(InputError, match="give one of them"):
        tl.similarity(two, GIVEN, out=tmp_path / "T.npy", replace=True, resume=True)


def test_an_unfinished_run_is_thrown_away_by_replace(two, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(NumpyStore, "finish", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            tl.similarity(two, GIVEN, out=tmp_path / "S.npy")
    S = tl.similarity(two.centered(), GIVEN, out=tmp_path / "S.npy", replace=True)
    assert_array_equal(np.asarray(S.values), tl.similarity(two.centered(), GIVEN).values)


# -- bounds that are none ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"above": "7"}, "above is '7': expected a finite number"),
        ({"above": None}, "give one of above"),
        ({"above": True}, "above is True"),
        ({"above": 7, "at_most": None}, "at_most is None: expected a number"),
        ({"above": 7, "at_most": "many"}, "at_most is 'many'"),
        ({"above": 7, "at_most": -1}, "at_most is -1"),
    ],
)
def test_bounds_that_are_no_numbers(two, settings, message):
    with pytest.raises(InputError, match=message):
        similar_pairs(two, GIVEN, **settings)
