"""The options of reading: one row an option, from which the command line, the checks and the record are made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, get_type_hints

from timelike.base import checks
from timelike.exceptions import InputError

WIDE = ("rows", "columns")
TABLES = (*WIDE, "tidy")
"""Layouts of a table: a course a row, a course a column, a measurement a row."""
ALL = (*TABLES, "AnnData")
FLAG = "True or False"
NAMES = "a name or several"


@dataclass(frozen=True)
class Option:
    """A row of the table: the layouts that take the option, its help on the command line, its choices or its kind.

    The kind is "text", "a file", "numbers", "a name or a number", "a name or several" or "True or False", in the record
    of a run too.
    """

    layouts: tuple[str, ...]
    help: str
    choices: tuple[str, ...] = ()
    kind: str = "text"

    def check(self, name: str, given: Any) -> None:
        """Raise if the option cannot be what was given, by a person or by a record."""
        if self.choices and given not in self.choices:
            raise InputError(f"{name}={given!r} is unknown: expected {' or '.join(map(repr, self.choices))}.")
        if self.kind == "numbers":
            checks.numbers(given, name)
        if self.kind == NAMES and not (isinstance(given, str) or _are_names(given)):
            raise InputError(f"{name}={given!r}: expected the name of a column, or a list of several.")
        known: dict[str, Any] = {"text": str, "a name or a number": (str, int), FLAG: bool}
        if not isinstance(given, known.get(self.kind, object)):
            raise InputError(f"{name}={given!r}: expected {self.kind}.")


def _are_names(given: Any) -> bool:
    return isinstance(given, (list, tuple)) and len(given) > 0 and all(isinstance(one, str) for one in given)


Text = str | None


@dataclass(frozen=True)
class Settings:
    """Options of :func:`timelike.read`, one row an option; None: as the file shows."""

    course: Annotated[
        str | Sequence[str] | None,
        Option(
            ("rows", "tidy"),
            "Column with the courses' names, where it is not evident; given again, further columns of the name.",
            kind=NAMES,
        ),
    ] = None
    time: Annotated[
        Text, Option(ALL, "Column with the times, where it is not evident (of a tidy table, sample sheet, or obs).")
    ] = None
    value: Annotated[Text, Option(("tidy",), "Column with the values, where it is not evident (tidy table).")] = None
    error: Annotated[Text, Option(("tidy",), "Column with the standard error of each value (tidy table).")] = None
    counts: Annotated[
        bool | None, Option(ALL, "The numbers are counts: normalise them, take log2, give each an error.", kind=FLAG)
    ] = None
    samples: Annotated[
        Any, Option(WIDE, "Sample sheet: a table with the time (and condition) of each column.", kind="a file")
    ] = None
    condition: Annotated[Text, Option(ALL, "Use this condition only.")] = None
    subject: Annotated[
        Text,
        Option(
            (*WIDE, "AnnData"),
            "Column of the sample sheet (or obs) that tells whose sample each is; compare then pairs them.",
        ),
    ] = None
    replicate: Annotated[
        Text,
        Option(
            ("AnnData",),
            "AnnData of single cells: column of obs that tells samples; cells are averaged (counts: summed).",
        ),
    ] = None
    header: Annotated[Text, Option(WIDE, "Form of the headers: '{time}h_{replicate}'; also {condition}, {any}.")] = None
    times: Annotated[
        Sequence[float] | None,
        Option(WIDE, "Real times, as 0,5,10, where headers only number them.", kind="numbers"),
    ] = None
    no_header: Annotated[
        bool | None, Option(TABLES, "The first line is no header: a course a row, its times by --times.", kind=FLAG)
    ] = None
    orient: Annotated[Text, Option(WIDE, "Is a row or a column a course?", ("rows", "columns"))] = None
    dates: Annotated[
        Text,
        Option(TABLES, "Days since the first date with a value, of each course or of all.", ("own", "common")),
    ] = None
    duplicates: Annotated[
        Text,
        Option(
            ALL,
            "Number names that are empty or stand twice; or take groups under one name as replicates (tidy table).",
            ("number", "replicates"),
        ),
    ] = None
    decimal: Annotated[Text, Option(TABLES, "Decimal mark.", (".", ","))] = None
    sheet: Annotated[str | int | None, Option(TABLES, "Sheet of an Excel workbook.", kind="a name or a number")] = None
    layer: Annotated[Text, Option(("AnnData",), "Layer of an AnnData file (default: X).")] = None
    files: Annotated[
        Text,
        Option(
            ALL,
            "Several files hold replicates of the courses (default), or a condition each.",
            ("replicates", "conditions"),
        ),
    ] = None

    def __post_init__(self) -> None:
        for name, option in OPTIONS.items():
            if (given := getattr(self, name)) is not None:
                option.check(name, given)

    @property
    def name_column(self) -> str | None:
        """The column of names that was given, where it is one: several are joined before a table is read."""
        return self.course if isinstance(self.course, str) else None

    def refuse(self, *names: str, because: str) -> None:
        """Raise if one of the options was given."""
        for name in names:
            if getattr(self, name) is not None:
                raise InputError(f"{name}= has no meaning here: {because}.")


OPTIONS: dict[str, Option] = {
    name: hint.__metadata__[0] for name, hint in get_type_hints(Settings, include_extras=True).items()
}
"""The rows by name, in the order of :func:`timelike.read`."""


def without_meaning(*layouts: str) -> list[str]:
    """The options that none of the layouts takes.

    Examples
    --------
    >>> without_meaning("tidy")
    ['samples', 'subject', 'replicate', 'header', 'times', 'orient', 'layer']
    """
    return [name for name, option in OPTIONS.items() if not set(layouts) & set(option.layouts)]
