"""Times on the clock and back, grids that are even on it, and times before its start."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import slowing
import timelike as tl
from timelike.exceptions import DataWarning
from timelike.gp import kernels
from timelike.gp.clock import Clocked

TAUS = st.floats(1e-2, 1e4)
STARTS = st.one_of(st.none(), st.floats(-50, 50))
TIMES = st.lists(st.floats(-100, 1000), min_size=2, max_size=8, unique=True).map(lambda t: np.sort(np.array(t)))


def clock(tau, start):
    return Clocked(kernels.resolve("se"), tau, start)


@given(TAUS, STARTS, TIMES)
def test_plain_time_is_the_inverse(tau, start, times):
    kernel = clock(tau, start)
    np.testing.assert_allclose(kernel.plain(kernel.time(times)), times, rtol=1e-9, atol=1e-9)


@given(TAUS, STARTS, st.floats(0.1, 500))
def test_unit_is_how_slowly_the_clock_runs(tau, start, since):
    kernel = clock(tau, start)
    at = since if start is None else start + since
    step = 1e-5 * (tau + abs(since))
    low, high = kernel.time(np.array([at - step, at + step]))
    slack = 1e-3 if start is None or since > step else 1.0  # no derivative at the start itself
    np.testing.assert_allclose(2 * step / (high - low), kernel.unit(np.array(at)), rtol=slack)


@given(TAUS, STARTS, TIMES, st.integers(2, 50))
def test_grids_are_even_on_the_clock(tau, start, times, count):
    low, high = float(times[0]), float(times[-1])
    grid = kernels.evenly(clock(tau, start), low, high, count)
    assert (grid[0], grid[-1]) == (low, high)
    assert (np.diff(grid) >= 0).all()
    shown = clock(tau, start).time(grid)
    np.testing.assert_allclose(shown, np.linspace(shown[0], shown[-1], count), atol=1e-9 * (1 + np.abs(shown).max()))


def test_grids_of_plain_time_are_what_they_were():
    assert kernels.evenly(kernels.resolve("se"), 0.1, 7.3, 101).tolist() == np.linspace(0.1, 7.3, 101).tolist()


# -- times before the start ------------------------------------------------------------------------------------------


CALLS = {
    "similarity": lambda courses, gp: tl.similarity(courses, gp),
    "others": lambda courses, gp: tl.similarity(courses[:3], gp, courses),
    "neighbors": lambda courses, gp: tl.neighbors(courses, gp, k=2),
    "explain": lambda courses, gp: tl.explain(courses, gp, 0, 1),
    "linkage": lambda courses, gp: tl.evidence_linkage(courses, gp),
    "posterior": lambda courses, gp: gp.posterior(courses, [0.0, 1.0]),
}


def early(calls):
    """How often times before the start are spoken of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        calls()
    return sum("before the start of the model's clock" in str(w.message) for w in caught)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_times_before_the_start_are_said_once(call):
    courses = slowing.made(per_group=3, start=-1.0)[0]
    assert early(lambda: call(courses, slowing.model())) == 1
    assert early(lambda: call(courses, slowing.model(clock=None))) == 0


def test_the_start_itself_is_not_before_it():
    courses = slowing.made(per_group=3)[0]
    assert early(lambda: tl.similarity(courses, slowing.model())) == 0
    around_zero = tl.GP(clock(2.0, None), 1, 0.1)
    assert early(lambda: tl.similarity(slowing.made(per_group=3, start=-1.0)[0], around_zero)) == 0


def test_asked_times_and_new_courses_before_the_start():
    courses = slowing.made(per_group=5)[0]
    gp = slowing.model()
    with pytest.warns(DataWarning, match=r"clock \(0\), from -3 on: it runs as plain time"):
        gp.posterior(courses, [-3.0, 1.0])
    found = tl.mixture(courses, gp, k=3)
    with pytest.warns(DataWarning, match="from -3 on"):
        found.curve(0, [-3.0, 1.0])
    new = tl.TimeCourses.from_arrays([-1.0, 4.0], [[0.0, 1.0]])
    assert early(lambda: found.predict(new)) == 1


def test_before_the_start_the_kernel_is_that_of_plain_time():
    courses = slowing.made(per_group=3)[0].select([0])
    new = tl.TimeCourses.from_arrays(courses.times - 100, courses.values[None])
    with pytest.warns(DataWarning):
        found = slowing.model().posterior(new, [-60.0])
    expected = slowing.model(clock=None).posterior(new, [-60.0])
    np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-9)
