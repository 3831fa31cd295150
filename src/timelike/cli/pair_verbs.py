"""Verbs about courses and pairs of them: fit, similarity, neighbors, explain."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from timelike import plot
from timelike.base import checks
from timelike.base.tables import write_table
from timelike.cli.options import (
    FILE,
    KERNELS,
    clock_option,
    course_options,
    courses_of,
    force_option,
    may_write,
    model_of,
    model_options,
    note_depth,
    one_of,
    same_unit,
    split_reading,
    threads_option,
    understood,
)
from timelike.cli.output import say
from timelike.courses import TimeCourses
from timelike.exceptions import InputError
from timelike.gp import GP
from timelike.pairs.explain import Explanation
from timelike.pairs.explain import explain as explain_pair
from timelike.pairs.nearest.neighbors import neighbors as nearest
from timelike.pairs.similarity import similarity as all_pairs
from timelike.runs.analyse import prepared
from timelike.runs.recipe import Clock, Recipe

ANY = click.Path(path_type=Path)
ON_DISK = (".npy", ".zarr")
MODEL = ("model", "kernel", "clock")
"""The options of a model, see :func:`timelike.cli.options.model_options`."""
MATRICES = (".csv", ".tsv", *ON_DISK)
TO = "Find the nearest among the courses of this file, which --most-variable selects from; the model is fitted to both."


@click.command()
@course_options
@click.option("--kernel", default="se", show_default=True, help=KERNELS)
@clock_option
@click.option("--out", type=FILE, default="model.json", show_default=True, help="Where to write the model.")
@force_option("the output")
def fit(out: Path, force: bool, kernel: str, clock: Clock, file: Path, **reading: Any) -> None:
    """Fit one Gaussian process to all courses of FILE and save it as JSON."""
    may_write(out, force)
    model_of(courses_of(file, **reading), None, kernel, clock).save(out)
    say(f"wrote {out}")


@click.command()
@course_options
@model_options
@click.option(
    "--out", type=ANY, default="similarity.csv", show_default=True, help=f"What to write: {', '.join(MATRICES)}."
)
@click.option("--resume", is_flag=True, help="Go on with a run that was stopped (.npy, .zarr).")
@click.option("--dask", metavar="ADDRESS", help="Let the workers of this Dask scheduler compute.")
@threads_option
@force_option("the output")
def similarity(out: Path, force: bool, dask: str | None, file: Path, **options: Any) -> None:
    """Write the similarity of every pair of courses of FILE.

    A .npy or .zarr file is written tile by tile and may be larger than memory; a run that was stopped, for
    whatever reason, goes on with --resume.
    """
    how = {name: options.pop(name) for name in MODEL}
    resume, threads = (options.pop(name) for name in ("resume", "threads"))
    one_of(out, MATRICES)
    _may_begin(out, force=force, resume=resume)
    courses = courses_of(file, **options)
    gp = model_of(courses, **how)
    with _client(dask) as client:
        if out.suffix in ON_DISK:
            all_pairs(courses, gp, threads=threads, out=out, resume=resume, replace=force, client=client)
        else:
            write_table(all_pairs(courses, gp, threads=threads, client=client).to_frame(), out, index=True)
    say(f"wrote {out}: {len(courses):,} x {len(courses):,} log likelihood ratios")


def _may_begin(out: Path, *, force: bool, resume: bool) -> None:
    """Raise if something would be lost."""
    if resume and force:
        raise InputError("--resume goes on with what is there, --force throws it away: give one of them.")
    if resume and out.suffix not in ON_DISK:
        raise InputError(f"only {' and '.join(ON_DISK)} can be resumed: choose such an --out.")
    if not resume:
        may_write(out, force)


@contextmanager
def _client(address: str | None) -> Iterator[Any]:
    """A client of a Dask scheduler, or None."""
    if address is None:
        yield None
        return
    distributed = checks.optional("distributed", "dask", "--dask needs Dask")
    try:
        client = distributed.Client(address, timeout=10)
    except (OSError, ValueError) as problem:
        raise InputError(f"there is no Dask scheduler at {address}: {problem}.") from None
    with client:
        yield client


@click.command()
@course_options
@model_options
@click.option("-k", type=int, default=10, show_default=True, help="Nearest courses of each course.")
@click.option("--to", type=FILE, help=TO)
@click.option("--approximate", is_flag=True, default=None, help="Faster for many millions; says how complete it is.")
@click.option("--out", type=FILE, default="neighbors.csv", show_default=True, help="Table: .csv or .tsv.")
@threads_option
@force_option("the output")
def neighbors(out: Path, force: bool, k: int, to: Path | None, file: Path, **options: Any) -> None:
    """Find the K courses of FILE that are most like each course, without computing all pairs."""
    may_write(out, force)
    one_of(out, (".csv", ".tsv"))
    how = {name: options.pop(name) for name in ("approximate", "threads")}
    model = {name: options.pop(name) for name in MODEL}
    courses, others = _both(file, to, options)
    compared = courses if others is None else courses.joined(others)
    found = nearest(courses, model_of(compared, **model), k, others=others, **how)
    write_table(found.to_frame(), out)
    say(f"wrote {out}: {found}")


def _both(file: Path, to: Path | None, options: dict[str, Any]) -> tuple[TimeCourses, TimeCourses | None]:
    """The courses that are asked about, and those to search among where they are others."""
    if to is None:
        return courses_of(file, **options), None
    reading, choices = split_reading(options)
    asked, items = understood(file, reading), understood(to, reading)
    same_unit(items.time_unit, asked.time_unit, file)
    recipe = Recipe.of(**choices)
    note_depth(asked, recipe.scale)
    return recipe.scaled(asked.courses), prepared(items.courses, recipe)


@click.command()
@course_options
@model_options
@click.argument("first")
@click.argument("second")
@click.option("--figure", type=FILE, help="Also draw the pair and the contributions (.png, .svg, .pdf).")
@force_option("the figure")
def explain(first: str, second: str, figure: Path | None, force: bool, file: Path, **options: Any) -> None:
    """Say where along time the similarity of FIRST and SECOND in FILE comes from."""
    if figure is not None:
        one_of(figure, (".png", ".svg", ".pdf"))
        may_write(figure, force)
    model = {name: options.pop(name) for name in MODEL}
    courses = courses_of(file, **options)
    gp = model_of(courses, **model)
    why = explain_pair(courses, gp, first, second)
    click.echo(why.to_frame().to_string(index=False, float_format=lambda x: f"{x:.4g}"))
    click.echo(f"s = {why.similarity:.4f}: {why.verdict}")
    if figure is not None:
        _draw(courses, gp, why, figure)
        say(f"wrote {figure}")


def _draw(courses: TimeCourses, gp: GP, why: Explanation, figure: Path) -> None:
    axes = plot.panels(2)
    first, second = why.pair.names
    plot.pair(courses, gp, first, second, axes[0])
    plot.explanation(why, axes[1])
    plot.save(axes[0], figure)
