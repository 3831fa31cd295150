"""The first screen and the page of a cluster, in words and in a browser."""

import re

import numpy as np
import pytest

import timelike as tl
from browser import opened, running_browser
from timelike.exceptions import DataWarning
from timelike.reporting.report import report
from timelike.reporting.shape_words import course_of, peaks, shapes
from timelike.reporting.subject import Naming, Subject


@pytest.fixture(scope="module")
def browser():
    with running_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def study():
    """Three profiles; one value is so wild that a scale with it would show nothing else; one name is long."""
    made, _ = tl.simulate.profiles(seed=1)
    values = made.values.reshape(len(made), -1).copy()
    values[3, 7] += 60
    names = ["a-very-long-name-of-a-gene-which-no-column-of-any-table-will-ever-hold | drug", *made.names[1:]]
    courses = tl.TimeCourses.from_arrays(made.times[:15], values, names)
    gp = tl.fit(made)
    with pytest.warns(DataWarning, match="count for little"):
        return courses, gp, tl.mixture(courses, gp, k=3)


@pytest.fixture(scope="module")
def page_path(study, tmp_path_factory):
    path = tmp_path_factory.mktemp("first") / "report.html"
    return report(path, *study, title="Profiles", time_unit="h", value_name="level", run={"scaling": "centred"})


@pytest.fixture
def page(browser, page_path):
    with opened(browser, page_path, width=1280, height=800) as page:
        yield page


# -- words -----------------------------------------------------------------------------------------------------


def subject(times, values, noise=0.01):
    courses, gp = tl.TimeCourses.from_arrays(times, values), tl.GP.se(2.0, 1.0, noise)
    found = tl.mixture(courses, gp, k=1)
    return Subject(
        courses=courses, gp=gp, clustering=found, neighbors=tl.neighbors(courses, gp, k=1), naming=Naming("", "h")
    )


def test_the_highest_time_is_a_measured_one():
    times = [0.0, 2, 4, 6, 8, 10]
    assert shapes(subject(times, [[0.0, 1, 2, 1, 0, 0]] * 2)) == ["up, then down; highest at 4 h"]
    assert shapes(subject(times, [[0.0, 1, 2, 2, 1, 0]] * 2)) == ["up, then down; highest from 4 to 6 h"]


def test_what_a_curve_does_where_nothing_was_measured_is_not_told():
    about = subject([0.0, 20, 21, 22, 23, 24], [[3.0, 2, 1, 0, -1, -2]] * 2)
    assert course_of(about.drawn.mean[0]) == "down, up, down"  # in the gap it returns to the mean level
    assert shapes(about) == ["down; highest at 0 h"]
    assert peaks(about) == [0.0]


def test_a_curve_that_moves_less_than_its_values_tremble_is_nearly_flat():
    rng, times = np.random.default_rng(1), np.arange(12.0)
    wave, noise = np.sin(times), rng.normal(0, 0.5, (200, 12))
    levels = rng.normal(0, 3, (200, 1))
    assert shapes(subject(times, 0.1 * wave + noise, 0.5)) == ["nearly flat"]
    assert shapes(subject(times, wave + noise + levels, 0.5))[0].startswith("up, down, up, down")


def test_times_of_their_own_are_never_called_measured():
    times = [np.sort(np.random.default_rng(i).uniform(0, 10, 6)) for i in range(8)]
    courses, gp = tl.TimeCourses.from_arrays(times, [np.sin(t / 3) for t in times]), tl.GP.se(2.0, 1.0, 0.1)
    found = tl.mixture(courses, gp, k=1)
    about = Subject(courses=courses, gp=gp, clustering=found, neighbors=tl.neighbors(courses, gp, k=1))
    assert "highest around " in shapes(about)[0]


# -- the first screen ------------------------------------------------------------------------------------------


def test_the_first_screen_holds_all_panels(page, study):
    boxes = [page.locator(".panel").nth(i).bounding_box() for i in range(page.locator(".panel").count())]
    assert len(boxes) >= 3
    assert max(box["y"] + box["height"] for box in boxes) < 800
    assert re.match(r"150 courses in 3 clusters", page.inner_text(".sentence"))
    assert page.locator("#summary .lead").bounding_box()["y"] > boxes[0]["y"] + boxes[0]["height"]
    assert "highest a" in page.locator(".panel").first.inner_text()
    assert "level, centred" in page.inner_text("#panel-axes")
    assert not page.locator("#panel-more").is_visible()


