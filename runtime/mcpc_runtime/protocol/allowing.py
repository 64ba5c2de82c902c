"""The list of tools for somebody who may call only some of them: made of the pages that were built, item by item.

Each item is the very text that was built.  Pages hold as many as before, a cursor has a fingerprint of what is allowed,
so that nobody goes on in the list of somebody else, and no cache may show one to the other.
"""

from __future__ import annotations

from mcpc_runtime.lazy import lazy
from mcpc_runtime.protocol.effects import Failure
from mcpc_runtime.protocol.facts import INVALID_PARAMS
from mcpc_runtime.protocol.jsonrpc import parse, scan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mcpc_runtime.protocol.effects import Request
    from mcpc_runtime.protocol.ports import Wire
    from mcpc_runtime.protocol.session_state import SessionState

    Pages = dict[str | None, bytes]
    """Each page's result by the cursor that asks for it."""
    from hashlib import sha256
else:
    sha256 = lazy("hashlib:sha256")

METHOD = "tools/list"
PUBLIC, PRIVATE = b'"cacheScope":"public"', b'"cacheScope":"private"'
MOST_KEPT = 16
"""So many lists are kept: of as many allow-lists, not of as many clients."""
kept: dict[tuple[Wire, Callable[[str], bool]], Pages] = {}


def list_tools(session: SessionState, request: Request) -> bytes | Failure:
    """Return the page that a client asks for, of the tools it may see."""
    allows, shown = session.allows or everything, session.image.shown or everything
    found = kept.pop((request.wire, allows), None)
    if found is None:
        nothing = getattr(shown, "nothing", False)
        found = pages(request.wire, lambda name: allows(name) and shown(name), nothing=nothing)
    kept[request.wire, allows] = found
    if len(kept) > MOST_KEPT:
        del kept[next(iter(kept))]
    cursor = request.params.get("cursor")
    page = found.get(cursor) if cursor is None or type(cursor) is str else None
    if page is None and session.image.lenient_cursors:
        page = found[None]
    return page if page is not None else Failure(INVALID_PARAMS, "Invalid params: unknown cursor")


def privately(page: bytes) -> bytes:
    """Return a page of the whole list as one that no cache may show to somebody who perhaps sees less of it."""
    items_and_more, found, end = page.rpartition(PUBLIC)
    return items_and_more + PRIVATE + end if found else page


def everything(name: str) -> bool:
    """Allow any tool."""
    return True


def pages(wire: Wire, allows: Callable[[str], bool], *, nothing: bool = False) -> Pages:
    """Return the pages of a list with only those tools that are allowed; `nothing`: none is, without a look at them."""
    built = [[]] if nothing else list(built_pages(wire))
    size = max(len(built[0]), 1)
    allowed = [(name, text) for page in built for name, text in page if allows(name)]
    cut = [allowed[start : start + size] for start in range(0, len(allowed), size)] or [[]]
    fingerprint = fingerprint_of(wire, [name for name, _ in allowed]) if len(cut) > 1 else ""
    tail = bytes(wire.lists[METHOD][4]).replace(PUBLIC, PRIVATE)  # type: ignore[call-overload]
    found: Pages = {}
    cursor: str | None = None
    for number, page in enumerate(cut, 1):
        following = f"{number}.{fingerprint}"
        more = b',"nextCursor":"%b"' % following.encode() if number < len(cut) else b""
        found[cursor] = b'{"tools":[%b]%b%b}' % (b",".join(text for _, text in page), more, tail)
        cursor = following
    return found


def built_pages(wire: Wire) -> Iterator[list[tuple[str, bytes]]]:
    """Yield the items of each page as they were built: each tool's name, and its text."""
    cursor: str | None = None
    while True:
        result = wire.page(METHOD, cursor) or b"{}"
        yield items(result)
        page = parse(result)
        following = page.get("nextCursor") if type(page) is dict else None
        if type(following) is not str:
            return
        cursor = following


def items(result: bytes) -> list[tuple[str, bytes]]:
    """Return a page's tools, cut out of its text."""
    text = str(result, "utf-8")
    found = []
    end = text.index("[")
    while text[end] != "]":
        start = end + 1
        if text[start] == "]":
            break
        tool, end = scan(text, start)
        found.append((tool["name"], text[start:end].encode("utf-8")))
    return found


def fingerprint_of(wire: Wire, names: list[str]) -> str:
    """Return what tells this list from any other."""
    built = bytes(wire.lists[METHOD][3])  # type: ignore[call-overload]
    digest = sha256(b"\n".join([built, *(name.encode("utf-8", "surrogatepass") for name in names)]))
    return str(digest.hexdigest()[:12])
