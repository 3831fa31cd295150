"""The route of courses with freedoms: sums the nodes of every pair of a tile."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from timelike.base.arrays import Floats, Ints
from timelike.gp.freedom import Freedom
from timelike.gp.modelled import MAX_RANK, Modelled
from timelike.pairs import elimination
from timelike.pairs.aligned.nodes import PairNodes, finer
from timelike.pairs.aligned.placed import Placed
from timelike.pairs.aligned.sums import Matches, node_sum, summed
from timelike.pairs.aligned.weighing import ByGrids, ByInformation, Densely, Weighing
from timelike.pairs.routes import FEW, Route, route

LARGEST_RANK = 512
"""A basis that matrix products are made with, where courses share their times."""


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
            out[r, c] = node_sum(self.nodes, logs)

    def matches(self, rows: Ints, cols: Ints) -> Matches:
        """The similarities of a tile with the delays and gains of its pairs, (R, C) each."""
        found = Matches(*(np.empty((len(rows), len(cols))) for _ in Matches._fields))
        for r, c, logs in self.weighing.blocks(rows, cols):
            for whole, part in zip(found, summed(self.nodes, logs), strict=True):
                whole[r, c] = part
        return found


def route_of(here: Modelled) -> Route:
    """The cheapest exact route for courses under a model, whatever their freedom."""
    if not here.free:
        return route(here)
    nodes = PairNodes.of(here.free, finer(here.courses, here.gp, here.free))
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
