"""Settings of the documentation site; ``make docs`` builds it, without a network.

``docs/pages.py`` lays the sources into a folder first: the pages, with the figures that their code made.
"""

import re
from importlib.metadata import version as version_of
from typing import Any

import click

project = "timelike"
author = "The timelike developers"
copyright = author
version = release = version_of("timelike")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_heading_anchors = 3
smartquotes = False  # an option's two dashes are two dashes
suppress_warnings = ["myst.header"]  # results of benchmarks may skip a level of headings
exclude_patterns = ["benchmarks/results/*/*"]  # parts of the results above them
html_theme = "furo"
html_title = f"timelike {release}"
html_extra_path = ["extra"]  # reports that pages made
html_static_path = html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
pygments_style, pygments_dark_style = "friendly", "monokai"

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # in the signature they are longer than the signature; the docstrings say what goes in
autodoc_preserve_defaults = True
napoleon_google_docstring = False
napoleon_use_ivar = True  # attributes that a class describes and has are one thing
napoleon_use_param = False  # parameters that are described together stay together
napoleon_use_rtype = False
highlight_language = "text"

COMMANDS = "<!-- the help of every verb -->"
"""Where the page of commands gets what the program says about itself."""


def help_of(command: click.Command, name: str) -> str:
    """What ``--help`` of a verb prints, as wide as the page."""
    context = click.Context(command, info_name=name, terminal_width=88, help_option_names=["-h", "--help"])
    return command.get_help(context)


def commands() -> str:
    """The help of the program and of every verb, each under a heading."""
    from timelike.cli import main

    parts = {"timelike": help_of(main, "timelike")}
    parts |= {f"timelike {name}": help_of(verb, f"timelike {name}") for name, verb in main.commands.items()}
    return "\n\n".join(f"## {name}\n\n```text\n{text}\n```" for name, text in parts.items())


def setup(app: Any) -> None:
    """Fill in what is generated."""
    from pygments.lexers.python import PythonLexer

    app.add_lexer("snakemake", PythonLexer)  # Python with rules
    app.connect("source-read", _fill)
    app.connect("autodoc-process-docstring", _escape, priority=900)


def _fill(_app: object, _name: str, source: list[str]) -> None:
    source[0] = source[0].replace(COMMANDS, commands())


def _escape(_app: object, _what: str, _name: str, _object: object, _options: object, lines: list[str]) -> None:
    """Keep names as they are: ``n_clusters_`` is no link, and ``:ivar a, b:`` has two names and no type."""
    for i, line in enumerate(lines):
        if line.startswith(":ivar"):
            line = re.sub(r"^:ivar ([^:]+):", lambda found: found[0].replace(", ", ","), line)
        if not line.lstrip().startswith((">>>", "...")):
            line = re.sub(r"(?<![`\w.])([A-Za-z]\w*)_(?![\w`])", r"\1\\_", line).replace(" -- ", " \u2013 ")
        lines[i] = line
