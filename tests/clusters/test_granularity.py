"""How fine to look: tolerances, nested clusters, groups that stand out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

import timelike as tl
from sliced import DRAW, X, clean_study, long_groups
from timelike.clusters.curves.granularity import gaps, groups, level_at, levels, nested
from timelike.clusters.curves.notes import resolved
from timelike.clusters.saved import load, save


@pytest.fixture(scope="module")
def clean() -> tuple[tl.TimeCourses, np.ndarray]:
    return long_groups(200)


@pytest.fixture(scope="module")
def found():
    return clean_study()[2]


# -- the tree ------------------------------------------------------------------------------------------------------


def slow_tree(curves, sizes):
    """Partitions and heights by the definition: all merges tried, every course one by one."""
    parts, steps = [[i] for i in range(len(curves))], []
    while len(parts) > 1:
        tried = []
        for a in range(len(parts)):
            for b in range(a + 1, len(parts)):
                each = np.concatenate([np.repeat(curves[[i]], sizes[i], axis=0) for i in parts[a] + parts[b]])
                tried.append((2 * np.sqrt(((each - each.mean(axis=0)) ** 2).mean()), a, b))
        height, a, b = min(tried)
        parts = [*(p for i, p in enumerate(parts) if i not in (a, b)), parts[a] + parts[b]]
        steps.append((max([height, *(h for h, _ in steps)]), {frozenset(p) for p in parts}))
    return steps


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 7))
def test_tree_follows_its_definition(seed, count):
    rng = np.random.default_rng(seed)
    curves, sizes = rng.standard_normal((count, 4)), rng.integers(1, 9, count)
    tree = nested(curves, sizes)
    for k, (height, parts) in zip(range(count - 1, 0, -1), slow_tree(curves, sizes), strict=True):
        assert tree[count - k - 1, 2] == pytest.approx(height, rel=1e-9)
        of = groups(tree, k)
        assert {frozenset(np.flatnonzero(of == g).tolist()) for g in range(k)} == parts


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.01, 100), st.floats(-50, 50))
def test_tolerances_have_the_unit_of_the_values(seed, unit, level):
    rng = np.random.default_rng(seed)
    curves, sizes = rng.standard_normal((6, 5)), rng.integers(1, 50, 6)
    tree, other = nested(curves, sizes), nested(unit * curves + level, sizes)
    np.testing.assert_allclose(other[:, 2], unit * tree[:, 2], rtol=1e-6)
    np.testing.assert_array_equal(other[:, [0, 1, 3]], tree[:, [0, 1, 3]])


def test_two_clusters_of_equal_size_merge_at_their_distance():
    rng = np.random.default_rng(0)
    curves = rng.standard_normal((2, 7))
    apart = np.sqrt(((curves[0] - curves[1]) ** 2).mean())
    assert nested(curves, np.array([20, 20]))[0, 2] == pytest.approx(apart)
    assert nested(curves, np.array([20, 2]))[0, 2] < apart


def test_groups_that_stand_out_are_merged_first():
    curves = np.array([[0.0], [1.0], [2.0], [4.0], [9.0]])
    first = np.array([0, 0, 1, 1, 1])
    np.testing.assert_array_equal(groups(nested(curves, np.ones(5, int), first), 2), first)
    assert groups(nested(curves, np.ones(5, int)), 2).tolist() != first.tolist()


def test_every_tolerance_has_its_level():
    tree = nested(np.array([[0.0], [1.0], [5.0], [5.5]]), np.ones(4, int))
    for level in levels(tree):
        inside = 2 * level.low if np.isinf(level.high) else (level.low + level.high) / 2
        assert level_at(tree, inside) == level.k
    assert [level.k for level in levels(tree)] == [1, 2, 3, 4]
    assert levels(np.zeros((0, 4)))[0].k == 1


def test_gaps_need_to_be_wide_and_groups_few():
    steps = np.arange(10.0)
    assert gaps(steps[:, None]) == []
    steps[5:] += 0.3
    assert gaps(steps[:, None]) == []
    steps[5:] += 0.3
    assert [g.tolist() for g in gaps(steps[:, None])] == [[0] * 5 + [1] * 5]
    close = np.array([0.0, 1.0, 2.0, 3.0, 3.1])  # one near pair is not four groups
    assert gaps(close[:, None]) == []


# -- clusters that stand out ---------------------------------------------------------------------------------------


def test_clean_groups_stand_out_of_finer_slices(found, clean):
    assert (found.k, found.continuum) == (4, False)
    assert adjusted_rand_score(clean[1], found.labels) == pytest.approx(1)
    assert found.finest.k > 8
    assert len(found.standing_out) == found.finest.k


def test_many_true_clusters_are_all_shown():
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 8, 400)
    values = (rng.standard_normal((8, 10)) @ DRAW.T)[truth] + 0.2 * rng.standard_normal((400, 10))
    found = tl.mixture(tl.TimeCourses.from_arrays(X, values), tl.GP.se(0.3, 1.0, 0.2))
    assert (found.k, found.finest, found.standing_out) == (8, None, None)


def test_other_numbers_are_nested(found):
    finer = found.finest
    for k in range(finer.k - 1, 0, -1):
        coarser = found.at(k=k)
        assert coarser.k == k
        assert all(
            len(set(coarser.labels[finer.labels == j])) == 1 for j in range(finer.k) if (finer.labels == j).any()
        )
        np.testing.assert_array_equal(coarser.labels < 0, found.finest.labels < 0)
        np.testing.assert_allclose(coarser.probabilities.sum(axis=1), found.probabilities.sum(axis=1))
        np.testing.assert_allclose(coarser.responsibilities.sum(axis=1), 1)
        finer = coarser


def test_tolerance_gives_the_same_clusters_as_the_number_in_its_range(found):
    frame = found.path_frame().set_index("k")
    for k in (1, 2, 4, 6):
        low, high = frame.tolerance_from[k], frame.tolerance_to[k]
        inside = 2 * low if np.isinf(high) else (low + high) / 2
        np.testing.assert_array_equal(found.at(inside).labels, found.at(k=k).labels)
    assert found.at(0).k == found.finest.k
    assert frame.sizes[4] == tuple(sorted(map(float, found.sizes), reverse=True))
    steps = frame.loc[1 : found.finest.k]
    np.testing.assert_array_equal(steps.tolerance_to[1:], steps.tolerance_from[:-1])


def test_mixture_at_a_tolerance(clean, found):
    courses, _ = clean
    settings = {"noise": "common", "refine": False}
    for tolerance in (0.0, 0.8):
        there = tl.mixture(courses, tl.fit(courses), tolerance=tolerance, **settings)
        np.testing.assert_array_equal(there.labels, found.at(tolerance).labels)
    with pytest.raises(tl.InputError, match=r"k is 3 and tolerance 0\.5: give one of them"):
        tl.mixture(courses, tl.fit(courses), k=3, tolerance=0.5)
    for wrong in (-1, np.nan, "0.3"):
        with pytest.raises(tl.InputError, match="expected a number, zero or more, in units of the values"):
            tl.mixture(courses, tl.fit(courses), tolerance=wrong)


def test_merged_clusters_have_curves_and_know_new_courses(found, clean):
    courses, _ = clean
    assert found.curves(X).mean.shape == (4, 10)
    means = np.array([courses.values.reshape(-1, 10)[found.labels == k].mean(axis=0) for k in range(4)])
    np.testing.assert_allclose(found.curves(X).mean, means, atol=0.15)
    assert found.spread > found.finest.spread
    told = found.predict(courses)
    assert (told.labels == found.labels).mean() > 0.98
    np.testing.assert_allclose(told.probabilities.sum(axis=1), found.finest.predict(courses).probabilities.sum(axis=1))
    np.testing.assert_allclose(found.log_densities(courses), found.finest.log_densities(courses))


def test_saved_and_loaded_whole(found, clean, tmp_path):
    save(tmp_path / "c.npz", found, clean[0])
    back, _ = load(tmp_path / "c.npz", found.gp)
    for name in ("labels", "probabilities", "responsibilities", "part_of", "standing_out", "tree"):
        np.testing.assert_array_equal(getattr(back, name), getattr(found, name))
    assert back.spread == found.spread
    np.testing.assert_array_equal(back.at(k=7).labels, found.at(k=7).labels)
    np.testing.assert_array_equal(back.predict(clean[0]).labels, found.predict(clean[0]).labels)


def test_errors_of_at(found):
    with pytest.raises(tl.InputError, match="give either a tolerance or k"):
        found.at()
    with pytest.raises(tl.InputError, match=rf"k is 99: expected a whole number up to {found.finest.k}"):
        found.at(k=99)


# -- noise that hides clusters -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("noise", "said"), [(3.0, True), (0.3, False)])
def test_noise_that_hides_clusters_is_said(noise, said, recwarn):
    rng = np.random.default_rng(1)
    values = (rng.standard_normal((5, 10)) @ DRAW.T)[np.arange(200) % 5] + noise * rng.standard_normal((200, 10))
    tl.mixture(tl.TimeCourses.from_arrays(X, values), tl.GP.se(0.3, 1.0, noise))
    words = [str(each.message) for each in recwarn if "the courses are noisy: a single one shows" in str(each.message)]
    assert bool(words) == said


def test_share_that_a_course_shows_is_that_of_the_posterior():
    courses = tl.TimeCourses.from_arrays(X, np.random.default_rng(0).standard_normal((30, 10)))
    gp = tl.GP.se(0.3, 1.5, 1.0)
    K = gp.covariance(X[:, None])
    left = K - K @ np.linalg.solve(K + np.eye(10), K)
    found = tl.mixture(courses, gp, k=1, spread=0.0, robust=False, noise="common")
    assert resolved(found) == pytest.approx(1 - np.trace(left) / np.trace(K))
