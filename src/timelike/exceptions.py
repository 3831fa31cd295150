"""What can go wrong, under names that callers can catch."""

from __future__ import annotations


class InputError(ValueError):
    """The data or a setting cannot be used; the message says what, where and what to do."""


class MissingExtraError(ImportError):
    """An optional package is needed for this; the message says which extra installs it."""


class FitWarning(UserWarning):
    """The fitted hyperparameters deserve a second look; ``gp.warnings`` keeps the sentences."""


class DataWarning(UserWarning):
    """The data were used, but not all of it, or not as the caller may have meant."""
