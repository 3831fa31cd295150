"""New courses beside clusters: exact however small the noise, however many they are, and whoever is there besides."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import logsumexp
from sklearn.gaussian_process.kernels import RBF, Matern

import timelike as tl
from contract import BASIS, EPS, FACTOR, gp_of, signal_to_noise, times_to_scale
from extended import Case, density_beside
from timelike.clusters.curves import new_courses
from timelike.clusters.curves.bound import NONE, expected_shares
from timelike.clusters.curves.noise import Noise

TIMES = np.linspace(0, 1, 8)
MANY_TIMES = np.sort(np.random.default_rng(5).random(20))
KERNEL = Matern(0.4, nu=1.5)
LATER = 3.0
"""New courses are measured until then."""


def drawn(rng, kernel, times, count):
    """Curves of a process, (count, T)."""
    weight, vectors = np.linalg.eigh(kernel(times[:, None]))
    return rng.standard_normal((count, len(times))) @ (vectors * np.sqrt(np.maximum(weight, 0))).T


def old_and_new(kernel, count, own, seed=0, noise=0.2):
    """Courses on one grid, on two curves, and new ones that have times of their own, or others that all have."""
    rng = np.random.default_rng(seed)
    later = [np.sort(rng.random(6)) * LATER for _ in range(count)] if own else [np.sort(rng.random(6)) * LATER] * count
    curves = drawn(rng, kernel, np.concatenate([TIMES, *later]), 2)
    ends = len(TIMES) + 6 * np.arange(count + 1)
    values = [curves[i % 2, a:b] + noise * rng.standard_normal(6) for i, (a, b) in enumerate(pairwise(ends))]
    known = curves[np.arange(30) % 2, : len(TIMES)] + noise * rng.standard_normal((30, len(TIMES)))
    return tl.TimeCourses.from_arrays(TIMES, known), tl.TimeCourses.from_arrays(later, values)


# -- exact -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("ratio", [1e-1, 1e-3, 1e-4, 1e-5])
@pytest.mark.parametrize("kernel", ["se", "matern12", "matern52", "periodic"])
def test_the_density_keeps_its_bound_however_small_the_noise(kernel, ratio, seed):
    """Many courses on one grid, and new ones at other times and later: what is known well, and what is not, at once."""
    rng = np.random.default_rng(seed)
    case = Case(kernel, float(10 ** rng.uniform(-1.5, 0)), ratio, start=LATER - 1)  # times up to `LATER`
    count = int(rng.choice([10, 100]))
    old, new = many_and_new(case, rng, count)
    found = tl.evidence_linkage(old, gp_of(case), k=2, spread=0)
    members = [np.flatnonzero(found.labels == k) for k in range(2)] + [np.arange(0)]
    exact = np.array([[of(case, old, which, course) for which in members] for course in new.select(range(3))])
    shares = np.append(expected_shares(np.bincount(found.labels).astype(float)), NONE)
    expected = logsumexp(exact + np.log(shares), axis=1)
    unit = FACTOR * (BASIS + EPS * times_to_scale(case) * signal_to_noise(case, old)) * np.sqrt(count)
    bound = unit * (6 + np.abs(exact[:, 2]) + np.abs(expected))
    assert (np.abs(found.log_densities(new)[:3] - expected) <= bound).all()
    told = np.exp(exact[:, :2] + np.log(shares[:2]) - expected[:, None])
    assert_allclose(found.predict(new).probabilities[:3], told, atol=bound.max())


def many_and_new(case, rng, count):
    """So many courses on one grid, and 60 that share another, or three with times of their own."""
    own, first = rng.random() < 0.3, len(MANY_TIMES)
    later = [np.sort(rng.random(6)) * LATER for _ in range(3)] if own else [np.sort(rng.random(6)) * LATER] * 60
    curves = drawn(rng, case.kernel_object, np.concatenate([MANY_TIMES, *later[:3]]), 2)
    old = curves[np.arange(count) % 2, :first] + case.ratio * rng.standard_normal((count, first))
    starts = first + 6 * (np.arange(len(later)) % 3)
    values = [curves[i % 2, at : at + 6] + case.ratio * rng.standard_normal(6) for i, at in enumerate(starts)]
    return tl.TimeCourses.from_arrays(MANY_TIMES, old), tl.TimeCourses.from_arrays(later, values)


def of(case, old, which, course):
    return density_beside(case, MANY_TIMES, old.values.reshape(len(old), -1)[which], course.times, course.values)


# -- part after part -------------------------------------------------------------------------------------------------


def told(found, new):
    return np.column_stack([found.log_densities(new), found.predict(new).probabilities])


MODELS = {
    "as they are": {},
    "with a spread": {"spread": 0.2},
    "deviations on a scale of their own": {"spread": 0.2, "deviation_scale": 0.5},
    "noise of their own": {"spread": 0.2, "noise": Noise(np.array([-0.7, 0.0, 0.7]))},
}


FREEDOMS = [
    (model, free) for model in MODELS for free in ((), "level", "gain") if not (free and "noise" in MODELS[model])
]
"""Nodes of noise and of a freedom at once are those of a fit."""


@pytest.mark.parametrize(("model", "free"), FREEDOMS)
@pytest.mark.parametrize("kernel", [KERNEL, RBF(0.4)], ids=["rough", "smooth"])
def test_one_course_is_predicted_as_it_is_among_others(kernel, model, free, monkeypatch):
    """Alone, all at once, or cut into parts, and with a basis that grows by whatever it takes."""
    known = MODELS[model]
    old, new = old_and_new(kernel, 6, own=True)
    made = tl.evidence_linkage if free else tl.mixture
    fit = made(old, tl.GP(kernel, 1.0, 0.2), k=2, spread=0, up_to=free)
    found = replace(fit, **known) if "noise" not in known else _with_noise(fit, known)
    together = told(found, new)
    alone = np.vstack([told(found, new.select([i])) for i in range(len(new))])
    assert_allclose(alone, together, rtol=1e-9, atol=1e-9)
    monkeypatch.setattr(new_courses, "NUMBERS", 2000)
    assert_allclose(told(found, new), together, rtol=1e-9, atol=1e-9)
    monkeypatch.setattr(new_courses, "MORE", 10_000)
    assert_allclose(told(found, new), together, rtol=1e-9, atol=1e-9)


def _with_noise(fit, known):
    levels = np.stack([fit.responsibilities / 3] * 3)
    return replace(fit, **known, level_weights=levels)


def test_the_basis_does_not_grow_with_the_new_courses(monkeypatch):
    """One with all times of 60 courses had 360 functions more, for every course."""
    old, new = old_and_new(KERNEL, 60, own=True)
    found = tl.mixture(old, tl.GP(KERNEL, 1.0, 0.2), k=2, spread=0)
    ranks = [part.new.b.shape[1] for part in new_courses.parts(found, new)]
    assert max(ranks) <= len(TIMES) + new_courses.MORE
    monkeypatch.setattr(new_courses, "NUMBERS", 50_000)
    cut = [part.which for part in new_courses.parts(found, new)]
    assert len(cut) > 2
    assert sorted(np.concatenate(cut)) == list(range(60))


def test_where_times_lie_so_close_that_a_basis_leaves_some_out_new_ones_are_exact(monkeypatch):
    """What the basis left out is related to new points: it cannot be theirs alone, and the basis is made larger."""
    rng = np.random.default_rng(1)
    times = np.sort(np.concatenate([TIMES, TIMES[1:-1] + 1e-7]))
    kernel = Matern(0.6, nu=2.5)
    old = tl.TimeCourses.from_arrays(
        times, drawn(rng, kernel, times, 2)[np.arange(20) % 2] + rng.standard_normal((20, 14)) / 5
    )
    gp = tl.GP(kernel, 1.0, 0.2)
    found = tl.mixture(old, gp, k=2, spread=0)
    assert found.here.basis().error > 0
    _, new = old_and_new(kernel, 12, own=True)
    monkeypatch.setattr(new_courses, "MORE", 10_000)
    expected = told(found, new)
    monkeypatch.setattr(new_courses, "MORE", 4)
    assert_allclose(told(found, new), expected, rtol=1e-9, atol=1e-9)


def test_points_with_another_number_of_coordinates_are_refused():
    old, _ = old_and_new(KERNEL, 1, own=True)
    found = tl.mixture(old, tl.GP(KERNEL, 1.0, 0.2), k=2, spread=0)
    with pytest.raises(tl.InputError, match="different numbers of coordinates"):
        found.predict(tl.TimeCourses.from_arrays(np.zeros((1, 2)), [[1.0]]))
