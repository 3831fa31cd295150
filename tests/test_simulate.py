import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from timelike import simulate
from timelike.exceptions import InputError

GENERATORS = {
    "profiles": simulate.profiles,
    "uneven": lambda **k: simulate.profiles(sampling="uneven", **k),
    "asynchronous": lambda **k: simulate.profiles(sampling="asynchronous", **k),
    "replicated": simulate.replicated,
    "outlying": simulate.outlying,
    "delayed": simulate.delayed,
    "uneven_errors": simulate.uneven_errors,
    "own_times": simulate.own_times,
    "smooth": lambda **k: simulate.smooth(groups=3, **k),
    "deviating": lambda **k: simulate.deviating(groups=3, **k),
    "on_clock": lambda **k: simulate.on_clock(groups=3, **k),
}


@pytest.mark.parametrize("name", GENERATORS)
def test_a_seed_gives_the_same_courses_and_another_seed_others(name):
    make = GENERATORS[name]
    first, again, other = (make(per_group=5, seed=s)[0] for s in (3, 3, 4))
    assert_array_equal(first.values, again.values)
    assert_array_equal(first.times, again.times)
    assert first.values.shape != other.values.shape or (first.values != other.values).any()


@pytest.mark.parametrize("name", GENERATORS)
def test_three_groups_with_names_and_labels(name):
    courses, labels, *_ = GENERATORS[name](per_group=5)
    assert labels.tolist() == [0] * 5 + [1] * 5 + [2] * 5
    assert courses.names[:2] == ("A01", "A02")
    assert courses.names[-1] == "C05"
    assert len(courses) == 15


def test_the_papers_profiles():
    x = np.array([0.0, 0.5, 1.0])
    assert_allclose(simulate.curves(x), [[-0.5, 0.015625, 0.75], [-0.5, 0, 0.5], [-0.5, -0.015625, 0.25]], rtol=1e-15)


def test_the_papers_grids():
    assert_allclose(simulate.grid("even"), np.arange(15) / 14, rtol=1e-15)
    uneven = simulate.grid("uneven")
    assert len(uneven) == 15
    assert_allclose(uneven[[0, 9, 10, 14]], [0, 0.25, 0.3, 1])
    assert_allclose(np.diff(uneven[:10]), 0.25 / 9)
    assert_allclose(np.diff(uneven[10:]), 0.7 / 4)


@pytest.mark.parametrize("sampling", ["even", "uneven"])
@pytest.mark.parametrize("noise", [0.0, 0.08, 0.12])
def test_noise_has_the_given_size(sampling, noise):
    courses, labels = simulate.profiles(noise=noise, sampling=sampling, per_group=100)
    residual = courses.values.reshape(300, 15) - simulate.curves(simulate.grid(sampling))[labels]
    assert residual.std() == pytest.approx(noise, rel=0.03)
    assert abs(residual.mean()) <= 0.1 * noise


def test_asynchronous_courses_keep_7_to_9_of_the_15_times():
    courses, labels = simulate.profiles(sampling="asynchronous", per_group=50)
    assert set(courses.sizes.tolist()) == {7, 8, 9}
    assert set(courses.times.tolist()) == set(simulate.grid().tolist())
    curves = np.concatenate([simulate.curves(c.times)[g] for c, g in zip(courses, labels, strict=True)])
    assert (courses.values - curves).std() == pytest.approx(0.08, rel=0.05)


def test_replicates():
    courses, _ = simulate.replicated(replicates=4, per_group=2)
    assert_array_equal(np.unique(courses.grid, return_counts=True)[1], [4] * 6)


def test_outliers_are_where_they_are_said_to_be():
    courses, labels, thrown = simulate.outlying(noise=0.01, share=0.1, size=2.0, per_group=50)
    residual = courses.values.reshape(150, 15) - simulate.curves(simulate.grid())[labels]
    assert thrown.mean() == pytest.approx(0.1, abs=0.02)
    assert_allclose(np.abs(residual[thrown]), 2.0, atol=0.1)
    assert np.abs(residual[~thrown]).max() < 0.1


def test_delays_move_one_pulse():
    courses, labels = simulate.delayed(noise=0.0, delays=(0.0, 0.3), per_group=1)
    early, late = courses.values.reshape(2, 15)
    assert labels.tolist() == [0, 1]
    peaks = courses.grid[[early.argmax(), late.argmax()]]
    assert peaks[1] - peaks[0] == pytest.approx(0.3, abs=0.04)


