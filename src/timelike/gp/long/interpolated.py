"""The likelihood of long courses under a smooth kernel, at a cost that does not grow with their length.

A curve that is smooth on the scale of the nodes is a polynomial between them: ``k(x, x') = T(x)^T c T(x')`` with
Chebyshev polynomials ``T_0, ..., T_(m-1)`` and the coefficients c of the kernel between m Chebyshev nodes. As
``T_i T_j = (T_(i+j) + T_|i-j|) / 2``, all that a course measured at points with noise variances R says is in 2 m
moments, ``sum of T_j / R``, and m projections, ``sum of T_j y / R``. Without known errors they are computed once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from timelike.base.arrays import Bools, Floats
from timelike.gp.kernels import unclocked
from timelike.gp.long.padded import InMean, Padded, added, in_mean
from timelike.gp.positive_definite import inverse_and_log_det

if TYPE_CHECKING:
    from sklearn.gaussian_process.kernels import Kernel

    from timelike.gp.clock import Clocked

TOLERANCE = 1e-17
"""No entry of the kernel is off by more than this, but for rounding."""
STEP = 8
"""Numbers of nodes are multiples of this: neighbouring places of a search have the same nodes."""
NUMBERS = 250_000
"""Entries of the matrices that are worked on at once."""


# -- nodes ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ruler:
    """Times on a line from -1 to 1, on which curves are polynomials: plain times, or those on a clock nearby."""

    low: float
    high: float
    """The first and the last time."""
    tau: float | None = None
    start: float | None = None

    @property
    def clock(self) -> Clocked | None:
        """The clock of the ruler."""
        from timelike.gp.clock import Clocked

        return None if self.tau is None else Clocked(None, self.tau, self.start)

    def ends(self) -> tuple[float, float]:
        """First and last time on the clock."""
        ends = np.array([self.low, self.high])
        first, last = ends if self.clock is None else self.clock.time(ends)
        return float(first), float(last)

    def of(self, times: Floats) -> Floats:
        """Places of times, in the shape of `times`."""
        first, last = self.ends()
        on_clock = times if self.clock is None else self.clock.time(times)
        return np.clip((2 * on_clock - (first + last)) / (last - first), -1, 1)

    def times(self, places: Floats) -> Floats:
        """Times of places, (n, 1), as kernels take them."""
        first, last = self.ends()
        on_clock = (first + last) / 2 + places * (last - first) / 2
        times = on_clock if self.clock is None else _off_clock(self.clock, on_clock)
        return np.asarray(np.clip(times, self.low, self.high))[:, None]


def _off_clock(clock: Clocked, on_clock: Any) -> Any:
    """The times, real or complex, that are `on_clock` on a clock; none before its start, if it has one."""
    if clock.start is None:
        return clock.tau * np.sinh(on_clock / clock.tau)
    return clock.start + clock.tau * np.expm1(on_clock / clock.tau)


def ruler(kernel: Kernel, low: float, high: float) -> Ruler:
    """The ruler for a kernel: few different ones, so that moments on them can be kept."""
    if unclocked(kernel) is kernel:
        return Ruler(low, high)
    return Ruler(low, high, float(np.exp(np.round(np.log(kernel.tau)))), kernel.start)


@dataclass(frozen=True, eq=False)
class Growth:
    """How large a squared exponential kernel becomes around a ruler: what says how well polynomials follow it.

    In the ellipse around [-1, 1] with the sum rho of its half axes it is at most ``exp(b^2 / 2)``, where b is the
    largest imaginary part there of times in length scales. Then polynomials through m Chebyshev nodes are off by at
    most ``4 exp(b^2 / 2) rho^-(m-1) / (rho - 1)`` in one of its arguments, and by ``1 + L`` times that in both, with
    Lebesgue's constant ``L <= 1 + 2 / pi log m``.
    """

    log_rho: Floats
    log_factor: Floats
    """Logarithm of all but the power of rho; infinite where the kernel has no bound."""

    @classmethod
    def of(cls, kernel: Kernel, ruler: Ruler) -> Growth:
        """That of a kernel on its ruler."""
        log_rho = np.geomspace(1e-3, 4, 200)
        turns = np.exp(2j * np.pi * np.arange(96) / 96)
        ellipses = (np.outer(np.exp(log_rho), turns) + np.outer(np.exp(-log_rho), 1 / turns)) / 2
        with np.errstate(all="ignore"):  # far out, a clock's times are without bound
            times, smooth = _on_clock(kernel, ruler, ellipses)
            b = np.abs(times.imag).max(axis=1) / float(np.squeeze(unclocked(kernel).length_scale))
            smooth &= np.isfinite(b)
        factor = np.log(4) + b**2 / 2 - np.log(np.expm1(log_rho)) + log_rho
        return cls(log_rho, np.where(smooth, factor, np.inf))

    def error(self, count: int) -> float:
        """No entry of the kernel is off by more through so many nodes."""
        least = float((self.log_factor - count * self.log_rho).min())
        return float(np.exp(least) * (2 + 2 / np.pi * np.log(count))) if least < 0 else np.inf

    def count(self, most: int) -> int | None:
        """The smallest number of nodes that is exact enough, None if that is more than `most`."""
        counts = range(STEP, most + 1, STEP)
        return next((count for count in counts if self.error(count) <= TOLERANCE), None)


def _on_clock(kernel: Kernel, ruler: Ruler, places: Any) -> tuple[Any, Bools]:
    """Complex times on the kernel's clock at places on ellipses, (E, n), and in which they are analytic, (E,)."""
    first, last = ruler.ends()
    on_ruler = (first + last) / 2 + places * (last - first) / 2
    if ruler.clock is None:
        return on_ruler, np.ones(len(places), dtype=bool)
    times, tau = _off_clock(ruler.clock, on_ruler), float(kernel.tau)
    if kernel.start is None:
        return tau * np.arcsinh(times / tau), ((1 + (times / tau) ** 2).real > 0).all(axis=1)
    since = (times - kernel.start) / tau
    return tau * np.log(1 + since), (since.real > -1).all(axis=1) & (ruler.low >= kernel.start)


