"""TimeCourses under any sequence of operations, beside a plain dictionary of what they should hold."""

import math
import os

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import timelike as tl
from timelike.clusters import saved

FUZZ = int(os.environ.get("TIMELIKE_FUZZ", "1"))
NUMBER = st.floats(-1000, 1000, allow_nan=False, width=32)
COURSE = st.lists(st.tuples(st.sampled_from([0.0, 0.5, 1.0, 3.0, 7.5]), NUMBER), min_size=1, max_size=6)


class Operations(RuleBasedStateMachine):
    """`expected` is name -> sorted list of (time, value); `courses` must say the same after every step."""

    @initialize(data=st.lists(COURSE, min_size=1, max_size=6))
    def make(self, data):
        self.expected = {f"c{i}": sorted(course, key=lambda row: row[0]) for i, course in enumerate(data)}
        times = [[t for t, _ in rows] for rows in self.expected.values()]
        values = [[v for _, v in rows] for rows in self.expected.values()]
        self.courses = tl.TimeCourses.from_arrays(times, values, names=list(self.expected))

    @rule(data=st.data())
    def select(self, data):
        names = data.draw(st.lists(st.sampled_from(list(self.expected)), min_size=1, unique=True))
        self.courses = self.courses.select(names)
        self.expected = {name: self.expected[name] for name in names}

    @rule()
    def center(self):
        self.courses = self.courses.centered()
        self.expected = {n: [(t, v - _mean(rows)) for t, v in rows] for n, rows in self.expected.items()}

    @precondition(lambda self: all(_sd(rows) > 1e-3 for rows in self.expected.values()))
    @rule()
    def standardize(self):
        self.courses = self.courses.standardized()
        self.expected = {n: [(t, (v - _mean(rows)) / _sd(rows)) for t, v in rows] for n, rows in self.expected.items()}

    @rule(data=st.data())
    def keep_the_most_variable(self, data):
        n = data.draw(st.integers(1, len(self.expected)))
        self.courses = self.courses.most_variable(n)
        kept = set(self.courses.names)
        least = min(_sd(self.expected[name]) for name in kept)
        dropped = [_sd(rows) for name, rows in self.expected.items() if name not in kept]
        assert len(kept) == n
        assert all(sd <= least + 1e-6 for sd in dropped)
        self.expected = {name: rows for name, rows in self.expected.items() if name in kept}

    @rule()
    def through_a_tidy_table(self):
        self.courses = tl.TimeCourses.from_long(self.courses.to_frame())

    @rule()
    def through_a_matrix(self):
        times, values = self.courses.to_matrix()
        self.courses = tl.TimeCourses.from_arrays(times, values, names=self.courses.names)

    @rule()
    def through_a_file(self):
        import tempfile

        labels = np.zeros(len(self.courses), dtype=int)
        with tempfile.TemporaryDirectory() as folder:
            saved.save(f"{folder}/c.npz", tl.Clustering(labels, self.courses.names, 1, "none"), self.courses)
            _, self.courses = saved.load(f"{folder}/c.npz", tl.GP.se(1, 1, 1))

    @invariant()
    def holds_what_it_should(self):
        if not hasattr(self, "courses"):
            return
        assert self.courses.names == tuple(self.expected)
        for name, rows in self.expected.items():
            course = self.courses[name]
            np.testing.assert_array_equal(course.times, [t for t, _ in rows])
            np.testing.assert_allclose(course.values, [v for _, v in rows], rtol=1e-5, atol=1e-4)

    @invariant()
    def cannot_be_changed(self):
        if hasattr(self, "courses"):
            assert not self.courses.values.flags.writeable
            assert not self.courses.designs.points.flags.writeable


def _mean(rows):
    return sum(v for _, v in rows) / len(rows)


def _sd(rows):
    return math.sqrt(sum((v - _mean(rows)) ** 2 for _, v in rows) / max(len(rows) - 1, 1))


TestStateful = Operations.TestCase
TestStateful.settings = settings(max_examples=40 * FUZZ, stateful_step_count=12)
