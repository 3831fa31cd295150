"""All pairs as a job that is cut into tiles. A tile is a pure function of the job: any order, anywhere, same bits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from timelike.base import checks
from timelike.base.arrays import Floats, Ints
from timelike.base.blas import one_thread_below
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
"""Libraries of linear algebra have nothing left over of sizes that it divides, and sum everything in one order."""
MOST_PARTS = 16
"""Parts along each side of a tile: where pairs are dear, tiles are smaller."""

STEP = 64
"""So many rows at a time of what lies on the diagonal: only what is below it in these is computed in vain."""


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
        """Rows and columns that the route computes at once, of a tile; of all values see :meth:`parts`.

        Where no mirror is needed parts are as wide as a tile: long rows are written faster. Elsewhere none is much
        smaller than the others.
        """
        side = min(self.way.side, self.cut.part)
        if self.mirrors_itself:
            return side, self.cut.block
        return _even(len(self.left), side), _even(len(self.right), side)

    @cached_property
    def size(self) -> tuple[int, int]:
        """Rows and columns of a tile: several parts, of which it has the bits."""
        if self.mirrors_itself:
            return self.cut.block, self.cut.block
        parts = min(max(1, self.cut.block // min(self.way.side, self.cut.part)), MOST_PARTS)
        return parts * self.part[0], parts * self.part[1]

    @property
    def mirrors_itself(self) -> bool:
        """Whether a part and its mirror image have the same bits, so that both may be computed and none copied.

        Not what is left over at the end of a matrix, where a library may sum in another order: :meth:`is_even`.
        """
        return self.way.symmetric and self.way.side % EVEN == self.cut.part % EVEN == self.cut.block % EVEN == 0

    def is_even(self, part: Tile) -> bool:
        """Whether the mirror image of a part need not be copied."""
        return self.mirrors_itself and all((span.stop - span.start) % EVEN == 0 for span in part)

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
        return upper_tiles(self.shape[0], self.size[0]) if self.square else all_tiles(*self.shape, *self.size)

    def parts(self) -> list[Tile]:
        """All parts to compute where all values are at hand: none of those that are copied from their mirror image.

        Where no mirror is needed they are as wide as all values, which memory takes in the order in which it lies.
        """
        if self.mirrors_itself:
            return self._cut((slice(0, self.shape[0]), slice(0, self.shape[1])), (self.part[0], self.shape[1]))
        return [part for tile in self.tiles() for part in self.parts_of(tile)]

    def parts_of(self, tile: Tile) -> list[Tile]:
        """What the route computes at once of a tile; nothing below the diagonal that has to be copied."""
        return self._cut(tile, self.part)

    def _cut(self, tile: Tile, part: tuple[int, int]) -> list[Tile]:
        """Parts of a tile with so many rows and columns."""
        rows, cols = (self._spans(span, size) for span, size in zip(tile, part, strict=True))
        pairs = [(r, c) for r in rows for c in cols]
        return [(r, c) for r, c in pairs if not self.square or r.start < c.stop or self.is_even((r, c))]

    def _spans(self, whole: slice, size: int) -> list[slice]:
        """Stretches of `size`; of the last one, what is left over is by itself."""
        *full, last = spans(whole, size)
        rest = (last.stop - last.start) % EVEN if self.mirrors_itself else 0
        cut = last.stop - rest
        return [*full, *(span for span in (slice(last.start, cut), slice(cut, last.stop)) if span.start < span.stop)]

    def tile(self, tile: Tile) -> Floats:
        """The similarities of a tile, (rows, cols)."""
        rows, cols = tile
        out = np.empty((rows.stop - rows.start, cols.stop - cols.start))
        for r, c in self.parts_of(tile):
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
        for r, c in self.parts_of(tile):
            part = self.way.matches(self.left[r], self.right[c])
            for whole, block in zip(found, part, strict=True):
                whole[_inside(r, rows), _inside(c, cols)] = block
        if self.square and rows == cols:
            mirror(found.scores)
            for block in (found.delays, found.log_gains):
                block[...] = np.triu(block, 1) - np.triu(block, 1).T
        return found

    def fill(self, part: Tile, out: Floats) -> None:
        """Write the similarities of a part into `out`; of one on the diagonal little of what is below it."""
        rows, cols = part
        steps = spans(rows, STEP) if self.square and rows == cols and not self.is_even(part) else [rows]
        for step in steps:
            first = 0 if step == rows else step.start - rows.start
            self.way.tile(self.left[step], self.right[cols][first:], out[_inside(step, rows), first:])

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


@one_thread_below()
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
