"""Clusters over time: a panel each, or all on one."""

from dataclasses import replace

import numpy as np
import pytest

import timelike as tl
from timelike import plot
from timelike.clusters.clustering import Clustering


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


def test_a_panel_for_each_cluster_and_for_none(clustered):
    _, _, found = clustered
    axes = plot.cluster_panels(found)
    sizes = found.sizes
    expected = [f"cluster {k}: {sizes[k]}" for k in range(found.k)] + [f"none of these: {found.none.sum()}"]
    assert found.none.sum() >= 1
    assert [title(ax) for ax in axes] == expected
    assert [len(ax.collections[0].get_segments()) for ax in axes] == [*sizes, found.none.sum()]
    assert len({ax.get_ylim() for ax in axes}) == 1
    assert legend(axes[0].figure) == ["courses", "the cluster's curve", "± 2 sd of a course's curve"]


def test_the_curve_and_its_band(clustered):
    found = replace(clustered[2], spread=0.3)
    for label, ax in enumerate(plot.cluster_panels(found)[:-1]):
        at, mean = ax.lines[-1].get_data()
        curve = found.curve(label, at)
        np.testing.assert_allclose(mean, curve.mean)
        sd = np.sqrt(curve.sd**2 + (found.spread * found.gp.signal_sd) ** 2)
        band = ax.collections[1].get_paths()[0].vertices[:, 1]
        assert band.max() == pytest.approx((curve.mean + 2 * sd).max())
        assert band.min() == pytest.approx((curve.mean - 2 * sd).min())


def test_large_clusters_are_thinned_and_the_legend_says_so(clustered):
    _, _, found = clustered
    axes = plot.cluster_panels(found, most=5)
    assert len(axes[0].collections[0].get_segments()) == 5
    assert title(axes[0]) == f"cluster 0: {found.sizes[0]}"
    assert legend(axes[0].figure)[0] == "courses (at most 5 of a cluster drawn)"
    with pytest.raises(tl.InputError, match="most is 0"):
        plot.cluster_panels(found, most=0)


def test_thinned_bundles_are_as_wide_as_the_whole():
    courses, found = made_up(400, 2)
    axes = plot.cluster_panels(found, courses=courses, most=40)
    for label, ax in enumerate(axes):
        drawn = np.array(ax.collections[0].get_segments())[:, :, 1]
        values = courses.values.reshape(400, 10)[found.labels == label]
        assert len(drawn) == 40
        np.testing.assert_array_equal(drawn.max(axis=0), values.max(axis=0))
        np.testing.assert_array_equal(drawn.min(axis=0), values.min(axis=0))


def test_fewer_lines_than_outermost_courses_are_drawn_where_asked_for():
    courses, found = made_up(400, 2)
    axes = plot.cluster_panels(found, courses=courses, most=3)
    assert [len(ax.collections[0].get_segments()) for ax in axes] == [3, 3]


def test_panels_need_axes_and_leave_the_rest_of_a_figure_alone(clustered):
    _, _, found = clustered
    with pytest.raises(tl.InputError, match="panels need as many Axes"):
        plot.cluster_panels(found, plot.panels(1))
    axes = plot.panels(found.k + 2)
    plot.cluster_panels(found, axes[:-1])
    assert not axes[-1].has_data()
    assert axes[0].figure.legends == []


def test_clusters_without_curves_of_their_own(clustered):
    courses, gp, _ = clustered
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


def test_clusters_on_one_axes(clustered):
    courses, gp, _ = clustered
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


@pytest.mark.parametrize("draw", [plot.clusters, plot.cluster_panels, plot.bound, plot.dendrogram])
def test_what_is_no_clustering_is_refused(clustered, draw):
    courses, _, found = clustered
    for wrong in (courses, found.labels):
        with pytest.raises(tl.InputError, match=f"clustering must be Clustering, not {type(wrong).__name__}"):
            draw(wrong)
