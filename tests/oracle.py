"""The paper's formulas, written down densely and slowly. Imports nothing of timelike.

Equation names are those of the paper's LaTeX: likelihood_same_async, likelihood_diff_async, bayesfactor1.
"""

import mpmath
import numpy as np
from sklearn.gaussian_process import kernels as sk

# -- covariances ---------------------------------------------------------------------------------------------


def se(x, z, length_scale, signal_sd):
    """Squared exponential covariance, eq. Gaussian_covariance."""
    x, z = np.atleast_2d(np.asarray(x, float).T).T, np.atleast_2d(np.asarray(z, float).T).T
    squares = ((x[:, None, :] - z[None, :, :]) ** 2).sum(-1)
    return signal_sd**2 * np.exp(-squares / (2 * length_scale**2))


def matern12(x, z, length_scale, signal_sd):
    return signal_sd**2 * np.exp(-np.abs(np.subtract.outer(x, z)) / length_scale)


def matern32(x, z, length_scale, signal_sd):
    r = np.sqrt(3) * np.abs(np.subtract.outer(x, z)) / length_scale
    return signal_sd**2 * (1 + r) * np.exp(-r)


def matern52(x, z, length_scale, signal_sd):
    r = np.sqrt(5) * np.abs(np.subtract.outer(x, z)) / length_scale
    return signal_sd**2 * (1 + r + r**2 / 3) * np.exp(-r)


def periodic(x, z, length_scale, periodicity, signal_sd):
    angle = np.pi * np.subtract.outer(x, z) / periodicity
    return signal_sd**2 * np.exp(-2 * np.sin(angle) ** 2 / length_scale**2)


def linear(x, z, sigma_0, signal_sd):
    return signal_sd**2 * (sigma_0**2 + np.multiply.outer(x, z))


def rational_quadratic(x, z, length_scale, alpha, signal_sd):
    return signal_sd**2 * (1 + np.subtract.outer(x, z) ** 2 / (2 * alpha * length_scale**2)) ** -alpha


def log_clock(t, tau, start):
    """tau log(1 + (t - start)/tau) from the start on, plain time before."""
    since = np.asarray(t, float) - start
    return np.array([tau * np.log(1 + x / tau) if x > 0 else x for x in since])


def asinh_clock(t, tau):
    return tau * np.arcsinh(np.asarray(t, float) / tau)


def shared_within(times, rough_sd):
    """Covariance of a rough part: the values of one time share it, no others do."""
    return rough_sd**2 * np.equal.outer(times, times)


KERNELS = {
    "se": (sk.RBF(0.4), lambda x, z: se(x, z, 0.4, 1.0)),
    "matern12": (sk.Matern(0.6, nu=0.5), lambda x, z: matern12(x, z, 0.6, 1.0)),
    "matern32": (sk.Matern(0.6, nu=1.5), lambda x, z: matern32(x, z, 0.6, 1.0)),
    "matern52": (sk.Matern(0.6, nu=2.5), lambda x, z: matern52(x, z, 0.6, 1.0)),
    "periodic": (sk.ExpSineSquared(0.8, 0.7), lambda x, z: periodic(x, z, 0.8, 0.7, 1.0)),
    "linear": (sk.DotProduct(0.5), lambda x, z: linear(x, z, 0.5, 1.0)),
    "rational": (sk.RationalQuadratic(0.4, 1.5), lambda x, z: rational_quadratic(x, z, 0.4, 1.5, 1.0)),
    "sum": (
        sk.ConstantKernel(0.5) * sk.RBF(0.3) + sk.DotProduct(0.7),
        lambda x, z: 0.5 * se(x, z, 0.3, 1.0) + linear(x, z, 0.7, 1.0),
    ),
    "product": (
        sk.RBF(1.2) * sk.ExpSineSquared(1.0, 0.5),
        lambda x, z: se(x, z, 1.2, 1.0) * periodic(x, z, 1.0, 0.5, 1.0),
    ),
    "power": (sk.Matern(0.5, nu=1.5) ** 2, lambda x, z: matern32(x, z, 0.5, 1.0) ** 2),
}
"""A kernel object as users give it, and the same covariance written down. Every law holds for each of them."""


