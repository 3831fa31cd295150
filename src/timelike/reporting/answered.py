"""Answered: what a page about an answer shows: the answer, how its data are called, and the table of all courses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from timelike.base import checks
from timelike.base.arrays import Floats, Ints
from timelike.questions.compare import Compared
from timelike.questions.found import Found
from timelike.questions.measured import check_times
from timelike.questions.permuted import Check
from timelike.questions.telling import grid, interval_words, is_rate
from timelike.reporting.subject import Naming

if TYPE_CHECKING:
    import pandas as pd

GRID = 41
"""Times at which curves are drawn."""
CURVED = 2000
"""Courses whose curves travel with the page: the surest. Of all others it has the values."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Answered:
    """What a page is about.

    Attributes
    ----------
    found
    naming
    fdr
        Expected false discovery rate of what is called.
    check
        How many are called by chance, where that was asked.
    notes, run
        Sentences to show, and settings that belong to the record.
    """

    found: Found
    naming: Naming = field(default_factory=Naming)
    fdr: float = 0.05
    check: Check | None = None
    notes: Sequence[str] = ()
    run: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        checks.instance(self.found, Found, "found")
        checks.instance(self.run, Mapping, "run")
        is_rate(self.fdr)

    @property
    def compared(self) -> Compared | None:
        """The answer, if it is about conditions."""
        return self.found if isinstance(self.found, Compared) else None

    @cached_property
    def times(self) -> Floats:
        """The different times at which anything was measured."""
        return np.unique(check_times(self.found.question.measured.conditions))

    @cached_property
    def called(self) -> Ints:
        """The courses that are called, the surest first."""
        return self.found.called(self.fdr)

    @cached_property
    def table(self) -> pd.DataFrame:
        """All courses, the surest first, as `to_frame` has them; of those that are called also when they differ."""
        frame: pd.DataFrame = self.found.to_frame()  # type: ignore[attr-defined]  # each kind of answer has one
        if self.compared is None:
            return frame
        words = interval_words(self.compared, self.called)
        return frame.assign(intervals=[*words, *[""] * (len(frame) - len(words))])

    @cached_property
    def curved(self) -> Ints:
        """The courses whose curves the page has."""
        return self.found.order[:CURVED]

    @cached_property
    def grid(self) -> Floats:
        """Times at which curves are drawn, evenly spaced on the clock."""
        return grid(self.found, GRID)
