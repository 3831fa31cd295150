# ruff: noqa: ARG002 - scikit-learn hands y and input_features to every estimator
"""GPMixture and EvidenceLinkage: clusters of the rows of X, for scikit-learn's pipelines and searches."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils import check_random_state

from timelike.base.arrays import Floats, Ints
from timelike.clusters.clustering import Clustering
from timelike.clusters.curves.curve_clustering import CurveClustering
from timelike.clusters.curves.evidence_linkage import evidence_linkage
from timelike.clusters.curves.mixture import mixture
from timelike.estimators.base import CourseEstimator

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from sklearn.gaussian_process.kernels import Kernel

    from timelike.courses import TimeCourses
    from timelike.gp import GP


class CurveClusterer(ClusterMixin, CourseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Clusters that have curves, so that new courses find theirs."""

    clustering_: CurveClustering

    @abstractmethod
    def _cluster(self, courses: TimeCourses, gp: GP) -> CurveClustering:
        """The clusters of the training courses."""

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Find the clusters of the rows of X; `y` is not used."""
        courses = self._training_courses(X)
        found = self._cluster(courses, self._model(courses))
        self.clustering_, self.gp_ = found, found.gp
        self.labels_, self.n_clusters_ = found.labels, found.k
        self.evidence_, self.spread_ = found.evidence, found.spread
        return self

    def predict(self, X: ArrayLike) -> Ints:
        """Clusters of new courses, -1 for "none of these"."""
        return self._predicted(X).labels

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Probability of each cluster, and in the last column of "none of these", (N, n_clusters_ + 1); rows sum to 1.

        :meth:`predict` answers -1 where that last column is above one half.
        """
        return with_none(self._predicted(X))

    def score(self, X: ArrayLike, y: object = None) -> float:
        """Log density of the courses given the clusters, the mean over courses; larger is better.

        On courses that were held out it compares numbers of clusters and kernels, for instance in ``GridSearchCV``.
        """
        courses = self._new_courses(X)
        return float(self.clustering_.log_densities(courses).mean())

    def _predicted(self, X: ArrayLike) -> Clustering:
        courses = self._new_courses(X)
        return self.clustering_.predict(courses)


def with_none(clustering: Clustering) -> Floats:
    """Probabilities of the clusters and, as a last column, of "none of these", (N, k + 1)."""
    known = clustering.probabilities
    if known is None:
        raise ValueError(f"{clustering.method} gives no probabilities.")
    return np.column_stack([known, np.maximum(1 - known.sum(axis=1), 0)])


