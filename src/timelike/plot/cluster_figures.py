"""Figures of clusters over time: their courses, their curves, and what is in none of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from timelike.base import checks
from timelike.base.arrays import Floats, Ints
from timelike.base.palette import cluster_color
from timelike.clusters.clustering import Clustering
from timelike.clusters.curves.alignment import reach
from timelike.clusters.curves.curve_clustering import CurveClustering
from timelike.courses import TimeCourses
from timelike.exceptions import InputError
from timelike.gp import GP, Curve
from timelike.plot import parts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST = 500
"""Lines that are drawn of a cluster, unless the caller wants more: a panel of a page is some 500 pixels high."""
SPANS = 25
"""So many spans of time, at most, in each of which the highest and the lowest course are among the lines."""
COLUMNS = ((3, (1, 2, 3)), (12, (3, 4)), (20, (4, 5)))
"""Up to so many panels, so many beside each other, whichever leaves fewer places empty; beyond, 5 or 6."""


def clusters(
    clustering: Clustering,
    ax: Axes | None = None,
    *,
    courses: TimeCourses | None = None,
    gp: GP | None = None,
    aligned: bool = True,
    most: int = MOST,
    time: str = "time",
    value: str = "value",
) -> Axes:
    """A figure with a panel for each cluster, see :func:`cluster_panels`; or, on given Axes, all clusters together.

    Returns the first panel; ``ax.figure.axes`` has all of them. On given Axes there are no
    bands; colours and dashes together tell 36 clusters apart, though few readers will.

    Parameters
    ----------
    clustering
        Of any method.
    ax
    courses
        What to draw, under the names of the clustering. Needed for clusterings that do not carry their courses
        (spectral, hierarchical, predicted); for the others, courses on another scale, say before standardising.
    gp
        With `courses`: the model for the curve of each cluster. Without it there is no curve.
    aligned
        Where courses may differ in level, gain or delay (`up_to` of :func:`timelike.mixture`): draw them moved onto the
        curve of their cluster, as ``clustering.aligned()`` has them; the labels say so. ``False``: as they were
        measured, beside the curve of a course without delay, of gain 1 and of the mean level. Given `courses` are drawn
        as they are given.
    most
        Courses drawn of one cluster: those that are highest and lowest at some time, so that the bundle is as wide as
        it is, and evenly picked ones. The legend says so where it leaves some out.
    time, value
        Labels of the axes, with units.

    Examples
    --------
    >>> import timelike as tl
    >>> courses, _ = tl.simulate.profiles(seed=1)
    >>> gp = tl.fit(courses)
    >>> ax = tl.plot.clusters(tl.mixture(courses, gp, k=3), time="time (h)", value="log2 expression")
    >>> [panel.get_title(loc="left") for panel in ax.figure.axes]
    ['cluster 0: 50', 'cluster 1: 51', 'cluster 2: 49']
    >>> spectral = tl.spectral(tl.similarity(courses, gp), k=3)
    >>> ax = tl.plot.clusters(spectral, courses=courses, gp=gp)
    """
    shown = _shown(clustering, courses, gp, most, aligned=aligned)
    if ax is None:
        return _draw_panels(shown, None, time, value)[0]
    return _draw_together(shown, ax, time, value)


def cluster_panels(
    clustering: Clustering,
    axes: list[Axes] | None = None,
    *,
    courses: TimeCourses | None = None,
    gp: GP | None = None,
    aligned: bool = True,
    most: int = MOST,
    time: str = "time",
    value: str = "value",
) -> list[Axes]:
    """A panel for each cluster: its courses as thin lines, its curve, and a band; all on the same scale.

    The band is two standard deviations of a course's curve: what is unknown of the cluster's curve, and the spread.
    With `courses` and `gp` given it is that of the one curve which all courses of the cluster would share. The legend
    says which; on Axes that are only a part of their figure it is left out. Courses in none of the clusters have a last
    panel, if there are any. Replicates are averaged in the lines, and where a value is missing the line goes straight
    on.

    Parameters
    ----------
    clustering
    axes
        One for each panel, for instance from :func:`panels`; by default a figure that is two columns wide.
    courses, gp, aligned, most, time, value
        As for :func:`clusters`.

    Examples
    --------
    >>> import timelike as tl
    >>> courses, _ = tl.simulate.profiles(seed=1)
    >>> found = tl.mixture(courses, tl.fit(courses), k=3)
    >>> axes = tl.plot.cluster_panels(found, tl.plot.panels(3, columns=3, width=7))
    >>> len(axes)
    3
    """
    return _draw_panels(_shown(clustering, courses, gp, most, aligned=aligned), axes, time, value)


# -- what is shown -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Shown:
    """Clusters, and what is drawn of them: courses, curves of the clusters that have one, what line and band mean."""

    clustering: Clustering
    courses: TimeCourses
    most: int
    curves: dict[int, Curve]
    line: str
    band: str
    gp: GP | None
    moved: _Moved | None = None
    """Where courses are drawn aligned."""

    @property
    def at(self) -> Floats:
        return parts.times_of(self.courses, self.gp) if self.moved is None else self.moved.at

    @property
    def lines(self) -> str:
        """What the thin lines are."""
        return "courses" if self.moved is None else self.moved.lines

    def labels_of_axes(self, time: str, value: str) -> tuple[str, str]:
        """What the axes show."""
        return (time, value) if self.moved is None else self.moved.labels_of_axes(time, value)

    @property
    def labels(self) -> list[int]:
        """The clusters, and -1 where a course is in none."""
        return [*range(self.clustering.k), *([-1] if (self.clustering.labels < 0).any() else [])]

    def members(self, label: int) -> Ints:
        return np.flatnonzero(self.clustering.labels == label)

    def draw_courses(self, label: int, ax: Any) -> None:
        """Draw the courses of a cluster as lines, `most` of them at most."""
        members = self.members(label)
        if len(members):
            rasterized = len(self.courses) > parts.RASTER
            courses = self.courses if self.moved is None or label < 0 else self.moved.courses
            drawn = fewer(courses.select(members), self.most)
            parts.draw_lines(ax, drawn, cluster_color(label), rasterized=rasterized)


@dataclass(frozen=True, eq=False)
class _Moved:
    """Courses that are drawn on the curve of their cluster, and the times at which that is drawn."""

    courses: TimeCourses
    names: tuple[str, ...]
    at: Floats

    @classmethod
    def of(cls, clustering: CurveClustering) -> _Moved:
        return cls(clustering.aligned(), clustering.free.names, parts.times_between(*reach(clustering), clustering.gp))

    @property
    def lines(self) -> str:
        """What was taken out of the courses."""
        return f"courses without their {checks.listed(self.names)}"

    def labels_of_axes(self, time: str, value: str) -> tuple[str, str]:
        """The labels, which say what was moved."""
        level = {"level", "gain"} & set(self.names)
        return f"{time}, aligned" if "delay" in self.names else time, f"{value}, aligned" if level else value


def fewer(courses: TimeCourses, most: int) -> TimeCourses:
    """So many of the courses, at most: the outermost, and evenly picked others, in their order."""
    if len(courses) <= most:
        return courses
    outer = outermost(courses)[:most]
    others = np.setdiff1d(np.arange(len(courses)), outer)
    picked = others[np.linspace(0, len(others) - 1, most - len(outer)).astype(int)]
    return courses.select(np.sort(np.concatenate([outer, picked])))


def outermost(courses: TimeCourses) -> Ints:
    """The courses that have the highest or the lowest value at some time, or in one of 25 spans of many times.

    Examples
    --------
    >>> found = TimeCourses.from_arrays([0, 1], [[0, 0], [5, 1], [1, 2], [2, 9], [-1, 1]])
    >>> outermost(found)
    array([0, 1, 3, 4])
    """
    times, row = np.unique(parts.one_coordinate(courses.times), return_inverse=True)
    span = row * min(SPANS, len(times)) // len(times)
    order = np.lexsort((courses.values, span))
    edges = np.flatnonzero(np.diff(span[order], prepend=-1))
    ends = order[np.concatenate([edges, np.append(edges[1:], len(order)) - 1])]
    return np.unique(np.searchsorted(courses.starts, ends, side="right") - 1)


def _shown(clustering: Clustering, courses: TimeCourses | None, gp: GP | None, most: int, *, aligned: bool) -> _Shown:
    checks.instance(clustering, Clustering, "clustering")
    checks.whole(most, "most")
    if gp is not None:
        checks.instance(gp, GP, "gp")
    if courses is not None:
        _check_names(clustering, courses)
        lines = {} if gp is None else _shared_curves(clustering, courses, gp)
        return _Shown(clustering, courses, most, lines, "one curve for the cluster", "± 2 sd of it", gp)
    if not isinstance(clustering, CurveClustering):
        raise InputError(
            f"a clustering by {clustering.method} does not carry its courses: give courses=..., and gp=... for curves."
        )
    parts.one_coordinate(clustering.courses.times)
    if clustering.free and not aligned:
        return _as_measured(clustering, most)
    moved = _Moved.of(clustering) if clustering.free else None
    at = parts.times_of(clustering.courses, clustering.gp) if moved is None else moved.at
    lines = _cluster_curves(clustering, at)
    band = "± 2 sd of a course's curve"
    return _Shown(clustering, clustering.courses, most, lines, "the cluster's curve", band, clustering.gp, moved)


def _as_measured(clustering: CurveClustering, most: int) -> _Shown:
    """Courses that may differ from their cluster's curve, and this curve; without a band, which holds none of them."""
    mean = clustering.curves(parts.times_of(clustering.courses, clustering.gp)).mean
    lines = {k: Curve(mean[k], np.zeros(mean.shape[1])) for k in range(clustering.k)}
    plain = {"level": "the mean level", "gain": "gain 1", "delay": "no delay"}
    line = f"the cluster's curve ({', '.join(plain[name] for name in clustering.free.names)})"
    return _Shown(clustering, clustering.courses, most, lines, line, "", clustering.gp)


