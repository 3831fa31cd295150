import matplotlib as mpl
import numpy as np
import pytest

import timelike as tl
from timelike import plot
from timelike.clusters import hierarchical, spectral
from timelike.evidence_tree import evidence_linkage
from timelike.mixtures import mixture

mpl.use("Agg")


@pytest.fixture(scope="module")
def fitted():
    courses, _ = tl.simulate.profiles(0.08, per_group=15, seed=2)
    odd = np.concatenate([courses.values.reshape(45, 15), [0.5 - tl.simulate.grid()]])
    courses = tl.TimeCourses.from_arrays(tl.simulate.grid(), odd)
    gp = tl.fit(courses)
    return courses, gp, mixture(courses, gp)


@pytest.fixture(autouse=True)
def close():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def test_a_panel_for_each_cluster_and_for_none(fitted):
    _, _, found = fitted
    axes = plot.cluster_panels(found)
    sizes = found.sizes
    expected = [f"cluster {k}: {sizes[k]}" for k in range(found.k)] + [f"none of these: {found.none.sum()}"]
    assert found.none.sum() >= 1
    assert [ax.get_title(loc="left") for ax in axes] == expected
    assert [len(ax.lines) for ax in axes[:-1]] == [n + 1 for n in sizes]  # the courses, and the curve


def test_the_curve_and_its_band(fitted):
    _, _, found = fitted
    ax = plot.cluster_panels(found)[0]
    line = ax.lines[-1]
    curve = found.curve(0, line.get_xdata())
    np.testing.assert_allclose(line.get_ydata(), curve.mean)
    band = ax.collections[0].get_paths()[0].vertices
    assert band[:, 1].max() >= (curve.mean + 2 * curve.sd).max() - 1e-9


def test_large_clusters_are_thinned(fitted):
    _, _, found = fitted
    ax = plot.cluster_panels(found, most=5)[0]
    assert len(ax.lines) == 6
    with pytest.raises(tl.InputError, match="panels need as many Axes"):
        plot.cluster_panels(found, plot.panels(1))


def test_bound_marks_the_chosen_number(fitted):
    _, _, found = fitted
    ax = plot.bound(found)
    best = max(found.evidence, key=found.evidence.get)
    assert f"the bound is largest at {best}" in ax.get_title(loc="left")
    values = dict(zip(*ax.lines[0].get_data(), strict=True))
    assert max(values.values()) == 0
    assert values[1] == pytest.approx((found.evidence[1] - found.evidence[best]) / 46)


def test_bound_needs_a_choice(fitted):
    courses, gp, _ = fitted
    with pytest.raises(tl.InputError, match="did not compare numbers"):
        plot.bound(spectral(tl.similarity(courses, gp), 2))


def test_dendrogram_has_the_colours_of_the_clusters(fitted, tmp_path):
    courses, gp, _ = fitted
    found = evidence_linkage(courses, gp, k=3)
    ax = plot.dendrogram(found, leaves=100)
    assert len(ax.collections) >= 2
    assert sum(len(c.get_segments()) for c in ax.collections) == 45
    assert ax.get_ylabel() == "loss of evidence"
    plot.save(ax, tmp_path / "tree.png")
    assert plot.dendrogram(hierarchical(tl.similarity(courses, gp), 3)).get_ylabel() == "distance"
    with pytest.raises(tl.InputError, match="no tree of merges"):
        plot.dendrogram(fitted[2])


def test_clusters_in_one_figure_and_on_one_axes():
    courses, _ = tl.simulate.profiles(seed=1)
    found = tl.mixture(courses, tl.fit(courses), k=3)
    first = tl.plot.clusters(found)
    assert len(first.figure.axes) == 3
    ax = tl.plot.panels(1)[0]
    assert tl.plot.clusters(found, ax) is ax
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["cluster 0", "cluster 1", "cluster 2"]
