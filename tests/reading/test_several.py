"""Several files as one set of courses: matched by name, as replicates or as conditions, counts normalised together."""

import numpy as np
import pandas as pd
import pytest

import timelike as tl
from timelike.reading import understand
from timelike.reading.several import labels_of

ONE = "gene,symbol,0h,6h,12h\na,A1,1,2,3\nb,B1,4,5,6\n"
TWO = "gene,0h,6h,12h\nb,40,50,60\na,10,20,30\n"


@pytest.fixture
def files(tmp_path):
    def write(**texts):
        for name, text in texts.items():
            (tmp_path / f"{name}.txt").write_text(text)
        return [tmp_path / f"{name}.txt" for name in texts]

    return write


def test_replicates_are_matched_by_name_whatever_their_order(files):
    courses = tl.read(files(rep1=ONE, rep2=TWO))
    assert courses.names == ("a", "b")
    np.testing.assert_array_equal(courses.grid, [0, 0, 6, 6, 12, 12])
    np.testing.assert_array_equal(courses["a"].values, [1, 10, 2, 20, 3, 30])
    np.testing.assert_array_equal(courses["b"].values, [4, 40, 5, 50, 6, 60])


def test_the_order_of_files_is_the_order_of_replicates_and_nothing_else(files):
    one, two = files(rep1=ONE, rep2=TWO)
    here, there = tl.read([one, two]), tl.read([two, one])
    for name in here.names:
        assert sorted(zip(here[name].times, here[name].values, strict=True)) == sorted(
            zip(there[name].times, there[name].values, strict=True)
        )


def test_the_account_says_what_was_done(files):
    found = understand(files(rep1=ONE, rep2=TWO))
    assert found.how.startswith("2 files (rep1, rep2), taken as replicates, matched by name; each ")
    assert found.time_unit == "h"
    assert found.notes == ()
    assert list(found.details["symbol"]) == ["A1", "B1"]


def test_conditions_are_called_like_the_files(files):
    found = understand(files(genes_wt=ONE, genes_mut=TWO), files="conditions")
    assert set(found.courses.names) == {"a | wt", "b | wt", "a | mut", "b | mut"}
    np.testing.assert_array_equal(found.courses["a | mut"].values, [10, 20, 30])
    assert "taken as conditions" in found.how
    symbols = dict(zip(found.courses.names, found.details["symbol"], strict=True))
    assert symbols == {"a | wt": "A1", "b | wt": "B1", "a | mut": "", "b | mut": ""}


def test_courses_of_one_file_alone_stay_and_are_named(files):
    more = TWO + "c,7,8,9\n"
    with pytest.warns(
        tl.DataWarning, match="2 files: 1 course not in every file, with what there is of each: c in rep2"
    ):
        courses = tl.read(files(rep1=ONE, rep2=more))
    assert courses.names == ("a", "b", "c")
    np.testing.assert_array_equal(courses["c"].values, [7, 8, 9])


def test_times_and_layouts_may_differ(files):
    tidy = "gene,hours,value\na,3,7\nb,3,8\na,24,9\n"
    courses = tl.read(files(rep1=ONE, rep2=tidy))
    np.testing.assert_array_equal(courses["a"].times, [0, 3, 6, 12, 24])
    np.testing.assert_array_equal(courses["a"].values, [1, 7, 2, 3, 9])


def test_tables_in_memory():
    tables = [pd.DataFrame({"gene": ["a", "b"], "0h": [1.0, 2], "6h": [3.0, 4]}) for _ in range(3)]
    assert set(tl.read(tables, files="conditions").conditions) == {"1", "2", "3"}
    assert list(tl.read(tables).sizes) == [6, 6]


def test_known_errors_stay_with_their_values():
    def table(error):
        return pd.DataFrame({"gene": ["a", "a"], "time": [0, 1], "value": [1.0, 2], "se": [error, error]})

    courses = tl.read([table(0.1), table(0.2)], error="se")
    np.testing.assert_allclose(courses["a"].errors, [0.1, 0.2, 0.1, 0.2])


