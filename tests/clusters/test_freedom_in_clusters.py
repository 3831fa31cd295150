"""Clusters up to level, gain and delay: against dense Gaussians, what is recovered, and what the freedom costs."""

import pickle
import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import oracle
import timelike as tl
from timelike.clusters.curves.aligned_merges import Grid, agglomerate_aligned
from timelike.clusters.curves.alignment import on_circle, on_nodes
from timelike.clusters.curves.ascent import given_up
from timelike.clusters.curves.bound import NONE, Given, Rule, sample, soften
from timelike.clusters.curves.freedom_search import on_other_nodes
from timelike.clusters.curves.left_out import left_out
from timelike.exceptions import DataWarning, InputError
from timelike.gp.freedom import Freedom
from timelike.gp.information import evidence

GP = tl.GP.se(0.7, signal_sd=0.6, noise_sd=0.1, mean=0.1)
KERNEL = oracle.given(oracle.se, 0.7, 0.6)
FREE = Freedom(log_gains=(-0.4, 0.0, 0.4), delays=(-0.2, 0.0, 0.2), gain_sd=0.3, delay_sd=0.15)
FREEDOMS = {
    "level": Freedom(level=True),
    "gain": replace(FREE, delays=(0.0,)),
    "delay": replace(FREE, log_gains=(0.0,)),
    "both": FREE,
    "all": replace(FREE, level=True),
}
WIDE = 1e3
"""Standard deviation of a level of which next to nothing is known."""


def made(kind, count=5):
    times, values, errors = oracle.example(kind, count)
    return tl.TimeCourses.from_arrays(times, values, errors=errors), times, values, errors


def rows_of(times, values, errors, free, spread, mean, kernel):
    """Each course at each node as a course without freedoms, and the logarithm of what densities are divided by."""
    x, y, R, scale = [], [], [], []
    for g in free.log_gains:
        for h in free.delays:
            for t, v, e in zip(times, values, errors or [0.0] * len(times), strict=True):
                noise = np.diag(0.1**2 + np.broadcast_to(e, len(t)) ** 2)
                x.append(np.asarray(t) - h)
                y.append(mean + (np.asarray(v) - mean) / np.exp(g))
                level = WIDE**2 * np.ones((len(t), len(t))) if free.level else 0.0
                R.append((noise + level) / np.exp(2 * g) + spread**2 * kernel(x[-1], x[-1]))
                scale.append(-g * len(t) + (np.log(2 * np.pi * WIDE**2) / 2 if free.level else 0.0))
    squares = [(g / free.gain_sd) ** 2 + (h / free.delay_sd) ** 2 for g in free.log_gains for h in free.delays]
    prior = np.exp(-np.array(squares) / 2)
    return x, y, R, np.array(scale) + np.repeat(np.log(prior / prior.sum()), len(times))


@pytest.mark.parametrize("free", FREEDOMS)
@pytest.mark.parametrize("kind", ["grid", "gaps", "own", "errors"])
@pytest.mark.parametrize("spread", [0.0, 0.4])
def test_bound(kind, free, spread):
    free = FREEDOMS[free]
    courses, times, values, errors = made(kind)
    rng = np.random.default_rng(0)
    r = soften(rng.standard_normal((len(free) * 5, 3)), len(free))[0]
    sized = len(free.log_gains) > 1 and not free.level  # about zero
    mean, kernel = (0.0, oracle.about_zero(KERNEL, 0.1)) if sized else (0.1, KERNEL)
    x, y, R, extra = rows_of(times, values, errors, free, spread, mean, kernel)
    dense = oracle.mixture_bound(x, y, kernel, [R], r[None], np.zeros((3, 1)), NONE, mean=mean)
    found = sample(GP.at(courses, free)).at(spread).sweep(Given.at(r)).bound
    np.testing.assert_allclose(found, dense + r.sum(axis=1) @ extra, rtol=1e-6 if free.level else 1e-9)


@pytest.mark.parametrize("kind", ["grid", "own"])
def test_left_out(kind):
    courses, *_ = made(kind)
    state = sample(GP.at(courses, FREE)).at(0.3)
    r = soften(np.random.default_rng(0).standard_normal((9 * 5, 3)), 9)[0]
    clusters = state.sweep(Given.at(r)).clusters
    found = left_out(state, r, clusters, np.zeros(5, dtype=int))
    rows = np.arange(45)[np.arange(45) % 5 == 2]
    weight = r[rows, 0]
    A = clusters.A[0] - np.einsum("m,mab->ab", weight, state.A[state.design_of[rows]])
    b = clusters.b[0] - weight @ state.b[rows]
    expected = evidence(A + state.A[state.design_of[rows]], b + state.b[rows]) - evidence(A, b)
    np.testing.assert_allclose(found[rows], expected, atol=1e-9)


