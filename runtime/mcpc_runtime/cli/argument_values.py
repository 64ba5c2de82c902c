"""The arguments that words on a command line mean (`NAME=VALUE`), by the schema of the tool that is called.

| the schema of the argument allows | VALUE is |
|---|---|
| strings only | that string, as it is: `5` is "5" |
| no strings | JSON |
| strings and others | JSON if its type is allowed (a string in quotes, too), else that string |
| anything, or the tool does not know the argument | JSON if it can be, else that string |

What does not fit is left to the validator, which says so.
"""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcpc_runtime.cli.artifact_info import Object
    from mcpc_runtime.protocol.jsonrpc import Json

ALL = frozenset({"null", "boolean", "object", "array", "number", "string"})
"""The types of JSON; integers are numbers here, and the validator tells them apart."""
TYPES = {type(None): "null", bool: "boolean", dict: "object", list: "array", int: "number", float: "number"}
DEEPEST = 8
"""So many schemas within each other are followed; what is below may be anything."""


class ArgumentValueError(Exception):
    """The words cannot be arguments; the message says why."""


def arguments(words: Iterable[str], schema: Object) -> Object:
    """Return the arguments that the words name."""
    known = schema.get("properties")
    properties = known if type(known) is dict else {}
    found: Object = {}
    for name, value in pairs(words):
        found[name] = value_of(value, types(properties.get(name, True), schema, DEEPEST))
    return found


def pairs(words: Iterable[str]) -> Iterable[tuple[str, str]]:
    """Yield name and value of each word; raise ValuesError for what is not NAME=VALUE, or names something again."""
    seen: set[str] = set()
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise ArgumentValueError(f"{word!r} is not NAME=VALUE")
        if name in seen:
            raise ArgumentValueError(f"{name} is given twice; several values are one JSON array: {name}='[…, …]'")
        seen.add(name)
        yield name, value


def value_of(text: str, allowed: frozenset[str]) -> Json:
    """Return the value that a text means where values of these types are allowed."""
    if allowed == {"string"}:
        return text
    try:
        value = json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError):
        return text
    return value if "string" not in allowed or TYPES.get(type(value), "string") in allowed else text


def refuse(word: str) -> None:
    """Refuse `NaN` and `Infinity`, which Python would take for JSON."""
    raise ValueError(word)


def types(schema: object, root: Object, depth: int) -> frozenset[str]:
    """Return the types of the values that a schema allows, as far as it says them in usual ways."""
    if type(schema) is not dict or depth == 0:
        return ALL
    found = named(schema.get("type"))
    for values in (schema.get("enum"), [schema["const"]] if "const" in schema else None):
        if type(values) is list:
            found &= {TYPES.get(type(value), "string") for value in values}
    reference = schema.get("$ref")
    if type(reference) is str:
        found &= types(target(reference, root), root, depth - 1)
    for keyword in ("anyOf", "oneOf"):
        if type(schema.get(keyword)) is list:
            found &= frozenset().union(*(types(part, root, depth - 1) for part in schema[keyword]))
    if type(schema.get("allOf")) is list:
        found &= ALL.intersection(*(types(part, root, depth - 1) for part in schema["allOf"]))
    return found


def named(said: Json) -> frozenset[str]:
    """Return the types that `type` names."""
    if type(said) is not str and type(said) is not list:
        return ALL
    names = [said] if type(said) is str else said
    return frozenset("number" if name == "integer" else name for name in names if type(name) is str)


def target(reference: str, root: Object) -> Json:
    """Return the schema that a reference into the same schema leads to; True for any other."""
    found: Json = root
    path, _, pointer = reference.partition("#")
    if path:
        return True
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if type(found) is not dict or name not in found:
            return True
        found = found[name]
    return found
