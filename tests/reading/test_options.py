"""One table of options: the signature, the docstring, the command line and the page about reading have the same."""

import inspect
import re
from pathlib import Path

import click
import pandas as pd
import pytest

import timelike as tl
from timelike.cli import main
from timelike.reading.options import ALL, OPTIONS, Settings, without_meaning

PAGE = Path(__file__).parents[2] / "docs" / "reading.md"
VERBS = [verb for verb in main.commands.values() if {parameter.name for parameter in verb.params} >= set(OPTIONS)]
TIDY = pd.DataFrame({"gene": ["a", "a"], "time": [0, 1], "value": [1.0, 2], "se": [1.0, 1]})
SAMPLES = pd.DataFrame({"sample": ["0h", "6h"], "time": [0, 6]})
HOURS = pd.DataFrame({"gene": ["a", "b"], "0h": [1.0, 2], "6h": [3.0, 4]})


def described(function):
    """Names that a docstring of NumPy's form describes -> what it says."""
    section = re.split(r"\n(\w+)\n-+\n", inspect.getdoc(function))
    text = section[section.index("Parameters") + 1]
    found = re.findall(r"^(\S.*)\n((?:    .*\n?|\n)+)", text, re.MULTILINE)
    return {name: about for names, about in found for name in names.split(", ")}


def test_signature_docstring_and_settings_have_the_options_of_the_table():
    source, *others = inspect.signature(tl.read).parameters.values()
    assert source.name == "source"
    assert {option.name: option.default for option in others} == dict.fromkeys(OPTIONS)
    names = [option.name for option in others]
    assert names == list(OPTIONS) == list(Settings.__dataclass_fields__) == list(described(tl.read))[1:]
    assert all(option.kind is option.KEYWORD_ONLY for option in others)


@pytest.mark.parametrize("name", [name for name, row in OPTIONS.items() if row.choices])
def test_the_docstring_names_every_choice(name):
    about = described(tl.read)[name]
    assert [choice for choice in OPTIONS[name].choices if f'"{choice}"' not in about] == []


def test_these_verbs_read_files():
    assert {verb.name for verb in VERBS} == {
        "changing",
        "cluster",
        "compare",
        "fit",
        "similarity",
        "neighbors",
        "explain",
        "lags",
        "match",
        "predict",
    }


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_the_command_line_has_the_options_of_the_table(verb):
    found = {parameter.name: parameter for parameter in verb.params if parameter.name in OPTIONS}
    assert list(found) == list(OPTIONS)
    for name, row in OPTIONS.items():
        assert (found[name].opts, found[name].help) == ([f"--{name.replace('_', '-')}"], row.help)
        choice = found[name].type
        assert tuple(choice.choices if isinstance(choice, click.Choice) else ()) == row.choices


def test_the_page_says_which_layout_takes_which_option():
    table = [
        f"| `{name}` | " + " | ".join("yes" if layout in row.layouts else "" for layout in ALL) + " |"
        for name, row in OPTIONS.items()
    ]
    shown = [" ".join(line.split()) for line in PAGE.read_text(encoding="utf-8").splitlines()]
    start = shown.index(" ".join(table[0].split()))
    assert shown[start : start + len(table)] == [" ".join(line.split()) for line in table]


# -- what an option may be ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["orient", "dates", "duplicates", "decimal"])
def test_choices_are_named(option):
    with pytest.raises(tl.InputError, match=f"{option}='maybe' is unknown: expected '"):
        tl.read(HOURS, **{option: "maybe"})


@pytest.mark.parametrize("name", [name for name, row in OPTIONS.items() if row.kind == "text" and not row.choices])
def test_text_is_expected(name):
    with pytest.raises(tl.InputError, match=f"{name}=5: expected text"):
        tl.read(HOURS, **{name: 5})


def test_names_are_checked():
    for given in (5, [], ["gene", 5], {"gene"}):
        with pytest.raises(tl.InputError, match="expected the name of a column, or a list of several"):
            tl.read(HOURS, course=given)


def test_numbers_and_sheets_are_checked():
    with pytest.raises(tl.InputError, match=r"times .position 1. are not numbers: 'soon'"):
        tl.read(HOURS, times=[0, "soon"])
    with pytest.raises(tl.InputError, match="times= has 1 times, but the header has 2 different ones"):
        tl.read(HOURS, times=5)
    with pytest.raises(tl.InputError, match=r"sheet=\[1\]: expected a name or a number"):
        tl.read(HOURS, sheet=[1])


# -- options that would be ignored -----------------------------------------------------------------------------------

TALL = pd.DataFrame({"time": [0, 1], "a": [1.0, 2]})
LAYOUTS = {"rows": (HOURS, {"orient": "rows"}), "columns": (TALL, {"orient": "columns"}), "tidy": (TIDY, {})}
DECIDE = {("tidy", name) for name in ("samples", "header", "orient")}
"""With one of these a table is wide."""
VALUES = {"text": "x", "numbers": [0, 5], "a name or a number": 0, "a name or several": "x", "True or False": True}


@pytest.mark.parametrize(
    ("layout", "name"),
    [(layout, name) for layout in LAYOUTS for name in without_meaning(layout) if (layout, name) not in DECIDE],
)
def test_options_that_a_layout_does_not_take_are_refused(layout, name):
    table, others = LAYOUTS[layout]
    with pytest.raises(tl.InputError, match=f"the DataFrame: {name}= has no meaning here: "):
        tl.read(table, **others, **{name: VALUES[OPTIONS[name].kind]})


@pytest.mark.parametrize(
    ("table", "options"),
    [
        (TIDY, {"dates": "own"}),
        (TIDY, {"sheet": 0}),
        (HOURS, {"time": "nonsense", "header": "{time}h"}),
        (HOURS, {"time": "gene", "orient": "columns"}),
        (HOURS, {"dates": "own"}),
        (HOURS, {"dates": "common", "samples": SAMPLES}),
        (TALL, {"dates": "common"}),
    ],
)
def test_options_without_a_meaning_are_refused(table, options):
    with pytest.raises(tl.InputError, match=f"the DataFrame: {next(iter(options))}= has no meaning here: "):
        tl.read(table, **options)
