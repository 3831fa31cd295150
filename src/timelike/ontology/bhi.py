"""Biological homogeneity: whether genes that were put together belong together (the paper's BHI)."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from timelike.exceptions import InputError
from timelike.ontology.semantic import Array, Indices

Weights = Literal["cluster", "size"]

_BATCH = 2_000_000  # similarities gathered at once: 16 MB, which stays near the processor
_LARGE = 12  # from a twelfth of the genes on, one product with the whole matrix is faster than picking pairs


@dataclass(frozen=True)
class Homogeneity:
    """How alike genes of the same cluster are, and how that compares with chance.

    Attributes
    ----------
    value : float
        Mean similarity within clusters.
    z : float
        ``(value - null_mean) / null_sd``; NaN when every relabelling gives the same value (one cluster).
    p : float
        Share of relabellings that reach the value, the clustering itself counted as one.
    null_mean, null_sd : float
        Of the relabellings with the same cluster sizes.
    by_cluster : mapping of label to float
        The mean similarity within each cluster that has a pair of annotated genes.
    genes : int
        How many genes counted: those with annotation and a cluster.
    permutations : int
        How many relabellings.
    weights : str
        How clusters were averaged.
    """

    value: float
    z: float
    p: float
    null_mean: float
    null_sd: float
    by_cluster: Mapping[Hashable, float] = field(repr=False)
    genes: int
    permutations: int
    weights: Weights


def bhi(
    clustering_or_labels: Any,
    gene_similarity: npt.ArrayLike,
    permutations: int = 1000,
    seed: int = 0,
    *,
    weights: Weights = "cluster",
) -> Homogeneity:
    """Return the biological homogeneity index, with z and p against relabellings of the same sizes.

    Parameters
    ----------
    clustering_or_labels : object with ``labels``, or sequence of n labels
        Numbers or text. The number -1 means "in no cluster" and is left out.
    gene_similarity : (n, n) array
        Symmetric, in the order of the labels; the diagonal is not used. Genes whose row is NaN (without
        annotation) are left out, not taken as zero.
    permutations : int
        Random relabellings of the genes that count, each with the same cluster sizes.
    seed : int
        The same seed gives the same z and p.
    weights : {"cluster", "size"}
        Average over clusters as the paper does, each counting the same, or weighted by the genes in each.
        The paper's average is dominated by small clusters, whose means vary most: a few close pairs can carry
        it. In doubt look at both.

    Returns
    -------
    Homogeneity

    Raises
    ------
    InputError
        When the shapes do not match, a similarity is missing between annotated genes, or no cluster holds two
        annotated genes.

    Notes
    -----
    ``BHI = mean over clusters of the mean over pairs i != j of Sim(i, j)``. A cluster with fewer than two
    annotated genes has no pair and is left out of the average; its gene still takes part in the relabelling.
    List each gene once: a gene in two rows would be compared with itself, which is no evidence.

    Examples
    --------
    >>> alike = np.array([[1, 0.8, 0.1, 0.2], [0.8, 1, 0.3, 0.1], [0.1, 0.3, 1, 0.6], [0.2, 0.1, 0.6, 1]])
    >>> result = bhi(["a", "a", "b", "b"], alike, permutations=200)
    >>> round(result.value, 3), dict(result.by_cluster)
    (0.7, {'a': 0.8, 'b': 0.6})
    >>> result.z > 1
    True
    """
    _check_settings(permutations, weights)
    names, codes = label_codes(clustering_or_labels)
    similarity, keep = _annotated(np.asarray(gene_similarity, dtype=np.float64), codes)
    clusters = _Clusters.of(codes[keep], len(names), weights)
    means = clusters.means(similarity, np.arange(len(similarity))[None])[0]
    value = float(means @ clusters.share)
    rng = np.random.default_rng(seed)
    null = np.concatenate([c @ clusters.share for c in clusters.relabelled(similarity, permutations, rng)])
    by_cluster = {names[code]: float(mean) for code, mean in zip(clusters.codes, means, strict=True)}
    return Homogeneity(value, *_against(value, null), by_cluster, len(similarity), permutations, weights)


def label_codes(clustering_or_labels: Any) -> tuple[tuple[Hashable, ...], Indices]:
    """Return the distinct labels, sorted, and for each gene the number of its label, -1 for "in no cluster".

    Examples
    --------
    >>> label_codes(["b", "a", "b"])
    (('a', 'b'), array([1, 0, 1]))
    >>> label_codes([4, -1, 2])
    ((2, 4), array([ 1, -1,  0]))
    """
    import pandas as pd

    labels = np.asarray(getattr(clustering_or_labels, "labels", clustering_or_labels), dtype=object)
    if labels.ndim != 1:
        raise InputError(f"labels have shape {labels.shape}; expected one label per gene, in one dimension.")
    if pd.isna(labels).any():
        raise InputError("some labels are NaN; give every gene a label, or -1 for 'in no cluster'.")
    codes = np.full(len(labels), -1, dtype=np.intp)
    inside = np.flatnonzero(labels != -1)
    found = np.array(labels[inside].tolist())  # numbers again, where all of them are
    names, codes[inside] = np.unique(found.astype(str) if found.dtype.kind == "O" else found, return_inverse=True)
    return tuple(names.tolist()), codes


def _check_settings(permutations: int, weights: str) -> None:
    if permutations < 2:
        raise InputError(f"permutations is {permutations}; a spread needs at least 2, 1000 is usual.")
    if weights not in get_args(Weights):
        raise InputError(f"weights is {weights!r}; expected 'cluster' or 'size'.")


def _annotated(similarity: Array, codes: Indices) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Return the similarities of the genes that count, with a zero diagonal, and which genes these are."""
    n = len(codes)
    if similarity.shape != (n, n):
        raise InputError(f"{n} labels, but similarities of shape {similarity.shape}; expected ({n}, {n}).")
    missing = np.isnan(similarity)
    np.fill_diagonal(missing, True)
    keep = ~missing.all(axis=1) & (codes >= 0)
    chosen = similarity[np.ix_(keep, keep)]
    np.fill_diagonal(chosen, 0.0)
    if not np.isfinite(chosen).all() or not np.allclose(chosen, chosen.T):
        raise InputError(
            "similarities must be finite and symmetric between genes with annotation; a gene without "
            "annotation has NaN in its whole row and column."
        )
    return chosen, keep


