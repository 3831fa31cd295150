"""mixture_from_chunks: the mixture of curves for more courses than fit into memory, by sweeps over blocks on disk."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from itertools import islice
from operator import add
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from timelike.base import checks
from timelike.base.arrays import Bools, Floats, Ints
from timelike.base.blas import one_thread_below
from timelike.base.dask_workers import check_client
from timelike.base.files import atomic_write
from timelike.base.tables import harmless
from timelike.base.threads import thread_count
from timelike.clusters.clustering import Clustering
from timelike.clusters.curves.ascent import EFFORT, Effort, climb
from timelike.clusters.curves.bound import Fit, Given
from timelike.clusters.curves.curve_clustering import CurveClustering
from timelike.clusters.curves.draws import sweeps
from timelike.clusters.curves.membership import (
    Choice,
    Step,
    counts,
    judged,
    kept,
    likeliest,
    staying,
    steps,
    weighed_at_nodes,
)
from timelike.clusters.curves.mixture import LIMITS, check_settings, chosen, sought
from timelike.clusters.curves.notes import say_continuum, say_fewer, say_more
from timelike.clusters.curves.scratch import Block, BlocksOnDisk, Means, means_of, on_scratch, spooled
from timelike.exceptions import DataWarning, InputError, warn
from timelike.gp import GP, Curve
from timelike.gp.wild import wild_values

if TYPE_CHECKING:
    from timelike.courses import TimeCourses

TABLE_ROWS = 100_000
"""Rows of the table that are written at once."""


@dataclass(frozen=True, eq=False)
class ChunkedClustering:
    """Clusters of courses that are not in memory, in the order in which the chunks gave them.

    Attributes
    ----------
    labels : (N,) int32
        Numbered from 0 by the time at which the cluster's curve peaks; -1 is "none of these".
    nearest : (N,) int32
        The likeliest cluster, also of courses that are in none.
    confidence : (N,) float32
        Probability that each course is where `labels` says, judged without its own share in the cluster's curve.
    means : CurveClustering
        The clusters themselves: their mean courses, which say about the curves what all courses say.
    bound : float
        Lower bound on the log evidence of all courses.
    path : tuple of Step
        Every number of clusters that was tried.
    continuum : bool
        The data do not fall into clusters, and `k` is a choice of how fine to look; see :func:`timelike.mixture`.
    """

    labels: NDArray[np.int32]
    nearest: NDArray[np.int32]
    confidence: NDArray[np.float32]
    means: CurveClustering
    bound: float
    path: tuple[Step, ...]
    continuum: bool = False

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        none = int((self.labels < 0).sum())
        rest = f" and {none:,} in none" if none else ""
        sizes = ", ".join(f"{size:,}" for size in self.sizes[:12]) + (", ..." if self.k > 12 else "")
        found = f"{checks.counted(len(self), 'course')} in {checks.counted(self.k, 'cluster')}"
        return f"ChunkedClustering: {found} ({sizes}){rest}, mixture"

    @property
    def k(self) -> int:
        """Number of clusters."""
        return self.means.k

    @property
    def spread(self) -> float:
        """How much curves within a cluster differ, in units of the signal_sd."""
        return self.means.spread

    @property
    def gp(self) -> GP:
        """The model."""
        return self.means.gp

    @property
    def sizes(self) -> Ints:
        """Number of courses in each cluster, (k,)."""
        return np.bincount(self.labels[self.labels >= 0], minlength=self.k)

    @property
    def evidence(self) -> dict[int, float]:
        """For each number of clusters that was tried, its bound."""
        return {step.k: step.bound for step in self.path}

    def curve(self, cluster: int, times: ArrayLike) -> Curve:
        """Mean and standard deviation, at `times`, of the curve of a cluster."""
        return self.means.curve(cluster, times)

    def predict(self, new_courses: TimeCourses) -> Clustering:
        """The clusters that new courses belong to, with all probabilities; -1 for "none of these".

        The clusters' curves count as known as the weights of all courses make them: many courses leave little doubt.
        """
        return replace(self.means.predict(new_courses), method="predicted by mixture")


def mixture_from_chunks(
    chunks: Iterable[TimeCourses],
    gp: GP,
    k: int | None = None,
    *,
    spread: float | None = None,
    robust: bool = True,
    max_k: int | None = None,
    seed: int = 0,
    out: str | PathLike[str] | None = None,
    scratch: str | PathLike[str] | None = None,
    threads: int | None = None,
    client: Any = None,
    effort: Effort = EFFORT,
) -> ChunkedClustering:
    """Clusters of more courses than fit into memory, by the model and the bound of :func:`timelike.mixture`.

    The chunks are read once; their values go to a file in `scratch` (8 bytes each), over which the sweeps run. In
    memory are a block of courses, and 16 bytes for each course. The number of clusters is sought on a random sample
    and then decided by the bound of all courses, and the spread is that of the sample, both as in
    :func:`timelike.mixture` above 50,000 courses: the clusters that come out are the finest ones there, those of
    ``noise="common", refine=False, tolerance=0``. Groups of them that wide gaps keep apart are not merged; in a
    continuum, clusters are the coarse fit itself and not merged from finer ones.

    Parameters
    ----------
    chunks
        ``TimeCourses``, one after the other: a :class:`timelike.CourseFile`, a list, a generator. All on one grid, with
        gaps where values are missing; courses that each have their own times are refused.
    gp
        For instance ``timelike.fit(file.sample(100_000))``.
    k, spread
        As in :func:`timelike.mixture`.
    robust
        Let single wild values count for nothing: the same values that count for little in :func:`timelike.mixture`, but
        as if they had not been measured, since a weight of its own would be a set of times of its own. They are judged
        chunk by chunk.
    max_k, seed
        As in :func:`timelike.mixture`.
    out
        A .csv file (also .csv.gz) for a table of all courses: name, cluster, probability, nearest.
    scratch
        Folder for the values while this runs; by default the system's for temporary files.
    threads
        Number of threads; by default all that this process may use.
    client
        A ``dask.distributed.Client``: its workers do the sweeps, and read their blocks from `scratch`, a folder on a
        disk that all of them share. The result has the same bits.
    effort
        As in :func:`timelike.mixture`.

    Examples
    --------
    >>> import timelike as tl
    >>> from timelike.clusters.curves.mixture import mixture
    >>> courses, truth = tl.simulate.profiles(noise=0.08, seed=1)
    >>> gp = tl.fit(courses)
    >>> found = mixture_from_chunks([courses[:60], courses[60:]], gp)
    >>> found
    ChunkedClustering: 150 courses in 3 clusters (50, 51, 49), mixture
    >>> bool((found.labels == mixture(courses, gp).labels).all())
    True
    """
    checks.instance(gp, GP, "gp")
    if gp.rough_sd:
        raise InputError("the model has a rough part (rough_sd), which is for courses in memory: fit without it.")
    _check_places(out, scratch)
    _check_settings(k, spread, max_k)
    thread_count(threads)
    if client is not None:
        check_client(client)
    with on_scratch(Path(scratch or tempfile.gettempdir())) as place:
        made = tempfile.TemporaryDirectory(dir=place, prefix="timelike-")
    with made as folder, one_thread_below():
        spool = spooled(chunks, Path(folder), (lambda chunk: wild_values(chunk, gp).at) if robust else None)
        check_settings(spool, k, spread, max_k)
        source = BlocksOnDisk(spool, gp, effort.block, threads, client)
        choice = _chosen(source, k, spread, max_k, seed, effort)
        result = _finished(source, choice, keep_single=k is not None)
        if out is not None:
            _write(Path(out), result, spool.names())
    say_fewer(result.k, k)
    say_more(result.path, k, (max_k,) if max_k else LIMITS)
    say_continuum(result.k, choice, where="path has them all; ")
    _say_left_out(spool.left_out, spool.left_out + int(spool.counts @ spool.designs.sizes))
    return result


def _say_left_out(count: int, total: int) -> None:
    """Tell the user how many values count for nothing."""
    if count:
        message = f"{count:,} of {total:,} values are wild and count for nothing; robust=False gives all full weight."
        warn(message, DataWarning)


def _check_places(out: str | PathLike[str] | None, scratch: str | PathLike[str] | None) -> None:
    """Raise before the work if its result could not be written after it."""
    if out is not None:
        known = str(out).endswith((".csv", ".csv.gz"))
        if not known or Path(out).is_dir() or not Path(out).absolute().parent.is_dir():
            raise InputError(f"{out}: expected a .csv or .csv.gz file in a folder that exists.")
    if scratch is not None and not Path(scratch).is_dir():
        raise InputError(f"scratch: there is no folder {scratch}.")


def _check_settings(k: int | None, spread: float | None, max_k: int | None) -> None:
    """Raise before the chunks are read, as far as the number of courses plays no part."""
    check_settings((), None, spread, max_k)
    if k is not None:
        checks.whole(k, "k")


def _chosen(
    source: BlocksOnDisk, k: int | None, spread: float | None, max_k: int | None, seed: int, effort: Effort
) -> Choice:
    """What the mixture in memory would choose; where that has room for all courses, it does so."""
    if len(source) <= effort.many:
        return chosen(source.draw(len(source), seed), k, spread, max_k, seed, effort)
    choice = sought(source, k, spread, max_k, seed, effort)
    if k is None:
        return choice
    fit = _supported(source, choice.fit)
    return Choice(fit, steps([fit], len(source)))


def _supported(source: BlocksOnDisk, fit: Fit) -> Fit:
    """The fit without clusters that no course is nearest to, as in memory."""
    while True:
        empty = _without_courses(source, fit)
        if not empty.any() or empty.all():
            return fit
        fit = climb(source, fit.weights.without(empty), fit.spread)


def _without_courses(source: BlocksOnDisk, fit: Fit) -> Bools:
    """Which clusters no course is nearest to; all courses are asked where the first block does not settle it."""
    every = np.ones(fit.k, dtype=bool)
    first, _ = Labelled(fit, None, every, ~every)(source, source.blocks[0])
    if counts(first.labels, fit.k).all():
        return ~every
    return counts(_labelled(source, fit, None, every, ~every)[0].labels, fit.k) == 0


# -- from a top to labels ------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ChunkLabels:
    """For every course its label, its likeliest cluster and how sure the label is."""

    labels: NDArray[np.int32]
    nearest: NDArray[np.int32]
    confidence: NDArray[np.float32]

    @classmethod
    def of(cls, probabilities: Floats) -> ChunkLabels:
        """The labels of some courses from their probabilities (M, K + 1)."""
        label, nearest = likeliest(probabilities), probabilities[:, :-1].argmax(axis=1)
        likely = probabilities[np.arange(len(nearest)), nearest]
        confidence = np.where(label < 0, probabilities[:, -1], likely)
        return cls(label.astype(np.int32), nearest.astype(np.int32), confidence.astype(np.float32))

    def put(self, rows: slice, some: ChunkLabels) -> None:
        """Put the labels of some courses to their place among all."""
        self.labels[rows], self.nearest[rows], self.confidence[rows] = some.labels, some.nearest, some.confidence


def _finished(source: BlocksOnDisk, choice: Choice, *, keep_single: bool) -> ChunkedClustering:
    """The clustering of a fit; clusters that no course is nearest to are dropped."""
    fit = choice.fit
    every, weighed = np.ones(fit.k, dtype=bool), _weighed(source, fit)
    found, means = _labelled(source, fit, weighed, every, ~every)
    sizes = counts(found.labels, fit.k)
    keep = staying(sizes, fit.clusters.n, keep_single=keep_single)
    if not keep.all():
        found, means = _labelled(source, fit, weighed, keep, sizes == 0)
    shown = _mean_courses(source, choice, means)
    order = shown.peak_order()
    number = np.append(np.argsort(order), -1).astype(np.int32)  # the last for -1
    labels = number[found.labels], number[found.nearest], found.confidence
    return ChunkedClustering(*labels, shown.renumbered(order), fit.bound, choice.path, choice.doubtful)


def _weighed(source: BlocksOnDisk, fit: Fit) -> Floats | None:
    """The probabilities of all courses, as in memory, where they are so few that divisions of them are drawn."""
    if not sweeps(len(source), fit.k):
        return None
    state = source.draw(len(source), 0).at(fit.spread)
    return weighed_at_nodes(state, fit.weights.of(state)[0], fit.clusters).sum(axis=0)


def _labelled(
    source: BlocksOnDisk, fit: Fit, weighed: Floats | None, keep: Bools, empty: Bools
) -> tuple[ChunkLabels, Means]:
    """Labels of all courses among the clusters to keep, and the sums of which all clusters' mean courses are made."""
    count = len(source)
    found = ChunkLabels(np.empty(count, np.int32), np.empty(count, np.int32), np.empty(count, np.float32))

    def taken() -> Iterator[Means]:
        work = Labelled(fit, weighed, keep, empty)
        for block, (labels, means) in zip(source.blocks, source.every(work, "labels"), strict=True):
            found.put(block.rows, labels)
            yield means

    return found, reduce(add, taken())


