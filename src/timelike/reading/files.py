"""Files as tables, by their content and not by their ending."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from timelike.base import checks, unpacking
from timelike.base.checks import counted
from timelike.exceptions import InputError
from timelike.reading.tables import Table, frame_table, sheet_table
from timelike.reading.text_tables import stretches, text_table

if TYPE_CHECKING:
    import pandas as pd

_SIGNATURES = {
    b"PAR1": "parquet",
    b"\x89HDF\r\n\x1a\n": "hdf5",
    b"PK\x03\x04": "zip",
    b"\xd0\xcf\x11\xe0": "old Excel",
    b"MATLAB": "MATLAB",
    b"%PDF": "PDF",
    b"RDX": "R data",
    b"\x89PNG": "PNG picture",
}
_NO_TABLE = {
    "zip": "it is a zip archive. Unpack it and give the table inside.",
    "old Excel": "it is an old Excel file (.xls). Save it as .xlsx or CSV.",
    "hdf5": "it is an HDF5 file: expected a table here.",
}

UNCOMPUTED = re.compile(
    rb'<c (?![^>]*\bt="str")[^>]*[^/]><f(?:/>|[ >][^<]*(?:(?<=/>)|</f>))\s*(?:<v\s*/>|<v></v>)?\s*</c>'
)
"""A cell with a formula and no value, in the XML of a sheet; a formula may have the empty text ("str") as its value."""


def read_table(path: Path, *, sheet: str | int | None = None, decimal: str | None = None) -> Table:
    """The table in a file: text (also gzipped), an Excel workbook or Parquet.

    All errors name the file.

    Parameters
    ----------
    path
    sheet
        Name or number (from 0) of the sheet of a workbook that has several.
    decimal
        The decimal mark, "." or ","; None: as the cells show.
    """
    require_file(path)
    with errors_about(path):
        return open_table(path, sheet=sheet, decimal=decimal)


def require_file(path: Path) -> None:
    """Raise if there is no such file, or one that can be read only once."""
    if not path.exists():
        raise InputError(f"there is no file {path}.")
    if not path.is_file() and not path.is_dir():
        raise InputError(f"{path} is a pipe or a device. Save the table as a file first.")


@contextmanager
def errors_about(source: object) -> Iterator[None]:
    """Errors inside the block begin with the name of the source."""
    try:
        yield
    except InputError as problem:
        raise InputError(f"{source}: {problem}") from None


def open_table(path: Path, *, sheet: str | int | None = None, decimal: str | None = None, headed: bool = True) -> Table:
    """As :func:`read_table`; errors do not name the file, for callers that will. A file may be without a header."""
    data = content(path)
    found = kind(data)
    if found == "excel":
        return _excel(data, sheet, decimal, headed)
    if sheet is not None:
        raise InputError("only Excel workbooks have sheets.")
    if found == "parquet":
        if not headed:
            raise InputError("a Parquet file has names for its columns: leave out no_header= (--no-header).")
        return frame_table(_parquet(path), decimal)
    if found != "text":
        raise InputError(_NO_TABLE.get(found, f"it is a {found} file, not a table. Save the table as CSV."))
    return text_table(_utf8(data), decimal, headed=headed)


def content(path: Path) -> bytes:
    """The bytes of a file, unpacked if it is gzipped."""
    try:
        with unpacking.opened(path) as file:
            return file.read()
    except IsADirectoryError:
        raise InputError("it is a folder. Give a file.") from None
    except PermissionError:
        raise InputError("you may not read it (no permission).") from None
    except InputError:
        raise
    except (OSError, EOFError, zlib.error, ValueError) as problem:
        raise InputError(f"cannot read it: {problem}.") from None


def holds_hdf5(path: Path) -> bool:
    """Whether a file is HDF5, as AnnData files are; False if it cannot be opened."""
    try:
        with path.open("rb") as file:
            return kind(file.read(8)) == "hdf5"
    except OSError:
        return False


def kind(data: bytes) -> str:
    """What a file holds: "text", "excel", "parquet", "hdf5", or something that is no table."""
    found = next((name for start, name in _SIGNATURES.items() if data.startswith(start)), "text")
    if found == "zip":
        return "excel" if b"xl/workbook" in data else "zip"
    return found


# -- text ------------------------------------------------------------------------------------------------


def _utf8(data: bytes) -> bytes:
    """Text in UTF-8 without byte-order mark, its lines ended by line feeds."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        data = _decoded(data, "utf-16").encode()
    data = data.removeprefix(b"\xef\xbb\xbf")
    if data.lstrip()[:1] == b"<":
        raise InputError("it is a web page or XML, not a table. Was it downloaded from a page that asks to log in?")
    if b"\0" in data[:100_000]:
        raise InputError("it is not a text table: it has zero bytes. Save it as CSV in UTF-8.")
    if not data.isascii():
        _check_utf8(data)
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


