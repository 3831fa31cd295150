"""What notebooks show: small HTML fragments with tables and inline SVG, in the colours of the page.

Nothing here is loaded from elsewhere and no script runs. Text and thin lines take the colour of the text around them,
so that light and dark pages both work. Every text from the data is escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from timelike.base.arrays import Floats, Ints

if TYPE_CHECKING:
    from timelike.clusters.clustering import Clustering
    from timelike.clusters.curves.curve_clustering import CurveClustering
    from timelike.courses import TimeCourses
    from timelike.gp import GP, Curve
    from timelike.pairs.explain import Explanation
    from timelike.pairs.nearest.neighbors import Neighbors
    from timelike.pairs.similarity import Similarity

LINES, POINTS = 60, 30
"""Courses in a picture, and points of a line, at most."""
PANELS, MEMBERS = 12, 15
"""Panels of clusters, and courses in a panel, at most."""
ROWS, CORNER, NAMES = 5, 6, 4
"""Rows of a table's head, rows and columns of a matrix's corner, names of a cluster's first courses."""
CELL = "text-align:left;padding:1px 10px 1px 0"
LONGEST = 40
"""Characters of a name that are shown."""
SIGNAL = dict.fromkeys(("se", "matern12", "matern32", "matern52", "periodic"), "how far curves go from the mean") | {
    "linear": "how far lines rise in a unit of time"
}
"""What the signal sd is, for the kernels that have a name."""
COLORS = ("#0084d1", "#d55e00")
"""A blue and an orange that stand out from white and from black, and from each other for every reader."""


# -- the nouns -------------------------------------------------------------------------------------------------


def courses(found: TimeCourses) -> str:
    """A summary of courses, a picture of some, and the first rows of a table."""
    shown = found.select(spaced(len(found), LINES))
    return fragment(
        paragraph(repr(found)),
        *picture_of_courses(shown, len(found)),
        table(("course", "values", "times", "mean", "sd"), (_row(course) for course in found[:ROWS])),
        *more(len(found) - ROWS, "course"),
    )


def _row(course: TimeCourses) -> tuple[str, ...]:
    low, high = course.points.min(), course.points.max()
    mean, sd = course.values.mean(), course.standard_deviations[0]
    return course.names[0], str(len(course.values)), f"{number(low)} to {number(high)}", number(mean), number(sd)


def picture_of_courses(shown: TimeCourses, count: int) -> Iterable[str]:
    """The courses as lines over time; nothing where points have several coordinates."""
    if shown.points.shape[1] > 1:
        return
    view = View.of(shown.times, shown.values, width=420, height=130)
    opacity = float(np.clip(8 / len(shown), 0.25, 0.9))
    lines = view.path(members(shown), f'stroke="currentColor" stroke-opacity="{opacity:.2f}"')
    yield svg(view, f"{len(shown)} of {count} courses over time", lines)
    if len(shown) < count:
        yield paragraph(f"{len(shown)} of {count:,} courses are drawn.")


def model(gp: GP, kernel: str) -> str:
    """A table of the hyperparameters with what they mean, and the warnings."""
    parameters = gp.kernel.get_params()
    rows = [
        ("kernel", clipped(kernel, 2 * LONGEST), "shape of the curves"),
        ("length scale", numbers(gp.length_scale), "times further apart than this tell little about each other"),
        ("period", numbers(parameters.get("periodicity")), "time after which curves repeat"),
        ("signal sd", number(gp.signal_sd), SIGNAL.get(kernel, "factor of the kernel: scales its curves")),
        ("noise sd", number(gp.noise_sd), "how far measurements scatter around their curve"),
        ("mean", number(gp.mean), "level around which curves vary"),
        ("log likelihood", numbers(gp.log_likelihood), "of the courses it was fitted to"),
    ]
    known = (row for row in rows if row[1])
    said = (paragraph(f"Look again: {sentence}") for sentence in gp.warnings)
    return fragment(paragraph("GP: one Gaussian process for all courses"), table(("", "", ""), known), *said)


