"""Ontology files, names and similarities: against hand counts, a literal oracle, GOSemSim and goatools."""

from __future__ import annotations

import csv
import gzip
import os
import sqlite3
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from timelike import ontology
from timelike.exceptions import DataWarning, InputError
from timelike.ontology.semantic import marked, most_specific, reach

DATA = Path(__file__).parents[3] / "shared" / "data"
# The Bioconductor package GO.db, whose graph GOSemSim used for the golden values (Debian: r-bioc-go.db).
GO_SQLITE = Path(os.environ.get("TIMELIKE_GO_SQLITE", "/usr/lib/R/site-library/GO.db/extdata/GO.sqlite"))

OBO = """format-version: 1.4
default-namespace: biological_process

[Term]
id: GO:0001
name: process

[Term]
id: GO:0002
name: cell fate commitment
alt_id: GO:0092
is_a: GO:0001 ! process

[Term]
id: GO:0003
name: stem cell
is_a: GO:0002 {source="x"} ! cell fate
relationship: part_of GO:0004 ! shape
relationship: has_part GO:0005

[Term]
id: GO:0004
name: shape
is_a: GO:0001

[Term]
id: GO:0005
name: movement
is_a: GO:0001
relationship: RO:0002211 GO:0004

[Term]
id: GO:0006
name: binding
namespace: molecular_function

[Term]
id: GO:0007
name: obsolete old
is_obsolete: true
replaced_by: GO:0004

[Term]
id: GO:0008
name: obsolete vague
is_obsolete: true
consider: GO:0004

[Typedef]
id: part_of
name: part of
is_transitive: true
"""


def shared(name: str) -> Path:
    """A file of the shared data; without them, skip on a laptop and fail where everything should be there."""
    if not DATA.is_dir():
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"no shared data at {DATA}")
    return DATA / name


def gaf_line(gene, term, evidence="IDA", qualifier="", accession="", synonyms="", taxon="taxon:10090"):
    cells = ["DB", accession or f"id_{gene}", gene, qualifier, term, "", evidence, "", "P", "", synonyms, "protein"]
    return "\t".join([*cells, taxon, "20190101", "DB", "", ""]) + "\n"


GAF = "!gaf-version: 2.2\n!\n" + "".join(
    [
        gaf_line("Sox2", "GO:0003", "IDA", "involved_in"),
        gaf_line("Sox2", "GO:0003", "IDA", "involved_in"),  # another reference: the same statement
        gaf_line("Sox2", "GO:0003", "IMP", "involved_in"),
        gaf_line("Nanog", "GO:0092", "IDA", synonyms="Enk|ecat4"),
        gaf_line("Nanog", "GO:0005", "IEA"),
        gaf_line("Klf4", "GO:0007", synonyms="ecat4|Sox2", taxon="taxon:10090|taxon:562"),
        gaf_line("Actb", "GO:0005", qualifier="NOT|involved_in"),
        gaf_line("Gapdh", "GO:0006", accession="P16858"),
        gaf_line("Nodata", "GO:0001", "ND"),
        gaf_line("Vague", "GO:0008"),
    ]
)


@pytest.fixture
def files(tmp_path):
    """Write text under a name and return its path."""

    def write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        return path

    return write


@pytest.fixture
def tiny(files):
    return ontology.read(files("tiny.obo", OBO), files("tiny.gaf", GAF))


# -- files ----------------------------------------------------------------------------------------------------


def test_counts_of_what_was_used_and_dropped(tiny):
    reading = tiny.reading
    assert (reading.statements, reading.negated, reading.other_aspect, reading.unknown) == (10, 1, 1, 1)
    assert (reading.used, reading.dropped) == (6, 1)
    assert reading.unknown_terms == ("GO:0008",)
    assert reading.taxa == ("taxon:10090",)


