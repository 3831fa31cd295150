"""up_to and max_delay of estimators: kept as given, checked when fitted, the same answers as the functions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import timelike as tl
from timelike.estimators import EvidenceLinkage, GPMixture, GPNeighbors, GPSimilarity
from timelike.exceptions import InputError

ALL = (GPSimilarity, GPMixture, EvidenceLinkage, GPNeighbors)
FREE = {"up_to": ["level", "delay"], "max_delay": 0.4}
MODEL = tl.GP.se(0.2, 0.5, 0.1)


@pytest.fixture(scope="module")
def data():
    """Pulses at three times, each course around a level of its own."""
    courses, _ = tl.simulate.delayed(per_group=6, seed=1)
    times, X = courses.to_matrix()
    return times, X + 10 + 3 * np.random.default_rng(0).normal(size=(len(X), 1))


@pytest.mark.parametrize("cls", ALL)
def test_parameters_are_kept_as_given(cls):
    made = cls(**FREE)
    assert made.get_params()["up_to"] is FREE["up_to"]
    assert clone(made).get_params()["up_to"] == ["level", "delay"]
    assert clone(made).max_delay == 0.4
    assert cls().up_to == ()


@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"up_to": "size"}, "up_to has 'size': choose from level, gain, delay"),
        ({"up_to": 3}, "up_to is 3: expected any of level, gain, delay"),
        ({"up_to": "delay"}, "a delay needs max_delay"),
        ({"up_to": "delay", "max_delay": "6h"}, "max_delay is '6h': expected a number above zero"),
        ({"max_delay": 2}, "no delays are asked for"),
    ],
)
def test_parameters_are_checked_when_fitted(data, cls, wrong, message):
    times, X = data
    with pytest.raises(InputError, match=message):
        cls(times=times, gp=MODEL, **wrong).fit(X)


def test_similarities(data):
    times, X = data
    model = GPSimilarity(times, gp=MODEL, **FREE)
    courses = tl.TimeCourses.from_arrays(times, X)
    assert_allclose(model.fit_transform(X), tl.similarity(courses, MODEL, **FREE).values, rtol=1e-9)
    some = courses.select(range(3))
    assert_allclose(model.transform(X[:3]), tl.similarity(some, MODEL, courses, **FREE).values, rtol=1e-9, atol=1e-9)


def test_neighbours(data):
    times, X = data
    graph = GPNeighbors(3, times, gp=MODEL, mode="connectivity", **FREE).fit(X).transform(X[:4])
    courses = tl.TimeCourses.from_arrays(times, X)
    found = tl.neighbors(courses.select(range(4)), MODEL, 3, others=courses, **FREE)
    assert_array_equal(np.sort(graph.indices.reshape(4, 3)), np.sort(found.indices))


@pytest.mark.parametrize("cls", [GPMixture, EvidenceLinkage])
def test_clusters_and_new_courses(data, cls):
    times, X = data
    model = cls(1, times, gp=MODEL, **FREE).fit(X)
    assert model.clustering_.free.names == ("level", "delay")
    assert len(model.clustering_.delay.mean) == len(X)
    assert_array_equal(model.predict(X[:5] + 100), np.zeros(5))  # at any level
    assert_allclose(model.predict_proba(X[:5]).sum(axis=1), 1)
    assert np.isfinite(model.score(X))


@pytest.mark.parametrize("cls", ALL)
def test_the_model_is_that_of_changes(data, cls):
    times, X = data
    fitted = cls(times=times, up_to="level").fit(X)
    assert fitted.gp_.signal_sd < 1
    assert np.isfinite(fitted.score(X[:5]))


def test_the_mixture_takes_those_that_pay(data):
    times, X = data
    with pytest.warns(tl.DataWarning, match="courses of a cluster may differ in: level"):
        model = GPMixture(1, times, gp=MODEL, up_to="auto").fit(X)
    assert "level" in model.clustering_.free.names


@pytest.mark.parametrize("cls", [GPSimilarity, GPNeighbors])
def test_levels_do_not_count_in_a_score(data, cls):
    times, X = data
    model = cls(times=times, gp=MODEL, up_to="level").fit(X)
    assert_allclose(model.score(X[:5]), model.score(X[:5] + 7))
