import re
import subprocess
import sys
import zlib
from types import SimpleNamespace

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex

import timelike as tl
from timelike import plot

mpl.use("Agg")


@pytest.fixture(scope="module")
def fitted():
    courses, _ = tl.simulate.replicated(seed=2)
    return courses, tl.fit(courses)


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


def texts(ax):
    return [t.get_text() for t in ax.get_legend().get_texts()]


def nearest_of(courses, gp, k):
    s = tl.similarity(courses, gp).values.copy()
    np.fill_diagonal(s, -np.inf)
    best = (-s).argsort(axis=1)[:, :k]
    return SimpleNamespace(indices=best, scores=np.take_along_axis(s, best, axis=1))


# -- courses -----------------------------------------------------------------------------------------------------


def test_many_courses_are_one_collection_through_the_means_of_replicates():
    values = np.random.default_rng(0).normal(size=(9, 4))
    ax = plot.courses(tl.TimeCourses.from_arrays([0, 0, 1, 5], values), time="time (h)", value="log2 expression")
    lines = ax.collections[0].get_segments()
    assert len(lines) == 9
    np.testing.assert_allclose(lines[3], [[0, values[3, :2].mean()], [1, values[3, 2]], [5, values[3, 3]]])
    assert sorted(ax.lines[0].get_ydata()) == sorted(values.ravel())  # replicates are dots
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title(loc="left")) == ("time (h)", "log2 expression", "9 courses")


def test_few_courses_have_colours_and_names(fitted):
    ax = plot.courses(fitted[0][:3])
    assert texts(ax) == list(fitted[0].names[:3])
    assert len({to_hex(line.get_color()) for line in ax.lines}) == 3
    assert plot.courses(fitted[0][0]).get_title(loc="left") == "A01"


def test_lines_go_straight_on_over_a_gap_and_single_times_are_dots():
    ragged = tl.TimeCourses.from_arrays([[0, 2]] * 7 + [[1]], [[5, 6]] * 7 + [[4]])
    ax = plot.courses(ragged)
    assert ax.collections[0].get_segments()[0].tolist() == [[0, 5], [2, 6]]
    assert ax.lines[0].get_xydata().tolist() == [[1, 4]]
    ax = plot.courses(tl.TimeCourses.from_arrays([1], np.arange(8.0)[:, None]))  # equal times do not join courses
    assert ax.lines[0].get_ydata().tolist() == list(range(8))


def test_known_errors_are_bars():
    courses = tl.TimeCourses.from_arrays([0, 1], [[1, 2], [3, 5]], errors=[[0.1, 0.2], [0.3, 0.4]])
    bars = [segment for c in plot.courses(courses).collections for segment in c.get_segments()]
    np.testing.assert_allclose([np.ptp(bar[:, 1]) / 2 for bar in bars], [0.1, 0.2, 0.3, 0.4])


def test_points_with_two_coordinates_have_no_time_axis():
    plane = tl.TimeCourses.from_arrays(np.array([[0, 0], [0, 1]]), [[1.0, 2.0]])
    with pytest.raises(tl.InputError, match="one coordinate"):
        plot.courses(plane)


# -- pairs and neighbours ----------------------------------------------------------------------------------------


def test_pair_shows_both_courses_and_says_the_similarity(fitted):
    courses, gp = fitted
    ax = plot.pair(courses, gp, "A01", "C01", time="time (h)")
    expected = tl.similarity(courses, gp).values[0, 100]
    assert f"s = {expected:.2f}".replace("-", "\N{MINUS SIGN}") in ax.get_title(loc="left")
    assert texts(ax) == ["A01", "C01", "one curve for both, ± 2 sd", "a curve for each"]
    assert ax.get_xlabel() == "time (h)"


def test_pair_at_a_single_time():
    one = tl.TimeCourses.from_arrays([3.0], [[1.0], [2.0]], names=["a", "b"])
    ax = plot.pair(one, tl.GP.se(1, signal_sd=1, noise_sd=0.3, mean=1.5), "a", "b")
    assert {tuple(line.get_xdata()) for line in ax.lines} == {(3.0,)}


def test_explanation_bars_sum_to_the_similarity(fitted):
    why = tl.explain(*fitted, "A01", "C01")
    ax = plot.explanation(why, time="time (h)")
    assert sum(bar.get_height() for bar in ax.patches) == pytest.approx(why.similarity)
    assert ax.get_xlabel() == "time (h)"


def test_neighbors_are_named_with_their_similarity(fitted):
    courses, gp = fitted
    nearest = nearest_of(courses, gp, 8)
    ax = plot.neighbors(courses, gp, "B02", nearest)
    at = courses.index("B02")
    expected = [
        f"{courses.names[i]}, s = {s:.1f}" for i, s in zip(nearest.indices[at], nearest.scores[at], strict=True)
    ]
    assert [t.replace("\N{MINUS SIGN}", "-") for t in texts(ax)][-8:] == expected
    looks = {(line.get_color(), line.get_linestyle()) for line in ax.lines if "s =" in str(line.get_label())}
    assert len(looks) == 8  # colours come twice, but then with other dashes
    with pytest.raises(tl.InputError, match="neighbours are of 150 courses"):
        plot.neighbors(courses[:4], gp, 0, nearest)
    with pytest.raises(tl.InputError, match="among other courses"):
        plot.neighbors(courses, gp, 0, SimpleNamespace(**vars(nearest), others=("x",)))


