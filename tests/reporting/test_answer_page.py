"""The page about an answer in a real browser: what readers do with it, and what it must never do."""

import csv
import re

import numpy as np
import pytest

import timelike as tl
from browser import opened, running_browser

TIMES = np.repeat([0.0, 2, 4, 8, 12], 3)
HOSTILE = ["</script><script>alert(1)</script>", '=HYPERLINK("http://example.org")', "<img src=x onerror=alert(2)>"]
NAMES = [*HOSTILE, *(f"gene {i}" for i in range(3, 60))]


def conditions(*names):
    rng = np.random.default_rng(1)
    made = {name: rng.normal(size=(60, 15)) for name in names}
    for name in names[1:]:
        made[name][:6] += 6 * (TIMES > 2)
        made[name][6:10] -= 5
    return {name: tl.TimeCourses.from_arrays(TIMES, values, NAMES) for name, values in made.items()}


@pytest.fixture(scope="module")
def browser():
    with running_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def two():
    return tl.compare(conditions("wild", "<b>mutant</b>"))


@pytest.fixture(scope="module")
def page_path(two, tmp_path_factory):
    path = tmp_path_factory.mktemp("answer") / "report.html"
    words = {"title": "Two <script>alert(3)</script>", "time_unit": "h", "value_name": "<i>level</i>"}
    return tl.report_answer(path, two, check=two.check(1), notes="left out: <script>alert(4)</script>", **words)


@pytest.fixture
def page(browser, page_path):
    with opened(browser, page_path) as page:
        yield page


def rows(page):
    return page.locator("#table tr[data-place]")


def status(page):
    return page.locator("#table-status").inner_text()


def test_the_first_screen_has_the_answer_and_the_volcano(page, two):
    assert page.locator(".lead").inner_text().startswith("10 of 60 courses differ between wild and <b>mutant</b> at")
    box = page.locator("#volcano svg").bounding_box()
    assert box["y"] + box["height"] < 900
    assert page.locator("#title").inner_text() == "Two <script>alert(3)</script>"
    assert "asked of permuted samples" in page.locator("#summary").inner_text()
    assert "left out: <script>" in page.locator("#summary").inner_text()
    assert two.names[two.order[0]] == page.locator("#course-name").inner_text()


def test_the_table_has_the_numbers_of_the_answer(page, two):
    frame = two.to_frame()
    assert status(page) == "60 courses"
    for k, row in enumerate(frame.head(10).itertuples(index=False)):
        cells = rows(page).nth(k).locator("td").all_inner_texts()
        assert cells[0] == row.name
        assert float(cells[2]) == round(row.log_bayes_factor, 1)
        assert row.kind in cells
        assert cells[-1] == row.higher_in


def test_filters_show_what_they_say(page, two):
    frame = two.to_frame()
    page.select_option("#called-filter", "called")
    assert status(page) == "10 of 60 courses"
    page.fill("#rate", "0.5")
    assert status(page) == f"{(frame['fdr'].astype(np.float32) <= 0.5).sum()} of 60 courses"
    page.fill("#rate", "0.05")
    page.select_option("#higher-filter", "wild")
    assert status(page) == "4 of 60 courses"
    page.select_option("#kind-filter", "level")
    called = frame.head(10)
    assert status(page) == f"{((called['higher_in'] == 'wild') & (called['kind'] == 'level')).sum()} of 60 courses"
    page.fill("#search", "no such gene")
    assert "No course passes these filters" in page.locator("#table").inner_text()


def test_a_name_is_found_and_opened_with_its_difference_in_words(page, two):
    page.fill("#search", "gene 4")
    page.press("#search", "Enter")
    assert page.locator("#course-name").inner_text() == "gene 4"
    words = page.locator("#intervals").inner_text()
    (start, end, sign) = two.intervals("gene 4")[0]
    assert sign == 1
    found = re.fullmatch(r"From ([\d.]+) to ([\d.]+) h higher in <b>mutant</b> than in wild\.", words)
    assert abs(float(found[1]) - start) < 0.5
    assert abs(float(found[2]) - end) < 0.1
    assert page.locator("#course .figure svg").count() == 2
    circles = page.locator("#course .figure >> nth=0 >> circle title")
    assert circles.count() == 30
    values = {float(text.split(": ")[1].replace("\u2212", "-")) for text in circles.all_text_contents()}
    measured = [courses.select(["gene 4"]).values for courses in two.question.measured.conditions.values()]
    expected = np.concatenate(measured)
    assert all(np.abs(expected - value).min() < 1e-3 for value in values)


def test_a_dot_of_the_volcano_opens_its_course(page, two):
    gene = int(two.called(0.05)[3])
    paths = page.locator("#volcano svg path[stroke-linecap]")
    assert paths.evaluate_all("all => all.map((p) => p.getAttribute('d')).join('')").count("M") == 60
    page.evaluate("name => { location.hash = 'course=' + encodeURIComponent(name); }", two.names[gene])
    page.wait_for_function("name => document.querySelector('#course-name').textContent === name", arg=two.names[gene])
    ring = page.locator("#volcano svg circle[stroke-width='1.8']").bounding_box()
    middle = ring["x"] + ring["width"] / 2, ring["y"] + ring["height"] / 2
    page.evaluate("() => { location.hash = ''; }")
    rows(page).nth(0).click()
    page.evaluate("() => scrollTo({ top: 0, behavior: 'instant' })")
    page.wait_for_function("() => scrollY === 0")
    page.mouse.click(*middle)
    page.wait_for_function("name => document.querySelector('#course-name').textContent === name", arg=two.names[gene])
    assert two.names[gene] in page.locator("#volcano-name").inner_text()


