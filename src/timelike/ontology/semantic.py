"""Semantic similarity as pure arrays: ancestors, information content, and how much two rows share.

Sparse arrays of bool say who has what: ``own`` (genes, terms) as annotated, ``ancestors`` (terms, terms) with
row t marking t and all above it, so that ``own @ ancestors`` is the annotation propagated to ancestors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]
Sparse = Any  # SciPy ships no types for sparse arrays
Combine = Literal["max", "bma"]


def marked(rows: Indices, columns: Indices, shape: tuple[int, int]) -> Sparse:
    """Return a sparse array of bool with these places marked; a place may be named more than once."""
    from scipy.sparse import csr_array

    return csr_array((np.ones(len(rows), dtype=bool), (rows, columns)), shape=shape)


def ring(parents: Sparse) -> Indices:
    """Return the terms of the largest ring in a graph of parents; none when it has no ring, as it should."""
    from scipy.sparse.csgraph import connected_components

    _, component = connected_components(parents, directed=True, connection="strong")
    sizes = np.bincount(component)
    return np.flatnonzero((component == sizes.argmax()) & (sizes.max() > 1))


def reach(parents: Sparse) -> Sparse:
    """Return each term's ancestors and itself: the graph times itself until nothing is added.

    Examples
    --------
    >>> chain = marked(np.array([0, 1]), np.array([1, 2]), (3, 3))
    >>> reach(chain).toarray().astype(int)
    array([[1, 1, 1],
           [0, 1, 1],
           [0, 0, 1]])
    """
    itself = np.arange(parents.shape[0])
    now = (parents + marked(itself, itself, parents.shape)).tocsr()
    while (further := (now @ now).tocsr()).nnz > now.nnz:
        now = further
    return now


def information_content(annotated: Indices, ancestors: Sparse) -> Array:
    """Return ``-log(annotations at or below the term / all annotations)``, infinite where there are none.

    Parameters
    ----------
    annotated : (m,) array of int
        The term of each annotation.
    ancestors : sparse (terms, terms) of bool
        Row t marks t and all above it.

    Examples
    --------
    >>> chain = reach(marked(np.array([0, 1]), np.array([1, 2]), (3, 3)))
    >>> information_content(np.array([0, 1, 1, 2]), chain).round(2)
    array([1.39, 0.29, 0.  ])
    """
    counts = ancestors.T.astype(np.int64) @ np.bincount(annotated, minlength=ancestors.shape[0])
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(len(annotated)) - np.log(counts), dtype=np.float64)


def most_specific(own: Sparse, ancestors: Sparse) -> tuple[Indices, Indices]:
    """Return rows and columns of the annotations that no other annotation of the same row implies.

    Examples
    --------
    >>> chain = reach(marked(np.array([0, 1]), np.array([1, 2]), (3, 3)))
    >>> rows, columns = most_specific(marked(np.array([0, 0, 1]), np.array([0, 2, 1]), (2, 3)), chain)
    >>> list(zip(rows.tolist(), columns.tolist()))
    [(0, 0), (1, 1)]
    """
    # A term that the row has implies itself once; a second time means that a descendant is there too.
    ways = (own.astype(np.int32) @ ancestors.astype(np.int32)).multiply(own).tocoo()
    alone = ways.data == 1
    return ways.row[alone].astype(np.intp), ways.col[alone].astype(np.intp)


def most_informative(members: Sparse, weight: Array) -> Array:
    """Return, for each pair of rows, the largest weight among the columns that both rows have, or zero.

    For genes with propagated terms this is Resnik's similarity with the maximum over pairs of terms, because
    both the common ancestor and the combination are maxima. Columns are written from the least to the most
    informative, so that the most informative stays; literally,
    ``max(weight[t] for t in terms if members[i, t] and members[j, t])``.

    Examples
    --------
    >>> members = marked(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 2]), (2, 3))
    >>> most_informative(members, np.array([0.9, 0.2, 0.5]))
    array([[0.9, 0.2],
           [0.2, 0.5]])
    """
    columns = members.tocsc()
    result = np.zeros((members.shape[0],) * 2)
    for term in np.argsort(weight, kind="stable"):
        rows = columns.indices[columns.indptr[term] : columns.indptr[term + 1]]
        if len(rows):
            result[np.ix_(rows, rows)] = weight[term]
    return result


def combine_terms(between: Array, own: Sequence[Indices], combine: Combine) -> Array:
    """Return gene similarities from term similarities and the terms that each gene has by itself.

    Parameters
    ----------
    between : (terms, terms) array
        Symmetric similarities of terms.
    own : sequence of arrays of int
        For each gene its terms, at least one.
    combine : {"max", "bma"}
        The best pair of terms; or the average, over both genes' terms, of the best match in the other gene.

    Examples
    --------
    >>> between = np.array([[1.0, 0.4], [0.4, 1.0]])
    >>> combine_terms(between, [np.array([0]), np.array([0, 1])], "bma").round(2)
    array([[1. , 0.8],
           [0.8, 1. ]])
    """
    best = np.array([between[terms].max(axis=0) for terms in own])  # gene h, term t: t's best match in h
    per_term = np.ascontiguousarray(best.T)
    if combine == "max":
        return np.array([per_term[terms].max(axis=0) for terms in own])
    sums = np.array([per_term[terms].sum(axis=0) for terms in own])
    counts = np.array([len(terms) for terms in own], dtype=np.float64)
    return np.asarray((sums + sums.T) / (counts[:, None] + counts))
