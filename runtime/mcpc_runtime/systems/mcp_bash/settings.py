"""The settings of a mcp-bash server: from its environment and from the build; read once.

Invalid numbers and unknown words are replaced by the defaults.

The policy of tools: a tool may be called only if it is allowed.

The operator allows tools with MCPBASH_TOOL_ALLOWLIST (exact names) or MCPBASH_TOOL_ALLOW_DEFAULT; without both, the
allowlist of the build applies (`*` in a name matches anything).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mcpc_runtime.protocol.image import Image
from mcpc_runtime.protocol.tool_choice import matches
from mcpc_runtime.transports.platforms import system

EVERYTHING = ("*", "all")
DENIED = "Tool '{name}' blocked by policy. Set MCPBASH_TOOL_ALLOWLIST in your MCP client config."
NOT_LISTED = "Tool '{name}' blocked by policy (not in MCPBASH_TOOL_ALLOWLIST)"
NOTHING_ALLOWED = (
    "no tool is allowed to be called: set MCPBASH_TOOL_ALLOWLIST to tool names (or to *), "
    "set MCPBASH_TOOL_ALLOW_DEFAULT=allow, or build with --allow NAME"
)


class Policy:
    """The policy of a server.  `names`: the allowed names, None for none; `allows_everything`: all are allowed."""

    def __init__(self, listed: str, default: str, built: Sequence[str]) -> None:
        self.is_pattern = False
        if listed:
            self.names: frozenset[str] | None = frozenset(listed.replace(",", " ").split())
        elif default in ("allow", "all"):
            self.names = frozenset(EVERYTHING)
        # A word that is not known denies, even if the build allows tools.
        elif not default and built:
            self.names, self.is_pattern = frozenset(built), True
        else:
            self.names = None
        self.allows_everything = self.names is not None and not self.names.isdisjoint(EVERYTHING)

    def refusal(self, name: str) -> str:
        """Return why a tool may not be called, nothing if it may."""
        if self.names is None:
            return DENIED.replace("{name}", name)
        if self.allows_everything or name in self.names:
            return ""
        if self.is_pattern and any(matches(pattern, name) for pattern in self.names):
            return ""
        return NOT_LISTED.replace("{name}", name)


INDEX_KEY = "mcp_bash"
"""The key of the index for the settings of the build."""
DIALECT = "mcp-bash"
DEFAULT_SECONDS, DEFAULT_MAX_SECONDS = 30, 600
DEFAULT_MAX_OUTPUT = 10_485_760
DEFAULT_MAX_PAYLOAD = 65_536
DEFAULT_TAIL = 4096
TRUE_VALUES = ("true", "1", "yes", "on")


class McpBashSettings:
    """The settings of a server.  `built`: those of the build (`server`, `roots`, `policy`, …); `environ`: variables."""

    def __init__(self, image: Image, environ: Mapping[bytes, bytes]) -> None:
        self.image = image
        self.environ = environ
        self.built: dict[str, Any] = image.index[INDEX_KEY]
        self.policy = Policy(
            self.text("MCPBASH_TOOL_ALLOWLIST"), self.text("MCPBASH_TOOL_ALLOW_DEFAULT"), self.built.get("allow", ())
        )
        self.in_dialect: bool = self.built.get("dialect") == DIALECT
        self.seconds = self.number("MCPBASH_DEFAULT_TOOL_TIMEOUT", DEFAULT_SECONDS) or DEFAULT_SECONDS
        self.most_seconds = self.number("MCPBASH_MAX_TIMEOUT_SECS", DEFAULT_MAX_SECONDS) or DEFAULT_MAX_SECONDS
        self.extends = self.flag("MCPBASH_PROGRESS_EXTENDS_TIMEOUT")
        self.output_bytes = self.number("MCPBASH_MAX_TOOL_OUTPUT_SIZE", DEFAULT_MAX_OUTPUT)
        self.error_bytes = self.number("MCPBASH_MAX_TOOL_STDERR_SIZE", 0) or self.output_bytes
        self.tail_bytes = self.number("MCPBASH_TOOL_STDERR_TAIL_LIMIT", DEFAULT_TAIL)
        if not self.flag("MCPBASH_TOOL_STDERR_CAPTURE", "true"):
            self.tail_bytes = 0
        self.payload = self.number("MCPBASH_ENV_PAYLOAD_THRESHOLD", DEFAULT_MAX_PAYLOAD)

    def text(self, name: str, default: str = "") -> str:
        """Return the text of a variable, or the default."""
        return str(self.environ.get(name.encode(), b""), "utf-8", "surrogateescape") or default

    def number(self, name: str, default: int) -> int:
        """Return the number in a variable, or the default."""
        text = self.text(name)
        # `isdigit` alone accepts characters that `int` refuses, such as a superscript.
        return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else default

    def flag(self, name: str, default: str = "") -> bool:
        """Tell whether a variable is a true value."""
        return self.text(name, default).lower() in TRUE_VALUES


settings_by_image: dict[Image, McpBashSettings] = {}
"""The settings of each image."""


def settings_of(image: Image) -> McpBashSettings:
    """Return a server's settings."""
    settings = settings_by_image.get(image)
    if settings is None:
        settings = settings_by_image[image] = McpBashSettings(image, system.environ)
    return settings
