"""What can go wrong, under names that callers can catch."""

from __future__ import annotations

import sys
import warnings

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


def warn(message: str, category: type[Warning]) -> None:
    """Warn about the line of the user that led here, whatever the path from there."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] in _PASSED:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
