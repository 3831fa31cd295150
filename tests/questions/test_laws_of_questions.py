"""Laws of compare and changing: what must not matter, and where it ends."""

from dataclasses import replace
from functools import reduce

import numpy as np
import pytest
from designs import DESIGNS, GRID, courses, experiment, model, values
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import timelike as tl
from timelike.questions.asked import answered

pytestmark = pytest.mark.filterwarnings("ignore::timelike.exceptions.DataWarning")
few = settings(max_examples=6)
KINDS = st.sampled_from(sorted(DESIGNS))
SEEDS = st.integers(0, 10_000)


def assert_same(one, other, order=slice(None), tolerance=1e-8):
    """The same answers, up to an order of genes."""
    assert_allclose(one.log_bayes_factor[order], other.log_bayes_factor, rtol=tolerance, atol=tolerance)
    assert_allclose(one.probability[order], other.probability, rtol=tolerance, atol=tolerance)
    assert_allclose(one.fdr[order], other.fdr, rtol=tolerance, atol=tolerance)


def asked(kind, given, gp):
    return tl.changing(given["a"], gp) if kind == "changing" else tl.compare(given, gp)


QUESTIONS = pytest.mark.parametrize("question", ["compare", "changing"])


# -- what must not matter ---------------------------------------------------------------------------------------------


@QUESTIONS
@few
@given(KINDS, SEEDS, st.randoms(use_true_random=False))
def test_the_order_of_courses(question, kind, seed, random):
    given_ = experiment(DESIGNS[kind], seed=seed)
    order = random.sample(range(30), 30)
    moved = {name: one.select(order) for name, one in given_.items()}
    moved["b"] = given_["b"]  # the others by name
    before, after = asked(question, given_, model()), asked(question, moved, model())
    assert after.names == tuple(before.names[i] for i in order)
    assert_same(before, after, order)


@QUESTIONS
@few
@given(KINDS, SEEDS)
def test_the_order_of_samples(question, kind, seed):
    rng = np.random.default_rng(seed)
    made, _ = values(DESIGNS[kind], seed=seed)
    plain, mixed = {}, {}
    for name, t, y in zip("abc", DESIGNS[kind], made, strict=False):
        order = rng.permutation(len(t))
        plain[name], mixed[name] = courses(t, y), courses(t[order], y[:, order])
    assert_same(asked(question, plain, model()), asked(question, mixed, model()))


@few
@given(KINDS, SEEDS)
def test_names_of_conditions(kind, seed):
    before = experiment(DESIGNS[kind], seed=seed)
    after = {f"z {9 - i}": one for i, one in enumerate(before.values())}
    one, other = tl.compare(before, model()), tl.compare(after, model())
    assert_same(one, other)
    assert_array_equal(one.partitions.to_numpy(), other.partitions.to_numpy())
    named = [replace(c, names=tuple(f"{gene} | {name}" for gene in c.names)) for name, c in before.items()]
    together = reduce(tl.TimeCourses.joined, named)
    assert_same(one, tl.compare(together, model()))


@few
@given(st.sampled_from(sorted(set(DESIGNS) - {"three"})), SEEDS)
def test_swapped_conditions_flip_the_difference(kind, seed):
    given_ = experiment(DESIGNS[kind], seed=seed)
    one, other = tl.compare(given_, model()), tl.compare(dict(reversed(given_.items())), model())
    assert_same(one, other)
    at = np.linspace(-1, 12, 9)
    here, there = one.difference(0, at), other.difference(0, at)
    assert_allclose(here.mean, -there.mean, rtol=1e-6, atol=1e-8)
    assert_allclose(here.sd, there.sd, rtol=1e-6)
    assert_allclose(one.difference(0, at, ("b", "a")).mean, there.mean, rtol=1e-6, atol=1e-8)
    assert_allclose(one.largest.difference, -other.largest.difference, rtol=1e-6, atol=1e-8)


@few
@given(SEEDS)
def test_the_order_of_three_conditions(seed):
    given_ = experiment(DESIGNS["three"], seed=seed)
    one = tl.compare(given_, model()).partitions
    other = tl.compare({name: given_[name] for name in "cab"}, model()).partitions
    renamed = [
        "c = a = b",
        "c | a = b",
        "c = a | b",
        "c = b | a",
        "c | a | b",
    ]  # of a = b = c, a = b | c, a = c | b, ...
    assert_allclose(one.to_numpy(), other[renamed].to_numpy(), atol=1e-6)


