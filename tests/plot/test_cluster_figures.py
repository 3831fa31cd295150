import sys
from dataclasses import replace

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.cluster import hierarchy

import timelike as tl
from timelike import plot
from timelike.clusters.clustering import Clustering
from timelike.plot import matrix_figures as matrix_pictures

mpl.use("Agg")


@pytest.fixture(scope="module")
def fitted():
    courses, _ = tl.simulate.profiles(0.08, per_group=15, seed=2)
    odd = np.concatenate([courses.values.reshape(45, 15), [0.5 - tl.simulate.grid()]])
    courses = tl.TimeCourses.from_arrays(tl.simulate.grid(), odd)
    gp = tl.fit(courses)
    return courses, gp, tl.mixture(courses, gp)


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


def made_up(count, k, times=10):
    rng = np.random.default_rng(0)
    labels, x = rng.integers(0, k, count), np.linspace(0, 48, times)
    values = np.sin(x / 8 + labels[:, None]) + 0.3 * rng.standard_normal((count, times))
    courses = tl.TimeCourses.from_arrays(x, values)
    return courses, Clustering(labels, courses.names, k, "spectral")


def title(ax):
    return ax.get_title(loc="left")


def legend(figure):
    return [t.get_text() for t in figure.legends[0].get_texts()]


# -- panels ------------------------------------------------------------------------------------------------------


def test_a_panel_for_each_cluster_and_for_none(fitted):
    _, _, found = fitted
    axes = plot.cluster_panels(found)
    sizes = found.sizes
    expected = [f"cluster {k}: {sizes[k]}" for k in range(found.k)] + [f"none of these: {found.none.sum()}"]
    assert found.none.sum() >= 1
    assert [title(ax) for ax in axes] == expected
    assert [len(ax.collections[0].get_segments()) for ax in axes] == [*sizes, found.none.sum()]
    assert len({ax.get_ylim() for ax in axes}) == 1
    assert legend(axes[0].figure) == ["courses", "the cluster's curve", "± 2 sd of a course's curve"]


def test_the_curve_and_its_band(fitted):
    found = replace(fitted[2], spread=0.3)
    for label, ax in enumerate(plot.cluster_panels(found)[:-1]):
        at, mean = ax.lines[-1].get_data()
        curve = found.curve(label, at)
        np.testing.assert_allclose(mean, curve.mean)
        sd = np.sqrt(curve.sd**2 + (found.spread * found.gp.signal_sd) ** 2)
        band = ax.collections[1].get_paths()[0].vertices[:, 1]
        assert band.max() == pytest.approx((curve.mean + 2 * sd).max())
        assert band.min() == pytest.approx((curve.mean - 2 * sd).min())


def test_large_clusters_are_thinned_and_the_legend_says_so(fitted):
    _, _, found = fitted
    axes = plot.cluster_panels(found, most=5)
    assert len(axes[0].collections[0].get_segments()) == 5
    assert title(axes[0]) == f"cluster 0: {found.sizes[0]}"
    assert legend(axes[0].figure)[0] == "courses (at most 5 of a cluster drawn)"
    with pytest.raises(tl.InputError, match="most is 0"):
        plot.cluster_panels(found, most=0)


def test_panels_need_axes_and_leave_the_rest_of_a_figure_alone(fitted):
    _, _, found = fitted
    with pytest.raises(tl.InputError, match="panels need as many Axes"):
        plot.cluster_panels(found, plot.panels(1))
    axes = plot.panels(found.k + 2)
    plot.cluster_panels(found, axes[:-1])
    assert not axes[-1].has_data()
    assert axes[0].figure.legends == []


def test_clusters_without_curves_of_their_own(fitted):
    courses, gp, _ = fitted
    found = tl.spectral(tl.similarity(courses, gp), 3)
    with pytest.raises(tl.InputError, match=r"spectral does not carry its courses: give courses="):
        plot.clusters(found)
    with pytest.raises(tl.InputError, match="not those of the clustering"):
        plot.clusters(found, courses=courses[:5])
    first = plot.clusters(found, courses=courses, gp=gp)
    at, mean = first.lines[-1].get_data()
    np.testing.assert_allclose(mean, gp.posterior(courses.select(found.labels == 0), at).mean)
    assert legend(first.figure) == ["courses", "one curve for the cluster", "± 2 sd of it"]
    assert legend(plot.clusters(found, courses=courses).figure) == ["courses"]


def test_labels_stand_outside_only():
    courses, found = made_up(300, 7)
    axes = plot.clusters(found, courses=courses, time="time (h)", value="log2").figure.axes
    assert [ax.get_ylabel() for ax in axes] == ["log2", "", "", "", "log2", "", ""]
    assert [ax.get_xlabel() for ax in axes] == [""] * 4 + ["time (h)"] * 3
    below = [ax.xaxis.get_major_ticks()[0].label1.get_visible() for ax in axes]
    assert below == [False, False, False, True, True, True, True]  # nothing is below the fourth


