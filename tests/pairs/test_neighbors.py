"""The nearest courses against all pairs: whichever way they are found, they are the best of the whole matrix."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.gaussian_process.kernels import DotProduct, Matern

import oracle
import timelike as tl
from timelike import GP, TimeCourses
from timelike.exceptions import InputError, MissingExtraError
from timelike.pairs.nearest import points
from timelike.pairs.nearest.best import Best, Task, best_of, by_tiles
from timelike.pairs.nearest.by_candidates import Ranking, by_candidates
from timelike.pairs.nearest.neighbors import (
    AFFORDABLE,
    ITEMS_A_DESIGN,
    Neighbors,
    complete,
    neighbors,
    plan,
    recall_of,
)
from timelike.pairs.routes import route

GRID = np.linspace(0, 1, 10)
GIVEN = GP.se(0.3, signal_sd=1.0, noise_sd=0.2)


def draws(count, seed=0, level=1.0):
    rng = np.random.default_rng(seed)
    return (
        level * rng.standard_normal((count, 1))
        + np.sin(5 * GRID + rng.random((count, 1)))
        + 0.2 * rng.standard_normal((count, 10))
    )


def with_gaps(count, patterns, seed=0):
    """Courses on one grid that miss the same few times: `patterns` designs."""
    values = draws(count, seed)
    for pattern in range(1, patterns):
        values[pattern::patterns, [pattern, (3 * pattern + 4) % 10]] = np.nan
    return TimeCourses.from_arrays(GRID, values)


def own_times(count, seed=0):
    rng = np.random.default_rng(seed)
    times = [np.sort(rng.random(rng.integers(3, 7))) for _ in range(count)]
    return TimeCourses.from_arrays(times, [np.sin(5 * x + rng.random()) + rng.standard_normal() for x in times])


def best_of_matrix(courses, gp, k, others=None):
    S = np.array(tl.similarity(courses, gp, others).values)
    if others is None:
        np.fill_diagonal(S, -np.inf)
    indices = np.argsort(-S, axis=1, kind="stable")[:, :k]
    return indices, np.take_along_axis(S, indices, axis=1)


def check_all_pairs_agree(found, courses, gp, others=None):
    """For neighbours, or for a running best."""
    indices, scores = best_of_matrix(courses, gp, found.indices.shape[1], others)
    assert_array_equal(found.indices, indices)
    assert_allclose(found.scores, scores, rtol=1e-9, atol=1e-12 * max(1.0, np.abs(scores).max()))


def searched(courses, k):
    """A search among courses that has not yet begun: task, best, and the route of a pair."""
    here = GIVEN.at(courses)
    return Task(here, len(courses), 0, k, None), Best(len(courses), k), route(here)


# -- exact ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [1e-4, 1e-2, 0.2, 1.0, 1e2])
@pytest.mark.parametrize("length_scale", [0.03, 0.3])
def test_one_grid(noise, length_scale):
    """A rough kernel spreads the points in ten directions, where a tree no longer pays: both searches are here."""
    courses, gp = TimeCourses.from_arrays(GRID, draws(400)), GP.se(length_scale, 1.0, noise)
    found = neighbors(courses, gp)
    assert found.route == "grid"
    assert found.recall == 1
    check_all_pairs_agree(found, courses, gp)


@pytest.mark.parametrize("noise", [1e-4, 0.2, 1e2])
def test_few_grids(noise):
    courses, gp = with_gaps(3 * ITEMS_A_DESIGN, 3), GP.se(0.3, 1.0, noise)
    found = neighbors(courses, gp, k=5)
    assert found.route == "grids"
    check_all_pairs_agree(found, courses, gp)


def test_the_papers_formula():
    times, values, errors = oracle.example("errors", count=9)
    courses = TimeCourses.from_arrays(times[0], np.array(values), errors=errors[0])
    found = neighbors(courses, GP.se(0.4, 1.3, 0.3, mean=0.2), k=3)
    S = oracle.similarity_matrix(times, values, oracle.given(oracle.se, 0.4, 1.3), 0.09, 0.2, [errors[0]] * len(values))
    np.fill_diagonal(S, -np.inf)
    assert_array_equal(found.indices, np.argsort(-S, axis=1)[:, :3])
    assert_allclose(found.scores, -np.sort(-S, axis=1)[:, :3], rtol=1e-9)


@pytest.mark.parametrize("name", oracle.KERNELS)
def test_any_kernel(name):
    courses, gp = TimeCourses.from_arrays(GRID, draws(120)), GP(oracle.KERNELS[name][0], 1.1, 0.3)
    check_all_pairs_agree(neighbors(courses, gp, k=3), courses, gp)


def test_a_kernel_that_says_nothing_at_these_times():
    courses = TimeCourses.from_arrays([0.0, 0.0], draws(20)[:, :2])
    found = neighbors(courses, GP(DotProduct(0.0), 1.0, 0.1), k=2)
    assert_array_equal(found.scores, 0)


def test_replicates_and_a_mean():
    courses = TimeCourses.from_arrays(
        np.repeat([0, 1, 2.0], 4), 9 + np.random.default_rng(0).standard_normal((200, 12))
    )
    gp = GP.se(1.0, 2.0, 0.5, mean=9.4)
    check_all_pairs_agree(neighbors(courses, gp, k=4), courses, gp)


@pytest.mark.parametrize("courses", [own_times(150), with_gaps(150, 6)], ids=["own", "gaps"])
def test_own_times_by_all_pairs(courses):
    found = neighbors(courses, GIVEN, k=6)
    assert found.route == "tiles"
    check_all_pairs_agree(found, courses, GIVEN)


def test_a_rough_kernel_at_own_times():
    courses, gp = own_times(30), GP(Matern(0.05, nu=0.5), 1.0, 0.2)
    check_all_pairs_agree(neighbors(courses, gp, k=3), courses, gp)


def test_more_items_than_are_compared_at_once():
    courses = own_times(150)
    task, best, way = searched(courses, 40)
    by_tiles(task, best, way, width=32)
    check_all_pairs_agree(best, courses, GIVEN)


@pytest.mark.parametrize("make", [lambda n, seed: TimeCourses.from_arrays(GRID, draws(n, seed)), own_times])
def test_new_courses_against_stored_ones(make):
    new, stored = make(20, 1), make(130, 2)
    found = neighbors(new, GIVEN, k=4, others=stored)
    check_all_pairs_agree(found, new, GIVEN, stored)
    assert (found.names, found.others) == (new.names, stored.names)


def test_new_courses_on_another_grid():
    new, stored = TimeCourses.from_arrays([0, 0.33, 1], draws(60)[:, :3]), with_gaps(4 * ITEMS_A_DESIGN, 3)
    found = neighbors(new, GIVEN, k=4, others=stored)
    assert found.route == "grids"
    check_all_pairs_agree(found, new, GIVEN, stored)


def test_among_others_a_course_may_find_itself():
    courses = TimeCourses.from_arrays(GRID, draws(50))
    found = neighbors(courses, GIVEN, k=50, others=courses)
    assert_array_equal(np.sort(found.indices, axis=1), np.tile(np.arange(50), (50, 1)))


def test_every_other_course_when_k_is_as_large_as_can_be():
    found = neighbors(TimeCourses.from_arrays(GRID, draws(30)), GIVEN, k=29)
    assert_array_equal(np.sort(found.indices, axis=1), [[j for j in range(30) if j != i] for i in range(30)])
    assert (np.diff(found.scores, axis=1) <= 0).all()


def test_equal_courses_come_in_their_order():
    values = draws(3)
    courses = TimeCourses.from_arrays(GRID, values[[0, 1, 0, 2, 0]])
    assert_array_equal(neighbors(courses, GIVEN, k=2).indices[[0, 2, 4]], [[2, 4], [0, 4], [0, 2]])


@pytest.mark.parametrize("courses", [TimeCourses.from_arrays(GRID, draws(900)), own_times(300)], ids=["grid", "own"])
def test_threads_do_not_change_a_bit(courses):
    one, two = (neighbors(courses, GIVEN, threads=n) for n in (1, 2))
    assert_array_equal(one.indices, two.indices)
    assert_array_equal(one.scores, two.scores)


# -- points -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [points.tree_finder, lambda items: points.brute_finder(items, 1)])
@pytest.mark.parametrize("apart", [0.0, 1e6])
def test_finders_find_the_nearest(make, apart):
    """Also where points lie in two heaps so far apart that a product of lengths has no digits left for a heap."""
    rng = np.random.default_rng(0)
    items, queries = 1e-3 * rng.standard_normal((300, 6)), 1e-3 * rng.standard_normal((40, 6))
    items[::2] += apart
    queries[::2] += apart
    squares = ((queries[:, None] - items) ** 2).sum(axis=2)
    found = make(items)(queries, 9)
    assert_array_equal(np.sort(found, axis=1), np.sort(np.argsort(squares, axis=1)[:, :9], axis=1))


@pytest.mark.parametrize(("dimensions", "name"), [(3, "tree_finder"), (20, "brute_finder")])
def test_a_tree_in_few_dimensions_all_items_in_many(dimensions, name):
    search = points.Search(np.random.default_rng(0).standard_normal((500, dimensions)))
    assert search._made().__qualname__.startswith(name)


def test_more_queries_than_are_answered_at_once():
    items, queries = np.random.default_rng(0).standard_normal((2, 700, 2))
    search = points.Search(items)
    whole, *none = points.nearest_points(search, queries, 5)
    parts = list(points.nearest_points(search, queries, 5, at_once=1))
    assert (len(none), len(parts)) == (0, 3)
    for k in (0, 1):
        assert_array_equal(np.concatenate([part[k] for part in parts]), whole[k])


def test_directions_without_spread_do_not_count():
    flat = np.zeros((200, 15))
    flat[:, :2] = np.random.default_rng(0).standard_normal((200, 2))
    assert points.resolved_dimensions(flat) == 2
    assert points.resolved_dimensions(np.ones((5, 3))) == 0


# -- candidates and the approximate index -----------------------------------------------------------------------------


def test_candidates_say_what_they_found():
    courses = own_times(600)
    task, best, way = searched(courses, 5)
    by_candidates(task, best, way, 40)
    indices, scores = best_of_matrix(courses, GIVEN, 5)
    recall = recall_of(task, best)
    assert recall >= 0.95
    hits = np.mean([np.isin(a, b).mean() for a, b in zip(best.indices, indices, strict=True)])
    assert hits == pytest.approx(recall, abs=0.03)
    hit = best.indices == indices
    assert_allclose(best.scores[hit], scores[hit], rtol=1e-9)


def test_the_ranking_is_exact_where_all_courses_leave_the_same_uncertain():
    """On one grid: it differs from s by a number of each course asked about."""
    courses, gp = TimeCourses.from_arrays(GRID, draws(60), errors=np.linspace(0, 1, 10)), GP.se(0.3, 1.0, 0.2)
    ranking = Ranking.of(gp.at(courses).information, Task(gp.at(courses), 60, 0, 5, None))
    scores = tl.similarity(courses, gp).values[:, ranking.order]
    differences = ranking.form(np.arange(60)) @ ranking.levels[-1].T - scores
    assert_allclose(differences, np.tile(differences[:, :1], 60), rtol=1e-8)


class Counting(np.ndarray):
    """Counts the columns that it is multiplied with."""

    columns = 0

    def __matmul__(self, other):
        Counting.columns += other.shape[1]
        return np.asarray(self) @ other


def test_few_of_many_items_are_ranked(monkeypatch):
    """Cells that are far from a course cost nothing but their share of a larger one, and hide none of the best."""
    courses = own_times(6000)
    here, form = GIVEN.at(courses), Ranking.form
    ranking = Ranking.of(here.information, Task(here, 6000, 0, 2, None), 40)
    best = np.argsort(-(ranking.form(np.arange(1)) @ ranking.levels[-1].T)[0])[:20]
    monkeypatch.setattr(Ranking, "form", lambda self, rows: form(self, rows).view(Counting))
    found = ranking.candidates(np.arange(1))
    assert len(found) == 40
    assert np.isin(ranking.order[best], found).all()
    assert Counting.columns < 1000


def test_recall_is_measured_not_assumed():
    """With candidates chosen at random, hardly one is right."""
    task, best, way = searched(own_times(600), 5)
    items = np.sort(np.random.default_rng(0).permutation(600)[:60])
    best.offer(*best_of(way, np.arange(600), items, task.k))
    assert recall_of(task, best) < 0.3


def test_candidates_for_new_courses():
    new, stored = own_times(20, 1), own_times(400, 2)
    found = neighbors(new, GIVEN, k=3, others=stored, approximate=True)
    assert found.route == "candidates"
    check_all_pairs_agree(found, new, GIVEN, stored)


def test_candidates_where_all_pairs_are_too_many_unless_exact_is_asked_for():
    task, _, way = searched(own_times(100), 5)
    assert way.name == "information"
    for pairs, name in [(100 * 100, "tiles"), (100 * 100 - 1, "candidates")]:
        assert plan(task, None, AFFORDABLE | {"information": pairs}) == name
    assert plan(task, approximate=False, affordable={}) == "tiles"
    assert plan(task, approximate=True, affordable={}) == "candidates"


def test_courses_with_too_few_candidates_see_all_items():
    courses = own_times(100)
    task, best, way = searched(courses, 5)
    best.offer(*best_of(way, np.arange(100), np.array([1, 2, 3]), task.k))
    complete(task, best)
    check_all_pairs_agree(best, courses, GIVEN)


def test_the_approximate_index_states_its_recall():
    courses = TimeCourses.from_arrays(GRID, draws(2000))
    found = neighbors(courses, GIVEN, k=5, approximate=True)
    indices, _ = best_of_matrix(courses, GIVEN, 5)
    assert found.route == "approximate"
    assert np.mean([np.isin(a, b).mean() for a, b in zip(found.indices, indices, strict=True)]) >= 0.95
    assert 0.9 <= found.recall <= 1
    assert repr(found) == f"Neighbors: 5 of each of 2,000 courses (approximate, recall {found.recall:.3f} on a sample)"


def test_an_approximate_index_of_few_courses_is_exact():
    courses = TimeCourses.from_arrays(GRID, draws(30))
    check_all_pairs_agree(neighbors(courses, GIVEN, k=29, approximate=True), courses, GIVEN)


def test_an_index_that_looks_into_one_cell_misses_some():
    items = np.random.default_rng(0).standard_normal((2000, 4))
    nearest = points.tree_finder(items)(items, 5)
    few, many = (
        np.mean([np.isin(a, b).mean() for a, b in zip(find(items, 5), nearest, strict=True)])
        for find in (points.cell_finder(items, 1, cells_asked=1), points.cell_finder(items, 1))
    )
    assert few < 0.95 < many


def test_without_faiss(monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(MissingExtraError, match=r"timelike\[approximate\]"):
        neighbors(TimeCourses.from_arrays(GRID, draws(50)), GIVEN, approximate=True)


# -- the running best -------------------------------------------------------------------------------------------------


def test_the_best_of_several_offers():
    best = Best(4, 3)
    rows = np.array([3, 1])
    best.offer(rows, np.array([[5, 3], [0, 2]]), np.array([[1.0, 9.0], [4.0, 4.0]]))
    best.offer(rows, np.array([[7, 6], [9, 8]]), np.array([[2.0, 1.0], [4.0, 5.0]]))
    assert_array_equal(best.indices[3], [7, 5, 6])  # not 3, itself
    assert_array_equal(best.indices[1], [8, 0, 2])
    assert_array_equal(best.scores[1], [5, 4, 4])
    assert_array_equal(best.forget_incomplete(), [0, 2])


# -- what comes out ---------------------------------------------------------------------------------------------------


def test_graph_is_the_union():
    found = Neighbors(np.array([[1], [2], [1], [0]]), np.zeros((4, 1)), ("a", "b", "c", "d"))
    assert_array_equal(found.graph().toarray(), [[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0]])


def test_a_graph_leaves_the_neighbours_in_their_order():
    for others in (None, ("x", "y", "z")):
        found = Neighbors(np.array([[2, 1], [2, 0], [1, 0]]), np.zeros((3, 2)), ("a", "b", "c"), others)
        graph = found.graph()
        assert graph.indices.dtype == graph.indptr.dtype == np.int32  # as scikit-learn's graphs have
        assert_array_equal(found.indices, [[2, 1], [2, 0], [1, 0]])


def test_graph_is_the_papers():
    courses, _ = tl.simulate.profiles(seed=0, per_group=20)
    S = tl.similarity(courses, GIVEN)
    graph = neighbors(courses, GIVEN, k=5).graph()
    closest = np.argsort(S.dissimilarity() + np.diag(np.full(60, np.inf)), axis=1)[:, :5]
    expected = np.zeros((60, 60))
    np.put_along_axis(expected, closest, 1, axis=1)
    assert_array_equal(graph.toarray(), np.maximum(expected, expected.T))


def test_graph_against_others_is_directed():
    found = Neighbors(np.array([[2, 0]]), np.zeros((1, 2)), ("a",), ("x", "y", "z"))
    assert_array_equal(found.graph().toarray(), [[1, 0, 1]])


def test_frame():
    found = Neighbors(np.array([[2, 0]]), np.array([[5.0, 1.0]]), ("a",), ("x", "y", "z"))
    frame = found.to_frame()
    assert list(frame.columns) == ["course", "rank", "neighbor", "score"]
    assert frame.to_numpy().tolist() == [["a", 1, "z", 5.0], ["a", 2, "x", 1.0]]


# -- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [0, -1, 5, 2.0, True, "7", None])
def test_k_out_of_range(k):
    with pytest.raises(InputError, match="from 1 to 4, the number of other courses"):
        neighbors(TimeCourses.from_arrays(GRID, draws(5)), GIVEN, k)


def test_one_course_has_no_neighbours():
    one = TimeCourses.from_arrays(GRID, draws(1))
    with pytest.raises(InputError, match="only one course: it has no neighbours; give others=, or more courses"):
        neighbors(one, GIVEN)
    assert neighbors(one, GIVEN, 1, others=one).indices.tolist() == [[0]]


def test_k_out_of_range_among_others():
    courses = TimeCourses.from_arrays(GRID, draws(5))
    with pytest.raises(InputError, match=r"k is 6: .* from 1 to 5, the number of courses in others"):
        neighbors(courses, GIVEN, 6, others=courses)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [((draws(5), GIVEN), "courses"), ((own_times(9), "se"), "gp"), ((own_times(9), GIVEN), "others")],
)
def test_wrong_types(arguments, word):
    with pytest.raises(InputError, match=f"{word} must be"):
        neighbors(*arguments, k=2, others=draws(5) if word == "others" else None)


def test_points_of_another_space():
    plane = TimeCourses.from_arrays(np.ones((3, 2)), draws(4)[:, :3])
    with pytest.raises(InputError, match="coordinates"):
        neighbors(TimeCourses.from_arrays(GRID, draws(5)), GIVEN, 2, others=plane)


def test_points_in_the_plane():
    rng = np.random.default_rng(0)
    courses = TimeCourses.from_arrays(rng.random((6, 2)), rng.standard_normal((80, 6)))
    check_all_pairs_agree(neighbors(courses, GIVEN, k=4), courses, GIVEN)


def test_many_threads_build_one_tree(monkeypatch):
    made = []

    def slow(items, plain=points.tree_finder):
        made.append(len(items))
        return plain(items)

    monkeypatch.setattr(points, "tree_finder", slow)
    items, queries = np.random.default_rng(0).standard_normal((2, 4000, 2))
    assert len(list(points.nearest_points(points.Search(items, 4), queries, 5, at_once=1))) == 16
    assert made == [4000]
