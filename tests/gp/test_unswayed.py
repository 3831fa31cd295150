"""A fit that single wild values do not decide, and that is the fit of all values where they do not."""

import warnings

import numpy as np
import pytest

import timelike as tl
from timelike.exceptions import FitWarning
from timelike.gp import unswayed
from timelike.gp.wild import wild_values

TIMES = np.arange(8.0)
HYPERPARAMETERS = ("length_scale", "signal_sd", "noise_sd", "mean")


def small(seed=0):
    """Twenty courses with eight values each."""
    rng = np.random.default_rng(seed)
    C = np.exp(-(np.subtract.outer(TIMES, TIMES) ** 2) / 8)
    return 2 + rng.multivariate_normal(np.zeros(8), C, 20, method="eigh") + 0.3 * rng.standard_normal((20, 8))


def of(gp):
    return [getattr(gp, name) for name in HYPERPARAMETERS]


@pytest.mark.parametrize("value", [12.0, 1e3, -1e3, 1e6])
@pytest.mark.filterwarnings("ignore::timelike.exceptions.FitWarning")  # of the plain fit
def test_one_wild_value_moves_nothing(value):
    values, gap = small(), small()
    values[3, 4], gap[3, 4] = value, np.nan
    with pytest.warns(FitWarning, match="1 of 160 values are wild and count for little in this fit"):
        gp = tl.fit(tl.TimeCourses.from_arrays(TIMES, values))
    without = tl.fit(tl.TimeCourses.from_arrays(TIMES, gap))
    np.testing.assert_allclose(of(gp), of(without), rtol=5e-3)
    plain = tl.fit(tl.TimeCourses.from_arrays(TIMES, values), robust=False)
    assert plain.noise_sd > 1.5 * gp.noise_sd  # what becomes of it otherwise


def test_the_likelihood_is_that_of_the_weighed_courses():
    values = small()
    values[3, 4] = 1e3
    courses = tl.TimeCourses.from_arrays(TIMES, values)
    with pytest.warns(FitWarning, match="1 of 160"):
        gp = tl.fit(courses)
    assert gp.log_likelihood == pytest.approx(gp.score(wild_values(courses, gp).weighed(courses)), abs=0.01)


def test_the_noise_among_five_percent_of_wild_values():
    """Noise that is too large hides wild values: they come to light one after the other."""
    ratios = []
    for seed in range(4):
        courses, _, _ = tl.simulate.outlying(0.08, share=0.05, size=1.6, seed=seed)
        with pytest.warns(FitWarning, match=r"of 2,250 values are wild .* would be 0\.[234]"):
            ratios.append(tl.fit(courses).noise_sd / 0.08)
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.1)


def test_of_many_courses_some_settle_first(monkeypatch):
    courses, _, _ = tl.simulate.outlying(0.08, share=0.05, size=1.6, per_group=100, seed=1)
    monkeypatch.setattr(unswayed, "SAMPLE", 80)
    with pytest.warns(FitWarning, match=r"of 4,500 values are wild"):
        gp = tl.fit(courses)
    assert gp.noise_sd == pytest.approx(0.08, rel=0.1)
    monkeypatch.undo()
    with pytest.warns(FitWarning, match=r"of 4,500 values are wild"):
        np.testing.assert_allclose(of(gp), of(tl.fit(courses)), rtol=0.02, atol=0.01)


@pytest.mark.parametrize("sampling", ["even", "uneven", "asynchronous"])
def test_without_wild_values_it_is_the_fit_of_all(sampling):
    courses, _ = tl.simulate.profiles(0.1, sampling, seed=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert of(tl.fit(courses)) == of(tl.fit(courses, robust=False))


def test_real_values_whose_tails_do_not_decide_are_fitted_as_they_are(genes):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gp = tl.fit(genes)
    assert of(gp) == of(tl.fit(genes, robust=False))
    assert len(wild_values(genes, gp)) > 10
    assert gp.noise_sd == pytest.approx(0.35865, abs=1e-5)


def test_courses_of_different_noise_are_not_wild():
    rng = np.random.default_rng(0)
    own = 0.3 * np.exp(0.5 * rng.standard_normal((200, 1)))
    curves = rng.multivariate_normal(
        np.zeros(8), np.exp(-(np.subtract.outer(TIMES, TIMES) ** 2) / 8), 200, method="eigh"
    )
    courses = tl.TimeCourses.from_arrays(TIMES, curves + own * rng.standard_normal((200, 8)))
    assert of(tl.fit(courses)) == of(tl.fit(courses, robust=False))


@pytest.mark.filterwarnings("ignore:the fit ended on the lower bound of the noise variance")
def test_curves_without_noise_but_for_one_value():
    values, _ = tl.simulate.profiles(noise=0.0, per_group=10, seed=1)
    spoilt = values.values.reshape(30, -1).copy()
    spoilt[2, 7] += 5.0
    with pytest.warns(FitWarning, match="1 of 450 values are wild"):
        gp = tl.fit(tl.TimeCourses.from_arrays(values.grid, spoilt))
    assert gp.noise_sd < 0.01


def test_values_that_are_all_equal_but_for_wild_ones():
    values = np.zeros((10, 6))
    values[3, 2], values[7, 4] = 5.0, 3.0
    courses = tl.TimeCourses.from_arrays(range(6), values)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tl.FitWarning)
        assert repr(tl.fit(courses)) == repr(tl.fit(courses, robust=False))
