"""What a fit says about itself: nothing where all is well, and each doubt once."""

import warnings

import numpy as np
import pytest
from sklearn.gaussian_process import kernels as sk

import timelike as tl
from timelike import TimeCourses
from timelike.exceptions import FitWarning


def sentences(courses, *arguments):
    """The warnings of a fit, after checking that each was given once, and that the model carries them."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        gp = tl.fit(courses, *arguments)
    assert [str(w.message) for w in caught] == list(gp.warnings)
    assert {w.category for w in caught} <= {FitWarning}
    assert {w.filename for w in caught} <= {__file__}, "a warning points at the line that called fit"
    return gp.warnings


@pytest.mark.parametrize(
    "make",
    [
        lambda: tl.simulate.profiles(seed=1),
        lambda: tl.simulate.profiles(sampling="uneven"),
        lambda: tl.simulate.profiles(sampling="asynchronous"),
        lambda: tl.simulate.replicated(),
        lambda: tl.simulate.delayed(),
    ],
    ids=["even", "uneven", "asynchronous", "replicated", "delayed"],
)
def test_well_behaved_data_raise_no_warning(make):
    assert sentences(make()[0]) == ()


def test_wild_values_that_decide_about_the_noise_are_named():
    (sentence,) = sentences(tl.simulate.outlying()[0])
    assert sentence.startswith("43 of 2,250 values are wild and count for little in this fit: the noise is 0.08")


def test_flat_courses_end_on_the_upper_bound_of_the_length_scale():
    rng = np.random.default_rng(0)
    levels = TimeCourses.from_arrays(np.arange(6.0), rng.standard_normal((50, 1)) + 0.1 * rng.standard_normal((50, 6)))
    (sentence,) = sentences(levels)
    assert "upper bound of the length scale (500)" in sentence
    assert "straight" in sentence


def test_courses_without_noise_end_on_the_lower_bound_of_the_noise():
    times = np.linspace(0, 1, 10)
    covariance = sk.RBF(1.0)(times[:, None])
    curves = np.random.default_rng(0).multivariate_normal(np.zeros(10), covariance, 30, method="eigh")
    courses = TimeCourses.from_arrays(times, curves)
    assert any("lower bound of the noise variance" in s for s in sentences(courses))


def test_a_bound_of_the_caller_that_holds_is_named_for_what_it_is():
    """The caller's bound binds; that says nothing about straight curves, or about data that determine nothing."""
    courses, _ = tl.simulate.profiles(per_group=8, seed=1)
    (sentence,) = sentences(courses, sk.RBF(0.3, (0.1, 0.5)))
    assert "upper bound of the length scale (0.5)" in sentence
    assert "straight" not in sentence


def test_replicates_that_agree_at_unrelated_times_mean_a_short_length_scale():
    rng = np.random.default_rng(1)
    level = np.repeat(rng.standard_normal((60, 5)), 3, axis=1)
    courses = TimeCourses.from_arrays(np.repeat(np.arange(5.0), 3), level + 0.1 * rng.standard_normal(level.shape))
    assert any("below the gap between neighbouring times (1)" in s for s in sentences(courses))


def test_pure_noise_cannot_be_split():
    rng = np.random.default_rng(2)
    courses = TimeCourses.from_arrays(np.arange(8.0), rng.standard_normal((30, 8)))
    assert any("signal and noise cannot be told apart" in s for s in sentences(courses))


def test_one_time_cannot_be_split_unless_it_is_replicated():
    rng = np.random.default_rng(3)
    once = TimeCourses.from_arrays([0], rng.standard_normal((40, 1)))
    assert any("told apart" in s for s in sentences(once))
    level = rng.standard_normal((40, 1))
    thrice = TimeCourses.from_arrays([0, 0, 0], level + 0.3 * rng.standard_normal((40, 3)))
    assert sentences(thrice) == ()
