"""similar_pairs: all pairs whose similarity is above a bound, or at a stated error rate, without the matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from timelike.base import checks
from timelike.base.arrays import Bools, Floats, Ints
from timelike.base.dask_workers import check_client
from timelike.base.threads import run_tiles
from timelike.base.tiles import Tile, pair_count
from timelike.exceptions import InputError
from timelike.pairs.aligned.compared import compared
from timelike.pairs.aligned.route import AlignedRoute
from timelike.pairs.job import Job, job_of
from timelike.pairs.sure import LEAST, About, Sureness, check_rate, listed

if TYPE_CHECKING:
    import pandas as pd
    from scipy.sparse import csr_array

    from timelike.courses import TimeCourses
    from timelike.gp import GP

Found = tuple[NDArray[np.int32], NDArray[np.int32], Floats]
Sure = tuple[NDArray[np.int32], NDArray[np.int32], Floats, Floats]
AT_MOST = 100_000_000


@dataclass(frozen=True, eq=False)
class SimilarPairs:
    """Pairs of courses that are more alike than a bound, or surely so, sorted by row, then column.

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
    above : float or None
        The bound; None where an error rate was asked for.
    delay, gain : (P,) or None
        How much later the second course is, and how many times as large, where that was asked for.
    probabilities : (P,) or None
        Where an error rate was asked for: the probability that the two share a curve.
    fdr : (P,) or None
        Likewise: the expected share of false ones among the pairs that are at least as probable.
    """

    rows: NDArray[np.int32]
    cols: NDArray[np.int32]
    scores: Floats
    names: tuple[str, ...]
    others: tuple[str, ...] | None
    above: float | None
    delay: Floats | None = None
    gain: Floats | None = None
    probabilities: Floats | None = None
    fdr: Floats | None = None

    def __len__(self) -> int:
        return len(self.scores)

    def __repr__(self) -> str:
        columns = self.names if self.others is None else self.others
        false = 0.0 if self.fdr is None else float(self.fdr.max(initial=0.0))
        what = f"at an expected error rate of {false:.2g}" if self.above is None else f"above {self.above:g}"
        return f"SimilarPairs: {len(self):,} {what} among {len(self.names):,} x {len(columns):,} courses"

    def to_frame(self) -> pd.DataFrame:
        """Table with columns first, second (names), similarity; probability, fdr, delay and gain where asked for."""
        import pandas as pd

        columns = np.array(self.names if self.others is None else self.others, dtype=object)
        first = np.array(self.names, dtype=object)[self.rows]
        known = {"probability": self.probabilities, "fdr": self.fdr, "delay": self.delay, "gain": self.gain}
        told = {name: part for name, part in known.items() if part is not None}
        return pd.DataFrame({"first": first, "second": columns[self.cols], "similarity": self.scores, **told})

    def graph(self) -> csr_array:
        """The similarities as a sparse matrix, symmetric when courses are compared among themselves.

        Pairs that were not found, and the diagonal, are not stored.
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
    above: float | None = None,
    fdr: float | None = None,
    tolerance: float | None = None,
    up_to: Sequence[str] | str = (),
    max_delay: float | None = None,
    at_most: int = AT_MOST,
    threads: int | None = None,
    client: Any = None,
) -> SimilarPairs:
    """All pairs of courses with a similarity above a bound, or at a stated error rate, without the N x N matrix.

    Give one of `above` and `fdr`. Every pair is computed, so with `above` the time is that of
    :func:`timelike.similarity`. The memory is that of the pairs that are found: 16 bytes each, and three times that
    while they are sorted. With `fdr` pairs are found by how probable it is that they share a curve
    (:meth:`timelike.Similarity.probabilities`), from the surest on.

    Parameters
    ----------
    courses
    gp
        From :func:`timelike.fit`, or given.
    others
        Compare with these instead of among themselves.
    above
        The bound: pairs with ``s > above``. At zero, one curve begins to explain a pair better than two.
    fdr
        The expected share of false ones among the pairs, for instance 0.05: the longest list that is not expected to
        have more. Pairs that are less probable than not are on no list.
    tolerance
        With `fdr`: courses that differ by no more than about this still share a curve, in the units of the values;
        see :meth:`timelike.Similarity.probabilities`.
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

    Pairs of which at most one in twenty is expected to be of two profiles:

    >>> found = similar_pairs(courses[::5], gp, fdr=0.05)
    >>> bool(found.fdr.max() <= 0.05), found.to_frame().columns.tolist()
    (True, ['first', 'second', 'similarity', 'probability', 'fdr'])
    """
    _check_asked(above, fdr, tolerance)
    if at_most != np.inf and not (checks.is_number(at_most) and at_most >= 0):
        raise InputError(f"at_most is {at_most!r}: expected a number, zero or more.")
    if client is not None:
        check_client(client)
    job = job_of(courses, gp, others, up_to=up_to, max_delay=max_delay)
    columns = None if others is None else others.names
    if fdr is None:
        bound = float(above or 0)
        found: Found = collected(PairsAbove(job, bound), at_most, threads, client)
        return SimilarPairs(*found, courses.names, columns, bound, *_moved(job, found))
    sure = About(courses, gp, others, up_to, max_delay).sure(tolerance)
    rows, cols, scores, probabilities = collected(PairsSure(job, sure), at_most, threads, client)
    keep, share = listed(probabilities, fdr)
    found = rows[keep], cols[keep], scores[keep]
    told = _moved(job, found)
    return SimilarPairs(*found, courses.names, columns, None, *told, probabilities[keep], share[keep])


