"""changing: what is called is true as often as it says, when courses change; bad input in words."""

import numpy as np
import pytest
from designs import DESIGNS, GRID, courses, experiment, model, smooth
from numpy.testing import assert_allclose

import timelike as tl
from timelike.exceptions import InputError

GENES = 1500
THREE = np.repeat(GRID, 3)


def made(times, changing=0, size=2.0, seed=0):
    rng = np.random.default_rng(seed)
    y = 5 * rng.standard_normal((GENES, 1)) + np.exp(0.4 * rng.standard_normal((GENES, 1))) * rng.standard_normal(
        (GENES, len(times))
    )
    y[:changing] += size * smooth(rng, times, changing)
    return courses(times, y)


@pytest.mark.filterwarnings("ignore:most courses have no replicates")
@pytest.mark.parametrize("times", [THREE, np.repeat(GRID, 2), np.arange(11.0)], ids=["three", "two", "none"])
def test_nothing_is_called_where_nothing_changes(times):
    assert len(tl.changing(made(times)).called(0.05)) <= 0.01 * GENES


@pytest.mark.filterwarnings("ignore:most courses have no replicates")
@pytest.mark.parametrize(("times", "power"), [(THREE, 0.42), (np.arange(11.0), 0.2)], ids=["three", "none"])
def test_the_rate_of_false_ones_is_what_it_says(times, power):
    called = tl.changing(made(times, 150)).called(0.05)
    assert np.mean(called >= 150) < 0.10
    assert np.sum(called < 150) > power * 150


def test_batches_of_samples_are_no_changes():
    """The replicates of a time share a shift of 0.6 of the noise, each gene its own."""
    rng = np.random.default_rng(1)
    y = rng.standard_normal((GENES, len(THREE)))
    y += 0.6 * rng.standard_normal((GENES, len(GRID)))[:, np.repeat(np.arange(len(GRID)), 3)]
    assert len(tl.changing(courses(THREE, y)).called(0.05)) < 0.02 * GENES


def test_the_band_of_a_change_is_about_the_way_from_the_mean_level():
    rng = np.random.default_rng(2)
    y = rng.standard_normal((300, len(THREE)))
    y[:60] += 0.8 * THREE
    found = tl.changing(courses(THREE, y))
    truth = 0.8 * (GRID - GRID.mean())
    apart = []
    for i in range(60):
        curve = found.change(i, GRID)
        assert_allclose(curve.mean.mean(), 0, atol=1e-6)
        apart.append((curve.mean - truth) / curve.sd)
    assert 0.6 < np.std(apart) < 1.3
    assert found.change(0, GRID).sd.max() < 1


def test_when_courses_change():
    rng = np.random.default_rng(3)
    y = rng.standard_normal((2, 200, len(THREE)))[0]
    y[:20] += 8 * (THREE > 3)  # between 2 and 4
    y[20:40] -= 8 * (THREE == 4)
    found = tl.changing(courses(THREE, y))
    assert set(range(40)) <= set(found.called(0.05))
    first, peak = found.first_change, found.peak
    assert np.mean((first.time[:20] > 1.5) & (first.time[:20] <= 4)) > 0.9
    assert np.mean(np.abs(peak.time[20:40] - 4) < 1) > 0.9
    assert (first.low[:40] <= first.time[:40]).all()
    assert (first.time[:40] <= first.high[:40]).all()
    assert_allclose(found.largest_change[20:40].mean(), -8, atol=1)
    quiet = found.probability < 0.5
    assert np.isnan(first.time[quiet]).all()
    assert len(found.to_frame()) == 200


def test_selected_courses_stand_in_their_order():
    rng = np.random.default_rng(4)
    y = rng.standard_normal((100, len(THREE)))
    y[[70, 10, 40]] += 5 * THREE
    found = tl.changing(courses(THREE, y))
    assert found.select(0.01).names == ("gene 10", "gene 40", "gene 70")


def test_all_conditions_of_a_gene_are_selected():
    rng = np.random.default_rng(5)
    y = rng.standard_normal((100, len(THREE)))
    y[3] += 5 * THREE
    names = [f"gene {i // 2} | {'ab'[i % 2]}" for i in range(100)]
    assert tl.changing(courses(THREE, y, names)).select(0.01).names == ("gene 1 | a", "gene 1 | b")


# -- bad input --------------------------------------------------------------------------------------------------------


def test_courses_of_one_time():
    with pytest.raises(InputError, match="all values are of one time, 3: nothing can change"):
        tl.changing(courses(np.full(4, 3.0), np.random.default_rng(0).standard_normal((5, 4))))


def test_no_courses():
    with pytest.raises(InputError, match="courses must be TimeCourses, not dict"):
        tl.changing(experiment(DESIGNS["replicates"]))


def test_nothing_to_select():
    y = np.random.default_rng(6).standard_normal((50, len(THREE)))
    with pytest.raises(
        InputError, match=r"no course changes at an expected false discovery rate of 0.05: the likeliest"
    ):
        tl.changing(courses(THREE, y)).select()


def test_a_name_that_is_not_there():
    found = tl.changing(experiment(DESIGNS["replicates"])["a"], model())
    with pytest.raises(InputError, match="no answer about 'x'"):
        found.change("x", [0.0])
    with pytest.raises(InputError, match="fdr is 2"):
        found.select(2)


def test_a_course_that_says_nothing_is_not_called_because_most_others_are():
    rng = np.random.default_rng(5)
    times = np.repeat([0.0, 1, 2, 4], 3)
    values = 4 * np.sin(times + rng.uniform(0, 6, (120, 1))) + rng.standard_normal((120, 12))
    errors = np.full(values.shape, 0.1)
    errors[100:] = 80.0  # of the last twenty nothing is known
    values[100:] += 80 * rng.standard_normal((20, 12))
    found = tl.changing(
        tl.TimeCourses.from_arrays(times, values, errors=errors), tl.GP.se(1.5, signal_sd=2, noise_sd=1)
    )
    assert found.share > 0.75
    assert (found.fdr[:100] < 0.05).mean() > 0.8
    assert found.probability[100:].max() < 0.6


def test_batches_are_measured_by_the_noise_of_most_courses():
    rng = np.random.default_rng(6)
    times = np.repeat([0.0, 1, 2, 4, 8], 3)
    shift = 0.8 * rng.standard_normal((300, 5))[:, np.repeat(np.arange(5), 3)]  # what the samples of a time share
    errors = np.full((300, 15), 1e-3)
    errors[280:] = 30.0  # as of few counts: no batch can be seen beside such errors, nor that there is none
    values = shift + rng.standard_normal((300, 15)) * np.hypot(1, errors)
    found = tl.changing(
        tl.TimeCourses.from_arrays(times, values, errors=errors), tl.GP.se(2.0, signal_sd=1, noise_sd=1)
    )
    assert np.abs(found.log_bayes_factor[280:]).max() < 0.5
