"""Courses over time: all of them, a pair, an explanation, the nearest."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.colors import to_hex

import timelike as tl
from timelike import plot


def texts(ax):
    return [t.get_text() for t in ax.get_legend().get_texts()]


def test_many_courses_are_one_collection_through_the_means_of_replicates():
    values = np.random.default_rng(0).normal(size=(9, 4))
    ax = plot.courses(tl.TimeCourses.from_arrays([0, 0, 1, 5], values), time="time (h)", value="log2 expression")
    lines = ax.collections[0].get_segments()
    assert len(lines) == 9
    np.testing.assert_allclose(lines[3], [[0, values[3, :2].mean()], [1, values[3, 2]], [5, values[3, 3]]])
    assert sorted(ax.lines[0].get_ydata()) == sorted(values.ravel())  # replicates are dots
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title(loc="left")) == ("time (h)", "log2 expression", "9 courses")


def test_few_courses_have_colours_and_names(replicated):
    ax = plot.courses(replicated[0][:3])
    assert texts(ax) == list(replicated[0].names[:3])
    assert len({to_hex(line.get_color()) for line in ax.lines}) == 3
    assert plot.courses(replicated[0][0]).get_title(loc="left") == "A01"


def test_lines_go_straight_on_over_a_gap_and_single_times_are_dots():
    ragged = tl.TimeCourses.from_arrays([[0, 2]] * 7 + [[1]], [[5, 6]] * 7 + [[4]])
    ax = plot.courses(ragged)
    assert ax.collections[0].get_segments()[0].tolist() == [[0, 5], [2, 6]]
    assert ax.lines[0].get_xydata().tolist() == [[1, 4]]
    ax = plot.courses(tl.TimeCourses.from_arrays([1], np.arange(8.0)[:, None]))  # equal times do not join courses
    assert ax.lines[0].get_ydata().tolist() == list(range(8))


def test_known_errors_are_bars():
    courses = tl.TimeCourses.from_arrays([0, 1], [[1, 2], [3, 5]], errors=[[0.1, 0.2], [0.3, 0.4]])
    bars = [segment for c in plot.courses(courses).collections for segment in c.get_segments()]
    np.testing.assert_allclose([np.ptp(bar[:, 1]) / 2 for bar in bars], [0.1, 0.2, 0.3, 0.4])


def test_points_with_two_coordinates_have_no_time_axis():
    plane = tl.TimeCourses.from_arrays(np.array([[0, 0], [0, 1]]), [[1.0, 2.0]])
    with pytest.raises(tl.InputError, match="one coordinate"):
        plot.courses(plane)


def test_pair_shows_both_courses_and_says_the_similarity(replicated):
    courses, gp = replicated
    ax = plot.pair(courses, gp, "A01", "C01", time="time (h)")
    expected = tl.similarity(courses, gp).values[0, 100]
    assert f"s = {expected:.2f}".replace("-", "\N{MINUS SIGN}") in ax.get_title(loc="left")
    assert texts(ax) == ["A01", "C01", "one curve for both, ± 2 sd", "a curve for each"]
    assert ax.get_xlabel() == "time (h)"


def test_pair_at_a_single_time():
    one = tl.TimeCourses.from_arrays([3.0], [[1.0], [2.0]], names=["a", "b"])
    ax = plot.pair(one, tl.GP.se(1, signal_sd=1, noise_sd=0.3, mean=1.5), "a", "b")
    assert {tuple(line.get_xdata()) for line in ax.lines} == {(3.0,)}


def test_explanation_bars_sum_to_the_similarity(replicated):
    why = tl.explain(*replicated, "A01", "C01")
    ax = plot.explanation(why, time="time (h)")
    assert sum(bar.get_height() for bar in ax.patches) == pytest.approx(why.similarity)
    assert ax.get_xlabel() == "time (h)"


def test_neighbors_are_named_with_their_similarity(replicated):
    courses, gp = replicated
    nearest = tl.neighbors(courses, gp, 8)
    ax = plot.neighbors(courses, gp, "B02", nearest)
    at = courses.index("B02")
    expected = [
        f"{courses.names[i]}, s = {s:.1f}" for i, s in zip(nearest.indices[at], nearest.scores[at], strict=True)
    ]
    assert [t.replace("\N{MINUS SIGN}", "-") for t in texts(ax)][-8:] == expected
    looks = {(line.get_color(), line.get_linestyle()) for line in ax.lines if "s =" in str(line.get_label())}
    assert len(looks) == 8  # colours come twice, but then with other dashes
    with pytest.raises(tl.InputError, match="neighbours are of 150 courses"):
        plot.neighbors(courses[:4], gp, 0, nearest)
    with pytest.raises(tl.InputError, match="among other courses"):
        plot.neighbors(courses, gp, 0, replace(nearest, others=("x",)))
