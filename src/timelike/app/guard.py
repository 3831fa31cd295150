"""Who may ask: requests from this browser, to this machine, with the token. Everybody else is turned away."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HOSTS = ("127.0.0.1", "localhost")
SAFE = ("GET", "HEAD")
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""What every answer says: no guessing of types, nothing told to others, nothing kept."""
STRANGER = (
    "This page belongs to the person who started 'timelike app'. Open the address that it printed, token and all."
)


@dataclass(frozen=True)
class Guard:
    """What a request must have: a Host that is this machine, an Origin that is this page, and the token as a cookie.

    The Host is looked at because a name of somebody else's may be made to lead here; the Origin, because other pages of
    the same browser can send requests, too. The token comes in the address once, and is a cookie from then on that no
    program of a page can read and no other site can send.
    """

    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))

    @property
    def address(self) -> str:
        """Where to begin."""
        return f"http://{HOSTS[0]}:{self.port}/?token={self.token}"

    @property
    def cookie(self) -> str:
        """The name of the cookie; cookies know no ports, so that two apps need two names."""
        return f"timelike_{self.port}"

    def refusal(self, method: str, headers: Mapping[str, str]) -> str | None:
        """Why a request is not from this page on this machine; None where it is."""
        places = {f"{host}:{self.port}" for host in HOSTS}
        if headers.get("host") not in places:
            return "this is for requests to this machine, by its own name."
        origin = headers.get("origin")
        if origin is None:
            return None if method in SAFE else "a request that changes something says which page it is from."
        return None if origin in {f"http://{place}" for place in places} else "another page may not ask this."

    def is_known(self, headers: Mapping[str, str]) -> bool:
        """Whether a request has the cookie."""
        try:
            found = SimpleCookie(headers.get("cookie", "")).get(self.cookie)
        except CookieError:
            return False
        return found is not None and self.is_token(found.value)

    def is_token(self, text: str) -> bool:
        """Whether a text is the token, in a time that does not tell how much of it is right."""
        return hmac.compare_digest(text.encode(), self.token.encode())

    def welcome(self) -> Response:
        """The answer to the first request: the token as a cookie, and the address without it."""
        answer = RedirectResponse("/", status_code=303)
        answer.set_cookie(self.cookie, self.token, httponly=True, samesite="strict", path="/")
        return answer


class Guarded:
    """An application behind the guard."""

    def __init__(self, app: ASGIApp, guard: Guard) -> None:
        self.app, self.guard = app, guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or turn it away."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return

        async def say(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        turned_away = self._turned_away(scope)
        await (self.app if turned_away is None else turned_away)(scope, receive, say)

    def _turned_away(self, scope: Scope) -> ASGIApp | None:
        """The answer to a request that is not let through."""
        if scope["type"] != "http":
            return PlainTextResponse("there is nothing here but pages.", 403)
        headers = Headers(scope=scope)
        if (reason := self.guard.refusal(scope["method"], headers)) is not None:
            return PlainTextResponse(f"Refused: {reason}", 403)
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if scope["path"] == "/" and scope["method"] == "GET" and self.guard.is_token(given):
            return self.guard.welcome()
        return None if self.guard.is_known(headers) else PlainTextResponse(STRANGER, 403)
