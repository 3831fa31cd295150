"""Files in: any table as time courses, wide or tidy, with an account of how it was understood.

From below: ``cells`` (text as numbers), ``tables``, ``text_tables`` and ``files`` (any file as header and rows),
``time_headers``, ``dates`` and ``column_names`` (what headers and columns mean), ``options`` (what the user says),
``understood`` (the account), ``sample_sheets``, ``wide``, ``tidy`` and ``anndata_objects`` (the layouts), ``read``.
``course_file`` reads wide tables that need not fit into memory.
"""

from timelike.reading.files import read_table
from timelike.reading.read import read, understand
from timelike.reading.understood import Understood

__all__ = ["Understood", "read", "read_table", "understand"]
