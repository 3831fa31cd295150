"""Figures of courses over time: all of them, two under one curve, what makes two alike, and a course's nearest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from timelike.base import checks
from timelike.base.arrays import Floats
from timelike.base.checks import counted, shortened
from timelike.base.replicates import totals
from timelike.exceptions import InputError
from timelike.gp import kernels
from timelike.pairs.explain import Explanation, explain
from timelike.pairs.nearest.neighbors import Neighbors
from timelike.plot import parts
from timelike.plot.parts import COLORS, DASHES, LIGHT, RASTER, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from timelike.courses import TimeCourses
    from timelike.gp import GP


def courses(
    courses: TimeCourses,
    ax: Axes | None = None,
    *,
    color: str | None = None,
    time: str = "time",
    value: str = "value",
) -> Axes:
    """All courses over time: up to six with dots, colours and names, more as thin lines.

    The lines go through the means of replicates; all values are dots, as long as there are at most 200 courses or a
    course has one time only. Where a value is missing the line goes straight on to the next. Known errors of up to six
    courses are bars of one standard error.

    Parameters
    ----------
    courses
    ax
    color
        One colour for all.
    time, value
        Labels of the axes, with units.

    Examples
    --------
    >>> import timelike as tl
    >>> found = tl.TimeCourses.from_arrays([0, 12, 24], [[1, 3, 2], [2, 2, 5]], names=["Cdc6", "Cln2"])
    >>> ax = tl.plot.courses(found, time="time (h)", value="log2 expression")
    >>> ax.get_xlabel(), [text.get_text() for text in ax.get_legend().get_texts()]
    ('time (h)', ['Cdc6', 'Cln2'])
    """
    ax = parts.axes_or_page(ax)
    if len(courses) > LIGHT or color is not None:
        parts.draw_lines(ax, courses, color or COLORS[0], rasterized=len(courses) > RASTER)
        return parts.labelled(ax, counted(len(courses), "course"), time, value)
    return _draw_few(ax, courses, time, value)


def _draw_few(ax: Any, courses: TimeCourses, time: str, value: str) -> Axes:
    handles = []
    for k, line in enumerate(parts.averaged(courses)):
        ax.plot(*line.T, color=COLORS[k], linewidth=1)
        handles.append(parts.draw_points(ax, courses[k], COLORS[k]))
    if len(courses) == 1:
        return parts.labelled(ax, shortened(courses.names[0], parts.LINE), time, value)
    parts.labelled(ax, "", time, value)
    parts.legend_above(ax, handles, [short(name) for name in courses.names], columns=3)
    return ax


def pair(
    courses: TimeCourses,
    gp: GP,
    first: str | int,
    second: str | int,
    ax: Axes | None = None,
    *,
    time: str = "time",
    value: str = "value",
) -> Axes:
    """Two courses, the curve that each has for itself (dashed) and the one that they would share (with its band).

    The band is two standard deviations of the shared curve. Known errors are bars of one standard error.

    Examples
    --------
    >>> import timelike as tl
    >>> courses, _ = tl.simulate.profiles(seed=1)
    >>> ax = tl.plot.pair(courses, tl.fit(courses), "A01", "C01", time="time (h)", value="log2 expression")
    >>> ax.get_title(loc="left")
    's = ...8.97: two curves explain them better'
    """
    why = explain(courses, gp, first, second)
    ax = parts.axes_or_page(ax)
    parts.run_on_clock(ax, gp, why.pair.times)
    at = parts.times_of(why.pair, gp)
    shared = parts.draw_curve(ax, at, gp.posterior(why.pair, at), color="0.3")
    points = [parts.draw_points(ax, why.pair[k], COLORS[k]) for k in range(2)]
    own = [_draw_own(ax, at, gp.posterior(why.pair[k], at).mean, COLORS[k]) for k in range(2)]
    parts.labelled(ax, "", time, value)
    names = [short(name) for name in why.pair.names]
    texts = [*names, "one curve for both, ± 2 sd", "a curve for each"]
    rows = parts.legend_above(ax, [*points, (shared[1], shared[0]), tuple(own)], texts)
    return parts.titled(ax, f"s = {parts.number(why.similarity, '.2f')}: {why.verdict}", rows=rows)


def _draw_own(ax: Any, at: Floats, mean: Floats, color: str) -> Any:
    marker = "_" if len(at) == 1 else ""
    return ax.plot(at, mean, "--", marker=marker, color=color, linewidth=0.9, zorder=2.5)[0]


def explanation(why: Explanation, ax: Axes | None = None, *, time: str = "time") -> Axes:
    """What each value adds to the similarity, as bars along time; they sum to s. Replicates are summed.

    Where the two may differ in gain or delay, they sum to s and the price of not knowing these: the title says so.

    Examples
    --------
    >>> import timelike as tl
    >>> courses, _ = tl.simulate.profiles(seed=1)
    >>> why = tl.explain(courses, tl.fit(courses), "A01", "C01")
    >>> ax = tl.plot.explanation(why, time="time (h)")
    >>> bool(abs(sum(bar.get_height() for bar in ax.patches) - why.similarity) < 1e-9)
    True
    """
    checks.instance(why, Explanation, "why")
    ax = parts.axes_or_page(ax)
    times = parts.one_coordinate(why.pair.times)
    parts.run_on_clock(ax, why.gp, times)
    shown = kernels.on_clock(why.gp.kernel, times)  # bars are as wide everywhere, as the axis is drawn
    span = np.ptp(shown) or 1.0
    width = 0.4 * min(np.diff(np.unique(shown)).min(initial=span), span / 12)
    bars = totals(shown, np.concatenate(why.contributions), why.pair.starts)
    handles = [_draw_bars(ax, why.gp, bar, (k - 1) * width, width, COLORS[k]) for k, bar in enumerate(bars)]
    ax.axhline(0, color="0.3", linewidth=0.6)
    parts.labelled(ax, "", time, "contribution to s")
    rows = parts.legend_above(ax, handles, [short(name) for name in why.pair.names])
    price = f"\nbars: s + {parts.number(why.price, '.2f')}, the price of its freedoms" if why.price else ""
    return parts.titled(ax, f"s = {parts.number(why.similarity, '.2f')}: {why.verdict}{price}", rows=rows)


def _draw_bars(ax: Any, gp: GP, bars: Floats, left: float, width: float, color: str) -> Any:
    """Draw bars at times on the clock, (n, 2) with their heights, from so far left of them on."""
    edges = kernels.plain(gp.kernel, bars[:, 0] + left), kernels.plain(gp.kernel, bars[:, 0] + left + width)
    return ax.bar(edges[0], bars[:, 1], edges[1] - edges[0], align="edge", color=color, linewidth=0)


def neighbors(
    courses: TimeCourses,
    gp: GP,
    name: str | int,
    nearest: Neighbors,
    ax: Axes | None = None,
    *,
    time: str = "time",
    value: str = "value",
) -> Axes:
    """A course with its curve and band, and its nearest courses as thin lines, with their s in the legend.

    The band is two standard deviations of the course's own curve. All are drawn as measured; where neighbours may be
    later or larger (`up_to` of :func:`timelike.neighbors`), the legend says by how much.

    Parameters
    ----------
    courses, gp
    name
        Name or position of the course.
    nearest
        From ``timelike.neighbors(courses, gp)``.
    ax
    time, value
        Labels of the axes, with units.

    Examples
    --------
    >>> import timelike as tl
    >>> courses, _ = tl.simulate.profiles(seed=1)
    >>> gp = tl.fit(courses)
    >>> ax = tl.plot.neighbors(courses, gp, "A01", tl.neighbors(courses, gp, k=5))
    >>> len(ax.get_legend().get_texts())
    7
    """
    _check_nearest(nearest, courses)
    at = courses.index(name)
    ax = parts.axes_or_page(ax)
    asked = courses[at]
    parts.run_on_clock(ax, gp, courses.times)
    drawn = parts.times_of(asked, gp)
    curve, band = parts.draw_curve(ax, drawn, gp.posterior(asked, drawn))
    parts.draw_points(ax, asked, "black")
    curve.set_label(parts.in_legend(short(asked.names[0])))
    band.set_label("± 2 sd of its curve")
    for rank, (index, score) in enumerate(zip(nearest.indices[at], nearest.scores[at], strict=True)):
        if index >= 0:
            _draw_neighbor(ax, courses[int(index)], rank, float(score), _moved(nearest, at, rank))
    parts.legend_beside(ax)
    return parts.labelled(ax, f"the courses most like {short(asked.names[0])}", time, value)


def _check_nearest(nearest: Neighbors, courses: TimeCourses) -> None:
    checks.instance(nearest, Neighbors, "nearest")
    if len(nearest.indices) != len(courses):
        raise InputError(f"the neighbours are of {len(nearest.indices):,} courses, not of these {len(courses):,}.")
    if nearest.others is not None:
        raise InputError("these neighbours are among other courses: find them with timelike.neighbors(courses, gp).")


def _moved(nearest: Neighbors, at: int, rank: int) -> str:
    """By how much a neighbour is later and larger, where it may be."""
    words = ""
    if nearest.delay is not None:
        delay = float(nearest.delay[at, rank])
        words += f", {abs(delay):.2g} {'later' if delay >= 0 else 'earlier'}"
    return words if nearest.gain is None else f"{words}, {nearest.gain[at, rank]:.2g} times as large"


def _draw_neighbor(ax: Any, course: TimeCourses, rank: int, score: float, moved: str) -> None:
    dashes = DASHES[rank // LIGHT % len(DASHES)]
    line = parts.averaged(course)[0]
    marker = "o" if len(line) == 1 else ""
    label = f"{parts.in_legend(short(course.names[0]))}, s = {parts.number(score, '.1f')}{moved}"
    ax.plot(*line.T, linestyle=dashes, marker=marker, color=COLORS[rank % LIGHT], linewidth=0.9, label=label)
