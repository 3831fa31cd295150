"""Evidence linkage against a naive agglomeration that knows nothing but dense Gaussian densities."""

import itertools
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import is_monotonic, is_valid_linkage
from scipy.special import gammaln

import timelike as tl
from contract import gp_of
from extended import Case, agglomerated
from timelike.clusters.curves.bound import sample
from timelike.clusters.curves.evidence_linkage import evidence_linkage
from timelike.clusters.curves.merges import agglomerate
from timelike.clusters.nmi import nmi
from timelike.clusters.tree import cut_tree

GP = tl.GP.se(0.7, signal_sd=0.6, noise_sd=0.1, mean=0.1)


def kernel(x, y):
    return 0.6**2 * np.exp(-((x[:, None] - y) ** 2) / (2 * 0.7**2))


def log_density(courses, members, spread=0.0):
    """Log density of all values of some courses under one curve, by a dense Gaussian."""
    x = np.concatenate([courses[i].times for i in members])
    y = np.concatenate([courses[i].values for i in members])
    owner = np.repeat(np.arange(len(members)), [len(courses[i].values) for i in members])
    errors = [courses[i].errors if courses.errors is not None else np.zeros(len(courses[i].values)) for i in members]
    same = owner[:, None] == owner
    C = kernel(x, x) * (1 + spread**2 * same) + np.diag(0.1**2 + np.concatenate(errors) ** 2)
    e = y - 0.1
    return -(e @ np.linalg.solve(C, e) + np.linalg.slogdet(2 * np.pi * C)[1]) / 2


def naive(courses, spread=0.0):
    """Merges and gains by trying all pairs again each time."""
    clusters = {i: [i] for i in range(len(courses))}
    score = {i: log_density(courses, [i], spread) for i in clusters}
    merges, number = [], len(courses)
    while len(clusters) > 1:
        gains = {}
        for p, q in itertools.combinations(clusters, 2):
            gains[p, q] = log_density(courses, clusters[p] + clusters[q], spread) - score[p] - score[q]
        p, q = max(gains, key=gains.get)
        clusters[number] = clusters.pop(p) + clusters.pop(q)
        score[number] = log_density(courses, clusters[number], spread)
        merges.append((p, q, gains[p, q]))
        number += 1
    return merges


ONE_CURVE = np.linspace(0, 1, 6)


def one_design(state):
    """As the courses are: one design, along the axes of its matrix."""
    return state


def two_designs(state):
    """As if every other course had another design, and along other axes."""
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal(state.A.shape[1:]))[0]
    A, design_of = turn.T @ state.A @ turn, np.arange(len(state)) % 2
    return replace(state, A=np.concatenate([A, A]), b=state.b @ turn, design_of=design_of, diagonal=False)


@pytest.mark.parametrize("designs", [one_design, two_designs])
@pytest.mark.parametrize(("seed", "kernel"), [(0, "se"), (1, "matern12"), (3, "periodic"), (6, "matern52")])
def test_merges_are_right_where_the_noise_is_a_millionth_of_the_signal(seed, kernel, designs):
    """The three terms of a gain are large there: from these a gain was off by 0.06, and the sixth merge was wrong."""
    rng = np.random.default_rng(seed)
    case = Case(kernel, float(10 ** rng.uniform(-1, 0)), 1.2e-6)
    weight, vectors = np.linalg.eigh(case.kernel_object(ONE_CURVE[:, None]))
    curve = (vectors * np.sqrt(np.maximum(weight, 0))) @ rng.standard_normal(6) * 3
    values = curve + case.ratio * rng.standard_normal((12, 6))
    expected = agglomerated(case, ONE_CURVE, values)
    courses = tl.TimeCourses.from_arrays(ONE_CURVE, values)
    merges = agglomerate(designs(sample(gp_of(case).at(courses)).at(0.0)))
    sets = [frozenset([i]) for i in range(12)]
    for (p, q), (pair, _) in zip(merges.pairs, expected, strict=True):
        assert {sets[p], sets[q]} == pair
        sets.append(sets[p] | sets[q])
    gains = [gain for _, gain in expected]
    np.testing.assert_allclose(merges.gains, gains, atol=1e-6 if designs is one_design else 1e-2)


