"""Runs of the command line, one at a time: what they print as they go, how they end, and how they are ended."""

from __future__ import annotations

import atexit
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

COMMAND = (sys.executable, "-c", "from timelike.cli import main; main(prog_name='timelike')")
"""The command line, as this Python has it."""
PATIENCE = 5.0
"""Seconds until a run that was asked to end is ended."""
KEPT = 2000
"""Lines of a run that are kept, at most."""
WAITING, RUNNING, DONE, FAILED, CANCELLED = "waiting", "running", "done", "failed", "cancelled"


@dataclass
class Job:
    """A run: what is to be done, and how far it is.

    Attributes
    ----------
    name
        Of its folder.
    words
        The command line behind ``timelike``.
    out
        Its folder.
    """

    name: str
    words: tuple[str, ...]
    out: Path
    state: str = WAITING
    lines: list[str] = field(default_factory=list)
    began: float | None = None
    ended: float | None = None
    process: subprocess.Popen[str] | None = None

    @property
    def command(self) -> str:
        """What one would type."""
        return shlex.join(("timelike", *self.words))

    @property
    def seconds(self) -> float:
        """How long it has been running, or ran."""
        if self.began is None:
            return 0.0
        return (time.monotonic() if self.ended is None else self.ended) - self.began

    def told(self) -> dict[str, object]:
        """What a page shows of it."""
        return {"name": self.name, "state": self.state, "lines": self.lines, "seconds": self.seconds} | {
            "command": self.command
        }


class Jobs:
    """A queue of runs, worked off by one thread."""

    def __init__(self) -> None:
        self.all: dict[str, Job] = {}
        self._queue: list[Job] = []
        self._change = threading.Condition()
        self._closed = False
        self._worker = threading.Thread(target=self._work, daemon=True)
        self._worker.start()
        atexit.register(self.close)

    def add(self, name: str, words: Sequence[str], out: Path) -> Job:
        """Put a run behind those that wait."""
        job = Job(name, tuple(words), out)
        with self._change:
            self.all[name] = job
            self._queue.append(job)
            self._change.notify_all()
        return job

    def cancel(self, name: str) -> None:
        """End a run, with all that it started; nothing half-written remains."""
        job = self.all[name]
        with self._change:
            if job in self._queue:
                self._queue.remove(job)
            if job.state in (WAITING, RUNNING):
                job.state = CANCELLED
        _end(job.process)

    def close(self) -> None:
        """End everything."""
        with self._change:
            self._closed = True
            self._change.notify_all()
        for name in list(self.all):
            self.cancel(name)
        self._worker.join(2 * PATIENCE)

    def _work(self) -> None:
        while True:
            with self._change:
                self._change.wait_for(lambda: self._queue or self._closed)
                if self._closed:
                    return
                job = self._queue.pop(0)
                job.state, job.began = RUNNING, time.monotonic()
            try:
                _run(job)
            except (OSError, ValueError) as problem:  # the next one has its turn all the same
                job.lines.append(f"error: the run could not be started: {problem}.")
                job.state, job.ended = FAILED, time.monotonic()


def _run(job: Job) -> None:
    """Do a run, line by line; what it began goes if it does not end well."""
    there = job.out.exists()
    with _started(job.words) as job.process:
        if job.state == CANCELLED:  # before it had a process
            _end(job.process)
        _listen(job, job.process)
        code = job.process.wait()
    job.ended = time.monotonic()
    if job.state == RUNNING:
        job.state = DONE if code == 0 or (job.out / "run.json").is_file() else FAILED
    if job.state != DONE and not there:
        shutil.rmtree(job.out, ignore_errors=True)


def _started(words: Sequence[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(  # noqa: S603 - our own program, with words that it checks
        (*COMMAND, *words),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
        env=os.environ | {"PYTHONUNBUFFERED": "1", "PYTHONIOENCODING": "utf-8"},
        start_new_session=True,
    )


def _listen(job: Job, process: subprocess.Popen[str]) -> None:
    """Keep what a run prints; a line that a progress bar writes again and again is kept once."""
    for text in process.stdout or ():
        line = text.rstrip("\n").split("\r")[-1].rstrip()
        bar = re.match(r"(\w+): +\d+ *%", line)
        if bar and job.lines and job.lines[-1].startswith(bar[1]):
            job.lines[-1] = line
        elif line and len(job.lines) < KEPT:
            job.lines.append(line)


def _end(process: subprocess.Popen[str] | None) -> None:
    """End a process and its children, first by asking."""
    if process is None or process.poll() is not None:
        return
    _signal(process, signal.SIGTERM)
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        _signal(process, getattr(signal, "SIGKILL", signal.SIGTERM))


def _signal(process: subprocess.Popen[str], which: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        group: Callable[[int, int], None] | None = getattr(os, "killpg", None)
        if group is None:
            process.terminate()
        else:
            group(process.pid, which)