def clusters(found: Clustering) -> str:
    """How many courses are in each cluster, and the first of them."""
    labels = [*range(min(found.k, 2 * PANELS)), *([-1] if (found.labels < 0).any() else [])]
    rows = []
    for label in labels:
        inside = np.flatnonzero(found.labels == label)
        rows.append((word(label), f"{len(inside):,}", first_names(found.names, inside)))
    rest = more(found.k - 2 * PANELS, "cluster")
    return fragment(paragraph(repr(found)), table(("cluster", "courses", "first of them"), rows), *rest)


def curve_clusters(found: CurveClustering, times: Floats, curves: Curve) -> str:
    """A panel for each cluster with its curve, (K, T) at `times`, and what to know about all of them."""
    said = [paragraph(sentence) for sentence in _remarks(found)]
    drawn = _panels(found, times, curves) if found.courses.points.shape[1] == 1 else []
    rest = more(found.k - PANELS, "cluster")
    return fragment(paragraph(repr(found)), "<div>" + "".join(drawn) + "</div>", *rest, *said)


def _remarks(found: CurveClustering) -> Iterable[str]:
    yield f"Spread {number(found.spread)}: how much curves of one cluster differ, in units of the signal sd."
    if found.none.any():
        yield f"{int(found.none.sum()):,} in none: a curve of their own explains them better than any cluster does."
    if found.continuum:
        yield (
            "Look again: the courses look like a continuum rather than clusters. Their number is a choice of how fine "
            "to look; path_frame() shows what others cost."
        )


def _panels(found: CurveClustering, times: Floats, curves: Curve) -> list[str]:
    labels = range(min(found.k, PANELS))
    chosen = {label: _some_members(found, label) for label in labels}
    everyone = found.courses.select(np.concatenate(list(chosen.values())))
    low, high = min(everyone.values.min(), curves.mean.min()), max(everyone.values.max(), curves.mean.max())
    view = View.of(everyone.times, np.array([low, high]), width=190, height=110)
    return [_panel(found, view, label, chosen[label], (times, curves)) for label in labels]


def _some_members(found: CurveClustering, label: int) -> Ints:
    inside = np.flatnonzero(found.labels == label)
    return inside[spaced(len(inside), MEMBERS)]


def _panel(found: CurveClustering, view: View, label: int, chosen: Ints, drawn: tuple[Floats, Curve]) -> str:
    times, curves = drawn
    lines = members(found.courses.select(chosen)) if len(chosen) else []
    mean, sd = curves.mean[label], curves.sd[label]
    size = f"{int(found.sizes[label]):,}"
    picture = svg(
        view,
        f"cluster {label}, {size} courses",
        view.band(times, mean - 2 * sd, mean + 2 * sd),
        view.path(lines, 'stroke="currentColor" stroke-opacity="0.35"'),
        view.path([(times, mean)], f'stroke="{COLORS[1]}" stroke-width="2.5"'),
    )
    caption = f'<div style="font-size:90%">cluster {label}: {size}</div>'
    return f'<div style="display:inline-block;margin:0 8px 6px 0">{caption}{picture}</div>'


def similarity(found: Similarity) -> str:
    """The size of the matrix, how to read it, and its first rows and columns."""
    corner = np.asarray(found.values[:CORNER, :CORNER])
    columns = found.names if found.others is None else found.others
    rows = [(name, *map(number, row)) for name, row in zip(found.names, corner, strict=False)]
    how = "Above zero one curve explains the pair better, below zero two curves do."
    whole = found.values.shape == corner.shape
    note = [] if whole else [paragraph("The first rows and columns are shown; to_frame() has all.")]
    return fragment(paragraph(repr(found)), table(("", *columns[:CORNER]), rows), paragraph(how), *note)


def explanation(why: Explanation) -> str:
    """Bars along time: what each value adds to the similarity of two courses, or takes from it."""
    verdict = "one curve explains both better" if why.similarity > 0 else "two curves explain them better"
    said = f"s = {number(why.similarity)}: {verdict}. Bars show where along time that comes from; they add up to s."
    legend = "".join(
        f'<span style="color:{color}">&#9632;</span> {escape(clipped(name))} &nbsp; '
        for color, name in zip(COLORS, why.pair.names, strict=True)
    )
    drawn = [_bars(why)] if why.pair.points.shape[1] == 1 else []
    return fragment(paragraph(repr(why)), *drawn, f"<div>{legend}</div>", paragraph(said))


