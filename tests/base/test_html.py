"""Pieces of HTML: no text of the data becomes markup, and every element is closed."""

from xml.etree import ElementTree

import pytest

from timelike.base import html

ODD = "<script>\"&'"
PIECES = {
    "paragraphs": lambda text: html.paragraphs([text]),
    "bullets": lambda text: html.bullets([text]),
    "terms": lambda text: html.terms([(text, text)], text),
    "facts": lambda text: html.facts([(text, text, text)]),
    "captioned_table": lambda text: html.captioned_table([text, text], [(text, text)], text),
    "fragment": lambda text: html.fragment(html.line(text)),
    "small_table": lambda text: html.small_table([text], [(text,)]),
    "svg": lambda text: html.svg(html.View((0, 1), (0, 1), 10, 10), text),
}


@pytest.mark.parametrize("piece", PIECES)
def test_text_stays_text(piece):
    root = ElementTree.fromstring(PIECES[piece](ODD))  # noqa: S314 - our own
    said = [*root.itertext(), *(value for element in root.iter() for value in element.attrib.values())]
    assert ODD in said
    assert "script" not in {element.tag for element in root.iter()}


def test_what_lists_nothing_is_nothing():
    assert (html.paragraphs([]), html.bullets([]), html.terms([], "model")) == ("", "", "")


def test_long_texts_are_cut_in_notebooks_and_kept_on_pages():
    long = "x" * 1000
    assert long not in html.line(long) + html.small_table([""], [(long,)])
    assert long in html.captioned_table(["a"], [(long,)], "")
