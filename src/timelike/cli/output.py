"""What the command line says, and where: results to standard output, words about the work to standard error."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

import click

from timelike.exceptions import DataWarning, FitWarning, InputError, MissingExtraError

QUIET = "timelike.quiet"
Verb = TypeVar("Verb", bound=Callable[..., Any])
"""A function that becomes, or is, a command."""


class Verbs(click.Group):
    """A group whose commands answer a user's mistake, and what a disk refuses, with one line and exit code 2."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """The command and its arguments, in which an option that is meant once stands once."""
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None:
            _refuse_repeated(command, click.Context(command, info_name=name, parent=ctx), list(rest))
        return name, command, rest

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, with warnings as notes and mistakes as one line."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("always", FitWarning)
                warnings.simplefilter("always", DataWarning)
                warnings.showwarning = _show_once()
                return super().invoke(ctx)
        except (InputError, MissingExtraError) as problem:
            click.echo(f"timelike: {problem}", err=True)
            sys.exit(2)
        except BrokenPipeError:  # who reads has had enough
            raise
        except OSError as problem:
            place = "" if problem.filename is None else f"{problem.filename}: "
            click.echo(f"timelike: {place}{problem.strerror or problem}.", err=True)
            sys.exit(2)


def _refuse_repeated(command: click.Command, ctx: click.Context, args: list[str]) -> None:
    """Raise if an option with a value stands twice: the later one would win without a word."""
    _, _, order = command.make_parser(ctx).parse_args(args)
    for option in (one for one in order if isinstance(one, click.Option)):
        decides = not option.is_flag or option.secondary_opts
        if decides and not option.multiple and order.count(option) > 1:
            names = " or ".join([*option.opts, *option.secondary_opts])
            raise click.UsageError(f"{names} is given {order.count(option)} times: give it once.", ctx)


def _show_once() -> Callable[..., None]:
    """What shows each warning the first time that it comes."""
    shown: set[str] = set()

    def show(message: Warning | str, *_: object, **__: object) -> None:
        if str(message) not in shown:
            shown.add(str(message))
            click.echo(f"note: {message}", err=True)

    return show


def quiet_option(command: Verb) -> Verb:
    """Add ``--quiet``: no words about the work, no bars; notes and errors are still shown."""
    return click.option(
        "--quiet", "-q", is_flag=True, expose_value=False, callback=_be_quiet, help="Say nothing but notes and errors."
    )(command)


def _be_quiet(ctx: click.Context, _: click.Parameter, quiet: bool) -> None:
    from timelike.base.threads import without_bars

    ctx.meta[QUIET] = quiet
    if quiet:
        ctx.call_on_close(without_bars())


def say(line: str) -> None:
    """A line about the work, on standard error, unless the user wants quiet."""
    if not click.get_current_context().meta.get(QUIET):
        click.echo(line, err=True)
