"""Similarities as distances and as probabilities, for programs that cannot take a number below zero."""

from __future__ import annotations

import numpy as np

from timelike.base.arrays import Floats


def as_distance(scores: Floats) -> Floats:
    """Distances above zero: ``1 / (1 + s)`` where s is above zero, ``1 - s`` below.

    It falls as s rises, smoothly and without end, so no two courses change places. At 1, one curve and two curves
    explain a pair equally well. Unlike the paper's ``1 + max - S`` it does not depend on the most similar pair, so
    distances of different sets of courses, training and new ones for instance, can be compared.

    Examples
    --------
    >>> as_distance(np.array([9.0, 1.0, 0.0, -1.0, -9.0]))
    array([ 0.1,  0.5,  1. ,  2. , 10. ])
    """
    return np.where(scores > 0, 1 / (1 + np.maximum(scores, 0)), 1 - scores)


def as_probability(scores: Floats) -> Floats:
    """Probabilities that one curve explains a pair, if before looking it was as likely as not: ``1 / (1 + exp(-s))``.

    Examples
    --------
    >>> as_probability(np.array([5.0, 0.0, -800.0])).round(3)
    array([0.993, 0.5  , 0.   ])
    """
    from scipy.special import expit

    return np.asarray(expit(scores))
