"""What notebooks show of each noun: a small HTML fragment with tables and inline SVG, in the colours of the page."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from timelike.base.arrays import Floats, Ints
from timelike.base.checks import counted, shortened
from timelike.base.html import View, fragment, line, small_table, svg
from timelike.base.replicates import averaged, totals

if TYPE_CHECKING:
    from timelike.clusters.clustering import Clustering
    from timelike.clusters.curves.curve_clustering import CurveClustering
    from timelike.courses import TimeCourses
    from timelike.gp import GP, Curve
    from timelike.pairs.explain import Explanation
    from timelike.pairs.nearest.neighbors import Neighbors
    from timelike.pairs.similarity import Similarity

LINES, POINTS = 60, 30
"""Courses in a figure, and points of a line, at most."""
PANELS, MEMBERS = 12, 15
"""Panels of clusters, and courses in a panel, at most."""
ROWS, CORNER, NAMES = 5, 6, 4
"""Rows of a table's head, rows and columns of a matrix's corner, names of a cluster's first courses."""
NAME = 20
"""Characters of a name that are shown, where names stand beside each other."""
SIGNAL = dict.fromkeys(("se", "matern12", "matern32", "matern52", "periodic"), "how far curves go from the mean") | {
    "linear": "how far lines rise in a unit of time"
}
"""What the signal sd is, for the kernels that have a name."""
COLORS = ("#0084d1", "#d55e00")
"""A blue and an orange that stand out from white and from black, and from each other for every reader."""


# -- the nouns -------------------------------------------------------------------------------------------------


def courses(found: TimeCourses) -> str:
    """A summary of courses, a figure of some, and the first rows of a table."""
    shown = found.select(spaced(len(found), LINES))
    return fragment(
        line(repr(found)),
        *figure_of_courses(shown, len(found)),
        small_table(("course", "values", "times", "mean", "sd"), (_row(course) for course in found[:ROWS])),
        *more(len(found) - ROWS, "course"),
    )


def _row(course: TimeCourses) -> tuple[str, ...]:
    low, high = course.points.min(), course.points.max()
    mean, sd = course.values.mean(), course.standard_deviations[0]
    return course.names[0], str(len(course.values)), f"{number(low)} to {number(high)}", number(mean), number(sd)


def figure_of_courses(shown: TimeCourses, count: int) -> Iterable[str]:
    """The courses as lines over time; nothing where points have several coordinates."""
    if shown.points.shape[1] > 1:
        return
    view = View.of(shown.times, shown.values, width=420, height=130)
    opacity = float(np.clip(8 / len(shown), 0.25, 0.9))
    lines = view.lines(members(shown), f'stroke="currentColor" stroke-opacity="{opacity:.2f}"')
    yield svg(view, f"{len(shown)} of {count} courses over time", lines)
    if len(shown) < count:
        yield line(f"{len(shown)} of {count:,} courses are drawn.")


def model(gp: GP, kernel: str) -> str:
    """A table of the hyperparameters with what they mean, and the warnings."""
    parameters = gp.kernel.get_params() if gp.clock is None else gp.kernel.kernel.get_params()
    apart = "times further apart than this tell little about each other"
    rows = [
        ("kernel", kernel, "shape of the curves"),
        ("length scale", numbers(gp.length_scale), apart + (", early; more and more later" if gp.clock else "")),
        (
            "clock",
            numbers(gp.clock),
            "from about here on time counts slower and slower",
        ),
        ("period", numbers(parameters.get("periodicity")), "time after which curves repeat"),
        ("signal sd", number(gp.signal_sd), SIGNAL.get(kernel, "factor of the kernel: scales its curves")),
        ("noise sd", number(gp.noise_sd), "how far measurements scatter around their curve"),
        ("mean", number(gp.mean), "level around which curves vary"),
        ("log likelihood", numbers(gp.log_likelihood), "of the courses it was fitted to"),
    ]
    known = (row for row in rows if row[1])
    said = (line(f"Look again: {sentence}") for sentence in gp.warnings)
    return fragment(line("GP: one Gaussian process for all courses"), small_table(("", "", ""), known), *said)


