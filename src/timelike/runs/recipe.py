"""What is done to a file of courses before and while they are grouped: every choice, with its name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, TypeAlias, TypedDict, Unpack

import numpy as np

from timelike.base import checks
from timelike.clusters import methods
from timelike.clusters.clustering import Clustering
from timelike.clusters.curves.ascent import check_spread
from timelike.clusters.curves.curve_clustering import check_tolerance
from timelike.clusters.curves.mixture import check_noise
from timelike.clusters.methods import AUTO
from timelike.courses import TimeCourses
from timelike.exceptions import InputError
from timelike.gp import GP
from timelike.gp.fit import check_clock
from timelike.gp.freedom import asked_for
from timelike.questions.changing import changing
from timelike.questions.telling import RATE, is_rate, percent


class Scale(NamedTuple):
    """What is done to courses before they are compared, and its word in a methods paragraph."""

    run: Callable[[TimeCourses], TimeCourses]
    word: str


SCALES = {
    "none": Scale(lambda courses: courses, "none"),
    "center": Scale(TimeCourses.centered, "centred"),
    "standardize": Scale(TimeCourses.standardized, "standardised"),
}
"""What is compared: values as they are; minus each course's mean; also divided by its standard deviation."""


Clock: TypeAlias = str | float
"""``"auto"``, ``"linear"``, or tau, see :func:`timelike.fit`."""
Names: TypeAlias = str | Sequence[str]
"""``"auto"``, or names of freedoms, see ``up_to`` of :func:`timelike.mixture`."""


class Choices(TypedDict, total=False):
    """Choices by name, as :func:`timelike.analyse` takes them: the fields of :class:`Recipe`, any of them left out."""

    most_variable: int | None
    changing: float | None
    scale: str
    kernel: str
    clock: Clock
    method: str
    k: int | None
    max_k: int | None
    tolerance: float | None
    spread: float | None
    up_to: Names
    max_delay: float | None
    robust: bool
    noise: str
    refine: bool
    neighbors: int
    seed: int
    title: str | None
    time_unit: str | None
    value_name: str | None


