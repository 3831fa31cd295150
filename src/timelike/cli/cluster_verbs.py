"""Verbs about clusters: cluster, repeat, report, predict, bhi."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from timelike.base.tables import write_table
from timelike.cli import bhi_lines
from timelike.cli.options import (
    FILE,
    FOLDER,
    Files,
    course_options,
    exit_if_failed,
    force_option,
    freedom_options,
    may_write,
    model_options,
    note_depth,
    one_model,
    reading_options,
    same_unit,
    say_files,
    split_reading,
    term_options,
    understood,
)
from timelike.cli.output import quiet_option, say
from timelike.clusters.between_conditions import counted_changes
from timelike.clusters.methods import METHODS
from timelike.exceptions import InputError
from timelike.runs.analyse import analyse
from timelike.runs.analysis import Analysis
from timelike.runs.ask import Asked
from timelike.runs.ask_again import ask_again, other_answers
from timelike.runs.folder import CHANGES, RECORD, REPORT, page
from timelike.runs.question_record import is_question
from timelike.runs.repeat import differences, reading_of_others
from timelike.runs.repeat import repeat as repeat_run
from timelike.runs.terms import NEEDS, terms_from

TOLERANCE = "Curves that differ by less than this are one cluster, in units of the values (mixture; instead of -k)."
MAX_K = "Largest number of clusters that is tried (mixture; default: 40, more where clearly worth it)."
SPREAD = "How much curves of a cluster differ, in units of the signal (mixture, evidence; default: learned)."
ROBUST = "Let single wild values count for little, in the fit where they decide and in the mixture."

NOISE = (
    "auto: courses and clusters of the mixture have a noise of their own where the data say so; common: one for all."
)
REFINE = "Adapt the model to the clusters of the mixture where that clearly pays."


class _Number(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic only in newer releases
    """A number of clusters, or "auto"."""

    name = "N|auto"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """The number, or None where it is to be chosen."""
        if value in (None, "auto"):
            return None
        return click.INT.convert(value, param, ctx)


@click.command()
@course_options
@model_options
@click.option("--out", type=FOLDER, required=True, help="Folder for the results.")
@click.option("--method", default="mixture", show_default=True, help=f"{', '.join(METHODS)}.")
@click.option("-k", type=_Number(), default="auto", show_default=True, help="Number of clusters.")
@click.option("--max-k", type=int, help=MAX_K)
@click.option("--tolerance", type=float, help=TOLERANCE)
@click.option("--spread", type=float, help=SPREAD)
@freedom_options(auto="; or auto: those that pay, for the mixture")
@click.option("--robust/--no-robust", default=True, show_default=True, help=ROBUST)
@click.option("--noise", default="auto", show_default=True, help=NOISE)
@click.option("--refine/--no-refine", default=True, show_default=True, help=REFINE)
@click.option("--neighbors", type=int, default=10, show_default=True, help="Nearest courses listed for each course.")
@click.option("--title", help="What the report calls the data (default: the file's name).")
@click.option("--time-unit", help="Unit of the times on axes and in words (default: as the file says).")
@click.option("--value-name", help="What the values are, for axes: 'log2 expression'.")
@term_options
@click.option("--seed", type=int, default=0, show_default=True, help="Same seed, same result.")
@force_option("what is in the folder")
def cluster(
    file: Files,
    out: Path,
    force: bool,
    model: Path | None,
    obo: Path | None,
    gaf: Path | None,
    gmt: Path | None,
    **options: Any,
) -> None:
    """Group the courses of FILE: tables, figures and a report that opens in any browser.

    The number of clusters is chosen unless -k gives it. FILE is a table of courses, or the name of a data set that
    timelike fetches (reprogramming).
    """
    one_model(model, options["kernel"], options["clock"])
    reading, choices = split_reading({name: value for name, value in options.items() if value is not None})
    ontology = terms_from(obo, gaf, gmt)
    analysis = analyse(file, out, model=model, ontology=ontology, reading=reading, overwrite=force, say=say, **choices)
    click.echo(str(analysis.clustering))
    if analysis.changes is not None:
        click.echo(f"{counted_changes(analysis.changes)}: {CHANGES}")
    say_files(analysis.files, out)
    if REPORT in analysis.record.outputs:
        say(f"open {out / REPORT} in a browser")
    exit_if_failed(analysis.failed, analysis.files, out)


@click.command()
@quiet_option
@click.argument("record", type=FILE)
@click.option(
    "--file", type=FILE, multiple=True, help="The input, where it is no longer where it was; each, if several."
)
@click.option("--samples", type=FILE, help="Its sample sheet, where it is no longer where it was.")
@term_options
@click.option("--out", type=FOLDER, required=True, help="Folder for the results.")
@force_option("what is in the folder")
def repeat(
    record: Path, file: tuple[Path, ...], samples: Path | None, out: Path, force: bool, **terms: Path | None
) -> None:
    """Do a run again from its RECORD (run.json), and say whether the result is the same to the bit.

    Files of terms are given where they are no longer where they were.
    """
    how: dict[str, Any] = {"file": file or None, "samples": samples, "overwrite": force, "say": say}
    given = {kind: path for kind, path in terms.items() if path is not None}
    if is_question(record):
        if given:
            raise InputError(f"{record} was made without terms: leave out --{next(iter(given))}.")
        again: Analysis | Asked = ask_again(record, out, **how)
    else:
        again = repeat_run(record, out, terms=given, **how)
    changed = other_answers(record, again) if isinstance(again, Asked) else differences(record, again)
    click.echo("the result is the same to the bit" if not changed else f"different: {', '.join(changed)}")
    exit_if_failed(again.failed, again.files, out)
    if changed:
        raise SystemExit(1)


@click.command()
@quiet_option
@click.argument("folder", type=FOLDER)
@click.option("--out", type=FILE, help="Where to write the page (default: report.html in FOLDER).")
@force_option("the page")
def report(folder: Path, out: Path | None, force: bool) -> None:
    """Write the report of a FOLDER that 'timelike cluster' made, once more."""
    analysis = Analysis.load(folder)
    target = out or folder / REPORT
    may_write(target, force)
    page(analysis, target)
    say(f"open {target} in a browser")


@click.command()
@click.argument("folder", type=FOLDER)
@reading_options
@click.option("--out", type=FILE, default="predicted.csv", show_default=True, help="Table: .csv or .tsv.")
@force_option("the output")
def predict(folder: Path, file: Files, out: Path, force: bool, **reading: Any) -> None:
    """Place the courses of FILE into the clusters of a FOLDER that 'timelike cluster' made; -1: none of these.

    Nothing is fitted again. New courses are scaled as the clustered ones were; their times may be others. FILE is read
    as the clustered one was, unless options say how; --dates, --decimal, --duplicates and --sheet are never kept.
    """
    may_write(out, force)
    analysis = Analysis.load(folder)
    given = split_reading(reading)[0]
    kept = reading_of_others(analysis.record, folder / RECORD, given)
    if kept:
        words = ", ".join(f"--{name} {_text(value)}".strip() for name, value in kept.items())
        say(f"read as the clustered file was, with {words}; options of reading replace them all")
    new = understood(file, kept | given)
    same_unit(analysis.record.source.time_unit, new.time_unit, file)
    note_depth(new, analysis.record.recipe.scale)
    found = analysis.predict(new.courses)
    write_table(found.to_frame(), out)
    click.echo(str(found))
    say(f"wrote {out}")


def _text(value: Any) -> str:
    """An option's value as it is typed; a flag has none."""
    if value is True:
        return ""
    return ",".join(str(x).removesuffix(".0") for x in value) if isinstance(value, list) else str(value)


