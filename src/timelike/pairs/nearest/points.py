"""The nearest points of a set, in the ordinary Euclidean sense, for very many queries. Nothing here knows courses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np

from timelike.base import checks
from timelike.base.arrays import Floats, Ints
from timelike.base.threads import Crew, thread_count
from timelike.base.tiles import spans

AT_ONCE = 2_000_000
"""Coordinates of points found at once: enough for the threads, few enough for memory and for a bar that moves."""
LEAF = 32
"""Points in a leaf of the tree. With queries in the order of the tree, larger leaves than SciPy's 10 pay."""
SPARE = 8
"""Points looked up beyond those asked for, where distances are known to fewer digits than they are ranked by."""
ROUNDING = 16 * float(np.finfo(float).eps)
"""Largest error of a squared distance from a matrix product, in units of squared lengths, for each dimension."""
CELLS_ASKED = 10
"""Cells of the approximate index that a query looks into."""

Finder = Callable[[Floats, int], Ints]
"""Finds, for each of some queries, so many of the nearest items."""
Then = Callable[[Ints, Ints], Any]
"""What is made of some rows of the queries, and the items of each. A cluster needs it to pickle."""


def nearest_points(
    search: Search,
    queries: Floats,
    count: int,
    then: Then | None = None,
    *,
    at_once: int = AT_ONCE,
    client: Any = None,
) -> Iterator[tuple[Ints, Any]]:
    """The `count` nearest items to each of `queries`, in parts: rows of `queries`, and for each row its items.

    The items of a row are in no order: the caller ranks them by what they stand for. Queries near each other are
    asked one after the other, so that what they need of the items is still in the processor's cache.

    Parameters
    ----------
    search
        Among M items.
    queries : (N, d)
    count
        At most M.
    then
        What is made of the rows and items of a part, where they were found; the items by default.
    at_once
        Coordinates of the points that a part finds, but a part has at least 256 rows.
    client
        A ``dask.distributed.Client``, whose workers search.

    Examples
    --------
    >>> items = np.array([[0.0], [1.0], [5.0]])
    >>> [(rows, found)] = nearest_points(Search(items), np.array([[4.0]]), 2)
    >>> rows, np.sort(found)
    (array([0]), array([[1, 2]]))
    """
    order = along_tree(queries)
    step = max(256, at_once // (count * max(1, queries.shape[1])))
    parts = spans(slice(0, len(queries)), step)
    crew = Crew(Asked(search, queries, order, min(count, len(search.items)), then), search.crew, client)
    for part, found in crew.each(_found, parts, "neighbors", size=lambda part: part.stop - part.start, unit="course"):
        yield order[part], found


@dataclass(frozen=True, eq=False)
class Asked:
    """All that the nearest to a part of the queries depend on."""

    search: Search
    queries: Floats
    order: Ints
    count: int
    then: Then | None


def _found(asked: Asked, part: slice) -> Any:
    rows = asked.order[part]
    found = asked.search.find(asked.queries[rows], asked.count)
    return found if asked.then is None else asked.then(rows, found)


class Search:
    """The fastest finder for some items, made where and when it is first needed: exact, unless `approximate`."""

    def __init__(self, items: Floats, threads: int | None = None, *, approximate: bool = False) -> None:
        self.items, self.approximate = items, approximate
        # Measured: in so many dimensions a tree visits so much of itself that comparing with everything is faster.
        few = len(items) <= LEAF or resolved_dimensions(items) <= 2 / 3 * np.log2(len(items))
        self.by_tree = few and not approximate
        self.threads = thread_count(threads)
        self._lock = Lock()
        self._finder: Finder | None = None

    @property
    def crew(self) -> int:
        """Threads that search side by side; other finders than a tree share out their own work."""
        return self.threads if self.by_tree else 1

    def find(self, queries: Floats, count: int) -> Ints:
        """For each query so many of the nearest items."""
        with self._lock:
            if self._finder is None:
                self._finder = self._made()
            find = self._finder
        return find(queries, count)

    def _made(self) -> Finder:
        if self.by_tree:
            return tree_finder(self.items)
        return (cell_finder if self.approximate else brute_finder)(self.items, self.threads)

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"threads": 1, "_lock": None, "_finder": None}  # a worker has as many as it runs tasks

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=Lock())


def resolved_dimensions(items: Floats) -> int:
    """The number of directions in which the points are spread by more than the distance between neighbours.

    That distance is what is left for each direction when the volume of the cloud is shared among its points.

    Examples
    --------
    >>> points = np.random.default_rng(0).standard_normal((1000, 3)) * [10, 1, 0.001]
    >>> resolved_dimensions(points)
    2
    """
    sample = _sample(items)
    variances = np.linalg.eigvalsh(sample.T @ sample / len(sample))[::-1]
    spread = np.log(variances[variances > 0]) / 2
    if not len(spread):
        return 0
    distance = (np.cumsum(spread) - np.log(len(items))) / np.arange(1, len(spread) + 1)
    return int((spread > distance).sum())


