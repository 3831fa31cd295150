"""fit: the hyperparameters that make all courses together most likely, whatever the units."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from timelike.base import checks
from timelike.base.arrays import Bools, Floats
from timelike.base.blas import one_thread_below
from timelike.base.dask_workers import check_client
from timelike.base.threads import Crew, progress, thread_count
from timelike.courses import TimeCourses
from timelike.exceptions import FitWarning, InputError, warn
from timelike.gp import GP, kernels
from timelike.gp.basis import LEAST_NOISE
from timelike.gp.doubts import doubts
from timelike.gp.kernels import unclocked, without_rough_part
from timelike.gp.likelihood import LIMITS, Likelihood, Score
from timelike.gp.rough import times_of
from timelike.gp.search_space import (
    SearchSpace,
    clock_space,
    extent,
    first_time,
    rough_space,
    search_space,
    slows_down,
)
from timelike.gp.stationary import form_of
from timelike.gp.told import Chunked, Summed, courses_of, summed, told
from timelike.gp.unswayed import SLIGHT, swayed, unswayed
from timelike.gp.wild import wild_values

if TYPE_CHECKING:
    from sklearn.gaussian_process.kernels import Kernel


AUTO = ("se", "matern52", "matern32")
"""The kernels that kernel="auto" compares."""
CLEAR = 10.0
"""A clock is taken if it raises the log likelihood by so much: one more parameter does not explain that."""
SAMPLE_COST = 1_000_000
"""Beyond so many multiplications a likelihood, the search begins on a sample of the courses."""
SAMPLE_SEED = 20210527
MOST_STARTS = 120
"""More starting points than this are looked at with a few courses first."""
SCAN_COST, SCANNED, PEAKS = 1_000_000, 16, 12
"""Multiplications of a likelihood there, courses at least, and how many peaks are followed up."""
LISTENERS = 100_000
"""So many courses of a file are listened to where single wild values decide."""


def fit(
    courses: TimeCourses | Chunked,
    kernel: str | Kernel = "se",
    mean: str | float = "constant",
    *,
    clock: str | float = "auto",
    rough: bool = False,
    robust: bool = True,
    threads: int | None = None,
    client: Any = None,
) -> GP:
    """The GP whose hyperparameters maximise the summed log marginal likelihood of the courses.

    The result does not depend on the units of times and values: the search starts from several length scales
    between the smallest gap and the span of the times, and ends where the gradient is zero.

    Parameters
    ----------
    courses
        In memory, or a :class:`timelike.CourseFile` of more than that holds: read twice, chunk by chunk, for what all
        courses sum to. The model is that of the same courses in memory, but for rounding. Where single wild values
        decide, it is that of 100,000 courses drawn at random, and ``warnings`` says so.
    kernel
        ``"se"``, ``"matern12"``, ``"matern32"``, ``"matern52"``, ``"periodic"``, ``"linear"``, or a scikit-learn
        kernel object, sums and products included. It describes the shape of the covariance; signal and noise
        variance are added. A parameter that is ``"fixed"`` there stays fixed, bounds that you set are kept.
        ``"auto"``: the likeliest of ``"se"``, ``"matern52"`` and ``"matern32"``; a sentence says what the others cost.
    mean
        ``"constant"`` (one level for all courses, fitted), ``"zero"``, or a number.
    clock
        ``"auto"``: where times are uneven, time that runs slower and slower
        (:class:`~timelike.gp.clock.Clocked`) if that raises the log likelihood by at least 10, which a sentence says;
        else plain time, and always for kernels other than ``"se"`` and Matern's. ``"linear"``: plain time, as in the
        paper. A number: the clock's tau, in the unit of the times.
    rough
        Look for a rough part that replicates share and a smooth curve has not (``rough_sd``), and take it if it raises
        the log likelihood by at least 10. Without it the curve bends to follow what replicates share.
    robust
        Where single wild values decide about the noise of all (without them it is clearly smaller), they count for
        little, and ``warnings`` says so: values that neither the others of their course nor a response of it explain.
        Where they do not decide, the fit is that of all values with their full weight.
    threads
        Number of threads that read the chunks of a file; by default all that this process may use.
    client
        A ``dask.distributed.Client``: its workers read them, where they see a .npy file under the same path; chunks of
        other files are read here and sent.

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
    check_clock(clock)
    shapes = [_shape(name, clock) for name in (AUTO if _is_auto(kernel) else (kernel,))]
    wishes = shapes, fixed_mean(mean), clock, rough
    with one_thread_below(), progress("fit", None, "likelihood") as advance:
        if isinstance(courses, TimeCourses):
            if client is not None:
                raise InputError("client is for courses in a file, tl.CourseFile: those in memory are fitted here.")
            gp = _of_all(courses, Search(*wishes, advance), robust)
        elif hasattr(courses, "blocks"):
            gp = _of_chunks(Reading(courses, threads, client), lambda: Search(*wishes, advance), robust)
        else:
            checks.instance(courses, TimeCourses, "courses")
    for sentence in gp.warnings:
        warn(sentence, FitWarning)
    return gp


