"""The fit finds the highest of many optima: compared with a search that knows nothing of ours."""

import warnings

import numpy as np
import pytest
from scipy.optimize import differential_evolution
from sklearn.gaussian_process import kernels as sk

import timelike as tl
from timelike import TimeCourses
from timelike.exceptions import FitWarning
from timelike.gp.search_space import extent

TIMES = np.linspace(0, 24, 13)


def quietly(courses, kernel):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        return tl.fit(courses, kernel, mean="zero")


def drawn(kernel, times, noise, seed):
    """A course from the model for each array of times."""
    rng = np.random.default_rng(seed)
    values = []
    for t in times:
        weight, vectors = np.linalg.eigh(kernel(t[:, None]))
        curve = vectors @ (np.sqrt(np.maximum(weight, 0)) * rng.standard_normal(len(t)))
        values.append(curve + noise * rng.standard_normal(len(t)))
    return values


def dense(kernel, times, values, signal, noise):
    """The log likelihood of courses on one grid, by the textbook."""
    C = signal * kernel(times[:, None]) + noise * np.eye(len(times))
    sign, size = np.linalg.slogdet(C)
    if sign <= 0:
        return -np.inf
    squares = np.sum(values * np.linalg.solve(C, values.T).T)
    return -0.5 * (squares + len(values) * (size + len(times) * np.log(2 * np.pi)))


def searched(kernel, times, values, bounds):
    """The largest log likelihood that differential evolution finds, within bounds of the logarithms."""

    def cost(x):
        with np.errstate(all="ignore"):
            found = dense(kernel.clone_with_theta(x[:-2]), times, values, np.exp(x[-2]), np.exp(x[-1]))
        return -found if np.isfinite(found) else 1e30

    return -differential_evolution(cost, np.log(bounds), seed=1, popsize=8, maxiter=100, tol=1e-8).fun


SCALE = [(0.5, 200.0)]
SIZES = [(1e-9, 1e3), (1e-4, 1e2)]
SUMS = {
    "two lengths": (0.7 * sk.RBF(1.5) + 2 * sk.RBF(12.0), sk.RBF() + sk.RBF(), 2 * SCALE),
    "two sizes": (
        0.7 * sk.RBF(1.5) + 2 * sk.RBF(12.0),
        sk.ConstantKernel() * sk.RBF() + sk.ConstantKernel() * sk.RBF(),
        [(1e-2, 1e2), *SCALE, (1e-2, 1e2), *SCALE],
    ),
    "a curve and a line": (sk.RBF(3.0) + 0.02 * sk.DotProduct(2.0), sk.RBF() + sk.DotProduct(), [*SCALE, (1e-3, 1e3)]),
}


@pytest.mark.parametrize("unit", [1, 60])
@pytest.mark.parametrize("case", SUMS)
def test_sums(case, unit):
    truth, kernel, bounds = SUMS[case]
    values = np.array(drawn(truth, [TIMES] * 40, 0.2, seed=0))
    scaled = [(low * unit, high * unit) if high in (200.0, 1e3) else (low, high) for low, high in bounds]
    best = searched(kernel, unit * TIMES, values, [*scaled, *SIZES])
    assert quietly(TimeCourses.from_arrays(unit * TIMES, values), kernel).log_likelihood > best - 1e-3


def test_a_constant_beside_a_line_does_not_feel_the_unit():
    values = np.array(drawn(sk.RBF(3.0) + 0.02 * sk.DotProduct(2.0), [TIMES] * 40, 0.2, seed=0))
    kernel = sk.ConstantKernel() * sk.RBF() + sk.DotProduct()
    found = [quietly(TimeCourses.from_arrays(f * TIMES, values), kernel).log_likelihood for f in (1, 60, 3600, 1 / 24)]
    assert found == pytest.approx([found[0]] * 4, abs=1e-6)


def own(rng):
    return np.sort(rng.uniform(0, 48, 30))


def replicates(rng):
    return np.sort((np.arange(0, 50, 4.0)[:, None] + rng.uniform(0, [0, 1 / 3600, 1 / 30], (13, 3))).ravel())


def jitter(rng):
    return np.sort(np.repeat(np.arange(0, 50, 2.0), 2) + 1e-12 * rng.standard_normal(50))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("sampled", [own, replicates, jitter])
def test_a_period_at_times_of_their_own(sampled, seed):
    rng = np.random.default_rng(seed)
    times = [sampled(rng) for _ in range(5)]
    courses = TimeCourses.from_arrays(times, drawn(sk.ExpSineSquared(1.0, 24.0), times, 0.3, seed))
    found = quietly(courses, "periodic")
    near = quietly(courses, sk.ExpSineSquared(1.0, 24.0, periodicity_bounds=(22.0, 26.0)))
    assert found.log_likelihood > near.log_likelihood - 1e-4
    assert found.kernel.periodicity == pytest.approx(24, rel=0.05)


def told(times):
    return extent(TimeCourses.from_arrays(times, np.zeros((1, len(times))) + np.arange(len(times)))).shortest


def test_the_shortest_period_that_times_can_tell():
    """Twice the gap of a grid; what lies close together like replicates, or by accident, is no gap."""
    even = np.arange(0, 50, 4.0)
    assert told(even) == 8
    assert told(np.sort(np.concatenate([even, even + 1e-12]))) == pytest.approx(8)
    assert told(np.sort(np.concatenate([even, even + 1 / 3600, even + 1 / 30]))) == pytest.approx(8, rel=0.01)
    assert told(np.array([0, 1, 2, 4, 8, 12, 18, 24, 36, 48.0])) < 4
    assert 0.5 < told(own(np.random.default_rng(0))) < 4


def test_a_period_shorter_than_the_times_tell_is_said():
    times = np.arange(0, 50, 4.0)
    values = drawn(sk.ExpSineSquared(1.0, 7.0), [times] * 20, 0.1, seed=1)
    gp = quietly(TimeCourses.from_arrays(times, np.array(values)), sk.ExpSineSquared())
    assert gp.kernel.periodicity >= 8
