from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.gaussian_process.kernels import RBF, Matern

import oracle
import timelike as tl
from small_jobs import GIVEN, ROUGH, Case
from timelike import GP, TimeCourses
from timelike.pairs.job import CUT, EVEN, Cut, Job
from timelike.pairs.routes import FEW, InformationRoute, OneGridRoute, route
from timelike.pairs.similarity import in_memory

PAPER = GP.se(1.0, signal_sd=3.17884, noise_sd=0.358086, mean=9.491161)
"""Where the authors' optimiser stopped on the gene data (method note); the paper's figures come from here."""
PAIRS = [("Samd14", "Fbln5"), ("Samd14", "Serpine1")]


# -- golden values ----------------------------------------------------------------------------------------------------


def test_the_papers_two_pairs(genes):
    """The paper prints 37.48 and 25.57 for -s."""
    frame = tl.similarity(genes, PAPER).to_frame()
    assert [frame.loc[pair] for pair in PAIRS] == pytest.approx([-37.479, -25.566], abs=5e-4)


def test_the_papers_two_pairs_fitted(genes):
    """At the maximum of the likelihood, from the method note."""
    frame = tl.similarity(genes, tl.fit(genes)).to_frame()
    assert [frame.loc[pair] for pair in PAIRS] == pytest.approx([-37.29, -24.23], abs=5e-3)


def test_the_papers_two_pairs_are_equally_far_apart(genes):
    """Euclidean distance 5.09 both: the example of the paper."""
    a, b = (np.linalg.norm(genes[i].values - genes[j].values) for i, j in PAIRS)
    assert (a, b) == pytest.approx((5.09, 5.09), abs=5e-3)


def test_the_authors_matrix_on_a_shared_grid(genes, reference):
    S = tl.similarity(genes[100:130], GP.se(54.5183, signal_sd=3.24964, noise_sd=0.358655, mean=9.4076))
    assert_allclose(S.values, reference("shared_grid_similarity.csv"), rtol=1e-9)
    assert S.route == "grid"


def test_the_authors_asynchronous_matrix(reference):
    values = np.where(reference("asynchronous_mask.csv") == 1, reference("asynchronous_values.csv"), np.nan)
    courses = TimeCourses.from_arrays(np.linspace(0, 1, 15), values)
    S = tl.similarity(courses, GP.se(0.95, signal_sd=0.7, noise_sd=0.081, mean=0.02))
    assert_allclose(S.values, reference("asynchronous_similarity.csv"), rtol=1e-9)


def test_by_hand():
    """One value each at one time, signal and noise variance 1: covariances [[2, 1], [1, 2]] against 2 and 2."""
    courses = TimeCourses.from_arrays([0], [[1.0], [-1.0]])
    S = tl.similarity(courses, GP.se(1, 1, 1)).values
    constant = -0.5 * np.log(3) + 0.5 * np.log(4)
    assert_allclose(S, constant + np.array([[1 / 6, -1 / 2], [-1 / 2, 1 / 6]]), rtol=1e-14)


# -- shapes -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def mixed():
    times, values, errors = oracle.example("errors", count=5)
    more = oracle.example("own", count=7, seed=1)
    return TimeCourses.from_arrays(
        [*times, *more[0]], [*values, *more[1]], errors=[*errors, *(np.full(len(x), 0.1) for x in more[0])]
    )


@pytest.mark.parametrize("rows", [slice(0, 4), slice(3, 9), slice(11, 12)])
def test_a_rectangle_is_a_block_of_the_square(mixed, rows):
    square = tl.similarity(mixed, GIVEN)
    block = tl.similarity(mixed[rows], GIVEN, mixed)
    assert_allclose(block.values, square.values[rows], rtol=1e-10, atol=1e-12)
    assert block.names == mixed.names[rows]
    assert block.others == mixed.names


def test_a_rectangle_of_courses_on_two_grids():
    one = TimeCourses.from_arrays([0, 1, 2], np.random.default_rng(0).standard_normal((FEW - 10, 3)))
    two = TimeCourses.from_arrays([0, 1.5], np.random.default_rng(1).standard_normal((FEW + 10, 2)))
    block = tl.similarity(one, GIVEN, two)
    assert block.values.shape == (FEW - 10, FEW + 10)
    assert block.route == "grids"
    expected = oracle.similarity(
        one.grid, one[3].values, two.grid, two[4].values, oracle.given(oracle.se, 0.4, 1.3), 0.09, 0.2
    )
    assert block.values[3, 4] == pytest.approx(expected, rel=1e-10)


