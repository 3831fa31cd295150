# ruff: noqa: ARG002 - scikit-learn hands y and input_features to every estimator
"""GPSimilarity and GPNeighbors: the rows of X by how similar they are to the training courses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from timelike.base import checks
from timelike.base.arrays import Floats, Ints
from timelike.estimators.base import CourseEstimator
from timelike.estimators.equal_courses import equal_courses
from timelike.exceptions import InputError
from timelike.gp.freedom import freedom
from timelike.pairs.nearest.graph import directed_graph
from timelike.pairs.nearest.neighbors import neighbors
from timelike.pairs.similarity import as_distance, as_probability, similarity

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from scipy.sparse import csr_matrix
    from sklearn.gaussian_process.kernels import Kernel

    from timelike.courses import TimeCourses
    from timelike.gp import GP

OUTPUTS: dict[str, Callable[[Floats], Floats]] = {
    "similarity": lambda scores: scores,
    "distance": as_distance,
    "probability": as_probability,
}
MODES = ("distance", "connectivity")


class CourseTransformer(TransformerMixin, CourseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A column for each training course."""

    courses_: TimeCourses
    gp_: GP

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Fit the model to the rows of X and keep them; `y` is not used."""
        self._check()
        courses = self._training_courses(X)
        self.gp_ = self._model(courses)
        freedom(courses, self.gp_, self.up_to, self.max_delay)
        self.courses_ = courses
        return self

    def _check(self) -> None:
        """Raise if a setting cannot be used."""

    def score(self, X: ArrayLike, y: object = None) -> float:
        """Log marginal likelihood of the courses under the model, the mean over courses; larger is better.

        On courses that were held out it compares kernels, for instance in ``GridSearchCV``.
        """
        courses = self._new_courses(X)
        return self.gp_.score(courses.centered(self.gp_.mean) if self._levels() else courses) / len(courses)

    def get_feature_names_out(self, input_features: object = None) -> NDArray[Any]:
        """Names of the columns: the class and the training course, ``gpsimilarity_Samd14``; else its position."""
        check_is_fitted(self)
        prefix = type(self).__name__.lower()
        return np.array([f"{prefix}_{name}" for name in self.courses_.names], dtype=object)


@dataclass(eq=False, repr=False, kw_only=True)
class GPSimilarity(CourseTransformer):
    """Similarity of each row of X to each training course.

    See :func:`timelike.similarity`, which does the work. It is the log likelihood ratio of "one curve" to "two
    curves" and can be negative; estimators that take ``metric="precomputed"`` or ``affinity="precomputed"`` cannot
    use that, and need another `output`.

    Parameters
    ----------
    times : (t,) or None
        When the columns of X were measured; repeated times are replicates. None: 0, 1, 2, ...
    kernel, mean, clock
        As in :func:`timelike.fit`.
    gp : GP or None
        A model to use as it is, in which case nothing is fitted. None: fitted to X.
    up_to, max_delay
        In what courses may differ and still be alike, as in :func:`timelike.similarity`. With levels the model is
        fitted to courses moved to one level.
    output : {"similarity", "distance", "probability"}
        ``"distance"``: see :func:`timelike.pairs.similarity.as_distance`; a course that equals a training course in
        every value has distance 0 from it. ``"probability"``: that one curve explains both, see
        :func:`timelike.pairs.similarity.as_probability`.

    Attributes
    ----------
    gp_ : GP
    courses_ : TimeCourses
        The training courses.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> import timelike as tl
    >>> from sklearn.cluster import SpectralClustering
    >>> from sklearn.pipeline import make_pipeline
    >>> from timelike.estimators import GPSimilarity
    >>> courses, truth = tl.simulate.profiles(noise=0.05, seed=1)
    >>> times, X = courses.to_matrix()
    >>> GPSimilarity(times).fit(X[:100]).transform(X[100:]).shape
    (50, 100)
    >>> likeness, cut = GPSimilarity(times, output="probability"), SpectralClustering(3, affinity="precomputed")
    >>> labels = make_pipeline(likeness, cut).fit_predict(X)
    >>> round(tl.nmi(labels, truth), 2)
    0.97
    """

    times: ArrayLike | None = field(default=None, kw_only=False)
    kernel: str | Kernel = field(default="se", kw_only=False)
    mean: str | float = "constant"
    clock: str | float = "auto"
    gp: GP | None = None
    up_to: str | Sequence[str] = ()
    max_delay: float | None = None
    output: str = "similarity"

    def transform(self, X: ArrayLike) -> Floats:
        """What `output` says of each row of X and each training course, (N, N_training)."""
        courses = self._new_courses(X)
        return self._converted(courses, similarity(courses, self.gp_, self.courses_, **self._free()).values)

    def fit_transform(self, X: ArrayLike, y: object = None) -> Floats:
        """Fit to X, then what `output` says of all pairs of its rows; symmetric to the last bit."""
        courses = self.fit(X, y).courses_
        return self._converted(courses, similarity(courses, self.gp_, **self._free()).values)

    def _check(self) -> None:
        if self.output not in OUTPUTS:
            raise InputError(f"there is no output {self.output!r}: choose from {', '.join(OUTPUTS)}.")

    def _converted(self, courses: TimeCourses, scores: Floats) -> Floats:
        values = OUTPUTS[self.output](scores)
        if self.output == "distance":
            equal = equal_courses(courses, self.courses_)
            values[equal.new[:, None] == equal.known] = 0
        return values


@dataclass(eq=False, repr=False, kw_only=True)
class GPNeighbors(CourseTransformer):
    """The training courses most similar to each row of X, as a sparse graph.

    See :func:`timelike.neighbors`, which does the work. The graph is what
    :class:`sklearn.neighbors.KNeighborsTransformer` would give, and goes into estimators with
    ``metric="precomputed"``: ``DBSCAN``, ``KNeighborsClassifier``, ``Isomap``, ``TSNE``, ...

    Parameters
    ----------
    n_neighbors : int
        Edges of each row. As in ``KNeighborsTransformer`` a course counts as its own neighbour, and with
        ``mode="distance"`` there is one edge more.
    times : (t,) or None
        When the columns of X were measured; repeated times are replicates. None: 0, 1, 2, ...
    kernel, mean, clock
        As in :func:`timelike.fit`.
    gp : GP or None
        A model to use as it is, in which case nothing is fitted. None: fitted to X.
    up_to, max_delay
        In what courses may differ and still be alike, as in :func:`timelike.neighbors`. With levels the model is
        fitted to courses moved to one level.
    mode : {"distance", "connectivity"}
        ``"distance"``: edges have the distance ``1 / (1 + s)`` where the similarity s is above zero and ``1 - s``
        below (:func:`timelike.pairs.similarity.as_distance`): 1 is where one curve and two curves explain a pair
        equally well. A course that equals a training course in every value has distance 0 from it.
        ``"connectivity"``: ones.

    Attributes
    ----------
    gp_ : GP
    courses_ : TimeCourses
        The training courses.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> import timelike as tl
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from timelike.estimators import GPNeighbors
    >>> courses, truth = tl.simulate.profiles(noise=0.05, seed=1)
    >>> times, X = courses.to_matrix()
    >>> graph = GPNeighbors(n_neighbors=5, times=times).fit_transform(X)
    >>> graph.shape, graph.nnz
    ((150, 150), 900)
    >>> vote = make_pipeline(GPNeighbors(10, times), KNeighborsClassifier(5, metric="precomputed"))
    >>> vote.fit(X[::2], truth[::2]).score(X[1::2], truth[1::2])
    1.0
    """

    n_neighbors: int = field(default=7, kw_only=False)
    times: ArrayLike | None = field(default=None, kw_only=False)
    kernel: str | Kernel = "se"
    mean: str | float = "constant"
    clock: str | float = "auto"
    gp: GP | None = None
    up_to: str | Sequence[str] = ()
    max_delay: float | None = None
    mode: str = "distance"

    def transform(self, X: ArrayLike) -> csr_matrix:
        """The graph, (N, N_training), in CSR format; the edges of a row are sorted by distance."""
        courses = self._new_courses(X)
        edges, distances = self._edges(courses)
        if self.mode == "connectivity":
            distances = np.ones_like(distances)
        return directed_graph(edges, distances, len(self.courses_))

    def _check(self) -> None:
        if self.mode not in MODES:
            raise InputError(f"there is no mode {self.mode!r}: choose from {', '.join(MODES)}.")
        checks.whole(self.n_neighbors, "n_neighbors")

    def _edges(self, courses: TimeCourses) -> tuple[Ints, Floats]:
        """Positions and distances of the nearest training courses, each row sorted; an equal course is among them."""
        found = neighbors(courses, self.gp_, self._count(), others=self.courses_, **self._free())
        edges, distances = np.array(found.indices), as_distance(found.scores)
        equal = equal_courses(courses, self.courses_)
        distances[equal.new[:, None] == equal.known[edges]] = 0
        # The most similar course of all need not be the course itself; the graph has it all the same.
        lost = np.flatnonzero((equal.first >= 0) & (distances > 0).all(axis=1))
        edges[lost, -1], distances[lost, -1] = equal.first[lost], 0
        order = np.argsort(distances, axis=1, kind="stable")
        return np.take_along_axis(edges, order, axis=1), np.take_along_axis(distances, order, axis=1)

    def _count(self) -> int:
        """Edges of a row."""
        count = int(self.n_neighbors) + (self.mode == "distance")
        if count > len(self.courses_):
            raise InputError(
                f"n_neighbors = {self.n_neighbors} needs {count} training courses, one of them the course itself, but "
                f"n_samples = {len(self.courses_)}."
            )
        return count
