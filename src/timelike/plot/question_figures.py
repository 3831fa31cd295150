"""Figures of answers: which courses differ or change, by how much and how surely, and when each of them does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from timelike.base import checks
from timelike.base.arrays import Floats, Ints
from timelike.exceptions import InputError
from timelike.gp import Curve
from timelike.plot import parts
from timelike.plot.parts import COLORS, LIGHT, short
from timelike.questions.changing import Changing, When
from timelike.questions.compare import Compared
from timelike.questions.found import Found
from timelike.questions.measured import check_times
from timelike.questions.telling import curves_of, effects_of, grid, is_rate, percent, sizes_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GREY = "0.7"
MOST = 6
"""Courses in a figure of panels, unless the caller names some or wants more."""
COLUMNS = 3
LABELLED = 10
LETTER = 0.62
"""Width of a letter, in sizes of the text; about."""


# -- all of them -----------------------------------------------------------------------------------------------------


def volcano(
    found: Found, ax: Axes | None = None, *, fdr: float = 0.05, labels: int = LABELLED, value: str = "value"
) -> Axes:
    """Every course by its largest difference, or change, and by how surely there is one; the surest with their names.

    Courses that are called at the expected false discovery rate are coloured: by the condition in which they are
    higher, or by whether they rise or fall. The others are grey.

    Parameters
    ----------
    found
        From :func:`timelike.compare` or :func:`timelike.changing`.
    ax
    fdr
        Expected false discovery rate of what is coloured.
    labels
        Names that are written, at most; those that would lie on others are left out.
    value
        What the values are, with units.

    Examples
    --------
    >>> import timelike as tl
    >>> courses, _ = tl.simulate.replicated(seed=1)
    >>> ax = tl.plot.volcano(tl.changing(courses), value="log2 expression")
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('largest change of log2 expression', 'log Bayes factor')
    """
    checks.instance(found, Found, "found")
    size, code, words = sizes_of(found), *_kinds(found)
    called = np.zeros(len(found), dtype=bool)
    called[found.called(is_rate(fdr))] = True
    ax = parts.axes_or_page(ax)
    handles, names = [], []
    for k, word in [*enumerate(words), (-1, "the others")]:
        inside = ~called if k < 0 else called & (code == k)
        if inside.any():
            handles.append(_draw_dots(ax, size[inside], found.log_bayes_factor[inside], k))
            names.append(f"{word}: {inside.sum():,}")
    what = "largest difference of" if isinstance(found, Compared) else "largest change of"
    parts.labelled(ax, "", f"{what} {value}", "log Bayes factor")
    rows = parts.legend_above(ax, handles, names)
    verb = "differ" if isinstance(found, Compared) else "change"
    title = f"{called.sum():,} of {len(found):,} {verb} at a false discovery rate of {percent(fdr)}"
    parts.titled(ax, title, rows=rows)
    _name_dots(ax, found, np.column_stack([size, found.log_bayes_factor])[found.called(fdr)], labels)
    return ax


def _kinds(found: Found) -> tuple[Ints, list[str]]:
    """The kind of each answer, whatever its size, and their names."""
    if isinstance(found, Compared):
        pairs = np.array(found.pairs)[found.largest.pair]
        higher = np.where(found.largest.difference > 0, pairs[:, 1], pairs[:, 0])
        return higher, [f"higher in {short(name)}" for name in found.conditions]
    return np.where(sizes_of(found) > 0, 0, 1), ["rise", "fall"]


def _draw_dots(ax: Any, x: Floats, y: Floats, kind: int) -> Any:
    color = GREY if kind < 0 else COLORS[kind % LIGHT]
    many = len(x) > parts.RASTER
    look = {"markersize": 3 if kind < 0 else 4, "markeredgewidth": 0, "rasterized": many, "zorder": 2 + (kind >= 0)}
    return ax.plot(x, y, "o", color=color, **look)[0]


def _name_dots(ax: Any, found: Found, dots: Floats, most: int) -> None:
    """Write names beside the surest dots (n, 2), up to so many, where they lie neither on a dot nor on another name."""
    ax.margins(0.12, 0.06)
    parts.whole_figure(ax).draw_without_rendering()  # so that places are known
    scale, points = 72 / parts.whole_figure(ax).dpi, parts.text_size(ax) - 1.5
    places, frame = ax.transData.transform(dots) * scale, ax.get_window_extent().extents * scale
    taken: list[Floats] = []
    for gene, dot, place in zip(found.order[: 5 * most], dots, places, strict=False):
        name = short(found.names[gene])
        for side in (1, -1) if dot[0] >= 0 else (-1, 1):
            box = _box(place, side * LETTER * points * len(name), points)
            if len(taken) < most and _free(box, taken, places, frame):
                taken.append(box)
                look = {"ha": "left" if side > 0 else "right", "va": "center", "fontsize": points, "zorder": 5}
                ax.annotate(name, dot, (3 * side, 0), textcoords="offset points", parse_math=False, **look)
                break


def _box(place: Floats, wide: float, high: float) -> Floats:
    """Left, bottom, right and top of a name beside a place, to the right or, with a width below zero, to the left."""
    left, right = sorted((place[0] + np.sign(wide) * 3, place[0] + wide))
    return np.array([left, place[1] - high / 2, right, place[1] + high / 2])


def _free(box: Floats, taken: list[Floats], dots: Floats, frame: Floats) -> bool:
    """Whether a box lies within the frame, on no other box and on no dot."""
    inside = frame[0] <= box[0] and box[2] <= frame[2] and frame[1] <= box[1] and box[3] <= frame[3]
    margin = np.array([0, 2])
    on_dot = ((dots > box[:2] - margin) & (dots < box[2:] + margin)).all(axis=1).any()
    apart = all(box[0] > b[2] or b[0] > box[2] or box[1] > b[3] or b[1] > box[3] for b in taken)
    return bool(inside and apart and not on_dot)


# -- one after the other ---------------------------------------------------------------------------------------------


def differences(
    found: Compared,
    names: Sequence[str | int] | None = None,
    *,
    between: tuple[str, str] | None = None,
    columns: int = COLUMNS,
    time: str = "time",
    value: str = "value",
) -> list[Axes]:
    """Two panels for each course: its values and curves under all conditions; and its difference between two of them.

    Bands are two standard deviations. Where the difference's band of 95 % is off zero, time is shaded in the colour of
    the condition that is higher.

    Parameters
    ----------
    found
    names
        Names or positions of courses; by default the six surest.
    between
        The two conditions whose difference is drawn; by default, for each course, those that are furthest apart.
    columns
        Courses beside each other.
    time, value
        Labels of the axes, with units.

    Examples
    --------
    >>> import timelike as tl
    >>> rng = np.random.default_rng(1)
    >>> times, names = np.repeat([0.0, 2, 4, 8], 3), [f"gene {i}" for i in range(20)]
    >>> wild, mutant = rng.normal(size=(2, 20, 12))
    >>> mutant[:3] += 4 * (times > 2)
    >>> found = tl.compare({"wt": tl.TimeCourses.from_arrays(times, wild, names),
    ...                     "mut": tl.TimeCourses.from_arrays(times, mutant, names)})
    >>> axes = tl.plot.differences(found, ["gene 1", "gene 0"], time="time (h)")
    >>> [ax.get_title(loc="left") for ax in axes[::2]]
    ['gene 1', 'gene 0']
    """
    checks.instance(found, Compared, "found")
    genes = _chosen(found, names)
    axes = _paired_page(len(genes), columns)
    at = grid(found, parts.CURVE_POINTS)
    curves = curves_of(found, genes, at)
    for k, gene in enumerate(genes):
        above, below = axes[2 * k], axes[2 * k + 1]
        pair = found.pairs[found.largest.pair[gene]] if between is None else found._pair(between)
        own = {name: Curve(curve.mean[k], curve.sd[k]) for name, curve in curves.items()}
        for ax in (above, below):
            parts.run_on_clock(ax, found.gp, _times(found))
        handles = _draw_conditions(above, found, int(gene), at, own)
        _draw_difference(below, found, int(gene), at, pair)
        below.set_xlim(above.get_xlim())
        _label_pair((above, below), found.names[gene], (time, value), first=k % columns == 0)
        if k == 0:
            _legend(above, handles)
    return axes


def changes(
    found: Changing,
    names: Sequence[str | int] | None = None,
    *,
    columns: int = COLUMNS,
    time: str = "time",
    value: str = "value",
) -> list[Axes]:
    """A panel for each course: its values, its curve, and the times at which it begins to change and is furthest off.

    The band of the curve is two standard deviations; those of the times, at the bottom, hold 90 %.

    Parameters
    ----------
    found
    names
        Names or positions of courses; by default the six surest.
    columns
        Courses beside each other.
    time, value
        Labels of the axes, with units.

    Examples
    --------
    >>> import timelike as tl
    >>> courses, _ = tl.simulate.replicated(seed=1)
    >>> axes = tl.plot.changes(tl.changing(courses), ["A01", "B01"], time="time (h)")
    >>> [ax.get_title(loc="left") for ax in axes]
    ['A01', 'B01']
    """
    checks.instance(found, Changing, "found")
    genes = _chosen(found, names)
    columns = min(columns, len(genes))
    axes = parts.page(len(genes), columns, size=_size(len(genes), columns, 1.9))
    at = grid(found, parts.CURVE_POINTS)
    (curves,) = curves_of(found, genes, at).values()
    for k, gene in enumerate(genes):
        ax: Any = axes[k]
        parts.run_on_clock(ax, found.gp, _times(found))
        parts.draw_curve(ax, at, Curve(curves.mean[k], curves.sd[k]))
        parts.draw_points(ax, found.courses[int(gene)], COLORS[0])
        handles = _draw_times(ax, found, int(gene))
        parts.labelled(ax, short(found.names[gene]), time, value if k % columns == 0 else "")
        if k == 0 and handles:
            _legend(ax, handles)
    return axes


def _draw_times(ax: Any, found: Changing, gene: int) -> dict[str, Any]:
    """Draw when a course begins to change, and when it is furthest off; handles for the legend."""
    whens: dict[str, tuple[When, str]] = {
        "begins to change": (found.first_change, COLORS[2]),
        "is furthest off": (found.peak, COLORS[1]),
    }
    handles = {}
    for row, (word, (when, color)) in enumerate(whens.items()):
        if not np.isfinite(when.time[gene]):
            continue
        height = {"transform": ax.get_xaxis_transform(), "clip_on": False, "zorder": 5}
        y = 0.03 + 0.05 * row
        ax.plot([when.low[gene], when.high[gene]], [y, y], color=color, linewidth=2, alpha=0.5, **height)
        handles[word] = ax.plot(when.time[gene], y, "^", color=color, markersize=5, markeredgewidth=0, **height)[0]
    return handles


# -- parts -----------------------------------------------------------------------------------------------------------


def _chosen(found: Found, names: Sequence[str | int] | None) -> Ints:
    if names is None:
        return found.order[:MOST]
    asked = [names] if isinstance(names, (str, int)) else list(names)
    if not asked:
        raise InputError("there is no course to draw: give one name or more.")
    return np.array([found.index(name) for name in asked], dtype=np.intp)


def _times(found: Found) -> Floats:
    return check_times(found.question.measured.conditions)[:, 0]


def _size(count: int, columns: int, height: float) -> tuple[float, float]:
    """Width and height of a page, in inches: one column of a journal for a single course, two for more."""
    rows = -(-count // columns)
    return (parts.ONE_COLUMN if columns == 1 else parts.TWO_COLUMNS), height * rows + 0.3


def _paired_page(count: int, columns: int) -> list[Axes]:
    """Axes of a page with two panels a course, one below the other: all panels in the order of the courses."""
    checks.whole(columns, "columns")
    columns = min(columns, count)
    rows = -(-count // columns)
    first = parts.page(1, 1, size=_size(count, columns, 2.9))[0]
    figure = parts.whole_figure(first)
    first.remove()
    frame = figure.add_gridspec(2 * rows, columns, height_ratios=[1.7, 1] * rows)
    axes: list[Axes] = []
    for k in range(count):
        row, column = divmod(k, columns)
        above = figure.add_subplot(frame[2 * row, column])
        axes += [above, figure.add_subplot(frame[2 * row + 1, column])]
    for ax in axes:
        parts.for_print(ax)
    return axes


def _draw_conditions(ax: Any, found: Compared, gene: int, at: Floats, curves: dict[str, Curve]) -> dict[str, Any]:
    """Draw the values and the curve of a gene under each condition; handles for the legend."""
    handles = {}
    measured = found.question.measured
    for c, (name, courses) in enumerate(measured.conditions.items()):
        place, color = measured.place[gene, c], COLORS[c % LIGHT]
        if place < 0:
            continue
        _draw_band(ax, at, curves[name], color)
        parts.draw_points(ax, courses[int(place)], color, size=2.8)
        handles[short(name)] = ax.plot(at, curves[name].mean, color=color, linewidth=1.3, zorder=3)[0]
    return handles


def _draw_band(ax: Any, at: Floats, curve: Curve, color: str) -> None:
    low, high = curve.mean - 2 * curve.sd, curve.mean + 2 * curve.sd
    ax.fill_between(at, low, high, color=color, alpha=0.15, linewidth=0, zorder=2)


def _draw_difference(ax: Any, found: Compared, gene: int, at: Floats, pair: tuple[int, int]) -> None:
    """Draw a gene's difference between two conditions, with its band, and shade when it is off zero."""
    first, second = (found.conditions[c] for c in pair)
    effect = effects_of(found, np.array([gene]), at, pair)
    for start, end, sign in found.intervals(gene, (first, second)):
        ax.axvspan(start, end, color=COLORS[pair[sign > 0] % LIGHT], alpha=0.2, linewidth=0, zorder=1)
    _draw_band(ax, at, Curve(effect.mean[0], effect.sd[0]), "black")
    ax.plot(at, effect.mean[0], color="black", linewidth=1.3, zorder=3)
    ax.axhline(0, color="0.3", linewidth=0.6, zorder=2)
    words, small = f"{short(second)} less {short(first)}", parts.text_size(ax) - 1.5
    ax.set_title(words, fontsize=small, loc="left", pad=2, parse_math=False)


def _label_pair(pair: tuple[Any, Any], name: str, labels: tuple[str, str], *, first: bool) -> None:
    """Name two panels of one course; only those at the left say what the values are."""
    above, below = pair
    parts.labelled(above, short(name), "", labels[1] if first else "")
    above.tick_params(labelbottom=False)
    parts.name_axes(below, labels[0], "difference" if first else "")
    below.spines[["top", "right"]].set_visible(False)


def _legend(ax: Any, handles: dict[str, Any]) -> None:
    """Draw a legend in the panel: of all its places the one that hides least."""
    labels, small = list(map(parts.in_legend, handles)), parts.text_size(ax) - 1.5
    found = ax.legend(list(handles.values()), labels, loc="best", fontsize=small, **parts.LEGEND)
    parts.plain(found.get_texts())
