"""Courses on scratch disk: read, checked and cleaned once, then given out in blocks for sweeps of the mixture."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from timelike.base import checks
from timelike.base.arrays import Bools, Floats, Ints
from timelike.base.dask_workers import shares
from timelike.base.threads import Crew
from timelike.base.tiles import Compute, spans
from timelike.clusters.curves.bound import AnySpread, Clusters, Fit, Weights, along, informative, summed, sums
from timelike.courses import TimeCourses
from timelike.courses.designs import Designs, frozen, offsets, take_designs
from timelike.exceptions import InputError
from timelike.gp import GP

MAX_DESIGNS = 4096
"""So many different sets of times: the clusters' mean courses are kept for each of them."""

Wild = Callable[[TimeCourses], Ints]
"""Where among the values of courses those are that are to be left out."""


@dataclass(frozen=True, eq=False)
class Spool:
    """Values of many courses in a file, and all their designs in memory."""

    folder: Path
    """With the values, course after course, and the names, one a line."""
    designs: Designs
    design_of: NDArray[np.int32]
    left_out: int
    """Values that were left out."""

    def __len__(self) -> int:
        return len(self.design_of)

    @property
    def counts(self) -> Ints:
        """Courses of each design, (G,)."""
        return np.bincount(self.design_of, minlength=len(self.designs))

    def blocks(self, size: int) -> list[Block]:
        """Runs of courses, and where their values are."""
        rows = spans(slice(0, len(self)), size)
        ends = offsets(np.array([self.designs.sizes[self.design_of[run]].sum() for run in rows]))
        return [Block(run, int(a), int(b - a)) for run, (a, b) in zip(rows, pairwise(ends), strict=True)]

    def values(self, block: Block) -> Floats:
        """The values of a block, course after course."""
        return np.fromfile(self.folder / "values", float, block.count, offset=8 * block.start)

    def names(self) -> Iterator[str]:
        """The names of the courses, in order."""
        with (self.folder / "names").open(encoding="utf-8", newline="\n") as lines:
            yield from (line[:-1] for line in lines)


@dataclass(frozen=True)
class Block:
    """A run of courses, whose `count` values begin at `start`."""

    rows: slice
    start: int
    count: int


# -- writing -----------------------------------------------------------------------------------------------------


def spooled(chunks: Iterable[TimeCourses], folder: Path, wild: Wild | None) -> Spool:
    """The courses of all chunks on disk, without the values that `wild` finds in each chunk."""
    designs = _Designs()
    parts: list[NDArray[np.int32]] = []
    left_out = 0
    for chunk in chunks:
        checks.instance(chunk, TimeCourses, "each chunk")
        out = np.empty(0, dtype=np.intp) if wild is None else wild(chunk)
        stays = np.ones(len(chunk.values), dtype=bool)
        stays[out] = False
        _append(chunk, stays, folder)
        parts.append(_numbered(chunk, out, stays, designs))
        left_out += len(out)
    if not parts:
        raise InputError("there are no chunks, so no courses. An iterator that was used up gives none a second time.")
    return Spool(folder, designs.all(), np.concatenate(parts), left_out)


def _append(courses: TimeCourses, stays: Bools, folder: Path) -> None:
    """Write the values that stay, and the names."""
    with on_scratch(folder / "values") as path, path.open("ab") as values:
        values.write(courses.values[stays].data)
    with on_scratch(folder / "names") as path, path.open("a", encoding="utf-8", newline="\n") as names:
        lines = "\n".join(courses.names)
        if lines.count("\n") >= len(courses):
            lines = "\n".join(name.replace("\n", " ") for name in courses.names)
        names.write(lines + "\n")


@contextmanager
def on_scratch(path: Path) -> Iterator[Path]:
    """A path to write to; what the disk says becomes an error that names it."""
    try:
        yield path
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise InputError(f"cannot write {path}: {reason}. Give scratch= a folder with enough room.") from None


def _numbered(courses: TimeCourses, out: Ints, stays: Bools, designs: _Designs) -> NDArray[np.int32]:
    """The numbers of the courses' designs, without what is left out."""
    known = [designs.number(courses, slice(a, b)) for a, b in pairwise(courses.designs.starts)]
    design_of = np.array(known, dtype=np.int32)[courses.design_of]
    for i in np.unique(np.searchsorted(courses.starts, out, side="right") - 1):
        own = slice(courses.starts[i], courses.starts[i + 1])
        design_of[i] = designs.number(courses, courses.design_rows[own][stays[own]])
    return design_of


