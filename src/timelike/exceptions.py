"""What can go wrong, under names that callers can catch."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import RLock
from typing import Any, NamedTuple

_PASSED = {"timelike", "sklearn", "contextlib"}
"""Whose frames lie between a warning and the line of the user: ours, and those that call ours for them."""


class InputError(ValueError):
    """The data or a setting cannot be used; the message says what, where and what to do."""


class MissingExtraError(ImportError):
    """An optional package is needed for this; the message says which extra installs it."""


class FitWarning(UserWarning):
    """The fitted hyperparameters deserve a second look; ``gp.warnings`` keeps the sentences."""


class DataWarning(UserWarning):
    """The data were used, but not all of it, or not as the caller may have meant."""


class Kept(NamedTuple):
    """A warning that waits to be shown, and the line that it is about."""

    message: str
    category: type[Warning]
    filename: str
    line: int
    module: str


_HUSHED: ContextVar[tuple[type[Warning], ...]] = ContextVar("hushed", default=())
_KEPT: ContextVar[list[Kept] | None] = ContextVar("kept", default=None)
_FILTERS = RLock()


def warn(message: str, category: type[Warning]) -> None:
    """Warn about the line of the user that led here, whatever the path from there."""
    if issubclass(category, _HUSHED.get()):
        return
    frame = sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] in _PASSED:
        frame = frame.f_back
    name = str(frame.f_globals.get("__name__"))
    found = Kept(message, category, frame.f_code.co_filename, frame.f_lineno, name)
    kept = _KEPT.get()
    if kept is None:
        _show(found, frame.f_globals.setdefault("__warningregistry__", {}))
    else:
        kept.append(found)


def _show(found: Kept, registry: dict[Any, Any] | None = None) -> None:
    warnings.warn_explicit(found.message, found.category, found.filename, found.line, found.module, registry)


@contextmanager
def hushed(*categories: type[Warning]) -> Iterator[None]:
    """Our warnings of these categories are not given inside the block; those of other threads are."""
    token = _HUSHED.set((*_HUSHED.get(), *categories))
    try:
        yield
    finally:
        _HUSHED.reset(token)


@contextmanager
def kept() -> Iterator[list[Kept]]:
    """Our warnings inside the block are shown at its end, each once; the list has them as they come.

    Python's own way changes the filters of all threads, and two blocks at once leave them changed.
    """
    found: list[Kept] = []
    token = _KEPT.set(found)
    try:
        yield found
    finally:
        _KEPT.reset(token)
        around = _KEPT.get()
        for one in {(each.message, each.category): each for each in found}.values():
            if around is None:
                _show(one)
            else:
                around.append(one)


@contextmanager
def filters() -> Iterator[None]:
    """Filters of warnings may be changed inside the block, which one thread at a time enters."""
    with _FILTERS, warnings.catch_warnings():
        yield
