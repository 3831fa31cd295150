"""What the tests of figures share."""

import numpy as np
import pytest

import timelike as tl


@pytest.fixture(autouse=True)
def _no_figure_stays_open():
    import matplotlib.pyplot as plt

    plt.switch_backend("agg")
    yield
    plt.close("all")


@pytest.fixture(scope="session")
def replicated():
    """Courses with replicates, and their model."""
    courses, _ = tl.simulate.replicated(seed=2)
    return courses, tl.fit(courses)


@pytest.fixture(scope="session")
def clustered():
    """45 courses and an odd one, their model, and their clusters."""
    courses, _ = tl.simulate.profiles(0.08, per_group=15, seed=2)
    odd = np.concatenate([courses.values.reshape(45, 15), [0.5 - tl.simulate.grid()]])
    courses = tl.TimeCourses.from_arrays(tl.simulate.grid(), odd)
    gp = tl.fit(courses)
    return courses, gp, tl.mixture(courses, gp)
