"""Schemas of tools that a framework or a library made, not a person, who could correct what is wrong in them.

What is valid in no draft, or only in an earlier one than the schema says, is repaired if it has one meaning: a name
twice in `required`, `exclusiveMinimum: true` beside `minimum`, a keyword whose value is null.  A property that is not
valid even so allows everything; if there is no such property, the whole schema does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpc.diagnostics import Span, diagnose
from mcpc.reading.json_tree import implied_node
from mcpc.schema import compile_schema
from mcpc.schema.keyword_shapes import SCHEMA, SCHEMAS, SCHEMAS_BY_NAME, SCHEMAS_BY_PATTERN
from mcpc.schema.keywords import KEYWORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mcpc.diagnostics import Diagnostic

    Schema = dict[str, Any]

INVALID = frozenset({"MCP110", "MCP111", "MCP112", "MCP113", "MCP114", "MCP117"})
MAY_BE_NULL = frozenset({"const", "default"})
BOUNDS = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}
EARLIER_DRAFTS = frozenset({"http://json-schema.org/draft-03/schema", "http://json-schema.org/draft-04/schema"})
"""Drafts that the runtime does not know; their differences are those that are repaired here."""
SHOWN = ("title", "description")
HINT = "clients see the schema without it; correct the library or the document that makes this schema"


def usable_schemas(entry: dict[str, Any], span: Span) -> tuple[dict[str, Any], list[Diagnostic]]:
    """Return a tool with schemas that are valid, and a warning for each part that had to be loosened."""
    problems: list[Diagnostic] = []
    for key in ("inputSchema", "outputSchema"):
        if isinstance(entry.get(key), dict):
            written = entry[key] if key == "outputSchema" or "type" in entry[key] else {"type": "object", **entry[key]}
            schema = repaired(written) if fault_of(written, span) else written  # what is valid keeps even its order
            for pointer, fault in loosened(schema, span):
                where = f"`/{key}{pointer}` of the tool `{entry.get('name')}`"
                problems.append(diagnose("MCP319", span, f"{where} is no valid schema: {fault}", "", HINT))
            entry = {**entry, key: schema}
    return entry, problems


def repaired(schema: Any) -> Any:
    """Return a schema in which what has one meaning is written as JSON Schema 2020-12 writes it."""
    if not isinstance(schema, dict):
        return schema
    whole: Schema = {key: value for key, value in schema.items() if value is not None or key in MAY_BE_NULL}
    for repair in REPAIRS:
        repair(whole)
    return {key: repaired_parts(key, value) for key, value in whole.items()}


def repaired_parts(key: str, value: Any) -> Any:
    """Return the value of a keyword with repaired subschemas."""
    shape = KEYWORDS[key].shape if key in KEYWORDS else None
    if shape in (SCHEMAS_BY_NAME, SCHEMAS_BY_PATTERN) and isinstance(value, dict):
        return {name: repaired(part) for name, part in value.items()}
    if shape in (SCHEMA, SCHEMAS):
        return [repaired(part) for part in value] if isinstance(value, list) else repaired(value)
    return value


def drop_earlier_draft(schema: Schema) -> None:
    """Leave out the name of a draft that is not known."""
    if str(schema.get("$schema", "")).rstrip("#") in EARLIER_DRAFTS:
        del schema["$schema"]


def take_required_properties(schema: Schema) -> None:
    """Name in `required` the properties that say so themselves, as in draft 3."""
    properties = schema.get("properties")
    names = schema.pop("required", None)
    names = [*names] if isinstance(names, list) else []
    if isinstance(properties, dict):
        dicts = ((name, part) for name, part in properties.items() if isinstance(part, dict))
        marked = {name: part for name, part in dicts if part.get("required") is True}
        names += marked
        plain = {name: {key: part[key] for key in part if key != "required"} for name, part in marked.items()}
        schema["properties"] = {**properties, **plain}
    if names:
        schema["required"] = names


def write_bounds(schema: Schema) -> None:
    """Write an exclusive bound as the number itself, as since draft 6."""
    for key, bound in BOUNDS.items():
        if isinstance(schema.get(key), bool) and schema.pop(key) and bound in schema:
            schema[key] = schema.pop(bound)


def drop_repetitions(schema: Schema) -> None:
    """Name each type and each property once."""
    for key in ("required", "type"):
        items = schema.get(key)
        if isinstance(items, list):
            schema[key] = [item for place, item in enumerate(items) if item not in items[:place]]


def write_positions(schema: Schema) -> None:
    """Write schemas by position as `prefixItems`, where no draft is named that has another form."""
    if isinstance(schema.get("items"), list) and not {"$schema", "prefixItems"} & schema.keys():
        schema["prefixItems"] = schema.pop("items")
        if "additionalItems" in schema:
            schema["items"] = schema.pop("additionalItems")


REPAIRS: tuple[Callable[[Schema], None], ...] = (
    drop_earlier_draft,
    take_required_properties,
    write_bounds,
    drop_repetitions,
    write_positions,
)


def loosened(schema: Schema, span: Span) -> Iterator[tuple[str, str]]:
    """Let what is not valid allow everything; yield its pointer, and what is wrong with it."""
    if not fault_of(schema, span):
        return
    properties = schema.get("properties")
    if isinstance(properties, dict) and not fault_of({**schema, "properties": {}}, span):
        for name, part in list(properties.items()):
            wrong = fault_of({**schema, "properties": {name: part}}, span)
            if wrong:
                texts = part if isinstance(part, dict) else {}
                properties[name] = {key: texts[key] for key in SHOWN if isinstance(texts.get(key), str)}
                yield f"/properties/{name.replace('~', '~0').replace('/', '~1')}", wrong
    rest = fault_of(schema, span)
    if rest:
        schema.clear()
        schema["type"] = "object"
        yield "", rest


def fault_of(schema: Schema, span: Span) -> str:
    """Return why a schema is not valid, empty if it is."""
    problems = compile_schema(implied_node(schema, span))[1]
    return next((problem.message for problem in problems if problem.code in INVALID), "")
