"""The four questions on a made-up experiment, answered as the command line answers them, with the truth beside."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from timelike.base.files import atomic_write
from timelike.base.tables import write_table
from timelike.exceptions import DataWarning, FitWarning
from timelike.ontology import read as read_ontology
from timelike.runs.analyse import analyse
from timelike.runs.analysis import Analysis
from timelike.runs.ask import Asked, ask
from timelike.runs.folder import REPORT, new_folder
from timelike.runs.question_record import CHANGING, COMPARE
from timelike.runs.truth_beside import clusters_beside, programmes_beside, scored_changes, scored_differences
from timelike.simulate import Experiment, experiment

if TYPE_CHECKING:
    from timelike.questions.compare import Compared

COUNTS, SAMPLES, TRUTH, SETS, TERMS = "counts.csv", "samples.csv", "truth.csv", "sets.gmt", "sets.obo"
INDEX = "index.html"
CHANGING_FOR_CLUSTERS = 0.01
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>timelike demo</title>
<style>body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem;
color-scheme: light dark }} pre {{ overflow-x: auto; font-size: 0.8rem }}</style></head>
<body><h1>A made-up experiment, asked four questions</h1>
<ol>{reports}</ol>
<p>The data: {files}.</p>
<pre>{text}</pre></body></html>
"""


class Step(NamedTuple):
    """A question, the folder of its answer, and what the command line needs besides the files."""

    title: str
    verb: str
    folder: str
    options: str = ""

    def command(self, out: Path) -> str:
        """What one would type."""
        options = self.options.format(out=out)
        return (
            f"timelike {self.verb} {out / COUNTS} --samples {out / SAMPLES} --counts{options} --out {out / self.folder}"
        )


STEPS = {
    CHANGING: Step("Which genes change, and when?", "changing", "changing"),
    COMPARE: Step("Which differ between wt and mut, when and how?", "compare", "compare"),
    "cluster": Step(
        "Which are alike, and what do they mean?",
        "cluster",
        "cluster",
        f" --changing {CHANGING_FOR_CLUSTERS} --scale center --obo {{out}}/{TERMS} --gaf {{out}}/{SETS}",
    ),
}


def run(out: Path, seed: int, *, overwrite: bool = False) -> Iterator[str]:
    """Make an experiment, ask four questions of it, and report into the folder `out`; yield lines as they come."""
    new_folder(out, overwrite)
    made = experiment(seed=seed)
    told: list[str] = []
    for line in _told(made, out):
        told.append(line)
        yield line
    _write(out / INDEX, _index(told))
    yield ""
    yield f"open {out / INDEX} in a browser: it leads to the three reports"


def _told(made: Experiment, out: Path) -> Iterator[str]:
    """Every line but the last."""
    files = _written(made, out)
    genes, samples = made.counts.shape
    yield f"A made-up experiment: counts of {genes:,} genes in {samples} samples: wt and mut, 0 to 24 h, 3 replicates."
    yield f"{out}/ has it as you would: {', '.join(files[:-1])}; and what is true: {TRUTH}."
    yield from _heading("1", CHANGING, out)
    change = _asked(CHANGING, out)
    yield from (change.record.answer, scored_changes(made, change.found))
    yield from _heading("2", COMPARE, out)
    differ = _asked(COMPARE, out)
    yield from (differ.record.answer, scored_differences(made, differ.found))
    yield "The truth, on the left, beside what was found:"
    yield from programmes_beside(made, change.found, cast("Compared", differ.found))
    yield from _heading("3, 4", "cluster", out)
    groups = _grouped(out)
    yield f"{str(groups.clustering).removeprefix('Clustering: ')}."
    yield from clusters_beside(made, groups)
    notes = {note for one in (change, differ, groups) for note in one.record.notes}
    if notes:
        yield f"The reports have {len(notes)} notes on what deserves a second look."


def _heading(number: str, step: str, out: Path) -> Iterator[str]:
    yield from ("", f"{number}. {STEPS[step].title}", f"$ {STEPS[step].command(out)}")


def _asked(question: str, out: Path) -> Asked:
    with _calm():
        return ask(question, out / COUNTS, out / STEPS[question].folder, reading=_reading(out), overwrite=True, check=1)


def _grouped(out: Path) -> Analysis:
    with _calm():
        return analyse(
            out / COUNTS,
            out / STEPS["cluster"].folder,
            reading=_reading(out),
            ontology=read_ontology(out / TERMS, out / SETS),
            overwrite=True,
            changing=CHANGING_FOR_CLUSTERS,
            scale="center",
        )


def _reading(out: Path) -> dict[str, Any]:
    return {"samples": out / SAMPLES, "counts": True}


@contextmanager
def _calm() -> Iterator[None]:
    """No notes inside: the reports have them, and the demo says how many."""
    with warnings.catch_warnings():
        for kind in (DataWarning, FitWarning):
            warnings.simplefilter("ignore", kind)
        yield


# -- files -----------------------------------------------------------------------------------------------------------


def _written(made: Experiment, out: Path) -> list[str]:
    """Write the experiment as users have theirs; the names of the files, the truth last."""
    write_table(made.counts_frame(), out / COUNTS)
    write_table(made.samples_frame(), out / SAMPLES)
    write_table(made.truth_frame(), out / TRUTH)
    _write(out / SETS, "".join("\t".join([name, "made up", *genes]) + "\n" for name, genes in made.sets.items()))
    _write(out / TERMS, _terms(made))
    return [COUNTS, SAMPLES, SETS, TERMS, TRUTH]


def _terms(made: Experiment) -> str:
    """The sets as an ontology without structure."""
    root = "format-version: 1.4\n\n[Term]\nid: SET:0\nname: any set\nnamespace: biological_process\n"
    return root + "".join(
        f"\n[Term]\nid: SET:{k}\nname: {name}\nnamespace: biological_process\nis_a: SET:0\n"
        for k, name in enumerate(made.sets, 1)
    )


def _index(told: list[str]) -> str:
    reports = "".join(f'<li><a href="{step.folder}/{REPORT}">{escape(step.title)}</a></li>' for step in STEPS.values())
    files = ", ".join(f'<a href="{name}">{name}</a>' for name in (COUNTS, SAMPLES, SETS, TRUTH))
    return PAGE.format(reports=reports, files=files, text=escape("\n".join(told)))


def _write(path: Path, text: str) -> None:
    with atomic_write(path) as file:
        file.write(text)
