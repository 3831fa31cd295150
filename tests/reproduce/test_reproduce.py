"""The paper's experiments on a small scale: the right numbers, and nothing computed twice."""

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from timelike import datasets
from timelike.exceptions import InputError
from timelike.reproduce import euclidean_limit, figures, repeats, synthetic, table_bhi
from timelike.reproduce.command import EXPERIMENTS, reproduce
from timelike.reproduce.settings import Run


@pytest.fixture
def data(shared_data, monkeypatch):
    monkeypatch.setenv("TIMELIKE_DATA", str(shared_data))


def call(*arguments):
    return CliRunner().invoke(reproduce, [*map(str, arguments), "--processes", "1"])


# -- many jobs -------------------------------------------------------------------------------------------------


def square(job):
    return job[0] ** 2


def test_results_come_in_order_and_are_kept(tmp_path):
    jobs = [[3], [1], [2]]
    assert repeats.run(square, jobs, tmp_path / "store", 1, "") == [9, 1, 4]

    def fail(job):
        raise AssertionError(f"{job} was computed again")

    assert repeats.run(fail, [[2], [3]], tmp_path / "store", 1, "") == [4, 9]


def test_a_line_that_was_cut_off_is_done_again(tmp_path):
    store = tmp_path / "store"
    repeats.run(square, [[1], [2]], store, 1, "")
    store.write_text(store.read_text()[:-5])
    assert repeats.run(square, [[1], [2], [3]], store, 1, "") == [1, 4, 9]
    assert [json.loads(line)["result"] for line in store.read_text().splitlines()] == [1, 4, 9]


def test_two_processes_give_the_same(tmp_path):
    jobs = [["even", 0.1, 0, r] for r in range(3)]
    alone = [synthetic.one_repeat(job) for job in jobs]
    assert repeats.run(synthetic.one_repeat, jobs, tmp_path / "store", 2, "") == alone


# -- synthetic data --------------------------------------------------------------------------------------------


def test_every_data_set_has_its_own_seed():
    places = [(s, n, seed, r) for s in ("even", "uneven") for n in (0.08, 0.1) for seed in (0, 1) for r in range(50)]
    assert len({synthetic.seed_of(*place) for place in places}) == len(places)


def test_euclidean_is_left_out_where_it_is_not_defined():
    shared, own = (set(synthetic.one_repeat([sampling, 0.08, 0, 0])) for sampling in ("even", "asynchronous"))
    assert shared - own == {"Euclidean, spectral", "Euclidean, hierarchical"}


def test_summary_has_mean_spread_and_p():
    columns = [f"{m}, {c}" for m in synthetic.MEASURES for c in synthetic.CLUSTERINGS]
    scores = pd.DataFrame(np.random.default_rng(0).random((6, len(columns))), columns=columns)
    scores.insert(0, "noise", [0.08] * 4 + [0.1] * 2)
    table = synthetic.summary(scores)
    assert len(table) == 16
    bar = table.set_index(["noise", "clustering", "measure"]).loc[(0.08, "spectral", "Bregman")]
    values = scores["Bregman, spectral"][:4]
    assert bar["mean"] == pytest.approx(values.mean())
    assert bar["sd"] == pytest.approx(values.std())
    assert 0 < bar["p"] <= 1


def test_figure_even(tmp_path, monkeypatch):
    result = call("figure-even", "--repeats", 2, "--out", tmp_path)
    assert result.exit_code == 0, result.output
    scores = pd.read_csv(tmp_path / "figure-even.csv")
    assert list(scores.columns[:2]) == ["noise", "repeat"]
    assert scores.shape == (6, 10)
    quiet = scores[scores["noise"] == 0.08]
    assert quiet["GP similarity, spectral"].mean() > 0.8
    for name in ("figure-even", "sampling", "pairs"):
        assert (tmp_path / f"{name}.png").read_bytes()[:4] == b"\x89PNG"
        assert b"<svg" in (tmp_path / f"{name}.svg").read_bytes()
    page = (tmp_path / "reproduction.md").read_text(encoding="utf-8")
    assert "| 0.12 | hierarchical | 1.1e-20 |" in page
    assert all((tmp_path / name).exists() for name in _figures_of(page))

    before = (tmp_path / "figure-even.csv").read_bytes()
    monkeypatch.setattr(synthetic, "one_repeat", lambda job: pytest.fail(f"{job} was computed again"))
    assert call("figure-even", "--repeats", 2, "--out", tmp_path).exit_code == 0
    assert (tmp_path / "figure-even.csv").read_bytes() == before


def _figures_of(page):
    return [part.split(")")[0] for part in page.split("](")[1:]]


