"""mixture_from_chunks: the mixture of curves for more courses than fit into memory, by sweeps over blocks on disk."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import reduce
from itertools import islice
from operator import add
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from timelike.base import checks
from timelike.base.arrays import Bools, Floats, Ints
from timelike.base.blas import one_thread_below
from timelike.base.files import atomic_write
from timelike.base.tables import harmless
from timelike.base.threads import progress, thread_count
from timelike.clusters.clustering import Clustering
from timelike.clusters.curves import ascent as hill
from timelike.clusters.curves.ascent import Fit, cheapest_merge, fit_k, soften_certain, still, walk
from timelike.clusters.curves.bound import Clusters, Sample, State, log_division, scores, soften
from timelike.clusters.curves.curve_clustering import (
    Choice,
    CurveClustering,
    Step,
    by_peak,
    judged_against,
    kept,
    likeliest,
    steps,
)
from timelike.clusters.curves.mixture import (
    MAX_K,
    WALKERS,
    check_settings,
    choose,
    chosen,
    say,
    say_left_out,
    wild_values,
)
from timelike.clusters.curves.scratch import Block, Means, Source, means_of, on_scratch, spooled
from timelike.exceptions import InputError
from timelike.gp import GP, Curve

if TYPE_CHECKING:
    from timelike.courses import TimeCourses

Found = TypeVar("Found")
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
        """The clusters that new courses belong to, with all probabilities; -1 for "none of these"."""
        return replace(self.means.predict(new_courses), method="predicted by mixture")


def mixture_from_chunks(
    chunks: Iterable[TimeCourses],
    gp: GP,
    k: int | None = None,
    *,
    spread: float | None = None,
    robust: bool = True,
    max_k: int = MAX_K,
    seed: int = 0,
    out: str | PathLike[str] | None = None,
    scratch: str | PathLike[str] | None = None,
    threads: int | None = None,
) -> ChunkedClustering:
    """Clusters of more courses than fit into memory, by the model and the bound of :func:`timelike.mixture`.

    The chunks are read once; their values go to a file in `scratch` (8 bytes each), over which the sweeps run. In
    memory are a block of courses, and 16 bytes for each course. The number of clusters is sought on a random sample
    and then decided by the bound of all courses, and the spread is that of the sample, both as in
    :func:`timelike.mixture` above 50,000 courses: the same clusters come out.

    Parameters
    ----------
    chunks
        ``TimeCourses``, one after the other: a :class:`timelike.CourseFile`, a list, a generator. All on one grid, with
        gaps where values are missing; courses that each have their own times are refused.
    gp
        For instance ``timelike.fit(file.sample(100_000))``.
    k, spread, robust, max_k, seed
        As in :func:`timelike.mixture`.
    out
        A .csv file (also .csv.gz) for a table of all courses: name, cluster, probability, nearest.
    scratch
        Folder for the values while this runs; by default the system's for temporary files.
    threads
        Number of threads; by default all that this process may use.

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
    _check_places(out, scratch)
    _check_settings(k, spread, max_k)
    workers = thread_count(threads)
    with on_scratch(Path(scratch or tempfile.gettempdir())) as place:
        made = tempfile.TemporaryDirectory(dir=place, prefix="timelike-")
    with made as folder, one_thread_below():
        spool = spooled(chunks, Path(folder), (lambda chunk: wild_values(chunk, gp)) if robust else None)
        check_settings(spool, k, spread, max_k)
        sweeps = _Sweeps(Source(spool, gp), workers)
        choice, climbed = _chosen(sweeps, k, spread, max_k, seed)
        result = _finished(sweeps, choice, climbed, keep_single=k is not None)
        if out is not None:
            _write(Path(out), result, spool.names())
    say(result.k, k, choice, where="path has them all; ")
    say_left_out(spool.left_out, spool.left_out + int(spool.counts @ spool.designs.sizes), where="")
    return result


def _check_places(out: str | PathLike[str] | None, scratch: str | PathLike[str] | None) -> None:
    """Raise before the work if its result could not be written after it."""
    if out is not None:
        known = str(out).endswith((".csv", ".csv.gz"))
        if not known or Path(out).is_dir() or not Path(out).absolute().parent.is_dir():
            raise InputError(f"{out}: expected a .csv or .csv.gz file in a folder that exists.")
    if scratch is not None and not Path(scratch).is_dir():
        raise InputError(f"scratch: there is no folder {scratch}.")


def _check_settings(k: int | None, spread: float | None, max_k: int) -> None:
    """Raise before the chunks are read, as far as the number of courses plays no part."""
    check_settings((), None, spread, max_k)
    if k is not None:
        checks.whole(k, "k")


