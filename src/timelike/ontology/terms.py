"""Ontology: terms, the genes that have them, and how alike two genes or two terms are."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from timelike.exceptions import DataWarning, InputError, warn
from timelike.ontology.files import (
    RELATIONS,
    Annotation,
    GeneSet,
    Graph,
    Reading,
    Source,
    collect,
    gene_sets,
    is_gene_sets,
    read_graph,
    read_records,
)
from timelike.ontology.semantic import (
    Array,
    Combine,
    Indices,
    Sparse,
    combine_terms,
    information_content,
    marked,
    most_informative,
    most_specific,
    reach,
    ring,
)

Measure = Literal["resnik", "lin"]


# -- what was read and what was found ----------------------------------------------------------------------


@dataclass(frozen=True)
class Mapped:
    """What became of each gene of a list.

    Attributes
    ----------
    names : tuple of str
        The genes as given.
    found : tuple of (str or None)
        The gene of the annotation file that each name stands for.
    fates : tuple of str
        "symbol" or "synonym" (used, found by that name), "unannotated" (known, but without a term that says
        anything), "ambiguous" (a synonym of several genes), "unmapped" (not in the file) or "unnamed".
    """

    names: tuple[str, ...]
    found: tuple[str | None, ...]
    fates: tuple[str, ...]

    @property
    def used(self) -> int:
        """How many genes have annotation to compare."""
        return self.count("symbol") + self.count("synonym")

    @property
    def unmapped(self) -> tuple[str, ...]:
        """The names that the annotation file does not know, each once, in the order given."""
        return self.named("unmapped")

    def count(self, fate: str) -> int:
        """Return how many genes had this fate."""
        return self.fates.count(fate)

    def named(self, fate: str) -> tuple[str, ...]:
        """Return the names with this fate, each once, in the order given."""
        return tuple(dict.fromkeys(n for n, f in zip(self.names, self.fates, strict=True) if f == fate))

    def __str__(self) -> str:
        return (
            f"{len(self.names)} genes: {self.used} used ({self.count('synonym')} by a synonym), "
            f"{self.count('unannotated')} without annotation, {self.count('unmapped')} not found, "
            f"{self.count('ambiguous')} synonyms of several genes, {self.count('unnamed')} without a name"
        )


# -- the noun ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class Ontology:
    """Terms, genes and who has what; made by :func:`read`.

    Attributes
    ----------
    source : str
        The annotation file, for messages.
    terms, term_names : tuple of str
        Identifiers and names of the terms of the aspect, in the order of every term axis.
    genes : tuple of str
        Symbols in the annotation file, in the order of the rows of ``own``.
    synonyms : mapping of str to tuple of str
        Other names of genes (accessions and synonyms) and the symbols they may stand for.
    aliases : mapping of str to str
        Older identifiers of terms and their current ones.
    own : sparse (genes, terms) of bool
        Terms that a gene has by itself, after the evidence filter, where the term says anything at all.
    ancestors : sparse (terms, terms) of bool
        Row t marks t and everything above it.
    content : (terms,) array
        Information content in nats; infinite where no gene has the term.
    reading : Reading
        What was used and dropped.
    are_sets : bool
        Whether the terms are gene sets, see :func:`read_sets`: what is in none of them is known to have no term.
    origin : mapping of str to Any
        The files, as ``obo``, ``gaf`` or ``gmt``, and how they were read: enough to read them again. Empty where they
        are no longer there.
    """

    source: str
    terms: tuple[str, ...]
    term_names: tuple[str, ...]
    genes: tuple[str, ...]
    synonyms: Mapping[str, tuple[str, ...]]
    aliases: Mapping[str, str]
    own: Sparse
    ancestors: Sparse
    content: Array
    reading: Reading
    are_sets: bool = False
    origin: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        annotated = np.count_nonzero(np.diff(self.own.indptr))
        return f"Ontology({len(self.terms)} terms, {annotated} annotated genes, {self.source})"

    def described(self) -> str:
        """What was read, in a line."""
        if not self.are_sets:
            return str(self.reading)
        sizes = np.bincount(self.own.indices, minlength=len(self.terms))
        number = f"{len(sizes):,} gene set{'s' * (len(sizes) > 1)}"
        return f"{number} of {sizes.min():,} to {sizes.max():,} genes, {len(self.genes):,} genes in all"

    @property
    def information_content(self) -> dict[str, float]:
        """Information content in nats of every term that some gene has, by identifier."""
        return {term: float(nats) for term, nats in zip(self.terms, self.content, strict=True) if np.isfinite(nats)}

    def similarity(self, genes: Iterable[str], measure: Measure = "resnik", combine: Combine = "max") -> Array:
        """Return how alike each pair of genes is, from 0 to 1.

        Parameters
        ----------
        genes : sequence of str
            n symbols or synonyms; a name may occur more than once.
        measure : {"resnik", "lin"}
            Two terms are as alike as their most informative common ancestor is informative; Lin divides this
            by the mean of the two terms' own information.
        combine : {"max", "bma"}
            Two genes are as alike as their most alike terms, or as the average over both genes' terms of each
            term's best match in the other gene.

        Returns
        -------
        (n, n) array
            Symmetric, NaN in the rows and columns of genes without annotation. The diagonal compares a gene
            with itself; it is 1 for "lin", and for "resnik" as large as the gene's annotation is informative.

        Raises
        ------
        InputError
            When no gene has annotation.

        Warns
        -----
        DataWarning
            When fewer than half of the named genes have annotation; :meth:`mapped` tells which.

        Examples
        --------
        >>> onto = example()
        >>> onto.similarity(["Sox2", "Nanog", "Actb", "Xyz"]).round(2)
        array([[0.21, 0.21, 0.  ,  nan],
               [0.21, 1.  , 0.  ,  nan],
               [0.  , 0.  , 1.  ,  nan],
               [ nan,  nan,  nan,  nan]])
        """
        _check_choice("measure", measure, Measure)
        _check_choice("combine", combine, Combine)
        rows = self._usable_rows(genes)
        unique, inverse = np.unique(rows[rows >= 0], return_inverse=True)
        values = self._compare(self.own[unique], measure, combine)
        result = np.full((len(rows), len(rows)), np.nan)
        result[np.ix_(rows >= 0, rows >= 0)] = values[np.ix_(inverse, inverse)]
        return result

    def term_similarity(
        self, terms: Iterable[str], others: Iterable[str] | None = None, measure: Measure = "resnik"
    ) -> Array:
        """Return how alike each of ``terms`` and each of ``others`` are, from 0 to 1.

        Without ``others``, all pairs of ``terms``. NaN where no gene has a term: its information is unknown.

        Examples
        --------
        >>> example().term_similarity(["GO:2", "GO:3"], measure="lin").round(2)
        array([[1.  , 0.34],
               [0.34, 1.  ]])
        """
        _check_choice("measure", measure, Measure)
        rows = self._term_rows(terms)
        columns = rows if others is None else self._term_rows(others)
        unique, inverse = np.unique(np.concatenate([rows, columns]), return_inverse=True)
        values = self._compare_terms(unique, measure)
        unknown = ~np.isfinite(self.content[unique])
        values[unknown], values[:, unknown] = np.nan, np.nan
        return values[np.ix_(inverse[: len(rows)], inverse[len(rows) :])]

    def mapped(self, genes: Iterable[str]) -> Mapped:
        """Return what each name stands for: a symbol first, then an accession or synonym of exactly one gene.

        Upper and lower case differ, because they tell species apart.

        Examples
        --------
        >>> print(example().mapped(["Sox2", "Enk", "SOX2", ""]))
        4 genes: 2 used (1 by a synonym), 0 without annotation, 1 not found, 0 synonyms of several genes,
        1 without a name
        """
        names = _names(genes)
        has_terms = np.diff(self.own.indptr) > 0
        found, fates = zip(*(self._find(name, has_terms) for name in names), strict=True) if names else ((), ())
        return Mapped(names, found, fates)

    def propagated(self, genes: Iterable[str]) -> Sparse:
        """Return who has what, ancestors included: sparse (n, terms) of bool; unusable genes have nothing."""
        rows = self._rows(self.mapped(genes))
        wide = (self.own[rows[rows >= 0]] @ self.ancestors).tocoo()
        return marked(np.flatnonzero(rows >= 0)[wide.row], wide.col, (len(rows), len(self.terms)))

    # -- names to rows

    @cached_property
    def _gene_rows(self) -> dict[str, int]:
        return {gene: row for row, gene in enumerate(self.genes)}

    def _find(self, name: str, has_terms: npt.NDArray[np.bool_]) -> tuple[str | None, str]:
        if not name:
            return None, "unnamed"
        known = name in self._gene_rows
        symbols = (name,) if known else self.synonyms.get(name, ())
        if len(symbols) != 1:
            return None, "ambiguous" if symbols else "unmapped"
        if not has_terms[self._gene_rows[symbols[0]]]:
            return symbols[0], "unannotated"
        return symbols[0], "symbol" if known else "synonym"

    def _rows(self, mapped: Mapped) -> Indices:
        """Return the row of ``own`` for each gene, -1 for those that cannot be used."""
        pairs = zip(mapped.found, mapped.fates, strict=True)
        return np.array([self._gene_rows[g] if g and f != "unannotated" else -1 for g, f in pairs], dtype=np.intp)

    def _usable_rows(self, genes: Iterable[str]) -> Indices:
        mapped = self.mapped(genes)
        named = len(mapped.names) - mapped.count("unnamed")
        if not mapped.used:
            raise InputError(f"no gene can be compared. {self._account(mapped)}")
        if mapped.used < named / 2:
            warn(self._account(mapped), DataWarning)
        return self._rows(mapped)

    def _account(self, mapped: Mapped) -> str:
        """Return the sentences that tell why genes were not found, and what to do."""
        unmapped = mapped.unmapped
        text = f"{mapped}, in {self.source} ({', '.join(self.reading.taxa) or 'species not named'})."
        if unmapped:
            text += f" Not found: {_some(unmapped)}."
        folded = {gene.casefold(): gene for gene in self.genes}
        cased = [name for name in unmapped if name.casefold() in folded]
        if cased:
            return (
                f"{text} With upper and lower case ignored {len(cased)} would be found ({cased[0]!r} "
                f"as {folded[cased[0].casefold()]!r}): take the annotation of your species, or write the "
                "symbols as it does."
            )
        return f"{text} Check that the annotation is of your species and that the genes are symbols or synonyms."

    def _term_rows(self, terms: Iterable[str]) -> Indices:
        rows = {term: row for row, term in enumerate(self.terms)}
        asked = _names(terms)
        current = [self.aliases.get(term, term) for term in asked]
        unknown = [old for old, new in zip(asked, current, strict=True) if new not in rows]
        if unknown:
            raise InputError(
                f"{len(unknown)} of {len(asked)} terms are not in this aspect of the ontology: "
                f"{_some(unknown)}. Check the identifiers, or read another aspect."
            )
        return np.array([rows[term] for term in current], dtype=np.intp)

    # -- comparing

    @cached_property
    def _weight(self) -> Array:
        """Information content divided by its largest value; zero where unknown."""
        known = np.where(np.isfinite(self.content), self.content, 0.0)
        return known / (known.max(initial=0.0) or 1.0)

    def _compare(self, own: Sparse, measure: Measure, combine: Combine) -> Array:
        if (measure, combine) == ("resnik", "max"):
            return most_informative(own @ self.ancestors, self._weight)
        terms, columns = np.unique(own.indices, return_inverse=True)
        between = self._compare_terms(terms, measure)
        return combine_terms(between, np.split(columns, own.indptr[1:-1]), combine)

    def _compare_terms(self, terms: Indices, measure: Measure) -> Array:
        shared = most_informative(self.ancestors[terms], self._weight)
        if measure == "resnik":
            return shared
        half = self._weight[terms] / 2
        total = half[:, None] + half
        return np.divide(shared, total, out=np.full_like(shared, np.nan), where=total > 0)


# -- reading -----------------------------------------------------------------------------------------------


def read(
    obo: Source,
    gaf: Source,
    aspect: str | None = "P",
    drop: Collection[str] = ("IEA",),
    *,
    relations: Collection[str] = RELATIONS,
) -> Ontology:
    """Read an ontology and the genes on it.

    Parameters
    ----------
    obo : path
        The graph, OBO 1.2 or 1.4, plain or .gz, such as ``go-basic.obo``.
    gaf : path
        Who has what, plain or .gz: GAF 2.1 or 2.2; a table of gene, term and perhaps evidence code; or gene
        sets in a file named ``.gmt``. Sets usually hold the genes of their descendants too, so there a gene
        keeps only its most specific terms.
    aspect : {"P", "F", "C"} or None
        Biological process, molecular function or cellular component; None for all terms. The name of a
        namespace of the file will do as well.
    drop : collection of str
        Evidence codes that do not count as a gene's own annotation; information content counts them still.
    relations : collection of str
        What makes a parent an ancestor.

    Returns
    -------
    Ontology
        ``.reading`` holds the counts of what was used and dropped.

    Raises
    ------
    InputError
        For a file that is missing, cut off, of another format, or in which nothing can be used.

    Warns
    -----
    DataWarning
        When more than a tenth of the statements have a term that the ontology does not know.

    Examples
    --------
    >>> onto = example()
    >>> onto
    Ontology(4 terms, 4 annotated genes, example.gaf)
    >>> {term: round(value, 2) for term, value in onto.information_content.items()}
    {'GO:1': 0.0, 'GO:2': 0.29, 'GO:3': 1.39, 'GO:4': 1.39}
    """
    graph = read_graph(obo)
    terms = graph.within(aspect)
    found = collect(read_records(gaf, graph), graph, set(terms))
    _check_found(found, graph, str(gaf))
    ancestors = _ancestors(graph, terms, relations)
    genes = tuple(sorted(found.genes))
    rows, columns, keep = _index(found, genes, terms, set(_several(drop)))
    shape = (len(genes), len(terms))
    if is_gene_sets(gaf):
        rows, columns = most_specific(marked(rows, columns, shape), ancestors)
        keep = np.ones(len(rows), dtype=bool)
    content = information_content(columns, ancestors)
    says = keep & (content[columns] > 0)  # the root says nothing
    return Ontology(
        source=str(gaf),
        terms=terms,
        term_names=tuple(graph.terms[term].name for term in terms),
        genes=genes,
        synonyms={name: tuple(sorted(symbols)) for name, symbols in found.synonyms.items()},
        aliases=graph.aliases,
        own=marked(rows[says], columns[says], shape),
        ancestors=ancestors,
        content=content,
        reading=replace(found.reading, dropped=int(np.count_nonzero(~keep))),
        origin={"obo": str(obo), "gaf": str(gaf), "aspect": aspect, "drop": tuple(_several(drop))}
        | {"relations": tuple(_several(relations))},
    )


def read_sets(gmt: Source) -> Ontology:
    r"""Read gene sets by themselves, as terms without any order among them.

    No graph is needed. A name that is in none of the sets is known to have no term: :func:`timelike.enrichment` counts
    all names that it is given as background, where genes without annotation in an ontology say nothing.

    Parameters
    ----------
    gmt : path
        GMT, plain or .gz: a set a line, its name, a description and its genes, separated by tabs. The descriptions are
        the names of the terms where no two are equal and none is an address; else the sets' own names are.

    Raises
    ------
    InputError
        For a file that is missing, cut off or no GMT, with the line; for a set that stands there twice.

    Examples
    --------
    >>> with TemporaryDirectory() as folder:
    ...     gmt = Path(folder, "sets.gmt")
    ...     _ = gmt.write_text("FATE\thttp://x\tSox2\tNanog\nSHAPE\thttp://x\tActb\tSox2\n")
    ...     sets = read_sets(gmt)
    >>> print(sets.described())
    2 gene sets of 2 to 2 genes, 3 genes in all
    >>> sets.term_names
    ('FATE', 'SHAPE')
    """
    sets = sorted(_each_once(gene_sets(gmt), gmt), key=lambda one: one.name)
    genes = tuple(sorted({gene for one in sets for gene in one.genes}))
    if not genes:
        raise InputError(f"{gmt}: there is no set with genes. Expected a set, a description and genes in each line.")
    row = {gene: number for number, gene in enumerate(genes)}
    places = [(row[gene], column) for column, one in enumerate(sets) for gene in one.genes]
    rows, columns = np.array(places, dtype=np.intp).T
    alone = marked(np.arange(len(sets)), np.arange(len(sets)), (len(sets), len(sets)))
    names, told = tuple(one.name for one in sets), tuple(one.description for one in sets)
    speak = 1 < len(told) == len(set(told)) and all(told) and not any("://" in text for text in told)
    return Ontology(
        source=str(gmt),
        terms=names,
        term_names=told if speak else names,
        genes=genes,
        synonyms={},
        aliases={},
        own=marked(rows, columns, (len(genes), len(sets))),
        ancestors=alone,
        content=information_content(columns, alone),
        reading=Reading(len(rows), 0, 0, 0, len(rows), 0, (), ()),
        are_sets=True,
        origin={"gmt": str(gmt)},
    )


def _each_once(sets: Iterable[GeneSet], path: Source) -> list[GeneSet]:
    """The sets that have genes; raise if a name stands twice."""
    first: dict[str, int] = {}
    found = []
    for one in sets:
        if one.name in first:
            raise InputError(
                f"{path}, line {one.line}: the set {one.name!r} stands in line {first[one.name]} already. Give each a "
                "name of its own, or leave out one of them."
            )
        first[one.name] = one.line
        found += [one] if one.genes else []
    return found


def _several(given: Collection[str]) -> Collection[str]:
    return [given] if isinstance(given, str) else given


def _check_found(found: Annotation, graph: Graph, gaf: str) -> None:
    account = found.reading
    if not found.rows:
        raise InputError(
            f"{gaf}: nothing can be used with {graph.path} ({account}). Unknown terms: "
            f"{_some(account.unknown_terms) or 'none'}. Check that the columns are gene, term, that both "
            "files are of the same ontology, and that the aspect is the one you want."
        )
    if account.unknown > account.statements / 10:
        warn(
            f"{gaf}: {account.unknown} of {account.statements} statements have terms that are not in "
            f"{graph.path} ({_some(account.unknown_terms)}); left out. Take both files from the same year.",
            DataWarning,
        )


def _index(
    found: Annotation, genes: Sequence[str], terms: Sequence[str], drop: Collection[str]
) -> tuple[Indices, Indices, npt.NDArray[np.bool_]]:
    """Return row, column and whether it is kept, for each distinct annotation."""
    row = {gene: number for number, gene in enumerate(genes)}
    column = {term: number for number, term in enumerate(terms)}
    triples = [(row[gene], column[term], evidence not in drop) for gene, term, evidence in found.rows]
    rows, columns, keep = np.array(triples, dtype=np.intp).T
    return rows, columns, keep.astype(bool)


def _ancestors(graph: Graph, terms: Sequence[str], relations: Collection[str]) -> Sparse:
    number = {term: row for row, term in enumerate(terms)}
    pairs = [
        (number[term], number[parent])
        for term in terms
        for relation, target in graph.terms[term].parents
        if relation in relations and (parent := graph.resolve(target) or "") in number
    ]
    rows, columns = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    parents = marked(rows, columns, (len(terms), len(terms)))
    if len(inside := ring(parents)):
        raise InputError(
            f"{graph.path}: terms are above each other in a ring: "
            f"{_some([terms[i] for i in inside.tolist()])}. Use an ontology without rings, such as "
            "go-basic.obo, or fewer relations."
        )
    return reach(parents)


# -- small things ------------------------------------------------------------------------------------------


def _names(given: Iterable[object]) -> tuple[str, ...]:
    """Return names as text; None and NaN (an empty cell of a table) are no name."""
    if isinstance(given, str):
        raise InputError(f"expected a list of names, found the text {given!r}. Write [{given!r}].")
    return tuple("" if name is None or name != name else str(name).strip() for name in given)


def _some(names: Sequence[str], most: int = 5) -> str:
    rest = f", ... ({len(names)} in all)" if len(names) > most else ""
    return ", ".join(map(repr, names[:most])) + rest


def _check_choice(setting: str, value: str, choices: object) -> None:
    if value not in get_args(choices):
        raise InputError(f"{setting} is {value!r}; expected one of {', '.join(map(repr, get_args(choices)))}.")


_EXAMPLE_OBO = """
default-namespace: biological_process

[Term]
id: GO:1
name: process

[Term]
id: GO:2
name: cell fate
is_a: GO:1

[Term]
id: GO:3
name: pluripotency
is_a: GO:2

[Term]
id: GO:4
name: cell shape
is_a: GO:1
"""
_EXAMPLE_GAF = "DB\t{0}\t{0}\t\t{1}\t\tIDA\t\tP\t\t{2}\tprotein\ttaxon:10090\t\t\t\t\n"
_EXAMPLE_GENES = [("Sox2", "GO:2", ""), ("Nanog", "GO:3", "Enk"), ("Klf4", "GO:2", ""), ("Actb", "GO:4", "")]


def example() -> Ontology:
    """Return a tiny ontology to try things on: four terms, four genes, one synonym.

    Examples
    --------
    >>> example().genes
    ('Actb', 'Klf4', 'Nanog', 'Sox2')
    """
    with TemporaryDirectory() as folder:
        obo, gaf = Path(folder, "example.obo"), Path(folder, "example.gaf")
        obo.write_text(_EXAMPLE_OBO)
        gaf.write_text("".join(_EXAMPLE_GAF.format(*row) for row in _EXAMPLE_GENES))
        return replace(read(obo, gaf), source="example.gaf", origin={})