def _bars(why: Explanation) -> str:
    heights = [averaged(why.pair[k].times, share, total=True) for k, share in enumerate(why.contributions)]
    every = np.concatenate([height for _, height in heights])
    view = View.of(why.pair.times, np.append(every, 0.0), width=420, height=130, margin=10)
    width = max(1.5, min(8.0, 150 / len(every)))
    parts = [view.path([(np.array(view.times), np.zeros(2))], 'stroke="currentColor" stroke-opacity="0.6"')]
    for k, (times, height) in enumerate(heights):
        shift = (k - 0.5) * width
        parts.append(view.bars(times, height, shift, f'stroke="{COLORS[k]}" stroke-width="{width:.1f}"'))
    return svg(view, f"contributions along time to s = {number(why.similarity)}", *parts)


def neighbors(found: Neighbors) -> str:
    """The nearest courses of the first courses, each with its similarity."""
    items = found.names if found.others is None else found.others
    rows = []
    for name, near, scores in zip(found.names, found.indices[:ROWS], found.scores[:ROWS], strict=False):
        pairs = zip(near[:CORNER], scores[:CORNER], strict=True)
        rows.append((name, *(f"{clipped(items[i], LONGEST // 2)} ({s:.3g})" for i, s in pairs)))
    header = ("course", *(f"nearest {k + 1}" for k in range(min(CORNER, found.indices.shape[1]))))
    how = "In brackets s, the log likelihood ratio of one curve to two curves for the pair."
    rest = more(len(found.names) - ROWS, "course")
    return fragment(paragraph(repr(found)), table(header, rows), paragraph(how), *rest)


# -- pictures ------------------------------------------------------------------------------------------------------

Line = tuple[Floats, Floats]


@dataclass(frozen=True)
class View:
    """Which times and values a picture shows, and how large it is, in pixels."""

    times: tuple[float, float]
    values: tuple[float, float]
    width: int
    height: int
    margin: int = 4

    @classmethod
    def of(cls, times: Floats, values: Floats, *, width: int, height: int, margin: int = 4) -> View:
        """A picture that has room for all times and values."""
        spans = [(float(x.min()), float(x.max())) for x in (times, values)]
        wide = [(low, high) if high > low else (low - 0.5, high + 0.5) for low, high in spans]
        return cls(wide[0], wide[1], width, height, margin)

    def x(self, times: Floats) -> Floats:
        """Pixels from the left."""
        low, high = self.times
        return self.margin + (self.width - 2 * self.margin) * ((times - low) / (high - low))

    def y(self, values: Floats) -> Floats:
        """Pixels from the top."""
        low, high = self.values
        return self.margin + (self.height - 2 * self.margin) * ((high - values) / (high - low))

    def path(self, lines: Iterable[Line], style: str) -> str:
        """All lines in one element."""
        return _path("".join(self._line(*line) for line in lines), f'stroke-linecap="round" {style}')

    def band(self, times: Floats, low: Floats, high: Floats) -> str:
        """The area between two curves, cut off where the picture ends."""
        around = np.append(times, times[::-1]), np.clip(np.append(low, high[::-1]), *self.values)
        return f'<path d="{self._line(*around)}Z" fill="currentColor" fill-opacity="0.12"/>'

    def bars(self, times: Floats, heights: Floats, shift: float, style: str) -> str:
        """Upright bars from zero."""
        zero = float(self.y(np.zeros(1))[0])
        tops = zip(self.x(times) + shift, self.y(heights), strict=True)
        return _path("".join(f"M{x:.1f} {zero:.1f}V{top:.1f}" for x, top in tops), style)

    def _line(self, times: Floats, values: Floats) -> str:
        pixels = [f"{x:.0f} {y:.0f}" for x, y in zip(self.x(times), self.y(values), strict=True)]
        # A lone point is a line of no length, which round caps make visible.
        return "M" + "L".join(pixels if len(pixels) > 1 else pixels * 2)


