"""Code for the keywords of arrays: what each item must be, by its place or wherever it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.schema.code import fill, literal
from mcpc.schema.codegen.assertions import whole
from mcpc.schema.conditions import atom

if TYPE_CHECKING:
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
