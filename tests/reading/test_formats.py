"""Sample sheets, dates, conditions, and everything that is no text: Excel, Parquet, pandas, AnnData."""

import sys

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix

import timelike as tl
from timelike.reading import files, read_table, understand

WIDE = pd.DataFrame({"gene": ["a", "b"], "s1": [1.0, 2], "s2": [3.0, 4], "s3": [5.0, np.nan], "s4": [7.0, 8]})
SHEET = pd.DataFrame(
    {
        "Sample": ["s1", "s2", "s3", "s4"],
        "Hours": [0, 6, 0, 12],
        "rep": [1, 1, 2, 1],
        "treatment": ["no", "no", "yes", "yes"],
    }
)


# -- sample sheets -------------------------------------------------------------------------------------------


def test_a_sample_sheet_tells_times_and_conditions(tmp_path):
    WIDE.to_csv(tmp_path / "genes.csv", index=False)
    SHEET.to_csv(tmp_path / "samples.tsv", sep="\t", index=False)
    found = understand(tmp_path / "genes.csv", samples=tmp_path / "samples.tsv")
    assert found.courses.names == ("a | no", "a | yes", "b | no", "b | yes")
    assert found.time_unit == "h"
    np.testing.assert_array_equal(found.courses["a | yes"].times, [0, 12])
    np.testing.assert_array_equal(found.courses["b | yes"].values, [8])
    chosen = tl.read(WIDE, samples=SHEET, condition="yes")
    assert chosen.names == ("a", "b")
    np.testing.assert_array_equal(chosen["a"].values, [5, 7])


def test_a_sample_sheet_without_conditions_has_replicates():
    found = tl.read(WIDE, samples=SHEET.drop(columns="treatment"))
    np.testing.assert_array_equal(found["a"].times, [0, 0, 6, 12])
    np.testing.assert_array_equal(found["a"].values, [1, 5, 3, 7])


def test_times_of_a_sheet_may_have_units_and_other_names():
    sheet = pd.DataFrame({"id": ["s1", "s2", "s3", "s4"], "when": ["0h", "6h", "6h", "12h"]})
    found = understand(WIDE, samples=sheet, time="when")
    assert found.time_unit == "h"
    np.testing.assert_array_equal(found.courses["a"].times, [0, 6, 6, 12])


def test_samples_without_a_column_are_named_and_columns_without_a_sample_left_out():
    sheet = SHEET.drop(columns="treatment").replace("s4", "s9")
    with pytest.warns(tl.DataWarning) as caught:
        found = tl.read(WIDE, samples=sheet)
    messages = " ".join(str(w.message) for w in caught)
    assert "1 sample of the sheet without a column: 's9'" in messages
    assert "columns of numbers that are no times are left out: 's4'" in messages
    np.testing.assert_array_equal(found["a"].values, [1, 5, 3])


@pytest.mark.parametrize(
    ("sheet", "message"),
    [
        ({"sample": ["x1"], "time": [0]}, "the sample sheet names no column of the table. The table has 'gene', 's1'"),
        ({"sample": ["s1", "s1"], "time": [0, 1]}, "the sample 's1' stands twice in the sample sheet, row 0 and row 1"),
        ({"sample": ["s1", "s2"], "when": [0, 1]}, "no column is known to hold the times of the samples"),
        (
            {"sample": ["s1", "s2"], "time": [0, 1], "age": [3, 4]},
            "'time' and 'age' could hold the times of the samples",
        ),
        (
            {"sample": ["s1", "s2"], "time": ["0h", "soon"]},
            "row 1, column 'time' of the sample sheet: 'soon' is not a time",
        ),
        ({"sample": ["s1", "s2"], "time": ["0h", "2d"]}, "has times in different units"),
        ({"sample": ["s1", "s2"], "time": ["2024-01-01", "2024-01-02"]}, "has dates. Give numbers"),
    ],
)
def test_sheets_that_do_not_fit(sheet, message):
    with pytest.raises(tl.InputError) as caught:
        tl.read(WIDE, samples=pd.DataFrame(sheet))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("cells", "times"),
    [(["T-5", "T0", "T5", "T9"], [-5, 0, 5, 9]), (["day-7", "day0", "day\u22121", "day7"], [-7, -1, 0, 7])],
)
def test_times_of_a_sheet_before_zero(cells, times):
    sheet = pd.DataFrame({"sample": ["s1", "s2", "s3", "s4"], "time": cells})
    np.testing.assert_array_equal(tl.read(WIDE, samples=sheet)["a"].times, times)


