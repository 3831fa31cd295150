"""The figures of benchmarks/differential.py, on lists short enough to count."""

from pathlib import Path

import numpy as np
import pytest


@pytest.fixture
def differential(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "benchmarks")
    import differential

    return differential


# From the best down: right, right, wrong, right, right, wrong, right; in another order, and one never scored.
SCORES = np.array([3.0, 7.0, 5.0, 1.0, 6.0, 2.0, 4.0, -np.inf])
DIFFERENT = np.array([True, True, False, True, True, False, True, True])


@pytest.mark.parametrize(("level", "right"), [(0.0, 2), (0.19, 2), (0.2, 4), (0.25, 4), (0.29, 5), (1.0, 5)])
def test_power_is_that_of_the_longest_list_with_few_wrong(differential, level, right):
    assert differential.true_positive_rate(SCORES, DIFFERENT, level) == pytest.approx(right / 6)


def test_equal_scores_come_together_whatever_their_order(differential):
    scores = np.array([2.0, 1.0, 1.0, 1.0])
    for different in ([True, True, True, False], [True, False, True, True]):
        assert differential.true_positive_rate(scores, np.array(different), 0.2) == pytest.approx(1 / 3)
        assert differential.true_positive_rate(scores, np.array(different), 0.25) == 1


def test_power_where_the_first_is_wrong_or_nothing_differs(differential):
    assert differential.true_positive_rate(np.array([2.0, 1.0]), np.array([False, True]), 0.1) == 0
    assert differential.true_positive_rate(np.array([2.0, 1.0]), np.array([False, False]), 0.1) == 0


def test_false_discoveries_among_those_called(differential):
    stated = np.array([0.001, 0.05, 0.02, 0.06])
    different = np.array([True, False, True, False])
    assert differential.false_discovery_rate(stated, different, 0.05) == pytest.approx(1 / 3)
    assert differential.false_discovery_rate(stated, different, 0.01) == 0
    assert differential.false_discovery_rate(stated, different, 0.0001) == 0


def test_genes_without_an_answer_are_worst(differential):
    found = differential.spread_out(4, np.array([2, 0]), np.array([5.0, np.nan]), np.array([0.01, np.nan]), 1.0)
    assert found.scores.tolist() == [-np.inf, -np.inf, 5.0, -np.inf]
    assert found.stated.tolist() == [1, 1, 0.01, 1]


def test_every_cell_of_the_table_is_a_mean_over_its_seeds(differential):
    records = []
    for seed, scores in ((100, SCORES), (101, -SCORES)):
        data = differential.Data("plain", "3x4", 8, seed)
        found = differential.Found(np.where(np.isfinite(scores), scores, -np.inf), np.full(8, 0.5), 2.0)
        records.append(differential.judged(data, "edger_ql", found, DIFFERENT))
    # Best first 2 of 6 without a wrong one; turned over, 1 of 6.
    assert "| edgeR, quasi-likelihood | 0.250 ± 0.083 |" in differential.page(records)


def test_wrong_models_are_few_and_large_data_have_few_seeds(differential, monkeypatch):
    monkeypatch.setattr("sys.argv", ["differential.py"])
    groups = differential.wanted(differential.arguments())
    assert {(g[0].case, g[0].design) for g in groups if g[0].case != "plain"} == {
        (case, design) for case in ("inverse_chi_square", "outliers", "null") for design in ("3x4", "3x8")
    }
    assert [len(g) for g in groups if g[0].genes == 18_000] == [3] * 6
    assert [len(g) for g in groups if g[0].genes == 2000] == [20] * 12
