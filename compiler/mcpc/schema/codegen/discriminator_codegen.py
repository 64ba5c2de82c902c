"""Choice of an alternative by its tag: one of the value's properties tells which alternatives could accept it.

    oneOf: [{type: object, required: [kind], properties: {kind: {const: file}, …}}, {… kind: {const: url} …}]

An alternative that is not an object's, or that does not require the tag, or shares a value of it, spoils that: then all
of them have to be asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpc.schema.analysis import SchemaAnalysis, Subschema
    from mcpc.sources import Node

Values = tuple[str, ...]


def tag_of(survey: SchemaAnalysis, schemas: Sequence[Node]) -> tuple[str, tuple[Values, ...]] | None:
    """Return the tag of some alternatives, and the values that each of them has for it; None if there is none."""
    branches = [_itself(survey, survey.at(node)) for node in schemas]
    if len(branches) < 2 or not all(schema.types == ("object",) for schema in branches):
        return None
    for name in _required(branches[0]):
        values = tuple(_values(survey, schema, name) for schema in branches)
        every = [value for group in values for value in group]
        if all(values) and len(set(every)) == len(every):
            return name, values
    return None


def _itself(survey: SchemaAnalysis, schema: Subschema) -> Subschema:
    """Return the schema that a schema of nothing but a reference stands for."""
    while len(schema.keywords) == 1 and "$ref" in schema.keywords:
        schema = survey.at(schema.keywords["$ref"])
    return schema


def _required(schema: Subschema) -> Values:
    required = schema.keywords.get("required")
    return tuple(str(item.value) for item in required.items) if required else ()


def _values(survey: SchemaAnalysis, schema: Subschema, name: str) -> Values:
    """Return the strings that a schema requires one of at the property `name`; none if it takes anything else there."""
    properties = schema.keywords.get("properties")
    node = properties.get(name) if properties and name in _required(schema) else None
    if node is None:
        return ()
    keywords = survey.at(node).keywords
    constant, constants = keywords.get("const"), keywords.get("enum")
    found = [constant.value] if constant else [item.value for item in constants.items] if constants else []
    return tuple(dict.fromkeys(str(value) for value in found)) if all(type(value) is str for value in found) else ()
