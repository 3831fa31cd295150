"""The files of an ontology: its graph (OBO) and the genes on it (GAF, gene-term table, GMT), as records.

The OBO reader is our own because it needs eight tags out of several dozen. On the full Gene Ontology of 2019
(47,347 terms) it takes 0.9 s; obonet takes 5.8 s and 200 MB, pronto 9 s and 510 MB, and all three find the
same 95,863 relations. GAF lines are read one by one so that a complaint can name its line.
"""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from timelike.exceptions import InputError

Source = str | PathLike[str]
Stanza = Mapping[str, list[str]]

ASPECTS = {"P": "biological_process", "F": "molecular_function", "C": "cellular_component"}
RELATIONS = ("is_a", "part_of", "regulates", "positively_regulates", "negatively_regulates")

# Some tools write relations by their identifier instead of their short name.
_RELATION_NAMES = {
    "BFO:0000050": "part_of",
    "RO:0002211": "regulates",
    "RO:0002212": "negatively_regulates",
    "RO:0002213": "positively_regulates",
}
LONGEST_LINE = 2**24
"""Characters of a line: what is longer is no line, and a small packed file can have it."""
_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z_]*[:_]\d+$")
_EVIDENCE = re.compile(r"[A-Z]{2,3}$")
_SET_PREFIX = re.compile(r"^GO(BP|MF|CC)?_")


# -- text --------------------------------------------------------------------------------------------------


def _lines(path: Source) -> Iterator[str]:
    """Lines of a plain or gzipped text file, without their ends."""
    file = Path(path)
    if not file.is_file():
        raise InputError(f"{file}: no such file. Give the path of a plain or .gz text file.")
    with file.open("rb") as raw:
        zipped = raw.read(2) == b"\x1f\x8b"
    opened = gzip.open if zipped else open
    try:
        with opened(file, "rt", encoding="utf-8", errors="replace") as text:
            while line := text.readline(LONGEST_LINE):
                if len(line) == LONGEST_LINE:
                    raise InputError(f"{file}: a line has more than {LONGEST_LINE:,} characters: it is no such table.")
                yield line.rstrip("\n")
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{file}: the compressed file is cut off or damaged. Download it again.") from error


# -- the graph ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Term:
    """A current term: its name, its namespace, and its parents as (relation, identifier)."""

    name: str
    namespace: str
    parents: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Graph:
    """The terms of an OBO file that are in use, and which of them now stands for an older identifier.

    Attributes
    ----------
    path : str
        The file, for messages.
    terms : mapping of str to Term
        Terms that are not obsolete.
    aliases : mapping of str to str
        Alternative identifiers, and obsolete ones that name their replacement.
    """

    path: str
    terms: Mapping[str, Term]
    aliases: Mapping[str, str]

    def resolve(self, identifier: str) -> str | None:
        """Return the current identifier, or None when the file does not know it (any more)."""
        current = self.aliases.get(identifier, identifier)
        return current if current in self.terms else None

    def within(self, aspect: str | None) -> tuple[str, ...]:
        """Return the sorted identifiers of an aspect: "P", "F", "C", a namespace, or None for all."""
        if aspect is None:
            return tuple(sorted(self.terms))
        namespace = ASPECTS.get(aspect, aspect)
        chosen = tuple(sorted(key for key, term in self.terms.items() if term.namespace == namespace))
        if not chosen:
            found = sorted({term.namespace for term in self.terms.values()})
            raise InputError(
                f"{self.path}: no term has the namespace {namespace!r}; found: {', '.join(map(repr, found))}."
                " Choose aspect 'P', 'F' or 'C', one of these namespaces, or None for all terms."
            )
        return chosen


def read_graph(path: Source) -> Graph:
    r"""Read the terms of an OBO file (1.2 or 1.4, plain or .gz).

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     obo = pathlib.Path(folder, "tiny.obo")
    ...     _ = obo.write_text("[Term]\nid: GO:1\n\n[Term]\nid: GO:2\nalt_id: GO:9\nis_a: GO:1 ! top\n")
    ...     graph = read_graph(obo)
    >>> graph.terms["GO:2"].parents, graph.resolve("GO:9")
    ((('is_a', 'GO:1'),), 'GO:2')
    """
    terms: dict[str, Term] = {}
    aliases: dict[str, str] = {}
    default = ""
    for kind, tags in _stanzas(_lines(path)):
        if kind == "":
            default = tags.get("default-namespace", [""])[0]
        elif kind == "[Term]" and "id" in tags:
            _add_term(tags, default, terms, aliases)
    graph = Graph(str(path), terms, aliases)
    _check_whole(graph)
    return graph