class _Designs:
    """The distinct designs of all chunks so far."""

    def __init__(self) -> None:
        self.known: dict[bytes, int] = {}
        self.points: list[Floats] = []
        self.errors: list[Floats] = []

    def number(self, courses: TimeCourses, rows: Ints | slice) -> int:
        """The number of the design at these rows of the courses' designs."""
        points, errors = courses.designs.points[rows], courses.designs.variances[rows] ** 0.5
        key = np.column_stack([points, errors]).tobytes()
        if key not in self.known:
            self._check(points)
            self.known[key] = len(self.points)
            self.points.append(points)
            self.errors.append(errors)
        return self.known[key]

    def _check(self, points: Floats) -> None:
        if self.points and points.shape[1] != self.points[0].shape[1]:
            raise InputError(
                f"points have {points.shape[1]} coordinates in one chunk, {self.points[0].shape[1]} before."
            )
        if len(self.points) == MAX_DESIGNS:
            raise InputError(
                f"the courses have more than {MAX_DESIGNS:,} different sets of times: clusters from chunks need one "
                "grid, with few patterns of gaps and no errors of single values. Cluster a sample with "
                "timelike.mixture, and assign the rest with predict."
            )

    def all(self) -> Designs:
        errors = np.concatenate(self.errors)
        starts = offsets(np.array([len(points) for points in self.points]))
        return Designs(frozen(np.concatenate(self.points)), frozen(errors) if errors.any() else None, starts)


# -- reading, as information -----------------------------------------------------------------------------------------


class BlocksOnDisk:
    """The spooled courses' information under a model, block by block, on several threads or on a cluster."""

    def __init__(self, spool: Spool, gp: GP, size: int, threads: int | None = None, client: Any = None) -> None:
        self.spool, self.gp = spool, gp
        self.blocks = spool.blocks(size)
        probe = _unit_courses(spool.designs, gp.mean)
        here = gp.at(probe).smooth()
        found = here.information
        kept = informative(np.tensordot(spool.counts, found.A, axes=1), found.A)
        data = along(here, found, kept, diagonal=len(spool.designs) == 1)
        self.vectors, self.gains, self.diagonal = data.vectors, data.gains, data.diagonal
        self.into = data.z  # z of a course: its values, less the mean, times the rows of its design
        variances = here.noise_variances
        self.precision = 1 / variances
        self.logs = np.add.reduceat(np.log(2 * np.pi * variances), spool.designs.starts[:-1])
        if client is not None and not shares(client, spool.folder):
            raise InputError(
                f"not all Dask workers see {spool.folder.parent}: give scratch= a folder on a disk that they share."
            )
        self._crew = Crew(self, threads, client)

    def __getstate__(self) -> dict[str, Any]:
        return {name: part for name, part in vars(self).items() if name != "_crew"}

    def __len__(self) -> int:
        return len(self.spool)

    def at(self, spread: float) -> BlocksAtSpread:
        """The courses when they differ from their cluster's curve by `spread` times the signal."""
        return BlocksAtSpread(self, spread)

    def every(self, compute: Compute, title: str) -> Iterator[Any]:
        """What is computed from these courses and each block, in the order of the blocks."""
        return self._crew.in_order(compute, self.blocks, title)

    def sample(self, block: Block) -> AnySpread:
        """The information of a block, from its file."""
        design_of = self.spool.design_of[block.rows]
        return self._sample(self._projected(block, design_of), design_of)

    def draw(self, count: int, seed: int) -> AnySpread:
        """The information of so many courses, drawn at random, all at once."""
        chosen = np.sort(np.random.default_rng(seed).permutation(len(self))[:count])
        parts = []
        for block in self.blocks:
            own = chosen[np.searchsorted(chosen, block.rows.start) : np.searchsorted(chosen, block.rows.stop)]
            if len(own):
                projected = self._projected(block, self.spool.design_of[block.rows])
                parts.append([array[own - block.rows.start] for array in projected])
        return self._sample(
            [np.concatenate(arrays) for arrays in zip(*parts, strict=True)], self.spool.design_of[chosen]
        )

    def by_design(self, block: Block, design_of: NDArray[np.int32]) -> Iterator[tuple[int, Ints | slice, Floats]]:
        """For each design of a block: its number, its courses among the block's, their values less the mean (M, n)."""
        values, designs = self.spool.values(block) - self.gp.mean, self.spool.designs
        if len(designs) == 1:
            yield 0, slice(None), values.reshape(len(design_of), -1)
            return
        starts = offsets(designs.sizes[design_of])[:-1]
        for g in np.unique(design_of):
            rows = np.flatnonzero(design_of == g)
            yield int(g), rows, values[starts[rows][:, None] + np.arange(designs.sizes[g])]

    def _projected(self, block: Block, design_of: NDArray[np.int32]) -> list[Floats]:
        """The z (M, r), base and squares (M,) of a block."""
        z, base, squares = np.empty((len(design_of), self.into.shape[1])), *np.empty((2, len(design_of)))
        starts = self.spool.designs.starts
        for g, rows, residuals in self.by_design(block, design_of):
            own = slice(starts[g], starts[g + 1])
            z[rows] = residuals @ self.into[own]
            squares[rows] = residuals**2 @ self.precision[own]
            base[rows] = -(squares[rows] + self.logs[g]) / 2
        return [z, base, squares]

    def _sample(self, projected: list[Floats], design_of: NDArray[np.int32]) -> AnySpread:
        used, local = np.unique(design_of, return_inverse=True)
        z, base, squares = projected
        of_course = z, base, squares, self.spool.designs.sizes[design_of], local.ravel().astype(np.intp)
        return AnySpread(self.vectors[used], self.gains[used], *of_course, self.diagonal)


