"""The mixture against dense Gaussians and against all assignments of a handful of courses."""

import itertools
import pickle
import warnings
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaln, logsumexp
from sklearn.gaussian_process.kernels import ExpSineSquared, Matern

import timelike as tl
from timelike.clusters.curves import curve_clustering
from timelike.clusters.curves.ascent import Effort, best_spread, climb, climb_learning, fit_k, one_hot, walk
from timelike.clusters.curves.bound import (
    NONE,
    AnySpread,
    Clusters,
    Fit,
    Given,
    Rule,
    log_prior,
    sample,
    scores,
    soften,
)
from timelike.clusters.curves.left_out import left_out, predictive
from timelike.clusters.curves.membership import chances, kept
from timelike.clusters.curves.mixture import choose, mixture
from timelike.clusters.curves.noise import COMMON, Noise
from timelike.clusters.curves.noise_search import FREEDOMS, _told, noise_of
from timelike.clusters.curves.one_cluster import clearly_several, glimpse, one_cluster
from timelike.clusters.nmi import nmi
from timelike.gp.information import evidence

GP = tl.GP.se(0.7, signal_sd=0.6, noise_sd=0.1, mean=0.1)


def kernel(x, y):
    return 0.6**2 * np.exp(-((x[:, None] - y) ** 2) / (2 * 0.7**2))


def log_density(courses, members, spread=0.0):
    """Log density of all values of some courses under one curve, by a dense Gaussian."""
    members = list(members)
    x = np.concatenate([courses[i].times for i in members])
    e = np.concatenate([courses[i].values for i in members]) - 0.1
    owner = np.repeat(np.arange(len(members)), [len(courses[i].values) for i in members])
    C = kernel(x, x) * (1 + spread**2 * (owner[:, None] == owner)) + 0.1**2 * np.eye(len(x))
    return -(e @ np.linalg.solve(C, e) + np.linalg.slogdet(2 * np.pi * C)[1]) / 2


def make(kind, per_group=3):
    if kind == "even":
        return tl.simulate.profiles(0.1, per_group=per_group, seed=3)[0]
    if kind == "asynchronous":
        return tl.simulate.profiles(0.1, "asynchronous", per_group=per_group, seed=3)[0]
    return tl.simulate.own_times(0.1, per_group=per_group, seed=3)[0]


KINDS = ["even", "asynchronous", "own times"]


def bound(state, r):
    return state.sweep(Given.at(r)).bound


def prepared(courses, gp=GP):
    return sample(gp.at(courses))


def with_spread(spread, count=30, seed=0, noise=0.05):
    """Four smooth curves and courses that differ from them by a spread of their own."""
    rng = np.random.default_rng(seed)
    x = np.linspace(0, 1, 12)
    draw = np.linalg.cholesky(np.exp(-((x[:, None] - x) ** 2) / (2 * 0.3**2)) + 1e-9 * np.eye(12))
    labels = np.repeat(np.arange(4), count)
    values = (rng.standard_normal((4, 12)) @ draw.T)[labels]
    values = values + spread * rng.standard_normal(values.shape) @ draw.T + noise * rng.standard_normal(values.shape)
    return tl.TimeCourses.from_arrays(x, values), labels


# -- the bound -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("spread", [0.0, 0.5])
def test_bound_of_certain_courses_is_their_density(kind, spread):
    courses = make(kind)
    labels = np.array([0, 0, 1, 1, 1, 2, 2, 0, 1])
    r = np.eye(3)[labels]  # two clusters, and "none of these"
    sizes = np.array([3, 4])
    expected = sum(log_density(courses, np.flatnonzero(labels == k), spread) for k in (0, 1))
    expected += sum(log_density(courses, [i], spread) + np.log(NONE) for i in np.flatnonzero(labels == 2))
    expected += 7 * np.log(1 - NONE) + gammaln(3) + gammaln(2) - gammaln(2 + 7) + gammaln(1 + sizes).sum()
    assert bound(prepared(courses).at(spread), r) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("kind", ["even", "asynchronous"])
def test_bound_is_below_the_evidence_of_all_assignments(kind):
    courses = make(kind, per_group=2)
    density = cache(lambda members: log_density(courses, members))
    terms = []
    for z in itertools.product(range(3), repeat=6):  # two clusters and "none"
        sets = [[i for i in range(6) if z[i] == k] for k in (0, 1)]
        sizes = np.array([len(s) for s in sets])
        prior = gammaln(2) - gammaln(2 + sizes.sum()) + gammaln(1 + sizes).sum() + sizes.sum() * np.log(1 - NONE)
        alone = [density((i,)) + np.log(NONE) for i in range(6) if z[i] == 2]
        terms.append(sum(density(tuple(s)) for s in sets if s) + sum(alone) + prior)
    exact = logsumexp(terms)
    found = climb(prepared(courses), Given.at(one_hot(np.array([0, 0, 1, 1, 1, 1]), 2)), 0.0)
    assert found.k == 2
    assert found.bound - np.log(2) <= exact + 1e-9
    assert found.bound == pytest.approx(exact, abs=0.5)  # log 2: the two ways to number two clusters


@pytest.mark.parametrize("kind", KINDS)
def test_sweeps_go_uphill(kind):
    data = prepared(make(kind, per_group=8))
    state = data.at(0.1)
    r, _ = soften(np.random.default_rng(0).standard_normal((24, 5)))
    values = [bound(state, r)]
    for _ in range(15):
        r, _ = soften(scores(state, Clusters.of(state, r)))
        values.append(bound(state, r))
    assert np.diff(values).min() > -1e-9
    assert values[-1] - values[0] > 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("spread", [0.0, 0.5])
