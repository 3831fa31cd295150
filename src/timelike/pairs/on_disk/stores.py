"""A matrix on disk, as a NumPy file or a Zarr array, written tile by tile and never held in memory.

A tile that was written is on its way to the disk; it is there when ``sync`` has returned. What is recorded as done
after that is done also when the machine loses power.
"""

from __future__ import annotations

import io
import json
import os
import shutil
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from timelike.base import checks
from timelike.base.arrays import Floats
from timelike.base.checks import counted
from timelike.base.tiles import Tile, pair_count
from timelike.exceptions import InputError
from timelike.pairs.on_disk.fingerprint import Fingerprint

FORMAT = "timelike similarity 1"
ENDINGS = (".npy", ".zarr")


@dataclass(frozen=True)
class MatrixHeader:
    """What is stored with the values: whose they are, how they were computed, and what they depend on."""

    names: tuple[str, ...]
    others: tuple[str, ...] | None
    route: str
    fingerprint: Fingerprint

    def to_json(self) -> dict[str, Any]:
        """As it is stored, with the name of the format first."""
        return {"format": FORMAT} | vars(self)


def store_for(path: Path, shape: tuple[int, int], size: tuple[int, int]) -> Store:
    """The store for a matrix of this shape, written in tiles of `size`; the ending of its name says which kind."""
    if path.suffix == ".npy":
        return NumpyStore(path, shape)
    return ZarrStore(path, shape, (min(size[0], shape[0]), min(size[1], shape[1])))


def check_ending(target: Path) -> None:
    """Raise unless the name says which kind of file is meant, and we can write it."""
    if target.suffix not in ENDINGS:
        raise InputError(f"{target}: expected a name that ends in {' or '.join(ENDINGS)}.")
    if target.suffix == ".zarr":
        checks.optional("zarr", "disk", "a .zarr file needs Zarr")


def open_matrix(path: Path) -> tuple[Any, MatrixHeader]:
    """The values of a finished matrix, read from the disk when they are looked at, and its header."""
    check_ending(path)
    if not path.exists():
        partial = path.with_name(path.name + ".partial")
        hint = " It is unfinished: compute it again with resume." if partial.exists() else ""
        raise InputError(f"there is no {path}.{hint}")
    try:
        return _checked(*(_open_numpy if path.suffix == ".npy" else _open_zarr)(path))
    except _FOREIGN as problem:
        raise InputError(f"{path} is not a similarity that timelike wrote: {problem}") from None


_FOREIGN = (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError)
"""What NumPy, Zarr and json say of bytes that are not theirs."""


def _checked(values: Any, found: dict[str, Any]) -> tuple[Any, MatrixHeader]:
    """Values and header, or an error where they are not those of one similarity."""
    if values.ndim != 2 or values.dtype != np.dtype(float):
        raise ValueError(f"the values are {values.dtype} of shape {values.shape}: expected float64, rows and columns.")
    names, others, route, fingerprint = map(found.get, ("names", "others", "route", "fingerprint"))
    rows = _names("names", names, values.shape[0], "row")
    columns = _names("others", names if others is None else others, values.shape[1], "column")
    if not isinstance(route, str):
        raise ValueError(f"the route is {repr(route)[:40]}: expected a text.")
    if not isinstance(fingerprint, dict):
        raise ValueError(f"the fingerprint is {repr(fingerprint)[:40]}: expected texts with names.")
    return values, MatrixHeader(rows, None if others is None else columns, route, fingerprint)


def _names(what: str, names: Any, count: int, side: str) -> tuple[str, ...]:
    """The names of all rows or columns, or an error where they cannot be."""
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"the {what} are {repr(names)[:40]}: expected a list of texts.")
    if len(names) != count:
        raise ValueError(f"there are {len(names):,} {what} for {counted(count, side)}.")
    if len(set(names)) != count:
        raise ValueError(f"the name {Counter(names).most_common(1)[0][0]!r} stands twice.")
    return tuple(names)


# -- NumPy -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NumpyStore:
    """A ``.npy`` file. It is written and read by position: a memory map would count as memory of the process."""

    path: Path
    shape: tuple[int, int]

    def prepare(self) -> None:
        """Make the file in its full size, or give a truncated one its size again."""
        if self._offset() is None:
            np.lib.format.open_memmap(self.path, mode="w+", dtype=np.float64, shape=self.shape).flush()
        with self.path.open("r+b") as file:
            file.truncate((self._offset() or 0) + 8 * self.shape[0] * self.shape[1])
        sync_file(self.path)

    def write(self, tile: Tile, block: Floats) -> None:
        """Put a tile to its place."""
        with self.path.open("r+b") as file:
            for at, row in zip(self._places(tile), np.ascontiguousarray(block), strict=True):
                file.seek(at)
                file.write(row.data)

    def size_of(self, tile: Tile) -> int:
        """Bytes that a tile takes on the disk."""
        return 8 * pair_count(tile)

    def sync(self, tile: Tile) -> None:  # noqa: ARG002 - the system knows files, not tiles
        """Wait until all that was written is on the disk."""
        sync_file(self.path)

    def read(self, tile: Tile) -> Floats | None:
        """A tile, or None where the file ends before it."""
        rows, cols = tile
        block = np.empty((rows.stop - rows.start, cols.stop - cols.start))
        with self.path.open("rb") as file:
            for at, row in zip(self._places(tile), block, strict=True):
                file.seek(at)
                if file.readinto(row.data) != row.nbytes:
                    return None
        return block

    def finish(self, target: Path, header: MatrixHeader) -> None:
        """Rename: first the header, then the values, so that values never stand without header."""
        temporary = self.path.with_suffix(".json")
        temporary.write_text(json.dumps(header.to_json()), encoding="utf-8")
        sync_file(temporary)
        temporary.replace(header_path(target))
        self.path.replace(target)
        sync_folder(target.parent)

    def _places(self, tile: Tile) -> range:
        """Where in the file each row of a tile starts."""
        rows, cols = tile
        width, offset = self.shape[1], self._offset()
        if offset is None:
            raise InputError(f"{self.path} was damaged or removed while it was in use. Resume.")
        first = offset + 8 * (rows.start * width + cols.start)
        return range(first, first + 8 * width * (rows.stop - rows.start), 8 * width)

    def _offset(self) -> int | None:
        """Where the values start, or None where there is no file that begins as ours do."""
        begin = _first_bytes(self.shape)
        try:
            with self.path.open("rb") as file:
                return len(begin) if file.read(len(begin)) == begin else None
        except OSError:
            return None


