"""Options that several verbs share, and what becomes of them: courses, a model, places to write to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from timelike.base.checks import counted
from timelike.base.files import is_taken
from timelike.cli.output import Verb, quiet_option, say
from timelike.courses import TimeCourses
from timelike.exceptions import DataWarning, InputError, warn
from timelike.gp import GP
from timelike.gp.freedom import asked_for
from timelike.gp.kernels import NAMED
from timelike.reading import Understood, understand
from timelike.reading.options import FLAG, NAMES, OPTIONS
from timelike.runs.analyse import given_or_fitted, note_gaps, prepared
from timelike.runs.recipe import SCALES, Clock, Recipe

FILE = click.Path(dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)


class _Numbers(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic only in newer releases
    """Numbers with commas between them."""

    name = "NUMBERS"

    def convert(self, value: Any, param: Any, ctx: Any) -> list[float]:
        """The numbers, as floats."""
        try:
            return [float(part) for part in str(value).split(",")]
        except ValueError:
            return self.fail(f"{value!r}: expected numbers with commas between them, as 0,5,10.", param, ctx)


class _Clock(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic only in newer releases
    """A number, "auto" or "linear"."""

    name = "auto|linear|NUMBER"

    def convert(self, value: Any, param: Any, ctx: Any) -> str | float:
        """The word, or the number."""
        try:
            return value if value in ("auto", "linear") else float(value)
        except ValueError:
            return self.fail(f"{value!r}: expected auto, linear, or a number in the unit of the times.", param, ctx)


class _Delay(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic only in newer releases
    """A number in the unit of the times."""

    name = "TIME"

    def convert(self, value: Any, param: Any, ctx: Any) -> float:  # noqa: ARG002 - click hands all three
        """The number."""
        try:
            return float(value)
        except ValueError:
            raise InputError(
                f"--max-delay is {value!r}: expected a number alone, as 6, in the unit of the times of the file."
            ) from None


Files = Path | list[Path]
"""One file of courses, or several."""
KINDS = {"a file": FILE, "numbers": _Numbers()}
KERNELS = f"{', '.join(NAMED)}, or auto: the likeliest of se, matern52 and matern32."
CLOCK = (
    "Time that runs slower and slower, where that is clearly likelier; linear: plain time, as in the paper; or from "
    "about when on, in the unit of the times."
)
MOST_VARIABLE = (
    "Keep only the N courses that vary most (N names with all their conditions, where there are conditions)."
)
CHANGING = (
    "Keep only the courses that change over time at this expected false discovery rate, as 0.05 (names with all their "
    "conditions, where there are conditions)."
)
UP_TO = (
    "In what courses may differ and still be alike: level (only changes count), gain (size) and delay, or some of them "
    "with commas between{auto}."
)
MAX_DELAY = "With delays: how far apart in time two courses may be, a number in the unit of the times."
SCALE = "What is compared: values as they are; minus each course's mean; also divided by its sd."


def reading_options(command: Verb) -> Verb:
    """The file, or several, and how to read them."""
    files = click.argument("file", type=FILE, nargs=-1, required=True, callback=_one_or_several, metavar="FILE...")
    return files(how_to_read(command))


def how_to_read(command: Verb) -> Verb:
    """How to read a file, without the file itself."""
    for name, row in reversed(OPTIONS.items()):
        kind = click.Choice(row.choices) if row.choices else KINDS.get(row.kind)
        how: dict[str, Any] = {"is_flag": True, "default": None} if row.kind == FLAG else {"type": kind}
        how |= {"multiple": True, "callback": _one_or_several} if row.kind == NAMES else {}
        command = click.option(f"--{name.replace('_', '-')}", help=row.help, **how)(command)
    return quiet_option(command)


def _one_or_several(_: click.Context, __: click.Parameter, given: tuple[Any, ...]) -> Any:
    """What was given, as a list only where it was given again; None where it was not."""
    return list(given) if len(given) > 1 else next(iter(given), None)


def course_options(command: Verb) -> Verb:
    """The file, how to read it, and what to compare; every verb that takes courses has them."""
    scale = click.option("--scale", type=click.Choice(list(SCALES)), default="none", show_default=True, help=SCALE)
    most = click.option("--most-variable", type=int, metavar="N", help=MOST_VARIABLE)
    changing = click.option("--changing", type=float, metavar="FDR", help=CHANGING)
    return reading_options(changing(most(scale(command))))


def model_options(command: Verb) -> Verb:
    """The model: read from a file, or fitted."""
    given = click.option("--model", type=FILE, help="Use this model (from 'timelike fit') instead of fitting one.")
    kernel = click.option("--kernel", help=f"Kernel to fit: {KERNELS} [default: se]")
    return given(kernel(click.option("--clock", type=_Clock(), help=f"{CLOCK} [default: auto]")(command)))


def freedom_options(auto: str = "", default: str | None = None) -> Callable[[Verb], Verb]:
    """In what courses may differ; `auto` says what that word does, where it may be given."""
    names = click.option(
        "--up-to",
        metavar="level,gain,delay",
        default=default,
        show_default=default is not None,
        help=UP_TO.format(auto=auto),
    )
    longest = click.option("--max-delay", type=_Delay(), help=MAX_DELAY)
    return lambda command: names(longest(command))


def force_option(what: str) -> Callable[[Verb], Verb]:
    """Leave to overwrite something."""
    return click.option("--force", is_flag=True, help=f"Overwrite {what}.")


def term_options(command: Verb) -> Verb:
    """Terms that clusters may be enriched for: gene sets alone, or an ontology with its annotations."""
    for option in (
        click.option("--gaf", type=FILE, help="Its annotations (GAF 2, gene-term table or GMT, plain or .gz)."),
        click.option("--obo", type=FILE, help="Terms from an ontology instead (OBO, plain or .gz); with --gaf."),
        click.option("--gmt", type=FILE, help="Gene sets, to look for those that clusters are enriched for (GMT)."),
    ):
        command = option(command)
    return command


clock_option = click.option("--clock", type=_Clock(), default="auto", show_default=True, help=CLOCK)
dask_option = click.option("--dask", metavar="ADDRESS", help="Let the workers of this Dask scheduler compute.")
threads_option = click.option("--threads", type=int, help="Number of threads (default: all).")


# -- what becomes of them ----------------------------------------------------------------------------------------


def split_reading(options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options of a verb: those for reading the file that were given, and the others."""
    reading = {name: options[name] for name in OPTIONS if options.get(name) is not None}
    reading |= {name: str(path) for name, path in reading.items() if isinstance(path, Path)}  # a record is JSON
    return reading, {name: value for name, value in options.items() if name not in OPTIONS}


