"""One HTTP request: its headers, parsed once, and refusals by them; its body, read within limits of size and time."""

from __future__ import annotations

import re
from asyncio import timeout
from binascii import Error, a2b_base64, b2a_base64
from collections.abc import Callable

from mcpc_runtime.http.memory_budget import MemoryAccount
from mcpc_runtime.http.origins import OriginCheck
from mcpc_runtime.http.principals import ANONYMOUS, Principal
from mcpc_runtime.http.replies import RETRY, Client, Pairs, Receive, Reply, error, refuse
from mcpc_runtime.http.settings import HttpSettings
from mcpc_runtime.protocol.constants import CAPABILITIES_KEY, INTERNAL_ERROR, INVALID_REQUEST, VERSION_KEY
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.protocol.jsonrpc import Json
from mcpc_runtime.protocol.session import MAX_VALUES, TOO_MANY_VALUES
from mcpc_runtime.protocol.values import has_too_many_values

Fields = dict[bytes, bytes]
Allows = Callable[[str], bool] | None


SINGLE_HEADERS = frozenset(
    (b"host", b"origin", b"authorization", b"content-length", b"content-type", b"content-encoding",
     b"transfer-encoding", b"mcp-session-id", b"mcp-protocol-version", b"mcp-method", b"mcp-name", b"last-event-id")
)  # fmt: skip
"""Headers that must not be repeated: they decide something, and two could decide it differently."""
ARGUMENT_PREFIX = b"mcp-param-"
"""The prefix of headers that repeat an argument, which must not be repeated either."""
EVENTS_TYPE = b"text/event-stream"
EVENTS_RANGES, JSON_RANGES = (EVENTS_TYPE, b"text/*", b"*/*"), (b"application/json", b"application/*", b"*/*")
"""The media ranges that include a media type, the narrowest first: the narrowest that a client names decides."""
EXPOSED_HEADERS = b"mcp-session-id, mcp-protocol-version, retry-after, www-authenticate"
VERSION_HEADER = b"mcp-protocol-version"
METHOD_HEADER = b"mcp-method"
NAME_HEADER = b"mcp-name"
NAMED = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    "tasks/get": "taskId",
    "tasks/update": "taskId",
    "tasks/cancel": "taskId",
}
"""The member of a method's parameters that Mcp-Name repeats."""
SENTINEL, END = b"=?base64?", b"?="
INTEGER = re.compile(r"-?[0-9]{1,19}")
DECIMAL = re.compile(r"-?[0-9]{1,19}(?:\.[0-9]{1,19})?(?:[eE][+-]?[0-9]{1,3})?")
MAX_QUOTED = 80
# A weight of 0 means "not acceptable" (RFC 9110, section 12.4.2).
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
        # Without an Accept header any type is accepted (RFC 9110, section 12.5.1).
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
    """One request.  `principal`: its owner; `body`: set for the log if the request was refused."""

    __slots__ = ("body", "client", "headers", "method", "path", "principal", "query")

    def __init__(self, method: str, path: str, query: bytes, headers: RequestHeaders, client: Client = None) -> None:
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.client = client
        self.principal: Principal = ANONYMOUS
        self.body = b""

    @property
    def is_remote(self) -> bool:
        """Whether it comes from another machine."""
        # On a socket for IPv6, addresses of IPv4 have this prefix.
        host = "" if self.client is None else self.client[0].removeprefix("::ffff:")
        return not (host.startswith("127.") or host in ("::1", ""))


def denial_of(pairs: Pairs, fields: Fields, origin_check: OriginCheck) -> Reply | None:
    """Return the reply to a client that may not send requests here, None for any other."""
    twice = repeated_header(pairs, fields)
    if twice:
        return refuse(400, f"more than one {twice} header")
    status, reason = origin_check.check(fields)
    return refuse(status, reason) if status else None


