"""The report in a real browser: what readers do with it, and what it must never do."""

import csv
import io
import xml.etree.ElementTree as ElementTree

import numpy as np
import pandas as pd
import pytest

import timelike as tl
from browser import opened, running_browser
from timelike.reporting import page_basis
from timelike.reporting.report import report

HOSTILE = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    "\"'&amp;<b>",
    '=HYPERLINK("http://example.org")',
    "\u202edesrever",
    "{{data}} ${alert(3)} \u2028",
    "javascript:alert(4)",
)
SVG = "{http://www.w3.org/2000/svg}"


def renamed(courses, first):
    names = [*first, *courses.names[len(first) :]]
    return tl.TimeCourses(tuple(names), courses.designs, courses.design_of, courses.values)


@pytest.fixture(scope="module")
def browser():
    with running_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def study():
    """Three profiles with a value thrown off and a course that is in no cluster; some names are attacks."""
    made, _ = tl.simulate.profiles(seed=1)
    values = made.values.reshape(len(made), -1).copy()
    values[20, 7] += 2
    values[140] = np.sin(20 * np.arange(15))
    courses = renamed(tl.TimeCourses.from_arrays(made.times[:15], values, made.names), HOSTILE)
    gp = tl.fit(made)
    return courses, gp, tl.mixture(courses, gp, robust=False)


@pytest.fixture(scope="module")
def page_path(study, tmp_path_factory):
    terms = pd.DataFrame(
        {"cluster": [0, 1], "term": ["GO:1", "GO:2"], "name": ["<i>fate</i>", "death"], "genes": [5, 6]}
        | {"cluster_genes": 50, "term_genes": 9, "all_genes": 150, "fold": 2.5, "p": 1e-4, "q": [0.001, 0.2]}
    )
    path = tmp_path_factory.mktemp("report") / "report.html"
    return report(
        path,
        *study,
        title="Profiles <script>alert(5)</script>",
        time_unit="h",
        value_name="<b>level</b>",
        enrichment=terms,
        notes=["left out: <script>alert(6)</script>"],
        run={"<u>seed</u>": 0, "versions": {"timelike": "0"}},
    )


@pytest.fixture
def page(browser, page_path):
    with opened(browser, page_path) as page:
        yield page


def rows_of(page):
    return page.locator("#table tr[data-place]")


def find(page, text):
    page.fill("#search", text)
    page.press("#search", "Enter")


def downloaded(page, press):
    with page.expect_download() as waiting:
        press()
    return waiting.value.path().read_text(encoding="utf-8")


def contributions(page):
    """Course, and what the value adds, as the page shows them."""
    cells = page.locator("#contributions tbody tr").evaluate_all(
        "rows => rows.map(r => [r.cells[0].textContent, r.cells[3].textContent])"
    )
    return [(name, float(text.replace("\u2212", "-"))) for name, text in cells]


# -- the way of a reader ---------------------------------------------------------------------------------------


def test_search_open_and_compare(page, study):
    courses, gp, clustering = study
    page.fill("#search", "b1")
    assert page.inner_text("#table-status") == "10 of 150 courses"
    page.fill("#search", "33")
    assert page.inner_text("#table-status") == "3 of 150 courses"
    find(page, "b10")
    assert page.inner_text("#course h3") == "B10"
    assert f"cluster {clustering.labels[courses.index('B10')]}" in page.inner_text(".belonging")
    nearest = tl.neighbors(courses, gp, k=10)
    listed = page.locator(".neighbors [data-other]").all_inner_texts()
    assert listed == [courses.names[i] for i in nearest.indices[courses.index("B10")]]
    page.click(".neighbors tbody tr:nth-child(3) [data-other]")
    why = tl.explain(courses, gp, "B10", listed[2])
    assert f"s = {why.similarity:.2f}" in page.inner_text(".verdict")
    shown = contributions(page)
    assert [name for name, _ in shown] == ["B10"] * 15 + [listed[2]] * 15
    np.testing.assert_allclose([number for _, number in shown], np.concatenate(why.contributions), atol=1e-3)


def test_any_other_course_can_be_compared(page, study):
    courses, gp, _ = study
    find(page, "A20")
    page.fill("#other", "C30")
    why = tl.explain(courses, gp, "A20", "C30")
    assert page.inner_text("#similarity") == f"s = {why.similarity:.2f}".replace("-", "\u2212")
    assert "two curves" in page.inner_text(".verdict")
    page.fill("#other", "nobody")
    page.press("#other", "Tab")
    assert "no course" in page.inner_text("#other-status")


