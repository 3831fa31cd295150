"""Steps that may fail alone: what was computed before them is kept, and what went wrong is said."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from traceback import extract_tb
from typing import TypeVar

from timelike.exceptions import DataWarning, InputError, MissingExtraError, warn

Made = TypeVar("Made")


def attempted(what: str, make: Callable[[], Made], failed: list[str]) -> Made | None:
    """What `make` returns; where it raises anything at all, None, and a warning that there is no `what`.

    The sentence of the warning is added to `failed`.

    Examples
    --------
    >>> import warnings
    >>> failed = []
    >>> with warnings.catch_warnings(action="ignore"):
    ...     attempted("ratio", lambda: 1 / 0, failed) is None
    True
    >>> failed[0][:30]
    'no ratio: ZeroDivisionError in'
    """
    try:
        return make()
    except Exception as problem:  # also what nobody thought of: hours of work must not be lost for want of a picture
        failed.append(f"no {what}: {_told(problem)}")
        warn(failed[-1], DataWarning)
        return None


def _told(problem: Exception) -> str:
    """What a user can do about it; of an error that nobody foresaw also its kind and place."""
    if isinstance(problem, (InputError, MissingExtraError)):
        return str(problem)
    if isinstance(problem, OSError):
        return f"{problem.strerror or problem}."
    if isinstance(problem, MemoryError):
        return (
            "it does not fit into memory. Select courses (most_variable=, --most-variable), or take a larger machine."
        )
    last = extract_tb(problem.__traceback__)[-1]
    place = f"{Path(last.filename).name}, line {last.lineno}"
    return f"{type(problem).__name__} in {place}: {problem}. This is a fault of timelike, please report it."
