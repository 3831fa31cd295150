"""distance: the measures that the paper compares with, in the same shape as the similarity."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from timelike.base import checks
from timelike.base.arrays import Floats, Ints
from timelike.base.threads import run_tiles
from timelike.base.tiles import Tile, upper_tiles
from timelike.courses import TimeCourses
from timelike.exceptions import InputError
from timelike.gp import GP

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Distance:
    """Distances of all pairs of courses.

    Attributes
    ----------
    values : (N, N)
        Symmetric, with a zero diagonal.
    names : tuple of str
    measure : str
    """

    values: Floats
    names: tuple[str, ...]
    measure: str

    def __repr__(self) -> str:
        return f"Distance: {len(self.names):,} x {len(self.names):,}, {self.measure}"

    def to_frame(self) -> pd.DataFrame:
        """The values with names on rows and columns."""
        import pandas as pd

        return pd.DataFrame(self.values, index=list(self.names), columns=list(self.names))

    def dissimilarity(self) -> Floats:
        """The values, under the name that a :class:`~timelike.pairs.similarity.Similarity` has for them."""
        return self.values


def distance(courses: TimeCourses, measure: str, gp: GP | None = None) -> Distance:
    """The distance of every pair of courses, by one of the measures that the paper compares with.

    Parameters
    ----------
    courses
    measure
        - ``"euclidean"``: root of the summed squared differences. Needs a shared grid.
        - ``"correlation"``: one minus Pearson's correlation, 0 to 2. Needs a shared grid.
        - ``"dtw"``: dynamic time warping, root of the summed squared differences along the best path, so
          never above Euclidean. Needs the extra ``baselines``.
        - ``"dtw-absolute"``: the same with summed absolute differences. This is what MATLAB's ``dtw`` computes,
          hence what the paper's figures show.
        - ``"edr"``: edit distance on real sequences, the least number of insertions, deletions and
          replacements, divided by the length of the longer course, 0 to 1. Two values match when they differ
          by at most a quarter of the larger of the two courses' standard deviations.
        - ``"bregman"``: squared norm, in the kernel's Hilbert space, of the difference of the two posterior
          mean curves. Needs `gp`.

        The two forms of ``dtw`` and ``edr`` use the order of the values, but not when they were measured.
    gp
        The model, for ``"bregman"``.

    Examples
    --------
    >>> import timelike as tl
    >>> courses = tl.TimeCourses.from_arrays([0, 1, 2], [[0, 0, 3], [0, 3, 3], [4, 4, 3]])
    >>> distance(courses, "euclidean").values
    array([[0.        , 3.        , 5.65685425],
           [3.        , 0.        , 4.12310563],
           [5.65685425, 4.12310563, 0.        ]])
    """
    checks.instance(courses, TimeCourses, "courses")
    if not isinstance(measure, str) or measure not in MEASURES:
        raise InputError(f"there is no measure {measure!r}: choose from {', '.join(MEASURES)}.")
    return Distance(MEASURES[measure](courses, gp), courses.names, measure)


def _correlation(courses: TimeCourses) -> Floats:
    rows = _on_shared_grid(courses, "correlation")
    flat = np.flatnonzero(np.ptp(rows, axis=1) <= 1e-12 * np.abs(rows).max(axis=1))
    if len(flat):
        raise InputError(
            f"course {courses.names[flat[0]]!r} is constant{checks.and_more(len(flat))} and has no correlation. Leave "
            "such courses out, for instance with most_variable(n)."
        )
    return np.clip(_between_rows(rows, "correlation"), 0, 2)


def _edr(courses: TimeCourses) -> Floats:
    series = _series(courses, "edr")
    lengths = courses.sizes
    padded = np.full((len(series), int(lengths.max())), np.nan)
    padded[np.arange(padded.shape[1]) < lengths[:, None]] = courses.values
    spread = np.array([values.std() for values in series])
    result = np.empty((len(series), len(series)))

    def work(tile: Tile) -> None:
        i, j = tile
        tolerance = np.maximum(spread[i][:, None], spread[j]) / 4
        edits = _edits(padded[i], padded[j], lengths[i], lengths[j], tolerance)
        share = edits / np.maximum(lengths[i][:, None], lengths[j])
        result[i, j], result[j, i] = share, share.T

    run_tiles(work, upper_tiles(len(series), 128), None, "edr")
    return result


def _bregman(courses: TimeCourses, gp: GP | None) -> Floats:
    if gp is None:
        raise InputError("the Bregman divergence compares curves of a model: give gp=timelike.fit(courses).")
    checks.instance(gp, GP, "gp")
    # f = phi . w with w ~ N(0, I): the norm of a posterior mean in the kernel's space is the length of its w.
    return _between_rows(gp.at(courses).information.means(), "sqeuclidean")


MEASURES: dict[str, Callable[[TimeCourses, GP | None], Floats]] = {
    "euclidean": lambda courses, _: _between_rows(_on_shared_grid(courses, "euclidean"), "euclidean"),
    "correlation": lambda courses, _: _correlation(courses),
    "dtw": lambda courses, _: _warped(courses, "squared euclidean"),
    # Of two numbers: the absolute difference, summed without a root.
    "dtw-absolute": lambda courses, _: _warped(courses, "euclidean"),
    "edr": lambda courses, _: _edr(courses),
    "bregman": _bregman,
}
"""Every measure by its name."""


def _between_rows(rows: Floats, metric: str) -> Floats:
    from scipy.spatial.distance import pdist, squareform

    return np.asarray(squareform(pdist(rows, metric)))


def _on_shared_grid(courses: TimeCourses, measure: str) -> Floats:
    """Values of courses that were all measured at the same times, (N, t)."""
    if courses.grid is None:
        raise InputError(
            f"the {measure} measure compares values at the same times, and these courses have different ones. "
            "Use timelike.similarity, or the distance 'bregman', 'dtw' or 'edr'."
        )
    return courses.values.reshape(len(courses), -1)


def _series(courses: TimeCourses, measure: str) -> list[Floats]:
    """Values of each course, in the order of its times."""
    if courses.designs.points.shape[1] > 1:
        raise InputError(
            f"{measure} needs an order of the values; points with several coordinates have none. "
            "Use timelike.similarity, or the distance 'bregman'."
        )
    return np.split(courses.values, courses.starts[1:-1])


def _warped(courses: TimeCourses, inner: str) -> Floats:
    series = _series(courses, "dtw")
    checks.optional("dtaidistance", "baselines", "dynamic time warping needs the package dtaidistance")
    from dtaidistance import dtw

    compute = dtw.distance_matrix if dtw.dtw_cc is None else dtw.distance_matrix_fast
    # One thread: the library's own threads would multiply with those of a caller.
    return np.asarray(compute([np.array(s) for s in series], parallel=False, inner_dist=inner))


def _edits(x: Floats, y: Floats, x_lengths: Ints, y_lengths: Ints, tolerance: Floats) -> NDArray[np.int32]:
    """Edit distances of all rows of `x` to all rows of `y`, of which only the first ``lengths`` values count.

    ``D[a, b]``, for the first a values of one and the first b of the other, is the least of ``D[a-1, b-1]``
    (plus 1 unless they match), ``D[a-1, b] + 1`` and ``D[a, b-1] + 1``; ``D[a, 0] = a``, ``D[0, b] = b``. The
    loop runs over a and b, each step over all pairs.
    """
    shape = (len(x), len(y))
    above = [np.full(shape, b, dtype=np.int32) for b in range(y.shape[1] + 1)]
    result = np.zeros(shape, dtype=np.int32)
    for a in range(1, x.shape[1] + 1):
        row = [np.full(shape, a, dtype=np.int32)]
        for b in range(1, y.shape[1] + 1):
            differs = ~(np.abs(x[:, a - 1, None] - y[:, b - 1]) <= tolerance)
            row.append(np.minimum(np.minimum(above[b], row[b - 1]) + 1, above[b - 1] + differs))
        ends = np.flatnonzero(x_lengths == a)
        for b in np.unique(y_lengths):
            here = np.ix_(ends, np.flatnonzero(y_lengths == b))
            result[here] = row[b][here]
        above = row
    return result
