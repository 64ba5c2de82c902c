"""Values as parts of a request: the styles of OpenAPI 3.1, percent-encoded.

An option of a value (see `mcpc.lower.requests`) is a member of its row: `style`, `explode`, `reserved` (which
characters are not encoded beside the unreserved ones), `content` (it is written in this media type, not in a style).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

from mcpc_runtime.protocol.jsonrpc import Json, encode

DELIMITERS = {"form": ",", "spaceDelimited": "%20", "pipeDelimited": "%7C"}
RESERVED_IN_QUERY = ":/?@!$'()*,;="
"""What `allowReserved` leaves as it is: all that is reserved but for what begins another parameter or a fragment."""
RESERVED_IN_PATH = ":/@!$&'()*+,;="
Row = dict[str, Any]
Escape = Callable[[str], str]


def text_of(value: Json) -> str:
    """Return a value as text: a string as it is, anything else as JSON."""
    return value if type(value) is str else encode(value).decode()


def escape_by(reserved: str) -> Escape:
    """Return the percent-encoding that leaves unreserved characters and these as they are."""
    return lambda text: quote(text, reserved, "utf-8", "surrogatepass")


def flat(value: Json, explode: bool, escape: Escape) -> list[str]:
    """Return the encoded parts of a value: items, keys and values in turn, or `key=value` if it explodes."""
    if type(value) is list:
        return [escape(text_of(item)) for item in value if item is not None]
    if type(value) is not dict:
        return [escape(text_of(value))]
    pairs = [(escape(key), escape(text_of(item))) for key, item in value.items() if item is not None]
    return [f"{key}={item}" for key, item in pairs] if explode else [part for pair in pairs for part in pair]


def path_text(name: str, value: Json, row: Row, escape: Escape) -> str:
    """Return a value in the style `simple`, `label` or `matrix`, for a path or a header."""
    if "content" in row:
        return escape(encode(value).decode())
    style, explode = row.get("style", "simple"), row.get("explode", False)
    parts = flat(value, explode, escape)
    if style == "label":
        return "." + ("." if explode else ",").join(parts)
    if style != "matrix":
        return ",".join(parts)
    if explode and type(value) is dict:
        return "".join(f";{part}" for part in parts)
    joined = parts if explode else [",".join(parts)]
    return "".join(f";{name}={part}" if part else f";{name}" for part in joined)


def query_pairs(name: str, value: Json, row: Row) -> list[str]:
    """Return the encoded `name=value` pairs of a value in a query, a form or a cookie."""
    escape = escape_by(row.get("reserved", ""))
    key = escape_by("")(name)
    if value is None:
        return []
    if "content" in row:
        return [f"{key}={escape(text_of(value) if row['content'] == 'text/plain' else encode(value).decode())}"]
    # OpenAPI: `explode` is true by default for `form`, and false for all other styles.
    style, explode = row.get("style", "form"), row.get("explode", row.get("style", "form") == "form")
    if style == "deepObject":
        return [f"{escape_by('')(path)}={escape(text)}" for path, text in deep_members(name, value)]
    if type(value) is not list and type(value) is not dict:
        return [f"{key}={escape(text_of(value))}"]
    parts = flat(value, explode, escape)
    if explode:
        return parts if type(value) is dict else [f"{key}={part}" for part in parts]
    return [f"{key}={DELIMITERS[style].join(parts)}"] if parts else []


def deep_members(path: str, value: Json) -> Iterator[tuple[str, str]]:
    """Yield the members of an object as `name[member]`; items of a list repeat its name, or have numbers if nested."""
    if type(value) is dict:
        for key, item in value.items():
            yield from deep_members(f"{path}[{key}]", item)
    elif type(value) is list:
        nested = any(type(item) is dict or type(item) is list for item in value)
        for number, item in enumerate(value):
            yield from deep_members(f"{path}[{number}]" if nested else path, item)
    elif value is not None:
        yield path, text_of(value)
