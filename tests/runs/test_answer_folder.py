"""The folder of a question: what was computed stays, whatever fails later; and its record is read again."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest

import timelike as tl
from timelike.exceptions import DataWarning, InputError
from timelike.runs.ask import ask
from timelike.runs.question_record import FORMAT, QuestionRecord, Wish

TIMES = np.repeat([0.0, 2, 4, 8], 3)
NAMES = [f"g{i}" for i in range(30)]
FIGURES = {f"{name}{ending}" for name in ("volcano", "top") for ending in (".png", ".svg", ".pdf")}
ALL = {"model.json", "differences.csv", "difference_curves.csv", "report.html", "run.json", *FIGURES}
STEPS = {
    "report": ("timelike.runs.answer_folder.report_answer", {"report.html"}, "no report: "),
    "volcano": ("timelike.plot.volcano", {f"volcano{e}" for e in (".png", ".svg", ".pdf")}, "no figure volcano: "),
    "panels": ("timelike.plot.differences", {f"top{e}" for e in (".png", ".svg", ".pdf")}, "no figure top: "),
    "curves": ("timelike.runs.answer_folder.effects_of", {"difference_curves.csv"}, "no difference_curves.csv: "),
}


def conditions():
    rng = np.random.default_rng(1)
    wild, mutant = rng.normal(size=(2, 30, 12))
    mutant[:4] += 6 * (TIMES > 2)
    return {name: tl.TimeCourses.from_arrays(TIMES, values, NAMES) for name, values in (("wt", wild), ("mut", mutant))}


def files_of(folder):
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("step", STEPS)
def test_what_fails_takes_nothing_with_it(step, tmp_path, monkeypatch):
    place, lost, words = STEPS[step]

    def fail(*_, **__):
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(place, fail)
    with pytest.warns(DataWarning, match=words):
        asked = ask("compare", conditions(), tmp_path / "out", top=2)
    assert files_of(tmp_path / "out") == ALL - lost
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert set(record["outputs"]) == ALL - lost - {"run.json"}
    assert any(note.startswith(words) for note in record["notes"])
    assert {path.name for path in asked.files} == ALL - lost - {"run.json"}


def test_everything_is_written_and_the_page_has_the_settings(tmp_path):
    asked = ask("compare", conditions(), tmp_path / "out", top=2, check=1, title="Wild & mutant", time_unit="h")
    assert files_of(tmp_path / "out") == ALL | {"check.csv"}
    html = (tmp_path / "out" / "report.html").read_text()
    assert "<title>Wild &amp; mutant</title>" in html
    assert "asked of permuted samples" in html
    check = pd.read_csv(tmp_path / "out" / "check.csv")
    assert list(check.columns) == ["stated", "called", "by_chance"]
    assert check["called"].tolist() == [len(asked.found.called(rate)) for rate in check["stated"]]


def test_a_check_that_fails_leaves_the_page(tmp_path, monkeypatch):
    def fail(*_, **__):
        raise InputError("samples of paired subjects are not exchanged.")

    monkeypatch.setattr("timelike.questions.found.Found.check", fail)
    with pytest.warns(DataWarning, match=r"no check\.csv: samples of paired subjects"):
        ask("compare", conditions(), tmp_path / "out", top=2, check=1)
    assert files_of(tmp_path / "out") == ALL


def test_where_nothing_is_called_all_files_are_there(tmp_path):
    rng = np.random.default_rng(2)
    same = {name: tl.TimeCourses.from_arrays(TIMES, rng.normal(size=(30, 12)), NAMES) for name in ("a", "b")}
    asked = ask("compare", same, tmp_path / "out", top=2)
    assert asked.record.answer.startswith("0 of 30 courses differ")
    assert files_of(tmp_path / "out") == ALL
    curves = pd.read_csv(tmp_path / "out" / "difference_curves.csv")
    assert list(curves.columns) == ["name", "first", "second", "time", "mean", "sd"]
    assert len(curves) == 0


def test_a_record_is_read_again(tmp_path):
    asked = ask("changing", conditions()["mut"], tmp_path / "out", top=1, fdr=0.1)
    assert QuestionRecord.load(tmp_path / "out" / "run.json") == asked.record


@pytest.mark.parametrize(
    ("entry", "value", "words"),
    [
        ("format", "timelike run 1", f'expected JSON with "format": {FORMAT!r}'),
        ("question", "why", "the entry 'question' is 'why': expected compare or changing"),
        ("sources", {}, "expected a source for each condition"),
        ("wish", {"colour": "red"}, "the entry 'wish' is not what timelike writes"),
        ("wish", {"fdr": 7}, "fdr is 7"),
        ("outputs", {"a": 1}, "the entry 'outputs'"),
    ],
)
def test_a_damaged_record_is_refused(entry, value, words, tmp_path):
    ask("changing", conditions()["mut"], tmp_path / "out", top=1)
    path = tmp_path / "out" / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {entry: value}))
    with pytest.raises(InputError, match=r"run\.json") as told:
        QuestionRecord.load(path)
    assert words in str(told.value)


@pytest.mark.parametrize(
    "wish", [{"fdr": 0}, {"top": 0}, {"check": -1}, {"clock": "round"}, {"kernel": 5}, {"title": 5}, {"colour": "red"}]
)
def test_wishes_that_cannot_be(wish):
    with pytest.raises(InputError):
        Wish.of(**wish)


def test_without_a_folder_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings(action="error"):
        asked = ask("compare", conditions())
    assert asked.files == ()
    assert files_of(tmp_path) == set()
    with pytest.raises(InputError, match="there is no question 'why'"):
        ask("why", conditions())