def _stanzas(lines: Iterable[str]) -> Iterator[tuple[str, Stanza]]:
    """Yield (heading, tags) for each part of an OBO file; the header has the heading ''."""
    heading, tags = "", defaultdict[str, list[str]](list)
    for line in lines:
        if line.startswith("["):
            yield heading, tags
            heading, tags = line.strip(), defaultdict(list)
        else:
            key, _, value = line.partition(": ")
            tags[key].append(value)
    yield heading, tags


def _add_term(tags: Stanza, default: str, terms: dict[str, Term], aliases: dict[str, str]) -> None:
    identifier = _first_word(tags["id"][0])
    if tags.get("is_obsolete", [""])[0].startswith("true"):
        # "consider" is only a suggestion to a curator: following it would invent annotations.
        if "replaced_by" in tags:
            aliases[identifier] = _first_word(tags["replaced_by"][0])
        return
    aliases.update({_first_word(old): identifier for old in tags.get("alt_id", [])})
    parents = [("is_a", _first_word(value)) for value in tags.get("is_a", [])]
    parents += [_relationship(value) for value in tags.get("relationship", [])]
    name = tags.get("name", [identifier])[0]
    terms[identifier] = Term(name, tags.get("namespace", [default])[0].strip(), tuple(parents))


def _first_word(value: str) -> str:
    """Return a value without its trailing comment (``! name``) and modifiers (``{...}``)."""
    return value.split(maxsplit=1)[0] if value.strip() else ""


def _relationship(value: str) -> tuple[str, str]:
    relation, target = [*value.split(), "", ""][:2]
    return _RELATION_NAMES.get(relation, relation), target


def _check_whole(graph: Graph) -> None:
    """Refuse a file without terms, or without all parents: an ontology holds every is_a parent it names."""
    if not graph.terms:
        raise InputError(
            f"{graph.path}: no [Term] found. Expected an OBO file such as go-basic.obo "
            "(the ontology comes first, the annotation second)."
        )
    lost = [
        (key, parent)
        for key, term in graph.terms.items()
        for relation, parent in term.parents
        if relation == "is_a" and graph.resolve(parent) is None
    ]
    if lost:
        key, parent = lost[0]
        raise InputError(
            f"{graph.path}: {len(lost)} parents are named but not defined, the first in {key} is_a {parent}; "
            f"{len(graph.terms)} terms were read. The file is cut off or incomplete: download it again."
        )


# -- the annotation ----------------------------------------------------------------------------------------


class Record(NamedTuple):
    """One statement of an annotation file: this gene has (or, negated, has not) this term."""

    gene: str
    term: str
    evidence: str = ""
    negated: bool = False
    other_names: str = ""  # separated by "|"
    taxon: str = ""


def is_gene_sets(path: Source) -> bool:
    """Whether the name says GMT, where a set holds the genes of its descendants too."""
    return Path(path).name.lower().removesuffix(".gz").endswith(".gmt")


def read_records(path: Source, graph: Graph) -> Iterator[Record]:
    """Yield the statements of a GAF file, a gene-term table or a GMT file.

    GMT is recognised by the file's name, GAF by its first line. A table has the columns gene, term and maybe
    evidence code, separated by tabs or commas; it has a heading if its second field is not an identifier. In
    GMT the set is a term by its identifier (in the first or second column) or by its name, as in
    ``GOBP_CELL_FATE_COMMITMENT``.
    """
    first = next((line for line in _lines(path) if line and not line.startswith("#")), "")
    if is_gene_sets(path):
        return _gene_set_records(path, graph)
    if first.startswith("!") or first.count("\t") >= 14:
        return _gaf_records(path)
    return _table_records(path, "\t" if "\t" in first else ",")


def _gaf_records(path: Source) -> Iterator[Record]:
    for number, line in enumerate(_lines(path), 1):
        if line.startswith("!") or not line.strip():
            continue
        field = line.split("\t")
        if len(field) < 15:
            raise InputError(
                f"{path}, line {number}: {len(field)} columns, but a GAF line has 17 (15 in version 1.0). "
                "The file is cut off or of another format: download it again."
            )
        names = f"{field[1]}|{field[10]}"
        negated = "NOT" in field[3].split("|")
        yield Record(field[2] or field[1], field[4], field[6], negated, names, field[12].partition("|")[0])


def _table_records(path: Source, separator: str) -> Iterator[Record]:
    heading_may_come = True
    for number, field in enumerate(csv.reader(_lines(path), delimiter=separator), 1):
        if not field or field[0].startswith("#"):
            continue
        if len(field) < 2:
            raise InputError(
                f"{path}, line {number}: one column ({field[0][:40]!r}), but expected gene and term, "
                "separated by a tab or a comma; or a GAF file, or gene sets in a file named .gmt."
            )
        gene, term = field[0].strip(), field[1].strip()
        heading, heading_may_come = heading_may_come and not _IDENTIFIER.match(term), False
        if heading:
            continue
        evidence = field[2].strip() if len(field) > 2 else ""
        yield Record(gene, term, evidence if _EVIDENCE.match(evidence) else "")


