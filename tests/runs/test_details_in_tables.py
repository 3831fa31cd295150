"""What the input says about courses beside their values stands in every table of a run, and is read again."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import timelike as tl
from timelike.cli import main
from timelike.runs.analysis import Analysis
from timelike.runs.beside import beside

COLUMNS = ["symbol", "cluster"]
"""A column that no table has, and one that clusters.csv has already."""


def run(*arguments):
    result = CliRunner().invoke(main, [str(a) for a in arguments])
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Genes of two shapes under two conditions, g3 with the other one in mut; and what else is known about them."""
    rng = np.random.default_rng(0)
    times, kind = np.arange(0.0, 10), np.arange(20) % 2
    shapes = np.array([np.sin(times / 2), np.cos(times / 2)])
    names = [f"g{i}" for i in range(20)]
    columns = {
        "gene": names,
        "symbol": [f"S{i}" for i in range(20)],
        "cluster": ["-old" if i else "" for i in range(20)],
    }
    for condition, of in (("wt", kind), ("mut", np.where(np.arange(20) == 3, 1 - kind, kind))):
        values = shapes[of] + 0.05 * rng.standard_normal((20, 10))
        columns |= {f"{condition}_{t:g}h": values[:, i].round(4) for i, t in enumerate(times)}
    columns["wt_4h"][6] += 2
    path = tmp_path_factory.mktemp("data") / "genes.csv"
    pd.DataFrame(columns).to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def out(table):
    folder = table.parent / "out"
    run("cluster", table, "--header", "{condition}_{time}h", "--most-variable", 18, "-k", 2, "--out", folder)
    return folder


def read(path):
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def number(name):
    return name.split(" | ")[0].removeprefix("g")


@pytest.mark.parametrize(
    ("name", "of"),
    [("clusters.csv", "name"), ("neighbors.csv", "course"), ("changes.csv", "name"), ("outliers.csv", "course")],
)
def test_each_row_has_what_is_known_of_its_course(out, name, of):
    rows = read(out / name)
    assert len(rows)
    assert list(rows["symbol"]) == [f"S{number(course)}" for course in rows[of]]
    old = rows["cluster (input)" if name == "clusters.csv" else "cluster"]
    assert list(old) == ["'-old" if number(course) != "0" else "" for course in rows[of]]
    if name == "neighbors.csv":
        assert list(rows["neighbor_symbol"]) == [f"S{number(course)}" for course in rows["neighbor"]]


def test_details_are_read_again_and_repeated(out, tmp_path):
    analysis = Analysis.load(out)
    assert list(analysis.details.columns) == COLUMNS
    assert list(analysis.details["symbol"]) == [f"S{number(course)}" for course in analysis.courses.names]
    assert set(analysis.details["cluster"]) <= {"-old", ""}
    assert "the result is the same to the bit" in run("repeat", out / "run.json", "--out", tmp_path / "again")
    page = (out / "report.html").read_text("utf-8")
    run("report", out, "--out", tmp_path / "again.html")
    assert (tmp_path / "again.html").read_text("utf-8") == page
    assert '"S19"' in page


def test_a_changed_table_brings_no_details_in_silence(out, tmp_path):
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(out, copy)
    (copy / "clusters.csv").write_text((copy / "clusters.csv").read_text().replace("S1,", "X1,"))
    with pytest.warns(tl.DataWarning, match=r"clusters\.csv is not the one .*: symbol, cluster are left out"):
        assert Analysis.load(copy).details is None


def test_answers_have_them_too(table, tmp_path):
    how = ["--header", "{condition}_{time}h", "--check", 0]
    run("compare", table, *how, "--out", tmp_path / "compare")
    run("changing", table, *how, "--out", tmp_path / "changing")
    for path in (tmp_path / "compare" / "differences.csv", tmp_path / "changing" / "changing.csv"):
        rows = read(path)
        assert list(rows["symbol"]) == [f"S{number(course)}" for course in rows["name"]]
    assert "the result is the same" in run("repeat", tmp_path / "compare" / "run.json", "--out", tmp_path / "again")


def test_files_of_conditions_know_what_either_says(table, tmp_path):
    frame = pd.read_csv(table)
    for condition in ("wt", "mut"):
        times = [c for c in frame if c.startswith(f"{condition}_")]
        known = ["gene", "symbol"] if condition == "mut" else ["gene"]
        frame[[*known, *times]].rename(columns=lambda c, p=f"{condition}_": c.removeprefix(p)).to_csv(
            tmp_path / f"{condition}.csv", index=False
        )
    run("compare", f"wt={tmp_path / 'wt.csv'}", f"mut={tmp_path / 'mut.csv'}", "--check", 0, "--out", tmp_path / "out")
    rows = read(tmp_path / "out" / "differences.csv")
    assert list(rows["symbol"]) == [f"S{number(course)}" for course in rows["name"]]


def test_a_name_that_stands_there_twice_over_is_told_apart():
    known = pd.DataFrame({"a": ["1"], "a (input)": ["2"]}, index=["x"], dtype=object)
    assert list(beside(pd.DataFrame({"name": ["x"], "a": [0]}), known)) == [
        "name",
        "a",
        "a (input)",
        "a (input) (input)",
    ]
