"""The files of the page for people, and the headers that confine it.

Rule: the page may load from, and send to, its own server only; nothing may frame it.  HTML of an MCP App runs in
`app-frame.html`, which has no origin and may load and send nothing; what browsers let through all the same stands in
SECURITY.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from mcpc_runtime.http.replies import Pairs, Reply

PATH = "/ui/"
"""Where the page is served."""
FOLDER = "page/"
"""The folder of its files in a built file."""
INDEX, APP_FRAME = "index.html", "app-frame.html"
MEDIA_TYPES = {
    ".html": b"text/html; charset=utf-8",
    ".css": b"text/css; charset=utf-8",
    ".js": b"text/javascript; charset=utf-8",
    ".svg": b"image/svg+xml",
}
# A name, or one in a folder: with no dot but that of the ending nothing outside of FOLDER has such a name.
is_file_name = re.compile(r"[a-z][a-z0-9_-]*(?:/[a-z][a-z0-9_-]*)?\.(?:html|css|js|svg)").fullmatch
POLICY = (
    b"default-src 'self'; img-src 'self' data: blob:; media-src 'self' data: blob:; object-src 'none'; "
    b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
APP_POLICY = (
    b"sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    b"img-src data: blob:; media-src data: blob:; font-src data:; base-uri 'none'; form-action 'none'; "
    b"frame-ancestors 'self'"
)
CONFINED: Pairs = [
    (b"cache-control", b"no-cache"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-dns-prefetch-control", b"off"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
]


def page_reply(path: str, read: Callable[[str], bytes]) -> Reply | None:
    """Return the reply to a GET of a path below PATH; None if the page has no such file.

    `read` returns the bytes of a file of the page; it raises OSError if there is none.
    """
    name = path.removeprefix(PATH) or INDEX
    if is_file_name(name) is None:
        return None
    try:
        data = read(name)
    except OSError:
        return None
    policy = APP_POLICY if name == APP_FRAME else POLICY
    kind = MEDIA_TYPES[name[name.rindex(".") :]]
    return 200, [(b"content-type", kind), (b"content-security-policy", policy), *CONFINED], data