def test_other_courses_do_not_change_a_pair(mixed):
    assert_allclose(
        tl.similarity(mixed[[2, 8]], GIVEN).values,
        tl.similarity(mixed, GIVEN).values[np.ix_([2, 8], [2, 8])],
        rtol=1e-10,
    )


def test_one_course():
    one = TimeCourses.from_arrays([0, 1], [[1, 2]], names=["a"])
    S = tl.similarity(one, GIVEN)
    assert S.values.shape == (1, 1)
    assert S.values[0, 0] > 0


def test_errors_per_value_are_part_of_the_noise():
    times, values, errors = oracle.example("errors")
    S = tl.similarity(TimeCourses.from_arrays(times, values, errors=errors), GIVEN).values
    expected = oracle.similarity_matrix(times, values, oracle.given(oracle.se, 0.4, 1.3), 0.09, 0.2, errors)
    assert_allclose(S, expected, rtol=1e-10)


def test_a_value_with_a_huge_error_is_as_good_as_missing():
    times, values = [0, 1, 2], np.array([[1.0, 5.0, 2.0], [1.2, 2.0, 1.8]])
    doubtful = TimeCourses.from_arrays(times, values, errors=[[0, 1e9, 0], [0, 0, 0]])
    values[0, 1] = np.nan
    assert_allclose(
        tl.similarity(doubtful, GIVEN).values,
        tl.similarity(TimeCourses.from_arrays(times, values), GIVEN).values,
        rtol=1e-9,
    )


# -- threads and tiles ----------------------------------------------------------------------------------------

CASES = {
    "grid": ("grid", GIVEN),
    "grids": ("grid", GP.se(0.4, signal_sd=1.3, noise_sd=1e-4, mean=0.2)),
    "information": ("gaps", GIVEN),
    "dense": ("own", ROUGH),
}


@pytest.fixture(params=CASES)
def case(request):
    """Courses for each route, and their model; the job has parts of seven courses."""
    kind, gp = CASES[request.param]
    courses = TimeCourses.from_arrays(*oracle.example(kind, count=20 if request.param == "dense" else 40)[:2])
    return Case(courses, gp, request.param)


def test_threads_do_not_change_a_bit(case):
    one, two = (in_memory(case.job(), threads=n) for n in (1, 2))
    assert_array_equal(one, two)
    assert_array_equal(one, one.T)


