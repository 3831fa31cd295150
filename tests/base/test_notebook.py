"""What notebooks show: well-formed, escaped, small, in the page's colours, and saying what matters."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest

import slowing
import timelike as tl
from timelike.base import notebook
from timelike.pairs.nearest.neighbors import neighbors

EVIL = '<script>alert("x")</script>&\'</td>'
SMALL = 50_000


@pytest.fixture(scope="module")
def courses():
    return tl.simulate.profiles(noise=0.05, per_group=12, seed=1)[0]


@pytest.fixture(scope="module")
def gp(courses):
    return tl.fit(courses)


@pytest.fixture(scope="module")
def nouns(courses, gp):
    """One of each noun, with names that try to break out."""
    return all_nouns(renamed(courses, lambda i: f"{EVIL}{i}"), gp)


def renamed(courses, name):
    times, values = courses.to_matrix()
    return tl.TimeCourses.from_arrays(times, values, names=[name(i) for i in range(len(courses))])


def all_nouns(courses, gp):
    S = tl.similarity(courses, gp)
    return {
        "courses": courses,
        "model": replace(gp, warnings=(EVIL,)),
        "mixture": tl.mixture(courses, gp, 3),
        "linkage": tl.hierarchical(S, 4),
        "explanation": tl.explain(courses, gp, 0, 20),
        "similarity": S,
        "neighbors": neighbors(courses, gp, k=5),
    }


KINDS = ("courses", "model", "mixture", "linkage", "explanation", "similarity", "neighbors")


def shown(noun):
    return noun._repr_html_()


def parsed(html):
    """The fragment as a tree; an error where a tag or a quote is not closed."""
    return ET.fromstring(html.replace("&nbsp;", " "))  # noqa: S314 - our own


def text(html):
    return " ".join(parsed(html).itertext())


@pytest.mark.parametrize("kind", KINDS)
def test_names_cannot_break_out(nouns, kind):
    html = shown(nouns[kind])
    assert "<script" not in html
    root = parsed(html)
    allowed = {"div", "table", "thead", "tbody", "tr", "th", "td", "svg", "path", "text", "g", "span"}
    assert {element.tag for element in root.iter()} <= allowed
    if kind != "mixture":  # which shows no names
        assert "<script>alert" in "".join(root.itertext())


@pytest.mark.parametrize("kind", KINDS)
def test_small_and_nothing_from_elsewhere(nouns, kind):
    html = shown(nouns[kind])
    assert len(html.encode()) < SMALL
    assert [word for word in ("http", "src=", "url(", "onload", "<style", "<link") if word in html] == []


@pytest.mark.parametrize("kind", KINDS)
def test_colors_are_those_of_the_page(nouns, kind):
    """Nothing black, white or grey is fixed, and no background: that would vanish on a dark or a light page."""
    html = shown(nouns[kind]).replace(" ", "")
    assert "background" not in html
    fixed = {word for word in html.replace('"', " ").replace(";", " ").split() if word.startswith(("#", "color:#"))}
    assert {word.removeprefix("color:") for word in fixed} <= set(notebook.COLORS)


@pytest.mark.parametrize("count", [1, 2, 5000])
def test_size_is_bounded(count):
    """Long names, many courses, long courses."""
    rng = np.random.default_rng(0)
    times = np.sort(rng.uniform(0, 1000, 400))
    X = rng.normal(size=(count, 400))
    many = tl.TimeCourses.from_arrays(times, X, names=[f"{i}" + "name" * 500 for i in range(count)])
    assert len(shown(many)) < SMALL


def test_many_clusters_stay_small(courses, gp):
    found = tl.evidence_linkage(courses, gp, 30)
    html = shown(found)
    assert len(html) < SMALL
    assert len(list(parsed(html).iter("svg"))) == notebook.PANELS
    assert "... and 18 more clusters." in text(html)


def test_courses_show_summary_lines_and_head(courses):
    html = shown(courses)
    assert repr(courses) in text(html)
    lines = next(parsed(html).iter("svg")).findall("path")
    assert lines[1].get("d").count("M") == len(courses)
    assert [row[0].text for row in parsed(html).iter("tr")][1:] == list(courses.names[:5])
    assert "... and 31 more courses." in text(html)


def test_lines_are_where_the_values_are():
    one = tl.TimeCourses.from_arrays([0, 1, 1, 4], [[0, 1, 3, 4]])
    d = next(parsed(shown(one)).iter("svg")).findall("path")[1].get("d")
    points = [tuple(map(int, p.split())) for p in d.removeprefix("M").split("L")]
    assert [x for x, _ in points] == [4, 107, 416]  # two replicates at time 1 are one point
    assert [y for _, y in points] == [126, 65, 4]


@pytest.mark.parametrize("values", [[[2.0]], [[1e150, -1e150]], [[5.0, 5.0]]])
def test_odd_courses_are_drawn(values):
    one = tl.TimeCourses.from_arrays(np.arange(len(values[0])), values)
    assert "nan" not in shown(one).split("<table")[0]
    assert len(list(parsed(shown(one)).iter("svg"))) == 1


def test_courses_in_space_have_a_table_but_no_figure():
    found = tl.TimeCourses.from_arrays(np.array([[0, 0], [1, 2], [3, 1]]), [[1, 2, 3], [2, 3, 4]])
    root = parsed(shown(found))
    assert not list(root.iter("svg"))
    assert len(list(root.iter("tr"))) == 3
    flat = tl.evidence_linkage(found, tl.GP.se(1.0, signal_sd=1, noise_sd=0.3), 2)
    assert "2 clusters" in text(shown(flat))


def test_model_says_what_its_numbers_mean(courses, gp):
    said = text(shown(gp))
    for value in (gp.length_scale, gp.signal_sd, gp.noise_sd, gp.mean, gp.log_likelihood):
        assert f"{value:.4g}" in said
    assert "scatter" in said
    assert "Look again" not in said
    assert "Look again: beware." in text(shown(replace(gp, warnings=("beware.",))))
    given = text(shown(tl.GP.se(2, signal_sd=1, noise_sd=0.5)))
    assert "log likelihood" not in given
    assert "period" not in given


def test_model_on_a_clock():
    said = text(shown(tl.GP.se(2, signal_sd=1, noise_sd=0.5, clock=37)))
    assert "37" in said
    assert "slower and slower" in said
    assert "clock" not in text(shown(tl.GP.se(2, signal_sd=1, noise_sd=0.5)))


def test_times_of_a_figure_are_on_the_clock():
    found = slowing.made(per_group=3)[0]
    for gp in (slowing.model(), slowing.model(clock=None)):
        drawn = re.findall(r"[ML](\d+) ", shown(tl.mixture(found, gp, 3)))
        places = slowing.TIMES if gp.clock is None else gp.kernel.time(slowing.TIMES)
        assert {f"{4 + 182 * x / places[-1]:.0f}" for x in places} <= set(drawn)
        bars = np.array(re.findall(r"M(\d+\.\d) ", shown(tl.explain(found, gp, 0, 1))), dtype=float)
        between = (bars[:12] + bars[12:]) / 2  # of the bars of both courses
        np.testing.assert_allclose(between, 10 + 400 * places / places[-1], atol=0.11)


def test_model_with_another_kernel():
    from sklearn.gaussian_process.kernels import DotProduct, ExpSineSquared

    assert "24" in text(shown(tl.GP(ExpSineSquared(1.0, 24.0), 1, 0.1)))
    assert "length scale" not in text(shown(tl.GP(DotProduct(), 1, 0.1)))


def test_signal_of_a_line_is_its_slope():
    from sklearn.gaussian_process.kernels import RBF, DotProduct

    size = "how far curves go from the mean"
    for kernel in ("se", "matern32", "periodic"):
        assert size in text(shown(tl.GP(kernel, 1, 0.1)))
    line = text(shown(tl.GP("linear", 1, 0.1)))
    assert size not in line
    assert "how far lines rise in a unit of time" in line
    both = text(shown(tl.GP(RBF() + DotProduct(), 1, 0.1)))
    assert size not in both
    assert "factor of the kernel" in both


def test_mixture_shows_a_panel_with_its_curve_for_each_cluster(courses, gp):
    found = tl.mixture(courses, gp, 3)
    root = parsed(shown(found))
    panels = list(root.iter("svg"))
    assert [svg.get("aria-label") for svg in panels] == [f"cluster {k}, {n} courses" for k, n in enumerate(found.sizes)]
    for svg, size in zip(panels, found.sizes, strict=True):
        _, band, members, curve = svg.findall("path")
        assert band.get("d").endswith("Z")
        assert members.get("d").count("M") == min(size, notebook.MEMBERS)
        assert curve.get("stroke") == notebook.COLORS[1]


def test_mixture_says_that_it_is_a_continuum(courses, gp):
    from dataclasses import replace

    found = tl.mixture(courses, gp, 3)
    assert "continuum" not in text(shown(found))
    assert "continuum rather than clusters" in text(shown(replace(found, continuum=True)))


def test_mixture_counts_what_is_in_none(courses, gp):
    times, values = courses.to_matrix()
    odd = tl.TimeCourses.from_arrays(times, np.vstack([values, 2 * np.cos(9 * times)]))
    found = tl.mixture(odd, gp, spread=0.0, robust=False)
    assert "1 in none: a curve of their own" in text(shown(found))


def test_linkage_shows_sizes_and_first_names(courses, gp):
    found = tl.hierarchical(tl.similarity(courses, gp), 2)
    rows = [[cell.text for cell in row] for row in parsed(shown(found)).iter("tr")][1:]
    assert [int(row[1]) for row in rows] == list(found.sizes)
    first = [n for n, label in zip(found.names, found.labels, strict=True) if label == 0][:4]
    assert rows[0][2] == ", ".join(first) + ", ..."


def test_explanation_has_a_bar_for_each_value(courses, gp):
    why = tl.explain(courses, gp, "A01", "C01")
    svg = next(parsed(shown(why)).iter("svg"))
    bars = svg.findall("path")[2:]
    assert [bar.get("stroke") for bar in bars] == list(notebook.COLORS)
    for bar, share in zip(bars, why.contributions, strict=True):
        ends = [piece.replace("V", " ").split() for piece in bar.get("d").removeprefix("M").split("M")]
        up = np.array([float(zero) - float(top) for _, zero, top in ends])
        tall = np.abs(share) > 0.05
        np.testing.assert_array_equal(np.sign(up[tall]), np.sign(share[tall]))
        assert np.abs(up).argmax() == np.abs(share).argmax()
    assert "two curves explain them better" in text(shown(why))
    assert "one curve explains both better" in text(shown(tl.explain(courses, gp, "A01", "A02")))


def test_similarity_shows_a_corner(courses, gp):
    S = tl.similarity(courses, gp)
    rows = [[cell.text for cell in row] for row in parsed(shown(S)).iter("tr")]
    assert rows[0][1:] == list(S.names[:6])
    assert rows[2][1:] == [f"{s:.4g}" for s in S.values[1, :6]]
    assert "to_frame() has all" in text(shown(S))
    small = tl.similarity(courses[:2], gp, courses[3:6])
    rows = [[cell.text for cell in row] for row in parsed(shown(small)).iter("tr")]
    assert rows[0][1:] == list(courses.names[3:6])
    assert "to_frame() has all" not in text(shown(small))


def test_neighbors_show_names_and_scores(courses, gp):
    found = neighbors(courses[:4], gp, k=2, others=courses[10:])
    rows = [[cell.text for cell in row] for row in parsed(shown(found)).iter("tr")]
    best = f"{courses[10:].names[found.indices[1, 0]]} ({found.scores[1, 0]:.3g})"
    assert rows[2] == [courses.names[1], best, rows[2][2]]
    assert rows[0] == ["course", "nearest 1", "nearest 2"]
