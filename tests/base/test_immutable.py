"""What is immutable stays so: through pickles, the hands of others, and threads."""

import copy
import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from sklearn.gaussian_process import kernels as sk

import timelike as tl
from timelike import exceptions
from timelike.exceptions import DataWarning, FitWarning, warn

COURSES = tl.TimeCourses.from_arrays([[0, 1], [0, 1, 2]], [[1, 2], [3, 4, 5]], errors=[[1, 1], [1, 2, 3]])


@pytest.mark.parametrize("way", [lambda c: pickle.loads(pickle.dumps(c)), copy.deepcopy, copy.copy])  # noqa: S301
def test_courses_that_come_back_cannot_be_written(way):
    assert COURSES.starts[-1] == len(COURSES.values)  # what is computed once travels too
    back = way(COURSES)
    arrays = [back.values, back.design_of, back.starts, back.designs.points, back.designs.errors, back.designs.starts]
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7
    np.testing.assert_array_equal(back.values, COURSES.values)


def test_what_is_computed_once_cannot_be_written():
    """It is handed out again and again: who writes to it changes what others compute."""
    rng = np.random.default_rng(0)
    courses = tl.TimeCourses.from_arrays(np.repeat(np.arange(4.0), 2), rng.standard_normal((6, 8)))
    found = tl.changing(courses, tl.GP.se(1, 1, 0.5))
    of_courses = [courses.starts, courses.design_rows, courses.standard_deviations, courses._means]
    of_designs = [courses.designs.sizes, courses.designs.variances]
    answers = [found.log_bayes_factor, found.posterior, found.probability, found.fdr, found.order]
    for array in (*of_courses, *of_designs, *answers):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7


def test_a_kernel_that_its_owner_changes_does_not_change_the_model():
    kernel = sk.RBF(2.0) + sk.RBF([3.0])
    gp = tl.GP(kernel, signal_sd=1, noise_sd=0.1)
    before = gp.score(COURSES)
    kernel.k1.length_scale = 0.01
    kernel.k2.length_scale[0] = 0.01
    assert gp.score(COURSES) == before


def both(first, second):
    """Two blocks of which each is entered before the other is left, in threads, the second left last."""
    entered, left = Barrier(2), Barrier(2)

    def one():
        with first():
            entered.wait(10)
        left.wait(10)

    def two():
        with second():
            entered.wait(10)
            left.wait(10)

    with ThreadPoolExecutor(2) as threads:
        for done in [threads.submit(one), threads.submit(two)]:
            done.result(20)


def test_runs_at_once_leave_the_filters_of_warnings_as_they_were():
    before = list(warnings.filters)
    both(exceptions.kept, exceptions.kept)
    both(lambda: exceptions.hushed(DataWarning), lambda: exceptions.hushed(FitWarning))
    assert list(warnings.filters) == before


def test_filters_are_changed_by_one_thread_at_a_time():
    before = list(warnings.filters)

    def change(_):
        with exceptions.filters():
            warnings.simplefilter("ignore")

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(change, range(200)))
    assert list(warnings.filters) == before


def warn_of_four():
    with exceptions.kept() as found:
        for message in ("a", "b", "a"):
            warn(message, DataWarning)
        with exceptions.hushed(FitWarning):
            warn("c", FitWarning)
            warn("d", DataWarning)
    return [one.message for one in found]


def test_warnings_are_kept_each_shown_once_and_hushed_by_their_kind():
    with pytest.warns(DataWarning, match="^[abd]$") as shown:
        found = warn_of_four()
    assert found == ["a", "b", "a", "d"]
    assert [str(one.message) for one in shown] == ["a", "b", "d"]
    assert {one.filename for one in shown} == {__file__}


def test_analyses_at_once_leave_the_filters_of_warnings_as_they_were(tmp_path):
    courses, _ = tl.simulate.profiles(per_group=5, seed=3)
    gp = tl.GP.se(0.9, 0.65, 0.08)
    before = list(warnings.filters)
    with ThreadPoolExecutor(2) as threads:
        runs = [threads.submit(tl.analyse, courses, tmp_path / str(k), model=gp, k=3) for k in range(2)]
        assert [run.result(120).clustering.k for run in runs] == [3, 3]
    assert list(warnings.filters) == before
