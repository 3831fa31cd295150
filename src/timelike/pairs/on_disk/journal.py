"""A journal of the tiles that are done, so that a run can be killed at any moment and continued."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from zlib import crc32

import numpy as np

from timelike.base.arrays import Floats
from timelike.base.files import atomic_write
from timelike.base.tiles import Tile
from timelike.pairs.on_disk.fingerprint import Fingerprint


@dataclass(frozen=True)
class Journal:
    """A text file: the fingerprint of the input, then a line for each tile that is on the disk.

    A line is written after its tile is safe. A line cut short by a kill does not count.
    """

    path: Path

    def start(self, fingerprint: Fingerprint) -> None:
        """Begin anew, with nothing done."""
        with atomic_write(self.path) as file:
            file.write(json.dumps(fingerprint) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def fingerprint(self) -> Fingerprint | None:
        """Of the input of the run, or None where there is none to continue."""
        try:
            first, whole, _ = self.path.read_text(encoding="utf-8").partition("\n")
            found = json.loads(first) if whole else None
        except (OSError, ValueError, RecursionError):
            return None
        return found if isinstance(found, dict) else None

    def done(self) -> dict[tuple[int, int], int]:
        """Checksum of each tile that is done, under the numbers of its first row and column."""
        lines = self.path.read_text(encoding="utf-8").split("\n")[1:-1]
        found = [parsed for parsed in map(_parse, lines) if parsed is not None]
        return {(row, col): check for row, col, check in found}

    @contextmanager
    def open(self) -> Iterator[IO[str]]:
        """The file, open for further lines; what was cut short is removed first."""
        with self.path.open("r+", encoding="utf-8", newline="\n") as file:
            whole = file.read().rpartition("\n")[0]
            file.seek(0)
            file.truncate(len(whole.encode()) + 1)
            file.seek(0, os.SEEK_END)
            yield file


def record(file: IO[str], tile: Tile, check: int) -> None:
    """Add a line for a tile and wait until it is on the disk."""
    line = f"{tile[0].start} {tile[1].start} {check}"
    file.write(f"{line} {crc32(line.encode())}\n")
    file.flush()
    os.fsync(file.fileno())


def checksum(block: Floats) -> int:
    """A number that changes when a bit of the tile does."""
    return crc32(np.ascontiguousarray(block).data)


def _parse(line: str) -> tuple[int, int, int] | None:
    text, _, check = line.rpartition(" ")
    numbers = text.split()
    if check != str(crc32(text.encode())) or len(numbers) != 3:
        return None
    row, col, tile = map(int, numbers)
    return row, col, tile
