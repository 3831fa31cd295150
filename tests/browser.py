"""A real browser for tests of pages: Debian's Chromium, driven by playwright, that notes all that goes wrong."""

import shutil
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
LOCAL = ("file:", "data:", "blob:", "about:")


@dataclass
class Troubles:
    """What a page must not do: write to the console, fail, or ask for anything over the network."""

    console: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def all(self) -> list[str]:
        return [*self.console, *self.errors, *self.requests, *self.dialogs]


@contextmanager
def running_browser():
    """One browser with a profile of its own; the test is skipped where there is none."""
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip("there is no Chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        yield browser
        browser.close()


@contextmanager
def opened(browser, path: Path, *, width: int = 1280, height: int = 900, address: str = "", **settings):
    """A page that stands, and its troubles, which must be none when the block ends."""
    context = browser.new_context(viewport={"width": width, "height": height}, **settings)
    page, troubles = context.new_page(), Troubles()
    page.on("console", lambda message: troubles.console.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: troubles.errors.append(str(error)))
    page.on("request", lambda request: request.url.startswith(LOCAL) or troubles.requests.append(request.url))
    page.on("dialog", lambda dialog: (troubles.dialogs.append(dialog.message), dialog.dismiss()))
    page.goto(path.as_uri() + address)
    page.wait_for_selector("html[data-ready]")
    yield page
    context.close()
    assert troubles.all() == []
