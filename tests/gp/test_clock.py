"""The clock: time that runs slower and slower, wherever a model goes."""

import re
import warnings
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.gaussian_process import kernels as sk

import oracle
import timelike as tl
from timelike import GP, TimeCourses
from timelike.exceptions import FitWarning, InputError
from timelike.gp import kernels
from timelike.gp.clock import Clocked
from timelike.gp.fit import Search, choose
from timelike.gp.likelihood import Likelihood
from timelike.gp.search_space import slows_down

TIMES = np.array([0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 12.0, 24.0])


def slowing(tau=2.0, count=60, noise=0.15, times=TIMES, seed=0, own=False):
    """Courses whose curves are smooth on a clock with this tau, with length scale 1.5 there."""
    rng = np.random.default_rng(seed)
    drawn = [np.sort(rng.permutation(times)[: rng.integers(5, len(times))]) if own else times for _ in range(count)]
    at = [oracle.log_clock(x, tau, times[0]) for x in drawn]
    roots = [np.linalg.cholesky(oracle.se(c, c, 1.5, 1.0) + 1e-10 * np.eye(len(c))) for c in at]
    values = [root @ rng.standard_normal(len(root)) + noise * rng.standard_normal(len(root)) for root in roots]
    return TimeCourses.from_arrays(drawn if own else times, values if own else np.array(values))


