"""The clock in a report: in its words, in its data, and on its axes."""

import base64

import numpy as np
import pytest

import slowing
import timelike as tl
from browser import opened, running_browser
from timelike.gp.clock import Clocked
from timelike.reporting import page_basis
from timelike.reporting.methods_paragraph import methods
from timelike.reporting.page_basis import features, interpolation
from timelike.reporting.page_data import content
from timelike.reporting.report import page, report
from timelike.reporting.subject import Naming, Subject
from timelike.reporting.words import in_a_sentence, model


def unpacked(entry):
    return np.frombuffer(base64.b64decode(entry["data"]), dtype=entry["type"])


def subject(courses, gp, k=3, **settings):
    found = tl.mixture(courses, gp, k=k)
    naming = Naming("Slowing", "h", "level")
    near = tl.neighbors(courses, gp, k=3)
    return Subject(courses=courses, gp=gp, clustering=found, neighbors=near, naming=naming, **settings)


@pytest.fixture(scope="module")
def clocked():
    return subject(slowing.made()[0], slowing.model())


@pytest.fixture(scope="module")
def plain():
    return subject(slowing.made()[0], slowing.model(clock=None))


# -- words -------------------------------------------------------------------------------------------------------------


def test_the_length_scale_is_said_early_and_late(clocked, plain):
    late = 1.5 * (1 + 80 / 2)
    assert "about 1.5 h apart on one curve begin to differ at the start of the time course" in in_a_sentence(clocked)
    assert f"about {late:.3g} h apart at its end" in in_a_sentence(clocked)
    assert in_a_sentence(plain).startswith("Values 1.5 h apart on one curve begin to differ")
    assert dict(model(clocked))["Length scale"].startswith("1.5 h. Curves change fast early and slowly late")


def test_the_clock_is_explained_and_where_it_came_from():
    courses = slowing.made(per_group=5)[0]
    with pytest.warns(tl.FitWarning, match="clock"):
        fitted = tl.fit(courses)
    given = tl.fit(courses, clock=2.0)
    for gp, run, why in (
        (fitted, {}, "chosen because the courses are clearly likelier on it than in plain time"),
        (fitted, {"clock": "auto"}, "chosen because"),
        (fitted, {"clock": 2.0}, "It was given"),
        (given, {}, "It was given"),
        (slowing.model(), {}, "It was given"),
    ):
        said = dict(model(subject(courses, gp, run=run)))["Clock"]
        assert said.startswith(f"{gp.clock:.3g} h. Time is counted on a clock that runs slower and slower")
        assert why in said
    assert "Clock" not in dict(model(subject(courses, slowing.model(clock=None))))


def test_methods_have_the_formula(clocked, plain):
    assert "times t were transformed to 2 log(1 + t / 2) h in the kernel" in methods(clocked)[0]
    assert "transformed" not in methods(plain)[0]
    later = tl.GP(Clocked(tl.GP.se(1, 1, 1).kernel, 2.0, 5.0), 1, 0.1)
    assert "2 log(1 + (t - 5) / 2)" in methods(subject(slowing.made(start=5.0)[0], later))[0]
    around = tl.GP(Clocked(tl.GP.se(1, 1, 1).kernel, 2.0, None), 1, 0.1)
    both = subject(slowing.made(start=-4.0)[0], around)
    assert "2 asinh(t / 2)" in methods(both)[0]
    assert "around time zero" in in_a_sentence(both)
    assert "since time zero" in dict(model(both))["Clock"]


# -- data --------------------------------------------------------------------------------------------------------------


def test_data_have_what_tells_the_time_and_a_grid_that_is_even_on_it(clocked, plain):
    data = content(clocked)
    assert data["clock"] == {"tau": 2.0, "start": 0.0}
    gaps = np.diff(clocked.gp.kernel.time(unpacked(data["grid"])))
    np.testing.assert_allclose(gaps, gaps[0], rtol=1e-9)
    assert content(plain)["clock"] is None
    gaps = np.diff(unpacked(content(plain)["grid"]))
    np.testing.assert_allclose(gaps, gaps[0], rtol=1e-9)


def test_times_are_as_exact_as_a_fast_clock_needs():
    times = np.concatenate([[0], np.geomspace(1e-3, 1e5, 11)]) + 1e4
    courses = tl.TimeCourses.from_arrays(times, 0.1 * np.random.default_rng(0).normal(size=(6, 12)))
    gp = tl.GP(Clocked(tl.GP.se(1, 1, 1).kernel, 1e-3, 1e4), 1, 0.3)
    found = unpacked(content(subject(courses, gp, k=1))["times"])
    np.testing.assert_allclose(gp.kernel.time(found), gp.kernel.time(times), atol=1e-6)


def test_few_nodes_are_enough_on_the_clock(monkeypatch):
    monkeypatch.setattr(page_basis, "SMALL", 4)
    rng = np.random.default_rng(1)
    courses = tl.TimeCourses.from_arrays(
        [np.sort(1000 * rng.random(8) ** 4) for _ in range(60)], rng.normal(size=(60, 8))
    )
    gp = slowing.model()
    found = features(courses, gp, np.array([0.0, 1000.0]))
    assert len(found.nodes) <= 64
    times = np.array([0.01, 3.0, 900.0])
    phi = interpolation(found.nodes, gp.kernel.time(times)) @ found.phi
    np.testing.assert_allclose(phi @ phi.T, gp.covariance(times[:, None]), atol=1e-6)


