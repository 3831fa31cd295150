"""Figures for publications: one function, one figure, drawn on the Axes that it returns.

Without `ax` each function makes a figure that fits one column of a journal (3.5 inches), or two (7 inches); on given
Axes it draws there and takes over their size of text. Labels get their units by `time` and `value`; whatever else
should be different can be changed on the Axes afterwards. :func:`save` writes the figure.
"""

from timelike.plot.course_figures import *  # noqa: F403
from timelike.plot.course_figures import __all__ as __all__
