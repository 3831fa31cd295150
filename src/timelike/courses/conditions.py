"""Names of courses that were measured under several conditions: "gene | condition"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

SEPARATOR = " | "
"""Stands between the name and the condition; what follows the last one is the condition."""


class Told(NamedTuple):
    """Names without their condition, and the conditions, one for each course."""

    names: tuple[str, ...]
    conditions: tuple[str, ...]


def joined(name: str, condition: str) -> str:
    """The name of the course of `name` under a condition.

    Examples
    --------
    >>> joined("Samd14", "mut")
    'Samd14 | mut'
    """
    return f"{name}{SEPARATOR}{condition}"


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


def places(of: Sequence[str]) -> dict[str, list[int]]:
    """Where each of the words stands, in the order in which they first appear.

    Examples
    --------
    >>> places(["wt", "mut", "wt"])
    {'wt': [0, 2], 'mut': [1]}
    """
    found: dict[str, list[int]] = {}
    for place, word in enumerate(of):
        found.setdefault(word, []).append(place)
    return found
