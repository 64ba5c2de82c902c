"""Stand-in of `mcp`, the official SDK in both versions; its modules are rows of a table (`../mcp_modules.py`)."""

from __future__ import annotations

from mcpc_runtime.systems.fastmcp.standins.exports import install

install("mcp")
