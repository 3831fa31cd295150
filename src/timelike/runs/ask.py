"""ask: from files of courses to an answer for each of them, with tables, figures and a report, in one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from timelike.courses import TimeCourses
from timelike.exceptions import DataWarning, InputError, warn
from timelike.gp import GP
from timelike.gp.kernels import name_of
from timelike.gp.look import like_counts
from timelike.questions.changing import ALL, changing
from timelike.questions.compare import compare
from timelike.questions.found import Found
from timelike.questions.modelling import check_conditions, model_for
from timelike.questions.telling import sentence
from timelike.runs.analyse import _source, in_time, warnings_kept
from timelike.runs.answer_folder import write
from timelike.runs.beside import by_name, together
from timelike.runs.folder import Say, claimed
from timelike.runs.question_record import COMPARE, QUESTIONS, QuestionRecord, Wish, Wishes
from timelike.runs.record import GIVEN, Source

if TYPE_CHECKING:
    import pandas as pd

Data = str | PathLike[str] | TimeCourses | Sequence[str | PathLike[str]]


@dataclass(frozen=True, eq=False)
class Asked:
    """An answer, with the record of how it came about, the files that were written, and what could not be made."""

    found: Found
    record: QuestionRecord
    files: tuple[Path, ...] = ()
    failed: tuple[str, ...] = ()


def ask(
    question: str,
    data: Data | Mapping[str, Data],
    out: str | PathLike[str] | None = None,
    *,
    model: GP | str | PathLike[str] | None = None,
    reading: dict[str, Any] | None = None,
    overwrite: bool = False,
    say: Say | None = None,
    **wishes: Unpack[Wishes],
) -> Asked:
    """The whole job: read, fit, ask, and write tables, figures and a report, each as it comes.

    Parameters
    ----------
    question
        "compare" or "changing".
    data
        A file for :func:`timelike.read`, or courses; to compare also a mapping from a condition to either.
    out
        Folder for the results; without one nothing is written.
    model
        Ask under this model, or model file, instead of fitting one.
    reading
        Options of :func:`timelike.read`.
    overwrite
        Write into a folder that has files already.
    say
        Called with a line about each step.
    **wishes
        ``between``, ``fdr``, ``top``, ``kernel``, ``clock``, ``title``, ``time_unit``, ``value_name``: see
        :class:`timelike.runs.question_record.Wish`.

    Examples
    --------
    >>> import timelike as tl
    >>> courses, _ = tl.simulate.replicated(per_group=20, seed=1)
    >>> ask("changing", courses).record.answer
    '60 of 60 courses change at an expected false discovery rate of 5 %, 60 at 1 %.'
    """
    if question not in QUESTIONS:
        raise InputError(f"there is no question {question!r}: choose {' or '.join(QUESTIONS)}.")
    wish = Wish.of(**wishes)
    say = say or (lambda _: None)
    with claimed(out, overwrite) as folder, warnings_kept() as notes:
        courses, sources, subjects, details = _given(data, reading or {}, say)
        groups = _conditions(courses, wish.between) if question == COMPARE else {ALL: _one(courses)}
        gp = _model(groups, model, wish, say)
        wish = wish if model is None else replace(wish, kernel=name_of(gp.kernel), clock=gp.clock or "linear")
        paired = None if subjects is None else {name: subjects.get(name, ()) for name in groups}
        found = compare(groups, gp, subjects=paired) if question == COMPARE else changing(groups[ALL], gp)
        given = None if model is None else GIVEN
        kept = tuple(dict.fromkeys(notes()))
        record = QuestionRecord(question, sources, wish, given, notes=kept, answer=sentence(found, wish.fdr))
        if folder is None:
            return Asked(found, record)
        written, failed = write(found, record, folder, say, details, overwrite)
        return Asked(found, written, tuple(folder / name for name in written.outputs), failed)


def _given(
    data: Data | Mapping[str, Data], reading: dict[str, Any], say: Say
) -> tuple[dict[str, TimeCourses], dict[str, Source], dict[str, tuple[str, ...]] | None, pd.DataFrame | None]:
    """The courses of each condition, where they are from, whose samples, and details by the courses' names.

    The condition is "" where one source has all of them.
    """
    several = dict(data) if isinstance(data, Mapping) else {"": data}
    courses, sources, details = {}, {}, []
    subjects: dict[str, tuple[str, ...]] | None = None
    for condition, one in several.items():
        courses[condition], source, doubts, _, whose, beside = _source(one, reading)
        details.append(by_name(courses[condition], beside))
        if whose is not None:
            subjects = (subjects or {}) | (whose if not condition else {condition: next(iter(whose.values()))})
        sources[condition] = source
        for line in source.understood:
            say(f"{condition}: {line}" if condition else line)
        for doubt in (*doubts, *like_counts(courses[condition])):
            warn(doubt, DataWarning)
    units = {source.time_unit: condition for condition, source in sources.items() if source.time_unit}
    if len(units) > 1:
        told = ", ".join(f"{condition} in {unit}" for unit, condition in units.items())
        raise InputError(f"the times of the conditions have several units ({told}). Write them in one.")
    return courses, sources, subjects, together(details)


def _one(courses: dict[str, TimeCourses]) -> TimeCourses:
    if len(courses) > 1:
        raise InputError("which courses change is asked of one file: give one at a time.")
    return next(iter(courses.values()))


def _conditions(courses: dict[str, TimeCourses], between: tuple[str, ...] | None) -> dict[str, TimeCourses]:
    """Condition -> its courses; those that are wanted, in the order that is wanted."""
    one = courses.get("")
    if one is not None and one.conditions is None:
        raise InputError(
            f"nothing tells the conditions of these courses: the first is called {one.names[0]!r}. Say which samples "
            "are of which condition, by a sample sheet (--samples) or by the headers (--header '{condition}_{time}_"
            "{replicate}'); or give a file for each condition, as wt=wt.csv mut=mut.csv."
        )
    found = check_conditions(courses if one is None else one)
    for name in between or ():
        if name not in found:
            raise InputError(f"there is no condition {name!r}: the conditions are {', '.join(map(repr, found))}.")
    return found if between is None else check_conditions({name: found[name] for name in between})


def _model(conditions: dict[str, TimeCourses], model: GP | str | PathLike[str] | None, wish: Wish, say: Say) -> GP:
    """The model that is given, by itself or as a file, or one fitted to a sample of all courses."""
    if model is not None:
        gp = model if isinstance(model, GP) else GP.load(model)
        return replace(gp, log_likelihood=None)  # which was of the courses it was fitted to
    gp = model_for(conditions, None, wish.kernel, wish.clock)
    say(f"fitted: {in_time(gp)}signal sd {gp.signal_sd:.4g}, noise sd {gp.noise_sd:.4g}")
    return gp
