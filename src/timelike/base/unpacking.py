"""Packed files, which may come from anybody: what they unpack to is bounded."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterable
from pathlib import Path
from typing import IO
from zipfile import ZipFile

from timelike.exceptions import InputError

LARGE = 2**28
"""Bytes that every file may unpack to."""
TIMES = 100
"""How many times its own size a file may unpack to; tables of measurements reach about 20."""


def most(packed: int) -> int:
    """Bytes that a file of the size `packed` may unpack to."""
    return max(LARGE, TIMES * packed)


def check_announced(announced: Iterable[int], packed: int) -> None:
    """Raise if the parts of a packed file announce more than it may unpack to."""
    if (total := sum(announced)) > most(packed):
        raise InputError(f"it is packed, and says that it unpacks to {total / 1e9:.3g} GB: {_too_much(packed)}")


def check_archive(archive: ZipFile, packed: int) -> None:
    """As :func:`check_announced` for a zip archive, whose members are read up to the announced size only."""
    check_announced((member.file_size for member in archive.infolist()), packed)


def gunzipped(file: IO[bytes], packed: int) -> io.BufferedReader:
    """The content of a gzipped file, which raises where it goes on for too long.

    Examples
    --------
    >>> packed = gzip.compress(b"gene,0h")
    >>> gunzipped(io.BytesIO(packed), len(packed)).read()
    b'gene,0h'
    """
    return io.BufferedReader(_Bounded(file, packed), 2**16)


def opened(path: Path) -> io.BufferedReader:
    """The bytes of a file, unpacked where its first bytes say that it is gzipped."""
    with path.open("rb") as start:
        packed = start.read(2) == b"\x1f\x8b"
    file = path.open("rb")  # anew: a file of which something is buffered is read in two parts, and then copied
    return gunzipped(file, path.stat().st_size) if packed else file


class _Bounded(io.RawIOBase):
    """What a gzipped file unpacks to, up to the bound."""

    def __init__(self, below: IO[bytes], packed: int) -> None:
        self._below, self._file = below, gzip.GzipFile(fileobj=below)
        self._packed, self._left = packed, most(packed)

    def readable(self) -> bool:
        """It can be read, and nothing else."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """The next bytes, and how many they are."""
        found = self._file.readinto(buffer)
        self._left -= found
        if self._left < 0:
            raise InputError(
                f"it is packed, and unpacks to more than {most(self._packed) / 1e9:.3g} GB: {_too_much(self._packed)}"
            )
        return found

    def close(self) -> None:
        """Close the file below too."""
        self._file.close()
        self._below.close()
        super().close()


def _too_much(packed: int) -> str:
    return (
        f"more than {TIMES} times its size of {packed / 1e6:.3g} MB, which no table of measurements does. Unpack it "
        "yourself if you trust it, and give what was in it."
    )
