"""Several files on the command line: one set of courses, a record of each file, the same run again."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from timelike.cli import main


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture
def replicates(tmp_path):
    rng = np.random.default_rng(3)
    shapes = [np.sin(np.linspace(0, 3, 6)), np.linspace(0, 2, 6)]
    paths = []
    for name in ("rep1", "rep2"):
        rows = [(f"g{i}", shapes[i % 2] + rng.normal(0, 0.1, 6)) for i in rng.permutation(12)]
        lines = ["gene,0h,1h,2h,4h,8h,12h", *(",".join([gene, *map(str, values)]) for gene, values in rows)]
        paths.append(tmp_path / f"{name}.csv")
        paths[-1].write_text("\n".join(lines) + "\n")
    return paths


def test_cluster_takes_replicates_and_repeats_them(replicates, tmp_path):
    done = run("cluster", *replicates, "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "12 courses, 6 times (0 to 12 h) x 2 replicates" in done.output
    assert "2 files (rep1, rep2), taken as replicates, matched by name" in done.output
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert record["source"]["path"] == str(replicates[0])
    assert list(record["source"]["others"]) == [str(replicates[1])]
    again = run("repeat", tmp_path / "out" / "run.json", "--out", tmp_path / "again")
    assert "the result is the same to the bit" in again.output, again.output
    files = [part for path in replicates for part in ("--file", path)]
    there = run("repeat", tmp_path / "out" / "run.json", *files, "--out", tmp_path / "there")
    assert "the result is the same to the bit" in there.output, there.output
    page = (tmp_path / "out" / "report.html").read_text()
    assert "rep1.csv and rep2.csv" in page


def test_a_changed_or_missing_file_is_found(replicates, tmp_path):
    run("cluster", *replicates, "--out", tmp_path / "out")
    one = run("repeat", tmp_path / "out" / "run.json", "--file", replicates[0], "--out", tmp_path / "again")
    assert one.exit_code == 2
    assert "has 2 inputs, --file names 1: name each, in their order" in one.output
    replicates[1].write_text(replicates[1].read_text().replace("g1,", "g99,"))
    other = run("repeat", tmp_path / "out" / "run.json", "--out", tmp_path / "again")
    assert other.exit_code == 2
    assert "rep2.csv is not the file of that run" in other.output


def test_other_verbs_take_them_too(replicates, tmp_path):
    fitted = run("fit", *replicates, "--files", "conditions", "--out", tmp_path / "model.json")
    assert "24 courses" in fitted.output
    told = run("explain", *replicates, "g0", "g1")
    assert told.exit_code == 0, told.output
    asked = run("changing", *replicates, "--out", tmp_path / "change")
    assert asked.exit_code == 0, asked.output
    again = run("repeat", tmp_path / "change" / "run.json", "--out", tmp_path / "more")
    assert "the result is the same to the bit" in again.output, again.output


def test_a_mistake_is_one_line(replicates):
    twice = run("fit", replicates[0], replicates[0])
    assert (twice.exit_code, twice.output.count("\n")) == (2, 1)
    assert "rep1.csv is given twice: name each file once." in twice.output