# -- sweeps ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Rule:
    """How responsibilities follow from clusters: of those that are `alive`; `certain`: nobody is in none."""

    clusters: Clusters
    alive: Bools | None = None
    certain: bool = False

    def responsibilities(self, state: State) -> tuple[Floats, float]:
        """Responsibilities (M, K + 1), and their entropy."""
        rho = scores(state, self.clusters)
        if self.certain:
            r = soften_certain(rho.copy())
            return r, soften(rho[:, :-1])[1]
        return soften(rho if self.alive is None else rho[:, np.append(self.alive, True)])


@dataclass(frozen=True, eq=False)
class Sums:
    """What sweeps add up: information and sizes of the clusters, and the rest of the bound."""

    A: Floats
    b: Floats
    n: Floats
    rest: float

    def __add__(self, other: Sums) -> Sums:
        return Sums(self.A + other.A, self.b + other.b, self.n + other.n, self.rest + other.rest)

    @property
    def clusters(self) -> Clusters:
        """The clusters with these sums."""
        return Clusters(self.A, self.b, self.n)


@dataclass(frozen=True, eq=False)
class Climbed:
    """A top of the bound: the rule that gives the responsibilities, the clusters that they sum to, and the bound."""

    rule: Rule
    clusters: Clusters
    spread: float
    bound: float

    @property
    def k(self) -> int:
        """Number of clusters."""
        return len(self.clusters.n)


class _Sweeps:
    """Passes over all blocks, on several threads; sums are taken in the order of the blocks."""

    def __init__(self, source: Source, threads: int) -> None:
        self.source, self.threads = source, threads
        self.blocks = source.spool.blocks()

    def __len__(self) -> int:
        return len(self.source)

    def every(self, work: Callable[[Block], Found], title: str) -> Iterable[Found]:
        """The results of the work on each block."""
        with ThreadPoolExecutor(self.threads) as pool, progress(title, len(self.blocks), "block") as advance:
            for result in pool.map(work, self.blocks):
                advance(1)
                yield result

    def once(self, rule: Rule, spread: float) -> tuple[Clusters, float]:
        """The clusters that the rule's responsibilities sum to, and the bound."""

        def sums(block: Block) -> Sums:
            state = self.source.sample(block).at(spread)
            r, uncertainty = rule.responsibilities(state)
            found = Clusters.of(state, r)
            return Sums(found.A, found.b, found.n, uncertainty + float(state.c.sum() + r[:, -1] @ state.own))

        total = reduce(add, self.every(sums, "mixture"))
        clusters = total.clusters
        return clusters, float(clusters.evidence.sum()) + total.rest + log_division(total.n, len(self))

    def climb(self, rule: Rule, spread: float) -> Climbed:
        """The top of the bound above the rule's responsibilities, as ``ascent.climb`` finds it."""
        for _ in range(hill.ROUNDS):
            rule, clusters, value = self._until_still(rule, spread)
            alive = hill.alive(clusters.n)
            if alive.all():
                break
            rule = Rule(rule.clusters, alive)
        return Climbed(rule, clusters, spread, value)

    def _until_still(self, rule: Rule, spread: float) -> tuple[Rule, Clusters, float]:
        clusters, value = self.once(rule, spread)
        for _ in range(hill.SWEEPS):
            rule, last = Rule(clusters), value
            clusters, value = self.once(rule, spread)
            if value - last < still(len(self)):
                break
        return rule, clusters, value

    def lifted(self, few: Sample, fit: Fit, *, certain: bool = True) -> Climbed:
        """A top for all courses, from a fit of few of them."""
        return self.climb(Rule(Clusters.of(few.at(fit.spread), fit.r), certain=certain), fit.spread)


# -- the number of clusters --------------------------------------------------------------------------------------


def _chosen(sweeps: _Sweeps, k: int | None, spread: float | None, max_k: int, seed: int) -> tuple[Choice, Climbed]:
    """What :func:`timelike.clusters.curves.mixture.chosen` chooses, from a sample and sweeps over all courses."""
    if len(sweeps) <= hill.MANY:
        everyone = sweeps.source.draw(len(sweeps), seed)
        choice = chosen(everyone, k, spread, max_k, seed)
        return choice, sweeps.lifted(everyone, choice.fit, certain=False)
    if k is not None:
        few = sweeps.source.draw(hill.FEW, seed)
        fit = fit_k(few, k, spread, seed)
        climbed = sweeps.lifted(few, fit)
        return Choice(fit, _steps([climbed], len(sweeps))), climbed
    few = sweeps.source.draw(WALKERS, seed)
    fits = list(walk(few, spread, min(max_k, len(few)), seed).values())
    fit, continuum = choose(fits)
    climbs = [sweeps.lifted(few, fit)] if continuum else _around(sweeps, few, fits)
    best = max(climbs, key=lambda climbed: climbed.bound)
    path = steps(few, fits) if continuum else _steps(climbs, len(sweeps))
    cost = next((step.per_course for step in path if step.k == best.k), 0.0)
    return Choice(fit, path, continuum, cost), best


