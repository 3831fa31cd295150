"""Made-up courses whose curves change fast early and slowly late, measured densely early."""

import numpy as np

import timelike as tl

TAU = 2.0
TIMES = np.array([0, 0.5, 1, 2, 3, 5, 8, 12, 20, 32, 50, 80.0])


def made(per_group=20, groups=3, noise=0.1, seed=0, start=0.0):
    """Courses of several curves, each smooth on a clock that starts at `start`, and which curve each course has."""
    rng = np.random.default_rng(seed)
    on_clock = TAU * np.log1p(TIMES / TAU)
    K = np.exp(-(np.subtract.outer(on_clock, on_clock) ** 2) / (2 * 1.5**2)) + 1e-9 * np.eye(len(TIMES))
    curves = np.linalg.cholesky(K) @ rng.normal(size=(len(TIMES), groups))
    of = np.repeat(np.arange(groups), per_group)
    values = curves.T[of] + noise * rng.normal(size=(len(of), len(TIMES)))
    return tl.TimeCourses.from_arrays(TIMES + start, values), of


def model(clock=TAU):
    """The model that they came from."""
    return tl.GP.se(1.5, signal_sd=1, noise_sd=0.1, clock=clock)
