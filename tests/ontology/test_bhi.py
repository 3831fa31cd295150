"""The homogeneity index and its chance level, against plain loops and exact answers."""

from __future__ import annotations

from itertools import permutations
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from timelike.exceptions import InputError
from timelike.ontology.bhi import bhi


def naive(labels, similarity, weights):
    """The paper's formula, literally; clusters without a pair are left out."""
    means, sizes = [], []
    for label in set(labels):
        members = [i for i, other in enumerate(labels) if other == label]
        pairs = [similarity[i][j] for i in members for j in members if i != j]
        if pairs:
            means.append(sum(pairs) / len(pairs))
            sizes.append(len(members) if weights == "size" else 1)
    return sum(m * s for m, s in zip(means, sizes, strict=True)) / sum(sizes)


def symmetric(n, seed=0):
    values = np.random.default_rng(seed).random((n, n))
    return (values + values.T) / 2


@pytest.mark.parametrize("weights", ["cluster", "size"])
@given(labels=st.lists(st.sampled_from("abcd"), min_size=5, max_size=12), seed=st.integers(0, 99))
@settings(max_examples=30, deadline=None)
def test_value_is_the_papers_formula(weights, labels, seed):
    similarity = symmetric(len(labels), seed)
    result = bhi(labels, similarity, permutations=2, weights=weights)
    assert result.value == pytest.approx(naive(labels, similarity, weights), abs=1e-12)


@pytest.mark.parametrize("weights", ["cluster", "size"])
def test_chance_level_is_that_of_all_relabellings(weights):
    labels, similarity = list("aabbbc"), symmetric(6)
    every = np.array([naive(order, similarity, weights) for order in permutations(labels)])
    result = bhi(labels, similarity, permutations=20_000, weights=weights)
    assert result.null_mean == pytest.approx(every.mean(), abs=4 * every.std() / np.sqrt(20_000))
    assert result.null_sd == pytest.approx(every.std(), rel=0.03)
    assert result.z == pytest.approx((result.value - result.null_mean) / result.null_sd)
    assert result.p == pytest.approx(np.mean(every >= result.value - 1e-12), abs=0.015)


def test_clusters_of_alike_genes_stand_out():
    labels = np.repeat([0, 1, 2], 20)
    similarity = 0.2 * symmetric(60) + 0.5 * (labels[:, None] == labels)
    result = bhi(labels, similarity, permutations=500)
    assert result.z > 10
    assert result.p == pytest.approx(1 / 501)
    shuffled = np.random.default_rng(3).permutation(labels)
    assert abs(bhi(shuffled, similarity, permutations=500).z) < 4


def test_batches_do_not_change_the_answer(monkeypatch):
    labels, similarity = list("aaabbbbccc"), symmetric(10)
    whole = bhi(labels, similarity, permutations=100)
    monkeypatch.setattr("timelike.ontology.bhi._BATCH", 40)
    pieces = bhi(labels, similarity, permutations=100)
    assert (pieces.value, pieces.p) == (whole.value, whole.p)
    assert pieces.z == pytest.approx(whole.z, rel=1e-12)


def test_small_and_large_clusters_take_different_routes_to_the_same_answer(monkeypatch):
    labels, similarity = np.array([0] * 40 + [*range(1, 11)] * 2), symmetric(60)
    assert bhi(labels, similarity, 2).value == pytest.approx(naive(labels.tolist(), similarity, "cluster"))
    answers = []
    for large in (1, 12, 10**9):
        monkeypatch.setattr("timelike.ontology.bhi._LARGE", large)
        answers.append(bhi(labels, similarity, 50).z)
    np.testing.assert_allclose(answers, answers[0], rtol=1e-10)


def test_spread_of_few_relabellings_is_unbiased():
    labels, similarity = list("aaabbb"), symmetric(6)
    every = np.array([naive(order, similarity, "cluster") for order in permutations(labels)])
    few = np.mean([bhi(labels, similarity, 2, seed=seed).null_sd ** 2 for seed in range(1500)])
    assert few == pytest.approx(every.var(), rel=0.15)


def test_the_seed_decides():
    labels, similarity = list("aaabbbbccc"), symmetric(10)
    assert bhi(labels, similarity, 50, seed=1) == bhi(labels, similarity, 50, seed=1)
    assert bhi(labels, similarity, 50, seed=1).z != bhi(labels, similarity, 50, seed=2).z


def test_labels_of_any_kind_mean_the_same():
    similarity = symmetric(6)
    numbers = np.array([0, 0, 1, 1, 2, 2])
    value = bhi(numbers, similarity, 10)
    for labels in (["x", "x", "y", "y", "z", "z"], numbers * 7 + 3, SimpleNamespace(labels=numbers), list("ppqqrr")):
        other = bhi(labels, similarity, 10)
        assert (other.value, other.z) == (value.value, value.z)


