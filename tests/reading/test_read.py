import gzip

import numpy as np
import pandas as pd
import pytest

import timelike as tl
from timelike.reading import read, understand


def write(tmp_path, text, name="t.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "header",
    ["gene,0,12,24", "gene,0h,12h,24h", "gene,T0,T12,T24", "gene,alpha0,alpha12,alpha24", "gene,day 0,day 12,day 24"],
)
def test_times_come_from_the_header(tmp_path, header):
    courses = read(write(tmp_path, f"{header}\na,1,2,3\nb,4,5,6\n"))
    assert courses.names == ("a", "b")
    np.testing.assert_array_equal(courses.grid, [0, 12, 24])
    np.testing.assert_array_equal(courses["b"].values, [4, 5, 6])


def test_a_repeated_time_is_a_replicate_and_not_renamed(tmp_path):
    """pandas would call the second '0' '0.1', which is another time."""
    courses = read(write(tmp_path, "gene,0,0,1\na,1,2,3\n"))
    np.testing.assert_array_equal(courses.grid, [0, 0, 1])


@pytest.mark.parametrize("mark", ["", "NA", "nan", "N/A", "-", "."])
def test_missing_marks(tmp_path, mark):
    courses = read(write(tmp_path, f"gene,0,1,2\na,1,{mark},3\n"))
    np.testing.assert_array_equal(courses["a"].times, [0, 2])


def test_other_delimiters_comments_and_byte_order_mark(tmp_path):
    text = "\ufeff# made by hand\ngene\t0\t1\n\n# a remark\n'a'\t1\t2\n"
    assert read(write(tmp_path, text, "t.tsv")).names == ("'a'",)
    assert read(write(tmp_path, 'gene;0;1\n"a;b";1;2\n')).names == ("a;b",)


def test_gzip(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"gene,0,1\na,1,2\n"))
    assert len(read(path)) == 1


def test_tidy_by_its_usual_names_and_by_others(tmp_path):
    rows = "p1,0,5,1\np1,2,6,1\np2,1,7,2\n"
    usual = read(write(tmp_path, "course,time,value,other\n" + rows))
    named = read(write(tmp_path, "id,day,mmHg,sd\n" + rows), course="id", time="day", value="mmHg", error="sd")
    assert usual.names == named.names == ("p1", "p2")
    assert usual.errors is None
    np.testing.assert_array_equal(named.errors, [1, 1, 2])


def test_columns_that_play_no_part_are_named(tmp_path):
    path = write(tmp_path, "gene,time,value,remark\na,0,1,late\na,1,2,\n")
    assert read(path).names == ("a",)
    assert understand(path).unused == ("remark",)
    assert understand(path).lines()[-1] == "1 column played no part (remark)"


def test_three_lines_say_what_was_understood(tmp_path):
    rows = "a,M,1,2,3,4\nb,S,5,6,NA,8\nc,S,,,,\n"
    found = understand(write(tmp_path, f"gene,phase,0h_1,0h_2,12h_1,12h_2\n{rows}"))
    assert found.lines() == [
        "2 courses, 2 times (0 to 12 h) x 2 replicates, 12.5 % missing",
        "read as a wide table, a course a row: names from 'gene', times from 4 headers like '0h_1', unit h; "
        "a number beside the time counts replicates",
        "1 column carried along into the tables (phase); left out 1 course without any value: c",
    ]
    assert found.time_unit == "h"


