"""Laws that hold for any courses and any hyperparameters."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import oracle
import timelike as tl
from timelike import GP, TimeCourses
from timelike.gp.information import evidence

TIMES = st.integers(-8, 24).map(lambda k: k / 4)  # quarters: sums and differences are exact, repeats are common
VALUES = st.integers(-4096, 4096).map(lambda k: k / 1024)
SIZES = st.lists(st.integers(1, 6), min_size=2, max_size=6)


@st.composite
def courses(draw, shared=None):
    """Times and values of 2 to 6 courses of 1 to 6 values: on one grid or each on its own times."""
    if draw(st.booleans()) if shared is None else shared:
        grid = draw(st.lists(TIMES, min_size=1, max_size=6))
        times = [np.array(sorted(grid))] * draw(st.integers(2, 6))
    else:
        times = [np.array(sorted(draw(st.lists(TIMES, min_size=n, max_size=n)))) for n in draw(SIZES)]
    values = [np.array(draw(st.lists(VALUES, min_size=len(x), max_size=len(x)))) for x in times]
    return times, values


@st.composite
def models(draw):
    """Hyperparameters with noise from 1/20 of the signal to 20 times it."""
    signal = draw(st.floats(0.1, 10))
    return {
        "length_scale": draw(st.floats(0.1, 10)),
        "signal_sd": signal,
        "noise_sd": signal * draw(st.floats(0.05, 20)),
        "mean": draw(st.integers(-8, 8)) / 4,
    }


def similarity(times, values, model):
    return tl.similarity(TimeCourses.from_arrays(times, values), GP.se(**model)).values


def assert_same(actual, expected):
    assert_allclose(actual, expected, rtol=1e-8, atol=1e-9 * max(1, np.abs(expected).max()))


# -- what must not matter ----------------------------------------------------------------------


@given(courses(), models())
def test_the_oracle_agrees(data, model):
    times, values = data
    expected = oracle.similarity_matrix(
        times,
        values,
        oracle.given(oracle.se, model["length_scale"], model["signal_sd"]),
        model["noise_sd"] ** 2,
        model["mean"],
    )
    assert_same(similarity(times, values, model), expected)


@given(courses(), models())
def test_symmetry_to_the_bit(data, model):
    S = similarity(*data, model)
    assert_array_equal(S, S.T)
    assert np.isfinite(S).all()


@given(courses(), models(), st.randoms(use_true_random=False))
def test_the_order_of_courses(data, model, random):
    times, values = data
    order = random.sample(range(len(times)), len(times))
    S = similarity(times, values, model)
    assert_same(similarity([times[i] for i in order], [values[i] for i in order], model), S[np.ix_(order, order)])


@given(courses(), models(), st.randoms(use_true_random=False))
def test_the_order_of_points_within_a_course(data, model, random):
    times, values = data
    orders = [random.sample(range(len(x)), len(x)) for x in times]
    shuffled = [x[o] for x, o in zip(times, orders, strict=True)], [y[o] for y, o in zip(values, orders, strict=True)]
    assert_same(similarity(*shuffled, model), similarity(times, values, model))


@given(courses(), models(), st.floats(1e-3, 1e6), st.floats(1e-6, 1e3))
def test_units_of_time_and_value(data, model, second, volt):
    times, values = data
    scaled = {
        "length_scale": model["length_scale"] * second,
        "signal_sd": model["signal_sd"] * volt,
        "noise_sd": model["noise_sd"] * volt,
        "mean": model["mean"] * volt,
    }
    there = similarity([second * x for x in times], [volt * y for y in values], scaled)
    assert_same(there, similarity(times, values, model))


@given(courses(), models(), st.integers(-1000, 1000))
def test_a_shift_in_time_and_time_reversed(data, model, shift):
    times, values = data
    S = similarity(times, values, model)
    assert_same(similarity([x + shift for x in times], values, model), S)
    assert_same(similarity([-x for x in times], values, model), S)


@given(courses(), models(), st.integers(-100, 100))
def test_a_shift_in_value_and_signs(data, model, shift):
    times, values = data
    S = similarity(times, values, model)
    assert_same(similarity(times, [y + shift for y in values], model | {"mean": model["mean"] + shift}), S)
    assert_same(similarity(times, [-y for y in values], model | {"mean": -model["mean"]}), S)


@given(courses(shared=False), models())
def test_courses_that_are_not_asked_for(data, model):
    times, values = data
    assert_same(similarity(times[:2], values[:2], model), similarity(times, values, model)[:2, :2])


# -- limits --------------------------------------------------------------------------------


@given(courses(), models())
def test_much_noise_leaves_no_evidence(data, model):
    """To leading order s = (y_i K_ij y_j + 1/2 |K_ij|^2) / noise^4: what two noisy courses can still say."""
    times, values = data
    k = oracle.given(oracle.se, model["length_scale"], model["signal_sd"])
    residuals = [y - model["mean"] for y in values]
    both = list(zip(times, residuals, strict=True))
    leading = np.array([[y @ k(x, z) @ w + (k(x, z) ** 2).sum() / 2 for z, w in both] for x, y in both])
    noise = 100 * model["signal_sd"]
    S = similarity(times, values, model | {"noise_sd": noise})
    assert_allclose(S * noise**4, leading, rtol=1e-2, atol=1e-2 * np.abs(leading).max())


@given(courses(), models())
def test_far_apart_in_time_says_nothing(data, model):
    """Two courses a thousand length scales apart share no curve in effect: s = 0."""
    times, values = data
    gap = np.ptp(np.concatenate(times)) + 1000 * model["length_scale"]
    moved = [x + i * gap for i, x in enumerate(times)]
    S = similarity(moved, values, model)
    off = ~np.eye(len(times), dtype=bool)
    assert_allclose(S[off], 0, atol=1e-9)


# -- information adds ---------------------------------------------------------------------------


def merged(times, values, parts):
    return tuple([np.concatenate([rows[i] for i in part]) for part in parts] for rows in (times, values))


@given(courses(), models())
def test_the_order_of_merging(data, model):
    """s(i, j) + s(ij, k) = s(j, k) + s(i, jk): the evidence that three share a curve, in either order."""
    times, values = data
    i, j, k = 0, 1, len(times) - 1
    first = similarity(*merged(times, values, [[i], [j]]), model)[0, 1]
    first += similarity(*merged(times, values, [[i, j], [k]]), model)[0, 1]
    second = similarity(*merged(times, values, [[j], [k]]), model)[0, 1]
    second += similarity(*merged(times, values, [[i], [j, k]]), model)[0, 1]
    assert_same(first, second)


@given(courses(), models())
def test_sets_of_courses_against_the_oracle(data, model):
    """E(P + Q) - E(P) - E(Q) is the similarity of the two sets as if each were one course."""
    times, values = data
    cut = len(times) // 2
    gp = GP.se(**model)
    found = gp.at(TimeCourses.from_arrays(times, values)).information
    A, b = found.A[found.design_of], found.b
    P, Q = (A[:cut].sum(0), b[:cut].sum(0)), (A[cut:].sum(0), b[cut:].sum(0))
    sets = merged(times, values, [range(cut), range(cut, len(times))])
    expected = oracle.similarity(
        sets[0][0],
        sets[1][0],
        sets[0][1],
        sets[1][1],
        oracle.given(oracle.se, model["length_scale"], model["signal_sd"]),
        model["noise_sd"] ** 2,
        model["mean"],
    )
    assert_same(evidence(P[0] + Q[0], P[1] + Q[1]) - evidence(*P) - evidence(*Q), expected)


@given(courses(), models())
def test_two_replicates_are_one_value_with_half_the_variance(data, model):
    times, values = data
    spread = model["noise_sd"] * np.linspace(-1, 1, 6)
    twice = [np.repeat(x, 2) for x in times]
    pairs = [np.stack([y - spread[: len(y)], y + spread[: len(y)]], axis=1).ravel() for y in values]
    errors = [np.full(len(x), model["noise_sd"] / np.sqrt(2)) for x in times]
    averaged = TimeCourses.from_arrays(times, values, errors=errors)
    assert_same(similarity(twice, pairs, model), tl.similarity(averaged, GP.se(**(model | {"noise_sd": 0.0}))).values)


@given(courses(), models())
def test_the_likelihood_of_a_pair_is_its_parts_and_its_similarity(data, model):
    """log p(both | one curve) = log p(i) + log p(j) + s(i, j), by score alone."""
    times, values = data
    gp = GP.se(**model)
    alone = gp.score(TimeCourses.from_arrays(times[:2], values[:2]))
    together = gp.score(TimeCourses.from_arrays(*merged(times, values, [[0, 1]])))
    assert_same(together - alone, similarity(times, values, model)[0, 1])


@given(courses(), models())
def test_a_course_is_alike_to_a_course_on_its_own_curve(data, model):
    """E[s(i, Y)] over Y drawn from the posterior given i is a Kullback-Leibler divergence, so it is not negative."""
    times, values = data
    x, y, at = times[0], values[0], np.unique(times[1])
    k = oracle.given(oracle.se, model["length_scale"], model["signal_sd"])
    v = model["noise_sd"] ** 2
    C = k(x, x) + v * np.eye(len(x))
    centre = model["mean"] + k(at, x) @ np.linalg.solve(C, y - model["mean"])
    spread = k(at, at) + v * np.eye(len(at)) - k(at, x) @ np.linalg.solve(C, k(x, at))
    prior = k(at, at) + v * np.eye(len(at))
    s = similarity([x, at], [y, centre], model)[0, 1]
    # E s = s(at the centre) + 1/2 tr((prior^-1 - spread^-1) spread)
    expectation = s + 0.5 * (np.trace(np.linalg.solve(prior, spread)) - len(at))
    assert expectation >= -1e-9 * max(1, abs(s))
