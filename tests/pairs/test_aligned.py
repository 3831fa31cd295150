"""Alike up to level, gain and delay: every way to weigh the nodes of a pair is the oracle's."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.gaussian_process import kernels as sk

import oracle
import timelike as tl
from timelike import GP, TimeCourses
from timelike.gp.freedom import Freedom, freedom, nodes
from timelike.pairs.aligned.nodes import PairNodes
from timelike.pairs.aligned.placed import Placed
from timelike.pairs.aligned.posterior import told
from timelike.pairs.aligned.route import AlignedRoute, route_of
from timelike.pairs.aligned.sums import summed
from timelike.pairs.aligned.weighing import ByGrids, ByInformation, Densely
from timelike.pairs.job import Cut, Job
from timelike.pairs.similarity import in_memory

SIGNAL, NOISE, MEAN = 1.3, 0.4, 0.2
WAYS = {
    "grids": lambda here, n: ByGrids(placed(here, n)),
    "information": lambda here, n: ByInformation.of(placed(here, n)),
    "dense": Densely,
    "precise grids": lambda here, n: ByGrids(placed(here, n), precise_above=0.0),
    "precise information": lambda here, n: replace(ByInformation.of(placed(here, n)), precise_above=-np.inf),
}
FREEDOMS = {
    "level": Freedom(level=True),
    "gain": Freedom(log_gains=nodes(1.0, 0.25)),
    "delay": Freedom(delays=nodes(0.2, 0.05)),
    "both": Freedom(log_gains=nodes(1.0, 0.1), delays=nodes(0.2, 0.02)),
    "all": Freedom(True, log_gains=(-0.6, -0.2, 0.2, 0.6), delays=(-0.1, 0.0, 0.1)),
}


def placed(here, pair_nodes):
    return Placed.of(pair_nodes, here.information, len(here.free.delays))


def route_by(way, courses, gp, free):
    here, pair_nodes = gp.at(courses, free), PairNodes.of(free)
    return AlignedRoute(WAYS[way](here, pair_nodes), pair_nodes, free)


def matches(way):
    every = np.arange(len(way.order))
    return way.matches(every, every)


def expected(times, values, errors, k, noise_variance, free, mean):
    errors = [0.0] * len(values) if errors is None else errors
    courses = list(zip(times, values, errors, strict=True))
    pair_nodes = oracle.pair_nodes(free.log_gains, free.delays, free.gain_sd, free.period)
    found = [
        [oracle.aligned(one, two, k, noise_variance, pair_nodes, free.level, mean) for two in courses]
        for one in courses
    ]
    return np.moveaxis(np.array(found), 2, 0)


@pytest.mark.parametrize("free", ["level", "gain", "delay", "all"])
@pytest.mark.parametrize("kind", oracle.EXAMPLES)
@pytest.mark.parametrize("way", WAYS)
def test_every_way_is_the_oracle(way, kind, free):
    times, values, errors = oracle.example(kind, count=3)
    courses = TimeCourses.from_arrays(times, values, errors=errors)
    found = matches(route_by(way, courses, GP.se(0.4, SIGNAL, NOISE, MEAN), FREEDOMS[free]))
    k = oracle.given(oracle.se, 0.4, SIGNAL)
    truth = expected(times, values, errors, k, NOISE**2, FREEDOMS[free], MEAN)
    for name, block, true in zip(found._fields, found, truth, strict=True):
        assert_allclose(block, true, rtol=1e-8, atol=1e-9, err_msg=name)


@pytest.mark.parametrize("kernel", oracle.KERNELS)
@pytest.mark.parametrize("way", WAYS)
def test_every_kernel(way, kernel):
    times, values, _ = oracle.example("gaps", count=2)
    shape, k = oracle.KERNELS[kernel]
    free = Freedom(True, log_gains=(-0.3, 0.0, 0.3), delays=(-0.1, 0.0, 0.1))
    courses = TimeCourses.from_arrays(times, values)
    found = matches(route_by(way, courses, GP(shape, SIGNAL, NOISE, MEAN), free))
    truth = expected(times, values, None, oracle.scaled(k, SIGNAL), NOISE**2, free, MEAN)
    assert_allclose(found, truth, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("way", WAYS)
def test_delays_run_in_real_time_also_on_a_clock(way):
    times, values, _ = oracle.example("grid", count=3)
    courses, gp = TimeCourses.from_arrays(times, values), GP.se(0.4, SIGNAL, NOISE, clock=0.5)
    free = Freedom(delays=nodes(0.2, 0.1))

    def k(x, z):
        return oracle.se(oracle.log_clock(x, 0.5, 0.0), oracle.log_clock(z, 0.5, 0.0), 0.4, SIGNAL)

    assert_allclose(
        matches(route_by(way, courses, gp, free)), expected(times, values, None, k, NOISE**2, free, 0.0), atol=1e-8
    )


@pytest.mark.parametrize("way", WAYS)
def test_a_rough_part_of_replicates(way):
    times, values, _ = oracle.example("replicates", count=3)
    courses, free = TimeCourses.from_arrays(times, values), FREEDOMS["delay"]
    gp = replace(GP.se(0.4, SIGNAL, NOISE), rough_sd=0.3)
    means = [y.reshape(3, 2).mean(axis=1) for y in values]
    truth = expected(
        [x[::2] for x in times], means, None, oracle.given(oracle.se, 0.4, SIGNAL), NOISE**2 / 2 + 0.09, free, 0.0
    )
    assert_allclose(matches(route_by(way, courses, gp, free)), truth, atol=1e-8)


@pytest.mark.parametrize("way", WAYS)
def test_a_phase_goes_all_the_way_round(way):
    times, values, _ = oracle.example("grid", count=4)
    shape, k = oracle.KERNELS["periodic"]
    courses, gp = TimeCourses.from_arrays(times, values), GP(shape, SIGNAL, NOISE)
    free = freedom(courses, gp, "delay")
    assert free.period == 0.7
    found = matches(route_by(way, courses, gp, free))
    truth = expected(times, values, None, oracle.scaled(k, SIGNAL), NOISE**2, free, 0.0)
    assert_allclose(found.scores, truth[0], atol=1e-8)
    there, back = found.delays, found.delays.T
    assert_allclose(np.sin(np.pi * (there + back) / 0.7), 0, atol=1e-8)
    assert np.abs(there).max() <= 0.35


@pytest.mark.parametrize("way", WAYS)
def test_pairs_are_those_of_a_tile(way):
    times, values, _ = oracle.example("gaps", count=7)
    courses = TimeCourses.from_arrays(times, values)
    made = route_by(way, courses, GP.se(0.4, SIGNAL, NOISE, MEAN), FREEDOMS["all"])
    rows, cols = np.array([3, 0, 3, 6]), np.array([1, 5, 4, 6])
    found = summed(made.nodes, made.weighing.pairs(rows, cols))
    for part, whole in zip(found, matches(made), strict=True):
        assert_allclose(part, whole[rows, cols], rtol=1e-9, atol=1e-10)


def test_more_than_a_block(monkeypatch):
    courses, _ = tl.simulate.delayed(per_group=7)
    gp = GP.se(0.2, 0.5, 0.1)
    whole = tl.similarity(courses, gp, up_to="delay,gain", max_delay=0.3)
    monkeypatch.setattr("timelike.pairs.aligned.weighing.IN_CACHE", 1)
    cut = tl.similarity(courses, gp, up_to="delay,gain", max_delay=0.3)
    assert_allclose(cut.values, whole.values, rtol=1e-10)
    assert_allclose(cut.gain, whole.gain, rtol=1e-10)


def test_little_noise_loses_no_digits():
    times, values, _ = oracle.example("grid", count=3)
    courses, gp = TimeCourses.from_arrays(times, np.array(values) * 1e3), GP.se(0.4, 1e3, 0.03)
    fast = route_by("dense", courses, gp, FREEDOMS["delay"])
    for way in ("grids", "information"):
        assert_allclose(matches(route_by(way, courses, gp, FREEDOMS["delay"])).scores, matches(fast).scores, rtol=1e-6)


# -- which way ---------------------------------------------------------------------------------------------------


def test_ways_are_chosen_as_without_freedoms():
    free = FREEDOMS["delay"]
    grid, _ = tl.simulate.delayed(per_group=2)
    own, _ = tl.simulate.own_times(per_group=4)
    smooth, rough = GP.se(0.4, 1, 0.1), GP(sk.Matern(0.3, nu=0.5), 1, 0.1)
    assert route_of(smooth.at(grid, free)).name == "grid"
    assert route_of(rough.at(grid, free)).name == "grid"
    assert route_of(smooth.at(own, free)).name == "information"
    assert route_of(rough.at(own, free)).name == "dense"
    assert route_of(smooth.at(own, Freedom())).name == "information"


# -- as called -----------------------------------------------------------------------------------------------------

GP_OF_PULSES = GP.se(0.2, 0.5, 0.1)


@pytest.fixture(scope="module")
def pulses():
    """One pulse that comes 0, 0.1 or 0.2 later."""
    return tl.simulate.delayed(per_group=6, seed=2)[0]


def test_no_freedom_has_the_bits_of_today(pulses):
    expected = tl.similarity(pulses, GP_OF_PULSES)
    found = tl.similarity(pulses, GP_OF_PULSES, up_to=())
    assert (found.values == expected.values).all()
    assert found.delay is None
    assert found.gain is None


def test_similarity_has_delays_and_gains(pulses):
    S = tl.similarity(pulses, GP_OF_PULSES, up_to=("level", "gain", "delay"), max_delay=0.4)
    assert S.delay.shape == S.gain.shape == S.values.shape
    assert (S.values == S.values.T).all()
    assert (S.delay == -S.delay.T).all()
    assert_allclose(S.gain, 1 / S.gain.T, rtol=1e-14)
    assert_allclose(np.median(S.delay[:6, 12:]), 0.2, atol=0.03)
    assert_allclose(np.median(S.gain[:6, 12:]), 1, atol=0.15)


def test_what_is_not_asked_for_is_none(pulses):
    S = tl.similarity(pulses, GP_OF_PULSES, up_to="gain")
    assert S.delay is None
    assert S.gain.shape == S.values.shape
    S = tl.similarity(pulses, GP_OF_PULSES, up_to="level")
    assert S.delay is None
    assert S.gain is None


def test_a_rectangle_is_a_block_of_the_square(pulses):
    words = {"up_to": ("gain", "delay"), "max_delay": 0.4}
    square = tl.similarity(pulses, GP_OF_PULSES, **words)
    part = tl.similarity(pulses[:5], GP_OF_PULSES, pulses[5:], **words)
    for name in ("values", "delay", "gain"):
        assert_allclose(getattr(part, name), getattr(square, name)[:5, 5:], rtol=1e-9, atol=1e-12)


def test_to_a_file(pulses, tmp_path):
    words = {"up_to": "delay", "max_delay": 0.4}
    written = tl.similarity(pulses, GP_OF_PULSES, **words, out=tmp_path / "S.npy")
    assert (np.asarray(written.values) == tl.similarity(pulses, GP_OF_PULSES, **words).values).all()
    assert written.delay is None


def test_another_freedom_is_not_resumed(pulses, tmp_path):
    out = tmp_path / "S.npy"
    tl.similarity(pulses, GP_OF_PULSES, up_to="delay", max_delay=0.4, out=out)
    for words in ({"up_to": "delay", "max_delay": 0.3}, {"up_to": "level"}, {}):
        with pytest.raises(tl.InputError, match="freedom"):
            tl.similarity(pulses, GP_OF_PULSES, **words, out=out, resume=True)


def test_threads_do_not_change_a_bit(pulses):
    one, two = (
        in_memory(Job.of(route_of(GP_OF_PULSES.at(pulses, FREEDOMS["delay"])), cut=Cut(4, 8)), threads=n)
        for n in (1, 3)
    )
    assert (one == two).all()


def test_intervals_cover():
    """Nine in ten of 400 pairs with delays and gains that are known, up to three standard deviations of that."""
    rng, times, free = np.random.default_rng(5), np.linspace(0, 1, 15), FREEDOMS["both"]
    delays, gains, values = rng.uniform(-0.15, 0.15, 400), rng.normal(0, 0.3, 400), []
    for d, u in zip(delays, gains, strict=True):
        K = oracle.se(*[np.concatenate([times + d / 2, times - d / 2])] * 2, 0.2, 0.5)
        f = np.linalg.cholesky(K + 1e-9 * np.eye(30)) @ rng.standard_normal(30)
        values += [np.exp(-u / 2) * f[:15], np.exp(u / 2) * f[15:]]
    courses = TimeCourses.from_arrays(times, np.array(values) + 0.05 * rng.standard_normal((800, 15)))
    made = route_by("grids", courses, GP.se(0.2, 0.5, 0.05), free)
    found = told(made.nodes, free, made.weighing.pairs(np.arange(0, 800, 2), np.arange(1, 800, 2)))
    for spread, truth in ((found.delay, delays), (found.gain, np.exp(gains))):
        covered = (spread.low <= truth) & (truth <= spread.high)
        assert_allclose(covered.mean(), 0.9, atol=3 * np.sqrt(0.09 / 400))
    assert_allclose(found.later[np.abs(delays) > 0.1], delays[np.abs(delays) > 0.1] > 0, atol=0.3)


@pytest.mark.parametrize("words", [{"up_to": "level"}, {"up_to": "gain,delay", "max_delay": 0.4}])
def test_similar_pairs(pulses, words):
    S, found = (f(pulses, GP_OF_PULSES, **words) for f in (tl.similarity, partial(tl.similar_pairs, above=2)))
    assert_allclose(found.scores, S.values[found.rows, found.cols], rtol=1e-10)
    assert len(found) == (S.values[np.triu_indices(len(pulses), 1)] > 2).sum()
    columns = ["first", "second", "similarity"]
    if "delay" in words["up_to"]:
        assert_allclose(found.delay, S.delay[found.rows, found.cols], atol=0.005)
        assert_allclose(found.gain, S.gain[found.rows, found.cols], rtol=0.02)
        columns += ["delay", "gain"]
    assert list(found.to_frame().columns) == columns


def test_similar_pairs_with_others(pulses):
    words = {"up_to": "delay", "max_delay": 0.4}
    found = tl.similar_pairs(pulses[:6], GP_OF_PULSES, pulses[6:], above=2, **words)
    S = tl.similarity(pulses[:6], GP_OF_PULSES, pulses[6:], **words)
    assert_allclose(found.delay, S.delay[found.rows, found.cols], atol=0.005)
    assert tl.similar_pairs(pulses, GP_OF_PULSES, above=1e6, **words).delay is None


# -- nodes that are too far apart ------------------------------------------------------------------------------------


@pytest.mark.parametrize("periodic", [False, True])
def test_a_spline_fills_in_what_precise_courses_tell_between_nodes(periodic):
    courses, _ = tl.simulate.shifted(noise=0.02, groups=2, per_group=4, seed=1)
    if periodic:
        gp = GP(sk.ExpSineSquared(0.8, 1.0), 1, 0.02)
        few, many = (Freedom(delays=tuple((np.arange(n) - n // 2) / n), period=1.0) for n in (41, 401))
    else:
        gp = GP.se(0.2, 1, 0.02)
        few, many = (Freedom(delays=tuple(np.linspace(-0.2, 0.2, n))) for n in (41, 401))
    every = np.arange(8)
    rough = route_by("grids", courses, gp, few).matches(every, every)
    found, truth = (route_of(gp.at(courses, free)).matches(every, every) for free in (few, many))
    alike = truth.scores > 0
    assert np.abs(rough.scores - truth.scores)[alike].max() > 2
    assert_allclose(found.scores[alike], truth.scores[alike], atol=0.3)
    assert_allclose(found.delays[alike], truth.delays[alike], atol=5e-4)


def test_gains_and_delays_between_nodes():
    courses, truth = tl.simulate.shifted(noise=0.02, gain_sd=0.3, groups=1, per_group=5, seed=1)
    S = tl.similarity(courses, GP.se(0.2, 1, 0.02), up_to=("gain", "delay"), max_delay=0.4)
    assert (S.delay == -S.delay.T).all()
    assert_allclose(S.delay, truth.delays - truth.delays[:, None], atol=0.015)
    assert_allclose(S.gain, truth.gains / truth.gains[:, None], rtol=0.15)
