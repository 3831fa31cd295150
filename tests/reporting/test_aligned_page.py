"""Courses that differ in level, gain and delay in a report: aligned or as measured, their order, and plain words."""

import base64
import csv
import io
import json
import re

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import ExpSineSquared

import timelike as tl
from browser import opened, running_browser
from timelike.reporting import freedoms
from timelike.reporting.methods_paragraph import methods
from timelike.reporting.page_data import content
from timelike.reporting.report import report
from timelike.reporting.subject import Naming, Subject
from timelike.reporting.words import model, summary

UP_TO = ("level", "gain", "delay")
GP = tl.GP.se(4.0, 1.2, 0.15)
HOSTILE = "</script><img src=x onerror=alert(1)>"


def made(per_group=12, seed=1):
    """A bump and a fall, each course at a level, a size and a time of its own."""
    rng = np.random.default_rng(seed)
    x, count = np.linspace(0, 24, 13), 2 * per_group
    at = x - rng.uniform(-2.5, 2.5, (count, 1))
    shapes = np.where(np.arange(count)[:, None] < per_group, 2 * np.exp(-(((at - 8) / 3.5) ** 2)), -np.tanh(at / 3 - 4))
    values = rng.normal(5, 2, (count, 1)) + np.exp(0.35 * rng.standard_normal((count, 1))) * shapes
    names = [HOSTILE, *(f"g{i:02d}" for i in range(1, count))]
    return tl.TimeCourses.from_arrays(x, values + 0.15 * rng.standard_normal(values.shape), names)


@pytest.fixture(scope="module")
def study():
    courses = made()
    return courses, tl.mixture(courses, GP, k=2, up_to=UP_TO, max_delay=6.0)


def subject_of(courses, gp, clustering, **settings):
    near = settings.pop("neighbors", None) or tl.neighbors(courses, gp, k=3)
    naming = Naming("Shifted", "h", "level")
    return Subject(courses=courses, gp=gp, clustering=clustering, neighbors=near, naming=naming, **settings)


@pytest.fixture(scope="module")
def subject(study):
    near = tl.neighbors(study[0], GP, k=3, up_to=UP_TO, max_delay=6.0)
    return subject_of(study[0], GP, study[1], neighbors=near)


@pytest.fixture(scope="module")
def plain():
    courses, _ = tl.simulate.profiles(per_group=10, seed=1)
    gp = tl.fit(courses)
    return subject_of(courses, gp, tl.mixture(courses, gp, k=3))


@pytest.fixture(scope="module")
def browser():
    with running_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def page_path(study, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    return report(path, study[0], GP, study[1], title="Shifted", time_unit="h", value_name="level")


@pytest.fixture
def page(browser, page_path):
    with opened(browser, page_path) as page:
        yield page


def unpacked(entry):
    return np.frombuffer(base64.b64decode(entry["data"]), dtype=entry["type"])


def spoken(text):
    return [float(found.replace("\u2212", "-")) for found in re.findall(r"\u2212?\d+(?:\.\d+)?", text)]


def open_course(page, name):
    page.fill("#search", name)
    page.press("#search", "Enter")


# -- data and words --------------------------------------------------------------------------------------------------


def test_a_page_without_freedoms_has_nothing_of_them(plain):
    data = content(plain)
    assert not {"freed", "delayed"} & set(data)
    assert set(data["neighbors"]) == {"count", "indices", "scores"}
    assert freedoms.earned(plain) == []
    assert "delay" not in " ".join([*summary(plain), *methods(plain)])


def test_the_data_are_those_of_the_clustering(subject, study):
    _, found = study
    data = content(subject)["freed"]
    for name in UP_TO:
        for part, expected in getattr(found, name)._asdict().items():
            np.testing.assert_allclose(unpacked(data[name][part]), expected, atol=1e-3)
    grid = unpacked(data["grid"])
    moved = found.aligned().times
    assert (grid[0], grid[-1]) == pytest.approx((moved.min(), moved.max()))
    curves = unpacked(data["curves"]).reshape(found.k, -1)
    np.testing.assert_allclose(curves, found.curves(grid).mean - GP.mean, atol=1e-5)


def test_values_scatter_around_the_curve_that_they_are_moved_to(subject):
    assert subject.scatter == pytest.approx([0.17] * 2, abs=0.06)


def test_values_scatter_around_the_curve_also_outside_the_measured_times():
    rng = np.random.default_rng(0)
    x, at = np.arange(0, 120, 8.0), rng.uniform(0, 60, (20, 1))
    waves = tl.TimeCourses.from_arrays(x, np.cos(2 * np.pi * (x - at) / 60) + 0.2 * rng.standard_normal((20, len(x))))
    gp = tl.GP(ExpSineSquared(1.5, 60.0), 1.0, 0.2)
    found = subject_of(waves, gp, tl.mixture(waves, gp, k=1, up_to="delay"))
    assert found.scatter == pytest.approx([0.2], abs=0.06)


def test_what_each_freedom_earns_is_said_once(subject, study):
    paid = ", ".join(f"{name} {gain:.2g}" for name, gain in study[1].earned.items())
    said = "Courses of a cluster may differ in level, gain and delay. What each adds to the log evidence of a course: "
    assert " ".join(summary(subject)).count(f"{said}{paid}.") == 1


def test_methods_and_model_have_the_freedoms_and_no_noise_of_courses(subject):
    said = methods(subject)[0]
    assert "Each course had a level of its own, which was integrated out, a gain (log-normal, s.d. of the" in said
    assert "a delay (at most 3 h to either side" in said
    assert "noise of each course" not in said
    assert "Noise of courses" not in dict(model(subject))


def test_neighbours_say_up_to_what_they_are_alike(study):
    courses, found = study
    near = {
        (): tl.neighbors(courses, GP, k=3),
        ("level",): tl.neighbors(courses, GP, k=3, up_to="level"),
        ("level", "gain"): tl.neighbors(courses, GP, k=3, up_to=("level", "gain")),
    }
    for names, nearest in near.items():
        assert freedoms.up_to(subject_of(courses, GP, found, neighbors=nearest)) == names


def test_by_default_neighbours_have_the_freedoms_of_the_clusters(page_path, study):
    text = page_path.read_text(encoding="utf-8")
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1])
    near = tl.neighbors(study[0], GP, k=10, up_to=UP_TO, max_delay=6.0)
    np.testing.assert_allclose(unpacked(data["neighbors"]["scores"]), near.scores.ravel(), atol=1e-3)
    assert data["neighbors"]["moved"]["words"] == "level, gain and delay"
    np.testing.assert_allclose(unpacked(data["neighbors"]["moved"]["delay"]["mean"]), near.delay.ravel(), atol=1e-2)


