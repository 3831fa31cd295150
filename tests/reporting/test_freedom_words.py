"""Methods of runs whose courses may differ in level, gain and delay."""

import numpy as np
import pytest

import timelike as tl
from timelike.reporting import words
from timelike.reporting.methods_paragraph import methods
from timelike.reporting.subject import Naming, Subject


@pytest.fixture(scope="module")
def courses():
    return tl.simulate.delayed(per_group=5, seed=1)[0]


def subject(courses, gp, clustering, **run):
    near = tl.neighbors(courses, gp, k=2)
    naming = Naming(time_unit="h")
    return Subject(courses=courses, gp=gp, clustering=clustering, neighbors=near, naming=naming, run=run)


def test_the_methods_say_up_to_what_courses_were_compared(courses):
    gp = tl.fit(courses)
    none = tl.Clustering(np.zeros(len(courses), dtype=int), courses.names, 1, "spectral")
    paragraph = methods(subject(courses, gp, none, **{"up to": "level, delay", "max delay": 6.0}))[0]
    assert "Courses were compared up to level and delay (of at most 6 h), summed out under both." in paragraph
    assert "was fitted to all courses, moved to one level, by maximum marginal likelihood" in paragraph
    alone = methods(subject(courses, gp, none, **{"up to": "gain"}))[0]
    assert "Courses were compared up to gain, summed out under both." in alone
    assert "was fitted to all courses by maximum" in alone
    assert "up to" not in methods(subject(courses, gp, none))[0]


def test_freedoms_that_paid_are_named(courses):
    gp = tl.GP.se(0.2, 0.5, 0.1)
    found = tl.mixture(courses, gp, k=1, up_to="delay", max_delay=0.4)
    paragraph = methods(subject(courses, gp, found, **{"up to": "auto", "max delay": 0.4}))[0]
    assert "Courses were compared up to delay (of at most 0.4 h), summed out" in paragraph
    plain = tl.mixture(courses, gp, k=2)
    assert "compared up to" not in methods(subject(courses, gp, plain, **{"up to": "auto"}))[0]


def test_linked_clusters_have_them_too(courses):
    gp = tl.GP.se(0.2, 0.5, 0.1)
    found = tl.evidence_linkage(courses, gp, 1, up_to="delay", max_delay=0.4)
    spread = "with a learned spread within clusters of 0 signal s.d. (0)."
    assert f"were joined, {spread} Each course had a delay (at most 0." in methods(subject(courses, gp, found))[0]


def test_nodes_of_delays_are_no_noise(courses):
    gp = tl.GP.se(0.2, 0.5, 0.1)
    found = tl.mixture(courses, gp, k=1, up_to="delay", max_delay=0.4)
    made = subject(courses, gp, found)
    assert "the noise of each course" not in methods(made)[0]
    assert "Noise of courses" not in dict(words.model(made))
