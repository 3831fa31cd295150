"""What a report says where courses have conditions: how clusters share them, and what changes between them."""

from __future__ import annotations

from typing import Any

import numpy as np

from timelike.base.html import captioned_table, paragraphs
from timelike.clusters.between_conditions import certain, counted_changes
from timelike.reporting.page_json import whole
from timelike.reporting.subject import Subject
from timelike.reporting.words import share

LISTED = 200
"""Names that change in the page, at most."""
HINT = (
    "Where clusters are close to each other, a name may change its cluster although its curve changes little: look at "
    "its courses."
)


def data(subject: Subject) -> dict[str, Any] | None:
    """For the page's program: the conditions, and for each course the number of its condition and of its name."""
    courses = subject.courses
    if courses.conditions is None:
        return None
    names = list(dict.fromkeys(courses.conditions))
    return {"names": names, "of": _numbers(courses.conditions), "nameOf": _numbers(courses.plain_names)}


def _numbers(words: tuple[str, ...]) -> dict[str, str]:
    """For each word the place of its first appearance among the different ones."""
    place = {word: number for number, word in enumerate(dict.fromkeys(words))}
    return whole(np.array([place[word] for word in words]))


def tables(subject: Subject) -> str:
    """HTML: sizes of the clusters by condition, and the names that surely change; nothing without conditions."""
    if subject.courses.conditions is None:
        return ""
    return f'<h3>Conditions</h3><div id="by-condition">{_sizes(subject)}</div>{_changes(subject)}'


def _sizes(subject: Subject) -> str:
    found = subject.clustering.by_condition()
    kept = found[(found.index >= 0) | (found.sum(axis=1) > 0)]  # "none" only where there are some
    all_of = np.maximum(found.to_numpy().sum(axis=0), 1)
    rows = [
        (_place(label), *(f"{n:,} ({share(n, of)})" for n, of in zip(row, all_of, strict=True)))
        for label, row in zip(kept.index, kept.to_numpy(), strict=True)
    ]
    caption = "Courses of each condition in each cluster, with their share of the condition"
    return captioned_table(["", *map(str, kept.columns)], rows, caption)


def _changes(subject: Subject) -> str:
    if subject.clustering.probabilities is None:
        return ""
    found = subject.clustering.changes_cluster()
    shown = certain(found)
    if not len(shown):
        return paragraphs([f"{counted_changes(found)}."])
    caption = counted_changes(found) + (f"; the surest {LISTED} are listed" if len(shown) > LISTED else "")
    columns = shown[["name", "from", "to", "probability_changes", "fdr"]].head(LISTED)
    rows = [(*words, f"{p:.3f}", f"{fdr:.2g}") for *words, p, fdr in columns.itertuples(index=False, name=None)]
    header = ("name", "from", "to", "probability", "FDR")
    return captioned_table(header, rows, caption) + f'<p class="hint">{HINT}</p>'


def _place(label: int) -> str:
    return "none of these" if label < 0 else f"cluster {label}"
