"""Questions to a server: the calls of its table, and those that its own lists suggest and that cannot do harm.

A call without a required argument, and one with a value of a wrong type, never reach a function; a prompt is only text.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from originals import schemas

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from originals.subjects import Call

PROMPTS = 3
WRONG = {"integer": "many", "number": "many", "boolean": "perhaps", "array": 7, "object": 7}
RIGHT = {"string": "x", "integer": 1, "number": 1, "boolean": True, "array": [], "object": {}}


@dataclass(frozen=True, slots=True)
class Question:
    """A request with what it is for.  `mask`: regular expressions of what may differ in the answer's texts."""

    kind: str
    method: str
    params: Mapping[str, Any]
    mask: Sequence[str] = ()


def of_table(calls: Sequence[Call]) -> Iterator[Question]:
    """Yield the questions that a table has."""
    for call in calls:
        if call.resource:
            yield Question("resource", "resources/read", {"uri": call.resource}, call.mask)
        elif call.prompt:
            params = {"name": call.prompt, "arguments": call.arguments}
            yield Question("prompt", "prompts/get", params, call.mask)
        else:
            yield tool("call", call.tool, call.arguments, call.mask)


def of_lists(tools: Sequence[Mapping[str, Any]], prompts: Sequence[Mapping[str, Any]]) -> Iterator[Question]:
    """Yield the questions that the lists suggest."""
    yield from list(missing(tools))[:1]
    yield from list(mistyped(tools))[:1]
    if tools:
        yield tool("unknown tool", "there_is_no_such_tool", {})
    for prompt in prompts[:PROMPTS]:
        given = {one["name"]: "x" for one in prompt.get("arguments") or ()}
        yield Question("prompt", "prompts/get", {"name": prompt["name"], "arguments": given})


def of_everything(lists: Mapping[str, Any]) -> Iterator[Question]:
    """Yield a call of each tool with made-up arguments, and a reading of each resource and template."""
    for one in lists["tools"]:
        schema = one["inputSchema"]
        yield tool("call", one["name"], made_up(schema, schema))
    for one in lists["resources"]:
        yield Question("resource", "resources/read", {"uri": one["uri"]})
    for one in lists["resourceTemplates"]:
        uri = re.sub(r"\{[^}]*\}", "x", re.sub(r"\{[?&][^}]*\}", "", one["uriTemplate"]))
        yield Question("resource", "resources/read", {"uri": uri})


def made_up(schema: Any, root: Mapping[str, Any]) -> Any:
    """Return a value that a schema accepts: of an object, its required members."""
    if not isinstance(schema, dict):
        return "x"
    if "$ref" in schema:
        return made_up(schemas.target(schema["$ref"], root), root)
    for name in ("anyOf", "oneOf", "allOf"):
        if schema.get(name):
            return made_up(schema[name][0], root)
    if "enum" in schema or "const" in schema:
        return schema.get("enum", [schema.get("const")])[0]
    kind = schema.get("type", "string")
    if kind == "object":
        properties = schema.get("properties", {})
        return {name: made_up(properties.get(name), root) for name in schema.get("required", ())}
    if kind == "array":
        return [made_up(schema.get("items"), root)] * max(1, schema.get("minItems", 1))
    return schema.get("default", schema.get("minimum", RIGHT.get(kind if isinstance(kind, str) else "", "x")))


def missing(tools: Sequence[Mapping[str, Any]]) -> Iterator[Question]:
    """Yield a call of each tool that has a required argument, without it."""
    for one in tools:
        if one["inputSchema"].get("required"):
            yield tool("missing argument", one["name"], {})


def mistyped(tools: Sequence[Mapping[str, Any]]) -> Iterator[Question]:
    """Yield a call of each tool that has an argument of a type that no text can be, with a wrong value for it."""
    for one in tools:
        schema = one["inputSchema"]
        properties: Mapping[str, Mapping[str, Any]] = schema.get("properties", {})
        wrong = next((name for name, found in properties.items() if kind_of(found) in WRONG), None)
        if wrong is None:
            continue
        given = {name: RIGHT.get(kind_of(properties[name]), "x") for name in schema.get("required", ())}
        yield tool("wrong type", one["name"], {**given, wrong: WRONG[kind_of(properties[wrong])]})


def kind_of(schema: Mapping[str, Any]) -> str:
    """Return the one type that a schema allows; an empty text if it allows several, or any."""
    found = schema.get("type", "")
    return found if isinstance(found, str) else ""


def tool(kind: str, name: str, arguments: Mapping[str, Any], mask: Sequence[str] = ()) -> Question:
    """Return a call."""
    return Question(kind, "tools/call", {"name": name, "arguments": arguments}, mask)


def recorded(question: Question) -> dict[str, Any]:
    """Return a question as it is kept."""
    return asdict(question)


def again(rows: Sequence[Mapping[str, Any]]) -> list[Question]:
    """Return the questions that were kept."""
    return [Question(row["kind"], row["method"], row["params"], row["mask"]) for row in rows]
