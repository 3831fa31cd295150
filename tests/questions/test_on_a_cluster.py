"""The workers of a Dask cluster, and any number of threads, give the same answers, to the last bit."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import timelike as tl
from timelike import InputError
from timelike.questions import measured


@pytest.fixture
def conditions(monkeypatch):
    """Two conditions; genes are worked on in many pieces."""
    monkeypatch.setattr(measured, "BUDGET", 600)
    rng = np.random.default_rng(1)
    times = np.repeat([0.0, 2, 4, 8], 3)
    wild, mutant = rng.normal(size=(2, 90, 12))
    mutant[:9] += 4 * (times > 2)
    return {"wt": tl.TimeCourses.from_arrays(times, wild), "mut": tl.TimeCourses.from_arrays(times, mutant)}


def check(here, there):
    assert_array_equal(there.answer.evidence, here.answer.evidence)
    assert_array_equal(there.answer.nuisance, here.answer.nuisance)
    assert_array_equal(there.probability, here.probability)
    assert 0.05 < here.share < 0.4


def test_compare(conditions, client):
    here = tl.compare(conditions, threads=1)
    assert len(list(here.question.measured.pieces())) > 4
    check(here, tl.compare(conditions, threads=3))
    check(here, tl.compare(conditions, client=client))


def test_compare_with_smooth_shared_curves(conditions, client):
    """Where times differ between conditions, the size of what they share is weighed too."""
    late = conditions["mut"]
    conditions["mut"] = tl.TimeCourses.from_arrays(late.grid + 0.5, late.values.reshape(len(late), -1))
    here = tl.compare(conditions, threads=1)
    assert len(here.question.nuisances) > 1
    check(here, tl.compare(conditions, client=client))


def test_changing(conditions, client):
    here = tl.changing(conditions["mut"], threads=1)
    check(here, tl.changing(conditions["mut"], threads=3))
    check(here, tl.changing(conditions["mut"], client=client))


def test_something_else_than_a_client(conditions):
    with pytest.raises(InputError, match=r"client must be a dask\.distributed\.Client, not str"):
        tl.compare(conditions, client="tcp://127.0.0.1:8786")
    with pytest.raises(InputError, match=r"client must be a dask\.distributed\.Client, not str"):
        tl.changing(conditions["wt"], client="tcp://127.0.0.1:8786")
