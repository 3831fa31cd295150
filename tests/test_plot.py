import matplotlib as mpl
import numpy as np
import pytest

import timelike as tl

mpl.use("Agg")


@pytest.fixture(scope="module")
def fitted():
    courses, _ = tl.simulate.replicated(seed=2)
    return courses, tl.fit(courses)


@pytest.fixture(autouse=True)
def close():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def test_courses_draws_a_line_for_each_course(fitted):
    ax = tl.plot.courses(fitted[0][:4])
    lines = [line for line in ax.lines if line.get_linestyle() == "-"]
    assert len(lines) == 4
    assert ax.get_xlabel() == "time"


def test_pair_shows_both_courses_and_says_the_similarity(fitted):
    courses, gp = fitted
    ax = tl.plot.pair(courses, gp, "A01", "C01")
    expected = tl.similarity(courses, gp).values[0, 100]
    assert f"s = {expected:.2f}" in ax.get_title(loc="left")
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["one curve for both", "A01", "C01"]


def test_explanation_bars_sum_to_the_similarity(fitted):
    why = tl.explain(*fitted, "A01", "C01")
    ax = tl.plot.explanation(why)
    assert sum(bar.get_height() for bar in ax.patches) == pytest.approx(why.similarity)


def test_heatmap_in_an_order(fitted):
    courses, gp = fitted
    S = tl.similarity(courses[:6], gp)
    order = np.array([5, 4, 3, 2, 1, 0])
    ax = tl.plot.heatmap(S, order=order)
    np.testing.assert_array_equal(ax.images[0].get_array(), S.values[::-1, ::-1])


def test_draws_on_given_axes_and_saves_cleanly(fitted, tmp_path):
    axes = tl.plot.panels(3)
    assert tl.plot.courses(fitted[0], ax=axes[0]) is axes[0]
    for ending in ("svg", "pdf", "png"):
        axes[0].figure.savefig(tmp_path / f"f.{ending}")
        assert (tmp_path / f"f.{ending}").stat().st_size > 1000


def test_points_with_two_coordinates_have_no_time_axis():
    plane = tl.TimeCourses.from_arrays(np.array([[0, 0], [0, 1]]), [[1.0, 2.0]])
    with pytest.raises(tl.InputError, match="one coordinate"):
        tl.plot.courses(plane)
