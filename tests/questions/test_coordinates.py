"""Curves as their values at a few times: with more than 40 distinct times, what interpolation leaves out."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import questions_oracle as dense
import timelike as tl
from timelike.base.own_noise import OwnNoise
from timelike.exceptions import InputError
from timelike.questions.asked import answered
from timelike.questions.coordinates import Coordinates

pytestmark = pytest.mark.filterwarnings("ignore:most courses have no replicates", "ignore:about .* of all courses")
GP = tl.GP.se(length_scale=2.9, signal_sd=1.5, noise_sd=1.0)


def own_times(seed=0, count=12, values=8):
    rng = np.random.default_rng(seed)
    times = [np.sort(rng.uniform(0, 10, values)) for _ in range(count)]
    return times, [np.sin(t / 2) + 2 + rng.standard_normal(values) for t in times]


def test_few_times_are_all_coordinates():
    from sklearn.gaussian_process.kernels import RBF

    found = Coordinates.of(np.array([[3.0], [1.0], [3.0]]), [RBF(1.0)])
    assert found.exact
    assert_allclose(found.points, [[1], [3]])
    assert_allclose(found.features(np.array([[3.0], [1.0], [3.0]]))[:], [[0, 1], [1, 0], [0, 1]])


def test_columns_at_other_times_go_on_from_those_at_the_coordinates():
    from sklearn.gaussian_process.kernels import RBF

    kernel, rng = RBF(2.0), np.random.default_rng(0)
    found = Coordinates.of(rng.uniform(0, 10, (120, 1)), [kernel, RBF(5.0)])
    assert not found.exact
    assert len(found.points) < 30
    at = np.linspace(0, 10, 7)[:, None]
    columns = found.factor_at(kernel, at)
    assert_allclose(columns @ columns.T, kernel(at), atol=1e-4)
    assert_allclose(found.factor_at(kernel, found.points), found.factor(kernel), atol=1e-6)


def test_changes_at_times_of_their_own_have_the_dense_evidence():
    """To 0.002 in the log likelihood ratio, for effects of up to 30 standard deviations of the noise."""
    times, values = own_times()
    found = tl.changing(tl.TimeCourses.from_arrays(times, values), GP)
    assert not found.question.measured.coordinates.exact
    sure = answered(found.question, own_noise=OwnNoise(1.0, 1e7))
    for s, shape in enumerate(found.question.shapes):
        places = np.flatnonzero(found.question.shape_of == s)
        for size, place in zip(shape.sizes, places, strict=True):
            for i, (t, y) in enumerate(zip(times, values, strict=True)):
                K, R = size**2 * shape.kernel(t[:, None]), np.ones(len(t))
                expected = dense.log_ratio(y, R, 1.0, K, np.ones((len(t), 1)))
                assert_allclose(sure.evidence[i, 0, place], expected, atol=2e-3)


@pytest.mark.parametrize("length_scale", [2.9, 2.5])  # a length scale of its own, and one that counts as a third
def test_differences_at_times_of_their_own_have_the_dense_evidence(length_scale):
    """With noise that is known for sure, and a shared curve of one size out of five."""
    gp = tl.GP.se(length_scale=length_scale, signal_sd=1.5, noise_sd=1.0)
    times, values = own_times(1)
    names = [f"gene {i}" for i in range(6)]
    made = [tl.TimeCourses.from_arrays(times[k : k + 6], values[k : k + 6], names) for k in (0, 6)]
    question = tl.compare({"a": made[0], "b": made[1]}, gp).question
    one = type(question)(
        question.measured, question.contrasts, question.shapes, question.nuisances[2:3], question.saturated
    )
    sure = answered(one, own_noise=OwnNoise(1.0, 1e7))
    place = 0
    for shape in question.shapes:
        for size in shape.sizes:
            for i in range(6):
                t, y = np.concatenate([times[i], times[i + 6]]), np.concatenate([values[i], values[i + 6]])
                condition = np.repeat([0, 1], 8)
                K = size**2 * dense.effect_covariance([[-0.5], [0.5]], condition, shape.kernel(t[:, None]))
                shared = 1.5**2 * np.exp(-(np.subtract.outer(t, t) ** 2) / (2 * length_scale**2))
                expected = dense.log_ratio(y, np.ones(16), 1.0, K, np.ones((16, 1)), shared)
                assert_allclose(sure.evidence[i, 0, place], expected, atol=2e-3)
            place += 1


def test_too_rough_for_so_many_times():
    from sklearn.gaussian_process.kernels import Matern

    with pytest.raises(InputError, match=r"too rough for so many different times.*longer length scale"):
        Coordinates.of(np.linspace(0, 1, 300)[:, None], [Matern(0.01, nu=0.5)])
