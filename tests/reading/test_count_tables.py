"""Counts in files: every layout, what is no gene or no sample, and words about what is no count."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import timelike as tl
from timelike.cli import main
from timelike.reading import understand

NAMES = [f"g{i}" for i in range(12)]
SAMPLES = [f"s{i}" for i in range(8)]
HOURS = [0, 0, 6, 6, 0, 0, 6, 6]
TREATMENT = ["no"] * 4 + ["yes"] * 4
SHEET = pd.DataFrame({"sample": SAMPLES, "hours": HOURS, "treatment": TREATMENT})
COUNTS = np.random.default_rng(0).poisson(50 * np.exp(np.random.default_rng(1).standard_normal((12, 8))))
WIDE = pd.DataFrame(COUNTS, columns=SAMPLES).assign(gene=NAMES)[["gene", *SAMPLES]]
TRUTH = tl.TimeCourses.from_counts(HOURS, COUNTS, NAMES, TREATMENT)


def assert_same(found, expected=TRUTH):
    assert found.names == expected.names
    for name in expected.names:  # replicates may come in another order
        one, other = found[name], expected[name]
        order, same = (np.lexsort((c.values, c.times)) for c in (one, other))
        for what in ("times", "values", "errors"):
            np.testing.assert_allclose(getattr(one, what)[order], getattr(other, what)[same], rtol=1e-7, atol=1e-7)


# -- layouts -------------------------------------------------------------------------------------------------------


def test_a_table_with_a_sample_sheet():
    assert_same(tl.read(WIDE, samples=SHEET, counts=True))


def test_times_and_conditions_in_the_headers():
    heads = [f"{c}_{t}h_{1 + i % 2}" for i, (c, t) in enumerate(zip(TREATMENT, HOURS, strict=True))]
    table = WIDE.set_axis(["gene", *heads], axis=1)
    assert_same(tl.read(table, header="{condition}_{time}h_{replicate}", counts=True))


def test_headers_that_stand_twice_are_samples_of_their_own():
    table = WIDE.iloc[:, :5].set_axis(["gene", "0h", "0h", "6h", "6h"], axis=1)
    found = understand(table, counts=True)
    assert_same(found.courses, tl.TimeCourses.from_counts([0, 0, 6, 6], COUNTS[:, :4], NAMES))
    assert list(found.counts.size_factors) == ["0h", "0h-2", "6h", "6h-2"]


def test_samples_down_the_rows():
    table = WIDE.set_index("gene").T.rename_axis("sample").reset_index()
    assert_same(tl.read(table, samples=SHEET, orient="columns", counts=True))


def test_times_down_the_rows():
    table = pd.DataFrame(COUNTS[:, :4].T, columns=NAMES).assign(time=HOURS[:4])[["time", *NAMES]]
    assert_same(tl.read(table, counts=True), tl.TimeCourses.from_counts([0, 0, 6, 6], COUNTS[:, :4], NAMES))


def test_one_condition_is_taken_after_all_were_normalised_together():
    found = understand(WIDE, samples=SHEET, condition="yes", counts=True)
    assert_same(found.courses, TRUTH.by_condition()["yes"])
    assert len(found.counts.size_factors) == 8


def test_without_counts_nothing_changes():
    plain = tl.read(WIDE, samples=SHEET, counts=False)
    assert plain.errors is None
    np.testing.assert_array_equal(plain["g0 | no"].values, np.concatenate([COUNTS[0, :4]]))
    assert understand(WIDE, samples=SHEET).counts is None


def test_anndata():
    anndata = pytest.importorskip("anndata")
    obs = SHEET.set_index("sample").rename_axis(None)
    data = anndata.AnnData(
        np.zeros((8, 12)), obs=obs, var=pd.DataFrame(index=NAMES), layers={"counts": COUNTS.T.copy()}
    )
    assert_same(tl.read(data, layer="counts", counts=True))
    data.layers["counts"][3, 5] = -1
    with pytest.raises(tl.InputError, match="var 5: the count of 'g5' in sample 's3' is -1: expected whole numbers"):
        tl.read(data, layer="counts", counts=True)


def test_cells_of_a_sample_are_summed():
    anndata = pytest.importorskip("anndata")
    sparse = pytest.importorskip("scipy.sparse")
    halves = np.random.default_rng(2).binomial(COUNTS.T, 0.5)
    cells = np.vstack([halves, COUNTS.T - halves])
    obs = pd.concat([SHEET, SHEET]).set_axis([f"cell {i}" for i in range(16)])
    data = anndata.AnnData(sparse.csr_matrix(cells), obs=obs, var=pd.DataFrame(index=NAMES))
    found = understand(data, replicate="sample", counts=True)
    assert_same(found.courses)
    assert "each the sum of 2 to 2 observations with the same time and 'sample'" in found.how
    assert "s0 0 no" in found.counts.size_factors


# -- tidy ------------------------------------------------------------------------------------------------------------


def tidy(**columns):
    """The counts, one a row."""
    gene, sample = (grid.ravel() for grid in np.meshgrid(range(12), range(8), indexing="ij"))
    of_sample = {name: np.array(cells)[sample] for name, cells in columns.items()}
    return pd.DataFrame({"gene": np.array(NAMES)[gene], **of_sample, "count": COUNTS[gene, sample]})


@pytest.mark.parametrize("called", ["sample", "Replicate", "library"])
def test_tidy_counts_with_a_column_of_samples(called):
    table = tidy(hours=HOURS, treatment=TREATMENT, **{called: SAMPLES if called == "sample" else [1, 2] * 4})
    assert_same(tl.read(table, counts=True))


def test_the_order_of_rows_does_not_matter():
    table = tidy(hours=HOURS, treatment=TREATMENT, sample=SAMPLES).sample(frac=1, random_state=1, ignore_index=True)
    assert_same(tl.read(table, counts=True).select(list(TRUTH.names)))


def test_tidy_counts_whose_times_and_conditions_tell_the_samples():
    table = tidy(hours=range(8))
    found = understand(table, counts=True)
    assert_same(found.courses, tl.TimeCourses.from_counts(range(8), COUNTS, NAMES))
    assert list(found.counts.size_factors) == list("01234567")
    assert "values from 'count'; counts: normalised" in found.how


def test_a_column_that_numbers_the_rows_is_no_sample():
    table = tidy(hours=range(8)).reset_index(names="index")
    assert_same(tl.read(table, counts=True), tl.TimeCourses.from_counts(range(8), COUNTS, NAMES))


def test_the_account_of_tidy_counts_names_what_tells_the_samples():
    found = understand(tidy(hours=HOURS, treatment=TREATMENT, rep=[1, 2] * 4, lane=["x"] * 8), counts=True)
    assert "samples told by 'treatment', 'rep'" in found.how
    assert found.unused == ("lane",)
    assert list(found.counts.size_factors)[:2] == ["no 0 1", "no 0 2"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda t: t.drop(columns="sample"),
            "'g0' has two counts at time 0, in condition 'no', row 0 and row 1. Count",
        ),
        (
            lambda t: t.drop(index=5),
            "'g0' has no count at time 0, in condition 'yes', in sample 's5', where other genes",
        ),
        (lambda t: pd.concat([t, t[:1]], ignore_index=True), "'g0' has two counts at time 0, in condition 'no', in s"),
        (
            lambda t: t.assign(count=t["count"].astype(float).where(t.index != 9)),
            "row 9: the count of 'g1' in sample 's1' is",
        ),
        (lambda t: t.assign(count=t["count"] - 1000), "row 0: the count of 'g0' in sample 's0' is -"),
    ],
)
def test_tidy_counts_that_cannot_be_normalised(change, message):
    with pytest.raises(tl.InputError) as caught:
        tl.read(change(tidy(hours=HOURS, treatment=TREATMENT, sample=SAMPLES)), counts=True)
    assert message in str(caught.value)


def test_tidy_counts_have_no_errors_of_their_own():
    table = tidy(hours=HOURS, treatment=TREATMENT, sample=SAMPLES).assign(se=1.0)
    with pytest.raises(tl.InputError, match="error= has no meaning here: counts get errors of their own"):
        tl.read(table, error="se", counts=True)


# -- what is no gene, and what is no sample --------------------------------------------------------------------------


def write_feature_counts(path, samples):
    """A table as featureCounts writes it."""
    head = ["Geneid", "Chr", "Start", "End", "Strand", "Length", *samples]
    rows = [[n, "chr1;chr1", "1;50", "40;90", "+;+", "82", *row] for n, row in zip(NAMES, COUNTS, strict=True)]
    rows[3][2:4] = ["7", "88"]  # one exon
    lines = ["\t".join(map(str, row)) for row in [head, *rows]]
    path.write_text('# Program:featureCounts v2.0.1; Command:"featureCounts" "-a" "x.gtf"\n' + "\n".join(lines))


def test_columns_about_genes_are_no_samples(tmp_path):
    samples = [f"{s}.bam" for s in SAMPLES]
    write_feature_counts(tmp_path / "counts.txt", samples)
    found = understand(tmp_path / "counts.txt", samples=SHEET.assign(sample=samples), counts=True)
    assert_same(found.courses)
    assert list(found.details) == ["Chr", "Start", "End", "Strand", "Length"]
    assert "'Length'" in found.notes[0]


def test_columns_about_genes_are_no_samples_where_times_are_given(tmp_path):
    write_feature_counts(tmp_path / "counts.txt", [f"lane{letter}.bam" for letter in "abcdefgh"])
    timed = tl.reading.understand(tmp_path / "counts.txt", times=range(8), counts=True)
    assert_same(timed.courses, tl.TimeCourses.from_counts(range(8), COUNTS, NAMES))


def test_reads_without_a_gene_are_set_apart_and_it_is_said():
    rows = pd.DataFrame([[name, *range(900, 908)] for name in ("__no_feature", "N_ambiguous")], columns=WIDE.columns)
    found = understand(pd.concat([WIDE, rows], ignore_index=True), samples=SHEET, counts=True)
    assert_same(found.courses)
    assert "set apart 2 rows of reads without a gene: __no_feature, N_ambiguous" in found.notes
    with pytest.raises(tl.InputError, match="there is no gene, only rows of reads without one: __no_feature"):
        understand(rows, samples=SHEET, counts=True)


def test_genes_without_a_count_are_left_out_and_the_account_says_what_was_done():
    rows = pd.DataFrame([[f"zero {i}", *[0] * 8] for i in range(7)], columns=WIDE.columns)
    found = understand(pd.concat([rows, WIDE], ignore_index=True), samples=SHEET, counts=True)
    assert_same(found.courses)
    _, how, left_out = found.lines()
    factors = list(found.counts.size_factors.values())
    assert f"counts: normalised by the median of ratios (size factors {min(factors):.2f} to {max(factors):.2f})" in how
    assert left_out == "left out 7 genes without any count: zero 0, zero 1, zero 2, zero 3, zero 4, ..."
    assert list(found.counts.to_frame()["name"]) == NAMES
    with pytest.warns(tl.DataWarning, match="left out 7 genes without any count"):
        tl.read(pd.concat([rows, WIDE], ignore_index=True), samples=SHEET, counts=True)


# -- what is no count --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        (
            "-3",
            "line 4, column 's2': the count of 'g2' in sample 's2' is -3: expected whole numbers, zero or more. Are t",
        ),
        (
            "2.5",
            "line 4, column 's2': the count of 'g2' in sample 's2' is 2.5: expected whole numbers, zero or more. Val",
        ),
        (
            "NA",
            "line 4, column 's2': the count of 'g2' in sample 's2' is missing: expected whole numbers, zero or more. A",
        ),
        ("many", "line 4, column 's2': 'many'"),
    ],
)
def test_what_is_no_count_is_named_with_gene_sample_and_line(tmp_path, cell, message):
    table = WIDE.astype(str)
    table.loc[2, "s2"] = cell
    table.to_csv(tmp_path / "counts.csv", index=False)
    with pytest.raises(tl.InputError) as caught:
        tl.read(tmp_path / "counts.csv", samples=SHEET, counts=True)
    assert f"counts.csv: {message}" in str(caught.value)


def test_lines_are_right_behind_rows_that_were_set_apart(tmp_path):
    table = pd.concat([pd.DataFrame([["__no_feature", *[1] * 8]], columns=WIDE.columns), WIDE])
    table.iloc[4, 3] = -1
    table.to_csv(tmp_path / "counts.csv", index=False)
    with pytest.raises(tl.InputError, match="line 6, column 's2': the count of 'g3' in sample 's2' is -1"):
        tl.read(tmp_path / "counts.csv", samples=SHEET, counts=True)


def test_down_the_rows_the_line_is_that_of_the_sample(tmp_path):
    table = WIDE.set_index("gene").T.rename_axis("sample").reset_index()
    table.loc[5, "g7"] = -4
    table.to_csv(tmp_path / "counts.csv", index=False)
    with pytest.raises(tl.InputError, match="line 7, column 'g7': the count of 'g7' in sample 's5' is -4"):
        tl.read(tmp_path / "counts.csv", samples=SHEET, orient="columns", counts=True)


def test_a_library_of_size_zero_is_named():
    with pytest.raises(tl.InputError, match="sample 's6' has no counts at all: a library of size zero"):
        tl.read(WIDE.assign(s6=0), samples=SHEET, counts=True)


@pytest.mark.parametrize("given", ["yes", 1, "counts"])
def test_counts_is_true_or_false(given):
    with pytest.raises(tl.InputError, match=f"counts={given!r}: expected True or False"):
        tl.read(WIDE, samples=SHEET, counts=given)


# -- the command line --------------------------------------------------------------------------------------------------


def test_the_flag_of_the_command_line(tmp_path):
    WIDE.to_csv(tmp_path / "counts.csv", index=False)
    SHEET.to_csv(tmp_path / "samples.csv", index=False)
    files = [str(tmp_path / "counts.csv"), "--samples", str(tmp_path / "samples.csv")]
    out = ["--out", str(tmp_path / "model.json"), "--force"]
    done = CliRunner().invoke(main, ["fit", *files, "--counts", *out])
    assert done.exit_code == 0, done.output
    assert "counts: normalised by the median of ratios" in done.output
    assert "are these counts?" not in done.output
    plain = CliRunner().invoke(main, ["fit", *files, *out])
    assert "median of ratios" not in plain.output
