"""Sums over the nodes of pairs: similarity, mean delay and mean gain.

Where courses tell a delay or gain more exactly than nodes are near, a peak would fall between two of them. What the
data say is smooth from node to node, so a spline fills in more of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from timelike.base.arrays import Floats
from timelike.pairs.aligned.nodes import Axis, PairNodes
from timelike.pairs.aligned.placed import log_sum


class Matches(NamedTuple):
    """Pairs at once: similarity, by how much the second is later, and log of how many times as large it is."""

    scores: Floats
    delays: Floats
    log_gains: Floats


def node_sum(nodes: PairNodes, logs: Floats) -> Floats:
    """Similarities, from the log weights of nodes, (T, ...); overwrites them."""
    return log_sum(logs) if nodes.axes is None else _by_axes(nodes, nodes.axes, logs).scores


def summed(nodes: PairNodes, logs: Floats) -> Matches:
    """What log weights of nodes add up to, and the means of delay and log gain under them; overwrites the weights."""
    if nodes.axes is not None:
        return _by_axes(nodes, nodes.axes, logs)
    top = logs.max(axis=0)
    logs -= top
    weights = np.exp(logs, out=logs)
    total = weights.sum(axis=0)
    scores = np.log(total) + top
    delays = _mean(nodes.delays, weights, total, nodes.period)
    return Matches(scores, delays, _mean(nodes.log_gains, weights, total))


def _by_axes(nodes: PairNodes, axes: tuple[Axis, Axis], logs: Floats) -> Matches:
    """The sum over more nodes than there are: over delays at each gain, then over gains."""
    gains, delays = axes
    data = (logs.reshape(len(logs), -1) - nodes.log_prior[:, None]).reshape(*nodes.shape, -1)
    rows = [_along(delays, row) for row in data]
    scores, log_gains, weights = _along(gains, np.stack([row[0] for row in rows]))
    apart = np.stack([row[1] for row in rows])
    late = _mean_of(gains.filled @ apart if delays.period is None else apart[_nearest(gains)], weights, delays.period)
    return Matches(*(part.reshape(logs.shape[1:]) for part in (scores, late, log_gains)))


def _along(axis: Axis, data: Floats) -> tuple[Floats, Floats, Floats]:
    """Log sum of what data say about nodes (K, P) times the prior, the mean under it, and the weights."""
    weights = axis.filled @ data + axis.log_prior[:, None]
    scores = log_sum(weights)
    weights /= weights.sum(axis=0)
    return scores, _mean(axis.at, weights, np.ones(data.shape[1]), axis.period), weights


def _nearest(axis: Axis) -> Floats:
    """For each filled in node the nearest that was there."""
    return np.asarray(np.argmax(axis.filled, axis=1))


def _mean_of(values: Floats, weights: Floats, period: float | None) -> Floats:
    """Means of values (K, P) under weights that add up to one; of phases, on the circle."""
    if period is None:
        return (values * weights).sum(axis=0)
    turn = 2 * np.pi / period
    return np.angle((np.exp(1j * turn * values) * weights).sum(axis=0)) / turn


def _mean(of: Floats, weights: Floats, total: Floats, period: float | None = None) -> Floats:
    """Means of the values of nodes, (T,), under weights (T, ...) that add up to `total`."""
    if not of.any():
        return np.zeros(total.shape)
    return np.tensordot(of, weights, 1) / total if period is None else circular_mean(of, weights, period)


def circular_mean(delays: Floats, weights: Floats, period: float) -> Floats:
    """The mean of phases, (T,) with weights (T, ...), between plus and minus half a period.

    Examples
    --------
    >>> circular_mean(np.array([11.0, -11.0]), np.array([1.0, 1.0]), 24.0)
    np.float64(12.0)
    """
    angle = 2 * np.pi / period * delays
    sine, cosine = (np.tensordot(part, weights, 1) for part in (np.sin(angle), np.cos(angle)))
    return np.arctan2(sine, cosine) * period / (2 * np.pi)
