"""The fast formulas against 50 digits, from noise a millionth of the signal to a thousand times it.

What double precision can give. A kernel entry is known to eps x signal^2, and the similarity sees it in units of the
noise variance, so no formula in doubles can promise better than c x eps x (signal/noise)^2, relative to the larger of
|s| and 1. On one grid of times with a well-conditioned kernel matrix the factors cancel, and 1e-9 holds throughout.
"""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, Matern

import oracle
import timelike as tl
from timelike import GP, TimeCourses
from timelike.pairs.routes import DenseRoute, GridRoute, InformationRoute

EPS = np.finfo(float).eps
RATIOS = [1e-6, 1e-4, 1e-2, 1.0, 1e3]
C = 64
"""Factor of the bound; the basis alone may use up 10 of it (it stops at 4 eps of the largest variance)."""
TIMES = np.linspace(0, 1, 7)
KEEP = [[0, 1, 2, 3, 5], [0, 2, 3, 4, 6], [1, 2, 4, 5, 6]]
KERNELS = {"se": RBF, "matern12": lambda scale: Matern(scale, nu=0.5), "matern32": lambda scale: Matern(scale, nu=1.5)}
ROUTES = {
    "grids": lambda courses, gp: GridRoute.of(gp.at(courses).information),
    "information": lambda courses, gp: InformationRoute.of(gp.at(courses).information),
    "dense": lambda courses, gp: DenseRoute.of(gp.at(courses)),
}


def draw(kernel, length_scale, ratio):
    """Three courses: two on one curve, one on another, signal variance 1."""
    rng = np.random.default_rng(1)
    weight, vectors = np.linalg.eigh(KERNELS[kernel](length_scale)(TIMES[:, None]))
    curves = rng.standard_normal((2, len(TIMES))) @ (vectors * np.sqrt(np.maximum(weight, 0))).T
    return curves[[0, 0, 1]] + ratio * rng.standard_normal((3, len(TIMES)))


def relative_errors(way, courses, kernel, length_scale, ratio, matrix_of, mean=0.0):
    times, values = [c.times for c in courses], [c.values for c in courses]
    exact = oracle.exact_similarity_matrix(times, values, kernel, length_scale, 1.0, ratio, mean)
    actual = matrix_of(way(courses, GP(KERNELS[kernel](length_scale), 1.0, ratio, mean)))
    return np.abs(actual - exact) / np.maximum(np.abs(exact), 1e-300), np.abs(actual - exact), np.abs(exact)


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize(("kernel", "length_scale"), [("se", 0.08), ("matern12", 0.5), ("matern32", 0.1)])
@pytest.mark.parametrize("name", ["grids", "information"])
def test_one_grid_and_a_well_conditioned_kernel_to_nine_digits(name, kernel, length_scale, ratio, matrix_of):
    K = KERNELS[kernel](length_scale)(TIMES[:, None])
    assert np.linalg.cond(K) < 50
    courses = TimeCourses.from_arrays(TIMES, draw(kernel, length_scale, ratio))
    relative, *_ = relative_errors(ROUTES[name], courses, kernel, length_scale, ratio, matrix_of)
    assert relative.max() < 1e-9


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize(
    ("kernel", "length_scale"), [("se", 0.1), ("se", 0.5), ("se", 2.0), ("matern12", 0.5), ("matern32", 1.0)]
)
@pytest.mark.parametrize("times", ["grid", "own"])
@pytest.mark.parametrize("name", ["grids", "information"])
def test_the_bound_that_conditioning_imposes(name, times, kernel, length_scale, ratio, matrix_of):
    values = draw(kernel, length_scale, ratio)
    courses = (
        TimeCourses.from_arrays(TIMES, values)
        if times == "grid"
        else TimeCourses.from_arrays([TIMES[k] for k in KEEP], [y[k] for y, k in zip(values, KEEP, strict=True)])
    )
    _, absolute, exact = relative_errors(ROUTES[name], courses, kernel, length_scale, ratio, matrix_of)
    bound = C * EPS / ratio**2 * np.maximum(exact, 1) + 1e-11 * exact
    assert (absolute <= bound).all()


@pytest.mark.parametrize("ratio", [1e-2, 0.1, 1.0, 10.0, 1e3])
@pytest.mark.parametrize(("kernel", "length_scale"), [("se", 0.1), ("se", 1.0), ("se", 3.0), ("matern12", 0.5)])
@pytest.mark.parametrize("times", ["grid", "own"])
def test_what_users_call_has_nine_digits_at_ordinary_noise(times, kernel, length_scale, ratio):
    values = draw(kernel, length_scale, ratio)
    keep = [list(range(len(TIMES)))] * 3 if times == "grid" else KEEP
    x, y = [TIMES[k] for k in keep], [v[k] for v, k in zip(values, keep, strict=True)]
    exact = oracle.exact_similarity_matrix(x, y, kernel, length_scale, 1.0, ratio)
    gp = GP(KERNELS[kernel](length_scale), 1.0, ratio)
    np.testing.assert_allclose(tl.similarity(TimeCourses.from_arrays(x, y), gp).values, exact, rtol=1e-9)


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize(("kernel", "length_scale"), [("se", 0.5), ("matern12", 0.5)])
def test_the_dense_pair_keeps_the_bound_too(kernel, length_scale, ratio, matrix_of):
    """It forms differences of log densities, so that its error is never below some eps of those."""
    values = draw(kernel, length_scale, ratio)
    courses = TimeCourses.from_arrays([TIMES[k] for k in KEEP], [y[k] for y, k in zip(values, KEEP, strict=True)])
    _, absolute, exact = relative_errors(ROUTES["dense"], courses, kernel, length_scale, ratio, matrix_of)
    bound = C * EPS / ratio**2 * np.maximum(exact, 1) + 1e-11 * exact + C * EPS * len(TIMES) * (1 + abs(np.log(ratio)))
    assert (absolute <= bound).all()


@pytest.mark.parametrize("times", ["grid", "own"])
@pytest.mark.parametrize("name", ROUTES)
def test_values_around_a_million(name, times, matrix_of):
    """The level is taken off first; nothing is lost but what the doubles themselves do not hold."""
    values = 1e6 + draw("se", 0.3, 0.1)
    keep = [list(range(len(TIMES)))] * 3 if times == "grid" else KEEP
    courses = TimeCourses.from_arrays([TIMES[k] for k in keep], [y[k] for y, k in zip(values, keep, strict=True)])
    relative, *_ = relative_errors(ROUTES[name], courses, "se", 0.3, 0.1, matrix_of, mean=1e6 + 0.25)
    assert relative.max() < 1e-9


def test_times_around_a_million(matrix_of):
    """Unix days, or hours of the century: only differences of times count."""
    times, values = 2.0**20 + np.arange(7) / 8, draw("se", 0.3, 0.1)
    courses = TimeCourses.from_arrays(times, values)
    relative, *_ = relative_errors(ROUTES["grids"], courses, "se", 0.3, 0.1, matrix_of)
    assert relative.max() < 1e-9


def test_the_oracle_in_doubles_is_the_oracle_in_fifty_digits():
    values = draw("se", 0.3, 0.3)
    exact = oracle.exact_similarity_matrix([TIMES] * 3, values, "se", 0.3, 1.0, 0.3)
    dense = oracle.similarity_matrix([TIMES] * 3, values, oracle.given(oracle.se, 0.3, 1.0), 0.09)
    np.testing.assert_allclose(dense, exact, rtol=1e-11)
