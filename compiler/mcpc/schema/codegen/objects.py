"""Code for the keywords of objects: which properties there must be, which there may be, and what each must be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.schema.code import fill, literal
from mcpc.schema.conditions import ALWAYS, Condition, atom, every, holds, negated, some

if TYPE_CHECKING:
    from mcpc.reading import Node
    from mcpc.schema.code import PythonCode
    from mcpc.schema.codegen.walker import Path, ValuePlace


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
