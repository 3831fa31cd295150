"""Clusters of the sparse neighbour graph: the same as from the full matrix, pieces, Leiden."""

import sys

import numpy as np
import pytest
from scipy.sparse import block_diag, csr_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist
from sklearn.cluster import spectral_clustering

import timelike as tl
from timelike.clusters.graph import neighbor_graph
from timelike.clusters.leiden import leiden
from timelike.clusters.nmi import nmi
from timelike.clusters.normalised_cut import cut, discretized
from timelike.clusters.spectral import spectral
from timelike.exceptions import InputError, MissingExtraError
from timelike.pairs.distance import Distance
from timelike.pairs.nearest.graph import nearest_graph
from timelike.pairs.nearest.neighbors import Neighbors, neighbors


def nearest_points(points, k=7):
    """Neighbours by plain distance, and the distances themselves."""
    D = cdist(points, points)
    order = np.argsort(D + np.diag(np.full(len(D), np.inf)), axis=1, kind="stable")[:, :k]
    names = tuple(map(str, range(len(D))))
    return Neighbors(order, -np.take_along_axis(D, order, axis=1), names), Distance(D, names, "euclidean")


def clouds(sizes, apart, seed=0):
    rng = np.random.default_rng(seed)
    centers = apart * np.arange(len(sizes))[:, None] * np.array([1.0, 0.0])
    labels = np.repeat(np.arange(len(sizes)), sizes)
    return centers[labels] + rng.normal(size=(len(labels), 2)), labels


def normalised_cut(graph, labels):
    """The sum over clusters of edges cut / edges, by plain loops."""
    W, total = graph.toarray(), 0.0
    for label in np.unique(labels):
        own = labels == label
        total += W[own][:, ~own].sum() / W[own].sum()
    return total


# -- the same as from the matrix ---------------------------------------------------------------------------------------


def test_nearest_graph_is_the_neighbour_graph_without_its_tree():
    found, distance = nearest_points(clouds([30], 0)[0], 5)
    graph, whole = nearest_graph(found.indices), neighbor_graph(distance.values, 5)
    assert (graph.toarray() <= whole.toarray()).all()
    np.testing.assert_array_equal(graph.toarray(), found.graph().toarray())
    loops = {frozenset((i, int(j))) for i in range(30) for j in found.indices[i]}
    assert loops == {frozenset(map(int, pair)) for pair in zip(*graph.nonzero(), strict=True)}


@pytest.mark.parametrize("seed", range(3))
def test_same_labels_as_from_the_full_matrix(seed):
    points, _ = clouds([60, 60, 60], 3.0, seed)
    found, distance = nearest_points(points)
    same = (nearest_graph(found.indices) != neighbor_graph(distance.values, 7)).nnz == 0
    assert same, "the tree must lie inside the graph for this test"
    np.testing.assert_array_equal(spectral(found, 3).labels, spectral(distance, 3).labels)


def test_same_labels_as_from_the_similarity():
    courses, truth = tl.simulate.profiles(noise=0.08, seed=2)
    gp = tl.fit(courses)
    sparse, full = spectral(neighbors(courses, gp, k=7), 3), spectral(tl.similarity(courses, gp), 3)
    assert nmi(sparse, full) > 0.95
    assert nmi(sparse, truth) > 0.8
    assert sparse.names == courses.names


def test_only_the_first_neighbours_count():
    found, _ = nearest_points(clouds([60, 60], 4.0)[0], 12)
    fewer, _ = nearest_points(clouds([60, 60], 4.0)[0], 7)
    np.testing.assert_array_equal(spectral(found, 2).labels, spectral(fewer, 2).labels)