def _around(sweeps: _Sweeps, few: Sample, fits: Sequence[Fit]) -> list[Climbed]:
    """Tops for all courses: from just below the best number of clusters of few on, while the bound rises."""
    best = int(np.argmax([fit.bound for fit in fits]))
    found: list[Climbed] = []
    for fit in fits[max(best - 1, 0) :]:
        found.append(sweeps.lifted(few, fit))
        if len(found) > 2 and found[-1].bound < found[-2].bound < found[-3].bound:
            break
    return list({climbed.k: climbed for climbed in sorted(found, key=lambda climbed: climbed.bound)}.values())


def _steps(climbs: list[Climbed], count: int) -> tuple[Step, ...]:
    best = max(climbed.bound for climbed in climbs)
    found = []
    for climbed in sorted(climbs, key=lambda climbed: climbed.k):
        cost = cheapest_merge(climbed.clusters)[2] if climbed.k > 1 else np.nan
        sizes = tuple(float(n) for n in climbed.clusters.n.round(2))
        found.append(Step(climbed.k, climbed.bound, (best - climbed.bound) / count, cost, climbed.spread, sizes))
    return tuple(found)


# -- from a top to labels ------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Labels:
    """For every course its label, its likeliest cluster and how sure the label is; filled block by block."""

    labels: NDArray[np.int32]
    nearest: NDArray[np.int32]
    confidence: NDArray[np.float32]

    @classmethod
    def empty(cls, count: int) -> _Labels:
        return cls(np.empty(count, np.int32), np.empty(count, np.int32), np.empty(count, np.float32))

    def fill(self, rows: slice, probabilities: Floats) -> None:
        """Take the labels of some courses from their probabilities (M, K + 1)."""
        label, nearest = likeliest(probabilities), probabilities[:, :-1].argmax(axis=1)
        self.labels[rows], self.nearest[rows] = label, nearest
        likely = probabilities[np.arange(len(nearest)), nearest]
        self.confidence[rows] = np.where(label < 0, probabilities[:, -1], likely)

    def renumbered(self, order: Ints) -> _Labels:
        """The labels when cluster ``order[j]`` becomes cluster j."""
        number = np.append(np.argsort(order), -1).astype(np.int32)  # the last for -1
        return _Labels(number[self.labels], number[self.nearest], self.confidence)


def _finished(sweeps: _Sweeps, choice: Choice, climbed: Climbed, *, keep_single: bool) -> ChunkedClustering:
    """The clustering of a top; clusters that no course is nearest to are dropped, see curve_clusters.finished."""
    every = np.ones(climbed.k, dtype=bool)
    found, means = _labelled(sweeps, climbed, every, ~every)
    sizes = np.bincount(found.labels[found.labels >= 0], minlength=climbed.k)
    keep = sizes > (0 if keep_single else 1)
    keep[climbed.clusters.n.argmax()] |= not keep.any()
    if not keep.all():
        found, means = _labelled(sweeps, climbed, keep, sizes == 0)
    shown, order = _mean_courses(sweeps.source, choice, climbed, means.kept(keep))
    found = found.renumbered(order)
    path = choice.path
    return ChunkedClustering(
        found.labels, found.nearest, found.confidence, shown, climbed.bound, path, choice.continuum
    )


def _labelled(sweeps: _Sweeps, climbed: Climbed, keep: Bools, empty: Bools) -> tuple[_Labels, Means]:
    """Labels of all courses among the clusters to keep, and the sums of which all clusters' mean courses are made."""
    found = _Labels.empty(len(sweeps))

    def label(block: Block) -> Means:
        state = sweeps.source.sample(block).at(climbed.spread)
        r, _ = climbed.rule.responsibilities(state)
        found.fill(block.rows, kept(judged_against(state, r, climbed.clusters), keep, empty))
        return means_of(sweeps.source, block, r)

    return found, reduce(add, sweeps.every(label, "labels"))


def _mean_courses(source: Source, choice: Choice, climbed: Climbed, means: Means) -> tuple[CurveClustering, Ints]:
    """The mean courses of the clusters as a clustering, in the order of their peaks, and that order."""
    courses, weights = means.courses(source.spool.designs, source.gp.mean)
    order = by_peak(courses, source.gp, climbed.spread, weights)
    weights = weights[:, np.append(order, len(order))]
    shown = CurveClustering(
        labels=weights.argmax(axis=1),
        names=courses.names,
        k=len(order),
        method="mean courses",
        courses=courses,
        gp=source.gp,
        spread=climbed.spread,
        responsibilities=weights,
        path=choice.path,
        continuum=choice.continuum,
    )
    return shown, order


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
