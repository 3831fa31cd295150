"""Clusterings on disk: what comes back is what was written, and a damaged file is called damaged."""

import io
import json
import zipfile

import numpy as np
import pytest

import timelike as tl
from timelike.clusters import saved
from timelike.exceptions import InputError


@pytest.fixture(scope="module")
def made():
    courses, _ = tl.simulate.profiles(per_group=8, sampling="asynchronous", seed=2)
    spoilt = courses.values.copy()
    spoilt[3] += 40  # a wild value, which count for little
    frame = courses.to_frame().assign(value=spoilt)
    courses = tl.TimeCourses.from_long(frame)
    gp = tl.GP.se(length_scale=0.8, signal_sd=0.6, noise_sd=0.08)
    with pytest.warns(tl.DataWarning, match="1 of .* count for little"):
        return courses, gp, tl.mixture(courses, gp, k=3)


def test_a_mixture_comes_back_as_it_was(made, tmp_path):
    courses, gp, found = made
    saved.save(tmp_path / "c.npz", found, courses)
    again, its_courses = saved.load(tmp_path / "c.npz", gp)
    assert its_courses.names == courses.names
    np.testing.assert_array_equal(its_courses.values, courses.values)
    assert (again.courses.errors > 0).sum() == 1
    np.testing.assert_array_equal(again.courses.errors, found.courses.errors)
    for name in ("labels", "probabilities", "responsibilities"):
        np.testing.assert_array_equal(getattr(again, name), getattr(found, name))
    for name in ("k", "method", "spread", "learned", "continuum", "path", "evidence"):
        assert getattr(again, name) == getattr(found, name)
    at = np.linspace(0, 1, 7)
    np.testing.assert_array_equal(again.curve(1, at), found.curve(1, at))
    new = courses.select(range(5))
    np.testing.assert_array_equal(again.predict(new).probabilities, found.predict(new).probabilities)
    assert again.outliers().equals(found.outliers())


@pytest.fixture(scope="module")
def freed():
    """Pulses that come later, with a level, size and delay of their own."""
    courses, _ = tl.simulate.delayed(per_group=8, seed=2)
    gp = tl.GP.se(length_scale=0.2, signal_sd=0.5, noise_sd=0.1)
    with pytest.warns(tl.DataWarning, match="freedom in"):
        return courses, gp, tl.mixture(courses, gp, k=2, up_to=("level", "gain", "delay"), max_delay=0.4)


def with_facts(path, **news):
    """Other facts in a file."""
    with np.load(path) as file:
        arrays = dict(file)
    facts = json.loads(arrays["facts"].tobytes())
    for name, value in news.items():
        facts[name] = facts[name] | value if isinstance(value, dict) else value
    kept = {name: value for name, value in facts.items() if value != "gone"}
    np.savez(path, **(arrays | {"facts": np.frombuffer(json.dumps(kept).encode(), np.uint8)}))


def test_clusters_with_freedoms_come_back(freed, tmp_path):
    courses, gp, found = freed
    saved.save(tmp_path / "c.npz", found, courses)
    again, _ = saved.load(tmp_path / "c.npz", gp)
    assert again.free == found.free
    assert again.free.names == ("level", "gain", "delay")
    assert again.earned == found.earned
    assert set(again.earned) == set(again.free.names)
    for name in ("places", "level_weights", "responsibilities", "probabilities"):
        np.testing.assert_array_equal(getattr(again, name), getattr(found, name))
    for name in ("delay", "gain", "level"):
        np.testing.assert_array_equal(getattr(again, name), getattr(found, name))
    at = np.linspace(0, 1, 7)
    np.testing.assert_array_equal(again.curve(1, at), found.curve(1, at))
    new = courses.select(range(5))
    np.testing.assert_array_equal(again.predict(new).probabilities, found.predict(new).probabilities)
    assert again.to_frame().equals(found.to_frame())


def test_linked_clusters_with_freedoms_come_back(freed, tmp_path):
    courses, gp, _ = freed
    found = tl.evidence_linkage(courses, gp, 2, up_to=("gain", "delay"), max_delay=0.4)
    saved.save(tmp_path / "c.npz", found, courses)
    again, _ = saved.load(tmp_path / "c.npz", gp)
    assert again.free == found.free
    assert again.to_frame().equals(found.to_frame())
    np.testing.assert_array_equal(again.predict(courses).probabilities, found.predict(courses).probabilities)


