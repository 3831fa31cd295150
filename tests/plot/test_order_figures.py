"""Courses that differ in level, gain and delay: drawn aligned or as measured, in their order, and one pair."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import ExpSineSquared

import timelike as tl
from timelike import plot

UP_TO = ("level", "gain", "delay")
GP = tl.GP.se(4.0, 1.2, 0.15)


def made(per_group=12, seed=1):
    """A bump and a fall, each course at a level, a size and a time of its own."""
    rng = np.random.default_rng(seed)
    x, count = np.linspace(0, 24, 13), 2 * per_group
    at = x - rng.uniform(-2.5, 2.5, (count, 1))
    shapes = np.where(np.arange(count)[:, None] < per_group, 2 * np.exp(-(((at - 8) / 3.5) ** 2)), -np.tanh(at / 3 - 4))
    values = rng.normal(5, 2, (count, 1)) + np.exp(0.35 * rng.standard_normal((count, 1))) * shapes
    names = [f"${i}_x$" for i in range(count)]
    return tl.TimeCourses.from_arrays(x, values + 0.15 * rng.standard_normal(values.shape), names)


@pytest.fixture(scope="module")
def freed():
    courses = made()
    return courses, tl.mixture(courses, GP, k=2, up_to=UP_TO, max_delay=6.0)


@pytest.fixture(scope="module")
def phases():
    """Waves that come at any time of a period of 60."""
    rng = np.random.default_rng(0)
    x, at = np.arange(0, 120, 8.0), rng.uniform(0, 60, (30, 1))
    courses = tl.TimeCourses.from_arrays(x, np.cos(2 * np.pi * (x - at) / 60) + 0.2 * rng.standard_normal((30, len(x))))
    return courses, tl.GP(ExpSineSquared(1.5, 60.0), 1.0, 0.2), at[:, 0]


def title(ax):
    return ax.get_title(loc="left")


def drawn(ax):
    return np.concatenate(ax.collections[0].get_segments())


def legend(figure):
    return [t.get_text() for t in figure.legends[0].get_texts()]


# -- clusters --------------------------------------------------------------------------------------------------------


def test_courses_are_drawn_on_the_curve_of_their_cluster(freed):
    _, found = freed
    axes = plot.cluster_panels(found, time="time (h)")
    moved = found.aligned()
    for label, ax in enumerate(axes[: found.k]):
        members = moved.select(np.flatnonzero(found.labels == label))
        np.testing.assert_allclose(drawn(ax), np.column_stack([members.times, members.values]))
        at, mean = ax.lines[-1].get_data()
        assert (at[0], at[-1]) == (moved.times.min(), moved.times.max())
        np.testing.assert_allclose(mean, found.curve(label, at).mean)
    assert axes[0].get_xlabel() == "time (h), aligned"
    assert axes[0].get_ylabel() == "value, aligned"
    assert legend(axes[0].figure)[0] == "courses without their level, gain and delay"


def test_or_as_they_were_measured_without_a_band(freed):
    courses, found = freed
    axes = plot.cluster_panels(found, aligned=False)
    members = courses.select(np.flatnonzero(found.labels == 0))
    np.testing.assert_allclose(drawn(axes[0]), np.column_stack([members.times, members.values]))
    assert len(axes[0].collections) == 1
    assert axes[0].get_xlabel() == "time"
    assert legend(axes[0].figure) == ["courses", "the cluster's curve (the mean level, gain 1, no delay)"]


def test_labels_say_only_what_was_moved():
    found = tl.mixture(made(), GP, k=2, up_to="level")
    axes = plot.cluster_panels(found)
    assert (axes[0].get_xlabel(), axes[0].get_ylabel()) == ("time", "value, aligned")
    assert legend(axes[0].figure)[0] == "courses without their level"
    assert plot.clusters(found, plot.panels(1)[0]).get_ylabel() == "value, aligned"


def test_courses_in_none_stay_where_they_are(freed):
    courses, found = freed
    labels = found.labels.copy()
    labels[3] = -1
    axes = plot.cluster_panels(replace(found, labels=labels))
    assert title(axes[-1]) == "none of these: 1 (as measured)"
    np.testing.assert_allclose(drawn(axes[-1]), np.column_stack([courses[3].times, courses[3].values]))


def test_curves_do_not_begin_before_the_clock(recwarn):
    courses = made(6)
    gp = tl.GP.se(3.0, 1.2, 0.15, clock=20.0)
    found = tl.mixture(courses, gp, k=2, up_to=UP_TO, max_delay=4.0)
    recwarn.clear()
    ax = plot.cluster_panels(found)[0]
    assert not recwarn.list
    assert ax.lines[-1].get_xdata()[0] == 0.0
    assert found.aligned().times.min() < 0


# -- the order in time -----------------------------------------------------------------------------------------------


def test_delays_of_each_cluster_in_their_order(freed):
    _, found = freed
    ax = plot.order(found, time="time (h)")
    x, y = ax.collections[1].get_offsets().T
    ends = np.array([segment[:, 0] for segment in ax.collections[0].get_segments()])
    who = np.lexsort((found.delay.mean, found.labels))
    np.testing.assert_allclose(x, found.delay.mean[who])
    np.testing.assert_allclose(ends, np.column_stack([found.delay.low, found.delay.high])[who])
    assert (np.diff(y) > 0).all()
    assert ax.yaxis_inverted()
    assert [t.get_text() for t in ax.get_yticklabels()] == ["cluster 0", "cluster 1"]
    assert ax.get_xlabel() == "time (h) later than the cluster's curve"


def test_gains_and_levels_likewise(freed):
    _, found = freed
    gains = plot.order(found, of="gain")
    assert gains.get_xscale() == "log"
    np.testing.assert_allclose(gains.lines[0].get_xdata(), 1.0)
    assert plot.order(found, of="level").get_xlabel() == "level"
    with pytest.raises(tl.InputError, match="choose from delay, gain, level"):
        plot.order(found, of="size")


def test_there_must_be_delays(clustered):
    with pytest.raises(tl.InputError, match="do not differ in delay: ask for it with up_to='delay'"):
        plot.order(clustered[2])
    with pytest.raises(tl.InputError, match="found is a str: expected a clustering with delays"):
        plot.order("A01")


def test_lags_and_groups_of_them():
    courses, labels = tl.simulate.delayed(per_group=10, seed=1)
    found = tl.lags(courses, tl.GP.se(0.2, 0.5, 0.1), max_delay=0.4)
    times = found.positions().times
    ax = plot.order(found)
    np.testing.assert_allclose(ax.collections[1].get_offsets()[:, 0], np.sort(times))
    groups = found.of_groups(np.array(["$e$", "middle", "late"])[labels])
    ax = plot.order(groups)
    assert [t.get_text() for t in ax.get_yticklabels()] == ["$e$", "middle", "late"]
    low = [segment[0, 0] for segment in ax.collections[0].get_segments()]
    np.testing.assert_allclose(low, groups.to_frame()["low"])
    with pytest.raises(tl.InputError, match="delays only"):
        plot.order(groups, of="gain")


def test_phases_are_a_circle(phases):
    courses, gp, at = phases
    found = tl.lags(courses, gp)
    ax = plot.order(found)
    assert ax.name == "polar"
    order = found.positions().times
    np.testing.assert_allclose(ax.collections[0].get_offsets()[:, 0], np.sort(order) * 2 * np.pi / 60)
    groups = found.of_groups(np.where(at < 30, "early", "late"))
    ax = plot.order(groups)
    assert [text.get_text() for text in ax.texts] == [str(group) for group in groups.groups]
    assert plot.order(groups, plot.panels(1)[0]).name == "rectilinear"


# -- one pair --------------------------------------------------------------------------------------------------------


def test_a_pair_as_measured_and_aligned(freed):
    courses, _ = freed
    found = tl.match(courses, GP, 0, 1, up_to=UP_TO, max_delay=6.0)
    measured, moved = plot.match(found, time="time (h)")
    for ax, pair in ((measured, found.pair), (moved, found.aligned())):
        dots = [line for line in ax.lines if line.get_marker() == "o"]
        for k in range(2):
            np.testing.assert_allclose(dots[k].get_data(), [pair[k].times, pair[k].values])
    assert title(measured) == "as measured"
    words, rest, s = title(moved).split("\n")
    assert words == f"$1_x$ is {found.differences[0]},"
    assert rest == ", ".join(found.differences[1:])
    assert s.startswith("s = ")
    assert moved.get_xlabel() == "time (h), aligned"
    with pytest.raises(tl.InputError, match="two panels, 1 Axes"):
        plot.match(found, plot.panels(1))


def test_the_shared_curve_counts_each_course_by_its_noise():
    """Of a course that is twice as large the noise is half as large once it is moved."""
    x, gp = np.linspace(0, 10, 6), tl.GP.se(3.0, 1.0, 0.3)
    courses = tl.TimeCourses.from_arrays(x, [np.sin(x), 2 * np.sin(x) + 0.1])
    found = tl.match(courses, gp, 0, 1, up_to="gain")
    ax = plot.match(found)[1]
    at, mean = ax.lines[0].get_data()
    moved = found.aligned()
    noise = 0.3 / np.repeat([1, found.gain], 6)
    C = gp.covariance(moved.points) + np.diag(noise**2)
    expected = gp.covariance(at[:, None], moved.points) @ np.linalg.solve(C, moved.values)
    np.testing.assert_allclose(mean, expected, atol=1e-9)


def test_neighbours_that_are_later_say_so(freed):
    courses, _ = freed
    near = tl.neighbors(courses, GP, k=2, up_to=UP_TO, max_delay=6.0)
    ax = plot.neighbors(courses, GP, 0, near)
    said = ax.get_legend().get_texts()[-1].get_text()
    word = "later" if near.delay[0, 1] >= 0 else "earlier"
    assert f", {abs(near.delay[0, 1]):.2g} {word}, {near.gain[0, 1]:.2g} times as large" in said


def test_the_bars_of_a_pair_with_freedoms_name_their_price(freed):
    why = tl.explain(freed[0], GP, 0, 1, up_to=UP_TO, max_delay=6.0)
    ax = plot.explanation(why)
    assert sum(bar.get_height() for bar in ax.patches) == pytest.approx(why.similarity + why.price)
    assert title(ax).endswith(f"bars: s + {why.price:.2f}, the price of its freedoms")
