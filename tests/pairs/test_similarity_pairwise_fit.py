"""similarity_pairwise_fit against a slow optimiser over the dense formulas, and the laws it must obey."""

from functools import partial

import numpy as np
import pytest
from scipy.optimize import minimize
from threadpoolctl import threadpool_limits

import oracle
from timelike import TimeCourses, simulate
from timelike.exceptions import FitWarning, InputError
from timelike.gp.stationary import FORMS
from timelike.pairs.own_fit.likelihood import evaluate
from timelike.pairs.own_fit.problems import blocks_of, pairs_of, rows
from timelike.pairs.own_fit.similarity_pairwise_fit import pairs_fitted, similarity_pairwise_fit

COVARIANCES = {
    "se": oracle.se,
    "matern12": oracle.matern12,
    "matern32": oracle.matern32,
    "matern52": oracle.matern52,
}

SPLITS = [(0.0, -1.0), (0.5, -3.0), (-1.0, 0.0)]


def highest(curves, covariance, mean):
    """Largest summed log likelihood of independent curves [(x, y, error)] that share their hyperparameters."""
    x, y, _ = (np.concatenate(part) for part in zip(*curves, strict=True))
    span, sd, free = np.ptp(x), y.std(), mean == "constant"

    def loss(p):
        level = p[3] * sd + y.mean() if free else mean
        k = partial(covariance, length_scale=span * np.exp(p[0]), signal_sd=sd * np.exp(p[1]))
        noise = (sd * np.exp(p[2])) ** 2
        return -sum(oracle.marginal(a, b, k, noise, level, e) for a, b, e in curves)

    starts = [[length, signal, noise, 0.0] for length in np.arange(-3.5, 1.6) for signal, noise in SPLITS]
    limits = [(-6, 4), (-8, 6), (-8, 3), (-20, 20)]
    with threadpool_limits(1, "blas"):  # matrices so small only lose by threads
        return _climbed(loss, starts, limits)


def _climbed(loss, starts, limits):
    ends = [minimize(loss, s, method="L-BFGS-B", bounds=limits, options={"maxiter": 40}) for s in starts]
    best = min(ends, key=lambda end: end.fun)
    fine = {"xatol": 1e-7, "fatol": 1e-11, "maxiter": 2000}
    return -minimize(loss, best.x, method="Nelder-Mead", bounds=limits, options=fine).fun


def slow(courses, i, j, kernel="se", mean="constant"):
    parts = [(c.times, c.values, np.zeros(len(c.values)) if c.errors is None else c.errors) for c in courses[[i, j]]]
    both = tuple(np.concatenate(part) for part in zip(*parts, strict=True))
    return highest([both], COVARIANCES[kernel], mean) - highest(parts, COVARIANCES[kernel], mean)


@pytest.fixture(scope="module")
def few():
    """Three courses on their own times, of 6 to 9 values."""
    return simulate.own_times(visits=(6, 9), per_group=1, seed=4)[0]


@pytest.fixture(scope="module")
def fitted(few):
    return similarity_pairwise_fit(few).values


# -- the definition -------------------------------------------------------------------------------------------

SAMPLINGS = {
    "shared": lambda: simulate.profiles(noise=0.1, per_group=2, seed=2)[0].select([0, 1, 4]),
    "asynchronous": lambda: simulate.profiles(sampling="asynchronous", per_group=2, seed=2)[0].select([0, 1, 4]),
    "replicated": lambda: simulate.replicated(replicates=2, per_group=2, seed=2)[0].select([0, 1, 4]),
    "known errors": lambda: simulate.uneven_errors(per_group=2, seed=3)[0].select([0, 1, 4]),
}


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_it_is_the_difference_of_the_two_maxima(sampling):
    courses = SAMPLINGS[sampling]()
    S = similarity_pairwise_fit(courses).values
    assert S[0, 1] == pytest.approx(slow(courses, 0, 1), abs=1e-6)
    assert S[0, 2] == pytest.approx(slow(courses, 0, 2), abs=1e-6)


