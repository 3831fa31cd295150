"""Choices: what they may be, what becomes of them, and that each is named in one place alone."""

import json
from dataclasses import fields
from typing import get_type_hints

import numpy as np
import pytest

import timelike as tl
from timelike.clusters.methods import METHODS
from timelike.exceptions import InputError
from timelike.runs.analysis import Analysis
from timelike.runs.recipe import PLAIN, Choices, Recipe


def test_choices_are_the_fields_of_a_recipe():
    """`analyse` takes the one by name and makes the other: mypy sees the first, the program the second."""
    assert get_type_hints(Choices) == get_type_hints(Recipe)
    assert list(Choices.__annotations__) == [field.name for field in fields(Recipe)]
    assert Choices.__required_keys__ == frozenset()


def test_every_type_of_choice_is_checked():
    assert {str(field.type).removesuffix(" | None") for field in fields(Recipe)} == set(PLAIN)


def test_numbers_of_numpy_become_plain():
    made = Recipe(k=np.int64(3), seed=np.uint8(0), spread=np.float32(0.5), robust=np.True_)
    assert [type(value) for value in (made.k, made.seed, made.spread, made.robust)] == [int, int, float, bool]


@pytest.mark.parametrize("name", METHODS)
def test_a_method_runs_with_what_it_takes(name):
    courses, _ = tl.simulate.profiles(per_group=5, seed=3)
    recipe = Recipe(method=name, k=3 if "k" in METHODS[name].takes else None)
    found = recipe.grouped(courses, tl.GP.se(0.2, 1, 0.1))
    assert found.names == courses.names
    assert recipe.k in (None, found.k)


def test_freedoms_become_plain():
    assert Recipe(up_to="delay, level", max_delay=np.float32(2)).up_to == ("level", "delay")
    assert Recipe(up_to=["gain"]).up_to == ("gain",)
    assert Recipe(up_to="auto", max_delay=2).up_to == "auto"
    assert [Recipe(up_to=u).levels for u in ("level", "gain", "auto", ())] == [True, False, False, False]


@pytest.mark.parametrize("name", METHODS)
def test_a_method_finds_courses_alike_up_to_a_level(name):
    courses, truth = tl.simulate.profiles(noise=0.03, per_group=8, seed=3)
    times, values = courses.to_matrix()
    lifted = tl.TimeCourses.from_arrays(times, values + np.random.default_rng(0).normal(size=(len(courses), 1)) * 3)
    recipe = Recipe(method=name, k=3 if "k" in METHODS[name].takes else None, up_to="level")
    assert tl.nmi(recipe.grouped(lifted, tl.GP.se(0.9, 0.65, 0.03)).labels, truth) > 0.6