def test_a_killed_run_goes_on_and_ends_the_same(tmp_path):
    for extra in ("matplotlib", "dtaidistance"):
        pytest.importorskip(extra)
    arguments = ["figure-async", "--repeats", "5", "--out"]
    store = Run(tmp_path / "killed").work / "figure-async.jsonl"
    command = [sys.executable, "-m", "timelike.reproduce", *arguments, tmp_path / "killed", "--processes", "1"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 60
        while not (store.exists() and store.read_text()) and time.monotonic() < deadline:
            time.sleep(0.02)
        process.kill()
    assert 0 < len(store.read_text().splitlines()) < 5
    assert not (tmp_path / "killed" / "figure-async.csv").exists()
    for name in ("killed", "whole"):
        assert call(*arguments, tmp_path / name).exit_code == 0
    first, second = (Path(tmp_path / name / "figure-async.csv").read_bytes() for name in ("killed", "whole"))
    assert first == second


def test_each_measure_has_a_colour_of_its_own():
    assert set(figures.COLORS) == set(synthetic.MEASURES) == set(table_bhi.MEASURES)
    assert len(set(figures.COLORS.values())) == len(figures.COLORS)


# -- the other experiments -------------------------------------------------------------------------------------


def test_the_limit_is_reached_for_a_rough_kernel_and_not_for_a_smooth_one():
    table = euclidean_limit.agreement(seed=0).set_index(["length_scale", "ratio"])
    at = table.loc[(slice(None), euclidean_limit.RATIOS[4]), :]
    assert at["disagreement"].loc[0.02].item() < 1e-6
    assert at["disagreement"].loc[0.9].item() > 1e-2
    assert at["small_number"].loc[0.02].item() < 1e-6
    assert at["small_number"].loc[0.9].item() > 1


@pytest.mark.usefixtures("data")
def test_the_printed_numbers_of_the_three_genes(tmp_path):
    result = call("genes", "--out", tmp_path)
    assert result.exit_code == 0, result.output
    table = pd.read_csv(tmp_path / "genes.csv")
    assert (table["stuck"] - table["printed"]).abs().max() < 0.005
    np.testing.assert_allclose(table["fitted"], [5.09, 5.09, 37.29, 24.23], atol=0.005)
    profile = pd.read_csv(tmp_path / "genes-length-scale.csv").set_index("length_scale")["log_likelihood"]
    assert 50 < profile.idxmax() < 60
    assert np.ptp(profile[profile.index < 8]) < 0.1  # flat where the authors start
    page = (tmp_path / "reproduction.md").read_text(encoding="utf-8")
    assert "-32027.06" in page
    assert "-29056.32" in page


@pytest.mark.usefixtures("data")
def test_homogeneity_of_the_printed_table(monkeypatch):
    monkeypatch.setattr(table_bhi, "KS", (16,))
    chosen, alike = table_bhi.gene_similarity()
    assert len(chosen) == len(alike) == 1559
    (z,) = table_bhi.one_row(["stuck", "GP similarity", "complete", 0, 0])
    assert z == pytest.approx(table_bhi.PRINTED["hierarchical", "GP similarity"][-1], abs=0.6)


def test_rows_of_the_table():
    rows = list(table_bhi.rows_of_table())
    assert len(set(rows)) == len(rows) == 6 * table_bhi.STARTS + 14


# -- the command -----------------------------------------------------------------------------------------------


def test_the_issue_names_these():
    assert set(EXPERIMENTS) == {"figure-even", "figure-uneven", "figure-async", "genes", "table-bhi", "euclidean-limit"}


def test_what_is_finished_stays_on_the_page(tmp_path):
    pytest.importorskip("matplotlib")
    run = Run(tmp_path)
    run.work.mkdir(parents=True)
    (run.work / "genes.md").write_text("## Genes\n", encoding="utf-8")
    assert call("euclidean-limit", "--out", tmp_path).exit_code == 0
    page = (tmp_path / "reproduction.md").read_text(encoding="utf-8")
    assert page.index("## The Euclidean limit") < page.index("## Genes")


def test_missing_data_is_one_sentence(tmp_path, monkeypatch):
    def offline(remote):
        raise InputError(f"cannot download {remote.url}")

    monkeypatch.setenv("TIMELIKE_DATA", str(tmp_path))
    monkeypatch.setattr(datasets, "_download", offline)
    result = call("genes", "--out", tmp_path / "out")
    assert result.exit_code == 1
    assert "genes: cannot download https" in result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize("arguments", [["figure-odd"], ["genes", "--repeats", 0], ["genes", "--seed", -1]])
def test_bad_arguments(arguments):
    assert call(*arguments).exit_code == 2
