"""compare: what is called is true as often as it says, bands hold, partitions are found; bad input in words."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from designs import DESIGNS, GRID, courses, experiment, model, values
from numpy.testing import assert_allclose

import timelike as tl
from timelike.exceptions import InputError

pytestmark = pytest.mark.filterwarnings("ignore:most courses have no replicates")
GENES = 1500
THREE = np.repeat(GRID, 3)
STATISTICAL = {
    "replicates": [THREE, THREE],
    "no replicates": [np.arange(13.0), np.arange(13.0)],
    "other times": [np.repeat(np.arange(0.0, 13, 2), 2), np.repeat(np.arange(1.0, 13, 2), 2)],
    "other times, no replicates": [np.arange(0.0, 13, 2), np.arange(1.0, 13, 2)],
}


@cache
def found(kind, share, size=2.0, curve=1.5, seed=1):
    different = int(share * GENES)
    given = experiment(STATISTICAL[kind], count=GENES, different=different, size=size, curve=curve, seed=seed)
    return tl.compare(given)


def rates(found, different):
    """True false discovery rate and power of what is called at 5 %."""
    called = found.called(0.05)
    return float(np.mean(called >= different)) if len(called) else 0.0, float(np.sum(called < different)) / different


@pytest.mark.parametrize("curve", [1.0, 2.0])
@pytest.mark.parametrize("kind", sorted(STATISTICAL))
def test_nothing_is_called_where_nothing_differs(kind, curve):
    none = found(kind, 0.0, curve=curve)
    assert len(none.called(0.05)) <= 0.01 * GENES
    assert none.share < 0.15


@pytest.mark.parametrize(
    ("kind", "power"),
    [("replicates", 0.7), ("no replicates", 0.55), ("other times", 0.6), ("other times, no replicates", 0.03)],
)
def test_the_rate_of_false_ones_is_what_it_says(kind, power):
    some = found(kind, 0.1)
    false, true = rates(some, 150)
    assert false < 0.10
    assert true > power


def test_where_conditions_have_other_times_power_is_kept():
    """As many values at half as many times each, none of them shared."""
    shared = [np.repeat(np.arange(0.0, 13), 1)] * 2
    other = [np.repeat(np.arange(0.0, 13, 2), 2)[:13], np.repeat(np.arange(1.0, 13, 2), 2)]
    power = []
    for designs in (shared, other):
        given = experiment(designs, count=GENES, different=150, size=2.0, seed=2)
        power.append(rates(tl.compare(given), 150)[1])
    assert power[1] > 0.85 * power[0]


@pytest.mark.parametrize("kind", ["replicates", "other times"])
def test_bands_of_the_difference_hold_the_truth(kind):
    """At the measured times of the genes that differ."""
    some = found(kind, 0.1)
    _, effects = values(STATISTICAL[kind], count=GENES, different=150, size=2.0, seed=1)
    times = STATISTICAL[kind][-1]
    inside = []
    for i in range(150):
        curve = some.difference(i, times)
        inside.append(np.abs(curve.mean - effects[-1][i]) < 1.96 * curve.sd)
    assert 0.88 < np.mean(inside) < 0.99


def test_bands_are_wide_where_nothing_was_measured():
    some = found("replicates", 0.1)
    curve = some.difference(100, [5.0, 30.0])
    assert curve.sd[1] > curve.sd[0]


def test_which_of_three_conditions_are_alike():
    rng = np.random.default_rng(3)
    y = rng.standard_normal((3, 400, len(THREE))) + 5 * rng.standard_normal((1, 400, 1))
    step = 3.0 * (THREE > 3)
    y[2, :20] += step  # a = b | c
    y[0, 20:40] += step  # a | b = c
    y[1, 40:60] -= step  # a = c | b
    y[1, 60:80] += step  # a | b | c
    y[2, 60:80] -= step
    three = tl.compare({name: courses(THREE, one) for name, one in zip("abc", y, strict=True)})
    table = three.partitions
    truth = np.repeat(["a = b | c", "a | b = c", "a = c | b", "a | b | c", "a = b = c"], [20, 20, 20, 20, 320])
    assert_allclose(table.sum(axis=1), 1)
    likeliest = table.columns[table.to_numpy().argmax(axis=1)]
    assert np.mean(likeliest[:80] == truth[:80]) > 0.9
    assert np.mean(likeliest[80:] == truth[80:]) > 0.97
    assert_allclose(1 - table["a = b = c"], three.probability, atol=1e-9)
    frame = three.to_frame().set_index("name")
    assert frame.loc["gene 0", "partition"] == "a = b | c"
    assert frame.loc["gene 0", "higher_in"] == "c"


def test_kinds_and_largest_differences():
    rng = np.random.default_rng(4)
    y = rng.standard_normal((2, 300, len(THREE)))
    y[1, :20] += 4
    y[1, 20:40] -= 5 * (THREE > 3)
    some = tl.compare({name: courses(THREE, one) for name, one in zip(["wt", "mut"], y, strict=True)})
    frame = some.to_frame().set_index("name")
    level, late = [f"gene {i}" for i in range(20)], [f"gene {i}" for i in range(20, 40)]
    assert (frame.loc[level, "kind"] == "level").mean() > 0.8
    assert (frame.loc[late, "kind"] == "shape").all()
    assert (frame.loc[late, "higher_in"] == "wt").all()
    assert (frame.loc[late, "largest_at"] > 3).all()
    assert_allclose(frame.loc[late, "largest_difference"].mean(), -5, atol=0.7)
    (start, end, sign), *others = some.intervals("gene 20")
    assert not others
    assert sign == -1
    assert end == 10
    assert 1 < start < 5


def test_batches_of_samples_are_no_differences():
    """Every sample is off for all of its genes by as much as 0.6 of the noise."""
    rng = np.random.default_rng(5)
    y = rng.standard_normal((2, GENES, len(THREE)))
    y += 0.6 * rng.standard_normal((2, GENES, len(GRID)))[:, :, np.repeat(np.arange(len(GRID)), 3)]
    some = tl.compare({name: courses(THREE, one) for name, one in zip("ab", y, strict=True)})
    assert len(some.called(0.05)) < 0.01 * GENES


def test_without_replicates_the_noise_is_found_beside_curves():
    """Variances of genes are log-normal about 1: as a scaled inverse chi-square, 0.78 with a freedom of 4."""
    eight = np.array([0.0, 1, 2, 4, 6, 8, 10, 12])
    some = tl.compare(experiment([eight, eight], count=GENES, different=0, curve=2.0, seed=3))
    noise = some.answer.own_noise
    assert 0.65 < noise.scale * some.gp.noise_sd**2 < 1.05
    assert 3 < noise.freedom < 10


# -- bad input --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def small():
    return experiment(DESIGNS["replicates"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: {"a": c["a"]}, "two conditions or more, these are only 'a'"),
        (lambda _: {}, "two conditions or more, these are none"),
        (lambda c: [c["a"], c["b"]], r"conditions are list: expected a mapping .*\{'wt': courses, 'mut': others\}"),
        (lambda c: c["a"], "nothing tells the conditions"),
        (lambda c: {"a": c["a"], "b": [[1, 2]]}, "the courses of condition 'b'"),
        (
            lambda c: {"a": c["a"], "b": courses(np.repeat(GRID, 2), np.ones((2, 12)), ["x", "y"])},
            r"no name stands in two conditions \(a: .*gene 0.*; b: .*x.*y.*\)\. Courses are matched by name",
        ),
        (lambda c: dict.fromkeys("abcdefg", c["a"]), "there are 7 conditions: .*more than 6.* Compare some"),
    ],
)
def test_conditions_that_cannot_be_compared(small, change, message):
    with pytest.raises(InputError, match=message):
        tl.compare(change(small), model())


def test_conditions_of_the_same_name():
    courses = tl.TimeCourses.from_arrays([0.0, 1.0], [[1.0, 2.0]])
    with pytest.raises(tl.InputError, match="two conditions have the same name: 1, '1'"):
        tl.compare({1: courses, "1": courses})


def test_a_rough_part_of_the_model_is_no_noise_of_values():
    times, rng = np.repeat([0.0, 1, 2, 3], [1, 2, 3, 6]), np.random.default_rng(0)
    both = {name: tl.TimeCourses.from_arrays(times, rng.standard_normal((40, 12))) for name in "ab"}
    plain = tl.GP.se(1.0, signal_sd=1.0, noise_sd=1.0)
    found = [tl.compare(both, gp).log_bayes_factor for gp in (plain, replace(plain, rough_sd=0.7))]
    np.testing.assert_allclose(*found)


def test_points_of_two_coordinates():
    plane = tl.TimeCourses.from_arrays([[[0, 0], [1, 1]]], [[1, 2]], ["x"])
    with pytest.raises(InputError, match="questions are about time: these courses have several coordinates"):
        tl.compare({"a": plane, "b": plane})
    with pytest.raises(InputError, match="questions are about time"):
        tl.changing(plane)


def test_a_model_that_is_none(small):
    with pytest.raises(InputError, match="gp"):
        tl.compare(small, "se")


@pytest.mark.parametrize("fdr", [0, 1, -0.1, 5, "0.05", None, np.nan, True])
def test_rates_out_of_range(small, fdr):
    with pytest.raises(InputError, match=r"fdr is .*: expected a number between 0 and 1, as 0.05"):
        tl.compare(small, model()).called(fdr)


def test_questions_about_genes_and_conditions_that_are_not_there(small):
    some = tl.compare(small, model())
    with pytest.raises(InputError, match=r"no answer about 'gene 99'.*gene"):
        some.difference("gene 99", [1.0])
    with pytest.raises(InputError, match="no answer about 30"):
        some.difference(30, [1.0])
    for between in [("a", "z"), ("a", "a"), ("a",), ("a", "b", "a")]:
        with pytest.raises(InputError, match=r"between is .*: expected two of 'a', 'b'"):
            some.difference("gene 1", [1.0], between)
    with pytest.raises(InputError, match="times"):
        some.difference("gene 1", ["soon"])
    with pytest.raises(InputError, match="times"):
        some.difference("gene 1", [np.inf])
    three = tl.compare(experiment(DESIGNS["three"]), model())
    with pytest.raises(InputError, match="say between which two of a, b, c"):
        three.difference("gene 1", [1.0])


def test_names_that_only_one_condition_has(small):
    more = courses(np.repeat(GRID, 2), np.ones((1, 12)), ["lonely"])
    with pytest.warns(tl.DataWarning, match="1 course measured under one condition alone cannot be compared: .*lonely"):
        some = tl.compare({"a": small["a"].joined(more), "b": small["b"]}, model())
    assert some.left_out == ("lonely",)
    assert "lonely" not in some.names


def test_without_replicates_there_is_a_note():
    with pytest.warns(tl.DataWarning, match="no replicates: how much values scatter is judged"):
        tl.compare(experiment(DESIGNS["no replicates"]), model())
