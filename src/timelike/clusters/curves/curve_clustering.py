"""Clusters that have curves: who belongs to them and how surely, what is in none, and where new courses go."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from timelike.base import checks, notebook
from timelike.base.arrays import Bools, Floats, Ints
from timelike.base.blas import one_thread_below
from timelike.clusters.clustering import Clustering
from timelike.clusters.curves.ascent import Fit, climb, merged
from timelike.clusters.curves.bound import (
    ALPHA,
    NONE,
    Clusters,
    Sample,
    State,
    left_out,
    predictive,
    sample,
    scores,
    soften,
)
from timelike.clusters.curves.outlying_values import outlying
from timelike.exceptions import InputError
from timelike.gp import Curve
from timelike.gp.basis import basis
from timelike.gp.information import information, noise_variances, on_basis

if TYPE_CHECKING:
    import pandas as pd

    from timelike.courses import TimeCourses
    from timelike.gp import GP

PEAK_GRID = 101
"""Times at which the peaks of curves are sought."""
SHOWN_GRID = 41
"""Times at which curves are drawn in notebooks."""


class Step(NamedTuple):
    """One number of clusters that was tried.

    ``bound``: what speaks for it, in natural logarithms. ``per_course``: what it costs against the best number, for
    each course. ``merge``: evidence lost by its cheapest merge. ``sizes``: expected courses in each cluster.
    """

    k: int
    bound: float
    per_course: float
    merge: float
    spread: float
    sizes: tuple[float, ...]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CurveClustering(Clustering):
    """Clusters, each with a curve that its courses share. Numbered by the time at which the curve peaks.

    What a :class:`~timelike.clusters.clustering.Clustering` has, and

    Attributes
    ----------
    labels : (N,) int
        -1 for "none of these": a course that a curve of its own explains better than any cluster does.
    probabilities : (N, k) or None
        Of each course to belong to each cluster, judged without its own share in the cluster's curve. What is
        missing to 1 is the probability of "none of these".
    spread : float
        How much curves within a cluster differ, in units of how much the clusters' curves vary (the signal_sd).
        Zero: identical but for the noise.
    learned : bool
        The spread was learned, not given.
    responsibilities : (N, k + 1)
        With which weight each course enters each cluster's curve; the last column is "none".
    path : tuple of Step
        Every number of clusters that was tried.
    continuum : bool
        The data do not fall into clusters: more of them always describe the courses a little better, and `k` is a
        choice of how fine to look.
    gp, courses
        What was clustered, under which model.
    measured : TimeCourses or None
        The courses with all their values, where single ones were left out of `courses`.
    """

    courses: TimeCourses
    gp: GP
    spread: float
    responsibilities: Floats
    learned: bool = True
    path: tuple[Step, ...] = ()
    continuum: bool = False
    measured: TimeCourses | None = None

    def _repr_html_(self) -> str:
        points = self.courses.designs.points
        grid = np.linspace(points.min(axis=0), points.max(axis=0), SHOWN_GRID)
        found = curves(self.courses, self.gp, self.spread, self.responsibilities, grid)
        return notebook.curve_clusters(self, grid[:, 0], Curve(*found))

    @property
    def none(self) -> Bools:
        """Which courses are in none of the clusters, (N,)."""
        return self.labels < 0

    @property
    def nearest(self) -> Ints:
        """The likeliest cluster of each course, also of those that are in none, (N,)."""
        weights = self.responsibilities[:, :-1] if self.probabilities is None else self.probabilities
        return np.asarray(weights.argmax(axis=1))

    @property
    def confidence(self) -> Floats:
        """Probability that each course is where `labels` says, "none" included, (N,)."""
        if self.probabilities is None:
            return np.ones(len(self.names))
        own = self.probabilities[np.arange(len(self.names)), self.nearest]
        return np.where(self.none, 1 - self.probabilities.sum(axis=1), own)

    def to_frame(self) -> pd.DataFrame:
        """Table with columns name, cluster (-1: none), probability (of that) and nearest (the likeliest cluster)."""
        import pandas as pd

        columns = {"name": list(self.names), "cluster": self.labels, "probability": self.confidence}
        return pd.DataFrame(columns | {"nearest": self.nearest})

    def path_frame(self) -> pd.DataFrame:
        """Table of every number of clusters that was tried, see :class:`Step`."""
        import pandas as pd

        return pd.DataFrame(self.path, columns=Step._fields)

    # -- curves ---------------------------------------------------------------------------------------------

    def curve(self, cluster: int, times: ArrayLike) -> Curve:
        """Mean and standard deviation, at `times`, of the curve of a cluster.

        Single courses differ from it by the spread, and their values by the noise besides.

        Examples
        --------
        >>> import timelike as tl
        >>> from timelike.clusters.curves.mixture import mixture
        >>> courses, _ = tl.simulate.profiles(seed=1)
        >>> found = mixture(courses, tl.fit(courses), k=3)
        >>> [round(float(found.curve(k, [1.0]).mean[0]), 1) for k in range(3)]
        [0.7, 0.5, 0.3]
        """
        if not checks.is_whole(cluster) or cluster not in range(self.k):
            raise InputError(f"there is no cluster {cluster!r}: they are numbered from 0 to {self.k - 1}.")
        asked = checks.as_points(checks.numbers(times, "times"))
        checks.finite_times(asked)
        mean, sd = curves(self.courses, self.gp, self.spread, self.responsibilities, asked)
        return Curve(mean[cluster], sd[cluster])

    # -- new courses -----------------------------------------------------------------------------------------

    def predict(self, new_courses: TimeCourses) -> Clustering:
        """The clusters that new courses belong to, -1 for "none of these". Their times need not have occurred before.

        New courses are taken as they are: a single wild value can put one into "none".

        Examples
        --------
        >>> import timelike as tl
        >>> from timelike.clusters.curves.mixture import mixture
        >>> courses, _ = tl.simulate.profiles(seed=1)
        >>> found = mixture(courses, tl.fit(courses), k=3)
        >>> new = tl.TimeCourses.from_arrays([0.9, 0.95], [[0.4, 0.45], [0.58, 0.65], [-3, -3]])
        >>> found.predict(new).labels
        array([ 1,  0, -1])
        """
        joint = self.courses.joined(new_courses)
        data = sample(joint, self.gp, information(joint, self.gp))
        split = len(self.courses)
        with one_thread_below():
            clusters = Clusters.of(data.select(np.arange(split)).at(self.spread), self.responsibilities)
            state = data.select(np.arange(split, len(joint))).at(self.spread)
            known = predictive(state, clusters) + clusters.log_shares
            r, _ = soften(np.column_stack([known, state.own + np.log(NONE)]))
        labels = likeliest(r)
        return Clustering(labels, new_courses.names, self.k, f"predicted by {self.method}", r[:, :-1])

    # -- single values ---------------------------------------------------------------------------------------

    def outliers(self, threshold: float = 4.0) -> pd.DataFrame:
        """Single values that neither the cluster's curve nor the course's other values let expect.

        Table with columns course, time, value, expected and z (how many standard deviations off). Of normal noise,
        one value in 16,000 is beyond 4.
        """
        import pandas as pd

        courses = self._measured
        found = outlying(courses, self.gp, self.labels, self._expected, threshold)
        owner = np.searchsorted(courses.starts, found.at, side="right") - 1
        names = [self.names[i] for i in owner]
        when, value = courses.times[found.at], courses.values[found.at]
        columns = {"course": names, "time": list(when), "value": value, "expected": found.expected, "z": found.z}
        return pd.DataFrame(columns)

    @property
    def _measured(self) -> TimeCourses:
        return self.courses if self.measured is None else self.measured

    def _expected(self, design: int, label: int) -> tuple[Floats, Floats]:
        designs = self._measured.designs
        points = designs[design]
        prior = self.gp.covariance(points)
        if label < 0:
            return np.full(len(points), self.gp.mean), prior * (1 + self.spread**2)
        features, (mean, covariance) = self._at_designs
        phi = features[designs.starts[design] : designs.starts[design + 1]]
        return self.gp.mean + phi @ mean[label], phi @ covariance[label] @ phi.T + self.spread**2 * prior

    @cached_property
    def _at_designs(self) -> tuple[Floats, tuple[Floats, Floats]]:
        points = self._measured.designs.points
        features, clusters = _with_features(self.courses, self.gp, self.spread, self.responsibilities, points)
        return features, clusters.moments

    # -- coarser ---------------------------------------------------------------------------------------------

    def coarser(self, k: int) -> CurveClustering:
        """Fewer clusters: those whose curves are nearest merged, and courses assigned anew.

        ``path`` of the result says what each merge costs, in evidence, and against the present number for each course.
        """
        if not checks.is_whole(k) or not 1 <= k < self.k:
            raise InputError(f"k is {k!r}: expected a whole number below {self.k}, the present number of clusters.")
        with one_thread_below():
            data = sample(self.courses, self.gp, information(self.courses, self.gp))
            spread = None if self.learned else self.spread
            fits = [climb(data, self.responsibilities, spread)]
            while fits[-1].k > k:
                fits.append(climb(data, merged(data.at(fits[-1].spread), fits[-1].r)[0], spread))
            choice = Choice(fits[-1], steps(data, fits))
            result = finished(self.courses, self.gp, data, choice, self.method, learned=self.learned)
        return replace(result, measured=self.measured)


def curves(courses: TimeCourses, gp: GP, spread: float, r: Floats, asked: Floats) -> tuple[Floats, Floats]:
    """Means and standard deviations of the clusters' curves at the points `asked`, (K, T) each."""
    features, clusters = _with_features(courses, gp, spread, r, asked)
    mean, covariance = clusters.moments
    variance = ((features @ covariance) * features).sum(axis=2)
    return gp.mean + mean @ features.T, np.sqrt(np.maximum(variance, 0))


