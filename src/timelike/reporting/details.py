"""What else is known about each course (a symbol, a description, a group), for the page's table, search and files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from timelike.exceptions import InputError
from timelike.reporting.page_json import whole
from timelike.reporting.subject import Subject

if TYPE_CHECKING:
    import pandas as pd


def data(subject: Subject) -> dict[str, Any] | None:
    """For the page's program: the names of the columns, and their texts."""
    found = subject.details
    if found is None or not found.shape[1]:
        return None
    if len(found) != len(subject.courses):
        raise InputError(
            f"details have {len(found):,} rows for {len(subject.courses):,} courses: "
            "give a row a course, in their order."
        )
    columns = [_column(found.iloc[:, place]) for place in range(found.shape[1])]
    return {"names": [str(name) for name in found.columns], "columns": columns}


def _column(column: pd.Series) -> dict[str, Any] | list[str]:
    """The texts of a column; each of them once, with the number of each course's, where they repeat."""
    texts = ["" if missing else str(value) for value, missing in zip(column, column.isna(), strict=True)]
    words = list(dict.fromkeys(texts))
    if len(words) > len(texts) / 2:
        return texts
    place = {word: number for number, word in enumerate(words)}
    return {"words": words, "of": whole(np.array([place[text] for text in texts]))}
