"""How well clusters foretell courses that they have not seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from timelike.base.arrays import Floats
from timelike.base.blas import one_thread_below
from timelike.clusters.curves.bound import ALPHA, NONE, Clusters, predictive, sample
from timelike.gp.information import information

if TYPE_CHECKING:
    from timelike.clusters.curves.curve_clustering import CurveClustering
    from timelike.courses import TimeCourses


def log_densities(clustering: CurveClustering, new_courses: TimeCourses) -> Floats:
    """Log density of each new course given the clusters, (N,): all clusters and "none" weighed by their shares.

    Examples
    --------
    >>> import timelike as tl
    >>> courses, _ = tl.simulate.profiles(seed=1)
    >>> found = tl.mixture(courses, tl.fit(courses), k=3)
    >>> new = tl.TimeCourses.from_arrays([0.9, 0.95], [[0.4, 0.45], [-3, -3]])
    >>> log_densities(found, new).round()
    array([  2., -14.])
    """
    from scipy.special import logsumexp

    known = len(clustering.courses)
    joint = clustering.courses.joined(new_courses)
    data = sample(joint, clustering.gp, information(joint, clustering.gp))
    with one_thread_below():
        clusters = Clusters.of(data.select(np.arange(known)).at(clustering.spread), clustering.responsibilities)
        state = data.select(np.arange(known, len(joint))).at(clustering.spread)
        given_cluster = predictive(state, clusters) + np.log(expected_shares(clusters.n))
    either = np.column_stack([given_cluster, state.own + np.log(NONE)])
    return np.asarray(logsumexp(either, axis=1) + state.c)


def expected_shares(sizes: Floats) -> Floats:
    """Shares that clusters of these sizes are expected to have of all courses; what is missing to 1 is in none."""
    return (1 - NONE) * (ALPHA + sizes) / (ALPHA * len(sizes) + sizes.sum())