@dataclass(eq=False, repr=False, kw_only=True)
class GPMixture(CurveClusterer):
    """Clusters of courses that share a curve, by a variational mixture of Gaussian processes.

    See :func:`timelike.mixture`, which does the work.

    Parameters
    ----------
    n_clusters : int or None
        Chosen by the evidence if None. The result has fewer where the data do not support so many.
    times : (t,) or None
        When the columns of X were measured; repeated times are replicates. None: 0, 1, 2, ...
    kernel, mean, clock
        As in :func:`timelike.fit`.
    gp : GP or None
        A model to use as it is, in which case nothing is fitted. None: fitted to X.
    tolerance : float or None
        Curves that differ by less than this, in units of X, are one cluster: instead of n_clusters.
    spread : float or None
        How much curves of one cluster differ, in units of the signal_sd; learned if None.
    up_to, max_delay
        In what courses of a cluster may differ, as in :func:`timelike.mixture`; ``clustering_`` has the level, gain and
        delay of each. With levels the model is fitted to courses moved to one level.
    robust, refine
        As in :func:`timelike.mixture`; the model stays as it is unless `refine` says otherwise.
    max_clusters : int or None
        Largest number of clusters that is tried; by default as in :func:`timelike.mixture`.
    random_state : int, RandomState or None
        For the sample of courses from which the search starts, where there are many.

    Attributes
    ----------
    labels_ : (N,)
        -1 for "none of these". A training course is judged without its own share in its cluster's curve, so
        ``predict`` of the same course can differ.
    probabilities_ : (N, n_clusters_ + 1)
        The last column is "none of these"; rows sum to 1.
    n_clusters_, evidence_, spread_, gp_
        Number of clusters; what speaks for each number that was tried; the spread; the model.
    clustering_ : CurveClustering
        The result with everything it can tell: ``curve``, ``outliers``, ``path_frame``, ...
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> import timelike as tl
    >>> from timelike.estimators import GPMixture
    >>> courses, _ = tl.simulate.profiles(seed=1)
    >>> times, X = courses.to_matrix()
    >>> model = GPMixture(times=times).fit(X)
    >>> model.n_clusters_, model.predict(X[[0, 60, 149]]), model.predict_proba(X).shape
    (3, array([0, 1, 2]), (150, 4))
    """

    n_clusters: int | None = field(default=None, kw_only=False)
    times: ArrayLike | None = field(default=None, kw_only=False)
    kernel: str | Kernel = "se"
    mean: str | float = "constant"
    clock: str | float = "auto"
    gp: GP | None = None
    tolerance: float | None = None
    spread: float | None = None
    up_to: str | Sequence[str] = ()
    max_delay: float | None = None
    robust: bool = True
    refine: bool | str = False
    max_clusters: int | None = None
    random_state: int | np.random.RandomState | None = 0

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Find the clusters of the rows of X; `y` is not used."""
        super().fit(X, y)
        self.probabilities_ = with_none(self.clustering_)
        return self

    def _cluster(self, courses: TimeCourses, gp: GP) -> CurveClustering:
        return mixture(
            courses,
            gp,
            self.n_clusters,
            tolerance=self.tolerance,
            spread=self.spread,
            robust=self.robust,
            refine=self.refine,
            max_k=self.max_clusters,
            seed=_seed(self.random_state),
            **self._free(),
        )


def _seed(random_state: Any) -> int:
    """A seed for our functions from what scikit-learn's estimators take."""
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


@dataclass(eq=False, repr=False, kw_only=True)
class EvidenceLinkage(CurveClusterer):
    """Clusters from merging, again and again, the two that most want one curve.

    See :func:`timelike.evidence_linkage`, which does the work, for at most 20,000 courses.

    Parameters
    ----------
    n_clusters : int or None
        Learned with the spread if None, or, where that is given, chosen by the evidence.
    times : (t,) or None
        When the columns of X were measured; repeated times are replicates. None: 0, 1, 2, ...
    kernel, mean, clock
        As in :func:`timelike.fit`.
    gp : GP or None
        A model to use as it is, in which case nothing is fitted. None: fitted to X.
    spread : float or None
        How much curves of one cluster differ, in units of the signal_sd. None: learned. 0: identical but for the
        noise, as in the paper.
    up_to, max_delay
        In what courses of a cluster may differ, as in :class:`GPMixture`.

    Attributes
    ----------
    labels_ : (N,)
        Every training course is in a cluster; new courses can be in none.
    linkage_ : (N - 1, 4)
        The tree of merges, as SciPy draws and cuts it.
    n_clusters_, evidence_, spread_, gp_, clustering_, n_features_in_, feature_names_in_
        As in :class:`GPMixture`.

    Examples
    --------
    >>> import timelike as tl
    >>> from timelike.estimators import EvidenceLinkage
    >>> courses, _ = tl.simulate.profiles(noise=0.05, seed=1)
    >>> times, X = courses.to_matrix()
    >>> model = EvidenceLinkage(times=times).fit(X)
    >>> model.n_clusters_, model.linkage_.shape
    (3, (149, 4))
    """

    n_clusters: int | None = field(default=None, kw_only=False)
    times: ArrayLike | None = field(default=None, kw_only=False)
    kernel: str | Kernel = "se"
    mean: str | float = "constant"
    clock: str | float = "auto"
    gp: GP | None = None
    spread: float | None = None
    up_to: str | Sequence[str] = ()
    max_delay: float | None = None

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Find the clusters of the rows of X; `y` is not used."""
        super().fit(X, y)
        self.linkage_ = self.clustering_.linkage
        return self

    def _cluster(self, courses: TimeCourses, gp: GP) -> CurveClustering:
        return evidence_linkage(courses, gp, self.n_clusters, spread=self.spread, **self._free())
