"""A fit to courses in a file is that of the same courses in memory, whoever reads the chunks."""

from dataclasses import fields

import numpy as np
import pytest

import timelike as tl
from timelike.exceptions import FitWarning, InputError
from timelike.gp import fit as fitting
from timelike.gp import told

TIMES = np.array([0.0, 1, 2, 4, 8, 16])


def smooth(count=3000, gaps=0.0, seed=0):
    """Curves at six times that grow sparser, a level of 1e3, and a share of values missing in two patterns."""
    rng = np.random.default_rng(seed)
    K = 4 * np.exp(-((TIMES[:, None] - TIMES) ** 2) / (2 * 3.0**2)) + 0.25 * np.eye(6)
    values = 1e3 + rng.multivariate_normal(np.zeros(6), K, count)
    values[rng.random(count) < gaps, 2] = np.nan
    values[rng.random(count) < gaps, 3:5] = np.nan
    return values


def written(values, folder):
    np.save(folder / "courses.npy", values)
    return tl.CourseFile(folder / "courses.npy", TIMES, rows=400), tl.TimeCourses.from_arrays(TIMES, values)


def all_fields(gp):
    return [getattr(gp, field.name) for field in fields(gp)]


def check_same(found, expected, rel=1e-6):
    assert type(found.kernel) is type(expected.kernel)
    np.testing.assert_allclose(found.kernel.theta, expected.kernel.theta, rtol=rel, atol=rel)
    np.testing.assert_allclose(
        [found.signal_sd, found.noise_sd, found.mean, found.log_likelihood],
        [expected.signal_sd, expected.noise_sd, expected.mean, expected.log_likelihood],
        rtol=rel,
    )


@pytest.mark.filterwarnings("ignore::timelike.exceptions.FitWarning")
@pytest.mark.parametrize("gaps", [0.0, 0.2])
@pytest.mark.parametrize("settings", [{}, {"kernel": "auto"}, {"mean": 1000.0, "clock": "linear"}])
def test_a_file_and_memory(tmp_path, gaps, settings):
    file, courses = written(smooth(gaps=gaps), tmp_path)
    check_same(tl.fit(file, **settings), tl.fit(courses, **settings))


def test_a_text(tmp_path):
    values = smooth(900)
    lines = ["gene,0h,1h,2h,4h,8h,16h", *(f"g{i}," + ",".join(map(repr, row.tolist())) for i, row in enumerate(values))]
    (tmp_path / "genes.csv").write_text("\n".join(lines))
    file = tl.CourseFile(tmp_path / "genes.csv", rows=200)
    check_same(tl.fit(file), tl.fit(tl.TimeCourses.from_arrays(TIMES, values)))


def test_whoever_reads_the_bits_are_the_same(tmp_path, client):
    file, _ = written(smooth(gaps=0.1), tmp_path)
    one, *others = (tl.fit(file, **who) for who in ({"threads": 1}, {"threads": 3}, {"client": client}))
    for other in others:
        assert all_fields(other) == all_fields(one)


def test_a_file_that_workers_do_not_see(tmp_path, client, monkeypatch):
    file, _ = written(smooth(), tmp_path)
    monkeypatch.setattr("timelike.reading.course_file.sees", lambda *_: False)
    assert all_fields(tl.fit(file, client=client)) == all_fields(tl.fit(file, threads=1))


@pytest.mark.filterwarnings("ignore::timelike.exceptions.FitWarning")
def test_wild_values_that_decide(tmp_path, monkeypatch):
    monkeypatch.setattr(fitting, "LISTENERS", 500)
    values = smooth()
    values[::60, 2] += 300
    file, courses = written(values, tmp_path)
    with pytest.warns(FitWarning, match="decide about the noise of all: the model is that of 500 courses"):
        found = tl.fit(file)
    with pytest.warns(FitWarning, match="values are wild"):
        expected = tl.fit(courses)
    assert found.noise_sd == pytest.approx(expected.noise_sd, rel=0.1)
    with pytest.warns(FitWarning):
        check_same(tl.fit(file, robust=False), tl.fit(courses, robust=False))


@pytest.mark.filterwarnings("ignore::timelike.exceptions.FitWarning")
def test_a_single_wild_value_that_no_sample_has(tmp_path, monkeypatch):
    monkeypatch.setattr(fitting, "LISTENERS", 300)
    values = smooth()
    sampled = np.random.default_rng(0).permutation(3000)[:300]
    values[np.setdiff1d(np.arange(3000), sampled)[5], 1] += 1e5
    file, _ = written(values, tmp_path)
    with pytest.warns(FitWarning, match="decide about the noise of all"):
        assert tl.fit(file).noise_sd < 1


def test_too_many_patterns_of_gaps(tmp_path, monkeypatch):
    monkeypatch.setattr(told, "MAX_DESIGNS", 2)
    file, _ = written(smooth(gaps=0.2), tmp_path)
    with pytest.raises(InputError, match="more than 2 different sets of times"):
        tl.fit(file)


def test_what_cannot_be(tmp_path, client):
    file, courses = written(smooth(900), tmp_path)
    with pytest.raises(InputError, match=r"client is for courses in a file, tl\.CourseFile"):
        tl.fit(courses, client=client)
    with pytest.raises(InputError, match=r"client must be a dask\.distributed\.Client"):
        tl.fit(file, client="tcp://127.0.0.1:8786")
    with pytest.raises(InputError, match="threads is 0"):
        tl.fit(file, threads=0)
    with pytest.raises(InputError, match="no course has replicates"):
        tl.fit(file, rough=True)
    with pytest.raises(InputError, match="courses must be TimeCourses, not list"):
        tl.fit([1, 2])
