"""--up-to and --max-delay of every verb, and the verbs match and lags."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import timelike as tl
from timelike.cli import main

FREE = ("--up-to", "level,delay", "--max-delay", 0.4)
NAMED = {"up_to": ("level", "delay"), "max_delay": 0.4}


def run(*arguments):
    return CliRunner().invoke(main, [str(a) for a in arguments])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A file of pulses at three times, each course around a level of its own, and a model."""
    folder = tmp_path_factory.mktemp("data")
    courses, _ = tl.simulate.delayed(per_group=6, seed=1)
    times, values = courses.to_matrix()
    values = values + np.random.default_rng(0).normal(size=(len(courses), 1))
    pd.DataFrame(values, index=pd.Index(courses.names, name="name"), columns=times).to_csv(folder / "pulses.csv")
    tl.GP.se(0.2, 0.5, 0.1).save(folder / "model.json")
    return folder


@pytest.fixture(scope="module")
def given(folder):
    return folder / "pulses.csv", "--model", folder / "model.json"


@pytest.fixture(scope="module")
def known(folder):
    return tl.read(folder / "pulses.csv"), tl.GP.load(folder / "model.json")


@pytest.mark.parametrize("ending", ["csv", "npy"])
def test_similarity(given, known, tmp_path, ending):
    out = tmp_path / f"s.{ending}"
    result = run("similarity", *given, *FREE, "--out", out)
    assert result.exit_code == 0, result.output
    found = np.load(out) if ending == "npy" else pd.read_csv(out, index_col=0).to_numpy()
    np.testing.assert_allclose(found, tl.similarity(*known, **NAMED).values, rtol=1e-9)


def test_neighbors_have_delays(given, known, tmp_path):
    result = run("neighbors", *given, *FREE, "-k", 3, "--out", tmp_path / "n.csv")
    assert result.exit_code == 0, result.output
    expected = tl.neighbors(*known, 3, **NAMED).to_frame()
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "n.csv"), expected, check_dtype=False)
    assert "delay_low" in expected


def test_neighbors_among_others(folder, given, tmp_path):
    result = run("neighbors", *given, *FREE, "-k", 2, "--to", folder / "pulses.csv", "--out", tmp_path / "n.csv")
    assert result.exit_code == 0, result.output
    assert "delay" in pd.read_csv(tmp_path / "n.csv")


def test_explain(given, known):
    result = run("explain", *given, *FREE, "A01", "C01")
    assert result.exit_code == 0, result.output
    why = tl.explain(*known, "A01", "C01", **NAMED)
    assert f"less {why.price:.4f} for not knowing" in result.output
    assert f"s = {why.similarity:.4f}" in result.output
    assert "for not knowing" not in run("explain", *given, "A01", "C01").output


def test_match_is_one_line(given, known, tmp_path):
    result = run("match", *given, *FREE, "A01", "C01", "--out", tmp_path / "m.csv", "--quiet")
    assert result.exit_code == 0, result.output
    found = tl.match(*known, "A01", "C01", **NAMED)
    assert result.stdout == f"{found.sentence}; s = {found.s:.4f}: one curve explains both better\n"
    assert abs(pd.read_csv(tmp_path / "m.csv")["delay"][0] - 0.2) < 0.06


def test_match_draws(given, tmp_path):
    pytest.importorskip("matplotlib")
    result = run("match", *given, *FREE, "A01", "C01", "--figure", tmp_path / "m.svg")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "m.svg").stat().st_size > 1000


def test_lags(given, known, tmp_path):
    out, order = tmp_path / "lags.csv", tmp_path / "order.tsv"
    result = run("lags", *given, *FREE, "-k", 5, "--fdr", 0.1, "--out", out, "--order", order)
    assert result.exit_code == 0, result.output
    found = tl.lags(*known, 5, fdr=0.1, **NAMED)
    pd.testing.assert_frame_equal(pd.read_csv(out), found.to_frame())
    assert str(found) in result.output
    listed = pd.read_csv(order, sep="\t")
    assert set(listed["name"]) == set(known[0].names)
    first = listed[listed["component"] == 0]["position"]
    assert first.is_monotonic_increasing