def test_a_course_alone_and_given_others(kind, spread):
    courses = make(kind)
    state = prepared(courses).at(spread)
    np.testing.assert_allclose(state.own + state.c, [log_density(courses, [i], spread) for i in range(9)], rtol=1e-7)
    labels = np.repeat([0, 1], [4, 5])
    r = one_hot(labels, 2)
    clusters = Clusters.of(state, r)
    sets = [np.flatnonzero(labels == k) for k in (0, 1)]
    for i in (0, 6):
        others = [j for j in sets[labels[i]] if j != i]
        expected = log_density(courses, [*others, i], spread) - log_density(courses, others, spread)
        assert left_out(state, r, clusters, labels)[i] + state.c[i] == pytest.approx(expected, abs=1e-6)
    first = prepared(courses).select(np.arange(8)).at(spread)
    of_first = Clusters.of(first, r[:8])
    expected = [log_density(courses, [*s[s < 8], 8], spread) - log_density(courses, s[s < 8], spread) for s in sets]
    np.testing.assert_allclose(predictive(state, of_first)[8] + state.c[8], expected, atol=1e-6)


def test_prior_of_divisions_adds_up():
    """Over all ways to put 5 courses into 3 numbered boxes the prior, without 3! for the numbers, is one."""
    total = 0.0
    for z in itertools.product(range(3), repeat=5):
        total += np.exp(log_prior(np.bincount(z, minlength=3).astype(float)) - gammaln(4))
    assert total == pytest.approx(1)


def test_directions_without_information_are_left_out():
    courses, _ = tl.simulate.profiles(seed=1)
    here = tl.GP.se(0.9, signal_sd=0.65, noise_sd=20.0).at(courses)  # noise hides what the basis has to show
    found, kept = here.information, sample(here)
    assert found.rank > kept.z.shape[1]
    np.testing.assert_allclose(kept.at(0.0).own, evidence(found.A[0], found.b), rtol=1e-6)


# -- the number of clusters ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sampling", "noise"), [("even", 0.08), ("even", 0.12), ("uneven", 0.08), ("asynchronous", 0.08)]
)
def test_finds_three_profiles(sampling, noise):
    courses, truth = tl.simulate.profiles(noise, sampling, seed=4)
    found = mixture(courses, tl.fit(courses))
    owner = np.repeat(np.arange(150), courses.sizes)
    squares = (courses.values - tl.simulate.curves(courses.times)) ** 2
    oracle = np.stack([np.bincount(owner, row) for row in squares]).argmin(axis=0)
    assert found.k == 3 == max(found.evidence, key=found.evidence.get)
    assert nmi(found.nearest, truth) > 0.93 * nmi(oracle, truth)
    assert not found.continuum


def test_a_single_cluster_in_truth():
    x = np.linspace(0, 1, 10)
    rng = np.random.default_rng(3)
    courses = tl.TimeCourses.from_arrays(x, np.sin(3 * x) + 0.1 * rng.standard_normal((60, 10)))
    found = mixture(courses, tl.GP.se(0.5, 0.7, 0.1))
    assert found.k == 1
    assert not found.none.any()


def test_given_number_and_more_than_there_are():
    courses, truth = tl.simulate.profiles(0.05, seed=2)
    gp = tl.fit(courses)
    found = mixture(courses, gp, k=3)
    assert nmi(found, truth) > 0.95
    with pytest.warns(tl.DataWarning, match=r"asked for 9 clusters, the data support \d"):
        many = mixture(courses, gp, k=9)
    assert many.k < 9
    assert mixture(courses, gp, k=2, refine=False).k == 2


def test_empty_clusters_do_not_count():
    """They would add the logarithm of the ways to number them, and nothing else, to the bound."""
    courses, _ = tl.simulate.profiles(0.12, seed=3)
    fits = walk(prepared(courses, tl.fit(courses)), None, 30, 0)
    assert all(fit.clusters.n.min() > 0.5 for fit in fits if fit.k > 1)
    assert max(fit.k for fit in fits) < 10


def test_continuum_is_called_one():
    rng = np.random.default_rng(1)
    x = np.linspace(0, 2, 16)
    phase = rng.uniform(0, 2 * np.pi, 250)
    ring = tl.TimeCourses.from_arrays(x, np.cos(2 * np.pi * x - phase[:, None]) + 0.3 * rng.standard_normal((250, 16)))
    with pytest.warns(tl.DataWarning, match="look like a continuum rather than clusters: up to") as said:
        found = mixture(ring, tl.fit(ring))
    best = max(found.path, key=lambda step: step.bound)
    here = next(step for step in found.path if step.k == found.k)
    assert found.continuum
    assert found.standing_out is None
    assert 2 < found.k < best.k == found.finest.k
    assert here.per_course == pytest.approx((best.bound - here.bound) / 250)
    frame = found.path_frame().set_index("k")
    assert f"curves within {frame.tolerance_to[found.k]:.2g} of each other are one" in str(said[0].message)
    assert frame.index.tolist() == list(found.evidence)
    peaks = [np.linspace(0, 2, 99)[found.curve(c, np.linspace(0, 2, 99)).mean.argmax()] for c in range(found.k)]
    assert peaks == sorted(peaks)


def test_separate_clusters_are_no_continuum():
    courses, truth = with_spread(0.0, seed=5)
    found = mixture(courses, tl.GP.se(0.3, 1.0, 0.05))
    assert (found.k, found.continuum) == (4, False)
    assert nmi(found, truth) == pytest.approx(1)