@pytest.mark.parametrize("name", METHODS)
def test_a_method_says_whether_it_chooses_the_number(name):
    if METHODS[name].chooses_k:
        assert Recipe(method=name).k is None
    else:
        with pytest.raises(InputError, match=f"{name} does not choose .* use mixture or evidence or leiden"):
            Recipe(method=name)


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"scale": "log"}, "there is no scale 'log': choose from none, center, standardize"),
        ({"method": "spectral"}, "spectral does not choose the number of clusters"),
        ({"k": 0}, "k is 0: expected a whole number, at least 1"),
        ({"neighbors": 2.5}, "neighbors is 2.5"),
        ({"neighbors": None}, "neighbors is None"),
        ({"seed": -1}, "seed is -1: expected a whole number, at least 0"),
        ({"kernel": None}, "kernel is None: expected text"),
        ({"method": "magic"}, "there is no method 'magic': choose from mixture, evidence, spectral"),
        ({"method": "leiden", "k": 2}, "leiden finds the number of clusters itself"),
        ({"title": 5}, "title is 5: expected text"),
        ({"spread": -1}, "spread is -1: expected a number, zero or more"),
        ({"tolerance": "wide"}, "tolerance is 'wide': expected a number, zero or more"),
        ({"tolerance": 0.3, "k": 4}, "k is 4 and tolerance 0.3: give one of them"),
        ({"method": "evidence", "tolerance": 1}, "evidence has no tolerance: leave it out, or use mixture"),
        ({"max_k": 0}, "max_k is 0: expected a whole number, at least 1"),
        ({"max_k": 9, "k": 4}, "k is 4 and max_k 9: give one of them"),
        ({"method": "spectral", "k": 3, "max_k": 9}, "spectral tries no numbers of clusters"),
        ({"spread": "wide"}, "spread is 'wide': expected a number, zero or more"),
        ({"spread": float("nan")}, "spread is nan: expected a number"),
        ({"spread": True}, "spread is True: expected a number"),
        ({"method": "leiden", "spread": 0}, "leiden has no spread: leave it out, or use mixture or evidence"),
        ({"robust": 1}, "robust is 1: expected True or False"),
        ({"refine": "auto"}, "refine is 'auto': expected True or False"),
        ({"noise": "own"}, "noise is 'own': choose from auto, common"),
        ({"up_to": "size"}, "up_to has 'size': choose from level, gain, delay"),
        ({"up_to": 5}, "up_to is 5: expected any of level, gain, delay"),
        ({"up_to": None}, "up_to is None: expected any of level, gain, delay"),
        ({"up_to": "delay", "max_delay": "6h"}, "max_delay is '6h': expected a number above zero, in the unit of the"),
        ({"up_to": "delay", "max_delay": 0}, "max_delay is 0: expected a number above zero"),
        ({"up_to": "gain", "max_delay": 2}, "max_delay is 2, but no delays are asked for: add 'delay' to up_to"),
        ({"up_to": "auto", "method": "spectral", "k": 2}, "spectral does not find out which freedoms pay"),
        ({"colour": "red"}, "there is no choice 'colour': expected most_variable, changing, scale"),
    ],
)
def test_choices_are_checked(choices, message):
    with pytest.raises(InputError, match=message):
        Recipe.of(**choices)


def some_that_change(conditions=()):
    """Forty courses, the first eight of which rise; under the second condition the ninth does too."""
    rng = np.random.default_rng(3)
    times = np.repeat([0.0, 2, 4, 8], 3)
    values, names = [], []
    for k, condition in enumerate(conditions or [""]):
        made = rng.normal(size=(40, 12))
        made[: 8 + k] += 2 * times
        values.append(made)
        names += [f"g{i}{f' | {condition}' if condition else ''}" for i in range(40)]
    return tl.TimeCourses.from_arrays(times, np.concatenate(values), names)


def test_only_courses_that_change_are_kept():
    courses = some_that_change()
    recipe = Recipe(changing=0.05)
    chosen = recipe.prepared(courses)
    assert chosen.names == courses.names[:8]
    words = recipe.selection(courses, chosen)
    assert words == "8 of 40 courses, those that change at an expected false discovery rate of 5 %"
    assert Recipe().selection(courses, courses) is None
    assert len(Recipe(changing=0.05, most_variable=3).prepared(courses)) == 3


def test_names_that_change_under_any_condition_keep_all_of_them():
    courses = some_that_change(["wt", "mut"])
    chosen = Recipe(changing=0.05).prepared(courses)
    assert chosen.names == tuple(f"g{i} | {c}" for c in ("wt", "mut") for i in range(9))


@pytest.mark.parametrize("rate", [0, 1, 5, -0.1, "much", True])
def test_a_rate_is_between_0_and_1(rate):
    with pytest.raises(InputError, match=r"changing is .*: expected a number between 0 and 1"):
        Recipe(changing=rate)


def test_the_selection_is_in_record_account_and_methods(tmp_path):
    said = []
    courses = some_that_change()
    tl.analyse(courses, tmp_path / "out", changing=0.05, k=1, say=said.append)
    words = "8 of 40 courses, those that change at an expected false discovery rate of 5 %"
    assert f"selected {words}" in said
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert record["recipe"]["changing"] == 0.05
    assert record["selected"] == words
    assert f"They are {words}." in (tmp_path / "out" / "report.html").read_text()
    assert Analysis.load(tmp_path / "out").record.selected == words
