"""The linear algebra below NumPy: how many threads it may use, and what it is made for."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock
from typing import Any

_limited: list[Any] = []
_lock = Lock()


@contextmanager
def one_thread_below() -> Iterator[None]:
    """Keep NumPy's linear algebra to one thread: under threads of ours, and on matrices too small to share.

    Several threads may do so at once: the first sets the limit, the last lifts it.
    """
    with _lock:
        _limited.append(_limited[0] if _limited else libraries().limit(limits=1, user_api="blas"))
    try:
        yield
    finally:
        with _lock:
            limit = _limited.pop()
            if not _limited:
                limit.restore_original_limits()


def libraries() -> Any:
    """The linear algebra libraries of this process; they come with modules, SciPy's later than NumPy's."""
    return _libraries_of(len(sys.modules))


@lru_cache(maxsize=1)
def _libraries_of(_modules: int) -> Any:
    """Finding them takes longer than a small similarity, so it is done again only when modules were added."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
