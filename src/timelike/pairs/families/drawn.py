"""Families of courses, drawn together with all that is not known about them: their number, sizes, spread and noise.

Nothing is read off a single best answer: partitions, the spread within families, the noise, the noise of single courses
and the hyperparameters of a fitted model are drawn in turn, each given all others, so that what comes out is as sure as
the values make it and not surer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from timelike.base.arrays import Floats, Ints
from timelike.base.blas import one_thread_below
from timelike.base.own_noise import OwnNoise
from timelike.base.threads import progress
from timelike.courses import TimeCourses
from timelike.gp import GP
from timelike.gp.modelled import MAX_RANK
from timelike.pairs.families.chain import ONE, Chain
from timelike.pairs.families.known import Known, Sayings, Setting, evidence, sayings
from timelike.pairs.families.sizes import Sizes

CHAINS, UNTIL_STEADY, KEPT = 2, 60, 30
"""Chains from different starts; sweeps of each before anything is kept, and those that are, at least."""
STEPS = 3000
"""Courses that the sweeps of either kind look at, at least: few courses have more of them."""
STATES = 4
"""Partitions of each chain that other courses are held against."""
WIDE = 0.2
"""The spread that a chain begins with: few families, which then part."""
LEAST_SPREAD = 1e-5
LENGTHS = (1.0, 0.6, 0.8, 1.25, 1.6)
SIZES = (0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8)
NOISES = (0.2, 0.26, 0.34, 0.44, 0.57, 0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5)
ROUGH = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
SPREADS = 14
OWN = 7
"""Scales of the noise of a course."""
EQUAL = 50
"""Degrees of freedom from which on the noise of all courses is taken as one."""
SELDOM = 3
"""Sweeps between two looks at the setting, where courses have times of their own: it costs as much as a sweep."""


@dataclass(frozen=True, eq=False)
class State:
    """One partition, and the setting under which it was drawn."""

    setting: Setting
    scales: Floats
    family: Ints
    """The family of each course, (N,)."""
    scale_of: Ints
    """The scale of the noise of each course, (N,)."""
    counts: Floats
    """Courses of each family, (K,)."""
    concentration: int
    log_new: float
    """Log weight of a new family."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """What was drawn."""

    together: Floats
    """Probability that two courses are in one family, (N, N), one on the diagonal."""
    states: tuple[State, ...]
    """Some of the partitions."""


def draw(courses: TimeCourses, gp: GP, tolerance: float | None = None) -> Drawn:
    """Draw families of courses; the same for the same courses, in whatever order.

    With a `tolerance`, the courses of a family differ by so much, in the units of the values: the root mean square of
    the difference of two of them. Otherwise the spread is learned.
    """
    with one_thread_below():
        order = _order(sayings(gp.at(courses)).at(Setting()))
        chosen = courses.select(order.tolist())
        models = _models(chosen, gp)
        grids = _grids(models, gp, tolerance)
        total, states = np.zeros((len(courses), len(courses))), []
        steady, kept = (max(least, STEPS // len(courses)) for least in (UNTIL_STEADY, KEPT))
        stored = steady + (np.arange(1, STATES + 1) * kept) // STATES - 1
        with progress("families", CHAINS * (steady + kept), "sweep") as advance:
            for seed in range(CHAINS):
                run = _Run(models, grids, np.random.default_rng(seed), steady)
                for at in range(steady + kept):
                    run.step(at, total)
                    if at in stored:
                        states.append(run.state())
                    advance(1)
    back = np.argsort(order)
    together = total[np.ix_(back, back)] / (2 * CHAINS * kept)
    np.fill_diagonal(together, 1)
    same = [replace(one, family=one.family[back], scale_of=one.scale_of[back]) for one in states]
    return Drawn(np.clip(together, 0, 1), tuple(same))


def _order(known: Known) -> Ints:
    """The courses sorted by their own density, so that chance does not depend on the order in which they came."""
    return np.argsort(evidence(known.A, known.b) - known.squares / 2, kind="stable")


def _models(courses: TimeCourses, gp: GP) -> dict[int, Sayings]:
    """The courses under the model, and under other length scales where it was fitted and a small basis holds them."""
    here = [at_length(gp, length).at(courses) for length in lengths_of(gp)]
    one = len(courses.designs) == 1
    fits = [k for k, each in enumerate(here) if k == 0 or one or each.basis(MAX_RANK).reached]
    return {k: sayings(here[k]) for k in fits}


def lengths_of(gp: GP) -> tuple[float, ...]:
    """Length scales that are looked at, in units of the model's, which is the first and alone where it was given."""
    return (1.0,) if gp.log_likelihood is None else LENGTHS


