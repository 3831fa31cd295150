"""One run computes a thing once: the parts of a job share courses under a model, curves and outliers."""

from collections import Counter

import pytest
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

import timelike as tl
from timelike.clusters.curves import curve_clustering
from timelike.gp import modelled


@pytest.fixture
def counts(monkeypatch):
    """How often functions were called, and with which arguments."""
    counted = Counter()

    def count(place, name):
        plain = getattr(place, name)

        def counting(*arguments, **named):
            counted[name] += 1
            return plain(*arguments, **named)

        monkeypatch.setattr(place, name, counting)

    count(modelled, "basis")
    count(modelled, "information")
    count(curve_clustering, "outlying")
    count(curve_clustering.CurveClustering, "_curves_at")
    count(Figure, "savefig")
    count(ConstrainedLayoutEngine, "execute")
    return counted


FIGURE = {"savefig": 3, "execute": 1}
"""A figure in three formats: its panels find their places once."""


@pytest.mark.parametrize("method", ["mixture", "evidence"])
def test_one_run_computes_a_thing_once(counts, method, tmp_path):
    courses, _ = tl.simulate.profiles(noise=0.08, seed=1)
    tl.analyse(courses, tmp_path / "run", method=method, refine=False)  # which tries other models
    grids = 4  # of the table, of the figure, of the page, and the times of the courses, where curves are compared
    assert counts == {"basis": 1, "information": 1, "outlying": 1, "_curves_at": grids} | FIGURE


def test_graphs_of_neighbours_share_the_information_of_the_neighbours(counts, tmp_path):
    courses, _ = tl.simulate.profiles(noise=0.08, seed=1)
    tl.analyse(courses, tmp_path / "run", method="spectral", k=3)
    assert counts == {"basis": 1, "information": 1} | FIGURE
