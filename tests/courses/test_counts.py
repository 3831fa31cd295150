"""Counts as values: size factors, dispersions, moments, and values whose errors are right."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.ndimage import map_coordinates
from scipy.stats import nbinom

import timelike as tl
from timelike.courses.counts import (
    DISPERSIONS,
    LOG_DISPERSIONS,
    LOG_MEANS,
    MOST_ERRORS,
    Groups,
    around,
    by_median_of_ratios,
    counted,
    dispersion_profile,
    moments,
)

TIMES = np.tile(np.repeat([0.0, 2, 4, 8, 16], 3), 2)
CONDITIONS = ["wt"] * 15 + ["mut"] * 15


def drawn(genes, seed, *, scatter=0.0, least=0.3, most=1e4):
    """Counts of genes with smooth courses, their true log2 values per size factor, dispersions and size factors."""
    rng = np.random.default_rng(seed)
    level = rng.uniform(np.log(least), np.log(most), (genes, 1))
    size = rng.normal(0, 0.5, (genes, 1)) * (1 + (np.array(CONDITIONS) == "mut"))
    logs = level + size * np.sin(TIMES / 6)
    dispersion = (0.03 + 0.5 / np.sqrt(np.exp(level))) * np.exp(scatter * rng.standard_normal((genes, 1)))
    factors = np.exp(rng.normal(0, 0.4, len(TIMES)))
    factors /= np.exp(np.log(factors).mean())
    means = np.exp(logs) * factors
    counts = rng.negative_binomial(1 / dispersion, 1 / (1 + dispersion * means)).astype(float)
    kept = counts.sum(axis=1) > 0
    return counts[kept], logs[kept] / np.log(2), dispersion[kept, 0], factors


# -- values --------------------------------------------------------------------------------------------------------


def test_values_are_unbiased_and_their_errors_right_whatever_the_mean():
    counts, truth, _, factors = drawn(4000, 1)
    made = counted(counts, Groups.made(TIMES, CONDITIONS), factors)
    z = (made.values - truth) / made.errors
    for bin_ in np.array_split(np.argsort(truth.mean(axis=1)), 6):  # means from 0.3 to 10,000
        assert abs(z[bin_].mean()) < 0.06  # of an error; its own standard error is below 0.01
        assert 0.85 < z[bin_].var() < 1.1


def test_without_given_size_factors_values_are_as_good():
    counts, truth, _, factors = drawn(3000, 2, least=100)
    made = counted(counts, Groups.made(TIMES, CONDITIONS))
    np.testing.assert_allclose(np.log(made.size_factors), np.log(factors), atol=0.05)
    z = (made.values - truth) / made.errors
    assert abs(z.mean()) < 0.03
    assert 0.9 < z.var() < 1.1


@pytest.mark.parametrize("mean", [0.003, 0.03, 0.3, 3, 300, 3e4])
@pytest.mark.parametrize("dispersion", [0.01, 0.2, 2])
def test_around_a_known_mean_values_are_unbiased_and_few_reads_do_not_make_absurd_ones(mean, dispersion):
    rng = np.random.default_rng(3)
    counts = rng.negative_binomial(1 / dispersion, 1 / (1 + dispersion * mean), (1, 60_000)).astype(float)
    values, variances = around(counts, np.full(counts.shape, np.log(mean)), np.array([dispersion]))
    z = (values - np.log(mean)) / np.sqrt(variances)
    assert abs(z.mean()) < 0.08
    assert z.var() < 1.05
    assert mean < 0.1 or z.var() > 0.95  # of rarer reads the errors are too careful
    far = np.abs(z) > MOST_ERRORS + 1e-9
    assert np.abs(values - np.log(counts + 0.5))[far].max(initial=0) < 1.3  # there it is the count's own logarithm


def test_the_error_of_many_counts_is_the_dispersion_and_of_few_one_over_the_mean():
    values, variances = around(np.array([[20_000.0], [0.0]]), np.log([[2e4], [2e-3]]), np.array([0.04, 0.04]))
    np.testing.assert_allclose(variances[:, 0], [0.04, 500], rtol=0.03)
    np.testing.assert_allclose(values[0], np.log(20_000), atol=0.03)


@pytest.mark.parametrize("counts", [[0.0, 3.0, 900.0], [0.0, 1e6, 0.0]])
def test_the_largest_dispersion_is_in_the_table(counts):
    """By its last bit it was beyond: every value's error was then 1, whatever the counts, and values went astray."""
    eta = np.log([[2.0, 3.0, 700.0]])
    values, variances = around(np.array([counts]), eta, np.array([np.nextafter(DISPERSIONS[-1], np.inf)]))
    near, about = around(np.array([counts]), eta, np.array([0.999 * DISPERSIONS[-1]]))
    np.testing.assert_allclose(variances, about, rtol=0.01)
    np.testing.assert_allclose(values, near, atol=0.05)


