"""What the person who runs a server of mcp-bash decides by its environment, and what was built; read once.

A number that is none is the usual one, as a word nobody knows is.
"""

from __future__ import annotations

import posix

from mcpc_runtime.mcp_bash.policy import Policy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

INDEX = "mcp_bash"
"""What the index calls what was built."""
DIALECT = "mcp-bash"
USUAL_SECONDS, MOST_SECONDS = 30, 600
OUTPUT_BYTES = 10_485_760
PAYLOAD_CHARACTERS = 65_536
LONGEST_VARIABLE = 120_000
"""Bytes: no variable of a program's environment may be longer than 128 KiB on Linux."""
TAIL_BYTES = 4096
YES = ("true", "1", "yes", "on")


class Settings:
    """One server's.  `said`: what was built (`server`, `roots`, `policy`, `env`, `allow` …); `environ`: its own."""

    def __init__(self, image: Any, environ: Mapping[bytes, bytes]) -> None:
        self.image = image
        self.environ = environ
        self.said: dict[str, Any] = image.index[INDEX]
        self.policy = Policy(
            self.text("MCPBASH_TOOL_ALLOWLIST"), self.text("MCPBASH_TOOL_ALLOW_DEFAULT"), self.said.get("allow", ())
        )
        self.in_dialect = self.said.get("dialect") == DIALECT
        self.seconds = self.number("MCPBASH_DEFAULT_TOOL_TIMEOUT", USUAL_SECONDS) or USUAL_SECONDS
        self.most_seconds = self.number("MCPBASH_MAX_TIMEOUT_SECS", MOST_SECONDS) or MOST_SECONDS
        self.extends = self.yes("MCPBASH_PROGRESS_EXTENDS_TIMEOUT")
        self.output_bytes = self.number("MCPBASH_MAX_TOOL_OUTPUT_SIZE", OUTPUT_BYTES)
        self.error_bytes = self.number("MCPBASH_MAX_TOOL_STDERR_SIZE", 0) or self.output_bytes
        self.tail_bytes = self.number("MCPBASH_TOOL_STDERR_TAIL_LIMIT", TAIL_BYTES)
        if not self.yes("MCPBASH_TOOL_STDERR_CAPTURE", "true"):
            self.tail_bytes = 0
        self.payload = self.number("MCPBASH_ENV_PAYLOAD_THRESHOLD", PAYLOAD_CHARACTERS)

    def text(self, name: str, usual: str = "") -> str:
        """Return what a variable has."""
        return str(self.environ.get(name.encode(), b""), "utf-8", "surrogateescape") or usual

    def number(self, name: str, usual: int) -> int:
        """Return the number that a variable has."""
        said = self.text(name)
        return int(said) if said.isascii() and said.isdigit() and len(said) < 16 else usual

    def yes(self, name: str, usual: str = "") -> bool:
        """Tell whether a variable switches something on."""
        return self.text(name, usual).lower() in YES


known: dict[Any, Settings] = {}
"""By image."""


def settings_of(image: Any) -> Settings:
    """Return a server's settings."""
    found = known.get(image)
    if found is None:
        found = known[image] = Settings(image, posix.environ)
    return found
