"""Enrichment of clusters for terms, against counting by hand and binomial coefficients."""

from __future__ import annotations

from math import comb
from types import SimpleNamespace

import numpy as np
import pytest

from timelike import ontology
from timelike.exceptions import InputError
from timelike.ontology.enrichment import enrichment

PARENTS = {"T:0": [], "T:1": ["T:0"], "T:2": ["T:1"], "T:3": ["T:1"], "T:4": ["T:0"]}


def naive_p(both, total, with_term, in_cluster):
    """The chance of ``both`` or more, as a sum of counted possibilities."""
    ways = sum(
        comb(with_term, k) * comb(total - with_term, in_cluster - k)
        for k in range(both, min(with_term, in_cluster) + 1)
    )
    return ways / comb(total, in_cluster)


def naive_q(p):
    """Benjamini-Hochberg, literally: the smallest p[j] m / rank[j] over all j at or above."""
    order = sorted(range(len(p)), key=lambda i: p[i])
    q, least = [0.0] * len(p), 1.0
    for rank in range(len(p), 0, -1):
        place = order[rank - 1]
        least = min(least, p[place] * len(p) / rank)
        q[place] = least
    return q


@pytest.fixture
def onto(tmp_path):
    """Genes a0..a9 at T:2, b0..b9 at T:3, c0..c9 at T:4, r0 and r1 at the root only."""
    obo, table = tmp_path / "t.obo", tmp_path / "t.tsv"
    obo.write_text("\n".join(f"[Term]\nid: {t}\n" + "".join(f"is_a: {p}\n" for p in ps) for t, ps in PARENTS.items()))
    genes = [
        (f"{letter}{i}", term) for letter, term in zip("abc", ("T:2", "T:3", "T:4"), strict=True) for i in range(10)
    ]
    table.write_text("".join(f"{gene}\t{term}\n" for gene, term in [*genes, ("r0", "T:0"), ("r1", "T:0")]))
    return ontology.read(obo, table, aspect=None)


def example_clusters():
    """Cluster x: most of a and some of c; cluster y: the rest; two genes say nothing and one is not known."""
    genes = [f"{letter}{i}" for letter in "abc" for i in range(10)] + ["r0", "unknown", "r1"]
    labels = ["x" if gene in {*(f"a{i}" for i in range(9)), "c0", "c1", "r0"} else "y" for gene in genes]
    return labels, genes


def test_counts_and_chances_by_hand(onto):
    labels, genes = example_clusters()
    table = enrichment(labels, genes, onto).set_index(["cluster", "term"])
    # 30 genes count; x holds a0..a8, c0 and c1. T:1 is above T:2 and T:3.
    with_term = {"T:1": 20, "T:2": 10, "T:3": 10, "T:4": 10}
    both = {("x", "T:1"): 9, ("x", "T:2"): 9, ("x", "T:4"): 2, ("y", "T:1"): 11}
    both |= {("y", "T:2"): 1, ("y", "T:3"): 10, ("y", "T:4"): 8}
    sizes = {"x": 11, "y": 19}
    assert table["genes"].to_dict() == both
    assert set(table["all_genes"]) == {30}
    for (cluster, term), count in both.items():
        row = table.loc[(cluster, term)]
        assert (row["cluster_genes"], row["term_genes"]) == (sizes[cluster], with_term[term])
        assert row["p"] == pytest.approx(naive_p(count, 30, with_term[term], sizes[cluster]), rel=1e-10)
        assert row["fold"] == pytest.approx((count / sizes[cluster]) / (with_term[term] / 30))


def test_q_is_over_the_whole_table(onto):
    labels, genes = example_clusters()
    table = enrichment(labels, genes, onto)
    p = [*table["p"], 1.0]  # T:3 does not occur in x but was tested
    np.testing.assert_allclose(table["q"], naive_q(p)[:-1], rtol=1e-10)


def test_order_and_columns(onto):
    labels, genes = example_clusters()
    table = enrichment(labels, genes, onto)
    names = ["cluster", "term", "name", "genes", "cluster_genes", "term_genes", "all_genes", "fold", "p", "q"]
    assert list(table.columns) == names
    assert list(table["cluster"]) == sorted(table["cluster"])
    assert all(group["p"].is_monotonic_increasing for _, group in table.groupby("cluster"))
    assert table.loc[0, "term"] == "T:2"


def test_repeated_genes_count_once_per_cluster(onto):
    labels, genes = example_clusters()
    twice = enrichment(labels + labels[:12], genes + genes[:12], onto)
    assert twice.equals(enrichment(labels, genes, onto))


def test_genes_in_no_cluster_are_background(onto):
    labels, genes = example_clusters()
    numbers = [0 if label == "x" else -1 for label in labels]
    table = enrichment(SimpleNamespace(labels=np.array(numbers)), genes, onto)
    assert set(table["cluster"]) == {0}
    assert set(table["all_genes"]) == {30}
    assert table.loc[0, "p"] == pytest.approx(naive_p(9, 30, 10, 11), rel=1e-10)


def test_rare_terms_are_not_tested(onto):
    labels, genes = example_clusters()
    assert set(enrichment(labels, genes, onto, min_genes=11)["term"]) == {"T:1"}
    assert enrichment(labels, genes, onto, min_genes=31).empty


def test_input_that_cannot_be_used(onto):
    with pytest.raises(InputError, match="2 labels for 1 genes"):
        enrichment([0, 1], ["a0"], onto)
    with pytest.raises(InputError, match="no gene has annotation: 2 genes: 0 used"):
        enrichment([0, 1], ["A0", "r0"], onto)
