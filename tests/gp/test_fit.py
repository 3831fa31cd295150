import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.gaussian_process import kernels as sk

import oracle
import timelike as tl
from timelike import GP, TimeCourses
from timelike.exceptions import FitWarning, InputError
from timelike.gp.fit import Objective, first_sample, most_likely
from timelike.gp.likelihood import Likelihood
from timelike.gp.search_space import search_space


def draw(kernel, times, count, noise_sd, signal_sd=1.0, mean=0.0, seed=0):
    """Courses from the model itself."""
    rng = np.random.default_rng(seed)
    K = kernel(np.asarray(times)[:, None])
    weight, vectors = np.linalg.eigh(K)
    root = vectors * np.sqrt(np.maximum(weight, 0))
    curves = signal_sd * rng.standard_normal((count, len(times))) @ root.T
    return TimeCourses.from_arrays(times, mean + curves + noise_sd * rng.standard_normal(curves.shape))


def quietly(courses, *arguments, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        return tl.fit(courses, *arguments, **settings)


# -- golden values ----------------------------------------------------------------------------------------------------


def test_genes(genes):
    """Maximum of the likelihood of the paper's gene data, from the method note (checked there with dense formulas)."""
    gp = tl.fit(genes)
    assert gp.log_likelihood == pytest.approx(-29056.32, abs=0.005)
    assert gp.length_scale == pytest.approx(54.52, abs=0.005)
    assert gp.signal_sd == pytest.approx(3.2496, abs=5e-5)
    assert gp.noise_sd == pytest.approx(0.35865, abs=1e-5)
    assert gp.mean == pytest.approx(9.4076, abs=5e-5)
    assert gp.warnings == ()
    assert gp.score(genes) == pytest.approx(gp.log_likelihood, rel=1e-12)


def test_genes_where_the_authors_optimiser_stopped(genes):
    gp = GP.se(1.0, signal_sd=3.17884, noise_sd=0.358086, mean=9.491161)
    assert gp.score(genes) == pytest.approx(-32027.06, abs=0.005)


def test_the_authors_fit_of_24_courses(reference):
    """Figures of their program (see the README of the reference data), to the digits to which it had converged."""
    gp = tl.fit(TimeCourses.from_arrays(np.linspace(0, 1, 15), reference("asynchronous_values.csv")))
    assert gp.log_likelihood == pytest.approx(250.2093752, abs=1e-6)
    assert gp.log_likelihood >= 250.2093752 - 5e-8
    assert gp.length_scale == pytest.approx(0.91447457, rel=1e-6)
    assert gp.signal_sd == pytest.approx(0.65340915, rel=1e-6)
    assert gp.noise_sd == pytest.approx(0.077420741, rel=1e-6)
    assert gp.mean == pytest.approx(0.0048398656, rel=1e-5)


@pytest.mark.parametrize(
    "kernel", ["se", "matern32", sk.RBF() * sk.ConstantKernel(2.0, "fixed"), sk.RationalQuadratic()]
)
def test_no_small_step_is_better(kernel):
    """At the optimum the oracle's likelihood falls in every direction."""
    courses, _ = tl.simulate.replicated(per_group=4, seed=2)
    gp = quietly(courses, kernel)
    best = gp.score(courses)
    for factor in (0.98, 1.02):
        steps = [GP(gp.kernel, gp.signal_sd * factor, gp.noise_sd, gp.mean)]
        steps += [GP(gp.kernel, gp.signal_sd, gp.noise_sd * factor, gp.mean)]
        steps += [GP(gp.kernel, gp.signal_sd, gp.noise_sd, gp.mean + np.log(factor) * gp.signal_sd)]
        steps += [GP(gp.kernel.clone_with_theta(gp.kernel.theta + np.log(factor)), gp.signal_sd, gp.noise_sd, gp.mean)]
        for other in steps[:3] if gp.warnings else steps:
            assert other.score(courses) < best


@pytest.mark.parametrize("kernel", ["se", "matern32", "linear"])
def test_the_slope_is_zero_to_the_last_digits(kernel):
    """A difference of likelihoods cannot see beyond eight digits of a parameter; the fit goes further."""
    courses, _ = tl.simulate.profiles(per_group=6, seed=1)
    gp = tl.fit(courses, kernel)
    parameters = np.concatenate([gp.kernel.theta, 2 * np.log([gp.signal_sd, gp.noise_sd])])
    score = Likelihood(courses, gp.kernel, None)(parameters)
    assert np.abs(score.gradient).max() < 1e-12 * len(courses.values)
    assert score.mean == pytest.approx(gp.mean, rel=1e-12)


# -- units ------------------------------------------------------------------------------------------------------------

UNITS = {
    "days": (1 / 24, 1, 0),
    "seconds": (3600, 1, 0),
    "values x 1000": (1, 1000, 0),
    "values / 1e6": (1, 1e-6, 0),
    "another level": (1, 1, 1e4),
    "all at once": (60, 1e3, -500),
}


@pytest.mark.parametrize("units", UNITS)
def test_genes_in_other_units(genes, units):
    """The same similarities to 1e-6, whatever the units of time and value."""
    time, value, level = UNITS[units]
    t, Y = genes.grid, genes.values.reshape(len(genes), -1)
    gp, other = tl.fit(genes), tl.fit(TimeCourses.from_arrays(time * t, value * Y + level))
    assert other.length_scale == pytest.approx(time * gp.length_scale, rel=1e-7)
    assert other.noise_sd == pytest.approx(value * gp.noise_sd, rel=1e-7)
    chosen = genes[:300]
    there = TimeCourses.from_arrays(time * t, value * Y[:300] + level)
    assert_allclose(tl.similarity(there, other).values, tl.similarity(chosen, gp).values, rtol=1e-6, atol=1e-6)


MODELS = {
    "se": ("se", sk.RBF(1.0)),
    "matern12": ("matern12", sk.Matern(1.0, nu=0.5)),
    "matern52": ("matern52", sk.Matern(1.0, nu=2.5)),
    "periodic": ("periodic", sk.ExpSineSquared(1.0, 3.0)),
    "linear": ("linear", sk.DotProduct(1.0)),
    "with a factor": (sk.ConstantKernel() * sk.RBF(), sk.RBF(1.0)),
}


@pytest.mark.parametrize("units", UNITS)
@pytest.mark.parametrize("model", MODELS)
def test_every_kernel_in_other_units(model, units):
    kernel, truth = MODELS[model]
    time, value, level = UNITS[units]
    t = np.repeat(np.linspace(0, 4, 7), 2)
    Y = draw(truth, t, 25, 0.2, seed=8).values.reshape(25, -1)
    here, there = TimeCourses.from_arrays(t, Y), TimeCourses.from_arrays(time * t, value * Y + level)
    S, T = (tl.similarity(c, quietly(c, kernel)).values for c in (here, there))
    assert_allclose(T, S, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("scale", [1e-90, 1e90])
def test_extreme_units(scale):
    t = np.linspace(0, 4, 7)
    Y = draw(sk.RBF(1.0), t, 25, 0.2, seed=8).values.reshape(25, -1)
    S = tl.similarity(*(lambda c: (c, tl.fit(c)))(TimeCourses.from_arrays(t, Y))).values
    for a, b in ((scale, 1), (1, scale), (scale, 1 / scale)):
        there = TimeCourses.from_arrays(a * t, b * Y)
        assert_allclose(tl.similarity(there, tl.fit(there)).values, S, rtol=1e-6, atol=1e-6)


def test_the_order_of_courses_does_not_matter():
    courses, _ = tl.simulate.profiles(per_group=5, sampling="asynchronous")
    gp, back = tl.fit(courses), tl.fit(courses[::-1])
    assert back.length_scale == pytest.approx(gp.length_scale, rel=1e-8)
    assert back.noise_sd == pytest.approx(gp.noise_sd, rel=1e-8)


# -- recovery ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("length_scale", [0.25, 0.5, 1.5])
@pytest.mark.parametrize("noise_sd", [0.05, 0.3])
def test_simulated_hyperparameters_come_back(length_scale, noise_sd):
    times = np.linspace(0, 2, 11)
    courses = draw(sk.RBF(length_scale), times, 400, 3 * noise_sd, signal_sd=3.0, mean=7.0)
    gp = tl.fit(courses)
    assert gp.length_scale == pytest.approx(length_scale, rel=0.06)
    assert gp.signal_sd == pytest.approx(3.0, rel=0.06)
    assert gp.noise_sd == pytest.approx(3 * noise_sd, rel=0.04)
    assert gp.mean == pytest.approx(7.0, abs=0.4)
    assert gp.log_likelihood > GP.se(length_scale, 3.0, 3 * noise_sd, 7.0).score(courses)


def test_a_simulated_period_comes_back():
    courses = draw(sk.ExpSineSquared(1.0, 0.7), np.linspace(0, 2, 16), 60, 0.1, seed=3)
    gp = quietly(courses, "periodic")
    assert gp.kernel.periodicity == pytest.approx(0.7, rel=0.02)


def test_known_errors_are_taken_off_the_noise():
    """Values with errors between 0.03 and 0.3 and no other noise: what remains is small against them."""
    courses, _ = tl.simulate.uneven_errors(seed=1)
    assert quietly(courses).noise_sd < 0.03
    plain = TimeCourses.from_arrays(courses.grid, courses.values.reshape(len(courses), -1))
    assert quietly(plain).noise_sd > 0.08


def test_recovery_from_own_times():
    rng = np.random.default_rng(4)
    times = [np.sort(3 * rng.random(6)) for _ in range(80)]
    values = []
    for x in times:
        C = oracle.se(x, x, 0.6, 1.0) + 0.04 * np.eye(6)
        values.append(np.linalg.cholesky(C) @ rng.standard_normal(6))
    gp = tl.fit(TimeCourses.from_arrays(times, values))
    assert gp.length_scale == pytest.approx(0.6, rel=0.12)
    assert gp.noise_sd == pytest.approx(0.2, rel=0.15)


def test_a_sample_first_ends_at_the_same_optimum():
    courses, _ = tl.simulate.profiles(per_group=80, sampling="asynchronous")
    assert len(first_sample(courses, 1000)) == 200
    objective, space = Objective(courses, sk.RBF(), None), search_space(courses, sk.RBF(), None)
    whole, sampled = (most_likely(objective, space, sample_cost=cost) for cost in (np.inf, 1000))
    assert sampled.score.value == pytest.approx(whole.score.value, rel=1e-12)
    assert_allclose(sampled.place, whole.place, atol=1e-7)


def test_the_same_fit_twice_gives_the_same_bits():
    courses, _ = tl.simulate.profiles(per_group=5)
    first, second = tl.fit(courses), tl.fit(courses)
    assert (first.length_scale, first.noise_sd, first.mean) == (second.length_scale, second.noise_sd, second.mean)


# -- means ------------------------------------------------------------------------------------------------------------


def test_means():
    courses = draw(sk.RBF(0.5), np.linspace(0, 2, 9), 40, 0.2, mean=3.0)
    free, zero, given = tl.fit(courses), quietly(courses, mean="zero"), tl.fit(courses, mean=3.0)
    assert free.mean == pytest.approx(3.0, abs=0.3)
    assert (zero.mean, given.mean) == (0.0, 3.0)
    assert free.log_likelihood >= given.log_likelihood > zero.log_likelihood
    assert zero.signal_sd > given.signal_sd


# -- kernels ----------------------------------------------------------------------------------------------------------


def test_fixed_parameters_stay():
    courses, _ = tl.simulate.profiles(per_group=8)
    gp = tl.fit(courses, sk.RBF(0.7, "fixed"))
    assert gp.length_scale == 0.7
    assert gp.log_likelihood < tl.fit(courses).log_likelihood


def test_a_sum_is_at_least_as_likely_as_its_parts():
    times = np.linspace(0, 3, 12)
    both = draw(sk.RBF(1.5) + 0.3 * sk.Matern(0.4, nu=0.5), times, 60, 0.1)
    kernel = sk.RBF() + sk.ConstantKernel() * sk.Matern(nu=0.5)
    assert quietly(both, kernel).log_likelihood > quietly(both, "se").log_likelihood + 1


def test_a_product_describes_a_wave_that_drifts():
    times = np.linspace(0, 3, 16)
    courses = draw(sk.RBF(1.5) * sk.ExpSineSquared(1.0, 0.8), times, 60, 0.1)
    gp = quietly(courses, sk.RBF() * sk.ExpSineSquared())
    assert gp.kernel.k2.periodicity == pytest.approx(0.8, rel=0.1)
    assert gp.log_likelihood > quietly(courses, "se").log_likelihood + 1


def test_a_constant_factor_changes_nothing_but_its_own_name():
    """signal variance x constant is one number: the same model, found twice, and no false alarm."""
    courses, _ = tl.simulate.profiles(per_group=8, seed=1)
    plain, twice = tl.fit(courses), quietly(courses, sk.ConstantKernel() * sk.RBF())
    assert twice.log_likelihood == pytest.approx(plain.log_likelihood, abs=1e-6)
    assert twice.noise_sd == pytest.approx(plain.noise_sd, rel=1e-4)
    assert not any("noise cannot be told apart" in sentence for sentence in twice.warnings)


def test_two_coordinates():
    rng = np.random.default_rng(0)
    places = rng.random((12, 2)) * [1.0, 10.0]
    weight, vectors = np.linalg.eigh(sk.RBF([0.5, 5.0])(places))
    curves = rng.standard_normal((80, 12)) @ (vectors * np.sqrt(np.maximum(weight, 0))).T
    courses = TimeCourses.from_arrays(places, curves + 0.1 * rng.standard_normal(curves.shape))
    gp = tl.fit(courses, sk.RBF([1.0, 1.0]))
    assert_allclose(gp.length_scale, [0.5, 5.0], rtol=0.15)


# -- the edges ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mean", ["constant", "zero", 2.0])
def test_nothing_to_fit(mean):
    same = TimeCourses.from_arrays([0, 1], [[2, 2], [2, 2]])
    if mean == "zero":
        with pytest.warns(FitWarning):
            assert np.isfinite(tl.fit(same, mean=mean).log_likelihood)
    else:
        with pytest.raises(InputError, match="nothing to fit"):
            tl.fit(same, mean=mean)


@pytest.mark.parametrize("period", [4.5, 6.0, 7.5, 13.5, 20.0])
def test_the_period_is_found_wherever_it_is(period):
    rng = np.random.default_rng(0)
    t = np.arange(0, 48, 2.0)
    waves = rng.normal(1, 0.3, (20, 1)) * np.sin(2 * np.pi * (t / period + rng.random((20, 1))))
    courses = TimeCourses.from_arrays(t, waves + 0.1 * rng.standard_normal(waves.shape))
    near = quietly(courses, sk.ExpSineSquared(1.0, period, periodicity_bounds=(0.97 * period, 1.03 * period)))
    assert quietly(courses, "periodic").log_likelihood > near.log_likelihood - 0.01
