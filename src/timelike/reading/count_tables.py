"""Tables of counts: rows that are no genes set apart, counts checked where they stand, values with an error each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from timelike.base.checks import counted, first_few
from timelike.courses.counts import Groups, about_few_genes, check_counts, set_apart
from timelike.courses.counts import counted as as_values
from timelike.exceptions import InputError
from timelike.reading.understood import Normalised

if TYPE_CHECKING:
    from timelike.reading.wide import Matrix

NO_GENES = frozenset({"N_unmapped", "N_multimapping", "N_noFeature", "N_ambiguous"})
"""What STAR calls the reads that are of no gene; htseq-count's begin with two underscores."""
ABOUT_GENES = frozenset({"chr", "chromosome", "start", "end", "strand", "length", "width", "genelength", "efflength"})
"""Names of columns that describe genes, as featureCounts writes them before the samples."""


class FromCounts(NamedTuple):
    """Values with errors in place of counts, what was found on the way, and notes."""

    matrix: Matrix
    found: Normalised
    notes: tuple[str, ...]


def is_no_gene(name: str) -> bool:
    """Whether a row holds the reads that belong to no gene.

    Examples
    --------
    >>> [is_no_gene(name) for name in ("__no_feature", "N_ambiguous", "Actb", "_1")]
    [True, True, False, False]
    """
    return name.startswith("__") or name in NO_GENES


def from_counts(matrix: Matrix) -> FromCounts:
    """The matrix with log2 values and errors instead of counts; all conditions are normalised together."""
    mapped, apart = _with_a_gene(matrix)
    _check(mapped)
    kept, zeros = set_apart(mapped.values, mapped.names)
    genes = _rows(mapped, kept.tolist())
    made = as_values(genes.values, Groups.made(genes.columns.times, genes.columns.conditions or None))
    found = Normalised(tuple(genes.names), tuple(genes.samples), made)
    notes = (*apart, *zeros, *about_few_genes(genes.values))
    return FromCounts(replace(genes, values=made.values, errors=made.errors), found, notes)


def _with_a_gene(matrix: Matrix) -> tuple[Matrix, tuple[str, ...]]:
    """The matrix without the rows of reads that belong to no gene, and a note about them."""
    others = [name for name in matrix.names if is_no_gene(name)]
    if not others:
        return matrix, ()
    if len(others) == len(matrix.names):
        raise InputError(f"there is no gene, only rows of reads without one: {first_few(others)}.")
    kept = [i for i, name in enumerate(matrix.names) if not is_no_gene(name)]
    note = f"set apart {counted(len(others), 'row')} of reads without a gene: {first_few(others)}"
    return _rows(matrix, kept), (note,)


def _check(matrix: Matrix) -> None:
    names, samples = matrix.names, matrix.samples
    check_counts(
        matrix.values,
        lambda gene, k: f"{matrix.cell(gene, k)}: the count of {names[gene]!r} in sample {samples[k]!r}",
        lambda k: f"sample {samples[k]!r}",
    )


def _rows(matrix: Matrix, rows: Sequence[int]) -> Matrix:
    names = [matrix.names[i] for i in rows]
    return replace(matrix, names=names, values=matrix.values[rows], cell=lambda i, k: matrix.cell(rows[i], k))
