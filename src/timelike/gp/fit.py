"""fit: the hyperparameters that make all courses together most likely, whatever the units."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from timelike.base import checks
from timelike.base.arrays import Bools, Floats
from timelike.base.blas import one_thread_below
from timelike.base.threads import progress
from timelike.courses import TimeCourses
from timelike.exceptions import FitWarning, InputError, warn
from timelike.gp import GP, kernels
from timelike.gp.basis import LEAST_NOISE
from timelike.gp.doubts import doubts
from timelike.gp.likelihood import Likelihood, Score
from timelike.gp.search_space import SearchSpace, search_space
from timelike.gp.unswayed import unswayed

if TYPE_CHECKING:
    from sklearn.gaussian_process.kernels import Kernel


FINALISTS = 4
"""So many of the starting points are followed to their optimum."""
SAMPLE_COST = 1_000_000
"""Beyond so many multiplications a likelihood, the search begins on a sample of the courses."""
SAMPLE_SEED = 20210527


def fit(
    courses: TimeCourses, kernel: str | Kernel = "se", mean: str | float = "constant", *, robust: bool = True
) -> GP:
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
    robust
        Where single wild values decide about the noise of all (without them it is clearly smaller), they count for
        little, and ``warnings`` says so: values that neither the others of their course nor a response of it explain.
        Where they do not decide, the fit is that of all values with their full weight.

    Returns
    -------
    GP
        With ``log_likelihood``, and in ``warnings`` what deserves a second look (also given as
        :class:`~timelike.exceptions.FitWarning`). Where wild values count for little, the ``log_likelihood`` is that
        of the courses in which they have so large a variance.

    Examples
    --------
    >>> import timelike as tl
    >>> courses, _ = tl.simulate.profiles(noise=0.08, seed=1)
    >>> gp = tl.fit(courses)
    >>> round(gp.noise_sd, 3)
    0.082
    """
    checks.instance(courses, TimeCourses, "courses")
    shape, given = kernels.resolve(kernel), fixed_mean(mean)
    with one_thread_below(), progress("fit", None, "likelihood") as advance:

        def search(courses: TimeCourses, seen: TimeCourses, start: GP | None) -> GP:
            space = search_space(seen, shape, given)
            if start is not None:
                space = replace(space, starts=_place(start)[None])
            objective = Objective(courses, shape, given, advance)
            best = most_likely(objective, space)
            return _model(objective, best, doubts(objective, space, best.place))

        gp = search(courses, courses, None)
        gp = unswayed(courses, gp, search) if robust else gp
    for sentence in gp.warnings:
        warn(sentence, FitWarning)
    return gp


def fixed_mean(mean: Any) -> float | None:
    """The mean that a caller asked for as a number, None where it is to be fitted."""
    if isinstance(mean, str) and mean in ("constant", "zero"):
        return None if mean == "constant" else 0.0
    if checks.is_number(mean):
        return float(mean)
    raise InputError(f"mean is {mean!r}: expected 'constant', 'zero' or a number.")


class Objective:
    """The log likelihood a value, as a function of a place of the search.

    Parameters
    ----------
    courses
    kernel
    mean
        A number, or None where it is fitted.
    advance
        Told of each evaluation.
    """

    def __init__(
        self,
        courses: TimeCourses,
        kernel: Kernel,
        mean: float | None,
        advance: Callable[[int], object] = lambda _: None,
    ) -> None:
        self.courses, self.kernel, self.mean, self.advance = courses, kernel, mean, advance
        self.likelihood = Likelihood(courses, kernel, mean)
        self.count = len(courses.values)

    def on(self, courses: TimeCourses) -> Objective:
        """The same of other courses."""
        return Objective(courses, self.kernel, self.mean, self.advance)

    def __call__(self, place: Floats) -> Score:
        """Value and gradient, divided by the number of values."""
        self.advance(1)
        parameters = place.copy()
        parameters[-1] += place[-2]
        value, gradient, mean = self.likelihood(parameters)
        gradient = gradient.copy()
        gradient[-2] += gradient[-1]
        return Score(value / self.count, gradient / self.count, mean)

    def hessian(self, place: Floats, free: Bools, step: float = 1e-4) -> Floats:
        """Second derivatives in the free parameters, from central differences of the gradient."""
        rows = []
        for k in np.flatnonzero(free):
            shift = np.zeros(len(place))
            shift[k] = step
            difference = self(place + shift).gradient - self(place - shift).gradient
            rows.append(difference[free] / (2 * step))
        H = np.array(rows).reshape(int(free.sum()), int(free.sum()))
        return (H + H.T) / 2


