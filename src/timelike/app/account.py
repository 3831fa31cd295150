"""How files were understood, as the page shows it: in words, as a table, and as a picture of some courses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from timelike.app.wish import check_whole
from timelike.base.checks import counted
from timelike.exceptions import InputError
from timelike.ontology import Ontology
from timelike.reading import Understood, read_table, understand
from timelike.reading.files import holds_hdf5
from timelike.reading.options import OPTIONS
from timelike.runs.terms import terms_from

DRAWN = 24
"""Courses in the picture."""
ROWS, COLUMNS = 6, 40
"""Of the table that is shown."""


def account(files: Sequence[Path], reading: dict[str, Any], terms: Mapping[str, Path]) -> dict[str, Any]:
    """What was made of the files, or the sentence that says why not; the table is shown in either case."""
    sheet = Path(reading["samples"]) if "samples" in reading else None
    shown: dict[str, Any] = {"table": _table(files[0], reading), "sheet": None if sheet is None else _table(sheet, {})}
    known = [*files, *filter(None, [sheet]), *terms.values()]
    try:
        found = understand(list(files) if len(files) > 1 else files[0], **reading)
        shown |= {"lines": found.lines(), "conditions": _conditions(found), "curves": _curves(found)}
        return shown | {"lines": [*found.lines(), *_terms(found, terms)]}
    except InputError as problem:
        return shown | {"error": _without_places(str(problem), known)}
    except (ValueError, MemoryError, OSError) as problem:
        return shown | {"error": f"the file cannot be read: {str(problem) or type(problem).__name__}."}


def _terms(found: Understood, terms: Mapping[str, Path]) -> list[str]:
    """What was made of the files of terms, and how many of the courses have some, in a line."""
    check_whole(terms)
    ontology = _ontology(*(terms.get(kind) for kind in ("obo", "gaf", "gmt")))
    if ontology is None:
        return []
    files = ", ".join(path.name for path in terms.values())
    names = ontology.mapped(dict.fromkeys(found.courses.plain_names))
    have = f"{names.used:,} of {counted(len(names.names), 'name')} here have terms"
    return [f"terms for the groups, from {files}: {ontology.described()}; {have}"]


@lru_cache(maxsize=1)
def _ontology(obo: Path | None, gaf: Path | None, gmt: Path | None) -> Ontology | None:
    """Terms from files, which do not change once they were given; an ontology takes seconds to read."""
    return terms_from(obo, gaf, gmt)


def _without_places(sentence: str, files: Sequence[Path]) -> str:
    """The sentence with the names of files as the person knows them."""
    for file in files:
        sentence = sentence.replace(str(file), file.name)
    return sentence


def _table(path: Path, reading: dict[str, Any]) -> dict[str, Any] | None:
    """The first rows of a table, None where it is none."""
    if holds_hdf5(path):
        return None
    try:
        table = read_table(path, sheet=reading.get("sheet"))
    except InputError:
        return None
    header = list(table.header[:COLUMNS])
    return {"header": header, "rows": [list(row[:COLUMNS]) for row in table.first_rows[:ROWS]]} | {
        "columns": len(table.header)
    }


def _conditions(found: Understood) -> list[str]:
    return list(dict.fromkeys(found.courses.conditions or ()))


def _curves(found: Understood) -> list[dict[str, Any]]:
    """Times and values of some courses, evenly taken from all."""
    courses = found.courses
    some = np.unique(np.linspace(0, len(courses) - 1, DRAWN).round().astype(int))
    parts = [courses[int(i)] for i in some]
    return [{"name": p.names[0], "times": p.times.tolist(), "values": p.values.tolist()} for p in parts]


def menus() -> list[dict[str, Any]]:
    """The options of reading, as the page offers them."""
    return [
        {"name": name, "help": row.help, "choices": list(row.choices), "kind": row.kind, "layouts": list(row.layouts)}
        for name, row in OPTIONS.items()
    ]
