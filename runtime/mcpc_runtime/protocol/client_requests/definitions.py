"""Client requests that a definition declares: sent before its handler is run, with the call's arguments filled in."""

from __future__ import annotations

from mcpc_runtime.protocol.client_requests.handler_requests import Object
from mcpc_runtime.protocol.constants import INTERNAL_ERROR, MISSING_CAPABILITY
from mcpc_runtime.protocol.effects import Call, Ending, Failure, text_outcome
from mcpc_runtime.protocol.jsonrpc import Json, encode, parse

SEPARATORS_AS_DIGITS = {ord(separator): "0" for separator in "_.-"}
UNRESERVED = b"-._~"


def declared_requests(call: Call) -> Object:
    """Return the client requests of a definition, with the call's arguments in place of their names."""
    return {
        key: {"method": method, "params": fill_value(parse(params), call.arguments)}
        for key, method, params in call.definition.asks
    }


def fill_value(value: Json, arguments: Object, name: str = "") -> Json:
    """Return a value in whose texts `{argument}` is replaced by the argument, percent-encoded in a URL."""
    if type(value) is str:
        return fill_text(value, arguments, is_address=name == "url")
    if type(value) is list:
        return [fill_value(item, arguments) for item in value]
    return {key: fill_value(item, arguments, key) for key, item in value.items()} if type(value) is dict else value


def fill_text(text: str, arguments: Object, *, is_address: bool) -> str:
    """Return a text with arguments in place of their names; names in arguments are not replaced."""
    head, *pieces = text.split("{")
    for piece in pieces:
        name, brace, rest = piece.partition("}")
        if not brace or not is_argument_name(name):
            head += "{" + piece
            continue
        value = arguments.get(name, "")
        argument = value if type(value) is str else encode(value).decode()
        head += (escape_uri_part(argument) if is_address else argument) + rest
    return head


def is_argument_name(name: str) -> bool:
    """Tell whether this is a valid name of an argument in a definition."""
    letters = name.translate(SEPARATORS_AS_DIGITS)
    return letters.isascii() and letters.isalnum() and (name[0].isalpha() or name[0] == "_")


def escape_uri_part(text: str) -> str:
    """Return a text percent-encoded as part of a URI."""
    return "".join(
        chr(byte) if chr(byte).isascii() and (chr(byte).isalnum() or byte in UNRESERVED) else f"%{byte:02X}"
        for byte in text.encode("utf-8", "replace")
    )


def unanswered_ending(call: Call, error: Json) -> Ending:
    """Return the end of a call whose declared client requests were not answered."""
    details: Object = error if type(error) is dict else {}
    code, message = details.get("code"), str(details.get("message"))
    if code == MISSING_CAPABILITY and call.request.wire.stateless and not call.chain:
        return Failure(MISSING_CAPABILITY, message, details.get("data"))
    if call.is_tool:
        return text_outcome(message, is_error=True)
    return Failure(INTERNAL_ERROR, f"Internal error: {message}")
