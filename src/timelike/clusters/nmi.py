"""nmi: how far two clusterings agree."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from timelike.exceptions import InputError


def nmi(labels_a: Any, labels_b: Any) -> float:
    """Normalised mutual information of two clusterings, 0 (unrelated) to 1 (the same).

    The mutual information is divided by the geometric mean of the two entropies, as in the paper.

    Parameters
    ----------
    labels_a, labels_b
        A :class:`~timelike.clusters.clustering.Clustering`, or one label (number or text) for each course.

    Examples
    --------
    >>> nmi([0, 0, 1, 1], ["b", "b", "a", "a"])
    1.0
    >>> round(nmi([0, 0, 1, 1], [0, 0, 1, 2]), 4)
    0.8165
    """
    from sklearn.metrics import normalized_mutual_info_score

    a, b = _labels(labels_a), _labels(labels_b)
    if len(a) != len(b):
        raise InputError(f"{len(a)} labels cannot be compared with {len(b)}: give both for the same courses.")
    return float(normalized_mutual_info_score(a, b, average_method="geometric"))


def _labels(clustering_or_labels: Any) -> NDArray[Any]:
    labels = np.asarray(getattr(clustering_or_labels, "labels", clustering_or_labels))
    if labels.ndim != 1 or len(labels) == 0:
        raise InputError(f"labels have shape {labels.shape}: expected one label for each course.")
    return labels
