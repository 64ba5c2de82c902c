"""What the schema of a file says about a place in it: the schemas that apply there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcpc.workbench.language_server.cursor import Step

JsonSchema = dict[str, Any]
MAX_SCHEMAS = 200
IN_PLACE = ("allOf", "anyOf", "oneOf")
CONDITIONAL = ("then", "else")


def schemas_at(root: JsonSchema, path: Sequence[Step]) -> list[JsonSchema]:
    """Return the schemas of the value at a path, without those that say nothing."""
    found = [*_alternatives(root, root)]
    for step in path:
        found = [each for schema in found for below in _below(schema, step) for each in _alternatives(below, root)][
            :MAX_SCHEMAS
        ]
    return found


def _alternatives(schema: object, root: JsonSchema) -> Iterator[JsonSchema]:
    """Yield a schema, and those in it that apply to the same value."""
    if not isinstance(schema, dict):
        return
    yield schema
    if "$ref" in schema:
        yield from _alternatives(_referred(schema["$ref"], root), root)
    for keyword in IN_PLACE:
        for each in schema.get(keyword, ()):
            yield from _alternatives(each, root)
    for keyword in CONDITIONAL:
        if keyword in schema:
            yield from _alternatives(schema[keyword], root)


def _referred(reference: str, root: JsonSchema) -> object:
    value: Any = root
    for part in reference.removeprefix("#/").split("/"):
        value = value.get(part, {}) if isinstance(value, dict) else {}
    return value


def _below(schema: JsonSchema, step: Step) -> Iterator[object]:
    if isinstance(step, int):
        yield schema.get("items")
    elif step in schema.get("properties", ()):
        yield schema["properties"][step]
    else:
        yield schema.get("additionalProperties")


def properties_of(schemas: Sequence[JsonSchema]) -> dict[str, JsonSchema]:
    """Return the properties that schemas name, each with the schema that says most."""
    found: dict[str, JsonSchema] = {}
    for schema in schemas:
        for name, value in schema.get("properties", {}).items():
            if isinstance(value, dict) and len(value) >= len(found.get(name, ())):
                found[name] = value
    return found


def values_of(schemas: Sequence[JsonSchema]) -> list[object]:
    """Return the values that schemas list: of `enum`, `const`, and the booleans."""
    found: list[object] = []
    for schema in schemas:
        found += schema.get("enum", ())
        found += [schema["const"]] if "const" in schema else []
        found += [True, False] if schema.get("type") == "boolean" else []
    return [value for number, value in enumerate(found) if value not in found[:number] or isinstance(value, bool)]


def descriptions_of(schemas: Sequence[JsonSchema]) -> list[str]:
    """Return the descriptions of schemas, each once."""
    return [*dict.fromkeys(str(schema["description"]) for schema in schemas if "description" in schema)]
