"""The command line: one verb a job, the same words as the library."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from timelike.exceptions import DataWarning, FitWarning, InputError, MissingExtraError
from timelike.reproduce.command import reproduce

if TYPE_CHECKING:
    from timelike.courses import TimeCourses
    from timelike.gp import GP

FILE = click.Path(dir_okay=False, path_type=Path)


class _Group(click.Group):
    """A group whose commands answer a user's mistake with one line and exit code 2."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("always", FitWarning)
                warnings.simplefilter("always", DataWarning)
                warnings.showwarning = _show_warning
                return super().invoke(ctx)
        except (InputError, MissingExtraError) as problem:
            click.echo(f"timelike: {problem}", err=True)
            sys.exit(2)


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    click.echo(f"note: {message}", err=True)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="timelike", message="timelike %(version)s")
def main() -> None:
    """Tell which short, noisy, irregular time courses are alike, and group them."""


def reading_options(command: Any) -> Any:
    """The file, and how to read it; every verb that takes courses has them."""
    for option in (
        click.option("--error", help="Column with the standard error of each value (tidy table)."),
        click.option("--value", help="Column with the values, when it is not called 'value' (tidy table)."),
        click.option("--time", help="Column with the times, when it is not called 'time' (tidy table)."),
        click.option("--course", help="Column with the courses' names, when it is not called 'course' (tidy table)."),
        click.option(
            "--scale",
            type=click.Choice(["none", "center", "standardize"]),
            default="none",
            show_default=True,
            help="What is compared: values as they are; minus each course's mean; also divided by its sd.",
        ),
        click.option("--most-variable", type=int, metavar="N", help="Keep the N courses that vary most."),
        click.argument("file", type=FILE),
    ):
        command = option(command)
    return command


def model_options(command: Any) -> Any:
    """The model: read from a file, or fitted."""
    for option in (
        click.option("--model", type=FILE, help="Use this model (from 'timelike fit') instead of fitting one."),
        click.option(
            "--kernel", default="se", show_default=True, help="se, matern12, matern32, matern52, periodic, linear."
        ),
    ):
        command = option(command)
    return command


@main.command()
@reading_options
@click.option("--kernel", default="se", show_default=True, help="se, matern12, matern32, matern52, periodic, linear.")
@click.option("--out", type=FILE, default="model.json", show_default=True, help="Where to write the model.")
@click.option("--force", is_flag=True, help="Overwrite the output.")
def fit(out: Path, force: bool, kernel: str, **reading: Any) -> None:
    """Fit one Gaussian process to all courses of FILE and save it as JSON."""
    _may_write(out, force)
    courses = _courses(**reading)
    gp = _fitted(courses, kernel)
    gp.save(out)
    _say(f"wrote {out}")


@main.command()
@reading_options
@model_options
@click.option(
    "--out", type=FILE, default="similarity.csv", show_default=True, help="Table to write (.csv, .tsv, .npy)."
)
@click.option("--threads", type=int, help="Number of threads (default: all).")
@click.option("--force", is_flag=True, help="Overwrite the output.")
def similarity(out: Path, force: bool, threads: int | None, model: Path | None, kernel: str, **reading: Any) -> None:
    """Write the similarity of every pair of courses of FILE as a table."""
    from timelike.similarities import similarity as all_pairs

    _may_write(out, force)
    _one_of(out, (".csv", ".tsv", ".npy"))
    courses = _courses(**reading)
    found = all_pairs(courses, _model(courses, model, kernel), threads=threads)
    _write_matrix(found, out)
    _say(f"wrote {out}: {len(courses):,} x {len(courses):,} log likelihood ratios")