@dataclass(frozen=True)
class Recipe:
    """The choices of an analysis; none of them is made silently.

    Attributes
    ----------
    most_variable : int or None
        Keep only so many courses, those whose values vary most; where courses have conditions, so many names, each
        with all of its conditions.
    changing : float or None
        Keep only the courses that change over time at this expected false discovery rate, see
        :func:`timelike.changing`; where courses have conditions, names that change under any of them. The most
        variable are chosen from these.
    scale : str
        One of :data:`SCALES`.
    kernel : str
        Kernel of the Gaussian process, see :func:`timelike.fit`.
    clock : str or float
        Whether time runs slower and slower, see :func:`timelike.fit`: ``"auto"``, ``"linear"``, or a number.
    method, k
        How courses are grouped, and into how many clusters; None: the number is chosen.
    max_k : int or None
        Largest number of clusters that the mixture tries; None: 40, or more where clearly worth it.
    tolerance : float or None
        Curves of the mixture that differ by less than this are one cluster, in units of the values (as scaled); instead
        of k.
    spread : float or None
        How much curves of one cluster differ, in units of the signal_sd, for mixture and evidence. None: learned.
    up_to : str or sequence of str
        In what courses may differ and still be alike, for every method and for neighbours: any of ``"level"``,
        ``"gain"`` and ``"delay"``. With levels the model is fitted to courses minus their means: the signal is that of
        changes. ``"auto"``: the mixture takes those that pay.
    max_delay : float or None
        With delays: how far apart in time two courses may be, in the unit of the times.
    robust : bool
        Whether single wild values count for little, in the fit where they decide and in the mixture.
    noise : str
        ``"auto"``: the mixture finds out whether courses, or clusters, have a noise of their own; ``"common"``: the
        model's for all.
    refine : bool
        Whether the mixture adapts the model to its clusters where that clearly pays.
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
    changing: float | None = None
    scale: str = "none"
    kernel: str = "se"
    clock: Clock = "auto"
    method: str = "mixture"
    k: int | None = None
    max_k: int | None = None
    tolerance: float | None = None
    spread: float | None = None
    up_to: Names = ()
    max_delay: float | None = None
    robust: bool = True
    noise: str = "auto"
    refine: bool = True
    neighbors: int = 10
    seed: int = 0
    title: str | None = None
    time_unit: str | None = None
    value_name: str | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            kind, _, optional = str(field.type).partition(" | ")
            value = getattr(self, field.name)
            if value is not None or not optional:
                object.__setattr__(self, field.name, PLAIN[kind](value, field.name))
        if self.scale not in SCALES:
            raise InputError(f"there is no scale {self.scale!r}: choose from {', '.join(SCALES)}.")
        check_noise(self.noise)
        methods.check(self.method, self.k, self.spread, self.up_to)
        methods.check_tolerance(self.method, self.k, self.tolerance)
        methods.check_max_k(self.method, self.k, self.max_k)
        if self.max_delay is not None and self.up_to != AUTO and "delay" not in self.up_to:
            raise InputError(f"max_delay is {self.max_delay:g}, but no delays are asked for: add 'delay' to up_to.")

    @classmethod
    def of(cls, **choices: Unpack[Choices]) -> Recipe:
        """A recipe from named choices, or an error about a name that is none."""
        known = [field.name for field in fields(cls)]
        unknown = [name for name in choices if name not in known]
        if unknown:
            raise InputError(f"there is no choice {unknown[0]!r}: expected {', '.join(known)}.")
        return cls(**choices)

    def prepared(self, courses: TimeCourses) -> TimeCourses:
        """The courses that are analysed: selected and scaled."""
        chosen = courses if self.changing is None else changing(courses).select(self.changing)
        chosen = chosen if self.most_variable is None else chosen.most_variable(self.most_variable)
        return self.scaled(chosen)

    def selection(self, given: TimeCourses, chosen: TimeCourses) -> str | None:
        """Which of the given courses were chosen, in words; None where nothing was left to choose.

        Examples
        --------
        >>> given = TimeCourses.from_arrays([0, 1], [[1, 2], [1, 5], [3, 2]])
        >>> Recipe(changing=0.05, most_variable=2).selection(given, given.select([1, 2]))
        '2 of 3 courses, those that change at an expected false discovery rate of 5 % and of these the most variable'
        >>> given = TimeCourses.from_arrays([0, 1], [[1, 2], [1, 5], [3, 2]], ["a | wt", "a | mut", "b | wt"])
        >>> Recipe(most_variable=1).selection(given, given.select([0, 1]))
        '2 of 3 courses (1 of 2 names), the most variable'
        """
        if self.changing is None and self.most_variable is None:
            return None
        who = "those that" if given.conditions is None else "those of names that, under any condition,"
        words = [] if self.changing is None else [f"{who} change at {RATE} of {percent(self.changing)}"]
        if self.most_variable is not None:
            words.append("of these the most variable" if words else "the most variable")
        names = [len(set(courses.plain_names)) for courses in (chosen, given)]
        of_names = "" if given.conditions is None else f" ({names[0]:,} of {names[1]:,} names)"
        return f"{len(chosen):,} of {len(given):,} courses{of_names}, {' and '.join(words)}"

    def scaled(self, courses: TimeCourses) -> TimeCourses:
        """The courses, scaled but not selected."""
        return SCALES[self.scale].run(courses)

    @property
    def levels(self) -> bool:
        """Whether courses have levels of their own, which say nothing about the signal."""
        return self.up_to != AUTO and "level" in self.up_to

    def grouped(self, courses: TimeCourses, gp: GP) -> Clustering:
        """The clusters of courses that are prepared."""
        method = methods.METHODS[self.method]
        return method.run(courses, gp, **{name: getattr(self, name) for name in method.takes})


def _whole(value: Any, name: str) -> int:
    checks.whole(value, name, 0 if name == "seed" else 1)
    return int(value)


def _number(value: Any, name: str) -> float:
    if name == "changing":
        return is_rate(value, "changing")
    if name == "max_delay":
        if not (checks.is_number(value) and value > 0):
            raise InputError(f"max_delay is {value!r}: expected a number above zero, in the unit of the times.")
        return float(value)
    (check_tolerance if name == "tolerance" else check_spread)(value)
    return float(value)


def _truth(value: Any, name: str) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{name} is {value!r}: expected True or False.")
    return bool(value)


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"{name} is {value!r}: expected text.")
    return value


def _clock(value: Any, _: str) -> Clock:
    check_clock(value)
    return value if isinstance(value, str) else float(value)


def _names(value: Any, _: str) -> Names:
    return AUTO if isinstance(value, str) and value.strip() == AUTO else asked_for(value)


PLAIN: dict[str, Callable[[Any, str], Any]] = {
    "int": _whole,
    "float": _number,
    "bool": _truth,
    "str": _text,
    "Clock": _clock,
    "Names": _names,
}
"""Type of a choice -> its value as the record holds it, in JSON, or an error that names it."""
