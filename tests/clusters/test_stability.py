"""Whether halves of the courses give the same clusters."""

import numpy as np
import pytest

import timelike as tl


def test_clear_clusters_come_again():
    courses, _ = tl.simulate.profiles(0.05, seed=3)
    found = tl.mixture(courses, tl.fit(courses))
    table = tl.stability(found, pairs=2)
    assert table.columns.tolist() == ["k", "agreement", "low", "high"]
    assert table["k"].tolist() == [2, 3]
    assert table["agreement"].iloc[-1] > 0.95
    assert (table["low"] <= table["agreement"]).all()
    assert (table["agreement"] <= table["high"]).all()


def test_slices_of_noise_do_not():
    rng = np.random.default_rng(0)
    x = np.linspace(0, 1, 8)
    noise = tl.TimeCourses.from_arrays(x, rng.standard_normal((80, 8)))
    found = tl.mixture(noise, tl.GP.se(0.05, 1.0, 0.05), k=4, spread=0.5, robust=False)
    assert tl.stability(found, pairs=2)["agreement"].max() < 0.5


def test_same_seed_same_answer_and_one_cluster_has_none():
    courses, _ = tl.simulate.profiles(0.08, per_group=20, seed=3)
    found = tl.mixture(courses, tl.fit(courses), k=3)
    first, again, other = (tl.stability(found, pairs=2, seed=seed) for seed in (1, 1, 2))
    assert first.equals(again)
    assert not first.equals(other)
    assert tl.stability(found.at(k=1))["k"].tolist() == [2, 3]  # of the finest
    one = tl.TimeCourses.from_arrays([0, 1, 2], np.random.default_rng(1).standard_normal((20, 3)))
    assert len(tl.stability(tl.mixture(one, tl.GP.se(1.0, 0.1, 1.0), k=1))) == 0


def test_too_few_courses():
    courses, _ = tl.simulate.profiles(0.08, per_group=3, seed=3)
    found = tl.mixture(courses, tl.GP.se(0.9, 0.7, 0.08), k=2)
    with pytest.raises(tl.InputError, match="there are 9 courses: halves of fewer than 12 say nothing"):
        tl.stability(found)
    with pytest.raises(tl.InputError, match="pairs"):
        tl.stability(found, pairs=0)
