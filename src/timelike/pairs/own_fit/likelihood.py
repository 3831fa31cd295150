"""The likelihood of blocks of points under many sets of hyperparameters at once, with slope and curvature."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from timelike.base.arrays import Bools, Floats, Ints
from timelike.gp.stationary import Form
from timelike.pairs.own_fit.problems import Blocks


@dataclass(frozen=True, eq=False)
class Solved:
    """What ``C = signal K + noise / r + known`` does to values and mean, and the two parts of the log likelihood."""

    ones: Floats  # (P, B, m): C^-1 1
    weight: Floats  # (P,): 1^T C^-1 1
    alpha: Floats  # (P, B, m): C^-1 (y - mean)
    quadratic: Floats  # (P,)
    log_det: Floats  # (P,)


def solved(blocks: Blocks, lower: Floats, columns: Floats, noise: Floats) -> Solved:
    """From the Cholesky factor of C, and C^-1 applied to the values and to ones, (P, B, m, 2)."""
    log_det = 2 * np.log(np.diagonal(lower, axis1=-2, axis2=-1)).sum(axis=(1, 2))
    weight = dot(blocks.ones, columns[..., 1])
    weight += weight == 0  # a given mean: nothing to estimate, and the numerator is zero as well
    mean = (dot(blocks.ones, columns[..., 0]) / weight)[:, None, None]  # generalised least squares
    alpha = columns[..., 0] - mean * columns[..., 1]
    quadratic = dot(blocks.values, alpha) + blocks.within / noise
    return Solved(columns[..., 1], weight, alpha, quadratic, log_det + blocks.extra * np.log(noise))


def squared_distances(blocks: Blocks, length: Floats) -> Floats:
    """Squared distances within each block, in units of the length scale of its problem."""
    return (blocks.distances / length[:, None, None, None]) ** 2


def targets(blocks: Blocks) -> Floats:
    """What the covariance is solved for: values, and the ones that the mean multiplies."""
    return np.stack([blocks.values, blocks.ones], axis=-1)


def covariance(blocks: Blocks, K: Floats, noise: Floats) -> Floats:
    """Covariance of the values of each block, noise included."""
    C = K.copy()
    diagonal = np.einsum("pbii->pbi", C)
    diagonal += noise[:, None, None] * blocks.share + blocks.known
    return C


@dataclass(frozen=True, eq=False)
class Point:
    """Where climbs are: log (length scale, signal + noise variance, noise / signal), and the log likelihood there.

    The split of the variance is a parameter of its own because the data often hardly determine it: along a straight
    ridge Newton's steps are long, along the curved one of signal and noise variance they would be short.
    """

    parameters: Floats  # (P, 3)
    value: Floats  # (P,), up to a constant that both hypotheses share
    slope: Floats  # (P, 3)
    curvature: Floats  # (P, 3, 3)

    def move(self, where: Ints, there: Point, chosen: Bools) -> None:
        """Put the climbs `where` to those of the points `there` that were chosen."""
        for field in fields(self):
            getattr(self, field.name)[where] = getattr(there, field.name)[chosen]


def evaluate(blocks: Blocks, parameters: Floats, form: Form) -> Point:
    """Log likelihood, with the mean profiled out, and its first and second derivatives."""
    length, signal, noise = variances_of(parameters)
    K, K1, K2 = (signal[:, None, None, None] * k for k in form.entries(squared_distances(blocks, length)))
    lower = np.linalg.cholesky(covariance(blocks, K, noise))
    root = np.linalg.inv(lower)
    inverse = root.swapaxes(-1, -2) @ root
    s = solved(blocks, lower, inverse @ targets(blocks), noise)
    pushed, spread = _changes(s.alpha, inverse, (K1, K), noise[:, None, None] * blocks.share)
    slope = [dot(s.alpha, p) - np.einsum("pbii->p", G) for p, G in zip(pushed, spread, strict=True)]
    bend = dot(s.alpha, times_vector(K2, s.alpha)) - dot(inverse, K2)
    within = blocks.within / noise
    H = _products(s, inverse, pushed, spread)
    H[:, 0, 0] += 0.5 * bend
    H[:, 0, 1] += 0.5 * slope[0]
    H[:, 1, 0] += 0.5 * slope[0]
    H[:, 1, 1] += 0.5 * slope[1]
    H[:, 2, 2] += 0.5 * (slope[2] - within)
    slope[2] += within - blocks.extra
    value = -0.5 * (s.quadratic + s.log_det + blocks.constant)
    return Point(parameters, value, *_as_split(0.5 * np.stack(slope, axis=1), H, noise / (signal + noise)))


def variances_of(parameters: Floats) -> tuple[Floats, Floats, Floats]:
    """Length scale, signal variance, noise variance."""
    length, total, ratio = np.exp(parameters.T)
    return length, total / (1 + ratio), total * ratio / (1 + ratio)


def _as_split(slope: Floats, H: Floats, p: Floats) -> tuple[Floats, Floats]:
    """Derivatives in log (signal + noise), log (noise / signal) from those in log signal, log noise; p is noise / sum.

    ``log signal = log sum + log (1 - p)``, ``log noise = log sum + log p``, ``dp / d log ratio = p (1 - p)``.
    """
    J = np.zeros_like(H)
    J[:, 0, 0] = J[:, 1, 1] = J[:, 2, 1] = 1
    J[:, 1, 2], J[:, 2, 2] = -p, 1 - p
    curvature = J.swapaxes(1, 2) @ H @ J
    curvature[:, 2, 2] -= p * (1 - p) * (slope[:, 1] + slope[:, 2])
    return (slope[:, None, :] @ J)[:, 0], curvature


def _changes(
    alpha: Floats, inverse: Floats, full: tuple[Floats, Floats], diagonal: Floats
) -> tuple[list[Floats], list[Floats]]:
    """How C changes with log length scale, log signal and log noise variance, C_a, as far as the values notice.

    ``C_a alpha``, (P, B, m), and ``C^-1 C_a``, (P, B, m, m), for each of the three.
    """
    pushed = [*(times_vector(D, alpha) for D in full), diagonal * alpha]
    return pushed, [*(inverse @ D for D in full), inverse * diagonal[..., None, :]]


def _products(s: Solved, inverse: Floats, pushed: list[Floats], spread: list[Floats]) -> Floats:
    """``1/2 tr C^-1 C_a C^-1 C_b - alpha^T C_a P C_b alpha`` for each pair of parameters, (P, 3, 3).

    P is C^-1 less what the estimate of the mean takes up. It is the second derivative of the log likelihood but
    for ``1/2 (alpha^T C_ab alpha - tr C^-1 C_ab)``.
    """
    solved = [times_vector(inverse, p) for p in pushed]
    H = np.empty((len(s.weight), 3, 3))
    for a in range(3):
        for b in range(a, 3):
            taken = dot(pushed[a], s.ones) * dot(pushed[b], s.ones) / s.weight
            direct = dot(pushed[a], solved[b]) - taken
            trace = np.einsum("pbij,pbji->p", spread[a], spread[b])
            H[:, a, b] = H[:, b, a] = 0.5 * trace - direct
    return H


def times_vector(D: Floats, v: Floats) -> Floats:
    """Matrices times vectors, stack by stack."""
    return (D @ v[..., None])[..., 0]


def dot(a: Floats, b: Floats) -> Floats:
    """Sum of products of all entries of each problem."""
    return np.einsum("pi,pi->p", a.reshape(len(a), -1), b.reshape(len(b), -1))
