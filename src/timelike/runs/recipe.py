"""What is done to a file of courses before and while they are grouped: every choice, with its name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from timelike.base import checks
from timelike.clusters import methods
from timelike.clusters.clustering import Clustering
from timelike.clusters.curves.ascent import check_spread
from timelike.courses import TimeCourses
from timelike.exceptions import InputError
from timelike.gp import GP

SCALES: dict[str, Callable[[TimeCourses], TimeCourses]] = {
    "none": lambda courses: courses,
    "center": TimeCourses.centered,
    "standardize": TimeCourses.standardized,
}
"""What is compared: values as they are; minus each course's mean; also divided by its standard deviation."""


@dataclass(frozen=True)
class Recipe:
    """The choices of an analysis; none of them is made silently.

    Attributes
    ----------
    most_variable : int or None
        Keep only so many courses, those whose values vary most.
    scale : str
        One of :data:`SCALES`.
    kernel : str
        Kernel of the Gaussian process, see :func:`timelike.fit`.
    method, k
        How courses are grouped, and into how many clusters; None: the number is chosen.
    spread : float or None
        How much curves of one cluster differ, in units of the signal_sd, for mixture and evidence. None: mixture learns
        it, evidence takes 0.
    robust : bool
        Whether mixture leaves out single values that the others of their course rule out.
    neighbors : int
        Nearest courses that are found for each course.
    seed : int
        For every random choice.
    title, time_unit, value_name : str or None
        What figures and report call the data, and their axes; by default what the file says.

    Examples
    --------
    >>> Recipe(scale="standardize", k=5).method
    'mixture'
    """

    most_variable: int | None = None
    scale: str = "none"
    kernel: str = "se"
    method: str = "mixture"
    k: int | None = None
    spread: float | None = None
    robust: bool = True
    neighbors: int = 10
    seed: int = 0
    title: str | None = None
    time_unit: str | None = None
    value_name: str | None = None

    def __post_init__(self) -> None:
        if self.scale not in SCALES:
            raise InputError(f"there is no scale {self.scale!r}: choose from {', '.join(SCALES)}.")
        for name, least in (("most_variable", 1), ("k", 1), ("neighbors", 1), ("seed", 0)):
            _check_whole(name, getattr(self, name), least)
            if getattr(self, name) is not None:
                object.__setattr__(self, name, int(getattr(self, name)))  # NumPy's integers are no JSON
        for name in ("kernel", "method", "title", "time_unit", "value_name"):
            _check_text(name, getattr(self, name))
        object.__setattr__(self, "spread", _spread(self.spread))
        object.__setattr__(self, "robust", _robust(self.robust))
        methods.check(self._grouping)

    @classmethod
    def of(cls, choices: dict[str, Any]) -> Recipe:
        """A recipe from named choices, or an error about a name that is none."""
        known = [field.name for field in fields(cls)]
        unknown = [name for name in choices if name not in known]
        if unknown:
            raise InputError(f"there is no choice {unknown[0]!r}: expected {', '.join(known)}.")
        return cls(**choices)

    def prepared(self, courses: TimeCourses) -> TimeCourses:
        """The courses that are analysed: selected and scaled."""
        chosen = courses if self.most_variable is None else courses.most_variable(self.most_variable)
        return self.scaled(chosen)

    def scaled(self, courses: TimeCourses) -> TimeCourses:
        """The courses, scaled but not selected."""
        return SCALES[self.scale](courses)

    def grouped(self, courses: TimeCourses, gp: GP) -> Clustering:
        """The clusters of courses that are prepared."""
        return methods.group(courses, gp, self._grouping)

    @property
    def _grouping(self) -> methods.Grouping:
        return methods.Grouping(self.method, self.k, self.spread, self.robust, self.seed)


def _check_whole(name: str, value: Any, least: int) -> None:
    if value is None and name in ("most_variable", "k"):
        return
    checks.whole(value, name, least)


def _spread(value: Any) -> float | None:
    check_spread(value)
    return None if value is None else float(value)


def _robust(value: Any) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"robust is {value!r}: expected True or False.")
    return bool(value)


def _check_text(name: str, value: Any) -> None:
    if value is not None and not isinstance(value, str):
        raise InputError(f"{name} is {value!r}: expected text.")
