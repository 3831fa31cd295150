"""Courses under a model: the same as long as somebody holds them, and nothing is computed twice."""

import gc
import pickle
import weakref

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.gaussian_process.kernels import RBF, Matern

import timelike as tl
from timelike.gp.basis import basis

GP = tl.GP.se(0.9, 0.7, 0.08)
ROUGH = tl.GP(Matern(0.3, nu=0.5), 0.7, 0.08)


def own_times(count=12, seed=0):
    rng = np.random.default_rng(seed)
    return tl.TimeCourses.from_arrays([np.sort(rng.random(9)) for _ in range(count)], list(rng.random((count, 9))))


def test_the_same_while_it_is_held():
    courses, others = own_times(), own_times()
    here = GP.at(courses)
    assert GP.at(courses) is here
    assert tl.GP.se(0.9, 0.7, 0.08).at(courses) is not here
    assert GP.at(others) is not here


def test_nothing_is_kept_that_nobody_holds():
    courses = own_times()
    seen = weakref.ref(courses)
    assert GP.at(courses).information.rank
    tl.similarity(courses, GP)
    del courses
    gc.collect()
    assert seen() is None


def test_a_kernel_that_was_changed_is_another_model():
    courses, gp = own_times(), tl.GP.se(0.9, 0.7, 0.08)
    here = gp.at(courses)
    before = tl.similarity(courses, gp).values
    gp.kernel.length_scale = 0.2
    assert gp.at(courses) is not here
    assert_allclose(tl.similarity(courses, gp).values, tl.similarity(courses, tl.GP.se(0.2, 0.7, 0.08)).values)
    assert not np.allclose(tl.similarity(courses, gp).values, before)


def test_a_model_travels_without_its_courses():
    here = GP.at(own_times())
    assert here.information.rank
    assert len(pickle.dumps(GP)) < 5000


def test_what_is_asked_for_twice_is_made_once():
    here, made = GP.at(own_times()), []
    make = lambda modelled: made.append(modelled) or 7  # noqa: E731
    assert (here.once(make), here.once(make)) == (7, 7)
    assert made == [here]
    assert here.information is here.information
    assert here.basis() is here.basis(96)


def test_a_basis_that_stopped_early_is_not_taken_for_an_exact_one():
    here = ROUGH.at(own_times())
    assert not here.basis(10).reached
    assert not here.basis(5).reached
    whole = here.basis()
    assert whole.reached
    assert not here.basis(10).reached
    assert here.basis() is whole


def test_too_rough_for_sets():
    with pytest.raises(tl.InputError, match="too rough for curves at so many different times"):
        ROUGH.at(own_times()).smooth()
    assert GP.at(own_times()).smooth()


@pytest.mark.parametrize("kernel", [RBF(0.4), Matern(0.3, nu=0.5), Matern(0.5, nu=2.5)])
def test_features_of_points_that_had_none(kernel):
    """Known points keep theirs, and a new point's covariance with them is that of the kernel."""
    covariance = tl.GP(kernel, 2.0, 0.1).covariance
    known, new = np.linspace(0, 1, 30)[:, None], np.array([[0.013], [0.5], [1.7]])
    phi = basis(covariance, known, 0.01)
    assert_allclose(phi.at(known), phi[slice(None)], atol=1e-6)
    assert phi.rest(known).max() < 1e-9
    error = np.abs(phi.at(new) @ phi[slice(None)].T - covariance(new, known)).max(axis=1)
    assert (error <= np.sqrt(phi.error * phi.rest(new)) + 1e-12).all()
    assert phi.rest(new)[2] > 0.1