def chebyshev(places: Floats, count: int) -> Iterator[Floats]:
    """The first Chebyshev polynomials at the places, one after the other."""
    before, here = np.ones_like(places), places
    for _ in range(count):
        yield before
        before, here = here, 2 * places * here - before


class Expansion(NamedTuple):
    """A kernel through m nodes, on a ruler."""

    ruler: Ruler
    coefficients: Floats
    """c, (m, m)."""
    slopes: Floats
    """Its derivatives in the logarithms of the kernel's parameters, (m, m, p)."""
    root: Floats
    """(m, r), with ``root root^T = c`` but for rounding."""
    error: float = np.inf
    """No entry of the kernel is off by more, but for rounding."""


def expansion(kernel: Kernel, ruler: Ruler, count: int) -> Expansion:
    """The kernel through `count` nodes."""
    angles = np.pi * (np.arange(count) + 0.5) / count
    K, dK = kernel(ruler.times(np.cos(angles)), eval_gradient=True)
    transform = 2 / count * np.cos(np.outer(np.arange(count), angles))
    transform[0] /= 2
    c = transform @ K @ transform.T
    slopes = np.einsum("ia,abp,jb->ijp", transform, dK, transform, optimize=True)
    weight, vectors = np.linalg.eigh((c + c.T) / 2)
    kept = weight > np.finfo(float).eps * weight[-1]
    root = vectors[:, kept] * np.sqrt(weight[kept])
    return Expansion(ruler, c, slopes, root)


def suitable(kernel: Kernel, low: float, high: float, most: int) -> Expansion | None:
    """The kernel through as many nodes as it needs between two times, None where that is more than `most`."""
    line = ruler(kernel, low, high)
    growth = Growth.of(kernel, line)
    count = growth.count(most)
    return None if count is None else expansion(kernel, line, count)._replace(error=growth.error(count))


# -- moments --------------------------------------------------------------------------------------------------


class Moments(NamedTuple):
    """What courses say about their curves and levels, at weights w of their values."""

    points: Floats
    """Sums of ``w T_j`` over the points of each design, (G, 2 m)."""
    rows: Floats
    """Sums of ``w T_j y`` of each row, (G, R, m)."""
    squares: Floats
    """Sums of ``w y^2``, (G, R)."""

    def scaled(self, factor: float) -> Moments:
        """The same at weights that are so many times as large."""
        return Moments(*(each * factor for each in self))

    def plus(self, other: Moments) -> Moments:
        """Those of both values together."""
        return Moments(*(a + b for a, b in zip(self, other, strict=True)))

    def some(self, designs: slice) -> Moments:
        """Those of some designs."""
        return Moments(*(each[designs] for each in self))

    def gram(self) -> Floats:
        """``T^T w T`` of each design, (G, m, m)."""
        count = self.rows.shape[2]
        sums = sliding_window_view(self.points, count, axis=1)[:, :count]
        mirrored = np.concatenate([self.points[:, count - 1 : 0 : -1], self.points[:, :count]], axis=1)
        differences = sliding_window_view(mirrored, count, axis=1)[:, ::-1]
        return (sums + differences) / 2


