"""The demo: it runs, tells the truth beside the answers, and what it prints can be done by hand."""

import re
import shlex

import pandas as pd
import pytest
from click.testing import CliRunner

from timelike.cli import main
from timelike.runs import demo
from timelike.simulate import experiment

GENES = 300


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """The folder and the output of a demo with fewer genes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demo, "experiment", lambda seed: experiment(genes=GENES, seed=seed))
        patch.chdir(tmp_path_factory.mktemp("here"))
        result = CliRunner().invoke(main, ["demo", "--seed", "1"], catch_exceptions=False)
        assert result.exit_code == 0, result.output
        yield (tmp_path_factory.getbasetemp() / "here0" / "timelike-demo", result.output)


def line(output, beginning):
    return next(one for one in output.splitlines() if one.strip().startswith(beginning))


def test_it_leaves_the_input_the_reports_and_an_index_that_leads_to_them(small):
    folder, output = small
    for name in ("counts.csv", "samples.csv", "truth.csv", "sets.gmt"):
        assert (folder / name).is_file()
    page = (folder / "index.html").read_text()
    for link in re.findall(r'href="([^"]+)"', page):
        assert (folder / link).is_file(), link
    assert page.count("report.html") == 3
    assert output.splitlines()[-1].startswith("open timelike-demo")
    assert "note:" not in output


def test_it_finds_the_story(small):
    _, output = small
    repair = re.search(r"by delay: \+([\d.]+) h \(([\d.]+) to ([\d.]+)\)", line(output, "repair"))
    assert 1.5 < float(repair[1]) < 2.5
    assert "by level: +1" in line(output, "neighbours")
    defence = re.search(r"(\d+) +(\d+) +(\d+) +(\d+)  \d+ by shape: -", line(output, "defence"))
    genes, in_wt, in_mut, differ = (int(one) for one in defence.groups())
    assert in_wt >= 0.8 * genes
    assert in_mut <= 0.2 * genes
    assert differ >= 0.8 * genes
    assert float(re.search(r"NMI (\d\.\d+)", output)[1]) > 0.7


def test_the_figures_that_it_prints_are_those_of_its_tables(small):
    folder, output = small
    truth = pd.read_csv(folder / "truth.csv").set_index("gene")
    table = pd.read_csv(folder / "compare" / "differences.csv")
    called = table.loc[table["fdr"] <= 0.05, "name"]
    true = truth.loc[called, "differs"]
    said = re.search(r"True: (\d+) of the (\d+) genes that differ are found; ([\d.]+)% of those", output)
    assert [int(said[1]), int(said[2])] == [true.sum(), truth["differs"].sum()]
    assert float(said[3]) == pytest.approx(100 * (1 - true.mean()), abs=0.051)
    changing = pd.read_csv(folder / "changing" / "changing.csv")
    gene, strain = zip(*changing.loc[changing["fdr"] <= 0.05, "name"].str.split(" | ", regex=False), strict=True)
    hits = sum(truth.loc[one, f"changes_{where}"] for one, where in zip(gene, strain, strict=True))
    assert f"True: {hits} of the {truth[['changes_wt', 'changes_mut']].to_numpy().sum()} courses" in output
    clusters = pd.read_csv(folder / "cluster" / "clusters.csv")["cluster"].value_counts()
    for cluster, size in clusters[clusters.index >= 0].items():
        assert re.search(rf"^ +{cluster} +{size}  ", output, re.M)


def test_a_command_that_it_prints_does_the_same_by_hand(small, tmp_path, monkeypatch):
    folder, output = small
    monkeypatch.chdir(folder.parent)
    commands = re.findall(r"^\$ timelike (.*)$", output, re.M)
    assert [one.split()[0] for one in commands] == ["changing", "compare", "cluster"]
    *typed, place = shlex.split(commands[2])
    result = CliRunner().invoke(main, [*typed, str(tmp_path / "by_hand")], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    for name in ("clusters.csv", "enrichment.csv"):
        assert (tmp_path / "by_hand" / name).read_bytes() == (folder.parent / place / name).read_bytes()


def test_it_overwrites_only_when_told(small, monkeypatch):
    folder, _ = small
    monkeypatch.chdir(folder.parent)
    again = CliRunner().invoke(main, ["demo"])
    assert again.exit_code == 2
    assert "is not empty" in again.output
