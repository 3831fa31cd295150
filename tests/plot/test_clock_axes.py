"""Time axes on a model's clock: where ticks are, and that they can be made plain again."""

import numpy as np
import pytest

import slowing
import timelike as tl
from timelike.plot import parts


@pytest.fixture(scope="module")
def study():
    courses, _ = slowing.made(per_group=10)
    gp = slowing.model()
    return courses, gp, tl.mixture(courses, gp, k=3)


def drawn(courses, gp, found):
    """A panel of every figure over time."""
    return {
        "pair": tl.plot.pair(courses, gp, 0, 1),
        "explanation": tl.plot.explanation(tl.explain(courses, gp, 0, 1)),
        "neighbors": tl.plot.neighbors(courses, gp, 0, tl.neighbors(courses, gp, k=3)),
        "panels": tl.plot.clusters(found),
        "together": tl.plot.clusters(found, tl.plot.panels(1)[0]),
        "given": tl.plot.clusters(found, courses=courses, gp=gp),
    }


FIGURES = ("pair", "explanation", "neighbors", "panels", "together", "given")


@pytest.mark.parametrize("name", FIGURES)
def test_the_axis_runs_on_the_clock_with_measured_times(study, name):
    ax = drawn(*study)[name]
    shown = ax.transData.transform(np.column_stack([slowing.TIMES, np.zeros(12)]))[:, 0]
    on_clock = study[1].kernel.time(slowing.TIMES)
    np.testing.assert_allclose(np.diff(shown) / (shown[-1] - shown[0]), np.diff(on_clock) / on_clock[-1], rtol=1e-9)
    ticks = ax.get_xticks()
    assert {0.0, 80.0} <= set(ticks) <= set(slowing.TIMES)
    assert len(ticks) > 3


@pytest.mark.parametrize("name", FIGURES)
def test_it_can_be_made_plain(study, name):
    ax = drawn(*study)[name]
    ax.set_xscale("linear")
    shown = ax.transData.transform(np.column_stack([slowing.TIMES, np.zeros(12)]))[:, 0]
    np.testing.assert_allclose(shown - shown[0], slowing.TIMES * (shown[-1] - shown[0]) / 80, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(np.diff(ax.get_xticks(), 2), 0, atol=1e-9)


def test_without_a_model_or_a_clock_time_is_plain(study):
    courses, _, found = study
    plain = slowing.model(clock=None)
    for ax in (
        tl.plot.courses(courses),
        tl.plot.clusters(found, courses=courses),
        tl.plot.pair(courses, plain, 0, 1),
        tl.plot.explanation(tl.explain(courses, plain, 0, 1)),
    ):
        assert ax.get_xscale() == "linear"


def test_bars_are_as_wide_everywhere_and_sum_to_the_similarity(study):
    courses, gp, _ = study
    why = tl.explain(courses, gp, 0, 1)
    ax = tl.plot.explanation(why)
    assert sum(bar.get_height() for bar in ax.patches) == pytest.approx(why.similarity)
    edges = np.array([[bar.get_x(), bar.get_x() + bar.get_width()] for bar in ax.patches])
    widths = np.diff(gp.kernel.time(edges), axis=1)
    np.testing.assert_allclose(widths, widths[0, 0], rtol=1e-6)


def test_own_times_have_round_ticks():
    rng = np.random.default_rng(0)
    courses = tl.TimeCourses.from_arrays(
        [np.sort(90 * rng.random(5) ** 3) for _ in range(20)], rng.normal(size=(20, 5))
    )
    ticks = tl.plot.pair(courses, slowing.model(), 0, 1).get_xticks()
    assert len(ticks) > 3
    assert all(f"{tick:.2g}" == f"{tick:g}" for tick in ticks)


@pytest.mark.parametrize(("low", "high"), [(0.3, 0.31), (-7, -5.2), (1e-7, 2e-7), (123.4, 123.9), (99, 101)])
def test_the_roundest_number_lies_between(low, high):
    found = parts.roundest(low, high)
    assert low <= found <= high


def test_a_single_time_has_a_figure():
    one = tl.TimeCourses.from_arrays([3.0], [[1.0], [2.0]])
    ax = tl.plot.pair(one, slowing.model(), 0, 1)
    ax.figure.canvas.draw()
    assert 3.0 in ax.get_xticks()
