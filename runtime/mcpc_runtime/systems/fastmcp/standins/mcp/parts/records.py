"""Small records that projects make or get."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from mcpc_runtime.systems.fastmcp.standins.mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

LATEST_PROTOCOL_VERSION = HANDSHAKE_PROTOCOL_VERSIONS[-1]
SUPPORTED_PROTOCOL_VERSIONS = [*HANDSHAKE_PROTOCOL_VERSIONS]


@dataclass
class SessionMessage:
    """A message of a session."""

    message: Any
    metadata: Any = None


def get_display_name(obj: Any) -> str:
    """Return what users see as a component's name: its title, that of its annotations, or its name."""
    annotated = getattr(getattr(obj, "annotations", None), "title", None)
    return str(getattr(obj, "title", None) or annotated or obj.name)


@dataclass(kw_only=True)
class InitializationOptions:
    """What a low-level server tells its clients of itself."""

    server_name: str
    server_version: str
    capabilities: Any
    title: str | None = None
    description: str | None = None
    instructions: str | None = None
    website_url: str | None = None
    icons: list[Any] | None = None


@dataclass
class ReadResourceContents:
    """A resource's contents: text, or bytes."""

    content: str | bytes
    mime_type: str | None = None
    meta: dict[str, Any] | None = None


class NotificationOptions:
    """The lists whose changes a server notifies its clients of."""

    def __init__(
        self, prompts_changed: bool = False, resources_changed: bool = False, tools_changed: bool = False
    ) -> None:
        self.prompts_changed = prompts_changed
        self.resources_changed = resources_changed
        self.tools_changed = tools_changed


DEFAULT_MAX_REQUEST_BODY_SIZE = 4 * 1024 * 1024


@dataclass(kw_only=True)
class TransportSecuritySettings:
    """Which hosts and origins a server accepts."""

    enable_dns_rebinding_protection: bool = True
    allowed_hosts: list[str] = field(default_factory=list)
    allowed_origins: list[str] = field(default_factory=list)