def given(covariance, *parameters):
    """A covariance as a function of two sets of times alone."""
    return lambda x, z: covariance(x, z, *parameters)


def scaled(k, signal_sd):
    return lambda x, z: signal_sd**2 * k(x, z)


# -- likelihood and similarity ---------------------------------------------------------------------------------


def log_density(y, mean, C):
    """Eq. Gaussian_likelihood."""
    residual = np.asarray(y, float) - mean
    sign, log_det = np.linalg.slogdet(C)
    assert sign > 0
    return -0.5 * (residual @ np.linalg.solve(C, residual) + log_det + len(residual) * np.log(2 * np.pi))


def marginal(x, y, k, noise_variance, mean=0.0, error=0.0, weight=1.0):
    """log p(y): eq. Gaussian_likelihood with K_y = K + noise I (+ known error variances), divided by weights."""
    R = np.eye(len(y)) * noise_variance + np.diag(np.broadcast_to(np.square(error), len(y)))
    return log_density(y, mean, k(x, x) + R / weight)


def score(times, values, k, noise_variance, mean=0.0, errors=None, weights=None):
    """Summed log marginal likelihood, eq. inference_async."""
    errors = [0.0] * len(values) if errors is None else errors
    weights = [1.0] * len(values) if weights is None else weights
    return sum(
        marginal(x, y, k, noise_variance, mean, e, w) for x, y, e, w in zip(times, values, errors, weights, strict=True)
    )


def similarity(x_i, y_i, x_j, y_j, k, noise_variance, mean=0.0, error_i=0.0, error_j=0.0, weight_i=1.0, weight_j=1.0):
    """s(i, j) = log p_same - log p_diff, eq. bayesfactor1, from two full covariance matrices."""
    e_i, e_j = np.broadcast_to(error_i, len(y_i)), np.broadcast_to(error_j, len(y_j))
    w_i, w_j = np.broadcast_to(weight_i, len(y_i)), np.broadcast_to(weight_j, len(y_j))
    same = marginal(
        np.concatenate([x_i, x_j]),
        np.concatenate([y_i, y_j]),
        k,
        noise_variance,
        mean,
        np.concatenate([e_i, e_j]),
        np.concatenate([w_i, w_j]),
    )
    first = marginal(x_i, y_i, k, noise_variance, mean, e_i, w_i)
    return same - first - marginal(x_j, y_j, k, noise_variance, mean, e_j, w_j)


def similarity_matrix(times, values, k, noise_variance, mean=0.0, errors=None, weights=None):
    n = len(values)
    errors = [0.0] * n if errors is None else errors
    weights = [1.0] * n if weights is None else weights
    S = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            both = errors[i], errors[j], weights[i], weights[j]
            S[i, j] = similarity(times[i], values[i], times[j], values[j], k, noise_variance, mean, *both)
    return S


def posterior(x, y, at, k, noise_variance, mean=0.0, error=0.0):
    """Mean and standard deviation of the curve at new times."""
    R = np.eye(len(y)) * noise_variance + np.diag(np.broadcast_to(np.square(error), len(y)))
    C = k(x, x) + R
    cross = k(at, x)
    centre = mean + cross @ np.linalg.solve(C, np.asarray(y) - mean)
    covariance = k(at, at) - cross @ np.linalg.solve(C, cross.T)
    return centre, np.sqrt(np.diag(covariance))


# -- alike up to level, gain and delay ---------------------------------------------------------------------------


