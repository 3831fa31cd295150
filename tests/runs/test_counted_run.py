"""A run on counts: what it keeps, says and leaves, and that it can be repeated to the bit."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import timelike as tl
from timelike.cli import main
from timelike.reading import understand

HOURS = np.repeat([0, 2, 4, 8, 12], 2)


def run(*arguments):
    return CliRunner().invoke(main, [str(a) for a in arguments])


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Counts of 40 genes in 20 samples under two conditions, and their sample sheet."""
    folder, rng = tmp_path_factory.mktemp("counts"), np.random.default_rng(3)
    samples = [f"s{i}" for i in range(20)]
    shape = np.where(np.arange(40)[:, None] % 2, np.sin(HOURS / 4), np.exp(-HOURS / 3))
    means = 80 * np.exp(np.hstack([shape, shape * 0.5])) * rng.uniform(0.5, 2, 20)
    table = pd.DataFrame(rng.poisson(rng.gamma(50, means / 50)), columns=samples)
    table.insert(0, "gene", [f"g{i}" for i in range(40)])
    table.loc[40] = ["silent", *[0] * 20]
    table.to_csv(folder / "counts.csv", index=False)
    sheet = {"sample": samples, "hours": np.tile(HOURS, 2), "treatment": ["no"] * 10 + ["yes"] * 10}
    pd.DataFrame(sheet).to_csv(folder / "samples.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def done(files, tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "first"
    reading = {"samples": str(files / "samples.csv"), "counts": True}
    with pytest.warns((tl.DataWarning, tl.FitWarning)):
        return tl.analyse(files / "counts.csv", out, reading=reading, most_variable=30), out


def test_the_record_has_the_option_and_the_size_factors(files, done):
    analysis, out = done
    source = json.loads((out / "run.json").read_text())["source"]
    assert source["reading"]["counts"] is True
    found = understand(files / "counts.csv", samples=files / "samples.csv", counts=True)
    assert source["size_factors"] == found.counts.size_factors == analysis.record.source.size_factors
    assert list(source["size_factors"])[:2] == ["s0", "s1"]
    assert "left out 1 gene without any count: silent" in source["understood"][2]


def test_the_folder_has_a_table_of_all_genes_which_is_read_again_to_the_bit(files, done):
    analysis, out = done
    expected = understand(files / "counts.csv", samples=files / "samples.csv", counts=True).counts.to_frame()
    pd.testing.assert_frame_equal(analysis.counts, expected)
    pd.testing.assert_frame_equal(tl.Analysis.load(out).counts, expected, check_exact=True)
    assert len(expected) == 40
    assert len(analysis.courses) == 60


def test_a_damaged_table_is_refused(done, tmp_path):
    shutil.copytree(done[1], tmp_path / "run")
    table = tmp_path / "run" / "counts.csv"
    table.write_text(table.read_text().replace("g3,", "g3,many"))
    with pytest.raises(tl.InputError, match=r"counts\.csv is not the one that this run wrote"):
        tl.Analysis.load(tmp_path / "run")


def test_axes_say_what_the_values_are_unless_the_user_does(files, done):
    assert done[0].naming.value_name == "log2 counts, normalised"
    model = tl.GP.se(3.0, 0.3, 0.1)
    reading = {"samples": str(files / "samples.csv"), "counts": True, "condition": "yes"}
    with pytest.warns(tl.DataWarning, match="without any count"):
        named = tl.analyse(
            files / "counts.csv", reading=reading, model=model, k=2, scale="center", value_name="log2 reads"
        )
    assert named.naming.value_name == "log2 reads"
    plain = tl.analyse(tl.simulate.profiles(per_group=4, seed=1)[0], model=tl.GP.se(0.9, 0.7, 0.08), k=2)
    assert (plain.naming.value_name, plain.counts, plain.record.source.size_factors) == ("value", None, None)


def test_the_methods_paragraph_says_how_counts_were_treated(done):
    analysis, out = done
    factors = analysis.record.source.size_factors.values()
    sentence = (
        "Counts of 40 genes in 20 samples were normalised by the median of ratios (size factors "
        f"{min(factors):.2f} to {max(factors):.2f}) and turned into log2 values, each with its standard error"
    )
    assert sentence in (out / "report.html").read_text(encoding="utf-8")


def test_it_is_repeated_to_the_bit(done, tmp_path):
    again = run("repeat", done[1] / "run.json", "--out", tmp_path / "again")
    assert again.exit_code == 0, again.output
    assert "the result is the same to the bit" in again.output


def test_new_counts_are_read_as_counts_and_levels_deserve_a_note(files, done, tmp_path):
    predicted = run("predict", done[1], files / "counts.csv", "--out", tmp_path / "predicted.csv")
    assert predicted.exit_code == 0, predicted.output
    assert "samples.csv, --counts; options of reading replace them all" in predicted.output
    assert "note: counts of each file are normalised among themselves" in predicted.output
    labels = pd.read_csv(tmp_path / "predicted.csv").set_index("name")["cluster"]
    analysis = done[0]
    assert (labels[list(analysis.courses.names)] == analysis.clustering.labels).mean() > 0.9


def test_neighbours_in_another_file_of_counts_get_the_note(files, tmp_path):
    options = ["--samples", files / "samples.csv", "--counts", "-k", 1, "--out", tmp_path / "near.csv", "--force"]
    one = run("neighbors", files / "counts.csv", "--to", files / "counts.csv", *options)
    assert "note: counts of each file are normalised among themselves" in one.output
    shapes = run("neighbors", files / "counts.csv", "--to", files / "counts.csv", "--scale", "center", *options)
    assert shapes.exit_code == 0, shapes.output
    assert "normalised among themselves" not in shapes.output
