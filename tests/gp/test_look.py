"""What is said about courses that ask for something else: each sentence where it is due, else silence."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.gaussian_process import kernels as sk

import timelike as tl
from timelike import GP, TimeCourses
from timelike.gp import look as module

TIMES = np.arange(8.0)
FAR = np.array([0, 1, 2, 3, 4, 20.0])


def drawn(seed=0, count=30, times=TIMES):
    """Courses that ask for nothing: smooth curves around zero, and noise."""
    rng = np.random.default_rng(seed)
    phase, size = rng.uniform(0, 6, count), rng.uniform(1, 2, count)
    return size[:, None] * np.sin(times + phase[:, None]) + rng.normal(0, 0.2, (count, len(times)))


def courses_of(values, times=TIMES):
    return TimeCourses.from_arrays(times, values)


def only(sentences):
    (sentence,) = sentences
    return sentence


# -- silence ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["profiles", "replicated", "own_times", "outlying", "delayed", "uneven_errors"])
def test_nothing_is_said_about_made_up_courses(name):
    courses, *_ = getattr(tl.simulate, name)(seed=1)
    assert tl.look(courses, tl.fit(courses, robust=False)) == []


def test_nothing_is_said_about_real_ones_that_fit(shared_data, genes):
    growth = tl.read(shared_data / "growth" / "growth.csv")
    notch = tl.read(
        shared_data / "drosophila_notch" / "tc.data.csv",
        course="GeneID",
        times=[*range(0, 45, 5), *range(50, 130, 10), 150],
    )
    for courses in (genes, growth, growth.centered(), notch, notch.centered()):
        assert tl.look(courses, tl.fit(courses, clock="linear")) == []


def test_points_with_several_coordinates_have_no_gaps():
    rng = np.random.default_rng(1)
    courses = TimeCourses.from_arrays(rng.uniform(0, 100, (6, 2)), rng.normal(size=(5, 6)))
    assert tl.look(courses, GP.se(0.1, 1, 1)) == []


def test_only_courses_are_looked_at():
    with pytest.raises(tl.InputError, match="courses must be TimeCourses, not ndarray"):
        tl.look(drawn())


# -- counts ----------------------------------------------------------------------------------------------------------


def counts(largest=1000, seed=0):
    """Counts whose levels are even in their logarithm."""
    rng = np.random.default_rng(seed)
    return rng.poisson(np.exp(rng.uniform(0, np.log(largest), (40, 1))) * np.ones(8)).astype(float)


def test_counts():
    assert module.COUNTS in tl.look(courses_of(counts()))
    assert module.COUNTS not in tl.look(courses_of(np.log2(counts() + 1)))


@pytest.mark.parametrize(
    "spoilt",
    [
        pytest.param(lambda values: values - 1, id="a negative value"),
        pytest.param(lambda values: values + np.eye(*values.shape) / 2, id="some halves"),
        pytest.param(lambda values: values.clip(0, 9), id="scores"),
        pytest.param(lambda _: np.round(120 + 15 * drawn(count=40)), id="pressures"),
    ],
)
def test_no_counts(spoilt):
    assert module.COUNTS not in tl.look(courses_of(spoilt(counts())))


# -- levels ----------------------------------------------------------------------------------------------------------


def test_variance_between_levels():
    values = drawn()
    levels = np.random.default_rng(2).normal(0, 10, (30, 1))
    around = (values + levels) - (values + levels).mean()
    within = values - values.mean(axis=1, keepdims=True)
    share = 1 - (within**2).sum() / (around**2).sum()
    courses = courses_of(values + levels)
    assert only(tl.look(courses)).startswith(f"{100 * share:.0f} % of the variance lies between the levels of courses")
    assert "courses.centered(), scale='center', --scale center" in only(tl.look(courses))
    assert tl.look(courses.centered()) == tl.look(courses.standardized()) == []


def test_levels_that_differ_as_much_as_curves_are_no_question():
    assert tl.look(courses_of(drawn() + np.random.default_rng(2).normal(0, 1, (30, 1)))) == []


def test_single_values_have_nothing_but_a_level():
    times = [[t] for t in range(9)]
    assert tl.look(TimeCourses.from_arrays(times, [[10.0 * t] for t in range(9)])) == []


# -- constant courses --------------------------------------------------------------------------------------------------


def test_constant_courses():
    values = drawn()
    values[3] = 0.25
    assert only(tl.look(courses_of(values))).startswith("1 of 30 courses is constant (3): ")
    values[[5, 7, 9, 11, 13]] = 0.5
    sentence = only(tl.look(courses_of(values)))
    assert sentence.startswith("6 of 30 courses are constant (3, 5, 7, 9, 11, ...): ")
    assert "--most-variable 24" in sentence
    assert tl.look(courses_of(values).most_variable(24)) == []
    assert only(tl.look(courses_of(values).centered())) == sentence


def test_a_single_value_is_not_constant():
    courses = TimeCourses.from_arrays([[0], [0, 1, 2], [0, 1, 2]], [[1.0], [0, 2, 1], [2, 0, 1]])
    assert tl.look(courses) == []


# -- copies ------------------------------------------------------------------------------------------------------------


def test_copies():
    values = np.repeat(drawn(), 2, axis=1)
    assert only(tl.look(courses_of(values, np.repeat(TIMES, 2)))).startswith(
        "all replicates are equal to the last digit: are they copies?"
    )
    values[3, 5] += 1e-12
    assert tl.look(courses_of(values, np.repeat(TIMES, 2))) == []


def test_two_equal_replicates_are_chance():
    values, times = drawn(count=2), np.append(TIMES, 7)
    assert tl.look(courses_of(np.column_stack([values, values[:, -1]]), times)) == []


def test_replicates_of_constant_courses_are_no_copies():
    values = np.repeat(drawn(), 2, axis=1)
    values[:, 1::2] += 0.1
    values[:10] = 1.0
    assert "copies" not in only(tl.look(courses_of(values, np.repeat(TIMES, 2))))
    constant_replicates = TimeCourses.from_arrays([[0, 0, 1, 1, 2, 2], [0, 1, 2]], [[1.0] * 6, [3, 1, 2]])
    assert "copies" not in only(tl.look(constant_replicates))


def test_the_last_value_of_a_course_and_the_first_of_the_next_are_no_replicates():
    courses = TimeCourses.from_arrays([[1, 5], [5, 7], [7, 9], [9, 11]], [[1.0, 2], [2, 1], [1, 2], [2, 1]])
    assert tl.look(courses) == []


# -- few times ---------------------------------------------------------------------------------------------------------


def test_one_time_and_two():
    assert only(tl.look(courses_of(drawn()[:, :2], [5, 5]))).startswith("all values are at one time (5): ")
    assert only(tl.look(courses_of(drawn()[:, :2], [5, 6.5]))).startswith("there are two times only (5 and 6.5): ")
    assert tl.look(courses_of(drawn()[:, :3], [5, 6, 7])) == []


def test_one_time_is_not_asked_to_be_centred():
    levels = np.repeat(10 * np.arange(30.0)[:, None], 2, axis=1)
    assert only(tl.look(courses_of(drawn()[:, :2] + levels, [5, 5]))).startswith("all values are at one time")


# -- gaps --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ratio", [0.1, 1.0, 2.0, 2.5, 4.0])
def test_what_is_known_in_the_middle_of_a_gap(ratio):
    """By hand: r to both ends, R between them, 2 r^2 / (1 + R)."""
    found = module._known_inside(GP.se(3.0, 7, 1), np.array([[10.0], [10 + 3 * ratio]]))
    r, R = np.exp(-((ratio / 2) ** 2) / 2), np.exp(-(ratio**2) / 2)
    assert found == pytest.approx(2 * r**2 / (1 + R), abs=1e-6)


def test_a_gap_that_curves_cannot_cross():
    sentence = only(tl.look(courses_of(drawn(times=FAR), FAR), GP.se(2, 1, 0.1)))
    assert sentence.startswith("the times leave a gap that curves cannot cross, from 4 to 20: there, values at both ")
    assert "as little as 0 % of a curve's variance" in sentence


def test_gaps_count_from_two_length_scales_and_a_bit_on():
    for end, due in ((4 + 2.2 * 2, False), (4 + 2.4 * 2, True)):
        times = np.append(FAR[:5], end)
        assert bool(tl.look(courses_of(drawn(times=times), times), GP.se(2, 1, 0.1))) == due


def test_several_gaps():
    times = np.array([0, 1, 2, 3, 20, 40, 41, 60, 80.0])
    courses = courses_of(drawn(times=times), times)
    sentence = only(tl.look(courses, GP.se(2, 1, 0.1)))
    assert "gaps that curves cannot cross, from 3 to 20, from 20 to 40, from 41 to 60, ...: " in sentence


@pytest.mark.parametrize(
    "kernel",
    [
        pytest.param(sk.RBF(8), id="long enough"),
        pytest.param(sk.RBF(0.1), id="shorter than all gaps, which the fit says"),
        pytest.param(sk.DotProduct(0.0), id="straight lines"),
        pytest.param(sk.ExpSineSquared(0.7, periodicity=8), id="other periods know"),
        pytest.param(sk.RBF(2) + sk.ConstantKernel(10), id="mostly a level"),
    ],
)
def test_gaps_that_are_no_question(kernel):
    assert tl.look(courses_of(drawn(times=FAR), FAR), GP(kernel, 1, 0.1)) == []


def test_gaps_are_measured_on_the_clock():
    times = np.array([0, 1, 3, 7, 15, 31.0])
    courses = courses_of(drawn(times=times), times)
    plain, clocked = GP.se(0.95, 1, 0.1), GP.se(0.95, 1, 0.1, clock=1.0)
    assert "from 3 to 7, from 7 to 15, from 15 to 31: " in only(tl.look(courses, plain))
    assert only(tl.look(courses, plain)).endswith("So may a clock (clock='auto').")
    assert tl.look(courses, clocked) == []
    early = courses_of(drawn(times=times + 9 * (times > 0)), times + 9 * (times > 0))
    assert "from 0 to 10: " in only(tl.look(early, clocked)), "a wide gap of the clock, if not of plain time"
    assert only(tl.look(early, clocked)).endswith("times in between would help.")


def test_a_gap_of_one_course_that_others_fill_is_none():
    gp = GP.se(2, 1, 0.1)
    lonely = TimeCourses.from_arrays([FAR], [drawn(times=FAR)[0]])
    filled = TimeCourses.from_arrays([FAR, np.arange(21.0)], [drawn(times=FAR)[0], drawn(times=np.arange(21.0))[1]])
    assert tl.look(lonely, gp)
    assert tl.look(filled, gp) == []


def test_a_gap_among_many_times():
    times = np.concatenate([np.linspace(0, 10, 3000), np.linspace(30, 40, 3000)])
    courses = TimeCourses.from_arrays(times, [np.sin(times), np.cos(times)])
    assert "from 10 to 30" in only(tl.look(courses, GP.se(2, 1, 0.1)))


# -- all of it ---------------------------------------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 5),
    unit=st.sampled_from([1e-170, 1e-3, 0.5, 64.0, 1e170]),
    clock=st.sampled_from([1e-6, 0.5, 1e6]),
    ask=st.sampled_from(["levels", "constant", "copies", "nothing"]),
)
def test_units_do_not_matter(seed, unit, clock, ask):
    values, times = drawn(seed), TIMES
    if ask == "levels":
        values = values + 20 * np.arange(30.0)[:, None]
    elif ask == "constant":
        values[4] = 2.0
    elif ask == "copies":
        values, times = np.repeat(values, 2, axis=1), np.repeat(TIMES, 2)
    said = tl.look(courses_of(values, times))
    assert len(said) == (ask != "nothing")
    assert tl.look(courses_of(unit * values, clock * times)) == said


def test_shared_data_say_what_is_so(shared_data):
    folder = shared_data / "mouse_flu"
    flu = tl.read(folder / "expression.csv.gz", samples=folder / "samples.csv", time="Timepoint", condition="C")
    assert only(tl.look(flu)).startswith("97 % of the variance lies between the levels")
    centred = flu.centered()
    sentence = only(tl.look(centred, tl.GP.se(17.5, 0.43, 0.31)))
    assert "gaps that curves cannot cross, from 72 to 120, from 120 to 168: " in sentence
    assert "as little as 30 %" in sentence
    table = pd.read_csv(shared_data / "fission" / "counts.csv.gz", index_col=0)
    assert tl.look(TimeCourses.from_arrays(range(36), table))[0] == module.COUNTS
