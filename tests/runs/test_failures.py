"""A step that fails does not take with it what was computed before: tables and model are written all the same."""

import json
import warnings

import pytest
from click.testing import CliRunner

import timelike as tl
from timelike.cli import main
from timelike.clusters.curves.curve_clustering import CurveClustering
from timelike.exceptions import DataWarning
from timelike.runs.analysis import Analysis
from timelike.runs.failures import attempted

ALWAYS = {"run.json", "model.json", "analysis.npz", "clusters.csv", "curves.csv", "outliers.csv", "numbers.csv"}
FIGURES = {"clusters.png", "clusters.svg", "clusters.pdf"}
LISTS = {"by_cluster.csv", "cluster_0.txt", "cluster_1.txt", "cluster_2.txt"}
ALWAYS |= LISTS
ALL = ALWAYS | FIGURES | {"neighbors.csv", "report.html"}
STEPS = {
    "report": ("timelike.runs.folder.report", {"report.html"}, "no report: "),
    "figures": ("timelike.runs.folder.plot.cluster_panels", FIGURES, "no figures: "),
    "neighbours": ("timelike.runs.analysis.neighbors", {"neighbors.csv"}, "no neighbours: "),
    "a table": ("timelike.runs.folder._curves", {"curves.csv"}, "no curves.csv: "),
    "lists": ("timelike.runs.folder.write_lists", LISTS, "no lists of names: "),
}
PROBLEMS = {
    "foreseen": (tl.InputError("give courses with one time a value."), "give courses with one time a value."),
    "unforeseen": (ZeroDivisionError("oh"), "ZeroDivisionError in test_failures.py, line"),
    "full disk": (OSError(28, "No space left on device"), "No space left on device."),
    "too large": (MemoryError(), "it does not fit into memory. Select courses"),
}


def run(*arguments):
    return CliRunner().invoke(main, [str(a) for a in arguments])


def failing(problem):
    def fail(*_, **__):
        raise problem

    return fail


