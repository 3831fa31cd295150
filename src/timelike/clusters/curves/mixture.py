"""mixture: clusters as curves, with their number and their spread chosen by a bound on the evidence."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from dataclasses import dataclass, replace

import numpy as np

from timelike.base import checks
from timelike.base.arrays import Floats
from timelike.base.blas import one_thread_below
from timelike.clusters.curves.ascent import (
    EFFORT,
    Courses,
    Effort,
    check_spread,
    climbed,
    fit_k,
    lifted,
    responsibilities,
    walk,
)
from timelike.clusters.curves.bound import AnySpread, Fit, Given, sample
from timelike.clusters.curves.curve_clustering import CurveClustering, check_tolerance, finished
from timelike.clusters.curves.freedom_search import Asked, learned, nearer, on_other_nodes, refined_nodes, searched
from timelike.clusters.curves.granularity import KEPT, coarsest
from timelike.clusters.curves.membership import Choice, steps, supported
from timelike.clusters.curves.noise import COMMON
from timelike.clusters.curves.noise_search import CLEAR, LISTENERS, improved, noise_of
from timelike.clusters.curves.notes import (
    say_doubt,
    say_fewer,
    say_freedoms,
    say_model,
    say_more,
    say_noise,
    say_noisy,
    say_wild,
)
from timelike.clusters.curves.one_cluster import clearly_several, glimpse, one_cluster
from timelike.clusters.curves.refinement import SLIGHT, Within, apart, maximised, promising, refined
from timelike.clusters.curves.unknown_members import COURSES, gained
from timelike.courses import TimeCourses
from timelike.exceptions import InputError
from timelike.gp import GP
from timelike.gp.freedom import Freedom
from timelike.gp.kernels import unclocked
from timelike.gp.modelled import Modelled
from timelike.gp.search_space import extent
from timelike.gp.wild import NONE, wild_values

LIMITS = (40, 80, 160)
"""So many clusters are tried at most: more, where so many are clearly worth it."""
NEARLY = 0.9
"""They are if the best number is above this share of the limit, and not in doubt."""
FEWEST = 4
"""The number of clusters is in doubt only above so many: fewer are seen at a glance."""
TAIL_GAIN = 0.1
"""Steps that gain less than this share of the whole together are a tail."""
LONG = 0.39
"""A tail of more than this share of the steps is long."""
NOISES = ("auto", "common")
DEVIATION_ROUNDS = 4
"""How often clusters are sought anew after their deviations were learned."""
LEAST_GAIN = 6.0
"""Deviations on a length scale of their own have to raise the bound by so much, also where courses are few."""
NOISE_ROUNDS = 3
"""How often clusters are sought anew after their noise was learned."""


def mixture(
    courses: TimeCourses,
    gp: GP,
    k: int | None = None,
    *,
    spread: float | None = None,
    robust: bool = True,
    noise: str = "auto",
    refine: bool | str = "auto",
    up_to: str | Sequence[str] = (),
    max_delay: float | None = None,
    tolerance: float | None = None,
    max_k: int | None = None,
    seed: int = 0,
    effort: Effort = EFFORT,
) -> CurveClustering:
    """Clusters of courses that share a curve, by a variational mixture of Gaussian processes.

    Every cluster has a curve; a course is its cluster's curve, plus a deviation of its own (the spread), plus noise;
    one course in a hundred is expected to be in no cluster. The spread is the one with the largest lower bound on the
    log evidence; the finest clusters are as many as have the largest evidence: that bound, and what it leaves out
    because members are not known. Where wide gaps keep groups of the finest clusters apart, they are merged into these,
    and a warning says so. Where there are no such gaps and the bound rises to its top in a long tail of ever smaller
    steps, the data look like a continuum: a warning says so, and they are merged to the smallest number that keeps
    three quarters of what the best gains over a single cluster. ``at`` of the result has any other number, or
    tolerance, and ``path_frame`` all of them.

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
        Let single wild values count for little: those that neither the other values of their course nor a response
        of it explain, see :func:`timelike.gp.wild.wild_values`. ``outliers()`` of the result names them, and how little
        they count. No value is left out.
    noise
        ``"auto"``: courses have a noise of their own, clusters have one, or both, where the bound says so clearly (by
        10 for each freedom); a warning says what was found, and ``course_noise`` of the result has it.
        ``"common"``: all courses have the model's noise, as in the paper.
    refine
        ``True``: also adapt the hyperparameters to the clusters, as long as the bound rises; see ``gp`` of the result.
        ``"auto"``: where another length scale raises the bound clearly (by 10), and where courses deviate from their
        cluster's curve on a length scale that is clearly not the curve's; warnings say so, and ``deviation`` of the
        result has it. A model that was not fitted stays as it is. ``False``: any model does.
    up_to
        In what courses of a cluster may differ: any of ``"level"`` (only changes count), ``"gain"`` (each is its
        cluster's curve, so many times as large) and ``"delay"`` (so much later). ``level``, ``gain`` and ``delay`` of
        the result have each course's, ``earned`` what each freedom adds to the evidence. ``"auto"``: those that pay
        clearly; a warning says which. With gains or delays all courses have the model's noise.
    max_delay
        How far apart in time two courses of a cluster may be, in the unit of the times: needed for delays, but not by
        a periodic kernel, where they are phases.
    tolerance
        Curves that differ by less than this are one cluster: a root mean square difference, in units of the values.
        0: the finest clusters that the courses support. By default as described above.
    max_k
        Largest number of clusters that is tried: by default 40; 80, and then 160, where so many are clearly worth it. A
        warning says where that may be too few.
    seed
        For the sample of courses from which the search starts, where there are many.
    effort
        How many courses take part in which step of the search, see :class:`timelike.clusters.curves.ascent.Effort`.

    Examples
    --------
    >>> import timelike as tl
    >>> courses, truth = tl.simulate.profiles(noise=0.08, seed=1)
    >>> found = mixture(courses, tl.fit(courses))
    >>> found
    Clustering: 150 courses in 3 clusters (50, 51, 49), mixture
    >>> {k: round(v) for k, v in found.evidence.items()}
    {1: 1919, 2: 2178, 3: 2272, 4: 2265}
    """
    checks.instance(courses, TimeCourses, "courses")
    checks.instance(gp, GP, "gp")
    check_settings(courses, k, spread, max_k)
    check_noise(noise)
    if tolerance is not None:
        _check_tolerance(tolerance, k)
    if not (isinstance(refine, (bool, np.bool_)) or refine == "auto"):
        raise InputError(f"refine is {refine!r}: choose from auto, True and False.")
    asked = Asked.of(courses, gp, up_to, max_delay)
    with one_thread_below():
        wild = wild_values(courses.centered(gp.mean) if asked.levels else courses, gp) if robust else NONE
        search = Search(k, spread, max_k, seed, effort, noise)
        weighed = wild.weighed(courses)
        names, earned = asked.names(weighed, search.for_few)
        here = gp.at(weighed, asked.freedom(names))
        data, choice = search.of(sample(here.smooth()))
        free, here = here.free, here.freed(data.free)
        adapted = refine == "auto" and gp.log_likelihood is not None  # a model that was not fitted is the user's
        if adapted and spread is None and k is None and len(data.free) == 1:
            here, data, choice = with_model_of_one(search, here, data, choice)
        if (refine != "auto" and refine) or (adapted and promising(here, data, choice.fit, CLEAR)):
            here, data, choice = with_other_model(search, here, data, choice)
        if len(free) > 1:
            here, data, choice = with_all_nodes(here, data, free, choice)
        elif adapted and spread is None and not choice.doubtful:  # slices of a continuum are no clusters
            here, data, choice = with_deviations(search, here, data, choice)
        known = {"learned": spread is None, "measured": courses, "earned": earned}
        finest = finished(here, data, choice, "mixture", keep_single=k is not None, **known)
        result = finest if k is not None else settled(finest, choice, tolerance)
    say_fewer(result.k, k)
    say_more(result.path, k, (max_k,) if max_k else LIMITS)
    if tolerance is None:
        say_doubt(result)
    if k != 1:
        say_noisy(result)
    say_wild(wild, result)
    say_noise(result)
    say_freedoms(result, up_to)
    if adapted:
        say_model(gp, result)
    return result


def check_settings(courses: Sized, k: int | None, spread: float | None, max_k: int | None) -> None:
    """Raise where a setting of the mixture makes no sense for so many courses."""
    if k is not None:
        checks.whole(k, "k", 1, len(courses), "courses")
    if max_k is not None:
        checks.whole(max_k, "max_k")
    check_spread(spread)


def _check_tolerance(tolerance: float, k: int | None) -> None:
    check_tolerance(tolerance)
    if k is not None:
        raise InputError(f"k is {k} and tolerance {tolerance:g}: give one of them, the other follows.")


def settled(finest: CurveClustering, choice: Choice, tolerance: float | None = None) -> CurveClustering:
    """The clusters to show: at a tolerance; those that stand out; all, where none do; few of them in a continuum."""
    if tolerance is not None:
        return finest.at(tolerance)
    clear = finest.standing_out if finest.k > FEWEST else None
    if clear is not None:
        return finest.at(k=int(clear.max()) + 1)
    if not choice.doubtful:
        return finest
    return replace(finest, continuum=True).at(k=min(coarsest(choice.path), finest.k))


def check_noise(noise: str) -> None:
    """Raise unless it is one of :data:`NOISES`."""
    if noise not in NOISES:
        raise InputError(f"noise is {noise!r}: choose from {', '.join(NOISES)}.")


# -- the number of clusters --------------------------------------------------------------------------------------


def chosen(
    data: AnySpread, k: int | None, spread: float | None, max_k: int | None, seed: int, effort: Effort = EFFORT
) -> Choice:
    """The fit with k clusters, all of which have a course, or with as many as the bound prefers."""
    choice = sought(data, k, spread, max_k, seed, effort)
    if k is None:
        return choice
    fit = supported(data, choice.fit, spread if len(data) <= effort.many else choice.fit.spread)
    return Choice(fit, steps([fit], len(data)))


@dataclass(frozen=True)
class Search:
    """What is asked of a clustering, see :func:`mixture`."""

    k: int | None
    spread: float | None
    max_k: int | None
    seed: int
    effort: Effort
    noise: str

    def for_few(self, data: AnySpread) -> float:
        """The bound that these few of the courses reach."""
        return replace(self, k=None if self.k is None else min(self.k, len(data))).reached(data)

    def of(self, data: AnySpread) -> tuple[AnySpread, Choice]:
        """The courses with a noise of their own, or of their clusters', where that pays, and the fit to them."""
        if len(data.free) > 1:
            return self._with_freedoms(data)
        choice = self.chosen(data)
        noise = COMMON if self.noise == "common" else noise_of(data, choice.fit, self.spread, self.seed)
        for _ in range(NOISE_ROUNDS if noise is not COMMON else 0):
            data = replace(data, noise=noise)
            choice = self.chosen(data)
            noise, gain = improved(data, choice.fit, self.spread, self.seed)
            if gain < CLEAR:
                break
        return data, choice

    def _with_freedoms(self, data: AnySpread) -> tuple[AnySpread, Choice]:
        """The courses on few nodes, with the prior of gains and delays that suits them, and the fit to them."""
        data = data.thinned(*searched(data))
        few, choice = data.draw(LISTENERS, self.seed), self.chosen(data)
        start = choice.fit if few is data else lifted(few, choice.fit, self.spread, self.effort)
        data = replace(data, free=nearer(learned(few, start, self.spread)[0].free))
        return data, self.chosen(data)

    def reached(self, data: AnySpread) -> float:
        """The bound of the courses on few nodes, all with the model's noise."""
        data = data.thinned(*searched(data))
        fit = self.chosen(data).fit
        return fit.bound if len(data.free) == 1 else learned(data, fit, self.spread)[1].bound

    def chosen(self, data: AnySpread) -> Choice:
        """The fit with k clusters, or with as many as the bound prefers."""
        return chosen(data, self.k, self.spread, self.max_k, self.seed, self.effort)


def with_other_model(
    search: Search, here: Modelled, data: AnySpread, choice: Choice
) -> tuple[Modelled, AnySpread, Choice]:
    """The model, the courses and the fit after hyperparameters were adapted to the clusters."""
    here, data, fit = refined(here, data, choice.fit, search.spread)
    return here, data, search.chosen(data) if search.k is None else Choice(fit, steps([fit], len(data)))


def with_model_of_one(
    search: Search, here: Modelled, data: AnySpread, choice: Choice
) -> tuple[Modelled, AnySpread, Choice]:
    """The model, the courses and the fit under what suits one cluster best, where several do not beat it.

    Each is judged at hyperparameters of its own: what was fitted to courses as if each had a curve of its own knows the
    curve of one family of them badly, and several clusters would only mend that.
    """
    best = choice.finest or choice.fit
    if best.k == 1:
        return here, data, choice
    seen = glimpse(here, data)
    if clearly_several(data, best, seen):
        return here, data, choice
    there, again, one = one_cluster(here, data, seen)
    if one.bound <= best.evidence:
        return here, data, choice
    under, known, several = refined(here, data, best, None)
    if several.k > 1 and one.bound <= with_gain(known, several).evidence:
        return here, data, choice
    if several.k == 1 and several.bound > one.bound:  # all but one were given up, and that was better
        there, again = under, known
    return there, *(search.of(again) if len(again.noise) == 1 else (again, search.chosen(again)))


def with_all_nodes(here: Modelled, few: AnySpread, free: Freedom, choice: Choice) -> tuple[Modelled, AnySpread, Choice]:
    """The courses on as many nodes of a freedom as are affordable, which say where each is, and the fit to them."""
    here = here.freed(refined_nodes(free, here.free, len(here.courses)))
    fit = choice.finest or choice.fit
    data, weights = sample(here), responsibilities(few, fit)
    start = on_other_nodes(few.free, weights.r, here.free)
    fit = climbed(data, Given.at(start), fit.spread)
    return here, data, replace(choice, finest=fit) if choice.doubtful else replace(choice, fit=fit)


def with_deviations(
    search: Search, here: Modelled, data: AnySpread, choice: Choice
) -> tuple[Modelled, AnySpread, Choice]:
    """The model, the courses and the fit where members deviate on a length scale of their own, if that clearly pays.

    It has to raise the bound over that of hyperparameters refitted without, by a tenth for each course: by 6 at least,
    twice what one more parameter costs (half the logarithm of a few hundred values), and by 10 at most.
    """
    plain, clear = (here, data, choice), float(np.clip(len(data) / 10, LEAST_GAIN, CLEAR))
    within = apart(here, data, choice.fit)
    if within is None or _too_rough(here, within):
        return plain
    here, data, choice = _taking_turns(search, *plain, within)
    if choice.fit.bound < plain[2].fit.bound + clear:
        return plain
    if choice.fit.bound < refined(plain[0], plain[1], plain[2].fit, None)[2].bound + clear:
        return plain
    data, choice = search.of(replace(data, noise=COMMON))
    there = choice.fit.spread >= SLIGHT and not _too_rough(here, Within(here.gp, choice.fit.spread, data.scale))
    return (here, data, choice) if there else plain


def _too_rough(here: Modelled, within: Within) -> bool:
    """Whether deviations are shorter than the gaps between times: noise by another name."""
    kernel = within.gp.kernel
    gap = extent(here.courses, None if unclocked(kernel) is kernel else kernel).gap
    scales = np.asarray(within.gp.length_scale, dtype=float)
    return bool(within.scale * scales.min() < gap / 2)


def _taking_turns(
    search: Search, here: Modelled, data: AnySpread, choice: Choice, within: Within
) -> tuple[Modelled, AnySpread, Choice]:
    """The model, the courses and the fit after deviations and clusters took turns while it paid."""
    for _ in range(DEVIATION_ROUNDS):
        again = within.information(here, data.noise)
        found = search.chosen(again)
        lost = search.k is not None and found.fit.k < choice.fit.k
        if lost or found.fit.bound < choice.fit.bound + 1:
            break
        here, data, choice = here.under(within.gp), again, found
        within = maximised(here, data, found.fit, Within(within.gp, found.fit.spread, within.scale), apart=True)
    return here, data, choice


def sought(
    data: Courses, k: int | None, spread: float | None, max_k: int | None, seed: int, effort: Effort = EFFORT
) -> Choice:
    """The fit with k clusters, or with as many as the bound prefers, of courses in memory or on disk."""
    if k is not None:
        fit = fit_k(data, k, spread, seed, effort)
        return Choice(fit, steps([fit], len(data)))
    few = data.draw(effort.walkers, seed)
    if len(few.nodes) > 1:
        few = few.draw(LISTENERS, seed)
    rank = few.vectors.shape[1]
    for most in LIMITS if max_k is None else (max_k,):
        shown = walk(few if few is data else few.narrowed(), spread, min(most, len(few)), seed, effort)
        fits = [with_gain(few, replace(fit, clusters=fit.clusters.widened(rank))) for fit in shown]
        fit, finest = choose(fits)
        if finest is not None or fit.k <= NEARLY * most:
            break
    if few is data:
        return Choice(fit, steps(fits, len(few)), finest)
    if finest is not None:
        finest = lifted(data, finest, spread, effort)
        return Choice(lifted(data, fit, spread, effort), steps(fits, len(few)), finest)
    fits = _around(data, fits, spread, effort)
    return Choice(max(fits, key=lambda fit: fit.evidence), steps(fits, len(data)))


def with_gain(data: Courses, fit: Fit) -> Fit:
    """The fit with what it is compared by with those of other numbers of clusters."""
    few = data.draw(COURSES, 0)
    return replace(fit, gained=gained(few, fit, len(data) / len(few)))


def _around(data: Courses, fits: list[Fit], spread: float | None, effort: Effort) -> list[Fit]:
    """Fits of all courses from fits of few: from just below the best number of clusters on, while the bound rises."""
    best = int(np.argmax([fit.evidence for fit in fits]))
    found: list[Fit] = []
    for fit in fits[max(best - 1, 0) :]:
        found.append(with_gain(data, lifted(data, fit, spread, effort)))
        if len(found) > 2 and found[-1].evidence < found[-2].evidence < found[-3].evidence:
            break
    by_k = {fit.k: fit for fit in sorted(found, key=lambda fit: fit.evidence)}
    return [by_k[k] for k in sorted(by_k)]


def choose(fits: list[Fit]) -> tuple[Fit, Fit | None]:
    """The fit with the largest evidence, and None; where that is in doubt, a coarse fit and that one.

    It is in doubt where the way to the largest bound ends in a long tail of steps that gain little: under any misfit of
    the model the bound prefers ever more clusters. The coarse fit keeps three quarters of the gain.
    """
    best, bounds = max(fits, key=lambda fit: fit.evidence), np.array([fit.bound for fit in fits])
    top = int(bounds.argmax())
    gains = np.diff(bounds[: top + 1])
    if top < FEWEST or _tail(gains) <= LONG:
        return best, None
    coarse = int(np.flatnonzero(bounds >= bounds[0] + KEPT * gains.sum())[0])
    return fits[coarse], best


def _tail(gains: Floats) -> float:
    """The share of the steps, the last, that gain little together."""
    little = np.cumsum(gains[::-1]) < TAIL_GAIN * gains.sum()
    return float(little.argmin() / len(gains))