def test_choosing_a_cluster_filters_the_table(page, study):
    _, _, clustering = study
    page.click(".panel:nth-child(2) button")
    assert page.inner_text("#table-status") == f"{clustering.sizes[1]} of 150 courses"
    assert set(rows_of(page).locator(".col-cluster").all_inner_texts()) == {"1"}
    page.select_option("#cluster-filter", "-1")
    assert page.inner_text("#table-status") == f"{(clustering.labels < 0).sum()} of 150 courses"
    assert page.get_attribute(".panel:last-child button", "aria-pressed") == "true"


def test_sorting_follows_the_column(page):
    page.click("#table [data-column=s]")
    shown = [float(t.replace("\u2212", "-")) for t in rows_of(page).locator(".col-s").all_inner_texts()]
    assert shown == sorted(shown, reverse=True)
    page.click("#table [data-column=s]")
    assert page.get_attribute("#table th.col-s", "aria-sort") == "ascending"


def test_panels_are_sorted_and_filtered(page, study):
    clustering = study[2]
    page.select_option("#panel-order", "size")
    largest = f"Cluster {np.argsort(-clustering.sizes, kind='stable')[0]}"
    assert page.locator(".panel").first.get_attribute("aria-label") == largest
    page.fill("#panel-least", "10")
    assert page.locator(".panel").count() == int((clustering.sizes >= 10).sum())


def test_only_the_rows_in_sight_exist(page):
    assert rows_of(page).count() < 60
    page.locator("#table .view").evaluate("view => { view.scrollTop = view.scrollHeight; }")
    page.wait_for_selector("#table tr[data-place='149']")
    assert rows_of(page).count() < 60


def test_no_hole_shows_in_the_text(page):
    """What a program writes where it has nothing to say must not be seen."""
    for name in ("A20", "C30"):
        find(page, name)
        page.fill("#other", "B20")
        words = set(page.inner_text("body").replace(".", " ").split())
        assert not words & {"null", "undefined", "NaN", "Infinity", "[object"}


def test_an_address_leads_to_a_course(browser, page_path):
    with opened(browser, page_path, address="#course=C07") as page:
        assert page.inner_text("#course h3") == "C07"


def test_heatmap_names_and_opens_courses(page):
    page.locator(".touch").scroll_into_view_if_needed()
    page.locator(".touch").hover(position={"x": 30, "y": 5})
    name = page.locator("#heatmap-name bdi").inner_text()
    page.locator(".touch").click(position={"x": 30, "y": 5})
    assert page.inner_text("#course h3") == name


def test_terms_follow_their_limit(page):
    assert page.locator("#terms tbody tr").count() == 1
    assert "<i>fate</i>" in page.inner_text("#terms")
    page.fill("#term-limit", "0.5")
    assert page.locator("#terms tbody tr").count() == 2


def test_methods_are_copied(browser, page_path):
    with opened(browser, page_path) as page:
        page.click("#copy")
        page.wait_for_selector("#copied:not(:empty)")
        assert page.inner_text("#copied") in ("Copied.", "Please select the text and copy it.")


# -- numbers -----------------------------------------------------------------------------------------------------


def check_numbers(page, courses, gp, first, second):
    """The page's own program against the library: curves of one and of two, and the explanation."""
    times = np.array(page.evaluate("timelikeReport.times"))
    for names in ([first], [first, second]):
        curve = page.evaluate(
            "names => { const c = timelikeReport.curve(...names); return [Array.from(c.mean), Array.from(c.sd)]; }",
            names,
        )
        expected = gp.posterior(courses.select(names), times)
        np.testing.assert_allclose(curve[0], expected.mean, atol=1e-3 * gp.noise_sd)
        np.testing.assert_allclose(curve[1], expected.sd, atol=1e-3 * gp.noise_sd)
    found = page.evaluate(
        "([a, b]) => { const w = timelikeReport.explain(a, b); return w.contributions.map((c) => Array.from(c)); }",
        [first, second],
    )
    why = tl.explain(courses, gp, first, second)
    np.testing.assert_allclose(np.concatenate(found), np.concatenate(why.contributions), atol=1e-3)


