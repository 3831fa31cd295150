"""Chosen pairs of courses: their similarity, and what they say about delay and gain."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from timelike.base.arrays import Floats, Ints
from timelike.base.blas import one_thread_below
from timelike.pairs.aligned.posterior import Told, joined, told
from timelike.pairs.aligned.route import AlignedRoute
from timelike.pairs.aligned.sums import node_sum

LOGS = 10_000_000
"""Log weights of nodes that are kept at once."""


class Compared(NamedTuple):
    """Pairs: their similarity, (P,), and how much later and larger the second is."""

    scores: Floats
    told: Told
    at_once: Floats
    """The similarity if neither comes later, (P,)."""


def compared(way: AlignedRoute, rows: Ints, cols: Ints) -> Compared:
    """The pairs (rows[p], cols[p])."""
    step = max(1, LOGS // len(way.nodes))
    with one_thread_below():
        parts = [_compared(way, rows[p : p + step], cols[p : p + step]) for p in range(0, len(rows), step)]
    scores, at_once = (np.concatenate([part[k] for part in parts]) for k in (0, 2))
    return Compared(scores, joined([part.told for part in parts]), at_once)


def _compared(way: AlignedRoute, rows: Ints, cols: Ints) -> Compared:
    logs = way.weighing.pairs(rows, cols)
    found = told(way.nodes, way.free, logs)
    middle = way.nodes.shape[1] // 2
    prior = np.logaddexp.reduce(way.nodes.log_prior.reshape(way.nodes.shape)[:, middle])
    at_once = np.logaddexp.reduce(logs.reshape(*way.nodes.shape, -1)[:, middle], axis=0) - prior
    return Compared(node_sum(way.nodes, logs), found, at_once)
