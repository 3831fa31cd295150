import copy
import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from timelike import TimeCourses
from timelike.exceptions import InputError

NAN = float("nan")


@pytest.fixture
def shared():
    return TimeCourses.from_arrays([2, 0, 1], [[3, 1, 2], [6, 4, 5], [9, 7, 8]], names=["a", "b", "c"])


@pytest.fixture
def gappy():
    return TimeCourses.from_arrays([0, 0, 1, 3], [[1, 2, 3, 4], [5, NAN, 6, 7], [NAN, 8, 9, 10]], names=list("abc"))


@pytest.fixture
def ragged():
    return TimeCourses.from_arrays([[0, 2], [1], [5, 3, 3]], [[1, 2], [3], [6, 4, 5]], names=["x", "y", "z"])


def contents(courses):
    return {c.names[0]: (c.times.tolist(), c.values.tolist()) for c in courses}


# -- shared grids ------------------------------------------------------------------------------------------


def test_a_shared_grid_is_sorted_along_with_its_values(shared):
    assert_array_equal(shared.grid, [0.0, 1.0, 2.0])
    assert_array_equal(shared.values, np.arange(1.0, 10.0))
    assert len(shared) == 3
    assert len(shared.designs) == 1
    assert_array_equal(shared.sizes, [3, 3, 3])
    assert_array_equal(shared.starts, [0, 3, 6, 9])


def test_one_row_of_values_is_one_course():
    one = TimeCourses.from_arrays([0, 1], [5, 6])
    assert one.names == ("0",)
    assert_array_equal(one.values, [5.0, 6.0])


def test_half_a_character_in_a_name_is_refused():
    with pytest.raises(InputError, match=r"'b\\ud800' \(position 1\) has half a character"):
        TimeCourses.from_arrays([0, 1], np.ones((2, 2)), names=["a", "b\ud800"])


def test_names_are_numbers_unless_given():
    assert TimeCourses.from_arrays([0], [[1], [2]]).names == ("0", "1")
    assert TimeCourses.from_arrays([0], [[1], [2]], names=[7, "seven"]).names == ("7", "seven")
    assert TimeCourses.from_arrays([0], [[1], [2]], names=(c for c in "pq")).names == ("p", "q")


def test_missing_values_are_left_out_and_equal_patterns_share_a_design():
    courses = TimeCourses.from_arrays([0, 1, 2], [[1, NAN, 3], [4, NAN, 6], [7, 8, NAN]], names=list("abc"))
    assert contents(courses) == {"a": ([0, 2], [1, 3]), "b": ([0, 2], [4, 6]), "c": ([0, 1], [7, 8])}
    assert len(courses.designs) == 2
    assert courses.design_of[0] == courses.design_of[1] != courses.design_of[2]
    assert courses.grid is None


def test_a_grid_whose_columns_are_all_missing_shrinks():
    courses = TimeCourses.from_arrays([0, 1, 2], [[1, NAN, 3], [4, NAN, 6]])
    assert_array_equal(courses.grid, [0.0, 2.0])


def test_repeated_times_are_replicates(gappy):
    assert contents(gappy)["a"] == ([0, 0, 1, 3], [1, 2, 3, 4])
    assert contents(gappy)["b"] == ([0, 1, 3], [5, 6, 7])
    assert contents(gappy)["c"] == ([0, 1, 3], [8, 9, 10])
    assert_array_equal(gappy[["b", "c"]].grid, [0.0, 1.0, 3.0])


def test_masked_values_are_missing_values():
    masked = np.ma.array([[1.0, 99.0], [3.0, 4.0]], mask=[[False, True], [False, False]])
    assert contents(TimeCourses.from_arrays([0, 1], masked)) == {"0": ([0], [1]), "1": ([0, 1], [3, 4])}


def test_minus_zero_and_zero_are_the_same_time():
    courses = TimeCourses.from_arrays([[0.0, 1.0], [-0.0, 1.0]], [[1, 2], [3, 4]])
    assert len(courses.designs) == 1


def test_points_may_have_two_coordinates():
    places = np.array([[1.0, 0.0], [0.0, 5.0], [0.0, 2.0]])
    courses = TimeCourses.from_arrays(places, [[1, 2, 3], [4, 5, NAN]])
    assert_array_equal(courses[0].points, [[0.0, 2.0], [0.0, 5.0], [1.0, 0.0]])
    assert_array_equal(courses[0].values, [3.0, 2.0, 1.0])
    assert_array_equal(courses[1].times, [[0.0, 5.0], [1.0, 0.0]])
    assert_array_equal(courses[0].grid, courses[0].points)


