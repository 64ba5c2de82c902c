"""Virtual servers: parts of a server with a separate HTTP endpoint, which share its blob."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcpc.ir import Server, VirtualServer

VIRTUAL_SERVERS, VIRTUAL_SERVER = "virtual_servers", "virtual_server"
"""Keys of the index: positions of the indexes of its virtual servers by path; and the path of a virtual server."""


def served_servers(server: Server) -> tuple[VirtualServer, ...]:
    """Return the virtual servers that can be requested: none without HTTP."""
    return server.virtual_servers if server.serving is not None and "uvicorn" in server.serving.modules else ()


def narrow_server(server: Server, each: VirtualServer) -> Server:
    """Return the definitions of a virtual server as a server."""
    tools, prompts, resources = map(frozenset, (each.tools, each.prompts, each.resources))
    return replace(
        server,
        info=replace(server.info, name=each.name),
        tools=tuple(tool for tool in server.tools if tool.name in tools),
        prompts=tuple(prompt for prompt in server.prompts if prompt.name in prompts),
        resources=tuple(item for item in server.resources if item.name in resources),
        templates=tuple(item for item in server.templates if item.name in resources),
        completions=(),
        skills=(),
        virtual_servers=(),
        serves=frozenset(),
    )
