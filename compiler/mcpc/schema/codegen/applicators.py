"""Code for keywords that apply other schemas: to items, to properties, and to the same value."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from mcpc.schema.code import fill, join_code, literal
from mcpc.schema.codegen.assertions import whole
from mcpc.schema.conditions import ALWAYS, Condition, atom, every, holds, negated, some

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc.reading import Node
    from mcpc.schema.code import PythonCode
    from mcpc.schema.codegen.walker import Path, ValuePlace


def at_index(place: ValuePlace, index: PythonCode) -> Path:
    """Return the path of the item whose index is in the variable `index`."""
    return (*place.path, "/", fill("str(%s)", index))


def write_prefix(place: ValuePlace, schemas: Node) -> None:
    """Check each of the first items that exists."""
    for index, node in enumerate(schemas.items):
        number = literal(index)
        is_there = atom("len(%s) > %s", "len(%s) <= %s", place.value, number)
        child = place.child(node, fill("%s[%s]", place.value, number), (*place.path, f"/{index}"))
        place.walk.apply(child, is_there)


def write_items(place: ValuePlace, schema: Node) -> None:
    """Check every item that `prefixItems` does not describe."""
    walk = place.walk
    prefix = place.schema.keywords.get("prefixItems")
    start = literal(len(prefix.items) if prefix else 0)
    if walk.survey.at(schema).always is False:
        walk.check(
            place,
            atom("len(%s) <= %s", "len(%s) > %s", place.value, start),
            "items",
            len(prefix.items) if prefix else 0,
        )
        return
    item = walk.fresh("v")
    rest = fill("%s[%s:]", place.value, start) if prefix else place.value
    # The predicate reports no place, so it needs no index.
    if walk.ends_early:
        with walk.section(fill("for %s in %s:", item, rest)):
            walk.apply(place.child(schema, item, ()))
        return
    index = walk.fresh("i")
    numbered = fill("enumerate(%s, %s)", rest, start) if prefix else fill("enumerate(%s)", rest)
    with walk.loop(fill("for %s, %s in %s:", index, item, numbered)):
        walk.apply(place.child(schema, item, at_index(place, index)))


def write_contains(place: ValuePlace, schema: Node) -> None:
    """Count the items a schema accepts."""
    walk = place.walk
    least, most = place.schema.keywords.get("minContains"), place.schema.keywords.get("maxContains")
    least_number = whole(least) if least else 1
    # Any number of accepted items is right, even none.
    if least_number == 0 and most is None:
        return
    item, number = walk.fresh("v"), walk.fresh("n")
    accepted = walk.decision(place.child(schema, item, ()))
    with walk.section(None, fill("%s = 0", number)):
        with walk.section(fill("for %s in %s:", item, place.value)), walk.section(fill("if %s:", accepted.yes)):
            walk.line(fill("%s += 1", number))
        if least_number > 0:
            enough = atom("%s >= %s", "%s < %s", number, literal(least_number))
            walk.check(place, enough, "minContains" if least else "contains", least_number)
        if most:
            few = atom("%s <= %s", "%s > %s", number, literal(whole(most)))
            walk.check(place, few, "maxContains", whole(most))


def has(place: ValuePlace, name: str) -> Condition:
    """Return the condition that there is a property `name`."""
    return atom("%s in %s", "%s not in %s", place.walk.program.text(name), place.value)


def below(place: ValuePlace, name: str) -> Path:
    """Return the path of the property `name`."""
    return (*place.path, "/" + name.replace("~", "~0").replace("/", "~1"))


def below_any(place: ValuePlace, name: PythonCode) -> Path:
    """Return the path of the property whose name is in the variable `name`, where a path is needed."""
    if place.walk.ends_early:
        return ()
    return (*place.path, fill("%s(%s)", place.walk.program.support("step"), name))


def names_in(place: ValuePlace, keyword: str) -> list[str]:
    """Return the property names that are the members or the items of `keyword`."""
    node = place.schema.keywords.get(keyword)
    return [member.key for member in node.members] + [str(item.value) for item in node.items] if node else []


def all_present(place: ValuePlace, names: Node) -> Condition:
    """Return the condition of `required`."""
    return every(has(place, str(item.value)) for item in names.items)


def write_required(place: ValuePlace, names: Node) -> None:
    """Report each missing property separately."""
    for item in names.items:
        place.walk.check(place, has(place, str(item.value)), "required", item.value)


def write_dependent_required(place: ValuePlace, dependencies: Node) -> None:
    """Report each missing property separately."""
    for member in dependencies.members:
        for item in member.node.items:
            condition = some((negated(has(place, member.key)), has(place, str(item.value))))
            place.walk.check(place, condition, "dependentRequired", [member.key, item.value])


def write_dependent_schemas(place: ValuePlace, schemas: Node) -> None:
    """Apply a schema to the object if it has a certain property."""
    for member in schemas.members:
        place.walk.apply(place.here(member.node), has(place, member.key))


def write_properties(place: ValuePlace, properties: Node) -> None:
    """Check each existing property; a required one exists if a missing one ends the function."""
    certain = frozenset(names_in(place, "required") if place.walk.ends_early else ())
    for member in properties.members:
        value = fill("%s[%s]", place.value, place.walk.program.text(member.key))
        guard = ALWAYS if member.key in certain else has(place, member.key)
        place.walk.apply(place.child(member.node, value, below(place, member.key)), guard)


def write_pattern_properties(place: ValuePlace, patterns: Node) -> None:
    """Check each property whose name matches a pattern."""
    walk = place.walk
    name, value = walk.fresh("k"), walk.fresh("v")
    with walk.loop(fill("for %s, %s in %s.items():", name, value, place.value)):
        for member in patterns.members:
            matches = walk.program.search(member.key, name)
            walk.apply(place.child(member.node, value, below_any(place, name)), matches)


def write_additional(place: ValuePlace, schema: Node) -> None:
    """Check each property that neither `properties` nor `patternProperties` names."""
    walk = place.walk
    known, patterns = names_in(place, "properties"), names_in(place, "patternProperties")
    refuses = walk.survey.at(schema).always is False
    if refuses and walk.ends_early and not patterns:
        walk.check(place, _has_only(place, known), "additionalProperties", None)
        return
    name, value = walk.fresh("k"), walk.fresh("v")
    child = place.child(schema, value, below_any(place, name))
    unknown = every(
        (
            *([negated(_is_known(place, known, name))] if known else []),
            *(negated(walk.program.search(pattern, name)) for pattern in patterns),
        )
    )
    if refuses:
        with walk.loop(fill("for %s in %s:", name, place.value)):
            walk.check(child, negated(unknown), "additionalProperties", list(known))
        return
    loop = fill("for %s, %s in %s.items():", name, value, place.value)
    if walk.ends_early and unknown is ALWAYS:
        loop = fill("for %s in %s.values():", value, place.value)
    with walk.loop(loop):
        walk.apply(child, unknown)


def _has_only(place: ValuePlace, known: list[str]) -> Condition:
    """Return the condition that an object has no property but `known`."""
    if not known:
        return atom("not %s", "%s", place.value)
    # `required` was checked before: all of these are there, so that any other one shows in the number.
    if set(known) <= set(names_in(place, "required")):
        return atom("len(%s) == %s", "len(%s) != %s", place.value, literal(len(known)))
    return holds(fill("%s.issuperset(%s)", _set(place, known), place.value))


def _is_known(place: ValuePlace, known: list[str], name: PythonCode) -> Condition:
    return atom("%s in %s", "%s not in %s", name, _set(place, known))


def _set(place: ValuePlace, names: list[str]) -> PythonCode:
    return place.walk.program.constant(fill("frozenset(%s)", literal(tuple(names))))


def write_property_names(place: ValuePlace, schema: Node) -> None:
    """Check each name as a string."""
    walk = place.walk
    name = walk.fresh("k")
    child = place.child(schema, name, below_any(place, name))
    with walk.loop(fill("for %s in %s:", name, place.value)):
        walk.name(child)


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
