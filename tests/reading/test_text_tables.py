"""Texts are read in a fast way where every line is a row, and in a careful way: both give the same."""

import re
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import timelike as tl
from timelike.exceptions import InputError
from timelike.reading import text_tables
from timelike.reading.cells import MISSING
from timelike.reading.files import read_table
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


# -- stretches -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 7, 20, 10**6])
def test_a_text_is_read_in_stretches_as_if_it_were_one(monkeypatch, size):
    monkeypatch.setattr(text_tables, "STRETCH", size)
    table = text_table(
        b"# a remark\ngene,0h,2h\n" + b"".join(b"gene%d,%d.5,NA\n" % (i, i) for i in range(40)) + b"z,1,2"
    )
    assert isinstance(table.body, RegularText)
    found = table.numbers_and_texts([2, 1], [0])
    assert found.texts == [[*(f"gene{i}" for i in range(40)), "z"]]
    np.testing.assert_array_equal(found.numbers[:, 1], [*(np.arange(40) + 0.5), 1])
    np.testing.assert_array_equal(found.numbers[:, 0], [*np.full(40, np.nan), 2])
    assert table.place(40) == "line 43"


@pytest.mark.parametrize("size", [20, 10**6])
@pytest.mark.parametrize("cell", ["1.5x", "TRUE", "1e200"])
def test_a_bad_cell_far_down_is_named_whatever_is_read_at_once(monkeypatch, size, cell):
    monkeypatch.setattr(text_tables, "STRETCH", size)
    table = text_table(b"gene,0h\n" + b"a,1\n" * 30 + f"b,{cell}\n".encode() + b"c,0\n" * 30)
    with pytest.raises(InputError, match=re.escape(f"line 32, column '0h': '{cell}'")):
        table.numbers_and_texts([1], [0])


def test_a_text_is_not_copied_on_the_way(monkeypatch):
    monkeypatch.setattr(text_tables, "STRETCH", 2**16)
    data = b"gene,0h,2h\n" + b"Samd14,1.25,2.5\n" * 60_000
    text_table(data[:91]).numbers_and_texts([1, 2], [])  # pandas is there now
    tracemalloc.start()
    try:
        found = text_table(data).numbers_and_texts([1, 2], [])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < found.numbers.nbytes + len(data) / 2


def test_a_letter_beyond_ascii_costs_no_second_text(tmp_path, monkeypatch):
    monkeypatch.setattr(text_tables, "STRETCH", 2**16)
    (tmp_path / "a.csv").write_text("gene,0h,2h\n" + "Bär,1.25,2.5\n" * 60_000, "utf-8")
    read_table(tmp_path / "a.csv")
    tracemalloc.start()
    try:
        read_table(tmp_path / "a.csv")
        assert tracemalloc.get_traced_memory()[1] < 1.6 * (tmp_path / "a.csv").stat().st_size
    finally:
        tracemalloc.stop()
