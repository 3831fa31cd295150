"""mixture: clusters as curves, with their number and their spread chosen by a bound on the evidence."""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import replace

import numpy as np

from timelike.base import checks
from timelike.base.arrays import Floats, Ints
from timelike.base.blas import one_thread_below
from timelike.clusters.curves.ascent import Fit, check_spread, climb, draw, fit_k, lifted, walk
from timelike.clusters.curves.bound import Clusters, Sample, explained, sample
from timelike.clusters.curves.curve_clustering import Choice, CurveClustering, finished, steps, supported
from timelike.clusters.curves.outlying_values import outlying, without
from timelike.courses import TimeCourses
from timelike.exceptions import DataWarning, InputError, warn
from timelike.gp import GP
from timelike.gp.information import information_of_sets

MAX_K = 40
WALKERS = 3000
"""So many courses, drawn at random, show where to look for the number of clusters."""
KEPT = 0.75
"""In a continuum: the share of the gain in evidence, over one cluster for all, that fewer clusters must keep."""
FURTHEST = 5.0
"""How far a logarithm of a hyperparameter may go from where it was."""
REFINERS = 500
"""So many courses, drawn at random, decide about hyperparameters."""
OUT = 5.0
"""Standard deviations beyond which a single value is left out before clusters are sought."""


def mixture(
    courses: TimeCourses,
    gp: GP,
    k: int | None = None,
    *,
    spread: float | None = None,
    robust: bool = True,
    refine: bool = False,
    max_k: int = MAX_K,
    seed: int = 0,
) -> CurveClustering:
    """Clusters of courses that share a curve, by a variational mixture of Gaussian processes.

    Every cluster has a curve; a course is its cluster's curve, plus a deviation of its own (the spread), plus noise;
    one course in a hundred is expected to be in no cluster. The number of clusters and the spread are those with the
    largest lower bound on the log evidence. Where the bound rises to its top in a long tail of ever smaller steps the
    data look like a continuum: a warning says so, and the number is the smallest that keeps three quarters of what the
    best number gains over a single cluster (``path`` shows all of them, and what they cost).

    Parameters
    ----------
    courses
    gp
        From :func:`timelike.fit`, or given.
    k
        Number of clusters; chosen by default. The result has fewer where the data do not support so many.
    spread
        How much curves of one cluster differ, in units of the signal_sd; 0 for identical curves. Learned by default.
    robust
        Leave out single values more than five standard deviations from what the other values of the course let
        expect. ``outliers()`` of the result names what sticks out, also if it was left out.
    refine
        Also adapt the hyperparameters to the clusters, as long as the bound rises; see ``gp`` of the result.
    max_k
        Largest number of clusters that is tried.
    seed
        For the sample of courses from which the search starts, where there are many.

    Examples
    --------
    >>> import timelike as tl
    >>> courses, truth = tl.simulate.profiles(noise=0.08, seed=1)
    >>> found = mixture(courses, tl.fit(courses))
    >>> found
    Clustering: 150 courses in 3 clusters (50, 51, 49), mixture
    >>> {k: round(v) for k, v in found.evidence.items()}
    {1: 1919, 2: 2176, 3: 2271, 4: 2263}
    """
    checks.instance(courses, TimeCourses, "courses")
    checks.instance(gp, GP, "gp")
    check_settings(courses, k, spread, max_k)
    used = _cleaned(courses, gp) if robust else courses
    with one_thread_below():
        data = sample(used, gp, information_of_sets(used, gp))
        choice = chosen(data, k, spread, max_k, seed)
        if refine:
            gp, data, better = refined(used, gp, data, choice.fit, spread)
            choice = chosen(data, k, spread, max_k, seed) if k is None else replace(choice, fit=better)
        result = finished(used, gp, data, choice, "mixture", learned=spread is None, keep_single=k is not None)
    say(result.k, k, choice)
    say_left_out(len(courses.values) - len(used.values), len(courses.values))
    return replace(result, measured=courses)


def check_settings(courses: Sized, k: int | None, spread: float | None, max_k: int) -> None:
    """Raise where a setting of the mixture makes no sense for so many courses."""
    if k is not None:
        checks.whole(k, "k", 1, len(courses), "courses")
    checks.whole(max_k, "max_k")
    check_spread(spread)


# -- the number of clusters --------------------------------------------------------------------------------------


def chosen(data: Sample, k: int | None, spread: float | None, max_k: int, seed: int) -> Choice:
    """The fit with k clusters, or with as many as the bound prefers."""
    if k is not None:
        fit = supported(data, fit_k(data, k, spread, seed), spread)
        return Choice(fit, steps(data, [fit]))
    few = data if len(data) <= WALKERS else draw(data, WALKERS, seed)
    fits = list(walk(few, spread, min(max_k, len(few)), seed).values())
    fit, continuum = choose(fits)
    if few is not data:
        if continuum:
            fit = lifted(data, few, fit, spread)
        else:
            few, fits = data, _around(data, few, fits, spread)
            fit = max(fits, key=lambda fit: fit.bound)
    path = steps(few, fits)
    cost = next((step.per_course for step in path if step.k == fit.k), 0.0)
    return Choice(fit, path, continuum, cost)


