"""Checks of what users pass in, with words: what was found, where, and what to do."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from timelike.base.arrays import Bools, Floats
from timelike.exceptions import InputError, MissingExtraError

if TYPE_CHECKING:
    import pandas as pd


def numbers(data: Any, what: str, names: Iterable[object] | None = None) -> Floats:
    """`data` as floats, masked entries as NaN, or an error that shows the first entry that is no number."""
    kind = getattr(getattr(data, "dtype", None), "kind", "")
    if kind in _NO_NUMBERS:
        raise InputError(f"{what} are {_NO_NUMBERS[kind]}. {_hint(what)}")
    try:
        if isinstance(data, np.ma.MaskedArray):
            masked: Any = data.astype(float)
            return np.array(masked.filled(np.nan))
        return np.array(data, dtype=float)
    except (TypeError, ValueError):
        pass
    try:
        return np.array(_without_na(data), dtype=float)
    except (TypeError, ValueError):
        raise InputError(_not_numbers(data, what, names)) from None


def _without_na(data: Any) -> NDArray[Any]:
    """The entries as objects, NaN in place of pandas' <NA>, which no float can hold."""
    import pandas as pd

    entries = np.array(data, dtype=object)
    return np.where(np.frompyfunc(lambda entry: entry is pd.NA, 1, 1)(entries), np.nan, entries)


_NO_NUMBERS = {
    "M": "dates, not numbers",
    "m": "durations, not numbers",
    "c": "complex, not real numbers",
}


def _hint(what: str) -> str:
    if what.startswith("times"):
        return "Give numbers, for instance days since the first date."
    return "Give numbers; NaN marks a value that was not measured."


def _not_numbers(data: Any, what: str, names: Iterable[object] | None) -> str:
    try:
        entries = np.array(data, dtype=object)
    except ValueError:
        entries = None
    if entries is None or (entries.ndim == 1 and any(np.ndim(entry) for entry in entries)):
        own_times = "For courses with their own times give times as a list of arrays too."
        return f"{what} have rows of different lengths. {own_times}"
    for place in np.ndindex(entries.shape):
        if not _is_readable(entries[place]):
            return f"{what}{_where(place, names)} are not numbers: {entries[place]!r}. {_hint(what)}"
    return f"{what} are not numbers. {_hint(what)}"


def _where(place: tuple[int, ...], names: Iterable[object] | None) -> str:
    if len(place) < 2:
        return f" (position {place[0]})" if place else ""
    known = list(names) if names is not None else []
    name = str(known[place[0]] if place[0] < len(known) else place[0])
    return f" of course {name!r} (column {place[1]})"


def _is_readable(entry: Any) -> bool:
    try:
        float(entry)
    except (TypeError, ValueError):
        return False
    return True


def is_number(value: Any) -> bool:
    """Whether `value` is a finite number; a truth is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number that no float holds
        return False


def is_whole(value: object) -> TypeGuard[int]:
    """Whether `value` is a whole number; a truth is none."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def whole(value: object, what: str, least: int = 1, most: int | None = None, of: str = "") -> None:
    """Raise unless `value` is a whole number from `least` on, and up to `most`, the number `of` something."""
    if is_whole(value) and least <= value and (most is None or value <= most):
        return
    expected = f", at least {least}" if most is None else f" from {least} to {most}, the number of {of}"
    raise InputError(f"{what} is {value!r}: expected a whole number{expected}.")


def instance(value: object, cls: type, what: str) -> None:
    """Raise if something else than the expected noun was passed."""
    if not isinstance(value, cls):
        made = {"TimeCourses": "make them with TimeCourses.from_arrays, from_long or read", "GP": "fit one or give one"}
        hint = made.get(cls.__name__, "see the documentation")
        raise InputError(f"{what} must be {cls.__name__}, not {type(value).__name__}: {hint}.")


def as_points(times: Floats, what: str = "times") -> Floats:
    """Times as (n, d) coordinates."""
    if times.ndim not in (1, 2) or times.size == 0:
        raise InputError(f"{what} have shape {times.shape}: expected at least one time, as a 1-d array.")
    points = times if times.ndim == 2 else times[:, None]
    return points + 0.0  # turns -0.0 into 0.0: designs are compared as bytes


def ordered(entries: Iterable[object], what: str) -> None:
    """Raise if the entries are a set, which gives them in an order of its own."""
    if isinstance(entries, (set, frozenset)):
        raise InputError(f"{what} are a set, which has no order: give a list.")


def unique_names(names: Iterable[object] | None, count: int) -> tuple[str, ...]:
    """The names as text, or an error that shows the first one that stands twice."""
    if count == 0:
        raise InputError("there are no courses.")
    if names is None:
        return tuple(map(str, range(count)))
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise InputError(f"names are {names!r}: expected a list with a name for each course.")
    ordered(names, "names")
    labels = tuple(map(str, names))
    if len(labels) != count:
        raise InputError(f"there are {counted(len(labels), 'name')} for {counted(count, 'course')}.")
    if len(set(labels)) < count:
        raise _repeated(labels)
    _writable(labels)
    return labels


