import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.gaussian_process import kernels as sk

import oracle
from timelike.exceptions import InputError
from timelike.gp.basis import RELATIVE_ERROR, basis, pivoted_cholesky

RNG = np.random.default_rng(11)
POINTS = {
    "few": np.array([[0.0], [0.1], [0.4], [1.0]]),
    "repeated": np.array([[0.3], [0.1], [0.3], [0.1], [0.9]]),
    "many": RNG.random((120, 1)),
    "nearly equal": np.array([[0.0], [1e-9], [0.5], [0.5 + 1e-12], [1.0]]),
    "one": np.array([[0.7]]),
}
ROUNDING = 40 * np.finfo(float).eps


def product(found):
    phi = found[slice(None)]
    return phi @ phi.T


@pytest.mark.parametrize("points", POINTS)
@pytest.mark.parametrize("name", oracle.KERNELS)
@pytest.mark.parametrize("max_rank", [None, 3, 0])
def test_the_error_bounds_every_entry_of_the_kernel(name, points, max_rank):
    kernel, x = oracle.KERNELS[name][0], POINTS[points]
    found = basis(kernel, x, noise_variance=0.01, max_rank=max_rank)
    K = kernel(x)
    assert np.abs(K - product(found)).max() <= found.error + ROUNDING * len(x) * K.max()


@pytest.mark.parametrize("name", oracle.KERNELS)
def test_the_error_is_no_exaggeration(name):
    """A bound of the right order: cut to three functions, the largest entry is within a factor of it."""
    kernel, x = oracle.KERNELS[name][0], POINTS["many"]
    found = basis(kernel, x, noise_variance=0.01, max_rank=3)
    actual = np.abs(kernel(x) - product(found)).max()
    assert found.error <= 3 * actual + 1e-12


@pytest.mark.parametrize("noise_variance", [1e-6, 1e-2, 1.0, 1e6])
@pytest.mark.parametrize("name", oracle.KERNELS)
def test_without_a_limit_the_error_is_small_against_noise_and_signal(name, noise_variance):
    kernel, x = oracle.KERNELS[name][0], POINTS["many"]
    largest = kernel.diag(x).max()
    found = basis(kernel, x, noise_variance)
    allowed = max(RELATIVE_ERROR * min(noise_variance, largest), 4 * np.finfo(float).eps * largest)
    assert found.error <= len(x) * allowed


@pytest.mark.parametrize(
    ("kernel", "at_most"), [(sk.RBF(3.0), 9), (sk.RBF(1.0), 13), (sk.RBF(0.3), 22), (sk.DotProduct(1.0), 2)]
)
def test_smooth_kernels_need_few_functions(kernel, at_most):
    assert basis(kernel, POINTS["many"], noise_variance=0.01).phi.shape[1] <= at_most


def test_rough_kernels_need_a_function_for_each_point():
    found = basis(sk.Matern(0.1, nu=0.5), POINTS["many"], noise_variance=0.01)
    assert found.phi.shape == (120, 120)


def test_a_rough_kernel_cut_short_says_so():
    found = basis(sk.Matern(0.1, nu=0.5), POINTS["many"], noise_variance=0.01, max_rank=20)
    assert found.phi.shape[1] == 20
    assert found.error > 1e-3


def test_rank_is_at_most_the_number_of_distinct_points():
    found = basis(sk.RBF(0.1), POINTS["repeated"], noise_variance=0.01)
    assert found.phi.shape == (3, 3)
    assert_array_equal(found.row, [1, 0, 1, 0, 2])
    assert_array_equal(found[slice(None)][0], found[slice(None)][2])


def test_functions_are_orthogonal_and_in_order_of_weight():
    phi = basis(sk.RBF(0.4), POINTS["many"], noise_variance=0.01).phi
    gram = phi.T @ phi
    weights = np.diag(gram)
    assert (np.diff(weights) < 0).all()
    assert_allclose(gram, np.diag(weights), atol=1e-12 * weights[0])


def test_rank_falls_as_noise_grows():
    ranks = [basis(sk.RBF(0.3), POINTS["many"], v).phi.shape[1] for v in (1e-4, 1e-2, 1.0)]
    assert ranks == sorted(ranks, reverse=True)
    assert ranks[0] > ranks[-1]


def test_units_of_the_values_do_not_change_the_rank():
    small, large = (
        basis(sk.ConstantKernel(u**2) * sk.RBF(0.3), POINTS["many"], 0.01 * u**2).phi.shape[1] for u in (1e-6, 1e6)
    )
    assert small == large


def test_points_with_two_coordinates():
    x = RNG.random((40, 2))
    kernel = sk.RBF([0.5, 2.0])
    found = basis(kernel, x, noise_variance=0.01)
    assert_allclose(product(found), kernel(x), atol=1e-12)


class Table:
    """A covariance given by a matrix over points 0, 1, 2, ..."""

    def __init__(self, matrix):
        self.matrix = np.array(matrix, float)

    def __call__(self, X, Y):
        return self.matrix[np.ix_(X[:, 0].astype(int), Y[:, 0].astype(int))]

    def diag(self, X):
        return self.matrix[X[:, 0].astype(int), X[:, 0].astype(int)]


@pytest.mark.parametrize(
    "matrix",
    [
        [[1, 2], [2, 1]],
        [[1, 0.9, -0.9], [0.9, 1, 0.9], [-0.9, 0.9, 1]],
        [[-1, 0], [0, -1]],
        [[1, 0], [0, -1]],
        [[np.nan, 0], [0, 1]],
    ],
    ids=["correlation above one", "three that cannot be", "negative", "one negative", "NaN"],
)
def test_matrices_that_are_no_covariance(matrix):
    points = np.arange(len(matrix))[:, None].astype(float)
    with pytest.raises(InputError, match="positive definite"):
        basis(Table(matrix), points, noise_variance=0.1)


def test_a_zero_covariance_needs_no_function():
    found = basis(Table(np.zeros((2, 2))), np.array([[0.0], [1.0]]), noise_variance=0.1)
    assert found.phi.shape == (2, 0)
    assert found.error == 0


def test_pivoted_cholesky_takes_the_worst_point_first():
    factor, order, left = pivoted_cholesky(Table(np.diag([1.0, 4.0, 9.0])), np.arange(3.0)[:, None], 0.0, 2)
    assert_array_equal(factor, [[0, 0], [0, 2], [3, 0]])
    assert_array_equal(order, [2, 1])
    assert left == 1.0
