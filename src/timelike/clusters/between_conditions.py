"""One gene under several conditions: in which clusters its courses are, and how surely not in the same one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from timelike.base.arrays import Floats, Ints
from timelike.base.checks import counted
from timelike.courses.conditions import Crossed

if TYPE_CHECKING:
    import pandas as pd

FDR = 0.05
"""Expected share of false ones among the names that are said to change their cluster."""


def sizes_by_condition(labels: Ints, k: int, crossed: Crossed) -> pd.DataFrame:
    """How many courses of each condition each cluster has: a row a cluster, -1 ("none") last, a column a condition.

    Examples
    --------
    >>> places = Crossed(("Vwf", "C3"), ("wt", "mut"), np.array([[0, 1], [2, -1]]))
    >>> sizes_by_condition(np.array([1, 0, -1]), 2, places).reset_index()
       cluster  wt  mut
    0        0   0    1
    1        1   1    0
    2       -1   1    0
    """
    import pandas as pd

    measured = [labels[at[at >= 0]] for at in crossed.place.T]
    counts = [np.bincount(np.where(found < 0, k, found), minlength=k + 1) for found in measured]
    index = pd.Index([*range(k), -1], name="cluster")
    return pd.DataFrame(np.column_stack(counts), index=index, columns=list(crossed.conditions))


def changes(crossed: Crossed, labels: Ints, probabilities: Floats, sure: Floats) -> pd.DataFrame:
    """The table of :meth:`timelike.clusters.clustering.Clustering.changes_cluster`.

    `sure` has the probability that each course is where its label says.
    """
    import pandas as pd

    genes = np.flatnonzero((crossed.place >= 0).sum(axis=1) > 1)
    place = crossed.place[genes]
    columns: dict[str, Any] = {"name": [crossed.names[gene] for gene in genes]}
    for condition, at in zip(crossed.conditions, place.T, strict=True):
        columns[f"cluster_in_{condition}"] = pd.array(labels[at], dtype="Int64")
        columns[f"cluster_in_{condition}"][at < 0] = pd.NA
        columns[f"probability_in_{condition}"] = np.where(at < 0, np.nan, sure[at])
    columns["from"], columns["to"] = _in_words(place, labels)
    columns["probability_changes"] = 1 - together(place, probabilities)
    found = pd.DataFrame(columns).sort_values("probability_changes", ascending=False, kind="stable", ignore_index=True)
    return found.assign(fdr=(1 - found["probability_changes"]).expanding().mean())


def certain(changes: pd.DataFrame) -> pd.DataFrame:
    """The rows of names that change their cluster, with few false ones among them (:data:`FDR`)."""
    return changes[changes["fdr"] <= FDR]


def counted_changes(changes: pd.DataFrame) -> str:
    """How many names change their cluster, in words.

    Examples
    --------
    >>> import pandas as pd
    >>> counted_changes(pd.DataFrame({"name": ["a", "b"], "fdr": [0.01, 0.4]}))
    '1 of 2 names in other clusters under other conditions (expected false discovery rate 5 %)'
    """
    found = f"{len(certain(changes)):,} of {counted(len(changes), 'name')}"
    return f"{found} in other clusters under other conditions (expected false discovery rate {100 * FDR:g} %)"


def together(place: Ints, probabilities: Floats) -> Floats:
    """Probability that the courses of each row are all in one place: sum of the products of p; -1 for no course.

    Places are the clusters and "none", which has what the probabilities of the clusters lack to 1.

    Examples
    --------
    >>> together(np.array([[0, 1], [2, 3]]), np.array([[1, 0], [0.25, 0.75], [0.25, 0.25], [0, 0]]))
    array([0.25, 0.5 ])
    """
    everywhere = np.column_stack([probabilities, np.clip(1 - probabilities.sum(axis=1), 0.0, 1.0)])
    product = np.ones((len(place), everywhere.shape[1]))
    for at in place.T:
        product *= np.where(at[:, None] < 0, 1.0, everywhere[at])
    return np.clip(product.sum(axis=1), 0.0, 1.0)


def _in_words(place: Ints, labels: Ints) -> tuple[list[str], list[str]]:
    """Where each gene is in the first condition that has it, and where in the others."""
    words = [[_place(labels[at]) for at in row if at >= 0] for row in place]
    return [first for first, *_ in words], [", ".join(rest) for _, *rest in words]


def _place(label: int) -> str:
    return "none" if label < 0 else f"cluster {label}"
