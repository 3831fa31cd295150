"""stability: whether the same clusters come out of other courses; every number of clusters, sought in two halves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from timelike.base import checks
from timelike.base.arrays import Ints
from timelike.clusters.curves.curve_clustering import CurveClustering
from timelike.clusters.curves.granularity import groups
from timelike.clusters.curves.mixture import mixture
from timelike.exceptions import DataWarning, InputError, hushed

if TYPE_CHECKING:
    import pandas as pd

LEAST = 12
"""Fewer courses have no halves worth clustering."""
MOST = 2000
"""Halves are taken of so many courses, drawn at random."""


def stability(found: CurveClustering, *, pairs: int = 3, seed: int = 0) -> pd.DataFrame:
    """How much clusterings of two overlapping halves of the courses agree, for each number of clusters.

    Halves that share half of their courses are clustered from scratch, under the model of the result, and merged to
    every number of clusters. The adjusted Rand index over the courses that both have says how much they agree: 1
    wholly, 0 no more than by chance. Of many courses, 2,000 are drawn first.

    Parameters
    ----------
    found
        From :func:`timelike.mixture`.
    pairs
        Pairs of halves.
    seed
        For drawing them.

    Returns
    -------
    DataFrame
        ``k``, from 2 to the number of the finest clusters; ``agreement``, the mean over pairs of halves; ``low`` and
        ``high``, the smallest and the largest. Halves that do not support so many clusters count with their finest.

    Examples
    --------
    >>> import timelike as tl
    >>> courses, _ = tl.simulate.profiles(seed=1)
    >>> stability(tl.mixture(courses, tl.fit(courses)))["k"].tolist()
    [2, 3]
    """
    import pandas as pd
    from sklearn.metrics import adjusted_rand_score

    checks.instance(found, CurveClustering, "found")
    checks.whole(pairs, "pairs")
    if len(found.names) < LEAST:
        raise InputError(f"there are {len(found.names)} courses: halves of fewer than {LEAST} say nothing.")
    ks, scores = range(2, (found.finest or found).k + 1), []
    for one, other in _halves(found, pairs, seed):
        scores.append([adjusted_rand_score(one[min(k, max(one))], other[min(k, max(other))]) for k in ks])
    each = np.array(scores).reshape(pairs, -1)
    known = {"agreement": each.mean(axis=0), "low": each.min(axis=0), "high": each.max(axis=0)}
    return pd.DataFrame({"k": list(ks)} | known)


def _halves(found: CurveClustering, pairs: int, seed: int) -> Iterator[tuple[dict[int, Ints], dict[int, Ints]]]:
    """For both halves of each pair the labels of the courses that they share, by number of clusters."""
    for pair in range(pairs):
        order = np.random.default_rng([seed, pair]).permutation(len(found.names))[:MOST]
        half, quarter = len(order) // 2, len(order) // 4
        one, other = order[:half], order[quarter : quarter + half]
        shared = np.intersect1d(one, other)
        yield _labels(found, np.sort(one), shared), _labels(found, np.sort(other), shared)


def _labels(found: CurveClustering, half: Ints, shared: Ints) -> dict[int, Ints]:
    """The clusters of shared courses that come out of a half, for each number of clusters from one on."""
    free, delays = found.free, found.free.delays
    settings: dict[str, Any] = {
        "spread": None if found.learned else found.spread,
        "noise": "common" if len(found.noise) == 1 else "auto",
        "up_to": free.names,
        "max_delay": 2 * delays[-1] if len(delays) > 1 and free.period is None else None,
    }
    with hushed(DataWarning):
        fine = mixture(found.courses.select(half), found.gp, robust=False, refine=False, tolerance=0, **settings)
    nearest = fine.nearest[np.searchsorted(half, shared)]
    return {k: groups(fine.tree, k)[nearest] for k in range(1, fine.k + 1)}
