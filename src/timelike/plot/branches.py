"""branches: where the strokes of a tree of merges are, for whoever draws it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from timelike.base.arrays import Floats, Ints


class Branches(NamedTuple):
    """A tree to draw: its tips from one side to the other, and for each merge its number and its three strokes."""

    tips: Ints
    nodes: Ints
    strokes: Floats
    """(merges, 4, 2): place along the tips and height, up one side, across, down the other."""
    place: dict[int, float]


def branches(tree: Floats, leaves: int) -> Branches:
    """The last ``leaves - 1`` merges of a SciPy linkage matrix, without recursion: trees may be deep.

    Examples
    --------
    >>> found = branches(np.array([[0, 2, 1, 2], [1, 3, 5, 3.0]]), 3)
    >>> found.tips, found.strokes[-1].tolist()
    (array([1, 0, 2]), [[0.0, 0.0], [0.0, 5.0], [1.5, 5.0], [1.5, 1.0]])
    """
    count = len(tree) + 1
    begin = max(0, count - leaves)
    tips = tips_of(tree, leaves)
    place = {int(node): float(at) for at, node in enumerate(tips)}
    height = dict.fromkeys(place, 0.0)
    strokes = np.empty((len(tree) - begin, 4, 2))
    for i, (p, q) in enumerate(tree[begin:, :2].astype(int).tolist(), start=begin):
        top = float(tree[i, 2])
        strokes[i - begin] = [(place[p], height[p]), (place[p], top), (place[q], top), (place[q], height[q])]
        place[count + i], height[count + i] = (place[p] + place[q]) / 2, top
    return Branches(tips, np.arange(count + begin, 2 * count - 1), strokes, place)


def tips_of(tree: Floats, leaves: int) -> Ints:
    """What the last ``leaves - 1`` merges join, courses or earlier merges, from one side to the other."""
    count = len(tree) + 1
    pairs = tree[:, :2].astype(int).tolist()
    tips, waiting = [], [2 * count - 2]
    while waiting:
        node = waiting.pop()
        if node < count + max(0, count - leaves):
            tips.append(node)
        else:
            waiting += reversed(pairs[node - count])
    return np.array(tips)


def tops(shown: Branches, label: Ints) -> dict[int, tuple[float, float]]:
    """Where the highest branch of each cluster is: its place along the tips, and its height."""
    height = dict(zip(shown.nodes.tolist(), shown.strokes[:, 1, 1].tolist(), strict=True))
    everything = [*shown.tips.tolist(), *shown.nodes.tolist()]
    return {int(label[n]): (shown.place[n], height.get(n, 0.0)) for n in everything if label[n] >= 0}


def label_of_branch(tree: Floats, labels: Ints) -> Ints:
    """The cluster that all courses below a branch are in, or -1 where they are in several."""
    found = [int(k) for k in labels]
    for p, q in tree[:, :2].astype(int):
        found.append(found[p] if found[p] == found[q] else -1)
    return np.array(found)
