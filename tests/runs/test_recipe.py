"""Choices: what they may be, what becomes of them, and that each is named in one place alone."""

from dataclasses import fields
from typing import get_type_hints

import numpy as np
import pytest

import timelike as tl
from timelike.clusters.methods import METHODS
from timelike.exceptions import InputError
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
        ({"spread": "wide"}, "spread is 'wide': expected a number, zero or more"),
        ({"spread": float("nan")}, "spread is nan: expected a number"),
        ({"spread": True}, "spread is True: expected a number"),
        ({"method": "leiden", "spread": 0}, "leiden has no spread: leave it out, or use mixture or evidence"),
        ({"robust": 1}, "robust is 1: expected True or False"),
        ({"refine": "auto"}, "refine is 'auto': expected True or False"),
        ({"noise": "own"}, "noise is 'own': choose from auto, common"),
        ({"colour": "red"}, "there is no choice 'colour': expected most_variable, scale"),
    ],
)
def test_choices_are_checked(choices, message):
    with pytest.raises(InputError, match=message):
        Recipe.of(**choices)
