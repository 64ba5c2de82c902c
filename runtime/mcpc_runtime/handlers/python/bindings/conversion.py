"""Convert JSON values to the types of hints: tables with a row per type and per kind of type, also used by the build.

The values were accepted by the compiled validator, or are string arguments of a prompt.  A conversion raises ValueError
for values that do not fit its type, so that a union tries its members in turn.  If several members fit, the value keeps
its JSON type if the union includes that type, as in pydantic.
"""

from __future__ import annotations

import enum
import json
import re
import sys
import typing
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from typing import Any, Protocol

from mcpc_runtime.handlers.python.bindings.hint_kinds import (
    alias_value,
    is_alias,
    is_class,
    is_named_tuple,
    is_path,
    is_typed_dict,
    is_union,
    needs_pydantic,
    type_name,
)

Convert = Callable[[Any, Any], object]
"""Makes a value of a class, given that class and the JSON value."""


class ModelClass(Protocol):
    """A class of pydantic."""

    model_fields: Mapping[str, object]

    def model_validate(self, value: object) -> object:
        """Return an instance with these members."""


class NamedTupleClass(Protocol):
    """A class that `typing.NamedTuple` made."""

    _fields: tuple[str, ...]

    def __call__(self, *values: object) -> object:
        """Return an instance with these members."""


# `P`, weeks and days, then `T` and hours, minutes and seconds; only the seconds may have a fraction.
DURATION = re.compile(r"([+-]?)P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?")


class UnsupportedTypeError(TypeError):
    """A type without a conversion."""


class Conversion:
    """How a JSON value becomes a value of one type.

    `inert`: values that the schema of the type accepts are not changed.  `names`: the keys that it reads, if
    it converts objects.
    """

    __slots__ = ("convert", "inert", "names", "scalar")

    def __init__(self, convert: Callable[[object], object], *, inert: bool = False, scalar: type | None = None) -> None:
        self.convert = convert
        self.inert = inert
        self.scalar = scalar
        self.names: frozenset[str] | None = None


def exact_type(kind: type, description: str) -> Conversion:
    """Return the conversion of a JSON type."""

    def check(value: object) -> object:
        if type(value) is not kind:
            raise ValueError(f"expected {description}")
        return value

    return Conversion(check, inert=True, scalar=kind)


def to_int(value: object) -> int:
    """Return an integer; JSON Schema accepts 1.0 as integer."""
    # Not isinstance: True is an int of Python, but no number of JSON.
    if type(value) is int:
        return value
    if type(value) is float and value.is_integer():
        return int(value)
    raise ValueError("expected an integer")


def to_float(value: object) -> float:
    """Return a number as float."""
    if type(value) is int or type(value) is float:
        return float(value)
    raise ValueError("expected a number")


def unchanged(value: object) -> object:
    """Return the value unchanged."""
    return value


ANYTHING = Conversion(unchanged, inert=True)
SCALARS: dict[object, Conversion] = {
    str: exact_type(str, "a string"),
    bool: exact_type(bool, "true or false"),
    type(None): exact_type(type(None), "null"),
    int: Conversion(to_int, scalar=int),
    float: Conversion(to_float, scalar=float),
    typing.Any: ANYTHING,
    object: ANYTHING,
}


def parse_duration(kind: type[timedelta], text: str) -> object:
    """Return the time delta of an ISO 8601 duration."""
    match = DURATION.fullmatch(text)
    # Every part of the expression is optional: `P`, `PT` and `P1DT` have no amount where one is expected.
    if match is None or text[-1:] in "PT":
        raise ValueError("expected a duration as `P1DT2H30M`")
    weeks, days, hours, minutes, seconds = (float(part or 0) for part in match.groups()[1:])
    delta = kind(weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds)
    return -delta if match[1] == "-" else delta


def parse_decimal(kind: Callable[[str], object], value: object) -> object:
    """Return a decimal number, written as a number or as a string."""
    try:
        return kind(str(value))
    except ArithmeticError:
        raise ValueError("expected a decimal number") from None


