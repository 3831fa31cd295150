"""changing: which courses change over time, and when, each with a probability."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from timelike.base import checks
from timelike.base.arrays import Floats, Ints
from timelike.base.dask_workers import check_client
from timelike.base.odds import running_fdr
from timelike.courses import TimeCourses
from timelike.exceptions import DataWarning, InputError, warn
from timelike.gp import GP, Curve
from timelike.questions import modelling
from timelike.questions.asked import Contrast, Nuisance, Question, answered, drawn_effects, effect_at
from timelike.questions.coordinates import FEW, Coordinates
from timelike.questions.found import LIKELY, Found
from timelike.questions.measured import check_times, measured
from timelike.questions.permuted import Columns, reordered
from timelike.questions.shapes import shapes, sizes_between

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike

BEGUN = 0.25
"""A course has begun to change when it has gone so much of its largest way from where it started."""
DRAWS = 100
SEED = 20210527
INTERVAL = (0.05, 0.5, 0.95)
ALL = "all"


class When(NamedTuple):
    """Times of each course, (N,) each, NaN where it hardly changes: the middle, and the ends of an interval of 90 %."""

    time: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False, repr=False)
class Changing(Found):
    """Which courses change, see :func:`changing`. What a :class:`~timelike.questions.found.Found` has, and more."""

    def __repr__(self) -> str:
        called = len(self.called(0.05))
        return (
            f"Changing: {called:,} of {checks.counted(len(self), 'course')} change at an expected false discovery rate "
            f"of 5 % (in all about {self.share:.1%})"
        )

    def _permuted(self, samples: Columns, rng: np.random.Generator) -> Columns:
        return reordered(samples, rng)

    def curve(self, name: str | int, times: ArrayLike) -> Curve:
        """Mean and standard deviation, at `times`, of the curve of a course."""
        return self.curves(name, times)[ALL]

    @property
    def courses(self) -> TimeCourses:
        """What was asked about."""
        return self.question.measured.conditions[ALL]

    def select(self, fdr: float = 0.05) -> TimeCourses:
        """The courses that change, at an expected false discovery rate, in their present order.

        Where courses have conditions: all courses of each gene that changes under any of them, at a rate of genes.
        """
        called = self.called(fdr)
        if self.courses.conditions is None:
            return self.courses.select(np.sort(self._some(called, fdr)))
        genes, code = np.unique(np.array(self.courses.plain_names), return_inverse=True)
        unchanged = np.ones(len(genes))
        np.multiply.at(unchanged, code.ravel(), 1 - self.probability)
        chosen = running_fdr(1 - unchanged) <= fdr
        return self.courses.select(self._some(np.flatnonzero(chosen[code.ravel()]), fdr))

    def _some(self, chosen: Ints, fdr: float) -> Ints:
        if len(chosen) == 0:
            raise InputError(
                f"no course changes at an expected false discovery rate of {fdr:g}: the likeliest has a probability of "
                f"{self.probability.max():.3g}. Allow a higher rate, or take the most variable courses."
            )
        return chosen

    def change(self, name: str | int, times: ArrayLike) -> Curve:
        """Mean and standard deviation, at `times`, of a course's way from its mean level, if it changes."""
        asked = checks.as_points(checks.numbers(times, "times"))
        checks.finite_times(asked)
        found = effect_at(self.question, self.answer, np.array([self.index(name)]), asked, (0, 0))
        return Curve(found.mean[0], np.sqrt(found.variance[0]))

    @cached_property
    def _timing(self) -> tuple[When, When, Floats]:
        """When each course begins to change, when it is furthest from its start, and how far that is."""
        found = np.full((7, len(self)), np.nan)
        likely = np.flatnonzero(self.probability >= LIKELY)
        grid = self.grid
        for genes, curves in drawn_effects(self.question, self.answer, likely, grid[:, None], DRAWS, SEED):
            way = curves - curves[:, :, :1]
            size = np.abs(way)
            furthest = size.argmax(axis=2)
            begun = (size >= BEGUN * size.max(axis=2, keepdims=True)).argmax(axis=2)
            found[:3, genes] = np.quantile(grid[begun], INTERVAL, axis=1)
            found[3:6, genes] = np.quantile(grid[furthest], INTERVAL, axis=1)
            mean = way.mean(axis=1)
            found[6, genes] = mean[np.arange(len(genes)), np.abs(mean).argmax(axis=1)]
        return When(found[1], found[0], found[2]), When(found[4], found[3], found[5]), found[6]

    @property
    def first_change(self) -> When:
        """When each course begins to change: has gone a quarter of its largest way from where it started."""
        return self._timing[0]

    @property
    def peak(self) -> When:
        """When each course is furthest from where it started."""
        return self._timing[1]

    @property
    def largest_change(self) -> Floats:
        """How far each course goes from where it started, with its sign, in the units of the values, (N,)."""
        return self._timing[2]

    def to_frame(self) -> pd.DataFrame:
        """Table with a row for each course, the surest first.

        Columns: name, log_bayes_factor, probability, fdr, largest_change, first_change and peak with the ends of their
        intervals of 90 %; these are empty where a course does not change more probably than not.
        """
        first, peak = self.first_change, self.peak
        columns = {
            "largest_change": self.largest_change,
            "first_change": first.time,
            "first_change_from": first.low,
            "first_change_to": first.high,
            "peak": peak.time,
            "peak_from": peak.low,
            "peak_to": peak.high,
        }
        return self._numbers().assign(**columns).iloc[self.order].reset_index(drop=True)