def test_lags_take_delays_alone_by_default(given, tmp_path):
    result = run("lags", *given, "--scale", "center", "--max-delay", 0.4, "--out", tmp_path / "lags.csv")
    assert result.exit_code == 0, result.output


def test_lags_draw_the_order(given, tmp_path):
    pytest.importorskip("matplotlib")
    result = run("lags", *given, *FREE, "--out", tmp_path / "lags.csv", "--figure", tmp_path / "order.png")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "order.png").stat().st_size > 1000


def test_cluster_and_repeat(given, tmp_path):
    result = run("cluster", *given, *FREE, "-k", 1, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert {"delay", "level_low"} <= set(pd.read_csv(tmp_path / "out" / "clusters.csv"))
    again = run("repeat", tmp_path / "out" / "run.json", "--out", tmp_path / "again")
    assert "the result is the same to the bit" in again.output
    placed = run("predict", tmp_path / "out", given[0], "--out", tmp_path / "p.csv")
    assert placed.exit_code == 0, placed.output


def test_the_model_is_that_of_changes(folder, tmp_path):
    result = run("similarity", folder / "pulses.csv", "--up-to", "level", "--out", tmp_path / "s.npy")
    assert "fitted to courses of one level: " in result.output
    assert "by level more than by shape" not in result.output
    courses = tl.read(folder / "pulses.csv")
    gp = tl.fit(courses.centered())
    np.testing.assert_allclose(np.load(tmp_path / "s.npy"), tl.similarity(courses, gp, up_to="level").values, atol=1e-3)


@pytest.mark.parametrize("verb", [("similarity",), ("neighbors",), ("explain", "A01", "C01"), ("match", "A01", "C01")])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--up-to", "size"], "up_to has 'size': choose from level, gain, delay."),
        (["--up-to", "auto"], "up_to has 'auto': choose from level, gain, delay."),
        (["--up-to", "delay"], "a delay needs max_delay: how far apart in time"),
        (["--max-delay", "0.3"], "no delays are asked for: add 'delay' to up_to"),
        (["--up-to", "delay", "--max-delay", "6h"], "--max-delay is '6h': expected a number alone, as 6, in the unit"),
        (["--up-to", "delay", "--max-delay", "-1"], "max_delay is -1.0: expected a number above zero"),
        (["--up-to", "delay", "--max-delay", "5"], "max_delay is 5, but the courses span 1"),
    ],
)
def test_a_mistake_gets_one_line_and_a_code(given, tmp_path, monkeypatch, verb, options, message):
    monkeypatch.chdir(tmp_path)
    result = run(verb[0], given[0], *verb[1:], *given[1:], *options, "--quiet")
    assert result.exit_code == 2
    assert message in result.output
    assert len([line for line in result.output.splitlines() if not line.startswith("note: ")]) == 1
    assert result.output.splitlines()[-1].startswith("timelike: ")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--up-to", "level", "--max-delay", "0.4"], "no delays are asked for"),
        (["--up-to", "level"], "lags are delays: add 'delay' to it"),
        (["--max-delay", "0.4", "--fdr", "2"], "fdr is 2.0: expected a number"),
        (["--max-delay", "0.4", "--out", "lags.xlsx"], "expected a name that ends in .csv, .tsv"),
        (["--max-delay", "0.4", "--order", "there.csv"], "there.csv exists. Choose another --out, or add --force"),
    ],
)
def test_mistakes_with_lags(given, tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.csv").write_text("mine")
    result = run("lags", *given, *options)
    assert result.exit_code == 2
    assert message in result.output
    assert (tmp_path / "there.csv").read_text() == "mine"


def test_cluster_takes_auto_for_the_mixture_alone(given, tmp_path):
    result = run("cluster", *given, "--up-to", "auto", "--method", "average", "-k", 2, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert "average does not find out which freedoms pay" in result.output
