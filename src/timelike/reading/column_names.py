"""Columns by their names: the usual words for courses, times, values and conditions, and the name that a user gives."""

from __future__ import annotations

import re
from collections.abc import Sequence

from timelike.exceptions import InputError
from timelike.reading.time_headers import TIME_WORDS, UNITS

COURSE_WORDS = frozenset(
    {"course", "gene", "genes", "geneid", "genename", "symbol", "id", "name", "series", "probe", "probeid", "protein"}
    | {"feature", "well", "patient", "patientid", "subject", "subjectid", "participant", "person", "individual"}
    | {"child", "animal", "mouse", "plant"}
)
VALUE_WORDS = frozenset(
    {"value", "values", "expression", "response", "measurement", "level", "concentration", "intensity", "signal"}
    | {"abundance", "y"}
)
CONDITION_WORDS = frozenset(["condition", "conditions", "treatment", "genotype", "arm", "group"])
TIMES = TIME_WORDS | {"date", "hour", "hours", "hrs", "day", "days", "minute", "minutes", "mins", "seconds", "sec"}
TIMES |= {"week", "weeks", "month", "months", "year", "years"}
"""Names of a column of times; a unit may follow. Not "second" or "min", which mean other things too."""


def words_of(name: str) -> list[str]:
    """The words of a column's name, in lower case: "Gene_ID" -> gene, id."""
    return re.findall(r"[a-z]+", name.lower())


def is_called(name: str, usual: frozenset[str]) -> bool:
    """Whether a column has one of the usual names, in any case: "Gene_ID", "GENE.ID", "geneId"."""
    return "".join(words_of(name)) in usual


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


def condition_column(header: Sequence[str], columns: dict[int, list[str]], owner: Sequence[int]) -> int:
    """The column of conditions that tells apart all that the others do within a course; an error if none does.

    Parameters
    ----------
    header
    columns
        Position -> cells, of all columns that are called like conditions.
    owner
        The course of each row.
    """
    all_told = len(set(zip(owner, *columns.values(), strict=True)))
    for k, cells in columns.items():
        if len(set(zip(owner, cells, strict=True))) == all_told:
            return k
    names = " and ".join(repr(header[k]) for k in columns)
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