# -- in the browser --------------------------------------------------------------------------------------------------


def dots(page, host):
    """Names, times and values of the dots of a figure, as they are said to those who point at them."""
    texts = page.locator(f"{host} circle title").evaluate_all("nodes => nodes.map(n => n.textContent)")
    return np.array([[float(x.replace("\u2212", "-")) for x in re.findall(r"at (.*): (.*)$", t)[0]] for t in texts])


def test_a_course_is_drawn_aligned_or_as_measured(page, study):
    courses, found = study
    open_course(page, "g05")
    figure = "#course > .figure"
    moved = found.aligned()["g05"]
    np.testing.assert_allclose(dots(page, figure), np.column_stack([moved.times, moved.values]), rtol=1e-3)
    assert "time (h), aligned" in page.inner_text(figure)
    page.locator("#course select.align").select_option("measured")
    course = courses["g05"]
    np.testing.assert_allclose(dots(page, figure), np.column_stack([course.times, course.values]), rtol=1e-3)
    assert "aligned" not in page.inner_text(figure)
    assert page.locator("#align select").input_value() == "measured"
    assert page.inner_text("#align-words").startswith("Courses are drawn as they were measured.")


def test_panels_follow_the_switch_and_draw_the_band_only_where_it_holds(page):
    def drawn():
        paths = page.locator("#panels .panel").first.locator("svg g path")
        return paths.evaluate_all("p => p.map(n => n.getAttribute('d'))")

    aligned = drawn()
    page.locator("#align select").select_option("measured")
    measured = drawn()
    assert len(aligned) == len(measured) + 1 == 4  # courses, band, halo, curve
    assert aligned[0] != measured[0]
    page.locator("#align select").select_option("aligned")
    assert drawn() == aligned


def test_the_choice_stays_chosen(page, page_path):
    page.locator("#align select").select_option("measured")
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert page.locator("#align select").input_value() == "measured"
    assert "aligned" not in page.inner_text("#course > .figure")


def test_level_gain_and_delay_in_words(page, study):
    courses, found = study
    for name in ("g03", "g14"):
        open_course(page, name)
        words, i = page.inner_text(".placing"), courses.index(name)
        side = "later" if found.delay.mean[i] >= 0 else "earlier"
        assert f" h {side} (" in words
        said = spoken(words.replace("90 %", ""))
        expected = np.concatenate([[getattr(found, n)[p][i] for p in range(3)] for n in ("delay", "gain", "level")])
        expected[:3] = np.abs(expected[:3])
        if found.delay.high[i] < 0:
            expected[1:3] = expected[2:0:-1]
        np.testing.assert_allclose(said, expected, atol=0.06)


