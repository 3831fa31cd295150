"""The model: one Gaussian process, with its hyperparameters, for all courses."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import ArrayLike

from timelike.base import checks, notebook
from timelike.base.arrays import Floats
from timelike.base.blas import one_thread_below
from timelike.base.files import atomic_write, read_json
from timelike.courses import TimeCourses
from timelike.exceptions import InputError
from timelike.gp import kernels
from timelike.gp.basis import basis
from timelike.gp.freedom import NONE, Freedom
from timelike.gp.modelled import Modelled

if TYPE_CHECKING:
    from sklearn.gaussian_process.kernels import Kernel


FORMAT = "timelike model 1"
LARGEST = 1e100
"""The numbers of a model are smaller: their squares, and sums of those, are numbers too."""
DENSE_POINTS = 1500
"""Up to so many values a curve is computed from one matrix over all of them, beyond from their information.

Unless the kernel is rough: then from the matrix whatever their number."""


_AT: WeakValueDictionary[tuple[int, int, str, Freedom], Modelled] = WeakValueDictionary()
"""Courses under a model, as long as somebody holds them; by the identity of both, which they keep alive."""


class Curve(NamedTuple):
    """A curve that is known up to an uncertainty: its mean and standard deviation at the times asked for."""

    mean: Floats
    sd: Floats


@dataclass(frozen=True, eq=False)
class GP:
    """A Gaussian process for curves, and the noise of the measurements.

    ``value = mean + f(time) + noise`` with ``f ~ GP(0, signal_sd^2 kernel)`` and ``noise ~ N(0, noise_sd^2)``.

    Fit one with :func:`timelike.fit`, or give the hyperparameters.

    Attributes
    ----------
    kernel
        scikit-learn kernel object: the shape of the covariance, without signal and noise variance.
    signal_sd, noise_sd
        Standard deviations of the curve around the mean, and of the noise, in the units of the values.
    mean
        Level around which curves vary.
    log_likelihood
        Summed log marginal likelihood of the courses it was fitted to, or None.
    warnings
        Sentences about a fit that deserves a second look.
    rough_sd
        Standard deviation of what the replicates of a time share and the curve has not, each course its own, see
        :mod:`timelike.gp.rough`; zero for none.
    level_sd
        Standard deviation of a level that a curve has beside what the kernel gives it; zero for none. See
        :meth:`about_zero`.

    Examples
    --------
    >>> import timelike as tl
    >>> gp = tl.GP.se(length_scale=54.5, signal_sd=3.25, noise_sd=0.36, mean=9.4)
    >>> gp
    GP(kernel='se', length_scale=54.5, signal_sd=3.25, noise_sd=0.36, mean=9.4)
    >>> course = tl.TimeCourses.from_arrays([0, 48, 96], [[8, 10, 9]])
    >>> curve = gp.posterior(course, [24, 72])
    >>> curve.mean.round(2), curve.sd.round(2)
    (array([9.18, 9.79]), array([0.43, 0.43]))
    """

    kernel: Kernel
    signal_sd: float
    noise_sd: float
    mean: float = 0.0
    log_likelihood: float | None = None
    warnings: tuple[str, ...] = ()
    rough_sd: float = 0.0
    level_sd: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "kernel", deepcopy(kernels.resolve(self.kernel)))  # its owner may change it
        named = {"signal_sd": _positive, "noise_sd": _not_negative, "mean": _number}
        named |= {"rough_sd": _not_negative, "level_sd": _not_negative}
        for name, checked in named.items():
            object.__setattr__(self, name, checked(name, getattr(self, name)))

    @classmethod
    def se(
        cls, length_scale: float, signal_sd: float, noise_sd: float, mean: float = 0.0, clock: float | None = None
    ) -> GP:
        """A GP with the squared exponential kernel ``exp(-|x - x'|^2 / (2 length_scale^2))`` of the paper.

        `clock`: its tau, on a clock that starts at time zero, see :class:`timelike.gp.clock.Clocked`.

        Examples
        --------
        >>> import timelike as tl
        >>> tl.GP.se(6.0, signal_sd=1, noise_sd=0.3, clock=24.0).clock
        24.0
        """
        from sklearn.gaussian_process.kernels import RBF

        kernel = RBF(_positive("length_scale", length_scale))
        return cls(kernel if clock is None else _clocked(kernel, clock), signal_sd, noise_sd, mean)

    def __repr__(self) -> str:
        scale = self.length_scale
        shown = f", length_scale={scale:.6g}" if isinstance(scale, float) else ""
        shown += "" if self.clock is None else f", clock={self.clock:.6g}"
        return (
            f"GP(kernel={kernels.name_of(self.kernel)!r}{shown}, signal_sd={self.signal_sd:.6g}, "
            f"noise_sd={self.noise_sd:.6g}, mean={self.mean:.6g}"
            + (f", rough_sd={self.rough_sd:.6g}" if self.rough_sd else "")
            + (f", level_sd={self.level_sd:.6g})" if self.level_sd else ")")
        )

    def __str__(self) -> str:
        if self.clock is None:
            return repr(self)
        from timelike.gp.clock import in_words

        return f"{self!r}: {in_words(self.kernel)}"

    def _repr_html_(self) -> str:
        return notebook.model(self, kernels.name_of(self.kernel))

    @property
    def length_scale(self) -> float | Floats | None:
        """How far apart in time two values of a curve are when they begin to differ; None if the kernel has none.

        One number for each coordinate where the kernel has several. On a clock it is in the unit of the times where the
        clock starts, and grows from there.
        """
        scale = kernels.unclocked(self.kernel).get_params().get("length_scale")
        return scale if scale is None else float(scale) if np.ndim(scale) == 0 else np.asarray(scale, dtype=float)

    @property
    def clock(self) -> float | None:
        """Tau of the clock, see :class:`timelike.gp.clock.Clocked`; None where time is plain time, as in the paper."""
        return None if kernels.unclocked(self.kernel) is self.kernel else float(self.kernel.tau)

    @cached_property
    def covariance(self) -> Kernel:
        """Covariance of the curve, ``signal_sd^2 kernel + level_sd^2``, as a scikit-learn kernel."""
        from sklearn.gaussian_process.kernels import ConstantKernel

        shape = ConstantKernel(self.signal_sd**2) * self.kernel
        return shape + ConstantKernel(self.level_sd**2) if self.level_sd else shape

    def about_zero(self) -> GP:
        """The model of curves that vary about zero, with the same second moments: where gains are free, sizes do.

        Examples
        --------
        >>> GP.se(2.0, signal_sd=1.0, noise_sd=0.3, mean=0.5).about_zero()
        GP(kernel='se', length_scale=2, signal_sd=1, noise_sd=0.3, mean=0, level_sd=0.5)
        """
        return replace(self, mean=0.0, level_sd=float(np.hypot(self.level_sd, self.mean))) if self.mean else self

    def at(self, courses: TimeCourses, free: Freedom = NONE) -> Modelled:
        """The courses under this model: the same ones as long as somebody holds them, so that nothing is done twice.

        `free`: in what they may differ from their curves. Gains are about zero, unless each course has a level.
        """
        key = id(self), id(courses), str(self.kernel.get_params()), free  # a kernel of scikit-learn's can be changed
        found = _AT.get(key)
        if found is None:
            kernels.note_early(self.kernel, courses.designs.points)
            about_zero = len(free.log_gains) > 1 and not free.level
            found = _AT[key] = Modelled(courses, self.about_zero() if about_zero else self, free)
        return found

    def score(self, courses: TimeCourses) -> float:
        """Summed log marginal likelihood of the courses, each with a curve of its own (paper, eq. inference_async).

        Examples
        --------
        >>> import timelike as tl
        >>> one = tl.TimeCourses.from_arrays([0], [[0.0]])
        >>> round(tl.GP.se(1, signal_sd=3, noise_sd=4).score(one), 6)   # log N(0; 0, 25)
        -2.528376
        """
        from timelike.gp.likelihood import Likelihood

        checks.instance(courses, TimeCourses, "courses")
        tiny = np.finfo(float).tiny  # a noise of zero is allowed where every value has an error of its own
        variances = np.log([self.signal_sd, max(self.noise_sd, tiny)]) * 2
        with one_thread_below():
            kernel = self._with_rough_part
            return Likelihood(courses, kernel, self.mean).at(kernel, *variances).value

    @property
    def _with_rough_part(self) -> Kernel:
        """The kernel of a single course."""
        from sklearn.gaussian_process.kernels import ConstantKernel

        from timelike.gp.roughened import Roughened

        kernel = self.kernel
        if self.level_sd:
            kernel = kernel + ConstantKernel((self.level_sd / self.signal_sd) ** 2, "fixed")
        return Roughened(kernel, (self.rough_sd / self.signal_sd) ** 2) if self.rough_sd else kernel

    @one_thread_below()
    def posterior(self, courses: TimeCourses, times: ArrayLike) -> Curve:
        """Mean and standard deviation, at `times`, of one curve shared by all the courses that are given.

        The noise is not part of the curve: a new measurement scatters around it with ``noise_sd``.
        """
        checks.instance(courses, TimeCourses, "courses")
        asked = checks.as_points(checks.numbers(times, "times"))
        checks.finite_times(asked)
        known = courses.designs.points
        if asked.shape[1] != known.shape[1]:
            raise InputError(f"times have {asked.shape[1]} coordinates, the courses' points {known.shape[1]}.")
        kernels.note_early(self.kernel, asked, known)
        if len(courses.values) <= DENSE_POINTS:
            return self._posterior_by_matrix(courses, asked)
        here = self.at(courses)
        phi = basis(self.covariance, np.concatenate([known, asked]), here.least_noise, len(courses.values) // 5)
        if not phi.reached:  # so large a basis costs more than the matrix
            return self._posterior_by_matrix(courses, asked)
        A, b = here.information_on(phi).total()
        features = phi[slice(len(known), None)]
        lower = np.linalg.cholesky(A + np.eye(len(b)))
        spread = np.linalg.solve(lower, features.T)
        mean = self.mean + features @ np.linalg.solve(A + np.eye(len(b)), b)
        return Curve(mean, np.sqrt((spread**2).sum(axis=0)))

    def _posterior_by_matrix(self, courses: TimeCourses, asked: Floats) -> Curve:
        """The textbook formula, for any kernel: one matrix with a row for each value."""
        from scipy.linalg import solve_triangular

        noise = self.at(courses).noise_variances[courses.design_rows]
        C = self.covariance(courses.points)
        C[np.diag_indices_from(C)] += noise
        try:
            lower = np.linalg.cholesky(C)
        except np.linalg.LinAlgError:
            raise InputError("the kernel is not positive definite at these times, or the noise is too small.") from None
        shared = solve_triangular(lower, self.covariance(courses.points, asked), lower=True)
        mean = self.mean + shared.T @ solve_triangular(lower, courses.values - self.mean, lower=True)
        left = self.covariance.diag(asked) - (shared**2).sum(axis=0)
        return Curve(mean, np.sqrt(np.maximum(left, 0)))

    def to_dict(self) -> dict[str, Any]:
        """The model as plain data, as it stands in a file; :meth:`from_dict` makes it again."""
        return {
            "format": FORMAT,
            "kernel": kernels.to_dict(self.kernel),
            "signal_sd": self.signal_sd,
            "noise_sd": self.noise_sd,
            "mean": self.mean,
            "log_likelihood": self.log_likelihood,
            "warnings": list(self.warnings),
            "rough_sd": self.rough_sd,
        } | ({"level_sd": self.level_sd} if self.level_sd else {})

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> GP:
        """The model that :meth:`to_dict` described. Nothing in it is ever executed."""
        try:
            return cls(
                kernels.from_dict(data["kernel"]),
                _entry(data, "signal_sd"),
                _entry(data, "noise_sd"),
                _entry(data, "mean"),
                None if data["log_likelihood"] is None else _entry(data, "log_likelihood"),
                _sentences(data["warnings"]),
                _entry(data, "rough_sd") if "rough_sd" in data else 0.0,  # older files have none
                _entry(data, "level_sd") if "level_sd" in data else 0.0,
            )
        except KeyError as missing:
            raise InputError(f"the model has no entry {missing}; save it again with GP.save.") from None

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model as JSON: plain text, readable by people and by :meth:`load`."""
        text = json.dumps(self.to_dict(), indent=2)
        with atomic_write(path) as file:
            file.write(text + "\n")

    @classmethod
    def load(cls, path: str | PathLike[str]) -> GP:
        """Read a model that :meth:`save` wrote. Nothing in the file is ever executed.

        Examples
        --------
        >>> import tempfile, timelike as tl
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     tl.GP.se(2, signal_sd=1, noise_sd=0.5).save(f"{folder}/model.json")
        ...     tl.GP.load(f"{folder}/model.json")
        GP(kernel='se', length_scale=2, signal_sd=1, noise_sd=0.5, mean=0)
        """
        data = read_json(Path(path), "a model file", FORMAT)
        try:
            return cls.from_dict(data)
        except InputError as problem:
            raise InputError(f"{path}: {problem}") from None


def _clocked(kernel: Kernel, tau: float) -> Kernel:
    from timelike.gp.clock import Clocked

    return Clocked(kernel, _positive("clock", tau), start=0.0, tau_bounds="fixed")


def _number(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} is {repr(value)[:40]}: expected a number.") from None
    if not np.isfinite(number):
        raise InputError(f"{name} is {number}: expected a finite number.")
    if abs(number) >= LARGEST and name != "log_likelihood":
        raise InputError(f"{name} is {number}, which no computation can use: expected less than {LARGEST:g}.")
    return number


def _positive(name: str, value: Any) -> float:
    number = _number(name, value)
    if number <= 0:
        raise InputError(f"{name} is {number}: expected a number above zero.")
    if number * LARGEST <= 1:
        raise InputError(f"{name} is {number}, which no computation can use: expected more than {1 / LARGEST:g}.")
    return number


def _not_negative(name: str, value: Any) -> float:
    number = _number(name, value)
    if number < 0:
        raise InputError(f"{name} is {number}: expected a number not negative.")
    return number


def _entry(data: dict[str, Any], name: str) -> float:
    """A number of a model file; a text or a truth is none there."""
    value = data[name]
    if isinstance(value, (str, bool)):
        raise InputError(f"{name} is {value!r}: expected a number.")
    return _number(name, value)


def _sentences(entry: Any) -> tuple[str, ...]:
    if not isinstance(entry, list) or not all(isinstance(sentence, str) for sentence in entry):
        raise InputError(f"warnings are {str(entry)[:40]!r}: expected a list of sentences.")
    return tuple(entry)
