"""Heatmaps of similarities, distances and values."""

import numpy as np
import pytest

import timelike as tl
from timelike import plot
from timelike.clusters.clustering import Clustering
from timelike.pairs.similarity import Similarity


def test_heatmap_in_an_order(clustered):
    courses, gp, found = clustered
    S = tl.similarity(courses[:6], gp)
    ax = plot.heatmap(S, order=np.array([5, 4, 3, 2, 1, 0]))
    np.testing.assert_array_equal(ax.images[0].get_array(), S.values[::-1, ::-1])
    assert [t.get_text() for t in ax.get_yticklabels()] == ["5", "4", "3", "2", "1", "0"]
    norm = ax.images[0].norm
    assert norm(0.0) == 0.5  # white
    with pytest.raises(tl.InputError, match="clustering is of other courses"):
        plot.heatmap(S, clustering=found)
    with pytest.raises(tl.InputError, match="from 0 to 5"):
        plot.heatmap(S, order=np.array([6]))


def test_heatmap_by_cluster_has_boundaries_and_numbers(clustered):
    courses, gp, found = clustered
    S = tl.similarity(courses, gp)
    ax = plot.heatmap(S, clustering=found)
    rows = np.argsort(np.where(found.none, found.k, found.labels), kind="stable")
    np.testing.assert_array_equal(ax.images[0].get_array(), S.values[np.ix_(rows, rows)])
    across = sorted(line.get_ydata()[0] for line in ax.lines if line.get_ydata()[0] == line.get_ydata()[1])
    assert across == (np.cumsum(found.sizes) - 0.5).tolist()
    assert ax.get_ylabel() == "cluster"
    assert [t.get_text() for t in ax.get_yticklabels()] == [*map(str, range(found.k)), "none"]


def test_heatmap_of_distances_and_of_others(clustered):
    courses, gp, _ = clustered
    ax = plot.heatmap(tl.distance(courses, "euclidean"))
    assert ax.figure.axes[1].get_ylabel() == "euclidean distance"
    assert ax.get_xlabel() == "46 courses"
    others = tl.TimeCourses.from_arrays(tl.simulate.grid(), np.zeros((2, 15)), names=["x", "y"])
    ax = plot.heatmap(tl.similarity(courses[:4], gp, others))
    assert [t.get_text() for t in ax.get_xticklabels()] == ["x", "y"]
    assert ax.images[0].get_array().shape == (4, 2)


def test_colours_of_like_and_unlike_have_scales_of_their_own():
    values = np.array([[90, 2.0, -500], [2, 90, -3], [-500, -3, 90]])
    ax = plot.heatmap(Similarity(values, ("a", "b", "c")))
    norm = ax.images[0].norm
    assert norm.vmax == pytest.approx(2)  # the diagonal does not count
    assert norm.vmin < -400
    ticks = ax.figure.axes[1].get_yticks()
    assert (ticks > 0).any()
    assert (ticks < 0).any()


def test_values_in_the_order_of_clusters():
    nan = np.nan
    courses = tl.TimeCourses.from_arrays([0, 0, 3], [[1, 3, 5], [-1, nan, nan], [0, 2, -4]], names=["a", "b", "c"])
    found = Clustering(np.array([1, -1, 0]), courses.names, 2, "spectral")
    ax = plot.value_heatmap(courses, clustering=found, time="time (h)", value="log2")
    np.testing.assert_array_equal(ax.images[0].get_array().filled(nan), [[1, -4], [2, 5], [-1, nan]])
    assert [t.get_text() for t in ax.get_yticklabels()] == ["c", "a", "b"]
    assert [t.get_text() for t in ax.get_xticklabels()] == ["0", "3"]
    assert (ax.get_xlabel(), ax.figure.axes[1].get_ylabel()) == ("time (h)", "log2")


def test_own_times_are_gathered_in_equal_parts():
    times = [np.linspace(0, 1, 50), np.linspace(0.003, 0.9, 40)]
    courses = tl.TimeCourses.from_arrays(times, [np.full(50, 2.0), np.full(40, 7.0)])
    table = plot.value_heatmap(courses).images[0].get_array().filled(np.nan)
    assert table.shape == (2, 40)
    assert set(table[0]) == {2.0}
    assert set(table[1, :36]) == {7.0}
    assert np.isnan(table[1, 37:]).all()


def test_forty_one_times_have_a_column_each():
    values = np.arange(82.0).reshape(2, 41)
    values[1, -1] = np.nan
    courses = tl.TimeCourses.from_arrays(np.arange(41), values)
    ax = plot.value_heatmap(courses)
    np.testing.assert_array_equal(ax.images[0].get_array().filled(np.nan), values)
    assert ax.get_xticklabels()[1].get_text() in map(str, range(41))  # a time, not the edge of an interval
    whole = tl.TimeCourses.from_arrays(np.arange(41), np.arange(82.0).reshape(2, 41))
    assert plot.value_heatmap(whole).images[0].get_array().shape == (2, 41)


@pytest.mark.parametrize("order", [["A01"], [0.5], [True, False], [], [[0]], np.array([], int), [-1]])
def test_an_order_that_has_no_positions_is_refused(clustered, order):
    S = tl.similarity(clustered[0][:6], clustered[1])
    with pytest.raises(tl.InputError, match="order must have positions of courses, from 0 to 5"):
        plot.heatmap(S, order=order)


def test_what_is_something_else_is_refused(clustered):
    courses, gp, found = clustered
    for wrong in (courses, found, np.eye(3)):
        with pytest.raises(tl.InputError, match="expected a Similarity or a Distance, found"):
            plot.heatmap(wrong)
    S = tl.similarity(courses, gp)
    with pytest.raises(tl.InputError, match="courses must be TimeCourses, not Similarity"):
        plot.value_heatmap(S)
    for draw in (lambda: plot.heatmap(S, clustering=found.labels), lambda: plot.tree_heatmap(courses, courses)):
        with pytest.raises(tl.InputError, match="clustering must be Clustering"):
            draw()
    tree = tl.hierarchical(S, 3)
    for draw in (lambda: plot.tree_heatmap(tree, S), lambda: plot.clusters(tree, courses=S)):
        with pytest.raises(tl.InputError, match="courses must be TimeCourses, not Similarity"):
            draw()
    with pytest.raises(tl.InputError, match="gp must be GP, not int"):
        plot.clusters(tree, courses=courses, gp=3)