def clusters(found: Clustering) -> str:
    """How many courses are in each cluster, and the first of them."""
    labels = [*range(min(found.k, 2 * PANELS)), *([-1] if (found.labels < 0).any() else [])]
    rows = []
    for label in labels:
        inside = np.flatnonzero(found.labels == label)
        first = [shortened(found.names[i], NAME) for i in inside[:NAMES]]
        rest = ["..."] if len(inside) > NAMES else []
        rows.append(("none" if label < 0 else str(label), f"{len(inside):,}", ", ".join(first + rest)))
    table = small_table(("cluster", "courses", "first of them"), rows)
    return fragment(line(repr(found)), table, *more(found.k - 2 * PANELS, "cluster"))


def curve_clusters(found: CurveClustering, times: Floats, curves: Curve, borders: str = "") -> str:
    """A panel for each cluster with its curve, (K, T) at `times`, and what to know about all of them and `borders`."""
    said = [line(sentence) for sentence in _remarks(found, borders)]
    drawn = _panels(found, times, curves) if found.courses.points.shape[1] == 1 else []
    rest = more(found.k - PANELS, "cluster")
    return fragment(line(repr(found)), "<div>" + "".join(drawn) + "</div>", *rest, *said)


def _remarks(found: CurveClustering, borders: str) -> Iterable[str]:
    yield f"Spread {number(found.spread)}: how much curves of one cluster differ, in units of the signal sd."
    if found.none.any():
        yield f"{int(found.none.sum()):,} in none: a curve of their own explains them better than any cluster does."
    if found.continuum:
        yield (
            "Look again: the courses look like a continuum rather than clusters. Their number is a choice of how fine "
            "to look; path_frame() shows what others cost."
        )
    if found.finest is not None:
        yield (
            f"Merged of {found.finest.k} finer clusters: at(k=...) or at(tolerance=...) has coarser and finer ones, "
            "each within the other."
        )
    if borders:
        yield borders
    if found.probabilities is not None and (doubtful := found.unsure).max() > 0:
        many = ", ".join(f"{100 * share:.0f} %" for share in doubtful[:PANELS])
        yield f"Not sure (probability below 0.8) in each cluster: {many}."


def _panels(found: CurveClustering, times: Floats, curves: Curve) -> list[str]:
    labels = range(min(found.k, PANELS))
    chosen = {label: _some_members(found, label) for label in labels}
    everyone = found.courses.select(np.concatenate(list(chosen.values())))
    low, high = min(everyone.values.min(), curves.mean.min()), max(everyone.values.max(), curves.mean.max())
    view = View.of(everyone.times, np.array([low, high]), width=190, height=110, place=_axis(found.gp))
    return [_panel(found, view, label, chosen[label], (times, curves)) for label in labels]


def _axis(gp: GP) -> Callable[[Floats], Floats]:
    """Where times are along an axis: on the model's clock, where it has one."""
    return np.asarray if gp.clock is None else gp.kernel.time


def _some_members(found: CurveClustering, label: int) -> Ints:
    inside = np.flatnonzero(found.labels == label)
    return inside[spaced(len(inside), MEMBERS)]


def _panel(found: CurveClustering, view: View, label: int, chosen: Ints, drawn: tuple[Floats, Curve]) -> str:
    times, curves = drawn
    lines = members(found.courses.select(chosen)) if len(chosen) else []
    mean, sd = curves.mean[label], curves.sd[label]
    size = f"{int(found.sizes[label]):,}"
    figure = svg(
        view,
        f"cluster {label}, {size} courses",
        view.band(times, mean - 2 * sd, mean + 2 * sd),
        view.lines(lines, 'stroke="currentColor" stroke-opacity="0.35"'),
        view.lines([np.column_stack([times, mean])], f'stroke="{COLORS[1]}" stroke-width="2.5"'),
    )
    caption = f'<div style="font-size:90%">cluster {label}: {size}</div>'
    return f'<div style="display:inline-block;margin:0 8px 6px 0">{caption}{figure}</div>'