def at_length(gp: GP, factor: float) -> GP:
    """A model with so many times the length scale; the same where its kernel has none."""
    from sklearn.base import clone

    kernel = clone(gp.kernel)
    scales = {name: value for name, value in kernel.get_params().items() if name.endswith("length_scale")}
    scales = {name: value for name, value in scales.items() if isinstance(value, (int, float, np.ndarray))}
    if factor == 1 or not scales:
        return gp
    return replace(gp, kernel=kernel.set_params(**{name: factor * value for name, value in scales.items()}))


def _grids(models: dict[int, Sayings], gp: GP, tolerance: float | None) -> dict[str, Sequence[float]]:
    """The values that each part of a setting may have. A model that was given is not doubted."""
    finest = min(max(0.2 / max(models[0].most, 1e-12), LEAST_SPREAD), 0.3)
    spreads = [LEAST_SPREAD, *np.geomspace(finest, 0.7, SPREADS - 1)]
    if tolerance is not None:
        spreads = [float(np.clip(tolerance**2 / (2 * gp.signal_sd**2), LEAST_SPREAD, 0.95))]
    if gp.log_likelihood is None:
        return {"spread": spreads}
    rough = {"rough": ROUGH} if models[0].can_be_rough else {}
    return {"spread": spreads, "noise": NOISES, "size": SIZES, **rough, "scale": list(models)}


class _Run:
    """One chain with its setting."""

    def __init__(
        self, models: dict[int, Sayings], grids: dict[str, Sequence[float]], rng: np.random.Generator, steady: int
    ) -> None:
        self.models, self.grids, self.rng, self.steady = models, grids, rng, steady
        spread = grids["spread"][int(np.argmin(np.abs(np.array(grids["spread"]) - WIDE)))]
        self.setting = Setting(spread=spread)
        known = models[0].at(self.setting)
        self.chain = Chain(known, Sizes.of(len(known.b)), rng)
        self.seldom = SELDOM if known.A.ndim > known.b.ndim else 1

    def step(self, at: int, together: Floats) -> None:
        """A sweep, splits and merges, and a new setting."""
        chain = self.chain
        chain.sweep(together if at >= self.steady else None)
        chain.reshape()
        if at % self.seldom == 0:
            self._draw_setting()
            if "noise" in self.grids and at >= self.steady // 2:
                chain.under(chain.known, _own_scales(chain))
        chain.concentration = self._drawn(chain.sizes.log_prior(chain.counts))

    def state(self) -> State:
        """The partition as it is now."""
        chain = self.chain
        new = chain.sizes.log_new(chain.concentration, len(chain.counts))
        now = chain.family.copy(), chain.scale_of.copy(), chain.counts.copy(), chain.concentration, new
        return State(self.setting, chain.scales, *now)

    def _draw_setting(self) -> None:
        """Each part of the setting, given the partition and the other parts."""
        for name, values in self.grids.items():
            if len(values) > 1:
                settings = [
                    self.setting._replace(**{name: value})  # type: ignore[arg-type]
                    for value in values
                ]
                known = [self.models[one.scale].at(one) for one in settings]
                k = self._drawn(np.array([self.chain.log_density(one) for one in known]))
                self.setting, self.chain.known = settings[k], known[k]
        self.chain.under(self.chain.known)

    def _drawn(self, logs: Floats) -> int:
        weights = np.exp(logs - logs.max())
        return int(self.rng.choice(len(logs), p=weights / weights.sum()))


def _own_scales(chain: Chain) -> Floats:
    """The scales that the noise of a course may have, equally probable; one where courses scatter alike."""
    from scipy.stats import chi2

    freedom = OwnNoise.learned(_residuals(chain), chain.known.sizes).freedom
    if freedom >= EQUAL:
        return ONE
    return np.asarray(freedom / chi2.ppf((np.arange(OWN)[::-1] + 0.5) / OWN, freedom))


def _residuals(chain: Chain) -> Floats:
    """Squares of what is left of each course by the curve of its family, in units of the common noise."""
    known, k = chain.known, chain.family
    if known.A.ndim == known.b.ndim:
        variance = 1 / (1 + chain.A)
        mean = (variance * chain.b)[k]
        left = (known.A * (mean**2 + variance[k])).sum(axis=1)
    else:
        covariance = np.linalg.inv(chain.A + np.eye(chain.A.shape[1]))
        mean = (covariance @ chain.b[:, :, None])[k, :, 0]
        left = (known.A * (mean[:, :, None] * mean[:, None, :] + covariance[k])).sum(axis=(1, 2))
    return np.maximum(known.squares - 2 * (known.b * mean).sum(axis=1) + left, 1e-12)
