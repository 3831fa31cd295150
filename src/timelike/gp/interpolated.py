"""The likelihood of long courses under a smooth kernel, at a cost that does not grow with their length.

A curve that is smooth on the scale of the nodes is a polynomial between them: ``k(x, x') = T(x)^T c T(x')`` with
Chebyshev polynomials ``T_0, ..., T_(m-1)`` and the coefficients c of the kernel between m Chebyshev nodes. As
``T_i T_j = (T_(i+j) + T_|i-j|) / 2``, all that a course measured at points with noise variances R says is in 2 m
moments, ``sum of T_j / R``, and m projections, ``sum of T_j y / R``. Without known errors they are computed once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from timelike.base.arrays import Floats, Ints
from timelike.gp.kernels import unclocked
from timelike.gp.long_courses import InMean, Padded, added, in_mean

if TYPE_CHECKING:
    from sklearn.gaussian_process.kernels import Kernel

    from timelike.gp.clock import Clocked

TOLERANCE = 1e-14
"""The number of nodes is chosen for this error of the kernel."""
ACCEPTED = 1e-12
"""An error of the kernel, measured between the nodes, beyond which they are too few."""
STEP = 8
"""Numbers of nodes are multiples of this: neighbouring places of a search have the same nodes."""
NUMBERS = 2_000_000
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
        return np.clip(times, self.low, self.high)[:, None]


def _off_clock(clock: Clocked, on_clock: Floats) -> Floats:
    """The times that are `on_clock` on a clock; none before its start, if it has one."""
    if clock.start is None:
        return clock.tau * np.sinh(on_clock / clock.tau)
    return clock.start + clock.tau * np.expm1(np.maximum(on_clock, 0) / clock.tau)


def ruler(kernel: Kernel, low: float, high: float) -> Ruler:
    """The ruler for a kernel: few different ones, so that moments on them can be kept."""
    if unclocked(kernel) is kernel:
        return Ruler(low, high)
    return Ruler(low, high, float(np.exp(np.round(np.log(kernel.tau)))), kernel.start)


def node_count(width: float) -> int:
    """So many nodes interpolate a squared exponential kernel over `width` length scales.

    In the ellipse around [-1, 1] with the sum rho of its half axes, ``exp(-z^2 / 2)`` is below ``exp(b^2 / 2)``, where
    b is its small half axis, so that m Chebyshev nodes leave at most ``4 exp(b^2 / 2) rho^-m / (rho - 1)``.
    """
    rho = np.exp(np.geomspace(1e-3, 4, 400))
    b = width / 2 * (rho - 1 / rho) / 2
    least = (np.log(4 / TOLERANCE) + b**2 / 2 - np.log(rho - 1)) / np.log(rho)
    return STEP * int(np.ceil(least.min() / STEP))


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
    error: float
    """The largest error between the nodes, where it is largest."""


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
    # Between the nodes the last polynomial is 1 or -1, and so the error of interpolation largest.
    between = np.cos(np.pi * np.arange(count + 1) / count)
    features = np.stack(list(chebyshev(between, count)), axis=1) @ root
    error = np.abs(kernel(ruler.times(between)) - features @ features.T).max()
    return Expansion(ruler, c, slopes, root, float(error))


def suitable(kernel: Kernel, low: float, high: float, most: int) -> Expansion | None:
    """The kernel through as many nodes as it needs between two times, None where that is more than `most`."""
    line = ruler(kernel, low, high)
    on_clock = np.array([low, high]) if unclocked(kernel) is kernel else kernel.time(np.array([low, high]))
    count = node_count(float(np.ptp(on_clock) / np.squeeze(unclocked(kernel).length_scale)))
    while count <= most:
        found = expansion(kernel, line, count)
        if found.error <= ACCEPTED:
            return found
        count += STEP * (1 + count // (4 * STEP))
    return None


# -- moments --------------------------------------------------------------------------------------------------


class Moments(NamedTuple):
    """What courses say about their curves and levels, at weights w of their values."""

    points: Floats
    """Sums of ``w T_j`` over the points of each design, (G, 2 m)."""
    rows: Floats
    """Sums of ``w T_j y`` of each row, (K, m)."""
    squares: Floats
    """Sums of ``w y^2``, (K,)."""

    def __mul__(self, factor: object) -> Moments:
        return Moments(*(each * factor for each in self))

    def gram(self, count: int) -> Floats:
        """``T^T w T`` of each design, (G, count, count)."""
        i = np.arange(count)
        return (self.points[:, i[:, None] + i] + self.points[:, np.abs(i[:, None] - i)]) / 2


def moments(batch: Padded, places: Floats, weights: Floats, count: int) -> Moments:
    """Moments of courses at places on a ruler, (G, N), for `count` nodes."""
    weighted = batch.rows * weights[batch.design]
    points, rows = np.empty((len(places), 2 * count)), np.empty((len(weighted), count))
    for j, T in enumerate(chebyshev(places, 2 * count)):
        points[:, j] = np.einsum("gn,gn->g", weights, T)
        if j < count:
            rows[:, j] = np.einsum("kn,kn->k", weighted, T[batch.design] if len(T) > 1 else np.broadcast_to(T, weighted.shape))
    return Moments(points, rows, (weighted * batch.rows).sum(axis=1))


@dataclass(frozen=True, eq=False)
class Remembered:
    """A batch, and the moments of its values with equal weights: on each ruler the longest asked for."""

    batch: Padded
    _made: dict[Ruler, tuple[int, Moments]] = field(default_factory=dict)

    def plain(self, ruler: Ruler, count: int) -> Moments:
        """Moments for `count` nodes at weights of 1."""
        made, found = self._made.get(ruler, (0, None))
        if found is None or made < count:
            found = moments(self.batch, ruler.of(self.batch.times), self.batch.there.astype(float), count)
            self._made[ruler] = count, found
        return Moments(found.points[:, : 2 * count], found.rows[:, :count], found.squares)

    def weighted(self, ruler: Ruler, count: int, noise: float) -> tuple[Moments, Moments]:
        """Moments at the weights 1 / R and 1 / R^2, where R is the noise variance of each value."""
        if not self.batch.variances.any():
            plain = self.plain(ruler, count)
            return plain * (1 / noise), plain * (1 / noise**2)
        weights = self.batch.there / (noise + self.batch.variances)
        places = ruler.of(self.batch.times)
        return moments(self.batch, places, weights, count), moments(self.batch, places, weights**2, count)


# -- evaluation ------------------------------------------------------------------------------------------------


def interpolated(batches: list[Remembered], found: Expansion, signal: float, noise: float) -> InMean:
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
    count = len(found.coefficients)
    first, second = remembered.weighted(found.ruler, count, noise)
    batch, root = remembered.batch, np.sqrt(signal) * found.root
    step = max(1, NUMBERS // count**2)
    for part, start in zip(batch.parts(step), range(0, len(batch.times), step), strict=True):
        here, rows = slice(start, start + step), slice(*np.searchsorted(batch.design, [start, start + step]))
        cut = [Moments(each.points[here], each.rows[rows], each.squares[rows]) for each in (first, second)]
        yield _solve(part, cut[0], cut[1], root, noise)


class _Solved(NamedTuple):
    """Some designs at given parameters, with ``B = T^T R^-1 T``, ``J = I + L^T B L`` and the root L."""

    batch: Padded
    log_det: Floats
    """Of the covariance of each design, (G,)."""
    inner: Floats
    """B, (G, m, m)."""
    half: Floats
    """``B L J^-1/2``, (G, m, r)."""
    quadratic: Floats
    """``y^T C^-1 y``, ``w y^T C^-1 1`` and ``w^2 1^T C^-1 1``, summed over the rows, (3,)."""
    squares: Floats
    """The same of ``C^-2``, for each row, (3, K)."""
    traces: Floats
    """Of ``C^-1``, (G,)."""
    rows: Floats
    """``T^T C^-1 y``, (K, m)."""
    ones: Floats
    """``w T^T C^-1 1``, (K, m)."""

    def slope(self) -> Floats:
        """The derivative of twice the log likelihood in the entries of ``signal c``, in powers of the mean, (3, m, m)."""
        wide = (np.sqrt(self.batch.counts)[:, None, None] * self.half).transpose(1, 0, 2).reshape(self.half.shape[1], -1)
        known = wide @ wide.T - np.tensordot(self.batch.counts, self.inner, axes=1)
        cross = self.rows.T @ self.ones
        return in_mean(self.rows.T @ self.rows + known, cross + cross.T, self.ones.T @ self.ones)

    def summary(self, error: float, noise: float) -> InMean:
        """Value, gradient in the noise alone, and the bound on the error where no covariance is off by more."""
        counts, sizes = self.batch.counts, self.batch.sizes
        a, b, c = self.quadratic
        value = -0.5 * in_mean(a + counts @ self.log_det, 2 * b, c)
        s, t, u = self.squares
        in_noise = noise / 2 * in_mean(s.sum() - counts @ self.traces, 2 * t.sum(), u.sum())
        return InMean(value, in_noise, self.off(error, noise))

    def off(self, error: float, noise: float) -> Floats:
        """With ``|E| <= error`` the first order is ``tr C^-1 E <= |C^-1| |E|`` and ``a^T E a <= n error a^T a``."""
        sizes = self.batch.sizes
        beyond = 1 / (1 - min(float(sizes.max()) * error / noise, 0.5))  # all higher orders
        trace = self.batch.counts @ (sizes**1.5) * error / noise
        s, t, u = sizes[self.batch.design] * error * self.squares
        return 0.5 * beyond * in_mean(s.sum() + trace, 2 * t.sum(), u.sum())


def _solve(batch: Padded, first: Moments, second: Moments, root: Floats, noise: float) -> _Solved:
    count, design = len(root), batch.design
    inner = first.gram(count)
    wide = inner @ root
    J = np.eye(root.shape[1]) + root.T @ wide
    lower = np.linalg.cholesky(J)
    inverse_root = np.linalg.inv(lower)
    M = inverse_root.transpose(0, 2, 1) @ inverse_root
    log_noise = np.log(np.where(batch.there, noise + batch.variances, 1.0)).sum(axis=1)
    w = batch.weights[:, None]
    ones, ones2 = w * first.points[design, :count], w * second.points[design, :count]
    solved = [_apply(M, each @ root, design) for each in (first.rows, ones)]
    pairs = [(0, 0), (0, 1), (1, 1)]
    sums = [_products(each, batch) for each in (first, second)]
    features = [first.rows @ root, ones @ root]
    features2 = [second.rows @ root, ones2 @ root]
    inner2 = root.T @ (second.gram(count) @ root)
    quadratic = [s - (features[i] * solved[j]).sum(axis=1) for (i, j), s in zip(pairs, sums[0], strict=True)]
    squares = [
        s
        - (features2[i] * solved[j]).sum(axis=1)
        - (solved[i] * features2[j]).sum(axis=1)
        + (solved[i] * _apply(inner2, solved[j], design)).sum(axis=1)
        for (i, j), s in zip(pairs, sums[1], strict=True)
    ]
    return _Solved(
        batch=batch,
        log_det=2 * np.log(np.diagonal(lower, axis1=1, axis2=2)).sum(axis=1) + log_noise,
        inner=inner,
        half=wide @ inverse_root.transpose(0, 2, 1),
        quadratic=np.sum(quadratic, axis=1),
        squares=np.array(squares),
        traces=first.points[:, 0] - (M * inner2).sum(axis=(1, 2)),
        rows=first.rows - _apply(wide, solved[0], design),
        ones=ones - _apply(wide, solved[1], design),
    )


def _products(moments: Moments, batch: Padded) -> list[Floats]:
    """Sums of weights times ``y y``, ``w y 1`` and ``w^2 1 1`` for each row."""
    w = batch.weights
    return [moments.squares, w * moments.rows[:, 0], w**2 * moments.points[batch.design, 0]]


def _apply(matrices: Floats, rows: Floats, design: Ints) -> Floats:
    """Each row's matrix times the row, (K, m)."""
    if len(matrices) == 1:
        return rows @ matrices[0].T
    return np.einsum("kij,kj->ki", matrices[design], rows)