def similarity(found: Similarity) -> str:
    """The size of the matrix, how to read it, and its first rows and columns."""
    corner = np.asarray(found.values[:CORNER, :CORNER])
    columns = found.names if found.others is None else found.others
    rows = [(name, *map(number, row)) for name, row in zip(found.names, corner, strict=False)]
    how = "Above zero one curve explains the pair better, below zero two curves do."
    whole = found.values.shape == corner.shape
    note = [] if whole else [line("The first rows and columns are shown; to_frame() has all.")]
    return fragment(line(repr(found)), small_table(("", *columns[:CORNER]), rows), line(how), *note)


def explanation(why: Explanation) -> str:
    """Bars along time: what each value adds to the similarity of two courses, or takes from it."""
    said = f"s = {number(why.similarity)}: {why.verdict}. Bars show where along time that comes from; they add up to s."
    if why.price:
        said = said[:-1] + f" and the price of the freedoms, {number(why.price)}."
    legend = "".join(
        f'<span style="color:{color}">&#9632;</span> {escape(shortened(name, 2 * NAME))} &nbsp; '
        for color, name in zip(COLORS, why.pair.names, strict=True)
    )
    drawn = [_bars(why)] if why.pair.points.shape[1] == 1 else []
    return fragment(line(repr(why)), *drawn, f"<div>{legend}</div>", line(said))


def _bars(why: Explanation) -> str:
    heights = totals(why.pair.times, np.concatenate(why.contributions), why.pair.starts)
    every = np.concatenate(heights)[:, 1]
    heights_shown = np.append(every, 0.0)
    view = View.of(why.pair.times, heights_shown, width=420, height=130, margin=10, place=_axis(why.gp))
    width = max(1.5, min(8.0, 150 / len(every)))
    zero = view.lines([np.column_stack([view.times, (0, 0)])], 'stroke="currentColor" stroke-opacity="0.6"')
    bars = [
        view.bars(height, (k - 0.5) * width, f'stroke="{COLORS[k]}" stroke-width="{width:.1f}"')
        for k, height in enumerate(heights)
    ]
    return svg(view, f"contributions along time to s = {number(why.similarity)}", zero, *bars)


def neighbors(found: Neighbors) -> str:
    """The nearest courses of the first courses, each with its similarity."""
    items = found.names if found.others is None else found.others
    rows = []
    for name, near, scores in zip(found.names, found.indices[:ROWS], found.scores[:ROWS], strict=False):
        pairs = zip(near[:CORNER], scores[:CORNER], strict=True)
        rows.append((name, *(f"{shortened(items[i], NAME)} ({s:.3g})" for i, s in pairs)))
    header = ("course", *(f"nearest {k + 1}" for k in range(min(CORNER, found.indices.shape[1]))))
    how = "In brackets s, the log likelihood ratio of one curve to two curves for the pair."
    rest = more(len(found.names) - ROWS, "course")
    return fragment(line(repr(found)), small_table(header, rows), line(how), *rest)


# -- pieces of them ------------------------------------------------------------------------------------------------


def members(shown: TimeCourses) -> list[Floats]:
    """A line for each course, replicates averaged, with at most `POINTS` points."""
    return [each[spaced(len(each), POINTS)] for each in averaged(shown.times, shown.values, shown.starts)]


def spaced(count: int, most: int) -> Ints:
    """At most `most` of `count` positions, evenly spaced."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).astype(np.intp))


def more(count: int, noun: str) -> list[str]:
    """A line that says what is not shown, if anything."""
    return [line(f"... and {counted(count, f'more {noun}')}.")] if count > 0 else []


def number(value: float) -> str:
    """A number as people write it."""
    return f"{value:.4g}"


def numbers(value: Any) -> str:
    """One number or several, nothing for None."""
    return "" if value is None else ", ".join(number(float(x)) for x in np.atleast_1d(value))
