"""Convert a handler's result to JSON, in the form that the schema of its type describes.

The forms are those of pydantic: a time in UTC ends in `Z`, a decimal number is a string, a set is an array (sorted, so
that equal results have equal texts).  An object of another class is its text, as `str` makes it, if it has one.

Results that have no JSON form: the error names the place in the result, and what to return instead.
"""

from __future__ import annotations

import sys
from binascii import b2a_base64
from collections.abc import Callable, Iterable, Iterator
from datetime import date, time, timedelta
from enum import Enum
from typing import Any

from mcpc_runtime.handlers.python.bindings.models import dump_model
from mcpc_runtime.protocol.jsonrpc import Json

GENERATED_MODELS = "mcpc_app.models."
"""The prefix of generated models, which omit unset fields."""
ANYTHING = "return texts, numbers, lists, dicts, a dataclass or a model of pydantic"
IMAGE = (
    'save it as PNG to a `BytesIO`, and return `[{"type": "image", "mimeType": "image/png", "data": '
    "base64.b64encode(file.getvalue()).decode()}]`"
)
HELPERS: dict[tuple[str, str], str] = {
    ("PIL", "Image"): IMAGE,
    ("builtins", "async_generator"): "return `[item async for item in …]`",
    ("builtins", "coroutine"): "return `await …`, in an `async def`",
    ("httpx", "Response"): "return its `.json()` or `.text`",
    ("matplotlib", "Figure"): IMAGE,
    ("numpy", "ndarray"): "return its `.tolist()`",
    ("pandas", "DataFrame"): 'return its `.to_dict("records")`',
    ("pandas", "Series"): "return its `.to_list()`",
    ("polars", "DataFrame"): "return its `.to_dicts()`",
    ("polars", "Series"): "return its `.to_list()`",
    ("pyarrow", "Table"): "return its `.to_pylist()`",
    ("requests", "Response"): "return its `.json()` or `.text`",
    ("torch", "Tensor"): "return its `.tolist()`",
}
"""What to return in place of an object, by the package and the name of its class."""
PLAIN = frozenset({str, int, float, bool, type(None)})
BASES = (str, int, float)


def to_json(value: Any) -> Json:
    """Return a value as JSON; raise TypeError if it has no JSON form."""
    kind = type(value)
    if kind in PLAIN:
        if kind is float and value - value:  # NaN or an infinity, whose difference is NaN
            raise ValueError(f"{value} is not a number of JSON")
        plain: Json = value
        return plain
    if kind is list or kind is tuple:
        return [to_json(item) for item in value]
    if kind is dict:
        return {dict_key_text(name): to_json(item) for name, item in value.items()}
    for applies, write in JSON_FORMS:
        if applies(value):
            return write(value)
    raise TypeError(f"{kind.__name__} cannot be written as JSON")


def dict_key_text(name: object) -> str:
    """Return the key of a dict as a string."""
    if isinstance(name, tuple):
        return ",".join(map(dict_key_text, name))
    plain = to_json(name)
    return KEY_TEXTS[plain] if isinstance(plain, bool) or plain is None else plain if type(plain) is str else str(plain)


# As pydantic writes keys: truth values as in JSON, None as in Python.
KEY_TEXTS = {True: "true", False: "false", None: "None"}


