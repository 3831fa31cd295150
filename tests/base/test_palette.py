"""One colour for a cluster, readable on paper and on a dark screen."""

from itertools import combinations

import numpy as np
import pytest

from timelike.base.palette import CLUSTERS, NONE, ON_DARK, cluster_color

PAPER, DARK = "#ffffff", "#14171c"


def linear(color):
    parts = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def luminance(color):
    return float(linear(color) @ [0.2126, 0.7152, 0.0722])


def contrast(a, b):
    dark, light = sorted((luminance(a), luminance(b)))
    return (light + 0.05) / (dark + 0.05)


def lab(color):
    """Where a colour is among those that people see (CIE L*a*b*)."""
    to = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x, y, z = np.cbrt(to @ linear(color) / [0.9505, 1, 1.089])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize(("colors", "paper", "least"), [(CLUSTERS, PAPER, 1.95), (ON_DARK, DARK, 3)])
def test_every_colour_stands_out_from_its_paper(colors, paper, least):
    assert len(colors) == 24
    assert min(contrast(color, paper) for color in (*colors, NONE)) >= least


@pytest.mark.parametrize("colors", [CLUSTERS, ON_DARK])
def test_no_two_clusters_look_the_same(colors):
    assert min(np.linalg.norm(lab(a) - lab(b)) for a, b in combinations(colors, 2)) > 6


def test_colours_repeat_and_none_is_grey():
    assert cluster_color(25) == CLUSTERS[1]
    assert cluster_color(-1) == NONE