class _Number(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic only in newer releases
    """A number of clusters, or "auto"."""

    name = "N|auto"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """The number, or None where it is to be chosen."""
        if value in (None, "auto"):
            return None
        return click.INT.convert(value, param, ctx)


@main.command()
@reading_options
@model_options
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), required=True, help="Folder for the results.")
@click.option("--method", default="mixture", show_default=True, help="mixture, evidence, spectral, average, complete.")
@click.option("-k", type=_Number(), default="auto", show_default=True, help="Number of clusters.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--force", is_flag=True, help="Overwrite what is in the folder.")
def cluster(
    out: Path, method: str, k: int | None, seed: int, force: bool, model: Path | None, kernel: str, **reading: Any
) -> None:
    """Group the courses of FILE; the number of clusters is chosen unless -k gives it."""
    from timelike import grouping

    _may_fill(out, force)
    grouping.check(method, k)
    courses = _courses(**reading)
    gp = _model(courses, model, kernel)
    found = grouping.group(courses, gp, method, k, seed)
    settings = {key: str(value) for key, value in reading.items() if value is not None}
    run = {"method": method, "k": k, "seed": seed, "reading": settings, "sha256": grouping.checksum(reading["file"])}
    run |= {"kernel": kernel} if model is None else {"model": str(model), "model_sha256": grouping.checksum(model)}
    out.mkdir(parents=True, exist_ok=True)
    written = grouping.write(out, found, gp, run)
    click.echo(str(found))
    _say(f"wrote {', '.join(written)} into {out}")


@main.command()
@reading_options
@model_options
@click.argument("first")
@click.argument("second")
@click.option("--figure", type=FILE, help="Also draw the pair and the contributions (.png, .svg, .pdf).")
@click.option("--force", is_flag=True, help="Overwrite the figure.")
def explain(
    first: str, second: str, figure: Path | None, force: bool, model: Path | None, kernel: str, **reading: Any
) -> None:
    """Say where along time the similarity of FIRST and SECOND in FILE comes from."""
    from timelike.explanation import explain as explain_pair

    if figure is not None:
        _may_write(figure, force)
    courses = _courses(**reading)
    gp = _model(courses, model, kernel)
    why = explain_pair(courses, gp, first, second)
    click.echo(why.to_frame().to_string(index=False, float_format=lambda x: f"{x:.4g}"))
    better = "one curve explains both better" if why.similarity > 0 else "two curves explain them better"
    click.echo(f"s = {why.similarity:.4f}: {better}")
    if figure is not None:
        _draw_explanation(courses, gp, why, figure)
        _say(f"wrote {figure}")


@main.command()
@click.argument("file", type=FILE)
@click.option("--obo", type=FILE, required=True, help="The ontology (OBO, plain or .gz).")
@click.option("--gaf", type=FILE, required=True, help="Annotations (GAF 2, gene-term table or GMT, plain or .gz).")
@click.option(
    "--aspect", type=click.Choice(["P", "F", "C"]), default="P", show_default=True, help="Part of the ontology."
)
@click.option("--drop", multiple=True, default=("IEA",), show_default=True, help="Evidence codes that do not count.")
@click.option("--weights", type=click.Choice(["cluster", "size"]), default="cluster", show_default=True)
@click.option("--permutations", type=int, default=1000, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--enrichment", type=FILE, help="Also write the terms that each cluster is enriched for (.csv).")
@click.option("--force", is_flag=True, help="Overwrite the table of terms.")
def bhi(
    file: Path,
    enrichment: Path | None,
    force: bool,
    obo: Path,
    gaf: Path,
    aspect: str,
    drop: tuple[str, ...],
    **how: Any,
) -> None:
    """Biological homogeneity of the clusters in FILE, a table with columns name and cluster (-1: in none)."""
    from timelike.annotating import run
    from timelike.ontology import read

    if enrichment is not None:
        _may_write(enrichment, force)
    for line in run(file, enrichment, read(obo, gaf, aspect, drop), **how):
        click.echo(line)


@main.command()
def info() -> None:
    """Versions, and which engine computes the similarity."""
    from importlib.metadata import PackageNotFoundError, version

    from timelike import engines
    from timelike.schedule import thread_count

    hint = "for large jobs" if engines.name() == "numba" else "pip install 'timelike[fast]' is faster"
    click.echo(f"engine: {engines.name()} ({hint})")
    click.echo(f"threads: {thread_count(None)}")
    click.echo(f"python {sys.version.split()[0]}")
    for package in ("timelike", "numpy", "scipy", "scikit-learn", "pandas", "numba", "matplotlib", "dtaidistance"):
        try:
            click.echo(f"{package} {version(package)}")
        except PackageNotFoundError:
            click.echo(f"{package} not installed")


@main.command()
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default="timelike-demo", show_default=True)
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--force", is_flag=True, help="Overwrite what is there.")
def demo(out: Path, seed: int, force: bool) -> None:
    """Run the whole job on made-up courses with known groups, and say where the results are."""
    from timelike.demo import run

    _may_fill(out, force)
    out.mkdir(parents=True, exist_ok=True)
    for line in run(out, seed):
        click.echo(line)


