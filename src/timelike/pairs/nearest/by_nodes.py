"""Candidates for the nearest courses where these may be later or larger: the nearest at each node, ranked by all.

At a node ``log p(y_i, y_j) = log p(y_i | y_j) + log p(y_j)``: the nearest points of :mod:`by_prediction`, with one more
coordinate for how likely the item itself is where the node puts it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from timelike.base.arrays import Bools, Floats, Ints
from timelike.base.tiles import Tile, all_tiles
from timelike.gp.basis import basis
from timelike.gp.information import Information
from timelike.gp.modelled import Modelled
from timelike.pairs.aligned.nodes import PairNodes
from timelike.pairs.aligned.placed import Placed
from timelike.pairs.aligned.route import AlignedRoute
from timelike.pairs.aligned.sums import node_sum
from timelike.pairs.aligned.weighing import ByGrids
from timelike.pairs.nearest.best import Best, Found, Task, offer_all
from timelike.pairs.nearest.by_candidates import RANK, SIDE, AmongCandidates, Ranking
from timelike.pairs.nearest.by_prediction import turned
from timelike.pairs.nearest.points import Search, along_tree, nearest_points

AT_ONCE = 4_000_000
"""Numbers worked on at once."""
MOST_NODES = 121
"""Nodes at which the nearest are searched."""
SPARE = 10
"""Items that are taken at each node beyond twice those asked for."""
FINALISTS = 4
"""So many times the items asked for are compared at all nodes, where not all were looked into."""
CANDIDATES = 60
"""Candidates of each course at each node, where every course has its own times."""


def by_nodes(task: Task, best: Best, way: AlignedRoute) -> None:
    """Offer each course the items that are nearest at any node, with their exact similarity."""
    if not isinstance(way.weighing, ByGrids):
        _by_ranking(task, best, way)
        return
    placed = way.weighing.placed
    for g in np.unique(placed.design_of[: task.asked]):
        rows = np.flatnonzero(placed.design_of[: task.asked] == g)
        for h in np.unique(placed.design_of[task.first :]):
            items = np.flatnonzero(placed.design_of[task.first :] == h) + task.first
            found = [_nearest_at(task, placed, t, (rows, items)) for t in looked_into(placed.nodes)]
            _offer(task, best, way.weighing, (rows, items), np.concatenate(found, axis=1))


def looked_into(nodes: PairNodes) -> Ints:
    """Some of the nodes, equally far apart along gains and along delays: their neighbours have nearly the same points.

    Examples
    --------
    >>> from timelike.gp.freedom import Freedom, nodes
    >>> both = PairNodes.of(Freedom(log_gains=nodes(1.0, 0.1), delays=nodes(1.0, 0.1)))
    >>> len(both), len(looked_into(both))
    (441, 121)
    """
    stride = 1
    while np.prod([-(-count // stride) for count in nodes.shape]) > MOST_NODES:
        stride += 1
    kept = [np.arange((count - 1) % stride // 2, count, stride) for count in nodes.shape]
    return (kept[0][:, None] * nodes.shape[1] + kept[1]).ravel()


def _nearest_at(task: Task, placed: Placed, t: int, who: tuple[Ints, Ints]) -> Ints:
    """The items that are nearest to courses of one design at a node, (n, m)."""
    rows, items = who
    g, h = placed.design_of[rows[0]], placed.design_of[items[0]]
    gain = placed.nodes.gains[1][t]
    A = gain**2 * placed.A[placed.nodes.second[t], h]
    means = np.linalg.solve(np.eye(len(A)) + A, gain * placed.b[placed.nodes.second[t], items].T).T
    of_values, of_means = turned(*_seen(task.here, placed, g, t), A)
    likely = placed.evidence[1][t, items] - placed.own[1][items]
    points = np.column_stack([means @ of_means, np.sqrt(2 * (likely.max() - likely))])
    values = (task.here.courses.values_on(g)[: len(rows)] - task.here.gp.mean) @ of_values
    queries = np.column_stack([values, np.zeros(len(rows))])
    result = np.empty((len(rows), min(2 * task.k + SPARE, len(items))), dtype=np.intp)
    search = Search(points, task.threads)
    for part, found in nearest_points(search, queries, result.shape[1], client=task.client):
        result[part] = found
    return result


def _seen(here: Modelled, placed: Placed, g: int, t: int) -> tuple[Floats, Floats]:
    """Features of the values of a design, as the first of a pair at a node, (n, r), and their standard deviations."""
    designs = here.courses.designs
    span = np.arange(*designs.starts[[g, g + 1]])
    sd = np.sqrt(here.noise_variances[span])
    seen = placed.nodes.gains[0][t] * here.basis()[placed.nodes.first[t] * len(designs.points) + span]
    if here.free.level:
        weight = 1 / sd**2
        seen = seen - weight @ seen / weight.sum()
    return seen, sd


def _offer(task: Task, best: Best, way: ByGrids, who: tuple[Ints, Ints], found: Ints) -> None:
    """Offer candidates, each once, with their exact similarity; of many nodes, first by those that were looked into."""
    nodes = way.placed.nodes
    looked = nodes.some(looked_into(nodes))
    roughly = None if len(looked) == len(nodes) else ByGrids(replace(way.placed, nodes=looked))
    step = max(1, AT_ONCE // (found.shape[1] * len(looked)))
    work = AmongFound(way, roughly, *who, found, FINALISTS * (task.k + SPARE))
    offer_all(task, best, work, all_tiles(len(found), 1, step))


@dataclass(frozen=True, eq=False)
class AmongFound:
    """Compares the courses of a tile with the items that were found for them."""

    way: ByGrids
    roughly: ByGrids | None
    """By fewer nodes: the way to the `finalists` that are compared at all nodes."""
    rows: Ints
    items: Ints
    found: Ints
    finalists: int

    def __call__(self, tile: Tile) -> Found:
        """Those of a tile."""
        part = np.sort(self.found[tile[0]], axis=1)
        asked, new = self.rows[tile[0]], np.diff(part, axis=1, prepend=-1) != 0
        if self.roughly is not None:
            scores = _scores(self.roughly, asked, self.items[part], new)
            order = np.argsort(-scores, axis=1)[:, : self.finalists]
            part, new = np.take_along_axis(part, order, axis=1), np.take_along_axis(new, order, axis=1)
        return Found(asked, self.items[part], _scores(self.way, asked, self.items[part], new))


def _scores(way: ByGrids, rows: Ints, items: Ints, which: Bools) -> Floats:
    """Similarities of courses (n,) to items (n, m) where `which` says so, elsewhere minus infinity."""
    at, place = np.nonzero(which)
    scores = np.full(items.shape, -np.inf)
    scores[at, place] = node_sum(way.placed.nodes, way.pairs(rows[at], items[at, place]))
    return scores


# -- every course its own times ------------------------------------------------------------------------------------


def _by_ranking(task: Task, best: Best, way: AlignedRoute) -> None:
    """Offer each course the items that rank high at any node, when all items are equally uncertain."""
    here, count = task.here, len(task.here.courses)
    found = here.information_on(basis(here.gp.covariance, here.points, here.least_noise, RANK))
    placed = Placed.of(way.nodes, found, len(here.free.delays))
    rankings = [_ranking(task, placed, t) for t in looked_into(way.nodes)]
    asked = along_tree(rankings[len(rankings) // 2].found.means()[: task.asked])
    work = AmongCandidates(way, tuple(rankings), asked, task.k, count)
    offer_all(task, best, work, all_tiles(task.asked, 1, SIDE))


def _ranking(task: Task, placed: Placed, t: int) -> Ranking:
    """The ranking at a node: of courses as the first of a pair, followed by the same as the second."""
    sides = [(gains[t], places[t]) for gains, places in zip(placed.nodes.gains, placed.places, strict=True)]
    A = np.concatenate([gain**2 * placed.A[d] for gain, d in sides])
    b = np.concatenate([gain * placed.b[d] for gain, d in sides])
    design_of = np.concatenate([placed.design_of, placed.design_of + placed.A.shape[1]])
    as_second = replace(task, first=task.first + len(placed.design_of))
    return Ranking.of(Information(A, b, design_of), as_second, CANDIDATES)
