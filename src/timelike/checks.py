"""Checks of what users pass in, with words: what was found, where, and what to do."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from timelike.arrays import Bools, Floats
from timelike.exceptions import InputError

if TYPE_CHECKING:
    import pandas as pd


def numbers(data: Any, what: str, names: Iterable[object] | None = None) -> Floats:
    """`data` as floats, or an error that shows the first entry that is no number."""
    try:
        return np.array(data, dtype=float)
    except (TypeError, ValueError):
        raise InputError(_not_numbers(data, what, names)) from None


def _not_numbers(data: Any, what: str, names: Iterable[object] | None) -> str:
    try:
        entries = np.array(data, dtype=object)
    except ValueError:
        return f"{what} have rows of different lengths. {_RAGGED_HINT}"
    if entries.ndim == 1 and any(np.ndim(entry) for entry in entries):
        return f"{what} have rows of different lengths. {_RAGGED_HINT}"
    for place in np.ndindex(entries.shape):
        if not _is_number(entries[place]):
            return f"{what}{_where(place, names)} are not numbers: {entries[place]!r}. {_HINT}"
    return f"{what} are not numbers. {_HINT}"


_HINT = "Give numbers; NaN marks a value that was not measured."
_RAGGED_HINT = "For courses with their own times give times as a list of arrays too."


def _where(place: tuple[int, ...], names: Iterable[object] | None) -> str:
    if len(place) < 2:
        return f" (position {place[0]})" if place else ""
    name = str(list(names)[place[0]] if names is not None else place[0])
    return f" of course {name!r} (column {place[1]})"


def _is_number(entry: Any) -> bool:
    try:
        float(entry)
    except (TypeError, ValueError):
        return False
    return True


def as_points(times: Floats) -> Floats:
    """Times as (n, d) coordinates."""
    if times.ndim not in (1, 2) or times.size == 0:
        raise InputError(f"times have shape {times.shape}: expected at least one time, as a 1-d array.")
    points = times if times.ndim == 2 else times[:, None]
    return points + 0.0  # turns -0.0 into 0.0: designs are compared as bytes


def unique_names(names: Iterable[object] | None, count: int) -> tuple[str, ...]:
    """The names as text, or an error that shows the first one that stands twice."""
    if count == 0:
        raise InputError("there are no courses.")
    if names is None:
        return tuple(map(str, range(count)))
    labels = tuple(str(name) for name in names)
    if len(labels) != count:
        raise InputError(f"there are {len(labels)} names for {count} courses.")
    seen: dict[str, int] = {}
    for i, label in enumerate(labels):
        if label in seen:
            raise InputError(
                f"the name {label!r} stands for two courses (positions {seen[label]} and {i}). Give each course "
                "its own name; replicates of one course belong into one course, as repeated times."
            )
        seen[label] = i
    return labels


def finite(matrix: Floats, names: tuple[str, ...], points: Floats) -> None:
    """Raise if a value is infinite, naming its course and time."""
    bad = np.isinf(matrix)
    if bad.any():
        i, k = np.argwhere(bad)[0]
        raise InputError(infinite(names[i], points[k], matrix[i, k]))


def not_empty(lengths: NDArray[Any], names: tuple[str, ...]) -> None:
    """Raise if a course has no value, naming it."""
    empty = np.flatnonzero(lengths == 0)
    if len(empty):
        raise InputError(f"course {names[empty[0]]!r} has no value at all{and_more(len(empty))}. Leave it out.")


def infinite(name: str, point: Floats, value: float) -> str:
    """The sentence about an infinite value."""
    return f"course {name!r} is {value} at time {time(point)}: expected a finite number, or NaN if not measured."


def time(point: Floats) -> str:
    """A point, for a message."""
    return ", ".join(f"{x:g}" for x in point)


def and_more(count: int) -> str:
    """The tail of a sentence about the first of `count` offenders."""
    return f" (and {count - 1} more)" if count > 1 else ""


def count(n: int, noun: str) -> str:
    """A number with its noun."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def nearest(name: str, names: tuple[str, ...]) -> str:
    """A hint for a name that does not exist."""
    from difflib import get_close_matches

    close = get_close_matches(name, names[:20_000], n=3)
    if not close:
        return f"Names look like {names[0]!r}."
    return "Did you mean " + " or ".join(repr(c) for c in close) + "?"


def require_columns(frame: pd.DataFrame, columns: list[str]) -> None:
    """Raise if a table lacks one of the columns."""
    missing = [c for c in columns if c not in frame.columns]
    if missing:
        have = ", ".join(repr(c) for c in list(frame.columns)[:12])
        raise InputError(f"the table has no column {missing[0]!r}. Its columns: {have}.")


def column(frame: pd.DataFrame, name: str, of_row: list[str]) -> Floats:
    """A column of a table as floats, or an error that names the first bad entry."""
    import pandas as pd

    entries = frame[name]
    if pd.api.types.is_datetime64_any_dtype(entries):
        raise InputError(
            f"column {name!r} holds dates. Give numbers, for instance days since the first visit: "
            "(date - first date) / pandas.Timedelta('1D')."
        )
    as_numbers = pd.to_numeric(entries, errors="coerce")
    bad = (as_numbers.isna() & entries.notna()).to_numpy()
    reject(bad, name, of_row, entries.to_numpy(dtype=object))
    return as_numbers.to_numpy(dtype=float, na_value=np.nan) + 0.0


def _shown(entry: Any) -> str:
    return f"{entry:g}" if isinstance(entry, (float, np.floating)) else repr(entry)


def reject(bad: Bools, name: str, of_row: list[str], entries: NDArray[Any]) -> None:
    """Raise about the first bad entry of a column."""
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(
            f"{name!r} of course {of_row[row]!r} is {_shown(entries[row])} in row {row}: expected a finite number."
        )


def finite_times(points: Floats) -> None:
    """Raise if a time is NaN or infinite."""
    if not np.isfinite(points).all():
        raise InputError(f"times must be finite numbers, found {points[~np.isfinite(points)][0]}.")
