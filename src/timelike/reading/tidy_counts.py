"""Tidy tables of counts: which sample each count is of, and the matrix of genes and samples."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from timelike.base.arrays import Floats, Ints
from timelike.exceptions import InputError
from timelike.reading.column_names import conditions, is_called
from timelike.reading.merged import SAMPLE_WORDS
from timelike.reading.tables import Table
from timelike.reading.time_headers import TimeColumns
from timelike.reading.wide import Matrix

Key = tuple[float, str, str]
"""A sample: its time, its condition, and what tells it from others of the same; texts are empty where nothing does."""


@dataclass(frozen=True)
class CountRows:
    """Rows of a tidy table: the gene, the time and the count of each.

    Attributes
    ----------
    table
    names
        Of the genes.
    owner, times, counts
        Position of the gene in `names`, the time and the count of each row.
    used
        Columns that have a meaning.
    """

    table: Table
    names: list[str]
    owner: Ints
    times: Floats
    counts: Floats
    used: set[int]


def by_sample(rows: CountRows, unit: str | None) -> tuple[Matrix, list[int]]:
    """The counts as genes x samples, and the columns that tell the samples beside the times.

    Counts are normalised sample by sample, so each must say its sample: by its time and condition, and where these
    repeat within a gene by a column that is called like samples or replicates. Every gene has a count in every sample.
    """
    told = _conditions(rows)
    used = [] if told is None else [told[0]]
    labels = told[1] if told is not None else [""] * len(rows.owner)
    named = [k for k, name in enumerate(rows.table.header) if k not in rows.used and is_called(name, SAMPLE_WORDS)]
    choices: list[int | None] = [*named, None]
    found = {choice: _keys(rows, labels, choice) for choice in choices}
    chosen = next((k for k in choices if _is_whole(rows, found[k])), choices[0])
    matrix = _matrix(rows, found[chosen], unit, "" if chosen is None else rows.table.header[chosen])
    return matrix, [*used, *([] if chosen is None else [chosen])]


def _conditions(rows: CountRows) -> tuple[int, list[str]] | None:
    """The column of conditions, unless it is a label of genes."""
    owner = rows.owner.tolist()
    told = conditions(rows.table, rows.used, range(len(owner)), owner)
    return None if told is None or len(set(zip(owner, told[1], strict=True))) == len(rows.names) else told


def _keys(rows: CountRows, labels: Sequence[str], column: int | None) -> list[Key]:
    """The sample of each row."""
    cells = [""] * len(labels) if column is None else rows.table.texts([column])[0]
    return list(zip(rows.times.tolist(), labels, cells, strict=True))


def _is_whole(rows: CountRows, keys: Sequence[Hashable]) -> bool:
    """Whether every gene has one count in every sample."""
    pairs = len(set(zip(rows.owner.tolist(), keys, strict=True)))
    return pairs == len(keys) == len(rows.names) * len(set(keys))


def _matrix(rows: CountRows, keys: list[Key], unit: str | None, column: str) -> Matrix:
    samples = {key: k for k, key in enumerate(dict.fromkeys(keys))}
    row_of = _row_of(rows, keys, samples, column)
    times, labels, _ = zip(*samples, strict=True)
    columns = TimeColumns(tuple(range(len(samples))), np.array(times), labels if any(labels) else (), unit)
    place = rows.table.place
    return Matrix(
        rows.names,
        rows.counts[row_of],
        columns,
        lambda gene: place(int(row_of[gene].min())),
        _called(list(samples)),
        lambda gene, k: place(int(row_of[gene, k])),
    )


def _row_of(rows: CountRows, keys: list[Key], samples: dict[Key, int], column: str) -> Ints:
    """The row of each gene and sample, (genes, samples); raises where there is none, or a second."""
    row_of = np.full((len(rows.names), len(samples)), -1, dtype=np.intp)
    for row, (gene, key) in enumerate(zip(rows.owner.tolist(), keys, strict=True)):
        before = row_of[gene, samples[key]]
        if before >= 0:
            places = f"{rows.table.place(int(before))} and {rows.table.place(row)}"
            raise InputError(
                f"{rows.names[gene]!r} has two counts {_at(key, column)}, {places}. Counts are normalised sample by "
                "sample: tell the samples apart in a column called sample, with one count of each gene in each."
            )
        row_of[gene, samples[key]] = row
    if (row_of < 0).any():
        gene, k = (int(i) for i in np.argwhere(row_of < 0)[0])
        raise InputError(
            f"{rows.names[gene]!r} has no count {_at(list(samples)[k], column)}, where other genes have one. A count "
            "that is missing is not zero: write the zeros too, or leave the gene out."
        )
    return row_of


def _at(key: Key, column: str) -> str:
    time, label, cell = key
    parts = [f"at time {time:g}", f"in condition {label!r}" if label else "", f"in {column} {cell!r}" if column else ""]
    return ", ".join(filter(None, parts))


def _called(keys: list[Key]) -> list[str]:
    """What the samples are called: by their own name if that tells them apart, else also by condition and time."""
    own = [cell for *_, cell in keys]
    if all(own) and len(set(own)) == len(own):
        return own
    return [" ".join(filter(None, [label, f"{time:g}", cell])) for time, label, cell in keys]
