"""How fine to look: the words, the data and the panel of the report, also in a browser."""

import base64
import json
import re
from dataclasses import replace

import numpy as np
import pytest

import timelike as tl
from browser import opened, running_browser
from sliced import clean_study
from timelike.clusters.curves.granularity import coarsest
from timelike.reporting.methods_paragraph import methods
from timelike.reporting.page_data import content
from timelike.reporting.page_json import script_json
from timelike.reporting.report import report
from timelike.reporting.subject import Subject
from timelike.reporting.words import clusters, facts, summary


@pytest.fixture(scope="module")
def study():
    return clean_study()


@pytest.fixture(scope="module")
def found(study):
    return study[2]


def subject(courses, gp, clustering, **settings):
    neighbors = tl.neighbors(courses, gp, k=4)
    return Subject(courses=courses, gp=gp, clustering=clustering, neighbors=neighbors, **settings)


def made(study, clustering, **settings):
    return subject(*study[:2], clustering, **settings)


def how_many(about):
    return {noun: remark for _, noun, remark in facts(about)}["clusters"]


def unpacked(entry):
    return np.frombuffer(base64.b64decode(entry["data"]), dtype=entry["type"])


def fine_data(study, clustering):
    return json.loads(script_json(content(made(study, clustering))))["fine"]


# -- words ---------------------------------------------------------------------------------------------------------


def test_clusters_that_stand_out_are_said_to(study, found):
    about = made(study, found)
    finest = found.finest.k
    assert how_many(about) == "that stand out by wide gaps"
    assert clusters(about).startswith(f"They fall into 4 clusters that stand out: {finest} finer ones describe them")
    assert summary(about)[1].startswith("Wide gaps keep all clusters apart.")
    told = methods(about)[0]
    assert f"; {finest} clusters with the largest evidence (" in told
    assert "not known) were merged into the groups" in told
    assert "gaps at least 1.4 times as wide as any within them" in told
    assert "at least 55 % of the gain in evidence" in told


def test_a_continuum_has_as_few_clusters_as_keep_most(study, found):
    smooth = replace(found.finest, continuum=True)
    few = smooth.at(k=coarsest(found.path))
    assert "no wide gap divides them" in clusters(made(study, few))
    assert "as few as keep three quarters of the gain in evidence" in clusters(made(study, few))
    assert (
        "to as few as keep three quarters of the gain in evidence over a single cluster" in methods(made(study, few))[0]
    )
    other = smooth.at(k=9)
    for told in (clusters(made(study, other)), methods(made(study, other))[0]):
        assert "three quarters" not in told
    assert "a choice of how fine to look" in clusters(made(study, other))


def test_a_tolerance_that_was_given_is_said(study, found):
    about = made(study, found.at(0.5), run={"tolerance": 0.5, "k": None})
    assert how_many(about) == "at the tolerance that was given"
    assert "curves that differ by less than the tolerance that was given, 0.5, are one" in clusters(about)
    assert "were merged where their curves differ by less than a tolerance of 0.5" in methods(about)[0]


def test_what_was_merged_on_demand_is_said_to_be(study, found):
    told = methods(made(study, found.at(k=6)))[0]
    assert f"; {found.finest.k} clusters with the largest evidence (" in told
    assert "not known) were merged, the nearest" in told
    given = tl.mixture(*study[:2], k=5, noise="common", refine=False).at(k=3)
    assert "; 5 clusters were merged, the nearest first" in methods(made(study, given))[0]


def test_the_least_sure_cluster_is_named(study, found):
    chances = found.probabilities.copy()
    chances[found.labels == 2] *= 0.75
    about = made(study, replace(found, probabilities=chances))
    assert "The least sure is cluster 2: 100 % of its courses have a probability below 0.8" in summary(about)[1]
    assert "least sure" not in summary(made(study, found))[1]


# -- data ----------------------------------------------------------------------------------------------------------


def test_the_page_has_the_finest_clusters_and_every_level(study, found):
    data = fine_data(study, found)
    fine = found.finest
    assert (data["k"], data["shown"], data["sizes"]) == (fine.k, 4, fine.sizes.tolist())
    grid = np.linspace(0, 1, 81)
    curves = unpacked(data["curves"]).reshape(fine.k, 81) + study[1].mean
    np.testing.assert_allclose(curves, fine.curves(grid[:, None]).mean, atol=1e-3)
    np.testing.assert_array_equal(data["partOf"], found.part_of)
    for k, level in enumerate(data["levels"], start=1):
        there = found.at(k=k)
        part_of = np.arange(k) if there.part_of is None else there.part_of
        number = {group: int(part_of[leaf]) for leaf, group in enumerate(level["of"])}
        assert sorted(number.values()) == list(range(k))
        assert [number[group] for group in level["of"]] == part_of.tolist()
        if k > 1:
            near = {number[group]: number[other] for group, other in enumerate(level["nearest"])}
            assert near == {c: border.nearest for c, border in enumerate(there.borders)}
        np.testing.assert_allclose([level["unsure"][g] for g in sorted(number, key=number.get)], there.unsure)
    assert [level["low"] for level in data["levels"]] == found.path_frame().tolerance_from[: fine.k].tolist()
    assert data["split"][2] is True  # three groups into the four that stand out
    assert data["split"][3] is False  # and these into slices


