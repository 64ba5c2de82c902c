"""JSON text to values and back, and the lines of JSON-RPC messages.

The interpreter's own C scanner and encoder are used directly: importing `json` takes as long as starting the
interpreter. Text that RFC 8259 does not allow (NaN, infinities, two values, text that is not UTF-8) is refused.
"""

from __future__ import annotations

from collections.abc import Callable

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]

try:
    from _json import encode_basestring, make_encoder, make_scanner
except ImportError:  # an interpreter without the C accelerator: slower, with the same results
    from mcpc_runtime.protocol.json_fallback import encode_basestring, make_encoder, make_scanner  # type: ignore[assignment]


WHITE_SPACE = " \t\r\n"
LINE_ENDS = (("\x85", "\\u0085"), ("\u2028", "\\u2028"), ("\u2029", "\\u2029"))
"""Characters other than CR and LF that end a line where a text is split by Unicode's rules, and their escapes."""
INFINITIES = (float("inf"), float("-inf"))


class ParseError(ValueError):
    """A text is not one JSON value; the message contains the reason."""


def refuse_constant(text: str) -> Json:
    """Refuse `NaN`, `Infinity` and `-Infinity`."""
    raise ParseError(f"{text} is not JSON")


def finite_float(text: str) -> float:
    """Return the number; refuse one that would become an infinity."""
    number = float(text)
    if number in INFINITIES:
        raise ParseError("a number is out of range")
    return number


class ScannerContext:
    """The attributes that the C scanner reads from its context."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    array_hook = None  # since Python 3.15
    parse_float = staticmethod(finite_float)
    parse_int = int
    parse_constant = staticmethod(refuse_constant)
    memo: dict[str, str] = {}  # noqa: RUF012 - the pure-Python scanner needs it, and clears it after every text


scan = make_scanner(ScannerContext)  # type: ignore[arg-type]


def parse(data: bytes) -> Json:
    """Return the one JSON value of `data` (UTF-8; a byte order mark at its start is ignored); raise ParseError."""
    value: Json
    try:
        # The scanner begins with a value, and stops behind it: white space at the ends is no part of that.
        text = str(data, "utf-8").removeprefix("\ufeff").strip(WHITE_SPACE)
        value, end = scan(text, 0)
    except StopIteration as stop:
        raise ParseError(f"no JSON value at character {stop.value}") from None
    except UnicodeDecodeError as problem:
        raise ParseError(f"not UTF-8 at byte {problem.start}") from None
    except SystemError:  # how the C scanner of 3.11 fails on an object or array while `json` is not imported
        raise ParseError("an object or an array is malformed, or not closed") from None
    except RecursionError:
        raise ParseError("nested too deeply") from None
    except ParseError:
        raise
    except ValueError as problem:
        raise ParseError(str(problem)) from None
    if end != len(text):
        raise ParseError(f"more text after the JSON value, at character {end}")
    return value


def refuse_value(value: object) -> Json:
    """Raise TypeError for a value that JSON cannot represent."""
    raise TypeError(f"a {type(value).__name__} cannot be written as JSON")


quote: Callable[[str], str] = encode_basestring
# Without markers: values of JSON have no cycles, and to look for them takes time.
encode_value: Callable[[Json, int], tuple[str, ...]] = make_encoder(
    None, refuse_value, encode_basestring, None, ":", ",", False, False, False
)


def encode(value: Json) -> bytes:
    """Return `value` as compact JSON in UTF-8; raise ValueError for NaN, TypeError for values without JSON form.

    A lone surrogate, which UTF-8 cannot represent, is written as an escape.
    """
    return encode_text("".join(encode_value(value, 0)))


def encode_text(text: str) -> bytes:
    """Return a JSON text in UTF-8, without characters that a client may take for the end of a line."""
    if not text.isascii():
        for character, escape in LINE_ENDS:
            if character in text:
                text = text.replace(character, escape)
    return text.encode("utf-8", "backslashreplace")


def result_line(identifier: Json, result: bytes) -> bytes:
    """Return the response line whose result is the JSON text `result`."""
    identifier_text = b"%d" % identifier if type(identifier) is int else encode(identifier)
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}\n' % (identifier_text, result)


def error_line(identifier: Json, code: int, message: str, data: Json = None) -> bytes:
    """Return the error response line; without the id of the request (None) if it could not be read."""
    error: dict[str, Json] = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return b'{"jsonrpc":"2.0","id":%b,"error":%b}\n' % (encode(identifier), encode(error))


def notification_line(method: str, params: Json) -> bytes:
    """Return a notification line."""
    return b'{"jsonrpc":"2.0","method":%b,"params":%b}\n' % (encode(method), encode(params))
