import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.gaussian_process import kernels as sk

import oracle
from timelike import TimeCourses
from timelike.exceptions import InputError
from timelike.gp.likelihood import LIMITS, Likelihood, Limits, Own, Shared
from timelike.gp.told import reduced_rows

SIGNAL, NOISE = 1.7, 0.09  # variances
DENSE = Limits(long_points=10**9)


def at(kernel):
    return np.concatenate([kernel.theta, np.log([SIGNAL, NOISE])])


def build(kind, count=6):
    times, values, errors = oracle.example(kind, count)
    return TimeCourses.from_arrays(times, values, errors=errors), (times, values, errors)


def best_mean(times, values, errors, k):
    """Generalised least squares, course by course."""
    above = below = 0.0
    for i, (x, y) in enumerate(zip(times, values, strict=True)):
        C = SIGNAL * k(x, x) + NOISE * np.eye(len(x))
        C += 0 if errors is None else np.diag(errors[i] ** 2)
        weights = np.linalg.solve(C, np.ones(len(x)))
        above, below = above + weights @ y, below + weights.sum()
    return above / below


@pytest.mark.parametrize("kernel", oracle.KERNELS)
@pytest.mark.parametrize("kind", oracle.EXAMPLES)
def test_value_with_a_given_mean(kind, kernel):
    courses, (times, values, errors) = build(kind)
    shape, k = oracle.KERNELS[kernel]
    score = Likelihood(courses, shape, 0.3)(at(shape))
    assert score.value == pytest.approx(
        oracle.score(times, values, oracle.scaled(k, SIGNAL**0.5), NOISE, 0.3, errors), rel=1e-11
    )
    assert score.mean == 0.3


@pytest.mark.parametrize("kernel", oracle.KERNELS)
@pytest.mark.parametrize("kind", oracle.EXAMPLES)
def test_value_at_the_best_mean(kind, kernel):
    courses, (times, values, errors) = build(kind)
    shape, k = oracle.KERNELS[kernel]
    score = Likelihood(courses, shape, None)(at(shape))
    mean = best_mean(times, values, errors, k)
    assert score.mean == pytest.approx(mean, rel=1e-10, abs=1e-12)
    expected = oracle.score(times, values, oracle.scaled(k, SIGNAL**0.5), NOISE, mean, errors)
    assert score.value == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("mean", [None, 0.3])
@pytest.mark.parametrize("kernel", oracle.KERNELS)
@pytest.mark.parametrize("kind", ["gaps", "errors", "replicates", "own"])
def test_gradient_against_central_differences(kind, kernel, mean):
    courses, _ = build(kind)
    shape, _ = oracle.KERNELS[kernel]
    function, point = Likelihood(courses, shape, mean), at(shape)
    step = 1e-5
    slopes = [
        (function(point + step * unit).value - function(point - step * unit).value) / (2 * step)
        for unit in np.eye(len(point))
    ]
    gradient = function(point).gradient
    assert_allclose(gradient, slopes, rtol=1e-6, atol=1e-6 * np.abs(gradient).max())


# -- sufficient statistics ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["grid", "replicates"])
def test_many_courses_on_a_grid(kind):
    """More courses than points: a few rows take their place, and nothing changes."""
    courses, (times, values, _) = build(kind, count=60)
    shape, k = oracle.KERNELS["se"]
    function = Likelihood(courses, shape, 0.3)
    assert len(function.groups[0].batches[0].rows) <= 7
    score = function(at(shape))
    assert score.value == pytest.approx(
        oracle.score(times, values, oracle.scaled(k, SIGNAL**0.5), NOISE, 0.3), rel=1e-11
    )


@pytest.mark.parametrize("unit", [1e-9, 1e-6, 1.0, 1e6])
@pytest.mark.parametrize("shape", [(3, 5), (6, 5), (7, 5), (200, 4), (70_000, 2), (40, 1)])
def test_reduced_rows_have_the_same_products(shape, unit):
    values = unit * (3.0 + np.random.default_rng(0).standard_normal(shape))
    rows, weights = reduced_rows(values, 2.5 * unit, 1.0)
    shifted = values - 2.5 * unit
    assert len(rows) == len(weights) <= shape[1] + 1
    assert_allclose(rows.T @ rows, shifted.T @ shifted, rtol=1e-11, atol=1e-11 * shape[0] * unit**2)
    assert_allclose(weights @ rows, shifted.sum(axis=0), rtol=1e-11)
    assert weights @ weights == pytest.approx(shape[0], rel=1e-12)


