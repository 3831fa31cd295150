"""Tiles: rectangles of a matrix of pairs, and what is done on each of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Tile = tuple[slice, slice]
Work = Callable[[Tile], Any]
"""What is done on a tile. A cluster needs it to pickle; each worker gets it once."""
Compute = Callable[[Any, Any], Any]
"""A block of an answer from what was prepared for all blocks, and the block. A cluster needs it to pickle."""
Done = Callable[[Tile, Any], None]
"""What is done with each result, in the thread that called."""


def upper_tiles(count: int, size: int) -> list[Tile]:
    """Tiles that cover the pairs (i, j) with i <= j, of a square with `count` rows."""
    found = spans(slice(0, count), size)
    return [(rows, cols) for a, rows in enumerate(found) for cols in found[a:]]


def all_tiles(rows: int, cols: int, size: int, width: int | None = None) -> list[Tile]:
    """Tiles that cover a rectangle, as wide as high unless `width` says otherwise."""
    return [(r, c) for r in spans(slice(0, rows), size) for c in spans(slice(0, cols), width or size)]


def spans(whole: slice, size: int) -> list[slice]:
    """Stretches of `size` that cover `whole`; the last one may be shorter."""
    return [slice(i, min(i + size, whole.stop)) for i in range(whole.start, whole.stop, size)]


def pair_count(tile: Tile) -> int:
    """Number of pairs in a tile."""
    rows, cols = tile
    return int((rows.stop - rows.start) * (cols.stop - cols.start))
