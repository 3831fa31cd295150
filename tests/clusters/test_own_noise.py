"""Noise of courses and of clusters: against dense Gaussians, where it is there, and where it is not."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

import oracle
import timelike as tl
from timelike.clusters import saved
from timelike.clusters.curves.ascent import level_evidence, levelled, one_hot
from timelike.clusters.curves.bound import NONE, Clusters, Given, Rule, sample, soften
from timelike.clusters.curves.left_out import left_out, predictive
from timelike.clusters.curves.mixture import mixture
from timelike.clusters.curves.noise import COMMON, Noise

GP = tl.GP.se(0.7, signal_sd=0.6, noise_sd=0.1, mean=0.1)
KERNEL = oracle.given(oracle.se, 0.7, 0.6)
LEVELS = Noise(0.7 * np.arange(-2, 3), 0.2, 0.8)
BETWEEN = replace(LEVELS, between=0.7)
KINDS = ["grid", "gaps", "own", "errors"]


def made(kind, count=6):
    times, values, errors = oracle.example(kind, count)
    return tl.TimeCourses.from_arrays(times, values, errors=errors), times, values, errors


def noises(times, errors, noise, spread):
    """The noise matrix of each course at each level."""
    known = [np.zeros(len(x)) for x in times] if errors is None else errors
    return [
        [spread**2 * KERNEL(x, x) + s * np.diag(0.1**2 + e**2) for x, e in zip(times, known, strict=True)]
        for s in noise.scales
    ]


def weights(count, noise, k=2, seed=0):
    """Some responsibilities, (M N, K + 1)."""
    rng = np.random.default_rng(seed)
    return soften(rng.standard_normal((len(noise) * count, k + 1)), len(noise))[0]


def own(count=200, differ=0.5, clusters=0.0, seed=0):
    """Courses around five smooth curves, the standard deviation of whose noise differs by a factor exp(differ)."""
    rng = np.random.default_rng(seed)
    x = np.linspace(0, 1, 10)
    draw = np.linalg.cholesky(np.exp(-((x[:, None] - x) ** 2) / (2 * 0.3**2)) + 1e-9 * np.eye(10))
    labels = rng.integers(0, 5, count)
    curves = rng.standard_normal((5, 10)) @ draw.T
    sd = 0.3 * np.exp(differ * rng.standard_normal(count) + clusters * (labels - 2))
    values = curves[labels] + 0.2 * rng.standard_normal((count, 10)) @ draw.T
    return tl.TimeCourses.from_arrays(x, values + sd[:, None] * rng.standard_normal((count, 10))), labels, sd


# -- against dense Gaussians ---------------------------------------------------------------------------------------


def test_levels_share_what_lies_between_them():
    for centre, width in ((0.2, 0.8), (-1.3, 0.1), (0.35, 0.5)):
        noise = Noise(LEVELS.logs, centre, width)
        np.testing.assert_allclose(
            np.exp(noise.alone), oracle.level_probabilities(noise.logs, centre, width), atol=1e-9
        )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("spread", [0.0, 0.5])
def test_bound(kind, spread):
    courses, times, values, errors = made(kind)
    data = replace(sample(GP.at(courses)), noise=LEVELS)
    r = weights(6, LEVELS)
    logs = np.log(oracle.level_probabilities(LEVELS.logs, 0.2, 0.8))
    dense = noises(times, errors, LEVELS, spread)
    expected = oracle.mixture_bound(
        times, values, KERNEL, dense, r.reshape(5, 6, 3), np.tile(logs, (3, 1)), NONE, mean=0.1
    )
    assert data.at(spread).sweep(Given.at(r)).bound == pytest.approx(expected, rel=1e-9)


def test_bound_sums_over_the_noise_of_each_cluster():
    counts = np.array([[0.5, 1.0, 3.0, 0.2, 0.0], [2.0, 0.1, 0.0, 0.0, 0.0]])
    at = 0.2 + BETWEEN.between / 28 * np.arange(-112, 113)
    prior = np.exp(-(((at - 0.2) / 0.7) ** 2) / 2)
    table = np.stack([oracle.level_probabilities(LEVELS.logs, middle, 0.8) for middle in at])
    expected = [np.log((prior / prior.sum() * np.prod(table**n, axis=1)).sum()) for n in counts]
    assert BETWEEN.log_evidence(counts) == pytest.approx(sum(expected), abs=1e-9)
    np.testing.assert_allclose(np.exp(BETWEEN.alone), prior / prior.sum() @ table, atol=1e-9)
    chance = np.stack([prior * np.prod(table**n, axis=1) for n in counts])
    chance /= chance.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(BETWEEN.expected_logs(counts), chance @ np.log(table), atol=1e-8)
    np.testing.assert_allclose(BETWEEN.log_shares(counts), np.log(chance @ table), atol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("spread", [0.0, 0.5])
def test_a_course_given_others(kind, spread):
    courses, times, values, errors = made(kind)
    state = replace(sample(GP.at(courses)), noise=LEVELS).at(spread)
    dense = noises(times, errors, LEVELS, spread)
    r = weights(6, LEVELS)
    clusters = Clusters.of(state, r)
    labels = np.array([0, 1, 0, 1, 1, 0])
    rows = [(m, i) for m in range(5) for i in range(6)]

    def together(cluster, without, more=()):
        some = [(m, i, r[6 * m + i, cluster]) for m, i in rows if i != without] + [(m, i, 1.0) for m, i in more]
        x, y, R = [times[i] for _, i, _ in some], [values[i] for _, i, _ in some], [dense[m][i] for m, i, _ in some]
        return oracle.weighted_log_density(x, y, KERNEL, R, [w for *_, w in some], 0.1)

    found = state.by_node(left_out(state, r, clusters, labels) + state.c)
    known = state.by_node(predictive(state, clusters))
    for m, i in ((0, 0), (3, 1), (4, 5)):
        expected = together(labels[i], i, [(m, i)]) - together(labels[i], i)
        assert found[m, i] == pytest.approx(expected, rel=1e-9, abs=1e-9)
        expected = together(1, None, [(m, i)]) - together(1, None) + LEVELS.alone[m]
        assert known[m, i, 1] == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("noise", [LEVELS, BETWEEN])
@pytest.mark.parametrize("kind", KINDS)
def test_sweeps_go_uphill(kind, noise):
    courses, *_ = made(kind, 20)
    state = replace(sample(GP.at(courses)), noise=noise).at(0.1)
    fit = state.sweep(Given.at(weights(20, noise, k=4)))
    values = [fit.bound]
    for _ in range(15):
        fit = state.sweep(Rule(fit.clusters))
        values.append(fit.bound)
    assert np.diff(values).min() > -1e-9
    assert values[-1] - values[0] > 1
    np.testing.assert_allclose(state.by_node(fit.weights.r).sum(axis=(0, 2)), 1)


def test_levels_that_suit_a_cluster_raise_the_bound():
    courses, labels, _ = own(60, differ=0.0, clusters=0.5)
    state = replace(sample(tl.GP.se(0.3, 1.0, 0.3).at(courses)), noise=replace(BETWEEN, width=0.0)).at(0.2)
    start = Given.at(one_hot(labels, 5))
    before, after = (state.sweep(given).bound for given in (start, levelled(state, start)))
    assert after > before + 10
    told = level_evidence(state, Clusters.of(state, start.of(state)[0]), start.r)
    np.testing.assert_allclose(told.levels(state.nodes.noise).sum(axis=0), start.r, atol=1e-12)


# -- laws ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_one_level_is_one_noise(kind):
    courses, *_ = made(kind)
    data, r = sample(GP.at(courses)), weights(6, COMMON)
    one = replace(data, noise=Noise(np.zeros(1), 0.3, 0.8)).at(0.3).sweep(Given.at(r))
    assert one.bound == data.at(0.3).sweep(Given.at(r)).bound
    s = 2.0  # one level that is not the model's: another model
    other, gp = replace(data, noise=Noise(np.log([s]))), tl.GP.se(0.7, 0.6, 0.1 * np.sqrt(s), 0.1)
    if kind != "errors":
        expected = sample(gp.at(courses)).at(0.3).sweep(Given.at(r)).bound
        assert other.at(0.3).sweep(Given.at(r)).bound == pytest.approx(expected, rel=1e-9)


@settings(max_examples=3)
@given(st.permutations(range(60)), st.floats(0.01, 100), st.floats(0.01, 100))
def test_order_and_units_do_not_matter(order, time_unit, value_unit):
    courses, *_ = own(60, differ=0.8)
    x, y = courses.grid * time_unit, courses.values.reshape(60, 10)[order] * value_unit
    gps = tl.GP.se(0.3, 1.0, 0.4), tl.GP.se(0.3 * time_unit, value_unit, 0.4 * value_unit)
    with pytest.warns(tl.DataWarning, match="the noise differs"):
        found = mixture(courses, gps[0], k=5, robust=False)
    with pytest.warns(tl.DataWarning, match="the noise differs"):
        again = mixture(tl.TimeCourses.from_arrays(x, y), gps[1], k=5, robust=False)
    np.testing.assert_allclose(found.probabilities[order], again.probabilities, atol=0.05)
    np.testing.assert_allclose(found.course_noise[order] * value_unit, again.course_noise, rtol=0.1)


# -- found where it is there, and not where it is not ----------------------------------------------------------------


def test_noise_of_courses_is_found():
    courses, labels, sd = own(differ=0.7, seed=1)
    gp = tl.fit(courses)
    with pytest.warns(tl.DataWarning, match=r"between courses \(by a factor of [12](\.\d)?\): nine of ten"):
        found = mixture(courses, gp, k=5, robust=False)
    plain = mixture(courses, gp, k=5, robust=False, noise="common", refine=False)
    assert found.noise.width == pytest.approx(1.4, abs=0.3)
    assert np.corrcoef(np.log(found.course_noise), np.log(sd))[0, 1] > 0.75
    assert adjusted_rand_score(labels, found.nearest) > adjusted_rand_score(labels, plain.nearest)
    assert found.to_frame()["noise_sd"].tolist() == found.course_noise.tolist()
    assert "noise_sd" not in plain.to_frame()
    assert (plain.course_noise == gp.noise_sd).all()


def test_noise_of_clusters_is_found():
    courses, labels, _ = own(differ=0.0, clusters=0.4, seed=1)
    with pytest.warns(tl.DataWarning, match="the noise differs between clusters: nine"):
        found = mixture(courses, tl.GP.se(0.3, 1.0, 0.3), k=5, robust=False)
    assert (found.noise.width, found.noise.between > 0) == (0, True)
    for label in range(5):
        assert np.median(found.course_noise[labels == label]) == pytest.approx(0.3 * np.exp(0.4 * (label - 2)), rel=0.2)


def test_one_noise_where_there_is_one():
    courses, _, _ = own(differ=0.0, seed=2)
    for gp in (tl.GP.se(0.3, 1.0, 0.3), tl.GP.se(0.3, 1.0, 0.4)):  # also where the model has another
        assert mixture(courses, gp, k=5).noise is COMMON


def test_new_courses_have_a_noise_of_their_own():
    courses, labels, _ = own(seed=4)
    with pytest.warns(tl.DataWarning, match="the noise differs"):
        found = mixture(courses, tl.fit(courses), k=5, robust=False)
    again = found.predict(courses)
    assert (again.labels == found.labels).mean() > 0.97
    density = found.log_densities(courses)
    plain = mixture(courses, found.gp, k=5, robust=False, noise="common")
    assert density.sum() > plain.log_densities(courses).sum() + 20
    assert adjusted_rand_score(labels, found.coarser(4).nearest) > 0.5
    assert found.coarser(4).noise is found.noise


def test_comes_back_from_disk(tmp_path):
    courses, _, _ = own(60, differ=1.0)
    gp = tl.GP.se(0.3, 1.0, 0.4)
    with pytest.warns(tl.DataWarning, match="the noise differs"):
        found = mixture(courses, gp, k=4, robust=False)
    saved.save(tmp_path / "c.npz", found, courses)
    again, _ = saved.load(tmp_path / "c.npz", gp)
    for other in (again, pickle.loads(pickle.dumps(found))):  # noqa: S301
        np.testing.assert_array_equal(other.course_noise, found.course_noise)
        np.testing.assert_array_equal(other.curve(1, [0.2, 0.7]), found.curve(1, [0.2, 0.7]))
        np.testing.assert_array_equal(
            other.predict(courses[:9]).probabilities, found.predict(courses[:9]).probabilities
        )


def test_an_unknown_noise():
    with pytest.raises(tl.InputError, match="noise is 'own': choose from auto, common"):
        mixture(made("grid")[0], GP, noise="own")
