"""The likelihood of long courses under a kernel whose length scale is short: far apart, values do not know each other.

In the order of time the covariance matrix then has entries along its diagonal alone. It is cut into blocks, each
linked to the one before it and the one behind it; block by block the matrix is factored, and its inverse computed where
the matrix has entries. With two blocks this is any matrix, so no length scale is too long, only slow.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from timelike.base.arrays import Floats
from timelike.gp.kernels import unclocked
from timelike.gp.long.padded import InMean, Padded, added, in_mean
from timelike.gp.positive_definite import inverse_and_log_det
from timelike.gp.stationary import Form, blocks

if TYPE_CHECKING:
    from sklearn.gaussian_process.kernels import Kernel

SMALLEST = 16
"""Points of a block, at least."""
NUMBERS = 1_000_000
"""Entries of the matrices that are worked on at once."""
NOTHING = 1e-17
"""A kernel below this is zero, also when a thousand values are summed."""


def banded(batches: Iterable[Padded], form: Form, kernel: Kernel, signal: float, noise: float) -> InMean:
    """Log likelihood and gradient of all batches at a kernel, signal and noise variance."""
    parts = []
    for batch in batches:
        size = block_size(batch, form, kernel)
        step = max(1, NUMBERS // (4 * size * batch.times.shape[1]))
        some = (batch[start : start + step] for start in range(0, len(batch.times), step))
        parts += [_summary(each, size, form, kernel, signal, noise) for each in some]
    return added(parts)


def reach(form: Form) -> float:
    """From so many length scales on, the kernel is nothing."""
    u = np.geomspace(1, 100, 2000)
    return float(u[np.argmax(form.value_and_slope(u**2)[0] < NOTHING)])


def block_size(batch: Padded, form: Form, kernel: Kernel) -> int:
    """Points of a block, so many that no value knows one beyond the next block."""
    bare = unclocked(kernel)
    times = batch.times if bare is kernel else kernel.time(batch.times)
    far, size, longest = reach(form) * float(np.squeeze(bare.length_scale)), SMALLEST, times.shape[1]
    while 2 * size < longest:
        first, last = times[:, 2 * size :: size], times[:, size - 1 :: size]
        behind = batch.there[:, 2 * size :: size]
        if (~behind | (first - last[:, : first.shape[1]] >= far)).all():
            return size
        size *= 2
    return -(-longest // 2)


# -- one batch -----------------------------------------------------------------------------------------------


def _summary(batch: Padded, size: int, form: Form, kernel: Kernel, signal: float, noise: float) -> InMean:
    """Log likelihood and gradient of one batch."""
    there = _cut(batch.there.astype(float), size)
    K, dK = _windows(_cut(batch.times, size, fill="edge"), there, form, kernel)
    chain = _Chain.factored(signal * K, np.where(there > 0, noise + _cut(batch.variances, size), 1.0))
    inverse, trace = chain.inverse_windows(), (chain.inverse_diagonal * there).sum(axis=(0, 2))
    # Blocks on the diagonal are part of two windows, and count once.
    for each in (K, dK):
        each[:-1, :, size:, size:] = 0
    ones = batch.weights[:, :, None] * batch.there[:, None]
    vectors = [_cut(each, size) for each in (batch.rows, ones)]
    solved = [chain.solve(each) for each in vectors]
    a, b, c = _threes(solved, vectors)
    value = -0.5 * in_mean(a + batch.counts @ chain.log_det, 2 * b, c)
    windows = [np.concatenate([each[:-1], each[1:]], axis=3) for each in solved]
    gradients = []
    for matrix in (*np.moveaxis(dK, -1, 0), K):
        a, b, c = _threes(windows, [each @ matrix for each in windows])
        gradients.append(signal * in_mean(a - np.einsum("g,wgij,wgij->", batch.counts, inverse, matrix), 2 * b, c))
    a, b, c = _threes(solved, solved)
    gradients.append(noise * in_mean(a - batch.counts @ trace, 2 * b, c))
    return InMean(value, np.stack(gradients, axis=1) / 2, np.zeros(3))


def _threes(left: list[Floats], right: list[Floats]) -> tuple[float, float, float]:
    """Sums of the products of y with y, y with 1, and 1 with 1."""
    (y, one), (z, other) = left, right
    return float(np.vdot(y, z)), float(np.vdot(y, other)), float(np.vdot(one, other))


def _cut(values: Floats, size: int, fill: Literal["constant", "edge"] = "constant") -> Floats:
    """Values (..., N) block by block, (n, ..., size), with at least two blocks."""
    count = max(2, -(-values.shape[-1] // size))
    missing = [(0, 0)] * (values.ndim - 1) + [(0, count * size - values.shape[-1])]
    filled = np.pad(values, missing, mode=fill).reshape(*values.shape[:-1], count, size)
    return np.ascontiguousarray(np.moveaxis(filled, -2, 0))


def _windows(times: Floats, there: Floats, form: Form, kernel: Kernel) -> tuple[Floats, Floats]:
    """The kernel within each two neighbouring blocks, (n - 1, G, 2 s, 2 s), and its gradient; zero behind the end."""
    pairs, mask = (np.concatenate([each[:-1], each[1:]], axis=2) for each in (times, there))
    K, dK = blocks(kernel, form, pairs.reshape(-1, pairs.shape[2], 1))
    both = mask[..., :, None] * mask[..., None, :]
    return K.reshape(both.shape) * both, dK.reshape(*both.shape, -1) * both[..., None]


class _Chain(NamedTuple):
    """Matrices of n blocks, each linked to its neighbours, factored from the first on.

    With the blocks ``C_a`` on the diagonal and ``O_a`` below: ``D_0 = C_0``, ``D_(a+1) = C_(a+1) - G_a O_a^T`` where
    ``G_a = O_a D_a^-1``.
    """

    inverses: list[Floats]
    """``D_a^-1``, each (G, s, s)."""
    gains: list[Floats]
    """``G_a``, each (G, s, s)."""
    log_det: Floats
    """(G,)."""
    inverse_diagonals: list[Floats]
    """Blocks of the inverse on the diagonal, each (G, s, s)."""

    @classmethod
    def factored(cls, windows: Floats, variances: Floats) -> _Chain:
        """From matrices in windows, (n - 1, G, 2 s, 2 s), to whose diagonal the variances (n, G, s) are added."""
        size = variances.shape[2]
        i = np.arange(size)
        D = windows[0][:, :size, :size].copy()
        D[:, i, i] += variances[0]
        inverse, log_det = inverse_and_log_det(D)
        inverses, gains = [inverse], []
        for window, added_variance in zip(windows, variances[1:], strict=True):
            below = window[:, size:, :size]
            gains.append(below @ inverses[-1])
            D = window[:, size:, size:] - gains[-1] @ below.transpose(0, 2, 1)
            D[:, i, i] += added_variance
            inverse, more = inverse_and_log_det(D)
            log_det = log_det + more
            inverses.append(inverse)
        diagonals = [inverses[-1]]
        for inverse, gain in zip(inverses[-2::-1], gains[::-1], strict=True):
            diagonals.append(inverse + gain.transpose(0, 2, 1) @ diagonals[-1] @ gain)
        return cls(inverses, gains, log_det, diagonals[::-1])

    def solve(self, rows: Floats) -> Floats:
        """The inverse of each design's matrix times its rows; rows are (n, G, R, s)."""
        forward = [rows[0]]
        for row, gain in zip(rows[1:], self.gains, strict=True):
            forward.append(row - forward[-1] @ gain.transpose(0, 2, 1))
        solved = [forward[-1] @ self.inverses[-1]]
        for row, inverse, gain in zip(forward[-2::-1], self.inverses[-2::-1], self.gains[::-1], strict=True):
            solved.append(row @ inverse - solved[-1] @ gain)
        return np.stack(solved[::-1])

    @property
    def inverse_diagonal(self) -> Floats:
        """The diagonal of the inverse, (n, G, s)."""
        return np.stack([np.diagonal(each, axis1=1, axis2=2) for each in self.inverse_diagonals])

    def inverse_windows(self) -> Floats:
        """The inverse within each two neighbouring blocks, (n - 1, G, 2 s, 2 s)."""
        below = [-later @ gain for later, gain in zip(self.inverse_diagonals[1:], self.gains, strict=True)]
        both = zip(self.inverse_diagonals[:-1], below, self.inverse_diagonals[1:], strict=True)
        return np.stack([np.block([[a, b.transpose(0, 2, 1)], [b, c]]) for a, b, c in both])
