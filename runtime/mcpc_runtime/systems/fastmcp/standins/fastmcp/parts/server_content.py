"""What a server gives of its components: its lists, single components, and what projects reach into."""

from __future__ import annotations

from typing import Any

from mcpc_runtime.systems.fastmcp.engine import listing
from mcpc_runtime.systems.fastmcp.engine.behaviour import behaviour
from mcpc_runtime.systems.fastmcp.engine.component_server import ComponentServer
from mcpc_runtime.systems.fastmcp.engine.context import current_context
from mcpc_runtime.systems.fastmcp.engine.errors import NotFoundError
from mcpc_runtime.systems.fastmcp.engine.visibility import visibility_rules
from mcpc_runtime.systems.fastmcp.standins.fastmcp.parts import facades, server_lists
from mcpc_runtime.systems.fastmcp.standins.fastmcp.parts.context import session_rules
from mcpc_runtime.systems.fastmcp.standins.fastmcp.parts.registering import Registering

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpc_runtime.systems.fastmcp.engine.visibility import Visibility

Object = dict[str, Any]
GETTING = {
    "tool": "get_tool",
    "prompt": "get_prompt",
    "resource": "get_resource",
    "template": "get_resource_template",
}
"""The method for a single component of each kind."""


class ServerContent(Registering, ComponentServer):
    """A server that gives its components."""

    middleware: list[Any]

    async def mcpc_listed(self, kind: str) -> list[Any]:
        """List components as FastMCP's own handler does: through middleware."""
        return await server_lists.listed(self, kind)

    async def list_tools(self, *, run_middleware: bool = True, **_: Any) -> list[Any]:
        """Return the tools that clients see."""
        return await server_lists.public(self, "tool", run_middleware)

    async def list_prompts(self, *, run_middleware: bool = True, **_: Any) -> list[Any]:
        """Return the prompts that clients see."""
        return await server_lists.public(self, "prompt", run_middleware)

    async def list_resources(self, *, run_middleware: bool = True, **_: Any) -> list[Any]:
        """Return the resources that clients see."""
        return await server_lists.public(self, "resource", run_middleware)

    async def list_resource_templates(self, *, run_middleware: bool = True, **_: Any) -> list[Any]:
        """Return the templates that clients see."""
        return await server_lists.public(self, "template", run_middleware)

    async def _list_tools_mcp(self, *_: Any) -> list[Any]:
        return [each.to_mcp_tool() for each in await self.list_tools()]

    async def _list_prompts_mcp(self, *_: Any) -> list[Any]:
        return [each.to_mcp_prompt() for each in await self.list_prompts()]

    async def _list_resources_mcp(self, *_: Any) -> list[Any]:
        return [each.to_mcp_resource() for each in await self.list_resources()]

    async def _list_resource_templates_mcp(self, *_: Any) -> list[Any]:
        return [each.to_mcp_template() for each in await self.list_resource_templates()]

    _mcp_list_tools, _mcp_list_prompts = _list_tools_mcp, _list_prompts_mcp
    _mcp_list_resources, _mcp_list_resource_templates = _list_resources_mcp, _list_resource_templates_mcp

    async def _list_tools(self, *_: Any) -> list[Any]:
        return await listing.visible(self, "tool")

    async def _list_prompts(self, *_: Any) -> list[Any]:
        return await listing.visible(self, "prompt")

    async def _list_resources(self, *_: Any) -> list[Any]:
        return await listing.visible(self, "resource")

    async def _list_resource_templates(self, *_: Any) -> list[Any]:
        return await listing.visible(self, "template")

    async def get_tools(self, **_: Any) -> Object:
        """Return the tools by their names, those included that clients do not see."""
        return {each.name: each for each in await listing.every(self, "tool")}

    async def get_prompts(self, **_: Any) -> Object:
        """Return the prompts by their names."""
        return {each.name: each for each in await listing.every(self, "prompt")}

    async def get_resources(self, **_: Any) -> Object:
        """Return the resources by their addresses."""
        return {each.identifier: each for each in await listing.every(self, "resource")}

    async def get_resource_templates(self, **_: Any) -> Object:
        """Return the templates by their addresses."""
        return {each.identifier: each for each in await listing.every(self, "template")}

    async def get_tool(self, name: str) -> Any:
        """Return a tool by its name; where there is none, None or NotFoundError."""
        return await self._single("tool", name, f"Unknown tool: {name}")

    async def get_prompt(self, name: str) -> Any:
        """Return a prompt by its name."""
        return await self._single("prompt", name, f"Unknown prompt: {name}")

    async def get_resource(self, uri: Any) -> Any:
        """Return a resource by its address."""
        return await self._single("resource", str(uri), f"Unknown resource: {uri}")

    async def get_resource_template(self, uri: Any) -> Any:
        """Return the template of an address; in FastMCP 2 by its own text."""
        return await self._single("template", str(uri), f"Unknown resource template: {uri}")

    async def _single(self, kind: str, key: str, problem: str) -> Any:
        with self.mcpc_entered():
            if behaviour().gives_none:
                return await listing.find(self, kind, key)
            found = {each.identifier: each for each in await listing.every(self, kind)}
        if key not in found:
            raise NotFoundError(problem)
        return found[key]

    async def mcpc_get(self, kind: str, key: str) -> Any:
        """Return a component that clients see, or None: by the method that a project may have overridden."""
        if not behaviour().gives_none:
            return await listing.find(self, kind, key)
        return await getattr(self, GETTING[kind])(key)

    async def mcpc_session_rules(self) -> Sequence[Visibility]:
        """Return what the session of the current call shows and hides."""
        return session_rules(current_context())

    def mcpc_hide(self, key: str) -> None:
        """Hide a component, unless a rule shows it."""
        self.mcpc_rules[:0] = visibility_rules(False, {"keys": {key}})

    @property
    def _tool_manager(self) -> Any:
        return facades.Manager(self, "tool")

    @property
    def _prompt_manager(self) -> Any:
        return facades.Manager(self, "prompt")

    @property
    def _resource_manager(self) -> Any:
        return facades.Manager(self, "resource")

    @property
    def _mcp_server(self) -> Any:
        return facades.LowLevel(self)

    @property
    def _mounted_servers(self) -> list[Any]:
        return self.mcpc_mounts

    @property
    def _lifespan_result(self) -> Any:
        return self.mcpc_lifespan_result