def test_choice_between_peak_and_continuum():
    def path(*bounds):
        return [Fit(None, Clusters(None, None, np.ones(k)), 0.0, b) for k, b in enumerate(bounds, start=1)]

    assert choose(path(0))[0].k == 1
    assert choose(path(0, -3, -5))[0].k == 1
    assert choose(path(0, 50, 90, 80))[0].k == 3
    for ended_abruptly in (path(0, 50, 90, 120, 150, 140), path(0, 5, 3, 200, 201, 190)):
        peak, finest = choose(ended_abruptly)
        assert (peak.k, finest) == (5, None)
    coarse, finest = choose(path(0, 500, 800, 900, 905, 908, 909, 908))
    assert (coarse.k, finest.k) == (3, 7)


def test_twenty_clusters_are_no_continuum():
    rng = np.random.default_rng(1)
    x = np.linspace(0, 1, 10)
    draw = np.linalg.cholesky(np.exp(-((x[:, None] - x) ** 2) / (2 * 0.3**2)) + 1e-9 * np.eye(10))
    truth = rng.integers(0, 20, 500)
    values = (rng.standard_normal((20, 10)) @ draw.T)[truth] + 0.2 * rng.standard_normal((500, 10))
    found = mixture(tl.TimeCourses.from_arrays(x, values), tl.GP.se(0.3, 1.0, 0.2))
    assert 19 <= found.k <= 20
    assert nmi(found.nearest, truth) > 0.9


# -- spread ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spread", [0.1, 0.3])
def test_spread_is_learned(spread):
    courses, truth = with_spread(spread, seed=2)
    found = mixture(courses, tl.GP.se(0.3, 1.0, 0.05))
    assert found.k == 4
    assert found.spread == pytest.approx(spread, rel=0.15)
    assert nmi(found.nearest, truth) > 0.95


def test_spread_can_be_fixed():
    courses, _ = with_spread(0.3, count=10)
    gp = tl.GP.se(0.3, 1.0, 0.05)
    assert mixture(courses, gp, k=4, spread=0.2).spread == 0.2
    with pytest.raises(tl.InputError, match=r"spread is -0\.1"):
        mixture(courses, gp, spread=-0.1)
    with pytest.raises(tl.InputError, match="spread is 'a'"):
        mixture(courses, gp, spread="a")


def test_no_spread_where_there_is_none():
    courses, truth = with_spread(0.0, seed=3)
    assert best_spread(prepared(courses, tl.GP.se(0.3, 1.0, 0.05)), Given.at(one_hot(truth, 4))) < 0.03


# -- how sure ----------------------------------------------------------------------------------------------------


def test_odd_courses_are_in_none():
    base, _ = tl.simulate.profiles(0.08, seed=1)
    x, rng = tl.simulate.grid(), np.random.default_rng(0)
    odd = np.stack([np.zeros(15), 0.5 - x, 3 * (x - 0.5) ** 2]) + 0.08 * rng.standard_normal((3, 15))
    courses = tl.TimeCourses.from_arrays(x, np.concatenate([base.values.reshape(150, 15), odd]))
    found = mixture(courses, tl.fit(courses))
    assert found.k == 3
    assert found.labels[150:].tolist() == [-1, -1, -1]
    assert found.none[:150].sum() <= 2
    assert found.confidence.min() > 0.3
    assert (found.confidence[150:] > 0.9).all()
    assert found.sizes.sum() == (~found.none).sum()


def test_probabilities_are_calibrated():
    stated, right = [], []
    for seed in range(6):
        courses, truth = tl.simulate.profiles(0.12, seed=seed)
        found = mixture(courses, tl.fit(courses), k=3)
        best = max(itertools.permutations(range(3)), key=lambda p: (np.array(p)[found.nearest] == truth).sum())
        stated.append(found.probabilities.max(axis=1))
        right.append(np.array(best)[found.nearest] == truth)
    stated, right = np.concatenate(stated), np.concatenate(right)
    for low, high in [(0.4, 0.7), (0.7, 0.9), (0.9, 1.0)]:
        here = (stated >= low) & (stated < high)
        assert right[here].mean() == pytest.approx(stated[here].mean(), abs=3 / np.sqrt(4 * here.sum()) + 0.03)


def test_wild_values_are_named_and_no_others():
    courses, _, thrown = tl.simulate.outlying(0.08, share=0.01, size=0.8, seed=4)
    gp = tl.GP.se(0.9, 0.6, 0.08)
    with pytest.warns(tl.DataWarning, match=r"2\d of 2,250 values count for little \(weight 0.00\d to 0.0\d\)"):
        found = mixture(courses, gp, k=3, noise="common")
    out = found.outliers()
    row, column = np.nonzero(thrown)
    expected = {(courses.names[i], round(tl.simulate.grid()[j], 6)) for i, j in zip(row, column, strict=True)}
    named = {(c, round(t, 6)) for c, t in zip(out["course"], out["time"], strict=True)}
    assert len(expected) > 10
    alike = {("A05", 0.5), ("A05", 0.571429)}  # neighbours thrown to the same side: for all that is known, a response
    assert expected - named == alike
    assert len(named - expected) <= 1
    assert (np.abs(out["value"] - out["expected"]) > 0.3).all()
    assert (np.abs(out["z"]) > 3).all()
    assert out["weight"].between(0, 0.05).all()
    assert mixture(courses, gp, k=3, robust=False, noise="common").outliers().empty


