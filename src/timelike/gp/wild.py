"""Wild values: single measurements that neither the other values of their course nor a response of it explain.

A value is judged against three hypotheses, by their evidence. It is an ordinary value; or it is wild, which is to say
that it has a variance of its own, as wide as it takes; or the course responds there: the value, its replicates and
neighbouring values share a deviation that the model did not expect. Only a wild value loses weight.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from timelike.base.arrays import Floats, Ints
from timelike.base.tiles import spans
from timelike.courses import TimeCourses
from timelike.courses.designs import frozen
from timelike.gp.judgement import Hypothesis, Shares, State, Verdict, judged, log_odds, wild_gains
from timelike.gp.modelled import MAX_RANK
from timelike.gp.rough import shared

if TYPE_CHECKING:
    from timelike.gp import GP
    from timelike.gp.modelled import Modelled

AS_USUAL = Shares()
"""How common wild values, responses and noisy courses are taken to be before anything was seen."""
LEAST = (1e-4, 1e-4, 0.03)
"""So rare wild values, responses and noisy courses can become."""
KNOWN = (100, 100, 20)
"""What is taken for their shares before anything was seen counts as so many values and courses."""
ROUNDS = 4
"""How often shares and values are judged in turn, at most."""
CLOSE = 0.35
"""Shares that differ by less than this, in logarithms, lead to the same verdicts on nearly all values."""
LEARNERS = 5_000
"""So many values of courses with a suspicious one, at most, decide about the shares."""
NOISIER = (1.0, 3.0, 9.0, 27.0)
"""How many times the noise variance a course may have."""
LEAST_NOISE = 1e-9
"""Noise variance / signal variance below which values are judged as if it were that."""
FAR, FAR_PRIOR = 1e4, 10.0
"""Values further off than this many times the noise, and the standard deviation of all, are as good as there."""
NEAR = 6.0
"""Squares of standard deviations within which no value is wild, whatever the shares."""
BLOCK = 200_000
"""Values that are looked at in one go."""


@dataclass(frozen=True, eq=False)
class Wild:
    """Wild values, (M,) each, in the order of the values of all courses."""

    at: Ints
    """Where among the values of all courses, see :attr:`timelike.TimeCourses.values`."""
    width: Floats
    """Which variance each has besides that of an ordinary value."""
    weight: Floats
    """How much each counts against an ordinary value: its variance is the noise variance divided by this."""
    expected: Floats
    """What the other values of its course let expect."""
    z: Floats
    """How many standard deviations off that is."""
    crowded: int = 0
    """Courses in which more than a third of the values would be wild."""
    shares: Shares = AS_USUAL
    """How common all of it is taken to be."""

    def __len__(self) -> int:
        return len(self.at)

    def weighed(self, courses: TimeCourses) -> TimeCourses:
        """The courses with errors that say what each value counts; the courses themselves where no value is wild."""
        if not len(self):
            return courses
        variances = courses.designs.variances[courses.design_rows]
        variances[self.at] += self.width
        return courses.with_errors(np.sqrt(variances))

    def tamed(self, courses: TimeCourses) -> TimeCourses:
        """The courses with an ordinary value in the place of what is wild, to learn their size from."""
        values = courses.values.copy()
        values[self.at] = np.median(np.delete(values, self.at))
        return TimeCourses(courses.names, courses.designs, courses.design_of, frozen(values))


NONE = Wild(np.empty(0, dtype=np.intp), np.empty(0), np.empty(0), np.empty(0), np.empty(0))
"""No wild values."""


def wild_values(courses: TimeCourses, gp: GP, shares: Shares = AS_USUAL) -> Wild:
    """The wild values of the courses under a model, and how little each counts; all others have their full weight.

    How common wild values, responses and noisy courses are is learned from all courses, from `shares` on. At most a
    third of a course can be wild: beyond that it is the course that is different, not a value. Points with several
    coordinates have no neighbours in time; there nothing is judged.

    Examples
    --------
    >>> import timelike as tl
    >>> flat = [0.1, -0.1, 0.0, 0.1, 0.0, -0.1, 0.1, 0.0]
    >>> courses = tl.TimeCourses.from_arrays(range(8), [flat, flat])
    >>> spoilt = tl.TimeCourses.from_arrays(range(8), [flat, [*flat[:3], 5.0, *flat[4:]]])
    >>> gp = tl.GP.se(3.0, signal_sd=1.0, noise_sd=0.1)
    >>> len(wild_values(courses, gp)), wild_values(spoilt, gp).at
    (0, array([11]))
    """
    if courses.designs.points.shape[1] > 1:
        return NONE
    here = gp.at(courses)
    return _collected(here, *_all_judged(here, _highest_gains(here), shares))


# -- all courses ---------------------------------------------------------------------------------------------------


def _highest_gains(here: Modelled) -> Floats:
    """For each course, what the log evidence gains at most if one of its values is wild, (N,); none if all are near."""
    courses = here.courses
    highest = np.full(len(courses), -np.inf)
    if len(courses.designs) > 1 and (phi := here.basis(MAX_RANK)).reached:
        rank = phi.phi.shape[1]
        for designs, members in courses.by_size():
            if courses.sizes[members[0]] <= rank:
                _gains_of_short(here, designs, members, highest)
            else:
                _gains_by_design(here, designs, highest)
    else:
        _gains_by_design(here, np.arange(len(courses.designs)), highest)
    return highest


def _gains_by_design(here: Modelled, designs: Ints, highest: Floats) -> None:
    """Fill in the courses of some designs, one design after the other."""
    for g in designs:
        members, noise, values = here.courses.members[g], noise_of(here, g), here.courses.values_on(g)
        P = Precision.of(here, g, noise)
        for rows in spans(slice(0, len(members)), max(1, BLOCK // len(noise))):
            a = P.times(values[rows] - here.gp.mean)
            highest[members[rows]] = _highest(P.diagonal, a, noise)


def _gains_of_short(here: Modelled, designs: Ints, members: Ints, highest: Floats) -> None:
    """Fill in the courses of designs that have equally few points, many designs at once."""
    courses, phi, noises = here.courses, here.basis(MAX_RANK), here.once(_noise)
    size = int(courses.designs.sizes[designs[0]])
    number = np.searchsorted(designs, courses.design_of[members])
    order = np.argsort(number, kind="stable")
    for some in spans(slice(0, len(designs)), max(1, BLOCK // (size * (size + phi.phi.shape[1])))):
        rows = courses.designs.starts[designs[some]][:, None] + np.arange(size)
        own, noise = phi[rows], noises[rows]
        rough = shared(courses.designs.points[rows], here.gp.rough_sd)
        P = np.linalg.inv(own @ own.transpose(0, 2, 1) + rough + noise[:, :, None] * np.eye(size))
        here_of = order[slice(*np.searchsorted(number[order], [some.start, some.stop]))]
        which, at = number[here_of] - some.start, members[here_of]
        residuals = courses.values[courses.starts[at][:, None] + np.arange(size)] - here.gp.mean
        a = np.einsum("kij,kj->ki", P[which], residuals)
        highest[at] = _highest(np.diagonal(P, axis1=1, axis2=2)[which], a, noise[which])


def _highest(p: Floats, a: Floats, noise: Floats) -> Floats:
    """What courses gain at most, (N,), from the diagonal p of P, a and noise variances; none where all are near."""
    far = (a**2 / p).max(axis=1) > NEAR
    p, noise = (x[far] if x.ndim > 1 else x for x in (p, noise))
    highest = np.full(len(a), -np.inf)
    highest[far] = wild_gains(p, a[far], noise).max(axis=1)
    return highest


@dataclass(frozen=True, eq=False)
class Precision:
    """Inverse covariance of the values of a course, (n, n): as it is, or ``diag(1 / noise) - H^T H``, (r, n)."""

    noise: Floats
    H: Floats | None
    dense: Floats

    @classmethod
    def of(cls, here: Modelled, g: int, noise: Floats) -> Precision:
        """That of design g with these noise variances; by the basis where it has fewer functions than values."""
        designs, rough_sd = here.courses.designs, here.gp.rough_sd
        if len(designs) == 1 or rough_sd or not (phi := here.basis(MAX_RANK)).reached:
            C = here.gp.covariance(designs[g]) + shared(designs[g], rough_sd)
            return cls(noise, None, np.linalg.inv(C + np.diag(noise)))
        own = phi[slice(designs.starts[g], designs.starts[g + 1])]
        if own.shape[1] >= len(own):
            return cls(noise, None, np.linalg.inv(own @ own.T + np.diag(noise)))
        scaled = (own / noise[:, None]).T
        lower = np.linalg.cholesky(np.eye(len(scaled)) + scaled @ own)
        return cls(noise, np.linalg.solve(lower, scaled), np.empty((0, 0)))

    @cached_property
    def matrix(self) -> Floats:
        """All of it."""
        return self.dense if self.H is None else np.diag(1 / self.noise) - self.H.T @ self.H

    @cached_property
    def diagonal(self) -> Floats:
        """Its diagonal, (n,)."""
        return np.diagonal(self.dense) if self.H is None else 1 / self.noise - (self.H**2).sum(axis=0)

    def times(self, rows: Floats) -> Floats:
        """The product with each row, (N, n)."""
        return rows @ self.dense if self.H is None else rows / self.noise - (rows @ self.H.T) @ self.H


def noise_of(here: Modelled, g: int) -> Floats:
    """Noise variances at the points of design g."""
    starts = here.courses.designs.starts
    return here.once(_noise)[starts[g] : starts[g + 1]]


def _noise(here: Modelled) -> Floats:
    """Noise variances at all points of the designs; not so small that rounding would make values wild."""
    return np.maximum(here.value_noise, LEAST_NOISE * here.gp.covariance.diag(here.courses.designs.points).max())


@dataclass(frozen=True, eq=False)
class Design:
    """A design while courses that have it are judged: under each factor of the noise variance."""

    P: Floats
    """Inverse covariances, (F, n, n)."""
    noise: Floats
    """Noise variances, (F, n)."""
    roots: Floats
    """Logarithms of the root of the determinant of P, (F,)."""
    sd: Floats
    """How far values are from the mean, as a standard deviation, (n,)."""
    step: Ints

    @classmethod
    def of(cls, here: Modelled, g: int) -> Design:
        """Design g of the courses."""
        noise = noise_of(here, g)
        P = np.stack([Precision.of(here, g, factor * noise).matrix for factor in NOISIER])
        step = np.unique(here.courses.designs[g][:, 0], return_inverse=True)[1].ravel()
        sd = np.sqrt(here.gp.covariance.diag(here.courses.designs[g]) + here.gp.rough_sd**2 + noise)
        return cls(P, np.outer(NOISIER, noise), np.linalg.slogdet(P)[1] / 2, sd, step)

    def judged(self, residual: Floats, shares: Shares) -> Verdict:
        """What came out about a course of this design.

        Values are judged as if they were not beyond all bounds, where double precision would decide.
        """
        most = FAR * np.sqrt(self.noise[0]) + FAR_PRIOR * self.sd
        near = np.clip(residual, -most, most)
        found = self._judged(near, shares)
        return found._replace(wild=[value.shifted(residual[value.j] - near[value.j]) for value in found.wild])

    def _judged(self, residual: Floats, shares: Shares) -> Verdict:
        a = self.P @ residual
        ceilings = self.roots + np.log(noise_priors(shares.noisy))
        states = map(State, self.P, a, self.noise)
        evidences = ceilings - a @ residual / 2
        return judged(list(map(Hypothesis, states, evidences.tolist(), ceilings.tolist())), self.step, shares)


def noise_priors(noisy: float) -> Floats:
    """The prior of each factor of the noise variance: the larger, the rarer."""
    rare = 1 / np.array(NOISIER[1:])
    return np.array([1 - noisy, *(noisy * rare / rare.sum())])


def _suspicious(highest: Floats, shares: Shares) -> Ints:
    """Courses that have a value which would rather be wild than ordinary."""
    return np.flatnonzero(highest + log_odds(shares.wild) > 0)


def _judged(here: Modelled, chosen: Ints, shares: Shares) -> dict[int, Verdict]:
    """What came out about some of the courses."""
    courses = here.courses
    found: dict[int, Verdict] = {}
    for g in np.unique(courses.design_of[chosen]):
        design = Design.of(here, g)
        for i in chosen[courses.design_of[chosen] == g]:
            residual = courses.values[courses.starts[i] : courses.starts[i + 1]] - here.gp.mean
            found[int(i)] = design.judged(residual, shares)
    return found


def _all_judged(here: Modelled, highest: Floats, shares: Shares) -> tuple[dict[int, Verdict], Shares]:
    """What came out about all courses with a suspicious value, and how common wild values are, learned from them."""
    shares = _at_most(highest, shares, here.courses)
    for _ in range(ROUNDS):
        chosen = _suspicious(highest, shares)
        few = chosen[:: 1 + int(here.courses.sizes[chosen].sum()) // LEARNERS]
        verdicts = _judged(here, few, shares)
        before, shares = shares, _counted(verdicts, len(chosen) / max(len(few), 1), here.courses)
        if np.abs(np.log(shares) - np.log(before)).max() < CLOSE:
            break
    return verdicts if len(few) == len(chosen) else _judged(here, chosen, before), before


def _at_most(highest: Floats, shares: Shares, courses: TimeCourses) -> Shares:
    """The shares, if there are so many courses with a suspicious value: two wild values in each, at most."""
    for _ in range(ROUNDS):
        most = (1 + 2 * len(_suspicious(highest, shares))) / (KNOWN[0] + len(courses.values))
        shares = shares._replace(wild=max(min(shares.wild, most), LEAST[0]))
    return shares


def _counted(verdicts: dict[int, Verdict], each: float, courses: TimeCourses) -> Shares:
    """How common all of it is, if each verdict stands for so many courses."""
    found = verdicts.values()
    wild = sum(value.probability for verdict in found for value in verdict.wild)
    counts = each * np.array([wild, sum(v.responses for v in found), sum(v.noisy for v in found)])
    totals = np.array([len(courses.values), len(courses.values), len(courses)])
    known = np.array(KNOWN)
    return Shares(*np.clip((known * AS_USUAL + counts) / (known + totals), LEAST, 0.5).tolist())


def _collected(here: Modelled, verdicts: dict[int, Verdict], shares: Shares) -> Wild:
    """The wild values of all courses, in their order."""
    courses = here.courses
    rows = [(courses.starts[i] + w.j, w.width, w.difference, w.z) for i, v in verdicts.items() for w in v.wild]
    place, width, difference, z = np.array(sorted(rows), dtype=float).reshape(-1, 4).T
    at = place.astype(np.intp)
    noise = here.value_noise[courses.design_rows[at]]
    crowded = sum(v.crowded for v in verdicts.values())
    return Wild(at, width, noise / (noise + width), courses.values[at] - difference, z, crowded, shares)
