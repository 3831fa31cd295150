"""The subject of a report: what was analysed, how it is called, and what follows from both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from timelike.base import checks
from timelike.base.arrays import Bools, Floats, Ints
from timelike.clusters.clustering import Clustering
from timelike.clusters.curves.alignment import reach
from timelike.clusters.curves.curve_clustering import CurveClustering
from timelike.courses import TimeCourses
from timelike.exceptions import InputError
from timelike.gp import GP, Curve, kernels
from timelike.pairs.nearest.neighbors import Neighbors

if TYPE_CHECKING:
    import pandas as pd

GRID = 81
"""Times at which curves are drawn."""
NORMAL = 1.4826
"""The standard deviation of a normal distribution, as a multiple of its median distance from the mean."""
MOST_COMPARED = 100
"""Clusters that are compared with each other, at most."""


@dataclass(frozen=True)
class Naming:
    """How the data are called: the title, the unit of time, what was measured, and what was done to it."""

    title: str = "Time courses"
    time_unit: str = ""
    value_name: str = "value"
    scaling: str = ""

    def __post_init__(self) -> None:
        for name, text in vars(self).items():
            checks.instance(text, str, name)

    @classmethod
    def of(cls, title: str | None, time_unit: str | None, value_name: str | None, scaling: Any = None) -> Naming:
        """The names that somebody gave, and for the others what is true of any courses; a scaling "none" is none."""
        done = "" if scaling in (None, "none") else str(scaling)
        return cls(title or cls.title, time_unit or cls.time_unit, value_name or cls.value_name, done)

    @property
    def time_label(self) -> str:
        """For an axis."""
        return f"time ({self.time_unit})" if self.time_unit else "time"

    @property
    def value_label(self) -> str:
        """For an axis: what the values are, and what was done to them.

        Examples
        --------
        >>> Naming(value_name="log2 expression", scaling="centred").value_label, Naming(scaling="centred").value_label
        ('log2 expression, centred', 'values, centred')
        """
        if not self.scaling or self.scaling in self.value_name:
            return self.value_name
        name = "values" if self.value_name == type(self).value_name else self.value_name
        return f"{name}, {self.scaling}"

    def time(self, number: float) -> str:
        """A time, or a length of time, with its unit."""
        return f"{number:.3g} {self.time_unit}" if self.time_unit else f"{number:.3g} (in the unit of the times)"


@dataclass(frozen=True, eq=False, kw_only=True)
class Subject:
    """What a report is about."""

    courses: TimeCourses
    gp: GP
    clustering: Clustering
    neighbors: Neighbors
    naming: Naming = field(default_factory=Naming)
    enrichment: pd.DataFrame | None = None
    details: pd.DataFrame | None = None
    notes: Sequence[str] = ()
    run: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        checks.instance(self.clustering, Clustering, "clustering")
        checks.instance(self.neighbors, Neighbors, "neighbors")
        checks.instance(self.run, Mapping, "run")
        if self.courses.designs.points.shape[1] > 1:
            raise InputError(
                "the report draws curves over time, but the points of these courses have "
                f"{self.courses.designs.points.shape[1]} coordinates: give courses with one time a value."
            )
        if self.clustering.names != self.courses.names:
            raise InputError(
                f"the clustering is of {len(self.clustering.names):,} courses, the report of {len(self.courses):,}, or "
                "their names differ: give the courses that were clustered."
            )
        if self.neighbors.names != self.courses.names or self.neighbors.others is not None:
            raise InputError(
                "the neighbors are not those of these courses among each other: give neighbors(courses, gp, k), or "
                "nothing to have them searched."
            )

    @property
    def curved(self) -> CurveClustering | None:
        """The clustering, if its clusters have curves of their own."""
        return self.clustering if isinstance(self.clustering, CurveClustering) else None

    @property
    def compared(self) -> CurveClustering | None:
        """The clustering, if its finest clusters have curves and are few enough to be compared with each other."""
        found = self.curved
        return None if found is None or (found.finest or found).k > MOST_COMPARED else found

    @property
    def freed(self) -> CurveClustering | None:
        """The clustering, if its courses may differ in level, gain or delay."""
        return self.curved if self.curved is not None and self.curved.free else None

    @property
    def none(self) -> int:
        """How many courses are in none of the clusters."""
        return int((self.clustering.labels < 0).sum())

    @cached_property
    def signal(self) -> float:
        """How far curves go from the mean level, as a standard deviation over the times of the courses."""
        return float(np.sqrt(self.gp.covariance.diag(self.courses.designs.points).mean()))

    @cached_property
    def grid(self) -> Floats:
        """Times at which curves are drawn, evenly spaced on the clock: there no curve changes faster than elsewhere."""
        points = self.courses.designs.points
        return kernels.evenly(self.gp.kernel, float(points.min()), float(points.max()), GRID)

    @cached_property
    def confidence(self) -> Floats | None:
        """Probability that each course is where its label says, where the method knows it."""
        if self.clustering.probabilities is None:
            return None
        return np.asarray(self.clustering.to_frame()["probability"], dtype=float)

    @cached_property
    def drawn(self) -> Curve:
        """The curves of all clusters at the times of the grid, (k, GRID).

        The sd is of the curve of a single course of a cluster: what is unknown of the cluster's curve, and the spread.
        Where clusters have no curves of their own, of the one curve that all courses of the cluster would share.
        """
        if self.curved is None:
            found = [self._shared(self.clustering.labels == c) for c in range(self.clustering.k)]
            return Curve(np.array([curve.mean for curve in found]), np.array([curve.sd for curve in found]))
        return around(self.curved, self.grid)

    def _shared(self, inside: Bools) -> Curve:
        """The one curve that some courses would share; what the model expects where there are none."""
        if inside.any():
            return self.gp.posterior(self.courses.select(inside), self.grid)
        sd = np.sqrt(self.gp.covariance.diag(self.grid[:, None]))
        return Curve(np.full(len(self.grid), self.gp.mean), sd)

    @cached_property
    def moved_to(self) -> tuple[Floats, Floats]:
        """Times over which aligned courses go, and the clusters' curves at them, (k, GRID)."""
        if self.freed is None:
            return self.grid, self.drawn.mean
        grid = kernels.evenly(self.freed.gp.kernel, *reach(self.freed), GRID)
        return grid, around(self.freed, grid).mean

    @cached_property
    def residuals(self) -> tuple[Ints, Floats]:
        """The cluster of each value, and how far the value is from the cluster's curve; 0 where there is none."""
        owner = np.repeat(self.clustering.labels, self.courses.sizes)
        courses = self.courses if self.freed is None else self.freed.aligned()
        grid, drawn = self.moved_to
        result = np.zeros(len(owner))
        for cluster, mean in enumerate(drawn):
            of = owner == cluster
            result[of] = courses.values[of] - np.interp(courses.times[of], grid, mean)
        return owner, result

    @cached_property
    def scatter(self) -> Floats:
        """Standard deviation of a cluster's values around its curve, (k,)."""
        owner, residuals = self.residuals
        inside = owner >= 0
        total = np.bincount(owner[inside], residuals[inside] ** 2, minlength=self.clustering.k)
        return np.sqrt(total / np.maximum(np.bincount(owner[inside], minlength=self.clustering.k), 1))

    @cached_property
    def trembling(self) -> Floats:
        """How far a cluster's values usually are from its curve, each course taken at a level of its own, (k,).

        As a standard deviation, by the median, so that a few wild values do not count.
        """
        (owner, residuals), sizes = self.residuals, self.courses.sizes
        course = np.repeat(np.arange(len(sizes)), sizes)
        level = np.bincount(course, residuals, minlength=len(sizes)) / sizes
        away = np.abs(residuals - level[course]) / np.sqrt(np.maximum(1 - 1 / sizes, 0.5))[course]
        each = [away[owner == cluster] for cluster in range(self.clustering.k)]
        return np.array([NORMAL * np.median(of) if len(of) else 0.0 for of in each])

    @cached_property
    def outliers(self) -> pd.DataFrame | None:
        """Single values that count for little, furthest off first, where the method knows what to expect."""
        if self.curved is None:
            return None
        found = self.curved.outliers()
        return found.reindex(found["z"].abs().sort_values(ascending=False, kind="stable").index)


def around(found: CurveClustering, times: Floats) -> Curve:
    """The clusters' curves at `times`, (k, T), with the sd of the curve of a single course."""
    at = times[:, None]
    mean, sd = found.curves(at)
    return Curve(mean, np.sqrt(sd**2 + found.spread**2 * found.gp.covariance.diag(at)))
