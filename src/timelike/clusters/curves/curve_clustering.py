"""Clusters that have curves: who belongs to them and how surely, what is in none, and where new courses go."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from timelike.base import checks, notebook
from timelike.base.arrays import Bools, Floats, Ints
from timelike.base.blas import one_thread_below
from timelike.base.estimates import Estimate
from timelike.clusters.clustering import Clustering
from timelike.clusters.curves import borders, granularity
from timelike.clusters.curves.alignment import aligned, delays_of, gains_of, levels_of
from timelike.clusters.curves.ascent import responsibilities
from timelike.clusters.curves.bound import (
    NONE,
    AnySpread,
    Clusters,
    Given,
    expected_shares,
    rescaled,
    sample,
)
from timelike.clusters.curves.draws import divisions
from timelike.clusters.curves.left_out import predictive
from timelike.clusters.curves.membership import (
    Choice,
    Step,
    counts,
    kept,
    likeliest,
    placed_at,
    staying,
    weighed_at_nodes,
    weighed_beside,
)
from timelike.clusters.curves.new_courses import parts
from timelike.clusters.curves.noise import COMMON, Noise
from timelike.clusters.curves.outlying_values import Outliers, outlying
from timelike.courses.designs import frozen
from timelike.exceptions import InputError
from timelike.gp import Curve, kernels
from timelike.gp.basis import basis

if TYPE_CHECKING:
    import pandas as pd

    from timelike.courses import TimeCourses
    from timelike.gp import GP
    from timelike.gp.freedom import Freedom
    from timelike.gp.modelled import Modelled

GRID = 101
"""Times at which the peaks of curves are sought, and their tables are written."""
REMEMBERED = 4
"""Sets of times at which curves are remembered."""
COMPARED = 1000
"""Points at which curves are compared, at most."""
PATH_COLUMNS = ("k", "tolerance_from", "tolerance_to", "sizes", "bound", "per_course", "merge", "spread")
SHOWN_GRID = 41
"""Times at which curves are drawn in notebooks."""
NO_WEIGHT = 1e-12
"""A smaller weight of a course at a node of gain and delay is none: it moves no curve, and fills files."""
CURVE_ERROR = 1e-9
"""Largest error of a covariance behind a curve, in units of the noise variance, before a larger basis is made."""


class Deviation(NamedTuple):
    """Standard deviation of deviations, in units of the values, and their length scale, None if the kernel has none."""

    sd: float
    length_scale: float | Floats | None


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CurveClustering(Clustering):
    """Clusters, each with a curve that its courses share. Numbered by the time at which the curve peaks.

    What a :class:`~timelike.clusters.clustering.Clustering` has, and

    Attributes
    ----------
    labels : (N,) int
        -1 for "none of these": a course that a curve of its own explains better than any cluster does.
    probabilities : (N, k) or None
        Of each course to belong to each cluster, given the others in it: on average over divisions of the courses that
        are as likely as the data make them. What is missing to 1 is the probability of "none of these".
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
        The data do not fall into clusters: more of them always describe the courses a little better, no number of them
        stands out, and `k` is a choice of how fine to look.
    finest : CurveClustering or None
        The finest clusters that the courses support, of which these were merged; None where these are the finest.
    part_of : (finest.k,) int or None
        The cluster here of each of the finest.
    here : Modelled
        What was clustered, under which model: its `courses` and `gp` are also those of the clustering.
    measured : TimeCourses or None
        The courses as they were measured, where single values have a lower weight in `courses`.
    noise : Noise
        Levels of the noise that a course can have, and how likely they are; one level where all courses have the
        model's noise.
    level_weights : (M, N, k + 1) or None
        The responsibilities at each node of noise, gain and delay, whose sum they are; None where there is one.
    deviation_scale : float
        Length scale on which courses deviate from their cluster's curve, in units of the model's; see `deviation`.
    places : (M, N) or None
        Probability of each node of gain and delay for each course in its nearest cluster, judged by the others there.
    earned : dict
        What each freedom, see ``up_to`` of :func:`timelike.mixture`, adds to the log evidence of a course.
    """

    here: Modelled
    spread: float
    responsibilities: Floats
    learned: bool = True
    path: tuple[Step, ...] = ()
    continuum: bool = False
    measured: TimeCourses | None = None
    noise: Noise = COMMON
    level_weights: Floats | None = None
    deviation_scale: float = 1.0
    places: Floats | None = None
    earned: dict[str, float] = field(default_factory=dict)
    finest: CurveClustering | None = None
    part_of: Ints | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # without what can be computed again

    def _repr_html_(self) -> str:
        points = self.courses.designs.points
        if points.shape[1] > 1:
            grid = np.linspace(points.min(axis=0), points.max(axis=0), SHOWN_GRID)
        else:
            grid = self._grid(SHOWN_GRID)[:, None]
        told = borders.in_words(self.borders) if self.k <= notebook.PANELS else ""
        return notebook.curve_clusters(self, grid[:, 0], self.curves(grid), told)

    @property
    def courses(self) -> TimeCourses:
        """What was clustered."""
        return self.here.courses

    @property
    def gp(self) -> GP:
        """The model."""
        return self.here.gp

    @property
    def free(self) -> Freedom:
        """In what courses may differ from their cluster's curve."""
        return self.here.free

    @property
    def none(self) -> Bools:
        """Which courses are in none of the clusters, (N,)."""
        return self.labels < 0

    @property
    def nearest(self) -> Ints:
        """The likeliest cluster of each course, also of those that are in none, (N,).

        Of clusters that were merged, the one with the likeliest of the finest.
        """
        if self.finest is not None and self.part_of is not None:
            return np.asarray(self.part_of[self.finest.nearest])
        weights = self.responsibilities[:, :-1] if self.probabilities is None else self.probabilities
        return np.asarray(weights.argmax(axis=1))

    @property
    def confidence(self) -> Floats:
        """Probability that each course is where `labels` says, "none" included, (N,)."""
        if self.probabilities is None:
            return np.ones(len(self.names))
        own = self.probabilities[np.arange(len(self.names)), self.nearest]
        return np.where(self.none, 1 - self.probabilities.sum(axis=1), own)

    @property
    def course_noise(self) -> Floats:
        """Standard deviation of the noise of each course, as far as its values tell, (N,); see `noise`.

        In the units of the values, and like the model's ``noise_sd`` without the known errors, which differ alike.
        """
        if self.level_weights is None or len(self.noise) == 1:
            return np.full(len(self.names), self.gp.noise_sd)
        return self.gp.noise_sd * np.asarray(np.sqrt(self.noise.scales) @ self.level_weights.sum(axis=2))

    @property
    def deviation(self) -> Deviation:
        """How courses deviate from their cluster's curve, beyond the noise: by how much, and on which length scale.

        Examples
        --------
        >>> import timelike as tl
        >>> courses, _ = tl.simulate.profiles(seed=1)
        >>> tl.mixture(courses, tl.GP.se(0.9, signal_sd=0.6, noise_sd=0.08), k=3, spread=0.1).deviation
        Deviation(sd=0.06, length_scale=0.9)
        """
        scale = self.gp.length_scale
        return Deviation(self.spread * self.gp.signal_sd, None if scale is None else scale * self.deviation_scale)

    # -- where courses are in their cluster ---------------------------------------------------------------------

    @cached_property
    def delay(self) -> Estimate | None:
        """How much later than the curve of its nearest cluster each course comes: mean, low and high (90 %), (N,).

        None where delays are not free. With a periodic kernel a phase, in the unit of the times.
        """
        return None if self.places is None or len(self.free.delays) == 1 else delays_of(self.free, self.places)

    @cached_property
    def gain(self) -> Estimate | None:
        """How many times as large as that curve each course is, likewise; None where gains are not free."""
        return None if self.places is None or len(self.free.log_gains) == 1 else gains_of(self.free, self.places)

    @cached_property
    def level(self) -> Estimate | None:
        """The level of each course, around which it varies as that curve does; None where levels are not free."""
        return levels_of(self) if self.free.level else None

    @cached_property
    def cluster_levels(self) -> Floats:
        """The level at which the curve of each cluster is drawn: its members' on average, (k,)."""
        if self.level is None:
            return np.full(self.k, self.gp.mean)
        return np.array([self.level.mean[self.nearest == k].mean() for k in range(self.k)])

    def aligned(self) -> TimeCourses:
        """The courses moved onto the curve of their nearest cluster: earlier by their delay, of its size and level.

        Examples
        --------
        >>> import timelike as tl
        >>> courses, _ = tl.simulate.profiles(seed=1)
        >>> values = courses.values.reshape(150, 15) + 20 * (np.arange(150) % 5)[:, None]    # at five levels
        >>> apart = tl.TimeCourses.from_arrays(courses.times[:15], values)
        >>> found = tl.mixture(apart, tl.fit(courses), k=3, up_to="level")
        >>> bool(np.ptp(apart.values) > 80), bool(np.ptp(found.aligned().values) < 5)
        (True, True)
        """
        return aligned(self)

    def to_frame(self) -> pd.DataFrame:
        """Table with columns name, cluster (-1: none), probability (of that) and nearest (the likeliest cluster).

        And noise_sd, where courses have a noise of their own; and delay, gain and level with their 90 % intervals
        (delay_low, delay_high ...), where these are free.
        """
        import pandas as pd

        columns = {"name": list(self.names), "cluster": self.labels, "probability": self.confidence}
        own = {"noise_sd": self.course_noise} if len(self.noise) > 1 else {}
        for name, known in (("delay", self.delay), ("gain", self.gain), ("level", self.level)):
            if known is not None:
                own |= {name: known.mean, f"{name}_low": known.low, f"{name}_high": known.high}
        return pd.DataFrame(columns | {"nearest": self.nearest} | own)

    # -- how fine to look ---------------------------------------------------------------------------------------

    def path_frame(self) -> pd.DataFrame:
        """Table of every number of clusters, with the tolerances at which there are so many.

        Columns ``k``; ``tolerance_from`` and ``tolerance_to``: where curves that differ by less than a tolerance above
        the first, and up to the second, are one cluster, there are k of them (in units of the values; empty for numbers
        that were tried and not taken); ``sizes`` of the clusters; and what speaks for the number where it was
        tried, see :class:`Step`: ``bound``, ``per_course``, ``merge`` and ``spread``.

        Examples
        --------
        >>> import timelike as tl
        >>> courses, _ = tl.simulate.profiles(seed=1)
        >>> found = tl.mixture(courses, tl.fit(courses))
        >>> found.path_frame()[["k", "tolerance_from", "tolerance_to"]].round(2)
           k  tolerance_from  tolerance_to
        0  1            0.15           inf
        1  2            0.09          0.15
        2  3            0.00          0.09
        3  4             NaN           NaN
        """
        import pandas as pd

        nested = {level.k: level for level in granularity.levels(self.tree)}
        tried, fine = {step.k: step for step in self.path}, self.finest or self
        unknown = Step(0, np.nan, np.nan, np.nan, np.nan, ())
        rows = []
        for k in sorted(nested | tried):
            low, high = nested[k][1:] if k in nested else (np.nan, np.nan)
            step, within = tried.get(k, unknown), k in nested
            sizes = _sizes(fine.labels, granularity.groups(self.tree, k)) if within else step.sizes
            rows.append((k, low, high, sizes, step.bound, step.per_course, step.merge, step.spread))
        return pd.DataFrame(rows, columns=list(PATH_COLUMNS))

    @cached_property
    def tree(self) -> Floats:
        """The merges of the finest clusters, those with the nearest courses first, as SciPy has them, (k - 1, 4).

        Heights are tolerances, see :meth:`at`.
        """
        if self.finest is not None:
            return self.finest.tree
        return granularity.nested(self.compared, self.sizes, self.standing_out)

    @cached_property
    def standing_out(self) -> Ints | None:
        """The groups of the finest clusters that wide gaps keep apart, (k,); None where there are no such gaps.

        A gap is the root mean square difference of the nearest two curves of two groups. It is wide if it is 1.4 times
        the widest gap within the groups; and the groups keep most of the evidence.
        """
        if self.finest is not None:
            return self.finest.standing_out
        return granularity.standing_out(self, self.compared)

    @property
    def stands_out(self) -> bool:
        """Whether these clusters are the groups that wide gaps keep apart, see `standing_out`."""
        clear = self.standing_out
        if clear is None or self.part_of is None or int(clear.max()) + 1 != self.k:
            return False
        return len(set(zip(clear.tolist(), self.part_of.tolist(), strict=True))) == self.k

    @cached_property
    def borders(self) -> tuple[borders.Border, ...]:
        """How each cluster lies beside the nearest other one: kept apart by a wide gap, or running into it.

        Examples
        --------
        >>> import timelike as tl
        >>> courses, _ = tl.simulate.profiles(seed=1)
        >>> found = tl.mixture(courses, tl.fit(courses)).at(k=2)
        >>> [(border.nearest, round(border.gap, 2), border.apart) for border in found.borders]
        [(1, 0.09, False), (0, 0.09, False)]
        """
        part_of = np.arange(self.k) if self.part_of is None else self.part_of
        return borders.borders((self.finest or self).compared, part_of)

    @property
    def unsure(self) -> Floats:
        """The share of the courses of each cluster whose probability to be there is below 0.8, (k,)."""
        return borders.unsure(self.labels, self.confidence, self.k)

    @cached_property
    def judge(self) -> granularity.Judge:
        """What merged clusters keep of the evidence."""
        return granularity.Judge(self)

    @cached_property
    def compared(self) -> Floats:
        """The curves at some of the courses' times, (k, T): what tolerances and gaps are about.

        Without their levels where these are free.
        """
        return self.curves(_some(self.courses.designs.points)).mean - self.cluster_levels[:, None] * self.free.level

    def at(self, tolerance: float | None = None, *, k: int | None = None) -> CurveClustering:
        """The clusters where curves that differ by less than a tolerance are one, or with so many clusters.

        Nothing is fitted anew: the finest clusters are merged, the nearest first, so that finer clusters lie within
        coarser ones, and probabilities add.

        Parameters
        ----------
        tolerance
            In units of the values; 0: the finest clusters. Two clusters of equal size are one if the root mean square
            difference of their curves is smaller. In general: if twice that of the courses' curves from the mean
            curve of both is smaller, so that a small cluster joins a large one somewhat earlier.
        k
            Number of clusters instead.

        Examples
        --------
        >>> import timelike as tl
        >>> courses, _ = tl.simulate.profiles(seed=1)
        >>> found = tl.mixture(courses, tl.fit(courses))
        >>> found.k, found.at(tolerance=0.1).k, found.at(k=1).k
        (3, 2, 1)
        """
        fine = self.finest or self
        if (tolerance is None) == (k is None):
            raise InputError("give either a tolerance or k.")
        if tolerance is not None:
            check_tolerance(tolerance)
            k = granularity.level_at(self.tree, float(tolerance))
        if not checks.is_whole(k) or not 1 <= k <= fine.k:
            raise InputError(f"k is {k!r}: expected a whole number up to {fine.k}, the finest clusters there are.")
        return granularity.merged_into(fine, int(k))

    def coarser(self, k: int) -> CurveClustering:
        """Fewer clusters, see :meth:`at`."""
        if not checks.is_whole(k) or not 1 <= k < self.k:
            raise InputError(f"k is {k!r}: expected a whole number below {self.k}, the present number of clusters.")
        return self.at(k=k)

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
        mean, sd = self.curves(times)
        return Curve(mean[cluster].copy(), sd[cluster].copy())

    def curves(self, times: ArrayLike) -> Curve:
        """Means and standard deviations, at `times`, of the curves of all clusters, (k, T) each.

        Those that were asked for last are remembered.
        """
        asked = checks.as_points(checks.numbers(times, "times"))
        checks.finite_times(asked)
        known = self.courses.designs.points.shape[1]
        if asked.shape[1] != known:
            raise InputError(f"times have {asked.shape[1]} coordinates a point, the courses {known}.")
        key = asked.tobytes()
        if key not in self._drawn:
            kernels.note_early(self.gp.kernel, asked, self.courses.designs.points)
            while len(self._drawn) >= REMEMBERED:
                del self._drawn[next(iter(self._drawn))]
            self._drawn[key] = self._curves_at(asked)
        return self._drawn[key]

    @cached_property
    def _drawn(self) -> dict[bytes, Curve]:
        """Curves that were asked for, by their times."""
        return {}

    @one_thread_below()
    def shapes(self, times: Floats) -> Floats:
        """The clusters' curves around zero, (k, T): without the model's mean, nor a level where that is free."""
        features, _, clusters = self._shown(times[:, None])
        return np.asarray(clusters.moments[0] @ features.T)

    @one_thread_below()
    def _curves_at(self, asked: Floats) -> Curve:
        features, rest, clusters = self._shown(asked)
        mean, covariance = clusters.moments
        variance = ((features @ covariance) * features).sum(axis=2) + rest
        shown = self.cluster_levels[:, None] + mean @ features.T
        return Curve(frozen(shown), frozen(np.sqrt(np.maximum(variance, 0))))

    def _shown(self, asked: Floats) -> tuple[Floats, Floats, Clusters]:
        """What :meth:`_with_features` has; where levels are free, without the average over the times of all courses."""
        if not self.free.level:
            return self._with_features(asked)
        known = np.unique(self.courses.designs.points, axis=0)
        features, rest, clusters = self._with_features(np.concatenate([asked, known]))
        return features[: len(asked)] - features[len(asked) :].mean(axis=0), rest[: len(asked)], clusters

    def _with_features(self, asked: Floats) -> tuple[Floats, Floats, Clusters]:
        """Features of points, (T, r), their variance that these do not show, and the clusters on the same basis."""
        phi = self.here.basis()
        rest = phi.rest(asked)
        if np.sqrt(phi.error * rest.max()) <= CURVE_ERROR * self.here.least_noise:
            return phi.at(asked), rest, self._clusters
        # Far from all times of the courses, to which points are related by what the basis leaves out.
        known = self.here.points
        phi = basis(self.gp.covariance, np.concatenate([known, asked]), self.here.least_noise)
        clusters = self._summed(sample(self.here, phi, self.deviation_scale))
        return phi[slice(len(known), None)], np.zeros(len(asked)), clusters

    @cached_property
    def _clusters(self) -> Clusters:
        """The clusters on the basis of the courses."""
        return self._summed(sample(self.here, self.here.basis(), self.deviation_scale))

    def _summed(self, data: AnySpread) -> Clusters:
        """The clusters that the courses sum to."""
        return Clusters.of(replace(data, noise=self.noise).at(self.spread), self._weights.r)

    @property
    def _weights(self) -> Given:
        """The responsibilities of the courses, at each level of the noise."""
        levels = self.responsibilities if self.level_weights is None else self.level_weights
        return Given.at(levels.reshape(-1, self.k + 1))

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
        if self.finest is not None and self.part_of is not None:
            fine = self.finest.predict(new_courses)
            chances = None if fine.probabilities is None else granularity.summed(fine.probabilities, self.part_of)
            labels = np.append(self.part_of, -1)[fine.labels]
            return Clustering(labels, fine.names, self.k, f"predicted by {self.method}", chances)
        r = np.empty((len(new_courses), self.k + 1))
        with one_thread_below():
            drawn = [z.astype(float) for z in self._divisions] or [self._weights.r]
            for which, new, old in parts(self, new_courses):
                r[which] = weighed_beside(new, [Clusters.of(old, z) for z in drawn])
        labels = likeliest(r)
        return Clustering(labels, new_courses.names, self.k, f"predicted by {self.method}", r[:, :-1])

    def log_densities(self, new_courses: TimeCourses) -> Floats:
        """Log density of each new course given the clusters, (N,): all clusters and "none" weighed by their shares.

        Examples
        --------
        >>> import timelike as tl
        >>> courses, _ = tl.simulate.profiles(seed=1)
        >>> found = tl.mixture(courses, tl.fit(courses), k=3)
        >>> new = tl.TimeCourses.from_arrays([0.9, 0.95], [[0.4, 0.45], [-3, -3]])
        >>> found.log_densities(new).round()
        array([  2., -14.])
        """
        from scipy.special import logsumexp

        if self.finest is not None:
            return self.finest.log_densities(new_courses)
        result = np.empty(len(new_courses))
        with one_thread_below():
            for which, new, old in parts(self, new_courses):
                clusters = Clusters.of(old, self._weights.r)
                given_cluster = new.over_nodes(predictive(new, clusters)) + np.log(expected_shares(clusters.n))
                either = np.column_stack([given_cluster, new.over_nodes(new.alone) + np.log(NONE)])
                result[which] = logsumexp(either, axis=1) + new.common
        return result

    @cached_property
    def _divisions(self) -> list[Bools]:
        """Divisions of the courses among the clusters that were drawn, (M N, k + 1) each; none for mean courses."""
        if self.probabilities is None:
            return []
        data = replace(sample(self.here, scale=self.deviation_scale), noise=self.noise)
        return divisions(data.at(self.spread), self._weights.r)

    # -- single values ---------------------------------------------------------------------------------------

    def outliers(self) -> pd.DataFrame:
        """Single values that count for little: neither the course's other values nor a response of it explain them.

        Table with columns course, time, value, expected (by the other values and the cluster's curve), z (how many
        standard deviations off that is) and weight (how much the value counts, against 1 of all others).
        """
        import pandas as pd

        found, courses = self._outlying, self._measured
        owner = np.searchsorted(courses.starts, found.at, side="right") - 1
        names = [self.names[i] for i in owner]
        when, value = courses.times[found.at], courses.values[found.at]
        columns = {"course": names, "time": list(when), "value": value, "expected": found.expected, "z": found.z}
        return pd.DataFrame(columns | {"weight": found.weight})

    @cached_property
    @one_thread_below()
    def _outlying(self) -> Outliers:
        # A cluster's curve lets expect nothing of a course that is free of it but what its own values do.
        labels = np.full(len(self.names), -1) if self.free else self.labels
        courses = self._measured.centered(self.gp.mean) if self.free.level else self._measured
        found = outlying(courses, self.courses, self.gp, labels, self._expected)
        moved = self._measured.values[found.at] - courses.values[found.at]
        return found._replace(expected=found.expected + moved)

    @property
    def _measured(self) -> TimeCourses:
        return self.courses if self.measured is None else self.measured

    def _expected(self, design: int, label: int) -> tuple[Floats, Floats]:
        designs = self.courses.designs
        points = designs[design]
        prior = self.gp.covariance(points)
        deviation = self.spread**2 * rescaled(self.gp.covariance, self.deviation_scale)(points)
        if label < 0:
            return np.full(len(points), self.gp.mean), prior + deviation
        features, (mean, covariance) = self._at_designs
        phi = features[designs.starts[design] : designs.starts[design + 1]]
        left = prior - phi @ phi.T  # what the features do not show is as uncertain as before
        return self.gp.mean + phi @ mean[label], phi @ covariance[label] @ phi.T + left + deviation

    @cached_property
    def _at_designs(self) -> tuple[Floats, tuple[Floats, Floats]]:
        features, _, clusters = self._with_features(self.courses.designs.points)
        return features, clusters.moments

    # -- numbers ---------------------------------------------------------------------------------------------

    def peak_order(self) -> Ints:
        """The clusters by the time at which their curve is highest, the higher first of equals.

        Points with several coordinates have no order in time: there the largest cluster comes first.
        """
        points = self.courses.designs.points
        if points.shape[1] > 1:
            return np.argsort(-self.responsibilities[:, :-1].sum(axis=0), kind="stable")
        heights = self.curves(self._grid(GRID)).mean  # on the clock: early peaks can be narrow
        highest = heights.max(axis=1)
        peak = (heights > highest[:, None] - 1e-9 * self.gp.signal_sd).argmax(axis=1)  # rounding decides between none
        return np.lexsort((-highest, peak))

    def _grid(self, count: int) -> Floats:
        """So many times over those of the courses, evenly spaced on the model's clock."""
        points = self.courses.designs.points
        return kernels.evenly(self.gp.kernel, float(points.min()), float(points.max()), count)

    def renumbered(self, order: Ints) -> CurveClustering:
        """The same clusters, ``order[j]`` as number j; the curves that were drawn go along."""
        number = np.append(np.argsort(order), -1)  # the last for -1
        chances = None if self.probabilities is None else self.probabilities[:, order]
        weights = self.responsibilities[:, np.append(order, self.k)]
        levels = self.level_weights
        if levels is not None:
            levels = np.ascontiguousarray(levels[:, :, np.append(order, self.k)])
        known: dict[str, Any] = {"labels": number[self.labels]}
        known |= {"part_of": None if self.part_of is None else number[self.part_of]}
        result = replace(self, **known, probabilities=chances, responsibilities=weights, level_weights=levels)
        result._drawn.update({at: Curve(frozen(c.mean[order]), frozen(c.sd[order])) for at, c in self._drawn.items()})
        return result