def test_information_content_by_hand(tiny):
    # Six distinct statements: Sox2 twice at 3 (two evidences), Nanog at 2 and 5 (IEA counts), Klf4 at 4, Nodata at 1.
    # At or below: 1: all six; 2: three; 3: two; 4: 4 itself, 3 (part_of) twice and 5 (regulates); 5: one.
    expected = {"GO:0001": 6, "GO:0002": 3, "GO:0003": 2, "GO:0004": 4, "GO:0005": 1}
    assert tiny.information_content == pytest.approx({t: -np.log(n / 6) for t, n in expected.items()}, abs=1e-15)


def test_evidence_filter_touches_only_own_terms(files):
    obo, gaf = files("tiny.obo", OBO), files("tiny.gaf", GAF)
    strict, loose = ontology.read(obo, gaf), ontology.read(obo, gaf, drop=())
    assert strict.information_content == loose.information_content
    movement = strict.terms.index("GO:0005")
    assert strict.propagated(["Nanog"])[0, movement] == 0
    assert loose.propagated(["Nanog"])[0, movement] == 1
    assert ontology.read(obo, gaf, drop="IEA").reading == strict.reading


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_plain_and_compressed_are_the_same(files, tiny, suffix):
    again = ontology.read(files(f"b.obo{suffix}", OBO), files(f"b.gaf{suffix}", GAF))
    assert again.information_content == tiny.information_content


def test_windows_line_ends(files, tiny):
    again = ontology.read(files("b.obo", OBO.replace("\n", "\r\n")), files("b.gaf", GAF.replace("\n", "\r\n")))
    assert again.information_content == tiny.information_content
    assert again.term_names == tiny.term_names


def test_aspects(files):
    obo, gaf = files("tiny.obo", OBO), files("tiny.gaf", GAF)
    assert ontology.read(obo, gaf, aspect="F").terms == ("GO:0006",)
    assert len(ontology.read(obo, gaf, aspect=None).terms) == 6
    with pytest.raises(InputError, match=r"cellular_component.*found: 'biological_process', 'molecular_function'"):
        ontology.read(obo, gaf, aspect="C")


def test_relations_can_be_fewer(files):
    only = ontology.read(files("tiny.obo", OBO), files("tiny.gaf", GAF), relations=("is_a",))
    assert only.information_content["GO:0004"] == pytest.approx(-np.log(1 / 6))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.tsv", "Sox2\tGO:0003\nNanog\tGO:0002\n"),
        ("t.tsv", "# made by hand\n\ngene\tGO\nSox2\tGO:0003\nNanog\tGO:0002\n\n"),
        ("t.tsv.gz", "gene\tterm\nSox2\tGO:0003\nNanog\tGO:0002\n"),
        ("t.csv", '"gene","go id"\n"Sox2","GO:0003"\n"Nanog","GO:0002"\n'),
        ("t.txt", "ID\tGO\tEVIDENCE\nSox2\tGO:0003\tIDA\nNanog\tGO:0002\tIDA\nNanog\tGO:0005\tIEA\n"),
        ("t.gmt", "GO:0003\tx\tSox2\nGO:0002\tx\tSox2\tNanog\nGO:0001\tx\tSox2\tNanog\n"),
        ("t.gmt.gz", "GOBP_STEM_CELL\thttp://x\tSox2\nGOBP_CELL_FATE_COMMITMENT\thttp://x\tSox2\tNanog\n"),
        ("t.gmt", "shape-ish\tGO:0003\tSox2\nfate\tGO:0092\tNanog\n"),
    ],
)
def test_tables_and_gene_sets_say_the_same(files, name, text):
    read = ontology.read(files("tiny.obo", OBO), files(name, text))
    assert read.genes == ("Nanog", "Sox2")
    own = {gene: [read.terms[t] for t in read.own[[row]].indices] for row, gene in enumerate(read.genes)}
    # Where the whole file is below a term, that term says nothing and is in nobody's list.
    assert own["Sox2"] == ["GO:0003"]
    assert own["Nanog"] == (["GO:0002"] if read.information_content["GO:0002"] > 0 else [])