def _around(data: Sample, few: Sample, fits: list[Fit], spread: float | None) -> list[Fit]:
    """Fits of all courses from fits of few: from just below the best number of clusters on, while the bound rises."""
    best = int(np.argmax([fit.bound for fit in fits]))
    found: list[Fit] = []
    for fit in fits[max(best - 1, 0) :]:
        found.append(lifted(data, few, fit, spread))
        if len(found) > 2 and found[-1].bound < found[-2].bound < found[-3].bound:
            break
    by_k = {fit.k: fit for fit in sorted(found, key=lambda fit: fit.bound)}
    return [by_k[k] for k in sorted(by_k)]


def choose(fits: list[Fit]) -> tuple[Fit, bool]:
    """The fit to show, and whether the courses look like a continuum.

    They do when the way to the best number of clusters ends in a long tail: the last quarter of the steps, and at
    least two, gain on average less than a fifth of what all steps do. Clusters that are there end it more abruptly.
    """
    bounds = np.array([fit.bound for fit in fits])
    best = int(bounds.argmax())
    gains = np.diff(bounds[: best + 1])
    tail = gains[-max(2, -(-best // 4)) :]
    if best < 4 or tail.mean() > gains.mean() / 5:
        return fits[best], False
    enough = np.flatnonzero(bounds >= bounds[0] + KEPT * gains.sum())
    return fits[int(enough[0])], True


def say(
    found: int,
    k: int | None,
    choice: Choice,
    where: str = "numbers.csv (in Python path_frame()) has them all; ",
) -> None:
    """Tell the caller of the caller what deserves a second look; `found` clusters are in the result."""
    if k is not None and found < k:
        message = f"asked for {k} clusters, the data support {found}: the others lost all their courses."
        warn(message, DataWarning)
    if choice.continuum:
        best = max(choice.path, key=lambda step: step.bound)
        warn(
            f"the courses look like a continuum rather than clusters: up to {best.k} clusters describe them ever a "
            f"little better. {found} are shown, which costs {choice.cost:.2f} in log evidence for each course; "
            f"{where}give k for another number.",
            DataWarning,
        )


def say_left_out(count: int, total: int, where: str = "outliers.csv (in Python outliers()) names them, ") -> None:
    """Tell the caller of the caller how many values were left out."""
    if count:
        warn(
            f"left out {count:,} of {total:,} values that are more than {OUT:g} standard deviations from what the "
            f"other values of their course let expect; {where}robust=False (--no-robust) keeps them.",
            DataWarning,
        )


# -- single values that stick out ----------------------------------------------------------------------------------


def _cleaned(courses: TimeCourses, gp: GP) -> TimeCourses:
    """The courses without values that their own other values rule out."""
    out = wild_values(courses, gp)
    return without(courses, out) if len(out) else courses


def wild_values(courses: TimeCourses, gp: GP) -> Ints:
    """Where among all values those are that the other values of their course rule out."""
    if courses.designs.points.shape[1] > 1:
        return np.empty(0, dtype=np.intp)

    def expected(design: int, _label: int) -> tuple[Floats, Floats]:
        points = courses.designs[design]
        return np.full(len(points), gp.mean), gp.covariance(points)

    return outlying(courses, gp, np.zeros(len(courses), dtype=np.intp), expected, OUT).at


# -- hyperparameters from within the clusters ------------------------------------------------------------------------


def refined(courses: TimeCourses, gp: GP, data: Sample, fit: Fit, spread: float | None) -> tuple[GP, Sample, Fit]:
    """The model, its information and the fit after hyperparameters and responsibilities took turns while it paid."""
    for _ in range(3):
        better = _maximised(courses, gp, fit)
        again = sample(courses, better, information_of_sets(courses, better))
        climbed = climb(again, fit.r, spread)
        if climbed.bound - fit.bound < 0.1:
            break
        gp, data, fit = better, again, climbed
    return gp, data, fit


def _maximised(courses: TimeCourses, gp: GP, fit: Fit) -> GP:
    """The model that explains best what each cluster has, by a simplex search over its log parameters."""
    from scipy.optimize import minimize

    drawn = np.sort(np.random.default_rng(0).permutation(len(courses))[:REFINERS])
    few, r = courses.select(drawn), fit.r[drawn]

    def model(theta: Floats) -> GP:
        kernel = gp.kernel.clone_with_theta(theta[:-2])
        signal_sd, noise_sd = np.exp(theta[-2:])
        return GP(kernel, signal_sd, noise_sd, gp.mean)

    def loss(theta: Floats) -> float:
        try:
            better = model(theta)
            state = sample(few, better, information_of_sets(few, better)).at(fit.spread)
        except InputError:  # a place where no model is, for instance too little noise
            return np.inf
        return -explained(state, Clusters.of(state, r), r)

    start = np.append(gp.kernel.theta, np.log([gp.signal_sd, max(gp.noise_sd, 1e-12)]))
    low, high = start - FURTHEST, start + FURTHEST
    options = {"maxfev": 100, "xatol": 1e-3, "fatol": 1e-2}
    found = minimize(loss, start, method="Nelder-Mead", bounds=list(zip(low, high, strict=True)), options=options)
    return model(found.x) if np.isfinite(found.fun) else gp