def test_moments_agree_with_the_sum_over_all_counts():
    rng = np.random.default_rng(4)
    for _ in range(40):
        mean, dispersion = np.exp(rng.uniform(np.log(2e-3), np.log(2e4))), np.exp(rng.uniform(np.log(2e-3), np.log(9)))
        (low, _), (at, variance), (high, _) = (_summed(mean * np.exp(h), dispersion) for h in (-1e-3, 0, 1e-3))
        slope = (high - low) / 2e-3
        bias, found_slope, log_variance = _in_the_table(mean, dispersion)
        assert bias == pytest.approx(at - np.log(mean), abs=0.02 * np.sqrt(variance))
        assert found_slope == pytest.approx(slope, rel=0.01)
        assert log_variance == pytest.approx(np.log(variance / slope**2), abs=0.03)


def _summed(mean, dispersion):
    """Mean and variance of log(count + offset), by summing over counts."""
    chance = nbinom(1 / dispersion, 1 / (1 + dispersion * mean))
    counts = np.arange(int(chance.ppf(1 - 1e-12)) + 50)
    weights, logs = chance.pmf(counts), np.log(counts + np.clip(1 / (2 * dispersion), 0.5, 50))
    return weights @ logs, weights @ logs**2 - (weights @ logs) ** 2


def _in_the_table(mean, dispersion):
    place = [
        [(np.log(number) - grid[0]) / (grid[1] - grid[0])]
        for number, grid in ((mean, LOG_MEANS), (dispersion, LOG_DISPERSIONS))
    ]
    return [map_coordinates(table, place, order=1)[0] for table in moments()]


def test_the_most_variable_genes_are_not_those_with_few_reads():
    rng = np.random.default_rng(13)
    steady = rng.poisson(0.4, (300, 30))
    changing = rng.poisson(200 * np.exp(np.sin(TIMES / 5 + rng.uniform(0, 3, (10, 1)))))
    counts = np.vstack([steady[steady.sum(axis=1) > 0], changing])
    names = [f"steady {i}" for i in range(len(counts) - 10)] + [f"changing {i}" for i in range(10)]
    courses = tl.TimeCourses.from_counts(TIMES, counts, names, size_factors=np.ones(30))
    assert courses.standard_deviations[-10:].max() < np.median(courses.standard_deviations)
    assert courses.most_variable(10).names == tuple(names[-10:])


# -- size factors ----------------------------------------------------------------------------------------------------


def size_factors_of_deseq2(counts):
    """Anders and Huber (2010), equation 5, gene by gene; then with a geometric mean of 1."""
    everywhere = [gene for gene in counts if all(count > 0 for count in gene)]
    factors = []
    for sample in range(counts.shape[1]):
        ratios = [gene[sample] / np.prod(gene ** (1 / len(gene))) for gene in everywhere]
        factors.append(np.exp(np.median(np.log(ratios))))
    return np.array(factors) / np.prod(factors) ** (1 / len(factors))


def test_size_factors_are_those_of_deseq2():
    counts, *_ = drawn(300, 5, least=1)
    np.testing.assert_allclose(by_median_of_ratios(counts), size_factors_of_deseq2(counts), rtol=1e-12)


