"""Figures of courses that differ in delay, gain or level: their order in time, and one pair moved onto each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from timelike.base import checks
from timelike.base.arrays import Floats, Ints
from timelike.base.palette import cluster_color
from timelike.clusters.curves.curve_clustering import CurveClustering
from timelike.courses import TimeCourses
from timelike.exceptions import InputError
from timelike.gp import GP, Curve
from timelike.pairs.explain import verdict
from timelike.pairs.lags import GroupLags, Lags
from timelike.pairs.match import Match
from timelike.plot import parts
from timelike.plot.parts import COLORS, ONE_COLUMN, TWO_COLUMNS, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GAP = 0.03
"""Between two clusters, as a share of all rows."""
HOLE = 0.45
"""In the middle of a circle, as a share of its radius: near it, arcs would be too short to be seen."""
WORDS = {"delay": "later than the cluster's curve", "gain": "times as large as the cluster's curve", "level": "level"}


def order(
    found: CurveClustering | GroupLags | Lags,
    ax: Axes | None = None,
    *,
    of: str = "delay",
    time: str = "time",
) -> Axes:
    """Who comes when: courses, or groups of them, from early to late along time, with their 90 % intervals.

    Of a clustering, the delays of all courses in each cluster, the earliest on top; of :func:`timelike.lags`, when the
    courses come that are joined to each other, without intervals; of its ``of_groups(labels)``, when the groups do.
    Where delays are phases the picture is a circle, on which time runs clockwise.

    Parameters
    ----------
    found
        From :func:`timelike.mixture` with ``up_to="delay"``, :func:`timelike.lags` or ``of_groups`` of that.
    ax
        For phases, Axes with ``projection="polar"`` for a circle; others get a straight line.
    of
        Of a clustering also ``"gain"`` or ``"level"``: the same picture of these.
    time
        Label of the axis, with units.

    Examples
    --------
    >>> import timelike as tl
    >>> courses, labels = tl.simulate.delayed(seed=1)
    >>> found = tl.lags(courses, tl.GP.se(0.2, 0.5, 0.1), max_delay=0.4)
    >>> ax = tl.plot.order(found.of_groups(labels), time="time (h)")
    >>> [tick.get_text() for tick in ax.get_yticklabels()], ax.get_xlabel()
    (['0', '1', '2'], 'time (h), from the mean of all')
    """
    rows = _rows(found, of, time)
    if ax is None:
        ax = _page(rows)
    return _draw_circle(ax, rows) if rows.period is not None and _is_polar(ax) else _draw_line(ax, rows)


@dataclass(frozen=True, eq=False)
class _Rows:
    """What is drawn, from the top: numbers with the ends of intervals (NaN for none), their colours and names."""

    mean: Floats
    low: Floats
    high: Floats
    colors: list[str]
    names: list[str]
    label: str
    title: str
    period: float | None = None
    groups: Ints | None = None
    """The cluster of each row, where names are those of clusters."""
    zero: float | None = None
    """Where a course is that is as its cluster's curve; of gains, one."""

    @property
    def places(self) -> Floats:
        """Where along the other axis each row is, with a gap between clusters."""
        at = np.arange(len(self.mean), dtype=float)
        if self.groups is None:
            return at
        return at + max(1.0, GAP * len(at)) * np.append(0, np.cumsum(np.diff(self.groups) != 0))


def _rows(found: Any, of: str, time: str) -> _Rows:
    if isinstance(found, CurveClustering):
        return _of_clusters(found, of, time)
    if of != "delay":
        raise InputError(f"of is {of!r}, but lags have delays only.")
    label = f"{time}, from the mean of all"
    if isinstance(found, GroupLags):
        side = found.to_frame()
        color = [cluster_color(k) for k in range(len(found.groups))]
        ends = side["low"].to_numpy(), side["high"].to_numpy()
        names = [short(str(group)) for group in found.groups]
        title = f"{checks.counted(len(names), 'group')} in the order of time, with 90 % intervals"
        return _Rows(found.position, *ends, color, names, label, title, found.period)
    if not isinstance(found, Lags):
        raise InputError(
            f"found is a {type(found).__name__}: expected a clustering with delays (mixture), lags, or groups of lags."
        )
    return _of_lags(found, label)


def _of_clusters(found: CurveClustering, of: str, time: str) -> _Rows:
    if of not in WORDS:
        raise InputError(f"of is {of!r}: choose from {', '.join(WORDS)}.")
    known = {"delay": found.delay, "gain": found.gain, "level": found.level}[of]
    if known is None:
        raise InputError(f"courses of these clusters do not differ in {of}: ask for it with up_to={of!r} in mixture.")
    members = np.flatnonzero(found.labels >= 0)
    members = members[np.lexsort((known.mean[members], found.labels[members]))]
    labels = found.labels[members]
    label = f"{time} {WORDS[of]}" if of == "delay" else WORDS[of]
    title = f"{of}s of {checks.counted(len(members), 'course')}, with 90 % intervals"
    names = [f"cluster {k}" for k in labels]
    colors = [cluster_color(k) for k in labels]
    period = found.free.period if of == "delay" else None
    zero = {"delay": 0.0, "gain": 1.0}.get(of)
    mean, low, high = (part[members] for part in known)
    return _Rows(mean, low, high, colors, names, label, title, period, labels, zero)


