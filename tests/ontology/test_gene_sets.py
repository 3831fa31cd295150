"""Gene sets by themselves: what a GMT file says, and clusters enriched for its sets."""

import gzip
from math import comb

import pytest

from timelike import ontology
from timelike.exceptions import InputError
from timelike.ontology.enrichment import enrichment


@pytest.fixture
def sets(tmp_path):
    def written(text, name="sets.gmt"):
        path = tmp_path / name
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        return path

    return written


UP = "UP\thttp://x\ta\tb\tc\n"


@pytest.mark.parametrize("name", ["sets.gmt", "sets.gmt.gz", "anything.txt"])
def test_sets_are_terms(sets, name):
    found = ontology.read_sets(sets(UP + "DOWN\thttp://x\td\ta\ta\t\n\nEMPTY\thttp://x\t\n", name))
    assert found.terms == found.term_names == ("DOWN", "UP")
    assert found.genes == ("a", "b", "c", "d")
    assert found.described() == "2 gene sets of 2 to 3 genes, 4 genes in all"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("GO:1\tcell cycle\ta\nGO:2\ttransport\tb\n", ("cell cycle", "transport")),
        ("GO:1\tna\ta\nGO:2\tna\tb\n", ("GO:1", "GO:2")),
        ("A\thttp://a\ta\nB\thttp://b\tb\n", ("A", "B")),
        ("A\tabout a\ta\nB\t\tb\n", ("A", "B")),
        ("A\tna\ta\n", ("A",)),
    ],
)
def test_descriptions_are_names_where_they_tell_sets_apart(sets, text, names):
    assert ontology.read_sets(sets(text)).term_names == names


def test_every_name_is_background(sets):
    found = ontology.read_sets(sets(UP))
    genes = ["a", "b", "c", *"vwxyz"]
    (row,) = enrichment([0, 0, 0, 0, 1, 1, 1, 1], genes, found).to_dict("records")
    assert (row["genes"], row["cluster_genes"], row["term_genes"], row["all_genes"]) == (3, 4, 3, 8)
    assert row["p"] == pytest.approx(comb(5, 1) / comb(8, 4), rel=1e-12)


def test_a_name_counts_once_in_each_cluster(sets):
    found = ontology.read_sets(sets(UP))
    rows = enrichment([0, 0, 0, 0, 1, 1, 0, 1], ["a", "a", "b", "c", "z", "z", "y", "a"], found, min_genes=1)
    assert rows["all_genes"].unique().tolist() == [6]
    assert rows.set_index("cluster")["genes"].to_dict() == {0: 3, 1: 1}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (UP + "DOWN\tx\n", r"line 2: 2 columns, but a GMT line has a set, a description and genes, separated by tabs"),
        ("a,b,c\n", r"line 1: 1 column, but a GMT line"),
        (UP + "\tx\ta\n", r"line 2: the set has no name"),
        (UP + "\n" + UP, r"line 3: the set 'UP' stands in line 1 already"),
        ("\0\t\0\t\0\n", r"line 1: no text, but a GMT line"),
        ("", r"there is no set with genes"),
        ("A\tx\t\n", r"there is no set with genes"),
    ],
)
def test_a_damaged_file_is_refused_with_its_line(sets, text, said):
    with pytest.raises(InputError, match=said):
        ontology.read_sets(sets(text))


def test_a_file_that_is_cut_off_or_missing_is_refused(sets, tmp_path):
    path = sets(UP * 1 + "".join(f"S{i}\tx\tg{i}\n" for i in range(500)), "sets.gmt.gz")
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(InputError, match="cut off or damaged"):
        ontology.read_sets(path)
    with pytest.raises(InputError, match="no such file"):
        ontology.read_sets(tmp_path / "none.gmt")


def test_names_in_no_set_at_all_are_an_error(sets):
    with pytest.raises(InputError, match="no gene has annotation: 2 genes: 0 used"):
        enrichment([0, 1], ["A", "B"], ontology.read_sets(sets(UP)))


def test_genes_of_one_set_are_alike(sets):
    found = ontology.read_sets(sets(UP + "BIG\thttp://x\ta\tb\tc\td\te\n"))
    alike = found.similarity(["a", "b", "d", "e"])
    assert alike[0, 1] > alike[2, 3] > 0
    assert alike[0, 2] == alike[2, 3]
