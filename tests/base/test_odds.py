"""Shares of hypotheses among genes, learned; expected false discovery rates."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import questions_oracle as dense
from timelike.base import odds

SIZES = np.array([1.0, 4.0])


def simulated(kinds, effects, count, seed=0):
    """Genes with a number for each kind: N(0, 1), or N(0, 1 + size^2) for the kind that is there; evidence of all."""
    rng = np.random.default_rng(seed)
    kind = rng.choice(len(kinds), count, p=kinds)
    size = SIZES[rng.choice(2, count, p=effects)]
    z = rng.standard_normal((count, len(kinds) - 1, 3))
    there = kind > 0
    z[there, kind[there] - 1] *= np.sqrt(1 + size[there, None] ** 2)
    spread = 1 + SIZES**2
    squares = (z**2).sum(axis=2)[:, :, None]
    return squares / 2 * (1 - 1 / spread) - 1.5 * np.log(spread), kind


def test_a_slow_literal_em_gives_the_same():
    evidence, _ = simulated([0.6, 0.3, 0.1], [0.5, 0.5], 60)
    possible = np.random.default_rng(1).random((60, 2)) < 0.7
    by_kind, by_effect = dense.shares(evidence, possible, 500, odds.NULLS, odds.OTHERS)
    found = odds.learned(evidence, possible)
    assert_allclose(found.kinds, by_kind, atol=1e-4)
    assert_allclose(found.effects, by_effect, atol=1e-4)


def test_shares_are_recovered():
    truth = [0.7, 0.2, 0.1]
    evidence, _ = simulated(truth, [0.4, 0.6], 6000)
    found = odds.learned(evidence, np.ones((6000, 2), dtype=bool))
    assert_allclose(found.kinds, truth, atol=0.04)
    assert_allclose(found.effects, [0.4, 0.6], atol=0.08)


def test_what_half_of_the_genes_cannot_tell_is_as_frequent_as_among_the_others():
    truth = [0.6, 0.3, 0.1]
    evidence, _ = simulated(truth, [0.2, 0.8], 6000)
    possible = np.ones((6000, 2), dtype=bool)
    possible[::2, 0] = False
    evidence[::2, 0] = 0
    assert_allclose(odds.learned(evidence, possible).kinds, truth, atol=0.04)


def test_without_any_evidence_nothing_is_the_likeliest():
    kinds = odds.learned(np.full((500, 3, 4), -1.0), np.ones((500, 3), dtype=bool)).kinds
    assert kinds[0] > 0.99
    assert_allclose(kinds.sum(), 1)


def test_huge_evidence_does_not_overflow():
    evidence = np.full((10, 1, 2), -3.0)
    evidence[:4, 0, 1] = 1e5
    found = odds.learned(evidence, np.ones((10, 1), dtype=bool))
    assert_allclose(found.kinds[1], 4.1 / 11.1, atol=0.03)
    assert found.effects[1] > 0.95


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_the_running_rate_is_the_mean_chance_of_error_down_to_each(probabilities):
    p = np.array(probabilities)
    found = odds.running_fdr(p)
    order = sorted(range(len(p)), key=lambda i: -p[i])
    for rank, gene in enumerate(order, start=1):
        assert_allclose(found[gene], np.mean([1 - p[i] for i in order[:rank]]), atol=1e-12)
    assert_array_equal(np.diff(found[order]) >= -1e-12, True)
