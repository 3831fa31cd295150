"""Stretches of time that nothing was measured between are one."""

from __future__ import annotations

from collections.abc import Sequence

from timelike.base.arrays import Floats

Stretch = tuple[float, float, int]
"""From, to, and the sign of what is so in between."""


def bridged(stretches: Sequence[Stretch], measured: Floats) -> list[Stretch]:
    """The stretches, those of one sign joined where no measured time lies between them.

    A band is wide between measured times, and may reach zero there, though it does so at none of them.

    Examples
    --------
    >>> import numpy as np
    >>> bridged([(3.7, 4.6, 1), (7.2, 9.0, 1), (11.0, 12.0, -1)], np.array([0.0, 4.0, 8.0, 12.0]))
    [(3.7, 9.0, 1), (11.0, 12.0, -1)]
    >>> bridged([(3.7, 4.6, 1), (11.0, 12.0, 1)], np.array([0.0, 4.0, 8.0, 12.0]))
    [(3.7, 4.6, 1), (11.0, 12.0, 1)]
    """
    found: list[Stretch] = []
    for start, end, sign in stretches:
        before = found[-1] if found else None
        if before and before[2] == sign and not ((measured > before[1]) & (measured < start)).any():
            found[-1] = (before[0], end, sign)
        else:
            found.append((start, end, sign))
    return found