def test_what_has_no_tree_has_no_panel(study):
    courses, gp, _ = study
    alone = content(made(study, tl.mixture(courses, gp, k=1, noise="common", refine=False)))
    assert alone["fine"] is None
    assert alone["borders"]["gap"] == [None]
    plain = content(made(study, tl.hierarchical(tl.similarity(courses, gp), 3)))
    assert (plain["fine"], plain["borders"]) == (None, None)


def test_linked_clusters_have_a_tree_as_well(study):
    courses, gp, _ = study
    linked = tl.evidence_linkage(courses[:60], gp, 5)
    data = content(subject(courses[:60], gp, linked))["fine"]
    assert (data["k"], data["shown"], data["command"]) == (5, 5, False)
    assert sum(data["sizes"]) == 60


# -- the panel in a browser ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser():
    with running_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def page_path(study, tmp_path_factory):
    return report(tmp_path_factory.mktemp("fine") / "report.html", *study, time_unit="h")


@pytest.fixture
def page(browser, page_path):
    with opened(browser, page_path) as page:
        yield page


def sizes(page):
    captions = page.locator(".mini figcaption").all_inner_texts()
    return [int(text.split()[-1]) for text in captions]


def test_the_slider_merges_and_splits(page, found):
    assert page.input_value("#fine-level") == "4"
    assert "4 clusters, at tolerances from" in page.inner_text("#fine-status")
    assert "the level that this page shows" in page.inner_text("#fine-status")
    assert page.is_disabled("#fine-shown")
    for k in range(1, found.finest.k + 1):
        page.fill("#fine-level", str(k))
        assert sorted(sizes(page)) == sorted(found.at(k=k).sizes)
        assert page.locator("#fine-tree circle").count() == k
        assert page.inner_text("#fine-status").startswith(f"{k} cluster")
        asked = re.search(r"tolerance=([\d.e-]+)", page.inner_text("#fine-how"))
        assert found.at(tolerance=float(asked[1])).k == k
    page.click("#fine-shown")
    assert page.input_value("#fine-level") == "4"


def test_the_slider_needs_no_mouse(page):
    page.focus("#fine-level")
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#fine-status").startswith("5 clusters")
    assert page.get_attribute("#fine-level", "aria-valuetext") == page.inner_text("#fine-status")
    assert "which run into each other: a matter of taste" in page.inner_text("#fine-split")
    page.keyboard.press("Home")
    assert page.inner_text("#fine-status").startswith("1 cluster, at tolerances above")
    assert "None" not in page.inner_text("#fine")
    page.keyboard.press("End")
    assert "the finest, at tolerances below" in page.inner_text("#fine-status")
    assert "--tolerance 0 " in page.inner_text("#fine-how")


def test_a_place_in_the_tree_is_a_tolerance(page, found):
    box = page.locator("#fine-tree svg").bounding_box()
    page.locator("#fine-tree svg").click(position={"x": 12, "y": box["height"] / 2})
    assert page.input_value("#fine-level") == "1"
    page.locator("#fine-tree svg").click(position={"x": box["width"] - 86, "y": box["height"] / 2})
    assert page.input_value("#fine-level") == str(found.finest.k)


def test_the_curves_are_means_of_the_finest(page, study, found):
    """The thick line of a merged cluster, in its picture, against the mean of the finest curves by their sizes."""
    drawn = page.locator(".mini path:last-of-type").first.get_attribute("d")
    ys = np.array([float(pair.split()[1]) for pair in drawn.removeprefix("M").split("L")])
    curves = found.finest.curves(np.linspace(0, 1, 81)[:, None]).mean
    own = found.part_of == found.part_of[fine_data(study, found)["order"][0]]
    mean = np.average(curves[own], axis=0, weights=found.finest.sizes[own])
    low, high = curves.min() - 0.06 * np.ptp(curves), curves.max() + 0.06 * np.ptp(curves)
    np.testing.assert_allclose(ys, 90 - 88 * (mean - low) / (high - low), atol=0.1)


def test_cards_say_what_is_sure(page):
    page.locator(".panel button").first.click()
    card = page.inner_text("#cluster")
    assert re.search(r"apart: cluster \d is the nearest \(gap [\d.]+\)", card)
    assert "all sure" in card


@pytest.mark.parametrize("colors", ["light", "dark"])
def test_the_panel_fits_a_phone_and_paper(browser, page_path, colors):
    with opened(browser, page_path, width=320, height=700, color_scheme=colors) as page:
        page.fill("#fine-level", "12")
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        page.emulate_media(media="print")
        assert page.locator("#fine-tree svg").is_visible()
        assert not page.locator("#fine-level").is_visible()
        assert page.locator(".mini").count() == 12


def test_merges_of_equal_height_are_asked_for_by_number(browser, study, found, tmp_path):
    tree = found.tree.copy()
    tree[4:7, 2] = tree[4, 2]
    tied = replace(found)
    tied.__dict__["tree"] = tree
    with opened(browser, report(tmp_path / "tied.html", *study[:2], tied)) as page:
        page.fill("#fine-level", str(found.finest.k - 5))
        assert "at no tolerance of their own: several merge at" in page.inner_text("#fine-status")
        assert f"found.at(k={found.finest.k - 5}) in Python." in page.inner_text("#fine-how")


def test_a_report_without_a_tree_has_no_panel(browser, study, tmp_path):
    courses, gp, _ = study
    path = report(tmp_path / "one.html", courses, gp, tl.hierarchical(tl.similarity(courses, gp), 3))
    with opened(browser, path) as page:
        assert page.locator("#fine, nav a[href='#fine']").count() == 0
