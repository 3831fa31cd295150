"""lags: who leads, how surely, and the order in time that follows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.gaussian_process import kernels as sk

import timelike as tl
from timelike import GP, InputError, TimeCourses
from timelike.pairs.positions import components, least_squares, synchronised

MODEL = GP.se(0.2, 0.5, 0.1)


@pytest.fixture(scope="module")
def pulses():
    return tl.simulate.delayed(per_group=20, seed=4)


@pytest.fixture(scope="module")
def found(pulses):
    return tl.lags(pulses[0], MODEL, max_delay=0.4)


def test_followers_come_later(pulses, found):
    labels = pulses[1]
    sure = found.fdr <= 0.05
    assert sure.sum() > 20
    assert (labels[found.leaders[sure]] < labels[found.followers[sure]]).mean() >= 0.8
    assert (found.lag >= 0).all()
    assert (found.low <= found.lag).all()
    assert (found.lag <= found.high).all()


def test_edges_are_those_of_the_neighbours_each_once(pulses, found):
    near = tl.neighbors(pulses[0], MODEL, 7, up_to="delay", max_delay=0.4)
    ends = {tuple(sorted(pair)) for pair in zip(found.leaders.tolist(), found.followers.tolist(), strict=True)}
    assert ends == {tuple(sorted((i, int(j)))) for i, row in enumerate(near.indices) for j in row}
    assert len(ends) == len(found)


def test_an_edge_is_the_match_of_its_pair(pulses, found):
    for e in (0, len(found) // 2, len(found) - 1):
        pair = int(found.leaders[e]), int(found.followers[e])
        m = tl.match(pulses[0], MODEL, *pair, up_to="delay", max_delay=0.4)
        assert found.similarity[e] == pytest.approx(m.s, rel=1e-9)
        assert found.lag[e] == pytest.approx(m.delay, abs=0.004)
        assert_allclose([found.low[e], found.high[e]], m.delay_interval, atol=0.004)


def test_probabilities_and_rates(found):
    assert (np.diff(found.probability) <= 0).all()
    assert (np.diff(found.fdr) >= 0).all()
    assert (found.probability <= found.same + 1e-12).all()
    assert_allclose(found.fdr, np.cumsum(1 - found.probability) / np.arange(1, len(found) + 1))


def test_a_rate_keeps_the_first_edges(pulses, found):
    some = tl.lags(pulses[0], MODEL, max_delay=0.4, fdr=0.1)
    assert len(some) == (found.fdr <= 0.1).sum()
    assert (some.lag == found.lag[: len(some)]).all()
    assert some.fdr.max() <= 0.1


def test_stated_rates_hold():
    """Courses of one random curve with delays of their own: the sign of the lags called at 10 % is nearly right."""
    rng, times = np.random.default_rng(0), np.linspace(0, 1, 12)
    delays = rng.uniform(-0.1, 0.1, 60)
    values = np.sin(7 * (times - delays[:, None])) * 0.7 + 0.1 * rng.standard_normal((60, 12))
    called = tl.lags(TimeCourses.from_arrays(times, values), GP.se(0.2, 0.5, 0.1), max_delay=0.3, fdr=0.1)
    assert len(called) > 100
    assert (delays[called.leaders] > delays[called.followers]).mean() < 0.15


def test_where_nothing_comes_later_no_lag_is_sure():
    courses, _ = tl.simulate.delayed(delays=(0.0,), per_group=60, seed=1)
    found = tl.lags(courses, MODEL, max_delay=0.4, fdr=0.05)
    assert len(found) <= 5


def test_positions_are_the_delays():
    rng, times = np.random.default_rng(1), np.linspace(0, 1, 12)
    delays = rng.uniform(-0.1, 0.1, 40)
    values = np.sin(7 * (times - delays[:, None])) * 0.7 + 0.05 * rng.standard_normal((40, 12))
    found = tl.lags(TimeCourses.from_arrays(times, values), GP.se(0.2, 0.5, 0.05), max_delay=0.3).positions()
    assert (found.component == 0).all()
    assert_allclose(found.times, delays - delays.mean(), atol=0.04)
    assert_allclose(found.times.mean(), 0, atol=1e-12)


def test_phases_are_synchronised():
    rng, times = np.random.default_rng(1), np.arange(0, 48, 4.0)
    phases = rng.uniform(0, 24, 50)
    values = np.cos(2 * np.pi * (times - phases[:, None]) / 24) + 0.1 * rng.standard_normal((50, 12))
    gp = GP(sk.ExpSineSquared(1.5, 24.0), 0.7, 0.1)
    found = tl.lags(TimeCourses.from_arrays(times, values), gp)
    assert found.period == 24
    turned = found.positions().times - phases
    around = np.exp(2j * np.pi * turned / 24)
    assert np.abs(around.mean()) > 0.99
    order = found.of_groups((phases // 6).astype(int)).to_frame()
    start = order["group"].tolist().index(0)
    assert np.roll(order["group"], -start).tolist() == [0, 1, 2, 3]


def test_groups_in_order(pulses, found):
    order = found.of_groups(pulses[1])
    table, between = order.to_frame(), order.lags_frame()
    assert table["group"].tolist() == [0, 1, 2]
    assert_allclose(np.diff(table["position"]), 0.1, atol=0.03)
    assert (table["low"] < table["position"]).all()
    assert table["count"].sum() <= 60
    assert between[["from", "to"]].to_numpy().tolist() == [[0, 1], [0, 2], [1, 2]]
    assert between["lag"].iloc[1] == pytest.approx(0.2, abs=0.05)
    assert (between["low"] < between["lag"]).all()
    assert repr(order).startswith("GroupLags: 0 (-0.")


def test_groups_by_name_and_courses_without_one(pulses, found):
    names = np.array(["early", "middle", "late"], dtype=object)[pulses[1]]
    assert found.of_groups(names).to_frame()["group"].tolist() == ["early", "middle", "late"]
    labels = np.where(pulses[1] == 1, -1, pulses[1])
    assert found.of_groups(labels).to_frame()["group"].tolist() == [0, 2]


def test_table_graph_and_words(found):
    table, graph = found.to_frame(), found.graph()
    columns = ["leader", "follower", "lag", "low", "high", "similarity", "probability", "fdr"]
    assert list(table.columns) == columns
    assert table["leader"][0] == found.names[found.leaders[0]]
    assert graph.shape == (60, 60)
    assert graph[found.leaders[0], found.followers[0]] == found.probability[0]
    assert graph[found.followers[0], found.leaders[0]] == 0
    assert repr(found).startswith(f"Lags: {len(found)} edges among 60 courses, ")


def test_bad_input(pulses, found):
    courses = pulses[0]
    with pytest.raises(InputError, match="add 'delay'"):
        tl.lags(courses, MODEL, up_to="gain")
    with pytest.raises(InputError, match="needs max_delay"):
        tl.lags(courses, MODEL)
    for fdr in (0, 1.5, "5 %"):
        with pytest.raises(InputError, match="fdr is"):
            tl.lags(courses, MODEL, max_delay=0.4, fdr=fdr)
    with pytest.raises(InputError, match="labels have shape"):
        found.of_groups([0, 1])
    with pytest.raises(InputError, match="no order"):
        found.of_groups(np.full(60, -1))


# -- without courses ------------------------------------------------------------------------------------------


def test_components_are_numbered_by_size():
    assert components(np.array([3, 4]), np.array([4, 5]), 6).tolist() == [1, 2, 3, 0, 0, 0]


def test_sure_lags_count_more():
    first, second, lag = np.array([0, 0]), np.array([1, 1]), np.array([1.0, 3.0])
    assert np.diff(least_squares(first, second, lag, np.array([3.0, 1.0]), 2)) == pytest.approx(1.5)


@pytest.mark.parametrize("count", [30, 600])
def test_angles_all_the_way_round(count):
    rng = np.random.default_rng(0)
    angles = rng.uniform(-np.pi, np.pi, count)
    first = np.arange(count)
    ends = np.concatenate([first, first]), np.concatenate([(first + 1) % count, (first + 7) % count])
    lag = angles[ends[1]] - angles[ends[0]]
    found = synchronised(*ends, lag, rng.uniform(0.5, 1, len(lag)), count)
    assert np.abs(np.exp(1j * (found - angles)).mean()) == pytest.approx(1, abs=1e-6)
