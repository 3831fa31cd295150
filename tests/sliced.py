"""Made-up courses in clean groups that a mixture slices: it finds more clusters than there are groups."""

from functools import cache

import numpy as np
import pytest

import timelike as tl

X = np.linspace(0, 1, 10)
DRAW = np.linalg.cholesky(np.exp(-((X[:, None] - X) ** 2) / (2 * 0.3**2)) + 1e-9 * np.eye(10))


def long_groups(seed: int, count: int = 300, noise: float = 0.15) -> tuple[tl.TimeCourses, np.ndarray]:
    """Four clean groups whose members are the same curve, of other sizes: more than a spread can describe."""
    rng = np.random.default_rng(seed)
    curves, truth = 2 * rng.standard_normal((4, 10)) @ DRAW.T, rng.integers(0, 4, count)
    values = rng.uniform(0.6, 1.4, count)[:, None] * curves[truth] + noise * rng.standard_normal((count, 10))
    return tl.TimeCourses.from_arrays(X, values), truth


@cache
def clean_study() -> tuple[tl.TimeCourses, tl.GP, tl.CurveClustering]:
    """Such courses, their model, and the four clusters that stand out of finer ones."""
    courses, _ = long_groups(200)
    gp = tl.fit(courses)
    with pytest.warns(tl.DataWarning, match="4 clusters stand out by the gaps between them"):
        return courses, gp, tl.mixture(courses, gp, noise="common", refine=False)