def _of_lags(found: Lags, label: str) -> _Rows:
    positions = found.positions()
    members = np.flatnonzero(np.isfinite(positions.times) & (positions.component == 0))
    if not len(members):
        raise InputError("no course is joined to another by a lag: there is no order.")
    members = members[np.argsort(positions.times[members], kind="stable")]
    nothing = np.full(len(members), np.nan)
    names = [found.names[i] for i in members]
    title = f"{checks.counted(len(members), 'course')} in the order of time"
    colors = [COLORS[0]] * len(members)
    return _Rows(positions.times[members], nothing, nothing, colors, names, label, title, found.period)


# -- along a line ------------------------------------------------------------------------------------------------


def _page(rows: _Rows) -> Any:
    if rows.period is not None:
        ax = parts.axes_or_page(None, (ONE_COLUMN, ONE_COLUMN))
        figure = parts.whole_figure(ax)
        ax.remove()
        ax = figure.add_subplot(projection="polar")
        parts.for_print(ax)
        return ax
    each = 0.14 if rows.groups is None else 0.05
    return parts.axes_or_page(None, (ONE_COLUMN, float(np.clip(0.9 + each * len(rows.mean), 1.7, 5.5))))


def _is_polar(ax: Any) -> bool:
    return bool(getattr(ax, "name", "") == "polar")


def _draw_line(ax: Any, rows: _Rows) -> Axes:
    at, few = rows.places, len(rows.mean) <= 60
    raster = len(at) > parts.RASTER
    if rows.zero is not None:
        ax.axvline(rows.zero, color="0.6", linewidth=0.6, zorder=1)
    look = {"linewidth": 1.2 if few else 0.5, "alpha": 0.6 if few else 0.35, "rasterized": raster}
    ax.hlines(at, rows.low, rows.high, colors=rows.colors, zorder=2, **look)
    ax.scatter(rows.mean, at, s=14 if few else 4, c=rows.colors, linewidths=0, zorder=3, rasterized=raster)
    margin = max(0.7, 0.02 * at[-1])
    ax.set_ylim(at[-1] + margin, -margin)
    _name_rows(ax, rows)
    parts.labelled(ax, rows.title, rows.label, "")
    _tick(ax, ratios=rows.zero == 1)
    ax.spines["left"].set_visible(False)
    return ax


def _tick(ax: Any, *, ratios: bool) -> None:
    """Ticks at few round numbers; for ratios, 0.5, 1, 2 on a logarithmic axis."""
    from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

    if not ratios:
        ax.xaxis.set_major_locator(MaxNLocator(5))
        return
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.xaxis.set_major_formatter(lambda number, _: f"{number:g}")
    ax.xaxis.set_minor_formatter(NullFormatter())


def _name_rows(ax: Any, rows: _Rows) -> None:
    if rows.groups is None:
        return parts.name_places(ax, "y", rows.names)
    kinds = np.unique(rows.groups)
    middles = [rows.places[rows.groups == k].mean() for k in kinds]
    ax.set_yticks(middles, [f"cluster {k}" for k in kinds])
    return ax.tick_params(axis="y", length=0)


# -- on a circle -------------------------------------------------------------------------------------------------


def _draw_circle(ax: Any, rows: _Rows) -> Axes:
    turn, at = 2 * np.pi / float(rows.period or 1), rows.places
    radius = HOLE + (1 - HOLE) * (at + 1) / (at[-1] + 1)
    ax.set_theta_zero_location("N")
    ax.set_theta_direction(-1)
    few = len(at) <= 60
    for r, low, high, color in zip(radius, rows.low * turn, rows.high * turn, rows.colors, strict=True):
        if np.isfinite(low):
            arc = np.linspace(low, high, 30)
            ax.plot(arc, np.full(30, r), color=color, linewidth=1.2 if few else 0.5, alpha=0.6 if few else 0.35)
    ax.scatter(rows.mean * turn, radius, s=14 if few else 4, c=rows.colors, linewidths=0, zorder=3)
    ax.set_rlim(0, 1.08)
    ax.set_yticks([])
    quarters = np.arange(8) / 8
    ax.set_xticks(2 * np.pi * quarters, [f"{part * float(rows.period or 1):.3g}" for part in quarters])
    ax.grid(color="0.9", linewidth=0.5)
    ax.spines["polar"].set_color("0.7")
    _name_circle(ax, rows, radius, turn)
    parts.name_axes(ax, x=rows.label)
    return parts.titled(ax, rows.title)