def _of_all(courses: TimeCourses, search: Search, robust: bool) -> GP:
    check_replicates(courses, search.rough)
    gp = search(courses, courses)
    return unswayed(courses, gp, search) if robust else gp


@dataclass(frozen=True, eq=False)
class Reading:
    """Chunks, and who reads them."""

    chunks: Chunked
    threads: int | None
    client: Any

    def __post_init__(self) -> None:
        thread_count(self.threads)
        if self.client is not None:
            check_client(self.client)

    def crew(self, prepared: object) -> Crew:
        """Those who read them, all with what was prepared."""
        return Crew(prepared, self.threads, self.client)

    def summed(self) -> Summed:
        """What all courses sum to."""
        first = next(iter(self.chunks.blocks()), None)
        if first is None:
            raise InputError("there are no courses.")
        return summed(self.crew(float(courses_of(first).values.mean())), self.chunks.blocks(self.client))

    def wild(self, gp: GP) -> float:
        """The sum of squares of wild values, in units of what is expected of each."""
        return sum(self.crew(gp).in_order(_wild_squares, self.chunks.blocks(self.client), "wild values", "chunk"))


def _of_chunks(reading: Reading, search: Callable[[], Search], robust: bool) -> GP:
    every, whole = search(), reading.summed()
    check_replicates(whole, every.rough)
    gp = every(whole, whole)
    if not robust or reading.wild(gp) < SLIGHT * whole.span.number:
        return gp
    few = reading.chunks.sample(LISTENERS)
    found = _of_all(few, search(), robust)
    if not swayed(gp, found):
        return gp
    sentence = (
        f"wild values decide about the noise of all: the model is that of {len(few):,} courses drawn at random, in "
        f"which they count for little. Its noise is {found.noise_sd:.3g}; with full weight for every value of the file "
        f"(robust=False) it would be {gp.noise_sd:.3g}."
    )
    return replace(found, warnings=(*found.warnings, sentence))


def _wild_squares(gp: GP, block: Any) -> float:
    return float((wild_values(courses_of(block), gp).z ** 2).sum())


def check_clock(clock: Any) -> None:
    """Raise unless it is 'auto', 'linear' or a number above zero."""
    if not (clock in ("auto", "linear") if isinstance(clock, str) else checks.is_number(clock) and clock > 0):
        raise InputError(f"clock is {clock!r}: expected 'auto', 'linear', or tau, a number above zero.")


def check_replicates(courses: TimeCourses | Summed, rough: bool) -> None:
    """Raise if a rough part is asked for, but no course has a time twice."""
    designs = courses.designs
    if rough and len(times_of(designs.points, designs.starts)[1]) == len(designs.points):
        raise InputError("no course has replicates: a rough part cannot be told from noise. Leave rough out.")


