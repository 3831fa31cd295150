"""Clusterings: what they find, that they are the same again, and what they refuse."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster

import timelike as tl
from timelike.clusters.clustering import Clustering, numbered
from timelike.clusters.hierarchical import LINKAGES, hierarchical
from timelike.clusters.nmi import nmi
from timelike.clusters.spectral import spectral
from timelike.clusters.tree import cut_tree
from timelike.exceptions import DataWarning, InputError
from timelike.pairs.distance import Distance, distance

METHODS = {
    "spectral": spectral,
    **{name: lambda D, k, name=name: hierarchical(D, k, linkage=name) for name in LINKAGES},
}


def clouds(sizes, seed=0, apart=20.0):
    rng = np.random.default_rng(seed)
    points = np.concatenate([rng.normal(apart * g, 1, size=(n, 2)) for g, n in enumerate(sizes)])
    D = np.sqrt(((points[:, None] - points) ** 2).sum(-1))
    return Distance(D, tuple(f"c{i}" for i in range(len(D))), "euclidean"), np.repeat(range(len(sizes)), sizes)


def shuffled(D, order):
    return Distance(D.values[np.ix_(order, order)], tuple(D.names[i] for i in order), D.measure)


def naive_merges(D, link):
    """Heights at which clusters merge, by looking at every pair of clusters every time."""
    groups, heights = [[i] for i in range(len(D))], []
    while len(groups) > 1:
        pairs = [(link(D[np.ix_(a, b)]), a, b) for k, a in enumerate(groups) for b in groups[:k]]
        height, a, b = min(pairs, key=lambda p: p[0])
        groups = [g for g in groups if g not in (a, b)] + [a + b]
        heights.append(height)
    return heights


@pytest.mark.parametrize("method", METHODS)
def test_finds_clouds_whatever_their_order(method):
    D, truth = clouds([12, 30, 20])
    order = np.random.default_rng(1).permutation(len(truth))
    found = METHODS[method](shuffled(D, order), 3)
    np.testing.assert_array_equal(found.labels, numbered(truth[order])[0])
    assert sorted(found.sizes) == [12, 20, 30]
    assert found.names == tuple(D.names[i] for i in order)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("k", [1, 2, 5, 9])
def test_k_clusters_numbered_by_first_appearance(method, k):
    D, _ = clouds([9])
    found = METHODS[method](D, k)
    assert found.k == k == len(found.sizes)
    assert found.sizes.sum() == 9
    first = [np.argmax(found.labels == c) for c in range(k)]
    assert first == sorted(first)


@pytest.mark.parametrize("method", METHODS)
def test_one_course_is_one_cluster(method):
    np.testing.assert_array_equal(METHODS[method](clouds([1])[0], 1).labels, [0])


def test_spectral_depends_on_the_seed_and_on_nothing_else():
    D, _ = clouds([60])  # no clusters at all: where the search starts matters
    first, again = ([spectral(D, 6, seed=seed).labels for seed in range(5)] for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert len({tuple(labels) for labels in first}) > 1


def test_fewer_courses_than_neighbours():
    D, truth = clouds([2, 2])
    np.testing.assert_array_equal(spectral(D, 2, neighbors=7).labels, spectral(D, 2, neighbors=3).labels)
    np.testing.assert_array_equal(spectral(D, 2, neighbors=1).labels, truth)


def test_spectral_says_when_it_finds_fewer():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(30, 2))
    D = np.sqrt(((points[:, None] - points) ** 2).sum(-1))
    with pytest.warns(DataWarning, match=r"asked for 28 clusters, the cut gave 2\d"):
        found = spectral(Distance(D, tuple(map(str, range(30))), "euclidean"), 28)
    assert found.k == len(set(found.labels)) < 28


@pytest.mark.parametrize(("linkage", "link"), [("average", np.mean), ("complete", np.max), ("single", np.min)])
def test_hierarchical_merges_like_the_plain_loop(linkage, link):
    D, _ = clouds([14], seed=5)
    found = hierarchical(D, 3, linkage=linkage)
    np.testing.assert_allclose(found.linkage[:, 2], naive_merges(D.values, link))
    by_scipy = fcluster(found.linkage, 3, "maxclust")
    np.testing.assert_array_equal(found.labels, numbered(by_scipy)[0])


def test_ties_do_not_change_the_number_of_clusters():
    D = Distance(1 - np.eye(6), tuple("abcdef"), "edr")
    assert [hierarchical(D, k).k for k in range(1, 7)] == [1, 2, 3, 4, 5, 6]
    assert len(set(cut_tree(hierarchical(D, 1).linkage, 4))) == 4


def test_a_similarity_is_clustered_by_the_papers_dissimilarity():
    courses, _ = tl.simulate.profiles(seed=2, per_group=10)
    S = tl.similarity(courses, tl.fit(courses))
    D = Distance(S.dissimilarity(), S.names, "1 + max - s")
    for cluster in (spectral, hierarchical):
        np.testing.assert_array_equal(cluster(S, 3).labels, cluster(D, 3).labels)


def test_quality_on_the_papers_data():
    """Means of 8 data sets; 100 of them give 0.92 and 0.90 (spectral), 0.89 and 0.79 (average linkage)."""
    scores = []
    for seed in range(8):
        courses, truth = tl.simulate.profiles(noise=0.08, seed=100 + seed)
        S, D = tl.similarity(courses, tl.fit(courses)), distance(courses, "euclidean")
        scores.append([nmi(cluster(M, 3), truth) for cluster in (spectral, hierarchical) for M in (S, D)])
    gp_cut, euclidean_cut, gp_tree, euclidean_tree = np.mean(scores, axis=0)
    assert gp_cut > 0.89
    assert euclidean_cut > 0.86
    assert gp_tree > euclidean_tree + 0.05


def test_table():
    plain = Clustering(np.array([0, 1, 0]), ("a", "b", "c"), 2, "spectral")
    assert plain.to_frame().to_dict("list") == {"name": ["a", "b", "c"], "cluster": [0, 1, 0]}
    soft = Clustering(np.array([0, 1]), ("a", "b"), 2, "mixture", probabilities=np.array([[0.9, 0.1], [0.3, 0.7]]))
    assert soft.to_frame()["probability"].tolist() == [0.9, 0.7]


def test_courses_in_no_cluster_are_not_counted():
    np.testing.assert_array_equal(Clustering(np.array([-1, 1, 1]), ("a", "b", "c"), 3, "mixture").sizes, [0, 2, 0])


# -- mistakes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("k", [0, -1, 10, 2.0, True, None])
def test_k_must_be_a_number_of_clusters(method, k):
    with pytest.raises(InputError, match="expected a whole number from 1 to 9, the number of courses"):
        METHODS[method](clouds([9])[0], k)


def test_unknown_linkage():
    with pytest.raises(InputError, match=r"no linkage 'ward'.*average, complete, single"):
        hierarchical(clouds([9])[0], 2, linkage="ward")


def test_a_bare_matrix_is_refused_with_a_hint():
    with pytest.raises(InputError, match=r"found ndarray: make one with timelike\.similarity"):
        spectral(np.zeros((3, 3)), 2)
