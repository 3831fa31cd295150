"""A wild value of a course with a level of its own: found whatever the model's mean, told in units of the data."""

import numpy as np
import pytest

import timelike as tl


@pytest.mark.parametrize("mean", [0.0, 20.0])
def test_a_wild_value_of_a_course_with_a_level_of_its_own(mean):
    courses, _ = tl.simulate.profiles(per_group=8, seed=1)
    times, values = courses.to_matrix()
    values = values + 20 + np.random.default_rng(0).normal(size=(len(courses), 1))
    usual = values[3, 7]
    values[3, 7] += 3
    lifted = tl.TimeCourses.from_arrays(times, values)
    with pytest.warns(tl.DataWarning, match="1 of 360 values count for little"):
        found = tl.mixture(lifted, tl.GP.se(0.9, 0.65, 0.08, mean=mean), k=3, up_to="level").outliers()
    assert found["value"].tolist() == [values[3, 7]]
    assert abs(found["expected"][0] - usual) < 0.3
