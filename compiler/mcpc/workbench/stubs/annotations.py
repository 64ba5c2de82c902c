"""Python's types of shapes, which are schemas in the plain keywords of `mcpc.schema.models.view`, and docstrings.

In a docstring only printable characters are written, and nothing ends the docstring that it is in.
"""

from __future__ import annotations

import ast
import json
import textwrap
from typing import TYPE_CHECKING, Any

from mcpc.schema.code import literal
from mcpc.schema.models.view_schemas import NOTES, UNLIMITED, visible_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.schema.models.view_schemas import Shape


SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
REFERENCE = "#/$defs/"
MOST_EXACT = 2**53
"""The first whole number that not every implementation of JSON has exactly (RFC 8259, section 6)."""
OTHER_MEMBERS = "Other members are allowed."
WIDTH = 100


def annotation(shape: Shape, unknown: str = "object") -> str:
    """Return the type of a value; `unknown`: the type of any value, `Any` inside of containers."""
    plain = bare(shape)
    if not plain:
        return unknown
    if "$ref" in plain:
        return referred(plain)
    if values := literals_of(plain):
        return f"Literal[{', '.join(map(literal, values))}]" if all(map(is_exact, values)) else wider(values)
    if members := unions_of(plain):
        return " | ".join(dict.fromkeys(annotation(member, unknown) for member in members))
    return " | ".join(of_kind(kind, plain) for kind in kinds_of(plain))


def wider(values: list[object]) -> str:
    """Return the types of values that cannot be types."""
    return " | ".join(dict.fromkeys("None" if value is None else type(value).__name__ for value in values))


def of_kind(kind: str, shape: Shape) -> str:
    """Return the type of a value of one kind.  A tuple is a list, as JSON makes it."""
    if kind == "array":
        inner = prefix_of(shape) or [inner_shape(shape.get("items"))]
        return f"list[{' | '.join(dict.fromkeys(annotation(item, 'Any') for item in inner))}]"
    if kind == "object":
        return f"dict[str, {annotation(inner_shape(shape.get('additionalProperties')), 'Any')}]"
    return SCALARS[kind]


def is_sound(name: str, definitions: Mapping[str, Shape]) -> bool:
    """Tell whether a definition does not stand for itself: there is no such alias."""
    seen, waiting = set[str](), [definitions[name]]
    while waiting:
        for target in direct_references(waiting.pop()):
            if target == name:
                return False
            if target not in seen:
                seen.add(target)
                waiting.append(definitions.get(target, {}))
    return True


def direct_references(shape: Shape) -> list[str]:
    """Return the definitions that a value of this shape itself has."""
    members = shape.get("anyOf")
    inner = [item for item in members if isinstance(item, dict)] if isinstance(members, list) else [shape]
    return [referred(item) for item in inner if "$ref" in item]


def referred(shape: Shape) -> str:
    """Return the name of the definition that a shape refers to."""
    return str(shape["$ref"]).removeprefix(REFERENCE)


def properties_of(shape: Shape) -> dict[str, Shape] | None:
    """Return the members of an object with names; None for any other shape."""
    found = shape.get("properties")
    return found if isinstance(found, dict) else None  # type: ignore[return-value]


def required_of(shape: Shape) -> frozenset[str]:
    found = shape.get("required")
    return frozenset(map(str, found)) if isinstance(found, list) else frozenset()


def bare(shape: Shape) -> Shape:
    """Return a shape without notes and limits, which types do not have."""
    return {key: value for key, value in shape.items() if key not in NOTES and key not in UNLIMITED}


def kinds_of(shape: Shape) -> list[str]:
    """Return the names of a shape's types: one, or one and `null`."""
    kind = shape.get("type")
    return [str(item) for item in kind] if isinstance(kind, list) else [str(kind)]


def literals_of(shape: Shape) -> list[Any]:
    """Return the values of an enumeration; an empty list for any other shape."""
    found = shape.get("enum")
    return found if isinstance(found, list) else []


def is_exact(value: object) -> bool:
    """Tell whether a value of an enumeration is a type: large numbers are not, which a server may have rounded."""
    return not isinstance(value, int) or abs(value) < MOST_EXACT


def unions_of(shape: Shape) -> list[Shape]:
    """Return the alternatives of a union; an empty list for any other shape."""
    found = shape.get("anyOf")
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def inner_shape(value: object) -> Shape:
    """Return a subschema; anything else accepts every value."""
    return value if isinstance(value, dict) else {}


def prefix_of(shape: Shape) -> list[Shape]:
    """Return the shapes of a tuple's members; an empty list for any other shape."""
    found = shape.get("prefixItems")
    return [inner_shape(item) for item in found] if isinstance(found, list) else []


def takes_nothing(shape: Shape) -> bool:
    """Tell whether a shape is that of an object without members."""
    return kinds_of(shape) == ["object"] and not properties_of(shape) and shape.get("additionalProperties") is False


def is_any_object(shape: Shape) -> bool:
    return kinds_of(shape) == ["object"] and not properties_of(shape) and shape.get("additionalProperties") is True


def docstring(text: str, indent: str) -> str:
    """Return a text as a docstring, with the indentation of its lines."""
    shown = visible_text(text).strip()
    lines = [line.rstrip() for line in shown.split("\n")]
    escaped = "\n".join(line and f"{indent}{line}" for line in lines).strip().replace("\\", "\\\\")
    body = escaped.replace('"""', '\\"\\"\\"')
    if body.endswith('"'):
        body = body[:-1] + '\\"'
    found = f'"""{body}\n{indent}"""' if len(lines) > 1 else f'"""{body}"""'
    return found if is_docstring(found, shown) else literal(shown)


def is_docstring(source: str, text: str) -> bool:
    """Tell whether a source is one string, with the words of a text."""
    try:
        found = ast.literal_eval(source)
    except (SyntaxError, ValueError, MemoryError):
        return False
    return isinstance(found, str) and found.split() == text.split()


def member_lines(members: Mapping[str, Shape]) -> Iterator[str]:
    """Yield a line for each member that has something to say."""
    for name, shape in members.items():
        if words := member_text(shape):
            yield from textwrap.wrap(
                f"{name}: {words}", WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
            )


def member_text(shape: Shape) -> str:
    """Return what a type does not say about a member, in one line."""
    said = " ".join(str(shape.get("description", "")).split())
    limits = [f"{key} {json.dumps(shape[key])}" for key in sorted(UNLIMITED & shape.keys())]
    if "default" in shape:
        limits.append(f"default {json.dumps(shape['default'])}")
    return f"{said} ({', '.join(limits)})".strip() if limits else said


def full_text(shape: Shape, members: Mapping[str, Shape]) -> str:
    """Return the text of an object with names: its description, its members, and what else it may have."""
    extras = shape.get("additionalProperties")
    others = OTHER_MEMBERS if isinstance(extras, dict) and extras else ""
    paragraphs = (str(shape.get("description", "")), "\n".join(member_lines(members)), others)
    return "\n\n".join(part for part in paragraphs if part)
