"""The basis of the curves, small enough to travel: with it a page computes curves and likelihoods by itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from timelike.base.arrays import Floats, Ints
from timelike.courses import TimeCourses
from timelike.courses.designs import distinct_points
from timelike.gp import GP
from timelike.gp.basis import basis
from timelike.gp.kernels import on_clock, plain

SMALL = 40_000
"""A table of features with more numbers than this is replaced by one at a few nodes, where they are enough."""
MOST_NUMBERS = 250_000
"""A table with more numbers, 2 MB, does not travel at all."""
MOST_FUNCTIONS = 400
"""With more basis functions a course takes the page too long."""
CHECKED = 2000
"""So many of the times show whether nodes are enough."""
NEGLIGIBLE = 1e-5
"""Error of the covariance, in noise variances, that no reader can see in a similarity."""


@dataclass(frozen=True, eq=False)
class Features:
    """Features of the curve: ``covariance(x, x') = phi(x) . phi(x')``.

    Attributes
    ----------
    phi : (U, r) or (M, r)
        At each distinct time; or, where `nodes` is not None, at the nodes from which all others are interpolated.
    grid : (G, r)
        At the times at which curves are drawn.
    nodes : (M,) or None
        Chebyshev's points over the range of the times, on the clock where there is one.
    """

    phi: Floats
    grid: Floats
    nodes: Floats | None = None


def distinct_times(courses: TimeCourses) -> tuple[Floats, Ints]:
    """The different times, ascending, and for each point of the designs its place among them."""
    distinct, row = distinct_points(courses.designs.points)
    return distinct[:, 0], row


def features(courses: TimeCourses, gp: GP, grid: Floats) -> Features | None:
    """The features that a page needs, or None where the kernel is too rough for a page at so many times."""
    times = distinct_times(courses)[0]
    least = gp.at(courses).least_noise
    table = _table(gp, times, grid, least)
    if table is not None and table.phi.size <= SMALL:
        return table
    return _at_nodes(gp, times, grid, least) or table


def _table(gp: GP, times: Floats, grid: Floats, least: float) -> Features | None:
    most = min(MOST_FUNCTIONS, MOST_NUMBERS // len(times))
    if most == 0:
        return None
    phi = basis(gp.covariance, np.concatenate([times, grid])[:, None], least, most)
    if not phi.reached:
        return None
    return Features(phi[slice(0, len(times))], phi[slice(len(times), None)])


def _at_nodes(gp: GP, times: Floats, grid: Floats, least: float) -> Features | None:
    """Features at Chebyshev's points, if a polynomial through them gives all others.

    On the clock features are as smooth everywhere: in plain time the first of them would ask for many more points.
    """
    some = times[np.linspace(0, len(times) - 1, min(CHECKED, len(times))).astype(int)]
    shown = on_clock(gp.kernel, some)
    for count in (32, 64, 128, 256):
        nodes = chebyshev(shown[0], shown[-1], count)
        at = plain(gp.kernel, nodes)
        phi = basis(gp.covariance, np.concatenate([at, some, grid])[:, None], least, MOST_FUNCTIONS)
        if not phi.reached:
            return None
        at_nodes, exact = phi[slice(0, count)], phi[slice(count, count + len(some))]
        error = np.abs(interpolation(nodes, shown) @ at_nodes - exact).max()
        if 2 * error * gp.signal_sd * np.sqrt(phi.phi.shape[1]) < NEGLIGIBLE * least:
            return Features(at_nodes, phi[slice(count + len(some), None)], nodes)
    return None


def chebyshev(low: float, high: float, count: int) -> Floats:
    """Points between `low` and `high` through which a polynomial follows a smooth curve closely."""
    angle = np.pi * (2 * np.arange(count) + 1) / (2 * count)
    return (low + high) / 2 - (high - low) / 2 * np.cos(angle)


def interpolation(nodes: Floats, times: Floats) -> Floats:
    """Matrix (T, M) that takes values at Chebyshev's points to `times`, by the barycentric formula.

    Examples
    --------
    >>> nodes = chebyshev(0, 2, 16)
    >>> (interpolation(nodes, np.array([0.5, 1.7])) @ nodes**3).round(12)
    array([0.125, 4.913])
    """
    count = len(nodes)
    sign = np.where(np.arange(count) % 2, -1.0, 1.0)
    weight = sign * np.sin(np.pi * (2 * np.arange(count) + 1) / (2 * count))
    distance = times[:, None] - nodes
    hit = distance == 0
    terms = weight / np.where(hit, 1.0, distance)
    result = terms / terms.sum(axis=1, keepdims=True)
    return np.where(hit.any(axis=1, keepdims=True), hit.astype(float), result)
