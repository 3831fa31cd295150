"""Curves of single genes, whatever their shape and size: what is drawn beside an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from timelike.base.arrays import Floats
from timelike.gp import Curve
from timelike.questions.measured import Measured
from timelike.questions.shapes import LEVEL, Shape

if TYPE_CHECKING:
    from collections.abc import Iterator

WIDE = 1e3
"""Standard deviation of a level that may be anything, in units of the largest effect."""


def curves_of(measured: Measured, shapes: tuple[Shape, ...], gene: int, scale: float, times: Floats) -> list[Curve]:
    """The curve of a gene under each condition at times (T, 1): its level, and a change of any shape and size.

    NaN under a condition in which it was not measured. Shapes and sizes are weighed by the evidence of the curve alone.
    """
    known = measured.known(np.array([gene]))
    r, found = len(measured.coordinates.points), []
    for c in range(len(measured.conditions)):
        part = slice(c * r, (c + 1) * r)
        A, b = known.A[0, part, part] / scale, known.b[0, part] / scale
        curve = _mixed(list(_posteriors(measured, shapes, A, b, times)))
        missing = measured.place[gene, c] < 0
        found.append(Curve(curve.mean + measured.middle[gene] + np.where(missing, np.nan, 0), curve.sd))
    return found


def _posteriors(
    measured: Measured, shapes: tuple[Shape, ...], A: Floats, b: Floats, times: Floats
) -> Iterator[tuple[float, Floats, Floats]]:
    """Evidence, mean and variance of the curve for every shape and size of its change."""
    points, identity = measured.coordinates.points, np.eye(len(b))
    level = (WIDE * max(shape.sizes[-1] for shape in shapes if shape.counts)) ** 2
    for shape in shapes:
        if not shape.counts or shape.name == LEVEL:
            continue
        K, across, own = shape.kernel(points), shape.kernel(times, points), shape.kernel.diag(times)
        for size in shape.sizes:
            prior, towards = size**2 * K + level, size**2 * across + level
            precision = identity + A @ prior
            solved = np.linalg.solve(precision, np.column_stack([b, A @ towards.T]))
            evidence = float(b @ prior @ solved[:, 0] - np.linalg.slogdet(precision)[1]) / 2
            variance = size**2 * own + level - np.einsum("tr,rt->t", towards, solved[:, 1:])
            yield evidence, towards @ solved[:, 0], np.maximum(variance, 0)


def _mixed(parts: list[tuple[float, Floats, Floats]]) -> Curve:
    """Mean and standard deviation over parts, each weighed by its evidence."""
    evidence = np.array([part[0] for part in parts])
    weight = np.exp(evidence - evidence.max())
    weight /= weight.sum()
    mean = weight @ np.array([part[1] for part in parts])
    square = weight @ np.array([part[2] + part[1] ** 2 for part in parts])
    return Curve(mean, np.sqrt(np.maximum(square - mean**2, 0)))
