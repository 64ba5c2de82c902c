"""The list of tools for a client that may call only some of them, assembled from the built pages item by item.

The text of each item is copied from the built page. Pages have the same size as built pages. A cursor contains a
fingerprint of the allowed tools, so that a cursor of one client's list is not valid in another list, and filtered lists
are private to caches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import sha256

from mcpc_runtime.protocol.constants import INVALID_PARAMS
from mcpc_runtime.protocol.effects import Failure, SessionState
from mcpc_runtime.protocol.image import ProtocolRevision
from mcpc_runtime.protocol.jsonrpc import parse, scan
from mcpc_runtime.protocol.requests import Request

Pages = dict[str | None, bytes]
"""Each page's result by the cursor that requests it."""


METHOD = "tools/list"
PUBLIC, PRIVATE = b'"cacheScope":"public"', b'"cacheScope":"private"'
MAX_CACHED_LISTS = 16
"""Maximum number of cached lists, one for each allow-list, not for each client."""
cached_pages: dict[tuple[ProtocolRevision, Callable[[str], bool]], Pages] = {}


def list_tools(session: SessionState, request: Request) -> bytes | Failure:
    """Return the page that a client requests, with the tools it may see."""
    allows, visible = session.allows or allow_every_tool, session.image.shows_tool or allow_every_tool
    choice = session.image.choice
    # Taken out and put back, so that the first entry is the one that was used longest ago. A revision is of one image.
    filtered = cached_pages.pop((request.wire, allows), None)
    if filtered is None:
        hides_all = getattr(visible, "nothing", False)
        filtered = filtered_pages(
            request.wire,
            lambda name: allows(name) and visible(name) and (choice is None or name in choice.names),
            hides_all=hides_all,
        )
    cached_pages[request.wire, allows] = filtered
    if len(cached_pages) > MAX_CACHED_LISTS:
        del cached_pages[next(iter(cached_pages))]
    cursor = request.params.get("cursor")
    page = filtered.get(cursor) if cursor is None or type(cursor) is str else None
    if page is None and session.image.lenient_cursors:
        page = filtered[None]
    return page if page is not None else Failure(INVALID_PARAMS, "Invalid params: unknown cursor")


def make_private(page: bytes) -> bytes:
    """Return a page of the whole list with `private` cache scope, because other clients may see fewer tools."""
    items_and_more, scope, end = page.rpartition(PUBLIC)
    return items_and_more + PRIVATE + end if scope else page


def allow_every_tool(name: str) -> bool:
    """Allow any tool."""
    return True


def filtered_pages(wire: ProtocolRevision, allows: Callable[[str], bool], *, hides_all: bool = False) -> Pages:
    """Return the pages of a list with only the allowed tools; `hides_all`: no tool is allowed, so do not read them."""
    built = [[]] if hides_all else list(built_pages(wire))
    # Only the last page of a list may be shorter than the first.
    size = max(len(built[0]), 1)
    allowed = [(name, text) for page in built for name, text in page if allows(name)]
    chunks = [allowed[start : start + size] for start in range(0, len(allowed), size)] or [[]]
    fingerprint = list_fingerprint(wire, [name for name, _ in allowed]) if len(chunks) > 1 else ""
    tail = wire.lists[METHOD][4].replace(PUBLIC, PRIVATE)
    filtered: Pages = {}
    cursor: str | None = None
    for number, page in enumerate(chunks, 1):
        next_cursor = f"{number}.{fingerprint}"
        continuation = b',"nextCursor":"%b"' % next_cursor.encode() if number < len(chunks) else b""
        filtered[cursor] = b'{"tools":[%b]%b%b}' % (b",".join(text for _, text in page), continuation, tail)
        cursor = next_cursor
    return filtered


def built_pages(wire: ProtocolRevision) -> Iterator[list[tuple[str, bytes]]]:
    """Yield the items of each built page: each tool's name and its text."""
    cursor: str | None = None
    while True:
        result = wire.page(METHOD, cursor) or b"{}"
        tools, rest = split_page(result)
        yield tools
        page = parse(rest)
        next_cursor = page.get("nextCursor") if type(page) is dict else None
        if type(next_cursor) is not str:
            return
        cursor = next_cursor


def split_page(result: bytes) -> tuple[list[tuple[str, bytes]], bytes]:
    """Return a page's tools with their text, cut out of the text of the page, and the page without them.

    Tools come first in a page, so each is read once.
    """
    text = str(result, "utf-8")
    filtered = []
    end = text.index("[")
    while text[end] != "]":
        start = end + 1
        if text[start] == "]":
            end = start
            break
        tool, end = scan(text, start)
        filtered.append((tool["name"], text[start:end].encode("utf-8")))
    return filtered, ("{" + text[end + 1 :].removeprefix(",")).encode()


def list_fingerprint(wire: ProtocolRevision, names: list[str]) -> str:
    """Return a digest that distinguishes this list from any other."""
    built = wire.lists[METHOD][3]
    digest = sha256(b"\n".join([built, *(name.encode("utf-8", "surrogatepass") for name in names)]))
    return str(digest.hexdigest()[:12])