def test_the_table_of_wild_values_is_exact():
    """Exactly the values whose variance is larger than that of others are named, with the ratio of the two."""
    courses, _, _ = tl.simulate.outlying(0.08, share=0.01, size=0.8, seed=4)
    gp = tl.GP.se(0.9, 0.6, 0.08)
    with pytest.warns(tl.DataWarning, match="count for little"):
        found = mixture(courses, gp, k=3, noise="common")
    out, lower = found.outliers(), found.courses.errors > 0
    np.testing.assert_array_equal(out["value"], courses.values[lower])
    np.testing.assert_allclose(out["weight"], 0.08**2 / (0.08**2 + found.courses.errors[lower] ** 2), rtol=1e-12)
    assert found.measured is courses
    np.testing.assert_array_equal(found.courses.values, courses.values)


def test_wild_values_do_not_matter():
    courses, truth, thrown = tl.simulate.outlying(0.06, share=0.02, size=1.5, seed=4)
    gp = tl.GP.se(0.9, 0.6, 0.06)
    assert thrown.any(axis=1).sum() > 20
    with pytest.warns(tl.DataWarning, match="of 2,250 values count for little"):
        robust = mixture(courses, gp, noise="common", refine=False)
    plain = mixture(courses, gp, k=3, robust=False, noise="common", refine=False)
    assert robust.k == 3
    assert nmi(robust.nearest, truth) > 0.9
    assert nmi(plain.nearest, truth) < 0.5  # what becomes of it otherwise
    assert len(robust.outliers()) == pytest.approx(thrown.sum(), abs=3)


@pytest.mark.parametrize("value", [3.0, -1e3, 1e6])
def test_one_wild_value_does_not_move_the_curve_of_its_cluster(value):
    courses, _ = tl.simulate.profiles(noise=0.08, seed=1, per_group=10)
    gp = tl.GP.se(0.9, 0.6, 0.08)
    clean = mixture(courses, gp, k=3)
    values = courses.values.reshape(30, -1).copy()
    values[4, 7] = value
    with pytest.warns(tl.DataWarning, match="1 of 450 values count for little"):
        spoilt = mixture(tl.TimeCourses.from_arrays(courses.grid, values), gp, k=3)
    np.testing.assert_array_equal(spoilt.labels, clean.labels)
    at = np.linspace(0, 1, 30)
    np.testing.assert_allclose(spoilt.curves(at).mean, clean.curves(at).mean, atol=0.02)


def test_clean_values_stay():
    courses, _ = tl.simulate.profiles(0.1, "asynchronous", seed=2)
    assert mixture(courses, tl.fit(courses), k=3).courses is courses


# -- curves and new courses --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_curve_is_the_posterior_of_the_members(kind):
    courses = make(kind, per_group=6)
    found = mixture(courses, GP, k=2, spread=0.0)
    at = [-0.5, 0.1, 0.77, 1.0, 3.0]
    for cluster in range(found.k):
        weights = found.responsibilities[:, cluster]
        x = courses.times
        e = courses.values - 0.1
        noise = 0.1**2 / np.maximum(np.repeat(weights, courses.sizes), 1e-12)  # a weight divides the noise variance
        C, across = kernel(x, x) + np.diag(noise), kernel(np.array(at), x)
        curve = found.curve(cluster, at)
        np.testing.assert_allclose(curve.mean, 0.1 + across @ np.linalg.solve(C, e), atol=1e-5)
        variance = 0.6**2 - (across * np.linalg.solve(C, across.T).T).sum(axis=1)
        np.testing.assert_allclose(curve.sd, np.sqrt(variance), atol=1e-5)
    with pytest.raises(tl.InputError, match="there is no cluster 2"):
        found.curve(2, at)


def test_predicts_at_times_never_seen():
    courses, _ = tl.simulate.profiles(0.05, seed=6)
    found = mixture(courses, tl.fit(courses))
    rng = np.random.default_rng(1)
    times = [np.sort(rng.uniform(0.5, 1.1, 8)) for _ in range(30)]
    truth = np.repeat([0, 1, 2], 10)
    values = [tl.simulate.curves(x)[g] + 0.05 * rng.standard_normal(8) for x, g in zip(times, truth, strict=True)]
    new = found.predict(tl.TimeCourses.from_arrays(times, values))
    assert nmi(new.labels, truth) > 0.6
    assert (new.labels >= 0).sum() >= 28
    again = found.predict(courses)
    assert (again.labels == found.labels).mean() > 0.98
    strange = found.predict(tl.TimeCourses.from_arrays([0.2, 0.5, 0.9], [[2, -2, 2], [5, 5, 5]]))
    assert strange.labels.tolist() == [-1, -1]
    assert strange.probabilities.shape == (2, 3)


def test_coarser():
    courses, _ = with_spread(0.1, count=15)
    found = mixture(courses, tl.GP.se(0.3, 1.0, 0.05))
    two = found.coarser(2)
    assert (two.k, two.finest) == (2, found)
    for k in (0, 4, 2.0):
        with pytest.raises(tl.InputError, match="expected a whole number below 4"):
            found.coarser(k)


def test_table():
    courses, _ = tl.simulate.profiles(0.08, per_group=10, seed=1)
    found = mixture(courses, tl.fit(courses), k=3)
    frame = found.to_frame()
    assert list(frame.columns) == ["name", "cluster", "probability", "nearest"]
    np.testing.assert_array_equal(frame["cluster"], found.labels)
    np.testing.assert_allclose(frame["probability"], found.confidence)


