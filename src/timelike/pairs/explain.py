"""explain: where along time the evidence for or against one curve comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from timelike.base import checks, notebook
from timelike.base.arrays import Floats
from timelike.courses import TimeCourses
from timelike.exceptions import InputError
from timelike.gp import GP
from timelike.gp.modelled import Modelled
from timelike.pairs.routes import measured

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Explanation:
    """What each measured value adds to, or takes from, the similarity of two courses.

    Attributes
    ----------
    pair : TimeCourses
        The two courses.
    gp : GP
    contributions : tuple of two arrays
        For each course, one number a value, in the order of its times; all of them add up to `similarity`.
    similarity : float
    """

    pair: TimeCourses
    gp: GP
    contributions: tuple[Floats, Floats]
    similarity: float

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


def explain(courses: TimeCourses, gp: GP, first: str | int, second: str | int) -> Explanation:
    """How much each measured value of two courses adds to their similarity.

    By the chain rule ``s = sum_k log p(y_k | earlier values, the other course) - log p(y_k | earlier values)``: the
    gain in predicting each next value from knowing the other course. The sum is the same whichever course is
    predicted from the other, so the two readings are averaged and every value of both gets its share.

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
    """``log p(y_k | y_1, ..., y_k-1)`` for each k, up to the constant in pi: the rows of the Cholesky factor."""
    lower = np.linalg.cholesky(C)
    solved = np.linalg.solve(lower, residual)
    return -(solved**2) / 2 - np.log(np.diag(lower))
