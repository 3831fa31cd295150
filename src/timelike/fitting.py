"""fit: the hyperparameters that make all courses together most likely, whatever the units."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from timelike import kernels
from timelike.arrays import Bools, Floats
from timelike.exceptions import FitWarning, InputError
from timelike.gp import GP
from timelike.kernels import Extent
from timelike.likelihood import Likelihood, Score
from timelike.schedule import one_thread_below

if TYPE_CHECKING:
    from sklearn.gaussian_process.kernels import Kernel

    from timelike.courses import TimeCourses


NOISE_STARTS = (0.003, 0.1, 1.0)
"""Starting values of noise variance / signal variance."""
FINALISTS = 3
"""So many of the starting points are followed to their optimum."""
SAMPLE_COST = 20_000_000
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
    shape = kernels.resolve(kernel)
    with one_thread_below():
        search = _Search(courses, shape, _mean(mean))
        return _finish(search, search.run())


def _mean(mean: str | float) -> float | None:
    if mean == "constant":
        return None
    if mean == "zero":
        return 0.0
    if isinstance(mean, str) or not np.isfinite(mean):
        raise InputError(f"mean is {mean!r}: expected 'constant', 'zero' or a number.")
    return float(mean)


@dataclass(frozen=True)
class _Optimum:
    parameters: Floats
    score: Score


class _Search:
    """Maximise the likelihood of courses over log parameters: kernel..., signal variance, noise variance."""

    def __init__(self, courses: TimeCourses, kernel: Kernel, mean: float | None) -> None:
        self.courses, self.kernel, self.mean = courses, kernel, mean
        self.extent = extent(courses)
        self.space = kernels.search_space(kernel, self.extent)
        self.variance = _variance(courses, mean)
        prior = float(np.mean(kernel.diag(courses.designs.points[:1000])))
        top = np.log(self.variance)
        self.low = np.concatenate([self.space.low, [top - np.log(prior) - 16, top - 28]])
        self.high = np.concatenate([self.space.high, [top - np.log(prior) + 16, top + 4]])
        self.starts = np.array(
            [
                [*start, *np.log([self.variance / prior / (1 + ratio), self.variance * ratio / (1 + ratio)])]
                for start in self.space.starts
                for ratio in NOISE_STARTS
            ]
        )

    def run(self) -> _Optimum:
        starts = self.starts
        sample = _sample(self.courses)
        if sample is not self.courses:
            first = _optimise(Likelihood(sample, self.kernel, self.mean), starts, self)
            starts = first.parameters[None]
        self.likelihood = Likelihood(self.courses, self.kernel, self.mean)
        return _polish(self.likelihood, _optimise(self.likelihood, starts, self), self)


def _optimise(likelihood: Likelihood, starts: Floats, search: _Search) -> _Optimum:
    """The best optimum reached from the most likely of the starting points."""
    ranked = sorted(starts, key=lambda s: -likelihood(s).value)[:FINALISTS]
    found = [_climb(likelihood, start, search) for start in ranked]
    return max(found, key=lambda optimum: optimum.score.value)


def _climb(likelihood: Likelihood, start: Floats, search: _Search) -> _Optimum:
    from scipy.optimize import minimize

    def objective(parameters: Floats) -> tuple[float, Floats]:
        score = likelihood(parameters)
        return -score.value / likelihood.count, -score.gradient / likelihood.count

    bounds = list(zip(search.low, search.high, strict=True))
    options = {"maxiter": 300, "ftol": 1e-13, "gtol": 1e-7, "maxls": 40}
    result = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return _Optimum(result.x, likelihood(result.x))


def _polish(likelihood: Likelihood, optimum: _Optimum, search: _Search) -> _Optimum:
    """Newton steps on the gradient: a difference of likelihoods cannot see the last eight digits, its slope can."""
    parameters, score = optimum.parameters, optimum.score
    for _ in range(6):
        free = _free(parameters, search)
        slope = score.gradient[free] / likelihood.count
        if np.abs(slope).max(initial=0) < 1e-13:
            break
        curvature = _hessian(likelihood, parameters, free) / likelihood.count
        if not free.any() or np.linalg.eigvalsh(curvature).max(initial=-1) >= -1e-9:
            break  # flat or not concave: Newton has no say here
        trial = parameters.copy()
        trial[free] -= np.linalg.solve(curvature, slope)
        trial = np.clip(trial, search.low, search.high)
        new = likelihood(trial)
        if np.abs(new.gradient[free]).max() >= np.abs(score.gradient[free]).max():
            break
        parameters, score = trial, new
    return _Optimum(parameters, score)


def _free(parameters: Floats, search: _Search) -> Bools:
    margin = 1e-9
    return (parameters > search.low + margin) & (parameters < search.high - margin)


def _hessian(likelihood: Likelihood, parameters: Floats, free: Bools, step: float = 1e-4) -> Floats:
    """Second derivatives of the log likelihood, from central differences of its gradient."""
    rows = []
    for k in np.flatnonzero(free):
        shift = np.zeros(len(parameters))
        shift[k] = step
        difference = likelihood(parameters + shift).gradient - likelihood(parameters - shift).gradient
        rows.append(difference[free] / (2 * step))
    H = np.array(rows).reshape(int(free.sum()), int(free.sum()))
    return (H + H.T) / 2


# -- the data's own units ------------------------------------------------------------------------------------


def extent(courses: TimeCourses, at_most: int = 300) -> Extent:
    """Typical smallest gap within a course, and the span of all points, both above zero."""
    from scipy.spatial.distance import pdist

    points = courses.designs.points
    span = float(np.linalg.norm(points.max(axis=0) - points.min(axis=0)))
    if span == 0:
        return Extent(1.0, 1.0)
    gaps = []
    chosen = np.unique(np.linspace(0, len(courses.designs) - 1, at_most).astype(int))
    for g in chosen:
        distances = pdist(np.unique(courses.designs[g], axis=0)[:500])
        if len(distances):
            gaps.append(distances.min())
    return Extent(float(np.median(gaps)) if gaps else span, span)


def _variance(courses: TimeCourses, mean: float | None) -> float:
    center = courses.values.mean() if mean is None else mean
    variance = float(np.mean((courses.values - center) ** 2))
    if variance <= (1e-14 * abs(center)) ** 2 or variance == 0:
        raise InputError(f"all values are equal ({center:g}): there is nothing to fit.")
    return variance


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
    kernel = search.kernel.clone_with_theta(best.parameters[:-2])
    signal_sd, noise_sd = np.exp(best.parameters[-2:] / 2)
    gp = GP(kernel, signal_sd, noise_sd, best.score.mean, best.score.value, tuple(_concerns(search, best)))
    for sentence in gp.warnings:
        warnings.warn(sentence, FitWarning, stacklevel=3)
    return gp


def _concerns(search: _Search, best: _Optimum) -> list[str]:
    sentences = _on_a_bound(search, best.parameters)
    sentences += _short_length_scale(search, best.parameters)
    sentences += _indistinct(search, best)
    return sentences


def _on_a_bound(search: _Search, parameters: Floats) -> list[str]:
    names = [n.replace("__", " ") for n in search.space.names] + ["signal variance", "noise variance"]
    sentences = []
    for k, name in enumerate(names):
        for bound, word in ((search.low[k], "lower"), (search.high[k], "upper")):
            if abs(parameters[k] - bound) < 1e-6:
                sentences.append(
                    f"the fit ended on the {word} bound of the {_plain(name)} ({np.exp(bound):.3g}): the data do not "
                    f"determine it{_hint(name, word)}."
                )
    return sentences


def _plain(name: str) -> str:
    return name.split()[-1].replace("_", " ") if "variance" not in name else name


def _hint(name: str, word: str) -> str:
    if "length_scale" in name and word == "upper":
        return "; curves look straight over the whole span"
    if name == "noise variance" and word == "lower":
        return "; values look free of noise, so equal courses must be equal to the last digit"
    return ""


def _short_length_scale(search: _Search, parameters: Floats) -> list[str]:
    gap = search.extent.gap
    return [
        f"the length scale ({np.exp(parameters[k]):.3g}) is below the gap between neighbouring times ({gap:.3g}): each "
        "time is on its own, and the order of times plays no part in the similarity."
        for k, name in enumerate(search.space.names)
        if name.endswith("length_scale")
        and "periodicity" not in str(search.space.names)
        and parameters[k] < np.log(gap) - 1e-9
    ]


def _indistinct(search: _Search, best: _Optimum) -> list[str]:
    """Whether signal and noise variance could be traded for one another without the likelihood noticing."""
    free = _free(best.parameters, search)
    both = free[-2:].all()
    if not both:
        return []
    information = -_hessian(search.likelihood, best.parameters, free)
    weight, vectors = np.linalg.eigh(information)
    uncertain = weight < 1.0  # a change by the factor e costs less than half a unit of log likelihood
    mixed = np.abs(vectors[-2:]).max(axis=0) > 0.3
    if not (uncertain & mixed).any():
        return []
    return [
        "signal and noise cannot be told apart: other splits of the variance fit almost equally well. Replicates, "
        "more courses or a fixed noise would help; similarities depend on the split."
    ]
