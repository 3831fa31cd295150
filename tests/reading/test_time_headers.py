"""What headers say about time and replicate; options that decide where they can be read in two ways."""

import numpy as np
import pandas as pd
import pytest

import timelike as tl
from timelike.reading import time_headers, understand

FORMS = {
    "0 12 24": ([0, 12, 24], None),
    "0h 12h 24h": ([0, 12, 24], "h"),
    "0.5hr 1.5hr": ([0.5, 1.5], "h"),
    "T0 T12": ([0, 12], None),
    "alpha0 alpha7 alpha49": ([0, 7, 49], None),
    "X0 X2.5": ([0, 2.5], None),
    "12.5|min 20|min": ([12.5, 20], "min"),
    "day|3|rep|2 day|3|rep|1 day|5|rep|1": ([3, 3, 5], "days"),
    "day3_rep2 day3_rep1 day5_rep1": ([3, 3, 5], "days"),
    "D3-R1 D3-R2 D5-R1": ([3, 3, 5], "days"),
    "0h_1 0h_2 2h_1 2h_2": ([0, 0, 2, 2], "h"),
    "0h_0 0h_1 2h_0 2h_1": ([0, 0, 2, 2], "h"),
    "rep1_0h rep2_0h rep1_2h": ([0, 0, 2], "h"),
    "1_0h 2_0h 1_4h 2_4h": ([0, 0, 4, 4], "h"),
    "0h_a 0h_b 2h_a 2h_b": ([0, 0, 2, 2], "h"),
    "0h-A 0h-B 2h-A": ([0, 0, 2], "h"),
    "0A 0B 2A 2B": ([0, 0, 2, 2], None),
    "0h_repA 0h_repB 1h_repA": ([0, 0, 1], "h"),
    "0_1 0_2 2_1 2_2": ([0, 0, 2, 2], None),
    "0_1 0_2 1_1 1_2": ([0, 0, 1, 1], None),
    "T1R1 T1R2 T2R1 T2R2": ([1, 1, 2, 2], None),
    "0h 0h.1 2h 2h.1 2h.2": ([0, 0, 2, 2, 2], "h"),
    "0.5 0.5.1 1.5 1.5.1": ([0.5, 0.5, 1.5, 1.5], None),
    "exp1_0h exp1_6h": ([0, 6], "h"),
    "0h_1 2h_1 4h_1": ([0, 2, 4], "h"),
    "day0_rep1 day0_rep2": ([0, 0], "days"),
    "-5h 0h 5h": ([-5, 0, 5], "h"),
    "t-5 t0 t5": ([-5, 0, 5], None),
    "\u22125h \u22123h \u22121h": ([-5, -3, -1], "h"),
    "t\u22125 t0 t5": ([-5, 0, 5], None),
    "LPS_1_0h LPS_2_0h LPS_1_2h": ([0, 0, 2], "h"),
    "day-1 day-2 day-8": ([1, 2, 8], "days"),
    "day|-3 day|0": ([-3, 0], "days"),
    "6hpi 12hpi": ([6, 12], "h"),
    "week|1 week|12": ([1, 12], "weeks"),
    "0min 30min 1h": ([0, 30, 60], "min"),
    "0h 12h 2d": ([0, 12, 48], "h"),
    "1e3h 2e3h": ([1000, 2000], "h"),
    "1e-3s 1E-2s": ([0.001, 0.01], "s"),
    "1e3min_1 1e3min_2 2e3min_1": ([1000, 1000, 2000], "min"),
    "1:30h 2:45h": ([1.5, 2.75], "h"),
    "00:00 06:00 12:00": ([0, 6, 12], None),
    "0:00:00h 0:00:36h": ([0, 0.01], "h"),
    "-0:30h 0:00h 0:30h": ([-0.5, 0, 0.5], "h"),
    "6:00_1 6:00_2 7:30_1 7:30_2": ([6, 6, 7.5, 7.5], None),
    "0d 3d 7d": ([0, 3, 7], "days"),
    "1 1.25 1.5 1.75 2 3": ([1, 1.25, 1.5, 1.75, 2, 3], None),
    "8 8.5 9 9.5 10": ([8, 8.5, 9, 9.5, 10], None),
}


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_headers(form):
    times, unit = FORMS[form]
    found = time_headers.time_columns(["gene", *(cell.replace("|", " ") for cell in form.split())])
    assert found.positions == tuple(range(1, len(times) + 1))
    np.testing.assert_allclose(found.times, times)
    assert found.unit == unit


