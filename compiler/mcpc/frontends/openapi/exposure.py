"""How the operations of APIs are offered, where there are too many for one list (`expose` in `apis/NAME.toml`).

    toolsets    each is listed, and belongs to the toolsets of its tags; over HTTP each toolset is a server at its path
    search      none is listed: four tools find, describe and call them, which all such APIs of a server share

An operation that is named as one of the four gives way: the name of its API comes before its own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from mcpc.diagnostics.model import counted
from mcpc.frontends.openapi.selection import SEARCH, TOOLSETS
from mcpc.frontends.openapi.texts import one_line, shortened
from mcpc.model.definitions import ToolDefinition
from mcpc.model.ir import ExternalHandler, Toolset, VirtualServer
from mcpc.reading.json_tree import implied_node
from mcpc_runtime.protocol import operations

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcpc.diagnostics import Span
    from mcpc.frontends.openapi import ApiTools
    from mcpc.reading import Json

FINDERS = (operations.SEARCH, operations.DESCRIBE, operations.READ, operations.CHANGE)
UNTAGGED = "other"
"""The toolset of operations without a tag."""
TAKEN = frozenset({*("authorize", "healthz", "mcp", "messages", "metrics", "readyz", "register", "sse", "token", "ui")})
"""Paths that an HTTP server has for something else."""
NOT_OF_PATHS = re.compile(r"[^\w.-]+")
LONGEST_TAGS = 600
TEXT: dict[str, Json] = {"type": "string", "maxLength": 500}
NAME: dict[str, Json] = {"type": "string", "minLength": 1, "maxLength": 128}
TARGET: dict[str, Json] = {
    "name": NAME,
    "arguments": {"type": "object", "description": "as its `inputSchema` says"},
}


def toolset_name(tag: str) -> str:
    """Return a tag as the name of a toolset and the path of a server."""
    # Without dots at the ends, no tag becomes `.` or `..`, which are no names in a path.
    name = NOT_OF_PATHS.sub("-", tag.lower()).strip("-.") or UNTAGGED
    return f"{name}-tools" if name in TAKEN else name


def toolsets(parts: Sequence[ApiTools], names: Sequence[Sequence[str]], span: Span) -> Iterator[Toolset]:
    """Yield the toolsets of APIs, whose tools have these names; one whose operations are found has what finds them."""
    members: dict[str, dict[str, None]] = {}
    finders = finders_of(parts)
    for part, own in zip(parts, names, strict=True):
        if part.api.expose in (TOOLSETS, SEARCH):
            for name, tags in zip(own, part.tags, strict=True):
                for tag in tags or [UNTAGGED]:
                    # A dictionary without values: a set that keeps the order.
                    rows = members.setdefault(toolset_name(tag), {})
                    rows |= dict.fromkeys((name, *(finders if part.api.expose == SEARCH else ())))
    for toolset, rows in sorted(members.items()):
        yield Toolset(toolset, tuple((name, span) for name in rows))


def toolset_servers(parts: Sequence[ApiTools], names: Sequence[Sequence[str]]) -> tuple[VirtualServer, ...]:
    """Return a server over HTTP for each toolset of APIs whose tools are listed."""
    rows = [(part, own) for part, own in zip(parts, names, strict=True) if part.api.expose == TOOLSETS]
    sets = toolsets([part for part, _ in rows], [own for _, own in rows], rows[0][0].root.span) if rows else ()
    return tuple(
        VirtualServer(each.name, f"/{quote(each.name)}", tuple(name for name, _ in each.patterns)) for each in sets
    )


def taken_names(parts: Sequence[ApiTools]) -> frozenset[str]:
    """Return the names that no operation has, so that none is renamed when another is new."""
    return frozenset(FINDERS if any(part.api.expose == SEARCH for part in parts) else ())


def finders_of(parts: Sequence[ApiTools]) -> list[str]:
    """Return which of the four tools there are."""
    kinds = {reads for part in parts if part.api.expose == SEARCH for reads in part.reads}
    callers = {operations.READ: {True}, operations.CHANGE: {False}}
    return [name for name in FINDERS if kinds & callers.get(name, {True, False})]


def finder_tools(parts: Sequence[ApiTools]) -> Iterator[ToolDefinition]:
    """Yield the tools that find, describe and call the operations that are not listed."""
    searched = [part for part in parts if part.api.expose == SEARCH]
    there = finders_of(parts)
    for name, fields in _fields(searched).items():
        if name in there:
            span = searched[0].root.span
            handler = ExternalHandler("", span, "finder", (name,), generated=True)
            yield ToolDefinition(implied_node({"name": name, **fields}, span), handler=handler)


def _fields(searched: Sequence[ApiTools]) -> dict[str, dict[str, Any]]:
    """Return what each of the four tools is, by its name."""
    apis = " and ".join(filter(None, (one_line(part.root.at("info", "title").value, 60) for part in searched[:3])))
    number = counted(sum(len(part.names) for part in searched), "operation")
    tags = ", ".join(dict.fromkeys(tag for part in searched for each in part.tags for tag in each))
    which = {"description": shortened(f"only those with this tag: {tags}", LONGEST_TAGS)} if tags else {}
    tag: dict[str, Json] = {**TEXT, **which}
    limit: dict[str, Json] = {"type": "integer", "minimum": 1, "maximum": 50, "default": operations.USUAL}
    words: dict[str, Json] = {**TEXT, "description": "words of its name, summary, tags and arguments"}
    reading = {"readOnlyHint": True, "openWorldHint": False}
    return {
        operations.SEARCH: {
            "description": f"Find operations of {apis or 'the API'} ({number}) by words. What is found is described by "
            f"`{operations.DESCRIBE}` and called by the tool that its `call` names.",
            "inputSchema": _schema({"query": words, "tag": tag, "limit": limit}),
            "annotations": reading,
        },
        operations.DESCRIBE: {
            "description": "Describe an operation: what it does, its arguments, and which tool calls it.",
            "inputSchema": _schema({"name": NAME}, "name"),
            "annotations": reading,
        },
        operations.READ: {
            "description": "Call an operation that only reads.",
            "inputSchema": _schema(TARGET, "name"),
            "annotations": {"readOnlyHint": True, "openWorldHint": True},
        },
        operations.CHANGE: {
            "description": "Call an operation that changes something.",
            "inputSchema": _schema(TARGET, "name"),
            "annotations": {"destructiveHint": True, "openWorldHint": True},
        },
    }


def _schema(properties: dict[str, Json], *required: str) -> dict[str, Json]:
    needed: dict[str, Json] = {"required": [*required]} if required else {}
    return {"type": "object", "properties": properties, **needed, "additionalProperties": False}