def freedoms_of(options: dict[str, Any]) -> dict[str, Any]:
    """In what courses may differ, taken out of the options of a verb, once it is clear that there are such freedoms."""
    up_to, max_delay = options.pop("up_to"), options.pop("max_delay")
    recipe = Recipe.of(up_to=asked_for(up_to or ()), max_delay=max_delay)
    return {"up_to": recipe.up_to, "max_delay": recipe.max_delay}


def courses_of(file: Files, **options: Any) -> TimeCourses:
    """The courses of a file, chosen and scaled as asked, with a word about what was understood."""
    reading, choices = split_reading(options)
    given, recipe = understood(file, reading).courses, Recipe.of(**choices)
    courses = prepared(given, recipe)
    if (words := recipe.selection(given, courses)) is not None:
        say(f"selected {words}")
    return courses


def understood(file: Files, reading: dict[str, Any]) -> Understood:
    """What a file holds, said aloud."""
    found = understand(file, **reading)
    for line in found.lines():
        say(line)
    return found


def model_of(
    courses: TimeCourses,
    model: Path | None,
    kernel: str | None,
    clock: Clock | None,
    free: Mapping[str, Any] | None = None,
) -> GP:
    """The model in a file, or one fitted to the courses; moved to one level where these are free in it."""
    one_model(model, kernel, clock)
    levels = free is not None and "level" in free["up_to"]
    gp = given_or_fitted(courses, model, kernel or "se", "auto" if clock is None else clock, say, levels=levels)
    note_gaps(courses, gp)
    return gp


def one_model(model: Path | None, kernel: str | None, clock: Clock | None) -> None:
    """Raise if a model is given and how to fit one too."""
    for name, value in (("kernel", kernel), ("clock", clock)):
        if model is not None and value is not None:
            raise InputError(f"a model has its {name} already: leave out --{name} or --model.")


def same_unit(known: str | None, new: str | None, file: Files) -> None:
    """Raise if two files say different units of time."""
    if known and new and known != new:
        name = file if isinstance(file, Path) else " and ".join(map(str, file))
        raise InputError(f"{name}: its times are in {new}, the others in {known}. Write both in one unit.")


def note_depth(new: Understood, scale: str) -> None:
    """Warn that levels of counts from two files cannot be compared."""
    if new.counts is not None and scale == "none":
        warn(
            "counts of each file are normalised among themselves: all levels of a file that was sequenced deeper are "
            "higher. Compare shapes (--scale center), or put the samples into one file.",
            DataWarning,
        )


def may_write(out: Path, force: bool) -> None:
    """Raise if a file would be lost, or has no folder to go into."""
    if is_taken(out) and not force:
        raise InputError(f"{out} exists. Choose another --out, or add --force.")
    if not out.parent.is_dir():
        raise InputError(f"there is no folder {out.parent} to write into.")


def say_files(files: Sequence[Path], out: Path) -> None:
    """Say which files were written into a folder; of the folders within only how many."""
    within = Counter(path.parent.name for path in files if path.parent != out)
    names = [path.name for path in files if path.parent == out]
    names += [f"{counted(number, 'file')} in {folder}" for folder, number in within.items()]
    if names:
        say(f"wrote {', '.join(names)} into {out}")


def exit_if_failed(failed: tuple[str, ...], files: Sequence[Path], out: Path) -> None:
    """Leave with exit code 1 and a line where a part of the results is missing; what went wrong is in the notes."""
    if failed:
        rest = f"all else is in {out}" if files else f"nothing is in {out}"
        click.echo(f"timelike: not everything was made, see the notes above; {rest}", err=True)
        raise SystemExit(1)


def one_of(out: Path, endings: tuple[str, ...]) -> None:
    """Raise if a file's name does not end as expected."""
    if out.suffix not in endings:
        raise InputError(f"{out}: expected a name that ends in {', '.join(endings)}.")
