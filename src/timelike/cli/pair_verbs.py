"""Verbs about courses and pairs of them: fit, similarity, neighbors, explain, match, lags."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from timelike import plot
from timelike.base import checks
from timelike.base.tables import write_table
from timelike.cli.options import (
    FILE,
    KERNELS,
    Files,
    clock_option,
    course_options,
    courses_of,
    dask_option,
    force_option,
    freedom_options,
    freedoms_of,
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
from timelike.pairs.explain import Explanation, verdict
from timelike.pairs.explain import explain as explain_pair
from timelike.pairs.lags import Lags
from timelike.pairs.lags import lags as all_lags
from timelike.pairs.match import match as match_pair
from timelike.pairs.nearest.neighbors import neighbors as nearest
from timelike.pairs.similarity import similarity as all_pairs
from timelike.pairs.sure import check_rate
from timelike.runs.analyse import prepared
from timelike.runs.recipe import Clock, Recipe

if TYPE_CHECKING:
    import pandas as pd

ANY = click.Path(path_type=Path)
ON_DISK = (".npy", ".zarr")
MODEL = ("model", "kernel", "clock")
"""The options of a model, see :func:`timelike.cli.options.model_options`."""
TABLES = (".csv", ".tsv")
MATRICES = (*TABLES, *ON_DISK)
TO = "Find the nearest among the courses of this file, which --most-variable selects from; the model is fitted to both."


@click.command()
@course_options
@click.option("--kernel", default="se", show_default=True, help=KERNELS)
@clock_option
@click.option("--out", type=FILE, default="model.json", show_default=True, help="Where to write the model.")
@force_option("the output")
def fit(out: Path, force: bool, kernel: str, clock: Clock, file: Files, **reading: Any) -> None:
    """Fit one Gaussian process to all courses of FILE and save it as JSON."""
    may_write(out, force)
    model_of(courses_of(file, **reading), None, kernel, clock).save(out)
    say(f"wrote {out}")


@click.command()
@course_options
@model_options
@freedom_options()
@click.option(
    "--out", type=ANY, default="similarity.csv", show_default=True, help=f"What to write: {', '.join(MATRICES)}."
)
@click.option("--resume", is_flag=True, help="Go on with a run that was stopped (.npy, .zarr).")
@dask_option
@threads_option
@force_option("the output")
def similarity(out: Path, force: bool, dask: str | None, file: Files, **options: Any) -> None:
    """Write the similarity of every pair of courses of FILE.

    A .npy or .zarr file is written tile by tile and may be larger than memory; a run that was stopped, for
    whatever reason, goes on with --resume.
    """
    how = {name: options.pop(name) for name in MODEL}
    resume, threads = (options.pop(name) for name in ("resume", "threads"))
    free = freedoms_of(options)
    one_of(out, MATRICES)
    _may_begin(out, force=force, resume=resume)
    courses = courses_of(file, **options, **free)
    gp = model_of(courses, **how, free=free)
    with _client(dask) as client:
        work = {"threads": threads, "client": client, **free}
        if out.suffix in ON_DISK:
            all_pairs(courses, gp, out=out, resume=resume, replace=force, **work)
        else:
            write_table(all_pairs(courses, gp, **work).to_frame(), out, index=True)
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
@freedom_options()
@click.option("-k", type=int, default=10, show_default=True, help="Nearest courses of each course.")
@click.option("--to", type=FILE, help=TO)
@click.option("--approximate", is_flag=True, default=None, help="Faster for many millions; says how complete it is.")
@click.option("--probabilities", is_flag=True, help="Also say how probable it is that each shares a curve with it.")
@click.option("--fdr", type=float, help="Keep only the surest, with this expected share of false ones.")
@click.option("--out", type=FILE, default="neighbors.csv", show_default=True, help="Table: .csv or .tsv.")
@dask_option
@threads_option
@force_option("the output")
def neighbors(
    out: Path, force: bool, k: int, to: Path | None, probabilities: bool, fdr: float | None, file: Files, **options: Any
) -> None:
    """Find the K courses of FILE that are most like each course, without computing all pairs."""
    if fdr is not None:
        check_rate(fdr)
    may_write(out, force)
    one_of(out, TABLES)
    how, dask = {name: options.pop(name) for name in ("approximate", "threads")}, options.pop("dask")
    model, free = {name: options.pop(name) for name in MODEL}, freedoms_of(options)
    courses, others = _both(file, to, options | free)
    compared = courses if others is None else courses.joined(others)
    gp = model_of(compared, **model, free=free)
    with _client(dask) as client:
        found = nearest(courses, gp, k, others=others, client=client, **how, **free)
    table = found.to_frame()
    if probabilities or fdr is not None:
        table.insert(4, "probability", found.probabilities.ravel())
    if fdr is not None:
        table = table[found.surest(fdr).ravel()]
    write_table(table, out)
    say(f"wrote {out}: {found}" + ("" if fdr is None else f", of which {len(table):,} at an fdr of {fdr:g}"))


def _both(file: Files, to: Path | None, options: dict[str, Any]) -> tuple[TimeCourses, TimeCourses | None]:
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
@freedom_options()
@click.argument("first")
@click.argument("second")
@click.option("--figure", type=FILE, help="Also draw the pair and the contributions (.png, .svg, .pdf).")
@force_option("the figure")
def explain(first: str, second: str, figure: Path | None, force: bool, file: Files, **options: Any) -> None:
    """Say where along time the similarity of FIRST and SECOND in FILE comes from."""
    _may_draw(figure, force)
    model, free = {name: options.pop(name) for name in MODEL}, freedoms_of(options)
    courses = courses_of(file, **options, **free)
    gp = model_of(courses, **model, free=free)
    why = explain_pair(courses, gp, first, second, **free)
    click.echo(why.to_frame().to_string(index=False, float_format=lambda x: f"{x:.4g}"))
    if why.price:
        click.echo(f"less {why.price:.4f} for not knowing how much later and larger the second is")
    click.echo(f"s = {why.similarity:.4f}: {why.verdict}")
    if figure is not None:
        _draw(courses, gp, why, figure)
        say(f"wrote {figure}")


def _may_draw(figure: Path | None, force: bool) -> None:
    """Raise if a figure that is asked for cannot be written, or would take the place of another file."""
    if figure is not None:
        one_of(figure, (".png", ".svg", ".pdf"))
        may_write(figure, force)


def _draw(courses: TimeCourses, gp: GP, why: Explanation, figure: Path) -> None:
    axes = plot.panels(2)
    first, second = why.pair.names
    plot.pair(courses, gp, first, second, axes[0])
    plot.explanation(why, axes[1])
    plot.save(axes[0], figure)


@click.command()
@course_options
@model_options
@freedom_options()
@click.argument("first")
@click.argument("second")
@click.option("--out", type=FILE, help="Also write the numbers as a table: .csv or .tsv.")
@click.option(
    "--figure", type=FILE, help="Also draw the pair as measured, and moved onto each other (.png, .svg, .pdf)."
)
@force_option("the outputs")
def match(
    first: str, second: str, out: Path | None, figure: Path | None, force: bool, file: Files, **options: Any
) -> None:
    """Say by how much SECOND in FILE comes later, is larger and is higher than FIRST, if one curve explains both.

    Delay and gain have intervals of 90 %. s is the similarity: above zero, one curve explains both better.
    """
    _may_draw(figure, force)
    if out is not None:
        one_of(out, TABLES)
        may_write(out, force)
    model, free = {name: options.pop(name) for name in MODEL}, freedoms_of(options)
    courses = courses_of(file, **options, **free)
    found = match_pair(courses, model_of(courses, **model, free=free), first, second, **free)
    click.echo(f"{found.sentence}; s = {found.s:.4f}: {verdict(found.s)}")
    if out is not None:
        write_table(found.to_frame(), out)
        say(f"wrote {out}")
    if figure is not None:
        plot.save(plot.match(found)[0], figure)
        say(f"wrote {figure}")


@click.command()
@course_options
@model_options
@freedom_options(default="delay")
@click.option("-k", type=int, default=7, show_default=True, help="Nearest courses of each that it is compared with.")
@click.option("--fdr", type=float, help="Keep the edges down to this expected false discovery rate (default: all).")
@click.option("--out", type=FILE, default="lags.csv", show_default=True, help="Table of edges: .csv or .tsv.")
@click.option("--order", type=FILE, help="Also write when each course comes, the earliest first: .csv or .tsv.")
@click.option("--figure", type=FILE, help="Also draw that (.png, .svg, .pdf).")
@threads_option
@force_option("the outputs")
def lags(file: Files, out: Path, order: Path | None, figure: Path | None, force: bool, **options: Any) -> None:
    """Say which courses of FILE lead and which follow, by how much and how surely, among the nearest of each."""
    _may_draw(figure, force)
    for table in (out, *(() if order is None else (order,))):
        one_of(table, TABLES)
        may_write(table, force)
    how = {name: options.pop(name) for name in ("k", "fdr", "threads")}
    model, free = {name: options.pop(name) for name in MODEL}, freedoms_of(options)
    courses = courses_of(file, **options, **free)
    found = all_lags(courses, model_of(courses, **model, free=free), **how, **free)
    write_table(found.to_frame(), out)
    click.echo(str(found))
    if order is not None:
        write_table(_in_order(found), order)
    if figure is not None:
        plot.save(plot.order(found), figure)
    say(f"wrote {', '.join(str(path) for path in (out, order, figure) if path is not None)}")


def _in_order(found: Lags) -> pd.DataFrame:
    """Table of courses by when they come, those that are joined to each other together."""
    import pandas as pd

    times, component = found.positions()
    table = pd.DataFrame({"name": list(found.names), "component": component, "position": times})
    return table.sort_values(["component", "position"], kind="stable")
