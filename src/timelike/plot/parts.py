"""The parts that figures are made of: pages, lines, bands, labels, and files that are the same in every run."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any
from unicodedata import category

import numpy as np

from timelike.base import checks, replicates
from timelike.base.arrays import Floats
from timelike.base.checks import shortened
from timelike.base.files import atomic_path
from timelike.exceptions import InputError, filters
from timelike.gp import kernels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from timelike.courses import TimeCourses
    from timelike.gp import GP, Curve

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
"""Okabe and Ito's colours, which colour-blind readers can tell apart."""
LIGHT = 6
"""So many of them are neither black, like the curve drawn over them, nor too pale for thin lines."""
DASHES: Any = ("-", "--", ":", "-.", (0, (4, 1, 1, 1, 1, 1)), (0, (8, 2)))
"""Where colours are used a second time, the dashes differ."""
ONE_COLUMN, TWO_COLUMNS = 3.5, 7.0
"""Width of a figure in the columns of most journals, in inches."""
POINTS = 8.0
"""Size of the labels in such a figure; ticks are one point smaller."""
RASTER = 200
"""From so many courses on, their lines are pixels also in PDF and SVG; text, curves and axes stay vectors."""
WITHOUT_SCREEN = ("agg", "cairo", "pdf", "pgf", "ps", "svg", "template")
"""Backends of matplotlib that neither open windows nor draw into notebooks."""
SAVED: Any = {
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "svg.hashsalt": "timelike",
    "figure.autolayout": False,
    "figure.constrained_layout.use": False,
}
"""How figures are written, whatever the settings of the session: text as text, and no layout but their own."""
UNDATED: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {"Software": None}}
"""What each format would write about when and by what it was made, left out."""
CURVE_POINTS = 200
MEASURED, TICKS = 30, 10
"""Up to so many measured times, if four digits write them, ticks on a clock are at some of them; ticks, at most."""
NAME = 24
"""Characters of a name in a figure, at most."""
SHORTEST_LINE, LINE, LINES = 16, 44, 4
"""Characters in a line below or beside an axis, at least and at most, and so many lines."""
LETTER = 0.6
"""Width of a letter, as a share of the size of the text."""
SPACE = "\u200b"
"""Of no width."""

# -- pages and files ---------------------------------------------------------------------------------------------


