"""The command line: one verb a job, the same words as the library."""

from __future__ import annotations

import click

from timelike.cli.about_verbs import app, completion, demo, info
from timelike.cli.cluster_verbs import bhi, cluster, predict, repeat, report
from timelike.cli.output import Verbs
from timelike.cli.pair_verbs import explain, fit, lags, match, neighbors, similarity
from timelike.cli.question_verbs import changing, compare
from timelike.reproduce.command import reproduce

EPILOG = "Exit codes: 0 done, 1 something unexpected, 2 a mistake in the input or the options (one line says which)."


@click.group(
    cls=Verbs, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(package_name="timelike", message="timelike %(version)s")
def main() -> None:
    """Tell which short, noisy, irregular time courses are alike, and group them."""


VERBS = (
    app,
    bhi,
    changing,
    cluster,
    compare,
    completion,
    demo,
    explain,
    fit,
    info,
    lags,
    match,
    neighbors,
    predict,
    repeat,
    report,
    reproduce,
    similarity,
)
for verb in VERBS:
    main.add_command(verb)