def _shape(kernel: str | Kernel, clock: str | float) -> Kernel:
    """The kernel without a clock that is sought anew, or given otherwise; one with a fixed tau keeps it."""
    shape = kernels.resolve(kernel)
    bare = unclocked(shape)
    return shape if bare is not shape and clock == "auto" and shape.tau_bounds == "fixed" else bare


def _is_auto(kernel: object) -> bool:
    return isinstance(kernel, str) and kernel == "auto"


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
        courses: TimeCourses | Summed,
        kernel: Kernel,
        mean: float | None,
        advance: Callable[[int], object] = lambda _: None,
    ) -> None:
        self.courses, self.kernel, self.mean, self.advance = courses, kernel, mean, advance
        self.count = told(courses).span.number

    @cached_property
    def likelihood(self) -> Likelihood:
        """The log likelihood, from statistics that are gathered when it is first asked for."""
        return Likelihood(self.courses, self.kernel, self.mean)

    def with_kernel(self, kernel: Kernel) -> Objective:
        """The same courses with the same kernel on a clock; statistics are not gathered again."""
        other = Objective(self.courses, kernel, self.mean, self.advance)
        other.likelihood = self.likelihood.with_kernel(kernel)
        return other

    def on(self, courses: TimeCourses | Summed) -> Objective:
        """The same of other courses."""
        return Objective(courses, self.kernel, self.mean, self.advance)

    def __call__(self, place: Floats) -> Score:
        """Value and gradient, divided by the number of values."""
        self.advance(1)
        value, gradient, mean = self.likelihood(_parameters(place))
        gradient = gradient.copy()
        gradient[-2] += gradient[-1]
        return Score(value / self.count, gradient / self.count, mean)

    def error(self, place: Floats) -> float:
        """By how much the log likelihood of all courses is off at most; zero unless courses are long."""
        return self.likelihood.error(_parameters(place))

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


def _parameters(place: Floats) -> Floats:
    """The likelihood's parameters at a place of the search, which has the noise in units of the signal."""
    return np.append(place[:-1], place[-1] + place[-2])


class Optimum(NamedTuple):
    """A place, and what the objective is there."""

    place: Floats
    score: Score


def most_likely(objective: Objective, space: SearchSpace, sample_cost: float = SAMPLE_COST) -> Optimum:
    """The place with the largest objective.

    Beyond `sample_cost` multiplications a likelihood, the search begins on a sample of the courses.
    """
    starts = space.starts
    if len(starts) > MOST_STARTS:
        starts = _promising(objective, starts)
    sample = first_sample(objective.courses, sample_cost)
    if sample is not objective.courses:
        starts = _optimise(objective.on(sample), starts, space).place[None]
    return _polish(objective, _optimise(objective, starts, space), space)


def _model(best: Candidate, warnings: tuple[str, ...]) -> GP:
    objective, (place, score) = best.objective, best.optimum
    kernel = without_rough_part(best.kernel)
    signal_sd, ratio = np.exp(place[-2:] / 2)
    noise_sd = signal_sd * max(ratio, np.sqrt(LEAST_NOISE * kernel.diag(objective.courses.designs.points).max()))
    rough_sd = signal_sd * np.sqrt(best.kernel.share) if best.by_rough_part is not None else 0.0
    return GP(kernel, signal_sd, noise_sd, score.mean, best.log_likelihood, warnings, rough_sd)


# -- kernels and clocks ------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Candidate:
    """A kernel, in plain time or on a clock, at its optimum."""

    objective: Objective
    space: SearchSpace
    optimum: Optimum
    by_clock: float | None = None
    """By how much a clock that was fitted raised the log likelihood when it was chosen; None without one."""
    by_rough_part: float | None = None
    """Likewise its rough part."""

    @property
    def log_likelihood(self) -> float:
        """Of all courses."""
        return self.optimum.score.value * self.objective.count

    @property
    def kernel(self) -> Kernel:
        """The kernel at its optimum."""
        return self.objective.kernel.clone_with_theta(self.optimum.place[:-2])

    @property
    def name(self) -> str:
        """The kernel, and whether it is on a clock."""
        return kernels.name_of(self.kernel) + ("" if self.by_clock is None else " on a clock")


