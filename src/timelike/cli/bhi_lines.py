"""The biological homogeneity of a table of clusters, as the command line reports it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from timelike.base.files import atomic_path
from timelike.base.tables import harmless, unquoted
from timelike.courses.conditions import told_apart
from timelike.exceptions import InputError
from timelike.ontology import Ontology
from timelike.ontology.bhi import Weights, bhi
from timelike.ontology.enrichment import enrichment
from timelike.reading import read_table


def run(
    clusters: Path, table: Path | None, found: Ontology, *, weights: Weights, permutations: int, seed: int
) -> Iterator[str]:
    """Lines about the homogeneity of the clusters in a table with columns name and cluster.

    Writes the enrichment to `table` if it is given. A gene that stands in several rows counts once, where it stands
    first: compared with itself it would be no evidence. Under several conditions it counts once in each cluster; then
    some relabellings do compare it with itself, which makes z and p cautious.
    """
    genes, labels = read_clusters(clusters)
    yield found.described()
    yield str(found.mapped(genes))
    result = bhi(labels, found.similarity(genes), permutations, seed, weights=weights)
    for label, mean in result.by_cluster.items():
        yield f"cluster {label}: {mean:.4f}"
    basis = f"{result.genes:,} genes, {permutations} relabellings"
    yield f"BHI {result.value:.4f}, z {result.z:.3f}, p {result.p:.3g} ({basis})"
    if table is not None:
        with atomic_path(table) as temporary:
            harmless(enrichment(labels, genes, found)).to_csv(temporary, index=False)
        yield f"wrote {table}"


def read_clusters(path: Path) -> tuple[list[str], list[Any]]:
    """Genes and cluster labels from a table with columns name and cluster; each gene once, or once in each cluster.

    The latter where names have conditions, which are no part of the gene.
    """
    table = read_table(path)
    for column in ("name", "cluster"):
        if column not in table.header:
            raise InputError(f"{path} has no column {column!r}. Its columns: {', '.join(table.header[:12])}.")
    names, clusters = table.texts([table.header.index("name"), table.header.index("cluster")])
    first: dict[str, str] = {}
    for name, cluster in zip(names, clusters, strict=True):
        first.setdefault(unquoted(name), cluster)
    genes, labels = _by_gene(first)
    if all(re.fullmatch(r"-?\d+", label) for label in labels):
        return genes, [int(label) for label in labels]  # so that -1 is known for "in no cluster"
    return genes, labels


def _by_gene(cluster_of: dict[str, str]) -> tuple[list[str], list[str]]:
    """Names without conditions and their clusters, each pair once."""
    told = told_apart(list(cluster_of))
    if told is None:
        return list(cluster_of), list(cluster_of.values())
    pairs = dict.fromkeys(zip(told.names, cluster_of.values(), strict=True))
    return [gene for gene, _ in pairs], [cluster for _, cluster in pairs]
