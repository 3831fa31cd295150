"""similarity: the log likelihood ratio of "one curve" to "two curves", for every pair of courses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from timelike.base import notebook
from timelike.base.arrays import Floats
from timelike.base.dask_workers import check_client
from timelike.base.threads import run_tiles
from timelike.base.tiles import Tile
from timelike.courses import TimeCourses
from timelike.exceptions import InputError
from timelike.gp import GP
from timelike.pairs.aligned.sums import Matches
from timelike.pairs.job import Job, job_of, mirror
from timelike.pairs.on_disk.fingerprint import fingerprint
from timelike.pairs.on_disk.stores import MatrixHeader, open_matrix
from timelike.pairs.on_disk.write import Run, compute
from timelike.pairs.sure import About, unknown

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Similarity:
    """Similarities of courses: above zero, one curve explains the pair better; below, two curves do.

    Attributes
    ----------
    values : (N, M)
        ``values[i, j]`` is the log likelihood ratio s of course i and course j. When the courses are compared
        among themselves it is symmetric, and the diagonal is s(i, i), which is not zero. On disk it is a memory map
        or a Zarr array: take slices of it; :meth:`to_frame` and :meth:`dissimilarity` load all of it.
    names : tuple of str
        Courses of the rows.
    others : tuple of str or None
        Courses of the columns; None when they are those of the rows.
    route : str
        How it was computed.
    delay : (N, M) or None
        ``delay[i, j]``: how much later course j comes than course i, in the unit of the times, if one curve explains
        both; where delays were asked for and the values are in memory. ``delay[j, i]`` is its negative.
    gain : (N, M) or None
        ``gain[i, j]``: how many times as large course j is as course i, likewise. ``gain[j, i]`` is its inverse.
    """

    values: Floats
    names: tuple[str, ...]
    others: tuple[str, ...] | None = None
    route: str = ""
    delay: Floats | None = None
    gain: Floats | None = None
    about: About | None = field(default=None, repr=False)
    """The courses and the model, where they are known: not where values were opened from a file."""

    @classmethod
    def open(cls, path: str | PathLike[str]) -> Similarity:
        """The similarities in a file that ``similarity(..., out=path)`` wrote; values are read when looked at.

        Examples
        --------
        >>> import tempfile, timelike as tl
        >>> courses, _ = tl.simulate.profiles(seed=1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     written = tl.similarity(courses, tl.GP.se(0.9, 0.7, 0.08), out=f"{folder}/S.npy")
        ...     S = tl.Similarity.open(f"{folder}/S.npy")
        ...     S, S.names[:2], float(S.values[0, 1].round(2))
        (Similarity: 150 x 150 log likelihood ratios, ('A01', 'A02'), 6.91)
        """
        values, header = open_matrix(Path(path))
        return cls(values, header.names, header.others, header.route)

    def __repr__(self) -> str:
        return f"Similarity: {self.values.shape[0]:,} x {self.values.shape[1]:,} log likelihood ratios"

    def _repr_html_(self) -> str:
        return notebook.similarity(self)

    def to_frame(self) -> pd.DataFrame:
        """The values with names on rows and columns."""
        import pandas as pd

        columns = self.names if self.others is None else self.others
        return pd.DataFrame(np.asarray(self.values), index=list(self.names), columns=list(columns))

    def probabilities(self, tolerance: float | None = None) -> Floats:
        """The probability of each pair that one curve explains both, with prior odds learned from the courses.

        ``values`` compare one curve with two that have nothing to do with each other. Real courses come in families,
        some of which are near each other, and the courses of a family are not quite equal. So partitions of the
        courses into families are drawn, each as often as the values make it probable, together with all that is not
        known: how many families there are and how large, how far courses of one family differ (the spread), the noise,
        that of single courses where it differs, and length scale and size of a model that was fitted. A probability is
        the share of draws in which two courses are in one family. See the page "How sure".

        Up to 600 courses; of more, 600 are drawn at random, and all are held against their families and against each
        other. With `up_to`, and where the kernel is too rough for a small basis, there are two hypotheses, the same
        curve or independent ones, and only their odds are learned.

        Parameters
        ----------
        tolerance
            Courses that differ by no more than about this count as the same, in the units of the values: the root mean
            square difference of two courses of a family. None: as the data have it.

        Returns
        -------
        (N, N), symmetric with ones on the diagonal, or (N, M)

        Examples
        --------
        >>> import timelike as tl
        >>> courses, labels = tl.simulate.profiles(per_group=10, seed=1)
        >>> P = tl.similarity(courses, tl.fit(courses)).probabilities()
        >>> bool((P == P.T).all()), bool(P[0, 1:10].mean() > 0.9), bool(P[0, 20:].mean() < 0.1)
        (True, True, True)
        """
        if self.about is None:
            raise unknown("a similarity without its courses, from a file or fitted for each pair,")
        return self.about.matrix(tolerance)

    def dissimilarity(self) -> Floats:
        """The paper's dissimilarity, ``1 + max(S) - S`` with a zero diagonal.

        It depends on the most similar pair of all, the diagonal included.
        """
        if self.others is not None:
            raise InputError("a dissimilarity needs all courses against themselves, not against others.")
        values = np.array(self.values)  # a copy in memory, also of what is on the disk
        np.subtract(1 + values.max(), values, out=values)
        np.fill_diagonal(values, 0)
        return values


def similarity(
    courses: TimeCourses,
    gp: GP,
    others: TimeCourses | None = None,
    *,
    up_to: Sequence[str] | str = (),
    max_delay: float | None = None,
    threads: int | None = None,
    out: str | PathLike[str] | None = None,
    resume: bool = False,
    replace: bool = False,
    client: Any = None,
) -> Similarity:
    """The similarity of every pair of courses: ``log p(both | one curve) - log p(both | two curves)``.

    Works for shared, uneven, replicated and each course's own times, with or without known errors; always exact.

    With `up_to`, two courses also share a curve if one is the other around another level, larger or smaller, or later:
    ``s = log p(both | one curve, moved) - log p(both | two curves)``, where level, gain and delay are integrated out
    under both, so that a freedom that does not help is paid for.

    Parameters
    ----------
    courses
    gp
        From :func:`timelike.fit`, or given.
    others
        Compare with these instead of among themselves.
    up_to
        In what courses may differ and still be alike: any of "level", "gain" and "delay". The result then has their
        gains and delays too.
    max_delay
        With "delay": how far apart in time two courses may be, in the unit of the times. Not needed where the kernel
        is periodic: there a delay is a phase.
    threads
        Number of threads; by default all that this process may use.
    out
        Write the values to this file instead of keeping them in memory: a NumPy file (``.npy``) or a Zarr array
        (``.zarr``, extra ``disk``). It appears when it is whole; until then the work is in ``<out>.partial``. Delays
        and gains are not written: :func:`timelike.match` tells those of a pair.
    resume
        Continue an unfinished run of the same input with the same `out`, whatever ended it. The result has the
        same bits. Starts anew where there is nothing to continue.
    replace
        Let the result take the place of similarities that are in `out` already; they stay until it is whole.
    client
        A ``dask.distributed.Client``: its workers compute, with the same bits (extra ``dask``). Workers that see the
        folder of `out` write their tiles themselves, others send them here.

    Examples
    --------
    >>> import timelike as tl
    >>> courses, _ = tl.simulate.profiles(seed=1)
    >>> S = tl.similarity(courses, tl.fit(courses))
    >>> S
    Similarity: 150 x 150 log likelihood ratios
    >>> bool(S.values[0, 1] > S.values[0, 149])     # two of one profile, two of different profiles
    True

    Pulses that come 0.1 and 0.2 later:

    >>> courses, _ = tl.simulate.delayed(seed=1)
    >>> S = tl.similarity(courses, tl.GP.se(0.2, 0.5, 0.1), up_to="delay", max_delay=0.4)
    >>> S.delay[:50, 100:].mean().round(2)
    np.float64(0.2)
    """
    if resume and replace:
        raise InputError("resume goes on with what is there, replace throws it away: give one of them.")
    if (resume or replace) and out is None:
        raise InputError("resume continues the file of an earlier run, and replace replaces it: give its path as out.")
    job = job_of(courses, gp, others, up_to=up_to, max_delay=max_delay)
    if client is not None:
        check_client(client)
    columns = None if others is None else others.names
    about = About(courses, gp, others, up_to, max_delay)
    if out is None and len(job.free) > 1:
        values, delay, gain = _with_freedoms(job, threads, client)
        return Similarity(values, courses.names, columns, job.way.name, delay, gain, about)
    if out is None:
        values = in_memory(job, threads, client)
    else:
        header = MatrixHeader(courses.names, columns, job.way.name, fingerprint(courses, gp, others, job))
        values = compute(Run(job, header, threads, client), Path(out), resume=resume, replace=replace)
    return Similarity(values, courses.names, columns, job.way.name, about=about)


def in_memory(job: Job, threads: int | None = None, client: Any = None) -> Floats:
    """All similarities of a job, in the order of the courses."""
    values = np.empty(job.shape)
    if client is None:
        _fill_parts(values, job, threads)
    else:
        put = partial(job.put, values)
        run_tiles(job.tile, job.tiles(), threads, "similarity", done=put, client=client)
    return values


def _with_freedoms(job: Job, threads: int | None, client: Any) -> tuple[Floats, Floats | None, Floats | None]:
    """All similarities of a job, delays and gains, in the order of the courses; None for what is not free."""
    names = job.free.names
    values = np.empty(job.shape)
    delay, log_gain = (np.empty(job.shape) if name in names else None for name in ("delay", "gain"))

    def put(tile: Tile, found: Matches) -> None:
        job.put(values, tile, found.scores)
        if delay is not None:
            job.put(delay, tile, found.delays, sign=-1)
        if log_gain is not None:
            job.put(log_gain, tile, found.log_gains, sign=-1)

    if client is None:  # parts have the bits of tiles, and are put where they belong by the thread that made them
        run_tiles(lambda part: put(part, job.matches(part)), job.parts(), threads, "similarity")
    else:
        run_tiles(job.matches, job.tiles(), threads, "similarity", done=put, client=client)
    return values, delay, None if log_gain is None else np.exp(log_gain, out=log_gain)


def _fill_parts(values: Floats, job: Job, threads: int | None) -> None:
    """Compute part by part, in place where the route's order allows, and mirror what is above the diagonal.

    The parts are those of a file: a product cut in another way may differ in the last bit.
    """
    in_order = job.in_order

    def work(part: Tile) -> None:
        rows, cols = part
        block = values[part] if in_order else np.empty((rows.stop - rows.start, cols.stop - cols.start))
        job.fill(part, block)
        if not in_order:
            if job.square and rows == cols:
                mirror(block)
            job.put(values, part, block)
        elif job.square:
            _reflect(values, job, part)

    run_tiles(work, job.parts(), threads, "similarity")


def _reflect(values: Floats, job: Job, part: Tile) -> None:
    """Fill what is below the diagonal, except where it is computed: that gives the same bits, and is faster."""
    rows, cols = part
    if job.is_even(part):
        return
    if rows == cols:
        mirror(values[part])
    else:
        values[cols, rows] = values[part].T


# -- for programs that cannot take a number below zero -----------------------------------------------------------


def as_distance(scores: Floats) -> Floats:
    """Distances above zero: ``1 / (1 + s)`` where s is above zero, ``1 - s`` below.

    It falls as s rises, smoothly and without end, so no two courses change places. At 1, one curve and two curves
    explain a pair equally well. Unlike the paper's ``1 + max - S`` it does not depend on the most similar pair, so
    distances of different sets of courses, training and new ones for instance, can be compared.

    Examples
    --------
    >>> as_distance(np.array([9.0, 1.0, 0.0, -1.0, -9.0]))
    array([ 0.1,  0.5,  1. ,  2. , 10. ])
    """
    return np.where(scores > 0, 1 / (1 + np.maximum(scores, 0)), 1 - scores)


def as_probability(scores: Floats) -> Floats:
    """Probabilities that one curve explains a pair, if before looking it was as likely as not: ``1 / (1 + exp(-s))``.

    Examples
    --------
    >>> as_probability(np.array([5.0, 0.0, -800.0])).round(3)
    array([0.993, 0.5  , 0.   ])
    """
    from scipy.special import expit

    return np.asarray(expit(scores))