def test_pandas_and_numpy_inputs_give_the_same_courses(shared):
    frame = pd.DataFrame([[3, 1, 2], [6, 4, 5], [9, 7, 8]])
    again = TimeCourses.from_arrays(pd.Series([2, 0, 1]), frame, names=pd.Index(["a", "b", "c"]))
    assert contents(again) == contents(shared)


# -- own times ---------------------------------------------------------------------------------------------


def test_own_times_are_sorted_within_each_course(ragged):
    assert contents(ragged) == {"x": ([0, 2], [1, 2]), "y": ([1], [3]), "z": ([3, 3, 5], [4, 5, 6])}
    assert ragged.grid is None
    assert_array_equal(ragged.sizes, [2, 1, 3])


def test_ragged_arrays_with_equal_times_become_one_grid():
    courses = TimeCourses.from_arrays([[1, 0], [0, 1]], [[20, 10], [30, 40]])
    assert_array_equal(courses.grid, [0.0, 1.0])
    assert_array_equal(courses.values, [10.0, 20.0, 30.0, 40.0])


def test_ragged_nan_is_left_out():
    courses = TimeCourses.from_arrays([[0, 1, 2], [0, 1]], [[1, NAN, 3], [4, 5]])
    assert contents(courses) == {"0": ([0, 2], [1, 3]), "1": ([0, 1], [4, 5])}


# -- errors -----------------------------------------------------------------------------------------------


def test_errors_travel_with_their_values():
    courses = TimeCourses.from_arrays([2, 0, 1], [[3, 1, NAN], [6, 4, 5]], errors=[[0.3, 0.1, NAN], [0.6, 0.4, 0.5]])
    assert_array_equal(courses.values, [1, 3, 4, 5, 6])
    assert_array_equal(courses.errors, [0.1, 0.3, 0.4, 0.5, 0.6])
    assert_array_equal(courses[1].errors, [0.4, 0.5, 0.6])


@pytest.mark.parametrize("errors", [[0.3, 0.1, 0.2], [[0.3, 0.1, 0.2], [0.3, 0.1, 0.2]]])
def test_one_row_of_errors_serves_all_courses(errors):
    courses = TimeCourses.from_arrays([2, 0, 1], [[3, 1, 2], [6, 4, 5]], errors=errors)
    assert_array_equal(courses.errors, [0.1, 0.2, 0.3, 0.1, 0.2, 0.3])
    assert len(courses.designs) == 1


def test_ragged_errors():
    courses = TimeCourses.from_arrays([[1, 0], [5]], [[20, 10], [30]], errors=[[0.2, 0.1], [0.3]])
    assert_array_equal(courses.errors, [0.1, 0.2, 0.3])


def test_same_times_with_other_errors_are_another_design():
    courses = TimeCourses.from_arrays([0, 1], [[1, 2], [3, 4]], errors=[[0.1, 0.1], [0.1, 0.2]])
    assert len(courses.designs) == 2
    assert_array_equal(courses.grid, [0.0, 1.0])


def test_no_errors_is_none(shared):
    assert shared.errors is None
    assert_array_equal(shared.designs.variances, np.zeros(3))


# -- tidy tables -------------------------------------------------------------------------------------------


def test_from_long_keeps_the_order_of_first_appearance():
    frame = pd.DataFrame(
        {"gene": ["q", "p", "q", "p", "p"], "h": [2, 1, 0, 0, 1], "level": [3, 5, 1, 4, NAN]}, index=[9, 9, 3, 1, 0]
    )
    courses = TimeCourses.from_long(frame, course="gene", time="h", value="level")
    assert contents(courses) == {"q": ([0, 2], [1, 3]), "p": ([0, 1], [4, 5])}
    assert courses.names == ("q", "p")


def test_from_long_takes_replicates_errors_text_numbers_and_nullable_columns():
    frame = pd.DataFrame(
        {
            "course": [1, 1, 1, 2],
            "time": ["0", "0.5", "0", "3"],
            "value": pd.array([2, 3, 1, 9], dtype="Int64"),
            "se": [0.2, 0.3, 0.1, 0.9],
        }
    )
    courses = TimeCourses.from_long(frame, error="se")
    assert courses.names == ("1", "2")
    assert_array_equal(courses.times, [0.0, 0.0, 0.5, 3.0])
    assert sorted(zip(courses.values, courses.errors, strict=True)) == [(1, 0.1), (2, 0.2), (3, 0.3), (9, 0.9)]


def test_from_long_ignores_unused_categories():
    frame = pd.DataFrame(
        {"course": pd.Categorical(["b", "b"], categories=["a", "b"]), "time": [0, 1], "value": [1.0, 2.0]}
    )
    assert TimeCourses.from_long(frame).names == ("b",)


