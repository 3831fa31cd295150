"""What courses say about the curve of a family, for every setting of what is not known about families.

A family has a curve, and each of its courses deviates from it, ``y_i = f + g_i + noise``; with the model's kernel K

    f ~ GP(0, size (1 - spread) K + rough I)      g_i ~ GP(0, spread K)      noise_i ~ N(0, noise R_0)

As everywhere, a course enters through its information (A, b) about f, and over the courses of a family it adds up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from timelike.base.arrays import Floats, Ints
from timelike.courses import TimeCourses
from timelike.gp.information import heights
from timelike.gp.modelled import Modelled

NEGLIGIBLE = 1e-3
"""Directions about which all courses together say less than this, in units of the prior, are left out."""
LONG = 64
"""Values of a course up to which what is rough about a curve has a direction for each of them."""


class Setting(NamedTuple):
    """What is not known about families."""

    scale: int = 0
    """Which of the length scales."""
    size: float = 1.0
    """Variance of the curves of families, in units of the model's."""
    spread: float = 0.0
    """Share of the variance that courses have each for themselves."""
    noise: float = 1.0
    """Noise variance, in units of the model's."""
    rough: float = 0.0
    """Variance of what is independent from time to time in the curve of a family, in units of the noise variance."""


class Known(NamedTuple):
    """What courses say under a setting; their noise and deviations may have a scale w of their own besides.

    With it, A and b are divided by w, and the density of a course without a curve is
    ``-1/2 (squares / w + sizes log w + log_det)``, up to a constant.
    """

    A: Floats
    """Information matrices, (N, r, r), or where all are diagonal (N, r)."""
    b: Floats
    """Information vectors, (N, r)."""
    squares: Floats
    """Sums of squares of values in units of noise and deviations, (N,)."""
    log_det: Floats
    """Log determinants of the covariances of noise and deviations, (N,)."""
    sizes: Floats
    """Numbers of values, (N,)."""


def evidence(A: Floats, b: Floats) -> Floats:
    """``E(A, b)`` of stacks of information, whose matrices may be diagonals."""
    if A.ndim > b.ndim:
        return heights(A, b)
    return np.asarray((b * b / (1 + A) - np.log1p(A)).sum(axis=-1) / 2)


class Sayings(Protocol):
    """Courses under one length scale."""

    def at(self, setting: Setting) -> Known:
        """What they say under a setting."""

    @property
    def most(self) -> float:
        """The most that a course says about a direction, in units of the prior."""

    @property
    def can_be_rough(self) -> bool:
        """Whether curves of families may have a rough part."""


def sayings(here: Modelled) -> Sayings:
    """What courses say under a model, prepared for any setting."""
    return OneDesign.of(here) if len(here.courses.designs) == 1 else ManyDesigns.of(here)


@dataclass(frozen=True, eq=False)
class OneDesign:
    """Courses that share their times: in the axes of the kernel, in units of the noise, all is independent."""

    variances: Floats
    """Prior variances along the axes, (r,)."""
    z: Floats
    """Values along the axes, (N, r)."""
    rest: Floats
    """Sum of squares along all others, (N,)."""
    length: int
    """Values of each course."""
    can_be_rough: bool

    @classmethod
    def of(cls, here: Modelled) -> OneDesign:
        """From courses under a model."""
        courses, length = here.courses, int(here.courses.sizes[0])
        sd = np.sqrt(here.noise_variances)
        values = (courses.values.reshape(len(courses), length) - here.gp.mean) / sd
        variances, axes = np.linalg.eigh(*_unit_covariance(here, sd))
        variances, z = np.maximum(variances, 0), values @ axes
        rough = length <= LONG and len(np.unique(courses.designs.points, axis=0)) == length
        kept = np.full(length, True) if rough else variances * len(courses) > NEGLIGIBLE
        rest = (z[:, ~kept] ** 2).sum(axis=1)
        return cls(variances[kept], z[:, kept], rest, length, rough)

    @property
    def most(self) -> float:
        """The most that a course says about a direction, in units of the prior."""
        return float(self.variances.max(initial=0.0))

    def at(self, setting: Setting) -> Known:
        """What they say under a setting."""
        own = setting.noise + setting.spread * self.variances
        shared = setting.size * (1 - setting.spread) * self.variances + setting.rough
        count = len(self.z)
        A = np.broadcast_to(shared / own, self.z.shape)
        squares = (self.z**2 / own).sum(axis=1) + self.rest / setting.noise
        unseen = (self.length - len(own)) * np.log(setting.noise)
        log_det = np.full(count, np.log(own).sum() + unseen)
        b = self.z * (np.sqrt(shared) / own)
        return Known(A, b, squares, log_det, np.full(count, float(self.length)))


def _unit_covariance(here: Modelled, sd: Floats) -> tuple[Floats]:
    features = here.basis()[np.arange(len(sd))] / sd[:, None]
    return (features @ features.T,)


@dataclass(frozen=True, eq=False)
class ManyDesigns:
    """Courses with times of their own: the information of each design in its eigenvectors."""

    gains: Floats
    """Eigenvalues of A, (G, r)."""
    axes: Floats
    """Eigenvectors, (G, r, r)."""
    z: Floats
    """b along them, (N, r)."""
    squares: Floats
    """Sums of squares in units of the noise, (N,)."""
    sizes: Floats
    design_of: Ints
    can_be_rough: bool = False

    @classmethod
    def of(cls, here: Modelled) -> ManyDesigns:
        """From courses under a model."""
        found, courses = here.information, here.courses
        told, directions = np.linalg.eigh(found.total()[0])
        kept = directions[:, told > NEGLIGIBLE]
        gains, axes = np.linalg.eigh(kept.T @ found.A @ kept)
        z = ((found.b @ kept)[:, None, :] @ axes[found.design_of])[:, 0]
        return cls(np.maximum(gains, 0), axes, z, _squares(here), courses.sizes.astype(float), found.design_of)

    @property
    def most(self) -> float:
        """The most that a course says about a direction, in units of the prior."""
        return float(self.gains.max(initial=0.0))

    def at(self, setting: Setting) -> Known:
        """What they say under a setting."""
        spread = setting.spread / setting.noise
        shrink = 1 / (1 + spread * self.gains)
        shared = setting.size * (1 - setting.spread)
        A = (self.axes * (shared / setting.noise * self.gains * shrink)[:, None, :]) @ self.axes.transpose(0, 2, 1)
        turned = self.z * shrink[self.design_of] * (np.sqrt(shared) / setting.noise)
        b = (self.axes[self.design_of] @ turned[:, :, None])[:, :, 0]
        less = (spread * shrink[self.design_of] * self.z**2).sum(axis=1)
        log_det = np.log1p(spread * self.gains).sum(axis=1)[self.design_of] + self.sizes * np.log(setting.noise)
        return Known(A[self.design_of], b, (self.squares - less) / setting.noise, log_det, self.sizes)


def _squares(here: Modelled) -> Floats:
    courses: TimeCourses = here.courses
    each = (courses.values - here.gp.mean) ** 2 / here.noise_variances[courses.design_rows]
    return np.add.reduceat(each, courses.starts[:-1])