class Search:
    """The search for the most likely model of courses: all kernels that were asked for, in plain time and on clocks.

    Parameters
    ----------
    shapes
        The kernels.
    mean
        A number, or None where it is fitted.
    clock, rough
        As :func:`fit` takes them.
    advance
        Told of each evaluation.
    """

    def __init__(
        self,
        shapes: list[Kernel],
        mean: float | None,
        clock: str | float,
        rough: bool,
        advance: Callable[[int], object],
    ) -> None:
        self.shapes, self.mean, self.clock, self.rough, self.advance = shapes, mean, clock, rough, advance
        self.found: list[Candidate] = []
        self.last: Candidate

    def __call__(self, courses: TimeCourses | Summed, seen: TimeCourses | Summed, *, again: bool = False) -> GP:
        """The most likely model; `again`: of the kernel that was the last time, from where it was."""
        if again:
            objective = Objective(courses, self.last.objective.kernel, self.mean, self.advance)
            best = _fitted(objective, replace(self.last.space, starts=self.last.optimum.place[None]))
            best = replace(best, by_clock=self.last.by_clock, by_rough_part=self.last.by_rough_part)
        else:
            self.found = self.candidates(courses, seen)
            best = choose(self.found)
        self.last = best
        return _model(best, (*_choice(self.found, best), *doubts(best.objective, best.space, best.optimum.place)))

    def candidates(self, courses: TimeCourses | Summed, seen: TimeCourses | Summed) -> list[Candidate]:
        """Each kernel at its optimum, in plain time or with a given tau; and on a fitted clock where that may help.

        Variances are sought around those of the values that are `seen`.
        """
        return [one for shape in self.shapes for one in self._both(self._plain(courses, seen, shape))]

    def _both(self, plain: Candidate) -> list[Candidate]:
        """The candidate, and the same on a clock where that may help; both with a rough part where they gain by one."""
        kernel, found = plain.objective.kernel, [plain]
        may_slow = self.clock == "auto" and form_of(kernel) is not None and unclocked(kernel) is kernel
        if may_slow and slows_down(plain.objective.courses):
            found.append(_fitted_clock(plain))
        plain, *clocked = [_with_rough_part(one) for one in found] if self.rough else found
        return [plain, *(replace(one, by_clock=one.log_likelihood - plain.log_likelihood) for one in clocked)]

    def _plain(self, courses: TimeCourses | Summed, seen: TimeCourses | Summed, shape: Kernel) -> Candidate:
        kernel = shape if isinstance(self.clock, str) else _on_clock(courses, shape, float(self.clock), fixed=True)
        objective = Objective(courses, kernel, self.mean, self.advance)
        return _fitted(objective, search_space(seen, kernel, self.mean))


def _fitted(objective: Objective, space: SearchSpace) -> Candidate:
    return Candidate(objective, space, most_likely(objective, space))


def _fitted_clock(plain: Candidate) -> Candidate:
    courses = plain.objective.courses
    objective = plain.objective.with_kernel(_on_clock(courses, plain.objective.kernel, 1.0, fixed=False))
    found = _fitted(objective, clock_space(courses, objective.kernel, plain.space, plain.optimum.place))
    return replace(found, space=replace(found.space, extent=extent(courses, found.kernel)))


def _on_clock(courses: TimeCourses | Summed, kernel: Kernel, tau: float, *, fixed: bool) -> Kernel:
    from timelike.gp.clock import Clocked

    return Clocked(kernel, tau, first_time(courses), "fixed" if fixed else (1e-5, 1e5))


def _with_rough_part(smooth: Candidate) -> Candidate:
    """The candidate with a rough part, if that is clearly likelier."""
    from timelike.gp.roughened import Roughened

    old = smooth.objective
    objective = Objective(old.courses, Roughened(old.kernel), old.mean, old.advance)
    rough = _fitted(objective, rough_space(smooth.space, smooth.optimum.place))
    gained = rough.log_likelihood - smooth.log_likelihood
    return replace(rough, by_rough_part=gained) if gained >= CLEAR else smooth