# -- choosing ---------------------------------------------------------------------------------------------


def test_selection_by_name_position_slice_mask_and_list(ragged):
    assert ragged["y"].names == ragged[1].names == ragged[-2].names == ragged[np.int64(1)].names == ("y",)
    assert ragged[1:].names == ("y", "z")
    assert ragged[::-1].names == ("z", "y", "x")
    assert ragged[["z", "x"]].names == ragged.select([2, 0]).names == ("z", "x")
    assert ragged.select("y").names == ragged.select(slice(1, 2)).names == ragged[np.array(1)].names == ("y",)
    assert ragged[np.array([True, False, True])].names == ("x", "z")
    assert contents(ragged[["z", "x"]]) == {k: contents(ragged)[k] for k in ("x", "z")}


@pytest.mark.parametrize("which", [1.5, None, object()])
def test_what_is_no_course_is_refused(ragged, which):
    with pytest.raises(InputError, match="neither the name nor the position"):
        ragged.select(which)


def test_iteration_membership_and_index(ragged):
    assert [c.names for c in ragged] == [("x",), ("y",), ("z",)]
    assert "y" in ragged
    assert "Y" not in ragged
    assert 0 not in ragged
    assert ragged.index("z") == 2
    assert ragged.index(-1) == 2


def test_a_selection_drops_unused_designs_and_keeps_errors():
    courses = TimeCourses.from_arrays([[0], [1], [0]], [[1], [2], [3]], errors=[[0.1], [0.2], [0.1]])
    chosen = courses[[2, 0]]
    assert len(chosen.designs) == 1
    assert_array_equal(chosen.values, [3.0, 1.0])
    assert_array_equal(chosen.errors, [0.1, 0.1])


def test_most_variable_keeps_the_order_and_counts_each_course_by_itself():
    courses = TimeCourses.from_arrays(
        [[0, 1], [0, 1, 2], [0], [3, 4]], [[0, 3], [5, 5, 5], [7], [0, 4]], names=list("abcd")
    )
    np.testing.assert_allclose(courses.standard_deviations, [3 / np.sqrt(2), 0, 0, 4 / np.sqrt(2)], rtol=1e-15)
    assert courses.most_variable(2).names == ("a", "d")
    assert courses.most_variable(1).names == ("d",)
    assert courses.most_variable(4).names == courses.names


# -- scaling ----------------------------------------------------------------------------------------------


def test_centered_takes_each_course_to_mean_zero(ragged):
    assert contents(ragged.centered())["z"] == ([3, 3, 5], [-1, 0, 1])
    assert contents(ragged.centered())["y"] == ([1], [0])
    assert contents(ragged.centered(about=2))["z"] == ([3, 3, 5], [1, 2, 3])


def test_centered_keeps_errors():
    courses = TimeCourses.from_arrays([0, 1], [[1, 3]], errors=[[0.1, 0.2]])
    assert_array_equal(courses.centered().errors, [0.1, 0.2])


def test_standardized_scales_values_and_errors_alike():
    courses = TimeCourses.from_arrays([[0, 1, 2], [5, 6]], [[2, 4, 6], [0, 10]], errors=[[0.2, 0.4, 0.6], [1, 2]])
    scaled = courses.standardized()
    np.testing.assert_allclose(scaled[0].values, [-1, 0, 1], rtol=1e-14)
    np.testing.assert_allclose(scaled[0].errors, [0.1, 0.2, 0.3], rtol=1e-14)
    np.testing.assert_allclose(scaled[1].errors, [0.1 * np.sqrt(2), 0.2 * np.sqrt(2)], rtol=1e-14)
    np.testing.assert_allclose(scaled.standard_deviations, [1, 1], rtol=1e-14)


# -- together ---------------------------------------------------------------------------------------------


def test_joined_puts_others_behind_and_merges_equal_designs(shared):
    more = TimeCourses.from_arrays([[0, 1, 2], [4]], [[0, 0, 0], [1]], names=["a", "d"])
    both = shared.joined(more)
    assert both.names == ("a", "b", "c", "a", "d")
    assert_array_equal(both.values, [*range(1, 10), 0, 0, 0, 1])
    assert len(both.designs) == 2
    assert both.design_of.tolist() == [0, 0, 0, 0, 1]
    assert_array_equal(both.values_on(0)[3], [0.0, 0.0, 0.0])


def test_joined_with_errors_on_one_side_takes_zero_for_the_other(shared):
    more = TimeCourses.from_arrays([0, 1, 2], [[1, 1, 1]], errors=[[0.5, 0.5, 0.5]])
    both = shared.joined(more)
    assert_array_equal(both.errors, [0] * 9 + [0.5] * 3)
    assert len(both.designs) == 2


