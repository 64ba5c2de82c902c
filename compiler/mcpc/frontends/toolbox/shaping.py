"""What a module says of its tool becomes what clients are shown: one definition, and another under its other name.

    schema = {name, description, type, properties, …}   ─▶   {name, description, inputSchema: {type, properties, …}}

ToolBox shows clients the whole object as the input schema; `--dialect toolbox` does, too.  Arguments are never held
against it: tools look at them themselves.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.bundling import OLDEST
from mcpc.definitions import ToolDefinition
from mcpc.definitions.handling import HANDLER
from mcpc.diagnostics import diagnose
from mcpc.frontends.toolbox.naming import schema_of, stem
from mcpc.sources import Member, Node

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from mcpc.diagnostics import Diagnostic, Diagnostics, Span
    from mcpc.ir import Handler
    from mcpc.options import Options
    from mcpc.sources import Json, Source

DIALECT = "toolbox"
LIFTED = ("title", "description", "outputSchema", "annotations", "icons", "_meta")
"""What is the tool's own, and no part of its input schema."""
IN_NODE: dict[str, Json] = {"environment": "inherit", "requires": [f"node >= {OLDEST}"]}
"""How scripts are run: with all of the server's environment, as in the server that they were written for."""
UNCHECKED: dict[str, Json] = {"validate": False}
IN_PYTHON: dict[str, Json] = {"environment": "inherit"}
OPEN: dict[str, Json] = {"type": "object", "properties": {}}
"""The schema of a tool that has none."""
NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")


@dataclass(frozen=True, slots=True)
class Making:
    """What decides about every tool: the options of the build, and the names that files give."""

    options: Options
    taken: frozenset[str]


def shaped(
    source: Source, schema: object, handler: Handler, making: Making
) -> tuple[tuple[ToolDefinition, ...], Diagnostics]:
    """Return the definitions of one tool, and what is odd about its schema."""
    span, name = schema_of(source), stem(source.path)
    given: dict[str, Json] = {str(key): value for key, value in schema.items()} if isinstance(schema, dict) else {}
    running = {**UNCHECKED, **(IN_PYTHON if source.path.endswith(".py") else IN_NODE)}
    exact = making.options.dialect == DIALECT
    names = [name, *(() if exact else other_name(given, making.taken))]
    shown = exactly if exact else lifted
    made = tuple(ToolDefinition(node_of(shown(one, given, running), span), None, handler) for one in names)
    return made, tuple(odd(source, schema))


def other_name(schema: dict[str, Json], taken: Collection[str]) -> Iterator[str]:
    """Yield the name that a schema says, if it could be a tool's and is no other's."""
    said = schema.get("name")
    if isinstance(said, str) and NAME.fullmatch(said) and said not in taken:
        yield said


def exactly(name: str, schema: dict[str, Json], running: dict[str, Json]) -> dict[str, Json]:
    """Return a tool as ToolBox lists it."""
    return {"name": name, "inputSchema": schema or OPEN, "_meta": {HANDLER: running}}


def lifted(name: str, schema: dict[str, Json], running: dict[str, Json]) -> dict[str, Json]:
    """Return a tool with what its schema says of it where clients look for that."""
    own = {key: schema[key] for key in LIFTED if key in schema and key != "_meta"}
    meta = schema.get("_meta")
    rest = {key: value for key, value in schema.items() if key not in (*LIFTED, "name")}
    meta = {**(meta if isinstance(meta, dict) else {}), HANDLER: running}
    return {"name": name, **own, "inputSchema": {**OPEN, **rest}, "_meta": meta}


def odd(source: Source, schema: object) -> Iterator[Diagnostic]:
    """Yield what a schema lacks, or says twice."""
    span, name = schema_of(source), stem(source.path)
    if not isinstance(schema, dict):
        found = "has no `schema`" if schema is None else "has a `schema` that is no object"
        hint = 'export const schema = {description: "…", type: "object", properties: {…}}'
        yield diagnose("MCP252", span, f"the tool `{name}` {found}: it is shown with one that takes anything", "", hint)
        return
    if "name" in schema and schema["name"] != name:
        message = f"`schema` calls the tool `{schema['name']}`, and its file calls it `{name}`"
        yield diagnose("MCP253", span, message, "", "the name of the file holds; the other is offered beside it")
    for field in (field for field in ("type", "properties") if field not in schema):
        yield diagnose(
            "MCP254", span, f"the schema of `{name}` has no `{field}`", "", f"it is taken for {TAKEN[field]}"
        )


TAKEN = {"type": '`"object"`', "properties": "no properties"}


def node_of(value: Json, span: Span) -> Node:
    """Return a value as a node, all of which stands at one place."""
    members = tuple(
        Member(key, span.start, span.end, node_of(part, span))
        for key, part in (value.items() if isinstance(value, dict) else ())
    )
    items = tuple(node_of(item, span) for item in (value if isinstance(value, list) else ()))
    return Node(value, span.path, span.start, span.end, members, items)
