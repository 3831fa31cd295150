"""Clusters of courses that have conditions: who is where, and which names change their cluster."""

import itertools

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import timelike as tl
from timelike.clusters.between_conditions import together
from timelike.clusters.clustering import Clustering
from timelike.exceptions import InputError

NAMES = ("a | wt", "b | wt", "a | mut", "c | mut", "b | mut")
PROBABILITIES = np.array([[0.9, 0.1, 0.0], [0.0, 0.2, 0.7], [0.1, 0.8, 0.05], [1.0, 0.0, 0.0], [0.1, 0.1, 0.2]])
LABELS = np.array([0, 2, 1, 0, -1])


@pytest.fixture
def found():
    return Clustering(LABELS, NAMES, 3, "by hand", PROBABILITIES)


def test_sizes_are_counted_by_cluster_and_condition(found):
    table = found.by_condition()
    assert list(table.columns) == ["wt", "mut"]
    assert list(table.index) == [0, 1, 2, -1]
    assert table.index.name == "cluster"
    assert table.to_numpy().tolist() == [[1, 1], [0, 1], [1, 0], [0, 1]]
    assert table.loc[[0, 1, 2]].sum(axis=1).tolist() == found.sizes.tolist()


def test_names_that_change_their_cluster_come_first(found):
    table = found.changes_cluster()
    assert table["name"].tolist() == ["a", "b"]
    changes = [1 - (0.9 * 0.1 + 0.1 * 0.8 + 0.0 * 0.05), 1 - (0.0 * 0.1 + 0.2 * 0.1 + 0.7 * 0.2 + 0.1 * 0.6)]
    assert_allclose(table["probability_changes"], changes)
    assert_allclose(table["fdr"], [1 - changes[0], np.mean([1 - changes[0], 1 - changes[1]])])
    assert table["from"].tolist() == ["cluster 0", "cluster 2"]
    assert table["to"].tolist() == ["cluster 1", "none"]
    assert table["cluster_in_mut"].tolist() == [1, -1]
    assert_allclose(table["probability_in_mut"], [0.8, 0.6])


def test_the_probability_is_that_of_every_way_to_be_elsewhere():
    rng = np.random.default_rng(3)
    p = rng.dirichlet(np.ones(4), size=3)[:, :3]  # what is missing to 1 is none
    whole = np.column_stack([p, 1 - p.sum(axis=1)])
    same = sum(np.prod(whole[range(3), at]) for at in itertools.product(range(4), repeat=3) if len(set(at)) == 1)
    assert_allclose(together(np.array([[0, 1, 2]]), p), [same])


def test_a_name_in_none_under_both_conditions_changes_no_cluster():
    found = Clustering(np.array([-1, -1]), ("a | wt", "a | mut"), 1, "by hand", np.zeros((2, 1))).changes_cluster()
    assert found.loc[0, ["from", "to", "probability_changes"]].tolist() == ["none", "none", 0.0]


def test_a_third_condition_may_be_missing():
    names = ("a | x", "a | y", "a | z", "b | x", "b | z")
    p = np.array([[1, 0], [1, 0], [0, 1], [0, 1], [0, 1.0]])
    names, p = (
        (*names, "c | x", "c | z", "d | y"),
        np.concatenate([p, [[0, 1], [0, 1], [1, 0]]]),
    )  # the last is no place
    table = Clustering(p.argmax(axis=1), names, 2, "by hand", p).changes_cluster().set_index("name")
    assert table.loc["a", ["from", "to", "probability_changes"]].tolist() == ["cluster 0", "cluster 0, cluster 1", 1.0]
    assert table.loc["b", ["from", "to", "probability_changes"]].tolist() == ["cluster 1", "cluster 1", 0.0]
    assert table["cluster_in_y"].isna().tolist() == [False, True, True]
    assert np.isnan(table.loc["b", "probability_in_y"])
    assert table["cluster_in_y"].dtype == pd.Int64Dtype()


def test_names_of_a_single_condition_make_an_empty_table():
    table = Clustering(np.array([0, 0]), ("a | x", "b | y"), 1, "by hand", np.ones((2, 1))).changes_cluster()
    assert len(table) == 0
    assert list(table.columns)[-4:] == ["from", "to", "probability_changes", "fdr"]


def test_what_is_missing_is_said():
    plain = Clustering(np.array([0, 0]), ("a", "b"), 1, "by hand", np.ones((2, 1)))
    for ask in (plain.by_condition, plain.changes_cluster):
        with pytest.raises(InputError, match="nothing tells the conditions of these courses: the first is called 'a'"):
            ask()
    with pytest.raises(InputError, match="by hand does not know how probable its clusters are: cluster with mixture"):
        Clustering(LABELS, NAMES, 3, "by hand").changes_cluster()


def test_a_name_that_truly_changes_is_found_by_a_mixture():
    profiles, truth = tl.simulate.profiles(per_group=20, noise=0.05, seed=2)
    times, values = profiles.to_matrix()
    first, second, third = (values[truth == kind] for kind in np.unique(truth))
    wt = np.concatenate([first[:10], second[:10], third[:10]])
    mut = np.concatenate([first[10:], second[10:], third[10:]])[[*range(9), 10, 9, *range(11, 30)]]  # g9 and g10 swap
    names = [f"g{i} | {kind}" for kind in ("wt", "mut") for i in range(30)]
    courses = tl.TimeCourses.from_arrays(times, np.concatenate([wt, mut]), names)
    found = tl.mixture(courses, tl.fit(courses))
    table = found.changes_cluster()
    assert set(table["name"][:2]) == {"g9", "g10"}
    assert table["fdr"][1] < 0.05
    assert table["probability_changes"][2] < 0.5
    assert found.by_condition().loc[[0, 1, 2]].to_numpy().tolist() == [[10, 10]] * 3
    assert found.predict(courses).by_condition().to_numpy().sum() == 60