def test_values_on_and_members_partition_the_courses(gappy):
    assert sorted(np.concatenate(gappy.members).tolist()) == [0, 1, 2]
    for g, members in enumerate(gappy.members):
        assert_array_equal(gappy.values_on(g), [gappy[int(i)].values for i in members])


# -- immutable ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("array", ["values", "design_of"])
def test_arrays_cannot_be_written_to(gappy, array):
    with pytest.raises(ValueError, match="read-only"):
        getattr(gappy, array)[0] = 0


@pytest.mark.parametrize("array", ["points", "starts"])
def test_arrays_of_designs_cannot_be_written_to(gappy, array):
    with pytest.raises(ValueError, match="read-only"):
        getattr(gappy.designs, array)[0] = 0


def test_fields_cannot_be_replaced(gappy):
    with pytest.raises(FrozenInstanceError):
        gappy.names = ("p", "q", "r")


def test_later_changes_of_the_input_do_not_show():
    times, values, errors = np.array([0.0, 1.0]), np.array([[1.0, 2.0]]), np.array([[0.1, 0.2]])
    plain, with_errors = TimeCourses.from_arrays(times, values), TimeCourses.from_arrays(times, values, errors=errors)
    times[:], values[:], errors[:] = 9, 9, 9
    for courses in (plain, with_errors):
        assert contents(courses) == {"0": ([0, 1], [1, 2])}
    assert_array_equal(with_errors.errors, [0.1, 0.2])


def test_what_courses_hand_out_is_not_a_way_in(shared):
    shared.grid[0] = 99
    shared.times[0] = 99
    assert_array_equal(shared.grid, [0.0, 1.0, 2.0])


# -- words --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("times", "values", "words"),
    [
        ([0, 1], [[1, 2]], "1 course, 2 times (0 to 1)"),
        ([0, 1, 4], np.ones((1200, 3)), "1,200 courses, 3 times (0 to 4)"),
        ([0, 0, 1, 1], [[1, 2, 3, 4]], "1 course, 2 times (0 to 1) x 2 replicates"),
        ([0, 0, 1], [[1, 2, 3]], "1 course, 2 times (0 to 1), some replicated"),
        ([0, 1], [[1, 2], [1, NAN]], "2 courses, 2 times (0 to 1), 25 % missing"),
        ([[0, 1], [2.5, 3, 7]], [[1, 2], [3, 4, 5]], "2 courses, own times (2 to 3 each, 0 to 7)"),
        ([[0], [0.1], [0.2], [0.3]], [[1], [2], [3], [4]], "4 courses, own times (1 each, 0 to 0.3)"),
    ],
)
def test_summary_in_words(times, values, words):
    courses = TimeCourses.from_arrays(times, values)
    assert courses.summary() == words
    assert repr(courses) == f"TimeCourses: {words}"


# -- there and back -----------------------------------------------------------------------------------------


@given(data=st.data())
def test_tidy_tables_and_matrices_round_trip(data):
    count = data.draw(st.integers(1, 5))
    sizes = data.draw(st.lists(st.integers(1, 4), min_size=count, max_size=count))
    number = st.floats(-1e6, 1e6)
    times = [data.draw(st.lists(st.integers(-3, 3), min_size=n, max_size=n)) for n in sizes]
    values = [data.draw(st.lists(number, min_size=n, max_size=n)) for n in sizes]
    courses = TimeCourses.from_arrays(times, values)
    assert contents(TimeCourses.from_long(courses.to_frame())) == contents(courses)
    assert contents(TimeCourses.from_arrays(*courses.to_matrix())) == contents(courses)
    expected = [
        sorted(zip(x, y, strict=True), key=lambda pair: pair[0])  # replicates in the order given
        for x, y in zip(times, values, strict=True)
    ]
    assert [list(zip(c.times, c.values, strict=True)) for c in courses] == expected


def test_errors_round_trip_through_a_table():
    courses = TimeCourses.from_arrays([[0, 1], [2]], [[1, 2], [3]], names=["p", "q"], errors=[[0.1, 0.2], [0.3]])
    frame = courses.to_frame()
    assert list(frame.columns) == ["course", "time", "value", "error"]
    again = TimeCourses.from_long(frame, error="error")
    assert contents(again) == contents(courses)
    assert_array_equal(again.errors, courses.errors)


def test_pickle_and_copy_round_trip(gappy):
    for again in (pickle.loads(pickle.dumps(gappy)), copy.deepcopy(gappy)):  # noqa: S301  # our own bytes
        assert contents(again) == contents(gappy)


