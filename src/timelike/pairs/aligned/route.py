"""The route of courses with freedoms: sums the nodes of every pair of a tile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from timelike.base.arrays import Floats, Ints
from timelike.gp.freedom import Freedom
from timelike.gp.modelled import MAX_RANK, Modelled
from timelike.pairs import elimination
from timelike.pairs.aligned.nodes import PairNodes
from timelike.pairs.aligned.placed import Placed, log_sum
from timelike.pairs.aligned.weighing import ByGrids, ByInformation, Densely, Weighing
from timelike.pairs.routes import FEW, Route, route

LARGEST_RANK = 512
"""A basis that matrix products are made with, where courses share their times."""


class Matches(NamedTuple):
    """Pairs at once: similarity, by how much the second is later, and log of how many times as large it is."""

    scores: Floats
    delays: Floats
    log_gains: Floats


@dataclass(frozen=True, eq=False)
class AlignedRoute:
    """A route for courses that are alike up to level, gain or delay: ``s = log sum_node exp(w)``."""

    weighing: Weighing
    nodes: PairNodes
    free: Freedom
    symmetric = False

    @property
    def name(self) -> str:
        """As the route of courses without freedoms."""
        return self.weighing.name

    @property
    def side(self) -> int:
        """Courses along each side of a tile."""
        return self.weighing.side

    @property
    def order(self) -> Ints:
        """The courses, so sorted that a tile of neighbours is cheap."""
        return self.weighing.order

    def tile(self, rows: Ints, cols: Ints, out: Floats) -> None:
        """Write the similarities of the courses `rows` to the courses `cols` into `out`."""
        for r, c, logs in self.weighing.blocks(rows, cols):
            out[r, c] = log_sum(logs)

    def matches(self, rows: Ints, cols: Ints) -> Matches:
        """The similarities of a tile with the delays and gains of its pairs, (R, C) each."""
        found = Matches(*(np.empty((len(rows), len(cols))) for _ in Matches._fields))
        for r, c, logs in self.weighing.blocks(rows, cols):
            for whole, part in zip(found, summed(self.nodes, logs), strict=True):
                whole[r, c] = part
        return found


def summed(nodes: PairNodes, logs: Floats) -> Matches:
    """What log weights of nodes add up to, and the means of delay and log gain under them; overwrites the weights."""
    top = logs.max(axis=0)
    logs -= top
    weights = np.exp(logs, out=logs)
    total = weights.sum(axis=0)
    scores = np.log(total) + top
    return Matches(scores, mean_delay(nodes, weights, total), _mean(nodes.log_gains, weights, total))


def mean_delay(nodes: PairNodes, weights: Floats, total: Floats) -> Floats:
    """The mean of the delays of nodes with weights (T, ...) that add up to `total`; of phases, the circular one."""
    if nodes.period is not None:
        return circular_mean(nodes.delays, weights, nodes.period)
    return _mean(nodes.delays, weights, total)


def _mean(of: Floats, weights: Floats, total: Floats) -> Floats:
    return np.tensordot(of, weights, 1) / total if of.any() else np.zeros(total.shape)


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


def route_of(here: Modelled) -> Route:
    """The cheapest exact route for courses under a model, whatever their freedom."""
    if not here.free:
        return route(here)
    nodes = PairNodes.of(here.free)
    return AlignedRoute(weighing(here, nodes), nodes, here.free)


def weighing(here: Modelled, nodes: PairNodes) -> Weighing:
    """The cheapest exact way to weigh nodes; as :func:`timelike.pairs.routes.route`, for rough kernels the dense."""
    courses = here.courses
    few = len(courses) >= FEW * len(courses.designs) or len(courses.designs) == 1
    most = MAX_RANK if elimination.name() == "numba" else MAX_RANK // 2
    if not here.basis(LARGEST_RANK if few else most).reached:
        return Densely(here, nodes)
    placed = Placed.of(nodes, here.information, len(here.free.delays))
    return ByGrids(placed) if few else ByInformation.of(placed)