def parse_pattern(_: object, text: str) -> object:
    """Return a compiled pattern."""
    try:
        return re.compile(text)
    except re.error as problem:
        raise ValueError(f"expected a regular expression: {problem}") from None


def parse_zone(kind: Callable[[str], object], text: str) -> object:
    """Return the time zone of a name."""
    try:
        return kind(text)
    except LookupError:
        raise ValueError("expected the name of a time zone") from None


TEXT_TYPES: dict[str, Convert] = {
    "builtins.bytes": lambda _, text: text.encode(),
    "datetime.date": lambda kind, text: kind.fromisoformat(text),
    "datetime.datetime": lambda kind, text: kind.fromisoformat(text),
    "datetime.time": lambda kind, text: kind.fromisoformat(text),
    "datetime.timedelta": parse_duration,
    "decimal.Decimal": parse_decimal,
    "ipaddress.IPv4Address": lambda kind, text: kind(text),
    "ipaddress.IPv4Interface": lambda kind, text: kind(text),
    "ipaddress.IPv4Network": lambda kind, text: kind(text),
    "ipaddress.IPv6Address": lambda kind, text: kind(text),
    "ipaddress.IPv6Interface": lambda kind, text: kind(text),
    "ipaddress.IPv6Network": lambda kind, text: kind(text),
    "re.Pattern": parse_pattern,
    "uuid.UUID": lambda kind, text: kind(text),
    "zoneinfo.ZoneInfo": parse_zone,
}
"""Types that are strings in JSON, by name, so that their modules need not be imported."""

SEQUENCES: dict[str, Callable[[Iterable[object]], object]] = {
    "builtins.list": list,
    "builtins.set": set,
    "builtins.frozenset": frozenset,
    "collections.deque": lambda items: sys.modules["collections"].deque(items),
    "collections.abc.Collection": list,
    "collections.abc.Iterable": list,
    "collections.abc.MutableSequence": list,
    "collections.abc.Sequence": list,
    "collections.abc.MutableSet": set,
    "collections.abc.Set": set,
}
MAPPINGS = frozenset({"builtins.dict", "collections.abc.Mapping", "collections.abc.MutableMapping"})

CONVERSIONS: dict[object, Conversion] = {}
"""Conversions of classes, by class; also resolves classes whose fields refer to themselves."""


def conversion(hint: object) -> Conversion:
    """Return the conversion to the type `hint`; raise UnsupportedTypeError with the unsupported part of it."""
    for applies, build in KINDS:
        if applies(hint):
            return build(hint)
    raise UnsupportedTypeError(hint)


def cached_by_class(build: Callable[[Any], Conversion]) -> Callable[[object], Conversion]:
    """Return a builder with a cache by class, which also serves recursive requests."""

    def built(hint: object) -> Conversion:
        if hint in CONVERSIONS:
            return CONVERSIONS[hint]
        # The function looks `convert` up when it is called, which is after the class is built and `convert` replaced.
        CONVERSIONS[hint] = placeholder = Conversion(lambda value: placeholder.convert(value))
        try:
            conversion_of_class = build(hint)
        except UnsupportedTypeError:
            del CONVERSIONS[hint]
            raise
        placeholder.convert, placeholder.inert, placeholder.names = (
            conversion_of_class.convert,
            conversion_of_class.inert,
            conversion_of_class.names,
        )
        return placeholder

    return built


def of_text(hint: object) -> Conversion:
    """Return the conversion of a type that is a string in JSON."""
    convert: Convert = TEXT_TYPES.get(type_name(hint), lambda kind, text: kind(text))

    def read(value: object) -> object:
        if type(value) is not str and convert is not parse_decimal:
            raise ValueError("expected a string")
        return convert(hint, value)

    return Conversion(read)


def of_enum(hint: type[enum.Enum]) -> Conversion:
    """Return the conversion of an enumeration: the member with this value."""
    values = ((member.value, member) for member in hint)
    # An array of JSON is a list, which is never equal to a tuple.
    members = [(list(value) if isinstance(value, tuple) else value, member) for value, member in values]

    def read(value: object) -> object:
        for plain, member in members:
            # In Python True equals 1, in JSON it does not.
            if plain == value and isinstance(plain, bool) is isinstance(value, bool):
                return member
        raise ValueError("expected one of " + ", ".join(repr(plain) for plain, _ in members))

    return Conversion(read)


