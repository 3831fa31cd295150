"""Tidy tables: one measurement a row."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from timelike.base.arrays import Floats, Ints
from timelike.courses import TimeCourses
from timelike.courses.conditions import joined
from timelike.exceptions import InputError
from timelike.reading import dates
from timelike.reading.column_names import column_called, conditions, is_course, is_time, is_value, only_column
from timelike.reading.details import constant_cells, details_of
from timelike.reading.merged import ask_about, groups, merged
from timelike.reading.options import Settings, without_meaning
from timelike.reading.tables import Table, Taken
from timelike.reading.tidy_counts import CountRows, by_sample
from timelike.reading.time_headers import some, unit_in
from timelike.reading.understood import (
    LeftOut,
    Understood,
    begins_like_a_remark,
    empty_courses,
    some_left_out,
    without_values,
)
from timelike.reading.wide import assemble


@dataclass(frozen=True)
class TidyColumns:
    """Positions of the columns of a tidy table."""

    course: int
    time: int
    value: int
    error: int | None = None

    def used(self) -> set[int]:
        """All positions."""
        return {self.course, self.time, self.value} | ({self.error} if self.error is not None else set())

    def described(self, header: Sequence[str]) -> str:
        """Which column gives what."""
        roles = {"courses": self.course, "times": self.time, "values": self.value, "standard errors": self.error}
        return ", ".join(f"{what} from {header[k]!r}" for what, k in roles.items() if k is not None)


def tidy_columns(header: Sequence[str], settings: Settings) -> TidyColumns | None:
    """The columns of a tidy table, None for a wide one.

    Names that are given count; the others must have usual names, in any case, and be the only one of their kind.
    """
    course = _candidates(header, settings.name_column, "course", [is_course(c) for c in header])
    time = _candidates(header, settings.time, "time", [is_time(c) for c in header])
    value = _candidates(header, settings.value, "value", [is_value(c, bool(settings.counts)) for c in header])
    asked = settings.time is not None or settings.value is not None or settings.error is not None
    asked = asked or bool(course and time and time[0] > 0 and not re.search(r"\d", "".join(header)))
    if not asked and not (course and time and value):
        return None
    roles = {"course": course, "time": time, "value": value}
    found = [only_column(header, positions, f"{role}s", role) for role, positions in roles.items()]
    error = _candidates(header, settings.error, "error", [False] * len(header))
    if len({*found, *error}) < 3 + len(error):
        raise InputError(f"one column has two meanings: {', '.join(header[k] for k in (*found, *error))}.")
    return TidyColumns(found[0], found[1], found[2], error[0] if error else None)


def _candidates(header: Sequence[str], given: str | None, role: str, usual: list[bool]) -> list[int]:
    """Positions of the columns that can play a role: the given one, the one called like the role, or the usual ones."""
    if given is not None:
        return [column_called(header, given)]
    exact = [k for k, cell in enumerate(header) if cell.lower() == role]
    return exact or [k for k, found in enumerate(usual) if found]


def read_tidy(table: Table, columns: TidyColumns, settings: Settings) -> Understood:
    """Courses from a tidy table."""
    settings.refuse(*without_meaning("tidy"), because=f"the column {table.header[columns.time]!r} has the times")
    times, taken = _times(table, columns)
    if settings.counts:
        return _read_counts(table, columns, settings, times, taken)
    names, owner, said = _owners(table, columns, taken.texts[0], settings)
    if times is not None:
        settings.refuse("dates", because="the times are no dates")
    measured = ~np.isnan(taken.numbers[:, 0]) & (owner >= 0)
    when = times if times is not None else _from_dates(table, columns, taken.texts[1], owner, measured, settings)
    _require(table, ~np.isnan(when) | ~measured, f"the time (column {table.header[columns.time]!r}) is missing")
    courses, notes, apart = _courses(names, owner[measured], when[measured], taken.numbers[measured])
    apart = [*_rows_left_out(taken.numbers[:, 0], owner), *apart]
    if settings.duplicates != "replicates":
        told = groups(table, columns.used(), np.flatnonzero(measured), owner[measured], when[measured])
        if told is not None:
            raise ask_about(told, table.header[columns.course])
    unit = unit_in(table.header[columns.time]) if times is not None else "days"
    beside = [k for k, c in enumerate(table.header) if k not in columns.used() and repr(c) not in said]
    cells = constant_cells(table, beside, owner, len(names))
    unused = tuple(table.header[k] for k in beside if table.header[k] not in cells)
    how = f"a tidy table: {columns.described(table.header)}{said}"
    details = details_of(courses.names, ([name] for name in names), cells)
    return Understood(courses, unused, unit, how, tuple(notes), details=details, left_out=tuple(apart))


def _rows_left_out(values: Floats, owner: Ints) -> list[LeftOut]:
    """The rows of other conditions than the one that is asked for, and those without a value."""
    others, empty = owner < 0, np.isnan(values)
    return [
        *some_left_out(int(others.sum()), "row", "of other conditions"),
        *some_left_out(int((empty & ~others).sum()), "row", "without a value"),
    ]


def _read_counts(
    table: Table, columns: TidyColumns, settings: Settings, times: Floats | None, taken: Taken
) -> Understood:
    """Courses from a tidy table of counts, which every gene must have in every sample."""
    settings.refuse("error", because="counts get errors of their own")
    if times is not None:
        settings.refuse("dates", because="the times are no dates")
    names, owner = _named(table, columns, taken.texts[0])
    everywhere = np.ones(len(owner), dtype=bool)
    when = times if times is not None else _from_dates(table, columns, taken.texts[1], owner, everywhere, settings)
    _require(table, ~np.isnan(when), f"the time (column {table.header[columns.time]!r}) is missing")
    rows = CountRows(table, names, owner, when, taken.numbers[:, 0], columns.used())
    matrix, used = by_sample(rows, unit_in(table.header[columns.time]) if times is not None else "days")
    beside = [k for k in range(len(table.header)) if k not in {*columns.used(), *used}]
    cells = constant_cells(table, beside, owner, len(names))
    found = assemble(replace(matrix, cells=cells), settings)
    samples = ", ".join(repr(table.header[k]) for k in used)
    how = f"a tidy table: {columns.described(table.header)}{f', samples told by {samples}' if used else ''}{found.how}"
    unused = tuple(table.header[k] for k in beside if table.header[k] not in cells)
    notes = merged(table, {*columns.used(), *used}, range(len(owner)), owner, when)
    return replace(found, unused=unused, how=how, notes=(*notes, *found.notes))


def _times(table: Table, columns: TidyColumns) -> tuple[Floats | None, Taken]:
    """The times, None if they are dates; values (and errors) and the texts of courses (and dates)."""
    numeric = [columns.value, *([columns.error] if columns.error is not None else [])]
    if dates.look_like_dates([row[columns.time] for row in table.first_rows]):
        return None, table.numbers_and_texts(numeric, [columns.course, columns.time])
    taken = table.numbers_and_texts([*numeric, columns.time], [columns.course])
    return taken.numbers[:, -1], Taken(taken.numbers[:, :-1], taken.texts)


def _from_dates(
    table: Table, columns: TidyColumns, cells: list[str], owner: Ints, measured: np.ndarray, settings: Settings
) -> Floats:
    where = f"column {table.header[columns.time]!r}"
    days = np.array([dates.day_number(cell, f"{table.place(i)}, {where}") for i, cell in enumerate(cells)])
    return dates.since_first(np.where(measured, days, np.nan), np.maximum(owner, 0), settings.dates)


def _require(table: Table, good: np.ndarray, complaint: str) -> None:
    if not good.all():
        raise InputError(f"{table.place(int(np.argmin(good)))}: {complaint}.")


def _owners(table: Table, columns: TidyColumns, cells: list[str], settings: Settings) -> tuple[list[str], Ints, str]:
    """The names of the courses, the course of each row (-1: of another condition), and words about conditions."""
    import pandas as pd

    named = np.array(cells, dtype=object)
    names, owner = _named(table, columns, cells)
    told = conditions(table, columns.used(), range(len(named)), owner)
    if told is None or len(set(zip(owner.tolist(), told[1], strict=True))) == len(names):  # a label of courses
        if settings.condition is not None:
            raise InputError(
                f"there is no condition {settings.condition!r}: no column tells conditions within a course."
            )
        return names, owner, ""
    column, kinds = table.header[told[0]], np.array(told[1], dtype=object)
    if settings.condition is not None:
        return _chosen(named, kinds, settings.condition, column)
    both, pairs = pd.factorize(np.array([joined(*pair) for pair in zip(named, kinds, strict=True)], dtype=object))
    return list(pairs), both, f", a course for each name and {column!r}"


def _named(table: Table, columns: TidyColumns, cells: list[str]) -> tuple[list[str], Ints]:
    """The names that occur, and the name of each row."""
    import pandas as pd

    named = np.array(cells, dtype=object)
    _require(table, named != "", f"the course (column {table.header[columns.course]!r}) is empty")
    owner, names = pd.factorize(named)
    return list(names), owner


def _chosen(named: np.ndarray, kinds: np.ndarray, condition: str, column: str) -> tuple[list[str], Ints, str]:
    import pandas as pd

    chosen = kinds == condition
    if not chosen.any():
        raise InputError(f"there is no condition {condition!r}: column {column!r} has {some(sorted(set(kinds)))}.")
    owner = np.full(len(named), -1)
    owner[chosen], names = pd.factorize(named[chosen])
    return list(names), owner, f", only {condition!r} of {column!r}"


def _courses(
    names: list[str], owner: Ints, times: Floats, numbers: Floats
) -> tuple[TimeCourses, list[str], list[LeftOut]]:
    """The courses, notes about their names and about those without any value, and the latter."""
    import pandas as pd

    present = np.bincount(owner, minlength=len(names)) > 0
    if not present.any():
        raise InputError("no course has a value.")
    empty = [name for name, kept in zip(names, present, strict=True) if not kept]
    frame = pd.DataFrame({"course": pd.Categorical.from_codes(owner, names), "time": times, "value": numbers[:, 0]})
    if numbers.shape[1] > 1:
        frame["error"] = numbers[:, 1]
    courses = TimeCourses.from_long(frame, error="error" if numbers.shape[1] > 1 else None)
    return courses, [*begins_like_a_remark(names), *without_values(empty)], empty_courses(empty)
