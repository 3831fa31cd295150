"""What the program of a page about an answer works on: the table, the values and the curves, as plain JSON data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from timelike.base.arrays import Floats
from timelike.courses import TimeCourses
from timelike.courses.designs import distinct_points
from timelike.gp import Curve
from timelike.questions.compare import Compared
from timelike.questions.telling import curves_of, effects_of, sizes_of
from timelike.reporting.answered import Answered
from timelike.reporting.page_data import _clock
from timelike.reporting.page_json import real, whole

if TYPE_CHECKING:
    import pandas as pd

FINE = 30_000
"""Steps from the smallest to the largest number of a curve: as fine as 16 bits allow, and no reader sees them."""


def content(answered: Answered) -> dict[str, Any]:
    """All data of the page; courses are in the order of their sureness."""
    found, compared = answered.found, answered.compared
    return {
        "title": answered.naming.title,
        "timeLabel": answered.naming.time_label,
        "timeUnit": answered.naming.time_unit,
        "valueLabel": answered.naming.value_label,
        "clock": _clock(found.gp),
        "compared": compared is not None,
        "changing": compared is None,
        "partitioned": compared is not None and len(compared.conditions) > 2,
        "fdr": answered.fdr,
        "names": [found.names[gene] for gene in found.order],
        "size": real(np.nan_to_num(sizes_of(found)[found.order]), error=np.inf),
        "columns": {name: _column(answered.table[name]) for name in answered.table.columns if name != "name"},
        "grid": real(answered.grid, error=0),
        **_measured(answered),
        "middles": real(found.question.measured.middle[answered.curved], error=np.inf),
        "curves": _curves(answered),
        **({} if compared is None else _of_conditions(answered, compared)),
    }


def _column(column: pd.Series) -> dict[str, Any]:
    """Numbers as they are; texts as places in a list of the different ones."""
    if column.dtype.kind == "f":
        return real(column.to_numpy(dtype=float), error=1e-9 if column.name == "probability" else np.inf)
    words, place = np.unique(column.to_numpy(dtype=str), return_inverse=True)
    return {"words": words.tolist(), "of": whole(place)}


# -- values ----------------------------------------------------------------------------------------------------------


def _measured(answered: Answered) -> dict[str, Any]:
    """Times and values of every condition."""
    measured = answered.found.question.measured
    times = answered.times
    place = measured.place[answered.found.order]
    sizes = max(courses.sizes.max() for courses in measured.conditions.values())
    return {
        "times": real(times, error=0),
        "ownTimes": bool(len(times) > 2 * sizes),
        "conditions": [
            {"name": name, "place": whole(place[:, c]), **_values(courses, times)}
            for c, (name, courses) in enumerate(measured.conditions.items())
        ],
    }


def _values(courses: TimeCourses, times: Floats) -> dict[str, Any]:
    points, row = distinct_points(courses.designs.points)
    return {
        "values": real(courses.values, error=np.inf),
        "timeOf": whole(np.searchsorted(times, points[:, 0])[row]),
        "designOf": whole(courses.design_of),
        "designStarts": whole(courses.designs.starts),
    }


# -- curves ----------------------------------------------------------------------------------------------------------


def _curves(answered: Answered) -> list[dict[str, Any]]:
    """The curves of the surest courses under each condition, around the level of each course."""
    found, genes = answered.found, answered.curved
    level = found.question.measured.middle[genes, None]
    curves = curves_of(found, genes, answered.grid)
    return [_packed(Curve(curve.mean - level, curve.sd)) for curve in curves.values()]


def _packed(curve: Curve) -> dict[str, Any]:
    """Means and standard deviations as whole numbers of steps, 0 where there are none."""
    mean, sd = np.nan_to_num(curve.mean), np.nan_to_num(curve.sd)
    step = float(max(np.abs(mean).max(initial=0), sd.max(initial=0))) / FINE or 1.0
    return {"step": step, "mean": whole(np.rint(mean / step)), "sd": whole(np.rint(sd / step))}


def _of_conditions(answered: Answered, compared: Compared) -> dict[str, Any]:
    """What a page about a comparison has besides: pairs of conditions, their differences, partitions."""
    pairs, genes = compared.pairs, answered.curved
    differences = [_packed(effects_of(compared, genes, answered.grid, pair)) for pair in pairs]
    several = len(compared.conditions) > 2
    return {
        "pairs": [list(pair) for pair in pairs],
        "differences": differences,
        "pairOf": whole(compared.largest.pair[compared.order]),
        "partitions": _partitions(compared) if several else None,
    }


def _partitions(compared: Compared) -> Mapping[str, Any]:
    table = compared.partitions.iloc[compared.order]
    return {"words": list(table.columns), "chances": real(table.to_numpy().ravel(), error=np.inf)}