@QUESTIONS
@few
@given(KINDS, SEEDS, st.sampled_from([1e-3, 1e3]), st.sampled_from([24.0, 1 / 60]))
def test_units_of_values_and_times(question, kind, seed, unit, second):
    made, _ = values(DESIGNS[kind], seed=seed)
    named = list(zip("abc", DESIGNS[kind], made, strict=False))
    before = asked(question, {name: courses(t, y) for name, t, y in named}, model())
    scaled = {name: courses(second * t, unit * y) for name, t, y in named}
    after = asked(question, scaled, model(unit, second))
    assert_same(before, after, tolerance=1e-6)


@QUESTIONS
@few
@given(KINDS, SEEDS, st.integers(-100, 100))
def test_a_shift_in_time_time_reversed_and_signs(question, kind, seed, shift):
    made, _ = values(DESIGNS[kind], seed=seed)
    named = list(zip("abc", DESIGNS[kind], made, strict=False))
    before = asked(question, {name: courses(t, y) for name, t, y in named}, model())
    for change, sign in ((lambda t: t + shift, 1), (lambda t: -t, 1), (lambda t: t, -1)):
        after = asked(question, {name: courses(change(t), sign * y) for name, t, y in named}, model())
        assert_same(before, after, tolerance=1e-6)


@QUESTIONS
@few
@given(KINDS, SEEDS)
def test_the_level_of_a_gene(question, kind, seed):
    level = 100 * np.random.default_rng(seed).standard_normal((30, 1))
    made, _ = values(DESIGNS[kind], seed=seed)
    named = list(zip("abc", DESIGNS[kind], made, strict=False))
    before = asked(question, {name: courses(t, y) for name, t, y in named}, model())
    after = asked(question, {name: courses(t, y + level) for name, t, y in named}, model())
    assert_same(before, after, tolerance=1e-6)


@pytest.mark.parametrize("kind", ["replicates", "other times"])
def test_units_where_the_model_is_fitted(kind):
    made, _ = values(DESIGNS[kind], count=60, different=20, seed=3)
    named = list(zip("abc", DESIGNS[kind], made, strict=False))
    before = tl.compare({name: courses(t, y) for name, t, y in named})
    after = tl.compare({name: courses(60 * t, 1000 * y) for name, t, y in named})
    assert_allclose(after.log_bayes_factor, before.log_bayes_factor, atol=0.05)
    assert_allclose(after.probability, before.probability, atol=0.01)


@few
@given(SEEDS)
def test_any_curve_that_conditions_share(seed):
    """Where conditions have the same times, nothing is assumed about what they share."""
    wild = 5 * np.random.default_rng(seed).standard_normal((30, len(GRID)))
    made, _ = values(DESIGNS["replicates"], seed=seed)
    t = np.repeat(GRID, 2)
    for y in made:
        y[-1] += 10 * t  # the largest values of all: they decide which sizes are sought
    wild[-1] = 0
    before = tl.compare({name: courses(t, y) for name, y in zip("ab", made, strict=True)}, model()).question
    after = tl.compare(
        {n: courses(t, y + wild.repeat(2, 1)) for n, y in zip("ab", made, strict=True)}, model()
    ).question
    here = type(after)(after.measured, after.contrasts, before.shapes, after.nuisances, after.saturated)
    assert_allclose(answered(here).evidence, answered(before).evidence, rtol=1e-5, atol=1e-5)


# -- limits -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["no replicates", "other times", "replicates"])
def test_values_that_say_nothing(kind):
    """Known errors without bounds: the odds stay what they are among all genes, so that the Bayes factor is 1."""
    made, _ = values(DESIGNS[kind], seed=5)
    errors = [np.full(y.shape, 0.8) for y in made]
    for error in errors:
        error[0] = 1e9
    gp = tl.GP.se(length_scale=3.0, signal_sd=1.5, noise_sd=0.0)
    named = [f"gene {i}" for i in range(30)]
    given_ = {
        name: tl.TimeCourses.from_arrays(t, y, named, errors=e)
        for name, t, y, e in zip("ab", DESIGNS[kind], made, errors, strict=True)
    }
    found = tl.compare(given_, gp)
    counted = found.question.counted
    assert_allclose(found.answer.evidence[0][:, counted], 0, atol=1e-6)
    prior = found.answer.shares.kinds[1] * found.answer.shares.effects[counted].sum()
    if kind == "no replicates":  # batches have the size of the noise, however large that is, and values can tell them
        assert_allclose(found.log_bayes_factor[0], 0, atol=1e-6)
        assert_allclose(found.probability[0], prior, rtol=1e-5)
    assert_allclose(found.log_bayes_factor[0], 0, atol=0.7)


