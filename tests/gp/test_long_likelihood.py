"""Long courses: every route against dense formulas, its laws, and the error that it states."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.gaussian_process import kernels as sk

import oracle
import timelike as tl
from timelike import TimeCourses
from timelike.exceptions import InputError
from timelike.gp.clock import Clocked
from timelike.gp.fit import Objective, first_sample, most_likely
from timelike.gp.likelihood import Likelihood, Limits, Own, Shared
from timelike.gp.long import interpolated
from timelike.gp.long.banded import SMALLEST, block_size
from timelike.gp.long.likelihood import Long
from timelike.gp.long.markov import DYNAMICS
from timelike.gp.search_space import search_space
from timelike.gp.stationary import FORMS, form_of

SIGNAL, NOISE = 1.7, 0.09  # variances
LONG, DENSE = Limits(long_cost=0), Limits(long_points=10**9)
CLOCK = Clocked(None, 0.3, start=-0.1)
SYMMETRIC = Clocked(None, 0.3)

SHAPES = {
    "se": (sk.RBF(0.2), oracle.given(oracle.se, 0.2, 1.0)),
    "se, long scale": (sk.RBF(30.0), oracle.given(oracle.se, 30.0, 1.0)),
    "se, short scale": (sk.RBF(0.01), oracle.given(oracle.se, 0.01, 1.0)),
    "se, no scale": (sk.RBF(1e-6), oracle.given(oracle.se, 1e-6, 1.0)),
    "se on a clock": (
        Clocked(sk.RBF(0.2), 0.3, start=-0.1),
        lambda x, z: oracle.se(CLOCK.time(x), CLOCK.time(z), 0.2, 1.0),
    ),
    "se on a clock, short scale": (
        Clocked(sk.RBF(0.004), 0.3, start=-0.1),
        lambda x, z: oracle.se(CLOCK.time(x), CLOCK.time(z), 0.004, 1.0),
    ),
    "se on a symmetric clock": (
        Clocked(sk.RBF(0.2), 0.3),
        lambda x, z: oracle.se(SYMMETRIC.time(x), SYMMETRIC.time(z), 0.2, 1.0),
    ),
    "endlessly smooth": (sk.Matern(0.2, nu=np.inf), oracle.given(oracle.se, 0.2, 1.0)),
    "matern12": (sk.Matern(0.5, nu=0.5), oracle.given(oracle.matern12, 0.5, 1.0)),
    "matern32": (sk.Matern(0.3, nu=1.5), oracle.given(oracle.matern32, 0.3, 1.0)),
    "matern52": (sk.Matern(0.3, nu=2.5), oracle.given(oracle.matern52, 0.3, 1.0)),
    "matern52, long scale": (sk.Matern(20.0, nu=2.5), oracle.given(oracle.matern52, 20.0, 1.0)),
    "matern52, no scale": (sk.Matern(1e-7, nu=2.5), oracle.given(oracle.matern52, 1e-7, 1.0)),
    "matern32 on a clock": (
        Clocked(sk.Matern(0.3, nu=1.5), 0.3, start=-0.1),
        lambda x, z: oracle.matern32(CLOCK.time(x), CLOCK.time(z), 0.3, 1.0),
    ),
}


def at(kernel):
    return np.concatenate([kernel.theta, np.log([SIGNAL, NOISE])])


def long_courses(kind="own", sizes=(70, 300, 130, 75), seed=0):
    """Lists of times, values and errors (or None), times not in order."""
    rng = np.random.default_rng(seed)
    times = [rng.random(n) for n in sizes]
    if kind == "replicates":
        times = [np.round(x, 1) for x in times]
    if kind == "one grid":
        times = [times[0]] * len(sizes)
    if kind == "many on one grid":
        times = [times[0]] * 100 + [times[1]]
    values = [np.sin(5 * x + rng.random()) + 0.3 * rng.standard_normal(len(x)) for x in times]
    errors = [rng.uniform(0.05, 0.5, len(x)) * (rng.random(len(x)) < 0.5) for x in times] if kind == "errors" else None
    return times, values, errors


def built(*arguments):
    times, values, errors = long_courses(*arguments)
    return TimeCourses.from_arrays(times, values, errors=errors)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", ["own", "errors", "replicates", "one grid", "many on one grid"])
def test_value_is_that_of_the_dense_formula(kind, shape):
    times, values, errors = long_courses(kind)
    kernel, k = SHAPES[shape]
    function = Likelihood(TimeCourses.from_arrays(times, values, errors=errors), kernel, 0.3, LONG)
    assert [type(group) for group in function.groups] == [Long]
    expected = oracle.score(times, values, oracle.scaled(k, SIGNAL**0.5), NOISE, 0.3, errors)
    assert function(at(kernel)).value == pytest.approx(expected, rel=1e-11)
    assert function.error(at(kernel)) < 1e-6


@pytest.mark.parametrize("mean", [None, 0.3])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", ["own", "errors", "many on one grid"])
def test_gradient_and_mean_are_those_of_the_dense_route(kind, shape, mean):
    courses, kernel = built(kind), SHAPES[shape][0]
    here, there = (Likelihood(courses, kernel, mean, limits)(at(kernel)) for limits in (LONG, DENSE))
    assert here.mean == pytest.approx(there.mean, rel=1e-10, abs=1e-11)  # values are around 1
    assert_allclose(here.gradient, there.gradient, rtol=1e-9, atol=1e-10 * np.abs(there.gradient).max())


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", ["own", "errors"])
def test_gradient_against_central_differences(kind, shape):
    kernel = SHAPES[shape][0]
    function, point, step = Likelihood(built(kind), kernel, None, LONG), at(kernel), 1e-5
    slopes = [
        (function(point + step * unit).value - function(point - step * unit).value) / (2 * step)
        for unit in np.eye(len(point))
    ]
    gradient = function(point).gradient
    assert_allclose(gradient, slopes, rtol=1e-6, atol=1e-6 * np.abs(gradient).max())


@pytest.mark.parametrize("kernel", [sk.RBF(0.2, "fixed"), sk.Matern(0.2, "fixed", nu=1.5)], ids=str)
def test_a_fixed_length_scale_has_no_gradient(kernel):
    here, there = (Likelihood(built(), kernel, None, limits)(at(kernel)) for limits in (LONG, DENSE))
    assert len(here.gradient) == 2
    assert_allclose(here.gradient, there.gradient, rtol=1e-9)


# -- laws ---------------------------------------------------------------------------------------------------------

ROUTES = st.sampled_from([sk.RBF(0.3), sk.RBF(0.004), sk.Matern(0.3, nu=2.5), Clocked(sk.RBF(0.2), 0.3, start=0.0)])


@settings(max_examples=20, deadline=None)
@given(ROUTES, st.integers(0, 100), st.sampled_from(["own", "errors"]))
def test_orders_of_courses_and_values_do_not_matter(kernel, seed, kind):
    times, values, errors = long_courses(kind, (61, 90, 64), seed)
    rng = np.random.default_rng(seed)
    orders = [rng.permutation(len(x)) for x in times]
    turned = [[each[o] for each, o in zip(lists, orders, strict=True)][::-1] for lists in (times, values)]
    other = [e[o] for e, o in zip(errors, orders, strict=True)][::-1] if errors else None
    here = Likelihood(TimeCourses.from_arrays(times, values, errors=errors), kernel, None, LONG)(at(kernel))
    there = Likelihood(TimeCourses.from_arrays(*turned, errors=other), kernel, None, LONG)(at(kernel))
    assert there.value == pytest.approx(here.value, rel=1e-11)
    assert_allclose(there.gradient, here.gradient, rtol=1e-8, atol=1e-9 * np.abs(here.gradient).max())


@settings(max_examples=20, deadline=None)
@given(st.sampled_from([sk.RBF, sk.Matern]), st.floats(1e-3, 3), st.sampled_from([1e-6, 60.0]), st.floats(-5, 5))
def test_units_and_shifts_of_time_and_values_do_not_matter(shape, scale, unit, shift):
    times, values, _ = long_courses("own", (61, 90, 64))
    here = Likelihood(TimeCourses.from_arrays(times, values), shape(scale), None, LONG)(at(shape(scale)))
    moved = TimeCourses.from_arrays([unit * (x + shift) for x in times], [unit * y + shift for y in values])
    place = at(shape(unit * scale)) + np.log([1, unit**2, unit**2])
    there = Likelihood(moved, shape(unit * scale), None, LONG)(place)
    assert there.value + moved.values.size * np.log(unit) == pytest.approx(here.value, rel=1e-9)
    assert_allclose(there.gradient, here.gradient, rtol=1e-6, atol=1e-7 * np.abs(here.gradient).max())


# -- the error of interpolation --------------------------------------------------------------------------------------


def expansion(kernel, line, count):
    error = interpolated.Growth.of(kernel, line).error(count)
    return interpolated.expansion(kernel, line, count)._replace(error=error)


def through(count, courses, kernel, noise):
    """Log likelihood with the mean zero through so many nodes, and the bound on its error."""
    function = Likelihood(courses, kernel, 0.0, LONG)
    (group,) = function.groups
    found = expansion(kernel, interpolated.ruler(kernel, group.low, group.high), count)
    part = interpolated.interpolated(group.batches, found, SIGNAL / function.scale**2, noise / function.scale**2)
    exact = Likelihood(courses, kernel, 0.0, DENSE).at(kernel, np.log(SIGNAL), np.log(noise)).value
    constant = function.count * (0.5 * np.log(2 * np.pi) + np.log(function.scale))
    return part.value_and_gradient(0.0)[0] - constant, part.error(0.0), exact


@settings(max_examples=60, deadline=None)
@given(st.floats(0.1, 2), st.integers(1, 40), st.floats(1e-4, 10), st.booleans(), st.integers(0, 5))
def test_the_error_stated_is_not_exceeded(length_scale, more, noise, clock, seed):
    kernel = Clocked(sk.RBF(length_scale), 0.3, start=0.0) if clock else sk.RBF(length_scale)
    count = 6 + more
    value, error, exact = through(count, built("own", (61, 90, 64), seed), kernel, noise)
    rounding = 1e-14 * (SIGNAL / noise + 1) * abs(exact)
    assert abs(value - exact) <= error + rounding


def test_the_error_stated_is_not_far_from_the_true_one():
    value, error, exact = through(24, built(), sk.RBF(0.2), NOISE)
    assert 1e-9 < abs(value - exact) < error < 1e8 * abs(value - exact)


def test_too_few_nodes_have_no_bound():
    assert through(4, built(), sk.RBF(0.05), NOISE)[1] == np.inf


SMOOTH = [sk.RBF(0.1), sk.RBF(1.0), Clocked(sk.RBF(0.1), 0.3, start=0.0), Clocked(sk.RBF(0.05), 0.01, start=-3.0)]


@pytest.mark.parametrize("kernel", [*SMOOTH, Clocked(sk.RBF(0.1), 0.3)], ids=str)
@pytest.mark.parametrize("count", [8, 16, 24, 40, 64, 128])
def test_no_entry_of_the_kernel_is_off_by_more_than_stated(kernel, count):
    line = interpolated.ruler(kernel, 0.0, 1.0)
    found, places = expansion(kernel, line, count), np.linspace(-1, 1, 700)
    features = np.stack(list(interpolated.chebyshev(places, count)), axis=1) @ found.root
    off = np.abs(kernel(line.times(places)) - features @ features.T).max()
    assert off <= found.error + 1e-13


@pytest.mark.parametrize("kernel", [*SMOOTH, Clocked(sk.RBF(0.1), 0.3)], ids=str)
def test_nodes_are_enough_and_not_many_more(kernel):
    found = interpolated.suitable(kernel, 0.0, 1.0, 1000)
    line, count = interpolated.ruler(kernel, 0.0, 1.0), len(found.root)
    assert found.error <= interpolated.TOLERANCE < expansion(kernel, line, count - 8).error
    rank = np.linalg.matrix_rank(kernel(line.times(np.linspace(-1, 1, 600))), tol=1e-13)
    assert count < 3 * rank + 24


def test_more_nodes_than_allowed_are_none():
    assert interpolated.suitable(sk.RBF(0.01), 0.0, 1.0, 400) is None


def test_kernels_that_a_polynomial_does_not_follow_are_found_out():
    """Before its start a clock is plain time: the bend is no polynomial, and the matrix takes over."""
    times, values, _ = long_courses()
    kernel = Clocked(sk.RBF(0.2), 0.05, start=0.5)
    assert interpolated.suitable(kernel, 0.0, 1.0, 200) is None
    courses = TimeCourses.from_arrays(times, values)
    here, there = (Likelihood(courses, kernel, None, limits)(at(kernel)) for limits in (LONG, DENSE))
    assert here.value == pytest.approx(there.value, rel=1e-11)


# -- blocks -----------------------------------------------------------------------------------------------------------


def test_blocks_grow_with_the_length_scale():
    (group,) = Likelihood(built("own", (300, 290)), sk.RBF(1.0), None, LONG).groups
    batch = group.batches[0].batch
    sizes = [block_size(batch, FORMS["se"], sk.RBF(scale)) for scale in (1e-6, 1e-3, 0.005, 0.01, 1.0)]
    assert sizes[0] == SMALLEST
    assert sizes == sorted(sizes)
    assert sizes[-1] == 150


def test_too_little_noise_is_named():
    times = [np.repeat(np.linspace(0, 1, 40), 2)] * 2
    courses = TimeCourses.from_arrays(times, [np.sin(9 * x) for x in times])
    with pytest.raises(InputError, match="positive definite"):
        Likelihood(courses, sk.Matern(0.3, nu=1.5), None, LONG).at(sk.Matern(0.3, nu=1.5), 0.0, -600.0)


@pytest.mark.parametrize("name", ["matern12", "matern32", "matern52"])
def test_states_have_the_kernel(name):
    move = DYNAMICS[FORMS[name]]
    u = np.linspace(0, 5, 30)
    expected = FORMS[name].value_and_slope(u**2)[0]
    assert_allclose((move.transition(move.rate * u) @ move.prior)[:, 0, 0], expected, rtol=1e-13)
    assert_allclose(move.F @ move.prior + move.prior @ move.F.T, np.diag(np.diag(move.F @ move.prior * 2)), atol=1e-15)


# -- who is long -----------------------------------------------------------------------------------------------------


def test_short_courses_stay_where_they_were():
    rng = np.random.default_rng(0)
    times = [np.sort(rng.random(60)) for _ in range(300)]
    courses = TimeCourses.from_arrays(times, [np.sin(x) for x in times])
    assert {type(group) for group in Likelihood(courses, sk.RBF(1.0), None).groups} == {Own}


def test_short_and_long_courses_together():
    times, values, _ = long_courses("own", (300, 5, 280, 9, 1))
    courses = TimeCourses.from_arrays(times, values)
    function = Likelihood(courses, sk.RBF(0.2), 0.1)
    assert [type(group) for group in function.groups] == [Long, Shared]
    assert len(function.groups[1].points) == 15
    k = oracle.given(oracle.se, 0.2, SIGNAL**0.5)
    assert function(at(sk.RBF(0.2))).value == pytest.approx(oracle.score(times, values, k, NOISE, 0.1), rel=1e-11)


@pytest.mark.parametrize("kernel", [sk.RationalQuadratic(0.3), sk.RBF(0.3) + sk.DotProduct(1.0)], ids=str)
def test_other_kernels_take_the_matrix(kernel):
    assert form_of(kernel) is None
    assert {type(group) for group in Likelihood(built(), kernel, None, LONG).groups} == {Shared}


def test_two_coordinates_take_the_matrix():
    rng = np.random.default_rng(0)
    courses = TimeCourses.from_arrays([rng.random((300, 2))] * 2, rng.random((2, 300)))
    assert not isinstance(Likelihood(courses, sk.RBF(0.3), None).groups[0], Long)


def test_all_values_at_one_time():
    times, values = [np.ones(80)] * 2, np.random.default_rng(0).random((2, 80))
    here, there = (
        Likelihood(TimeCourses.from_arrays(times, values), sk.RBF(0.3), None, limits)(at(sk.RBF(0.3))).value
        for limits in (LONG, DENSE)
    )
    assert here == pytest.approx(there, rel=1e-12)


@pytest.mark.parametrize("kernel", [sk.RBF(), sk.Matern(nu=1.5)], ids=str)
def test_a_fit_ends_where_the_dense_one_ends(kernel):
    courses = built("own", (150, 140, 130, 150, 145, 160, 150, 155))
    objective, space = Objective(courses, kernel, None), search_space(courses, kernel, None)
    dense = Objective(courses, kernel, None)
    dense.likelihood = Likelihood(courses, kernel, None, DENSE)
    here, there = most_likely(objective, space), most_likely(dense, space)
    assert isinstance(objective.likelihood.groups[0], Long)
    assert here.score.value == pytest.approx(there.score.value, rel=1e-11)
    assert_allclose(here.place, there.place, atol=1e-6)


def test_a_likelihood_that_is_off_is_said(monkeypatch):
    courses = built("own", [200] * 12)
    assert tl.fit(courses).warnings == ()
    monkeypatch.setattr(interpolated, "TOLERANCE", 1e-5)
    with pytest.warns(tl.exceptions.FitWarning, match="log likelihood is known only to"):
        tl.fit(courses)


def test_a_sample_of_long_courses_is_small():
    rng = np.random.default_rng(0)
    courses = TimeCourses.from_arrays([rng.random(600) for _ in range(100)], [rng.random(600) for _ in range(100)])
    assert len(first_sample(courses, 1_000_000)) == 20


def test_no_matrix_over_all_values_is_made():
    """Twenty thousand values a course: a matrix for one of them would have 3 GB."""
    rng = np.random.default_rng(0)
    times = [np.sort(rng.random(20_000)) for _ in range(2)]
    values = [np.sin(9 * x + 3 * i) + 0.3 * rng.standard_normal(len(x)) for i, x in enumerate(times)]
    gp = tl.GP.se(0.2, signal_sd=1, noise_sd=0.3)
    assert gp.score(TimeCourses.from_arrays(times, values)) == pytest.approx(-0.22 * 40_000, rel=0.05)