def mixed(kind, per_group=4):
    makers = {
        "even": lambda: tl.simulate.profiles(0.1, per_group=per_group, seed=3),
        "asynchronous": lambda: tl.simulate.profiles(0.1, "asynchronous", per_group=per_group, seed=3),
        "own times": lambda: tl.simulate.own_times(0.1, per_group=per_group, seed=3),
        "replicates": lambda: tl.simulate.replicated(0.1, 2, per_group=per_group, seed=3),
        "errors": lambda: tl.simulate.uneven_errors(per_group=per_group, seed=3),
    }
    return makers[kind]()[0]


def state(courses, spread=0.0):
    return sample(GP.at(courses)).at(spread)


@pytest.mark.parametrize("kind", ["even", "asynchronous", "own times", "replicates", "errors"])
@pytest.mark.parametrize("spread", [0.0, 0.4])
def test_merges_are_those_of_the_dense_definition(kind, spread):
    courses = mixed(kind, per_group=3)
    expected = naive(courses, spread)
    found = agglomerate(state(courses, spread))
    assert [tuple(sorted(p)) for p in found.pairs.tolist()] == [tuple(sorted(m[:2])) for m in expected]
    np.testing.assert_allclose(found.gains, [m[2] for m in expected], rtol=1e-6, atol=1e-7)


def test_bookkeeping_with_many_merges():
    """The remembered partners are those that a search of the whole matrix finds, also after arrays were compacted."""
    courses, _ = tl.simulate.own_times(0.2, per_group=20, seed=5)
    found = agglomerate(state(courses))
    sets = {i: [i] for i in range(len(courses))}
    info = GP.at(courses).information
    A, b = info.A[info.design_of], info.b

    def evidence(members):
        M, z = A[members].sum(axis=0) + np.eye(info.rank), b[members].sum(axis=0)
        return z @ np.linalg.solve(M, z) / 2 - np.linalg.slogdet(M)[1] / 2

    for m, (pair, gain) in enumerate(zip(found.pairs, found.gains, strict=True)):
        if m % 7 == 0:
            own = {k: evidence(v) for k, v in sets.items()}
            every = [evidence(sets[p] + sets[q]) - own[p] - own[q] for p, q in itertools.combinations(sets, 2)]
            assert gain == pytest.approx(max(every), abs=1e-7)
        sets[len(courses) + m] = sets.pop(int(pair[0])) + sets.pop(int(pair[1]))


@pytest.mark.parametrize("kind", ["even", "own times"])
def test_tiles_are_the_whole(kind, monkeypatch):
    """First gains come tile by tile, and mirrored; what is left over at the edges is there, too."""
    courses = mixed(kind, per_group=9)
    whole = agglomerate(state(courses))
    monkeypatch.setattr("timelike.clusters.curves.merges.SIDE", 5)
    tiled = agglomerate(state(courses))
    np.testing.assert_array_equal(np.sort(tiled.pairs, axis=1), np.sort(whole.pairs, axis=1))
    np.testing.assert_allclose(tiled.gains, whole.gains, atol=1e-9)


def test_linkage_is_scipys():
    courses, _ = tl.simulate.profiles(0.1, per_group=20, seed=1)
    found = evidence_linkage(courses, GP)
    assert is_valid_linkage(found.linkage)
    assert is_monotonic(found.linkage)
    assert found.linkage[0, 2] == 0
    assert found.linkage[-1, 3] == 60


