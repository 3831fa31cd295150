"""Verbs about timelike itself: demo, info, completion."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from timelike.cli.options import FOLDER, force_option
from timelike.cli.output import quiet_option

COMPUTING = ("timelike", "numpy", "scipy", "scikit-learn", "pandas", "numba")
FURTHER = ("matplotlib", "dtaidistance", "anndata", "pyarrow", "openpyxl", "zarr", "distributed", "faiss-cpu", "igraph")
SHELLS = {"bash": "~/.bashrc", "zsh": "~/.zshrc", "fish": "~/.config/fish/completions/timelike.fish"}


@click.command()
@quiet_option
@click.option("--out", type=FOLDER, default="timelike-demo", show_default=True, help="Folder for the results.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Other seed, other counts.")
@force_option("what is there")
def demo(out: Path, seed: int, force: bool) -> None:
    """Ask a made-up experiment which genes change, differ and are alike, with the truth beside the answers.

    Raw counts of 1,200 invented genes in two strains over a day, with a story to find: which of their programmes comes
    late, is lost, is weaker, is new. The folder has the counts as you would have yours, and the reports. It takes less
    than a minute.
    """
    from timelike.runs.demo import run

    for line in run(out, seed, overwrite=force):
        click.echo(line)


@click.command()
@click.option("--folder", type=FOLDER, default="timelike-results", show_default=True, help="Folder for the results.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port to listen on (default: any that is free).")
@click.option("--browser/--no-browser", default=True, show_default=True, help="Open the page in the browser.")
def app(folder: Path, port: int, browser: bool) -> None:
    """Do the whole job in the browser: drop files, see how they are understood, watch, read the report.

    It answers on this machine alone, and files stay in the folder. Ctrl-C ends it, with all that it started.
    """
    from timelike.app.serve import serve

    serve(folder, port, click.echo, show=browser)


@click.command()
def info() -> None:
    """Versions, and which engine computes the similarity."""
    from timelike.base.threads import thread_count
    from timelike.base.versions import version
    from timelike.pairs import elimination

    click.echo(f"engine: {elimination.name()} ({_about_engine()})")
    click.echo(f"threads: {thread_count(None)}")
    click.echo(f"python {sys.version.split()[0]}")
    for package in COMPUTING + FURTHER:
        click.echo(f"{package} {version(package, 'not installed')}")


def _about_engine() -> str:
    from timelike.pairs import elimination

    if elimination.name() == "numpy":
        return "pip install 'timelike[fast]' is faster"
    kept = elimination.kept_in() or "nowhere, as no folder can be written: every process compiles for some seconds"
    return f"for large jobs; beyond {elimination.STRAIGHT} basis functions its code is kept in {kept}"


@click.command()
@click.argument("shell", type=click.Choice(list(SHELLS)))
def completion(shell: str) -> None:
    """Print what makes SHELL complete verbs, options and files after 'timelike <Tab>'.

    For bash add  eval "$(timelike completion bash)"  to ~/.bashrc, for zsh the same with zsh to ~/.zshrc; for fish
    redirect it into ~/.config/fish/completions/timelike.fish.
    """
    from click.shell_completion import get_completion_class

    from timelike.cli import main

    found = get_completion_class(shell)
    if found is not None:
        click.echo(found(main, {}, "timelike", "_TIMELIKE_COMPLETE").source())