def test_most_specific_keeps_what_nothing_implies():
    ancestors = reach(marked(np.array([0, 1, 3]), np.array([1, 2, 2]), (4, 4)))
    own = marked(np.array([0, 0, 0, 1]), np.array([0, 2, 3, 2]), (2, 4))
    assert set(zip(*most_specific(own, ancestors), strict=True)) == {(0, 0), (0, 3), (1, 2)}


# -- names ----------------------------------------------------------------------------------------------------


def test_what_became_of_each_name(tiny):
    asked = ["Sox2", "Enk", "id_Klf4", "ecat4", "Actb", "Gapdh", "P16858", "Nodata", "SOX2", "", None, float("nan")]
    mapped = tiny.mapped(asked)
    assert mapped.fates == (
        *("symbol", "synonym", "synonym", "ambiguous"),
        *("unannotated", "unannotated", "unannotated", "unannotated"),
        *("unmapped", "unnamed", "unnamed", "unnamed"),
    )
    assert mapped.found[:4] == ("Sox2", "Nanog", "Klf4", None)
    assert (mapped.used, mapped.unmapped, mapped.named("ambiguous")) == (3, ("SOX2",), ("ecat4",))
    assert str(mapped).startswith("12 genes: 3 used (2 by a synonym), 4 without annotation, 1 not found")


def test_symbol_comes_before_synonym(tiny):
    assert tiny.mapped(["Sox2"]).found == ("Sox2",)  # also listed as a synonym of Klf4


def test_missing_genes_are_nan_and_repeated_genes_repeat(tiny):
    values = tiny.similarity(["Sox2", "Actb", "Nanog", "Sox2", "Nanog"])
    assert np.isnan(values[1]).all()
    assert np.isnan(values[:, 1]).all()
    np.testing.assert_array_equal(values[0], values[3])
    assert np.isfinite(values[np.ix_([0, 2, 3, 4], [0, 2, 3, 4])]).all()


def test_few_mapped_genes_warn_with_counts(tiny):
    with pytest.warns(DataWarning, match=r"3 genes: 1 used.*2 not found.*taxon:10090.*Not found: 'A', 'B'"):
        tiny.similarity(["Sox2", "A", "B"])


def test_wrong_case_is_refused_with_a_hint(tiny):
    with pytest.raises(InputError, match=r"2 not found.*case ignored 2 would be found \('SOX2' as 'Sox2'\)"):
        tiny.similarity(["SOX2", "NANOG"])


def test_annotation_of_another_species_is_named(files):
    human = "".join(gaf_line(g, "GO:0003", taxon="taxon:9606") for g in ("TP53", "KRAS"))
    onto = ontology.read(files("tiny.obo", OBO), files("human.gaf", human + gaf_line("MYC", "GO:0005")))
    with pytest.raises(InputError, match=r"taxon:10090, taxon:9606.*Not found: 'YAL001C'.*your species"):
        onto.similarity(["YAL001C"])


def test_genes_without_annotation_only(tiny):
    with pytest.raises(InputError, match=r"1 genes: 0 used .* 1 without annotation, 0 not found"):
        tiny.similarity(["Actb"])


def test_one_name_is_not_a_list(tiny):
    with pytest.raises(InputError, match=r"Write \['Sox2'\]"):
        tiny.similarity("Sox2")


def test_unknown_settings(tiny):
    with pytest.raises(InputError, match="measure is 'wang'; expected one of 'resnik', 'lin'"):
        tiny.similarity(["Sox2"], measure="wang")
    with pytest.raises(InputError, match="combine is 'mean'"):
        tiny.similarity(["Sox2"], combine="mean")


# -- broken files -----------------------------------------------------------------------------------------------


def test_obo_cut_in_half(files):
    terms = OBO.split("[Term]")
    backwards = "[Term]".join([terms[0], *reversed(terms[1:8])])
    half = backwards[: backwards.index("id: GO:0002")]
    with pytest.raises(InputError, match=r"cut\.obo: 3 parents are named but not defined.*cut off or incomplete"):
        ontology.read(files("cut.obo", half), files("tiny.gaf", GAF))