def moments(batch: Padded, places: Floats, weights: Floats, count: int) -> Moments:
    """Moments of courses at places on a ruler, (G, N), for `count` nodes."""
    weighted = batch.rows * weights[:, None]
    points, rows = np.empty((len(places), 2 * count)), np.empty((*weighted.shape[:2], count))
    for j, T in enumerate(chebyshev(places, 2 * count)):
        points[:, j] = np.einsum("gn,gn->g", weights, T)
        if j < count:
            rows[:, :, j] = (weighted @ T[:, :, None])[:, :, 0]
    return Moments(points, rows, (weighted * batch.rows).sum(axis=2))


@dataclass(frozen=True, eq=False)
class Remembered:
    """A batch, and the moments of its values without known errors: on each ruler the longest asked for."""

    batch: Padded
    _made: dict[Ruler, Moments] = field(default_factory=dict)

    @cached_property
    def with_errors(self) -> Padded | None:
        """The values with known errors alone, None if there are none."""
        return self.batch.only(self.batch.variances > 0) if self.batch.variances.any() else None

    def plain(self, ruler: Ruler, count: int) -> Moments:
        """Moments of the values without known errors for `count` nodes, at weights of 1."""
        found = self._made.get(ruler)
        if found is None or found.rows.shape[2] < count:
            even = self.batch.there & (self.batch.variances == 0)
            found = self._made[ruler] = moments(self.batch, ruler.of(self.batch.times), even.astype(float), count)
        return Moments(found.points[:, : 2 * count], found.rows[:, :, :count], found.squares)

    def weighted(self, ruler: Ruler, count: int, noise: float) -> tuple[Moments, Moments]:
        """Moments at the weights 1 / R and 1 / R^2, where R is the noise variance of each value."""
        plain, others = self.plain(ruler, count), self.with_errors
        first, second = plain.scaled(1 / noise), plain.scaled(1 / noise**2)
        if others is None:
            return first, second
        weights, places = others.there / (noise + others.variances), ruler.of(others.times)
        return (
            first.plus(moments(others, places, weights, count)),
            second.plus(moments(others, places, weights**2, count)),
        )


# -- evaluation ------------------------------------------------------------------------------------------------


def interpolated(batches: Iterable[Remembered], found: Expansion, signal: float, noise: float) -> InMean:
    """Log likelihood and gradient of all batches at a kernel, signal and noise variance."""
    parts, slope = [], np.zeros((3, *found.coefficients.shape))
    for remembered in batches:
        for solved in _solved(remembered, found, signal, noise):
            parts.append(solved.summary(signal * found.error, noise))
            slope += solved.slope()
    total = added(parts)
    kernel = signal / 2 * np.tensordot(slope, found.slopes, axes=2)
    variance = signal / 2 * np.tensordot(slope, found.coefficients, axes=2)
    return total._replace(gradient=np.column_stack([kernel, variance, total.gradient]))