def along_tree(points: Floats) -> Ints:
    """An order of the points in which those near each other in space are near each other in the order."""
    from scipy.spatial import cKDTree

    return np.asarray(cKDTree(points, leafsize=LEAF, balanced_tree=False, compact_nodes=False).indices, dtype=np.intp)


# -- exact ---------------------------------------------------------------------------------------------------


def tree_finder(items: Floats) -> Finder:
    """Finds with SciPy's k-d tree: best where the points spread in few directions."""
    from scipy.spatial import cKDTree

    axes = principal_axes(items)
    points = items @ axes
    order = along_tree(points)
    tree = cKDTree(points[order], leafsize=LEAF)  # a leaf then lies in one piece of memory

    def find(queries: Floats, count: int) -> Ints:
        _, found = tree.query(queries @ axes, k=np.arange(1, count + 1))
        return order[found]

    return find


def principal_axes(items: Floats) -> Floats:
    """The rotation that turns the directions of largest spread into coordinates: a tree cuts along these."""
    sample = _sample(items)
    return np.linalg.eigh(sample.T @ sample)[1][:, ::-1]


def _sample(items: Floats) -> Floats:
    """Up to 100,000 or so of the points, around their mean."""
    sample = items[:: max(1, len(items) // 100_000)]
    return sample - sample.mean(axis=0)


def brute_finder(items: Floats, workers: int) -> Finder:
    """Finds by comparing with every item, as matrix products: best in many dimensions.

    Squared distances from a product lose digits where points lie far out. A query for which these digits could
    matter is answered again from differences.
    """
    from sklearn.neighbors import NearestNeighbors
    from threadpoolctl import threadpool_limits

    centre = items.mean(axis=0)
    here = items - centre
    index = NearestNeighbors(algorithm="brute", metric="sqeuclidean").fit(here)
    largest = float(np.einsum("ia,ia->i", here, here).max())

    def find(queries: Floats, count: int) -> Ints:
        there = queries - centre
        more = min(count + SPARE, len(here))
        with threadpool_limits(workers):
            squares, found = index.kneighbors(there, more)
        difference = here[found] - there[:, None]
        exact = np.einsum("ija,ija->ij", difference, difference)
        order = np.argsort(exact, axis=1)[:, :count]
        lost = ROUNDING * here.shape[1] * (np.einsum("ia,ia->i", there, there) + largest)
        doubtful = squares[:, -1] - lost <= np.take_along_axis(exact, order, axis=1)[:, -1]
        result = np.take_along_axis(found, order, axis=1)
        return result if more == len(here) else _again(result, np.flatnonzero(doubtful), there, here)

    return find


def _again(result: Ints, rows: Ints, queries: Floats, items: Floats) -> Ints:
    """The result, with these rows found from differences."""
    from scipy.spatial.distance import cdist

    count = result.shape[1]
    for row in rows:
        squares = cdist(queries[row : row + 1], items, "sqeuclidean")[0]
        result[row] = np.argpartition(squares, count - 1)[:count]
    return result


# -- approximate ------------------------------------------------------------------------------------------------


def cell_finder(items: Floats, workers: int, cells_asked: int = CELLS_ASKED) -> Finder:
    """Finds in the cells nearest to the query alone (FAISS, inverted lists and a graph of them); may miss some."""
    from threadpoolctl import threadpool_limits

    faiss = checks.optional(
        "faiss", "approximate", "the approximate search needs FAISS", ", or leave out approximate=True"
    )
    cells = int(max(1, min(4 * np.sqrt(len(items)), len(items) / 40)))
    index = faiss.index_factory(items.shape[1], f"IVF{cells}_HNSW16,Flat")
    index.cp.niter, index.cp.max_points_per_centroid, index.cp.min_points_per_centroid = 10, 64, 1
    index.nprobe = min(cells_asked, cells)
    with threadpool_limits(workers):
        index.train(_single(items[:: max(1, len(items) // (64 * cells))]))
        for start in range(0, len(items), 1_000_000):
            index.add(_single(items[start : start + 1_000_000]))

    def find(queries: Floats, count: int) -> Ints:
        with threadpool_limits(workers):
            _, found = index.search(_single(queries), count)
        return np.asarray(found, dtype=np.intp)

    return find


def _single(points: Floats) -> Any:
    return np.ascontiguousarray(points, dtype=np.float32)