def _check_utf8(data: bytes) -> None:
    for lines in stretches(data, 0, len(data)):
        try:
            lines.decode()
        except UnicodeDecodeError:
            _decoded(data, "utf-8")


def _decoded(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as problem:
        line = data[: problem.start].count(b"\n") + 1
        raise InputError(
            f"it is not a text table in {encoding.upper()}: line {line} has the byte {data[problem.start]:#04x}. "
            "Save it as CSV in UTF-8 (in Excel: 'CSV UTF-8')."
        ) from None


# -- optional packages -------------------------------------------------------------------------------------


def _parquet(path: Path) -> pd.DataFrame:
    import pandas as pd

    arrow = checks.optional("pyarrow", "files", "Parquet files need pyarrow")
    checks.optional("pyarrow.parquet", "files", "Parquet files need pyarrow")
    try:
        known = arrow.parquet.read_metadata(path)
        unpacking.check_announced([8 * known.num_rows * known.num_columns], path.stat().st_size)
        return pd.read_parquet(path, engine="pyarrow")
    except InputError:
        raise
    except (arrow.ArrowException, OSError, ValueError) as problem:
        raise InputError(f"the Parquet file cannot be read: {first_line(problem)}") from None


def _excel(data: bytes, sheet: str | int | None, decimal: str | None, headed: bool) -> Table:
    openpyxl = checks.optional("openpyxl", "files", "Excel files need openpyxl")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            unpacking.check_archive(archive, len(data))
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        cells = _sheet(book, sheet)
        cells.reset_dimensions()  # what a sheet says of its size can be old
        rows = [list(row) for row in cells.iter_rows(values_only=True)]
        notes = tuple(_uncomputed(data))
    except InputError:
        raise
    except Exception as problem:  # a damaged workbook makes its reader stumble in any way
        raise InputError(f"the workbook cannot be read: {first_line(problem)}") from None
    return replace(sheet_table(rows, decimal, headed=headed), notes=notes)


def _uncomputed(data: bytes) -> list[str]:
    """A note if a sheet has formulas that no spreadsheet has computed."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        sheets = [name for name in archive.namelist() if name.startswith("xl/worksheets/")]
        if not any(UNCOMPUTED.search(archive.read(name)) for name in sheets):
            return []
    return ["the workbook has formulas without values, which count as not measured: open it in Excel and save it again"]


def _sheet(book: Any, sheet: str | int | None) -> Any:
    names = [cells.title for cells in book.worksheets]  # not the sheets that are a chart
    if sheet is None and len(names) > 1:
        raise InputError(
            f"it has {counted(len(names), 'sheet')}: {', '.join(names[:8])}. Say which: sheet={names[0]!r} (--sheet)."
        )
    wanted = 0 if sheet is None else sheet
    if wanted in names:
        return book[wanted]
    if str(wanted).isdecimal() and int(wanted) < len(names):
        return book[names[int(wanted)]]
    raise InputError(f"there is no sheet {sheet!r}. Its sheets with cells: {', '.join(names[:8])}.")


def first_line(problem: BaseException) -> str:
    """What another library says about a file, without the lines that follow."""
    return str(problem).strip().split("\n", 1)[0]
