"""Shapes that an effect can have over time, from a level to one that is new at every time, and sizes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from timelike.base.arrays import Floats
from timelike.courses.designs import distinct_points
from timelike.gp.kernels import on_clock, unclocked
from timelike.questions.joined import Joined

if TYPE_CHECKING:
    from sklearn.gaussian_process.kernels import Kernel

LEVEL, SMOOTH, ROUGH, BATCH = "level", "smooth", "rough", "batch"
SIZES = 8
LEAST = 0.5
"""Size of the smallest effects that are sought, in units of the noise of a typical value."""
FURTHER = 4.0
"""Steps between the sizes of effects that hardly any gene has."""
BATCH_SIZES = np.array([0.35, 0.6, 0.9])
"""How much the samples of a time can have in common without being a response, in units of the noise."""
LADDER = (1.0, 1 / 3)
"""Length scales of smooth effects, as shares of the span of the times on the model's clock; its own comes besides."""
APART = 1.4
"""Length scales that differ by less than this factor are one."""


class Shape(NamedTuple):
    """A kernel with variance 1, and the sizes that effects of it can have.

    Attributes
    ----------
    name
    kernel
    sizes
        Standard deviations.
    counts
        Whether it is an effect, or what happens to the samples of a time without being one. What is none has its
        sizes in units of the noise of the gene.
    """

    name: str
    kernel: Kernel | Joined
    sizes: Floats
    counts: bool = True


def shapes(kernel: Kernel, times: Floats, sizes: Floats, few: int, *, batches: bool) -> list[Shape]:
    """From the smoothest to the roughest: a level, the model's kernel on several length scales, independent steps.

    Parameters
    ----------
    kernel
        The model's.
    times : (P, 1)
        All that were measured.
    sizes
        Of effects.
    few
        Up to so many distinct times a rough effect can be told from noise.
    batches
        Whether samples of a time may have something in common that is no effect; only replicates can tell.
    """
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern

    distinct, _ = distinct_points(times)
    found = [Shape(LEVEL, ConstantKernel(1.0), sizes)]
    if len(distinct) == 1:
        return found
    shown = np.sort(on_clock(kernel, distinct)[:, 0])
    step = float(np.median(np.diff(shown)))
    smooth = _smooth(kernel, step if len(distinct) <= few else 0.0, float(np.ptp(shown)))
    found += [Shape(f"{SMOOTH} {i + 1}", one, sizes) for i, one in enumerate(smooth)]
    if len(distinct) <= few:
        rough = Joined(_clocked_as(kernel, Matern(step, nu=0.5)), distinct)
        found.append(Shape(ROUGH, rough, _larger_than_noise(sizes) if batches else sizes))
        if batches:
            own = RBF(float(np.diff(shown).min()) / 8)  # nothing in common between times
            found.append(Shape(BATCH, _clocked_as(kernel, own), BATCH_SIZES, counts=False))
    return found


def _smooth(kernel: Kernel, step: float, span: float) -> list[Kernel]:
    """The kernel on several length scales, the longest first; itself alone where it has none."""
    inside = unclocked(kernel)
    own = inside.get_params().get("length_scale")
    if own is None or np.ndim(own) > 0 or len(inside.hyperparameters) > 1:
        return [kernel]
    scales = [share * span for share in LADDER]
    if all(max(own / scale, scale / own) > APART for scale in scales) and step < own < span:
        scales.append(float(own))
    return [_clocked_as(kernel, inside.clone_with_theta(np.log([scale]))) for scale in sorted(scales, reverse=True)]


def _clocked_as(kernel: Kernel, inside: Kernel) -> Kernel:
    if unclocked(kernel) is kernel:
        return inside
    from timelike.gp.clock import Clocked

    return Clocked(inside, kernel.tau, kernel.start, "fixed")


def sizes_between(noise_sd: float, largest: float, furthest: float) -> Floats:
    """Standard deviations of effects, from half the noise to the largest that values show.

    Up to `largest` in small steps, and in large ones to the `furthest` of all: a gene whose effect is larger than any
    that is sought has none, only wild noise.
    """
    low = LEAST * noise_sd
    usual = np.geomspace(low, max(largest, 16 * low), SIZES)
    more = int(np.ceil(np.log(max(furthest / usual[-1], 1)) / np.log(FURTHER)))
    return np.concatenate([usual, usual[-1] * FURTHER ** np.arange(1, more + 1)])


def _larger_than_noise(sizes: Floats) -> Floats:
    """Sizes of effects that are new at every time: smaller ones cannot be told from batches of samples."""
    return sizes[sizes >= sizes[0] / LEAST]
