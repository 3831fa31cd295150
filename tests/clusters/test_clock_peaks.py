"""Curves of clusters on a clock: early peaks are found."""

import numpy as np

import timelike as tl
from timelike.clusters.curves.curve_clustering import GRID

TIMES = np.concatenate([[0], np.geomspace(0.1, 1000, 24)])


def peaks(at):
    """Ten courses for each peak, which is narrow early and wide late."""
    rng = np.random.default_rng(0)
    place = np.log(TIMES + 0.1)
    curves = [2 * np.exp(-((place - np.log(t + 0.1)) ** 2) / 0.5) for t in at]
    return tl.TimeCourses.from_arrays(TIMES, np.repeat(curves, 10, axis=0) + 0.1 * rng.normal(size=(10 * len(at), 25)))


def test_clusters_are_numbered_by_peaks_that_plain_grids_do_not_see():
    at = [2.0, 0.4, 6.0]
    assert max(at) < 1000 / (GRID - 1), "all peaks are before the second time of a plain grid"
    courses = peaks(at)
    found = tl.mixture(courses, tl.GP.se(0.1, signal_sd=1, noise_sd=0.1, clock=0.1), k=3)
    assert found.labels[[0, 10, 20]].tolist() == [1, 0, 2]
