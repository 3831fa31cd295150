"""Effects: what is left of the information about a difference when everything else is summed out. Pure arrays.

A gene's values under all its conditions say ``(A, b)`` about its curves, in coordinates that conditions have each for
themselves. What is of no interest (the level, the curve that conditions share) is eliminated; what is left about an
effect ``x = G w``, ``w ~ N(0, variance I)``, has a spectrum, and from the spectrum the evidence for the effect follows
for every variance of it and every scale of the noise at once:

    E = 1/2 sum [variance u^2 / s^2 / (1 + variance l / s) - log(1 + variance l / s)]
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from timelike.base.arrays import Floats

NEGLIGIBLE = 1e-10
"""Precision of what is free, in units of what the values say about it."""


class Known(NamedTuple):
    """What the values of many genes say, with noise of scale 1."""

    A: Floats
    """Information matrices, (n, p, p)."""
    b: Floats
    """Information vectors, (n, p)."""
    squares: Floats
    """Sum of squares that nothing explains yet, in units of the noise, (n,)."""
    freedom: Floats
    """Values less what was eliminated and is free, (n,)."""
    log_det: Floats
    """Logarithm of the determinant of the precision of what was eliminated, (n,)."""
    sized: Floats | float = 0.0
    """How much of `squares` is the size of what was eliminated; the rest is its distance from the values, (n,)."""
    taken: Floats | float = 0.0
    """How much of `freedom` that takes: the trace of what turns values into their fit, (n,)."""
    taken_twice: Floats | float = 0.0
    """The trace of its square, (n,)."""


class Spectrum(NamedTuple):
    """An effect in the axes in which what is known about it is independent."""

    values: Floats
    """What is known about each axis, (n, q)."""
    loads: Floats
    """What was seen along each axis, (n, q)."""
    axes: Floats
    """The axes, one a column, (n, q, q)."""


def eliminated(known: Known, factor: Floats, free: int) -> Known:
    """What is known when ``factor @ w`` is summed out: the first `free` of w are anything, the others N(0, s).

    s is the scale of the noise, so that everything but the effects scales with it.

    Parameters
    ----------
    known
    factor : (p, q)
    free
        How many of the columns have no size: levels, or curves about which nothing is assumed.
    """
    seen = factor.T @ known.A  # (n, q, p)
    precision = seen @ factor
    said = np.einsum("nii->ni", precision)
    weight = np.ones(factor.shape[1])
    most = said[:, :free].max(axis=1, keepdims=True, initial=1e-300)
    prior = np.where(np.arange(len(weight)) < free, NEGLIGIBLE * most, weight)
    index = np.arange(len(weight))
    held = precision.copy()
    precision[:, index, index] += prior
    right = np.concatenate([seen, (known.b @ factor)[:, :, None], held], axis=2)
    solved = np.linalg.solve(precision, right)
    p = factor.shape[0]
    A = known.A - seen.transpose(0, 2, 1) @ solved[:, :, :p]
    b = known.b - (seen.transpose(0, 2, 1) @ solved[:, :, p, None])[:, :, 0]
    explained = ((known.b @ factor) * solved[:, :, p]).sum(axis=1)
    used, sure = np.einsum("nii->ni", solved[:, :, p + 1 :]), solved[:, free:, p + 1 + free :]
    return Known(
        (A + A.transpose(0, 2, 1)) / 2,
        b,
        squares=np.maximum(known.squares - explained, 0),
        freedom=known.freedom - used[:, :free].sum(axis=1),
        log_det=np.linalg.slogdet(precision)[1] + known.log_det,
        sized=(solved[:, free:, p] ** 2).sum(axis=1),
        taken=used[:, free:].sum(axis=1),
        taken_twice=np.einsum("nij,nji->n", sure, sure),
    )


def residual(rest: Known) -> tuple[Floats, Floats]:
    """Squares that what was eliminated leaves of the values, and their degrees of freedom, (n,) each.

    What has a size fits a share of each direction, so that squares are a sum of chi-squares with weights; these are
    those of the chi-square with their mean and variance (Satterthwaite 1946).
    """
    mean = np.maximum(rest.freedom - rest.taken, 0)
    spread = np.maximum(rest.freedom - 2 * rest.taken + rest.taken_twice, 0)
    weight = np.divide(mean, spread, out=np.zeros_like(mean), where=spread > NEGLIGIBLE)
    return np.maximum(rest.squares - rest.sized, 0) * weight, mean * weight


def spectrum(known: Known, effect: Floats) -> Spectrum:
    """What is known about an effect ``effect @ w``, w ~ N(0, variance I), effect (p, q)."""
    values, axes = np.linalg.eigh(effect.T @ known.A @ effect)
    loads = ((known.b @ effect)[:, None, :] @ axes)[:, 0]
    return Spectrum(np.maximum(values, 0), loads, axes)


def evidence(found: Spectrum, variance: Floats | float, scales: Floats) -> Floats:
    """Log likelihood ratio of an effect of this variance (n, m) to none, at each scale of the noise (n, m)."""
    part = variance / scales
    ratio, share, pull, logs = (np.zeros_like(part) for _ in range(4))  # made once: every pass over them is short
    for value, load in zip(found.values.T, found.loads.T, strict=True):  # few axes, many genes
        np.multiply(part, value[:, None], out=ratio)
        logs += np.log1p(ratio, out=share)
        ratio += 1
        pull += np.divide(load[:, None] ** 2, ratio, out=share)
    pull *= part / scales
    pull -= logs
    pull /= 2
    return pull
