import numpy as np
import pytest
from numpy.testing import assert_allclose

import oracle
from timelike import GP, TimeCourses
from timelike.exceptions import InputError
from timelike.gp.information import evidence, log_det_plus_identity

SIGNAL, NOISE, MEAN = 1.3, 0.4, 0.2


def build(kind, kernel="se"):
    times, values, errors = oracle.example(kind)
    shape, covariance = oracle.KERNELS[kernel]
    gp = GP(shape, SIGNAL, NOISE, MEAN)
    raw = [times, values, errors or [np.zeros(len(x)) for x in times]]
    return TimeCourses.from_arrays(times, values, errors=errors), gp, raw, oracle.scaled(covariance, SIGNAL)


def expected_evidence(x, y, error, k):
    """E = log p(y) - log N(y; mean, R): what the curve adds to pure noise."""
    R = np.diag(NOISE**2 + np.square(error))
    return oracle.marginal(x, y, k, NOISE**2, MEAN, error) - oracle.log_density(y, MEAN, R)


@pytest.mark.parametrize("kernel", oracle.KERNELS)
@pytest.mark.parametrize("kind", oracle.EXAMPLES)
def test_evidence_is_the_marginal_likelihood_against_noise_alone(kind, kernel):
    courses, gp, raw, k = build(kind, kernel)
    found = gp.at(courses).information
    actual = evidence(found.A[found.design_of], found.b)
    assert_allclose(actual, [expected_evidence(*course, k) for course in zip(*raw, strict=True)], rtol=1e-9)


@pytest.mark.parametrize("kind", oracle.EXAMPLES)
def test_information_adds(kind):
    """The sum over courses is the information of one course with all their values."""
    courses, gp, raw, k = build(kind)
    x, y, e = (np.concatenate(part) for part in raw)
    assert evidence(*gp.at(courses).information.total()) == pytest.approx(expected_evidence(x, y, e, k), rel=1e-9)


def test_total_is_the_sum_of_all_courses():
    courses, gp, *_ = build("gaps")
    found = gp.at(courses).information
    A, b = found.total()
    assert_allclose(A, found.A[found.design_of].sum(axis=0), rtol=1e-12)
    assert_allclose(b, found.b.sum(axis=0), rtol=1e-12)


@pytest.mark.parametrize("kind", oracle.EXAMPLES)
def test_means_solve_for_each_course_alone(kind):
    courses, gp, *_ = build(kind)
    found = gp.at(courses).information
    for i, mean in enumerate(found.means()):
        precision = np.eye(found.rank) + found.A[found.design_of[i]]
        assert_allclose(precision @ mean, found.b[i], rtol=1e-9, atol=1e-9 * np.abs(found.b[i]).max())


def test_courses_of_one_design_share_a_matrix():
    courses, gp, *_ = build("grid")
    assert gp.at(courses).information.A.shape[0] == 1


def test_information_matrices_are_symmetric_to_the_bit():
    courses, gp, *_ = build("own")
    A = gp.at(courses).information.A
    np.testing.assert_array_equal(A, A.transpose(0, 2, 1))


def test_noise_variances_add_the_known_error():
    courses = TimeCourses.from_arrays([0, 1], [[1, 2]], errors=[[0.3, 0.0]])
    assert_allclose(GP.se(1, 1, 0.4).at(courses).noise_variances, [0.25, 0.16], rtol=1e-14)


def test_no_noise_anywhere_is_an_error():
    courses = TimeCourses.from_arrays([0, 1], [[1, 2]], errors=[[0.3, 0.0]])
    with pytest.raises(InputError, match="noise variance is zero"):
        _ = GP.se(1, 1, 0.0).at(courses).noise_variances


def test_evidence_by_hand():
    """One function, A = 3, b = 2: 1/2 * 4 / 4 - 1/2 log 4."""
    assert evidence(np.array([[3.0]]), np.array([2.0])) == pytest.approx(0.5 - np.log(2), rel=1e-15)


def test_evidence_of_stacks():
    rng = np.random.default_rng(0)
    root = rng.standard_normal((4, 3, 3))
    A, b = root @ root.transpose(0, 2, 1), rng.standard_normal((4, 3))
    assert_allclose(evidence(A, b), [evidence(A[i], b[i]) for i in range(4)], rtol=1e-13)


@pytest.mark.parametrize("size", [1e-18, 1e-9, 1.0, 1e9])
def test_log_det_keeps_the_digits_of_a_small_matrix(size):
    A = size * np.array([[2.0, 1.0], [1.0, 2.0]])  # eigenvalues 1 and 3
    assert log_det_plus_identity(A) == pytest.approx(np.log1p(size) + np.log1p(3 * size), rel=1e-13)
