"""The application: a page, what it asks for, and the reports of runs.

A report is somebody's data with a program of ours in it. It is given out as a sandboxed page: the browser treats it as
a page from nowhere, which cannot read ours, ask for anything here, nor use the cookie.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from timelike.app.account import account, menus
from timelike.app.guard import Guard, Guarded
from timelike.app.inputs import LIMIT, Inputs, TooLargeError
from timelike.app.jobs import Jobs
from timelike.app.results import INPUTS, REPORT, Results
from timelike.app.wish import files_of, reading_of, terms_of, words_of
from timelike.exceptions import InputError
from timelike.reporting.report import digest, filled

SANDBOX = (
    "sandbox allow-scripts allow-downloads allow-popups allow-modals; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
"""What a report may do, also one that somebody else has put into the folder: draw, and hand out files."""
BODY = 1 << 20
"""Bytes of what a page asks, files apart."""


class App:
    """What the page asks for."""

    def __init__(self, folder: Path, limit: int = LIMIT) -> None:
        self.results, self.inputs, self.jobs = Results(folder), Inputs(folder / INPUTS, limit), Jobs()

    async def page(self, _: Request) -> Response:
        """The page itself."""
        style, program = _asset("app.css"), _asset("app.js")
        html = filled(_asset("app.html"), {"style": style, "program": program})
        allowed = f"script-src '{digest(program)}'; style-src '{digest(style)}'; img-src data:; connect-src 'self'"
        policy = f"default-src 'none'; {allowed}; frame-src 'self'; base-uri 'none'; form-action 'none'"
        return HTMLResponse(html, headers={"Content-Security-Policy": f"{policy}; frame-ancestors 'none'"})

    async def add_file(self, request: Request) -> Response:
        """Keep a file."""
        announced = request.headers.get("content-length", "0")
        if announced.isdigit() and self.inputs.used + int(announced) > self.inputs.limit:
            raise TooLargeError(f"the file is too large: the app takes {self.inputs.limit / 1e9:.3g} GB in all.")
        number = await self.inputs.add(request.query_params.get("name", ""), request.stream())
        path = self.inputs.path(number)
        return JSONResponse({"number": number, "name": path.name, "size": path.stat().st_size})

    async def understand(self, request: Request) -> Response:
        """How the files are understood."""
        wish = await _asked(request)
        chosen = files_of(wish, self.inputs)
        reading, terms = reading_of(wish, self.inputs), terms_of(wish, self.inputs)
        return JSONResponse(await run_in_threadpool(account, chosen, reading, terms))

    async def menus(self, _: Request) -> Response:
        """The options of reading."""
        return JSONResponse(menus())

    async def add_run(self, request: Request) -> Response:
        """Begin a run, or put it behind the one that is under way."""
        wish = await _asked(request)
        words = words_of(wish, self.inputs)
        title = str((wish.get("choices") or {}).get("title") or files_of(wish, self.inputs)[0].name)
        name = self.results.new(title, set(self.jobs.all))
        out = self.results.folder / name
        return JSONResponse(self.jobs.add(name, [*words, f"--out={out}"], out).told())

    async def runs(self, _: Request) -> Response:
        """The runs that are under way or ended since the start, and all that are in the folder."""
        done = await run_in_threadpool(self.results.runs)
        return JSONResponse({"jobs": [job.told() for job in self.jobs.all.values()], "runs": done})

    async def cancel(self, request: Request) -> Response:
        """End a run."""
        name = request.path_params["name"]
        if name not in self.jobs.all:
            raise InputError("there is no such run.")
        await run_in_threadpool(self.jobs.cancel, name)
        return JSONResponse(self.jobs.all[name].told())

    async def report(self, request: Request) -> Response:
        """The report of a run."""
        path = self.results.file(request.path_params["name"], REPORT)
        return FileResponse(path, media_type="text/html", headers={"Content-Security-Policy": SANDBOX})

    async def file(self, request: Request) -> Response:
        """A file of a run, to keep."""
        path = self.results.file(request.path_params["name"], request.path_params["file"])
        return FileResponse(path, media_type="application/octet-stream", filename=path.name)

    async def archive(self, request: Request) -> Response:
        """All files of a run."""
        name = request.path_params["name"]
        self.results.run(name)
        disposition = f"attachment; filename*=UTF-8''{quote(name)}.zip"
        return StreamingResponse(
            self.results.zipped(name), media_type="application/zip", headers={"Content-Disposition": disposition}
        )

    def routes(self) -> list[Route]:
        """What there is."""
        return [
            Route("/", self.page),
            Route("/api/menus", self.menus),
            Route("/api/files", self.add_file, methods=["POST"]),
            Route("/api/understand", self.understand, methods=["POST"]),
            Route("/api/runs", self.runs, methods=["GET"]),
            Route("/api/runs", self.add_run, methods=["POST"]),
            Route("/api/runs/{name}/cancel", self.cancel, methods=["POST"]),
            Route("/runs/{name}/report.html", self.report),
            Route("/runs/{name}/all.zip", self.archive),
            Route("/runs/{name}/files/{file:path}", self.file),
        ]


def application(folder: Path, guard: Guard, limit: int = LIMIT) -> Guarded:
    """The app behind its guard; what it started ends with it."""
    app = App(folder, limit)

    @asynccontextmanager
    async def life(_: Starlette) -> AsyncIterator[None]:
        yield
        await run_in_threadpool(app.jobs.close)

    handlers: dict[Any, Any] = {InputError: _mistake, OSError: _mistake, ClientDisconnect: _gone}
    return Guarded(Starlette(routes=app.routes(), exception_handlers=handlers, lifespan=life), guard)


async def _asked(request: Request) -> dict[str, Any]:
    """What a page asks, as JSON."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > BODY:
            raise TooLargeError("too much was asked at once.")
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InputError("this was not asked by the page: load it again.")
    return found


async def _mistake(_: Request, problem: Exception) -> Response:
    """A mistake of a person's, in one sentence."""
    status = 413 if isinstance(problem, TooLargeError) else 400 if isinstance(problem, InputError) else 500
    return JSONResponse({"error": str(problem)}, status)


async def _gone(_: Request, __: Exception) -> Response:
    """An answer that nobody is there to read: who closes a page while it sends a file has made no mistake."""
    return Response(status_code=400)


def _asset(name: str) -> str:
    return (files("timelike.app") / "assets" / name).read_text(encoding="utf-8")
