"""The app in a real browser: from a dropped file to the report, and what may go wrong on the way."""

import os
import socket
from contextlib import suppress

import numpy as np
import pytest

pytest.importorskip("uvicorn")
from browser import running_browser
from running_app import running

SHAPES = (np.array([0, 1, 2, 2, 2, 2]), np.array([0, 2, 1, 0, 0, 0]), np.zeros(6))


def table(header="gene,0h,1h,2h,4h,8h,12h", count=30, first=None):
    rng = np.random.default_rng(0)
    rows = [f"g{i}," + ",".join(f"{v:.3f}" for v in SHAPES[i % 3] + rng.normal(0, 0.1, 6)) for i in range(count)]
    return "\n".join([header, *rows]) + "\n"


@pytest.fixture(scope="module")
def browser():
    with running_browser() as browser:
        yield browser


@pytest.fixture
def client(tmp_path):
    with running(tmp_path, limit=10_000_000) as client:
        yield client


@pytest.fixture
def page(browser, client):
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    problems = []
    page.on("pageerror", lambda problem: problems.append(str(problem)))
    page.on("console", lambda message: problems.append(message.text) if "Content Security" in message.text else None)
    page.goto(client.guard.address)
    yield page
    context.close()
    assert problems == []


def drop(page, *files):
    """Let go of files above the page, as a mouse does."""
    page.evaluate(
        """(files) => {
            const carried = new DataTransfer();
            for (const [name, text] of files) carried.items.add(new File([text], name));
            document.getElementById("drop").dispatchEvent(
                new DragEvent("drop", { dataTransfer: carried, bubbles: true, cancelable: true }));
        }""",
        [list(file) for file in files],
    )


def picture(page, name):
    """Keep a picture of the page, where somebody wants to look."""
    if folder := os.environ.get("TIMELIKE_PICTURES"):
        page.screenshot(path=f"{folder}/{name}.png", full_page=True)


def test_from_a_dropped_file_to_the_report(page, tmp_path):
    assert "token" not in page.url
    picture(page, "app_1_start")
    drop(page, ("genes.csv", table()))
    page.get_by_text("30 courses, 6 times (0 to 12 h)").wait_for()
    assert page.locator("#picture path").count() == 24
    assert page.locator("#preview th").first.inner_text() == "gene"
    assert not page.locator("#menus").is_visible(), "nothing is wrong, nothing to correct"
    picture(page, "app_2_understood")
    page.get_by_label("Title").fill("My genes")
    page.get_by_label("Title").press("Tab")
    page.get_by_role("button", name="Run", exact=True).click()
    page.locator(".job[data-state=running] pre").wait_for()
    picture(page, "app_3_running")
    report = page.frame_locator("#report")
    report.locator("h1").wait_for(timeout=120_000)
    assert report.locator("h1").inner_text() == "My genes"
    report.locator("html[data-ready]").wait_for()
    page.locator("#report-section").scroll_into_view_if_needed()
    picture(page, "app_4_report")
    assert (tmp_path / "My genes" / "run.json").is_file()
    with page.expect_download() as archive:
        page.get_by_text("Download everything").click()
    assert archive.value.suggested_filename == "My genes.zip"
    page.get_by_text("Files", exact=True).click()
    with page.expect_download() as file:
        page.locator("#outputs").get_by_text("clusters.csv", exact=True).click()
    assert file.value.suggested_filename == "clusters.csv"


def sets():
    return "".join(
        f"SET {kind}\tabout {kind}\t" + "\t".join(f"g{i}" for i in range(kind, 30, 3)) + "\n" for kind in range(3)
    )


def test_gene_sets_beside_the_table(page):
    drop(page, ("sets.gmt", sets()))
    page.get_by_text("drop the table of their courses too").wait_for()
    drop(page, ("genes.csv", table()))
    page.get_by_text("terms for the groups, from sets.gmt: 3 gene sets of 10 to 10 genes, 30 genes in all").wait_for()
    assert not page.get_by_text("drop the table of their courses too").is_visible()
    assert page.get_by_label("What sets.gmt is").input_value() == "gmt"
    picture(page, "app_8_sets")
    page.get_by_label("Number of clusters").fill("3")
    page.get_by_label("Number of clusters").press("Tab")
    page.get_by_role("button", name="Run", exact=True).click()
    report = page.frame_locator("#report")
    report.locator("html[data-ready]").wait_for(timeout=120_000)
    for kind in range(3):
        assert report.get_by_text(f"about {kind}").count() > 0
    page.locator("#report-section").scroll_into_view_if_needed()
    picture(page, "app_9_terms")


