"""The page of courses that have conditions: tables, the filter, and a name under its other conditions."""

import re
from html import unescape

import numpy as np
import pytest

import timelike as tl
from browser import opened, running_browser
from timelike.reporting.report import report

WILD = "<b>drug</b>"


@pytest.fixture(scope="module")
def study():
    """Twenty names of two shapes under three conditions; n3 changes its shape under the wild one, n4 has only two."""
    rng = np.random.default_rng(0)
    times = np.arange(0.0, 12)
    shapes = np.array([np.sin(times / 2), np.cos(times / 2)])
    names, values = [], []
    for i in range(20):
        for condition in ("none", "wash", WILD)[: 2 if i == 4 else 3]:
            names.append(f"n{i} | {condition}")
            values.append(shapes[(i + (i == 3 and condition == WILD)) % 2] + 0.05 * rng.standard_normal(12))
    courses = tl.TimeCourses.from_arrays(times, values, names)
    gp = tl.fit(courses)
    return courses, gp, tl.mixture(courses, gp)


@pytest.fixture(scope="module")
def page_path(study, tmp_path_factory):
    return report(tmp_path_factory.mktemp("report") / "report.html", *study)


def cells(html):
    rows = re.findall(r"<tr>(.*?)</tr>", html)
    return [
        [unescape(re.sub("<.*?>", "", cell)) for cell in re.findall(r"<t[hd].*?>(.*?)</t[hd]>", row)] for row in rows
    ]


def tables(path):
    text = path.read_text("utf-8")
    section = text[text.index("<h3>Conditions</h3>") : text.index('<section id="courses"')]
    return [cells(table) for table in re.findall("<table.*?</table>", section, re.DOTALL)], section


def test_sizes_stand_by_cluster_and_condition(study, page_path):
    (sizes, _), _ = tables(page_path)
    assert sizes[0] == ["", "none", "wash", WILD]
    expected = study[2].by_condition().loc[[0, 1]].to_numpy()
    assert [row[0] for row in sizes[1:]] == ["cluster 0", "cluster 1"]  # no course is in none
    assert [[int(cell.split()[0]) for cell in row[1:]] for row in sizes[1:]] == expected.tolist()
    shares = expected / expected.sum(axis=0)
    assert sizes[1][1].split(" ", 1)[1] == f"({100 * shares[0, 0]:.0f} %)"


def test_names_that_change_are_listed_with_the_rate_of_false_ones(page_path):
    (_, changes), section = tables(page_path)
    assert "1 of 20 names in other clusters under other conditions (expected false discovery rate 5 %)" in section
    assert [row[0] for row in changes[1:]] == ["n3"]
    assert changes[1][1] != changes[1][2].split(", ")[1]


def test_methods_without_probabilities_have_only_the_sizes(study, tmp_path):
    courses, gp, _ = study
    found = tl.hierarchical(tl.similarity(courses, gp), 2)
    assert len(tables(report(tmp_path / "r.html", courses, gp, found))[0]) == 1


def test_where_nothing_changes_it_is_said(study, tmp_path):
    courses, gp, _ = study
    few = courses.select([name for name in courses.names if not name.startswith("n3 ")])
    found, section = tables(report(tmp_path / "r.html", few, gp, tl.mixture(few, gp, k=2)))
    assert len(found) == 1
    assert "0 of 19 names in other clusters" in section


def test_courses_without_conditions_have_none_of_it(study, tmp_path):
    courses, gp, _ = study
    plain = courses.by_condition()["none"]
    text = report(tmp_path / "r.html", plain, gp, tl.mixture(plain, gp, k=2)).read_text("utf-8")
    assert "<h3>Conditions</h3>" not in text
    assert '"conditions":null' in text


# -- in a browser ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser():
    with running_browser() as browser:
        yield browser


@pytest.fixture
def page(browser, page_path):
    with opened(browser, page_path) as page:
        yield page


def tick(page, condition, on):
    page.locator("#condition-filter label", has_text=condition).locator("input").set_checked(on)


