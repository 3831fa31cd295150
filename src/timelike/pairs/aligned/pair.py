"""A single pair of courses: the log weights of its nodes."""

from __future__ import annotations

import numpy as np

from timelike.base.arrays import Floats
from timelike.gp.modelled import Modelled
from timelike.pairs.aligned.nodes import PairNodes
from timelike.pairs.aligned.placed import Placed
from timelike.pairs.aligned.route import LARGEST_RANK
from timelike.pairs.aligned.weighing import ByGrids, Densely


def pair_logs(here: Modelled, nodes: PairNodes) -> Floats:
    """Log weights of the nodes of the first of two courses with the second, (T,)."""
    first, second = np.array([0]), np.array([1])
    if not here.basis(LARGEST_RANK).reached:
        return Densely(here, nodes).pairs(first, second)[:, 0]
    placed = Placed.of(nodes, here.information, len(here.free.delays))
    return ByGrids(placed).pairs(first, second)[:, 0]