def check_tolerance(tolerance: Any) -> None:
    """Raise unless it is a tolerance."""
    if not (checks.is_number(tolerance) and tolerance >= 0):
        raise InputError(f"tolerance is {tolerance!r}: expected a number, zero or more, in units of the values.")


def _some(points: Floats) -> Floats:
    """The points in their order, or so many of them, evenly through it, that curves can be compared at."""
    if len(points) <= COMPARED:
        return points
    order = np.lexsort(points.T[::-1])
    return points[order[np.linspace(0, len(points) - 1, COMPARED).round().astype(np.intp)]]


def _sizes(labels: Ints, part_of: Ints) -> tuple[float, ...]:
    """How many courses merged clusters have, the largest first."""
    sizes = counts(np.append(part_of, -1)[labels], int(part_of.max()) + 1)
    return tuple(sorted(map(float, sizes), reverse=True))


def finished(
    here: Modelled, data: AnySpread, choice: Choice, method: str, *, keep_single: bool = True, **known: Any
) -> CurveClustering:
    """The clustering of a fit, with probabilities that leave each course out and the others where they may be.

    A cluster that no course is nearest to is dropped; without `keep_single`, also a cluster of one course.
    """
    fit = choice.finest or choice.fit
    r, state = responsibilities(data, fit).r, data.at(fit.spread)
    at_nodes = weighed_at_nodes(state, r, fit.clusters)
    probabilities = at_nodes.sum(axis=0)
    sizes = counts(likeliest(probabilities), fit.k)
    keep = staying(sizes, fit.clusters.n, keep_single=keep_single)
    r, probabilities = state.by_node(kept(r, keep, sizes == 0)), kept(probabilities, keep, sizes == 0)
    found = CurveClustering(
        labels=likeliest(probabilities),
        names=here.courses.names,
        k=r.shape[2] - 1,
        method=method,
        probabilities=probabilities[:, :-1],
        evidence={step.k: step.bound for step in choice.path} or None,
        here=here,
        spread=fit.spread,
        responsibilities=r.sum(axis=0),
        noise=data.noise,
        deviation_scale=data.scale,
        level_weights=None if len(r) == 1 else r if len(data.free) == 1 else np.where(r < NO_WEIGHT, 0, r),
        places=None if len(data.free) == 1 else placed_at(at_nodes),
        path=choice.path,
        **known,
    )
    return found.renumbered(found.peak_order())
