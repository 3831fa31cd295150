"""Courses to measure errors on, and their similarity in fifty digits. Imports nothing of timelike."""

from dataclasses import dataclass
from itertools import chain, combinations, combinations_with_replacement

import mpmath
import numpy as np
from sklearn.gaussian_process import kernels as sk

DIGITS = 50
PERIODICITY = 0.7
"""Of the periodic kernel, as a share of the range of the times."""


def _root(number):
    return mpmath.sqrt(mpmath.mpf(number))


def _se(x, z, scale):
    return mpmath.exp(-(((x - z) / scale) ** 2) / 2)


def _matern12(x, z, scale):
    return mpmath.exp(-abs(x - z) / scale)


def _matern32(x, z, scale):
    r = _root(3) * abs(x - z) / scale
    return (1 + r) * mpmath.exp(-r)


def _matern52(x, z, scale):
    r = _root(5) * abs(x - z) / scale
    return (1 + r + r * r / 3) * mpmath.exp(-r)


def _periodic(x, z, scale):
    return mpmath.exp(-2 * (mpmath.sin(mpmath.pi * (x - z) / mpmath.mpf(PERIODICITY)) / scale) ** 2)


def _linear(x, z, scale):
    return scale**2 + x * z


KERNELS = {
    "se": (sk.RBF, _se),
    "matern12": (lambda scale: sk.Matern(scale, nu=0.5), _matern12),
    "matern32": (lambda scale: sk.Matern(scale, nu=1.5), _matern32),
    "matern52": (lambda scale: sk.Matern(scale, nu=2.5), _matern52),
    "periodic": (lambda scale: sk.ExpSineSquared(scale, PERIODICITY), _periodic),
    "linear": (sk.DotProduct, _linear),
}
"""For each name, the kernel object as users give it, and the same covariance in fifty digits."""


@dataclass(frozen=True)
class Case:
    """What courses are like. The range of the times is 1."""

    kernel: str = "se"
    length_scale: float = 0.3
    ratio: float = 0.1
    """Standard deviation of the noise, in units of the signal's."""
    count: int = 7
    """Values a course."""
    sampling: str = "grid"
    """"grid", "replicates" or "own"."""
    offset: float = 0.0
    """Level of the values, in units of the signal; the model's mean knows it."""
    start: float = 0.0
    """The first time."""
    signal_sd: float = 1.0
    errors: bool = False
    """Whether every value has a known error of its own."""
    rough: bool = False
    """Values that the model does not expect: each drawn alone, with the standard deviation of the signal."""
    seed: int = 0

    @property
    def kernel_object(self):
        return KERNELS[self.kernel][0](self.length_scale)

    @property
    def noise_sd(self):
        return self.ratio * self.signal_sd

    @property
    def mean(self):
        return self.offset * self.signal_sd


@dataclass(frozen=True)
class Data:
    """Three courses: two on one curve, one on another."""

    times: list
    values: list
    errors: list | None


def draw(case):
    """The courses of a case."""
    rng = np.random.default_rng(case.seed)
    times = _times(case, rng)
    every = np.concatenate(times)
    K = case.kernel_object(every[:, None])
    weight, vectors = np.linalg.eigh(K)
    curves = rng.standard_normal((2, len(every))) @ (vectors * np.sqrt(np.maximum(weight, 0))).T
    if case.rough:
        curves = rng.standard_normal(curves.shape)
    ends = np.cumsum([len(x) for x in times])
    curves = [curves[which, end - len(x) : end] for which, end, x in zip((0, 0, 1), ends, times, strict=True)]
    values = [f + case.ratio * rng.standard_normal(len(f)) for f in curves]
    values = [case.mean + case.signal_sd * y for y in values]
    errors = [case.noise_sd * rng.uniform(0.1, 10, len(x)) for x in times] if case.errors else None
    return Data(times, values, errors)


