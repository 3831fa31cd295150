"""New courses beside those that were clustered: what both say on one basis, part after part.

What a new course shows of its curve beyond the basis of the clustered courses, these know nothing of. Where that basis
is exact it is the new course's own, as deviations are: however rough the kernel, there are no more functions than the
clustered courses need. Where it is only as exact as their noise demands, curves are smooth, and a few more functions
serve many new courses.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from timelike.base.arrays import Ints
from timelike.clusters.curves.bound import AnySpread, AtSpread, rescaled, sample, with_own
from timelike.courses.designs import offsets
from timelike.exceptions import InputError
from timelike.gp.basis import RELATIVE_ERROR, Basis, basis
from timelike.gp.modelled import Modelled

if TYPE_CHECKING:
    from timelike.clusters.curves.curve_clustering import CurveClustering
    from timelike.courses import TimeCourses

MORE = 32
"""So many functions may be added to the basis of the clustered courses for some new ones."""
NUMBERS = 20_000_000
"""New courses are worked on in parts of so many numbers."""


class Part(NamedTuple):
    """Some of the new courses, what they say, and what those that were clustered say on the same basis."""

    which: Ints
    new: AtSpread
    old: AtSpread


def parts(found: CurveClustering, new_courses: TimeCourses) -> Iterator[Part]:
    """All new courses, so many at a time that they fit into memory."""
    if new_courses.designs.points.shape[1] != found.courses.designs.points.shape[1]:
        raise InputError("the two sets of courses have points with different numbers of coordinates.")
    known = _Known(found)
    there = found.gp.at(new_courses, found.free)
    for which in _cuts(known, there):
        yield from known.beside(there, which)


def _cuts(known: _Known, there: Modelled) -> list[Ints]:
    """The new courses by their designs, cut where there would be too many numbers."""
    courses, nodes = there.courses, len(known.data.nodes)
    order = np.argsort(courses.design_of, kind="stable")
    first = np.diff(courses.design_of[order], prepend=-1) != 0
    width = known.rank + MORE + courses.sizes[order]
    numbers = np.cumsum(nodes * (width + known.found.k) + first * nodes * width**2)
    return np.split(order, np.flatnonzero(np.diff(numbers // NUMBERS)) + 1)


@dataclass(frozen=True, eq=False)
class _Known:
    """The courses that were clustered."""

    found: CurveClustering

    @cached_property
    def phi(self) -> Basis:
        """Their basis."""
        return self.found.here.basis()

    @property
    def rank(self) -> int:
        """Number of functions."""
        return len(self.phi.pivots.points)

    @cached_property
    def data(self) -> AnySpread:
        """What they say on it."""
        return self._on(self.phi)

    def _on(self, phi: Basis) -> AnySpread:
        data = sample(self.found.here, phi, self.found.deviation_scale)
        return replace(data, noise=self.found.noise)

    @cached_property
    def state(self) -> AtSpread:
        """The same at the spread that was found."""
        return self.data.at(self.found.spread)

    def beside(self, there: Modelled, which: Ints) -> Iterator[Part]:
        """Some of the new courses, all at once or, where they have too little in common, in halves."""
        here, some = self.found.here, Modelled(there.courses.select(which), there.gp, there.free)
        points, least = np.concatenate([here.points, some.points]), min(here.least_noise, some.least_noise)
        joint = basis(self.found.gp.covariance, points, least, self.rank + MORE if len(which) > 1 else None)
        if joint.reached:
            new = self._shown(some, replace(joint, row=joint.row[len(here.points) :]))
            yield Part(which, new, self._on(joint).at(self.found.spread))
        elif np.sqrt(self.phi.error * self.phi.rest(some.points).max()) <= RELATIVE_ERROR * least:
            features = replace(self.phi, phi=self.phi.at(some.points), row=np.arange(len(some.points)))
            yield Part(which, self._with_own(some, features, known=False), self.state)
        else:
            for half in np.array_split(which, 2):
                yield from self.beside(there, half)

    def _shown(self, some: Modelled, phi: Basis) -> AtSpread:
        """What new courses say on a basis that shows all of their curves."""
        if self.data.scale != 1:
            return self._with_own(some, phi, known=True)
        return replace(sample(some, phi), noise=self.found.noise).at(self.found.spread)

    def _with_own(self, some: Modelled, phi: Basis, *, known: bool) -> AtSpread:
        """The same with what each course has of its own, and with all that a basis does not show, if not `known`."""
        whole, deviation = self.found.gp.covariance, rescaled(self.found.gp.covariance, self.data.scale)
        sizes = np.tile(some.courses.designs.sizes, len(some.free.delays))
        own = np.zeros((len(some.points), int(sizes.max())))
        for start, end in pairwise(offsets(sizes)):
            points, features = some.points[start:end], phi[slice(start, end)]
            C = self.found.spread**2 * deviation(points)
            if not known:
                C += whole(points) - features @ features.T
            weight, vectors = np.linalg.eigh(C)
            own[start:end, : len(points)] = vectors * np.sqrt(np.maximum(weight, 0))
        data = with_own(some, phi, own, np.eye(phi.phi.shape[1]), self.data.scale)
        return replace(data, noise=self.found.noise).at(1.0)