def test_weights_that_move_no_curve_take_no_room(freed, tmp_path):
    courses, _, found = freed
    saved.save(tmp_path / "c.npz", found, courses)
    assert found.level_weights[found.level_weights > 0].min() >= 1e-12
    np.testing.assert_allclose(found.level_weights.sum(axis=0), found.responsibilities, atol=1e-9)
    assert (tmp_path / "c.npz").stat().st_size < found.level_weights.nbytes


def test_a_file_from_before_there_were_freedoms(made, tmp_path):
    courses, gp, found = made
    saved.save(tmp_path / "c.npz", found, courses)
    with_facts(tmp_path / "c.npz", free="gone", earned="gone")
    again, _ = saved.load(tmp_path / "c.npz", gp)
    assert not again.free
    assert (again.places, again.earned) == (None, {})
    np.testing.assert_array_equal(again.predict(courses).labels, found.predict(courses).labels)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("free", {"delays": [-1.0, 0.5, 1.0]}),
        ("free", {"delays": [-1.0, 0.0, 2.0]}),
        ("free", {"delays": []}),
        ("free", {"log_gains": [-1.0, 1.0]}),
        ("free", {"log_gains": ["much"]}),
        ("free", {"gain_sd": 0}),
        ("free", {"delay_sd": float("nan")}),
        ("free", {"period": -1}),
        ("free", "gone"),
        ("free", 5),
        ("earned", {"colour": 1.0}),
        ("earned", {"gain": float("inf")}),
    ],
)
def test_freedoms_are_checked(freed, tmp_path, name, wrong):
    courses, gp, found = freed
    saved.save(tmp_path / "c.npz", found, courses)
    with_facts(tmp_path / "c.npz", **{name: wrong})
    with pytest.raises(InputError, match="damaged"):
        saved.load(tmp_path / "c.npz", gp)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("places", lambda a: a[1:]),
        ("places", lambda a: -a),
        ("places", lambda a: a * np.nan),
        ("level_weights", lambda a: a[:, 1:]),
        ("level_weights", lambda a: a + 2),
    ],
)
def test_places_are_checked(freed, tmp_path, name, change):
    courses, gp, found = freed
    saved.save(tmp_path / "c.npz", found, courses)
    with np.load(tmp_path / "c.npz") as file:
        arrays = dict(file)
    np.savez(tmp_path / "c.npz", **(arrays | {name: change(arrays[name])}))
    with pytest.raises(InputError, match="damaged"):
        saved.load(tmp_path / "c.npz", gp)


def test_a_tree_comes_back_with_its_merges(tmp_path):
    courses, _ = tl.simulate.profiles(per_group=4, seed=2)
    gp = tl.fit(courses)
    found = tl.hierarchical(tl.similarity(courses, gp), 3)
    saved.save(tmp_path / "c.npz", found, courses)
    again, _ = saved.load(tmp_path / "c.npz", gp)
    np.testing.assert_array_equal(again.linkage, found.linkage)
    assert again.probabilities is None


def test_known_errors_come_back(tmp_path):
    courses = tl.TimeCourses.from_arrays([[0, 1], [0, 2, 2]], [[1, 2], [3, 4, 5]], errors=[[0.1, 0.2], [0.3, 0.4, 0.5]])
    found = tl.Clustering(np.array([0, 0]), courses.names, 1, "by hand")
    saved.save(tmp_path / "c.npz", found, courses)
    _, again = saved.load(tmp_path / "c.npz", tl.GP.se(1, 1, 1))
    np.testing.assert_array_equal(again.errors, courses.errors)


def test_the_same_clustering_gives_the_same_bytes(made, tmp_path):
    courses, _, found = made
    saved.save(tmp_path / "a.npz", found, courses)
    saved.save(tmp_path / "b.npz", found, courses)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


