"""How sure it is that two courses share a curve: probabilities of pairs, and lists of them at a stated error rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from timelike.base import checks, odds
from timelike.base.arrays import Bools, Floats, Ints
from timelike.base.blas import one_thread_below
from timelike.courses import TimeCourses
from timelike.exceptions import InputError
from timelike.gp import GP
from timelike.gp.freedom import freedom
from timelike.gp.information import Information, chunks
from timelike.pairs.aligned.route import route_of
from timelike.pairs.families.drawn import State, at_length, draw, lengths_of
from timelike.pairs.families.known import Known, evidence, sayings
from timelike.pairs.families.sizes import CONCENTRATIONS
from timelike.pairs.routes import DenseRoute, InformationRoute, Route, grid_route

MOST = 600
"""Courses whose families are drawn; of more, so many are drawn at random, and the others are held against theirs."""
ROWS, PAIRS = 200, 4_000_000
"""Courses, and pairs of them with others, from which prior odds are learned where families cannot be drawn."""
LEAST = 0.5
"""Pairs that are less probable than this are on no list."""


class Sureness(Protocol):
    """How sure it is that courses share a curve."""

    def block(self, rows: Ints, cols: Ints) -> Floats:
        """Probabilities of the courses `rows` with the courses `cols`, (R, C)."""


@dataclass(frozen=True, eq=False)
class About:
    """What was compared: all that is needed to say how sure an answer is."""

    courses: TimeCourses
    gp: GP
    others: TimeCourses | None = None
    up_to: Sequence[str] | str = ()
    max_delay: float | None = None
    _made: dict[float | None, Sureness] = field(default_factory=dict, repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return About, (self.courses, self.gp, self.others, self.up_to, self.max_delay)

    @property
    def first(self) -> int:
        """Position of the first course that a column stands for, among all courses."""
        return 0 if self.others is None else len(self.courses)

    def sure(self, tolerance: float | None = None) -> Sureness:
        """How sure it is that they share a curve, learned when it is first asked for."""
        if tolerance is not None and not (checks.is_number(tolerance) and tolerance > 0):
            raise InputError(f"tolerance is {tolerance!r}: expected a number above zero, in the units of the values.")
        if tolerance not in self._made:
            both = self.courses if self.others is None else self.courses.joined(self.others)
            self._made[tolerance] = _learned(both, self.gp, self.up_to, self.max_delay, tolerance)
        return self._made[tolerance]

    def pairs(self, rows: Ints, cols: Ints) -> Floats:
        """Probabilities of pairs, each of a row and a column, in the shape of both."""
        sure, found = self.sure(), np.empty(rows.shape)
        for i in np.unique(rows):
            at = rows == i
            found[at] = sure.block(np.array([i]), cols[at] + self.first)[0]
        return found

    def matrix(self, tolerance: float | None = None) -> Floats:
        """Probabilities of all pairs, (N, N), symmetric with ones on the diagonal; against others (N, M)."""
        sure, rows = self.sure(tolerance), np.arange(len(self.courses))
        cols = rows if self.others is None else self.first + np.arange(len(self.others))
        found = np.empty((len(rows), len(cols)))
        for part in chunks(len(rows), len(cols)):
            found[part] = sure.block(rows[part], cols)
        if self.others is None:
            lower = np.tril_indices(len(rows), -1)
            found[lower] = found.T[lower]
            np.fill_diagonal(found, 1)
        return found


def unknown(what: str) -> InputError:
    """The error where it is not known what was compared."""
    return InputError(
        f"{what} does not know the courses it is about, so nothing can be learned from them: compare them again, "
        "tl.similarity(courses, gp).probabilities(), or ask tl.similar_pairs(courses, gp, fdr=0.05)."
    )


def _learned(courses: TimeCourses, gp: GP, up_to: Any, max_delay: Any, tolerance: float | None) -> Sureness:
    here = gp.at(courses, freedom(courses, gp, up_to, max_delay))
    way = here.once(route_of)
    if here.free or isinstance(way, DenseRoute):
        if tolerance is not None:
            why = "with up_to" if here.free else "where the kernel is too rough for a small basis"
            raise InputError(f"{why}, courses are the same or not: leave out tolerance.")
        return ByOdds.learned(way, len(courses))
    if len(courses) <= MOST:
        return ByFamilies(draw(courses, gp, tolerance).together)
    sample = np.sort(np.random.default_rng(0).permutation(len(courses))[:MOST])
    states = draw(courses.select(sample.tolist()), gp, tolerance).states
    with one_thread_below():
        return Held(tuple(_Beside.of(one, sample, courses, gp) for one in states))


# -- three ways to be sure -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ByFamilies:
    """Courses whose families were drawn: the share of draws in which two are in one family."""

    together: Floats

    def block(self, rows: Ints, cols: Ints) -> Floats:
        """Probabilities of the courses `rows` with the courses `cols`, (R, C)."""
        return self.together[np.ix_(rows, cols)]


@dataclass(frozen=True, eq=False)
class ByOdds:
    """The same curve or independent ones: two hypotheses, the odds of which are learned from all pairs."""

    way: Route
    log_odds: float

    @classmethod
    def learned(cls, way: Route, count: int) -> ByOdds:
        """With the most likely odds, from the pairs of some courses with all."""
        rows = np.random.default_rng(0).permutation(count)[: max(1, min(ROWS, PAIRS // count))]
        scores = np.empty((len(rows), count))
        way.tile(rows, np.arange(count), scores)
        known = scores[rows[:, None] != np.arange(count)]
        kinds = odds.learned(known[:, None, None], np.ones((len(known), 1), dtype=bool)).kinds
        return cls(way, float(np.log(kinds[1]) - np.log(kinds[0])))

    def block(self, rows: Ints, cols: Ints) -> Floats:
        """Probabilities of the courses `rows` with the courses `cols`, (R, C)."""
        from scipy.special import expit

        scores = np.empty((len(rows), len(cols)))
        self.way.tile(rows, cols, scores)
        return np.asarray(expit(scores + self.log_odds))


@dataclass(frozen=True, eq=False)
class Held:
    """Courses held against the families of some of them: in one of those, or in a new one, perhaps the same."""

    states: tuple[_Beside, ...]

    def block(self, rows: Ints, cols: Ints) -> Floats:
        """Probabilities of the courses `rows` with the courses `cols`, (R, C)."""
        total = np.zeros((len(rows), len(cols)))
        for state in self.states:
            total += state.block(rows, cols)
        return total / len(self.states)


@dataclass(frozen=True, eq=False)
class _Beside:
    """All courses beside one partition of some of them.

    With shares r of the families there are, and r_0 of a new one, two courses are in one family with the probability
    ``(r_i . r_j + x) / (1 + x)``, where ``x = r_i0 r_j0 exp(s) (g + 1) / new`` is for one new family against two.
    """

    shares: Floats
    """Of each family there is for each course, (N, K)."""
    log_new: Floats
    """Log of the share of a new family for each course, (N,)."""
    way: Route
    """Similarities under the setting of the partition."""
    log_odds: float

    @classmethod
    def of(cls, state: State, sample: Ints, courses: TimeCourses, gp: GP) -> _Beside:
        """All courses beside a partition of those of a sample."""
        model = at_length(gp, lengths_of(gp)[state.setting.scale])
        known = sayings(model.at(courses)).at(state.setting)
        logs = _log_weights(state, known, sample)
        top = logs.max(axis=1, keepdims=True)
        total = top + np.log(np.exp(logs - top).sum(axis=1, keepdims=True))
        shares = np.exp(logs - total)
        g = CONCENTRATIONS[state.concentration]
        way = _route(known, courses)
        return cls(shares[:, :-1], (logs - total)[:, -1], way, float(np.log1p(g) - state.log_new))

    def block(self, rows: Ints, cols: Ints) -> Floats:
        """Probabilities of the courses `rows` with the courses `cols`, (R, C)."""
        from scipy.special import expit

        log_x = np.empty((len(rows), len(cols)))
        self.way.tile(rows, cols, log_x)
        log_x += self.log_new[rows][:, None] + self.log_new[cols] + self.log_odds
        new = expit(log_x)
        return np.asarray(self.shares[rows] @ self.shares[cols].T * (1 - new) + new)


def _route(known: Known, courses: TimeCourses) -> Route:
    """The route for courses whose information was prepared."""
    one = known.A.ndim == known.b.ndim
    A = np.diag(known.A[0])[None] if one else known.A
    design_of = np.zeros(len(courses), dtype=np.intp) if one else np.arange(len(courses))
    found = Information(A, known.b, design_of)
    return grid_route(found) if one else InformationRoute.of(found)


def _log_weights(state: State, known: Known, sample: Ints) -> Floats:
    """Log weight of each family for each course, and of a new one, (N, K + 1); those of a sample without themselves."""
    A, b = _sums(state, known, sample)
    heights, size = evidence(A, b), state.counts + CONCENTRATIONS[state.concentration]
    logs = np.full((len(known.b), len(size) + 1), -np.inf)
    bare = np.full(len(known.b), -np.inf)
    for w in state.scales:
        plain = -(known.squares / w + known.sizes * np.log(w)) / 2
        alone = evidence(known.A / w, known.b / w) + plain
        bare = np.logaddexp(bare, alone)
        for part in chunks(len(known.b), A.size):
            joined = evidence(A + known.A[part, None] / w, b + known.b[part, None] / w) - heights
            logs[part, :-1] = np.logaddexp(logs[part, :-1], joined + plain[part, None] + np.log(size))
    logs[:, -1] = state.log_new + bare
    _without_themselves(logs, state, known, sample)
    return logs


def _sums(state: State, known: Known, sample: Ints) -> tuple[Floats, Floats]:
    """Information of each family, in the coordinates of all courses."""
    w = state.scales[state.scale_of]
    A = np.zeros((len(state.counts), *known.A.shape[1:]))
    b = np.zeros((len(state.counts), known.b.shape[1]))
    np.add.at(A, state.family, known.A[sample] / w.reshape(-1, *[1] * (known.A.ndim - 1)))
    np.add.at(b, state.family, known.b[sample] / w[:, None])
    return A, b


def _without_themselves(logs: Floats, state: State, known: Known, sample: Ints) -> None:
    """For the courses of a sample, the weight of their own family is that of the others in it."""
    k, w = state.family, state.scales[state.scale_of]
    own_A, own_b = known.A[sample], known.b[sample]
    A, b = _sums(state, known, sample)
    A, b = A[k] - own_A / w.reshape(-1, *[1] * (own_A.ndim - 1)), b[k] - own_b / w[:, None]
    left = evidence(A, b)
    count = state.counts[k] - 1
    total = np.full(len(sample), -np.inf)
    for scale in state.scales:
        joined = evidence(A + own_A / scale, b + own_b / scale)
        plain = -(known.squares[sample] / scale + known.sizes[sample] * np.log(scale)) / 2
        total = np.logaddexp(total, joined - left + plain)
    size = np.log(count + CONCENTRATIONS[state.concentration])
    logs[sample, k] = np.where(count > 0, total + size, -np.inf)


# -- lists ---------------------------------------------------------------------------------------------------------


def check_rate(fdr: Any) -> None:
    """Raise if this is no false discovery rate."""
    if not (checks.is_number(fdr) and 0 < fdr <= 1):
        raise InputError(f"fdr is {fdr!r}: expected a number above 0, at most 1.")


def listed(probability: Floats, fdr: float) -> tuple[Bools, Floats]:
    """Which pairs are on the longest list with at most this expected share of false ones; the share down to each.

    Examples
    --------
    >>> keep, share = listed(np.array([0.8, 1.0, 0.4, 0.98]), fdr=0.05)
    >>> keep, share.round(3)
    (array([False,  True, False,  True]), array([0.073, 0.   , 0.205, 0.01 ]))
    """
    share = odds.running_fdr(probability)
    return (probability >= LEAST) & (share <= fdr), share