def iso_duration(value: timedelta) -> str:
    """Return a time delta as an ISO 8601 duration."""
    # The parts of a negative timedelta are negative days and positive seconds.
    sign, value = ("-", -value) if value.days < 0 else ("", value)
    hours, rest = divmod(value.seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    fraction = f".{value.microseconds:06}".rstrip("0") if value.microseconds else ""
    day = f"{value.days}D" if value.days else ""
    parts = ((hours, f"{hours}H"), (minutes, f"{minutes}M"), (seconds or fraction, f"{seconds}{fraction}S"))
    clock = "".join(text for amount, text in parts if amount)
    return f"{sign}P{day}{f'T{clock}' if clock else ''}" if day or clock else "PT0S"


def iso_time(value: date | time) -> str:
    """Return a date or time as ISO 8601 writes it."""
    text = value.isoformat()
    return f"{text[:-6]}Z" if text.endswith("+00:00") else text


def dump_set(items: Iterable[object]) -> list[Json]:
    """Return the items of a set, in a fixed order."""
    items_json: list[Any] = [to_json(item) for item in items]
    try:
        return sorted(items_json)
    # Items of several types, and objects, have no order of their own.
    except TypeError:
        return sorted(items_json, key=repr)


def dump_by_pydantic(value: object) -> Json:
    """Convert a type of pydantic by its TypeAdapter."""
    plain: Json = sys.modules["pydantic"].TypeAdapter(type(value)).dump_python(value, mode="json")
    return plain


def is_instance_of_names(*names: str) -> Callable[[object], bool]:
    """Return a test for instances of the named classes and their subclasses."""
    return lambda value: any(f"{kind.__module__}.{kind.__qualname__}" in names for kind in type(value).__mro__)


JSON_FORMS: tuple[tuple[Callable[[object], bool], Callable[[Any], Json]], ...] = (
    # First, because a class has the attributes by which its instances are told below.
    (lambda value: isinstance(value, type) or bool(instead_of(value)), lambda value: refuse(value)),
    # Before texts and numbers, which the members of an enumeration may be, too.
    (lambda value: isinstance(value, Enum), lambda value: to_json(value.value)),
    (lambda value: is_generated_model(value), lambda value: to_json(dump_model(value))),
    (lambda value: hasattr(value, "model_dump"), lambda value: value.model_dump(mode="json")),
    (lambda value: hasattr(value, "__dataclass_fields__"), lambda value: dump_fields(value)),
    (lambda value: isinstance(value, set | frozenset), dump_set),
    (lambda value: isinstance(value, list | tuple), lambda value: [to_json(item) for item in value]),
    (lambda value: isinstance(value, dict), lambda value: to_json(dict(value))),
    (lambda value: isinstance(value, bytes | bytearray), lambda value: value.decode()),
    (lambda value: hasattr(value, "isoformat"), iso_time),
    (is_instance_of_names("datetime.timedelta"), iso_duration),
    (lambda value: isinstance(value, complex), lambda value: str(value).strip("()")),
    (is_instance_of_names("re.Pattern"), lambda value: to_json(value.pattern)),
    (is_instance_of_names("collections.deque", "builtins.generator"), lambda value: [to_json(item) for item in value]),
    (is_instance_of_names("numpy.generic"), lambda value: to_json(value.item())),
    (lambda value: hasattr(value, "__fspath__"), lambda value: value.__fspath__()),
    (lambda value: isinstance(value, BASES), lambda value: dump_derived(value)),
    (lambda value: hasattr(value, "__get_pydantic_core_schema__"), dump_by_pydantic),
    (lambda value: has_text(value), str),
)
"""The conversions of objects; the first that applies is used."""


def instead_of(value: object) -> str:
    """Return what to return in place of an object of a known class, an empty string for others."""
    helpers = (HELPERS.get((kind.__module__.partition(".")[0], kind.__name__)) for kind in type(value).__mro__)
    return next(filter(None, helpers), "")


def has_text(value: object) -> bool:
    """Tell whether the text of an object is written for people: not `<object at 0x7f…>`, nor `<function f>`."""
    return type(value).__str__ is not object.__str__ or not repr(value).startswith("<")


def is_generated_model(value: object) -> bool:
    """Tell whether this is an instance of a model that mcpc generated."""
    return any(kind.__module__.startswith(GENERATED_MODELS) for kind in type(value).__mro__)


def refuse(value: object) -> Json:
    """Raise TypeError for an object that has what later rows test for, and is not a result."""
    raise TypeError(f"{value!r} cannot be written as JSON")


def dump_fields(value: object) -> Json:
    """Return the fields of a dataclass instance."""
    return {field.name: to_json(getattr(value, field.name)) for field in sys.modules["dataclasses"].fields(value)}


def dump_derived(value: object) -> Json:
    """Return an instance of a subclass of `str`, `int` or `float` as its base type."""
    return to_json(next(base(value) for base in BASES if isinstance(value, base)))


def result_to_json(value: object) -> Json:
    """Return a result as JSON; raise TypeError or ValueError, which name the place in it, if it has no JSON form."""
    try:
        return to_json(value)
    except (TypeError, ValueError):
        place, part = place_of_fault(value, "")
    # Not in the except clause: the first exception would be the context of this one.
    raise fault(part, f" at `{place}`" if place else "")


def bytes_text(value: bytes) -> str:
    """Return bytes as text: UTF-8, or base64."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return b2a_base64(value, newline=False).decode()


def place_of_fault(value: object, place: str) -> tuple[str, object]:
    """Return the innermost part without a JSON form, and its place as a JSON pointer."""
    # Each level converts its parts again, O(size * depth), but only of a result that has failed.
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
        number = "NaN" if value != value else "an infinite number"
        return ValueError(
            f"the handler returned {number}{place}, which JSON does not have; return None or a text for it"
        )
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
