"""Figures for publications: one function, one figure, drawn on the Axes that it returns.

Without `ax` each function makes a figure that fits one column of a journal (3.5 inches), or two (7 inches); on given
Axes it draws there and takes over their size of text. Labels get their units by `time` and `value`; whatever else
should be different can be changed on the Axes afterwards. :func:`save` writes the figure.

Where the model has a clock, the time axis runs on it, with labels in plain time; ``ax.set_xscale("linear")`` makes it
plain time.
"""

from timelike.plot.cluster_figures import cluster_panels, clusters
from timelike.plot.course_figures import courses, explanation, neighbors, pair
from timelike.plot.matrix_figures import heatmap, value_heatmap
from timelike.plot.order_figures import match, order
from timelike.plot.parts import COLORS, panels, save
from timelike.plot.question_figures import changes, differences, volcano
from timelike.plot.tree_figures import bound, dendrogram, path, tree_heatmap

__all__ = [
    "COLORS",
    "bound",
    "changes",
    "cluster_panels",
    "clusters",
    "courses",
    "dendrogram",
    "differences",
    "explanation",
    "heatmap",
    "match",
    "neighbors",
    "order",
    "pair",
    "panels",
    "path",
    "save",
    "tree_heatmap",
    "value_heatmap",
    "volcano",
]