def test_a_sweep_goes_uphill():
    courses, *_ = made("own")
    state = sample(GP.at(courses, FREEDOMS["all"])).at(0.2)
    fit = state.sweep(Given.at(soften(np.random.default_rng(1).standard_normal((45, 4)), 9)[0]))
    for _ in range(5):
        last, fit = fit, state.sweep(Rule(fit.clusters))
        assert fit.bound >= last.bound - 1e-9


def test_fewer_nodes_are_the_same_as_those_alone():
    courses, *_ = made("gaps")
    wide = replace(FREE, delays=(-0.2, -0.1, 0.0, 0.1, 0.2))
    thin = sample(GP.at(courses, wide)).thinned(3, 3).at(0.2)
    plain = sample(GP.at(courses, FREE)).at(0.2)
    np.testing.assert_allclose(thin.own, plain.own, atol=1e-9)
    np.testing.assert_allclose(thin.c, plain.c)


def test_a_cluster_that_is_given_up_is_the_one_nobody_needs():
    courses, labels, *_ = shifted(0, gain=1e-9, delay=1e-9)
    data = sample(tl.fit(courses).at(courses, FREEDOMS["gain"]))
    doubled = np.where(np.arange(len(labels)) % 2, labels, np.where(labels == 0, 3, labels))
    state = data.at(0.0)
    fit = state.sweep(Given.at(np.tile(np.eye(4, 5)[doubled], (3, 1)) / 3))
    rest = given_up(data, fit).r.reshape(3, -1, 4).sum(axis=0)
    assert adjusted_rand_score(labels, rest[:, :-1].argmax(axis=1)) > 0.95


def test_weights_go_to_the_nearest_of_other_nodes():
    r = np.arange(9.0).reshape(9, 1)
    finer = replace(FREE, delays=(-0.2, -0.1, 0.0, 0.1, 0.2))
    moved = on_other_nodes(FREE, r, finer).reshape(3, 5)
    np.testing.assert_array_equal(moved[:, ::2].ravel(), r[:, 0])
    assert moved[:, 1::2].sum() == 0


# -- what is recovered -----------------------------------------------------------------------------------------------


def shifted(seed, count=60, delay=3.0, gain=0.3, level=0.0, noise=0.15):
    """Courses around three smooth curves, each with a delay, a gain and a level of its own."""
    rng = np.random.default_rng(seed)
    times = np.linspace(0, 12, 13)
    weight, slope, phase = rng.standard_normal((3, 40)), rng.standard_normal((3, 40)) / 2, rng.uniform(0, 7, (3, 40))
    labels, h = np.arange(count) % 3, rng.uniform(-delay / 2, delay / 2, count)
    g, c = np.exp(gain * rng.standard_normal(count)), level * rng.standard_normal(count)
    curves = [
        (weight[k] * np.cos(np.outer(times - late, slope[k]) + phase[k])).sum(axis=1) * np.sqrt(2 / 40)
        for k, late in zip(labels, h, strict=True)
    ]
    values = c[:, None] + g[:, None] * np.array(curves) + noise * rng.standard_normal((count, len(times)))
    return tl.TimeCourses.from_arrays(times, values), labels, h, g, c


def within_clusters(found, truth, labels):
    """The truth as far as a cluster can know it: moved by one number for each."""
    return truth + np.array([np.median((found - truth)[labels == k]) for k in range(3)])[labels]