def test_cards_have_the_range_of_delays(page, study):
    _, found = study
    page.locator("#panels .panel button").first.click()
    words = page.inner_text("#cluster")
    delays = found.delay.mean[found.labels == 0]
    said = spoken(re.search(r"delays (.*?) h", words)[1])
    np.testing.assert_allclose(said, [delays.min(), delays.max()], rtol=0.06)


def test_the_order_has_every_course_with_its_interval(page, study):
    courses, found = study
    marks = page.locator("#order-figure .mark")
    assert marks.count() == len(courses)
    order = [int(i) for i in marks.evaluate_all("nodes => nodes.map(n => n.dataset.course)")]
    assert order == np.lexsort((found.delay.mean, found.labels)).tolist()
    page.select_option("#order-of", "gain")
    first = int(page.locator("#order-figure .mark").first.get_attribute("data-course"))
    assert first == np.flatnonzero(found.labels == 0)[found.gain.mean[found.labels == 0].argmin()]
    page.locator(f"#order-figure .mark[data-course='{courses.index('g07')}'] circle").click()
    assert page.inner_text("#course h3") == "g07"


def test_two_courses_aligned_and_as_measured(page, study):
    courses, _ = study
    open_course(page, "g05")
    assert page.inner_text("#alike") == "Alike up to level, gain and delay: s allows for these."
    other = page.locator(".neighbors tbody th").first.inner_text()
    found = tl.match(courses, GP, "g05", other, up_to=UP_TO, max_delay=6.0)
    shown = page.inner_text("#aligned-similarity")
    assert shown.startswith("Up to level, gain and delay: s = ")
    assert spoken(shown)[0] == pytest.approx(found.s, abs=0.01)
    said = spoken(page.inner_text("#aligned-how").replace(other, "").replace("g05", ""))
    np.testing.assert_allclose(said[0], abs(found.delay), atol=0.1)
    assert page.locator(".verdict").nth(1).inner_text().startswith("As measured: s = ")
    plain = tl.explain(courses, GP, "g05", other).similarity
    assert spoken(page.inner_text("#similarity"))[0] == pytest.approx(plain, abs=0.006)


def test_a_pair_that_are_no_neighbours_is_compared_as_measured(browser, study, tmp_path):
    courses, found = study
    near = tl.neighbors(courses, GP, k=2)
    path = report(tmp_path / "plain.html", courses, GP, found, neighbors=near)
    with opened(browser, path) as page:
        assert page.inner_text("#alike") == "Alike as measured: s allows for no level, gain or delay."
        assert page.locator("#aligned-similarity").count() == 0
        assert page.locator(".verdict").inner_text().startswith("As measured: s = ")


def test_files_have_what_was_found(page, study):
    _, found = study
    with page.expect_download() as waiting:
        page.locator(".menu summary").click()
        page.click("#csv-all")
    rows = list(csv.DictReader(io.StringIO(waiting.value.path().read_text(encoding="utf-8"))))
    for name, known in (("delay", found.delay), ("gain", found.gain), ("level", found.level)):
        for ending, expected in (("", known.mean), ("_low", known.low), ("_high", known.high)):
            np.testing.assert_allclose([float(row[name + ending]) for row in rows], expected, atol=1e-3)


def test_phases_are_a_circle_and_levels_alone_have_no_delays(browser, tmp_path):
    rng = np.random.default_rng(0)
    x, at = np.arange(0, 120, 8.0), rng.uniform(0, 60, (20, 1))
    waves = tl.TimeCourses.from_arrays(x, np.cos(2 * np.pi * (x - at) / 60) + 0.2 * rng.standard_normal((20, len(x))))
    gp = tl.GP(ExpSineSquared(1.5, 60.0), 1.0, 0.2)
    path = report(tmp_path / "phases.html", waves, gp, tl.mixture(waves, gp, k=1, up_to="delay"))
    with opened(browser, path) as page:
        assert page.locator("#order-figure svg").get_attribute("aria-label").startswith("phases of 20 courses")
    courses = made()
    path = report(tmp_path / "levels.html", courses, GP, tl.mixture(courses, GP, k=2, up_to="level"))
    with opened(browser, path) as page:
        assert page.locator("#order-of option").all_inner_texts() == ["level"]
        assert "earliest" not in page.inner_text("#heatmap")
        assert "time (h)" not in page.inner_text("#course > .figure")
        assert "value, aligned" in page.inner_text("#course > .figure")


def test_nothing_of_it_on_a_page_without_freedoms(browser, plain, tmp_path):
    path = report(tmp_path / "plain.html", plain.courses, plain.gp, plain.clustering)
    with opened(browser, path) as page:
        for gone in ("#order", "#align", "#align-words", "select.align", ".placing", "#alike"):
            assert page.locator(gone).count() == 0
        assert "aligned" not in page.inner_text("main")
