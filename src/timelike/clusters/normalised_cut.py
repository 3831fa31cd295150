"""Normalised cuts of a sparse graph: the clusters that cut the fewest edges, for their size. Pure arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from timelike.base.arrays import Floats, Ints
from timelike.exceptions import InputError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

DENSE_BELOW = 200
"""Up to so many courses all eigenvectors at once take no longer than some of them."""
TOLERANCE = 1e-6
"""Relative error of the eigenvalues."""
RESTARTS = 2000
ROTATIONS = 50
"""Yu and Shi's search for the rotation settles after some ten rounds."""


def cut(graph: csr_array, k: int, seed: int) -> Ints:
    """The cluster of each node when the graph is cut into `k`, (N,).

    A graph in several pieces needs no cut between them: every piece is at least one cluster, and the others go where
    the cut costs least, that is where the next largest eigenvalues of the pieces are.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> two = np.kron(np.eye(2), np.ones((3, 3)) - np.eye(3))
    >>> cut(csr_array(two), 2, seed=0)
    array([0, 0, 0, 1, 1, 1])
    """
    from scipy.sparse.csgraph import connected_components

    pieces, piece_of = connected_components(graph, directed=False)
    if pieces > k:
        raise InputError(_too_many_pieces(np.bincount(piece_of), k))
    members = [np.flatnonzero(piece_of == p) for p in range(pieces)] if pieces > 1 else [np.arange(len(piece_of))]
    spectra = [_spectrum(graph[own][:, own] if pieces > 1 else graph, k - pieces + 1, seed) for own in members]
    labels, first = np.empty(len(piece_of), dtype=np.intp), 0
    for own, vectors in zip(members, _shared_out(spectra, k), strict=True):
        labels[own] = first + discretized(vectors, seed)
        first += vectors.shape[1]
    return labels


def _too_many_pieces(sizes: Ints, k: int) -> str:
    largest = ", ".join(f"{size:,}" for size in np.sort(sizes)[::-1][:5]) + (", ..." if len(sizes) > 5 else "")
    return (
        f"the neighbour graph falls into {len(sizes):,} pieces (of {largest} courses), more than the {k} clusters "
        f"asked for. Join them by more neighbours of each course, or ask for at least "
        f"{len(sizes):,} clusters."
    )


# -- eigenvectors ------------------------------------------------------------------------------------------------


def _spectrum(graph: csr_array, count: int, seed: int) -> tuple[Floats, Floats]:
    """The largest eigenvalues of ``D^-1/2 W D^-1/2``, descending, and ``D^-1/2`` times their vectors.

    The graph is in one piece, so the first eigenvalue is 1 and no other: Lanczos iterations, which see only one of
    several equal eigenvalues, miss none.
    """
    from scipy.sparse import csr_array, diags_array

    scale = diags_array(1 / np.sqrt(np.asarray(graph.sum(axis=1)).ravel()))
    normalised = csr_array(scale @ graph @ scale)
    size = graph.shape[0]
    if size <= max(DENSE_BELOW, 5 * count):
        values, vectors = np.linalg.eigh(normalised.toarray())
    else:
        values, vectors = _lanczos(normalised, count, seed)
    order = np.argsort(-values)[: min(count, size)]
    return values[order], scale @ vectors[:, order]


def _lanczos(normalised: csr_array, count: int, seed: int) -> tuple[Floats, Floats]:
    from scipy.sparse.linalg import ArpackNoConvergence, eigsh

    start = np.random.default_rng(seed).uniform(-1, 1, normalised.shape[0])
    try:
        return eigsh(normalised, count, which="LA", v0=start, tol=TOLERANCE, maxiter=RESTARTS)
    except ArpackNoConvergence:
        raise InputError(
            f"the eigenvectors of the neighbour graph did not settle: {count} clusters are hardly told apart by it. "
            "Ask for fewer clusters, or join each course to more neighbours."
        ) from None


def _shared_out(spectra: list[tuple[Floats, Floats]], k: int) -> list[Floats]:
    """The vectors of the k largest eigenvalues, piece by piece; each piece has at least its first."""
    others = np.concatenate([values[1:] for values, _ in spectra])
    piece = np.repeat(np.arange(len(spectra)), [len(values) - 1 for values, _ in spectra])
    best = piece[np.argsort(-others, kind="stable")[: k - len(spectra)]]
    counts = 1 + np.bincount(best, minlength=len(spectra))
    return [vectors[:, :count] for (_, vectors), count in zip(spectra, counts, strict=True)]


# -- from eigenvectors to clusters ---------------------------------------------------------------------------------


def discretized(vectors: Floats, seed: int) -> Ints:
    """The clusters whose indicators are nearest to a rotation of the vectors, (N,) from (N, k) (Yu and Shi, 2003).

    Rotation and indicators take turns: the nearest indicators to the rotated rows, then the rotation of the rows that
    is nearest to these indicators.
    """
    if vectors.shape[1] == 1:
        return np.zeros(len(vectors), dtype=np.intp)
    rows = vectors / np.linalg.norm(vectors, axis=0)
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.finfo(float).tiny)
    rotation, last = _unlike_rows(rows, seed), 0.0
    for _ in range(ROTATIONS):
        labels = (rows @ rotation).argmax(axis=1)
        left, agreement, right = np.linalg.svd(_sums(rows, labels))
        if abs(agreement.sum() - last) < 1e-12 * len(rows):
            break
        rotation, last = right.T @ left.T, float(agreement.sum())
    return np.asarray(labels)


def _unlike_rows(rows: Floats, seed: int) -> Floats:
    """A row drawn at random, then the row least like those before, and so on, as columns (k, k)."""
    chosen = [_first(len(rows), seed)]
    likeness = np.zeros(len(rows))
    while len(chosen) < rows.shape[1]:
        likeness += np.abs(rows @ rows[chosen[-1]])
        chosen.append(int(likeness.argmin()))
    return rows[chosen].T


def _first(count: int, seed: int) -> int:
    """The row that scikit-learn starts from with this seed, after a vector for its eigensolver: the same clusters."""
    draws = np.random.RandomState(seed)
    draws.uniform(-1, 1, count)
    return int(draws.randint(count))


def _sums(rows: Floats, labels: Ints) -> Floats:
    """The sums of the rows of each cluster, (k, k)."""
    k = rows.shape[1]
    return np.stack([np.bincount(labels, column, minlength=k) for column in rows.T], axis=1)
