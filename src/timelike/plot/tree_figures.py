"""Figures of merges and of the number of clusters: trees, trees beside values, paths, and the bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from timelike.base import checks
from timelike.base.arrays import Floats, Ints
from timelike.base.checks import counted
from timelike.base.palette import cluster_color
from timelike.clusters.clustering import Clustering
from timelike.clusters.curves import granularity
from timelike.clusters.curves.curve_clustering import CurveClustering
from timelike.courses import TimeCourses
from timelike.exceptions import InputError
from timelike.plot import parts
from timelike.plot.branches import Branches, branches, label_of_branch, tops
from timelike.plot.matrix_figures import draw_image, label_times, page_height, time_table, value_look
from timelike.plot.parts import COLORS, ONE_COLUMN, TWO_COLUMNS

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def dendrogram(clustering: Clustering, ax: Axes | None = None, *, leaves: int = 40) -> Axes:
    """The tree of merges, its last `leaves` branches; branches have the colours and numbers of the clusters.

    A tip is a course, with its name, or in brackets the number of courses that were merged below it.

    Examples
    --------
    >>> import timelike as tl
    >>> courses, _ = tl.simulate.profiles(noise=0.05, seed=1)
    >>> ax = tl.plot.dendrogram(tl.evidence_linkage(courses, tl.fit(courses), k=3))
    >>> ax.get_title(loc="left")
    '150 courses, cut into 3 clusters'
    """
    tree = _tree(clustering)
    checks.whole(leaves, "leaves")
    count = len(clustering.names)
    shown = branches(tree, leaves)
    ax = parts.axes_or_page(ax, (ONE_COLUMN if len(shown.tips) <= 20 else TWO_COLUMNS, 2.8))
    _draw_branches(ax, shown, label_of_branch(tree, clustering.labels), upright=True)
    size = {i: int(n) for i, n in enumerate(tree[:, 3], start=count)}
    parts.name_places(ax, "x", [f"({size[tip]:,})" if tip in size else clustering.names[tip] for tip in shown.tips])
    ax.set_xlim(-0.8, len(shown.tips) - 0.2)
    height = "loss of evidence" if clustering.method == "evidence linkage" else "distance"
    parts.labelled(ax, f"{counted(count, 'course')}, cut into {counted(clustering.k, 'cluster')}", "", height)
    ax.spines["bottom"].set_visible(False)
    return ax


def tree_heatmap(clustering: Clustering, courses: TimeCourses, *, time: str = "time", value: str = "value") -> Axes:
    """The values of all courses as an image in the order of the tree, which is drawn beside it; the image's Axes.

    Two panels, so always a figure of its own. For the image see :func:`value_heatmap`.

    Examples
    --------
    >>> import timelike as tl
    >>> courses, _ = tl.simulate.profiles(noise=0.05, seed=1)
    >>> ax = tl.plot.tree_heatmap(tl.evidence_linkage(courses, tl.fit(courses), k=3), courses, time="time (h)")
    >>> ax.images[0].get_array().shape
    (150, 15)
    """
    tree = _tree(clustering)
    checks.instance(courses, TimeCourses, "courses")
    if clustering.names != courses.names:
        raise InputError("the courses are not those of the clustering, or in another order.")
    shown = branches(tree, len(courses))
    left, ax = _tree_page(len(courses))
    _draw_branches(left, shown, label_of_branch(tree, clustering.labels), upright=False)
    _bound_tree(left, tree)
    columns, table = time_table(courses)
    draw_image(ax, table[shown.tips], value_look(table), value)
    ax.yaxis.tick_right()
    parts.name_places(ax, "y", [courses.names[i] for i in shown.tips])
    label_times(ax, columns, table.shape[1])
    parts.name_axes(ax, x=time)
    return ax


def _tree_page(count: int) -> tuple[Any, Any]:
    left, right = parts.page(2, 2, size=(ONE_COLUMN + 0.5, page_height(count)))
    grid: Any = left.get_subplotspec().get_gridspec()  # type: ignore[union-attr]
    grid.set_width_ratios([1, 2])
    left.figure.get_layout_engine().set(wspace=0, w_pad=0.01)  # type: ignore[union-attr, call-arg]
    return left, right


def _bound_tree(ax: Any, tree: Floats) -> None:
    """Put the tips beside the rows of the image, the root at the left, and leave out the axes."""
    ax.set_ylim(len(tree) + 0.5, -0.5)
    low, high = tree[0, 2], tree[-1, 2]  # below the first merge there is nothing to see
    ax.set_xlim(high + 0.05 * (high - low), low - 0.05 * (high - low) if high > low else 0)
    ax.set_axis_off()


def _tree(clustering: Clustering) -> Floats:
    checks.instance(clustering, Clustering, "clustering")
    if clustering.linkage is None or len(clustering.linkage) == 0:
        raise InputError(f"{clustering.method} has no tree of merges. evidence_linkage and hierarchical have one.")
    return clustering.linkage


def _draw_branches(ax: Any, shown: Branches, label: Ints, *, upright: bool) -> None:
    """Draw the tree with its tips along the x axis, or along the y axis."""
    from matplotlib.collections import LineCollection

    colors = [cluster_color(k) if k >= 0 else "0.5" for k in label[shown.nodes]]
    strokes = shown.strokes if upright else shown.strokes[:, :, ::-1]
    ax.add_collection(
        LineCollection(list(strokes), colors=colors, linewidths=0.8 if len(strokes) < 100 else 0.4, joinstyle="miter")
    )
    ax.autoscale_view()
    small = {"fontsize": parts.text_size(ax) - 1, "ha": "center", "va": "center", "zorder": 4}
    white = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
    for cluster, at in tops(shown, label).items():
        ax.text(*(at if upright else at[::-1]), str(cluster), color=cluster_color(cluster), bbox=white, **small)


def path(found: CurveClustering, ax: Axes | None = None) -> Axes:
    """How the finest clusters merge while the tolerance grows; the tolerances of the clusters shown are shaded.

    A tip is one of the finest clusters, with the number of its courses; branches have the colours and numbers of the
    clusters shown. ``found.at(tolerance=...)`` has the clusters where a line at that tolerance cuts the tree.

    Examples
    --------
    >>> import timelike as tl
    >>> courses, _ = tl.simulate.profiles(seed=1)
    >>> ax = tl.plot.path(tl.mixture(courses, tl.fit(courses)).at(k=2))
    >>> ax.get_title(loc="left")
    '2 clusters of the 3 finest'
    """
    checks.instance(found, CurveClustering, "found")
    fine, tree = found.finest or found, found.tree
    if not len(tree):
        raise InputError("a single cluster has no path: there is nothing to merge.")
    part_of = np.arange(found.k) if found.part_of is None else found.part_of
    ax = parts.axes_or_page(ax, (ONE_COLUMN, min(1.2 + 0.11 * fine.k, 9.0)))
    level, top = granularity.levels(tree)[found.k - 1], 1.06 * float(tree[-1, 2])
    ax.axvspan(level.low, min(level.high, top), color="0.9", linewidth=0, zorder=0)
    shown = branches(tree, fine.k)
    _draw_branches(ax, shown, label_of_branch(tree, part_of), upright=False)
    ax.set_xlim(top, 0)
    ax.set_ylim(fine.k - 0.4, -0.6)
    parts.name_places(ax, "y", [f"{fine.sizes[tip]:,}" for tip in shown.tips])
    ax.yaxis.tick_right()
    ax.yaxis.set_label_position("right")
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    merged = "" if found.k == fine.k else f" of the {fine.k} finest"
    parts.labelled(ax, f"{counted(found.k, 'cluster')}{merged}", "tolerance (in units of the values)", "courses")
    return ax


def bound(clustering: Clustering, ax: Axes | None = None) -> Axes:
    """What speaks for each number of clusters, as its distance to the best, for each course; the chosen one marked.

    Examples
    --------
    >>> import timelike as tl
    >>> courses, _ = tl.simulate.profiles(seed=1)
    >>> ax = tl.plot.bound(tl.mixture(courses, tl.fit(courses)))
    >>> ax.get_title(loc="left")
    '3 clusters shown; the bound is largest at 3'
    """
    checks.instance(clustering, Clustering, "clustering")
    if not clustering.evidence:
        raise InputError(f"{clustering.method} did not compare numbers of clusters: give no k to have one chosen.")
    from matplotlib.ticker import MaxNLocator

    ax = parts.axes_or_page(ax)
    ks, values = np.array(list(clustering.evidence)), np.array(list(clustering.evidence.values()))
    shown = ks <= max(4 * clustering.k, 12)
    cost = (values.max() - values) / len(clustering.names)
    ax.plot(ks[shown], -cost[shown], "o-", color=COLORS[0], markersize=3, linewidth=1)
    if clustering.k in clustering.evidence:
        ax.plot(clustering.k, -cost[ks == clustering.k], "o", color=COLORS[1], markersize=6)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    title = f"{counted(clustering.k, 'cluster')} shown; the bound is largest at {ks[values.argmax()]}"
    return parts.labelled(ax, title, "number of clusters", "log evidence per course,\nagainst the best")
