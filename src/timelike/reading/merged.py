"""Values of several groups under one name: a question to the user, or a note that they are replicates of one course."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

import numpy as np

from timelike.base.arrays import Floats, Ints
from timelike.base.checks import first_few
from timelike.exceptions import InputError
from timelike.reading.column_names import is_called, is_course, is_time
from timelike.reading.tables import Table
from timelike.reading.time_headers import REPLICATE_WORDS, words_of

SAMPLE_WORDS = REPLICATE_WORDS | {"batch", "plate", "sample", "array", "chip", "slide", "run", "lane", "library"}
SAMPLE_WORDS |= {"donor", "biologicalreplicate", "technicalreplicate", "operator", "index", "number", "no", "nr"}
"""Names of columns that tell replicates apart, whose values belong together."""
GROUP_WORDS = frozenset({"dataset", "study", "cohort", "experiment", "sex", "gender", "site", "dose"})
"""Names of columns that tell groups apart even if they number them."""
MOST_GROUPS = 20
"""A column with more different cells names samples, or is a measurement itself."""


class Groups(NamedTuple):
    """A column that tells groups within a course at one time, and its first kinds in words."""

    column: str
    kinds: str


def merged(table: Table, used: Collection[int], rows: Iterable[int], owner: Ints, times: Floats) -> list[str]:
    """A note where :func:`groups` finds some: their values become replicates."""
    found = groups(table, used, rows, owner, times)
    if found is None:
        return []
    return [
        f"several {found.column!r} ({found.kinds}) have values under one name at the same time: they became replicates "
        "of one course. If they are courses of their own, call that column 'condition'"
    ]


def ask_about(found: Groups, course: str) -> InputError:
    """The question what values of several groups under one name are."""
    return InputError(
        f"several {found.column!r} ({found.kinds}) have values under one name of {course!r} at the same time. If each "
        f"is a course of its own, make the name of both: course=[{course!r}, {found.column!r}] (--course {course} "
        f"--course {found.column}). If they are replicates: duplicates='replicates' (--duplicates replicates). If they "
        "are conditions, call that column 'condition'."
    )


def groups(table: Table, used: Collection[int], rows: Iterable[int], owner: Ints, times: Floats) -> Groups | None:
    """A column that tells groups within a course at one time, but plays no part in the names of courses.

    Columns tell replicates apart too. A column is taken for groups unless it is called like replicates, samples or
    names, numbers what it tells apart, or does not keep its cells from one time to the next.

    Parameters
    ----------
    table
    used
        Columns that have another meaning.
    rows, owner, times
        Rows of the table with a value; the course and the time of each.
    """
    at = _numbered(owner, _numbered(times))
    if len(at) == 0 or np.bincount(at).max() == 1:
        return None
    for k, name in enumerate(table.header):
        if k in used or not _may_tell_groups(name) or not _few_kinds(row[k] for row in table.first_rows):
            continue
        cells = table.texts([k])[0]
        labels = [cells[i] for i in rows]
        called = not GROUP_WORDS.isdisjoint(words_of(name))
        if _are_groups(labels, owner, at) and (called or not _is_numbering(set(labels))):
            return Groups(name, first_few(sorted(set(labels))))
    return None


def _may_tell_groups(name: str) -> bool:
    return not (is_called(name, SAMPLE_WORDS) or is_course(name) or is_time(name))


def _few_kinds(cells: Iterable[str]) -> bool:
    """Whether the first cells of a column repeat: a large table is not searched for columns that cannot tell groups."""
    first = list(cells)
    return 2 * len(set(first)) <= len(first)


def _are_groups(labels: list[str], owner: Ints, at: Ints) -> bool:
    """Whether labels differ within most repeated times of a course, and last from time to time."""
    import pandas as pd

    code, kinds = pd.factorize(np.array(labels, dtype=object))
    if not 2 <= len(kinds) <= MOST_GROUPS or "" in kinds:
        return False
    values, told = np.bincount(at), np.bincount(np.unique(at * len(kinds) + code) // len(kinds))
    lasting = told.sum() >= 2 * len(np.unique(owner * len(kinds) + code))
    return bool(lasting and np.mean(told[values > 1] > 1) >= 0.5)


def _is_numbering(kinds: set[str]) -> bool:
    """Whether the labels are 1, 2, ... or 0, 1, ..., or "rep 1", "rep 2", ...: as replicates are numbered."""
    word = min(kinds).rstrip("0123456789")
    numbers = {kind.removeprefix(word) for kind in kinds}
    counted = any(numbers == {str(first + i) for i in range(len(kinds))} for first in (0, 1))
    return counted and (not word or is_called(word, SAMPLE_WORDS))


def _numbered(keys: np.ndarray, others: Ints | None = None) -> Ints:
    """A number for each different key, or pair of keys."""
    pairs = keys if others is None else keys * (others.max(initial=0) + 1) + others
    return np.unique(pairs, return_inverse=True)[1].ravel()
