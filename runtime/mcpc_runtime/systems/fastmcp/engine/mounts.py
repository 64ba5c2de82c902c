"""Servers mounted in others: a provider of another server's components; and what calls need of a server."""

from __future__ import annotations

from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

from mcpc_runtime.systems.fastmcp.engine.behaviour import behaviour
from mcpc_runtime.systems.fastmcp.engine.providers import UniformProvider
from mcpc_runtime.systems.fastmcp.engine.transforms import Namespace, ToolNames
from mcpc_runtime.systems.fastmcp.engine.uris import uri_template
from mcpc_runtime.systems.fastmcp.engine.versions import exactly

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence
    from contextlib import AbstractContextManager
    from typing import Protocol

    from mcpc_runtime.systems.fastmcp.engine.path_policies import ResourceSecurity
    from mcpc_runtime.systems.fastmcp.engine.versions import VersionSpec
    from mcpc_runtime.systems.fastmcp.engine.visibility import Visibility

    Values = dict[str, Any]

    class Host(Protocol):
        """A server with components: what finds, lists and calls them uses these; see `component_server.py`."""

        mcpc_changed_at_run_time: set[str]
        mcpc_completion: Callable[..., Any] | None
        mcpc_masked: bool | None
        mcpc_path_policy: ResourceSecurity | None
        mcpc_providers: list[Any]
        mcpc_transforms: list[Any]

        def mcpc_shows(self, component: Any) -> bool:
            """Tell whether clients see a component."""

        async def mcpc_session_rules(self) -> Sequence[Visibility]:
            """Return what the session of the current call shows and hides."""

        def mcpc_entered(self) -> AbstractContextManager[Any]:
            """Enter a context of the server."""

        async def mcpc_listed(self, kind: str) -> list[Any]:
            """List components as the framework's own handler does, each version of them."""

        async def mcpc_get(self, kind: str, key: str, version: VersionSpec | None = None) -> Any:
            """Return a component that clients see, or None."""

        async def mcpc_tool_result(self, name: str, arguments: Values, version: VersionSpec | None = None) -> Any:
            """Call a tool as the framework's own handler does."""

        async def mcpc_prompt_result(
            self, name: str, arguments: Values | None, version: VersionSpec | None = None
        ) -> Any:
            """Get a prompt as the framework's own handler does."""

        async def mcpc_resource_result(self, uri: str, version: VersionSpec | None = None) -> Any:
            """Read a resource as the framework's own handler does."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a component of a mounted server runs: the server, and its name or address there."""

    server: Any
    key: str

    def entered(self) -> AbstractContextManager[Any]:
        """Enter the context of the server, if the version has one for each."""
        context: AbstractContextManager[Any] = (
            self.server.mcpc_entered() if behaviour().inner_contexts else nullcontext()
        )
        return context

    async def call(self, tool: Any, arguments: Values) -> Any:
        """Call the tool."""
        with self.entered():
            return await self.server.mcpc_tool_result(self.key, arguments, exactly(tool.version))

    async def render(self, prompt: Any, arguments: Values | None) -> Any:
        """Get the prompt."""
        with self.entered():
            return await self.server.mcpc_prompt_result(self.key, arguments, exactly(prompt.version))

    async def read(self, resource: Any) -> Any:
        """Read the resource."""
        with self.entered():
            return await self.server.mcpc_resource_result(self.key, exactly(resource.version))

    async def read_template(self, template: Any, values: Values) -> Any:
        """Read the resource of the template with some values."""
        with self.entered():
            uri = uri_template(self.key).expanded(values)
            return await self.server.mcpc_resource_result(uri, exactly(template.version))


class Mount(UniformProvider):
    """The components of a server, which run there."""

    def __init__(self, server: Any) -> None:
        super().__init__()
        self.server = server

    def __repr__(self) -> str:
        """Return the class and the server."""
        return f"{type(self).__name__}({self.server!r})"

    @property
    def mcpc_server(self) -> Any:
        """The server."""
        return self.server

    async def mcpc_own(self, kind: str) -> Sequence[Any]:
        """Return the components of a kind that the server shows."""
        with self.server.mcpc_entered():
            return [self.delegated(each) for each in await self.server.mcpc_listed(kind)]

    async def mcpc_own_one(self, kind: str, key: str, version: VersionSpec | None) -> Any:
        """Return a component that the server shows, or None."""
        with self.server.mcpc_entered():
            found = await self.server.mcpc_get(kind, key, version)
        return None if found is None else self.delegated(found)

    def delegated(self, component: Any) -> Any:
        """Return a component that runs in its server."""
        return component.copy({"origin": Origin(self.server, component.identifier)})

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """Enter the server's."""
        async with self.server.mcpc_lifespan():
            yield


def mounted(server: Any, prefix: str, names: dict[str, str]) -> Any:
    """Return the provider of a server that is mounted under a prefix; `names`: other names of its tools."""
    provider: Any = Mount(server)
    first = behaviour().prefixes_renamed_tools
    if names and first:
        provider = provider.wrap_transform(ToolNames(names))
    if prefix:
        provider = provider.wrap_transform(Namespace(prefix, whole=behaviour().prefixes_names))
    if names and not first:
        prefixed = {f"{prefix}_{inner}" if prefix else inner: outer for inner, outer in names.items()}
        provider = provider.wrap_transform(ToolNames(prefixed))
    return provider
