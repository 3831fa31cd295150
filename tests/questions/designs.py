"""Small made-up experiments for the tests of questions: conditions with every kind of times and replicates."""

import numpy as np

import timelike as tl

GRID = np.array([0.0, 1, 2, 4, 7, 10])
DESIGNS = {
    "replicates": [np.repeat(GRID, 2)] * 2,
    "unequal replicates": [np.repeat(GRID, [3, 1, 2, 1, 2, 3]), np.repeat(GRID, [1, 2, 2, 3, 1, 1])],
    "no replicates": [np.arange(9.0)] * 2,
    "other times": [np.repeat([0.0, 2, 4, 6, 8], 2), np.repeat([1.0, 3, 5, 7, 9], 2)],
    "three": [np.repeat(GRID, 2)] * 3,
}


def model(unit=1.0, second=1.0):
    return tl.GP.se(length_scale=3.0 * second, signal_sd=1.5 * unit, noise_sd=0.8 * unit)


def smooth(rng, times, count, length_scale=4.0):
    """Draws of a smooth GP with variance 1, (count, len(times))."""
    distinct, at = np.unique(times, return_inverse=True)
    K = np.exp(-(np.subtract.outer(distinct, distinct) ** 2) / (2 * length_scale**2)) + 1e-9 * np.eye(len(distinct))
    return (rng.standard_normal((count, len(distinct))) @ np.linalg.cholesky(K).T)[:, at.ravel()]


def courses(times, values, names=None):
    names = [f"gene {i}" for i in range(len(values))] if names is None else names
    return tl.TimeCourses.from_arrays(times, values, names)


def values(designs, count=30, different=6, size=2.5, curve=1.5, spread=0.4, seed=0):
    """Values of all conditions, (count, n) each, and effects: of the first genes on the last condition, half level.

    Every gene has a level, a smooth curve that conditions share, and noise of its own about 1.
    """
    rng = np.random.default_rng(seed)
    together = np.concatenate(designs)
    shared = 5 * rng.standard_normal((count, 1)) + curve * smooth(rng, together, count)
    effect = np.zeros((count, len(together)))
    effect[:different] = size * smooth(rng, together, different)
    half = different // 2
    effect[:half] = size * rng.choice([-1.0, 1.0], half)[:, None]
    effect[:, : len(together) - len(designs[-1])] = 0
    noise = np.exp(spread * rng.standard_normal((count, 1))) * rng.standard_normal((count, len(together)))
    cuts = np.cumsum([len(one) for one in designs])[:-1]
    return np.split(shared + effect + noise, cuts, axis=1), np.split(effect, cuts, axis=1)


def experiment(designs, **options):
    """Condition -> courses, the first is called "a"."""
    made, _ = values(designs, **options)
    return {name: courses(t, y) for name, t, y in zip("abcdef", designs, made, strict=False)}
