"""Laws of courses that are alike up to level, gain and delay, for any courses and any hyperparameters."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import timelike as tl
from timelike import GP, TimeCourses
from timelike.exceptions import DataWarning
from timelike.gp.freedom import Freedom, nodes
from timelike.pairs.aligned.route import route_of

VALUES = st.integers(-2048, 2048).map(lambda k: k / 1024)
LEVELS = st.integers(-64, 64)
DELAYS = Freedom(delays=nodes(0.75, 0.2))
GAINS = Freedom(log_gains=nodes(1.0, 0.25))
FREEDOMS = (Freedom(level=True), GAINS, DELAYS, Freedom(True, log_gains=(-0.5, 0.0, 0.5), delays=(-0.75, 0.0, 0.75)))
MODEL = {"length_scale": 1.5, "signal_sd": 1.2, "noise_sd": 0.3, "mean": 0.25}


@st.composite
def courses(draw):
    """Times and values of two to four courses: on one grid or each on its own times."""
    count, shared = draw(st.integers(2, 4)), draw(st.booleans())
    times = st.lists(st.integers(-8, 24).map(lambda k: k / 4), min_size=2, max_size=6)
    grid = sorted(draw(times))
    found = [np.array(grid if shared else sorted(draw(times))) for _ in range(count)]
    return found, [np.array(draw(st.lists(VALUES, min_size=len(x), max_size=len(x)))) for x in found]


def matches(times, values, free, **changed):
    way = route_of(GP.se(**MODEL | changed).at(TimeCourses.from_arrays(times, values), free))
    every = np.arange(len(values))
    return way.matches(every, every)


def assert_same(actual, expected):
    assert_allclose(actual, expected, rtol=1e-7, atol=1e-8 * max(1, np.abs(expected).max()))


@given(courses(), st.sampled_from(FREEDOMS))
def test_symmetric_similarity_and_opposite_lags_and_gains(data, free):
    found = matches(*data, free)
    assert_same(found.scores, found.scores.T)
    assert_same(found.delays, -found.delays.T)
    assert_same(found.log_gains, -found.log_gains.T)


@given(courses(), st.sampled_from(FREEDOMS), st.randoms(use_true_random=False))
def test_the_order_of_courses(data, free, random):
    times, values = data
    order = random.sample(range(len(values)), len(values))
    whole = matches(times, values, free)
    mixed = matches([times[i] for i in order], [values[i] for i in order], free)
    for part, block in zip(mixed, whole, strict=True):
        assert_same(part, block[np.ix_(order, order)])


@given(courses(), st.lists(LEVELS, min_size=4, max_size=4))
def test_levels_do_not_matter_where_they_are_free(data, levels):
    times, values = data
    higher = [y + level for y, level in zip(values, levels, strict=False)]
    for free in (FREEDOMS[0], FREEDOMS[3]):
        assert_same(matches(times, higher, free).scores, matches(times, values, free).scores)


@given(courses(), st.sampled_from([0.01, 60.0]), st.sampled_from([0.001, 1000.0]), st.sampled_from(FREEDOMS))
def test_units_of_time_and_value(data, second, volt, free):
    times, values = data
    other = Freedom(free.level, free.log_gains, tuple(second * d for d in free.delays))
    units = {"length_scale": second * 1.5, "signal_sd": volt * 1.2, "noise_sd": volt * 0.3, "mean": volt * 0.25}
    found = matches([second * x for x in times], [volt * y for y in values], other, **units)
    expected = matches(times, values, free)
    assert_same(found.scores, expected.scores)
    assert_same(found.delays / second, expected.delays)
    assert_same(found.log_gains, expected.log_gains)


@given(courses(), st.sampled_from(FREEDOMS), st.integers(-100, 100))
def test_when_the_clock_on_the_wall_is_set(data, free, shift):
    times, values = data
    for part, expected in zip(
        matches([x + shift for x in times], values, free), matches(times, values, free), strict=True
    ):
        assert_same(part, expected)


@given(courses(), st.sampled_from(FREEDOMS))
def test_much_noise_leaves_no_evidence(data, free):
    assert_allclose(matches(*data, free, noise_sd=1e5).scores, 0, atol=1e-6)


@given(courses(), st.sampled_from(FREEDOMS))
def test_a_mean_lies_among_the_nodes(data, free):
    found = matches(*data, free)
    assert np.abs(found.delays).max() <= 2 * free.delays[-1] + 1e-9
    assert np.abs(found.log_gains).max() <= 2 * free.log_gains[-1] + 1e-9


# -- a course that is moved --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def curve():
    """A course with little noise."""
    times = np.linspace(0, 1, 25)
    return times, np.sin(7 * times) + 0.4 * np.cos(15 * times)


@pytest.mark.parametrize("shift", [-0.1, -0.03, 0.06])
def test_a_course_that_is_measured_later_comes_later(curve, shift):
    times, values = curve
    both = TimeCourses.from_arrays([times, times + shift], [values, values])
    found = tl.similarity(both, GP.se(0.15, 1, 0.05), up_to="delay", max_delay=0.3)
    assert found.delay[0, 1] == pytest.approx(shift, abs=0.005)


@pytest.mark.parametrize("gain", [0.5, 1.0, 1.7])
def test_a_course_that_is_multiplied_is_larger(curve, gain):
    times, values = curve
    both = TimeCourses.from_arrays(times, [values, gain * values])
    assert tl.similarity(both, GP.se(0.15, 1, 0.02), up_to="gain").gain[0, 1] == pytest.approx(gain, rel=0.01)


# -- bad input: each sentence once ------------------------------------------------------------------------------------


def asked(courses, gp=None, **words):
    gp = gp or GP.se(0.3, 1, 0.1)
    functions = (tl.similarity, tl.neighbors, lambda c, g, **w: tl.match(c, g, 0, 1, **w))
    functions += (lambda c, g, **w: tl.explain(c, g, 0, 1, **w), lambda c, g, **w: tl.similar_pairs(c, g, above=0, **w))
    return [lambda f=f: f(courses, gp, **({"k": 1} if f is tl.neighbors else {}), **words) for f in functions]


TWO = TimeCourses.from_arrays([0, 1, 2], [[0, 1, 3], [2, 0, 1]])
ONE_TIME = TimeCourses.from_arrays([[0], [1]], [[1], [2]])
FLAT = TimeCourses.from_arrays([0, 1], [[0.01, 0], [0, 0.01]])
PLANE = TimeCourses.from_arrays([[[0, 1], [1, 0]]] * 2, [[1, 2], [2, 1]])
BAD = {
    "an unknown word": (TWO, {"up_to": "shape"}, ["'shape'", "level, gain, delay"]),
    "no words": (TWO, {"up_to": 3}, ["up_to is 3"]),
    "no max_delay": (TWO, {"up_to": "delay"}, ["needs max_delay", "0 to 2"]),
    "a delay longer than the course": (TWO, {"up_to": "delay", "max_delay": 2}, ["max_delay is 2", "span 2"]),
    "a delay that is none": (TWO, {"up_to": "delay", "max_delay": -1}, ["max_delay is -1", "above zero"]),
    "a text as a delay": (TWO, {"up_to": "delay", "max_delay": "6 h"}, ["'6 h'", "unit of the times"]),
    "a delay that is not asked for": (TWO, {"up_to": "gain", "max_delay": 1}, ["add 'delay'"]),
    "one time": (ONE_TIME, {"up_to": "delay", "max_delay": 1}, ["two different times"]),
    "flat courses": (FLAT, {"up_to": "gain"}, ["more than its noise"]),
    "a plane": (PLANE, {"up_to": "delay", "max_delay": 1}, ["2 coordinates"]),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(case):
    data, words, parts = BAD[case]
    for ask in asked(data, **words):
        with pytest.raises(tl.InputError) as info:
            ask()
        assert [part for part in parts if part not in str(info.value)] == [], str(info.value)


def test_single_flat_or_short_courses_are_told_and_kept():
    courses = TimeCourses.from_arrays([[0, 1, 2], [0, 1, 2], [1]], [[0, 1, 3], [2, 0, 1], [1]])
    with pytest.warns(DataWarning, match="one time only"):
        S = tl.similarity(courses, GP.se(1, 1, 0.3), up_to="delay", max_delay=1)
    assert np.isfinite(S.values).all()
    flat = TimeCourses.from_arrays([0, 1, 2], [[0, 1, 3], [2, 0, 1], [0, 0, 0]], ["a", "b", "flat"])
    with pytest.warns(DataWarning, match="'flat' changes by no more than its noise"):
        S = tl.similarity(flat, GP.se(1, 1, 0.3), up_to="gain")
    assert np.isfinite(S.gain).all()


def test_no_warning_without_a_reason():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        S = tl.similarity(TWO, GP.se(1, 1, 0.1), up_to="level,gain,delay", max_delay=1)
    assert np.isfinite(S.values).all()
