"""A run on courses that have conditions: its tables, its terms, its selection, and what the command line says."""

import re

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import timelike as tl
from timelike.cli import main
from timelike.runs.analysis import Analysis

GENES = ["Actb", "Klf4", "Nanog", "Sox2"]


def run(*arguments):
    return CliRunner().invoke(main, [str(a) for a in arguments])


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Genes of two shapes in wt; in mut, g4 has the other shape."""
    rng = np.random.default_rng(0)
    times = np.arange(0.0, 12)
    shapes = np.array([np.sin(times / 2), np.cos(times / 2)])
    genes = [*GENES, *(f"g{i}" for i in range(4, 20))]
    kinds = np.arange(20) % 2
    changed = np.where(np.arange(20) == 4, 1 - kinds, kinds)
    columns = {"gene": genes}
    for condition, kind in (("wt", kinds), ("mut", changed)):
        values = shapes[kind] + 0.05 * rng.standard_normal((20, 12))
        columns |= {f"{condition}_{t:g}h": values[:, i] for i, t in enumerate(times)}
    path = tmp_path_factory.mktemp("data") / "genes.csv"
    pd.DataFrame(columns).to_csv(path, index=False)
    return path


HOW = {"header": "{condition}_{time}h"}


@pytest.fixture(scope="module")
def done(table, tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "out"
    return tl.analyse(table, out, reading=HOW, ontology=tl.ontology.example()), out


def test_conditions_csv_has_the_sizes_by_condition(done):
    analysis, out = done
    written = pd.read_csv(out / "conditions.csv", index_col="cluster")
    pd.testing.assert_frame_equal(written, analysis.clustering.by_condition())
    pd.testing.assert_frame_equal(written, analysis.conditions)
    assert written.sum().to_dict() == {"wt": 20, "mut": 20}


def test_changes_csv_has_the_gene_that_changes_first(done):
    analysis, out = done
    written = pd.read_csv(out / "changes.csv", float_precision="round_trip")
    expected = analysis.clustering.changes_cluster()
    pd.testing.assert_frame_equal(written, expected, check_dtype=False)
    pd.testing.assert_frame_equal(analysis.changes, expected)
    assert written["name"][0] == "g4"
    assert written["fdr"][0] < 0.05
    assert (written["fdr"] <= 0.05).sum() == 1


def test_they_are_in_the_record_and_in_an_analysis_that_is_read_again(done):
    analysis, out = done
    assert {"conditions.csv", "changes.csv"} <= set(analysis.record.outputs)
    pd.testing.assert_frame_equal(Analysis.load(out).changes, analysis.changes)


def test_terms_are_those_of_genes_each_once_in_a_cluster(done):
    analysis, _ = done
    assert analysis.failed == ()
    labels = dict(zip(analysis.courses.names, analysis.clustering.labels, strict=True))
    plain = [(name.rpartition(" | ")[0], label) for name, label in labels.items()]
    once = list(dict.fromkeys(plain))
    expected = tl.enrichment([label for _, label in once], [gene for gene, _ in once], tl.ontology.example())
    pd.testing.assert_frame_equal(analysis.enrichment, expected)
    assert analysis.enrichment["all_genes"].max() == 4


def test_without_probabilities_only_the_sizes_are_written(table, tmp_path):
    found = tl.analyse(table, tmp_path / "out", reading=HOW, method="spectral", k=2)
    assert found.changes is None
    assert (tmp_path / "out" / "conditions.csv").exists()
    assert not (tmp_path / "out" / "changes.csv").exists()


def test_without_conditions_there_is_nothing_to_write(table, tmp_path):
    found = tl.analyse(table, tmp_path / "out", reading=HOW | {"condition": "wt"}, k=2)
    assert (found.conditions, found.changes) == (None, None)
    assert not {"conditions.csv", "changes.csv"} & {path.name for path in found.files}


def test_genes_are_selected_with_all_their_conditions(table):
    found = tl.analyse(table, reading=HOW, most_variable=3, k=1)
    assert len(set(found.courses.plain_names)) == 3
    assert len(found.courses) == 6


def test_the_command_line_says_how_many_change(table, tmp_path):
    result = run("cluster", table, "--header", HOW["header"], "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    said = "1 of 20 names in other clusters under other conditions (expected false discovery rate 5 %): changes.csv"
    assert said in result.output


def test_a_condition_may_be_called_like_a_column(tmp_path):
    rng = np.random.default_rng(1)
    names = [f"{gene} | {condition}" for gene in "abcd" for condition in ("cluster", "changes")]
    courses = tl.TimeCourses.from_arrays(np.arange(6.0), rng.standard_normal((8, 6)), names)
    found = tl.analyse(courses, tmp_path / "out", model=tl.GP.se(1, 1, 0.3), k=1)
    assert found.failed == ()
    lines = (tmp_path / "out" / "conditions.csv").read_text().splitlines()
    assert lines[0] == "cluster,cluster,changes"
    assert "probability_in_changes" in (tmp_path / "out" / "changes.csv").read_text()


# -- homogeneity ---------------------------------------------------------------------------------------------------


@pytest.fixture
def ontology(tmp_path):
    (tmp_path / "go.obo").write_text(
        "format-version: 1.4\n"
        + "".join(
            f"\n[Term]\nid: GO:{k}\nname: t{k}\nnamespace: biological_process\n" + (f"is_a: GO:{p}\n" if p else "")
            for k, p in ((1, None), (2, 1), (3, 1), (4, 2), (5, 3))
        )
    )
    (tmp_path / "genes.tsv").write_text("a\tGO:4\nb\tGO:4\nc\tGO:5\nd\tGO:5\n")
    return ["--obo", tmp_path / "go.obo", "--gaf", tmp_path / "genes.tsv", "--permutations", 50]


def test_homogeneity_is_of_genes_each_once_in_a_cluster(ontology, tmp_path):
    rows = {"a | wt": 0, "a | mut": 0, "b | wt": 0, "b | mut": 1, "c | wt": 1, "c | mut": 1, "d | wt": 1, "d | mut": -1}
    named = "".join(f"{name},{cluster}\n" for name, cluster in rows.items())
    (tmp_path / "named.csv").write_text("name,cluster\n" + named)
    result = run("bhi", tmp_path / "named.csv", *ontology, "--enrichment", tmp_path / "e.csv")
    assert result.exit_code == 0, result.output
    assert "(5 genes, 50 relabellings)" in result.output  # a, b in 0; b, c, d in 1
    means = [float(found) for found in re.findall(r"cluster \d: (.*)", result.output)]
    assert means == pytest.approx([means[0], means[0] / 3], abs=1e-4)  # of the pairs in 1 only c and d are alike
    assert (pd.read_csv(tmp_path / "e.csv")["cluster_genes"] <= 3).all()
