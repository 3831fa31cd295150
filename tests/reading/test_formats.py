"""Everything that is no text: pandas tables, Excel and Parquet, and the packages that they need."""

import re
import sys
import zipfile

import numpy as np
import pandas as pd
import pytest

import timelike as tl
from timelike.reading import files, read_table, understand

# -- pandas ------------------------------------------------------------------------------------------------------


def test_a_frame_with_its_index_as_names():
    values = pd.DataFrame([[1, 2], [3, 4]], index=pd.Index(["a", "b"], name="gene"), columns=["0h", "6h"])
    assert tl.read(values).names == ("a", "b")
    assert tl.read(values.rename_axis(None)).names == ("a", "b")
    numbers = values.set_axis([0, 6], axis="columns")
    np.testing.assert_array_equal(tl.read(numbers).grid, [0, 6])


def test_two_levels_of_columns_are_time_and_replicate():
    columns = pd.MultiIndex.from_product([[0, 12], [1, 2]], names=["time", "replicate"])
    values = pd.DataFrame([[1, 2, 3, 4]], index=["a"], columns=columns)
    np.testing.assert_array_equal(tl.read(values).times, [0, 0, 12, 12])
    np.testing.assert_array_equal(tl.read(values.rename_axis(columns=[None, None])).times, [0, 0, 12, 12])


def test_the_place_of_a_bad_cell_in_a_frame():
    with pytest.raises(tl.InputError, match="the DataFrame: row 1, column '6h': 'x' is not a number"):
        tl.read(pd.DataFrame({"gene": ["a", "b"], "0h": [1, 2], "6h": ["3", "x"]}))
    with pytest.raises(tl.InputError, match="row 0, column '0h': 'inf' is not finite"):
        tl.read(pd.DataFrame({"gene": ["a", "b"], "0h": [np.inf, 2], "6h": [1, 2]}))
    with pytest.raises(tl.InputError, match="it has 0 rows"):
        tl.read(pd.DataFrame({"gene": [], "0h": []}))


def test_missing_values_of_every_kind():
    frame = pd.DataFrame(
        {"gene": ["a", "b"], "0h": pd.array([1, None], dtype="Int64"), "6h": [None, 2.0], "7h": ["3", None]}
    )
    np.testing.assert_array_equal(tl.read(frame)["a"].times, [0, 7])


# -- Excel and Parquet ---------------------------------------------------------------------------------------------


def test_excel(tmp_path):
    path = tmp_path / "genes.data"  # the content decides, not the name
    with pd.ExcelWriter(tmp_path / "genes.xlsx") as book:
        pd.DataFrame({"gene": ["a", "b"], "0h": [1.5, 2], "6h": [3, None]}).to_excel(
            book, sheet_name="counts", index=False
        )
        pd.DataFrame({"note": ["made by hand"]}).to_excel(book, sheet_name="notes", index=False)
    (tmp_path / "genes.xlsx").rename(path)
    with pytest.raises(tl.InputError, match=r"it has 2 sheets: counts, notes. Say which: sheet='counts' \(--sheet\)"):
        tl.read(path)
    for sheet in ("counts", 0, "0"):
        np.testing.assert_array_equal(tl.read(path, sheet=sheet).values, [1.5, 3, 2])
    with pytest.raises(tl.InputError, match="there is no sheet 'data'"):
        tl.read(path, sheet="data")
    with pytest.raises(tl.InputError, match=r"the header .row 1. has one column"):
        tl.read(path, sheet="notes")


def test_excel_has_rows_of_remarks_dates_and_words(tmp_path):
    path = tmp_path / "visits.xlsx"
    dates = pd.to_datetime(["2024-01-01", "2024-01-31"])
    pd.DataFrame({"patient": ["p", "p"], "date": dates, "value": [1, "?"]}).to_excel(path, index=False, startrow=2)
    with pytest.raises(tl.InputError, match=r"row 5, column 'value': '\?' is not a number"):
        tl.read(path, dates="own")
    pd.DataFrame({"patient": ["p", "p"], "date": dates, "value": [1, 2]}).to_excel(path, index=False, startrow=2)
    np.testing.assert_array_equal(tl.read(path, dates="own").times, [0, 30])


def test_excel_with_merged_cells_charts_and_remarks(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["gene", "0h", "2h"], ["a", 1, 2], ["# a remark"], ["#b", 3, 4]):
        book.active.append(row)
    book.create_chartsheet("picture").add_chart(openpyxl.chart.LineChart())
    merged = book.create_sheet("merged")
    for row in (["gene", "0h", None, "2h", None], ["a", 1, 2, 3, 4]):
        merged.append(row)
    merged.merge_cells("B1:C1")
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(tl.InputError, match=r"it has 2 sheets: Sheet, merged. Say which"):
        tl.read(tmp_path / "t.xlsx")
    with pytest.raises(tl.InputError, match=r"there is no sheet 'picture'. Its sheets with cells: Sheet, merged"):
        tl.read(tmp_path / "t.xlsx", sheet="picture")
    with pytest.raises(tl.InputError, match=r"column 3 has numbers but no header. Merged cells"):
        tl.read(tmp_path / "t.xlsx", sheet="merged")
    assert understand(tmp_path / "t.xlsx", sheet="Sheet").courses.names == ("a", "#b")


