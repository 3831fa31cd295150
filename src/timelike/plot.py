"""Figures for publications: one function, one figure, drawn on the Axes that it returns."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from timelike.arrays import Floats, Ints
from timelike.exceptions import InputError, MissingExtraError
from timelike.files import atomic_path

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from timelike.clusters import Clustering
    from timelike.courses import TimeCourses
    from timelike.curve_clusters import CurveClustering
    from timelike.explanation import Explanation
    from timelike.gp import GP
    from timelike.similarities import Similarity


COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
"""Okabe and Ito's colours, which colour-blind readers can tell apart."""
LIGHT = 6
"""So many of them are neither black, like the curve drawn over them, nor too pale for thin lines."""


def courses(courses: TimeCourses, ax: Axes | None = None, *, color: str = COLORS[0]) -> Axes:
    """All courses as thin lines over time; replicates are averaged in the line and shown as dots."""
    ax = _axes(ax)
    alpha = float(np.clip(10 / len(courses), 0.05, 0.9))
    for course in courses:
        times, mean = _averaged(course)
        ax.plot(times, mean, color=color, alpha=alpha, linewidth=1)
        if len(times) < len(course.values):
            ax.plot(course.times, course.values, ".", color=color, alpha=alpha, markersize=3)
    return _labelled(ax, courses.summary())


def pair(courses: TimeCourses, gp: GP, first: str | int, second: str | int, ax: Axes | None = None) -> Axes:
    """Two courses, the curve that each has for itself (thin) and the one that they would share (with its band).

    The band is two standard deviations of the shared curve.
    """
    from timelike.explanation import explain

    why = explain(courses, gp, first, second)
    ax = _axes(ax)
    at = np.linspace(why.pair.times.min(), why.pair.times.max(), 200)
    shared = gp.posterior(why.pair, at)
    ax.fill_between(at, shared.mean - 2 * shared.sd, shared.mean + 2 * shared.sd, color="0.85", linewidth=0)
    ax.plot(at, shared.mean, color="0.35", linewidth=2, label="one curve for both")
    for k, name in enumerate(why.pair.names):
        ax.plot(at, gp.posterior(why.pair[k], at).mean, color=COLORS[k], linewidth=1, linestyle="--")
        ax.plot(why.pair[k].times, why.pair[k].values, "o", color=COLORS[k], markersize=4, label=name)
    ax.legend(frameon=False)
    return _labelled(ax, f"s = {why.similarity:.2f}: {_verdict(why.similarity)}")


def explanation(why: Explanation, ax: Axes | None = None) -> Axes:
    """What each value adds to the similarity, as bars along time; they sum to s."""
    ax = _axes(ax)
    span = np.ptp(why.pair.times) or 1.0
    width = 0.4 * min(np.diff(np.unique(why.pair.times)).min(initial=span), span / 12)
    for k, (name, share) in enumerate(zip(why.pair.names, why.contributions, strict=True)):
        times, total = _summed(why.pair[k].times, share)
        ax.bar(times + (k - 0.5) * width, total, width, color=COLORS[k], label=name)
    ax.axhline(0, color="0.3", linewidth=0.8)
    ax.legend(frameon=False)
    _labelled(ax, f"s = {why.similarity:.2f}: {_verdict(why.similarity)}")
    ax.set_ylabel("contribution to s")
    return ax


def heatmap(similarity: Similarity, ax: Axes | None = None, *, order: Ints | None = None) -> Axes:
    """The similarities as an image, white at zero; `order` puts the courses into a sequence of your choice."""
    ax = _axes(ax)
    values = similarity.values if order is None else similarity.values[np.ix_(order, order)]
    limit = float(np.percentile(np.abs(values), 98)) or 1.0
    image = ax.imshow(values, cmap="RdBu", vmin=-limit, vmax=limit, interpolation="nearest", rasterized=True)
    ax.figure.colorbar(image, ax=ax, label="s: two curves  <  0  <  one curve")
    ax.set_xlabel("course")
    ax.set_ylabel("course")
    return ax