def _check_names(clustering: Clustering, courses: TimeCourses) -> None:
    checks.instance(courses, TimeCourses, "courses")
    if courses.names != clustering.names:
        raise InputError(
            f"the {len(courses):,} courses are not those of the clustering ({len(clustering.names):,} names): give "
            "them in the same order, for instance courses.select(clustering.names)."
        )


def _cluster_curves(clustering: CurveClustering, times: Floats) -> dict[int, Curve]:
    """For each cluster its curve, with the standard deviation of a course's own curve around it."""
    at = times[:, None]
    mean, sd = clustering.curves(at)
    spread = clustering.spread**2 * clustering.gp.covariance.diag(at)
    return {k: Curve(mean[k], np.sqrt(sd[k] ** 2 + spread)) for k in range(clustering.k)}


def _shared_curves(clustering: Clustering, courses: TimeCourses, gp: GP) -> dict[int, Curve]:
    """For each cluster that has courses the one curve that they would share."""
    at = parts.times_of(courses, gp)
    members = {k: np.flatnonzero(clustering.labels == k) for k in range(clustering.k)}
    return {k: gp.posterior(courses.select(who), at) for k, who in members.items() if len(who)}


# -- a panel each ------------------------------------------------------------------------------------------------


def _draw_panels(shown: _Shown, axes: list[Axes] | None, time: str, value: str) -> list[Axes]:
    labels = shown.labels
    axes = _page(len(labels)) if axes is None else axes
    if len(axes) < len(labels):
        raise InputError(f"{len(labels)} panels need as many Axes, {len(axes)} were given.")
    used = list(axes[: len(labels)])
    for label, ax in zip(labels, used, strict=True):
        _draw_panel(shown, label, ax)
    parts.same_scale(used)
    _label_outside(used, *shown.labels_of_axes(time, value))
    if len(used[0].figure.axes) == len(axes):
        _explain(shown, used[0])
    return used


