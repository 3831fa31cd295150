"""Clustering: which course is in which cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from timelike.base import notebook
from timelike.base.arrays import Floats, Ints
from timelike.base.checks import counted
from timelike.clusters import between_conditions
from timelike.courses.conditions import Crossed, crossed, none_told, told_apart
from timelike.exceptions import InputError

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Clustering:
    """Which course is in which cluster.

    Attributes
    ----------
    labels : (N,) int
        Clusters are numbered from 0; -1 is "in none".
    names : tuple of str
    k : int
        Number of clusters.
    method : str
        How they were found.
    probabilities : (N, k) or None
        Of each course to belong to each cluster, where the method knows them.
    linkage : (N - 1, 4) or None
        The tree of merges, as SciPy draws and cuts it.
    evidence : mapping or None
        For each candidate number of clusters what speaks for it, where the number was chosen.
    """

    labels: Ints
    names: tuple[str, ...]
    k: int
    method: str
    probabilities: Floats | None = None
    linkage: Floats | None = None
    evidence: dict[int, float] | None = None

    def __repr__(self) -> str:
        sizes = ", ".join(map(str, self.sizes[:12])) + (", ..." if self.k > 12 else "")
        none = int((self.labels < 0).sum())
        rest = f" and {none:,} in none" if none else ""
        found = f"{counted(len(self.names), 'course')} in {counted(self.k, 'cluster')} ({sizes}){rest}"
        return f"Clustering: {found}, {self.method}"

    def _repr_html_(self) -> str:
        return notebook.clusters(self)

    @property
    def sizes(self) -> Ints:
        """Number of courses in each cluster, (k,)."""
        return np.bincount(self.labels[self.labels >= 0], minlength=self.k)

    def to_frame(self) -> pd.DataFrame:
        """Table with columns name and cluster, and the probability of that cluster where it is known."""
        import pandas as pd

        frame = pd.DataFrame({"name": list(self.names), "cluster": self.labels})
        if self.probabilities is not None:
            none = 1 - self.probabilities.sum(axis=1)
            frame["probability"] = np.where(self.labels < 0, none, self.probabilities.max(axis=1))
        return frame

    # -- between conditions --------------------------------------------------------------------------------------

    def by_condition(self) -> pd.DataFrame:
        """How many courses of each condition are in each cluster: a row a cluster, a column a condition; last -1, none.

        For courses that have conditions, see :meth:`timelike.TimeCourses.by_condition`.

        Examples
        --------
        >>> names = ("Samd14 | wt", "Samd14 | mut", "Fbln5 | wt", "Fbln5 | mut")
        >>> Clustering(np.array([0, 1, 1, 1]), names, k=2, method="by hand").by_condition().loc[1].to_dict()
        {'wt': 1, 'mut': 2}
        """
        return between_conditions.sizes_by_condition(self.labels, self.k, self._crossed())

    def changes_cluster(self) -> pd.DataFrame:
        """Which names are in other clusters under other conditions, the surest first; one row a name.

        Columns ``name``; for each condition ``cluster_in_<condition>`` (-1: none; empty where it was not measured)
        and ``probability_in_<condition>`` (of being there); ``from``, where it is in the first condition, and ``to``,
        where in the others, in words; ``probability_changes``; and ``fdr``, the expected share of false ones
        among this row and all above it (the running mean of 1 - ``probability_changes``).

        ``probability_changes`` is 1 minus the probability that all courses of the name are in one cluster, or all in
        none: the sum over these of the product of the courses' probabilities; courses are judged independently, given
        the clusters. Two courses in none do not share a curve, but neither is in another cluster than the other. Names
        that were measured under a single condition are left out. Where clusters are cuts through a continuum, a name
        may change its cluster although its curve changes little.

        Examples
        --------
        >>> names = ("Samd14 | wt", "Samd14 | mut", "Fbln5 | wt", "Fbln5 | mut")
        >>> sure = np.array([[0.9, 0.1], [0.2, 0.8], [0.9, 0.1], [0.9, 0.1]])
        >>> found = Clustering(sure.argmax(axis=1), names, k=2, method="by hand", probabilities=sure)
        >>> found.changes_cluster()[["name", "from", "to", "probability_changes", "fdr"]].round(2)
             name       from         to  probability_changes   fdr
        0  Samd14  cluster 0  cluster 1                 0.74  0.26
        1   Fbln5  cluster 0  cluster 0                 0.18  0.54
        """
        if self.probabilities is None:
            raise InputError(f"{self.method} does not know how probable its clusters are: cluster with mixture.")
        sure = self.to_frame()["probability"].to_numpy(dtype=float)
        return between_conditions.changes(self._crossed(), self.labels, self.probabilities, sure)

    def _crossed(self) -> Crossed:
        told = told_apart(self.names)
        if told is None:
            raise none_told(self.names[0])
        return crossed(told)


def numbered(labels: NDArray[Any]) -> tuple[Ints, int]:
    """The labels as 0, 1, ... in the order in which clusters first appear, and how many there are.

    Examples
    --------
    >>> numbered(np.array([7, 7, 2, 7, 5]))
    (array([0, 0, 1, 0, 2]), 3)
    """
    _, first, code = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[code.ravel()], len(first)