@pytest.mark.parametrize("kind", ["even", "own times"])
def test_evidence_of_every_cut(kind):
    courses = mixed(kind)
    count = len(courses)
    found = evidence_linkage(courses, GP, spread=0.0)
    assert list(found.evidence) == list(range(1, count + 1))
    for k in (1, 2, 3, 7, count):
        sets = [np.flatnonzero(cut_tree(found.linkage, k) == c) for c in range(k)]
        sizes = np.array([len(s) for s in sets])
        prior = gammaln(k + 1) + gammaln(k) - gammaln(k + count) + gammaln(1 + sizes).sum()
        expected = sum(log_density(courses, list(s)) for s in sets) + prior
        assert found.evidence[k] == pytest.approx(expected, abs=1e-6)
    assert found.k == max(found.evidence, key=found.evidence.get)


def test_finds_three_profiles():
    for seed in range(3):
        courses, truth = tl.simulate.profiles(0.08, seed=seed)
        found = evidence_linkage(courses, tl.fit(courses))
        assert found.k == 3
        assert nmi(found, truth) > 0.7


def test_cut_at_k_and_numbered_by_peak():
    courses, truth = tl.simulate.delayed(0.05, per_group=10, seed=2)
    found = evidence_linkage(courses, tl.fit(courses), k=3)
    np.testing.assert_array_equal(found.labels, truth)  # the groups of `delayed` peak one after the other
    assert found.path[2].sizes == (10.0, 10.0, 10.0)


def alike():
    """Four groups of thirty courses, which differ from the curve of their group by a fifth of the signal."""
    rng = np.random.default_rng(0)
    x = np.linspace(0, 1, 12)
    K = np.exp(-((x[:, None] - x) ** 2) / (2 * 0.3**2)) + 1e-9 * np.eye(12)
    draw = np.linalg.cholesky(K)
    labels = np.repeat(np.arange(4), 30)
    values = (rng.standard_normal((4, 12)) @ draw.T)[labels] + 0.2 * rng.standard_normal((120, 12)) @ draw.T
    courses = tl.TimeCourses.from_arrays(x, values + 0.05 * rng.standard_normal(values.shape))
    return courses, labels, tl.GP.se(0.3, 1.0, 0.05)


def test_spread_is_learned():
    courses, labels, gp = alike()
    learned = evidence_linkage(courses, gp)
    assert evidence_linkage(courses, gp, spread=0.0).k > 8
    assert learned.k == 4
    assert nmi(learned, labels) == pytest.approx(1)
    assert 0.15 < learned.spread < 0.25
    assert learned.learned
    assert not learned.continuum


def test_spread_is_learned_from_some_of_many(monkeypatch):
    monkeypatch.setattr("timelike.clusters.curves.evidence_linkage.SCOUTS", 50)
    courses, labels, gp = alike()
    learned = evidence_linkage(courses, gp)
    assert nmi(learned, labels) == pytest.approx(1)
    assert 0.15 < learned.spread < 0.25


def test_spread_goes_with_a_number_that_is_given():
    courses, labels, gp = alike()
    one, four = (evidence_linkage(courses, gp, k) for k in (1, 4))
    assert one.k == 1
    assert nmi(four, labels) == pytest.approx(1)
    assert one.spread > 3 * four.spread


@pytest.mark.parametrize("seed", range(4))
def test_a_spread_that_is_not_earned_is_none(seed):
    courses, _ = tl.simulate.profiles(0.12, seed=seed)
    gp = tl.fit(courses)
    found, identical = evidence_linkage(courses, gp), evidence_linkage(courses, gp, 3, spread=0.0)
    assert found.spread == 0
    np.testing.assert_array_equal(found.labels, identical.labels)
    np.testing.assert_array_equal(found.linkage, identical.linkage)


def test_children_make_few_clusters(shared_data):
    courses = tl.read(shared_data / "growth" / "growth.csv")
    gp = tl.fit(courses, clock="linear")
    found = evidence_linkage(courses, gp)
    assert evidence_linkage(courses, gp, spread=0.0).k > 80
    assert 3 <= found.k <= 10


