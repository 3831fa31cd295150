"""The numerical contract of docs/numerics.md: the error of s, of sets and of explanations, against fifty digits.

    |error of s| <= 8 (1e-12 + eps (1 + T/l) (1 + V/v)) (n + Q + |s|)

``benchmarks/precision.py`` looks for the worst case among thousands of random ones; here the corners are kept.
"""

import numpy as np
import pytest

import timelike as tl
from contract import ROUTES, bound, courses_of, gp_of
from extended import KERNELS, Case, draw, evidence_of_all, random_case, truth
from timelike.clusters.curves.bound import Clusters, sample
from timelike.gp.information import evidence

RATIOS = [1e-6, 1e-4, 1e-2, 1.0, 1e3]
SCALES = [0.03, 0.5, 30.0]


def check_bound(case):
    """Every route keeps the bound for every pair."""
    data = draw(case)
    courses, gp = courses_of(data), gp_of(case)
    exact = truth(case, data)
    allowed = bound(case, courses, exact)
    for name, way in ROUTES.items():
        share = np.abs(way(courses, gp) - exact.similarity) / allowed
        assert share.max() <= 1, f"{name}: {share.max():.3g} of the bound, {case}"


def least_ratio(kernel, length_scale):
    """The variance of a line grows with its times and offset: its noise is the smallest that is not refused."""
    return 2e-7 * np.hypot(length_scale, 1) if kernel == "linear" else 0.0


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("sampling", ["grid", "replicates", "own"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_from_the_least_noise_to_the_largest_and_from_short_to_long_length_scales(kernel, sampling, ratio):
    for length_scale in SCALES:
        noise = max(ratio, least_ratio(kernel, length_scale))
        check_bound(Case(kernel, length_scale, noise, count=5, sampling=sampling))


@pytest.mark.parametrize("count", [1, 2, 30])
@pytest.mark.parametrize(("kernel", "length_scale"), [("se", 0.3), ("matern32", 3.0)])
def test_from_one_value_to_thirty(kernel, length_scale, count):
    check_bound(Case(kernel, length_scale, 1e-3, count, sampling="own" if count < 30 else "grid"))


@pytest.mark.parametrize("offset", [1e3, 1e6, -1e6])
@pytest.mark.parametrize("sampling", ["grid", "own"])
@pytest.mark.parametrize("kernel", ["se", "matern12", "linear"])
def test_values_far_from_zero_when_the_mean_knows_it(kernel, sampling, offset):
    for ratio in (1e-3, 0.1):
        check_bound(Case(kernel, ratio=ratio, sampling=sampling, offset=offset, signal_sd=0.7))


@pytest.mark.parametrize("start", [-1e2, 1e4, 1e6])
@pytest.mark.parametrize("kernel", ["se", "matern12", "matern52", "periodic"])
def test_times_far_from_zero(kernel, start):
    for sampling in ("grid", "own"):
        check_bound(Case(kernel, ratio=0.1, sampling=sampling, start=start))


@pytest.mark.parametrize("ratio", [1e-4, 1e-1, 10.0])
@pytest.mark.parametrize("kernel", KERNELS)
def test_known_errors_that_differ_from_value_to_value(kernel, ratio):
    for sampling in ("grid", "replicates", "own"):
        check_bound(Case(kernel, ratio=ratio, sampling=sampling, errors=True))


@pytest.mark.parametrize("ratio", [1e-4, 1e-2, 1.0])
@pytest.mark.parametrize("kernel", KERNELS)
def test_values_that_the_model_does_not_expect(kernel, ratio):
    for length_scale in (0.3, 10.0):
        check_bound(Case(kernel, length_scale, ratio, sampling="own", rough=True))


@pytest.mark.parametrize("signal_sd", [1e-9, 1e9])
def test_units_of_the_values(signal_sd):
    for sampling in ("grid", "own"):
        check_bound(Case(ratio=1e-3, sampling=sampling, signal_sd=signal_sd, offset=10.0))


@pytest.mark.parametrize("seed", range(24))
def test_anywhere(seed):
    check_bound(random_case(np.random.default_rng(seed), most=10))


# -- what is made of the similarity -------------------------------------------------------------------------------


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("sampling", ["grid", "replicates", "own"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_an_explanation_adds_up_to_the_similarity(kernel, sampling, ratio):
    case = Case(kernel, 0.5, ratio, sampling=sampling)
    data = draw(case)
    courses, exact = courses_of(data), truth(case, data)
    allowed = bound(case, courses, exact)
    for i, j in [(0, 1), (0, 2)]:
        why = tl.explain(courses, gp_of(case), i, j)
        total = sum(part.sum() for part in why.contributions)
        assert abs(total - exact.similarity[i, j]) <= allowed[i, j]
        assert abs(why.similarity - exact.similarity[i, j]) <= allowed[i, j]


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("sampling", ["grid", "own"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_the_evidence_of_a_set_keeps_the_bound_and_adds_up(kernel, sampling, ratio):
    """``E(all) - sum E(each)`` is the truth, and s(0, 1) plus what course 2 adds to the two."""
    case = Case(kernel, 0.5, ratio, sampling=sampling)
    data = draw(case)
    courses, exact, expected = courses_of(data), truth(case, data), evidence_of_all(case, data)
    found = gp_of(case).at(courses).information
    A, b = found.A[found.design_of], found.b
    alone, of_two, of_all = evidence(A, b), evidence(A[0] + A[1], b[0] + b[1]), evidence(*found.total())
    allowed = bound(case, courses, exact)[0].sum() + bound(case, courses, exact)[1, 2]
    assert abs(of_all - alone.sum() - expected) <= allowed
    pair = tl.similarity(courses, gp_of(case)).values[0, 1]
    assert abs(pair + (of_all - of_two - alone[2]) - expected) <= allowed


@pytest.mark.parametrize("seed", [*range(12), 42, 61, 68, 84, 91, 145, 188, 206, 258, 280])
def test_the_evidence_of_a_cluster_keeps_four_times_the_bound(seed):
    """Directions about which courses say little are left out: for few courses, once, too many of them."""
    case = random_case(np.random.default_rng(seed), most=8)
    data = draw(case)
    courses = courses_of(data)
    state = sample(gp_of(case).at(courses)).at(0.0)
    together = Clusters.of(state, np.array([[1.0, 0.0]] * 3)).evidence[0]
    allowed = 4 * np.triu(bound(case, courses, truth(case, data)), 1).sum()
    assert abs(together - state.own.sum() - evidence_of_all(case, data)) <= allowed


@pytest.mark.parametrize("offset", [1e3, 1e6])
def test_a_fit_does_not_see_the_level_of_the_values(offset):
    """The values themselves are rounded at 1e6; beyond that, nothing is lost."""
    courses, _ = tl.simulate.profiles(noise=0.1, per_group=10, seed=3)
    moved = tl.TimeCourses.from_arrays([c.times for c in courses], [c.values + offset for c in courses])
    here, there = tl.fit(courses), tl.fit(moved)
    np.testing.assert_allclose(
        [there.length_scale, there.signal_sd, there.noise_sd, there.mean - offset],
        [here.length_scale, here.signal_sd, here.noise_sd, here.mean],
        rtol=1e-5,
        atol=1e-6,
    )
    expected = tl.similarity(courses, here).values
    np.testing.assert_allclose(tl.similarity(moved, there).values, expected, rtol=1e-5, atol=1e-5)