def _path(d: str, style: str) -> str:
    return f'<path d="{d}" fill="none" stroke-linejoin="round" {style}/>' if d else ""


def svg(view: View, label: str, *parts: str) -> str:
    """A picture with the range of its times below and the range of its values beside it."""
    w, h = view.width, view.height
    box = f'viewBox="0 0 {w + 52} {h + 16}" width="{w + 52}" height="{h + 16}"'
    frame = f'<path d="M0 0V{h}H{w}" fill="none" stroke="currentColor" stroke-opacity="0.4"/>'
    ticks = [
        (w + 4, 10, "start", view.values[1]),
        (w + 4, h, "start", view.values[0]),
        (0, h + 13, "start", view.times[0]),
        (w, h + 13, "end", view.times[1]),
    ]
    texts = (f'<text x="{x}" y="{y}" text-anchor="{side}">{value:.3g}</text>' for x, y, side, value in ticks)
    words = f'<g fill="currentColor" font-size="11">{"".join(texts)}</g>'
    return f'<svg role="img" aria-label="{escape(label)}" {box}>{frame}{"".join(parts)}{words}</svg>'


def members(shown: TimeCourses) -> list[Line]:
    """A line for each course, replicates averaged, with at most `POINTS` points."""
    lines = []
    for start, stop in zip(shown.starts[:-1], shown.starts[1:], strict=True):
        times, values = averaged(shown.times[start:stop], shown.values[start:stop])
        kept = spaced(len(times), POINTS)
        lines.append((times[kept], values[kept]))
    return lines


def averaged(times: Floats, values: Floats, *, total: bool = False) -> Line:
    """Distinct times, and the mean of the values at each, or their total."""
    distinct, at, counts = np.unique(times, return_inverse=True, return_counts=True)
    sums = np.bincount(at.ravel(), values).astype(float)
    return distinct, sums if total else sums / counts


def spaced(count: int, most: int) -> Ints:
    """At most `most` of `count` positions, evenly spaced."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).astype(np.intp))


# -- words ---------------------------------------------------------------------------------------------------------


def fragment(*parts: str) -> str:
    """The parts, one below the other."""
    return '<div class="timelike" style="font-size:13px;line-height:1.4">' + "".join(parts) + "</div>"


def paragraph(text: str) -> str:
    """A line of text, escaped."""
    return f'<div style="margin:2px 0 4px 0">{escape(clipped(text, 400))}</div>'


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A small table; every cell is escaped, and long ones are cut."""
    head = "".join(f'<th style="{CELL}">{_cell(text)}</th>' for text in header)
    body = "".join("<tr>" + "".join(f'<td style="{CELL}">{_cell(c)}</td>' for c in row) + "</tr>" for row in rows)
    top = f"<thead><tr>{head}</tr></thead>" if any(header) else ""
    return f'<table style="font-size:inherit">{top}<tbody>{body}</tbody></table>'


def _cell(text: str) -> str:
    return escape(clipped(text, 2 * LONGEST))


def more(count: int, noun: str) -> list[str]:
    """A line that says what is not shown, if anything."""
    return [paragraph(f"... and {count:,} more {noun}{'' if count == 1 else 's'}.")] if count > 0 else []


def first_names(names: Sequence[str], inside: Ints) -> str:
    """The first few names of a cluster."""
    shown = ", ".join(clipped(names[i], LONGEST // 2) for i in inside[:NAMES])
    return shown + (", ..." if len(inside) > NAMES else "")


def word(label: int) -> str:
    """A cluster, for a table."""
    return "none" if label < 0 else str(label)


def clipped(text: str, longest: int = LONGEST) -> str:
    """The text, cut where it is too long to show."""
    return text if len(text) <= longest else text[: longest - 3] + "..."


def number(value: float) -> str:
    """A number as people write it."""
    return f"{value:.4g}"


def numbers(value: Any) -> str:
    """One number or several, nothing for None."""
    return "" if value is None else ", ".join(number(float(x)) for x in np.atleast_1d(value))
