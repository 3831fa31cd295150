"""A rough part: what the replicates of a time share, and the curve has not."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.gaussian_process import kernels as sk

import oracle
import timelike as tl
from timelike import GP, TimeCourses
from timelike.clusters.curves.bound import sample
from timelike.exceptions import FitWarning, InputError
from timelike.gp.likelihood import Likelihood
from timelike.gp.roughened import Roughened
from timelike.gp.wild import Precision, noise_of

GRID = np.repeat([0.0, 0.1, 0.25, 0.5, 0.75, 1.0], 3)
ROUGH = GP(sk.RBF(0.4), signal_sd=1.2, noise_sd=0.2, mean=0.3, rough_sd=0.3)


def drawn(rough=0.3, count=100, times=GRID, seed=0):
    """Courses from the model itself, with signal sd 1, length scale 0.4 and noise sd 0.1."""
    rng = np.random.default_rng(seed)
    C = oracle.se(times, times, 0.4, 1.0) + oracle.shared_within(times, rough) + 0.01 * np.eye(len(times))
    return TimeCourses.from_arrays(times, rng.standard_normal((count, len(times))) @ np.linalg.cholesky(C).T)


def odd(errors=True):
    """Few courses with own times, unequal replicates and, if wanted, errors."""
    rng = np.random.default_rng(1)
    times = [np.repeat(np.sort(rng.random(4)), [1, 2, 3, 1]) for _ in range(6)]
    values = [rng.standard_normal(7) for _ in times]
    known = [rng.uniform(0.05, 0.4, 7) for _ in times] if errors else None
    return TimeCourses.from_arrays(times, values, errors=known)


def dense(*courses):
    """Covariance of the values of all courses, if they have one curve, and their residuals."""
    times = np.concatenate([c.times for c in courses])
    C = oracle.se(times, times, 0.4, 1.2) + 0.04 * np.eye(len(times))
    at = 0
    for c in courses:
        here = slice(at, at + len(c.times))
        C[here, here] += oracle.shared_within(c.times, 0.3) + np.diag(np.zeros(1) if c.errors is None else c.errors**2)
        at += len(c.times)
    return C, np.concatenate([c.values for c in courses])


def log_density(*courses):
    C, values = dense(*courses)
    return oracle.log_density(values, 0.3, C)


@pytest.mark.parametrize("courses", [odd(), odd(errors=False), drawn(count=4)], ids=["errors", "own times", "one grid"])
def test_score_and_similarity_are_the_dense_ones(courses):
    one = [log_density(c) for c in courses]
    assert_allclose(ROUGH.score(courses), sum(one), rtol=1e-11)
    S = [[log_density(a, b) - one[i] - one[j] for j, b in enumerate(courses)] for i, a in enumerate(courses)]
    assert_allclose(tl.similarity(courses, ROUGH).values, S, rtol=1e-9, atol=1e-9)
    explained = tl.explain(courses, ROUGH, 0, 1)
    assert_allclose(np.concatenate(explained.contributions).sum(), S[0][1], rtol=1e-9, atol=1e-9)


def test_the_curve_is_the_dense_one():
    courses, asked = odd(), np.array([0.05, 0.5, 2.0])
    C, values = dense(*courses)
    times = np.concatenate([c.times for c in courses])
    cross = oracle.se(asked, times, 0.4, 1.2)
    curve = ROUGH.posterior(courses, asked)
    assert_allclose(curve.mean, 0.3 + cross @ np.linalg.solve(C, values - 0.3), rtol=1e-9)
    variance = 1.44 - np.einsum("ij,ji->i", cross, np.linalg.solve(C, cross.T))
    assert_allclose(curve.sd, np.sqrt(variance), rtol=1e-8)


def test_what_a_course_has_beside_its_evidence():
    courses = odd()
    state = sample(ROUGH.at(courses)).at(0.0)
    assert_allclose(state.own + state.c, [log_density(c) for c in courses], rtol=1e-9)


def test_gradient_is_that_of_differences():
    likelihood, step = Likelihood(odd(), Roughened(sk.RBF(1.0)), None), 1e-5
    place = np.log([0.4, 0.2, 1.1, 0.05])
    found = likelihood(place).gradient
    differences = [(likelihood(place + s).value - likelihood(place - s).value) / (2 * step) for s in step * np.eye(4)]
    assert_allclose(found, differences, rtol=1e-6, atol=1e-6)


def test_a_rough_part_that_is_there_is_found_and_one_that_is_not_costs_nothing():
    with pytest.warns(FitWarning, match="replicates share a rough part"):
        gp = tl.fit(drawn(0.3), rough=True)
    assert gp.rough_sd == pytest.approx(0.3, rel=0.15)
    assert gp.noise_sd == pytest.approx(0.1, rel=0.1)
    assert gp.length_scale == pytest.approx(0.4, rel=0.15)
    smooth = drawn(0.0)
    plain, asked = tl.fit(smooth), tl.fit(smooth, rough=True)
    assert asked.rough_sd == 0.0
    assert (asked.length_scale, asked.noise_sd, asked.mean) == (plain.length_scale, plain.noise_sd, plain.mean)


def test_without_it_the_curve_bends_to_follow_the_rough_part():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        gp = tl.fit(drawn(0.3), clock="linear")
    assert gp.length_scale < 0.3
    assert gp.rough_sd == 0.0


def test_a_model_with_a_rough_part_in_a_file(tmp_path):
    ROUGH.save(tmp_path / "model.json")
    again = GP.load(tmp_path / "model.json")
    assert again.rough_sd == 0.3
    assert repr(again) == repr(ROUGH)
    assert "rough_sd=0.3" in repr(ROUGH)


def test_wild_values_beside_a_rough_part():
    clean = drawn(0.3)
    values = clean.values.reshape(len(clean), -1).copy()
    rows = np.arange(0, len(clean), 3)
    values[rows, rows % values.shape[1]] += 3.0
    with pytest.warns(FitWarning) as heard:
        gp = tl.fit(TimeCourses.from_arrays(GRID, values), rough=True)
    assert gp.noise_sd == pytest.approx(0.1, rel=0.15)
    assert gp.rough_sd == pytest.approx(0.3, rel=0.2)
    assert any("values are wild" in str(w.message) for w in heard)


@pytest.mark.parametrize("courses", [odd(), drawn(count=2)], ids=["own times", "one grid"])
def test_values_are_judged_with_the_rough_part(courses):
    here = ROUGH.at(courses)
    for g, members in enumerate(courses.members):
        found = Precision.of(here, g, noise_of(here, g)).matrix
        assert_allclose(found, np.linalg.inv(dense(courses[int(members[0])])[0]), rtol=1e-8, atol=1e-8)


def test_bad_input():
    courses, _ = tl.simulate.profiles(seed=1)
    with pytest.raises(InputError, match="no course has replicates"):
        tl.fit(courses, rough=True)
    with pytest.raises(InputError, match="rough_sd is -1"):
        GP(sk.RBF(), 1.0, 0.1, rough_sd=-1)
    with pytest.raises(InputError, match="rough part"):
        tl.mixture_from_chunks([drawn()], ROUGH)
