"""Distances against plain loops that know nothing of the library."""

import math
import re
import sys

import numpy as np
import pytest

import oracle
import timelike as tl
from timelike.exceptions import InputError, MissingExtraError
from timelike.pairs.distance import MEASURES, Distance, distance

GP = tl.GP.se(length_scale=0.6, signal_sd=1.3, noise_sd=0.4, mean=0.2)


def naive_euclidean(x, y):
    return math.sqrt(sum((a - b) ** 2 for a, b in zip(x, y, strict=True)))


def naive_correlation(x, y):
    return 1 - np.corrcoef(x, y)[0, 1]


def naive_dtw(x, y, cost):
    best = {(0, 0): 0.0}
    for i in range(1, len(x) + 1):
        for j in range(1, len(y) + 1):
            before = min(best.get(p, math.inf) for p in ((i - 1, j - 1), (i - 1, j), (i, j - 1)))
            best[i, j] = before + cost(x[i - 1] - y[j - 1])
    return best[len(x), len(y)]


def naive_edr(x, y):
    tolerance = max(np.std(x), np.std(y)) / 4

    def edits(i, j):
        if i == 0 or j == 0:
            return i + j
        if (i, j) not in known:
            replace = 0 if abs(x[i - 1] - y[j - 1]) <= tolerance else 1
            known[i, j] = min(edits(i - 1, j - 1) + replace, edits(i - 1, j) + 1, edits(i, j - 1) + 1)
        return known[i, j]

    known = {}
    return edits(len(x), len(y)) / max(len(x), len(y))


def naive_bregman(t_x, x, t_y, y):
    """|m_x - m_y|^2 in the kernel's space, with m = sum_k alpha_k k(., t_k)."""

    def weights(t, v):
        K = oracle.se(t, t, 0.6, 1.3)
        return np.linalg.solve(K + 0.4**2 * np.eye(len(t)), v - 0.2)

    alpha = np.concatenate([weights(t_x, x), -weights(t_y, y)])
    t = np.concatenate([t_x, t_y])
    return alpha @ oracle.se(t, t, 0.6, 1.3) @ alpha


NAIVE = {
    "euclidean": lambda a, b: naive_euclidean(a.values, b.values),
    "correlation": lambda a, b: naive_correlation(a.values, b.values),
    "dtw": lambda a, b: math.sqrt(naive_dtw(a.values, b.values, lambda d: d * d)),
    "dtw-absolute": lambda a, b: naive_dtw(a.values, b.values, abs),
    "edr": lambda a, b: naive_edr(a.values, b.values),
    "bregman": lambda a, b: naive_bregman(a.times, a.values, b.times, b.values),
}


def shared():
    rng = np.random.default_rng(1)
    times = np.array([0, 0.1, 0.1, 0.4, 0.7, 1.2])  # uneven, one replicate
    return tl.TimeCourses.from_arrays(times, rng.normal(size=(9, 6)).round(1))


def ragged():
    rng = np.random.default_rng(2)
    times = [np.sort(rng.random(n)) for n in (3, 7, 5, 1, 4, 7, 2)]
    return tl.TimeCourses.from_arrays(times, [rng.normal(size=len(t)).round(1) for t in times])


def all_pairs(courses, measure):
    return np.array([[NAIVE[measure](a, b) for b in courses] for a in courses])


@pytest.mark.parametrize("measure", MEASURES)
def test_shared_grid_equals_the_plain_loop(measure):
    expected = all_pairs(shared(), measure)
    np.fill_diagonal(expected, 0)  # one minus a correlation of 0.9999...
    np.testing.assert_allclose(distance(shared(), measure, GP).values, expected, atol=1e-10)


@pytest.mark.parametrize("measure", ["dtw", "dtw-absolute", "edr", "bregman"])
def test_own_times_equal_the_plain_loop(measure):
    np.testing.assert_allclose(distance(ragged(), measure, GP).values, all_pairs(ragged(), measure), atol=1e-10)


def test_edr_over_several_tiles_equals_the_plain_loop():
    courses, _ = tl.simulate.profiles(noise=0.3, sampling="asynchronous", per_group=50, seed=3)
    found = distance(courses, "edr").values
    for i, j in [(0, 149), (149, 0), (5, 130), (127, 128), (129, 140), (7, 7)]:
        assert found[i, j] == pytest.approx(naive_edr(courses[i].values, courses[j].values))


