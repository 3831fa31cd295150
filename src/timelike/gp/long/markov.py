"""The likelihood of long courses under a Matern kernel: exact, at a cost that grows with their length and no faster.

Under a Matern kernel of half-integer order a curve and its derivatives at one time, its state, are all that the past
says about the future. A course is read in blocks of neighbouring values, from the first on. With W, the part of the
state's covariance that the values so far explain, and m, its expectation, a block's values have the covariance
``K - U W U^T + R`` and the expectation ``U m``, where U leads from the state to the curve at the block's times.
Derivatives are carried along.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from timelike.base.arrays import Floats
from timelike.gp.kernels import unclocked
from timelike.gp.long.padded import InMean, Padded, added, in_mean
from timelike.gp.positive_definite import inverse_and_log_det
from timelike.gp.stationary import FORMS, Form, blocks

if TYPE_CHECKING:
    from sklearn.gaussian_process.kernels import Kernel

BLOCK = 24
"""Points of a block: more would cost more multiplications, fewer more steps."""
FAR = 700.0
"""Exponents beyond this are as good as infinite."""


# -- states --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Dynamics:
    """How the state moves under a Matern kernel, in times on which the kernel falls like exp(-a)."""

    rate: float
    """``a = rate u`` for a distance of u length scales."""
    F: Floats
    """``dz / da = F z`` + noise, (d, d)."""
    prior: Floats
    """Covariance of the state, (d, d)."""

    @cached_property
    def powers(self) -> Floats:
        """``N^j / j!`` with ``N = F + I``, whose d-th power is zero, (d, d, d)."""
        N = self.F + np.eye(len(self.F))
        factorials = np.cumprod([1, *range(1, len(N))])
        return np.stack([np.linalg.matrix_power(N, j) / factorials[j] for j in range(len(N))])

    def transition(self, a: Floats) -> Floats:
        """``exp(F a)``, (..., d, d)."""
        a = np.minimum(a, FAR)
        terms = np.exp(-a)[..., None] * a[..., None] ** np.arange(len(self.F))
        return np.tensordot(terms, self.powers, axes=1)


DYNAMICS = {
    FORMS["matern12"]: Dynamics(1.0, np.array([[-1.0]]), np.eye(1)),
    FORMS["matern32"]: Dynamics(3**0.5, np.array([[0.0, 1], [-1, -2]]), np.eye(2)),
    FORMS["matern52"]: Dynamics(
        5**0.5,
        np.array([[0.0, 1, 0], [0, 0, 1], [-1, -3, -3]]),
        np.array([[1, 0, -1 / 3], [0, 1 / 3, 0], [-1 / 3, 0, 1]]),
    ),
}
"""The forms that have a state."""


# -- evaluation -----------------------------------------------------------------------------------------------


def markov(batches: Iterable[Padded], form: Form, kernel: Kernel, signal: float, noise: float) -> InMean:
    """Log likelihood and gradient of all batches at a kernel, signal and noise variance."""
    return added([_summary(batch, _Model(kernel, form, signal, noise)) for batch in batches])


class _Model(NamedTuple):
    kernel: Kernel
    form: Form
    signal: float
    noise: float

    @property
    def dynamics(self) -> Dynamics:
        return DYNAMICS[self.form]

    def clock(self, times: Floats) -> tuple[Floats, Floats]:
        """Times in which the kernel falls like exp(-a), and their derivatives in the directions, (T, ...)."""
        bare = unclocked(self.kernel)
        rate = self.dynamics.rate / float(np.squeeze(bare.length_scale))
        if bare is self.kernel:
            a = rate * times
            return a, np.stack([-a] * bare.n_dims + [0 * a] * 2)
        a = rate * self.kernel.time(times)
        in_tau = [rate * self.kernel.slope(times)] * (self.kernel.n_dims - bare.n_dims)
        return a, np.stack([-a] * bare.n_dims + in_tau + [0 * a] * 2)

    def variances(self, known: Floats) -> tuple[Floats, Floats]:
        """Noise variances in units of the signal variance, and their derivatives, (T, ...).

        The last two directions are those of the signal variance and of the noise variance.
        """
        r = (self.noise + known) / self.signal
        zero = [0 * r] * self.kernel.n_dims
        return r, np.stack([*zero, -r, np.full_like(r, self.noise / self.signal)])


class _Block(NamedTuple):
    """Values of all designs that are next to each other, with what leads to them; derivatives (T, ...) beside."""

    K: Floats
    """Kernel and noise, (G, B, B)."""
    dK: Floats
    U: Floats
    """From the state before to the curve, (G, B, d)."""
    dU: Floats
    A: Floats
    """From the state before to the state at the last value, (G, d, d)."""
    dA: Floats
    Z: Floats
    """Prior covariance of the state at the last value with the curve, (G, d, B)."""
    dZ: Floats
    values: Floats
    """Rows, and ones, (G, R + 1, B)."""


class _Known(NamedTuple):
    """What the values so far say about the state, and its derivatives."""

    W: Floats
    dW: Floats
    m: Floats
    """Expectations, one for each row and the ones, (G, R + 1, d)."""
    dm: Floats


class _Sums(NamedTuple):
    """Log determinants, (1 + T,), and the products with the inverse, of y with y, y with 1, 1 with 1, (1 + T, 3)."""

    log_det: Floats
    products: Floats


def _summary(batch: Padded, model: _Model) -> InMean:
    """Log likelihood and gradient of one batch."""
    directions, G, d = model.kernel.n_dims + 2, len(batch.times), len(model.dynamics.F)
    rows = batch.rows.shape[1] + 1
    known = _Known(
        np.zeros((G, d, d)), np.zeros((directions, G, d, d)), np.zeros((G, rows, d)), np.zeros((directions, G, rows, d))
    )
    log_det, products = np.zeros(1 + directions), np.zeros((1 + directions, 3))
    for start in range(0, batch.times.shape[1], BLOCK):
        known, sums = _step(known, _block(batch, model, start), batch)
        log_det, products = log_det + sums.log_det, products + sums.products
    # Everything was in units of the signal variance, which stands before all of it.
    count = batch.counts @ batch.sizes
    value = products / model.signal * [1, 2, 1]
    value[:, 0] += log_det
    value[0, 0] += count * np.log(model.signal)
    value[-2] -= products[0] / model.signal * [1, 2, 1]
    value[-2, 0] += count
    polynomials = -0.5 * in_mean(*value.T)
    return InMean(polynomials[:, 0], polynomials[:, 1:], np.zeros(3))


def _block(batch: Padded, model: _Model, start: int) -> _Block:
    here = slice(start, start + BLOCK)
    times, there = batch.times[:, here], batch.there[:, here].astype(float)
    before = batch.times[:, max(start - 1, 0), None]
    a, da = model.clock(np.concatenate([before, times], axis=1))
    since, dsince = a[:, 1:] - a[:, :1], da[:, :, 1:] - da[:, :, :1]
    left, dleft = a[:, -1:] - a[:, 1:], da[:, :, -1:] - da[:, :, 1:]
    move = model.dynamics
    A = move.transition(since)
    U = A[:, :, 0] * there[..., None]
    Z = np.moveaxis(move.transition(left) @ move.prior[0], 1, 2) * there[:, None]
    K, dK = blocks(model.kernel, model.form, times[..., None])
    r, dr = model.variances(batch.variances[:, here])
    return _Block(
        *_with_noise(K, dK, np.where(there > 0, r, 1.0), dr * there, there),
        U=U,
        dU=(U @ move.F) * dsince[..., None],
        A=A[:, -1],
        dA=(A[:, -1] @ move.F) * dsince[:, :, -1, None, None],
        Z=Z,
        dZ=(move.F @ Z) * dleft[:, :, None],
        values=np.concatenate([batch.rows[:, :, here], there[:, None]], axis=1),
    )


def _with_noise(K: Floats, dK: Floats, r: Floats, dr: Floats, there: Floats) -> tuple[Floats, Floats]:
    """The kernel with noise on its diagonal, and its derivatives in all directions, (T, G, B, B)."""
    both, i = there[:, :, None] * there[:, None], np.arange(there.shape[1])
    K, slopes = K * both, np.zeros((*dr.shape, dr.shape[-1]))
    slopes[: dK.shape[-1]] = np.moveaxis(dK, -1, 0) * both
    K[:, i, i] += r
    slopes[:, :, i, i] += dr
    return K, slopes


def _step(known: _Known, block: _Block, batch: Padded) -> tuple[_Known, _Sums]:
    """What is known behind the block, and what the block adds to the likelihood."""
    W, dW, m, dm = known
    K, dK, U, dU, A, dA, Z, dZ, values = block
    UW, AW = U @ W, A @ W
    C = K - UW @ _t(U)
    dUW = dU @ W + U @ dW
    dC = dK - dUW @ _t(U) - UW @ _t(dU)
    inverse, log_det = inverse_and_log_det(C)
    X, dX = Z - AW @ _t(U), dZ - (dA @ W + A @ dW) @ _t(U) - AW @ _t(dU)
    e, de = values - m @ _t(U), -(dm @ _t(U) + m @ _t(dU))
    alpha, Y = e @ inverse, X @ inverse
    turned = alpha @ dC
    later = _Known(
        W=AW @ _t(A) + Y @ _t(X),
        dW=_both(dA @ _t(AW)) + A @ dW @ _t(A) + _both(dX @ _t(Y)) - Y @ dC @ _t(Y),
        m=m @ _t(A) + alpha @ _t(X),
        dm=dm @ _t(A) + m @ _t(dA) + alpha @ _t(dX) + (de - turned) @ _t(Y),
    )
    first, slopes = _threes(e, alpha, batch), _threes(2 * de - turned, alpha, batch)
    traces = (inverse * dC).sum(axis=(-2, -1)) @ batch.counts
    return later, _Sums(np.array([log_det @ batch.counts, *traces]), np.array([first, *slopes]))


def _t(matrices: Floats) -> Floats:
    return np.swapaxes(matrices, -2, -1)


def _both(matrices: Floats) -> Floats:
    return matrices + _t(matrices)


def _threes(left: Floats, right: Floats, batch: Padded) -> Floats:
    """Sums of products of y with y, y with 1 (from both sides, halved), and 1 with 1, (..., 3)."""
    y, one, z, other = left[..., :-1, :], left[..., -1:, :], right[..., :-1, :], right[..., -1:, :]
    mixed = ((y * other).sum(axis=-1) + (one * z).sum(axis=-1)) / 2
    sums = (
        (y * z).sum(axis=(-3, -2, -1)),
        (mixed * batch.weights).sum(axis=(-2, -1)),
        (one * other).sum(axis=(-2, -1)) @ batch.counts,
    )
    return np.stack(sums, axis=-1)