def _gene_set_records(path: Source, graph: Graph) -> Iterator[Record]:
    by_name = {_plain(term.name): key for key, term in graph.terms.items()}
    for one in gene_sets(path):
        named = by_name.get(_plain(_SET_PREFIX.sub("", one.name)), one.name)
        term = next((column for column in (one.name, one.description) if graph.resolve(column)), named)
        yield from (Record(gene, term) for gene in one.genes)


class GeneSet(NamedTuple):
    """A line of a GMT file: the name of a set, what is said about it, and its genes."""

    name: str
    description: str
    genes: tuple[str, ...]
    line: int


def gene_sets(path: Source) -> Iterator[GeneSet]:
    """Yield the sets of a GMT file, plain or gzipped; genes are separated by tabs."""
    for number, line in enumerate(_lines(path), 1):
        if not line.strip():
            continue
        field = [part.strip() for part in line.split("\t")]
        if len(field) < 3 or "\0" in line:
            found = "no text" if "\0" in line else f"{len(field)} column{'s' * (len(field) > 1)}"
            raise InputError(
                f"{path}, line {number}: {found}, but a GMT line has a set, a description and genes, separated by tabs."
            )
        if not field[0]:
            raise InputError(f"{path}, line {number}: the set has no name; expected one before the first tab.")
        yield GeneSet(field[0], field[1], tuple(dict.fromkeys(gene for gene in field[2:] if gene)), number)


def _plain(name: str) -> str:
    return re.sub(r"[^A-Z0-9]+", "_", name.upper())


@dataclass(frozen=True)
class Reading:
    """Counts of what an annotation file held, and what became of it.

    Attributes
    ----------
    statements : int
        Lines of a GAF or a table, members of gene sets.
    negated : int
        Statements that a gene does *not* have the term; left out.
    unknown : int
        Statements whose term is not in the ontology, or obsolete without a replacement; left out.
    other_aspect : int
        Statements of another aspect; left out.
    used : int
        Distinct (gene, term, evidence) that remain. Information content counts these.
    dropped : int
        Those of ``used`` that are in no gene's own list because of their evidence code.
    unknown_terms : tuple of str
        The identifiers behind ``unknown``, sorted.
    taxa : tuple of str
        The species named in the file, such as ``taxon:10090``.
    """

    statements: int
    negated: int
    unknown: int
    other_aspect: int
    used: int
    dropped: int
    unknown_terms: tuple[str, ...]
    taxa: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"{self.statements} statements: {self.other_aspect} of other aspects, {self.negated} negated, "
            f"{self.unknown} with unknown terms; {self.used} distinct used, {self.dropped} of them not for "
            "similarity because of their evidence"
        )


@dataclass(frozen=True)
class Annotation:
    """What one pass over an annotation file collects.

    Attributes
    ----------
    rows : frozenset of (gene, term, evidence)
        The distinct statements of the aspect, with current identifiers of terms.
    genes : frozenset of str
        Every symbol in the file, whatever its aspect.
    synonyms : mapping of str to set of str
        Accessions and synonyms, and the symbols they may stand for.
    reading : Reading
        The counts, before the evidence filter drops anything.
    """

    rows: frozenset[tuple[str, str, str]]
    genes: frozenset[str]
    synonyms: Mapping[str, set[str]]
    reading: Reading


def collect(records: Iterable[Record], graph: Graph, chosen: Collection[str]) -> Annotation:
    """Gather the statements about the chosen terms, and count the others."""
    rows, names, taxa = set(), set(), set()
    unknown: Counter[str] = Counter()
    statements = negated = other_aspect = 0
    for record in records:
        statements += 1
        names.add((record.gene, record.other_names))
        taxa.add(record.taxon)
        term = graph.resolve(record.term)
        if term is None:
            unknown[record.term] += 1
        elif record.negated:
            negated += 1
        elif term not in chosen:
            other_aspect += 1
        else:
            rows.add((record.gene, term, record.evidence))
    reading = Reading(
        statements=statements,
        negated=negated,
        unknown=unknown.total(),
        other_aspect=other_aspect,
        used=len(rows),
        dropped=0,
        unknown_terms=tuple(sorted(unknown)),
        taxa=tuple(sorted(taxa - {""})),
    )
    return Annotation(frozenset(rows), frozenset(gene for gene, _ in names), _synonyms(names), reading)


def _synonyms(names: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    """Return the symbols behind each other name."""
    symbols = defaultdict(set)
    for gene, others in names:
        for other in filter(None, others.split("|")):
            symbols[other].add(gene)
    return dict(symbols)