def of_literal(hint: object) -> Conversion:
    """Return the conversion of a Literal."""
    values = typing.get_args(hint)

    def read(value: object) -> object:
        for member in values:
            plain = member.value if isinstance(member, enum.Enum) else member
            if plain == value and isinstance(plain, bool) is isinstance(value, bool):
                return member
        raise ValueError("expected one of " + ", ".join(map(repr, values)))

    return Conversion(read, inert=all(type(value) in (str, bool, type(None)) for value in values))


def of_union(hint: object) -> Conversion:
    """Return the conversion of a union: the value's JSON type first, then types with all its keys, then any."""
    members = [conversion(member) for member in typing.get_args(hint)]
    scalars = frozenset(member.scalar for member in members if member.scalar is not None)

    def read(value: object) -> object:
        if type(value) in scalars:
            return value
        keys = value.keys() if type(value) is dict else None
        fitting = [member for member in members if keys is not None and member.names is not None]
        fitting = [member for member in fitting if keys <= member.names]  # type: ignore[operator]
        for member in (*fitting, *members):
            try:
                return member.convert(value)
            # A dataclass raises TypeError if a field without a default is missing.
            except (ValueError, TypeError):
                continue
        raise ValueError(f"expected {type_text(hint)}")

    return Conversion(read, inert=all(member.inert for member in members))


def of_sequence(hint: object) -> Conversion:
    """Return the conversion of a list, a set or another collection of items of one type."""
    item = conversion((*typing.get_args(hint), object)[0])
    make = SEQUENCES[type_name(hint)]

    def read(value: object) -> object:
        if type(value) is not list:
            raise ValueError("expected an array")
        return make(value if item is ANYTHING else map(item.convert, value))

    return Conversion(read, inert=item.inert and make is list)


def of_tuple(hint: object) -> Conversion:
    """Return the conversion of a tuple: items of one type, or one type for each."""
    # `tuple[()]` has an origin and no arguments; `tuple` alone has neither, and any items.
    hints = typing.get_args(hint) or (() if typing.get_origin(hint) else (object, ...))
    many = len(hints) == 2 and hints[1] is ...
    items = [conversion(hint) for hint in (hints[:1] if many else hints)]

    def read(value: object) -> object:
        if type(value) is not list or (not many and len(value) != len(items)):
            raise ValueError("expected an array" if many else f"expected an array of {len(items)} items")
        kinds = items * len(value) if many else items
        return tuple(item.convert(part) for item, part in zip(kinds, value, strict=True))

    return Conversion(read)


def of_mapping(hint: object) -> Conversion:
    """Return the conversion of an object with keys and values of one type each."""
    key, item = map(conversion, typing.get_args(hint) or (object, object))

    def read(value: object) -> object:
        if type(value) is not dict:
            raise ValueError("expected an object")
        return {from_text(key, name): item.convert(part) for name, part in value.items()}

    return Conversion(read, inert=key.inert and item.inert)


def from_text(kind: Conversion, text: str) -> object:
    """Convert a string: itself if the type accepts strings, otherwise the JSON value in it."""
    try:
        return kind.convert(text)
    except (ValueError, TypeError) as problem:
        return kind.convert(parse_json_text(text, problem))


def parse_json_text(text: str, problem: Exception) -> object:
    """Parse a string as JSON; if it is not JSON, raise the error of the string itself."""
    try:
        return json.loads(text)
    except ValueError:
        raise ValueError(str(problem)) from None


def of_fields(hint: type) -> Conversion:
    """Return the conversion of a dataclass or a TypedDict; unknown keys are dropped, as in pydantic."""
    hints = typing.get_type_hints(hint, include_extras=True)
    fields = {name: conversion(hints[name]) for name in field_names(hint)}
    needed: frozenset[str] = getattr(hint, "__required_keys__", frozenset())

    def read(value: object) -> object:
        if type(value) is not dict or not needed <= value.keys():
            raise ValueError(f"expected an object as `{hint.__name__}` describes")
        return hint(**{name: fields[name].convert(part) for name, part in value.items() if name in fields})

    result = Conversion(read, inert=is_typed_dict(hint) and all(field.inert for field in fields.values()))
    result.names = frozenset(fields)
    return result


