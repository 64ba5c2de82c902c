"""What a request's head says to us, read once: who is asked and from where, what may be answered, in which form.

A client sends the same head again and again; a server that reads heads itself keeps what was made of one.
"""

from __future__ import annotations

import re

from mcpc_runtime.http.replies import refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.http.guard import Guard
    from mcpc_runtime.http.replies import Pairs, Reply
    from mcpc_runtime.http.settings import Settings

ONCE = frozenset(
    (b"host", b"origin", b"authorization", b"content-length", b"content-type", b"content-encoding",
     b"transfer-encoding", b"mcp-session-id", b"mcp-protocol-version", b"mcp-method", b"mcp-name", b"last-event-id")
)  # fmt: skip
"""Headers that decide something: two of one could decide it in two ways."""
ARGUMENT = b"mcp-param-"
"""How the headers begin that repeat an argument: those decide, too."""
STREAM = b"text/event-stream"
STREAM_TYPES, JSON_TYPES = (STREAM, b"text/*", b"*/*"), (b"application/json", b"application/*", b"*/*")
"""The ranges that a kind of answer is in: the narrowest that a client names is what it says of the kind."""
is_refused = re.compile(rb"\s*q\s*=\s*0(?:\.0{0,3})?\s*", re.IGNORECASE).fullmatch


class Said:
    """The head of a request.

    `refusal`: of whoever may not ask anything; `unreadable`: of a body that is not to be read; None if it is well.
    `length`: what the body is said to have, -1 if that is not said.  `streams`: the client takes events,
    `only_streams`: and nothing else.  `shared`: headers that let a page read.
    """

    __slots__ = (
        "fields",
        "length",
        "only_streams",
        "pairs",
        "refusal",
        "session",
        "shared",
        "streams",
        "unreadable",
        "version",
    )

    def __init__(self, pairs: Pairs, guard: Guard, settings: Settings) -> None:
        self.pairs = pairs
        self.fields = fields = dict(pairs)
        self.refusal = refused(pairs, fields, guard)
        self.unreadable = unreadable(fields, settings.body_limit)
        self.length = -1 if self.unreadable else int(fields.get(b"content-length", b"-1"))
        said = ranges(b",".join([value for name, value in pairs if name == b"accept"]))
        self.streams = not said or takes(said, STREAM_TYPES)
        self.only_streams = said.get(STREAM, False) and not takes(said, JSON_TYPES)
        token = fields.get(b"mcp-session-id")
        self.session = None if token is None else token.decode("latin-1")
        self.version = fields.get(b"mcp-protocol-version")
        self.shared: Pairs = []
        origin = guard.shares_with(fields)
        if origin:
            exposed = b"mcp-session-id, mcp-protocol-version, www-authenticate"
            self.shared = [(b"access-control-allow-origin", origin), (b"vary", b"origin"),
                           (b"access-control-expose-headers", exposed)]  # fmt: skip


def refused(pairs: Pairs, fields: dict[bytes, bytes], guard: Guard) -> Reply | None:
    """Return the refusal of whoever may not ask here."""
    twice = repeated(pairs, fields)
    if twice:
        return refuse(400, f"there are two {twice} headers")
    status, words = guard.judge(fields)
    return refuse(status, words) if status else None


def repeated(pairs: Pairs, fields: dict[bytes, bytes], more: tuple[bytes, ...] = ()) -> str:
    """Return the name of a header that decides something, or is one of `more`, and is there twice; or nothing."""
    if len(fields) < len(pairs):
        seen: set[bytes] = set()
        for name, _ in pairs:
            decides = name in ONCE or name in more or name.startswith(ARGUMENT)
            if decides and (name in seen or seen.add(name)):  # type: ignore[func-returns-value]
                return name.decode("latin-1")
    return ""


def unreadable(fields: dict[bytes, bytes], limit: int) -> Reply | None:
    """Return the refusal of a body by what is said of it."""
    wrong = mismeasured(fields, limit)
    if wrong is not None:
        return wrong
    kind, _, parameters = fields.get(b"content-type", b"").lower().partition(b";")
    if kind.strip() != b"application/json" or parameters.strip().replace(b'"', b"") not in (b"", b"charset=utf-8"):
        return refuse(415, "the Content-Type of a message is application/json")
    return None


def mismeasured(fields: dict[bytes, bytes], limit: int) -> Reply | None:
    """Return the refusal of a body by its length, or because it is packed."""
    length = fields.get(b"content-length", b"0")
    if b"transfer-encoding" in fields and b"content-length" in fields:
        return refuse(400, "the length of the body is given twice")
    if not length.isdigit():
        return refuse(400, "Content-Length is no number")
    if len(length) > 18 or int(length) > limit:
        return too_large(limit)
    if fields.get(b"content-encoding", b"identity").lower() != b"identity":
        return refuse(415, "no Content-Encoding is taken", [(b"accept-encoding", b"identity")])
    return None


def too_large(limit: int) -> Reply:
    """Return the refusal of a body that is too long; the rest of it is not read."""
    return refuse(413, f"the body is longer than {limit} bytes", [(b"connection", b"close")])


def ranges(accept: bytes) -> dict[bytes, bool]:
    """Return the ranges of types that an Accept header names, each with whether it is taken (RFC 9110, 12.5.1)."""
    found: dict[bytes, bool] = {}
    for one in accept.lower().split(b","):
        kind, *parameters = one.split(b";")
        if kind.strip():
            found[kind.strip()] = not any(map(is_refused, parameters))
    return found


def takes(said: dict[bytes, bool], kinds: tuple[bytes, ...]) -> bool:
    """Tell whether a client takes what is in these ranges, the narrowest first."""
    return next((said[kind] for kind in kinds if kind in said), False)
