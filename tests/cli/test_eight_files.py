"""Eight odd files, as new users bring them, and the lines that each of them makes the command line print."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from timelike import simulate
from timelike.cli import main

HOURS = (0, 2, 5, 10, 15, 20)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(line):
    """The exit code and the lines that a command prints."""
    result = CliRunner().invoke(main, line.split(), catch_exceptions=False)
    return result.exit_code, result.output.strip().splitlines()


def genes(count=12, seed=0):
    """A table with a gene a row and times as headers."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(count, 1)) + np.sin(np.arange(len(HOURS))) + 0.05 * rng.normal(size=(count, len(HOURS)))
    names = pd.Index([f"g{i}" for i in range(count)], name="gene")
    return pd.DataFrame(values.round(3), index=names, columns=[f"{hour}h" for hour in HOURS])


def counted(genes=150):
    """Counts and their sample sheet, as files."""
    made = simulate.experiment(genes=genes, seed=1)
    made.counts_frame().to_csv("counts.csv", index=False)
    made.samples_frame().to_csv("samples.csv", index=False)
    return made


def test_no_header(here):
    genes().to_csv("plain.csv", header=False)
    code, (line,) = run("fit plain.csv")
    assert code == 2
    assert line.startswith("timelike: plain.csv: the first line is no header, it seems: ")
    assert "--no-header --times 0,5,..." in line
    code, lines = run("fit plain.csv --no-header --times 0,2,5,10,15,20")
    assert code == 0
    assert lines[0] == "12 courses, 6 times (0 to 20)"
    assert lines[-1] == "wrote model.json"


def test_two_replicate_files_in_different_orders(here):
    first = genes()
    first.to_csv("rep1.csv")
    (first + 0.01).iloc[::-1].to_csv("rep2.csv")
    code, lines = run("fit rep1.csv rep2.csv")
    assert code == 0
    assert lines[0] == "12 courses, 6 times (0 to 20 h) x 2 replicates"
    assert lines[1].startswith("read as 2 files (rep1, rep2), taken as replicates, matched by name")
    assert lines[2] == "nothing was left out"
    noise = float(lines[-2].split("noise sd ")[1].split(",")[0])
    assert noise < 0.02  # replicates are 0.01 apart: rows that were matched by place would be far apart


def test_many_data_sets_in_one(here):
    tables = [
        genes(6, seed).reset_index().melt("gene", var_name="hour").assign(dataset=d) for seed, d in enumerate("AB")
    ]
    frame = pd.concat(tables)
    frame["hour"] = frame["hour"].str.removesuffix("h")
    frame.to_csv("many.csv", index=False)
    code, (line,) = run("fit many.csv")
    assert code == 2
    assert line.startswith("timelike: many.csv: several 'dataset' (A, B) have values under one name of 'gene'")
    assert "--course gene --course dataset" in line
    assert "--duplicates replicates" in line
    code, lines = run("fit many.csv --course gene --course dataset")
    assert code == 0
    assert lines[0] == "12 courses, 6 times (0 to 20 h)"
    assert "courses from 'gene / dataset'" in lines[1]


def test_counts(here):
    counted()
    code, lines = run("fit counts.csv --samples samples.csv")
    assert code == 0
    assert any(line.startswith("note: every value is a whole number") and "--counts" in line for line in lines)
    code, lines = run("fit counts.csv --samples samples.csv --counts --force")
    assert code == 0
    assert lines[0] == "300 courses, 8 times (0 to 24 h) x 3 replicates"
    assert "counts: normalised by the median of ratios" in lines[1]
    assert "a course for each name and condition ('wt', 'mut')" in lines[1]
    assert not any("whole number" in line for line in lines)


def test_a_sample_sheet_with_missing_samples(here):
    made = counted()
    made.samples_frame().iloc[:-2].to_csv("samples.csv", index=False)
    code, lines = run("fit counts.csv --samples samples.csv --counts")
    assert code == 0
    assert lines[0] == "300 courses, 8 times (0 to 24 h) x 3 replicates, 4.17 % missing"
    assert any("sample sheet does not name" in line and line.endswith("'S47', 'S48'") for line in lines)
    assert not any(line == "nothing was left out" for line in lines)


def test_a_repeated_option(here):
    genes().to_csv("genes.csv")
    code, lines = run("fit genes.csv --kernel se --kernel matern32")
    assert code == 2
    assert lines[-1] == "Error: --kernel is given 2 times: give it once."
    assert not (here / "model.json").exists()


def test_a_late_failure(here, monkeypatch):
    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    genes().to_csv("genes.csv")
    monkeypatch.setattr("timelike.runs.folder.report", fail)
    code, lines = run("cluster genes.csv -k 2 --out result")
    assert code == 1
    assert any(line.startswith("Clustering: 12 courses in 2 clusters") for line in lines)
    assert any("no report: No space left on device." in line for line in lines)
    written = {path.name for path in (here / "result").iterdir()}
    assert {"clusters.csv", "neighbors.csv", "clusters.png", "run.json"} <= written
    assert "report.html" not in written