# -- counts --------------------------------------------------------------------------------------------------------

GENES, TIMES = [f"g{i}" for i in range(30)], [0, 2, 6, 12]
COUNTS = np.random.default_rng(0).poisson(80, (30, 8)) + np.arange(30)[:, None]


def counts_of(columns, genes=None):
    table = pd.DataFrame(COUNTS[:, columns], columns=[f"{t}h" for t in TIMES]).assign(gene=GENES)
    return table if genes is None else table[table["gene"].isin(genes)]


def test_counts_are_normalised_together(files):
    found = understand([counts_of(slice(0, 4)), counts_of(slice(4, 8))[::-1]], counts=True)
    whole = tl.TimeCourses.from_counts(TIMES * 2, COUNTS, GENES)
    np.testing.assert_allclose(found.courses["g7"].values, whole["g7"].values)
    np.testing.assert_allclose(found.courses["g7"].errors, whole["g7"].errors)
    assert len(found.counts.size_factors) == 8
    assert "counts: normalised" in found.how


def test_counts_of_conditions():
    found = understand([counts_of(slice(0, 4)), counts_of(slice(4, 8))], counts=True, files="conditions")
    whole = tl.TimeCourses.from_counts(TIMES * 2, COUNTS, GENES, conditions=["1"] * 4 + ["2"] * 4)
    np.testing.assert_allclose(found.courses["g7 | 2"].values, whole["g7 | 2"].values)


def test_a_gene_without_counts_in_a_file_is_named():
    with pytest.raises(tl.InputError, match=r"2 has no counts of g3\. Counts of several files are normalised together"):
        tl.read([counts_of(slice(0, 4)), counts_of(slice(4, 8), [g for g in GENES if g != "g3"])], counts=True)


# -- mistakes -------------------------------------------------------------------------------------------------------


def test_mistakes_are_named(files, tmp_path):
    one, _ = files(rep1=ONE, rep2=TWO)
    with pytest.raises(tl.InputError, match=r"rep1\.txt is given twice"):
        tl.read([one, tmp_path / "." / "rep1.txt"])
    with pytest.raises(tl.InputError, match="a list of 1 file: expected two or more"):
        tl.read([one])
    with pytest.raises(tl.InputError, match="files= has no meaning here: it is about several files, and this is one"):
        tl.read(one, files="conditions")
    with pytest.raises(tl.InputError, match=r"rep3\.txt"):
        tl.read([one, tmp_path / "rep3.txt"])
    (other,) = files(other="gene,0h,6h,12h\nx,1,2,3\n")
    with pytest.raises(tl.InputError, match="no course is in two of the files: rep1 has 'a', other has 'x'"):
        tl.read([one, other])
    (days,) = files(days="gene,0d,1d,2d\na,1,2,3\n")
    with pytest.raises(tl.InputError, match=r"several units \(rep1 in h, days in days\)"):
        tl.read([one, days])


def test_files_with_conditions_of_their_own_are_no_conditions(files):
    table = "gene,wt_0h,wt_6h,mut_0h,mut_6h\na,1,2,3,4\n"
    with pytest.raises(tl.InputError, match=r"one has conditions of its own \(mut, wt\)"):
        tl.read(files(one=table, two=table), header="{condition}_{time}h", files="conditions")
    assert list(tl.read(files(one=table, two=table), header="{condition}_{time}h").sizes) == [4, 4]


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        (["a/x.csv", "b/x.csv"], ["a/x.csv", "b/x.csv"]),
        (["x_1_y.csv", "x_2_y.csv"], ["1", "2"]),
        (["x.csv", "x_2.csv"], ["x", "x_2"]),
        (["wild type.tsv.gz", "mutant.tsv.gz"], ["wild type", "mutant"]),
    ],
)
def test_labels(names, labels):
    assert labels_of(names) == labels
