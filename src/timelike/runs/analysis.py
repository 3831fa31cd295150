"""Analysis: courses, their model, their clusters and their neighbours, with the record of how they came about."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from timelike.base.arrays import Floats
from timelike.base.checks import listed
from timelike.clusters.clustering import Clustering
from timelike.clusters.curves.curve_clustering import CurveClustering
from timelike.clusters.methods import AUTO, taking
from timelike.courses import TimeCourses
from timelike.exceptions import DataWarning, InputError, warn
from timelike.gp import GP
from timelike.gp.modelled import Modelled
from timelike.pairs.nearest.neighbors import Neighbors, neighbors
from timelike.reading.several import REPLICATES
from timelike.reporting.subject import Naming
from timelike.runs.beside import beside, by_name
from timelike.runs.recipe import SCALES
from timelike.runs.record import Record

if TYPE_CHECKING:
    import pandas as pd

SHOWN_ELSEWHERE = ("scale", *Naming.__dataclass_fields__)
"""Choices that a report has in other places than the list of settings."""


@dataclass(frozen=True, eq=False)
class Analysis:
    """The whole job on one set of courses, see :func:`timelike.analyse`.

    Attributes
    ----------
    here : Modelled
        The courses as they were analysed, selected and scaled, under their model: `courses` and `gp` of the analysis.
    clustering : Clustering
    record : Record
        What went in and what was chosen.
    enrichment : DataFrame or None
        Terms of an ontology that clusters are enriched for, where one was given.
    counts : DataFrame or None
        Mean count and dispersions of each gene, where the input was counts.
    details : DataFrame or None
        What else the input says about each course (a symbol, a description, a group), a row a course.
    files : tuple of Path
        What was written, the report last.
    failed : tuple of str
        What could not be made, a sentence each: such a step does not take the others with it. The notes of the record
        have them too.
    """

    here: Modelled
    clustering: Clustering
    record: Record
    enrichment: pd.DataFrame | None = None
    counts: pd.DataFrame | None = None
    files: tuple[Path, ...] = ()
    failed: tuple[str, ...] = ()
    details: pd.DataFrame | None = None

    def __repr__(self) -> str:
        return f"Analysis: {self.courses.summary()}; {str(self.clustering).removeprefix('Clustering: ')}"

    def _repr_html_(self) -> str:
        return self.clustering._repr_html_()

    @property
    def courses(self) -> TimeCourses:
        """The courses as they were analysed: selected and scaled."""
        return self.here.courses

    @property
    def gp(self) -> GP:
        """The model."""
        return self.here.gp

    @cached_property
    def neighbors(self) -> Neighbors | None:
        """The nearest courses of each course, as many as there are up to the number chosen; None for a single course.

        They are searched when first asked for; where the folder of the analysis has them as the run wrote them, they
        are read from there, to the bit.
        """
        from timelike.runs.folder import neighbors_written

        count = min(self.record.recipe.neighbors, len(self.courses) - 1)
        if not count:
            return None
        return neighbors_written(self, count) or neighbors(self.courses, self.gp, count, **self._free)

    @property
    def _free(self) -> dict[str, Any]:
        """In what neighbours may differ: as clusters may."""
        names, longest = self.record.recipe.up_to, self.record.recipe.max_delay
        if names == AUTO:
            names = self.clustering.free.names if isinstance(self.clustering, CurveClustering) else ()
        return {"up_to": names, "max_delay": longest if "delay" in names else None}

    def to_frame(self) -> pd.DataFrame:
        """Table with a row for each course: its cluster, how surely, its nearest course with s of the two, details."""
        frame = self.clustering.to_frame()
        if self.neighbors is not None:
            nearest = [self.courses.names[i] for i in self.neighbors.indices[:, 0]]
            frame = frame.assign(neighbor=nearest, similarity=self.neighbors.scores[:, 0])
        return beside(frame, self.detailed)

    @cached_property
    def detailed(self) -> pd.DataFrame | None:
        """The details under the names of the courses, with their condition and without."""
        return by_name(self.courses, self.details)

    @cached_property
    def conditions(self) -> pd.DataFrame | None:
        """How many courses of each condition are in each cluster; None where courses have no conditions."""
        return None if self.courses.conditions is None else self.clustering.by_condition()

    @cached_property
    def changes(self) -> pd.DataFrame | None:
        """Which names change their cluster between conditions, see :meth:`Clustering.changes_cluster`.

        None where courses have no conditions, or the method does not know how probable its clusters are.
        """
        if self.courses.conditions is None or self.clustering.probabilities is None:
            return None
        return self.clustering.changes_cluster()

    @property
    def naming(self) -> Naming:
        """What the user calls the data and their axes, else what the file says."""
        source, recipe = self.record.source, self.record.recipe
        files = [Path(path).name for path in (source.path, *source.others) if path]
        title = recipe.title or " and ".join(files) or None
        unit, value = recipe.time_unit or source.time_unit, recipe.value_name or source.value_name
        return Naming.of(title, unit, value, SCALES[recipe.scale].word)

    def settings(self) -> dict[str, Any]:
        """The choices that were made and the versions that worked, by name, as the report lists them."""
        source, recipe = self.record.source, self.record.recipe
        known: dict[str, Any] = {
            "file": source.path,
            "SHA-256": source.sha256,
            "further files": source.others,
            "read": "; ".join(source.understood),
        }
        known["left out"] = listed(source.left_out) if source.left_out else None
        known["joined"] = self._joined()
        known["selected"] = self.record.selected
        known["terms"] = None if self.record.terms is None else listed(list(self.record.terms.files.values()))
        known |= {name.replace("_", " "): value for name, value in vars(recipe).items() if name not in SHOWN_ELSEWHERE}
        known["up to"] = recipe.up_to if isinstance(recipe.up_to, str) else ", ".join(recipe.up_to)
        news = {name: value for name, value in known.items() if value not in (None, "", {}) and value is not True}
        return news | self._about_counts() | {"scaling": SCALES[recipe.scale].word, "versions": self.record.versions}

    def _joined(self) -> str | None:
        """How several files became one set of courses."""
        source = self.record.source
        role = source.reading.get("files", REPLICATES)
        return f"{len(source.others) + 1} files, matched by name, as {role}" if source.others else None

    def _about_counts(self) -> dict[str, Any]:
        """How counts became values, in a few numbers."""
        factors = self.record.source.size_factors
        if factors is None or self.counts is None:
            return {}
        known: dict[str, Any] = {"samples": len(factors), "genes": len(self.counts)}
        known |= {"smallest size factor": min(factors.values()), "largest size factor": max(factors.values())}
        return {"counts": known | {"median dispersion": float(self.counts["trend"].median())}}

    def predict(self, new_courses: TimeCourses) -> Clustering:
        """The clusters of new courses, which are scaled as the analysed ones were; -1 for "none of these"."""
        if not isinstance(self.clustering, CurveClustering):
            raise InputError(
                f"{self.clustering.method} cannot place new courses: its clusters have no curves. Use the method "
                f"{taking('spread')}."
            )
        found = self.clustering.predict(self.record.recipe.scaled(new_courses))
        _note_other_times(new_courses.designs.points, self.courses.designs.points)
        return found

    @classmethod
    def load(cls, folder: str | PathLike[str]) -> Analysis:
        """An analysis from the folder that :func:`timelike.analyse` wrote."""
        from timelike.runs.folder import load

        return load(folder)


def _note_other_times(new: Floats, known: Floats) -> None:
    """Warn where no new time is within the clustered ones."""
    if new.max() < known.min() or new.min() > known.max():
        warn(
            f"the new times ({new.min():g} to {new.max():g}) are outside those of the clusters ({known.min():g} to "
            f"{known.max():g}), where curves say little. Are they in the same unit, from the same start?",
            DataWarning,
        )