def _with_features(courses: TimeCourses, gp: GP, spread: float, r: Floats, asked: Floats) -> tuple[Floats, Clusters]:
    """Features of the points `asked`, (T, r), and the clusters on the same basis."""
    known = courses.designs.points
    if asked.shape[1] != known.shape[1]:
        raise InputError(f"times have {asked.shape[1]} coordinates a point, the courses {known.shape[1]}.")
    phi = basis(gp.covariance, np.concatenate([known, asked]), float(noise_variances(courses, gp).min()))
    data = sample(courses, gp, on_basis(courses, gp, phi), whole=True)
    return phi[slice(len(known), None)], Clusters.of(data.at(spread), r)


# -- from a fit to a clustering --------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Choice:
    """The fit to show, all numbers of clusters that were tried, and whether the courses look like a continuum."""

    fit: Fit
    path: tuple[Step, ...] = ()
    continuum: bool = False
    cost: float = 0.0
    """Against the number of clusters with the largest bound, for each course."""


def finished(
    courses: TimeCourses, gp: GP, data: Sample, choice: Choice, method: str, *, learned: bool, keep_single: bool = True
) -> CurveClustering:
    """The clustering of a fit, with probabilities that leave each course out of its own cluster.

    A cluster that no course is nearest to is dropped; without `keep_single`, also a cluster of one course.
    """
    fit = choice.fit
    probabilities = judged(data, fit)
    sizes = nearest_counts(probabilities)
    keep = sizes > (0 if keep_single else 1)
    keep[fit.r[:, :-1].sum(axis=0).argmax()] |= not keep.any()
    found = numbered_by_peak(courses, gp, choice, kept(fit.r, keep, sizes == 0), method)
    clustering = replace(found.clustering, learned=learned)
    probabilities = kept(probabilities, keep, sizes == 0)[:, found.order]
    return replace(clustering, labels=likeliest(probabilities), probabilities=probabilities[:, :-1])


