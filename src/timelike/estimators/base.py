"""What all estimators share: X becomes courses, and courses get their model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import validation

from timelike.base import checks
from timelike.base.arrays import Floats
from timelike.clusters.methods import AUTO
from timelike.courses import TimeCourses
from timelike.exceptions import InputError
from timelike.gp import GP
from timelike.gp.fit import fit
from timelike.gp.freedom import asked_for

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from sklearn.gaussian_process.kernels import Kernel


class CourseEstimator(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Courses from the rows of X, and a Gaussian process fitted to them or given."""

    times: ArrayLike | None
    kernel: str | Kernel
    mean: str | float
    clock: str | float
    gp: GP | None
    up_to: str | Sequence[str]
    max_delay: float | None

    def _training_courses(self, X: Any) -> TimeCourses:
        """The rows of X as courses, under the names of the rows where X is a table that has some."""
        return courses_of(validated(self, X, reset=True), self.times, row_names(X))

    def _new_courses(self, X: Any) -> TimeCourses:
        """The rows of X as courses with the times of the training courses."""
        validation.check_is_fitted(self)
        return courses_of(validated(self, X, reset=False), self.times)

    def _model(self, courses: TimeCourses) -> GP:
        """The model that was given, or else the one that fits the courses best; all at one level where it is free."""
        if self.gp is None:
            robust = getattr(self, "robust", True)
            alike = courses.centered(float(courses.values.mean())) if self._levels() else courses
            return fit(alike, self.kernel, self.mean, clock=self.clock, robust=robust)
        checks.instance(self.gp, GP, "gp")
        return self.gp

    def _levels(self) -> bool:
        """Whether courses may have levels of their own, once it is clear that there are such freedoms."""
        auto = isinstance(self.up_to, str) and self.up_to == AUTO
        return not auto and "level" in asked_for(self.up_to)

    def _free(self) -> dict[str, Any]:
        """In what courses may differ, as our functions take it."""
        return {"up_to": self.up_to, "max_delay": self.max_delay}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _more_tags(self) -> dict[str, Any]:
        """The same for scikit-learn before 1.6."""
        return {"allow_nan": True}


def validated(estimator: Any, X: Any, *, reset: bool) -> Floats:
    """X as floats, after scikit-learn's own checks of its shape, its entries and the names of its columns."""
    if hasattr(validation, "validate_data"):
        return validation.validate_data(estimator, X, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan")
    # scikit-learn before 1.6
    return estimator._validate_data(X, reset=reset, dtype=np.float64, force_all_finite="allow-nan")


def courses_of(matrix: Floats, times: ArrayLike | None, names: list[str] | None = None) -> TimeCourses:
    """Courses from the rows of a matrix, measured at `times` or else at 0, 1, 2, ..."""
    if times is None:
        times = np.arange(matrix.shape[1])
    elif np.ndim(times) == 0 or len(np.asarray(times)) != matrix.shape[1]:
        raise InputError(f"times has {np.size(times)}, X has {matrix.shape[1]} columns: give one time for each column.")
    return TimeCourses.from_arrays(np.asarray(times), matrix, names)


def row_names(X: Any) -> list[str] | None:
    """Names of the rows of a table, or None: for an array, and where a name stands twice, as after resampling."""
    if not hasattr(X, "iloc"):
        return None
    names = [str(name) for name in X.index]
    return names if len(set(names)) == len(names) else None
