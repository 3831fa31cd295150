"""compare: which genes differ between conditions, when and how, each with a probability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from timelike.base import checks
from timelike.base.arrays import Floats, Ints
from timelike.base.dask_workers import check_client
from timelike.courses import TimeCourses
from timelike.exceptions import DataWarning, InputError, warn
from timelike.gp import GP, Curve
from timelike.questions import modelling
from timelike.questions.asked import Contrast, Question, answered, effect_at
from timelike.questions.bridged import bridged
from timelike.questions.coordinates import FEW, Coordinates
from timelike.questions.delays import delays, share_delayed
from timelike.questions.found import LIKELY, Found
from timelike.questions.measured import check_times, matched, measured
from timelike.questions.partitions import contrast_of, in_words, partitions
from timelike.questions.shapes import LEVEL, SMOOTH, shapes, sizes_between

if TYPE_CHECKING:
    import pandas as pd

MOST_CONDITIONS = 6
BAND = 1.959963984540054
"""Standard deviations of a band that holds 95 %."""


class Largest(NamedTuple):
    """The largest difference of each gene, if it differs: (N,) each, NaN where nothing can tell."""

    difference: Floats
    """In the units of the values; above zero where the second of the two conditions is higher."""
    time: Floats
    pair: Ints
    """Which of the pairs of conditions, see `Compared.pairs`."""


class Delayed(NamedTuple):
    """Of each gene the probability that it differs by a delay alone, if it differs, and the delay, (N,) each."""

    probability: Floats
    delay: Floats
    """Of the second condition against the first, in the unit of the times."""


@dataclass(frozen=True, eq=False, repr=False)
class Compared(Found):
    """Which genes differ between conditions, see :func:`compare`.

    What a :class:`~timelike.questions.found.Found` has, and

    Attributes
    ----------
    left_out : tuple of str
        Names that fewer than two conditions have.
    """

    left_out: tuple[str, ...] = ()

    def __repr__(self) -> str:
        called = len(self.called(0.05))
        return (
            f"Compared: {checks.counted(len(self), 'course')} under {' and '.join(self.conditions)}; {called:,} differ "
            f"at an expected false discovery rate of 5 % (in all about {self.share:.1%})"
        )

    @property
    def conditions(self) -> tuple[str, ...]:
        """The conditions, in the order in which they were given."""
        return tuple(self.question.measured.conditions)

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """All pairs of conditions, by position."""
        count = len(self.conditions)
        return [(a, b) for a in range(count) for b in range(a + 1, count)]

    @cached_property
    def partitions(self) -> pd.DataFrame:
        """Probability of every way in which conditions can be alike: a row a gene, a column a partition.

        Where a gene was not measured in a condition, what its values cannot tell is as frequent as among others.
        """
        import pandas as pd

        each = self.posterior[:, :, self.question.counted].sum(axis=2)
        possible, prior = self.answer.possible > 0, self.answer.shares.kinds
        rest = np.maximum(1 - each.sum(axis=1), 0)
        untold = np.column_stack([np.full(len(self), prior[0]), np.where(possible, 0, prior[1:])])
        all_alike = untold / untold.sum(axis=1, keepdims=True) * rest[:, None]
        table = all_alike + np.column_stack([np.zeros(len(self)), np.where(possible, each, 0)])
        words = [in_words(one, self.conditions) for one in partitions(len(self.conditions))]
        return pd.DataFrame(table, index=pd.Index(self.names, name="name"), columns=words)

    def difference(self, name: str | int, times: ArrayLike, between: tuple[str, str] | None = None) -> Curve:
        """Mean and standard deviation, at `times`, of a gene's difference between two conditions, if they differ.

        The second condition less the first: above zero where the second is higher.

        Parameters
        ----------
        name
        times
        between
            Two of the conditions; may be left out where there are only two.
        """
        gene, pair = self.index(name), self._pair(between)
        asked = checks.as_points(checks.numbers(times, "times"))
        checks.finite_times(asked)
        found = effect_at(self.question, self.answer, np.array([gene]), asked, pair)
        return Curve(found.mean[0], np.sqrt(found.variance[0]))

    def intervals(self, name: str | int, between: tuple[str, str] | None = None) -> list[tuple[float, float, int]]:
        """When a gene differs: (from, to, sign) for each stretch of time in which 95 % of the band is off zero.

        The sign is that of the second condition less the first. Stretches that nothing was measured between are one.
        """
        curve = self.difference(name, self.grid, between)
        return bridged(stretches(self.grid, curve), check_times(self.question.measured.conditions))

    def _pair(self, between: tuple[str, str] | None) -> tuple[int, int]:
        if between is None:
            if len(self.conditions) > 2:
                raise InputError(f"say between which two of {', '.join(self.conditions)}: between=(...).")
            return 0, 1
        unknown = [one for one in between if one not in self.conditions]
        if unknown or len(between) != 2 or len(set(between)) != 2:
            raise InputError(f"between is {between!r}: expected two of {', '.join(map(repr, self.conditions))}.")
        return self.conditions.index(between[0]), self.conditions.index(between[1])

    @cached_property
    def largest(self) -> Largest:
        """The largest difference of each gene at the times of the coordinates, when, and between which conditions."""
        at = self.question.measured.coordinates.points
        genes = np.arange(len(self))
        curves = [effect_at(self.question, self.answer, genes, at, pair).mean for pair in self.pairs]
        stacked = np.stack(curves, axis=1)
        size = np.where(np.isnan(stacked), -1, np.abs(stacked)).reshape(len(self), -1)
        pair, time = np.unravel_index(size.argmax(axis=1), (len(self.pairs), len(at)))
        return Largest(stacked[genes, pair, time], at[time, 0], pair)

    @cached_property
    def level_only(self) -> Floats:
        """Probability that a gene that differs does so by the same amount at all times, (N,)."""
        level = np.array([shape.name == LEVEL for shape in self.question.shapes])[self.question.shape_of]
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.nan_to_num(self.posterior[:, :, level].sum(axis=(1, 2)) / self.probability)

    @property
    def over_time(self) -> Floats:
        """Probability that a gene differs, and not by the same amount at all times, (N,)."""
        return self.probability * (1 - self.level_only)

    @cached_property
    def delayed(self) -> Delayed:
        """How genes that differ more probably than not do so by a delay alone: probability, if they differ, and delay.

        NaN for the others, and where there are more than two conditions.
        """
        chance, delay = np.full((2, len(self)), np.nan)
        genes = np.flatnonzero(self.probability >= LIKELY)
        if len(self.conditions) == 2 and len(genes) and len(self.question.shapes) > 1:
            smooth = [shape.kernel for shape in self.question.shapes if shape.name.startswith(SMOOTH)][-1]
            found = delays(self.question, self.answer, smooth, self.gp.signal_sd, genes)
            odds = np.exp(np.clip(found.log_odds, -50, 50))
            share = share_delayed(found.log_odds)
            chance[genes] = share * odds / (share * odds + 1 - share)
            delay[genes] = found.delay
        return Delayed(chance, delay)

    @property
    def kinds(self) -> pd.DataFrame:
        """Probability of each kind of difference, if a gene differs: level (the same at all times), shape, delay."""
        import pandas as pd

        late = np.nan_to_num(self.delayed.probability)
        columns = {"level": self.level_only * (1 - late), "shape": (1 - self.level_only) * (1 - late), "delay": late}
        return pd.DataFrame(columns, index=pd.Index(self.names, name="name"))

    def to_frame(self) -> pd.DataFrame:
        """Table with a row for each gene, the surest first.

        Columns: name, log_bayes_factor, probability, fdr; over_time, the probability of a difference that is not the
        same at all times; kind (level, shape or delay) and how probable it is, if the gene differs; largest_difference
        with its time and the condition that is higher; delay of the second condition where that is the kind; with three
        or more conditions which two differ most, and the likeliest partition.
        """
        largest, kinds = self.largest, self.kinds
        pairs = np.array(self.pairs)[largest.pair]
        higher = np.where(largest.difference > 0, pairs[:, 1], pairs[:, 0])
        columns = {
            "over_time": self.over_time,
            "kind": [kinds.columns[k] for k in kinds.to_numpy().argmax(axis=1)],
            "kind_probability": kinds.to_numpy().max(axis=1),
            "largest_difference": largest.difference,
            "largest_at": largest.time,
            "higher_in": [self.conditions[c] for c in higher],
        }
        frame = self._numbers().assign(**columns)
        if len(self.conditions) == 2:
            frame["delay"] = np.where(frame["kind"] == "delay", self.delayed.delay, np.nan)
        else:
            table, chances = self.partitions, self.partitions.to_numpy()
            frame["between"] = [f"{self.conditions[a]} and {self.conditions[b]}" for a, b in pairs]
            frame["partition"] = [table.columns[k] for k in chances.argmax(axis=1)]
            frame["partition_probability"] = chances.max(axis=1)
        return frame.iloc[self.order].reset_index(drop=True)


def stretches(times: Floats, curve: Curve) -> list[tuple[float, float, int]]:
    """Where a curve's band of 95 % is off zero: (from, to, sign) of each stretch of the times.

    Examples
    --------
    >>> stretches(np.array([0.0, 1, 2, 3]), Curve(np.array([0, 3, 4, -3.0]), np.ones(4)))
    [(1.0, 2.0, 1), (3.0, 3.0, -1)]
    """
    sign = np.where(np.abs(curve.mean) > BAND * curve.sd, np.sign(curve.mean), 0).astype(int)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], sign, [0]])))
    return [(float(times[a]), float(times[b - 1]), int(sign[a])) for a, b in pairwise(edges.tolist()) if sign[a]]


def compare(
    conditions: Mapping[str, TimeCourses] | TimeCourses,
    gp: GP | None = None,
    *,
    subjects: Mapping[str, Sequence[object]] | None = None,
    threads: int | None = None,
    client: Any = None,
) -> Compared:
    """Which courses differ between conditions: a probability, an expected false discovery rate, when and how.

    Courses are matched by name; every condition may have times, replicates and gaps of its own. A course that differs
    does so by an effect over time, from the same amount at all times to one that is new at every time, of any size; how
    frequent each is, and how frequent differences are at all, is learned from all courses together. What conditions
    share is summed out, and so is the noise of each course.

    Parameters
    ----------
    conditions
        Condition -> its courses; or courses called "gene | condition".
    gp
        The model whose kernel, clock and noise are used; by default one is fitted to a sample of the courses. How
        much courses vary, and their level, do not matter here.
    subjects
        Whose sample each is, where the same subjects were measured under several conditions: condition -> a name for
        each sample, in the order of the courses' times. Every course then has a level for each subject.
    threads
        Number of threads; by default all that this process may use.
    client
        A ``dask.distributed.Client``: its workers weigh the evidence instead of threads of this process.

    Returns
    -------
    Compared

    Examples
    --------
    >>> import timelike as tl
    >>> rng = np.random.default_rng(1)
    >>> times = np.repeat([0.0, 2, 4, 8], 3)
    >>> wild, mutant = rng.normal(size=(2, 50, 12))
    >>> mutant[:5] += 4 * (times > 2)
    >>> names = [f"gene {i}" for i in range(50)]
    >>> found = tl.compare({"wt": tl.TimeCourses.from_arrays(times, wild, names),
    ...                     "mut": tl.TimeCourses.from_arrays(times, mutant, names)})
    >>> [found.names[i] for i in found.called(fdr=0.05)]
    ['gene 1', 'gene 3', 'gene 0', 'gene 4', 'gene 2']
    """
    if client is not None:
        check_client(client)
    given = modelling.check_conditions(conditions)
    if len(given) > MOST_CONDITIONS:
        raise InputError(
            f"there are {len(given)} conditions: every partition of them is a hypothesis, and with more than "
            f"{MOST_CONDITIONS} those are too many. Compare some of them at a time."
        )
    times = check_times(given)
    names, alone = matched(given, 2)
    if not names:
        some = "; ".join(f"{condition}: {checks.first_few(courses.names, 3)}" for condition, courses in given.items())
        raise InputError(f"no name stands in two conditions ({some}). Courses are matched by name.")
    notes = _notes(alone)
    model = modelling.model_for(given, gp)
    paired = None if subjects is None else modelling.subjects_of(given, subjects)
    question = _question(given, names, model, times, paired)
    found = Compared(question, answered(question, threads=threads, client=client), model, tuple(notes), alone)
    found = replace(found, notes=(*notes, *modelling.without_replicates(given), *_doubts(found.share)))
    for note in found.notes:
        warn(note, DataWarning)
    return found


def _question(
    given: Mapping[str, TimeCourses], names: tuple[str, ...], gp: GP, times: Floats, subjects: list[Floats] | None
) -> Question:
    noise, largest = modelling.typical_noise(given, gp), modelling.largest_change(given)
    replicates = modelling.has_replicates(given)
    kinds = shapes(gp.kernel, times, sizes_between(noise, largest, modelling.furthest(given)), FEW, batches=replicates)
    here = measured(given, gp, Coordinates.of(times, [shape.kernel for shape in kinds]), names, subjects)
    contrasts = [Contrast(in_words(one, list(given)), contrast_of(one)) for one in partitions(len(given))[1:]]
    return Question(
        here,
        tuple(contrasts),
        tuple(kinds),
        modelling.shared_curves(here, gp.kernel, gp.signal_sd),
        modelling.own_curves(here, gp.kernel, gp.signal_sd),
    )


def _notes(alone: tuple[str, ...]) -> list[str]:
    if not alone:
        return []
    return [
        f"{checks.counted(len(alone), 'course')} measured under one condition alone cannot be compared: "
        f"{checks.first_few(alone)}"
    ]


def _doubts(share: float) -> list[str]:
    if share < 0.8:
        return []
    return [
        f"about {share:.0%} of all courses differ: where nearly everything does, look first "
        "whether the conditions were normalised together, and whether times and units are the same."
    ]
