"""The components of a proxied server: each asks the server when it is used."""

from __future__ import annotations

import inspect
from base64 import b64decode
from contextlib import asynccontextmanager
from typing import Any

from mcpc_runtime.systems.fastmcp.engine.contents import wire
from mcpc_runtime.systems.fastmcp.engine.context import current_context
from mcpc_runtime.systems.fastmcp.engine.errors import ResourceError, ToolError
from mcpc_runtime.systems.fastmcp.engine.prompt_results import PromptResult
from mcpc_runtime.systems.fastmcp.engine.resource_results import ResourceContent, ResourceResult
from mcpc_runtime.systems.fastmcp.engine.results import ToolResult
from mcpc_runtime.systems.fastmcp.engine.uris import uri_template
from mcpc_runtime.systems.fastmcp.generation import selected
from mcpc_runtime.systems.fastmcp.standins.fastmcp.parts import components, resources
from mcpc_runtime.systems.fastmcp.standins.fastmcp.parts.clients.forwarding import forwarded_progress, used_in_call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    Factory = Callable[[], Any]
    Object = dict[str, Any]

PLAIN = "text/plain"


class Proxied:
    """What the components have in common.  `backend`: the name or address at the proxied server."""

    client_factory: Factory
    backend: str

    @asynccontextmanager
    async def used(self) -> AsyncIterator[Any]:
        """Yield a client of the proxied server."""
        found = self.client_factory()
        async with await found if inspect.isawaitable(found) else found as client:
            with used_in_call(client.session):
                yield client


def request_meta() -> Object | None:
    """Return the `_meta` of the current request, which the proxied server gets, too."""
    context = current_context()
    if context is None or context._call is None:
        return None
    found = {key: value for key, value in context._call.meta.items() if key != "progressToken"}
    return found or None


def common(entry: Any) -> Object:
    """Return what the entries of all lists have."""
    given = wire(entry)
    meta = given.get("_meta")
    own = (meta or {}).get("fastmcp") or (meta or {}).get("_fastmcp") or {}
    return {
        "title": given.get("title"),
        "description": given.get("description"),
        "icons": given.get("icons"),
        "meta": meta,
        "tags": own.get("tags") or (),
    }


def proxied_resource(made_class: type[Any], client: Any, entry: Any, key: str) -> Any:
    """Return the resource or template of an entry; `key`: the field with its address."""
    given = wire(entry)
    made = made_class(
        given[key],
        name=given["name"],
        mime_type=given.get("mimeType") or PLAIN,
        annotations=given.get("annotations"),
        **common(entry),
    )
    made.client_factory, made.backend = factory_of(client), given[key]
    return made


class ProxyTool(Proxied, components.Tool):
    """A tool of a proxied server."""

    @classmethod
    def from_mcp_tool(cls, client: Any, mcp_tool: Any) -> ProxyTool:
        """Return the tool of an entry."""
        given = wire(mcp_tool)
        made = cls(
            given["name"],
            parameters=given["inputSchema"],
            output_schema=given.get("outputSchema"),
            annotations=given.get("annotations"),
            **common(mcp_tool),
        )
        made.client_factory, made.backend = factory_of(client), made.name
        return made

    async def run(self, arguments: Object) -> Any:
        """Call the tool."""
        async with self.used() as client:
            progress = forwarded_progress() if client.mcpc_forwards_progress else None
            result = wire(await client.call_tool_mcp(self.backend, arguments, progress, meta=request_meta()))
        if result.get("isError") and selected().name == "fastmcp2":
            raise ToolError(next((block.get("text", "") for block in result["content"]), ""))
        made = ToolResult([])
        made._blocks = result["content"]
        made.structured_content = result.get("structuredContent")
        made.meta = result.get("_meta")
        made.is_error = bool(result.get("isError"))
        return made


class ProxyResource(Proxied, resources.Resource):
    """A resource of a proxied server."""

    @classmethod
    def from_mcp_resource(cls, client: Any, mcp_resource: Any) -> ProxyResource:
        """Return the resource of an entry."""
        made: ProxyResource = proxied_resource(cls, client, mcp_resource, "uri")
        return made

    async def read(self) -> Any:
        """Return the contents."""
        return await contents_of(self, self.backend)


class ProxyTemplate(Proxied, resources.ResourceTemplate):
    """A template of a proxied server."""

    @classmethod
    def from_mcp_template(cls, client: Any, mcp_template: Any) -> ProxyTemplate:
        """Return the template of an entry."""
        made: ProxyTemplate = proxied_resource(cls, client, mcp_template, "uriTemplate")
        return made

    async def read(self, arguments: Object) -> Any:
        """Return the contents of the resource with some values."""
        return await contents_of(self, uri_template(self.backend).expanded(arguments))


class ProxyPrompt(Proxied, components.Prompt):
    """A prompt of a proxied server."""

    @classmethod
    def from_mcp_prompt(cls, client: Any, mcp_prompt: Any) -> ProxyPrompt:
        """Return the prompt of an entry."""
        given = wire(mcp_prompt)
        made = cls(given["name"], given_arguments=given.get("arguments") or [], **common(mcp_prompt))
        made.client_factory, made.backend = factory_of(client), made.name
        return made

    async def render(self, arguments: Object | None = None) -> Any:
        """Return the messages."""
        async with self.used() as client:
            result = await client.get_prompt(self.backend, arguments)
        return PromptResult(list(result.messages), result.description, result.meta)


def factory_of(client: Any) -> Factory:
    """Return what makes clients: a function does, a client is always the same one."""
    if hasattr(client, "list_tools"):
        return lambda: client
    found: Factory = client
    return found


async def contents_of(component: Any, uri: str) -> ResourceResult:
    """Return what a resource of a proxied server contains."""
    async with component.used() as client:
        result = wire(await client.read_resource_mcp(uri))
    if not result["contents"]:
        raise ResourceError(f"Remote server returned empty content for {uri}")
    parts = [
        ResourceContent(
            each["text"] if "text" in each else b64decode(each["blob"]), each.get("mimeType"), each.get("_meta")
        )
        for each in result["contents"]
    ]
    return ResourceResult(parts)