def test_times_of_a_sheet_with_thousands():
    sheet = pd.DataFrame({"sample": ["s1", "s2", "s3", "s4"], "time": ["100", "500", "1,000", "2,000"]})
    with pytest.raises(tl.InputError, match="column 'time' of the sample sheet: the time '1,000' can be read with"):
        tl.read(WIDE, samples=sheet)
    np.testing.assert_array_equal(tl.read(WIDE, samples=sheet, decimal=",")["a"].times, [1, 2, 100, 500])


def test_two_columns_of_conditions_in_a_sheet():
    crossed = SHEET.assign(genotype=["wt", "ko", "wt", "ko"])
    with pytest.raises(tl.InputError, match=r"'treatment' and 'genotype' both tell conditions. Merge them into one"):
        tl.read(WIDE, samples=crossed)
    constant = SHEET.assign(arm="all")
    assert tl.read(WIDE, samples=constant).names == tl.read(WIDE, samples=SHEET).names
    assert tl.read(WIDE, samples=constant[["Sample", "Hours", "arm"]], condition="all").names == ("a", "b")


def test_a_sheet_and_other_times_contradict():
    with pytest.raises(tl.InputError, match="times= has no meaning here: the sample sheet has the times"):
        tl.read(WIDE, samples=SHEET, times=[0, 1, 2, 3])


# -- dates and conditions in tidy tables -----------------------------------------------------------------------

VISITS = pd.DataFrame(
    {
        "patient": ["p", "p", "q", "q"],
        "date": ["2024-01-31", "2024-03-01", "2024-02-10 12:00", "2024-02-11"],
        "value": [1, 2, 3, 4],
    }
)


@pytest.mark.parametrize("as_dates", [False, True])
def test_dates(as_dates):
    visits = VISITS.assign(date=pd.to_datetime(VISITS["date"], format="mixed")) if as_dates else VISITS
    own = understand(visits, dates="own")
    assert own.time_unit == "days"
    np.testing.assert_array_equal(own.courses.times, [0, 30, 0, 0.5])
    np.testing.assert_array_equal(tl.read(visits, dates="common").times, [0, 30, 10.5, 11])


def test_the_first_date_is_that_of_the_first_value():
    visits = VISITS.assign(value=[np.nan, 2, 3, 4])
    np.testing.assert_array_equal(tl.read(visits, dates="own").times, [0, 0, 0.5])


@pytest.mark.parametrize("date", ["2024-02-31", "01/02/2024", "31.1.2024"])
def test_dates_that_are_none(date):
    with pytest.raises(
        tl.InputError, match=f"row 0, column 'date': '{date}' is not a date. Write dates as year-month-day"
    ):
        tl.read(VISITS.replace("2024-01-31", date), dates="own")


def test_conditions_within_a_course_make_courses_and_labels_of_a_course_do_not():
    rows = [("a", 0, "x", 1), ("a", 1, "x", 2), ("a", 0, "y", 3), ("b", 0, "y", 4)]
    tidy = pd.DataFrame(rows, columns=["gene", "time", "condition", "value"])
    assert tl.read(tidy).names == ("a | x", "a | y", "b | y")
    np.testing.assert_array_equal(tl.read(tidy, condition="y").values, [3, 4])
    with pytest.raises(tl.InputError, match="there is no condition 'z': column 'condition' has 'x', 'y'"):
        tl.read(tidy, condition="z")
    label = tidy.assign(condition=["x", "x", "x", "y"])
    found = understand(label)
    assert found.courses.names == ("a", "b")
    assert found.unused == ("condition",)
    with pytest.raises(tl.InputError, match="no column tells conditions within a course"):
        tl.read(label, condition="x")


def test_a_tidy_course_without_values_is_left_out_with_a_word():
    tidy = pd.DataFrame({"course": ["a", "b"], "time": [0, None], "value": [1, None]})
    with pytest.warns(tl.DataWarning, match="left out 1 course without any value: b"):
        assert tl.read(tidy).names == ("a",)


def test_one_column_cannot_be_two_things():
    with pytest.raises(tl.InputError, match="one column has two meanings"):
        tl.read(VISITS, time="value", value="value")


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
    SHEET.to_excel(tmp_path / "plain.xlsx", index=False)
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


# -- AnnData -------------------------------------------------------------------------------------------------------


def samples(**columns):
    obs = pd.DataFrame(columns, index=[f"s{i}" for i in range(4)])
    anndata = pytest.importorskip("anndata")
    data = anndata.AnnData(np.arange(8.0).reshape(4, 2), obs, pd.DataFrame(index=["g1", "g2"]))
    data.layers["logged"] = csr_matrix(data.X + 1)
    return data


