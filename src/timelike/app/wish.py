"""What a person chose in the page, checked, as options of reading and as words of the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from timelike.app.inputs import Inputs
from timelike.base.checks import is_number
from timelike.exceptions import InputError
from timelike.reading.options import FLAG, OPTIONS, Settings

VERBS = {
    "cluster": ("scale", "most-variable", "k", "tolerance", "up-to", "max-delay", "title", "time-unit", "value-name"),
    "changing": ("fdr", "title", "time-unit", "value-name"),
    "compare": ("fdr", "between", "title", "time-unit", "value-name"),
}
"""The verbs of the page, and the options that each of them takes beside those of reading."""

TERMS = ("gmt", "obo", "gaf")
"""The files of terms that clusters may be enriched for, by the name of their option."""

LONGEST = 50_000
"""Characters of a command line."""


def reading_of(wish: Mapping[str, Any], inputs: Inputs) -> dict[str, Any]:
    """The options of reading that were chosen; those left alone are not among them."""
    given = wish.get("reading") or {}
    if not isinstance(given, dict) or not set(given) <= set(OPTIONS):
        raise InputError("the options of reading are not those of the page: load it again.")
    found = {name: value for name, value in given.items() if value not in (None, "", [], False)}
    if "times" in found:
        found["times"] = _numbers(found["times"])
    if "samples" in found:
        found["samples"] = str(inputs.path(str(found["samples"])))
    if isinstance(found.get("sheet"), str) and found["sheet"].isdigit():
        found["sheet"] = int(found["sheet"])
    Settings(**found)
    return found


def _numbers(text: Any) -> list[float]:
    parts = str(text).replace(";", ",").replace(",", " ").split() if isinstance(text, str) else text
    try:
        return [float(part) for part in parts]
    except (TypeError, ValueError):
        raise InputError(
            f"the times are {str(text)[:60]!r}: expected numbers with commas between, as 0,5,10."
        ) from None


def files_of(wish: Mapping[str, Any], inputs: Inputs) -> list[Path]:
    """The tables that were given."""
    numbers = wish.get("files")
    if not isinstance(numbers, list) or not numbers:
        raise InputError("there is no table yet: drop one.")
    return [inputs.path(str(number)) for number in numbers]


def terms_of(wish: Mapping[str, Any], inputs: Inputs) -> dict[str, Path]:
    """The files of terms that were given, by kind."""
    given = wish.get("terms") or {}
    if not isinstance(given, dict) or not set(given) <= set(TERMS):
        raise InputError("the kinds of terms are not those of the page: load it again.")
    return {kind: inputs.path(str(number)) for kind, number in given.items()}


def check_whole(terms: Mapping[str, Path]) -> None:
    """Raise where files of terms do not go together, with what is missing or too much."""
    if "gmt" in terms and len(terms) > 1:
        other = next(path.name for kind, path in terms.items() if kind != "gmt")
        raise InputError(
            f"{terms['gmt'].name} and {other}: gene sets need no ontology. Remove one, or say that the sets are "
            "annotations of the ontology."
        )
    if "obo" in terms and "gaf" not in terms:
        raise InputError(
            f"{terms['obo'].name} says which terms there are, but not which gene has which: drop its annotations too "
            "(GAF), or gene sets alone (GMT)."
        )
    if "gaf" in terms and "obo" not in terms:
        raise InputError(
            f"{terms['gaf'].name} says which gene has which term, but not what these are: drop their ontology too "
            "(OBO), or gene sets alone (GMT)."
        )


def words_of(wish: Mapping[str, Any], inputs: Inputs) -> list[str]:
    """The command line behind ``timelike``, but for the folder of results.

    An option and its value are one word, so that none is taken for another.
    """
    verb = str(wish.get("verb", "cluster"))
    if verb not in VERBS:
        raise InputError(f"the question {verb[:20]!r} is unknown: expected {', '.join(VERBS)}.")
    words = [verb, *map(str, files_of(wish, inputs))]
    for name, value in reading_of(wish, inputs).items():
        words += _option(name.replace("_", "-"), value, OPTIONS[name].kind == FLAG)
    words += _terms(verb, terms_of(wish, inputs))
    chosen = wish.get("choices") or {}
    if not isinstance(chosen, dict) or not set(chosen) <= set(VERBS[verb]):
        raise InputError(f"the choices are not those of {verb}: load the page again.")
    for name, value in chosen.items():
        if value not in (None, ""):
            words += ["-k", str(value)] if name == "k" else _option(name, value, flag=False)
    return _typed(words)


def _terms(verb: str, terms: Mapping[str, Path]) -> list[str]:
    if terms and verb != "cluster":
        raise InputError(f"terms are looked for where courses are grouped, not by {verb}: load the page again.")
    check_whole(terms)
    return [f"--{kind}={path}" for kind, path in terms.items()]


def _typed(words: list[str]) -> list[str]:
    """The words, if a command line can have them."""
    if any("\0" in word or word != word.encode(errors="ignore").decode() for word in words):
        raise InputError("a choice has characters that cannot be typed: leave them out.")
    if sum(map(len, words)) > LONGEST:
        raise InputError(f"the choices are longer than {LONGEST:,} characters: use the command line.")
    return words


def _option(name: str, value: Any, flag: bool) -> list[str]:
    if flag:
        return [f"--{name}"]
    if name == "course" and isinstance(value, list):
        return [f"--course={one}" for one in value]
    return [f"--{name}={_text(value)}"]


def _text(value: Any) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ",".join(_text(one) for one in value)
    return f"{value:g}" if is_number(value) else str(value)
