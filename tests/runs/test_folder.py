"""The folder of a run: neighbours are read from it as they were found, and searched only where that is needed."""

import json
import pickle
import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import timelike as tl
from timelike.base.files import checksum
from timelike.cli import main
from timelike.runs.analysis import Analysis
from timelike.runs.folder import page, write

ODD_NAMES = ["=1+1", "NA", "", "1.0", "1e5", 'a "b", c', "'quoted", " padded ", "line\nbreak", "Ä", "-x", "@y"]


def run(*arguments):
    return CliRunner().invoke(main, [str(a) for a in arguments])


@pytest.fixture(scope="module", params=["one grid", "own times"])
def done(request, tmp_path_factory):
    """An analysis with its folder; the names of some courses are hard to write into a table."""
    sampling = "even" if request.param == "one grid" else "asynchronous"
    courses, _ = tl.simulate.profiles(per_group=8, noise=0.05, sampling=sampling, seed=4)
    names = [*ODD_NAMES, *courses.names[len(ODD_NAMES) :]]
    frame = courses.to_frame()
    frame["course"] = frame["course"].map(dict(zip(courses.names, names, strict=True)))
    out = tmp_path_factory.mktemp("runs") / "out"
    return tl.analyse(tl.TimeCourses.from_long(frame), out, k=3), out


@pytest.fixture
def copy(done, tmp_path):
    """The folder once more, to be changed."""
    return shutil.copytree(done[1], tmp_path / "copy")


@pytest.fixture
def searches(monkeypatch):
    """The searches that an analysis makes from now on."""
    made = []

    def search(*arguments, **options):
        made.append(arguments)
        return tl.neighbors(*arguments, **options)

    monkeypatch.setattr("timelike.runs.analysis.neighbors", search)
    return made


def assert_same(read, found):
    np.testing.assert_array_equal(read.indices, found.indices)
    assert read.indices.dtype == found.indices.dtype
    assert read.scores.tobytes() == found.scores.tobytes()
    assert (read.names, read.others, read.route, read.recall) == (found.names, None, found.route, found.recall)
    assert repr(read) == repr(found)


def test_neighbours_that_are_read_are_those_that_were_found(done, searches):
    analysis, out = done
    assert_same(Analysis.load(out).neighbors, analysis.neighbors)
    assert searches == []


def test_predict_does_not_search_neighbours(done, copy, searches, tmp_path):
    analysis, out = done
    analysis.courses[12:].to_frame().to_csv(tmp_path / "new.csv", index=False)
    (copy / "neighbors.csv").unlink()
    for folder, table in ((out, "p.csv"), (copy, "q.csv")):
        result = run("predict", folder, tmp_path / "new.csv", "--out", tmp_path / table)
        assert result.exit_code == 0, result.output
    assert (tmp_path / "p.csv").read_bytes() == (tmp_path / "q.csv").read_bytes()
    assert searches == []


def test_a_report_from_the_folder_is_the_same_page(done, searches, tmp_path):
    assert run("report", done[1], "--out", tmp_path / "page.html").exit_code == 0
    assert (tmp_path / "page.html").read_bytes() == (done[1] / "report.html").read_bytes()
    assert searches == []


def test_an_analysis_that_is_not_written_searches_when_asked(done, searches):
    analysis, _ = done
    alone = tl.analyse(analysis.courses, model=analysis.gp, k=3)
    assert searches == []
    assert_same(alone.neighbors, analysis.neighbors)
    assert len(searches) == 1


def test_an_analysis_that_is_written_searches_once(done, searches, tmp_path):
    analysis, _ = done
    written = tl.analyse(analysis.courses, tmp_path / "out", model=analysis.gp, k=3)
    (tmp_path / "out" / "neighbors.csv").unlink()
    assert_same(written.neighbors, analysis.neighbors)
    assert len(searches) == 1


def test_neighbours_are_searched_once(copy, searches):
    (copy / "neighbors.csv").unlink()
    again = Analysis.load(copy)
    assert searches == []
    assert again.neighbors is again.neighbors
    assert len(searches) == 1


def change_a_score(folder):
    table = pd.read_csv(folder / "neighbors.csv", keep_default_na=False)
    table.assign(score=table["score"] + 1).to_csv(folder / "neighbors.csv", index=False)


def forget(name):
    def change(folder):
        record = json.loads((folder / "run.json").read_text())
        del record[name]
        (folder / "run.json").write_text(json.dumps(record))

    return change


def forge(text):
    def change(folder):
        (folder / "neighbors.csv").write_text(text)
        record = json.loads((folder / "run.json").read_text())
        record["outputs"]["neighbors.csv"] = checksum(folder / "neighbors.csv")
        (folder / "run.json").write_text(json.dumps(record))

    return change


CHANGES = {
    "absent": lambda folder: (folder / "neighbors.csv").unlink(),
    "changed by hand": change_a_score,
    "of an earlier version": forget("search"),
    "too short": forge("course,rank,neighbor,score\nNA,1,1.0,2.5\n"),
    "of unknown courses": forge("course,rank,neighbor,score\n" + "NA,1,who,2.5\n" * 240),
    "without numbers": forge("course,rank,neighbor,score\n" + "NA,1,1.0,near\n" * 240),
    "without columns": forge("a,b\n1,2\n"),
    "empty": forge(""),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_neighbours_that_are_not_as_the_run_wrote_them_are_searched(done, copy, searches, change):
    change(copy)
    assert_same(Analysis.load(copy).neighbors, done[0].neighbors)
    assert len(searches) == 1


def test_names_that_a_table_cannot_tell_apart_are_searched(tmp_path, searches):
    courses, _ = tl.simulate.profiles(per_group=2, seed=1)
    names = ["=a", "'=a", *courses.names[2:]]
    found = tl.analyse(tl.TimeCourses.from_arrays(*courses.to_matrix(), names), tmp_path / "out", k=2)
    searches.clear()
    assert_same(Analysis.load(tmp_path / "out").neighbors, found.neighbors)
    assert len(searches) == 1


def test_what_a_search_missed_is_told_from_the_folder_too(done, tmp_path, monkeypatch):
    analysis, _ = done
    partly = replace(analysis.neighbors, route="candidates", recall=0.9625)
    monkeypatch.setattr("timelike.runs.analysis.neighbors", lambda *_, **__: partly)
    write(replace(analysis, files=()), tmp_path / "out", say=lambda _: None)
    again = Analysis.load(tmp_path / "out")
    assert_same(again.neighbors, partly)
    page(again, tmp_path / "page.html")
    assert "96.2 % of the true ones are found" in (tmp_path / "page.html").read_text("utf-8")
    assert (tmp_path / "page.html").read_bytes() == (tmp_path / "out" / "report.html").read_bytes()


def test_an_analysis_can_be_sent(done):
    analysis, out = done
    for made in (analysis, Analysis.load(out)):
        sent = pickle.loads(pickle.dumps(made))  # noqa: S301  # made above
        assert_same(sent.neighbors, analysis.neighbors)
