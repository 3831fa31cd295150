"""A run done again from its record, and whether it came out the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from timelike.base.checks import counted
from timelike.base.files import checksum
from timelike.datasets import NAMED
from timelike.exceptions import DataWarning, InputError, warn
from timelike.ontology import Ontology
from timelike.runs.analyse import analyse
from timelike.runs.analysis import Analysis
from timelike.runs.folder import MODEL, TERMS, Say
from timelike.runs.record import FROM_PYTHON, Record, versions

COMPARED = (".csv", ".json", ".npz", ".txt")
"""Figures and pages carry versions of other programs; tables, lists, model and clustering must be the same."""
OF_ONE_FILE = ("dates", "decimal", "duplicates", "sheet")
"""Options about how a file is written, or when it begins; others say what its columns mean."""


def repeat(
    path: Path,
    out: Path,
    *,
    file: Path | Sequence[Path] | None = None,
    samples: Path | None = None,
    terms: Mapping[str, Path] | None = None,
    overwrite: bool = False,
    say: Say | None = None,
) -> Analysis:
    """The analysis of a record once more, from the same input with the same choices.

    Parameters
    ----------
    path
        A ``run.json``; a model that had been given is taken from the ``model.json`` beside it.
    out
        Folder for the results.
    file, samples
        The input, as many files as there were, and its sample sheet, where they are no longer where they were.
    terms
        ``gmt``, ``obo`` or ``gaf`` -> the file, where it is no longer where it was.
    overwrite, say
        As for :func:`timelike.analyse`.
    """
    record = Record.load(path)
    if out.resolve() == path.parent.resolve():
        raise InputError(f"{out} holds the run that is to be repeated: give another folder.")
    data, reading = _input(record, path, file), reading_of(record, path, samples)
    _compare_versions(record)
    model = None if record.model_sha256 is None else path.parent / MODEL
    if model is not None:
        if not model.is_file():
            raise InputError(f"{model}, the model that the run was given, is not there. Copy it from the run's folder.")
        _same(model, record.model_sha256, "model")
    how: dict[str, Any] = {"ontology": _terms(record, path, terms or {}), "overwrite": overwrite, "say": say}
    return analyse(data, out, model=model, reading=reading, **how, **vars(record.recipe))


def differences(path: Path, again: Analysis) -> list[str]:
    """Files of a run whose content is not what its record says."""
    record, found = Record.load(path), again.record.outputs
    return [
        name
        for name, sha256 in record.outputs.items()
        if name.endswith(COMPARED) and sha256 != found.get(name) and (name != TERMS or record.terms is not None)
    ]


def _terms(record: Record, path: Path, given: Mapping[str, Path]) -> Ontology | None:
    """The terms that the clusters were asked about, from where their files are now."""
    if record.terms is None:
        if TERMS in record.outputs:
            warn("the run also looked for terms, and does not say in which files; that is not repeated.", DataWarning)
        return None
    files = {kind: given.get(kind) or _found(Path(one), path.parent) for kind, one in record.terms.files.items()}
    for kind, file in files.items():
        if not file.is_file():
            raise InputError(f"the terms {file} are no longer there. Say where they are (--{kind}).")
        _same(file, record.terms.sha256[kind], f"{kind} file")
    return record.terms.read(files)


def _input(record: Record, path: Path, file: Path | Sequence[Path] | None) -> Path | list[Path]:
    """The file, or the files, of a run, where they are now."""
    source = record.source
    if file is None and source.path is None:
        raise InputError(f"{path} does not name its input: the courses came from Python. Give the file (--file).")
    known = {str(source.path): source.sha256} | source.others
    given = [file] if isinstance(file, Path) else list(file or (_found(Path(one), path.parent) for one in known))
    if len(given) != len(known):
        raise InputError(
            f"{path} has {counted(len(known), 'input')}, --file names {len(given)}: name each, in their order."
        )
    files = [_checked(one, sha256) for one, sha256 in zip(given, known.values(), strict=True)]
    return files if source.others else files[0]


def _checked(data: Path, sha256: str | None) -> Path:
    """The file, if it is there and the same as it was."""
    if str(data) in NAMED and sha256 is None:
        return data
    if not data.is_file():
        raise InputError(f"the input {data} is no longer there. Say where it is (--file).")
    _same(data, sha256, "file")
    return data


def reading_of(record: Record, path: Path, samples: Path | None = None) -> dict[str, Any]:
    """The options that the input of a run was read with, its sample sheet where it is now."""
    sheet = record.source.reading.get("samples")
    if sheet is None:
        if samples is not None:
            raise InputError(f"{path} was made without a sample sheet: leave out --samples.")
        return record.source.reading
    if samples is None and sheet == FROM_PYTHON:
        raise InputError(f"{path} does not name its sample sheet: it came from Python. Give the file (--samples).")
    found = samples or _found(Path(sheet), path.parent)
    if not found.is_file():
        raise InputError(f"the sample sheet {found} is no longer there. Say where it is (--samples).")
    _same(found, record.source.samples_sha256, "sample sheet")
    return record.source.reading | {"samples": str(found)}


def reading_of_others(record: Record, path: Path, given: dict[str, Any]) -> dict[str, Any]:
    """What reading another file takes over from the input of a run; nothing where `given` says what columns mean."""
    if set(given) - set(OF_ONE_FILE):
        return {}
    return {name: value for name, value in reading_of(record, path).items() if name not in OF_ONE_FILE}


def _same(path: Path, sha256: str | None, what: str) -> None:
    """Raise if a file is another one than the record knows."""
    if sha256 is not None and checksum(path) != sha256:
        raise InputError(f"{path} is not the {what} of that run: its SHA-256 is not {sha256[:12]}...")


def _found(path: Path, folder: Path) -> Path:
    """A file by the path that the record has, which may be relative to where the run was started."""
    places = (path, folder / path, folder.parent / path)
    return next((place for place in places if place.is_file()), path)


def _compare_versions(record: Record) -> None:
    now = versions()
    other = [f"{name} {old} (now {now.get(name)})" for name, old in record.versions.items() if now.get(name) != old]
    if other:
        warn(f"the run was made with other versions: {', '.join(other)}.", DataWarning)