def test_samples_in_obs(tmp_path):
    data = samples(day=[0, 0, 3, 7], batch=list("abab"))
    found = understand(data)
    assert found.lines()[:2] == [
        "2 courses, 3 times (0 to 7 days), some replicated",
        "read as AnnData: 4 observations, genes from var_names, values from X",
    ]
    np.testing.assert_array_equal(found.courses["g2"].values, [1, 3, 5, 7])
    data.write_h5ad(tmp_path / "genes.h5ad")
    again = tl.read(tmp_path / "genes.h5ad", layer="logged")
    np.testing.assert_array_equal(again["g2"].values, [2, 4, 6, 8])


def test_times_of_obs_may_be_words_and_conditions_are_told_apart():
    data = samples(timepoint=pd.Categorical(["0h", "6h", "0h", "6h"]), treatment=["no", "no", "yes", "yes"])
    found = understand(data)
    assert found.time_unit == "h"
    assert found.courses.names == ("g1 | no", "g1 | yes", "g2 | no", "g2 | yes")
    np.testing.assert_array_equal(found.courses["g1 | yes"].values, [4, 6])


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ({"batch": list("abab")}, {}, "no column is known to hold the times of the samples. Say which: time= (--time)"),
        ({"day": [0, 1, 2, 3], "age": [1, 2, 3, 4]}, {}, "'day' and 'age' could hold the times"),
        ({"day": [0, 1, 2, 3]}, {"layer": "raw"}, "there is no layer 'raw'. The layers: logged"),
        ({"day": [0, 1, 2, 3]}, {"times": [1]}, "times= has no meaning here: an AnnData object has its own names"),
        ({"day": [0, 1, 2, 3]}, {"replicate": "donor"}, "it has no column 'donor'"),
    ],
)
def test_objects_that_do_not_tell_enough(columns, options, message):
    with pytest.raises(tl.InputError) as caught:
        tl.read(samples(**columns), **options)
    assert message in str(caught.value)


@pytest.mark.parametrize("sparse", [False, True])
def test_single_cells_are_averaged_only_on_request(sparse):
    anndata = pytest.importorskip("anndata")
    rng = np.random.default_rng(0)
    counts = rng.poisson(2.0, (300, 3)).astype(float)
    obs = pd.DataFrame(
        {"time": np.repeat([0, 24], 150), "donor": np.tile(["d1", "d2"], 150)}, index=map(str, range(300))
    )
    cells = anndata.AnnData(csr_matrix(counts) if sparse else counts, obs, pd.DataFrame(index=["g1", "g2", "g3"]))
    with pytest.raises(tl.InputError, match="300 observations at 2 times, up to 150 at one: they seem to be cells"):
        tl.read(cells)
    found = understand(cells, replicate="donor")
    assert found.courses.summary() == "3 courses, 2 times (0 to 24) x 2 replicates"
    assert "each the mean of 75 to 75 observations with the same time and 'donor'" in found.lines()[1]
    wanted = [counts[(obs["time"] == t) & (obs["donor"] == d), 1].mean() for t in (0, 24) for d in ("d1", "d2")]
    np.testing.assert_allclose(found.courses["g2"].values, wanted)


# -- options that would be ignored -----------------------------------------------------------------------------------

TIDY = pd.DataFrame({"gene": ["a", "a"], "time": [0, 1], "value": [1.0, 2], "se": [1.0, 1]})
HOURS = pd.DataFrame({"gene": ["a", "b"], "0h": [1.0, 2], "6h": [3.0, 4]})


@pytest.mark.parametrize(
    ("table", "options"),
    [
        (TIDY, {"times": [0, 5]}),
        (TIDY, {"dates": "own"}),
        (TIDY, {"layer": "raw"}),
        (TIDY, {"replicate": "donor"}),
        (TIDY, {"sheet": 0}),
        (HOURS, {"error": "se", "orient": "rows"}),
        (HOURS, {"value": "nonsense", "header": "{time}h"}),
        (HOURS, {"time": "nonsense", "header": "{time}h"}),
        (HOURS, {"time": "gene", "orient": "columns"}),
        (HOURS, {"dates": "own"}),
        (WIDE, {"dates": "common", "samples": SHEET}),
        (pd.DataFrame({"time": [0, 1], "a": [1.0, 2]}), {"dates": "common"}),
    ],
)
def test_options_without_a_meaning_are_refused(table, options):
    with pytest.raises(tl.InputError, match=f"the DataFrame: {next(iter(options))}= has no meaning here: "):
        tl.read(table, **options)


@pytest.mark.parametrize("option", [{"sheet": "x"}, {"orient": "rows"}, {"dates": "own"}, {"decimal": ","}])
def test_options_of_tables_have_no_meaning_for_anndata(option):
    with pytest.raises(tl.InputError, match=f"{next(iter(option))}= has no meaning here: "):
        tl.read(samples(day=[0, 1, 2, 3]), **option)
