"""How sure courses are of their clusters: against all divisions of a few courses, and what must not matter."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import timelike as tl
from timelike.clusters.curves.ascent import fit_k, responsibilities
from timelike.clusters.curves.bound import ALPHA, NONE, Clusters, log_division, sample, scores, soften
from timelike.clusters.curves.draws import divisions, matching, sweeps
from timelike.clusters.curves.left_out import SLIGHT, given_the_others, left_out, predictive
from timelike.clusters.curves.membership import judged, weighed_at_nodes
from timelike.gp.information import evidence

GP = tl.GP.se(length_scale=0.3, signal_sd=1.0, noise_sd=0.8)
TIMES = np.linspace(0, 1, 6)


def few(seed: int, count: int = 7, noise: float = 0.8) -> tl.TimeCourses:
    """Courses of two smooth curves."""
    rng = np.random.default_rng(seed)
    K = np.exp(-((TIMES[:, None] - TIMES) ** 2) / (2 * 0.3**2)) + 1e-9 * np.eye(6)
    curves = rng.standard_normal((2, 6)) @ np.linalg.cholesky(K).T
    values = curves[np.arange(count) % 2] + noise * rng.standard_normal((count, 6))
    return tl.TimeCourses.from_arrays(TIMES, values)


def exact(state, r):
    """Probabilities over all divisions among two clusters and none, numbered like the fit's: (N, 3)."""
    total, weight, logs, places = len(state), [], [], list(product(range(3), repeat=len(state)))
    for place in places:
        z = np.eye(3)[list(place)]
        clusters = Clusters.of(state, z)
        logs.append(clusters.evidence.sum() + z[:, -1] @ state.own + log_division(clusters.n, total))
    weight = np.exp(np.array(logs) - max(logs))
    found = np.zeros((total, 3))
    for place, w in zip(places, weight / weight.sum(), strict=True):
        z = np.eye(3)[list(place)]
        order = matching(r[:, :-1].T @ z[:, :-1])
        found += w * (z if order is None else z[:, [*order, 2]])
    return found


def nearest_alone(state, r, clusters):
    """A course's nearest cluster judged by the others, all else by the bound: what was stated before."""
    rho, everyone = scores(state, clusters), np.arange(len(state))
    nearest = rho[:, :-1].argmax(axis=1)
    weight = r[everyone, nearest]
    share = (ALPHA + clusters.n[nearest] - weight) / (2 * ALPHA + clusters.n.sum() - weight)
    rho[everyone, nearest] = left_out(state, r, clusters, nearest) + np.log(share * (1 - NONE))
    return soften(rho)[0]


def test_nearer_to_all_divisions_than_the_fit_alone():
    gaps = []
    for seed in range(12):
        data = sample(GP.at(few(seed)))
        fit = fit_k(data, 2, 0.0, 0)
        if fit.k < 2:
            continue
        state, r = data.at(0.0), responsibilities(data, fit).r
        truth = exact(state, r)
        ways = (
            nearest_alone(state, r, fit.clusters),
            judged(state, r, fit.clusters),
            weighed_at_nodes(state, r, fit.clusters).sum(axis=0),
        )
        gaps.append([np.abs(p - truth).mean() for p in ways])
    before, others, drawn = np.mean(gaps, axis=0)
    assert len(gaps) >= 6
    assert others < before
    assert drawn < before / 2


@pytest.mark.parametrize("gaps", [False, True])
def test_a_course_is_taken_out_of_every_cluster(gaps):
    courses = few(1)
    if gaps:
        times, values = courses.to_matrix()
        values[0, 2] = values[3, 4] = np.nan
        courses = tl.TimeCourses.from_arrays(times, values)
    state = sample(GP.at(courses)).at(0.1)
    r = np.random.default_rng(0).dirichlet([1, 1, 0.1], len(state))
    found = given_the_others(state, r, Clusters.of(state, r))
    for i in range(len(state)):
        without = r.copy()
        without[i] = 0
        np.testing.assert_allclose(found[i], predictive(state, Clusters.of(state, without))[i], rtol=1e-9)