class Numbered(NamedTuple):
    """A clustering, and which column of its responsibilities was which before it was numbered."""

    clustering: CurveClustering
    order: Ints


def numbered_by_peak(courses: TimeCourses, gp: GP, choice: Choice, r: Floats, method: str) -> Numbered:
    """The clustering by responsibilities alone, its clusters in the order of their peaks."""
    spread = choice.fit.spread
    order = np.append(by_peak(courses, gp, spread, r), r.shape[1] - 1)
    clustering = CurveClustering(
        labels=r[:, order[:-1]].argmax(axis=1),
        names=courses.names,
        k=len(order) - 1,
        method=method,
        evidence={step.k: step.bound for step in choice.path} or None,
        courses=courses,
        gp=gp,
        spread=spread,
        responsibilities=r[:, order],
        path=choice.path,
        continuum=choice.continuum,
    )
    return Numbered(clustering, order)


def kept(r: Floats, keep: Bools, empty: Bools) -> Floats:
    """The columns of the clusters to keep.

    What an empty cluster had goes to those that are left, in proportion: it was the double of one of them. What the
    others had goes to "none".
    """
    result = np.empty((len(r), int(keep.sum()) + 1))
    result[:, :-1] = r[:, :-1][:, keep]
    here, doubled = result[:, :-1].sum(axis=1), r[:, :-1][:, empty & ~keep].sum(axis=1)
    result[:, :-1] *= np.where(here > 0, 1 + doubled / np.where(here > 0, here, 1), 1)[:, None]
    result[:, -1] = r[:, -1] + r[:, :-1][:, ~keep & ~empty].sum(axis=1) + np.where(here > 0, 0, doubled)
    return result


