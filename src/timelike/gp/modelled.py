"""Courses under a model: their noise, basis and information, each computed once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from timelike.base.arrays import Floats
from timelike.exceptions import InputError
from timelike.gp.basis import LEAST_NOISE, Basis, basis
from timelike.gp.freedom import NONE, Freedom
from timelike.gp.information import Information, information, stacked
from timelike.gp.kernels import check_coordinates
from timelike.gp.rough import as_independent, times_of

if TYPE_CHECKING:
    from timelike.courses import TimeCourses
    from timelike.gp import GP

T = TypeVar("T")

MAX_RANK = 96
"""A basis with more functions than this is not small."""


@dataclass(frozen=True, eq=False)
class Modelled:
    """Courses under a model, ``gp.at(courses)``: what is asked for twice is computed once.

    Examples
    --------
    >>> import timelike as tl
    >>> courses, _ = tl.simulate.profiles(seed=1)
    >>> here = tl.GP.se(length_scale=0.9, signal_sd=0.7, noise_sd=0.08).at(courses)
    >>> found = here.information
    >>> found.A.shape, found.b.shape      # one grid, 150 courses, 9 basis functions
    ((1, 9, 9), (150, 9))
    """

    courses: TimeCourses
    gp: GP
    free: Freedom = NONE
    """In what courses may differ from their curve: with delays, `points` and `information` have all of them."""
    _made: dict[Callable[..., Any], Any] = field(default_factory=dict, repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return Modelled, (self.courses, self.gp, self.free)  # what was made of them does not travel

    def once(self, make: Callable[[Modelled], T]) -> T:
        """What `make` makes of the courses under the model, made when it is first asked for."""
        if make not in self._made:
            self._made[make] = make(self)
        return self._made[make]

    def under(self, gp: GP) -> Modelled:
        """The same courses, free in the same, under another model."""
        return gp.at(self.courses, self.free)

    def freed(self, free: Freedom) -> Modelled:
        """The same courses under the same model, free in something else."""
        return self.gp.at(self.courses, free)

    @cached_property
    def noise_variances(self) -> Floats:
        """Noise variance at every point of the designs: the model's, plus the known error's, (P,).

        With a rough part, those of independent values that say as much, see :mod:`timelike.gp.rough`.
        """
        designs, rough = self.courses.designs, self.gp.rough_sd**2
        own = self.value_noise
        return as_independent(own, rough, *times_of(designs.points, designs.starts)) if rough else own

    @cached_property
    def value_noise(self) -> Floats:
        """Noise variance of a single value at every point of the designs, without a rough part, (P,)."""
        points = self.courses.designs.points
        check_coordinates(self.gp.kernel, points.shape[1])
        variances = self.gp.noise_sd**2 + self.courses.designs.variances
        if variances.min() <= 0:
            raise InputError(
                "the noise variance is zero: with no noise, two courses are the same only if they are equal to the "
                "last digit. Give a noise_sd above zero, or an error above zero for every value."
            )
        largest = float(self.gp.covariance.diag(points).max())
        if variances.min() < LEAST_NOISE * largest:
            raise InputError(
                f"the noise (standard deviation {np.sqrt(variances.min()):.3g}) is too small against the signal "
                f"({np.sqrt(largest):.3g}) for double precision: give a noise_sd of at least "
                f"{np.sqrt(LEAST_NOISE * largest):.2g}."
            )
        return variances

    @property
    def least_noise(self) -> float:
        """The smallest noise variance: what the error of a basis is measured against."""
        return float(self.noise_variances.min())

    @cached_property
    def points(self) -> Floats:
        """The points of the designs as their curves see them: once for each delay, so much earlier, (D P, d)."""
        known = self.courses.designs.points
        if self.free.delays == NONE.delays:
            return known
        return np.concatenate([known - delay for delay in self.free.delays])

    def basis(self, most: int | None = None) -> Basis:
        """The basis of the points of all designs, as exact as the noise demands; not `reached` with `most` functions.

        It is made again only where an earlier one stopped before it was exact.
        """
        found: Basis | None = self._made.get(basis)
        beyond = found is not None and most is not None and len(found.pivots.points) > most
        if found is None or not (found.reached or beyond):
            found = self._made[basis] = basis(self.gp.covariance, self.points, self.least_noise, most)
        return replace(found, reached=False) if beyond else found

    @cached_property
    def information(self) -> Information:
        """What each course says about its curve."""
        return self.information_on(self.basis())

    def information_on(self, phi: Basis) -> Information:
        """What each course says about its curve, on a basis of :attr:`points`.

        With D delays, as of D times as many courses, of so many times the designs, delay after delay.
        """
        each = len(self.courses.designs.points)
        rows = [phi.row[start : start + each] for start in range(0, len(self.points), each)]
        known = self.courses, self.gp.mean, self.noise_variances
        return stacked([information(*known, replace(phi, row=row), level=self.free.level) for row in rows])

    def smooth(self) -> Modelled:
        """These courses, to be summed into sets; an error where the kernel is too rough for that."""
        if not self.basis(None if len(self.courses.designs) == 1 else MAX_RANK).reached:
            raise InputError(
                f"the kernel is too rough for curves at so many different times: more than {MAX_RANK} basis functions. "
                "Take a smoother kernel ('se'), or cluster the similarities (spectral, hierarchical)."
            )
        return self