def placed_density(courses, k, noise_variance, mean, delays, gains, level):
    """log p of courses (times, values, errors) of one curve, each so much later and so many times as large."""
    x = np.concatenate([x - h for (x, _, _), h in zip(courses, delays, strict=True)])
    g = np.concatenate([np.full(len(x), g) for (x, _, _), g in zip(courses, gains, strict=True)])
    e = np.concatenate([np.broadcast_to(e, len(x)) for x, _, e in courses])
    C = np.outer(g, g) * k(x, x) + np.diag(noise_variance + e**2)
    y = np.concatenate([y for _, y, _ in courses]) - mean
    if level:
        D = [np.diff(np.eye(len(x)), axis=0) for x, _, _ in courses]
        both = np.zeros((sum(map(len, D)), len(x)))
        row = column = 0
        for one in D:
            both[row : row + one.shape[0], column : column + one.shape[1]] = one
            row, column = row + one.shape[0], column + one.shape[1]
        C, y = both @ C @ both.T, both @ y
    return log_density(y, 0.0, C) if len(y) else 0.0


def pair_nodes(log_gains, delays, gain_sd, period=None):
    """(log gain, delay, place of the first, log probability) of each node of a pair, from those of a course."""
    step = delays[1] - delays[0] if len(delays) > 1 else 1.0
    found = []
    for a in log_gains:
        for h in delays:
            if period is None:
                found.append(
                    (2 * a, 2 * h, -h, -((2 * a / gain_sd) ** 2) / 4 + np.log(1 - 2 * abs(h) / (2 * delays[-1] + step)))
                )
            else:
                found.append((2 * a, h, 0.0, -((2 * a / gain_sd) ** 2) / 4))
    logs = np.array([node[3] for node in found])
    logs -= np.log(np.exp(logs).sum())
    return [(*node[:3], log) for node, log in zip(found, logs, strict=True)]


def about_zero(k, mean):
    """The covariance of curves about zero with the second moments of curves about a mean."""
    return lambda x, z: k(x, z) + mean**2


def aligned(one, two, k, noise_variance, nodes, level, mean=0.0):
    """s, mean delay and mean log gain of two courses (times, values, errors), summed over the nodes.

    Sizes are about zero, unless each course has a level of its own.
    """
    if any(u for u, *_ in nodes) and not level:
        k, mean = about_zero(k, mean), 0.0
    joint, first, second = [], [], []
    for u, d, h, log in nodes:
        places, gains = (h, h + d), (np.exp(-u / 2), np.exp(u / 2))
        joint.append(log + placed_density([one, two], k, noise_variance, mean, places, gains, level))
        first.append(log + placed_density([one], k, noise_variance, mean, places[:1], gains[:1], level))
        second.append(log + placed_density([two], k, noise_variance, mean, places[1:], gains[1:], level))
    weights = np.exp(np.array(joint) - np.logaddexp.reduce(joint))
    s = np.logaddexp.reduce(joint) - np.logaddexp.reduce(first) - np.logaddexp.reduce(second)
    return s, weights @ [d for _, d, _, _ in nodes], weights @ [u for u, *_ in nodes]


# -- mixture -------------------------------------------------------------------------------------------------------


def weighted_log_density(times, values, k, noises, weights, mean=0.0):
    """log of the integral over f of prod_i N(y_i | f, R_i)^w_i, with R_i = `noises` (matrices), by one matrix.

    N(y | f, R)^w is N(y | f, R / w) up to a factor without f.
    """
    rows = [i for i, w in enumerate(weights) if w > 0]
    if not rows:
        return 0.0
    x, y = (np.concatenate([part[i] for i in rows]) for part in (times, values))
    C = k(x, x)
    start, factor = 0, 0.0
    for i in rows:
        R, w, n = noises[i], weights[i], len(values[i])
        C[start : start + n, start : start + n] += R / w
        factor += (1 - w) / 2 * np.linalg.slogdet(2 * np.pi * R)[1] - n / 2 * np.log(w)
        start += n
    return log_density(y, mean, C) + factor