def _solved(remembered: Remembered, found: Expansion, signal: float, noise: float) -> Iterator[_Solved]:
    """Some designs after the other."""
    count = len(found.coefficients)
    first, second = remembered.weighted(found.ruler, count, noise)
    step = max(1, NUMBERS // count**2)
    for start in range(0, len(remembered.batch.times), step):
        some = slice(start, start + step)
        told = _Told(remembered.batch[some], noise, first.some(some), second.some(some))
        yield told.solved(np.sqrt(signal) * found.root)


class _Solved(NamedTuple):
    """Some designs at given parameters.

    Threes are ``y^T X y``, ``w y^T X 1`` and ``w^2 1^T X 1``, summed over the rows: what a mean is made of.
    """

    batch: Padded
    log_det: Floats
    """Of the covariance C of each design, (G,)."""
    inverse: Floats
    """``T^T C^-1 T``, summed over the courses, (m, m)."""
    quadratic: Floats
    """Three for ``C^-1``, (3, G)."""
    squares: Floats
    """Three for ``C^-2``, (3, G)."""
    traces: Floats
    """Of ``C^-1``, (G,)."""
    rows: Floats
    """``T^T C^-1 y``, (G R, m)."""
    ones: Floats
    """``w T^T C^-1 1``, (G R, m)."""

    def slope(self) -> Floats:
        """Derivatives of twice the log likelihood in the entries of ``signal c``, by powers of the mean, (3, m, m)."""
        cross = self.rows.T @ self.ones
        return in_mean(self.rows.T @ self.rows - self.inverse, cross + cross.T, self.ones.T @ self.ones)

    def summary(self, error: float, noise: float) -> InMean:
        """Value, gradient in the noise alone, and the bound on the error where no covariance is off by more."""
        counts = self.batch.counts
        a, b, c = self.quadratic.sum(axis=1)
        value = -0.5 * in_mean(a + counts @ self.log_det, 2 * b, c)
        a, b, c = self.squares.sum(axis=1)
        in_noise = 0.5 * noise * in_mean(a - counts @ self.traces, 2 * b, c)
        return InMean(value, in_noise[:, None], self.off(error, noise))

    def off(self, error: float, noise: float) -> Floats:
        """The bound: with ``|E| <= error``, ``tr C^-1 E <= n^1.5 error / noise`` and ``a^T E a <= n error a^T a``."""
        sizes = self.batch.sizes
        share = float(sizes.max()) * error / noise
        if share > 0.5:  # then it says nothing
            return np.array([np.inf, 0, 0])
        a, b, c = self.squares @ (sizes * error)
        first_order = 0.5 * in_mean(a + self.batch.counts @ sizes**1.5 * error / noise, 2 * b, c)
        return first_order / (1 - share)


class _Told(NamedTuple):
    """What some designs tell at a noise variance: moments at the weights 1 / R and 1 / R^2."""

    batch: Padded
    noise: float
    first: Moments
    second: Moments

    def solved(self, L: Floats) -> _Solved:
        """With ``B = T^T R^-1 T`` and ``J = I + L^T B L``: ``C^-1 = R^-1 - R^-1 T L J^-1 L^T T^T R^-1``."""
        B = self.first.gram()
        wide = B @ L
        J = np.eye(L.shape[1]) + L.T @ wide
        inverse, log_det = inverse_and_log_det(J)
        vectors, vectors2 = self.vectors(self.first), self.vectors(self.second)
        features = vectors @ L
        solved = features @ inverse[:, None]
        twice = self.twice(J, L)
        counts = self.batch.counts
        half = (counts[:, None, None] * (wide @ inverse)).transpose(1, 0, 2).reshape(len(L), -1)
        left = vectors - solved @ wide.transpose(0, 2, 1)[:, None]
        mixed = solved @ (vectors2 @ L).transpose(0, 1, 3, 2)
        return _Solved(
            batch=self.batch,
            log_det=log_det + np.log(np.where(self.batch.there, self.noise + self.batch.variances, 1.0)).sum(axis=1),
            inverse=np.tensordot(counts, B, axes=1) - half @ wide.transpose(1, 0, 2).reshape(len(L), -1).T,
            quadratic=self.threes(self.first) - _threes(solved @ features.transpose(0, 1, 3, 2)),
            squares=self.threes(self.second)
            - _threes(mixed + mixed.transpose(0, 1, 3, 2) - solved @ twice[:, None] @ solved.transpose(0, 1, 3, 2)),
            traces=self.first.points[:, 0] - (inverse * twice).sum(axis=(1, 2)),
            rows=left[:, :, 0].reshape(-1, len(L)),
            ones=left[:, :, 1].reshape(-1, len(L)),
        )

    def vectors(self, moments: Moments) -> Floats:
        """For each row the sums of weights times ``T y`` and ``T w``, (G, R, 2, m)."""
        count = moments.rows.shape[2]
        ones = self.batch.weights[:, :, None] * moments.points[:, None, :count]
        return np.stack([moments.rows, ones], axis=2)

    def twice(self, J: Floats, L: Floats) -> Floats:
        """``L^T T^T R^-2 T L``, (G, r, r)."""
        if self.batch.variances.any():
            return L.T @ self.second.gram() @ L
        return (J - np.eye(L.shape[1])) / self.noise

    def threes(self, moments: Moments) -> Floats:
        """Sums of weights times ``y y``, ``w y`` and ``w^2``, (3, G)."""
        w = self.batch.weights
        sums = (moments.squares, w * moments.rows[:, :, 0], w**2 * moments.points[:, None, 0])
        return np.array([each.sum(axis=1) for each in sums])


def _threes(products: Floats) -> Floats:
    """The different ones of products with (y, 1) from both sides, (G, R, 2, 2), summed over the rows, (3, G)."""
    return np.stack([products[..., 0, 0], products[..., 0, 1], products[..., 1, 1]]).sum(axis=2)
