"""A question asked again from its record, and whether the answer came out the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from timelike.exceptions import InputError
from timelike.runs.ask import Asked, ask
from timelike.runs.folder import MODEL, Say
from timelike.runs.question_record import QuestionRecord
from timelike.runs.recipe import Recipe
from timelike.runs.record import Record
from timelike.runs.repeat import COMPARED, _compare_versions, _input, _same, reading_of


def ask_again(
    path: Path,
    out: Path,
    *,
    file: Path | Sequence[Path] | None = None,
    samples: Path | None = None,
    overwrite: bool = False,
    say: Say | None = None,
) -> Asked:
    """The question of a record once more, about the same input with the same choices.

    Parameters
    ----------
    path
        A ``run.json`` of a question; a model that had been given is taken from the ``model.json`` beside it.
    out
        Folder for the results.
    file, samples
        The input and its sample sheet, where they are no longer where they were.
    overwrite, say
        As for :func:`timelike.runs.ask.ask`.
    """
    record = QuestionRecord.load(path)
    if out.resolve() == path.parent.resolve():
        raise InputError(f"{out} holds the run that is to be repeated: give another folder.")
    if file is not None and len(record.sources) > 1:
        raise InputError(f"{path} has {len(record.sources)} inputs: put them where they were, and leave out --file.")
    each = {name: Record(source, Recipe(), versions=record.versions) for name, source in record.sources.items()}
    data = {name: _input(one, path, file) for name, one in each.items()}
    first = next(iter(each.values()))
    _compare_versions(first)
    model = None if record.model_sha256 is None else path.parent / MODEL
    if model is not None:
        _same(model, record.model_sha256, "model")
    given = data[""] if list(data) == [""] else data
    reading = reading_of(first, path, samples)
    wish = asdict(record.wish) if model is None else asdict(record.wish) | {"kernel": "se", "clock": "auto"}
    return ask(record.question, given, out, model=model, reading=reading, overwrite=overwrite, say=say, **wish)


def other_answers(path: Path, again: Asked) -> list[str]:
    """Files of a question whose content is not what its record says."""
    outputs, found = QuestionRecord.load(path).outputs, again.record.outputs
    return [name for name in outputs if name.endswith(COMPARED) and outputs[name] != found.get(name)]
