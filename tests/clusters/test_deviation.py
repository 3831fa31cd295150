"""Deviations within a cluster on a length scale of their own: against dense Gaussians, and found where they are."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct
from sklearn.metrics import adjusted_rand_score

import oracle
import timelike as tl
from timelike.clusters import saved
from timelike.clusters.curves.bound import NONE, Clusters, Given, rescaled, sample, soften
from timelike.clusters.curves.left_out import left_out, predictive
from timelike.clusters.curves.mixture import _too_rough, mixture
from timelike.clusters.curves.noise import COMMON, Noise
from timelike.clusters.curves.refinement import Within

GP = tl.GP.se(0.7, signal_sd=0.6, noise_sd=0.1, mean=0.1)
CURVE, DEVIATION = oracle.given(oracle.se, 0.7, 0.6), oracle.given(oracle.se, 0.35, 0.6)
LEVELS = Noise(0.7 * np.arange(-1, 2), 0.2, 0.8)
KINDS = ["grid", "gaps", "own", "errors"]


def made(kind, noise, spread):
    """Courses, their information, dense noise matrices at each level, and some weights."""
    times, values, errors = oracle.example(kind, 6)
    courses = tl.TimeCourses.from_arrays(times, values, errors=errors)
    known = [np.zeros(len(x)) for x in times] if errors is None else errors
    dense = [
        [spread**2 * DEVIATION(x, x) + s * np.diag(0.1**2 + e**2) for x, e in zip(times, known, strict=True)]
        for s in noise.scales
    ]
    r = soften(np.random.default_rng(0).standard_normal((6 * len(noise), 3)), len(noise))[0]
    data = replace(sample(GP.at(courses), scale=0.5), noise=noise)
    return times, values, data, dense, r


def deviating(seed, per_group=5, scales=(0.3, 1.0)):
    """Four smooth curves, and courses at own times that deviate from them on another length scale."""
    rng, labels = np.random.default_rng(seed), np.repeat(np.arange(4), per_group)
    times = [np.sort(rng.random(10)) for _ in labels]
    x = np.concatenate(times)
    shared, own = (np.linalg.cholesky(oracle.se(x, x, scale, 1.0) + 1e-8 * np.eye(len(x))) for scale in scales)
    curves, deviations = (rng.standard_normal((count, len(x))) @ L.T for count, L in ((4, shared), (len(labels), own)))
    at = np.arange(len(x)).reshape(len(labels), 10)
    values = [curves[g, rows] + 0.7 * deviations[i, rows] for i, (g, rows) in enumerate(zip(labels, at, strict=True))]
    return tl.TimeCourses.from_arrays(times, [v + 0.1 * rng.standard_normal(10) for v in values]), labels


# -- against dense Gaussians ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("noise", [COMMON, LEVELS], ids=["one noise", "levels"])
def test_bound(kind, noise):
    times, values, data, dense, r = made(kind, noise, 0.4)
    logs = np.zeros(1) if noise is COMMON else np.log(oracle.level_probabilities(noise.logs, 0.2, 0.8))
    levels = r.reshape(len(noise), 6, 3), np.tile(logs, (3, 1))
    expected = oracle.mixture_bound(times, values, CURVE, dense, *levels, NONE, mean=0.1)
    assert data.at(0.4).sweep(Given.at(r)).bound == pytest.approx(expected, rel=1e-9)
    which = np.array([0, 2, 5])
    few = data.select(which).at(0.4)
    np.testing.assert_allclose(few.by_node(few.own), data.at(0.4).by_node(data.at(0.4).own)[:, which], rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_a_course_given_others(kind):
    times, values, data, (dense,), r = made(kind, COMMON, 0.4)
    state = data.at(0.4)
    clusters = Clusters.of(state, r)

    def together(weights):
        return oracle.weighted_log_density(times, values, CURVE, dense, weights, 0.1)

    def with_weight(i, weight):
        return np.where(np.arange(6) == i, weight, r[:, 1])

    found = left_out(state, r, clusters, np.ones(6, dtype=int)) + state.c
    for i in range(6):
        expected = together(with_weight(i, 1.0)) - together(with_weight(i, 0.0))
        assert found[i] == pytest.approx(expected, rel=1e-9, abs=1e-9)
        alone = oracle.log_density(values[i], 0.1, CURVE(times[i], times[i]) + dense[i])
        assert state.own[i] + state.c[i] == pytest.approx(alone, rel=1e-9, abs=1e-9)
    new = predictive(state, clusters)
    x, y, R = [*times, times[0]], [*values, values[0]], [*dense, dense[0]]
    expected = oracle.weighted_log_density(x, y, CURVE, R, [*r[:, 0], 1.0], 0.1) - together(r[:, 0])
    assert new[0, 0] + state.c[0] == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_the_length_scale_of_the_curve_is_the_spread(kind):
    times, values, errors = oracle.example(kind, 6)
    here = GP.at(tl.TimeCourses.from_arrays(times, values, errors=errors))
    r = soften(np.random.default_rng(0).standard_normal((6, 3)))[0]
    near, same = (sample(here, scale=scale).at(0.3).sweep(Given.at(r)).bound for scale in (1 + 1e-9, 1.0))
    assert near == pytest.approx(same, abs=1e-6)


def test_kernels_without_a_length_scale_have_one_deviation():
    kernel = ConstantKernel(2.0) * DotProduct(0.5)
    assert rescaled(kernel, 3.0) == kernel


# -- found where they are, and not where they are not ----------------------------------------------------------------


@pytest.fixture(scope="module")
def few():
    courses, labels = deviating(7)
    gp = tl.fit(courses)
    with pytest.warns(tl.DataWarning, match="members of a cluster share a curve .* and differ from it by about"):
        return courses, labels, gp, mixture(courses, gp)


def test_deviations_are_found(few):
    courses, labels, gp, found = few
    plain = mixture(courses, gp, refine=False, noise="common")
    assert plain.deviation_scale == 1
    assert plain.gp is gp
    assert adjusted_rand_score(labels, found.nearest) > adjusted_rand_score(labels, plain.nearest) + 0.05
    assert found.gp.length_scale == pytest.approx(0.3, rel=0.25)
    assert found.deviation.length_scale > 0.6
    assert found.deviation.sd == pytest.approx(0.7, rel=0.3)
    assert found.gp.noise_sd == pytest.approx(0.1, rel=0.2)


def test_none_where_there_are_none():
    courses, _ = tl.simulate.profiles(0.08, "asynchronous", per_group=15, seed=2)
    gp = tl.fit(courses)
    found = mixture(courses, gp)
    assert found.deviation_scale == 1
    assert found.gp is gp
    assert found.deviation == (found.spread * gp.signal_sd, gp.length_scale)


def test_new_courses_and_coarser_clusters_know_the_deviations(few):
    courses, _, _, found = few
    assert (found.predict(courses).labels == found.labels).mean() > 0.9
    assert found.coarser(2).deviation_scale == found.deviation_scale


def test_comes_back_from_disk(few, tmp_path):
    courses, _, _, found = few
    saved.save(tmp_path / "c.npz", found, courses)
    again, _ = saved.load(tmp_path / "c.npz", GP)  # which is not the model that was fitted within the clusters
    assert repr(again.gp) == repr(found.gp) != repr(GP)
    assert again.deviation == found.deviation
    np.testing.assert_array_equal(again.curve(1, [0.2, 0.7]), found.curve(1, [0.2, 0.7]))
    np.testing.assert_array_equal(again.predict(courses).probabilities, found.predict(courses).probabilities)


def test_a_fitted_model_is_adapted_where_the_clusters_ask_for_another():
    times, rng = np.linspace(0, 1, 12), np.random.default_rng(0)
    curves = np.repeat([np.sin(9 * times), np.cos(9 * times)], 20, axis=0)
    courses = tl.TimeCourses.from_arrays(times, curves + 0.3 * rng.standard_normal(curves.shape))
    given = tl.GP.se(1.5, 1.0, 0.4)
    assert mixture(courses, given, robust=False).gp is given  # the user's
    with pytest.warns(tl.DataWarning, match="the model was adapted to the clusters"):
        found = mixture(courses, replace(given, log_likelihood=0.0), noise="common", robust=False)
    assert found.gp.length_scale < 0.5
    assert found.gp.log_likelihood is None
    assert found.k == 2


def test_several_length_scales_are_named():
    rng = np.random.default_rng(3)
    points, labels = rng.random((14, 2)), np.repeat([0, 1], 20)
    kernel, other = RBF([0.3, 0.5]), RBF([3.0, 5.0])
    draw, slow = (np.linalg.cholesky(k(points) + 1e-9 * np.eye(14)) for k in (kernel, other))
    values = (rng.standard_normal((2, 14)) @ draw.T)[labels] + 0.8 * rng.standard_normal((40, 14)) @ slow.T
    courses = tl.TimeCourses.from_arrays(points, values + 0.1 * rng.standard_normal(values.shape))
    fitted = replace(tl.GP(kernel, 1.2, 0.1), log_likelihood=0.0)
    with pytest.warns(tl.DataWarning, match=r"share a curve \(length scale \S+, \S+, standard deviation"):
        found = mixture(courses, fitted, 2, noise="common")
    assert found.deviation.length_scale.shape == (2,)


def test_evidence_is_that_of_the_refitted_model(few):
    courses, *_ = few
    gp = tl.fit(courses)
    found, plain = (mixture(courses, gp, k=3, refine=how, robust=False, noise="common") for how in (np.True_, False))
    assert found.gp is not gp
    assert found.evidence[3] > plain.evidence[3] + 1


def test_methods_name_the_model_of_the_clusters(few, tmp_path):
    courses, *_ = few
    gp = tl.fit(courses)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tl.DataWarning)
        plain, found = (mixture(courses, gp, k=3, refine=how, robust=False, noise="common") for how in (False, True))
    for clustering, said in ((plain, False), (found, True)):
        page = tl.report(tmp_path / f"{said}.html", courses, gp, clustering).read_text(encoding="utf-8")
        assert ("adapted within the clusters" in page) == said


def test_deviations_shorter_than_the_gaps_are_noise(few):
    courses, *_ = few
    here = GP.at(courses)
    assert _too_rough(here, Within(GP, 0.3, 1e-3))
    assert not _too_rough(here, Within(GP, 0.3, 0.5))


def test_an_unknown_refinement():
    with pytest.raises(tl.InputError, match="refine is 1: choose from auto, True and False"):
        mixture(deviating(0)[0], GP, refine=1)
    with pytest.raises(tl.InputError, match="refine is 'yes': choose from auto, True and False"):
        mixture(deviating(0)[0], GP, refine="yes")
