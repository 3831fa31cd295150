"""explain: where along time the evidence for or against one curve comes from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from timelike.base import checks, notebook
from timelike.base.arrays import Floats
from timelike.base.blas import one_thread_below
from timelike.courses import TimeCourses
from timelike.exceptions import InputError
from timelike.gp import GP
from timelike.gp.freedom import Freedom, freedom
from timelike.gp.modelled import Modelled
from timelike.pairs.aligned.nodes import PairNodes, finer
from timelike.pairs.aligned.pair import pair_logs
from timelike.pairs.aligned.sums import node_sum
from timelike.pairs.routes import Measured, measured

if TYPE_CHECKING:
    import pandas as pd

NEVER = 1e-12
"""Nodes less likely than this are not explained."""


@dataclass(frozen=True, eq=False)
class Explanation:
    """What each measured value adds to, or takes from, the similarity of two courses.

    Attributes
    ----------
    pair : TimeCourses
        The two courses.
    gp : GP
    contributions : tuple of two arrays
        For each course, one number a value, in the order of its times; all of them add up to `similarity` plus `price`.
    similarity : float
    price : float
        What the freedoms of the pair cost: how much is lost because gain and delay were not known beforehand. Zero
        without freedoms.
    """

    pair: TimeCourses
    gp: GP
    contributions: tuple[Floats, Floats]
    similarity: float
    price: float = 0.0

    def __repr__(self) -> str:
        first, second = self.pair.names
        return f"Explanation: s({first}, {second}) = {self.similarity:.4g} from {len(self.pair.values)} values"

    def _repr_html_(self) -> str:
        return notebook.explanation(self)

    @property
    def verdict(self) -> str:
        """What the similarity says, in words."""
        return verdict(self.similarity)

    def to_frame(self) -> pd.DataFrame:
        """Tidy table with columns course, time, value and contribution."""
        return self.pair.to_frame().assign(contribution=np.concatenate(self.contributions))


def verdict(similarity: float) -> str:
    """What a similarity says, in words."""
    return "one curve explains both better" if similarity > 0 else "two curves explain them better"


@one_thread_below()
def explain(
    courses: TimeCourses,
    gp: GP,
    first: str | int,
    second: str | int,
    *,
    up_to: Sequence[str] | str = (),
    max_delay: float | None = None,
) -> Explanation:
    """How much each measured value of two courses adds to their similarity.

    By the chain rule ``s = sum_k log p(y_k | earlier values, the other course) - log p(y_k | earlier values)``: the
    gain in predicting each next value from knowing the other course. The sum is the same whichever course is
    predicted from the other, so the two readings are averaged and every value of both gets its share.

    With `up_to`, these gains are averaged over how much later and larger the second course may be, and what is left is
    the price of not knowing it.

    Parameters
    ----------
    courses, gp
    first, second
        Names or positions.
    up_to, max_delay
        In what the two may differ and still be alike, as :func:`timelike.similarity` has them.

    Examples
    --------
    >>> import timelike as tl
    >>> courses, _ = tl.simulate.profiles(seed=1)
    >>> gp = tl.fit(courses)
    >>> why = tl.explain(courses, gp, "A01", "C01")
    >>> bool(abs(why.to_frame()["contribution"].sum() - why.similarity) < 1e-9)
    True
    """
    checks.instance(courses, TimeCourses, "courses")
    checks.instance(gp, GP, "gp")
    i, j = (position(courses, which) for which in (first, second))
    pair = courses.select([i]).joined(courses.select([j]))
    free = freedom(courses, gp, up_to, max_delay)
    if free:
        return _with_freedom(pair, gp, free, finer(courses, gp, free))
    here = gp.at(pair)  # held while both are computed
    one, two = gains(here, given=1), gains(here, given=0)
    return Explanation(pair, gp, (one / 2, two / 2), float((one.sum() + two.sum()) / 2))


def position(courses: TimeCourses, which: str | int) -> int:
    """Where a course is; a number that is also the name of another course could mean either."""
    at = courses.index(which)
    if not isinstance(which, str) and str(which) in courses and courses.names[at] != str(which):
        raise InputError(
            f"{which} is a position and also the name of another course: give {str(which)!r} for the name."
        )
    return at


def gains(here: Modelled, given: int) -> Floats:
    """Gain in predicting each next value of one of two courses from knowing the other, number `given`."""
    known, asked = (measured(here, i) for i in (given, 1 - given))
    points, residual, noise = (np.concatenate(parts) for parts in zip(known, asked, strict=True))
    C, n = here.gp.covariance(points) + np.diag(noise), len(known.residual)
    return next_value_densities(C, residual)[n:] - next_value_densities(C[n:, n:], residual[n:])


def next_value_densities(C: Floats, residual: Floats) -> Floats:
    """``log p(y_k | y_1, ..., y_k-1)`` for each k, up to the constant in pi: the rows of the Cholesky factor.

    Of one matrix, or of a stack of them.
    """
    lower = np.linalg.cholesky(C)
    solved = np.linalg.solve(lower, np.broadcast_to(residual[:, None], (*C.shape[:-1], 1)))[..., 0]
    return -(solved**2) / 2 - np.log(np.diagonal(lower, axis1=-2, axis2=-1))


# -- with freedoms ------------------------------------------------------------------------------------------------


def _with_freedom(pair: TimeCourses, gp: GP, free: Freedom, spacing: tuple[int, int]) -> Explanation:
    """Contributions averaged over the nodes, by how likely these are: ``s = sum q s_node - price``."""
    nodes = PairNodes.of(free, spacing)
    here = gp.at(pair, free)
    with one_thread_below():  # many small matrices
        logs = pair_logs(here, nodes)
        likely = np.exp(logs - np.logaddexp.reduce(logs))
        similarity = float(node_sum(nodes, logs[:, None])[0])
        kept = np.flatnonzero(likely > NEVER)
        one, two = (likely[kept] @ _gains_at(here, nodes.some(kept), given) / 2 for given in (1, 0))
    return Explanation(pair, gp, (one, two), similarity, float(one.sum() + two.sum()) - similarity)


def _gains_at(here: Modelled, nodes: PairNodes, given: int) -> Floats:
    """As :func:`gains`, at each node, (T, n).

    Where a level is free, a first value says nothing, and each next one what its difference to the last one says.
    """
    order = (given, 1 - given)
    courses = [measured(here, i) for i in order]
    n, m = (len(one.residual) for one in courses)
    residual = np.concatenate([one.residual for one in courses])
    C = _covariances(here, nodes, order, courses)
    if here.free.level:
        change = np.delete(np.eye(n + m) - np.eye(n + m, k=-1), [0, n], axis=0)
        C, residual, n = change @ C @ change.T, change @ residual, n - 1
    found = next_value_densities(C, residual)[:, n:] - next_value_densities(C[:, n:, n:], residual[n:])
    return np.pad(found, ((0, 0), (m - found.shape[1], 0)))


def _covariances(here: Modelled, nodes: PairNodes, order: tuple[int, int], courses: list[Measured]) -> Floats:
    """Covariance of the values of two courses at each node, (T, n, n)."""
    of = np.repeat([0, 1], [len(one.residual) for one in courses])
    points, noise = (np.concatenate(part) for part in zip(*((one.points, one.noise) for one in courses), strict=True))
    places = np.array(here.free.delays)[np.stack([(nodes.first, nodes.second)[i] for i in order], axis=1)]
    scales = np.stack([nodes.gains[i] for i in order], axis=1)
    moved = zip(places[:, of], scales[:, of], strict=True)
    return np.stack([np.outer(g, g) * here.gp.covariance(points - h[:, None]) + np.diag(noise) for h, g in moved])
