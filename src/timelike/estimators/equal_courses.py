"""equal_courses: which courses are the same course, equal in all times and values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from timelike.base.arrays import Ints

if TYPE_CHECKING:
    from timelike.courses import TimeCourses


class Equal(NamedTuple):
    """Numbers that are the same for equal courses."""

    new: Ints  # (N,), -1 where no known course is equal
    known: Ints  # (M,)
    first: Ints  # (N,), position of the first known course that is equal, or -1


def equal_courses(courses: TimeCourses, known: TimeCourses) -> Equal:
    """Which courses are equal to which known ones.

    Examples
    --------
    >>> from timelike import TimeCourses
    >>> known = TimeCourses.from_arrays([0, 1], [[1, 2], [3, 4], [1, 2]])
    >>> equal_courses(TimeCourses.from_arrays([0, 1], [[3, 4], [1, 1], [1, 2]]), known).first
    array([ 1, -1,  0])
    """
    number: dict[bytes, int] = {}
    of_known = np.array([number.setdefault(key, len(number)) for key in _keys(known)])
    of_new = np.array([number.get(key, -1) for key in _keys(courses)])
    appears = np.unique(of_known, return_index=True)[1]
    return Equal(of_new, of_known, np.where(of_new >= 0, appears[of_new], -1))


def _keys(courses: TimeCourses) -> Iterator[bytes]:
    """For each course, its times and values as bytes."""
    measured = np.column_stack([courses.points, courses.values + 0.0])  # turns -0.0 into 0.0
    for start, stop in zip(courses.starts[:-1], courses.starts[1:], strict=True):
        yield measured[start:stop].tobytes()