def _repeated(names: tuple[str, ...]) -> InputError:
    """What to say of names that are not all different: the first that stands twice."""
    seen: dict[str, int] = {}
    second = next(i for i, name in enumerate(names) if seen.setdefault(name, i) < i)
    return InputError(
        f"the name {names[second]!r} stands for two courses (positions {seen[names[second]]} and {second}). Give each "
        "course its own name; replicates of one course belong into one course, as repeated times."
    )


def _writable(names: tuple[str, ...]) -> None:
    """Raise if a name has half a character, as badly decoded text has: no file could hold it."""
    try:
        "".join(names).encode()
    except UnicodeEncodeError:
        broken = next(i for i, name in enumerate(names) if any("\ud800" <= letter <= "\udfff" for letter in name))
        raise InputError(
            f"the name {names[broken]!r} (position {broken}) has half a character in it, which no file can hold. "
            "It was decoded with the wrong encoding; read it again, or rename the course."
        ) from None


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


def counted(n: int, noun: str) -> str:
    """A number with its noun."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def first_few(names: Sequence[str], most: int = 5) -> str:
    """The first few names, for a sentence."""
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")


def listed(words: Sequence[str]) -> str:
    """Words with commas between them, and "and" before the last.

    Examples
    --------
    >>> listed(["C", "K", "M"])
    'C, K and M'
    """
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]


def shortened(text: str, most: int) -> str:
    """The text, cut where it is longer than `most` characters."""
    return text if len(text) <= most else text[: most - 1] + "…"


def nearest(name: str, names: tuple[str, ...]) -> str:
    """A hint for a name that does not exist."""
    from difflib import get_close_matches

    close = [known for known in names if known.casefold() == name.casefold()][:3]
    close = close or get_close_matches(name, names[:20_000], n=3)
    if not close:
        return f"Names look like {names[0]!r}."
    return "Did you mean " + " or ".join(repr(c) for c in close) + "?"


def require_columns(frame: pd.DataFrame, columns: list[str]) -> None:
    """Raise if there is no table, or it lacks one of the columns."""
    if not hasattr(frame, "columns"):
        raise InputError(f"expected a table (pandas DataFrame), found {type(frame).__name__}.")
    missing = [c for c in columns if c not in frame.columns]
    if missing:
        have = ", ".join(repr(c) for c in list(frame.columns)[:12])
        raise InputError(f"the table has no column {missing[0]!r}. Its columns: {have}.")
    if doubled := [c for c in columns if list(frame.columns).count(c) > 1]:
        raise InputError(f"the table has several columns {doubled[0]!r}. Rename or remove all but one.")


def column(frame: pd.DataFrame, name: str, of_row: list[str]) -> Floats:
    """A column of a table as floats, or an error that names the first bad entry."""
    import pandas as pd

    entries = frame[name]
    kind = getattr(entries.dtype, "kind", "")
    if kind in _NO_NUMBERS:
        raise InputError(
            f"column {name!r} holds {_NO_NUMBERS[kind]}. Give numbers, for instance days since the first visit: "
            "(date - first date) / pandas.Timedelta('1D')."
        )
    as_numbers = pd.to_numeric(entries, errors="coerce")
    bad = (as_numbers.isna() & entries.notna()).to_numpy()
    if bad.any():  # an object for each of millions of numbers would be most of the memory
        reject(bad, name, of_row, entries.to_numpy(dtype=object))
    return as_numbers.to_numpy(dtype=float, na_value=np.nan) + 0.0


def reject(bad: Bools, name: str, of_row: list[str], entries: NDArray[Any]) -> None:
    """Raise about the first bad entry of a column."""
    if bad.any():
        row = int(np.argmax(bad))
        shown = f"{entries[row]:g}" if isinstance(entries[row], (float, np.floating)) else repr(entries[row])
        raise InputError(f"{name!r} of course {of_row[row]!r} is {shown} in row {row}: expected a finite number.")


def finite_times(points: Floats) -> None:
    """Raise if a time is NaN or infinite."""
    bad = ~np.isfinite(points).all(axis=1)
    if bad.any():
        at = int(np.argmax(bad))
        raise InputError(f"times must be finite numbers, found {time(points[at])} (position {at}).")


def optional(module: str, name: str, need: str, otherwise: str = "") -> Any:
    """A module of the extra `name`, or an error that says what needs it and how to install it.

    Examples
    --------
    >>> optional("no_such_module", "plot", "figures need it")
    Traceback (most recent call last):
    timelike.exceptions.MissingExtraError: figures need it: pip install 'timelike[plot]'.
    """
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtraError(f"{need}: pip install 'timelike[{name}]'{otherwise}.") from None
