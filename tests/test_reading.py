import gzip

import numpy as np
import pytest

import timelike as tl
from timelike.reading import Columns, read, unused_columns


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
    named = read(write(tmp_path, "id,day,mmHg,sd\n" + rows), Columns("id", "day", "mmHg", "sd"))
    assert usual.names == named.names == ("p1", "p2")
    assert usual.errors is None
    np.testing.assert_array_equal(named.errors, [1, 1, 2])


def test_columns_that_play_no_part_are_named(tmp_path):
    path = write(tmp_path, "gene,phase,0,1\na,M,1,2\n")
    assert read(path).names == ("a",)
    assert unused_columns(path) == ("phase",)


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
        ('gene,0,1\na,"1,5",2\n', "Write decimals with a point"),
        ("gene,first,second\na,1,2\n", "no times"),
        ("0,1,2\n1,2,3\n", "no column for names"),
        ("gene,0,1\na,1,2\na,3,4\n", "the name 'a' stands for two courses"),
        ("gene,0,1\na,NA,\n", "no course has a value"),
        ("gene\na\n", "one column"),
        ("course,time,value\na,soon,2\n", "line 2, column 'time': 'soon'"),
        ("course,time,value\na,,2\n", "'time' of course 'a' is nan in row 0"),
        ("gene,0,1\na,inf,2\n", "course 'a' is inf at time 0"),
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
    path = tmp_path / "picture.csv"
    path.write_bytes(b"\x89PNG\xff\xfe")
    with pytest.raises(tl.InputError, match="not a text table"):
        read(path)
    with pytest.raises(tl.InputError, match="there is no file"):
        read(tmp_path / "absent.csv")
    (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(b"gene,0,1\na,1,2\n" * 99)[:30])
    with pytest.raises(tl.InputError, match="cannot read"):
        read(tmp_path / "cut.csv.gz")


def test_a_tidy_table_without_the_named_column(tmp_path):
    path = write(tmp_path, "id,day,mmHg\np,1,2\n")
    with pytest.raises(tl.InputError, match="has no column 'date'"):
        read(path, Columns("id", "date", "mmHg"))


def test_real_tables(shared_data):
    with pytest.warns(tl.DataWarning, match="left out 8 courses"):
        yeast = read(shared_data / "yeast_alpha" / "alpha.csv")
    assert len(yeast) == 792
    assert yeast.summary() == "792 courses, 18 times (0 to 119), 1.71 % missing"
    growth = read(shared_data / "growth" / "growth.csv")
    assert growth.summary() == "93 courses, 31 times (1 to 18)"
    pressure = read(shared_data / "blood_pressure" / "bp10k.csv.gz", Columns("id", "time", "response"))
    assert len(pressure) == 10_000
    assert len(pressure.values) == 167_277
