"""The command line: one verb a job, the same words as the library."""

from __future__ import annotations

import click

from timelike.cli import about_verbs, cluster_verbs, pair_verbs
from timelike.cli.output import Verbs
from timelike.reproduce.command import reproduce

EPILOG = "Exit codes: 0 done, 1 something unexpected, 2 a mistake in the input or the options (one line says which)."


@click.group(
    cls=Verbs, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(package_name="timelike", message="timelike %(version)s")
def main() -> None:
    """Tell which short, noisy, irregular time courses are alike, and group them."""


for verb in (
    cluster_verbs.cluster,
    cluster_verbs.report,
    cluster_verbs.predict,
    cluster_verbs.repeat,
    cluster_verbs.bhi,
    pair_verbs.fit,
    pair_verbs.similarity,
    pair_verbs.neighbors,
    pair_verbs.explain,
    about_verbs.demo,
    about_verbs.info,
    about_verbs.completion,
    reproduce,
):
    main.add_command(verb)
