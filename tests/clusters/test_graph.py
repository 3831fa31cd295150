"""The neighbour graph against plain loops."""

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components

from timelike.clusters.graph import nearest, neighbor_graph, tree
from timelike.exceptions import InputError


def distances(n, seed=0):
    points = np.random.default_rng(seed).normal(size=(n, 3))
    return np.sqrt(((points[:, None] - points) ** 2).sum(-1))


def naive_tree(D):
    """Kruskal: the shortest edges that close no circle."""
    group = list(range(len(D)))
    edges = set()
    pairs = [(i, j) for i in range(len(D)) for j in range(i)]
    for i, j in sorted(pairs, key=lambda pair: D[pair]):
        if group[i] != group[j]:
            edges.add(frozenset((i, j)))
            group = [group[i] if g == group[j] else g for g in group]
    return edges


def naive_graph(D, k):
    edges = naive_tree(D)
    for i in range(len(D)):
        others = sorted((j for j in range(len(D)) if j != i), key=lambda j: D[i, j])
        edges |= {frozenset((i, j)) for j in others[:k]}
    return edges


def edges_of(pairs):
    return {frozenset(map(int, pair)) for pair in zip(*pairs, strict=True)}


@pytest.mark.parametrize("n", [2, 3, 10, 60])
def test_tree_equals_kruskal(n):
    D = distances(n, seed=n)
    assert edges_of((range(n), tree(D))) == naive_tree(D)


@pytest.mark.parametrize(("n", "k"), [(2, 1), (8, 2), (60, 7), (60, 59)])
def test_graph_is_neighbours_of_either_end_plus_tree(n, k):
    D = distances(n, seed=k)
    graph = neighbor_graph(D, k)
    assert edges_of(graph.nonzero()) == naive_graph(D, k)
    np.testing.assert_array_equal((graph - graph.T).toarray(), 0)
    np.testing.assert_array_equal(graph.data, 1)


def test_two_far_clouds_are_joined_by_the_tree():
    near = distances(20, seed=4)
    D = np.block([[near, near + 100], [near + 100, near]])
    alone, _ = connected_components(neighbor_graph(D[:20, :20], 3))
    joined, _ = connected_components(neighbor_graph(D, 3))
    assert (alone, joined) == (1, 1)


def test_the_diagonal_is_not_looked_at():
    D = distances(30)
    other = D.copy()
    np.fill_diagonal(other, -7)
    np.testing.assert_array_equal(neighbor_graph(D, 4).toarray(), neighbor_graph(other, 4).toarray())


def test_nearest_in_several_parts():
    D = distances(50)
    whole, parts = nearest(D, 5), nearest(D, 5, rows_at_once=7)
    np.testing.assert_array_equal(np.sort(whole), np.sort(parts))


@pytest.mark.parametrize("k", [0, 2.5, 2.0, True, "2", None])
def test_neighbors_are_a_whole_number(k):
    with pytest.raises(InputError, match=f"neighbors is {k!r}: expected a whole number, at least 1"):
        neighbor_graph(distances(5), k)


def test_more_neighbors_than_other_courses():
    with pytest.raises(InputError, match="neighbors is 5: expected 1 to 4"):
        neighbor_graph(distances(5), 5)