def names_in(folder):
    return {path.name for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "courses.csv"
    courses, _ = tl.simulate.profiles(per_group=8, noise=0.05, seed=4)
    courses.to_frame().to_csv(path, index=False)
    return path


@pytest.mark.parametrize(("place", "missing", "said"), STEPS.values(), ids=STEPS)
@pytest.mark.parametrize(("problem", "words"), PROBLEMS.values(), ids=PROBLEMS)
def test_all_else_is_written(table, tmp_path, monkeypatch, place, missing, said, problem, words):
    monkeypatch.setattr(place, failing(problem))
    with pytest.warns(DataWarning, match=said):
        found = tl.analyse(table, tmp_path / "out", k=3)
    assert names_in(tmp_path / "out") == ALL - missing == {path.name for path in found.files}
    assert len(found.failed) == 1
    assert found.failed[0].startswith(said + words)
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert found.failed[0] in record["notes"]
    assert {name.removeprefix("lists/") for name in record["outputs"]} == ALL - missing - {"run.json"}
    monkeypatch.undo()
    again = Analysis.load(tmp_path / "out")
    assert again.clustering.labels.tolist() == found.clustering.labels.tolist()


def test_several_steps_may_fail(table, tmp_path, monkeypatch):
    for place, _, _ in STEPS.values():
        monkeypatch.setattr(place, failing(RuntimeError("everything")))
    with warnings.catch_warnings(action="ignore", category=DataWarning):
        found = tl.analyse(table, tmp_path / "out", k=3)
    assert names_in(tmp_path / "out") == ALWAYS - LISTS - {"curves.csv"}
    assert [sentence.partition(":")[0] for sentence in found.failed] == [
        "no neighbours",
        "no curves.csv",
        "no lists of names",
        "no figures",
        "no report",
    ]


def test_the_command_line_says_so_and_exits_with_one(table, tmp_path, monkeypatch):
    monkeypatch.setattr(STEPS["report"][0], failing(ZeroDivisionError("oh")))
    result = run("cluster", table, "--out", tmp_path / "out", "-k", 3)
    assert result.exit_code == 1
    assert "note: no report: ZeroDivisionError in test_failures.py, line" in result.output
    assert result.output.rstrip().endswith(
        f"not everything was made, see the notes above; all else is in {tmp_path / 'out'}"
    )
    assert "in a browser" not in result.output
    assert (tmp_path / "out" / "clusters.csv").exists()
    repeated = run("repeat", tmp_path / "out" / "run.json", "--out", tmp_path / "again")
    assert repeated.exit_code == 1
    assert "the result is the same to the bit" in repeated.output
    monkeypatch.undo()
    assert run("report", tmp_path / "out").exit_code == 0
    assert (tmp_path / "out" / "report.html").exists()


def test_what_failed_stands_in_the_report(table, tmp_path, monkeypatch):
    monkeypatch.setattr(STEPS["figures"][0], failing(tl.InputError("no figure of these courses.")))
    with pytest.warns(DataWarning, match="no figures"):
        tl.analyse(table, tmp_path / "out", k=3)
    assert "no figures: no figure of these courses." in (tmp_path / "out" / "report.html").read_text("utf-8")


def test_terms_may_fail_where_nothing_is_written(table):
    with pytest.warns(DataWarning, match="no table of enriched terms: no gene has annotation"):
        found = tl.analyse(table, k=3, ontology=tl.ontology.example())
    assert found.enrichment is None
    assert found.clustering.k == 3
    assert found.failed == (found.record.notes[-1],)


def test_terms_may_fail_where_all_else_is_written(table, tmp_path):
    with pytest.warns(DataWarning, match="no table of enriched terms"):
        found = tl.analyse(table, tmp_path / "out", k=3, ontology=tl.ontology.example())
    assert {path.name for path in found.files} == ALL
    assert json.loads((tmp_path / "out" / "run.json").read_text())["notes"] == list(found.failed)


def test_a_table_that_cannot_be_made_takes_nothing_with_it(table, tmp_path, monkeypatch):
    out = tmp_path / "out"
    tl.analyse(table, out, k=2)
    monkeypatch.setattr(CurveClustering, "to_frame", failing(ZeroDivisionError("oh")))
    with warnings.catch_warnings(action="ignore", category=DataWarning):
        found = tl.analyse(table, out, k=3, overwrite=True)
    assert found.failed[0].startswith("no clusters.csv: ")
    assert Analysis.load(out).clustering.k == 3  # what was computed is there, in analysis.npz
    assert "clusters.csv" not in names_in(out)
    monkeypatch.undo()
    monkeypatch.setattr(STEPS["report"][0], failing(ZeroDivisionError("oh")))
    with pytest.warns(DataWarning, match="no report"):
        tl.analyse(table, out, k=3, overwrite=True)
    assert names_in(out) == ALL - {"report.html"}  # that of the earlier run is gone
    assert Analysis.load(out).clustering.k == 3


def test_tables_stand_before_figures_are_drawn(table, tmp_path, monkeypatch):
    """Also where the machine kills the rest: what is killed raises nothing that could be caught."""
    monkeypatch.setattr(STEPS["neighbours"][0], failing(tl.InputError("too far.")))
    monkeypatch.setattr(STEPS["figures"][0], failing(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt), pytest.warns(DataWarning, match="no neighbours"):
        tl.analyse(table, tmp_path / "out", k=3)
    assert names_in(tmp_path / "out") == ALWAYS
    assert Analysis.load(tmp_path / "out").record.notes == ("no neighbours: too far.",)


def test_what_succeeds_is_returned_and_nothing_is_said():
    failed = []
    assert attempted("answer", lambda: 42, failed) == 42
    assert failed == []


FULL = OSError(28, "No space left on device")


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("timelike.base.tables.atomic_path", {"no clusters.csv", "no neighbors.csv", "no lists of names"}),
        ("timelike.runs.folder.plot.save", {"no figures"}),
        ("timelike.reporting.report.atomic_write", {"no report"}),
    ],
)
def test_a_disk_that_is_full_at_any_step_takes_nothing_with_it(table, tmp_path, monkeypatch, place, said):
    monkeypatch.setattr(place, failing(FULL))
    with pytest.warns(DataWarning, match="No space left"):
        found = tl.analyse(table, tmp_path / "out", k=3)
    assert said <= {sentence.partition(":")[0] for sentence in found.failed}
    monkeypatch.undo()
    assert Analysis.load(tmp_path / "out").clustering.labels.tolist() == found.clustering.labels.tolist()
    assert not list((tmp_path / "out").glob(".*"))


def test_a_disk_that_is_full_when_the_record_is_renewed(table, tmp_path, monkeypatch):
    from timelike.runs.record import Record

    save, times = Record.save, []

    def once(record, path):
        times.append(path)
        if len(times) > 1:
            raise FULL
        save(record, path)

    monkeypatch.setattr(Record, "save", once)
    with pytest.warns(DataWarning, match=r"no news in run\.json: No space left"):
        found = tl.analyse(table, tmp_path / "out", k=3)
    assert found.failed
    assert Analysis.load(tmp_path / "out").clustering.k == 3


def test_where_nothing_can_be_written_the_command_line_says_so(table, tmp_path, monkeypatch):
    monkeypatch.setattr("timelike.runs.folder.saved.save", failing(FULL))
    result = run("cluster", table, "--out", tmp_path / "out", "-k", 3)
    assert result.exit_code == 1
    assert "Clustering: 24 courses in 3 clusters" in result.output
    assert f"note: no results in {tmp_path / 'out'}: No space left on device." in result.output
    assert result.output.rstrip().endswith(f"see the notes above; nothing is in {tmp_path / 'out'}")


def test_an_earlier_answer_stays_until_a_file_of_the_new_one_is_whole(table, tmp_path, monkeypatch):
    from timelike.runs.ask import ask

    with warnings.catch_warnings(action="ignore", category=DataWarning):
        ask("changing", table, tmp_path / "out")
    before = {path: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    monkeypatch.setattr("timelike.runs.answer_folder.TemporaryDirectory", failing(FULL))
    with warnings.catch_warnings(action="ignore", category=DataWarning):
        found = ask("changing", table, tmp_path / "out", overwrite=True, fdr=0.2)
    assert found.files == ()
    assert len(found.failed) == 6
    assert all("No space left" in sentence for sentence in found.failed)
    assert {path: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before
