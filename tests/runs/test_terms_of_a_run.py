"""Terms of a run: gene sets or an ontology, refused before the work where they are damaged, recorded and repeated."""

import json
import shutil

import pytest
from click.testing import CliRunner

import timelike as tl
from timelike.cli import main

OBO = "".join(f"\n[Term]\nid: GO:{k}\nnamespace: biological_process\n" + "is_a: GO:1\n" * (k > 1) for k in (1, 2, 3))


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with courses of three shapes, and what is known about them."""
    courses, _ = tl.simulate.profiles(per_group=8, noise=0.05, seed=4)
    courses.to_frame().to_csv(tmp_path / "c.csv", index=False)
    names = [name for name in courses.names if name.startswith("A")]
    (tmp_path / "sets.gmt").write_text("OF_A\tmade up\t" + "\t".join(names) + "\nX\tmade up\tB01\tB02\tB03\tnobody\n")
    (tmp_path / "go.obo").write_text(OBO)
    (tmp_path / "go.tsv").write_text("".join(f"{name}\tGO:{2 + (name in names)}\n" for name in courses.names))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(main, [str(a) for a in arguments])


def test_gene_sets_alone(here):
    result = run("cluster", "c.csv", "-k", 3, "--gmt", "sets.gmt", "--out", "out")
    assert result.exit_code == 0, result.output
    assert "terms: 2 gene sets of 4 to 8 genes, 12 genes in all; 24 genes: 11 used" in result.output
    assert "13 not found" in result.output
    rows = (here / "out" / "enrichment.csv").read_text().splitlines()
    assert rows[1].split(",")[1:7] == ["OF_A", "OF_A", "8", "8", "8", "24"] or "OF_A,OF_A,8,8,8,24" in "\n".join(rows)
    page = (here / "out" / "report.html").read_text("utf-8")
    assert "Enrichment of clusters was tested for 2 terms of sets.gmt" in page
    assert "against the 24 names that count as background" in page
    record = json.loads((here / "out" / "run.json").read_text())
    assert record["terms"]["files"] == {"gmt": "sets.gmt"}
    assert len(record["terms"]["sha256"]["gmt"]) == 64


@pytest.mark.parametrize("options", [["--gmt", "sets.gmt"], ["--obo", "go.obo", "--gaf", "go.tsv"]])
def test_terms_are_repeated(here, options):
    assert run("cluster", "c.csv", "-k", 3, *options, "--out", "out").exit_code == 0
    again = run("repeat", "out/run.json", "--out", "again")
    assert "the result is the same to the bit" in again.output
    assert (here / "again" / "enrichment.csv").read_bytes() == (here / "out" / "enrichment.csv").read_bytes()
    file = here / options[-1]
    (here / "elsewhere").mkdir()
    shutil.move(file, here / "elsewhere" / "moved")
    gone = run("repeat", "out/run.json", "--out", "third")
    assert gone.exit_code == 2
    assert f"the terms {options[-1]} are no longer there. Say where they are ({options[-2]})." in gone.output
    assert run("repeat", "out/run.json", options[-2], "elsewhere/moved", "--out", "third").exit_code == 0
    (here / "elsewhere" / "moved").write_text("OTHER\tx\ty\n")
    other = run("repeat", "out/run.json", options[-2], "elsewhere/moved", "--out", "fourth")
    assert "is not the" in other.output
    assert other.exit_code == 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--gmt", "none.gmt"], "none.gmt: no such file"),
        (["--gmt", "bad.gmt"], "bad.gmt, line 2: 1 column, but a GMT line"),
        (["--obo", "go.obo", "--gaf", "none.gaf"], "none.gaf: no such file"),
        (["--obo", "bad.gmt", "--gaf", "go.tsv"], "bad.gmt: no [Term] found"),
        (["--obo", "go.obo"], "one file is missing"),
        (["--gaf", "sets.gmt"], "gene sets need no ontology: give --gmt sets.gmt."),
        (["--gmt", "sets.gmt", "--obo", "go.obo", "--gaf", "go.tsv"], "cannot be taken together"),
    ],
)
def test_what_is_wrong_with_terms_is_said_before_the_work(here, monkeypatch, options, said):
    def worked(*_, **__):
        raise AssertionError("the work began")

    (here / "bad.gmt").write_text("UP\tx\ta\nDOWN\n")
    monkeypatch.setattr("timelike.runs.analyse.fit", worked)
    result = run("cluster", "c.csv", *options, "--out", "out")
    assert result.exit_code == 2
    assert said in result.output
    assert len(result.output.splitlines()) == 1
    assert not (here / "out").exists()


def test_homogeneity_by_gene_sets(here):
    assert run("cluster", "c.csv", "-k", 3, "--out", "out").exit_code == 0
    result = run("bhi", "out/clusters.csv", "--gmt", "sets.gmt", "--enrichment", "terms.csv")
    assert result.exit_code == 0, result.output
    assert "2 gene sets of 4 to 8 genes" in result.output
    assert "OF_A" in (here / "terms.csv").read_text()
    none = run("bhi", "out/clusters.csv")
    assert none.exit_code == 2
    assert "there are no terms: give gene sets alone (--gmt)" in none.output


def test_a_question_has_no_terms(here):
    assert run("changing", "c.csv", "--check", 0, "--out", "out").exit_code == 0
    result = run("repeat", "out/run.json", "--gmt", "sets.gmt", "--out", "again")
    assert result.exit_code == 2
    assert "was made without terms: leave out --gmt" in result.output


@pytest.mark.parametrize(
    "terms",
    [
        {"files": {"gmt": "a", "obo": "b"}, "sha256": {"gmt": "", "obo": ""}},
        {"files": {"gmt": 3}, "sha256": {"gmt": ""}},
        {"files": {"gmt": "a"}, "sha256": {}},
        {"files": {"gmt": "a"}, "sha256": {"gmt": ""}, "drop": "IEA"},
        {"files": {"gmt": "a"}, "sha256": {"gmt": ""}, "colour": "red"},
        [],
    ],
)
def test_damaged_records_are_refused(here, terms):
    tl.analyse(tl.read("c.csv"), "out", k=3)
    record = json.loads((here / "out" / "run.json").read_text())
    (here / "out" / "run.json").write_text(json.dumps(record | {"terms": terms}))
    with pytest.raises(tl.InputError, match=r"run\.json: the entry"):
        tl.Analysis.load("out")
