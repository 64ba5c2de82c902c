"""What a tool of mcp-bash has printed, taken as that system takes it."""

from __future__ import annotations

from mcpc_runtime.protocol.jsonrpc import WHITE_SPACE, ParseError, parse, scan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mcpc_runtime.commands import Completed
    from mcpc_runtime.protocol.jsonrpc import Json

UI_KEY = "ui/resourceUri"
MARK, CODE = b'"isError"', b'"code"'


def one_of(data: bytes) -> tuple[Json] | None:
    """Return the one JSON value that was printed, None if it is anything else."""
    try:
        return (parse(data),)
    except ParseError:
        return None


def error_in(value: tuple[Json] | None) -> tuple[int, str, Json] | None:
    """Return the code, the message and the data of an error that was printed."""
    found: Any = value[0] if value is not None else None
    if type(found) is not dict or type(found.get("message")) is not str:
        return None
    code = found.get("code")
    if type(code) is float and code.is_integer():
        code = int(code)
    return (code, found["message"], found.get("data")) if type(code) is int else None


def error_among(data: bytes) -> tuple[int, str, Json] | None:
    """Return the first error among the JSON values that were printed one after another; what is none ends them."""
    string, place, found = str(data, "utf-8", "replace").removeprefix("\ufeff") if CODE in data else "", 0, None
    while found is None:
        while place < len(string) and string[place] in WHITE_SPACE:
            place += 1
        try:
            value, place = scan(string, place)
        except (ValueError, StopIteration, SystemError, RecursionError):
            return None
        found = error_in((value,))
    return found


def exit_code(completed: Completed | None) -> int:
    """Return how a program ended as a shell has it: a signal is a number above 128."""
    status = 0 if completed is None else completed.status
    return 128 - status if status < 0 else status


def text_of(data: bytes) -> str:
    """Return a text as a shell's variable would hold it: without null bytes and the line ends at its end."""
    return str(data.replace(b"\0", b""), "utf-8", "replace").rstrip("\n")


def tail_of(data: bytes, size: int) -> str:
    """Return the last so many bytes of a text."""
    return text_of(data[-size:]) if size else ""


def meta_of(status: int, tail: str) -> dict[str, Json]:
    """Return what every result says of how it came about."""
    return {"exitCode": status, "stderr": tail} if tail else {"exitCode": status}


def whole_number(value: Json) -> int:
    """Return a number of seconds as a request says it, 0 for none."""
    if type(value) is str and value.isascii() and value.isdigit() and len(value) < 10:
        return int(value)
    return value if type(value) is int and value > 0 else 0


def is_result(value: Json) -> bool:
    """Tell whether a tool has printed the whole result."""
    return type(value) is dict and type(value.get("content")) is list and "isError" in value


def is_error_result(data: bytes) -> dict[str, Any] | None:
    """Return the result that says that a tool has failed, if it is the first of what was printed.

    A script that says so and goes on prints more; what it said first is what it meant.
    """
    if MARK not in data:
        return None
    try:
        string = str(data, "utf-8").lstrip()
        value, _ = scan(string, 0)
    except (ValueError, StopIteration, SystemError, RecursionError):
        return None
    return value if is_result(value) and value["isError"] is True else None


def mended(meta: dict[str, Json]) -> dict[str, Json]:
    """Return metadata in which the uri of a user interface is where hosts look for it now."""
    if UI_KEY not in meta:
        return meta
    rest = {name: value for name, value in meta.items() if name != UI_KEY}
    interface = rest.get("ui")
    rest["ui"] = {"resourceUri": meta[UI_KEY], **(interface if type(interface) is dict else {})}
    return rest


def satisfies(schema: Any, value: Any) -> bool:
    """Tell whether a value is what this system looks for in a schema: members there must be, and their types."""
    if type(schema) is not dict or schema.get("type", "object") != "object":
        return True
    if type(value) is not dict:
        return False
    if not all(name in value for name in schema.get("required", ())):
        return False
    fields = schema.get("properties") or {}
    return all(has_type(fields[name], value[name]) for name in fields if name in value)


def has_type(field: Any, value: Json) -> bool:
    """Tell whether a member has the type it is to have; nothing at all has any."""
    wanted = field.get("type") if type(field) is dict else None
    fits = TYPES.get(wanted) if type(wanted) is str else None
    return value is None or fits is None or fits(value)


TYPES: dict[str, Callable[[Any], bool]] = {
    "array": lambda value: type(value) is list,
    "boolean": lambda value: type(value) is bool,
    "integer": lambda value: type(value) is int or (type(value) is float and value.is_integer()),
    "number": lambda value: type(value) in (int, float),
    "object": lambda value: type(value) is dict,
    "string": lambda value: type(value) is str,
}
