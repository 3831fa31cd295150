import numpy as np
import pytest

import oracle
import timelike as tl


@pytest.fixture(scope="module")
def fitted():
    courses, _ = tl.simulate.profiles(sampling="asynchronous", seed=5)
    return courses, tl.fit(courses)


@pytest.mark.parametrize(("first", "second"), [("A01", "C01"), ("A01", "A02"), ("B07", "B07"), (0, 149)])
def test_contributions_add_up_to_the_similarity(fitted, first, second):
    courses, gp = fitted
    why = tl.explain(courses, gp, first, second)
    i, j = courses.index(first), courses.index(second)
    expected = tl.similarity(courses, gp).values[i, j]
    assert why.similarity == pytest.approx(expected, abs=1e-9)
    assert why.to_frame()["contribution"].sum() == pytest.approx(expected, abs=1e-9)
    assert [len(c) for c in why.contributions] == [courses.sizes[i], courses.sizes[j]]


def test_order_of_the_two_does_not_matter(fitted):
    courses, gp = fitted
    one, two = tl.explain(courses, gp, "A01", "C01"), tl.explain(courses, gp, "C01", "A01")
    np.testing.assert_allclose(one.contributions[0], two.contributions[1])
    np.testing.assert_allclose(one.contributions[1], two.contributions[0])


def test_each_contribution_is_the_gain_in_predicting_the_next_value():
    """Three values against two, with errors: each term from two oracle densities, of more and of fewer values."""
    x_i, y_i, e_i = np.array([0.0, 0.4, 1.0]), np.array([0.1, 0.5, -0.2]), np.array([0.05, 0.2, 0.1])
    x_j, y_j, e_j = np.array([0.2, 0.9]), np.array([0.3, 0.0]), np.array([0.1, 0.3])
    courses = tl.TimeCourses.from_arrays([x_i, x_j], [y_i, y_j], ["i", "j"], errors=[e_i, e_j])
    gp = tl.GP.se(length_scale=0.5, signal_sd=0.6, noise_sd=0.1, mean=0.05)

    def k(x, z):
        return oracle.se(x, z, 0.5, 0.6)

    def density(x, y, e):
        return oracle.marginal(x, y, k, 0.01, 0.05, e) if len(y) else 0.0

    def join(*parts):
        return [np.concatenate(p) for p in zip(*parts, strict=True)]

    why = tl.explain(courses, gp, "i", "j")
    for n in range(3):
        before, now = (x_i[:n], y_i[:n], e_i[:n]), (x_i[: n + 1], y_i[: n + 1], e_i[: n + 1])
        other = (x_j, y_j, e_j)
        gain = density(*join(other, now)) - density(*join(other, before)) - density(*now) + density(*before)
        assert why.contributions[0][n] == pytest.approx(gain / 2, abs=1e-10)


def test_a_far_off_value_is_what_separates_two_equal_courses(fitted):
    _, gp = fitted
    times = np.linspace(0, 1, 8)
    values = np.tile(tl.simulate.curves(times)[1], (2, 1))
    values[1, 5] += 10 * gp.noise_sd
    why = tl.explain(tl.TimeCourses.from_arrays(times, values), gp, 0, 1)
    table = why.to_frame()
    worst = table.loc[table["contribution"].idxmin()]
    assert worst["time"] == times[5]
    assert worst["contribution"] < -1


def test_an_unknown_name_is_an_error_with_a_hint(fitted):
    with pytest.raises(tl.InputError, match="no course 'A0'"):
        tl.explain(*fitted, "A0", "C01")


def test_a_number_that_is_a_position_and_another_name_is_refused():
    courses = tl.TimeCourses.from_arrays([0, 1], [[1, 2], [3, 1], [2, 2]], names=[2, 0, 1])
    gp = tl.GP.se(1, 1, 0.1)
    with pytest.raises(tl.InputError, match="give '2' for the name"):
        tl.explain(courses, gp, 2, "0")
    assert tl.explain(courses, gp, "2", "0").pair.names == ("2", "0")


def test_other_nouns_are_named(fitted):
    courses, gp = fitted
    with pytest.raises(tl.InputError, match="courses must be TimeCourses, not list"):
        tl.explain([1, 2], gp, 0, 1)
    with pytest.raises(tl.InputError, match="gp must be GP, not NoneType"):
        tl.explain(courses, None, 0, 1)


# -- with freedoms ------------------------------------------------------------------------------------------------

FREEDOMS = [{"up_to": "level"}, {"up_to": "gain"}, {"up_to": "delay", "max_delay": 0.4}]
FREEDOMS += [{"up_to": "level,gain,delay", "max_delay": 0.4}]
PULSES = tl.GP.se(0.2, 0.5, 0.1)


@pytest.fixture(scope="module")
def pulses():
    return tl.simulate.delayed(per_group=3, seed=2)[0]


@pytest.mark.parametrize("words", FREEDOMS, ids=lambda words: words["up_to"])
@pytest.mark.parametrize("pair", [(0, 8), (1, 4), (2, 2)])
def test_contributions_less_the_price_are_the_similarity(pulses, words, pair):
    why = tl.explain(pulses, PULSES, *pair, **words)
    expected = tl.similarity(pulses, PULSES, **words).values[pair]
    assert why.similarity == pytest.approx(expected, rel=1e-8)
    assert why.to_frame()["contribution"].sum() - why.price == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("words", FREEDOMS[1:], ids=lambda words: words["up_to"])
def test_the_price_is_how_far_likely_nodes_are_from_the_prior(pulses, words):
    """With a stationary kernel and no gain, the divergence of the posterior of the delay from its prior."""
    from timelike.gp.freedom import freedom
    from timelike.pairs.aligned.nodes import PairNodes
    from timelike.pairs.aligned.pair import pair_logs
    from timelike.pairs.aligned.placed import Placed

    free = freedom(pulses, PULSES, **words)
    nodes, here = PairNodes.of(free), PULSES.at(pulses[[0, 8]], free)
    logs = pair_logs(here, nodes)
    placed = Placed.of(nodes, here.information, len(free.delays))
    own = placed.evidence[0][:, 0] - placed.own[0][0] + placed.evidence[1][:, 1] - placed.own[1][1]
    log_q = logs - np.logaddexp.reduce(logs)
    price = -(np.exp(log_q) * (nodes.log_prior + own - log_q)).sum()
    assert tl.explain(pulses, PULSES, 0, 8, **words).price == pytest.approx(price, abs=1e-8)


def test_without_freedoms_nothing_is_paid(pulses):
    assert tl.explain(pulses, PULSES, 0, 8).price == 0
    assert tl.explain(pulses, PULSES, 0, 8, up_to="level").price == pytest.approx(0, abs=1e-9)


def test_the_price_is_shown(pulses):
    assert "price" in tl.explain(pulses, PULSES, 0, 8, up_to="gain")._repr_html_()
    assert "price" not in tl.explain(pulses, PULSES, 0, 8)._repr_html_()