main.add_command(reproduce)


# -- shared by the verbs ---------------------------------------------------------------------------------------


def _courses(
    file: Path,
    course: str | None,
    time: str | None,
    value: str | None,
    error: str | None,
    most_variable: int | None,
    scale: str,
) -> TimeCourses:
    """The courses of a file, chosen and scaled as asked, with a word about what was understood."""
    from timelike.reading import understand

    found = understand(file, course=course, time=time, value=value, error=error)
    courses = found.courses
    _say(f"{file}: {courses.summary()}")
    if found.unused:
        _say(f"columns that play no part: {', '.join(found.unused)}")
    if most_variable is not None:
        courses = courses.most_variable(most_variable)
    if scale != "none":
        courses = courses.centered() if scale == "center" else courses.standardized()
    return courses


def _model(courses: TimeCourses, model: Path | None, kernel: str) -> GP:
    from timelike.gp import GP

    if model is None:
        return _fitted(courses, kernel)
    gp = GP.load(model)
    size = (gp.signal_sd**2 + gp.noise_sd**2) ** 0.5
    far, wide = abs(courses.values.mean() - gp.mean) / size, courses.values.std() / size
    if far > 5 or wide > 5:
        _say(
            f"note: the model expects values around {gp.mean:.3g} +- {size:.3g}, these are around "
            f"{courses.values.mean():.3g} +- {courses.values.std():.3g}. Was it fitted with another --scale?"
        )
    return gp


def _fitted(courses: TimeCourses, kernel: str) -> GP:
    from timelike.fitting import fit as fit_gp

    gp = fit_gp(courses, kernel)
    scale = f"length scale {gp.length_scale:.4g}, " if isinstance(gp.length_scale, float) else ""
    spread = f"signal sd {gp.signal_sd:.4g}, noise sd {gp.noise_sd:.4g}"
    _say(f"fitted: {scale}{spread}, log likelihood {gp.log_likelihood:.2f}")
    return gp


def _write_matrix(found: Any, out: Path) -> None:
    import numpy as np

    from timelike.files import atomic_path

    with atomic_path(out) as temporary:
        if out.suffix == ".npy":
            np.save(temporary, found.values)
        else:
            found.to_frame().to_csv(temporary, sep="\t" if out.suffix == ".tsv" else ",")


def _draw_explanation(courses: TimeCourses, gp: GP, why: Any, figure: Path) -> None:
    from timelike import plot

    axes = plot.panels(2)
    first, second = why.pair.names
    plot.pair(courses, gp, first, second, axes[0])
    plot.explanation(why, axes[1])
    plot.save(axes[0], figure)


def _may_write(out: Path, force: bool) -> None:
    if out.exists() and not force:
        raise InputError(f"{out} exists. Choose another --out, or add --force.")
    if not out.parent.is_dir():
        raise InputError(f"there is no folder {out.parent} to write into.")


def _may_fill(out: Path, force: bool) -> None:
    if out.exists() and any(out.iterdir()) and not force:
        raise InputError(f"{out} is not empty. Choose another --out, or add --force.")


def _one_of(out: Path, endings: tuple[str, ...]) -> None:
    if out.suffix not in endings:
        raise InputError(f"{out}: expected a name that ends in {', '.join(endings)}.")


def _say(line: str) -> None:
    click.echo(line, err=True)
