"""The noise of genes: learned from all of them, and summed out."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import questions_oracle as dense
from timelike.base.own_noise import SURE, OwnNoise


def drawn(scale, own, freedom, count, seed=0):
    """Sums of squares of genes whose scales are scaled inverse chi-square: scaled F."""
    rng = np.random.default_rng(seed)
    freedom = np.broadcast_to(np.asarray(freedom, float), count)
    return own * scale / rng.chisquare(own, count) * rng.chisquare(freedom), freedom


@pytest.mark.parametrize("own", [2.0, 6.0, 30.0])
@pytest.mark.parametrize("freedom", [2, 12, "mixed"])
def test_scale_and_freedom_are_learned(own, freedom):
    each = np.tile([1.0, 3, 8], 4000) if freedom == "mixed" else freedom
    found = OwnNoise.learned(*drawn(2.5, own, each, 12_000))
    assert_allclose(found.scale, 2.5, rtol=0.06)
    assert_allclose(1 / found.freedom, 1 / own, rtol=0.2, atol=0.02)


def test_genes_that_scatter_alike_leave_no_doubt():
    rng = np.random.default_rng(1)
    found = OwnNoise.learned(2 * rng.chisquare(6, 2000), np.full(2000, 6.0))
    assert found.freedom > 60
    assert_allclose(found.scale, 2, rtol=0.05)
    alike = OwnNoise.learned(np.full(50, 3.0), np.full(50, 6.0))  # alike beyond chance
    assert alike.freedom == SURE


def test_genes_without_freedom_are_not_asked():
    squares, freedom = drawn(1.5, 5.0, 4, 3000)
    wild = OwnNoise.learned(np.append(squares, np.full(500, 1e6)), np.append(freedom, np.full(500, 0.5)))
    assert wild == OwnNoise.learned(squares, freedom)
    assert OwnNoise.learned(np.zeros(3), np.zeros(3)) == OwnNoise(1.0, SURE)


def test_genes_that_do_not_scatter_do_not_decide():
    squares, freedom = drawn(1.0, 6.0, 4, 3000)
    others = OwnNoise.learned(squares[300:], freedom[300:])
    squares[:150], squares[150:300] = 0, 1e-14  # rounding
    assert OwnNoise.learned(squares, freedom) == others


def test_the_unit_of_squares():
    squares, freedom = drawn(1.0, 6.0, 4, 500)
    one, other = OwnNoise.learned(squares, freedom), OwnNoise.learned(1e6 * squares, freedom)
    assert_allclose([other.scale, other.freedom], [1e6 * one.scale, one.freedom])


def test_the_expected_scale_lies_between_the_gene_and_all():
    noise = OwnNoise(2.0, 4.0)
    assert_allclose(noise.expected(np.array([0.0, 12.0, 1e9]), np.array([0.0, 12.0, 1e9])), [2, 1.25, 1], rtol=1e-6)


def test_weights_on_a_grid_are_prior_times_likelihood():
    noise, scales = OwnNoise(1.7, 3.0), np.geomspace(0.1, 20, 9)
    found = noise.log_weights(scales[None], np.array([5.0]), np.array([4.0]))[0]
    expected = [dense.log_prior(s, 1.7, 3.0) - 2 * np.log(s) - 5 / (2 * s) for s in scales]
    assert_allclose(found - found[0], np.array(expected) - expected[0])


def test_the_prior_of_the_oracle_is_a_density_of_log_s():
    assert_allclose(dense.log_integral(lambda u: dense.log_prior(np.exp(u), 1.7, 3.0)), 0, atol=1e-9)


def test_a_grid_reaches_over_all_that_is_likely():
    noise = OwnNoise(1.0, 4.0)
    scales = noise.grid(np.array([0.5]), np.array([50.0]), np.array([8.0]))[0]
    assert scales[0] < 0.5 / 3
    assert scales[-1] > 50 * 3
    assert_allclose(np.diff(np.log(scales)), np.diff(np.log(scales))[0])