def field_names(hint: object) -> tuple[str, ...]:
    """Return the field names of a dataclass or a TypedDict."""
    if is_typed_dict(hint):
        return tuple(hint.__annotations__)
    return tuple(field.name for field in sys.modules["dataclasses"].fields(hint) if field.init)


def of_named_tuple(hint: NamedTupleClass) -> Conversion:
    """Return the conversion of a NamedTuple, which JSON writes as an array."""
    hints = typing.get_type_hints(hint, include_extras=True)
    items = [conversion(hints.get(name, object)) for name in hint._fields]

    def read(value: object) -> object:
        if type(value) is not list or len(value) > len(items):
            raise ValueError(f"expected an array of at most {len(items)} items")
        # Items that are left out are for the defaults of the class.
        return hint(*(item.convert(part) for item, part in zip(items, value, strict=False)))

    return Conversion(read)


def of_model(hint: ModelClass) -> Conversion:
    """Return the conversion of a pydantic model."""
    result = Conversion(hint.model_validate)
    result.names = frozenset(hint.model_fields)
    return result


def of_pydantic(hint: object) -> Conversion:
    """Return the conversion by pydantic, which the handler has imported; a type that is not whole is refused now."""
    adapter = sys.modules["pydantic"].TypeAdapter(hint)
    if not getattr(adapter, "pydantic_complete", True):
        adapter.rebuild(raise_errors=True)
    return Conversion(adapter.validate_python)


KINDS: tuple[tuple[Callable[[Any], bool], Callable[[Any], Conversion]], ...] = (
    (lambda hint: hint is None, lambda _: SCALARS[type(None)]),
    (lambda hint: getattr(hint, "__hash__", None) is not None and hint in SCALARS, lambda hint: SCALARS[hint]),
    (lambda hint: is_class(hint) and hasattr(hint, "model_validate"), cached_by_class(of_model)),
    (needs_pydantic, of_pydantic),
    (lambda hint: typing.get_origin(hint) is typing.Annotated, lambda hint: conversion(hint.__origin__)),
    (
        lambda hint: typing.get_origin(hint) in (typing.Required, typing.NotRequired),
        lambda hint: conversion(typing.get_args(hint)[0]),
    ),
    (lambda hint: typing.get_origin(hint) is typing.Literal, of_literal),
    (is_union, of_union),
    (lambda hint: is_class(hint) and issubclass(hint, enum.Enum), cached_by_class(of_enum)),
    (lambda hint: type_name(hint) in TEXT_TYPES or is_path(hint), of_text),
    (lambda hint: type_name(hint) in SEQUENCES, of_sequence),
    (lambda hint: type_name(hint) in MAPPINGS, of_mapping),
    (lambda hint: type_name(hint) == "builtins.tuple", of_tuple),
    (lambda hint: is_class(hint) and hasattr(hint, "__dataclass_fields__"), cached_by_class(of_fields)),
    (is_typed_dict, cached_by_class(of_fields)),
    (is_named_tuple, cached_by_class(of_named_tuple)),
    # A `NewType`.
    (lambda hint: hasattr(hint, "__supertype__"), lambda hint: conversion(hint.__supertype__)),
    (is_alias, cached_by_class(lambda hint: conversion(alias_value(hint)))),
    (
        # An alias with parameters: `Pair[int]` of `type Pair[T] = …`.
        lambda hint: is_alias(typing.get_origin(hint)),
        lambda hint: conversion(alias_value(typing.get_origin(hint))[typing.get_args(hint)]),  # type: ignore[index]
    ),
)
"""The kinds of types, each with its builder of conversions; the first that applies is used."""


def type_text(hint: object) -> str:
    """Return a type as it is written in source code."""
    return str(getattr(hint, "__qualname__", hint) if is_class(hint) else hint).replace("typing.", "")