def test_known_errors_are_the_errors():
    courses, labels = simulate.uneven_errors(low=0.05, high=0.2, per_group=100)
    assert courses.errors.min() >= 0.05
    assert courses.errors.max() <= 0.2
    residual = courses.values - simulate.curves(simulate.grid())[labels].ravel()
    assert (residual / courses.errors).std() == pytest.approx(1, rel=0.04)


def test_own_times_are_own():
    courses, _ = simulate.own_times(visits=(3, 5), per_group=20)
    assert set(courses.sizes.tolist()) == {3, 4, 5}
    assert len(np.unique(courses.times)) == len(courses.times)
    assert 0 <= courses.times.min() <= courses.times.max() <= 1


def smooth(**settings):
    """Values of smooth courses, (200, 10), and the mark of thrown ones."""
    courses, _, thrown = simulate.smooth(**settings)
    return courses.values.reshape(200, 10), thrown


def test_smooth_curves_have_size_and_length_scale():
    courses, _, _ = simulate.smooth(noise=0, spread=0, groups=4000, per_group=1, points=7)
    expected = np.exp(-((np.subtract.outer(courses.grid, courses.grid) * 3) ** 2) / 2)
    assert_allclose(np.cov(courses.values.reshape(4000, 7).T, bias=True), expected, atol=0.06)


def test_spread_is_smooth_and_has_the_given_size():
    values = smooth(noise=0, spread=0.2)[0] - smooth(noise=0, spread=0)[0]
    assert np.sqrt((values**2).mean()) == pytest.approx(0.2, rel=0.1)
    step = np.sqrt(2 - 2 * np.exp(-((3 / 9) ** 2) / 2))  # from one time to the next, in units of the spread
    assert np.diff(values).std() == pytest.approx(0.2 * step, rel=0.1)


def test_own_noise_scales_the_noise_of_each_course():
    bare, plain, own = (smooth(**k)[0] for k in ({"noise": 0}, {}, {"own_noise": 0.5}))
    factors = (own - bare) / (plain - bare)
    assert_allclose(factors, np.repeat(factors[:, :1], 10, axis=1), rtol=1e-6)
    assert np.log(factors[:, 0]).std() == pytest.approx(0.5, rel=0.15)
    assert (plain - bare).std() == pytest.approx(0.3, rel=0.05)


def test_wild_values_are_where_they_are_said_to_be_and_the_rest_stays():
    plain, (wild, thrown) = smooth()[0], smooth(wild=0.05)
    assert thrown.mean() == pytest.approx(0.05, abs=0.015)
    assert_array_equal(wild[~thrown], plain[~thrown])
    assert (wild - plain)[thrown].std() == pytest.approx(simulate.THROWN * 0.3, rel=0.2)
    assert not smooth()[1].any()


def test_deviating_courses_come_at_own_times():
    courses, _ = simulate.deviating(per_group=30)
    assert set(courses.sizes.tolist()) == set(range(8, 13))
    assert len(np.unique(courses.times)) == len(courses.times)
    assert 0 <= courses.times.min() <= courses.times.max() <= 1


@pytest.mark.parametrize("deviation", [0.0, 0.5])
def test_members_of_a_group_differ_by_the_deviation(deviation):
    """With endless length scales a course is a level, and levels within a group differ by the deviation."""
    courses, labels = simulate.deviating(noise=0, deviation=deviation, scales=(1e3, 1e3), groups=5, per_group=60)
    levels = np.array([course.values.mean() for course in courses])
    inside = levels - np.array([levels[labels == g].mean() for g in range(5)])[labels]
    assert inside.std() == pytest.approx(deviation, rel=0.1, abs=1e-3)


@pytest.mark.parametrize(("scales", "size"), [((1e3, 0.01), 0.01), ((0.01, 1e3), 1.0)])
def test_the_second_scale_is_that_of_the_deviations(scales, size):
    """Where one of the two is endless, only the other makes courses rough, and by its own size."""
    courses, _ = simulate.deviating(noise=0, deviation=0.01, scales=scales)
    steps = np.concatenate([np.diff(course.values) for course in courses])
    assert steps.std() == pytest.approx(np.sqrt(2) * size, rel=0.15)


