"""Partitions: every way in which some conditions can be alike and others not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from timelike.base.arrays import Floats

Partition = tuple[int, ...]
"""For each condition the number of its group; groups are numbered as they appear."""


def partitions(count: int) -> list[Partition]:
    """All partitions of so many conditions, "all alike" first, "all different" last.

    Examples
    --------
    >>> partitions(3)
    [(0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 1), (0, 1, 2)]
    """
    return sorted(_grown((0,), count), key=lambda groups: (max(groups), groups))


def _grown(start: Partition, count: int) -> Iterator[Partition]:
    if len(start) == count:
        yield start
        return
    for group in range(max(start) + 2):
        yield from _grown((*start, group), count)


def in_words(partition: Partition, conditions: Sequence[str]) -> str:
    """The partition with the names of its conditions.

    Examples
    --------
    >>> in_words((0, 0, 1), ["drug A", "drug B", "control"])
    'drug A = drug B | control'
    """
    groups = [
        [c for c, g in zip(conditions, partition, strict=True) if g == group] for group in range(max(partition) + 1)
    ]
    return " | ".join(" = ".join(group) for group in groups)


def contrast_of(partition: Partition) -> Floats:
    """Weights (C, B - 1) of independent effects, so that two groups differ by an effect of variance 1 wherever they do.

    Groups deviate from what all share; their deviations sum to zero.

    Examples
    --------
    >>> contrast_of((0, 1))
    array([[-0.5],
           [ 0.5]])
    """
    count = max(partition) + 1
    centred = np.eye(count) - 1 / count
    value, axes = np.linalg.eigh(centred)
    columns = axes[:, value > 0.5] / np.sqrt(2)
    signs = np.where(columns[-1] < 0, -1, 1)
    return np.asarray((columns * signs)[list(partition)])