def test_bregman_equals_the_authors_program(genes, reference):
    gp = tl.GP.se(length_scale=54.5183, signal_sd=3.24964, noise_sd=0.358655, mean=9.4076)
    found = distance(genes[100:130], "bregman", gp).values
    np.testing.assert_allclose(found, reference("shared_grid_bregman.csv"), rtol=1e-8, atol=1e-8)


# -- laws ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", MEASURES)
def test_symmetric_with_zero_diagonal_and_never_negative(measure):
    D = distance(shared(), measure, GP).values
    np.testing.assert_array_equal(D, D.T)
    np.testing.assert_array_equal(np.diag(D), 0)
    assert (D >= 0).all()


@pytest.mark.parametrize("measure", MEASURES)
def test_other_courses_do_not_matter(measure):
    chosen = [6, 1, 4]
    part = distance(shared()[chosen], measure, GP)
    np.testing.assert_allclose(part.values, distance(shared(), measure, GP).values[np.ix_(chosen, chosen)], atol=1e-12)


def test_warping_never_lengthens():
    courses, _ = tl.simulate.profiles(noise=0.3, per_group=5, seed=1)
    assert (distance(courses, "dtw").values <= distance(courses, "euclidean").values + 1e-12).all()


def test_edr_of_constant_courses_is_zero_when_equal_and_one_when_not():
    courses = tl.TimeCourses.from_arrays([0, 1, 2], [[5, 5, 5], [5, 5, 5], [6, 6, 6]])
    np.testing.assert_array_equal(distance(courses, "edr").values, [[0, 0, 1], [0, 0, 1], [1, 1, 0]])


@pytest.mark.parametrize("measure", ["dtw", "edr", "bregman"])
def test_one_course(measure):
    np.testing.assert_array_equal(distance(shared()[0], measure, GP).values, [[0]])


def test_carries_its_names():
    D = distance(shared(), "dtw")
    assert isinstance(D, Distance)
    assert D.measure == "dtw"
    assert list(D.to_frame().columns) == list(D.to_frame().index) == list(shared().names)
    assert repr(D) == "Distance: 9 x 9, dtw"


# -- mistakes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", ["cosine", ["euclidean"], None])
def test_unknown_measure_lists_the_known(measure):
    with pytest.raises(InputError, match=rf"no measure {re.escape(repr(measure))}.*euclidean.*bregman"):
        distance(shared(), measure)


def test_other_nouns_are_named():
    with pytest.raises(InputError, match="courses must be TimeCourses, not list"):
        distance([1, 2], "euclidean")
    with pytest.raises(InputError, match="gp must be GP, not str"):
        distance(shared(), "bregman", gp="se")


@pytest.mark.parametrize("measure", ["euclidean", "correlation"])
def test_pointwise_measures_are_not_defined_for_own_times(measure):
    with pytest.raises(InputError, match=rf"{measure} measure compares values at the same times.*timelike\.similarity"):
        distance(ragged(), measure)


def test_a_missing_value_is_a_different_time():
    courses = tl.TimeCourses.from_arrays([0, 1], [[1, 2], [3, float("nan")]])
    with pytest.raises(InputError, match="same times"):
        distance(courses, "euclidean")


def test_constant_course_has_no_correlation():
    courses = tl.TimeCourses.from_arrays([0, 1, 2], [[1, 2, 3], [0.1, 0.1, 0.1]], names=["a", "flat"])
    with pytest.raises(InputError, match=r"'flat' is constant.*most_variable"):
        distance(courses, "correlation")


def test_bregman_needs_a_model():
    with pytest.raises(InputError, match=r"gp=timelike\.fit"):
        distance(shared(), "bregman")


@pytest.mark.parametrize("measure", ["dtw", "edr"])
def test_points_in_space_have_no_order(measure):
    courses = tl.TimeCourses.from_arrays(np.random.default_rng(0).random((4, 2)), np.ones((3, 4)))
    with pytest.raises(InputError, match="several coordinates"):
        distance(courses, measure)


def test_without_the_extra_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "dtaidistance", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'timelike\[baselines\]'"):
        distance(shared(), "dtw")
