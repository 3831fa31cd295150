"""The whole job: what it computes, what it leaves, and that it can be repeated to the bit."""

import json
import re
import shutil
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import timelike as tl
from timelike.base.files import checksum
from timelike.cli import main
from timelike.reporting.subject import Naming
from timelike.runs import folder
from timelike.runs.analysis import Analysis
from timelike.runs.recipe import Recipe

TABLES = {"clusters.csv", "neighbors.csv", "curves.csv", "outliers.csv", "numbers.csv"}
FILES = TABLES | {
    "model.json",
    "analysis.npz",
    "run.json",
    "report.html",
    "clusters.png",
    "clusters.svg",
    "clusters.pdf",
}


def run(*arguments):
    return CliRunner().invoke(main, [str(a) for a in arguments])


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """30 courses as a wide table, some values missing."""
    courses, _ = tl.simulate.profiles(per_group=10, noise=0.05, seed=4)
    times, values = courses.to_matrix()
    values[3, 5] = values[7, 2] = np.nan
    path = tmp_path_factory.mktemp("input") / "genes.csv"
    columns = [f"{time:.3g}h" for time in 10 * times]
    pd.DataFrame(values, index=pd.Index(courses.names, name="gene"), columns=columns).to_csv(path)
    return path


@pytest.fixture(scope="module")
def done(table, tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "first"
    return tl.analyse(table, out), out


def test_it_is_the_sum_of_its_steps(table, done):
    analysis, _ = done
    courses = tl.read(table)
    gp = tl.fit(courses)
    assert analysis.gp.log_likelihood == gp.log_likelihood
    np.testing.assert_array_equal(analysis.clustering.labels, tl.mixture(courses, gp).labels)
    np.testing.assert_array_equal(analysis.neighbors.scores, tl.neighbors(courses, gp, 10).scores)


def test_it_leaves_tables_figures_model_record_and_report(done):
    analysis, out = done
    written = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    lists = {"lists/by_cluster.csv", *(f"lists/cluster_{c}.txt" for c in range(analysis.clustering.k))}
    assert written == FILES | lists == {p.relative_to(out).as_posix() for p in analysis.files}
    assert {name: checksum(out / name) for name in written - {"run.json"}} == analysis.record.outputs
    clusters = pd.read_csv(out / "clusters.csv")
    assert list(clusters["name"]) == list(analysis.courses.names)
    np.testing.assert_array_equal(clusters["cluster"], analysis.clustering.labels)
    curves = pd.read_csv(out / "curves.csv")
    first = curves[curves["cluster"] == 0]
    np.testing.assert_allclose(first["mean"], analysis.clustering.curve(0, first["time"]).mean, rtol=1e-12)
    assert "<html" in (out / "report.html").read_text(encoding="utf-8")


def test_the_neighbour_in_the_table_is_the_most_similar_course(done):
    analysis, _ = done
    S = tl.similarity(analysis.courses, analysis.gp).values.copy()
    np.fill_diagonal(S, -np.inf)
    frame = analysis.to_frame()
    assert list(frame["neighbor"]) == [analysis.courses.names[i] for i in S.argmax(axis=1)]
    np.testing.assert_allclose(frame["similarity"], S.max(axis=1), rtol=1e-8)


def test_an_analysis_is_read_again_from_its_folder(done):
    analysis, out = done
    again = Analysis.load(out)
    pd.testing.assert_frame_equal(again.to_frame(), analysis.to_frame())
    assert again.record == analysis.record


def test_repeating_gives_the_same_bytes(done, tmp_path):
    _, out = done
    result = run("repeat", out / "run.json", "--out", tmp_path / "again")
    assert result.exit_code == 0, result.output
    assert "the result is the same to the bit" in result.output
    for name in TABLES | {"model.json", "analysis.npz", "report.html", "clusters.svg", "clusters.pdf"}:
        assert (tmp_path / "again" / name).read_bytes() == (out / name).read_bytes(), name


def test_repeating_notices_another_result(done, tmp_path):
    _, out = done
    record = json.loads((out / "run.json").read_text())
    record["outputs"]["clusters.csv"] = "0" * 64
    (tmp_path / "run.json").write_text(json.dumps(record))
    result = run("repeat", tmp_path / "run.json", "--out", tmp_path / "again")
    assert result.exit_code == 1
    assert "different: clusters.csv" in result.output


def test_repeating_notices_another_input(done, table, tmp_path):
    _, out = done
    other = tmp_path / "genes.csv"
    other.write_text(table.read_text().replace("A01", "A99"))
    result = run("repeat", out / "run.json", "--file", other, "--out", tmp_path / "again")
    assert result.exit_code == 2
    assert "is not the file of that run" in result.output
    assert not (tmp_path / "again").exists()


def test_a_run_is_not_repeated_over_itself(done):
    _, out = done
    result = run("repeat", out / "run.json", "--out", out, "--force")
    assert result.exit_code == 2
    assert "holds the run that is to be repeated" in result.output


def test_a_model_given_in_python_is_repeated_too(table, tmp_path):
    tl.analyse(table, tmp_path / "out", model=tl.GP.se(4, 1, 0.1), seed=np.int64(3))
    result = run("repeat", tmp_path / "out" / "run.json", "--out", tmp_path / "again")
    assert "the result is the same to the bit" in result.output
    assert Analysis.load(tmp_path / "again").gp.length_scale == 4
    tl.GP.se(5, 1, 0.1).save(tmp_path / "out" / "model.json")
    changed = run("repeat", tmp_path / "out" / "run.json", "--out", tmp_path / "third")
    assert "is not the model of that run" in changed.output


def test_an_overwritten_run_leaves_nothing_behind(table, tmp_path):
    tl.analyse(table, tmp_path / "out")
    (tmp_path / "out" / "mine.txt").write_text("keep")
    tl.analyse(table, tmp_path / "out", method="average", k=2, overwrite=True)
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert "curves.csv" not in names
    assert "mine.txt" in names


def test_a_folder_that_cannot_be_made_is_noticed_before_the_work(table):
    result = run("cluster", table, "--out", table / "sub")
    assert result.exit_code == 2
    assert "cannot make the folder" in result.output
    assert "fitted" not in result.output


def test_clusters_that_lost_all_their_courses_are_drawn(tmp_path):
    (tmp_path / "g.csv").write_text("gene,0h,1h\na,1,2\nb,3,1\nc,2,2.5\n")
    result = run("cluster", tmp_path / "g.csv", "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "out" / "run.json").exists()


@pytest.mark.parametrize("method", [["leiden"], ["sparse-spectral", "-k", "1"]])
def test_graph_methods_take_few_courses(tmp_path, method):
    rows = "".join(f"g{i},{i},{i * i},{3 - i}\n" for i in range(4))
    (tmp_path / "g.csv").write_text("gene,0h,1h,2h\n" + rows)
    result = run("cluster", tmp_path / "g.csv", "--out", tmp_path / "out", "--method", *method)
    assert result.exit_code == 0, result.output


def test_a_given_model_is_not_called_fitted(done, table, tmp_path):
    _, out = done
    assert run("cluster", table, "--model", out / "model.json", "--out", tmp_path / "out").exit_code == 0
    assert "was fitted to all courses" not in (tmp_path / "out" / "report.html").read_text("utf-8")
    both = run("cluster", table, "--model", out / "model.json", "--kernel", "matern32", "--out", tmp_path / "two")
    assert both.exit_code == 2
    assert "a model has its kernel already" in both.output


def test_repeating_says_that_versions_changed(done, tmp_path):
    _, out = done
    record = json.loads((out / "run.json").read_text())
    record["versions"]["numpy"] = "0.1"
    (tmp_path / "run.json").write_text(json.dumps(record))
    result = run("repeat", tmp_path / "run.json", "--out", tmp_path / "again")
    assert "note: the run was made with other versions: numpy 0.1" in result.output


def test_choices_are_made_and_recorded(table, tmp_path):
    analysis = tl.analyse(table, tmp_path / "out", most_variable=20, scale="center", method="average", k=2, neighbors=3)
    assert len(analysis.courses) == 20
    assert abs(analysis.courses.values[: analysis.courses.sizes[0]].mean()) < 1e-12
    assert analysis.neighbors.indices.shape == (20, 3)
    recipe = json.loads((tmp_path / "out" / "run.json").read_text())["recipe"]
    assert (recipe["scale"], recipe["k"]) == ("center", 2)
    assert recipe["most_variable"] == 20


def test_axes_are_called_what_the_user_calls_them(table, tmp_path):
    pytest.importorskip("matplotlib")
    options = ["--title", "My <genes>", "--time-unit", "weeks", "--value-name", "log2 counts"]
    assert run("cluster", table, "--out", tmp_path / "out", *options).exit_code == 0
    figure, page = ((tmp_path / "out" / name).read_text("utf-8") for name in ("clusters.svg", "report.html"))
    assert "time (weeks)" in figure
    assert "log2 counts" in figure
    assert "<title>My &lt;genes&gt;" in page
    assert run("repeat", tmp_path / "out" / "run.json", "--out", tmp_path / "again").exit_code == 0
    assert (tmp_path / "again" / "report.html").read_text("utf-8") == page


def test_data_are_called_what_the_user_says_else_what_the_file_says(done, table):
    analysis, out = done
    assert Analysis.load(out).naming == analysis.naming == Naming("genes.csv", "h", "value")
    given = Recipe(title="Genes", time_unit="weeks", value_name="level")
    assert replace(analysis, record=replace(analysis.record, recipe=given)).naming == Naming("Genes", "weeks", "level")
    assert tl.analyse(tl.read(table)).naming == Naming()


@pytest.mark.parametrize(
    ("options", "label"),
    [
        (["--scale", "center", "--value-name", "log2 expression"], "log2 expression, centred"),
        (["--scale", "standardize"], "values, standardised"),
        (["--value-name", "z, standardised", "--scale", "standardize"], "z, standardised"),
    ],
)
def test_axes_say_what_was_done_to_the_values(table, tmp_path, options, label):
    pytest.importorskip("matplotlib")
    assert run("cluster", table, "--out", tmp_path / "out", *options).exit_code == 0
    figure, page = ((tmp_path / "out" / name).read_text("utf-8") for name in ("clusters.svg", "report.html"))
    drawn = "".join(re.findall(r"<text[^>]*>(.*?)</text>", figure, re.DOTALL))
    assert re.sub(r"\W", "", label) in re.sub(r"<[^>]*>|\W", "", drawn)  # in lines that the panels hold
    assert f'"valueLabel":"{label}"' in page


def test_a_model_can_be_given(table, tmp_path):
    tl.GP.se(length_scale=5, signal_sd=1, noise_sd=0.1).save(tmp_path / "model.json")
    analysis = tl.analyse(table, tmp_path / "out", model=tmp_path / "model.json")
    assert analysis.gp.length_scale == 5
    result = run("repeat", tmp_path / "out" / "run.json", "--out", tmp_path / "again")
    assert "the result is the same to the bit" in result.output


# -- how the file was read is part of the record ------------------------------------------------------------------


@pytest.fixture
def sampled(tmp_path, monkeypatch):
    """A folder, the working one, with a table whose headers say no times, and its sample sheet."""
    courses, _ = tl.simulate.profiles(per_group=5, noise=0.05, seed=4)
    times, values = courses.to_matrix()
    samples = [f"s{k}" for k in range(len(times))]
    pd.DataFrame(values, pd.Index(courses.names, name="gene"), samples).to_csv(tmp_path / "g.csv")
    pd.DataFrame({"sample": samples, "time": range(len(times))}).to_csv(tmp_path / "sheet.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("kind", [np.array, tuple, pd.Series, lambda times: [np.float32(t) for t in times]])
def test_times_of_any_kind_are_recorded_and_repeated(sampled, kind):
    times = [float(t) for t in range(15)]
    tl.analyse(sampled / "g.csv", sampled / "out", reading={"times": kind(times), "course": None}, k=2)
    assert json.loads((sampled / "out" / "run.json").read_text())["source"]["reading"] == {"times": times}
    assert "the result is the same to the bit" in run("repeat", "out/run.json", "--out", "again").output


def test_a_sample_sheet_is_recorded_and_found_from_elsewhere(sampled, tmp_path_factory, monkeypatch):
    tl.analyse("g.csv", "out", reading={"samples": (sampled / "sheet.csv").relative_to(sampled)}, k=2)
    source = json.loads((sampled / "out" / "run.json").read_text())["source"]
    assert (source["reading"], source["samples_sha256"]) == ({"samples": "sheet.csv"}, checksum(sampled / "sheet.csv"))
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    result = run("repeat", sampled / "out" / "run.json", "--out", "again")
    assert "the result is the same to the bit" in result.output


def test_repeating_notices_another_sample_sheet(sampled):
    tl.analyse("g.csv", "out", reading={"samples": "sheet.csv"}, k=2)
    (sampled / "moved.csv").write_bytes((sampled / "sheet.csv").read_bytes())
    (sampled / "sheet.csv").write_text((sampled / "sheet.csv").read_text().replace("s14,14", "s14,19"))
    changed = run("repeat", "out/run.json", "--out", "again")
    assert changed.exit_code == 2
    assert "sheet.csv is not the sample sheet of that run" in changed.output
    (sampled / "sheet.csv").unlink()
    absent = run("repeat", "out/run.json", "--out", "again")
    assert absent.exit_code == 2
    assert "the sample sheet sheet.csv is no longer there. Say where it is (--samples)." in absent.output
    given = run("repeat", "out/run.json", "--samples", "moved.csv", "--out", "again")
    assert "the result is the same to the bit" in given.output


def test_a_record_that_does_not_know_its_sample_sheet_yet_is_repeated(sampled):
    tl.analyse("g.csv", "out", reading={"samples": "sheet.csv"}, k=2)
    record = json.loads((sampled / "out" / "run.json").read_text())
    del record["source"]["samples_sha256"], record["recipe"]["spread"], record["recipe"]["robust"]
    (sampled / "out" / "run.json").write_text(json.dumps(record))
    assert "the result is the same to the bit" in run("repeat", "out/run.json", "--out", "again").output


def test_a_sample_sheet_from_python_has_to_be_given(sampled):
    tl.analyse("g.csv", "out", reading={"samples": pd.read_csv("sheet.csv")}, k=2)
    for verb in (("repeat", "out/run.json"), ("predict", "out", "g.csv")):
        result = run(*verb, "--out", "again")
        assert result.exit_code == 2
        assert "does not name its sample sheet: it came from Python. Give the file (--samples)." in result.output
    given = run("repeat", "out/run.json", "--samples", "sheet.csv", "--out", "again")
    assert "the result is the same to the bit" in given.output


def test_a_sample_sheet_that_the_run_did_not_have_is_refused(done, table, tmp_path):
    _, out = done
    result = run("repeat", out / "run.json", "--samples", table, "--out", tmp_path / "again")
    assert result.exit_code == 2
    assert "was made without a sample sheet: leave out --samples" in result.output


def test_a_record_without_its_model_is_not_repeated(table, tmp_path):
    tl.analyse(table, tmp_path / "out", model=tl.GP.se(4, 1, 0.1), k=2)
    (tmp_path / "copy").mkdir()
    shutil.copy(tmp_path / "out" / "run.json", tmp_path / "copy")
    result = run("repeat", tmp_path / "copy" / "run.json", "--out", tmp_path / "again")
    assert result.exit_code == 2
    assert "model.json, the model that the run was given, is not there. Copy it" in result.output


# -- choices that some methods have ---------------------------------------------------------------------------------


def test_spread_and_outliers_are_chosen_recorded_and_repeated(tmp_path):
    courses, _ = tl.simulate.profiles(per_group=10, noise=0.05, seed=4)
    times, values = courses.to_matrix()
    values[3, 5] = 40.0
    frame = pd.DataFrame(values, pd.Index(courses.names, name="gene"), [f"{t:.3g}h" for t in 10 * times])
    frame.to_csv(tmp_path / "g.csv")
    tl.GP.se(4, 1, 0.1).save(tmp_path / "model.json")
    out, options = tmp_path / "out", ["--model", tmp_path / "model.json", "-k", 3]
    plain = ["--no-robust", "--noise", "common", "--no-refine"]
    result = run("cluster", tmp_path / "g.csv", "--spread", 0.25, *plain, *options, "--out", out)
    assert result.exit_code == 0, result.output
    assert "for little" not in result.output
    recipe = json.loads((out / "run.json").read_text())["recipe"]
    assert (recipe["spread"], recipe["robust"]) == (0.25, False)
    assert (recipe["noise"], recipe["refine"]) == ("common", False)
    found = Analysis.load(out).clustering
    assert (found.spread, found.learned, found.courses.values.max()) == (0.25, False, 40)
    shown = Analysis.load(out).settings()
    assert (shown["spread"], shown["robust"]) == (0.25, False)
    assert "the result is the same to the bit" in run("repeat", out / "run.json", "--out", tmp_path / "again").output
    with pytest.warns(tl.DataWarning, match="1 of 450 values count for little"):
        robust = tl.analyse(tmp_path / "g.csv", model=tmp_path / "model.json", k=3).clustering
    assert robust.outliers()["value"].tolist() == [40.0]
    assert robust.courses.values.max() == 40


def test_wild_values_have_their_full_weight_in_a_fit_where_asked(tmp_path):
    courses, _ = tl.simulate.profiles(per_group=10, noise=0.05, seed=4)
    times, values = courses.to_matrix()
    values[3, 5] = 4.0
    spoilt = tl.TimeCourses.from_arrays(times, values)
    with pytest.warns((tl.DataWarning, tl.FitWarning)) as heard:
        robust = tl.analyse(spoilt, k=3)
    assert len([w for w in heard if "1 of 450 values" in str(w.message)]) == 2  # of the fit and of the mixture
    plain = tl.analyse(spoilt, method="average", k=3, robust=False)
    assert plain.gp.noise_sd > 2 * robust.gp.noise_sd


def test_evidence_takes_a_spread_and_learns_it_by_itself(table):
    assert tl.analyse(table, method="evidence", spread=np.float32(0.5)).clustering.spread == 0.5
    alone = tl.analyse(table, method="evidence")
    assert (alone.clustering.spread, alone.clustering.learned) == (0, True)
    assert {"spread", "robust"}.isdisjoint(alone.settings())  # no news


def test_notes_are_kept_in_the_record(table, tmp_path):
    text = table.read_text().splitlines()
    empty = "empty," + "," * (text[0].count(",") - 1)
    (tmp_path / "genes.csv").write_text("\n".join([*text, empty]) + "\n")
    with pytest.warns(tl.DataWarning, match="without any value"):
        analysis = tl.analyse(tmp_path / "genes.csv", tmp_path / "out")
    assert any("without any value" in note for note in analysis.record.notes)
    assert "without any value" in (tmp_path / "out" / "run.json").read_text()
    with pytest.warns(tl.DataWarning, match="without any value"):
        assert tl.analyse(tmp_path / "genes.csv").record.notes == analysis.record.notes  # written or not


@pytest.fixture
def raised(table):
    """The courses of the table, each at a level of its own, with a gap at the end."""
    courses = tl.read(table)
    times, values = courses.to_matrix()
    times[-1] = 40
    return tl.TimeCourses.from_arrays(times, values + 10 * np.arange(30)[:, None], courses.names)


@pytest.mark.parametrize("scale", ["none", "center"])
def test_what_courses_ask_for_is_said_once(raised, tmp_path, scale):
    model = tl.GP.se(2, 1, 0.1, mean=0 if scale == "center" else 145)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        analysis = tl.analyse(raised, tmp_path / "out", model=model, scale=scale, k=2)
    said = [str(w.message) for w in caught]
    for words, due in (("% of the variance lies between", scale == "none"), ("from 9.29 to 40", True)):
        assert sum(words in sentence for sentence in said) == due
        assert sum(words in note for note in analysis.record.notes) == due
        assert (words in (tmp_path / "out" / "run.json").read_text()) == due
        assert (words in (tmp_path / "out" / "report.html").read_text()) == due
    assert {w.category for w in caught if "gap" in str(w.message)} == {tl.DataWarning}
    assert {w.filename for w in caught} == {__file__}


@pytest.mark.parametrize("scale", ["none", "center"])
def test_counts_are_said_once_also_where_they_are_centred(scale):
    rng = np.random.default_rng(0)
    levels = np.exp(rng.uniform(0, 9, (20, 1)))
    counts = tl.TimeCourses.from_arrays(range(5), rng.poisson(levels * np.ones(5)))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        analysis = tl.analyse(counts, scale=scale, k=2)
    assert sum("are these counts?" in str(w.message) for w in caught) == 1
    assert sum("are these counts?" in note for note in analysis.record.notes) == 1


def test_a_fit_by_itself_does_not_look(raised):
    assert len(tl.look(raised)) == 1
    assert not any("variance lies" in sentence for sentence in tl.fit(raised).warnings)


def test_a_full_folder_is_not_overwritten(done, table):
    _, out = done
    with pytest.raises(tl.InputError, match="is not empty"):
        tl.analyse(table, out)
    result = run("cluster", table, "--out", out)
    assert result.exit_code == 2
    assert "--force" in result.output


def test_without_a_folder_nothing_is_written(table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    analysis = tl.analyse(table)
    assert analysis.files == ()
    assert list(tmp_path.iterdir()) == []


def test_one_course_has_no_neighbours():
    courses = tl.TimeCourses.from_arrays([0, 1, 2, 3], [[1, 2, 4, 3.0]])
    analysis = tl.analyse(courses, model=tl.GP.se(1, 1, 0.1, mean=2.5))
    assert analysis.neighbors is None
    assert len(analysis.to_frame()) == 1


def test_names_cannot_run_as_formulas(tmp_path):
    courses, _ = tl.simulate.profiles(per_group=4, seed=1)
    names = [f"=cmd|{i}" for i in range(len(courses))]
    named = tl.TimeCourses.from_arrays(*courses.to_matrix(), names)
    tl.analyse(named, tmp_path / "out")
    for table in (tmp_path / "out").glob("*.csv"):
        assert not any(cell.startswith("=") for line in table.read_text().splitlines() for cell in line.split(","))


# -- the verbs that start from a folder ---------------------------------------------------------------------------


def test_predict_places_new_courses(done, table, tmp_path):
    analysis, out = done
    result = run("predict", out, table, "--out", tmp_path / "p.csv")
    assert result.exit_code == 0, result.output
    placed = pd.read_csv(tmp_path / "p.csv")
    expected = analysis.clustering.predict(tl.read(table))
    np.testing.assert_array_equal(placed["cluster"], expected.labels)
    assert (placed["cluster"] == analysis.clustering.labels).mean() > 0.95


def test_predict_scales_new_courses_as_the_old_ones(table, tmp_path):
    analysis = tl.analyse(table, tmp_path / "out", scale="standardize")
    lifted = tl.read(table)
    frame = lifted.to_frame()
    frame["value"] = 1000 + 7 * frame["value"]
    frame.to_csv(tmp_path / "lifted.csv", index=False)
    result = run("predict", tmp_path / "out", tmp_path / "lifted.csv", "--out", tmp_path / "p.csv")
    assert result.exit_code == 0, result.output
    np.testing.assert_array_equal(pd.read_csv(tmp_path / "p.csv")["cluster"], analysis.predict(lifted).labels)


@pytest.fixture
def numbered(tmp_path, monkeypatch):
    """A folder, the working one, with a table whose headers number the times."""
    courses, _ = tl.simulate.profiles(per_group=10, noise=0.05, seed=4)
    values = courses.to_matrix()[1][:, ::3]
    names = [f"T{k}" for k in range(1, values.shape[1] + 1)]
    pd.DataFrame(values, pd.Index(courses.names, name="gene"), names).to_csv(tmp_path / "g.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_predict_reads_as_the_clustered_file_was_read(numbered):
    assert run("cluster", "g.csv", "--times", "0,6,12,24,48", "--out", "out").exit_code == 0
    result = run("predict", "out", "g.csv", "--out", "p.csv")
    assert result.exit_code == 0, result.output
    assert "read as the clustered file was, with --times 0,6,12,24,48" in result.output
    assert "5 times (0 to 48)" in result.output
    labels = Analysis.load("out").clustering.labels
    assert (pd.read_csv("p.csv")["cluster"] == labels).mean() > 0.95


def test_predict_reads_as_it_is_told(numbered):
    assert run("cluster", "g.csv", "--times", "0,6,12,24,48", "--out", "out").exit_code == 0
    result = run("predict", "out", "g.csv", "--course", "gene", "--out", "p.csv")
    assert result.exit_code == 0, result.output
    assert "as the clustered file was" not in result.output
    assert "5 times (1 to 5)" in result.output


def test_how_a_file_is_written_is_not_asked_of_another(numbered):
    text = (numbered / "g.csv").read_text()
    (numbered / "comma.csv").write_text(text.replace(",", ";").replace(".", ","))
    options = ["--decimal", ",", "--times", "0,6,12,24,48"]
    assert run("cluster", "comma.csv", *options, "--out", "out").exit_code == 0
    for options in ([], ["--decimal", "."]):
        result = run("predict", "out", "g.csv", *options, "--out", "p.csv", "--force")
        assert result.exit_code == 0, result.output
        assert "5 times (0 to 48)" in result.output


def test_the_first_of_all_dates_is_another_in_another_file(tmp_path):
    for name, month in (("old", 1), ("new", 6)):
        rows = [f"p{i},2024-{month:02}-{d:02},{i % 2 * d + i}" for i in range(8) for d in (1, 4, 9)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["patient,date,value", *rows]) + "\n")
    out = tmp_path / "out"
    assert run("cluster", tmp_path / "old.csv", "--dates", "common", "--out", out, "-k", 2).exit_code == 0
    result = run("predict", out, tmp_path / "new.csv", "--out", tmp_path / "p.csv")
    assert result.exit_code == 2
    assert "Give dates='own'" in result.output


def test_times_that_the_clusters_do_not_have_are_noted(done, table, tmp_path):
    _, out = done
    header, rest = table.read_text().split("\n", 1)
    later = ",".join(["gene", *(f"{float(cell[:-1]) + 100:g}h" for cell in header.split(",")[1:])])
    (tmp_path / "later.csv").write_text(later + "\n" + rest)
    result = run("predict", out, tmp_path / "later.csv", "--out", tmp_path / "p.csv")
    assert "note: the new times (100 to 110) are outside those of the clusters (0 to 10)" in result.output
    assert "note:" not in run("predict", out, table, "--out", tmp_path / "q.csv").output


def test_times_in_another_unit_are_not_mixed(done, table, tmp_path):
    _, out = done
    header, rest = table.read_text().split("\n", 1)
    (tmp_path / "minutes.csv").write_text(header.replace("h", "min") + "\n" + rest)
    result = run("predict", out, tmp_path / "minutes.csv", "--out", tmp_path / "p.csv")
    assert result.exit_code == 2
    assert "its times are in min, the others in h" in result.output
    near = run("neighbors", tmp_path / "minutes.csv", "--to", table, "--out", tmp_path / "n.csv")
    assert "its times are in min, the others in h" in near.output


def test_neighbors_among_other_courses(table, tmp_path):
    few = tmp_path / "few.csv"
    few.write_text("\n".join(table.read_text().splitlines()[:4]) + "\n")
    result = run("neighbors", few, "--to", table, "-k", 2, "--most-variable", 20, "--out", tmp_path / "n.csv")
    assert result.exit_code == 0, result.output
    found = pd.read_csv(tmp_path / "n.csv")
    assert list(found["course"].unique()) == ["A01", "A02", "A03"]
    assert len(found) == 6


def test_one_course_is_compared_under_the_model_of_all(table, tmp_path):
    one = tmp_path / "one.csv"
    one.write_text("\n".join(table.read_text().splitlines()[:2]) + "\n")
    result = run("neighbors", one, "--to", table, "-k", 2, "--out", tmp_path / "n.csv")
    assert result.exit_code == 0, result.output
    asked, courses = tl.read(one), tl.read(table)
    expected = tl.neighbors(asked, tl.fit(asked.joined(courses)), 2, others=courses)
    np.testing.assert_allclose(pd.read_csv(tmp_path / "n.csv")["score"], expected.scores[0], rtol=1e-12)


def test_clusters_without_curves_cannot_place_courses(table, tmp_path):
    tl.analyse(table, tmp_path / "out", method="average", k=3)
    result = run("predict", tmp_path / "out", table, "--out", tmp_path / "p.csv")
    assert result.exit_code == 2
    assert "average linkage cannot place new courses" in result.output


def test_report_is_written_once_more(done, tmp_path):
    _, out = done
    result = run("report", out, "--out", tmp_path / "page.html")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "page.html").read_bytes() == (out / "report.html").read_bytes()
    assert run("report", out).exit_code == 2  # it would overwrite the page


def test_quiet_leaves_only_the_answer(table, tmp_path, capsys):
    main(["cluster", str(table), "--out", str(tmp_path / "out"), "--quiet"], standalone_mode=False)
    said = capsys.readouterr()
    assert said.err == ""
    assert said.out.startswith("Clustering: 30 courses")


def test_words_go_to_standard_error_and_answers_to_standard_output(table, tmp_path, capsys):
    main(["cluster", str(table), "--out", str(tmp_path / "out")], standalone_mode=False)
    said = capsys.readouterr()
    assert "fitted: length scale" in said.err
    assert said.out.count("\n") == 1
    assert f"open {tmp_path / 'out' / 'report.html'} in a browser" in said.err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(shell):
    result = run("completion", shell)
    assert result.exit_code == 0
    assert "_TIMELIKE_COMPLETE" in result.output


def test_an_ontology_needs_both_files(table, tmp_path):
    result = run("cluster", table, "--out", tmp_path / "out", "--obo", table)
    assert result.exit_code == 2
    assert "one file is missing" in result.output


def test_terms_stay_in_a_report_that_is_written_again(tmp_path):
    (tmp_path / "go.obo").write_text(
        "format-version: 1.4\n"
        + "".join(
            f"\n[Term]\nid: GO:{k}\nname: {name}\nnamespace: biological_process\n" + (f"is_a: GO:{p}\n" if p else "")
            for k, name, p in ((1, "all", None), (2, "NA", 1), (3, "-ase", 1))
        )
    )
    courses, _ = tl.simulate.profiles(per_group=6, noise=0.03, seed=2)
    courses.to_frame().to_csv(tmp_path / "c.csv", index=False)
    seven = [name for name in courses.names if name < "B02"]  # 18 / 7: a fast parser gets the last digit wrong
    genes = "".join(f"{name}\tGO:{2 + (name in seven)}\n" for name in courses.names)
    (tmp_path / "genes.tsv").write_text(genes)
    options = ["--obo", tmp_path / "go.obo", "--gaf", tmp_path / "genes.tsv", "-k", 3]
    assert run("cluster", tmp_path / "c.csv", "--out", tmp_path / "out", *options).exit_code == 0
    assert run("report", tmp_path / "out", "--out", tmp_path / "again.html").exit_code == 0
    page = (tmp_path / "again.html").read_text("utf-8")
    assert '"NA"' in page
    assert '"-ase"' in page
    assert page == (tmp_path / "out" / "report.html").read_text("utf-8")
    repeated = run("repeat", tmp_path / "out" / "run.json", "--out", tmp_path / "repeated")
    assert repeated.exit_code == 0
    assert "the result is the same to the bit" in repeated.output


def test_named_data_set(shared_data, monkeypatch, tmp_path):
    monkeypatch.setenv("TIMELIKE_DATA", str(shared_data))
    result = run("cluster", "reprogramming", "--most-variable", 60, "-k", 3, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    source = json.loads((tmp_path / "out" / "run.json").read_text())["source"]
    assert (source["path"], source["time_unit"]) == ("reprogramming", "h")


# -- a run that takes the place of another -----------------------------------------------------------------------------


def test_an_earlier_run_stays_whole_until_the_new_one_is(table, tmp_path, monkeypatch):
    out = tmp_path / "out"
    tl.analyse(table, out)
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(folder.saved, "save", full)
    with pytest.warns(tl.DataWarning, match=r"no results in .*: No space left on device"):
        found = tl.analyse(table, out, overwrite=True, k=2)
    assert found.clustering.k == 2  # what was computed is not lost
    assert found.files == ()
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


def test_files_of_another_run_are_noticed(table, tmp_path):
    for name, k in (("one", 2), ("two", 3)):
        tl.analyse(table, tmp_path / name, k=k)
    shutil.copy(tmp_path / "two" / "analysis.npz", tmp_path / "one" / "analysis.npz")
    with pytest.raises(tl.InputError, match=r"analysis\.npz is not the one that this run wrote"):
        Analysis.load(tmp_path / "one")


@pytest.mark.filterwarnings("ignore::timelike.FitWarning")
def test_a_given_line_is_not_called_another_scale():
    rng = np.random.default_rng(0)
    times = np.arange(0, 49, 8.0)
    values = 8 + rng.choice([-0.2, 0.2], (20, 1)) * times + 0.2 * rng.standard_normal((20, len(times)))
    courses = tl.TimeCourses.from_arrays(times, values)
    gp = tl.fit(courses, "linear")
    with warnings.catch_warnings(record=True) as caught:
        tl.analyse(courses, model=gp, k=2)
    assert not [w for w in caught if "another scale" in str(w.message)]
