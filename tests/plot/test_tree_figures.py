"""Trees of merges, and what speaks for each number of clusters."""

import matplotlib as mpl
import numpy as np
import pytest
from scipy.cluster import hierarchy

import timelike as tl
from sliced import clean_study
from timelike import plot
from timelike.clusters.clustering import Clustering
from timelike.plot.branches import branches


def test_branches_are_those_that_scipy_draws(clustered):
    courses, gp, _ = clustered
    tree = tl.hierarchical(tl.similarity(courses, gp), 3).linkage
    ours = branches(tree, len(courses))
    theirs = hierarchy.dendrogram(tree, no_plot=True)
    np.testing.assert_array_equal(ours.tips, theirs["leaves"])
    drawn = {tuple(np.round(stroke.ravel(), 9)) for stroke in ours.strokes}
    strokes = zip(theirs["icoord"], theirs["dcoord"], strict=True)
    expected = [np.column_stack([(np.array(x) - 5) / 10, y]) for x, y in strokes]
    assert drawn == {tuple(np.round(stroke.ravel(), 9)) for stroke in expected}
    few = branches(tree, 7)
    np.testing.assert_array_equal(few.tips, hierarchy.dendrogram(tree, 7, "lastp", no_plot=True)["leaves"])


def test_a_deep_tree_is_drawn():
    count = 3000
    chain = [[0 if i == 0 else count + i - 1, i + 1, i + 1, i + 2] for i in range(count - 1)]
    names = tuple(map(str, range(count)))
    found = Clustering(np.zeros(count, int), names, 1, "single linkage", linkage=np.array(chain, float))
    ax = plot.dendrogram(found, leaves=count)
    assert len(ax.collections[0].get_segments()) == count - 1


def test_dendrogram_has_the_colours_and_numbers_of_the_clusters(clustered):
    courses, gp, mixed = clustered
    found = tl.evidence_linkage(courses, gp, k=3)
    ax = plot.dendrogram(found, leaves=46)
    assert len(ax.collections[0].get_segments()) == 45
    assert {t.get_text() for t in ax.texts} == {"0", "1", "2"}
    colors = [mpl.colors.to_hex(c) for c in ax.collections[0].get_colors()]
    assert [colors.count(mpl.colors.to_hex(plot.COLORS[k])) for k in range(3)] == [n - 1 for n in found.sizes]
    assert ax.get_ylabel() == "loss of evidence"
    few = plot.dendrogram(found, leaves=4)
    sizes = [int(t.get_text().strip("()")) for t in few.get_xticklabels() if "(" in t.get_text()]
    assert sum(sizes) == 46 - (4 - len(sizes))
    assert plot.dendrogram(tl.hierarchical(tl.similarity(courses, gp), 3)).get_ylabel() == "distance"
    with pytest.raises(tl.InputError, match="no tree of merges"):
        plot.dendrogram(mixed)


def test_a_tree_beside_its_values(clustered):
    courses, gp, _ = clustered
    found = tl.hierarchical(tl.similarity(courses, gp), 3)
    ax = plot.tree_heatmap(found, courses, time="time (h)")
    leaves = hierarchy.leaves_list(found.linkage)
    np.testing.assert_array_equal(ax.images[0].get_array(), courses.values.reshape(46, 15)[leaves])
    tree = ax.figure.axes[0]
    assert tree.get_ylim() == ax.get_ylim()  # rows and tips are side by side
    assert ax.get_xlabel() == "time (h)"
    with pytest.raises(tl.InputError, match="not those of the clustering"):
        plot.tree_heatmap(found, courses[:5])


def test_bound_marks_the_chosen_number(clustered):
    courses, gp, found = clustered
    ax = plot.bound(found)
    best = max(found.evidence, key=found.evidence.get)
    assert f"the bound is largest at {best}" in ax.get_title(loc="left")
    values = dict(zip(*ax.lines[0].get_data(), strict=True))
    assert max(values.values()) == 0
    assert values[1] == pytest.approx((found.evidence[1] - found.evidence[best]) / 46)
    with pytest.raises(tl.InputError, match="did not compare numbers"):
        plot.bound(tl.spectral(tl.similarity(courses, gp), 2))


def test_path_has_the_finest_clusters_and_marks_the_level_shown():
    _, _, found = clean_study()
    ax = plot.path(found)
    fine = found.finest
    assert ax.get_title(loc="left") == f"4 clusters of the {fine.k} finest"
    segments = ax.collections[0].get_segments()
    np.testing.assert_allclose([segment[1, 0] for segment in segments], found.tree[:, 2])
    assert {t.get_text() for t in ax.texts} == {"0", "1", "2", "3"}
    assert sorted(int(t.get_text()) for t in ax.get_yticklabels()) == sorted(fine.sizes)
    band = ax.patches[0].get_extents().transformed(ax.transData.inverted())
    assert sorted(band.intervalx) == pytest.approx(
        [found.path_frame().tolerance_from[3], found.path_frame().tolerance_to[3]]
    )
    drawn = [mpl.colors.to_hex(c) for c in ax.collections[0].get_colors()]
    within = np.bincount(found.part_of) - 1
    assert [drawn.count(mpl.colors.to_hex(plot.COLORS[k])) for k in range(4)] == within.tolist()
    given = plot.panels(1)[0]
    assert plot.path(found.at(k=1), given) is given
    with pytest.raises(tl.InputError, match="nothing to merge"):
        plot.path(tl.mixture(*clean_study()[:2], k=1, noise="common", refine=False))
    with pytest.raises(tl.InputError, match="found must be CurveClustering"):
        plot.path(tl.hierarchical(tl.similarity(*clean_study()[:2]), 3))


@pytest.mark.parametrize("leaves", [0, -3, 2.5, "x", True])
def test_leaves_are_a_number(clustered, leaves):
    found = tl.hierarchical(tl.similarity(*clustered[:2]), 3)
    with pytest.raises(tl.InputError, match=f"leaves is {leaves!r}: expected a whole number, at least 1"):
        plot.dendrogram(found, leaves=leaves)
