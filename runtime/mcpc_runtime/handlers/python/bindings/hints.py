"""Binding of functions with type hints: convert arguments to the types of the parameters, and the result to JSON.

A function's hints are read once.  `modes`: `wrap` puts the result under the key `result`, because structured content
must be an object; `prompt`: every argument is a string; `resource`: likewise, and a result of bytes stays bytes;
`unchecked:NAME`: the value of that argument was not validated, and is pydantic's to judge.
"""

from __future__ import annotations

import json
import typing
from _thread import RLock
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import Any, Protocol, TypeGuard

from mcpc_runtime.handlers.python.bindings import ArgumentError
from mcpc_runtime.handlers.python.bindings.conversion import Conversion, conversion, from_text, of_pydantic
from mcpc_runtime.handlers.python.bindings.dumping import bytes_text, result_to_json
from mcpc_runtime.protocol.jsonrpc import Json


class FieldDefault(Protocol):
    """A `Field(...)` of mcpc or pydantic."""

    default: object

    def get_default(self, *, call_default_factory: bool) -> object:
        """Return the value of an omitted argument."""


UNCHECKED = "unchecked:"
HINTS: dict[Callable[..., object], Hints] = {}
reading = RLock()


class Hints:
    """The type hints of a function: a conversion for each parameter, and the defaults written as `Field(...)`.

    `changing`: the conversions that change values which the schema accepts.
    """

    __slots__ = ("changing", "conversions", "field_defaults")

    def __init__(
        self, function: Callable[..., object], more: Iterable[str], modes: tuple[str, ...], *, texts: bool
    ) -> None:
        hints = typing.get_type_hints(function, include_extras=True)
        for name in ("return", *more):
            hints.pop(name, None)
        if not texts:
            hints.update(
                (name, optional_hint(hints[name], value))
                for name, value in parameter_defaults(function)
                if name in hints
            )
        self.conversions = {
            name: (of_pydantic if f"{UNCHECKED}{name}" in modes else conversion)(hint) for name, hint in hints.items()
        }
        self.changing = {name: kind for name, kind in self.conversions.items() if not kind.inert}
        self.field_defaults = {name: value for name, value in parameter_defaults(function) if is_field_default(value)}


def parameter_defaults(function: object) -> Iterator[tuple[str, object]]:
    """Yield the optional parameters with their defaults."""
    # `functools.wraps` copies the annotations to the wrapper, but not the defaults.
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    code = getattr(function, "__code__", None)
    if code is not None:
        positional = getattr(function, "__defaults__", None) or ()
        # The parameters with defaults are the last positional ones.
        yield from zip(code.co_varnames[code.co_argcount - len(positional) : code.co_argcount], positional, strict=True)
        yield from (getattr(function, "__kwdefaults__", None) or {}).items()


def is_field_default(default: object) -> TypeGuard[FieldDefault]:
    """Tell whether a default is a `Field(...)` of mcpc or pydantic."""
    return hasattr(default, "get_default") and hasattr(default, "default_factory")


def optional_hint(hint: object, default: object) -> object:
    """Return the type of a parameter: `x: str = None` may be None, although its hint excludes that."""
    if (default.default if is_field_default(default) else default) is not None or hint is typing.Any:
        return hint
    inner = hint
    while typing.get_origin(inner) is typing.Annotated:
        inner = typing.get_args(inner)[0]
    return hint if type(None) in (inner, *typing.get_args(inner)) else typing.Optional[hint]  # noqa: UP045 - any hint


def call_with_hints(
    function: Callable[..., object], arguments: dict[str, Json], more: dict[str, object], *modes: str
) -> object:
    """Call a function with converted arguments, and return its result as JSON."""
    is_prompt = "prompt" in modes or "resource" in modes
    if function not in HINTS:
        with reading:  # a type that is read by another thread at this moment refers to itself
            if function not in HINTS:
                HINTS[function] = Hints(function, more, modes, texts=is_prompt)
    hints = HINTS[function]
    convert = from_text if is_prompt else convert_value
    # A copy: the arguments of an inline call are the request's own.
    values: dict[str, object] = dict(arguments)
    for name, kind in (hints.conversions if is_prompt else hints.changing).items():
        if name in values:
            values[name] = convert_argument(name, convert, kind, values[name])
    for name, default in hints.field_defaults.items():
        if name not in values:
            values[name] = default.get_default(call_default_factory=True)
    value = function(**values, **more)
    return await_result(value, modes) if hasattr(value, "__await__") else to_result(value, modes)


def convert_value(kind: Conversion, value: object) -> object:
    """Return the converted value."""
    return kind.convert(value)


def convert_argument(
    name: str, convert: Callable[[Conversion, Any], object], kind: Conversion, value: object
) -> object:
    """Return the converted value; raise ArgumentError, which names the argument, if that fails."""
    try:
        return convert(kind, value)
    except (ValueError, TypeError) as problem:
        raise ArgumentError(f"/{name}: received {json.dumps(value)}; {problem}") from None


async def await_result(value: Awaitable[object], modes: tuple[str, ...]) -> object:
    """Await the result of an asynchronous function."""
    return to_result(await value, modes)


def to_result(value: object, modes: tuple[str, ...]) -> object:
    """Return the result as JSON."""
    if isinstance(value, bytes | bytearray | memoryview):
        if "resource" in modes:
            return value
        value = bytes_text(bytes(value))
    plain = result_to_json(value)
    if "wrap" not in modes:
        return plain
    content = [] if plain is None else [{"type": "text", "text": as_text(plain)}]
    return {"content": content, "structuredContent": {"result": plain}}


def as_text(plain: Json) -> str:
    """Return a string unchanged, and any other value as compact JSON."""
    return plain if type(plain) is str else json.dumps(plain, ensure_ascii=False, separators=(",", ":"))
