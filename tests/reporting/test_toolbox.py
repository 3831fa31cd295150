"""The reader's list marked everywhere, what else is known about courses, and lists to take away."""

import csv
import io

import numpy as np
import pandas as pd
import pytest

import timelike as tl
from browser import opened, running_browser
from timelike.exceptions import InputError
from timelike.reporting.report import report


@pytest.fixture(scope="module")
def browser():
    with running_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def study():
    made, _ = tl.simulate.profiles(per_group=20, seed=1)
    names = [f"g{i // 2} | {'ab'[i % 2]}" for i in range(len(made))]
    courses = tl.TimeCourses(tuple(names), made.designs, made.design_of, made.values)
    gp = tl.fit(made)
    details = pd.DataFrame(
        {"symbol": [f"Sym{i}" for i in range(60)], "group": ["<i>one</i>", "two", None] * 20, "note": "kept aside"}
    )
    return courses, gp, tl.mixture(courses, gp, k=3), details


@pytest.fixture(scope="module")
def page_path(study, tmp_path_factory):
    *analysis, details = study
    return report(tmp_path_factory.mktemp("toolbox") / "report.html", *analysis, details=details)


@pytest.fixture
def page(browser, page_path):
    with opened(browser, page_path) as page:
        yield page


def highlight(page, text):
    page.click("#toolbox-open")
    page.fill("#toolbox-names", text)
    page.click("#toolbox-mark")


def downloaded(page, button):
    page.click(".menu:has(#csv-all) summary")
    with page.expect_download() as waiting:
        page.click(f"#{button}")
    return waiting.value.suggested_filename, waiting.value.path().read_text(encoding="utf-8")


def test_a_list_is_marked_everywhere(page, study):
    highlight(page, "G1, g2 | b\nsym50\tnobody")
    words = page.inner_text("#toolbox-found")
    assert "3 of your 4 names are here: 4 courses." in words
    assert "1 not found: nobody" in words
    labels = study[2].labels[[2, 3, 5, 50]]
    per_cluster = np.bincount(labels, minlength=3)
    for label, marked in enumerate(per_cluster):
        panel = page.locator(f".panel[aria-label='Cluster {label}']")
        assert panel.locator("path.marked").count() == marked
    assert page.locator("#heatmap-figure line.marked").count() == 4
    page.check("#toolbox-only")
    assert page.inner_text("#table-status") == "4 of 60 courses"
    assert page.locator("#table tr.marked").count() == 4
    _, text = downloaded(page, "csv-all")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [i for i, row in enumerate(rows) if row["highlighted"] == "1"] == [2, 3, 5, 50]
    page.click("#toolbox-clear")
    assert page.locator(".marked").count() == 0
    assert page.inner_text("#table-status") == "60 courses"


def test_counts_are_of_names_in_clusters(page, study):
    highlight(page, "g1")
    labels = set(study[2].labels[[2, 3]].tolist())
    lines = page.locator("#toolbox-found li").all_inner_texts()
    assert lines == [f"cluster {label}: 1 of your 1 name" for label in sorted(labels)]


def test_a_long_list_is_kept_in_the_link(browser, page, page_path):
    many = [f"Sym{i}" for i in range(60)] + [f"nobody{i}" for i in range(440)]
    highlight(page, "\n".join(many))
    page.wait_for_timeout(350)
    address = page.evaluate("location.hash")
    assert address.startswith("#highlight=Sym0,Sym1,")
    with opened(browser, page_path, address=address) as again:
        assert again.locator("#heatmap-figure line.marked").count() == 60
        assert "440 names of the list are not in this page." in again.inner_text("#announcement p")
        again.click("#copy-link")
        again.wait_for_selector("#announcement p:has-text('characters; some mail programs')")


def test_a_list_too_long_for_a_link_is_said(page):
    highlight(page, ", ".join(f"somebody_with_a_name_{i}" for i in range(3000)))
    page.click("#copy-link")
    page.wait_for_selector("#announcement:not([hidden])")
    assert "more than browsers take" in page.inner_text("#announcement p")


# -- details -----------------------------------------------------------------------------------------------------------


def test_details_are_columns_and_searched(page):
    assert page.locator("#table th button").all_inner_texts()[:3] == ["Name\u2191", "symbol", "Cluster"]
    assert page.locator("#table td.col-name").first.evaluate("cell => cell.scrollWidth <= cell.clientWidth")
    page.fill("#search", "sym42")
    assert page.inner_text("#table-status") == "1 of 60 courses"
    page.press("#search", "Enter")
    assert page.inner_text("#course-name") == "g21 | a"
    assert page.locator("#course .known dd").all_inner_texts() == ["Sym42", "<i>one</i>", "kept aside"]
    page.click(".menu:has(#columns) summary")
    page.locator("#columns label", has_text="note").locator("input").check()
    assert page.locator("#table th").count() == page.locator("#table tr[data-place] td").count()  # one row
    assert "note" in page.locator("#table th button").all_inner_texts()


def test_details_are_in_the_files(page, study):
    _, text = downloaded(page, "csv-all")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["symbol"] for row in rows] == study[3]["symbol"].tolist()
    assert [row["group"] for row in rows][:3] == ["<i>one</i>", "two", ""]


def test_details_of_other_courses_are_refused(study, tmp_path):
    *analysis, details = study
    with pytest.raises(InputError, match="details have 59 rows for 60 courses"):
        report(tmp_path / "r.html", *analysis, details=details[:59])


# -- lists -------------------------------------------------------------------------------------------------------------


def test_names_of_a_cluster_can_be_taken_away(page, study):
    courses, _, found, _ = study
    page.select_option("#cluster-filter", "1")
    name, text = downloaded(page, "names-shown")
    assert name == "cluster_1.txt"
    inside = {course for course, label in zip(courses.plain_names, found.labels, strict=True) if label == 1}
    assert set(text.splitlines()) == inside
    name, text = downloaded(page, "names-columns")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["cluster_1"] for row in rows if row["cluster_1"]] == list(
        dict.fromkeys(c for c in courses.plain_names if c in inside)
    )
