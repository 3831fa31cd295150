"""The folder of results: the runs in it, from the app or from the command line, and their files."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from timelike.app.inputs import plain_name
from timelike.exceptions import InputError

RECORD, REPORT, INPUTS = "run.json", "report.html", "inputs"


@dataclass(frozen=True)
class Results:
    """Runs by the names of their folders."""

    folder: Path

    def runs(self) -> list[dict[str, Any]]:
        """What there is, the newest first."""
        found = [told for place in self.folder.iterdir() if (told := _told(place)) is not None]
        return [told for _, told in sorted(found, key=lambda one: -one[0])]

    def new(self, wish: str, taken: set[str]) -> str:
        """A name for a run that no folder has yet, nor one that some disks take for the same."""
        first = plain_name(wish).split(".")[0] or "run"
        known = {name.casefold() for name in (*taken, *(place.name for place in self.folder.iterdir()), INPUTS)}
        return next(name for name in _numbered(first) if name.casefold() not in known)

    def run(self, name: str) -> Path:
        """The folder of a run; whatever is no name of one is refused."""
        if name not in {place.name for place in self.folder.iterdir() if (place / RECORD).is_file()}:
            raise InputError(f"there is no run {plain_name(name)}.")
        return self.folder / name

    def file(self, name: str, file: str) -> Path:
        """A file of a run; whatever is none of its files is refused."""
        run = self.run(name)
        if file not in files_of(run):
            raise InputError(f"there is no file {plain_name(file)} in {name}.")
        return run / file

    def zipped(self, name: str) -> Iterator[bytes]:
        """All files of a run as an archive, piece by piece."""
        run, sink = self.run(name), _Sink()
        with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in files_of(run):
                with (run / file).open("rb") as source, archive.open(f"{name}/{_inside(file)}", "w") as target:
                    while part := source.read(1 << 20):
                        target.write(part)
                        yield sink.taken()
        yield sink.taken()


def files_of(run: Path) -> list[str]:
    """The files of a run, those in folders within too, the report first; no hidden ones and no links."""
    found = [path.relative_to(run) for path in run.rglob("*") if path.is_file() and not path.is_symlink()]
    shown = [path.as_posix() for path in found if not any(part.startswith(".") for part in path.parts)]
    return sorted(shown, key=lambda name: (name != REPORT, "/" in name, name))


def _inside(file: str) -> str:
    """The name of a file in an archive: on Windows, a backslash would lead elsewhere."""
    return file.replace("\\", "_")


def _numbered(first: str) -> Iterator[str]:
    yield first
    number = 2
    while True:
        yield f"{first}-{number}"
        number += 1


def _told(place: Path) -> tuple[float, dict[str, Any]] | None:
    """When a run was done, and what a page shows of it; None where there is none, or no longer."""
    try:
        done = (place / RECORD).stat().st_mtime
        files = [{"name": name, "size": (place / name).stat().st_size} for name in files_of(place)]
    except OSError:  # it is just being removed, or put in place
        return None
    try:
        record = json.loads((place / RECORD).read_text(encoding="utf-8"))
        question = str(record.get("question", "cluster"))
        written = str(record.get("written", ""))
    except (OSError, ValueError, AttributeError, RecursionError):
        question, written = "", ""
    told = {"name": place.name, "verb": question, "written": written, "files": files}
    return done, told | {"report": (place / REPORT).is_file()}


class _Sink(io.RawIOBase):
    """What an archive is written to: bytes until they are taken. It cannot be wound back, so none is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.parts.append(bytes(data))
        return len(data)

    def taken(self) -> bytes:
        """What was written since the last time."""
        found, self.parts = b"".join(self.parts), []
        return found
