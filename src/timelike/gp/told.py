"""What courses tell a likelihood: sums of products for each design, gathered from memory or from chunks of a file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from timelike.base.arrays import Floats
from timelike.courses.designs import Designs, frozen, offsets
from timelike.exceptions import InputError

if TYPE_CHECKING:
    from timelike.base.threads import Crew
    from timelike.courses import TimeCourses

CHUNK = 16_384
"""Courses whose products are summed at once; they fit into the cache."""
MAX_DESIGNS = 4096
"""So many different sets of times: products are kept for each of them."""


class Told(Protocol):
    """What a likelihood asks of courses."""

    @property
    def designs(self) -> Designs:
        """When, and how exactly, they were measured."""

    @property
    def span(self) -> Span:
        """How many values there are, and between which bounds."""

    def squares(self, offset: float, scale: float) -> float:
        """The sum of squares of ``(values - offset) / scale``."""

    def count(self, g: int) -> int:
        """Number of courses of design g."""

    def reduced(self, g: int, offset: float, scale: float) -> tuple[Floats, Floats]:
        """Rows and weights that tell the same as the courses of design g, see :func:`reduced_rows`."""


class Span(NamedTuple):
    """Number, mean, smallest and largest of values."""

    number: int
    mean: float
    low: float
    high: float

    def scale(self, offset: float) -> float:
        """How far values are from the offset at most."""
        return max(self.high - offset, offset - self.low)


@dataclass(frozen=True, eq=False)
class InMemory:
    """Courses that are there."""

    courses: TimeCourses

    @property
    def designs(self) -> Designs:
        """When, and how exactly, they were measured."""
        return self.courses.designs

    @property
    def span(self) -> Span:
        """How many values there are, and between which bounds."""
        values = self.courses.values
        return Span(len(values), float(values.mean()), float(values.min()), float(values.max()))

    def squares(self, offset: float, scale: float) -> float:
        """The sum of squares of ``(values - offset) / scale``."""
        chunks = np.array_split(self.courses.values, -(-len(self.courses.values) // 100_000))
        return sum(float(np.sum(((chunk - offset) / scale) ** 2)) for chunk in chunks)

    def count(self, g: int) -> int:
        """Number of courses of design g."""
        return len(self.courses.members[g])

    def reduced(self, g: int, offset: float, scale: float) -> tuple[Floats, Floats]:
        """Rows and weights that tell the same as the courses of design g."""
        return reduced_rows(self.courses.values_on(g), offset, scale)


class OfDesign(NamedTuple):
    """All that courses of one design tell."""

    points: Floats
    errors: Floats
    products: Floats
    """Sums of products of values, counted from the centre, and ones, (n + 1, n + 1)."""

    def plus(self, other: OfDesign | None) -> OfDesign:
        """With other courses of the design."""
        return self if other is None else self._replace(products=self.products + other.products)


@dataclass(frozen=True, eq=False)
class Summed:
    """Courses that are known by their sums alone, however many they are."""

    parts: dict[bytes, OfDesign]
    centre: float
    low: float
    high: float

    @classmethod
    def of(cls, centre: float, courses: TimeCourses) -> Summed:
        """The sums of some courses, with values counted from a centre."""
        designs, parts = courses.designs, {}
        for g in range(len(designs)):
            points = designs[g]
            errors = designs.variances[designs.starts[g] : designs.starts[g + 1]] ** 0.5
            part = OfDesign(points, errors, _products(courses.values_on(g), centre, 1.0))
            parts[np.column_stack([points, errors]).tobytes()] = part
        return cls(parts, centre, float(courses.values.min()), float(courses.values.max()))

    def __add__(self, other: Summed) -> Summed:
        parts = self.parts | {key: part.plus(self.parts.get(key)) for key, part in other.parts.items()}
        if len(parts) > MAX_DESIGNS:
            raise InputError(
                f"the courses have more than {MAX_DESIGNS:,} different sets of times: a fit from chunks needs one "
                "grid, with few patterns of gaps. Fit a sample, tl.fit(file.sample(100_000))."
            )
        return Summed(parts, self.centre, min(self.low, other.low), max(self.high, other.high))

    @cached_property
    def designs(self) -> Designs:
        """When, and how exactly, they were measured."""
        known = list(self.parts.values())
        errors = np.concatenate([part.errors for part in known])
        points = frozen(np.concatenate([part.points for part in known]))
        starts = offsets(np.array([len(part.points) for part in known]))
        return Designs(points, frozen(errors) if errors.any() else None, starts)

    @cached_property
    def span(self) -> Span:
        """How many values there are, and between which bounds."""
        count = sum(int(part.products[-1, -1]) * len(part.points) for part in self.parts.values())
        total = sum(float(part.products[-1, :-1].sum()) for part in self.parts.values())
        return Span(count, self.centre + total / count, self.low, self.high)

    def squares(self, offset: float, scale: float) -> float:
        """The sum of squares of ``(values - offset) / scale``."""
        return sum(float(self._moved(g, offset, scale).diagonal()[:-1].sum()) for g in range(len(self.parts)))

    def count(self, g: int) -> int:
        """Number of courses of design g."""
        return int(self._known[g].products[-1, -1])

    def reduced(self, g: int, offset: float, scale: float) -> tuple[Floats, Floats]:
        """Rows and weights that tell the same as the courses of design g."""
        return _root(self._moved(g, offset, scale))

    @cached_property
    def _known(self) -> list[OfDesign]:
        return list(self.parts.values())

    def _moved(self, g: int, offset: float, scale: float) -> Floats:
        """The products of ``(values - offset) / scale`` and ones."""
        products = self._known[g].products
        turn = np.eye(len(products)) / scale
        turn[-1] = (self.centre - offset) / scale
        turn[-1, -1] = 1
        moved: Floats = turn.T @ products @ turn
        return moved


def told(courses: TimeCourses | Summed) -> Told:
    """What courses tell a likelihood."""
    return courses if isinstance(courses, Summed) else InMemory(courses)


def reduced_rows(values: Floats, offset: float, scale: float) -> tuple[Floats, Floats]:
    """Rows and weights with the same sums of products as the rows of ``(values - offset) / scale`` and ones.

    More courses than points carry no more than the (n + 1, n + 1) matrix of products of ``[y, 1]``; a square root of
    it takes their place.
    """
    count, n = values.shape
    return ((values - offset) / scale, np.ones(count)) if count <= n + 1 else _root(_products(values, offset, scale))


def _products(values: Floats, offset: float, scale: float) -> Floats:
    """Sums of products of ``(values - offset) / scale`` and ones, (n + 1, n + 1)."""
    count, n = values.shape
    products = np.zeros((n + 1, n + 1))
    for start in range(0, count, CHUNK):
        chunk = (values[start : start + CHUNK] - offset) / scale
        rows = np.column_stack([chunk, np.ones(len(chunk))])
        products += rows.T @ rows
    return products


def _root(products: Floats) -> tuple[Floats, Floats]:
    """Rows and weights with these products."""
    n = len(products) - 1
    # Columns to length 1: small values must not drown in the number of courses.
    length = np.sqrt(np.maximum(products.diagonal(), 0))
    length[length == 0] = 1.0
    weight, vectors = np.linalg.eigh(products / np.outer(length, length))
    root = vectors.T * np.sqrt(np.maximum(weight, 0))[:, None] * length
    return root[:, :n], root[:, n]


# -- chunks --------------------------------------------------------------------------------------------------------


class Chunked(Protocol):
    """Courses that are read chunk by chunk, as often as needed, see :class:`timelike.CourseFile`."""

    def blocks(self, client: Any = None) -> Iterable[Any]:
        """The chunks: courses, or what reads them when it is called, there where they are needed."""

    def sample(self, count: int, seed: int = 0) -> TimeCourses:
        """So many courses, drawn at random."""


def courses_of(block: Any) -> TimeCourses:
    """The courses of a block."""
    found: TimeCourses = block() if callable(block) else block
    return found


def summed(crew: Crew, blocks: Iterable[Any]) -> Summed:
    """The sums of the courses of all blocks; the crew was prepared with their centre."""
    return reduce(add, crew.in_order(_sums, blocks, "reading", "chunk"))


def _sums(centre: float, block: Any) -> Summed:
    return Summed.of(centre, courses_of(block))