def test_formulas_that_were_never_computed_are_told(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["gene", "0h", "2h"], ["a", 1, "=B2+1"]):
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    with pytest.warns(tl.DataWarning, match="the workbook has formulas without values, which count as not measured"):
        assert len(tl.read(tmp_path / "t.xlsx").values) == 1
    pd.DataFrame({"sample": ["s1"], "time": [0]}).to_excel(tmp_path / "plain.xlsx", index=False)
    assert read_table(tmp_path / "plain.xlsx").notes == ()


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        ('<c r="B2"><f>A1</f><v></v></c>', True),
        ('<c r="B2" s="1"><f>A1</f><v /></c>', True),
        ('<c r="B2"><f t="shared" si="0"/></c>', True),
        ('<c r="B2"><f>A1</f><v>3</v></c>', False),
        ('<c r="B2" t="str"><f>IF(A1="","",A1)</f><v></v></c>', False),  # an empty text is its value
        ('<c r="B2" s="1"/><c r="C2" t="str"><f>A1</f><v></v></c>', False),
    ],
)
def test_which_formulas_have_no_value(cell, told):
    found = files.UNCOMPUTED.search(cell.encode())
    assert bool(found) is told


def test_parquet(tmp_path):
    pytest.importorskip("pyarrow")
    pd.DataFrame({"gene": ["a", "b"], "0h": [1.5, 2], "6h": [3, None]}).to_parquet(tmp_path / "genes.parquet")
    np.testing.assert_array_equal(tl.read(tmp_path / "genes.parquet").values, [1.5, 3, 2])
    with pytest.raises(tl.InputError, match="only Excel workbooks have sheets"):
        tl.read(tmp_path / "genes.parquet", sheet=0)


@pytest.mark.parametrize(
    ("package", "content", "extra"),
    [
        ("pyarrow", b"PAR1", "files"),
        ("openpyxl", b"PK\x03\x04xl/workbook", "files"),
        ("anndata", b"\x89HDF\r\n\x1a\n", "bio"),
    ],
)
def test_a_missing_package_is_named(tmp_path, monkeypatch, package, content, extra):
    monkeypatch.setitem(sys.modules, package, None)
    (tmp_path / "t").write_bytes(content)
    with pytest.raises(tl.MissingExtraError, match=rf"need {package}: pip install 'timelike\[{extra}\]'"):
        tl.read(tmp_path / "t")


# -- damaged and odd workbooks --------------------------------------------------------------------------------


def workbook(path, rows=6, columns=4):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["gene", *(f"{k}h" for k in range(columns - 1))])
    for i in range(rows - 1):
        book.active.append([f"g{i}", *range(i, i + columns - 1)])
    book.save(path)
    return path


def changed(path, change):
    """The workbook with the content of some of its parts changed."""
    with zipfile.ZipFile(path) as book:
        parts = {name: change(name, book.read(name)) for name in book.namelist()}
    with zipfile.ZipFile(path, "w") as book:
        for name, content in parts.items():
            book.writestr(name, content)
    return path


@pytest.mark.parametrize("stated", [b"A1:C3", b"A1", b"A1:XFD1048576"])
def test_what_a_sheet_says_of_its_size_does_not_count(tmp_path, stated):
    def change(name, content):
        return re.sub(rb'<dimension ref="[^"]*"', b'<dimension ref="' + stated + b'"', content)

    courses = tl.read(changed(workbook(tmp_path / "t.xlsx"), change))
    assert courses.names == ("g0", "g1", "g2", "g3", "g4")
    np.testing.assert_array_equal(courses["g4"].values, [4, 5, 6])


def test_one_cell_far_out_is_no_large_table(tmp_path):
    path = changed(
        workbook(tmp_path / "t.xlsx"),
        lambda _, content: content.replace(
            b"</sheetData>", b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'
        ),
    )
    with pytest.raises(tl.InputError):
        tl.read(path)


PARTS = ("xl/worksheets/sheet1.xml", "xl/workbook.xml", "xl/styles.xml", "[Content_Types].xml", "docProps/core.xml")
DAMAGE = {"cut": lambda c: c[: len(c) // 2], "emptied": lambda _: b"", "overwritten": lambda c: b"\x00\xff" + c[2:]}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("part", PARTS)
def test_a_damaged_workbook_is_refused_in_a_sentence(tmp_path, part, damage):
    path = changed(workbook(tmp_path / "t.xlsx"), lambda name, c: DAMAGE[damage](c) if name == part else c)
    with pytest.raises(tl.InputError, match="the workbook cannot be read: "):
        tl.read(path)


def test_a_workbook_packed_in_an_unknown_way(tmp_path):
    path = workbook(tmp_path / "t.xlsx")
    data = path.read_bytes()
    path.write_bytes(data.replace(b"\x14\x00\x00\x00\x08\x00", b"\x14\x00\x00\x00\x5f\x00"))
    with pytest.raises(tl.InputError, match="the workbook cannot be read: "):
        tl.read(path)


# -- tables of other libraries ----------------------------------------------------------------------------------


class Interchanged:
    """A table that can do nothing but give itself to others."""

    def __init__(self, frame):
        self.frame = frame

    def __dataframe__(self, nan_as_null=False, allow_copy=True):
        return self.frame.__dataframe__(nan_as_null, allow_copy)


def test_tables_of_other_libraries():
    arrow = pytest.importorskip("pyarrow")
    table = arrow.table({"gene": ["a", "b"], "0h": [1, None], "6h": [3.5, 4]})
    for source in (table, Interchanged(table.to_pandas())):
        courses = tl.read(source)
        assert courses.names == ("a", "b")
        np.testing.assert_array_equal(courses.values, [1, 3.5, 4])
    sheet = arrow.table({"sample": ["0h", "6h"], "time": [0, 8]})
    np.testing.assert_array_equal(tl.read(table, samples=sheet)["a"].times, [0, 8])
    tidy = arrow.table({"course": ["a", "a"], "time": [0, 1], "value": [1, None]})
    np.testing.assert_array_equal(tl.TimeCourses.from_long(tidy).values, [1])
