"""similar_pairs: all pairs whose similarity is above a bound, without the matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from timelike.base import checks
from timelike.base.arrays import Floats
from timelike.base.dask_workers import check_client
from timelike.base.threads import run_tiles
from timelike.base.tiles import Tile, pair_count
from timelike.exceptions import InputError
from timelike.pairs.aligned.compared import compared
from timelike.pairs.aligned.route import AlignedRoute
from timelike.pairs.job import Job, job_of

if TYPE_CHECKING:
    import pandas as pd
    from scipy.sparse import csr_array

    from timelike.courses import TimeCourses
    from timelike.gp import GP

Found = tuple[NDArray[np.int32], NDArray[np.int32], Floats]
AT_MOST = 100_000_000


@dataclass(frozen=True, eq=False)
class SimilarPairs:
    """Pairs of courses that are more alike than a bound, sorted by row, then column.

    Attributes
    ----------
    rows, cols : (P,) int
        Positions of the two courses. Among themselves, each pair is there once, with ``rows < cols``.
    scores : (P,)
        Their similarity s.
    names : tuple of str
        Courses that `rows` counts.
    others : tuple of str or None
        Courses that `cols` counts; None when they are those of the rows.
    above : float
        The bound.
    delay, gain : (P,) or None
        How much later the second course is, and how many times as large, where that was asked for.
    """

    rows: NDArray[np.int32]
    cols: NDArray[np.int32]
    scores: Floats
    names: tuple[str, ...]
    others: tuple[str, ...] | None
    above: float
    delay: Floats | None = None
    gain: Floats | None = None

    def __len__(self) -> int:
        return len(self.scores)

    def __repr__(self) -> str:
        columns = self.names if self.others is None else self.others
        return f"SimilarPairs: {len(self):,} above {self.above:g} among {len(self.names):,} x {len(columns):,} courses"

    def to_frame(self) -> pd.DataFrame:
        """Table with columns first, second (names) and similarity; delay and gain where asked for."""
        import pandas as pd

        columns = np.array(self.names if self.others is None else self.others, dtype=object)
        first = np.array(self.names, dtype=object)[self.rows]
        moved = {name: part for name, part in (("delay", self.delay), ("gain", self.gain)) if part is not None}
        return pd.DataFrame({"first": first, "second": columns[self.cols], "similarity": self.scores, **moved})

    def graph(self) -> csr_array:
        """The similarities as a sparse matrix, symmetric when courses are compared among themselves.

        Pairs that are not above the bound, and the diagonal, are not stored.
        """
        from scipy.sparse import csr_array

        shape = len(self.names), len(self.names if self.others is None else self.others)
        if self.others is not None:
            return csr_array((self.scores, (self.rows, self.cols)), shape=shape)
        ends = np.concatenate([self.rows, self.cols]), np.concatenate([self.cols, self.rows])
        return csr_array((np.concatenate([self.scores, self.scores]), ends), shape=shape)


def similar_pairs(
    courses: TimeCourses,
    gp: GP,
    others: TimeCourses | None = None,
    *,
    above: float,
    up_to: Sequence[str] | str = (),
    max_delay: float | None = None,
    at_most: int = AT_MOST,
    threads: int | None = None,
    client: Any = None,
) -> SimilarPairs:
    """All pairs of courses with a similarity above a bound, exact, without the N x N matrix.

    Every pair is computed, so the time is that of :func:`timelike.similarity`. The memory is that of the pairs
    that are found: 16 bytes each, and three times that while they are sorted.

    Parameters
    ----------
    courses
    gp
        From :func:`timelike.fit`, or given.
    others
        Compare with these instead of among themselves.
    above
        The bound: pairs with ``s > above``. At zero, one curve begins to explain a pair better than two.
    up_to, max_delay
        In what courses may differ and still be alike, as :func:`timelike.similarity` has them.
    at_most
        An error when there are more pairs than this, before they fill the memory.
    threads
        Number of threads; by default all that this process may use.
    client
        A ``dask.distributed.Client``: its workers compute, and send only what they found.

    Examples
    --------
    >>> import timelike as tl
    >>> courses, _ = tl.simulate.profiles(seed=1)
    >>> gp = tl.fit(courses)
    >>> found = similar_pairs(courses, gp, above=7)
    >>> found
    SimilarPairs: 416 above 7 among 150 x 150 courses
    >>> S = tl.similarity(courses, gp).values
    >>> bool((S[found.rows, found.cols] == found.scores).all()), int((S[np.triu_indices(150, 1)] > 7).sum())
    (True, 416)
    """
    if not checks.is_number(above):
        raise InputError(f"above is {above!r}: expected a finite number.")
    if at_most != np.inf and not (checks.is_number(at_most) and at_most >= 0):
        raise InputError(f"at_most is {at_most!r}: expected a number, zero or more.")
    if client is not None:
        check_client(client)
    job = job_of(courses, gp, others, up_to=up_to, max_delay=max_delay)
    found = collected(PairsAbove(job, float(above)), at_most, threads, client)
    columns = None if others is None else others.names
    return SimilarPairs(*found, courses.names, columns, float(above), *_moved(job, found))


def _moved(job: Job, found: Found) -> tuple[Floats | None, Floats | None]:
    """Delays and gains of the pairs that were found; None where they are not free."""
    if not isinstance(job.way, AlignedRoute) or len(job.way.nodes) == 1 or not len(found[0]):
        return None, None
    rows, cols = found[0].astype(np.intp), found[1].astype(np.intp) + (job.offset or 0)
    told = compared(job.way, rows, cols).told
    return (None if told.delay is None else told.delay.mean), (None if told.gain is None else told.gain.mean)


@dataclass(frozen=True, eq=False)
class PairsAbove:
    """Computes a tile, and keeps the pairs above a bound."""

    job: Job
    above: float

    def __call__(self, tile: Tile) -> Found:
        """Rows, columns and scores, as positions in the result; among themselves with the smaller one first."""
        block = self.job.tile(tile)
        keep = block > self.above
        if self.job.square and tile[0] == tile[1]:
            keep = np.triu(keep, 1)
        row, col = np.nonzero(keep)
        places = self.job.places(*tile)
        rows, cols = places[0][row].astype(np.int32), places[1][col].astype(np.int32)
        if self.job.square:
            rows, cols = np.minimum(rows, cols), np.maximum(rows, cols)
        return rows, cols, block[row, col]


def collected(work: PairsAbove, at_most: int = AT_MOST, threads: int | None = None, client: Any = None) -> Found:
    """Rows, columns and scores of all tiles, sorted by row, then column."""
    found: list[Found] = []
    pairs = count = 0

    def keep(tile: Tile, result: Found) -> None:
        nonlocal pairs, count
        found.append(result)
        pairs += pair_count(tile)
        count += len(result[0])
        if count > at_most:
            raise InputError(
                f"more than {at_most:,} pairs are above {work.above:g}: {count:,} of the first {pairs:,} pairs. Ask "
                "for a larger bound, for the nearest of each course (neighbors), or raise at_most (16 bytes a pair)."
            )

    run_tiles(work, work.job.tiles(), threads, "similar pairs", done=keep, client=client)
    rows, cols, scores = (np.concatenate(parts) for parts in zip(*found, strict=True))
    found.clear()  # before the memory for the sorted ones is taken
    order = np.lexsort((cols, rows))
    return rows[order], cols[order], scores[order]
