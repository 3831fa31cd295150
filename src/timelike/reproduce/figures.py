"""Figures in the manner of the paper's, each written as PNG and SVG; a measure has one colour everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from timelike import plot, simulate
from timelike.gp.fit import fit
from timelike.plot.parts import same_scale

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from timelike.base.arrays import Floats
    from timelike.courses import TimeCourses
    from timelike.gp import GP

COLORS = {
    "GP similarity": plot.COLORS[0],
    "Euclidean": plot.COLORS[4],
    "Bregman": plot.COLORS[3],
    "DTW": plot.COLORS[2],
}
"""Colour of each measure, from Okabe and Ito's set."""
GREYS = ("#000000", "#6A6A6A", "#969696", "#BDBDBD")
"""For what is not a measure: the colours belong to the measures."""


def _save(ax: Axes, path: Path) -> None:
    plot.save(ax, path.with_suffix(".png"), path.with_suffix(".svg"), dpi=110)


def bars(table: pd.DataFrame, path: Path) -> None:
    """Mean NMI with its standard deviation, one panel a noise level."""
    noises = sorted(table["noise"].unique())
    axes = plot.panels(len(noises), columns=1)
    figure: Any = axes[0].figure
    figure.set_size_inches(8, 2.1 * len(noises) + 0.4)
    for ax, noise in zip(axes, noises, strict=True):
        _bar_panel(ax, table[table["noise"] == noise])
        ax.set_title(f"noise {noise:.2f}", fontsize="medium", loc="left")
    _save(axes[0], path)


def _bar_panel(ax: Any, part: pd.DataFrame) -> None:
    clusterings = list(dict.fromkeys(part["clustering"]))
    measures = list(dict.fromkeys(part["measure"]))
    place = {c: g * (len(measures) + 1) for g, c in enumerate(clusterings)}
    x = np.array([place[c] + measures.index(m) for c, m in zip(part["clustering"], part["measure"], strict=True)])
    colors = [COLORS[m] for m in part["measure"]]
    ax.bar(x, part["mean"], 0.8, yerr=part["sd"], color=colors, error_kw={"capsize": 3, "linewidth": 1})
    for at, mean, sd in zip(x, part["mean"], part["sd"], strict=True):
        ax.text(at, mean + sd + 0.02, f"{mean:.2f}", ha="center", fontsize="small")
    ax.set_xticks(x, part["measure"], fontsize="small")
    for clustering, start in place.items():
        ax.text(start + (len(measures) - 1) / 2, 1.14, clustering, ha="center", fontsize="medium")
    ax.set_ylim(0, 1.22)
    ax.set_yticks([0, 0.25, 0.5, 0.75, 1])
    ax.set_ylabel("NMI, mean ± sd")
    _plain(ax)


def sampling(path: Path) -> None:
    """The three profiles, and where they are sampled."""
    ax: Any = plot.panels(1)[0]
    at = np.linspace(0, 1, 200)
    for curve, color, name in zip(simulate.curves(at), GREYS, ("x + x⁴/4", "x", "x - x⁴/4"), strict=False):
        ax.plot(at, curve, color=color, linewidth=2, label=f"{name} - 0.5")
    for kind, level, marker in (("even", -0.62, "o"), ("uneven", -0.7, "^")):
        times = simulate.grid(kind)
        ax.plot(times, np.full(len(times), level), marker, color="black", markersize=4, label=f"{kind} sampling")
    ax.set_ylim(-0.78, 0.85)
    _finish(ax, "time", "value")
    _save(ax, path)


def two_pairs(path: Path, seed: int) -> None:
    """A pair of courses of one profile and a pair of two, with the curve that they would share."""
    courses, _ = simulate.profiles(noise=0.08, seed=seed)
    pairs(courses, fit(courses, clock="linear"), [("A01", "A02"), ("A01", "C01")], path)


def pairs(courses: TimeCourses, gp: GP, names: list[tuple[str, str]], path: Path, time: str = "time") -> None:
    """Pairs of courses side by side, each with the curve that the two would share and its band."""
    axes = plot.panels(len(names))
    for ax, (first, second) in zip(axes, names, strict=True):
        plot.pair(courses, gp, first, second, ax=ax)
        ax.set_xlabel(time)
    same_scale(axes)
    _save(axes[0], path)


def own_times(path: Path, seed: int) -> None:
    """Three courses, one of each profile, that are measured at different times."""
    courses, labels = simulate.profiles(noise=0.08, sampling="asynchronous", seed=seed)
    ax: Any = plot.panels(1)[0]
    for group, color in enumerate(GREYS[:3]):
        course = courses[int(np.argmax(labels == group))]
        ax.plot(course.times, course.values, "o-", color=color, markersize=5, linewidth=1, label=course.names[0])
    _finish(ax, "time", "value")
    _save(ax, path)


def genes(courses: TimeCourses, gp: GP, names: list[str], path: Path) -> None:
    """Courses side by side, each with its own curve and band."""
    axes = plot.panels(len(names), columns=3)
    for ax, name in zip(axes, names, strict=True):
        course = courses[name]
        at = np.linspace(course.times.min(), course.times.max(), 200)
        curve = gp.posterior(course, at)
        ax.fill_between(at, curve.mean - 2 * curve.sd, curve.mean + 2 * curve.sd, color="0.85", linewidth=0)
        ax.plot(at, curve.mean, color="0.35", linewidth=2)
        ax.plot(course.times, course.values, "o", color="black", markersize=5)
        ax.set_title(name, fontsize="medium", loc="left")
        ax.set_xlabel("hours")
        ax.set_ylabel("log expression")
        _plain(ax)
    same_scale(axes)
    _save(axes[0], path)


def lines(x: Floats, curves: dict[str, Floats], labels: tuple[str, str], path: Path, log_y: bool = False) -> None:
    """Curves over a logarithmic axis."""
    ax: Any = plot.panels(1)[0]
    for (name, y), color, marker in zip(curves.items(), GREYS, "osD^", strict=False):
        ax.plot(x, y, "-" + marker, color=color, markersize=4, label=name)
    ax.set_xscale("log")
    if log_y:
        ax.set_yscale("log")
    _finish(ax, *labels)
    if len(curves) == 1:
        ax.get_legend().remove()
    _save(ax, path)


def _finish(ax: Any, xlabel: str, ylabel: str) -> None:
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    ax.legend(frameon=False, fontsize="small")
    _plain(ax)


def _plain(ax: Any) -> None:
    ax.spines[["top", "right"]].set_visible(False)
