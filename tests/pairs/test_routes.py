"""Three routes and two engines, one answer: that of the oracle."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.gaussian_process import kernels as sk

import oracle
import timelike as tl
from timelike import GP, TimeCourses
from timelike.gp.information import log_det_plus_identity
from timelike.gp.modelled import MAX_RANK
from timelike.pairs import elimination
from timelike.pairs.elimination import Side
from timelike.pairs.routes import FEW, DenseRoute, GridRoute, InformationRoute, pair_form, route

SIGNAL, NOISE, MEAN = 1.3, 0.4, 0.2
ROUTES = {
    "grids": lambda courses, gp: GridRoute.of(gp.at(courses).information),
    "information": lambda courses, gp: InformationRoute.of(gp.at(courses).information),
    "dense": lambda courses, gp: DenseRoute.of(gp.at(courses)),
}
ENGINES = ("numpy", "numba", "precise")


@pytest.mark.parametrize("kernel", oracle.KERNELS)
@pytest.mark.parametrize("kind", oracle.EXAMPLES)
@pytest.mark.parametrize("name", ROUTES)
def test_every_route_is_the_oracle(name, kind, kernel, matrix_of):
    times, values, errors = oracle.example(kind)
    shape, k = oracle.KERNELS[kernel]
    courses, gp = TimeCourses.from_arrays(times, values, errors=errors), GP(shape, SIGNAL, NOISE, MEAN)
    way = ROUTES[name](courses, gp)
    expected = oracle.similarity_matrix(times, values, oracle.scaled(k, SIGNAL), NOISE**2, MEAN, errors)
    assert way.name == name
    assert_allclose(matrix_of(way), expected, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("name", ROUTES)
def test_every_route_serves_points_with_two_coordinates(name, matrix_of):
    rng = np.random.default_rng(4)
    places = [rng.random((n, 2)) for n in (3, 1, 4, 2)]
    values = [rng.standard_normal(len(x)) for x in places]
    courses, gp = TimeCourses.from_arrays(places, values), GP.se(0.5, SIGNAL, NOISE, MEAN)
    expected = oracle.similarity_matrix(places, values, oracle.given(oracle.se, 0.5, SIGNAL), NOISE**2, MEAN)
    assert_allclose(matrix_of(ROUTES[name](courses, gp)), expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("name", ROUTES)
def test_every_route_computes_any_part(name):
    times, values, _ = oracle.example("gaps", count=9)
    courses, gp = TimeCourses.from_arrays(times, values), GP.se(0.4, SIGNAL, NOISE, MEAN)
    way = ROUTES[name](courses, gp)
    expected = tl.similarity(courses, gp).values
    rows, cols = way.order[[1, 4, 5]], way.order[[0, 2, 3, 8]]
    out = np.full((3, 4), np.nan)
    way.tile(rows, cols, out)
    assert_allclose(out, expected[np.ix_(rows, cols)], rtol=1e-10)


@pytest.mark.parametrize("name", ROUTES)
def test_order_is_a_permutation(name):
    courses = TimeCourses.from_arrays(*oracle.example("gaps", count=9)[:2])
    way = ROUTES[name](courses, GP.se(0.4, SIGNAL, NOISE))
    assert sorted(way.order.tolist()) == list(range(9))


# -- which route --------------------------------------------------------------------------------------------------


def on_grid(n, t=6):
    return TimeCourses.from_arrays(np.linspace(0, 1, t), np.random.default_rng(0).standard_normal((n, t)))


def test_one_grid_takes_matrix_products():
    assert route(GP.se(0.3, 1, 0.1).at(on_grid(2))).name == "grid"
    assert route(GP("matern12", 1, 0.1).at(on_grid(2))).name == "grid"


def test_one_grid_with_little_noise_avoids_the_product_in_which_large_terms_cancel():
    assert route(GP.se(0.3, 1, 1e-4).at(on_grid(2))).name == "grids"


def test_the_matrix_product_of_one_grid_is_the_form_of_its_design(matrix_of):
    courses, gp = on_grid(9), GP.se(0.3, 1, 0.1, 0.2)
    product, form = route(gp.at(courses)), GridRoute.of(gp.at(courses).information)
    assert_allclose(matrix_of(product), matrix_of(form), rtol=1e-10, atol=1e-11)


def test_few_grids_take_matrix_products():
    values = np.random.default_rng(0).standard_normal((3 * FEW, 6))
    values[:FEW, 1] = np.nan
    values[FEW : 2 * FEW, 4] = np.nan
    courses = TimeCourses.from_arrays(np.linspace(0, 1, 6), values)
    assert route(GP.se(0.3, 1, 0.1).at(courses)).name == "grids"
    assert route(GP.se(0.3, 1, 0.1).at(courses[:-1])).name == "information"


def test_own_times_and_a_smooth_kernel_take_information():
    courses, _ = tl.simulate.own_times(per_group=10)
    assert route(GP.se(0.5, 1, 0.1).at(courses)).name == "information"


def test_own_times_and_a_rough_kernel_take_the_dense_pair():
    courses, _ = tl.simulate.own_times(per_group=12)
    assert route(GP(sk.Matern(0.3, nu=0.5), 1, 0.1).at(courses)).name == "dense"


def test_a_basis_that_had_to_be_cut_short_is_not_used():
    """Long courses would afford the largest basis, but it does not describe a rough kernel at 200 points."""
    rng = np.random.default_rng(0)
    times = [np.sort(rng.random(50)) for _ in range(4)]
    values = [rng.standard_normal(50) for _ in times]
    courses, gp = TimeCourses.from_arrays(times, values), GP(sk.Matern(0.3, nu=0.5), 1.0, 0.1)
    assert MAX_RANK < 2 * 50
    S = tl.similarity(courses, gp)
    assert S.route == "dense"
    k = oracle.given(oracle.matern12, 0.3, 1.0)
    assert_allclose(S.values, oracle.similarity_matrix(times, values, k, 0.01), rtol=1e-9)


@pytest.mark.parametrize("kernel", ["se", "matern12", "matern52"])
def test_the_chosen_route_is_the_oracle_with_many_distinct_times(kernel):
    """200 values at their own times: the basis is not the kernel on a grid, or the route is dense."""
    courses, _ = tl.simulate.own_times(per_group=11, seed=3)
    shape, k = oracle.KERNELS[kernel]
    S = tl.similarity(courses, GP(shape, 0.7, 0.05, 0.1)).values
    for i, j in [(0, 0), (0, 1), (3, 30), (20, 21), (32, 5)]:
        a, b = courses[i], courses[j]
        expected = oracle.similarity(a.times, a.values, b.times, b.values, oracle.scaled(k, 0.7), 0.05**2, 0.1)
        assert S[i, j] == pytest.approx(expected, rel=1e-9, abs=1e-9)


# -- engines ------------------------------------------------------------------------------------------------------


def engine_of(name):
    if name == "numba":
        pytest.importorskip("numba")
        return elimination.compiled_engine
    return {"numpy": elimination.numpy_engine, "precise": elimination.precise_engine}[name]


def get(name):
    """An engine as a function of two sides, whose result is new."""
    run = engine_of(name)

    def gains(left, right):
        out = np.full((len(left.own), len(right.own)), np.nan)
        run(left, right, out)
        return out

    return gains


def stacks(rank, rows, cols, size=1.0, seed=0):
    """Random information matrices and vectors: (A_i, z_i, A_j, z_j), each with the course as first index."""
    rng = np.random.default_rng(seed)

    def draw(n):
        root = rng.standard_normal((n, rank, max(1, rank - 1)))  # singular, as information mostly is
        return size * root @ root.transpose(0, 2, 1) / rank, rng.standard_normal((n, rank))

    return *draw(rows), *draw(cols)


def packed(A_i, z_i, A_j, z_j, own=0.0):
    triangle = np.tril_indices(z_i.shape[1])
    return [
        Side(*(np.ascontiguousarray(part) for part in (A[:, *triangle].T, z.T, np.full(len(z), own))))
        for A, z in ((A_i, z_i), (A_j, z_j))
    ]


def cut(side, which):
    return Side(*(np.ascontiguousarray(part[..., which]) for part in side))


def expected(name, A_i, z_i, A_j, z_j):
    """The two formulas of the module, pair by pair."""
    result = np.empty((len(z_i), len(z_j)))
    for i, j in np.ndindex(result.shape):
        A, m_i, m_j = A_i[i] + A_j[j], z_i[i], z_j[j]
        precision = np.eye(len(A)) + A
        z, rest = m_i + m_j, 0.0
        if name == "precise":  # z are posterior means, and the answer is s itself but for the determinants alone
            d = m_j - m_i
            z, rest = A_j[j] @ d + m_j, m_i @ m_j - m_j @ m_j / 2 - d @ A_j[j] @ d / 2
        result[i, j] = z @ np.linalg.solve(precision, z) / 2 + rest - log_det_plus_identity(A) / 2
    return result


@pytest.mark.parametrize("rank", [1, 2, 4, 5, 8, 9, 17, elimination.STRAIGHT, elimination.STRAIGHT + 1])
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("name", ENGINES)
def test_engines_compute_the_formula(name, size, rank):
    A_i, z_i, A_j, z_j = sides = stacks(rank, 3, 11, size)
    found, wanted = get(name)(*packed(*sides)), expected(name, *sides)
    assert_allclose(found, wanted, rtol=1e-8, atol=1e-13 * max(1, size))
    assert_allclose(get(name)(*packed(*sides, own=2.5)), wanted - 5, rtol=1e-8, atol=1e-13 * max(1, size))
    log_det = -2 * get(name)(*packed(A_i, 0 * z_i, A_j, 0 * z_j))
    assert_allclose(log_det, -2 * expected(name, A_i, 0 * z_i, A_j, 0 * z_j), rtol=1e-10, atol=1e-14 * size)


@pytest.mark.parametrize("name", ENGINES)
def test_a_product_of_many_large_pivots_does_not_overflow(name):
    """17 pivots of 2e30: their product is 1e515."""
    rank = 17
    A = (1e30 * np.eye(rank))[np.tril_indices(rank)][:, None]
    side = Side(A, np.zeros((rank, 1)), np.zeros(1))
    assert -2 * get(name)(side, side)[0, 0] == pytest.approx(rank * np.log(2e30), rel=1e-14)


@pytest.mark.parametrize("name", ENGINES)
def test_a_pair_that_is_small_beside_one_that_is_large_keeps_its_digits(name):
    """One pair must not decide for the others how logarithms are taken."""
    small, large = np.array([1e-20, 0.0, 3e-20]), np.array([1e30, 0.0, 1e30])
    side = Side(np.stack([small, large], axis=1), np.zeros((2, 2)), np.zeros(2))
    log_det = -2 * get(name)(side, side)
    assert log_det[0, 0] == pytest.approx(8e-20, rel=1e-13)
    assert log_det[1, 1] == pytest.approx(2 * np.log(2e30), rel=1e-14)


@pytest.mark.parametrize("name", ["numpy", "numba"])
def test_logarithms_are_right_to_the_last_digits(name):
    pivots = np.concatenate([10.0 ** np.arange(-18, 300, 3), np.linspace(0.1, 3, 200), 2.0 ** np.arange(1, 40) - 1])
    nothing = Side(np.zeros((1, 1)), np.zeros((1, 1)), np.zeros(1))
    found = get(name)(nothing, Side(pivots[None], np.zeros((1, len(pivots))), np.zeros(len(pivots))))[0]
    assert_allclose(-2 * found, np.log1p(pivots), rtol=3e-16)


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("shape", [(1, 1), (1, 5000), (5000, 1), (63, 65), (70, 130)])
def test_every_pair_of_a_block_is_computed_as_if_alone(name, shape):
    left, right = packed(*stacks(3, *shape), own=0.7)
    whole = get(name)(left, right)
    assert whole.shape == shape
    for i, j in [(0, 0), (shape[0] - 1, shape[1] - 1), (shape[0] // 2, shape[1] // 3)]:
        assert whole[i, j] == pytest.approx(get(name)(cut(left, [i]), cut(right, [j]))[0, 0], rel=1e-12)


@pytest.mark.parametrize("name", ENGINES)
def test_engines_leave_their_arguments_alone(name):
    sides = packed(*stacks(4, 3, 5))
    before = [part.copy() for side in sides for part in side]
    get(name)(*sides)
    for part, copy in zip([part for side in sides for part in side], before, strict=True):
        np.testing.assert_array_equal(part, copy)


@pytest.mark.parametrize("name", ENGINES)
def test_engines_take_views_and_write_into_one(name):
    left, right = packed(*stacks(4, 9, 40))
    whole, out = get(name)(left, right), np.full((20, 70), np.nan)
    views = (Side(*(part[..., which] for part in side)) for side, which in ((left, slice(2, 7)), (right, slice(3, 33))))
    engine_of(name)(*views, out[5:10, 20:50])
    assert_allclose(out[5:10, 20:50], whole[2:7, 3:33], rtol=1e-12)
    out[5:10, 20:50] = np.nan
    assert np.isnan(out).all()


@pytest.mark.parametrize("name", ENGINES)
def test_engines_take_no_courses_at_all(name):
    left, right = packed(*stacks(4, 3, 5))
    assert get(name)(cut(left, []), right).shape == (0, 5)
    assert get(name)(left, cut(right, [])).shape == (3, 0)


def test_the_two_engines_agree():
    sides = packed(*stacks(6, 40, 50))
    assert_allclose(get("numpy")(*sides), get("numba")(*sides), rtol=1e-11, atol=1e-13)


def test_straight_code_has_the_same_bits_wherever_a_pair_lies():
    left, right = packed(*stacks(6, 5, 37))
    whole = get("numba")(left, right)
    for first in (1, 3, 8, 20, 34):
        np.testing.assert_array_equal(whole[:, first:], get("numba")(left, cut(right, slice(first, None))))


def test_threads_that_want_the_same_new_code_share_it():
    get("numba")
    sides = packed(*stacks(7, 5, 9))
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: get("numba")(*sides), range(8)))
    for gains in found:
        np.testing.assert_array_equal(gains, found[0])
    assert_allclose(found[0], expected("numba", *stacks(7, 5, 9)), rtol=1e-10)


def test_straight_code_needs_no_compiler_of_python():
    """Its import and its first function take seconds."""
    get("numba")
    program = (
        "import sys, numpy as np\nfrom timelike.pairs import elimination\n"
        "side = elimination.Side(np.ones((3, 4)), np.ones((2, 4)), np.ones(4))\n"
        "elimination.compiled_engine(side, side, np.empty((4, 4)))\n"
        "print('llvmlite' in sys.modules, 'numba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False"]


def test_code_that_has_no_place_on_the_disk_is_compiled_all_the_same(monkeypatch):
    numba = pytest.importorskip("numba")
    from timelike.pairs import elimination_numba

    def nowhere(cache=False, **options):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return numba.njit(**options)

    monkeypatch.setattr(elimination_numba, "njit", nowhere)
    twice = elimination_numba.kept(lambda x: 2 * x)
    monkeypatch.setattr(elimination_numba, "fill", twice)
    assert twice(21) == 42
    assert elimination.kept_in() is None


@pytest.mark.parametrize("name", ["numpy", "numba"])
def test_both_engines_serve_the_information_route(name, matrix_of):
    times, values, _ = oracle.example("own", count=8)
    gp = GP.se(0.4, SIGNAL, NOISE, MEAN)
    way = InformationRoute.of(gp.at(TimeCourses.from_arrays(times, values)).information)
    S = matrix_of(replace(way, engine=engine_of(name)))
    k = oracle.given(oracle.se, 0.4, SIGNAL)
    assert_allclose(S, oracle.similarity_matrix(times, values, k, NOISE**2, MEAN), rtol=1e-9, atol=1e-11)


def test_the_precise_engine_serves_the_information_route_too(matrix_of):
    times, values, _ = oracle.example("own", count=8)
    way = InformationRoute.of(GP.se(0.4, SIGNAL, NOISE, MEAN).at(TimeCourses.from_arrays(times, values)).information)
    fast = matrix_of(way)
    precise = replace(way, precise_above=0.0, engine=lambda *_: pytest.fail("the precise engine was asked for"))
    assert_allclose(matrix_of(precise), fast, rtol=1e-9, atol=1e-11)


def test_the_engine_that_runs_has_a_name():
    assert elimination.engine() is engine_of(elimination.name())


# -- rank above eight, and precise squares -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ROUTES)
def test_rank_above_eight(name, matrix_of):
    rng = np.random.default_rng(6)
    times = [np.sort(rng.random(rng.integers(8, 14))) for _ in range(5)]
    values = [np.sin(20 * x) + 0.2 * rng.standard_normal(len(x)) for x in times]
    courses, gp = TimeCourses.from_arrays(times, values), GP.se(0.05, 1.0, 0.2)
    assert gp.at(courses).information.rank > 16
    expected = oracle.similarity_matrix(times, values, oracle.given(oracle.se, 0.05, 1.0), 0.04)
    assert_allclose(matrix_of(ROUTES[name](courses, gp)), expected, rtol=1e-9)


def test_squares_from_differences_and_from_products_agree(matrix_of):
    courses, gp = on_grid(8), GP.se(0.2, 1, 0.05)
    way = ROUTES["grids"](courses, gp)
    products = matrix_of(way)
    assert_allclose(matrix_of(replace(way, precise_above=0.0)), products, rtol=1e-10)


def test_the_pair_form_is_the_same_seen_from_either_side():
    rng = np.random.default_rng(0)
    roots = rng.standard_normal((2, 4, 4))
    A = roots @ roots.transpose(0, 2, 1)
    m = rng.standard_normal((2, 3, 4))
    log_dets = log_det_plus_identity(A)
    there, back = np.empty((3, 3)), np.empty((3, 3))
    pair_form(A[0], A[1], log_dets)(m[0], m[1], there)
    pair_form(A[1], A[0], log_dets[::-1])(m[1], m[0], back)
    assert_allclose(there, back.T, rtol=1e-11)
