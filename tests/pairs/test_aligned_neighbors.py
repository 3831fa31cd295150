"""Neighbours that may be later, larger or on another level: as the matrix of all pairs has them."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

import timelike as tl
from timelike import GP, TimeCourses
from timelike.gp.freedom import freedom
from timelike.pairs.aligned.route import route_of
from timelike.pairs.aligned.weighing import ByGrids
from timelike.pairs.nearest.best import Task
from timelike.pairs.nearest.by_nodes import _nearest_at
from timelike.pairs.nearest.neighbors import AFFORDABLE, _task, plan

MODEL = GP.se(0.2, 0.5, 0.1)
DELAY = {"up_to": "delay", "max_delay": 0.4}


@pytest.fixture(scope="module")
def pulses():
    """On one grid, one pulse that comes 0, 0.1 or 0.2 later."""
    return tl.simulate.delayed(per_group=14, seed=3)[0]


@pytest.fixture(scope="module")
def gaps(pulses):
    """The same, of which every other course lacks a value."""
    times, values = pulses.to_matrix()
    values[::2, 4] = np.nan
    return TimeCourses.from_arrays(times, values, pulses.names)


@pytest.fixture(scope="module")
def own():
    """Each at its own times."""
    return tl.simulate.own_times(visits=(6, 9), per_group=16, seed=1)[0]


def expected(courses, gp, k, **words):
    S = tl.similarity(courses, gp, **words)
    scores = S.values.copy()
    np.fill_diagonal(scores, -np.inf)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    return S, order, np.take_along_axis(scores, order, axis=1)


@pytest.mark.filterwarnings("ignore:.*its gain is not known")
@pytest.mark.parametrize("approximate", [None, True])
@pytest.mark.parametrize("name", ["pulses", "gaps", "own"])
@pytest.mark.parametrize(
    "words", [{"up_to": "level"}, {"up_to": "level,gain"}, DELAY], ids=lambda words: words["up_to"]
)
def test_the_nearest_of_the_matrix(request, name, words, approximate):
    courses = request.getfixturevalue(name)
    _, order, scores = expected(courses, MODEL, 4, **words)
    found = tl.neighbors(courses, MODEL, 4, approximate=approximate, **words)
    assert found.route == ("candidates" if approximate else "tiles")
    assert found.recall >= 0.99
    assert (found.indices == order).mean() >= 0.99
    assert_allclose(found.scores[found.indices == order], scores[found.indices == order], rtol=1e-8)


def test_delays_and_gains_with_bounds(pulses):
    words = {"up_to": ("gain", "delay"), "max_delay": 0.4}
    S, _, _ = expected(pulses, MODEL, 3, **words)
    found = tl.neighbors(pulses, MODEL, 3, **words)
    rows = np.arange(len(pulses))[:, None]
    assert_allclose(found.delay, S.delay[rows, found.indices], atol=0.005)
    assert_allclose(found.gain, S.gain[rows, found.indices], rtol=0.02)
    m = tl.match(pulses, MODEL, 0, int(found.indices[0, 0]), **words)
    assert_allclose([found.delay_low[0, 0], found.delay_high[0, 0]], m.delay_interval, atol=0.005)
    assert_allclose([found.gain_low[0, 0], found.gain_high[0, 0]], m.gain_interval, rtol=0.02)


def test_table(pulses):
    plain, moved = tl.neighbors(pulses, MODEL, 3).to_frame(), tl.neighbors(pulses, MODEL, 3, **DELAY).to_frame()
    assert list(plain.columns) == ["course", "rank", "neighbor", "score"]
    assert list(moved.columns) == ["course", "rank", "neighbor", "score", "delay", "delay_low", "delay_high"]
    assert (moved.delay_low < moved.delay).all()
    assert (moved.delay < moved.delay_high).all()


def test_without_freedoms_nothing_changes(pulses):
    plain, same = tl.neighbors(pulses, MODEL, 3), tl.neighbors(pulses, MODEL, 3, up_to=())
    assert (plain.scores == same.scores).all()
    assert plain.delay is None
    assert plain.gain is None
    assert same.route == "grid"


@pytest.mark.parametrize("approximate", [None, True])
def test_others(pulses, approximate):
    found = tl.neighbors(pulses[:6], MODEL, 2, others=pulses[6:], approximate=approximate, **DELAY)
    S = tl.similarity(pulses[:6], MODEL, pulses[6:], **DELAY)
    assert (found.indices[:, 0] == S.values.argmax(axis=1)).all()
    assert_allclose(found.delay[:, 0], S.delay[np.arange(6), found.indices[:, 0]], atol=0.005)


@pytest.mark.parametrize("approximate", [None, True])
def test_courses_on_a_clock_are_not_equally_likely_at_all_delays(pulses, approximate):
    gp = GP.se(0.2, 0.5, 0.1, clock=0.3)
    _, order, _ = expected(pulses, gp, 3, **DELAY)
    found = tl.neighbors(pulses, gp, 3, approximate=approximate, **DELAY)
    assert (found.indices == order).mean() > 0.97


def test_pairs_times_nodes_must_be_affordable(pulses):
    task = _task(pulses, MODEL, 3, None, None)
    free = freedom(pulses, MODEL, **DELAY)
    task = replace(task, here=MODEL.at(pulses, free))
    cost = 42 * 42 * len(free)
    assert plan(task, None, AFFORDABLE | {"grid": cost}) == "tiles"
    assert plan(task, None, AFFORDABLE | {"grid": cost - 1}) == "candidates"


@pytest.mark.parametrize("name", ["pulses", "gaps"])
@pytest.mark.parametrize("words", [{"up_to": "level"}, DELAY, {"up_to": "level,gain"}], ids=["level", "delay", "gain"])
def test_the_nearest_points_of_a_node_have_its_largest_weights(request, name, words):
    """On a clock, where items are not equally likely at all delays."""
    courses, gp = request.getfixturevalue(name), GP.se(0.2, 0.5, 0.1, clock=0.3)
    here = gp.at(courses, freedom(courses, gp, **words))
    task, way = Task(here, len(courses), 0, 1, None), route_of(here).weighing
    way = way if isinstance(way, ByGrids) else ByGrids(way.placed)
    rows = np.flatnonzero(courses.design_of == courses.design_of[0])
    items = np.flatnonzero(courses.design_of == courses.design_of[-1])
    for t in (0, len(way.placed.nodes) // 2, len(way.placed.nodes) - 1):
        found = np.sort(_nearest_at(task, way.placed, t, (rows, items)), axis=1)
        weights = np.stack([way.pairs(np.full(len(items), i), items)[t] for i in rows])
        best = np.sort(np.argsort(-weights, axis=1)[:, : found.shape[1]], axis=1)
        assert found.shape[1] < len(items)
        assert (found == best).all()