@pytest.mark.parametrize("kernel", sorted(set(FORMS) - {"se"}))
def test_every_other_kernel(kernel, few):
    assert similarity_pairwise_fit(few, kernel).values[0, 2] == pytest.approx(slow(few, 0, 2, kernel), abs=1e-6)


def test_a_given_mean_is_kept(few):
    zero = similarity_pairwise_fit(few, mean="zero").values
    assert zero[0, 1] == pytest.approx(slow(few, 0, 1, mean=0.0), abs=1e-6)
    shifted = TimeCourses(few.names, few.designs, few.design_of, few.values + 7)
    np.testing.assert_allclose(similarity_pairwise_fit(shifted, mean=7).values, zero, rtol=0, atol=1e-6)


@pytest.mark.parametrize("kernel", FORMS)
@pytest.mark.parametrize("one_curve", [False, True])
def test_derivatives_are_those_of_the_value(kernel, one_curve):
    courses, _ = simulate.replicated(replicates=2, per_group=1, seed=1)
    pairs = pairs_of(rows(courses, None), np.array([0, 1]), np.array([2, 1]))
    blocks = blocks_of(pairs, one_curve=one_curve)
    at = np.array([[-0.7, 0.3, -1.2], [0.4, -0.5, 1.1]])
    here = evaluate(blocks, at, FORMS[kernel])
    for k, step in enumerate(1e-5 * np.eye(3)):
        up, down = (evaluate(blocks, at + s, FORMS[kernel]) for s in (step, -step))
        np.testing.assert_allclose(here.slope[:, k], (up.value - down.value) / 2e-5, rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(here.curvature[:, k], (up.slope - down.slope) / 2e-5, rtol=1e-6, atol=1e-7)


# -- laws -------------------------------------------------------------------------------------------------------


def test_symmetric_named_and_finite(few, fitted):
    S = similarity_pairwise_fit(few)
    assert S.names == few.names
    assert S.route == "pairwise fit"
    assert np.isfinite(fitted).all()
    np.testing.assert_array_equal(fitted, fitted.T)


def test_the_order_of_courses_and_the_other_courses_do_not_matter(few, fitted):
    order = [2, 0, 1]
    turned = similarity_pairwise_fit(few[order]).values
    np.testing.assert_allclose(turned, fitted[np.ix_(order, order)], rtol=0, atol=1e-6)
    np.testing.assert_allclose(similarity_pairwise_fit(few[[0, 2]]).values[0, 1], fitted[0, 2], rtol=0, atol=1e-6)


def test_large_values_of_other_courses_do_not_matter():
    rng, times = np.random.default_rng(0), np.linspace(0, 1, 12)
    small = np.sin(4 * times) + 0.1 * rng.normal(size=(2, 12))
    large = 3e8 * (1 + 0.2 * rng.normal(size=(4, 12)))
    alone = similarity_pairwise_fit(TimeCourses.from_arrays(times, small)).values
    beside = similarity_pairwise_fit(TimeCourses.from_arrays(times, np.concatenate([small, large]))).values
    np.testing.assert_allclose(beside[:2, :2], alone, rtol=0, atol=1e-6)


@pytest.mark.parametrize("mean", ["constant", 0.1])
def test_a_pair_of_equal_values_is_measured_in_units_of_all(mean):
    """Sums of 0.1 are rounded: what they leave is no variance."""
    courses = TimeCourses.from_arrays(np.arange(9), [[0.1] * 9, [0.1] * 9, [0, 1, 3, 2, 4, 1, 0, 2, 5]])
    given = None if mean == "constant" else mean
    data = rows(courses, given)
    pairs = pairs_of(data, np.array([0]), np.array([1]))
    np.testing.assert_array_equal(pairs.values, 0)
    assert np.isfinite(similarity_pairwise_fit(courses, mean=mean).values).all()


@pytest.mark.parametrize(("time_unit", "value_unit"), [(86_400.0, 1e3), (1 / 7, 1e-6)])
def test_units_do_not_matter(few, fitted, time_unit, value_unit):
    times, values = ([getattr(c, what) for c in few] for what in ("times", "values"))
    scaled = TimeCourses.from_arrays([time_unit * x for x in times], [value_unit * y for y in values])
    np.testing.assert_allclose(similarity_pairwise_fit(scaled).values, fitted, rtol=0, atol=1e-6)


def test_an_offset_of_all_values_or_times_does_not_matter(few, fitted):
    moved = TimeCourses.from_arrays([c.times - 3 for c in few], [c.values + 50 for c in few])
    np.testing.assert_allclose(similarity_pairwise_fit(moved).values, fitted, rtol=0, atol=1e-6)


def test_the_diagonal_is_a_course_against_its_copy(few, fitted):
    twice = TimeCourses.from_arrays([few[0].times] * 2, [few[0].values] * 2)
    assert similarity_pairwise_fit(twice).values[0, 1] == pytest.approx(fitted[0, 0], abs=1e-6)
    assert (np.diag(fitted) > 10 + np.abs(fitted[0, 1])).all()


def test_errors_of_zero_are_no_errors():
    courses, _ = simulate.replicated(replicates=2, per_group=1, seed=5)
    values = courses.values.reshape(3, -1)
    exact = TimeCourses.from_arrays(courses.grid, values, errors=np.zeros(values.shape))
    expected = similarity_pairwise_fit(courses).values
    np.testing.assert_allclose(similarity_pairwise_fit(exact).values, expected, rtol=0, atol=1e-6)


def test_points_of_a_plane_can_be_turned(few):
    rng = np.random.default_rng(3)
    points, values = [rng.random((len(c.values), 2)) for c in few], [c.values for c in few]
    turn = np.array([[0.6, 0.8], [-0.8, 0.6]])
    before, after = (TimeCourses.from_arrays(p, values) for p in (points, [p @ turn for p in points]))
    expected = similarity_pairwise_fit(before).values
    np.testing.assert_allclose(similarity_pairwise_fit(after).values, expected, rtol=0, atol=1e-6)


def test_chunks_and_threads_do_not_matter(few, fitted):
    for threads in (1, 2):
        parts = pairs_fitted(few, FORMS["se"], None, threads, chunk=1).values
        np.testing.assert_allclose(parts, fitted, rtol=0, atol=1e-6)


# -- the edges --------------------------------------------------------------------------------------------------


def test_constant_and_single_values_have_an_answer():
    ragged = TimeCourses.from_arrays([[0, 1, 2], [0, 1, 2], [1], [5]], [[2, 2, 2], [0, 1, 3], [2], [4]])
    assert np.isfinite(similarity_pairwise_fit(ragged).values).all()


def test_what_did_not_arrive_is_counted(few):
    with pytest.warns(FitWarning, match="^6 of the fitted pairs did not reach an optimum in 1 steps"):
        pairs_fitted(few, FORMS["se"], None, iterations=1)


@pytest.mark.parametrize("kernel", ["periodic", "gauss", None])
def test_other_kernels_are_an_error(few, kernel):
    with pytest.raises(InputError, match="se, matern12, matern32, matern52"):
        similarity_pairwise_fit(few, kernel)


def test_other_bad_settings_and_data_are_an_error(few):
    with pytest.raises(InputError, match="courses must be TimeCourses, not list"):
        similarity_pairwise_fit([1, 2])
    with pytest.raises(InputError, match="mean is 'median'"):
        similarity_pairwise_fit(few, mean="median")
    with pytest.raises(InputError, match="threads is 0"):
        similarity_pairwise_fit(few, threads=0)
    with pytest.raises(InputError, match="all values are equal"):
        similarity_pairwise_fit(TimeCourses.from_arrays([0, 1], [[3, 3], [3, 3]]))
