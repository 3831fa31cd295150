"""The record of a run: what went in, what was chosen, which versions worked on it, and what came out."""

from __future__ import annotations

import json
import platform
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from timelike.base.checks import is_number
from timelike.base.files import atomic_write, read_json
from timelike.base.versions import installed
from timelike.exceptions import InputError
from timelike.reading.options import Settings
from timelike.runs.recipe import Recipe
from timelike.runs.terms import Terms

FORMAT = "timelike run 1"
GIVEN = "given"
"""Stands for the sum of a given model until it is written."""
FROM_PYTHON = "a table in Python"
"""Stands for the path of a sample sheet that was no file."""
LONGEST_NAME = 255
"""Bytes of the name of a file."""
BEFORE_CLOCKS: dict[str, Any] = {"clock": "linear", "noise": "common", "refine": False}
"""What was so in runs whose record does not say it."""
PACKAGES = ("timelike", "numpy", "scipy", "scikit-learn", "pandas", "numba", "faiss-cpu", "igraph")
"""What a result depends on."""


@dataclass(frozen=True)
class Source:
    """Where courses came from: a file, its checksum, how it was read, and the checksum of its sample sheet.

    Where it held counts, also the size factor of each sample. Where there were several files, `others` has the path and
    the checksum of each after the first. `details` are the columns that say something else about each course, and
    `left_out` says how much of what is in none of them: "2 genes without any count".
    """

    path: str | None = None
    sha256: str | None = None
    reading: dict[str, Any] = field(default_factory=dict)
    understood: tuple[str, ...] = ()
    time_unit: str | None = None
    samples_sha256: str | None = None
    size_factors: dict[str, float] | None = None
    others: dict[str, str] = field(default_factory=dict)
    details: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def value_name(self) -> str | None:
        """What the values are, where that is known from how they were made."""
        return None if self.size_factors is None else "log2 counts, normalised"


@dataclass(frozen=True)
class Search:
    """How the neighbours were found, and what fraction of the true ones, see :class:`timelike.Neighbors`."""

    route: str
    recall: float


@dataclass(frozen=True)
class Record:
    """All that is needed to repeat a run to the bit, and to see that it was.

    Attributes
    ----------
    source, recipe
    model_sha256
        Of the ``model.json`` that was written, where the model was given; None where it was fitted.
    outputs
        File name -> SHA-256 of what the run wrote.
    notes
        Warnings of the run.
    versions
        Package -> version.
    search
        None for a single course, and in records that do not have it yet.
    selected
        Which of the courses were chosen, in words; None where all were.
    terms
        The files of the terms that clusters were asked about, and how they were read; None where there were none.
    """

    source: Source
    recipe: Recipe
    model_sha256: str | None = None
    outputs: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    versions: dict[str, str] = field(default_factory=lambda: versions())
    search: Search | None = None
    selected: str | None = None
    terms: Terms | None = None

    def save(self, path: Path) -> None:
        """Write the record as JSON."""
        data = {"format": FORMAT, "written": datetime.now(UTC).isoformat(timespec="seconds")} | asdict(self)
        with atomic_write(path) as file:
            file.write(json.dumps(data, indent=2, ensure_ascii=False) + "\n")

    @classmethod
    def load(cls, path: Path) -> Record:
        """Read a record, checking every entry: the file may come from anybody."""
        data = read_json(path, "the record of a run", FORMAT)
        try:
            return cls(
                _source(_entries(data, "source", tuple(Source.__dataclass_fields__))),
                Recipe.of(**BEFORE_CLOCKS | _entries(data, "recipe", tuple(Recipe.__dataclass_fields__))),
                _text(data, "model_sha256"),
                _outputs(data),
                _list_of_texts(data, "notes"),
                _texts(data, "versions"),
                _search(data),
                _text(data, "selected"),
                _terms(data),
            )
        except (InputError, TypeError) as problem:
            raise InputError(f"{path}: {problem}") from None


