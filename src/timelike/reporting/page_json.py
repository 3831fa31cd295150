"""Arrays and text as JSON that can stand inside a page: small, exact enough, and unable to end its own script."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from timelike.base.arrays import Floats

_WHOLE = ("int8", "uint8", "int16", "uint16", "int32")


def whole(numbers: NDArray[Any]) -> dict[str, str]:
    """Whole numbers in the smallest type that holds them.

    Examples
    --------
    >>> whole(np.array([-1, 0, 3]))
    {'type': 'int8', 'data': '/wAD'}
    """
    numbers = np.asarray(numbers)
    low, high = int(numbers.min(initial=0)), int(numbers.max(initial=0))
    for name in _WHOLE:
        if np.iinfo(name).min <= low and high <= np.iinfo(name).max:
            return _packed(numbers.astype(name))
    raise OverflowError(f"{low} to {high} do not fit into 32 bits.")


def real(numbers: Floats, error: float) -> dict[str, str]:
    """Numbers in single precision where that changes none by more than `error`, otherwise in double.

    Examples
    --------
    >>> real(np.array([0.1]), error=1e-6)["type"], real(np.array([0.1]), error=1e-12)["type"]
    ('float32', 'float64')
    """
    numbers = np.asarray(numbers, dtype=float)
    with np.errstate(over="ignore"):
        single = numbers.astype(np.float32)
    exact = np.isfinite(single).all() and np.abs(single - numbers).max(initial=0) <= error
    return _packed(single if exact else numbers)


def _packed(numbers: NDArray[Any]) -> dict[str, str]:
    little = np.ascontiguousarray(numbers, dtype=numbers.dtype.newbyteorder("<"))
    return {"type": numbers.dtype.name, "data": base64.b64encode(little.tobytes()).decode("ascii")}


def script_json(data: dict[str, Any]) -> str:
    r"""JSON for a script element: no character in it means anything to HTML, and all of it is ASCII.

    Examples
    --------
    >>> script_json({"name": "</script> & \u2028"})
    '{"name":"\\u003c/script\\u003e \\u0026 \\u2028"}'
    """
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
