"""Means and sums over replicates, against a plain loop."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from timelike.base.replicates import averaged, totals


@given(st.lists(st.lists(st.tuples(st.integers(0, 3), st.integers(-9, 9)), min_size=1), min_size=1, max_size=6))
def test_each_course_has_its_distinct_times_once(courses):
    courses = [sorted(course, key=lambda pair: pair[0]) for course in courses]
    times, values = np.array([pair for course in courses for pair in course], dtype=float).T
    starts = np.cumsum([0, *map(len, courses)])
    means, sums = averaged(times, values, starts), totals(times, values, starts)
    for course, mean, total in zip(courses, means, sums, strict=True):
        at = {t: [v for u, v in course if u == t] for t, _ in course}
        np.testing.assert_allclose(mean, [(t, np.mean(found)) for t, found in at.items()])
        np.testing.assert_allclose(total, [(t, np.sum(found)) for t, found in at.items()])