@pytest.mark.parametrize("tau", [0.5, 2.0, np.inf])
def test_curves_are_smooth_on_the_clock(tau):
    courses, _ = simulate.on_clock(tau=tau, noise=0, groups=4000, per_group=1)
    assert tuple(courses.grid) == simulate.CLOCK_TIMES
    clock = courses.grid if tau == np.inf else tau * np.log1p(courses.grid / tau)
    expected = np.exp(-((3 * np.subtract.outer(clock, clock) / clock[-1]) ** 2) / 2)
    assert_allclose(np.cov(courses.values.reshape(4000, 8).T, bias=True), expected, atol=0.06)


def test_courses_on_a_clock_have_the_given_noise():
    noisy, bare = (simulate.on_clock(noise=noise)[0].values for noise in (0.1, 0))
    assert (noisy - bare).std() == pytest.approx(0.1, rel=0.05)


def made(**settings):
    return simulate.counts(**{"genes": 2400, "times": (0, 2, 8, 24), "different": 0.5, "seed": 3} | settings)


def differences(counts):
    """True log2 means of treated minus control, (genes, samples / 2)."""
    half = len(counts.times) // 2
    return counts.log2_means[:, half:] - counts.log2_means[:, :half]


def test_a_seed_gives_the_same_counts_and_another_seed_others():
    first, again, other = (made(seed=s) for s in (3, 3, 4))
    for name, value in vars(first).items():
        assert_array_equal(value, getattr(again, name))
    assert (first.counts != other.counts).any()
    assert (first.pattern != other.pattern).any()


def test_samples_of_two_conditions():
    counts = made(genes=12, times=(0, 1.5, 9), replicates=2)
    assert counts.counts.shape == counts.log2_means.shape == (12, 12)
    assert counts.counts.dtype == np.int64
    assert counts.times.tolist() == [0, 0, 1.5, 1.5, 9, 9] * 2
    assert counts.conditions.tolist() == ["control"] * 6 + ["treated"] * 6
    assert counts.replicates.tolist() == [0, 1] * 6
    assert counts.names[0] == "gene01"
    assert len(set(counts.names)) == 12


@pytest.mark.parametrize("times", [(0, 1), (0, 2, 8, 24), simulate.CLOCK_TIMES])
def test_conditions_differ_where_and_only_where_it_is_said(times):
    counts = made(times=times)
    largest = np.abs(differences(counts)).max(axis=1)
    assert counts.different.sum() == 1200
    assert_array_equal(counts.different, counts.pattern >= 0)
    assert_array_equal(np.bincount(counts.pattern[counts.different]), [50] * 24)
    assert (largest[~counts.different] == 0).all()
    assert 0.5 - 1e-9 <= largest[counts.different].min() < 0.6
    assert 2.9 < largest[counts.different].max() <= 3 + 1e-9


@pytest.mark.parametrize(
    ("pattern", "largest_at"),
    [("early up", {1, 2}), ("middle up", {3, 4}), ("late up", {7}), ("gradual up", {7}), ("fading up", {0})],
)
def test_patterns_are_largest_when_their_names_say(pattern, largest_at):
    counts = made(times=simulate.CLOCK_TIMES, replicates=1, patterns=[pattern])
    shape = differences(counts)[counts.different]
    assert set(shape.argmax(axis=1).tolist()) == largest_at
    assert shape.min() >= 0


def test_down_is_up_turned_over():
    up, down = (differences(made(patterns=[f"sustained {way}"])) for way in ("up", "down"))
    assert_allclose(up, -down, atol=1e-12)


def test_a_spike_is_at_one_time_and_a_level_at_all():
    spike, level = (made(patterns=[f"{kind} up"], replicates=1) for kind in ("spike", "level"))
    assert ((differences(spike) > 1e-9).sum(axis=1)[spike.different] == 1).all()
    assert_allclose(np.ptp(differences(level), axis=1), 0, atol=1e-12)


def test_a_reversed_response_is_the_controls_turned_over():
    counts = made(times=simulate.CLOCK_TIMES, replicates=1, patterns=["reversed up"], different=1)
    alone = np.ptp(counts.log2_means[:, :8] + counts.log2_means[:, 8:], axis=1) < 1e-9  # no change of both besides
    assert alone.mean() == pytest.approx(2 / 3, abs=0.04)
    assert (counts.log2_means[:, 4] - counts.log2_means[:, 0])[alone].min() > 0


def test_a_third_of_the_genes_changes_in_both_conditions():
    moves = np.ptp(made(different=0).log2_means, axis=1)
    assert (moves > 1e-9).mean() == pytest.approx(1 / 3, abs=0.03)