def file(tmp_path, header, row="a,1,2,3,4"):
    path = tmp_path / "t.csv"
    path.write_text(f"gene,{header}\n{row}\n")
    return path


@pytest.mark.parametrize(
    ("header", "pattern", "times", "unit"),
    [
        ("1_1,1_2,2_1,2_2", "{time}_{replicate}", [1, 1, 2, 2], None),
        ("1_1,1_2,2_1,2_2", "{replicate}_{time}", [1, 1, 2, 2], None),
        ("0,0.1,2,2.1", "{time}", [0, 0.1, 2, 2.1], None),
        ("0,0.1,2,2.1", "{time}.{replicate}", [0, 0, 2, 2], None),
        ("0.1,0.2,4.1,4.2", "{time}.{replicate}", [0, 0, 4, 4], None),
        ("S1,S2,S3,S4", "S{time}", [1, 2, 3, 4], None),
        ("t\u22125,t\u22121,t0,t2", "t{time}", [-5, -1, 0, 2], None),
        ("x 0h #7,y 0h #8,z 2h #9,w 2h #1", "{any} {time}h #{replicate}", [0, 0, 2, 2], "h"),
        ("day 1 a,day 2 b,day 4 c,day 8 d", "day {time} {any}", [1, 2, 4, 8], "days"),
    ],
)
def test_a_pattern_decides(tmp_path, header, pattern, times, unit):
    found = understand(file(tmp_path, header), header=pattern)
    np.testing.assert_array_equal(found.courses.times, times)
    assert found.time_unit == unit


def test_replicates_of_the_pattern_are_values_in_their_order(tmp_path):
    path = file(tmp_path, "1_1,1_2,2_1,2_2")
    np.testing.assert_array_equal(tl.read(path, header="{time}_{replicate}").values, [1, 2, 3, 4])
    np.testing.assert_array_equal(tl.read(path, header="{replicate}_{time}").values, [1, 3, 2, 4])


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("{time}h", "no header has the form '{time}h'. The headers: 'gene', '0', '1', '2', '3'"),
        ("{tme}", "has {tme}: expected some of {time}, {replicate}, {condition}, {any}"),
        ("{replicate}", "must have {time} once"),
        ("{time}{time}", "must have {time} once"),
    ],
)
def test_patterns_that_do_not_fit(tmp_path, pattern, message):
    with pytest.raises(tl.InputError) as caught:
        tl.read(file(tmp_path, "0,1,2,3"), header=pattern)
    assert message in str(caught.value)


def test_conditions_of_the_header(tmp_path):
    path = file(tmp_path, "wt_0h,wt_2h,ko_0h,ko_6h")
    both = tl.read(path, header="{condition}_{time}h")
    assert both.names == ("a | wt", "a | ko")
    np.testing.assert_array_equal(both["a | ko"].times, [0, 6])
    np.testing.assert_array_equal(both["a | ko"].values, [3, 4])
    one = tl.read(path, header="{condition}_{time}h", condition="ko")
    assert one.names == ("a",)
    np.testing.assert_array_equal(one.values, [3, 4])
    with pytest.raises(tl.InputError, match="there is no condition 'mut': the conditions are 'wt', 'ko'"):
        tl.read(path, header="{condition}_{time}h", condition="mut")


def test_times_that_the_user_gives(tmp_path):
    indexed = file(tmp_path, "T1R1,T1R2,T2R1,T2R2")
    np.testing.assert_array_equal(tl.read(indexed, times=[0, 5]).times, [0, 0, 5, 5])
    np.testing.assert_array_equal(tl.read(indexed, times=[0, 0, 5, 6]).times, [0, 0, 5, 6])
    with pytest.raises(tl.InputError, match="times= has 3 times, but the header has 2 different ones in 4 columns"):
        tl.read(indexed, times=[0, 5, 6])
    np.testing.assert_array_equal(
        tl.read(file(tmp_path, "GSM8,GSM9,GSM10,GSM11"), times=[0, 0, 1, 1]).times, [0, 0, 1, 1]
    )
    alphabetical = file(tmp_path, "T1,T10,T2,T3")
    with pytest.raises(tl.InputError, match="do not stand in the order of their times"):
        tl.read(alphabetical, times=[0, 5, 10, 15])


