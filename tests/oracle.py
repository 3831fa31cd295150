"""The paper's formulas, written down densely and slowly. Imports nothing of timelike.

Equation names are those of the paper's LaTeX: likelihood_same_async, likelihood_diff_async, bayesfactor1.
"""

import numpy as np


def se(x, z, length_scale, signal_sd):
    """Squared exponential covariance, eq. Gaussian_covariance."""
    x, z = np.atleast_2d(np.asarray(x, float).T).T, np.atleast_2d(np.asarray(z, float).T).T
    squares = ((x[:, None, :] - z[None, :, :]) ** 2).sum(-1)
    return signal_sd**2 * np.exp(-squares / (2 * length_scale**2))


def matern32(x, z, length_scale, signal_sd):
    r = np.sqrt(3) * np.abs(np.subtract.outer(x, z)) / length_scale
    return signal_sd**2 * (1 + r) * np.exp(-r)


def matern12(x, z, length_scale, signal_sd):
    return signal_sd**2 * np.exp(-np.abs(np.subtract.outer(x, z)) / length_scale)


def log_density(y, mean, C):
    """Eq. Gaussian_likelihood."""
    residual = np.asarray(y, float) - mean
    sign, log_det = np.linalg.slogdet(C)
    assert sign > 0
    return -0.5 * (residual @ np.linalg.solve(C, residual) + log_det + len(residual) * np.log(2 * np.pi))


def marginal(x, y, k, noise_variance, mean=0.0, error=0.0):
    """log p(y): eq. Gaussian_likelihood with K_y = K + noise I (+ known error variances)."""
    R = np.eye(len(y)) * noise_variance + np.diag(np.broadcast_to(np.square(error), len(y)))
    return log_density(y, mean, k(x, x) + R)


def similarity(x_i, y_i, x_j, y_j, k, noise_variance, mean=0.0, error_i=0.0, error_j=0.0):
    """s(i, j) = log p_same - log p_diff, eq. bayesfactor1, from two full covariance matrices."""
    e_i, e_j = np.broadcast_to(error_i, len(y_i)), np.broadcast_to(error_j, len(y_j))
    same = marginal(
        np.concatenate([x_i, x_j]), np.concatenate([y_i, y_j]), k, noise_variance, mean, np.concatenate([e_i, e_j])
    )
    return same - marginal(x_i, y_i, k, noise_variance, mean, e_i) - marginal(x_j, y_j, k, noise_variance, mean, e_j)


def similarity_matrix(times, values, k, noise_variance, mean=0.0, errors=None):
    n = len(values)
    errors = [0.0] * n if errors is None else errors
    S = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            S[i, j] = similarity(
                times[i], values[i], times[j], values[j], k, noise_variance, mean, errors[i], errors[j]
            )
    return S


def posterior(x, y, at, k, noise_variance, mean=0.0):
    """Mean and standard deviation of the curve at new times."""
    C = k(x, x) + noise_variance * np.eye(len(x))
    cross = k(at, x)
    centre = mean + cross @ np.linalg.solve(C, np.asarray(y) - mean)
    covariance = k(at, at) - cross @ np.linalg.solve(C, cross.T)
    return centre, np.sqrt(np.diag(covariance))
