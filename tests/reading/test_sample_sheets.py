"""Sample sheets: a second table tells times and conditions of the columns of the first."""

import numpy as np
import pandas as pd
import pytest

import timelike as tl
from timelike.reading import understand

WIDE = pd.DataFrame({"gene": ["a", "b"], "s1": [1.0, 2], "s2": [3.0, 4], "s3": [5.0, np.nan], "s4": [7.0, 8]})
SHEET = pd.DataFrame(
    {
        "Sample": ["s1", "s2", "s3", "s4"],
        "Hours": [0, 6, 0, 12],
        "rep": [1, 1, 2, 1],
        "treatment": ["no", "no", "yes", "yes"],
    }
)


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
    assert "columns of numbers that the sample sheet does not name are no values: 's4'" in messages
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


def test_the_account_names_the_sheet_and_its_columns(tmp_path):
    (tmp_path / "genes.csv").write_text("gene,s1,s2,s3\na,1,2,3\n")
    (tmp_path / "sheet.csv").write_text("sample,hours,who,treatment\ns1,0,x,ctl\ns2,6,x,ctl\ns3,0,x,drug\n")
    how = tl.reading.understand(tmp_path / "genes.csv", samples=tmp_path / "sheet.csv", subject="who").how
    assert "names from 'gene', values of 3 samples like 's1', unit h" in how
    told = "samples in 'sample', times in 'hours', conditions in 'treatment', subjects in 'who'"
    assert f"the sample sheet sheet.csv has {told}" in how