def choose(found: list[Candidate]) -> Candidate:
    """The likeliest; a clock only if it is clearly likelier than the same kernel in plain time."""
    clear = [one for one in found if one.by_clock is None or one.by_clock >= CLEAR]
    return max(clear, key=lambda one: one.log_likelihood)


def _choice(found: list[Candidate], best: Candidate) -> list[str]:
    """What is to be said about the choice of kernel and clock, of which `best` has the parameters."""
    words = []
    if best.by_clock is not None:
        from timelike.gp.clock import in_words

        gain = f"{best.by_clock:,.0f}"
        words.append(
            f"{in_words(without_rough_part(best.kernel))}: that raises the log likelihood by {gain} over plain "
            "time, which clock='linear' (--clock linear) keeps."
        )
    if best.by_rough_part is not None:
        words.append(
            f"replicates share a rough part that a smooth curve has not (rough_sd): that raises the log likelihood by "
            f"{best.by_rough_part:,.0f}."
        )
    if len(found) > 2:
        chosen = choose(found)
        costs = [f"{one.name} {chosen.log_likelihood - one.log_likelihood:,.1f}" for one in found if one is not chosen]
        words.append(f"the likeliest kernel is {best.name}; in log likelihood the others cost: {', '.join(costs)}.")
    return words


# -- search --------------------------------------------------------------------------------------------------


def _promising(objective: Objective, starts: Floats) -> Floats:
    """The peaks among very many starting points, as a few courses show them.

    Starting points are in the order of a period, and the likelihood has many narrow peaks: each is looked at once.
    """
    sizes = objective.courses.designs.sizes.astype(float)
    few = first_sample(objective.courses, SCAN_COST, least=SCANNED) if (sizes**3).sum() > SCAN_COST else None
    look = objective if few is None else objective.on(few)
    places, which = np.unique(starts[:, :-2], axis=0, return_inverse=True)
    values = np.array([look(starts[rows[len(rows) // 2]]).value for rows in _rows_of(which, len(places))])
    padded = np.concatenate([[-np.inf], values, [-np.inf]])
    peaks = np.flatnonzero((values >= padded[:-2]) & (values >= padded[2:]))
    best = peaks[np.argsort(-values[peaks], kind="stable")[:PEAKS]]
    return starts[np.isin(which, best)]


def _rows_of(which: Any, count: int) -> list[Any]:
    return [np.flatnonzero(which == k) for k in range(count)]


def _optimise(objective: Objective, starts: Floats, space: SearchSpace) -> Optimum:
    """The best optimum reached from the most likely of the starting points."""
    best: dict[bytes, tuple[float, Floats]] = {}  # the best split into signal and noise for each place of the kernel
    for start in starts:
        key, value = start[:-2].tobytes(), objective(start).value
        if key not in best or value > best[key][0]:
            best[key] = value, start
    ranked = sorted(best.values(), key=lambda found: -found[0])[: space.finalists]
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


def first_sample(courses: TimeCourses | Summed, affordable: float, least: int | None = None) -> TimeCourses | Summed:
    """A sample for the first search where a likelihood is not affordable; the courses themselves where it is.

    It has 200 courses at least, or where they are long so many that they have 12,000 values, but 8.
    """
    if isinstance(courses, Summed):  # a likelihood costs the designs alone
        return courses
    sizes = courses.designs.sizes.astype(float)
    cost = float((sizes * np.minimum(sizes, LIMITS.long_points) ** 2).sum())
    least = int(np.clip(12_000 / courses.sizes.mean(), 8, 200)) if least is None else least
    if cost <= affordable or len(courses) <= least:
        return courses
    count = max(least, int(len(courses) * affordable / cost))
    if count >= len(courses):
        return courses
    chosen = np.random.default_rng(SAMPLE_SEED).choice(len(courses), count, replace=False)
    return courses.select(np.sort(chosen))
