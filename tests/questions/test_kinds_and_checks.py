"""Delays, curves of single genes, and the check on permuted samples."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import timelike as tl
from timelike.questions.delays import share_delayed
from timelike.questions.joined import Joined
from timelike.questions.permuted import columns, exchanged, reordered

TIMES = np.repeat([0.0, 1, 2, 4, 6, 8, 12, 16], 3)


def pulses(seed=0, count=240):
    """Genes with a pulse: 30 come later under "b", 30 are higher at all times, 30 grow apart; the others are alike."""
    rng = np.random.default_rng(seed)
    middle, size, width = (
        rng.uniform(3, 9, (count, 1)),
        rng.choice([-3.0, 3.0], (count, 1)),
        rng.uniform(1.5, 2.5, (count, 1)),
    )
    kind = np.repeat(["delay", "level", "shape", "none"], [30, 30, 30, count - 90])[:, None]

    def pulse(times):
        return size * np.exp(-(((times - middle) / width) ** 2) / 2)

    a, b = pulse(TIMES), pulse(TIMES - 1.5 * (kind == "delay"))
    b = b + 1.5 * (kind == "level") + np.sign(size) * (kind == "shape") * TIMES / 6
    noise = 0.3 * rng.standard_normal((2, count, len(TIMES)))
    both = {name: tl.TimeCourses.from_arrays(TIMES, y) for name, y in (("a", a + noise[0]), ("b", b + noise[1]))}
    return both, kind[:, 0], pulse


@pytest.fixture(scope="module")
def compared():
    both, kind, pulse = pulses()
    return tl.compare(both), kind, pulse


def test_kinds_of_differences(compared):
    found, kind, _ = compared
    told = found.kinds.to_numpy().argmax(axis=1)
    called = found.fdr < 0.05
    for k, name in enumerate(found.kinds.columns):
        own = called & (kind == name)
        assert own.sum() >= 24
        assert (told[own] == k).mean() > 0.8
    assert_allclose(found.kinds.sum(axis=1), 1)


def test_delays_are_recovered_and_flip_with_the_conditions(compared):
    found, kind, _ = compared
    late = np.flatnonzero((kind == "delay") & (found.delayed.probability > 0.5))
    assert abs(np.median(found.delayed.delay[late]) - 1.5) < 0.25
    both, _, _ = pulses()
    swapped = tl.compare({"b": both["b"], "a": both["a"]})
    assert_allclose(swapped.delayed.delay[late], -found.delayed.delay[late], atol=0.05)
    frame = found.to_frame()
    assert frame["delay"].notna().equals(frame["kind"] == "delay")


def test_over_time_leaves_levels_out(compared):
    found, kind, _ = compared
    assert np.median(found.over_time[kind == "level"]) < 0.2
    assert np.median(found.over_time[kind == "shape"]) > 0.95
    assert (found.over_time <= found.probability + 1e-12).all()


def test_odds_of_delays():
    assert share_delayed(np.full(50, -20.0)) < 0.01
    assert share_delayed(np.array([])) == 0.1


def test_curves_hold_the_truth(compared):
    found, _, pulse = compared
    at = np.linspace(0, 16, 30)
    truth = pulse(at)
    off = [(found.curves(i, at)["a"].mean - truth[i]) / found.curves(i, at)["a"].sd for i in range(0, 240, 6)]
    assert 0.85 < (np.abs(off) < 1.96).mean() < 1.0
    assert np.std(off) > 0.4
    assert list(found.curves(0, at)) == ["a", "b"]


def test_a_condition_that_was_not_measured_has_no_curve():
    both, _, _ = pulses(count=400)
    both["c"] = both["a"].select(range(1, 400))
    found = tl.compare(both)
    curves = found.curves("0", [1.0, 2.0])
    assert np.isnan(curves["c"].mean).all()
    assert np.isfinite(curves["a"].mean).all()


def test_nothing_is_called_in_permuted_samples(compared):
    check = compared[0].check(permutations=2, seed=1)
    assert check.called[1] == len(compared[0].called(0.05)) > 70
    assert check.by_chance[1] <= 3
    assert list(check.to_frame().columns) == ["stated", "called", "by_chance"]
    assert f"{check.called[1]} at 5%" in str(check)


def test_the_check_of_changes():
    both, _, _ = pulses()
    check = tl.changing(both["a"]).check(permutations=1)
    assert check.called[1] > 200
    assert check.by_chance[1] <= 3


def test_half_of_the_replicates_change_places():
    both, _, _ = pulses(count=100)
    samples = columns(both, both["a"].names)
    again = exchanged(samples, np.random.default_rng(0))
    for time in np.unique(TIMES):
        at = samples.times == time
        assert sorted(again.condition[at]) == sorted(samples.condition[at])
        assert 0 < (again.condition[at] != samples.condition[at]).sum() < at.sum()
    shuffled = reordered(samples, np.random.default_rng(0))
    assert sorted(shuffled.times) == sorted(samples.times)
    assert (shuffled.times != samples.times).mean() > 0.5


def test_errors_go_with_their_samples():
    rng = np.random.default_rng(2)
    counts = rng.poisson(80, (60, 16))
    made = tl.TimeCourses.from_counts(
        np.tile(np.repeat([0.0, 1, 2, 3], 2), 2), counts, conditions=["a"] * 8 + ["b"] * 8
    )
    both = made.by_condition()
    samples = columns(both, both["a"].names)
    own = both["b"]["7"]
    assert_allclose(samples.errors[7, samples.condition == 1], own.errors)
    assert_allclose(samples.values[7, samples.condition == 1], own.values)


def test_courses_with_times_of_their_own_cannot_be_permuted():
    rng = np.random.default_rng(3)
    times = [np.sort(rng.random(6)) for _ in range(40)]
    both = {name: tl.TimeCourses.from_arrays(times, [rng.standard_normal(6) for _ in times]) for name in "ab"}
    with pytest.warns(tl.DataWarning, match="no replicates"):
        found = tl.compare(both, tl.GP.se(0.4, signal_sd=1, noise_sd=1))
    with pytest.raises(tl.InputError, match="no samples to permute"):
        found.check()


def test_lines_between_times():
    from sklearn.gaussian_process.kernels import Matern

    from timelike.gp.clock import Clocked

    kernel = Clocked(Matern(1.0, nu=0.5), tau=2.0, start=0.0, tau_bounds="fixed")
    at = np.array([[0.0], [1.0], [6.0]])
    lines = Joined(kernel, at)
    assert_allclose(lines(at), kernel(at))
    half = kernel.plain(kernel.time(np.array([1.0, 6.0])).mean())  # halfway on the clock
    assert_allclose(lines(np.array([[half]]), at)[0], (kernel(at)[1] + kernel(at)[2]) / 2)
    assert_allclose(lines.diag(np.array([[half]])), lines(np.array([[half]]))[0])
