"""What one run of ``timelike reproduce`` was asked for, and where its files go."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from timelike.base.files import atomic_path
from timelike.base.versions import version

if TYPE_CHECKING:
    import pandas as pd

PAPER_REPEATS = 100


@dataclass(frozen=True)
class Run:
    """Settings of a run; `out` is the folder of its results."""

    out: Path
    repeats: int = PAPER_REPEATS
    seed: int = 0
    processes: int = 1

    @property
    def work(self) -> Path:
        """Folder of what is finished so far, by this version: another one may compute something else."""
        return self.out / "work" / version("timelike")

    def save(self, frame: pd.DataFrame, name: str, digits: int = 6) -> None:
        """Write a table as CSV, whole or not at all."""
        with atomic_path(self.out / f"{name}.csv") as path:
            frame.to_csv(path, index=False, float_format=f"%.{digits}g", lineterminator="\n")
