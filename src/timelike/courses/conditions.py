"""Names of courses that were measured under several conditions: "gene | condition"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from timelike.base.arrays import Ints
from timelike.exceptions import InputError

SEPARATOR = " | "
"""Stands between the name and the condition; what follows the last one is the condition."""


class Told(NamedTuple):
    """Names without their condition, and the conditions, one for each course."""

    names: tuple[str, ...]
    conditions: tuple[str, ...]


class Crossed(NamedTuple):
    """Names and conditions, each once, as they first appear; and `place` (names, conditions), -1 where not measured."""

    names: tuple[str, ...]
    conditions: tuple[str, ...]
    place: Ints


def joined(name: str, condition: str) -> str:
    """The name of the course of `name` under a condition.

    Examples
    --------
    >>> joined("Samd14", "mut")
    'Samd14 | mut'
    """
    return f"{name}{SEPARATOR}{condition}"


def none_told(name: str) -> InputError:
    """The error about courses without conditions, the first of which is called `name`."""
    return InputError(
        f"nothing tells the conditions of these courses: the first is called {name!r}. Expected names like "
        f"{joined('Samd14', 'wt')!r} with two or more conditions, as timelike.read gives them for headers or a sample "
        "sheet with conditions."
    )


def told_apart(names: Sequence[str]) -> Told | None:
    """The names without their conditions, and the conditions; None unless every name has one, and two differ.

    Examples
    --------
    >>> told_apart(["Vwf | wt", "Vwf | mut"])
    Told(names=('Vwf', 'Vwf'), conditions=('wt', 'mut'))
    >>> told_apart(["Vwf | wt", "C3 | wt"]) is None
    True
    """
    parts = []
    for name in names:
        before, _, condition = name.rpartition(SEPARATOR)
        if not before or not condition:
            return None
        parts.append((before, condition))
    conditions = tuple(condition for _, condition in parts)
    return Told(tuple(before for before, _ in parts), conditions) if len(set(conditions)) > 1 else None


def crossed(told: Told) -> Crossed:
    """Where the course of each name under each condition stands.

    Examples
    --------
    >>> crossed(Told(("Vwf", "C3", "Vwf"), ("wt", "wt", "mut")))
    Crossed(names=('Vwf', 'C3'), conditions=('wt', 'mut'), place=array([[ 0,  2],
           [ 1, -1]]))
    """
    row = {name: i for i, name in enumerate(dict.fromkeys(told.names))}
    column = {condition: i for i, condition in enumerate(dict.fromkeys(told.conditions))}
    place = np.full((len(row), len(column)), -1, dtype=np.intp)
    place[[row[name] for name in told.names], [column[c] for c in told.conditions]] = np.arange(len(told.names))
    return Crossed(tuple(row), tuple(column), place)