def nearest_counts(probabilities: Floats) -> Ints:
    """How many courses each cluster is the likeliest for, those in "none" left out, (K,)."""
    labels = likeliest(probabilities)
    return np.bincount(labels[labels >= 0], minlength=probabilities.shape[1] - 1)


def supported(data: Sample, fit: Fit, spread: float | None) -> Fit:
    """The fit without clusters that no course is nearest to: doubles of others, which share their courses."""
    while True:
        empty = nearest_counts(judged(data, fit)) == 0
        if not empty.any() or empty.all():
            return fit
        fit = climb(data, kept(fit.r, ~empty, empty), spread)


def likeliest(probabilities: Floats) -> Ints:
    """The likeliest cluster, or -1 where "none" (the last column) is likelier than all clusters together."""
    return np.where(probabilities[:, -1] > 0.5, -1, probabilities[:, :-1].argmax(axis=1))


def judged(data: Sample, fit: Fit) -> Floats:
    """Probabilities (N, K + 1) in which a course's own cluster is judged by the other courses in it."""
    state = data.at(fit.spread)
    return judged_against(state, fit.r, Clusters.of(state, fit.r))


def judged_against(state: State, r: Floats, clusters: Clusters) -> Floats:
    """The same for some of the courses, their responsibilities, and the clusters of all of them."""
    rho = scores(state, clusters)
    nearest, everyone = rho[:, :-1].argmax(axis=1), np.arange(len(state))
    weight, k = r[everyone, nearest], len(clusters.n)
    share = (ALPHA + clusters.n[nearest] - weight) / (ALPHA * k + clusters.n.sum() - weight)
    rho[everyone, nearest] = left_out(state, r, clusters, nearest) + np.log(share * (1 - NONE))
    return soften(rho)[0]


def by_peak(courses: TimeCourses, gp: GP, spread: float, r: Floats) -> Ints:
    """The clusters in the order of the time at which their curve is highest; the higher first where that is the same.

    Points with several coordinates have no order in time: there the largest cluster comes first.
    """
    points = courses.designs.points
    if points.shape[1] > 1:
        return np.argsort(-r[:, :-1].sum(axis=0), kind="stable")
    grid = np.linspace(points.min(), points.max(), PEAK_GRID)[:, None]
    heights = curves(courses, gp, spread, r, grid)[0]
    return np.lexsort((-heights.max(axis=1), heights.argmax(axis=1)))


def steps(data: Sample, fits: list[Fit]) -> tuple[Step, ...]:
    """What is worth knowing about each of the fits, by number of clusters."""
    best = max(fit.bound for fit in fits)
    found = []
    for fit in sorted(fits, key=lambda fit: fit.k):
        cost = merged(data.at(fit.spread), fit.r)[1] if fit.k > 1 else np.nan
        sizes = tuple(float(n) for n in fit.r[:, :-1].sum(axis=0).round(2))
        found.append(Step(fit.k, fit.bound, (best - fit.bound) / len(data), cost, fit.spread, sizes))
    return tuple(found)
