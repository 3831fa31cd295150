"""Figures of matrices: similarities, and values in the order of clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from timelike.base import checks
from timelike.base.arrays import Floats, Ints
from timelike.base.checks import counted, shortened
from timelike.clusters.clustering import Clustering
from timelike.courses import TimeCourses
from timelike.exceptions import InputError
from timelike.plot import parts
from timelike.plot.branches import tips_of
from timelike.plot.parts import ONE_COLUMN

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
        draw_image(ax, values, ("viridis_r", 0.0, _limit(values)), f"{similarity.measure} distance")
    else:
        pairs = values[~np.eye(len(values), dtype=bool)] if square else values
        draw_image(ax, values, ("RdBu", -_limit(-pairs), _limit(pairs)), "s: two curves < 0 < one curve")
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
    edges, table = time_table(courses)
    ax = parts.axes_or_page(ax, (ONE_COLUMN, page_height(len(rows))))
    draw_image(ax, table[rows], value_look(table), value)
    labels = None if clustering is None else clustering.labels[rows]
    _label_rows(ax, [courses.names[i] for i in rows], labels, "y")
    label_times(ax, edges, table.shape[1])
    parts.name_axes(ax, x=time)
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
    leaves = np.arange(len(names)) if clustering.linkage is None else tips_of(clustering.linkage, len(names))
    last = np.where(clustering.labels < 0, clustering.k, clustering.labels)
    return np.asarray(leaves[np.argsort(last[leaves], kind="stable")])


# -- images ------------------------------------------------------------------------------------------------------


def _square_size(count: int) -> tuple[float, float]:
    side = ONE_COLUMN if count > NAMED else max(ONE_COLUMN, 0.13 * count + 1.6)
    return side, 0.82 * side


def page_height(count: int) -> float:
    """How tall a figure with a row for each of so many courses is, in inches."""
    return 4.0 if count > NAMED else 0.13 * count + 1.2


def _limit(values: Floats) -> float:
    """Where only 2 % of the values above zero are beyond, or 1 where none is above zero."""
    above = values[values > 0]
    return float(np.percentile(above, 98)) if len(above) else 1.0


Look = tuple[str, float, float]
"""A colour map and the values at its ends."""


def value_look(table: Floats) -> Look:
    """Colours for values: with white at zero where there are some on both sides."""
    low, high = (float(x) for x in np.nanpercentile(table, [2, 98]))
    if low < 0 < high:
        limit = max(-low, high)
        return "RdBu_r", -limit, limit
    return "viridis", low, high if high > low else low + 1


def draw_image(ax: Any, values: Floats, look: Look, label: str) -> None:
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
    words = shortened(parts.drawn(label), parts.LINE)
    bar.set_label(words, size=parts.text_size(ax), parse_math=False)
    bar.ax.tick_params(labelsize=parts.text_size(ax) - 1, width=0.6, length=3)
    bar.outline.set_visible(False)
    ax.spines[:].set_visible(False)


def _ticks(low: float, high: float) -> list[float]:
    """Zero, and round numbers on both sides of it, which may have different scales."""
    from matplotlib.ticker import MaxNLocator

    below, above = MaxNLocator(3).tick_values(low, 0), MaxNLocator(3).tick_values(0, high)
    return [*(float(t) for t in below if low <= t < 0), 0.0, *(float(t) for t in above if 0 < t <= high)]


def time_table(courses: TimeCourses) -> tuple[Floats, Floats]:
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


def label_times(ax: Any, columns: Floats, width: int) -> None:
    """Write the times below their columns, or below the edges of the intervals, as many as fit."""
    from matplotlib.ticker import MaxNLocator

    if len(columns) > width:
        low, high = columns[0], columns[-1]
        shown = [t for t in MaxNLocator(5).tick_values(low, high) if low <= t <= high]
        ax.set_xticks([(t - low) / (high - low) * width - 0.5 for t in shown], [parts.number(t, "g") for t in shown])
        return
    texts = [parts.number(t, ".4g") for t in columns]
    letters = max(map(len, texts))
    room = max(1, int(2 * parts.fitting(ax, "x") / (letters + 1.5)))
    step = -(-len(texts) // room)
    ax.set_xticks(range(0, len(texts), step), texts[::step])


def _label_rows(ax: Any, names: list[str], labels: Ints | None, axis: str) -> None:
    """Write names where they fit, numbers of clusters where they are known, otherwise how many courses there are."""
    named = len(names) <= parts.fitting(ax, axis)
    if labels is not None:
        _mark_clusters(ax, labels, axis, beside=named)
    if named or labels is None:
        parts.name_places(ax, axis, names)
    if not named and labels is None:
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