@pytest.mark.parametrize("form", ["T{}.{}", "{}.{}h", "day{}.{}"])
def test_replicates_after_a_point_are_not_taken_for_times(form):
    cells = [form.format(t, r) for t in (0, 1, 2) for r in (1, 2)]
    table = pd.DataFrame([["a", *range(6)]], columns=["gene", *cells])
    with pytest.raises(tl.InputError, match="number of a replicate after the point"):
        tl.read(table)
    pattern = form.format("{time}", "{replicate}")
    assert tl.read(table, header=pattern).summary().endswith("x 2 replicates")


@pytest.mark.parametrize(("header", "said"), [("0h_1,0h_2,2h_1,2h_2", True), ("0h_r1,0h_r2,2h_r1,2h_r2", False)])
def test_a_number_that_counts_replicates_is_told(tmp_path, header, said):
    how = understand(file(tmp_path, header)).how
    assert ("a number beside the time counts replicates" in how) == said


DATES = "have dates in them. Write them as year-month-day alone, 2024-03-31, and give dates='common' (--dates common)"
COMPOSED = {
    "01.01.2024,15.01.2024": DATES,
    "1/2/2024,1/9/2024": DATES,
    "1.5.24,2.5.24": DATES,
    "day 01-01-2024,day 15-01-2024": DATES,
    "2024-01-02_1,2024-01-02_2,2024-01-09_1": DATES,
    "2024_01_02,2024_01_09": "are dates. Give dates='common' (--dates common)",
    "20240102,20240209": "are dates. Give dates='common' (--dates common)",
    "y2020m1,y2020m2": "it is not clear which number of 'y2020m1', 'y2020m2' is the time. Say what the headers mean",
    "2023-01,2023-02,2024-01,2024-02": "can be years with months, or with replicates. Say what the headers mean",
    "1/2h,1/4h": "two numbers with '/' between them, as in '1/2h', '1/4h', can be one time",
    "10^3s,10^4s": "two numbers with '^' between them, as in '10^3s', '10^4s', can be one time",
    "1h30m,1h45m": "it is not clear which number of '1h30m', '1h45m' is the time.",
    "22:00,23:30,01:00": "are times as on a clock, but in no order. If a midnight lies between them",
}


@pytest.mark.parametrize("header", COMPOSED)
def test_several_numbers_that_are_one_time_are_refused_with_the_way_out(tmp_path, header):
    names = header.split(",")
    path = file(tmp_path, header, ",".join(["a", *map(str, range(len(names)))]))
    with pytest.raises(tl.InputError) as caught:
        tl.read(path)
    assert COMPOSED[header] in str(caught.value)
    times = np.arange(len(names)) * 7.0
    np.testing.assert_array_equal(tl.read(path, times=times).times, times)


@pytest.mark.parametrize("header", ["2024-01-31,2024-02-07", "2024_01_31,2024_2_7", "20240131,20240207"])
def test_dates_with_the_year_first_are_dates(tmp_path, header):
    np.testing.assert_array_equal(tl.read(file(tmp_path, header, "a,1,2"), dates="common").times, [0, 7])


def test_dates_without_marks_in_a_tidy_table(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("patient,date,value\np,20240131,1\np,20240201,2\n")
    with pytest.raises(tl.InputError, match=r"the times are dates. Give dates='own'"):
        tl.read(path)
    np.testing.assert_array_equal(tl.read(path, dates="own").times, [0, 1])


def test_a_header_of_numbers_like_dates_by_pattern(tmp_path):
    path = file(tmp_path, "20240131,20240207", "a,1,2")
    np.testing.assert_array_equal(tl.read(path, header="{time}").times, [20240131, 20240207])


def test_a_clock_in_a_pattern(tmp_path):
    found = understand(file(tmp_path, "wt_1:30h,ko_1:30h", "a,1,2"), header="{condition}_{time}h")
    np.testing.assert_array_equal(found.courses.times, [1.5, 1.5])
