import json
import sys
from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.gaussian_process import kernels as sk

import oracle
from timelike.exceptions import InputError
from timelike.gp import kernels

X = np.array([-0.4, 0.0, 0.3, 0.3, 1.1, 2.0])


@pytest.mark.parametrize("name", oracle.KERNELS)
def test_kernel_objects_are_the_covariances_of_the_oracle(name):
    kernel, covariance = oracle.KERNELS[name]
    assert_allclose(kernel(X[:, None]), covariance(X, X), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", kernels.NAMED)
def test_every_name_is_a_kernel_that_knows_its_name(name):
    kernel = kernels.resolve(name)
    assert isinstance(kernel, sk.Kernel)
    assert kernels.name_of(kernel) == name


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("se", lambda r: np.exp(-(r**2) / 2)),
        ("matern12", lambda r: np.exp(-r)),
        ("matern32", lambda r: (1 + np.sqrt(3) * r) * np.exp(-np.sqrt(3) * r)),
        ("matern52", lambda r: (1 + np.sqrt(5) * r + 5 * r**2 / 3) * np.exp(-np.sqrt(5) * r)),
        ("periodic", lambda r: np.exp(-2 * np.sin(np.pi * r) ** 2)),
    ],
)
def test_names_mean_the_usual_formulas(name, expected):
    r = np.array([0.0, 0.2, 1.0, 2.7])
    assert_allclose(kernels.resolve(name)(np.zeros((1, 1)), r[:, None])[0], expected(r), rtol=1e-12)


def test_linear_means_a_line_with_random_level_and_slope():
    assert_allclose(kernels.resolve("linear")(np.array([[2.0]]), np.array([[3.0], [0.0]]))[0], [7.0, 1.0])


def test_objects_are_taken_as_they_are():
    kernel = sk.RBF(0.3) * sk.ExpSineSquared(1.0, 2.0)
    assert kernels.resolve(kernel) is kernel
    assert kernels.name_of(kernel) == str(kernel)


def test_a_matern_without_a_name_is_described():
    assert "nu=0.7" in kernels.name_of(sk.Matern(nu=0.7))


# -- plain text ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", oracle.KERNELS)
def test_kernels_survive_plain_text(name):
    kernel, _ = oracle.KERNELS[name]
    text = json.dumps(kernels.to_dict(kernel))
    again = kernels.from_dict(json.loads(text))
    assert type(again) is type(kernel)
    np.testing.assert_array_equal(again(X[:, None]), kernel(X[:, None]))


def test_a_length_scale_for_each_coordinate_survives_plain_text():
    kernel = sk.RBF([1.0, 2.5])
    again = kernels.from_dict(json.loads(json.dumps(kernels.to_dict(kernel))))
    points = np.array([[0.0, 1.0], [2.0, 0.5]])
    np.testing.assert_array_equal(again(points), kernel(points))


def test_numbers_survive_plain_text_to_the_last_bit():
    scale = 0.1 + 0.2
    assert kernels.from_dict(json.loads(json.dumps(kernels.to_dict(sk.RBF(scale))))).length_scale == scale


def test_only_known_classes_are_written_or_read():
    with pytest.raises(InputError, match="PairwiseKernel"):
        kernels.to_dict(sk.PairwiseKernel())
    with pytest.raises(InputError, match="expected a kernel"):
        kernels.from_dict({"class": "PairwiseKernel"})
    assert "WhiteKernel" not in kernels.SAVED


# -- model files that someone changed ------------------------------------------------------------------------------


def nested(depth):
    data = {"class": "RBF", "length_scale": 1.0}
    for _ in range(depth):
        data = {"class": "Sum", "k1": data, "k2": {"class": "RBF", "length_scale": 2.0}}
    return data


def calls(function, argument):
    """How many functions are called, which is what time goes into, and takes no clock."""
    events = Counter()
    sys.setprofile(lambda _frame, event, _argument: events.update([event]))
    try:
        function(argument)
    finally:
        sys.setprofile(None)
    return events["call"]


def test_kernels_in_kernels_are_read_in_time_and_not_without_end():
    """Reading costs little more than one check of the whole: no kernel within is checked for itself."""
    deep = kernels.from_dict(nested(kernels.DEEPEST))
    assert len(kernels.leaves(deep)) == 2 * kernels.DEEPEST + 1
    assert calls(kernels.from_dict, nested(kernels.DEEPEST)) < 2 * calls(kernels.resolve, deep)
    with pytest.raises(InputError, match=f"more than {kernels.DEEPEST} kernels within each other"):
        kernels.from_dict(nested(kernels.DEEPEST + 1))


@pytest.mark.parametrize(
    "data",
    [
        {"class": "RBF", "length_scale": 10**400},
        {"class": "RBF", "length_scale": "3"},
        {"class": "RBF", "length_scale": True},
        {"class": "RBF", "length_scale": [1.0, "3"]},
        {"class": "RBF", "length_scale": [[1.0]]},
        {"class": "RBF", "length_scale": None},
        {"class": "Matern", "nu": "1.5"},
        {"class": "Matern", "nu": -1.0},
        {"class": "Matern", "nu": float("nan")},
        {"class": "Exponentiation", "kernel": {"class": "RBF"}, "exponent": 0.0},
        {"class": "Exponentiation", "kernel": {"class": "RBF"}, "exponent": -2},
        {"class": "Exponentiation", "kernel": {"class": "RBF"}, "exponent": float("inf")},
        {"class": "Sum", "k1": {"class": "RBF", "length_scale": True}, "k2": {"class": "RBF"}},
        {"class": "Sum", "k1": 3, "k2": {"class": "RBF"}},
    ],
    ids=lambda data: str(data)[:60],
)
def test_parameters_that_are_no_numbers(data):
    with pytest.raises(InputError, match="kernel"):
        kernels.from_dict(data)


@pytest.mark.parametrize("kernel", [sk.RBF() ** -1, sk.RBF() + sk.RBF() ** 0, sk.RBF(10**400)], ids=["-1", "0", "big"])
def test_objects_with_parameters_that_are_no_covariance(kernel):
    with pytest.raises(InputError, match="of the kernel is"):
        kernels.resolve(kernel)
