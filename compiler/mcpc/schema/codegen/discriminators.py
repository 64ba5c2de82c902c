"""Tags that discriminate the alternatives of `anyOf` and `oneOf`, and code that selects alternatives by the tag.

The tag is the property to which each alternative gives different constants:

    [{"properties": {"kind": {"const": "a"}, "url": {}}}, {"properties": {"kind": {"const": "b"}, "file": {}}}]

has the tag `kind`.  Only what surely describes the value counts: `properties`, also behind `$ref` and in `allOf`.
Messages name the intended alternative by its tag.  Generated code uses a tag only if every alternative is an object
that requires the property and no two share a value; otherwise all alternatives are tried.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from mcpc.schema.code import fill, join_code, literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcpc.reading import Json, Member, Node
    from mcpc.schema.analysis import SchemaAnalysis, Subschema
    from mcpc.schema.code import PythonCode
    from mcpc.schema.codegen.program import GeneratedModule

FEW = 40
"""Maximum number of examined properties of an alternative, and of schemas that describe it together."""
CONSTANTS = 20
"""A property with more constants is not a tag."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """The properties an alternative has names for, and those of them that have constants."""

    names: tuple[str, ...]
    constants: dict[str, tuple[Json, ...]]


def told_apart(program: GeneratedModule, keyword: str, schemas: Sequence[Node]) -> PythonCode:
    """Return the keyword, the tag or None, and the tag's values and the property names of each alternative."""
    alternatives = [_alternative(program.survey, node) for node in schemas]
    tag = _tag(alternatives)
    rows = [_row(program, alternative, tag) for alternative in alternatives]
    name = literal(tag) if tag is None else program.text(tag)
    return program.constant(fill("(%s, %s, [%s])", literal(keyword), name, join_code(", ", rows)))


def _row(program: GeneratedModule, alternative: Alternative, tag: str | None) -> PythonCode:
    values = () if tag is None else alternative.constants.get(tag, ())
    return program.constant(literal((values, alternative.names)))


def _alternative(survey: SchemaAnalysis, node: Node) -> Alternative:
    members = tuple(islice(_properties(survey, node), FEW))
    constants = {member.key: _constants(survey.at(member.node)) for member in members}
    return Alternative(
        tuple(dict.fromkeys(member.key for member in members)),
        {name: values for name, values in constants.items() if values},
    )


def _properties(survey: SchemaAnalysis, node: Node) -> Iterator[Member]:
    """Yield the properties that the schema at `node`, and those that describe the same value with it, name."""
    waiting = [survey.at(node)]
    seen: set[Node] = set()
    while waiting and len(seen) < FEW:
        schema = waiting.pop()
        if schema.node not in seen:
            seen.add(schema.node)
            properties = schema.keywords.get("properties")
            yield from properties.members if properties else ()
            waiting += [survey.at(child) for child in reversed(_together(schema))]


def _together(schema: Subschema) -> tuple[Node, ...]:
    reference = schema.keywords.get("$ref")
    return (*((reference,) if reference else ()), *schema.children("allOf"))


def _constants(schema: Subschema) -> tuple[Json, ...]:
    """Return the only values a property may have, if they are few and plain."""
    constant, constants = schema.keywords.get("const"), schema.keywords.get("enum")
    values = [constant] if constant else list(constants.items) if constants else []
    is_plain = len(values) <= CONSTANTS and all(value.kind not in ("array", "object") for value in values)
    return tuple(value.value for value in values) if is_plain else ()


def _tag(alternatives: Sequence[Alternative]) -> str | None:
    """Return the property that most alternatives give constants to, none of which another gives; None if none does."""
    # A property with constants in one alternative only tells none of them apart.
    best, most = None, 1
    for name in dict.fromkeys(name for alternative in alternatives for name in alternative.constants):
        given = [alternative.constants[name] for alternative in alternatives if name in alternative.constants]
        # By their texts, since 1 and True are equal.
        values = [value for group in given for value in dict.fromkeys(map(repr, group))]
        if len(given) > most and len(set(values)) == len(values):
            best, most = name, len(given)
    return best


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
    """Return the target of a schema that is only a reference."""
    # It ends: references that lead back to themselves have been refused.
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
    values = [constant.value] if constant else [item.value for item in constants.items] if constants else []
    return tuple(dict.fromkeys(str(value) for value in values)) if all(type(value) is str for value in values) else ()
