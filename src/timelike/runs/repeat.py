"""A run done again from its record, and whether it came out the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from timelike.base.files import checksum
from timelike.datasets import NAMED
from timelike.exceptions import DataWarning, InputError, warn
from timelike.runs.analyse import Say, analyse
from timelike.runs.analysis import Analysis
from timelike.runs.folder import MODEL, TERMS
from timelike.runs.record import FROM_PYTHON, Record, versions

COMPARED = (".csv", ".json", ".npz")
"""Figures and pages carry versions of other programs; tables, model and clustering must be the same."""


def repeat_run(
    record: Path,
    out: Path,
    *,
    file: Path | None = None,
    samples: Path | None = None,
    overwrite: bool = False,
    say: Say | None = None,
) -> Analysis:
    """The analysis of a record once more, from the same input with the same choices.

    Parameters
    ----------
    record
        A ``run.json``; a model that had been given is taken from the ``model.json`` beside it.
    out
        Folder for the results.
    file, samples
        The input and its sample sheet, where they are no longer where they were.
    overwrite, say
        As for :func:`timelike.analyse`.
    """
    told = Record.load(record)
    if out.resolve() == record.parent.resolve():
        raise InputError(f"{out} holds the run that is to be repeated: give another folder.")
    data, reading = _input(told, file, record), reading_of(told, record, samples)
    _compare_versions(told)
    model = None if told.model_sha256 is None else record.parent / MODEL
    if model is not None:
        if not model.is_file():
            raise InputError(f"{model}, the model that the run was given, is not there. Copy it from the run's folder.")
        _same(model, told.model_sha256, "model")
    if TERMS in told.outputs:
        warn("the run also looked for ontology terms; that is not repeated.", DataWarning)
    how: dict[str, Any] = vars(told.recipe)
    return analyse(data, out, model=model, reading=reading, overwrite=overwrite, say=say, **how)


def differences(record: Path, again: Analysis) -> list[str]:
    """Files of a run whose content is not what its record says."""
    told, found = Record.load(record).outputs, again.record.outputs
    return [n for n in told if n.endswith(COMPARED) and n != TERMS and told[n] != found.get(n)]


def _input(told: Record, file: Path | None, record: Path) -> Path:
    if file is None and told.source.path is None:
        raise InputError(f"{record} does not name its input: the courses came from Python. Give the file (--file).")
    data = file or _found(Path(str(told.source.path)), record.parent)
    if str(data) in NAMED and told.source.sha256 is None:
        return data
    if not data.is_file():
        raise InputError(f"the input {data} is no longer there. Say where it is (--file).")
    _same(data, told.source.sha256, "file")
    return data


def reading_of(told: Record, record: Path, samples: Path | None = None) -> dict[str, Any]:
    """The options that the input of a run was read with, its sample sheet where it is now."""
    sheet = told.source.reading.get("samples")
    if sheet is None:
        if samples is not None:
            raise InputError(f"{record} was made without a sample sheet: leave out --samples.")
        return told.source.reading
    if samples is None and sheet == FROM_PYTHON:
        raise InputError(f"{record} does not name its sample sheet: it came from Python. Give the file (--samples).")
    found = samples or _found(Path(sheet), record.parent)
    if not found.is_file():
        raise InputError(f"the sample sheet {found} is no longer there. Say where it is (--samples).")
    _same(found, told.source.samples_sha256, "sample sheet")
    return told.source.reading | {"samples": str(found)}


def _same(path: Path, sha256: str | None, what: str) -> None:
    """Raise if a file is another one than the record knows."""
    if sha256 is not None and checksum(path) != sha256:
        raise InputError(f"{path} is not the {what} of that run: its SHA-256 is not {sha256[:12]}...")


def _found(path: Path, folder: Path) -> Path:
    """A file by the path that the record has, which may be relative to where the run was started."""
    places = (path, folder / path, folder.parent / path)
    return next((place for place in places if place.is_file()), path)


def _compare_versions(told: Record) -> None:
    now = versions()
    other = [f"{name} {old} (now {now.get(name)})" for name, old in told.versions.items() if now.get(name) != old]
    if other:
        warn(f"the run was made with other versions: {', '.join(other)}.", DataWarning)
