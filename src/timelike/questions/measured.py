"""Measured: genes under conditions, matched by name, with all that their values say about their curves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from timelike.base import checks
from timelike.base.arrays import Floats, Ints
from timelike.courses import TimeCourses
from timelike.exceptions import InputError
from timelike.gp import GP
from timelike.gp.information import Information, information
from timelike.questions.coordinates import Coordinates
from timelike.questions.effects import Known

BUDGET = 6_000_000
"""Numbers in the matrices of the genes that are worked on at once."""


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
    told : tuple of Information
        What the courses of each condition say about their curves, at the coordinates.
    squares : tuple of arrays
        Sum of squares of each course of each condition, in units of its noise.
    middle : (N,)
        Level of each gene, which its values are counted from.
    typical : (N,)
        Noise variance of a typical value of each gene, at scale 1.
    """

    names: tuple[str, ...]
    conditions: Mapping[str, TimeCourses]
    place: Ints
    coordinates: Coordinates
    told: tuple[Information, ...]
    squares: tuple[Floats, ...]
    middle: Floats
    typical: Floats

    def __len__(self) -> int:
        return len(self.names)

    @property
    def counts(self) -> Floats:
        """Number of values of each gene, (N,)."""
        sizes = [courses.sizes for courses in self.conditions.values()]
        return np.sum([np.where(at >= 0, size[at], 0) for at, size in zip(self.place.T, sizes, strict=True)], axis=0)

    def known(self, genes: Ints) -> Known:
        """What is known about the curves of some genes, all conditions beside each other."""
        r = len(self.coordinates.points)
        C = len(self.told)
        A, b = np.zeros((len(genes), C * r, C * r)), np.zeros((len(genes), C * r))
        squares = np.zeros(len(genes))
        for c, (said, own) in enumerate(zip(self.told, self.squares, strict=True)):
            rows = np.flatnonzero(self.place[genes, c] >= 0)
            at = self.place[genes[rows], c]
            part = slice(c * r, (c + 1) * r)
            A[rows, part, part] = said.A[said.design_of[at]]
            b[rows, part] = said.b[at]
            squares[rows] += own[at]
        return Known(A, b, squares, self.counts[genes].astype(float), np.zeros(len(genes)))

    def of(self, genes: Ints) -> Measured:
        """Some of the genes."""
        names = tuple(self.names[i] for i in genes)
        return replace(
            self, names=names, place=self.place[genes], middle=self.middle[genes], typical=self.typical[genes]
        )

    def pieces(self) -> Iterator[Ints]:
        """The genes, so many at once that their matrices stay small."""
        width = (len(self.told) * len(self.coordinates.points)) ** 2
        step = max(1, BUDGET // width)
        for first in range(0, len(self), step):
            yield np.arange(first, min(first + step, len(self)))


def measured(
    conditions: Mapping[str, TimeCourses], gp: GP, coordinates: Coordinates, names: tuple[str, ...]
) -> Measured:
    """What the courses of each condition say, for the genes with these names."""
    place = np.array([[courses._position.get(name, -1) for courses in conditions.values()] for name in names])
    place = place.reshape(len(names), len(conditions)).astype(np.intp)
    middle = _middle(conditions, place)
    told, squares, precision = [], [], np.zeros((len(names), 2))
    for c, courses in enumerate(conditions.values()):
        noise = gp.at(courses).noise_variances
        level = np.zeros(len(courses))
        level[place[place[:, c] >= 0, c]] = middle[place[:, c] >= 0]
        counted = courses._with(courses.values - np.repeat(level, courses.sizes))
        features = coordinates.features(courses.designs.points)
        told.append(information(counted, 0.0, noise, features))  # type: ignore[arg-type]  # all that it takes of a basis
        own = np.add.reduceat(1 / noise[courses.design_rows], courses.starts[:-1])
        precision += np.where((place[:, c] >= 0)[:, None], np.column_stack([own, courses.sizes])[place[:, c]], 0)
        squares.append(np.add.reduceat(counted.values**2 / noise[courses.design_rows], courses.starts[:-1]))
    return Measured(
        names, conditions, place, coordinates, tuple(told), tuple(squares), middle, precision[:, 1] / precision[:, 0]
    )


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
