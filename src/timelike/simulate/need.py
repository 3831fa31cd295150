"""need: what must hold for courses to be made, or an error in words."""

from __future__ import annotations

from timelike.exceptions import InputError


def need(holds: bool, sentence: str) -> None:
    """Nothing where it holds, else an error that says the sentence."""
    if not holds:
        raise InputError(f"{sentence}.")
