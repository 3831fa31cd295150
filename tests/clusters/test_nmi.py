"""Normalised mutual information against its definition."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from timelike.clusters.clustering import Clustering
from timelike.clusters.nmi import nmi
from timelike.exceptions import InputError


def naive_nmi(a, b):
    def entropy(labels):
        return -sum(p * math.log(p) for p in (labels.count(v) / len(labels) for v in set(labels)))

    mutual = entropy(a) + entropy(b) - entropy(list(zip(a, b, strict=True)))
    return mutual / math.sqrt(entropy(a) * entropy(b))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=30))
def test_nmi_equals_its_definition(pairs):
    a, b = map(list, zip(*pairs, strict=True))
    if len(set(a)) > 1 and len(set(b)) > 1:
        assert nmi(a, b) == pytest.approx(naive_nmi(a, b), abs=1e-9)
    assert nmi(a, b) == pytest.approx(nmi(b, a))


def test_nmi_does_not_care_for_the_names_of_clusters():
    assert nmi([0, 0, 1, 2], ["x", "x", "a", "k"]) == pytest.approx(1)


def test_nmi_takes_a_clustering():
    assert nmi(Clustering(np.array([0, 1, 1]), ("a", "b", "c"), 2, "spectral"), [5, 7, 7]) == pytest.approx(1)


def test_nmi_of_a_single_cluster():
    assert nmi([0, 0, 0], [0, 1, 2]) == 0


def test_nmi_of_different_lengths():
    with pytest.raises(InputError, match="3 labels cannot be compared with 2"):
        nmi([0, 0, 1], [0, 1])


@pytest.mark.parametrize("labels", [[], [[0, 1]], 3])
def test_labels_must_be_a_list(labels):
    with pytest.raises(InputError, match="one label for each course"):
        nmi(labels, labels)
