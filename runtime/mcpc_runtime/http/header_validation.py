"""Reject stateless requests whose Mcp-* headers disagree with the body.

Intermediaries decide by the headers, the server by the body (2026-07-28, Streamable HTTP, Server Validation); so a
difference is refused before anything is looked up by either.  Pure functions of headers and a parsed message.
"""

from __future__ import annotations

import re
from binascii import Error, a2b_base64, b2a_base64

from mcpc_runtime.protocol.constants import CAPABILITIES_KEY, VERSION_KEY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc_runtime.protocol.image import Image
    from mcpc_runtime.protocol.jsonrpc import Json

    Headers = dict[bytes, bytes]
    Allows = Callable[[str], bool] | None

VERSION_HEADER = b"mcp-protocol-version"
METHOD_HEADER = b"mcp-method"
NAME_HEADER = b"mcp-name"
PARAMETER_HEADER = "mcp-param-"
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
SHOWN = 80


class UndecodableError(ValueError):
    """A header's value has characters that headers cannot have, or a malformed Base64 word."""


def is_stateless(message: Json) -> bool:
    """Tell whether a message names its protocol version itself, in `_meta`."""
    params = message.get("params") if type(message) is dict else None
    meta = params.get("_meta") if type(params) is dict else None
    return type(meta) is dict and (VERSION_KEY in meta or CAPABILITIES_KEY in meta)


def mismatch(message: dict[str, Json], headers: Headers, image: Image, allows: Allows = None) -> str:
    """Return what is wrong with the headers of a stateless request; nothing if it has faults that come before.

    `allows`: the tools that whoever asks may know of, all if None.
    """
    method, params, identifier = message.get("method"), message.get("params"), message.get("id")
    if type(method) is not str or type(params) is not dict or type(identifier) not in (str, int):
        return ""
    meta: dict[str, Json] = params["_meta"]  # type: ignore[assignment]
    version = meta.get(VERSION_KEY)
    if type(version) is not str or type(meta.get(CAPABILITIES_KEY)) is not dict:
        return ""
    return (
        differs(headers, VERSION_HEADER, version)
        or differs(headers, METHOD_HEADER, method)
        or (wrong_name(headers, params.get(NAMED[method])) if method in NAMED else "")
        or (wrong_parameter(headers, params, image, allows) if method == "tools/call" else "")
    )


def differs(headers: Headers, name: bytes, wanted: str) -> str:
    """Return what is wrong with a header that is not encoded."""
    given = headers.get(name)
    if given is None:
        return f"{spelled(name)} is missing"
    if given.decode("latin-1").strip(" \t") != wanted:
        return f"{spelled(name)} is {quoted(given)}, the body says {wanted[:SHOWN]!r}"
    return ""


def wrong_name(headers: Headers, wanted: Json) -> str:
    """Return what is wrong with Mcp-Name, which repeats a name if the body has one."""
    given = headers.get(NAME_HEADER)
    if given is None:
        return "Mcp-Name is missing" if type(wanted) is str else ""
    try:
        same = decoded(given) == wanted
    except UndecodableError as problem:
        return f"Mcp-Name {problem}"
    return "" if same else f"Mcp-Name is {quoted(given)}, which differs from the body"


def wrong_parameter(headers: Headers, params: dict[str, Json], image: Image, allows: Allows) -> str:
    """Return what is wrong with the headers that repeat arguments, if the tool has any."""
    name, arguments = params.get("name"), params.get("arguments")
    tool = image.tool(name) if type(name) is str and (allows is None or allows(name)) else None
    for header, path in () if tool is None else tool.headers:
        problem = value_mismatch(
            headers.get((PARAMETER_HEADER + header.lower()).encode()), argument_value(arguments, path)
        )
        if problem:
            return f"Mcp-Param-{header} {problem}"
    return ""


def value_mismatch(given: bytes | None, wanted: Json) -> str:
    """Return how the header of one argument differs from the argument; values of other types are left to the schema."""
    if wanted is None:
        return "" if given is None else "is given, but the body has no such argument"
    if given is None:
        return "is missing" if type(wanted) in (str, int, bool, float) else ""
    try:
        text = decoded(given)
    except UndecodableError as problem:
        return str(problem)
    return "" if is_value(text, wanted) else f"is {quoted(given)}, which differs from the body"


def is_value(text: str, wanted: Json) -> bool:
    """Tell whether a header's text is a value: strings as they are, numbers by what they are worth."""
    if type(wanted) is bool:
        return text == ("true" if wanted else "false")
    if type(wanted) is int or type(wanted) is float:
        if INTEGER.fullmatch(text):
            return int(text) == wanted
        return DECIMAL.fullmatch(text) is not None and float(text) == wanted
    return text == wanted or type(wanted) is not str


def argument_value(arguments: Json, path: tuple[str, ...]) -> Json:
    """Return the value at a path of members; None if there is none."""
    for step in path:
        arguments = arguments.get(step) if type(arguments) is dict else None
    return arguments


def decoded(value: bytes) -> str:
    """Return what a header's value stands for; raise UndecodableError."""
    value = value.strip(b" \t")
    if value.startswith(SENTINEL) and value.endswith(END) and len(value) >= len(SENTINEL) + len(END):
        word = value[len(SENTINEL) : -len(END)]
        try:
            plain = a2b_base64(word, strict_mode=True)
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
    return repr(value[:SHOWN].decode("latin-1"))


def spelled(name: bytes) -> str:
    """Return a header's name as the specification spells it."""
    return "MCP-Protocol-Version" if name == VERSION_HEADER else name.decode().title()
