"""P(same): what a pair of courses shares, against every partition written down, and under the laws of any answer."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import oracle
import timelike as tl
from timelike import GP, TimeCourses
from timelike.base.odds import running_fdr
from timelike.pairs import sure
from timelike.pairs.families import drawn, known
from timelike.pairs.families.chain import Chain
from timelike.pairs.families.sizes import CONCENTRATIONS, Sizes

MODEL = GP.se(0.3, signal_sd=1.0, noise_sd=0.5, mean=0.2)


def k(x, z):
    return oracle.se(x, z, 0.3, 1.0)


@pytest.fixture(scope="module", autouse=True)
def _few_draws():
    """Laws hold however few partitions are drawn."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"STEPS": 400, "UNTIL_STEADY": 24, "KEPT": 8}.items():
            patch.setattr(drawn, name, value)
        yield


@pytest.fixture(scope="module")
def families():
    """Four families of eight, far enough apart to be told."""
    courses, labels, _ = tl.simulate.smooth(noise=0.3, spread=0.1, groups=4, per_group=8, seed=3)
    return courses, labels


@pytest.fixture(scope="module")
def fitted(families):
    return tl.fit(families[0])


@pytest.fixture(scope="module")
def found(families, fitted):
    return tl.similarity(families[0], fitted)


@pytest.fixture(scope="module")
def P(found):  # noqa: N802 - the matrix of probabilities
    return found.probabilities()


