"""Results that have no JSON form: the error names the place in the result, and what to return instead."""

from __future__ import annotations

from binascii import b2a_base64
from collections.abc import Iterator

from mcpc_runtime.handlers.python.bindings.dumping import ANYTHING, instead_of, to_json
from mcpc_runtime.protocol.jsonrpc import Json


def result_to_json(value: object) -> Json:
    """Return a result as JSON; raise TypeError or ValueError, which name the place in it, if it has no JSON form."""
    try:
        return to_json(value)
    except (TypeError, ValueError):
        place, part = place_of_fault(value, "")
    raise fault(part, f" at `{place}`" if place else "")


def bytes_text(value: bytes) -> str:
    """Return bytes as text: UTF-8, or base64."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return b2a_base64(value, newline=False).decode()


def place_of_fault(value: object, place: str) -> tuple[str, object]:
    """Return the innermost part without a JSON form, and its place as a JSON pointer."""
    for name, part in parts_of(value):
        try:
            to_json(part)
        except (TypeError, ValueError):
            return place_of_fault(part, f"{place}/{name}")
    return place, value


def parts_of(value: object) -> Iterator[tuple[object, object]]:
    """Yield the parts of a result with their names."""
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list | tuple | set | frozenset):
        yield from enumerate(value)
    elif hasattr(value, "__dataclass_fields__") and not isinstance(value, type):
        yield from ((name, getattr(value, name)) for name in value.__dataclass_fields__)


def fault(value: object, place: str) -> Exception:
    """Return why a part has no JSON form, and what to return instead."""
    kind = type(value)
    if isinstance(value, float):
        said = "NaN" if value != value else "an infinite number"
        return ValueError(f"the handler returned {said}{place}, which JSON does not have; return None or a text for it")
    if isinstance(value, bytes | bytearray):
        return ValueError(
            f"the handler returned bytes{place} that are not UTF-8; return `base64.b64encode(…).decode()`"
        )
    if isinstance(value, type):
        what, hint = f"the class {value.__name__}", f"return an instance: `{value.__name__}(…)`"
    else:
        what = f"{'an' if kind.__name__[:1] in 'AEIOaeiou' else 'a'} {kind.__name__}"
        hint = instead_of(value) or ANYTHING
    return TypeError(f"the handler returned {what}{place}, which cannot be written as JSON; {hint}")
