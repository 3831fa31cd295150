"""Tidy tables: dates as times, conditions that make courses, columns that contradict."""

import numpy as np
import pandas as pd
import pytest

import timelike as tl
from timelike.reading import understand

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
    assert list(found.details["condition"]) == ["x", "y"]
    with pytest.raises(tl.InputError, match="no column tells conditions within a course"):
        tl.read(label, condition="x")


def test_a_tidy_course_without_values_is_left_out_with_a_word():
    tidy = pd.DataFrame({"course": ["a", "b"], "time": [0, None], "value": [1, None]})
    with pytest.warns(tl.DataWarning, match="left out 1 course without any value: b"):
        assert tl.read(tidy).names == ("a",)


def test_one_column_cannot_be_two_things():
    with pytest.raises(tl.InputError, match="one column has two meanings"):
        tl.read(VISITS, time="value", value="value")
