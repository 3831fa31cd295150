"""Kernels written down as functions of the distance, against scikit-learn's and against differences."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.gaussian_process import kernels as sk

from timelike.gp import kernels
from timelike.gp.stationary import FORMS, blocks, form_of, squared_distances

RNG = np.random.default_rng(0)
SQUARED = np.concatenate([[0.0, 1e-12], np.geomspace(1e-6, 400, 60)])


def of_name(name, length_scale):
    kernel = kernels.resolve(name)
    return kernel.set_params(length_scale=length_scale)


@pytest.mark.parametrize("length_scale", [0.3, 1.0, 7.0])
@pytest.mark.parametrize("name", FORMS)
def test_value_and_slope_are_those_of_scikit_learn(name, length_scale):
    points = RNG.random((3, 6, 2))
    points[0, 1] = points[0, 0]  # a replicate
    kernel = of_name(name, length_scale)
    K, gradient = blocks(kernel, form_of(kernel), points)
    for here, k, dk in zip(points, K, gradient, strict=True):
        expected, slope = kernel(here, eval_gradient=True)
        assert_allclose(k, expected, rtol=1e-13)
        assert_allclose(dk, slope, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("name", FORMS)
def test_slope_and_curvature_are_those_of_the_value(name):
    """Derivatives in the logarithm of the length scale, which divides the distance."""
    form, step = FORMS[name], 1e-5
    longer, shorter = (form.value_and_slope(SQUARED * np.exp(-2 * shift)) for shift in (step, -step))
    _, slope, curvature = form.entries(SQUARED)
    assert_allclose(slope, (longer[0] - shorter[0]) / (2 * step), rtol=1e-7, atol=1e-10)
    assert_allclose(curvature, (longer[1] - shorter[1]) / (2 * step), rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("name", FORMS)
def test_a_point_with_itself_and_points_beyond_reach(name):
    value, slope, curvature = FORMS[name].entries(np.array([0.0, 1e18]))
    assert_array_equal(value, [1.0, 0.0])
    assert_array_equal(slope, 0.0)
    assert_array_equal(curvature, 0.0)


@pytest.mark.parametrize("name", FORMS)
def test_named_kernels_have_the_form_of_their_name(name):
    assert form_of(kernels.resolve(name)) is FORMS[name]


class Mine(sk.RBF):
    """A kernel whose formula nobody but its author knows."""


@pytest.mark.parametrize(
    "kernel",
    [
        Mine(),
        sk.RBF([1.0, 2.0]),
        sk.Matern(nu=0.7),
        sk.RationalQuadratic(),
        sk.ExpSineSquared(),
        sk.DotProduct(),
        sk.RBF() + sk.RBF(),
    ],
    ids=str,
)
def test_other_kernels_have_none(kernel):
    assert form_of(kernel) is None


def test_other_spellings_of_the_same_kernel():
    assert form_of(sk.Matern(nu=np.inf)) is FORMS["se"]
    assert form_of(sk.RBF([0.4])) is FORMS["se"]


def test_a_fixed_length_scale_has_no_gradient():
    kernel = sk.RBF(0.4, "fixed")
    K, gradient = blocks(kernel, form_of(kernel), RNG.random((2, 3, 1)))
    assert (K.shape, gradient.shape) == ((2, 3, 3), (2, 3, 3, 0))


def test_squared_distances():
    points = np.array([[0.0, 0.0], [3.0, 4.0], [0.0, 0.0]])
    expected = [[0, 25, 0], [25, 0, 25], [0, 25, 0]]
    assert_array_equal(squared_distances(points), expected)
    assert_array_equal(squared_distances(np.stack([points, 2 * points]))[1], 4 * np.array(expected))
