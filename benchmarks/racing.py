"""How contenders are timed: in one process, taking turns, best and median of several rounds."""

from __future__ import annotations

import os
import platform
import resource
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

RESULTS = Path(__file__).parent / "results"
DATA = Path(__file__).parents[2] / "shared" / "data"

SETTLE = 0.1
"""Seconds before each turn: threads of a linear algebra library go on spinning for a while, on the next one's cores."""


def race(contenders: dict[str, Callable[[], object]], rounds: int = 7) -> dict[str, list[float]]:
    """Seconds of each contender in each round, after one round that is not counted."""
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for turn in range(rounds + 1):
        for name, run in contenders.items():
            time.sleep(SETTLE)
            start = time.perf_counter()
            result = run()
            took = time.perf_counter() - start
            del result
            if turn:
                seconds[name].append(took)
    return seconds


def once(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def peak_gigabytes() -> float:
    """Largest memory this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def machine(*packages: str) -> str:
    """One line about where the figures come from."""
    found = []
    for package in packages:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            found.append(f"{package} absent")
    return f"{os.cpu_count()} cores, Python {platform.python_version()}, {', '.join(found)}"


def table(header: list[str], rows: list[list[object]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *[[_cell(c) for c in row] for row in rows]]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def _cell(value: object) -> str:
    if isinstance(value, float | np.floating):
        return f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def write(name: str, text: str) -> None:
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / name).write_text(text, encoding="utf-8")
    print(text)
