"""What the input says about courses beside their values (a symbol, a description), as further columns of any table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from timelike.courses import TimeCourses

if TYPE_CHECKING:
    import pandas as pd


def rows_of(details: pd.DataFrame | None, known: Sequence[str], courses: Sequence[str]) -> pd.DataFrame | None:
    """The rows of some courses, in their order, of details that are those of the `known`; None where there are none."""
    if details is None or not details.shape[1]:
        return None
    row = {name: i for i, name in enumerate(known)}
    return details.iloc[[row[name] for name in courses]].reset_index(drop=True)


def by_name(courses: TimeCourses, details: pd.DataFrame | None) -> pd.DataFrame | None:
    """Details of courses under the name of each, and under its name without the condition."""
    import pandas as pd

    if details is None:
        return None
    both = pd.concat([details.set_axis(list(names), axis=0) for names in (courses.names, courses.plain_names)])
    return both[~both.index.duplicated()]


def together(parts: Iterable[pd.DataFrame | None]) -> pd.DataFrame | None:
    """Details from several inputs: of each name what the first of them says that knows it."""
    import pandas as pd

    known = [part for part in parts if part is not None]
    if not known:
        return None
    every = pd.concat(known)
    return every[~every.index.duplicated()]


def beside(frame: pd.DataFrame, known: pd.DataFrame | None, of: str = "name", before: str = "") -> pd.DataFrame:
    """The table with the details of the courses in one of its columns, at its end.

    Parameters
    ----------
    frame
    known
        From :func:`by_name`.
    of
        The column with the names of courses.
    before
        Stands before the name of each new column. A name that the table has already gets the word "(input)".

    Examples
    --------
    >>> import pandas as pd
    >>> known = pd.DataFrame({"symbol": ["Vwf"], "cluster": ["old"]}, index=["g1"], dtype=object)
    >>> beside(pd.DataFrame({"name": ["g1", "g2"], "cluster": [0, 1]}), known)
      name  cluster symbol cluster (input)
    0   g1        0    Vwf             old
    1   g2        1    NaN             NaN
    """
    if known is None:
        return frame
    cells = known.reindex(list(frame[of]))
    new = {}
    for place, name in enumerate(known.columns):
        title = f"{before}{name}"
        while title in frame or title in new:
            title += " (input)"
        new[title] = cells.iloc[:, place].to_numpy()
    return frame.assign(**new)