def test_a_sample_sequenced_three_times_as_deep_has_three_times_the_factor_and_the_same_values():
    counts, *_ = drawn(400, 6, least=100)
    deeper = counts.copy()
    deeper[:, 4] *= 3
    groups = Groups.made(TIMES, CONDITIONS)
    before, after = counted(counts, groups), counted(deeper, groups)
    ratio = after.size_factors / before.size_factors
    np.testing.assert_allclose(ratio[4] / np.delete(ratio, 4), 3, rtol=1e-12)
    level = np.log2(3) / 30  # the geometric mean of the factors stays 1
    assert np.quantile(np.abs(after.values - before.values - level)[:, 4], 0.95) < 0.03
    assert np.quantile(np.abs(after.values - before.values - level), 0.95) < 0.03


def test_where_no_gene_is_counted_everywhere_it_is_said():
    counts = np.full((6, 6), 20.0) - 20 * np.eye(6)
    with pytest.warns(tl.DataWarning, match="no gene was counted in every sample: size factors are from the 6 genes"):
        tl.TimeCourses.from_counts(np.arange(6), counts)


def test_samples_that_share_no_gene_are_refused():
    with (
        pytest.warns(tl.DataWarning, match="no gene was counted in every sample"),
        pytest.raises(tl.InputError, match="size factors cannot be found: samples share no genes"),
    ):
        tl.TimeCourses.from_counts([0, 1, 2], [[5, 5, 0], [0, 0, 1]])


# -- dispersions -----------------------------------------------------------------------------------------------------


def test_the_trend_and_shrunk_dispersions_are_near_the_truth():
    counts, _, dispersion, factors = drawn(3000, 7, scatter=0.5, least=20)
    groups = Groups.made(TIMES, CONDITIONS)
    made = counted(counts, groups, factors)
    off = np.log(made.dispersions / dispersion)
    means = np.exp(np.log(made.means)[:, None] + np.zeros(len(TIMES)))
    raw = DISPERSIONS[dispersion_profile(counts, means * factors, groups).argmax(axis=1)]
    assert np.sqrt(np.mean(off**2)) < 0.36
    assert np.sqrt(np.mean(off**2)) < 0.8 * np.sqrt(np.mean(np.log(raw / dispersion) ** 2))
    assert np.sqrt(np.mean(off**2)) < 0.8 * np.sqrt(np.mean(np.log(made.trend / dispersion) ** 2))
    assert abs(np.median(off)) < 0.1
    expected = 0.03 + 0.5 / np.sqrt(made.means)
    assert np.quantile(np.abs(np.log(made.trend / expected)), 0.95) < 0.4


def test_the_errors_hold_the_trend_and_not_the_genes_own_dispersion():
    counts, *_ = drawn(2000, 8, scatter=1.0, least=500, most=600)
    made = counted(counts, Groups.made(TIMES, CONDITIONS))
    assert np.std(np.log(made.dispersions)) > 0.5
    assert np.std(np.log(made.errors.mean(axis=1))) < 0.1


# -- laws ------------------------------------------------------------------------------------------------------------


@given(st.permutations(range(60)), st.permutations(range(30)))
def test_the_order_of_genes_and_samples_does_not_matter(genes, samples):
    counts, *_ = drawn(80, 9, least=1, most=300)
    counts = counts[:60]
    before = counted(counts, Groups.made(TIMES, CONDITIONS))
    other = Groups.made(TIMES[samples], [CONDITIONS[k] for k in samples])
    after = counted(counts[np.ix_(genes, samples)], other)
    for name, of in (("values", np.ix_(genes, samples)), ("errors", np.ix_(genes, samples)), ("size_factors", samples)):
        np.testing.assert_allclose(getattr(after, name), getattr(before, name)[of], rtol=1e-6, atol=1e-6)
    for name in ("means", "trend", "dispersions"):
        np.testing.assert_allclose(getattr(after, name), getattr(before, name)[genes], rtol=1e-6)


def test_the_table_of_genes_has_what_was_found():
    counts, *_ = drawn(30, 10)
    made = counted(counts, Groups.made(TIMES, CONDITIONS))
    names = [f"g{i}" for i in range(len(counts))]
    table = made.to_frame(names)
    assert list(table.columns) == ["name", "mean", "trend", "dispersion"]
    assert list(table["name"]) == names
    np.testing.assert_allclose(table["mean"], (counts / made.size_factors).mean(axis=1))