@click.command()
@quiet_option
@click.argument("file", type=FILE)
@term_options
@click.option(
    "--aspect", type=click.Choice(["P", "F", "C"]), default="P", show_default=True, help="Part of the ontology."
)
@click.option("--drop", multiple=True, default=("IEA",), show_default=True, help="Evidence codes that do not count.")
@click.option(
    "--weights",
    type=click.Choice(["cluster", "size"]),
    default="cluster",
    show_default=True,
    help="Every cluster counts the same, or by its size.",
)
@click.option("--permutations", type=int, default=1000, show_default=True, help="Random relabellings behind z and p.")
@click.option("--seed", type=int, default=0, show_default=True, help="Same seed, same relabellings.")
@click.option("--enrichment", type=FILE, help="Also write the terms that each cluster is enriched for (.csv).")
@force_option("the table of terms")
def bhi(
    file: Path,
    enrichment: Path | None,
    force: bool,
    obo: Path | None,
    gaf: Path | None,
    gmt: Path | None,
    aspect: str,
    drop: tuple[str, ...],
    **how: Any,
) -> None:
    """Biological homogeneity of the clusters in FILE, a table with columns name and cluster (-1: in none).

    Two genes are as alike as their most specific common term says: of an ontology (--obo and --gaf), or the smallest
    set that has both (--gmt, to which --aspect and --drop mean nothing).
    """
    if enrichment is not None:
        may_write(enrichment, force)
    found = terms_from(obo, gaf, gmt, aspect, drop)
    if found is None:
        raise InputError(f"there are no terms: {NEEDS}")
    for line in bhi_lines.run(file, enrichment, found, **how):
        click.echo(line)