def few(sampling, count=4):
    """A few courses, on one grid or at times of their own, the first two of one curve."""
    rng = np.random.default_rng(7)
    times = [np.linspace(0, 1, 5) if sampling == "grid" else np.sort(rng.random(4 + i % 2)) for i in range(count)]
    values = [0.2 + np.sin(5 * x + (i // 2)) + 0.5 * rng.standard_normal(len(x)) for i, x in enumerate(times)]
    return times, values


# -- against the definition ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("sampling", "tolerance"), [("grid", None), ("own", 0.4)])
def test_every_partition_written_down(sampling, tolerance, monkeypatch):
    monkeypatch.setattr(drawn, "STEPS", 5000)
    times, values = few(sampling)
    courses = TimeCourses.from_arrays(times, values)
    spreads = drawn._grids({0: known.sayings(MODEL.at(courses))}, MODEL, tolerance)["spread"]
    if tolerance is not None:
        assert spreads == [pytest.approx(tolerance**2 / 2)]
    expected = oracle.same_family(times, values, k, 0.25, 0.2, spreads, CONCENTRATIONS)
    assert_allclose(tl.similarity(courses, MODEL).probabilities(tolerance), expected, atol=0.04)


@pytest.mark.parametrize("sampling", ["grid", "own"])
def test_density_of_a_partition(sampling):
    times, values = few(sampling, 5)
    courses = TimeCourses.from_arrays(times, values)
    setting = known.Setting(size=1.7, spread=0.2, noise=0.6)
    told = known.sayings(MODEL.at(courses)).at(setting)
    chain = Chain(told, Sizes.of(5), np.random.default_rng(0))
    chain.family, chain.counts = np.array([0, 0, 1, 1, 0]), np.array([3.0, 2.0])
    constant = sum(map(len, values)) / 2 * np.log(2 * np.pi * 0.25)

    def covariance(x, z):  # what is shared is 1.7 x 0.8, and what is not 0.2: in all 1.56
        return 1.56 * k(x, z)

    expected = sum(
        oracle.family_density([times[i] for i in b], [values[i] for i in b], covariance, 0.15, 0.2, 0.2 / 1.56)
        for b in ([0, 1, 4], [2, 3])
    )
    assert chain.log_density(told) - constant == pytest.approx(expected, abs=1e-9 if sampling == "grid" else 3e-3)


@pytest.mark.parametrize("which", range(len(CONCENTRATIONS)))
def test_prior_of_partitions(which):
    prior = Sizes.of(6)
    for sizes in ([6], [1, 5], [2, 2, 2], [1] * 6):
        expected = oracle.log_partition_prior(sizes, CONCENTRATIONS[which])
        assert prior.log_prior(np.array(sizes, float))[which] == pytest.approx(expected, abs=5e-3)
    split = prior.log_prior(np.array([2.0, 4.0])) - prior.log_prior(np.array([6.0]))
    assert prior.log_split(which, 2, (2, 4)) == pytest.approx(split[which])


def test_families_stay_what_their_courses_add_up_to(families, fitted):
    told = known.sayings(fitted.at(families[0])).at(known.Setting(spread=0.05))
    chain = Chain(told, Sizes.of(len(told.b)), np.random.default_rng(1))
    for _ in range(3):
        chain.sweep()
        chain.reshape()
        A, b = chain.sums(told)
        assert_allclose(chain.A, A, atol=1e-9)
        assert_allclose(chain.b, b, atol=1e-9)
        assert_allclose(chain.heights, known.evidence(A, b), atol=1e-9)
        assert_array_equal(chain.counts, np.bincount(chain.family))


# -- laws ------------------------------------------------------------------------------------------------------------


def test_probabilities(P, families):
    labels = families[1]
    same = np.equal.outer(labels, labels)
    assert P.shape == (32, 32)
    assert_array_equal(P, P.T)
    assert_array_equal(np.diag(P), 1)
    assert P.min() >= 0
    assert P.max() <= 1
    assert P[same].mean() > 0.9
    assert P[~same].mean() < 0.1


def test_order_of_courses_does_not_matter(P, families, fitted):
    order = np.random.default_rng(5).permutation(32)
    again = tl.similarity(families[0].select(order.tolist()), fitted).probabilities()
    assert_allclose(again, P[np.ix_(order, order)], atol=1e-12)


def test_units_and_origin_of_time_do_not_matter(families, P, fitted):
    courses = families[0]
    other = TimeCourses.from_arrays(courses.grid * 64 + 1024, courses.values.reshape(32, -1) * 8)
    gp = GP(fitted.kernel, fitted.signal_sd, fitted.noise_sd, fitted.mean, fitted.log_likelihood)
    gp = GP.from_dict(gp.to_dict() | {"signal_sd": 8 * gp.signal_sd, "noise_sd": 8 * gp.noise_sd, "mean": 8 * gp.mean})
    gp = GP(gp.kernel.set_params(length_scale=64 * gp.length_scale), gp.signal_sd, gp.noise_sd, gp.mean, -1.0)
    assert_allclose(tl.similarity(other, gp).probabilities(), P, atol=1e-6)


def test_noise_that_drowns_everything_leaves_what_was_expected_before(monkeypatch):
    monkeypatch.setattr(drawn, "STEPS", 5000)
    times, values = few("grid", 6)
    P = tl.similarity(TimeCourses.from_arrays(times, values), GP.se(0.3, 1.0, 1e4)).probabilities()
    off = P[np.triu_indices(6, 1)]
    prior = oracle.same_family(times, [np.zeros(5)] * 6, k, 1e12, 0.0, [0.1], CONCENTRATIONS)[0, 1]
    assert off.std() < 0.03
    assert off.mean() == pytest.approx(prior, abs=0.1)


def test_grids_and_own_times_agree(families, fitted):
    """The same values once on a grid, once as if their times were their own."""
    grid = families[0][::2]
    apart = [grid.grid + 1e-9 * i for i in range(len(grid))]
    own = TimeCourses.from_arrays(apart, list(grid.values.reshape(len(grid), -1)))
    given = GP(fitted.kernel, fitted.signal_sd, fitted.noise_sd, fitted.mean)
    assert_allclose(tl.similarity(own, given).probabilities(), tl.similarity(grid, given).probabilities(), atol=0.05)


def test_against_others(families, fitted, P):
    courses = families[0]
    S = tl.similarity(courses[:10], fitted, courses[10:])
    assert S.probabilities().shape == (10, 22)
    assert_allclose(S.probabilities(), P[:10, 10:], atol=1e-12)  # the same courses in all


def test_many_courses_are_held_against_families_of_some(families, fitted, P, monkeypatch):
    monkeypatch.setattr(sure, "MOST", 24)
    again = tl.similarity(families[0], fitted).probabilities()
    assert_array_equal(again, again.T)
    assert np.abs(again - P).mean() < 0.03


def test_held_against_families_with_own_times(monkeypatch):
    monkeypatch.setattr(sure, "MOST", 40)
    courses, labels = tl.simulate.own_times(noise=0.03, per_group=20, visits=(6, 9), seed=2)
    P = tl.similarity(courses, tl.fit(courses)).probabilities()
    same = np.equal.outer(labels, labels)
    assert P[same].mean() > 0.7
    assert abs(P.mean() - same.mean()) < 0.05


def test_courses_that_scatter_differently_are_noticed():
    courses = tl.simulate.smooth(noise=0.2, spread=0.0, groups=4, per_group=12, own_noise=0.7, seed=1)[0]
    states = drawn.draw(courses, tl.fit(courses)).states
    assert all(len(one.scales) == drawn.OWN for one in states)
    alike = tl.simulate.smooth(noise=0.2, spread=0.0, groups=4, per_group=12, seed=1)[0]
    assert all(len(one.scales) == 1 for one in drawn.draw(alike, tl.fit(alike)).states)


def test_a_wide_tolerance_joins_what_a_narrow_one_parts():
    x = np.linspace(0, 1, 8)
    rng = np.random.default_rng(0)
    values = np.repeat([[0.0], [0.3]], 6, axis=0) + np.sin(6 * x) + 0.05 * rng.standard_normal((12, 8))
    S = tl.similarity(TimeCourses.from_arrays(x, values), GP.se(0.3, 1.0, 0.05))
    narrow, wide = S.probabilities(tolerance=0.01), S.probabilities(tolerance=0.6)
    assert narrow[0, 6:].mean() < 0.05
    assert wide[0, 6:].mean() > 0.5


# -- odds where families cannot be drawn -----------------------------------------------------------------------------


def test_up_to_freedoms_the_odds_are_learned():
    courses, _ = tl.simulate.delayed(per_group=10, seed=1)
    free = {"up_to": "delay", "max_delay": 0.4}
    S = tl.similarity(courses, GP.se(0.2, 0.5, 0.1), **free)
    P = S.probabilities()
    off = ~np.eye(len(courses), dtype=bool)
    logits = np.log(P[off]) - np.log1p(-np.minimum(P[off], 1 - 1e-12))
    odds = (logits - S.values[off])[P[off] < 0.99]
    assert_array_equal(P, P.T)
    assert odds.size == 0 or np.ptp(odds) < 1e-6
    with pytest.raises(tl.InputError, match="leave out tolerance"):
        S.probabilities(tolerance=0.1)


# -- lists -----------------------------------------------------------------------------------------------------------


def test_pairs_at_a_rate(families, fitted, P):
    courses, _ = families
    lists = [tl.similar_pairs(courses, fitted, fdr=rate) for rate in (0.01, 0.05, 0.2)]
    sizes = [len(one) for one in lists]
    assert sizes == sorted(sizes)
    for one, rate in zip(lists, (0.01, 0.05, 0.2), strict=True):
        assert one.fdr.max() <= rate
        assert one.probabilities.min() >= 0.5
        assert_array_equal(one.probabilities, P[one.rows, one.cols])
        assert one.above is None
    upper = P[np.triu_indices(32, 1)]
    assert sizes[1] == int(((running_fdr(upper) <= 0.05) & (upper >= 0.5)).sum())
    assert lists[1].to_frame().columns.tolist() == ["first", "second", "similarity", "probability", "fdr"]
    assert "at an expected error rate" in repr(lists[1])
    assert lists[1].graph().nnz == 2 * sizes[1]


def test_pairs_with_others_at_a_rate(families, fitted):
    courses = families[0]
    found = tl.similar_pairs(courses[:10], fitted, courses[10:], fdr=0.05)
    assert found.cols.max() < 22
    assert len(found.others) == 22
    assert found.graph().shape == (10, 22)


def test_neighbours_and_their_graph(families, fitted, P):
    nearest = tl.neighbors(families[0], fitted, k=9)
    assert_array_equal(nearest.probabilities, P[np.arange(32)[:, None], nearest.indices])
    whole, sure_ones = nearest.graph(), nearest.graph(fdr=0.05)
    assert sure_ones.nnz < whole.nnz
    assert (whole - sure_ones).min() >= 0
    assert (sure_ones != sure_ones.T).nnz == 0
    others = tl.neighbors(families[0][:10], fitted, k=3, others=families[0][10:])
    assert others.graph(fdr=0.1).shape == (10, 22)


def test_pickles_keep_what_was_compared(families, fitted, P):
    S = pickle.loads(pickle.dumps(tl.similarity(families[0], fitted)))  # noqa: S301 - our own
    assert_array_equal(S.probabilities(), P)


# -- errors ----------------------------------------------------------------------------------------------------------


def test_a_file_does_not_know_its_courses(families, fitted, tmp_path, P):
    written = tl.similarity(families[0], fitted, out=tmp_path / "S.npy")
    assert_array_equal(written.probabilities(), P)
    with pytest.raises(tl.InputError, match=r"compare them again.*similar_pairs"):
        tl.Similarity.open(tmp_path / "S.npy").probabilities()


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({}, "give one of above"),
        ({"above": 1, "fdr": 0.05}, "give one of above"),
        ({"fdr": 0}, "fdr is 0"),
        ({"fdr": "5%"}, "fdr is '5%'"),
        ({"above": "much"}, "above is 'much'"),
        ({"above": 1, "tolerance": 0.1}, "give it with fdr"),
        ({"fdr": 0.05, "tolerance": -1}, "tolerance is -1"),
    ],
)
def test_what_cannot_be_asked(asked, message, families, fitted):
    with pytest.raises(tl.InputError, match=message):
        tl.similar_pairs(families[0], fitted, **asked)


def test_rates_of_graphs_are_checked(families, fitted):
    with pytest.raises(tl.InputError, match="fdr is 2"):
        tl.neighbors(families[0], fitted, k=3).graph(fdr=2)
