"""Build a request from its plan, the arguments of a call, and the settings.

Values only ever become parts of a request after they were encoded for their place; what cannot be encoded there is
refused, before anything is sent.  A value that is not given is left out.
"""

from __future__ import annotations

import re
from binascii import Error, a2b_base64
from collections.abc import Mapping
from functools import lru_cache
from os import urandom
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from mcpc_runtime.handlers.http.parameters import (
    RESERVED_IN_PATH,
    RESERVED_IN_QUERY,
    Row,
    escape_by,
    path_text,
    query_pairs,
    text_of,
)
from mcpc_runtime.protocol.jsonrpc import Json, encode

ABSENT: Any = object()
# RFC 9110, section 9.2.2.
IDEMPOTENT = ("GET", "HEAD", "OPTIONS", "PUT", "DELETE")
MAX_DECODINGS = 3
# All control characters but the tab, which the value of a field may have (RFC 9110, section 5.5).
CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
ACCEPT = "application/json, */*;q=0.5"
BYTES = "application/octet-stream"
FORM = "application/x-www-form-urlencoded"


class RequestRefused(ValueError):  # noqa: N818 - it is an answer for a model, which begins with this word
    """A request cannot be made of these arguments or settings; the message says why."""


class Origin(NamedTuple):
    """Scheme, host and port of a server, and the client certificate for it: what connections have that can be shared.

    `named`: the operator named an address of the local link, which is refused otherwise.
    """

    scheme: str
    host: str
    port: int
    named: bool
    certificate: tuple[str, str] | None = None

    @property
    def authority(self) -> str:
        """Host and port as a request names them."""
        host = self.host if self.host.isascii() else str(self.host.encode("idna"), "ascii")
        host = f"[{host.partition('%')[0]}]" if ":" in host else host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    def __str__(self) -> str:
        """Return it as the beginning of an address."""
        return f"{self.scheme}://{self.authority}"


PORTS = {"http": 80, "https": 443}


@lru_cache(64)
def parse_base(url: str, named: bool) -> tuple[Origin, str]:
    """Return the origin of a base address, and its path without the last slash; raise RequestRefused."""
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme not in PORTS or not parts.hostname or "@" in parts.netloc or parts.query or parts.fragment:
        raise RequestRefused("the base address is not an `http` or `https` address without user, query and fragment")
    origin = Origin(parts.scheme, parts.hostname, PORTS[parts.scheme] if port is None else port, named)
    return origin, escape_by("/%:@!$&'()*+,;=")(parts.path.rstrip("/"))


class OutgoingRequest:
    """A request that can be sent.  `renamed`: arguments by the names that the server knows them by."""

    __slots__ = ("body", "cookies", "headers", "method", "origin", "path", "query", "renamed", "repeatable")

    def __init__(self, method: str, origin: Origin, path: str) -> None:
        self.method = method
        self.origin = origin
        self.path = path
        self.query: list[str] = []
        self.headers: dict[str, str] = {}
        self.cookies: list[str] = []
        self.body: bytes | None = None
        self.renamed: dict[str, str] = {}
        self.repeatable = method in IDEMPOTENT

    @property
    def target(self) -> str:
        """The path and the query."""
        return self.path + ("?" + "&".join(self.query) if self.query else "")

    def set_header(self, name: str, value: str) -> None:
        """Set a header; raise RequestRefused for a value that no header can have."""
        if CONTROL.search(value):
            raise RequestRefused(f"the value of the header `{name}` has a line break or another control character")
        self.headers[name] = value


class RequestBuilder:
    """Builds the requests of one call; `settings`: the values of settings that are set."""

    def __init__(self, plan: Row, arguments: Mapping[str, Json], settings: Mapping[str, str]) -> None:
        self.plan = plan
        self.arguments = arguments
        self.settings = settings

    def build(self) -> OutgoingRequest:
        """Return the request; raise RequestRefused."""
        plan = self.plan
        setting, url = plan["base"]
        base = self.settings.get(setting, url) if setting else url
        if not base:
            raise RequestRefused(f"the setting `{setting}` is not set: it has the address of the server")
        origin, prefix = parse_base(base, bool(setting) and setting in self.settings)
        request = OutgoingRequest(plan["method"], origin, prefix + self._path())
        refuse_dots(request.path)
        request.headers = {"Accept": ACCEPT}
        for name, row in plan.get("query", ()):
            request.query += self._pairs(request, name, row, RESERVED_IN_QUERY)
        self._querystring(request)
        for name, row in plan.get("headers", ()):
            value = self._value(request, name, row)
            if value is not ABSENT and value is not None:
                request.set_header(name, path_text(name, value, row, str))
        for name, row in plan.get("cookies", ()):
            request.cookies += self._pairs(request, name, row, "")
        if "idempotency" in plan:
            request.set_header(plan["idempotency"], urandom(16).hex())
            request.repeatable = True
        if "body" in plan:
            self._body(request, plan["body"])
        return request

    def _path(self) -> str:
        pieces = []
        for piece in self.plan["path"]:
            if type(piece) is str:
                pieces.append(piece)
                continue
            name, row = piece
            value = self._resolve(row)
            text = "" if value is ABSENT else path_text(name, value, row, escape_by(reserved(row, RESERVED_IN_PATH)))
            if not text:
                raise RequestRefused(f"`{row.get('argument', name)}` is part of the path and cannot be empty")
            pieces.append(text)
        return "".join(pieces)

    def _resolve(self, row: Row) -> Any:
        if "argument" in row:
            return self.arguments.get(row["argument"], ABSENT)
        return self.settings.get(row["setting"], ABSENT) if "setting" in row else row["constant"]

    def _value(self, request: OutgoingRequest, name: str, row: Row) -> Any:
        """Return the value for a name, ABSENT if it is not given; the name is kept if the argument has another."""
        if row.get("argument", name) != name:
            request.renamed[name] = row["argument"]
        return self._resolve(row)

    def _pairs(self, request: OutgoingRequest, name: str, row: Row, unescaped: str) -> list[str]:
        value = self._value(request, name, row)
        return [] if value is ABSENT else query_pairs(name, value, {**row, "reserved": reserved(row, unescaped)})

    def _querystring(self, request: OutgoingRequest) -> None:
        """Add the value that is a whole query."""
        row: Row = self.plan.get("querystring", {"constant": ABSENT})
        value = self._resolve(row)
        if value is ABSENT:
            return
        if row.get("content") == FORM and type(value) is dict:
            request.query += [pair for key, item in value.items() for pair in query_pairs(key, item, {})]
        else:
            request.query.append(escape_by("")(text_of(value)))

    def _body(self, request: OutgoingRequest, body: Row) -> None:
        """Set the body and its type; a body of which nothing is given is not sent unless it is required."""
        kind, rows = body["kind"], body["value"]
        if isinstance(rows, dict):
            values = self._resolve(rows)
            if values is ABSENT:
                return
        else:
            values = [(name, row, self._value(request, name, row)) for name, row in rows]
            values = [item for item in values if item[2] is not ABSENT]
            if not values and not body.get("required"):
                return
        request.body, media = BODIES[kind](values, rows)
        request.set_header("Content-Type", body.get("type") or media)


