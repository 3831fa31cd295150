"""The address of the page keeps what its reader has chosen, and leads there again."""

import pytest

import timelike as tl
from browser import opened, running_browser
from timelike.reporting.report import report

ODD = ("\U0001f9ec|#1", "100%", "a&b=c, d", 'it\'s "so"', "50%25", "plain name", "g | x")


@pytest.fixture(scope="module")
def browser():
    with running_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def study():
    made, _ = tl.simulate.profiles(per_group=20, seed=1)
    courses = tl.TimeCourses((*ODD, *made.names[len(ODD) :]), made.designs, made.design_of, made.values)
    gp = tl.fit(made)
    return courses, gp, tl.mixture(courses, gp, k=3)


@pytest.fixture(scope="module")
def page_path(study, tmp_path_factory):
    return report(tmp_path_factory.mktemp("link") / "re port #1.html", *study)


@pytest.fixture
def page(browser, page_path):
    with opened(browser, page_path) as page:
        yield page


def hash_of(page):
    page.wait_for_timeout(350)
    return page.evaluate("location.hash")


def opened_course(page):
    return page.locator("#course-name bdi").evaluate("node => node.textContent")


def find(page, text):
    page.fill("#search", text)
    page.press("#search", "Enter")


def test_nothing_chosen_needs_no_address(page):
    assert hash_of(page) == ""


def test_choices_stand_in_the_address_and_come_back(browser, page, page_path):
    page.select_option("#cluster-filter", "1")
    page.fill("#search", "b1")
    page.locator("#table tr[data-place]").nth(2).click()
    address = hash_of(page)
    assert address == f"#cluster=1&find=b1&course={opened_course(page)}"
    with opened(browser, page_path, address=address) as again:
        assert again.input_value("#cluster-filter") == "1"
        assert again.input_value("#search") == "b1"
        assert again.inner_text("#table-status") == page.inner_text("#table-status")
        assert opened_course(again) == opened_course(page)


@pytest.mark.parametrize("name", ODD)
def test_odd_names_come_back(browser, page, page_path, name):
    find(page, name)
    assert opened_course(page) == name
    with opened(browser, page_path, address=hash_of(page)) as again:
        assert opened_course(again) == name
        assert again.input_value("#search") == name


def test_an_address_typed_by_hand_is_followed(browser, page_path):
    with opened(browser, page_path, address="#course=100%") as page:
        assert opened_course(page) == "100%"
        page.evaluate("location.hash = 'cluster=2&course=C07'")
        page.wait_for_selector("#course-name bdi:text-is('C07')")
        assert page.input_value("#cluster-filter") == "2"


def test_back_leads_to_the_course_before(page):
    for name in ("B10", "B11"):
        find(page, name)
    page.go_back()
    page.wait_for_selector("#course-name bdi:text-is('B10')")


def test_unknown_names_are_said_and_ignored(browser, page_path):
    with opened(browser, page_path, address="#cluster=99&course=nobody%21&scale_x=1") as page:
        words = page.inner_text("#announcement p")
        assert 'There is no cluster "99" here.' in words
        assert 'There is no course "nobody!" here.' in words
        assert '"scale_x"' in words
        assert page.inner_text("#table-status") == "60 courses"
        page.click("#announcement button")
        assert not page.locator("#announcement").is_visible()


def test_a_section_does_not_lose_what_was_chosen(page):
    find(page, "B10")
    page.click("nav a[href='#heatmap']")
    page.wait_for_timeout(100)
    assert hash_of(page) == "#find=B10&course=B10"


def test_the_link_is_copied(browser, page_path):
    with opened(browser, page_path, permissions=["clipboard-read", "clipboard-write"]) as page:
        find(page, "B10")
        page.click("#copy-link")
        page.wait_for_selector("#announcement:not([hidden])")
        assert page.inner_text("#announcement p") == "The link to what you see is copied."
        assert page.evaluate("navigator.clipboard.readText()").endswith("#find=B10&course=B10")
