"""Files that are whole or absent: written under a temporary name, then renamed. And which are ours, unchanged."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

from timelike.exceptions import InputError


def is_taken(path: Path) -> bool:
    """Whether there is something at a path; raise where the system cannot have anything there."""
    try:
        return path.exists()
    except OSError as problem:
        raise InputError(f"cannot write {path}: {problem.strerror or problem}.") from None


@contextmanager
def atomic_path(path: str | PathLike[str]) -> Iterator[Path]:
    """A temporary path beside `path` that takes its name when the block ends well, and vanishes otherwise.

    It keeps the ending of `path`, for writers that choose a format by it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_path(f"{folder}/table.csv") as temporary:
    ...         _ = temporary.write_text("a,b")
    ...     [p.name for p in Path(folder).iterdir()]
    ['table.csv']
    """
    target = Path(path)
    if is_taken(target) and target.is_dir():
        raise InputError(f"cannot write {target}: it is a folder.")
    temporary = target.with_name(f".{uuid4().hex}{target.suffix}")
    try:
        temporary.touch(exist_ok=False)
        try:
            yield temporary
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as problem:
        raise InputError(f"cannot write {target}: {problem.strerror or problem}.") from None


@contextmanager
def atomic_write(path: str | PathLike[str], mode: str = "w") -> Iterator[IO[Any]]:
    """An open file whose content appears under `path` only when the block ends well."""
    encoding = None if "b" in mode else "utf-8"
    with atomic_path(path) as temporary, temporary.open(mode, encoding=encoding) as file:
        yield file


def checksum(path: str | PathLike[str]) -> str:
    """SHA-256 of a file."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_json(path: Path, what: str, form: str) -> dict[str, Any]:
    """The content of a JSON file that we wrote: `what` it should be, for the message, and the `form` that it states."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as problem:
        raise InputError(f"cannot read {path}: {problem.strerror}. Expected {what}.") from None
    except (ValueError, RecursionError) as problem:
        raise InputError(f"{path} is not {what}: {problem}.") from None
    if not isinstance(data, dict) or data.get("format") != form:
        raise InputError(f'{path} is not {what}: expected JSON with "format": {form!r}.')
    return data
