import builtins
import json
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.gaussian_process import kernels as sk

import oracle
import timelike as tl
from timelike import GP, TimeCourses
from timelike.exceptions import InputError
from timelike.gp.model import DENSE_POINTS

SIGNAL, NOISE, MEAN = 1.3, 0.4, 0.2


def build(kind, kernel="se"):
    times, values, errors = oracle.example(kind)
    shape, covariance = oracle.KERNELS[kernel]
    gp = GP(shape, SIGNAL, NOISE, MEAN)
    return TimeCourses.from_arrays(times, values, errors=errors), gp, (times, values, errors), covariance


# -- score and posterior ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", oracle.KERNELS)
@pytest.mark.parametrize("kind", oracle.EXAMPLES)
def test_score_is_the_summed_log_likelihood(kind, kernel):
    courses, gp, (times, values, errors), k = build(kind, kernel)
    expected = oracle.score(times, values, oracle.scaled(k, SIGNAL), NOISE**2, MEAN, errors)
    assert gp.score(courses) == pytest.approx(expected, rel=1e-11)


def test_score_takes_a_kernel_without_free_parameters_and_a_line_through_zero():
    courses, _, (times, values, _), _ = build("grid")
    fixed = GP(sk.RBF(0.4, "fixed"), SIGNAL, NOISE, MEAN)
    assert fixed.score(courses) == pytest.approx(GP.se(0.4, SIGNAL, NOISE, MEAN).score(courses), rel=1e-14)
    through_zero = GP(sk.DotProduct(0.0), SIGNAL, NOISE, MEAN)
    k = oracle.given(oracle.linear, 0.0, SIGNAL)
    assert through_zero.score(courses) == pytest.approx(oracle.score(times, values, k, NOISE**2, MEAN), rel=1e-11)


@pytest.mark.parametrize("kernel", oracle.KERNELS)
@pytest.mark.parametrize("kind", oracle.EXAMPLES)
def test_posterior_of_one_curve_for_all_courses(kind, kernel):
    courses, gp, (times, values, errors), k = build(kind, kernel)
    at = np.array([-0.5, 0.0, 0.1, 0.33, 1.0, 2.0])
    error = 0.0 if errors is None else np.concatenate(errors)
    mean, sd = oracle.posterior(
        np.concatenate(times), np.concatenate(values), at, oracle.scaled(k, SIGNAL), NOISE**2, MEAN, error
    )
    curve = gp.posterior(courses, at)
    assert_allclose(curve.mean, mean, rtol=1e-8, atol=1e-9)
    assert_allclose(curve.sd, sd, rtol=1e-7, atol=1e-8)


def test_posterior_far_from_all_values_is_the_prior():
    courses, gp, *_ = build("grid")
    curve = gp.posterior(courses, [1e3])
    assert curve.mean[0] == pytest.approx(MEAN, abs=1e-12)
    assert curve.sd[0] == pytest.approx(SIGNAL, rel=1e-12)


def test_posterior_answers_in_the_order_of_the_question():
    courses, gp, *_ = build("own")
    there, back = gp.posterior(courses, [0.1, 0.7, 0.7]), gp.posterior(courses, [0.7, 0.1])
    assert_allclose(there.mean[[1, 0]], back.mean, rtol=1e-10)
    assert there.sd[1] == pytest.approx(there.sd[2], rel=1e-12)


class Counted(sk.Matern):
    """A kernel that counts the single columns it is asked for: a basis takes one for each of its functions."""

    columns = 0

    def __call__(self, X, Y=None, eval_gradient=False):
        self.columns += Y is not None and len(Y) == 1
        return super().__call__(X, Y, eval_gradient)


