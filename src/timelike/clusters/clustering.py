"""Clustering: which course is in which cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from timelike.base import notebook
from timelike.base.arrays import Floats, Ints
from timelike.base.checks import counted

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


def numbered(labels: NDArray[Any]) -> tuple[Ints, int]:
    """The labels as 0, 1, ... in the order in which clusters first appear, and how many there are.

    Examples
    --------
    >>> numbered(np.array([7, 7, 2, 7, 5]))
    (array([0, 0, 1, 0, 2]), 3)
    """
    _, first, code = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[code.ravel()], len(first)
