"""Pictures of matrices and trees: similarities, values in the order of clusters, merges, numbers of clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from timelike.base import checks
from timelike.base.arrays import Floats, Ints
from timelike.base.checks import counted
from timelike.clusters.clustering import Clustering
from timelike.courses import TimeCourses
from timelike.exceptions import InputError
from timelike.plot import parts
from timelike.plot.parts import COLORS, ONE_COLUMN, TWO_COLUMNS, color_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from timelike.pairs.distance import Distance
    from timelike.pairs.similarity import Similarity

NAMED = 40
"""Up to so many courses a new figure is made tall enough for their names."""
TIMES = 60
"""Up to so many distinct times each has its column; more are gathered."""
INTERVALS = 40
"""Columns into which they are gathered."""


def heatmap(
    similarity: Similarity | Distance,
    ax: Axes | None = None,
    *,
    clustering: Clustering | None = None,
    order: Ints | None = None,
) -> Axes:
    """The similarities, or distances, as an image; a similarity of zero is white.

    Names are written where they fit. Blue and red have scales of their own, because courses are seldom as like as they
    can be unlike; each ends where only 2 % of its pairs are beyond. A colour bar takes some of the room of `ax`.

    Parameters
    ----------
    similarity
    ax
    clustering
        Puts the courses of a cluster together, with lines between the clusters and their numbers.
    order
        A sequence of your own: positions of the courses.

    Examples
    --------
    >>> import timelike as tl
    >>> courses, _ = tl.simulate.profiles(seed=1)
    >>> gp = tl.fit(courses)
    >>> ax = tl.plot.heatmap(tl.similarity(courses, gp), clustering=tl.mixture(courses, gp, k=3))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['0', '1', '2']
    """
    if not hasattr(similarity, "dissimilarity"):
        raise InputError(f"expected a Similarity or a Distance, found {type(similarity).__name__}.")
    rows = sequence(similarity.names, clustering, order)
    others = getattr(similarity, "others", None)
    square = others is None
    values = similarity.values[np.ix_(rows, rows)] if square else similarity.values[rows]
    ax = parts.axes_or_page(ax, _square_size(len(rows)))
    if hasattr(similarity, "measure"):
        _draw_image(ax, values, ("viridis_r", 0.0, _limit(values)), f"{similarity.measure} distance")
    else:
        pairs = values[~np.eye(len(values), dtype=bool)] if square else values
        _draw_image(ax, values, ("RdBu", -_limit(-pairs), _limit(pairs)), "s: two curves < 0 < one curve")
    names = [similarity.names[i] for i in rows]
    labels = None if clustering is None else clustering.labels[rows]
    _label_rows(ax, names, labels, "y")
    _label_rows(ax, names if square else list(others or ()), labels if square else None, "x")
    return ax


def value_heatmap(
    courses: TimeCourses,
    ax: Axes | None = None,
    *,
    clustering: Clustering | None = None,
    order: Ints | None = None,
    time: str = "time",
    value: str = "value",
) -> Axes:
    """The values of all courses as an image: a row a course, a column a time, in the order of the clusters.

    Replicates are averaged, and what was not measured is grey. Each distinct time has a column of the same width; where
    there are more than 60 of them, the time is divided into 40 equal parts instead, and the values in each averaged.
    The colours end at the 2nd and 98th percentile; where there are values on both sides of zero, zero is white.

    Parameters
    ----------
    courses
    ax
    clustering
        Puts the courses of a cluster together, with lines between the clusters and their numbers.
    order
        A sequence of your own: positions of the courses.
    time, value
        Labels, with units.

    Examples
    --------
    >>> import timelike as tl
    >>> courses, _ = tl.simulate.profiles(seed=1)
    >>> found = tl.mixture(courses, tl.fit(courses), k=3)
    >>> ax = tl.plot.value_heatmap(courses, clustering=found, time="time (h)", value="log2 expression")
    >>> ax.images[0].get_array().shape
    (150, 15)
    """
    checks.instance(courses, TimeCourses, "courses")
    rows = sequence(courses.names, clustering, order)
    edges, table = _time_table(courses)
    size = (ONE_COLUMN, _height(len(rows)))
    ax = parts.axes_or_page(ax, size)
    _draw_image(ax, table[rows], _value_look(table), value)
    labels = None if clustering is None else clustering.labels[rows]
    _label_rows(ax, [courses.names[i] for i in rows], labels, "y")
    _label_times(ax, edges, table.shape[1])
    ax.set_xlabel(time)
    return ax


def sequence(names: tuple[str, ...], clustering: Clustering | None, order: Ints | None = None) -> Ints:
    """Positions of the courses in the order in which they are drawn: by cluster, within it as in the tree if any."""
    if order is not None and clustering is not None:
        raise InputError("give order or clustering, not both: a clustering has its own order.")
    if clustering is None:
        rows = np.arange(len(names)) if order is None else np.asarray(order)
        whole = rows.ndim == 1 and rows.dtype.kind in "iu" and len(rows) > 0
        if not whole or rows.min() < 0 or rows.max() >= len(names):
            raise InputError(f"order must have positions of courses, from 0 to {len(names) - 1}.")
        return rows
    checks.instance(clustering, Clustering, "clustering")
    if clustering.names != names:
        raise InputError(
            f"the clustering is of other courses ({len(clustering.names):,} names against {len(names):,}), or has them "
            "in another order."
        )
    leaves = np.arange(len(names)) if clustering.linkage is None else branches(clustering.linkage, len(names)).tips
    last = np.where(clustering.labels < 0, clustering.k, clustering.labels)
    return np.asarray(leaves[np.argsort(last[leaves], kind="stable")])


# -- images ------------------------------------------------------------------------------------------------------


def _square_size(count: int) -> tuple[float, float]:
    side = ONE_COLUMN if count > NAMED else max(ONE_COLUMN, 0.13 * count + 1.6)
    return side, 0.82 * side


def _height(count: int) -> float:
    return 4.0 if count > NAMED else 0.13 * count + 1.2


def _limit(values: Floats) -> float:
    """Where only 2 % of the values above zero are beyond, or 1 where none is above zero."""
    above = values[values > 0]
    return float(np.percentile(above, 98)) if len(above) else 1.0


Look = tuple[str, float, float]
"""A colour map and the values at its ends."""


def _value_look(table: Floats) -> Look:
    low, high = (float(x) for x in np.nanpercentile(table, [2, 98]))
    if low < 0 < high:
        limit = max(-low, high)
        return "RdBu_r", -limit, limit
    return "viridis", low, high if high > low else low + 1


def _draw_image(ax: Any, values: Floats, look: Look, label: str) -> None:
    """Draw the image and its colour bar, zero in the middle where it is between; grey behind what is missing."""
    from matplotlib.colors import Normalize, TwoSlopeNorm

    colors, low, high = look
    norm = TwoSlopeNorm(0, low, high) if low < 0 < high else Normalize(low, high)
    image = ax.imshow(values, colors, norm, aspect="auto", interpolation="nearest", rasterized=True)
    ax.set_facecolor("0.8")
    below, above = bool(np.nanmin(values) < low), bool(np.nanmax(values) > high)
    extend = {(True, True): "both", (True, False): "min", (False, True): "max"}.get((below, above), "neither")
    bar = ax.figure.colorbar(image, ax=ax, extend=extend, shrink=0.7, aspect=25, pad=0.03)
    if low < 0 < high:
        bar.set_ticks(_ticks(low, high))
    bar.set_label(label, size=parts.text_size(ax))
    bar.ax.tick_params(labelsize=parts.text_size(ax) - 1, width=0.6, length=3)
    bar.outline.set_visible(False)
    ax.spines[:].set_visible(False)


def _ticks(low: float, high: float) -> list[float]:
    """Zero, and round numbers on both sides of it, which may have different scales."""
    from matplotlib.ticker import MaxNLocator

    below, above = MaxNLocator(3).tick_values(low, 0), MaxNLocator(3).tick_values(0, high)
    return [*(float(t) for t in below if low <= t < 0), 0.0, *(float(t) for t in above if 0 < t <= high)]


def _time_table(courses: TimeCourses) -> tuple[Floats, Floats]:
    """Times of the columns, or the edges of the intervals (one more), and the mean values, NaN where there are none."""
    times = parts.one_coordinate(courses.times)
    columns, column = np.unique(times, return_inverse=True)
    width = len(columns)
    if width > TIMES:
        width = INTERVALS
        columns = np.linspace(times.min(), times.max(), INTERVALS + 1)
        column = np.clip(np.searchsorted(columns, times, side="right") - 1, 0, INTERVALS - 1)
    cell = np.repeat(np.arange(len(courses)), courses.sizes) * width + column.ravel()
    count = np.bincount(cell, minlength=len(courses) * width).astype(float)
    total = np.bincount(cell, courses.values, minlength=len(courses) * width)
    mean = np.divide(total, count, out=np.full(len(count), np.nan), where=count > 0)
    return columns, mean.reshape(len(courses), width)


def _label_times(ax: Any, columns: Floats, width: int) -> None:
    """Write the times below their columns, or below the edges of the intervals, as many as fit."""
    from matplotlib.ticker import MaxNLocator

    if len(columns) > width:
        low, high = columns[0], columns[-1]
        shown = [t for t in MaxNLocator(5).tick_values(low, high) if low <= t <= high]
        ax.set_xticks([(t - low) / (high - low) * width - 0.5 for t in shown], [parts.number(t, "g") for t in shown])
        return
    texts = [parts.number(t, ".4g") for t in columns]
    room = fitting_texts(ax, max(map(len, texts)))
    step = -(-len(texts) // room)
    ax.set_xticks(range(0, len(texts), step), texts[::step])


def fitting_texts(ax: Any, letters: int) -> int:
    """How many texts of so many letters fit beside each other below a panel."""
    return max(1, int(2 * parts.fitting(ax, "x") / (letters + 1.5)))


def _label_rows(ax: Any, names: list[str], labels: Ints | None, axis: str) -> None:
    """Write names where they fit, numbers of clusters where they are known, otherwise how many courses there are."""
    named = len(names) <= parts.fitting(ax, axis)
    if labels is not None:
        _mark_clusters(ax, labels, axis, beside=named)
    if named:
        turned = {"rotation": 90} if axis == "x" else {}
        getattr(ax, f"set_{axis}ticks")(range(len(names)), [parts.shortened(name) for name in names], **turned)
        ax.tick_params(axis=axis, length=0)
    elif labels is None:
        getattr(ax, f"set_{axis}ticks")([])
        getattr(ax, f"set_{axis}label")(counted(len(names), "course"))


def _mark_clusters(ax: Any, labels: Ints, axis: str, *, beside: bool) -> None:
    """Draw lines between clusters and write their numbers: on the axis, or across from it where names are there."""
    edges = np.flatnonzero(np.diff(labels)) + 0.5
    line = ax.axhline if axis == "y" else ax.axvline
    for edge in edges:
        line(edge, color="black", linewidth=0.6)
    begins, ends = np.concatenate([[-0.5], edges]), np.concatenate([edges, [len(labels) - 0.5]])
    kept = _apart(begins, ends, 1.0 * len(labels) / max(parts.fitting(ax, axis), 1))
    at = ((begins + ends) / 2)[kept]
    none = "none" if axis == "y" else ""  # along x it would run into its neighbour
    texts = [none if labels[int(begin + 0.5)] < 0 else str(labels[int(begin + 0.5)]) for begin in begins[kept]]
    target = ax if not beside else _across(ax, axis)
    getattr(target, f"set_{axis}ticks")(at, texts)
    target.tick_params(axis=axis, length=0)
    getattr(target, f"set_{axis}label")("cluster")


def _apart(begins: Floats, ends: Floats, least: float) -> list[int]:
    """Which stretches have their number written, the longest first, so that numbers keep a distance."""
    middle = (begins + ends) / 2
    kept: list[int] = []
    for i in np.argsort(begins - ends, kind="stable"):
        if all(abs(middle[i] - middle[j]) >= least for j in kept):
            kept.append(int(i))
    return sorted(kept)


def _across(ax: Any, axis: str) -> Any:
    """A second axis on the other side, for the numbers of clusters."""
    other = ax.secondary_yaxis("right") if axis == "y" else ax.secondary_xaxis("top")
    other.spines[:].set_visible(False)
    other.tick_params(labelsize=parts.text_size(ax) - 1)
    getattr(other, f"{axis}axis").label.set_size(parts.text_size(ax))
    return other


# -- trees -------------------------------------------------------------------------------------------------------


class Branches(NamedTuple):
    """A tree to draw: its tips from one side to the other, and for each merge its number and its three strokes."""

    tips: Ints
    nodes: Ints
    strokes: Floats
    """(merges, 4, 2): place along the tips and height, up one side, across, down the other."""
    place: dict[int, float]


def branches(tree: Floats, leaves: int) -> Branches:
    """The last ``leaves - 1`` merges of a SciPy linkage matrix, without recursion: trees may be deep.

    Examples
    --------
    >>> found = branches(np.array([[0, 2, 1, 2], [1, 3, 5, 3.0]]), 3)
    >>> found.tips, found.strokes[-1].tolist()
    (array([1, 0, 2]), [[0.0, 0.0], [0.0, 5.0], [1.5, 5.0], [1.5, 1.0]])
    """
    count = len(tree) + 1
    begin = max(0, count - leaves)
    pairs = tree[:, :2].astype(int)
    tips, waiting = [], [2 * count - 2]
    while waiting:
        node = waiting.pop()
        if node < count + begin:
            tips.append(node)
        else:
            waiting += [pairs[node - count][1], pairs[node - count][0]]
    place = {node: float(at) for at, node in enumerate(tips)}
    height = dict.fromkeys(tips, 0.0)
    strokes = np.empty((len(tree) - begin, 4, 2))
    for i in range(begin, len(tree)):
        (p, q), top = pairs[i], float(tree[i, 2])
        strokes[i - begin] = [(place[p], height[p]), (place[p], top), (place[q], top), (place[q], height[q])]
        place[count + i], height[count + i] = (place[p] + place[q]) / 2, top
    return Branches(np.array(tips), np.arange(count + begin, 2 * count - 1), strokes, place)


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
    _draw_branches(ax, shown, _label_of_branch(tree, clustering.labels), upright=True)
    size = {i: int(n) for i, n in enumerate(tree[:, 3], start=count)}
    texts = [f"({size[t]:,})" if t in size else parts.shortened(clustering.names[t]) for t in shown.tips]
    if len(texts) <= parts.fitting(ax, "x"):
        ax.set_xticks(range(len(texts)), texts, rotation=90)
        ax.tick_params(axis="x", length=0)
    else:
        ax.set_xticks([])
    ax.set_xlim(-0.8, len(texts) - 0.2)
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
    _draw_branches(left, shown, _label_of_branch(tree, clustering.labels), upright=False)
    left.set_ylim(len(courses) - 0.5, -0.5)
    low, high = tree[0, 2], tree[-1, 2]  # below the first merge there is nothing to see
    left.set_xlim(high + 0.05 * (high - low), low - 0.05 * (high - low) if high > low else 0)
    left.set_axis_off()
    columns, table = _time_table(courses)
    _draw_image(ax, table[shown.tips], _value_look(table), value)
    if len(courses) <= parts.fitting(ax):
        ax.yaxis.tick_right()
        ax.set_yticks(range(len(courses)), [parts.shortened(courses.names[i]) for i in shown.tips])
        ax.tick_params(axis="y", length=0)
    else:
        ax.set_yticks([])
    _label_times(ax, columns, table.shape[1])
    ax.set_xlabel(time)
    return ax


def _tree_page(count: int) -> tuple[Any, Any]:
    left, right = parts.page(2, 2, size=(ONE_COLUMN + 0.5, _height(count)))
    grid: Any = left.get_subplotspec().get_gridspec()  # type: ignore[union-attr]
    grid.set_width_ratios([1, 2])
    left.figure.get_layout_engine().set(wspace=0, w_pad=0.01)  # type: ignore[union-attr, call-arg]
    return left, right


def _tree(clustering: Clustering) -> Floats:
    checks.instance(clustering, Clustering, "clustering")
    if clustering.linkage is None or len(clustering.linkage) == 0:
        raise InputError(f"{clustering.method} has no tree of merges. evidence_linkage and hierarchical have one.")
    return clustering.linkage


def _draw_branches(ax: Any, shown: Branches, label: Ints, *, upright: bool) -> None:
    """Draw the tree with its tips along the x axis, or along the y axis."""
    from matplotlib.collections import LineCollection

    colors = [color_of(k) if k >= 0 else "0.5" for k in label[shown.nodes]]
    strokes = shown.strokes if upright else shown.strokes[:, :, ::-1]
    ax.add_collection(
        LineCollection(list(strokes), colors=colors, linewidths=0.8 if len(strokes) < 100 else 0.4, joinstyle="miter")
    )
    ax.autoscale_view()
    small = {"fontsize": parts.text_size(ax) - 1, "ha": "center", "va": "center", "zorder": 4}
    white = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
    for cluster, at in _tops(shown, label).items():
        ax.text(*(at if upright else at[::-1]), str(cluster), color=color_of(cluster), bbox=white, **small)


def _tops(shown: Branches, label: Ints) -> dict[int, tuple[float, float]]:
    """Where the highest branch of each cluster is: its place along the tips, and its height."""
    height = dict(zip(shown.nodes.tolist(), shown.strokes[:, 1, 1].tolist(), strict=True))
    everything = [*shown.tips.tolist(), *shown.nodes.tolist()]
    return {int(label[n]): (shown.place[n], height.get(n, 0.0)) for n in everything if label[n] >= 0}


def _label_of_branch(tree: Floats, labels: Ints) -> Ints:
    """The cluster that all courses below a branch are in, or -1 where they are in several."""
    found = [int(k) for k in labels]
    for p, q in tree[:, :2].astype(int):
        found.append(found[p] if found[p] == found[q] else -1)
    return np.array(found)


# -- numbers of clusters -----------------------------------------------------------------------------------------


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