# -- courses ---------------------------------------------------------------------------------------------------------


def test_courses_have_a_value_and_an_error_for_each_count():
    counts, *_ = drawn(50, 11)
    names = [f"g{i}" for i in range(len(counts))]
    made = counted(counts, Groups.made(TIMES, CONDITIONS))
    courses = tl.TimeCourses.from_counts(TIMES, pd.DataFrame(counts, index=names), conditions=CONDITIONS)
    assert courses.names[:3] == ("g0 | wt", "g0 | mut", "g1 | wt")
    np.testing.assert_array_equal(courses["g3 | mut"].values, made.values[3, 15:])
    np.testing.assert_array_equal(courses["g3 | wt"].errors, made.errors[3, :15])
    alone = tl.TimeCourses.from_counts(TIMES[:15], counts[:, :15], names)
    assert alone.names == tuple(names)


def test_size_factors_may_be_given_in_any_unit():
    counts, *_, factors = drawn(50, 12)
    one, other = (tl.TimeCourses.from_counts(TIMES, counts, size_factors=c * factors) for c in (1, 1e6))
    np.testing.assert_allclose(one.values, other.values)


def test_genes_without_a_count_are_left_out_and_named():
    counts = [[0, 0, 0], [3, 0, 7], [50, 60, 70], [0, 0, 0]]
    with pytest.warns(tl.DataWarning, match=r"left out 2 genes without any count: a, d\."):
        courses = tl.TimeCourses.from_counts([0, 1, 2], counts, list("abcd"))
    assert courses.names == ("b", "c")
    assert np.isfinite(courses.values).all()
    assert courses["b"].errors[1] > courses["b"].errors[2]  # a zero is a value, and says little


def test_one_sample_a_time_and_one_gene_are_enough():
    assert len(tl.TimeCourses.from_counts([0, 1, 2, 3], [[10, 20, 40, 35]])) == 1


@pytest.mark.parametrize(
    ("counts", "options", "message"),
    [
        (
            [[1, -2], [3, 4]],
            {},
            "the count of 'a' in sample 2 is -2: expected whole numbers, zero or more. Are these lo",
        ),
        ([[1, 2], [3.25, 4.5]], {}, "the count of 'b' in sample 1 is 3.25 (and 1 more): expected whole numbers"),
        (
            [[1, 2], [3, np.nan]],
            {},
            "the count of 'b' in sample 2 is missing: expected whole numbers, zero or more. A c",
        ),
        ([[1, np.inf], [3, 4]], {}, "the count of 'a' in sample 2 is inf"),
        ([[1234567.5, 1], [3, 4]], {}, "is 1234567.5: expected"),
        ([[0, 1], [0, 4]], {}, "sample 1 has no counts at all: a library of size zero says nothing. Leave it out."),
        ([[], []], {}, "counts have shape (2, 0): expected a row for each gene, a column for each sample"),
        ([[1, "x"], [3, 4]], {}, "counts of course 'a' (column 1) are not numbers: 'x'"),
        ([[1, 2], [3]], {}, "counts have rows of different lengths"),
        ([[1, 2, 3], [4, 5, 6]], {}, "there are 2 times for 3 samples: give one for each column"),
        ([[1, 2], [3, 4]], {"conditions": ["wt"]}, "conditions are for 1 samples, counts for 2"),
        (
            [[1, 2], [3, 4]],
            {"size_factors": [1, 0]},
            "size_factors: expected 2 numbers above zero, one for each sample",
        ),
        ([[1, 2], [3, 4]], {"size_factors": [1]}, "size_factors: expected 2 numbers above zero"),
        ([[1, 2], [3, 4]], {"names": ["a", "a"]}, "the name 'a' stands for two courses"),
    ],
)
def test_bad_counts_are_refused_in_words(counts, options, message):
    with pytest.raises(tl.InputError) as caught:
        tl.TimeCourses.from_counts([0, 1], counts, **{"names": ["a", "b"]} | options)
    assert message in str(caught.value)