def test_hyperparameters_are_refined():
    courses, truth = with_spread(0.0, noise=0.1, seed=7)
    wrong = tl.GP.se(0.3, 1.0, 0.25)
    found, plain = mixture(courses, wrong, k=4, refine=True), mixture(courses, wrong, k=4)
    assert found.gp.noise_sd == pytest.approx(0.1, rel=0.1)
    refit, before = (bound(prepared(courses, f.gp).at(f.spread), f.responsibilities) for f in (found, plain))
    assert refit > before + 100
    assert nmi(found.nearest, truth) >= nmi(plain.nearest, truth)


# -- laws --------------------------------------------------------------------------------------------------------


@settings(max_examples=4)
@given(st.permutations(range(24)))
def test_order_of_courses_does_not_matter(order):
    courses = make("asynchronous", per_group=8)
    found, shuffled = mixture(courses, GP), mixture(courses.select(order), GP)
    assert found.k == shuffled.k
    np.testing.assert_allclose(found.probabilities[order], shuffled.probabilities, atol=0.02)


@settings(max_examples=4)
@given(st.floats(0.01, 100), st.floats(0.01, 100), st.floats(-5, 5))
def test_units_do_not_matter(time_unit, value_unit, shift):
    courses = make("own times", per_group=8)
    other = tl.TimeCourses.from_arrays(
        [c.times * time_unit for c in courses], [(c.values + shift) * value_unit for c in courses]
    )
    gp = tl.GP.se(0.7 * time_unit, 0.6 * value_unit, 0.1 * value_unit, (0.1 + shift) * value_unit)
    found, again = mixture(courses, GP), mixture(other, gp)
    assert found.k == again.k
    np.testing.assert_allclose(found.probabilities, again.probabilities, atol=0.02)
    assert found.spread == pytest.approx(again.spread, abs=5e-3)


def test_many_courses_by_way_of_a_sample():
    courses, truth = with_spread(0.1, count=150)
    gp = tl.GP.se(0.3, 1.0, 0.05)
    small = Effort(scouts=100, walkers=180, many=200, few=150)
    data = prepared(courses, gp)
    top = climb_learning(data, Given.at(one_hot(truth, 4)))
    assert fit_k(data, 4, None, 0, small).bound == pytest.approx(top.bound, abs=5)
    found = mixture(courses, gp, effort=small)
    assert found.k == 4
    assert nmi(found.nearest, truth) > 0.98
    assert mixture(courses, gp, seed=0, effort=small).labels.tolist() == found.labels.tolist()


# -- bad input -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [0, -1, 10, 2.0, True, "3"])
def test_impossible_numbers_of_clusters(k):
    with pytest.raises(tl.InputError, match="expected a whole number from 1 to 9"):
        mixture(make("even"), GP, k)


def test_impossible_largest_number():
    with pytest.raises(tl.InputError, match="max_k is 0"):
        mixture(make("even"), GP, max_k=0)


def test_duplicates_are_one_cluster():
    courses = tl.TimeCourses.from_arrays(tl.simulate.grid(), np.tile(make("even")[0].values, (200, 1)))
    found = mixture(courses, GP)
    assert (found.k, found.sizes.tolist()) == (1, [200])


def test_one_point_each():
    rng = np.random.default_rng(0)
    values = np.repeat([0.0, 3.0], 20)[:, None] + 0.05 * rng.standard_normal((40, 1))
    found = mixture(tl.TimeCourses.from_arrays([0.5], values), tl.GP.se(1, 2.0, 0.05))
    assert found.k == 2
    assert nmi(found, np.repeat([0, 1], 20)) == pytest.approx(1)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_very_few_courses(count):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = mixture(make("even")[:count], GP)
    assert found.k == 1
    assert len(found.labels) == count


def test_points_with_two_coordinates():
    rng = np.random.default_rng(0)
    points = rng.random((8, 2))
    values = np.repeat([points[:, 0], -points[:, 1]], 15, axis=0) + 0.05 * rng.standard_normal((30, 8))
    found = mixture(tl.TimeCourses.from_arrays(points, values), tl.GP.se(1.0, 0.7, 0.05))
    assert found.k == 2
    assert found.curve(0, points[:2]).mean.shape == (2,)


def test_a_kernel_too_rough_for_curves_at_own_times_is_refused():
    courses, _ = tl.simulate.own_times(per_group=20)
    with pytest.raises(tl.InputError, match="too rough"):
        mixture(courses, tl.GP("matern12", signal_sd=1, noise_sd=0.1), 2)


def test_a_refined_model_makes_no_claim_about_its_likelihood():
    courses, _ = tl.simulate.profiles(per_group=8, seed=1)
    assert mixture(courses, tl.fit(courses), k=3, refine=True).gp.log_likelihood is None


# -- more clusters than there are ------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [3, 10, 15, 30])
@pytest.mark.filterwarnings("ignore:asked for")
def test_equal_courses_are_one_cluster_however_many_are_asked_for(k):
    times = np.linspace(0, 1, 8)
    values = np.repeat([np.sin(6 * times), times, -times], 10, axis=0)
    found = mixture(tl.TimeCourses.from_arrays(times, values), tl.GP.se(0.4, 1, 0.3), k)
    assert sorted(found.sizes.tolist()) == [10, 10, 10]
    assert found.responsibilities[:, -1].max() < 1e-3


@pytest.mark.parametrize("k", [6, 60])
@pytest.mark.filterwarnings("ignore:asked for")
def test_what_a_dropped_cluster_had_does_not_go_to_none(k):
    courses, _ = tl.simulate.profiles(noise=0.08, seed=1, per_group=20)
    found = mixture(courses, tl.fit(courses), k)
    assert found.responsibilities[found.labels >= 0, -1].max() < 0.01


