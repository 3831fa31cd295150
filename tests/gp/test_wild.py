"""Wild values: what is one, what is a response, and that one wild value moves nothing."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
import timelike as tl
from timelike.gp import wild
from timelike.gp.judgement import LIKENESS, Response, State
from timelike.gp.wild import wild_values
from timelike.pairs.routes import DenseRoute, GridRoute, InformationRoute

GP = tl.GP.se(2.0, signal_sd=1.0, noise_sd=0.3, mean=0.5)
TIMES = np.arange(12.0)
TRIPLETS = np.repeat(TIMES, 3)
ROUTES = {
    "grids": lambda courses: GridRoute.of(GP.at(courses).information),
    "information": lambda courses: InformationRoute.of(GP.at(courses).information),
    "dense": lambda courses: DenseRoute.of(GP.at(courses)),
}


def drawn(times, count=20, seed=0, gp=GP):
    """Courses of the model itself."""
    C = gp.covariance(times[:, None]) + gp.noise_sd**2 * np.eye(len(times))
    return gp.mean + np.random.default_rng(seed).multivariate_normal(np.zeros(len(times)), C, count)


def spoilt(times, shifts, seed=0, row=4):
    """Courses of the model, one of which is shifted at some of its values."""
    values = drawn(times, seed=seed)
    values[row, list(shifts)] += list(shifts.values())
    return tl.TimeCourses.from_arrays(times, values)


def wild_places(courses, row=4):
    """Which values of the shifted course are wild."""
    at = wild_values(courses, GP).at - courses.starts[row]
    return at[(at >= 0) & (at < courses.sizes[row])].tolist()


# -- laws ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("times", [TIMES, TRIPLETS], ids=["single", "triplets"])
def test_courses_of_the_model_have_no_wild_values(times):
    courses = tl.TimeCourses.from_arrays(times, drawn(times, 2000))
    found = wild_values(courses, GP)
    assert len(found) <= 1  # of 24,000 and 72,000 values
    assert found.weighed(courses) is courses or len(found)


@settings(max_examples=40, deadline=None)
@given(at=st.integers(0, 11), size=st.floats(3.0, 1e6), side=st.sampled_from([-1, 1]), seed=st.integers(0, 50))
def test_a_value_that_stands_alone_is_wild(at, size, side, seed):
    assert wild_places(spoilt(TIMES, {at: side * size}, seed)) == [at]


@settings(max_examples=40, deadline=None)
@given(at=st.integers(0, 35), size=st.floats(3.0, 1e6), side=st.sampled_from([-1, 1]), seed=st.integers(0, 50))
def test_one_replicate_of_three_that_disagrees_is_wild(at, size, side, seed):
    assert wild_places(spoilt(TRIPLETS, {at: side * size}, seed)) == [at]


@settings(max_examples=40, deadline=None)
@given(time=st.integers(0, 11), size=st.floats(2.0, 100.0), side=st.sampled_from([-1, 1]), seed=st.integers(0, 50))
def test_values_that_their_replicates_confirm_keep_their_weight(time, size, side, seed):
    triplet = dict.fromkeys(range(3 * time, 3 * time + 3), side * size)
    assert wild_places(spoilt(TRIPLETS, triplet, seed)) == []


@settings(max_examples=40, deadline=None)
@given(first=st.integers(0, 9), size=st.floats(5.0, 100.0), side=st.sampled_from([-1, 1]), seed=st.integers(0, 50))
def test_neighbouring_values_that_agree_are_a_response(first, size, side, seed):
    run = dict.fromkeys(range(first, first + 3), side * size)
    assert set(run).isdisjoint(wild_places(spoilt(TIMES, run, seed)))


def test_a_wild_value_within_a_response_is_wild():
    run = dict.fromkeys(range(15, 24), 4.0) | {16: 30.0}
    assert wild_places(spoilt(TRIPLETS, run)) == [16]


def test_two_wild_values_far_apart_do_not_hide_each_other():
    assert wild_places(spoilt(TIMES, {4: 6.0, 6: -8.0}, seed=1)) == [4, 6]


@pytest.mark.parametrize("noise", [0.6, 0.9, 1.5])
def test_values_of_noisy_courses_are_not_wild(noise):
    values = drawn(TIMES, 60)
    values[:10] += noise * np.random.default_rng(1).standard_normal((10, 12))
    assert len(wild_values(tl.TimeCourses.from_arrays(TIMES, values), GP)) <= 2


def test_at_most_a_third_is_wild_and_that_is_counted():
    values = drawn(TIMES, 60)
    values[4] = GP.mean + 1e4 * np.array([1, -9, 4, -7, 2, -8, 5, -3, 6, -1, 7, -5])
    found = wild_values(tl.TimeCourses.from_arrays(TIMES, values), GP)
    assert len(found) <= 4
    assert found.crowded == 1
    assert (found.weight < 1e-3).all()


def test_courses_of_one_or_two_values_have_no_wild_ones():
    courses = tl.TimeCourses.from_arrays([[0.0], [0.0, 1.0]], [[1e6], [-1e6, 0.0]])
    assert len(wild_values(courses, GP)) == 0


def test_points_of_a_plane_are_not_judged():
    plane = tl.TimeCourses.from_arrays(np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]), [[0.0, 1e6, 0.0]])
    assert len(wild_values(plane, tl.GP.se(1.0, 1.0, 0.1))) == 0


def test_units_do_not_matter():
    courses = spoilt(TIMES, {3: 4.0, 8: -3.0})
    found = wild_values(courses, GP)
    scaled = tl.TimeCourses.from_arrays(1e-3 * TIMES, 1e5 * courses.values.reshape(-1, 12) - 7e5)
    again = wild_values(scaled, tl.GP.se(2e-3, signal_sd=1e5, noise_sd=3e4, mean=0.5e5 - 7e5))
    np.testing.assert_array_equal(again.at, found.at)
    np.testing.assert_allclose(again.weight, found.weight, rtol=1e-6)
    np.testing.assert_allclose(again.expected, 1e5 * found.expected - 7e5, rtol=1e-6)


def test_own_times_are_judged_as_on_one_grid():
    """Courses with designs of their own go through the basis, those of one design through its matrix."""
    values = spoilt(TIMES, {3: 4.0, 8: -3.0}).values.reshape(-1, 12)
    grid = tl.TimeCourses.from_arrays(TIMES, values)
    own = tl.TimeCourses.from_arrays([TIMES + 1e-9 * i for i in range(len(values))], list(values))
    one, many = (wild_values(c, GP) for c in (grid, own))
    np.testing.assert_array_equal(one.at, many.at)
    for name in ("width", "weight", "expected", "z"):
        np.testing.assert_allclose(getattr(one, name), getattr(many, name), rtol=1e-5)


def test_short_courses_are_looked_at_together():
    rng = np.random.default_rng(1)
    times = [np.sort(rng.uniform(0, 10, n)) for n in rng.integers(2, 30, 100)]
    values = [np.sin(x) + 0.3 * rng.standard_t(3, len(x)) for x in times]
    here = GP.at(tl.TimeCourses.from_arrays(times + times[:20], values + [y[::-1] for y in values[:20]]))
    expected = np.empty(120)
    wild._gains_by_design(here, np.arange(100), expected)
    np.testing.assert_allclose(wild._highest_gains(here), expected, rtol=1e-9)
    assert len(here.courses.designs) == 100
    assert np.isfinite(expected).sum() > 30


def test_known_errors_are_part_of_what_is_expected():
    values = spoilt(TIMES, {3: 4.0}).values.reshape(-1, 12)
    errors = np.zeros(values.shape)
    errors[4, 3] = 4.0
    assert len(wild_values(tl.TimeCourses.from_arrays(TIMES, values, errors=errors), GP)) == 0


def test_values_without_noise_are_not_wild_by_rounding():
    courses, _ = tl.simulate.profiles(noise=0.0, per_group=10, seed=1)
    assert len(wild_values(courses, tl.GP.se(0.9, 0.6, 1e-6))) == 0


# -- weights are variances -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("times", [TIMES, TRIPLETS], ids=["single", "triplets"])
def test_the_likelihood_of_weighed_courses_is_the_oracle(times):
    courses = spoilt(times, {3: 4.0, 8: -3.0}, seed=1)
    found = wild_values(courses, GP)
    weights = np.ones(len(courses.values))
    weights[found.at] = found.weight
    rows = courses.values.reshape(len(courses), -1)
    k = oracle.given(oracle.se, 2.0, 1.0)
    expected = oracle.score([times] * len(rows), rows, k, 0.09, 0.5, weights=weights.reshape(rows.shape))
    assert len(found) == 2
    assert GP.score(found.weighed(courses)) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", ROUTES)
def test_the_similarity_of_weighed_courses_is_the_oracle(name, matrix_of):
    courses = spoilt(TIMES, {3: 4.0, 8: -3.0})[:8]
    found = wild_values(courses, GP)
    weights = np.ones((8, 12))
    weights.ravel()[found.at] = found.weight
    rows = courses.values.reshape(8, 12)
    k = oracle.given(oracle.se, 2.0, 1.0)
    expected = oracle.similarity_matrix([TIMES] * 8, rows, k, 0.09, 0.5, weights=weights)
    assert len(found) == 2
    np.testing.assert_allclose(matrix_of(ROUTES[name](found.weighed(courses))), expected, rtol=1e-9, atol=1e-9)


def test_a_wild_value_has_practically_no_pull():
    values = drawn(TIMES)
    clean = tl.TimeCourses.from_arrays(TIMES, np.where(np.arange(12) == 5, np.nan, values)[[4]])
    values[4, 5] += 100 * 0.3
    courses = tl.TimeCourses.from_arrays(TIMES, values)
    weighed = wild_values(courses, GP).weighed(courses)[[4]]
    at = np.linspace(0, 11, 40)
    np.testing.assert_allclose(GP.posterior(weighed, at).mean, GP.posterior(clean, at).mean, atol=0.02 * 0.3)


def test_only_courses_with_wild_values_leave_their_design():
    weighed = wild_values(courses := spoilt(TIMES, {3: 4.0}), GP).weighed(courses)
    assert len(weighed.designs) == 2
    assert weighed.names == courses.names
    np.testing.assert_array_equal(weighed.values, courses.values)


# -- evidence --------------------------------------------------------------------------------------------------------


@pytest.fixture
def dense():
    """A course: its values, their covariance, and the state that stands for both."""
    y = drawn(TIMES)[0] - GP.mean
    y[5] += 4.0
    C = oracle.se(TIMES, TIMES, 2.0, 1.0) + 0.09 * np.eye(12)
    P = np.linalg.inv(C)
    return y, C, State(P, P @ y, np.full(12, 0.09))


def test_gains_are_ratios_of_densities(dense):
    y, C, state = dense
    S = np.array([4, 5, 6])
    E = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    Q = 9.0 * np.array([[1.0, LIKENESS], [LIKENESS, 1.0]])
    wider = C.copy()
    wider[np.ix_(S, S)] += E @ Q @ E.T
    expected = oracle.log_density(y, 0.0, wider) - oracle.log_density(y, 0.0, C)
    response = Response(S, E, Q)
    assert state.gain(response) == pytest.approx(expected, rel=1e-9)
    after = state.plus(response)
    np.testing.assert_allclose(after.P, np.linalg.inv(wider), atol=1e-9)
    np.testing.assert_allclose(after.a, np.linalg.solve(wider, y), atol=1e-9)


def test_a_wild_value_gains_what_its_variance_explains(dense):
    y, C, state = dense
    difference = state.differences()[5]
    width = max(100 * 0.09, difference**2)
    wider = C + width * np.diag(np.arange(12) == 5)
    expected = oracle.log_density(y, 0.0, wider) - oracle.log_density(y, 0.0, C)
    assert state.wild_gains()[5] == pytest.approx(expected, rel=1e-9)


def test_a_value_that_is_taken_out_tells_nothing_and_comes_back(dense):
    y, C, state = dense
    removed, rest = state.without(5)
    others = np.delete(np.arange(12), 5)
    alone = np.linalg.inv(C[np.ix_(others, others)])
    np.testing.assert_allclose(rest.P[np.ix_(others, others)], alone, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(rest.a[others], alone @ y[others], atol=1e-9)
    back = rest.restored(5, removed)
    np.testing.assert_allclose(back.P, state.P, atol=1e-6)
    np.testing.assert_allclose(back.a, state.a, atol=1e-6)


# -- real values -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def influenza(shared_data):
    """Genes of mouse lung after infection with virus C: 14 uneven times x 3 replicates, each minus its mean."""
    pd = pytest.importorskip("pandas")
    folder = shared_data / "mouse_flu"
    expression = pd.read_csv(folder / "expression.csv.gz", index_col=0)
    samples = pd.read_csv(folder / "samples.csv").query("Group == 'C'")
    times = samples["Timepoint"].to_numpy(dtype=float)
    return tl.TimeCourses.from_arrays(times, expression[samples["sample"]]).centered()


def test_triplets_that_agree_keep_their_weight(influenza):
    with pytest.warns(tl.FitWarning, match="clock"):
        gp = tl.fit(influenza)
    found = wild_values(influenza, gp)
    i = influenza.index("NM_031168")
    assert not ((found.at >= influenza.starts[i]) & (found.at < influenza.starts[i + 1])).any()
    assert 10 < len(found) < 60  # of 21,000
    owner = np.searchsorted(influenza.starts, found.at, side="right") - 1
    places = set(zip(owner.tolist(), influenza.times[found.at].tolist(), strict=True))
    assert len(places) >= len(found) - 1  # single values, not triplets
