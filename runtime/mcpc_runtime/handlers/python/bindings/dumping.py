"""What a handler returned becomes JSON, in the form in which the schema of its type describes it.

The forms are pydantic's: a time in UTC ends in `Z`, a decimal number is a text, a set is an array (here a sorted one,
so that one result has one text).
"""

from __future__ import annotations

import sys
from enum import Enum

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from mcpc_runtime.protocol.jsonrpc import Json

PLAIN = frozenset({str, int, float, bool, type(None)})
BASES = (str, int, float)


def dump(value: Any) -> Json:
    """Return the JSON value; raise TypeError for what has none."""
    kind = type(value)
    if kind in PLAIN:
        plain: Json = value
        return plain
    if kind is list or kind is tuple:
        return [dump(item) for item in value]
    if kind is dict:
        return {key(name): dump(item) for name, item in value.items()}
    for applies, write in FORMS:
        if applies(value):
            return write(value)
    raise TypeError(f"the handler returned a {kind.__name__}, which cannot be written as JSON")


def key(name: object) -> str:
    """Return the text that stands for the key of a dict."""
    plain = dump(name)
    return WORDS[plain] if isinstance(plain, bool) or plain is None else plain if type(plain) is str else str(plain)


WORDS = {True: "true", False: "false", None: "None"}


def duration(value: Any) -> str:
    """Return a time delta as an ISO 8601 duration."""
    sign, value = ("-", -value) if value.days < 0 else ("", value)
    hours, rest = divmod(value.seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    fraction = f".{value.microseconds:06}".rstrip("0") if value.microseconds else ""
    day = f"{value.days}D" if value.days else ""
    parts = ((hours, f"{hours}H"), (minutes, f"{minutes}M"), (seconds or fraction, f"{seconds}{fraction}S"))
    clock = "".join(text for amount, text in parts if amount)
    return f"{sign}P{day}{f'T{clock}' if clock else ''}" if day or clock else "PT0S"


def moment(value: Any) -> str:
    """Return a date or time as ISO 8601 writes it."""
    text: str = value.isoformat()
    return f"{text[:-6]}Z" if text.endswith("+00:00") else text


def in_order(items: Iterable[object]) -> list[Json]:
    """Return the items of a set, always in one order."""
    written: list[Any] = [dump(item) for item in items]
    try:
        return sorted(written)
    except TypeError:
        return sorted(written, key=repr)


def by_pydantic(value: object) -> Json:
    """Return what pydantic makes of one of its own types."""
    pydantic: Any = sys.modules["pydantic"]
    found: Json = pydantic.TypeAdapter(type(value)).dump_python(value, mode="json")
    return found


def named(*names: str) -> Callable[[object], bool]:
    """Return a test for objects of the classes of these names, and of classes made from them."""
    return lambda value: any(f"{kind.__module__}.{kind.__qualname__}" in names for kind in type(value).__mro__)


FORMS: tuple[tuple[Callable[[object], bool], Callable[[Any], Json]], ...] = (
    (lambda value: isinstance(value, type), lambda value: dump_class(value)),
    (lambda value: isinstance(value, Enum), lambda value: dump(value.value)),
    (lambda value: hasattr(value, "model_dump"), lambda value: value.model_dump(mode="json")),
    (lambda value: hasattr(value, "__dataclass_fields__"), lambda value: dump_fields(value)),
    (lambda value: isinstance(value, set | frozenset), in_order),
    (lambda value: isinstance(value, list | tuple), lambda value: [dump(item) for item in value]),
    (lambda value: isinstance(value, dict), lambda value: dump(dict(value))),
    (lambda value: isinstance(value, bytes), bytes.decode),
    (lambda value: hasattr(value, "isoformat"), moment),
    (named("datetime.timedelta"), duration),
    (named("decimal.Decimal", "uuid.UUID", "ipaddress.IPv4Address", "ipaddress.IPv6Address"), str),
    (lambda value: hasattr(value, "__fspath__"), lambda value: value.__fspath__()),
    (lambda value: isinstance(value, BASES), lambda value: dump_derived(value)),
    (lambda value: hasattr(value, "__get_pydantic_core_schema__"), by_pydantic),
)
"""Forms of objects, the first that applies."""


def dump_class(value: type) -> Json:
    """Refuse a class, which has the attributes of its objects."""
    raise TypeError(f"the handler returned the class {value.__name__}, which cannot be written as JSON")


def dump_fields(value: object) -> Json:
    """Return the fields of a dataclass's object."""
    fields: Any = sys.modules["dataclasses"].fields(value)
    return {field.name: dump(getattr(value, field.name)) for field in fields}


def dump_derived(value: object) -> Json:
    """Return the text or number that an object of a class made from `str`, `int` or `float` is."""
    return next(base(value) for base in BASES if isinstance(value, base))