@pytest.mark.parametrize(("count", "columns"), [(1, 1), (2, 2), (4, 4), (5, 3), (7, 4), (13, 5), (30, 6), (31, 5)])
def test_panels_fill_the_page(count, columns):
    courses, found = made_up(80, count)
    figure = plot.clusters(found, courses=courses).figure
    assert figure.axes[0].get_gridspec().ncols == columns
    assert figure.get_size_inches()[0] == (7 if count > 1 else 3.5)


def test_nothing_overlaps_in_thirty_panels():
    courses, found = made_up(600, 30)
    figure = plot.clusters(found, courses=courses, time="time (h)", value="log2 expression").figure
    figure.draw_without_rendering()
    boxes = [ax.get_tightbbox() for ax in figure.axes]
    overlaps = [(i, j) for i, a in enumerate(boxes) for j, b in enumerate(boxes[:i]) if a.overlaps(b)]
    assert overlaps == []
    assert all(ax.get_window_extent().width > 0.6 * figure.dpi for ax in figure.axes)


@pytest.mark.parametrize("ending", ["pdf", "svg"])
def test_files_of_large_figures_are_small(ending, tmp_path):
    courses, found = made_up(5000, 5)
    plot.save(plot.clusters(found, courses=courses), tmp_path / f"f.{ending}")
    assert (tmp_path / f"f.{ending}").stat().st_size < 500_000


def test_clusters_on_one_axes(fitted):
    courses, gp, _ = fitted
    found = tl.mixture(courses, gp, k=3)
    (ax,) = plot.panels(1)
    assert plot.clusters(found, ax) is ax
    names = [t.get_text() for t in ax.get_legend().get_texts()]
    assert names[:3] == ["cluster 0", "cluster 1", "cluster 2"]
    courses, found = made_up(80, 20)
    plot.clusters(found, plot.panels(1)[0], courses=courses, gp=gp)
    ax = plot.clusters(found, plot.panels(1)[0], courses=courses, gp=tl.GP.se(10, 1, 0.3))
    assert len({(line.get_color(), line.get_linestyle()) for line in ax.lines}) == 20


def test_one_course_and_one_time():
    one = tl.TimeCourses.from_arrays([3.0], [[1.0]])
    found = Clustering(np.zeros(1, int), one.names, 1, "spectral")
    ax = plot.clusters(found, courses=one, gp=tl.GP.se(1, signal_sd=1, noise_sd=0.3))
    assert all(line.get_xdata() == [3.0] for line in ax.lines if line.get_marker() in "o.")
    assert title(ax) == "cluster 0: 1"


# -- images ------------------------------------------------------------------------------------------------------


def test_heatmap_in_an_order(fitted):
    courses, gp, found = fitted
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


def test_heatmap_by_cluster_has_boundaries_and_numbers(fitted):
    courses, gp, found = fitted
    S = tl.similarity(courses, gp)
    ax = plot.heatmap(S, clustering=found)
    rows = np.argsort(np.where(found.none, found.k, found.labels), kind="stable")
    np.testing.assert_array_equal(ax.images[0].get_array(), S.values[np.ix_(rows, rows)])
    across = sorted(line.get_ydata()[0] for line in ax.lines if line.get_ydata()[0] == line.get_ydata()[1])
    assert across == (np.cumsum(found.sizes) - 0.5).tolist()
    assert ax.get_ylabel() == "cluster"
    assert [t.get_text() for t in ax.get_yticklabels()] == [*map(str, range(found.k)), "none"]


def test_heatmap_of_distances_and_of_others(fitted):
    courses, gp, _ = fitted
    ax = plot.heatmap(tl.distance(courses, "euclidean"))
    assert ax.figure.axes[1].get_ylabel() == "euclidean distance"
    assert ax.get_xlabel() == "46 courses"
    others = tl.TimeCourses.from_arrays(tl.simulate.grid(), np.zeros((2, 15)), names=["x", "y"])
    ax = plot.heatmap(tl.similarity(courses[:4], gp, others))
    assert [t.get_text() for t in ax.get_xticklabels()] == ["x", "y"]
    assert ax.images[0].get_array().shape == (4, 2)


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


# -- trees and numbers -------------------------------------------------------------------------------------------


def test_branches_are_those_that_scipy_draws(fitted):
    courses, gp, _ = fitted
    tree = tl.hierarchical(tl.similarity(courses, gp), 3).linkage
    ours = matrix_pictures.branches(tree, len(courses))
    theirs = hierarchy.dendrogram(tree, no_plot=True)
    np.testing.assert_array_equal(ours.tips, theirs["leaves"])
    drawn = {tuple(np.round(stroke.ravel(), 9)) for stroke in ours.strokes}
    strokes = zip(theirs["icoord"], theirs["dcoord"], strict=True)
    expected = [np.column_stack([(np.array(x) - 5) / 10, y]) for x, y in strokes]
    assert drawn == {tuple(np.round(stroke.ravel(), 9)) for stroke in expected}
    few = matrix_pictures.branches(tree, 7)
    np.testing.assert_array_equal(few.tips, hierarchy.dendrogram(tree, 7, "lastp", no_plot=True)["leaves"])


