"""A warning points at the line of the user, whatever lies between it and the code that warns."""

import warnings

import numpy as np
import pytest

import timelike as tl
from timelike.estimators import GPMixture


@pytest.fixture
def wild():
    """Courses with a value that is far from all others."""
    courses, _ = tl.simulate.profiles(noise=0.08, seed=1)
    times, values = courses.to_matrix()
    values = np.array(values)
    values[3, 7] = 9.0
    return np.asarray(times), values


def by_function(times, values):
    courses = tl.TimeCourses.from_arrays(times, values)
    tl.mixture(courses, tl.GP.se(0.9, 0.7, 0.08, 0.1), k=3)


def by_analysis(times, values):
    tl.analyse(tl.TimeCourses.from_arrays(times, values), k=3)


def by_estimator(times, values):
    GPMixture(3, times=times).fit(values)


def by_a_method_of_scikit_learn(times, values):
    GPMixture(3, times=times).fit_predict(values)


@pytest.mark.parametrize("way", [by_function, by_analysis, by_estimator, by_a_method_of_scikit_learn])
def test_a_warning_points_at_the_user(wild, way):
    times, values = wild
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        way(times, values)
    about = [w for w in caught if "count for little" in str(w.message)]
    assert {w.filename for w in about} == {__file__}
