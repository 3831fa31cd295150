"""Every way in which conditions can be alike, and the contrasts between them."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from timelike.questions.partitions import contrast_of, in_words, partitions


@pytest.mark.parametrize(("count", "bell"), [(2, 2), (3, 5), (4, 15), (5, 52), (6, 203)])
def test_there_are_as_many_as_bell_numbers(count, bell):
    found = partitions(count)
    assert len(found) == len(set(found)) == bell
    assert found[0] == (0,) * count
    assert found[-1] == tuple(range(count))


def test_they_are_all_that_numbers_can_tell():
    """Groups of every labelling, renumbered as they appear."""
    labelled = {tuple(list(dict.fromkeys(one)).index(g) for g in one) for one in product(range(4), repeat=4)}
    assert set(partitions(4)) == labelled


@pytest.mark.parametrize("partition", [p for count in (2, 3, 4, 5) for p in partitions(count)[1:]])
def test_two_groups_differ_by_variance_one_and_members_not_at_all(partition):
    weights = contrast_of(partition)
    assert weights.shape == (len(partition), max(partition))
    apart = ((weights[:, None] - weights[None]) ** 2).sum(axis=2)
    assert_allclose(apart, np.not_equal.outer(partition, partition), atol=1e-12)
    groups = weights[[partition.index(g) for g in range(max(partition) + 1)]]
    assert_allclose(groups.sum(axis=0), 0, atol=1e-12)


def test_of_two_conditions_the_second_is_higher_by_the_effect():
    assert_allclose(contrast_of((0, 1)), [[-0.5], [0.5]])


def test_words():
    assert [in_words(p, ["a", "b", "c"]) for p in partitions(3)] == [
        "a = b = c",
        "a = b | c",
        "a = c | b",
        "a | b = c",
        "a | b | c",
    ]