# -- pages and files ---------------------------------------------------------------------------------------------


def drawn(courses, gp, ax):
    S = tl.similarity(courses, gp)
    found = tl.hierarchical(S, 2)
    yield lambda: plot.courses(courses, ax)
    yield lambda: plot.pair(courses, gp, 0, 1, ax)
    yield lambda: plot.explanation(tl.explain(courses, gp, 0, 1), ax)
    yield lambda: plot.neighbors(courses, gp, 0, nearest_of(courses, gp, 3), ax)
    yield lambda: plot.heatmap(S, ax)
    yield lambda: plot.value_heatmap(courses, ax)
    yield lambda: plot.dendrogram(found, ax)
    yield lambda: plot.clusters(found, ax, courses=courses, gp=gp)


def test_given_axes_are_drawn_on_and_nothing_else(fitted):
    courses, gp = fitted
    before = dict(mpl.rcParams)
    ax, other = plot.panels(2)
    for draw in drawn(courses[:8], gp, ax):
        ax.clear()
        assert draw() is ax
        assert ax.has_data()
        assert not other.has_data()
    assert plt.get_fignums() == []
    assert dict(mpl.rcParams) == before


def test_figures_for_print_have_their_size_of_text(fitted):
    ax = plot.courses(fitted[0])
    assert ax.figure.get_size_inches()[0] == 3.5
    ax.figure.draw_without_rendering()
    assert {t.get_size() for t in ax.get_xticklabels()} == {7.0}
    assert ax.xaxis.label.get_size() == 8.0
    (given,) = plot.panels(1)  # on other Axes, the sizes of the session
    plot.courses(fitted[0], given)
    assert given.xaxis.label.get_size() == given.title.get_size() * 10 / 12 == 10.0


def test_a_loop_of_figures_leaves_none_open(fitted, tmp_path):
    for _ in range(25):  # matplotlib warns from 21 on, and warnings are errors here
        plot.save(plot.courses(fitted[0][:2]), tmp_path / "f.png", dpi=20)
    assert plt.get_fignums() == []


SCRIPT = """
import sys, matplotlib; matplotlib.use("Agg")
import timelike as tl
courses, _ = tl.simulate.replicated(seed=2)
gp = tl.GP.se(0.5, 1, 0.1)
axes = tl.plot.panels(3, columns=3, width=7)
tl.plot.courses(tl.TimeCourses.joined(courses, courses), axes[0])
tl.plot.pair(courses, gp, 0, 1, axes[1])
tl.plot.heatmap(tl.similarity(courses[:30], gp), axes[2])
for path in sys.argv[1:]:
    tl.plot.save(axes[0], path)
"""


def test_the_same_figure_is_the_same_file(tmp_path):
    made = {}
    for seed in ("1", "2"):
        paths = [tmp_path / f"{seed}.{ending}" for ending in ("svg", "pdf", "png")]
        subprocess.run([sys.executable, "-c", SCRIPT, *paths], check=True, env={"PYTHONHASHSEED": seed}, timeout=120)
        made[seed] = [path.read_bytes() for path in paths]
    assert made["1"] == made["2"]
    assert not any(date in file for file in made["1"] for date in (b"dc:date", b"CreationDate", b"tIME"))


def test_text_stays_text(fitted, tmp_path):
    ax = plot.courses(fitted[0], time="time (µs)")
    plot.save(ax, tmp_path / "f.svg")
    plot.save(ax, tmp_path / "f.pdf")
    svg, pdf = (tmp_path / "f.svg").read_text(encoding="utf-8"), (tmp_path / "f.pdf").read_bytes()
    assert ">time (µs)</text>" in svg
    streams = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL)
    assert b"/FontFile2" in pdf  # an embedded TrueType font
    assert b"/Type3" not in pdf
    assert any(b"Tj" in zlib.decompress(s) or b"TJ" in zlib.decompress(s) for s in streams if s[:1] == b"x")


def test_many_lines_are_pixels_and_few_are_vectors(tmp_path):
    values = np.random.default_rng(0).normal(size=(201, 5))
    for count, pixels in ((200, False), (201, True)):
        plot.save(plot.courses(tl.TimeCourses.from_arrays(range(5), values[:count])), tmp_path / "f.svg")
        assert ("<image" in (tmp_path / "f.svg").read_text(encoding="utf-8")) == pixels


def test_an_unknown_ending_is_refused(fitted, tmp_path):
    with pytest.raises(tl.InputError, match=r"ends in one of .*pdf"):
        plot.save(plot.courses(fitted[0]), tmp_path / "f.docx")
    assert list(tmp_path.iterdir()) == []


def test_an_ending_may_be_in_capitals(fitted, tmp_path):
    plot.save(plot.courses(fitted[0]), tmp_path / "f.PNG", dpi=20)
    assert (tmp_path / "f.PNG").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"count": 0}, "count is 0"),
        ({"count": 2.5}, "count is 2.5"),
        ({"count": 3, "columns": 0}, "columns is 0"),
        ({"count": 3, "columns": True}, "columns is True"),
    ],
)
def test_panels_are_counted_in_whole_numbers(wrong, message):
    with pytest.raises(tl.InputError, match=f"{message}: expected a whole number, at least 1"):
        plot.panels(**wrong)
