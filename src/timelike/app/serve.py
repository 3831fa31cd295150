"""serve: the app on this machine, until somebody stops it."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path

from timelike.base import checks
from timelike.exceptions import InputError
from timelike.runs.folder import new_folder


def serve(folder: Path, port: int, say: Callable[[str], object], *, show: bool = True) -> None:
    """Answer a browser on this machine until Ctrl-C.

    Parameters
    ----------
    folder
        For the results, and for the files that are given; made if need be.
    port
        0: any that is free.
    say
        Called with the address.
    show
        Open the address in the browser.
    """
    uvicorn = checks.optional("uvicorn", "app", "the app needs uvicorn and starlette")
    checks.optional("starlette", "app", "the app needs uvicorn and starlette")
    from timelike.app.guard import Guard
    from timelike.app.server import application

    new_folder(folder, overwrite=True)
    with _listening(port) as listener:
        guard = Guard(listener.getsockname()[1])
        say(f"open {guard.address}")
        say(f"results go to {folder}; nothing leaves this machine. Ctrl-C ends it.")
        if show:
            _open(guard.address)
        app = application(folder.resolve(), guard)
        config = uvicorn.Config(app, log_level="warning", server_header=False, timeout_graceful_shutdown=2)
        uvicorn.Server(config).run(sockets=[listener])


def _listening(port: int) -> socket.socket:
    """A place to listen on, for this machine alone."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
    except (OSError, OverflowError) as problem:
        listener.close()
        reason = getattr(problem, "strerror", None) or problem
        raise InputError(f"port {port} cannot be used: {reason}. Give another, or none to have one found.") from None
    listener.listen()
    return listener


def _open(address: str) -> None:
    import webbrowser

    webbrowser.open(address)