def level_probabilities(logs, centre, width):
    """How likely each level is for a log variance N(centre, width^2), shared by the levels on both sides of it."""
    from scipy.integrate import quad

    def density(u):
        return np.exp(-(((u - centre) / width) ** 2) / 2) / (width * np.sqrt(2 * np.pi))

    step, far = logs[1] - logs[0], 12 * width
    result = []
    for m, at in enumerate(logs):
        up = 1.0 if m == 0 else None
        down = 1.0 if m == len(logs) - 1 else None
        below = quad(lambda u, at=at, up=up: density(u) * (up or 1 - (at - u) / step), at - (far if up else step), at)
        above = quad(
            lambda u, at=at, down=down: density(u) * (down or 1 - (u - at) / step), at, at + (far if down else step)
        )
        result.append(below[0] + above[0])
    return np.array(result)


def mixture_bound(times, values, k, noises, r, log_levels, none, mean=0.0):
    """The mixture's bound for weights r (M, N, K + 1) and noises[m][i], the noise matrix of course i at level m.

    `log_levels`: of each cluster and of "none", the log probability of the levels, (K + 1, M).
    """
    from scipy.special import gammaln

    M, N, K = r.shape[0], r.shape[1], r.shape[2] - 1
    rows = [(m, i) for m in range(M) for i in range(N)]
    x, y, R = [times[i] for _, i in rows], [values[i] for _, i in rows], [noises[m][i] for m, i in rows]
    n = r.sum(axis=(0, 1))
    total = gammaln(K) - gammaln(K + n[:-1].sum()) + gammaln(1 + n[:-1]).sum() + gammaln(K + 1)
    total += n[-1] * np.log(none) + n[:-1].sum() * np.log(1 - none) - (r[r > 0] * np.log(r[r > 0])).sum()
    total += (r.sum(axis=1).T * log_levels).sum()
    total += sum(weighted_log_density(x, y, k, R, [r[m, i, c] for m, i in rows], mean) for c in range(K))
    return total + sum(r[m, i, K] * log_density(values[i], mean, k(times[i], times[i]) + noises[m][i]) for m, i in rows)


# -- fifty digits ------------------------------------------------------------------------------------------------

EXACT_KERNELS = {
    "se": lambda r: mpmath.exp(-r * r / 2),
    "matern12": lambda r: mpmath.exp(-r),
    "matern32": lambda r: (1 + mpmath.sqrt(3) * r) * mpmath.exp(-mpmath.sqrt(3) * r),
}


def exact_similarity_matrix(times, values, kernel, length_scale, signal_sd, noise_sd, mean=0.0):
    """As `similarity_matrix`, in 50 digits: for these very doubles, the true answer."""
    with mpmath.workdps(50):
        courses = [
            ([mpmath.mpf(float(t)) for t in x], [mpmath.mpf(float(v)) - mpmath.mpf(mean) for v in y])
            for x, y in zip(times, values, strict=True)
        ]
        setting = (
            EXACT_KERNELS[kernel],
            mpmath.mpf(length_scale),
            mpmath.mpf(signal_sd) ** 2,
            mpmath.mpf(noise_sd) ** 2,
        )
        alone = [_exact_log_density(x, y, *setting) for x, y in courses]
        S = np.empty((len(courses), len(courses)))
        for i, (x_i, y_i) in enumerate(courses):
            for j, (x_j, y_j) in enumerate(courses[: i + 1]):
                same = _exact_log_density(x_i + x_j, y_i + y_j, *setting)
                S[i, j] = S[j, i] = float(same - alone[i] - alone[j])
        return S


