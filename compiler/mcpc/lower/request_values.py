"""Read the values of a request: where each comes from, and how it is written in its place."""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from mcpc.diagnostics import diagnose
from mcpc.diagnostics.model import did_you_mean, quoted
from mcpc.model.definitions import KIND_NAMES
from mcpc.model.ir.handlers import SettingUse
from mcpc_runtime.handlers.http.addresses import is_internal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpc.diagnostics import Diagnostic, Span
    from mcpc.reading import Node

Plan = dict[str, Any]
Row = dict[str, Any]
"""A value: its source, and what its place needs to know (see `mcpc_runtime.handlers.http.parameters`)."""
BASE = '`"https://api.example.org/v1"`, or `{"setting": "API_URL", "default": …}`'
IN_QUERY = ("form", "spaceDelimited", "pipeDelimited", "deepObject")
STYLES = {
    "path": ("simple", "label", "matrix"),
    "headers": ("simple",),
    "query": IN_QUERY,
    "cookies": ("form",),
    "form": IN_QUERY,
}
"""The styles of each place; values of other places have none."""
WITH_CONTENT = (*STYLES, "multipart", "querystring")
WITH_BYTES = ("multipart", "bytes")
SOURCES = ("argument", "setting", "constant")
OPTIONS = {
    "style": tuple(STYLES),
    "explode": tuple(STYLES),
    "allowReserved": ("path", "query", "form"),
    "content": WITH_CONTENT,
    "bytes": ("multipart",),
    "type": ("multipart",),
}
"""Options of values, each with the places that have it."""
KINDS = {"style": "string", "explode": "boolean", "allowReserved": "boolean", "content": "string", "bytes": "boolean",
         "type": "string"}  # fmt: skip
# A token (RFC 9110, section 5.6.2), such as the name of a header.
TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
FORBIDDEN_HEADERS = frozenset(
    {*("accept-encoding", "connection", "content-length", "content-type", "cookie", "expect", "host", "keep-alive"),
     *("proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade")}
)  # fmt: skip
OTHERWISE = {"cookie": "`cookies`", "content-type": "`type` of the body", "authorization": "`security`"}
"""Where else what a header would say is said."""


class RequestValues:
    """Reads values; `used`: the arguments that have a place, `settings`: the settings that have one.

    `owner`: what has the arguments, in messages.
    """

    def __init__(self, arguments: Mapping[str, Span], is_open: bool, owner: str) -> None:
        self._owner = owner
        self.arguments = arguments
        self.is_open = is_open
        self.used: set[str] = set()
        self.settings: list[SettingUse] = []
        self.problems: list[Diagnostic] = []

    def refuse(self, node: Node, message: str, expected: str = "", hint: str = "") -> None:
        """Report what a request cannot be."""
        self.problems.append(diagnose("MCP164", node.span, message, expected, hint))

    def misplace(self, span: Span, message: str, hint: str) -> None:
        """Report an argument without a place, or a place without a value."""
        self.problems.append(diagnose("MCP165", span, message, "", hint))

    def rows(self, named: Node, place: str) -> tuple[tuple[str, Row], ...]:
        """Return the values of a place by name, in the order in which they are sent."""
        rows = ((member.key, self.value(member.node, place)) for member in named.members)
        return tuple((name, row) for name, row in rows if row is not None)

    def value(self, node: Node, place: str) -> Row | None:
        """Return the row of a value, None if it is wrong."""
        if node.kind != "object":
            return {"constant": node.value}
        sources = [source for source in SOURCES if node.get(source) is not None]
        if len(sources) != 1:
            message = f"a value is {quoted(sources, ' and ')}" if sources else "a value has no source"
            self.refuse(node, message, f"one of {quoted(SOURCES)}")
            return None
        row = self._source(node, sources[0])
        return row and self._with_options(node, place, row)

    def _source(self, node: Node, source: str) -> Row | None:
        written = node.get(source) or node
        if source == "constant":
            return {source: written.value}
        if not isinstance(written.value, str):
            self.refuse(written, f"`{source}` is {KIND_NAMES[written.kind]}", "a name")
            return None
        name = written.value
        if source == "setting":
            self.settings.append(SettingUse(name, written.span))
        elif name not in self.arguments and not self.is_open:
            otherwise = "add it to `properties` of the input schema" if self._owner == "the tool" else "add it there"
            hint = did_you_mean(name, self.arguments, otherwise)
            self.misplace(written.span, f"{self._owner} has no argument `{name}`", hint)
        self.used.add(name)
        return {source: name}

    def _with_options(self, node: Node, place: str, row: Row) -> Row | None:
        for member in node.members:
            key, written = member.key, member.node.value
            if key in SOURCES:
                continue
            if place not in OPTIONS.get(key, ()):
                there = [option for option, places in OPTIONS.items() if place in places]
                hint = did_you_mean(key, there)
                self.refuse(member.node, f"a value of `{place}` has no `{key}`", quoted((*SOURCES, *there)), hint)
            elif member.node.kind != KINDS[key]:
                self.refuse(member.node, f"`{key}` is {KIND_NAMES[member.node.kind]}", KIND_NAMES[KINDS[key]])
            elif key == "style" and written not in STYLES[place]:
                message = f"a value of `{place}` has no style `{written}`"
                self.refuse(member.node, message, f"one of {quoted(STYLES[place])}")
            elif key == "type" and not is_header_text(str(written)):
                self.refuse(member.node, "the type is not a media type")
            else:
                row["reserved" if key == "allowReserved" else key] = written
        return row

    def check_header(self, name: str, span: Span) -> None:
        """Report a name that a header of a plan cannot have."""
        if not TOKEN.fullmatch(name):
            self.problems.append(diagnose("MCP164", span, f"`{name}` cannot be the name of a header"))
        # A security scheme may set `Authorization`, so it is not in the set.
        elif name.lower() in FORBIDDEN_HEADERS or name.lower() == "authorization":
            other = OTHERWISE.get(name.lower())
            hint = f"write it as {other}" if other else "the client sets it"
            self.problems.append(diagnose("MCP164", span, f"a plan cannot set the header `{name}`", "", hint))


def is_header_text(text: str) -> bool:
    """Tell whether a text can be in a header."""
    # Of control characters a field value may have tabs only (RFC 9110, section 5.5).
    return all(character >= " " and character != "\x7f" for character in text.replace("\t", " "))


def address_fault(address: str) -> str:
    """Return why an address cannot be that of a server, an empty text if it can."""
    try:
        parts = urlsplit(address)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return f"`{address}` is not an address"
    if parts.scheme not in ("http", "https") or not host or port == 0:
        return f"`{address}` is not an `http` or `https` address"
    if "@" in parts.netloc or parts.query or parts.fragment or not is_header_text(address) or " " in address:
        return "has a user, a query, a fragment, a space or a control character"
    return f"is {host}, which only the machine itself should ask" if names_internal(host) else ""


def names_internal(host: str) -> bool:
    """Tell whether a host is an address of the local link, or a name of a cloud's metadata."""
    if host.rstrip(".").lower() in ("metadata.google.internal", "metadata", "instance-data"):
        return True
    try:
        # What follows `%` is the zone of an address of the local link: `fe80::1%eth0`.
        ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return is_internal(host)
