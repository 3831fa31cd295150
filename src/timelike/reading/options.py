"""What the user says about a file, the words that columns usually have, and what was understood."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from timelike.base.checks import counted
from timelike.courses import TimeCourses
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


@dataclass(frozen=True)
class Settings:
    """Options of :func:`timelike.read`; None: as the file shows."""

    course: str | None = None
    time: str | None = None
    value: str | None = None
    error: str | None = None
    samples: Any = None
    condition: str | None = None
    replicate: str | None = None
    header: str | None = None
    times: Sequence[float] | None = None
    orient: str | None = None
    dates: str | None = None
    duplicates: str | None = None
    decimal: str | None = None
    sheet: str | int | None = None
    layer: str | None = None

    def __post_init__(self) -> None:
        choices = {
            "orient": ("rows", "columns"),
            "dates": ("own", "common"),
            "duplicates": ("number",),
            "decimal": (".", ","),
        }
        for name, allowed in choices.items():
            if (given := getattr(self, name)) is not None and given not in allowed:
                raise InputError(f"{name}={given!r} is unknown: expected {' or '.join(map(repr, allowed))}.")

    def refuse(self, *names: str, because: str) -> None:
        """Raise if one of the options was given."""
        for name in names:
            if getattr(self, name) is not None:
                raise InputError(f"{name}= has no meaning here: {because}.")

    def given(self) -> list[str]:
        """The options that were given."""
        return [field.name for field in fields(self) if getattr(self, field.name) is not None]


@dataclass(frozen=True)
class Understood:
    """What was made of a file: its courses, and what a person should know about how.

    Attributes
    ----------
    courses
    unused
        Columns that play no part.
    time_unit
        Unit of the times ("h", "min", "days"), if the file says it.
    how
        How the file was read, in words.
    notes
        Further sentences: what was left out, what deserves a second look. :func:`timelike.read` warns of them.
    """

    courses: TimeCourses
    unused: tuple[str, ...] = ()
    time_unit: str | None = None
    how: str = ""
    notes: tuple[str, ...] = ()

    def summary(self) -> str:
        """What there is, in one line, with the unit of the times."""
        points = self.courses.designs.points
        span = f"{points.min():g} to {points.max():g}"
        shown = f"{span} {self.time_unit}" if self.time_unit else span
        return self.courses.summary().replace(f"{span})", f"{shown})", 1)

    def lines(self) -> list[str]:
        """What was understood, in three lines: what there is, how it was read, what was left out or deserves a look."""
        unused = [name for name in self.unused if not any(repr(name) in note for note in self.notes)]
        left_out = [f"{counted(len(unused), 'column')} played no part ({_some(unused)})"] if unused else []
        return [self.summary(), f"read as {self.how}", "; ".join([*left_out, *self.notes]) or "nothing was left out"]


def _some(names: Sequence[str], most: int = 5) -> str:
    return ", ".join(name or "unnamed" for name in names[:most]) + (", ..." if len(names) > most else "")


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


def begins_like_a_remark(names: Sequence[str]) -> list[str]:
    """A note about courses whose names begin with #, as remarks do."""
    found = [name for name in names if name.startswith("#")]
    return [f"{found[0]!r} begins like a remark, but its row has numbers: it is a course"] if found else []


def column_called(header: Sequence[str], name: str) -> int:
    """The position of a column that the user named."""
    positions = [k for k, cell in enumerate(header) if cell == name]
    if not positions:
        positions = [k for k, cell in enumerate(header) if cell.lower() == name.lower()]
    if len(positions) != 1:
        found = f"{len(positions)} columns" if positions else "no column"
        raise InputError(f"it has {found} {name!r}. Its columns: {', '.join(map(repr, header[:12]))}.")
    return positions[0]