def test_nothing_is_cut_off_without_a_word(page):
    assert "1 course reaches beyond the shared scale" in page.inner_text("#panel-status")
    page.select_option("#panel-scale", "own")
    assert page.inner_text("#panel-status") == ""
    ticks = page.locator(".panel svg text").all_text_contents()
    assert any(float(text.replace("\u2212", "-")) >= 40 for text in ticks)


def test_few_strong_courses_beside_many_weak_ones_are_seen_whole(browser, tmp_path):
    rng, times = np.random.default_rng(0), np.linspace(0, 10, 8)
    weak, strong = rng.normal(0, 0.1, (300, 8)), 8 * np.sin(times / 3) + rng.normal(0, 0.1, (6, 8))
    courses, gp = tl.TimeCourses.from_arrays(times, np.vstack([weak, strong])), tl.GP.se(3.0, 2.0, 0.1)
    path = report(tmp_path / "report.html", courses, gp, tl.mixture(courses, gp, k=2))
    with opened(browser, path) as page:
        assert page.inner_text("#panel-status") == ""
        ticks = page.locator(".panel svg text").all_text_contents()
        assert max(float(text.replace("\u2212", "-")) for text in ticks) <= 10  # 10 is a time
        for panel in page.locator(".panel").all():
            assert len(panel.locator("svg line").all()) >= 3, "two lines across a panel and its axis"


def test_a_phone_has_no_sideways_scrolling(browser, page_path):
    with opened(browser, page_path, width=390, height=800) as page:
        for title in page.locator(".panel-title").all():
            name, size = title.locator(".badge").bounding_box(), title.locator(".size").bounding_box()
            assert name["x"] + name["width"] <= size["x"] or name["y"] + name["height"] <= size["y"], "they overlap"
            assert size["x"] + size["width"] <= title.bounding_box()["x"] + title.bounding_box()["width"]
        assert page.locator("nav a").first.is_visible()
        assert page.locator(".panel").first.bounding_box()["y"] < 400, "pictures come first"
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.locator(".panel button").first.click()
        assert page.locator("#cluster").evaluate("node => node.scrollWidth <= node.clientWidth")
        assert page.locator("#cluster").bounding_box()["width"] <= 390


# -- the page of a cluster ---------------------------------------------------------------------------------------


def test_a_panel_opens_its_cluster(page, study):
    clustering = study[2]
    page.locator(".panel button").nth(1).press("Enter")
    assert page.inner_text("#cluster-name") == "Cluster 1"
    assert f"{clustering.sizes[1]} courses" in page.inner_text(".cluster-head")
    assert "level, centred" in page.text_content("#cluster svg")
    members = [n for n, label in zip(clustering.names, clustering.labels, strict=True) if label == 1]
    with page.expect_download() as waiting:
        page.click("#member-save")
    assert sorted(waiting.value.path().read_text().split("\n")[:-1]) == sorted(members)
    assert page.locator(".member").count() < 40
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#cluster-name") == "Cluster 2"
    page.keyboard.press("Escape")
    assert not page.locator("#cluster").is_visible()


def test_sure_and_unsure_members_are_told_apart(page, study):
    clustering = study[2]
    page.locator(".panel button").first.click()
    sure = clustering.to_frame()["probability"][clustering.labels == 0] >= 0.8
    options = page.locator("#member-filter option").all_inner_texts()
    assert [int(text.split(": ")[1]) for text in options] == [len(sure), sure.sum(), (~sure).sum()]


def test_nearest_clusters_have_their_distance(page, study):
    clustering = study[2]
    page.locator(".panel button").first.click()
    curves = clustering.curves(np.linspace(0, 1, 81)[:, None] * study[0].times.max()).mean
    away = np.sqrt(((curves[1:] - curves[0]) ** 2).mean(axis=1))
    said = [float(text) for text in page.locator("#near td.number").all_inner_texts()]
    np.testing.assert_allclose(said, np.sort(away), rtol=0.01)


def test_the_address_opens_a_cluster(browser, page_path):
    with opened(browser, page_path, address="#page=2") as page:
        assert page.inner_text("#cluster-name") == "Cluster 2"


# -- courses -----------------------------------------------------------------------------------------------------


def test_the_open_course_follows_the_filter(page, study):
    for label in ("2", "0"):
        page.select_option("#cluster-filter", label)
        assert f"cluster {label}" in page.inner_text("#course .belonging")


def test_a_long_name_keeps_its_condition(page):
    page.fill("#search", "very-long")
    name = page.locator("#table td.col-name").first
    tail, cell = name.locator(".tail").bounding_box(), name.bounding_box()
    assert name.locator(".tail").text_content() == " | drug"
    assert tail["x"] + tail["width"] <= cell["x"] + cell["width"]
    assert name.get_attribute("title").endswith(" | drug")