@pytest.fixture(scope="module")
def everything():
    courses, *truth = shifted(1, level=2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        gp = tl.fit(courses.centered())
        plain = tl.mixture(courses, gp, k=3)
        free = tl.mixture(courses, gp, k=3, up_to=("level", "gain", "delay"), max_delay=3.0)
    return courses, truth, plain, free


def test_shapes_are_found_where_level_size_and_time_differ(everything):
    _, (labels, *_), plain, free = everything
    assert adjusted_rand_score(labels, plain.labels) < 0.5
    assert adjusted_rand_score(labels, free.labels) > 0.95


@pytest.mark.parametrize(("name", "place", "error"), [("delay", 1, 0.3), ("gain", 2, 0.15), ("level", 3, 0.25)])
def test_places_are_recovered_with_intervals_that_hold(everything, name, place, error):
    _, truth, _, free = everything
    labels, known = truth[0], getattr(free, name)
    true, found = (np.log(x) if name == "gain" else x for x in (truth[place], known.mean))
    expected = within_clusters(found, true, labels)
    assert np.sqrt(np.mean((found - expected) ** 2)) < error
    low, high = (np.log(x) if name == "gain" else x for x in (known.low, known.high))
    covered = np.mean((low <= expected) & (expected <= high))
    assert covered > (0.6 if name == "level" else 0.8)


def test_every_freedom_that_is_used_earns_something(everything):
    *_, free = everything
    assert set(free.earned) == {"level", "gain", "delay"}
    assert min(free.earned.values()) > 0.3


def test_table(everything):
    *_, free = everything
    frame = free.to_frame()
    for name in ("delay", "gain", "level"):
        assert (frame[f"{name}_low"] <= frame[name] + 1e-9).all()
        assert (frame[name] <= frame[f"{name}_high"] + 1e-9).all()


def test_aligned_courses_lie_on_their_curves(everything):
    courses, _, _, free = everything
    moved = free.aligned()
    assert moved.names == courses.names
    left = []
    for i, name in enumerate(courses.names):
        one = moved[name]
        left.append(one.values - free.curve(int(free.nearest[i]), one.times).mean)
    assert np.std(np.concatenate(left)) < 0.35
    assert np.std(courses.values) > 1.5


def test_curves_are_in_the_units_of_the_data(everything):
    courses, _, _, free = everything
    up = tl.TimeCourses.from_arrays(courses.designs.points[:, 0], courses.values.reshape(60, -1) + 100, courses.names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        lifted, same = (
            tl.mixture(some, free.gp, k=3, up_to="level, delay", max_delay=3.0, refine=False) for some in (up, courses)
        )
    np.testing.assert_array_equal(lifted.labels, same.labels)
    at = np.linspace(0, 12, 5)
    np.testing.assert_allclose(lifted.curves(at).mean, same.curves(at).mean + 100, atol=1e-3)
    np.testing.assert_allclose(lifted.delay.mean, same.delay.mean, atol=1e-4)


def test_new_courses_go_where_they_belong(everything):
    courses, _, _, free = everything
    again = free.predict(courses.select(np.arange(12)))
    np.testing.assert_array_equal(again.labels, free.labels[:12])


def test_it_survives_a_copy(everything):
    *_, free = everything
    copy = pickle.loads(pickle.dumps(free))  # noqa: S301
    np.testing.assert_array_equal(copy.delay.mean, free.delay.mean)


@pytest.mark.filterwarnings("ignore::timelike.DataWarning")
def test_a_freedom_that_is_not_used_costs_nothing():
    courses, labels, *_ = shifted(2, delay=1e-9, gain=1e-9)
    gp = tl.fit(courses)
    for up_to in ("level", "gain", "delay"):
        found = tl.mixture(courses, gp, k=3, up_to=up_to, max_delay=3.0 if up_to == "delay" else None)
        assert adjusted_rand_score(labels, found.labels) > 0.99
        assert found.earned[up_to] < 0.05


@pytest.mark.filterwarnings("ignore::timelike.DataWarning")
def test_those_that_pay_are_taken():
    courses, labels, *_ = shifted(3, gain=1e-9)
    gp = tl.fit(courses)
    with pytest.warns(DataWarning, match="may differ in: delay"):
        found = tl.mixture(courses, gp, k=3, up_to="auto", max_delay=3.0)
    assert found.free.names == ("delay",)
    assert adjusted_rand_score(labels, found.labels) > 0.95


def test_none_is_taken_where_none_pays():
    courses, *_ = shifted(4, delay=1e-9, gain=1e-9)
    with pytest.warns(DataWarning, match="neither in level, size nor delay"):
        found = tl.mixture(courses, tl.fit(courses), k=3, up_to="auto", max_delay=3.0)
    assert not found.free


@pytest.mark.filterwarnings("ignore::timelike.DataWarning")
def test_five_curves_of_different_sizes_are_five_clusters():
    rng, times = np.random.default_rng(5), np.linspace(0, 10, 10)
    draw = np.linalg.cholesky(np.exp(-((times[:, None] - times) ** 2) / 8) + 1e-9 * np.eye(10))
    labels = np.arange(100) % 5
    values = np.exp(0.5 * rng.standard_normal((100, 1))) * (rng.standard_normal((5, 10)) @ draw.T)[labels]
    courses = tl.TimeCourses.from_arrays(times, values + 0.2 * rng.standard_normal((100, 10)))
    gp = tl.fit(courses)
    found = tl.mixture(courses, gp, up_to="gain")
    assert found.k == 5
    assert adjusted_rand_score(labels, found.labels) > 0.95
    assert tl.mixture(courses, gp).k != 5


def test_no_freedom_is_todays_answer():
    courses, _ = tl.simulate.profiles(seed=1)
    gp = tl.GP.se(0.9, signal_sd=0.7, noise_sd=0.08)
    plain, free = tl.mixture(courses, gp, k=3), tl.mixture(courses, gp, k=3, up_to=())
    np.testing.assert_array_equal(plain.probabilities, free.probabilities)
    assert free.delay is free.gain is free.level is None
    assert list(free.to_frame()) == ["name", "cluster", "probability", "nearest"]


# -- evidence linkage ------------------------------------------------------------------------------------------------


def test_first_merge_is_of_the_pair_with_the_largest_sum_over_nodes():
    courses, *_ = made("own")
    state = sample(GP.at(courses, FREE)).at(0.0)
    grid = Grid(FREE)
    offsets, prior = grid.offsets, grid.log_prior
    own = np.log(np.exp(prior[:, None] + state.by_node(state.own + state.c)).sum(axis=0))
    S = np.full((5, 5), -np.inf)
    A, b, c = state.A.reshape(9, 5, *state.A.shape[1:]), state.by_node(state.b), state.by_node(state.c)
    for i in range(5):
        for j in range(i + 1, 5):
            back, forth = grid.number(-offsets), grid.number(offsets)
            together = evidence(A[back, i] + A[forth, j], b[back, i] + b[forth, j]) + c[back, i] + c[forth, j]
            S[i, j] = np.log(np.exp(together + prior).sum()) - own[i] - own[j]
    merges = agglomerate_aligned(state).merges
    np.testing.assert_allclose(merges.gains[0], S.max())
    np.testing.assert_array_equal(merges.pairs[0], np.unravel_index(S.argmax(), S.shape))


@pytest.mark.parametrize("kind", ["grid", "own"])
def test_linkage_by_shape(kind):
    courses, labels, h, *_ = shifted(6, count=45, gain=1e-9)
    if kind == "own":  # without one value each: designs of their own
        values = courses.values.reshape(45, -1).copy()
        values[np.arange(45), np.arange(45) % 13] = np.nan
        courses = tl.TimeCourses.from_arrays(courses.designs.points[:, 0], values)
    gp = tl.fit(courses)
    plain = tl.evidence_linkage(courses, gp, 3)
    found = tl.evidence_linkage(courses, gp, 3, up_to="delay", max_delay=3.0)
    score = adjusted_rand_score(labels, found.labels)
    assert score > 0.9 > adjusted_rand_score(labels, plain.labels)
    late = within_clusters(found.delay.mean, h, labels)
    assert np.corrcoef(found.delay.mean, late)[0, 1] > 0.9


def test_linkage_of_too_many_to_move():
    courses = tl.TimeCourses.from_arrays([0, 1, 2], 9 + np.random.default_rng(0).standard_normal((2001, 3)))
    with pytest.raises(InputError, match=r"moves each of 2,001 courses against all others, and stops at 2,000"):
        tl.evidence_linkage(courses, tl.GP.se(1, 1, 0.3), up_to="gain")


# -- phases ---------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::timelike.DataWarning")
def test_with_a_periodic_kernel_a_delay_is_a_phase():
    from sklearn.gaussian_process.kernels import ExpSineSquared

    rng, times = np.random.default_rng(0), np.arange(0, 48, 4.0)
    phase = rng.uniform(-12, 12, 40)
    curve = np.cos(2 * np.pi * (times - phase[:, None]) / 24) + 0.5 * np.cos(4 * np.pi * (times - phase[:, None]) / 24)
    courses = tl.TimeCourses.from_arrays(times, curve + 0.2 * rng.standard_normal((40, 12)))
    gp = tl.GP(ExpSineSquared(1.0, 24.0), signal_sd=0.8, noise_sd=0.2)
    found = tl.mixture(courses, gp, k=1, up_to="delay")
    assert found.free.period == 24
    off = np.exp(2j * np.pi * (found.delay.mean - phase) / 24)
    assert np.abs(off.mean()) > 0.97


def test_intervals_on_nodes_and_on_a_circle():
    nodes, width = np.linspace(-4, 4, 33), 0.5
    weights = np.exp(-((nodes - 0.3) ** 2) / (2 * width**2))[:, None]
    mean, low, high = on_nodes(nodes, weights / weights.sum())
    np.testing.assert_allclose([mean[0], low[0], high[0]], [0.3, 0.3 - 1.645 * width, 0.3 + 1.645 * width], atol=0.03)
    round_about = np.exp(-(((nodes[:-1] - 3.9 + 4) % 8 - 4) ** 2) / (2 * width**2))[:, None]
    mean, low, high = on_circle(nodes[:-1], round_about / round_about.sum(), 8.0)
    assert low[0] < mean[0] < high[0]
    np.testing.assert_allclose((high - low)[0], 2 * 1.645 * width, atol=0.1)
    np.testing.assert_allclose(np.cos(2 * np.pi * (mean - 3.9) / 8), 1, atol=1e-3)
