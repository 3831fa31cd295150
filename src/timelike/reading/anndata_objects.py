"""AnnData: samples or cells in obs with their times, genes in var."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from timelike.base import checks
from timelike.base.checks import counted
from timelike.exceptions import InputError
from timelike.reading.column_names import column_called
from timelike.reading.files import first_line
from timelike.reading.options import Settings, without_meaning
from timelike.reading.sample_sheets import sample_times
from timelike.reading.tables import Table, frame_table
from timelike.reading.time_headers import TimeColumns
from timelike.reading.understood import Understood
from timelike.reading.wide import Matrix, assemble

MOST_REPLICATES = 50
"""More observations than this at one time are cells, not samples."""


def open_annotated(path: Path) -> Any:
    """The AnnData object in a file."""
    anndata = checks.optional("anndata", "bio", "AnnData files need anndata")
    try:
        return anndata.read_h5ad(path)
    except Exception as problem:  # anndata and h5py raise many kinds for a file that is not theirs
        raise InputError(f"it is not an AnnData file that can be read: {first_line(problem)}") from None


def read_annotated(data: Any, settings: Settings) -> Understood:
    """Courses from an AnnData object: a course for each gene, its times from a column of obs."""
    settings.refuse(*without_meaning("AnnData"), because="an AnnData object has its own names and is no table")
    obs = frame_table(data.obs.set_axis(data.obs_names.rename("obs_names")))
    rows = range(data.n_obs)
    columns = sample_times(obs, rows, settings, {0})
    values = _layer(data, settings.layer)
    samples, said = [str(name) for name in data.obs_names], ""
    if settings.replicate is not None:
        columns, values, samples, said = _pseudobulk(obs, columns, values, settings)
    _refuse_cells(columns, list(obs.header))
    names = [str(name) for name in data.var_names]
    dense = values.toarray() if hasattr(values, "toarray") else np.asarray(values)
    numbers = np.asarray(dense, dtype=float).T
    matrix = Matrix(names, numbers, columns, lambda i: f"var {i}", samples, lambda i, _: f"var {i}", cells=_cells(data))
    found = assemble(matrix, settings)
    unused = tuple(f"{name} of obs" for name in columns.unused)
    how = f"AnnData: {counted(data.n_obs, 'observation')}, genes from var_names, values from {settings.layer or 'X'}"
    return replace(found, how=f"{how}{said}{found.how}", unused=unused)


def _cells(data: Any) -> dict[str, list[str]]:
    """What var says about genes, as text."""
    table = frame_table(data.var.reset_index(drop=True)) if len(data.var.columns) else None
    return {} if table is None else dict(zip(table.header, table.texts(range(len(table.header))), strict=True))


def _layer(data: Any, layer: str | None) -> Any:
    if layer is not None and layer not in data.layers:
        raise InputError(f"there is no layer {layer!r}. The layers: {', '.join(data.layers) or 'none'}.")
    values = data.X if layer is None else data.layers[layer]
    if values is None:
        raise InputError("X is empty. Say which layer has the values: layer= (--layer).")
    return values


def _refuse_cells(columns: TimeColumns, header: list[str]) -> None:
    """Raise if there are so many observations at a time that they must be cells."""
    labels = columns.conditions or ("",) * len(columns.times)
    counts = Counter(zip(columns.times.tolist(), labels, strict=True))
    most = max(counts.values(), default=0)
    if most > MOST_REPLICATES and len(counts) < 1000:
        raise InputError(
            f"there are {len(labels):,} observations at {counted(len(counts), 'time')}, up to {most:,} at one: "
            "they seem to be cells. Give replicate= (--replicate) the column of obs that tells the samples: cells of "
            "one sample and time are averaged, or summed where they are counts (pseudobulk). The columns of obs: "
            f"{', '.join(header[1:13])}."
        )


def _pseudobulk(
    obs: Table, columns: TimeColumns, values: Any, settings: Settings
) -> tuple[TimeColumns, Any, list[str], str]:
    """Means, or sums of counts, over observations that share time, replicate and condition; what these are called."""
    from scipy.sparse import csr_array

    replicate = str(settings.replicate)
    samples = obs.texts([column_called(obs.header, replicate)])[0]
    labels = columns.conditions or ("",) * len(samples)
    keys = list(zip(columns.times.tolist(), samples, labels, strict=True))
    number = {key: i for i, key in enumerate(sorted(set(keys)))}
    group = np.array([number[key] for key in keys])
    kept = sorted(number)
    conditions = tuple(label for *_, label in kept) if columns.conditions else ()
    times = np.array([time for time, *_ in kept])
    found = TimeColumns(tuple(range(len(kept))), times, conditions, columns.unit, unused=columns.unused)
    sizes = np.bincount(group)
    spread = f"{sizes.min():,} to {sizes.max():,} observations"
    said = f", each the {'sum' if settings.counts else 'mean'} of {spread} with the same time and {replicate!r}"
    weights = np.ones(len(group)) if settings.counts else 1 / sizes[group]
    taken = csr_array((weights, (group, np.arange(len(group)))), shape=(len(sizes), len(group)))
    called = [" ".join(filter(None, [sample, f"{time:g}", label])) for time, sample, label in kept]
    return found, taken @ values, called, said