def _name_circle(ax: Any, rows: _Rows, radius: Floats, turn: float) -> None:
    """Write the names of groups beside their points, or those of clusters in a legend."""
    small = parts.text_size(ax) - 1
    if rows.groups is None:
        if len(rows.names) <= 12:
            for name, angle, r in zip(rows.names, rows.mean * turn, radius, strict=True):
                at = {"textcoords": "offset points", "fontsize": small, "parse_math": False}
                ax.annotate(short(name), (angle, r), (4, 3), **at)
        return
    for k in np.unique(rows.groups):
        ax.plot([], [], "o", color=cluster_color(int(k)), markersize=4, markeredgewidth=0, label=f"cluster {k}")
    ax.legend(loc="center", fontsize=small, **parts.LEGEND)


# -- one pair ----------------------------------------------------------------------------------------------------


def match(found: Match, axes: Sequence[Axes] | None = None, *, time: str = "time", value: str = "value") -> list[Axes]:
    """One pair in two panels: as it was measured, and with the second course moved onto the first.

    At the left each course has its own curve (dashed). At the right is the one curve that both would share, with two
    standard deviations, and in words by how much the second course is later, larger and higher, with 90 % intervals.

    Parameters
    ----------
    found
        From :func:`timelike.match`.
    axes
        Two, for instance from :func:`panels`; by default a figure that is two columns wide.
    time, value
        Labels of the axes, with units.

    Examples
    --------
    >>> import timelike as tl
    >>> courses, _ = tl.simulate.delayed(seed=1)
    >>> found = tl.match(courses, tl.GP.se(0.2, 0.5, 0.1), "A01", "C01", up_to="delay", max_delay=0.4)
    >>> axes = tl.plot.match(found, time="time (h)")
    >>> print(axes[1].get_title(loc="left"))
    C01 is 0.21 later (0.18 to 0.24)
    s = 5.38: one curve explains both better
    """
    checks.instance(found, Match, "found")
    parts.one_coordinate(found.pair.times)
    used = parts.page(2, 2, size=(TWO_COLUMNS, 2.9)) if axes is None else list(axes)
    if len(used) != 2:
        raise InputError(f"a pair has two panels, {len(used)} Axes were given.")
    names = [short(name) for name in found.pair.names]
    _draw_measured(used[0], found, names, time, value)
    _draw_aligned(used[1], found, names, time, value)
    return used


def _draw_measured(ax: Any, found: Match, names: list[str], time: str, value: str) -> None:
    parts.run_on_clock(ax, found.gp, found.pair.times)
    handles = [parts.draw_points(ax, found.pair[k], COLORS[k]) for k in range(2)]
    for k in range(2):
        at = parts.times_of(found.pair[k], found.gp)
        ax.plot(at, found.gp.posterior(found.pair[k], at).mean, "--", color=COLORS[k], linewidth=0.9, zorder=2.5)
    parts.labelled(ax, "", time, value)
    rows = parts.legend_above(ax, handles, names)
    parts.titled(ax, "as measured", rows=rows)


def _draw_aligned(ax: Any, found: Match, names: list[str], time: str, value: str) -> None:
    moved = found.aligned()
    parts.run_on_clock(ax, found.gp, found.pair.times)
    low, start = float(parts.one_coordinate(moved.times).min()), getattr(found.gp.kernel, "start", None)
    at = parts.times_between(low if start is None else max(low, start), float(moved.times.max()), found.gp)
    line, band = parts.draw_curve(ax, at, _shared(found, moved, at), color="0.3")
    handles = [parts.draw_points(ax, moved[k], COLORS[k]) for k in range(2)]
    later, larger = found.delay is not None, found.gain is not None or found.levels is not None
    parts.labelled(ax, "", f"{time}, aligned" if later else time, f"{value}, aligned" if larger else value)
    texts = [names[0], f"{names[1]}, moved", "one curve for both, ± 2 sd"]
    rows = parts.legend_above(ax, [*handles, (band, line)], texts)
    first, *others = found.differences or ["as it is"]
    words = [f"{names[1]} is {first}", *([", ".join(others)] if others else [])]
    parts.titled(ax, ",\n".join(words) + f"\ns = {parts.number(found.s, '.2f')}: {verdict(found.s)}", rows=rows)


def _shared(found: Match, moved: TimeCourses, at: Floats) -> Curve:
    """The curve that both have after the move: the noise of the second is as much smaller as the second was."""
    noise = np.sqrt(found.gp.at(found.pair).noise_variances[found.pair.design_rows])
    noise = noise / np.repeat([1.0, found.gain or 1.0], found.pair.sizes)
    least = float(noise.min())
    errors = np.sqrt(noise**2 - least**2)
    model: GP = replace(found.gp, noise_sd=least, mean=found.gp.mean if found.levels is None else found.levels[0])
    spans = [slice(a, b) for a, b in zip(moved.starts[:-1], moved.starts[1:], strict=True)]
    parted = [[part[span] for span in spans] for part in (moved.times, moved.values, errors)]
    return model.posterior(TimeCourses.from_arrays(parted[0], parted[1], moved.names, parted[2]), at)