@pytest.mark.parametrize("cut", [0, 10, 200, -40])
def test_a_truncated_file_is_called_damaged(made, tmp_path, cut):
    courses, gp, found = made
    saved.save(tmp_path / "c.npz", found, courses)
    whole = (tmp_path / "c.npz").read_bytes()
    (tmp_path / "c.npz").write_bytes(whole[:cut])
    with pytest.raises(InputError, match="damaged"):
        saved.load(tmp_path / "c.npz", gp)


def test_pickled_objects_are_refused(tmp_path):
    """A file from somebody else must not run anything."""
    np.savez(tmp_path / "c.npz", facts=np.array([{"format": "evil"}], dtype=object))
    with pytest.raises(InputError, match="damaged"):
        saved.load(tmp_path / "c.npz", tl.GP.se(1, 1, 1))


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("design_of", np.array([0, 5])),
        ("design_of", np.array([0])),
        ("values", np.array([1.0, np.nan, 3, 4, 5])),
        ("values", np.array([1.0, 2])),
        ("starts", np.array([0, 9, 5])),
        ("labels", np.array([0])),
        ("labels", np.array([0, 99])),
        ("labels", np.array([-5, -5])),
        ("labels", np.array([0.0, 0.0])),
        ("values", np.array([1.0, 2, 3, 4, 5j])),
        ("errors", np.array([1.0, 2, 3, 4, -1])),
        ("probabilities", np.array([[np.nan], [1.0]])),
        ("probabilities", np.array([[1.0, 0.0], [1.0, 0.0]])),
        ("linkage", np.array([[0.0, 1.0, np.inf, 2.0]])),
    ],
)
def test_arrays_that_do_not_belong_together_are_refused(tmp_path, name, wrong):
    courses = tl.TimeCourses.from_arrays([[0, 1], [0, 2, 2]], [[1, 2], [3, 4, 5]])
    saved.save(tmp_path / "c.npz", tl.Clustering(np.array([0, 0]), courses.names, 1, "by hand"), courses)
    with np.load(tmp_path / "c.npz") as file:
        arrays = dict(file)
    np.savez(tmp_path / "c.npz", **(arrays | {name: wrong}))
    with pytest.raises(InputError, match="damaged"):
        saved.load(tmp_path / "c.npz", tl.GP.se(1, 1, 1))


@pytest.mark.parametrize(
    ("name", "wrong"), [("responsibilities", -1.0), ("responsibilities", np.nan), ("weighed", -1.0)]
)
def test_curves_are_checked_too(made, tmp_path, name, wrong):
    courses, gp, found = made
    saved.save(tmp_path / "c.npz", found, courses)
    with np.load(tmp_path / "c.npz") as file:
        arrays = dict(file)
    np.savez(tmp_path / "c.npz", **(arrays | {name: wrong * arrays[name]}))
    with pytest.raises(InputError, match="damaged"):
        saved.load(tmp_path / "c.npz", gp)


@pytest.mark.parametrize("entry", ['"spread": -1', '"spread": NaN', '"k": Infinity', '"path": ' + "[" * 100_000])
def test_facts_are_checked(made, tmp_path, entry):
    courses, gp, found = made
    saved.save(tmp_path / "c.npz", found, courses)
    with np.load(tmp_path / "c.npz") as file:
        arrays = dict(file)
    key = entry.split('"')[1]
    text = arrays["facts"].tobytes().decode()
    start = text.index(f'"{key}": ')
    end = min(at for at in (text.find(", ", start), text.find("}", start)) if at > 0)
    facts = (text[:start] + entry + text[end:]).encode()
    np.savez(tmp_path / "c.npz", **(arrays | {"facts": np.frombuffer(facts, np.uint8)}))
    with pytest.raises(InputError, match="damaged"):
        saved.load(tmp_path / "c.npz", gp)


def test_an_array_that_claims_to_be_huge(tmp_path):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**13,)})
    with zipfile.ZipFile(tmp_path / "c.npz", "w") as file:
        file.writestr("values.npy", header.getvalue())
    with pytest.raises(InputError, match="damaged"):
        saved.load(tmp_path / "c.npz", tl.GP.se(1, 1, 1))


def test_absent_file(tmp_path):
    with pytest.raises(InputError, match="there is no file"):
        saved.load(tmp_path / "c.npz", tl.GP.se(1, 1, 1))
