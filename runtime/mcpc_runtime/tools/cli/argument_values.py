"""Parse the arguments of a tool from a command line (`NAME=VALUE`), by the schema of the tool.

| the schema of the argument allows | VALUE is |
|---|---|
| strings only | that string, unchanged: `5` is "5" |
| no strings | JSON |
| strings and others | JSON if its type is allowed (also a string in quotes), else that string |
| anything, or the argument is unknown | JSON if valid, else that string |

Invalid values are left to the validator, which rejects them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from mcpc_runtime.protocol.jsonrpc import Json
from mcpc_runtime.tools.cli.artifact_info import Object

ALL_TYPES = frozenset({"null", "boolean", "object", "array", "number", "string"})
"""The types of JSON; integers are numbers here, since the validator distinguishes them."""
TYPES = {type(None): "null", bool: "boolean", dict: "object", list: "array", int: "number", float: "number"}
MAX_DEPTH = 8
"""The most nested schemas that are followed; deeper ones allow anything."""


class ArgumentValueError(Exception):
    """The arguments cannot be parsed; the message states why."""


def parse_arguments(words: Iterable[str], schema: Object) -> Object:
    """Return the arguments of a command line."""
    properties = schema.get("properties")
    properties = properties if type(properties) is dict else {}
    arguments: Object = {}
    for name, value in split_arguments(words, properties):
        arguments[name] = parse_value(value, allowed_types(properties.get(name, True), schema, MAX_DEPTH))
    return arguments


def split_arguments(words: Iterable[str], known: Iterable[str] = ()) -> Iterable[tuple[str, str]]:
    """Yield name and value of each argument; raise ArgumentValueError if one is not NAME=VALUE or a repeated name.

    `known`: names for a suggestion.
    """
    seen: set[str] = set()
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise ArgumentValueError(f"{word!r} is not NAME=VALUE{suggested(word, [*known], seen)}")
        if name in seen:
            raise ArgumentValueError(f"{name} is given twice; several values are one JSON array: {name}='[…, …]'")
        seen.add(name)
        yield name, value


def suggested(word: str, known: list[str], seen: set[str]) -> str:
    """Return how a word may have been meant: as an option of a known name, or as the value of the next name."""
    left = [name for name in known if name not in seen]
    if word.lstrip("-") in left:
        return f"; did you mean {word.lstrip('-')}=VALUE?"
    return f"; did you mean {left[0]}={word}?" if left and word.isalnum() else ""


def parse_value(text: str, allowed: frozenset[str]) -> Json:
    """Return the value of a text where values of these types are allowed."""
    if allowed == {"string"}:
        return text
    try:
        value = json.loads(text, parse_constant=refuse_constant)
    except (ValueError, RecursionError):
        return text
    return value if "string" not in allowed or TYPES.get(type(value), "string") in allowed else text


def refuse_constant(word: str) -> None:
    """Reject `NaN` and `Infinity`, which Python accepts as JSON."""
    raise ValueError(word)


def allowed_types(schema: object, root: Object, depth: int) -> frozenset[str]:
    """Return the types that a schema allows, by `type`, `enum`, `const`, `$ref` and combinations."""
    if type(schema) is not dict or depth == 0:
        return ALL_TYPES
    types = type_keyword(schema.get("type"))
    for values in (schema.get("enum"), [schema["const"]] if "const" in schema else None):
        if type(values) is list:
            types &= {TYPES.get(type(value), "string") for value in values}
    reference = schema.get("$ref")
    if type(reference) is str:
        types &= allowed_types(resolve_reference(reference, root), root, depth - 1)
    for keyword in ("anyOf", "oneOf"):
        if type(schema.get(keyword)) is list:
            types &= frozenset().union(*(allowed_types(part, root, depth - 1) for part in schema[keyword]))
    if type(schema.get("allOf")) is list:
        types &= ALL_TYPES.intersection(*(allowed_types(part, root, depth - 1) for part in schema["allOf"]))
    return types


def type_keyword(value: Json) -> frozenset[str]:
    """Return the types that the keyword `type` allows."""
    if type(value) is not str and type(value) is not list:
        return ALL_TYPES
    names = [value] if type(value) is str else value
    return frozenset("number" if name == "integer" else name for name in names if type(name) is str)


def resolve_reference(reference: str, root: Object) -> Json:
    """Return the schema of a reference into the same schema; True for other references."""
    schema: Json = root
    path, _, pointer = reference.partition("#")
    if path:
        return True
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if type(schema) is not dict or name not in schema:
            return True
        schema = schema[name]
    return schema