def clusters(clustering: CurveClustering, ax: Axes | None = None, *, most: int = 200) -> Axes:
    """A figure with a panel for each cluster, see :func:`cluster_panels`; or, on given Axes, all clusters together.

    Returns the first panel; ``ax.figure.axes`` has all of them.
    """
    if ax is None:
        return cluster_panels(clustering, most=most)[0]
    at = np.linspace(clustering.courses.times.min(), clustering.courses.times.max(), 100)
    for label in range(clustering.k):
        _members(clustering, label, ax, most)
        ax.plot(
            at, clustering.curve(label, at).mean, color=COLORS[label % LIGHT], linewidth=3, label=f"cluster {label}"
        )
    ax.legend(frameon=False)
    return _labelled(ax, f"{clustering.k} clusters")


def cluster_panels(clustering: CurveClustering, axes: list[Axes] | None = None, *, most: int = 200) -> list[Axes]:
    """A panel for each cluster: its courses as thin lines, its curve, and a band in which its courses' curves lie.

    The band is two standard deviations of a course's curve: what is unknown of the cluster's curve, and the spread.
    Courses in none of the clusters have a last panel, if there are any. Of a large cluster `most` courses are drawn.
    """
    labels = [*range(clustering.k), *([-1] if clustering.none.any() else [])]
    axes = _subplots(len(labels), columns=3) if axes is None else axes
    if len(axes) < len(labels):
        raise InputError(f"{len(labels)} panels need as many Axes, {len(axes)} were given.")
    low, high = clustering.courses.times.min(), clustering.courses.times.max()
    at = np.linspace(low, high, 100)
    for label, ax in zip(labels, axes, strict=False):
        _members(clustering, label, ax, most)
        if label >= 0:
            _curve(clustering, label, at, ax)
    _same_scale(axes[: len(labels)])
    return list(axes[: len(labels)])


def _same_scale(axes: list[Axes]) -> None:
    """One range of values for all panels: sizes can be compared by eye."""
    limits = np.array([ax.get_ylim() for ax in axes])
    for ax in axes:
        ax.set_ylim(limits[:, 0].min(), limits[:, 1].max())


def _members(clustering: CurveClustering, label: int, ax: Any, most: int) -> None:
    color = COLORS[label % LIGHT] if label >= 0 else "0.4"
    members = np.flatnonzero(clustering.labels == label)
    if len(members):
        shown = members[np.linspace(0, len(members) - 1, min(most, len(members))).astype(int)]
        courses(clustering.courses.select(shown), ax, color=color)
    _labelled(ax, f"cluster {label}: {len(members):,}" if label >= 0 else f"none of these: {len(members):,}")


def _curve(clustering: CurveClustering, label: int, at: Floats, ax: Any) -> None:
    curve = clustering.curve(label, at)
    sd = np.sqrt(curve.sd**2 + clustering.spread**2 * clustering.gp.covariance.diag(at[:, None]))
    ax.fill_between(at, curve.mean - 2 * sd, curve.mean + 2 * sd, color="0.2", alpha=0.15, linewidth=0)
    ax.plot(at, curve.mean, color="black", linewidth=2)


def bound(clustering: Clustering, ax: Axes | None = None) -> Axes:
    """What speaks for each number of clusters, as its distance to the best, for each course; the chosen one marked."""
    if not clustering.evidence:
        raise InputError(f"{clustering.method} did not compare numbers of clusters: give no k to have one chosen.")
    ax = _axes(ax)
    ks, values = np.array(list(clustering.evidence)), np.array(list(clustering.evidence.values()))
    shown = ks <= max(4 * clustering.k, 12)
    cost = (values.max() - values) / len(clustering.names)
    ax.plot(ks[shown], -cost[shown], "o-", color=COLORS[0], markersize=4)
    if clustering.k in clustering.evidence:
        ax.plot(clustering.k, -cost[ks == clustering.k], "o", color=COLORS[1], markersize=8)
    _labelled(ax, f"{clustering.k} clusters shown; the bound is largest at {ks[values.argmax()]}")
    ax.set_xlabel("number of clusters")
    ax.set_ylabel("log evidence per course,\nagainst the best")
    return ax


