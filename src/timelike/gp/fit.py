"""fit: the hyperparameters that make all courses together most likely, whatever the units."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from timelike.base import checks
from timelike.base.arrays import Bools, Floats
from timelike.base.blas import one_thread_below
from timelike.base.threads import progress
from timelike.courses import TimeCourses
from timelike.exceptions import FitWarning, InputError, warn
from timelike.gp import GP, kernels
from timelike.gp.basis import LEAST_NOISE
from timelike.gp.kernels import Extent
from timelike.gp.likelihood import Likelihood, Score

if TYPE_CHECKING:
    from sklearn.gaussian_process.kernels import Kernel


NOISE_STARTS = (0.003, 0.1, 1.0)
"""Starting values of noise variance / signal variance."""
RATIO = (1e-12, 1e8)
"""Bounds of noise variance / signal variance."""
FINALISTS = 4
"""So many of the starting points are followed to their optimum."""
SAMPLE_COST = 1_000_000
"""Beyond so many multiplications a likelihood, the search begins on a sample of the courses."""
SAMPLE_SEED = 20210527


def fit(courses: TimeCourses, kernel: str | Kernel = "se", mean: str | float = "constant") -> GP:
    """The GP whose hyperparameters maximise the summed log marginal likelihood of the courses.

    The result does not depend on the units of times and values: the search starts from several length scales
    between the smallest gap and the span of the times, and ends where the gradient is zero.

    Parameters
    ----------
    courses
    kernel
        ``"se"``, ``"matern12"``, ``"matern32"``, ``"matern52"``, ``"periodic"``, ``"linear"``, or a scikit-learn
        kernel object, sums and products included. It describes the shape of the covariance; signal and noise
        variance are added. A parameter that is ``"fixed"`` there stays fixed, bounds that you set are kept.
    mean
        ``"constant"`` (one level for all courses, fitted), ``"zero"``, or a number.

    Returns
    -------
    GP
        With ``log_likelihood``, and in ``warnings`` what deserves a second look (also given as
        :class:`~timelike.exceptions.FitWarning`).

    Examples
    --------
    >>> import timelike as tl
    >>> courses, _ = tl.simulate.profiles(noise=0.08, seed=1)
    >>> gp = tl.fit(courses)
    >>> round(gp.noise_sd, 3)
    0.082
    """
    checks.instance(courses, TimeCourses, "courses")
    shape = kernels.resolve(kernel)
    search = _Search(courses, shape, fixed_mean(mean))
    with one_thread_below(), progress("fit", None, "likelihood") as advance:
        return _finish(search, search.run(advance))


def fixed_mean(mean: Any) -> float | None:
    """The mean that a caller asked for as a number, None where it is to be fitted."""
    if isinstance(mean, str) and mean in ("constant", "zero"):
        return None if mean == "constant" else 0.0
    if checks.is_number(mean):
        return float(mean)
    raise InputError(f"mean is {mean!r}: expected 'constant', 'zero' or a number.")


@dataclass(frozen=True)
class _Optimum:
    place: Floats
    score: Score


class _Search:
    """Where to look for the optimum.

    A place is the logarithm of (kernel parameters..., signal variance, noise variance / signal variance). Bounds on
    the ratio keep every covariance on the way positive definite.
    """

    def __init__(self, courses: TimeCourses, kernel: Kernel, mean: float | None) -> None:
        kernels.check_coordinates(kernel, courses.designs.points.shape[1])
        self.courses, self.kernel, self.mean = courses, kernel, mean
        self.extent = extent(courses)
        self.space = kernels.search_space(kernel, self.extent)
        prior = float(np.mean(kernel.diag(courses.designs.points[:1000])))
        top = _log_variance(courses, mean) - np.log(prior)
        ratio = np.log(RATIO) + np.log(prior)
        self.low = np.concatenate([self.space.low, [top - 16, ratio[0]]])
        self.high = np.concatenate([self.space.high, [top + 16, ratio[1]]])
        self.starts = np.array(
            [
                [*start, top - np.log1p(ratio), np.log(ratio * prior)]
                for start in self.space.starts
                for ratio in NOISE_STARTS
            ]
        )

    def run(self, advance: Callable[[int], object]) -> _Optimum:
        starts = self.starts
        sample = _sample(self.courses)
        if sample is not self.courses:
            first = _optimise(Objective(Likelihood(sample, self.kernel, self.mean), advance), starts, self)
            starts = first.place[None]
        self.objective = Objective(Likelihood(self.courses, self.kernel, self.mean), advance)
        return _polish(self.objective, _optimise(self.objective, starts, self), self)


class Objective:
    """The log likelihood a value, as a function of a place; `advance` is told of each evaluation."""

    def __init__(self, likelihood: Likelihood, advance: Callable[[int], object]) -> None:
        self.likelihood, self.advance = likelihood, advance

    def __call__(self, place: Floats) -> Score:
        """Value and gradient, divided by the number of values."""
        self.advance(1)
        parameters = place.copy()
        parameters[-1] += place[-2]
        value, gradient, mean = self.likelihood(parameters)
        gradient = gradient.copy()
        gradient[-2] += gradient[-1]
        return Score(value / self.likelihood.count, gradient / self.likelihood.count, mean)


def _optimise(objective: Objective, starts: Floats, search: _Search) -> _Optimum:
    """The best optimum reached from the most likely of the starting points."""
    best: dict[bytes, tuple[float, Floats]] = {}  # the best split into signal and noise for each place of the kernel
    for start in starts:
        key, value = start[:-2].tobytes(), objective(start).value
        if key not in best or value > best[key][0]:
            best[key] = value, start
    ranked = sorted(best.values(), key=lambda found: -found[0])[:FINALISTS]
    found = [_climb(objective, start, search) for _, start in ranked]
    return max(found, key=lambda optimum: optimum.score.value)


def _climb(objective: Objective, start: Floats, search: _Search) -> _Optimum:
    from scipy.optimize import minimize

    def downhill(place: Floats) -> tuple[float, Floats]:
        score = objective(place)
        return -score.value, -score.gradient

    bounds = list(zip(search.low, search.high, strict=True))
    options = {"maxiter": 300, "ftol": 1e-13, "gtol": 1e-7, "maxls": 40}
    result = minimize(downhill, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return _Optimum(result.x, objective(result.x))


def _polish(objective: Objective, optimum: _Optimum, search: _Search) -> _Optimum:
    """Newton steps on the gradient: a difference of likelihoods cannot see the last eight digits, its slope can."""
    place, score = optimum.place, optimum.score
    for _ in range(6):
        free = _free(place, search)
        slope = score.gradient[free]
        if np.abs(slope).max(initial=0) < 1e-13:
            break
        curvature = _hessian(objective, place, free)
        if np.linalg.eigvalsh(curvature).max(initial=-1) >= -1e-9:
            break  # flat or not concave: Newton has no say here
        trial = place.copy()
        trial[free] -= np.linalg.solve(curvature, slope)
        trial = np.clip(trial, search.low, search.high)
        new = objective(trial)
        if np.abs(new.gradient[free]).max() >= np.abs(slope).max():
            break
        place, score = trial, new
    return _Optimum(place, score)


def _free(place: Floats, search: _Search) -> Bools:
    margin = 1e-9
    return (place > search.low + margin) & (place < search.high - margin)


def _hessian(objective: Objective, place: Floats, free: Bools, step: float = 1e-4) -> Floats:
    """Second derivatives of the objective, from central differences of its gradient."""
    rows = []
    for k in np.flatnonzero(free):
        shift = np.zeros(len(place))
        shift[k] = step
        difference = objective(place + shift).gradient - objective(place - shift).gradient
        rows.append(difference[free] / (2 * step))
    H = np.array(rows).reshape(int(free.sum()), int(free.sum()))
    return (H + H.T) / 2


# -- the data's own units ------------------------------------------------------------------------------------


def extent(courses: TimeCourses, at_most: int = 300) -> Extent:
    """Typical smallest gap within a course, and the span of all points, both above zero."""
    points = courses.designs.points
    span = float(np.ptp(points, axis=0).max())
    if span == 0:
        return Extent(1.0, 1.0)
    _reasonable(span, "times span")
    chosen = np.unique(np.linspace(0, len(courses.designs) - 1, at_most).astype(int))
    gaps = [gap for g in chosen if (gap := _smallest_gap(courses.designs[g])) > 0]
    return Extent(max(float(np.median(gaps)), 1e-9 * span) if gaps else span, span)


def _smallest_gap(points: Floats) -> float:
    """Smallest distance of two different points, zero if there are none."""
    from scipy.spatial.distance import pdist

    distances = pdist(np.unique(points, axis=0)[:500], "chebyshev")
    return float(distances.min(initial=np.inf)) if len(distances) else 0.0


def _log_variance(courses: TimeCourses, mean: float | None) -> float:
    """Logarithm of the mean squared value around the mean."""
    center = float(courses.values.mean()) if mean is None else mean
    scale = max(float(courses.values.max()) - center, center - float(courses.values.min()))
    if scale <= 1e-14 * abs(center):
        raise InputError(f"all values are equal ({center:g}): there is nothing to fit.")
    _reasonable(scale, "values vary by")
    chunks = np.array_split(courses.values, -(-len(courses.values) // 100_000))
    squares = sum(float(np.sum(((chunk - center) / scale) ** 2)) for chunk in chunks)
    return float(np.log(squares / len(courses.values)) + 2 * np.log(scale))


def _reasonable(size: float, what: str) -> None:
    if not 1e-100 <= size <= 1e100:
        raise InputError(f"{what} {size:.3g}: choose a unit in which that is between 1e-100 and 1e100.")


def _sample(courses: TimeCourses) -> TimeCourses:
    """A sample for the first search where a likelihood is expensive; the courses themselves where it is not."""
    sizes = courses.designs.sizes.astype(float)
    cost = float((sizes**3).sum())
    if cost <= SAMPLE_COST or len(courses) <= 200:
        return courses
    count = max(200, int(len(courses) * SAMPLE_COST / cost))
    if count >= len(courses):
        return courses
    chosen = np.random.default_rng(SAMPLE_SEED).choice(len(courses), count, replace=False)
    return courses.select(np.sort(chosen))


# -- what to say about it --------------------------------------------------------------------------------------


def _finish(search: _Search, best: _Optimum) -> GP:
    kernel = search.kernel.clone_with_theta(best.place[:-2])
    signal_sd, ratio = np.exp(best.place[-2:] / 2)
    least = np.sqrt(LEAST_NOISE * kernel.diag(search.courses.designs.points).max())
    value = best.score.value * search.objective.likelihood.count
    noise_sd = signal_sd * max(ratio, least)
    gp = GP(kernel, signal_sd, noise_sd, best.score.mean, value, tuple(_concerns(search, best)))
    for sentence in gp.warnings:
        warn(sentence, FitWarning)
    return gp


def _concerns(search: _Search, best: _Optimum) -> list[str]:
    sentences = _on_a_bound(search, best.place)
    sentences += _short_length_scale(search, best.place)
    sentences += _indistinct(search, best)
    return sentences


def _on_a_bound(search: _Search, place: Floats) -> list[str]:
    names = [*search.space.names, "signal variance", "noise variance"]
    given = [*search.space.given, False, False]
    sizes = np.exp(place + np.where(np.arange(len(place)) == len(place) - 1, place[-2], 0.0))
    sentences = []
    for k, name in enumerate(names):
        for bound, word in ((search.low[k], "lower"), (search.high[k], "upper")):
            if abs(place[k] - bound) < 1e-6 and not _expected(search, name, word):
                reason = "which you set" if given[k] else f"the data do not determine it{_hint(name, word)}"
                where = f"the {word} bound of the {name.split('__')[-1].replace('_', ' ')} ({sizes[k]:.3g})"
                sentences.append(f"the fit ended on {where}: {reason}.")
    return sentences


def _expected(search: _Search, name: str, word: str) -> bool:
    """Whether a bound says nothing: values with known errors need no further noise."""
    return name == "noise variance" and word == "lower" and search.courses.errors is not None


def _hint(name: str, word: str) -> str:
    if "length_scale" in name and word == "upper":
        return "; curves look straight over the whole span"
    if name == "noise variance" and word == "lower":
        return "; values look free of noise, so equal courses must be equal to the last digit"
    return ""


def _short_length_scale(search: _Search, place: Floats) -> list[str]:
    gap = search.extent.gap
    return [
        f"the length scale ({np.exp(place[k]):.3g}) is below the gap between neighbouring times ({gap:.3g}): "
        + _loosely(np.exp(place[k]) / gap)
        for k, name in enumerate(search.space.names)
        if search.space.in_time[k] and name.endswith("length_scale") and place[k] < np.log(gap) - 1e-9
    ]


def _loosely(ratio: float) -> str:
    if ratio > 0.5:
        return "neighbouring times are only loosely linked."
    return "neighbouring times tell almost nothing about each other, and their order hardly matters."


def _indistinct(search: _Search, best: _Optimum) -> list[str]:
    """Whether signal and noise variance could be traded for one another without the likelihood noticing."""
    free = _free(best.place, search)
    if not free[-2:].all():
        return []
    # A constant inside the kernel does the same as the signal variance: that they can be traded says nothing.
    free[:-2] &= np.array([not name.endswith("constant_value") for name in search.space.names], dtype=bool)
    information = -_hessian(search.objective, best.place, free) * search.objective.likelihood.count
    weight, vectors = np.linalg.eigh(information)
    uncertain = weight < 1.0  # a change by the factor e costs less than half a unit of log likelihood
    both = np.abs(vectors[-2:]) > 0.2
    # With known errors, a further noise that is small and uncertain takes nothing from the signal.
    traded = both.any(axis=0) if search.courses.errors is None else both.all(axis=0)
    if not (uncertain & traded).any():
        return []
    return [
        "signal and noise cannot be told apart: other splits of the variance fit almost equally well. Replicates, "
        "more courses or a fixed noise would help; similarities depend on the split."
    ]