@pytest.mark.parametrize("unit", [1e-12, 1e-9, 1e-6, 1e-3, 1e3, 1e9])
@pytest.mark.parametrize("mean", [None, 0.0])
def test_the_unit_of_the_values_costs_no_digits(unit, mean):
    """In other units the density of every value is divided by the unit; nothing else changes."""
    rng = np.random.default_rng(2)
    values, times, shape = rng.standard_normal((50, 6)), np.arange(6.0), sk.RBF(1.5)
    here = Likelihood(TimeCourses.from_arrays(times, values), shape, mean)(at(shape))
    shift = np.array([0, 2, 2]) * np.log(unit)
    there = Likelihood(TimeCourses.from_arrays(times, unit * values), shape, mean)(at(shape) + shift)
    assert there.value + values.size * np.log(unit) == pytest.approx(here.value, rel=1e-10)
    assert_allclose(there.gradient, here.gradient, rtol=1e-9, atol=1e-9)
    assert there.mean / unit == pytest.approx(here.mean, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("offset", [0.0, 1e6, -1e9])
def test_a_large_level_costs_no_digits(offset):
    """Values around 1e6 with a scatter of one: the residuals are the same doubles, so is the answer."""
    rng = np.random.default_rng(2)
    values = np.round(rng.standard_normal((50, 6)), 3)
    values = np.round(values * 2**20) / 2**20  # exactly representable also at the offset 1e9
    times = np.arange(6.0)
    shape = sk.RBF(1.5)
    here = Likelihood(TimeCourses.from_arrays(times, values), shape, None)(at(shape))
    there = Likelihood(TimeCourses.from_arrays(times, values + offset), shape, None)(at(shape))
    assert there.value == pytest.approx(here.value, rel=1e-9)
    assert there.mean - offset == pytest.approx(here.mean, abs=2e-7 if offset else 0)


@pytest.mark.parametrize("ratio", [1e-5, 1e-3, 1e3])
def test_value_with_little_and_much_noise(ratio):
    rng = np.random.default_rng(3)
    times = np.linspace(0, 1, 6)
    curves = np.sin(3 * times + 6 * rng.random((40, 1)))
    values = curves + ratio * rng.standard_normal(curves.shape)
    shape = sk.Matern(0.7, nu=1.5)
    score = Likelihood(TimeCourses.from_arrays(times, values), shape, 0.0)(
        np.concatenate([shape.theta, [0.0, 2 * np.log(ratio)]])
    )
    k = oracle.given(oracle.matern32, 0.7, 1.0)
    assert score.value == pytest.approx(oracle.score([times] * 40, values, k, ratio**2), rel=1e-8)


# -- many distinct times --------------------------------------------------------------------------------------------


def own_times(count, size, seed=0):
    rng = np.random.default_rng(seed)
    times = [np.sort(rng.random(rng.integers(1, size + 1))) for _ in range(count)]
    return times, [np.sin(5 * x) + 0.3 * rng.standard_normal(len(x)) for x in times]


RADIAL = [sk.RBF(0.4), sk.RBF([0.4]), *(sk.Matern(0.4, nu=nu) for nu in (0.5, 1.5, 2.5, np.inf))]
OTHERS = [sk.RBF(0.4) * sk.ExpSineSquared(1.0, 0.7), sk.Matern(0.4, nu=0.8), sk.RationalQuadratic(0.4)]


@pytest.mark.parametrize("group_points", [1, 7, 10_000])
@pytest.mark.parametrize("shape", [*RADIAL, *OTHERS, sk.RBF(0.4, "fixed")], ids=str)
def test_groups_of_designs_give_what_one_group_gives(shape, group_points):
    times, values = own_times(40, 5)
    courses = TimeCourses.from_arrays(times, values)
    whole = Likelihood(courses, shape, None, Limits(group_points=10_000))
    parts = Likelihood(courses, shape, None, Limits(group_points, distinct_points=0))
    assert isinstance(whole.groups[0], Shared)
    assert isinstance(parts.groups[0], Shared if shape in OTHERS else Own)
    if group_points < 10 and shape in OTHERS:
        assert len(parts.groups) > 10
    one, many = whole(at(shape)), parts(at(shape))
    assert many.value == pytest.approx(one.value, rel=1e-12)
    assert many.mean == pytest.approx(one.mean, rel=1e-12)
    assert_allclose(many.gradient, one.gradient, rtol=1e-10)


@pytest.mark.parametrize("distinct_points", [0, 1500])
def test_small_batches_give_what_one_batch_gives(distinct_points):
    times, values = own_times(40, 5)
    courses, shape = TimeCourses.from_arrays(times, values), sk.RBF(0.4)
    large = Likelihood(courses, shape, None, Limits(distinct_points=distinct_points))
    small = Likelihood(courses, shape, None, Limits(10_000, distinct_points, batch_numbers=50, own_numbers=50))
    batches, more = (sum(len(group.batches) for group in function.groups) for function in (large, small))
    assert more > 2 * batches
    whole, parts = large(at(shape)), small(at(shape))
    assert parts.value == pytest.approx(whole.value, rel=1e-12)
    assert_allclose(parts.gradient, whole.gradient, rtol=1e-10)


@pytest.mark.parametrize("route", [Own, Shared])
def test_more_distinct_times_than_one_matrix_holds(route):
    times, values = own_times(700, 5)
    courses = TimeCourses.from_arrays(times, values)
    matern = sk.Matern(0.6, nu=1.5)
    shape = matern if route is Own else sk.ConstantKernel(1.0, "fixed") * matern
    assert len(np.unique(courses.times)) > LIMITS.distinct_points
    function = Likelihood(courses, shape, 0.1)
    assert len(function.groups) > 1
    assert isinstance(function.groups[0], route)
    assert max(len(group.points) for group in function.groups) < LIMITS.distinct_points
    k = oracle.given(oracle.matern32, 0.6, SIGNAL**0.5)
    assert function(at(shape)).value == pytest.approx(oracle.score(times, values, k, NOISE, 0.1), rel=1e-11)


def test_points_with_two_coordinates():
    rng = np.random.default_rng(1)
    places = [rng.random((n, 2)) for n in (3, 1, 4)]
    values = [rng.standard_normal(len(x)) for x in places]
    score = Likelihood(TimeCourses.from_arrays(places, values), sk.RBF(0.5), 0.0)(np.log([0.5, SIGNAL, NOISE]))
    k = oracle.given(oracle.se, 0.5, SIGNAL**0.5)
    assert score.value == pytest.approx(oracle.score(places, values, k, NOISE), rel=1e-12)


def test_a_matrix_that_is_no_covariance_is_named():
    courses, _ = build("grid")

    class Negative(sk.RBF):
        def __call__(self, X, Y=None, eval_gradient=False):
            result = super().__call__(X, Y, eval_gradient)
            return (-result[0], -result[1]) if eval_gradient else -result

    with pytest.raises(InputError, match="positive definite"):
        Likelihood(courses, Negative(), 0.0)(np.log([1.0, 1.0, 0.01]))


# -- memory ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [sk.RBF(0.3), sk.RationalQuadratic(0.3)], ids=["of the distance", "any other"])
def test_no_matrices_of_other_courses_are_kept(kernel):
    """A likelihood of four times as many courses with their own times takes little more memory."""
    rng = np.random.default_rng(0)
    times = [np.sort(rng.random(50)) for _ in range(120)]
    courses = TimeCourses.from_arrays(times, [np.sin(9 * x) + rng.normal(0, 0.1, 50) for x in times])
    few, many = (peak_of(Likelihood(some, kernel, None, DENSE), at(kernel)) for some in (courses[:30], courses))
    assert many < 1.5 * few


def peak_of(function, place):
    """Bytes that a call takes at its peak."""
    function(place)
    tracemalloc.start()
    try:
        function(place)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
