"""Designs: when, and how exactly, courses were measured, each distinct set of points stored once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from timelike.base.arrays import Floats, Ints, readonly

PEELED = 3
"""So many designs are looked for among all others at once, before these are looked at one by one."""


@dataclass(frozen=True, eq=False)
class Designs:
    """The distinct sets of measuring points, one after the other.

    A design is *when* (and how exactly) a course was measured, without its values. Courses with the same
    design share every matrix of the method, so each is stored, and factored, once.
    """

    points: Floats
    """Coordinates of all designs, in order, (P, d). Time has ``d = 1``; nothing below assumes it."""
    errors: Floats | None
    """Known standard error of the value measured at each point, (P,)."""
    starts: Ints
    """Design ``g`` occupies rows ``starts[g]:starts[g + 1]``, (G + 1,)."""

    def __post_init__(self) -> None:
        self.starts.flags.writeable = False

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(unwritable(state))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, g: int) -> Floats:
        """Points of one design, (n, d)."""
        return self.points[self.starts[g] : self.starts[g + 1]]

    @cached_property
    def sizes(self) -> Ints:
        """Number of points of each design."""
        return readonly(np.diff(self.starts))

    @cached_property
    def variances(self) -> Floats:
        """Known error variance at each point, zero where none was given."""
        return readonly(np.zeros(len(self.points)) if self.errors is None else self.errors**2)


def distinct(designs: Designs) -> tuple[Designs, Ints]:
    """The different ones among `designs`, and for each of `designs` its number among them."""
    rows = designs.points if designs.errors is None else np.column_stack([designs.points, designs.errors])
    rows = np.ascontiguousarray(rows)
    number: dict[bytes, int] = {}
    of, left = np.empty(len(designs), dtype=np.intp), np.arange(len(designs))
    for _ in range(PEELED):
        if len(left):
            like = _like(designs, rows, left)
            of[left[like]] = number.setdefault(_key(designs, rows, left[0]), len(number))
            left = left[~like]
    for i in left:
        of[i] = number.setdefault(_key(designs, rows, i), len(number))
    _, first, of = np.unique(of, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return take_designs(designs, first[order]), np.argsort(order)[of]


def _key(designs: Designs, rows: Floats, i: Any) -> bytes:
    return rows[designs.starts[i] : designs.starts[i + 1]].tobytes()


def _like(designs: Designs, rows: Floats, which: Ints) -> NDArray[np.bool_]:
    """Which of some designs are the first of them, to the bit: compared all at once, as most often nearly all are."""
    size, bits = designs.sizes[which[0]], rows.view(np.uint64)
    result = designs.sizes[which] == size
    places = designs.starts[:-1][which[result]]
    alike = np.ones(len(places), dtype=bool)
    for at in range(size):
        alike &= (bits[places + at] == bits[places[0] + at]).all(axis=1)
    result[result] = alike
    return np.asarray(result)


def distinct_points(points: Floats) -> tuple[Floats, Ints]:
    """The different points, (U, d), and for each point its row among them."""
    if points.shape[1] == 1:  # many times faster than rows
        distinct, row = np.unique(points[:, 0], return_inverse=True)
    else:
        distinct, row = np.unique(points, axis=0, return_inverse=True)
    return distinct.reshape(len(distinct), points.shape[1]), row.ravel().astype(np.intp)


def take_designs(designs: Designs, which: Ints) -> Designs:
    """The designs with the given numbers, in that order."""
    rows = ranges(designs.starts[:-1][which], designs.sizes[which])
    errors = None if designs.errors is None else frozen(designs.errors[rows])
    return Designs(frozen(designs.points[rows]), errors, offsets(designs.sizes[which]))


def offsets(sizes: NDArray[Any]) -> Ints:
    """Where each of several runs of the given sizes starts, and where the last ends."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)


def ranges(starts: Ints, sizes: Ints) -> Ints:
    """The numbers starts[k], ..., starts[k] + sizes[k] - 1, for each k in turn."""
    before = np.cumsum(sizes) - sizes
    return np.repeat(starts - before, sizes) + np.arange(int(sizes.sum()))


def unwritable(state: dict[str, Any]) -> dict[str, Any]:
    """The attributes of an object, of whose arrays none can be written: copies and pickles forget that."""
    for value in state.values():
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
    return state


def frozen(array: Floats) -> Floats:
    """The array, without permission to write to it."""
    result = np.ascontiguousarray(array, dtype=float).view()
    result.flags.writeable = False
    return result
