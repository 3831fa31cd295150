"""Alike up to level, gain and delay: every way to weigh the nodes of a pair is the oracle's."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

import oracle
from timelike import GP, TimeCourses
from timelike.gp.freedom import Freedom, nodes
from timelike.pairs.aligned.nodes import PairNodes
from timelike.pairs.aligned.placed import Placed
from timelike.pairs.aligned.route import AlignedRoute
from timelike.pairs.aligned.weighing import ByGrids, ByInformation, Densely

SIGNAL, NOISE, MEAN = 1.3, 0.4, 0.2
WAYS = {
    "grids": lambda here, n: ByGrids(placed(here, n)),
    "information": lambda here, n: ByInformation.of(placed(here, n)),
    "dense": Densely,
    "precise grids": lambda here, n: ByGrids(placed(here, n), precise_above=0.0),
    "precise information": lambda here, n: replace(ByInformation.of(placed(here, n)), precise_above=-np.inf),
}
FREEDOMS = {
    "level": Freedom(level=True),
    "gain": Freedom(log_gains=nodes(1.0, 0.25)),
    "delay": Freedom(delays=nodes(0.2, 0.05)),
    "all": Freedom(True, log_gains=(-0.6, -0.2, 0.2, 0.6), delays=(-0.1, 0.0, 0.1)),
}


def placed(here, pair_nodes):
    return Placed.of(pair_nodes, here.information, len(here.free.delays))


def route_by(way, courses, gp, free):
    here, pair_nodes = gp.at(courses, free), PairNodes.of(free)
    return AlignedRoute(WAYS[way](here, pair_nodes), pair_nodes, free)


def matches(way):
    every = np.arange(len(way.order))
    return way.matches(every, every)


def expected(times, values, errors, k, noise_variance, free, mean):
    errors = [0.0] * len(values) if errors is None else errors
    courses = list(zip(times, values, errors, strict=True))
    pair_nodes = oracle.pair_nodes(free.log_gains, free.delays, free.gain_sd, free.period)
    found = [
        [oracle.aligned(one, two, k, noise_variance, pair_nodes, free.level, mean) for two in courses]
        for one in courses
    ]
    return np.moveaxis(np.array(found), 2, 0)


@pytest.mark.parametrize("free", FREEDOMS)
@pytest.mark.parametrize("kind", oracle.EXAMPLES)
@pytest.mark.parametrize("way", WAYS)
def test_every_way_is_the_oracle(way, kind, free):
    times, values, errors = oracle.example(kind, count=3)
    courses = TimeCourses.from_arrays(times, values, errors=errors)
    found = matches(route_by(way, courses, GP.se(0.4, SIGNAL, NOISE, MEAN), FREEDOMS[free]))
    k = oracle.given(oracle.se, 0.4, SIGNAL)
    truth = expected(times, values, errors, k, NOISE**2, FREEDOMS[free], MEAN)
    for name, block, true in zip(found._fields, found, truth, strict=True):
        assert_allclose(block, true, rtol=1e-8, atol=1e-9, err_msg=name)