@dataclass(frozen=True, eq=False)
class BlocksAtSpread:
    """Courses on disk for one value of the spread; what is summed over them does not depend on the threads."""

    source: BlocksOnDisk
    spread: float

    def sweep(self, weights: Weights) -> Fit:
        """The clusters that the courses sum to with these weights, and their bound."""
        parts = self.source.every(Sums(weights, self.spread), "mixture")
        return summed(parts, weights, self.spread, len(self.source))


@dataclass(frozen=True, eq=False)
class Sums:
    """Computes what the courses of a block sum to."""

    weights: Weights
    spread: float

    def __call__(self, source: BlocksOnDisk, block: Block) -> tuple[Clusters, float]:
        """The clusters, and the part of the bound that is not in them."""
        return sums(source.sample(block).at(self.spread), self.weights)


def _unit_courses(designs: Designs, mean: float) -> TimeCourses:
    """For each point of each design a course that is one above the mean there, and at the mean elsewhere."""
    values = [mean + np.eye(size).ravel() for size in designs.sizes]
    design_of = np.repeat(np.arange(len(designs)), designs.sizes)
    names = tuple(map(str, range(len(design_of))))
    return TimeCourses(names, designs, design_of, frozen(np.concatenate(values)))


# -- mean courses ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Means:
    """Of each cluster and design, the summed weight of the courses (K, G) and the sums of their values (K, P).

    Values are less the mean of the model. Information is linear in the values: courses with these means, of that
    weight, say about the clusters' curves exactly what all courses say.
    """

    weight: Floats
    sums: Floats

    def __add__(self, other: Means) -> Means:
        return Means(self.weight + other.weight, self.sums + other.sums)

    def courses(self, designs: Designs, mean: float) -> tuple[TimeCourses, Floats]:
        """The mean courses, one for each cluster and design that it has, and their weights (M, K + 1).

        Designs of which all courses are in none of the clusters have no mean course, and go.
        """
        cluster, design = np.nonzero(self.weight > 0)
        used, own = np.unique(design, return_inverse=True)
        weight = self.weight[cluster, design]
        values = [
            mean + self.sums[k, designs.starts[g] : designs.starts[g + 1]] / w
            for k, g, w in zip(cluster, design, weight, strict=True)
        ]
        r = np.zeros((len(cluster), len(self.weight) + 1))
        r[np.arange(len(cluster)), cluster] = weight
        names = tuple(f"mean of cluster {k}, times {g}" for k, g in zip(cluster, design, strict=True))
        return TimeCourses(names, take_designs(designs, used), own.ravel(), frozen(np.concatenate(values))), r


def means_of(source: BlocksOnDisk, block: Block, r: Floats) -> Means:
    """The sums over a block with responsibilities r (M, K + 1)."""
    designs, design_of = source.spool.designs, source.spool.design_of[block.rows]
    weight = np.zeros((r.shape[1] - 1, len(designs)))
    sums = np.zeros((r.shape[1] - 1, len(designs.points)))
    for g, rows, residuals in source.by_design(block, design_of):
        own = r[rows, :-1]
        weight[:, g] = own.sum(axis=0)
        sums[:, designs.starts[g] : designs.starts[g + 1]] = own.T @ residuals
    return Means(weight, sums)