def test_a_course_without_values_is_left_out_with_a_word(tmp_path):
    path = write(tmp_path, "gene,0,1\na,1,2\nb,NA,NA\n")
    with pytest.warns(tl.DataWarning, match="1 course without any value: b"):
        assert read(path).names == ("a",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "0 lines"),
        ("gene,0,1\n", "1 line: expected a header"),
        ("gene,0,1\na,1\n", "line 2: 2 cells, but the header has 3"),
        ("gene,0,1\na,1,2\nb,x,3\n", "line 3, column '0': 'x' is not a number"),
        ("gene,first,second\na,1,2\n", "no times"),
        ("0,1,2\n1,2,3\n", "no column for names"),
        ("gene,0,1\na,1,2\na,3,4\n", "the name 'a' stands for two courses"),
        ("gene,0,1\na,NA,\n", "no course has a value"),
        ("gene\na\n", "one column"),
        ("course,time,value\na,soon,2\n", "line 2, column 'time': 'soon'"),
        ("course,time,value\na,,2\n", "line 2: the time (column 'time') is missing"),
        ("gene,0,1\na,inf,2\n", "line 2, column '0': 'inf' is not finite"),
    ],
)
@pytest.mark.filterwarnings("ignore::timelike.DataWarning")
def test_what_a_broken_file_gets(tmp_path, text, message):
    path = write(tmp_path, text)
    with pytest.raises(tl.InputError) as caught:
        read(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


def test_what_is_no_text(tmp_path):
    with pytest.raises(tl.InputError, match="there is no file"):
        read(tmp_path / "absent.csv")
    (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(b"gene,0,1\na,1,2\n" * 99)[:30])
    with pytest.raises(tl.InputError, match="cannot read"):
        read(tmp_path / "cut.csv.gz")


def test_a_tidy_table_without_the_named_column(tmp_path):
    path = write(tmp_path, "id,day,mmHg\np,1,2\n")
    with pytest.raises(tl.InputError, match=r"it has no column 'date'. Its columns: 'id', 'day', 'mmHg'"):
        read(path, course="id", time="date", value="mmHg")


def test_real_tables(shared_data):
    with pytest.warns(tl.DataWarning, match="left out 8 courses"):
        yeast = read(shared_data / "yeast_alpha" / "alpha.csv")
    assert len(yeast) == 792
    assert yeast.summary() == "792 courses, 18 times (0 to 119), 1.71 % missing"
    growth = read(shared_data / "growth" / "growth.csv")
    assert growth.summary() == "93 courses, 31 times (1 to 18)"
    pressure = read(shared_data / "blood_pressure" / "bp10k.csv.gz")
    assert len(pressure) == 10_000
    assert len(pressure.values) == 167_277
    minutes = [*range(0, 45, 5), *range(50, 121, 10), 150]
    notch = shared_data / "drosophila_notch" / "tc.data.csv"
    assert read(notch, times=minutes).summary() == "163 courses, 18 times (0 to 150) x 4 replicates"
    assert "the times are the numbers 1 to 18 of the headers" in understand(notch).lines()[1]
    assert "Dpt" in read(notch, course="GeneName", duplicates="number")


# -- what a header does not mean --------------------------------------------------


def test_a_dash_after_a_word_is_no_sign_and_a_point_may_come_first(tmp_path):
    np.testing.assert_array_equal(read(write(tmp_path, "g,day-1,day-2,day-8\na,1,2,3\n")).grid, [1, 2, 8])
    np.testing.assert_array_equal(read(write(tmp_path, "g,-2h,0h,.5h\na,1,2,3\n")).grid, [-2, 0, 0.5])


def test_numbers_that_are_no_times_are_no_values_and_it_is_said(tmp_path):
    with pytest.warns(tl.DataWarning, match="no times are no values: 'length'"):
        courses = read(write(tmp_path, "gene,length,0,1\na,1200,1,2\n"))
    np.testing.assert_array_equal(courses.grid, [0, 1])


def test_a_column_of_row_numbers_without_a_name_is_not_the_name(tmp_path):
    assert read(write(tmp_path, ",gene,0,1\n0,a,1,2\n1,b,3,4\n")).names == ("a", "b")
    assert read(write(tmp_path, ",phase,0,1\na,M,1,2\nb,S,3,4\n")).names == ("a", "b")


def test_tidy_names_in_any_case(tmp_path):
    assert read(write(tmp_path, "Course,TIME,Value\na,0,1\na,1,2\n")).names == ("a",)


def test_cells_with_line_breaks_and_other_ends_of_lines(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b'gene,note,0,1\r\na,"two\r\nlines",1,2\r\nb,,x,4\r\n')
    with pytest.raises(tl.InputError, match="line 4, column '0': 'x'"):
        read(path)


def test_a_damaged_gzip(tmp_path):
    data = bytearray(gzip.compress(b"gene,0,1\na,1,2\n" * 99))
    data[20:30] = b"\x00" * 10
    (tmp_path / "t.csv.gz").write_bytes(bytes(data))
    with pytest.raises(tl.InputError, match="cannot read"):
        read(tmp_path / "t.csv.gz")


def test_errors_survive_the_round_trip(tmp_path):
    courses, _ = tl.simulate.uneven_errors(per_group=2)
    courses.to_frame().to_csv(tmp_path / "t.csv", index=False)
    again = read(tmp_path / "t.csv")
    np.testing.assert_allclose(again.errors, courses.errors)
    np.testing.assert_allclose(again.values, courses.values)


@pytest.mark.parametrize("unit", ["days", "h", None])
def test_the_unit_stands_at_the_times_and_not_at_the_sizes(tmp_path, unit):
    """10 to 30 values a course contain the text "0 to 3", which is the span of the times."""
    rng = np.random.default_rng(0)
    spans = {"a": 10, "b": 30, "c": 20}
    rows = [f"{n},{t:.4f},1" for n, size in spans.items() for t in [0, 3, *rng.uniform(0, 3, size - 2)]]
    found = understand(write(tmp_path, "\n".join([f"gene,time {unit or ''},value", *rows])))
    shown = f"0 to 3 {unit}" if unit else "0 to 3"
    assert found.summary() == f"3 courses, own times (10 to 30 each, {shown})"


WIDE = "gene,0h,6h,12h\na,1,2,3\nb,2,3,4\n"


@pytest.mark.parametrize(
    ("text", "options", "told"),
    [
        (WIDE, {}, "nothing was left out"),
        ("gene,0h,6h,12h\na,1,,3\nb,2,,4\n", {}, "left out 1 sample without any value"),
        ("time,a,b\n0,1,2\n1,,\n2,1,3\n", {}, "left out 1 sample without any value"),
        (
            "gene,wt_0h,wt_6h,mut_0h\na,1,2,3\n",
            {"header": "{condition}_{time}h", "condition": "wt"},
            "left out 1 sample of other conditions",
        ),
        ("course,time,value\na,0,1\na,1,2\nb,0,3\nb,1,\n", {}, "left out 1 row without a value"),
        (
            "course,time,value,condition\na,0,1,x\na,1,2,x\na,0,3,y\na,1,4,y\n",
            {"condition": "x"},
            "left out 2 rows of other conditions",
        ),
        (
            "gene,0h,6h\na,10,20\nz,0,0\n__no_feature,3,4\n",
            {"counts": True},
            "set apart 1 row of reads without a gene: __no_feature; left out 1 gene without any count: z",
        ),
    ],
)
def test_nothing_was_left_out_is_said_only_where_it_is_true(tmp_path, text, options, told):
    path = tmp_path / "table.csv"
    path.write_text(text, encoding="utf-8")
    found = understand(path, **options)
    assert found.lines()[2] == told
    assert (found.left_out == ()) == (told == "nothing was left out")


def test_columns_of_a_sample_sheet_without_a_part_are_named(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("gene,s1,s2\na,1,2\n", encoding="utf-8")
    sheet = pd.DataFrame({"sample": ["s1", "s2"], "hours": [0, 1], "replicate": [1, 1], "room": ["x", "x"]})
    assert understand(path, samples=sheet).lines()[2] == "1 column played no part (room of the sample sheet)"