def outputs_of(path: Path) -> dict[str, str]:
    """File name -> SHA-256 of what a run wrote, of clusters or of a question; nothing where there is no such record."""
    try:
        return _outputs(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, AttributeError, RecursionError, InputError):
        return {}


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that a result depends on."""
    return {"python": platform.python_version()} | installed(*PACKAGES)


def _entries(data: dict[str, Any], name: str, known: tuple[str, ...]) -> dict[str, Any]:
    entry = data.get(name)
    if not isinstance(entry, dict) or not set(entry) <= set(known):
        raise InputError(f"the entry {name!r} is not what timelike writes: expected {', '.join(known)}.")
    return entry


def _source(entry: dict[str, Any]) -> Source:
    reading, understood = entry.get("reading", {}), entry.get("understood", [])
    if not isinstance(reading, dict) or not isinstance(understood, list):
        raise InputError("the entry 'source' is not what timelike writes: 'reading' or 'understood' is damaged.")
    _entries({"reading": reading}, "reading", tuple(Settings.__dataclass_fields__))
    _text(reading, "samples")
    texts = {name: _text(entry, name) for name in ("path", "sha256", "time_unit", "samples_sha256")}
    factors = _size_factors(entry)
    lines, others = tuple(map(str, understood)), _texts(entry, "others")
    details, left_out = _list_of_texts(entry, "details"), _list_of_texts(entry, "left_out")
    return Source(
        **texts,
        reading=reading,
        understood=lines,
        size_factors=factors,
        others=others,
        details=details,
        left_out=left_out,
    )


def _size_factors(entry: dict[str, Any]) -> dict[str, float] | None:
    factors = entry.get("size_factors")
    if factors is None:
        return None
    if not isinstance(factors, dict) or not factors or not all(is_number(f) and f > 0 for f in factors.values()):
        raise InputError(
            f"the entry 'size_factors' is {str(factors)[:40]!r}: expected a number above zero for each sample."
        )
    return {name: float(factor) for name, factor in factors.items()}


def _search(data: dict[str, Any]) -> Search | None:
    if data.get("search") is None:
        return None
    entry = _entries(data, "search", tuple(Search.__dataclass_fields__))
    route, recall = _text(entry, "route"), entry.get("recall", -1)
    if not route or not is_number(recall) or not 0 <= recall <= 1:
        raise InputError(f"the entry 'search' is {entry!r}: expected a route and a recall from 0 to 1.")
    return Search(route, float(recall))


def _terms(data: dict[str, Any]) -> Terms | None:
    if data.get("terms") is None:
        return None
    entry = _entries(data, "terms", tuple(Terms.__dataclass_fields__))
    files, sums = _texts(entry, "files"), _texts(entry, "sha256")
    if set(files) not in ({"gmt"}, {"obo", "gaf"}) or set(sums) != set(files):
        raise InputError(f"the entry 'terms' has files {list(files)}: expected gmt, or obo and gaf, each with its sum.")
    how = {name: _list_of_texts(entry, name) for name in ("drop", "relations") if name in entry}
    return Terms(files, sums, _text(entry, "aspect"), **how)


def _text(data: dict[str, Any], name: str) -> str | None:
    entry = data.get(name)
    if entry is not None and not isinstance(entry, str):
        raise InputError(f"the entry {name!r} is {entry!r}: expected text.")
    return entry


def _list_of_texts(data: dict[str, Any], name: str) -> tuple[str, ...]:
    found = data.get(name, [])
    if not isinstance(found, list) or not all(isinstance(text, str) for text in found):
        raise InputError(f"the entry {name!r} is {str(found)[:40]!r}: expected a list of texts.")
    return tuple(found)


def _outputs(data: dict[str, Any]) -> dict[str, str]:
    """The sums of the files that a run wrote; each has a name that can stand in its folder."""
    found = _texts(data, "outputs")
    for name in found:
        inside = not Path(name).is_absolute() and ".." not in Path(name).parts
        if (
            not inside
            or not name.isprintable()
            or max(len(part.encode()) for part in (*Path(name).parts, "")) > LONGEST_NAME
        ):
            raise InputError(f"the entry 'outputs' has {name[:40]!r}, which is no name of a file in the run's folder.")
    return found


def _texts(data: dict[str, Any], name: str) -> dict[str, str]:
    entry = data.get(name, {})
    if not isinstance(entry, dict) or not all(isinstance(value, str) for value in entry.values()):
        raise InputError(f"the entry {name!r} is not what timelike writes: expected names and texts.")
    return entry