def repeated_header(pairs: Pairs, fields: Fields, more: tuple[bytes, ...] = ()) -> str:
    """Return the name of a repeated header that is in SINGLE_HEADERS or in `more`, an empty string if there is none."""
    # Otherwise no name is repeated, as in most requests.
    if len(fields) < len(pairs):
        seen: set[bytes] = set()
        for name, _ in pairs:
            if name in SINGLE_HEADERS or name in more or name.startswith(ARGUMENT_PREFIX):
                if name in seen:
                    return name.decode("latin-1")
                seen.add(name)
    return ""


def body_error(fields: Fields, limit: int) -> Reply | None:
    """Return the reply to a body that its headers rule out, None if it may be read."""
    wrong = length_error(fields, limit)
    if wrong is not None:
        return wrong
    kind, _, parameters = fields.get(b"content-type", b"").lower().partition(b";")
    if kind.strip() != b"application/json" or parameters.strip().replace(b'"', b"") not in (b"", b"charset=utf-8"):
        return refuse(415, "the Content-Type must be application/json")
    return None


def length_error(fields: Fields, limit: int) -> Reply | None:
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


class UndecodableError(ValueError):
    """A header's value has characters that headers cannot have, or a malformed Base64 word."""


def is_stateless(message: Json) -> bool:
    """Tell whether a message names its protocol version itself, in `_meta`."""
    params = message.get("params") if type(message) is dict else None
    meta = params.get("_meta") if type(params) is dict else None
    return type(meta) is dict and (VERSION_KEY in meta or CAPABILITIES_KEY in meta)


def header_mismatch(message: dict[str, Json], headers: Fields, image: Image, allows: Allows = None) -> str:
    """Return how the headers of a stateless request differ from its body, an empty string if they do not.

    A malformed request is not compared: its errors are reported first.  `allows`: the tools that the client may see,
    all if None.
    """
    method, params, identifier = message.get("method"), message.get("params"), message.get("id")
    if type(method) is not str or type(params) is not dict or type(identifier) not in (str, int):
        return ""
    meta: dict[str, Json] = params["_meta"]  # type: ignore[assignment]
    version = meta.get(VERSION_KEY)
    if type(version) is not str or type(meta.get(CAPABILITIES_KEY)) is not dict:
        return ""
    for name, expected in ((VERSION_HEADER, version), (METHOD_HEADER, method)):
        value = headers.get(name)
        if value is None:
            return f"{spelled(name)} is missing"
        if value.decode("latin-1").strip(" \t") != expected:
            return f"{spelled(name)} is {quoted(value)}, the body says {expected[:MAX_QUOTED]!r}"
    problem = name_mismatch(headers.get(NAME_HEADER), params.get(NAMED[method])) if method in NAMED else ""
    if problem or method != "tools/call":
        return problem
    return arguments_mismatch(headers, params, image, allows)


def name_mismatch(value: bytes | None, expected: Json) -> str:
    """Return how Mcp-Name differs from the name in the body, if the body has one."""
    if value is None:
        return "Mcp-Name is missing" if type(expected) is str else ""
    try:
        is_equal = decode_value(value) == expected
    except UndecodableError as problem:
        return f"Mcp-Name {problem}"
    return "" if is_equal else f"Mcp-Name is {quoted(value)}, which differs from the body"


def arguments_mismatch(headers: Fields, params: dict[str, Json], image: Image, allows: Allows) -> str:
    """Return how the headers that repeat arguments differ from the arguments, if the tool has such headers."""
    name, arguments = params.get("name"), params.get("arguments")
    tool = image.tool(name) if type(name) is str and (allows is None or allows(name)) else None
    for header, path in () if tool is None else tool.headers:
        value = headers.get(ARGUMENT_PREFIX + header.lower().encode())
        problem = argument_mismatch(value, argument_value(arguments, path))
        if problem:
            return f"Mcp-Param-{header} {problem}"
    return ""


