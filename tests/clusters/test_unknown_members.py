"""What the bound leaves out because members are not known."""

import numpy as np
import pytest
from scipy.special import logsumexp

import timelike as tl
from timelike.clusters.curves.ascent import walk
from timelike.clusters.curves.bound import ALPHA, Clusters, sample
from timelike.clusters.curves.unknown_members import LEAST, _precisions, gained


def prepared(noise, seed=1, sampling="uneven"):
    courses, _ = tl.simulate.profiles(noise, sampling, per_group=8, seed=seed)
    return sample(tl.GP.se(0.9, 0.65, noise).at(courses))


@pytest.mark.parametrize("sampling", ["uneven", "asynchronous"])
def test_precision_is_the_curvature_with_members_summed_out(sampling):
    data = prepared(0.1, sampling=sampling)
    state, rng = data.at(0.1), np.random.default_rng(0)
    r = rng.dirichlet(np.ones(4), len(state))
    clusters = Clusters.of(state, r)
    mean = clusters.moments[0]
    count, rank = mean.shape
    A = state.A[state.design_of]

    def logs(theta):
        w, share = theta.reshape(count, rank + 1)[:, :-1], theta.reshape(count, rank + 1)[:, -1]
        own = share + state.b @ w.T - np.einsum("kd,ide,ke->ik", w, A, w) / 2
        return np.column_stack([own, np.full(len(state), own.mean())])  # the last: none of these

    start = np.column_stack([mean, np.zeros(count)]).ravel()
    weights = np.exp(logs(start) - logsumexp(logs(start), axis=1, keepdims=True))
    none = logs(start)[:, -1]

    def total(theta):
        return logsumexp(np.column_stack([logs(theta)[:, :-1], none]), axis=1).sum()

    step, size = 1e-4, len(start)
    unit = step * np.eye(size)
    curvature = np.array(
        [
            [
                (total(start + a + b) - total(start + a - b) - total(start - a + b) + total(start - a - b)) / 4
                for b in unit
            ]
            for a in unit
        ]
    )
    members = weights[:, :-1].sum(axis=0)
    prior = np.diag(np.column_stack([np.ones((count, rank)), ALPHA + members]).ravel())
    known, lost = _precisions(state, clusters, weights, 1.0)
    np.testing.assert_allclose(known - lost, prior - curvature / step**2, atol=2e-3 * np.abs(known).max())
    assert np.linalg.eigvalsh(lost).min() > -1e-9 * np.abs(lost).max()


def test_nothing_is_lost_where_members_are_known():
    courses = tl.TimeCourses.from_arrays([0, 1, 2], np.repeat([[0, 0, 0], [9, 9, 9], [0, 9, 0.0]], 5, axis=0))
    fits = {fit.k: fit for fit in walk(sample(tl.GP.se(1.0, 5.0, 0.5).at(courses)), 0.0, 3, 0)}
    data = sample(tl.GP.se(1.0, 5.0, 0.5).at(courses))
    assert gained(data, fits[3]) == pytest.approx(0, abs=1e-3)
    assert gained(data, fits[1]) == 0


def test_overlapping_clusters_gain_and_doubles_do_not_gain_without_end():
    data = prepared(0.12)
    fits = {fit.k: fit for fit in walk(data, None, 5, 0)}
    gains = [gained(data, fits[k]) for k in sorted(fits) if k > 1]
    assert gains[0] > 0.1
    assert gains[-1] > gains[0]
    for k, gain in zip(sorted(fits)[1:], gains, strict=True):
        assert gain <= -np.log(LEAST) / 2 * k * (fits[k].clusters.b.shape[1] + 1)


def test_a_sample_stands_for_all(monkeypatch):
    courses, _ = tl.simulate.profiles(0.1, "uneven", per_group=300, seed=2)
    data = sample(tl.GP.se(0.9, 0.65, 0.1).at(courses))
    fit = next(fit for fit in walk(data, 0.0, 3, 0) if fit.k == 3)
    whole = gained(data, fit)
    monkeypatch.setattr("timelike.clusters.curves.unknown_members.COURSES", 400)
    assert gained(data, fit) == pytest.approx(whole, rel=0.1)
    assert gained(data.draw(400, 0), fit, len(data) / 400) == pytest.approx(whole, rel=0.1)
