"""The paper's other experiments on a small scale, and the command that runs them."""

import numpy as np
import pandas as pd
import pytest

from timelike import datasets
from timelike.exceptions import InputError
from timelike.reproduce import euclidean_limit, figures, synthetic, table_bhi
from timelike.reproduce.command import EXPERIMENTS
from timelike.reproduce.settings import Run


@pytest.fixture
def data(shared_data, monkeypatch):
    monkeypatch.setenv("TIMELIKE_DATA", str(shared_data))


def test_the_limit_is_reached_for_a_rough_kernel_and_not_for_a_smooth_one():
    table = euclidean_limit.agreement(seed=0).set_index(["length_scale", "ratio"])
    at = table.loc[(slice(None), euclidean_limit.RATIOS[4]), :]
    assert at["disagreement"].loc[0.02].item() < 1e-6
    assert at["disagreement"].loc[0.9].item() > 1e-2
    assert at["small_number"].loc[0.02].item() < 1e-6
    assert at["small_number"].loc[0.9].item() > 1


@pytest.mark.usefixtures("data")
def test_the_printed_numbers_of_the_three_genes(call, tmp_path):
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


def test_each_measure_has_a_colour_of_its_own():
    assert set(figures.COLORS) == set(synthetic.MEASURES) == set(table_bhi.MEASURES)
    assert len(set(figures.COLORS.values())) == len(figures.COLORS)


# -- the command -----------------------------------------------------------------------------------------------


def test_every_experiment_of_the_paper_has_its_name():
    assert set(EXPERIMENTS) == {"figure-even", "figure-uneven", "figure-async", "genes", "table-bhi", "euclidean-limit"}


def test_what_is_finished_stays_on_the_page(call, tmp_path):
    pytest.importorskip("matplotlib")
    run = Run(tmp_path)
    run.work.mkdir(parents=True)
    (run.work / "genes.md").write_text("## Genes\n", encoding="utf-8")
    assert call("euclidean-limit", "--out", tmp_path).exit_code == 0
    page = (tmp_path / "reproduction.md").read_text(encoding="utf-8")
    assert page.index("## The Euclidean limit") < page.index("## Genes")


def test_missing_data_is_one_sentence(call, tmp_path, monkeypatch):
    def offline(remote):
        raise InputError(f"cannot download {remote.url}")

    monkeypatch.setenv("TIMELIKE_DATA", str(tmp_path))
    monkeypatch.setattr(datasets, "_download", offline)
    result = call("genes", "--out", tmp_path / "out")
    assert result.exit_code == 1
    assert "genes: cannot download https" in result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize("arguments", [["figure-odd"], ["genes", "--repeats", 0], ["genes", "--seed", -1]])
def test_bad_arguments(call, arguments):
    assert call(*arguments).exit_code == 2