def argument_mismatch(value: bytes | None, argument: Json) -> str:
    """Return how a header differs from the argument it repeats; the schema decides about values of other types."""
    if argument is None:
        return "" if value is None else "is given, but the body has no such argument"
    if value is None:
        return "is missing" if type(argument) in (str, int, bool, float) else ""
    try:
        text = decode_value(value)
    except UndecodableError as problem:
        return str(problem)
    return "" if is_equal_value(text, argument) else f"is {quoted(value)}, which differs from the body"


def is_equal_value(text: str, argument: Json) -> bool:
    """Tell whether a header's text has the value of an argument; numbers are compared as numbers."""
    if type(argument) is bool:
        return text == ("true" if argument else "false")
    if type(argument) is int or type(argument) is float:
        if INTEGER.fullmatch(text):
            return int(text) == argument
        return DECIMAL.fullmatch(text) is not None and float(text) == argument
    return text == argument or type(argument) is not str


def argument_value(arguments: Json, path: tuple[str, ...]) -> Json:
    """Return the value at a path of members; None if there is none."""
    for step in path:
        arguments = arguments.get(step) if type(arguments) is dict else None
    return arguments


def decode_value(value: bytes) -> str:
    """Return the text that a header's value encodes; raise UndecodableError."""
    value = value.strip(b" \t")
    if value.startswith(SENTINEL) and value.endswith(END) and len(value) >= len(SENTINEL) + len(END):
        word = value[len(SENTINEL) : -len(END)]
        try:
            plain = a2b_base64(word, strict_mode=True)
            # Bits that no byte uses may be set: who compares only texts would see two values where there is one.
            if b2a_base64(plain, newline=False) != word:
                raise UndecodableError("has a Base64 word that is not canonical")
            return plain.decode()
        except (Error, UnicodeDecodeError):
            raise UndecodableError("has a broken Base64 word") from None
    text = value.decode("latin-1")
    if text.isascii() and text.isprintable():
        return text
    if any((byte < 0x20 and byte != 0x09) or byte >= 0x7F for byte in value):
        raise UndecodableError("has characters that a header cannot have; it must be a Base64 word then")
    return text


def quoted(value: bytes) -> str:
    """Return a header's value for a message."""
    return repr(value[:MAX_QUOTED].decode("latin-1"))


def spelled(name: bytes) -> str:
    """Return a header's name as the specification spells it."""
    return "MCP-Protocol-Version" if name == VERSION_HEADER else name.decode().title()


FULL = "the server keeps as much as it may (--memory-limit): try again in a moment"
CLOSE = [(b"connection", b"close")]


def no_room(identifier: Json = None) -> Reply:
    """Return the refusal of a request for which the memory budget has no room."""
    return error(503, INTERNAL_ERROR, f"Internal error: {FULL}", identifier, RETRY)


def refuse_values(body: bytes) -> Reply | None:
    """Return the refusal of a message with too many values, before it is parsed."""
    if len(body) <= MAX_VALUES or not has_too_many_values(body):
        return None
    return error(413, INVALID_REQUEST, TOO_MANY_VALUES)


async def read_body(
    receive: Receive, length: int, limit: int, seconds: float, account: MemoryAccount
) -> bytes | Reply | None:
    """Return the body; a refusal if it is too long or does not arrive; None if the client has disconnected.

    A body of `length` bytes is complete: some servers report its end only in another message.  Read bytes are charged
    to `account`, which the caller clears.
    """
    message = await receive()
    body: bytes = message.get("body", b"")
    if message.get("more_body") and len(body) != length:
        read = bytearray(body)
        try:
            async with timeout(seconds):
                while message.get("more_body") and len(read) <= limit and len(read) != length:
                    message = await receive()
                    read += message.get("body", b"")
                    if not account.set(len(read)):
                        return error(503, INTERNAL_ERROR, f"Internal error: {FULL}", None, RETRY + CLOSE)
        except TimeoutError:
            return refuse(408, "the body did not arrive in time", CLOSE)
        body = bytes(read)
    if message["type"] == "http.disconnect":
        return None
    return too_large(limit) if len(body) > limit else body
