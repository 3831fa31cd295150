"""One process at a time in a folder. The system drops a lock with its process, however that ends."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from timelike.exceptions import DataWarning, InputError, warn

NO_LOCKS = {getattr(errno, name) for name in ("ENOSYS", "ENOLCK", "ENOTSUP", "EOPNOTSUPP") if hasattr(errno, name)}
"""What a file system says that knows no locks, as some of a network."""


@contextmanager
def locked(folder: Path, name: str = "lock") -> Iterator[bool]:
    """Keep other processes out of a folder by the file `name` in it; whether the file system can, and a note if not."""
    path = folder / name
    with _writing(folder):
        file = path.open("a+b", buffering=0)
    with file:
        held = _lock(file)
        if held is False or not _same_file(file, path):
            file.seek(0)
            who = file.read().decode(errors="replace").strip() or "unknown"
            raise InputError(f"{folder} is in use by another process ({who}). Wait for it.")
        with _writing(folder):
            file.truncate(0)
            file.write(f"process {os.getpid()} on {_machine()}\n".encode())
        if held is None:
            warn(f"{folder}: its file system has no locks. See that no other run writes there.", DataWarning)
        yield held is True


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Turn what the disk complains about into a sentence."""
    try:
        yield
    except OSError as problem:
        raise InputError(f"cannot write into the folder {folder}: {problem.strerror or problem}.") from None


def _machine() -> str:
    return os.uname().nodename if hasattr(os, "uname") else "this machine"


def _lock(file: BinaryIO) -> bool | None:
    """Whether the lock is ours; None where the file system has none."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as problem:
        return None if problem.errno in NO_LOCKS else False
    return True


def _same_file(file: BinaryIO, path: Path) -> bool:
    """Whether the locked file is still the one in the folder; a run that ended meanwhile has removed it."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except OSError:
        return False