def _exact_log_density(x, y, k, length_scale, signal, noise):
    """Log density without the constant in pi, by a Cholesky factor and forward substitution."""
    n = len(x)
    C = mpmath.matrix(n, n)
    for a in range(n):
        for b in range(n):
            C[a, b] = signal * k(abs(x[a] - x[b]) / length_scale) + (noise if a == b else 0)
    L = mpmath.cholesky(C)
    solved = []
    for a in range(n):
        solved.append((y[a] - mpmath.fsum(L[a, b] * solved[b] for b in range(a))) / L[a, a])
    return -mpmath.fsum(z * z for z in solved) / 2 - mpmath.fsum(mpmath.log(L[a, a]) for a in range(n))


# -- examples -------------------------------------------------------------------------------------------------------

EXAMPLES = ("grid", "replicates", "gaps", "own", "errors", "single")


def example(kind, count=6, seed=0):
    """Lists of times, values and errors (or None): small courses of every kind that the method serves."""
    rng = np.random.default_rng(seed)
    grid = np.array([0.0, 0.1, 0.25, 0.5, 0.6, 1.0])
    errors = None
    if kind == "replicates":
        times = [np.repeat([0.0, 0.3, 1.0], 2)] * count
    elif kind == "gaps":
        times = [np.sort(rng.choice(grid, rng.integers(2, 6), replace=False)) for _ in range(count)]
    elif kind == "own":
        times = [np.sort(rng.random(rng.integers(1, 6))) for _ in range(count)]
    elif kind == "single":
        times = [rng.random(1) for _ in range(count)]
    else:
        times = [grid] * count
    if kind == "errors":
        errors = [rng.uniform(0.05, 0.5, len(x)) for x in times]
    values = [
        np.sin(4 * x + rng.integers(2)) + 0.2 * rng.standard_normal(len(x)) + 0.5 * rng.standard_normal() for x in times
    ]
    return times, values, errors


# -- families ------------------------------------------------------------------------------------------------------


def partitions(items):
    """All partitions of a list, as lists of lists."""
    if not items:
        yield []
        return
    first, *rest = items
    for found in partitions(rest):
        yield [[first], *found]
        for at, block in enumerate(found):
            yield [*found[:at], [first, *block], *found[at + 1 :]]


def family_density(times, values, k, noise_variance, mean, spread):
    """log p of the courses of a family: they share (1 - spread) K and have spread K each for itself."""
    x, owner = np.concatenate(times), np.repeat(np.arange(len(times)), [len(t) for t in times])
    shared = np.where(np.equal.outer(owner, owner), 1.0, 1 - spread)
    return log_density(np.concatenate(values), mean, shared * k(x, x) + noise_variance * np.eye(len(x)))


def log_partition_prior(sizes, concentration, most=1000):
    """A number of families K with prior 1 / K, shares from a Dirichlet distribution: sum over K, one by one."""
    n, t, g = sum(sizes), len(sizes), concentration
    K = np.arange(t, most * n + 1, dtype=float)
    falling = np.sum([np.log(K - j) for j in range(t)], axis=0)
    rising = np.sum([np.log(g * K + j) for j in range(n)], axis=0)
    total = np.logaddexp.reduce(falling - rising - np.log(K))
    return total + sum(np.log(g + j) for size in sizes for j in range(size))


def same_family(times, values, k, noise_variance, mean, spreads, concentrations):
    """P(same family) of all pairs, from every partition, spread and concentration, equally probable beforehand."""
    n, weights, together = len(values), [], []
    for blocks in partitions(list(range(n))):
        prior = np.logaddexp.reduce([log_partition_prior([len(b) for b in blocks], g) for g in concentrations])
        data = [
            sum(
                family_density([times[i] for i in b], [values[i] for i in b], k, noise_variance, mean, d)
                for b in blocks
            )
            for d in spreads
        ]
        weights.append(prior + np.logaddexp.reduce(data))
        label = np.array([next(b for b, block in enumerate(blocks) if i in block) for i in range(n)])
        together.append(np.equal.outer(label, label))
    weights = np.exp(np.array(weights) - np.max(weights))
    return np.tensordot(weights / weights.sum(), np.array(together, dtype=float), 1)
