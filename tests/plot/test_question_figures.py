"""Answers as figures: all of them by size and sureness, and single ones with their curves."""

import numpy as np
import pytest
from matplotlib.colors import to_hex

import timelike as tl
from timelike import plot
from timelike.plot import COLORS

TIMES = np.repeat([0.0, 2, 4, 8], 3)
NAMES = ["cost $x_1$ in $", *(f"g{i}" for i in range(1, 30))]


def conditions(*names):
    rng = np.random.default_rng(1)
    made = {name: rng.normal(size=(30, 12)) for name in names}
    for name in names[1:]:
        made[name][:4] += 6 * (TIMES > 2)
        made[name][4:6] -= 5
    return {name: tl.TimeCourses.from_arrays(TIMES, values, NAMES) for name, values in made.items()}


@pytest.fixture(scope="module")
def two():
    return tl.compare(conditions("wt", "mut"))


@pytest.fixture(scope="module")
def rising():
    values = np.random.default_rng(1).normal(size=(30, 12))
    values[:4] += 2 * TIMES
    values[4:6] -= 2 * TIMES
    return tl.changing(tl.TimeCourses.from_arrays(TIMES, values, NAMES))


def legend(ax):
    return [t.get_text() for t in ax.get_legend().get_texts()]


def dots(ax):
    """Colour -> places of its dots."""
    return {to_hex(line.get_color()): line.get_xydata() for line in ax.lines}


def test_a_volcano_colours_what_is_called_by_where_it_is_higher(two):
    ax = plot.volcano(two, value="log2 expression")
    assert legend(ax) == ["higher in wt: 2", "higher in mut: 4", "the others: 24"]
    assert ax.get_title(loc="left") == "6 of 30 differ at a false discovery rate of 5 %"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("largest difference of log2 expression", "log Bayes factor")
    found = dots(ax)
    expected = np.column_stack([two.largest.difference, two.log_bayes_factor])
    np.testing.assert_allclose(found[COLORS[1].lower()], expected[:4])
    np.testing.assert_allclose(found[COLORS[0].lower()], expected[4:6])
    assert len(found[to_hex("0.7")]) == 24


def test_names_stand_where_they_hide_nothing(two):
    ax = plot.volcano(two, labels=3)
    named = [text for text in ax.texts if text.get_text()]
    assert 1 <= len(named) <= 3
    assert {text.get_text() for text in named} <= {NAMES[i] for i in two.called(0.05)}
    ax.figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in named]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    assert not plot.volcano(two, labels=0).texts


def test_a_volcano_of_changes_tells_rise_from_fall(rising):
    ax = plot.volcano(rising)
    assert legend(ax) == ["rise: 4", "fall: 2", "the others: 24"]
    assert (dots(ax)[COLORS[0].lower()][:, 0] > 10).all()
    assert (dots(ax)[COLORS[1].lower()][:, 0] < -10).all()


def test_differences_have_two_panels_a_course(two):
    axes = plot.differences(two, ["g5", "g1"], time="time (h)", value="log2 expression")
    assert [ax.get_title(loc="left") for ax in axes] == ["g5", "mut less wt", "g1", "mut less wt"]
    assert legend(axes[0]) == ["wt", "mut"]
    assert axes[1].get_xlabel() == "time (h)"
    above, below = axes[2], axes[3]
    values = sorted(y for line in above.lines if line.get_marker() == "o" for y in line.get_ydata())
    measured = two.question.measured.conditions
    assert values == sorted([*measured["wt"].select(["g1"]).values, *measured["mut"].select(["g1"]).values])
    at, mean = below.lines[0].get_xdata(), below.lines[0].get_ydata()
    np.testing.assert_allclose(mean, two.difference("g1", at).mean)
    (start, end, sign) = two.intervals("g1")[0]
    shade = below.patches[0]
    assert sign == 1
    np.testing.assert_allclose([shade.get_x(), shade.get_x() + shade.get_width()], [start, end])
    assert to_hex(shade.get_facecolor()) == COLORS[1].lower()
    assert to_hex(axes[1].patches[0].get_facecolor()) == COLORS[0].lower()  # g5 is higher in wt
    assert above.get_xlim() == below.get_xlim()


def test_of_three_conditions_the_two_furthest_apart_are_drawn_or_those_asked_for():
    found = tl.compare(conditions("C", "K", "M"))
    axes = plot.differences(found, ["g1"])
    assert legend(axes[0]) == ["C", "K", "M"]
    assert axes[1].get_title(loc="left") in ("K less C", "M less C")
    assert plot.differences(found, ["g1"], between=("M", "K"))[1].get_title(loc="left") == "K less M"
    assert len(plot.differences(found)) == 12


def test_a_course_without_one_of_the_conditions_is_drawn_without_it():
    given = conditions("C", "K", "M")
    given["K"] = given["K"].select(list(range(2, 30)))
    axes = plot.differences(tl.compare(given), ["g1"])
    assert legend(axes[0]) == ["C", "M"]


def test_changes_show_when(rising):
    (ax,) = plot.changes(rising, ["g1"], time="time (h)")
    assert legend(ax) == ["begins to change", "is furthest off"]
    marks = [line.get_xdata()[0] for line in ax.lines if line.get_marker() == "^"]
    np.testing.assert_allclose(marks, [rising.first_change.time[1], rising.peak.time[1]])
    bars = [line.get_xdata() for line in ax.lines if line.get_linewidth() == 2 and len(line.get_xdata()) == 2]
    np.testing.assert_allclose(bars[0], [rising.first_change.low[1], rising.first_change.high[1]])
    assert plot.changes(rising, ["g20"])[0].get_legend() is None  # it does not change: there is no when


def test_text_is_drawn_as_it_is_written(two, rising):
    axes = [plot.volcano(two, value="$"), *plot.differences(two, [0], value="a$b$"), *plot.changes(rising, [0])]
    for ax in axes:
        shown = [
            ax._left_title,
            ax.xaxis.label,
            ax.yaxis.label,
            *(ax.get_legend().get_texts() if ax.get_legend() else []),
        ]
        assert not any(text.get_parse_math() for text in [*shown, *ax.texts])
    assert axes[1].get_title(loc="left") == NAMES[0]


def test_on_a_clock_the_axis_runs_on_it():
    model = tl.GP.se(2.0, 1.0, 1.0, clock=1.0)
    found = tl.compare(conditions("wt", "mut"), model)
    for ax in plot.differences(found, ["g1"]):
        assert ax.get_xscale() == "function"
        assert ax.get_xlim()[0] > -2


@pytest.mark.parametrize("draw", [plot.differences, plot.changes])
def test_mistakes_are_told(draw, two, rising):
    right, wrong = (two, rising) if draw is plot.differences else (rising, two)
    with pytest.raises(tl.InputError, match="found"):
        draw(wrong)
    with pytest.raises(tl.InputError, match="there is no answer about 'g99'"):
        draw(right, ["g99"])
    with pytest.raises(tl.InputError, match="there is no course to draw"):
        draw(right, [])


def test_a_volcano_takes_answers_alone(two):
    with pytest.raises(tl.InputError, match="found"):
        plot.volcano("two")
    with pytest.raises(tl.InputError, match="fdr is 5"):
        plot.volcano(two, fdr=5)