def test_the_page_has_its_switch_in_any_case(clocked, plain):
    assert all('id="time-axis"' in page(each) for each in (clocked, plain))  # the program removes it where it is idle


# -- in a browser ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser():
    with running_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def path(clocked, tmp_path_factory):
    place = tmp_path_factory.mktemp("clock") / "report.html"
    return report(place, clocked.courses, clocked.gp, clocked.clustering, time_unit="h")


def ticks(page, figure, number=0):
    """Places and numbers of the labels below a figure, the lowest in it that stand in the middle of their place."""
    texts = page.locator(figure).nth(number).locator("svg").first.locator("text[text-anchor=middle][x]")
    found = texts.evaluate_all(
        "nodes => nodes.map((n) => [n.getAttribute('x'), n.textContent, n.getAttribute('y')].map(Number))"
    )
    numbers = np.array(found)
    return numbers[numbers[:, 2] == numbers[:, 2].max(), :2]


def assert_along(found, place):
    """Labels stand where the axis says."""
    x, time = found.T
    assert len(x) > 2
    shown = place(time)
    expected = x[0] + (shown - shown[0]) * (x[-1] - x[0]) / (shown[-1] - shown[0])
    np.testing.assert_allclose(x, expected, atol=0.5)


FIGURES = (("#panels .panel", 0), ("#course > .figure", 0), (".comparison .figure", 0), (".comparison .figure", 1))


def test_axes_run_on_the_clock_or_on_plain_time(browser, path, clocked):
    with opened(browser, path) as page:
        for figure in FIGURES:
            found = ticks(page, *figure)
            assert set(found[:, 1]) <= set(slowing.TIMES)
            assert_along(found, clocked.gp.kernel.time)
        assert "plain time" in page.get_attribute("#time-axis", "aria-label")
        page.click("#time-axis")
        for figure in FIGURES[1:]:
            assert_along(ticks(page, *figure), np.asarray)
        assert page.inner_text("#time-axis") == "On the clock"
        page.click("#time-axis")
        assert_along(ticks(page, *FIGURES[0]), clocked.gp.kernel.time)


def test_dots_stand_at_their_times(browser, path, clocked):
    with opened(browser, path) as page:
        labels = ticks(page, "#course > .figure")
        dots = page.locator("#course > .figure circle:has(title)").evaluate_all(
            "n => n.map((c) => Number(c.getAttribute('cx')))"
        )
        x, shown = labels[:, 0], clocked.gp.kernel.time(labels[:, 1])
        expected = np.interp(clocked.gp.kernel.time(slowing.TIMES), shown, x)
        np.testing.assert_allclose(np.sort(dots), expected, atol=0.5)


def test_the_choice_stays_chosen(browser, path):
    with opened(browser, path) as page:
        page.click("#time-axis")
        page.reload()
        page.wait_for_selector("html[data-ready]")
        assert page.inner_text("#time-axis") == "On the clock"
        assert_along(ticks(page, *FIGURES[1]), np.asarray)


def test_without_a_clock_there_is_no_switch(browser, plain, tmp_path):
    place = report(tmp_path / "plain.html", plain.courses, plain.gp, plain.clustering)
    with opened(browser, place) as page:
        assert page.locator("#time-axis").count() == 0
        assert page.locator("text=on the model's clock").count() == 0
        assert_along(ticks(page, *FIGURES[1]), np.asarray)


def test_numbers_of_own_times_on_a_clock(browser, tmp_path, monkeypatch):
    """Curves and similarities that the page computes from nodes on the clock are the library's; ticks are round."""
    rng = np.random.default_rng(2)
    times = [np.sort(90 * rng.random(7) ** 3) for _ in range(24)]
    values = [np.sin(i % 3 + np.log1p(t)) + 0.1 * rng.normal(size=7) for i, t in enumerate(times)]
    courses, gp = tl.TimeCourses.from_arrays(times, values), slowing.model()
    monkeypatch.setattr(page_basis, "SMALL", 4)
    place = report(tmp_path / "own.html", courses, gp, tl.mixture(courses, gp, k=3))
    first, second = courses.names[:2]
    with opened(browser, place) as page:
        at = np.array(page.evaluate("timelikeReport.times"))
        mean = page.evaluate("name => Array.from(timelikeReport.curve(name).mean)", first)
        np.testing.assert_allclose(mean, gp.posterior(courses.select([first]), at).mean, atol=1e-3 * gp.noise_sd)
        s = page.evaluate("([a, b]) => timelikeReport.explain(a, b).s", [first, second])
        assert s == pytest.approx(tl.explain(courses, gp, first, second).similarity, abs=1e-3)
        for figure in ("#panels .panel", "#heatmap-figure"):
            assert_along(ticks(page, figure), gp.kernel.time)
        page.click("#time-axis")
        assert_along(ticks(page, "#heatmap-figure"), np.asarray)