def test_ticked_conditions_are_shown_everywhere(page, browser, page_path):
    assert page.locator("#condition-filter label").all_inner_texts() == ["none", "wash", WILD]
    rows = page.locator("#heatmap-figure svg").get_attribute("aria-label")
    tick(page, "none", False)
    tick(page, "wash", False)
    assert page.locator("#table-status").inner_text() == "19 of 59 courses"
    assert "of 29 courses" in page.locator(".panel .size").first.inner_text()
    assert page.locator("#heatmap-figure svg").get_attribute("aria-label") == rows.replace("59", "19")
    page.wait_for_timeout(350)
    with opened(browser, page_path, address=page.evaluate("location.hash")) as again:
        assert again.locator("#table-status").inner_text() == "19 of 59 courses"
        assert again.locator("#condition-filter input:checked").count() == 1
    page.locator("#cluster-filter").select_option("0")
    shown = page.locator("#table tr[data-place] .col-name").all_inner_texts()
    assert shown
    assert all(name.endswith(f"| {WILD}") for name in shown)
    page.locator("#search").fill("nobody")
    assert "in this cluster under these conditions." in page.locator("#table").inner_text()
    page.locator("#search").fill("")
    page.locator("#condition-filter label", has_text=WILD).locator("input").click()  # the last one: all are shown again
    page.locator("#cluster-filter").select_option("")
    assert page.locator("#table-status").inner_text() == "59 courses"


def test_numbers_of_the_table_of_conditions_lead_to_their_courses(page, study):
    size = study[2].by_condition().loc[1, "wash"]
    page.locator("#by-condition tbody tr").nth(1).locator("td button").nth(1).click()
    assert page.locator("#table-status").inner_text() == f"{size} of 59 courses"
    assert page.locator("#cluster-filter").input_value() == "1"


def test_lines_take_the_colours_of_conditions(page):
    assert page.locator('.panel path[stroke="var(--q1)"]').count() == 0
    page.locator("#color-conditions").check()
    assert page.locator('.panel path[stroke="var(--q1)"]').count() == 2


def open_course(page, name):
    page.locator("#search").fill(name)
    page.locator("#search").press("Enter")
    assert page.locator("#course-name").inner_text() == name


def test_a_name_is_shown_under_all_its_conditions(page, study):
    courses, _, found = study
    open_course(page, f"n3 | {WILD}")
    label = dict(zip(courses.names, found.labels, strict=True))
    others = page.locator(".elsewhere").all_inner_texts()
    assert [text.split(" (")[0] for text in others] == [
        f"Under {condition}: cluster {label[f'n3 | {condition}']}" for condition in ("none", "wash")
    ]
    figure = page.locator("#course .figure").first
    hollow = figure.locator('circle[fill="var(--paper)"]')
    assert hollow.count() == 2 * 12 + 2  # values, and the legend
    assert figure.locator('circle[fill="var(--q2)"]').count() == 12 + 1
    dashed = figure.locator('path[stroke="var(--q1)"]').first.get_attribute("stroke-dasharray")
    assert dashed != figure.locator('path[stroke="var(--q2)"]').last.get_attribute("stroke-dasharray")
    assert figure.locator("text", has_text="wash").count() == 1
    page.locator(".elsewhere button").last.click()
    assert page.locator("#course-name").inner_text() == "n3 | wash"


def test_a_name_with_fewer_conditions_shows_those_it_has(page):
    open_course(page, "n4 | wash")
    assert page.locator(".elsewhere").count() == 1


def test_without_conditions_there_is_no_filter(browser, study, tmp_path):
    courses, gp, _ = study
    plain = courses.by_condition()["none"]
    with opened(browser, report(tmp_path / "r.html", plain, gp, tl.mixture(plain, gp, k=2))) as page:
        assert page.locator("#condition-filter").count() == 0
        assert page.locator(".elsewhere").count() == 0
        assert page.locator("#course .figure text", has_text="its curve").count() == 1
