"""The clock on the command line, in records, and in what repeats them."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import slowing
import timelike as tl
from timelike.cli import main
from timelike.runs.record import Record


def run(*arguments):
    return CliRunner().invoke(main, [str(a) for a in arguments])


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    courses, _ = slowing.made(per_group=6)
    path = tmp_path_factory.mktemp("clock") / "courses.csv"
    times, values = courses.to_matrix()
    pd.DataFrame(values, index=pd.Index(courses.names, name="name"), columns=times).to_csv(path)
    return path


@pytest.fixture(scope="module")
def fitted(table):
    courses = tl.read(table)
    with pytest.warns(tl.FitWarning, match="clock"):
        found = tl.fit(courses)
    return {"auto": found, "linear": tl.fit(courses, clock="linear"), 3.0: tl.fit(courses, clock=3.0)}


CLOCKS = ("auto", "linear", 3.0)


@pytest.mark.parametrize("clock", CLOCKS)
def test_fit_takes_the_clock_and_says_it(table, fitted, tmp_path, clock):
    result = run("fit", table, "--clock", clock, "--out", tmp_path / "model.json")
    assert result.exit_code == 0, result.output
    gp, expected = tl.GP.load(tmp_path / "model.json"), fitted[clock]
    assert (gp.clock, gp.length_scale) == (expected.clock, expected.length_scale)
    said = f"clock {gp.clock:.4g}, signal" if gp.clock else "length scale"
    assert said in result.output
    assert (", clock " in result.output) == (clock != "linear")


VERBS = {
    "similarity": ("--out", "s.npy"),
    "neighbors": ("-k", 2, "--out", "n.csv"),
    "explain": (),
    "cluster": ("--out", "folder", "-k", 3),
}


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_that_fits_takes_it(table, fitted, tmp_path, monkeypatch, verb):
    monkeypatch.chdir(tmp_path)
    pair = ("0", "1") if verb == "explain" else ()
    result = run(verb, table, *tl.read(table).names[: len(pair)], "--clock", 3, *VERBS[verb])
    assert result.exit_code == 0, result.output
    assert f"length scale {fitted[3.0].length_scale:.4g}, clock 3, " in result.output
    tl.GP.se(1, 1, 0.1).save("model.json")
    (tmp_path / "m").mkdir()
    monkeypatch.chdir(tmp_path / "m")
    both = run(verb, table, *tl.read(table).names[: len(pair)], "--clock", 3, "--model", "../model.json", *VERBS[verb])
    assert both.exit_code == 2
    assert "a model has its clock already: leave out --clock or --model" in both.output


@pytest.mark.parametrize("clock", ["fast", "-1", "0", "nan"])
def test_a_clock_that_cannot_be(table, tmp_path, clock):
    result = run("fit", table, "--clock", clock, "--out", tmp_path / "model.json")
    assert result.exit_code == 2
    assert re.search("expected '?auto'?, '?linear'?, or", result.output)
    assert not (tmp_path / "model.json").exists()


def test_kernels_are_compared(table, tmp_path):
    result = run("fit", table, "--kernel", "auto", "--out", tmp_path / "model.json")
    assert result.exit_code == 0, result.output
    assert "the likeliest kernel is" in result.output


# -- records ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("clock", ["linear", 3.0])
def test_a_run_records_its_clock_and_repeats_it(table, tmp_path, clock):
    assert run("cluster", table, "--clock", clock, "--out", tmp_path / "one").exit_code == 0
    record = json.loads((tmp_path / "one" / "run.json").read_text())
    assert record["recipe"]["clock"] == clock
    result = run("repeat", tmp_path / "one" / "run.json", "--out", tmp_path / "two")
    assert "the result is the same to the bit" in result.output


def test_a_chosen_clock_is_chosen_again(table, tmp_path):
    assert run("cluster", table, "--out", tmp_path / "one").exit_code == 0
    assert Record.load(tmp_path / "one" / "run.json").recipe.clock == "auto"
    assert tl.GP.load(tmp_path / "one" / "model.json").clock > 0
    result = run("repeat", tmp_path / "one" / "run.json", "--out", tmp_path / "two")
    assert "the result is the same to the bit" in result.output


def test_a_record_from_before_clocks_means_plain_time(table, tmp_path):
    plain = ["--clock", "linear", "--noise", "common", "--no-refine"]
    assert run("cluster", table, *plain, "--out", tmp_path / "one").exit_code == 0
    path = tmp_path / "one" / "run.json"
    record = json.loads(path.read_text())
    del record["recipe"]["clock"], record["recipe"]["noise"], record["recipe"]["refine"]
    path.write_text(json.dumps(record))
    recipe = Record.load(path).recipe
    assert (recipe.clock, recipe.noise, recipe.refine) == ("linear", "common", False)
    assert "the result is the same to the bit" in run("repeat", path, "--out", tmp_path / "two").output


def test_a_given_model_gives_its_clock_to_the_record():
    courses, _ = slowing.made(per_group=6)
    assert tl.analyse(courses, model=slowing.model(), k=3).record.recipe.clock == slowing.TAU
    with pytest.warns(tl.DataWarning, match="So may a clock"):
        assert tl.analyse(courses, model=slowing.model(clock=None), k=3).record.recipe.clock == "linear"


def test_tables_of_curves_keep_plain_time(table, tmp_path):
    assert run("cluster", table, "--clock", 3, "--out", tmp_path / "one").exit_code == 0
    times = pd.read_csv(tmp_path / "one" / "curves.csv")["time"].unique()
    np.testing.assert_allclose(times, np.linspace(0, 80, 101))


def test_predicting_times_before_the_start_is_noted_once(table, tmp_path):
    assert run("cluster", table, "--out", tmp_path / "one").exit_code == 0
    new = tmp_path / "new.csv"
    pd.DataFrame([[0.1, 0.2]], index=pd.Index(["x"], name="name"), columns=[-1.0, 4.0]).to_csv(new)
    result = run("predict", tmp_path / "one", new, "--out", tmp_path / "predicted.csv")
    assert result.exit_code == 0, result.output
    assert result.output.count("before the start of the model's clock (0), from -1 on") == 1
