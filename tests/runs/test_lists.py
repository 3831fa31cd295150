"""Lists of the names in each cluster: the folder has those that the page offers, under the same names."""

import csv
import io

import numpy as np
import pandas as pd
import pytest

import timelike as tl
from browser import running_browser
from timelike.clusters.clustering import Clustering
from timelike.runs.lists import names_by_cluster, write_lists

NAMES = [f"g{i}" for i in range(19)] + ["=1+1\nx"]


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """Genes under two conditions in two clusters; g4 changes its cluster, and g7 is in none."""
    rng = np.random.default_rng(0)
    times = np.arange(0.0, 10)
    shapes = np.array([np.sin(times / 2), np.cos(times / 2)])
    labels = np.tile(np.arange(20) % 2, 2)
    labels[[4, 7, 27]] = 1, -1, -1
    names = [f"{name} | {condition}" for condition in ("wt", "mut") for name in NAMES]
    courses = tl.TimeCourses.from_arrays(times, shapes[labels] + 0.05 * rng.standard_normal((40, 10)), names)
    clustering = Clustering(labels, courses.names, 2, "any")
    out = tmp_path_factory.mktemp("lists")
    tl.report(out / "report.html", courses, tl.GP.se(2.0, 0.8, 0.06), clustering)
    return courses, clustering, list(write_lists(clustering, courses, out)), out


def test_names_are_without_conditions_and_each_once(done):
    courses, clustering, files, out = done
    assert files == ["lists/cluster_0.txt", "lists/cluster_1.txt", "lists/none.txt", "lists/by_cluster.csv"]
    for file, label in zip(files, (0, 1, -1), strict=False):
        found = (out / file).read_text("utf-8").splitlines()
        inside = set(np.array(courses.plain_names)[clustering.labels == label])
        assert len(found) == len(inside)
        assert set(found) == {name.replace("\n", " ") for name in inside}
        assert ("g4" in found) == (label >= 0)


def test_the_table_has_a_column_a_cluster(done):
    courses, clustering, _, out = done
    table = pd.read_csv(out / "lists" / "by_cluster.csv", dtype=str, keep_default_na=False)
    lists = names_by_cluster(clustering, courses)
    assert list(table.columns) == list(lists) == ["cluster_0", "cluster_1", "none"]
    for column, names in lists.items():
        assert [name.removeprefix("'") for name in table[column] if name] == names
    assert any(name.startswith("'=1+1") for name in table.to_numpy().ravel())


def test_page_and_folder_have_the_same_files(done):
    *_, out = done
    with running_browser() as browser:
        page = browser.new_page()
        page.goto((out / "report.html").as_uri())
        for label, name in (("0", "cluster_0.txt"), ("1", "cluster_1.txt"), ("-1", "none.txt")):
            page.select_option("#cluster-filter", label)
            got, text = downloaded(page, "names-shown")
            assert got == name
            assert sorted(text.splitlines()) == sorted((out / "lists" / name).read_text("utf-8").splitlines())
        got, text = downloaded(page, "names-columns")
        assert got == "by_cluster.csv"
        written = (out / "lists" / got).read_text("utf-8")
        assert list(csv.reader(io.StringIO(text))) == list(csv.reader(io.StringIO(written)))


def downloaded(page, button):
    with page.expect_download() as found:
        page.evaluate("(id) => document.getElementById(id).click()", button)
    return found.value.suggested_filename, found.value.path().read_text("utf-8")


def test_lists_of_an_earlier_run_go_with_it(tmp_path):
    courses, _ = tl.simulate.profiles(per_group=4, noise=0.05, seed=1)
    tl.analyse(courses, tmp_path / "out", k=3)
    (tmp_path / "out" / "lists" / "mine.txt").write_text("mine")
    tl.analyse(courses, tmp_path / "out", k=2, overwrite=True)
    left = {path.name for path in (tmp_path / "out" / "lists").iterdir()}
    assert left == {"cluster_0.txt", "cluster_1.txt", "by_cluster.csv", "mine.txt"}