def test_gene_sets_that_are_damaged_and_an_ontology_alone(page):
    drop(page, ("genes.csv", table()), ("sets.gmt", sets() + "SET 3\n"))
    page.locator("#trouble").get_by_text("sets.gmt, line 4: 1 column").wait_for()
    page.get_by_text("30 courses, 6 times").wait_for()
    assert page.get_by_role("button", name="Run", exact=True).is_disabled()
    assert not page.locator("#menus").is_visible(), "the table is right"
    picture(page, "app_10_damaged_sets")
    page.get_by_role("button", name="Remove sets.gmt").click()
    page.locator("#trouble").wait_for(state="hidden")
    obo = "default-namespace: biological_process\n\n[Term]\nid: GO:1\n"
    drop(page, ("go.obo", obo))
    page.locator("#trouble").get_by_text("go.obo says which terms there are").wait_for()
    drop(page, ("more.obo", obo))
    page.locator("#trouble").get_by_text("more.obo is the second file of the kind").wait_for()
    page.get_by_role("button", name="Remove more.obo").click()
    drop(page, ("gene_association.mgi", "g0,GO:1\n"))
    page.get_by_text("terms for the groups, from go.obo, gene_association.mgi: 1 statements").wait_for()


def asked_of(listener):
    """What was asked of a listener so far; a browser may connect without asking for anything."""
    listener.settimeout(1)
    found = []
    with suppress(TimeoutError):
        while True:
            line, _ = listener.accept()
            line.settimeout(1)
            with line, suppress(TimeoutError):
                found += [line.recv(100)]
    return [text for text in found if text]


def test_a_report_is_a_page_from_nowhere(browser, client, tmp_path):
    run = tmp_path / "hostile"
    run.mkdir()
    (run / "run.json").write_text("{}")
    context = browser.new_context()
    page = context.new_page()
    with socket.create_server(("127.0.0.1", 0)) as spy:
        elsewhere = f"http://127.0.0.1:{spy.getsockname()[1]}"
        (run / "report.html").write_text(
            "<p id=out>waiting</p><script>let seen = [];"
            "try { seen.push(parent.document.title) } catch (e) { seen.push('no parent') }"
            "try { seen.push(document.cookie) } catch (e) { seen.push('no cookie') }"
            "fetch('/api/runs').then(() => seen.push('asked')).catch(() => seen.push('no answer'))"
            ".finally(() => { document.getElementById('out').textContent = seen.join() })</script>"
            f"<img src={elsewhere}><iframe src={elsewhere}></iframe>"
        )
        page.goto(client.guard.address)
        page.get_by_role("button", name="hostile").click()
        page.frame_locator("#report").get_by_text("no parent,no cookie,no answer").wait_for()
        page.goto(f"http://127.0.0.1:{client.guard.port}/runs/hostile/report.html")
        page.get_by_text("no cookie,no answer").wait_for()
        assert asked_of(spy) == []
    context.close()


def test_a_column_is_corrected_by_a_menu(page):
    text = "id,when,mmHg,weight\n" + "".join(f"p{i},{t},{120 + i + t},{60 + i}\n" for i in range(6) for t in range(4))
    drop(page, ("visits.csv", text))
    page.locator("#trouble").get_by_text("has no times").wait_for()
    assert page.get_by_role("button", name="Run", exact=True).is_disabled()
    page.locator("select[name=time]").select_option("when")
    page.locator("select[name=value]").select_option("mmHg")
    page.get_by_text("6 courses, 4 times (0 to 3)").wait_for()
    assert page.locator("#trouble").is_hidden()
    assert page.get_by_role("button", name="Run", exact=True).is_enabled()
    picture(page, "app_5_corrected")


