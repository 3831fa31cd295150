"""Verbs that ask: changing, compare."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from timelike.cli.options import (
    FILE,
    FOLDER,
    Files,
    exit_if_failed,
    force_option,
    how_to_read,
    model_options,
    one_model,
    reading_options,
    say_files,
    split_reading,
)
from timelike.cli.output import Verb, say
from timelike.exceptions import InputError
from timelike.runs.ask import ask
from timelike.runs.folder import REPORT
from timelike.runs.question_record import CHANGING, COMPARE

FDR = "Expected false discovery rate of the courses that are called: drawn, and with their curves in a table."
CHECK = "Also ask N times of permuted samples, where nothing can be true: how many are called by chance."
BETWEEN = "Compare these conditions, as wt,mut, in this order: differences are the later less the earlier."


def answer_options(command: Verb) -> Verb:
    """How an answer is written."""
    for option in (
        force_option("what is in the folder"),
        click.option("--value-name", help="What the values are, for axes: 'log2 expression'."),
        click.option("--time-unit", help="Unit of the times on axes and in words (default: as the file says)."),
        click.option("--title", help="What the report calls the data (default: the file's name)."),
        click.option("--top", type=int, default=24, show_default=True, help="Courses in the figure of panels."),
        click.option("--check", type=int, default=1, show_default=True, metavar="N", help=CHECK),
        click.option("--fdr", type=float, default=0.05, show_default=True, help=FDR),
        click.option("--out", type=FOLDER, required=True, help="Folder for the results."),
    ):
        command = option(command)
    return command


@click.command()
@click.argument("inputs", nargs=-1, required=True, metavar="FILE | CONDITION=FILE CONDITION=FILE ...")
@how_to_read
@model_options
@click.option("--between", metavar="A,B,...", help=BETWEEN)
@answer_options
def compare(inputs: tuple[str, ...], between: str | None, **options: Any) -> None:
    """Say which courses differ between conditions, when and how: tables, figures and a report.

    FILE is a table whose headers, or whose sample sheet (--samples), tell the conditions. Or give a file for each
    condition, wt=wt.csv mut=mut.csv; courses are matched by name.
    """
    some = None if between is None else tuple(name.strip() for name in between.split(","))
    _asked(COMPARE, _files(inputs), between=some, **options)


@click.command()
@reading_options
@model_options
@answer_options
def changing(file: Files, **options: Any) -> None:
    """Say which courses of FILE change over time, and when: tables, figures and a report."""
    _asked(CHANGING, file, **options)


def _files(given: tuple[str, ...]) -> Path | dict[str, Path]:
    """One file, or the file of each condition: by its name where none is given."""
    if len(given) == 1 and ("=" not in given[0] or Path(given[0]).exists()):
        return _file(given[0])
    found: dict[str, Path] = {}
    for one in given:
        name, path = (Path(one).stem, one) if "=" not in one or Path(one).exists() else one.split("=", 1)
        if not name or name in found:
            raise InputError(f"{one}: expected a condition of its own for each file, as wt=wt.csv mut=mut.csv.")
        found[name] = _file(path)
    return found


def _file(path: str) -> Path:
    return FILE.convert(path, None, click.get_current_context())


def _asked(question: str, data: Any, *, out: Path, force: bool, model: Path | None, **options: Any) -> None:
    one_model(model, options["kernel"], options["clock"])
    reading, wishes = split_reading({name: value for name, value in options.items() if value is not None})
    asked = ask(question, data, out, model=model, reading=reading, overwrite=force, say=say, **wishes)
    click.echo(asked.record.answer)
    say_files(asked.files, out)
    if REPORT in asked.record.outputs:
        say(f"open {out / REPORT} in a browser")
    exit_if_failed(asked.failed, asked.files, out)