def reserved(row: Row, unescaped: str) -> str:
    """Return the characters that are not encoded in a value."""
    return unescaped if row.get("reserved") else ""


def refuse_dots(path: str) -> None:
    """Refuse a path with a part that means another folder, however often it is decoded."""
    for _ in range(MAX_DECODINGS if "." in path or "%" in path else 0):
        decoded = unquote(path)
        # Some servers take a backslash for a slash, and drop what follows a semicolon before they look for dots.
        if any(part.partition(";")[0] in (".", "..") for part in decoded.replace("\\", "/").split("/")):
            raise RequestRefused("a value of the path is, or contains, `.` or `..` as a part, which leads elsewhere")
        if decoded == path:
            return
        path = decoded


def json_body(values: Any, rows: Any) -> tuple[bytes, str]:
    """Return a value, or an object of those that are given, as JSON."""
    value = values if isinstance(rows, dict) else {name: item for name, _, item in values}
    return encode(value), "application/json"


def form_body(values: Any, rows: Any) -> tuple[bytes, str]:
    """Return values as a form."""
    pairs = [pair for name, row, value in values for pair in query_pairs(name, value, row)]
    return "&".join(pairs).encode(), FORM


def text_body(values: Any, rows: Any) -> tuple[bytes, str]:
    """Return a value as text."""
    return text_of(values).encode("utf-8", "replace"), "text/plain; charset=utf-8"


def bytes_body(values: Any, rows: Any) -> tuple[bytes, str]:
    """Return the bytes of a value."""
    data, _, media = file_of(rows.get("argument", "body"), values)
    return data, media or BYTES


def multipart_body(values: Any, rows: Any) -> tuple[bytes, str]:
    """Return values as parts; of a list each item is one."""
    # Random, so that no value contains it.
    boundary = urandom(16).hex()
    parts = [
        multipart_section(boundary, name, row, item)
        for name, row, value in values
        for item in (value if type(value) is list and "content" not in row else [value])
        if item is not None
    ]
    return b"".join(parts) + f"--{boundary}--\r\n".encode(), f"multipart/form-data; boundary={boundary}"


def multipart_section(boundary: str, name: str, row: Row, value: Json) -> bytes:
    """Return one part: a file if its row says that it is bytes, else JSON or a text."""
    media, disposition = row.get("type", ""), f'form-data; name="{quoted(name)}"'
    if row.get("bytes"):
        data, file, own = file_of(row.get("argument", name), value)
        disposition += f'; filename="{quoted(file or name)}"'
        media = own or media or BYTES
    else:
        is_json = type(value) is dict or type(value) is list or row.get("content") == "application/json"
        data = encode(value) if is_json else text_of(value).encode("utf-8", "replace")
        media = media or ("application/json" if is_json else "")
    if not media.isprintable():
        raise RequestRefused(f"the type of `{name}` is not a media type")
    kind = f"Content-Type: {media}\r\n" if media else ""
    head = f"--{boundary}\r\nContent-Disposition: {disposition}\r\n{kind}\r\n".encode("utf-8", "replace")
    return head + data + b"\r\n"


def quoted(name: str) -> str:
    """Return a name for a quoted string in the head of a part, as browsers write it."""
    return name.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A").replace("\0", "%00")


def file_of(argument: str, value: Json) -> tuple[bytes, str, str]:
    """Return the bytes, the name and the media type of a file: base64, or an object with `data` or `text`."""
    fields = value if type(value) is dict else {"data": value}
    text, data = fields.get("text"), fields.get("data")
    name, media = fields.get("name"), fields.get("type")
    if type(text) is str:
        content = text.encode("utf-8", "replace")
    elif type(data) is str:
        try:
            content = a2b_base64(data, strict_mode=True)
        except (Error, ValueError):
            raise RequestRefused(f'`{argument}` is not base64; for a text write {{"text": "…"}}') from None
    else:
        raise RequestRefused(f'`{argument}` is neither base64 nor {{"data": …}} or {{"text": …}}')
    return content, name if type(name) is str else "", media if type(media) is str else ""


BODIES = {"json": json_body, "form": form_body, "text": text_body, "bytes": bytes_body, "multipart": multipart_body}
"""How the values of a body become bytes and a media type, by its kind."""