@settings(max_examples=12)
@given(st.permutations(range(12)))
def test_order_of_courses_does_not_matter(order):
    courses = mixed("asynchronous")
    found, shuffled = evidence_linkage(courses, GP, 3), evidence_linkage(courses.select(order), GP, 3)
    assert nmi(found.labels[order], shuffled.labels) == pytest.approx(1)
    np.testing.assert_allclose(found.linkage[:, 2], shuffled.linkage[:, 2], atol=1e-6)


@settings(max_examples=12)
@given(st.floats(0.01, 100), st.floats(0.01, 100), st.floats(-5, 5))
def test_units_do_not_matter(time_unit, value_unit, shift):
    courses = mixed("own times")
    times = [c.times * time_unit for c in courses]
    values = [(c.values + shift) * value_unit for c in courses]
    other = tl.TimeCourses.from_arrays(times, values)
    gp = tl.GP.se(0.7 * time_unit, 0.6 * value_unit, 0.1 * value_unit, (0.1 + shift) * value_unit)
    found, again = evidence_linkage(courses, GP), evidence_linkage(other, gp)
    np.testing.assert_array_equal(found.labels, again.labels)
    np.testing.assert_allclose(found.linkage[:, 2], again.linkage[:, 2], atol=1e-5)


@pytest.mark.parametrize("k", [0, -1, 13, 2.0, True, "3"])
def test_impossible_numbers_of_clusters(k):
    with pytest.raises(tl.InputError, match="expected a whole number from 1 to 12"):
        evidence_linkage(mixed("even"), GP, k)


@pytest.mark.parametrize("spread", [-1, "a", np.nan, np.inf, [0.1, 0.2]])
def test_impossible_spread(spread):
    with pytest.raises(tl.InputError, match=f"spread is {re.escape(repr(spread))}: expected a number, zero or more"):
        evidence_linkage(mixed("even"), GP, spread=spread)


@pytest.mark.parametrize("cluster", [1.0, np.float32(1), True, "1", 2, -1, [0]])
def test_curves_of_no_cluster(cluster):
    found = evidence_linkage(mixed("even"), GP, k=2)
    with pytest.raises(tl.InputError, match=f"there is no cluster {re.escape(repr(cluster))}: they are numbered"):
        found.curve(cluster, [0.5])
    assert found.curve(np.int64(1), [0.5]).mean.shape == (1,)


def test_other_nouns_are_named():
    with pytest.raises(tl.InputError, match="courses must be TimeCourses, not list"):
        evidence_linkage([1, 2], GP)
    with pytest.raises(tl.InputError, match="gp must be GP, not NoneType"):
        evidence_linkage(mixed("even"), None)


def test_too_many_courses(monkeypatch):
    monkeypatch.setattr("timelike.clusters.curves.evidence_linkage.MOST", 10)
    with pytest.raises(tl.InputError, match=r"Use timelike\.mixture"):
        evidence_linkage(mixed("even"), GP)


def test_extremes():
    courses = mixed("even")
    assert evidence_linkage(courses, GP, 12).sizes.tolist() == [1] * 12
    assert evidence_linkage(courses, GP, 1).sizes.tolist() == [12]
    alone = evidence_linkage(courses[:1], GP)
    assert alone.k == 1
    assert alone.linkage.shape == (0, 4)


def test_duplicates_are_one_cluster():
    course = mixed("even")[0].values
    courses = tl.TimeCourses.from_arrays(tl.simulate.grid(), np.tile(course, (40, 1)))
    assert evidence_linkage(courses, GP).k == 1


def test_one_point_each():
    courses = tl.TimeCourses.from_arrays([0.5], [[0.0], [0.01], [3.0], [3.02], [2.99]])
    found = evidence_linkage(courses, tl.GP.se(1, 2.0, 0.05))
    assert found.k == 2
    assert nmi(found, [1, 1, 0, 0, 0]) == pytest.approx(1)