def test_columns_that_go_leave_rows_that_sum_to_one():
    r = np.array([[0.2, 0.3, 0.1, 0.4], [0.0, 0.6, 0.3, 0.1], [0.0, 0.9, 0.0, 0.1]])
    np.testing.assert_allclose(
        kept(r, np.array([True, False, False]), np.array([False, True, False])), [[0.5, 0.5], [0.0, 1.0], [0.0, 1.0]]
    )
    np.testing.assert_allclose(
        kept(r, np.array([True, True, False]), np.array([False, False, True])),
        [[0.24, 0.36, 0.4], [0.0, 0.9, 0.1], [0.0, 0.9, 0.1]],
    )


@pytest.mark.filterwarnings("ignore::timelike.FitWarning", "ignore:the courses are noisy")
def test_refining_stays_where_models_are():
    courses, _ = tl.simulate.profiles(noise=0, seed=1, per_group=20)
    assert mixture(courses, tl.fit(courses), refine=True).k == 3
    once = tl.TimeCourses.from_arrays([0.0, 0, 0], np.random.default_rng(0).normal(size=(7, 3)))
    assert 1e-3 < mixture(once, tl.fit(once), refine=True).gp.length_scale < 1e3


@pytest.mark.filterwarnings("ignore:1 of 450 values")
def test_fewer_clusters_still_name_what_sticks_out():
    courses, _ = tl.simulate.profiles(noise=0.05, seed=1, per_group=10)
    values = courses.values.reshape(30, -1).copy()
    values[6, 7] += 1
    courses = tl.TimeCourses.from_arrays(courses.grid, values)
    found = mixture(courses, tl.fit(courses))
    assert len(found.outliers()) >= 1
    assert found.coarser(2).outliers()["course"].tolist()[:1] == found.outliers()["course"].tolist()[:1]


def test_a_curve_is_the_callers_to_change():
    courses, _ = tl.simulate.profiles(seed=1)
    found = mixture(courses, tl.fit(courses), k=3)
    curve, all_of_them = found.curve(1, [0.2, 0.7]), found.curves([0.2, 0.7])
    curve.mean[:] = 0.0
    assert found.curves([0.2, 0.7]) is all_of_them
    assert (found.curve(1, [0.2, 0.7]).mean == all_of_them.mean[1]).all()
    assert all_of_them.mean[1].any()


def test_what_is_remembered_is_little_and_does_not_travel():
    courses, _ = tl.simulate.profiles(seed=1)
    found = mixture(courses, tl.fit(courses), k=3)
    found.outliers()
    small = len(pickle.dumps(found))
    for shift in np.linspace(0, 1, 50):
        found.curves(np.linspace(0, 1, 500) + shift)
    assert len(found._drawn) <= curve_clustering.REMEMBERED
    assert len(pickle.dumps(found)) == small
    again = pickle.loads(pickle.dumps(found))  # noqa: S301
    np.testing.assert_array_equal(again.curve(0, [0.3]).mean, found.curve(0, [0.3]).mean)


def test_peaks_a_period_apart_are_numbered_by_the_first():
    times, rng = np.linspace(0, 1, 21), np.random.default_rng(0)
    curves = np.repeat([np.sin(4 * np.pi * times), np.cos(4 * np.pi * (times - 0.2))], 10, axis=0)
    courses = tl.TimeCourses.from_arrays(times, curves + 0.05 * rng.standard_normal(curves.shape))
    found = mixture(courses, tl.GP(ExpSineSquared(1.0, 0.5), 1.0, 0.05), k=2, robust=False)
    grid = np.linspace(0, 1, 101)
    peaks = [grid[np.flatnonzero(mean > mean.max() - 1e-9)[0]] for mean in found.curves(grid).mean]
    assert peaks == sorted(peaks)
    assert peaks[1] < 0.5


def test_blocks_and_threads_of_many_courses_change_nothing(monkeypatch):
    rng = np.random.default_rng(3)
    values = rng.standard_normal((4, 6))[rng.integers(0, 4, 900)] + 0.5 * rng.standard_normal((900, 6))
    values[100:140, 3] = np.nan
    courses, gp = tl.TimeCourses.from_arrays(np.linspace(0, 1, 6), values), tl.GP.se(0.3, 1.0, 0.5)
    effort = Effort(scouts=200, walkers=400, many=500, few=300)
    whole = mixture(courses, gp, k=4, robust=False, effort=effort)
    monkeypatch.setattr("timelike.clusters.curves.bound.BLOCK", 128)
    monkeypatch.setattr("timelike.clusters.curves.bound.FEW_DESIGNS", 1)
    found = []
    for threads in (1, 3):
        monkeypatch.setattr("timelike.clusters.curves.bound.thread_count", lambda _, threads=threads: threads)
        found.append(mixture(courses, gp, k=4, robust=False, effort=effort))
    one, three = found
    assert one.path == three.path
    assert one.responsibilities.tobytes() == three.responsibilities.tobytes()
    assert one.probabilities.tobytes() == three.probabilities.tobytes()
    np.testing.assert_allclose(one.probabilities, whole.probabilities, atol=1e-6)
    assert one.path[0].bound == pytest.approx(whole.path[0].bound, rel=1e-9)


def drawn(count, seed, spread=0.0, of=1):
    """Clusters of so many courses at ten times, and their labels."""
    rng, x = np.random.default_rng(seed), np.linspace(0, 1, 10)
    root = np.linalg.cholesky(np.exp(-((x[:, None] - x) ** 2) / (2 * 0.3**2)) + 1e-9 * np.eye(10))
    labels = np.repeat(np.arange(of), count)
    values = (rng.standard_normal((of, 10)) @ root.T)[labels] + 0.3 * rng.standard_normal((len(labels), 10))
    return tl.TimeCourses.from_arrays(x, values + spread * rng.standard_normal(values.shape) @ root.T), labels