def test_numbers_on_one_grid(page, study):
    check_numbers(page, study[0], study[1], "A20", "C20")


@pytest.mark.parametrize(("kernel", "nodes"), [("se", False), ("se", True), ("matern12", False)])
def test_numbers_with_own_times_and_errors(browser, tmp_path, monkeypatch, kernel, nodes):
    made, _ = tl.simulate.own_times(per_group=8, seed=3)
    errors = [np.full(n, 0.02 * (1 + i % 3)) for i, n in enumerate(made.sizes)]
    times, values = ([c.times for c in made], [c.values for c in made])
    courses = tl.TimeCourses.from_arrays(times, [y + 1e6 for y in values], made.names, errors)
    gp = tl.fit(courses) if kernel == "se" else tl.GP(kernel, 0.7, 0.08, 1e6)
    if nodes:
        monkeypatch.setattr(page_basis, "SMALL", 4)
    clusters = tl.hierarchical(tl.similarity(courses, gp), 3)
    path = report(tmp_path / "own.html", courses, gp, clusters)
    with opened(browser, path) as page:
        check_numbers(page, courses, gp, "A01", "B03")
        assert page.locator("#table th.col-probability").count() == 0
        assert page.locator("#heatmap-figure image").count() == 1


def test_a_kernel_too_rough_is_said(browser, study, tmp_path, monkeypatch):
    monkeypatch.setattr(page_basis, "MOST_FUNCTIONS", 3)
    path = report(tmp_path / "rough.html", *study)
    with opened(browser, path) as page:
        assert "too rough" in page.inner_text("#course")
        assert page.locator("#course .figure circle").count() > 10


# -- files -------------------------------------------------------------------------------------------------------


def saved_rows(page, button):
    page.click(".menu summary")
    return list(csv.DictReader(io.StringIO(downloaded(page, lambda: page.click(f"#{button}")))))


def test_tables_can_be_saved(page, study):
    courses, _, clustering = study
    rows = saved_rows(page, "csv-all")
    assert [int(row["cluster"]) for row in rows] == clustering.labels.tolist()
    expected = [("'" + n if n.startswith("=") else n) for n in courses.names]
    assert [row["name"] for row in rows] == expected
    confidence = clustering.to_frame()["probability"]
    np.testing.assert_allclose([float(row["probability"]) for row in rows], confidence, atol=1e-5)
    page.fill("#search", "c1")
    shown = saved_rows(page, "csv-shown")
    assert sorted(row["name"] for row in shown) == [f"C{i}" for i in range(10, 20)]
    assert {"name", "cluster", "probability", "neighbor", "similarity"} <= set(rows[0])  # the words of clusters.csv
    near = saved_rows(page, "csv-neighbors")
    assert list(near[0]) == ["course", "rank", "neighbor", "score"]  # those of neighbors.csv
    assert len(near) == 1500
    assert float(near[0]["score"]) == pytest.approx(tl.neighbors(courses, study[1], k=10).scores[0, 0], abs=1e-3)


def test_the_menu_of_files_closes(page):
    page.click(".menu summary")
    page.keyboard.press("Escape")
    assert not page.locator("#csv-all").is_visible()
    page.click(".menu summary")
    page.click("#courses-heading")
    assert not page.locator("#csv-all").is_visible()


FIGURES = ("panels-svg", "fine-svg", "course-svg", "pair-svg", "bars-svg", "heatmap-svg", "numbers-svg")


def test_figures_can_be_saved(browser, page_path):
    with opened(browser, page_path, color_scheme="dark") as page:
        for button in FIGURES:
            text = downloaded(page, lambda button=button: page.click(f"#{button}"))
            root = ElementTree.fromstring(text)  # noqa: S314 - our own file
            assert root.tag == f"{SVG}svg"
            assert len(list(root.iter())) > 10
            assert "var(" not in text
            assert "#14171c" not in text, "a saved figure has the colours of paper, also from a dark page"


# -- what it must never do -----------------------------------------------------------------------------------------


def test_names_are_only_names(page):
    """No element comes from the data, and nothing in the data runs (dialogs and errors are troubles, see opened)."""
    for i in range(len(HOSTILE)):
        page.fill("#search", HOSTILE[i].strip())
        page.press("#search", "Enter")
        assert page.locator("#course h3 bdi").evaluate("node => node.textContent") == HOSTILE[i]
        page.fill("#other", "A30")
    assert page.locator("main img, main script, main b b, main u").count() == 0
    assert page.locator("script").count() == 2
    assert page.title() == "Profiles <script>alert(5)</script>"
    assert page.locator("h1").evaluate("node => node.textContent") == "Profiles <script>alert(5)</script>"


