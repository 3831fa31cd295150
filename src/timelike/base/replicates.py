"""Replicates: what courses have at each of their distinct times.

Times ascend within a course, and the values of course i are those from ``starts[i]`` to ``starts[i + 1]``.
"""

from __future__ import annotations

import numpy as np

from timelike.base.arrays import Floats, Ints


def averaged(times: Floats, values: Floats, starts: Ints) -> list[Floats]:
    """For each course its distinct times and the mean of its values at each, (n, 2).

    Examples
    --------
    >>> averaged(np.array([0, 0, 1, 0.0]), np.array([1, 3, 5, 7.0]), np.array([0, 3, 4]))
    [array([[0., 2.], [1., 5.]]), array([[0., 7.]])]
    """
    begins = _begins(times, starts)
    means = np.add.reduceat(values, begins) / np.diff(np.append(begins, len(times)))
    return _by_course(times[begins], means, np.searchsorted(begins, starts))


def totals(times: Floats, values: Floats, starts: Ints) -> list[Floats]:
    """For each course its distinct times and the sum of its values at each, (n, 2)."""
    begins = _begins(times, starts)
    return _by_course(times[begins], np.add.reduceat(values, begins), np.searchsorted(begins, starts))


def _begins(times: Floats, starts: Ints) -> Ints:
    """Where another time, or another course, begins."""
    first = np.concatenate([[True], times[1:] != times[:-1]])
    first[starts[:-1]] = True
    return np.flatnonzero(first)


def _by_course(times: Floats, values: Floats, starts: Ints) -> list[Floats]:
    return np.split(np.column_stack([times, values]), starts[1:-1])
