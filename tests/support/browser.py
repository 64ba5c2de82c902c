"""Real Chromium (Debian's) for tests of pages: one browser a test process, a fresh context a test.

Every request of a page to another host than the loopback fails the test, and so does an error on the console.
"""

import os
import shutil
from asyncio import AbstractEventLoop
from asyncio.events import _get_running_loop, _set_running_loop
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, Page

from support.needs import needs

COMMAND = "chromium"
OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
"""Tests run as root in containers: no sandbox, no device, little shared memory."""
LOCAL = {"127.0.0.1", "localhost", "::1", ""}


@cache
def browser() -> tuple[Browser, AbstractEventLoop | None]:
    """Return the browser of this process, which ends with the process, and the event loop that drives it."""
    needs(COMMAND)
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - its driver takes half a second

    os.environ.pop("NODE_OPTIONS", None)
    player = sync_playwright().start()
    return player.chromium.launch(executable_path=shutil.which(COMMAND), args=OPTIONS), _get_running_loop()


@contextmanager
def driven() -> Iterator[Browser]:
    """Yield the browser; its loop counts as running in this thread only here, so that other tests can use their own."""
    before = _get_running_loop()
    try:
        opened, loop = browser()
        _set_running_loop(loop)
        yield opened
    finally:
        _set_running_loop(before)


@contextmanager
def page(*, allowed_errors: tuple[str, ...] = (), **context: Any) -> Iterator[Page]:
    """Yield a page; afterwards fail for requests that left the machine, and for errors on the console.

    `allowed_errors`: parts of console messages that the test expects; `context`: options of Playwright's new_context,
    as `viewport={"width": 400, "height": 800}` and `color_scheme="dark"`.
    """
    with driven() as chromium:
        yield from watched_page(chromium.new_context(**context), allowed_errors)


def watched_page(opened: BrowserContext, allowed_errors: tuple[str, ...]) -> Iterator[Page]:
    """Yield the page of a context, and then fail as `page` says."""
    outside: list[str] = []
    errors: list[str] = []
    opened.on("request", lambda request: outside.append(request.url) if not is_local(request.url) else None)
    tab = opened.new_page()
    tab.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    tab.on("pageerror", lambda error: errors.append(str(error)))
    try:
        yield tab
        assert not outside, f"requests left the machine: {outside}"
        unexpected = [text for text in errors if not any(part in text for part in allowed_errors)]
        assert not unexpected, f"errors on the console: {unexpected}"
    finally:
        opened.close()


def is_local(url: str) -> bool:
    """Return whether a request to `url` stays on this machine."""
    parts = urlsplit(url)
    return parts.scheme in {"data", "blob", "about"} or parts.hostname in LOCAL