def test_real_obo_cut_in_half(files):
    with gzip.open(shared("go/go_2019-01-27.obo.gz"), "rt") as text:
        whole = text.read()
    with pytest.raises(InputError, match="parents are named but not defined"):
        ontology.read(files("half.obo", whole[: len(whole) // 2]), files("tiny.gaf", GAF))


def test_compressed_file_cut_in_half(tmp_path, files):
    packed = gzip.compress(os.urandom(2000).hex().encode())
    path = tmp_path / "half.obo.gz"
    path.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(InputError, match=r"half\.obo\.gz: the compressed file is cut off"):
        ontology.read(path, files("tiny.gaf", GAF))


def test_gaf_cut_inside_a_line(files):
    with pytest.raises(InputError, match=r"tiny\.gaf, line 12: 5 columns, but a GAF line has 17"):
        ontology.read(files("tiny.obo", OBO), files("tiny.gaf", GAF[: GAF.rindex("GO:0008") + 4]))


def test_files_in_the_wrong_order(files):
    with pytest.raises(InputError, match=r"no \[Term\] found.*the ontology comes first"):
        ontology.read(files("tiny.gaf", GAF), files("tiny.obo", OBO))


def test_missing_file(files, tmp_path):
    with pytest.raises(InputError, match=r"no\.obo: no such file"):
        ontology.read(tmp_path / "no.obo", files("tiny.gaf", GAF))


def test_unknown_terms_are_counted_and_many_warn(files):
    text = GAF + gaf_line("Sox2", "GO:9999") + gaf_line("Sox2", "GO:9998")
    with pytest.warns(DataWarning, match=r"3 of 12 statements have terms that are not in .*'GO:0008', 'GO:9998'"):
        onto = ontology.read(files("tiny.obo", OBO), files("tiny.gaf", text))
    assert onto.reading.unknown == 3


def test_nothing_to_use(files):
    with pytest.raises(InputError, match=r"nothing can be used.*2 with unknown terms.*'XX:1', 'XX:2'"):
        ontology.read(files("tiny.obo", OBO), files("t.tsv", "Sox2\tXX:1\nNanog\tXX:2\n"))


@pytest.mark.parametrize(("name", "text"), [("t.tsv", "Sox2\n"), ("t.gmt", "GO:0002\tSox2\n")])
def test_too_few_columns(files, name, text):
    with pytest.raises(InputError, match=r"line 1: .*column"):
        ontology.read(files("tiny.obo", OBO), files(name, text))


def test_ring(files):
    ring = OBO.replace("name: process\n", "name: process\nrelationship: part_of GO:0003\n")
    with pytest.raises(InputError, match=r"in a ring: 'GO:0001', 'GO:0002', 'GO:0003', 'GO:0004'"):
        ontology.read(files("ring.obo", ring), files("tiny.gaf", GAF))


def test_unknown_and_unannotated_terms(tiny, files):
    with pytest.raises(InputError, match="1 of 2 terms are not in this aspect of the ontology: 'GO:0006'"):
        tiny.term_similarity(["GO:0002", "GO:0006"])
    sparse = ontology.read(files("tiny.obo", OBO), files("t.tsv", "a\tGO:0002\nb\tGO:0004\n"))
    values = sparse.term_similarity(["GO:0005", "GO:0092"], ["GO:0002", "GO:0001"])
    np.testing.assert_array_equal(values, [[np.nan, np.nan], [1.0, 0.0]])


# -- a literal oracle ----------------------------------------------------------------------------------------------


def naive_ancestors(parents):
    above = {}
    for term in sorted(parents):  # parents have smaller numbers
        above[term] = {term}.union(*(above[p] for p in parents[term]))
    return above


def naive_term(a, b, above, content, measure):
    best = max((content[t] for t in above[a] & above[b]), default=0.0)
    return best / max(content.values()) if measure == "resnik" else 2 * best / (content[a] + content[b])


def naive_gene(terms_a, terms_b, measure, combine, above, content):
    table = [[naive_term(a, b, above, content, measure) for b in terms_b] for a in terms_a]
    rows, columns = [max(row) for row in table], [max(column) for column in zip(*table, strict=True)]
    return max(rows) if combine == "max" else (sum(rows) + sum(columns)) / (len(rows) + len(columns))


@st.composite
def worlds(draw):
    """Parents of up to 9 terms, and up to 12 statements (gene, term)."""
    size = draw(st.integers(2, 9))
    parents = {t: draw(st.sets(st.integers(0, t - 1), min_size=1, max_size=3)) for t in range(1, size)}
    statement = st.tuples(st.sampled_from("abcde"), st.integers(0, size - 1))
    return {0: set(), **parents}, sorted(draw(st.sets(statement, min_size=1, max_size=12)))


@pytest.mark.parametrize("combine", ["max", "bma"])
@pytest.mark.parametrize("measure", ["resnik", "lin"])
@given(worlds())
@settings(max_examples=40, deadline=None)
def test_agrees_with_the_literal_definition(tmp_path_factory, measure, combine, world):
    parents, statements = world
    above = naive_ancestors(parents)
    at_or_below = {t: sum(t in above[s] for _, s in statements) for t in parents}
    content = {t: -np.log(n / len(statements)) for t, n in at_or_below.items() if n}
    own = {g: [t for h, t in statements if h == g and content[t] > 0] for g in "abcde"}
    folder = tmp_path_factory.mktemp("world")
    obo, table = folder / "w.obo", folder / "w.tsv"
    lines = [f"[Term]\nid: T:{t}\n" + "".join(f"is_a: T:{p}\n" for p in parents[t]) for t in parents]
    obo.write_text("\n".join(lines))
    table.write_text("".join(f"{g}\tT:{t}\n" for g, t in statements))
    onto = ontology.read(obo, table, aspect=None)
    if not any(own.values()):
        with pytest.raises(InputError, match="no gene can be compared"):
            onto.similarity(list("abcde"))
        return
    named = [g for g in "abcde" if own[g]]
    values = onto.similarity(named, measure, combine)
    expected = [[naive_gene(own[a], own[b], measure, combine, above, content) for b in named] for a in named]
    np.testing.assert_allclose(values, expected, atol=1e-12)


# -- golden values ---------------------------------------------------------------------------------------------------

# NCBI Gene identifiers of the golden genes; three others have none in use and no annotation.
ENTREZ_TEXT = """
    Slc39a4=72027 Rac2=19354 Tdh=58865 Cd52=23833 Ptpn7=320139 Bex2=12069 Dennd2d=72121 Thbd=21824 Tsc22d1=21807
    Traf1=22029 Serping1=12258 Rnasel=24014 Tmem37=170706 Cfb=14962 Pde10a=23984 Stfa3=20863 F13a1=74145 Dntt=21673
    Nfatc1=18018 Lpp=210126 Syt13=80976 Ces2g=72361 Gli2=14633 Fes=14159 Acta2=11475 Gm1966=434223 Vangl1=229658
    Epha2=13836 Itgb3=16416 Arhgap32=330914 Ets2=23872 Pik3cd=18707 Nes=18008 Myo1g=246177 She=214547 Slc16a3=80879
    Lactb=80907 Fgf18=14172 Gfi1=14581 Prdm14=383491 Adamts14=237360 Otx2=18424 Lamc2=16782 Pfkfb4=270198
    Zfpm1=22761 H2-Q10=15007 Rab44=442827 Igdcc4=56741 Blnk=17060 Gjb3=14620 Me1=17436 Evi2a=14017 Oas2=246728
    Adam8=11501 Mcf2=109904 Zic3=22773 Rnase10=75019 Enpp2=18606 Igfbp2=16008 Col18a1=12822 Thy1=21838 Nr2f1=13865
    Pglyrp1=21946 Nid1=18073 Nfib=18028 Pou2af1=18985 Acot11=329910 Lmo7=380928 Cyth4=72318 Sirpa=19261
    Col6a1=12833 Fgfrl1=116701 Cecr2=330409 Acap1=216859 Aqp8=11833 Atp6v0d2=242341 Zbtb44=235132
"""
ENTREZ = dict(pair.split("=") for pair in ENTREZ_TEXT.split())


def rows_of(path):
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", newline="") as text:
        return list(csv.DictReader(text))


def gosemsim_content():
    return {r["go"]: float(r["ic"]) for r in rows_of(shared("go_golden/gosemsim2.24_mouse_BP_IC.csv.gz"))}


def gosemsim_genes():
    rows = rows_of(shared("go_golden/gosemsim2.24_mouse_gene_resnik_max_80x80.csv"))
    names = [row[""] for row in rows]
    values = [[np.nan if row[name] == "NA" else float(row[name]) for name in names] for row in rows]
    return [ENTREZ.get(name, name) for name in names], np.array(values)


def term_pairs(onto, rows, measure):
    left, right = [row["go1"] for row in rows], [row["go2"] for row in rows]
    return onto.term_similarity(left, right, measure).diagonal()


@pytest.fixture(scope="module")
def mouse():
    """The golden annotation on the graph of 2019, while GOSemSim had the graph of July 2022."""
    return ontology.read(shared("go/go_2019-01-27.obo.gz"), shared("go_golden/anno_used_mouse.tsv.gz"))


@pytest.fixture(scope="module")
def mouse_2022(tmp_path_factory):
    """The golden annotation on the very graph of GOSemSim's run."""
    annotation = shared("go_golden/anno_used_mouse.tsv.gz")
    if not GO_SQLITE.is_file():
        pytest.skip(f"no {GO_SQLITE}: install r-bioc-go.db or set TIMELIKE_GO_SQLITE for the graph of 2022")
    obo = tmp_path_factory.mktemp("go") / "go2022.obo"
    obo.write_text("\n".join(sqlite_stanzas()))
    return ontology.read(obo, annotation)


def sqlite_stanzas():
    with sqlite3.connect(GO_SQLITE) as base:
        terms = dict(base.execute("select _id, go_id from go_term where ontology = 'BP'").fetchall())
        edges = base.execute("select _id, _parent_id, relationship_type from go_bp_parents").fetchall()
    base.close()
    parents = {key: [] for key in terms}
    for child, parent, relation in edges:
        tag = "is_a:" if relation == "isa" else f"relationship: {relation.replace(' ', '_')}"
        if parent in terms:
            parents[child].append(f"{tag} {terms[parent]}")
    for key, term in terms.items():
        yield "\n".join(["[Term]", f"id: {term}", "namespace: biological_process", *parents[key], ""])


def test_gosemsim_information_content(mouse_2022):
    expected, content = gosemsim_content(), mouse_2022.information_content
    assert {t: content[t] for t in expected} == pytest.approx(expected, abs=1e-12)


def test_gosemsim_term_pairs(mouse_2022):
    rows = rows_of(shared("go_golden/gosemsim2.24_mouse_term_pairs_200.csv"))
    for measure in ("resnik", "lin"):
        expected = [float(row[measure]) for row in rows]
        np.testing.assert_allclose(term_pairs(mouse_2022, rows, measure), expected, atol=1e-12)


def test_gosemsim_genes(mouse_2022):
    genes, expected = gosemsim_genes()
    np.testing.assert_allclose(mouse_2022.similarity(genes), expected, atol=0.5001e-3)


def test_gosemsim_conventions_hold_on_the_graph_of_2019(mouse):
    """Most terms did not move between 2019 and 2022: any other convention would leave hardly one equal."""
    expected, content = gosemsim_content(), mouse.information_content
    difference = np.array([abs(content[t] - expected[t]) for t in expected if t in content])
    assert len(difference) > 15_000
    assert np.mean(difference < 1e-12) > 0.87
    rows = rows_of(shared("go_golden/gosemsim2.24_mouse_term_pairs_200.csv"))
    pairs = np.array([float(row["resnik"]) for row in rows])
    assert np.mean(np.abs(term_pairs(mouse, rows, "resnik") - pairs) < 0.01) > 0.75
    genes, values = gosemsim_genes()
    ours = mouse.similarity(genes)
    np.testing.assert_array_equal(np.isnan(ours), np.isnan(values))
    assert np.nanmedian(np.abs(ours - values)) < 0.002
    assert np.corrcoef(ours[~np.isnan(ours)], values[~np.isnan(ours)])[0, 1] > 0.975


def counting_genes(onto):
    """The same ontology with the information content of goatools, which counts genes instead of statements."""
    has = onto.propagated(onto.genes)
    with np.errstate(divide="ignore"):
        return replace(onto, content=-np.log(has.sum(axis=0) / np.count_nonzero(np.diff(has.indptr))) + 0.0)


def check_goatools(onto, rows, columns):
    content = onto.information_content
    assert [content[row["go1"]] for row in rows] == pytest.approx([float(row["ic1"]) for row in rows], abs=1e-12)
    for measure in columns:
        scale = max(content.values()) if measure == "resnik" else 1.0  # goatools does not divide by the largest
        expected = [float(row[measure]) for row in rows]
        np.testing.assert_allclose(term_pairs(onto, rows, measure) * scale, expected, atol=1e-12)


def test_goatools_terms_on_real_files():
    rows = rows_of(shared("go_golden/goatools1.6.7_mouse2019_isa_noIEA_terms.csv"))
    files = shared("go/go_2019-01-27.obo.gz"), shared("go/goa_mouse_2019-01-14.gaf.gz")
    onto = ontology.read(*files, drop=("IEA", "ND"), relations=("is_a",))
    check_goatools(counting_genes(onto), rows, ["resnik"])


def test_goatools_small_graph():
    """Every gene has one term here, so that counts of genes and of statements are the same."""
    obo, table = shared("go_golden/goatools_fig1a.obo"), shared("go_golden/goatools_fig1a.anno")
    rows = rows_of(shared("go_golden/goatools1.6.7_fig1a_resnik.csv"))
    check_goatools(ontology.read(obo, table, aspect="C"), rows, ["resnik"])


def test_goatools_heart_graph(files):
    """The golden file does not name its genes; these three give its information content."""
    genes = {"a": ["GO:0003007", "GO:0007275"], "b": ["GO:0007275", "GO:0007507"], "c": ["GO:0007507", "GO:0007368"]}
    table = files("heart.tsv", "".join(f"{gene}\t{term}\n" for gene, terms in genes.items() for term in terms))
    onto = ontology.read(shared("go_golden/goatools_heartjogging.obo"), table, relations=("is_a",))
    rows = rows_of(shared("go_golden/goatools1.6.7_heartjogging_resnik.csv"))
    check_goatools(counting_genes(onto), rows, ["resnik", "lin"])


@pytest.mark.parametrize(("name", "terms", "aspect"), [("fig2a", 7, "C"), ("mini_obo", 10, "P")])
def test_other_small_graphs_can_be_read(files, name, terms, aspect):
    table = files("t.tsv", "a\tGO:0000007\nb\tGO:0000005\n")
    assert len(ontology.read(shared(f"go_golden/goatools_{name}.obo"), table, aspect=aspect).terms) == terms


def test_reprogramming_genes_are_accounted_for():
    onto = ontology.read(shared("go/go_2019-01-27.obo.gz"), shared("go/goa_mouse_2019-01-14.gaf.gz"))
    lines = shared("reprogramming/gene1931.txt").read_text().splitlines()
    mapped = onto.mapped(lines)
    counts = {fate: len(mapped.named(fate)) for fate in sorted(set(mapped.fates) - {"unnamed"})}
    assert counts == {"ambiguous": 2, "symbol": 1168, "synonym": 63, "unannotated": 226, "unmapped": 100}
    assert mapped.count("unnamed") == 235