def changing(courses: TimeCourses, gp: GP | None = None, *, threads: int | None = None, client: Any = None) -> Changing:
    """Which courses change over time: a curve, or a level; a probability, an expected false discovery rate, and when.

    A course that changes does so smoothly or roughly, by any size; how frequent each is, and how frequent changes are
    at all, is learned from all courses together. The level of a course and its own noise are summed out.

    Parameters
    ----------
    courses
    gp
        The model whose kernel, clock and noise are used; by default one is fitted to a sample of the courses.
    threads
        Number of threads; by default all that this process may use.
    client
        A ``dask.distributed.Client``: its workers weigh the evidence instead of threads of this process.

    Returns
    -------
    Changing

    Examples
    --------
    >>> import timelike as tl
    >>> rng = np.random.default_rng(1)
    >>> times = np.repeat([0.0, 2, 4, 8], 3)
    >>> values = rng.normal(size=(50, 12))
    >>> values[:5] += times
    >>> found = tl.changing(tl.TimeCourses.from_arrays(times, values))
    >>> [found.names[i] for i in found.called(fdr=0.01)]
    ['2', '1', '3', '0', '4']
    """
    checks.instance(courses, TimeCourses, "courses")
    if client is not None:
        check_client(client)
    given = {ALL: courses}
    times = check_times(given)
    if len(np.unique(times)) < 2:
        raise InputError(f"all values are of one time, {times[0, 0]:g}: nothing can change.")
    model = modelling.model_for(given, gp)
    noise, largest = modelling.typical_noise(given, model), modelling.largest_change(given)
    batches = modelling.has_replicates(given)
    kinds = shapes(model.kernel, times, sizes_between(noise, largest, modelling.furthest(given)), FEW, batches=batches)[
        1:
    ]
    here = measured(given, model, Coordinates.of(times, [shape.kernel for shape in kinds]), courses.names)
    level = np.ones((len(here.coordinates.points), 1))
    question = Question(
        here,
        (Contrast("changes", np.ones((1, 1))),),
        tuple(kinds),
        (Nuisance(level, 1),),
        modelling.own_curves(here, model.kernel, model.signal_sd),
    )
    found = Changing(
        question, answered(question, threads=threads, client=client), model, tuple(modelling.without_replicates(given))
    )
    for note in found.notes:
        warn(note, DataWarning)
    return found