def test_a_deep_tree_is_drawn():
    count = 3000
    chain = [[0 if i == 0 else count + i - 1, i + 1, i + 1, i + 2] for i in range(count - 1)]
    names = tuple(map(str, range(count)))
    found = Clustering(np.zeros(count, int), names, 1, "single linkage", linkage=np.array(chain, float))
    ax = plot.dendrogram(found, leaves=count)
    assert len(ax.collections[0].get_segments()) == count - 1


def test_dendrogram_has_the_colours_and_numbers_of_the_clusters(fitted):
    courses, gp, mixed = fitted
    found = tl.evidence_linkage(courses, gp, k=3)
    ax = plot.dendrogram(found, leaves=46)
    assert len(ax.collections[0].get_segments()) == 45
    assert {t.get_text() for t in ax.texts} == {"0", "1", "2"}
    colors = [mpl.colors.to_hex(c) for c in ax.collections[0].get_colors()]
    assert [colors.count(mpl.colors.to_hex(plot.COLORS[k])) for k in range(3)] == [n - 1 for n in found.sizes]
    assert ax.get_ylabel() == "loss of evidence"
    few = plot.dendrogram(found, leaves=4)
    sizes = [int(t.get_text().strip("()")) for t in few.get_xticklabels() if "(" in t.get_text()]
    assert sum(sizes) == 46 - (4 - len(sizes))
    assert plot.dendrogram(tl.hierarchical(tl.similarity(courses, gp), 3)).get_ylabel() == "distance"
    with pytest.raises(tl.InputError, match="no tree of merges"):
        plot.dendrogram(mixed)


def test_a_tree_beside_its_values(fitted):
    courses, gp, _ = fitted
    found = tl.hierarchical(tl.similarity(courses, gp), 3)
    ax = plot.tree_heatmap(found, courses, time="time (h)")
    leaves = hierarchy.leaves_list(found.linkage)
    np.testing.assert_array_equal(ax.images[0].get_array(), courses.values.reshape(46, 15)[leaves])
    tree = ax.figure.axes[0]
    assert tree.get_ylim() == ax.get_ylim()  # rows and tips are side by side
    assert ax.get_xlabel() == "time (h)"
    with pytest.raises(tl.InputError, match="not those of the clustering"):
        plot.tree_heatmap(found, courses[:5])


def test_bound_marks_the_chosen_number(fitted):
    courses, gp, found = fitted
    ax = plot.bound(found)
    best = max(found.evidence, key=found.evidence.get)
    assert f"the bound is largest at {best}" in title(ax)
    values = dict(zip(*ax.lines[0].get_data(), strict=True))
    assert max(values.values()) == 0
    assert values[1] == pytest.approx((found.evidence[1] - found.evidence[best]) / 46)
    with pytest.raises(tl.InputError, match="did not compare numbers"):
        plot.bound(tl.spectral(tl.similarity(courses, gp), 2))


def test_colours_of_like_and_unlike_have_scales_of_their_own():
    values = np.array([[90, 2.0, -500], [2, 90, -3], [-500, -3, 90]])
    ax = plot.heatmap(sys.modules["timelike.pairs.similarity"].Similarity(values, ("a", "b", "c")))
    norm = ax.images[0].norm
    assert norm.vmax == pytest.approx(2)  # the diagonal does not count
    assert norm.vmin < -400
    ticks = ax.figure.axes[1].get_yticks()
    assert (ticks > 0).any()
    assert (ticks < 0).any()


# -- arguments ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [["A01"], [0.5], [True, False], [], [[0]], np.array([], int), [-1]])
def test_an_order_that_has_no_positions_is_refused(fitted, order):
    S = tl.similarity(fitted[0][:6], fitted[1])
    with pytest.raises(tl.InputError, match="order must have positions of courses, from 0 to 5"):
        plot.heatmap(S, order=order)


@pytest.mark.parametrize("leaves", [0, -3, 2.5, "x", True])
def test_leaves_are_a_number(fitted, leaves):
    found = tl.hierarchical(tl.similarity(*fitted[:2]), 3)
    with pytest.raises(tl.InputError, match=f"leaves is {leaves!r}: expected a whole number, at least 1"):
        plot.dendrogram(found, leaves=leaves)


@pytest.mark.parametrize("draw", [plot.clusters, plot.cluster_panels, plot.bound, plot.dendrogram])
def test_what_is_no_clustering_is_refused(fitted, draw):
    courses, _, found = fitted
    for wrong in (courses, found.labels):
        with pytest.raises(tl.InputError, match=f"clustering must be Clustering, not {type(wrong).__name__}"):
            draw(wrong)


def test_what_is_something_else_is_refused(fitted):
    courses, gp, found = fitted
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
