"""Wide tables: a course a row, or a course a column, with a value for each time."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from timelike.base.arrays import Floats
from timelike.base.checks import counted, first_few
from timelike.courses import TimeCourses
from timelike.courses.conditions import joined
from timelike.exceptions import InputError
from timelike.reading import dates, time_headers
from timelike.reading.cells import NUMBER, all_numbers, is_missing
from timelike.reading.column_names import column_called, is_called, is_course, is_time
from timelike.reading.count_tables import ABOUT_GENES, from_counts, is_no_gene
from timelike.reading.details import Cells, details_of
from timelike.reading.files import errors_about, read_table
from timelike.reading.options import Settings, without_meaning
from timelike.reading.sample_sheets import sheet_columns
from timelike.reading.tables import Table, frame_table
from timelike.reading.time_headers import TimeColumns, some
from timelike.reading.understood import (
    LeftOut,
    Understood,
    begins_like_a_remark,
    empty_courses,
    some_left_out,
    without_values,
)

_MONTH = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_MANGLED = re.compile(rf"\d{{1,2}}-({_MONTH})|({_MONTH})-\d{{1,2}}|\d{{4}}-\d\d-\d\d", re.IGNORECASE)


@dataclass(frozen=True)
class Matrix:
    """Courses as rows of numbers, before conditions are told apart and empty courses left out.

    Attributes
    ----------
    names, values, columns
    place
        Where a course stands, in words.
    samples
        What the columns are called.
    cell
        Where a number stands, by its course and its column, in words.
    errors
        Standard errors of the values, where they are known.
    cells
        What else is known about each course: column -> its cells.
    """

    names: list[str]
    values: Floats
    columns: TimeColumns
    place: Callable[[int], str]
    samples: list[str]
    cell: Callable[[int, int], str]
    errors: Floats | None = None
    cells: Cells = field(default_factory=dict)


# -- a course a row ------------------------------------------------------------------------------------------


def read_rows(table: Table, settings: Settings) -> Understood:
    """Courses from a table with a course a row."""
    _refuse(settings, "rows", "a wide table has a column for each time")
    columns = find_columns(table.header, settings, table.looks_numeric)
    timed = set(columns.positions)
    others = [k for k in range(len(table.header)) if k not in timed]
    if not len(columns.positions) or not others:
        raise InputError(no_wide_table(table.header, bool(columns.positions)))
    name = _name_column(table, others, settings)
    taken = table.numbers_and_texts(columns.positions, others)
    texts = dict(zip(others, taken.texts, strict=True))
    beside = {k: texts[k] for k in others if k != name}
    numeric = [k for k, texts in beside.items() if all_numbers(texts)]
    notes = _doubts(table.header, columns, numeric, settings)
    samples = [table.header[k] for k in columns.positions]
    matrix = Matrix(texts[name], taken.numbers, columns, table.place, samples, _row_and_column(table, samples))
    strays = _strays(table.header, numeric, settings)
    carried = [k for k in beside if k not in strays]
    cells = dict(zip(numbered([table.header[k] for k in carried]), (beside[k] for k in carried), strict=True))
    found = assemble(replace(matrix, cells=cells), settings)
    names = repr(table.header[name]) if table.header[name] else "the column without a name"
    what = ("times from", "header") if settings.samples is None else ("values of", "sample")
    times = f"{what[0]} {counted(len(samples), what[1])} like {samples[0]!r}"
    unit = f", unit {columns.unit}" if columns.unit else ""
    how = f"a wide table, a course a row: names from {names}, {times}{unit}{found.how}"
    unused, notes = (*(table.header[k] for k in strays), *columns.unused), [*notes, *found.notes]
    foreign = some_left_out(len(strays), "column", "of numbers that the sample sheet does not name", noted=True)
    return replace(found, unused=unused, how=how, notes=tuple(notes), left_out=(*foreign, *found.left_out))


def _strays(header: Sequence[str], numeric: Sequence[int], settings: Settings) -> list[int]:
    """Columns of numbers that a sample sheet does not name, and that are not about genes: samples that are left out."""
    return [k for k in numeric if settings.samples is not None and not is_called(header[k], ABOUT_GENES)]


def _row_and_column(table: Table, columns: Sequence[str]) -> Callable[[int, int], str]:
    return lambda row, column: f"{table.place(row)}, column {columns[column]!r}"


def _refuse(settings: Settings, layout: str, because: str) -> None:
    """Raise if an option was given that has no meaning in the layout, with or without a sample sheet."""
    settings.refuse(*without_meaning(layout), because=because)
    if settings.samples is None:
        settings.refuse("subject", because="it names a column of a sample sheet (samples=, --samples)")
        settings.refuse("time", because="it names a column of a tidy table or of a sample sheet")
    else:
        settings.refuse("header", "times", "dates", because="the sample sheet has the times")


def find_columns(header: Sequence[str], settings: Settings, is_numeric: Callable[[int], bool]) -> TimeColumns:
    """The columns that hold values: as the sample sheet, the pattern, the given times or the headers say."""
    if settings.samples is not None:
        return _from_sheet(header, settings)
    dated = [k for k, cell in enumerate(header) if dates.is_date(cell)]
    if len(dated) > 1 and settings.header is None and settings.times is None:
        return _dated(header, dated, settings)
    settings.refuse("dates", because="the times are no dates")
    if settings.no_header and settings.times is None:
        values = sum(is_numeric(k) for k in range(1, len(header)))
        raise InputError(
            f"without a header nothing tells the times of its {counted(values, 'column')} of values. Give them, one a "
            "column, the same again for replicates: times=[0, 0, 5, 5, ...] (--times 0,0,5,5,...)."
        )
    if settings.header is not None:
        found = time_headers.matching_columns(header, settings.header)
    elif settings.times is not None:
        found = time_headers.columns_for(header, settings.times)
    else:
        found = time_headers.time_columns(header)
    if settings.times is not None:
        if not found.positions:
            others = ABOUT_GENES if settings.counts else frozenset[str]()
            positions = tuple(k for k in range(len(header)) if is_numeric(k) and not is_called(header[k], others))
            found = TimeColumns(positions, np.arange(len(positions), dtype=float))
        return time_headers.with_times(found, settings.times)
    time_headers.refuse_thousands([header[k] for k in found.positions], settings.decimal)
    if settings.header is None and found.positions:
        time_headers.refuse_numbered_things([header[k] for k in found.positions])
    return found


def _from_sheet(header: Sequence[str], settings: Settings) -> TimeColumns:
    if hasattr(settings.samples, "columns"):
        with errors_about("the sample sheet"):
            return sheet_columns(header, frame_table(settings.samples), settings)
    return sheet_columns(header, read_table(Path(settings.samples)), settings)


def _dated(header: Sequence[str], dated: list[int], settings: Settings) -> TimeColumns:
    if settings.dates != "common":
        raise InputError(
            f"the headers {some([header[k] for k in dated], 3)} are dates. Give dates='common' (--dates common) for "
            "days since the first of them."
        )
    days = np.array([dates.day_number(header[k], "the header") for k in dated])
    return TimeColumns(tuple(dated), days - days.min(), unit="days")


def no_wide_table(header: Sequence[str], has_times: bool) -> str:
    """The sentence about a header without names or without times."""
    return (
        f"the header {some(header, 6)} has {'no column for names' if has_times else 'no times'}. A wide table has a "
        "name and then one column for each time ('0', '12h', '12h_2' for the second replicate); a tidy one has columns "
        "course, time and value, or others that you name (course=, time=, value=; --course, --time, --value). A sample "
        "sheet (samples=, --samples) can tell the times of columns."
    )


def _name_column(table: Table, others: list[int], settings: Settings) -> int:
    if settings.name_column is not None:
        return column_called(table.header, settings.name_column)
    known = [k for k in others if is_course(table.header[k])]
    text = [k for k in others if not table.looks_numeric(k)]
    name = others[0] if others[0] in known else (text or known or others)[0]
    if is_time(table.header[name]) and settings.orient is None:
        raise InputError(
            f"the column {table.header[name]!r} seems to hold names. Is the table transposed? Give orient='columns' "
            "(--orient columns) if each column is a course, orient='rows' if each row is one."
        )
    return name


def _doubts(header: Sequence[str], columns: TimeColumns, filled: Sequence[int], settings: Settings) -> list[str]:
    """A note about columns of numbers that are no values; raises if they could be, or if the header is a row."""
    if unnamed := [k for k in filled if not header[k] and k > columns.positions[0]]:
        raise InputError(
            f"column {unnamed[0] + 1} has numbers but no header. Merged cells? Repeat the time above each replicate, "
            "or remove the column."
        )
    numeric = [header[k] for k in filled if header[k]]
    decided = settings.header is not None or settings.samples is not None or settings.times is not None
    doubtful = [name for name in numeric if any(c.isdigit() for c in name)]
    if doubtful and not decided:
        raise InputError(
            f"{some(doubtful)} could be times too, but are written unlike {header[columns.positions[0]]!r}. Say which "
            "headers are times: header='{condition}_{time}h_{replicate}' or the like (--header), or give a "
            "sample sheet (samples=, --samples)."
        )
    if not decided:
        _refuse_headless(header, columns)
    if not numeric:
        return []
    if settings.samples is not None:
        return [f"columns of numbers that the sample sheet does not name are no values: {some(numeric)}"]
    return [f"columns of numbers that are no times are no values: {some(numeric)}"]


def _refuse_headless(header: Sequence[str], columns: TimeColumns) -> None:
    """Raise if the header looks like a row: a name and numbers with decimals, in no order, none of them twice."""
    names, steps = [header[k] for k in columns.positions], np.diff(columns.times)
    ordered = (steps >= 0).all() or (steps <= 0).all() or len(np.unique(columns.times)) < len(names)
    plain = all(re.fullmatch(NUMBER, name) for name in names) and any("." in name for name in names)
    if ordered or not plain or any(not cell or is_course(cell) for cell in header):
        return
    raise InputError(
        f"the first line is no header, it seems: {some(names, 3)} look like values. Say so, and give the times: "
        "no_header=True, times=[0, 5, ...] (--no-header --times 0,5,...). If they are times all the same, give "
        "header='{time}' (--header '{time}')."
    )


# -- a course a column -----------------------------------------------------------------------------------------


def is_tall(table: Table) -> bool:
    """Whether the table has times down its first column and a course in each other; raises if it can be both."""
    first = [row[0] for row in table.first_rows if not is_missing(row[0])]
    timed = is_time(table.header[0]) and all(not np.isnan(number) for number, _ in time_headers.times_of(first))
    others = range(1, len(table.header))
    if not timed or not all(table.looks_numeric(k) for k in others):
        return False
    if all(re.fullmatch(r"[-+]?[\d.]+\s*[A-Za-z]{0,3}", table.header[k]) for k in others):
        raise InputError(
            f"the first column is called {table.header[0]!r}, but the other headers are times too: "
            f"{some(table.header[1:])}. Give orient='rows' (--orient rows) if each row is a course, orient='columns' "
            "if each column is one."
        )
    return True


def read_columns(table: Table, settings: Settings) -> Understood:
    """Courses from a table with a course a column: the first column tells the times."""
    _refuse(settings, "columns", "each column is a course")
    unused = [k for k in range(1, len(table.header)) if is_called(table.header[k], time_headers.REPLICATE_WORDS)]
    positions = [k for k in range(1, len(table.header)) if k not in unused]
    first = table.texts([0])[0]
    if all_numbers(first) and settings.samples is None and settings.header is None:
        taken = table.numbers_and_texts([0, *positions], [])
        columns, values = _times_down(table, taken.numbers[:, 0], settings), taken.numbers[:, 1:]
    else:
        columns = find_columns(first, settings, lambda _: True)
        values = table.numbers_and_texts(positions, []).numbers[list(columns.positions)]
    names, rows = [table.header[k] for k in positions], columns.positions
    where, cell = (lambda i: f"column {positions[i] + 1}"), _row_and_column(table, names)
    samples = [first[row] for row in rows]
    matrix = Matrix(names, values.T, columns, where, samples, lambda gene, k: cell(rows[k], gene))
    found = assemble(matrix, settings)
    how = f"a table with a course a column: times from the first column {table.header[0]!r}{found.how}"
    return replace(found, unused=(*(table.header[k] for k in unused), *columns.unused), how=how)


def _times_down(table: Table, times: Floats, settings: Settings) -> TimeColumns:
    settings.refuse("dates", because="the times are no dates")
    if np.isnan(times).any():
        row = int(np.argmax(np.isnan(times)))
        raise InputError(f"{table.place(row)}: the time (column {table.header[0]!r}) is missing.")
    found = TimeColumns(tuple(range(len(times))), times, unit=time_headers.unit_in(table.header[0]))
    return found if settings.times is None else time_headers.with_times(found, settings.times)


# -- from a matrix to courses ----------------------------------------------------------------------------------


def assemble(matrix: Matrix, settings: Settings) -> Understood:
    """The courses of a matrix: named, told apart by condition, those without any value left out."""
    names = _distinct_names(matrix, settings)
    notes = [*matrix.columns.notes, *begins_like_a_remark(names), *_mangled(names)]
    how = "".join(f"; {remark}" for remark in matrix.columns.remarks)
    matrix, counts, apart = replace(matrix, names=names), None, _samples_left_out(matrix, settings)
    if settings.counts:
        matrix, counts, more = from_counts(replace(matrix, samples=numbered(matrix.samples)))
        notes, how = [*notes, *more], f"{how}; {counts.described()}"
        apart += _genes_left_out(names, len(matrix.names))
    courses, empty, said = _courses(matrix, settings)
    notes, subjects = [*notes, *without_values(empty)], _subjects(matrix.columns)
    details = details_of(courses.names, _called(names, set(matrix.columns.conditions)), matrix.cells)
    apart += empty_courses(empty)
    return Understood(
        courses, (), matrix.columns.unit, how + said, tuple(notes), counts, subjects, details, tuple(apart)
    )


def _called(names: Sequence[str], kinds: Collection[str]) -> Iterator[list[str]]:
    """For each name the names that its courses may have."""
    return ([name, *(joined(name, kind) for kind in kinds)] for name in names)


def _samples_left_out(matrix: Matrix, settings: Settings) -> list[LeftOut]:
    """The samples of other conditions than the one that is asked for, and those without any value."""
    kinds = np.array(matrix.columns.conditions or [None] * len(matrix.samples), dtype=object)
    wanted = kinds == settings.condition if settings.condition is not None else np.ones(len(kinds), dtype=bool)
    empty = int((np.isnan(matrix.values).all(axis=0) & wanted).sum())
    others = some_left_out(int((~wanted).sum()), "sample", "of other conditions")
    return [*others, *some_left_out(empty, "sample", "without any value")]


def _genes_left_out(names: Sequence[str], kept: int) -> list[LeftOut]:
    """The rows of a table of counts that are no genes, and the genes that nobody counted."""
    others = sum(map(is_no_gene, names))
    zeros = len(names) - others - kept
    rows = some_left_out(others, "row", "of reads without a gene", noted=True)
    return [*rows, *some_left_out(zeros, "gene", "without any count", noted=True)]


def _subjects(columns: TimeColumns) -> dict[str, tuple[str, ...]] | None:
    """For each condition whose sample each is, in the order of the times that its courses have."""
    if not columns.subjects:
        return None
    order = np.argsort(columns.times, kind="stable")
    kinds = columns.conditions or ("",) * len(order)
    return {kind: tuple(columns.subjects[k] for k in order if kinds[k] == kind) for kind in dict.fromkeys(kinds)}


def _courses(matrix: Matrix, settings: Settings) -> tuple[TimeCourses, list[str], str]:
    """The courses that have a value, the names of the others, and words about conditions."""
    names, values, said = _by_condition(matrix, settings)
    measured = np.isfinite(values).sum(axis=1) > 0
    if not measured.any():
        raise InputError("no course has a value.")
    empty = [name for name, kept in zip(names, measured, strict=True) if not kept]
    used = ~np.isnan(values).all(axis=0)
    errors = matrix.errors
    if errors is not None:
        errors = errors.repeat(len(names) // len(errors), axis=0)[np.ix_(measured, used)]
    names = [name for name, kept in zip(names, measured, strict=True) if kept] if empty else names
    times, kept = matrix.columns.times[used], values[measured] if empty else values
    return TimeCourses.from_arrays(times, kept if used.all() else kept[:, used], names, errors), empty, said


def _by_condition(matrix: Matrix, settings: Settings) -> tuple[list[str], Floats, str]:
    """A course for each name and condition, NaN at the times of the others; or the courses of the chosen condition."""
    names, values, columns = matrix.names, matrix.values, matrix.columns
    conditions = np.array(columns.conditions, dtype=object)
    kinds = list(dict.fromkeys(columns.conditions))
    if settings.condition is not None:
        if settings.condition not in kinds:
            known = f"the conditions are {some(kinds)}" if kinds else "nothing tells conditions here"
            raise InputError(f"there is no condition {settings.condition!r}: {known}.")
        chosen = np.where(conditions == settings.condition, values, np.nan)
        return names, chosen, f"; only condition {settings.condition!r} of {some(kinds)}"
    if len(kinds) < 2:
        return names, values, ""
    split = np.stack([np.where(conditions == kind, values, np.nan) for kind in kinds], axis=1)
    said = f"; a course for each name and condition ({some(kinds)})"
    return [joined(name, kind) for name in names for kind in kinds], split.reshape(-1, values.shape[1]), said


def _distinct_names(matrix: Matrix, settings: Settings) -> list[str]:
    """The names, checked; empty and repeated ones are numbered if the user says so."""
    if settings.duplicates == "number":
        return numbered(matrix.names)
    if settings.duplicates == "replicates":
        raise InputError(
            "duplicates='replicates' is for tidy tables: here replicates stand in one row, under one time."
        )
    first: dict[str, int] = {}
    for i, name in enumerate(matrix.names):
        if not name:
            raise InputError(f"{matrix.place(i)}: the name is empty. {_how_to_number('unnamed-1')}")
        if name in first:
            places = f"{matrix.place(first[name])} and {matrix.place(i)}"
            raise InputError(f"the name {name!r} stands for two courses, {places}. {_how_to_number(f'{name}-2')}")
        first[name] = i
    return matrix.names


def _how_to_number(example: str) -> str:
    return (
        f"Give duplicates='number' (--duplicates number) to call it {example!r}, or name another column of names with "
        "course= (--course). Replicates of one course belong into one row, under the same time again."
    )


def numbered(names: Sequence[str]) -> list[str]:
    """The names, with a number after empty and repeated ones.

    Examples
    --------
    >>> numbered(["Vwf", "", "C3", "Vwf", "", "Vwf-2"])
    ['Vwf', 'unnamed-1', 'C3', 'Vwf-3', 'unnamed-2', 'Vwf-2']
    """
    taken, seen, found = set(names), Counter[str](), []
    for name in names:
        seen[name] += 1
        new = name
        if not name or seen[name] > 1:
            while (new := f"{name or 'unnamed'}-{seen[name]}") in taken:
                seen[name] += 1
        taken.add(new)
        found.append(new)
    return found


def _mangled(names: Sequence[str]) -> list[str]:
    found = [name for name in names if "-" in name and _MANGLED.fullmatch(name)]
    if not found:
        return []
    return [f"{first_few(found)} look like gene names that a spreadsheet turned into dates (MARCH1, SEPT2): check them"]
