"""read: time courses from the tables that people have, wide or tidy, with a plain word about what was understood.

From below: ``cells`` (text as numbers), ``tables`` and ``files`` (any file as header and cells), ``headers`` (what a
header says about time), ``dates``, ``settings``, ``sheets`` (sample sheets), ``wide``, ``tidy`` and ``annotated`` (the
layouts), ``understanding``.
"""

from timelike.reading.files import read_table
from timelike.reading.options import Understood
from timelike.reading.read import read, understand

__all__ = ["Understood", "read", "read_table", "understand"]
