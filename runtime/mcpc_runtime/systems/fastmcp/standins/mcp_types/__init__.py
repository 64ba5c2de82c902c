"""Stand-in of `mcp_types`, the protocol's types of version 2 of the SDK; a type is made when it is first used."""

from __future__ import annotations

from typing import Any

from mcpc_runtime.systems.fastmcp.standins.mcp_types.definitions import DEFINITIONS, find_in


def __getattr__(name: str) -> Any:
    """Return a type, an alias or a constant."""
    return find_in("mcp_types", name, DEFINITIONS["sdk2"])
