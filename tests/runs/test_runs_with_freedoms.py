"""Runs whose courses may differ in level, gain and delay: written, read again, repeated, and said."""

import json

import numpy as np
import pandas as pd
import pytest

import timelike as tl
from timelike.runs.analysis import Analysis
from timelike.runs.repeat import differences, repeat

FREE = {"up_to": ("level", "delay"), "max_delay": 0.4}


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Pulses at three times, each course around a level of its own."""
    courses, _ = tl.simulate.delayed(per_group=8, seed=1)
    times, values = courses.to_matrix()
    values = values + 10 + 5 * np.random.default_rng(0).normal(size=(len(courses), 1))
    path = tmp_path_factory.mktemp("data") / "pulses.csv"
    wide = pd.DataFrame(values, columns=[f"{t:.3f} h" for t in times])
    wide.insert(0, "gene", list(courses.names))
    wide.to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def run(table, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "run"
    said = []
    return tl.analyse(table, folder, k=1, neighbors=3, say=said.append, **FREE), folder, said


def test_the_model_is_that_of_changes(run):
    analysis, _, said = run
    assert analysis.gp.signal_sd < 1
    assert abs(analysis.gp.mean - analysis.courses.values.mean()) < 0.5
    assert any(line.startswith("fitted to courses of one level: ") for line in said)
    assert not any("by level more than" in note for note in analysis.record.notes)


def test_tables_have_delays_and_levels(run):
    analysis, folder, _ = run
    clusters, near = (pd.read_csv(folder / name) for name in ("clusters.csv", "neighbors.csv"))
    assert {"delay", "delay_low", "delay_high", "level", "level_low", "level_high"} <= set(clusters)
    assert {"delay", "delay_low", "delay_high"} <= set(near)
    assert "gain" not in clusters
    by_group = clusters.groupby(clusters["name"].str[0])["delay"].mean()
    assert abs(by_group["C"] - by_group["A"] - 0.2) < 0.05
    assert np.corrcoef(clusters["level"], [v.mean() for v in analysis.courses.to_matrix()[1]])[0, 1] > 0.99


def test_the_record_has_them_and_a_repeat_is_the_same(run, tmp_path):
    _, folder, _ = run
    record = json.loads((folder / "run.json").read_text())["recipe"]
    assert (record["up_to"], record["max_delay"]) == (["level", "delay"], 0.4)
    again = repeat(folder / "run.json", tmp_path / "again")
    assert again.record.recipe.up_to == ("level", "delay")
    assert differences(folder / "run.json", again) == []


def test_an_analysis_is_read_again_whole(run):
    analysis, folder, _ = run
    again = Analysis.load(folder)
    assert again.clustering.free == analysis.clustering.free
    for name in ("indices", "scores", "delay", "delay_low", "delay_high"):
        np.testing.assert_array_equal(getattr(again.neighbors, name), getattr(analysis.neighbors, name))
    assert again.neighbors.gain is None
    new = analysis.courses.select(range(4))
    np.testing.assert_array_equal(again.predict(new).probabilities, analysis.predict(new).probabilities)


def test_the_report_lists_the_settings(run):
    settings = run[0].settings()
    assert (settings["up to"], settings["max delay"]) == ("level, delay", 0.4)
    assert "up to" not in tl.analyse(run[0].courses.centered(), model=tl.GP.se(0.2, 0.5, 0.1), k=1).settings()


@pytest.mark.filterwarnings("ignore:the model expects values")
def test_freedoms_that_pay_hold_for_neighbours_too(table):
    courses = tl.read(table).select(range(0, 24, 2))
    with pytest.warns(tl.DataWarning, match="courses of a cluster may differ in: level"):
        found = tl.analyse(courses, model=tl.GP.se(0.2, 0.5, 0.1, mean=10), k=1, up_to="auto", max_delay=0.4)
    assert found.clustering.free.names == ("level", "delay")
    assert np.abs(found.neighbors.delay).max() > 0.05


def test_a_given_model_may_have_another_level(table, recwarn):
    tl.analyse(tl.read(table), model=tl.GP.se(0.2, 0.5, 0.1, mean=-50), k=1, up_to="level")
    assert not any("the model expects values" in str(w.message) for w in recwarn)
