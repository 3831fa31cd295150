"""neighbors: the k courses most similar to each course, without the matrix of all pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from timelike.base import checks, notebook
from timelike.base.arrays import Bools, Floats, Ints
from timelike.base.blas import one_thread_below
from timelike.base.dask_workers import check_client
from timelike.courses import TimeCourses
from timelike.exceptions import InputError
from timelike.gp import GP
from timelike.gp.freedom import freedom
from timelike.pairs.aligned.compared import compared
from timelike.pairs.aligned.posterior import Told
from timelike.pairs.aligned.route import AlignedRoute, route_of
from timelike.pairs.nearest.best import Best, Task, by_tiles
from timelike.pairs.nearest.by_candidates import by_candidates
from timelike.pairs.nearest.by_nodes import by_nodes
from timelike.pairs.nearest.by_prediction import by_prediction
from timelike.pairs.nearest.graph import directed_graph, nearest_graph, pruned_graph
from timelike.pairs.sure import About, check_rate, listed, unknown

if TYPE_CHECKING:
    import pandas as pd
    from scipy.sparse import csr_array

ITEMS_A_DESIGN = 1000
"""Designs are searched pair by pair when each has, on average, at least so many items; fewer are faster as tiles."""
AFFORDABLE = {"grid": 1e10, "grids": 1e10, "information": 4e8, "dense": 4e6}
"""Pairs that are all computed, by the route of a pair, before candidates are searched: some minutes of work."""
SAMPLE = 100
"""Courses on which the recall of a search that may miss some is measured."""


@dataclass(frozen=True, eq=False)
class Neighbors:
    """The k most similar courses of each course.

    Attributes
    ----------
    indices : (N, k)
        Positions among the items, best first. A course is not its own neighbour. Those found with equal scores are
        in the order of the courses; where more are equal than fit, which of them are found is not specified.
    scores : (N, k)
        The exact similarity s of each, descending.
    names : tuple of str
        The courses asked about.
    others : tuple of str or None
        The items where they are other courses; None when they are those of `names`.
    route : str
        How they were found: "grid" or "grids" (nearest points), "tiles" (all pairs) are exact; "candidates" and
        "approximate" may miss some.
    recall : float
        Fraction of the true k nearest that were found: 1 for an exact search, otherwise measured against all pairs
        on a sample of 100 courses.
    delay, delay_low, delay_high : (N, k) or None
        How much later each neighbour comes, in the unit of the times, if one curve explains both: the mean, and the
        bounds between which it lies with a probability of 90 %. Where delays were asked for.
    gain, gain_low, gain_high : (N, k) or None
        How many times as large each neighbour is, likewise.
    """

    indices: Ints
    scores: Floats
    names: tuple[str, ...]
    others: tuple[str, ...] | None = None
    route: str = ""
    recall: float = 1.0
    delay: Floats | None = None
    delay_low: Floats | None = None
    delay_high: Floats | None = None
    gain: Floats | None = None
    gain_low: Floats | None = None
    gain_high: Floats | None = None
    about: About | None = field(default=None, repr=False)
    """The courses and the model, where they are known: not where neighbours were read from a file."""

    def __repr__(self) -> str:
        count, k = self.indices.shape
        exact = "exact" if self.route in EXACT else f"recall {self.recall:.3f} on a sample"
        return f"Neighbors: {k} of each of {checks.counted(count, 'course')} ({self.route}, {exact})"

    def _repr_html_(self) -> str:
        return notebook.neighbors(self)

    @cached_property
    def probabilities(self) -> Floats:
        """The probability that one curve explains a course and its neighbour, (N, k).

        Learned when it is first asked for, as :meth:`timelike.Similarity.probabilities` does it.
        """
        if self.about is None:
            raise unknown("what was read from a file")
        rows = np.repeat(np.arange(len(self.indices))[:, None], self.indices.shape[1], axis=1)
        return self.about.pairs(rows, self.indices)

    def surest(self, fdr: float) -> Bools:
        """Which neighbours are on the longest list with at most this expected share of false ones, (N, k).

        A pair that are neighbours of each other counts once.
        """
        check_rate(fdr)
        rows, cols = np.arange(len(self.indices))[:, None], self.indices
        if self.others is None:
            rows, cols = np.minimum(rows, cols), np.maximum(rows, cols)
        key = rows * len(self.names if self.others is None else self.others) + cols
        _, once, inverse = np.unique(key, return_index=True, return_inverse=True)
        kept = listed(self.probabilities.ravel()[once], fdr)[0]
        return kept[inverse.reshape(key.shape)]

    def graph(self, fdr: float | None = None) -> csr_array:
        """The courses joined to their neighbours: ones, no diagonal.

        Among the courses themselves, (N, N) and symmetric: an edge holds if either end has it, as in the paper.
        Against others, (N, M): row i has a one for each neighbour of course i. With `fdr`, only the surest edges, of
        which so large a share is expected to join courses that share no curve, for instance 0.05.
        """
        from scipy.sparse import csr_array

        if fdr is not None:
            rows, place = np.nonzero(self.surest(fdr))
            among = None if self.others is None else len(self.others)
            return pruned_graph(rows, self.indices[rows, place], len(self.names), among)
        if self.others is None:
            return nearest_graph(self.indices)
        directed = directed_graph(self.indices, np.ones(self.indices.shape), len(self.others))
        directed.sort_indices()
        return csr_array(directed)

    def to_frame(self) -> pd.DataFrame:
        """Tidy table with columns course, rank (from 1), neighbor, score; delay and gain with bounds where asked."""
        import pandas as pd

        count, k = self.indices.shape
        items = np.array(self.names if self.others is None else self.others, dtype=object)
        known = {
            "course": np.repeat(np.array(self.names, dtype=object), k),
            "rank": np.tile(np.arange(1, k + 1), count),
            "neighbor": items[self.indices.ravel()],
            "score": self.scores.ravel(),
        }
        moved = {name: getattr(self, name) for name in MOVED}
        return pd.DataFrame(known | {name: part.ravel() for name, part in moved.items() if part is not None})


EXACT = ("grid", "grids", "tiles")
MOVED = ("delay", "delay_low", "delay_high", "gain", "gain_low", "gain_high")
"""What is known about neighbours that may be later or larger."""


def neighbors(
    courses: TimeCourses,
    gp: GP,
    k: int = 7,
    *,
    others: TimeCourses | None = None,
    up_to: Sequence[str] | str = (),
    max_delay: float | None = None,
    approximate: bool | None = None,
    threads: int | None = None,
    client: Any = None,
) -> Neighbors:
    """The `k` courses most similar to each course, with their similarity; the matrix of all pairs is never formed.

    Courses on one grid, or on a few, are searched exactly: the courses most like i are those that predict it best,
    and these are the nearest points in a space of a few dimensions. Where courses have their own times all pairs are
    computed, a tile at a time, up to about 20,000 courses (100,000 where 80 or more share a grid, 2,000 where the
    kernel is rough); for more, candidates are taken from the posterior means and ranked by their exact similarity.
    The result says which it was, and what fraction of the true neighbours a search with candidates found.

    With `up_to`, all pairs are computed while pairs times nodes of delays and gains are affordable; beyond that,
    candidates are the nearest at each node.

    Parameters
    ----------
    courses
    gp
        From :func:`timelike.fit`, or given.
    k
        Number of neighbours.
    others
        Look for neighbours among these instead of among `courses`: new courses against stored ones.
    up_to, max_delay
        In what courses may differ and still be alike, as :func:`timelike.similarity` has them. The result then has the
        delays and gains of neighbours with intervals.
    approximate
        False: exact, however long it takes. True: where courses share grids, an approximate index (FAISS, the extra
        ``approximate``), for curves of many dimensions; where they have their own times, candidates for any number
        of courses. None: as described above.
    threads
        Number of threads; by default all that this process may use.
    client
        A ``dask.distributed.Client``: its workers search instead of threads of this process.

    Examples
    --------
    >>> import timelike as tl
    >>> courses, labels = tl.simulate.profiles(seed=1)
    >>> found = neighbors(courses, tl.fit(courses), k=3)
    >>> found
    Neighbors: 3 of each of 150 courses (grid, exact)
    >>> bool((labels[found.indices[0]] == labels[0]).all())       # all of the same profile
    True

    Pulses that come earlier or later:

    >>> courses, _ = tl.simulate.delayed(seed=1)
    >>> found = neighbors(courses, tl.GP.se(0.2, 0.5, 0.1), k=3, up_to="delay", max_delay=0.4)
    >>> found.to_frame().columns[4:].tolist()
    ['delay', 'delay_low', 'delay_high']
    """
    task = _task(courses, gp, k, others, threads)
    both = task.here.courses
    if client is not None:
        check_client(client)
    task = replace(task, here=gp.at(both, freedom(both, gp, up_to, max_delay)), client=client)
    best = Best(task.asked, task.k)
    with one_thread_below():  # products of small matrices; the searches share out their work themselves
        name = plan(task, approximate)
        _search(task, best, name)
    recall = 1.0
    if name not in EXACT:
        complete(task, best)
        recall = recall_of(task, best)
    items = None if others is None else others.names
    about = About(courses, gp, others, up_to, max_delay)
    found = Neighbors(best.indices - task.first, best.scores, courses.names, items, name, recall, about=about)
    return _moved(found, told_of(task, best.indices))


def told_of(task: Task, indices: Ints) -> Told:
    """What is known about the delays and gains of pairs of courses and items (N, k), each (N k,)."""
    way = task.here.once(route_of)
    if not isinstance(way, AlignedRoute) or len(way.nodes) == 1:
        return Told(None, None, None)
    rows, cols = np.repeat(np.arange(len(indices)), indices.shape[1]), indices.ravel()
    return compared(way, rows, cols).told


def _moved(found: Neighbors, known: Told) -> Neighbors:
    """Neighbours with what is known about their delays and gains."""
    spreads = [*(known.delay or (None,) * 3), *(known.gain or (None,) * 3)]
    shaped: dict[str, Any] = {
        name: None if part is None else part.reshape(found.indices.shape)
        for name, part in zip(MOVED, spreads, strict=True)
    }
    return replace(found, **shaped)


def _task(courses: TimeCourses, gp: GP, k: int, others: TimeCourses | None, threads: int | None) -> Task:
    checks.instance(courses, TimeCourses, "courses")
    checks.instance(gp, GP, "gp")
    if others is not None:
        checks.instance(others, TimeCourses, "others")
    most = len(courses) - 1 if others is None else len(others)
    if most == 0:
        raise InputError("there is only one course: it has no neighbours; give others=, or more courses.")
    checks.whole(k, "k", 1, most, "other courses" if others is None else "courses in others")
    both = courses if others is None else courses.joined(others)
    return Task(gp.at(both), len(courses), 0 if others is None else len(courses), int(k), threads)


def plan(task: Task, approximate: bool | None, affordable: Mapping[str, float] = AFFORDABLE) -> str:
    """How to search, in the word that the result has for it."""
    if task.here.free:
        return _plan_with_nodes(task, approximate, affordable)
    designs, items = len(task.here.courses.designs), len(task.here.courses) - task.first
    if designs == 1 or items >= ITEMS_A_DESIGN * designs:
        return "approximate" if approximate else "grid" if designs == 1 else "grids"
    if approximate is None:
        approximate = task.asked * items > affordable[task.here.once(route_of).name]
    return "candidates" if approximate else "tiles"


def _plan_with_nodes(task: Task, approximate: bool | None, affordable: Mapping[str, float]) -> str:
    way, items = task.here.once(route_of), len(task.here.courses) - task.first
    if approximate is None:
        approximate = task.asked * items * len(task.here.free) > affordable[way.name]
    return "candidates" if approximate and way.name != "dense" else "tiles"


def _search(task: Task, best: Best, name: str) -> None:
    """Fill `best` as planned."""
    way = task.here.once(route_of) if task.here.free else None
    if name == "candidates" and isinstance(way, AlignedRoute):
        by_nodes(task, best, way)
    elif name == "tiles":
        by_tiles(task, best, task.here.once(route_of))
    elif name == "candidates":
        by_candidates(task, best, task.here.once(route_of))
    else:
        by_prediction(task, best, approximate=name == "approximate")


def complete(task: Task, best: Best) -> None:
    """Compare courses for which a search found fewer than k items with all items."""
    incomplete = best.forget_incomplete()
    if len(incomplete):
        by_tiles(task, best, task.here.once(route_of), incomplete)


def recall_of(task: Task, best: Best) -> float:
    """Fraction of the true neighbours in `best`, on a sample of courses; equal scores are equally good."""
    sample = np.random.default_rng(0).permutation(task.asked)[:SAMPLE]
    exact = Best(task.asked, task.k)
    by_tiles(task, exact, task.here.once(route_of), sample)
    least = exact.scores[sample, -1:]
    return float((best.scores[sample] >= least - 1e-9 * np.abs(least)).mean())