def _times(case, rng):
    if case.sampling == "own":
        return [case.start + np.sort(rng.random(case.count)) for _ in range(3)]
    if case.sampling == "replicates":
        return [case.start + np.repeat(np.linspace(0, 1, (case.count + 1) // 2), 2)[: case.count]] * 3
    return [case.start + np.linspace(0, 1, case.count)] * 3


@dataclass(frozen=True)
class Truth:
    """What is known of the pairs (0, 0), (0, 1), ... (2, 2) of a case, as doubles that are right to the last digit."""

    similarity: np.ndarray
    squares: np.ndarray
    """Squared values of both courses in units of the model's prior: ``sum of r^T C^-1 r``, about one a value."""
    values: np.ndarray
    """Number of values of both courses."""


def truth(case, data):
    """The similarities of the courses, for these very doubles."""
    with mpmath.workdps(DIGITS):
        courses = [_course(case, data, i) for i in range(3)]
        alone = [_log_density(_covariance(case, *c[::2]), c[1]) for c in courses]
        found = [_pair(case, courses, alone, i, j) for i, j in combinations_with_replacement(range(3), 2)]
    return Truth(*(_symmetric(column) for column in zip(*found, strict=True)))


def evidence_of_all(case, data):
    """``log p(all | one curve) - sum log p(each)``: the evidence that all three courses share a curve."""
    with mpmath.workdps(DIGITS):
        courses = [_course(case, data, i) for i in range(3)]
        alone = mpmath.fsum(_log_density(_covariance(case, *c[::2]), c[1])[0] for c in courses)
        x, y, v = ([*chain.from_iterable(part)] for part in zip(*courses, strict=True))
        return float(_log_density(_covariance(case, x, v), y)[0] - alone)


def density_beside(case, times, values, new_times, new_values):
    """``log p(new course | courses on one curve)`` of courses (N, n) that share their times, constant in pi included.

    Courses of one grid say of their curve what their mean says, with an N-th of the noise. Without courses: of a curve
    of its own.
    """
    with mpmath.workdps(DIGITS):
        number, noise = mpmath.mpf, mpmath.mpf(case.noise_sd) ** 2
        count = max(1, len(values))
        x = [number(float(t)) for t in times][: len(times) * (len(values) > 0)]
        y = [mpmath.fsum(number(float(v)) for v in column) / count - number(case.mean) for column in values.T]
        at, to = [number(float(t)) for t in new_times], [number(float(v)) - number(case.mean) for v in new_values]
        known = _log_density(_covariance(case, x, [noise / count] * len(x)), y)[0]
        both = _log_density(_covariance(case, x + at, [noise / count] * len(x) + [noise] * len(at)), y[: len(x)] + to)[
            0
        ]
        return float(both - known - len(at) * mpmath.log(2 * mpmath.pi) / 2)


def agglomerated(case, times, values):
    """The merges of courses (N, n) on one grid, each of the two sets with the largest gain, and these gains.

    A set says of its curve what its mean says, with a share of the noise; what its courses differ by adds to that.
    """
    with mpmath.workdps(DIGITS):
        x, noise = [mpmath.mpf(float(t)) for t in times], mpmath.mpf(case.noise_sd) ** 2
        y = [[mpmath.mpf(float(v)) - mpmath.mpf(case.mean) for v in row] for row in values]
        told = {frozenset([i]): _evidence_of([row], case, x, noise) for i, row in enumerate(y)}
        live, found, known = list(told), [], {}
        while len(live) > 1:
            for pair in combinations(live, 2):
                if frozenset(pair) not in known:
                    both = pair[0] | pair[1]
                    told[both] = _evidence_of([y[i] for i in both], case, x, noise)
                    known[frozenset(pair)] = told[both] - told[pair[0]] - told[pair[1]]
            p, q = max(combinations(live, 2), key=lambda pair: known[frozenset(pair)])
            found.append(({p, q}, float(known[frozenset((p, q))])))
            live = [one for one in live if one not in (p, q)] + [p | q]
    return found


def _evidence_of(rows, case, x, noise):
    """Log density of courses on one grid and curve, but for constants of each."""
    count = len(rows)
    mean = [mpmath.fsum(column) / count for column in zip(*rows, strict=True)]
    apart = mpmath.fsum((v - m) ** 2 for row in rows for v, m in zip(row, mean, strict=True))
    density = _log_density(_covariance(case, x, [noise / count] * len(x)), mean)[0]
    return density - apart / (2 * noise) - ((count - 1) * mpmath.log(noise) + mpmath.log(count)) * len(x) / 2


def _course(case, data, i):
    """Times, values minus the mean, and noise variances of a course."""
    number = mpmath.mpf
    known = [0.0] * len(data.values[i]) if data.errors is None else data.errors[i]
    noise = number(case.noise_sd) ** 2
    return (
        [number(float(t)) for t in data.times[i]],
        [number(float(y)) - number(case.mean) for y in data.values[i]],
        [noise + number(float(e)) ** 2 for e in known],
    )


def _pair(case, courses, alone, i, j):
    (x_i, y_i, v_i), (x_j, y_j, v_j) = courses[i], courses[j]
    same, _ = _log_density(_covariance(case, x_i + x_j, v_i + v_j), y_i + y_j)
    return float(same - alone[i][0] - alone[j][0]), float(alone[i][1] + alone[j][1]), len(y_i) + len(y_j)


def _covariance(case, x, variances):
    """Lower triangle of the covariance of the values."""
    k, scale, signal = KERNELS[case.kernel][1], mpmath.mpf(case.length_scale), mpmath.mpf(case.signal_sd) ** 2
    known = {}
    for a in x:
        for b in x:
            if (a, b) not in known:
                known[a, b] = known[b, a] = signal * k(a, b, scale)
    return [[known[x[a], x[b]] + (variances[a] if a == b else 0) for b in range(a + 1)] for a in range(len(x))]


def _log_density(C, y):
    """Log density without the constant in pi, and ``y^T C^-1 y``, by a Cholesky factor and forward substitution."""
    rows, solved, diagonal = [], [], []
    for a, entries in enumerate(C):
        row = []
        for b, entry in enumerate(entries[:a]):
            row.append((entry - mpmath.fdot(zip(row, rows[b], strict=False))) / diagonal[b])
        diagonal.append(mpmath.sqrt(entries[a] - mpmath.fdot(zip(row, row, strict=True))))
        solved.append((y[a] - mpmath.fdot(zip(row, solved, strict=True))) / diagonal[a])
        rows.append(row)
    square = mpmath.fdot(zip(solved, solved, strict=True))
    return -square / 2 - mpmath.fsum(mpmath.log(d) for d in diagonal), square


def _symmetric(column):
    matrix = np.empty((3, 3))
    for (i, j), value in zip(combinations_with_replacement(range(3), 2), column, strict=True):
        matrix[i, j] = matrix[j, i] = value
    return matrix


def random_case(rng, most=30):
    """A case from anywhere in the region of the contract."""
    kernel = str(rng.choice(list(KERNELS)))
    return Case(
        kernel=kernel,
        length_scale=float(10 ** rng.uniform(np.log10(0.03), np.log10(30))),
        ratio=float(10 ** rng.uniform(-6, 3)),
        count=int(rng.integers(2, most + 1)),
        sampling=str(rng.choice(["grid", "replicates", "own"])),
        offset=float(rng.choice([0.0, 1e3, 1e6])),
        start=float(rng.choice([0.0, 0.0, 100.0])) if kernel != "linear" else 0.0,
        signal_sd=float(10 ** rng.uniform(-3, 3)),
        errors=bool(rng.random() < 0.25),
        rough=bool(rng.random() < 0.25),
        seed=int(rng.integers(2**31)),
    )