def test_genes_without_annotation_are_left_out_not_zero():
    labels, similarity = np.array([0, 0, 0, 1, 1, 1, 2, 2]), symmetric(8)
    missing = [2, 7]
    rest = np.setdiff1d(np.arange(8), missing)
    expected = bhi(labels[rest], similarity[np.ix_(rest, rest)], 100)
    similarity[missing], similarity[:, missing] = np.nan, np.nan
    result = bhi(labels, similarity, 100)
    assert result == expected
    assert result.genes == 6
    assert set(result.by_cluster) == {0, 1}  # cluster 2 has one annotated gene, hence no pair


def test_minus_one_is_no_cluster():
    labels, similarity = np.array([0, 0, -1, 1, 1]), symmetric(5)
    rest = [0, 1, 3, 4]
    assert bhi(labels, similarity, 50) == bhi(labels[rest], similarity[np.ix_(rest, rest)], 50)


@pytest.mark.parametrize(
    "labels",
    [pd.Series([0, 0, -1, 1, 1], dtype=object), pd.Series([0, 0, -1, 1, 1], dtype="Int64"), ["a", "a", -1, "b", "b"]],
    ids=["objects", "nullable", "among text"],
)
def test_minus_one_is_no_cluster_in_columns_of_any_kind(labels):
    expected, found = bhi([0, 0, -1, 1, 1], symmetric(5), 50), bhi(labels, symmetric(5), 50)
    assert (found.value, found.z, found.genes) == (expected.value, expected.z, 4)
    assert list(found.by_cluster) in ([0, 1], ["a", "b"])


def test_labels_that_are_neither_numbers_nor_text_count_by_what_they_show():
    assert set(bhi(pd.cut([1, 2, 8, 9], [0, 5, 10]), symmetric(4), 10).by_cluster) == {"(0, 5]", "(5, 10]"}


def test_the_text_minus_one_is_a_label():
    assert set(bhi(["-1", "-1", "2", "2"], symmetric(4), 10).by_cluster) == {"-1", "2"}


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
@pytest.mark.parametrize("label", [1, "a"])
def test_a_missing_label_is_refused(label, missing):
    for labels in ([label, missing, label], pd.Series([label, missing, label], dtype=object)):
        with pytest.raises(InputError, match="some labels are NaN; give every gene a label, or -1"):
            bhi(labels, symmetric(3), 10)


def test_the_diagonal_is_not_used():
    similarity = symmetric(6)
    value = bhi(list("aabbcc"), similarity, 20)
    np.fill_diagonal(similarity, np.nan)
    assert bhi(list("aabbcc"), similarity, 20) == value


def test_weights_differ_where_sizes_differ():
    labels = [0] * 2 + [1] * 8
    similarity = np.full((10, 10), 0.2)
    similarity[:2, :2] = 1.0
    assert bhi(labels, similarity, 10).value == pytest.approx((1.0 + 0.2) / 2)
    assert bhi(labels, similarity, 10, weights="size").value == pytest.approx((2 * 1.0 + 8 * 0.2) / 10)


def test_one_cluster_has_no_spread():
    result = bhi([0] * 30, symmetric(30), permutations=50)
    assert np.isnan(result.z)
    assert result.p == 1.0


def test_the_callers_matrix_is_left_alone():
    similarity = symmetric(6)
    before = similarity.copy()
    bhi(list("aabbcc"), similarity, 10)
    np.testing.assert_array_equal(similarity, before)


@pytest.mark.parametrize(
    ("labels", "similarity", "message"),
    [
        ([0, 0, 1], symmetric(4), r"3 labels, but similarities of shape \(4, 4\)"),
        ([0, 1, 2], symmetric(3), "no cluster holds two annotated genes"),
        ([0, 0, 1], np.full((3, 3), np.nan), "0 annotated genes in 2 clusters"),
        ([0, 0, 1], np.arange(9.0).reshape(3, 3), "finite and symmetric"),
        ([[0, 0, 1]], symmetric(3), r"labels have shape \(1, 3\)"),
        ([0.0, np.nan, 1.0], symmetric(3), "some labels are NaN"),
    ],
)
def test_input_that_cannot_be_used(labels, similarity, message):
    with pytest.raises(InputError, match=message):
        bhi(labels, similarity, 10)


def test_a_hole_between_annotated_genes_is_refused():
    similarity = symmetric(5)
    similarity[0, 1] = similarity[1, 0] = np.nan
    with pytest.raises(InputError, match="finite and symmetric"):
        bhi([0, 0, 0, 1, 1], similarity, 10)


def test_settings_that_cannot_be_used():
    with pytest.raises(InputError, match="permutations is 1"):
        bhi([0, 0], symmetric(2), 1)
    with pytest.raises(InputError, match="weights is 'genes'; expected 'cluster' or 'size'"):
        bhi([0, 0], symmetric(2), weights="genes")
