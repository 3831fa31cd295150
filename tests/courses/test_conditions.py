import pytest
from numpy.testing import assert_array_equal

from timelike import TimeCourses, read
from timelike.courses.conditions import joined, told_apart
from timelike.exceptions import InputError
from timelike.runs.recipe import Recipe

NAMES = ["a | wt", "b | mut", "a | mut", "odd | name | wt"]


@pytest.fixture
def courses():
    return TimeCourses.from_arrays([0, 1], [[1, 2], [3, 4], [5, 6], [7, 8]], names=NAMES)


def test_each_condition_has_its_courses_by_their_plain_names(courses):
    found = courses.by_condition()
    assert {condition: part.names for condition, part in found.items()} == {
        "wt": ("a", "odd | name"),
        "mut": ("b", "a"),
    }
    assert list(found) == ["wt", "mut"]
    assert_array_equal(found["wt"]["odd | name"].values, [7, 8])
    assert_array_equal(found["mut"]["a"].values, [5, 6])


def test_conditions_and_plain_names_stand_in_the_order_of_the_courses(courses):
    assert courses.conditions == ("wt", "mut", "mut", "wt")
    assert courses.plain_names == ("a", "b", "a", "odd | name")
    assert tuple(map(joined, courses.plain_names, courses.conditions)) == courses.names


@pytest.mark.parametrize(
    "names", [["a", "b"], ["a | wt", "b"], ["a | wt", "b | wt"], [" | wt", "b | mut"], ["a | ", "b | c"]]
)
def test_names_without_two_conditions_tell_none(names):
    courses = TimeCourses.from_arrays([0, 1], [[1, 2], [3, 4]], names=names)
    assert told_apart(names) is None
    assert courses.conditions is None
    assert courses.plain_names == tuple(names)
    with pytest.raises(
        InputError, match=r"nothing tells the conditions.*called '.*'\. Expected names like 'Samd14 \| wt'"
    ):
        courses.by_condition()


def test_own_times_and_errors_go_along():
    times, values, errors = [[0, 1], [2, 3, 4]], [[1, 2], [3, 4, 5]], [[0.1, 0.2], [0.3, 0.4, 0.5]]
    found = TimeCourses.from_arrays(times, values, ["a | x", "a | y"], errors).by_condition()["y"]
    assert_array_equal(found.times, [2, 3, 4])
    assert_array_equal(found.errors, [0.3, 0.4, 0.5])


@pytest.mark.parametrize(
    "text",
    [
        "gene,wt_0h,wt_1h,mut_0h,mut_1h\na,1,2,3,4\nb,5,6,7,8\n",
        "gene,time,value,condition\na,0,1,wt\na,1,2,wt\na,0,3,mut\na,1,4,mut\nb,0,5,wt\nb,1,6,wt\nb,0,7,mut\nb,1,8,mut\n",
    ],
    ids=["wide", "tidy"],
)
def test_what_reading_joins_is_told_apart_again(text, tmp_path):
    path = tmp_path / "genes.csv"
    path.write_text(text)
    found = read(path, header="{condition}_{time}h" if "wt_0h" in text else None).by_condition()
    assert {condition: part.names for condition, part in found.items()} == {"wt": ("a", "b"), "mut": ("a", "b")}
    assert_array_equal(found["mut"]["b"].values, [7, 8])


# -- selection by name ---------------------------------------------------------------------------------------------

SWINGS = {"a | wt": 0, "b | wt": 6, "c | wt": 3, "a | mut": 9, "b | mut": 6, "d | mut": 4}


def test_the_most_variable_names_come_with_all_their_conditions():
    courses = TimeCourses.from_arrays([0, 1], [[0, swing] for swing in SWINGS.values()], list(SWINGS))
    assert courses.most_variable(1).names == ("a | wt", "a | mut")
    assert courses.most_variable(2).names == ("a | wt", "b | wt", "a | mut", "b | mut")
    assert courses.most_variable(3).names == ("a | wt", "b | wt", "a | mut", "b | mut", "d | mut")
    assert courses.most_variable(4).names == courses.names
    with pytest.raises(InputError, match=r"most_variable\(5\): there are 4 names under 2 conditions to choose from"):
        courses.most_variable(5)


def test_the_recipe_selects_by_name():
    courses = TimeCourses.from_arrays([0, 1], [[0, swing] for swing in SWINGS.values()], list(SWINGS))
    assert Recipe(most_variable=1, scale="center").prepared(courses).names == ("a | wt", "a | mut")
