"""Code for the keywords that apply other schemas to the same value."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from mcpc.schema.code import fill, join_code
from mcpc.schema.conditions import Condition, every, holds, negated, some

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc.reading import Node
    from mcpc.schema.codegen.walker import ValuePlace

SHOWN = 200
"""Maximum length of a schema after `not` that is quoted in a message."""


def each(place: ValuePlace, schemas: Node) -> list[Condition]:
    """Return the condition of each of `schemas`."""
    return [place.walk.decision(place.here(node)) for node in schemas.items]


def all_accept(place: ValuePlace, schemas: Node) -> Condition:
    """Return the condition of `allOf`."""
    return every(each(place, schemas))


def any_accepts(place: ValuePlace, schemas: Node) -> Condition:
    """Return the condition of `anyOf`."""
    return some(each(place, schemas))


def one_accepts(place: ValuePlace, schemas: Node) -> Condition:
    """Return the condition of `oneOf`."""
    answers = join_code(", ", [condition.yes for condition in each(place, schemas)])
    return Condition(fill("[%s].count(True) == 1", answers), fill("[%s].count(True) != 1", answers))


def refuses(place: ValuePlace, schema: Node) -> Condition:
    """Return the condition of `not`."""
    return negated(place.walk.decision(place.here(schema)))


def target_accepts(place: ValuePlace, reference: Node) -> Condition:
    """Return the condition of `$ref`."""
    return place.walk.decision(place.here(reference))


def write_all(place: ValuePlace, schemas: Node) -> None:
    """Apply each schema."""
    for node in schemas.items:
        place.walk.apply(place.here(node))


def write_alternatives(keyword: str) -> Callable[[ValuePlace, Node], None]:
    """Return how `anyOf` or `oneOf` is written."""

    def write(place: ValuePlace, schemas: Node) -> None:
        place.walk.alternatives(place, keyword, schemas)

    return write


def write_not(place: ValuePlace, schema: Node) -> None:
    """Report the schema that should have refused the value, if it is short."""
    shown = schema.value if len(json.dumps(schema.value)) <= SHOWN else None
    place.walk.check(place, refuses(place, schema), "not", shown)


def write_reference(place: ValuePlace, reference: Node) -> None:
    """Apply the target of a `$ref`."""
    place.walk.apply(place.here(reference))


def write_if(place: ValuePlace, schema: Node) -> None:
    """Apply `then` or `else`, depending on `if`."""
    walk = place.walk
    branches = [
        (keyword, place.schema.keywords[keyword]) for keyword in ("then", "else") if keyword in place.schema.keywords
    ]
    if not branches:
        return
    condition = walk.decision(place.here(schema))
    if len(branches) == 1:
        keyword, node = branches[0]
        walk.apply(place.here(node), condition if keyword == "then" else negated(condition))
        return
    answer = walk.fresh("m")
    with walk.section(None, fill("%s = %s", answer, condition.yes)):
        for keyword, node in branches:
            walk.apply(place.here(node), holds(answer) if keyword == "then" else negated(holds(answer)))


def count(schemas: Node) -> int:
    """Return the number of checks of a list of schemas."""
    return len(schemas.items)