@pytest.mark.parametrize("dispersions", simulate.DISPERSIONS)
def test_counts_have_mean_and_variance_of_the_negative_binomial(dispersions):
    counts = made(genes=4000, dispersions=dispersions)
    mean = counts.library_sizes * 2**counts.log2_means
    variance = mean + counts.dispersions[:, None] * mean**2
    z = (counts.counts - mean) / np.sqrt(variance)
    seen = mean.min(axis=1) > 5
    assert z[seen].mean() == pytest.approx(0, abs=0.02)
    assert (z[seen] ** 2).mean() == pytest.approx(1, abs=0.03)


@pytest.mark.parametrize("dispersions", simulate.DISPERSIONS)
@pytest.mark.parametrize("spread", [0.0, 0.3, 0.8])
def test_dispersions_lie_about_their_trend(dispersions, spread):
    counts = made(genes=20_000, dispersions=dispersions, dispersion_spread=spread, different=0, replicates=1)
    steady = np.ptp(counts.log2_means, axis=1) < 1e-9
    trend = 0.05 + 2 / 2 ** counts.log2_means[steady, 0]
    factors = np.log(counts.dispersions[steady] / trend)
    assert factors.std() == pytest.approx(spread, rel=0.05, abs=1e-9)
    assert np.median(factors) == pytest.approx(0, abs=0.25 * spread + 1e-9)


def test_genes_are_hardly_seen_to_very_common_and_libraries_differ():
    counts = made(genes=18_000, replicates=2)
    total = counts.counts.sum(axis=1)
    assert 0 < (total == 0).sum() < 100
    low, high = np.quantile(total, [0.025, 0.975])
    assert 3 < np.log10(high / low) < 5
    assert 1.6 < counts.library_sizes.max() / counts.library_sizes.min() <= 2


def test_outliers_come_on_top():
    plain, counts = made(), made(outliers=0.01)
    assert counts.outlying.mean() == pytest.approx(0.01, abs=0.002)
    assert_array_equal(counts.counts, np.where(counts.outlying, 10 * plain.counts, plain.counts))
    assert not plain.outlying.any()


BAD = {
    "profiles": [{"noise": -1}, {"noise": float("nan")}, {"per_group": 0}, {"sampling": "random"}],
    "replicated": [{"noise": -1}, {"replicates": 0}, {"per_group": 0}],
    "outlying": [{"noise": -1}, {"per_group": 0}, {"share": 2}],
    "delayed": [{"noise": -1}, {"per_group": 0}, {"delays": ()}],
    "uneven_errors": [{"low": -1}, {"low": 1, "high": 0.1}, {"per_group": 0}],
    "own_times": [{"noise": -1}, {"visits": (0, 0)}, {"visits": (5, 2)}, {"per_group": 0}],
    "smooth": [
        *({"noise": -1}, {"per_group": 0}, {"groups": 0}, {"points": 1}),
        *({"spread": -1}, {"own_noise": -1}, {"wild": 2}),
    ],
    "deviating": [{"noise": -1}, {"per_group": 0}, {"groups": 0}, {"deviation": -1}, {"scales": (0.3, 0)}],
    "on_clock": [{"noise": -1}, {"per_group": 0}, {"groups": 0}, {"tau": 0}, {"tau": float("nan")}],
    "counts": [
        *({"genes": 0}, {"replicates": 0}, {"different": -0.1}, {"different": 2}, {"outliers": 2}),
        *({"times": (1,)}, {"times": (0, 2, 2)}, {"times": (0, float("nan"))}),
        *({"patterns": ()}, {"patterns": ["sideways"]}),
        *({"dispersions": "gamma"}, {"dispersion_spread": -1}, {"dispersion_spread": float("nan")}),
    ],
}


@pytest.mark.parametrize(("name", "setting"), [(n, s) for n, settings in BAD.items() for s in settings])
def test_settings_that_cannot_be_are_named(name, setting):
    with pytest.raises(InputError, match="|".join(setting)):
        getattr(simulate, name)(**setting)


def test_more_groups_than_ten():
    courses, labels = simulate.delayed(delays=tuple(np.linspace(0, 0.6, 12)), per_group=1)
    assert len(set(courses.names)) == len(set(labels.tolist())) == 12


