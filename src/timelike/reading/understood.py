"""Understood: the courses of a file, with an account of how it was read, and the notes that such an account has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from timelike.base.checks import counted, first_few
from timelike.courses import TimeCourses
from timelike.courses.counts import Counted

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Normalised:
    """What was found while counts became values.

    Attributes
    ----------
    genes
        Names of the genes that have a count.
    samples
        Names of the samples, each of them once.
    counted
        What was found.
    """

    genes: tuple[str, ...]
    samples: tuple[str, ...]
    counted: Counted

    @property
    def size_factors(self) -> dict[str, float]:
        """Sample -> how much deeper than on average it was sequenced."""
        return dict(zip(self.samples, self.counted.size_factors.tolist(), strict=True))

    def to_frame(self) -> pd.DataFrame:
        """Table with a row for each gene: its mean count, the trend's dispersion and its own."""
        return self.counted.to_frame(self.genes)

    def described(self) -> str:
        """What was done, for the account."""
        factors = self.counted.size_factors
        return (
            f"counts: normalised by the median of ratios (size factors {factors.min():.2f} to {factors.max():.2f}), "
            "log2 with an error each"
        )


class LeftOut(NamedTuple):
    """Something of the input that is in none of the courses.

    Attributes
    ----------
    what
        How much of what, in words: "2 genes without any count".
    noted
        Whether a note says it too, so that somebody is warned.
    """

    what: str
    noted: bool = False


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
    counts
        Where the file held counts, what was found while they became values.
    subjects
        Condition -> whose sample each is, in the order of the courses' times, where a column says so.
    details
        What else the file says about each course (a symbol, a description, a group): a row a course, in their order,
        as text; None where it says nothing else.
    left_out
        All that was left out, with notes or without.
    """

    courses: TimeCourses
    unused: tuple[str, ...] = ()
    time_unit: str | None = None
    how: str = ""
    notes: tuple[str, ...] = ()
    counts: Normalised | None = None
    subjects: dict[str, tuple[str, ...]] | None = None
    details: pd.DataFrame | None = None
    left_out: tuple[LeftOut, ...] = ()

    def summary(self) -> str:
        """What there is, in one line, with the unit of the times."""
        points = self.courses.designs.points
        span = f"{points.min():g} to {points.max():g}"
        shown = f"{span} {self.time_unit}" if self.time_unit else span
        return self.courses.summary().replace(f"{span})", f"{shown})", 1)

    def lines(self) -> list[str]:
        """What was understood, in three lines: what there is, how it was read, what was left out or deserves a look."""
        unused = [name or "unnamed" for name in self.unused if not any(repr(name) in note for note in self.notes)]
        idle = [f"{counted(len(unused), 'column')} played no part ({first_few(unused)})"] if unused else []
        left_out = [f"left out {part.what}" for part in self.left_out if not part.noted]
        carried = [] if self.details is None else [self._carried(list(self.details))]
        last = "; ".join([*carried, *idle, *left_out, *self.notes])
        return [self.summary(), f"read as {self.how}", last or "nothing was left out"]

    @staticmethod
    def _carried(columns: list[str]) -> str:
        return f"{counted(len(columns), 'column')} carried along into the tables ({first_few(columns)})"


def without_values(names: Sequence[str]) -> list[str]:
    """A note about courses that were left out."""
    return [f"left out {counted(len(names), 'course')} without any value: {first_few(names)}"] if names else []


def empty_courses(names: Sequence[str]) -> list[LeftOut]:
    """Courses that were left out, where there are some."""
    return some_left_out(len(names), "course", "without any value", noted=True)


def some_left_out(count: int, noun: str, which: str, *, noted: bool = False) -> list[LeftOut]:
    """What was left out; nothing where that is zero times.

    Examples
    --------
    >>> some_left_out(2, "row", "without a value"), some_left_out(0, "row", "without a value")
    ([LeftOut(what='2 rows without a value', noted=False)], [])
    """
    return [LeftOut(f"{counted(count, noun)} {which}", noted)] if count else []


def begins_like_a_remark(names: Sequence[str]) -> list[str]:
    """A note about courses whose names begin with #, as remarks do."""
    found = [name for name in names if name.startswith("#")]
    return [f"{found[0]!r} begins like a remark, but its row has numbers: it is a course"] if found else []
