"""Prior odds, learned from all genes (or pairs) together; probabilities and false discovery rates that follow."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from timelike.base.arrays import Floats

STEPS = 500
STILL = 1e-6
"""A step that changes no share by more than this is the last."""
NULLS, OTHERS = 1.0, 0.1
"""Genes that the shares count beside those there are: without an effect, and with one of any kind; so few genes do not
decide everything, and many hardly notice."""


class Shares(NamedTuple):
    """How frequent hypotheses are among genes."""

    kinds: Floats
    """Of each kind of hypothesis, the first of which is "no effect", (P,)."""
    effects: Floats
    """Of each effect among genes that have one, (K,)."""


def learned(evidence: Floats, possible: Floats) -> Shares:
    """The most likely shares, by expectation and maximisation.

    Parameters
    ----------
    evidence : (n, P - 1, K)
        Log likelihood ratio of each kind and effect to "no effect".
    possible : (n, P - 1)
        Whether a gene can tell a kind from "no effect": not where a condition is missing. What it cannot tell is as
        frequent as among the others.
    """
    _, kinds, effects = evidence.shape
    top = np.maximum(evidence.max(axis=(1, 2)), 0)
    none = np.exp(-top)
    ratio = np.where(possible[:, :, None], np.exp(evidence - top[:, None, None]), none[:, None, None])
    shares = Shares(np.concatenate([[0.9], np.full(kinds, 0.1 / kinds)]), np.full(effects, 1 / effects))
    for _ in range(STEPS):
        with_kind = ratio @ shares.effects * shares.kinds[1:]
        total = none * shares.kinds[0] + with_kind.sum(axis=1)
        by_kind = np.concatenate(
            [[(none * shares.kinds[0] / total).sum() + NULLS], (with_kind / total[:, None]).sum(axis=0)]
        )
        by_kind[1:] += OTHERS / kinds
        weights = shares.kinds[1:] / total[:, None]
        by_effect = weights.ravel() @ ratio.reshape(-1, effects) * shares.effects + OTHERS / effects
        new = Shares(by_kind / by_kind.sum(), by_effect / by_effect.sum())
        moved = max(np.abs(new.kinds - shares.kinds).max(), np.abs(new.effects - shares.effects).max())
        shares = new
        if moved < STILL:
            break
    return shares


def running_fdr(probability: Floats) -> Floats:
    """Expected share of false ones among genes called down to each, from the surest on.

    Examples
    --------
    >>> running_fdr(np.array([0.5, 1.0, 0.9])).round(3)
    array([0.2 , 0.  , 0.05])
    """
    order = np.argsort(-probability, kind="stable")
    found = np.empty(len(probability))
    found[order] = np.cumsum(1 - probability[order]) / np.arange(1, len(order) + 1)
    return found
