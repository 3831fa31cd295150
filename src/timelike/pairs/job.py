"""All pairs as a job that is cut into tiles. A tile is a pure function of the job: any order, anywhere, same bits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from timelike.base import checks
from timelike.base.arrays import Floats, Ints
from timelike.base.tiles import all_tiles, spans, upper_tiles
from timelike.courses import TimeCourses
from timelike.gp import GP
from timelike.gp.freedom import NONE, Freedom, freedom
from timelike.pairs.aligned.route import AlignedRoute, route_of
from timelike.pairs.aligned.sums import Matches
from timelike.pairs.routes import Route

if TYPE_CHECKING:
    from timelike.base.tiles import Tile

EVEN = 64
"""Sizes of which linear algebra libraries have nothing left over."""
MOST_PARTS = 16
"""Parts along each side of a tile: where pairs are dear, tiles are smaller."""


class Cut(NamedTuple):
    """How many courses are along each side of what is done as one."""

    part: int = 512
    """What a route computes at once, at most: it stays in the cache while it is mirrored."""
    block: int = 1024
    """A tile that travels: 8 MB, written and recorded as one."""


CUT = Cut()


@dataclass(frozen=True, eq=False)
class Job:
    """Similarities of some courses of a route to others, or among themselves."""

    way: Route
    left: Ints
    """Courses of the rows, as the route numbers them, in the route's order."""
    right: Ints
    """Courses of the columns, likewise."""
    offset: int | None = None
    """Number of the first course that stands for a column; None when rows and columns are the same courses."""
    cut: Cut = CUT

    @classmethod
    def of(cls, way: Route, asked: int | None = None, cut: Cut = CUT) -> Job:
        """The job to compare all courses of a route, or the first `asked` of them with the others."""
        order = way.order
        if asked is None:
            return cls(way, order, order, None, cut)
        return cls(way, order[order < asked], order[order >= asked], asked, cut)

    @property
    def free(self) -> Freedom:
        """In what the two courses of a pair may differ."""
        return self.way.free if isinstance(self.way, AlignedRoute) else NONE

    @property
    def square(self) -> bool:
        """Whether the rows and columns are the same courses: then the tiles on and above the diagonal are enough."""
        return self.offset is None

    @cached_property
    def part(self) -> tuple[int, int]:
        """Rows and columns that the route computes at once.

        No part is much smaller than the others, except the last ones of a symmetric route.
        """
        side = min(self.way.side, self.cut.part)
        return (side, side) if self.way.symmetric else (_even(len(self.left), side), _even(len(self.right), side))

    @cached_property
    def size(self) -> tuple[int, int]:
        """Rows and columns of a tile: several parts, of which it has the bits."""
        parts = min(max(1, self.cut.block // min(self.way.side, self.cut.part)), MOST_PARTS)
        return parts * self.part[0], parts * self.part[1]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the result."""
        return len(self.left), len(self.right)

    @cached_property
    def in_order(self) -> bool:
        """Whether the route takes the courses in the order in which the result has them."""
        return all(np.array_equal(p, np.arange(len(p))) for p in self.places(slice(None), slice(None)))

    def tiles(self) -> list[Tile]:
        """All tiles that have to be computed."""
        return self._cut(self.size)

    def parts(self) -> list[Tile]:
        """The same pairs, cut into what the route computes at once."""
        return self._cut(self.part)

    def _cut(self, size: tuple[int, int]) -> list[Tile]:
        return upper_tiles(self.shape[0], size[0]) if self.square else all_tiles(*self.shape, *size)

    def tile(self, tile: Tile) -> Floats:
        """The similarities of a tile, (rows, cols)."""
        rows, cols = tile
        out = np.empty((rows.stop - rows.start, cols.stop - cols.start))
        for r in spans(rows, self.part[0]):
            for c in spans(cols, self.part[1]):
                if not (self.square and c.stop <= r.start):  # below the diagonal
                    self.fill((r, c), out[_inside(r, rows), _inside(c, cols)])
        if self.square and rows == cols:
            mirror(out)
        return out

    def matches(self, tile: Tile) -> Matches:
        """The similarities of a tile, and the delays and gains of its pairs; below the diagonal their opposites."""
        if not isinstance(self.way, AlignedRoute):
            raise TypeError(f"route {self.way.name} knows no delays and gains.")
        rows, cols = tile
        found = Matches(*(np.empty((rows.stop - rows.start, cols.stop - cols.start)) for _ in Matches._fields))
        for r in spans(rows, self.part[0]):
            for c in spans(cols, self.part[1]):
                if not (self.square and c.stop <= r.start):  # below the diagonal
                    part = self.way.matches(self.left[r], self.right[c])
                    for whole, block in zip(found, part, strict=True):
                        whole[_inside(r, rows), _inside(c, cols)] = block
        if self.square and rows == cols:
            mirror(found.scores)
            for block in (found.delays, found.log_gains):
                block[...] = np.triu(block, 1) - np.triu(block, 1).T
        return found

    def mirrors_itself(self, part: Tile) -> bool:
        """Whether the route gives the mirror image of a part the same bits, so that it need not be copied.

        A library may sum in another order in what is left over at the end of a matrix, not in parts of full size.
        """
        aligned = self.part[0] % EVEN == 0
        return self.way.symmetric and aligned and all(span.stop - span.start == self.part[0] for span in part)

    def fill(self, part: Tile, out: Floats) -> None:
        """Write the similarities of a part into `out`."""
        self.way.tile(self.left[part[0]], self.right[part[1]], out)

    def places(self, rows: slice, cols: slice) -> tuple[Ints, Ints]:
        """Rows and columns of the result where a tile belongs."""
        return self.left[rows], self.right[cols] - (self.offset or 0)

    def put(self, values: Floats, tile: Tile, block: Floats, sign: int = 1) -> None:
        """Copy a tile, and its mirror image (times `sign`) where there is one, to its place among all values."""
        rows, cols = self.places(*tile)
        values[tile if self.in_order else np.ix_(rows, cols)] = block
        if self.square and tile[0] != tile[1]:
            mirrored = block.T if sign == 1 else sign * block.T
            values[tile[::-1] if self.in_order else np.ix_(cols, rows)] = mirrored


def job_of(
    courses: TimeCourses, gp: GP, others: TimeCourses | None = None, *, up_to: Any = (), max_delay: Any = None
) -> Job:
    """The job to compare courses among themselves, or with others, by the cheapest exact route."""
    checks.instance(courses, TimeCourses, "courses")
    checks.instance(gp, GP, "gp")
    if others is not None:
        checks.instance(others, TimeCourses, "others")
    both = courses if others is None else courses.joined(others)
    here = gp.at(both, freedom(both, gp, up_to, max_delay))
    return Job.of(here.once(route_of), None if others is None else len(courses))


def mirror(block: Floats) -> None:
    """Copy what is above the diagonal to below it, in strips: the same bits on both sides."""
    for start in range(0, len(block), 64):
        strip = slice(start, start + 64)
        corner = block[strip, strip]
        corner[...] = np.triu(corner) + np.triu(corner, 1).T
        block[strip.stop :, strip] = block[strip, strip.stop :].T


def _even(count: int, side: int) -> int:
    """The size of as many parts as `side` makes of `count`, when all are about the same."""
    parts = -(-count // side)
    return -(-count // parts)


def _inside(span: slice, whole: slice) -> slice:
    return slice(span.start - whole.start, span.stop - whole.start)