def test_a_sample_sheet_and_counts(page):
    rng = np.random.default_rng(1)
    counts = "gene," + ",".join(f"s{i}" for i in range(8)) + "\n"
    counts += "".join(f"g{i}," + ",".join(map(str, rng.poisson(100, 8))) + "\n" for i in range(20))
    sheet = "sample,hours,strain\n" + "".join(f"s{i},{i % 4},{'wt' if i < 4 else 'mut'}\n" for i in range(8))
    drop(page, ("counts.csv", counts), ("samples.csv", sheet))
    page.get_by_text("40 courses, 4 times (0 to 3 h)").wait_for()
    page.get_by_text("Not right?").click()
    page.locator("input[name=counts]").check()
    page.get_by_text("counts: normalised").wait_for()


def test_a_bad_file_is_told_where(page):
    drop(page, ("bad.csv", "gene,0h,1h\na,1,2\nb,3,x\n"))
    page.locator("#trouble").get_by_text("bad.csv: line 3, column '1h': 'x'").wait_for()
    picture(page, "app_6_bad")


def test_names_in_a_report_are_text(page, tmp_path):
    bad = "<img src=x onerror=alert(1)>"
    rows = "".join(f"{bad}{i},</script>{bad},{i % 2},{i % 2 * 2},{i % 2 * 3},{i % 3}\n" for i in range(12))
    dialogs = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    drop(page, ("</script><script>alert(2)</script>.csv", f"gene{bad},note{bad},0h,1h,2h,4h\n{rows}"))
    page.get_by_text("12 courses, 4 times").wait_for()
    page.get_by_label("Title").fill(f"</title></script>{bad}")
    page.get_by_label("What the values are").fill(bad)
    page.get_by_role("button", name="Run", exact=True).click()
    report = page.frame_locator("#report")
    report.locator("html[data-ready]").wait_for(timeout=120_000)
    assert bad in report.locator("h1").inner_text()
    report.locator(".panel button").first.click()
    assert report.locator("img").count() == page.locator("img").count() == len(dialogs) == 0


def test_a_page_loaded_again_shows_the_run_that_goes_on(page, tmp_path):
    drop(page, ("genes.csv", table()))
    page.get_by_text("30 courses, 6 times").wait_for()
    page.get_by_role("button", name="Run", exact=True).click()
    page.locator(".job[data-state=running]").wait_for()
    page.reload()
    page.locator(".job[data-state=running]").wait_for()
    page.locator("#runs button", has_text="genes").click(timeout=120_000)
    page.frame_locator("#report").locator("h1").wait_for()


def test_names_are_text(page):
    drop(page, ("<img src=x onerror=alert(1)>.csv", table("gene <b>x</b>,0h,1h,2h,4h,8h,12h")))
    page.get_by_text("30 courses").wait_for()
    assert page.locator("#preview th").first.inner_text() == "gene <b>x</b>"
    assert page.locator("img").count() == 0


def test_cancel_and_a_second_tab(page, client, tmp_path):
    drop(page, ("genes.csv", table(count=3000)))
    page.get_by_text("3,000 courses").wait_for()
    page.get_by_role("button", name="Run", exact=True).click()
    page.locator(".job[data-state=running]").wait_for()
    other = page.context.new_page()
    other.goto(f"http://127.0.0.1:{client.guard.port}/")
    other.locator(".job[data-state=running]").wait_for()
    other.get_by_role("button", name="Cancel").click()
    for one in (other, page):
        one.locator(".job[data-state=cancelled]").wait_for()
    assert {path.name for path in tmp_path.iterdir()} == {"inputs"}


def test_on_a_phone_in_the_dark(browser, client):
    context = browser.new_context(viewport={"width": 390, "height": 800}, color_scheme="dark")
    page = context.new_page()
    page.goto(client.guard.address)
    drop(page, ("genes.csv", table()))
    page.get_by_text("30 courses").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    picture(page, "app_7_phone_dark")
    context.close()


def test_an_app_that_is_gone_is_said(browser, tmp_path):
    context = browser.new_context()
    page = context.new_page()
    with running(tmp_path) as client:
        page.goto(client.guard.address)
        page.get_by_text("None yet.").wait_for()
    page.get_by_text("The app does not answer any more").wait_for(timeout=10_000)
    context.close()
