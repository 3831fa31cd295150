"""Small pieces of HTML. Every text goes through :func:`escaped`; nothing else may reach the page."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

escaped = escape


def paragraphs(sentences: Iterable[str]) -> str:
    """A paragraph for each text.

    Examples
    --------
    >>> paragraphs(["a < b"])
    '<p>a &lt; b</p>'
    """
    return "\n".join(f"<p>{escaped(sentence)}</p>" for sentence in sentences)


def bullets(sentences: Iterable[str]) -> str:
    """A list, or nothing if there is nothing to list."""
    items = "".join(f"<li>{escaped(sentence)}</li>" for sentence in sentences)
    return f"<ul>{items}</ul>" if items else ""


def terms(pairs: Iterable[tuple[str, str]], kind: str) -> str:
    """A list of terms, each with what there is to say about it."""
    items = "".join(f"<div><dt>{escaped(term)}</dt><dd>{escaped(text)}</dd></div>" for term, text in pairs)
    return f'<dl class="{escaped(kind)}">{items}</dl>' if items else ""


def facts(triples: Iterable[tuple[str, str, str]]) -> str:
    """Large numbers, each with its noun and a remark."""
    items = "".join(
        f"<div><dt>{escaped(noun)}</dt><dd><b>{escaped(number)}</b> <span>{escaped(remark)}</span></dd></div>"
        for number, noun, remark in triples
    )
    return f'<dl class="facts">{items}</dl>'


def table(header: Iterable[str], rows: Iterable[Iterable[str]], caption: str) -> str:
    """A table whose first column has names; the text of names may run in either direction."""
    head = "".join(f'<th scope="col">{escaped(h)}</th>' for h in header)
    body = "".join(_row(list(row)) for row in rows)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escaped(caption)}"><table class="plain">'
        f"<caption>{escaped(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _row(cells: list[str]) -> str:
    rest = "".join(f"<td>{escaped(cell)}</td>" for cell in cells[1:])
    return f'<tr><th scope="row"><bdi>{escaped(cells[0])}</bdi></th>{rest}</tr>'