def test_tiles_do_not_change_the_answer(case):
    few = replace(case, courses=case.courses[5:])
    whole, rectangle = replace(case, cut=CUT).values(), replace(few, cut=CUT).values(case.courses)
    assert_allclose(case.values(), whole, rtol=1e-11, atol=1e-12)
    assert_allclose(few.values(case.courses), rectangle, rtol=1e-11, atol=1e-12)
    assert_allclose(rectangle, whole[5:], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("count", [50, 128, 150, 320, 389])
def test_wide_parts_have_the_bits_of_a_file(count, tmp_path):
    courses = TimeCourses.from_arrays(np.linspace(0, 1, 8), np.random.default_rng(0).standard_normal((count, 8)))
    wide = Case(courses, route="grid", cut=Cut(64, 128))
    assert wide.job().part == (64, 128)
    assert wide.job().parts()[0][1] == slice(0, count // EVEN * EVEN or count)
    whole = wide.values()
    assert_array_equal(whole, whole.T)
    assert_array_equal(wide.to_file(tmp_path / "S.npy"), whole)
    assert_allclose(whole, tl.similarity(courses, GIVEN).values, rtol=1e-13, atol=1e-13)
    few = replace(wide, courses=courses[:45])
    assert_array_equal(few.to_file(tmp_path / "rest.npy", courses[45:]), few.values(courses[45:]))


@pytest.mark.parametrize("way", [OneGridRoute, InformationRoute])
def test_more_courses_than_one_tile(way):
    rng = np.random.default_rng(0)
    side = CUT.block if way.symmetric else way.side
    times, values = np.linspace(0, 1, 8), rng.standard_normal((2 * side + 3, 8))
    if way is InformationRoute:
        values[rng.random(values.shape) < 0.3] = np.nan
        values[:, 0] = 0.0
    courses = TimeCourses.from_arrays(times, values)
    S = tl.similarity(courses, GIVEN)
    assert S.route == way.name
    assert_array_equal(S.values, S.values.T)
    some = [0, side - 1, side, 2 * side, len(courses) - 1]
    few = tl.similarity(courses[some], GIVEN).values
    assert_allclose(S.values[np.ix_(some, some)], few, rtol=1e-9, atol=1e-10)


def test_a_library_that_sums_in_another_order_at_the_rim_is_corrected():
    class Uneven(OneGridRoute):
        def tile(self, rows, cols, out):
            super().tile(rows, cols, out)
            if len(out) % EVEN:
                out[-1] = np.nextafter(out[-1], np.inf)
            if out.shape[1] % EVEN:
                out[:, -1] = np.nextafter(out[:, -1], -np.inf)

    courses = TimeCourses.from_arrays(np.linspace(0, 1, 8), np.random.default_rng(0).standard_normal((150, 8)))
    expected, way = tl.similarity(courses, GIVEN).values, route(GIVEN.at(courses))
    S = in_memory(Job.of(Uneven(way.left, way.right)))
    assert_array_equal(S, S.T)
    assert_allclose(S, expected, rtol=1e-14)


# -- what comes out ----------------------------------------------------------------------------------------------------


def test_names_frame_and_words():
    courses = TimeCourses.from_arrays([0, 1], [[1, 2], [3, 1]], names=["up", "down"])
    S = tl.similarity(courses, GIVEN)
    assert S.names == ("up", "down")
    assert S.others is None
    assert repr(S) == "Similarity: 2 x 2 log likelihood ratios"
    assert S.to_frame().loc["up", "down"] == S.values[0, 1]
    other = tl.similarity(courses[:1], GIVEN, courses).to_frame()
    assert (list(other.index), list(other.columns)) == (["up"], ["up", "down"])


def test_dissimilarity_is_the_papers():
    courses = TimeCourses.from_arrays([0, 1], [[1, 2], [3, 1], [0, 5]])
    S = tl.similarity(courses, GIVEN)
    D = S.dissimilarity()
    off = ~np.eye(3, dtype=bool)
    assert_array_equal(np.diag(D), 0)
    assert_allclose(D[off], (1 + S.values.max() - S.values)[off], rtol=1e-15)
    assert (D[off] >= 1).all()


def test_alike_is_above_zero_and_unlike_below():
    courses, labels = tl.simulate.profiles(noise=0.02, per_group=5)
    S = tl.similarity(courses, tl.fit(courses)).values
    same = labels[:, None] == labels
    assert S[same].min() > 0 > S[~same].max()


# -- the Euclidean limit ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kernel", "covariance"), [(RBF(0.25), oracle.se), (Matern(0.25, nu=0.5), oracle.matern12)], ids=["se", "matern12"]
)
def test_the_euclidean_limit_at_the_papers_rate(kernel, covariance):
    """Eq. GP_equals_Euclidean: as noise/signal goes to 0, s + |y_i - y_j|^2 / (4 noise variance) tends to one number
    for all pairs, -1/2 log det(2 (noise/signal)^2 G^-1). The remainder is (noise/signal)^2 times a number of each
    pair, [y_i, y_j] ([3, -1; -1, 3] x G^-1) [y_i, y_j] / (8 noise variance) + 3/4 tr G^-1, and smaller terms. (The
    paper leaves out the second part, which comes from the determinant and is the same for all pairs.)
    """
    times, noise = np.linspace(0, 1, 5), 0.5
    values = np.random.default_rng(0).standard_normal((6, 5))
    courses = TimeCourses.from_arrays(times, values)
    inverse = np.linalg.inv(covariance(times, times, 0.25, 1.0))
    squares = ((values[:, None] - values) ** 2).sum(axis=2)
    own = (values @ inverse * values).sum(axis=1)
    rate = (3 * (own[:, None] + own) - 2 * values @ inverse @ values.T) / (8 * noise**2) + 0.75 * np.trace(inverse)
    remainders = {}
    for ratio in (1e-2, 1e-3, 1e-4):
        s = tl.similarity(courses, GP(kernel, noise / ratio, noise)).values
        limit = -0.5 * np.linalg.slogdet(2 * ratio**2 * inverse)[1]
        remainders[ratio] = s + squares / (4 * noise**2) - limit
        assert_allclose(remainders[ratio] / ratio**2, rate, rtol=300 * ratio + 1e-3)
    assert_allclose(remainders[1e-2] / remainders[1e-3], 100, rtol=0.1)
    assert_allclose(remainders[1e-3] / remainders[1e-4], 100, rtol=0.01)
