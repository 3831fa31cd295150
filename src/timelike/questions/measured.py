"""Measured: genes under conditions, matched by name, with all that their values say about their curves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from timelike.base import checks
from timelike.base.arrays import Floats, Ints
from timelike.courses import TimeCourses
from timelike.exceptions import InputError
from timelike.gp import GP
from timelike.gp.information import Information, information
from timelike.questions.coordinates import Coordinates, Features
from timelike.questions.effects import Known

BUDGET = 500_000
"""Numbers in the matrices of the genes that are worked on at once: they stay in the cache, and no thread waits long."""


class AboutSubjects(NamedTuple):
    """What courses say about a level that each subject has, beside their curves."""

    across: Floats
    """Between coordinates and subjects, (courses, r, J)."""
    own: Floats
    """Of each subject, (courses, J)."""
    b: Floats
    """(courses, J)."""


class Told(NamedTuple):
    """What the courses of a condition say."""

    about: Information
    """Their curves, at the coordinates."""
    squares: Floats
    """Sum of squares of each course, in units of its noise, (courses,)."""
    precision: Floats
    """Sum of the inverse noise variances of each course, (courses,)."""
    subjects: AboutSubjects | None


@dataclass(frozen=True, eq=False)
class Measured:
    """Genes under conditions.

    Attributes
    ----------
    names : tuple of str
        Of the genes, in the order in which they first appear.
    conditions : mapping
        Condition -> its courses.
    place : (N, C)
        Which course of a condition a gene has, -1 for none.
    coordinates
    told : tuple of Told
        What the courses of each condition say.
    middle : (N,)
        Level of each gene, which its values are counted from.
    """

    names: tuple[str, ...]
    conditions: Mapping[str, TimeCourses]
    place: Ints
    coordinates: Coordinates
    told: tuple[Told, ...]
    middle: Floats

    def __len__(self) -> int:
        return len(self.names)

    @property
    def counts(self) -> Floats:
        """Number of values of each gene, (N,)."""
        sizes = [courses.sizes for courses in self.conditions.values()]
        return np.sum([np.where(at >= 0, size[at], 0) for at, size in zip(self.place.T, sizes, strict=True)], axis=0)

    @cached_property
    def typical(self) -> Floats:
        """Noise variance of a typical value of each gene, at scale 1, (N,); of few counts, that of most genes.

        Batches of samples are measured by it: they come from how genes are expressed, not from how often they are read.
        """
        each = zip(self.place.T, self.told, strict=True)
        precision = np.sum([np.where(at >= 0, said.precision[at], 0) for at, said in each], axis=0)
        each_gene = self.counts / precision
        return np.minimum(each_gene, np.median(each_gene))

    @property
    def subjects(self) -> int:
        """How many subjects there are whose samples are paired; 0 where none are."""
        about = self.told[0].subjects
        return 0 if about is None else about.own.shape[1]

    def known(self, genes: Ints) -> Known:
        """What is known about the curves of some genes, all conditions beside each other, and levels of subjects."""
        r, J = len(self.coordinates.points), self.subjects
        p = len(self.told) * r
        A, b, squares = np.zeros((len(genes), p + J, p + J)), np.zeros((len(genes), p + J)), np.zeros(len(genes))
        for c, said in enumerate(self.told):
            rows = np.flatnonzero(self.place[genes, c] >= 0)
            at, part = self.place[genes[rows], c], slice(c * r, (c + 1) * r)
            A[rows, part, part] = said.about.A[said.about.design_of[at]]
            b[rows, part] = said.about.b[at]
            squares[rows] += said.squares[at]
            if said.subjects is not None:
                A[rows, part, p:] = said.subjects.across[at]
                A[rows, p:, part] = said.subjects.across[at].transpose(0, 2, 1)
                A[rows[:, None], p + np.arange(J), p + np.arange(J)] += said.subjects.own[at]
                b[rows, p:] += said.subjects.b[at]
        return Known(A, b, squares, self.counts[genes].astype(float), np.zeros(len(genes)))

    def padded(self, columns: Floats) -> Floats:
        """Columns over all conditions' coordinates, as columns over those and the levels of subjects."""
        return np.pad(columns, ((0, self.subjects), (0, 0)))

    def levels_of_subjects(self) -> Floats:
        """A column for the level of each subject, (C r + J, J)."""
        rows = len(self.told) * len(self.coordinates.points)
        return np.eye(rows + self.subjects)[:, rows:]

    def of(self, genes: Ints) -> Measured:
        """Some of the genes."""
        names = tuple(self.names[i] for i in genes)
        return replace(self, names=names, place=self.place[genes], middle=self.middle[genes])

    def pieces(self) -> Iterator[Ints]:
        """The genes, so many at once that their matrices stay small."""
        width = (len(self.told) * len(self.coordinates.points)) ** 2
        step = max(1, BUDGET // width)
        for first in range(0, len(self), step):
            yield np.arange(first, min(first + step, len(self)))


def measured(
    conditions: Mapping[str, TimeCourses],
    gp: GP,
    coordinates: Coordinates,
    names: tuple[str, ...],
    subjects: list[Floats] | None = None,
) -> Measured:
    """What the courses of each condition say, for the genes with these names.

    `subjects`: for each condition which subject each sample is of, (samples, subjects) of zeros and ones.
    """
    place = np.array([[courses._position.get(name, -1) for courses in conditions.values()] for name in names])
    place = place.reshape(len(names), len(conditions)).astype(np.intp)
    middle = _middle(conditions, place)
    told = []
    for c, courses in enumerate(conditions.values()):
        present = place[:, c] >= 0
        level = np.zeros(len(courses))
        level[place[present, c]] = middle[present]
        whose = None if subjects is None else subjects[c]
        told.append(_told(courses, gp.at(courses).value_noise, coordinates, level, whose))
    return Measured(names, conditions, place, coordinates, tuple(told), middle)


def _told(courses: TimeCourses, noise: Floats, coordinates: Coordinates, level: Floats, subject: Floats | None) -> Told:
    """What courses say about their curves, counted from a level of each."""
    features = coordinates.features(courses.designs.points)
    counted = courses._with(courses.values - np.repeat(level, courses.sizes))
    about = information(counted, 0.0, noise, features)  # type: ignore[arg-type]  # all that it takes of a basis
    weight = 1 / noise[courses.design_rows]
    return Told(
        about,
        np.add.reduceat(counted.values**2 * weight, courses.starts[:-1]),
        np.add.reduceat(weight, courses.starts[:-1]),
        None if subject is None else _about_subjects(counted, weight, features, subject),
    )


def _about_subjects(courses: TimeCourses, weight: Floats, features: Features, subject: Floats) -> AboutSubjects:
    shape = len(courses), len(subject)
    weighted = weight.reshape(shape)[:, :, None] * subject
    seen = features.phi[features.row][courses.design_rows[: len(subject)]]
    values = courses.values.reshape(shape)
    return AboutSubjects(seen.T @ weighted, weighted.sum(axis=1), (values[:, None, :] @ weighted)[:, 0])


def _middle(conditions: Mapping[str, TimeCourses], place: Ints) -> Floats:
    """The mean of the courses' means of each gene."""
    means = [np.append(courses._means, 0.0) for courses in conditions.values()]
    total = np.sum([mean[at] for mean, at in zip(means, place.T, strict=True)], axis=0)
    return total / np.maximum((place >= 0).sum(axis=1), 1)


def matched(conditions: Mapping[str, TimeCourses], least: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names that `least` conditions or more have, and those that fewer have, each in order of appearance."""
    counts: dict[str, int] = {}
    for courses in conditions.values():
        for name in courses.names:
            counts[name] = counts.get(name, 0) + 1
    return (
        tuple(name for name, count in counts.items() if count >= least),
        tuple(name for name, count in counts.items() if count < least),
    )


def check_times(conditions: Mapping[str, TimeCourses]) -> Floats:
    """All times that were measured, (P, 1), or an error where points have several coordinates."""
    for name, courses in conditions.items():
        checks.instance(courses, TimeCourses, f"the courses of condition {name!r}")
        if courses.designs.points.shape[1] > 1:
            raise InputError("questions are about time: these courses have several coordinates a point.")
    return np.concatenate([courses.designs.points for courses in conditions.values()])