def test_shifted_courses_are_their_curve_later_larger_and_higher():
    courses, truth = simulate.shifted(
        noise=0.0, delay=0.1, gain_sd=0.4, level_sd=2.0, groups=1, per_group=2, points=201
    )
    first, second = courses.values.reshape(2, 201)
    aligned = [(y - level) / gain for y, level, gain in zip((first, second), truth.levels, truth.gains, strict=True)]
    times = np.linspace(0, 1, 201)
    moved = np.interp(times - truth.delays[0] + truth.delays[1], times, aligned[1])
    inside = slice(45, -45)
    np.testing.assert_allclose(moved[inside], aligned[0][inside], atol=0.01)
    assert np.abs(truth.delays).max() <= 0.1


@pytest.mark.parametrize("words", [{"delay": -0.1}, {"delay": 2}, {"gain_sd": -1}, {"level_sd": -1}, {"points": 1}])
def test_shifted_courses_need_possible_numbers(words):
    with pytest.raises(InputError, match=next(iter(words))):
        simulate.shifted(**words)


# -- an experiment ---------------------------------------------------------------------------------------------------


def test_an_experiment_is_repeatable_and_another_seed_gives_another():
    first, again, other = (simulate.experiment(genes=200, seed=seed) for seed in (3, 3, 4))
    assert_array_equal(first.counts, again.counts)
    assert first.sets == again.sets
    assert (first.counts != other.counts).any()
    assert first.names == other.names


def test_an_experiment_has_the_samples_that_its_sheet_tells():
    made = simulate.experiment(genes=200, replicates=2, seed=1)
    sheet, counts = made.samples_frame(), made.counts_frame()
    assert list(counts.columns) == ["gene", *sheet["sample"]]
    assert counts.shape == (200, 1 + 2 * 8 * 2)
    seen = sheet.groupby(["genotype", "hours"], sort=False)["replicate"].apply(list)
    assert list(seen.index) == [(strain, time) for strain in simulate.STRAINS for time in simulate.CLOCK_TIMES]
    assert all(one == [1, 2] for one in seen)


def test_what_an_experiment_calls_true_is_true_of_its_means():
    made = simulate.experiment(genes=200, replicates=1, seed=2)
    truth = made.truth_frame()
    wt, mut = made.log2_means[:, :8], made.log2_means[:, 8:]
    assert_array_equal(truth["differs"], np.abs(mut - wt).max(axis=1) > 1e-9)
    assert_array_equal(truth["changes_wt"], np.ptp(wt, axis=1) > 1e-9)
    assert_array_equal(truth["changes_mut"], np.ptp(mut, axis=1) > 1e-9)
    assert_array_equal(truth["kind"] == "level", truth["differs"] & (np.ptp(mut - wt, axis=1) < 1e-9))
    assert_array_equal(truth["delay"].notna(), truth["kind"] == "delay")
    assert set(truth["programme"]) == set(simulate.PROGRAMMES)


def test_the_delayed_programme_is_that_much_later():
    early, late = simulate.PROGRAMMES["repair"].curves
    hours = np.linspace(simulate.DELAY, 24, 50)
    assert_allclose(late(hours), early(hours - simulate.DELAY))
    assert late(np.array([simulate.DELAY / 2])) == 0


def test_counts_of_an_experiment_scatter_about_their_means_but_for_the_wild_ones():
    made = simulate.experiment(seed=1)
    expected = made.library_sizes * 2**made.log2_means
    residual = (made.counts - expected) / np.sqrt(expected + made.dispersions[:, None] * expected**2)
    assert 0.9 < residual[~made.wild].std() < 1.1
    assert made.wild.sum() == pytest.approx(0.0005 * made.wild.size, rel=0.5)
    assert np.median(residual[made.wild]) > 5
    assert made.library_sizes.argmin() == len(made.samples) - 1


def test_a_set_of_a_programme_has_most_of_its_genes_and_some_strangers():
    made = simulate.experiment(seed=1)
    truth = made.truth_frame().set_index("gene")["programme"]
    for name in list(simulate.PROGRAMMES)[:-1]:
        own = (truth.loc[list(made.sets[name])] == name).sum()
        assert own >= 0.8 * (truth == name).sum()
        assert 0 < len(made.sets[name]) - own < own
    assert sum(name.startswith("unrelated") for name in made.sets) == 12
    assert "housekeeping" not in made.sets


@pytest.mark.parametrize(
    ("wish", "message"), [({"genes": 99}, "genes 99"), ({"replicates": 0}, "replicates 0"), ({"wild": 2}, "wild 2")]
)
def test_an_experiment_that_cannot_be_made_is_refused(wish, message):
    with pytest.raises(InputError, match=message):
        simulate.experiment(**wish)
