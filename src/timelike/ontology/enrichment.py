"""Which ontology terms a cluster has more often than its share of genes would give it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from timelike.exceptions import InputError
from timelike.ontology.bhi import label_codes
from timelike.ontology.semantic import Array, Indices
from timelike.ontology.terms import Ontology

if TYPE_CHECKING:
    import pandas as pd


def enrichment(
    clustering_or_labels: Any, genes: Iterable[str], ontology: Ontology, *, min_genes: int = 3
) -> pd.DataFrame:
    """Return a table of the terms that each cluster has, most surprising first within each cluster.

    Parameters
    ----------
    clustering_or_labels : object with ``labels``, or sequence of n labels
        Numbers or text; -1 means "in no cluster": such genes belong to the background only.
    genes : sequence of str
        n symbols or synonyms. A gene that occurs twice in a cluster counts once there.
    ontology : Ontology
        Annotations are propagated to ancestors.
    min_genes : int
        Terms with fewer annotated genes in the whole list are not tested: they could hardly reach significance,
        and would make the correction harder on the others.

    Returns
    -------
    pandas.DataFrame
        One row per cluster and term that occurs in it: ``cluster, term, name``; ``genes`` with the term in the
        cluster; ``cluster_genes`` annotated in the cluster; ``term_genes`` with the term in the whole list;
        ``all_genes`` annotated in the whole list; ``fold``, the share in the cluster over the share in the
        list; ``p``, the hypergeometric chance of as many or more; ``q``, Benjamini-Hochberg over every cluster
        and tested term, also where the term does not occur. Of gene sets (:func:`timelike.ontology.read_sets`)
        every gene counts as annotated: what is in no set is known to be in none.

    Raises
    ------
    InputError
        When there are not as many labels as genes, or no gene has annotation.

    Examples
    --------
    >>> from timelike import ontology
    >>> table = enrichment([0, 0, 0, 1], ["Sox2", "Nanog", "Klf4", "Actb"], ontology.example())
    >>> table[["cluster", "term", "name", "genes", "term_genes", "p"]]
       cluster  term       name  genes  term_genes     p
    0        0  GO:2  cell fate      3           3  0.25
    """
    import pandas as pd

    names, codes = label_codes(clustering_or_labels)
    counts = _count(codes, len(names), tuple(genes), ontology)
    tested = np.flatnonzero((counts.per_term >= max(1, min_genes)) & (ontology.are_sets | (ontology.content > 0)))
    p, q = _chances(counts, tested)
    cluster, place = np.nonzero(counts.both[:, tested])
    term = tested[place]
    both, per_cluster, per_term = counts.both[cluster, term], counts.per_cluster[cluster], counts.per_term[term]
    columns = {
        "cluster": [names[code] for code in cluster],
        "term": [ontology.terms[t] for t in term],
        "name": [ontology.term_names[t] for t in term],
        "genes": both,
        "cluster_genes": per_cluster,
        "term_genes": per_term,
        "all_genes": counts.total,
        "fold": both * counts.total / (per_cluster * per_term),
        "p": p[cluster, place],
        "q": q[cluster, place],
    }
    order = {"cluster": True, "p": True, "fold": False, "term": True}
    return pd.DataFrame(columns).sort_values(list(order), ascending=list(order.values()), ignore_index=True)


@dataclass(frozen=True)
class _Counts:
    """How many genes are in each cluster, have each term, and both."""

    both: Indices  # (clusters, terms)
    per_cluster: Indices
    per_term: Indices
    total: int


def _count(codes: Indices, clusters: int, genes: tuple[str, ...], ontology: Ontology) -> _Counts:
    if len(codes) != len(genes):
        raise InputError(f"{len(codes)} labels for {len(genes)} genes; expected one label per gene.")
    rows = _distinct(codes, genes, ontology)
    has = ontology.propagated([genes[row] for row in rows]).astype(np.int64)
    member = codes[rows] == np.arange(clusters)[:, None]
    both = np.asarray(has.T.dot(member.T.astype(np.int64))).T
    return _Counts(both, member.sum(axis=1), np.asarray(has.sum(axis=0)), len(rows))


def _distinct(codes: Indices, genes: tuple[str, ...], ontology: Ontology) -> list[int]:
    """Return the places of the genes that count, one for each gene in each cluster.

    Of an ontology those with annotation; of gene sets all, because what is in no set is known to be in none.
    """
    mapped = ontology.mapped(genes)
    if not mapped.used:
        raise InputError(f"no gene has annotation: {mapped}. ontology.mapped(genes) tells more.")
    count = ("symbol", "synonym", "unmapped", "unannotated") if ontology.are_sets else ("symbol", "synonym")
    used = [place for place, fate in enumerate(mapped.fates) if fate in count]
    first = {(codes[place], mapped.found[place] or mapped.names[place]): place for place in reversed(used)}
    return sorted(first.values())


def _chances(counts: _Counts, tested: Indices) -> tuple[Array, Array]:
    """Return p and q for each cluster and tested term."""
    from scipy.stats import false_discovery_control, hypergeom

    both, per_term = counts.both[:, tested], counts.per_term[tested]
    p = np.asarray(hypergeom.sf(both - 1, counts.total, per_term, counts.per_cluster[:, None]))
    p = np.clip(p, 0.0, 1.0)  # the tail of a certain event can exceed one by rounding
    q = false_discovery_control(p.ravel()).reshape(p.shape) if p.size else p
    return p, np.asarray(q)