def _check_asked(above: Any, fdr: Any, tolerance: Any) -> None:
    """Raise unless either a bound or an error rate is asked for."""
    if (above is None) == (fdr is None):
        raise InputError("give one of above (a bound on the similarity) and fdr (an expected share of false pairs).")
    if fdr is not None:
        check_rate(fdr)
    elif not checks.is_number(above):
        raise InputError(f"above is {above!r}: expected a finite number.")
    elif tolerance is not None:
        raise InputError("tolerance says what counts as the same curve: give it with fdr, not with above.")


def _moved(job: Job, found: Found) -> tuple[Floats | None, Floats | None]:
    """Delays and gains of the pairs that were found; None where they are not free."""
    if not isinstance(job.way, AlignedRoute) or len(job.way.nodes) == 1 or not len(found[0]):
        return None, None
    rows, cols = found[0].astype(np.intp), found[1].astype(np.intp) + (job.offset or 0)
    told = compared(job.way, rows, cols).told
    return (None if told.delay is None else told.delay.mean), (None if told.gain is None else told.gain.mean)


class Keeping(Protocol):
    """What keeps some pairs of a tile: rows, columns, scores and more of each."""

    @property
    def job(self) -> Job:
        """All pairs."""

    @property
    def words(self) -> str:
        """What they are."""

    def __call__(self, tile: Tile) -> tuple[Any, ...]:
        """Those of a tile."""


@dataclass(frozen=True, eq=False)
class PairsAbove:
    """Computes a tile, and keeps the pairs above a bound."""

    job: Job
    above: float

    @property
    def words(self) -> str:
        """What they are."""
        return f"above {self.above:g}"

    def __call__(self, tile: Tile) -> Found:
        """Rows, columns and scores, as positions in the result; among themselves with the smaller one first."""
        block = self.job.tile(tile)
        row, col, rows, cols = _kept(self.job, tile, block > self.above)
        return rows, cols, block[row, col]


@dataclass(frozen=True, eq=False)
class PairsSure:
    """Computes a tile, and keeps the pairs that are rather of one curve than not."""

    job: Job
    sure: Sureness

    @property
    def words(self) -> str:
        """What they are."""
        return f"more probable than {LEAST:g}"

    def __call__(self, tile: Tile) -> Sure:
        """Rows, columns, scores and probabilities, likewise."""
        block = self.sure.block(self.job.left[tile[0]], self.job.right[tile[1]])
        row, col, rows, cols = _kept(self.job, tile, block >= LEAST)
        scores = self.job.tile(tile)[row, col] if len(row) else np.zeros(0)
        return rows, cols, scores, block[row, col]


def _kept(job: Job, tile: Tile, keep: Bools) -> tuple[Ints, Ints, NDArray[np.int32], NDArray[np.int32]]:
    """Pairs of a tile that are kept, as positions in it and in the result."""
    if job.square and tile[0] == tile[1]:
        keep = np.triu(keep, 1)
    row, col = np.nonzero(keep)
    places = job.places(*tile)
    rows, cols = places[0][row].astype(np.int32), places[1][col].astype(np.int32)
    if job.square:
        rows, cols = np.minimum(rows, cols), np.maximum(rows, cols)
    return row, col, rows, cols


def collected(work: Keeping, at_most: int = AT_MOST, threads: int | None = None, client: Any = None) -> tuple[Any, ...]:
    """Rows, columns, scores and what else there is of all tiles, sorted by row, then column."""
    found: list[tuple[Any, ...]] = []
    pairs = count = 0

    def keep(tile: Tile, result: tuple[Any, ...]) -> None:
        nonlocal pairs, count
        found.append(result)
        pairs += pair_count(tile)
        count += len(result[0])
        if count > at_most:
            raise InputError(
                f"more than {at_most:,} pairs are {work.words}: {count:,} of the first {pairs:,} pairs. Ask "
                "for a larger bound, for the nearest of each course (neighbors), or raise at_most (16 bytes a pair)."
            )

    run_tiles(work, work.job.tiles(), threads, "similar pairs", done=keep, client=client)
    columns = [np.concatenate(parts) for parts in zip(*found, strict=True)]
    found.clear()  # before the memory for the sorted ones is taken
    order = np.lexsort((columns[1], columns[0]))
    return tuple(column[order] for column in columns)
