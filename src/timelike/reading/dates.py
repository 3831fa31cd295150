"""Dates as times: days since a first date."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from timelike.base.arrays import Floats, Ints
from timelike.exceptions import InputError
from timelike.reading.cells import is_missing

_UNMARKED = r"(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])"
_DAY = rf"\d{{4}}(?P<mark>[-./_])\d{{1,2}}(?P=mark)\d{{1,2}}|{_UNMARKED}"
_TIME_OF_DAY = r"\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?"
_ISO = re.compile(rf"(?P<day>{_DAY})(?:[T ](?P<time>{_TIME_OF_DAY}))?")
_ZONED = re.compile(_ISO.pattern + r"(?:Z|[-+]\d{2}:?\d{2})")
_OTHER = re.compile(r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}(?: .*)?")


def look_like_dates(cells: Sequence[str]) -> bool:
    """Whether the cells are dates, in whatever form, or missing."""
    known = [cell for cell in cells if not is_missing(cell)]
    return bool(known) and all(any(form.fullmatch(cell) for form in (_ISO, _ZONED, _OTHER)) for cell in known)


def is_date(cell: str) -> bool:
    """Whether a cell is a date with its year first, such as 2024-03-31 or 20240331, with or without a time of day."""
    return _ISO.fullmatch(cell) is not None


def day_number(cell: str, where: str) -> float:
    """A date as days since 1970, NaN if it is missing.

    Examples
    --------
    >>> day_number("1970-01-02 12:00", "line 2")
    1.5
    """
    if is_missing(cell):
        return float("nan")
    if _ZONED.fullmatch(cell):
        raise InputError(f"{where}: {cell!r} has a time zone. Write dates without it: 2024-03-31 14:30.")
    try:
        found = _ISO.fullmatch(cell)
        if found is None:
            raise ValueError(cell)
        date = f"{_day(found['day'])}T{found['time'] or '00:00'}"
        return float(np.datetime64(date, "ms").astype(np.int64)) / 86_400_000
    except ValueError:
        raise InputError(f"{where}: {cell!r} is not a date. Write dates as year-month-day: 2024-03-31.") from None


def _day(text: str) -> str:
    """A day as 2024-03-31, from that or from 2024/3/31, 2024_03_31 or 20240331."""
    parts = [text[:4], text[4:6], text[6:]] if text.isdigit() else re.split(r"[-./_]", text)
    return f"{parts[0]}-{int(parts[1]):02}-{int(parts[2]):02}"


def since_first(days: Floats, owner: Ints, way: str | None) -> Floats:
    """Days since the first date of each owner ("own") or of all ("common"); None is an error that names both.

    Examples
    --------
    >>> since_first(np.array([100.0, 130.0, 150.0]), np.array([0, 0, 1]), "own")
    array([ 0., 30.,  0.])
    """
    if way == "common":
        return days - np.nanmin(days)
    if way is None:
        raise InputError(
            "the times are dates. Give dates='own' (--dates own) for days since the first date of each course, or "
            "dates='common' for days since the first date of all."
        )
    first = np.full(int(owner.max()) + 1, np.inf)
    np.fmin.at(first, owner, days)
    return days - first[owner]
