"""Parts of a server that are servers of their own over HTTP: each has an index like the whole, and shares the blob."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mcpc.emit.projections import as_object

if TYPE_CHECKING:
    from mcpc.ir import Facet, Server

FACETS, FACET = "facets", "facet"
"""The keys of the index: of the whole, the places of its facets' own by their paths; of a facet, its path."""


def facets(server: Server) -> tuple[Facet, ...]:
    """Return the facets that can be asked for: only over HTTP are there any."""
    return server.facets if server.serving is not None and "uvicorn" in server.serving.modules else ()


def narrowed(server: Server, facet: Facet) -> Server:
    """Return the server that a facet is."""
    tools, prompts, resources = map(frozenset, (facet.tools, facet.prompts, facet.resources))
    value = as_object(server.node.value)
    info = {**as_object(value.get("serverInfo")), "name": facet.name}
    return replace(
        server,
        name=facet.name,
        node=replace(server.node, value={**value, "serverInfo": info}),
        tools=tuple(tool for tool in server.tools if tool.name in tools),
        prompts=tuple(prompt for prompt in server.prompts if prompt.name in prompts),
        resources=tuple(one for one in server.resources if one.name in resources),
        templates=tuple(one for one in server.templates if one.name in resources),
        completions=(),
        skills=(),
        facets=(),
        serves=frozenset(),
    )