@cache
def _first_bytes(shape: tuple[int, int]) -> bytes:
    """How our files begin. It is compared, not parsed: Python 3.11 fails at times where threads parse at once."""
    memory = io.BytesIO()
    kind = np.lib.format.dtype_to_descr(np.dtype(float))
    np.lib.format.write_array_header_1_0(memory, {"descr": kind, "fortran_order": False, "shape": shape})
    return memory.getvalue()


def header_path(target: Path) -> Path:
    """The file beside a ``.npy`` file that holds its header."""
    return target.with_name(target.name + ".json")


def _open_numpy(path: Path) -> tuple[Any, dict[str, Any]]:
    found = _read_header(path)
    return np.lib.format.open_memmap(path, mode="r"), found


def has_foreign_header(target: Path) -> bool:
    """Whether the place of a ``.npy`` file's header is taken by a file that we did not write."""
    if target.suffix != ".npy" or not header_path(target).exists():
        return False
    try:
        _read_header(target)
    except _FOREIGN:
        return True
    return False


def _read_header(target: Path) -> dict[str, Any]:
    return _known(json.loads(header_path(target).read_text(encoding="utf-8")))


# -- Zarr --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ZarrStore:
    """A Zarr array whose chunks are the tiles, so that each chunk has one writer; not compressed, as noise is not."""

    path: Path
    shape: tuple[int, int]
    size: tuple[int, int]

    def prepare(self) -> None:
        """Make the array, unless there is one of this shape."""
        if not self._is_there():
            import zarr

            shutil.rmtree(self.path, ignore_errors=True)
            kind = {"dtype": "float64", "zarr_format": 3, "fill_value": np.nan, "compressors": None, "filters": None}
            zarr.create_array(str(self.path), shape=self.shape, chunks=self.size, **kind)
        sync_file(self.path / "zarr.json")

    def write(self, tile: Tile, block: Floats) -> None:
        """Write the chunk: Zarr does so under a temporary name and renames."""
        chunk = self._chunk(tile)
        if not self._is_whole(chunk):
            chunk.unlink(missing_ok=True)  # Zarr would read a chunk at the rim before it writes
        self._array()[tile] = block

    def size_of(self, tile: Tile) -> int:  # noqa: ARG002 - at the rim too
        """Bytes that a chunk takes on the disk: all are of one size."""
        return 8 * self.size[0] * self.size[1]

    def sync(self, tile: Tile) -> None:
        """Wait until a chunk, and its name, are on the disk."""
        chunk = self._chunk(tile)
        sync_file(chunk)
        sync_folder(chunk.parent)

    def read(self, tile: Tile) -> Floats | None:
        """A tile, or None where its chunk is missing or has the wrong size."""
        return np.asarray(self._array()[tile]) if self._is_whole(self._chunk(tile)) else None

    def finish(self, target: Path, header: MatrixHeader) -> None:
        """Store the header as attributes, drop what killed runs left, and rename."""
        self._array().update_attributes(header.to_json())
        for left in self.path.rglob("*.partial"):
            left.unlink(missing_ok=True)
        sync_file(self.path / "zarr.json")
        self.path.replace(target)
        sync_folder(target.parent)

    def _is_whole(self, chunk: Path) -> bool:
        return chunk.exists() and chunk.stat().st_size == 8 * self.size[0] * self.size[1]

    def _is_there(self) -> bool:
        try:
            array = self._array()
        except (OSError, ValueError, KeyError):
            return False
        return (array.shape, array.chunks) == (self.shape, self.size)

    def _array(self) -> Any:
        import zarr

        return zarr.open_array(str(self.path), mode="r+")

    def _chunk(self, tile: Tile) -> Path:
        row, col = (span.start // size for span, size in zip(tile, self.size, strict=True))
        return self.path / "c" / str(row) / str(col)


Store = NumpyStore | ZarrStore
"""A matrix under construction: prepared, written and read tile by tile, and given its final name when it is whole."""


def _open_zarr(path: Path) -> tuple[Any, dict[str, Any]]:
    import zarr

    array = zarr.open_array(str(path), mode="r")
    if array.metadata.zarr_format != 3 or array.filters:  # a filter of format 2 can be a pickle, which runs code
        raise ValueError("the array has filters or an old format: expected Zarr 3 without filters.")
    return array, _known(dict(array.attrs))


def _known(found: Any) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise ValueError("the header is no table of names.")
    if found.get("format") != FORMAT:
        raise ValueError(f"expected the format {FORMAT!r}, found {found.get('format')!r}.")
    return found


# -- to the disk -------------------------------------------------------------------------------------------------


def sync_file(path: Path) -> None:
    """Wait until the content of a file is on the disk."""
    with path.open("rb+") as file:
        getattr(os, "fdatasync", os.fsync)(file.fileno())


def sync_folder(path: Path) -> None:
    """Wait until the names in a folder are on the disk, where the system can."""
    if os.name == "posix":
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
