"""What the mixture found that deserves a second look, in the user's words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from timelike.base import checks
from timelike.clusters.curves.curve_clustering import CurveClustering
from timelike.clusters.curves.granularity import levels
from timelike.clusters.curves.membership import Choice, Step
from timelike.exceptions import DataWarning, warn
from timelike.gp import GP
from timelike.gp.wild import Wild

NOISY = 0.7
"""Where courses show less than this share of how curves differ, clusters that are alike look like one."""
DESIGNS = 200
"""Designs, those of most courses, by which that is judged."""


def say_fewer(found: int, k: int | None) -> None:
    """Tell the user where there are fewer clusters than were asked for."""
    if k is not None and found < k:
        message = f"asked for {k} clusters, the data support {found}: the others lost all their courses."
        warn(message, DataWarning)


def say_more(path: Sequence[Step], k: int | None, limits: Sequence[int]) -> None:
    """Tell the user where more clusters than were tried might describe the courses better."""
    best = max(path, key=lambda step: step.bound).k
    if k is None and 1 < best == path[-1].k and best in limits:
        warn(
            f"the evidence still rises at {best} clusters, the most that are tried: more may be there. Give max_k "
            "(--max-k) for a larger limit, or k for a number of them.",
            DataWarning,
        )


def say_continuum(shown: int, choice: Choice, where: str = "") -> None:
    """Tell the user that so many clusters are a choice of how fine to look, where nothing can be merged."""
    if choice.doubtful:
        most = max(choice.path, key=lambda step: step.bound).k
        warn(
            f"the courses look like a continuum rather than clusters: up to {most} describe them ever a little better. "
            f"{shown} are shown; {where}give k for another number.",
            DataWarning,
        )


def say_doubt(found: CurveClustering) -> None:
    """Tell the user where the number of clusters depends on how fine one looks, and what was done about it."""
    if message := doubt(found):
        warn(message, DataWarning)


def doubt(found: CurveClustering) -> str:
    """How the number of clusters depends on how fine one looks, and what was done about it; "" where it does not."""
    if found.finest is None:
        return ""
    level = levels(found.tree)[found.k - 1]
    most = max(found.path, key=lambda step: step.bound).k
    elsewhere = "tolerance= (--tolerance) or k for coarser or finer; numbers.csv (in Python path_frame()) has them all."
    if found.continuum:
        return (
            f"the courses look like a continuum rather than clusters: up to {most} describe them ever a little better, "
            f"and no number stands out. {found.k} are shown: curves within {level.high:.2g} of each other are one. "
            f"Give {elsewhere}"
        )
    return (
        f"{found.k} clusters stand out by the gaps between them, at tolerances from {level.low:.2g} to "
        f"{level.high:.2g}. Up to {most} describe the courses a little better: give {elsewhere}"
    )


def say_noisy(found: CurveClustering) -> None:
    """Tell the user where courses are too noisy to tell clusters apart; freedoms make that another question."""
    seen = 1.0 if found.free else resolved(found)
    if seen < NOISY:
        warn(
            f"the courses are noisy: a single one shows {100 * seen:.0f} % of how curves differ, the rest is hidden by "
            f"noise (its standard deviation is {found.gp.noise_sd:.2g}, the signal's {found.gp.signal_sd:.2g}). More "
            f"clusters may be there than the {found.k} found, and probabilities hold for these. More times, or "
            "replicates, would show them.",
            DataWarning,
        )


def resolved(found: CurveClustering) -> float:
    """The share of the variance of curves that a course's own values explain, on average."""
    known = found.here.information
    count = np.bincount(known.design_of, minlength=len(known.A)).astype(float)
    total = np.tensordot(count, known.A, axes=1)
    some = np.argsort(-count, kind="stable")[:DESIGNS]
    left = np.linalg.inv(np.eye(known.rank) + known.A[some])
    share = np.einsum("gde,ed->g", left, total) / np.trace(total)
    return float(1 - np.average(share, weights=np.maximum(count[some], 1e-12)))


def say_wild(wild: Wild, found: CurveClustering) -> None:
    """Tell the user how many values count for little, and how little."""
    if not len(wild):
        return
    courses, weight = found.courses, found.outliers()["weight"]
    low, high = f"{weight.min():.1g}", f"{weight.max():.1g}"
    weights = f"weight {low}" if low == high else f"weight {low} to {high}"
    crowded = f" In {checks.counted(wild.crowded, 'course')} a third of the values is wild." if wild.crowded else ""
    warn(
        f"{len(wild):,} of {len(courses.values):,} values count for little ({weights}): outliers.csv (in Python "
        f"outliers()) names them; robust=False (--no-robust) gives every value its full weight.{crowded}",
        DataWarning,
    )


def say_noise(found: CurveClustering) -> None:
    """Tell the user where courses, or clusters, have a noise of their own."""
    if len(found.noise) == 1:
        return
    whose = [f"courses (by a factor of {np.exp(found.noise.width / 2):.2g})"] if found.noise.width > 0 else []
    whose += ["clusters"] if found.noise.between > 0 else []
    # Where errors are known, the model's own noise is beside the point: both scale alike.
    known, noise_sd = found.courses.errors is not None, found.gp.noise_sd
    low, high = np.quantile(found.course_noise, [0.05, 0.95]) / (noise_sd if known else 1)
    model = "1" if known else f"{noise_sd:.2g}"
    unit = " times their errors" if known else ""
    warn(
        f"the noise differs between {' and between '.join(whose)}: nine of ten courses have one from {low:.2g} to "
        f"{high:.2g}{unit}, the model {model}. Courses count by their own; course_noise has it, and "
        "noise='common' (--noise common) takes the model's for all.",
        DataWarning,
    )


def say_freedoms(found: CurveClustering, up_to: str | Sequence[str]) -> None:
    """Tell the user which freedoms were taken, where that was left open, and which of those asked for do not pay."""
    if isinstance(up_to, str) and up_to == "auto":
        taken = ",".join(f" {name} ({gain:+.2g} for each course)" for name, gain in found.earned.items())
        warn(
            f"courses of a cluster may differ in:{taken}, by what it adds to the log evidence."
            if taken
            else "courses of a cluster differ neither in level, size nor delay by more than their noise and spread.",
            DataWarning,
        )
        return
    idle = [name for name, gain in found.earned.items() if gain <= 0]
    if idle:
        warn(
            f"the courses do not use the freedom in {' and '.join(idle)}: without it the log evidence is as large "
            "(earned has the figures).",
            DataWarning,
        )


def say_model(given: GP, found: CurveClustering) -> None:
    """Tell the user where the hyperparameters were adapted to the clusters, and what members of these share."""
    if found.deviation_scale != 1:
        say_deviation(found)
    elif found.gp is not given:
        warn(
            f"the model was adapted to the clusters, whose curves ask for another one: {found.gp!r} instead of "
            f"{given!r}. refine=False (--no-refine) takes the model as it is given.",
            DataWarning,
        )


def say_deviation(found: CurveClustering) -> None:
    """Tell the user that members of a cluster differ on a length scale of their own."""
    shared, own = (
        ", ".join(f"{each:.3g}" for each in np.ravel(np.asarray(scale, dtype=float)))
        for scale in (found.gp.length_scale, found.deviation.length_scale)
    )
    warn(
        f"members of a cluster share a curve (length scale {shared}, standard deviation {found.gp.signal_sd:.3g}) "
        f"and differ from it by about {found.deviation.sd:.2g}, on a length scale of {own}: gp and "
        "deviation of the result were fitted within the clusters. refine=False (--no-refine) takes the model as it is "
        "given.",
        DataWarning,
    )
