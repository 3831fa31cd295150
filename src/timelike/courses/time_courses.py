"""TimeCourses: many short series with names, times, values and errors, checked once and trusted below."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from timelike.base import checks, notebook
from timelike.base.arrays import Bools, Floats, Ints, readonly
from timelike.base.tables import as_pandas
from timelike.courses.conditions import Told, crossed, joined, none_told, told_apart
from timelike.courses.counts import (
    Groups,
    about_few_genes,
    check_counts,
    checked_factors,
    counted,
    samples_of,
    set_apart,
)
from timelike.courses.designs import Designs, distinct, frozen, offsets, ranges, take_designs, unwritable
from timelike.exceptions import DataWarning, InputError, warn

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class TimeCourses:
    """Many short series, each with a name and its own or a shared set of times.

    Make one with :meth:`from_arrays`, :meth:`from_long` or :func:`timelike.read`. A missing value is one
    that was not measured; a repeated time is a replicate. Selections are again ``TimeCourses``.

    Examples
    --------
    >>> import timelike as tl
    >>> courses = tl.TimeCourses.from_arrays([0, 1, 2], [[1, 2, 4], [2, 3, 6], [9, float("nan"), 5]],
    ...                                      names=["up", "up too", "down"])
    >>> courses
    TimeCourses: 3 courses, 3 times (0 to 2), 11.1 % missing
    >>> courses["down"].times, courses["down"].values
    (array([0., 2.]), array([9., 5.]))
    """

    names: tuple[str, ...]
    designs: Designs
    design_of: Ints
    values: Floats
    """All values, course after course, in the order of their times."""

    def __post_init__(self) -> None:
        self.design_of.flags.writeable = False

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(unwritable(state))

    # -- making ---------------------------------------------------------------------------------------

    @classmethod
    def from_arrays(
        cls,
        times: ArrayLike | Sequence[ArrayLike],
        values: ArrayLike | Sequence[ArrayLike],
        names: Iterable[object] | None = None,
        errors: ArrayLike | Sequence[ArrayLike] | None = None,
    ) -> TimeCourses:
        """Courses from arrays: one shared grid, or a list of arrays with each course's own times.

        Parameters
        ----------
        times
            Shared grid: ``(t,)``; repeated times are replicates. Own times: a list of N 1-d arrays.
            A point may have several coordinates: an array ``(t, d)``, or a list of ``(n_i, d)`` arrays.
        values
            ``(N, t)``, NaN where nothing was measured; or a list of N 1-d arrays.
        names
            N distinct names; by default the index of a table, or "0", "1", ...
        errors
            Known standard error of each value, in the shape of `values` (or ``(t,)`` for all courses).
            It is added, as a variance, to the noise variance of the model.

        Examples
        --------
        >>> TimeCourses.from_arrays([[0, 1], [0.5, 2, 3]], [[1, 2], [3, 4, 5]], names=["a", "b"])
        TimeCourses: 2 courses, own times (2 to 3 each, 0 to 3)
        """
        if names is None:
            names = _row_names(values)
        if _is_ragged(times):
            return _from_ragged(times, values, names, errors)
        return _from_grid(times, values, names, errors)

    @classmethod
    def from_long(
        cls,
        frame: pd.DataFrame,
        course: str = "course",
        time: str = "time",
        value: str = "value",
        error: str | None = None,
    ) -> TimeCourses:
        """Courses from a tidy table with one measurement a row.

        The courses keep the order in which they first appear; rows without a value are left out; two rows
        with the same course and time are replicates.

        Examples
        --------
        >>> import pandas as pd
        >>> visits = pd.DataFrame({"patient": ["p1", "p1", "p2"], "day": [0, 30, 7], "mmHg": [120, 118, 140]})
        >>> TimeCourses.from_long(visits, course="patient", time="day", value="mmHg").names
        ('p1', 'p2')
        """
        import pandas as pd

        frame = as_pandas(frame)
        checks.require_columns(frame, [c for c in (course, time, value, error) if c is not None])
        owner, found = pd.factorize(frame[course])
        if len(frame) == 0:
            raise InputError("the table has no rows: there is no course to work on.")
        if (owner < 0).any():
            row = int(np.argmax(owner < 0))
            raise InputError(f"column {course!r} is empty in row {row}: every measurement needs its course.")
        names = checks.unique_names(found, len(found))
        of_row = [names[i] for i in owner]
        when = checks.column(frame, time, of_row)
        checks.reject(~np.isfinite(when), "time", of_row, when)
        what = checks.column(frame, value, of_row)
        sd = None if error is None else checks.column(frame, error, of_row)
        return _from_flat(names, owner.astype(np.intp), when[:, None], what, sd)

    @classmethod
    def from_counts(
        cls,
        times: ArrayLike,
        counts: ArrayLike,
        names: Iterable[object] | None = None,
        conditions: Iterable[object] | None = None,
        *,
        size_factors: ArrayLike | None = None,
    ) -> TimeCourses:
        """Courses from counts, as RNA-seq gives them: log2 values with an error each, normalised together.

        Counts become values once, see :mod:`timelike.courses.counts`; everything else is as for any courses with known
        errors. Samples of the same time are replicates. Genes without any count are left out, with a warning.

        Parameters
        ----------
        times
            ``(samples,)``.
        counts
            ``(genes, samples)``: whole numbers, as they were counted.
        names
            Of the genes; by default the index of a table, or "0", "1", ...
        conditions
            ``(samples,)``: of two or more, each gene has a course for each, called "gene | condition".
        size_factors
            How deep each sample was sequenced, ``(samples,)``; by default found by the median of ratios.

        Examples
        --------
        >>> counts = [[10, 12, 40, 35], [100, 90, 95, 120], [0, 1, 0, 0]]
        >>> courses = TimeCourses.from_counts([0, 0, 6, 6], counts, ["Il6", "Actb", "Nts"], size_factors=[1, 1, 1, 1])
        >>> courses["Il6"].values.round(1), courses["Nts"].errors.round(1)
        (array([3.3, 3.6, 5.3, 5.1]), array([2.5, 2.5, 3.6, 3.6]))
        """
        found = np.atleast_2d(checks.numbers(counts, "counts", names if isinstance(names, Sequence) else None))
        labels = checks.unique_names(_row_names(counts) if names is None else names, len(found))
        check_counts(found, lambda g, s: f"the count of {labels[g]!r} in sample {s + 1}", lambda s: f"sample {s + 1}")
        points = checks.numbers(times, "times").ravel()
        if len(points) != found.shape[1]:
            raise InputError(f"there are {len(points)} times for {found.shape[1]} samples: give one for each column.")
        checks.finite_times(points[:, None])
        kinds = samples_of(conditions, len(points), "conditions")
        factors = None if size_factors is None else checked_factors(size_factors, len(points))
        kept, notes = set_apart(found, labels)
        for note in (*notes, *(about_few_genes(found) if factors is None else ())):
            warn(f"{note}.", DataWarning)
        made = counted(found[kept], Groups.made(points, kinds), factors)
        genes = [labels[i] for i in kept]
        if kinds is None or len(set(kinds)) < 2:
            return cls.from_arrays(points, made.values, genes, made.errors)
        return _by_condition(points, made.values, made.errors, genes, kinds)

    # -- looking ---------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[TimeCourses]:
        return (self[i] for i in range(len(self)))

    def __contains__(self, name: object) -> bool:
        return name in self._position

    def __getitem__(self, which: Any) -> TimeCourses:
        return self.select(which)

    def __repr__(self) -> str:
        return f"TimeCourses: {self.summary()}"

    def _repr_html_(self) -> str:
        return notebook.courses(self)

    @cached_property
    def starts(self) -> Ints:
        """Course ``i`` occupies ``values[starts[i]:starts[i + 1]]``, (N + 1,)."""
        return readonly(offsets(self.designs.sizes[self.design_of]))

    @property
    def sizes(self) -> Ints:
        """Number of values of each course."""
        return np.diff(self.starts)

    @property
    def times(self) -> Floats:
        """Times of all values, course after course, in the shape of :attr:`values`."""
        points = self.points
        return points[:, 0] if points.shape[1] == 1 else points

    @property
    def points(self) -> Floats:
        """Coordinates of all values, (M, d)."""
        return self.designs.points[self.design_rows]

    @property
    def errors(self) -> Floats | None:
        """Known standard errors of all values, or None."""
        return None if self.designs.errors is None else self.designs.errors[self.design_rows]

    @property
    def grid(self) -> Floats | None:
        """The shared times, ascending (replicates repeated), or None when courses have their own."""
        sizes = self.designs.sizes
        if (sizes != sizes[0]).any():
            return None
        stacked = self.designs.points.reshape(len(sizes), sizes[0], -1)
        if (stacked != stacked[0]).any():
            return None
        return stacked[0, :, 0].copy() if stacked.shape[2] == 1 else stacked[0].copy()

    @property
    def conditions(self) -> tuple[str, ...] | None:
        """The condition of each course, where names are like "Samd14 | mut"; None where nothing tells conditions.

        Every name must have a condition, and there must be at least two of them.
        """
        return None if self._told is None else self._told.conditions

    @property
    def plain_names(self) -> tuple[str, ...]:
        """The names without their conditions, one for each course; the names where there are no conditions."""
        return self.names if self._told is None else self._told.names

    def index(self, name: str | int) -> int:
        """Position of a course, given by name or by position."""
        if isinstance(name, str):
            if name not in self._position:
                raise InputError(f"there is no course {name!r}. {checks.nearest(name, self.names)}")
            return self._position[name]
        if not checks.is_whole(name):
            raise InputError(f"{name!r} is neither the name nor the position of a course.")
        if not -len(self) <= name < len(self):
            raise InputError(f"there is no course {name}: positions go from 0 to {len(self) - 1}.")
        return int(name) % len(self)

    def summary(self) -> str:
        """What is in here, in one line."""
        low, high = self.designs.points.min(), self.designs.points.max()
        span = f"{low:g} to {high:g}"
        sizes = self.sizes
        columns = self._union_grid()
        if columns is None:
            each = f"{sizes.min()}" if sizes.min() == sizes.max() else f"{sizes.min()} to {sizes.max()}"
            return f"{checks.counted(len(self), 'course')}, own times ({each} each, {span})"
        counts = np.unique(columns, axis=0, return_counts=True)[1]
        distinct, replicates = len(counts), len(columns) / len(counts)
        text = f"{checks.counted(len(self), 'course')}, {checks.counted(distinct, 'time')} ({span})"
        if replicates > 1:
            text += f" x {replicates:g} replicates" if len(set(counts)) == 1 else ", some replicated"
        missing = 1 - len(self.values) / (len(self) * len(columns))
        return text + (f", {100 * missing:.3g} % missing" if missing > 0 else "")

    def to_frame(self) -> pd.DataFrame:
        """Tidy table with columns course, time, value (and error)."""
        import pandas as pd

        if self.designs.points.shape[1] > 1:
            raise InputError("a tidy table has one time column; these courses have several coordinates a point.")
        columns: dict[str, Any] = {
            "course": np.repeat(np.array(self.names, dtype=object), self.sizes),
            "time": self.times,
            "value": self.values,
        }
        if self.errors is not None:
            columns["error"] = self.errors
        return pd.DataFrame(columns)

    def to_matrix(self) -> tuple[Floats, Floats]:
        """All times that occur, and the values at them, NaN where a course has none: (t,) and (N, t).

        A time appears as often as the course with the most replicates there needs.
        """
        if self.designs.points.shape[1] > 1:
            raise InputError("a matrix has one column a time; these courses have several coordinates a point.")
        times, starts = self.designs.points[:, 0], self.designs.starts  # few, where many courses share their times
        first = np.concatenate([[True], times[1:] != times[:-1]])
        first[starts[:-1]] = True
        run = np.cumsum(first) - 1
        replicate = np.arange(len(times)) - np.flatnonzero(first)[run]
        pairs = np.column_stack([times, replicate])
        columns, column = np.unique(pairs, axis=0, return_inverse=True)
        matrix = np.full((len(self), len(columns)), np.nan)
        matrix[np.repeat(np.arange(len(self)), self.sizes), column.ravel()[self.design_rows]] = self.values
        return columns[:, 0], matrix

    # -- choosing and scaling --------------------------------------------------------------------------

    def select(self, which: Iterable[int | str] | NDArray[Any] | int | str | slice) -> TimeCourses:
        """The chosen courses, by names, positions, a slice or a mask, in that order."""
        chosen = self._positions(which)
        if len(chosen) == 0:
            raise InputError("no course was selected.")
        rows = ranges(self.starts[:-1][chosen], self.sizes[chosen])
        kept, design_of = np.unique(self.design_of[chosen], return_inverse=True)
        designs = take_designs(self.designs, kept)
        names = tuple(self.names[i] for i in chosen)
        return TimeCourses(
            names if len(set(names)) == len(names) else checks.unique_names(names, len(names)),
            designs,
            design_of.astype(np.intp).ravel(),
            frozen(self.values[rows]),
        )

    def by_condition(self) -> dict[str, TimeCourses]:
        """For each condition its courses, named without it; conditions in the order in which they first appear.

        Examples
        --------
        >>> names = ["Samd14 | wt", "Samd14 | mut", "Fbln5 | wt"]
        >>> both = TimeCourses.from_arrays([0, 1], [[1, 2], [1, 5], [3, 2]], names).by_condition()
        >>> {condition: courses.names for condition, courses in both.items()}
        {'wt': ('Samd14', 'Fbln5'), 'mut': ('Samd14',)}
        """
        if self._told is None:
            raise none_told(self.names[0])
        _, kinds, place = crossed(self._told)
        plain, found = self._told.names, {kind: np.sort(at[at >= 0]) for kind, at in zip(kinds, place.T, strict=True)}
        return {kind: replace(self.select(at), names=tuple(plain[i] for i in at)) for kind, at in found.items()}

    def centered(self, about: float = 0.0) -> TimeCourses:
        """The courses, each minus its own mean: shapes and sizes of change count, levels do not.

        Their means are then all `about`.
        """
        return self._with(self.values - np.repeat(self._means - about, self.sizes))

    def standardized(self) -> TimeCourses:
        """The courses, each with mean 0 and standard deviation 1: only shapes count.

        Errors are scaled along. Standardising blows up the noise of courses that hardly change: choose the
        variable ones first (:meth:`most_variable`). A constant course has no shape and is an error.
        """
        sd = self.standard_deviations
        flat = np.flatnonzero(sd <= 1e-12 * np.maximum(np.abs(self._means), np.finfo(float).tiny))
        if len(flat):
            raise InputError(
                f"course {self.names[flat[0]]!r} is constant{checks.and_more(len(flat))} and cannot be scaled to "
                "standard deviation 1. Leave such courses out, for instance with most_variable(n)."
            )
        each = np.repeat(sd, self.sizes)
        errors = None if self.errors is None else self.errors / each
        return self._with((self.values - np.repeat(self._means, self.sizes)) / each, errors)

    def with_errors(self, errors: Floats) -> TimeCourses:
        """The same courses with these known standard errors, one for each value."""
        return self._with(self.values, errors)

    def most_variable(self, n: int) -> TimeCourses:
        """The `n` courses whose values have the largest standard deviation, in their present order.

        Where courses have conditions (see :attr:`conditions`), the `n` names whose most variable condition varies
        most, each with all of its conditions: what is compared between conditions is chosen together. Where errors are
        known, the variance that they explain does not count, nor twice its own uncertainty: values that vary because
        little is known of them, as logarithms of few counts do, are not chosen for it.

        Examples
        --------
        >>> names = ["Samd14 | wt", "Samd14 | mut", "Fbln5 | wt", "Fbln5 | mut"]
        >>> courses = TimeCourses.from_arrays([0, 1], [[1, 1], [1, 9], [1, 3], [1, 4]], names)
        >>> courses.most_variable(1).names
        ('Samd14 | wt', 'Samd14 | mut')
        """
        place = np.arange(len(self))[:, None] if self._told is None else crossed(self._told).place
        if not checks.is_whole(n) or not 1 <= n <= len(place):
            what = "courses" if self._told is None else f"names under {place.shape[1]} conditions"
            raise InputError(f"most_variable({n}): there are {len(place)} {what} to choose from.")
        variance = np.where(place < 0, -np.inf, self._variances_beyond_errors[place]).max(axis=1)
        chosen = place[np.argsort(-variance, kind="stable")[:n]]
        return self.select(np.sort(chosen[chosen >= 0]))

    @cached_property
    def standard_deviations(self) -> Floats:
        """Standard deviation of the values of each course (0 for a single value)."""
        residual = self.values - np.repeat(self._means, self.sizes)
        squares = np.add.reduceat(residual**2, self.starts[:-1])
        return readonly(np.sqrt(squares / np.maximum(self.sizes - 1, 1)))

    @cached_property
    def _variances_beyond_errors(self) -> Floats:
        """Variance of each course less what its errors explain, and less twice the uncertainty of that."""
        if self.errors is None:
            return self.standard_deviations**2
        explained = np.add.reduceat(self.errors**2, self.starts[:-1]) / self.sizes
        uncertain = np.sqrt(2 / np.maximum(self.sizes - 1, 1))
        return self.standard_deviations**2 - explained * (1 + 2 * uncertain)

    # -- for the layers below ----------------------------------------------------------------------------

    def joined(self, others: TimeCourses) -> TimeCourses:
        """These courses followed by `others`; names may repeat, for use inside a computation only."""
        if self.designs.points.shape[1] != others.designs.points.shape[1]:
            raise InputError("the two sets of courses have points with different numbers of coordinates.")
        both = [self, others]
        points = np.concatenate([c.designs.points for c in both])
        errors = None
        if any(c.designs.errors is not None for c in both):
            errors = np.concatenate([np.sqrt(c.designs.variances) for c in both])
        stacked = Designs(points, errors, offsets(np.concatenate([c.designs.sizes for c in both])))
        designs, same = distinct(stacked)
        design_of = np.concatenate([self.design_of, others.design_of + len(self.designs)])
        values = np.concatenate([self.values, others.values])
        return TimeCourses(self.names + others.names, designs, same[design_of], frozen(values))

    @cached_property
    def members(self) -> list[Ints]:
        """For each design, the positions of its courses."""
        order = np.argsort(self.design_of, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.design_of, minlength=len(self.designs)))[:-1])

    def by_size(self) -> Iterator[tuple[Ints, Ints]]:
        """For each number of points: the designs that have it, ascending, and the positions of their courses."""
        for size in np.unique(self.designs.sizes):
            yield np.flatnonzero(self.designs.sizes == size), np.flatnonzero(self.sizes == size)

    def values_on(self, design: int) -> Floats:
        """Values of the courses of one design, (N_g, n_g)."""
        size = self.designs.sizes[design]
        if len(self.designs) == 1:
            return self.values.reshape(len(self), size)
        return self.values[self.starts[self.members[design]][:, None] + np.arange(size)]

    # -- inside --------------------------------------------------------------------------------------

    @cached_property
    def _position(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.names)}

    @cached_property
    def _told(self) -> Told | None:
        return told_apart(self.names)

    @cached_property
    def design_rows(self) -> Ints:
        """For each value, the row of its point in the designs, (M,)."""
        return readonly(ranges(self.designs.starts[:-1][self.design_of], self.sizes))

    @cached_property
    def _means(self) -> Floats:
        return readonly(np.add.reduceat(self.values, self.starts[:-1]) / self.sizes)

    def _union_grid(self) -> Floats | None:
        """Times of a common grid that is at least half filled, or None when courses have their own times."""
        if self.designs.points.shape[1] > 1:
            return self.grid
        if len(np.unique(self.designs.points)) > 2 * self.designs.sizes.max():
            return None
        columns, _ = self.to_matrix() if len(self.designs) > 1 else (self.designs.points[:, 0], None)
        return columns if 2 * len(self.values) > len(self) * len(columns) else None

    def _with(self, values: Floats, errors: Floats | None = None) -> TimeCourses:
        if errors is None:
            return TimeCourses(self.names, self.designs, self.design_of, frozen(values))
        owner = np.repeat(np.arange(len(self)), self.sizes)
        _check_errors(self.names, owner, self.points, errors)
        return TimeCourses(self.names, *distinct(Designs(self.points, errors, self.starts)), frozen(values))

    def _positions(self, which: Any) -> Ints:
        if isinstance(which, slice):
            return np.arange(len(self))[which]
        if isinstance(which, np.ndarray) and which.dtype.kind in "iu" and which.ndim == 1 and self._all_here(which):
            return np.where(which < 0, which + len(self), which).astype(np.intp)
        single = isinstance(which, str) or not isinstance(which, Iterable)
        if not single:
            checks.ordered(which, "the chosen courses")
        chosen = [which] if single else list(np.atleast_1d(which) if isinstance(which, np.ndarray) else which)
        if chosen and all(isinstance(c, (bool, np.bool_)) for c in chosen):
            if len(chosen) != len(self):
                raise InputError(f"the mask has {len(chosen)} entries for {len(self)} courses.")
            return np.flatnonzero(chosen)
        return np.array([self.index(c) for c in chosen], dtype=np.intp)

    def _all_here(self, positions: Ints) -> bool:
        return len(positions) > 0 and bool(-len(self) <= positions.min() and positions.max() < len(self))


# -- from arrays ---------------------------------------------------------------------------------------------


def _row_names(values: Any) -> Iterable[object] | None:
    """The index of a table, where it says more than numbers the rows."""
    index = getattr(values, "index", None) if hasattr(values, "columns") else None
    return None if index is None or type(index).__name__ == "RangeIndex" else list(index)


def _is_ragged(times: Any) -> bool:
    """Whether `times` is a list with one array a course, rather than one array for all."""
    if isinstance(times, np.ndarray) and times.dtype != object:
        return False
    return isinstance(times, (list, tuple, np.ndarray)) and len(times) > 0 and np.ndim(times[0]) >= 1


def _from_grid(times: Any, values: Any, names: Iterable[object] | None, errors: Any) -> TimeCourses:
    points = checks.as_points(checks.numbers(times, "times"))
    matrix = np.atleast_2d(checks.numbers(values, "values", names))
    if points.shape == matrix.shape and len(points) > 1:
        raise InputError(
            f"times and values both have shape {matrix.shape}. Are these each course's own times? Give them as lists "
            "of arrays, list(times) and list(values)."
        )
    if matrix.ndim != 2 or matrix.shape[1] != len(points):
        raise InputError(
            f"values have shape {np.shape(values)}, but there are {len(points)} times: expected (courses, "
            f"{len(points)}), one row a course."
        )
    if matrix.size == 0:
        raise InputError(f"values have shape {matrix.shape}: there is nothing to work on.")
    labels = checks.unique_names(names, len(matrix))
    checks.finite_times(points)
    order = np.lexsort(points.T[::-1])
    points, matrix = points[order], matrix[:, order]
    present = ~np.isnan(matrix)
    if errors is not None:
        sd = checks.numbers(errors, "errors", names)
        if sd.shape not in (matrix.shape, matrix.shape[1:], ()):
            raise InputError(f"errors have shape {sd.shape}, values {matrix.shape}: give one error for each value.")
        sd = np.broadcast_to(sd, matrix.shape)[:, order]
        owner, column = np.nonzero(present)
        return _from_flat(labels, owner, points[column], matrix[present], sd[present])
    checks.finite(matrix, labels, points)
    if present.all():
        designs = Designs(frozen(points), None, np.array([0, len(points)]))
        return TimeCourses(labels, designs, np.zeros(len(matrix), np.intp), frozen(matrix.ravel()))
    return _from_patterns(labels, points, matrix, present)


def _by_condition(
    times: Floats, values: Floats, errors: Floats, names: Sequence[str], conditions: Sequence[str]
) -> TimeCourses:
    """A course for each name and condition."""
    kinds = list(dict.fromkeys(conditions))
    own = np.array(conditions) == np.array(kinds)[:, None]
    split = np.where(own, values[:, None], np.nan).reshape(-1, len(times))
    labels = [joined(name, kind) for name in names for kind in kinds]
    return TimeCourses.from_arrays(times, split, labels, np.repeat(errors, len(kinds), axis=0))


def _from_patterns(names: tuple[str, ...], points: Floats, matrix: Floats, present: Bools) -> TimeCourses:
    """Shared grid with gaps: one design for each pattern of what was measured."""
    checks.not_empty(present.sum(axis=1), names)
    patterns, design_of = np.unique(present, axis=0, return_inverse=True)
    rows = np.concatenate([np.flatnonzero(p) for p in patterns])
    designs = Designs(frozen(points[rows]), None, offsets(patterns.sum(axis=1)))
    return TimeCourses(names, designs, design_of.astype(np.intp).ravel(), frozen(matrix[present]))


def _from_ragged(times: Any, values: Any, names: Iterable[object] | None, errors: Any) -> TimeCourses:
    labels = checks.unique_names(names, len(times))
    points = _each(times, labels, "times")
    series = _each(values, labels, "values")
    points = [checks.as_points(x, f"times of course {n!r}") for n, x in zip(labels, points, strict=True)]
    _check_lengths(labels, points, series, "values")
    owner = np.repeat(np.arange(len(labels)), [len(x) for x in points])
    flat = np.concatenate(points)
    bad = ~np.isfinite(flat).all(axis=1)
    if bad.any():
        first = int(np.argmax(bad))
        found = checks.time(flat[first])
        raise InputError(f"times of course {labels[owner[first]]!r} must be finite numbers, found {found}.")
    sd = None
    if errors is not None:
        known = _each(errors, labels, "errors")
        _check_lengths(labels, points, known, "errors")
        sd = np.concatenate([e.ravel() for e in known])
    return _from_flat(labels, owner, flat, np.concatenate([y.ravel() for y in series]), sd)


def _each(arrays: Any, names: tuple[str, ...], what: str) -> list[Floats]:
    """One array of numbers for each course."""
    if not hasattr(arrays, "__len__") or len(arrays) != len(names):
        found = len(arrays) if hasattr(arrays, "__len__") else arrays
        raise InputError(f"{what} are for {found} courses, times for {len(names)} courses: give one array a course.")
    return [checks.numbers(x, f"{what} of course {n!r}") for n, x in zip(names, arrays, strict=True)]


def _check_lengths(names: tuple[str, ...], points: list[Floats], arrays: list[Floats], what: str) -> None:
    """Raise if a course has not as many `what` as times, or points of another space than the first."""
    for name, x, y in zip(names, points, arrays, strict=True):
        if len(x) != y.size:
            times = checks.counted(len(x), "time")
            raise InputError(f"course {name!r} has {times} and {y.size} {what}: give one for each time.")
        if x.shape[1] != points[0].shape[1]:
            raise InputError(
                f"points of course {name!r} have {checks.counted(x.shape[1], 'coordinate')}, those of {names[0]!r} "
                f"have {points[0].shape[1]}."
            )


def _from_flat(
    names: tuple[str, ...], owner: Ints, points: Floats, values: Floats, errors: Floats | None
) -> TimeCourses:
    """Courses from one row a measurement, in any order."""
    present = ~np.isnan(values)
    if not present.all():
        owner, points, values = owner[present], points[present], values[present]
        errors = None if errors is None else errors[present]
    lengths = np.bincount(owner, minlength=len(names))
    checks.not_empty(lengths, names)
    infinite = np.isinf(values)
    if infinite.any():
        at = int(np.argmax(infinite))
        raise InputError(checks.infinite(names[owner[at]], points[at], values[at]))
    if errors is not None:
        _check_errors(names, owner, points, errors)
    order = np.lexsort((*points.T[::-1], owner))  # replicates keep the order in which they came
    points, errors = points[order], None if errors is None else errors[order]
    designs, design_of = distinct(Designs(points, errors, offsets(lengths)))
    return TimeCourses(names, designs, design_of, frozen(values[order]))


def _check_errors(names: tuple[str, ...], owner: Ints, points: Floats, errors: Floats) -> None:
    """Raise where the error of a value is none."""
    if not (valid := np.isfinite(errors) & (errors >= 0)).all():
        at = int(np.argmin(valid))
        raise InputError(
            f"the error of course {names[owner[at]]!r} at time {checks.time(points[at])} is {errors[at]}: expected a "
            "finite standard error, zero or more. Where a value says nothing, give NaN for the value."
        )
