"""One HTTP request: its method, path, headers and client, and the principal once that is known.

What the headers mean depends on nothing but the headers and the settings.  So it is parsed once and kept, because
clients send the same headers again and again.
"""

from __future__ import annotations

import re

from mcpc_runtime.http.principals import ANONYMOUS
from mcpc_runtime.http.replies import refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.http.origin_check import OriginCheck
    from mcpc_runtime.http.principals import Principal
    from mcpc_runtime.http.replies import Client, Pairs, Reply
    from mcpc_runtime.http.settings import HttpSettings

SINGLE_HEADERS = frozenset(
    (b"host", b"origin", b"authorization", b"content-length", b"content-type", b"content-encoding",
     b"transfer-encoding", b"mcp-session-id", b"mcp-protocol-version", b"mcp-method", b"mcp-name", b"last-event-id")
)  # fmt: skip
"""Headers that decide something: two of one name could decide it in two ways."""
ARGUMENT_PREFIX = b"mcp-param-"
"""The prefix of headers that repeat an argument: those decide, too."""
EVENTS_TYPE = b"text/event-stream"
EVENTS_RANGES, JSON_RANGES = (EVENTS_TYPE, b"text/*", b"*/*"), (b"application/json", b"application/*", b"*/*")
"""The media ranges that include a media type, the narrowest first: the narrowest that a client names decides."""
EXPOSED_HEADERS = b"mcp-session-id, mcp-protocol-version, www-authenticate"
is_zero_quality = re.compile(rb"\s*q\s*=\s*0(?:\.0{0,3})?\s*", re.IGNORECASE).fullmatch


class RequestHeaders:
    """The headers of a request, parsed.

    `denial`: the reply to a client that may not send requests here; `body_error`: the reply to a body that must not be
    read; both are None if there is nothing wrong.  `content_length`: -1 if it is not given.  `accepts_events`: the
    client takes an event stream; `only_events`: and no JSON.  `cors`: response headers that let a page read the reply.
    """

    __slots__ = (
        "accepts_events",
        "body_error",
        "content_length",
        "cors",
        "denial",
        "fields",
        "only_events",
        "pairs",
        "session_id",
        "version",
    )

    def __init__(self, pairs: Pairs, origin_check: OriginCheck, settings: HttpSettings) -> None:
        self.pairs = pairs
        self.fields = fields = dict(pairs)
        self.denial = denial_of(pairs, fields, origin_check)
        self.body_error = body_error(fields, settings.body_limit)
        self.content_length = -1 if self.body_error else int(fields.get(b"content-length", b"-1"))
        ranges = accepted_ranges(b",".join([value for name, value in pairs if name == b"accept"]))
        self.accepts_events = not ranges or is_accepted(ranges, EVENTS_RANGES)
        self.only_events = ranges.get(EVENTS_TYPE, False) and not is_accepted(ranges, JSON_RANGES)
        token = fields.get(b"mcp-session-id")
        self.session_id = None if token is None else token.decode("latin-1")
        self.version = fields.get(b"mcp-protocol-version")
        self.cors: Pairs = []
        origin = origin_check.shares_with(fields)
        if origin:
            self.cors = [(b"access-control-allow-origin", origin), (b"vary", b"origin"),
                         (b"access-control-expose-headers", EXPOSED_HEADERS)]  # fmt: skip


class HttpRequest:
    """One request.  `principal`: on whose behalf it is; `body`: kept for the log, if the request was refused."""

    __slots__ = ("body", "client", "headers", "method", "path", "principal", "query")

    def __init__(self, method: str, path: str, query: bytes, headers: RequestHeaders, client: Client = None) -> None:
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.client = client
        self.principal: Principal = ANONYMOUS
        self.body = b""


def denial_of(pairs: Pairs, fields: dict[bytes, bytes], origin_check: OriginCheck) -> Reply | None:
    """Return the reply to a client that may not send requests here, None for any other."""
    twice = repeated_header(pairs, fields)
    if twice:
        return refuse(400, f"more than one {twice} header")
    status, reason = origin_check.check(fields)
    return refuse(status, reason) if status else None


def repeated_header(pairs: Pairs, fields: dict[bytes, bytes], more: tuple[bytes, ...] = ()) -> str:
    """Return the name of a header that is given twice and decides something, or is one of `more`; empty if none is."""
    if len(fields) < len(pairs):
        seen: set[bytes] = set()
        for name, _ in pairs:
            if name in SINGLE_HEADERS or name in more or name.startswith(ARGUMENT_PREFIX):
                if name in seen:
                    return name.decode("latin-1")
                seen.add(name)
    return ""


def body_error(fields: dict[bytes, bytes], limit: int) -> Reply | None:
    """Return the reply to a body that its headers rule out, None if it may be read."""
    wrong = length_error(fields, limit)
    if wrong is not None:
        return wrong
    kind, _, parameters = fields.get(b"content-type", b"").lower().partition(b";")
    if kind.strip() != b"application/json" or parameters.strip().replace(b'"', b"") not in (b"", b"charset=utf-8"):
        return refuse(415, "the Content-Type must be application/json")
    return None


def length_error(fields: dict[bytes, bytes], limit: int) -> Reply | None:
    """Return the reply to a body whose length or encoding is not accepted, None if it may be read."""
    length = fields.get(b"content-length", b"0")
    if b"transfer-encoding" in fields and b"content-length" in fields:
        return refuse(400, "both Content-Length and Transfer-Encoding are given")
    if not length.isdigit():
        return refuse(400, "Content-Length is not a number")
    if len(length) > 18 or int(length) > limit:
        return too_large(limit)
    if fields.get(b"content-encoding", b"identity").lower() != b"identity":
        return refuse(415, "Content-Encoding is not supported", [(b"accept-encoding", b"identity")])
    return None


def too_large(limit: int) -> Reply:
    """Return the reply to a body that is too long; the rest of it is not read."""
    return refuse(413, f"the body is longer than {limit} bytes", [(b"connection", b"close")])


def accepted_ranges(accept: bytes) -> dict[bytes, bool]:
    """Return the media ranges of an Accept header, each with whether it is accepted (RFC 9110, 12.5.1)."""
    ranges: dict[bytes, bool] = {}
    for item in accept.lower().split(b","):
        kind, *parameters = item.split(b";")
        if kind.strip():
            ranges[kind.strip()] = not any(map(is_zero_quality, parameters))
    return ranges


def is_accepted(ranges: dict[bytes, bool], kinds: tuple[bytes, ...]) -> bool:
    """Tell whether a client accepts one of these ranges, the narrowest first."""
    return next((ranges[kind] for kind in kinds if kind in ranges), False)