@dataclass(frozen=True, eq=False)
class Labelled:
    """Computes the labels of the courses of a block among the clusters to keep, and what mean courses are made of."""

    fit: Fit
    weighed: Floats | None
    keep: Bools
    empty: Bools

    def __call__(self, source: BlocksOnDisk, block: Block) -> tuple[ChunkLabels, Means]:
        """The labels, and the sums."""
        state = source.sample(block).at(self.fit.spread)
        weights = self.fit.weights
        r = weights.r[block.rows] if isinstance(weights, Given) else weights.of(state)[0]
        chances = judged(state, r, self.fit.clusters) if self.weighed is None else self.weighed[block.rows]
        labels = ChunkLabels.of(kept(chances, self.keep, self.empty))
        return labels, means_of(source, block, kept(r, self.keep, self.empty))


def _mean_courses(source: BlocksOnDisk, choice: Choice, means: Means) -> CurveClustering:
    """The mean courses of the clusters as a clustering."""
    courses, weights = means.courses(source.spool.designs, source.gp.mean)
    return CurveClustering(
        labels=weights.argmax(axis=1),
        names=courses.names,
        k=weights.shape[1] - 1,
        method="mean courses",
        here=source.gp.at(courses),
        spread=choice.fit.spread,
        responsibilities=weights,
        path=choice.path,
        continuum=choice.doubtful,
    )


def _write(path: Path, found: ChunkedClustering, names: Iterable[str]) -> None:
    """The table of all courses, some rows at a time."""
    import pandas as pd

    name = iter(names)
    packed = "gzip" if path.suffix == ".gz" else None
    with atomic_write(path, "wb") as file:
        for start in range(0, len(found), TABLE_ROWS):
            rows = slice(start, start + TABLE_ROWS)
            columns = {"cluster": found.labels, "probability": found.confidence, "nearest": found.nearest}
            table = pd.DataFrame({"name": list(islice(name, TABLE_ROWS))} | {c: x[rows] for c, x in columns.items()})
            harmless(table).to_csv(file, index=False, header=start == 0, compression=packed)
