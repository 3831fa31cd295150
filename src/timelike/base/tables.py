"""Tables for spreadsheets: whole or absent, and without cells that a spreadsheet would run as formulas."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from timelike.base.checks import optional
from timelike.base.files import atomic_path
from timelike.exceptions import InputError

if TYPE_CHECKING:
    import pandas as pd

FORMULA = ("=", "+", "-", "@", "\t")
"""What a cell must not begin with: a spreadsheet takes it for a formula."""
SEPARATORS = {".csv": ",", ".tsv": "\t"}


def as_pandas(frame: Any) -> Any:
    """A table of another library (Polars, Arrow, ...) as a pandas table; anything else as it is.

    Examples
    --------
    >>> import pyarrow
    >>> as_pandas(pyarrow.table({"gene": ["a", "b"], "0h": [1, None]}))
      gene   0h
    0    a  1.0
    1    b  NaN
    """
    if hasattr(frame, "iloc") or hasattr(frame, "obs"):
        return frame
    if hasattr(frame, "__arrow_c_stream__"):
        arrow = optional("pyarrow", "files", f"tables like {type(frame).__name__} need pyarrow")
        return arrow.table(frame).to_pandas()
    if hasattr(frame, "__dataframe__"):
        import pandas as pd

        return pd.api.interchange.from_dataframe(frame)
    return frame


def write_table(frame: pd.DataFrame, path: str | PathLike[str], *, index: bool = False) -> None:
    """Write a table as CSV or TSV, by the ending of the path, with text that looks like a formula made harmless.

    Examples
    --------
    >>> import tempfile, pandas as pd
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_table(pd.DataFrame({"name": ["=1+1", "Fbln5"], "s": [-2.5, 3]}), f"{folder}/t.csv")
    ...     print(Path(f"{folder}/t.csv").read_text().strip())
    name,s
    '=1+1,-2.5
    Fbln5,3.0
    """
    ending = Path(path).suffix
    if ending not in SEPARATORS:
        raise InputError(f"{path}: expected a name that ends in {' or '.join(SEPARATORS)}.")
    with atomic_path(path) as temporary:
        harmless(frame).to_csv(temporary, index=index, sep=SEPARATORS[ending], lineterminator="\n")


def harmless(frame: pd.DataFrame) -> pd.DataFrame:
    """The table with an apostrophe before every text that a spreadsheet would take for a formula."""
    texts = {name: frame[name].map(quoted) for name in frame.columns if _may_run(frame[name])}
    frame = frame.assign(**texts) if texts else frame
    if _is_text(frame.index):
        frame = frame.set_axis(frame.index.map(quoted), axis=0)
    return frame.rename(columns=quoted)


def quoted(cell: Any) -> Any:
    """Text with an apostrophe in front where it begins like a formula; anything else as it is."""
    if not isinstance(cell, str):
        return cell
    line = cell.replace("\r", " ")  # which would end the row
    return f"'{line}" if line.startswith(FORMULA) else line


def unquoted(cell: str) -> str:
    """A name as it was before :func:`quoted` made it harmless."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(FORMULA) else cell


def _may_run(column: Any) -> bool:
    """Whether a column has cells that are not harmless; each text is looked at once."""
    from pandas.api.types import infer_dtype

    if not _is_text(column):
        return False
    return infer_dtype(column) != "string" or any(quoted(cell) != cell for cell in column.unique())


def _is_text(column: Any) -> bool:
    return getattr(column.dtype, "kind", "O") == "O"