def test_one_family_is_one_cluster_under_its_own_hyperparameters():
    courses, _ = drawn(3000, 1, spread=0.2)
    gp = tl.GP.se(0.65, 2.0, 0.31, mean=0.6)
    gp = replace(gp, log_likelihood=gp.score(courses))  # as if it had been fitted
    with pytest.warns(tl.DataWarning, match="the model was adapted to the clusters"):
        found = mixture(courses, gp)
    assert found.k == 1
    assert found.gp.length_scale == pytest.approx(0.3, rel=0.1)
    assert found.gp.noise_sd == pytest.approx(0.3, rel=0.03)
    assert found.spread * found.gp.signal_sd == pytest.approx(0.2, rel=0.1)
    assert mixture(courses, gp, refine=False).k > 1


def test_one_cluster_of_courses_with_a_noise_of_their_own():
    courses, _ = drawn(200, 1, spread=0.2)
    here = tl.GP.se(0.65, 2.0, 0.31, mean=0.6).at(courses)
    data = replace(sample(here), noise=Noise(np.array([-0.7, 0.0, 0.7])))
    _, information, fit = one_cluster(here, data, glimpse(here, data))
    assert fit.k == 1
    assert len(information) == 200


def test_clear_clusters_are_not_held_against_one_of_all_courses(monkeypatch):
    courses, labels = drawn(150, 2, of=4)
    gp = tl.fit(courses)
    monkeypatch.setattr("timelike.clusters.curves.mixture.one_cluster", None)  # it is not called
    found = mixture(courses, gp, noise="common")
    assert nmi(found.labels, labels) > 0.95


def test_one_family_is_not_taken_for_several_at_a_glimpse():
    courses, _ = drawn(800, 1, spread=0.2)
    here = tl.GP.se(0.65, 2.0, 0.31, mean=0.6).at(courses)
    data = sample(here)
    fit = fit_k(data, 4, None, 0)
    assert not clearly_several(data, fit, glimpse(here, data))


@pytest.mark.parametrize(("spread", "near"), [(0.0, 0.0), (0.0, 0.3), (0.3, 0.0), (0.3, 0.02), (0.3, 0.32), (0.3, 2.0)])
def test_spread_near_another_is_the_best_of_all(spread, near):
    courses, truth = with_spread(spread)
    data, weights = prepared(courses, tl.GP.se(0.3, 1.0, 0.05)), Given.at(one_hot(truth, 4))
    assert best_spread(data, weights, near) == pytest.approx(best_spread(data, weights), rel=5e-3, abs=5e-3)


def test_spread_near_another_takes_few_looks(monkeypatch):
    courses, truth = with_spread(0.3)
    data, weights, looks = prepared(courses, tl.GP.se(0.3, 1.0, 0.05)), Given.at(one_hot(truth, 4)), []
    monkeypatch.setattr(AnySpread, "at", lambda self, spread: looks.append(spread) or self._at(spread))
    found = best_spread(data, weights, 0.28)
    assert len(looks) <= 7
    looks.clear()
    assert best_spread(data, weights, found) == pytest.approx(found, rel=0.01)
    assert len(looks) <= 5
    courses, truth = with_spread(0.0)
    data, weights = prepared(courses, tl.GP.se(0.3, 1.0, 0.05)), Given.at(one_hot(truth, 4))
    looks.clear()
    assert best_spread(data, weights, 0.0) == 0
    assert len(looks) == 3
    assert looks[-1] == 0  # what is remembered is what the climb goes on with


def test_information_at_the_last_spread_is_remembered():
    data = prepared(make("own times"))
    state = data.at(0.2)
    assert data.at(0.2) is state
    assert data.at(0.1) is not state
    again = data.at(0.2)
    assert again is not state
    assert again.A.tobytes() == state.A.tobytes()
    assert replace(data, noise=Noise(np.array([0.5]))).at(0.2) is not again


def test_directions_that_say_next_to_nothing_show_no_other_way():
    rng = np.random.default_rng(5)
    times = [np.sort(rng.random(n)) for n in rng.integers(6, 10, 300)]
    labels = rng.integers(0, 3, 300)
    values = [np.sin(5 * x + 2 * k) + 0.3 * rng.standard_normal(len(x)) for x, k in zip(times, labels, strict=True)]
    data = prepared(tl.TimeCourses.from_arrays(times, values), tl.GP.se(0.4, 1.0, 0.3))
    few = data.narrowed()
    rank = data.vectors.shape[1]
    assert few.vectors.shape[1] < rank
    start = Given.at(one_hot(labels, 3))
    for spread in (0.0, 0.3):
        whole, part = climb(data, start, spread), climb(few, start, spread)
        assert part.bound == pytest.approx(whole.bound, abs=1e-3)
        again = data.at(spread).sweep(Rule(part.clusters.widened(rank)))
        assert again.bound == pytest.approx(whole.bound, abs=0.02)
    one_grid = prepared(make("even"))
    assert one_grid.narrowed() is one_grid


