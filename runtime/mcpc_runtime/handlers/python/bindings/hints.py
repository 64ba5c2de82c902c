"""Functions that say the types of their parameters get values of these types, and may return such values.

A function's hints are read once.  `modes`: `wrap` puts the result under the key `result`, because what a tool gives
back with a schema has to be an object; `prompt` says that every argument comes as a text, `resource` says that too, and
that bytes are what was meant.
"""

from __future__ import annotations

import json
import typing
from _thread import RLock

from mcpc_runtime.handlers.python.bindings import ArgumentError
from mcpc_runtime.handlers.python.bindings.conversion import conversion, from_text
from mcpc_runtime.handlers.python.bindings.dumping import dump

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator
    from typing import Any, Protocol, TypeGuard

    from mcpc_runtime.handlers.python.bindings.conversion import Conversion
    from mcpc_runtime.protocol.jsonrpc import Json

    class FieldDefault(Protocol):
        """A `Field(...)`, ours or pydantic's."""

        default: object

        def get_default(self, *, call_default_factory: bool) -> object:
            """Return what an argument is that is left out."""


READ: dict[Callable[..., object], Hints] = {}
reading = RLock()


class Hints:
    """What a function says of its parameters: how to convert each, and the defaults that are stated as `Field(...)`.

    `changing` are the conversions without which something that the schema admits would arrive as it was written.
    """

    __slots__ = ("changing", "conversions", "stated")

    def __init__(self, function: Callable[..., object], more: Iterable[str], *, texts: bool) -> None:
        hints = typing.get_type_hints(function, include_extras=True)
        for name in ("return", *more):
            hints.pop(name, None)
        if not texts:
            hints.update((name, optional(hints[name], value)) for name, value in defaults(function) if name in hints)
        self.conversions = {name: conversion(hint) for name, hint in hints.items()}
        self.changing = {name: kind for name, kind in self.conversions.items() if not kind.inert}
        self.stated = {name: value for name, value in defaults(function) if is_stated(value)}


def defaults(function: Any) -> Iterator[tuple[str, object]]:
    """Yield the parameters that may be left out, with what they then are."""
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    code = getattr(function, "__code__", None)
    if code is not None:
        positional = function.__defaults__ or ()
        yield from zip(code.co_varnames[code.co_argcount - len(positional) : code.co_argcount], positional, strict=True)
        yield from (function.__kwdefaults__ or {}).items()


def is_stated(default: object) -> TypeGuard[FieldDefault]:
    """Tell whether a default is a `Field(...)`, ours or pydantic's."""
    return hasattr(default, "get_default") and hasattr(default, "default_factory")


def optional(hint: Any, default: object) -> Any:
    """Return the type of a parameter: `x: str = None` may be None, although the hint does not say so."""
    if (default.default if is_stated(default) else default) is not None or hint is typing.Any:
        return hint
    inner = hint
    while typing.get_origin(inner) is typing.Annotated:
        inner = typing.get_args(inner)[0]
    return hint if type(None) in (inner, *typing.get_args(inner)) else typing.Optional[hint]  # noqa: UP045 - any hint


def call(function: Callable[..., object], arguments: dict[str, Json], more: dict[str, object], *modes: str) -> object:
    """Call a function with its arguments as the types it names, and return JSON."""
    is_prompt = "prompt" in modes or "resource" in modes
    if function not in READ:
        with reading:  # a type that is read by another thread at this moment refers to itself
            if function not in READ:
                READ[function] = Hints(function, more, texts=is_prompt)
    hints = READ[function]
    convert = from_text if is_prompt else convert_value
    given: dict[str, object] = dict(arguments)
    for name, kind in (hints.conversions if is_prompt else hints.changing).items():
        if name in given:
            given[name] = named(name, convert, kind, given[name])
    for name, default in hints.stated.items():
        if name not in given:
            given[name] = default.get_default(call_default_factory=True)
    value = function(**given, **more)
    return later(value, modes) if hasattr(value, "__await__") else finished(value, modes)


def convert_value(kind: Conversion, value: Any) -> object:
    """Return the value of its type."""
    return kind.convert(value)


def named(name: str, convert: Callable[[Conversion, Any], object], kind: Conversion, value: object) -> object:
    """Return the value of its type; say which argument it was that has none."""
    try:
        return convert(kind, value)
    except (ValueError, TypeError) as problem:
        raise ArgumentError(f"/{name}: received {json.dumps(value)}; {problem}") from None


async def later(value: Awaitable[object], modes: tuple[str, ...]) -> object:
    """Wait for what an asynchronous function returns."""
    return finished(await value, modes)


def finished(value: object, modes: tuple[str, ...]) -> object:
    """Return the result in JSON."""
    if "resource" in modes and isinstance(value, bytes | bytearray | memoryview):
        return value
    plain = dump(value)
    if "wrap" not in modes:
        return plain
    content = [] if plain is None else [{"type": "text", "text": as_text(plain)}]
    return {"content": content, "structuredContent": {"result": plain}}


def as_text(plain: Json) -> str:
    """Return a text as it is, and anything else as compact JSON."""
    return plain if type(plain) is str else json.dumps(plain, ensure_ascii=False, separators=(",", ":"))