@pytest.mark.parametrize("count", [DENSE_POINTS, DENSE_POINTS + 1])
@pytest.mark.parametrize(("nu", "functions"), [(np.inf, 30), (0.5, 300)], ids=["smooth", "rough"])
def test_posterior_of_many_values_is_never_that_of_a_large_basis(nu, functions, count):
    """The same curve on both sides of the limit, and no basis with a function for each value."""
    times, at = np.linspace(0, 1, count), np.array([-0.1, 0.31, 1.0])
    values = np.sin(6 * times) + np.cos(40 * times) / 10
    kernel = Counted(0.3, nu=nu)
    gp = GP(kernel, SIGNAL, NOISE, MEAN)
    curve = gp.posterior(TimeCourses.from_arrays(times, [values]), at)
    assert (gp.kernel.columns > 0) == (count > DENSE_POINTS)  # the model has a kernel of its own
    assert gp.kernel.columns <= functions
    mean, sd = oracle.posterior(
        times, values, at, lambda x, z: SIGNAL**2 * kernel(x[:, None], z[:, None]), NOISE**2, MEAN
    )
    assert_allclose(curve.mean, mean, rtol=1e-8, atol=1e-9)
    assert_allclose(curve.sd, sd, rtol=1e-7, atol=1e-8)


def test_posterior_narrows_with_more_courses():
    courses, gp, *_ = build("grid")
    assert (gp.posterior(courses, [0.3, 0.8]).sd < gp.posterior(courses[:2], [0.3, 0.8]).sd).all()


# -- words -----------------------------------------------------------------------------------------------------------


def test_hyperparameters_are_plain_numbers():
    gp = GP.se(np.float32(2), signal_sd=np.int64(3), noise_sd="0.5", mean=True)
    assert (gp.length_scale, gp.signal_sd, gp.noise_sd, gp.mean) == (2.0, 3.0, 0.5, 1.0)
    assert {type(v) for v in (gp.length_scale, gp.signal_sd, gp.noise_sd, gp.mean)} == {float}
    assert gp.log_likelihood is None
    assert gp.warnings == ()


def test_repr():
    assert repr(GP.se(2, 3, 0.5)) == "GP(kernel='se', length_scale=2, signal_sd=3, noise_sd=0.5, mean=0)"
    assert repr(GP("linear", 3, 0.5)) == "GP(kernel='linear', signal_sd=3, noise_sd=0.5, mean=0)"


def test_kernels_by_name_are_accepted():
    assert GP("matern32", 1, 0.1).kernel.nu == 1.5


def test_length_scale_is_none_where_there_is_no_single_one():
    assert GP("linear", 1, 0.1).length_scale is None
    assert GP(sk.RBF(1.0) + sk.RBF(2.0), 1, 0.1).length_scale is None
    assert_array_equal(GP(sk.RBF([1.0, 2.0]), 1, 0.1).length_scale, [1.0, 2.0])


def test_covariance_is_kernel_times_signal_variance():
    x = np.array([[0.0], [0.5]])
    assert_allclose(GP.se(1, 3, 0.1).covariance(x), 9 * np.exp(-0.5 * np.array([[0, 0.25], [0.25, 0]])))


def test_models_cannot_be_changed():
    with pytest.raises(AttributeError):
        GP.se(1, 1, 0.1).noise_sd = 2


# -- files -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", oracle.KERNELS)
def test_models_survive_a_file_to_the_last_bit(kernel, tmp_path):
    courses, gp, *_ = build("own", kernel)
    gp.save(tmp_path / "model.json")
    again = GP.load(tmp_path / "model.json")
    assert (again.signal_sd, again.noise_sd, again.mean) == (gp.signal_sd, gp.noise_sd, gp.mean)
    assert again.score(courses) == gp.score(courses)
    assert_array_equal(tl.similarity(courses, again).values, tl.similarity(courses, gp).values)


@pytest.mark.parametrize(
    "kernel",
    [sk.RBF(0.1 + 0.2, "fixed"), sk.RBF(0.3, (0.1, 0.5)), sk.ConstantKernel(0.3, "fixed") * sk.RBF(0.3) + sk.RBF(9.0)],
    ids=["fixed", "bounded", "partly fixed"],
)
def test_models_with_fixed_parameters_survive_a_file(kernel, tmp_path):
    courses, *_ = build("own")
    gp = GP(kernel, SIGNAL, NOISE, MEAN)
    gp.save(tmp_path / "model.json")
    assert GP.load(tmp_path / "model.json").score(courses) == pytest.approx(gp.score(courses), rel=1e-14)


