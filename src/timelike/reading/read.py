"""read and understand: any file, pandas table or AnnData object as time courses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from timelike.base.tables import as_pandas
from timelike.courses import TimeCourses
from timelike.exceptions import DataWarning, InputError, warn
from timelike.reading.anndata_objects import open_annotated, read_annotated
from timelike.reading.files import errors_about, holds_hdf5, open_table, require_file
from timelike.reading.joined_columns import joined_columns
from timelike.reading.options import TABLES, Settings, without_meaning
from timelike.reading.several import read_several
from timelike.reading.tables import Table, frame_table
from timelike.reading.tidy import read_tidy, tidy_columns
from timelike.reading.understood import Understood
from timelike.reading.wide import is_tall, read_columns, read_rows

if TYPE_CHECKING:
    import pandas as pd
    from anndata import AnnData

    Source: TypeAlias = str | PathLike[str] | pd.DataFrame | AnnData


def read(
    source: Source | Sequence[Source],
    *,
    course: str | Sequence[str] | None = None,
    time: str | None = None,
    value: str | None = None,
    error: str | None = None,
    counts: bool | None = None,
    samples: str | PathLike[str] | pd.DataFrame | None = None,
    condition: str | None = None,
    subject: str | None = None,
    replicate: str | None = None,
    header: str | None = None,
    times: Sequence[float] | None = None,
    no_header: bool | None = None,
    orient: str | None = None,
    dates: str | None = None,
    duplicates: str | None = None,
    decimal: str | None = None,
    sheet: str | int | None = None,
    layer: str | None = None,
    files: str | None = None,
) -> TimeCourses:
    r"""Time courses from a table: wide or tidy; text (also gzipped), Excel, Parquet, AnnData, or a pandas table.

    Wide tables have a course a row, its name first and then a column for each time, or a course a column, the times
    in the first one. The headers give times as numbers or with words around them, and replicates: "0", "12h", "T12",
    "alpha49", "day 3 rep 2", "0h_1", "0h_b", "T1R2". A time that stands twice is a replicate. Tidy tables have a
    measurement a row in columns called course, time and value, or the like. Where a file can be read in two ways the
    error says which option decides. ``timelike.reading.understand`` gives the courses with an account of how they were
    read.

    Parameters
    ----------
    source
        A path (what it holds is found from its content), a pandas table, or an AnnData object; or a list of several,
        which are matched by name.
    course, time, value, error
        The columns of a tidy table; `error` holds standard errors. `course` also chooses the column of names of a wide
        table, and may be a list of several, which make the name together ("gene1 / north"); `time` the column of times
        of a sample sheet or of ``obs``.
    counts
        True where the numbers are counts, as RNA-seq gives them: they are normalised, all conditions together, and
        become log2 values with an error each, see :meth:`TimeCourses.from_counts`.
    samples
        A sample sheet: a table with a row for each column of the wide one, with its time and perhaps its condition.
    condition
        The one condition to use. By default each name and condition is a course: "Samd14 | treated".
    subject
        The column of the sample sheet, or of ``obs``, that tells whose sample each is; ``understand(...).subjects``
        then has what :func:`timelike.compare` takes to pair them.
    replicate
        AnnData of single cells: the column of ``obs`` that tells the samples; their cells are averaged at each time,
        or summed where they are counts.
    header
        The form of the headers, such as "{time}h_{replicate}"; also {condition}, and {any} for what plays no part.
    times
        The times, where the header only numbers them: one for each different number, ascending, or one a column.
    no_header
        True where the first line of the table is a course already: `times` then gives the times of its columns.
    orient
        "rows" if a row is a course, "columns" if a column is one.
    dates
        Dates become days since the first date with a value, of each course ("own") or of all ("common").
    duplicates
        "number" calls the second course of a name "name-2", and one without a name "unnamed-1"; "replicates" takes
        values of several groups under one name of a tidy table (which are otherwise asked about) as replicates.
    decimal
        The decimal mark, "." or ",".
    sheet
        The sheet of an Excel workbook, by name or number.
    layer
        The layer of an AnnData object; by default ``X``.
    files
        What several files hold: "replicates" of the courses, by default, or "conditions", which are called like them.

    Warns
    -----
    DataWarning
        If courses or columns of numbers were left out, or names or times deserve a second look.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = Path(folder) / "genes.csv"
    ...     _ = table.write_text("gene,0h_1,0h_2,12h_1\nSamd14,8.1,8.3,9\nFbln5,7,NA,6.5\n")
    ...     read(table)
    TimeCourses: 2 courses, 2 times (0 to 12), some replicated, 16.7 % missing
    """
    options = {name: given for name, given in locals().items() if name != "source"}
    found = understand(source, **options)
    name = f"{len(source)} files" if isinstance(source, (list, tuple)) else _name(source)
    for note in found.notes:
        warn(f"{name}: {note}.", DataWarning)
    return found.courses


def understand(source: Any, **options: Any) -> Understood:
    r"""The courses of a file or table as :func:`read` gives them, with an account of how; it warns of nothing.

    Parameters
    ----------
    source, options
        As for :func:`read`.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"gene": ["a", "b"], "phase": ["M", "S"], "0h": [1, 2], "6h": [3, 4]})
    >>> print(*understand(table).lines(), sep="\n")
    2 courses, 2 times (0 to 6 h)
    read as a wide table, a course a row: names from 'gene', times from 2 headers like '0h', unit h
    1 column carried along into the tables (phase)
    """
    settings = Settings(**options)
    settings = replace(settings, samples=as_pandas(settings.samples))
    source = as_pandas(source)
    if isinstance(source, (list, tuple)):
        return read_several(source, settings, understand)
    settings.refuse("files", because="it is about several files, and this is one")
    if isinstance(source, (str, PathLike)):
        require_file(Path(source))
    with errors_about(_name(source)):
        if isinstance(source, (str, PathLike)):
            return _from_file(Path(source), settings)
        if hasattr(source, "obs") and hasattr(source, "var_names"):
            return read_annotated(source, settings)
        if hasattr(source, "columns") and hasattr(source, "iloc"):
            settings.refuse(*without_meaning(*TABLES), "sheet", "no_header", because="this is a pandas table")
            return _from_table(frame_table(source, settings.decimal), settings)
        raise InputError("it cannot be read: expected a path, a pandas DataFrame or an AnnData object.")


def _name(source: Any) -> str:
    return str(source) if isinstance(source, (str, PathLike)) else f"the {type(source).__name__}"


def _from_file(path: Path, settings: Settings) -> Understood:
    if holds_hdf5(path):
        return read_annotated(open_annotated(path), settings)
    settings.refuse(*without_meaning(*TABLES), because="this is no AnnData file")
    table = open_table(path, sheet=settings.sheet, decimal=settings.decimal, headed=not settings.no_header)
    found = _from_table(table, settings)
    return replace(found, notes=(*table.notes, *found.notes))


def _from_table(table: Table, settings: Settings) -> Understood:
    """The courses of a table, in the layout that the user or the table tells."""
    if settings.course is not None and not isinstance(settings.course, str):
        table = joined_columns(table, settings.course)
        settings = replace(settings, course=table.header[0])
    if settings.orient == "columns":
        return read_columns(table, settings)
    if settings.orient == "rows" or settings.samples is not None or settings.header is not None:
        return read_rows(table, settings)
    columns = tidy_columns(table.header, settings)
    if columns is not None:
        return read_tidy(table, columns, settings)
    if settings.course is None and is_tall(table):
        return read_columns(table, settings)
    return read_rows(table, settings)
