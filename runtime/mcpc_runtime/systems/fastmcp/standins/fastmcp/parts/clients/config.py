"""Configurations of several servers (`mcpServers`), and the way to all of them."""

from __future__ import annotations

import logging
from abc import abstractmethod
from contextlib import asynccontextmanager
from datetime import timedelta  # noqa: TC003 - pydantic reads the annotation
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from mcpc_runtime.lazy import resolve
from mcpc_runtime.systems.fastmcp.standins.fastmcp.parts.clients.transports import (
    ClientTransport,
    FastMCPTransport,
    SSETransport,
    StdioTransport,
    StreamableHttpTransport,
    is_event_address,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from typing import Self

PARTS = "mcpc_runtime.systems.fastmcp.standins.fastmcp.parts"
log = logging.getLogger(__name__)


class TransformedServer(BaseModel):
    """What a configuration may change of a server: its tools, and which are shown."""

    tools: dict[str, Any] = Field(default_factory=dict)
    include_tags: set[str] | None = None
    exclude_tags: set[str] | None = None

    def mcpc_changes(self) -> bool:
        """Tell whether anything is changed."""
        return bool(self.tools) or self.include_tags is not None or self.exclude_tags is not None

    @abstractmethod
    def mcpc_transport(self) -> Any:
        """Return the way to the server itself."""

    def mcpc_proxy(self, name: str) -> Any:
        """Return a proxy of the server, changed as the configuration says."""
        proxy = resolve(f"{PARTS}.clients.proxies:create_proxy")(self.mcpc_transport(), name=f"Proxy-{name}")
        if self.tools:
            make = resolve(f"{PARTS}.transformed:ToolTransformConfig")
            for key, each in self.tools.items():
                proxy.add_tool_transformation(key, make(**each) if isinstance(each, dict) else each)
        if self.include_tags is not None:
            proxy.enable(tags=self.include_tags, only=True)
        if self.exclude_tags is not None:
            proxy.disable(tags=self.exclude_tags)
        return proxy

    def to_transport(self) -> Any:
        """Return the way to the server, through a proxy if it is changed."""
        return FastMCPTransport(self.mcpc_proxy("server")) if self.mcpc_changes() else self.mcpc_transport()


class StdioMCPServer(TransformedServer):
    """A server in a separate process."""

    model_config = ConfigDict(extra="allow")

    command: str
    args: list[str] = Field(default_factory=list)
    env: dict[str, Any] = Field(default_factory=dict)
    transport: Literal["stdio"] = "stdio"
    type: Literal["stdio"] | None = None
    cwd: str | None = None
    timeout: int | None = None
    keep_alive: bool | None = None
    description: str | None = None
    icon: str | None = None
    authentication: dict[str, Any] | None = None

    def mcpc_transport(self) -> Any:
        """Return the way to the server."""
        variables = {name: str(value) for name, value in self.env.items()}
        return StdioTransport(self.command, self.args, variables, self.cwd, self.keep_alive)


class RemoteMCPServer(TransformedServer):
    """A server over HTTP."""

    model_config = ConfigDict(extra="allow", arbitrary_types_allowed=True)

    url: str
    transport: Literal["http", "streamable-http", "sse"] | None = None
    headers: dict[str, str] = Field(default_factory=dict)
    auth: Any = None
    sse_read_timeout: timedelta | int | float | None = None
    timeout: int | None = None
    description: str | None = None
    icon: str | None = None
    authentication: dict[str, Any] | None = None

    def mcpc_transport(self) -> Any:
        """Return the way to the server."""
        is_older = is_event_address(self.url) if self.transport is None else self.transport == "sse"
        kind = SSETransport if is_older else StreamableHttpTransport
        return kind(self.url, self.headers, self.auth, self.sse_read_timeout)


TransformingStdioMCPServer = StdioMCPServer
TransformingRemoteMCPServer = RemoteMCPServer


class MCPConfig(BaseModel):
    """Servers by their names."""

    model_config = ConfigDict(extra="allow")

    mcpServers: dict[str, StdioMCPServer | RemoteMCPServer] = Field(default_factory=dict)  # noqa: N815 - the format's

    @model_validator(mode="before")
    @classmethod
    def wrap_servers_at_root(cls, values: Any) -> Any:
        """Accept the servers without `mcpServers` around them."""
        if not isinstance(values, dict) or "mcpServers" in values:
            return values
        servers = [each for each in values.values() if isinstance(each, dict) and ("command" in each or "url" in each)]
        return {"mcpServers": values} if servers else values

    def add_server(self, name: str, server: Any) -> None:
        """Add a server."""
        self.mcpServers[name] = server

    @classmethod
    def from_dict(cls, config: dict[str, Any]) -> Self:
        """Return the configuration of a dictionary."""
        return cls.model_validate(config)

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary."""
        return self.model_dump(exclude_none=True)

    @classmethod
    def from_file(cls, file_path: Path) -> Self:
        """Return the configuration of a file."""
        text = Path(file_path).read_text(encoding="utf-8") if Path(file_path).exists() else ""
        if not text.strip():
            raise ValueError(f"No MCP servers defined in the config: {file_path}")
        return cls.model_validate_json(text)


CanonicalMCPConfig = MCPConfig


class MCPConfigTransport(ClientTransport):
    """The way to the servers of a configuration: to one alone, else to proxies of all under their names."""

    def __init__(self, config: Any, name_as_prefix: bool = True) -> None:
        self.config = MCPConfig.from_dict(config) if isinstance(config, dict) else config
        self.name_as_prefix = name_as_prefix
        servers = self.config.mcpServers
        if not servers:
            raise ValueError("No MCP servers defined in the config")
        if len(servers) == 1:
            self.transport: Any = next(iter(servers.values())).to_transport()
        else:
            self.transport = FastMCPTransport(self._composite())

    def _composite(self) -> Any:
        router = resolve(f"{PARTS}.clients.proxies:Router")("MCPRouter")
        for name, server in self.config.mcpServers.items():
            router.mount(server.mcpc_proxy(name), name if self.name_as_prefix else None)
        return router

    @asynccontextmanager
    async def connect_session(self, **session_kwargs: Any) -> AsyncIterator[Any]:
        """Yield a session."""
        async with self.transport.connect_session(**session_kwargs) as session:
            yield session

    async def close(self) -> None:
        """Close what stays open."""
        await self.transport.close()