def test_models_for_two_coordinates_survive_a_file(tmp_path):
    gp = GP(sk.RBF([1.0, 2.0]), SIGNAL, NOISE, MEAN)
    gp.save(tmp_path / "model.json")
    assert_array_equal(GP.load(tmp_path / "model.json").length_scale, [1.0, 2.0])


def test_fitted_models_keep_likelihood_and_warnings(tmp_path):
    gp = GP(sk.RBF(1.0), 1, 0.1, 0, log_likelihood=-12.5, warnings=('said "twice"', "ünicode"))
    gp.save(tmp_path / "model.json")
    again = GP.load(tmp_path / "model.json")
    assert (again.log_likelihood, again.warnings) == (gp.log_likelihood, gp.warnings)


def test_model_files_are_plain_json(tmp_path):
    GP.se(2, 3, 0.5, 1).save(tmp_path / "model.json")
    assert json.loads((tmp_path / "model.json").read_text()) == {
        "format": "timelike model 1",
        "kernel": {"class": "RBF", "length_scale": 2.0},
        "signal_sd": 3.0,
        "noise_sd": 0.5,
        "mean": 1.0,
        "log_likelihood": None,
        "warnings": [],
        "rough_sd": 0.0,
    }


def test_saving_over_a_model_that_cannot_be_saved_keeps_the_old_one(tmp_path):
    path = tmp_path / "model.json"
    GP.se(2, 3, 0.5).save(path)
    with pytest.raises(InputError, match="PairwiseKernel"):
        GP(sk.PairwiseKernel(), 1, 0.1).save(path)
    assert GP.load(path).length_scale == 2.0
    assert [p.name for p in tmp_path.iterdir()] == ["model.json"]


# -- a model file cannot execute anything ------------------------------------------------------------------------------


class Trap:
    """Sprung when unpickled."""

    def __reduce__(self):
        return (exec, ("import builtins; builtins.sprung = True",))


def test_a_pickle_is_not_a_model(tmp_path):
    (tmp_path / "model.json").write_bytes(pickle.dumps(Trap()))
    with pytest.raises(InputError, match="not a model file"):
        GP.load(tmp_path / "model.json")
    assert not hasattr(builtins, "sprung")


@pytest.mark.parametrize(
    "kernel",
    [
        {"class": "PairwiseKernel", "metric": "linear"},  # takes a callable
        {"class": "__builtins__"},
        {"class": "np"},
        {"class": "Kernel"},
        {"class": "RBF", "__class__": {"class": "RBF"}},
        {"class": "Sum", "k1": {"class": "RBF"}, "k2": {"class": "CompoundKernel", "kernels": []}},
        {"class": "RBF", "length_scale": "__import__('os').system('true')"},
    ],
    ids=lambda k: str(k)[:40],
)
def test_only_the_kernels_that_we_save_are_ever_built(kernel, tmp_path):
    path = tmp_path / "model.json"
    GP.se(2, 3, 0.5).save(path)
    path.write_text(json.dumps(json.loads(path.read_text()) | {"kernel": kernel}))
    with pytest.raises(InputError, match="kernel"):
        GP.load(path)


@pytest.mark.parametrize("name", ["signal_sd", "noise_sd", "mean", "log_likelihood"])
@pytest.mark.parametrize("value", [10**400, "3", True, [1.0]], ids=["large", "text", "truth", "list"])
def test_entries_of_a_model_file_that_are_no_numbers(name, value, tmp_path):
    path = tmp_path / "model.json"
    GP.se(2, 3, 0.5).save(path)
    path.write_text(json.dumps(json.loads(path.read_text()) | {name: value}))
    with pytest.raises(InputError, match=rf"model\.json: {name} is "):
        GP.load(path)


@pytest.mark.parametrize("name", ["signal_sd", "noise_sd", "mean", "rough_sd", "level_sd"])
def test_numbers_whose_squares_are_none_are_refused(name):
    """A model file may come from anybody."""
    with pytest.raises(InputError, match=f"{name} is 1e\\+200, which no computation can use"):
        GP.from_dict(GP.se(1, 1, 1).to_dict() | {name: 1e200})


def test_a_signal_whose_square_is_zero_is_refused():
    with pytest.raises(InputError, match="signal_sd is 1e-200, which no computation can use"):
        GP.se(1, signal_sd=1e-200, noise_sd=1)