def _place(gp: GP) -> Floats:
    """Where in a search a model is."""
    return np.append(gp.kernel.theta, 2 * np.log([gp.signal_sd, gp.noise_sd / gp.signal_sd]))


class Optimum(NamedTuple):
    """A place, and what the objective is there."""

    place: Floats
    score: Score


def most_likely(objective: Objective, space: SearchSpace, sample_cost: float = SAMPLE_COST) -> Optimum:
    """The place with the largest objective.

    Beyond `sample_cost` multiplications a likelihood, the search begins on a sample of the courses.
    """
    starts = space.starts
    sample = first_sample(objective.courses, sample_cost)
    if sample is not objective.courses:
        starts = _optimise(objective.on(sample), starts, space).place[None]
    return _polish(objective, _optimise(objective, starts, space), space)


def _model(objective: Objective, best: Optimum, warnings: tuple[str, ...]) -> GP:
    kernel = objective.kernel.clone_with_theta(best.place[:-2])
    signal_sd, ratio = np.exp(best.place[-2:] / 2)
    least = np.sqrt(LEAST_NOISE * kernel.diag(objective.courses.designs.points).max())
    value = best.score.value * objective.count
    return GP(kernel, signal_sd, signal_sd * max(ratio, least), best.score.mean, value, warnings)


# -- search --------------------------------------------------------------------------------------------------


def _optimise(objective: Objective, starts: Floats, space: SearchSpace) -> Optimum:
    """The best optimum reached from the most likely of the starting points."""
    best: dict[bytes, tuple[float, Floats]] = {}  # the best split into signal and noise for each place of the kernel
    for start in starts:
        key, value = start[:-2].tobytes(), objective(start).value
        if key not in best or value > best[key][0]:
            best[key] = value, start
    ranked = sorted(best.values(), key=lambda found: -found[0])[:FINALISTS]
    found = [_climb(objective, start, space) for _, start in ranked]
    return max(found, key=lambda optimum: optimum.score.value)


def _climb(objective: Objective, start: Floats, space: SearchSpace) -> Optimum:
    from scipy.optimize import minimize

    def downhill(place: Floats) -> tuple[float, Floats]:
        score = objective(place)
        return -score.value, -score.gradient

    bounds = list(zip(space.low, space.high, strict=True))
    options = {"maxiter": 300, "ftol": 1e-13, "gtol": 1e-7, "maxls": 40}
    result = minimize(downhill, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return Optimum(result.x, objective(result.x))


def _polish(objective: Objective, optimum: Optimum, space: SearchSpace) -> Optimum:
    """Newton steps on the gradient: a difference of likelihoods cannot see the last eight digits, its slope can."""
    place, score = optimum.place, optimum.score
    for _ in range(6):
        free = space.free(place)
        slope = score.gradient[free]
        if np.abs(slope).max(initial=0) < 1e-13:
            break
        curvature = objective.hessian(place, free)
        if np.linalg.eigvalsh(curvature).max(initial=-1) >= -1e-9:
            break  # flat or not concave: Newton has no say here
        trial = place.copy()
        trial[free] -= np.linalg.solve(curvature, slope)
        trial = np.clip(trial, space.low, space.high)
        new = objective(trial)
        if np.abs(new.gradient[free]).max() >= np.abs(slope).max():
            break
        place, score = trial, new
    return Optimum(place, score)


def first_sample(courses: TimeCourses, affordable: float) -> TimeCourses:
    """A sample for the first search where a likelihood is not affordable; the courses themselves where it is."""
    sizes = courses.designs.sizes.astype(float)
    cost = float((sizes**3).sum())
    if cost <= affordable or len(courses) <= 200:
        return courses
    count = max(200, int(len(courses) * affordable / cost))
    if count >= len(courses):
        return courses
    chosen = np.random.default_rng(SAMPLE_SEED).choice(len(courses), count, replace=False)
    return courses.select(np.sort(chosen))