def dendrogram(clustering: Clustering, ax: Axes | None = None, *, leaves: int = 40) -> Axes:
    """The tree of merges, its last `leaves` branches; branches have the colours of the clusters where it was cut."""
    from scipy.cluster.hierarchy import dendrogram as draw

    if clustering.linkage is None or len(clustering.linkage) == 0:
        raise InputError(f"{clustering.method} has no tree of merges. evidence_linkage and hierarchical have one.")
    ax = _axes(ax)
    tree, count = clustering.linkage, len(clustering.names)
    label = _label_of_branch(tree, clustering.labels)
    colors = [COLORS[k % len(COLORS)] if k >= 0 else "0.5" for k in label]
    draw(tree, p=leaves, truncate_mode="lastp", ax=ax, no_labels=count > leaves, link_color_func=lambda i: colors[i])
    _labelled(ax, f"{count:,} courses, cut into {clustering.k} clusters")
    ax.set_xlabel("courses")
    ax.set_ylabel("loss of evidence" if clustering.method == "evidence linkage" else "distance")
    return ax


def _label_of_branch(tree: Floats, labels: Ints) -> list[int]:
    """The cluster that all courses below a branch are in, or -1 where they are in several."""
    found = [int(k) for k in labels]
    for p, q in tree[:, :2].astype(int):
        found.append(found[p] if found[p] == found[q] else -1)
    return found


def panels(count: int, columns: int = 2) -> list[Axes]:
    """Axes of a figure with `count` panels, for several of the functions here; no window is opened for it."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("figures need matplotlib: pip install 'timelike[plot]'.") from None
    rows = -(-count // columns)
    figure = Figure(figsize=(5.5 * min(columns, count), 3.6 * rows), layout="constrained")
    FigureCanvasAgg(figure)
    return [figure.add_subplot(rows, min(columns, count), k + 1) for k in range(count)]


def save(ax: Axes, path: str | PathLike[str]) -> None:
    """Write the figure that `ax` is part of, in the format that the path's ending names."""
    figure: Any = ax.get_figure(root=True)
    known = sorted(figure.canvas.get_supported_filetypes())
    if Path(path).suffix.lstrip(".") not in known:
        raise InputError(f"{path}: expected a name that ends in one of {', '.join(known)}.")
    with atomic_path(path) as temporary:
        figure.savefig(temporary, dpi=150)


def _axes(ax: Axes | None) -> Any:
    return _subplots(1, columns=1)[0] if ax is None else ax


def _subplots(count: int, columns: int) -> list[Axes]:
    """Axes of a figure that pyplot knows, so that notebooks and windows show it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise MissingExtraError("figures need matplotlib: pip install 'timelike[plot]'.") from None
    wide, high = min(columns, count), -(-count // columns)
    figure = plt.figure(figsize=(6 if count == 1 else 4.5 * wide, 3.6 * high), layout="constrained")
    return [figure.add_subplot(high, wide, k + 1) for k in range(count)]


def _labelled(ax: Any, title: str) -> Axes:
    ax.set_xlabel("time")
    ax.set_ylabel("value")
    ax.set_title(title, fontsize="medium", loc="left")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _averaged(course: TimeCourses) -> tuple[Floats, Floats]:
    times, total = _summed(course.times, course.values)
    return times, total / np.unique(course.times, return_counts=True)[1]


def _summed(times: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Distinct times, and the sum of the values at each."""
    if times.ndim > 1:
        raise InputError("a figure over time needs points with one coordinate.")
    distinct, at = np.unique(times, return_inverse=True)
    return distinct, np.bincount(at.ravel(), values).astype(float)


def _verdict(s: float) -> str:
    return "one curve explains both better" if s > 0 else "two curves explain them better"
