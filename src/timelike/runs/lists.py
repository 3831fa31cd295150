"""The names in each cluster: a file for each, one a line to paste, and one table with a column a cluster.

They are names without conditions, each once: programs that look for enriched terms know genes, not "Samd14 | drug". A
name with courses in two clusters is in both lists.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from timelike.base.files import atomic_write
from timelike.base.tables import write_table
from timelike.clusters.clustering import Clustering
from timelike.courses import TimeCourses

LISTS = "lists"
"""Folder of the lists in that of a run."""
TABLE = f"{LISTS}/by_cluster.csv"


def names_by_cluster(clustering: Clustering, courses: TimeCourses) -> dict[str, list[str]]:
    """Name of a list -> its names; those in none of the clusters last, where there are some.

    Examples
    --------
    >>> import numpy as np
    >>> courses = TimeCourses.from_arrays([0, 1], [[0, 1], [0, 1], [5, 4]], ["a | x", "a | y", "b | x"])
    >>> names_by_cluster(Clustering(np.array([0, 0, -1]), courses.names, 1, "any"), courses)
    {'cluster_0': ['a'], 'none': ['b']}
    """
    found: dict[int, dict[str, None]] = {label: {} for label in range(clustering.k)}
    for name, label in zip(courses.plain_names, clustering.labels.tolist(), strict=True):
        found.setdefault(label, {})[name] = None
    return {"none" if label < 0 else f"cluster_{label}": list(names) for label, names in found.items()}


def write_lists(clustering: Clustering, courses: TimeCourses, out: Path) -> Iterator[str]:
    """Write the lists and their table; the names of the files."""
    import pandas as pd

    lists = names_by_cluster(clustering, courses)
    (out / LISTS).mkdir()
    for name, members in lists.items():
        with atomic_write(out / LISTS / f"{name}.txt") as file:
            file.writelines(f"{' '.join(member.splitlines())}\n" for member in members)
        yield f"{LISTS}/{name}.txt"
    rows = list(zip_longest(*lists.values(), fillvalue=""))
    write_table(pd.DataFrame(rows, columns=list(lists), dtype=object), out / TABLE)
    yield TABLE