def test_a_script_put_into_the_page_does_not_run(browser, page_path, tmp_path):
    """The policy allows the page's own program alone, even if an attack got into its text."""
    attacked = tmp_path / "attacked.html"
    text = page_path.read_text(encoding="utf-8")
    attacked.write_text(
        text.replace("</footer>", "<script>document.title = 'taken'</script></footer>"), encoding="utf-8"
    )
    context = browser.new_context()
    page = context.new_page()
    page.goto(attacked.as_uri())
    page.wait_for_selector("html[data-ready]")
    assert page.title() != "taken"
    context.close()


# -- for everybody -------------------------------------------------------------------------------------------------


def test_keyboard_alone(page):
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.focus("#search")
    page.keyboard.type("c4")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.getAttribute('role')") == "grid"
    page.keyboard.press("ArrowDown")
    assert page.get_attribute("#table table", "aria-activedescendant") == "row-1"
    active = page.evaluate("document.activeElement.getAttribute('aria-activedescendant')")
    name = page.inner_text(f"#{active} .col-name")
    page.keyboard.press("Enter")
    assert page.inner_text("#course h3") == name
    assert page.evaluate("document.activeElement.id") == "course"
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    chosen = page.evaluate("document.activeElement.textContent")
    page.keyboard.press("Enter")
    assert chosen in page.inner_text(".comparison h4")
    page.focus("#table table")
    page.keyboard.press("End")
    assert page.get_attribute("#table table", "aria-activedescendant") == "row-9"


def test_every_control_has_a_name(page):
    tree = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    nameless = [
        node["role"]["value"]
        for node in tree
        if any(p["name"] == "focusable" and p["value"]["value"] for p in node.get("properties", []))
        and node["role"]["value"] not in ("RootWebArea", "main")
        and not node.get("name", {}).get("value", "").strip()
    ]
    assert nameless == []


def test_headings_are_in_order(page):
    levels = page.locator("h1, h2, h3, h4, h5").evaluate_all("nodes => nodes.map(n => Number(n.tagName[1]))")
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert max(np.diff(levels)) <= 1


CONTRAST = """() => {
  const parse = (color) => (color.match(/[\\d.]+/g) ?? []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const color = parse(getComputedStyle(at).backgroundColor);
      if (color.length === 3 || color[3] > 0) return color;
    }
    return [255, 255, 255];
  };
  const texts = [...document.querySelectorAll("body *")].filter((node) => node.checkVisibility()
    && [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim()));
  return texts.map((node) => {
    const color = node.closest("svg") ? getComputedStyle(node).fill : getComputedStyle(node).color;
    const [a, b] = [light(parse(color)), light(behind(node))].sort((x, y) => y - x);
    return [`${node.tagName}.${node.className}`, (a + 0.05) / (b + 0.05)];
  });
}"""


@pytest.mark.parametrize("colors", ["light", "dark"])
def test_text_can_be_read(browser, page_path, colors):
    with opened(browser, page_path, color_scheme=colors) as page:
        measured = page.evaluate(CONTRAST)
        assert len(measured) > 200
        assert [(what, round(ratio, 2)) for what, ratio in measured if ratio < 4.5] == []


def test_dark_and_light_can_be_switched(browser, page_path):
    background = "getComputedStyle(document.body).backgroundColor"
    with opened(browser, page_path, color_scheme="dark") as page:
        assert page.evaluate(background) == "rgb(20, 23, 28)"
        page.click("#theme")
        assert page.evaluate(background) == "rgb(255, 255, 255)"
        page.emulate_media(media="print", color_scheme="dark")
        assert page.evaluate(background) == "rgb(255, 255, 255)"


@pytest.mark.parametrize("width", [320, 390, 768])
def test_a_phone_needs_no_sideways_scrolling(browser, page_path, width):
    with opened(browser, page_path, width=width, height=800) as page:
        find(page, "C10")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.inner_text("#course h3") == "C10"


def test_print_shows_some_rows_and_no_controls(page):
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert rows_of(page).count() == 25
    assert not page.locator("#search").is_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.pdf(print_background=True).startswith(b"%PDF")
