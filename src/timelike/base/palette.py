"""The colours of clusters, the same in the page and in figures: on paper, and on a dark screen."""

from __future__ import annotations

CLUSTERS = (
    *("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"),
    *("#004267", "#7c3700", "#005c43", "#764661", "#855c00", "#5b4a9c"),
    *("#66aad1", "#e69e66", "#66c5ab", "#d9aac4", "#d8b15c", "#a99be0"),
    *("#3b6e8b", "#9b653b", "#3b826f", "#977186", "#a2823b", "#8378b5"),
)
"""Okabe and Ito's colours, which colour-blind readers can tell apart, then darker, lighter and greyer ones."""
ON_DARK = (
    *("#2e8bc0", "#dd7b2e", "#2eaf8c", "#d591b7", "#eab02e", "#74c2ed"),
    *("#8cc0dc", "#ecb78c", "#8cd3c0", "#e8c3d7", "#f4d48c", "#c5bbf2"),
    *("#216f9a", "#a94e08", "#007b5a", "#9f5e82", "#b37c00", "#8270d6"),
    *("#5588a5", "#b57f55", "#559c88", "#b08ba0", "#bc9c55", "#a79dd6"),
)
"""The same clusters on a dark screen: the same hues, each readable there."""
NONE = "#767676"
"""Courses in none of the clusters."""


def cluster_color(label: int) -> str:
    """The colour of a cluster; they repeat, so that its number always stands beside it.

    Examples
    --------
    >>> cluster_color(0), cluster_color(24), cluster_color(-1)
    ('#0072b2', '#0072b2', '#767676')
    """
    return CLUSTERS[label % len(CLUSTERS)] if label >= 0 else NONE


def variables(colors: tuple[str, ...]) -> str:
    """The colours as variables of a style sheet.

    Examples
    --------
    >>> variables(("#0072b2", "#d55e00"))
    '--c0: #0072b2; --c1: #d55e00;'
    """
    return " ".join(f"--c{label}: {color};" for label, color in enumerate(colors))
