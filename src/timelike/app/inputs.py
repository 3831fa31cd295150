"""Files that a person gave: bounded, kept in the folder of results, each under a name that can do no harm."""

from __future__ import annotations

import re
from collections.abc import AsyncIterable
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

from timelike.exceptions import InputError

LIMIT = 2 * 1024**3
"""Bytes of all files together, from the start of the app on."""
MOST = 1000
"""Files, from the start of the app on."""
LONGEST = 50
"""Characters of a name: of up to four bytes each, of the 255 that a disk allows, with room for what is put before."""
RESERVED = re.compile(r"(con|prn|aux|nul|(com|lpt)[\d¹²³]) *(\..*)?", re.IGNORECASE)
"""Names that are devices on Windows."""


class TooLargeError(InputError):
    """More than the app takes."""


def plain_name(name: str) -> str:
    r"""The last part of a name, in letters, digits and a few marks: a label that leads nowhere.

    Examples
    --------
    >>> [plain_name(name) for name in ("../../etc/passwd", "C:\\data\\genes (2).csv", "nul.csv", "...")]
    ['passwd', 'genes (2).csv', '_nul.csv', 'table']
    """
    last = re.split(r"[/\\]", name)[-1]
    clean = re.sub(r"[^\w .()+-]", "_", last).strip(" .")
    stem, dot, end = clean.rpartition(".")
    short = (
        f"{stem[: LONGEST - len(end) - 1]}{dot}{end}"
        if dot and len(end) < LONGEST // 2
        else clean[:LONGEST].rstrip(" .")
    )
    return f"_{short}" if RESERVED.fullmatch(short) else short or "table"


@dataclass
class Inputs:
    """The files of one app, by number."""

    folder: Path
    limit: int = LIMIT
    files: dict[str, Path] = field(default_factory=dict)
    used: int = 0
    begun: int = 0

    async def add(self, name: str, body: AsyncIterable[bytes]) -> str:
        """Keep a file; the number it has from now on. Nothing remains of one that is too large or cannot be written."""
        number = uuid4().hex[:12]
        place = self.folder / number
        target = place / plain_name(name)
        if self.begun >= MOST:
            raise TooLargeError(f"the app takes {MOST:,} files: start it again for more.")
        self.begun += 1
        size = 0
        try:
            place.mkdir(parents=True)
            with target.open("xb") as file:
                async for part in body:
                    size += len(part)
                    self.used += len(part)  # at once, so that many at a time are bounded as one is
                    if self.used > self.limit:
                        raise TooLargeError(
                            f"{plain_name(name)} is too large: the app takes {self.limit / 1e9:.3g} GB in all. Use the "
                            "command line, which reads the file where it is."
                        )
                    file.write(part)
        except OSError as problem:
            self._forget(target, size)
            raise InputError(f"cannot keep {plain_name(name)}: {problem.strerror or problem}.") from None
        except BaseException:
            self._forget(target, size)
            raise
        self.files[number] = target
        return number

    def path(self, number: str) -> Path:
        """Where a file is."""
        if number not in self.files:
            raise InputError("a file is no longer there: drop it again.")
        return self.files[number]

    def _forget(self, target: Path, size: int) -> None:
        self.used -= size
        self.begun -= 1
        target.unlink(missing_ok=True)
        if target.parent.is_dir():
            target.parent.rmdir()
