import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from timelike import simulate
from timelike.exceptions import InputError

GENERATORS = {
    "profiles": simulate.profiles,
    "uneven": lambda **k: simulate.profiles(sampling="uneven", **k),
    "asynchronous": lambda **k: simulate.profiles(sampling="asynchronous", **k),
    "replicated": simulate.replicated,
    "outlying": simulate.outlying,
    "delayed": simulate.delayed,
    "uneven_errors": simulate.uneven_errors,
    "own_times": simulate.own_times,
}


@pytest.mark.parametrize("name", GENERATORS)
def test_a_seed_gives_the_same_courses_and_another_seed_others(name):
    make = GENERATORS[name]
    first, again, other = (make(per_group=5, seed=s)[0] for s in (3, 3, 4))
    assert_array_equal(first.values, again.values)
    assert_array_equal(first.times, again.times)
    assert first.values.shape != other.values.shape or (first.values != other.values).any()


@pytest.mark.parametrize("name", GENERATORS)
def test_three_groups_with_names_and_labels(name):
    courses, labels, *_ = GENERATORS[name](per_group=5)
    assert labels.tolist() == [0] * 5 + [1] * 5 + [2] * 5
    assert courses.names[:2] == ("A01", "A02")
    assert courses.names[-1] == "C05"
    assert len(courses) == 15


def test_the_papers_profiles():
    x = np.array([0.0, 0.5, 1.0])
    assert_allclose(simulate.curves(x), [[-0.5, 0.015625, 0.75], [-0.5, 0, 0.5], [-0.5, -0.015625, 0.25]], rtol=1e-15)


def test_the_papers_grids():
    assert_allclose(simulate.grid("even"), np.arange(15) / 14, rtol=1e-15)
    uneven = simulate.grid("uneven")
    assert len(uneven) == 15
    assert_allclose(uneven[[0, 9, 10, 14]], [0, 0.25, 0.3, 1])
    assert_allclose(np.diff(uneven[:10]), 0.25 / 9)
    assert_allclose(np.diff(uneven[10:]), 0.7 / 4)


@pytest.mark.parametrize("sampling", ["even", "uneven"])
@pytest.mark.parametrize("noise", [0.0, 0.08, 0.12])
def test_noise_has_the_given_size(sampling, noise):
    courses, labels = simulate.profiles(noise=noise, sampling=sampling, per_group=100)
    residual = courses.values.reshape(300, 15) - simulate.curves(simulate.grid(sampling))[labels]
    assert residual.std() == pytest.approx(noise, rel=0.03)
    assert abs(residual.mean()) <= 0.1 * noise


def test_asynchronous_courses_keep_7_to_9_of_the_15_times():
    courses, labels = simulate.profiles(sampling="asynchronous", per_group=50)
    assert set(courses.sizes.tolist()) == {7, 8, 9}
    assert set(courses.times.tolist()) == set(simulate.grid().tolist())
    curves = np.concatenate([simulate.curves(c.times)[g] for c, g in zip(courses, labels, strict=True)])
    assert (courses.values - curves).std() == pytest.approx(0.08, rel=0.05)


def test_replicates():
    courses, _ = simulate.replicated(replicates=4, per_group=2)
    assert_array_equal(np.unique(courses.grid, return_counts=True)[1], [4] * 6)


def test_outliers_are_where_they_are_said_to_be():
    courses, labels, thrown = simulate.outlying(noise=0.01, share=0.1, size=2.0, per_group=50)
    residual = courses.values.reshape(150, 15) - simulate.curves(simulate.grid())[labels]
    assert thrown.mean() == pytest.approx(0.1, abs=0.02)
    assert_allclose(np.abs(residual[thrown]), 2.0, atol=0.1)
    assert np.abs(residual[~thrown]).max() < 0.1


def test_delays_move_one_pulse():
    courses, labels = simulate.delayed(noise=0.0, delays=(0.0, 0.3), per_group=1)
    early, late = courses.values.reshape(2, 15)
    assert labels.tolist() == [0, 1]
    peaks = courses.grid[[early.argmax(), late.argmax()]]
    assert peaks[1] - peaks[0] == pytest.approx(0.3, abs=0.04)


def test_known_errors_are_the_errors():
    courses, labels = simulate.uneven_errors(low=0.05, high=0.2, per_group=100)
    assert courses.errors.min() >= 0.05
    assert courses.errors.max() <= 0.2
    residual = courses.values - simulate.curves(simulate.grid())[labels].ravel()
    assert (residual / courses.errors).std() == pytest.approx(1, rel=0.04)


def test_own_times_are_own():
    courses, _ = simulate.own_times(visits=(3, 5), per_group=20)
    assert set(courses.sizes.tolist()) == {3, 4, 5}
    assert len(np.unique(courses.times)) == len(courses.times)
    assert 0 <= courses.times.min() <= courses.times.max() <= 1


BAD = {
    "profiles": [{"noise": -1}, {"noise": float("nan")}, {"per_group": 0}, {"sampling": "random"}],
    "replicated": [{"noise": -1}, {"replicates": 0}, {"per_group": 0}],
    "outlying": [{"noise": -1}, {"per_group": 0}, {"share": 2}],
    "delayed": [{"noise": -1}, {"per_group": 0}, {"delays": ()}],
    "uneven_errors": [{"low": -1}, {"low": 1, "high": 0.1}, {"per_group": 0}],
    "own_times": [{"noise": -1}, {"visits": (0, 0)}, {"visits": (5, 2)}, {"per_group": 0}],
}


@pytest.mark.parametrize(("name", "setting"), [(n, s) for n, settings in BAD.items() for s in settings])
def test_settings_that_cannot_be_are_named(name, setting):
    with pytest.raises(InputError, match="|".join(setting)):
        getattr(simulate, name)(**setting)


def test_more_groups_than_ten():
    courses, labels = simulate.delayed(delays=tuple(np.linspace(0, 0.6, 12)), per_group=1)
    assert len(set(courses.names)) == len(set(labels.tolist())) == 12
