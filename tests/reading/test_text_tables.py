"""Texts are read in a fast way where every line is a row, and in a careful way: both give the same."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import timelike as tl
from timelike.reading.cells import MISSING
from timelike.reading.tables import Rows
from timelike.reading.text_tables import RegularText, reads_exactly, text_table

CELL = st.sampled_from(
    ["1", "-2.5", "NA", "", " 3 ", "1e-5", "123456789.123456789", "2.2250738585072014e-308", '"4"', "nan"]
)
ROW = st.tuples(st.sampled_from(["a", '"b"', " c", "d e"]), CELL, CELL).map(",".join)


@settings(max_examples=100)
@given(rows=st.lists(ROW, min_size=1, max_size=8))
def test_the_fast_way_reads_what_the_careful_way_reads(rows):
    """To the last bit: whether a file has a comment in it must not change its numbers."""
    table = text_table("\n".join(["gene,0,1", *rows]).encode())
    careful = text_table("\n".join(["gene,0,1", *rows, "# a remark"]).encode())
    assert isinstance(careful.body, Rows)
    one, other = (found.numbers_and_texts([1, 2], [0]) for found in (table, careful))
    np.testing.assert_array_equal(one.numbers, other.numbers)
    assert one.texts == other.texts


def test_regular_text_takes_the_fast_way():
    assert isinstance(text_table(b'gene,0,1\n"a",1,2\nb,3,4\n').body, RegularText)
    assert isinstance(text_table(b'gene,0,1\n"a,b",1,2\nb,3,4\n').body, Rows)


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(1, 17))
def test_the_fast_parser_is_used_only_where_it_rounds_exactly(number, digits):
    text = f"{number:.{digits}g}"
    if reads_exactly(f"{text},1\n".encode()):
        taken = text_table(f"gene,0,1\na,{text},1\n".encode()).numbers_and_texts([1], [])
        assert taken.numbers[0, 0] == float(text)


def test_words_for_nothing_measured_are_the_same_in_both_ways():
    rows = "".join(f"g{i},{mark},1\n" for i, mark in enumerate(sorted(MISSING)))
    found = text_table(f"gene,0,1\n{rows}".encode()).numbers_and_texts([1], []).numbers
    assert np.isnan(found).all()


@pytest.mark.parametrize("delimiter", ["\t", ";", ",", " "])
def test_an_early_line_may_be_long(tmp_path, delimiter):
    """The csv module takes no cell above 131,072 characters, and a line without a delimiter is one cell."""
    header = delimiter.join(["time", *(f"patient-{i:012}" for i in range(10_000))])
    path = tmp_path / "wide.txt"
    path.write_text("\n".join([header, *(delimiter.join([t, *["1.5"] * 10_000]) for t in ("0", "2"))]) + "\n")
    assert len(header) > 131_072
    courses = tl.read(path, orient="columns")
    assert len(courses) == 10_000
    np.testing.assert_array_equal(courses.grid, [0, 2])
