"""Effects against the dense formulas: what is summed out exactly, the sum over the noise, the curves."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import oracle
import questions_oracle as dense
import timelike as tl
from timelike.base.own_noise import OwnNoise
from timelike.questions.asked import answered, effect_at
from timelike.questions.effects import NEGLIGIBLE, Known, eliminated, evidence, residual, spectrum

pytestmark = pytest.mark.filterwarnings("ignore:about .* of all courses differ")  # four genes, three with effects
CONTRAST = np.array([[-0.5], [0.5]])


class Gene:
    """Values of two or three conditions at shared times, each condition with a design of its own."""

    def __init__(self, seed, conditions=2, replicates=(2, 1, 3, 2), size=2.0):
        rng = np.random.default_rng(seed)
        self.grid = np.array([0.0, 1.0, 2.5, 4.0])
        each = np.repeat(self.grid, replicates)
        self.times = np.tile(each, conditions)
        self.condition = np.repeat(np.arange(conditions), len(each))
        self.R = rng.uniform(0.3, 2.0, len(self.times))
        self.y = size * rng.standard_normal(len(self.times)) + np.sin(self.times) + self.condition
        place = self.condition * len(self.grid) + np.searchsorted(self.grid, self.times)
        self.H = np.eye(conditions * len(self.grid))[place]

    @property
    def known(self):
        weighted = self.H.T / self.R
        A, b, squares = weighted @ self.H, weighted @ self.y, (self.y**2 / self.R).sum()
        return Known(A[None], b[None], np.array([squares]), np.array([float(len(self.y))]), np.zeros(1))


def factor(K):
    value, axes = np.linalg.eigh(K)
    return axes[:, value > 1e-10] * np.sqrt(value[value > 1e-10])


def kernels(grid):
    return {
        "level": np.ones((len(grid), len(grid))),
        "smooth": oracle.se(grid, grid, 2.0, 1.0),
        "rough": oracle.matern12(grid, grid, 1.0, 1.0),
    }


def gained(known, columns, size, s):
    return evidence(spectrum(known, columns), size**2, np.array([[s]]))[0, 0]


# -- one scale of the noise -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", ["level", "smooth", "rough"])
@pytest.mark.parametrize(("conditions", "weights"), [(2, CONTRAST), (3, np.array([[-0.5], [-0.5], [0.5]]))])
def test_evidence_with_any_shared_curve_is_the_restricted_likelihood_ratio(shape, conditions, weights):
    for seed in range(4):
        gene = Gene(seed, conditions)
        K = kernels(gene.grid)[shape]
        rest = eliminated(gene.known, np.kron(np.ones((conditions, 1)), np.eye(4)), 4)
        at = np.searchsorted(gene.grid, gene.times)
        dense_K = dense.effect_covariance(weights, gene.condition, K[np.ix_(at, at)])
        for size, s in [(0.3, 1.0), (1.0, 0.2), (5.0, 3.0)]:
            expected = dense.log_ratio(gene.y, gene.R, s, size**2 * dense_K, dense.any_curve(gene.times))
            assert_allclose(gained(rest, np.kron(weights, factor(K)), size, s), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("s", [1.0, 0.2, 5.0])
def test_evidence_beside_a_curve_that_has_a_size_in_units_of_the_noise(s):
    gene = Gene(1)
    smooth, rough = kernels(gene.grid)["smooth"], kernels(gene.grid)["rough"]
    both = np.ones((2, 1))
    rest = eliminated(gene.known, np.kron(both, np.hstack([np.ones((4, 1)), 1.5 * factor(smooth)])), 1)
    at = np.searchsorted(gene.grid, gene.times)
    spread = np.ix_(at, at)
    expected = dense.log_ratio(
        gene.y,
        gene.R,
        s,
        0.7**2 * dense.effect_covariance(CONTRAST, gene.condition, rough[spread]),
        np.ones((len(gene.y), 1)),
        s * 1.5**2 * smooth[spread],
    )
    assert_allclose(gained(rest, np.kron(CONTRAST, factor(rough)), 0.7, s), expected, rtol=1e-6)


def test_what_is_left_without_an_effect_is_its_likelihood_at_every_scale():
    """Up to a constant: -freedom/2 log s - squares/(2 s) - log_det/2, with a free level and curves of two sizes."""
    gene = Gene(2)
    K = kernels(gene.grid)["smooth"]
    at = np.searchsorted(gene.grid, gene.times)
    heights, expected = [], []
    for size in (0.5, 3.0):
        columns = np.kron(np.ones((2, 1)), np.hstack([np.ones((4, 1)), size * factor(K)]))
        rest = eliminated(gene.known, columns, 1)
        for s in (0.3, 1.0, 4.0):
            heights.append(-rest.freedom[0] / 2 * np.log(s) - rest.squares[0] / (2 * s) - rest.log_det[0] / 2)
            C = s * (np.diag(gene.R) + size**2 * K[np.ix_(at, at)])
            expected.append(dense.log_restricted(gene.y, C, np.ones((len(gene.y), 1))))
    apart = np.array(heights) - expected
    assert_allclose(apart, apart[0], atol=1e-6)


def test_two_eliminations_are_one():
    gene = Gene(3)
    level, curve = np.kron(np.eye(2), np.ones((4, 1))), factor(np.kron(np.eye(2), kernels(gene.grid)["smooth"]))
    once = eliminated(gene.known, np.hstack([level, curve]), 2)
    twice = eliminated(eliminated(gene.known, level, 2), curve, 0)
    for field in ("A", "b", "squares", "freedom", "log_det"):
        assert_allclose(getattr(twice, field), getattr(once, field), atol=1e-6, err_msg=field)


def test_a_free_direction_that_was_not_measured_takes_nothing():
    gene = Gene(4)
    known = gene.known
    A, b = known.A.copy(), known.b.copy()
    A[:, 7], A[:, :, 7], b[:, 7] = 0, 0, 0  # the last time of the second condition
    hidden = known._replace(A=A, b=b)
    rest = eliminated(hidden, np.eye(8), 8)
    assert_allclose(rest.freedom, len(gene.y) - 7)
    assert_allclose(rest.A, 0, atol=10 * NEGLIGIBLE * A.max())


def test_the_axes_of_a_spectrum_are_independent_and_hold_all_that_is_known():
    gene = Gene(5)
    columns = np.kron(CONTRAST, factor(kernels(gene.grid)["rough"]))
    found = spectrum(gene.known, columns)
    U = found.axes[0]
    assert_allclose(U @ np.diag(found.values[0]) @ U.T, columns.T @ gene.known.A[0] @ columns, atol=1e-9)
    assert_allclose(U @ found.loads[0], columns.T @ gene.known.b[0])


# -- residuals --------------------------------------------------------------------------------------------------------


def test_residuals_of_free_curves_are_those_of_the_means_of_replicates():
    gene = Gene(6)
    gene.R[:] = 1.0
    squares, freedom = residual(eliminated(gene.known, np.eye(8), 8))
    cells = gene.H.argmax(axis=1)
    expected = sum(((gene.y[cells == c] - gene.y[cells == c].mean()) ** 2).sum() for c in range(8))
    assert_allclose(squares, expected, rtol=1e-6)
    assert_allclose(freedom, len(gene.y) - 8, rtol=1e-6)


def test_residuals_of_curves_with_a_size_have_the_mean_and_variance_of_their_chi_square():
    """Over draws from the model itself, with noise of variance 1."""
    gene, rng = Gene(7, replicates=(1, 1, 1, 1)), np.random.default_rng(0)
    gene.R[:] = 1.0
    curve = 1.5 * factor(np.kron(np.eye(2), kernels(gene.grid)["smooth"]))
    columns = np.hstack([np.kron(np.eye(2), np.ones((4, 1))), curve])
    y = rng.standard_normal((40_000, curve.shape[1])) @ curve.T + rng.standard_normal((40_000, 8))
    many = Known(
        np.broadcast_to(np.eye(8), (len(y), 8, 8)), y, (y**2).sum(axis=1), np.full(len(y), 8.0), np.zeros(len(y))
    )
    squares, freedom = residual(eliminated(many, columns, 2))
    assert 1 < freedom[0] < 6
    assert_allclose(squares.mean() / freedom[0], 1, rtol=0.03)
    assert_allclose(squares.var() / (2 * freedom[0]), 1, rtol=0.06)


# -- all scales of the noise ------------------------------------------------------------------------------------------


def compared(times, effects, seed=0, gp=None, names=None):
    """Two conditions; the second of each gene is off by an effect, level or new at every time."""
    rng = np.random.default_rng(seed)
    times = np.asarray(times, float)
    distinct, at = np.unique(times, return_inverse=True)
    shape = rng.standard_normal((len(effects), len(distinct)))
    shape[::2] = 1
    noise = np.exp(0.4 * rng.standard_normal((2, len(effects), 1))) * rng.standard_normal((2, len(effects), len(times)))
    values = noise + np.stack([np.zeros_like(noise[0]), np.array(effects)[:, None] * shape[:, at]])
    names = names or [f"gene {i}" for i in range(len(effects))]
    courses = [tl.TimeCourses.from_arrays(times, one, names) for one in values]
    gp = gp or tl.GP.se(length_scale=np.ptp(times) / 3, signal_sd=2.0, noise_sd=1.0)
    return tl.compare({"a": courses[0], "b": courses[1]}, gp), values


def largest_error(times, effects, noise, seed=0):
    """Of the sum over nodes, against an integral over the scale of the noise: for every shape, at three sizes."""
    found, values = compared(times, effects, seed)
    answer = answered(found.question, own_noise=noise)
    t, condition = np.tile(times, 2).astype(float), np.repeat([0, 1], len(times))
    worst = 0.0
    for s, shape in enumerate(found.question.shapes):
        places = np.flatnonzero(found.question.shape_of == s)
        for size, place in list(zip(shape.sizes, places, strict=True))[::3]:
            if shape.counts:
                K = size**2 * dense.effect_covariance(CONTRAST, condition, shape.kernel(t[:, None]))
                for i, y in enumerate(np.concatenate(values, axis=1)):
                    expected = dense.log_bayes_factor(
                        y, np.ones(len(y)), K, noise.scale, noise.freedom, dense.any_curve(t)
                    )
                    worst = max(worst, abs(answer.evidence[i, 0, place] - expected))
    return worst


@pytest.mark.parametrize("freedom", [0.7, 3.0, 30.0])
def test_the_sum_over_nodes_is_the_integral_over_the_noise(freedom):
    """Two replicates of three times, effects up to 40 standard deviations of the noise."""
    assert largest_error(np.repeat([0, 1, 2], 2), [0.0, 2.0, 10.0, 40.0], OwnNoise(1.2, freedom)) < 0.004


def test_the_sum_over_nodes_with_many_replicates_and_huge_effects():
    assert largest_error(np.repeat([0, 1, 2, 4, 8, 12], 3), [2.0, 40.0], OwnNoise(0.8, 5.0)) < 0.01


# -- curves of effects ------------------------------------------------------------------------------------------------


def test_the_curve_of_a_single_effect_is_its_posterior():
    times = np.repeat([0, 1, 2, 4, 8], 3)
    found, values = compared(times, [3.0, 0.0, 1.0, 2.0])
    question, answer = found.question, found.answer
    t, condition = np.tile(times, 2).astype(float), np.repeat([0, 1], len(times))
    at = np.array([-1.0, 0.0, 0.5, 4.0, 6.0, 10.0])
    for s, shape in enumerate(question.shapes[:-1]):
        for place in np.flatnonzero(question.shape_of == s)[1::4]:
            sure = answer.evidence.copy()
            sure[:] = -2000
            sure[:, :, place] = 2000
            only = type(answer)(
                sure, answer.possible, answer.shares, answer.own_noise, answer.scale, answer.nuisance, answer.counted
            )
            size = shape.sizes[place - np.flatnonzero(question.shape_of == s)[0]]
            curves = effect_at(question, only, np.arange(4), at[:, None], (0, 1))
            K = size**2 * dense.effect_covariance(CONTRAST, condition, shape.kernel(t[:, None]))
            cross = size**2 * CONTRAST[condition][:, 0] * shape.kernel(at[:, None], t[:, None])
            prior = size**2 * shape.kernel.diag(at[:, None])
            for i, y in enumerate(np.concatenate(values, axis=1)):
                mean, variance = dense.effect_posterior(
                    y, np.ones(len(y)), answer.scale[i], cross, prior, K, dense.any_curve(t)
                )
                assert_allclose(curves.mean[i], mean, rtol=1e-5, atol=1e-5)
                assert_allclose(curves.variance[i], variance, rtol=1e-5, atol=1e-5)
