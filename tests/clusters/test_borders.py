"""Which clusters are sure, and which run into each other: gaps between them against gaps within."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import timelike as tl
from sliced import clean_study
from timelike.clusters.curves.borders import Border, borders, differences, in_words, unsure, verdicts
from timelike.clusters.curves.granularity import GAP, gaps, groups, nested, tips


@pytest.fixture(scope="module")
def found():
    return clean_study()[2]


def slow_borders(curves, part_of):
    """By the definition: every two curves, and the widest step of the shortest way between any two of a cluster."""
    apart = np.array([[np.sqrt(np.mean((a - b) ** 2)) for b in curves] for a in curves])
    count = part_of.max() + 1
    own = np.zeros(count)
    for c in range(count):
        way = apart[np.ix_(part_of == c, part_of == c)].copy()
        for middle in range(len(way)):
            way = np.minimum(way, np.maximum(way[:, [middle]], way[[middle]]))
        own[c] = way.max()
    found = []
    for c in range(count):
        others = {o: apart[np.ix_(part_of == c, part_of == o)].min() for o in range(count) if o != c}
        near = min(others, key=others.get)
        within = max(own[c], own[near]) or own.max()
        found.append((near, others[near], within, own[c]))
    return found


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(3, 9))
def test_borders_follow_their_definition(seed, count):
    rng = np.random.default_rng(seed)
    curves = rng.standard_normal((count, 4))
    part_of = np.append(rng.permutation(3), rng.integers(0, 3, count - 3))
    np.testing.assert_allclose(np.array(borders(curves, part_of)), slow_borders(curves, part_of), rtol=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(4, 10))
def test_groups_that_stand_out_are_apart(seed, count):
    curves = np.random.default_rng(seed).standard_normal((count, 1)) ** 3
    for part_of in gaps(curves):
        assert set(verdicts(borders(curves, part_of))) == {"apart"}


def test_the_finest_clusters_have_no_gaps_to_compare_theirs_with():
    alone = borders(np.array([[0.0], [1.0], [5.0]]), np.arange(3))
    assert [(b.nearest, b.gap, b.apart) for b in alone] == [(1, 1.0, None), (0, 1.0, None), (1, 4.0, None)]
    assert in_words(alone) == ""
    only = borders(np.array([[0.0], [1.0]]), np.zeros(2, int))
    assert (only[0].nearest, in_words(only)) == (-1, "")


def test_a_gap_is_wide_from_the_threshold_on():
    assert Border(0, GAP, 1.0).apart is True
    assert Border(0, 0.999 * GAP, 1.0).apart is False


def test_clean_groups_are_apart_and_their_slices_run_into_each_other(found):
    assert in_words(found.borders) == "Wide gaps keep all clusters apart."
    assert found.stands_out
    finer = found.at(k=5)
    assert not finer.stands_out
    assert sorted(verdicts(finer.borders)) == ["apart"] * 3 + ["runs into"] * 2
    one, other = (c for c, verdict in enumerate(verdicts(finer.borders)) if verdict == "runs into")
    assert finer.borders[one].nearest == other
    assert f"Clusters {one} and {other} run into each other: their border is a matter of taste." in in_words(
        finer.borders
    )
    coarser = found.at(k=3)
    assert sorted(verdicts(coarser.borders)) == ["apart", "apart", "divided"]
    assert "has gaps within as wide as that to cluster" in in_words(coarser.borders)


def test_a_continuum_runs_into_itself():
    steps = np.arange(20.0)[:, None]
    part_of = np.arange(20) // 5
    told = borders(steps, part_of)
    assert verdicts(told) == ["runs into"] * 4
    assert in_words(told).startswith("No cluster is kept apart by a wide gap. Clusters run into each other, 0 into 1,")
    many = in_words(borders(np.arange(40.0)[:, None], np.arange(40) // 2))
    assert "20 clusters run into a neighbour" in many


def test_who_is_not_sure_is_counted(found):
    finer = found.at(k=12)
    expected = [(finer.confidence[finer.labels == c] < 0.8).mean() for c in range(12)]
    np.testing.assert_allclose(finer.unsure, expected)
    assert max(expected) > 0
    np.testing.assert_array_equal(unsure(np.array([-1, 0]), np.array([0.1, 0.9]), 3), 0)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 9))
def test_tips_have_what_merges_side_by_side(seed, count):
    rng = np.random.default_rng(seed)
    tree = nested(rng.standard_normal((count, 3)), rng.integers(1, 9, count))
    order = tips(tree)
    assert sorted(order) == list(range(count))
    for k in range(1, count + 1):
        of = groups(tree, k)[order]
        assert (np.diff(of) != 0).sum() == k - 1


def test_clusters_of_any_method_with_curves_have_borders():
    courses, _ = tl.simulate.profiles(per_group=10, seed=1)
    linked = tl.evidence_linkage(courses, tl.fit(courses), 3)
    assert [border.apart for border in linked.borders] == [None] * 3
    two = linked.at(k=2)
    one, other = np.flatnonzero(two.part_of == np.bincount(two.part_of).argmax())
    assert {border.within for border in two.borders} == {differences(linked.compared)[one, other]}