def test_several_coordinates_have_no_table_and_no_matrix():
    courses = TimeCourses.from_arrays(np.array([[0.0, 1.0], [1.0, 0.0]]), [[1, 2]])
    with pytest.raises(InputError, match="coordinates"):
        courses.to_frame()
    with pytest.raises(InputError, match="coordinates"):
        courses.to_matrix()


def test_a_table_gives_its_index_as_names():
    import pandas as pd

    frame = pd.DataFrame([[1.0, 2.0], [3.0, 4.0]], index=["Samd14", "Fbln5"])
    assert TimeCourses.from_arrays([0, 1], frame).names == ("Samd14", "Fbln5")
    assert TimeCourses.from_arrays([0, 1], frame.reset_index(drop=True)).names == ("0", "1")


def test_uneven_replicates_are_not_averaged_in_the_summary():
    assert (
        TimeCourses.from_arrays([0, 0, 2, 4, 4, 4], [[1.0] * 6]).summary()
        == "1 course, 3 times (0 to 4), some replicated"
    )


def test_replicates_keep_their_order_through_a_tidy_table():
    courses = TimeCourses.from_arrays([0, 0, 1, 1], [[2.0, 1.0, 4.0, 3.0]])
    np.testing.assert_array_equal(TimeCourses.from_long(courses.to_frame()).values, courses.values)


def test_a_square_of_times_could_mean_two_things():
    with pytest.raises(InputError, match="own times"):
        TimeCourses.from_arrays(np.arange(9.0).reshape(3, 3), np.ones((3, 3)))


def test_points_with_two_coordinates_are_counted_as_points():
    plane = TimeCourses.from_arrays(np.random.default_rng(0).random((12, 2)), np.ones((2, 12)))
    assert "12 times" in plane.summary()


@pytest.mark.parametrize("doubled", ["course", "time", "value"])
def test_a_column_of_a_tidy_table_that_stands_twice(doubled):
    frame = pd.DataFrame([["a", 0, 1, 9]], columns=["course", "time", "value", doubled])
    with pytest.raises(InputError, match=f"the table has several columns '{doubled}'. Rename or remove all but one."):
        TimeCourses.from_long(frame)


def test_nullable_numbers():
    whole = pd.DataFrame({"0h": pd.array([0, None], dtype="Int64"), "1h": pd.array([1, 2], dtype="Int64")})
    for values in (whole, whole.astype("Float64"), whole.to_numpy(dtype=object), [[0, 1], [pd.NA, 2]]):
        np.testing.assert_array_equal(TimeCourses.from_arrays([0, 1], values).values, [0, 1, 2])
    own = TimeCourses.from_arrays([[0, 1]], [pd.array([1, None], dtype="Int64")])
    np.testing.assert_array_equal(own.times, [0])
    with pytest.raises(InputError, match="times must be finite numbers"):
        TimeCourses.from_arrays(pd.array([0, None], dtype="Int64"), [[1, 2]])
    with pytest.raises(InputError, match="times are not numbers"):
        TimeCourses.from_arrays("soon", [[1, 2]])


def test_what_has_no_order_is_no_list_of_names():
    values = [[1, 2], [3, 4]]
    with pytest.raises(InputError, match="names are a set, which has no order: give a list"):
        TimeCourses.from_arrays([0, 1], values, names={"a", "b"})
    courses = TimeCourses.from_arrays([0, 1], values, names=["a", "b"])
    with pytest.raises(InputError, match="the chosen courses are a set, which has no order"):
        courses.select({"a", "b"})
    with pytest.raises(InputError, match="conditions are a set"):
        TimeCourses.from_counts([0, 1], values, conditions={"wt", "ko"})


def test_positions_in_an_array_are_not_looked_up_one_by_one(monkeypatch):
    courses = TimeCourses.from_arrays([0, 1], np.arange(8.0).reshape(4, 2))
    expected = courses.select([3, 0]).values
    monkeypatch.setattr(TimeCourses, "index", None)
    for kind in (np.int64, np.uint8):
        assert_array_equal(courses.select(np.array([3, 0], kind)).values, expected)
    assert_array_equal(courses.select(np.array([-1, -4])).values, expected)


@pytest.mark.parametrize("wrong", [4, -5])
def test_positions_in_an_array_are_checked(wrong):
    courses = TimeCourses.from_arrays([0, 1], np.arange(8.0).reshape(4, 2))
    with pytest.raises(InputError, match=f"no course {wrong}: positions go from 0 to 3"):
        courses.select(np.array([0, wrong]))
