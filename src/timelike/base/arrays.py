"""Types of arrays, under the names that signatures use."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]

Array = TypeVar("Array", bound=NDArray[Any])


def readonly(array: Array) -> Array:
    """An array that was just made, from now on without permission to write to it: it is handed out again and again."""
    array.flags.writeable = False
    return array
