"""Several files as one set of courses, matched by name: replicates of the courses, or conditions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from timelike.base.checks import counted, first_few
from timelike.courses import TimeCourses
from timelike.courses.conditions import joined
from timelike.exceptions import InputError
from timelike.reading.options import Settings
from timelike.reading.time_headers import TimeColumns
from timelike.reading.understood import Understood
from timelike.reading.wide import Matrix, assemble

if TYPE_CHECKING:
    import pandas as pd

REPLICATES, CONDITIONS = "replicates", "conditions"


def read_several(sources: Sequence[Any], settings: Settings, read_one: Callable[..., Understood]) -> Understood:
    """The courses of several files, as `read_one` reads each of them.

    As replicates, values of a name in all files are one course; as conditions, a name is a course in each file.
    """
    if len(sources) < 2:
        raise InputError(f"a list of {counted(len(sources), 'file')}: expected two or more, or the file itself.")
    labels = labels_of(sources)
    each = replace(settings, files=None, counts=None) if settings.counts else replace(settings, files=None)
    found = [read_one(source, **vars(each)) for source in sources]
    unit = _unit(found, labels)
    named = found
    if settings.files == CONDITIONS:
        named = [_under(label, one) for label, one in zip(labels, found, strict=True)]
    else:
        _check_names(found, labels)
    joint = _counted(_samples(found, labels, settings), unit, settings) if settings.counts else _joined(named)
    notes = [f"{label}: {note}" for label, one in zip(labels, found, strict=True) for note in one.notes]
    notes += _in_some(found, labels) if not settings.counts else []
    apart = [
        part._replace(what=f"{part.what} ({a})") for a, b in zip(labels, found, strict=True) for part in b.left_out
    ]
    return replace(
        joint,
        unused=tuple(dict.fromkeys(name for one in found for name in one.unused)),
        time_unit=unit,
        how=f"{_said(found, labels, settings)}{joint.how}",
        notes=(*notes, *joint.notes),
        details=_details(named, joint.courses.names),
        left_out=(*apart, *joint.left_out),
    )


def labels_of(sources: Sequence[Any]) -> list[str]:
    """What each file is called, by the part of its name that tells it from the others.

    Examples
    --------
    >>> labels_of(["run/genes_wt.csv.gz", "run/genes_mut.csv.gz"])
    ['wt', 'mut']
    >>> labels_of(["rep1.txt", "rep2.txt"])
    ['rep1', 'rep2']
    """
    paths = [Path(source) if isinstance(source, (str, PathLike)) else None for source in sources]
    known = [path.resolve() for path in paths if path is not None]
    if len(set(known)) < len(known):
        twice = next(path for path, count in Counter(known).items() if count > 1)
        raise InputError(f"{twice.name} is given twice: name each file once.")
    stems = [path.name.split(".")[0] if path is not None else f"table {i}" for i, path in enumerate(paths, 1)]
    words = [re.split(r"([_\-\s]+)", stem) for stem in stems]
    front, back = _shared(words), _shared([own[::-1] for own in words])
    short = ["".join(own[front : len(own) - back]).strip("_- ") for own in words]
    if len(set(short)) == len(short) and all(short):
        return short
    return stems if len(set(stems)) == len(stems) else [str(path) for path in paths]


def _shared(words: Sequence[Sequence[str]]) -> int:
    """How many first words all have in common; at least one word of each is its own."""
    most = min(map(len, words)) - 1
    return next((k for k in range(most) if len({own[k] for own in words}) > 1), max(most, 0))


def _unit(found: Sequence[Understood], labels: Sequence[str]) -> str | None:
    units = {one.time_unit: label for one, label in zip(found, labels, strict=True) if one.time_unit}
    if len(units) > 1:
        told = ", ".join(f"{label} in {unit}" for unit, label in units.items())
        raise InputError(f"the times of the files have several units ({told}). Write them in one.")
    return next(iter(units), None)


def _under(label: str, found: Understood) -> Understood:
    """The courses with the file as their condition."""
    if found.courses.conditions is not None:
        kinds = first_few(sorted(set(found.courses.conditions)))
        raise InputError(
            f"{label} has conditions of its own ({kinds}), so that files cannot be conditions too: leave out "
            "files='conditions' (--files conditions) to take the files as replicates."
        )
    names = tuple(joined(name, label) for name in found.courses.names)
    return replace(found, courses=replace(found.courses, names=names))


def _check_names(found: Sequence[Understood], labels: Sequence[str]) -> None:
    """Raise if no name is in two files: then nothing is a replicate of anything."""
    if max(_files_of(found).values()) > 1:
        return
    first = ", ".join(f"{label} has {one.courses.names[0]!r}" for label, one in zip(labels, found, strict=True))
    raise InputError(
        f"no course is in two of the files: {first}. Files are matched by name: say which column has the names "
        "(course=, --course), or put different courses into one file."
    )


def _files_of(found: Sequence[Understood]) -> Counter[str]:
    """Name -> how many files have it, as they first appear."""
    return Counter(name for one in found for name in one.courses.names)


def _in_some(found: Sequence[Understood], labels: Sequence[str]) -> list[str]:
    """A note about courses that are not in all files."""
    few = [name for name, files in _files_of(found).items() if files < len(found)]
    if not few:
        return []
    where = {name: label for label, one in zip(labels, found, strict=True) for name in one.courses.names}
    told = first_few([f"{name} in {where[name]}" if len(found) == 2 else name for name in few])
    return [f"{counted(len(few), 'course')} not in every file, with what there is of each: {told}"]


def _said(found: Sequence[Understood], labels: Sequence[str], settings: Settings) -> str:
    role = settings.files or REPLICATES
    hows = list(dict.fromkeys(one.how for one in found))
    each = hows[0] if len(hows) == 1 else "; ".join(f"{a}: {b.how}" for a, b in zip(labels, found, strict=True))
    return f"{len(found)} files ({first_few(labels)}), taken as {role}, matched by name; each {each}"


# -- one set of courses ------------------------------------------------------------------------------------------


def _joined(found: Sequence[Understood]) -> Understood:
    """All values of a name as one course."""
    names = tuple(_files_of(found))
    row = {name: i for i, name in enumerate(names)}
    parts = [one.courses for one in found]
    owner = np.concatenate([np.repeat([row[name] for name in part.names], part.sizes) for part in parts])
    order = np.argsort(owner, kind="stable")
    ends = np.cumsum(np.bincount(owner))[:-1]

    def each(values: Sequence[Any]) -> list[Any]:
        return np.split(np.concatenate(values)[order], ends)

    errors = None
    if any(part.errors is not None for part in parts):
        errors = each([np.zeros(len(part.values)) if part.errors is None else part.errors for part in parts])
    times, values = each([part.times for part in parts]), each([part.values for part in parts])
    return Understood(TimeCourses.from_arrays(times, values, names, errors))


class Samples(NamedTuple):
    """Counts of the samples of one condition of a file: the file, the condition, and the genes by their plain names."""

    label: str
    kind: str
    courses: TimeCourses

    @property
    def called(self) -> list[str]:
        """What the samples are called: by their file, and their time."""
        return [f"{self.label} {time:g}" for time in self.courses.times[: self.courses.sizes[0]]]


def _samples(found: Sequence[Understood], labels: Sequence[str], settings: Settings) -> list[Samples]:
    """The counts of all files; each says which condition it is of, where there are conditions."""
    result = []
    for label, one in zip(labels, found, strict=True):
        own = label if settings.files == CONDITIONS else ""
        parts = {own: one.courses} if one.courses.conditions is None else one.courses.by_condition()
        for kind, part in parts.items():
            if len(part.designs) > 1:
                few = part.names[int(part.sizes.argmin())]
                raise InputError(
                    f"{label}: {few!r} has fewer counts than others. Every gene needs one in every sample."
                )
            result.append(Samples(label, kind, part))
    return result


def _counted(samples: Sequence[Samples], unit: str | None, settings: Settings) -> Understood:
    """Courses from the counts of all files, normalised together: every gene must be in every file."""
    genes = list(dict.fromkeys(gene for one in samples for gene in one.courses.names))
    for one in samples:
        if missing := [gene for gene in genes if gene not in one.courses]:
            raise InputError(
                f"{one.label} has no counts of {first_few(missing)}. Counts of several files are normalised together: "
                "give every gene in every file, zeros too."
            )
    parts = [one.courses.select(genes).values.reshape(len(genes), -1) for one in samples]
    kinds = tuple(one.kind for one in samples for _ in one.called)
    called = [name for one in samples for name in one.called]
    times = np.concatenate([one.courses.times[: one.courses.sizes[0]] for one in samples])
    columns = TimeColumns(tuple(range(len(times))), times, kinds if len(set(kinds)) > 1 else (), unit)
    where = Matrix(genes, np.concatenate(parts, axis=1), columns, lambda i: genes[i], called, lambda _, k: called[k])
    return assemble(where, settings)


def _details(found: Sequence[Understood], names: Sequence[str]) -> pd.DataFrame | None:
    """What the files say about each course: the first of them that says something."""
    known = [one.details.set_axis(list(one.courses.names)) for one in found if one.details is not None]
    if not known:
        return None
    columns = list(dict.fromkeys(column for one in known for column in one))
    return (
        reduce(lambda one, two: one.combine_first(two), known)
        .reindex(list(names))[columns]
        .fillna("")
        .reset_index(drop=True)
    )
