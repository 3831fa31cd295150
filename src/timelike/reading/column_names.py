"""Columns by their names: the usual words for courses, times, values and conditions, and the name that a user gives."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np

from timelike.exceptions import InputError
from timelike.reading.tables import Table
from timelike.reading.time_headers import TIME_WORDS, UNITS, words_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

COURSE_WORDS = frozenset(
    {"course", "gene", "genes", "geneid", "genename", "symbol", "id", "name", "series", "probe", "probeid", "protein"}
    | {"feature", "well", "patient", "patientid", "subject", "subjectid", "participant", "person", "individual"}
    | {"child", "animal", "mouse", "plant"}
)
VALUE_WORDS = frozenset(
    {"value", "values", "expression", "response", "measurement", "level", "concentration", "intensity", "signal"}
    | {"abundance", "y"}
)
COUNT_WORDS = VALUE_WORDS | {"count", "counts", "reads", "readcount", "rawcount", "umis"}
"""Names of the values where they are said to be counts."""
CONDITION_WORDS = frozenset(["condition", "conditions", "treatment", "genotype", "strain", "arm", "group"])
TIMES = TIME_WORDS | {"date", "hour", "hours", "hrs", "day", "days", "minute", "minutes", "mins", "seconds", "sec"}
TIMES |= {"week", "weeks", "wk", "wks", "month", "months", "year", "years", "hpi", "dpi", "hpf", "dpf", "hr"}
TIMES |= {"timestamp", "timestamps", "datetime", "timepoints", "visits", "elapsed", "followup"}
"""Names of a column of times; a unit may follow. Not "second" or "min", which mean other things too."""


def is_called(name: str, usual: frozenset[str]) -> bool:
    """Whether a column has one of the usual names, in any case: "Gene_ID", "GENE.ID", "geneId"."""
    return "".join(words_of(name)) in usual


def is_course(name: str) -> bool:
    """Whether a column is called like the names of courses."""
    return is_called(name, COURSE_WORDS)


def is_value(name: str, counts: bool = False) -> bool:
    """Whether a column is called like values, or like counts."""
    return is_called(name, COUNT_WORDS if counts else VALUE_WORDS)


def is_time(name: str) -> bool:
    """Whether a column is called like a time, perhaps with its unit: "time", "Day", "time (h)", "age_years".

    Examples
    --------
    >>> [is_time(name) for name in ("Time (h)", "day", "age_years", "min", "dose day")]
    [True, True, True, False, False]
    """
    words = words_of(name)
    known = bool(words) and words[0] in TIMES and all(word in TIMES or word in UNITS for word in words)
    return known and not any(c.isdigit() for c in name)


def only_column(header: Sequence[str], positions: Sequence[int], what: str, option: str) -> int:
    """The one position, or an error that says how to choose."""
    if len(positions) == 1:
        return positions[0]
    found = (
        f"{' and '.join(repr(header[k]) for k in positions)} could hold" if positions else "no column is known to hold"
    )
    columns = ", ".join(map(repr, header[:12]))
    raise InputError(f"{found} the {what}. Say which: {option}= (--{option}). The columns: {columns}.")


def conditions(
    table: Table, used: Collection[int], rows: Sequence[int], owner: ArrayLike
) -> tuple[int, list[str]] | None:
    """The column of conditions that tells apart all that the others do within a course, and its cells.

    None if no column is called like conditions; an error if none of several tells all.

    Parameters
    ----------
    table
    used
        Columns that have another meaning.
    rows, owner
        Rows of the table, and the course of each.
    """
    called = [k for k, c in enumerate(table.header) if k not in used and is_called(c, CONDITION_WORDS)]
    if not called:
        return None
    columns = {k: [cells[i] for i in rows] for k, cells in zip(called, table.texts(called), strict=True)}
    owners = np.asarray(owner).tolist()
    all_told = len(set(zip(owners, *columns.values(), strict=True)))
    for k, cells in columns.items():
        if len(set(zip(owners, cells, strict=True))) == all_told:
            return k, cells
    names = " and ".join(repr(table.header[k]) for k in called)
    raise InputError(f"{names} both tell conditions. Merge them into one column, or remove one.")


def column_called(header: Sequence[str], name: str) -> int:
    """The position of a column that the user named."""
    positions = [k for k, cell in enumerate(header) if cell == name]
    if not positions:
        positions = [k for k, cell in enumerate(header) if cell.lower() == name.lower()]
    if len(positions) != 1:
        found = f"{len(positions)} columns" if positions else "no column"
        raise InputError(f"it has {found} {name!r}. Its columns: {', '.join(map(repr, header[:12]))}.")
    return positions[0]