def _against(value: float, null: Array) -> tuple[float, float, float, float]:
    """Return z, p, mean and standard deviation of a value against relabellings."""
    mean, sd = float(null.mean()), float(null.std(ddof=1))
    # Sums in another order differ in the last digits: that is neither spread nor a difference.
    rounding = 1e-12 * max(abs(value), abs(mean))
    z = (value - mean) / sd if sd > rounding else float("nan")
    reached = np.count_nonzero(null >= value - rounding)
    return z, float((1 + reached) / (1 + len(null))), mean, sd


@dataclass(frozen=True)
class _Clusters:
    """Members of the clusters that have pairs, as places in a list of genes that a relabelling shuffles."""

    codes: Sequence[int]
    members: Sequence[Indices]
    share: Array

    @staticmethod
    def of(codes: Indices, count: int, weights: Weights) -> _Clusters:
        members = [np.flatnonzero(codes == code) for code in range(count)]
        paired = [code for code in range(count) if len(members[code]) > 1]
        if not paired:
            raise InputError(
                f"no cluster holds two annotated genes ({len(codes)} annotated genes in {count} clusters). "
                "Use fewer clusters, or an annotation that covers more genes."
            )
        sizes = np.array([len(members[code]) if weights == "size" else 1 for code in paired], dtype=np.float64)
        return _Clusters(paired, [members[code] for code in paired], sizes / sizes.sum())

    def means(self, similarity: Array, orders: Indices) -> Array:
        """Return the mean within each cluster, for each order of the genes: (orders, clusters)."""
        sums = [_sums(similarity, orders, members) for members in self.members]
        pairs = [len(members) * (len(members) - 1) for members in self.members]
        return np.asarray(np.stack(sums, axis=1) / np.array(pairs))

    def relabelled(self, similarity: Array, permutations: int, rng: np.random.Generator) -> Iterator[Array]:
        """Yield the means of random orders, a batch at a time so that memory stays small."""
        n = len(similarity)
        largest = min(max(len(members) for members in self.members), n // _LARGE)
        batch = max(1, _BATCH // max(largest**2, n))
        for start in range(0, permutations, batch):
            orders = np.tile(np.arange(n), (min(batch, permutations - start), 1))
            yield self.means(similarity, rng.permuted(orders, axis=1))


def _sums(similarity: Array, orders: Indices, places: Indices) -> Array:
    """Return the sum over all pairs at these places, for each order of the genes."""
    genes = orders[:, places]
    if len(places) <= len(similarity) / _LARGE:
        return np.asarray(similarity[genes[:, :, None], genes[:, None, :]].sum(axis=(1, 2)))
    inside = np.zeros(orders.shape)
    np.put_along_axis(inside, genes, 1.0, axis=1)
    return np.asarray(np.einsum("on,on->o", inside @ similarity, inside))