def quietly(courses, *arguments, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        return tl.fit(courses, *arguments, **settings)


def clocked(tau=2.0, start=0.0, kernel=None):
    return GP(Clocked(kernel or sk.RBF(1.5), tau, start), signal_sd=1.2, noise_sd=0.2, mean=0.3)


def on_clock(courses, tau, start=0.0):
    """The same values at the times that the clock shows, by the oracle."""
    frame = courses.to_frame()
    times = frame["time"].to_numpy()
    frame["time"] = oracle.asinh_clock(times, tau) if start is None else oracle.log_clock(times, tau, start)
    return TimeCourses.from_long(frame)


PLAIN = GP.se(1.5, signal_sd=1.2, noise_sd=0.2, mean=0.3)


# -- the kernel -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("start", [0.0, 0.25, None])
def test_times_on_the_clock(start):
    times = np.array([-3.0, -0.1, 0.0, 0.25, 0.3, 7.0, 1e4])
    expected = oracle.asinh_clock(times, 2.5) if start is None else oracle.log_clock(times, 2.5, start)
    assert_allclose(Clocked(sk.RBF(), 2.5, start).time(times), expected, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("start", [0.0, 1.0, None])
@pytest.mark.parametrize(
    "inside",
    [sk.RBF(1.3), sk.Matern(1.3, nu=1.5), sk.Matern(1.3, nu=2.5), sk.Matern(1.3, nu=0.5), sk.RBF(1.3, "fixed")],
)
def test_gradient_is_that_of_differences(inside, start):
    kernel, step = Clocked(inside, 1.7, start), 1e-6
    points = np.array([-2.0, 0.0, 0.1, 0.1, 3.0, 40.0])[:, None]
    K, gradient = kernel(points, eval_gradient=True)
    assert_allclose(K, kernel(points), rtol=1e-14)
    assert gradient.shape == (6, 6, kernel.n_dims)
    for p, shift in enumerate(step * np.eye(kernel.n_dims)):
        up, down = (kernel.clone_with_theta(kernel.theta + sign * shift)(points) for sign in (1, -1))
        assert_allclose(gradient[:, :, p], (up - down) / (2 * step), atol=1e-8)


def test_a_fixed_tau_has_no_gradient():
    kernel = Clocked(sk.RationalQuadratic(1.0, 2.0), 3.0, 0.0, "fixed")
    K, gradient = kernel(TIMES[:, None], eval_gradient=True)
    assert_allclose(K, kernel(TIMES[:, None]), rtol=1e-14)
    assert gradient.shape == (8, 8, 2)


def test_only_a_kernel_of_the_distance_has_a_free_clock():
    with pytest.raises(InputError, match="give its tau"):
        Clocked(sk.DotProduct(), 3.0, 0.0)(TIMES[:, None], eval_gradient=True)


def test_a_clock_is_a_clock_of_time():
    plane = TimeCourses.from_arrays(np.zeros((3, 2)) + np.arange(3)[:, None], np.arange(6.0).reshape(2, 3))
    with pytest.raises(InputError, match="a clock runs in time"):
        clocked().score(plane)
    assert quietly(plane).clock is None


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("kernel", ["se", "matern32"])
def test_likelihood_and_gradient(own, kernel):
    courses = slowing(count=12, own=own)
    likelihood = Likelihood(courses, Clocked(kernels.resolve(kernel), 1.0, 0.0), None)
    place, step = np.log([1.4, 2.2, 1.3, 0.05]), 1e-5
    score = likelihood(place)
    assert score.gradient.shape == (4,)
    differences = [(likelihood(place + s).value - likelihood(place - s).value) / (2 * step) for s in step * np.eye(4)]
    assert_allclose(score.gradient, differences, rtol=1e-6, atol=1e-6)

    def covariance(x, z):
        x, z = (oracle.log_clock(t, 2.2, 0.0) for t in (x, z))
        return getattr(oracle, kernel)(x, z, 1.4, np.sqrt(1.3))

    one = [c.times for c in courses], [c.values for c in courses]
    assert_allclose(score.value, oracle.score(*one, covariance, 0.05, score.mean), rtol=1e-11)


# -- wherever a model goes --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("start", [0.0, None])
def test_a_clock_does_what_other_times_would_do(own, start):
    courses, gp = slowing(count=15, own=own), clocked(3.0, start)
    other = on_clock(courses, 3.0, start)
    assert_allclose(gp.score(courses), PLAIN.score(other), rtol=1e-12)
    S = tl.similarity(courses, gp).values
    assert_allclose(S, tl.similarity(other, PLAIN).values, rtol=1e-9, atol=1e-9)
    rows, columns = tl.neighbors(courses, gp, k=3), tl.neighbors(other, PLAIN, k=3)
    assert_array_equal(rows.indices, columns.indices)
    assert_allclose(rows.scores, columns.scores, rtol=1e-9, atol=1e-9)
    parts = [np.concatenate(tl.explain(c, m, 0, 1).contributions) for c, m in ((courses, gp), (other, PLAIN))]
    assert_allclose(*parts, rtol=1e-9, atol=1e-9)
    asked = np.array([0.1, 3.0, 20.0])
    there = on_clock(TimeCourses.from_arrays(asked, [[0, 0, 0]]), 3.0, start).times
    assert_allclose(gp.posterior(courses, asked), PLAIN.posterior(other, there), rtol=1e-9, atol=1e-9)
    found, beside = (tl.mixture(c, m, k=3, robust=False) for c, m in ((courses, gp), (other, PLAIN)))
    assert_array_equal(found.labels, beside.labels)
    assert_allclose(found.curve(1, asked), beside.curve(1, there), rtol=1e-8, atol=1e-8)
    tree, twin = (tl.evidence_linkage(c, m) for c, m in ((courses, gp), (other, PLAIN)))
    assert_allclose(tree.linkage, twin.linkage, rtol=1e-8, atol=1e-8)


def test_similarity_is_the_oracles():
    courses = slowing(count=6, own=True)

    def covariance(x, z):
        return oracle.se(oracle.log_clock(x, 3.0, 0.0), oracle.log_clock(z, 3.0, 0.0), 1.5, 1.2)

    expected = oracle.similarity_matrix([c.times for c in courses], [c.values for c in courses], covariance, 0.04, 0.3)
    assert_allclose(tl.similarity(courses, clocked(3.0)).values, expected, rtol=1e-9, atol=1e-9)


def test_a_model_on_a_clock_in_a_file(tmp_path):
    for gp in (clocked(3.0, 0.5), clocked(3.0, None), GP.se(1, 1, 0.1, clock=7)):
        gp.save(tmp_path / "model.json")
        again = GP.load(tmp_path / "model.json")
        assert (again.clock, again.kernel.start, again.length_scale) == (gp.clock, gp.kernel.start, gp.length_scale)
        assert "clock=" in repr(again)


# -- the fit ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("own", [False, True])
def test_a_clock_that_is_there_is_found(own):
    courses = slowing(tau=2.0, count=150, own=own)
    plain = quietly(courses, clock="linear")
    with pytest.warns(FitWarning, match=r"logarithmic clock from 0 on \(tau [12].*over plain time"):
        gp = tl.fit(courses)
    assert gp.clock == pytest.approx(2.0, rel=0.25)
    assert gp.length_scale == pytest.approx(1.5, rel=0.15)
    assert gp.noise_sd == pytest.approx(0.15, rel=0.1)
    assert gp.log_likelihood > plain.log_likelihood + 10
    assert gp.score(courses) == pytest.approx(gp.log_likelihood, rel=1e-12)
    assert plain.clock is None


def test_at_the_optimum_the_likelihood_falls_in_every_direction():
    courses = slowing()
    gp = quietly(courses)
    best = gp.score(courses)
    for shift in 0.02 * np.vstack([np.eye(2), -np.eye(2)]):
        other = GP(gp.kernel.clone_with_theta(gp.kernel.theta + shift), gp.signal_sd, gp.noise_sd, gp.mean)
        assert other.score(courses) < best


def test_times_before_an_event_at_zero():
    times = np.array([-12.0, -4.0, -1.0, 0.0, 0.5, 1.0, 2.0, 5.0, 12.0, 30.0])
    rng = np.random.default_rng(1)
    c = oracle.asinh_clock(times, 1.5)
    root = np.linalg.cholesky(oracle.se(c, c, 1.0, 1.0) + 1e-10 * np.eye(10))
    values = rng.standard_normal((150, 10)) @ root.T + 0.1 * rng.standard_normal((150, 10))
    with pytest.warns(FitWarning, match="both sides of 0"):
        gp = tl.fit(TimeCourses.from_arrays(times, values))
    assert gp.kernel.start is None
    assert gp.clock == pytest.approx(1.5, rel=0.3)


def test_a_given_tau_is_kept():
    gp = quietly(slowing(), clock=5.0)
    assert gp.clock == 5.0
    fine = quietly(slowing(), clock=0.01)  # the bounds of the length scale are those of the clock
    assert not any("bound" in sentence for sentence in fine.warnings)
    assert gp.log_likelihood == pytest.approx(tl.fit(on_clock(slowing(), 5.0), clock="linear").log_likelihood, rel=1e-9)


@settings(max_examples=8, deadline=None)
@given(st.floats(0.01, 100), st.floats(-50, 50).filter(lambda x: x + TIMES[0] >= 0 or x + TIMES[-1] <= 0))
def test_units_and_shifts_of_time_do_not_matter(unit, shift):
    courses = slowing(count=40)
    gp = quietly(courses)
    other = quietly(TimeCourses.from_arrays(unit * (TIMES + shift), courses.values.reshape(40, -1)))
    assert other.clock == pytest.approx(unit * gp.clock, rel=1e-4)
    assert other.log_likelihood == pytest.approx(gp.log_likelihood, rel=1e-9)


def test_even_times_stay_plain_time(genes):
    assert not slows_down(genes)
    for sampling, uneven in (("even", False), ("uneven", True), ("asynchronous", False)):
        courses, _ = tl.simulate.profiles(sampling=sampling, seed=1)
        assert slows_down(courses) == uneven
        gp, plain = tl.fit(courses), tl.fit(courses, clock="linear")
        assert (gp.clock, gp.log_likelihood, gp.length_scale) == (None, plain.log_likelihood, plain.length_scale)


def test_own_times_ask_for_a_clock_where_they_are_sparse_late():
    rng = np.random.default_rng(0)
    values = list(rng.standard_normal((50, 6)))
    assert not slows_down(TimeCourses.from_arrays(list(rng.uniform(0, 100, (50, 6))), values))
    assert slows_down(TimeCourses.from_arrays(list(rng.exponential(10, (50, 6))), values))


def test_kernels_of_plain_time_stay_on_it():
    courses = slowing()
    assert quietly(courses, "linear").clock is None
    assert quietly(courses, sk.RBF() + sk.DotProduct()).clock is None
    assert quietly(courses, sk.RBF() + sk.DotProduct(), clock=3.0).clock == 3.0


def test_kernel_by_evidence():
    courses = slowing(count=150)
    gp = quietly(courses, "auto")
    assert re.search("likeliest kernel is se on a clock; .*others cost: se .*matern52 .*matern32 on a", gp.warnings[1])
    assert kernels.name_of(gp.kernel) == "se"
    assert gp.clock == pytest.approx(2.0, rel=0.25)
    rough = TimeCourses.from_arrays(*_rough())
    with pytest.warns(FitWarning, match=r"likeliest kernel is matern32; .* se [1-9]"):
        assert kernels.name_of(tl.fit(rough, "auto").kernel) == "matern32"


def _rough():
    times, rng = np.linspace(0, 1, 15), np.random.default_rng(3)
    root = np.linalg.cholesky(oracle.matern32(times, times, 0.3, 1.0) + 1e-10 * np.eye(15))
    return times, rng.standard_normal((100, 15)) @ root.T + 0.05 * rng.standard_normal((100, 15))


def test_a_kernel_that_has_a_clock_already():
    courses = slowing(count=40)
    gp = quietly(courses)
    again, plain = quietly(courses, gp.kernel), quietly(courses, gp.kernel, clock="linear")
    assert (again.clock, again.log_likelihood) == (gp.clock, gp.log_likelihood)
    assert (plain.clock, plain.log_likelihood) == (None, quietly(courses, clock="linear").log_likelihood)
    assert quietly(courses, gp.kernel, clock=3.0).clock == 3.0
    assert quietly(courses, GP.se(1, 1, 0.1, clock=2.0).kernel).clock == 2.0
    assert quietly(courses, sk.Matern(nu=np.inf)).clock == pytest.approx(gp.clock, rel=1e-6)


def test_a_given_tau_is_given_in_a_file_too():
    gp = quietly(slowing(count=20), clock=2.0)
    again = GP.from_dict(gp.to_dict())
    assert again.kernel.tau_bounds == "fixed"
    assert again.kernel.n_dims == gp.kernel.n_dims == 1
    free = quietly(slowing(count=40))
    assert GP.from_dict(free.to_dict()).kernel.n_dims == 2


def test_the_sentence_has_the_tau_of_the_model():
    search = Search([sk.RBF()], None, "auto", False, lambda _: None)
    early, late = slowing(tau=1.0, count=100), slowing(tau=6.0, count=100, seed=1)
    first, again = search(early, early), search(late, late, again=True)
    assert again.clock > 2 * first.clock
    for gp in (first, again):
        assert f"(tau {gp.clock:.3g})" in gp.warnings[0]


class Tried(NamedTuple):
    log_likelihood: float
    by_clock: float | None = None


@pytest.mark.parametrize(("gain", "taken"), [(9.9, False), (10.1, True)])
def test_a_clock_has_to_gain_clearly(gain, taken):
    plain, clock = Tried(100.0), Tried(100.0 + gain, gain)
    assert choose([plain, clock]) is (clock if taken else plain)


# -- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("clock", [0, -1.0, np.nan, np.inf, "log", None, True, "24"])
def test_a_clock_is_auto_linear_or_a_number(clock):
    with pytest.raises(InputError, match="expected 'auto', 'linear', or tau, a number above zero"):
        tl.fit(slowing(), clock=clock)
    if not isinstance(clock, str) and clock is not None and clock is not True:
        with pytest.raises(InputError, match="clock is"):
            GP.se(1, 1, 0.1, clock=clock)


def test_one_or_two_distinct_times():
    for times in ([0.0, 0.0, 0.0], [0.0, 9.0, 9.0]):
        courses = TimeCourses.from_arrays(times, np.random.default_rng(0).standard_normal((20, 3)))
        assert quietly(courses).clock is None
        assert re.search("distinct times?: a clock does nothing there", quietly(courses, clock=3.0).warnings[0])


def test_tau_at_a_bound_is_said():
    times = np.array([0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 64.0, 512.0])
    rng = np.random.default_rng(5)
    c = np.log(times + 0.001)  # far faster at first than any clock that the times can show
    root = np.linalg.cholesky(oracle.se(c, c, 1.0, 1.0) + 1e-10 * np.eye(8))
    values = rng.standard_normal((300, 8)) @ root.T + 0.05 * rng.standard_normal((300, 8))
    gp = quietly(TimeCourses.from_arrays(times, values))
    assert any(
        "lower bound of the clock's tau (0.1): time counts by its logarithm" in sentence for sentence in gp.warnings
    )
