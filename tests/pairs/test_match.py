"""match: one pair, its delay and gain with intervals, and the second moved onto the first."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.gaussian_process import kernels as sk

import timelike as tl
from timelike import GP, InputError, TimeCourses
from timelike.pairs.aligned.posterior import density

MODEL = GP.se(0.2, 0.5, 0.05)
TIMES = np.linspace(0, 1, 15)


def pulse(times, delay=0.0, gain=1.0, level=0.0):
    return level + gain * np.exp(-(((times - 0.4 - delay) / 0.15) ** 2) / 2)


@pytest.fixture(scope="module")
def courses():
    """A pulse, and the same later, larger and higher, with a little noise."""
    rng = np.random.default_rng(0)
    moved = [{}, {"delay": 0.1}, {"gain": 1.5}, {"level": 0.7}, {"delay": -0.1, "gain": 0.6, "level": -0.4}]
    values = np.array([pulse(TIMES, **how) for how in moved]) + 0.02 * rng.standard_normal((5, 15))
    return TimeCourses.from_arrays(TIMES, values, ["as it is", "later", "larger", "higher", "all"])


def test_a_delay(courses):
    m = tl.match(courses, MODEL, "as it is", "later", up_to="delay", max_delay=0.4)
    assert m.delay == pytest.approx(0.1, abs=0.01)
    assert m.delay_interval[0] < m.delay < m.delay_interval[1]
    assert m.gain is None
    assert m.gain_interval is None
    assert m.levels is None


def test_a_gain(courses):
    m = tl.match(courses, MODEL, "as it is", "larger", up_to="gain")
    assert m.gain == pytest.approx(1.5, rel=0.1)
    assert m.gain_interval[0] < m.gain < m.gain_interval[1]
    assert m.delay is None


def test_a_level(courses):
    m = tl.match(courses, MODEL, "as it is", "higher", up_to="level")
    assert m.levels[1] - m.levels[0] == pytest.approx(0.7, abs=0.05)
    assert m.s > tl.match(courses, MODEL, "as it is", "higher").s + 10
    assert m.delay is None


def test_everything_at_once(courses):
    m = tl.match(courses, MODEL, "as it is", "all", up_to="level, gain, delay", max_delay=0.4)
    assert m.delay == pytest.approx(-0.1, abs=0.02)
    assert m.gain == pytest.approx(0.6, rel=0.1)
    # With a gain, where a curve is zero is known from the prior alone.
    assert m.levels[1] - m.levels[0] == pytest.approx(-0.4, abs=0.15)
    assert m.s > 0


@pytest.mark.parametrize("up_to", [(), "level", "gain", "delay", "level,gain,delay"])
@pytest.mark.parametrize("kernel", ["se", "rough"])
def test_s_is_that_of_the_similarity(courses, up_to, kernel):
    gp = MODEL if kernel == "se" else GP(sk.Matern(0.3, nu=0.5), 0.5, 0.05)
    words = {"up_to": up_to, "max_delay": 0.4 if "delay" in up_to else None}
    S = tl.similarity(courses, gp, **words)
    m = tl.match(courses, gp, 0, 4, **words)
    assert m.s == pytest.approx(S.values[0, 4], rel=1e-8)
    if m.delay is not None and kernel == "se":
        assert m.delay == pytest.approx(S.delay[0, 4], abs=0.01)
    if m.gain is not None:
        assert m.gain == pytest.approx(S.gain[0, 4], rel=0.05)


def test_the_other_way_round(courses):
    words = {"up_to": ("gain", "delay"), "max_delay": 0.4}
    there, back = tl.match(courses, MODEL, 0, 4, **words), tl.match(courses, MODEL, 4, 0, **words)
    assert there.s == pytest.approx(back.s)
    assert there.delay == pytest.approx(-back.delay)
    assert there.delay_interval == pytest.approx([-bound for bound in back.delay_interval[::-1]])
    assert there.gain == pytest.approx(1 / back.gain)
    assert there.gain_interval == pytest.approx([1 / bound for bound in back.gain_interval[::-1]])


def test_intervals_hardly_depend_on_the_nodes(courses):
    near = tl.match(courses, MODEL, 0, 1, up_to="delay", max_delay=0.3)
    far = tl.match(courses, MODEL, 0, 1, up_to="delay", max_delay=0.9)
    assert near.delay_interval == pytest.approx(far.delay_interval, abs=1e-3)


def test_a_phase():
    times = np.arange(0, 48, 4.0)
    gp = GP(sk.ExpSineSquared(1.0, 24.0), 1.0, 0.1)
    values = np.cos(2 * np.pi * (times - np.array([[0], [11], [13]])) / 24)
    courses = TimeCourses.from_arrays(times, values)
    later, earlier = (tl.match(courses, gp, 0, k, up_to="delay") for k in (1, 2))
    assert later.delay == pytest.approx(11, abs=0.2)
    assert earlier.delay == pytest.approx(-11, abs=0.2)
    opposite = tl.match(courses, gp, 1, 2, up_to="delay")
    assert opposite.delay == pytest.approx(2, abs=0.2)
    for m in (later, earlier, opposite):
        assert m.delay_interval[0] < m.delay < m.delay_interval[1] < m.delay_interval[0] + 3


def test_words(courses):
    m = tl.match(courses, MODEL, "as it is", "all", up_to="level, gain, delay", max_delay=0.4)
    assert (m.first, m.second) == ("as it is", "all")
    assert m.sentence.startswith("all is as it is 0.094 earlier (0.077 to 0.11)")
    assert "times as large (0." in m.sentence
    assert m.sentence.endswith("0.5 lower")
    assert repr(m) == f"Match: {m.sentence}; s = {m.s:.3g}"
    assert tl.match(courses, MODEL, 0, 1).sentence == "later is as it is as it is"


def test_table(courses):
    m = tl.match(courses, MODEL, 0, 1, up_to="gain, delay", max_delay=0.4)
    row = m.to_frame().iloc[0]
    assert list(row.index[:3]) == ["first", "second", "similarity"]
    assert (row.delay, row.delay_low, row.delay_high) == (m.delay, *m.delay_interval)
    assert (row.gain, row.gain_low, row.gain_high) == (m.gain, *m.gain_interval)
    assert list(tl.match(courses, MODEL, 0, 1).to_frame().columns) == ["first", "second", "similarity"]


def test_the_second_lies_on_the_first(courses):
    m = tl.match(courses, MODEL, "as it is", "all", up_to="level, gain, delay", max_delay=0.4)
    moved = m.aligned()
    assert (moved.values[:15] == courses[0].values).all()
    assert_allclose(moved.times[15:], TIMES - m.delay)
    assert_allclose(moved.values[15:], pulse(moved.times[15:]), atol=0.1)


def test_errors_move_too(courses):
    known = courses.with_errors(np.full(len(courses.values), 0.03))
    m = tl.match(known, MODEL, "as it is", "larger", up_to="gain")
    assert_allclose(m.aligned().errors[15:], 0.03 / m.gain)


def test_a_course_with_itself(courses):
    m = tl.match(courses, MODEL, 0, 0, up_to="gain,delay", max_delay=0.4)
    assert m.delay == pytest.approx(0, abs=1e-9)
    assert m.gain == pytest.approx(1)


def test_bad_names(courses):
    with pytest.raises(InputError, match="no course 'latr'"):
        tl.match(courses, MODEL, "as it is", "latr")
    with pytest.raises(InputError, match="courses must be"):
        tl.match([1], MODEL, 0, 1)


def test_an_interval_is_that_of_a_normal():
    axis = np.linspace(-4, 4, 9)
    low, high = density(axis, -(axis[:, None] ** 2) / 2, np.zeros_like).estimate()[1:]
    assert_allclose([low[0], high[0]], [-1.645, 1.645], atol=0.01)