def short(count, seed, scale, spread, noise):
    """One cluster whose curves have a short length scale, and the model that is fitted to them."""
    rng, x = np.random.default_rng(seed), np.linspace(0, 1, 10)
    root = np.linalg.cholesky(np.exp(-((x[:, None] - x) ** 2) / (2 * scale**2)) + 1e-9 * np.eye(10))
    values = rng.standard_normal((1, 10)) @ root.T + spread * rng.standard_normal((count, 10)) @ root.T
    courses = tl.TimeCourses.from_arrays(x, values + noise * rng.standard_normal((count, 10)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return courses, tl.fit(courses)


def test_several_clusters_are_judged_by_what_is_left_of_them_at_their_best():
    courses, gp = short(300, 20_015, 0.12897805113570948, 0.0, 0.6)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert mixture(courses, gp).k == 1
    assert any("the model was adapted to the clusters" in str(each.message) for each in said)


def test_one_cluster_is_sought_from_some_noise_where_the_model_has_none():
    courses, gp = short(3000, 20_038, 0.13392526566060137, 0.4, 0.3)
    assert gp.noise_sd < 1e-4
    here = gp.at(courses)
    model, _, fit = one_cluster(here, sample(here), glimpse(here, sample(here)))
    assert model.gp.noise_sd == pytest.approx(0.3, rel=0.1)
    assert model.gp.length_scale == pytest.approx(0.134, rel=0.1)
    assert fit.spread * model.gp.signal_sd == pytest.approx(0.4, rel=0.15)


def test_one_cluster_may_have_the_noise_of_courses_that_several_have():
    courses, _ = drawn(200, 1, spread=0.2)
    rng = np.random.default_rng(2)
    noisy = courses.values.reshape(200, 10) + rng.standard_normal((200, 10)) * rng.exponential(1, (200, 1))
    courses = tl.TimeCourses.from_arrays(courses.grid, noisy)
    here = tl.GP.se(0.3, 1.0, 0.5).at(courses)
    data = replace(sample(here), noise=Noise(np.array([-0.7, 0.0, 0.7]), width=0.5))
    common = one_cluster(here, sample(here), glimpse(here, sample(here)))
    own = one_cluster(here, data, glimpse(here, data))
    assert len(own[1].noise) > 1
    assert own[2].bound > common[2].bound + 50


def test_rounding_is_no_noise_of_courses():
    courses, _ = drawn(300, 1, spread=0.2)
    data = sample(tl.GP(Matern(0.28, nu=1.5), 0.8, 1e-6).at(courses))
    fit = climb_learning(data, Given.at(one_hot(np.zeros(300, dtype=int), 1)))
    assert _told(data, fit, FREEDOMS[0]).logs.min() > 0
    assert noise_of(data, fit, None, 0) is COMMON


@cache
def fifty():
    return sample(tl.GP.se(0.3, 1.0, 0.3).at(drawn(20, 1001, of=50)[0]).smooth())


def test_merges_are_sought_anew_as_clusters_get_closer():
    best = max(walk(fifty(), None, 80, 0), key=lambda fit: fit.bound)
    assert 47 <= best.k <= 52
    assert best.spread < 0.03


def test_as_many_clusters_are_found_as_were_asked_for():
    found = fit_k(fifty(), 50, None, 0)
    assert found.k == 50
    assert found.spread < 0.03


def test_more_numbers_of_clusters_are_tried_where_they_are_clearly_worth_it(monkeypatch):
    monkeypatch.setattr("timelike.clusters.curves.mixture.LIMITS", (6, 12))
    plain = {"robust": False, "noise": "common"}
    courses, _ = drawn(30, 1003, of=9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert mixture(courses, tl.GP.se(0.3, 1.0, 0.3), **plain).k == 9
    monkeypatch.setattr("timelike.clusters.curves.mixture.LIMITS", (20, 40))
    x, phase = np.arange(12.0), np.random.default_rng(3).random((300, 1))
    ring = np.sin(2 * np.pi * (x / 12 - phase)) + 0.2 * np.random.default_rng(4).standard_normal((300, 12))
    with pytest.warns(tl.DataWarning, match="continuum"):
        assert len(mixture(tl.TimeCourses.from_arrays(x, ring), tl.GP.se(2.0, 0.7, 0.2), **plain).path) <= 20


def test_too_few_numbers_of_clusters_are_said():
    courses, _ = drawn(30, 1001, of=5)
    with pytest.warns(tl.DataWarning, match=r"the evidence still rises at 3 clusters.*--max-k"):
        assert mixture(courses, tl.GP.se(0.3, 1.0, 0.3), max_k=3).k == 3


def test_probabilities_far_below_all_others_keep_their_order():
    """They were 0, all of them, and the first cluster was the nearest of a course that is far from all."""
    logs = np.array([[-2000.0, -900.0, 0.0], [-1.0, -1.0, -3.0], [-1e5, -1e7, 5.0]])
    found = chances(logs)
    np.testing.assert_allclose(found, soften(logs.copy())[0], rtol=1e-12, atol=1e-280)
    assert found[:, :-1].argmax(axis=1).tolist() == [1, 0, 0]
    assert found.min() > 0
    np.testing.assert_array_equal(chances(np.concatenate([logs, logs - 1e4]), levels=2).reshape(2, 3, 3)[0], found)


def test_what_a_double_had_goes_where_next_to_nothing_was():
    """The ratio of the two was infinite, and so the curves not a number."""
    r = np.array([[1e-310, 2e-310, 1.0, 0.0], [0.2, 0.2, 0.6, 0.0], [0.0, 0.0, 1.0, 0.0]])
    gone = np.array([False, False, True])
    expected = [[1 / 3, 2 / 3, 0], [0.5, 0.5, 0], [0, 0, 1]]
    np.testing.assert_allclose(kept(r, ~gone, gone), expected, rtol=1e-9)
