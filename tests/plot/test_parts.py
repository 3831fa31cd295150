"""Pages and files: given Axes, sizes of text, and the same figure in the same bytes."""

import os
import re
import subprocess
import sys
import zlib
from collections import Counter

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.layout_engine import ConstrainedLayoutEngine

import timelike as tl
from timelike import plot


def drawn(courses, gp, ax):
    S = tl.similarity(courses, gp)
    found = tl.hierarchical(S, 2)
    yield lambda: plot.courses(courses, ax)
    yield lambda: plot.pair(courses, gp, 0, 1, ax)
    yield lambda: plot.explanation(tl.explain(courses, gp, 0, 1), ax)
    yield lambda: plot.neighbors(courses, gp, 0, tl.neighbors(courses, gp, 3), ax)
    yield lambda: plot.heatmap(S, ax)
    yield lambda: plot.value_heatmap(courses, ax)
    yield lambda: plot.dendrogram(found, ax)
    yield lambda: plot.clusters(found, ax, courses=courses, gp=gp)


def test_given_axes_are_drawn_on_and_nothing_else(replicated):
    courses, gp = replicated
    before = dict(mpl.rcParams)
    ax, other = plot.panels(2)
    for draw in drawn(courses[:8], gp, ax):
        ax.clear()
        assert draw() is ax
        assert ax.has_data()
        assert not other.has_data()
    assert plt.get_fignums() == []
    assert dict(mpl.rcParams) == before


def test_figures_for_print_have_their_size_of_text(replicated):
    ax = plot.courses(replicated[0])
    assert ax.figure.get_size_inches()[0] == 3.5
    ax.figure.draw_without_rendering()
    assert {t.get_size() for t in ax.get_xticklabels()} == {7.0}
    assert ax.xaxis.label.get_size() == 8.0
    (given,) = plot.panels(1)  # on other Axes, the sizes of the session
    plot.courses(replicated[0], given)
    assert given.xaxis.label.get_size() == given.title.get_size() * 10 / 12 == 10.0


def test_a_loop_of_figures_leaves_none_open(replicated, tmp_path):
    for _ in range(25):  # matplotlib warns from 21 on, and warnings are errors here
        plot.save(plot.courses(replicated[0][:2]), tmp_path / "f.png", dpi=20)
    assert plt.get_fignums() == []


def test_several_formats_are_laid_out_once_and_drawn_once_each(replicated, tmp_path, monkeypatch):
    counted = Counter()

    def count(place, name):
        plain = getattr(place, name)
        monkeypatch.setattr(place, name, lambda *args, **named: counted.update([name]) or plain(*args, **named))

    count(ConstrainedLayoutEngine, "execute")
    count(LineCollection, "draw")
    ax = plot.courses(replicated[0], plot.panels(1)[0])
    engine = ax.figure.get_layout_engine()
    plot.save(ax, *(tmp_path / f"f.{ending}" for ending in ("png", "svg", "pdf")), dpi=20)
    assert counted == {"execute": 1, "draw": 3}
    assert ax.figure.get_layout_engine() is engine  # what is changed later finds its place again
    assert len(list(tmp_path.iterdir())) == 3


def test_figures_without_a_window_do_without_pyplot():
    script = (
        "import sys, tempfile, timelike as tl\n"
        "with tempfile.TemporaryDirectory() as folder:\n"
        "    tl.plot.save(tl.plot.panels(1)[0], f'{folder}/f.svg', f'{folder}/f.png')\n"
        "sys.exit('matplotlib.pyplot' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)


SCRIPT = """
import sys, matplotlib; matplotlib.use("Agg")
import timelike as tl
courses, _ = tl.simulate.replicated(seed=2)
gp = tl.GP.se(0.5, 1, 0.1)
axes = tl.plot.panels(3, columns=3, width=7)
tl.plot.courses(tl.TimeCourses.joined(courses, courses), axes[0])
tl.plot.pair(courses, gp, 0, 1, axes[1])
tl.plot.heatmap(tl.similarity(courses[:30], gp), axes[2])
tl.plot.save(axes[0], *sys.argv[1:])
"""


def test_the_same_figure_is_the_same_file(tmp_path):
    made = {}
    for seed in ("1", "2"):
        paths = [tmp_path / f"{seed}.{ending}" for ending in ("svg", "pdf", "png")]
        subprocess.run(
            [sys.executable, "-c", SCRIPT, *paths], check=True, env=os.environ | {"PYTHONHASHSEED": seed}, timeout=120
        )
        made[seed] = [path.read_bytes() for path in paths]
    assert made["1"] == made["2"]
    assert not any(date in file for file in made["1"] for date in (b"dc:date", b"CreationDate", b"tIME"))


def test_text_stays_text(replicated, tmp_path):
    ax = plot.courses(replicated[0], time="time (µs)")
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


def test_an_unknown_ending_is_refused(replicated, tmp_path):
    with pytest.raises(tl.InputError, match=r"ends in one of .*pdf"):
        plot.save(plot.courses(replicated[0]), tmp_path / "f.docx")
    assert list(tmp_path.iterdir()) == []


def test_an_ending_may_be_in_capitals(replicated, tmp_path):
    plot.save(plot.courses(replicated[0]), tmp_path / "f.PNG", dpi=20)
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