def _page(count: int) -> list[Axes]:
    choices = next((beside for most, beside in COLUMNS if count <= most), (5, 6))
    columns = min(choices, key=lambda beside: (-count % beside, -beside))
    width = parts.TWO_COLUMNS if count > 1 else parts.ONE_COLUMN
    rows = -(-count // columns)
    return parts.page(count, columns, size=(width, 0.78 * width / columns * rows + 0.55))


def _draw_panel(shown: _Shown, label: int, ax: Any) -> None:
    parts.run_on_clock(ax, shown.gp, shown.courses.times)
    shown.draw_courses(label, ax)
    if label in shown.curves:
        _, band = parts.draw_curve(ax, shown.at, shown.curves[label])
        if not shown.band:
            band.remove()
    still = " (as measured)" if label < 0 and shown.moved is not None else ""
    parts.labelled(ax, f"{_name(label)}: {len(shown.members(label)):,}{still}", "", "")


def _name(label: int) -> str:
    return f"cluster {label}" if label >= 0 else "none of these"


def _label_outside(axes: list[Axes], time: str, value: str) -> None:
    """Label the axes where there is no panel below or to the left that has the same."""
    places = {_place(ax) for ax in axes}
    last = max(row for _, row, _ in places)
    for ax in axes:
        grid, row, column = _place(ax)
        if row in (last, -1):
            parts.name_axes(ax, x=time)
        ax.tick_params(labelbottom=(grid, row + 1, column) not in places)
        first = (grid, row, column - 1) not in places
        ax.tick_params(labelleft=first)
        if first:
            parts.name_axes(ax, y=value)


def _place(ax: Any) -> tuple[int, int, int]:
    """Which grid of panels Axes are in, their row and their column; -1 where they are in no grid."""
    spec = ax.get_subplotspec()
    if spec is None:
        return id(ax), -1, -1
    return id(spec.get_gridspec()), spec.rowspan.start, spec.colspan.start


def _explain(shown: _Shown, ax: Any) -> None:
    """Say below the panels what lines and bands are."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    thinned = np.bincount(shown.clustering.labels + 1).max() > shown.most
    labels = [f"{shown.lines} (at most {shown.most:,} of a cluster drawn)" if thinned else shown.lines]
    handles: list[Any] = [Line2D([], [], color=cluster_color(0), linewidth=0.8)]
    if shown.curves:
        handles += [Line2D([], [], color="black", linewidth=1.5), Patch(facecolor="black", alpha=0.15, linewidth=0)]
        labels += [shown.line, shown.band] if shown.band else [shown.line]
    small = parts.text_size(ax) - 1
    columns = len(labels) if parts.whole_figure(ax).get_figwidth() > 5 else 1
    ax.figure.legend(
        handles[: len(labels)], labels, loc="outside lower center", ncols=columns, fontsize=small, **parts.LEGEND
    )


# -- all on one Axes ---------------------------------------------------------------------------------------------


def _draw_together(shown: _Shown, ax: Any, time: str, value: str) -> Axes:
    parts.run_on_clock(ax, shown.gp, shown.courses.times)
    for label in shown.labels:
        shown.draw_courses(label, ax)
    for label in shown.labels:
        dashes = parts.DASHES[label // parts.LIGHT % len(parts.DASHES)] if label >= 0 else "-"
        curve = (shown.at, shown.curves[label].mean) if label in shown.curves else ([], [])
        width = 2 if label in shown.curves else 1
        ax.plot(*curve, linestyle=dashes, color=cluster_color(label), linewidth=width, label=_name(label), zorder=3)
    parts.legend_beside(ax)
    return parts.labelled(ax, f"{shown.clustering.k} clusters", *shown.labels_of_axes(time, value))
