"""The protocol's types of the selected generation; a type is made when it is first used."""

from __future__ import annotations

from typing import Any

from mcpc_runtime.systems.fastmcp.standins.mcp_types.definitions import find_in, selected_definitions


def __getattr__(name: str) -> Any:
    """Return a type, an alias or a constant."""
    return find_in("mcp.types", name, selected_definitions())


find_type = __getattr__
