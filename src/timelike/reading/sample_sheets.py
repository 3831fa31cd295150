"""Sample sheets: a row for each column of a wide table, with its time and perhaps its condition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from timelike.base.checks import counted
from timelike.exceptions import InputError
from timelike.reading.column_names import column_called, conditions, is_called, is_time, only_column
from timelike.reading.dates import look_like_dates
from timelike.reading.files import errors_about
from timelike.reading.merged import merged
from timelike.reading.options import Settings
from timelike.reading.tables import Table
from timelike.reading.time_headers import REPLICATE_WORDS, TimeColumns, refuse_thousands, some, times_of, unit_in


def sheet_columns(header: Sequence[str], sheet: Table, settings: Settings) -> TimeColumns:
    """The columns of a wide table that a sample sheet names, with their times and conditions.

    Parameters
    ----------
    header
        The header of the wide table.
    sheet
        The sample sheet: one of its columns names columns of the table.
    settings
        `time` names its column of times; by default it is the one that is called like a time.
    """
    texts = sheet.texts(range(len(sheet.header)))
    sample = _sample_column(header, texts)
    rows = _rows_of_samples(sheet, texts[sample])
    positions = tuple(k for k, cell in enumerate(header) if cell in rows)
    found = sample_times(sheet, [rows[header[k]] for k in positions], settings, {sample})
    columns = set(header)
    missing = [name for name in rows if name not in columns]
    notes = (f"{counted(len(missing), 'sample')} of the sheet without a column: {some(missing)}",) if missing else ()
    remark = _parts_of_sheet(sheet, sample, settings, [rows[header[k]] for k in positions])
    unused = tuple(f"{name} of the sample sheet" for name in found.unused)
    found = replace(found, positions=positions, unused=unused)
    return replace(found, notes=(*found.notes, *notes), remarks=(remark, *found.remarks))


def _parts_of_sheet(sheet: Table, sample: int, settings: Settings, rows: Sequence[int]) -> str:
    """Which sheet told what, by which of its columns, in words."""
    told = conditions(sheet, {sample}, rows, [0] * len(rows))
    roles = {"samples": sample, "times": _time_column(sheet, settings.time, {sample})}
    roles |= {} if told is None else {"conditions": told[0]}
    parts = [f"{what} in {sheet.header[k] or 'the column without a name'!r}" for what, k in roles.items()]
    parts += [] if settings.subject is None else [f"subjects in {settings.subject!r}"]
    called = "" if hasattr(settings.samples, "columns") else f" {Path(settings.samples).name}"
    return f"the sample sheet{called} has {', '.join(parts)}"


def sample_times(sheet: Table, rows: Sequence[int], settings: Settings, used: set[int]) -> TimeColumns:
    """Times and conditions of the samples in the given rows of a sheet."""
    column = _time_column(sheet, settings.time, used)
    texts, where = sheet.texts([column])[0], f"column {sheet.header[column]!r} of the sample sheet"
    cells = [texts[row] for row in rows]
    if look_like_dates(cells):
        raise InputError(f"{where} has dates. Give numbers, for instance days since the first sample.")
    with errors_about(where):
        refuse_thousands(cells, settings.decimal)
    found = times_of(cells)
    for row, cell, (number, _) in zip(rows, cells, found, strict=True):
        if np.isnan(number):
            raise InputError(f"{sheet.place(row)}, {where}: {cell!r} is not a time. Give a number, or '12h'.")
    units = {unit for _, unit in found}
    if len(units) > 1:
        raise InputError(f"{where} has times in different units: {some(sorted(map(str, units)))}. Use one.")
    told = conditions(sheet, used, rows, [0] * len(rows))
    kinds = tuple(told[1]) if told is not None else ()
    times = np.array([number for number, _ in found])
    owner = np.unique(kinds, return_inverse=True)[1] if kinds else np.zeros(len(rows), dtype=np.intp)
    subjects = _subjects(sheet, rows, settings.subject)
    notes = [] if subjects else merged(sheet, {*used, column}, rows, owner, times)
    unit = units.pop() or unit_in(sheet.header[column])
    roles = {*used, column, *([] if told is None else [told[0]])}
    unused = _without_part(sheet, roles, settings)
    return TimeColumns(tuple(range(len(rows))), times, kinds, unit, (), tuple(notes), subjects, unused)


def _without_part(sheet: Table, roles: set[int], settings: Settings) -> tuple[str, ...]:
    """The columns of a sheet that tell neither samples nor times, conditions, subjects or replicates."""
    named = (settings.subject, settings.replicate)
    others = [name for k, name in enumerate(sheet.header) if k not in roles and name not in named]
    return tuple(name or "unnamed" for name in others if not is_called(name, REPLICATE_WORDS))


def _subjects(sheet: Table, rows: Sequence[int], subject: str | None) -> tuple[str, ...]:
    """Whose sample each is; empty where nobody asks."""
    if subject is None:
        return ()
    with errors_about("the sample sheet"):
        cells = sheet.texts([column_called(sheet.header, subject)])[0]
    for row in rows:
        if not cells[row]:
            raise InputError(f"{sheet.place(row)}: the subject (column {subject!r} of the sample sheet) is missing.")
    return tuple(cells[row] for row in rows)


def _time_column(sheet: Table, time: str | None, used: set[int]) -> int:
    if time is not None:
        return column_called(sheet.header, time)
    candidates = [k for k, name in enumerate(sheet.header) if k not in used and is_time(name)]
    return only_column(sheet.header, candidates, "times of the samples", "time")


def _sample_column(header: Sequence[str], texts: list[list[str]]) -> int:
    """The column of the sheet that names most columns of the table."""
    known = set(header)
    hits = [sum(cell in known and cell != "" for cell in column) for column in texts]
    if max(hits) == 0:
        raise InputError(
            f"the sample sheet names no column of the table. The table has {some(header)}, the sheet's first column "
            f"{some(texts[0])}."
        )
    return hits.index(max(hits))


def _rows_of_samples(sheet: Table, samples: list[str]) -> dict[str, int]:
    rows: dict[str, int] = {}
    for row, sample in enumerate(samples):
        if sample in rows:
            places = f"{sheet.place(rows[sample])} and {sheet.place(row)}"
            raise InputError(f"the sample {sample!r} stands twice in the sample sheet, {places}.")
        rows[sample] = row
    return rows