@pytest.mark.parametrize("size", [150, 600])
def test_own_eigenvectors_cut_like_scikit_learn(size):
    """600: Lanczos; 150: dense."""
    found, _ = nearest_points(clouds([size // 3] * 3, 3.5, seed=5)[0])
    graph = nearest_graph(found.indices)
    assert connected_components(graph)[0] == 1
    theirs = spectral_clustering(graph, n_clusters=3, eigen_solver="arpack", assign_labels="discretize", random_state=0)
    assert nmi(cut(graph, 3, seed=0), theirs) > 0.97
    assert normalised_cut(graph, cut(graph, 3, seed=0)) < 1.02 * normalised_cut(graph, theirs)


@pytest.mark.parametrize("seed", range(4))
def test_discretized_finds_rotated_indicators(seed):
    """As well as who knows the rotation."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 4, 400)
    rotation = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    noisy = np.eye(4)[labels] + 0.2 * rng.normal(size=(400, 4))
    assert nmi(discretized(noisy @ rotation, seed=3), labels) > nmi(noisy.argmax(axis=1), labels) - 0.03


# -- pieces --------------------------------------------------------------------------------------------------------


def test_pieces_are_never_joined_and_the_loosest_is_cut():
    points, truth = clouds([40, 40], 4.0, seed=1)
    far = np.concatenate([points, points[:30] + 100])
    found, _ = nearest_points(far)
    graph = nearest_graph(found.indices)
    assert connected_components(graph)[0] == 2
    result = spectral(found, 3)
    assert result.k == 3
    assert set(result.labels[80:]) == {2}
    assert nmi(result.labels[:80], truth) > 0.8


def test_as_many_pieces_as_clusters_are_the_clusters():
    points, truth = clouds([20, 30, 25], 100.0)
    np.testing.assert_array_equal(spectral(nearest_points(points)[0], 3).labels, truth)


def test_equal_pieces_are_all_found():
    """Lanczos on the whole graph would see one of several equal eigenvalues."""
    found, _ = nearest_points(clouds([400], 0, seed=3)[0])
    piece = nearest_graph(found.indices)
    labels = cut(csr_array(block_diag([piece] * 4, format="csr")), 4, seed=0)
    np.testing.assert_array_equal(labels, np.repeat(np.arange(4), 400))


def test_more_pieces_than_clusters():
    found, _ = nearest_points(clouds([20, 30, 25], 100.0)[0])
    with pytest.raises(InputError, match=r"3 pieces \(of 30, 25, 20 courses\), more than the 2 clusters"):
        spectral(found, 2)


# -- refusals ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [lambda nn: spectral(nn, 2), leiden])
def test_too_few_neighbours_are_known(method):
    found, _ = nearest_points(clouds([20, 20], 4.0)[0], 5)
    with pytest.raises(InputError, match=r"neighbors is 7, but the 5 nearest of each course are known.*k=7"):
        method(found)


def test_all_others_where_there_are_not_so_many():
    found, _ = nearest_points(clouds([3, 3], 9.0)[0], 5)
    assert spectral(found, 1).k == 1


@pytest.mark.parametrize("neighbors", [0, 2.5, 2.0, True, "2", None])
def test_neighbors_are_a_whole_number(neighbors):
    found, distance = nearest_points(clouds([20, 20], 4.0)[0], 5)
    for method in (lambda: spectral(found, 2, neighbors), lambda: spectral(distance, 2, neighbors)):
        with pytest.raises(InputError, match=f"neighbors is {neighbors!r}"):
            method()


def test_neighbours_among_others_are_no_graph():
    found, _ = nearest_points(clouds([20], 4.0)[0])
    with pytest.raises(InputError, match="among other courses"):
        spectral(Neighbors(found.indices, found.scores, found.names, others=("a",) * 20), 2)


@pytest.mark.parametrize("k", [0, 41, 2.5, True])
def test_k_out_of_range(k):
    with pytest.raises(InputError, match="expected a whole number from 1 to 40"):
        spectral(nearest_points(clouds([20, 20], 4.0)[0])[0], k)


# -- Leiden ----------------------------------------------------------------------------------------------------------


def test_leiden_finds_the_clouds():
    found, _ = nearest_points(clouds([60, 80, 70], 12.0)[0])
    result = leiden(found, resolution=0.1)
    np.testing.assert_array_equal(result.labels, clouds([60, 80, 70], 12.0)[1])
    assert (result.k, result.method, result.names) == (3, "leiden", found.names)


@pytest.mark.parametrize(("objective", "low", "high"), [("modularity", 0.1, 3.0), ("cpm", 0.005, 0.2)])
def test_leiden_resolution_gives_more_clusters(objective, low, high):
    found, _ = nearest_points(clouds([100, 100], 4.0)[0])
    few, many = (leiden(found, resolution, objective=objective) for resolution in (low, high))
    assert few.k < many.k


def test_leiden_modularity_is_that_of_igraph():
    igraph = pytest.importorskip("igraph")
    found, _ = nearest_points(clouds([60, 60, 60], 4.0)[0])
    graph = nearest_graph(found.indices)
    W, labels = graph.toarray(), leiden(found).labels
    d = W.sum(axis=1)
    same = labels[:, None] == labels
    value = ((W - np.outer(d, d) / d.sum()) * same).sum() / d.sum()
    assert (
        igraph.Graph.Adjacency(W.tolist(), mode="undirected").community_leiden("modularity").modularity < value + 0.01
    )
    assert value > 0.5


def test_leiden_repeats_with_a_seed_and_leaves_no_trace():
    import random

    found, _ = nearest_points(clouds([300], 0)[0])
    before = random.getstate()
    first = leiden(found, 2.0, seed=4).labels
    assert random.getstate() == before
    np.testing.assert_array_equal(first, leiden(found, 2.0, seed=4).labels)
    others = [leiden(found, 2.0, seed=seed).labels for seed in range(5, 9)]
    assert any(len(first) != len(other) or (first != other).any() for other in others)


def test_leiden_without_igraph(monkeypatch):
    monkeypatch.setitem(sys.modules, "igraph", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'timelike\[leiden\]'"):
        leiden(nearest_points(clouds([20], 0)[0])[0])


def test_leiden_refuses():
    found, distance = nearest_points(clouds([20], 0)[0])
    with pytest.raises(InputError, match="no objective 'louvain': choose from modularity, cpm"):
        leiden(found, objective="louvain")
    with pytest.raises(InputError, match="resolution is 0: expected a number above zero"):
        leiden(found, 0)
    with pytest.raises(InputError, match="found Distance"):
        leiden(distance)


@pytest.mark.parametrize(("noise", "k"), [(0.05, 3), (0.08, 3), (0.08, 5)])
def test_the_cut_is_that_of_scikit_learn(noise, k):
    courses, _ = tl.simulate.profiles(noise=noise, seed=1)
    D = tl.similarity(courses, tl.fit(courses)).dissimilarity()
    graph = neighbor_graph(D, 7)
    theirs = spectral_clustering(graph, n_clusters=k, eigen_solver="arpack", assign_labels="discretize", random_state=0)
    assert nmi(cut(graph, k, seed=0), theirs) == pytest.approx(1)


@pytest.mark.parametrize("cluster", [leiden, lambda graph: spectral(graph, 2)])
def test_a_bare_graph_is_no_neighbours(cluster):
    """It has indices, too, but no names."""
    graph = nearest_points(clouds([10], 0)[0], 3)[0].graph()
    with pytest.raises(InputError, match=r"expected .*, found csr_array: make"):
        cluster(graph)