def panels(count: int, columns: int = 2, *, width: float | None = None) -> list[Axes]:
    """Axes of a figure with `count` panels, for several of the functions here; no window is opened for it.

    Parameters
    ----------
    count
    columns
        Panels beside each other.
    width
        Of the whole figure, in inches: 3.5 or 7 for one or two columns of most journals. Text then has the size that
        journals ask for. By default 5.5 inches a panel, and text as matplotlib is set.

    Examples
    --------
    >>> import timelike as tl
    >>> left, right = tl.plot.panels(2, width=7)
    >>> left.figure.get_size_inches()
    array([7. , 2.5])
    """
    checks.whole(count, "count")
    checks.whole(columns, "columns")
    Figure, FigureCanvasAgg = _matplotlib("figure").Figure, _matplotlib("backends.backend_agg").FigureCanvasAgg
    columns = min(columns, count)
    rows = -(-count // columns)
    size = (5.5 * columns, 3.6 * rows) if width is None else (width, 2.5 / 3.5 * width / columns * rows)
    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    return _subplots(figure, count, columns, small=width is not None)


def page(count: int, columns: int, *, size: tuple[float, float]) -> list[Axes]:
    """Axes of a figure for print that pyplot knows, so that notebooks and windows show it."""
    figure = _matplotlib("pyplot").figure(figsize=size, dpi=150, layout="constrained")
    return _subplots(figure, count, columns, small=True)


def _matplotlib(module: str) -> Any:
    return checks.optional(f"matplotlib.{module}", "plot", "figures need matplotlib")


def axes_or_page(ax: Axes | None, size: tuple[float, float] = (ONE_COLUMN, 2.5)) -> Any:
    """The given Axes, or those of a new page."""
    return page(1, 1, size=size)[0] if ax is None else ax


def _subplots(figure: Any, count: int, columns: int, *, small: bool) -> list[Axes]:
    rows = -(-count // columns)
    axes = [figure.add_subplot(rows, columns, k + 1) for k in range(count)]
    if small:
        for ax in axes:
            for_print(ax)
    return axes


def for_print(ax: Any) -> None:
    """Sizes of text that hold for whatever is drawn later; the settings of the session are left alone."""
    ax.tick_params(labelsize=POINTS - 1, width=0.6, length=3)
    for axis in (ax.xaxis, ax.yaxis):
        axis.label.set_size(POINTS)
        axis.get_offset_text().set_size(POINTS - 1)
    for spine in ax.spines.values():
        spine.set_linewidth(0.6)


def save(ax: Axes, path: str | PathLike[str], *others: str | PathLike[str], dpi: int | None = None) -> None:
    """Write the figure that `ax` is part of, in the format that the path's ending names; in several, if asked to.

    In PDF and SVG text stays text (PDF: TrueType fonts, embedded), and SVG, PDF and PNG have no date: the same figure
    is the same file. Where no window or notebook shows figures, pyplot forgets it: a loop leaves nothing behind.
    Panels find their places once, for all formats.

    Parameters
    ----------
    ax
        Any of the figure's Axes.
    path, *others
    dpi
        Pixels an inch. By default 300, 200 for what is pixels in PDF and SVG, 150 in figures wider than 8 inches.

    Examples
    --------
    >>> import tempfile
    >>> import timelike as tl
    >>> courses, _ = tl.simulate.profiles(seed=1)
    >>> ax = tl.plot.courses(courses)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tl.plot.save(ax, f"{folder}/courses.pdf", f"{folder}/courses.png")
    """
    import matplotlib

    figure, paths = whole_figure(ax), [Path(name) for name in (path, *others)]
    known = sorted(figure.canvas.get_supported_filetypes())
    for wrong in [each for each in paths if _ending(each) not in known]:
        raise InputError(f"{wrong}: expected a name that ends in one of {', '.join(known)}.")
    with matplotlib.rc_context(SAVED), _whatever_letters(), _laid_out(figure):
        for each in paths:
            _write(figure, each, dpi)
    pyplot = sys.modules.get("matplotlib.pyplot")  # it cannot know figures of ours before it is imported
    if pyplot is not None and matplotlib.get_backend().lower() in WITHOUT_SCREEN:
        pyplot.close(figure)


@contextmanager
def _whatever_letters() -> Iterator[None]:
    """A letter that the font does not have is drawn as a box, without a warning that somebody made an error."""
    with filters():
        warnings.filterwarnings("ignore", message="Glyph ")
        warnings.filterwarnings("ignore", message="Matplotlib currently does not support")
        yield


def _write(figure: Any, path: Path, dpi: int | None) -> None:
    ending = _ending(path)
    with atomic_path(path) as temporary:
        figure.savefig(temporary, dpi=dpi or _dpi(figure, ending), metadata=UNDATED.get(ending))


@contextmanager
def _laid_out(figure: Any) -> Iterator[None]:
    """Panels find their places now, and keep them within the block: drawing does not look for them again."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
        figure.set_layout_engine(None)  # none by SAVED; with any, matplotlib draws the figure twice for each file
    try:
        yield
    finally:
        if engine is not None:
            figure.set_layout_engine(engine)


def _ending(path: Path) -> str:
    return path.suffix.lstrip(".").lower()


def _dpi(figure: Any, ending: str) -> int:
    if figure.get_figwidth() > 8:
        return 150
    return 200 if ending in ("pdf", "svg") else 300


def same_scale(axes: list[Axes]) -> None:
    """Give one range of times and values to all panels: sizes can be compared by eye."""
    for limits, change in (("get_xlim", "set_xlim"), ("get_ylim", "set_ylim")):
        found = np.array([getattr(ax, limits)() for ax in axes])
        for ax in axes:
            getattr(ax, change)(found[:, 0].min(), found[:, 1].max())


# -- text --------------------------------------------------------------------------------------------------------


def text_size(ax: Any) -> float:
    """Size of the axis labels, in points: all other text follows it."""
    return float(ax.xaxis.label.get_size())


def labelled(ax: Any, title: str, time: str, value: str) -> Axes:
    """The Axes with labels, a title at the left, and without the spines that bound nothing."""
    name_axes(ax, time, value)
    ax.spines[["top", "right"]].set_visible(False)
    return titled(ax, title)


def titled(ax: Any, title: str, *, rows: int = 0) -> Axes:
    """The Axes with a title at the left, above so many rows of a legend."""
    size = text_size(ax)
    lines = "\n".join(map(drawn, title.split("\n")))
    ax.set_title(lines, fontsize=size, loc="left", pad=4 + 1.45 * size * rows, parse_math=False)
    return ax


def name_axes(ax: Any, x: str | None = None, y: str | None = None) -> None:
    """Write below and beside the Axes what they show, as users wrote it; long text in lines that the panel holds."""
    box = ax.get_window_extent()
    for name, change, pixels in ((x, ax.set_xlabel, box.width), (y, ax.set_ylabel, box.height)):
        if name is not None:
            letters = pixels * 72 / ax.figure.dpi / (LETTER * text_size(ax))
            line = int(np.clip(letters, SHORTEST_LINE, LINE))
            change("\n".join(wrap(shortened(drawn(name), LINES * line), line)), parse_math=False)


def drawn(text: str) -> str:
    """Text of users as figures can draw it, in one line.

    Line breaks and what is no character (control characters, halves of one) are spaces: files of figures cannot have
    them.

    Examples
    --------
    >>> drawn("cost in $" + chr(10) + " and" + chr(0) + "more")
    'cost in $ and more'
    """
    if text.isprintable():
        return text
    visible = "".join(" " if category(one) in ("Cc", "Cs", "Zl", "Zp") else one for one in text)
    return " ".join(visible.split())


def plain(texts: Iterable[Any]) -> None:
    """Make of text what it says: a dollar is a dollar, no formula."""
    for text in texts:
        text.set_parse_math(False)
        text.set_text(text.get_text().removeprefix(SPACE))


def in_legend(label: str) -> str:
    """A label that a legend shows: matplotlib leaves out those that begin with a low line."""
    return f"{SPACE}{label}" if label.startswith("_") else label


def legend_above(ax: Any, handles: list[Any], labels: list[str], *, columns: int = 2) -> int:
    """Draw a legend between the panel and its title, where it hides no data; the number of its rows."""
    small = text_size(ax) - 1
    how: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1), "ncols": columns, "fontsize": small}
    found = ax.legend(handles, list(map(in_legend, labels)), **how, **LEGEND)
    plain(found.get_texts())
    return -(-len(labels) // columns)


def legend_beside(ax: Any) -> None:
    """Draw a legend of all that has a label to the right of the panel."""
    look = LEGEND | {"handlelength": 2.4}
    plain(ax.legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize=text_size(ax) - 1, **look).get_texts())


LEGEND: dict[str, Any] = {
    "frameon": False,
    "borderpad": 0.2,
    "borderaxespad": 0.1,
    "handlelength": 1.5,
    "handletextpad": 0.5,
    "columnspacing": 1.2,
    "labelspacing": 0.3,
}


def number(value: float, form: str) -> str:
    """A number as text, with the minus sign that the ticks have."""
    return format(value, form).replace("-", "\N{MINUS SIGN}")


def whole_figure(ax: Any) -> Any:
    """The figure that Axes are on, also from within a part of it; matplotlib before 3.10 had no word for it."""
    return ax.figure.canvas.figure


def short(name: str) -> str:
    """A name that leaves room for others."""
    return shortened(drawn(name), NAME)


def name_places(ax: Any, axis: str, names: Sequence[str]) -> None:
    """Write a name at each place 0, 1, 2, ... along an axis, or nothing where they do not all fit."""
    shown = [short(name) for name in names] if len(names) <= fitting(ax, axis) else []
    getattr(ax, f"set_{axis}ticks")(range(len(shown)), shown, rotation=90 if axis == "x" else 0, parse_math=False)
    ax.tick_params(axis=axis, length=0)


def fitting(ax: Any, axis: str) -> int:
    """How many tick labels, one line each, fit along an axis."""
    box = ax.get_position()
    wide, high = whole_figure(ax).get_size_inches() * 72
    length = box.height * high if axis == "y" else box.width * wide
    return int(length / (1.15 * (text_size(ax) - 1)))


# -- lines over time ---------------------------------------------------------------------------------------------


def draw_lines(ax: Any, courses: TimeCourses, color: str, *, rasterized: bool = False) -> None:
    """Draw all courses as thin lines, replicates averaged; dots where replicates, or a single time, would not show."""
    from matplotlib.collections import LineCollection

    segments = averaged(courses)
    look = {"alpha": float(np.clip(12 / len(courses), 0.06, 0.9)), "zorder": 1.5, "rasterized": rasterized}
    ax.add_collection(LineCollection(segments, colors=color, linewidths=0.6, capstyle="round", **look))
    replicated = sum(map(len, segments)) < len(courses.values)
    dots = [segment for segment in segments if len(segment) == 1]
    if replicated and not rasterized:
        dots = [np.column_stack([courses.times, courses.values])]
    if dots:
        ax.plot(*np.concatenate(dots).T, ".", color=color, markersize=3, markeredgewidth=0, **look)
    ax.autoscale_view()


def averaged(courses: TimeCourses) -> list[Floats]:
    """For each course its distinct times and the mean value at each, (n, 2)."""
    return replicates.averaged(one_coordinate(courses.times), courses.values, courses.starts)


def one_coordinate(times: Floats) -> Floats:
    """The times, once it is clear that there is one for each value."""
    if times.ndim > 1:
        raise InputError("a figure over time needs points with one coordinate.")
    return times


def draw_points(ax: Any, course: TimeCourses, color: str, *, size: float = 3.5) -> Any:
    """Draw the values of a course, with bars of one standard error where it is known; a handle for the legend."""
    times, errors = one_coordinate(course.times), course.errors
    if errors is not None:
        ax.errorbar(times, course.values, errors, fmt="none", ecolor=color, elinewidth=0.8, zorder=3)
    return ax.plot(times, course.values, "o", color=color, markersize=size, markeredgewidth=0, zorder=4)[0]


def times_of(courses: TimeCourses, gp: GP | None = None) -> Floats:
    """Times at which a curve is drawn: from the first to the last that was measured, evenly on the model's clock."""
    times = one_coordinate(courses.designs.points[:, 0] if courses.designs.points.shape[1] == 1 else courses.times)
    return times_between(float(times.min()), float(times.max()), gp)


def times_between(low: float, high: float, gp: GP | None) -> Floats:
    """Times from one to another, evenly on the model's clock."""
    if low == high:
        return np.array([low])
    return np.linspace(low, high, CURVE_POINTS) if gp is None else kernels.evenly(gp.kernel, low, high, CURVE_POINTS)


def run_on_clock(ax: Any, gp: GP | None, times: Floats) -> None:
    """Let the time axis run on the model's clock, where it has one, with ticks at some of `times` or round numbers."""
    if gp is None or gp.clock is None:
        return
    clock, distinct = gp.kernel, np.unique(times)
    ax.set_xscale("function", functions=(clock.time, clock.plain))
    few = len(distinct) <= MEASURED and all(float(f"{time:.4g}") == time for time in distinct)
    ax.xaxis.set_major_locator(_ticks_on(clock, distinct if few else None))
    ax.xaxis.set_major_formatter(lambda time, _: number(time, ".4g"))


def _ticks_on(clock: Any, measured: Floats | None) -> Any:
    """A locator of ticks that are far enough from each other on the clock: measured times, or else round ones."""
    from matplotlib.ticker import Locator

    class Ticks(Locator):
        axis: Any

        def __call__(self) -> Any:
            return self.tick_values(*self.axis.get_view_interval())

        def tick_values(self, vmin: float, vmax: float) -> Any:
            low, high = clock.time(np.array(sorted((vmin, vmax))))
            least = (high - low) / np.clip(self.axis.get_tick_space(), 2, TICKS)
            if measured is None:
                return round_times(clock, (low, high), least)
            return apart(measured, clock.time(measured), least)

    return Ticks()


def apart(numbers: Floats, places: Floats, least: float) -> list[float]:
    """Some of ascending numbers, the first and the last among them, no two nearer than `least` in their places.

    Examples
    --------
    >>> apart(np.array([0, 1, 2, 7, 8]), np.array([0, 1, 2, 7, 8]), least=2)
    [0.0, 2.0, 8.0]
    """
    found = [0]
    for i in range(1, len(numbers)):
        last = i == len(numbers) - 1
        if last or (places[i] - places[found[-1]] >= least and places[-1] - places[i] >= least):
            found.append(i)
    return [float(numbers[i]) for i in found]


def round_times(clock: Any, ends: tuple[float, float], least: float) -> list[float]:
    """Times between two ends on a clock, each the roundest that is far enough from the one before.

    Examples
    --------
    >>> from timelike.gp.clock import Clocked
    >>> clock = Clocked(None, tau=2.0, start=0.0)
    >>> round_times(clock, (0.0, float(clock.time(np.array(90.0)))), least=1.0)
    [0.0, 2.0, 5.0, 10.0, 20.0, 50.0, 90.0]
    """
    found: list[float] = []
    at, end = ends
    while at <= end:
        low, high = clock.plain(np.array([at, min(at + least, end)]))
        if not low < high:
            break
        found.append(roundest(float(low), float(high)))
        at = float(clock.time(np.array(found[-1]))) + least
    return found


def roundest(low: float, high: float) -> float:
    """The number from `low` to `high` that is a multiple of the largest step 1, 2 or 5 of a decade.

    Examples
    --------
    >>> roundest(1.7, 4), roundest(13, 17), roundest(-1, 3)
    (2.0, 15.0, 0.0)
    """
    if low <= 0 <= high:
        return 0.0
    power = 10.0 ** np.ceil(np.log10(max(abs(low), abs(high))))
    while True:
        for step in (power, power / 2, power / 5):
            number = np.ceil(low / step - 1e-9) * step
            if number <= high * (1 + 1e-12) or step < 1e-12 * abs(high):
                return float(f"{number:.12g}")
        power /= 10


def draw_curve(ax: Any, at: Floats, curve: Curve, *, color: str = "black", width: float = 1.5) -> tuple[Any, Any]:
    """Draw a curve and a band of two standard deviations; at a single time, a dot and a bar. Handles for the legend."""
    if len(at) == 1:
        bar = ax.errorbar(at, curve.mean, 2 * curve.sd, fmt="none", ecolor="0.8", elinewidth=6, zorder=1)
        return ax.plot(at, curve.mean, "o", color=color, markersize=5, zorder=3)[0], bar
    low, high = curve.mean - 2 * curve.sd, curve.mean + 2 * curve.sd
    band = ax.fill_between(at, low, high, color="black", alpha=0.15, linewidth=0, zorder=2)
    return ax.plot(at, curve.mean, color=color, linewidth=width, zorder=3)[0], band
