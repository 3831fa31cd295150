"""The questions' formulas, written down densely and slowly, one gene at a time. Imports nothing of timelike.

A gene has values y of some conditions at some times, with noise of covariance ``s diag(R)``; s is its own. Whatever the
free columns X span is of no interest: values are seen only through what is orthogonal to it (restricted likelihood).
"""

import numpy as np
from scipy.integrate import quad
from scipy.linalg import null_space
from scipy.special import gammaln

import oracle

# -- covariances and columns ------------------------------------------------------------------------------------------


def effect_covariance(weights, condition, K):
    """Of an effect: the curve of condition c is off by ``weights[c] @ effects``, each effect with covariance K."""
    W = np.asarray(weights, float)[condition]
    return (W @ W.T) * K


def levels(condition):
    """A free level of each condition, one column each."""
    return np.equal.outer(condition, np.unique(condition)).astype(float)


def any_curve(times):
    """A free value at each time, whatever the condition."""
    return np.equal.outer(times, np.unique(times)).astype(float)


def any_curves(times, condition):
    """A free value at each time of each condition."""
    cells = np.unique(np.stack([condition, times], axis=1), axis=0)
    return np.array([[float(c == a and t == b) for a, b in cells] for c, t in zip(condition, times, strict=True)])


# -- likelihood -------------------------------------------------------------------------------------------------------


def log_restricted(y, C, free):
    """log N(Z^T y; 0, Z^T C Z), the columns of Z orthonormal and orthogonal to the free ones."""
    Z = null_space(free.T) if free is not None else np.eye(len(y))
    return oracle.log_density(Z.T @ y, 0.0, Z.T @ C @ Z)


def log_ratio(y, R, s, K_effect, free=None, K_nuisance=0.0):
    """log N(y; 0, K_nuisance + K_effect + s R) - log N(y; 0, K_nuisance + s R), free columns projected out."""
    without = K_nuisance + s * np.diag(R)
    return log_restricted(y, without + K_effect, free) - log_restricted(y, without, free)


def log_prior(s, scale, freedom):
    """Density of log s, where s is scaled inverse chi-square: freedom x scale / chi-square with so much freedom."""
    half = freedom / 2
    return half * np.log(half * scale) - gammaln(half) - half * np.log(s) - half * scale / s


def log_integral(log_function, low=-40.0, high=40.0):
    """Logarithm of the integral of exp(log_function(u)) du, by quad around its peak."""
    coarse = np.linspace(low, high, 1601)
    logs = np.array([log_function(u) for u in coarse])
    peak = int(logs.argmax())
    high_up = np.flatnonzero(logs > logs[peak] - 45)
    ends = coarse[max(high_up[0] - 1, 0)], coarse[min(high_up[-1] + 1, 1600)]
    total, _ = quad(
        lambda u: np.exp(log_function(u) - logs[peak]), *ends, points=[coarse[peak]], limit=500, epsrel=1e-10
    )
    return logs[peak] + np.log(total)


class Restricted:
    """The restricted likelihood for every s at once, by the common axes of R and of a covariance."""

    def __init__(self, y, R, K, free=None):
        Z = null_space(free.T) if free is not None else np.eye(len(y))
        L = np.linalg.cholesky(Z.T @ np.diag(R) @ Z)
        half = np.linalg.solve(L, Z.T)
        self.values, axes = np.linalg.eigh(half @ K @ half.T)
        self.squares = (axes.T @ (half @ y)) ** 2

    def __call__(self, s):
        spread = np.maximum(self.values, 0) + s
        return -0.5 * (self.squares / spread + np.log(spread)).sum()


def log_bayes_factor(y, R, K_effect, scale, freedom, free=None):
    """log of p(y | effect) / p(y | none), the scale of the noise integrated out. R by the common axes: fast enough."""
    one, none = Restricted(y, R, K_effect, free), Restricted(y, R, np.zeros((len(y), len(y))), free)

    def summed(likelihood):
        return log_integral(lambda u: likelihood(np.exp(u)) + log_prior(np.exp(u), scale, freedom))

    return summed(one) - summed(none)


def effect_posterior(y, R, s, cross, prior_variance, K_effect, free):
    """Mean and variance of an effect at new times; cross: its covariance (T, n) with the effects on the values."""
    Z = null_space(free.T)
    C = Z.T @ (K_effect + s * np.diag(R)) @ Z
    seen = cross @ Z
    mean = seen @ np.linalg.solve(C, Z.T @ y)
    return mean, prior_variance - np.einsum("ij,ij->i", seen, np.linalg.solve(C, seen.T).T)


# -- shares -----------------------------------------------------------------------------------------------------------


def shares(evidence, possible, steps, nulls, others):
    """Expectation and maximisation with loops: genes, kinds, effects. Where a kind cannot be told, it is like none."""
    n, kinds, effects = evidence.shape
    by_kind = np.array([0.9] + [0.1 / kinds] * kinds)
    by_effect = np.full(effects, 1 / effects)
    for _ in range(steps):
        counted_kinds = np.array([nulls] + [others / kinds] * kinds)
        counted_effects = np.full(effects, others / effects)
        for i in range(n):
            top = max(0.0, evidence[i].max())
            weight = np.zeros((kinds, effects))
            for c in range(kinds):
                for k in range(effects):
                    log_ratio = evidence[i, c, k] if possible[i, c] else 0.0
                    weight[c, k] = by_kind[c + 1] * by_effect[k] * np.exp(log_ratio - top)
            none = by_kind[0] * np.exp(-top)
            total = none + weight.sum()
            counted_kinds += np.concatenate([[none], weight.sum(axis=1)]) / total
            counted_effects += weight.sum(axis=0) / total
        by_kind, by_effect = counted_kinds / counted_kinds.sum(), counted_effects / counted_effects.sum()
    return by_kind, by_effect
