"""Pieces of HTML and SVG. Every text goes through :func:`html.escape`; nothing else may reach a page.

Nothing here is loaded from elsewhere and no script runs. Pages of ours have a style sheet; what notebooks show has
none, so that each piece brings its style, and takes its colours from the text around it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from timelike.base.arrays import Floats
from timelike.base.checks import shortened

CELL = "text-align:left;padding:1px 10px 1px 0"
CELL_TEXT, LINE_TEXT = 80, 400
"""Characters that a cell and a line show in a notebook, at most."""


# -- for pages with a style sheet ------------------------------------------------------------------------------------


def paragraphs(sentences: Iterable[str]) -> str:
    """A paragraph for each text.

    Examples
    --------
    >>> paragraphs(["a < b"])
    '<p>a &lt; b</p>'
    """
    return "\n".join(f"<p>{escape(sentence)}</p>" for sentence in sentences)


def bullets(sentences: Iterable[str]) -> str:
    """A list, or nothing if there is nothing to list."""
    items = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
    return f"<ul>{items}</ul>" if items else ""


def terms(pairs: Iterable[tuple[str, str]], kind: str) -> str:
    """A list of terms, each with what there is to say about it."""
    items = "".join(f"<div><dt>{escape(term)}</dt><dd>{escape(text)}</dd></div>" for term, text in pairs)
    return f'<dl class="{escape(kind)}">{items}</dl>' if items else ""


def facts(triples: Iterable[tuple[str, str, str]]) -> str:
    """Large numbers, each with its noun and a remark."""
    items = "".join(
        f"<div><dt>{escape(noun)}</dt><dd><b>{escape(number)}</b> <span>{escape(remark)}</span></dd></div>"
        for number, noun, remark in triples
    )
    return f'<dl class="facts">{items}</dl>'


def captioned_table(header: Iterable[str], rows: Iterable[Sequence[str]], caption: str) -> str:
    """A table whose first column has names; the text of names may run in either direction."""
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in header)
    body = "".join(_named_row(*row) for row in rows)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption)}"><table class="plain">'
        f"<caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _named_row(name: str, *cells: str) -> str:
    rest = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
    return f'<tr><th scope="row"><bdi>{escape(name)}</bdi></th>{rest}</tr>'


# -- for notebooks ---------------------------------------------------------------------------------------------------


def fragment(*parts: str) -> str:
    """The parts, one below the other."""
    return '<div class="timelike" style="font-size:13px;line-height:1.4">' + "".join(parts) + "</div>"


def line(text: str) -> str:
    """A line of text; a very long one is cut."""
    return f'<div style="margin:2px 0 4px 0">{escape(shortened(text, LINE_TEXT))}</div>'


def small_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A small table without a caption; long cells are cut."""
    head = f"<thead>{_row('th', header)}</thead>" if any(header) else ""
    return f'<table style="font-size:inherit">{head}<tbody>{"".join(_row("td", row) for row in rows)}</tbody></table>'


def _row(tag: str, cells: Sequence[str]) -> str:
    shown = (f'<{tag} style="{CELL}">{escape(shortened(cell, CELL_TEXT))}</{tag}>' for cell in cells)
    return f"<tr>{''.join(shown)}</tr>"


@dataclass(frozen=True)
class View:
    """Which times and values a figure shows, and how large it is, in pixels."""

    times: tuple[float, float]
    values: tuple[float, float]
    width: int
    height: int
    margin: int = 4
    place: Callable[[Floats], Floats] = np.asarray
    """Where times are along the axis, for instance on a clock."""

    @classmethod
    def of(
        cls,
        times: Floats,
        values: Floats,
        *,
        width: int,
        height: int,
        margin: int = 4,
        place: Callable[[Floats], Floats] = np.asarray,
    ) -> View:
        """A figure that has room for all times and values."""
        spans = [(float(x.min()), float(x.max())) for x in (times, values)]
        wide = [(low, high) if high > low else (low - 0.5, high + 0.5) for low, high in spans]
        return cls(wide[0], wide[1], width, height, margin, place)

    def x(self, times: Floats) -> Floats:
        """Pixels from the left."""
        low, high = self.place(np.array(self.times))
        return self.margin + (self.width - 2 * self.margin) * ((self.place(times) - low) / (high - low))

    def y(self, values: Floats) -> Floats:
        """Pixels from the top."""
        low, high = self.values
        return self.margin + (self.height - 2 * self.margin) * ((high - values) / (high - low))

    def lines(self, lines: Iterable[Floats], style: str) -> str:
        """Lines of times and values, (n, 2) each, all in one element."""
        return _path("".join(self._line(*each.T) for each in lines), f'stroke-linecap="round" {style}')

    def band(self, times: Floats, low: Floats, high: Floats) -> str:
        """The area between two curves, cut off where the figure ends."""
        around = np.append(times, times[::-1]), np.clip(np.append(low, high[::-1]), *self.values)
        return f'<path d="{self._line(*around)}Z" fill="currentColor" fill-opacity="0.12"/>'

    def bars(self, tops: Floats, shift: float, style: str) -> str:
        """Upright bars from zero to times and heights, (n, 2)."""
        zero = float(self.y(np.zeros(1))[0])
        ends = zip(self.x(tops[:, 0]) + shift, self.y(tops[:, 1]), strict=True)
        return _path("".join(f"M{x:.1f} {zero:.1f}V{top:.1f}" for x, top in ends), style)

    def _line(self, times: Floats, values: Floats) -> str:
        pixels = [f"{x:.0f} {y:.0f}" for x, y in zip(self.x(times), self.y(values), strict=True)]
        # A lone point is a line of no length, which round caps make visible.
        return "M" + "L".join(pixels if len(pixels) > 1 else pixels * 2)


def _path(d: str, style: str) -> str:
    return f'<path d="{d}" fill="none" stroke-linejoin="round" {style}/>' if d else ""


def svg(view: View, label: str, *parts: str) -> str:
    """A figure with the range of its times below and the range of its values beside it."""
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