def test_neither_the_order_of_courses_nor_units_matter():
    courses, _ = tl.simulate.profiles(0.12, seed=4)
    gp = tl.fit(courses)
    found = tl.mixture(courses, gp, k=3)
    order = np.random.default_rng(1).permutation(len(courses))
    shuffled = tl.mixture(courses.select(order), gp, k=3)
    np.testing.assert_allclose(shuffled.probabilities, found.probabilities[order], atol=1e-6)
    scaled = tl.TimeCourses.from_arrays(24 * courses.to_matrix()[0], 1000 * courses.to_matrix()[1])
    other = tl.GP.se(24 * gp.length_scale, 1000 * gp.signal_sd, 1000 * gp.noise_sd, mean=1000 * gp.mean)
    again = tl.mixture(scaled, other, k=3, refine=False)
    plain = tl.mixture(courses, tl.GP.se(gp.length_scale, gp.signal_sd, gp.noise_sd, mean=gp.mean), k=3, refine=False)
    np.testing.assert_allclose(again.probabilities, plain.probabilities, atol=1e-6)


def test_clear_clusters_are_certain():
    courses, truth = tl.simulate.profiles(0.02, seed=1)
    gp = tl.fit(courses)
    found = tl.mixture(courses, gp, k=3)
    assert found.confidence.min() > 0.99
    state = sample(gp.at(courses)).at(0.0)
    assert divisions(state, np.eye(4)[truth]) == []


def test_many_courses_need_no_divisions():
    assert sweeps(150, 3) > sweeps(5000, 20) > 0
    assert sweeps(1_000_000, 20) == sweeps(150, 1) == 0


def test_new_courses_are_as_sure_as_old_ones():
    courses, _ = tl.simulate.profiles(0.12, per_group=150, seed=2)
    found = tl.mixture(courses, tl.fit(courses), k=3)
    again = found.predict(courses)
    assert np.abs(again.probabilities - found.probabilities).mean() < 0.005
    assert np.abs(again.probabilities - found.probabilities).max() < 0.05
    assert (again.probabilities.sum(axis=1) <= 1 + 1e-12).all()


@pytest.mark.filterwarnings("ignore:asked for")
def test_noise_as_large_as_the_signal_is_not_stated_with_certainty():
    """The fit says more than it knows; what is stated is about what is true."""
    from scipy.optimize import linear_sum_assignment

    stated, right = [], []
    for seed in range(8):
        rng, truth = np.random.default_rng(100 + seed), np.repeat(np.arange(3), 30)
        x = np.linspace(0, 1, 10)
        K = np.exp(-((x[:, None] - x) ** 2) / (2 * 0.3**2)) + 1e-9 * np.eye(10)
        curves = rng.standard_normal((3, 10)) @ np.linalg.cholesky(K).T
        courses = tl.TimeCourses.from_arrays(x, curves[truth] + rng.standard_normal((90, 10)))
        found = tl.mixture(courses, tl.GP.se(0.3, 1.0, 1.0), k=3, noise="common", spread=0.0)
        if found.k < 3:
            continue
        joint = np.array([[((found.nearest == a) & (truth == b)).sum() for b in range(3)] for a in range(3)])
        stated.append(found.probabilities.max(axis=1).mean())
        right.append((linear_sum_assignment(-joint)[1][found.nearest] == truth).mean())
    assert len(stated) >= 5
    assert np.mean(stated) - np.mean(right) < 0.05


@pytest.mark.parametrize("gaps", [False, True])
def test_courses_that_share_a_design_are_left_out_as_one_by_one(gaps):
    rng = np.random.default_rng(2)
    values = rng.standard_normal((3, 6))[rng.integers(0, 3, 400)] + 0.5 * rng.standard_normal((400, 6))
    if gaps:
        values[:90, 2] = values[50:170, 4] = np.nan  # some patterns of many courses, one of few
    state = sample(GP.at(tl.TimeCourses.from_arrays(TIMES, values))).at(0.2)
    r = rng.dirichlet([0.2, 0.2, 0.2, 0.05], 400)
    r[7] = [0, 1, 0, 0]
    clusters = Clusters.of(state, r)
    found = given_the_others(state, r, clusters)
    for k in range(3):
        expected = left_out(state, r, clusters, np.full(400, k))
        within = r[:, k] > SLIGHT
        np.testing.assert_allclose(found[within, k], expected[within], atol=1e-9)
        joined = evidence(clusters.A[k] + state.A[state.design_of], clusters.b[k] + state.b) - clusters.evidence[k]
        np.testing.assert_allclose(found[~within, k], joined[~within], atol=1e-9)
        np.testing.assert_allclose(predictive(state, clusters)[:, k], joined, atol=1e-9)