def test_downloads_hold_every_column_and_no_formula(page, two):
    page.locator(".menu summary").click()
    with page.expect_download() as download:
        page.click("#csv-all")
    table = list(csv.reader(download.value.path().read_text(encoding="utf-8").splitlines()))
    frame = two.to_frame()
    assert table[0] == [*frame.columns, "intervals"]
    assert len(table) == 61
    names = [row[0] for row in table[1:]]
    assert [name.removeprefix("'") for name in names] == list(frame["name"])
    assert not any(name.startswith("=") for name in names)
    at = table[0].index("largest_difference")
    np.testing.assert_allclose([float(r[at]) for r in table[1:]], frame["largest_difference"], rtol=1e-5)
    with page.expect_download() as download:
        page.click("#course-svg")
    assert download.value.suggested_filename.endswith(".svg")


def test_three_conditions_have_partitions_and_a_choice_of_pairs(browser, tmp_path):
    found = tl.compare(conditions("C", "K", "M"))
    path = tl.report_answer(tmp_path / "report.html", found)
    with opened(browser, path) as page:
        page.select_option("#partition-filter", "C | K = M")
        expected = (found.to_frame()["partition"] == "C | K = M").sum()
        assert status(page) == f"{expected} of 60 courses"
        page.evaluate("() => { location.hash = 'course=gene%207'; }")
        page.wait_for_function("() => document.querySelector('#course-name').textContent === 'gene 7'")
        assert page.locator(".chances tr").first.inner_text().startswith("C | K = M")
        page.select_option("#pair", label="K less C")
        assert "higher in C than in K" in page.locator("#intervals").inner_text()
        page.select_option("#pair", label="M less K")
        assert "higher in C" not in page.locator("#intervals").inner_text()


def test_with_many_times_a_level_is_one_stretch(browser, tmp_path):
    rng = np.random.default_rng(1)
    times, names = np.repeat(np.arange(40.0), 2), [f"g{i}" for i in range(20)]
    first, second = rng.normal(size=(2, 20, 80))
    second[:3] += 5
    each = {c: tl.TimeCourses.from_arrays(times, v, names) for c, v in (("a", first), ("b", second))}
    found = tl.compare(each, tl.GP.se(5.0, 1.0, 1.0))
    path = tl.report_answer(tmp_path / "report.html", found)
    with opened(browser, path) as page:
        assert page.locator("#intervals").inner_text() == "From 0 to 39 higher in b than in a."


def test_changing_has_one_curve_and_says_when(browser, tmp_path):
    values = np.random.default_rng(1).normal(size=(60, 15))
    values[:5] += TIMES
    found = tl.changing(tl.TimeCourses.from_arrays(TIMES, values, NAMES))
    path = tl.report_answer(tmp_path / "report.html", found, time_unit="h")
    with opened(browser, path) as page:
        assert page.locator(".lead").inner_text().startswith("5 of 60 courses change at")
        assert page.locator("#kind-filter").count() == 0
        page.select_option("#called-filter", "called")
        page.select_option("#way-filter", "rise")
        assert status(page) == "5 of 60 courses"
        assert "It begins to change at" in page.locator("#course").inner_text()
        assert page.locator("#course .figure svg").count() == 1


def test_courses_beyond_those_with_curves_have_their_values(browser, two, tmp_path, monkeypatch):
    monkeypatch.setattr("timelike.reporting.answered.CURVED", 5)
    path = tl.report_answer(tmp_path / "report.html", two)
    with opened(browser, path) as page:
        rows(page).nth(8).click()
        assert "Curves are in this page for the 5 surest courses" in page.locator("#course").inner_text()
        assert page.locator("#course .figure svg").count() == 1
        assert page.locator("#course .figure circle title").count() == 30


@pytest.mark.parametrize("width", [360, 800, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_the_screen(browser, page_path, width, scheme):
    with opened(browser, page_path, width=width, color_scheme=scheme) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert rows(page).first.locator("td").first.bounding_box()["width"] > 80


def test_a_clock_is_drawn_and_can_be_switched_off(browser, tmp_path):
    found = tl.compare(conditions("wt", "mut"), tl.GP.se(2.0, 1.0, 1.0, clock=1.0))
    path = tl.report_answer(tmp_path / "report.html", found)
    with opened(browser, path) as page:
        before = page.locator("#course .figure svg").first.inner_html()
        page.click("#time-axis")
        assert page.locator("#course .figure svg").first.inner_html() != before


def test_mistakes_are_told(two, tmp_path):
    with pytest.raises(tl.InputError, match="found"):
        tl.report_answer(tmp_path / "report.html", "two")
    with pytest.raises(tl.InputError, match="fdr is 5"):
        tl.report_answer(tmp_path / "report.html", two, fdr=5)
    with pytest.raises(tl.InputError, match="notes are '5'"):
        tl.report_answer(tmp_path / "report.html", two, notes=5)
