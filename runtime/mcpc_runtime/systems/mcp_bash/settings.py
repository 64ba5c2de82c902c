"""The settings of a mcp-bash server: from its environment and from the build; read once.

Invalid numbers and unknown words are replaced by the defaults.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcpc_runtime.artifact.image.image import Image
from mcpc_runtime.systems.mcp_bash.policy import Policy
from mcpc_runtime.transports.platforms import system

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
