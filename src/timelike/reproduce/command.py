"""The command ``timelike reproduce``."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import click

from timelike.base.files import atomic_write
from timelike.base.threads import thread_count
from timelike.exceptions import InputError, MissingExtraError
from timelike.reproduce.settings import PAPER_REPEATS, Run

EXPERIMENTS = {
    "euclidean-limit": "euclidean_limit.euclidean_limit",
    "figure-even": "synthetic.even",
    "figure-uneven": "synthetic.uneven",
    "figure-async": "synthetic.asynchronous",
    "genes": "genes.genes",
    "table-bhi": "table_bhi.table_bhi",
}
"""Every figure and table, in the order of the paper, and the function that makes it."""
FOLDER = click.Path(path_type=Path, file_okay=False)


@click.command()
@click.argument("what", type=click.Choice([*EXPERIMENTS, "all"]))
@click.option("--out", type=FOLDER, default=Path("reproduction"), show_default=True, help="Where the results go.")
@click.option("--repeats", type=click.IntRange(1), default=PAPER_REPEATS, show_default=True, help="Data sets a panel.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Other seed, other data sets.")
@click.option("--processes", type=click.IntRange(1), help="By default as many as there are cores.")
def reproduce(what: str, out: Path, repeats: int, seed: int, processes: int | None) -> None:
    """Make a figure or table of the paper again, beside the printed values.

    Writes tables (CSV), figures (PNG, SVG) and reproduction.md into the folder --out. What is finished is kept in
    its subfolder "work" and used again: a run that was stopped goes on where it was.
    """
    from timelike.reproduce import report

    run = Run(out, repeats, seed, thread_count(processes))
    run.work.mkdir(parents=True, exist_ok=True)
    chosen = list(EXPERIMENTS) if what == "all" else [what]
    failures = [message for name in chosen if (message := _attempt(name, run))]
    click.echo(f"{report.write(run.out, run.work, EXPERIMENTS)} has the results.", err=True)
    if failures:
        raise click.ClickException("\n".join(failures))


def _attempt(name: str, run: Run) -> str | None:
    """Do one experiment; what went wrong, or None. One failure must not cost the others their work."""
    module, function = EXPERIMENTS[name].split(".")
    try:
        text: str = getattr(import_module(f"timelike.reproduce.{module}"), function)(run)
    except (InputError, MissingExtraError) as problem:
        return f"{name}: {problem}"
    with atomic_write(run.work / f"{name}.md") as file:
        file.write(text)
    return None