def test_an_effect_without_bounds_is_sure():
    made, _ = values(DESIGNS["replicates"], different=0, seed=6)
    made[1][0] += 1e4
    found = tl.compare({name: courses(np.repeat(GRID, 2), y) for name, y in zip("ab", made, strict=True)}, model())
    assert found.probability[0] > 1 - 1e-9
    assert found.log_bayes_factor[0] > 50
    assert_allclose(found.difference(0, GRID).mean, 1e4, rtol=1e-2)


@pytest.mark.parametrize("far", [30, 100, 1000])
def test_one_gene_far_off_among_many(far):
    """Larger than any other gene shows: a difference still, not wild noise."""
    made, _ = values(DESIGNS["replicates"], count=400, different=0, seed=6)
    made[1][0] += far
    found = tl.compare({name: courses(np.repeat(GRID, 2), y) for name, y in zip("ab", made, strict=True)}, model())
    assert list(found.called(0.01)) == [0]


# -- designs that are not whole ---------------------------------------------------------------------------------------


def test_a_condition_that_a_gene_has_not():
    given_ = experiment(DESIGNS["three"], seed=7, size=8.0)
    given_["c"] = given_["c"].select(range(3, 30))
    found = tl.compare(given_, model())
    assert found.left_out == ()
    table = found.partitions
    assert_allclose(table.sum(axis=1), 1)
    assert np.isfinite(found.log_bayes_factor).all()
    # of c nothing is known: it differs as often as among the others
    kinds = found.answer.shares.kinds
    assert_allclose(table["a = b | c"].iloc[0] / table["a = b = c"].iloc[0], kinds[1] / kinds[0], rtol=0.3)
    assert (found.probability[:3] < 0.5).all()
    assert (found.probability[3:6] > 0.7).all()


def test_a_condition_that_no_contrast_is_about_does_not_matter_to_the_evidence():
    """a against b, with c missing: the evidence of a | b = c is that of two conditions, and that of a = c | b too."""
    given_ = experiment(DESIGNS["three"], seed=8)
    given_["c"] = given_["c"].select(range(1, 30))
    three = tl.compare(given_, model())
    two = tl.compare({name: given_[name] for name in "ab"}, model())
    noise = two.answer.own_noise
    sizes = [shape.sizes for shape in three.question.shapes]
    question = two.question
    shapes = tuple(s._replace(sizes=z) for s, z in zip(question.shapes, sizes, strict=True))
    same = type(question)(question.measured, question.contrasts, shapes, question.nuisances, question.saturated)
    both = answered(three.question, own_noise=noise).evidence[0], answered(same, own_noise=noise).evidence[0, 0]
    names = [contrast.name for contrast in three.question.contrasts]
    assert_allclose(both[0][names.index("a | b = c")], both[1], rtol=1e-5, atol=1e-5)
    assert_allclose(both[0][names.index("a = c | b")], both[1], rtol=1e-5, atol=1e-5)
    assert three.answer.possible[0].tolist() == [name != "a = b | c" for name in names]


def test_a_gene_of_one_time():
    made, _ = values(DESIGNS["replicates"], seed=9)
    for y in made:
        y[0, 2:] = np.nan
        y[1, 1:] = np.nan
    made[1][0, :2] = made[0][0, :2] + 50
    t = np.repeat(GRID, 2)
    found = tl.compare({name: courses(t, y) for name, y in zip("ab", made, strict=True)}, model())
    assert np.isfinite(found.log_bayes_factor).all()
    assert found.probability[0] > 0.95
    alone = tl.changing(courses(t, made[0]), model())
    assert_allclose(alone.log_bayes_factor[1], 0, atol=1e-6)  # one value
    assert np.isfinite(alone.log_bayes_factor).all()


def test_one_time_for_all():
    made, _ = values([np.zeros(3), np.zeros(3)], count=60, different=6, size=12.0, seed=10)
    found = tl.compare({name: courses(np.zeros(3), y) for name, y in zip("ab", made, strict=True)})
    assert [shape.name for shape in found.question.shapes] == ["level"]
    assert set(found.called(0.05)) <= set(range(6))
    assert_allclose(found.difference(0, [0.0]).mean, made[1][0].mean() - made[0][0].mean(), rtol=0.1)


def test_times_of_each_course_alone():
    rng = np.random.default_rng(11)
    made = {}
    for name in "ab":
        t = [np.sort(rng.uniform(0, 10, 8)) for _ in range(40)]
        y = [
            np.sin(x / 2) * (i % 3) + rng.standard_normal(8) + (9 * (i < 5) if name == "b" else 0)
            for i, x in enumerate(t)
        ]
        made[name] = courses(t, y)
    found = tl.compare(made, model())
    assert not found.question.measured.coordinates.exact
    assert set(found.called(0.05)) == set(range(5))
    assert_allclose(found.difference(0, [5.0]).mean, 9, atol=2.5)
